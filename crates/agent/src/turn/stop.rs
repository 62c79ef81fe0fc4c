//! A thread begins to stop: nothing new is started, what runs is told to stop, and the report is written when all of it has stopped.

use std::sync::Arc;

use crate::effect::Effect;
use crate::event::{Ending, Event};
use crate::id::{CallId, InputId, ThreadId};
use crate::input::Strength;
use crate::machine::Moment;
use crate::report::{Outcome, Report};
use crate::thread::{Child, Node, Phase, SlotState, VerbState};
use crate::tools::ToolResult;
use crate::turn::{approval, child, delegate, tool_calls};

/// The end begins: of the thread, and of all its children.
pub fn begin(moment: &mut Moment<'_>, input: Option<InputId>, ending: Ending) {
    let strength = if ending.last_turn { Strength::Cancel } else { Strength::Kill };
    let reason = ending.reason.clone();
    let for_children: Arc<str> = match ending.outcome {
        Outcome::Cancelled => reason.clone(),
        outcome => format!("its parent ended as {outcome}: {reason}").into(),
    };
    let was_asking = match moment.thread.run.as_ref().map(|run| &run.phase) {
        Some(Phase::Asking(asking)) if !asking.cancelled => Some(asking.turn.turn),
        Some(Phase::Asking(_) | Phase::Ready | Phase::Acting | Phase::Answered | Phase::Checking(_)) | None => None,
    };
    let was_running: Vec<CallId> = running_tools(moment);
    moment.emit(Event::StopBegun { input, ending });
    if let Some(turn) = was_asking {
        moment.ask(Effect::CancelModel { turn });
    }
    for call in was_running {
        moment.ask(Effect::StopTool { call });
    }
    let children: Vec<ThreadId> = moment.thread.children.live.keys().cloned().collect();
    for child in children {
        stop_child(moment, &child, strength, &for_children);
    }
    close_calls(moment, &reason);
}

/// Tells a child to end; one that was never begun is over at once.
pub fn stop_child(moment: &mut Moment<'_>, id: &ThreadId, strength: Strength, reason: &Arc<str>) {
    let Some(lives) = moment.thread.children.live.get(id) else { return };
    if !lives.started {
        let report = never_begun(lives, reason);
        return child::over(moment, id, &report);
    }
    if lives.stop.as_ref().is_some_and(|(before, _)| *before >= strength) {
        return;
    }
    moment.emit(Event::ChildStopped { child: id.clone(), strength, reason: reason.clone() });
    moment.ask(Effect::StopChild { child: id.clone(), strength, reason: reason.clone() });
}

/// The agent's own code failed.
pub fn panicked(moment: &mut Moment<'_>, message: &str) {
    if moment.thread.run.is_none() && !moment.thread.is_unbegun() {
        return;
    }
    let reason = format!("an error of ours ended this agent: {message}");
    let ending =
        Ending { outcome: Outcome::Error, reason: reason.into(), cause: Some("panic".into()), last_turn: false };
    begin(moment, None, ending);
}

/// Calls that wait for nothing that could still come get their answer.
fn close_calls(moment: &mut Moment<'_>, reason: &str) {
    let slots: Vec<(CallId, SlotState)> =
        moment.thread.calls.slots().iter().map(|slot| (slot.call.clone(), slot.state.clone())).collect();
    for (call, state) in slots {
        match state {
            SlotState::Asked(approval) => {
                approval::withdraw(moment, &approval, reason);
                tool_calls::answer(moment, &call, ToolResult::error(format!("not run: {reason}")));
            }
            SlotState::Waiting | SlotState::Verb(VerbState::Wait { .. } | VerbState::Tell { .. }) => {
                tool_calls::answer(moment, &call, ToolResult::error(format!("not run: {reason}")));
            }
            SlotState::Verb(VerbState::Graph(graph)) => {
                let waiting = |(_, node): &(usize, &Node)| **node == Node::Waiting;
                let indexes: Vec<usize> =
                    graph.nodes.iter().enumerate().filter(waiting).map(|(index, _)| index).collect();
                for index in indexes {
                    moment.emit(Event::SubtaskSkipped {
                        call: call.clone(),
                        index: index as u32,
                        reason: reason.into(),
                    });
                }
                delegate::close_if_done(moment, &call);
            }
            SlotState::Verb(VerbState::Child(child) | VerbState::Stop(child)) => {
                if !moment.thread.children.live.contains_key(&child) {
                    tool_calls::answer(moment, &call, ToolResult::error(format!("not run: {reason}")));
                }
            }
            SlotState::Running { .. } | SlotState::Done => {}
        }
    }
}

fn running_tools(moment: &Moment<'_>) -> Vec<CallId> {
    let is_running = |state: &SlotState| matches!(state, SlotState::Running { stopping: false, .. });
    let calls = moment.thread.calls.slots().iter().filter(|slot| is_running(&slot.state)).map(|slot| slot.call.clone());
    let checks = match moment.thread.run.as_ref().map(|run| &run.phase) {
        Some(Phase::Checking(checking)) if !checking.stopping => Some(checking.call.clone()),
        Some(_) | None => None,
    };
    calls.chain(checks).collect()
}

/// The report of a child that was accepted and never begun.
pub fn never_begun(child: &Child, reason: &Arc<str>) -> Report {
    Report { asked: child.asked().cloned(), ..Report::empty(Outcome::Cancelled, format!("never begun: {reason}")) }
}
