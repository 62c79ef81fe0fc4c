//! One agent's state, as its log tells it: `apply` is the only place where it changes.
//!
//! What is still to be done is part of it, so that a process which reads a log is told again what to do (`pending`).
//! Deciding is `machine.rs` and `turn/`; nothing here decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::approval::{Approval, ApprovalId, Resolution, Scope};
use crate::brief::Brief;
use crate::budget::{Claim, Grant};
use crate::checks::CheckedBy;
use crate::effect::Effect;
use crate::event::{
    Again, Answered, ChildAsked, ChildSpawned, Event, Next, ThreadCreated, TurnKind, TurnStarted, VerdictKind,
    lost_usage,
};
use crate::id::{CallId, InputId, ThreadId, Time};
use crate::input::{Outside, Strength};
use crate::json::Json;
use crate::message::{Message, Origin, Part, Role as Speaker, Told};
use crate::mode::Mode;
use crate::model::{CallErrorKind, Model, StopReason};
use crate::permission::{Action, Rule};
use crate::policy::{CountMode, ReportData};
use crate::report::{Outcome, Report, Usage};
use crate::role::Role;
use crate::tools::{Reach, ToolResult};
use crate::verb::{Starts, Verb};

mod calls;
mod graph;
mod run;
mod talk;
mod tools;
mod unlogged;

pub use calls::{Calls, Slot, SlotState, VerbState};
pub use graph::{Graph, Node, check as check_graph};
pub use run::{Asking, Checking, ChecksSoFar, Clock, Closing, CutShort, Pace, Phase, Run, TooLong, Window, Words};
pub use talk::Talk;
pub use tools::Tools;
pub(crate) use unlogged::system as unlogged_system;

/// One agent: a role, a conversation, a grant, and what is under way.
///
/// Fields that belong together are in groups. A group says over which time its fields hold: the whole life of the thread, or
/// one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// How it came to be. Never changes.
    pub created: ThreadCreated,
    /// The time of the newest event.
    pub last_at: Time,
    /// Whether the thread has read untrusted text. Once set, it stays set, and what the thread does is judged more strictly.
    pub foreign: bool,
    /// The conversation, as the model is shown it.
    pub talk: Talk,
    /// The model that speaks. It begins with that of its role; `SettingsChanged` changes it, and nothing else does.
    pub model: Model,
    /// What it may do, by the same way.
    pub mode: Mode,
    /// The tools that it has.
    pub tools: Tools,
    /// The run that is under way; none while the thread is idle or over.
    pub run: Option<Run>,
    /// What the report of the newest run will say.
    pub findings: Findings,
    /// The calls of the last answer.
    pub calls: Calls,
    /// What came in and was not read yet.
    pub inbox: Inbox,
    /// What was used, and what is reserved.
    pub spending: Spending,
    /// The sub-agents that this thread started.
    pub children: Children,
    /// Reports that may answer the same task again.
    pub(crate) reuse: Reuse,
    /// What a person is asked, and what a person allowed.
    pub approvals: Approvals,
    /// Numbers and names given out so far.
    pub issued: Issued,
}

/// What came in and was not read yet.
///
/// An input from outside is added when it arrives and removed when an event handles it. Notices collect between two requests to
/// the model: the next request takes all of them, and so does the end of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inbox {
    /// Inputs from outside that were not handled yet, oldest first.
    pub arrived: VecDeque<(InputId, Outside)>,
    /// Every input that ever arrived, so that an input which is sent twice is one message.
    pub seen: BTreeSet<InputId>,
    /// Texts that the model reads at its next turn.
    pub notices: Vec<Part>,
    /// Whether the thread was told something since its last report.
    pub(crate) steered: bool,
}

impl Inbox {
    /// The schema that a message asks its answer to fit, and who wrote it.
    fn asks(&self, message: &InputId) -> (Option<Json>, Origin) {
        match self.arrived.iter().find(|(id, _)| id == message).map(|(_, input)| input) {
            Some(Outside::UserSaid { output_schema, .. }) => (output_schema.clone(), Origin::Person),
            Some(Outside::Asked { .. }) => (None, Origin::Brief),
            Some(Outside::Noticed { .. } | Outside::SummaryWanted { .. }) => (None, Origin::Program),
            Some(
                Outside::Steered { .. }
                | Outside::Stopped { .. }
                | Outside::Decided { .. }
                | Outside::ChildWanted
                | Outside::Marked { .. }
                | Outside::Chosen { .. },
            )
            | None => (None, Origin::Person),
        }
    }

    /// Whether an input asks for a summary of the conversation.
    fn wants_summary(&self, input: &InputId) -> bool {
        self.arrived.iter().any(|(id, waiting)| id == input && matches!(waiting, Outside::SummaryWanted { .. }))
    }

    /// Whether something waits that begins a run, or means something without one.
    pub fn asks_for_run(&self) -> bool {
        self.arrived.iter().any(|(_, input)| input.needs_no_run())
    }
}

/// What was used, and what is reserved.
///
/// The sums over the thread's life only grow. Each run has the whole grant, so the sums of the run begin at zero with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spending {
    /// What the thread used itself, over its life.
    pub used: Usage,
    /// What its children that have reported used, and their descendants, over its life.
    pub below: Usage,
    /// What both used in the newest run. It is a sum of its own and not a difference of the other two: a provider may report
    /// figures so large that those stop at their highest value.
    pub(crate) spent: Usage,
    /// The thread's own tool calls in the newest run.
    pub(crate) calls_made: u32,
    /// What is reserved for children that have not reported.
    pub carved: Claim,
    /// Limits that the thread was warned about in the newest run.
    pub(crate) warned: BTreeSet<Arc<str>>,
}

/// The sub-agents that a thread started.
///
/// A child is accepted (it is in `live` and in `queue`), started when a permit is free (it leaves `queue` and counts in
/// `running`), and leaves `live` with its report; `reported` keeps what must be known to ask it something more, which leads it through
/// the same again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Children {
    /// Children that have not reported.
    pub live: BTreeMap<ThreadId, Child>,
    /// Children that wait for a permit; the first one gets the next permit.
    pub queue: VecDeque<ThreadId>,
    /// How many children run.
    pub running: u32,
    /// Children that wait for nothing but a person.
    pub paused: BTreeSet<ThreadId>,
    /// The newest progress of each child since the model was last asked, as the model reads it.
    pub(crate) said: BTreeMap<ThreadId, Arc<str>>,
    /// Each child that has reported and was not asked anything since, and how it ended.
    pub(crate) reported: BTreeMap<ThreadId, (Kin, Outcome)>,
    /// Descendants taken from the grant: each child, and what it was granted below it as long as it has not reported.
    pub(crate) descendants_taken: u32,
    /// Descendants reserved for subtasks that wait for other subtasks, and for sub-agents that a person is asked about.
    pub(crate) places_held: u32,
}

/// Reports of the newest run that may answer the same task again.
///
/// A report is kept only if nothing was changed while its author worked; any change discards all of them, and so does a new run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reuse {
    /// The reports, by the task (`task_key`).
    pub(crate) reports: BTreeMap<Arc<str>, (ThreadId, Report)>,
    /// How often something may have changed what the readers of files read. It counts over the thread's life.
    pub(crate) changes: u32,
}

/// What a person is asked, and what a person allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Approvals {
    /// Questions that were not answered yet.
    pub open: BTreeMap<ApprovalId, Approval>,
    /// What a person allowed this thread for the rest of its life.
    pub granted: Vec<Rule>,
}

/// What the report of the newest run will say, beside the answer itself. It is emptied when a run begins, not when it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Tools that were run, in the order of first use.
    pub(crate) tools_used: Vec<Arc<str>>,
    /// The JSON object in the result of the last successful call, if the policy wants it kept.
    pub(crate) last_data: Option<Json>,
    /// Files that were read, in the order of first reading.
    pub(crate) files_read: Files,
    /// Files that were written by the thread and by its children that have reported.
    pub(crate) files_modified: Files,
    /// Rules that would have allowed what was refused because no person could be asked.
    pub unanswered: Vec<Arc<str>>,
}

/// Numbers and names given out so far, over the thread's life. They only grow, so that nothing gets the name of another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Issued {
    /// Runs so far.
    pub runs: u32,
    /// Turns so far, over all runs.
    pub turns: u32,
    /// The number of the last child.
    pub children: u32,
    /// Questions to a person so far.
    pub(crate) questions: u32,
    /// Every call that was ever made.
    pub(crate) calls: BTreeSet<CallId>,
}

/// What a parent knows of a child for good.
#[derive(Clone, Debug, PartialEq)]
pub struct Kin {
    /// What it is called on screens.
    pub name: Arc<str>,
    /// The agent that it plays.
    pub agent: Arc<str>,
    /// Whether it has a verb that starts sub-agents.
    pub can_spawn: bool,
    /// Whether the parent hears what it says while it works.
    pub progress: bool,
    /// Whether it was ever begun, and so has a thread.
    pub exists: bool,
}

/// A child that has not reported on what it was asked last.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Who it is.
    pub kin: Kin,
    /// What it was asked.
    pub order: Order,
    /// Whether it was begun.
    pub started: bool,
    /// Whether it was told to end, how, and why.
    pub stop: Option<(Strength, Arc<str>)>,
    /// The number of changes when it was accepted.
    pub changes: u32,
}

/// What a child was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// It was started with a brief.
    Spawned(Box<ChildSpawned>),
    /// It had reported, and was asked something more.
    Asked(Box<ChildAsked>),
}

impl Child {
    /// The call that asked.
    pub fn call(&self) -> &CallId {
        match &self.order {
            Order::Spawned(spawned) => &spawned.call,
            Order::Asked(asked) => &asked.call,
        }
    }

    /// What it may spend on it.
    pub fn grant(&self) -> &Grant {
        match &self.order {
            Order::Spawned(spawned) => &spawned.grant,
            Order::Asked(asked) => &asked.grant,
        }
    }

    /// Its place in a delegation.
    pub fn subtask(&self) -> Option<u32> {
        match &self.order {
            Order::Spawned(spawned) => spawned.subtask,
            Order::Asked(_) => None,
        }
    }

    /// Whether the parent goes on without waiting.
    pub fn is_background(&self) -> bool {
        match &self.order {
            Order::Spawned(spawned) => spawned.background,
            Order::Asked(asked) => asked.background,
        }
    }

    /// What was wanted and not given, in words.
    pub fn narrowed(&self) -> &[Arc<str>] {
        match &self.order {
            Order::Spawned(spawned) => &spawned.narrowed,
            Order::Asked(asked) => &asked.narrowed,
        }
    }

    /// Whether its report may answer the same task again.
    pub fn is_reusable(&self) -> bool {
        match &self.order {
            Order::Spawned(spawned) => spawned.reusable,
            Order::Asked(_) => false,
        }
    }

    /// The message that its report will answer; none where that is its brief.
    pub fn asked(&self) -> Option<&InputId> {
        match &self.order {
            Order::Spawned(_) => None,
            Order::Asked(asked) => Some(&asked.input),
        }
    }
}

impl Kin {
    fn of(spawned: &ChildSpawned) -> Self {
        let starts = |tool: &Arc<str>| Verb::of(tool).is_some_and(|verb| verb.starts() != Starts::Nothing);
        Self {
            name: spawned.name.clone(),
            agent: spawned.role.name.clone(),
            can_spawn: spawned.role.tools.iter().any(starts),
            progress: spawned.progress,
            exists: false,
        }
    }
}

/// File names in the order of first use, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    order: Vec<Arc<str>>,
    known: BTreeSet<Arc<str>>,
}

impl Files {
    fn add(&mut self, files: &[Arc<str>]) {
        for file in files {
            if self.known.insert(file.clone()) {
                self.order.push(file.clone());
            }
        }
    }

    /// The names, in order.
    pub fn list(&self) -> &[Arc<str>] {
        &self.order
    }
}

impl Thread {
    /// A thread as its first event tells it. Any other first event is a broken log.
    pub fn new(at: Time, first: &Event) -> Self {
        let Event::ThreadCreated(created) = first else {
            panic!("a log begins with thread_created, not with {}", first.kind());
        };
        let created = (**created).clone();
        let mut talk = Talk::default();
        if let Some(brief) = &created.brief {
            let text = match &created.opening {
                Some(told) => told.with(&brief.task),
                None => unlogged::brief(brief).into(),
            };
            talk.push(Message::user(text, Origin::Brief));
        }
        Self {
            last_at: at,
            foreign: created.foreign,
            talk,
            model: created.role.model.clone(),
            mode: created.mode,
            tools: Tools::of(&created.role),
            run: None,
            findings: Findings::default(),
            calls: Calls::default(),
            inbox: Inbox::default(),
            spending: Spending::default(),
            children: Children::default(),
            reuse: Reuse::default(),
            approvals: Approvals::default(),
            issued: Issued::default(),
            created,
        }
    }

    /// Reads a whole log.
    pub fn replay<'a>(log: impl IntoIterator<Item = (Time, &'a Event)>) -> Option<Self> {
        let mut log = log.into_iter();
        let (at, first) = log.next()?;
        let mut thread = Self::new(at, first);
        for (at, event) in log {
            thread.apply(at, event);
        }
        Some(thread)
    }

    /// The thread's name.
    pub fn id(&self) -> &ThreadId {
        &self.created.id
    }

    /// JSON Schema that the answer of this run must fit: as its message or its brief asks, or as the role of an earlier version does.
    pub fn output_schema(&self) -> Option<&Json> {
        let of_message = self.run.as_ref().and_then(|run| run.output_schema.as_ref());
        let of_brief = self.brief_checks().and_then(|checks| checks.schema.as_ref());
        of_message.or(of_brief).or(self.created.role.output_schema.as_ref())
    }

    /// Whether those below it can be given a tool.
    pub fn can_give(&self, tool: &str) -> bool {
        self.tools.has(tool) || self.created.role.lends.iter().any(|lent| &**lent == tool)
    }

    /// What the run that goes on may spend; between two runs, what the thread was created with.
    pub fn grant(&self) -> &Grant {
        self.run.as_ref().and_then(|run| run.grant.as_deref()).unwrap_or(&self.created.grant)
    }

    /// Whether a sub-agent has handed in its report and nothing goes on in it since.
    pub fn is_over(&self) -> bool {
        self.created.brief.is_some() && self.run.is_none() && self.issued.runs > 0
    }

    /// Whether no run goes on, and no brief waits to be begun with.
    pub fn is_idle(&self) -> bool {
        self.run.is_none() && !self.is_unbegun()
    }

    /// Whether a sub-agent has its brief and has not begun.
    pub fn is_unbegun(&self) -> bool {
        self.created.brief.is_some() && self.issued.runs == 0
    }

    /// Tokens that fit into one request, answer included: as the provider said, else as is known of the model.
    pub fn context_tokens(&self) -> u64 {
        let known = self.model.context_tokens;
        self.talk.window_tokens().map_or(known, |told| told.min(known))
    }

    /// What is left of the requests of the grant; none when unlimited.
    pub fn requests_left(&self) -> Option<u32> {
        let spent = self.spending.spent.requests;
        let bound = self.spending.carved.requests.saturating_add(self.claim().requests);
        self.grant().requests.map(|granted| granted.saturating_sub(spent.saturating_add(bound)))
    }

    /// What is left of the tokens of the grant; none when unlimited.
    pub fn tokens_left(&self) -> Option<u64> {
        let spent = self.spending.spent.counted_tokens;
        let bound = self.spending.carved.tokens.saturating_add(self.claim().tokens);
        self.grant().tokens.map(|granted| granted.saturating_sub(spent.saturating_add(bound)))
    }

    /// What is left of the money of the grant; none when unlimited.
    pub fn cost_left(&self) -> Option<u64> {
        let spent = self.spending.spent.cost_microusd;
        let bound = self.spending.carved.cost_microusd.saturating_add(self.claim().cost_microusd);
        self.grant().cost_microusd.map(|granted| granted.saturating_sub(spent.saturating_add(bound)))
    }

    /// What is left of the descendants of the grant.
    pub fn descendants_left(&self) -> u32 {
        let before = self.run.as_ref().map_or(0, |run| run.places_before);
        let taken = self.children.descendants_taken.saturating_sub(before);
        self.grant().descendants.saturating_sub(taken.saturating_add(self.children.places_held))
    }

    /// What is left of the tool calls of the grant; none when unlimited.
    pub fn tool_calls_left(&self) -> Option<u32> {
        self.grant().tool_calls.map(|granted| granted.saturating_sub(self.spending.calls_made))
    }

    /// What is reserved for the request under way, or for those of servers.
    pub fn claim(&self) -> Claim {
        match self.run.as_ref().map(|run| &run.phase) {
            Some(Phase::Asking(asking)) => asking.turn.claim,
            Some(Phase::Acting) => self.calls.sampling_claim(),
            Some(Phase::Ready | Phase::Answered | Phase::Checking(_)) | None => Claim::default(),
        }
    }

    /// What the thread and its reported descendants used.
    pub fn tree_usage(&self) -> Usage {
        self.spending.used.plus(&self.spending.below)
    }

    /// The moment at which `TimePassed` should be handed in, if nothing else comes before.
    /// `heard` is when the model last let something be heard, which is not in the log.
    pub fn next_wake(&self, heard: Option<Time>) -> Option<Time> {
        let run = self.run.as_ref()?;
        let ending = run.closing.ending.as_ref();
        let counts = run.clock.paused_at.is_none() && ending.is_none_or(|ending| ending.last_turn);
        let deadline = run.clock.deadline.filter(|_| counts);
        let expiry = self.approvals.open.values().map(|approval| approval.expires_at).min();
        [deadline, self.stall_at(heard), self.calls.next_wait(), expiry].into_iter().flatten().min()
    }

    /// Whether the thread waits for nothing but a person: for a decision, for words, or for children who do.
    pub fn is_paused(&self) -> bool {
        let Some(run) = &self.run else { return false };
        let is_still = match run.phase {
            Phase::Acting => !self.calls.is_working(),
            Phase::Answered => true,
            Phase::Ready | Phase::Asking(_) | Phase::Checking(_) => false,
        };
        let is_asked = !self.approvals.open.is_empty() || self.calls.asks_person() || !self.children.paused.is_empty();
        run.closing.ending.is_none()
            && is_still
            && is_asked
            && self.children.paused.len() == self.children.running as usize
    }

    /// When the silence becomes a stall; none while nothing of its own is awaited.
    pub fn stall_at(&self, heard: Option<Time>) -> Option<Time> {
        let run = self.run.as_ref()?;
        let stall_ms = self.created.policy.stall_ms;
        let is_noticed = run.clock.stalled_at.is_some_and(|noticed| heard.is_none_or(|heard| heard <= noticed));
        if stall_ms == 0 || is_noticed || run.clock.paused_at.is_some() {
            return None;
        }
        let awaits_something = match &run.phase {
            Phase::Asking(asking) => asking.retry_at.is_none(),
            Phase::Acting => self.calls.running() > 0,
            Phase::Checking(_) => true,
            Phase::Ready | Phase::Answered => false,
        };
        awaits_something.then(|| heard.unwrap_or(self.last_at).max(self.last_at).plus_ms(stall_ms))
    }

    /// Everything that was asked of the world and not answered, in the order in which it was asked.
    pub fn pending(&self) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Some(run) = &self.run
            && let Phase::Asking(asking) = &run.phase
        {
            effects.push(asking.effect());
            if asking.cancelled {
                effects.push(Effect::CancelModel { turn: asking.turn.turn });
            }
        }
        for (id, child) in self.children.live.iter().filter(|(_, child)| child.started) {
            effects.push(Effect::StartChild { child: id.clone() });
            if let Some((strength, reason)) = &child.stop {
                effects.push(Effect::StopChild { child: id.clone(), strength: *strength, reason: reason.clone() });
            }
        }
        effects.extend(self.checks_effect());
        // A message finds a child's log once the child was begun.
        effects.extend(self.calls.pending());
        effects
    }

    /// The state after `event`. Costs no more than the event is large.
    pub fn apply(&mut self, at: Time, event: &Event) {
        // A clock that was set back does not make what happened later happen earlier, and what the sender of an input takes for the
        // time tells nothing about this thread: not how long it was left, nor that anything in it has stirred.
        let is_letter = matches!(event, Event::InputArrived { .. });
        let at = if is_letter { self.last_at } else { at.max(self.last_at) };
        self.change(at, event);
        let is_paused = self.is_paused();
        let Some(run) = &mut self.run else { return };
        match run.clock.paused_at {
            None if is_paused => run.clock.paused_at = Some(self.last_at),
            Some(since) if !is_paused => {
                let waited_ms = self.last_at.since_ms(since);
                run.clock.deadline = run.clock.deadline.map(|deadline| deadline.plus_ms(waited_ms));
                run.clock.paused_at = None;
            }
            Some(_) | None => {}
        }
    }

    fn change(&mut self, at: Time, event: &Event) {
        self.last_at = at;
        if let Some(run) = &mut self.run
            && !matches!(event, Event::StallNoticed { .. } | Event::InputArrived { .. })
        {
            run.clock.stalled_at = None;
        }
        match event {
            Event::ThreadCreated(_) => unreachable!("a thread is created once"),
            Event::InputArrived { id, input } => {
                self.foreign |= matches!(
                    input,
                    Outside::UserSaid { foreign: true, .. }
                        | Outside::Steered { foreign: true, .. }
                        | Outside::Asked { foreign: true, .. }
                        | Outside::Noticed { foreign: true, .. }
                );
                if let Outside::Noticed { tools, .. } = input {
                    self.tools.lend(tools);
                }
                // What people say of a thread is for lists, and waits for no run.
                if self.inbox.seen.insert(id.clone()) && !matches!(input, Outside::Marked { .. }) {
                    self.inbox.arrived.push_back((id.clone(), input.clone()));
                }
            }
            Event::RunStarted { input, prompt, attachments, told, grant, .. } => {
                let (output_schema, origin) = self.inbox.asks(input);
                let sums_up = self.inbox.wants_summary(input);
                self.take(input);
                let text = told.as_ref().map_or_else(|| prompt.clone(), |told| told.with(prompt));
                let mut said = Message::user(text, origin);
                said.parts.extend(attachments.iter().cloned().map(Part::Attached));
                self.talk.push(said);
                self.start_run(at, grant.clone());
                let run = self.run_mut();
                (run.asked, run.output_schema) = (Some(input.clone()), output_schema);
                run.window.sums_up = sums_up;
            }
            Event::Steered { input, text, from, told } => {
                self.take(input);
                self.inbox.steered = true;
                let text = told.as_ref().map_or_else(|| unlogged::steer(from, text).into(), |told| told.with(text));
                self.inbox.notices.push(notice(&text, Origin::Steer));
            }
            Event::InputDropped { input, .. } => self.take(input),
            Event::StopBegun { input, ending } => {
                if let Some(input) = input {
                    self.take(input);
                }
                if self.run.is_none() {
                    self.start_run(at, None);
                }
                let run = self.run_mut();
                run.closing.ending = Some(ending.clone());
                match &mut run.phase {
                    Phase::Asking(asking) => asking.cancelled = true,
                    Phase::Checking(checking) => checking.stopping = true,
                    Phase::Ready | Phase::Acting | Phase::Answered => {}
                }
                self.calls.stop_running();
            }
            Event::TurnStarted(turn) => self.apply_turn(at, turn),
            Event::CallFailed { attempt, error, retry_at, booked, .. } => {
                self.spending.add(&lost_usage(booked, error.tokens.as_deref()));
                if let Some(text) = &error.partial
                    && !text.is_empty()
                {
                    let run = self.run_mut();
                    run.words.last_text = (run.words.cut.concat() + text).into();
                }
                if error.kind == CallErrorKind::ContextTooLong {
                    self.note_too_long(error.window_tokens.map(u64::from));
                }
                self.after_call(at, *retry_at, attempt + 1);
            }
            Event::CallRepeated { booked, .. } => {
                self.spending.add(&lost_usage(booked, None));
                if let Phase::Asking(asking) = &mut self.run_mut().phase {
                    asking.attempt = 1;
                    asking.retry_at = None;
                    asking.failing_since = None;
                }
            }
            Event::Answered(answered) => self.apply_answer(answered),
            Event::ToolStarted { call } => {
                self.calls.start(call, at);
                self.note_tool(call);
                if self.calls.is_writing() {
                    self.reuse.note_change();
                }
            }
            Event::ToolFinished { call, result, told, .. } => {
                self.findings.files_read.add(&result.files_read);
                self.findings.files_modified.add(&result.files_modified);
                self.foreign |= result.foreign.is_some();
                self.note_data(result);
                self.calls.finish(call, result, told.as_ref());
                self.note_results();
            }
            Event::ChecksStarted { call, by, .. } => {
                self.issued.calls.insert(call.clone());
                self.reuse.note_change();
                let checking = Checking { call: call.clone(), by: *by, since: at, stopping: false };
                self.run_mut().phase = Phase::Checking(checking);
            }
            Event::ChecksFinished { result, told, .. } => {
                self.findings.files_read.add(&result.files_read);
                self.findings.files_modified.add(&result.files_modified);
                self.foreign |= result.foreign.is_some();
                let run = self.run_mut();
                let by = match &run.phase {
                    Phase::Checking(checking) => checking.by,
                    Phase::Ready | Phase::Asking(_) | Phase::Acting | Phase::Answered => CheckedBy::Brief,
                };
                run.phase = Phase::Answered;
                match by {
                    CheckedBy::Brief => {
                        run.checks.passed = !result.is_error;
                        run.checks.failed += u32::from(result.is_error);
                    }
                    CheckedBy::Hooks => {
                        run.hooks.passed = told.is_none();
                        run.hooks.failed += u32::from(result.is_error);
                        // Whatever an agent does that is sent back, the checks of its brief look at it.
                        run.checks.passed &= run.hooks.passed;
                    }
                }
                if let Some(told) = told {
                    self.inbox.notices.push(notice(told, Origin::Program));
                }
            }
            Event::ApprovalRequested(approval) => {
                self.issued.questions += 1;
                self.children.places_held += approval.places;
                match approval.midway() {
                    None => self.calls.ask(&approval.call, &approval.id),
                    Some(_) => self.calls.ask_midway(),
                }
                self.approvals.open.insert(approval.id.clone(), (**approval).clone());
            }
            Event::ApprovalResolved { approval, call, input, resolution } => {
                if let Some(input) = input {
                    self.take(input);
                }
                self.apply_resolution(approval, call, resolution);
            }
            Event::SamplingStarted(started) => self.calls.start_sample(started),
            Event::SamplingEnded(ended) => {
                self.spending.add(&ended.usage());
                self.calls.end_sample(ended.number);
            }
            Event::Delegated { call, plan, subtasks, enough } => {
                self.children.places_held += subtasks.len() as u32;
                let graph = Graph::new(plan.clone(), subtasks.clone(), *enough);
                self.calls.set_verb(call, VerbState::Graph(Box::new(graph)));
            }
            Event::SubtaskSkipped { call, index, reason } => {
                self.children.places_held = self.children.places_held.saturating_sub(1);
                if let Some(graph) = self.calls.graph_mut(call) {
                    graph.skip(*index, reason.clone());
                }
            }
            Event::SubtaskRecalled { call, index, child } => {
                self.children.places_held = self.children.places_held.saturating_sub(1);
                let report = self.reuse.reports.values().find(|(id, _)| id == child).map(|(_, report)| report.clone());
                if let (Some(graph), Some(report)) = (self.calls.graph_mut(call), report) {
                    graph.recall(*index, child.clone(), report);
                }
            }
            Event::ChildSpawned(spawned) => self.apply_spawn(spawned),
            Event::ChildAsked(asked) => self.apply_ask(asked),
            Event::ChildIssued { input, .. } => {
                self.take(input);
                self.issued.children += 1;
            }
            Event::ChildStarted { child, again } => {
                self.unqueue(child);
                self.children.running += 1;
                self.spending.used.children += u32::from(!again);
                if let Some(child) = self.children.live.get_mut(child) {
                    child.started = true;
                }
            }
            Event::ChildSaid { child, text, foreign, told } => {
                self.foreign |= foreign;
                let name = self.children.live.get(child).map_or("", |child| &child.kin.name);
                let shown = || unlogged::progress(child, name, text).into();
                self.children.said.insert(child.clone(), told.as_ref().map_or_else(shown, |told| told.with(text)));
            }
            Event::ChildPaused { child, paused } => {
                if *paused {
                    self.children.paused.insert(child.clone());
                } else {
                    self.children.paused.remove(child);
                }
            }
            Event::ChildStopped { child, strength, reason } => {
                if let Some(child) = self.children.live.get_mut(child) {
                    child.stop = Some((*strength, reason.clone()));
                }
            }
            Event::ChildReported { child, report, told } => self.apply_report(child, report, told.as_ref()),
            Event::MessageSent { call, child, text } => {
                self.calls.set_verb(call, VerbState::Tell { child: child.clone(), text: text.clone() });
            }
            Event::ChildAwaited { call, child } => self.calls.set_verb(call, VerbState::Stop(child.clone())),
            Event::WaitStarted { call, children, any, until } => {
                self.calls.set_verb(call, VerbState::Wait { children: children.clone(), any: *any, until: *until });
            }
            Event::ContextTrimmed { calls, told, .. } => {
                self.calls.mask(calls, told);
                self.talk.mask(calls, told);
            }
            Event::ContextCompacted { summary, told } => {
                let shown = || unlogged::summary(summary).into();
                let text: Arc<str> = told.as_ref().map_or_else(shown, |told| told.with(summary));
                self.talk.compact(&text);
                let turn = self.issued.turns;
                let run = self.run_mut();
                run.window.compacted_at = Some(turn);
                if run.window.sums_up {
                    // The summary is all that was wanted, and is what the run reports.
                    run.words.last_text = summary.clone();
                    run.phase = Phase::Answered;
                }
            }
            Event::ToolsChanged { version, added, removed, foreign } => {
                self.foreign |= foreign;
                self.tools.change(version, added, removed);
                self.talk.restart();
            }
            Event::SettingsChanged { input, model, mode, told } => {
                self.take(input);
                if let Some(model) = model {
                    self.model = (**model).clone();
                    self.talk.change_model();
                }
                self.mode = mode.unwrap_or(self.mode);
                self.inbox.notices.extend(told.as_deref().map(|told| notice(told, Origin::Program)));
            }
            Event::StallNoticed { .. } => self.run_mut().clock.stalled_at = Some(at),
            Event::BudgetWarned { limit, .. } => {
                self.spending.warned.insert(limit.clone());
            }
            Event::Reopened { away_ms } => {
                // A clock that stands still is not moved twice.
                if let Some(run) = self.run.as_mut().filter(|run| run.clock.paused_at.is_none()) {
                    run.clock.deadline = run.clock.deadline.map(|deadline| deadline.plus_ms(*away_ms));
                }
            }
            Event::Reported(_) => {
                self.run = None;
                self.inbox.steered = false;
                // A later run goes on in the same conversation, where every call has its result and every report was read.
                let mut parts = self.calls.take_results();
                parts.append(&mut self.inbox.notices);
                if !parts.is_empty() {
                    self.talk.push(Message { role: Speaker::User, parts });
                }
            }
        }
    }

    /// What children said meanwhile, as the model reads it with its next turn.
    pub fn progress_notices(&self) -> Vec<Part> {
        let known = self.children.said.iter().filter(|(child, _)| self.children.live.contains_key(*child));
        known.map(|(_, text)| notice(text, Origin::Program)).collect()
    }

    /// What a child of this thread that has reported is asked, once it has its permit; none where it was started with a brief.
    pub fn child_question(&self, child: &ThreadId) -> Option<(InputId, Outside)> {
        let Order::Asked(asked) = &self.children.live.get(child)?.order else { return None };
        // While the child waited in line, the deadline may have moved.
        let not_after = self.run.as_ref().and_then(|run| run.clock.deadline);
        let question = Outside::Asked {
            text: asked.text.clone(),
            from: self.created.path.join(" › ").into(),
            grant: Box::new(Grant { not_after, ..asked.grant.clone() }),
            foreign: self.foreign,
        };
        Some((asked.input.clone(), question))
    }

    /// The first event of a child of this thread, once the child has its permit; none where the child exists and was asked something.
    pub fn child_created(&self, child: &ThreadId) -> Option<ThreadCreated> {
        let Order::Spawned(spawned) = &self.children.live.get(child)?.order else { return None };
        let mut path = self.created.path.clone();
        path.push(spawned.name.clone());
        // While the child waited in line, the deadline may have moved.
        let not_after = self.run.as_ref().and_then(|run| run.clock.deadline);
        let mut created = ThreadCreated {
            id: child.clone(),
            parent_call: Some(spawned.call.clone()),
            name: spawned.name.clone(),
            role: spawned.role.clone(),
            mode: spawned.mode,
            policy: self.created.policy.clone(),
            grant: Grant { not_after, ..spawned.grant.clone() },
            brief: Some(spawned.brief.clone()),
            workspace: self.created.workspace.clone(),
            place: self.created.place.clone(),
            today: self.created.today.clone(),
            preset: self.created.preset.clone(),
            household: self.created.household.clone(),
            path,
            above: self.created.above.iter().cloned().chain([self.layer()]).collect(),
            progress: spawned.progress,
            lifecycle: self.created.policy.lifecycle,
            created_for: None,
            copied_from: Vec::new(),
            foreign: self.foreign,
            system: None,
            own_words: None,
            opening: None,
        };
        created.write_texts();
        Some(created)
    }

    fn apply_resolution(&mut self, id: &ApprovalId, call: &CallId, resolution: &Resolution) {
        let Some(approval) = self.approvals.open.remove(id) else { return };
        self.children.places_held -= approval.places;
        match approval.midway() {
            None => self.calls.resolve(call, resolution),
            Some(_) => self.calls.resolve_midway(),
        }
        // A question without an answer refuses nothing: the agent goes on by itself.
        if approval.question.is_some() {
            return;
        }
        match resolution {
            Resolution::Allowed { scope: Scope::Thread | Scope::Always, .. } => {
                if let Some(pattern) = approval.standing {
                    let origin = "a person's consent".into();
                    let rule = Rule {
                        tool: approval.tool,
                        pattern: Some(pattern),
                        agent: None,
                        action: Action::Allow,
                        origin,
                    };
                    self.approvals.granted.push(rule);
                }
            }
            Resolution::Allowed { scope: Scope::Once, .. }
            | Resolution::Answered { .. }
            | Resolution::Withdrawn { .. } => {}
            Resolution::Denied { .. } | Resolution::Forbidden { .. } => self.run_mut().words.refused = true,
            Resolution::Expired { rule } | Resolution::Unanswered { rule } => {
                self.run_mut().words.refused = true;
                self.note_unanswered(rule);
            }
        }
    }

    fn note_unanswered(&mut self, rule: &Arc<str>) {
        if !self.findings.unanswered.contains(rule) {
            self.findings.unanswered.push(rule.clone());
        }
    }

    fn take(&mut self, input: &InputId) {
        self.inbox.arrived.retain(|(id, _)| id != input);
    }

    fn start_run(&mut self, at: Time, grant: Option<Box<Grant>>) {
        self.issued.runs += 1;
        self.findings = Findings::default();
        self.spending.begin_run();
        self.reuse.reports.clear();
        let holds = grant.as_deref().unwrap_or(&self.created.grant);
        let own = holds.time_ms.map(|ms| at.plus_ms(ms));
        let deadline = [own, holds.not_after].into_iter().flatten().min();
        let before = (self.spending.used, self.spending.below);
        // A grant of its own has all its places; who came before was paid by another.
        let places_before = if grant.is_some() { self.children.descendants_taken } else { 0 };
        self.run = Some(Run { grant, places_before, ..Run::new(self.issued.runs, at, deadline, before) });
    }

    fn apply_turn(&mut self, at: Time, turn: &TurnStarted) {
        if self.run.is_none() {
            self.start_run(at, None);
        }
        let mut parts = self.calls.take_results();
        parts.append(&mut self.inbox.notices);
        parts.extend(self.progress_notices());
        self.children.said.clear();
        let told = turn.told.clone().or_else(|| unlogged::turn_words(&turn.kind).map(Into::into));
        parts.extend(told.map(|told| notice(&told, Origin::Program)));
        if !parts.is_empty() {
            self.talk.push(Message { role: Speaker::User, parts });
        }
        self.issued.turns = turn.turn;
        let run = self.run_mut();
        if let TurnKind::Last(ending) = &turn.kind {
            // What is said now does not go on where a text was cut off.
            if !run.words.cut.is_empty() {
                run.words.cut.push("\n\n".into());
            }
            run.closing.last_turn_taken = true;
            run.closing.ending = Some(ending.clone());
        }
        run.phase = Phase::Asking(Asking {
            turn: turn.clone(),
            attempt: 1,
            retry_at: None,
            failing_since: None,
            cancelled: false,
        });
    }

    fn after_call(&mut self, at: Time, retry_at: Option<Time>, attempt: u32) {
        let run = self.run_mut();
        match (&mut run.phase, retry_at) {
            (Phase::Asking(asking), Some(retry_at)) => {
                asking.attempt = attempt;
                asking.retry_at = Some(retry_at);
                asking.failing_since.get_or_insert(at);
            }
            (phase, _) => *phase = Phase::Ready,
        }
    }

    fn apply_answer(&mut self, answered: &Answered) {
        self.spending.add(&Usage {
            tokens: answered.tokens,
            counted_tokens: answered.counted_tokens,
            cost_microusd: answered.cost_microusd,
            tool_calls: answered.verdicts.iter().filter(|verdict| verdict.counts).count() as u32,
            model_calls: 1,
            requests: 1,
            children: 0,
            estimated_tokens: answered.estimated_tokens(),
        });
        self.calls = Calls::of(answered);
        self.issued.calls.extend(self.calls.slots().iter().map(|slot| slot.call.clone()));
        let message = Message { role: Speaker::Assistant, parts: answered.parts.clone() };
        let text: Arc<str> = message.text().into();
        if !message.parts.is_empty() {
            self.talk.push(message);
        }
        self.talk.learn(answered.tokens.total());
        let run = self.run.as_mut().expect("an answer belongs to a run");
        let TurnStarted { kind, max_tokens, .. } = match std::mem::replace(&mut run.phase, Phase::Ready) {
            Phase::Asking(asking) => asking.turn,
            Phase::Ready | Phase::Acting | Phase::Answered | Phase::Checking(_) => {
                unreachable!("an answer answers a request")
            }
        };
        run.window.refused = None;
        run.checks.passed = false;
        if kind == TurnKind::Compact {
            return;
        }
        run.note_calls(answered, &self.calls);
        for verdict in &answered.verdicts {
            if let VerdictKind::Refused { rule: Some(rule), .. } = &verdict.what
                && !self.findings.unanswered.contains(rule)
            {
                self.findings.unanswered.push(rule.clone());
            }
        }
        let has_calls = !self.calls.is_empty();
        let is_cut = kind == TurnKind::Work && answered.is_cut();
        let is_half = is_cut && answered.is_half(has_calls, &text);
        run.pace.cut_row += u32::from(is_cut);
        run.pace.half_row += u32::from(is_half);
        run.pace.cut_short = is_half.then(|| CutShort { limit: max_tokens, call: answered.cut_call.clone() });
        let longest = self.model.max_output_tokens;
        let next = match &answered.next {
            Some(next) => next.clone(),
            None => unlogged::next(run, answered, has_calls, is_cut, longest),
        };
        let is_paused = matches!(next, Next::Again { why: Again::Paused, .. });
        run.phase = match has_calls {
            true => Phase::Acting,
            false if is_paused => Phase::Ready,
            // It has said nothing that could be taken for an answer.
            false if is_half && run.closing.ending.is_none() => Phase::Ready,
            false => Phase::Answered,
        };
        let goes_on = matches!(next, Next::Again { why: Again::CutInText | Again::Paused, .. });
        if !has_calls && !is_half && !goes_on {
            (run.pace.cut_row, run.pace.half_row) = (0, 0);
        }
        match next {
            Next::Again { why, told } => {
                run.pace.schema_misses += u32::from(why == Again::Schema);
                if why != Again::Paused {
                    self.inbox.notices.push(notice(&told, Origin::Program));
                }
            }
            Next::Taken => run.words.misfit = answered.schema_error.clone().or_else(|| run.words.misfit.take()),
        }
        run.words.declined = answered.stop == StopReason::Refusal && !has_calls;
        run.note_words(text, goes_on);
        self.note_results();
    }

    fn apply_spawn(&mut self, spawned: &ChildSpawned) {
        let id = spawned.child.clone();
        self.issued.children += 1;
        self.children.descendants_taken = self.children.descendants_taken.saturating_add(1 + spawned.grant.descendants);
        self.spending.carved = self.spending.carved.plus(carved(&spawned.grant));
        match spawned.subtask {
            Some(index) => {
                self.children.places_held = self.children.places_held.saturating_sub(1);
                if let Some(graph) = self.calls.graph_mut(&spawned.call) {
                    graph.spawn(index, id.clone());
                }
            }
            None if !spawned.background => self.calls.set_verb(&spawned.call, VerbState::Child(id.clone())),
            None => {}
        }
        let order = Order::Spawned(Box::new(spawned.clone()));
        self.enqueue(id, Kin::of(spawned), order);
    }

    fn apply_ask(&mut self, asked: &ChildAsked) {
        let id = asked.child.clone();
        let Some((kin, _)) = self.children.reported.remove(&id) else { return };
        if let Some(run) = &mut self.run {
            run.pace.rounds += 1;
        }
        let own = u32::from(self.created.policy.count_mode == CountMode::Active);
        self.children.descendants_taken = self.children.descendants_taken.saturating_add(own + asked.grant.descendants);
        self.spending.carved = self.spending.carved.plus(carved(&asked.grant));
        if !asked.background {
            self.calls.set_verb(&asked.call, VerbState::Child(id.clone()));
        }
        self.enqueue(id, kin, Order::Asked(Box::new(asked.clone())));
    }

    fn enqueue(&mut self, id: ThreadId, kin: Kin, order: Order) {
        self.children.queue.push_back(id.clone());
        self.children.live.insert(id, Child { kin, order, started: false, stop: None, changes: self.reuse.changes });
    }

    fn apply_report(&mut self, id: &ThreadId, report: &Report, told: Option<&Told>) {
        let Some(child) = self.children.live.remove(id) else { return };
        let notice_text = match told {
            Some(told) => Some(told.with(&report.text)),
            None if self.tells_report(id, &child) => {
                Some(unlogged::background_report(id, &child.kin.name, report).into())
            }
            None => None,
        };
        self.inbox.notices.extend(notice_text.map(|text| notice(&text, Origin::Program)));
        self.children.said.remove(id);
        match &child.order {
            Order::Spawned(spawned) if spawned.reusable => {
                let is_fresh = !report.steered && child.changes == self.reuse.changes;
                if report.outcome == Outcome::Completed && is_fresh {
                    let key = task_key(&spawned.brief, &spawned.role, spawned.mode);
                    self.reuse.reports.insert(key, (id.clone(), report.clone()));
                }
            }
            Order::Spawned(_) | Order::Asked(_) => self.reuse.note_change(),
        }
        self.children.paused.remove(id);
        self.spending.carved = self.spending.carved.minus(carved(child.grant()));
        self.spending.add_report(&report.tree);
        if child.started {
            self.children.running -= 1;
        } else {
            self.unqueue(id);
        }
        // One that was never begun did nothing, and its place is free again in any case.
        let (granted, kept) = match self.created.policy.count_mode {
            CountMode::Total => (child.grant().descendants, report.tree.children),
            CountMode::Active => (1 + child.grant().descendants, 0),
        };
        let is_new = matches!(child.order, Order::Spawned(_));
        let unbegun = u32::from(is_new && !child.started && self.created.policy.count_mode == CountMode::Total);
        self.children.descendants_taken =
            self.children.descendants_taken.saturating_sub(granted.saturating_add(unbegun)).saturating_add(kept);
        self.findings.files_modified.add(&report.files_modified);
        for rule in &report.unanswered {
            self.note_unanswered(rule);
        }
        self.foreign |= report.foreign;
        if let Some(index) = child.subtask()
            && let Some(graph) = self.calls.graph_mut(child.call())
        {
            graph.report(index, id.clone(), report.clone());
        }
        self.children
            .reported
            .insert(id.clone(), (Kin { exists: child.started || !is_new, ..child.kin }, report.outcome));
        self.calls.child_over(id);
    }

    /// Whether the model reads a child's report with its next turn: no call waits for it. The call of a delegation may have been
    /// answered without it.
    pub(crate) fn tells_report(&self, id: &ThreadId, child: &Child) -> bool {
        let is_awaited = match child.subtask() {
            Some(_) => self.calls.graph(child.call()).is_some(),
            None => !child.is_background(),
        };
        !is_awaited && !self.calls.is_stopping(id)
    }

    /// Once every call of the newest answer has its result: whether anything came of them.
    fn note_results(&mut self) {
        if self.calls.is_empty() || self.calls.open() > 0 {
            return;
        }
        let Some(run) = &mut self.run else { return };
        if self.calls.came_to_nothing() {
            run.pace.failed_row += 1;
        } else {
            (run.pace.failed_row, run.pace.cut_row, run.pace.half_row) = (0, 0, 0);
        }
    }

    /// The request under way was too long for the provider, which may have said how much it takes.
    fn note_too_long(&mut self, told: Option<u64>) {
        let Some(Phase::Asking(asking)) = self.run.as_ref().map(|run| &run.phase) else { return };
        let (max_tokens, epoch) = (asking.turn.max_tokens, self.talk.epoch());
        let assumed = self.model.context_tokens;
        self.talk.too_long(asking.turn.claim.tokens, assumed, told);
        let window = &mut self.run_mut().window;
        let times = window.refused.map_or(0, |refused| refused.times) + 1;
        window.refused = Some(TooLong { times, max_tokens, epoch });
    }

    fn note_tool(&mut self, call: &CallId) {
        if let Some(slot) = self.calls.slot(call)
            && !self.findings.tools_used.contains(&slot.name)
        {
            self.findings.tools_used.push(slot.name.clone());
        }
    }

    fn note_data(&mut self, result: &ToolResult) {
        if self.created.policy.report_data == ReportData::LastResult && !result.is_error {
            self.findings.last_data = Json::leading_object(&result.content).or_else(|| self.findings.last_data.take());
        }
    }

    fn unqueue(&mut self, child: &ThreadId) {
        if self.children.queue.front() == Some(child) {
            self.children.queue.pop_front();
        } else {
            self.children.queue.retain(|queued| queued != child);
        }
    }

    fn run_mut(&mut self) -> &mut Run {
        self.run.as_mut().expect("this event belongs to a run")
    }
}

impl Spending {
    /// What the thread used itself.
    fn add(&mut self, usage: &Usage) {
        self.used = self.used.plus(usage);
        self.spent = self.spent.plus(usage);
        self.calls_made = self.calls_made.saturating_add(usage.tool_calls);
    }

    /// What a child and its descendants used, with its report.
    fn add_report(&mut self, tree: &Usage) {
        self.below = self.below.plus(tree);
        self.spent = self.spent.plus(tree);
    }

    /// A new run has the whole grant.
    fn begin_run(&mut self) {
        (self.spent, self.calls_made) = (Usage::default(), 0);
        self.warned.clear();
    }
}

impl Reuse {
    /// Something may change what readers have read, or are reading.
    fn note_change(&mut self) {
        self.changes += 1;
        self.reports.clear();
    }
}

/// A task as it is known again: who is asked, with what in hand, and every word of it.
pub fn task_key(brief: &Brief, role: &Role, mode: Mode) -> Arc<str> {
    let key = (brief, &role.name, &role.prompt, &role.model.name, &role.tools, mode);
    serde_json::to_string(&key).expect("our own types serialise to JSON").into()
}

/// What a child's grant takes out of its parent's.
pub fn carved(grant: &Grant) -> Claim {
    Claim {
        tokens: grant.tokens.unwrap_or(0),
        cost_microusd: grant.cost_microusd.unwrap_or(0),
        requests: grant.requests.unwrap_or(0),
        answer_tokens: 0,
    }
}

fn notice(text: &str, origin: Origin) -> Part {
    Part::Text { text: text.into(), origin }
}

/// Whether a call that had started may be run again after a crash.
pub fn may_repeat(reach: Reach, idempotent: bool) -> bool {
    reach == Reach::ReadOnly || idempotent
}

/// The result of a call whose outcome is unknown.
pub fn interrupted(name: &str) -> ToolResult {
    ToolResult::error(format!(
        "interrupted, outcome unknown: the process ended while {name} was running. It was not run again. \
         Look at what is there before you decide."
    ))
}
