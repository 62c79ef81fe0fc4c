//! Providers that fail, on both wires: what is tried again, what is given up, and what a shell is told.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent::model::StopReason;
use provider::Wire;
use testkit::model_server::{Fault, ModelServer, Turn};

use crate::heard::WIRES;
use crate::setup::{Setup, of_type, server};

/// A server that does this at the first attempt and answers at the second.
async fn first(turn: Turn) -> ModelServer {
    ModelServer::start(move |request| if request.attempt == 1 { turn.clone() } else { Turn::text("All is well.") })
        .await
}

// F14
#[tokio::test(flavor = "multi_thread")]
async fn a_wish_to_wait_is_honoured() {
    for wire in WIRES {
        let arrivals = Arc::new(Mutex::new(Vec::new()));
        let server = {
            let arrivals = arrivals.clone();
            ModelServer::start(move |request| {
                arrivals.lock().expect("no other panics").push(Instant::now());
                match request.attempt {
                    1 => Turn::status(429, vec![("retry-after", "1".to_owned())], "slow down"),
                    _ => Turn::text("All is well."),
                }
            })
            .await
        };
        let ran = Setup::at(wire, &server).run(&["run", "--jsonl", "Go"]).await.exits(0);
        let arrivals = arrivals.lock().expect("no other panics");
        assert_eq!(arrivals.len(), 2);
        // Left to itself it would have come back after half of that.
        assert!(arrivals[1] - arrivals[0] >= Duration::from_secs(1), "{wire:?}");
        let frames = ran.frames();
        let retries = of_type(&frames, "retry");
        assert_eq!(retries.len(), 1);
        assert_eq!((&retries[0]["kind"], &retries[0]["attempt"]), (&"rate_limited".into(), &1.into()));
        assert!(retries[0]["in_ms"].as_u64().is_some_and(|wait_ms| wait_ms >= 1000), "{}", retries[0]);
    }
}

// F14
#[tokio::test(flavor = "multi_thread")]
async fn an_overloaded_provider_is_asked_again() {
    for wire in WIRES {
        let server = first(Turn::status(529, Vec::new(), "Overloaded")).await;
        let ran = Setup::at(wire, &server).run(&["run", "Go"]).await.exits(0);
        assert_eq!(ran.stdout, "All is well.\n");
        assert_eq!(server.requests().len(), 2);
    }
}

// F15, F16
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_is_booked_and_asked_for_again() {
    for wire in WIRES {
        let cut = Turn::text("This sentence goes on and on until").call("toolu_1", "list_dir", r#"{"path": "."}"#);
        for fault in [Fault::Unfinished, Fault::ResetAfter(700)] {
            let server = first(cut.clone().fault(fault.clone())).await;
            let ran = Setup::at(wire, &server).run(&["run", "--jsonl", "Go"]).await.exits(0);
            let frames = ran.frames();
            assert_eq!(of_type(&frames, "retry")[0]["kind"], "truncated", "{wire:?}, {fault:?}");
            assert!(of_type(&frames, "tool_start").is_empty(), "a call that did not arrive whole was run");
            let done = frames.last().expect("a last frame");
            assert_eq!(done["answer"], "All is well.");
            // The server counts 15 tokens for an answer; what the lost one may have cost is booked besides.
            let counted = done["usage"]["tree"]["counted_tokens"].as_u64().expect("a number");
            assert!(counted > 1000, "{counted} tokens");
        }
    }
}

// F18
#[tokio::test(flavor = "multi_thread")]
async fn a_success_that_is_no_answer_ends_the_run_with_the_address() {
    for wire in WIRES {
        let headers = vec![("content-type", "text/html".to_owned())];
        let page = Turn::default().fault(Fault::Other { headers, body: b"<html>Welcome</html>".to_vec() });
        let server = ModelServer::start(move |_| page.clone()).await;
        let ran = Setup::at(wire, &server).run(&["run", "Go"]).await.exits(4);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains(&server.url(wire)), "{}", ran.stderr);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_not_taken_is_named_by_its_variable_and_not_tried_again() {
    // Ollama asks for no key.
    for (wire, variable) in [
        (Wire::Anthropic, "ANTHROPIC_API_KEY"),
        (Wire::OpenAi, "OPENAI_API_KEY"),
        (Wire::Responses, "OPENAI_API_KEY"),
        (Wire::Gemini, "GOOGLE_API_KEY"),
    ] {
        let server = ModelServer::start(|_| Turn::text("never said")).await;
        let setup = Setup::knowing(wire, &server.url(wire), "sk-of-another-user");
        let ran = setup.run(&["run", "--json", "Go"]).await.exits(4);
        assert!(ran.stderr.contains(variable), "{}", ran.stderr);
        assert_eq!(server.requests().len(), 1);
        let told = ran.json();
        assert_eq!(
            (&told["exit_code"], &told["outcome"], &told["cause"]),
            (&4.into(), &"error".into(), &"provider".into())
        );
    }
}

// F15. The waits between the attempts are the real ones: half a second, doubled each time.
#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_not_there_is_given_up_after_the_configured_tries_and_time() {
    let (_held, nowhere) = ModelServer::nowhere();
    for (retries, retry_s, waits) in [("4", "0", 4), ("0", "2", 3), ("0", "0", 0)] {
        let setup = Setup::knowing(Wire::Anthropic, &nowhere, "sk-any")
            .with("MAJORDOMO_PROVIDERS_ANTHROPIC_RETRIES", retries)
            .with("MAJORDOMO_PROVIDERS_ANTHROPIC_RETRY_S", retry_s);
        let ran = setup.run(&["run", "--jsonl", "Go"]).await.exits(4);
        let frames = ran.frames();
        // The clock may be late, and then one wait fewer fits into the time.
        let made = of_type(&frames, "retry").len();
        assert!(made == waits || (retry_s == "2" && (2..=3).contains(&made)), "{retries} {retry_s}: {made}");
        let done = frames.last().expect("a last frame");
        assert_eq!((&done["type"], &done["exit_code"]), (&"done".into(), &4.into()));
        let reason = done["reason"].as_str().expect("a reason");
        assert!(reason.contains(&nowhere) && reason.contains("providers.anthropic.retry_s"), "{reason}");
    }
}

// F14: what cannot be waited for is not lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_a_long_wish_ended_goes_on_when_it_is_resumed() {
    for wire in WIRES {
        let server = first(Turn::status(429, vec![("retry-after", "3600".to_owned())], "come back later")).await;
        let setup = Setup::at(wire, &server);
        let ran = setup.run(&["run", "--json", "Go"]).await.exits(4);
        assert!(ran.stderr.contains("continue later with: majordomo thread resume"), "{}", ran.stderr);
        let told = ran.json();
        let reason = told["reason"].as_str().expect("a reason");
        assert!(reason.contains("asks to wait 3600 s") && reason.contains("max_retry_after_s"), "{reason}");
        let thread = told["thread"].as_str().expect("a thread");
        let ran = setup.run(&["thread", "resume", thread]).await.exits(0);
        assert_eq!(ran.stdout, "All is well.\n", "{}", ran.stderr);
        let ran = setup.run(&["thread", "resume", thread]).await.exits(0);
        assert!(ran.stderr.contains("already finished"), "{}", ran.stderr);
    }
}

// F18: bytes may break on their way.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_a_corrupt_chunk_is_asked_for_again() {
    for wire in WIRES {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        let server = first(Turn::default().fault(Fault::Other { headers, body: b"data: {\"oh\n\n".to_vec() })).await;
        let ran = Setup::at(wire, &server).run(&["run", "Go"]).await.exits(0);
        assert_eq!((ran.stdout.as_str(), server.requests().len()), ("All is well.\n", 2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_without_tools_is_asked_without_them_and_that_is_said_once() {
    let server = ModelServer::start(|request| match request.body.get("tools") {
        Some(_) => Turn::status(400, vec![], "gpt-5 does not support tools"),
        None => Turn::text("All is well."),
    })
    .await;
    let ran = Setup::at(Wire::OpenAi, &server).run(&["run", "Go"]).await.exits(0);
    assert_eq!(ran.stdout, "All is well.\n");
    assert_eq!(ran.stderr.matches("takes no tools").count(), 1, "{}", ran.stderr);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_of_the_provider_is_gone_on_with() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        0 => Turn::text("So far so").stop(StopReason::Paused),
        _ => Turn::text(" good."),
    })
    .await;
    let ran = Setup::at(Wire::Anthropic, &server).run(&["run", "Go"]).await.exits(0);
    assert_eq!((ran.stdout.as_str(), server.refusals()), ("So far so good.\n", vec![]));
}

// F15, INV-2
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_falls_silent_ends_at_the_time_limit_and_its_request_really_ends() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("One, two,").fault(Fault::StallAfter(400))).await;
        let ran = Setup::at(wire, &server).run(&["run", "--timeout", "1", "--json", "Go"]).await.exits(7);
        server.until_closed_early(1).await;
        let told = ran.json();
        assert_eq!((&told["outcome"], &told["exit_code"]), (&"timeout".into(), &7.into()));
        assert!(ran.stderr.contains("timeout: "), "{}", ran.stderr);
    }
}

// OPTA-26, OPTA-44: a child's failure is its parent's tool result.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_whose_provider_refuses_it_is_an_error_to_its_parent_and_nothing_more() {
    let script = r#"
[[script]]
on = "Root"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Leaf" } }]
[[script.reply]]
text = "It did not work."
[[script]]
on = "Leaf"
[[script.reply]]
error = "rejected"
"#;
    for wire in WIRES {
        let server = server(script).await;
        let ran = Setup::at(wire, &server).run(&["run", "--jsonl", "Root"]).await.exits(0);
        let frames = ran.frames();
        let ends = of_type(&frames, "sub_agent_error");
        assert_eq!(ends.len(), 1);
        assert_eq!(ends[0]["data"]["outcome"], "error");
        let results = of_type(&frames, "tool_result");
        let output = results[0]["output"].as_str().expect("a text");
        assert!(output.starts_with("[ERROR] ") && output.contains("the request is not valid"), "{output}");
        assert_eq!(frames.last().expect("a last frame")["answer"], "It did not work.");
    }
}
