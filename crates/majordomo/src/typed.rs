//! An answer as a value of a type: the schema that is asked for, and the way back.

use agent::{Json, Outcome, Report};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::staff::Error;

/// The field of the object around an answer that is no object itself: providers accept only objects.
const FIELD: &str = "answer";

/// What is asked for in order to have a `T`.
pub(crate) struct Wanted {
    pub(crate) schema: Json,
    is_wrapped: bool,
}

/// The JSON Schema of a type, as it is sent to a model.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("$schema");
    }
    schema
}

impl Wanted {
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let mut schema = schema_of::<T>();
        let is_wrapped = schema["type"] != "object" || schema.get("properties").is_none();
        if is_wrapped {
            // References lead to the definitions at the root, wherever they stand.
            let definitions = schema.as_object_mut().and_then(|fields| fields.remove("$defs"));
            schema = json!({
                "type": "object",
                "properties": { FIELD: schema },
                "required": [FIELD],
                "additionalProperties": false,
            });
            if let Some(definitions) = definitions {
                schema["$defs"] = definitions;
            }
        }
        Self { schema: Json::of(&schema), is_wrapped }
    }

    /// The value in a report, or an error that says how the run ended instead.
    pub(crate) fn read<T: DeserializeOwned>(&self, report: Report) -> Result<T, Error> {
        #[derive(Deserialize)]
        struct Wrapped<T> {
            answer: T,
        }
        if report.outcome != Outcome::Completed {
            return Err(Error::Ended(report.into()));
        }
        let text = report.data.as_ref().map_or_else(|| report.text.trim(), Json::text);
        let read = match self.is_wrapped {
            true => serde_json::from_str::<Wrapped<T>>(text).map(|wrapped| wrapped.answer),
            false => serde_json::from_str(text),
        };
        read.map_err(|source| Error::Answer { type_name: std::any::type_name::<T>(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct City {
        name: String,
        inhabitants: u32,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    enum Verdict {
        Yes,
        No,
    }

    fn report(text: &str) -> Report {
        let mut report = Report::empty(Outcome::Completed, "");
        report.text = text.into();
        report.data = Json::parse(text).ok();
        report
    }

    #[test]
    fn a_struct_is_asked_for_as_it_is() {
        let wanted = Wanted::of::<City>();
        assert_eq!(wanted.schema.value()["properties"]["name"]["type"], "string");
        let city: City = wanted.read(report(r#"{"name": "Lyon", "inhabitants": 500000}"#)).expect("a city");
        assert_eq!(city, City { name: "Lyon".into(), inhabitants: 500_000 });
    }

    #[test]
    fn what_is_no_object_is_asked_for_in_one() {
        let wanted = Wanted::of::<Vec<City>>();
        let schema = wanted.schema.value();
        assert_eq!((&schema["type"], &schema["properties"]["answer"]["type"]), (&json!("object"), &json!("array")));
        assert!(schema["$defs"]["City"].is_object(), "references still lead somewhere: {schema}");
        let cities: Vec<City> = wanted.read(report(r#"{"answer": []}"#)).expect("a list");
        assert!(cities.is_empty());
        assert_eq!(Wanted::of::<Verdict>().read::<Verdict>(report(r#"{"answer": "Yes"}"#)).unwrap(), Verdict::Yes);
    }

    #[test]
    fn an_answer_of_another_shape_names_the_type() {
        let error = Wanted::of::<City>().read::<City>(report(r#"{"name": 7}"#)).unwrap_err();
        assert!(error.to_string().contains("City"), "{error}");
        let ended = Wanted::of::<City>().read::<City>(Report::empty(Outcome::Timeout, "the time is over")).unwrap_err();
        assert_eq!(ended.to_string(), "the run ended without an answer (timeout): the time is over");
    }
}
