//! Schemas in the shape that generators of clients take: words as a plain `enum`, and each kind of an object under a name of its own.
//!
//! The schemas of our types say each word of an enum with its description, and each kind of a tagged type in place. Both are right, and
//! generators make nameless types of them, or warn. Here the words stay and their descriptions move into the text; the kinds get
//! names, and a tagged type says by which field they are told apart.

use serde_json::{Map, Value, json};

/// All schemas, with plain enums and named kinds.
pub(super) fn named(mut schemas: Map<String, Value>) -> Map<String, Value> {
    schemas.values_mut().for_each(plain_enums);
    let mut kinds = Map::new();
    for (name, schema) in &mut schemas {
        name_kinds(name, schema, &mut kinds);
    }
    for (name, kind) in kinds {
        let taken = schemas.insert(name.clone(), kind);
        assert!(taken.is_none(), "two schemas are named {name}");
    }
    schemas
}

/// Makes a plain `enum` of every choice between words.
fn plain_enums(schema: &mut Value) {
    match schema {
        Value::Array(list) => list.iter_mut().for_each(plain_enums),
        Value::Object(object) => {
            object.values_mut().for_each(plain_enums);
            let Some(words) = object.get("oneOf").and_then(words) else { return };
            object.remove("oneOf");
            object.insert("type".to_owned(), json!("string"));
            let told: Vec<String> =
                words.iter().filter_map(|(word, says)| Some(format!("- `{word}`: {}", (*says).as_deref()?))).collect();
            if !told.is_empty() {
                let about = object.get("description").and_then(Value::as_str).unwrap_or_default();
                let about = format!("{about}\n\n{}", told.join("\n"));
                object.insert("description".to_owned(), json!(about.trim_start()));
            }
            let words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
            object.insert("enum".to_owned(), json!(words));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The words of a choice and what is said of each; none where it is a choice between other things.
fn words(choice: &Value) -> Option<Vec<(String, Option<String>)>> {
    let mut all = Vec::new();
    for one in choice.as_array()? {
        let says = one.get("description").and_then(Value::as_str).map(str::to_owned);
        match (one.get("const"), one.get("enum").and_then(Value::as_array)) {
            (Some(Value::String(word)), _) => all.push((word.clone(), says)),
            (None, Some(list)) => {
                for word in list {
                    all.push((word.as_str()?.to_owned(), says.clone()));
                }
            }
            _ => return None,
        }
    }
    Some(all)
}

/// Gives each kind of a tagged type a name, and puts a reference in its place. Fields that all kinds have are said with each.
fn name_kinds(name: &str, schema: &mut Value, kinds: &mut Map<String, Value>) {
    let Some(mut choice) = schema.get("oneOf").and_then(Value::as_array).cloned() else { return };
    let shared =
        schema.as_object_mut().and_then(|schema| Some((schema.remove("properties")?, schema.remove("required"))));
    if let Some(schema) = schema.as_object_mut().filter(|_| shared.is_some()) {
        schema.remove("type");
    }
    let mut by_type = Map::new();
    for kind in choice.iter_mut().filter(|kind| kind.get("properties").is_some()) {
        if let Some((fields, required)) = &shared {
            add_fields(kind, fields, required.as_ref());
        }
        let tag = kind.pointer("/properties/type/const").and_then(Value::as_str).map(str::to_owned);
        let word = match &tag {
            Some(tag) => tag.clone(),
            None => name_row(kind, kinds),
        };
        let named = format!("{name}{}", pascal(&word));
        let reference = reference(&named);
        if let Some(tag) = tag {
            kind["properties"]["type"]["description"] = json!("Which kind it is.");
            by_type.insert(tag, json!(reference));
        }
        kinds.insert(named, std::mem::replace(kind, json!({ "$ref": reference })));
    }
    schema["oneOf"] = Value::Array(choice);
    if !by_type.is_empty() {
        schema["discriminator"] = json!({ "propertyName": "type", "mapping": by_type });
    }
}

/// Adds fields that all kinds have to one of them.
fn add_fields(kind: &mut Value, fields: &Value, required: Option<&Value>) {
    for (field, told) in fields.as_object().into_iter().flatten() {
        if kind["properties"].get(field).is_none() {
            kind["properties"][field] = told.clone();
        }
    }
    let mut all = kind["required"].as_array().cloned().unwrap_or_default();
    for field in required.and_then(Value::as_array).into_iter().flatten() {
        if !all.contains(field) {
            all.push(field.clone());
        }
    }
    kind["required"] = Value::Array(all);
}

/// Gives a name to what is in the one field of a kind: the row. The field's name.
fn name_row(kind: &mut Value, kinds: &mut Map<String, Value>) -> String {
    let says = kind["description"].clone();
    let field = kind["properties"].as_object().and_then(|fields| fields.keys().next().cloned()).unwrap_or_default();
    let row = &mut kind["properties"][&field];
    if row.get("properties").is_some() {
        let name = format!("{}Row", pascal(&field));
        let mut inner = std::mem::replace(row, json!({ "$ref": reference(&name) }));
        inner["description"] = says.clone();
        kinds.insert(name, inner);
    }
    if row["description"].is_null() {
        row["description"] = says;
    }
    field
}

fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// `sub_agent_start` as `SubAgentStart`.
fn pascal(word: &str) -> String {
    let mut all = String::new();
    for part in word.split('_') {
        let mut letters = part.chars();
        all.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        all.push_str(letters.as_str());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: Value) -> Map<String, Value> {
        named([("Thing".to_owned(), schema)].into_iter().collect())
    }

    #[test]
    fn words_with_descriptions_become_a_plain_enum() {
        let choice = json!({"description": "A thing.", "oneOf": [
            {"type": "string", "const": "one", "description": "The first."},
            {"type": "string", "enum": ["two", "three"]},
        ]});
        let thing = &of(choice)["Thing"];
        assert_eq!(thing["enum"], json!(["one", "two", "three"]));
        assert_eq!(thing["type"], "string");
        assert_eq!(thing["description"], "A thing.\n\n- `one`: The first.");
        assert_eq!(thing.get("oneOf"), None);
    }

    #[test]
    fn kinds_that_are_told_apart_by_a_field_get_names() {
        let kinds = json!({"oneOf": [
            {"type": "object", "properties": {"type": {"type": "string", "const": "sub_agent_start"}}, "required": ["type"]},
        ]});
        let all = of(kinds);
        assert_eq!(all["Thing"]["oneOf"], json!([{"$ref": "#/components/schemas/ThingSubAgentStart"}]));
        assert_eq!(
            all["Thing"]["discriminator"]["mapping"]["sub_agent_start"],
            "#/components/schemas/ThingSubAgentStart"
        );
        assert_eq!(all["ThingSubAgentStart"]["properties"]["type"]["const"], "sub_agent_start");
    }

    #[test]
    fn fields_that_all_kinds_have_are_said_with_each() {
        let kinds = json!({
            "type": "object",
            "properties": {"seq": {"type": "integer"}},
            "required": ["seq"],
            "oneOf": [{"type": "object", "properties": {"type": {"type": "string", "const": "text"}}, "required": ["type"]}],
        });
        let all = of(kinds);
        assert_eq!(all["Thing"].get("properties"), None);
        assert_eq!(all["ThingText"]["properties"]["seq"]["type"], "integer");
        assert_eq!(all["ThingText"]["required"], json!(["type", "seq"]));
    }

    #[test]
    fn what_is_in_the_one_field_of_a_kind_gets_a_name_too() {
        let kinds = json!({"oneOf": [{
            "type": "object",
            "description": "What was asked.",
            "properties": {"prompt": {"type": "object", "properties": {"text": {"type": "string"}}}},
            "required": ["prompt"],
        }]});
        let all = of(kinds);
        assert_eq!(all["ThingPrompt"]["properties"]["prompt"]["$ref"], "#/components/schemas/PromptRow");
        assert_eq!(all["PromptRow"]["properties"]["text"]["type"], "string");
        assert_eq!(all["PromptRow"]["description"], "What was asked.");
    }
}
