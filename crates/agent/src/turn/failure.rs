//! A request to the model failed: it is made again within bounds, or the thread ends with the reason.

use crate::budget::Claim;
use crate::effect::Effect;
use crate::event::{Ending, Event};
use crate::machine::Moment;
use crate::model::{CallError, CallErrorKind, Tokens};
use crate::report::Outcome;
use crate::turn::{answer, stop};

/// Requests after the first.
const RETRIES: u32 = 4;
/// The wait before the second request; it doubles with each.
const FIRST_WAIT_MS: u64 = 500;
/// The longest wait of our own choosing.
const LONGEST_WAIT_MS: u64 = 8_000;
/// The longest wait that a provider is granted.
const LONGEST_WISH_MS: u64 = 60_000;

/// The request of `turn` failed.
pub fn failed(moment: &mut Moment<'_>, turn: u32, error: CallError) {
    let Some(asking) = answer::asking(moment, turn) else { return };
    let attempt = asking.attempt;
    let claim = asking.turn.claim;
    let booked = match (asking.was_made(moment.now), error.kind.may_be_billed()) {
        (true, true) => error.tokens.map_or(claim, |tokens| settled(moment, claim, &tokens)),
        (true, false) => Claim { requests: claim.requests, ..Claim::default() },
        (false, _) => Claim::default(),
    };
    let may_retry = !asking.cancelled && error.kind.is_retryable() && attempt <= RETRIES;
    let affordable = fits_twice(moment, booked);
    let retry_at = (may_retry && affordable).then(|| moment.now.plus_ms(wait_ms(attempt, error.retry_after_ms)));
    let squeezes = moment.thread.run.as_ref().and_then(|run| run.window.refused).map_or(0, |refused| refused.times);
    // Where the provider says how much it takes, the second request can still be too long: what it counts is not what we count.
    let most = if error.window_tokens.is_some() { 2 } else { 1 };
    let squeeze = error.kind == CallErrorKind::ContextTooLong && squeezes < most;
    let reason = error.message.clone();
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

/// What a request used whose bill is known although its answer is lost. More than was reserved is not booked: the bill may be wrong.
fn settled(moment: &Moment<'_>, claim: Claim, tokens: &Tokens) -> Claim {
    let price = moment.thread.created.role.model.price.unwrap_or_default();
    Claim {
        tokens: answer::counted(moment, tokens).min(claim.tokens),
        cost_microusd: price.of(tokens).min(claim.cost_microusd),
        requests: claim.requests,
    }
}

/// Whether the grant reaches for a request that is made again after so much was booked for it.
pub fn fits_twice(moment: &Moment<'_>, booked: Claim) -> bool {
    moment.thread.tokens_left().is_none_or(|left| left >= booked.tokens)
        && moment.thread.cost_left().is_none_or(|left| left >= booked.cost_microusd)
        && moment.thread.requests_left().is_none_or(|left| left >= booked.requests)
}

fn wait_ms(attempt: u32, wish_ms: Option<u64>) -> u64 {
    let own = FIRST_WAIT_MS.saturating_mul(1 << (attempt - 1).min(16)).min(LONGEST_WAIT_MS);
    own.max(wish_ms.unwrap_or(0).min(LONGEST_WISH_MS))
}
