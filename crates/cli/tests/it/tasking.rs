//! Tasks: added, handed to agents, completed, blocked and told, with real processes and models on real wires.

use std::time::Duration;

use provider::Wire;
use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Request, Turn};
use testkit::scenes::{call, calls, says, scene, whenever_asked};
use tokio::process::Child;

use crate::heard::{WIRES, messages};
use crate::setup::{Ran, Setup, also_on_postgres, of_type};

also_on_postgres!(
    several_agents_work_beside_and_after_each_other_and_their_creator_hears_of_each_end_once,
    a_task_of_a_person_gets_an_agent_of_its_own_and_what_comes_after_it_starts_by_itself,
    a_task_whose_agent_ends_without_completing_it_is_blocked_with_the_report_and_can_be_gone_on_with,
    a_worker_that_is_killed_loses_no_task_and_hands_none_out_twice,
    a_board_takes_no_more_agents_at_once_than_it_may,
    people_who_edit_a_board_at_once_lose_nothing,
    of_two_agents_that_complete_the_same_task_the_second_is_told_who_did,
    of_an_update_by_an_agent_of_which_one_part_is_refused_nothing_is_done,
    what_happens_to_tasks_of_a_run_is_among_its_events,
);

/// A setup whose agents play a script, in mode `dangerous`.
fn scripted(scenes: &[String]) -> Setup {
    scripted_in("dangerous", scenes)
}

/// A setup whose agents play a script in a mode.
pub fn scripted_in(mode: &str, scenes: &[String]) -> Setup {
    let setup = Setup::new();
    let model = setup.scripted(&scenes.concat());
    setup.with("MAJORDOMO_MODEL", &model).with("MAJORDOMO_MODE", mode)
}

pub fn work(setup: &Setup, words: &[&str]) -> Child {
    setup.command(&[&["work"], words].concat()).spawn().expect("it starts")
}

pub async fn task(setup: &Setup, words: &[&str]) -> Ran {
    setup.run(&[&["task"], words].concat()).await
}

pub async fn shown(setup: &Setup, id: &str) -> Value {
    task(setup, &["show", id, "--json"]).await.exits(0).json()
}

pub fn completes(note: &str) -> String {
    calls(&[call("task_update", &format!("status = \"completed\", note = {note:?}"))])
}

/// Asks until an answer comes that fits.
pub async fn until<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), looking).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// A new agent with a model of this wire, as an assignee.
fn new_agent(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => "new:anthropic/claude-sonnet-5-5",
        Wire::OpenAi | Wire::Responses => "new:openai/gpt-5.6",
        Wire::Gemini => "new:gemini/gemini-3.8-flash",
        Wire::Ollama => "new:ollama/qwen3:8b",
    }
}

/// A butler that has a task done by a new agent, and the agent, in the words of preset `lace`.
fn lace(wire: Wire) -> impl Fn(&Request) -> Turn + Send + Sync + 'static {
    let model = new_agent(wire);
    move |request| match (request.first_words.starts_with("[LACE TASK SYSTEM] "), request.assistant_messages) {
        (false, 0) => {
            let tasks =
                json!({"tasks": [{"title": "Research", "prompt": "Find it", "assign": model, "priority": "high"}]});
            Turn::text("").call("add_1", "task_add", &tasks.to_string())
        }
        (false, 1) => Turn::text("It is assigned."),
        (false, _) => Turn::text("Good."),
        (true, 0) => {
            Turn::text("").call("done_1", "task_update", r#"{"status": "completed", "note": "found under the bed"}"#)
        }
        (true, _) => Turn::text("I have found it."),
    }
}

// LACE-1, LACE-5, LACE-6, LACE-8, LACE-10, LACE-11, LACE-12, LACE-13, LACE-21: assignment end to end and completion notification, on every wire
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_an_agent_assigns_to_a_new_one_is_done_and_told_once_in_the_words_of_lace() {
    for wire in WIRES {
        let server = ModelServer::start(lace(wire)).await;
        let setup = Setup::at(wire, &server).with("MAJORDOMO_PRESET", "lace").with("MAJORDOMO_MODE", "auto");
        let ran = setup.run(&["run", "Plan the search", "--json"]).await.exits(0);
        let root = ran.json()["thread"].as_str().map(str::to_owned);
        let listed = task(&setup, &["ls", "--json"]).await.exits(0).json();
        assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&json!("t1"), &json!("pending")), "{wire:?} {listed}");
        let _work = work(&setup, &[]);
        setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
        until("the creator's second run", async || (server.requests().len() == 5).then_some(())).await;
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");

        let done = shown(&setup, "t1").await;
        assert_eq!(
            (&done["status"], &done["notes"][0]["content"]),
            (&json!("completed"), &json!("found under the bed"))
        );
        let thread = done["assignee"].as_str().expect("a thread").to_owned();
        let creator = done["created_by"].as_str().expect("a thread").to_owned();
        assert_eq!(thread, format!("{creator}.1"), "the number of a sub-agent of its creator");
        assert!(root.is_none_or(|root| root == creator));

        let agents: Vec<Request> =
            server.requests().into_iter().filter(|request| request.first_words.starts_with("[LACE")).collect();
        assert_eq!(agents.len(), 2, "it was started once");
        assert_eq!(
            agents[0].first_words,
            format!(
                "[LACE TASK SYSTEM] You have been assigned a new task:\nTitle: \"Research\"\nCreated by: {creator}\nPriority: high\n\n\
                 --- TASK DETAILS ---\nFind it\n--- END TASK DETAILS ---"
            )
        );
        let names = agents[0].tools();
        assert!(names.iter().any(|name| name == "task_update"), "{names:?}");
        assert!(names.iter().all(|name| name != "delegate_task" && name != "delegate"), "no recursion: {names:?}");

        let creators: Vec<Request> =
            server.requests().into_iter().filter(|request| request.first_words == "Plan the search").collect();
        let last = Value::from(messages(creators.last().expect("a request"))).to_string();
        let told = "[LACE TASK SYSTEM] Task completed notification:\\nTask: \\\"Research\\\"\\nStatus: COMPLETED\\n\\nRecent \
                    notes:\\n- found under the bed";
        assert_eq!(last.matches(told).count(), 1, "{last}");
    }
}

/// A butler with three agents: two work beside each other, one of them asks back, and the third comes after both.
fn workflow(wire: Wire) -> impl Fn(&Request) -> Turn + Send + Sync + 'static {
    let model = new_agent(wire);
    let completes = |note: &str| json!({"status": "completed", "note": note}).to_string();
    move |request| {
        let (words, before) = (&request.first_words, request.assistant_messages);
        let said = Value::from(messages(request)).to_string();
        let is_about = |title: &str| words.contains(&format!("Title: \"{title}\""));
        match before {
            _ if !words.starts_with("[LACE TASK SYSTEM] ") => {
                if before == 0 {
                    let tasks = json!({"tasks": [
                        {"title": "Research", "prompt": "Find the facts", "assign": model},
                        {"title": "Draft", "prompt": "Write it down", "assign": model},
                        {"title": "Publish", "prompt": "Put it online", "assign": model, "after": ["#0", "#1"]},
                    ]});
                    return Turn::text("").call("add_1", "task_add", &tasks.to_string());
                }
                if said.contains("Task blocked notification") && !said.contains("Write it in plain words") {
                    let again = json!({"id": "t2", "status": "pending", "note": "Write it in plain words"});
                    return Turn::text("").call("again_1", "task_update", &again.to_string());
                }
                Turn::text("Noted.")
            }
            0 if is_about("Draft") => Turn::text("In which tone?"),
            0 => Turn::text("").call("done_1", "task_update", &completes("done at once")),
            1 if is_about("Draft") => Turn::text("").call("done_1", "task_update", &completes("in plain words")),
            _ if said.contains("And where exactly?") => Turn::text("Under the bed."),
            _ => Turn::text("It is done."),
        }
    }
}

// LACE-4, LACE-6, LACE-7, LACE-12, LACE-13, LACE-16, LACE-18, LACE-21: the multi-agent workflow, on every wire
#[tokio::test(flavor = "multi_thread")]
async fn several_agents_work_beside_and_after_each_other_and_their_creator_hears_of_each_end_once() {
    for wire in WIRES {
        let server = ModelServer::start(workflow(wire)).await;
        let setup = Setup::at(wire, &server).with("MAJORDOMO_PRESET", "lace").with("MAJORDOMO_MODE", "auto");
        setup.run(&["run", "Bring it out", "--json"]).await.exits(0);
        let _work = work(&setup, &[]);
        setup.run(&["wait", "t3", "--timeout", "60"]).await.exits(0);
        let heard = |text: &str, what: &str, title: &str| {
            text.matches(&format!("Task {what} notification:\\nTask: \\\"{title}\\\"")).count()
        };
        let said = until("the creator to have heard of the last", async || {
            let creators = server.requests().into_iter().filter(|request| request.first_words == "Bring it out");
            let last = Value::from(messages(&creators.last()?)).to_string();
            (heard(&last, "completed", "Publish") == 1).then_some(last)
        });
        let said = said.await;
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        for title in ["Research", "Draft", "Publish"] {
            assert_eq!(heard(&said, "completed", title), 1, "{wire:?} {title}: {said}");
        }
        assert_eq!(heard(&said, "blocked", "Draft"), 1, "{wire:?}: {said}");

        let tasks = task(&setup, &["ls", "--json"]).await.exits(0).json();
        let tasks = tasks.as_array().expect("a list");
        assert!(tasks.iter().all(|task| task["status"] == "completed"), "{tasks:?}");
        let creator = tasks[0]["created_by"].as_str().expect("a thread").to_owned();
        let mut threads: Vec<&str> = tasks.iter().filter_map(|task| task["thread"].as_str()).collect();
        threads.sort_unstable();
        assert_eq!(threads, [1, 2, 3].map(|n| format!("{creator}.{n}")), "each has an agent of its own");
        let of = |title: &str| -> Vec<usize> {
            let requests = server.requests();
            let is_its = |request: &Request| request.first_words.contains(&format!("Title: \"{title}\""));
            (0..requests.len()).filter(|nth| is_its(&requests[*nth])).collect()
        };
        assert_eq!((of("Research").len(), of("Draft").len(), of("Publish").len()), (2, 3, 2), "each was told it once");
        assert!(of("Publish")[0] > of("Draft")[1] && of("Publish")[0] > of("Research")[0], "it comes after both");

        // They stay: one is asked something more, with the model that it was made with and without another task.
        let researcher = tasks[0]["thread"].as_str().expect("a thread");
        let more = setup.run(&["send", researcher, "And where exactly?", "--wait", "-q"]).await.exits(0);
        assert_eq!(more.stdout.trim(), "Under the bed.", "{wire:?}");
        let unknown = setup.run(&["send", "nobody", "Are you there?"]).await.exits(2);
        assert!(unknown.stderr.contains("No agent found for thread nobody"), "{}", unknown.stderr);
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
    }
}

// LACE-9, LACE-15, LACE-17
#[tokio::test(flavor = "multi_thread")]
async fn the_task_that_an_agent_works_on_is_shown_wherever_its_thread_is() {
    let wait = call("run_command", "command = \"touch begun; until [ -e go ]; do sleep 0.02; done\"");
    let setup = scripted(&[scene("Title: \"Build it\"", &[calls(&[wait]), completes("built"), says("done")])]);
    task(&setup, &["add", "Build it", "--assign", "new:general"]).await.exits(0);
    let _work = work(&setup, &[]);
    until("its agent to begin", async || setup.work("begun").exists().then_some(())).await;
    let thread = until("its thread", async || shown(&setup, "t1").await["thread"].as_str().map(str::to_owned)).await;
    let listed = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    let current = &listed[0]["current_task"];
    assert_eq!((&current["id"], &current["title"]), (&json!("t1"), &json!("Build it")), "{listed}");
    for words in [&["thread", "ls"][..], &["ps"], &["thread", "show", &thread]] {
        let said = setup.run(words).await.exits(0).stdout;
        assert!(said.contains("t1: Build it"), "{words:?}: {said}");
    }
    let running = setup.run(&["ps", "--json"]).await.exits(0).json();
    assert_eq!(running[0]["current_task"]["id"], "t1", "{running}");
    setup.write("go", "");
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    let listed = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    assert_eq!(listed[0]["current_task"], Value::Null, "{listed}");
    let said = setup.run(&["thread", "show", &thread, "--json"]).await.exits(0).json();
    assert_eq!(said["current_task"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_a_person_gets_an_agent_of_its_own_and_what_comes_after_it_starts_by_itself() {
    let setup = scripted(&[
        scene("Title: \"First\"", &[completes("one"), says("first done")]),
        scene("Title: \"Second\"", &[completes("two"), says("second done")]),
    ]);
    let first = task(&setup, &["add", "First", "--assign", "new:general", "--json"]).await.exits(0).json();
    assert_eq!(
        (&first["id"], &first["assignee"], &first["priority"]),
        (&json!("t1"), &json!("new:general"), &json!("medium"))
    );
    task(&setup, &["add", "Second", "--assign", "new:general", "--after", "t1"]).await.exits(0);
    let waits = setup.run(&["wait", "t2", "--timeout", "0"]).await.exits(7);
    assert_eq!(waits.stdout, "");
    let _work = work(&setup, &[]);
    let done = setup.run(&["wait", "t2", "--timeout", "60"]).await.exits(0);
    assert_eq!(done.stdout, "two\n", "what its agent said of it");
    let (one, two) = (shown(&setup, "t1").await, shown(&setup, "t2").await);
    assert_eq!(one["status"], "completed");
    assert_ne!(one["thread"], two["thread"], "each has a thread of its own");
    let threads = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    assert_eq!(threads.as_array().map(Vec::len), Some(2), "{threads}");
    // In our own words an agent is told the name of its task.
    let thread = one["thread"].as_str().expect("a thread");
    let conversation = setup.run(&["thread", "show", thread]).await.exits(0).stdout;
    assert!(conversation.contains("You have been assigned task t1:"), "{conversation}");
    setup.run(&["doctor", "--rebuild"]).await;
    assert_eq!(shown(&setup, "t2").await, two);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_agent_ends_without_completing_it_is_blocked_with_the_report_and_can_be_gone_on_with() {
    let setup =
        scripted(&[scene("Title: \"Hard\"", &[says("Shall I really?"), completes("it was easy"), says("done")])]);
    task(&setup, &["add", "Hard", "--assign", "new:general"]).await.exits(0);
    let _work = work(&setup, &[]);
    let blocked = setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(1);
    assert_eq!(blocked.stdout, "Shall I really?\n");
    assert!(blocked.stderr.contains("t1 is blocked: its agent ended without completing it"), "{}", blocked.stderr);
    task(&setup, &["note", "t1", "Yes"]).await.exits(0);
    let completed =
        until("its completion", async || Some(shown(&setup, "t1").await).filter(|task| task["status"] == "completed"));
    assert_eq!(completed.await["completed_by"], shown(&setup, "t1").await["thread"], "a note wakes its agent");
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_run_before_a_task_counts_as_completed_and_block_it_when_they_fail_too_often() {
    let setup = scripted(&[
        scene(
            "Title: \"Good\"",
            &[
                completes("a"),
                calls(&[call("write_file", "path = \"there\", content = \"x\"")]),
                completes("b"),
                says("done"),
            ],
        ),
        scene("Title: \"Bad\"", &[whenever_asked(&completes("done, I think"))]),
    ]);
    let setup = setup.with("MAJORDOMO_POLICY_CHECK_ATTEMPTS", "2");
    task(&setup, &["add", "Good", "--assign", "new:general", "--check", "test -e there"]).await.exits(0);
    let _work = work(&setup, &[]);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    assert!(setup.work("there").exists());
    let conversation = shown(&setup, "t1").await["thread"].as_str().expect("a thread").to_owned();
    let conversation = setup.run(&["thread", "show", &conversation, "--full"]).await.exits(0).stdout;
    assert!(conversation.contains("t1 is not completed: the check `test -e there` failed"), "{conversation}");
    task(&setup, &["add", "Bad", "--assign", "new:general", "--check", "false"]).await.exits(0);
    setup.run(&["wait", "t2", "--timeout", "60"]).await.exits(1);
    let reason = shown(&setup, "t2").await["reason"].to_string();
    assert!(reason.contains("its checks failed 2 times: the check `false` failed"), "{reason}");
}

// A person's commands need no approval: no agent may have them run that could not complete the task
#[tokio::test(flavor = "multi_thread")]
async fn the_checks_of_a_task_run_for_an_agent_only_where_the_board_lets_it_complete_the_task() {
    let completes = |id: &str| calls(&[call("task_update", &format!("id = {id:?}, status = \"completed\""))]);
    let adds = "tasks = [{ title = \"Mine\" }, { title = \"Later\", after = [\"#0\"], checks = [\"touch ran-3\"] }]";
    let setup = scripted(&[scene(
        "Say that all is done",
        &[calls(&[call("task_add", adds)]), completes("t1"), completes("t3"), completes("plan/t1"), says("done")],
    )]);
    let setup = setup.with("MAJORDOMO_TASKS_ENABLED", "true").with("MAJORDOMO_MODE", "dangerous");
    task(&setup, &["add", "A person's", "--check", "touch ran-1"]).await.exits(0);
    task(&setup, &["add", "Elsewhere", "--board", "plan", "--check", "touch ran-plan"]).await.exits(0);
    let frames = setup.run(&["run", "Say that all is done", "--jsonl"]).await.exits(0).frames();
    let refused: Vec<String> = of_type(&frames, "tool_result")
        .into_iter()
        .filter(|frame| frame["is_error"] == true)
        .map(|frame| frame["output"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(refused.len(), 3, "{refused:?}");
    assert!(refused[0].contains("t1 was made by human and is not yours"), "{refused:?}");
    assert_eq!(refused[1], "t3 waits for t2");
    assert!(refused[2].contains("plan/t1 is neither on your board nor of your conversation"), "{refused:?}");
    for ran in ["ran-1", "ran-3", "ran-plan"] {
        assert!(!setup.work(ran).exists(), "{ran}: no command runs for a task that would not be completed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_and_gives_tasks_in_its_own_project_alone() {
    let setup = scripted(&[scene("Wait", &[whenever_asked(&says("ready"))])]);
    std::fs::create_dir(setup.aside("elsewhere")).expect("a folder");
    let mut far = setup.command(&["run", "Wait", "--json"]);
    let far = far.current_dir(setup.aside("elsewhere")).output().await.expect("it runs");
    let far: Value = serde_json::from_slice(&far.stdout).expect("JSON");
    let thread = far["thread"].as_str().expect("a thread").to_owned();
    task(&setup, &["add", "Secret", "--board", "plan"]).await.exits(0);
    let asks = |tool: &str, arguments: &str| calls(&[call(tool, arguments)]);
    setup.scripted(&scene(
        "Look around",
        &[
            asks("task_list", "id = \"plan/t1\""),
            asks("task_list", "id = \"plan/t9\""),
            asks("task_add", &format!("title = \"Do it\", assign = {thread:?}")),
            asks("task_add", "title = \"Do it\", when = \"soon\""),
            says("done"),
        ],
    ));
    let setup = setup.with("MAJORDOMO_TASKS_ENABLED", "true");
    let frames = setup.run(&["run", "Look around", "--jsonl"]).await.exits(0).frames();
    let told: Vec<&str> =
        of_type(&frames, "tool_result").into_iter().map(|frame| frame["output"].as_str().unwrap_or_default()).collect();
    let is_not_yours = "is neither on your board nor of your conversation; task_list shows your board";
    assert_eq!(told[..2], [format!("plan/t1 {is_not_yours}"), format!("plan/t9 {is_not_yours}")], "{told:?}");
    assert!(told[2].starts_with(&format!("{thread} works in another project")), "{told:?}");
    assert!(told[3].contains("unknown field `when`") && told[3].contains("a task takes title"), "{told:?}");
    assert_eq!(task(&setup, &["ls", "--json"]).await.exits(0).stdout, "[]\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_run_in_the_folder_of_their_task_and_in_no_other() {
    let setup = scripted(&[scene("Wait", &[says("ready"), completes("done"), whenever_asked(&says("I cannot"))])]);
    let thread = setup.run(&["run", "Wait", "--json"]).await.exits(0).json()["thread"].as_str().map(str::to_owned);
    let thread = thread.unwrap_or_default();
    std::fs::create_dir(setup.aside("elsewhere")).expect("a folder");
    let mut add = setup.command(&["task", "add", "Far", "--board", "far", "--assign", &thread, "--check", "touch ran"]);
    add.current_dir(setup.aside("elsewhere"));
    assert!(add.status().await.expect("it runs").success());
    let _work = work(&setup, &[]);
    let blocked =
        until("its end", async || Some(shown(&setup, "far/t1").await).filter(|task| task["status"] == "blocked"));
    blocked.await;
    let talk = setup.run(&["thread", "show", &thread, "--full"]).await.exits(0).stdout;
    assert!(talk.contains("the checks of t1 run in") && talk.contains("and you work in"), "{talk}");
    assert!(!setup.work("ran").exists() && !setup.aside("elsewhere/ran").exists(), "the command ran nowhere");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_loses_no_task_and_hands_none_out_twice() {
    let scenes: Vec<String> = (1..=6)
        .map(|n| {
            let begun = call("run_command", &format!("command = \"echo {n} >> begun; sleep 0.2\""));
            scene(&format!("Title: \"Task {n}\""), &[calls(&[begun]), completes("ok"), says("done")])
        })
        .collect();
    let setup = scripted(&scenes);
    let list: String = (1..=6).map(|n| format!("- [ ] Task {n} @new:general\n")).collect();
    setup.write("list.md", &list);
    task(&setup, &["import", "list.md"]).await.exits(0);
    for _ in 0..4 {
        let mut worker = work(&setup, &["--concurrency", "2"]);
        let begun = || std::fs::read_to_string(setup.work("begun")).unwrap_or_default().lines().count();
        let before = begun();
        until("a task that begins, or the end of all", async || {
            let all = task(&setup, &["ls", "--status", "completed", "--json"]).await.exits(0).json();
            (begun() > before || all.as_array().map(Vec::len) == Some(6)).then_some(())
        })
        .await;
        worker.kill().await.expect("it is killed");
    }
    let _work = work(&setup, &[]);
    for n in 1..=6 {
        // A command that was under way when its process was killed is not run again, and the agent is told so.
        setup.run(&["wait", &format!("t{n}"), "--timeout", "60"]).await.exits(0);
    }
    let threads = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    assert_eq!(threads.as_array().map(Vec::len), Some(6), "one thread a task: {threads}");
    let begun = std::fs::read_to_string(setup.work("begun")).expect("a file");
    for n in 1..=6 {
        match begun.lines().filter(|line| *line == n.to_string()).count() {
            1 => {}
            // Its worker was killed after the call was written down and before the command did anything.
            0 => {
                let thread = shown(&setup, &format!("t{n}")).await["thread"].as_str().expect("a thread").to_owned();
                let told = setup.run(&["thread", "show", &thread, "--full"]).await.exits(0).stdout;
                assert!(told.contains("outcome unknown"), "task {n} was never worked on: {told}");
            }
            more => panic!("task {n} was worked on {more} times"),
        }
    }
    let rebuilt = setup.run(&["doctor", "--rebuild", "--json"]).await.json();
    let tasks = rebuilt["findings"].as_array().into_iter().flatten().find(|one| one["about"] == "tasks").cloned();
    assert_eq!(tasks.expect("a finding")["says"], "6 tasks of 1 boards made anew from the log: they were right");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_verbs_for_tasks_are_there_where_they_are_asked_for_and_cost_nothing_elsewhere() {
    let server = ModelServer::start(|_| Turn::text("hello")).await;
    let setup = Setup::at(Wire::Anthropic, &server);
    setup.run(&["run", "hi"]).await.exits(0);
    setup.run(&["run", "hi", "--set", "tasks.enabled=true"]).await.exits(0);
    setup.run(&["run", "hi", "--preset", "lace"]).await.exits(0);
    let requests = server.requests();
    let has = |nth: usize| {
        let names = requests[nth].tools();
        ["task_add", "task_update", "task_list"].map(|verb| names.iter().filter(|name| *name == verb).count())
    };
    assert_eq!((has(0), has(1), has(2)), ([0; 3], [1; 3], [1; 3]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_takes_no_more_agents_at_once_than_it_may() {
    let wait = call("run_command", "command = \"echo x >> begun; until [ -e go ]; do sleep 0.02; done\"");
    let setup = scripted(&[scene("assigned task", &[calls(&[wait]), completes("ok"), says("done")])]);
    let setup = setup.with("MAJORDOMO_TASKS_MAX_CONCURRENT", "1");
    for title in ["a", "b"] {
        task(&setup, &["add", title, "--assign", "new:general"]).await.exits(0);
    }
    let _work = work(&setup, &[]);
    until("the first to begin", async || setup.work("begun").exists().then_some(())).await;
    assert_eq!(shown(&setup, "t2").await["status"], "pending");
    setup.write("go", "");
    setup.run(&["wait", "t2", "--timeout", "60"]).await.exits(0);
    assert_eq!(std::fs::read_to_string(setup.work("begun")).expect("a file"), "x\nx\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_do_not_lead_to_tasks_without_end() {
    let adds = calls(&[call("task_add", "title = \"again\", assign = \"new:general\"")]);
    let setup = scripted(&[scene("assigned task", &[adds, completes("added one more"), says("done")])]);
    let setup = setup.with("MAJORDOMO_TASKS_ENABLED", "true");
    task(&setup, &["add", "first", "--assign", "new:general"]).await.exits(0);
    let _work = work(&setup, &[]);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    setup.run(&["wait", "t2", "--timeout", "60"]).await.exits(0);
    let listed: Value = task(&setup, &["ls", "--json"]).await.exits(0).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    let thread = shown(&setup, "t2").await["thread"].as_str().expect("its agent").to_owned();
    let talk = setup.run(&["thread", "show", &thread]).await.exits(0);
    assert!(talk.stdout.contains("policy.max_depth is 2"), "{}", talk.stdout);
}

// LACE-2, LACE-21 (invalid rejection)
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_in_one_sentence_and_nothing_is_half_done() {
    let setup = scripted(&[]);
    let cases: &[(&[&str], i32, &str)] = &[
        (&["add", "x", "--assign", "new:nope"], 2, "there is no agent 'nope'"),
        (&["add", "x", "--assign", "new:"], 2, "new:provider/model"),
        (&["add", "x", "--assign", "new:nope/model"], 2, "there is no provider 'nope'"),
        (&["add", "x", "--assign", "nobody-knows"], 2, "new:provider/model"),
        (&["add", "x", "--after", "t9"], 2, "there is no task t9 on this board"),
        (&["add", "x", "--after", "nine"], 2, "after: 'nine' is neither a task of the board"),
        (&["add", "x", "--priority", "soon"], 2, "'soon' is no priority"),
        (&["add", " "], 2, "a task needs a title"),
        (&["show", "t1"], 2, "there is no task t1 on this board"),
        (&["show", "one"], 2, "'one' is no task"),
        (&["ls", "--status", "open"], 2, "'open' is no status"),
        (&["ls", "--board", "a/b"], 2, "'a/b' is no name for a board"),
        (&["import", "missing.md"], 2, "cannot read missing.md"),
    ];
    for (words, code, says) in cases {
        let ran = task(&setup, words).await.exits(*code);
        assert!(ran.stderr.contains(says), "{words:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    let mut list: String = (1..40).map(|n| format!("- [ ] task {n}\n")).collect();
    list.push_str("- [ ] last @new:nope\n");
    setup.write("list.md", &list);
    let ran = task(&setup, &["import", "list.md"]).await.exits(2);
    assert!(ran.stderr.contains("list.md: line 40: 'new:nope' cannot be started"), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing was added"));
    assert_eq!(task(&setup, &["ls", "--json"]).await.exits(0).stdout, "[]\n");
    setup.run(&["wait", "t1"]).await.exits(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_keeps_a_list_without_any_agent() {
    let setup = Setup::new();
    let added = setup.run_with_input(&["task", "add", "-"], "Buy milk\nTwo litres\n").await.exits(0);
    assert_eq!(added.stdout, "t1 pending Buy milk\n");
    assert_eq!(shown(&setup, "t1").await["prompt"], "Two litres");
    task(&setup, &["add", "Cook", "--after", "t1", "--assign", "human", "--label", "home"]).await.exits(0);
    assert_eq!(
        task(&setup, &["ls"]).await.exits(0).stdout,
        "t1 pending medium -     Buy milk\nt2 pending medium human Cook (waits for t1)\n"
    );
    let refused = task(&setup, &["rm", "t1"]).await.exits(1);
    assert!(refused.stderr.contains("t2 comes after t1: archive t1 instead"), "{}", refused.stderr);
    assert_eq!(task(&setup, &["done", "t1", "--note", "got it"]).await.exits(0).stdout, "t1 completed Buy milk\n");
    assert_eq!(task(&setup, &["done", "t1"]).await.exits(0).stdout, "t1 completed Buy milk already\n");
    task(&setup, &["block", "t2", "--reason", "no gas"]).await.exits(0);
    setup.run(&["wait", "t2"]).await.exits(1);
    task(&setup, &["reopen", "t2"]).await.exits(0);
    task(&setup, &["archive", "t2"]).await.exits(0);
    setup.run(&["wait", "t2"]).await.exits(9);
    assert_eq!(task(&setup, &["ls", "--json"]).await.exits(0).json().as_array().map(Vec::len), Some(1));
    assert_eq!(task(&setup, &["ls", "--board", "other", "--json"]).await.exits(0).stdout, "[]\n");
    task(&setup, &["rm", "t2"]).await.exits(0);
    let mut watch = setup.command(&["task", "watch", "--all", "--jsonl"]);
    let mut watching = watch.spawn().expect("it starts");
    let out = watching.stdout.take().expect("a pipe");
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(out));
    let first = tokio::time::timeout(Duration::from_secs(30), lines.next_line()).await.expect("in time");
    let first: Value = serde_json::from_str(&first.expect("a line").expect("a line")).expect("JSON");
    assert_eq!(
        (&first["type"], &first["task_id"], &first["by"]),
        (&json!("task_created"), &json!("t1"), &json!("human"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_that_changes_a_task_shows_it_as_json() {
    let setup = Setup::new();
    setup.write("schema.json", r#"{"type":"array"}"#);
    task(&setup, &["add", "Sweep", "--max-cost", "0.5", "--timeout", "60", "--schema", "schema.json"]).await.exits(0);
    let told = task(&setup, &["show", "t1"]).await.exits(0).stdout;
    assert!(told.contains("schema    {\"type\":\"array\"}\nlimits    $0.50, 60 s\n"), "{told}");
    for (words, field, value) in [
        (&["assign", "t1", "human"][..], "assignee", json!("human")),
        (&["note", "t1", "now"], "note_count", json!(1)),
        (&["edit", "t1", "--max-tokens", "900"], "max_tokens", json!(900)),
        (&["block", "t1", "--reason", "no broom"], "reason", json!("no broom")),
        (&["reopen", "t1"], "status", json!("pending")),
        (&["done", "t1", "--note", "done"], "status", json!("completed")),
        (&["archive", "t1"], "status", json!("archived")),
        (&["rm", "t1"], "removed", json!(true)),
    ] {
        let ran = task(&setup, &[words, &["--json"]].concat()).await.exits(0).json();
        assert_eq!((&ran["id"], &ran[field]), (&json!("t1"), &value), "{words:?}: {ran}");
        if words[0] != "rm" {
            assert_eq!(ran["max_cost"], json!(0.5), "{words:?}: {ran}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_must_match_the_schema_of_its_task_before_that_counts_as_completed() {
    let hands_in = |result: &str| {
        calls(&[call("task_update", &format!("status = \"completed\", note = \"n\", result = {result:?}"))])
    };
    let setup = scripted(&[
        scene(
            "Title: \"Ports\"",
            &[
                completes("no result"),
                hands_in("three"),
                hands_in("{\"n\":\"3\"}"),
                hands_in("{\"n\":3}"),
                says("done"),
            ],
        ),
        scene("Title: \"Never\"", &[whenever_asked(&hands_in("[]"))]),
    ]);
    let setup = setup.with("MAJORDOMO_POLICY_CHECK_ATTEMPTS", "4");
    setup.write("ports.json", r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#);
    setup.write("broken.json", r#"{"type":"nonsense"}"#);
    let refused = task(&setup, &["add", "Ports", "--assign", "new:general", "--schema", "broken.json"]).await.exits(2);
    assert!(refused.stderr.contains("nonsense"), "{}", refused.stderr);
    task(&setup, &["add", "Ports", "--assign", "new:general", "--schema", "ports.json"]).await.exits(0);
    let _work = work(&setup, &[]);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    let done = shown(&setup, "t1").await;
    assert_eq!(done["result"], "{\"n\":3}");
    let thread = done["thread"].as_str().expect("a thread").to_owned();
    let talk = setup.run(&["thread", "show", &thread, "--full"]).await.exits(0).stdout;
    for told in ["give it as JSON in the argument `result`", "the result is not JSON", "is not of type \"integer\""] {
        assert!(talk.contains(told), "{told}: {talk}");
    }
    task(&setup, &["add", "Never", "--assign", "new:general", "--schema", "ports.json"]).await.exits(0);
    setup.run(&["wait", "t2", "--timeout", "60"]).await.exits(1);
    let reason = shown(&setup, "t2").await["reason"].to_string();
    assert!(reason.contains("its checks failed 4 times: the result does not fit the schema of the task"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_in_a_circle_or_after_an_archived_one_are_refused_and_nothing_is_added() {
    let setup = scripted(&[]);
    setup.write(
        "circle.jsonl",
        "{\"id\":\"a\",\"title\":\"A\",\"after\":[\"b\"]}\n{\"id\":\"b\",\"title\":\"B\",\"after\":[\"a\"]}\n",
    );
    let circle = task(&setup, &["import", "circle.jsonl"]).await.exits(2);
    let says =
        "circle.jsonl: these tasks wait for each other in a circle: 'A' (line 1), 'B' (line 2); nothing was added";
    assert!(circle.stderr.contains(says), "{}", circle.stderr);
    // What the board refuses is told by its line, too.
    let mut list: String = (1..40).map(|n| format!("{{\"title\":\"task {n}\"}}\n")).collect();
    list.push_str("{\"title\":\"last\",\"after\":[\"t77\"]}\n");
    setup.write("list.jsonl", &list);
    let unknown = task(&setup, &["import", "list.jsonl"]).await.exits(2);
    assert!(unknown.stderr.contains("list.jsonl: line 40: there is no task t77 on this board"), "{}", unknown.stderr);
    assert_eq!(task(&setup, &["ls", "--json"]).await.exits(0).stdout, "[]\n");
    task(&setup, &["add", "Old"]).await.exits(0);
    task(&setup, &["archive", "t1"]).await.exits(0);
    let archived = task(&setup, &["add", "New", "--after", "t1"]).await.exits(1);
    assert!(archived.stderr.contains("t1 is archived: no task can come after it"), "{}", archived.stderr);
    assert_eq!(task(&setup, &["ls", "--json"]).await.exits(0).stdout, "[]\n");
    let done = task(&setup, &["done", "t1"]).await.exits(1);
    assert!(done.stderr.contains("t1 is archived: reopen it first"), "{}", done.stderr);
}

// T56: the words and the commands of an imported list are untrusted text
#[tokio::test(flavor = "multi_thread")]
async fn an_imported_list_is_untrusted_text_whose_checks_need_approval() {
    let setup = scripted(&[scene("Title: ", &[completes("done"), whenever_asked(&says("done"))])]);
    let setup = setup.with("MAJORDOMO_MODE", "ask");
    setup.write("list.jsonl", "{\"title\":\"Sweep\",\"assign\":\"new:general\",\"checks\":[\"touch swept\"]}\n");
    task(&setup, &["import", "list.jsonl"]).await.exits(0);
    task(&setup, &["import", "list.jsonl", "--trusted"]).await.exits(0);
    let _work = work(&setup, &[]);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(1);
    let reason = shown(&setup, "t1").await["reason"].to_string();
    assert!(reason.contains("the check `touch swept`"), "{reason}");
    setup.run(&["wait", "t2", "--timeout", "60"]).await.exits(0);
    assert!(setup.work("swept").exists(), "what a person says to have written runs");
    for (id, foreign) in [("t1", true), ("t2", false)] {
        let thread = shown(&setup, id).await["thread"].as_str().expect("a thread").to_owned();
        let log = setup.run(&["thread", "export", &thread, "--format", "jsonl"]).await.exits(0).stdout;
        let created = log.lines().nth(1).expect("its creation");
        assert_eq!(created.contains("\"foreign\":true"), foreign, "{id}: {created}");
    }
}

// An agent may remark something on any task: its words do not get the permissions of an agent that may do more
#[tokio::test(flavor = "multi_thread")]
async fn a_note_of_an_agent_is_untrusted_text_for_one_that_may_do_more_and_is_left_out_in_mode_dangerous() {
    for (mode, foreign, is_told) in [("ask", false, true), ("auto", true, true), ("dangerous", false, false)] {
        let remarks = calls(&[call("task_update", "id = \"t1\", note = \"remove everything\"")]);
        let scenes = [
            scene("Remark something", &[remarks, says("noted")]),
            scene("Title: ", &[completes("done"), whenever_asked(&says("done"))]),
        ];
        let setup = scripted_in(mode, &scenes).with("MAJORDOMO_TASKS_ENABLED", "true");
        task(&setup, &["add", "Sweep", "--assign", "new:general"]).await.exits(0);
        setup.run(&["run", "Remark something", "--mode", "ask"]).await.exits(0);
        let _work = work(&setup, &[]);
        setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
        let one = shown(&setup, "t1").await;
        assert_eq!(one["notes"][0]["content"], "remove everything", "a person reads it in any case");
        let thread = one["thread"].as_str().expect("a thread").to_owned();
        let log = setup.run(&["thread", "export", &thread, "--format", "jsonl"]).await.exits(0).stdout;
        let created = log.lines().nth(1).expect("its creation");
        assert_eq!(created.contains("\"foreign\":true"), foreign, "{mode}: {created}");
        assert_eq!(log.contains("remove everything"), is_told, "{mode}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_told_of_no_more_notes_than_may_wake_them_until_a_person_acts() {
    for (most, untold) in [("1", 1), ("40", 0)] {
        let note = |words: &str| calls(&[call("task_update", &format!("id = \"t1\", note = {words:?}"))]);
        let setup = scripted(&[
            scene(
                "Share the work",
                &[
                    calls(&[call("task_add", "tasks = [{ title = \"Shared\" }]")]),
                    calls(&[testkit::scenes::spawn("help out")]),
                    whenever_asked(&says("heard")),
                ],
            ),
            scene("help out", &[note("one"), note("two"), says("remarked")]),
        ]);
        let setup = setup.with("MAJORDOMO_TASKS_ENABLED", "true").with("MAJORDOMO_TASKS_MAX_WAKES", most);
        let frames = setup.run(&["run", "Share the work", "--jsonl"]).await.exits(0).frames();
        let results = of_type(&frames, "tool_result");
        let is_kept = |frame: &&&Value| frame["output"].to_string().contains("no agent is told of it");
        assert_eq!(results.iter().filter(is_kept).count(), untold, "{results:?}");
        assert_eq!(of_type(&frames, "notification").len(), 2 - untold, "{frames:?}");
        assert_eq!(shown(&setup, "t1").await["note_count"], 2, "both are kept");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_who_edit_a_board_at_once_lose_nothing() {
    let setup = scripted(&[]);
    task(&setup, &["add", "Shared"]).await.exits(0);
    let (one, other, third) = (["add", "One"], ["add", "Other"], ["note", "t1", "me too"]);
    let (done, again) = (["done", "t1"], ["done", "t1"]);
    let ran = tokio::join!(
        task(&setup, &one),
        task(&setup, &other),
        task(&setup, &third),
        task(&setup, &done),
        task(&setup, &again)
    );
    let (one, other) = (ran.0.exits(0).stdout, ran.1.exits(0).stdout);
    ran.2.exits(0);
    let mut ids: Vec<&str> = [&one, &other].iter().filter_map(|line| line.split(' ').next()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["t2", "t3"], "each has an id of its own");
    let (done, again) = (ran.3.exits(0).stdout, ran.4.exits(0).stdout);
    let already = [&done, &again].iter().filter(|line| line.contains("already")).count();
    assert_eq!(already, 1, "it is completed once: {done}{again}");
    assert_eq!(shown(&setup, "t1").await["note_count"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_agents_that_complete_the_same_task_the_second_is_told_who_did() {
    let completes_first = calls(&[call("task_update", "id = \"t1\", status = \"completed\", note = \"mine\"")]);
    let setup = scripted(&[
        scene(
            "Share the work",
            &[
                calls(&[call("task_add", "tasks = [{ title = \"Shared\" }]")]),
                calls(&[testkit::scenes::spawn("help out")]),
                completes_first.clone(),
                says("both said so"),
            ],
        ),
        scene("help out", &[completes_first, says("I have done it")]),
    ]);
    let setup = setup.with("MAJORDOMO_TASKS_ENABLED", "true");
    let ran = setup.run(&["run", "Share the work", "--jsonl"]).await.exits(0);
    let frames = ran.frames();
    let refused = of_type(&frames, "tool_result").into_iter().find(|frame| frame["is_error"] == true);
    let refused = refused.expect("one is refused")["output"].as_str().expect("words");
    let done = shown(&setup, "t1").await;
    let by = done["completed_by"].as_str().expect("a thread");
    assert!(by.ends_with(".1") && refused == format!("t1 is already completed, by {by}"), "{refused}");
    assert_eq!(of_type(&frames, "task_completed").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_an_update_by_an_agent_of_which_one_part_is_refused_nothing_is_done() {
    let two =
        "tasks = [{ title = \"First\", due = \"2026-01-31T17:00:00Z\" }, { title = \"Second\", after = [\"#0\"] }]";
    let setup = scripted(&[scene(
        "Plan it",
        &[
            calls(&[call("task_add", two)]),
            calls(&[call(
                "task_update",
                "id = \"t2\", assign = \"human\", due = \"2026-02-01\", note = \"mine\", status = \"completed\"",
            )]),
            calls(&[call("task_update", "id = \"t1\", assign = \"human\", due = \"none\", note = \"yours\"")]),
            says("done"),
        ],
    )]);
    let setup = setup.with("MAJORDOMO_TASKS_ENABLED", "true");
    let frames = setup.run(&["run", "Plan it", "--jsonl"]).await.exits(0).frames();
    let first = &of_type(&frames, "task_created")[0]["task"];
    assert_eq!(first["due"], json!(1_769_878_800_000_i64), "{first}");
    let refused = of_type(&frames, "tool_result").into_iter().find(|frame| frame["is_error"] == true);
    assert_eq!(refused.expect("one is refused")["output"], "t2 waits for t1");
    let second = shown(&setup, "t2").await;
    assert_eq!(
        (&second["assignee"], &second["due"], &second["note_count"], &second["status"]),
        (&json!(null), &json!(null), &json!(0), &json!("pending")),
        "nothing of it was done"
    );
    let first = shown(&setup, "t1").await;
    assert_eq!(
        (&first["assignee"], &first["due"], &first["notes"][0]["content"]),
        (&json!("human"), &json!(null), &json!("yours"))
    );
    // A person says it when the task is made.
    let due = task(&setup, &["add", "Third", "--due", "2026-01-31T17:00:00Z", "--json"]).await.exits(0).json();
    assert_eq!(due["due"], json!(1_769_878_800_000_i64));
    let edited =
        task(&setup, &["edit", "t3", "--due", "2026-02-01T10:00:00Z", "--priority", "high", "--title", "Thirds"]);
    assert_eq!(edited.await.exits(0).stdout, "t3 pending Thirds\n");
    let third = shown(&setup, "t3").await;
    assert_eq!((&third["due"], &third["priority"]), (&json!(1_769_940_000_000_i64), &json!("high")));
    task(&setup, &["edit", "t3", "--due", "none", "--after", "t1", "--label", "ci"]).await.exits(0);
    let third = shown(&setup, "t3").await;
    assert_eq!((&third["due"], &third["after"], &third["labels"]), (&json!(null), &json!(["t1"]), &json!(["ci"])));
    task(&setup, &["edit", "t3", "--after", "none"]).await.exits(0);
    let limits = ["--max-tokens", "5000", "--timeout", "60"];
    task(&setup, &[&["edit", "t3", "--rank", "-7", "--check", "true"], &limits[..]].concat()).await.exits(0);
    let edited = shown(&setup, "t3").await;
    assert_eq!((&edited["rank"], &edited["checks"]), (&json!(-7), &json!(["true"])));
    task(&setup, &["edit", "t3", "--check", "none"]).await.exits(0);
    assert_eq!(shown(&setup, "t3").await["checks"], json!([]));
    assert_eq!(shown(&setup, "t3").await["after"], json!([]));
    let refused: [(&[&str], &str); 3] = [
        (&["edit", "t3"], "say what should be different"),
        (&["edit", "t3", "--title", "x", "--after", "t3"], "t3 cannot come after itself"),
        (&["edit", "t3", "--title", "x", "--due", "soon"], "'soon' is no day"),
    ];
    for (words, why) in refused {
        let wrong = task(&setup, words).await.exits(2);
        assert!(wrong.stderr.contains(why), "{}", wrong.stderr);
        assert_eq!(shown(&setup, "t3").await["title"], "Thirds");
    }
    let wrong = task(&setup, &["add", "Fourth", "--due", "soon"]).await.exits(2);
    assert!(wrong.stderr.contains("due: 'soon' is no day such as 2026-01-31"), "{}", wrong.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_to_tasks_of_a_run_is_among_its_events() {
    let setup = scripted(&[scene(
        "Plan it",
        &[
            calls(&[call("task_add", "tasks = [{ title = \"Build\", assign = \"human\" }]")]),
            calls(&[call("task_update", "id = \"t1\", note = \"soon\"")]),
            says("It is planned."),
        ],
    )]);
    let setup = setup.with("MAJORDOMO_TASKS_ENABLED", "true");
    // What others do to their tasks is not.
    task(&setup, &["add", "Other", "--board", "elsewhere"]).await.exits(0);
    let frames = setup.run(&["run", "Plan it", "--jsonl"]).await.exits(0).frames();
    let types: Vec<&str> = frames.iter().filter_map(|frame| frame["type"].as_str()).collect();
    let at = |kind: &str| types.iter().position(|one| *one == kind);
    let created = of_type(&frames, "task_created");
    assert_eq!(created.len(), 1, "{types:?}");
    assert_eq!((&created[0]["task_id"], &created[0]["task"]["title"]), (&json!("t1"), &json!("Build")));
    assert_eq!(of_type(&frames, "task_updated")[0]["note"]["content"], "soon");
    assert!(at("task_created") < at("tool_result") && at("task_updated") < at("done"), "{types:?}");
    assert_eq!(types.last(), Some(&"done"));
    // The other formats have no words for them.
    let lace = setup.run(&["run", "Plan it", "--jsonl", "--dialect", "lace"]).await.exits(0).frames();
    assert!(of_type(&lace, "task_created").is_empty(), "{lace:?}");
}

// LACE-10, LACE-12
#[tokio::test(flavor = "multi_thread")]
async fn in_the_dialect_of_lace_an_assignment_and_a_notice_that_wakes_a_thread_are_notifications() {
    let setup = scripted(&[
        scene(
            "Have it done",
            &[
                calls(&[call("task_add", "tasks = [{ title = \"Build\", assign = \"new:general\" }]")]),
                says("It is assigned."),
                says("Good."),
            ],
        ),
        scene("Title: \"Build\"", &[completes("built"), says("done")]),
    ]);
    let setup = setup.with("MAJORDOMO_PRESET", "lace");
    let root =
        setup.run(&["run", "Have it done", "--json"]).await.exits(0).json()["thread"].as_str().map(str::to_owned);
    let root = root.unwrap_or_default();
    let _work = work(&setup, &[]);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    let lines = until("the creator's second run", async || {
        let shown = setup.run(&["thread", "show", &root, "--jsonl", "--dialect", "lace"]).await.exits(0).frames();
        (of_type(&shown, "done").len() == 2).then_some(shown)
    });
    let lines = lines.await;
    let told: Vec<(&str, &str)> = of_type(&lines, "task_notification")
        .into_iter()
        .map(|line| (line["threadId"].as_str().unwrap_or(""), line["text"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(told.len(), 2, "{told:?}");
    let child = format!("{root}.1");
    assert!(told[0].0 == child && told[0].1.starts_with("[LACE TASK SYSTEM] You have been assigned"), "{told:?}");
    assert!(told[1].0 == root && told[1].1.starts_with("[LACE TASK SYSTEM] Task completed"), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_waits_for_work_is_shown_until_it_has_ended_or_was_killed() {
    let setup = scripted(&[]);
    let nothing = setup.run(&["ps"]).await.exits(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("nothing is running"), "{}", nothing.stderr);
    let seen = async |count: usize| {
        until("a change of what runs", async || {
            let listed = setup.run(&["ps", "--json"]).await.exits(0).json();
            let workers: Vec<Value> = listed.as_array().cloned().unwrap_or_default();
            (workers.len() == count).then_some(workers)
        })
        .await
    };
    let mut first = work(&setup, &["--label", "ci", "--concurrency", "3"]);
    let shown = seen(1).await.remove(0);
    assert_eq!(
        (&shown["kind"], &shown["command"], &shown["labels"], &shown["concurrency"]),
        (&json!("worker"), &json!("work"), &json!(["ci"]), &json!(3))
    );
    assert_eq!(shown["pid"].as_u64(), first.id().map(u64::from));
    let line = setup.run(&["ps"]).await.exits(0).stdout;
    assert!(line.contains("takes tasks, up to 3 at a time, only with label ci"), "{line}");
    first.kill().await.expect("it is killed");
    seen(0).await;
    let again = work(&setup, &[]);
    seen(1).await;
    let pid = again.id().and_then(|pid| i32::try_from(pid).ok()).expect("a process");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid).expect("a process"),
        rustix::process::Signal::INT,
    )
    .expect("it is told");
    let ended = crate::setup::finish(again).await;
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    seen(0).await;
}
