//! A child has reported, or gets its permit to run.

use crate::context;
use crate::effect::Effect;
use crate::event::Event;
use crate::id::{CallId, ThreadId};
use crate::machine::Moment;
use crate::message::Told;
use crate::report::Report;
use crate::thread::{SlotState, VerbState};
use crate::turn::{delegate, tool_calls, verbs};
use crate::vocabulary;

/// The most characters that a parent hears at once of a child that works.
const MAX_SAID: usize = 2_000;

/// A report arrived. One that arrived before, or that answers what this thread did not ask, changes nothing.
pub fn reported(moment: &mut Moment<'_>, id: &ThreadId, report: &Report) {
    let child = moment.thread.children.live.get(id);
    let Some(child) = child.filter(|child| child.asked() == report.asked.as_ref()) else { return };
    let subtask = child.subtask().map(|index| (child.call().clone(), index));
    over(moment, id, report);
    if let Some((call, index)) = subtask {
        delegate::subtask_over(moment, &call, index, report);
    }
    start_queued(moment);
}

/// A child said something while it works: its parent reads the newest of it at its next turn.
pub fn said(moment: &mut Moment<'_>, id: &ThreadId, text: &str, foreign: bool) {
    let heard = moment.thread.children.live.get(id).filter(|child| child.kin.progress);
    if let Some(child) = heard.filter(|_| moment.thread.run.is_some()) {
        let text = context::bounded(text, MAX_SAID, "");
        let told = Some(Told::of(&context::progress(id, &child.kin.name, &text), &text));
        moment.emit(Event::ChildSaid { child: id.clone(), text: text.into(), foreign, told });
    }
}

/// A child waits for nothing but a person, or no longer does.
pub fn paused(moment: &mut Moment<'_>, id: &ThreadId, paused: bool) {
    let thread = &*moment.thread;
    let runs = thread.run.is_some() && thread.children.live.get(id).is_some_and(|child| child.started);
    if runs && thread.children.paused.contains(id) != paused {
        moment.emit(Event::ChildPaused { child: id.clone(), paused });
    }
}

/// A child is over, and the calls that wait for it get its report.
pub fn over(moment: &mut Moment<'_>, id: &ThreadId, report: &Report) {
    let Some(child) = moment.thread.children.live.get(id) else { return };
    let (name, narrowed) = (child.kin.name.clone(), child.narrowed().to_vec());
    let is_told = moment.thread.tells_report(id, child);
    let told = is_told.then(|| Told::of(&context::background_report(id, &name, report), &report.text));
    moment.emit(Event::ChildReported { child: id.clone(), report: Box::new(report.clone()), told });
    for call in moment.thread.calls.watchers(id).to_vec() {
        tell_watcher(moment, &call, id, &name, report, &narrowed);
    }
}

/// Gives permits to those who wait in line.
pub fn start_queued(moment: &mut Moment<'_>) {
    if moment.thread.run.as_ref().is_none_or(|run| run.closing.ending.is_some()) {
        return;
    }
    while moment.thread.children.running < moment.thread.created.policy.max_concurrent.max(1) {
        let Some(child) = moment.thread.children.queue.front().cloned() else { return };
        let again = moment.thread.children.live.get(&child).is_some_and(|child| child.asked().is_some());
        moment.emit(Event::ChildStarted { child: child.clone(), again });
        moment.ask(Effect::StartChild { child });
    }
}

fn tell_watcher(
    moment: &mut Moment<'_>,
    call: &CallId,
    id: &ThreadId,
    name: &str,
    report: &Report,
    narrowed: &[std::sync::Arc<str>],
) {
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let is_good = match &slot.state {
        SlotState::Verb(VerbState::Child(_)) => report.outcome.has_result(),
        // To end is what was asked of it.
        SlotState::Verb(VerbState::Stop(_)) => true,
        SlotState::Verb(VerbState::Wait { children, any, .. }) => {
            if *any || children.is_empty() {
                verbs::wait_over(moment, call, false);
            }
            return;
        }
        SlotState::Verb(VerbState::Graph(_) | VerbState::Tell { .. })
        | SlotState::Waiting
        | SlotState::Asked(_)
        | SlotState::Running { .. }
        | SlotState::Done => return,
    };
    let result = vocabulary::report(moment.thread, slot, (id, name), report, is_good, narrowed);
    tool_calls::answer(moment, call, result);
}
