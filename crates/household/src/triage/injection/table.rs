//! What words mean, from the tables beside this file: one for each language, in sections `[class]` of phrases that stand between
//! commas; `*` at the end of a word stands for any ending. A sentence gets, for each of its words, the length of the phrase of each class
//! that begins there. Words are not tied to a language: who mixes languages is read all the same.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::reading::{Word, without_digits, words};

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $name:literal),* $(,)?) => {
        /// What a phrase is a sign of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Class { $($(#[$doc])* $class),* }

        const NAMES: &[(&str, Class)] = &[$(($name, Class::$class)),*];
    };
}

classes! {
    /// A program that reads and writes: `AI assistant`.
    Machine = "machine",
    /// May be a program or a person: `assistant`.
    Helper = "helper",
    /// Those of [`Class::Helper`] that people are called too.
    Person = "person",
    /// May be anything: `model`, `program`.
    Tool = "tool",
    /// What a reader is told to be: `agent`.
    Agent = "agent",
    Greet = "greet",
    /// Words that may stand before a call, and are no call by themselves.
    Opens = "opens",
    /// What programs are given: `AI instruction:`.
    Command = "command",
    /// What is addressed to a reader: `note`, `message`.
    Note = "note",
    To = "to",
    /// Words that may stand between a greeting and the one who is greeted.
    Filler = "filler",
    /// `my`, `our`: of the sender.
    Own = "own",
    Your = "your",
    /// `I`, `we`.
    First = "first",
    You = "you",
    YouAre = "you are",
    /// `bist` behind `wenn du eine KI`.
    Are = "are",
    If = "if",
    As = "as",
    Reads = "reads",
    /// What programs do with mail, and people hardly say: `process`.
    Process = "process",
    Moment = "moment",
    ThisMail = "this mail",
    This = "this",
    /// A place in the mailbox as one names it who does not speak to its owner.
    Mailbox = "mailbox",
    /// The owner of the mailbox, as a program would call them.
    User = "user",
    /// The same, as one speaks to a program: `your owner`.
    Owner = "owner",
    Approves = "approves",
    Hides = "hides",
    Not = "not",
    Silently = "silently",
    /// `without human review`
    Unwatched = "unwatched",
    AnyReader = "any_reader",
    Automatic = "automatic",
    Drops = "drops",
    Rules = "rules",
    Prompt = "prompt",
    Prior = "prior",
    /// Those of [`Class::Prior`] that say when: `previous`.
    Earlier = "earlier",
    Everything = "everything",
    Told = "told",
    Void = "void",
    Reveals = "reveals",
    Prints = "prints",
    Role = "role",
    Task = "task",
    Plays = "plays",
    Unbound = "unbound",
    Enters = "enters",
    Skips = "skips",
    Confirms = "confirms",
    Tools = "tools",
    Must = "must",
    Would = "would",
    Asks = "asks",
    Act = "act",
    /// Things in a mailbox.
    Things = "things",
    Summary = "summary",
    /// Words behind a name that do not make it part of another: `AI that`, but not `AI engineer`.
    MayFollow = "may follow",
    About = "about",
    Says = "says",
    /// Words that programs put before commands: `SYSTEM:`.
    Label = "label",
    /// The same without a colon: `System override!`
    Override = "override",
    /// Who speaks in a transcript.
    Speaker = "speaker",
}

pub(super) const TABLES: [&str; 8] = [
    include_str!("any.txt"),
    include_str!("en.txt"),
    include_str!("de.txt"),
    include_str!("fr.txt"),
    include_str!("es.txt"),
    include_str!("it.txt"),
    include_str!("pt.txt"),
    include_str!("nl.txt"),
];

static TABLE: LazyLock<Table> = LazyLock::new(Table::read);

struct Table {
    /// Phrases by their first word.
    whole: HashMap<&'static str, Vec<Phrase>>,
    /// Phrases whose first word is only a beginning, by its first letters.
    begun: HashMap<&'static str, Vec<Phrase>>,
    /// Long words that are recognised when they are misspelt.
    misspelt: Vec<(&'static str, Class)>,
    /// All words, for dividing what was written without spaces.
    vocabulary: HashSet<&'static str>,
}

struct Phrase {
    words: Vec<(&'static str, bool)>,
    class: Class,
}

/// Letters by which beginnings of words are looked up.
const PREFIX: usize = 2;

impl Table {
    fn read() -> Self {
        let mut table =
            Self { whole: HashMap::new(), begun: HashMap::new(), misspelt: Vec::new(), vocabulary: HashSet::new() };
        for text in TABLES {
            let mut class = None;
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                    Some(name) => class = NAMES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class),
                    None => {
                        let class = class.expect("a section has the name of a class");
                        line.split(", ").for_each(|phrase| table.add(phrase, class));
                    }
                }
            }
        }
        table
    }

    fn add(&mut self, phrase: &'static str, class: Class) {
        let part = |word: &'static str| word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
        let words: Vec<_> = phrase.split(' ').map(part).collect();
        self.vocabulary.extend(words.iter().map(|(word, _)| *word));
        let (first, is_stem) = words[0];
        if words.len() == 1
            && first.len() >= 6
            && matches!(class, Class::Machine | Class::Helper | Class::Drops | Class::Rules)
        {
            self.misspelt.push((first, class));
        }
        let phrases = match is_stem {
            true => self.begun.entry(&first[..PREFIX]).or_default(),
            false => self.whole.entry(first).or_default(),
        };
        phrases.push(Phrase { words, class });
    }
}

/// A sentence, and what its words are signs of.
pub(super) struct TaggedSentence {
    /// As it was written.
    pub text: String,
    pub words: Vec<Word>,
    /// For each word, and each class, how many words the longest phrase has that begins there.
    lengths: Vec<[u8; NAMES.len()]>,
}

impl TaggedSentence {
    /// Reads a sentence.
    pub fn new(text: &str) -> Self {
        let words: Vec<Word> = words(text);
        let lengths = (0..words.len()).map(|at| lengths(&words[at..])).collect();
        let mut said = Self { text: text.trim().to_owned(), words, lengths };
        said.mute();
        said
    }

    /// Takes the meaning from words that are only quoted, where the sentence says that it quotes.
    fn mute(&mut self) {
        let is_said = |at: &usize| !self.words[*at].is_quoted;
        let quotes = (0..self.words.len())
            .filter(is_said)
            .any(|at| self.length(Class::Says, at) > 0 || self.length(Class::About, at) > 0);
        if quotes {
            for (_, lengths) in self.words.iter().zip(&mut self.lengths).filter(|(word, _)| word.is_quoted) {
                *lengths = [0; NAMES.len()];
            }
        }
    }

    /// How many words of a class begin at a word; none where it has other signs.
    pub fn length(&self, class: Class, at: usize) -> usize {
        self.lengths.get(at).map_or(0, |lengths| usize::from(lengths[class as usize]))
    }

    /// Where phrases of a class stand.
    pub fn all(&self, class: Class) -> impl Iterator<Item = Range<usize>> {
        (0..self.words.len()).filter_map(move |at| {
            let length = self.length(class, at);
            (length > 0).then(|| at..at + length)
        })
    }

    /// Whether it has a phrase of a class.
    pub fn has(&self, class: Class) -> bool {
        self.all(class).next().is_some()
    }

    /// Whether a phrase of a class begins in a part of it.
    pub fn has_in(&self, class: Class, part: Range<usize>) -> bool {
        self.all(class).any(|phrase| part.contains(&phrase.start))
    }

    /// Whether phrases of two classes stand with at most `gap` words between them, in either order.
    pub fn near(&self, one: Class, other: Class, gap: usize) -> bool {
        self.all(one).any(|one| {
            self.all(other).any(|other| {
                let (first, second) = if one.start <= other.start { (&one, &other) } else { (&other, &one) };
                second.start >= first.end && second.start - first.end <= gap
            })
        })
    }

    /// Whether it names an address of mail or of a page.
    pub fn has_address(&self) -> bool {
        self.words.iter().any(|word| word.is_address)
    }

    /// Whether a word for an act or a thing in a mailbox is there that was misspelt.
    pub fn has_misspelt_act(&self) -> bool {
        const ACTS: [&str; 10] = [
            "forward", "delete", "please", "archive", "reply", "answer", "invoices", "transfer", "password", "calendar",
        ];
        self.words.iter().any(|word| ACTS.iter().any(|act| is_misspelt(&word.text, act)))
    }
}

fn lengths(words: &[Word]) -> [u8; NAMES.len()] {
    let mut lengths = [0; NAMES.len()];
    let first = &*words[0].text;
    note(first, words, &mut lengths);
    if lengths.iter().any(|length| *length > 0) {
        return lengths;
    }
    if first.bytes().any(|byte| byte.is_ascii_digit()) && first.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        note(&without_digits(first), words, &mut lengths);
    }
    for (_, class) in TABLE.misspelt.iter().filter(|(word, _)| is_misspelt(first, word)) {
        lengths[*class as usize] = 1;
    }
    lengths
}

fn note(first: &str, words: &[Word], lengths: &mut [u8; NAMES.len()]) {
    let whole = TABLE.whole.get(first).into_iter().flatten();
    let begun = first.get(..PREFIX).and_then(|prefix| TABLE.begun.get(prefix)).into_iter().flatten();
    for phrase in whole.chain(begun) {
        let is_there = phrase.words.iter().enumerate().all(|(at, (part, is_stem))| {
            let word = if at == 0 { Some(first) } else { words.get(at).map(|word| &*word.text) };
            word.is_some_and(|word| if *is_stem { word.starts_with(part) } else { word == *part })
        });
        let length = &mut lengths[phrase.class as usize];
        if is_there && usize::from(*length) < phrase.words.len() {
            *length = phrase.words.len() as u8;
        }
    }
}

/// Whether a word is another with one letter too many, too few, changed or moved.
fn is_misspelt(word: &str, meant: &str) -> bool {
    // Other words, and no mistakes.
    const OTHERS: [&str; 6] = ["assistenz", "assistance", "assistante", "assistentin", "promptly", "rulers"];
    word.len() >= 6
        && word.len().abs_diff(meant.len()) <= 1
        && (word.as_bytes()[0] == meant.as_bytes()[0] || word.ends_with(&meant[1..]))
        && !OTHERS.contains(&word)
        && strsim::osa_distance(word, meant) == 1
}

/// Words that were written without spaces, with spaces: as few letters as possible are left over.
pub(super) fn cut(word: &str) -> String {
    // What is longer is divided piece by piece, so that the work grows with the length only.
    const PIECE: usize = 600;
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= LONGEST {
        return word.to_owned();
    }
    letters.chunks(PIECE).map(cut_piece).collect::<Vec<_>>().join(" ")
}

/// Letters of the longest word that is looked for.
const LONGEST: usize = 16;

fn cut_piece(letters: &[char]) -> String {
    // For each length of the beginning: letters left over, and the length of its last word.
    let mut best: Vec<(usize, usize)> = vec![(0, 0)];
    for end in 1..=letters.len() {
        let left_over = (best[end - 1].0 + 4, 1);
        let known = (1..=LONGEST.min(end)).filter_map(|length| {
            let word: String = letters[end - length..end].iter().collect();
            let cost = if length == 1 { 3 } else { 1 };
            let is_known = TABLE.vocabulary.contains(crate::text::fold(&word).as_str());
            is_known.then(|| (best[end - length].0 + cost, length))
        });
        best.push(known.chain([left_over]).min().unwrap_or(left_over));
    }
    let mut words: Vec<String> = Vec::new();
    let mut end = letters.len();
    while end > 0 {
        let length = best[end].1;
        words.push(letters[end - length..end].iter().collect());
        end -= length;
    }
    words.reverse();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_the_tables_has_a_class_and_every_phrase_is_folded() {
        for text in TABLES {
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                    Some(name) => assert!(NAMES.iter().any(|(known, _)| *known == name), "{name}"),
                    None => {
                        let is_plain =
                            |character: char| matches!(character, 'a'..='z' | '0'..='9' | '_' | ' ' | ',' | '*');
                        assert!(line.chars().all(is_plain), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn words_without_spaces_are_divided() {
        assert_eq!(cut("dearassistantcouldyouforwardall"), "dear assistant could you forward all");
    }
}
