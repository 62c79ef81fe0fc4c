//! The index of words, and what is found in it. It is brought up to date with the log when it is searched, so that a commit costs nothing
//! more; how far it is, is kept beside it.
//!
//! What a word is is decided here, not by PostgreSQL's parser: the words that are searched for are cut in the same way.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::columns::{count, signed, storable, text, thread_id, time};
use super::connection::{Link, Pool, transact};
use super::read;
use crate::error::Error;
use crate::search::{self, Found, SearchQuery};

/// Events that are read at once.
const PAGE: usize = 1000;
/// The most bytes of a text that are searched, and of one word: PostgreSQL refuses larger ones.
const MOST_TEXT: usize = 200_000;
const MOST_WORD: usize = 200;
/// Places in threads that are looked at, of which each thread is shown once.
const MOST_FOUND: i64 = 1000;

/// Searches in all that was committed.
pub(super) async fn search(pool: &Arc<Pool>, query: &SearchQuery) -> Result<Vec<Found>, Error> {
    let terms = search::terms(&query.text);
    let Some((last, whole)) = terms.split_last() else { return Ok(Vec::new()) };
    while transact(pool, |link| Box::pin(catch_up(link))).await? {}
    let mut wanted: Vec<String> = whole.iter().map(|term| format!("'{}'", cut(term, MOST_WORD))).collect();
    wanted.push(format!("'{}':*", cut(last, MOST_WORD)));
    let sql = "SELECT t.id, s.at, s.words FROM search s JOIN threads t ON t.key = s.thread \
               WHERE s.lexemes @@ $1::text::tsquery ORDER BY s.at DESC LIMIT $2";
    let rows = pool.take().await?.query(sql, &[&wanted.join(" & "), &MOST_FOUND]).await?;
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for row in &rows {
        let thread = thread_id(row, "id")?;
        if found.len() < query.limit && seen.insert(thread.clone()) {
            let words = text(row, "words")?;
            let excerpt = search::excerpt(&words, &terms).unwrap_or_default();
            found.push(Found { thread, at: time(row, "at")?, excerpt });
        }
    }
    Ok(found)
}

/// Takes the next events into the index. Whether there may be more.
async fn catch_up(link: &Link) -> Result<bool, Error> {
    let row = link.one("SELECT position FROM searched FOR UPDATE", &[]).await?;
    let page = read::all_events(link, count(&row, "position")?, PAGE).await?;
    let Some(newest) = page.last() else { return Ok(false) };
    let sql = "INSERT INTO search (thread, at, words, lexemes) \
               SELECT key, $2, $3, array_to_tsvector($4::text[]) FROM threads WHERE id = $1";
    for record in &page {
        let Some(words) = search::words(&record.event) else { continue };
        let words = storable(cut(&words, MOST_TEXT)).into_owned();
        let lexemes: BTreeSet<String> =
            search::terms(&words).iter().map(|term| cut(term, MOST_WORD).to_owned()).collect();
        let lexemes: Vec<String> = lexemes.into_iter().collect();
        link.execute(sql, &[&record.thread.as_str(), &record.at.0, &words, &lexemes]).await?;
    }
    link.execute("UPDATE searched SET position = $1", &[&signed(newest.position)]).await?;
    Ok(page.len() == PAGE)
}

/// The beginning of a text, of so many bytes at the most.
fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
