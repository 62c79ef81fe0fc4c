//! The meaning of words: phrases of several languages for each concept, and correction of misspelt words.
//!
//! The phrases are data, one file per language in `lexicon/`: a `[concept]`, then phrases separated by commas. In a phrase `*` at
//! the end of a word stands for any ending, at its beginning for any beginning, and `…` for one to six words in between.
//! Left to `intent`: what concepts together ask for.

mod matching;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use household::time;
use household::time::words::{Word, fold, fold_written_out, words};

/// What a cue stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Concept {
    Inbox,
    Mail,
    Unread,
    Urgent,
    Triage,
    Look,
    Briefing,
    Calendar,
    Event,
    Book,
    Change,
    Free,
    Busy,
    Conflict,
    Day,
    When,
    Write,
    Reply,
    Accept,
    Decline,
    Propose,
    Ask,
    Acknowledge,
    FollowUp,
    Forward,
    Tell,
    Send,
    Drafts,
    Saying,
    Find,
    Note,
    Know,
    Recent,
    Backlinks,
    Preference,
    Prefer,
    Learn,
    Always,
    Forget,
    Explain,
    Apply,
    Greeting,
    Thanks,
    Help,
    Identity,
    Clock,
    Smalltalk,
    Beyond,
    Vague,
    Yes,
    No,
    First,
    Second,
    Third,
    Last,
    It,
    Question,
    Filler,
    Common,
    /// A person and what is known of them.
    Person,
    /// What the owner wrote.
    Sent,
    /// Whether a mail can be trusted.
    Genuine,
    /// A whole conversation.
    Thread,
    /// A change of a draft.
    Edit,
    /// Taking something back.
    Undo,
}

/// A cue that stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub concept: Concept,
    /// The first word to the last, by number.
    pub words: Range<usize>,
}

/// Every cue of every language.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    cues: Vec<Cue>,
    /// The cues that begin with a whole word, by that word.
    by_word: HashMap<String, Vec<usize>>,
    /// The cues that begin with a part of a word.
    by_part: Vec<usize>,
    /// Every word that stands in a cue, whole.
    vocabulary: HashSet<String>,
    /// The words that a misspelt one may have been.
    targets: HashSet<String>,
    /// The words of each language, in the order of its files.
    spoken: Vec<HashSet<String>>,
}

#[derive(Debug)]
struct Cue {
    concept: Concept,
    pieces: Vec<Piece>,
    /// Its language, by its place in [`LANGUAGES`].
    language: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Whole(String),
    Beginning(String),
    Ending(String),
    Gap,
}

/// The languages that are understood, as their files tell.
const FILES: [&str; 6] = [
    include_str!("lexicon/en.txt"),
    include_str!("lexicon/de.txt"),
    include_str!("lexicon/fr.txt"),
    include_str!("lexicon/es.txt"),
    include_str!("lexicon/it.txt"),
    include_str!("lexicon/nl.txt"),
];

/// The languages of the files, by their two letters.
pub(crate) const LANGUAGES: [&str; 6] = ["en", "de", "fr", "es", "it", "nl"];

/// The lexicon that is built in.
pub(crate) fn lexicon() -> &'static Lexicon {
    static BUILTIN: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(&FILES));
    &BUILTIN
}

impl Lexicon {
    fn read(files: &[&str]) -> Self {
        let mut lexicon = Self::default();
        for (language, file) in files.iter().enumerate() {
            lexicon.spoken.push(words(file).into_iter().map(|word| word.folded).collect());
            let mut concept = None;
            for line in file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
                match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                    Some(name) => concept = Some(Concept::named(name)),
                    None => {
                        let concept = concept.expect("a lexicon's phrases stand under a concept");
                        for phrase in line.split(',').map(str::trim).filter(|phrase| !phrase.is_empty()) {
                            lexicon.learn(concept, phrase, language);
                        }
                    }
                }
            }
        }
        // Words of time are mended as all others are.
        for word in time::vocabulary() {
            lexicon.vocabulary.insert(word.to_owned());
            lexicon.targets.insert(word.to_owned());
        }
        lexicon
    }

    /// The language that words are in: the one that knows most of them, and English where it knows as many.
    pub fn language(&self, said: &[Word]) -> &'static str {
        let known = |spoken: &HashSet<String>| said.iter().filter(|word| spoken.contains(&word.folded)).count();
        let counts: Vec<usize> = self.spoken.iter().map(known).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        let at = counts.iter().position(|count| *count == most).unwrap_or(0);
        LANGUAGES[at]
    }

    /// Whether a word, folded, stands in a cue of the language that some words are in.
    pub fn is_spoken(&self, said: &[Word], folded: &str) -> bool {
        self.is_word_of(self.language(said), folded)
    }

    /// Whether a word, folded, stands in a cue of a language.
    pub fn is_word_of(&self, language: &str, folded: &str) -> bool {
        self.spoken_in(language).is_some_and(|spoken| spoken.contains(folded))
    }

    /// Every word that stands in a cue of a language.
    pub fn words_of(&self, language: &str) -> impl Iterator<Item = &str> {
        self.spoken_in(language).into_iter().flatten().map(String::as_str)
    }

    fn spoken_in(&self, language: &str) -> Option<&HashSet<String>> {
        self.spoken.get(LANGUAGES.iter().position(|code| *code == language)?)
    }

    /// The languages that a text may be in, by their places: the one that knows most of its words, and those that know nearly as many.
    fn likely(&self, said: &[Word]) -> Vec<bool> {
        let known = |spoken: &HashSet<String>| said.iter().filter(|word| spoken.contains(&word.folded)).count();
        let counts: Vec<usize> = self.spoken.iter().map(known).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        counts.into_iter().map(|count| count + 1 >= most || 3 * count >= 2 * most).collect()
    }

    fn learn(&mut self, concept: Concept, phrase: &str, language: usize) {
        let (plain, written_out) = (fold(phrase), fold_written_out(phrase));
        self.cue(concept, &plain, language);
        if plain != written_out {
            self.cue(concept, &written_out, language);
        }
    }

    fn cue(&mut self, concept: Concept, phrase: &str, language: usize) {
        let mut pieces = Vec::new();
        for part in phrase.split_whitespace() {
            if part == "…" {
                pieces.push(Piece::Gap);
                continue;
            }
            let (starts_open, ends_open) = (part.starts_with('*'), part.ends_with('*'));
            // A cue is taken apart as texts are, so that `e-mail` and `j'ai` meet what people write.
            for Word { folded, .. } in words(part) {
                pieces.push(match (starts_open, ends_open) {
                    (true, _) => Piece::Ending(folded),
                    (false, true) => Piece::Beginning(folded),
                    (false, false) => {
                        self.vocabulary.insert(folded.clone());
                        if may_be_meant(concept) {
                            self.targets.insert(folded.clone());
                        }
                        Piece::Whole(folded)
                    }
                });
            }
        }
        match pieces.first() {
            Some(Piece::Whole(first)) => self.by_word.entry(first.clone()).or_default().push(self.cues.len()),
            _ => self.by_part.push(self.cues.len()),
        }
        self.cues.push(Cue { concept, pieces, language });
    }
}

/// Whether a misspelt word may have been one of this concept's: words that ask for nothing are no help in reading others.
fn may_be_meant(concept: Concept) -> bool {
    !matches!(concept, Concept::Beyond | Concept::Smalltalk | Concept::Common | Concept::Vague | Concept::Filler)
}

impl Concept {
    fn named(name: &str) -> Self {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.unwrap_or_else(|| panic!("there is no concept `{name}`")).1
    }
}

/// The concepts as the files call them.
const NAMES: [(&str, Concept); 65] = [
    ("inbox", Concept::Inbox),
    ("mail", Concept::Mail),
    ("unread", Concept::Unread),
    ("urgent", Concept::Urgent),
    ("triage", Concept::Triage),
    ("look", Concept::Look),
    ("briefing", Concept::Briefing),
    ("calendar", Concept::Calendar),
    ("event", Concept::Event),
    ("book", Concept::Book),
    ("change", Concept::Change),
    ("free", Concept::Free),
    ("busy", Concept::Busy),
    ("conflict", Concept::Conflict),
    ("day", Concept::Day),
    ("when", Concept::When),
    ("write", Concept::Write),
    ("reply", Concept::Reply),
    ("accept", Concept::Accept),
    ("decline", Concept::Decline),
    ("propose", Concept::Propose),
    ("ask", Concept::Ask),
    ("acknowledge", Concept::Acknowledge),
    ("follow_up", Concept::FollowUp),
    ("forward", Concept::Forward),
    ("tell", Concept::Tell),
    ("send", Concept::Send),
    ("drafts", Concept::Drafts),
    ("saying", Concept::Saying),
    ("find", Concept::Find),
    ("note", Concept::Note),
    ("know", Concept::Know),
    ("recent", Concept::Recent),
    ("backlinks", Concept::Backlinks),
    ("preference", Concept::Preference),
    ("prefer", Concept::Prefer),
    ("learn", Concept::Learn),
    ("always", Concept::Always),
    ("forget", Concept::Forget),
    ("explain", Concept::Explain),
    ("apply", Concept::Apply),
    ("greeting", Concept::Greeting),
    ("thanks", Concept::Thanks),
    ("help", Concept::Help),
    ("identity", Concept::Identity),
    ("clock", Concept::Clock),
    ("smalltalk", Concept::Smalltalk),
    ("beyond", Concept::Beyond),
    ("vague", Concept::Vague),
    ("yes", Concept::Yes),
    ("no", Concept::No),
    ("first", Concept::First),
    ("second", Concept::Second),
    ("third", Concept::Third),
    ("last", Concept::Last),
    ("it", Concept::It),
    ("question", Concept::Question),
    ("filler", Concept::Filler),
    ("common", Concept::Common),
    ("person", Concept::Person),
    ("sent", Concept::Sent),
    ("genuine", Concept::Genuine),
    ("thread", Concept::Thread),
    ("edit", Concept::Edit),
    ("undo", Concept::Undo),
];
