//! Words that the notes hold, for a word that they do not: those it is a part of, and those it was perhaps meant to be.

use rusqlite::Connection;
use strsim::osa_distance;

use super::query::quoted;
use super::refresh::refresh;
use crate::error::Error;
use crate::household::Household;
use crate::text::fold;

/// The most words that one is read as.
const MAX_WORDS: usize = 12;

/// Every word of the notes, up to a number that no household of notes by hand reaches.
pub(crate) fn all(household: &Household) -> Result<Vec<String>, Error> {
    refresh(household)?;
    let index = household.index().lock();
    let mut rows = index.prepare_cached("SELECT word FROM note_word LIMIT ?1")?;
    let words = rows.query_map([MAX_VOCABULARY], |row| row.get::<_, String>(0))?;
    Ok(words.collect::<Result<_, _>>()?)
}

/// The most words that are taken from the notes.
const MAX_VOCABULARY: i64 = 60_000;

/// Words that hold a text of three letters or more, the shortest first.
pub(super) fn containing(connection: &Connection, text: &str) -> Result<Vec<String>, Error> {
    if text.chars().count() < 3 {
        return Ok(Vec::new());
    }
    let select = "SELECT word FROM note_piece WHERE note_piece MATCH ?1 ORDER BY length(word), word LIMIT ?2";
    let mut rows = connection.prepare_cached(select)?;
    let words = rows.query_map((quoted(text), MAX_WORDS as i64), |row| row.get(0))?;
    Ok(words.collect::<Result<_, _>>()?)
}

/// Words that a text may have been meant to be: those with the fewest slips between them, three at the most.
pub(super) fn nearest(connection: &Connection, folded: &str) -> Result<Vec<String>, Error> {
    let length = folded.chars().count();
    let slips = match length {
        0..=3 => return Ok(Vec::new()),
        4..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    let mut rows = connection.prepare_cached("SELECT word FROM note_word WHERE length BETWEEN ?1 AND ?2")?;
    let words = rows.query_map(((length - slips) as i64, (length + slips) as i64), |row| row.get::<_, String>(0))?;
    let mut near = Vec::new();
    for word in words {
        let word = word?;
        let plain = fold(&word);
        let distance = osa_distance(&plain, folded);
        if distance <= slips {
            // People rarely get the first letter wrong.
            let is_elsewhere = plain.chars().next() != folded.chars().next();
            near.push((2 * distance + usize::from(is_elsewhere), word));
        }
    }
    near.sort_unstable();
    let fewest = near.first().map_or(0, |(slips, _)| *slips);
    Ok(near.into_iter().take_while(|(slips, _)| *slips == fewest).map(|(_, word)| word).take(3).collect())
}
