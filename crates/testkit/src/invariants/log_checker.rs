//! Checks the log of one thread, event by event: who may spend what, what is open, what is over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent::approval::{ApprovalId, Resolution};
use agent::budget::{Claim, Grant};
use agent::checks::CheckedBy;
use agent::event::{
    Answered, ChildAsked, ChildSpawned, Ending, ThreadCreated, TurnKind, TurnStarted, VerdictKind, lost_usage,
};
use agent::message::Part;
use agent::model::Tokens;
use agent::policy::CountMode;
use agent::tools::Reach;
use agent::{CallId, Effect, Event, InputId, Json, Mode, Outside, Report, Thread, ThreadId, Usage};

use super::pace::Pace;
use super::{Broken, hold};

/// What is known of one thread from its events. Events go in as they are committed, effects as they are handed out.
#[derive(Clone, Debug)]
pub struct LogChecker {
    created: ThreadCreated,
    /// What it may do by now.
    mode: Mode,
    /// The tools that it has.
    tools: BTreeSet<Arc<str>>,
    /// Tools that came with a notice.
    lent: BTreeSet<Arc<str>>,
    /// Requests of which nothing comes.
    pace: Pace,
    /// The run that is open.
    run: Option<Run>,
    reports: Vec<Report>,
    /// Inputs from outside that were not handled, and all that ever came.
    waiting: BTreeMap<InputId, Waiting>,
    known: BTreeSet<InputId>,
    own: Usage,
    below: Usage,
    carved: Claim,
    /// What providers reported beyond what was reserved, here and below: by so much a grant may be overdrawn.
    overdrawn: (u128, u128),
    /// The request under way.
    turn: Option<TurnStarted>,
    calls: Vec<Call>,
    /// What is reserved for requests of servers to the model, by number.
    samples: BTreeMap<u32, Claim>,
    /// The checks of its brief, as of the newest answer.
    checks: Checks,
    /// Hooks that run because it said that it is done.
    hooks: Option<CallId>,
    names: BTreeSet<CallId>,
    children: BTreeMap<ThreadId, Child>,
    /// Reports of children, by the message that they answer; none for the brief.
    reported: BTreeMap<(ThreadId, Option<InputId>), Report>,
    /// Messages that this thread was told not to answer, and why.
    unanswered: BTreeMap<InputId, Arc<str>>,
    /// The number of the last child.
    last_child: u32,
    /// Reported children and all that were begun below them, as far as they keep their places.
    begun_below: u32,
    /// Messages that were sent and that the model has not read.
    unread: Vec<Arc<str>>,
    /// Questions that wait for a person, the calls that wait for them, and the places that are held meanwhile.
    questions: BTreeMap<ApprovalId, (CallId, u32, bool)>,
    /// Subtasks that were accepted and neither spawned nor skipped.
    unspawned: u32,
    /// What was asked of the world and not answered.
    outstanding: Vec<Effect>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Checks {
    Open,
    Running(CallId),
    Passed,
}

#[derive(Clone, Debug)]
struct Waiting {
    input: Outside,
    /// Which one it is of all that came.
    place: usize,
    /// Whether a run went on, or was about to begin, when it came.
    came_in_time: bool,
}

#[derive(Clone, Debug, Default)]
struct Run {
    /// The message that it answers.
    asked: Option<InputId>,
    /// What it may spend, where that is not what the thread was created with, and the places that were taken before it.
    grant: Option<(Grant, u32)>,
    stop: Option<Ending>,
    last_turn_taken: bool,
    before: (Usage, Usage),
    /// What was used since then, here and below. The grant is for one run.
    spent: Usage,
}

#[derive(Clone, Debug)]
struct Call {
    id: CallId,
    verdict: VerdictKind,
    /// Whether it asks a person itself.
    asks: bool,
    /// Its arguments, and those that a person put in their place.
    input: Json,
    /// What a person allowed.
    allowed: Option<Arc<str>>,
    started: bool,
    finished: bool,
}

#[derive(Clone, Debug)]
struct Child {
    grant: Grant,
    /// The message that it was asked; none where that is its brief.
    asked: Option<InputId>,
    begun: bool,
    /// Whether it waits for nothing but a person, as the thread was told.
    paused: bool,
}

impl LogChecker {
    /// The checker of a thread that was created.
    pub fn new(created: &ThreadCreated) -> Self {
        Self {
            created: created.clone(),
            mode: created.mode,
            tools: created.role.tools.iter().cloned().collect(),
            lent: BTreeSet::new(),
            pace: Pace::new(created),
            run: None,
            reports: Vec::new(),
            waiting: BTreeMap::new(),
            known: BTreeSet::new(),
            own: Usage::default(),
            below: Usage::default(),
            carved: Claim::default(),
            overdrawn: (0, 0),
            turn: None,
            calls: Vec::new(),
            samples: BTreeMap::new(),
            checks: Checks::Open,
            hooks: None,
            names: BTreeSet::new(),
            children: BTreeMap::new(),
            reported: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            last_child: 0,
            begun_below: 0,
            unread: Vec::new(),
            questions: BTreeMap::new(),
            unspawned: 0,
            outstanding: Vec::new(),
        }
    }

    /// Whether it was made for a task.
    pub fn is_of_task(&self) -> bool {
        self.created.created_for.is_some()
    }

    /// What the thread itself used.
    pub fn used(&self) -> Usage {
        self.own
    }

    /// The reports that it wrote.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// The report of a child on a message, or on its brief, as it arrived.
    pub fn report_of(&self, child: &ThreadId, asked: Option<&InputId>) -> Option<&Report> {
        self.reported.get(&(child.clone(), asked.cloned()))
    }

    /// What the thread answers to a message, or to its brief; none while it has not.
    pub fn answer_to(&self, asked: Option<&InputId>) -> Option<Report> {
        let written = self.reports.iter().find(|report| report.asked.as_ref() == asked).cloned();
        let dropped = || {
            let reason = self.unanswered.get(asked?)?;
            Some(Report::never_begun(asked?.clone(), reason))
        };
        written.or_else(dropped)
    }

    /// An event was committed.
    pub fn see(&mut self, event: &Event) -> Result<(), Broken> {
        self.resolve(event);
        self.pace.see(event)?;
        let is_over = self.created.brief.is_some() && !self.reports.is_empty() && self.run.is_none();
        let is_input = matches!(
            event,
            Event::InputArrived { .. }
                | Event::InputDropped { .. }
                | Event::RunStarted { .. }
                | Event::ChildIssued { .. }
                | Event::SettingsChanged { .. }
                | Event::Reopened { .. }
        );
        hold(
            "nothing happens to a sub-agent after its report but that it is asked more, or given another mode",
            !is_over || is_input,
            || event.kind().to_owned(),
        )?;
        match event {
            Event::ThreadCreated(_) => return Err(broken("a thread is created once", &"a second creation")),
            Event::InputArrived { id, input } => {
                if let Outside::Noticed { tools, .. } = input {
                    self.lent.extend(tools.iter().cloned());
                }
                // What people say of a thread holds when it arrives.
                if self.known.insert(id.clone()) && !matches!(input, Outside::Marked { .. }) {
                    let is_unbegun = self.created.brief.is_some() && self.reports.is_empty();
                    let came_in_time = self.run.is_some() || is_unbegun;
                    self.waiting
                        .insert(id.clone(), Waiting { input: input.clone(), place: self.known.len(), came_in_time });
                }
            }
            Event::RunStarted { input, grant, .. } => {
                self.handled(input)?;
                hold("a run begins after the one before is over", self.run.is_none(), || format!("{input:?}"))?;
                let is_unbegun = self.created.brief.is_some() && self.reports.is_empty();
                hold("a sub-agent does its brief first", !is_unbegun, || format!("{input:?}"))?;
                self.open_run();
                let grant = grant.as_ref().map(|grant| ((**grant).clone(), self.places()));
                let run = self.run()?;
                (run.asked, run.grant) = (Some(input.clone()), grant);
            }
            Event::Steered { input, text, .. } => {
                self.handled(input)?;
                self.unread.push(text.clone());
            }
            Event::InputDropped { input, reason } => self.dropped(input, reason)?,
            Event::StopBegun { input, ending } => {
                if let Some(input) = input {
                    self.handled(input)?;
                }
                self.open_run();
                self.run()?.stop = Some(ending.clone());
            }
            Event::TurnStarted(turn) => self.turn_started(turn)?,
            Event::CallFailed { retry_at, booked, error, .. } => {
                self.book(*booked, error.tokens.as_deref(), error.received_bytes.is_some())?;
                if retry_at.is_none() {
                    self.turn = None;
                }
            }
            Event::CallRepeated { booked, .. } => {
                let claim = self.turn.as_ref().map(|turn| turn.claim);
                hold("a request that is made again is booked before", claim == Some(*booked), || {
                    format!("{booked:?}")
                })?;
                self.book(*booked, None, false)?;
            }
            Event::Answered(answered) => self.answered(answered)?,
            Event::ToolStarted { call } => self.tool_started(call)?,
            Event::ToolFinished { call, result, .. } => {
                let open = self.calls.iter_mut().find(|open| open.id == *call && !open.finished);
                let Some(open) = open else { return Err(broken("a call is answered once", call)) };
                open.finished = true;
                let is_allowed = result.digest.is_none() || result.digest == open.allowed;
                hold("what was done is what a person allowed", is_allowed, || {
                    format!("{:?}, not {:?}", result.digest, open.allowed)
                })?;
            }
            Event::ChecksStarted { call, by: CheckedBy::Hooks, .. } => {
                self.begins("hooks", call)?;
                hold("hooks have a name of their own", self.names.insert(call.clone()), || call.to_string())?;
                hold("hooks run one after the other", self.hooks.replace(call.clone()).is_none(), || call.to_string())?;
            }
            Event::ChecksStarted { call, by: CheckedBy::Brief, .. } => self.checks_started(call)?,
            Event::ChecksFinished { call, .. } if self.hooks.as_ref() == Some(call) => self.hooks = None,
            Event::ChecksFinished { call, result, .. } => {
                let is_open = self.checks == Checks::Running(call.clone());
                hold("checks are over once", is_open, || call.to_string())?;
                self.checks = if result.is_error { Checks::Open } else { Checks::Passed };
            }
            Event::ApprovalRequested(approval) => {
                self.begins("a question", &approval.id)?;
                let is_midway = approval.midway().is_some();
                let asked = (approval.call.clone(), approval.places, is_midway);
                let asked = self.questions.insert(approval.id.clone(), asked);
                hold("a question is asked once", asked.is_none(), || approval.id.to_string())?;
            }
            Event::ApprovalResolved { approval, call, input, resolution } => {
                if let Some(input) = input {
                    self.handled(input)?;
                }
                let waiting = self.questions.remove(approval);
                let is_midway = waiting.as_ref().is_some_and(|(.., is_midway)| *is_midway);
                hold("a question is answered once", waiting.is_some_and(|(asked, ..)| asked == *call), || {
                    approval.to_string()
                })?;
                if !is_midway {
                    self.resolved(call, resolution)?;
                }
            }
            Event::SamplingStarted(started) => {
                self.begins("a request of a server", &started.number)?;
                let runs = self.calls.iter().any(|call| call.id == started.call && call.started && !call.finished);
                hold("a server asks the model only during a call", runs, || format!("{started:?}"))?;
                let before = self.samples.insert(started.number, started.claim);
                hold("a request of a server is made once", before.is_none(), || format!("{started:?}"))?;
            }
            Event::SamplingEnded(ended) => {
                let claim = self.samples.remove(&ended.number);
                let is_booked = ended.booked != Claim::default();
                hold("only a request that was reserved is booked", claim.is_some() || !is_booked, || {
                    format!("{ended:?}")
                })?;
                let excess = |counted: u64, reserved: u64| u128::from(counted.saturating_sub(reserved));
                let claim = claim.unwrap_or_default();
                self.overdraw(
                    excess(ended.booked.tokens, claim.tokens),
                    excess(ended.booked.cost_microusd, claim.cost_microusd),
                );
                self.spend(&ended.usage())?;
            }
            Event::Delegated { call, subtasks, .. } => {
                self.begins("a verb", call)?;
                self.unspawned += subtasks.len() as u32;
            }
            Event::WaitStarted { call, .. } | Event::MessageSent { call, .. } => self.begins("a verb", call)?,
            Event::SubtaskSkipped { .. } | Event::SubtaskRecalled { .. } => self.unspawned -= 1,
            Event::ChildSpawned(spawned) => self.spawned(spawned)?,
            Event::ChildAsked(asked) => self.child_asked(asked)?,
            Event::ChildIssued { input, child } => {
                self.handled(input)?;
                self.issued(child)?;
            }
            Event::ChildStarted { child, again } => self.child_started(child, *again)?,
            Event::ChildStopped { child, .. } => {
                let lives = self.children.get(child).is_some_and(|child| child.begun);
                hold("only a child that was begun is told to end", lives, || child.to_string())?;
            }
            Event::ChildPaused { child, paused } => {
                let Some(lives) = self.children.get_mut(child).filter(|child| child.begun && child.paused != *paused)
                else {
                    return Err(broken("only a child that was begun waits, and says so once", child));
                };
                lives.paused = *paused;
            }
            Event::ChildReported { child, report, .. } => self.child_reported(child, report)?,
            Event::Reported(report) => self.report(report)?,
            Event::ToolsChanged { added, removed, .. } => self.tools_changed(added, removed)?,
            Event::SettingsChanged { input, mode, .. } => {
                self.handled(input)?;
                hold("model and mode change between two requests", self.turn.is_none(), || format!("{input:?}"))?;
                let above = self.created.above.iter().map(|layer| layer.mode);
                let most = above.fold(Mode::Dangerous, Mode::meet);
                hold("no thread gets a freer mode than those above it", mode.is_none_or(|mode| mode <= most), || {
                    format!("{mode:?}")
                })?;
                let is_stricter = mode.is_some_and(|mode| mode < self.mode);
                hold(
                    "no sub-agent keeps a freer mode than those above it",
                    !is_stricter || self.last_child == 0,
                    || format!("{mode:?}"),
                )?;
                self.mode = mode.unwrap_or(self.mode);
            }
            Event::ChildSaid { .. }
            | Event::ChildAwaited { .. }
            | Event::ContextTrimmed { .. }
            | Event::ContextCompacted { .. }
            | Event::StallNoticed { .. }
            | Event::BudgetWarned { .. }
            | Event::Reopened { .. } => {}
        }
        self.within_grant()
    }

    /// An effect was handed out, after the events that explain it.
    pub fn ask(&mut self, effect: &Effect) -> Result<(), Broken> {
        if let Effect::RunTool { call, input, approved, .. } = effect {
            let own = self.calls.iter().find(|own| own.id == *call);
            let is_same = own.is_some_and(|own| own.allowed == *approved && own.input == *input);
            hold("what runs after a question is exactly what was allowed", is_same, || {
                format!("{effect:?} for {own:?}")
            })?;
        }
        if let Effect::StopChild { child, .. } = effect {
            self.outstanding.retain(|other| !matches!(other, Effect::StopChild { child: same, .. } if same == child));
        }
        // Nothing answers it: the call that asked goes on.
        if !matches!(effect, Effect::AnswerTool { .. } | Effect::AnswerSample { .. }) {
            self.outstanding.push(effect.clone());
        }
        Ok(())
    }

    /// Whether everything that the thread waits for is a person's to give: to itself, or to its children.
    pub fn waits_for_people(&self) -> bool {
        let is_going = self.run.as_ref().is_some_and(|run| run.stop.is_none()) && self.turn.is_none();
        let mut running = self.calls.iter().filter(|call| call.started && !call.finished);
        let mut begun = self.children.values().filter(|child| child.begun).peekable();
        let is_asked = !self.questions.is_empty() || running.clone().next().is_some() || begun.peek().is_some();
        is_going && is_asked && running.all(|call| call.asks) && begun.all(|child| child.paused)
    }

    /// Another process goes on, and whatever was under way is asked for anew.
    pub fn lost(&mut self) {
        self.outstanding.clear();
    }

    /// The thread says the same as the contents.
    pub fn agrees_with(&self, thread: &Thread) -> Result<(), Broken> {
        let same = self.own == thread.spending.used
            && self.below == thread.spending.below
            && self.carved == thread.spending.carved;
        hold("a thread and its log agree about what was used", same, || {
            format!(
                "{:?} {:?} {:?}; log: {:?} {:?} {:?}",
                thread.spending.used, thread.spending.below, thread.spending.carved, self.own, self.below, self.carved
            )
        })?;
        let children = thread.children.live.keys().eq(self.children.keys());
        hold("a thread and its log agree about who lives", children, || format!("{:?}", thread.children.live.keys()))?;
        let left = self.grant().descendants.saturating_sub(self.own_places());
        hold("no place is lost, and none is given twice", left == thread.descendants_left(), || {
            format!("{} are left, and by the log {left}", thread.descendants_left())
        })?;
        let begun = self.begun();
        hold("a thread and its log agree about who runs", begun == thread.children.running, || format!("{begun}"))?;

        let pending = thread.pending();
        let is_same =
            pending.len() == self.outstanding.len() && pending.iter().all(|one| self.outstanding.contains(one));
        hold("what is pending is what was asked and not answered", is_same, || {
            format!("pending {pending:?}, outstanding {:?}", self.outstanding)
        })?;
        let questions = thread.approvals.open.keys().eq(self.questions.keys());
        hold("a thread and its log agree about what is asked", questions, || {
            format!("{:?}", thread.approvals.open.keys())
        })?;
        let waits = !pending.is_empty() || !self.questions.is_empty();
        hold("a run that goes on waits for something", thread.run.is_none() || waits, || format!("{:?}", thread.run))?;
        let ending = self.run.as_ref().is_none_or(|run| run.stop.is_some());
        let most = self.created.policy.max_concurrent.max(1);
        hold(
            "no child waits in line while a permit is free",
            ending || thread.children.queue.is_empty() || begun == most,
            || format!("{begun} of {most} run, and {:?} wait", thread.children.queue),
        )
    }

    /// Nothing is under way any more.
    pub fn at_rest(&self) -> Result<(), Broken> {
        let id = &self.created.id;
        hold("a run always ends", self.run.is_none(), || format!("{id}: {:?}", self.run))?;
        hold("at rest no question is open", self.questions.is_empty(), || format!("{id}: {:?}", self.questions))?;
        hold("at rest nothing is outstanding", self.outstanding.is_empty(), || {
            format!("{id}: {:?}", self.outstanding)
        })?;
        // What only a run could have read may lie where none goes on.
        let may_lie = |one: &Waiting| !one.came_in_time && !one.input.needs_no_run();
        hold("an input is never lost", self.waiting.values().all(may_lie), || format!("{id}: {:?}", self.waiting))
    }

    fn open_run(&mut self) {
        if self.run.is_none() {
            self.run = Some(Run { before: (self.own, self.below), ..Run::default() });
            self.overdrawn = (0, 0);
        }
    }

    fn run(&mut self) -> Result<&mut Run, Broken> {
        self.run.as_mut().ok_or_else(|| broken("what an agent does belongs to a run", &"no run is open"))
    }

    fn handled(&mut self, input: &InputId) -> Result<Outside, Broken> {
        let waiting = self.waiting.remove(input).ok_or_else(|| broken("an input is handled once", input))?;
        Ok(waiting.input)
    }

    fn dropped(&mut self, input: &InputId, reason: &Arc<str>) -> Result<(), Broken> {
        let place = self.waiting.get(input).map_or(0, |waiting| waiting.place);
        let outside = self.handled(input)?;
        // A stop that came later ends what waits with what runs.
        let is_stopped_over = self
            .waiting
            .values()
            .any(|stop| stop.place > place && matches!(stop.input, Outside::Stopped { run: None, .. }));
        let waits = |stop: &Waiting| matches!(&stop.input, Outside::Stopped { run: Some(run), .. } if run == input);
        let is_stopped = self.waiting.values().any(waits);
        let is_about_another =
            |wanted: &Option<InputId>| wanted.is_some() && self.run.as_ref().is_none_or(|run| run.asked != *wanted);
        let (is_child, is_idle) = (self.created.brief.is_some(), self.run.is_none());
        let is_over = is_idle && !(is_child && self.reports.is_empty());
        let is_ending = self.run.as_ref().is_some_and(|run| run.stop.is_some() || run.last_turn_taken);
        let may_drop = match outside {
            Outside::UserSaid { .. } => is_stopped_over,
            Outside::Noticed { .. } | Outside::ChildWanted | Outside::Marked { .. } => false,
            // Its sub-agents could do more than it.
            Outside::Chosen { mode, .. } => mode.is_some_and(|mode| mode < self.mode) && self.last_child > 0,
            // There may be nothing to sum up.
            Outside::SummaryWanted { .. } => is_over || is_stopped_over,
            // Its parent no longer wants to know.
            Outside::Asked { .. } => is_stopped || is_stopped_over,
            Outside::Steered { .. } => is_over,
            Outside::Stopped { ref run, .. } => is_over || is_ending || is_about_another(run),
            // A second decision, a late one, and one about something else mean nothing.
            Outside::Decided { .. } => true,
        };
        if matches!(outside, Outside::Asked { .. }) {
            self.unanswered.insert(input.clone(), reason.clone());
        }
        hold("an input is dropped only where it can mean nothing", may_drop, || format!("{input:?}: {outside:?}"))
    }

    /// Consent makes of a question a call that may be made.
    fn resolved(&mut self, call: &CallId, resolution: &Resolution) -> Result<(), Broken> {
        let Some(call) = self.calls.iter_mut().find(|asked| asked.id == *call && !asked.finished) else {
            return Err(broken("a question is about a call that is open", call));
        };
        let allowed = match call.verdict {
            VerdictKind::Asked { reach, idempotent } => VerdictKind::Run { reach, idempotent },
            VerdictKind::VerbAsked => VerdictKind::Verb,
            VerdictKind::Run { .. } | VerdictKind::Verb | VerdictKind::Refused { .. } => {
                return Err(broken("a question is about a call that asks", call));
            }
        };
        if let Resolution::Allowed { digest, input, .. } = resolution {
            call.verdict = match (allowed, input) {
                (VerdictKind::Run { .. }, Some(_)) => VerdictKind::Run { reach: Reach::World, idempotent: false },
                (allowed, _) => allowed,
            };
            call.allowed = Some(digest.clone());
            call.input = input.clone().unwrap_or_else(|| call.input.clone());
        }
        Ok(())
    }

    /// Something new begins, which an ending thread does not do.
    fn begins(&mut self, what: &str, name: &dyn std::fmt::Debug) -> Result<(), Broken> {
        let run = self.run()?;
        let ending = run.stop.is_some() || run.last_turn_taken;
        hold("an ending thread begins nothing new", !ending, || format!("{what} {name:?}"))
    }

    fn turn_started(&mut self, turn: &TurnStarted) -> Result<(), Broken> {
        self.open_run();
        let open: Vec<&CallId> = self.calls.iter().filter(|call| !call.finished).map(|call| &call.id).collect();
        hold("the model is asked once every call is answered", open.is_empty(), || format!("{open:?}"))?;
        hold("one request at a time", self.turn.is_none(), || format!("{:?}", self.turn))?;
        self.calls.clear();
        self.unread.clear();
        let run = self.run()?;
        let is_last = matches!(turn.kind, TurnKind::Last(_));
        let may_speak = run.stop.as_ref().is_none_or(|ending| ending.last_turn && is_last);
        hold("after a stop there is no turn but a last one", may_speak, || format!("{turn:?}"))?;
        hold("after the last turn there is none", !run.last_turn_taken, || format!("{turn:?}"))?;
        run.last_turn_taken = is_last;
        self.turn = Some(turn.clone());
        Ok(())
    }

    fn book(&mut self, booked: Claim, told: Option<&Tokens>, is_measured: bool) -> Result<(), Broken> {
        let claim = self.turn.as_ref().map(|turn| turn.claim);
        let spends = |claim: Claim| (claim.tokens, claim.cost_microusd);
        let covered = claim.map_or(booked == Claim::default(), |claim| {
            let is_settled = (told.is_some() || is_measured)
                && booked.tokens <= claim.tokens
                && booked.cost_microusd <= claim.cost_microusd;
            (spends(booked) == (0, 0) || booked == claim || is_settled)
                && (booked.requests == 0 || booked.requests == claim.requests)
        });
        hold(
            "what is booked without an answer is what was reserved, what the provider said, or what came",
            covered,
            || format!("{booked:?} of {claim:?}"),
        )?;
        self.spend(&lost_usage(&booked, told))
    }

    fn spend(&mut self, usage: &Usage) -> Result<(), Broken> {
        self.own = self.own.plus(usage);
        let run = self.run()?;
        run.spent = run.spent.plus(usage);
        Ok(())
    }

    fn answered(&mut self, answered: &Answered) -> Result<(), Broken> {
        let Some(turn) = self.turn.take().filter(|turn| turn.turn == answered.turn) else {
            return Err(broken("an answer answers the request under way", &answered.turn));
        };
        self.checks = Checks::Open;
        let excess = |counted: u64, reserved: u64| u128::from(counted.saturating_sub(reserved));
        let (tokens, cost) = (
            excess(answered.counted_tokens, turn.claim.tokens),
            excess(answered.cost_microusd, turn.claim.cost_microusd),
        );
        // Where a provider's absurd figure drove the reckoning against its end, it no longer adds up.
        if answered.estimated && turn.claim.tokens < u64::MAX {
            let prompt = answered.counted_tokens.saturating_sub(answered.tokens.output);
            let reserved = turn.claim.tokens.saturating_sub(turn.max_tokens);
            hold("a prompt is no longer than was reckoned when it was reserved", prompt <= reserved, || {
                format!("{prompt} of {reserved}")
            })?;
        }
        self.overdraw(tokens, cost);
        self.spend(&Usage {
            tokens: answered.tokens,
            counted_tokens: answered.counted_tokens,
            cost_microusd: answered.cost_microusd,
            tool_calls: answered.verdicts.iter().filter(|verdict| verdict.counts).count() as u32,
            model_calls: 1,
            requests: 1,
            children: 0,
            estimated_tokens: answered.estimated_tokens(),
        })?;
        let granted = self.grant().tool_calls;
        let before = self.run()?.before.0.tool_calls;
        let made = self.own.tool_calls - before;
        hold("tool calls stay within the grant", granted.is_none_or(|most| made <= most), || {
            format!("{made} of {granted:?}")
        })?;

        let calls = answered.parts.iter().filter_map(|part| match part {
            Part::ToolCall { id, name, input } => Some((id, name, input)),
            Part::Text { .. } | Part::ToolResult { .. } | Part::Attached(_) | Part::Opaque { .. } => None,
        });
        let judged = calls.clone().map(|(id, ..)| id).eq(answered.verdicts.iter().map(|verdict| &verdict.call));
        hold("every call that stays in an answer has a verdict, in order", judged, || format!("{answered:?}"))?;
        for (verdict, (_, name, input)) in answered.verdicts.iter().zip(calls) {
            let is_new = self.names.insert(verdict.call.clone());
            hold("a name stands for one call alone", is_new, || verdict.call.to_string())?;
            let refused = matches!(verdict.what, VerdictKind::Refused { .. });
            let verdict_kind = verdict.what.clone();
            hold("what cannot be read is not run", !verdict.malformed || refused, || verdict.call.to_string())?;
            self.calls.push(Call {
                id: verdict.call.clone(),
                verdict: verdict_kind,
                asks: &**name == "ask_user",
                input: input.clone(),
                allowed: None,
                started: false,
                finished: refused,
            });
        }
        Ok(())
    }

    fn checks_started(&mut self, call: &CallId) -> Result<(), Broken> {
        self.begins("checks", call)?;
        hold("checks have a name of their own", self.names.insert(call.clone()), || call.to_string())?;
        let is_at_rest = self.turn.is_none() && self.children.is_empty() && self.calls.iter().all(|call| call.finished);
        hold("checks run once all else is over", is_at_rest && self.checks == Checks::Open, || call.to_string())?;
        self.checks = Checks::Running(call.clone());
        Ok(())
    }

    fn tool_started(&mut self, id: &CallId) -> Result<(), Broken> {
        self.begins("a tool", id)?;
        let is_running = |call: &&Call| call.started && !call.finished;
        let running: Vec<Reach> = self.calls.iter().filter(is_running).filter_map(reach).collect();
        let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) else {
            return Err(broken("only a call of the newest answer is run", id));
        };
        hold("a tool is started once", !call.started && !call.finished, || id.to_string())?;
        call.started = true;
        let Some(own) = reach(call) else { return Err(broken("only what may run is run", id)) };
        let alone =
            running.is_empty() || own == Reach::ReadOnly && running.iter().all(|other| *other == Reach::ReadOnly);
        hold("what writes runs alone", alone, || format!("{id} beside {running:?}"))
    }

    fn tools_changed(&mut self, added: &[Arc<str>], removed: &[Arc<str>]) -> Result<(), Broken> {
        hold("tools change between two requests", self.turn.is_none(), || format!("{added:?} {removed:?}"))?;
        let is_news = added.iter().all(|tool| !self.tools.contains(tool));
        hold("a tool is given to a thread that does not have it", is_news, || format!("{added:?}"))?;
        let had = removed.iter().all(|tool| self.tools.remove(tool));
        hold("a tool is taken from a thread that has it", had, || format!("{removed:?}"))?;
        let role = &self.created.role;
        let is_own = |tool: &Arc<str>| role.tools.contains(tool) || self.lent.contains(tool);
        let may_get = added.iter().all(|tool| role.gets_new_tools || is_own(tool));
        hold(
            "a thread whose tools were chosen by name gets no others but those that came with a notice",
            may_get,
            || format!("{added:?}"),
        )?;
        self.tools.extend(added.iter().cloned());
        Ok(())
    }

    fn spawned(&mut self, spawned: &ChildSpawned) -> Result<(), Broken> {
        self.begins("a child", &spawned.child)?;
        let created = &self.created;
        let depth = spawned.child.depth();
        let deep = spawned.grant.depth < created.grant.depth && depth <= created.policy.max_depth;
        hold("no agent stands deeper than it may", deep, || format!("{} at {depth}", spawned.child))?;
        hold("a child's mode is no freer than its parent's", spawned.mode <= self.mode, || spawned.mode.to_string())?;
        let own = |tool: &Arc<str>| self.tools.contains(tool) || created.role.lends.contains(tool);
        hold("a child has no tool that its parent cannot give", spawned.role.tools.iter().all(own), || {
            format!("{:?}", spawned.role.tools)
        })?;
        hold("a child is named after its parent", spawned.child.parent().as_ref() == Some(&created.id), || {
            spawned.child.to_string()
        })?;
        let limited = |granted: Option<u64>, given: Option<u64>| granted.is_none() || given.is_some();
        let requests = |grant: &Grant| grant.requests.map(u64::from);
        let grant = self.grant();
        let carved = limited(requests(grant), requests(&spawned.grant))
            && limited(grant.tokens, spawned.grant.tokens)
            && limited(grant.cost_microusd, spawned.grant.cost_microusd);
        hold("what is limited stays limited below", carved, || format!("{:?}", spawned.grant))?;
        self.carved = self.carved.plus(claim_of(&spawned.grant));
        self.unspawned -= u32::from(spawned.subtask.is_some());
        let child = Child { grant: spawned.grant.clone(), asked: None, begun: false, paused: false };
        self.children.insert(spawned.child.clone(), child);
        self.issued(&spawned.child)
    }

    /// Numbers of children are given out in order, and each once.
    fn issued(&mut self, child: &ThreadId) -> Result<(), Broken> {
        self.last_child += 1;
        let next = self.created.id.child(self.last_child);
        hold("a child's number is given out once", *child == next, || format!("{child}, not {next}"))
    }

    /// A child that has reported is asked more: as one that is spawned, but for its place.
    fn child_asked(&mut self, asked: &ChildAsked) -> Result<(), Broken> {
        self.begins("a question", &asked.child)?;
        let is_over = !self.children.contains_key(&asked.child);
        let has_reported = self.report_of(&asked.child, None).is_some();
        hold("only a child that has reported is asked more", is_over && has_reported, || asked.child.to_string())?;
        let is_new = self.report_of(&asked.child, Some(&asked.input)).is_none();
        hold("a child is asked the same once", is_new, || format!("{:?}", asked.input))?;
        let deep = asked.grant.depth < self.grant().depth;
        hold("no agent stands deeper than it may", deep, || asked.child.to_string())?;
        self.carved = self.carved.plus(claim_of(&asked.grant));
        let (grant, asked_by) = (asked.grant.clone(), Some(asked.input.clone()));
        let child = Child { grant, asked: asked_by, begun: false, paused: false };
        self.children.insert(asked.child.clone(), child);
        Ok(())
    }

    fn child_started(&mut self, id: &ThreadId, again: bool) -> Result<(), Broken> {
        self.begins("a child's work", id)?;
        let child = self.children.get_mut(id).filter(|child| child.asked.is_some() == again);
        let fresh = child.is_some_and(|child| !std::mem::replace(&mut child.begun, true));
        hold("a child is begun once for each thing that it is asked", fresh, || id.to_string())?;
        self.own.children += u32::from(!again);
        let (begun, most) = (self.begun(), self.created.policy.max_concurrent.max(1));
        hold("no more children run than may", begun <= most, || format!("{begun} of {most}"))
    }

    fn child_reported(&mut self, id: &ThreadId, report: &Report) -> Result<(), Broken> {
        let Some(child) = self.children.remove(id).filter(|child| child.asked == report.asked) else {
            return Err(broken("a child's report arrives once", id));
        };
        let granted = |granted: Option<u64>, used: u64| granted.map_or(0, |most| u128::from(used.saturating_sub(most)));
        let tokens = granted(child.grant.tokens, report.tree.counted_tokens);
        let cost = granted(child.grant.cost_microusd, report.tree.cost_microusd);
        self.overdraw(tokens, cost);
        self.carved = self.carved.minus(claim_of(&child.grant));
        self.below = self.below.plus(&report.tree);
        let run = self.run()?;
        run.spent = run.spent.plus(&report.tree);
        if self.created.policy.count_mode == CountMode::Total {
            self.begun_below += u32::from(child.begun && child.asked.is_none()) + report.tree.children;
        }
        self.reported.insert((id.clone(), child.asked), report.clone());
        Ok(())
    }

    fn report(&mut self, report: &Report) -> Result<(), Broken> {
        let Some(run) = self.run.take() else { return Err(broken("a run has one report", &report.outcome)) };
        hold("no report while a child lives", self.children.is_empty(), || format!("{:?}", self.children.keys()))?;
        let are_checked = self.created.brief.as_ref().is_some_and(|brief| !brief.checks.commands.is_empty());
        if report.outcome == agent::Outcome::Completed && run.asked.is_none() && are_checked {
            hold("what counts as done has passed its checks", self.checks == Checks::Passed, || {
                format!("{:?}", self.checks)
            })?;
        }
        let is_checking = matches!(self.checks, Checks::Running(_));
        hold("no report while checks run", !is_checking, || format!("{:?}", self.checks))?;
        hold("no report while the model is asked", self.turn.is_none(), || format!("{:?}", self.turn))?;
        let open: Vec<&CallId> = self.calls.iter().filter(|call| !call.finished).map(|call| &call.id).collect();
        hold("no report while a call is open", open.is_empty(), || format!("{open:?}"))?;
        let usage = self.own.since(&run.before.0);
        let tree = usage.plus(&self.below.since(&run.before.1));
        hold("a report tells what was used", report.usage == usage && report.tree == tree, || {
            format!("{:?} and {:?}, not {usage:?} and {tree:?}", report.usage, report.tree)
        })?;
        let completed = report.outcome == agent::Outcome::Completed;
        hold("what did not complete says why", completed == report.reason.is_none(), || format!("{report:?}"))?;
        hold("an empty answer is no success", !completed || !report.text.trim().is_empty(), || format!("{report:?}"))?;
        for words in std::mem::take(&mut self.unread) {
            let told = report.unfinished.iter().any(|line| line.contains(&*words));
            hold("messages that no model read are reported", told, || words.to_string())?;
        }
        let asked = run.asked.filter(|_| self.created.brief.is_some());
        hold("a report names what it answers", report.asked == asked, || format!("{:?}, not {asked:?}", report.asked))?;
        self.calls.clear();
        self.reports.push(report.clone());
        Ok(())
    }

    /// Reservations and use never exceed the grant, but by what a provider reported beyond what was reserved.
    fn within_grant(&self) -> Result<(), Broken> {
        let claim = self.turn.as_ref().map_or(Claim::default(), |turn| turn.claim);
        let claim = self.samples.values().fold(claim, |sum, sample| sum.plus(*sample));
        let spent = self.run.as_ref().map_or_else(Usage::default, |run| run.spent);
        let sum = |parts: [u64; 3]| parts.map(u128::from).iter().sum::<u128>();
        let fits =
            |granted: Option<u64>, bound: u128, over: u128| granted.is_none_or(|most| bound <= u128::from(most) + over);
        let grant = self.grant();
        let tokens = sum([spent.counted_tokens, self.carved.tokens, claim.tokens]);
        hold("tokens stay within the grant", fits(grant.tokens, tokens, self.overdrawn.0), || {
            format!("{tokens} of {:?}, {} of them reported beyond reservations", grant.tokens, self.overdrawn.0)
        })?;
        let cost = sum([spent.cost_microusd, self.carved.cost_microusd, claim.cost_microusd]);
        hold("money stays within the grant", fits(grant.cost_microusd, cost, self.overdrawn.1), || {
            format!("{cost} of {:?}, {} of it reported beyond reservations", grant.cost_microusd, self.overdrawn.1)
        })?;
        let requests = sum([spent.requests, self.carved.requests, claim.requests].map(u64::from));
        hold("requests stay within the grant", fits(grant.requests.map(u64::from), requests, 0), || {
            format!("{requests} of {:?}", grant.requests)
        })?;
        // Between two runs those count that each of them paid for.
        let taken = if self.run.is_some() { self.own_places() } else { 0 };
        hold("descendants stay within the grant", taken <= grant.descendants, || {
            format!("{taken} of {}", grant.descendants)
        })
    }

    /// What the run that goes on may spend.
    fn grant(&self) -> &Grant {
        let own = self.run.as_ref().and_then(|run| run.grant.as_ref());
        own.map_or(&self.created.grant, |(grant, _)| grant)
    }

    /// Places that are taken out of that grant.
    fn own_places(&self) -> u32 {
        let before = self.run.as_ref().and_then(|run| run.grant.as_ref()).map_or(0, |(_, before)| *before);
        self.places().saturating_sub(before)
    }

    /// Places that are taken, granted below, or held for a child that may yet be started.
    fn places(&self) -> u32 {
        let own = |child: &Child| child.asked.is_none() || self.created.policy.count_mode == CountMode::Active;
        let living = self.children.values().map(|child| u32::from(own(child)) + child.grant.descendants).sum::<u32>();
        let asked_about = self.questions.values().map(|(_, places, _)| places).sum::<u32>();
        self.begun_below + living + self.unspawned + asked_about
    }

    fn overdraw(&mut self, tokens: u128, cost: u128) {
        self.overdrawn = (self.overdrawn.0 + tokens, self.overdrawn.1 + cost);
    }

    /// Takes away what `event` answers.
    fn resolve(&mut self, event: &Event) {
        self.outstanding.retain(|effect| match (event, effect) {
            (
                Event::CallFailed { turn, .. }
                | Event::CallRepeated { turn, .. }
                | Event::Answered(Answered { turn, .. }),
                Effect::CallModel { turn: same, .. } | Effect::CancelModel { turn: same },
            ) => turn != same,
            (Event::SamplingEnded(ended), Effect::Sample { number, .. }) => ended.number != *number,
            (
                Event::ToolFinished { call, .. } | Event::ChecksFinished { call, .. },
                Effect::RunTool { call: same, .. }
                | Effect::RunChecks { call: same, .. }
                | Effect::StopTool { call: same }
                | Effect::TellChild { call: same, .. },
            ) => call != same,
            (
                Event::ChildReported { child, .. },
                Effect::StartChild { child: same } | Effect::StopChild { child: same, .. },
            ) => child != same,
            _ => true,
        });
    }

    fn begun(&self) -> u32 {
        self.children.values().filter(|child| child.begun).count() as u32
    }
}

fn reach(call: &Call) -> Option<Reach> {
    match &call.verdict {
        VerdictKind::Run { reach, .. } => Some(*reach),
        VerdictKind::Asked { .. } | VerdictKind::Verb | VerdictKind::VerbAsked | VerdictKind::Refused { .. } => None,
    }
}

fn claim_of(grant: &Grant) -> Claim {
    Claim {
        tokens: grant.tokens.unwrap_or(0),
        cost_microusd: grant.cost_microusd.unwrap_or(0),
        requests: grant.requests.unwrap_or(0),
        answer_tokens: 0,
    }
}

fn broken(rule: &'static str, found: &dyn std::fmt::Debug) -> Broken {
    Broken { rule, found: format!("{found:?}") }
}
