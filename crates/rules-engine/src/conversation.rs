//! The conversation as the engine reads it: requests, tool calls, their results, and answers.
//!
//! Results are read as the one JSON object that every tool of the household returns, also inside fences and notices.
//! Text in a result is data and stays a value of that object.

use std::sync::Arc;

use agent::message::{Message, Origin, Part};
use serde_json::Value;

/// One request and everything that followed it.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    /// The words of the request: of a person, or of a brief.
    pub said: String,
    /// Calls in their order.
    pub calls: Vec<ToolCall>,
}

/// One call and its result.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    pub name: Arc<str>,
    pub input: Value,
    /// None while it is awaited.
    pub result: Option<CallResult>,
}

/// What a call came back with.
#[derive(Clone, Debug)]
pub(super) struct CallResult {
    pub is_error: bool,
    /// The object, if there is one.
    pub data: Value,
    /// The result as it stands.
    pub text: String,
}

/// The turns of a conversation, the current one last.
pub(super) fn turns(messages: &[Message]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut ids: Vec<(agent::CallId, usize, usize)> = Vec::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Text { text, origin: Origin::Person | Origin::Brief | Origin::Steer } => {
                turns.push(Turn { said: text.to_string(), ..Turn::default() });
            }
            Part::ToolCall { id, name, input } => {
                if turns.is_empty() {
                    turns.push(Turn::default());
                }
                let turn = turns.len() - 1;
                ids.push((id.clone(), turn, turns[turn].calls.len()));
                turns[turn].calls.push(ToolCall { name: Arc::clone(name), input: input.value(), result: None });
            }
            Part::ToolResult { id, content, is_error } => {
                if let Some((_, turn, call)) = ids.iter().rev().find(|(known, ..)| known == id) {
                    let outcome =
                        CallResult { is_error: *is_error, data: object_in(content), text: content.to_string() };
                    turns[*turn].calls[*call].result = Some(outcome);
                }
            }
            Part::Text { .. } | Part::Attached(_) | Part::Opaque { .. } => {}
        }
    }
    turns
}

/// The first JSON object that begins a line; null where there is none.
pub(super) fn object_in(text: &str) -> Value {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    starts
        .map(|at| &text[at..])
        .filter(|rest| rest.starts_with('{'))
        .find_map(|rest| serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok())
        .unwrap_or(Value::Null)
}

impl Turn {
    /// The call that was made last, and its result.
    pub fn last(&self) -> Option<(&str, &Value, &CallResult)> {
        let called = self.calls.last()?;
        Some((&called.name, &called.input, called.result.as_ref()?))
    }

    /// The object of the last good result of a tool.
    pub fn found(&self, tool: &str) -> Option<&Value> {
        let of_tool = self.calls.iter().rev().filter(|called| &*called.name == tool);
        of_tool.filter_map(|called| called.result.as_ref()).find(|result| !result.is_error).map(|result| &result.data)
    }
}

#[cfg(test)]
mod tests {
    use agent::{CallId, Json};

    use super::*;

    #[test]
    fn results_are_read_out_of_their_fences() {
        let fenced = agent::context::fenced("mail", r#"{"mails": [{"subject": "a\n{\"b\": 1}"}], "total": 1}"#);
        assert_eq!(object_in(&fenced)["total"], 1);
        assert_eq!(object_in("{\"a\": 1}\n(ignored arguments: x)")["a"], 1);
        assert_eq!(object_in("no object here"), Value::Null);
    }

    #[test]
    fn a_turn_is_a_request_with_its_calls_and_their_results() {
        let call = Part::ToolCall { id: CallId::new("1"), name: "look".into(), input: Json::object() };
        let result = Part::ToolResult { id: CallId::new("1"), content: "{\"a\": 1}".into(), is_error: false };
        let messages = [
            Message::user("first", Origin::Person),
            Message { role: agent::message::Role::Assistant, parts: vec![call] },
            Message { role: agent::message::Role::User, parts: vec![result] },
            Message::user("a notice", Origin::Program),
            Message::user("second", Origin::Person),
        ];
        let turns = turns(&messages);
        assert_eq!(turns.iter().map(|turn| turn.said.as_str()).collect::<Vec<_>>(), ["first", "second"]);
        assert_eq!(turns[0].found("look").map(|data| data["a"].clone()), Some(1.into()));
        assert!(turns[1].calls.is_empty());
    }
}
