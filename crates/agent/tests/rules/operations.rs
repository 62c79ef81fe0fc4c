//! The three verbs of ZILEO: their schemas, their results and their errors, over the same children and graphs as our own verbs.

use std::sync::Arc;

use majordomo_agent::event::ChildSpawned;
use majordomo_agent::policy::{Policy, StartApproval};
use majordomo_agent::tools::{Risk, ToolInfo};
use majordomo_agent::{Effect, Event, Input, Outcome, Report, Strength, Thread, ThreadId, Usage, creation};
use serde_json::{Value, json};

use super::room::{Room, report};

/// Accents, an emoji, a direction mark and a NUL.
const STRANGE: &str = "Prüfe «naïve» 🦉 \u{202e}txt\u{0} end";

/// A workflow with ZILEO's limits, in which nobody is asked.
pub fn policy() -> Policy {
    Policy {
        max_depth: 1,
        max_children: 3,
        max_concurrent: 3,
        max_subtasks: 3,
        approval: StartApproval::Never,
        verbs: ["SpawnAgentTool", "DelegateTaskTool", "ParallelTasksTool"].map(Arc::from).to_vec(),
        ..Policy::default()
    }
}

pub fn spawn(name: &str, prompt: &str) -> String {
    json!({"operation": "spawn", "name": name, "prompt": prompt}).to_string()
}

pub fn batch(agents: &[&str], more: &Value) -> String {
    let tasks: Vec<Value> = agents.iter().map(|agent| json!({"agent_id": agent, "prompt": "look"})).collect();
    let mut call = json!({"operation": "execute_batch", "tasks": tasks});
    call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    call.to_string()
}

#[test]
fn the_schemas_are_those_of_the_seed() {
    // ZILEO-11, ZILEO-15, ZILEO-16, ZILEO-18, ZILEO-19, ZILEO-23: the catalog is all that a verb is described from
    let room = Room::new(policy());
    let tools = creation::advertised(&room.thread, &room.world.catalog);
    let tool = |name: &str| -> &ToolInfo { tools.iter().find(|tool| &*tool.name == name).expect("it is advertised") };
    let (spawn, delegate) = (tool("SpawnAgentTool").schema.value(), tool("DelegateTaskTool").schema.value());
    let parallel = tool("ParallelTasksTool").schema.value();
    assert_eq!(spawn["properties"]["operation"]["enum"], json!(["spawn", "list_children", "terminate"]));
    assert_eq!(spawn["required"], json!(["operation"]));
    let keys = |schema: &Value| -> Vec<String> { schema["properties"].as_object().unwrap().keys().cloned().collect() };
    // Without an MCP server there is none to give (ZILEO-33), and what cannot be given is not offered.
    assert_eq!(
        keys(&spawn),
        ["child_id", "model", "name", "operation", "prompt", "provider", "system_prompt", "tools"]
    );
    assert!(spawn["properties"]["prompt"]["description"].as_str().unwrap().ends_with("the sub-agent receives."));
    assert_eq!(delegate["properties"]["operation"]["enum"], json!(["delegate", "list_agents"]));
    assert_eq!(keys(&delegate), ["agent_id", "operation", "prompt"]);
    assert_eq!(parallel["properties"]["operation"]["enum"], json!(["execute_batch"]));
    let tasks = &parallel["properties"]["tasks"];
    assert_eq!((&tasks["maxItems"], &tasks["items"]["required"]), (&json!(3), &json!(["agent_id", "prompt"])));
    assert_eq!(parallel["properties"]["wait_all"]["default"], json!(true));
    assert_eq!(parallel["required"], json!(["operation", "tasks"]));
    let risks = ["SpawnAgentTool", "DelegateTaskTool", "ParallelTasksTool"].map(|name| tool(name).risk);
    assert_eq!(risks, [Risk::Medium, Risk::Medium, Risk::High], "ZILEO-25");
}

#[test]
fn a_preset_shows_its_own_verbs_and_the_limit_that_holds() {
    // ZILEO-3, and what went wrong there: the words still said 3 when the limit was 15
    let room = Room::new(Policy { max_children: 15, max_subtasks: 7, ..policy() });
    let verbs: Vec<ToolInfo> = creation::advertised(&room.thread, &room.world.catalog)
        .into_iter()
        .filter(|tool| majordomo_agent::policy::VERBS.contains(&&*tool.name))
        .collect();
    let names: Vec<&str> = verbs.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["SpawnAgentTool", "DelegateTaskTool", "ParallelTasksTool"]);
    assert!(verbs[0].description.contains("At most 15 sub-agents"), "{}", verbs[0].description);
    assert!(verbs[2].description.contains("up to 7 tasks"), "{}", verbs[2].description);
}

#[test]
fn a_temporary_agent_gets_its_prompt_and_nothing_else_and_is_nowhere_afterwards() {
    // ZILEO-8, ZILEO-9, ZILEO-16, ZILEO-24, ZILEO-31, ZILEO-38
    let mut room = Room::new(policy());
    let call = json!({
        "operation": "spawn", "name": "Ada", "prompt": "List the fields", "system_prompt": "You read schemas.",
        "tools": ["read_file"], "provider": "acme", "model": "small",
    });
    room.calls(&[("SpawnAgentTool", &call.to_string())]);
    let child = only(&room);
    assert_eq!((&*child.name, &*child.role.prompt), ("Ada", "You read schemas."));
    assert_eq!((&*child.role.model.name, &child.role.tools[..]), ("acme/small", &["read_file".into()][..]));
    assert_eq!(child.brief.text(), "List the fields");
    assert!(!room.world.catalog.agents.contains_key("Ada"), "it is never registered");
    let (list, id) = (json!({"operation": "list_children"}).to_string(), child.child);
    room.hears(Input::ChildReported { child: id, report: Box::new(report(Outcome::Completed, Usage::default())) });
    room.calls(&[("SpawnAgentTool", &list), ("DelegateTaskTool", &delegate("Ada"))]);
    let results = room.results();
    let listed: Value = serde_json::from_str(results[1].0).expect("JSON");
    assert_eq!(listed, json!({"success": true, "count": 0, "children": [], "places_left": 2}));
    assert_eq!(results[2], ("ValidationFailed: there is no agent 'Ada'; there are: explore, general, scribe", true));
}

#[test]
fn what_is_not_said_of_a_temporary_agent_is_its_parents() {
    // ZILEO-16
    let mut room = Room::new(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a"))]);
    let (child, parent) = (only(&room), &room.thread.created.role);
    assert_eq!((&child.role.model, &child.role.prompt), (&parent.model, &parent.prompt));
    let own: Vec<&Arc<str>> = parent.tools.iter().filter(|tool| !tool.ends_with("Tool")).collect();
    assert_eq!(child.role.tools.iter().collect::<Vec<_>>(), own, "all but the three verbs");
    let named = |more: Value| {
        let mut call = json!({"operation": "spawn", "name": "Ada", "prompt": "a"});
        call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let mut room = Room::new(policy());
        room.calls(&[("SpawnAgentTool", &call.to_string())]);
        only(&room).role.model.name.to_string()
    };
    assert_eq!(named(json!({"model": "large"})), "test/large");
    assert_eq!(named(json!({"provider": "acme"})), "acme/model");
    assert_eq!(named(json!({"model": "acme/large"})), "acme/large");
    assert_eq!(named(json!({"provider": "acme", "model": "acme/large"})), "acme/large");
}

#[test]
fn a_report_comes_back_whole_with_metrics_that_no_model_wrote() {
    // ZILEO-9, ZILEO-10, ZILEO-17
    let mut room = Room::new(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", STRANGE))]);
    assert_eq!(only(&room).brief.text(), STRANGE);
    hand_in(&mut room, "r.1", Report { text: STRANGE.into(), duration_ms: 1234, ..good() });
    let result = result(&room, 0);
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["child_id", "metrics", "report", "success"]);
    assert_eq!((&result["success"], &result["child_id"]), (&json!(true), &json!("r.1")));
    assert_eq!(result["metrics"], json!({"duration_ms": 1234, "tokens_input": 70, "tokens_output": 7}));
    let metrics = "\n\n## Metrics (auto-generated)\n- Duration: 1234 ms\n- Tokens used: 77";
    assert_eq!(result["report"], json!(format!("{STRANGE}{metrics}")));
}

#[test]
fn every_outcome_is_told_apart_from_success() {
    // ZILEO-17, and what went wrong there (a): failed and cancelled ones
    for outcome in Outcome::ALL {
        let mut room = Room::new(policy());
        room.calls(&[("DelegateTaskTool", &delegate("explore"))]);
        let reason = (outcome != Outcome::Completed).then(|| "so it was".into());
        hand_in(&mut room, "r.1", Report { outcome, reason, ..good() });
        let (told, is_error) = (result(&room, 0), room.results()[0].1);
        assert_eq!(told["success"], json!(outcome.has_result()), "{outcome}");
        assert_eq!(is_error, !outcome.has_result(), "{outcome}");
        match outcome {
            Outcome::Completed => assert!(told.get("error").is_none() && told.get("notes").is_none()),
            Outcome::BudgetExceeded => assert_eq!(told["notes"], json!(["budget_exceeded: so it was"])),
            _ => assert_eq!(told["error"], json!("so it was"), "{outcome}"),
        }
    }
}

#[test]
fn a_delegate_works_with_its_own_configuration() {
    // ZILEO-18
    let mut room = Room::new(policy());
    room.calls(&[("DelegateTaskTool", &delegate("explore")), ("DelegateTaskTool", r#"{"operation":"list_agents"}"#)]);
    let child = only(&room);
    assert_eq!((&*child.role.name, &child.role.tools[..]), ("explore", &["read_file".into()][..]));
    assert_eq!(child.brief.text(), "look");
    let agents: Vec<Value> = result(&room, 0)["agents"].as_array().cloned().expect("a list");
    let ids: Vec<&str> = agents.iter().filter_map(|agent| agent["agent_id"].as_str()).collect();
    assert_eq!(ids, ["explore", "general", "scribe"]);
}

#[test]
fn a_sub_agent_has_none_of_the_three_and_hears_why() {
    // ZILEO-3, ZILEO-4, ZILEO-7, ZILEO-13, ZILEO-24
    let mut room = Room::new(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a"))]);
    let created = room.thread.child_created(&ThreadId::new("r.1")).expect("a parent knows its child");
    assert!(!created.role.tools.iter().any(|tool| tool.ends_with("Tool")));
    room.thread = Thread::new(room.now, &Event::ThreadCreated(Box::new(created)));
    room.hears(Input::Begin);
    let calls = [spawn("Eve", "b"), delegate("explore"), batch(&["explore"], &json!({}))];
    room.calls(&[("SpawnAgentTool", &calls[0]), ("DelegateTaskTool", &calls[1]), ("ParallelTasksTool", &calls[2])]);
    assert_eq!(room.spawned().len(), 1, "only the parent's own");
    let talk = format!("{:?}", room.thread.talk.messages().last());
    let refusal = "PermissionDenied: Only the primary workflow agent can spawn sub-agents. \
                   Sub-agents cannot create other sub-agents.";
    assert_eq!(talk.matches(refusal).count(), 3, "{talk}");
}

#[test]
fn a_report_goes_to_the_parent_and_to_no_other_thread() {
    // ZILEO-6, ZILEO-8: two sub-agents of one workflow know nothing of each other
    let mut room = Room::new(policy());
    room.calls(&[("SpawnAgentTool", &spawn("Ada", "a")), ("SpawnAgentTool", &spawn("Eve", "b"))]);
    hand_in(&mut room, "r.1", Report { text: "the secret of Ada".into(), ..good() });
    let eve = room.thread.child_created(&ThreadId::new("r.2")).expect("a parent knows its child");
    assert!(!serde_json::to_string(&eve).expect("JSON").contains("secret"));
    let told = room.effects.iter().any(|effect| matches!(effect, Effect::TellChild { .. }));
    assert!(!told && room.results()[0].0.contains("the secret of Ada"));
}

#[test]
fn a_batch_runs_side_by_side_and_comes_back_in_the_order_of_its_tasks() {
    // ZILEO-7, ZILEO-19, ZILEO-20, ZILEO-36: all three are under way at once
    let mut room = Room::new(policy());
    room.calls(&[("ParallelTasksTool", &batch(&["explore", "scribe", "explore"], &json!({})))]);
    assert_eq!((room.spawned().len(), room.started()), (3, 3));
    hand_in(&mut room, "r.3", Report { text: "third".into(), duration_ms: 900, ..good() });
    // What went wrong there (l): one that panicked took the place of another.
    let panic = "an error of ours ended this agent: boom";
    hand_in(&mut room, "r.2", Report::empty(Outcome::Error, panic));
    assert!(room.results().is_empty(), "it waits for all");
    hand_in(&mut room, "r.1", Report { text: "first".into(), ..good() });
    let told = result(&room, 0);
    assert_eq!((&told["success"], &told["completed"], &told["failed"]), (&json!(false), &json!(2), &json!(1)));
    let results = told["results"].as_array().expect("a list");
    let seen = |index: usize| {
        let one = &results[index];
        (one["agent_id"].as_str().unwrap(), one["status"].as_str().unwrap(), one["success"] == json!(true))
    };
    assert_eq!(seen(0), ("explore", "completed", true));
    assert_eq!((seen(1), &results[1]["error"]), (("scribe", "error", false), &json!(panic)));
    assert_eq!(seen(2), ("explore", "completed", true));
    assert!(results[0]["report"].as_str().unwrap().starts_with("first\n\n## Metrics (auto-generated)"));
    let whole = told["aggregated_report"].as_str().expect("a text");
    let places = ["# Parallel Tasks Report", "## Task 1: explore (completed)\n\nfirst", "## Task 2: scribe (error)"]
        .map(|words| whole.find(words).unwrap_or_else(|| panic!("{words}: {whole}")));
    assert!(places.is_sorted());
    assert!(whole.ends_with("## Metrics (auto-generated)\n- Duration: 900 ms\n- Tokens used: 154"), "{whole}");
    assert!(!room.results()[0].1, "a batch that brought something is no error");
}

#[test]
fn the_first_result_is_enough_and_the_others_go_on() {
    // ZILEO-19, and what went wrong there (i): wait_all was ignored
    let mut room = Room::new(policy());
    let call = batch(&["explore", "scribe", "explore"], &json!({"wait_all": false}));
    room.calls(&[("ParallelTasksTool", &call)]);
    hand_in(&mut room, "r.2", Report::empty(Outcome::Error, "no luck"));
    assert!(room.results().is_empty(), "a failure is no result");
    hand_in(&mut room, "r.1", Report { text: "first".into(), ..good() });
    let told = result(&room, 0);
    assert_eq!((&told["success"], &told["completed"]), (&json!(true), &json!(1)));
    assert_eq!((&told["failed"], &told["running"]), (&json!(1), &json!(1)));
    assert_eq!((&told["results"][2]["status"], &told["results"][2]["child_id"]), (&json!("running"), &json!("r.3")));
    assert!(!room.effects.iter().any(|effect| matches!(effect, Effect::StopChild { .. })));
    room.says("Good enough.");
    assert!(room.thread.run.is_some(), "a run is not over while a child lives");
    hand_in(&mut room, "r.3", Report { text: "late".into(), ..good() });
    let heard = format!("{:?}", room.thread.talk.messages().last());
    assert!(heard.contains("Background sub-agent finished") && heard.contains("late"), "{heard}");
}

#[test]
fn the_others_are_stopped_where_that_was_asked_and_it_is_said_once_it_is_true() {
    // ZILEO-19
    let mut room = Room::new(Policy { max_concurrent: 2, ..policy() });
    let call = batch(&["explore", "scribe", "explore"], &json!({"wait_all": false, "cancel_rest": true}));
    room.calls(&[("ParallelTasksTool", &call)]);
    hand_in(&mut room, "r.2", Report { text: "first".into(), ..good() });
    let stopped: Vec<(&str, Strength)> = room.effects.iter().filter_map(stop).collect();
    assert_eq!(stopped, [("r.1", Strength::Kill)]);
    assert!(room.results().is_empty(), "one of them still runs");
    hand_in(&mut room, "r.1", Report::empty(Outcome::Cancelled, "another task of its batch was first"));
    let told = result(&room, 0);
    let statuses: Vec<&Value> = told["results"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["cancelled", "completed", "cancelled"]);
    assert_eq!(told["success"], json!(true));
    assert_eq!(room.thread.descendants_left(), 1, "the one that waited in line gave its place back");
}

#[test]
fn terminate_ends_one_child_of_a_batch_and_leaves_the_others() {
    // ZILEO-15, ZILEO-38, and what went wrong there (k)
    let mut room = Room::new(policy());
    let terminate = json!({"operation": "terminate", "child_id": "r.2"}).to_string();
    room.calls(&[
        ("ParallelTasksTool", &batch(&["explore", "scribe", "explore"], &json!({}))),
        ("SpawnAgentTool", &terminate),
    ]);
    let stopped: Vec<(&str, Strength)> = room.effects.iter().filter_map(stop).collect();
    assert_eq!(stopped, [("r.2", Strength::Kill)]);
    hand_in(&mut room, "r.2", Report { text: "half".into(), ..Report::empty(Outcome::Cancelled, "terminated") });
    let told = result(&room, 0);
    assert_eq!((&told["success"], &told["child_id"]), (&json!(true), &json!("r.2")));
    assert!(told["report"].as_str().unwrap().starts_with("half"));
    hand_in(&mut room, "r.1", good());
    hand_in(&mut room, "r.3", good());
    let batch = result(&room, 1);
    assert_eq!((&batch["completed"], &batch["failed"]), (&json!(2), &json!(1)));
    assert_eq!(batch["results"][1]["status"], json!("cancelled"));
    assert!(room.thread.children.live.is_empty());
}

#[test]
fn a_wrong_call_starts_no_sub_agent_and_shows_the_right_one() {
    // ZILEO-16, ZILEO-18, ZILEO-19, ZILEO-23
    let four = batch(&["explore"; 4], &json!({}));
    let wrong = [
        ("SpawnAgentTool", "{}", "SpawnAgentTool needs 'operation'"),
        (
            "SpawnAgentTool",
            r#"{"operation":"clone"}"#,
            "has no operation 'clone'; it has: spawn, list_children, terminate",
        ),
        ("SpawnAgentTool", r#"{"operation":"spawn","name":"Ada"}"#, "SpawnAgentTool needs 'prompt'"),
        ("SpawnAgentTool", r#"{"operation":"spawn","prompt":"a"}"#, "SpawnAgentTool needs 'name'"),
        ("SpawnAgentTool", r#"{"operation":"terminate"}"#, "SpawnAgentTool needs 'child_id'"),
        ("SpawnAgentTool", r#"{"operation":"terminate","child_id":"r.9"}"#, "there is no sub-agent 'r.9'"),
        ("DelegateTaskTool", r#"{"operation":"delegate","prompt":"a"}"#, "DelegateTaskTool needs 'agent_id'"),
        (
            "DelegateTaskTool",
            r#"{"operation":"delegate","agent_id":"nobody","prompt":"a"}"#,
            "there is no agent 'nobody'",
        ),
        ("ParallelTasksTool", r#"{"operation":"execute_batch","tasks":[]}"#, "ParallelTasksTool needs 'tasks'"),
        ("ParallelTasksTool", &batch(&["explore", "nobody"], &json!({})), "there is no agent 'nobody'"),
        ("ParallelTasksTool", &four, "Maximum 3 subtasks (policy.max_subtasks), and there are 4: nothing was begun"),
    ];
    for (verb, call, words) in wrong {
        let mut room = Room::new(Policy { max_children: 9, ..policy() });
        room.calls(&[(verb, call)]);
        let (text, is_error) = room.results()[0];
        assert!(is_error && text.starts_with("ValidationFailed: ") && text.contains(words), "{call}: {text}");
        assert_eq!((room.spawned().len(), room.thread.descendants_left()), (0, 9), "{call}");
    }
}

#[test]
fn arguments_that_the_schema_does_not_have_are_named_in_the_result() {
    // ZILEO-16, ZILEO-33: a call that names servers which the parent does not have hears so
    let mut room = Room::new(policy());
    let call = json!({"operation": "spawn", "name": "A", "prompt": "a", "mcp_servers": ["x"], "tools": ["todo", "fly"], "wings": 2});
    room.calls(&[("SpawnAgentTool", &call.to_string())]);
    hand_in(&mut room, "r.1", good());
    let notes = result(&room, 0)["notes"].to_string();
    assert!(notes.contains("tool fly was not given") && notes.contains("ignored arguments: wings"), "{notes}");
    assert!(notes.contains("MCP server x was not given"), "{notes}");
}

fn delegate(agent: &str) -> String {
    json!({"operation": "delegate", "agent_id": agent, "prompt": "look"}).to_string()
}

fn good() -> Report {
    let tokens = majordomo_agent::model::Tokens { input: 70, output: 7, ..Default::default() };
    report(Outcome::Completed, Usage { tokens, ..Usage::default() })
}

fn hand_in(room: &mut Room, child: &str, report: Report) {
    room.hears(Input::ChildReported { child: ThreadId::new(child), report: Box::new(report) });
}

fn only(room: &Room) -> ChildSpawned {
    let spawned = room.spawned();
    assert_eq!(spawned.len(), 1);
    spawned[0].clone()
}

fn result(room: &Room, index: usize) -> Value {
    serde_json::from_str(room.results()[index].0).expect("a result is JSON")
}

fn stop(effect: &Effect) -> Option<(&str, Strength)> {
    match effect {
        Effect::StopChild { child, strength, .. } => Some((child.as_str(), *strength)),
        _ => None,
    }
}
