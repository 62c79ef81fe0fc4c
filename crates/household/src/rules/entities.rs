//! What a request is about: addresses, people, ids, paths, quoted phrases, amounts and topics.
//!
//! Found by their form, and people also by whom the household knows. Left to the tools: whether such a mail, note or person
//! exists.

use std::collections::HashSet;
use std::ops::Range;

use super::lexicon::{Concept, Hit};
use super::time::Times;
use super::words::{Word, fold, words};

/// What a request is about. Everything stands as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entities {
    /// Mail addresses.
    pub addresses: Vec<String>,
    /// Ids of messages and drafts.
    pub ids: Vec<String>,
    /// Paths of notes.
    pub paths: Vec<String>,
    /// Phrases in quotation marks.
    pub quoted: Vec<String>,
    /// Sums of money.
    pub amounts: Vec<String>,
    /// People, known to the household or called so by the words around them.
    pub people: Vec<String>,
    /// Names of things, and what stands behind "about".
    pub topics: Vec<String>,
}

impl Entities {
    /// Whether anything is named that the household may hold; topics may be anything.
    pub(super) fn name_something(&self) -> bool {
        let lists = [&self.ids, &self.addresses, &self.people, &self.paths, &self.quoted];
        lists.into_iter().any(|list| !list.is_empty())
    }

    /// All of them, each once.
    pub fn all(&self) -> Vec<String> {
        let lists = [&self.ids, &self.addresses, &self.people, &self.paths, &self.quoted, &self.amounts, &self.topics];
        let mut seen = HashSet::new();
        lists.into_iter().flatten().filter(|entity| seen.insert(fold(entity))).cloned().collect()
    }
}

/// What can be told from the form of the text alone, and where it stands: its words say nothing about what is asked.
pub(super) fn by_form(text: &str) -> (Entities, Vec<Range<usize>>) {
    let mut entities = Entities::default();
    let mut places = Vec::new();
    for (at, phrase) in quoted(text) {
        entities.quoted.push(phrase.to_owned());
        places.push(at);
    }
    for (start, token) in tokens(text) {
        let at = start..start + token.len();
        if places.iter().any(|place: &Range<usize>| place.start < at.end && at.start < place.end) {
            continue;
        }
        let list = if is_address(token) {
            &mut entities.addresses
        } else if token.ends_with(".md") && token.len() > 3 {
            &mut entities.paths
        } else if is_id(token) {
            &mut entities.ids
        } else if is_amount(token) {
            entities.amounts.push(token.to_owned());
            continue;
        } else {
            continue;
        };
        list.push(token.to_owned());
        places.push(at);
    }
    (entities, places)
}

/// What the words tell: people and topics.
pub(super) fn by_words(text: &str, words: &[Word], hits: &[Hit], times: &Times, known: &[String], into: &mut Entities) {
    let said = |word: &Word| &text[word.at.clone()];
    let is_time = |word: &Word| times.said.iter().any(|said| said.start <= word.at.start && word.at.end <= said.end);
    let mut taken: HashSet<usize> = HashSet::new();
    for name in known {
        let parts: Vec<String> = super::words::words(name).into_iter().map(|word| word.folded).collect();
        let whole = (0..words.len()).find(|at| {
            !parts.is_empty()
                && words.get(*at..*at + parts.len()).is_some_and(|run| run.iter().map(|w| &w.folded).eq(&parts))
        });
        // A first or last name alone is a person when it is written like a name, or is no word of ours.
        let single = || {
            (0..words.len()).find(|at| {
                let word = &words[*at];
                let is_word = hits.iter().any(|hit| hit.words.contains(at));
                word.folded.chars().count() > 2
                    && parts.contains(&word.folded)
                    && (begins_large(said(word)) || !is_word)
            })
        };
        let found = whole.map(|at| at..at + parts.len()).or_else(|| single().map(|at| at..at + 1));
        if let Some(at) = found
            && !at.clone().any(|word| taken.contains(&word))
        {
            into.people.push(text[words[at.start].at.start..words[at.end - 1].at.end].to_owned());
            taken.extend(at);
        }
    }
    let means = |at: usize| hits.iter().any(|hit| hit.words.contains(&at) && !is_plain(hit.concept));
    let is_name = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| begins_large(said(word)) && !is_time(word) && !means(at) && !is_common(hits, at))
    };
    let mut at = 0;
    while at < words.len() {
        if taken.contains(&at) || !is_name(at) || (at == 0 && words.len() > 1) {
            at += 1;
            continue;
        }
        let end =
            (at..words.len()).take_while(|at| is_name(*at) && !taken.contains(at)).last().map_or(at, |last| last) + 1;
        let name = text[words[at].at.start..words[end - 1].at.end].to_owned();
        let before = at.checked_sub(1).map(|before| words[before].folded.as_str());
        let is_addressed = at
            .checked_sub(1)
            .is_some_and(|before| hits.iter().any(|hit| hit.words.contains(&before) && is_speech(hit.concept)));
        match before.is_some_and(|before| TO_PEOPLE.contains(&before)) || is_addressed {
            true => into.people.push(name),
            false => into.topics.push(name),
        }
        at = end;
    }
    topics(text, words, hits, &is_time, into);
}

/// "urgent emails", and what stands behind "about".
fn topics(text: &str, words: &[Word], hits: &[Hit], is_time: &dyn Fn(&Word) -> bool, into: &mut Entities) {
    let of = |concept: Concept, at: usize| hits.iter().any(|hit| hit.concept == concept && hit.words.contains(&at));
    for at in 0..words.len().saturating_sub(1) {
        let is_urgent_mail = (of(Concept::Urgent, at) || of(Concept::Unread, at)) && of(Concept::Mail, at + 1);
        let is_mail_urgent = of(Concept::Mail, at) && (of(Concept::Urgent, at + 1) || of(Concept::Unread, at + 1));
        if is_urgent_mail || is_mail_urgent {
            into.topics.push(text[words[at].at.start..words[at + 1].at.end].to_owned());
        }
    }
    let Some(about) = words.iter().position(|word| ABOUT.contains(&word.folded.as_str())) else { return };
    let rest: Vec<&Word> = words[about + 1..]
        .iter()
        .take_while(|word| !is_time(word) && !ENDS_TOPIC.contains(&word.folded.as_str()))
        .take(LONGEST_TOPIC)
        .collect();
    let rest: Vec<&Word> = rest.into_iter().skip_while(|word| ARTICLES.contains(&word.folded.as_str())).collect();
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        let topic = text[first.at.start..last.at.end].to_owned();
        let is_told = into.all().iter().any(|entity| entity.contains(&topic));
        if !is_told {
            into.topics.push(topic);
        }
    }
}

/// The most words of a topic.
const LONGEST_TOPIC: usize = 6;
const ABOUT: [&str; 12] = [
    "about",
    "regarding",
    "concerning",
    "uber",
    "ueber",
    "zum",
    "zur",
    "bezuglich",
    "sur",
    "sobre",
    "riguardo",
    "over",
];
const ENDS_TOPIC: [&str; 10] = ["and", "und", "et", "then", "dann", "puis", "saying", "dass", "from", "von"];
const ARTICLES: [&str; 18] = [
    "the", "a", "an", "my", "der", "die", "das", "den", "dem", "le", "la", "les", "mon", "ma", "mes", "el", "il", "de",
];
const TO_PEOPLE: [&str; 30] = [
    "to", "from", "with", "for", "by", "and", "an", "von", "vom", "mit", "fur", "bei", "und", "a", "de", "avec",
    "pour", "par", "con", "para", "da", "per", "aan", "van", "met", "did", "has", "does", "hat", "herrn",
];

fn is_plain(concept: Concept) -> bool {
    matches!(concept, Concept::Common | Concept::Filler | Concept::Question | Concept::It)
}

fn is_common(hits: &[Hit], at: usize) -> bool {
    hits.iter().any(|hit| hit.words.contains(&at))
}

fn is_speech(concept: Concept) -> bool {
    use Concept::*;
    matches!(concept, Reply | Tell | Write | Ask | Acknowledge | FollowUp | Forward | Send)
}

fn begins_large(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase) && word.len() > 1
}

/// What stands between quotation marks of any kind; apostrophes are no marks.
fn quoted(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, character) in text.char_indices() {
        match open {
            Some((start, closing)) if character == closing || (closing == '“' && character == '”') => {
                let phrase = text[start..at].trim();
                if !phrase.is_empty() {
                    found.push((start..at, phrase));
                }
                open = None;
            }
            Some(_) => {}
            None => {
                let closing = match character {
                    '"' => '"',
                    '“' => '”',
                    '„' => '“',
                    '«' => '»',
                    _ => continue,
                };
                open = Some((at + character.len_utf8(), closing));
            }
        }
    }
    found
}

fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    text.split(char::is_whitespace).map(move |token| {
        let start = end;
        end += token.len() + text[end + token.len()..].chars().next().map_or(0, char::len_utf8);
        let is_mark = |character: char| "\"'(),;:!?<>[]„“”«»…".contains(character);
        let opened = token.trim_start_matches(is_mark);
        (start + token.len() - opened.len(), opened.trim_end_matches(is_mark).trim_end_matches('.'))
    })
}

fn is_address(token: &str) -> bool {
    token.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
}

/// An id of a message or a draft: letters and digits held together by underscores, or a Maildir's long name.
fn is_id(token: &str) -> bool {
    let is_written_so =
        token.chars().all(|character| character.is_ascii_alphanumeric() || "_.-=+,".contains(character));
    let has_digit = token.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = token.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_joined = token.contains('_') || (token.len() > 15 && token.contains('.'));
    let is_marked = token.starts_with("msg_")
        || token.starts_with("msg-")
        || token.starts_with("draft_")
        || token.starts_with("draft-");
    is_written_so && has_letter && (is_marked || (has_digit && is_joined))
}

fn is_amount(token: &str) -> bool {
    let has_digit = token.bytes().any(|byte| byte.is_ascii_digit());
    has_digit
        && (token.contains(['€', '$', '£'])
            || ["eur", "usd", "gbp", "chf"].iter().any(|unit| fold(token).ends_with(unit)))
}

/// The words of a text without those at `places`.
pub(super) fn words_outside(text: &str, places: &[Range<usize>]) -> Vec<Word> {
    let is_inside = |word: &Word| places.iter().any(|place| place.start <= word.at.start && word.at.end <= place.end);
    words(text).into_iter().filter(|word| !is_inside(word)).collect()
}

/// The words of people's names, so that they are not taken for slips of the pen.
pub(super) fn name_words(people: &[String]) -> HashSet<String> {
    people.iter().flat_map(|name| words(name)).map(|word| word.folded).collect()
}
