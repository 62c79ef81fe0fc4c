//! What one call works with, handed in by the caller.

use std::path::PathBuf;
use std::sync::Arc;

use agent::sampling::Sampled;
use agent::tools::{Reach, ToolResult};
use agent::{CallId, Json, ThreadId};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::seen_files::SeenFiles;
use crate::workspace::Workspace;

/// What one call works with. Cheap to clone.
#[derive(Clone)]
pub struct ToolContext {
    /// The folder that the tools are confined to.
    pub workspace: Arc<Workspace>,
    /// The thread that calls.
    pub thread: ThreadId,
    /// The call.
    pub call: CallId,
    /// How far the call was judged to reach when it was let through; none where nobody judged it.
    pub reach: Option<Reach>,
    /// Whether a person has approved this very call, by its digest.
    pub is_approved: bool,
    /// What the thread knows of the files: one for all calls of a thread, empty when a thread is loaded again.
    pub seen_files: Arc<SeenFiles>,
    /// Cancelled when the call must end.
    pub stop: CancellationToken,
    /// The folder of our own state, where `memory` keeps its notes; none where nothing may be kept.
    pub data: Option<PathBuf>,
    /// Where fleeting words about a call in progress go.
    pub progress: Option<Progress>,
    /// Whether the thread has read untrusted text: what it writes may then be such text, too.
    pub foreign: bool,
    /// The names of the tools that the thread has.
    pub tools: Arc<[Arc<str>]>,
    /// Makes further calls for the thread, under its permissions; none where there are none to be made.
    pub nested: Option<Arc<dyn Nested>>,
    /// Asks a person on behalf of the call while it is under way; none where nobody can be asked.
    pub asks: Option<Arc<dyn Asks>>,
}

/// Asks a person on behalf of a call that is under way.
pub trait Asks: Send + Sync {
    /// Puts a question where a person finds it, and waits for the answer; none where there will be none.
    fn ask(&self, text: String, choices: Vec<String>) -> BoxFuture<'static, Option<Arc<str>>>;

    /// Asks the model of the agent for the server behind the call, at the agent's expense; or says why it is not asked. `input` is a
    /// [`SamplingRequest`](agent::sampling::SamplingRequest).
    fn sample(&self, server: Arc<str>, input: Json) -> BoxFuture<'static, Result<Sampled, Arc<str>>>;
}

/// Makes calls of other tools on behalf of a call, as if its thread had made them: judged by the same modes and rules.
pub trait Nested: Send + Sync {
    /// Makes a call. One that needs a person's consent is not made without it, and none that a rule forbids.
    fn call(&self, tool: &str, input: Json, consent: PriorConsent) -> BoxFuture<'static, ToolResult>;
}

/// What a person has said about a call before it is made on behalf of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PriorConsent {
    /// Nothing.
    None,
    /// The person wrote it.
    Written,
    /// The person allowed it.
    Allowed {
        /// What it led to then.
        digest: Arc<str>,
    },
}

/// Takes fleeting words, a few times a second at most. Must not block.
pub type Progress = Arc<dyn Fn(&str) + Send + Sync>;

impl ToolContext {
    /// A context that has seen no files, without a data folder and without a receiver of progress.
    pub fn new(workspace: Arc<Workspace>, thread: ThreadId, call: CallId) -> Self {
        Self {
            workspace,
            thread,
            call,
            reach: None,
            is_approved: false,
            seen_files: Arc::default(),
            stop: CancellationToken::new(),
            data: None,
            progress: None,
            foreign: false,
            tools: Arc::default(),
            nested: None,
            asks: None,
        }
    }
}

impl ToolContext {
    /// Whether the thread has a tool.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| **tool == *name)
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext")
            .field("workspace", &self.workspace.root())
            .field("thread", &self.thread)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
