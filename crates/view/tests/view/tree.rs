//! What holds for the tree, in whatever order events arrive.

use agent::{Outcome, State, Time};
use majordomo_view::{DEPTH_DRAWN, Node, Tree};
use proptest::prelude::*;

use crate::family::{Family, id, report};
use crate::story;

/// The deepest level below a node.
fn height(node: &Node) -> usize {
    node.children.iter().map(|child| 1 + height(child)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    // KATA-9, KATA-12, KATA-14, KATA-18, INV-7
    #[test]
    fn any_order_and_any_repetition_of_a_familys_events_give_the_same_tree(
        story in prop::sample::select(story::names()),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
        cut in 0.0..=1.0,
    ) {
        let events = story::events(&story);
        let events = &events[..(events.len() as f64 * cut) as usize];
        let expected = story::roots(events);
        let mut shuffled: Vec<_> = events.iter().collect();
        for (place, index) in order.iter().enumerate().filter(|_| !events.is_empty()) {
            shuffled.swap(place % events.len(), index.index(events.len()));
        }
        let repeated = order.iter().filter(|_| !events.is_empty()).map(|index| &events[index.index(events.len())]);
        let shuffled: Vec<_> = repeated.chain(shuffled.iter().copied()).collect();
        prop_assert_eq!(story::roots(shuffled), expected);
    }
}

#[test]
fn events_that_arrive_backwards_give_the_same_tree() {
    for story in story::names() {
        let events = story::events(&story);
        assert_eq!(story::roots(events.iter().rev()), story::roots(&events), "{story}");
    }
}

#[test]
fn a_node_says_who_it_is_what_it_did_and_what_it_cost() {
    let roots = story::roots(&story::events("one_child"));
    let [root] = roots.as_slice() else { panic!("one family, one root") };
    let [child] = root.children.as_slice() else { panic!("one child") };
    assert_eq!((&*root.name, root.outcome), ("butler", Some(Outcome::Completed)));
    assert_eq!(
        (&*child.name, child.agent.as_deref(), child.model.as_deref()),
        ("triage", Some("triage"), Some("anthropic/claude-sonnet"))
    );
    assert_eq!(child.goal.as_deref(), Some("Check inbox, last 24 h"));
    let tool = child.last_tool.as_ref().expect("it used tools");
    assert_eq!((&*tool.name, tool.argument.as_deref()), ("read_file", Some("mail/new/urgent.eml")));
    assert_eq!(child.elapsed_ms(Time(i64::MAX)), Some(4090), "what is over no longer grows");
    assert_eq!(child.usage.own.tool_calls, 2);
    assert_eq!(root.usage.tree.cost_microusd, root.usage.own.cost_microusd + child.usage.own.cost_microusd);
    assert!(root.priced);
}

#[test]
fn a_running_agent_says_what_it_waits_for() {
    let events = story::events("a_steered_run_that_is_stopped");
    let asking = events
        .iter()
        .position(|record| record.thread.as_str().ends_with(".1") && record.event.kind() == "tool_started");
    let roots = story::roots(&events[..=asking.expect("the child asks the person")]);
    let waiting: Vec<_> = roots[0].all().iter().map(|node| (node.state, node.waiting_for.clone())).collect();
    let expected = [
        (State::Delegating, Some("2 agents".into())),
        (State::WaitingForUser, Some("a person".into())),
        (State::Idle, Some("a permit".into())),
    ];
    assert_eq!(waiting, expected);
    assert!(roots[0].children[1].queued);
}

#[test]
fn a_stall_is_shown_until_something_is_heard() {
    let events = story::events("a_background_child");
    let stalled = events.iter().position(|record| record.event.kind() == "stall_noticed").expect("the child stalls");
    let child = |events: &[story::Record]| story::roots(events)[0].children[0].clone();
    assert!(child(&events[..=stalled]).stalled);
    assert_eq!(child(&events[..=stalled]).waiting_for.as_deref(), Some("the model"));
    assert!(!child(&events[..=stalled + 1]).stalled);
}

// KATA-11
#[test]
fn a_thread_whose_parent_is_unknown_stands_at_the_top() {
    let mut family = Family::default();
    family.created("r", "root").created("r.1.1", "orphan");
    let names: Vec<_> = story::roots(&family.0).iter().map(|node| node.name.to_string()).collect();
    assert_eq!(names, ["root", "orphan"]);
}

// KATA-9, KATA-17
#[test]
fn nesting_is_drawn_to_ten_levels_and_no_agent_below_is_lost() {
    let mut family = Family::default();
    let mut thread = "r".to_owned();
    for _ in 0..15 {
        family.created(&thread, "deep");
        thread += ".1";
    }
    let roots = story::roots(&family.0);
    assert_eq!(height(&roots[0]), DEPTH_DRAWN);
    assert_eq!(roots[0].all().len(), 15);
}

// INV-7
#[test]
fn a_log_that_claims_a_cycle_changes_no_place() {
    let mut family = Family::default();
    family.created("r", "root").created("r.1", "child").spawned("r.1", "r", false).spawned("r.1", "r.1", false);
    let roots = story::roots(&family.0);
    assert_eq!(roots.len(), 1);
    assert_eq!(roots[0].all().iter().map(|node| node.id.clone()).collect::<Vec<_>>(), [id("r"), id("r.1")]);
}

// KATA-13, INV-7
#[test]
fn a_child_that_never_reported_is_interrupted_once_its_parent_is_over_and_never_a_success() {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "go").spawned("r", "r.1", false).created("r.1", "helper");
    family.created("r.1.1", "grandchild");
    assert!(story::roots(&family.0)[0].all().iter().all(|node| node.outcome.is_none()));
    family.reported("r", Outcome::Completed);
    let roots = story::roots(&family.0);
    let outcomes: Vec<_> = roots[0].all().iter().map(|node| node.outcome).collect();
    assert_eq!(outcomes, [Some(Outcome::Completed), Some(Outcome::Interrupted), Some(Outcome::Interrupted)]);
    assert_eq!(roots[0].children[0].reason.as_deref(), Some("its parent finished first"));
}

#[test]
fn what_the_parent_was_handed_stands_in_for_a_child_whose_own_log_is_missing() {
    let mut family = Family::default();
    family.created("r", "root").run_started("r", "go").spawned("r", "r.1", true);
    assert!(story::roots(&family.0)[0].children[0].queued);
    let report = Box::new(report(Outcome::Cancelled));
    family.log("r", agent::Event::ChildReported { child: id("r.1"), report, told: None });
    let child = &story::roots(&family.0)[0].children[0];
    assert_eq!((child.outcome, child.queued, child.started), (Some(Outcome::Cancelled), false, None));
}

// KATA-10
#[test]
fn the_tenth_child_stands_after_the_second() {
    let mut family = Family::default();
    family.created("r", "root");
    for number in (1..=12).rev() {
        family.created(&format!("r.{number}"), "helper");
    }
    let ids: Vec<_> = story::roots(&family.0)[0].children.iter().map(|node| node.id.to_string()).collect();
    assert_eq!(ids, (1..=12).map(|number| format!("r.{number}")).collect::<Vec<_>>());
}

#[test]
fn a_second_run_begins_anew_and_keeps_what_was_spent() {
    let events = story::events("a_provider_retry");
    let second = events.iter().rposition(|record| record.event.kind() == "run_started").expect("there are two runs");
    let first = &story::roots(&events[..second])[0];
    let running = &story::roots(&events[..=second])[0];
    assert_eq!((first.outcome, running.outcome), (Some(Outcome::Completed), None));
    assert_eq!((running.state, running.elapsed_ms(events[second].at)), (State::Initializing, Some(0)));
    assert_eq!(running.usage, first.usage);
}

#[test]
fn a_tree_of_nothing_has_no_roots() {
    assert!(Tree::new().roots().is_empty());
}
