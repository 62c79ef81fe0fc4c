//! The JSON Schema of an answer as this wire accepts it.
//!
//! It refuses a request whose schema holds limits on numbers, lengths or items, or an object without `additionalProperties: false`.
//! What it does not accept is left out here. The runtime checks the answer against the whole schema.

use agent::Json;
use serde_json::Value;

use crate::schema::close;

/// Keywords that the wire refuses.
const REFUSED: [&str; 15] = [
    "$schema",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "contentEncoding",
    "contentMediaType",
];

/// Formats of text that the wire knows.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// Keywords below which names of fields are keys, and not keywords.
const BY_NAME: [&str; 3] = ["properties", "$defs", "definitions"];

/// The schema without what the wire refuses.
pub(super) fn accepted(schema: &Json) -> Json {
    let mut value = schema.value();
    narrow(&mut value);
    Json::of(&value)
}

fn narrow(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(narrow),
        Value::Object(fields) => {
            fields.retain(|key, value| is_accepted(key, value));
            if let Some(variants) = fields.remove("oneOf") {
                fields.insert("anyOf".to_owned(), variants);
            }
            for (key, below) in fields.iter_mut() {
                match (BY_NAME.contains(&key.as_str()), below) {
                    (true, Value::Object(named)) => named.values_mut().for_each(narrow),
                    // Values, not schemas.
                    _ if ["enum", "const", "default", "required"].contains(&key.as_str()) => {}
                    (_, below) => narrow(below),
                }
            }
            close(fields);
        }
        _ => {}
    }
}

fn is_accepted(key: &str, value: &Value) -> bool {
    match key {
        "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        "minItems" => value.as_u64().is_some_and(|least| least <= 1),
        key => !REFUSED.contains(&key),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_are_left_out_and_objects_are_closed_at_every_depth() {
        let schema = Json::of(&json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "minimum": { "type": "integer", "format": "uint32", "minimum": 0, "enum": [1, 2] },
                "when": { "type": "string", "format": "date", "maxLength": 10 },
                "parts": { "type": "array", "minItems": 2, "items": { "$ref": "#/$defs/Part" } },
            },
            "$defs": { "Part": { "oneOf": [{ "type": "object", "properties": {} }, { "type": "null" }] } },
        }));
        assert_eq!(
            accepted(&schema).value(),
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "minimum": { "type": "integer", "enum": [1, 2] },
                    "when": { "type": "string", "format": "date" },
                    "parts": { "type": "array", "items": { "$ref": "#/$defs/Part" } },
                },
                "$defs": {
                    "Part": {
                        "anyOf": [{ "type": "object", "properties": {}, "additionalProperties": false }, { "type": "null" }],
                    },
                },
            })
        );
    }
}
