//! Models with small context windows: how much fits is learnt, nothing is sent that cannot fit, and what is impossible is said.

use std::sync::atomic::{AtomicUsize, Ordering};

use provider::Wire;
use serde_json::json;
use testkit::model_server::{KEY, ModelServer, Request, Turn};

use crate::heard::{results, tokens};
use crate::setup::Setup;

/// A context window of so many tokens, as vLLM refuses what does not fit. Tokens are counted as four bytes of the request.
fn refuses(request: &Request, window: u64) -> Option<Turn> {
    let asked = request.body["max_tokens"].as_u64().or(request.body["max_completion_tokens"].as_u64()).unwrap_or(0);
    let prompt = tokens(request) as u64;
    let message = format!(
        "This model's maximum context length is {window} tokens. However, you requested {asked} output tokens and your prompt contains \
         at least {prompt} input tokens."
    );
    (prompt + asked > window).then(|| Turn::status(400, Vec::new(), &message))
}

const LONG: usize = 60_000;

/// A model that reads a long file and then says how it ends.
fn reader(window: u64) -> impl Fn(&Request) -> Turn + Send + Sync + 'static {
    let step = AtomicUsize::new(0);
    move |request| {
        if let Some(refusal) = refuses(request, window) {
            return refusal;
        }
        if request.body["tool_choice"] == "none" {
            return Turn::text("I read long.txt.").used(tokens(request) as u64, 20);
        }
        let turn = match step.fetch_add(1, Ordering::Relaxed) {
            0 => Turn::text("").call("c0", "read_file", r#"{"path":"long.txt"}"#),
            1 => Turn::text("").call("c1", "read_file", r#"{"path":"long.txt","offset":900}"#),
            _ => Turn::text("It ends with 2000."),
        };
        turn.used(tokens(request) as u64, 20)
    }
}

fn long_file(setup: &Setup) {
    let lines: String = (1..=2000).map(|line| format!("This is line {line:>6} of a file.\n")).collect();
    assert!(lines.len() >= LONG);
    setup.write("long.txt", &lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_8k_the_default_tools_work_and_a_long_result_is_cut_with_a_note_where_the_rest_is() {
    // F21
    let server = ModelServer::start(reader(8192)).await;
    let setup = Setup::at(Wire::OpenAi, &server);
    long_file(&setup);
    let set = ["--set", "models.\"openai/small\".context_tokens=8192"];
    let ran = setup.run(&[&["run", "-m", "openai/small", "How does long.txt end?"][..], &set].concat()).await.exits(0);
    assert_eq!(ran.stdout, "It ends with 2000.\n");
    for request in server.requests() {
        assert!(refuses(&request, 8192).is_none(), "nothing is sent that cannot fit: {} tokens", tokens(&request));
    }
    let read = results(&server.requests()[1]).pop().expect("a result").1;
    assert!(
        read.contains(
            "characters left out here: the result does not fit into this model's context window of 8192 tokens"
        ),
        "{read}"
    );
    assert!(read.contains("The whole result is in the log of thread "), "{read}");
    assert!(read.contains("This is line      1 "), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn how_much_fits_is_learnt_from_the_servers_error_and_the_key_that_sets_it_is_named() {
    // F21
    let server = ModelServer::start(reader(8192)).await;
    let setup = Setup::at(Wire::OpenAi, &server);
    long_file(&setup);
    // Without figures, more is taken to fit than does.
    let ran = setup.run(&["run", "-m", "openai/small", "How does long.txt end?"]).await.exits(0);
    assert_eq!(ran.stdout, "It ends with 2000.\n");
    assert!(ran.stderr.contains("models.\"openai/small\".context_tokens = 8192"), "{}", ran.stderr);
    let requests = server.requests();
    let refused: Vec<&Request> = requests.iter().filter(|request| refuses(request, 8192).is_some()).collect();
    assert!((1..=2).contains(&refused.len()), "it is learnt once: {} refusals", refused.len());
    for (nth, request) in requests.iter().enumerate() {
        let same = requests[..nth].iter().any(|before| before.raw == request.raw);
        assert!(!same, "a request that was too large is not sent again unchanged");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn how_much_fits_is_learnt_from_the_list_of_the_server() {
    let list = json!({"object": "list", "data": [{"id": "small", "object": "model", "owned_by": "vllm", "max_model_len": 8192}]});
    let server = ModelServer::start(reader(8192)).await.with_list("/v1/models", list);
    let setup = Setup::new()
        .with("MAJORDOMO_PROVIDERS_LOCAL_BASE_URL", &server.url(Wire::OpenAi))
        .with("MAJORDOMO_PROVIDERS_LOCAL_KEY_ENV", "LOCAL_KEY")
        .with("LOCAL_KEY", testkit::model_server::KEY);
    long_file(&setup);
    let config = format!(
        "[providers.local]\nwire = \"openai\"\nbase_url = \"{}\"\nkey_env = \"LOCAL_KEY\"\n",
        server.url(Wire::OpenAi)
    );
    let folder = setup.aside("home/.config/majordomo");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), config).expect("a file");
    let ran = setup.run(&["run", "-m", "local/small", "How does long.txt end?"]).await.exits(0);
    assert_eq!(ran.stdout, "It ends with 2000.\n");
    for request in server.requests() {
        assert!(refuses(&request, 8192).is_none(), "nothing is sent that cannot fit: {} tokens", tokens(&request));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn how_much_fits_is_learnt_from_the_list_of_another_server_at_the_address_of_a_built_in_provider() {
    let list = json!({"object": "list", "data": [{"id": "small", "object": "model", "owned_by": "vllm", "max_model_len": 8192}]});
    let server = ModelServer::start(reader(8192)).await.with_list("/v1/models", list);
    let setup = Setup::at(Wire::OpenAi, &server);
    long_file(&setup);
    let listed = setup.run(&["models", "ls", "--provider", "openai", "--json"]).await.exits(0);
    assert_eq!(listed.json()[0]["context_tokens"], 8192, "{}", listed.stdout);
    let ran = setup.run(&["run", "-m", "openai/small", "How does long.txt end?"]).await.exits(0);
    assert_eq!(ran.stdout, "It ends with 2000.\n");
    assert!(
        server.requests().iter().all(|request| refuses(request, 8192).is_none()),
        "nothing is sent that cannot fit"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ollama_is_sent_the_context_window_that_is_set_or_that_it_says_of_the_model_up_to_a_sensible_size() {
    let shown = |tokens: u64, parameters: &str| {
        json!({"model_info": {"qwen3.context_length": tokens}, "parameters": parameters,
            "capabilities": ["completion", "tools"], "details": {"family": "qwen3"}})
    };
    for (shown, set, expected) in [
        (shown(40_960, ""), None, 32_768),
        (shown(16_384, ""), None, 16_384),
        (shown(40_960, "num_ctx                        20480"), None, 20_480),
        (shown(40_960, ""), Some("models.\"ollama/qwen3:8b\".context_tokens=12000"), 12_000),
    ] {
        let server = ModelServer::start(|_| Turn::text("Good.")).await;
        let server = server.with_list("/api/show", shown).with_list("/api/ps", json!({"models": []}));
        let set: Vec<&str> = set.into_iter().flat_map(|set| ["--set", set]).collect();
        Setup::at(Wire::Ollama, &server).run(&[&["run", "Hello"][..], &set].concat()).await.exits(0);
        let requests = server.requests();
        assert_eq!((requests.len(), requests[0].wire), (1, Wire::Ollama));
        assert_eq!(requests[0].body["options"]["num_ctx"], expected);
        assert_eq!(server.refusals(), [""; 0]);
    }
    // The other wire has no field for it.
    let server = ModelServer::start(|_| Turn::text("Good.")).await;
    let setup = Setup::at(Wire::Ollama, &server).with("MAJORDOMO_PROVIDERS_OLLAMA_WIRE", "openai");
    let setup = setup.with("MAJORDOMO_PROVIDERS_OLLAMA_KEY_ENV", "OLLAMA_KEY").with("OLLAMA_KEY", KEY);
    setup.run(&["run", "Hello"]).await.exits(0);
    assert_eq!(server.requests()[0].wire, Wire::OpenAi);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_2k_what_is_impossible_is_said_and_nothing_is_sent() {
    let server = ModelServer::start(reader(2048)).await;
    let setup = Setup::at(Wire::OpenAi, &server);
    let set = ["--set", "models.\"openai/tiny\".context_tokens=2048"];
    let ran = setup.run(&[&["run", "-m", "openai/tiny", "Hello"][..], &set].concat()).await.exits(1);
    for told in [
        "context window of openai/tiny is 2048 tokens",
        "models.\"openai/tiny\".context_tokens",
        "is impossible with this model",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_too_large_and_cannot_be_made_smaller_is_sent_once() {
    // F21
    for wire in Wire::ALL {
        let model = match wire {
            Wire::Anthropic => "anthropic/m",
            Wire::OpenAi | Wire::Responses => "openai/m",
            Wire::Gemini => "gemini/m",
            Wire::Ollama => "ollama/m",
        };
        let server = ModelServer::start(|_| Turn::status(400, Vec::new(), "prompt is too long")).await;
        let ran = Setup::at(wire, &server).run(&["run", "-m", model, "Hello"]).await.exits(1);
        assert_eq!(server.requests().len(), 1, "{wire:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("nothing more can be left out"), "{wire:?}: {}", ran.stderr);
    }
}
