//! Three places a workflow, whichever agent asks, however often, and whatever becomes of them.

use agent::Event;
use serde_json::{Value, json};
use testkit::scenes::{calls, fails, never_answers, says, scene, waits_for_go};
use testkit::world::count;

use crate::{call, executions, question, questions, results, run, spawn, world};

#[test]
fn fifty_spawns_race_for_three_places_and_no_place_leaks_after_refusals_and_failures() {
    // ZILEO-5, ZILEO-14, ZILEO-30
    let race = |word: &str| calls(&(0..50).map(|number| spawn("Ada", &format!("{word} {number}"))).collect::<Vec<_>>());
    let world = world(&[
        scene("Analyse", &[race("Part"), race("Again"), race("More"), says("done")]),
        scene("Part 1", &[fails()]),
        scene("", &[says("a part")]),
    ]);
    let running = run(&world, "Analyse", &["--approvals", "wait"]);
    // Of the first three one is refused and one fails; of the second fifty one more place is there to ask about.
    for (number, word) in [(1, "no"), (2, "yes"), (3, "yes"), (4, "yes")] {
        let asked = question(&world, number);
        world.call(&["approve", word, asked.id.as_str()]).answer(0);
    }
    assert_eq!(running.done().answer(0), "done");
    assert_eq!(questions(&world.log()).len(), 4, "no more questions than there are places");
    let statuses: Vec<String> = executions(&world).into_iter().map(|row| row.1).collect();
    assert_eq!(statuses, ["error", "completed", "completed"]);
    let full = "ValidationFailed: Maximum 3 sub-agents reached. Cannot spawn more. Current sub-agents: 3 \
                (policy.max_children)";
    let results = results(&world);
    let refused = results.iter().filter(|(text, is_error)| *is_error && text == full).count();
    assert_eq!((results.len(), refused), (150, 150 - 4), "{results:?}");
    world.assert_at_rest(&world.root());
}

#[test]
fn a_question_about_a_sub_agent_outlives_its_process_and_holds_its_place() {
    // Promises 4 and 7
    let world = world(&[
        scene("Analyse", &[calls(&[spawn("Ada", "Part 1"), spawn("Eve", "Part 2")]), says("done")]),
        scene("Part", &[says("a part")]),
    ]);
    let mut running = run(&world, "Analyse", &["--approvals", "wait"]);
    let (first, second) = (question(&world, 1), question(&world, 2));
    running.kill();
    assert!(running.done().was_killed());
    let resumed = world.start(&["thread", "resume", world.root().as_str(), "--approvals", "wait"]);
    world.until_logged("the going on", |log| log.iter().any(|record| matches!(&*record.event, Event::Reopened { .. })));
    world.call(&["approve", "yes", second.id.as_str()]).answer(0);
    world.call(&["approve", "no", first.id.as_str()]).answer(0);
    assert_eq!(resumed.done().answer(0), "done");
    assert_eq!(executions(&world), [("Eve".into(), "completed".into(), Some("a part".into()), None)]);
    world.assert_at_rest(&world.root());
}

#[test]
fn stopping_one_of_a_batch_stops_that_one_alone_and_keeps_its_place_in_the_results() {
    // ZILEO-15, ZILEO-19, ZILEO-20, and what went wrong there: cancel worked only while streaming
    let tasks: Vec<Value> =
        ["One", "Two", "Three"].map(|prompt| json!({"agent_id": "explore", "prompt": prompt})).to_vec();
    let world = world(&[
        scene(
            "Analyse",
            &[
                calls(&[call("ParallelTasksTool", &json!({"operation": "execute_batch", "tasks": tasks}))]),
                says("done"),
            ],
        ),
        scene("One", &[says("first")]),
        scene("Two", &[never_answers()]),
        scene("Three", &[says("third")]),
    ]);
    let running = run(&world, "Analyse", &["--set", "policy.approval=never"]);
    let reported = |log: &[store::Record]| {
        log.iter().filter(|record| matches!(&*record.event, Event::ChildReported { .. })).count() == 2
    };
    world.until_logged("two reports", reported);
    world.call(&["stop", &format!("{}.2", world.root()), "--now", "--reason", "too slow"]).answer(0);
    assert_eq!(running.done().answer(0), "done");
    let told: Value = serde_json::from_str(&results(&world)[0].0).expect("JSON");
    let statuses: Vec<&Value> = told["results"].as_array().expect("a list").iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["completed", "cancelled", "completed"]);
    assert_eq!((&told["completed"], &told["failed"]), (&json!(2), &json!(1)));
    let stopped = &executions(&world)[1];
    assert_eq!((&*stopped.1, stopped.3.as_deref()), ("cancelled", Some("too slow")));
    world.assert_at_rest(&world.root());
}

#[test]
fn the_first_result_is_enough_and_those_that_go_on_are_read_later() {
    // ZILEO-19
    let tasks = json!([{"agent_id": "general", "prompt": "Slow"}, {"agent_id": "plan", "prompt": "Quick"}]);
    let batch = json!({"operation": "execute_batch", "tasks": tasks, "wait_all": false});
    let world = world(&[
        scene("Analyse", &[calls(&[call("ParallelTasksTool", &batch)]), says("one"), says("both")]),
        scene("Slow", &[calls(&[waits_for_go("slow")]), says("late")]),
        scene("Quick", &[says("here")]),
    ]);
    let running = world.run("Analyse", &["--preset", "zileo"]);
    let root = world.root();
    let answers = |log: &[store::Record]| count(log, &root, "answered");
    world.until_logged("the root's second answer", |log| answers(log) == 2);
    world.go();
    assert_eq!(running.done().answer(0), "both");
    let told: Value = serde_json::from_str(&results(&world)[0].0).expect("JSON");
    assert_eq!((&told["completed"], &told["running"]), (&json!(1), &json!(1)));
    world.assert_at_rest(&root);
}

#[test]
fn a_rate_limit_slows_a_batch_down_and_loses_none_of_it() {
    // ZILEO-34
    let prompts = ["One", "Two", "Three"];
    let tasks = prompts.map(|prompt| json!({"agent_id": "explore", "prompt": prompt}));
    let batch = call("ParallelTasksTool", &json!({"operation": "execute_batch", "tasks": tasks}));
    let limited = |prompt: &str| {
        scene(prompt, &["[[script.reply]]\nerror = \"rate_limited\"\ntimes = 1\ntext = \"found\"\n".to_owned()])
    };
    let scenes = [scene("Analyse", &[calls(&[batch]), says("done")])];
    let world = world(&scenes.into_iter().chain(prompts.map(limited)).collect::<Vec<_>>());
    world.run("Analyse", &["--preset", "zileo"]).done().answer(0);
    let retried = world.log().iter().filter(|record| record.event.kind() == "call_failed").count();
    assert_eq!(retried, 3, "each was refused once and asked again");
    assert!(executions(&world).iter().all(|row| row.1 == "completed"), "{:?}", executions(&world));
    world.assert_at_rest(&world.root());
}

#[test]
fn the_first_result_is_enough_and_the_rest_is_stopped_as_asked() {
    // ZILEO-19
    let tasks = json!([{"agent_id": "explore", "prompt": "Slow"}, {"agent_id": "plan", "prompt": "Quick"}]);
    let batch = json!({"operation": "execute_batch", "tasks": tasks, "wait_all": false, "cancel_rest": true});
    let world = world(&[
        scene("Analyse", &[calls(&[call("ParallelTasksTool", &batch)]), says("done")]),
        scene("Slow", &[never_answers()]),
        scene("Quick", &[says("here")]),
    ]);
    assert_eq!(run(&world, "Analyse", &["--set", "policy.approval=never"]).done().answer(0), "done");
    let statuses: Vec<String> = executions(&world).into_iter().map(|row| row.1).collect();
    assert_eq!(statuses, ["cancelled", "completed"]);
    world.assert_at_rest(&world.root());
}

#[test]
fn what_runs_is_listed_and_ended_by_the_tool_that_starts() {
    // ZILEO-15
    let tasks = json!([{"agent_id": "explore", "prompt": "Slow"}, {"agent_id": "plan", "prompt": "Quick"}]);
    let batch = json!({"operation": "execute_batch", "tasks": tasks, "wait_all": false});
    let list = json!({"operation": "list_children"});
    let world = world(&[
        scene(
            "Analyse",
            &[
                calls(&[call("ParallelTasksTool", &batch)]),
                calls(&[call("SpawnAgentTool", &list)]),
                calls(&[call("SpawnAgentTool", &json!({"operation": "terminate", "child_id": "explore"}))]),
                calls(&[call("SpawnAgentTool", &list)]),
                says("done"),
            ],
        ),
        scene("Slow", &[never_answers()]),
        scene("Quick", &[says("here")]),
    ]);
    assert_eq!(run(&world, "Analyse", &["--set", "policy.approval=never"]).done().answer(0), "done");
    let told: Vec<Value> = results(&world).iter().filter_map(|(text, _)| serde_json::from_str(text).ok()).collect();
    let slow = format!("{}.1", world.root());
    let listed = |told: &Value| -> Vec<String> {
        let children = told["children"].as_array().into_iter().flatten();
        children.map(|child| child["child_id"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let lists: Vec<&Value> = told.iter().filter(|one| one.get("children").is_some()).collect();
    assert_eq!(listed(lists[0]), [slow], "what is over is not listed: {told:?}");
    assert_eq!(listed(lists[1]), [""; 0], "{told:?}");
    let statuses: Vec<String> = executions(&world).into_iter().map(|row| row.1).collect();
    assert_eq!(statuses, ["cancelled", "completed"]);
    world.assert_at_rest(&world.root());
}

#[test]
fn all_three_tools_record_workflow_and_parent_and_none_is_there_below() {
    // ZILEO-2, ZILEO-12: and neither messages between agents nor templates are part of this preset
    let batch = json!({"operation": "execute_batch", "tasks": [{"agent_id": "plan", "prompt": "Third"}]});
    let delegate = json!({"operation": "delegate", "agent_id": "explore", "prompt": "Second"});
    let below = [spawn("Eve", "deeper"), call("DelegateTaskTool", &delegate), call("ParallelTasksTool", &batch)];
    let world = world(&[
        scene(
            "Analyse",
            &[
                calls(&[
                    spawn("Ada", "First"),
                    call("DelegateTaskTool", &delegate),
                    call("ParallelTasksTool", &batch),
                    call("message_agent", &json!({"agent": "Ada", "text": "hello"})),
                    call("spawn_agent", &json!({"task": "from a template", "template": "analyst"})),
                ]),
                says("done"),
            ],
        ),
        scene("First", &[calls(&below), says("not from here")]),
        scene("", &[says("looked")]),
    ]);
    assert_eq!(run(&world, "Analyse", &["--set", "policy.approval=never"]).done().answer(0), "done");
    let database = rusqlite::Connection::open(world.database()).expect("a database");
    let sql =
        "SELECT workflow_id, parent_agent_id, sub_agent_id, sub_agent_name FROM sub_agent_execution ORDER BY rowid";
    let mut rows = database.prepare(sql).expect("the table is there");
    let rows: Vec<[String; 4]> = rows
        .query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))
        .expect("it can be read")
        .collect::<Result<_, _>>()
        .expect("every row can be read");
    let root = world.root().to_string();
    let row = |number: usize, name: &str| [root.clone(), root.clone(), format!("{root}.{number}"), name.to_owned()];
    assert_eq!(rows, [row(1, "Ada"), row(2, "explore"), row(3, "plan")]);
    let shown = world.call(&["thread", "show", &root, "--jsonl", "--dialect", "canonical"]);
    let frames: Vec<Value> = shown.answer(0).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let refused = |thread: &str| -> Vec<&str> {
        let of_thread = frames.iter().filter(|frame| frame["thread"] == thread && frame["type"] == "tool_result");
        of_thread.filter(|frame| frame["is_error"] == true).filter_map(|frame| frame["output"].as_str()).collect()
    };
    let [message, template] = refused(&root)[..] else { panic!("two refusals: {}", shown.out) };
    assert!(message.contains("message_agent is not permitted"), "{message}");
    assert!(template.contains("spawn_agent is not permitted"), "{template}");
    let below = refused(&format!("{root}.1"));
    assert_eq!(below.len(), 3, "{}", shown.out);
    assert!(
        below.iter().all(|text| text.contains("Only the primary workflow agent can spawn sub-agents.")),
        "{below:?}"
    );
}
