//! What each mode lets an agent do when nobody is there to ask, as the file system sees it.

use crate::setup::{Ran, Setup};

const WRITES: &str = r#"
[[script]]
[[script.reply]]
calls = [{ name = "write_file", input = { path = "new.txt", content = "written" } }]
[[script.reply]]
text = "That is all."
"#;

const COMMANDS: &str = r#"
[[script]]
[[script.reply]]
calls = [{ name = "run_command", input = { command = "echo made > made.txt" } }]
[[script.reply]]
text = "That is all."
"#;

async fn run(setup: &Setup, script: &str, flags: &[&str]) -> Ran {
    let model = setup.scripted(script);
    let words: Vec<&str> = ["run", "-m", &model, "Go"].into_iter().chain(flags.iter().copied()).collect();
    setup.run(&words).await
}

#[tokio::test]
async fn a_completed_run_that_exits_with_5_gives_the_reason_in_json_and_to_who_waits_for_it() {
    let setup = Setup::new();
    let ran = run(&setup, WRITES, &["--json"]).await.exits(5).json();
    let says = |reason: &serde_json::Value| {
        reason.as_str().is_some_and(|reason| reason.starts_with("needed approval") && reason.contains("write_file"))
    };
    assert!(says(&ran["reason"]) && ran["outcome"] == "completed", "{ran}");
    let thread = ran["thread"].as_str().expect("a thread");
    let waited = setup.run(&["wait", thread, "--json"]).await.exits(5).json();
    assert!(says(&waited["reason"]) && waited["unanswered"] == ran["unanswered"], "{waited}");
    let waited = setup.run(&["wait", thread]).await.exits(5);
    assert!(waited.stderr.contains("needed approval") && waited.stdout == "That is all.\n", "{}", waited.stderr);
    let lines = run(&setup, WRITES, &["--jsonl"]).await.exits(5).stdout;
    let done = serde_json::from_str(lines.lines().last().expect("a line")).expect("JSON");
    let done: serde_json::Value = done;
    assert!(says(&done["reason"]), "{done}");
}

#[tokio::test]
async fn a_run_that_could_not_begin_says_why_in_json() {
    let setup = Setup::new();
    for (flags, code) in [(["-m", "openai/gpt-5"], 4), (["-m", "scripted//nowhere.toml"], 4), (["-a", "nobody"], 3)] {
        for form in ["--json", "--jsonl"] {
            let ran = setup.run(&["run", flags[0], flags[1], form, "Go"]).await;
            let told = ran.json();
            assert_eq!(
                (told["exit_code"].as_i64(), ran.code),
                (Some(code), Some(code as i32)),
                "{told} {}",
                ran.stderr
            );
            let reason = told["reason"].as_str().expect("a reason");
            assert!(!reason.is_empty() && ran.stderr.contains(reason), "{reason}: {}", ran.stderr);
            assert_eq!(told["type"] == "error", form == "--jsonl", "{told}");
        }
    }
}

// T12
#[tokio::test]
async fn a_write_that_would_ask_is_refused_with_the_answer_kept_and_the_rule_named() {
    for flags in [&[][..], &["--mode", "ask"], &["--mode", "ask", "--approvals", "deny"]] {
        let setup = Setup::new();
        let ran = run(&setup, WRITES, flags).await.exits(5);
        assert_eq!(ran.stdout, "That is all.\n");
        assert!(ran.stderr.contains("write_file: allowed by --mode auto"), "{}", ran.stderr);
        assert!(!setup.work("new.txt").exists());
    }
}

#[tokio::test]
async fn mode_auto_writes_files_and_refuses_commands_that_reach_beyond_the_workspace() {
    let setup = Setup::new();
    let ran = run(&setup, WRITES, &["--mode", "auto"]).await.exits(0);
    assert_eq!(ran.stdout, "That is all.\n");
    assert_eq!(std::fs::read_to_string(setup.work("new.txt")).expect("the file"), "written");
    let beyond = COMMANDS.replace("echo made", "sudo echo made");
    let ran = run(&setup, &beyond, &["--mode", "auto"]).await.exits(5);
    assert!(ran.stderr.contains("run_command: allowed by --mode dangerous"), "{}", ran.stderr);
    assert!(!setup.work("made.txt").exists());
}

#[tokio::test]
async fn mode_dangerous_runs_commands_in_the_workspace() {
    let setup = Setup::new();
    run(&setup, COMMANDS, &["--mode", "dangerous"]).await.exits(0);
    assert_eq!(std::fs::read_to_string(setup.work("made.txt")).expect("the file"), "made\n");
}

// OPTA-22, T10: nothing asks in plan mode, so no rule could have allowed it.
#[tokio::test]
async fn mode_plan_denies_whatever_is_not_reading() {
    for (script, path) in [(WRITES, "new.txt"), (COMMANDS, "made.txt")] {
        let setup = Setup::new();
        let ran = run(&setup, script, &["--mode", "plan", "--json"]).await.exits(0);
        assert_eq!(ran.json()["unanswered"].as_array().map(Vec::len), Some(0));
        assert!(!setup.work(path).exists());
    }
}

// T10, T11: the parent only reads, and asks for a child that may do anything.
#[tokio::test]
async fn a_child_never_does_more_than_its_parent_may() {
    let script = r#"
[[script]]
on = "Go"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Write it", mode = "dangerous" } }]
[[script.reply]]
text = "Asked."
[[script]]
on = "Write it"
[[script.reply]]
calls = [{ name = "write_file", input = { path = "new.txt", content = "written" } }]
[[script.reply]]
text = "Tried."
"#;
    for (mode, code) in [("plan", 0), ("ask", 5), ("auto", 0)] {
        let setup = Setup::new();
        run(&setup, script, &["--mode", mode]).await.exits(code);
        assert_eq!(setup.work("new.txt").exists(), mode == "auto", "{mode}");
    }
}

// T42, T41
#[tokio::test]
async fn no_mode_reads_or_writes_outside_the_workspace_with_file_tools() {
    let script = r#"
[[script]]
[[script.reply]]
calls = [
    { name = "read_file", input = { path = "../secret.txt" } },
    { name = "read_file", input = { path = "link" } },
    { name = "write_file", input = { path = "../new.txt", content = "x" } },
]
[[script.reply]]
text = "Tried."
"#;
    let setup = Setup::new();
    std::fs::write(setup.aside("secret.txt"), "OUTSIDE-CANARY").expect("a file");
    std::os::unix::fs::symlink(setup.aside("secret.txt"), setup.work("link")).expect("a link");
    let ran = run(&setup, script, &["--mode", "dangerous", "--jsonl"]).await.exits(0);
    assert!(!ran.stdout.contains("OUTSIDE-CANARY"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches(r#""is_error":true"#).count(), 3, "{}", ran.stdout);
    assert!(!setup.aside("new.txt").exists());
}

// T67: the path is refused as it is written, so that there is nothing a person could be asked about.
#[tokio::test]
async fn a_path_with_white_space_around_a_protected_place_writes_nothing_in_any_mode() {
    let paths = [" .git/config", ".envrc ", ".vscode/tasks.json\\t", ".git/hooks /x", ".e\\u200Bnvrc", "a/../.envrc"];
    let write = |path: &&str| format!("{{ name = \"write_file\", input = {{ path = \"{path}\", content = \"x\" }} }}");
    let calls: Vec<String> = paths.iter().map(write).collect();
    let script = format!(
        "[[script]]\n[[script.reply]]\ncalls = [{}]\n[[script.reply]]\ntext = \"That is all.\"\n",
        calls.join(", ")
    );
    for mode in ["plan", "ask", "auto", "dangerous"] {
        let setup = Setup::new();
        // No question is left over, so that the run ends well without a person to ask.
        run(&setup, &script, &["--mode", mode]).await.exits(0);
        let left: Vec<_> = std::fs::read_dir(setup.work(".")).expect("the workspace").collect();
        assert!(left.is_empty(), "{mode}: {left:?}");
    }
}
