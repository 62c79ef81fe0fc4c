//! The one and only input of a sub-agent.

use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::checks::{Checks, Seen};
use crate::context::fenced;

/// What a sub-agent is asked to do. It sees this and nothing of its parent's conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// What to do.
    pub task: Arc<str>,
    /// Files or folders to keep to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Arc<str>>,
    /// What the parent chose to tell besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Arc<str>>,
    /// What the report should hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Arc<str>>,
    /// What must hold before its answer is its report. A JSON Schema is told by the provider, in the words of its wire.
    #[serde(default, skip_serializing_if = "Checks::is_empty")]
    pub checks: Checks,
    /// Whether a person has allowed the commands among them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checks_allowed: bool,
    /// The commands that a person has allowed, as they were then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks_seen: Vec<Seen>,
    /// Files whose content the parent wants it to have from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Arc<str>>,
    /// Those files, as they were when the sub-agent was begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attachment>,
    /// Messages of the parent's conversation that it chose to share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<Shared>,
    /// Results of the subtasks that this one depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<Prior>,
}

/// A file that a sub-agent is given from the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its path.
    pub path: Arc<str>,
    /// Its content, or why there is none.
    pub text: Arc<str>,
}

/// A message of the parent's conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// Who said it: `user` or `assistant`.
    pub from: Arc<str>,
    /// The words.
    pub text: Arc<str>,
}

/// The result of a subtask that another depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// Which subtask, counted from 0 as the model counts them.
    pub index: u32,
    /// What it was asked.
    pub task: Arc<str>,
    /// How it ended.
    pub outcome: crate::report::Outcome,
    /// What it reported.
    pub text: Arc<str>,
}

impl Brief {
    /// A brief of a task alone.
    pub fn task(task: impl Into<Arc<str>>) -> Self {
        Self {
            task: task.into(),
            scope: None,
            context: None,
            expected: None,
            checks: Checks::default(),
            checks_allowed: false,
            checks_seen: Vec::new(),
            files: Vec::new(),
            attached: Vec::new(),
            shared: Vec::new(),
            results: Vec::new(),
        }
    }

    /// The brief as the model reads it: the first user block of every request.
    pub fn text(&self) -> String {
        let mut text = self.task.to_string();
        for (title, part) in [("Scope", &self.scope), ("Context", &self.context), ("Expected", &self.expected)] {
            if let Some(part) = part {
                let _ = write!(text, "\n\n{title}: {part}");
            }
        }
        if !self.checks.commands.is_empty() {
            let commands: Vec<String> = self.checks.commands.iter().map(|command| format!("- {command}")).collect();
            let _ = write!(
                text,
                "\n\nChecks: these commands run when you give your final answer, and must succeed:\n{}",
                commands.join("\n")
            );
        }
        for Shared { from, text: words } in &self.shared {
            let origin = format!("{from} said to the agent that sent you");
            let _ = write!(text, "\n\n{}", fenced(&origin, words));
        }
        for Attachment { path, text: content } in &self.attached {
            let _ = write!(text, "\n\n{}", fenced(&format!("file {path}"), content));
        }
        for Prior { index, task, outcome, text: result } in &self.results {
            let origin = format!("result of subtask {index} ({outcome})");
            let _ = write!(text, "\n\nSubtask {index} was: {task}\n{}", fenced(&origin, result));
        }
        text
    }
}
