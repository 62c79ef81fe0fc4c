//! Whether an answer fits the JSON Schema that was asked for.

use std::sync::Arc;

use agent::Json;
use agent::message::Part;
use agent::model::{Answer, StopReason};

use crate::error::Error;

/// Whether a schema can be used at all.
pub fn check(schema: &Json) -> Result<(), Error> {
    jsonschema::validator_for(&schema.value()).map(|_| ()).map_err(|error| Error::Schema(error.to_string()))
}

/// The first thing in a value that does not fit a schema, with its place; none when it fits.
pub fn misfit(schema: &Json, value: &serde_json::Value) -> Option<Arc<str>> {
    let validator = match jsonschema::validator_for(&schema.value()) {
        Ok(validator) => validator,
        Err(error) => return Some(format!("the schema cannot be used: {error}").into()),
    };
    let error = validator.iter_errors(value).next()?;
    let at = error.instance_path().to_string();
    Some(if at.is_empty() { error.to_string().into() } else { format!("{error} (at {at})").into() })
}

/// Why a final answer does not fit; none when it does, or when it is not final. `begun` are the pieces before it, where it goes
/// on with an answer that was cut off.
pub fn answer_misfit(schema: &Json, begun: &str, answer: &Answer) -> Option<Arc<str>> {
    if answer.stop == StopReason::MaxTokens {
        return None;
    }
    let mut text = begun.to_owned();
    for part in &answer.parts {
        match part {
            Part::Text { text: more, .. } => text.push_str(more),
            Part::ToolCall { .. } => return None,
            Part::ToolResult { .. } | Part::Attached(_) | Part::Opaque { .. } => {}
        }
    }
    let value = match serde_json::from_str(text.trim()) {
        Ok(value) => value,
        Err(error) => return Some(format!("it is not JSON ({error})").into()),
    };
    misfit(schema, &value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent::message::Origin;

    fn answer(text: &str) -> Answer {
        let parts = vec![Part::Text { text: text.into(), origin: Origin::Model }];
        Answer { parts, stop: StopReason::EndTurn, tokens: None, malformed: Vec::new(), cut_call: None }
    }

    #[test]
    fn an_answer_fits_or_the_first_misfit_is_named() {
        let schema =
            Json::parse(r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#).unwrap();
        assert_eq!(answer_misfit(&schema, "", &answer(r#" {"n": 3} "#)), None);
        assert!(answer_misfit(&schema, "", &answer("three")).unwrap().contains("not JSON"));
        assert!(answer_misfit(&schema, "", &answer(r#"{"n": "3"}"#)).unwrap().contains("/n"));
    }

    #[test]
    fn an_answer_in_pieces_is_looked_at_once_it_is_whole() {
        let schema = Json::parse(r#"{"type":"array","items":{"type":"integer"}}"#).unwrap();
        let first = Answer { stop: StopReason::MaxTokens, ..answer("[1, 2,") };
        assert_eq!(answer_misfit(&schema, "", &first), None);
        assert_eq!(answer_misfit(&schema, "[1, 2,", &answer(" 3]")), None);
        assert!(answer_misfit(&schema, "", &answer(" 3]")).is_some());
    }

    #[test]
    fn a_schema_that_is_none_is_refused_before_the_run() {
        assert!(check(&Json::parse(r#"{"type": "nonsense"}"#).unwrap()).is_err());
        assert!(check(&Json::parse(r#"{"type": "object"}"#).unwrap()).is_ok());
    }
}
