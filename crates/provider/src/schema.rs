//! The JSON Schema of an answer, as the wires take it: closed where nothing is said, and as words for models that take none.
//!
//! Anthropic's narrower form is in its own folder. The runtime checks every answer against the schema as it was given.

use agent::Json;
use serde_json::{Map, Value};

/// Keywords that every server takes which holds a model strictly to a schema.
const STRICT: [&str; 12] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "description",
    "title",
];

/// Keywords below which names of fields are keys, and not keywords.
const BY_NAME: [&str; 3] = ["properties", "$defs", "definitions"];

/// The schema with every object closed that does not say what else it takes, and whether a server may be asked to hold the model
/// strictly to it: that takes a schema in which every field is required.
pub(crate) fn closed(schema: &Json) -> (Json, bool) {
    let mut value = schema.value();
    each(&mut value, &mut close);
    let mut is_strict = value["type"] == "object";
    each(&mut value, &mut |fields| is_strict &= takes_strictly(fields));
    (Json::of(&value), is_strict)
}

/// An object with named fields has no others, unless it says so.
pub(crate) fn close(fields: &mut Map<String, Value>) {
    let is_object = fields.get("type").and_then(Value::as_str) == Some("object") || fields.contains_key("properties");
    if is_object && !fields.contains_key("additionalProperties") {
        fields.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

/// What a model is told that takes no schema.
pub(crate) fn words(schema: &Json) -> String {
    format!(
        "Answer with one JSON value and nothing else: no words around it, no Markdown. It must fit this JSON Schema:\n{}",
        schema.text()
    )
}

/// A text without the Markdown fence around all of it, which models put there that take no schema.
pub(crate) fn unfenced(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    let inner = inner.strip_prefix("json").or_else(|| inner.strip_prefix("JSON")).unwrap_or(inner);
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(inner).is_ok();
    is_json.then(|| inner.trim())
}

/// Calls `visit` for a schema and all schemas in it.
fn each(value: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| each(value, visit)),
        Value::Object(fields) => {
            visit(fields);
            for (key, below) in fields.iter_mut() {
                match (BY_NAME.contains(&key.as_str()), below) {
                    (true, Value::Object(named)) => named.values_mut().for_each(|value| each(value, visit)),
                    // Values, not schemas.
                    _ if ["enum", "const", "default", "required", "examples"].contains(&key.as_str()) => {}
                    (_, below) => each(below, visit),
                }
            }
        }
        _ => {}
    }
}

fn takes_strictly(fields: &mut Map<String, Value>) -> bool {
    let is_known = fields.keys().all(|key| STRICT.contains(&key.as_str()));
    let is_closed = fields.get("additionalProperties").is_none_or(|more| *more == Value::Bool(false));
    let is_object = fields.get("type").is_some_and(|kind| kind == "object");
    let required = fields.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let named = fields.get("properties").and_then(Value::as_object);
    let is_required = |name: &String| required.iter().any(|it| it == name.as_str());
    let is_whole = named.map_or(!is_object, |named| named.keys().all(is_required));
    is_known && is_closed && is_whole
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_at_every_depth_unless_they_say_what_else_they_take() {
        let schema = json!({
            "type": "object",
            "properties": {
                "list": { "type": "array", "items": { "type": "object", "properties": { "a": { "type": "string" } } } },
                "map": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["list", "map"],
        });
        let (closed, is_strict) = closed(&Json::of(&schema));
        let mut expected = schema;
        expected["additionalProperties"] = json!(false);
        expected["properties"]["list"]["items"]["additionalProperties"] = json!(false);
        assert_eq!((closed.value(), is_strict), (expected, false));
    }

    #[test]
    fn a_schema_is_strict_where_every_field_is_required_and_nothing_else_is_said() {
        let object =
            |field: Value, required: Value| json!({"type": "object", "properties": {"a": field}, "required": required});
        for (schema, is_strict) in [
            (object(json!({"type": "string"}), json!(["a"])), true),
            (object(json!({"enum": ["x", {"not": "a schema"}]}), json!(["a"])), true),
            (object(json!({"type": "string"}), json!([])), false),
            (object(json!({"type": "string", "minLength": 1}), json!(["a"])), false),
            (object(json!({"type": "object"}), json!(["a"])), false),
            (json!({"type": "array", "items": {"type": "string"}}), false),
        ] {
            assert_eq!(closed(&Json::of(&schema)).1, is_strict, "{schema}");
        }
    }

    #[test]
    fn a_fence_is_taken_off_json_and_off_nothing_else() {
        assert_eq!(unfenced("```json\n{\"a\": 1}\n```\n"), Some("{\"a\": 1}"));
        assert_eq!(unfenced("```\n[1]\n```"), Some("[1]"));
        for text in ["{\"a\": 1}", "```rust\nfn main() {}\n```", "so: ```{}```", "```json\n{\n```"] {
            assert_eq!(unfenced(text), None, "{text}");
        }
    }
}
