//! `majordomo doctor -m MODEL`: whether a model answers, and if not, what is wrong and what to do.

use provider::Wire;
use testkit::model_server::{KEY, ModelServer, Turn};

use crate::setup::Setup;

const MODELS: [(Wire, &str, &str); 2] =
    [(Wire::Anthropic, "anthropic/claude-sonnet-4-5", "ANTHROPIC"), (Wire::OpenAi, "openai/gpt-5", "OPENAI")];

/// The line about the connection.
fn connection(stdout: &str) -> &str {
    stdout.lines().find(|line| line.contains(" connection ")).unwrap_or_else(|| panic!("no such line: {stdout}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_answers_is_asked_once_and_briefly() {
    for (wire, model, _) in MODELS {
        let server = ModelServer::start(|_| Turn::text("ok")).await;
        let setup = Setup::at(wire, &server);
        let ran = setup.run(&["doctor", "-m", model]).await.exits(0);
        let line = connection(&ran.stdout);
        assert!(line.starts_with("ok ") && line.contains(&format!("{model} answered in ")), "{line}");
        assert_eq!(server.requests().len(), 1);
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
        // Without a model that is named, nothing is sent.
        let ran = setup.run(&["doctor"]).await.exits(0);
        assert!(!ran.stdout.contains(" connection "), "{}", ran.stdout);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_connection_is_said_with_what_to_do_and_exits_4() {
    for (wire, model, prefix) in MODELS {
        let server = ModelServer::start(|_| Turn::text("ok")).await;
        let url = server.url(wire);
        let unknown = ModelServer::start(|_| Turn::status(404, Vec::new(), "no such model")).await;
        let nowhere = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            format!("http://{}", listener.local_addr().expect("an address"))
        };
        let cases = [
            (Setup::new().with(&format!("{prefix}_BASE_URL"), &url), format!("set {prefix}_API_KEY")),
            (Setup::knowing(wire, &url, "wrong"), format!("the key was refused: set {prefix}_API_KEY to a valid one")),
            (Setup::at(wire, &unknown), "is the model name".to_owned()),
            (Setup::knowing(wire, &nowhere, KEY), "is the server running, and is the address right".to_owned()),
            (Setup::knowing(wire, &url.replace("http://", "https://"), KEY), "does the server speak https".to_owned()),
            (Setup::knowing(wire, "http://no-such-host.invalid", KEY), "is the address right".to_owned()),
        ];
        for (setup, told) in cases {
            let ran = setup.run(&["doctor", "-m", model]).await.exits(4);
            let line = connection(&ran.stdout);
            assert!(line.starts_with("broken ") && line.contains(&told), "{told}: {line}");
            let ran = setup.run(&["doctor", "-m", model, "--json"]).await.exits(4);
            let findings: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
            assert_eq!(findings["is_well"], false);
        }
    }
}

#[tokio::test]
async fn a_model_in_this_process_or_in_a_file_is_tried_without_a_network() {
    let setup = Setup::new();
    let ran = setup.run(&["doctor", "-m", "builtin/rules"]).await.exits(0);
    assert!(connection(&ran.stdout).contains("none is needed"), "{}", ran.stdout);
    let ran = setup.run(&["doctor", "-m", "scripted/missing.toml"]).await.exits(4);
    assert!(connection(&ran.stdout).contains("missing.toml"), "{}", ran.stdout);
    let ran = setup.run(&["doctor", "-m", "nowhere/model"]).await.exits(4);
    assert!(connection(&ran.stdout).contains("there is no provider `nowhere`"), "{}", ran.stdout);
}
