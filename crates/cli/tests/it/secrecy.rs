//! Keys: given to the provider they belong to, and found nowhere else.

use provider::Wire;
use testkit::model_server::{KEY, ModelServer, Turn};

use crate::heard::WIRES;
use crate::setup::{Ran, Setup, finish, of_type};

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

/// Where secrets are that no tool may reach when the home folder is the workspace, with `--data` where it is given.
const SECRET_FILES: [&str; 11] = [
    ".ssh/id_rsa",
    ".aws/credentials",
    ".netrc",
    ".local/share/majordomo/server.token",
    ".gemini/oauth_creds.json",
    ".claude.json",
    ".codex/auth.json",
    ".vault-token",
    ".mysql_history",
    ".config/github-copilot/apps.json",
    "state/server.token",
];

// T43, T19: the home folder is the workspace, or our own state lies in it. What the sandbox hides from commands, no file tool reaches, in any mode.
#[tokio::test(flavor = "multi_thread")]
async fn no_file_tool_reaches_a_secret_place_or_our_own_state_in_any_mode() {
    const RULE: &str = "[[rules]]\ntool = \"*\"\naction = \"allow\"\n";
    let call = |name: &str, input: serde_json::Value| {
        let fields = input.as_object().expect("an object").iter().map(|(key, value)| format!("{key} = {value}"));
        (name.to_owned(), format!("{{ {} }}", fields.collect::<Vec<_>>().join(", ")))
    };
    let mut wanted = Vec::new();
    for file in SECRET_FILES {
        wanted.push(call("read_file", serde_json::json!({ "path": file })));
        wanted.push(call("search_files", serde_json::json!({ "path": file, "pattern": "CANARY" })));
        wanted.push(call("edit_file", serde_json::json!({ "path": file, "old_text": "CANARY", "new_text": "x" })));
    }
    for folder in [".ssh", ".local/share/majordomo", "state"] {
        wanted.push(call("list_dir", serde_json::json!({ "path": folder })));
        wanted.push(call("find_files", serde_json::json!({ "path": folder, "pattern": "*" })));
    }
    for file in ["state/rules.toml", ".local/share/majordomo/rules.toml", ".SSH/authorized_keys", "notes/rules.toml"] {
        wanted.push(call("write_file", serde_json::json!({ "path": file, "content": RULE })));
    }
    wanted.push(call("read_file", serde_json::json!({ "path": "innocent" })));
    let refused = wanted.len();
    wanted.push(call("search_files", serde_json::json!({ "pattern": "CANARY|needle" })));
    wanted.push(call("read_file", serde_json::json!({ "path": "plain.txt" })));
    for (mode, data) in [("plan", "state"), ("auto", "state"), ("dangerous", "state"), ("auto", "")] {
        let setup = Setup::new();
        let home = setup.aside("home");
        for file in SECRET_FILES.iter().filter(|file| !data.is_empty() || !file.starts_with("state/")) {
            let file = home.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, "CANARY").expect("a file");
        }
        std::os::unix::fs::symlink(home.join(".local/share/majordomo"), home.join("notes")).expect("a link");
        std::os::unix::fs::symlink(home.join(".ssh/id_rsa"), home.join("innocent")).expect("a link");
        std::fs::write(home.join("plain.txt"), "needle").expect("a file");
        let replies: String = wanted
            .iter()
            .filter(|(_, input)| !data.is_empty() || !input.contains("state"))
            .map(|(name, input)| format!("[[script.reply]]\ncalls = [{{ name = {name:?}, input = {input} }}]\n"))
            .collect();
        let model = setup.scripted(&format!("[[script]]\n{replies}[[script.reply]]\ntext = \"Done.\"\n"));
        let mut words = vec!["run", "-m", &model, "--jsonl", "--mode", mode, "--approvals", "deny"];
        words.extend(["--set", "policy.loop_failed_at=1000"]);
        if !data.is_empty() {
            words.extend(["--data", data]);
        }
        words.push("Go");
        let mut command = setup.command(&words);
        let ran = finish(command.current_dir(&home).spawn().expect("it starts")).await;
        let frames = ran.frames();
        let results = of_type(&frames, "tool_result");
        let expected = refused - if data.is_empty() { 3 + 2 + 1 } else { 0 };
        assert_eq!(results.len(), expected + 2, "{mode}: {}", ran.stderr);
        for result in &results[..expected] {
            assert_eq!(result["is_error"], true, "{mode} {data}: {result}");
            let said = result["output"].as_str().expect("a text");
            assert!(!said.contains("CANARY"), "{mode} {data}: {said}");
        }
        let reads = results[0]["output"].as_str().expect("a text");
        assert!(reads.contains("no agent reaches"), "{mode} {data}: {reads}");
        let searched = results[expected]["output"].as_str().expect("a text");
        assert!(!searched.contains("CANARY") && searched.contains("plain.txt\n1: needle"), "{mode} {data}: {searched}");
        assert_eq!(results[expected + 1]["is_error"], false);
        for file in ["state/rules.toml", ".local/share/majordomo/rules.toml"] {
            assert!(!home.join(file).exists(), "{mode} {data}: {file}");
        }
    }
}
