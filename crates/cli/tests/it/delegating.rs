//! Work that is handed down: how deep, how many, in what order, with which results.

use std::sync::Arc;

use provider::Wire;
use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Request, Turn};

use crate::heard::{self, results};
use crate::setup::{Setup, of_type, server};
use crate::stage::Stage;

// OPTA-24, OPTA-20
#[tokio::test]
async fn a_child_with_three_tool_calls_makes_three_and_hands_up_what_it_has() {
    let setup = Setup::new();
    let model = setup.scripted(
        r#"
[[script]]
on = "Root"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Leaf", max_tool_calls = 3 } }]
[[script.reply]]
text = "Good enough."
[[script]]
on = "Leaf"
[[script.reply]]
calls = [{ name = "list_dir", input = { path = "." } }, { name = "find_files", input = { pattern = "*.rs" } }]
[[script.reply]]
calls = [{ name = "find_files", input = { pattern = "*.md" } }, { name = "find_files", input = { pattern = "*.txt" } }]
[[script.reply]]
text = "Two of three places hold nothing."
"#,
    );
    let ran = setup.run(&["run", "-m", &model, "--jsonl", "Root"]).await.exits(0);
    let frames = ran.frames();
    let of_child = |frame: &&&Value| frame["thread"].as_str().is_some_and(|thread| thread.ends_with(".1"));
    assert_eq!(of_type(&frames, "tool_start").iter().filter(of_child).count(), 3);
    let ends = of_type(&frames, "sub_agent_complete");
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0]["data"]["outcome"], "budget_exceeded");
    assert_eq!(ends[0]["data"]["metrics"]["tool_calls"], 3);
    assert_eq!(ends[0]["data"]["report"], "Two of three places hold nothing.");
    let result = of_type(&frames, "tool_result").into_iter().find(|frame| frame["tool_name"] == "spawn_agent");
    let result = result.expect("the parent's call has its result");
    assert_eq!(result["is_error"], false);
    let output = result["output"].as_str().expect("a text");
    assert!(output.starts_with("[BUDGET_EXCEEDED] ") && output.contains("3 tool calls"), "{output}");
    assert!(output.contains("\nTwo of three places hold nothing.\n"), "{output}");
}

// OPTA-15, OPTA-41, T15
#[tokio::test(flavor = "multi_thread")]
async fn a_third_level_is_neither_offered_nor_given() {
    let server = server(
        r#"
[[script]]
on = "Level zero"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Level one" } }]
[[script.reply]]
text = "0"
[[script]]
on = "Level one"
[[script.reply]]
calls = [{ name = "delegate_task", input = { subtasks = [{ task = "Level two" }] } }]
[[script.reply]]
text = "1"
[[script]]
on = "Level two"
[[script.reply]]
calls = [
    { name = "spawn_agent", input = { task = "Level three" } },
    { name = "delegate_task", input = { subtasks = [{ task = "Level three" }] } },
]
[[script.reply]]
text = "2"
"#,
    )
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let ran = setup.run(&["run", "--jsonl", "Level zero"]).await.exits(0);
    assert_eq!(server.refusals(), [""; 0]);
    let verbs = |words: &str| {
        let verb = |tool: &String| tool.ends_with("_agent") || tool == "delegate_task";
        heard::of(&server, words)[0].tools().iter().filter(|tool| verb(tool)).count()
    };
    assert!(verbs("Level zero") > 0 && verbs("Level one") > 0);
    assert_eq!(verbs("Level two"), 0);
    for (_, refusal) in results(&heard::of(&server, "Level two")[1]) {
        assert!(refusal.starts_with("Maximum sub-agent depth (2) exceeded"), "{refusal}");
    }
    assert!(heard::of(&server, "Level three").is_empty());
    assert_eq!(of_type(&ran.frames(), "sub_agent_start").len(), 2);
}

/// A root that delegates these subtasks, and what it was told; the server, to see what began.
async fn delegated(subtasks: Value, flags: &[&str]) -> (ModelServer, String) {
    let arguments = json!({ "plan": "All of it", "subtasks": subtasks }).to_string();
    let server = ModelServer::start(move |request: &Request| match request.first_words.as_str() {
        "Root" if request.assistant_messages == 0 => Turn::default().call("toolu_1", "delegate_task", &arguments),
        "Root" => Turn::text("Done."),
        task => Turn::text(&format!("result of {}", task.lines().next().unwrap_or_default())),
    })
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let words: Vec<&str> = ["run", "Root"].into_iter().chain(flags.iter().copied()).collect();
    setup.run(&words).await.exits(0);
    let told = results(&heard::of(&server, "Root")[1]);
    assert_eq!(told.len(), 1);
    (server, told.into_iter().next().expect("looked at above").1)
}

fn tasks(count: usize) -> Value {
    (0..count).map(|index| json!({ "task": format!("part {index}") })).collect()
}

// OPTA-33
#[tokio::test(flavor = "multi_thread")]
async fn more_subtasks_than_allowed_are_refused_whole() {
    let (server, told) = delegated(tasks(8), &["--preset", "opta"]).await;
    assert!(told.contains("Maximum 5 subtasks"), "{told}");
    assert!(heard::of(&server, "part").is_empty());
    let (server, told) = delegated(tasks(5), &["--preset", "opta"]).await;
    assert!(told.starts_with("5 of 5 subtasks brought a result."), "{told}");
    assert_eq!(heard::of(&server, "part").len(), 5);
}

// T15, INV-3
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn eight_subtasks_run_four_at_once_and_report_in_the_order_of_the_tasks() {
    let arguments = json!({ "subtasks": tasks(8) }).to_string();
    let stage = Arc::new(Stage::in_waves_of(4));
    let server = {
        let stage = stage.clone();
        ModelServer::start(move |request| match request.first_words.strip_prefix("part ") {
            Some(part) => {
                let part = part.parse().expect("a number");
                stage.enter(part);
                Turn::text(&format!("result {part}"))
            }
            None if request.assistant_messages == 0 => Turn::default().call("toolu_1", "delegate_task", &arguments),
            None => Turn::text("Done."),
        })
        .await
    };
    let setup = Setup::at(Wire::Anthropic, &server);
    let frames = setup.run(&["run", "--jsonl", "Root"]).await.exits(0).frames();
    assert_eq!(stage.most(), 4);
    let (mut running, mut most) = (0, 0);
    for frame in &frames {
        match frame["type"].as_str() {
            Some("sub_agent_start") => running += 1,
            Some("sub_agent_complete" | "sub_agent_error") => running -= 1,
            _ => {}
        }
        most = most.max(running);
    }
    assert_eq!((running, most), (0, 4));
    assert_eq!(of_type(&frames, "sub_agent_queued").len(), 4);
    let told = &results(&heard::of(&server, "Root")[1])[0].1;
    let places: Vec<_> = (0..8).map(|part| told.find(&format!("\nresult {part}")).expect("every result")).collect();
    assert!(places.is_sorted(), "{told}");
}

// OPTA-32
#[tokio::test(flavor = "multi_thread")]
async fn a_subtask_is_given_the_results_of_those_it_depends_on() {
    let subtasks = json!([
        { "task": "gather", "scope": "the shed" },
        { "task": "measure", "depends_on": 0 },
        { "task": "build", "depends_on": [0, 1] },
    ]);
    let (server, told) = delegated(subtasks, &[]).await;
    assert_eq!(heard::of(&server, "gather")[0].first_words, "gather\n\nScope: the shed");
    let measure = &heard::of(&server, "measure\n")[0].first_words;
    assert!(measure.contains("Subtask 0 was: gather\n----- result of subtask 0 (completed): data"), "{measure}");
    assert!(measure.ends_with("\nresult of gather\n----- end -----"), "{measure}");
    let build = &heard::of(&server, "build\n")[0].first_words;
    assert!(build.contains("\nresult of gather\n") && build.contains("\nresult of measure\n"), "{build}");
    assert!(told.starts_with("3 of 3 subtasks brought a result. Plan: All of it"), "{told}");
}

// OPTA-31
#[tokio::test(flavor = "multi_thread")]
async fn subtasks_that_are_no_graph_are_refused_with_a_sentence() {
    for (subtasks, sentence) in [
        (
            json!([{ "task": "part 0", "depends_on": 1 }, { "task": "part 1", "depends_on": 0 }]),
            "the subtasks 0, 1 wait for each other in a circle; remove one depends_on",
        ),
        (json!([{ "task": "part 0", "depends_on": 0 }]), "subtask 0 depends on itself"),
        (
            json!([{ "task": "part 0" }, { "task": "part 1", "depends_on": 7 }]),
            "subtask 1 depends on subtask 7, and there is none: indexes go from 0 to 1",
        ),
        (
            json!([{ "task": "part 0", "depends_on": -1 }]),
            "'depends_on' of delegate_task must be the index of a subtask",
        ),
        (json!([]), "delegate_task needs 'subtasks'"),
    ] {
        let (server, told) = delegated(subtasks, &[]).await;
        assert!(told.starts_with(sentence), "{told}");
        assert!(heard::of(&server, "part").is_empty());
    }
}

// ZILEO-36: none of the three is answered before all of them have been asked, so the batch takes as long as its slowest. What a start
// costs is measured by the benchmark (CPU per sub-agent, well below a millisecond).
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn the_tasks_of_a_batch_are_under_way_at_the_same_time() {
    let task = |number: usize| json!({ "agent_id": "explore", "prompt": format!("part {number}") });
    let batch = json!({ "operation": "execute_batch", "tasks": [task(0), task(1), task(2)] }).to_string();
    let stage = Arc::new(Stage::in_waves_of(3));
    let server = {
        let stage = stage.clone();
        ModelServer::start(move |request| match request.first_words.strip_prefix("part ") {
            Some(part) => {
                stage.enter(part.parse().expect("a number"));
                Turn::text(&format!("result {part}"))
            }
            None if request.assistant_messages == 0 => Turn::default().call("toolu_1", "ParallelTasksTool", &batch),
            None => Turn::text("Done."),
        })
        .await
    };
    let setup = Setup::at(Wire::Anthropic, &server);
    setup.run(&["run", "--preset", "zileo", "--set", "policy.approval=never", "Root"]).await.exits(0);
    assert_eq!(stage.most(), 3);
    let told: Value = serde_json::from_str(&results(&heard::of(&server, "Root")[1])[0].1).expect("JSON");
    let reports: Vec<&str> =
        told["results"].as_array().expect("results").iter().filter_map(|one| one["report"].as_str()).collect();
    assert!(reports.iter().enumerate().all(|(at, report)| report.contains(&format!("result {at}"))), "{told}");
    assert_eq!(told["completed"], 3);
}
