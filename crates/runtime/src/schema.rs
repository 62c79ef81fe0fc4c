//! Whether an answer fits the JSON Schema that was asked for.

use std::sync::Arc;

use agent::Json;
use agent::message::Part;
use agent::model::Answer;

use crate::error::Error;

/// Whether a schema can be used at all.
pub fn check(schema: &Json) -> Result<(), Error> {
    jsonschema::validator_for(&schema.value()).map(|_| ()).map_err(|error| Error::Schema(error.to_string()))
}

/// Why a final answer does not fit; none when it does, or when it is not final.
pub fn misfit(schema: &Json, answer: &Answer) -> Option<Arc<str>> {
    let mut text = String::new();
    for part in &answer.parts {
        match part {
            Part::Text { text: more, .. } => text.push_str(more),
            Part::ToolCall { .. } => return None,
            Part::ToolResult { .. } | Part::Opaque { .. } => {}
        }
    }
    let value = match serde_json::from_str(text.trim()) {
        Ok(value) => value,
        Err(error) => return Some(format!("it is not JSON ({error})").into()),
    };
    let validator = jsonschema::validator_for(&schema.value()).ok()?;
    let error = validator.iter_errors(&value).next()?;
    let at = error.instance_path().to_string();
    Some(if at.is_empty() { error.to_string().into() } else { format!("{error} (at {at})").into() })
}

#[cfg(test)]
mod tests {
    use agent::message::Origin;
    use agent::model::StopReason;

    use super::*;

    fn answer(text: &str) -> Answer {
        let parts = vec![Part::Text { text: text.into(), origin: Origin::Model }];
        Answer { parts, stop: StopReason::EndTurn, tokens: None, malformed: Vec::new() }
    }

    #[test]
    fn an_answer_fits_or_the_first_misfit_is_named() {
        let schema =
            Json::parse(r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#).unwrap();
        assert_eq!(misfit(&schema, &answer(r#" {"n": 3} "#)), None);
        assert!(misfit(&schema, &answer("three")).unwrap().contains("not JSON"));
        assert!(misfit(&schema, &answer(r#"{"n": "3"}"#)).unwrap().contains("/n"));
    }

    #[test]
    fn a_schema_that_is_none_is_refused_before_the_run() {
        assert!(check(&Json::parse(r#"{"type": "nonsense"}"#).unwrap()).is_err());
        assert!(check(&Json::parse(r#"{"type": "object"}"#).unwrap()).is_ok());
    }
}
