//! What the model says, by the number of answers it has given: a root hands out as many subtasks as its prompt names, or starts
//! as many sub-agents one by one, and then sums up; a sub-agent calls its tool three times and then reports.

use std::fmt::Write;

/// The tool that sub-agents call.
pub const TOOL: &str = "look";

/// Tool calls of a sub-agent before its report.
pub const CALLS: usize = 3;

/// The words in a root's prompt before the number of its sub-agents.
const MARK: &str = "the number of sub-agents is ";

/// The same for a root that starts each of them by a call of its own.
const SPAWN_MARK: &str = "the number of rooms is ";

/// The same for a root whose sub-agents are all [`LISTER`].
const SEND_MARK: &str = "the number of rooms elsewhere is ";

/// The agent that such sub-agents play.
pub const LISTER: &str = "lister";

/// The words in the task of a sub-agent that was started so.
const LIST_MARK: &str = "List the folders of room ";

/// The folders that such a sub-agent lists, one after the other.
pub const FOLDERS: [&str; CALLS] = [".", "kitchen", "kitchen/shelf"];

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
    /// A root that starts so many sub-agents by a call each.
    Spawner(usize),
    /// A root that starts so many of another agent.
    Sender(usize),
    /// A sub-agent of either.
    Lister,
}

impl Who {
    /// The name of its kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root(_) => "root",
            Self::Child => "child",
            Self::Spawner(_) => "spawner",
            Self::Sender(_) => "sender",
            Self::Lister => "lister",
        }
    }
}

/// What a root is told.
pub fn prompt(children: usize) -> String {
    format!("Hand this out to sub-agents and sum up what they say; {MARK}{children}.")
}

/// What a root is told that starts each sub-agent by a call of its own.
pub fn spawn_prompt(children: usize) -> String {
    format!("Start a sub-agent for each room and sum up what they say; {SPAWN_MARK}{children}.")
}

/// What a root is told that starts sub-agents which are another agent.
pub fn send_prompt(children: usize) -> String {
    format!("Send an agent to each room and sum up what they say; {SEND_MARK}{children}.")
}

impl Asked {
    /// Reads the body of a request.
    pub fn read(body: &str) -> Self {
        let number = |mark: &str| {
            let (_, rest) = body.split_once(mark)?;
            Some(rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().unwrap_or(0))
        };
        let lister = || body.contains(LIST_MARK).then_some(Who::Lister);
        let spawner = || number(SPAWN_MARK).map(Who::Spawner).or_else(|| number(SEND_MARK).map(Who::Sender));
        // A root reads the tasks that it gave: its own mark comes before theirs.
        let who = number(MARK).map(Who::Root).or_else(spawner).or_else(lister).unwrap_or(Who::Child);
        Self { who, turn: body.matches(r#""role":"assistant""#).count() }
    }

    /// The answer, as a stream of events.
    pub fn answer(self) -> String {
        match self {
            Self { who: Who::Root(children), turn: 0 } => call("hand_out", "delegate_task", &subtasks(children)),
            Self { who: Who::Spawner(children), turn: 0 } => spawns(children, ""),
            Self { who: Who::Sender(children), turn: 0 } => spawns(children, &format!(r#","agent":"{LISTER}""#)),
            Self { who: Who::Lister, turn } if turn < CALLS => {
                call(&format!("list_{turn}"), "list_dir", &format!(r#"{{"path":"{}"}}"#, FOLDERS[turn]))
            }
            Self { who: Who::Root(_) | Who::Spawner(_) | Who::Sender(_), .. } => {
                words("All of them have looked, and all is well.")
            }
            Self { who: Who::Child, turn } if turn < CALLS => {
                call(&format!("look_{turn}"), TOOL, &format!(r#"{{"at":"shelf {turn}"}}"#))
            }
            Self { who: Who::Child | Who::Lister, .. } => words(REPORT),
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

/// An answer that starts so many sub-agents, each by a call of its own with these further arguments.
fn spawns(children: usize, further: &str) -> String {
    let mut stream = String::new();
    event(&mut stream, r#"{"role":"assistant","content":null}"#, "null");
    for child in 0..children {
        let opening = format!(
            r#"{{"tool_calls":[{{"index":{child},"id":"start_{child}","type":"function","function":{{"name":"spawn_agent","arguments":""}}}}]}}"#
        );
        event(&mut stream, &opening, "null");
        let arguments =
            serde_json::Value::from(format!(r#"{{"task":"{LIST_MARK}{child} and say what is there"{further}}}"#));
        let piece = format!(r#"{{"tool_calls":[{{"index":{child},"function":{{"arguments":{arguments}}}}}]}}"#);
        event(&mut stream, &piece, "null");
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
        let spawner = format!(r#"{{"messages":[{{"content":"{}"}},{{"content":"{LIST_MARK}3"}}]}}"#, spawn_prompt(7));
        assert_eq!(Asked::read(&spawner), Asked { who: Who::Spawner(7), turn: 0 });
        let sender = format!(r#"{{"messages":[{{"content":"{}"}},{{"content":"{LIST_MARK}3"}}]}}"#, send_prompt(8));
        assert_eq!(Asked::read(&sender), Asked { who: Who::Sender(8), turn: 0 });
        let lister = format!(r#"{{"messages":[{{"content":"{LIST_MARK}3"}}]}}"#);
        assert_eq!(Asked::read(&lister), Asked { who: Who::Lister, turn: 0 });
    }

    #[test]
    fn every_event_of_every_answer_is_json() {
        let roots = [Who::Root(3), Who::Spawner(3), Who::Sender(3)].into_iter().flat_map(|who| [(who, 0), (who, 1)]);
        let children = [(Who::Child, 0), (Who::Child, CALLS), (Who::Lister, 0), (Who::Lister, CALLS)];
        let asked = roots.chain(children);
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
