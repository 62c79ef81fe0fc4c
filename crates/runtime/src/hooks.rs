//! The moments at which a person's own commands (hooks) are run, and what they can do about them.
//!
//! A hook runs as a part of something that is in the log already: a call that was started, a sub-agent that its parent has spawned, a report
//! that was committed. So its intent is remembered before it runs, its effect is in the result, and reading a log runs no hook. What the
//! commands are, and how they are run, is left to the implementation of [`Sources`](crate::Sources).

use std::sync::Arc;

use agent::event::ThreadCreated;
use agent::{CallId, Json, Mode, Thread, ThreadId};

/// Something that hooks can be run for.
#[derive(Clone, Debug)]
pub struct HookMoment {
    /// The thread.
    pub thread: ThreadId,
    /// Its agent.
    pub agent: Arc<str>,
    /// Its mode.
    pub mode: Mode,
    /// The folder that it works in.
    pub workspace: Arc<str>,
    /// What happens.
    pub kind: HookKind,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum HookKind {
    /// A call that was allowed is about to be carried out. Can be refused.
    BeforeTool {
        /// The call.
        call: CallId,
        /// The tool.
        tool: Arc<str>,
        /// Its arguments.
        input: Json,
        /// Whether a person approved this very call.
        is_approved: bool,
    },
    /// A call was carried out.
    AfterTool {
        /// The call.
        call: CallId,
        /// The tool.
        tool: Arc<str>,
        /// Its arguments.
        input: Json,
        /// What it answered.
        result: Arc<str>,
    },
    /// A sub-agent is about to begin. Can be refused.
    ChildStarts {
        /// Its task.
        task: Arc<str>,
    },
    /// An agent, a sub-agent or a root, says that it is done: a hook that refuses that sends it back to work. Or its run has ended in another way.
    RunEnded {
        /// What it says, or what was reported.
        report: Arc<str>,
        /// Whether a hook has sent it back to work before.
        was_sent_back: bool,
    },
    /// A person is asked.
    PersonAsked {
        /// What about.
        question: Arc<str>,
    },
}

/// What hooks said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookOutcome {
    /// Why it is not done; none where no hook refused it.
    pub refused: Option<Arc<str>>,
    /// What the model is told besides.
    pub told: Option<Arc<str>>,
}

impl HookMoment {
    /// A moment of a thread that lives.
    pub fn of(thread: &Thread, kind: HookKind) -> Self {
        Self { mode: thread.mode, ..Self::new(&thread.created, kind) }
    }

    /// A moment of a thread that begins.
    pub fn new(created: &ThreadCreated, kind: HookKind) -> Self {
        Self {
            thread: created.id.clone(),
            agent: created.role.name.clone(),
            mode: created.mode,
            workspace: created.workspace.clone(),
            kind,
        }
    }
}
