//! The preset `kata`: a sub-agent is a call of the tool `Task`, and everything inside it points to that call.

use provider::Wire;
use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Request, Turn};

use crate::heard::{self, WIRES, results};
use crate::setup::{Setup, of_type};

/// The types that are there without any definition, and one that a person defined.
const TYPES: [&str; 4] = ["general-purpose", "Explore", "Plan", "gardener"];
/// The agents that they lead to.
const AGENTS: [&str; 4] = ["general", "explore", "plan", "gardener"];

const GARDENER: &str = "---\nname: gardener\ndescription: Knows plants.\ntools: list_dir\n---\nYou know plants.\n";

fn task(kind: &str) -> Value {
    json!({"description": format!("Look as {kind}"), "prompt": format!("Look at it as {kind}"), "subagent_type": kind})
}

/// A root that gives a task to each type; every sub-agent looks once and reports.
async fn family() -> ModelServer {
    ModelServer::start(|request: &Request| match (request.first_words.as_str(), request.assistant_messages) {
        ("Root", 0) => TYPES.iter().fold(Turn::text("I ask all of them."), |turn, kind| {
            turn.call(&format!("toolu_{kind}"), "Task", &task(kind).to_string())
        }),
        ("Root", _) => Turn::text("All have looked."),
        (_, 0) => Turn::default().call("toolu_look", "list_dir", "{}"),
        (task, _) => Turn::text(&format!("Seen: {task}")),
    })
    .await
}

fn setup(wire: Wire, server: &ModelServer) -> Setup {
    let setup = Setup::at(wire, server);
    let folder = setup.aside("home/.config/majordomo/agents");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("gardener.md"), GARDENER).expect("an agent");
    setup
}

/// The lines about a call.
fn about<'a>(lines: &'a [Value], tool_use_id: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["toolUseId"] == tool_use_id).collect()
}

// KATA-1, KATA-2, KATA-3, KATA-4, KATA-5, KATA-10, KATA-20, KATA-22
#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_every_type_runs_and_all_of_its_events_point_to_it() {
    for wire in WIRES {
        let server = family().await;
        let ran = setup(wire, &server).run(&["run", "--preset", "kata", "--jsonl", "Root"]).await.exits(0);
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        let lines = ran.frames();
        for (kind, agent) in TYPES.iter().zip(AGENTS) {
            let id = format!("toolu_{kind}");
            let of_task = about(&lines, &id);
            let kinds: Vec<&str> = of_task.iter().filter_map(|line| line["type"].as_str()).collect();
            assert_eq!(kinds, ["tool_start", "tool_progress", "tool_progress", "tool_result"], "{kind}");
            let (start, end) = (of_task[0], of_task[3]);
            let input = json!({"prompt": format!("Look at it as {kind}"), "subagent_type": agent, "description": format!("Look as {kind}")});
            assert_eq!((&start["toolName"], &start["input"]), (&json!("Task"), &input));
            assert_eq!(end["result"], format!("Seen: Look at it as {kind}"));
            for line in &of_task {
                assert!(line["parentToolUseId"].is_null(), "a task at the top is inside nothing: {line}");
                assert_eq!(line["agentSlug"], agent, "{line}");
            }
            // While it works: after its start and before its first call and its end, and never backwards.
            let place = |wanted: &Value| lines.iter().position(|line| line == wanted).expect("it is there");
            let inside: Vec<&Value> = lines.iter().filter(|line| line["parentToolUseId"] == *id).collect();
            let called: Vec<&str> = inside.iter().filter_map(|line| line["type"].as_str()).collect();
            assert_eq!(called, ["tool_start", "tool_result", "text"], "{kind}");
            assert!(inside.iter().all(|line| line.get("agentSlug").is_none()), "{inside:?}");
            assert!(place(start) < place(of_task[1]) && place(of_task[1]) < place(inside[0]), "{kind}");
            let elapsed = [of_task[1], of_task[2]].map(|line| line["elapsedTimeSeconds"].as_f64().expect("seconds"));
            assert!((0.0..=elapsed[1]).contains(&elapsed[0]), "{elapsed:?}");
            assert_eq!(of_task[1]["toolName"], "Task");
            // The hooks stand within that: begun after the call, over before its result.
            let hook = |name: &str| {
                let of_agent = |line: &&Value| line["type"] == name && line["agentSlug"] == agent;
                lines.iter().find(of_agent).expect("a hook")
            };
            let (begun, over) = (hook("subagent_start"), hook("subagent_stop"));
            assert!(place(start) < place(begun) && place(begun) < place(inside[0]), "{kind}");
            assert!(place(inside[2]) < place(over) && place(over) < place(end), "{kind}");
            assert_eq!((&begun["agentType"], &begun["agentId"]), (&json!(agent), &over["agentId"]));
            let thread = over["agentId"].as_str().expect("a thread");
            assert_eq!(over["agentTranscriptPath"], format!("/api/v1/threads/{thread}/messages"));
        }
    }
}

// KATA-1, KATA-22: a preset shows its own verb and no other; what a sub-agent is given is its prompt.
#[tokio::test(flavor = "multi_thread")]
async fn a_model_sees_the_one_tool_with_all_types_and_a_sub_agent_sees_its_prompt() {
    let server = family().await;
    setup(Wire::Anthropic, &server).run(&["run", "--preset", "kata", "Root"]).await.exits(0);
    let asked = &heard::of(&server, "Root")[0];
    let verbs: Vec<String> =
        asked.tools().into_iter().filter(|tool| agent::policy::VERBS.contains(&tool.as_str())).collect();
    assert_eq!(verbs, ["Task"]);
    let offered = asked.body["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == "Task");
    let schema = &offered.expect("it is offered")["input_schema"];
    assert_eq!(schema["required"], json!(["description", "prompt", "subagent_type"]));
    let types = schema["properties"]["subagent_type"]["enum"].as_array().expect("types");
    assert_eq!(types[..3], [json!("general-purpose"), json!("Explore"), json!("Plan")]);
    assert!(types.contains(&json!("gardener")) && !types.contains(&json!("explore")), "{types:?}");
    for kind in TYPES {
        assert_eq!(heard::of(&server, &format!("as {kind}"))[0].first_words, format!("Look at it as {kind}"));
    }
    let told = results(&heard::of(&server, "Root")[1]);
    assert_eq!(told.len(), TYPES.len());
    for (kind, (call, result)) in TYPES.iter().zip(told) {
        assert_eq!(call, format!("toolu_{kind}"));
        assert!(result.contains(&format!("\nSeen: Look at it as {kind}\n")), "{result}");
    }
}

// KATA-6
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_read_again_tells_the_same_of_every_task() {
    let server = family().await;
    let setup = setup(Wire::Anthropic, &server);
    let told = setup.run(&["run", "--preset", "kata", "--jsonl", "Root"]).await.exits(0).frames();
    let stopped = of_type(&told, "subagent_stop")[0]["agentId"].as_str().expect("a thread");
    let root = stopped.split('.').next().expect("a root");
    let again = setup.run(&["thread", "show", root, "--jsonl", "--dialect", "kata"]).await.exits(0).frames();
    assert_eq!(again, told, "another process, from the database alone");
    assert_eq!(of_type(&again, "tool_start").iter().filter(|line| line.get("agentSlug").is_some()).count(), 4);
}

// KATA-21: later in its seed, and there for `run_in_background`.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_in_the_background_is_answered_at_once_and_told_of_when_it_ends() {
    let server =
        ModelServer::start(|request: &Request| match (request.first_words.as_str(), request.assistant_messages) {
            ("Root", 0) => {
                let mut input = task("Explore");
                input["run_in_background"] = json!(true);
                Turn::default().call("toolu_1", "Task", &input.to_string())
            }
            ("Root", _) => Turn::text("Here it is, or will be."),
            _ => Turn::text("Nothing new came."),
        })
        .await;
    let setup = setup(Wire::Anthropic, &server);
    let lines = setup.run(&["run", "--preset", "kata", "--jsonl", "Root"]).await.exits(0).frames();
    let of_task = about(&lines, "toolu_1");
    assert_eq!(of_task.last().expect("lines")["type"], "tool_progress", "{of_task:?}");
    let answered = of_type(&lines, "tool_result")[0];
    assert!(answered["result"].as_str().is_some_and(|text| !text.contains("Nothing new came.")), "{answered}");
    let [notice] = of_type(&lines, "task_notification")[..] else { panic!("one notice: {lines:?}") };
    let thread = of_type(&lines, "subagent_stop")[0]["agentId"].as_str().expect("a thread");
    let about_it = ["taskId", "status", "summary", "outputFile"].map(|field| notice[field].clone());
    let transcript = format!("/api/v1/threads/{thread}/messages");
    assert_eq!(about_it, ["toolu_1", "completed", "Nothing new came.", transcript.as_str()].map(Value::from));
    let last = heard::of(&server, "Root").pop().expect("requests");
    assert!(last.raw.windows(17).any(|piece| piece == b"Nothing new came."), "the parent reads it at its next turn");
}

// KATA-9, KATA-17
#[tokio::test(flavor = "multi_thread")]
async fn tasks_go_ten_levels_deep_and_no_further() {
    let server = ModelServer::start(|request: &Request| {
        let level: u32 = request.first_words.rsplit(' ').next().and_then(|level| level.parse().ok()).unwrap_or(0);
        if request.assistant_messages > 0 {
            return Turn::text(&format!("Back from {level}"));
        }
        let input = json!({"description": "Go on", "prompt": format!("Go to {}", level + 1), "subagent_type": "general-purpose"});
        Turn::default().call(&format!("toolu_{level}"), "Task", &input.to_string())
    })
    .await;
    let setup = setup(Wire::Anthropic, &server);
    let lines = setup.run(&["run", "--preset", "kata", "--jsonl", "Root"]).await.exits(0).frames();
    let tasks = of_type(&lines, "tool_start");
    assert_eq!(tasks.len(), 10);
    for (level, line) in tasks.iter().enumerate() {
        let parent = level.checked_sub(1).map_or(Value::Null, |above| json!(format!("toolu_{above}")));
        assert_eq!(line["parentToolUseId"], parent, "{line}");
    }
    let deepest = heard::of(&server, "Go to 10");
    assert!(!deepest[0].tools().contains(&"Task".to_owned()), "it is not offered where it cannot be used");
    let refused = &results(&deepest[1])[0].1;
    assert!(refused.starts_with("Maximum sub-agent depth (10) exceeded"), "{refused}");
}

// KATA-22
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_cannot_be_given_is_refused_with_a_sentence_that_helps() {
    for (input, words) in [
        (
            json!({"description": "Look", "prompt": "Look", "subagent_type": "nobody"}),
            "there is no agent 'nobody'; there are: ",
        ),
        (
            json!({"description": "Look", "subagent_type": "Explore"}),
            "Task needs 'prompt', for example {\"description\"",
        ),
        (json!({"prompt": ["Look"]}), "'prompt' of Task must be a text, not [\"Look\"]"),
        (json!({"prompt": "Look", "run_in_background": "soon"}), "'run_in_background' of Task must be true or false"),
    ] {
        let arguments = input.to_string();
        let server = ModelServer::start(move |request: &Request| match request.assistant_messages {
            0 => Turn::default().call("toolu_1", "Task", &arguments),
            _ => Turn::text("Then not."),
        })
        .await;
        let lines = setup(Wire::Anthropic, &server)
            .run(&["run", "--preset", "kata", "--jsonl", "Root"])
            .await
            .exits(0)
            .frames();
        let told = results(&heard::of(&server, "Root")[1]).remove(0).1;
        assert!(told.starts_with(words), "{told}");
        assert!(of_type(&lines, "subagent_start").is_empty());
        assert_eq!(of_type(&lines, "tool_result")[0]["isError"], true);
    }
}

// KATA-22: nothing but data differs.
#[tokio::test]
async fn the_values_of_the_preset_are_shown_with_their_origin_and_can_be_changed_one_by_one() {
    let setup = Setup::new();
    let shown = async |words: &[&str]| {
        let words: Vec<&str> = ["config", "show", "--json", "--preset", "kata"].iter().chain(words).copied().collect();
        setup.run(&words).await.exits(0).json()
    };
    let value = |shown: &Value, key: &str| {
        let entry =
            shown.as_array().expect("a list").iter().find(|entry| entry["key"] == key).expect("the key").clone();
        (entry["value"].clone(), entry["origin"].clone())
    };
    let all = shown(&[]).await;
    for (key, expected) in [
        ("policy.max_depth", json!(10)),
        ("policy.max_concurrent", json!(5)),
        ("policy.approval", json!("never")),
        ("policy.verbs", json!(["Task"])),
        ("dialect", json!("kata")),
    ] {
        assert_eq!(value(&all, key), (expected, json!("preset kata")), "{key}");
    }
    let (depth, origin) = value(&shown(&["--set", "policy.max_depth=3"]).await, "policy.max_depth");
    assert_eq!(depth, json!(3));
    assert_ne!(origin, json!("preset kata"));
}
