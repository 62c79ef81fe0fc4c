//! `majordomo household check`: what lies in the folders of the household, and what is wrong with it.

use majordomo::config::Flags;
use majordomo::household::{CheckedPart, PartState};
use majordomo::staff::check_household;
use serde_json::json;
use view::safe;

use super::configured;
use crate::error::{CONFIGURATION, Failure};
use crate::out;

/// The widest that a problem is shown.
const WIDE: usize = 400;

/// `majordomo household check`. Fails where something is missing or cannot be read; what is stale is only told.
pub fn check(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let mut result = out::Result::Stdout;
    let Some(parts) = check_household(&config)? else {
        out::note(
            "no household is configured: set household.folder in the configuration to a folder with mail/, calendars/, para/ and contacts/, or \
             try --demo; see docs/household.md",
        );
        return Ok(CONFIGURATION);
    };
    let is_bad = |part: &CheckedPart| matches!(part.state, PartState::Problem | PartState::Missing);
    let code = u8::from(parts.iter().any(is_bad));
    if json {
        result.line(&json!({ "is_well": code == 0, "parts": parts }).to_string())?;
        return Ok(code);
    }
    for part in &parts {
        for line in lines(part) {
            if !result.line(&line)? {
                return Ok(code);
            }
        }
    }
    Ok(code)
}

fn lines(part: &CheckedPart) -> Vec<String> {
    let place = part.place.as_ref().map(|place| safe::line(&place.display().to_string(), WIDE)).unwrap_or_default();
    let total: usize = part.counts.iter().map(|(_, count)| count).sum();
    let told = match part.state {
        PartState::NotSet => format!("no folder; set household.{} in the configuration", part.id),
        PartState::Missing => format!("{place} does not exist"),
        PartState::Empty => format!("nothing that can be used in {place}"),
        PartState::Ok | PartState::Stale | PartState::Problem => {
            let each: Vec<String> =
                part.counts.iter().map(|(name, count)| format!("{} {count}", safe::line(name, WIDE))).collect();
            let newest = match (part.id, &part.newest) {
                ("mail", Some(day)) => format!(", newest {day}"),
                ("calendars", Some(day)) => format!(", next event {day}"),
                _ => String::new(),
            };
            let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
            format!("{total} in {place}{each}{newest}")
        }
    };
    let mut lines = vec![format!("{:<8} {:<10} {told}", part.state.as_str(), part.id)];
    if part.state == PartState::Stale {
        lines.push(format!("{:<19} nothing new for a while: is the program that syncs it still running?", ""));
    }
    lines.extend(part.problems.iter().map(|problem| format!("{:<19} {}", "", safe::line(problem, WIDE))));
    lines
}
