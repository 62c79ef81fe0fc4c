use super::*;

fn one(model: Value) -> Listed {
    entries(&Value::Array(vec![model])).pop().expect("a model")
}

#[test]
fn a_list_of_every_kind_of_server_is_read() {
    for (server, model, name, context, output) in [
        (
            "Anthropic",
            json!({"type": "model", "id": "claude-x", "display_name": "X", "max_input_tokens": 1_000_000, "max_tokens": 128_000}),
            "claude-x",
            Some(1_000_000),
            Some(128_000),
        ),
        ("OpenAI", json!({"id": "gpt-x", "object": "model", "owned_by": "system"}), "gpt-x", None, None),
        (
            "Gemini",
            json!({"name": "models/gemini-x", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent", "countTokens"]}),
            "gemini-x",
            Some(1_048_576),
            Some(65_536),
        ),
        ("vLLM", json!({"id": "org/m", "owned_by": "vllm", "max_model_len": 8192}), "org/m", Some(8192), None),
        (
            "LM Studio",
            json!({"id": "m", "type": "llm", "max_context_length": 131_072, "loaded_context_length": 4096}),
            "m",
            Some(4096),
            None,
        ),
        (
            "OpenRouter",
            json!({"id": "a/m", "context_length": 200_000, "top_provider": {"max_completion_tokens": 64_000}}),
            "a/m",
            Some(200_000),
            Some(64_000),
        ),
        (
            "Groq",
            json!({"id": "m", "context_window": 131_072, "max_completion_tokens": 32_768}),
            "m",
            Some(131_072),
            Some(32_768),
        ),
        ("Ollama", json!({"name": "qwen3:8b", "model": "qwen3:8b", "size": 5}), "qwen3:8b", None, None),
        (
            "llama.cpp",
            json!({"id": "m.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32_768}}),
            "m.gguf",
            Some(32_768),
            None,
        ),
    ] {
        let listed = one(model);
        assert_eq!(listed.name, name, "{server}");
        assert_eq!((listed.entry.context_tokens, listed.entry.max_output_tokens), (context, output), "{server}");
    }
}

#[test]
fn what_makes_no_text_is_left_out() {
    let embedding = json!([
        {"name": "models/e", "supportedGenerationMethods": ["embedContent"]},
        {"id": "e", "type": "embeddings"},
        {"no": "name"},
    ]);
    assert_eq!(entries(&embedding), []);
    assert_eq!(entries(&Value::Null), []);
}

#[test]
fn prices_and_abilities_are_read_where_a_server_tells_them() {
    let router = one(json!({
        "id": "a/m",
        "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"},
        "architecture": {"input_modalities": ["text", "image", "file"]},
        "supported_parameters": ["tools", "temperature", "structured_outputs"],
    }));
    let price = router.entry.price.expect("a price");
    assert!((price.input - 3.0).abs() < 1e-9 && (price.output - 15.0).abs() < 1e-9, "{price:?}");
    let takes = router.entry.takes.expect("abilities");
    assert_eq!(takes, [Ability::Tools, Ability::Images, Ability::Pdf, Ability::Schema, Ability::Temperature]);
    let auto = one(json!({"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}}));
    assert_eq!((auto.entry.price, auto.entry.takes), (None, None));
    let claude = one(json!({"id": "claude-x", "capabilities": {
        "image_input": {"supported": true}, "pdf_input": {"supported": false}, "structured_outputs": {"supported": true},
    }}));
    assert_eq!(claude.entry.takes(Ability::Images), Some(true));
    assert_eq!(claude.entry.takes(Ability::Pdf), Some(false));
}

#[test]
fn openai_says_when_a_model_ends() {
    let ends = |day: Value| one(json!({"id": "gpt-x", "object": "model", "shutdown_date": day})).entry.ends;
    assert_eq!(ends(json!("2027-01-14")).as_deref(), Some("2027-01-14"));
    for none in [json!(null), json!("soon"), json!("2027/01/14"), json!(20_270_114)] {
        assert_eq!(ends(none.clone()), None, "{none}");
    }
}

#[test]
fn llama_cpp_says_what_one_request_gets() {
    let props =
        json!({"default_generation_settings": {"n_ctx": 8192}, "modalities": {"vision": false, "audio": false}});
    let entry = llama_cpp(&props);
    assert_eq!(entry.context_tokens, Some(8192));
    assert_eq!(entry.takes(Ability::Images), Some(false));
    assert_eq!(llama_cpp(&json!({})), ModelEntry::default());
}

#[test]
fn ollama_says_with_which_context_a_model_is_loaded() {
    let ollama = |model: &str, running: &Value, shown: &Value| ollama(model, running, shown, OllamaWindow::Fixed);
    let shown =
        json!({"parameters": "stop \"x\"\nnum_ctx    16384", "capabilities": ["completion", "tools", "vision"]});
    let running = json!({"models": [{"name": "qwen3:latest", "model": "qwen3:latest", "context_length": 4096}]});
    let entry = ollama("qwen3", &running, &shown);
    assert_eq!(entry.context_tokens, Some(4096), "what is loaded counts");
    assert_eq!(entry.takes(Ability::Images), Some(true));
    let cold = ollama("other", &running, &shown);
    assert_eq!(cold.context_tokens, Some(16_384), "else what its file sets");
    let plain = json!({"details": {"family": "qwen3"}, "capabilities": ["completion"]});
    assert_eq!(ollama("other", &running, &plain).context_tokens, Some(4096), "else what Ollama takes by itself");
    assert_eq!(ollama("m", &json!({}), &json!({})), ModelEntry::default());
}

#[test]
fn the_context_window_that_ollama_is_told_is_set_by_its_file_else_the_models_own_up_to_a_sensible_size() {
    let window = |running: &Value, shown: &Value| ollama("qwen3", running, shown, OllamaWindow::Sent).context_tokens;
    let of = |tokens: u64| json!({"model_info": {"qwen3.context_length": tokens, "qwen3.block_count": 36}});
    let loaded = |tokens: u64| json!({"models": [{"model": "qwen3:latest", "context_length": tokens}]});
    let set = json!({"parameters": "num_ctx 8192", "model_info": {"qwen3.context_length": 40_960}});
    assert_eq!(window(&loaded(4096), &set), Some(8192), "what its file sets");
    assert_eq!(window(&loaded(4096), &of(40_960)), Some(32_768), "a model that is loaded small is loaded anew");
    assert_eq!(window(&loaded(65_536), &of(131_072)), Some(65_536), "one that is loaded large stays so");
    assert_eq!(window(&json!({}), &of(2048)), Some(2048), "never more than the model was made for");
    let elsewhere = json!({"remote_host": "https://ollama.com:443", "model_info": {"glm.context_length": 200_000}});
    assert_eq!(window(&json!({}), &elsewhere), Some(200_000), "a model that runs elsewhere needs no memory here");
    assert_eq!(window(&json!({}), &json!({"details": {}})), None);
}
