//! Models that get nowhere, on every wire: few requests are made, the exit code says that the run failed, and stderr says why.

use std::sync::atomic::{AtomicU32, Ordering};

use agent::model::StopReason;
use provider::Wire;
use testkit::model_server::{Fault, ModelServer, Turn};

use crate::heard::WIRES;
use crate::setup::{Setup, of_type};

/// The output limit that a request asks for.
fn output_limit(server: &ModelServer, nth: usize) -> u64 {
    let body = &server.requests()[nth].body;
    let limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    limits.iter().find_map(|field| body[field].as_u64()).unwrap_or_else(|| panic!("no output limit in {body}"))
}

/// A server that makes another call of this tool each time, until it is told that tools are off.
async fn calling(tool: &'static str, arguments: fn(u32) -> String) -> ModelServer {
    let count = AtomicU32::new(0);
    ModelServer::start(move |request| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        match request.body["tool_choice"]["type"] == "none" || request.body["tool_choice"] == "none" {
            true => Turn::text("I got nowhere."),
            false => Turn::text("").call(&format!("call_{number}"), tool, &arguments(number)),
        }
    })
    .await
}

// T70: all tokens spent on reasoning.
#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_cut_off_before_they_say_anything_end_the_run() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("").stop(StopReason::MaxTokens)).await;
        let setup = Setup::at(wire, &server);
        let ran = setup.run(&["run", "Go"]).await.exits(1);
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        assert_eq!(server.requests().len(), 3, "{wire:?}: two tries and a last turn");
        assert!(ran.stderr.contains("cut off at the output limit"), "{wire:?}: {}", ran.stderr);
    }
}

// T70: half a tool call. What was said before it is not taken for the answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cut_off_is_asked_for_once_more_with_more_room() {
    // On the other wires a call comes whole or not at all.
    for wire in [Wire::Anthropic, Wire::OpenAi, Wire::Responses] {
        let server = ModelServer::start(|_| {
            let half = r#"{"path":"book.txt","content":"Once upon"#;
            Turn::text("I write the book.").call("call_1", "write_file", half).stop(StopReason::MaxTokens)
        })
        .await;
        let model = if wire == Wire::Anthropic { "anthropic/claude-sonnet-4-5" } else { "openai/gpt-5" };
        let ran = Setup::at(wire, &server).run(&["run", "-m", model, "--json", "Go"]).await.exits(1);
        assert_eq!(server.refusals(), [""; 0], "{wire:?}");
        assert_eq!(server.requests().len(), 3, "{wire:?}: two tries and a last turn");
        assert!(output_limit(&server, 1) > output_limit(&server, 0), "{wire:?}: the second may be longer");
        let said = server.requests()[1].body.to_string();
        let told =
            format!("cut off at the output limit of {} tokens in the middle of a call", output_limit(&server, 0));
        assert!(said.contains(&told), "{wire:?}: {said}");
        let (outcome, reason) = (&ran.json()["outcome"], ran.json()["reason"].to_string());
        assert_eq!(outcome, "error", "{wire:?}");
        assert!(reason.contains("write_file") && reason.contains("max_output_tokens"), "{wire:?}: {reason}");
    }
}

// T70
#[tokio::test(flavor = "multi_thread")]
async fn calls_that_fail_each_time_in_another_way_end_the_run() {
    let unknown: (&str, fn(u32) -> String, &str) = ("fly", |number| format!(r#"{{"to":"{number}"}}"#), "ask");
    let wrong: (&str, fn(u32) -> String, &str) = ("read_file", |number| format!(r#"{{"file":{number}}}"#), "ask");
    let refused: (&str, fn(u32) -> String, &str) =
        ("run_command", |number| format!(r#"{{"command":"touch file-{number}"}}"#), "plan");
    let verbs: (&str, fn(u32) -> String, &str) =
        ("spawn_agent", |number| format!(r#"{{"task":"t","agent":"nobody-{number}"}}"#), "ask");
    for (tool, arguments, mode) in [unknown, wrong, refused, verbs] {
        let server = calling(tool, arguments).await;
        let ran = Setup::at(Wire::Anthropic, &server).run(&["run", "--mode", mode, "Go"]).await.exits(1);
        assert_eq!(server.refusals(), [""; 0], "{tool}");
        assert_eq!(server.requests().len(), 13, "{tool}: twelve answers and a last turn");
        assert_eq!(ran.stdout, "I got nowhere.\n", "{tool}");
        assert!(ran.stderr.contains("every tool call failed or was refused (policy.loop_failed_at)"), "{}", ran.stderr);

        let server = calling(tool, arguments).await;
        let words = ["run", "--mode", mode, "--set", "policy.loop_failed_at=3", "Go"];
        Setup::at(Wire::Anthropic, &server).run(&words).await.exits(1);
        assert_eq!(server.requests().len(), 4, "{tool}: three answers and a last turn");
    }
}

// T70: a command that ran and failed tells something new each time, so it is the grant that ends this run.
#[tokio::test(flavor = "multi_thread")]
async fn commands_that_ran_and_failed_are_no_sign_of_a_loop() {
    let server = calling("run_command", |number| format!(r#"{{"command":"exit {}"}}"#, number % 100 + 1)).await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let words = ["run", "--mode", "dangerous", "--max-requests", "20", "--set", "policy.loop_failed_at=3", "Go"];
    setup.run(&words).await.exits(6);
    assert_eq!(server.requests().len(), 20);
}

// T70
#[tokio::test(flavor = "multi_thread")]
async fn a_run_makes_no_more_requests_than_it_is_granted_and_is_warned_before() {
    let server = calling("list_dir", |number| format!(r#"{{"path":".","depth":{}}}"#, number % 5 + 1)).await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let ran = setup.run(&["run", "--max-requests", "6", "--jsonl", "Go"]).await.exits(6);
    assert_eq!(server.requests().len(), 6);
    let frames = ran.frames();
    let warnings = of_type(&frames, "budget_warning");
    assert_eq!(warnings.iter().map(|warning| &warning["limit"]).collect::<Vec<_>>(), ["requests"]);
    let done = frames.last().expect("a last frame");
    assert_eq!((&done["outcome"], &done["usage"]["tree"]["requests"]), (&"budget_exceeded".into(), &6.into()));
    assert!(
        done["reason"].as_str().is_some_and(|reason| reason.contains("6 requests (--max-requests, grant.requests)"))
    );

    let ran = setup.run(&["run", "--set", "grant.requests=6", "Go"]).await.exits(6);
    assert_eq!(server.requests().len(), 12);
    assert!(ran.stderr.contains("budget requests 83%"), "{}", ran.stderr);
    assert!(ran.stderr.contains("grant.requests"), "{}", ran.stderr);
}

// T70: a request that is tried again is a request.
#[tokio::test(flavor = "multi_thread")]
async fn requests_that_fail_count_too() {
    let server =
        ModelServer::start(|_| Turn::status(529, vec![("retry-after-ms", "1".to_owned())], "Overloaded")).await;
    let ran = Setup::at(Wire::Anthropic, &server).run(&["run", "--max-requests", "2", "Go"]).await.exits(6);
    assert_eq!(server.requests().len(), 2);
    assert!(ran.stderr.contains("does not reach for another try"), "{}", ran.stderr);
}

// T70: the requests of sub-agents are those of the run.
#[tokio::test(flavor = "multi_thread")]
async fn a_tree_makes_no_more_requests_than_its_root_is_granted() {
    let count = AtomicU32::new(0);
    let server = ModelServer::start(move |request| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let task = format!(r#"{{"task":"Leaf {number}","background":{}}}"#, number.is_multiple_of(2));
        match request.body["tool_choice"]["type"] == "none" {
            true => Turn::text("That is all."),
            false => Turn::text("").call(&format!("call_{number}"), "spawn_agent", &task),
        }
    })
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let words = ["run", "--max-requests", "40", "--max-children", "100", "--json", "Go"];
    let told = setup.run(&words).await.json();
    let made = server.requests().len() as u64;
    assert!((10..=40).contains(&made), "{made} requests");
    assert_eq!(told["usage"]["tree"]["requests"], made, "what a run reports is what it made");
}

// T70: what is resumed goes on with the grant that it had.
#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_run_keeps_its_grant_of_requests() {
    let count = AtomicU32::new(0);
    let server = ModelServer::start(move |request| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        match (number, request.body["tool_choice"]["type"] == "none") {
            (0, _) => Turn::text("").fault(Fault::Silence),
            (_, true) => Turn::text("That is all."),
            (_, false) => {
                Turn::text("").call(&format!("call_{number}"), "find_files", &format!(r#"{{"pattern":"{number}"}}"#))
            }
        }
    })
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let mut child = setup.command(&["run", "--max-requests", "5", "Go"]).spawn().expect("the binary starts");
    server.until_open(1).await;
    child.kill().await.expect("it can be killed");
    let rows = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
    let id = rows[0]["id"].as_str().expect("a thread");
    let told = setup.run(&["thread", "resume", id, "--json"]).await.exits(6).json();
    assert_eq!(server.requests().len(), 5, "the one that was lost is one of them");
    assert_eq!(told["usage"]["tree"]["requests"], 5);
}

// T70: what nobody asked for is there all the same, and shown with where it comes from.
#[tokio::test]
async fn the_limits_of_every_run_are_shown() {
    let setup = Setup::new();
    let shown = setup.run(&["config", "show", "--json"]).await.exits(0).json();
    let value = |key: &str| {
        let entry = shown.as_array().expect("a list").iter().find(|entry| entry["key"] == key);
        entry.unwrap_or_else(|| panic!("{key} in {shown}"))["value"].clone()
    };
    assert_eq!(value("grant.requests"), 20_000);
    assert_eq!(value("grant.tokens"), 100_000_000);
    assert_eq!(value("policy.loop_failed_at"), 12);
}
