//! `[[rules]]` of a file, each with its line. What is not understood is an error: a refusal with a slip of the pen in it
//! would otherwise refuse nothing.

use std::path::Path;
use std::sync::Arc;

use agent::permission::{Action, Rule};
use toml::Value;
use toml::de::DeTable;

use crate::config::{Error, Origin, clause, likeness, nearest};

const KEYS: [&str; 4] = ["tool", "pattern", "agent", "action"];

/// The rules of a text, in order. Whatever else it holds is left to others.
pub(crate) fn of_text(text: &str, path: &Path) -> Result<Vec<Rule>, Error> {
    let at = |offset: usize| Origin::File { path: path.to_owned(), line: 1 + text[..offset].matches('\n').count() };
    let failed = |error: toml::de::Error| Error::Syntax {
        origin: at(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    };
    let mut values: toml::Table = text.parse().map_err(failed)?;
    let places = DeTable::parse(text).map_err(failed)?;
    let Some(value) = values.remove("rules") else { return Ok(Vec::new()) };
    let place = places.get_ref().get("rules");
    let begins = place.map_or(0, |place| place.span().start);
    let Value::Array(tables) = value else { return Err(no_list(at(begins))) };
    let rule = |(number, value): (usize, Value)| {
        let place = place.and_then(|place| place.get_ref().as_array()).and_then(|places| places.get(number));
        let keys = place.and_then(|place| place.get_ref().as_table()).into_iter().flat_map(DeTable::keys);
        let first = keys.map(|key| key.span().start).min();
        let origin = at(first.or_else(|| place.map(|place| place.span().start)).unwrap_or(begins));
        let Value::Table(table) = value else { return Err(no_list(origin)) };
        rule(&table, &origin)
    };
    tables.into_iter().enumerate().map(rule).collect()
}

fn rule(table: &toml::Table, origin: &Origin) -> Result<Rule, Error> {
    let wrong = |key: &str, expected: &str, found: Option<String>| Error::Value {
        origin: origin.clone(),
        key: key.to_owned(),
        expected: expected.to_owned(),
        found,
    };
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let meant = nearest(&KEYS, |known| likeness(unknown, known));
        let found = format!("{unknown}{}", clause(meant));
        return Err(wrong("rules", "the keys tool, pattern, agent and action", Some(found)));
    }
    let text = |key: &str, expected: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(Arc::<str>::from(text.as_str()))),
        Some(other) => Err(wrong(&format!("rules.{key}"), expected, Some(other.to_string()))),
    };
    let tool = text("tool", TOOL)?.ok_or_else(|| wrong("rules.tool", TOOL, None))?;
    let word = text("action", ACTION)?.ok_or_else(|| wrong("rules.action", ACTION, None))?;
    let action = [Action::Allow, Action::Ask, Action::Deny].into_iter().find(|action| action.as_str() == &*word);
    Ok(Rule {
        tool,
        pattern: text("pattern", PATTERN)?,
        agent: text("agent", AGENT)?,
        action: action.ok_or_else(|| wrong("rules.action", ACTION, Some(format!("{word:?}"))))?,
        origin: origin.to_string().into(),
    })
}

const TOOL: &str = "the name of a tool, in which * stands for any text";
const PATTERN: &str = "a command or a path, in which * stands for any text";
const AGENT: &str = "the name of an agent, in which * stands for any text";
const ACTION: &str = "one of allow, ask, deny";

fn no_list(origin: Origin) -> Error {
    let expected = "tables, each begun with [[rules]]".to_owned();
    Error::Value { origin, key: "rules".to_owned(), expected, found: None }
}
