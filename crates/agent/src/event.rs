//! What happened, in the past tense, kept for ever.
//!
//! Fields are only ever added, with a default; a shape that must change gets a new name, and the codec of `crates/store` reads the old one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::approval::{Approval, ApprovalId, Resolution};
use crate::brief::Brief;
use crate::budget::{Claim, Grant};
use crate::checks::{CheckedBy, Checks};
use crate::id::{CallId, InputId, ThreadId, Time};
use crate::input::{Outside, Strength};
use crate::json::Json;
use crate::message::{Attachment, Part, Told};
use crate::mode::Mode;
use crate::model::{CallError, Model, StopReason, Tokens};
use crate::permission::{Decider, Layer};
use crate::policy::{Lifecycle, Policy};
use crate::report::{Report, Usage};
use crate::role::Role;
use crate::sampling::{SamplingEnded, SamplingStarted};
use crate::tools::{Reach, ToolResult, WITHOUT_FOLDER, named_call};
use crate::verb::Verb;

/// What happened to one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The thread came to be. Always the first event of its log, and never repeated.
    ThreadCreated(Box<ThreadCreated>),
    /// An interface or another process sent something; it waits until the thread's owner handles it.
    InputArrived {
        /// Its name.
        id: InputId,
        /// What was sent.
        input: Outside,
    },
    /// A thread took up a message: a run begins. The first run of a sub-agent begins with its brief and has no such event.
    RunStarted {
        /// The input that asked for it.
        input: InputId,
        /// The run's number within the thread, from 1.
        run: u32,
        /// The words.
        prompt: Arc<str>,
        /// Images and documents that came with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Who they are from: the path of an agent, or what the program calls itself; none where a person said them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Arc<str>>,
        /// The words as the model reads them, where that is more than the words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
        /// What this run may spend, where that is not what the thread was created with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Box<Grant>>,
    },
    /// A message for a running thread was taken up and will be read at its next turn.
    Steered {
        /// The input that brought it.
        input: InputId,
        /// The words.
        text: Arc<str>,
        /// Who sent them.
        from: Arc<str>,
        /// The words as the model reads them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
    },
    /// An input was taken up and changed nothing: a second stop, a message to a thread that is over.
    InputDropped {
        /// Which.
        input: InputId,
        /// Why.
        reason: Arc<str>,
    },
    /// The thread begins to end: nothing new is begun, and what runs is ended.
    StopBegun {
        /// The input that asked for it; none where a limit did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<InputId>,
        /// What brought it about.
        ending: Ending,
    },
    /// The model was asked. Written before the request is made.
    TurnStarted(TurnStarted),
    /// A request to the model failed.
    CallFailed {
        /// Which turn.
        turn: u32,
        /// Which attempt, from 1.
        attempt: u32,
        /// Why.
        error: CallError,
        /// When it is tried again; none means that it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Time>,
        /// What is booked for it although no answer was logged.
        #[serde(default)]
        booked: Claim,
    },
    /// A request was under way when its process went away; it is made again.
    CallRepeated {
        /// Which turn.
        turn: u32,
        /// What is booked for the lost one.
        booked: Claim,
    },
    /// The model answered.
    Answered(Answered),
    /// A tool began. Written before it does.
    ToolStarted {
        /// Which call.
        call: CallId,
    },
    /// A call has its result: from the tool, or from the rules where they answered instead.
    ToolFinished {
        /// Which call.
        call: CallId,
        /// The result.
        result: ToolResult,
        /// How long the tool ran; none where it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// The result's content as the model reads it, where that is more than the content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
    },
    /// An agent said that it is done, and what must agree to that begins to run: the commands of its brief, or hooks of the person. Written
    /// before it does.
    ChecksStarted {
        /// The name under which they run, unlike that of any call.
        call: CallId,
        /// The commands.
        commands: Vec<Arc<str>>,
        /// Whose checks they are.
        #[serde(default, skip_serializing_if = "CheckedBy::is_brief")]
        by: CheckedBy,
    },
    /// The commands have succeeded, or one of them has not.
    ChecksFinished {
        /// The name under which they ran.
        call: CallId,
        /// That all passed, or what failed.
        result: ToolResult,
        /// How long they ran; none where that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// What the agent is told; none where it does not continue because of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Arc<str>>,
    },
    /// A person is asked whether a call may be made, or what the agent wants to know.
    ApprovalRequested(Box<Approval>),
    /// A question is answered, or no longer asked.
    ApprovalResolved {
        /// Which.
        approval: ApprovalId,
        /// The call that waited for it.
        call: CallId,
        /// The input that brought the decision; none where nobody decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<InputId>,
        /// What came of it.
        resolution: Resolution,
    },
    /// The model is asked for the server behind a call that is under way. Written before the request is made.
    SamplingStarted(Box<SamplingStarted>),
    /// The model answered a server, or did not; also where the request was refused and never began.
    SamplingEnded(Box<SamplingEnded>),
    /// A list of subtasks was accepted and is run as a graph.
    Delegated {
        /// The call that asked for it.
        call: CallId,
        /// The overall goal.
        plan: Arc<str>,
        /// The subtasks, in the order of the call.
        subtasks: Vec<Subtask>,
        /// When the call has its answer.
        #[serde(default, skip_serializing_if = "Enough::is_all")]
        enough: Enough,
    },
    /// A subtask will not be run.
    SubtaskSkipped {
        /// The delegation's call.
        call: CallId,
        /// Which subtask.
        index: u32,
        /// Why.
        reason: Arc<str>,
    },
    /// A subtask is answered with the report that the same task had before.
    SubtaskRecalled {
        /// The delegation's call.
        call: CallId,
        /// Which subtask.
        index: u32,
        /// The child that did it.
        child: ThreadId,
    },
    /// A child was accepted, and its grant carved out of this thread's.
    ChildSpawned(Box<ChildSpawned>),
    /// A child that has reported is asked something more, and its grant carved anew out of this thread's.
    ChildAsked(Box<ChildAsked>),
    /// The number of a child was given out that this thread neither starts nor waits for nor pays for: an agent of a task.
    ChildIssued {
        /// The input that asked for it.
        input: InputId,
        /// Its thread.
        child: ThreadId,
    },
    /// A child got its permit and begins, or goes on with what it was asked.
    ChildStarted {
        /// Which.
        child: ThreadId,
        /// Whether it has worked before: then it is no new sub-agent.
        #[serde(default, skip_serializing_if = "is_false")]
        again: bool,
    },
    /// A child said something while it works.
    ChildSaid {
        /// Which.
        child: ThreadId,
        /// The words.
        text: Arc<str>,
        /// Whether it had read untrusted text: then these words may be such text, too.
        #[serde(default, skip_serializing_if = "is_false")]
        foreign: bool,
        /// The words as the model reads them with its next turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
    },
    /// A child waits for nothing but a person, or no longer does.
    ChildPaused {
        /// Which.
        child: ThreadId,
        /// Whether it waits.
        paused: bool,
    },
    /// A child is told to end.
    ChildStopped {
        /// Which.
        child: ThreadId,
        /// How.
        strength: Strength,
        /// Why.
        reason: Arc<str>,
    },
    /// A child's report arrived, once; what it did not spend is back.
    ChildReported {
        /// Which.
        child: ThreadId,
        /// The report.
        report: Box<Report>,
        /// The report as the model reads it with its next turn, where no call waits for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
    },
    /// A message for a child is on its way.
    MessageSent {
        /// The call that sent it.
        call: CallId,
        /// To whom.
        child: ThreadId,
        /// The words.
        text: Arc<str>,
    },
    /// A call waits for the end of a child that it stops.
    ChildAwaited {
        /// The call.
        call: CallId,
        /// The child.
        child: ThreadId,
    },
    /// The thread waits for background children.
    WaitStarted {
        /// The call that waits.
        call: CallId,
        /// For whom.
        children: Vec<ThreadId>,
        /// Whether one of them is enough.
        any: bool,
        /// Until when.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// Old tool results were masked, in one batch.
    ContextTrimmed {
        /// The calls whose results were masked.
        calls: Vec<CallId>,
        /// Bytes that the model no longer reads.
        bytes: u64,
        /// What the model reads in the place of each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<Arc<str>>,
    },
    /// The conversation was replaced by the model's own summary of it; brief and role stay.
    ContextCompacted {
        /// The summary.
        summary: Arc<str>,
        /// The summary as the model reads it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Told>,
    },
    /// Other tools were published, and the model is shown them from its next turn on.
    ToolsChanged {
        /// Names the set of tools that was published.
        version: Arc<str>,
        /// Tools that the thread has in addition.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        added: Vec<Arc<str>>,
        /// Tools that it no longer has.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<Arc<str>>,
        /// Whether one of those that it has in addition is described in the words of a stranger.
        #[serde(default, skip_serializing_if = "is_false")]
        foreign: bool,
    },
    /// The thread has another model or another mode from its next turn on, as a person chose.
    SettingsChanged {
        /// The input that brought it.
        input: InputId,
        /// The model; none where it stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<Box<Model>>,
        /// The mode that it was given: the chosen one, or the most that it may have; none where it stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// What the model reads about it with its next turn. The system prompt stays as it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        told: Option<Arc<str>>,
    },
    /// Nothing was heard of the thread for a while.
    StallNoticed {
        /// For how long.
        silent_ms: u64,
        /// What it waits for.
        waiting_for: Arc<str>,
    },
    /// Most of a grant is used up.
    BudgetWarned {
        /// Which limit: `tool_calls`, `requests`, `tokens` or `cost`.
        limit: Arc<str>,
        /// How much of it is used, in percent.
        percent: u32,
    },
    /// A process went on with the thread.
    Reopened {
        /// How long nobody did; deadlines move by as much.
        away_ms: u64,
    },
    /// The run is over. The last event of each run.
    Reported(Box<Report>),
}

/// How a thread came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCreated {
    /// Its name.
    pub id: ThreadId,
    /// The call of the parent that it answers; none for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_call: Option<CallId>,
    /// What it is called on screens: the agent's name, or what the parent chose.
    pub name: Arc<str>,
    /// The role it plays.
    pub role: Role,
    /// What it may do.
    pub mode: Mode,
    /// The policy.
    pub policy: Arc<Policy>,
    /// What it may spend.
    pub grant: Grant,
    /// What it is asked; none for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<Brief>,
    /// The folder it works in.
    pub workspace: Arc<str>,
    /// The machine of that folder.
    #[serde(default, skip_serializing_if = "Place::is_anywhere")]
    pub place: Place,
    /// The day it was created, as its system prompt says it.
    pub today: Arc<str>,
    /// The preset it was started with, for people.
    pub preset: Arc<str>,
    /// The household that its tools work on, where that is not the configured one: a process that resumes it opens the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub household: Option<Arc<str>>,
    /// The names of the agents on its path, root first, itself last: who asks, on screens.
    pub path: Vec<Arc<str>>,
    /// Agent and mode of everybody above it, root first: it may never do more than they.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Layer>,
    /// Whether its parent hears what it says while it works.
    #[serde(default, skip_serializing_if = "is_false")]
    pub progress: bool,
    /// What becomes of a sub-agent between its turns.
    #[serde(default, skip_serializing_if = "Lifecycle::is_call")]
    pub lifecycle: Lifecycle,
    /// The task that it was created for, as its board names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_for: Option<Arc<str>>,
    /// The threads that it is a copy of, the oldest first. In what was said before it was copied, its sub-agents have the names that they had
    /// there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copied_from: Vec<ThreadId>,
    /// Whether its parent had read untrusted text, or it was taken in from a file: then the brief may be such text, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub foreign: bool,
    /// The system prompt: the role's prompt, and what is said after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Told>,
    /// The end of the system prompt, which is this thread's own: what stands before it is the same for all threads of the role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_words: Option<Arc<str>>,
    /// The brief as the model reads it: its task, and what is said after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<Told>,
}

/// On which machine the folder of a thread lies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The machine, by the name that it has in the store; none where the store is of one machine, or its machines share their folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Arc<str>>,
    /// Whether the thread works there even if none of its tools needs the folder: what the folder brings along (rules, hooks) holds for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_bound: bool,
}

impl Place {
    /// Whether no machine is named.
    pub fn is_anywhere(&self) -> bool {
        self.machine.is_none()
    }
}

/// A request to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The turn's number within the thread, from 1.
    pub turn: u32,
    /// What kind of turn.
    pub kind: TurnKind,
    /// The longest answer that is asked for.
    pub max_tokens: u64,
    /// What is reserved for it.
    pub claim: Claim,
    /// What the model is told with it, besides results and notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Arc<str>>,
}

/// What kind of turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// The agent works.
    Work,
    /// The agent says what is done and what is left; calls are not run.
    Last(Ending),
    /// The agent sums up its conversation, which then takes its place.
    Compact,
}

/// Why a thread ends before its agent is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The outcome that it leads to.
    pub outcome: crate::report::Outcome,
    /// Why, in one sentence.
    pub reason: Arc<str>,
    /// The kind of cause, where a machine should know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Arc<str>>,
    /// Whether the agent may still say something.
    pub last_turn: bool,
}

/// An answer of the model, and what the rules made of its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// Which turn it answers.
    pub turn: u32,
    /// Text, calls and opaque blocks, as they stay in the conversation.
    pub parts: Vec<Part>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What it used: the provider's figures, or an estimate.
    pub tokens: Tokens,
    /// What counts against the grant.
    pub counted_tokens: u64,
    /// What it cost.
    pub cost_microusd: u64,
    /// Whether the figures are ours because the provider gave none.
    #[serde(default)]
    pub estimated: bool,
    /// Why the answer does not fit the schema that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_error: Option<Arc<str>>,
    /// The tool of the call in the middle of which the answer was cut off at its output limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_call: Option<Arc<str>>,
    /// What becomes of each call, in the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
    /// What follows from it; none in logs in which that was not written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
}

/// What a request used whose answer was lost: what the provider said, or what was booked for it, as an estimate.
pub fn lost_usage(booked: &Claim, told: Option<&Tokens>) -> Usage {
    // Nothing is booked for a request that was not billed.
    let told = told.filter(|_| booked.tokens > 0 || booked.cost_microusd > 0);
    let output = booked.answer_tokens.min(booked.tokens);
    let reserved = Tokens { input: booked.tokens - output, output, ..Tokens::default() };
    Usage {
        tokens: told.copied().unwrap_or(reserved),
        counted_tokens: booked.tokens,
        cost_microusd: booked.cost_microusd,
        requests: booked.requests,
        estimated_tokens: if told.is_some() { 0 } else { booked.tokens },
        ..Usage::default()
    }
}

impl Answered {
    /// Tokens that are not the provider's figures.
    pub fn estimated_tokens(&self) -> u64 {
        if self.estimated { self.tokens.total() } else { 0 }
    }

    /// Whether the answer is not at its end: it was cut off at its output limit, or the provider made a pause.
    pub fn is_cut(&self) -> bool {
        matches!(self.stop, StopReason::MaxTokens | StopReason::Paused)
    }

    /// Whether an answer that was cut off at its output limit cannot be used as it is: it said nothing, or ended in a call.
    pub(crate) fn is_half(&self, has_calls: bool, text: &str) -> bool {
        let is_empty = !has_calls && text.trim().is_empty();
        self.stop == StopReason::MaxTokens && (self.cut_call.is_some() || is_empty)
    }
}

impl ThreadCreated {
    /// The one machine on which it can work: that of its folder, if one of its tools needs the folder.
    pub fn bound_to(&self) -> Option<&Arc<str>> {
        let Place { machine, is_bound } = &self.place;
        let needs_folder = |tool: &Arc<str>| Verb::of(tool).is_none() && !WITHOUT_FOLDER.contains(&&**tool);
        let is_bound = *is_bound || self.role.gets_new_tools || self.role.tools.iter().any(needs_folder);
        machine.as_ref().filter(|_| is_bound)
    }

    /// Writes down what the model will be shown from the start. Done once more where the brief was changed after the first time.
    pub fn write_texts(&mut self) {
        let system = crate::context::new_system(self);
        self.system = Some(Told::of(&system, self.role.prompt.trim_end()));
        self.own_words = crate::context::own_words(self).map(Into::into);
        self.opening = self.brief.as_ref().map(|brief| Told::of(&brief.text(), &brief.task));
    }
}

/// What follows from an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// It is taken as it is: its calls are made, or it is the last one of the run.
    Taken,
    /// The model is asked again.
    Again {
        /// Why.
        why: Again,
        /// What the model is told.
        told: Arc<str>,
    },
}

/// Why a model is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Again {
    /// Its text was cut off at the output limit, and goes on.
    CutInText,
    /// It was cut off before it said anything, or in the middle of a call.
    CutShort,
    /// It does not fit the schema that was asked for.
    Schema,
    /// The provider made a pause. The model is told nothing, and goes on.
    Paused,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which call.
    pub call: CallId,
    /// What becomes of it.
    pub what: VerdictKind,
    /// Whether it counts as a tool call.
    pub counts: bool,
    /// Whether its arguments could not be read.
    #[serde(default)]
    pub malformed: bool,
    /// Who decided; none where it was no matter of permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decider: Option<Decider>,
    /// The rule that decided, in words, where it was not the mode alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// The tool that is called by way of [`CALL_TOOL`](crate::tools::CALL_TOOL); none where the call names its tool itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Arc<str>>,
}

/// A call of an answer, as a call of the tool that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct MadeCall<'a> {
    /// The call.
    pub call: &'a CallId,
    /// The tool.
    pub name: Arc<str>,
    /// Its arguments.
    pub input: Json,
    /// What becomes of it; none where calls were off.
    pub verdict: Option<&'a Verdict>,
}

impl Answered {
    /// The calls of the answer, in its order, each under the name of the tool that runs.
    pub fn calls(&self) -> impl Iterator<Item = MadeCall<'_>> {
        let mut verdicts = self.verdicts.iter();
        self.parts.iter().filter_map(move |part| {
            let Part::ToolCall { id, name, input } = part else { return None };
            let verdict = verdicts.next();
            let named = verdict.and_then(|verdict| verdict.tool.as_ref()).and_then(|_| named_call(input));
            let (name, input) = named.unwrap_or_else(|| (name.clone(), input.clone()));
            Some(MadeCall { call: id, name, input, verdict })
        })
    }
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// A tool runs it.
    Run {
        /// How far the tool reaches.
        reach: Reach,
        /// Whether it may be run again after a crash.
        idempotent: bool,
    },
    /// A person decides on it, or answers it; the question follows in the log.
    Asked {
        /// How far the call reaches.
        reach: Reach,
        /// Whether it may be run again after a crash.
        idempotent: bool,
    },
    /// A verb: the rules answer it.
    Verb,
    /// A verb, on which a person decides first; the question follows in the log, unless there is no place for it.
    VerbAsked,
    /// It is not run.
    Refused {
        /// What the model is told.
        reason: Arc<str>,
        /// The rule that would have allowed it, where a person should have been asked and nobody was there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Arc<str>>,
    },
}

impl VerdictKind {
    /// How far a call was judged to reach that runs without a person's decision.
    pub fn reach(&self) -> Option<Reach> {
        match self {
            Self::Run { reach, .. } => Some(*reach),
            Self::Asked { .. } | Self::Verb | Self::VerbAsked | Self::Refused { .. } => None,
        }
    }
}

/// A child as it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildSpawned {
    /// Its thread.
    pub child: ThreadId,
    /// The call that asked for it.
    pub call: CallId,
    /// Its place in a delegation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask: Option<u32>,
    /// What it is called on screens.
    pub name: Arc<str>,
    /// The role it plays.
    pub role: Role,
    /// What it may do.
    pub mode: Mode,
    /// What it may spend.
    pub grant: Grant,
    /// What it is asked.
    pub brief: Brief,
    /// Whether the parent goes on without waiting.
    pub background: bool,
    /// Whether it must wait for a permit.
    pub queued: bool,
    /// What was asked for and not given, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<Arc<str>>,
    /// Whether the parent hears what it says while it works.
    #[serde(default, skip_serializing_if = "is_false")]
    pub progress: bool,
    /// Whether its report may answer the same task again: it can only read.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reusable: bool,
}

/// A child that has reported, as it is asked something more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildAsked {
    /// Its thread.
    pub child: ThreadId,
    /// The name under which the question stands in the child's log, and by which its report is known.
    pub input: InputId,
    /// The call that asks.
    pub call: CallId,
    /// What the child is called on screens.
    pub name: Arc<str>,
    /// The words.
    pub text: Arc<str>,
    /// What it may spend on the answer.
    pub grant: Grant,
    /// Whether the parent goes on without waiting.
    pub background: bool,
    /// Whether it must wait for a permit.
    pub queued: bool,
    /// What was wanted and not given, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrowed: Vec<Arc<str>>,
}

/// A subtask as it was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subtask {
    /// What to do.
    pub task: Arc<str>,
    /// Files or folders to keep to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Arc<str>>,
    /// Which agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// What must hold before it counts as done.
    #[serde(default, skip_serializing_if = "Checks::is_empty")]
    pub checks: Checks,
    /// The subtasks that must be over first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<u32>,
}

/// When a delegation has its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enough {
    /// Once every subtask is over.
    #[default]
    All,
    /// Once one has brought a result; the others go on, and each of their reports is read when it comes.
    One,
    /// Once one has brought a result and the others were stopped.
    OneAlone,
}

impl Enough {
    fn is_all(&self) -> bool {
        *self == Enough::All
    }
}

impl Event {
    /// Whether it begins a run because the program told the thread something, such as the end of a task. A parent's question has its own
    /// words for the model; a notice has none besides its text.
    pub const fn is_begun_by_notice(&self) -> bool {
        matches!(self, Event::RunStarted { from: Some(_), told: None, .. })
    }

    /// A thread took up a message of a person, with the grant that it was created with.
    pub fn run_started(input: InputId, run: u32, prompt: impl Into<Arc<str>>) -> Self {
        Self::RunStarted {
            input,
            run,
            prompt: prompt.into(),
            attachments: Vec::new(),
            from: None,
            told: None,
            grant: None,
        }
    }

    /// The event's name in storage and logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::ThreadCreated(_) => "thread_created",
            Event::InputArrived { .. } => "input_arrived",
            Event::RunStarted { .. } => "run_started",
            Event::Steered { .. } => "steered",
            Event::InputDropped { .. } => "input_dropped",
            Event::StopBegun { .. } => "stop_begun",
            Event::TurnStarted(_) => "turn_started",
            Event::CallFailed { .. } => "call_failed",
            Event::CallRepeated { .. } => "call_repeated",
            Event::Answered(_) => "answered",
            Event::ToolStarted { .. } => "tool_started",
            Event::ToolFinished { .. } => "tool_finished",
            Event::ChecksStarted { .. } => "checks_started",
            Event::ChecksFinished { .. } => "checks_finished",
            Event::ApprovalRequested(_) => "approval_requested",
            Event::ApprovalResolved { .. } => "approval_resolved",
            Event::SamplingStarted(_) => "sampling_started",
            Event::SamplingEnded(_) => "sampling_ended",
            Event::Delegated { .. } => "delegated",
            Event::SubtaskSkipped { .. } => "subtask_skipped",
            Event::SubtaskRecalled { .. } => "subtask_recalled",
            Event::ChildSpawned(_) => "child_spawned",
            Event::ChildAsked(_) => "child_asked",
            Event::ChildIssued { .. } => "child_issued",
            Event::ChildStarted { .. } => "child_started",
            Event::ChildSaid { .. } => "child_said",
            Event::ChildPaused { .. } => "child_paused",
            Event::ChildStopped { .. } => "child_stopped",
            Event::ChildReported { .. } => "child_reported",
            Event::MessageSent { .. } => "message_sent",
            Event::ChildAwaited { .. } => "child_awaited",
            Event::WaitStarted { .. } => "wait_started",
            Event::ContextTrimmed { .. } => "context_trimmed",
            Event::ContextCompacted { .. } => "context_compacted",
            Event::ToolsChanged { .. } => "tools_changed",
            Event::SettingsChanged { .. } => "settings_changed",
            Event::StallNoticed { .. } => "stall_noticed",
            Event::BudgetWarned { .. } => "budget_warned",
            Event::Reopened { .. } => "reopened",
            Event::Reported(_) => "reported",
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
