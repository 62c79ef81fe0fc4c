//! Tool calls start and finish. Calls that only read run at the same time; a call that writes runs alone, in the order of the answer.

use crate::context;
use crate::event::Event;
use crate::id::CallId;
use crate::machine::Moment;
use crate::message::Told;
use crate::thread::{Slot, SlotState};
use crate::tools::ToolResult;
use crate::turn::{approval, sampling};

/// Begins every tool that may begin.
pub fn start_ready(moment: &mut Moment<'_>) {
    if moment.thread.run.as_ref().is_none_or(|run| run.closing.ending.is_some()) {
        return;
    }
    while let Some(slot) = moment.thread.calls.next_to_start() {
        let (call, effect) = (slot.call.clone(), slot.run());
        moment.emit(Event::ToolStarted { call });
        moment.ask(effect);
    }
}

/// A tool came back.
pub fn finished(moment: &mut Moment<'_>, call: &CallId, result: ToolResult) {
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let SlotState::Running { since, .. } = slot.state else { return };
    let duration_ms = Some(moment.now.since_ms(since));
    finish(moment, call, result, duration_ms);
    start_ready(moment);
}

/// The rules answer a call themselves.
pub fn answer(moment: &mut Moment<'_>, call: &CallId, result: ToolResult) {
    finish(moment, call, result, None);
}

/// A call has its result, with the words in which the model reads it.
pub fn finish(moment: &mut Moment<'_>, call: &CallId, result: ToolResult, duration_ms: Option<u64>) {
    approval::withdraw_midway(moment, call, "the call is over");
    sampling::withdraw(moment, call, "the call is over");
    let told = moment.thread.calls.slot(call).and_then(|slot| told(slot, &result));
    moment.emit(Event::ToolFinished { call: call.clone(), result, duration_ms, told });
}

fn told(slot: &Slot, result: &ToolResult) -> Option<Told> {
    // What a child says is its own, also where it read nothing from outside.
    let origin = result.foreign.as_deref().or(slot.is_handed_over().then_some("report"));
    let fenced = origin.map(|origin| context::fenced(origin, &result.content));
    let shown = match (fenced, slot.edited) {
        (fenced, true) => Some(context::edited(&slot.input, fenced.as_deref().unwrap_or(&result.content))),
        (fenced, false) => fenced,
    };
    shown.map(|shown| Told::of(&shown, &result.content))
}
