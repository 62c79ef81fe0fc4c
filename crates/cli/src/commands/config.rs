//! `majordomo config`: the effective configuration, and the user's own file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use agent::permission::Rule;
use majordomo::config::{self, Config, Edited, Flags, Origin};
use serde_json::{Value, json};
use view::draw::columns;
use view::safe;

use super::servers::{restore, users_file, write};
use super::{WIDE, configured, surroundings};
use crate::error::Failure;
use crate::out;

/// What is said beside a rule that denies or asks by the spelling of a command alone.
pub const TEXT_ONLY: &str = "matches only this spelling of a command, not other commands with the same effect";

/// `majordomo config show`.
pub fn show(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let rules = majordomo::rules::in_force(&config);
    let mut result = out::Result::Stdout;
    if json {
        let entry = |entry: &majordomo::config::Entry| json!({ "id": entry.key, "key": entry.key, "value": entry.value, "origin": entry.origin.to_string() });
        let rule = |(number, rule): (usize, &Rule)| json!({ "id": format!("rules.{number}"), "key": "rules", "value": value_of(rule), "origin": rule.origin, "matches_text_only": rule.matches_text_only() });
        let rules = rules.iter().enumerate().map(rule);
        let entries: Vec<Value> = config.entries().iter().map(entry).chain(rules).collect();
        result.line(&Value::from(entries).to_string())?;
        return Ok(0);
    }
    let width = config.entries().iter().map(|entry| columns::width(&entry.key)).max().unwrap_or(0);
    for entry in config.entries() {
        let value = if entry.value.is_null() { "(none)".to_owned() } else { entry.value.to_string() };
        if !result.line(&format!("{} = {value}  # {}", columns::left(&entry.key, width), entry.origin))? {
            return Ok(0);
        }
    }
    for rule in &rules {
        let value = safe::line(&value_of(rule).to_string(), WIDE);
        let note = if rule.matches_text_only() { format!("; {TEXT_ONLY}") } else { String::new() };
        if !result.line(&format!("{} = {value}  # {}{note}", columns::left("rules", width), rule.origin))? {
            break;
        }
    }
    Ok(0)
}

/// `majordomo config set`.
pub fn set(flags: &Flags, key: &str, value: &str) -> Result<u8, Failure> {
    let surroundings = surroundings()?;
    let path = users_file(&surroundings)?;
    let before = read(&path)?;
    let edited = config::with_value(&before, key, value, &surroundings.cwd)?;
    let config = replace(flags, &path, &before, &edited)?;
    out::note(&format!("set {} in {}", edited.key, path.display()));
    // A value of a project, a variable or a flag holds instead.
    let others = config.entries().iter().filter(|entry| entry.key == edited.key);
    for entry in others.filter(|entry| !matches!(&entry.origin, Origin::File { path: of, .. } if *of == path)) {
        out::note(&format!("note: here it stays {}, which is set by: {}", entry.value, entry.origin));
    }
    Ok(0)
}

/// `majordomo config unset`.
pub fn unset(flags: &Flags, key: &str) -> Result<u8, Failure> {
    let path = users_file(&surroundings()?)?;
    let before = read(&path)?;
    let Some(edited) = config::without_key(&before, key)? else {
        return Err(Failure::usage(format!("{key} is not set in {}", path.display())));
    };
    replace(flags, &path, &before, &edited)?;
    out::note(&format!("took {} out of {}", edited.key, path.display()));
    Ok(0)
}

fn read(path: &Path) -> Result<String, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Failure::failed(format!("{} cannot be read: {error}", path.display()))),
    }
}

/// Writes the file, and puts it back as it was where the whole would be no configuration any more.
fn replace(flags: &Flags, path: &Path, before: &str, edited: &Edited) -> Result<Config, Failure> {
    write(path, &edited.text)?;
    match Config::load(&surroundings()?, flags) {
        Ok(config) => Ok(config),
        Err(error) => {
            restore(path, before)?;
            Err(error.into())
        }
    }
}

/// A rule as it is written, without where.
fn value_of(rule: &Rule) -> Value {
    json!(Rule { origin: Default::default(), ..rule.clone() })
}
