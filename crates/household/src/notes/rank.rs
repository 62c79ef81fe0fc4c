//! The order of search results, with reasons.
//!
//! The score of the index is multiplied by factors for the folder, folders that the owner prefers, the age, the number of links to
//! the note, and matches in its title. Each factor is small; none can lift a note over a much better match.

use rusqlite::{Connection, params};

use super::links;
use super::para::Para;
use super::query::{Query, Term};
use super::script::words;
use super::search::{Hit, MatchKind};
use crate::error::Error;
use crate::preferences::slug;
use crate::text::fold;

/// How many notes are looked at closely. Each costs as much as a small part of the search itself.
const CLOSELY: usize = 16;

/// A note in its place.
pub(super) struct Ranked {
    pub hit: Hit,
    pub path: String,
    pub title: String,
    pub para: Para,
    pub score: f64,
    pub why: String,
}

/// What notes are held against besides the query.
pub(super) struct RankContext {
    /// What time it is, in seconds.
    pub now: i64,
    /// The folder that the owner agreed to find things in, as habits write it.
    pub usual: Option<String>,
}

/// Puts notes in order, the best first.
pub(super) fn rank(
    connection: &Connection,
    query: &Query,
    mut hits: Vec<Hit>,
    limit: usize,
    moment: &RankContext,
) -> Result<Vec<Ranked>, Error> {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    hits.truncate(CLOSELY.max(limit));
    let mut ranked = Vec::with_capacity(hits.len());
    for hit in hits {
        let select = "SELECT path, title, headings, tags, dated FROM note WHERE id = ?1";
        let row = connection.prepare_cached(select)?.query_row(params![hit.id], |row| {
            Ok(Note {
                path: row.get(0)?,
                title: row.get(1)?,
                headings: row.get(2)?,
                tags: row.get(3)?,
                dated: row.get(4)?,
            })
        })?;
        let linked = links::degree(connection, hit.id)?;
        ranked.push(row.ranked(query, hit, linked, moment));
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    ranked.truncate(limit);
    Ok(ranked)
}

struct Note {
    path: String,
    title: String,
    headings: String,
    tags: String,
    dated: i64,
}

impl Note {
    fn ranked(self, query: &Query, hit: Hit, linked: u32, moment: &RankContext) -> Ranked {
        let para = Para::of(&self.path);
        let age_days = (moment.now - self.dated).max(0) as f64 / 86_400.0;
        let recency = 1.0 + 0.25 * 0.5_f64.powf(age_days / 90.0);
        let links = 1.0 + 0.05 * (1.0 + f64::from(linked)).ln();
        let place = self.place(query, &hit);
        let folder = self.path.split_once('/').map(|(folder, _)| slug(folder));
        let is_usual = folder.is_some() && folder == moment.usual;
        let usual = if is_usual { 1.25 } else { 1.0 };
        let score = (hit.score + 0.01) * para.weight() * usual * recency * links * place.worth;
        let mut why = vec![coverage(query, &hit)];
        why.extend(place.words);
        why.extend(match para {
            Para::Projects => Some("a current project".to_owned()),
            Para::Archives => Some("put away in the archives".to_owned()),
            Para::Areas | Para::Resources | Para::Other => None,
        });
        if is_usual {
            why.push("where you mostly look".to_owned());
        }
        if linked > 1 {
            why.push(format!("{linked} notes link to it"));
        }
        why.retain(|part| !part.is_empty());
        // From 0 to 1 without an end that could be reached: 0.5 is a fair match, 0.9 a very good one.
        let score = (score / (score + 3.0) * 1000.0).round() / 1000.0;
        Ranked { hit, path: self.path, title: self.title, para, score, why: why.join("; ") }
    }

    /// Where the words of the query stand, beside the text.
    fn place(&self, query: &Query, hit: &Hit) -> Place {
        let [title, headings, tags] =
            [format!("{} {}", self.title, self.path), self.headings.clone(), self.tags.clone()].map(|text| fold(&text));
        let is_in = |text: &str, number: usize, read_as: &[String]| {
            let holds = |word: &str| words(text).any(|known| known.starts_with(word));
            let term = &query.terms[number];
            is_term_in(term, text) || read_as.iter().any(|word| holds(&fold(word)))
        };
        let count = |text: &str| hit.answers.iter().filter(|(number, as_)| is_in(text, *number, as_)).count();
        let (in_title, in_headings, in_tags) = (count(&title), count(&headings), count(&tags));
        let all = query.terms.len().max(1) as f64;
        let mut worth = 1.0 + 0.6 * in_title as f64 / all + 0.2 * in_headings.max(in_tags) as f64 / all;
        let typed = query.terms.iter().map(|term| &*term.folded).collect::<Vec<_>>().join(" ");
        if words(&fold(&self.title)).collect::<Vec<_>>().join(" ") == typed {
            worth *= 1.5;
        }
        let words = match (in_title, in_headings, in_tags) {
            (1.., ..) => Some("in its title".to_owned()),
            (_, 1.., _) => Some("in a heading".to_owned()),
            (_, _, 1..) => Some("as a tag".to_owned()),
            _ => None,
        };
        Place { worth, words }
    }
}

struct Place {
    worth: f64,
    words: Option<String>,
}

fn is_term_in(term: &Term, text: &str) -> bool {
    if term.is_unspaced() || term.folded.contains(' ') {
        return text.contains(&*term.folded);
    }
    words(text).any(|word| word.starts_with(&*term.folded))
}

/// How far a note answers to the query, in words.
fn coverage(query: &Query, hit: &Hit) -> String {
    let typed = |number: &usize| format!("'{}'", query.terms[*number].text);
    let held: Vec<String> = hit
        .answers
        .iter()
        .map(|(number, read_as)| match (hit.rung, &read_as[..]) {
            (MatchKind::Spelling, [word, ..]) => format!("{} read as '{word}'", typed(number)),
            (MatchKind::Synonym, [_, ..]) => format!("another word for {}", typed(number)),
            (MatchKind::Trigram, [_, ..]) => format!("{} within a word", typed(number)),
            _ => typed(number),
        })
        .collect();
    match (query.terms.len(), held.len()) {
        (0, _) => query.tags.iter().map(|tag| format!("tagged {tag}")).collect::<Vec<_>>().join(", "),
        (1, _) => format!("holds {}", held.join("")),
        (all, some) if some < all => format!("holds {some} of {all} words: {}", held.join(", ")),
        (_, _) => format!("holds all words: {}", held.join(", ")),
    }
}
