//! The types of requests as the official libraries publish them, as JSON Schemas (`types/`): every request that the server sees must
//! be valid against them, whatever else is wrong or right with it. A field that the types do not have is an error.
//!
//! Each schema names the library and the version that it was written from. `cargo xtask test --with-servers` compares it with that version
//! (`tests/servers/published_types.py`).

use std::sync::OnceLock;

use jsonschema::Validator;
use provider::Wire;
use serde_json::Value;

use super::strict::{Checked, bad};

/// Refuses a request that the published types do not allow.
pub(super) fn check(wire: Wire, body: &Value) -> Checked {
    match validator(wire).iter_errors(body).next() {
        None => Ok(()),
        Some(error) => {
            let (place, error) = (error.instance_path().to_string(), error.to_string());
            let error: String = error.chars().take(400).collect();
            Err(bad(format!("the published types of this API do not allow {place}: {error}")))
        }
    }
}

fn validator(wire: Wire) -> &'static Validator {
    static VALIDATORS: [OnceLock<Validator>; Wire::ALL.len()] = [const { OnceLock::new() }; Wire::ALL.len()];
    let (nth, schema) = written(wire);
    VALIDATORS[nth].get_or_init(|| {
        let schema: Value = serde_json::from_str(schema).expect("a schema is JSON");
        jsonschema::validator_for(&schema).expect("a schema can be read")
    })
}

/// The schema of a wire, and its place among all.
fn written(wire: Wire) -> (usize, &'static str) {
    match wire {
        Wire::Anthropic => (0, include_str!("types/anthropic.json")),
        Wire::OpenAi => (1, include_str!("types/openai.json")),
        Wire::Responses => (2, include_str!("types/responses.json")),
        Wire::Gemini => (3, include_str!("types/gemini.json")),
        Wire::Ollama => (4, include_str!("types/ollama.json")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_schema_names_the_library_and_the_version_that_it_was_written_from() {
        for wire in Wire::ALL {
            let schema: Value = serde_json::from_str(written(wire).1).expect("a schema is JSON");
            let source = &schema["x-source"];
            let version = source["version"].as_str().unwrap_or_default().trim_start_matches('v');
            let is_named = source["library"].as_str().is_some_and(|library| !library.is_empty());
            assert!(is_named && version.starts_with(|c: char| c.is_ascii_digit()), "{wire:?}: {source}");
        }
    }

    #[test]
    fn a_field_that_the_types_do_not_have_is_an_error_on_every_wire() {
        let hello = json!([{"role": "user", "content": "hello"}]);
        for (wire, good) in [
            (Wire::Anthropic, json!({"model": "m", "max_tokens": 1, "stream": true, "messages": hello})),
            (Wire::OpenAi, json!({"model": "m", "stream": true, "messages": hello})),
            (Wire::Responses, json!({"model": "m", "stream": true, "input": hello})),
            (Wire::Gemini, json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]})),
            (Wire::Ollama, json!({"model": "m", "messages": hello})),
        ] {
            assert!(check(wire, &good).is_ok(), "{wire:?}");
            let mut bad = good.clone();
            bad["nonsense"] = json!(1);
            let refused = check(wire, &bad).expect_err("no such field").message;
            assert!(refused.contains("nonsense"), "{wire:?}: {refused}");
            let said =
                ["messages", "input", "contents"].into_iter().find(|key| good.get(key).is_some()).expect("words");
            let mut bad = good;
            bad[said][0]["nonsense"] = json!(1);
            let refused = check(wire, &bad).expect_err("no such field").message;
            assert!(refused.contains(&format!("/{said}")), "{wire:?}: {refused}");
        }
    }
}
