//! Answers a question from everything that the household holds: the sentences of notes and mails, events, and cards.
//!
//! A sentence is worth what it shares with the words of the question, across inflections and languages (`passages`), what its note,
//! sender or heading and the rest of its text share with them, and whether it holds what is asked for: a time, a sum, a number. It is quoted
//! together with sentences of the same text that hold more of it. Nothing is invented: the answer is a quotation with the place where it stands, and the words that were found nowhere are named. Suspicious mails are never quoted.

mod sources;
pub(crate) mod tools;
mod wanted;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::error::Error;
use crate::glossary;
use crate::household::Household;
use crate::mail::address::Person;
use crate::notes::stop_words;
use crate::passages::{Term, words_of};
use crate::people::{self, KnownPerson};
use crate::{text, words};
use sources::Source;
use wanted::Wanted;

/// A sentence, and where it stands.
#[derive(Clone, Debug)]
struct Passage {
    source: Source,
    /// What is quoted.
    quote: String,
    words: Vec<String>,
    /// What stands around it: title, heading, sender, subject.
    around: Vec<String>,
    /// Whether it is a heading or a subject: it says what something is about, and seldom more.
    is_heading: bool,
    /// Whether it holds a moment by itself, as an event does.
    is_dated: bool,
    /// How new it is, from 0 to 1; 0 where that says nothing.
    newness: f64,
}

/// A passage with its worth.
struct Scored {
    passage: Passage,
    score: f64,
    /// How much of the question it covers, from 0 to 1.
    covers: f64,
    /// Whether it answers, rather than coming near.
    is_sure: bool,
    missing: Vec<String>,
    read_as: Vec<(String, String)>,
}

/// What a word around a sentence is worth beside one in it.
const AROUND: f64 = 0.75;
/// What a word elsewhere in the same text is worth beside one in the sentence.
const ELSEWHERE: f64 = 0.5;
/// What a heading is worth less than a sentence.
const HEADING: f64 = 0.4;
/// What it is worth that a mail is from the one whose words are asked for.
const AUTHOR: f64 = 0.25;
/// What a passage is worth less that does not speak of the person who is asked about.
const STRANGER: f64 = 0.3;
/// What holding, or lacking, the kind of thing that is asked for is worth.
const KIND: f64 = 0.26;
/// A passage that covers so much of the question answers it, and this much if it holds the kind of thing that is asked for.
const SURE: f64 = 0.6;
const HALF: f64 = 0.5;
const NEAR: f64 = 0.42;
/// Where the words of a question are met less well than this, each counting the same, a passage only comes near.
const LEAST_QUALITY: f64 = 0.62;
/// A passage that covers less of the question is no answer.
const LEAST: f64 = 0.3;

/// Where an answer is looked for.
#[derive(Clone, Copy, Debug)]
struct Scope<'a> {
    /// Kinds of sources; all where none are said.
    kinds: &'a [String],
    /// Ids of mails and events, and paths of notes, that the question is about; everything where none are said.
    about: &'a [String],
    /// What was asked before, in which this question is asked.
    before: &'a str,
    limit: usize,
}

/// The best passages for a question, as JSON.
fn answer(question: &str, scope: Scope<'_>, household: &Household) -> Result<Value, Error> {
    let wanted = Wanted::all(question);
    let mut terms = terms(question, household)?;
    // Words that only say what kind of thing is asked for are not looked for, unless there are no others.
    let is_kind = |term: &Term| wanted.iter().any(|wanted| wanted.is_named_by(&term.said));
    if terms.iter().any(|term| !is_kind(term)) {
        terms.retain(|term| !is_kind(term));
    }
    if terms.is_empty() && scope.about.is_empty() {
        return Err(Error::request("there is no word in the question that could be looked for; say what it is about"));
    }
    let is_inside = !scope.about.is_empty();
    let passages = match is_inside {
        true => sources::of(scope.about, household)?,
        false => sources::gather(&terms, scope.kinds, household)?,
    };
    let documents = Document::gather(passages);
    let before = self::terms(scope.before, household)?;
    let asked = Question {
        weights: weights(&terms, &documents),
        is_bare: wanted.is_empty() && terms.len() <= MOST_BARE && words_of(question).len() == terms.len(),
        terms,
        before,
        wanted,
        is_by_author: wanted::asks_for_author(question),
        asks_who_wrote: wanted::asks_who_wrote(question),
        owes: Owes::asked(question),
        unit: wanted::unit(question),
        names: match wanted::Wanted::all(question).contains(&Wanted::Person) {
            true => {
                let people = people::known(household, &household.mailbox()?)?;
                let is_person = |person: &&KnownPerson| {
                    let person = Person { name: person.name.clone(), address: String::new() };
                    person.first_name().is_some()
                };
                let names = people.iter().filter(is_person).flat_map(|person| words_of(&person.name));
                names.filter(|word| word.len() > 1).collect()
            }
            false => BTreeSet::new(),
        },
    };
    let focus = if is_inside { asked.focus(&documents, household)? } else { Vec::new() };
    let score = |document: &Document| asked.best_of(document, is_inside);
    let mut scored: Vec<(Scored, Vec<Passage>)> =
        documents.into_iter().filter_map(|document| Some((score(&document)?, document.passages))).collect();
    scored.sort_by(|(one, _), (other, _)| other.score.total_cmp(&one.score));
    let (mut answers, mut suspicious): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for (one, passages) in scored {
        if answers.len() >= scope.limit {
            break;
        }
        match one.passage.source.warnings(household)? {
            warnings if warnings.is_empty() => answers.push(shown(&one, &asked.quote(&one, &passages), household)),
            // Not a word of it is quoted, but that it may be meant is said.
            warnings if answers.len() < 2 && one.covers >= HALF && asked.terms.len() > one.missing.len() + 1 => {
                let mut told = one.passage.source.shown(household);
                told["warnings"] = json!(warnings);
                told["covers"] = json!((one.covers * 100.0).round() / 100.0);
                suspicious.push(told);
            }
            _ => {}
        }
    }
    let words: Vec<&str> = asked.terms.iter().map(|term| term.said.as_str()).collect();
    let mut answer = json!({ "question": text::line(question, 300), "words": words, "answers": answers });
    if !suspicious.is_empty() {
        answer["suspicious"] = json!(suspicious);
    }
    if !focus.is_empty() {
        answer["focus"] = json!(focus);
    }
    Ok(answer)
}

/// A note, a mail, an event or a card: its passages in their order.
struct Document {
    passages: Vec<Passage>,
}

impl Document {
    fn gather(passages: Vec<Passage>) -> Vec<Self> {
        let mut documents: Vec<Self> = Vec::new();
        let mut at: BTreeMap<String, usize> = BTreeMap::new();
        for passage in passages {
            let known = *at.entry(passage.source.key()).or_insert(documents.len());
            match documents.get_mut(known) {
                Some(document) => document.passages.push(passage),
                None => documents.push(Self { passages: vec![passage] }),
            }
        }
        documents
    }

    /// How well a word of the question is met anywhere in it.
    fn worth(&self, term: &Term) -> f64 {
        self.passages
            .iter()
            .map(|passage| term.worth(&passage.words).max(AROUND * term.worth(&passage.around)))
            .fold(0.0, f64::max)
    }
}

/// A question: its words, what each of them tells, and the kinds of things that are asked for.
struct Question {
    terms: Vec<Term>,
    weights: Vec<f64>,
    /// The words of the question before it.
    before: Vec<Term>,
    wanted: Vec<Wanted>,
    /// Whether it asks what a person wrote or wants.
    is_by_author: bool,
    /// The words of the names of known people.
    names: BTreeSet<String>,
    /// The unit of time for which something is asked: "per month".
    unit: Option<usize>,
    /// Who owes whom, where that is asked.
    owes: Option<Owes>,
    /// Whether it is no more than a few words that name a thing ("lab results"): what a mail says about it is asked for.
    is_bare: bool,
    /// Whether it asks which other person wrote or wants something: the owner's own mails are no answer then.
    asks_who_wrote: bool,
}

impl Question {
    /// Whether a mail is from the person whom the question names.
    fn is_author(&self, passage: &Passage) -> bool {
        let author = passage.source.author();
        self.terms.iter().any(|term| !term.names.is_empty() && author.iter().any(|word| term.names.contains(word)))
    }

    /// The passage of a document that answers best; none where none comes near.
    fn best_of(&self, document: &Document, is_inside: bool) -> Option<Scored> {
        let whole: Vec<f64> = self.terms.iter().map(|term| document.worth(term)).collect();
        let score = |passage: &Passage| match is_inside {
            true => self.score_inside(passage, &whole),
            false => self.score(passage, &whole),
        };
        document.passages.iter().filter_map(score).reduce(|best, one| if one.score > best.score { one } else { best })
    }

    fn holds(&self, passage: &Passage) -> bool {
        self.wanted.iter().any(|wanted| match wanted {
            Wanted::Person => self.names_someone(passage),
            wanted => wanted.is_in(&passage.quote, passage.is_dated),
        })
    }

    /// Whether a passage names a person besides those that the question names: one who is known, one with a title, or one behind a colon.
    fn names_someone(&self, passage: &Passage) -> bool {
        const TITLES: &str = " mr mrs ms dr frau herr mme mlle m monsieur madame aunt uncle tante onkel oncle prof ";
        if passage.source.is_card() {
            return true;
        }
        let is_asked = |word: &String| self.terms.iter().any(|term| term.said == **word);
        let has_name = |words: &[String]| {
            words
                .iter()
                .any(|word| (self.names.contains(word) || TITLES.contains(&format!(" {word} "))) && !is_asked(word))
        };
        let is_behind_colon = || {
            let is_name = |word: &str| {
                word.starts_with(char::is_uppercase)
                    && word.chars().all(|letter| letter.is_alphabetic() || "-'".contains(letter))
            };
            passage.quote.split(": ").skip(1).any(|rest| {
                let named = rest.split(['.', ',', ';', '(']).next().unwrap_or_default();
                let words = named.split_whitespace().count();
                (1..=3).contains(&words) && named.split_whitespace().all(is_name)
            })
        };
        let says_name = || {
            let own =
                passage.quote.split_whitespace().filter(|word| word.chars().next().is_some_and(char::is_alphabetic));
            let capital = own.filter(|word| word.chars().next().is_some_and(char::is_uppercase));
            has_name(&capital.flat_map(words_of).collect::<Vec<_>>())
        };
        says_name()
            || !passage.is_heading && is_behind_colon()
            || passage.source.is_event() && has_name(&passage.around)
            || self.is_by_author && matches!(passage.source, Source::Mail(_))
    }

    /// Whether a passage may hold what is asked for: a sum may be told without its currency.
    fn holds_loosely(&self, passage: &Passage) -> bool {
        self.holds(passage) || self.wanted.contains(&Wanted::Sum) && wanted::has_bare_sum(&passage.quote)
    }

    fn score(&self, passage: &Passage, whole: &[f64]) -> Option<Scored> {
        let (mut sum, mut near, mut own, mut lacking) = (0.0, 0.0, 0.0, 0.0);
        let (mut missing, mut read_as) = (Vec::new(), Vec::new());
        let (mut lacks_someone, mut topics, mut met) = (false, 0, 0);
        // A word of the text that two words of the question are found in speaks for one of them only.
        let (mut met_here, mut met_by) = (0, BTreeSet::new());
        for ((term, weight), whole) in self.terms.iter().zip(&self.weights).zip(whole) {
            let (inside, around) = (term.worth(&passage.words), term.worth(&passage.around) * AROUND);
            // Whom a text is about is said once in it; its other sentences are about them, too.
            let around = if term.means_someone() { *whole } else { around };
            own += weight * inside;
            near += weight * inside.max(around);
            sum += weight * inside.max(around).max(ELSEWHERE * whole);
            topics += usize::from(!term.means_someone() && !is_light(term));
            met += usize::from(!term.means_someone() && !is_light(term) && *whole > 0.0);
            let from = if inside >= around { &passage.words } else { &passage.around };
            if let Some(word) = term.best_of(from).filter(|_| !is_light(term) && inside.max(around) > 0.0) {
                met_here += 1;
                met_by.insert(word.to_owned());
            }
            match inside.max(around) > 0.0 {
                true => read_as.extend(term.read_as(from).map(|other| (term.said.clone(), other))),
                false if *whole > 0.0 => {}
                false => {
                    lacking += weight;
                    lacks_someone |= term.means_someone();
                    missing.extend((!is_light(term)).then(|| term.said.clone()));
                }
            }
        }
        // What a card says is about its person, so the question must be too.
        if passage.source.is_card() && !self.terms.iter().any(|term| term.worth(&passage.around) > 0.5) {
            return None;
        }
        let total: f64 = self.weights.iter().sum();
        let covers = sum / total;
        let holds = self.holds(passage);
        if covers < LEAST || near / total < LEAST / 2.0 || (own <= 0.0 && !holds && !self.wanted.is_empty()) {
            return None;
        }
        let kind = match () {
            () if self.wanted.is_empty() => 0.0,
            () if holds => KIND,
            () => -KIND,
        };
        let heading = if passage.is_heading { HEADING } else { 0.0 };
        let prior = self.wanted.iter().map(|wanted| passage.source.prior(*wanted)).fold(0.0, f64::max);
        let prior = prior.max(passage.source.prior(Wanted::Anything));
        let author = if self.is_by_author && self.is_author(passage) { AUTHOR } else { 0.0 };
        let is_own = self.asks_who_wrote && passage.source.is_sent()
            || self.owes.is_some_and(|owes| Owes::told(passage).is_some_and(|told| told != owes));
        let stranger = if lacks_someone || is_own { STRANGER } else { 0.0 };
        let score = covers + kind - heading - stranger + 0.1 * own / total + prior + author + 0.06 * passage.newness;
        let all = self.terms.iter().filter(|term| !is_light(term)).count();
        let found = all.saturating_sub(missing.len() + met_here - met_by.len());
        // How well the words of weight are met, each counting as much as the others: a word that stands nowhere has little weight, but is missed.
        // A word for the kind of thing is met by such a thing.
        let is_counted = |term: &Term| !(is_light(term) || holds && wanted::names_kind(&term.said));
        let counted = self.terms.iter().filter(|term| is_counted(term)).count();
        let worths = self.terms.iter().zip(whole).filter(|(term, _)| is_counted(term)).map(|(term, whole)| {
            term.worth(&passage.words).max(term.worth(&passage.around)).max(if *whole > 0.0 { ELSEWHERE } else { 0.0 })
        });
        let quality = if counted == 0 { 1.0 } else { worths.sum::<f64>() / counted as f64 };
        // Of many words of the question, only few are there.
        let is_scant = all >= 3 && found * 2 < all && !(holds && !self.wanted.is_empty() && found * 3 >= all);
        let is_sure = match found {
            0 => false,
            _ if is_scant || is_own => false,
            _ if passage.is_heading && !holds => false,
            // Who was asked about is not in it, or nothing of the kind that was asked for.
            _ if lacks_someone || topics > 0 && met == 0 => false,
            _ if topics == 0
                && all > 0
                && self.is_by_author
                && !self.is_author(passage)
                && met_here == self.terms.len() =>
            {
                false
            }
            // Of a question about a person that names nothing else, only what they wrote may be the answer.
            _ if topics == 0 && all < self.terms.len() && !(self.is_by_author && self.is_author(passage)) => false,
            _ if !self.wanted.is_empty() && !self.holds_loosely(passage) => false,
            _ if self.unit.is_some_and(|unit| wanted::unit(&passage.quote) != Some(unit)) => false,
            // Of two words one is nowhere in it, or of three two are met by other words only.
            _ if quality < LEAST_QUALITY => false,
            1 if all == 1 => covers >= SURE,
            1 => holds && covers >= HALF && own > 0.0,
            // A sentence that lacks much of what was asked for only comes near.
            _ if lacking > total / 3.0 => false,
            _ => near / total >= SURE || covers >= SURE && own > 0.0 || (holds && near / total >= NEAR),
        };
        Some(Scored { passage: passage.clone(), score, covers, is_sure, missing, read_as })
    }

    /// The worth of a passage of what is spoken of already: one word of the question, or the kind of thing that is asked for, is enough.
    fn score_inside(&self, passage: &Passage, whole: &[f64]) -> Option<Scored> {
        let worth = |term: &Term| term.worth(&passage.words).max(AROUND * term.worth(&passage.around));
        let worths: Vec<f64> = self.terms.iter().map(worth).collect();
        let own = self.terms.iter().map(|term| term.worth(&passage.words)).fold(0.0, f64::max);
        let holds = self.holds(passage);
        let covers = match self.terms.is_empty() {
            true => HALF,
            false => worths.iter().sum::<f64>() / self.terms.len() as f64,
        };
        let before = self.worth_before(passage);
        if own <= 0.0 && !holds && before <= HALF {
            return None;
        }
        let pairs = || self.terms.iter().zip(whole);
        let is_missing = |(term, worth): &(&Term, &f64)| **worth <= 0.0 && !is_light(term);
        let missing = pairs().filter(is_missing).map(|(term, _)| term.said.clone()).collect();
        let kind = if holds { KIND } else { 0.0 };
        let heading = if passage.is_heading { HEADING } else { 0.0 };
        // Without a word of the question, only a question without words of its own is answered.
        let is_bare = self.terms.iter().all(is_light);
        // The name of whom it is about is met by everything that is told of them: a word for what is asked has to be met, too.
        let is_topic = |term: &&Term| !term.means_someone() && !is_light(term);
        let has_topic = self.terms.iter().any(|term| is_topic(&term));
        let is_met = self.terms.iter().filter(is_topic).any(|term| worth(term) > 0.0);
        let is_sure = !passage.is_heading
            && (is_met || !has_topic || holds && !self.wanted.is_empty())
            && (own > 0.0 && (holds || covers >= HALF) || holds && before > HALF && is_bare);
        let score = covers + kind - heading + BEFORE * before;
        Some(Scored { score, covers, is_sure, missing, read_as: Vec::new(), passage: passage.clone() })
    }

    /// How much of the question before this one a passage meets.
    fn worth_before(&self, passage: &Passage) -> f64 {
        let worth = |term: &Term| term.worth(&passage.words).max(AROUND * term.worth(&passage.around));
        self.before.iter().map(worth).sum::<f64>() / self.before.len().max(1) as f64
    }

    /// What is being talked about, whole, as far as it is short: it may answer without a word of the question.
    fn focus(&self, documents: &[Document], household: &Household) -> Result<Vec<Value>, Error> {
        let worth = |document: &Document| {
            document.passages.iter().map(|passage| self.worth_before(passage)).fold(0.0, f64::max)
        };
        let mut ordered: Vec<(f64, &Document)> = documents.iter().map(|document| (worth(document), document)).collect();
        ordered.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut focus = Vec::new();
        for (_, document) in ordered {
            let Some(first) = document.passages.first().filter(|_| focus.len() < MOST_IN_FOCUS) else { break };
            if !first.source.warnings(household)?.is_empty() {
                continue;
            }
            let own =
                document.passages.iter().filter(|passage| !passage.is_heading).map(|passage| passage.quote.as_str());
            let mut told = first.source.shown(household);
            told["quote"] = json!(text::line(&text::harmless(&own.collect::<Vec<_>>().join(" ")), LONGEST_FOCUS));
            focus.push(told);
        }
        Ok(focus)
    }

    /// What is quoted: the sentence that answers best, and those beside it that hold more of what is asked for.
    fn quote(&self, best: &Scored, passages: &[Passage]) -> String {
        let is_best = |passage: &Passage| {
            passage.quote == best.passage.quote && passage.source.line() == best.passage.source.line()
        };
        let Some(first) = passages.iter().position(is_best).filter(|_| best.passage.source.is_text()) else {
            return best.passage.quote.clone();
        };
        let mut chosen = vec![first];
        let mut length = best.passage.quote.chars().count();
        // What stands under a heading, or in the list that a sentence announces, is what it speaks of.
        let is_entry = |passage: &Passage| passage.quote.starts_with("- ") || passage.quote.starts_with("* ");
        let opens = best.passage.is_heading || best.passage.quote.trim_end().ends_with(':');
        let goes_on =
            |passage: &&Passage| !passage.is_heading && (opens || is_entry(passage) && !is_entry(&best.passage));
        let mut next = first + 1;
        while let Some(passage) = passages.get(next).filter(goes_on) {
            length += passage.quote.chars().count();
            if length > LONGEST_QUOTE {
                break;
            }
            chosen.push(next);
            next += 1;
        }
        while chosen.len() < MOST_QUOTED {
            let lacks =
                |wanted: &&Wanted| !chosen.iter().any(|at| wanted.is_in(&passages[*at].quote, passages[*at].is_dated));
            let lacking: Vec<&Wanted> = self.wanted.iter().filter(lacks).collect();
            let more = |at: usize| {
                let passage = &passages[at];
                let words = self.terms.iter().zip(&self.weights).map(|(term, weight)| {
                    let known = chosen.iter().map(|at| term.worth(&passages[*at].words)).fold(0.0, f64::max);
                    weight * (term.worth(&passage.words) - known).max(0.0)
                });
                let kinds = lacking.iter().filter(|wanted| wanted.is_in(&passage.quote, passage.is_dated)).count();
                let is_beside = chosen.iter().any(|known| known.abs_diff(at) <= 1);
                let words = words.sum::<f64>() / self.weights.iter().sum::<f64>().max(0.1);
                words + 0.3 * kinds as f64 + if is_beside { 0.1 } else { 0.0 }
            };
            let fits = |at: &usize| {
                let passage = &passages[*at];
                !chosen.contains(at) && !passage.is_heading && length + passage.quote.chars().count() <= LONGEST_QUOTE
            };
            let next = (0..passages.len())
                .filter(fits)
                .map(|at| (more(at), at))
                .max_by(|one, other| one.0.total_cmp(&other.0));
            let Some((_, at)) = next.filter(|(more, _)| *more >= WORTH_QUOTING) else { break };
            length += passages[at].quote.chars().count();
            chosen.push(at);
        }
        // A thing that is only named is told with what its mail goes on to say.
        let mut next = first + 1;
        while self.is_bare && matches!(best.passage.source, Source::Mail(_)) && chosen.len() < MOST_QUOTED {
            let Some(passage) = passages.get(next).filter(|passage| !passage.is_heading) else { break };
            length += passage.quote.chars().count();
            if length > LONGEST_QUOTE {
                break;
            }
            if !chosen.contains(&next) {
                chosen.push(next);
            }
            next += 1;
        }
        chosen.sort_unstable();
        let mut quote = String::new();
        for (number, at) in chosen.iter().enumerate() {
            match number.checked_sub(1).map(|before| chosen[before] + 1 == *at) {
                None => {}
                Some(true) => quote.push(' '),
                Some(false) => quote.push_str(" … "),
            }
            quote.push_str(&passages[*at].quote);
        }
        quote
    }
}

/// What the question before this one is worth beside its own words.
const BEFORE: f64 = 0.3;
/// The most things that are told whole, and how long each may be.
const MOST_IN_FOCUS: usize = 2;
const LONGEST_FOCUS: usize = 420;

/// The most words of a question that only names a thing.
const MOST_BARE: usize = 3;

/// The most sentences that are quoted together, how long they may be, and what one more must be worth.
const MOST_QUOTED: usize = 3;
const LONGEST_QUOTE: usize = 380;
const WORTH_QUOTING: f64 = 0.16;

/// Who owes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owes {
    Owner,
    Other,
}

impl Owes {
    const WORDS: &str = " owe owes owed owing schulde schuldet schuldest schulden ";
    /// In French the same word is "must": it is about money where money is spoken of.
    const FRENCH: &str = " dois doit doivent ";
    const MONEY: &str = " argent combien euro euros dollar dollars franc francs ";

    fn is_in(words: &[String]) -> bool {
        let says = |list: &str| words.iter().any(|word| list.contains(&format!(" {word} ")));
        says(Self::WORDS) || says(Self::FRENCH) && says(Self::MONEY)
    }

    /// Who owes, as a question asks: "what do I owe Emma?", "who owes me money?".
    fn asked(question: &str) -> Option<Self> {
        let words = words_of(question);
        let says = |list: &str| words.iter().any(|word| list.split(' ').any(|one| one == word));
        match () {
            () if !Self::is_in(&words) => None,
            () if says("i we ich wir je j nous") => Some(Self::Owner),
            () if says("me us mir uns m") => Some(Self::Other),
            () => None,
        }
    }

    /// Who owes, as a sentence tells. Who writes "you owe me" to the owner means the owner.
    fn told(passage: &Passage) -> Option<Self> {
        let is_theirs = matches!(passage.source, Source::Mail(_)) && !passage.source.is_sent();
        let said = Self::asked(&passage.quote)?;
        let turned = if said == Self::Owner { Self::Other } else { Self::Owner };
        // "I owe you" and "you owe me" both hold a word for each side: the first one owes.
        let first =
            passage.words.iter().find(|word| " i we ich wir je you du sie tu vous ".contains(&format!(" {word} ")));
        let said = match first.map(String::as_str) {
            Some("you" | "du" | "sie" | "tu" | "vous") => Self::Other,
            _ => said,
        };
        Some(if is_theirs { if said == Self::Other { Self::Owner } else { turned } } else { said })
    }
}

/// The words of a question that say what it is about. A word for a person stands for everything that the person is called.
fn terms(question: &str, household: &Household) -> Result<Vec<Term>, Error> {
    let people = people::known(household, &household.mailbox()?)?;
    let mut terms: Vec<Term> = Vec::new();
    for word in words_of(question) {
        let is_debt = Owes::FRENCH.contains(&format!(" {word} ")) && Owes::asked(question).is_some();
        let is_asking = (stop_words::is_one(&word) || wanted::asks(&word)) && !is_debt;
        if is_asking || (word.len() < 2 && !word.chars().all(|character| character.is_ascii_digit())) {
            continue;
        }
        if terms.iter().any(|term| term.said == word) {
            continue;
        }
        let mut term = Term::new(&word);
        let is_named = |person: &&KnownPerson| {
            let nicknames = person.card.iter().flat_map(|card| &card.nicknames).flat_map(|name| words_of(name));
            // "Gwens birthday": the mark is often left out.
            let own = word.strip_suffix('s').filter(|own| own.len() > 2);
            words_of(&person.name)
                .into_iter()
                .chain(nicknames)
                .any(|name| (name == word || Some(name.as_str()) == own) && name.len() > 1)
        };
        let named: Vec<&KnownPerson> = people.iter().filter(is_named).collect();
        term.is_name = !named.is_empty();
        match (&named[..], glossary::relation(&word)) {
            ([], Some(_)) => {
                for person in people::meant(&word, &people).into_iter().take(3) {
                    term.names.extend(people::tools::person_words(&person));
                    term.names.extend(person.addresses.iter().cloned());
                }
            }
            (named, _) => {
                for person in named.iter().take(3) {
                    term.names.extend(person.addresses.iter().cloned());
                    // A nickname stands for the name; the name of one stands for nothing else.
                    let is_nickname = !words_of(&person.name).contains(&word);
                    let is_meant = |name: &String| *name == word || is_nickname && glossary::relation(name).is_none();
                    term.names.extend(people::tools::person_words(person).into_iter().filter(is_meant));
                }
            }
        }
        terms.push(term);
    }
    Ok(terms)
}

/// What each word of the question tells: a word that stands everywhere tells little.
fn weights(terms: &[Term], documents: &[Document]) -> Vec<f64> {
    let all = documents.len().max(1) as f64;
    let weight = |term: &Term| {
        let holding = documents.iter().filter(|document| document.worth(term) > 0.5).count();
        // A word that stands nowhere tells nothing about where the answer is; it only makes it less sure.
        let told = match holding {
            0 => 0.35 * (1.0 + all / 2.0).ln(),
            held => (1.0 + all / (1.0 + held as f64)).ln().max(0.3),
        };
        match (is_light(term), holding) {
            (false, _) => told,
            (true, 0) => LIGHT_AND_NOWHERE * told,
            (true, _) => LIGHT * told,
        }
    };
    let mut weights: Vec<f64> = terms.iter().map(weight).collect();
    // Who is named is what the question is about, however often the name stands everywhere.
    let most = weights.iter().copied().fold(0.0, f64::max);
    for (weight, term) in weights.iter_mut().zip(terms).filter(|(_, term)| term.means_someone()) {
        // The parts of one name are one word of the question.
        let is_same = |other: &&Term| other.means_someone() && other.names.iter().any(|name| term.names.contains(name));
        *weight = most / terms.iter().filter(is_same).count().max(1) as f64;
    }
    weights
}

/// Whether a word says little by itself.
fn is_light(term: &Term) -> bool {
    !term.means_someone() && words::is_light(&term.said)
}

/// What a word that says little is worth beside another: where it stands somewhere, and where it stands nowhere.
const LIGHT: f64 = 0.5;
const LIGHT_AND_NOWHERE: f64 = 0.12;

fn shown(one: &Scored, quote: &str, household: &Household) -> Value {
    let mut shown = one.passage.source.shown(household);
    shown["quote"] = json!(text::line(&text::harmless(quote), LONGEST_QUOTE + 20));
    shown["covers"] = json!((one.covers * 100.0).round() / 100.0);
    shown["sure"] = json!(one.is_sure);
    if !one.missing.is_empty() {
        shown["missing"] = json!(one.missing);
    }
    if !one.read_as.is_empty() {
        let told: Vec<Value> =
            one.read_as.iter().map(|(word, found)| json!({ "word": word, "found": found })).collect();
        shown["readAs"] = json!(told);
    }
    shown
}
