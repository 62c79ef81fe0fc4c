//! `todo`: the agent's own list of what is to be done, replaced whole by every call.
//!
//! Nothing is kept here: the list is the last call's result, and that is in the log.

use agent::tools::{Reach, Risk, ToolResult};
use serde::Deserialize;

use crate::args;
use crate::context::ToolContext;
use crate::error::Error;
use crate::text;
use crate::tool::{BlockingTool, Tool, info};

const MAX_ITEMS: usize = 100;
const MAX_CHARS: usize = 500;

pub(crate) fn tool() -> impl Tool {
    BlockingTool {
        info: info("todo", DESCRIPTION, SCHEMA, Reach::Own, true, Risk::Low),
        example: r#"{"items": [{"text": "write the test", "state": "doing"}, {"text": "run it", "state": "open"}]}"#,
        act,
    }
}

const DESCRIPTION: &str = "Keep your list of steps for work with several parts. Each call gives the whole list anew.";

const SCHEMA: &str = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"state":{"enum":["open","doing","done"]}},"required":["text","state"]}}},"required":["items"]}"#;

#[derive(Deserialize)]
struct Args {
    #[serde(alias = "todos", deserialize_with = "args::list")]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(alias = "content", alias = "title")]
    text: String,
    #[serde(default, alias = "status")]
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    #[default]
    #[serde(alias = "pending", alias = "todo")]
    Open,
    #[serde(alias = "in_progress")]
    Doing,
    #[serde(alias = "completed")]
    Done,
}

fn act(args: &Args, _: &ToolContext) -> Result<ToolResult, Error> {
    if args.items.len() > MAX_ITEMS {
        return Ok(ToolResult::error(format!("todo takes at most {MAX_ITEMS} items; put several steps into one")));
    }
    let done = args.items.iter().filter(|item| item.state == State::Done).count();
    let mut said = format!("{done} of {} done", args.items.len());
    for item in &args.items {
        let mark = match item.state {
            State::Open => ' ',
            State::Doing => '~',
            State::Done => 'x',
        };
        said.push_str(&format!("\n[{mark}] {}", text::clip(item.text.trim(), MAX_CHARS)));
    }
    Ok(ToolResult::ok(said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::test_support::TestWorkspace;

    #[tokio::test]
    async fn the_list_comes_back_as_it_will_be_shown() {
        let room = TestWorkspace::with(&[]);
        let list = r#"{"items": [{"text": "look", "state": "done"}, {"text": "do", "status": "in_progress"}, {"text": "tell"}]}"#;
        assert_eq!(&*room.ok(tool(), list).await.content, "1 of 3 done\n[x] look\n[~] do\n[ ] tell");
        assert_eq!(&*room.ok(tool(), r#"{"items": []}"#).await.content, "0 of 0 done");
    }

    #[tokio::test]
    async fn a_list_that_is_wrong_or_too_long_is_refused() {
        let room = TestWorkspace::with(&[]);
        let said = room.error(tool(), r#"{"items": [{"text": "x", "state": "lost"}]}"#).await;
        assert!(said.contains("unknown variant `lost`") && said.contains("Call it like this: todo"), "{said}");
        let many = serde_json::json!({"items": vec![serde_json::json!({"text": "x"}); 101]});
        assert!(room.error(tool(), &many.to_string()).await.contains("at most 100 items"));
    }
}
