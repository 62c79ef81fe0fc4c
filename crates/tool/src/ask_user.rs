//! `ask_user`: a question to the person. Where a person can answer, the rules ask it as they ask for approval
//! (`agent::approval::Question`), and its answer is the result. The tool runs only where nobody can answer, and for calls
//! without a question.
//!
//! It asks for knowledge, not for permission: what an answer allows is decided by the rules and by no text.

use agent::Json;
use agent::tools::{ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::Deserialize;

use crate::args::{self, Call};
use crate::context::ToolContext;
use crate::tool::{Tool, looks};

const NOBODY: &str = "nobody is there to answer; decide yourself, and say in your answer what you assumed";

pub(crate) fn tool() -> impl Tool {
    AskUser { info: looks("ask_user", DESCRIPTION, SCHEMA) }
}

const DESCRIPTION: &str = "Ask the person a question that only they can answer, and wait.";

const SCHEMA: &str = r#"{"type":"object","properties":{"question":{"type":"string"},"choices":{"type":"array","items":{"type":"string"}}},"required":["question"]}"#;

const EXAMPLE: &str = r#"{"question": "Which database?", "choices": ["SQLite", "PostgreSQL"]}"#;

struct AskUser {
    info: ToolInfo,
}

#[derive(Deserialize)]
struct Args {
    #[serde(rename = "question")]
    _question: String,
    #[serde(rename = "choices", default, alias = "options", deserialize_with = "args::list")]
    _choices: Vec<String>,
}

impl Tool for AskUser {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn run<'a>(&'a self, input: &'a Json, _: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match Call::<Args>::read(input, &self.info.name, EXAMPLE) {
                Ok(_) => ToolResult::error(NOBODY),
                Err(wrong) => wrong,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::test_support::TestWorkspace;

    #[tokio::test]
    async fn nobody_there_is_said_at_once() {
        let room = TestWorkspace::with(&[]);
        assert_eq!(room.error(tool(), r#"{"question": "Tea?", "choices": ["yes", "no"]}"#).await, NOBODY);
    }

    #[tokio::test]
    async fn a_call_without_a_question_is_shown_a_right_one() {
        let room = TestWorkspace::with(&[]);
        let said = room.error(tool(), r#"{"choices": ["yes", "no"]}"#).await;
        assert!(said.contains("question") && said.contains(EXAMPLE), "{said}");
    }
}
