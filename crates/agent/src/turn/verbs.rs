//! The verbs by which an agent deals with its children: each is begun here, once a person allowed it where one is asked, and
//! answered here or by a child's report.

use std::fmt::Write;
use std::sync::Arc;

use crate::context;
use crate::effect::Effect;
use crate::event::{Event, VerdictKind};
use crate::id::{CallId, ThreadId};
use crate::input::Strength;
use crate::json::Json;
use crate::machine::Moment;
use crate::report::Outcome;
use crate::thread::{Slot, SlotState, VerbState};
use crate::tools::ToolResult;
use crate::turn::arguments::{Arguments, ignored_line};
use crate::turn::operation::{self, Operation};
use crate::turn::spawn::{Accepted, Wish};
use crate::turn::starting::{self, Starting};
use crate::turn::{approval, butler, child, delegate, spawn, stop, tool_calls};
use crate::verb::Verb;

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

/// The operation that a call of a verb with several of them asks for.
pub fn operation_of(moment: &Moment<'_>, call: &CallId) -> Option<Operation> {
    let slot = moment.thread.calls.slot(call)?;
    operation::read(moment.thread, &slot.name, &slot.input)?.ok()
}

/// A message to a child was written into its log, or came too late.
pub fn told(moment: &mut Moment<'_>, call: &CallId, delivered: bool) {
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let SlotState::Verb(VerbState::Tell { child, .. }) = &slot.state else { return };
    let result = if delivered {
        ToolResult::ok(format!("{child} reads it at its next step."))
    } else {
        ToolResult::error(format!(
            "{child} is over and reads nothing more. Spawn a new sub-agent if there is more to do."
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

/// Names the ignored arguments of a call to the model.
pub fn ignored_of(moment: &Moment<'_>, call: &CallId) -> String {
    let Some(slot) = moment.thread.calls.slot(call) else { return String::new() };
    if Verb::of(&slot.name) != Some(Verb::SpawnAgent) {
        return String::new();
    }
    spawn::read(moment.thread, &slot.input).map_or_else(|_| String::new(), |wish| ignored_line(&wish.ignored))
}

/// Starts one child for a call, which waits for its report unless the wish is for the background.
pub fn start_one(moment: &mut Moment<'_>, call: &CallId, wish: &Wish, siblings: u32) -> Result<(), String> {
    let brief = spawn::brief(moment.thread, wish);
    let id = match spawn::accept(moment, call, None, wish, brief, siblings)? {
        Accepted::Spawned(id) => id,
        Accepted::Recalled(id) => {
            let Some((_, report)) = moment.thread.reuse.reusable.values().find(|(child, _)| *child == id).cloned()
            else {
                return Err(format!("the report of {id} is no longer there"));
            };
            let name = moment.thread.children.reported.get(&id).map_or("sub-agent", |(name, _)| name);
            let text = match operation_of(moment, call) {
                Some(_) => {
                    let notes = vec!["the same task was done before in this run; this is that report".to_owned()];
                    context::operations::child(&id, &report, true, notes)
                }
                None => context::recalled(&id, name, &report),
            };
            tool_calls::answer(moment, call, ToolResult::ok(text));
            return Ok(());
        }
    };
    if wish.background {
        let child = &moment.thread.children.live[&id].spawned;
        let mut text = format!("{} ({id}) works in the background; its report reaches you by itself.", child.name);
        for note in &child.narrowed {
            let _ = write!(text, "\n({note})");
        }
        text.push_str(&ignored_line(&wish.ignored));
        tool_calls::answer(moment, call, ToolResult::ok(text));
    }
    Ok(())
}

fn message(moment: &mut Moment<'_>, call: &CallId, input: &Json) -> Result<(), String> {
    const EXAMPLE: &str = r#"{"agent": "explore", "text": "Look at tests too"}"#;
    let mut arguments = Arguments::read(Verb::MessageAgent.name(), EXAMPLE, input)?;
    let who = arguments.needed(&["agent", "id", "name"])?;
    let text = arguments.needed(&["text", "message"])?;
    let child = find(moment, &who)?;
    if !moment.thread.children.live[&child].started {
        return Err(format!("{child} waits in line and reads nothing yet. Stop it and spawn it with the whole task"));
    }
    moment.emit(Event::MessageSent { call: call.clone(), child: child.clone(), text: text.clone() });
    moment.ask(Effect::TellChild { child, call: call.clone(), text });
    Ok(())
}

fn wait(moment: &mut Moment<'_>, call: &CallId, input: &Json) -> Result<(), String> {
    const EXAMPLE: &str = r#"{"any": true, "timeout_s": 60}"#;
    let mut arguments = Arguments::read(Verb::WaitAgents.name(), EXAMPLE, input)?;
    let named = arguments.texts(&["agents", "agent", "ids"])?;
    let any = arguments.flag("any")?;
    let seconds = arguments.number(&["timeout_s", "timeout"])?;
    if seconds.is_some_and(|seconds| seconds < 0.0) {
        return Err("timeout_s cannot be negative".to_owned());
    }
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

fn stop_one(moment: &mut Moment<'_>, call: &CallId, input: &Json) -> Result<(), String> {
    const EXAMPLE: &str = r#"{"agent": "explore"}"#;
    let mut arguments = Arguments::read(Verb::StopAgent.name(), EXAMPLE, input)?;
    let who = arguments.needed(&["agent", "id", "name"])?;
    let strength = if arguments.flag("now")? { Strength::Kill } else { Strength::Cancel };
    let reason = arguments.text(&["reason"])?.unwrap_or_else(|| "its parent stopped it".into());
    stop_named(moment, call, &who, strength, &reason)
}

/// Stops a child for a call, which is answered with its report.
pub fn stop_named(
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
        child::reported(moment, &id, &stop::never_begun(reason));
    }
    Ok(())
}

/// Puts the question, and holds the places until it is answered; where there is no room, nobody is asked.
fn ask_first(moment: &mut Moment<'_>, slot: &Slot, starting: &Starting) {
    match starting::check(moment, &slot.name, starting) {
        Ok(()) => approval::ask(moment, &slot.call),
        Err(reason) => tool_calls::answer(moment, &slot.call, ToolResult::error(reason)),
    }
}

fn begin(moment: &mut Moment<'_>, slot: &Slot, siblings: u32) {
    let (call, input) = (&slot.call, &slot.input);
    let begun = match Verb::of(&slot.name) {
        Some(Verb::SpawnAgent) => {
            spawn::read(moment.thread, input).and_then(|wish| start_one(moment, call, &wish, siblings))
        }
        Some(Verb::Delegate) => butler::start(moment, call, input, siblings),
        Some(Verb::DelegateTask) => delegate::start(moment, call, input),
        Some(Verb::MessageAgent) => message(moment, call, input),
        Some(Verb::WaitAgents) => wait(moment, call, input),
        Some(Verb::StopAgent) => stop_one(moment, call, input),
        Some(Verb::ListAgents) => list(moment, call),
        Some(verb @ (Verb::SpawnAgentTool | Verb::DelegateTaskTool | Verb::ParallelTasksTool)) => {
            match operation::read(moment.thread, verb.name(), input) {
                Some(Ok(operation)) => operation::begin(moment, call, verb.name(), operation, siblings),
                Some(Err(reason)) => Err(operation::refusal(verb.name(), reason)),
                None => Err(format!("{} has no operations", verb.name())),
            }
        }
        None => Err(format!("{} is no verb", slot.name)),
    };
    if let Err(reason) = begun {
        tool_calls::answer(moment, call, ToolResult::error(reason));
    }
    child::start_queued(moment);
}

/// Sub-agents that a person is asked about: what there is, is shared with them.
fn asked_about(moment: &Moment<'_>) -> u32 {
    moment.thread.approvals.open.values().map(|approval| approval.places).sum()
}

fn list(moment: &mut Moment<'_>, call: &CallId) -> Result<(), String> {
    let mut text = String::from("Agents you can spawn:");
    for agent in moment.facts.catalog.offered(&moment.thread.created.role) {
        let _ = write!(text, "\n- {}: {}", agent.name, agent.description);
    }
    text.push_str("\nYour sub-agents:");
    if moment.thread.children.live.is_empty() && moment.thread.children.reported.is_empty() {
        text.push_str(" none");
    }
    for (id, child) in &moment.thread.children.live {
        let state = match (&child.stop, child.started) {
            (Some(_), _) => "stopping",
            (None, true) => "running",
            (None, false) => "queued",
        };
        let _ = write!(text, "\n- {} ({id}): {state}", child.spawned.name);
    }
    for (id, (name, outcome)) in &moment.thread.children.reported {
        let _ = write!(text, "\n- {name} ({id}): {outcome}");
    }
    tool_calls::answer(moment, call, ToolResult::ok(text));
    Ok(())
}

/// A child by id, by the end of its id, or by a name that only one has.
fn find(moment: &Moment<'_>, who: &str) -> Result<ThreadId, String> {
    let children = &moment.thread.children.live;
    let exact = ThreadId::new(who);
    if children.contains_key(&exact) {
        return Ok(exact);
    }
    let own = own_name(moment, who);
    let matches: Vec<&ThreadId> = children
        .iter()
        .filter(|(id, child)| **id == own || child.spawned.name.eq_ignore_ascii_case(who))
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
    let (exact, own) = (ThreadId::new(who), own_name(moment, who));
    let is_meant = |id: &ThreadId, name: &str| *id == exact || *id == own || name.eq_ignore_ascii_case(who);
    if moment.thread.children.live.iter().any(|(id, child)| is_meant(id, &child.spawned.name)) {
        return None;
    }
    let mut reported = moment.thread.children.reported.iter();
    reported.find(|(id, (name, _))| is_meant(id, name)).map(|(id, (name, outcome))| (id, &**name, *outcome))
}

/// The child that the end of an id stands for.
fn own_name(moment: &Moment<'_>, end: &str) -> ThreadId {
    ThreadId::new(format!("{}.{}", moment.thread.id(), end.trim_start_matches('.')))
}

fn all(moment: &Moment<'_>) -> Vec<ThreadId> {
    moment.thread.children.live.keys().cloned().collect()
}

fn names(moment: &Moment<'_>, children: &[ThreadId]) -> String {
    let name = |id: &ThreadId| match moment.thread.children.live.get(id) {
        Some(child) => format!("{} ({id})", child.spawned.name),
        None => id.to_string(),
    };
    children.iter().map(name).collect::<Vec<_>>().join(", ")
}
