//! What is streamed: one line of JSON an event, with its kind in `type`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{AgentState, ApprovalKind, CallErrorKind, Mode, Offer, Outcome, Question, Risk, Scope, TaskFrame};
use view::{AttachedFile, Notice, Totals};

/// One line of a stream.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Event {
    /// Something that is in the log.
    Frame(Box<Frame>),
    /// Streamed text, only where it was asked for.
    Passing(Passing),
    /// Something that happened to a task.
    Task(Box<TaskFrame>),
    /// The last id that was sent is not of this log.
    Reset(Reset),
}

/// Something that is in the log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Frame {
    /// Its number. Grows strictly within a root and all its descendants; gaps are legal.
    pub seq: u64,
    /// When it happened, as in `2026-01-15T10:00:01.000Z`.
    pub timestamp: String,
    /// The root thread.
    pub run: String,
    /// The thread it is about.
    pub thread: String,
    /// The agent that this thread plays.
    pub agent: String,
    /// The parent's call that this thread answers, null at the top; only in frames about the inside of an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_tool_use_id: Option<Option<String>>,
    /// What it says.
    #[serde(flatten)]
    pub what: What,
}

/// What a frame says.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum What {
    /// A root took up a message.
    RunStarted {
        /// The run's number within the thread, from 1.
        number: u32,
        /// The person's words.
        prompt: String,
        /// The model.
        model: Option<String>,
        /// Images and documents that came with the words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<AttachedFile>,
    },
    /// A thread came to be.
    ThreadCreated {
        /// What it is called on screens.
        name: String,
        /// The thread that started it.
        parent: Option<String>,
        /// The model.
        model: String,
        /// What it may do.
        mode: Mode,
        /// The preset it was started with.
        preset: String,
        /// The folder it works in.
        workspace: String,
    },
    /// An agent begins to work.
    AgentStart {},
    /// An agent hands work to another.
    AgentDelegate {
        /// The agent that hands it over.
        from: String,
        /// The agent that takes it.
        to: String,
        /// The call that asked for it.
        tool_use_id: String,
        /// The child's thread.
        sub_agent_id: String,
        /// What the child is called on screens.
        sub_agent_name: String,
        /// What it is asked to do.
        goal: String,
        /// Whether the parent goes on without waiting.
        background: bool,
        /// What was asked for and not given, in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        narrowed: Vec<String>,
    },
    /// A sub-agent is over, however it ended.
    AgentComplete {
        /// How it ended.
        outcome: Outcome,
    },
    /// An agent takes up its work again with what its sub-agents reported.
    AgentResume {},
    /// What a model thought before it spoke, where it shows that. It is no part of the answer.
    Thinking {
        /// The thoughts.
        content: String,
    },
    /// One whole message of an agent.
    Text {
        /// The words.
        content: String,
        /// What a person may answer: the words say it too, and interfaces can show it as choices.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offers: Vec<Offer>,
    },
    /// The run is over, with every descendant. The last frame of a run.
    Done {
        /// How.
        outcome: Outcome,
        /// What the root says.
        answer: String,
        /// Structured data, where a schema was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
        /// The exit code of the command.
        exit_code: u8,
        /// Why it ended so; null when it completed.
        reason: Option<String>,
        /// What the run used.
        usage: Totals,
        /// From its beginning to its end.
        duration_ms: u64,
        /// What was still open.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unfinished: Vec<String>,
        /// Rules that would have allowed what was refused for want of a person.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unanswered: Vec<String>,
    },
    /// A child waits for a permit.
    SubAgentQueued {
        /// Which.
        #[serde(flatten)]
        child: Child,
        /// Its turn, from 1: each message that it answers after its first report begins another.
        turn: u32,
        /// What it is asked to do.
        goal: Option<String>,
    },
    /// A child begins.
    SubAgentStart {
        /// Which.
        #[serde(flatten)]
        child: Child,
        /// Its turn, from 1: each message that it answers after its first report begins another.
        turn: u32,
        /// What it is asked to do.
        goal: Option<String>,
    },
    /// A child ended with a result that can be built upon.
    SubAgentComplete {
        /// Which.
        #[serde(flatten)]
        child: Child,
        /// The turn that is over.
        turn: u32,
        /// With what.
        data: ChildData,
    },
    /// A child ended in any other way.
    SubAgentError {
        /// Which.
        #[serde(flatten)]
        child: Child,
        /// The turn that is over.
        turn: u32,
        /// With what.
        data: ChildData,
    },
    /// A call is carried out.
    ToolStart {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// Its arguments, as the model wrote them.
        input: Value,
        /// The agent that the call starts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_slug: Option<String>,
    },
    /// A call has its result. The only frame of a call that was refused.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// What the model is given.
        output: String,
        /// Whether it failed or was refused.
        is_error: bool,
        /// How long the tool ran; null where it did not.
        duration_ms: Option<u64>,
        /// The agent that the call started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_slug: Option<String>,
    },
    /// A person is asked whether a call may be made, or what the agent wants to know.
    ValidationRequired {
        /// What kind of answer is wanted.
        kind: ApprovalKind,
        /// The question's name, by which it is decided.
        validation_id: String,
        /// The call that waits.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// Its arguments, exactly as they will be used.
        input: Value,
        /// What a decision is bound to.
        digest: String,
        /// The names on the way to the one who asks, root first.
        path: Vec<String>,
        /// The folder it works in.
        workspace: String,
        /// The rule or the mode that wants a person to decide.
        why: String,
        /// What it would do, in a sentence.
        effect: String,
        /// How much to think before saying yes.
        risk_level: Risk,
        /// Protected places that it would change.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        protected: Vec<String>,
        /// Whether the agent has read untrusted text.
        foreign: bool,
        /// The pattern that consent for more than once would cover; null where such consent is not offered.
        standing: Option<String>,
        /// What the agent wants to know; left out where it asks for consent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Question>,
        /// When it counts as refused.
        expires_at: String,
    },
    /// A question is answered, or no longer asked.
    ValidationResolved {
        /// What kind of answer was wanted.
        kind: ApprovalKind,
        /// Which.
        validation_id: String,
        /// The call that waited.
        tool_use_id: String,
        /// What came of it.
        decision: Resolution,
        /// How far consent goes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<Scope>,
        /// The arguments that a person put in the place of the agent's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        /// Why, or the rule that would have allowed it.
        reason: Option<String>,
        /// What a person answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// A message to an agent while it works.
    Steered {
        /// Who.
        from: String,
        /// The words.
        content: String,
    },
    /// An agent was silent for a while.
    Stalled {
        /// For how long.
        silent_ms: u64,
        /// What it waits for.
        waiting_for: String,
    },
    /// What was used so far; after each answer of the model.
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
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        price_unknown: bool,
    },
    /// Most of a grant is used up.
    BudgetWarning {
        /// Which limit.
        limit: String,
        /// How much of it is used.
        percent: u32,
    },
    /// A limit was reached, and the agent ends.
    BudgetExceeded {
        /// Which limit, in a sentence.
        reason: String,
    },
    /// The model is asked again.
    Retry {
        /// Which turn.
        turn: u32,
        /// The attempt that failed, from 1; null where its process went away.
        attempt: Option<u32>,
        /// The model that is asked.
        model: Option<String>,
        /// What went wrong; null where its process went away.
        kind: Option<CallErrorKind>,
        /// What went wrong, in a sentence.
        message: String,
        /// How long it waits before.
        in_ms: u64,
    },
    /// What an agent is doing; whenever that changes.
    State {
        /// One of nine words.
        state: AgentState,
    },
    /// Something failed for good.
    Error {
        /// The kind of cause.
        kind: String,
        /// Why, in a sentence.
        message: String,
    },
    /// Something that a person may want to know.
    Notification {
        /// Which.
        kind: Notice,
        /// In a sentence.
        message: String,
    },
}

/// The child that a frame is about.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Child {
    /// The root thread.
    pub workflow_id: String,
    /// The parent's thread.
    pub parent_agent_id: Option<String>,
    /// The child's thread.
    pub sub_agent_id: String,
    /// What it is called on screens.
    pub sub_agent_name: String,
    /// The names on the way to it, root first.
    pub path: Vec<String>,
    /// The parent's call that asked for it.
    pub tool_use_id: Option<String>,
}

/// What a child hands up.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChildData {
    /// How it ended.
    pub outcome: Outcome,
    /// What it says.
    pub report: String,
    /// Why it did not complete; null when it did.
    pub error: Option<String>,
    /// What it took, itself.
    pub metrics: Metrics,
    /// What it and its tree used.
    pub usage: Totals,
    /// Files it read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<String>,
    /// Files that it and its tree wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// What was still open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
}

/// What a child took, without its own children.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// A person allowed it.
    Approved,
    /// A person answered it.
    Answered,
    /// A person refused it, or does not answer.
    Denied,
    /// A rule refuses it, whatever a person said.
    Forbidden,
    /// It was not decided in time.
    Expired,
    /// There was nobody to ask any more.
    Unanswered,
    /// It was no longer of use.
    Withdrawn,
}

/// Streamed text. Its frames have no id, and a reader cannot come back to them: the logged answer holds all of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Passing {
    /// Words of a model's answer.
    TextDelta {
        /// The root thread.
        run: String,
        /// Whose they are.
        thread: String,
        /// The turn that is being answered.
        turn: u32,
        /// The words.
        content: String,
        /// That it is all of the text so far and replaces what was sent of it before: the first frame for a reader that joins in
        /// the middle of an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        so_far: Option<bool>,
    },
    /// What a model thinks before it answers.
    ThinkingDelta {
        /// The root thread.
        run: String,
        /// Whose thoughts they are.
        thread: String,
        /// The turn that is being answered.
        turn: u32,
        /// The thoughts.
        content: String,
    },
    /// Words of a tool that runs.
    ToolProgress {
        /// The root thread.
        run: String,
        /// Whose call it is.
        thread: String,
        /// The call.
        tool_use_id: String,
        /// The words.
        content: String,
    },
}

/// Something about the stream itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reset {
    /// The last id that was sent is not of this log: what follows starts over.
    StreamReset {},
    /// The stream of all threads begins, or that of a run which waits for an earlier one. Its id is a place to come back to, before anything has happened.
    StreamOpen {},
}
