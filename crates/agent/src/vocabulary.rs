//! The words of the verbs: by which names and arguments a model calls them, and how it reads what came of a call.
//!
//! The rules in `turn/` know one set of requests, [`VerbCall`]. A call is translated into it here when it comes in, and its result
//! is translated back here before the model reads it. A preset lists the verbs that it offers (`policy.verbs`), and each verb
//! belongs to one [`Vocabulary`]: a preset is data. Another vocabulary is another file here, and no rule changes for it.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::context;
use crate::event::{Enough, Subtask};
use crate::id::ThreadId;
use crate::input::Strength;
use crate::json::Json;
use crate::policy::ContextMode;
use crate::report::Report;
use crate::thread::{Graph, Slot, Thread};
use crate::tools::ToolResult;
use crate::turn::spawn::{self, ChildRequest, NoRoom};
use crate::verb::{Verb, Vocabulary};

pub(crate) mod arguments;
pub(crate) mod operations;
mod own;
pub(crate) mod task;

use arguments::{ignored_line, ignored_note};

/// What a call of a verb asks for, in whatever words it was written.
pub enum VerbCall {
    /// One sub-agent.
    Start {
        /// What it is to be.
        request: Box<ChildRequest>,
        /// Whether it is made for this one task, and is no agent of the catalogue.
        is_temporary: bool,
    },
    /// The agent to which an intent leads.
    HandOver(HandOver),
    /// A sub-agent for each subtask.
    Split {
        /// What all of them are for.
        plan: Arc<str>,
        /// The subtasks.
        subtasks: Vec<Subtask>,
        /// When the call has its answer.
        enough: Enough,
        /// Arguments that are not known.
        ignored: Vec<String>,
    },
    /// Tells a running sub-agent something, or asks one that has reported something more.
    Message {
        /// Its id or name.
        who: Arc<str>,
        /// What it is told.
        text: Arc<str>,
        /// Whether the answer of one that has reported is not waited for.
        background: bool,
    },
    /// Waits for sub-agents in the background.
    Wait {
        /// Their ids or names; none for all.
        who: Option<Vec<Arc<str>>>,
        /// Whether one of them is enough.
        any: bool,
        /// How long.
        seconds: Option<f64>,
    },
    /// Stops a sub-agent.
    Stop {
        /// Its id or name.
        who: Arc<str>,
        /// How.
        strength: Strength,
        /// What it is told.
        reason: Arc<str>,
    },
    /// Lists agents, sub-agents, or both.
    List(Listed),
}

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// The agents that can be started.
    Agents,
    /// The sub-agents that were started.
    Children,
    /// Both.
    All,
}

/// Work that is handed over, with what its agent should know.
pub struct HandOver {
    /// The agent to which the intent leads (`policy.delegates`).
    pub agent: Arc<str>,
    /// The task; none for what the person said last.
    pub task: Option<Arc<str>>,
    /// People, subjects or ids that it is about.
    pub entities: Option<Vec<Arc<str>>>,
    /// Dates, time spans or deadlines.
    pub time: Option<Arc<str>>,
    /// Why this agent.
    pub reasoning: Arc<str>,
    /// Arguments that are not known.
    pub ignored: Vec<String>,
}

impl VerbCall {
    /// How many places it needs.
    fn places(&self) -> u32 {
        match self {
            Self::Start { .. } | Self::HandOver(_) => 1,
            Self::Split { subtasks, .. } => subtasks.len() as u32,
            Self::Message { .. } | Self::Wait { .. } | Self::Stop { .. } | Self::List(_) => 0,
        }
    }

    /// The arguments that are not known.
    fn ignored(&self) -> &[String] {
        match self {
            Self::Start { request, .. } => &request.ignored,
            Self::HandOver(HandOver { ignored, .. }) | Self::Split { ignored, .. } => ignored,
            Self::Message { .. } | Self::Wait { .. } | Self::Stop { .. } | Self::List(_) => &[],
        }
    }
}

/// Reads a call of the verb `name`. The error is in the words of its vocabulary.
pub fn read(thread: &Thread, name: &str, input: &Json) -> Result<VerbCall, String> {
    let verb = Verb::of(name).ok_or_else(|| format!("{name} is no verb"))?;
    let call = match verb {
        Verb::SpawnAgent => own::spawn_agent(thread, input),
        Verb::DelegateTask => own::delegate_task(input),
        Verb::MessageAgent => own::message_agent(input),
        Verb::WaitAgents => own::wait_agents(input),
        Verb::StopAgent => own::stop_agent(input),
        Verb::ListAgents => Ok(VerbCall::List(Listed::All)),
        Verb::Delegate => own::delegate(&thread.created.policy, input),
        Verb::SpawnAgentTool => operations::spawn(thread, input),
        Verb::DelegateTaskTool => operations::delegate(input),
        Verb::ParallelTasksTool => operations::batch(input),
        Verb::Task => task::task(&thread.created.policy, input),
    };
    call.map_err(|reason| refusal(name, reason))
}

/// Why a call of the verb `name` is refused, in the form of its vocabulary.
pub fn refusal(name: &str, reason: String) -> String {
    match vocabulary(name) {
        Vocabulary::Own => reason,
        Vocabulary::Operations => operations::refusal(&reason),
    }
}

/// Why a call of the verb `name` cannot start a sub-agent.
pub fn no_room(name: &str, why: &NoRoom) -> String {
    match vocabulary(name) {
        Vocabulary::Own => why.to_string(),
        Vocabulary::Operations => operations::no_room(why),
    }
}

/// Looks for places before anything else, where the vocabulary of the verb `name` says so in words of its own. The rules look for
/// them in any case when the sub-agents are accepted.
pub fn check_room(thread: &Thread, name: &str, call: &VerbCall) -> Result<(), String> {
    match (vocabulary(name), call.places()) {
        (Vocabulary::Own, _) | (_, 0) => Ok(()),
        (Vocabulary::Operations, places) => spawn::room(thread, places).map_err(|why| no_room(name, &why)),
    }
}

/// A child's report, as the result of the call that waited for it. `is_good` says whether the call came to what it was for.
pub fn report(
    thread: &Thread,
    slot: &Slot,
    (id, name): (&ThreadId, &str),
    report: &Report,
    is_good: bool,
    narrowed: &[Arc<str>],
) -> ToolResult {
    let call = read(thread, &slot.name, &slot.input).ok();
    let plain = |ignored: &[String]| own::report(id, name, report, narrowed) + &ignored_line(ignored);
    let (content, foreign) = match (vocabulary(&slot.name), &call) {
        (Vocabulary::Operations, Some(call)) => {
            let notes = narrowed.iter().map(ToString::to_string).chain(ignored_note(call.ignored()));
            (operations::shown::child(id, report, is_good, notes.collect()), None)
        }
        (Vocabulary::Own, Some(VerbCall::HandOver(order))) => match thread.created.policy.context {
            ContextMode::Structured => own::handed_back(order, report),
            ContextMode::Brief => (plain(&[]), None),
        },
        (Vocabulary::Own, Some(call)) => (plain(call.ignored()), None),
        (_, None) => (plain(&[]), None),
    };
    ToolResult { is_error: !is_good, foreign, ..ToolResult::ok(content) }
}

/// A report that was there already, as the result of a call of the verb `name` for the same task.
pub fn recalled(name: &str, id: &ThreadId, child: &str, report: &Report) -> String {
    match vocabulary(name) {
        Vocabulary::Own => context::recalled(id, child, report),
        Vocabulary::Operations => {
            let notes = vec!["the same task was done before in this run; this is that report".to_owned()];
            operations::shown::child(id, report, true, notes)
        }
    }
}

/// What came of all subtasks, as the result of the call that asked for them.
pub fn split(thread: &Thread, slot: &Slot, graph: &Graph) -> String {
    match vocabulary(&slot.name) {
        Vocabulary::Own => own::combined(thread, graph),
        Vocabulary::Operations => {
            let call = read(thread, &slot.name, &slot.input).ok();
            let notes = call.and_then(|call| ignored_note(call.ignored())).into_iter().collect();
            operations::shown::batch(thread, graph, notes)
        }
    }
}

/// Agents or sub-agents, as the result of a call of the verb `name`.
pub fn list(thread: &Thread, catalog: &Catalog, name: &str, listed: Listed) -> String {
    match (vocabulary(name), listed) {
        (Vocabulary::Own, _) | (_, Listed::All) => own::list(thread, catalog),
        (Vocabulary::Operations, Listed::Agents) => operations::shown::agents(thread, catalog),
        (Vocabulary::Operations, Listed::Children) => operations::shown::children(thread),
    }
}

fn vocabulary(name: &str) -> Vocabulary {
    Verb::of(name).map_or(Vocabulary::Own, Verb::vocabulary)
}
