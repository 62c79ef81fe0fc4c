//! What is booked for a request whose answer was lost: what the provider said or what came, whatever went wrong, and nothing where the
//! provider did not begin to answer.

use majordomo_agent::budget::Claim;
use majordomo_agent::model::{CallError, CallErrorKind as Kind, Tokens};
use majordomo_agent::policy::Policy;
use majordomo_agent::{Event, Input};

use super::room::Room;

const KINDS: [Kind; 11] = [
    Kind::RateLimited,
    Kind::Overloaded,
    Kind::Server,
    Kind::Connection,
    Kind::Truncated,
    Kind::Auth,
    Kind::ContextTooLong,
    Kind::Rejected,
    Kind::Unsupported,
    Kind::Garbled,
    Kind::Cancelled,
];

/// What is booked after such a failure of the first request, and what had been reserved.
fn booked(error: CallError) -> (Claim, Claim) {
    let mut room = Room::new(Policy::default());
    room.hears(Input::ModelFailed { turn: 1, error });
    let (mut booked, mut claim) = (None, None);
    for event in &room.events {
        match event {
            Event::CallFailed { booked: of, .. } => booked = Some(*of),
            Event::TurnStarted(turn) => claim = Some(turn.claim),
            _ => {}
        }
    }
    (booked.expect("the failure is logged"), claim.expect("a request was made"))
}

#[test]
fn an_answer_that_breaks_after_words_came_is_booked_whatever_broke_it() {
    for kind in KINDS {
        let (some, claim) = booked(CallError { received_bytes: Some(400), ..CallError::new(kind, "broken") });
        assert_eq!((some.answer_tokens, some.requests), (100, 1), "{kind:?}");
        assert!(some.tokens > 100 && some.tokens < claim.tokens && some.cost_microusd > 0, "{kind:?}: {some:?}");
        let told = Tokens { input: 300, output: 20, ..Tokens::default() };
        let (said, _) = booked(CallError { tokens: Some(Box::new(told)), ..CallError::new(kind, "broken") });
        assert_eq!((said.tokens, said.answer_tokens), (320, 20), "{kind:?}: what the provider said");
        assert!(said.cost_microusd > 0, "{kind:?}");
    }
}

#[test]
fn a_request_that_the_provider_took_and_left_without_an_answer_is_booked_with_its_prompt() {
    for (kind, is_booked) in [
        (Kind::Connection, true),
        (Kind::Truncated, true),
        (Kind::Cancelled, true),
        // These are what the provider says in the place of an answer.
        (Kind::RateLimited, false),
        (Kind::Overloaded, false),
        (Kind::Server, false),
        (Kind::Rejected, false),
    ] {
        let (some, claim) = booked(CallError { received_bytes: Some(0), ..CallError::new(kind, "silent") });
        assert_eq!((some.tokens > 0, some.answer_tokens), (is_booked, 0), "{kind:?}: {some:?}");
        assert!(some.tokens < claim.tokens, "{kind:?}: no answer is counted: {some:?} of {claim:?}");
    }
    let (some, _) = booked(CallError::new(Kind::Connection, "nothing listens"));
    assert_eq!((some.tokens, some.cost_microusd, some.requests), (0, 0, 1), "a request that never arrived");
}
