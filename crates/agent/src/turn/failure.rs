//! A request to the model failed: it is made again within bounds, or the thread ends with the reason.

use crate::budget::Claim;
use crate::effect::Effect;
use crate::event::{Ending, Event};
use crate::machine::Moment;
use crate::model::{CallError, CallErrorKind, Tokens};
use crate::report::Outcome;
use crate::thread::Asking;
use crate::turn::{answer, begin, stop};

/// Requests after the first where the answer could not be understood: it may have been broken on its way.
const GARBLED_RETRIES: u32 = 2;
/// Requests after the first that may each leave out something that the server does not take.
const UNSUPPORTED_RETRIES: u32 = 8;
/// The wait before the second request; it doubles with each.
const FIRST_WAIT_MS: u64 = 500;
/// The longest wait of our own choosing.
const LONGEST_WAIT_MS: u64 = 15_000;

/// The request of `turn` failed.
pub fn failed(moment: &mut Moment<'_>, turn: u32, error: CallError) {
    let Some(asking) = answer::asking(moment, turn) else { return };
    let attempt = asking.attempt;
    let claim = asking.turn.claim;
    let known = error.tokens.as_deref().copied().or_else(|| Some(received(moment, error.received_bytes?)));
    let booked = match (asking.was_made(moment.now), error.may_be_billed()) {
        (true, true) => known.map_or(claim, |tokens| settled(moment, claim, &tokens)),
        (true, false) => Claim { requests: claim.requests, ..Claim::default() },
        (false, _) => Claim::default(),
    };
    let given_up = given_up(moment, &asking, &error);
    let may_retry = !asking.cancelled && error.kind.is_retryable() && given_up.is_none();
    let affordable = fits_twice(moment, booked);
    let retry_at = (may_retry && affordable).then(|| moment.now.plus_ms(wait_ms(attempt, &error)));
    let squeezes = moment.thread.run.as_ref().and_then(|run| run.window.refused).map_or(0, |refused| refused.times);
    // Where the provider says how much it takes, the second request can still be too long: what it counts is not what we count.
    let most = if error.window_tokens.is_some() { 2 } else { 1 };
    let squeeze = error.kind == CallErrorKind::ContextTooLong && squeezes < most;
    let reason = match given_up.filter(|_| error.kind.is_retryable()) {
        Some(why) => format!("{}; {why}", error.message).into(),
        None => error.message.clone(),
    };
    moment.emit(Event::CallFailed { turn, attempt, error, retry_at, booked });
    if let Some(retry_at) = retry_at {
        moment.ask(Effect::CallModel {
            turn,
            attempt: attempt + 1,
            max_tokens: asking.turn.max_tokens,
            calls_allowed: asking.turn.kind == crate::event::TurnKind::Work,
            not_before: Some(retry_at),
        });
    } else if !asking.cancelled && !squeeze {
        let ending = if may_retry {
            let reason = format!("the request failed ({reason}), and the grant does not reach for another try");
            Ending { outcome: Outcome::BudgetExceeded, reason: reason.into(), cause: None, last_turn: false }
        } else {
            Ending { outcome: Outcome::Error, reason, cause: Some("provider".into()), last_turn: false }
        };
        // A last word that could not be had leaves the reason for the end as it was.
        if !moment.thread.run.as_ref().is_some_and(|run| run.closing.last_turn_taken) {
            stop::begin(moment, None, ending);
        }
    }
}

/// Why a request that might succeed later is not made again; none where it is.
fn given_up(moment: &Moment<'_>, asking: &Asking, error: &CallError) -> Option<String> {
    let model = &moment.thread.model;
    let patience = model.patience;
    let provider = model.name.split('/').next().unwrap_or_default();
    if let Some(wish) = error.retry_after_ms.filter(|wish| *wish > patience.longest_wish_ms) {
        let (wish, longest) = (wish.div_ceil(1000), patience.longest_wish_ms / 1000);
        return Some(format!(
            "it asks to wait {wish} s, longer than {longest} s (providers.{provider}.max_retry_after_s)"
        ));
    }
    let retries = match error.kind {
        CallErrorKind::Garbled => patience.retries.min(GARBLED_RETRIES),
        CallErrorKind::Unsupported => UNSUPPORTED_RETRIES,
        _ => patience.retries,
    };
    let tried_ms = asking.failing_since.map_or(0, |since| moment.now.since_ms(since));
    let in_time = error.kind.passes() && tried_ms < patience.retry_ms;
    if in_time || asking.attempt <= retries {
        return None;
    }
    let (tries, seconds) = (asking.attempt, tried_ms / 1000);
    Some(format!("given up after {tries} tries in {seconds} s (providers.{provider}.retry_s and .retries)"))
}

/// What a request probably used whose answer broke off after so many bytes.
fn received(moment: &Moment<'_>, bytes: u64) -> Tokens {
    Tokens { input: begin::prompt_tokens(moment, 0), output: bytes.div_ceil(4), ..Tokens::default() }
}

/// What is booked for a request of which it is known what it used although its answer is lost. More than was reserved is not booked:
/// the figures may be wrong.
fn settled(moment: &Moment<'_>, claim: Claim, tokens: &Tokens) -> Claim {
    let price = moment.thread.model.price.unwrap_or_default();
    Claim {
        tokens: answer::counted(moment, tokens).min(claim.tokens),
        cost_microusd: price.of(tokens).min(claim.cost_microusd),
        requests: claim.requests,
        answer_tokens: tokens.output.min(claim.tokens),
    }
}

/// Whether the grant reaches for a request that is made again after so much was booked for it.
pub fn fits_twice(moment: &Moment<'_>, booked: Claim) -> bool {
    moment.thread.tokens_left().is_none_or(|left| left >= booked.tokens)
        && moment.thread.cost_left().is_none_or(|left| left >= booked.cost_microusd)
        && moment.thread.requests_left().is_none_or(|left| left >= booked.requests)
}

/// How long the next request waits. One that leaves out what the server does not take need not wait.
fn wait_ms(attempt: u32, error: &CallError) -> u64 {
    if error.kind == CallErrorKind::Unsupported {
        return 0;
    }
    let own = FIRST_WAIT_MS.saturating_mul(1 << (attempt - 1).min(16)).min(LONGEST_WAIT_MS);
    own.max(error.retry_after_ms.unwrap_or(0))
}
