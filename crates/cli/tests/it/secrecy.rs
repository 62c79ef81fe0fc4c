//! Keys: given to the provider they belong to, and found nowhere else.

use provider::Wire;
use testkit::model_server::{KEY, ModelServer, Turn};

use crate::heard::WIRES;
use crate::setup::{Ran, Setup};

fn assert_absent(key: &str, setup: &Setup, ran: &Ran) {
    assert!(!ran.stdout.contains(key), "on stdout");
    assert!(!ran.stderr.contains(key), "on stderr");
    let kept = setup.kept();
    assert!(kept.len() > 1000, "a run leaves its log");
    assert!(!kept.windows(key.len()).any(|bytes| bytes == key.as_bytes()), "on the disk");
}

// T61
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_works_is_seen_by_its_provider_alone() {
    for wire in WIRES {
        for form in ["--json", "--jsonl"] {
            let server = ModelServer::start(|_| Turn::text("Hello.")).await;
            let setup = Setup::at(wire, &server).with("RUST_LOG", "trace");
            let ran = setup.run(&["run", form, "Go"]).await.exits(0);
            assert!(ran.stderr.contains("TRACE"), "the log is as talkative as it can be");
            assert_absent(KEY, &setup, &ran);
        }
    }
}

// T61: the server repeats the key that it does not take, as providers do.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_provider_repeats_in_its_error_is_not_shown() {
    let key = "sk-canary-0123456789abcdef";
    // Ollama asks for no key.
    for wire in WIRES.into_iter().filter(|wire| *wire != Wire::Ollama) {
        let server = ModelServer::start(|_| Turn::text("never said")).await;
        let setup = Setup::knowing(wire, &server.url(wire), key).with("RUST_LOG", "trace");
        let ran = setup.run(&["run", "--jsonl", "Go"]).await.exits(4);
        assert!(server.refusals()[0].contains(key));
        assert_absent(key, &setup, &ran);
    }
}

// T37, T61
#[tokio::test(flavor = "multi_thread")]
async fn a_command_does_not_inherit_the_key() {
    let server = ModelServer::start(|request| match request.assistant_messages {
        0 => Turn::default().call("toolu_1", "run_command", r#"{"command": "env; echo over"}"#),
        _ => Turn::text("Done."),
    })
    .await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let ran = setup.run(&["run", "--mode", "dangerous", "--jsonl", "Go"]).await.exits(0);
    assert!(ran.stdout.contains("over\\n[exit code 0"), "{}", ran.stdout);
    assert_absent(KEY, &setup, &ran);
    let shown = server.requests().pop().expect("a request");
    assert!(!String::from_utf8_lossy(&shown.raw).contains(KEY));
}

// T61
#[tokio::test]
async fn the_configuration_that_is_shown_names_the_variable_and_not_its_value() {
    let setup = Setup::new().with("ANTHROPIC_API_KEY", KEY);
    for form in [&["config", "show"][..], &["config", "show", "--json"]] {
        let ran = setup.run(form).await.exits(0);
        assert!(ran.stdout.contains("ANTHROPIC_API_KEY"));
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    }
}
