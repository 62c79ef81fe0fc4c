//! `majordomo models`: what providers list, what the table knows, and whether a model works. And what a run says of its model.

use provider::Wire;
use serde_json::{Value, json};
use testkit::model_server::{KEY, ModelServer, Turn};

use crate::setup::Setup;

fn rows(stdout: &str) -> Vec<Value> {
    serde_json::from_str(stdout).expect("a list of objects")
}

/// The row of a model.
#[track_caller]
fn row<'a>(rows: &'a [Value], id: &str) -> &'a Value {
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id} in {rows:?}"))
}

async fn server(path: &str, list: Value) -> ModelServer {
    ModelServer::start(|_| Turn::text("ok")).await.with_list(path, list)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_provider_is_asked_for_its_own_list_which_is_marked_with_what_the_table_knows() {
    let openai = json!({"object": "list", "data": [{"id": "gpt-5", "object": "model"}, {"id": "gpt-99-new", "object": "model"}]});
    let anthropic =
        json!({"data": [{"type": "model", "id": "claude-haiku-4-5", "display_name": "Haiku"}], "has_more": false});
    let gemini = json!({"models": [
        {"name": "models/gemini-3.8-flash", "inputTokenLimit": 1_048_576, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedder", "supportedGenerationMethods": ["embedContent"]},
    ]});
    for (wire, path, list, provider, known) in [
        (Wire::OpenAi, "/v1/models", openai, "openai", "openai/gpt-5"),
        (Wire::Anthropic, "/v1/models", anthropic, "anthropic", "anthropic/claude-haiku-4-5"),
        (Wire::Gemini, "/v1beta/models", gemini, "gemini", "gemini/gemini-3.8-flash"),
    ] {
        let server = server(path, list).await;
        let setup = Setup::at(wire, &server);
        let ran = setup.run(&["models", "ls", "--provider", provider, "--json"]).await.exits(0);
        let rows = rows(&ran.stdout);
        let known = row(&rows, known);
        assert_eq!((&known["source"], &known["known"]), (&json!("provider"), &json!(true)), "{known}");
        assert!(known["price"]["output"].as_f64().is_some_and(|price| price > 0.0), "{known}");
        assert!(known["takes"].as_array().is_some_and(|takes| takes.contains(&json!("images"))), "{known}");
        assert!(!ran.stdout.contains("embedder"), "{}", ran.stdout);
        if provider == "openai" {
            let new = row(&rows, "openai/gpt-99-new");
            assert_eq!((&new["known"], &new["price"]), (&json!(false), &Value::Null), "{new}");
        }
        let plain = setup.run(&["models", "ls", "--provider", provider]).await.exits(0);
        assert_eq!(plain.stdout.lines().count(), rows.len(), "{}", plain.stdout);
        assert!(!plain.stderr.contains(KEY) && !plain.stdout.contains(KEY));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_the_table_is_listed_and_what_is_missing_is_said() {
    let setup = Setup::new();
    let ran = setup.run(&["models", "ls", "--provider", "anthropic", "--json"]).await.exits(4);
    assert!(ran.stderr.contains("anthropic needs a key: set ANTHROPIC_API_KEY"), "{}", ran.stderr);
    let rows = rows(&ran.stdout);
    let usual = row(&rows, "anthropic/claude-sonnet-5-5");
    assert_eq!((&usual["source"], &usual["default"]), (&json!("table"), &json!(true)));
    assert_eq!(row(&rows, "anthropic/claude-sonnet-4-5")["ends"], "2026-11-30");
    assert!(rows.iter().all(|row| row["provider"] == "anthropic"), "{rows:?}");
    let all = setup.run(&["models", "ls"]).await.exits(0);
    for provider in ["anthropic/", "openai/", "gemini/"] {
        assert!(all.stdout.contains(provider), "{provider}: {}", all.stdout);
    }
    let ran = setup.run(&["models", "ls", "--provider", "nope"]).await.exits(2);
    assert!(ran.stderr.contains("there is no provider 'nope'; there are: anthropic"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_overrides_what_is_known_of_a_model() {
    let setup = Setup::new();
    let set = ["--set", "models.\"openai/gpt-5\".context_tokens=1234", "--set", "models.\"openai/gpt-5\".takes=tools"];
    let ran = setup.run(&[&["models", "ls", "--provider", "openai", "--json"][..], &set].concat()).await.exits(4);
    let rows = rows(&ran.stdout);
    let model = row(&rows, "openai/gpt-5");
    assert_eq!((&model["context_tokens"], &model["takes"]), (&json!(1234), &json!(["tools"])));
    assert!(model["max_output_tokens"].as_u64().is_some_and(|tokens| tokens > 1000), "the rest stays: {model}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_tried_with_a_tool_and_what_works_is_said() {
    let script = "[[script]]\non = \"note_number\"\n[[script.reply]]\ncalls = [{ name = \"note_number\", input = { number = 7 } }]\n";
    for wire in Wire::ALL {
        let model = match wire {
            Wire::Anthropic => "anthropic/m",
            Wire::OpenAi | Wire::Responses => "openai/m",
            Wire::Gemini => "gemini/m",
            Wire::Ollama => "ollama/m",
        };
        let able = crate::setup::server(script).await;
        let ran = Setup::at(wire, &able).run(&["models", "test", model]).await.exits(0);
        assert!(ran.stdout.contains("it called the tool as it was told"), "{wire:?}: {}", ran.stdout);
        assert_eq!(able.requests().len(), 1, "{wire:?}");
        assert_eq!(able.refusals(), [""; 0], "{wire:?}");

        let unable = ModelServer::start(|_| Turn::text("I cannot")).await;
        let ran = Setup::at(wire, &unable).run(&["models", "test", model, "--json"]).await.exits(1);
        let told: Value = serde_json::from_str(&ran.stdout).expect("an object");
        assert_eq!(
            (&told["answers"], &told["calls_tools"], &told["exit_code"]),
            (&json!(true), &json!(false), &json!(1))
        );

        let ran = Setup::new().run(&["models", "test", "gpt-5"]).await.exits(2);
        assert!(ran.stderr.contains("'gpt-5' is no model name"), "{}", ran.stderr);
        if wire != Wire::Ollama {
            let ran = Setup::knowing(wire, &unable.url(wire), "wrong").run(&["models", "test", model]).await.exits(4);
            assert!(ran.stdout.contains("the key was refused"), "{wire:?}: {}", ran.stdout);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_tried_again_without_what_its_server_refuses_and_that_is_said() {
    let server = ModelServer::start(|request| match &request.body {
        body if body.get("max_tokens").is_some() => Turn::status(
            400,
            vec![],
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        body if body.get("stream_options").is_some() => {
            Turn::status(400, vec![], "stream_options: extra inputs are not permitted")
        }
        body if body.get("tools").is_some() => Turn::status(400, vec![], "m does not support tools"),
        _ => Turn::text("ok"),
    })
    .await;
    let setup = Setup::at(Wire::OpenAi, &server);
    let ran = setup.run(&["models", "test", "openai/m", "--json"]).await.exits(1);
    let told: Value = serde_json::from_str(&ran.stdout).expect("an object");
    assert_eq!((&told["answers"], &told["calls_tools"]), (&json!(true), &json!(false)), "{told}");
    assert_eq!(told["learnt"].as_array().map(Vec::len), Some(3), "{told}");
    assert_eq!(server.requests().len(), 4);
    let ran = setup.run(&["models", "test", "openai/m"]).await.exits(1);
    assert!(ran.stdout.contains("the model takes no tools, and is asked without them"), "{}", ran.stdout);
    let doctor = setup.run(&["doctor", "-m", "openai/m"]).await.exits(0);
    assert!(doctor.stdout.contains("the limit of the answer is sent under its other name"), "{}", doctor.stdout);

    let never = ModelServer::start(|_| Turn::status(400, vec![], "no")).await;
    Setup::at(Wire::OpenAi, &never).run(&["models", "test", "openai/m"]).await.exits(4);
    assert_eq!(never.requests().len(), 1, "nothing was learnt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_near_its_end_is_said_once_in_a_run_and_by_doctor() {
    let server = ModelServer::start(|_| Turn::text("done")).await;
    let setup = Setup::at(Wire::Anthropic, &server);
    let ended = "openai/gpt-4.1-nano";
    let at_openai = Setup::knowing(Wire::OpenAi, &server.url(Wire::OpenAi), KEY);
    let ran = at_openai.run(&["run", "-m", ended, "Go"]).await.exits(0);
    assert_eq!(ran.stderr.matches(" on 2026-10-23").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("`majordomo models ls` lists others"), "{}", ran.stderr);
    let quiet = at_openai.run(&["run", "-q", "-m", ended, "Go"]).await.exits(0);
    assert!(!quiet.stderr.contains("2026-10-23"), "{}", quiet.stderr);
    let doctor = at_openai.run(&["doctor", "-m", ended]).await.exits(0);
    assert!(doctor.stdout.contains("on 2026-10-23"), "{}", doctor.stdout);
    let fresh = setup.run(&["run", "Go"]).await.exits(0);
    assert!(!fresh.stderr.contains("models ls"), "{}", fresh.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_takes_no_tools_gets_none_which_is_said_once() {
    let server = ModelServer::start(|_| Turn::text("done")).await;
    let setup = Setup::at(Wire::OpenAi, &server);
    let model = "openai/gpt-4o-search-preview";
    let ran = setup.run(&["run", "-m", model, "Go"]).await.exits(0);
    assert_eq!(ran.stderr.matches("takes no tools, so its agents get none").count(), 1, "{}", ran.stderr);
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].body.get("tools")), (1, None), "nothing had to be refused first");
    let doctor = setup.run(&["doctor", "-m", model]).await;
    assert!(doctor.stdout.contains("takes no tools"), "{}", doctor.stdout);
    // What the user says of a model wins.
    let takes = format!("models.\"{model}\".takes=[\"tools\"]");
    let ran = setup.run(&["run", "-m", model, "Go", "--set", &takes]).await.exits(0);
    assert!(!ran.stderr.contains("takes no tools"), "{}", ran.stderr);
    assert!(server.requests().pop().expect("a request").body["tools"].is_array());
}

#[tokio::test(flavor = "multi_thread")]
async fn ollama_is_offered_by_name_and_never_used_without_being_asked_for() {
    let tags = json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]});
    let server = server("/api/tags", tags).await;
    let setup = Setup::new().with("OLLAMA_HOST", &server.host());
    let ran = setup.run(&["run", "hello"]).await;
    assert!(ran.stderr.contains("model builtin/rules"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("Ollama is running here; use one of its models with -m ollama/qwen3:8b"),
        "{}",
        ran.stderr
    );
    assert_eq!(server.requests().len(), 0, "no model was asked");
    let doctor = setup.run(&["doctor"]).await;
    assert!(doctor.stdout.contains("-m ollama/qwen3:8b"), "{}", doctor.stdout);
    let listed = setup.run(&["models", "ls", "--provider", "ollama"]).await.exits(0);
    assert!(listed.stdout.starts_with("ollama/qwen3:8b"), "{}", listed.stdout);
}
