//! What the rules know about a tool: its name, its words for the model, and how far it reaches.
//!
//! What a tool does is the business of `crates/tool`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::message::Attachment;

/// The tool by which an agent asks a person a question: the rules ask it, and the tool runs only where nobody can answer.
pub const ASK_USER: &str = "ask_user";

/// Tools that touch no folder, besides the verbs by which agents are started: an agent with no others works on any machine. The tools that
/// read the web are of `crates/web`.
pub const WITHOUT_FOLDER: [&str; 3] = [ASK_USER, "web_fetch", "web_search"];

/// The tool by which files are read: a rule that denies it a file denies that file to every tool.
pub const READ_FILE: &str = "read_file";

/// The tool by which commands are run: a rule that denies or asks is compared with what a command does.
pub const RUN_COMMAND: &str = "run_command";

/// The tool by which tools are called that are not shown in each request: a call of it is a call of the tool that it names.
pub const CALL_TOOL: &str = "call_tool";

/// The tool by which those tools are found.
pub const FIND_TOOLS: &str = "find_tools";

/// What is between the name of a server and that of its tool.
pub const SERVER_SEPARATOR: &str = "__";

/// The call that the arguments of a call of [`CALL_TOOL`] name; none where they name none.
pub fn named_call(input: &Json) -> Option<(Arc<str>, Json)> {
    #[derive(Deserialize)]
    struct Named {
        name: Arc<str>,
        #[serde(default)]
        arguments: Option<Json>,
    }
    let Named { name, arguments } = input.read().ok()?;
    let arguments = arguments.unwrap_or_else(Json::object);
    let is_object = arguments.text().trim_start().starts_with('{');
    (is_object && &*name != CALL_TOOL).then_some((name, arguments))
}

/// What is shown in the place of a tool's name while the checks of a brief run. It is no tool that a model could call.
pub const CHECKS: &str = "checks";

/// A tool as it is advertised to a model and judged by the rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// Its name.
    pub name: Arc<str>,
    /// A few words for the model.
    pub description: Arc<str>,
    /// JSON Schema of its arguments.
    pub schema: Json,
    /// How far it reaches.
    pub reach: Reach,
    /// Whether running it a second time with the same arguments does no harm.
    pub idempotent: bool,
    /// How much a person should think before saying yes.
    pub risk: Risk,
}

/// How far a tool reaches, from nothing to everything. The order is the order of caution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// It only looks. It may run beside other calls, and again after a crash.
    ReadOnly,
    /// It writes what belongs to the agent itself: its list, its memory.
    Own,
    /// It writes files of the workspace.
    Workspace,
    /// It asks a server on the network for something and changes nothing; what is asked can carry text out.
    Network,
    /// It may do anything that a program can do.
    World,
}

/// How much a person should think before saying yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Nothing that matters changes.
    Low,
    /// Something changes that can be undone.
    Medium,
    /// Something changes that is hard to undo.
    High,
    /// Something leaves this machine.
    Critical,
}

impl Risk {
    /// One level more.
    #[must_use]
    pub fn raised(self) -> Self {
        match self {
            Risk::Low => Risk::Medium,
            Risk::Medium => Risk::High,
            Risk::High | Risk::Critical => Risk::Critical,
        }
    }

    /// The word used on the wire and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Critical => "critical",
        }
    }
}

/// What one call would do, as far as its arguments tell. Worked out by the tool itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// How far this call reaches.
    pub reach: Reach,
    /// How much a person should think before saying yes to it.
    pub risk: Risk,
    /// What it would do, in one sentence for a person.
    pub effect: Arc<str>,
    /// What rules' patterns are held against, one by one: the path, every simple command.
    pub subjects: Vec<Arc<str>>,
    /// Other names of the same, by which a rule may ask or forbid but never allow.
    pub also: Vec<Arc<str>>,
    /// What it may do besides, where that cannot be told before; see [`UNKNOWN`](crate::permission::UNKNOWN). A rule that denies it
    /// asks, or denies where nothing asks.
    pub perhaps: Vec<Arc<str>>,
    /// Whether the subjects tell all of it, so that a pattern may allow it.
    pub is_plain: bool,
    /// Whether it could be read at all.
    pub is_readable: bool,
    /// Protected places that it would change.
    pub protected: Vec<Arc<str>>,
    /// The pattern that consent for more than once would cover; none where such consent is not offered.
    pub standing: Option<Arc<str>>,
    /// Names the call, its arguments and what they lead to: another digest is another call.
    pub digest: Arc<str>,
}

impl Assessment {
    /// What is known of a call when only its tool is: what the tool declares, on all of its arguments as one subject.
    pub fn of(tool: &ToolInfo, input: &Json) -> Self {
        let name = &tool.name;
        Self {
            reach: tool.reach,
            risk: tool.risk,
            effect: format!("calls {name}").into(),
            subjects: vec![input.text().into()],
            also: Vec::new(),
            perhaps: Vec::new(),
            is_plain: true,
            is_readable: true,
            protected: Vec::new(),
            standing: None,
            digest: format!("{name} {}", input.text()).into(),
        }
    }
}

/// What a tool came back with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model is told.
    pub content: Arc<str>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
    /// Whether a failed call was carried out all the same: a command that ran and exited with another code than 0. Tests that
    /// fail while an agent works on the fix tell it something new each time, so they are no sign of a loop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executed: bool,
    /// Files that were read, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<Arc<str>>,
    /// Files that were written, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<Arc<str>>,
    /// Images and documents that the model is shown with the content.
    #[serde(default, skip_serializing_if = "<[Attachment]>::is_empty")]
    pub attachments: Box<[Attachment]>,
    /// Where the words come from, where that is untrusted: they are fenced for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Arc<str>>,
    /// What was done, by the name that a person's consent was bound to; none where none was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Arc<str>>,
}

impl ToolResult {
    /// A good answer.
    pub fn ok(content: impl Into<Arc<str>>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// A failure, in a sentence that says what to do.
    pub fn error(content: impl Into<Arc<str>>) -> Self {
        Self { content: content.into(), is_error: true, ..Self::default() }
    }

    /// Whether the call came to nothing: it failed, and nothing was carried out.
    pub fn came_to_nothing(&self) -> bool {
        self.is_error && !self.executed
    }
}
