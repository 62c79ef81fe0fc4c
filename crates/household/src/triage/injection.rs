//! Mail that gives orders to a program that reads it: who is spoken to, and what is asked of them.
//!
//! A mail to a person may ask for anything: to forward an invoice, to delete a file, to keep a secret. It is suspicious when the one it
//! speaks to is not the person but a program. So two things are looked for, close to each other:
//!
//! - **who is addressed** (`call`): a program is called (`Dear assistant,`, `Note to the AI:`, `Bot!`), told what it is (`you are a
//!   mail agent`), meant by a condition (`if you are an AI`), or named by what it does with this mail (`the agent that processes this inbox`);
//! - **what is asked**: a word of asking, or an act of a mail program.
//!
//! Some orders show by themselves that no person is meant (`sign`): to drop one's instructions or to print them, to hide something
//! from "the user", to act on what "your owner" has approved, to say something "when summarising this mail", and the marks by which programs
//! are given commands (`[INST]`, `SYSTEM:`).
//!
//! A program that is only spoken about is not addressed: `our AI assistant`, `ask your assistant`, `the assistant should`, `AI engineer`, and what
//! stands in quotation marks of a sentence that says so.
//!
//! Words are in `injection/*.txt`, one table a language; `reading` undoes disguises, `table` finds the phrases. Left to `suspicion`: what
//! follows from it.

mod call;
mod reading;
mod sign;
mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::words::every_sentence;
use crate::mail::address::Person;
use crate::text::{self, fold};
use reading::{decoded, plain, together};
use table::{Class, TaggedSentence, cut};

/// An order to a program, found in a mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Injection {
    /// The sentence that shows it.
    pub said: String,
    pub sign: Sign,
    /// Whether it stands where a reader does not see it.
    pub is_hidden: bool,
    /// Whether the mail speaks about such orders, as a warning or a newsletter does.
    pub is_talk: bool,
}

/// How it shows that a program is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sign {
    /// It calls a program.
    Addressed,
    /// It wants instructions to be dropped or told, or gives a new role.
    Instructions,
    /// It hides something from the owner, or claims their consent.
    Owner,
    /// It says what is to be done while mail is processed.
    Processing,
    /// It has marks by which programs are given commands.
    Marks,
}

impl Injection {
    /// Why it is taken for an order to a program, in a sentence for the owner.
    pub fn reason(&self) -> String {
        let place = if self.is_hidden { "Where you do not see it, it" } else { "It" };
        let why = match self.sign {
            Sign::Addressed => "speaks to a program and not to you",
            Sign::Instructions => "tries to give a program other instructions",
            Sign::Owner => "speaks about you to a program that is to act for you",
            Sign::Processing => "says what a program should do with this mail",
            Sign::Marks => "imitates the marks by which programs are given commands",
        };
        format!("{place} {why}: “{}”", text::line(&self.said, 120))
    }
}

/// A part of a mail.
pub(crate) struct Piece<'a> {
    pub text: &'a str,
    /// Whether a reader does not see it.
    pub is_hidden: bool,
}

/// Characters of a mail that are looked at.
const MOST: usize = 200_000;
/// Sentences after one that calls a program in which it may be told what to do.
const FOLLOWING: usize = 3;

/// The first order to a program in a mail. `people` are those to whom the mail is written: a name that a program may have too is then
/// theirs.
pub(crate) fn find(pieces: &[Piece<'_>], people: &[&Person]) -> Option<Injection> {
    let people = Names {
        first: people.iter().filter_map(|person| person.first_name()).map(fold).collect(),
        all: people.iter().flat_map(|person| words_of(person)).collect(),
    };
    let mut order = pieces.iter().find_map(|piece| {
        let text: String = plain(&piece.text.chars().take(MOST).collect::<String>());
        let text = together(&text, cut);
        let hidden = decoded(&text);
        let found = find_in(&text, &people).map(|(said, sign)| (said, sign, piece.is_hidden));
        found
            .or_else(|| hidden.iter().find_map(|text| find_in(text, &people).map(|(said, sign)| (said, sign, true))))
            .map(|(said, sign, is_hidden)| {
                let said = text::line(&text::harmless(&said), 300);
                Injection { said, sign, is_hidden, is_talk: false }
            })
    })?;
    order.is_talk = pieces
        .iter()
        .any(|piece| every_sentence(piece.text).iter().any(|said| TaggedSentence::new(said).has(Class::About)));
    Some(order)
}

fn words_of(person: &Person) -> Vec<String> {
    let local = person.address.split('@').next().unwrap_or_default();
    let words = format!("{} {local}", fold(&person.name));
    words
        .split(|character: char| !character.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Names of those to whom a mail is written, folded.
struct Names {
    first: Vec<String>,
    /// Every word of their names, and of their addresses before the `@`.
    all: Vec<String>,
}

fn find_in(text: &str, people: &Names) -> Option<(String, Sign)> {
    let said: Vec<TaggedSentence> = every_sentence(text)
        .iter()
        .flat_map(|sentence| parts(sentence))
        .map(|part| TaggedSentence::new(&part))
        .collect();
    let is_transcript = said.iter().filter(|said| is_spoken(said)).count() >= 2;
    let reader = Reader { said, people, is_transcript };
    (0..reader.said.len()).find_map(|at| {
        let sign = match () {
            () if reader.addressed(at).is_some_and(|call| reader.is_asked(at, &call)) => Sign::Addressed,
            () => reader.shown(at)?,
        };
        Some((reader.said[at].text.clone(), sign))
    })
}

/// A sentence, or the parts of one that has no end. They overlap, so that what stands at an edge is whole in one of them.
fn parts(sentence: &str) -> Vec<String> {
    const LONGEST: usize = 120;
    const NEXT: usize = 90;
    let words: Vec<&str> = sentence.split_whitespace().collect();
    if words.len() <= LONGEST {
        return vec![sentence.to_owned()];
    }
    let starts = (0..words.len()).step_by(NEXT);
    starts.map(|from| words[from..words.len().min(from + LONGEST)].join(" ")).collect()
}

/// Whether a sentence begins with the name of a person who speaks, as in a transcript.
fn is_spoken(said: &TaggedSentence) -> bool {
    let length = said.length(Class::Speaker, 0);
    length > 0 && said.words[length - 1].after.colon
}

struct Reader<'a> {
    said: Vec<TaggedSentence>,
    people: &'a Names,
    is_transcript: bool,
}

impl Reader<'_> {
    /// Where the owner is spoken of in the third person: by a word for them, or by the name of the only one to whom the mail is written.
    fn owner<'a>(&'a self, said: &'a TaggedSentence) -> impl Iterator<Item = Range<usize>> + 'a {
        let is_theirs = |at: &usize| self.people.first.len() == 1 && self.people.first[0] == said.words[*at].text;
        let by_name = (0..said.words.len()).filter(is_theirs).map(|at| at..at + 1);
        let is_called =
            |name: &Range<usize>| said.words[name.start].after.any() || said.has_in(Class::Greet, 0..name.start);
        said.all(Class::User).chain(said.all(Class::Owner)).chain(by_name.filter(move |name| !is_called(name)))
    }
}
