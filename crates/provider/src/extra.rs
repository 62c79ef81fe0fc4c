//! Further fields of a request that a user has set (`body`): which of them can be set on a wire, and how they come into a body.
//!
//! A body never holds a key twice. A field that the program writes too is replaced by the user's, member by member where both are
//! objects. The fields without which a request is not what was computed with are the program's own, and setting one is an error.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::config::Wire;
use crate::history::fragment;

/// What the program says about one of its own fields: which setting there is for it.
const NO_SETTING: &str = "Majordomo writes this field itself";
const LIMIT: &str = "set `max_output_tokens` of the model";
const WINDOW: &str = "set `context_tokens` of the model";
const SCHEMA: &str = "Majordomo writes this field itself, from the schema of the answer (`--schema`)";
const SPELLING: &str = "write the name as the API does, in camel case";

/// A field by the names on the way to it, and what to do in the place of setting it.
type Own = (&'static [&'static str], &'static str);

const ANTHROPIC: &[Own] = &[
    (&["model"], NO_SETTING),
    (&["messages"], NO_SETTING),
    (&["system"], NO_SETTING),
    (&["tools"], NO_SETTING),
    (&["tool_choice"], NO_SETTING),
    (&["stream"], NO_SETTING),
    (&["max_tokens"], LIMIT),
    (&["output_config", "format"], SCHEMA),
];

const OPENAI: &[Own] = &[
    (&["model"], NO_SETTING),
    (&["messages"], NO_SETTING),
    (&["tools"], NO_SETTING),
    (&["tool_choice"], NO_SETTING),
    (&["stream"], NO_SETTING),
    (&["stream_options", "include_usage"], NO_SETTING),
    (&["max_tokens"], LIMIT),
    (&["max_completion_tokens"], LIMIT),
    (&["response_format"], SCHEMA),
];

const RESPONSES: &[Own] = &[
    (&["model"], NO_SETTING),
    (&["input"], NO_SETTING),
    (&["instructions"], NO_SETTING),
    (&["tools"], NO_SETTING),
    (&["tool_choice"], NO_SETTING),
    (&["stream"], NO_SETTING),
    (&["include"], NO_SETTING),
    (&["max_output_tokens"], LIMIT),
    (&["text", "format"], SCHEMA),
];

const GEMINI: &[Own] = &[
    (&["contents"], NO_SETTING),
    (&["systemInstruction"], NO_SETTING),
    (&["tools"], NO_SETTING),
    (&["toolConfig"], NO_SETTING),
    (&["generationConfig", "maxOutputTokens"], LIMIT),
    (&["generationConfig", "responseMimeType"], SCHEMA),
    (&["generationConfig", "responseJsonSchema"], SCHEMA),
    (&["generationConfig", "responseSchema"], SCHEMA),
    // The API takes these names too, and would then read the same field twice.
    (&["system_instruction"], NO_SETTING),
    (&["tool_config"], NO_SETTING),
    (&["generation_config"], SPELLING),
    (&["generationConfig", "max_output_tokens"], LIMIT),
    (&["generationConfig", "response_mime_type"], SCHEMA),
    (&["generationConfig", "response_json_schema"], SCHEMA),
    (&["generationConfig", "response_schema"], SCHEMA),
    (&["generationConfig", "thinking_config"], SPELLING),
];

const OLLAMA: &[Own] = &[
    (&["model"], NO_SETTING),
    (&["messages"], NO_SETTING),
    (&["tools"], NO_SETTING),
    (&["stream"], NO_SETTING),
    (&["truncate"], NO_SETTING),
    (&["shift"], NO_SETTING),
    (&["format"], SCHEMA),
    (&["options", "num_ctx"], WINDOW),
    (&["options", "num_predict"], LIMIT),
];

/// Fields of these names that hold an object in the program's own bodies: anything else in their place would lose what is in it.
const OBJECTS: [&str; 5] = ["output_config", "stream_options", "text", "generationConfig", "options"];

/// Why one of the fields cannot be set on a wire: its name, and what to do instead.
pub(crate) fn refused(wire: Wire, fields: &BTreeMap<String, Value>) -> Option<(String, &'static str)> {
    let own = match wire {
        Wire::Anthropic => ANTHROPIC,
        Wire::OpenAi => OPENAI,
        Wire::Responses => RESPONSES,
        Wire::Gemini => GEMINI,
        Wire::Ollama => OLLAMA,
    };
    let holds = |path: &[&str]| match path {
        [field] => fields.contains_key(*field),
        [field, member] => fields.get(*field).is_some_and(|value| value.get(member).is_some()),
        _ => false,
    };
    if let Some((path, cure)) = own.iter().find(|(path, _)| holds(path)) {
        return Some((path.join("."), cure));
    }
    let (field, _) = fields.iter().find(|(field, value)| {
        let is_object = own.iter().any(|(path, _)| path.len() > 1 && path[0] == **field);
        is_object && OBJECTS.contains(&field.as_str()) && !value.is_object()
    })?;
    Some((field.clone(), "it holds an object"))
}

/// A body with the user's fields in it.
pub(crate) fn with(body: Vec<u8>, fields: &BTreeMap<String, Value>) -> Vec<u8> {
    if fields.is_empty() {
        return body;
    }
    let Members(mut members) = serde_json::from_slice(&body).expect("a body is an object of JSON");
    for (name, value) in fields {
        match members.iter_mut().find(|(field, _)| field == name) {
            Some((_, present)) => {
                let both = serde_json::from_str(present.get()).map(|mut both| {
                    replace(&mut both, value);
                    both
                });
                *present = raw(&both.unwrap_or_else(|_| value.clone()));
            }
            None => members.push((name.clone(), raw(value))),
        }
    }
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{}", fragment(name), value.get())).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).expect("a value is JSON")
}

/// Puts a value in the place of another, member by member where both are objects.
fn replace(present: &mut Value, value: &Value) {
    match (present, value) {
        (Value::Object(present), Value::Object(value)) => {
            for (name, value) in value {
                replace(present.entry(name).or_insert(Value::Null), value);
            }
        }
        (present, value) => *present = value.clone(),
    }
}

/// The members of an object in their order, each as it is written.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> BTreeMap<String, Value> {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn a_field_that_is_there_is_replaced_and_one_that_is_not_is_added() {
        let body = br#"{"model":"m","temperature":0.5,"options":{"num_ctx":1.50,"top_k":1},"messages":[1.0]}"#.to_vec();
        let extra = fields(json!({"temperature": 0.7, "options": {"top_k": 2, "top_p": 0.9}, "seed": 7}));
        let text = String::from_utf8(with(body.clone(), &extra)).expect("text");
        assert_eq!(
            text,
            r#"{"model":"m","temperature":0.7,"options":{"num_ctx":1.5,"top_k":2,"top_p":0.9},"messages":[1.0],"seed":7}"#
        );
        assert_eq!(with(body.clone(), &BTreeMap::new()), body);
    }

    #[test]
    fn the_programs_own_fields_cannot_be_set_and_the_error_says_what_to_set() {
        for (wire, extra, field, cure) in [
            (Wire::OpenAi, json!({"messages": []}), "messages", "writes this field itself"),
            (Wire::OpenAi, json!({"max_tokens": 1}), "max_tokens", "max_output_tokens"),
            (
                Wire::OpenAi,
                json!({"stream_options": {"include_usage": false}}),
                "stream_options.include_usage",
                "itself",
            ),
            (Wire::Responses, json!({"text": {"format": {}}}), "text.format", "--schema"),
            (Wire::Anthropic, json!({"output_config": 1}), "output_config", "an object"),
            (
                Wire::Gemini,
                json!({"generationConfig": {"maxOutputTokens": 1}}),
                "generationConfig.maxOutputTokens",
                "max_",
            ),
            (Wire::Gemini, json!({"generation_config": {}}), "generation_config", "camel case"),
            (Wire::Ollama, json!({"options": {"num_ctx": 1}}), "options.num_ctx", "context_tokens"),
        ] {
            let (refused, said) = refused(wire, &fields(extra)).expect("refused");
            assert_eq!(refused, field, "{wire:?}");
            assert!(said.contains(cure), "{wire:?} {field}: {said}");
        }
        for (wire, extra) in [
            (Wire::OpenAi, json!({"temperature": 1, "top_p": 0.5, "stream_options": {"include_obfuscation": false}})),
            (Wire::Responses, json!({"text": {"verbosity": "low"}, "reasoning": {"effort": "none"}, "input_file": 1})),
            (Wire::Anthropic, json!({"output_config": {"effort": "max"}, "top_k": 1})),
            (Wire::Gemini, json!({"generationConfig": {"topK": 1}, "safetySettings": []})),
            (Wire::Ollama, json!({"options": {"top_k": 1}, "keep_alive": "10m"})),
        ] {
            assert_eq!(refused(wire, &fields(extra)), None, "{wire:?}");
        }
    }
}
