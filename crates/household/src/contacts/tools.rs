//! The tool that finds people.

use std::sync::Arc;

use agent::tools::{Reach, Risk};
use serde::Deserialize;
use serde_json::{Value, json};
use tool::Registry;
use tool::args::number;

use crate::error::Error;
use crate::household::Household;
use crate::tools::HouseholdTool;

/// The tool of contacts, added to others.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    registry.with(HouseholdTool::<Find> {
        info: tool::info(
            "contacts_find",
            "Finds people in the owner's address book by name, address or organisation.",
            r#"{"type":"object","properties":{
                "query":{"type":"string"},
                "limit":{"type":"integer","minimum":1,"maximum":50,"description":"10 if not said"}},"required":["query"]}"#,
            Reach::ReadOnly,
            true,
            Risk::Low,
        ),
        example: r#"{"query": "sarah"}"#,
        foreign: Some("contacts"),
        household: Arc::clone(household),
        act: find,
    })
}

#[derive(Deserialize)]
struct Find {
    query: String,
    #[serde(default, deserialize_with = "number")]
    limit: Option<u64>,
}

fn find(args: &Find, household: &Household) -> Result<Value, Error> {
    let mut contacts = household.contacts_like(&args.query);
    contacts.truncate(args.limit.unwrap_or(10).clamp(1, 50) as usize);
    Ok(json!({ "contacts": contacts }))
}
