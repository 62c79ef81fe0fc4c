//! What a model is shown is small, and what a child is told is all it needs.

use std::sync::Arc;

use majordomo_agent::context;
use majordomo_agent::creation;
use majordomo_agent::json::Json;
use majordomo_agent::policy::Policy;
use majordomo_agent::tools::{Reach, Risk, ToolInfo};
use majordomo_agent::verb::Verb;
use majordomo_agent::{Catalog, Event};

use super::room::Room;

/// Tokens of a text, as the rules estimate them.
fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

fn bytes(tool: &ToolInfo) -> usize {
    tool.name.len() + tool.description.len() + tool.schema.text().len()
}

#[test]
fn the_two_verbs_of_opta_take_about_three_hundred_tokens() {
    // OPTA-10, OPTA-11, OPTA-31
    let policy = Policy {
        verbs: ["spawn_agent", "delegate_task"].map(Arc::from).to_vec(),
        spawn_args: ["task", "scope", "max_tool_calls", "mode"].map(Arc::from).to_vec(),
        ..Policy::default()
    };
    let room = Room::new(policy);
    let tools = creation::advertised(&room.thread, &room.world.catalog);
    let verbs: Vec<&ToolInfo> = tools.iter().filter(|tool| Verb::of(&tool.name).is_some()).collect();
    let all = tokens(verbs.iter().map(|verb| bytes(verb)).sum());
    assert!((150..=330).contains(&all), "{all} tokens");
    let spawn = verbs[0].schema.value();
    assert_eq!(spawn["required"], serde_json::json!(["task"]));
    assert!(verbs[0].description.contains("Not for what one tool call can do"), "it says when not to use it");
    assert_eq!(verbs[1].schema.value()["required"], serde_json::json!(["subtasks"]));
}

#[test]
fn a_catalogue_that_remembers_a_verb_shows_each_thread_what_a_new_one_shows() {
    let spawn = |room: &Room, catalog: &Catalog| {
        let mut tools = creation::advertised(&room.thread, catalog).into_iter();
        tools.find(|tool| &*tool.name == "spawn_agent").expect("it is advertised")
    };
    // More kinds of threads than a catalogue remembers.
    let arguments = ["agent", "name", "scope", "mode", "model", "tools"];
    let policy = |count| Policy {
        spawn_args: ["task"].iter().chain(&arguments[..count]).map(|name| Arc::from(*name)).collect(),
        ..Policy::default()
    };
    let rooms: Vec<Room> = (0..=arguments.len()).map(|count| Room::new(policy(count))).collect();
    let mut catalog = rooms[0].world.catalog.clone();
    for _ in 0..2 {
        for room in &rooms {
            assert_eq!(spawn(room, &catalog), spawn(room, &catalog.clone()));
        }
    }
    catalog.agents.get_mut("explore").expect("it is known").description = "Looks around.".into();
    assert!(spawn(&rooms[1], &catalog).description.contains("Looks around."), "it is told anew once it differs");
    catalog.agents.remove("explore");
    assert!(!spawn(&rooms[1], &catalog).schema.text().contains("explore"));
}

#[test]
fn everything_that_a_root_is_shown_before_its_prompt_is_bounded() {
    let mut room = Room::new(Policy::default());
    // Ten tools with the words and schemas of a workshop: about five thousand bytes.
    let schema = format!(
        r#"{{"type":"object","properties":{{"path":{{"type":"string","description":"{}"}},"limit":{{"type":"integer"}}}},"required":["path"]}}"#,
        "a path below the workspace, with / between folders".repeat(2)
    );
    for number in 0..10 {
        let name: Arc<str> = format!("workshop_tool_{number}").into();
        let info = ToolInfo {
            name: name.clone(),
            description: "Does one thing to one file and says what it did. ".repeat(4).into(),
            schema: Json::parse(&schema).unwrap(),
            reach: Reach::ReadOnly,
            idempotent: true,
            risk: Risk::Low,
        };
        room.world.catalog.tools.insert(name.clone(), info);
        let added = vec![name];
        let changed = Event::ToolsChanged { version: "".into(), added, removed: Vec::new(), foreign: false };
        room.thread.apply(room.thread.last_at, &changed);
    }
    let tools = creation::advertised(&room.thread, &room.world.catalog);
    let all: usize = tools.iter().map(bytes).sum::<usize>() + context::system(&room.thread.created).len();
    assert!(tokens(all) <= 2600, "{} tokens are sent with every request", tokens(all));
    let verbs: usize = tools.iter().filter(|tool| Verb::of(&tool.name).is_some()).map(bytes).sum();
    assert!(tokens(verbs) <= 900, "{} tokens of them for the verbs", tokens(verbs));
}

#[test]
fn the_system_prompt_of_a_child_holds_its_place_its_limit_and_what_a_report_is() {
    // OPTA-16: and nothing of the project besides
    let mut room = Room::new(Policy::default());
    room.calls(&[("spawn_agent", r#"{"task":"Find the roses","max_tool_calls":7,"name":"scout"}"#)]);
    let child = room.spawned()[0].child.clone();
    let created = room.thread.child_created(&child).expect("it was spawned");
    let system = context::system(&created);
    for words in ["/house", "7 tool calls", "concise", "summary", "'scout'"] {
        assert!(system.contains(words), "{words}: {system}");
    }
    assert!(!system.contains("roses"), "the task stands in the brief alone");
    assert_eq!(created.brief.expect("a child has a brief").text(), "Find the roses");
    assert_eq!(created.path, [Arc::from("general"), Arc::from("scout")]);
    assert_eq!(created.parent_call.expect("a call asked for it").as_str(), "c1");
}
