//! The tool that answers a question from everything that the household holds.

use std::sync::Arc;

use agent::tools::{Reach, Risk};
use serde::Deserialize;
use serde_json::Value;
use tool::Registry;
use tool::args::{list, number};

use super::{Scope, answer};
use crate::error::Error;
use crate::household::Household;
use crate::tools::HouseholdTool;

/// The tool, added to others.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    registry.with(HouseholdTool::<Ask> {
        info: tool::info(
            "household_find",
            "Finds the sentences in notes, mails, events and cards that answer a question best, each with its place. `covers` says how \
             much of the question is in it, `missing` which words are not.",
            r#"{"type":"object","properties":{
                "question":{"type":"string","description":"in the owner's words"},
                "kinds":{"type":"array","items":{"enum":["note","mail","event","person"]},"description":"all if not said"},
                "about":{"type":"array","items":{"type":"string"},"description":"look only into these: emailIds, eventIds, paths of notes"},
                "before":{"type":"string","description":"with `about`: what was asked before, where this question goes on from it"},
                "limit":{"type":"integer","minimum":1,"maximum":20,"description":"5 if not said"}},"required":["question"]}"#,
            Reach::ReadOnly,
            true,
            Risk::Low,
        ),
        example: r#"{"question": "What is Lena's ring size?"}"#,
        foreign: Some("mail"),
        household: Arc::clone(household),
        act: find,
    })
}

#[derive(Deserialize)]
struct Ask {
    #[serde(alias = "query")]
    question: String,
    #[serde(default, deserialize_with = "list")]
    kinds: Vec<String>,
    #[serde(default, deserialize_with = "list")]
    about: Vec<String>,
    #[serde(default)]
    before: String,
    #[serde(default, deserialize_with = "number")]
    limit: Option<u64>,
}

fn find(args: &Ask, household: &Household) -> Result<Value, Error> {
    let limit = args.limit.unwrap_or(5).clamp(1, 20) as usize;
    answer(&args.question, Scope { kinds: &args.kinds, about: &args.about, before: &args.before, limit }, household)
}
