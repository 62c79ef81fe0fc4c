//! Tools begin and come back. Readers run side by side; a writer runs alone, in the place that the model gave it.

use crate::event::Event;
use crate::id::CallId;
use crate::machine::Moment;
use crate::thread::SlotState;
use crate::tools::ToolResult;

/// Begins every tool that may begin.
pub fn start_ready(moment: &mut Moment<'_>) {
    if moment.thread.run.as_ref().is_none_or(|run| run.ending.is_some()) {
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
    moment.emit(Event::ToolFinished { call: call.clone(), result, duration_ms });
    start_ready(moment);
}

/// The house answers a call itself.
pub fn answer(moment: &mut Moment<'_>, call: &CallId, result: ToolResult) {
    moment.emit(Event::ToolFinished { call: call.clone(), result, duration_ms: None });
}
