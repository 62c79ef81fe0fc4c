//! What is on the wire: one frame, one line of JSON, `type` first.
//!
//! Every frame carries `type`, `seq`, `timestamp`, `run`, `thread` and `agent`; then, where it is about something that happens
//! inside an agent, `parent_tool_use_id`: the call by which that agent was started, null at the top (KATA-2). Then its own fields.
//! Fields are only ever added. How frames come about is [`crate::Frames`]' business.
//!
//! Absent: `task_created`, `task_updated` and `task_completed`, which events of boards tell of (`crates/majordomo`). Streamed text, which no log holds, is in `streamed`.

use std::sync::Arc;

use agent::approval::{ApprovalId, ApprovalKind, Question, Scope};
use agent::message::Offer;
use agent::model::CallErrorKind;
use agent::tools::Risk;
use agent::{CallId, Json, Mode, Outcome, Report, State, ThreadId, Time};
use serde::{Serialize, Serializer};

use crate::{AttachedFile, Notice, Totals, clock};

/// One frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Its number; grows strictly within a root and all its descendants. On SSE it is the `id`.
    pub seq: u64,
    /// When it happened.
    pub at: Time,
    /// The root thread.
    pub run: ThreadId,
    /// The thread it is about.
    pub thread: ThreadId,
    /// The agent that this thread plays.
    pub agent: Arc<str>,
    /// The parent's call that this thread answers; none at the top.
    pub parent_tool_use_id: Option<CallId>,
    /// What it says.
    pub body: Body,
}

/// What a frame says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Body {
    /// `run_started`: a root took up a message.
    RunStarted {
        /// The run's number within the thread, from 1.
        number: u32,
        /// The person's words.
        prompt: Arc<str>,
        /// The model.
        model: Option<Arc<str>>,
        /// Images and documents that came with the words.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<AttachedFile>,
    },
    /// `thread_created`: a thread came to be.
    ThreadCreated {
        /// What it is called on screens.
        name: Arc<str>,
        /// The thread that started it.
        parent: Option<ThreadId>,
        /// The model.
        model: Arc<str>,
        /// What it may do.
        mode: Mode,
        /// The preset it was started with.
        preset: Arc<str>,
        /// The folder it works in.
        workspace: Arc<str>,
    },
    /// `agent_start`: an agent begins to work (ORION-10).
    AgentStart {},
    /// `agent_delegate`: an agent hands work to another.
    AgentDelegate {
        /// The agent that hands it over.
        from: Arc<str>,
        /// The agent that takes it.
        to: Arc<str>,
        /// The call that asked for it.
        tool_use_id: CallId,
        /// The child's thread; children of one delegation share their `tool_use_id` and differ in this.
        sub_agent_id: ThreadId,
        /// What the child is called on screens.
        sub_agent_name: Arc<str>,
        /// What it is asked to do.
        goal: Arc<str>,
        /// Whether the parent goes on without waiting.
        background: bool,
        /// What was asked for and not given, in words.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        narrowed: Vec<Arc<str>>,
    },
    /// `agent_complete`: a sub-agent is over, however it ended.
    AgentComplete {
        /// How it ended.
        outcome: Outcome,
    },
    /// `agent_resume`: an agent takes up its work again with what its sub-agents reported.
    AgentResume {},
    /// `thinking`: what a model thought before it spoke, where it shows that. It is no part of the answer.
    Thinking {
        /// The thoughts.
        content: String,
    },
    /// `text`: one whole message of an agent.
    Text {
        /// The words.
        content: String,
        /// What a person may answer: the words say it too, and interfaces can show it as choices.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        offers: Vec<Offer>,
    },
    /// `done`: the run is over, with every descendant. The last frame of a run.
    Done(Done),
    /// `sub_agent_queued`: a child waits for a permit.
    SubAgentQueued(ChildBegin),
    /// `sub_agent_start`: a child begins.
    SubAgentStart(ChildBegin),
    /// `sub_agent_complete`: a child ended with a result that can be built upon.
    SubAgentComplete(ChildEnd),
    /// `sub_agent_error`: a child ended in any other way.
    SubAgentError(ChildEnd),
    /// `tool_start`: a call is carried out.
    ToolStart {
        /// The call.
        tool_use_id: CallId,
        /// The tool.
        tool_name: Arc<str>,
        /// Its arguments, as the model wrote them.
        input: Json,
        /// The agent that the call starts.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_slug: Option<Arc<str>>,
    },
    /// `tool_result`: a call has its result. The only frame of a call that was refused.
    ToolResult {
        /// The call.
        tool_use_id: CallId,
        /// The tool.
        tool_name: Arc<str>,
        /// What the model is given.
        output: Arc<str>,
        /// Whether it failed or was refused.
        is_error: bool,
        /// How long the tool ran; none where it did not.
        duration_ms: Option<u64>,
        /// The agent that the call started.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_slug: Option<Arc<str>>,
    },
    /// `validation_required`: a person is asked whether a call may be made, or what the agent wants to know (ZILEO-25).
    ValidationRequired {
        /// `approval`, or `question`.
        kind: ApprovalKind,
        /// The question's name, by which it is decided.
        validation_id: ApprovalId,
        /// The call that waits.
        tool_use_id: CallId,
        /// The tool.
        tool_name: Arc<str>,
        /// Its arguments, exactly as they will be used.
        input: Json,
        /// What a decision is bound to.
        digest: Arc<str>,
        /// The names on the way to the one who asks, root first.
        path: Vec<Arc<str>>,
        /// The folder it works in.
        workspace: Arc<str>,
        /// The rule or the mode that wants a person to decide.
        why: Arc<str>,
        /// What it would do, in a sentence.
        effect: Arc<str>,
        /// How much to think before saying yes.
        risk_level: Risk,
        /// Protected places that it would change.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        protected: Vec<Arc<str>>,
        /// Whether the agent has read untrusted text.
        foreign: bool,
        /// The pattern that consent for more than once would cover; null where such consent is not offered.
        standing: Option<Arc<str>>,
        /// What the agent wants to know; left out where it asks for consent.
        #[serde(skip_serializing_if = "Option::is_none")]
        question: Option<Question>,
        /// When it counts as refused.
        expires_at: String,
    },
    /// `validation_resolved`: a question is answered, or no longer asked (ZILEO-26).
    ValidationResolved {
        /// `approval`, or `question`.
        kind: ApprovalKind,
        /// Which.
        validation_id: ApprovalId,
        /// The call that waited.
        tool_use_id: CallId,
        /// `approved`, `answered`, `denied`, `forbidden`, `expired`, `unanswered` or `withdrawn`.
        decision: &'static str,
        /// How far consent goes.
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<Scope>,
        /// The arguments that a person put in the place of the agent's.
        #[serde(skip_serializing_if = "Option::is_none")]
        input: Option<Json>,
        /// Why, or the rule that would have allowed it.
        reason: Option<Arc<str>>,
        /// What a person answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<Arc<str>>,
    },
    /// `steered`: a message to an agent while it works.
    Steered {
        /// Who.
        from: Arc<str>,
        /// The words.
        content: Arc<str>,
    },
    /// `stalled`: an agent was silent for a while.
    Stalled {
        /// For how long.
        silent_ms: u64,
        /// What it waits for.
        waiting_for: Arc<str>,
    },
    /// `usage`: what was used so far; after each answer of the model.
    Usage {
        /// The turn that was answered.
        turn: u32,
        /// By the thread, and by its tree.
        #[serde(flatten)]
        totals: Totals,
        /// Whether any of these figures is an estimate: reserved for a request whose answer was lost, or ours because the provider
        /// reported none.
        estimated: bool,
        /// Whether the price of a model of the tree is not known; its use is not part of the money then.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        price_unknown: bool,
    },
    /// `budget_warning`: most of a grant is used up.
    BudgetWarning {
        /// Which limit.
        limit: Arc<str>,
        /// How much of it is used.
        percent: u32,
    },
    /// `budget_exceeded`: a limit was reached, and the agent ends.
    BudgetExceeded {
        /// Which limit, in a sentence.
        reason: Arc<str>,
    },
    /// `retry`: the model is asked again.
    Retry {
        /// Which turn.
        turn: u32,
        /// The attempt that failed, from 1; none where its process went away.
        attempt: Option<u32>,
        /// The model that is asked.
        model: Option<Arc<str>>,
        /// What went wrong; none where its process went away.
        kind: Option<CallErrorKind>,
        /// What went wrong, in a sentence.
        message: Arc<str>,
        /// How long it waits before.
        in_ms: u64,
    },
    /// `state`: what an agent is doing; whenever that changes.
    State {
        /// One of nine words.
        state: State,
    },
    /// `error`: something failed for good.
    Error {
        /// The kind of cause.
        kind: Arc<str>,
        /// Why, in a sentence.
        message: Arc<str>,
    },
    /// `notification`: something that a person may want to know.
    Notification {
        /// Which.
        kind: Notice,
        /// In a sentence.
        message: String,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Done {
    /// How.
    pub outcome: Outcome,
    /// What the root says.
    pub answer: Arc<str>,
    /// Structured data, where a schema was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
    /// The exit code of the command.
    pub exit_code: u8,
    /// Why it ended so; of a completed run only what needed approval and did not get it.
    pub reason: Option<Arc<str>>,
    /// What the run used.
    pub usage: Totals,
    /// From its beginning to its end.
    pub duration_ms: u64,
    /// What was still open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Arc<str>>,
    /// Rules that would have allowed what policy refused for want of a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<Arc<str>>,
}

/// The child that a frame is about (ZILEO-22).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Child {
    /// The root thread.
    pub workflow_id: ThreadId,
    /// The parent's thread.
    pub parent_agent_id: Option<ThreadId>,
    /// The child's thread.
    pub sub_agent_id: ThreadId,
    /// What it is called on screens.
    pub sub_agent_name: Arc<str>,
    /// The names on the way to it, root first.
    pub path: Vec<Arc<str>>,
    /// The parent's call that asked for it.
    pub tool_use_id: Option<CallId>,
}

/// A child that waits or begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChildBegin {
    /// Which.
    #[serde(flatten)]
    pub child: Child,
    /// Its turn, from 1: each message that it answers after its first report begins another.
    pub turn: u32,
    /// What it is asked to do.
    pub goal: Option<Arc<str>>,
}

/// A child that is over.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChildEnd {
    /// Which.
    #[serde(flatten)]
    pub child: Child,
    /// The turn that is over.
    pub turn: u32,
    /// With what.
    pub data: ChildData,
}

/// What a child hands back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChildData {
    /// How it ended.
    pub outcome: Outcome,
    /// What it says.
    pub report: Arc<str>,
    /// Why it did not complete; none when it did.
    pub error: Option<Arc<str>>,
    /// What it took, itself.
    pub metrics: Metrics,
    /// What it and its tree used.
    pub usage: Totals,
    /// Files it read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<Arc<str>>,
    /// Files that it and its tree wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<Arc<str>>,
    /// What was still open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Arc<str>>,
}

/// What a child took, without its own children.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// From its beginning to its report.
    pub duration_ms: u64,
    /// Prompt tokens, however they were billed.
    pub tokens_input: u64,
    /// Generated tokens.
    pub tokens_output: u64,
    /// Tool calls, denied ones included.
    pub tool_calls: u32,
    /// Money, in dollars.
    pub cost_usd: f64,
}

impl Frame {
    /// The frame's `type`.
    pub fn kind(&self) -> &'static str {
        self.body.kind()
    }

    /// The frame as one line of JSON, without the line's end.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a frame holds only text, numbers and JSON")
    }
}

impl Body {
    /// Every `type` that a fold of the log can yield.
    pub const KINDS: [&str; 26] = [
        "run_started",
        "thread_created",
        "agent_start",
        "agent_delegate",
        "agent_complete",
        "agent_resume",
        "thinking",
        "text",
        "done",
        "sub_agent_queued",
        "sub_agent_start",
        "sub_agent_complete",
        "sub_agent_error",
        "tool_start",
        "tool_result",
        "validation_required",
        "validation_resolved",
        "steered",
        "stalled",
        "usage",
        "budget_warning",
        "budget_exceeded",
        "retry",
        "state",
        "error",
        "notification",
    ];

    /// The `type` that it goes under.
    pub fn kind(&self) -> &'static str {
        match self {
            Body::RunStarted { .. } => "run_started",
            Body::ThreadCreated { .. } => "thread_created",
            Body::AgentStart {} => "agent_start",
            Body::AgentDelegate { .. } => "agent_delegate",
            Body::AgentComplete { .. } => "agent_complete",
            Body::AgentResume {} => "agent_resume",
            Body::Thinking { .. } => "thinking",
            Body::Text { .. } => "text",
            Body::Done(_) => "done",
            Body::SubAgentQueued(_) => "sub_agent_queued",
            Body::SubAgentStart(_) => "sub_agent_start",
            Body::SubAgentComplete(_) => "sub_agent_complete",
            Body::SubAgentError(_) => "sub_agent_error",
            Body::ToolStart { .. } => "tool_start",
            Body::ToolResult { .. } => "tool_result",
            Body::ValidationRequired { .. } => "validation_required",
            Body::ValidationResolved { .. } => "validation_resolved",
            Body::Steered { .. } => "steered",
            Body::Stalled { .. } => "stalled",
            Body::Usage { .. } => "usage",
            Body::BudgetWarning { .. } => "budget_warning",
            Body::BudgetExceeded { .. } => "budget_exceeded",
            Body::Retry { .. } => "retry",
            Body::State { .. } => "state",
            Body::Error { .. } => "error",
            Body::Notification { .. } => "notification",
        }
    }

    /// Whether it is about something inside an agent, rather than about the agent as a whole.
    ///
    /// Only then does the frame name its parent call: a frame about a child carries that call as its own `tool_use_id`,
    /// and a reader who groups by these ids must never find a call that is its own parent.
    fn is_inside(&self) -> bool {
        match self {
            Body::RunStarted { .. }
            | Body::ThreadCreated { .. }
            | Body::AgentStart {}
            | Body::AgentDelegate { .. }
            | Body::AgentComplete { .. }
            | Body::AgentResume {}
            | Body::Done(_)
            | Body::SubAgentQueued(_)
            | Body::SubAgentStart(_)
            | Body::SubAgentComplete(_)
            | Body::SubAgentError(_) => false,
            Body::Thinking { .. }
            | Body::Text { .. }
            | Body::ToolStart { .. }
            | Body::ToolResult { .. }
            | Body::ValidationRequired { .. }
            | Body::ValidationResolved { .. }
            | Body::Steered { .. }
            | Body::Stalled { .. }
            | Body::Usage { .. }
            | Body::BudgetWarning { .. }
            | Body::BudgetExceeded { .. }
            | Body::Retry { .. }
            | Body::State { .. }
            | Body::Error { .. }
            | Body::Notification { .. } => true,
        }
    }
}

impl ChildData {
    /// What the wire says of a report.
    pub fn of(report: &Report) -> Self {
        let own = &report.usage;
        Self {
            outcome: report.outcome,
            report: report.text.clone(),
            error: report.reason.clone(),
            metrics: Metrics {
                duration_ms: report.duration_ms,
                tokens_input: own.tokens.prompt(),
                tokens_output: own.tokens.output,
                tool_calls: own.tool_calls,
                cost_usd: own.cost_microusd as f64 / 1e6,
            },
            usage: Totals { own: *own, tree: report.tree },
            files_read: report.files_read.clone(),
            files_modified: report.files_modified.clone(),
            unfinished: report.unfinished.clone(),
        }
    }
}

impl Serialize for Frame {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            r#type: &'static str,
            seq: u64,
            timestamp: String,
            run: &'a ThreadId,
            thread: &'a ThreadId,
            agent: &'a str,
            // The outer option leaves the field out, the inner one makes it null.
            #[serde(skip_serializing_if = "Option::is_none")]
            parent_tool_use_id: Option<Option<&'a CallId>>,
            #[serde(flatten)]
            body: &'a Body,
        }
        let line = Line {
            r#type: self.kind(),
            seq: self.seq,
            timestamp: clock::timestamp(self.at),
            run: &self.run,
            thread: &self.thread,
            agent: &self.agent,
            parent_tool_use_id: self.body.is_inside().then_some(self.parent_tool_use_id.as_ref()),
            body: &self.body,
        };
        line.serialize(serializer)
    }
}
