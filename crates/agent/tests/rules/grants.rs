//! Requests, tokens and money are carved: whatever is asked and spent, what is held never exceeds what was granted.

use majordomo_agent::budget::Grant;
use majordomo_agent::message::Part;
use majordomo_agent::model::Tokens;
use majordomo_agent::policy::Policy;
use majordomo_agent::{CallId, Effect, Event, Json, Mode, Outcome, Usage};
use proptest::prelude::*;

use super::room::Room;

const TOKENS: u64 = 400_000;
const COST: u64 = 3_000_000;
const REQUESTS: u32 = 300;

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// T16, T70, OPTA-40
    #[test]
    fn what_is_held_spent_and_reserved_never_exceeds_the_grant(
        answers in prop::collection::vec(prop::collection::vec((0u64..300_000, 0.0f64..4.0, any::<bool>()), 1..5), 1..6),
        spent in prop::collection::vec((0u64..=100, 0u64..=100, 0u32..=100), 30),
    ) {
        let grant = Grant { tokens: Some(TOKENS), cost_microusd: Some(COST), requests: Some(REQUESTS), ..Grant::default() };
        let policy = Policy { max_children: 30, ..Policy::default() };
        let mut room = Room::with(policy, Mode::Auto, grant);
        let mut reported = 0;
        for wishes in answers {
            if room.thread.run.as_ref().is_none_or(|run| run.closing.ending.is_some()) {
                break;
            }
            let spawn = |(tokens, cost, in_background): &(u64, f64, bool)| {
                format!(r#"{{"task":"t","max_tokens":{},"max_cost":{},"background":{in_background}}}"#, tokens + 1, cost + 0.01)
            };
            let wishes: Vec<String> = wishes.iter().map(spawn).collect();
            let calls: Vec<(&str, &str)> = wishes.iter().map(|wish| ("spawn_agent", wish.as_str())).collect();
            room.calls(&calls);
            within_the_grant(&room)?;
            let waiting: Vec<_> = room.spawned()[reported..].iter().map(|child| (child.child.clone(), child.grant.clone())).collect();
            for (child, granted) in waiting {
                let (tokens, cost, requests) = spent[reported];
                let usage = Usage {
                    counted_tokens: granted.tokens.unwrap() * tokens / 100,
                    cost_microusd: granted.cost_microusd.unwrap() * cost / 100,
                    requests: granted.requests.unwrap() * requests / 100,
                    ..Usage::default()
                };
                room.reports(child.as_str(), Outcome::Completed, usage);
                reported += 1;
                within_the_grant(&room)?;
            }
            prop_assert_eq!(room.thread.spending.carved.tokens, 0, "everything that was not spent is back");
            prop_assert_eq!(room.thread.spending.carved.cost_microusd, 0);
            prop_assert_eq!(room.thread.spending.carved.requests, 0);
        }
    }
}

fn within_the_grant(room: &Room) -> Result<(), TestCaseError> {
    let thread = &room.thread;
    let (tree, claim) = (thread.tree_usage(), thread.claim());
    prop_assert!(tree.counted_tokens + thread.spending.carved.tokens + claim.tokens <= TOKENS, "{tree:?} {claim:?}");
    prop_assert!(
        tree.cost_microusd + thread.spending.carved.cost_microusd + claim.cost_microusd <= COST,
        "{tree:?} {claim:?}"
    );
    prop_assert!(tree.requests + thread.spending.carved.requests + claim.requests <= REQUESTS, "{tree:?} {claim:?}");
    for child in room.spawned() {
        prop_assert!(child.grant.requests.unwrap() >= 2);
        prop_assert!(child.grant.tokens.unwrap() >= thread.created.policy.min_child_tokens);
        prop_assert!(child.grant.cost_microusd.unwrap() > 0);
    }
    Ok(())
}

#[test]
fn siblings_of_one_answer_get_equal_shares() {
    let grant = Grant { tokens: Some(100_000), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Auto, grant);
    room.calls(&[("spawn_agent", r#"{"task":"a"}"#); 4]);
    let shares: Vec<u64> = room.spawned().iter().map(|child| child.grant.tokens.unwrap()).collect();
    assert_eq!(shares.len(), 4);
    assert!(shares.iter().all(|share| share.abs_diff(shares[0]) <= 1), "{shares:?}");
}

#[test]
fn a_request_that_does_not_fit_is_refused_before_it_is_made() {
    let grant = Grant { tokens: Some(20_000), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Auto, grant);
    let requests =
        |room: &Room| room.effects.iter().filter(|effect| matches!(effect, Effect::CallModel { .. })).count();
    room.calls(&[("read_file", r#"{"path":"a"}"#)]);
    room.returns("c1", "text");
    assert_eq!(requests(&room), 2);
    let call = Part::ToolCall { id: CallId::new("c2"), name: "read_file".into(), input: Json::object() };
    room.answers(vec![call], Tokens { input: 18_000, output: 1500, ..Tokens::default() });
    room.returns("c2", "text");
    assert_eq!(requests(&room), 2, "the prompt alone would take more than is left");
    let Some(Event::Reported(report)) = room.events.last() else { panic!("{:?}", room.events.last()) };
    assert_eq!(report.outcome, Outcome::BudgetExceeded);
}

#[test]
fn money_that_reaches_for_nothing_is_not_carved() {
    let grant = Grant { cost_microusd: Some(2), ..Grant::default() };
    let room = Room::with(Policy::default(), Mode::Auto, grant);
    let report = room.events.last().map(|event| event.kind());
    assert_eq!(report, Some("reported"), "not even a last word can be paid");
    assert!(room.effects.is_empty());
}

// T70
#[test]
fn a_child_is_given_no_more_requests_than_its_calls_can_need_and_the_unspent_ones_come_back() {
    let grant = Grant { requests: Some(20_000), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Auto, grant);
    room.calls(&[
        ("spawn_agent", r#"{"task":"a","agent":"explore"}"#),
        ("spawn_agent", r#"{"task":"b","max_tool_calls":3,"agent":"explore"}"#),
    ]);
    let given: Vec<u32> = room.spawned().iter().map(|child| child.grant.requests.unwrap()).collect();
    assert_eq!(given, [600, 130]);
    assert_eq!(room.thread.requests_left(), Some(20_000 - 1 - 600 - 130));
    room.reports("r.1", Outcome::Completed, Usage { requests: 7, ..Usage::default() });
    assert_eq!(room.thread.requests_left(), Some(20_000 - 1 - 7 - 130));
}

#[test]
fn a_later_run_has_the_whole_grant() {
    let grant = Grant {
        requests: Some(3),
        tokens: Some(9_000),
        tool_calls: Some(1),
        cost_microusd: Some(90_000),
        ..Grant::default()
    };
    let mut room = Room::with(Policy::default(), Mode::Auto, grant);
    for run in 1..4 {
        assert_eq!(room.thread.requests_left(), Some(2), "run {run}: one is under way");
        room.calls(&[("read_file", &format!(r#"{{"path":"{run}"}}"#))]);
        assert_eq!(room.thread.tool_calls_left(), Some(0));
        room.returns(&format!("c{run}"), "text");
        room.says("Enough.");
        let Some(Event::Reported(report)) = room.events.last() else { panic!("a run ends with its report") };
        assert_eq!((report.outcome, report.usage.requests), (Outcome::BudgetExceeded, 2));
        let warned = room.events.iter().filter(|event| matches!(event, Event::BudgetWarned { .. })).count();
        assert_eq!(warned, run, "each run is warned of its own limits");
        room.is_told("Again");
    }
}

// A log from before requests were counted is read as it was meant: without such a limit.
#[test]
fn a_grant_a_claim_and_a_usage_without_requests_are_read() {
    let grant: Grant = serde_json::from_str(r#"{"tokens":5,"depth":2,"descendants":16}"#).unwrap();
    assert_eq!((grant.requests, grant.tokens), (None, Some(5)));
    let claim: majordomo_agent::budget::Claim = serde_json::from_str(r#"{"tokens":5,"cost_microusd":1}"#).unwrap();
    assert_eq!(claim.requests, 0);
    let usage = r#"{"tokens":{},"counted_tokens":1,"cost_microusd":0,"tool_calls":0,"model_calls":1,"children":0}"#;
    assert_eq!(serde_json::from_str::<Usage>(usage).unwrap().requests, 0);
}

/// A limit on money that cannot hold a sub-agent is a reason not to start it.
#[test]
fn under_a_limit_on_money_a_sub_agent_without_a_known_price_is_not_started_unless_that_is_allowed() {
    let spawn = [("spawn_agent", r#"{"task":"t","model":"unpriced/m"}"#)];
    let limited = || Grant { cost_microusd: Some(COST), ..Grant::default() };
    let mut room = Room::with(Policy::default(), Mode::Auto, limited());
    room.calls(&spawn);
    assert_eq!(room.spawned().len(), 0);
    let (told, is_error) = room.results()[0];
    for word in ["no price is known for unpriced/m", "models.\"unpriced/m\".price", "grant.unknown_price"] {
        assert!(is_error && told.contains(word), "{told}");
    }
    let allowed = Policy { allow_unknown_price: true, ..Policy::default() };
    for (policy, grant) in [(allowed, limited()), (Policy::default(), Grant::default())] {
        let mut room = Room::with(policy, Mode::Auto, grant);
        room.calls(&spawn);
        assert_eq!(room.spawned().len(), 1, "{:?}", room.results());
    }
}
