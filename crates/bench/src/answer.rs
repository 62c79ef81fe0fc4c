//! What the model says, by the number of answers it has given: a root hands out as many subtasks as its prompt names and then
//! sums up; a sub-agent calls its tool three times and then reports. Nothing here depends on who asks.

use std::fmt::Write;

/// The tool that sub-agents call.
pub const TOOL: &str = "look";

/// Tool calls of a sub-agent before its report.
pub const CALLS: usize = 3;

/// The words in a root's prompt before the number of its sub-agents.
const MARK: &str = "the number of sub-agents is ";

/// A request, as far as its answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Who asks.
    pub who: Who,
    /// Answers that it was given before.
    pub turn: usize,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A root with so many sub-agents.
    Root(usize),
    /// One of them.
    Child,
}

/// What a root is told.
pub fn prompt(children: usize) -> String {
    format!("Hand this out to sub-agents and sum up what they say; {MARK}{children}.")
}

impl Asked {
    /// Reads the body of a request.
    pub fn read(body: &str) -> Self {
        let number = body.split_once(MARK).map(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next());
        let who = match number {
            Some(digits) => Who::Root(digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)),
            None => Who::Child,
        };
        Self { who, turn: body.matches(r#""role":"assistant""#).count() }
    }

    /// The answer, as a stream of events.
    pub fn answer(self) -> String {
        match self {
            Self { who: Who::Root(children), turn: 0 } => call("hand_out", "delegate_task", &subtasks(children)),
            Self { who: Who::Root(_), .. } => words("All of them have looked, and all is well."),
            Self { who: Who::Child, turn } if turn < CALLS => {
                call(&format!("look_{turn}"), TOOL, &format!(r#"{{"at":"shelf {turn}"}}"#))
            }
            Self { who: Who::Child, .. } => words(REPORT),
        }
    }
}

const REPORT: &str = "I looked at three shelves. The first holds books, the second holds glasses, and the third is empty. \
                      Nothing is broken, nothing is missing, and nothing is left to do.";

fn subtasks(children: usize) -> String {
    let mut subtasks = String::new();
    for child in 0..children {
        let comma = if child == 0 { "" } else { "," };
        let _ = write!(subtasks, r#"{comma}{{"task":"Look at the shelves of room {child} and say what is there"}}"#);
    }
    format!(r#"{{"subtasks":[{subtasks}]}}"#)
}

/// An answer that calls one tool: the call, its arguments in pieces, the end.
fn call(id: &str, name: &str, arguments: &str) -> String {
    let mut stream = String::new();
    let opening = format!(
        r#"{{"role":"assistant","content":null,"tool_calls":[{{"index":0,"id":"{id}","type":"function","function":{{"name":"{name}","arguments":""}}}}]}}"#
    );
    event(&mut stream, &opening, "null");
    let third = arguments.len().div_ceil(3);
    for piece in arguments.as_bytes().chunks(third) {
        let piece = serde_json::Value::from(String::from_utf8_lossy(piece));
        event(&mut stream, &format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{piece}}}}}]}}"#), "null");
    }
    end(stream, "tool_calls")
}

/// An answer in words, a few at a time.
fn words(text: &str) -> String {
    let mut stream = String::new();
    event(&mut stream, r#"{"role":"assistant","content":""}"#, "null");
    for piece in text.as_bytes().chunks(16) {
        let piece = serde_json::Value::from(String::from_utf8_lossy(piece));
        event(&mut stream, &format!(r#"{{"content":{piece}}}"#), "null");
    }
    end(stream, "stop")
}

fn end(mut stream: String, reason: &str) -> String {
    event(&mut stream, "{}", &format!("\"{reason}\""));
    let _ = write!(
        stream,
        "data: {{{HEAD},\"choices\":[],\"usage\":{{\"prompt_tokens\":900,\"completion_tokens\":40,\"total_tokens\":940}}}}\n\n\
         data: [DONE]\n\n"
    );
    stream
}

const HEAD: &str = r#""id":"chatcmpl-1","object":"chat.completion.chunk","created":1768471200,"model":"bench""#;

fn event(stream: &mut String, delta: &str, finish_reason: &str) {
    let _ = write!(
        stream,
        "data: {{{HEAD},\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish_reason}}}]}}\n\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_by_its_prompt_and_by_the_answers_in_it() {
        let root = format!(r#"{{"messages":[{{"role":"user","content":"{}"}}]}}"#, prompt(120));
        assert_eq!(Asked::read(&root), Asked { who: Who::Root(120), turn: 0 });
        let child = r#"{"messages":[{"role":"user","content":"Look"},{"role":"assistant","content":null}]}"#;
        assert_eq!(Asked::read(child), Asked { who: Who::Child, turn: 1 });
    }

    #[test]
    fn every_event_of_every_answer_is_json() {
        let asked = [(Who::Root(3), 0), (Who::Root(3), 1), (Who::Child, 0), (Who::Child, CALLS)];
        for (who, turn) in asked {
            let stream = Asked { who, turn }.answer();
            let events: Vec<&str> = stream.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            let (last, events) = events.split_last().expect("an answer has events");
            assert_eq!(*last, "[DONE]");
            for event in events {
                assert!(serde_json::from_str::<serde_json::Value>(event).is_ok(), "{event}");
            }
        }
    }
}
