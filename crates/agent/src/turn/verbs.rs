//! The verbs by which an agent deals with its children: each is begun here, once a person allowed it where one is asked, and
//! answered here or by a child's report.

use std::fmt::Write;
use std::sync::Arc;

use crate::brief::Brief;
use crate::effect::Effect;
use crate::event::{Event, VerdictKind};
use crate::id::{CallId, ThreadId};
use crate::input::Strength;
use crate::machine::Moment;
use crate::report::Outcome;
use crate::thread::{Kin, Slot, SlotState, Thread, VerbState};
use crate::tools::ToolResult;
use crate::turn::spawn::{Accepted, ChildRequest};
use crate::turn::starting::{self, Starting};
use crate::turn::{approval, child, delegate, hand_over, spawn, stop, tool_calls};
use crate::vocabulary::arguments::ignored_line;
use crate::vocabulary::{self, VerbCall};

/// Begins every verb of the newest answer, in its order, or asks about it first.
pub fn start_all(moment: &mut Moment<'_>) {
    let is_verb = |slot: &&Slot| matches!(slot.verdict, VerdictKind::Verb | VerdictKind::VerbAsked);
    let slots: Vec<Slot> = moment.thread.calls.slots().iter().filter(is_verb).cloned().collect();
    let starting = |slot: Slot| (Starting::of(moment.thread, &moment.facts.catalog, &slot.name, &slot.input), slot);
    let verbs: Vec<(Option<Starting>, Slot)> = slots.into_iter().map(starting).collect();
    let is_single = |starting: &Option<Starting>| starting.as_ref().is_some_and(Starting::is_single);
    let mut siblings = verbs.iter().filter(|(starting, _)| is_single(starting)).count() as u32;
    for (starting, slot) in verbs {
        match &starting {
            Some(starting) if slot.verdict == VerdictKind::VerbAsked => ask_first(moment, &slot, starting),
            _ => begin(moment, &slot, siblings + asked_about(moment)),
        }
        siblings -= u32::from(is_single(&starting));
    }
}

/// A person allowed a verb: it begins, with the arguments that were allowed.
pub fn start_allowed(moment: &mut Moment<'_>, call: &CallId) {
    if let Some(slot) = moment.thread.calls.slot(call).filter(|slot| slot.verdict == VerdictKind::Verb).cloned() {
        begin(moment, &slot, 1 + asked_about(moment));
    }
}

/// A message to a child was written into its log, or came too late.
pub fn told(moment: &mut Moment<'_>, call: &CallId, delivered: bool) {
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let SlotState::Verb(VerbState::Tell { child, .. }) = &slot.state else { return };
    let result = if delivered {
        ToolResult::ok(format!("{child} reads it at its next step."))
    } else {
        ToolResult::error(format!(
            "{child} finished before it could read this. Its report reaches you; then message_agent asks it more."
        ))
    };
    tool_calls::answer(moment, call, result);
}

/// A wait is over: because of its children, or because of its time.
pub fn wait_over(moment: &mut Moment<'_>, call: &CallId, timed_out: bool) {
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let SlotState::Verb(VerbState::Wait { children, .. }) = &slot.state else { return };
    let still = names(moment, children);
    let mut text = if timed_out { "The time to wait is over.".to_owned() } else { "The wait is over.".to_owned() };
    if !still.is_empty() {
        let _ = write!(text, " Still running: {still}.");
    }
    text.push_str(" Reports of those that finished are below, or came before.");
    tool_calls::answer(moment, call, ToolResult::ok(text));
}

/// Starts one child for a call, which waits for its report unless the request is for the background.
pub fn start_one(
    moment: &mut Moment<'_>,
    call: &CallId,
    request: &ChildRequest,
    brief: Brief,
    siblings: u32,
) -> Result<(), String> {
    let id = match spawn::accept(moment, call, None, request, brief, siblings)? {
        Accepted::Spawned(id) => id,
        Accepted::Recalled(id) => {
            let Some((_, report)) = moment.thread.reuse.reports.values().find(|(child, _)| *child == id).cloned()
            else {
                return Err(format!("the report of {id} is no longer there"));
            };
            let name = moment.thread.children.reported.get(&id).map_or("sub-agent", |(kin, _)| &*kin.name);
            let verb = moment.thread.calls.slot(call).map_or("", |slot| &*slot.name);
            let text = vocabulary::recalled(verb, &id, name, &report);
            tool_calls::answer(moment, call, ToolResult::ok(text));
            return Ok(());
        }
    };
    if request.background {
        let mut text = in_background(moment, &id, "works");
        text.push_str(&ignored_line(&request.ignored));
        tool_calls::answer(moment, call, ToolResult::ok(text));
    }
    Ok(())
}

/// What is said of a child for which no call waits.
fn in_background(moment: &Moment<'_>, id: &ThreadId, works: &str) -> String {
    let child = &moment.thread.children.live[id];
    let mut text = format!("{} ({id}) {works} in the background; its report reaches you by itself.", child.kin.name);
    for note in child.narrowed() {
        let _ = write!(text, "\n({note})");
    }
    text
}

/// Tells a running child something, or asks one that has reported something more. Such a call waits for the answer as `spawn_agent` does,
/// unless it is wanted in the background.
fn message(
    moment: &mut Moment<'_>,
    call: &CallId,
    who: &str,
    text: Arc<str>,
    background: bool,
    siblings: u32,
) -> Result<(), String> {
    if let Some(child) = moment.thread.finished_child(who)? {
        spawn::ask(moment, call, &child, text, background, siblings)?;
        if background {
            let text = in_background(moment, &child, "goes on");
            tool_calls::answer(moment, call, ToolResult::ok(text));
        }
        return Ok(());
    }
    let child = find(moment, who)?;
    if !moment.thread.children.live[&child].started {
        return Err(format!("{child} waits in line and reads nothing yet. Stop it and spawn it with the whole task"));
    }
    moment.emit(Event::MessageSent { call: call.clone(), child: child.clone(), text: text.clone() });
    moment.ask(Effect::TellChild { child, call: call.clone(), text });
    Ok(())
}

fn wait(
    moment: &mut Moment<'_>,
    call: &CallId,
    named: Option<Vec<Arc<str>>>,
    any: bool,
    seconds: Option<f64>,
) -> Result<(), String> {
    let children: Vec<ThreadId> = match named {
        Some(named) if !named.is_empty() => {
            let still = named.iter().filter(|who| over(moment, who).is_none());
            still.map(|who| find(moment, who)).collect::<Result<_, _>>()?
        }
        Some(_) | None => moment.thread.children.live.keys().cloned().collect(),
    };
    if children.is_empty() {
        tool_calls::answer(moment, call, ToolResult::ok("No sub-agent is running; every report has reached you."));
        return Ok(());
    }
    let until = seconds.map(|seconds| moment.now.plus_ms((seconds * 1000.0) as u64));
    moment.emit(Event::WaitStarted { call: call.clone(), children, any, until });
    Ok(())
}

/// Stops a child for a call, which is answered with its report.
fn stop(
    moment: &mut Moment<'_>,
    call: &CallId,
    who: &str,
    strength: Strength,
    reason: &Arc<str>,
) -> Result<(), String> {
    let id = find(moment, who)?;
    moment.emit(Event::ChildAwaited { call: call.clone(), child: id.clone() });
    if moment.thread.children.live[&id].started {
        stop::stop_child(moment, &id, strength, reason);
    } else {
        let report = stop::never_begun(&moment.thread.children.live[&id], reason);
        child::reported(moment, &id, &report);
    }
    Ok(())
}

/// Puts the question, and holds the places until it is answered; where there is no room, no question is put.
fn ask_first(moment: &mut Moment<'_>, slot: &Slot, starting: &Starting) {
    match starting::check(moment, &slot.name, starting) {
        Ok(()) => approval::ask(moment, &slot.call),
        Err(reason) => tool_calls::answer(moment, &slot.call, ToolResult::error(reason)),
    }
}

fn begin(moment: &mut Moment<'_>, slot: &Slot, siblings: u32) {
    let asked_for = vocabulary::read(moment.thread, &slot.name, &slot.input);
    if let Err(reason) = asked_for.and_then(|asked_for| perform(moment, slot, asked_for, siblings)) {
        tool_calls::answer(moment, &slot.call, ToolResult::error(reason));
    }
    child::start_queued(moment);
}

fn perform(moment: &mut Moment<'_>, slot: &Slot, asked_for: VerbCall, siblings: u32) -> Result<(), String> {
    vocabulary::check_room(moment.thread, &slot.name, &asked_for)?;
    let call = &slot.call;
    let begun = match asked_for {
        VerbCall::Start { request, .. } => {
            spawn::check_schema(moment, &request.checks)?;
            let brief = spawn::brief(moment.thread, &request);
            start_one(moment, call, &request, brief, siblings)
        }
        VerbCall::HandOver(order) => hand_over::start(moment, call, &order, siblings),
        VerbCall::Split { plan, subtasks, enough, .. } => delegate::accept(moment, call, plan, subtasks, enough),
        VerbCall::Message { who, text, background } => message(moment, call, &who, text, background, siblings),
        VerbCall::Wait { who, any, seconds } => wait(moment, call, who, any, seconds),
        VerbCall::Stop { who, strength, reason } => stop(moment, call, &who, strength, &reason),
        VerbCall::List(listed) => {
            let text = vocabulary::list(moment.thread, &moment.facts.catalog, &slot.name, listed);
            tool_calls::answer(moment, call, ToolResult::ok(text));
            Ok(())
        }
    };
    begun.map_err(|reason| vocabulary::refusal(&slot.name, reason))
}

/// Sub-agents that a person is asked about: what there is, is shared with them.
fn asked_about(moment: &Moment<'_>) -> u32 {
    moment.thread.approvals.open.values().map(|approval| approval.places).sum()
}

/// A child by id, by the end of its id, or by a name that only one has.
fn find(moment: &Moment<'_>, who: &str) -> Result<ThreadId, String> {
    let children = &moment.thread.children.live;
    let exact = ThreadId::new(who);
    if children.contains_key(&exact) {
        return Ok(exact);
    }
    let own = own_name(moment.thread, who);
    let matches: Vec<&ThreadId> = children
        .iter()
        .filter(|(id, child)| **id == own || child.kin.name.eq_ignore_ascii_case(who))
        .map(|(id, _)| id)
        .collect();
    match matches.as_slice() {
        [one] => Ok((*one).clone()),
        [] => match over(moment, who) {
            Some((id, name, outcome)) => Err(format!("{name} ({id}) is over: {outcome}")),
            None if children.is_empty() => Err(format!("there is no sub-agent '{who}', and none is running")),
            None => Err(format!("there is no running sub-agent '{who}'; running: {}", names(moment, &all(moment)))),
        },
        several => {
            let ids = several.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
            Err(format!("several sub-agents are called '{who}'; use an id: {ids}"))
        }
    }
}

/// A child that has reported and that no running one shares its name with.
fn over<'a>(moment: &'a Moment<'_>, who: &str) -> Option<(&'a ThreadId, &'a str, Outcome)> {
    let (exact, own) = (ThreadId::new(who), own_name(moment.thread, who));
    let is_meant = |id: &ThreadId, name: &str| *id == exact || *id == own || name.eq_ignore_ascii_case(who);
    if moment.thread.children.live.iter().any(|(id, child)| is_meant(id, &child.kin.name)) {
        return None;
    }
    let mut reported = moment.thread.children.reported.iter();
    reported.find(|(id, (kin, _))| is_meant(id, &kin.name)).map(|(id, (kin, outcome))| (id, &*kin.name, *outcome))
}

/// The child that the end of an id stands for, or the name that it had where this thread was copied from.
fn own_name(thread: &Thread, end: &str) -> ThreadId {
    let below = |from: &ThreadId| end.strip_prefix(from.as_str())?.strip_prefix('.');
    let end = thread.created.copied_from.iter().find_map(below).unwrap_or(end);
    ThreadId::new(format!("{}.{}", thread.id(), end.trim_start_matches('.')))
}

impl Thread {
    /// The child that has reported and is meant by an id, the end of one, or a name; none where no such child is there, or a running one
    /// goes by that name.
    pub(crate) fn finished_child(&self, who: &str) -> Result<Option<ThreadId>, String> {
        let (exact, own) = (ThreadId::new(who), own_name(self, who));
        if let Some(id) = [exact, own].into_iter().find(|id| self.children.reported.contains_key(id)) {
            return Ok(Some(id));
        }
        let is_called = |kin: &Kin| kin.name.eq_ignore_ascii_case(who);
        if self.children.live.iter().any(|(id, child)| id.as_str() == who || is_called(&child.kin)) {
            return Ok(None);
        }
        let named = self.children.reported.iter().filter(|(_, (kin, _))| is_called(kin)).map(|(id, _)| id);
        match named.collect::<Vec<_>>().as_slice() {
            [] => Ok(None),
            [one] => Ok(Some((*one).clone())),
            several => {
                let ids = several.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
                Err(format!("several finished sub-agents are called '{who}'; use an id: {ids}"))
            }
        }
    }
}

fn all(moment: &Moment<'_>) -> Vec<ThreadId> {
    moment.thread.children.live.keys().cloned().collect()
}

fn names(moment: &Moment<'_>, children: &[ThreadId]) -> String {
    let name = |id: &ThreadId| match moment.thread.children.live.get(id) {
        Some(child) => format!("{} ({id})", child.kin.name),
        None => id.to_string(),
    };
    children.iter().map(name).collect::<Vec<_>>().join(", ")
}
