//! `majordomo work` on its own: approvals wait for a person, Ctrl-C loses nothing, labels choose, and a task can be given away.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::scenes::{call, calls, says, scene, whenever_asked};
use tokio::process::Child;

use crate::setup::{Ran, finish};
use crate::tasking::{completes, scripted_in, shown, task, until, work};

async fn interrupted(worker: Child) -> Ran {
    let pid = worker.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("it is told");
    finish(worker).await.exits(130)
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_of_a_worker_wait_for_a_person_also_while_no_worker_runs() {
    let writes = call("write_file", "path = \"note.txt\", content = \"x\"");
    let setup =
        scripted_in("ask", &[scene("Title: \"Write\"", &[calls(&[writes]), completes("written"), says("done")])]);
    task(&setup, &["add", "Write", "--assign", "new:general"]).await.exits(0);
    let asked = async || {
        let open = setup.run(&["approve", "ls", "--json"]).await.exits(0).json();
        open[0]["id"].as_str().map(str::to_owned)
    };
    let worker = work(&setup, &[]);
    let question = until("the question", asked).await;
    // Nobody is there to answer, and it is not refused for that: neither by this worker nor by the next.
    interrupted(worker).await;
    let _work = work(&setup, &[]);
    until("a worker that goes on with it", async || {
        let running = setup.run(&["ps", "--json"]).await.exits(0).json();
        running.as_array()?.iter().any(|row| row["state"] == "waiting_for_user").then_some(())
    })
    .await;
    assert_eq!(asked().await, Some(question.clone()), "it is the same question");
    assert_eq!(shown(&setup, "t1").await["status"], "in_progress");
    assert!(!setup.work("note.txt").exists());
    setup.run(&["approve", "yes", &question]).await.exits(0);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    assert!(setup.work("note.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_worker_that_is_interrupted_loses_nothing() {
    let wait = call("run_command", "command = \"echo x >> begun; until [ -e go ]; do sleep 0.02; done\"");
    let setup = scripted_in(
        "dangerous",
        &[
            scene("Title: \"Long\"", &[calls(&[wait]), completes("done at last"), whenever_asked(&says("done"))]),
            scene("Title: \"Next\"", &[completes("done, too"), says("done")]),
        ],
    );
    task(&setup, &["add", "Long", "--assign", "new:general"]).await.exits(0);
    task(&setup, &["add", "Next", "--assign", "new:general", "--after", "t1"]).await.exits(0);
    let worker = work(&setup, &[]);
    until("its command to run", async || setup.work("begun").exists().then_some(())).await;
    interrupted(worker).await;
    let busy = shown(&setup, "t1").await;
    assert_eq!(busy["status"], "in_progress", "{busy}");
    let running = setup.run(&["ps", "--json"]).await.exits(0).json();
    let thread = busy["thread"].as_str().expect("a thread");
    assert_eq!((&running[0]["id"], &running[0]["state"]), (&json!(thread), &json!("interrupted")), "{running}");
    setup.write("go", "");
    let _work = work(&setup, &[]);
    for id in ["t1", "t2"] {
        setup.run(&["wait", id, "--timeout", "60"]).await.exits(0);
    }
    let done = shown(&setup, "t1").await;
    assert_eq!((&done["thread"], &done["note_count"]), (&json!(thread), &json!(1)), "the same agent, once: {done}");
    let threads = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    assert_eq!(threads.as_array().map(Vec::len), Some(2), "{threads}");
    assert_eq!(std::fs::read_to_string(setup.work("begun")).expect("a file"), "x\n", "no command ran twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_labels_takes_only_tasks_that_have_one_of_them() {
    let setup = scripted_in("dangerous", &[scene("Title: ", &[completes("ok"), says("done")])]);
    for (title, label) in [("a", "slow"), ("b", "ci"), ("c", "night")] {
        task(&setup, &["add", title, "--assign", "new:general", "--label", label]).await.exits(0);
    }
    task(&setup, &["add", "d", "--assign", "new:general"]).await.exits(0);
    let labelled = work(&setup, &["--label", "ci", "--label", "night"]);
    for id in ["t2", "t3"] {
        setup.run(&["wait", id, "--timeout", "60"]).await.exits(0);
    }
    interrupted(labelled).await;
    for id in ["t1", "t4"] {
        let left = shown(&setup, id).await;
        assert_eq!((&left["status"], &left["thread"]), (&json!("pending"), &Value::Null), "{left}");
    }
    let _work = work(&setup, &[]);
    for id in ["t1", "t4"] {
        setup.run(&["wait", id, "--timeout", "60"]).await.exits(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_can_be_given_to_an_agent_to_a_thread_and_back_to_a_person() {
    let setup = scripted_in(
        "dangerous",
        &[
            scene("Hello", &[says("Hello."), completes("as I was asked"), whenever_asked(&says("done"))]),
            scene("Title: ", &[says("Too hard for me.")]),
        ],
    );
    let begun = setup.run(&["run", "Hello", "--json"]).await.exits(0).json();
    let thread = begun["thread"].as_str().or(begun["id"].as_str()).expect("a thread").to_owned();
    task(&setup, &["add", "Sweep"]).await.exits(0);
    let wrong = task(&setup, &["assign", "t1", "new:nope"]).await.exits(2);
    assert!(wrong.stderr.contains("new:provider/model"), "{}", wrong.stderr);
    assert_eq!(shown(&setup, "t1").await["assignee"], Value::Null, "nothing was changed");
    let given = task(&setup, &["assign", "t1", "new:general"]).await.exits(0);
    assert_eq!(given.stdout, "t1 pending Sweep → new:general\n");
    assert!(given.stderr.contains("majordomo work"), "{}", given.stderr);
    let _work = work(&setup, &[]);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(1);
    // To a thread that exists: it is woken.
    task(&setup, &["assign", "t1", &thread]).await.exits(0);
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    let done = shown(&setup, "t1").await;
    assert_eq!((&done["completed_by"], &done["thread"]), (&json!(thread), &json!(thread)), "{done}");
    let over = task(&setup, &["assign", "t1", "human"]).await.exits(1);
    assert!(over.stderr.contains("t1 is completed: reopen it before it is assigned"), "{}", over.stderr);
}
