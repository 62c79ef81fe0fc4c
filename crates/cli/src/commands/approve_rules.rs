//! `majordomo approve rules`: what was allowed for ever, and taking it back.
//!
//! Standing consents are kept by the store. The rules of the rules file are listed with them, for they count alike; a person
//! wrote them, and only a person changes that file.

use agent::permission::Rule;
use majordomo::config::Flags;
use majordomo::rules;
use majordomo::staff::open_store;
use serde_json::{Value, json};
use store::{Consent, InstallationEvent};
use view::safe;

use super::configured;
use crate::error::Failure;
use crate::out;

/// The longest rule in a list.
const WORDS: usize = 1000;

/// `majordomo approve rules ls`.
pub fn ls(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let (consents, by_hand) = rules::kept(&config)?;
    let mut result = out::Result::Stdout;
    if json {
        let consents = consents.iter().map(|consent| json!(consent));
        let by_hand = by_hand.iter().map(object);
        result.line(&Value::from(consents.chain(by_hand).collect::<Vec<_>>()).to_string())?;
        return Ok(0);
    }
    let consents = consents.iter().map(|consent| (consent.id.to_string(), rules::rule_of(consent).to_string()));
    let by_hand = by_hand.iter().map(|rule| ("-".to_owned(), rule.to_string()));
    let lines: Vec<(String, String)> = consents.chain(by_hand).collect();
    let wide = lines.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
    for (id, rule) in &lines {
        if !result.line(&out::hanging(&format!("{id:<wide$} "), &safe::line(rule, WORDS)))? {
            break;
        }
    }
    if lines.is_empty() {
        out::note("there are no standing consents");
    }
    Ok(0)
}

/// `majordomo approve rules rm`.
pub async fn rm(id: &str, flags: &Flags) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    let state = store.installation().await?;
    let fitting: Vec<&Consent> =
        state.consents.iter().filter(|consent| !id.is_empty() && consent.id.starts_with(id)).collect();
    let consent = match fitting.as_slice() {
        [consent] => *consent,
        [] => {
            return Err(Failure::usage(format!(
                "no standing consent is called '{}'; `majordomo approve rules ls` lists them",
                safe::line(id, WORDS)
            )));
        }
        several => {
            let names: Vec<&str> = several.iter().map(|consent| &*consent.id).collect();
            return Err(Failure::usage(format!("'{id}' may be any of {}", names.join(", "))));
        }
    };
    let revoked = InstallationEvent::ConsentRevoked { id: consent.id.clone() };
    store.record(revoked, out::now()).await?;
    store.close().await;
    let rule = safe::line(&rules::rule_of(consent).to_string(), WORDS);
    out::note(&format!("taken back: {rule}"));
    Ok(0)
}

fn object(rule: &Rule) -> Value {
    json!({
        "id": rule.origin,
        "tool": rule.tool,
        "pattern": rule.pattern,
        "agent": rule.agent,
        "action": rule.action.to_string(),
        "origin": rule.origin,
    })
}
