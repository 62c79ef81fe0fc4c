//! The tools for notes: search, read, backlinks, recent changes. All of them only read.

use std::sync::Arc;

use agent::tools::{Reach, Risk, ToolInfo};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};
use tool::{Registry, args, info};

use super::para::Para;
use super::refresh::refresh;
use super::{links, search};
use crate::error::Error;
use crate::household::Household;
use crate::tools::HouseholdTool;

/// The most results of one call.
const MAX_LIMIT: usize = 50;
/// How much of a note one call shows.
const MAX_SHOWN: usize = 32 * 1024;

/// Adds the tools.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    registry.with(find(household)).with(read(household)).with(backlinks(household)).with(recent(household))
}

fn looks(name: &str, description: &str, schema: &str) -> ToolInfo {
    info(name, description, schema, Reach::ReadOnly, true, Risk::Low)
}

fn find(household: &Arc<Household>) -> HouseholdTool<Find> {
    HouseholdTool {
        info: looks(
            "notes_search",
            "Search the owner's notes. Words, \"words in a row\", tag:name, -without. Each result says why it was found.",
            r#"{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","description":"5 unless told"}},"required":["query"]}"#,
        ),
        example: r#"{"query": "rent contract"}"#,
        foreign: Some("notes"),
        household: Arc::clone(household),
        act: |args, household| {
            let found = search::search(household, &args.query, limit(args.limit, 5))?;
            let results: Vec<Value> = found.results.iter().map(shown).collect();
            let ladder = if results.is_empty() { "none" } else { found.ladder.as_str() };
            let mut answer = json!({ "results": results, "ladder": ladder });
            if let Some(hint) = found.hint {
                answer["hint"] = hint.into();
            }
            Ok(answer)
        },
    }
}

#[derive(Deserialize)]
struct Find {
    #[serde(alias = "q", alias = "text")]
    query: String,
    #[serde(default, deserialize_with = "args::number")]
    limit: Option<u64>,
}

fn shown(result: &search::FoundNote) -> Value {
    let search::FoundNote { path, title, para, score, snippet, line, why } = result;
    json!({ "path": path, "title": title, "para": para, "score": score, "snippet": snippet, "line": line, "why": why })
}

fn read(household: &Arc<Household>) -> HouseholdTool<Read> {
    HouseholdTool {
        info: looks(
            "notes_read",
            "Read a note, by the path of a search result or by its title.",
            r#"{"type":"object","properties":{"path":{"type":"string"},"from_line":{"type":"integer"}},"required":["path"]}"#,
        ),
        example: r#"{"path": "Projects/Kitchen.md"}"#,
        foreign: Some("notes"),
        household: Arc::clone(household),
        act: |args, household| {
            let folder = refresh(household)?.ok_or_else(|| missing(&args.path))?;
            let connection = household.index().lock();
            let connection = connection.unchecked_transaction()?;
            let (id, path) = meant(&connection, &args.path)?;
            let text = folder.read(&path)?.ok_or_else(|| Error::request(format!("'{path}' is not a text")))?;
            let select = "SELECT title, tags, dated FROM note WHERE id = ?1";
            let (title, tags, dated): (String, String, i64) =
                connection.query_row(select, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let linked = links::links(&connection, id)?;
            let linked: Vec<Value> =
                linked.into_iter().map(|(name, path)| json!({ "name": name, "path": path })).collect();
            let mut answer = json!({
                "path": path,
                "title": title,
                "para": Para::of(&path).as_str(),
                "tags": tags.split_whitespace().collect::<Vec<_>>(),
                "updated": moment(household, dated),
                "links": linked,
            });
            put_text(&mut answer, &text, args.from_line.map_or(1, |line| usize::try_from(line).unwrap_or(usize::MAX)));
            Ok(answer)
        },
    }
}

#[derive(Deserialize)]
struct Read {
    #[serde(alias = "title", alias = "note", alias = "file")]
    path: String,
    #[serde(default, deserialize_with = "args::number")]
    from_line: Option<u64>,
}

/// As many whole lines as one call shows, and from where to go on.
fn put_text(answer: &mut Value, text: &str, from: usize) {
    let mut shown = String::new();
    let mut next = None;
    for (at, line) in text.lines().enumerate().skip(from.max(1) - 1) {
        if shown.len() + line.len() > MAX_SHOWN && !shown.is_empty() {
            next = Some(at + 1);
            break;
        }
        // A line without end is cut by the character.
        shown.extend(line.chars().take(MAX_SHOWN));
        shown.push('\n');
    }
    answer["text"] = shown.into();
    if let Some(next) = next {
        answer["next_line"] = next.into();
    }
}

fn backlinks(household: &Arc<Household>) -> HouseholdTool<Named> {
    HouseholdTool {
        info: looks(
            "notes_backlinks",
            "The notes that link to a note.",
            r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#,
        ),
        example: r#"{"path": "Projects/Kitchen.md"}"#,
        foreign: Some("notes"),
        household: Arc::clone(household),
        act: |args, household| {
            refresh(household)?;
            let connection = household.index().lock();
            let connection = connection.unchecked_transaction()?;
            let (id, path) = meant(&connection, &args.path)?;
            let links = links::backlinks(&connection, id, MAX_LIMIT)?;
            let links = links.into_iter();
            let links: Vec<Value> =
                links.map(|link| json!({ "path": link.path, "title": link.title, "line": link.line })).collect();
            Ok(json!({ "path": path, "backlinks": links, "total": links::degree(&connection, id)? }))
        },
    }
}

#[derive(Deserialize)]
struct Named {
    #[serde(alias = "title", alias = "note", alias = "file")]
    path: String,
}

fn recent(household: &Arc<Household>) -> HouseholdTool<Recent> {
    HouseholdTool {
        info: looks(
            "notes_recent",
            "The notes that changed last.",
            r#"{"type":"object","properties":{"limit":{"type":"integer","description":"10 unless told"}}}"#,
        ),
        example: r#"{"limit": 10}"#,
        foreign: Some("notes"),
        household: Arc::clone(household),
        act: |args, household| {
            refresh(household)?;
            let connection = household.index().lock();
            let select = "SELECT path, title, dated FROM note WHERE title != '' ORDER BY dated DESC, path LIMIT ?1";
            let mut rows = connection.prepare_cached(select)?;
            let rows = rows.query_map([limit(args.limit, 10) as i64], |row| {
                let path: String = row.get(0)?;
                let para = Para::of(&path).as_str();
                Ok(json!({ "path": path, "title": row.get::<_, String>(1)?, "para": para, "updated": moment(household, row.get(2)?) }))
            })?;
            Ok(json!({ "notes": rows.collect::<Result<Vec<_>, _>>()? }))
        },
    }
}

#[derive(Deserialize)]
struct Recent {
    #[serde(default, deserialize_with = "args::number")]
    limit: Option<u64>,
}

fn limit(asked: Option<u64>, usual: usize) -> usize {
    asked.map_or(usual, |asked| usize::try_from(asked).unwrap_or(MAX_LIMIT)).clamp(1, MAX_LIMIT)
}

/// A moment in the owner's zone; null where it is not known.
fn moment(household: &Household, second: i64) -> Value {
    let moment = jiff::Timestamp::from_second(second).ok().filter(|_| second != 0);
    let moment = moment.map(|moment| moment.to_zoned(household.options().zone.clone()));
    moment.map_or(Value::Null, |moment| moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string().into())
}

/// The note that is meant: the index knows it, so that nothing outside the folder can be.
fn meant(connection: &Connection, named: &str) -> Result<(i64, String), Error> {
    links::meant(connection, named)?.ok_or_else(|| missing(named))
}

fn missing(named: &str) -> Error {
    Error::request(format!("there is no note '{named}'; notes_search finds one by its words"))
}
