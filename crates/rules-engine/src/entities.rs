//! What a request names: addresses, people, ids, paths, quoted phrases, amounts and topics.
//!
//! Found by their form, and people also by the names that the household knows. Left to the tools: whether such a mail, note or person
//! exists.

use std::collections::HashSet;
use std::ops::Range;

use super::lexicon::{Concept, Hit, lexicon};
use household::Household;
use household::time::Times;
use household::time::words::{Word, fold, words};

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

/// What the words of a text tell: people and topics.
pub(super) struct NamedThings<'a> {
    pub text: &'a str,
    pub words: &'a [Word],
    pub hits: &'a [Hit],
    pub times: &'a Times,
}

impl NamedThings<'_> {
    /// Adds people, those of `known` first, and topics.
    pub fn add_to(&self, entities: &mut Entities, known: &[String]) {
        let mut taken: HashSet<usize> = HashSet::new();
        // People by their place in the text: who is named first is mostly whom it is for.
        let mut people: Vec<(usize, Range<usize>)> = Vec::new();
        let is_free = |taken: &HashSet<usize>, at: &Range<usize>| !at.clone().any(|word| taken.contains(&word));
        for find in [Self::whole, Self::part] {
            for name in known {
                if let Some(at) = find(self, name).filter(|at| is_free(&taken, at)) {
                    taken.extend(at.clone());
                    people.push((at.start, at));
                }
            }
        }
        for at in 0..self.words.len() {
            if !taken.contains(&at) && self.is_relation(at) {
                taken.insert(at);
                // "Ebba's teacher" is one person.
                let of = people.iter_mut().find(|(_, of)| of.end + 1 == at && self.words[of.end].folded == "s");
                match of {
                    Some((_, of)) => of.end = at + 1,
                    None => people.push((at, at..at + 1)),
                }
            }
        }
        people.sort_by_key(|(at, _)| *at);
        entities.people.extend(people.into_iter().map(|(_, at)| self.said(&at).to_owned()));
        let mut at = 0;
        while at < self.words.len() {
            let is_free = |at: &usize| self.is_name(*at) && !taken.contains(at);
            let end = (at..self.words.len()).take_while(is_free).last().map_or(at, |last| last + 1);
            // The first word of a sentence is written large whatever it is.
            if end == at || (at == 0 && self.words.len() > 1) {
                at += 1;
                continue;
            }
            let name = self.said(&(at..end)).to_owned();
            // "In German" says how something is written.
            if LANGUAGE_NAMES.contains(&fold(&name).as_str()) {
                at = end;
                continue;
            }
            match self.is_addressed(at) {
                true => entities.people.push(name),
                false => entities.topics.push(name),
            }
            at = end;
        }
        self.add_topics(entities);
    }

    /// Where a known person is named by the whole name.
    fn whole(&self, name: &str) -> Option<Range<usize>> {
        let parts: Vec<String> = words(name).into_iter().map(|word| word.folded).collect();
        let is_whole = |at: &usize| {
            let run = self.words.get(*at..*at + parts.len());
            !parts.is_empty() && run.is_some_and(|run| run.iter().map(|word| &word.folded).eq(&parts))
        };
        (0..self.words.len()).find(is_whole).map(|at| at..at + parts.len())
    }

    /// Where a known person is named by a first or last name that is written like one or is no word of ours, or with a slip in a long one.
    fn part(&self, name: &str) -> Option<Range<usize>> {
        let parts: Vec<String> = words(name).into_iter().map(|word| word.folded).collect();
        // A cue may reach over words that it does not hold.
        let is_ours = |at: &usize| {
            lexicon().is_spoken(self.words, &self.words[*at].folded)
                && self.hits.iter().any(|hit| hit.words.contains(at))
        };
        let is_kind = |at: &usize| {
            let kinds = [Concept::Mail, Concept::Inbox, Concept::Note, Concept::Calendar, Concept::Event];
            self.hits.iter().any(|hit| hit.words == (*at..*at + 1) && kinds.contains(&hit.concept))
        };
        let is_part = |at: &usize| {
            let word = &self.words[*at];
            word.folded.chars().count() > 2
                && parts.contains(&word.folded)
                && !is_kind(at)
                && (begins_large(self.said(&(*at..*at + 1))) || !is_ours(at))
        };
        let is_nearly = |at: &usize| {
            let word = &self.words[*at];
            let near = |part: &String| part.chars().count() > 4 && strsim::osa_distance(part, &word.folded) == 1;
            word.folded.chars().count() > 4 && !is_ours(at) && parts.iter().any(near)
        };
        let all = || 0..self.words.len();
        all().find(is_part).or_else(|| all().find(is_nearly)).map(|at| at..at + 1)
    }

    /// Whether a word says what a person is to the owner, and means that person: "my landlord", "Mum", "from the dentist".
    fn is_relation(&self, at: usize) -> bool {
        let word = |at: usize| self.words[at].folded.as_str();
        if !Household::is_relation(word(at)) || self.is_time(&self.words[at]) {
            return false;
        }
        // "Frau Voss" is Voss, and not a wife.
        let is_title = TITLES.contains(&word(at))
            && self.words.get(at + 1).is_some_and(|next| begins_large(&self.text[next.at.clone()]));
        if is_title {
            return false;
        }
        let Some(before) = at.checked_sub(1) else { return PARENTS.contains(&word(at)) };
        let is_article = ARTICLES.contains(&word(before)) || ["vom", "beim", "du", "dem"].contains(&word(before));
        let is_from = is_article && (["vom", "beim", "du"].contains(&word(before)) || self.is_addressed(before));
        let is_one = is_article && !GROUPS.contains(&word(at));
        let is_of_a_person = word(before) == "s" && !GROUPS.contains(&word(at));
        OWN.contains(&word(before))
            || PARENTS.contains(&word(at))
            || is_from
            || is_one
            || is_of_a_person
            || self.is_addressed(at)
    }

    /// Whether a word is written like a name and means nothing that we know.
    fn is_name(&self, at: usize) -> bool {
        let is_ours = self.hits.iter().any(|hit| hit.words.contains(&at));
        begins_large(self.said(&(at..at + 1))) && !self.is_time(&self.words[at]) && !is_ours
    }

    /// Whether the word before says that a person follows.
    fn is_addressed(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        TO_PEOPLE.contains(&self.words[before].folded.as_str())
            || self.hits.iter().any(|hit| hit.words.contains(&before) && is_speech(hit.concept))
    }

    /// "urgent emails", and what stands behind "about".
    fn add_topics(&self, entities: &mut Entities) {
        let of =
            |concept: Concept, at: usize| self.hits.iter().any(|hit| hit.concept == concept && hit.words.contains(&at));
        let is_mark = |at: usize| of(Concept::Urgent, at) || of(Concept::Unread, at);
        for at in 0..self.words.len().saturating_sub(1) {
            if (is_mark(at) && of(Concept::Mail, at + 1)) || (of(Concept::Mail, at) && is_mark(at + 1)) {
                entities.topics.push(self.said(&(at..at + 2)).to_owned());
            }
        }
        let is_about = |word: &Word| ABOUT.contains(&word.folded.as_str());
        let Some(about) = self.words.iter().position(is_about) else { return };
        let is_article = |at: &usize| ARTICLES.contains(&self.words[*at].folded.as_str());
        let goes_on = |at: &usize| {
            let word = &self.words[*at];
            !self.is_time(word) && !ENDS_TOPIC.contains(&word.folded.as_str())
        };
        let rest = (about + 1..self.words.len()).take_while(goes_on).take(LONGEST_TOPIC);
        let topic: Vec<usize> = rest.skip_while(is_article).collect();
        if let (Some(first), Some(last)) = (topic.first(), topic.last()) {
            let topic = self.said(&(*first..last + 1)).to_owned();
            if !entities.all().iter().any(|entity| entity.contains(&topic)) {
                entities.topics.push(topic);
            }
        }
    }

    fn is_time(&self, word: &Word) -> bool {
        self.times.said.iter().any(|said| said.start <= word.at.start && word.at.end <= said.end)
    }

    fn said(&self, at: &Range<usize>) -> &str {
        &self.text[self.words[at.start].at.start..self.words[at.end - 1].at.end]
    }
}

const LANGUAGE_NAMES: [&str; 12] = [
    "english",
    "german",
    "french",
    "englisch",
    "deutsch",
    "franzosisch",
    "anglais",
    "allemand",
    "francais",
    "auf deutsch",
    "auf englisch",
    "spanish",
];

/// Words before a name that are also words for people.
const TITLES: [&str; 5] = ["frau", "herr", "mann", "herrn", "madame"];

/// Words for people who need no "my" before them.
const PARENTS: [&str; 10] = ["mum", "mom", "mummy", "dad", "daddy", "mama", "papa", "maman", "oma", "opa"];
/// Words for more than one person: they mean a person only where one is spoken to or of.
const GROUPS: [&str; 32] = [
    "choir",
    "chor",
    "chorale",
    "club",
    "verein",
    "association",
    "bank",
    "banque",
    "school",
    "schule",
    "ecole",
    "grundschule",
    "gymnasium",
    "college",
    "lycee",
    "insurance",
    "versicherung",
    "assurance",
    "garage",
    "werkstatt",
    "client",
    "customer",
    "kunde",
    "kundin",
    "friend",
    "freund",
    "parents",
    "eltern",
    "frau",
    "mann",
    "pharmacy",
    "management",
];
const OWN: [&str; 19] = [
    "my", "our", "mein", "meine", "meinem", "meinen", "meiner", "meines", "unser", "unsere", "unserem", "unseren",
    "unserer", "mon", "ma", "mes", "notre", "nos", "mi",
];

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
const TO_PEOPLE: [&str; 31] = [
    "of", "to", "from", "with", "for", "by", "and", "an", "von", "vom", "mit", "fur", "bei", "und", "a", "de", "avec",
    "pour", "par", "con", "para", "da", "per", "aan", "van", "met", "did", "has", "does", "hat", "herrn",
];

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
        || token.starts_with("draft-")
        || token.starts_with("proposal-");
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
