//! Calls that fail, each in its own way.

use std::sync::Arc;

use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{Fault, KEY, ModelServer, Turn};
use provider::{Pace, ProviderConfig, Secret, Timeouts, Wire};
use tokio::sync::watch;

use super::stage::{SHORT, WIRES, ask, config, conversation, heading, open, providers, with};

async fn failure(wire: Wire, turn: Turn, timeouts: Timeouts) -> agent::model::CallError {
    let server = ModelServer::start(move |_| turn.clone()).await;
    let config = ProviderConfig { timeouts, ..config(wire, server.url(wire)) };
    conversation(config).ask(ask()).await.expect_err("it fails")
}

#[tokio::test]
async fn a_status_has_its_kind_and_its_wish() {
    // F14
    for wire in WIRES {
        for (status, kind) in [
            (429, Kind::RateLimited),
            (529, Kind::Overloaded),
            (503, Kind::Overloaded),
            (500, Kind::Server),
            (401, Kind::Auth),
            (403, Kind::Auth),
            (404, Kind::Rejected),
            (301, Kind::Rejected),
        ] {
            let headers = vec![("retry-after", "3".to_owned()), ("location", "http://127.0.0.1:1/".to_owned())];
            let error = failure(wire, Turn::status(status, headers, "so it is"), Timeouts::default()).await;
            assert_eq!((error.kind, error.retry_after_ms), (kind, Some(3_000)), "{wire:?} {status}: {error}");
        }
        let long = Turn::status(400, vec![], "prompt is too long: 210000 tokens > 200000 maximum");
        assert_eq!(failure(wire, long, Timeouts::default()).await.kind, Kind::ContextTooLong);
    }
}

#[tokio::test]
async fn a_rate_limit_slows_the_model_down_for_everyone() {
    // promise 8
    let server = ModelServer::start(|request| match request.attempt {
        1 => Turn::status(429, vec![("retry-after-ms", "40".to_owned())], "slowly"),
        _ => Turn::text("good"),
    })
    .await;
    let providers = providers(config(Wire::Anthropic, server.url(Wire::Anthropic)));
    let error = open(&providers, "a").ask(ask()).await.expect_err("limited");
    assert_eq!(error.kind, Kind::RateLimited);
    let (_, state) = providers.governors()[0];
    assert_eq!(state.limit, Pace::default().start / 2);
    let before = std::time::Instant::now();
    let pause = state.pause;
    open(&providers, "a").ask(ask()).await.expect("the second attempt");
    assert!(before.elapsed() >= pause, "another conversation waits as well");
}

#[tokio::test]
async fn a_cut_stream_is_told_with_the_words_that_came() {
    // F15
    for wire in WIRES {
        for fault in [Fault::Unfinished, Fault::CutAfter(700), Fault::ResetAfter(700), Fault::StallAfter(700)] {
            let turn = Turn::text("some words and then some more words and then none at all").fault(fault.clone());
            // Only where nothing more comes is silence waited for.
            let idle = if matches!(fault, Fault::StallAfter(_)) { SHORT * 5 } else { Timeouts::default().idle };
            let error = failure(wire, turn, Timeouts { idle, ..Timeouts::default() }).await;
            assert_eq!(error.kind, Kind::Truncated, "{wire:?} {fault:?}: {error}");
            let partial = error.partial.expect("words had come");
            assert!(partial.starts_with("some "), "{wire:?} {fault:?}: {partial}");
        }
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for_for_ever() {
    // F15
    for wire in WIRES {
        let (no_headers, no_bytes) =
            (Timeouts { first_byte: SHORT, ..Timeouts::default() }, Timeouts { idle: SHORT, ..Timeouts::default() });
        for (fault, timeouts) in [
            (Fault::Silence, no_headers),
            (Fault::StallAfter(0), no_bytes),
            (Fault::ResetAfter(0), Timeouts::default()),
        ] {
            let error = failure(wire, Turn::text("never heard").fault(fault.clone()), timeouts).await;
            assert_eq!((error.kind, error.partial), (Kind::Connection, None), "{wire:?} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_model_on_this_machine_may_take_ten_minutes_to_begin_unless_less_is_set() {
    for wire in WIRES {
        let free = Arc::new(watch::Sender::new(false));
        let held = free.clone();
        let server = ModelServer::start(move |_| Turn::text("at last").held(&held)).await;
        let usual = Timeouts::usual(&server.url(wire));
        assert_eq!((usual.first_byte.as_secs(), usual.idle.as_secs()), (600, 600), "{wire:?}");
        let patient = ProviderConfig { timeouts: usual, ..config(wire, server.url(wire)) };
        let patient = tokio::spawn(async move { conversation(patient).ask(ask()).await });
        server.until_open(1).await;
        let timeouts = Timeouts { first_byte: SHORT, ..usual };
        let hasty = ProviderConfig { timeouts, ..config(wire, server.url(wire)) };
        let error = conversation(hasty).ask(ask()).await.expect_err("no byte came in time");
        assert_eq!((error.kind, error.partial), (Kind::Connection, None), "{wire:?}: {}", error.message);
        assert!(!patient.is_finished(), "{wire:?}: the other one waits on");
        free.send_replace(true);
        let answer = patient.await.expect("it is asked").expect("an answer");
        assert_eq!((heading(&answer).0.as_str(), server.refusals()), ("at last", vec![]), "{wire:?}");
    }
}

#[tokio::test]
async fn where_nothing_listens_the_error_asks_whether_the_server_runs() {
    // F15
    let (_held, nowhere) = ModelServer::nowhere();
    let error = conversation(config(Wire::OpenAi, nowhere.clone())).ask(ask()).await.expect_err("nobody there");
    assert_eq!(error.kind, Kind::Connection);
    assert!(error.message.contains(&nowhere) && error.message.contains("is the server running"), "{error}");
}

#[tokio::test]
async fn a_refused_key_names_the_variable_and_is_never_shown() {
    // T61
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("never")).await;
        let wrong = Secret::new("sk-canary-0123456789");
        let config = ProviderConfig { key: Some(wrong), ..config(wire, server.url(wire)) };
        let error = conversation(config).ask(ask()).await.expect_err("refused");
        assert_eq!(error.kind, Kind::Auth);
        assert!(server.refusals()[0].contains("canary"), "the server echoes what it was given");
        assert!(error.message.contains("set TEST_API_KEY"), "{error}");
        assert!(!error.message.contains("canary"), "{error}");
    }
}

#[tokio::test]
async fn an_echoed_key_is_scrubbed_from_every_failure() {
    // T61
    for wire in WIRES {
        let echo = format!("your key is {KEY}");
        let json = vec![("content-type", "application/json".to_owned())];
        let body = format!(r#"{{"error":{{"message":"{echo}"}}}}"#).into_bytes();
        for turn in [
            Turn::status(500, vec![], &echo),
            Turn::status(400, vec![], &echo),
            Turn::default().fault(Fault::Other { headers: json, body }),
        ] {
            let error = failure(wire, turn, Timeouts::default()).await;
            assert!(error.message.contains("[key]") && !error.message.contains(KEY), "{error}");
        }
    }
}

#[tokio::test]
async fn a_call_may_be_made_again_after_a_failure() {
    for wire in WIRES {
        let server = ModelServer::start(|request| match request.attempt {
            1 => Turn::text("half an").fault(Fault::Unfinished),
            2 => Turn::status(500, vec![], "no"),
            _ => Turn::text("a whole answer"),
        })
        .await;
        let conversation = with(&server, wire);
        let kinds =
            [conversation.ask(ask()).await, conversation.ask(ask()).await].map(|outcome| outcome.map_err(|e| e.kind));
        assert_eq!(kinds, [Err(Kind::Truncated), Err(Kind::Server)]);
        assert_eq!(heading(&conversation.ask(ask()).await.expect("the third")).0, "a whole answer");
        let bodies: Vec<_> = server.requests().into_iter().map(|request| request.raw).collect();
        assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "the same bytes every time");
    }
}
