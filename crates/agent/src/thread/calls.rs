//! The calls of one answer: which are open, which run, which wait for their turn, and what came of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::approval::{ApprovalId, Resolution};
use crate::budget::Claim;
use crate::effect::Effect;
use crate::event::{Answered, MadeCall, VerdictKind};
use crate::id::{CallId, ThreadId, Time};
use crate::json::Json;
use crate::message::{Part, Told};
use crate::sampling::SamplingStarted;
use crate::tools::{ASK_USER, Reach, ToolResult};
use crate::verb::Verb;

use super::graph::Graph;
use super::unlogged;

/// The calls of the newest answer, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    slots: Vec<Slot>,
    places: BTreeMap<CallId, usize>,
    /// Calls without a result.
    open: usize,
    /// Tools that run.
    running: usize,
    /// Questions to a person of those that run.
    asking: usize,
    /// Whether one of them writes: then it runs alone.
    writing: bool,
    /// The first slot that may not have been begun.
    cursor: usize,
    /// Whether any of the calls is one of a tool: of verbs alone, none is ever next to start.
    has_tools: bool,
    /// Calls that wait for a child to be over, by child.
    watching: BTreeMap<ThreadId, Vec<CallId>>,
    /// When waiting calls give up.
    waits: BTreeMap<CallId, Time>,
    /// What the model is asked for servers on behalf of calls that run, by number.
    samples: BTreeMap<u32, SamplingStarted>,
    /// How often it was asked on behalf of each call.
    sampled: BTreeMap<CallId, u32>,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// Its name.
    pub call: CallId,
    /// The tool.
    pub name: Arc<str>,
    /// Its arguments.
    pub input: Json,
    /// What the rules made of it.
    pub verdict: VerdictKind,
    /// How far it is.
    pub state: SlotState,
    /// What a person's consent is bound to, once it was given.
    pub approved: Option<Arc<str>>,
    /// Whether a person put other arguments in the place of the agent's.
    pub edited: bool,
    /// What came of it.
    pub result: Option<ToolResult>,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub enum SlotState {
    /// It was not begun.
    Waiting,
    /// A person decides whether it may be.
    Asked(ApprovalId),
    /// The tool runs.
    Running {
        /// Since when.
        since: Time,
        /// Whether it was told to end.
        stopping: bool,
    },
    /// A verb is under way.
    Verb(VerbState),
    /// It has its result.
    Done,
}

/// What a verb waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum VerbState {
    /// One child's report.
    Child(ThreadId),
    /// The subtasks of a delegation.
    Graph(Box<Graph>),
    /// Background children.
    Wait {
        /// Those that are not over yet.
        children: Vec<ThreadId>,
        /// Whether one of them is enough.
        any: bool,
        /// Until when.
        until: Option<Time>,
    },
    /// A child that was told to end.
    Stop(ThreadId),
    /// A message on its way to a child.
    Tell {
        /// The child.
        child: ThreadId,
        /// The words.
        text: Arc<str>,
    },
}

impl Calls {
    pub(super) fn of(answered: &Answered) -> Self {
        let mut calls = Self { slots: Vec::with_capacity(answered.verdicts.len()), ..Self::default() };
        for MadeCall { call, name, input, verdict } in answered.calls() {
            let verdict = verdict.expect("every call that stays in an answer has a verdict");
            calls.places.insert(call.clone(), calls.slots.len());
            let result = match &verdict.what {
                VerdictKind::Refused { reason, .. } => Some(ToolResult::error(reason.clone())),
                VerdictKind::Run { .. } | VerdictKind::Asked { .. } | VerdictKind::Verb | VerdictKind::VerbAsked => {
                    None
                }
            };
            calls.open += usize::from(result.is_none());
            calls.has_tools |= matches!(verdict.what, VerdictKind::Run { .. } | VerdictKind::Asked { .. });
            calls.slots.push(Slot {
                call: call.clone(),
                name,
                input,
                verdict: verdict.what.clone(),
                state: if result.is_none() { SlotState::Waiting } else { SlotState::Done },
                approved: None,
                edited: false,
                result,
            });
        }
        calls
    }

    /// Whether the answer had no calls.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Calls without a result.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Tools that run.
    pub fn running(&self) -> usize {
        self.running
    }

    /// Whether tools run that do more than wait for a person's words.
    pub fn is_working(&self) -> bool {
        self.running > self.asking
    }

    /// Whether a tool waits for a person's words.
    pub fn asks_person(&self) -> bool {
        self.asking > 0
    }

    /// Whether no call did anything: each failed or was refused.
    pub fn came_to_nothing(&self) -> bool {
        self.slots.iter().all(|slot| slot.result.as_ref().is_some_and(ToolResult::came_to_nothing))
    }

    /// Bytes of all results, as the model will read them.
    pub fn result_bytes(&self) -> usize {
        let attached = |result: &ToolResult| result.attachments.iter().map(|one| one.tokens * 4).sum::<u64>();
        let result = |slot: &Slot| {
            slot.result
                .as_ref()
                .map_or(0, |result| result.content.len() + usize::try_from(attached(result)).unwrap_or(0))
        };
        self.slots.iter().map(|slot| slot.call.as_str().len() + result(slot) + 24).sum()
    }

    /// Whether a tool that runs may change something.
    pub fn is_writing(&self) -> bool {
        self.writing
    }

    /// All calls, in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// A call by name.
    pub fn slot(&self, call: &CallId) -> Option<&Slot> {
        self.places.get(call).map(|place| &self.slots[*place])
    }

    /// The delegation that a call stands for.
    pub fn graph(&self, call: &CallId) -> Option<&Graph> {
        match &self.slot(call)?.state {
            SlotState::Verb(VerbState::Graph(graph)) => Some(graph),
            SlotState::Verb(_)
            | SlotState::Waiting
            | SlotState::Asked(_)
            | SlotState::Running { .. }
            | SlotState::Done => None,
        }
    }

    /// The next tool that may begin: readers run side by side, a writer runs alone and in its place, and no call overtakes a
    /// tool that a person decides on. Sub-agents work beside tools, and so do questions about them.
    pub fn next_to_start(&self) -> Option<&Slot> {
        if !self.has_tools {
            return None;
        }
        for slot in &self.slots[self.cursor..] {
            if matches!(slot.state, SlotState::Asked(_)) && slot.verdict != VerdictKind::VerbAsked {
                return None;
            }
            let (SlotState::Waiting, VerdictKind::Run { reach, .. }) = (&slot.state, &slot.verdict) else { continue };
            let blocked = if *reach == Reach::ReadOnly { self.writing } else { self.running > 0 };
            return (!blocked).then_some(slot);
        }
        None
    }

    /// The calls that wait for `child` to be over.
    pub fn watchers(&self, child: &ThreadId) -> &[CallId] {
        self.watching.get(child).map_or(&[], Vec::as_slice)
    }

    /// Whether a call waits for the end of a child that it stopped: its report is that call's answer.
    pub fn is_stopping(&self, child: &ThreadId) -> bool {
        self.watchers(child)
            .iter()
            .any(|call| matches!(self.slot(call).map(|slot| &slot.state), Some(SlotState::Verb(VerbState::Stop(_)))))
    }

    /// The waiting calls whose time is over.
    pub fn waits_over(&self, now: Time) -> Vec<CallId> {
        self.waits.iter().filter(|(_, until)| **until <= now).map(|(call, _)| call.clone()).collect()
    }

    pub(super) fn next_wait(&self) -> Option<Time> {
        self.waits.values().min().copied()
    }

    pub(super) fn start(&mut self, call: &CallId, at: Time) {
        let place = self.places[call];
        let slot = &mut self.slots[place];
        slot.state = SlotState::Running { since: at, stopping: false };
        self.running += 1;
        self.asking += usize::from(&*slot.name == ASK_USER);
        self.cursor = self.cursor.max(place + 1);
        self.writing |= !matches!(slot.verdict, VerdictKind::Run { reach: Reach::ReadOnly, .. });
    }

    pub(super) fn ask(&mut self, call: &CallId, approval: &ApprovalId) {
        if let Some(place) = self.places.get(call) {
            self.slots[*place].state = SlotState::Asked(approval.clone());
        }
    }

    /// A call that runs waits for a person's words.
    pub(super) fn ask_midway(&mut self) {
        self.asking += 1;
    }

    /// It no longer does.
    pub(super) fn resolve_midway(&mut self) {
        self.asking = self.asking.saturating_sub(1);
    }

    pub(super) fn start_sample(&mut self, started: &SamplingStarted) {
        *self.sampled.entry(started.call.clone()).or_default() += 1;
        self.samples.insert(started.number, started.clone());
    }

    pub(super) fn end_sample(&mut self, number: u32) {
        self.samples.remove(&number);
    }

    /// What the model is asked for a server, while it is.
    pub fn sample(&self, number: u32) -> Option<&SamplingStarted> {
        self.samples.get(&number)
    }

    /// What it is asked on behalf of a call.
    pub fn samples_of(&self, call: &CallId) -> Vec<SamplingStarted> {
        self.samples.values().filter(|sample| sample.call == *call).cloned().collect()
    }

    /// How often it was asked on behalf of a call.
    pub fn sampled(&self, call: &CallId) -> u32 {
        self.sampled.get(call).copied().unwrap_or_default()
    }

    pub(super) fn sampling_claim(&self) -> Claim {
        self.samples.values().fold(Claim::default(), |sum, sample| sum.plus(sample.claim))
    }

    /// A question was answered: where that is leave, the call may begin in its place.
    pub(super) fn resolve(&mut self, call: &CallId, resolution: &Resolution) {
        let Some(place) = self.places.get(call) else { return };
        let slot = &mut self.slots[*place];
        slot.state = SlotState::Waiting;
        let Resolution::Allowed { digest, input, .. } = resolution else { return };
        slot.approved = Some(digest.clone());
        if let Some(input) = input {
            (slot.input, slot.edited) = (input.clone(), true);
        }
        slot.verdict = match (&slot.verdict, input) {
            (VerdictKind::Asked { reach, idempotent }, None) => {
                VerdictKind::Run { reach: *reach, idempotent: *idempotent }
            }
            // What was judged is not what runs: it runs alone, and never again.
            (VerdictKind::Asked { .. }, Some(_)) => VerdictKind::Run { reach: Reach::World, idempotent: false },
            (VerdictKind::VerbAsked, _) => VerdictKind::Verb,
            (VerdictKind::Run { .. } | VerdictKind::Verb | VerdictKind::Refused { .. }, _) => slot.verdict.clone(),
        };
    }

    pub(super) fn finish(&mut self, call: &CallId, result: &ToolResult, told: Option<&Told>) {
        let Some(place) = self.places.get(call).copied() else { return };
        let slot = &mut self.slots[place];
        if slot.result.is_some() {
            return;
        }
        let is_report = slot.is_handed_over();
        if matches!(slot.state, SlotState::Running { .. }) {
            self.running -= 1;
            self.asking -= usize::from(&*slot.name == ASK_USER);
            self.writing = false;
        }
        slot.state = SlotState::Done;
        let foreign = result.foreign.as_deref().or(is_report.then_some("report"));
        let shown = || unlogged::result(foreign, slot.edited.then_some(&slot.input), &result.content);
        let content = told.map_or_else(shown, |told| told.with(&result.content));
        slot.result = Some(ToolResult { content, ..result.clone() });
        self.open -= 1;
        self.waits.remove(call);
    }

    /// Puts other texts in the place of results that the model has not read yet.
    pub(super) fn mask(&mut self, calls: &[CallId], told: &[Arc<str>]) {
        for (call, text) in calls.iter().zip(told) {
            let Some(place) = self.places.get(call) else { continue };
            if let Some(result) = &mut self.slots[*place].result {
                result.content = text.clone();
            }
        }
    }

    pub(super) fn stop_running(&mut self) {
        for slot in &mut self.slots {
            if let SlotState::Running { stopping, .. } = &mut slot.state {
                *stopping = true;
            }
        }
    }

    pub(super) fn set_verb(&mut self, call: &CallId, state: VerbState) {
        let Some(place) = self.places.get(call).copied() else { return };
        match &state {
            VerbState::Child(child) | VerbState::Stop(child) => self.watch(child.clone(), call),
            VerbState::Wait { children, until, .. } => {
                for child in children {
                    self.watch(child.clone(), call);
                }
                if let Some(until) = until {
                    self.waits.insert(call.clone(), *until);
                }
            }
            VerbState::Graph(_) | VerbState::Tell { .. } => {}
        }
        self.slots[place].state = SlotState::Verb(state);
    }

    pub(super) fn graph_mut(&mut self, call: &CallId) -> Option<&mut Graph> {
        let place = *self.places.get(call)?;
        match &mut self.slots[place].state {
            SlotState::Verb(VerbState::Graph(graph)) => Some(graph),
            SlotState::Verb(_)
            | SlotState::Waiting
            | SlotState::Asked(_)
            | SlotState::Running { .. }
            | SlotState::Done => None,
        }
    }

    /// A child is over: a call that waits for several of them waits for one less.
    pub(super) fn child_over(&mut self, child: &ThreadId) {
        for call in self.watching.get(child).cloned().unwrap_or_default() {
            let place = self.places[&call];
            if let SlotState::Verb(VerbState::Wait { children, .. }) = &mut self.slots[place].state {
                children.retain(|waiting| waiting != child);
            }
        }
    }

    /// The results as the model reads them, in the order of the calls, then what is shown with them; afterwards there are no calls.
    pub(super) fn take_results(&mut self) -> Vec<Part> {
        let mut attached = Vec::new();
        let results = std::mem::take(self).slots.into_iter().map(|slot| {
            let result = slot.result.expect("the model is asked again once every call has its result");
            attached.extend(result.attachments.into_iter().map(Part::Attached));
            Part::ToolResult { id: slot.call, content: result.content, is_error: result.is_error }
        });
        let mut parts: Vec<Part> = results.collect();
        parts.append(&mut attached);
        parts
    }

    pub(super) fn pending(&self) -> Vec<Effect> {
        let mut effects: Vec<Effect> = self.samples.values().map(SamplingStarted::effect).collect();
        for slot in &self.slots {
            match &slot.state {
                SlotState::Running { stopping, .. } => {
                    effects.push(slot.run());
                    if *stopping {
                        effects.push(Effect::StopTool { call: slot.call.clone() });
                    }
                }
                SlotState::Verb(VerbState::Tell { child, text }) => effects.push(Effect::TellChild {
                    child: child.clone(),
                    call: slot.call.clone(),
                    text: text.clone(),
                }),
                SlotState::Waiting | SlotState::Asked(_) | SlotState::Done | SlotState::Verb(_) => {}
            }
        }
        effects
    }

    fn watch(&mut self, child: ThreadId, call: &CallId) {
        self.watching.entry(child).or_default().push(call.clone());
    }
}

impl Slot {
    /// Whether it waits for the report of an agent to which work was handed over.
    pub fn is_handed_over(&self) -> bool {
        Verb::of(&self.name) == Some(Verb::Delegate) && matches!(self.state, SlotState::Verb(VerbState::Child(_)))
    }

    /// The tool's run as an effect.
    pub fn run(&self) -> Effect {
        Effect::RunTool {
            call: self.call.clone(),
            name: self.name.clone(),
            input: self.input.clone(),
            approved: self.approved.clone(),
        }
    }
}
