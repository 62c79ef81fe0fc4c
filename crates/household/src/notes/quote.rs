//! Sentences of notes, for questions that a note answers: which notes may hold the answer, and every sentence of them with its line.
//!
//! Left to `find` and `people`: which sentence answers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::folder::beneath;
use super::front_matter;
use super::para::Para;
use super::refresh::refresh;
use super::search::search;
use crate::error::Error;
use crate::household::Household;
use crate::passages::{Sentence, of_note, words_of};
use crate::text;

/// A note with all that it says.
pub(crate) struct NoteText {
    pub path: String,
    pub title: String,
    pub sentences: Vec<Sentence>,
}

/// The notes that answer best to some words, with their sentences. Words that stand in no note are no reason to find nothing.
pub(crate) fn about(household: &Household, words: &str, limit: usize) -> Result<Vec<NoteText>, Error> {
    if words.trim().is_empty() {
        return Ok(Vec::new());
    }
    let found = search(household, words, limit)?;
    let Some(folder) = refresh(household)? else { return Ok(Vec::new()) };
    let mut notes = Vec::new();
    for note in found.results {
        let Some(text) = folder.read(&note.path).ok().flatten() else { continue };
        notes.push(NoteText { sentences: sentences(&text), path: note.path, title: note.title });
    }
    Ok(notes)
}

/// The note at a path; none where there is none.
pub(crate) fn at(household: &Household, path: &str) -> Result<Option<NoteText>, Error> {
    let Some(folder) = refresh(household)? else { return Ok(None) };
    let Some(text) = folder.read(path).ok().flatten() else { return Ok(None) };
    let sentences = sentences(&text);
    let heading = sentences.iter().find(|sentence| sentence.is_heading).map(|sentence| sentence.text.clone());
    let name = || path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md").to_owned();
    Ok(Some(NoteText { title: heading.unwrap_or_else(name), path: path.to_owned(), sentences }))
}

fn sentences(text: &str) -> Vec<Sentence> {
    let head = front_matter::read(text.strip_prefix('\u{feff}').unwrap_or(text)).lines;
    of_note(text, head)
}

/// What the notes about some words say, each sentence behind the title of its note.
pub(crate) fn lines_about(household: &Household, words: &str) -> Result<Vec<String>, Error> {
    let notes = about(household, words, 10)?;
    let line = |note: &NoteText, sentence: &Sentence| format!("{} {} {}", note.title, sentence.under, sentence.text);
    Ok(notes.iter().flat_map(|note| note.sentences.iter().map(|sentence| line(note, sentence))).collect())
}

/// Sentences that name a person by one of these words.
pub(crate) fn naming(household: &Household, names: &[String], limit: usize) -> Result<Vec<Value>, Error> {
    let mut quotes = Vec::new();
    for note in about(household, &names.join(" "), 10)? {
        let is_titled = words_of(&note.title).iter().any(|word| names.contains(word));
        let is_named = |sentence: &&Sentence| {
            let words = words_of(&sentence.text);
            names.iter().any(|name| words.contains(name)) && sentence.text != note.title
        };
        let own =
            note.sentences.iter().filter(|sentence| is_named(sentence) || (is_titled && sentence.text != note.title));
        quotes.extend(own.take(2).map(|sentence| {
            json!({
                "path": note.path, "title": note.title, "line": sentence.line, "quote": text::line(&sentence.text, 240),
            })
        }));
    }
    quotes.truncate(limit);
    Ok(quotes)
}

/// How many notes there are by kind of folder, and the paths of files that are no text.
type Counted = (Vec<(String, usize)>, Vec<String>);

/// How many notes there are in each of the PARA folders, and the paths of those that are no text.
pub(crate) fn counted(household: &Household) -> Result<Counted, Error> {
    let Some(folder) = refresh(household)? else { return Ok((Vec::new(), Vec::new())) };
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut unread = Vec::new();
    let mut paths = Vec::new();
    folder.look_around(|_| {}, |shelf| paths.extend(shelf.files.iter().map(|file| beneath(&shelf.path, &file.name))));
    for path in paths {
        match folder.read(&path) {
            Ok(Some(_)) => *counts.entry(Para::of(&path).as_str()).or_default() += 1,
            Ok(None) | Err(_) => unread.push(path),
        }
    }
    unread.sort_unstable();
    Ok((counts.into_iter().map(|(para, count)| (para.to_owned(), count)).collect(), unread))
}
