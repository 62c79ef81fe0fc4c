//! Tools of servers: which agents have them, and calls by way of `call_tool`.

use std::collections::BTreeSet;
use std::sync::Arc;

use majordomo_agent::budget::Grant;
use majordomo_agent::permission::Rule;
use majordomo_agent::policy::Policy;
use majordomo_agent::tools::{CALL_TOOL, FIND_TOOLS, Reach, Risk, ToolInfo};
use majordomo_agent::{Effect, Event, Json, Mode};

use crate::room::{Room, World, world};

/// Two servers: `git`, whose tools are shown, and `big`, whose tools are found.
fn with_servers() -> World {
    let mut world = world();
    let mut add = |name: &str, reach: Reach| {
        let (description, schema) = ("A tool.".into(), Json::object());
        let info = ToolInfo { name: name.into(), description, schema, reach, idempotent: false, risk: Risk::High };
        world.catalog.tools.insert(name.into(), info);
    };
    for name in ["git__status", "git__commit", "big__one", "big__two"] {
        add(name, Reach::World);
    }
    add(FIND_TOOLS, Reach::ReadOnly);
    add(CALL_TOOL, Reach::ReadOnly);
    for name in ["git__status", "git__commit", "big__one", "big__two"] {
        let server = name.split("__").next().expect("a server");
        world.catalog.servers.insert(name.into(), server.into());
    }
    world.catalog.deferred = BTreeSet::from(["big__one".into(), "big__two".into()]);
    world
}

fn room(world: World, agent: &str) -> Room {
    Room::of(world, agent, Policy::default(), Mode::Ask, Grant::default())
}

fn shown(room: &Room) -> Vec<String> {
    room.advertised()
        .iter()
        .map(ToString::to_string)
        .filter(|name| name.contains("__") || name.ends_with("_tool") || name.ends_with("_tools"))
        .collect()
}

#[test]
fn tools_that_are_found_are_had_and_not_shown() {
    let room = room(with_servers(), "general");
    assert_eq!(shown(&room), ["call_tool", "find_tools", "git__commit", "git__status"]);
    assert!(room.thread.tools.has("big__one"));
}

// T14
#[test]
fn a_call_by_way_of_call_tool_is_judged_and_run_as_a_call_of_the_tool_that_it_names() {
    let mut world = with_servers();
    world.rules = vec![Rule::allow("big__one")];
    let mut room = room(world, "general");
    room.calls(&[
        ("call_tool", r#"{"name": "big__one", "arguments": {"n": 1}}"#),
        ("call_tool", r#"{"name": "big__two", "arguments": {"n": 2}}"#),
        ("call_tool", r#"{"name": "run_command", "arguments": {"command": "rm -rf /"}}"#),
    ]);
    let run: Vec<(String, String)> = room
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::RunTool { name, input, .. } => Some((name.to_string(), input.text().to_owned())),
            _ => None,
        })
        .collect();
    assert_eq!(run, [("big__one".to_owned(), r#"{"n": 1}"#.to_owned())], "the rule is for one tool");
    let Some(Event::Answered(answered)) = room.events.iter().find(|event| matches!(event, Event::Answered(_))) else {
        panic!("there is an answer");
    };
    let verdicts = format!("{:?}", answered.verdicts);
    assert!(verdicts.contains("big__two was refused"), "{verdicts}");
    assert!(verdicts.contains("run_command was refused"), "{verdicts}");
    let names: Vec<Arc<str>> = answered.calls().map(|made| made.name).collect();
    assert_eq!(
        names.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        ["big__one", "big__two", "run_command"],
        "the log names the real tools"
    );
}

#[test]
fn call_tool_starts_no_sub_agent_and_a_call_that_names_nothing_is_its_own() {
    let mut room = room(with_servers(), "general");
    room.calls(&[
        ("call_tool", r#"{"name": "spawn_agent", "arguments": {"task": "x"}}"#),
        ("call_tool", r#"{"tool": "big__one"}"#),
        ("call_tool", r#"{"name": "call_tool", "arguments": {"name": "big__one"}}"#),
    ]);
    assert!(room.spawned().is_empty());
    let names: Vec<String> = room
        .effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::RunTool { name, .. } => Some(name.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["call_tool", "call_tool", "call_tool"], "the tool itself answers with an error");
}

// ZILEO-16, OPTA-4
#[test]
fn an_agent_that_names_servers_has_the_tools_of_these_alone() {
    let mut world = with_servers();
    let mut agent = world.catalog.agents["general"].clone();
    agent.mcp_servers = Some(vec!["git".into()]);
    world.catalog.agents.insert("general".into(), agent);
    let room_of_git = room(world, "general");
    assert!(room_of_git.thread.tools.has("git__status") && !room_of_git.thread.tools.has("big__one"));

    let mut world = with_servers();
    let mut agent = world.catalog.agents["explore"].clone();
    agent.mcp_servers = Some(vec!["big".into()]);
    agent.tools = Some(vec!["read_file".into(), "git__stat*".into(), "gone__tool".into()]);
    world.catalog.agents.insert("explore".into(), agent);
    let named = room(world, "explore");
    assert!(
        named.thread.tools.has("big__one") && named.thread.tools.has(CALL_TOOL),
        "{:?}",
        named.thread.tools.names()
    );
    assert!(!named.thread.tools.has("git__commit") && !named.thread.tools.has("git__status"), "it names other servers");

    let plain = room(with_servers(), "explore");
    assert!(!plain.thread.tools.has("git__status") && !plain.thread.tools.has(CALL_TOOL), "it names its tools");
}

// ZILEO-33
#[test]
fn a_child_has_at_most_the_servers_of_its_parent() {
    let mut room = room(with_servers(), "general");
    room.calls(&[
        ("spawn_agent", r#"{"task": "all"}"#),
        ("spawn_agent", r#"{"task": "one", "mcp_servers": ["git"]}"#),
        ("spawn_agent", r#"{"task": "none", "mcp_servers": ["elsewhere"]}"#),
    ]);
    let spawned = room.spawned();
    let has = |nth: usize, tool: &str| spawned[nth].role.tools.iter().any(|own| &**own == tool);
    assert!(has(0, "git__status") && has(0, "big__one") && has(0, CALL_TOOL));
    assert!(has(1, "git__status") && !has(1, "big__one") && !has(1, CALL_TOOL), "what leads nowhere is not shown");
    assert!(!has(2, "git__status") && !has(2, "big__one"));
    assert!(
        spawned[2].narrowed.iter().any(|note| note.contains("MCP server elsewhere was not given")),
        "{:?}",
        spawned[2].narrowed
    );
}

// T50, T59
#[test]
fn a_thread_that_is_shown_a_strangers_descriptions_has_read_untrusted_text() {
    let mut world = with_servers();
    world.catalog.foreign = BTreeSet::from(["git__status".into()]);
    let room = Room::of(world, "general", Policy::default(), Mode::Auto, Grant::default());
    assert!(room.thread.foreign);
    let edit = room.world.weigh(&room.thread, "edit_file", &Json::object());
    assert!(edit.risk > Risk::Low, "what it does is judged more strictly");
    let mut world = with_servers();
    world.catalog.foreign = BTreeSet::from(["git__status".into()]);
    let room = Room::of(world, "explore", Policy::default(), Mode::Auto, Grant::default());
    assert!(!room.thread.foreign, "an agent without the tools is not shown the words");
}

// T50
#[test]
fn tools_that_are_approved_later_bring_their_words_along() {
    let mut room = Room::of(with_servers(), "general", Policy::default(), Mode::Auto, Grant::default());
    assert!(!room.thread.foreign);
    let info = room.world.catalog.tools["git__status"].clone();
    room.world.catalog.tools.insert("git__push".into(), ToolInfo { name: "git__push".into(), ..info });
    room.world.catalog.servers.insert("git__push".into(), "git".into());
    room.world.catalog.foreign = BTreeSet::from(["git__push".into()]);
    room.world.catalog.version = "2".into();
    room.calls(&[("read_file", "{}")]);
    room.returns("c1", "text");
    assert!(room.events.iter().any(|event| matches!(event, Event::ToolsChanged { foreign: true, .. })));
    assert!(room.thread.foreign);
}
