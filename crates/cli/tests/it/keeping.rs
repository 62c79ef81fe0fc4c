//! What a thread keeps wherever it runs, which processes take up tasks, and what lists print for programs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::scenes::{call, calls, says, scene};

use crate::setup::{Setup, finish};

fn put(setup: &Setup, path: &str, text: &str) {
    let path = setup.aside(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn forbids(pattern: &str) -> String {
    format!("[[rules]]\ntool = \"write_file\"\npattern = \"{pattern}\"\naction = \"deny\"\n")
}

fn writes(path: &str) -> String {
    call("write_file", &format!("path = \"{path}\", content = \"here\""))
}

/// Runs a command in another folder, whose settings are others.
async fn elsewhere(setup: &Setup, words: &[&str]) -> crate::setup::Ran {
    let mut command = setup.command(words);
    command.current_dir(setup.aside("other")).env("MAJORDOMO_MODE", "plan");
    finish(command.spawn().expect("it starts")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_keeps_its_folder_its_rules_and_its_mode_in_whichever_process_it_runs() {
    let both = |name: &str| calls(&[writes(&format!("{name}.txt")), writes(&format!("secret-{name}.txt"))]);
    let setup = Setup::new();
    let task = calls(&[call("task_update", "status = \"completed\"")]);
    let model = setup.scripted(
        &[
            scene("Begin", &[says("Ready."), both("sent"), says("Sent."), both("said"), says("Said.")]),
            scene("Title:", &[both("worked"), task, says("Done.")]),
        ]
        .concat(),
    );
    put(&setup, "work/.majordomo/config.toml", &forbids("secret*"));
    put(&setup, "other/.majordomo/config.toml", &forbids("*.txt"));
    let begun = setup.run(&["run", "Begin", "-m", &model, "--mode", "dangerous", "--json"]).await.exits(0).json();
    let thread = begun["thread"].as_str().or(begun["id"].as_str()).expect("a thread").to_owned();
    let is_kept = |name: &str| {
        let is_there = |path: String| Path::new(&path).exists();
        let at = |folder: &str, file: String| setup.aside(&format!("{folder}/{file}")).display().to_string();
        assert!(is_there(at("work", format!("{name}.txt"))), "{name}: it may write here, and does");
        assert!(!is_there(at("work", format!("secret-{name}.txt"))), "{name}: a rule of its folder forbids this");
        assert!(!is_there(at("other", format!("{name}.txt"))), "{name}: it works in its own folder");
    };
    elsewhere(&setup, &["send", &thread, "Go on", "--wait"]).await.exits(0);
    is_kept("sent");
    elsewhere(&setup, &["run", "--thread", &thread, "Go on"]).await.exits(0);
    is_kept("said");
    // So does the agent of a task, if the process that starts it runs in another folder.
    put(&setup, "home/.config/majordomo/config.toml", &format!("mode = \"dangerous\"\nmodel = \"{model}\"\n"));
    setup.run(&["task", "add", "Write", "--assign", "new:general"]).await.exits(0);
    let mut work = setup.command(&["work"]);
    let _work = work.current_dir(setup.aside("other")).spawn().expect("it starts");
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    is_kept("worked");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_leaves_tasks_where_they_are_and_serve_takes_them() {
    let setup = Setup::new();
    let done = calls(&[call("task_update", "status = \"completed\", note = \"wiped\"")]);
    let scenes = [scene("Hello", &[says("Hello.")]), scene("Title:", &[done, says("Done.")])].concat();
    let model = setup.scripted(&scenes);
    let setup = setup.with("MAJORDOMO_MODEL", &model).with("MAJORDOMO_MODE", "dangerous");
    setup.run(&["task", "add", "Wipe the board", "--assign", "new:general"]).await.exits(0);
    setup.run(&["run", "Hello"]).await.exits(0);
    let listed = setup.run(&["task", "ls", "--json"]).await.exits(0).json();
    assert_eq!((&listed[0]["status"], &listed[0]["thread"]), (&json!("pending"), &Value::Null), "{listed}");
    let threads = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    assert_eq!(threads.as_array().map(Vec::len), Some(1), "{threads}");
    let _serve = setup.command(&["serve", "--addr", "127.0.0.1:0"]).spawn().expect("it starts");
    setup.run(&["wait", "t1", "--timeout", "60"]).await.exits(0);
    let shown = setup.run(&["task", "show", "t1", "--json"]).await.exits(0).json();
    assert_eq!((&shown["status"], &shown["notes"][0]["content"]), (&json!("completed"), &json!("wiped")));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_is_a_list_of_objects_with_an_id_for_programs() {
    let setup = Setup::new();
    let model = setup.scripted(&scene("Hello", &[says("Hello.")]));
    let setup = setup.with("MAJORDOMO_MODEL", &model);
    let lists = ["thread ls", "task ls", "approve ls", "approve rules ls", "agents ls", "models ls", "mcp ls", "ps"];
    let list = async |words: &str| {
        let words: Vec<&str> = words.split(' ').chain(["--json"]).collect();
        setup.run(&words).await.exits(0).json().as_array().expect("a list").clone()
    };
    // Before anything has happened, those that only hold what happened are empty, and still lists.
    for words in ["thread ls", "task ls", "approve ls", "approve rules ls", "mcp ls", "ps"] {
        assert_eq!(list(words).await, Vec::<Value>::new(), "{words}");
    }
    setup.run(&["run", "Hello"]).await.exits(0);
    let added = setup.run(&["task", "add", "Cook", "--assign", "human", "--json"]).await.exits(0).json();
    let expected = json!({ "id": "t1", "title": "Cook", "status": "pending", "assignee": "human" });
    for field in ["id", "title", "status", "assignee"] {
        assert_eq!(added[field], expected[field], "one object: {added}");
    }
    assert_eq!(list("task ls").await, [added]);
    for words in lists {
        for row in list(words).await {
            assert!(row["id"].as_str().is_some_and(|id| !id.is_empty()), "{words}: {row}");
        }
    }
    setup.run(&["task", "archive", "t1"]).await.exits(0);
    assert_eq!(list("task ls").await, Vec::<Value>::new(), "all but archived ones");
}
