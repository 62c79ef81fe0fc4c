//! Searches notes: first for all words as they were typed, then for similar words.
//!
//! Most searches end after the first query to the index. Where that finds too little, each word is searched for by itself in
//! every way there is, and notes are ordered by how many of the words they match, and how well. `rank` decides which note comes
//! first, `snippet` what is shown of it.

use std::collections::HashMap;

use rusqlite::{Connection, params_from_iter};

use super::folder::Folder;
use super::query::{Query, Term, quoted};
use super::rank::{self, RankContext, Ranked};
use super::refresh::refresh;
use super::{snippet, vocabulary};
use crate::error::Error;
use crate::glossary;
use crate::household::Household;

/// Fewer than this, and the next rung is tried.
const ENOUGH: usize = 3;
/// How many notes are taken from the index for each question to it.
const CANDIDATES: usize = 100;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The best first.
    pub results: Vec<FoundNote>,
    /// The rung on which the best was found.
    pub ladder: MatchKind,
    /// What to try, or how a word was read.
    pub hint: Option<String>,
}

/// A note that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundNote {
    /// Where it lies, seen from the notes' own folder.
    pub path: String,
    /// Its title.
    pub title: String,
    /// `projects`, `areas`, `resources`, `archives` or `other`.
    pub para: &'static str,
    /// From 0 to 1.
    pub score: f64,
    /// What it says where the words stand.
    pub snippet: String,
    /// The line of the snippet, counted from 1.
    pub line: usize,
    /// Why it was found, and why here.
    pub why: String,
}

/// How a note was found, from the surest way to the least sure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchKind {
    /// It holds all words.
    #[default]
    And,
    /// It holds some of them.
    Or,
    /// It holds another word for one.
    Synonym,
    /// It holds a word that begins so.
    Prefix,
    /// It holds a word in which another stands.
    Trigram,
    /// It holds a word that is nearly the same.
    Spelling,
}

impl MatchKind {
    /// The word in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Synonym => "synonym",
            Self::Prefix => "prefix",
            Self::Trigram => "trigram",
            Self::Spelling => "spelling",
        }
    }

    /// What a match of this kind is worth beside one of the word itself.
    fn worth(self) -> f64 {
        match self {
            Self::And | Self::Or => 1.0,
            Self::Prefix => 0.5,
            Self::Synonym | Self::Trigram | Self::Spelling => 0.4,
        }
    }
}

/// Searches the notes as they are at this moment.
pub fn search(household: &Household, text: &str, limit: usize) -> Result<Found, Error> {
    let Some(folder) = refresh(household)? else {
        return Ok(Found { hint: Some(NO_FOLDER.to_owned()), ..Found::default() });
    };
    let query = Query::read(text);
    if query.terms.is_empty() && query.tags.is_empty() {
        return Err(Error::request("there is no word in the query: say what the note is about, such as rent contract"));
    }
    let usual = household.applied("notes.")?.value("notes.opened_from").map(str::to_owned);
    let moment = RankContext { now: household.now().timestamp().as_second(), usual };
    let (ranked, hint) = {
        let connection = household.index().lock();
        // One look at the index from beginning to end, whatever another process puts there meanwhile.
        let connection = connection.unchecked_transaction()?;
        let (hits, read_as) = hits(&connection, &query)?;
        let ranked = rank::rank(&connection, &query, hits, limit, &moment)?;
        let hint = hint(&connection, &query, &ranked, &read_as)?;
        (ranked, hint)
    };
    let ladder = ranked.first().map_or(MatchKind::And, |best| best.hit.rung);
    let results = ranked.into_iter().map(|ranked| result(&folder, &query, ranked)).collect();
    Ok(Found { results, ladder, hint })
}

const NO_FOLDER: &str = "There are no notes yet: the household has no folder for them.";

/// A note that answers to the query, before it is compared with others.
#[derive(Clone, Debug, Default)]
pub(super) struct Hit {
    pub id: i64,
    /// How well, as the index says, weighed by the ways in which it was found.
    pub score: f64,
    pub rung: MatchKind,
    /// For each word of the query that it answers to, by number: the words it was read as, unless it is the word itself.
    pub answers: Vec<(usize, Vec<String>)>,
}

/// A word of the query that no note holds, and what it was read as.
type ReadAs = (String, Vec<String>);

/// A way of finding a word: how sure it is, its expression for the index, and the words that it stands for, unless it is the word itself.
type FoundBy = (MatchKind, String, Vec<String>);

fn hits(connection: &Connection, query: &Query) -> Result<(Vec<Hit>, Vec<ReadAs>), Error> {
    let index = IndexQuery { connection, query };
    if query.terms.is_empty() {
        return Ok((index.tagged()?, Vec::new()));
    }
    let all = query.terms.iter().map(Term::exact).collect::<Vec<_>>().join(" AND ");
    let answers: Vec<_> = (0..query.terms.len()).map(|term| (term, Vec::new())).collect();
    let strict = index.matching(&all)?;
    if strict.len() >= ENOUGH {
        let hit = |(id, score)| Hit { id, score, rung: MatchKind::And, answers: answers.clone() };
        return Ok((strict.into_iter().map(hit).collect(), Vec::new()));
    }
    index.word_by_word()
}

/// The index, asked for one query.
struct IndexQuery<'a> {
    connection: &'a Connection,
    query: &'a Query,
}

impl IndexQuery<'_> {
    /// Every word in every way; a note is worth the sum of what it holds, less where it lacks some of them.
    fn word_by_word(&self) -> Result<(Vec<Hit>, Vec<ReadAs>), Error> {
        let mut notes: HashMap<i64, Hit> = HashMap::new();
        let mut read_as = Vec::new();
        for (number, term) in self.query.terms.iter().enumerate() {
            let mut best: HashMap<i64, (f64, MatchKind, Vec<String>)> = HashMap::new();
            // What holds the word itself comes before what holds another, however often it does.
            let mut least = f64::INFINITY;
            for (rung, expression, words) in self.ways(term, &mut read_as)? {
                for (id, score) in self.matching(&expression)? {
                    let score = score.min(least) * rung.worth();
                    if rung == MatchKind::And {
                        least = score;
                    }
                    let found = best.entry(id).or_insert_with(|| (score, rung, words.clone()));
                    if score > found.0 {
                        *found = (score, rung.min(found.1), words.clone());
                    }
                }
            }
            for (id, (score, rung, words)) in best {
                let hit = notes.entry(id).or_insert_with(|| Hit { id, ..Hit::default() });
                hit.score += score;
                hit.rung = hit.rung.max(rung);
                hit.answers.push((number, words));
            }
        }
        let all = self.query.terms.len();
        let hits = notes.into_values().map(|hit| {
            let share = hit.answers.len() as f64 / all as f64;
            let rung = if hit.answers.len() < all { hit.rung.max(MatchKind::Or) } else { hit.rung };
            Hit { score: hit.score * share.powf(1.5), rung, ..hit }
        });
        Ok((hits.collect(), read_as))
    }

    /// The ways in which a word may be found, with what it is read as. The less sure are tried only where the word itself is nowhere.
    fn ways(&self, term: &Term, read_as: &mut Vec<ReadAs>) -> Result<Vec<FoundBy>, Error> {
        let itself = [Some((MatchKind::And, term.exact())), term.prefix().map(|prefix| (MatchKind::Prefix, prefix))];
        let mut ways = Vec::new();
        for (rung, expression) in itself.into_iter().flatten() {
            if self.holds(&expression)? {
                ways.push((rung, expression, Vec::new()));
            }
        }
        let is_there = !ways.is_empty();
        let others = self.others(&term.folded)?;
        if !others.is_empty() && self.holds(&any(&others))? {
            ways.push((MatchKind::Synonym, any(&others), others));
        }
        if is_there {
            return Ok(ways);
        }
        let containing = vocabulary::containing(self.connection, &term.folded)?;
        if !containing.is_empty() {
            ways.push((MatchKind::Trigram, any(&containing), containing));
        }
        ways.extend(self.parts(term)?.map(|(expression, parts)| (MatchKind::Trigram, expression, parts)));
        if ways.is_empty() {
            let nearest = vocabulary::nearest(self.connection, &term.folded)?;
            if !nearest.is_empty() {
                read_as.push((term.text.clone(), nearest.clone()));
                ways.push((MatchKind::Spelling, any(&nearest), nearest));
            }
        }
        Ok(ways)
    }

    /// Other words for a word, and words that are made with them: `bread` is in `Sauerteigbrot`.
    fn others(&self, folded: &str) -> Result<Vec<String>, Error> {
        let mut others = Vec::new();
        for other in glossary::others(folded) {
            if other.len() > 3 {
                others.extend(vocabulary::containing(self.connection, other)?);
            }
            others.push(other.to_owned());
        }
        // A word that is named twice would count twice.
        others.sort_unstable();
        others.dedup();
        Ok(others)
    }

    /// A word that is written as two in the notes: `packinglist` is a `packing list`.
    fn parts(&self, term: &Term) -> Result<Option<(String, Vec<String>)>, Error> {
        let folded = &*term.folded;
        if folded.contains(' ') || term.is_unspaced() {
            return Ok(None);
        }
        let letters: Vec<usize> = folded.char_indices().map(|(at, _)| at).collect();
        let cuts = letters.iter().skip(3).take(letters.len().saturating_sub(5)).copied();
        for cut in cuts {
            let (one, other) = folded.split_at(cut);
            if self.holds(&quoted(one))? && self.holds(&quoted(other))? {
                return Ok(Some((
                    format!("{} AND {}", quoted(one), quoted(other)),
                    vec![one.to_owned(), other.to_owned()],
                )));
            }
        }
        Ok(None)
    }

    /// The notes that answer to an expression, the best first.
    fn matching(&self, expression: &str) -> Result<Vec<(i64, f64)>, Error> {
        let select = format!(
            "SELECT rowid, -rank FROM note_text WHERE note_text MATCH ? {} ORDER BY rank LIMIT {CANDIDATES}",
            self.conditions("rowid")
        );
        let mut rows = self.connection.prepare_cached(&select)?;
        let params = std::iter::once(expression.to_owned()).chain(self.params());
        let rows = rows.query_map(params_from_iter(params), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn holds(&self, expression: &str) -> Result<bool, Error> {
        let select = "SELECT 1 FROM note_text WHERE note_text MATCH ?1 LIMIT 1";
        Ok(self.connection.prepare_cached(select)?.exists([expression])?)
    }

    /// The notes with the tags that were asked for, the newest first.
    fn tagged(&self) -> Result<Vec<Hit>, Error> {
        let select = format!(
            "SELECT id FROM note WHERE title != '' {} ORDER BY dated DESC LIMIT {CANDIDATES}",
            self.conditions("id")
        );
        let mut rows = self.connection.prepare_cached(&select)?;
        let rows = rows.query_map(params_from_iter(self.params()), |row| row.get(0))?;
        let hit = |id| Ok(Hit { id: id?, score: 1.0, ..Hit::default() });
        rows.map(hit).collect()
    }

    /// What else must hold, as SQL. Its parameters are [`params`](Self::params).
    fn conditions(&self, id: &str) -> String {
        let tag = format!(" AND {id} IN (SELECT note FROM note_tag WHERE tag = ? OR tag GLOB ?)");
        let without = format!(" AND {id} NOT IN (SELECT rowid FROM note_text WHERE note_text MATCH ?)");
        tag.repeat(self.query.tags.len()) + &without.repeat(self.query.without.len())
    }

    fn params(&self) -> impl Iterator<Item = String> {
        let within = |tag: &String| format!("{}/*", tag.replace(['*', '?', '['], ""));
        let tags = self.query.tags.iter().flat_map(move |tag| [tag.clone(), within(tag)]);
        tags.chain(self.query.without.iter().map(Term::exact))
    }
}

fn any(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" OR ")
}

fn hint(
    connection: &Connection,
    query: &Query,
    ranked: &[Ranked],
    read_as: &[ReadAs],
) -> Result<Option<String>, Error> {
    if let Some((typed, words)) = read_as.first()
        && !ranked.is_empty()
    {
        let words = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" or ");
        return Ok(Some(format!("No note holds '{typed}'; did you mean {words}?")));
    }
    if !ranked.is_empty() {
        return Ok(None);
    }
    for tag in &query.tags {
        let known = "SELECT 1 FROM note_tag WHERE tag = ?1 OR tag GLOB ?1 || '/*'";
        if !connection.prepare_cached(known)?.exists([tag])? {
            return Ok(Some(format!("No note has the tag '{tag}'.")));
        }
    }
    Ok(Some("No note holds any of these words; try another word for it, or look at notes_recent.".to_owned()))
}

fn result(folder: &Folder, query: &Query, ranked: Ranked) -> FoundNote {
    // A note that went meanwhile is still named; there is nothing to show of it.
    let text = folder.read(&ranked.path).ok().flatten().unwrap_or_default();
    let snippet::Snippet { text, line } = snippet::of(&text, query, &ranked.hit);
    let Ranked { path, title, para, score, why, .. } = ranked;
    FoundNote { path, title, para: para.as_str(), score, snippet: text, line, why }
}
