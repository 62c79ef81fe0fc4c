//! A person chose another model or another mode while the thread lives: it holds from the next turn on, and its log says so. Requests that
//! were made before stay as they were, and so does the system prompt: what the model has to know is a notice behind all that was said.
//!
//! Absent: sub-agents. They keep what they were created with, and those that are started later follow from what holds then. So a stricter mode is
//! refused to a thread that has sub-agents: they could do more than the thread above them, now or when they are asked again.

use crate::context;
use crate::event::Event;
use crate::id::InputId;
use crate::input::Outside;
use crate::machine::Moment;
use crate::mode::Mode;
use crate::model::Model;
use crate::thread::Thread;

/// Takes up what was chosen while the thread is idle. A run takes it up before its next turn.
pub fn chosen(moment: &mut Moment<'_>, id: &InputId) {
    if moment.thread.is_idle() {
        take_up(moment, id);
    }
}

/// Brings model and mode up to what was chosen since the last turn.
pub fn renew(moment: &mut Moment<'_>) {
    let is_choice = |(_, input): &&(InputId, Outside)| matches!(input, Outside::Chosen { .. });
    let waiting: Vec<InputId> =
        moment.thread.inbox.arrived.iter().filter(is_choice).map(|(id, _)| id.clone()).collect();
    for id in waiting {
        take_up(moment, &id);
    }
}

fn take_up(moment: &mut Moment<'_>, id: &InputId) {
    let found = moment.thread.inbox.arrived.iter().find(|(waiting, _)| waiting == id);
    // A run that has begun meanwhile may have taken it up.
    let Some((_, Outside::Chosen { model, mode })) = found.cloned() else { return };
    let input = id.clone();
    if let Some(reason) = model.as_deref().and_then(|model| unpriced(moment.thread, model)) {
        return moment.emit(Event::InputDropped { input, reason: reason.into() });
    }
    let mode = mode.map(|wanted| wanted.meet(most(moment))).filter(|given| *given != moment.thread.mode);
    if mode.is_some_and(|given| given.meet(moment.thread.mode) == given) && moment.thread.issued.children > 0 {
        let reason = "its sub-agents would keep the mode that they have, so a stricter one needs a new conversation";
        return moment.emit(Event::InputDropped { input, reason: reason.into() });
    }
    let model = model.filter(|model| **model != moment.thread.model);
    let told = mode.map(|mode| context::mode_changed(mode).into());
    moment.emit(Event::SettingsChanged { input, model, mode, told });
}

/// The most that the thread may do, whatever is chosen: what its agent is made for, and what those above it may.
fn most(moment: &Moment<'_>) -> Mode {
    let created = &moment.thread.created;
    let agents = moment.facts.catalog.agent(&created.role.name).and_then(|agent| agent.mode);
    created.above.iter().map(|layer| layer.mode).chain(agents).fold(Mode::Dangerous, Mode::meet)
}

/// Why a limit on money cannot hold a model, as for a sub-agent.
fn unpriced(thread: &Thread, model: &Model) -> Option<String> {
    let is_limited = thread.created.grant.cost_microusd.is_some() && thread.model.has_known_cost();
    let is_unknown = is_limited && !model.has_known_cost() && !thread.created.policy.allow_unknown_price;
    is_unknown.then(|| format!("no price is known for {}, so the limit on money cannot hold it", model.name))
}
