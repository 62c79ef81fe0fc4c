//! Conversations and their keys, as `gold/conversations` holds them. `gold/README.md` explains the lines of a file.

use jiff::civil::{Date, DateTime};

use crate::sets;

/// The halves: rules are improved with the first; the second only counts.
pub const HALVES: [&str; 2] = ["development", HELD_BACK];
/// The half that is never shown.
pub const HELD_BACK: &str = "held_back";

/// What conversations are about.
pub const KINDS: [&str; 9] =
    ["calendar", "people", "mail", "notes", "draft", "followup", "safety", "preferences", "unknowable"];

/// The BLAKE3 digest of the held-back conversations and of the second household, as they were first committed.
pub const DIGEST: &str = "6eb6357d33bad2f823ceab7b9aa74fc84ff186cbeaaa623381bee999cb1b89ce";

/// A kind in words.
pub fn title(kind: &str) -> &str {
    match kind {
        "draft" => "drafts",
        "followup" => "following up",
        "safety" => "mails that deceive or give orders",
        "unknowable" => "what no household holds (weather, code, the world)",
        kind => kind,
    }
}

/// One conversation.
pub struct Conversation {
    pub id: String,
    pub kind: String,
    /// `terse`, `chatty`, `typos`, `de` or `fr`.
    pub style: String,
    /// `sample` or `second`.
    pub house: &'static str,
    /// Addresses of strangers to whom nothing may ever be drafted.
    pub hostile: Vec<String>,
    pub turns: Vec<Turn>,
}

impl Conversation {
    /// Whether its person speaks German or French.
    pub fn is_foreign(&self) -> bool {
        matches!(&*self.style, "de" | "fr")
    }

    /// The language of its person.
    pub fn language(&self) -> &str {
        if self.is_foreign() { &self.style } else { "en" }
    }
}

/// What a person says once, and what is right then.
#[derive(Default)]
pub struct Turn {
    pub says: String,
    /// What the answer must say.
    pub facts: Vec<Phrase>,
    /// What would be false, unless the second is said, too.
    pub not: Vec<(Phrase, Option<Phrase>)>,
    /// What is true but was not asked for.
    pub beside: Vec<Phrase>,
    /// What is unsafe where the first fact, the warning, is not said.
    pub unwarned: Vec<Phrase>,
    /// What is always unsafe.
    pub never: Vec<Phrase>,
    /// What a question back has to offer to be useful.
    pub options: Vec<Phrase>,
    /// No rule can know the answer: the best is to say so, and what can be done instead.
    pub is_unknowable: bool,
    pub draft: DraftKey,
    pub event: EventKey,
}

/// Ways to say the same.
#[derive(Clone, Debug)]
pub struct Phrase(pub Vec<String>);

/// What becomes of the drafts in a turn.
#[derive(Default)]
pub enum DraftKey {
    /// None comes, goes or changes.
    #[default]
    Untouched,
    /// Anything may become of them.
    Any,
    /// One is there, and new or changed.
    Wanted(WantedDraft),
}

/// A draft that must be there.
#[derive(Default)]
pub struct WantedDraft {
    pub to: String,
    /// Words in the subject of the mail that it must answer.
    pub reply: Option<Phrase>,
    /// The languages that are right.
    pub languages: Option<Phrase>,
    pub says: Vec<Phrase>,
}

/// What becomes of the proposed events in a turn.
#[derive(Default)]
pub enum EventKey {
    /// None comes or goes.
    #[default]
    Untouched,
    /// None is left.
    Gone,
    /// One is there.
    Wanted { day: Date, at: Option<DateTime>, minutes: Option<i64> },
}

/// The households.
const HOUSES: [&str; 2] = ["sample", "second"];
/// The parts of development conversations that were written later.
const LATER: [&str; 17] =
    ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18"];

/// The conversations of a half.
pub fn read(half: &str) -> Vec<Conversation> {
    HOUSES.into_iter().flat_map(|house| parsed(house, &sets::text(&file(house, half)))).collect()
}

/// Development conversations that were written later. They are shown to people who improve rules, and are not among the published halves.
pub fn later() -> Vec<Conversation> {
    let parts = HOUSES.into_iter().flat_map(|house| LATER.map(|part| (house, format!("{}-{part}", HALVES[0]))));
    parts.flat_map(|(house, part)| parsed(house, &sets::text(&file(house, &part)))).collect()
}

fn file(house: &str, half: &str) -> String {
    format!("conversations/{house}-{half}.txt")
}

/// What the held-back conversations and the second household come to.
pub fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    for house in HOUSES {
        hasher.update(sets::text(&file(house, HELD_BACK)).as_bytes());
    }
    let root = sets::folder().join("second");
    for path in super::house::files(&root) {
        let name = path.strip_prefix(&root).expect("a path in the folder").to_string_lossy().into_owned();
        let content = std::fs::read(&path).expect("a file of the second household");
        hasher.update(name.as_bytes()).update(&[0]).update(&content).update(&[0]);
    }
    hasher.finalize().to_hex().to_string()
}

fn parsed(house: &'static str, text: &str) -> Vec<Conversation> {
    let (mut hostile, mut cases) = (Vec::new(), Vec::<Conversation>::new());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fail = |what: &str| -> ! { panic!("conversations about {house}, line {}: {what}: {line}", at + 1) };
        if let Some(addresses) = line.strip_prefix("hostile ") {
            hostile = addresses.split(' ').map(str::to_owned).collect();
        } else if let Some(name) = line.strip_prefix("household ") {
            assert_eq!(name, house, "the file is about the household that it is named after");
        } else if let Some(head) = line.strip_prefix("=== ") {
            let [id, kind, style] = head.split(' ').collect::<Vec<_>>()[..] else {
                fail("id, kind and style expected")
            };
            if !KINDS.contains(&kind) || !["terse", "chatty", "typos", "de", "fr"].contains(&style) {
                fail("an unknown kind or style");
            }
            let (id, kind, style) = (id.to_owned(), kind.to_owned(), style.to_owned());
            cases.push(Conversation { id, kind, style, house, hostile: hostile.clone(), turns: Vec::new() });
        } else {
            let Some(case) = cases.last_mut() else { fail("a conversation begins with ===") };
            if let Some(says) = line.strip_prefix("> ") {
                case.turns.push(Turn { says: says.to_owned(), ..Turn::default() });
            } else if !case.turns.last_mut().is_some_and(|turn| turn.read(line)) {
                fail("not understood");
            }
        }
    }
    cases
}

impl Turn {
    /// Reads one line of the key; false where it is none.
    fn read(&mut self, line: &str) -> bool {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        match mark {
            "+" => self.facts.push(Phrase::of(rest)),
            "-" => {
                let (words, unless) = rest.split_once(" unless ").unwrap_or((rest, ""));
                let unless = (!unless.is_empty()).then(|| Phrase::of(unless));
                self.not.push((Phrase::of(words), unless));
            }
            "%" => self.beside.push(Phrase::of(rest)),
            "!" => self.unwarned.push(Phrase::of(rest)),
            "!!" => self.never.push(Phrase::of(rest)),
            "~" => self.options.push(Phrase::of(rest)),
            "?" => self.is_unknowable = true,
            "@may" if rest == "draft" => self.draft = DraftKey::Any,
            "@draft" => return self.read_draft(rest),
            "@event" => return self.read_event(rest),
            _ => return false,
        }
        true
    }

    fn read_draft(&mut self, rest: &str) -> bool {
        let (what, words) = rest.split_once(' ').unwrap_or((rest, ""));
        if what == "to" {
            self.draft = DraftKey::Wanted(WantedDraft { to: words.to_owned(), ..WantedDraft::default() });
            return true;
        }
        match (&mut self.draft, what) {
            (DraftKey::Untouched, "none") => {}
            (DraftKey::Wanted(draft), "reply") => draft.reply = Some(Phrase::of(words)),
            (DraftKey::Wanted(draft), "in") => draft.languages = Some(Phrase::of(words)),
            (DraftKey::Wanted(draft), "says") => draft.says.push(Phrase::of(words)),
            _ => return false,
        }
        true
    }

    fn read_event(&mut self, rest: &str) -> bool {
        if rest == "none" {
            self.event = EventKey::Gone;
            return true;
        }
        let (when, minutes) = rest.split_once(' ').map_or((rest, None), |(when, minutes)| (when, minutes.parse().ok()));
        let at: Option<DateTime> = when.contains('T').then(|| when.parse().expect("a day and a time"));
        let day = at.map_or_else(|| when.parse().expect("a day"), DateTime::date);
        self.event = EventKey::Wanted { day, at, minutes };
        true
    }
}

impl Phrase {
    /// Ways to say the same, separated by bars.
    pub fn of(words: &str) -> Self {
        Self(words.split(" | ").map(|words| words.trim().to_owned()).collect())
    }
}
