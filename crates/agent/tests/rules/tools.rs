//! Tools that are published or removed while a thread lives: who gets them, from when on, and what a call of one that is gone is told.

use std::sync::Arc;

use majordomo_agent::event::VerdictKind;
use majordomo_agent::policy::Policy;
use majordomo_agent::tools::{Reach, Risk, ToolInfo};
use majordomo_agent::{Effect, Event, Json, Mode};

use super::room::{Room, World, world};

/// Publishes a tool that the process did not have.
fn publish(world: &mut World, name: &str, version: &str) {
    let info = ToolInfo {
        name: name.into(),
        description: "A new tool.".into(),
        schema: Json::object(),
        reach: Reach::ReadOnly,
        idempotent: true,
        risk: Risk::Low,
    };
    world.catalog.tools.insert(name.into(), info);
    world.catalog.version = version.into();
}

fn remove(world: &mut World, name: &str, version: &str) {
    world.catalog.tools.remove(name);
    world.catalog.version = version.into();
}

type Names = Vec<Arc<str>>;

/// What changed, in the order of the log.
fn changes(room: &Room) -> Vec<(String, Names, Names)> {
    let changed = room.events.iter().filter_map(|event| match event {
        Event::ToolsChanged { version, added, removed, .. } => {
            Some((version.to_string(), added.clone(), removed.clone()))
        }
        _ => None,
    });
    changed.collect()
}

/// What the model was told about calls that were refused.
fn refusals(room: &Room) -> Names {
    let answers = room.events.iter().filter_map(|event| match event {
        Event::Answered(answered) => Some(&answered.verdicts),
        _ => None,
    });
    let refused = answers.flatten().filter_map(|verdict| match &verdict.what {
        VerdictKind::Refused { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    refused.collect()
}

fn names(names: &[&str]) -> Names {
    names.iter().copied().map(Arc::from).collect()
}

#[test]
fn a_tool_that_is_published_while_the_agent_waits_is_advertised_from_its_next_turn_on() {
    let mut room = Room::new(Policy::default());
    room.calls(&[("read_file", "{}")]);
    publish(&mut room.world, "weather", "two");
    assert!(!room.thread.tools.has("weather"), "nothing changes before the next turn");
    room.returns("c1", "text");
    assert_eq!(changes(&room), [("two".to_owned(), names(&["weather"]), names(&[]))]);
    assert!(room.advertised().contains(&"weather".into()));
    let at = room.events.iter().position(|event| matches!(event, Event::ToolsChanged { .. })).expect("it is logged");
    assert!(matches!(room.events[at + 1], Event::TurnStarted(_)), "before the turn that shows it");
    room.calls(&[("weather", "{}")]);
    assert!(matches!(room.effects.last(), Some(Effect::RunTool { name, .. }) if **name == *"weather"));
    room.returns("c2", "rain");
    assert_eq!(changes(&room).len(), 1, "the same tools are not published twice");
}

#[test]
fn a_tool_that_was_removed_is_not_advertised_and_a_call_of_it_is_told_so() {
    let mut room = Room::new(Policy::default());
    room.calls(&[("read_file", "{}")]);
    remove(&mut room.world, "todo", "two");
    // The answer that is under way was given with the tool in sight.
    room.returns("c1", "text");
    assert_eq!(changes(&room), [("two".to_owned(), names(&[]), names(&["todo"]))]);
    assert!(!room.advertised().contains(&"todo".into()));
    room.calls(&[("todo", "{}")]);
    let told = refusals(&room).pop().expect("it is refused");
    assert!(told.starts_with("todo was removed and is no longer available. Your tools: "), "{told}");
    publish(&mut room.world, "todo", "three");
    room.says("and so on");
    room.is_told("Go on");
    assert_eq!(changes(&room)[1], ("three".to_owned(), names(&["todo"]), names(&[])), "it comes back");
    assert!(room.advertised().contains(&"todo".into()));
}

#[test]
fn only_an_agent_that_names_no_tools_gets_new_ones() {
    let mut world = world();
    world.catalog.reserved = names(&["ledger"]).into_iter().collect();
    let mut room = Room::of(world, "scribe", Policy::default(), Mode::Auto, Default::default());
    room.calls(&[("read_file", "{}")]);
    publish(&mut room.world, "weather", "two");
    room.returns("c1", "text");
    assert_eq!(changes(&room), [("two".to_owned(), names(&[]), names(&[]))]);
    assert!(!room.advertised().contains(&"weather".into()));

    let mut room = Room::new(Policy::default());
    room.world.catalog.reserved = names(&["ledger"]).into_iter().collect();
    room.calls(&[("read_file", "{}")]);
    publish(&mut room.world, "ledger", "two");
    room.returns("c1", "text");
    assert!(!room.advertised().contains(&"ledger".into()), "what only its own agents have is not given to others");
}

#[test]
fn a_child_gets_new_tools_only_where_neither_it_nor_its_parent_chose_by_name() {
    let spawn = r#"{"task": "look"}"#;
    let chosen = r#"{"task": "look", "tools": ["read_file"]}"#;
    let named = r#"{"task": "look", "agent": "explore"}"#;
    for (request, gets_new_tools) in [(spawn, true), (chosen, false), (named, false)] {
        let mut room = Room::new(Policy::default());
        room.calls(&[("spawn_agent", request)]);
        let role = &room.spawned()[0].role;
        assert_eq!(role.gets_new_tools, gets_new_tools, "{request}");
    }
    let mut room = Room::of(world(), "scribe", Policy::default(), Mode::Auto, Default::default());
    room.calls(&[("spawn_agent", spawn)]);
    assert!(!room.spawned()[0].role.gets_new_tools, "its parent has only what it names");
}

#[test]
fn a_child_is_given_what_its_parent_has_by_then() {
    let mut room = Room::new(Policy::default());
    room.calls(&[("read_file", "{}")]);
    publish(&mut room.world, "weather", "two");
    room.returns("c1", "text");
    room.calls(&[("spawn_agent", r#"{"task": "look"}"#)]);
    let role = &room.spawned()[0].role;
    assert!(role.tools.contains(&"weather".into()) && &*role.catalog == "two", "{role:?}");
}
