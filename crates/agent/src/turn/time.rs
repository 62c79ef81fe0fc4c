//! Time passed: a deadline, the end of a wait, or a silence that has become a stall.

use crate::event::{Ending, Event};
use crate::id::Time;
use crate::machine::Moment;
use crate::report::Outcome;
use crate::thread::{Phase, SlotState};
use crate::turn::{approval, stop, verbs};

/// Looks at every clock of the thread.
pub fn passed(moment: &mut Moment<'_>, heard: Option<Time>) {
    approval::expire(moment);
    let Some(run) = &moment.thread.run else { return };
    let can_end = run.closing.ending.as_ref().is_none_or(|ending| ending.last_turn);
    if can_end && run.clock.paused_at.is_none() && run.clock.deadline.is_some_and(|deadline| deadline <= moment.now) {
        let ending = run.closing.ending.clone().unwrap_or_else(|| {
            let seconds = moment.now.since_ms(run.clock.started_at) / 1000;
            let reason = format!("the time (timeout_s) was over after {seconds} s").into();
            Ending { outcome: Outcome::Timeout, reason, cause: None, last_turn: false }
        });
        // A last word that comes too late leaves the reason for the end as it was.
        return stop::begin(moment, None, Ending { last_turn: false, ..ending });
    }
    for call in moment.thread.calls.waits_over(moment.now) {
        verbs::wait_over(moment, &call, true);
    }
    if moment.thread.stall_at(heard).is_some_and(|at| at <= moment.now) {
        let silent_ms = moment.now.since_ms(heard.unwrap_or(moment.thread.last_at).max(moment.thread.last_at));
        let waiting_for = waiting_for(moment).into();
        moment.emit(Event::StallNoticed { silent_ms, waiting_for });
    }
}

fn waiting_for(moment: &Moment<'_>) -> String {
    match moment.thread.run.as_ref().map(|run| &run.phase) {
        Some(Phase::Asking(_)) => format!("the model {}", moment.thread.model.name),
        Some(Phase::Checking(_)) => "its checks".to_owned(),
        Some(Phase::Ready | Phase::Acting | Phase::Answered) | None => {
            let is_running = |state: &SlotState| matches!(state, SlotState::Running { .. });
            let running = moment.thread.calls.slots().iter().filter(|slot| is_running(&slot.state));
            running.map(|slot| slot.name.as_ref()).collect::<Vec<_>>().join(", ")
        }
    }
}
