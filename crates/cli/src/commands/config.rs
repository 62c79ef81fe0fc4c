//! `majordomo config show`.

use agent::permission::Rule;
use majordomo::config::Flags;
use serde_json::{Value, json};
use view::draw::columns;
use view::safe;

use super::{WIDE, configured};
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

/// A rule as it is written, without where.
fn value_of(rule: &Rule) -> Value {
    json!(Rule { origin: Default::default(), ..rule.clone() })
}
