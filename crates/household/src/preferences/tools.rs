//! The tools for preferences: list, propose, explain, apply and forget.

use std::sync::Arc;

use agent::tools::{Reach, Risk};
use serde::Deserialize;
use serde_json::{Value, json};
use tool::{Registry, info};

use super::learn::{FEWEST, Habit, SURE};
use super::{CurrentPreference, Status, habits, standings, storage};
use crate::error::Error;
use crate::household::Household;
use crate::tools::HouseholdTool;

/// Adds the tools.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    registry
        .with(list(household))
        .with(propose(household))
        .with(explain(household))
        .with(forget(household))
        .with(apply(household))
}

/// Subjects of mails and names of people stand in what decisions were about.
const FOREIGN: Option<&str> = Some("past decisions");

const KEY: &str = r#"{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}"#;
const KEY_EXAMPLE: &str = r#"{"key": "meeting.part_of_day"}"#;

fn list(household: &Arc<Household>) -> HouseholdTool<Nothing> {
    HouseholdTool {
        info: info(
            "prefs_list",
            "The owner's preferences: those that hold (applied) and those that past decisions suggest (proposed).",
            r#"{"type":"object","properties":{}}"#,
            Reach::ReadOnly,
            true,
            Risk::Low,
        ),
        example: "{}",
        foreign: FOREIGN,
        household: Arc::clone(household),
        act: |_, household| {
            household.catch_up()?;
            Ok(json!({ "preferences": standings(household)?.iter().map(shown).collect::<Vec<_>>() }))
        },
    }
}

#[derive(Deserialize)]
struct Nothing {}

fn propose(household: &Arc<Household>) -> HouseholdTool<About> {
    HouseholdTool {
        info: info(
            "prefs_propose",
            "Preferences that past decisions suggest, with evidence; none holds before prefs_apply.",
            r#"{"type":"object","properties":{"about":{"type":"string","description":"such as meetings, drafts, a sender"}}}"#,
            Reach::ReadOnly,
            true,
            Risk::Low,
        ),
        example: r#"{"about": "meetings"}"#,
        foreign: FOREIGN,
        household: Arc::clone(household),
        act: |args, household| {
            household.catch_up()?;
            let standings = standings(household)?.into_iter();
            let proposed: Vec<CurrentPreference> =
                standings.filter(|standing| standing.status == Status::Proposed).collect();
            let about = args.about.as_deref().unwrap_or("");
            let wanted: Vec<&CurrentPreference> =
                proposed.iter().filter(|standing| is_about(standing, about)).collect();
            let hint = match (proposed.is_empty(), wanted.is_empty()) {
                (true, _) => Some(format!("Nothing to propose: a habit takes {FEWEST} cases that agree.")),
                (false, true) => Some(format!("Nothing is proposed about '{about}'; this is what else there is.")),
                (false, false) => None,
            };
            let wanted = if wanted.is_empty() { proposed.iter().collect() } else { wanted };
            let mut answer = json!({ "preferences": wanted.into_iter().map(shown).collect::<Vec<_>>() });
            if let Some(hint) = hint {
                answer["hint"] = hint.into();
            }
            Ok(answer)
        },
    }
}

#[derive(Deserialize)]
struct About {
    #[serde(default)]
    about: Option<String>,
}

/// Whether a preference is about what was asked, by any of its words.
fn is_about(standing: &CurrentPreference, about: &str) -> bool {
    let text = format!("{} {}", standing.key, standing.value).to_lowercase();
    let about = about.to_lowercase();
    let mut words =
        about.split(|c: char| !c.is_alphanumeric() && !matches!(c, '@' | '.' | '-')).filter(|word| word.len() > 3);
    about.trim().is_empty() || words.any(|word| text.contains(word.trim_end_matches('s')))
}

fn explain(household: &Arc<Household>) -> HouseholdTool<Keyed> {
    HouseholdTool {
        info: info("prefs_explain", "What a preference was learnt from.", KEY, Reach::ReadOnly, true, Risk::Low),
        example: KEY_EXAMPLE,
        foreign: FOREIGN,
        household: Arc::clone(household),
        act: |args, household| {
            household.catch_up()?;
            let key = &args.key;
            let standings = standings(household)?;
            let standing = standings.iter().find(|standing| &standing.key == key);
            let habits = habits(household, &household.index().lock())?;
            let habit = standing.and_then(|standing| standing.habit.as_ref());
            let habit = habit.or_else(|| habits.iter().find(|habit| &habit.key == key));
            let status = standing.map_or("not sure enough", |standing| standing.status.as_str());
            match (habit, standing) {
                (Some(habit), _) => Ok(explained(household, habit, status)),
                (None, Some(standing)) => Ok(shown(standing)),
                (None, None) => Err(unknown(key)),
            }
        },
    }
}

#[derive(Deserialize)]
struct Keyed {
    key: String,
}

/// The most evidence that is told at once.
const MAX_EVIDENCE: usize = 50;

fn explained(household: &Household, habit: &Habit, status: &str) -> Value {
    let (cases, against) = (habit.evidence.len(), habit.against);
    let verdict =
        if habit.is_sure() { "which is sure enough to propose" } else { "which is not sure enough to propose" };
    let reasoning = format!(
        "{cases} of {} cases say '{}'. Older ones count for less. Its share is surely {:.0} % or more, {verdict} (it takes \
         {FEWEST} cases and {:.0} %).",
        cases + against,
        habit.value,
        habit.confidence * 100.0,
        SURE * 100.0
    );
    let mut answer = json!({
        "key": habit.key,
        "value": habit.value,
        "confidence": habit.confidence,
        "status": status,
        "cases": cases,
        "against": against,
        "logOdds": habit.log_odds,
        "evidence": evidence(habit, MAX_EVIDENCE, household),
        "reasoning": reasoning,
    });
    if !habit.hours.is_empty() {
        answer["hours"] = habit.hours.iter().map(|(hour, times)| (format!("{hour:02}:00"), json!(times))).collect();
    }
    answer
}

fn evidence(habit: &Habit, limit: usize, household: &Household) -> Vec<String> {
    let dated = habit.evidence.iter().take(limit);
    let date = |at: jiff::Timestamp| at.to_zoned(household.options().zone.clone()).strftime("%Y-%m-%d").to_string();
    dated.map(|seen| format!("{}: {}", date(seen.at), seen.words)).collect()
}

fn forget(household: &Arc<Household>) -> HouseholdTool<Keyed> {
    HouseholdTool {
        info: info(
            "prefs_forget",
            "Forget a preference. It does not come back from the same decisions.",
            KEY,
            Reach::Own,
            true,
            Risk::Low,
        ),
        example: KEY_EXAMPLE,
        foreign: None,
        household: Arc::clone(household),
        act: |args, household| {
            // What was decided so far is forgotten with it.
            household.catch_up()?;
            let connection = household.index().lock();
            let is_known = habits(household, &connection)?.iter().any(|habit| habit.key == args.key)
                || storage::settled(&connection)?.iter().any(|settled| settled.key == args.key);
            if !is_known {
                return Err(unknown(&args.key));
            }
            storage::forget(&connection, &args.key, &household.now().timestamp().to_string())?;
            Ok(json!({ "key": args.key, "status": "forgotten" }))
        },
    }
}

fn apply(household: &Arc<Household>) -> HouseholdTool<Keyed> {
    HouseholdTool {
        info: info(
            "prefs_apply",
            "Have a proposed preference hold from now on. The owner is asked.",
            KEY,
            Reach::Workspace,
            true,
            Risk::Medium,
        ),
        example: KEY_EXAMPLE,
        foreign: None,
        household: Arc::clone(household),
        act: |args, household| {
            household.catch_up()?;
            let standings = standings(household)?;
            let mut of_key = standings.iter().filter(|standing| standing.key == args.key);
            // Of one that holds and another that is proposed in its place, the proposed one is meant.
            let Some(meant) = of_key.next_back() else {
                return Err(
                    match habits(household, &household.index().lock())?.iter().any(|habit| habit.key == args.key) {
                        true => Error::request(format!(
                            "'{}' is not sure enough to apply; prefs_explain says why",
                            args.key
                        )),
                        false => unknown(&args.key),
                    },
                );
            };
            let at = household.now().timestamp().to_string();
            storage::apply(&household.index().lock(), &meant.key, &meant.value, meant.confidence, &at)?;
            let status = Status::Applied.as_str();
            Ok(json!({ "key": meant.key, "value": meant.value, "confidence": meant.confidence, "status": status }))
        },
    }
}

fn unknown(key: &str) -> Error {
    Error::request(format!("nothing is known about '{key}'; prefs_list names what there is"))
}

/// A few words of evidence are enough in a list.
const FEW: usize = 3;

fn shown(standing: &CurrentPreference) -> Value {
    let CurrentPreference { key, value, confidence, status, habit } = standing;
    let evidence: Vec<String> = habit.as_ref().map_or_else(Vec::new, |habit| {
        let newest = habit.evidence.iter().take(FEW).map(|seen| seen.words.clone());
        let more = habit.evidence.len().saturating_sub(FEW);
        newest.chain((more > 0).then(|| format!("and {more} more"))).collect()
    });
    let cases = habit.as_ref().map_or(0, |habit| habit.evidence.len());
    let status = status.as_str();
    json!({ "key": key, "value": value, "confidence": confidence, "status": status, "cases": cases, "evidence": evidence })
}
