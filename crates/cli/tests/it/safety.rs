//! Every safety feature acts in the real program, and its setting changes when (INV-12).
//!
//! Here are those that end or report a run by themselves. Stopping and its process trees are in `life`, approvals in `approvals`, the
//! sandbox in `storm`, rate limits in `failing`.

use provider::Wire;
use testkit::model_server::{Fault, ModelServer, Request, Turn};

use crate::setup::{Setup, of_type};

/// The same call again and again, until tools are off.
async fn repeating() -> ModelServer {
    ModelServer::start(|request: &Request| match request.body["tool_choice"]["type"] == "none" {
        true => Turn::text("I go round in circles."),
        false => Turn::default().call(&format!("toolu_{}", request.assistant_messages), "list_dir", "{}"),
    })
    .await
}

// INV-12, F5
#[tokio::test(flavor = "multi_thread")]
async fn the_breaker_ends_identical_calls_when_it_is_told_to() {
    for (flags, requests) in [(&[][..], 9), (&["--set", "policy.loop_refuse_at=2", "--set", "policy.loop_end_at=3"], 4)]
    {
        let server = repeating().await;
        let words: Vec<&str> = ["run", "--json", "Go"].iter().chain(flags).copied().collect();
        let ran = Setup::at(Wire::Anthropic, &server).run(&words).await.exits(1);
        assert_eq!(server.requests().len(), requests, "{flags:?}: the answers and a last turn");
        assert_eq!(ran.json()["cause"], "loop", "{}", ran.stdout);
    }
}

// INV-12, F24: the deadline closes the request that it ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_ends_a_silent_request_and_without_one_it_is_waited_for() {
    let server = ModelServer::start(|_| Turn::text("").fault(Fault::Silence)).await;
    let setup = Setup::at(Wire::Anthropic, &server);
    setup.run(&["run", "--timeout", "1", "Go"]).await.exits(7);
    server.until_closed_early(1).await;
    let mut waiting = setup.command(&["run", "Go"]).spawn().expect("it starts");
    server.until_open(1).await;
    assert!(waiting.try_wait().expect("it can be looked at").is_none());
    waiting.kill().await.expect("it ends");
}

// INV-12: silence is noticed once per silence, or never where that is set.
#[tokio::test(flavor = "multi_thread")]
async fn a_stall_is_told_where_it_is_to_be_told() {
    for (stall_ms, told) in [("40", true), ("0", false)] {
        let setup = Setup::new();
        let model = setup.scripted("[[script]]\n[[script.reply]]\ndelay_ms = 600\ntext = \"At last.\"");
        let stall = format!("policy.stall_ms={stall_ms}");
        let frames = setup.run(&["run", "-m", &model, "--jsonl", "--set", &stall, "Go"]).await.exits(0).frames();
        assert_eq!(of_type(&frames, "stalled").len(), usize::from(told), "{stall_ms}");
    }
}

// INV-12: each limit of a grant ends a run with the code that says so. Tokens and money are in `spending`.
#[tokio::test(flavor = "multi_thread")]
async fn each_limit_ends_a_run_that_would_otherwise_go_on() {
    let looking = || async {
        ModelServer::start(|request: &Request| {
            match (request.assistant_messages, request.body["tool_choice"]["type"] == "none") {
                (6.., _) | (_, true) => Turn::text("That is all."),
                (number, _) => {
                    let path = serde_json::json!({"pattern": format!("*.{number}")}).to_string();
                    Turn::default().call(&format!("toolu_{number}"), "find_files", &path)
                }
            }
        })
        .await
    };
    let server = looking().await;
    Setup::at(Wire::Anthropic, &server).run(&["run", "Go"]).await.exits(0);
    assert_eq!(server.requests().len(), 7);
    for (flags, fewer) in [(["--max-tool-calls", "2"], 4), (["--max-requests", "3"], 3)] {
        let server = looking().await;
        let words: Vec<&str> = ["run", "Go"].iter().chain(&flags).copied().collect();
        Setup::at(Wire::Anthropic, &server).run(&words).await.exits(6);
        assert!(server.requests().len() <= fewer, "{flags:?}: {} requests", server.requests().len());
    }
}
