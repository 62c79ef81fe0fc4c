//! A household with more notes and mails than most people have: how long until all of them are indexed, and until one
//! is found. A search is compared with the same query on the same tables and nothing else.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, ensure};
use household::{Household, Options};
use majordomo::agent::{CallId, Json, ThreadId};
use majordomo::tool::{Registry, ToolContext, Workspace};
use rusqlite::{Connection, OpenFlags};

use crate::gauge::{Gauge, Taken};
use crate::{Amount, Place, Way};

/// Files of one folder of notes.
const SHELF: usize = 100;
/// Different words that there are.
const VOCABULARY: u64 = 20_000;
/// How often all searches are made in one measurement.
const LAPS: usize = 20;
/// How many results each has.
const LIMIT: usize = 5;

/// Writes the household.
pub fn write(amount: &Amount) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let mut words = Words(1);
    let paras = ["Projects", "Areas", "Resources", "Archives"];
    for shelf in 0..amount.notes / SHELF {
        let folder =
            amount.folder.join("para").join(paras[shelf % paras.len()]).join(format!("{} {shelf}", words.next()));
        fs::create_dir_all(&folder)?;
        for n in shelf * SHELF..(shelf + 1) * SHELF {
            fs::write(folder.join(format!("{n}.md")), note(&mut words, n))?;
        }
    }
    let cur = amount.folder.join("mail/cur");
    fs::create_dir_all(&cur)?;
    fs::create_dir_all(amount.folder.join("mail/new"))?;
    for n in 0..amount.mails {
        fs::write(cur.join(format!("m{n}:2,S")), mail(&mut words, n))?;
    }
    gauge.end()
}

/// Reads all notes into an index that is not there yet.
pub fn index_notes(place: &Place) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let household = open(&place.folder)?;
    let found = household::notes::search(&household, &searches()[0], LIMIT)?;
    ensure!(!found.results.is_empty(), "the notes were not indexed");
    gauge.end()
}

/// Reads all mails into an index that is not there yet.
pub async fn index_mails(place: &Place) -> anyhow::Result<Taken> {
    let workspace = Arc::new(Workspace::open(&place.folder)?);
    let bench = ToolContext::new(workspace, ThreadId::new("20260115-scales"), CallId::new("first"));
    let gauge = Gauge::begin();
    let registry = open(&place.folder)?.tools(Registry::new());
    let list = registry.get("mail_list").context("the household has no tool for mail")?;
    let result = list.run(&Json::of(&serde_json::json!({ "limit": LIMIT })), &bench).await;
    ensure!(!result.is_error && result.content.contains("emailId"), "{}", result.content);
    gauge.end()
}

/// Makes all searches, many times over. By Majordomo, the folder is looked after each time.
pub fn search(place: &Place, way: Way) -> anyhow::Result<Taken> {
    let searches = searches();
    match way {
        Way::First => {
            let gauge = Gauge::begin();
            let household = open(&place.folder)?;
            ensure!(
                !household::notes::search(&household, &searches[0], LIMIT)?.results.is_empty(),
                "nothing was found"
            );
            gauge.end()
        }
        Way::Later => {
            let household = open(&place.folder)?;
            // The first use of a process looks at every file; that is measured by itself.
            household::notes::search(&household, &searches[0], LIMIT)?;
            let gauge = Gauge::begin();
            for text in searches.iter().cycle().take(LAPS * searches.len()) {
                ensure!(!household::notes::search(&household, text, LIMIT)?.results.is_empty(), "{text} finds nothing");
            }
            gauge.end()
        }
        Way::Bare => {
            let db = Connection::open_with_flags(index(&place.folder), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            let mut select = db.prepare(
                "SELECT n.path, n.title FROM note_text JOIN note n ON n.id = note_text.rowid \
                 WHERE note_text MATCH ?1 ORDER BY rank LIMIT ?2",
            )?;
            let gauge = Gauge::begin();
            for text in searches.iter().cycle().take(LAPS * searches.len()) {
                let rows = select.query_map((text.replace(' ', " AND "), LIMIT as i64), |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
                })?;
                ensure!(rows.collect::<Result<Vec<_>, _>>()?.len() == LIMIT, "{text} finds too little");
            }
            gauge.end()
        }
    }
}

/// How many searches one measurement makes.
pub fn searches_made() -> usize {
    LAPS * searches().len()
}

/// One word and two, such as people look for: each search finds between a twentieth and a three-hundredth of the notes.
fn searches() -> Vec<String> {
    let ranks: [&[u64]; 7] = [&[300], &[1000], &[5000], &[40, 300], &[100, 200], &[20, 1000], &[60, 300]];
    ranks.iter().map(|ranks| ranks.iter().map(|rank| word(*rank)).collect::<Vec<_>>().join(" ")).collect()
}

fn open(folder: &Path) -> anyhow::Result<Arc<Household>> {
    Ok(Household::open(Options { index: Some(index(folder)), ..Options::in_folder(folder) })?)
}

fn index(folder: &Path) -> std::path::PathBuf {
    folder.join("own/household.db")
}

fn note(words: &mut Words, n: usize) -> String {
    let (title, tag) = (words.sentence(4), words.next());
    let mut text = format!("---\ntags: [{tag}]\nupdated: 202{}-0{}-1{}\n---\n# {title}\n\n", n % 6, n % 9 + 1, n % 9);
    for part in 0..4 {
        text.push_str(&format!("## {}\n\n{}. {}.\n", words.sentence(3), words.sentence(18), words.sentence(16)));
        if part == 2 {
            text.push_str(&format!("See [[{}]] and #{}.\n", n * 7919 % (n + 1), words.next()));
        }
        text.push('\n');
    }
    text
}

fn mail(words: &mut Words, n: usize) -> String {
    let (day, hour) = (n % 28 + 1, n % 24);
    let reply =
        if n.is_multiple_of(3) { format!("In-Reply-To: <{}@scales.example>\r\n", n / 2) } else { String::new() };
    format!(
        "From: {} <person{}@scales.example>\r\nTo: Alex Morgan <alex@morgan.example>\r\nSubject: {}\r\n\
         Date: {day:02} Dec 2025 {hour:02}:00:00 +0000\r\nMessage-ID: <{n}@scales.example>\r\n{reply}\
         Content-Type: text/plain; charset=utf-8\r\n\r\n{}.\r\n\r\n{}.\r\n",
        words.next(),
        n % 500,
        words.sentence(5),
        words.sentence(60),
        words.sentence(40)
    )
}

/// Words as languages have them: a few everywhere, most nearly nowhere. The same in every run.
struct Words(u64);

impl Words {
    fn next(&mut self) -> String {
        // Xorshift: good enough to spread words, and small enough to stand here.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let share = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        word((VOCABULARY as f64).powf(share) as u64 - 1)
    }

    fn sentence(&mut self, length: usize) -> String {
        (0..length).map(|_| self.next()).collect::<Vec<_>>().join(" ")
    }
}

/// The word of a rank, made of syllables.
fn word(rank: u64) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "bra", "cle", "dri",
        "flo", "gru",
    ];
    let mut rest = rank + 400;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[(rest % 20) as usize]);
        rest /= 20;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ_and_the_first_ones_come_most_often() {
        let all: std::collections::HashSet<String> = (0..VOCABULARY).map(word).collect();
        assert_eq!(all.len() as u64, VOCABULARY);
        let mut words = Words(1);
        let drawn: Vec<String> = (0..10_000).map(|_| words.next()).collect();
        let count = |rank: u64| drawn.iter().filter(|drawn| **drawn == word(rank)).count();
        assert!(count(0) > count(10) && count(10) > count(1000));
    }
}
