//! A process goes on with a thread that another one left: what can be repeated is, the rest is said to be unknown.

use crate::budget::Claim;
use crate::event::{Ending, Event, VerdictKind};
use crate::facts::Consent;
use crate::id::CallId;
use crate::machine::Moment;
use crate::model::{CallError, CallErrorKind};
use crate::report::Outcome;
use crate::thread::{Phase, Slot, SlotState, interrupted, may_repeat};
use crate::turn::{approval, checks, child, failure, inbox, sampling, stop, tool_calls};

/// Why what a call asked has no answer.
const GONE: &str = "the process of the call is gone";

/// The thread was read from its log.
pub fn reopened(moment: &mut Moment<'_>) {
    let away_ms = moment.now.since_ms(moment.thread.last_at);
    moment.emit(Event::Reopened { away_ms });
    let was_running = moment.thread.run.is_some();
    let begun: Vec<CallId> = begun(moment.thread.calls.slots());
    // What servers asked is gone with the process, and its answers with it. A decision about it that waits begins nothing.
    for call in &begun {
        approval::withdraw_sampling(moment, call, GONE);
        sampling::withdraw(moment, call, GONE);
    }
    // A stop that arrived meanwhile is known before anything is repeated; what a decision begins was not cut off.
    inbox::take_all(moment);
    if was_running {
        // What asked is gone with its process; where it is run again it asks anew.
        for call in &begun {
            approval::withdraw_midway(moment, call, GONE);
        }
        settle_tools(moment, &begun);
        settle_model(moment);
        checks::reopened(moment);
        if moment.facts.consent == Consent::Nobody {
            approval::nobody_answers(moment);
        }
    }
    tool_calls::start_ready(moment);
    child::start_queued(moment);
    moment.step.effects = moment.thread.pending();
}

/// The calls that had begun when the thread was left.
fn begun(slots: &[Slot]) -> Vec<CallId> {
    let is_begun = |slot: &&Slot| matches!(slot.state, SlotState::Running { .. });
    slots.iter().filter(is_begun).map(|slot| slot.call.clone()).collect()
}

fn settle_tools(moment: &mut Moment<'_>, begun: &[CallId]) {
    let ending = moment.thread.run.as_ref().is_some_and(|run| run.closing.ending.is_some());
    let is_lost = |slot: &&Slot| match (&slot.state, &slot.verdict) {
        (SlotState::Running { .. }, VerdictKind::Run { reach, idempotent }) => {
            ending || !may_repeat(*reach, *idempotent)
        }
        (
            SlotState::Running { .. },
            VerdictKind::Asked { .. } | VerdictKind::Verb | VerdictKind::VerbAsked | VerdictKind::Refused { .. },
        ) => true,
        (SlotState::Waiting | SlotState::Asked(_) | SlotState::Verb(_) | SlotState::Done, _) => false,
    };
    let slots = moment.thread.calls.slots().iter().filter(|slot| begun.contains(&slot.call));
    let lost: Vec<_> = slots.filter(is_lost).map(|slot| (slot.call.clone(), slot.name.clone())).collect();
    for (call, name) in lost {
        tool_calls::finish(moment, &call, interrupted(&name), None);
    }
}

fn settle_model(moment: &mut Moment<'_>) {
    let Some(run) = &moment.thread.run else { return };
    let Phase::Asking(asking) = &run.phase else { return };
    let (turn, claim, attempt) = (asking.turn.turn, asking.turn.claim, asking.attempt);
    let was_made = asking.was_made(moment.now);
    if asking.cancelled {
        let message = "the process ended while the request was being cancelled";
        let error = CallError::new(CallErrorKind::Cancelled, message);
        let booked = if was_made { claim } else { Claim::default() };
        moment.emit(Event::CallFailed { turn, attempt, error, retry_at: None, booked });
        return;
    }
    if !was_made {
        return;
    }
    if failure::fits_twice(moment, claim) {
        moment.emit(Event::CallRepeated { turn, booked: claim });
    } else {
        let error = CallError::new(CallErrorKind::Truncated, "the process ended before the answer came");
        moment.emit(Event::CallFailed { turn, attempt, error, retry_at: None, booked: claim });
        let reason = "the process ended during a request, and the grant does not reach for another".into();
        stop::begin(moment, None, Ending { outcome: Outcome::BudgetExceeded, reason, cause: None, last_turn: false });
    }
}
