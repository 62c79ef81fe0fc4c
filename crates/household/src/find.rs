//! Answers a question from everything that the household holds: the sentences of notes and mails, events, and cards.
//!
//! A sentence is worth what it shares with the words of the question, across inflections and languages (`passages`), what its note,
//! sender or heading shares with them, and whether it holds what is asked for: a time, a sum, a number. Nothing is invented: the answer is
//! a quotation with the place where it stands, and the words that were found nowhere are named. Suspicious mails are never quoted.

mod sources;
pub(crate) mod tools;
mod wanted;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::error::Error;
use crate::glossary;
use crate::household::Household;
use crate::notes::stop_words;
use crate::passages::{Term, words_of};
use crate::people::{self, KnownPerson};
use crate::text;
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
/// What a heading is worth less than a sentence.
const HEADING: f64 = 0.4;
/// What holding, or lacking, the kind of thing that is asked for is worth.
const KIND: f64 = 0.2;
/// A passage that covers so much of the question answers it, and this much if it holds the kind of thing that is asked for.
const SURE: f64 = 0.6;
const HALF: f64 = 0.5;
const NEAR: f64 = 0.42;
/// A passage that covers less of the question is no answer.
const LEAST: f64 = 0.34;

/// Where an answer is looked for.
#[derive(Clone, Copy, Debug)]
struct Scope<'a> {
    /// Kinds of sources; all where none are said.
    kinds: &'a [String],
    /// Ids of mails and events, and paths of notes, that the question is about; everything where none are said.
    about: &'a [String],
    limit: usize,
}

/// The best passages for a question, as JSON.
fn answer(question: &str, scope: Scope<'_>, household: &Household) -> Result<Value, Error> {
    let wanted = Wanted::of(question);
    let mut terms = terms(question, household)?;
    // Words that only say what kind of thing is asked for are not looked for, unless there are no others.
    if terms.iter().any(|term| !wanted.is_named_by(&term.said)) {
        terms.retain(|term| !wanted.is_named_by(&term.said));
    }
    if terms.is_empty() && scope.about.is_empty() {
        return Err(Error::request("there is no word in the question that could be looked for; say what it is about"));
    }
    let mut scored: Vec<Scored> = match scope.about.is_empty() {
        true => {
            let passages = sources::gather(&terms, scope.kinds, household)?;
            let weights = weights(&terms, &passages);
            passages.into_iter().filter_map(|passage| score(passage, &terms, &weights, wanted)).collect()
        }
        false => {
            let passages = sources::of(scope.about, household)?;
            passages.into_iter().filter_map(|passage| score_inside(passage, &terms, wanted)).collect()
        }
    };
    scored.sort_by(|one, other| other.score.total_cmp(&one.score));
    let (mut answers, mut suspicious): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for one in scored {
        let count = seen.entry(one.passage.source.key()).or_default();
        *count += 1;
        let (is_new, is_first) = (*count <= 2, *count == 1);
        if !is_new || answers.len() >= scope.limit {
            continue;
        }
        match one.passage.source.warnings(household)? {
            warnings if warnings.is_empty() => answers.push(shown(&one, household)),
            // Not a word of it is quoted, but that it may be meant is said.
            warnings if is_first && answers.len() < 2 && one.covers >= HALF && terms.len() > one.missing.len() + 1 => {
                let mut told = one.passage.source.shown(household);
                told["warnings"] = json!(warnings);
                told["covers"] = json!((one.covers * 100.0).round() / 100.0);
                suspicious.push(told);
            }
            _ => {}
        }
    }
    let asked: Vec<&str> = terms.iter().map(|term| term.said.as_str()).collect();
    let mut answer = json!({ "question": text::line(question, 300), "words": asked, "answers": answers });
    if !suspicious.is_empty() {
        answer["suspicious"] = json!(suspicious);
    }
    Ok(answer)
}

/// The worth of a passage of what is spoken of already: one word of the question, or the kind of thing that is asked for, is enough.
fn score_inside(passage: Passage, terms: &[Term], wanted: Wanted) -> Option<Scored> {
    let worths: Vec<f64> =
        terms.iter().map(|term| term.worth(&passage.words).max(AROUND * term.worth(&passage.around))).collect();
    let own = terms.iter().map(|term| term.worth(&passage.words)).fold(0.0, f64::max);
    let holds = wanted != Wanted::Anything && wanted.is_in(&passage.quote, passage.is_dated);
    let covers = match terms.is_empty() {
        true => HALF,
        false => worths.iter().sum::<f64>() / terms.len() as f64,
    };
    if own <= 0.0 && !holds {
        return None;
    }
    let pairs = || terms.iter().zip(&worths);
    let missing = pairs().filter(|(_, worth)| **worth <= 0.0).map(|(term, _)| term.said.clone()).collect();
    let kind = if holds { KIND } else { 0.0 };
    let heading = if passage.is_heading { HEADING } else { 0.0 };
    let is_sure = !passage.is_heading && own > 0.0 && (holds || covers >= HALF);
    Some(Scored { score: covers + kind - heading, covers, is_sure, missing, read_as: Vec::new(), passage })
}

/// The words of a question that say what it is about. A word for a person stands for everything that the person is called.
fn terms(question: &str, household: &Household) -> Result<Vec<Term>, Error> {
    let people = people::known(household, &household.mailbox()?)?;
    let mut terms: Vec<Term> = Vec::new();
    for word in words_of(question) {
        let is_asking = stop_words::is_one(&word) || wanted::asks(&word);
        if is_asking || (word.len() < 2 && !word.chars().all(|character| character.is_ascii_digit())) {
            continue;
        }
        if terms.iter().any(|term| term.said == word) {
            continue;
        }
        let mut term = Term::new(&word);
        let is_named = |person: &&KnownPerson| {
            let nicknames = person.card.iter().flat_map(|card| &card.nicknames).flat_map(|name| words_of(name));
            words_of(&person.name).into_iter().chain(nicknames).any(|name| name == word && name.len() > 1)
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
                    term.names.extend(people::tools::person_words(person).into_iter().filter(|name| *name == word));
                }
            }
        }
        terms.push(term);
    }
    Ok(terms)
}

/// What each word of the question tells: a word that stands everywhere tells little.
fn weights(terms: &[Term], passages: &[Passage]) -> Vec<f64> {
    let documents: std::collections::BTreeSet<String> = passages.iter().map(|passage| passage.source.key()).collect();
    let all = documents.len().max(1) as f64;
    let weight = |term: &Term| {
        let holds = |passage: &&Passage| term.worth(&passage.words) > 0.5 || term.worth(&passage.around) > 0.5;
        let holding: std::collections::BTreeSet<String> =
            passages.iter().filter(holds).map(|passage| passage.source.key()).collect();
        // A word that stands nowhere tells nothing about where the answer is; it only makes it less sure.
        match holding.len() {
            0 => 0.35 * (1.0 + all / 2.0).ln(),
            held => (1.0 + all / (1.0 + held as f64)).ln().max(0.3),
        }
    };
    terms.iter().map(weight).collect()
}

fn score(passage: Passage, terms: &[Term], weights: &[f64], wanted: Wanted) -> Option<Scored> {
    let (mut sum, mut own) = (0.0, 0.0);
    let (mut missing, mut read_as) = (Vec::new(), Vec::new());
    for (term, weight) in terms.iter().zip(weights) {
        let (inside, around) = (term.worth(&passage.words), term.worth(&passage.around) * AROUND);
        let worth = inside.max(around);
        own += weight * inside;
        sum += weight * worth;
        let from = if inside >= around { &passage.words } else { &passage.around };
        match worth > 0.0 {
            true => read_as.extend(term.read_as(from).map(|other| (term.said.clone(), other))),
            false => missing.push(term.said.clone()),
        }
    }
    // What a card says is about its person, so the question must be too.
    if passage.source.is_card() && !terms.iter().any(|term| term.worth(&passage.around) > 0.5) {
        return None;
    }
    let total: f64 = weights.iter().sum();
    let covers = sum / total;
    if covers < LEAST || (own <= 0.0 && !wanted.is_in(&passage.quote, passage.is_dated)) {
        return None;
    }
    let kind = match wanted {
        Wanted::Anything => 0.0,
        wanted if wanted.is_in(&passage.quote, passage.is_dated) => KIND,
        _ => -KIND,
    };
    let heading = if passage.is_heading { HEADING } else { 0.0 };
    let score = covers + kind - heading + 0.1 * own / total + passage.source.prior(wanted) + 0.06 * passage.newness;
    let found = terms.len() - missing.len();
    let holds = wanted != Wanted::Anything && wanted.is_in(&passage.quote, passage.is_dated);
    let is_sure = match found {
        0 => false,
        _ if passage.is_heading && !holds => false,
        1 if terms.len() == 1 => covers >= SURE,
        1 => holds && covers >= HALF && own > 0.0,
        _ => covers >= SURE || (holds && covers >= NEAR),
    };
    Some(Scored { passage, score, covers, is_sure, missing, read_as })
}

fn shown(one: &Scored, household: &Household) -> Value {
    let mut shown = one.passage.source.shown(household);
    shown["quote"] = json!(text::line(&text::harmless(&one.passage.quote), 300));
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
