//! `ask_user`: a question to the person, where there is one.
//!
//! It asks for knowledge, not for permission: what an answer allows is decided by the rules and by nobody's words.

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
    question: String,
    #[serde(default, alias = "options", deserialize_with = "args::list")]
    choices: Vec<String>,
}

impl Tool for AskUser {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let Call { args, ignored } = match Call::<Args>::read(input, &self.info.name, EXAMPLE) {
                Ok(call) => call,
                Err(wrong) => return wrong,
            };
            let Some(person) = &context.person else { return ToolResult::error(NOBODY) };
            let answer = tokio::select! {
                biased;
                () = context.stop.cancelled() => return ToolResult::error("stopped before an answer came"),
                answer = person.ask(context.thread.as_str(), &args.question, &args.choices) => answer,
            };
            ignored.named_in(match answer {
                Some(answer) => ToolResult::ok(answer),
                None => ToolResult::error(NOBODY),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::context::Person;
    use crate::tool::test_support::TestWorkspace;

    /// Answers with the first choice, or leaves.
    struct Polite;

    impl Person for Polite {
        fn ask(&self, who: &str, question: &str, choices: &[String]) -> BoxFuture<'_, Option<String>> {
            let answer = choices.first().map(|choice| format!("{who}: {question} {choice}"));
            Box::pin(async { answer })
        }
    }

    /// Never answers.
    struct Away;

    impl Person for Away {
        fn ask(&self, _: &str, _: &str, _: &[String]) -> BoxFuture<'_, Option<String>> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test]
    async fn the_answer_is_the_persons_own_words() {
        let mut room = TestWorkspace::with(&[]);
        room.context.person = Some(Arc::new(Polite));
        let result = room.ok(tool(), r#"{"question": "Tea?", "choices": ["yes", "no"]}"#).await;
        assert_eq!(&*result.content, "20260115-k3f9: Tea? yes");
    }

    #[tokio::test]
    async fn nobody_there_is_said_at_once() {
        let mut room = TestWorkspace::with(&[]);
        assert_eq!(room.error(tool(), r#"{"question": "Tea?"}"#).await, NOBODY);
        room.context.person = Some(Arc::new(Polite));
        assert_eq!(room.error(tool(), r#"{"question": "Tea?"}"#).await, NOBODY);
    }

    #[tokio::test]
    async fn a_stop_takes_the_question_back() {
        let mut room = TestWorkspace::with(&[]);
        room.context.person = Some(Arc::new(Away));
        let stop = room.context.stop.clone();
        let (said, ()) = tokio::join!(room.error(tool(), r#"{"question": "Tea?"}"#), async move { stop.cancel() });
        assert_eq!(said, "stopped before an answer came");
    }
}
