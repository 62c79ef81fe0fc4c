//! The models that a server has, as it lists them itself: Anthropic, Gemini, OpenAI and every server with its wire. What those say
//! beyond a name differs: OpenRouter and vLLM say it in the list, llama.cpp, LM Studio and Ollama at addresses of their own.
//!
//! What is absent: prices by anyone but OpenRouter, because nobody else tells them.

use agent::model::CallError;
use reqwest::Url;
use serde_json::{Value, json};

use crate::codec::{OLLAMA_PORT, outside_version};
use crate::config::Wire;
use crate::http::Provider;
use crate::limits;
use crate::models::{Ability, Dollars, ModelEntry};

/// A model as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The server's own name for it.
    pub name: String,
    /// What the server says about it.
    pub entry: ModelEntry,
}

/// The context with which Ollama loads a model on most machines, where nothing sets another.
const OLLAMA_CONTEXT_TOKENS: u64 = 4_096;

/// The largest window that is asked for where no setting says another: memory grows with it.
const OLLAMA_MOST_TOKENS: u64 = 32_768;

/// The most pages of one list.
const PAGES: usize = 20;

impl Provider {
    /// The models that the server has.
    pub(crate) async fn list(&self) -> Result<Vec<Listed>, CallError> {
        match self.wire() {
            Wire::Anthropic => self.pages("/v1", "data", ("limit", "1000"), ("after_id", "last_id")).await,
            Wire::Gemini => self.pages("/v1beta", "models", ("pageSize", "1000"), ("pageToken", "nextPageToken")).await,
            Wire::OpenAi | Wire::Responses => self.openai_list().await,
            Wire::Ollama => self.ollama_list().await,
        }
    }

    /// What the server says about one model; nothing where it does not say or takes too long.
    pub(crate) async fn figures(&self, model: &str) -> ModelEntry {
        let asked = async {
            if self.is_ollama() {
                return self.ollama_figures(model).await;
            }
            let all = self.list().await.ok()?;
            all.into_iter().find(|listed| listed.name == model).map(|listed| listed.entry)
        };
        tokio::time::timeout(limits::FIGURES, asked).await.ok().flatten().unwrap_or_default()
    }

    /// A list that comes in pages: `size` is the parameter for their length, `next` the one for the next page and where its value stands.
    async fn pages(
        &self,
        version: &str,
        list: &str,
        size: (&str, &str),
        next: (&str, &str),
    ) -> Result<Vec<Listed>, CallError> {
        let (mut all, mut after) = (Vec::new(), None::<String>);
        for _ in 0..PAGES {
            let mut url = self.beside(version, "/models");
            url.query_pairs_mut().append_pair(size.0, size.1);
            if let Some(after) = &after {
                url.query_pairs_mut().append_pair(next.0, after);
            }
            let page = self.json(url, None, limits::LIST).await?;
            all.extend(entries(&page[list]));
            after = page[next.1].as_str().filter(|_| page["has_more"] != false).map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        Ok(all)
    }

    async fn openai_list(&self) -> Result<Vec<Listed>, CallError> {
        if self.is_ollama()
            && let Ok(listed) = self.ollama_list().await
        {
            return Ok(listed);
        }
        let answer = self.json(self.beside("", "/models"), None, limits::LIST).await?;
        // Together's list is not in an object.
        let list = answer.get("data").unwrap_or(&answer);
        let mut all = entries(list);
        let owner = |name: &str| list.as_array().into_iter().flatten().any(|model| model["owned_by"] == name);
        if owner("llamacpp") {
            if let Ok(props) = self.json(self.root("/props"), None, limits::FIGURES).await {
                let entry = llama_cpp(&props);
                all.iter_mut().for_each(|listed| listed.entry = entry.clone().or(std::mem::take(&mut listed.entry)));
            }
        } else if owner("organization_owner")
            && let Ok(own) = self.json(self.root("/api/v0/models"), None, limits::FIGURES).await
        {
            return Ok(entries(&own["data"]));
        }
        Ok(all)
    }

    async fn ollama_list(&self) -> Result<Vec<Listed>, CallError> {
        let tags = self.json(self.root("/api/tags"), None, limits::LIST).await?;
        Ok(entries(&tags["models"]))
    }

    async fn ollama_figures(&self, model: &str) -> Option<ModelEntry> {
        let running = self.json(self.root("/api/ps"), None, limits::FIGURES).await.ok()?;
        let shown = self.json(self.root("/api/show"), Some(&json!({ "model": model })), limits::FIGURES).await.ok()?;
        let window = if self.wire() == Wire::Ollama { OllamaWindow::Sent } else { OllamaWindow::Fixed };
        Some(ollama(model, &running, &shown, window))
    }

    /// Whether it is Ollama, which says more at addresses of its own.
    fn is_ollama(&self) -> bool {
        match self.wire() {
            Wire::Ollama => true,
            Wire::OpenAi => self.name() == "ollama" || self.base().port() == Some(OLLAMA_PORT),
            Wire::Anthropic | Wire::Responses | Wire::Gemini => false,
        }
    }

    /// An address below the version of the API, which people write with and without.
    fn beside(&self, version: &str, tail: &str) -> Url {
        let path = self.base().path().trim_end_matches('/');
        let is_version = path.rsplit('/').next().is_some_and(crate::codec::is_version);
        let mut url = self.base().clone();
        url.set_path(&format!("{path}{}{tail}", if is_version { "" } else { version }));
        url
    }

    /// An address of the server beside its API for OpenAI's wire.
    fn root(&self, tail: &str) -> Url {
        let path = self.base().path().trim_end_matches('/');
        let mut url = self.base().clone();
        url.set_path(&format!("{}{tail}", outside_version(path)));
        url
    }
}

/// The models of a list, in whichever shape. What makes no text is left out where the list says so.
fn entries(list: &Value) -> Vec<Listed> {
    list.as_array().into_iter().flatten().filter_map(listed).collect()
}

fn listed(model: &Value) -> Option<Listed> {
    let name = ["id", "name", "model"].iter().find_map(|key| model[key].as_str())?;
    let name = name.strip_prefix("models/").unwrap_or(name);
    let methods = model["supportedGenerationMethods"].as_array();
    if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
        return None;
    }
    if ["embeddings", "embedding"].iter().any(|kind| model["type"] == *kind) {
        return None;
    }
    let number =
        |paths: &[&str]| paths.iter().find_map(|path| model.pointer(path)?.as_u64()).filter(|count| *count > 0);
    let context_tokens = number(&[
        "/loaded_context_length",
        "/max_model_len",
        "/context_length",
        "/context_window",
        "/max_context_length",
        "/max_input_tokens",
        "/inputTokenLimit",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ]);
    let max_output_tokens = number(&[
        "/top_provider/max_completion_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/outputTokenLimit",
        "/max_tokens",
    ]);
    let entry = ModelEntry {
        context_tokens,
        max_output_tokens,
        price: price(model),
        takes: takes(model),
        ends: model["shutdown_date"].as_str().filter(|day| is_day(day)).map(str::to_owned),
        ..ModelEntry::default()
    };
    Some(Listed { name: name.to_owned(), entry })
}

/// Whether a text has the form of `2026-11-30`, in which OpenAI says when a model ends.
fn is_day(text: &str) -> bool {
    text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() })
}

/// Dollars per token, as texts: the form of OpenRouter. A model whose price depends on where it is sent has a negative one.
fn price(model: &Value) -> Option<Dollars> {
    let of = |key: &str| -> Option<f64> {
        let dollars: f64 = model["pricing"][key].as_str()?.parse().ok()?;
        (dollars >= 0.0).then_some(dollars * 1e6)
    };
    Some(Dollars {
        input: of("prompt")?,
        cache_read: of("input_cache_read"),
        cache_write: of("input_cache_write"),
        cache_write_1h: None,
        output: of("completion")?,
        long: None,
    })
}

/// What a model takes, where its list says anything about it.
fn takes(model: &Value) -> Option<Vec<Ability>> {
    let has = |list: &Value, word: &str| list.as_array().is_some_and(|list| list.iter().any(|one| one == word));
    let told = if let Some(parameters) = model.get("supported_parameters") {
        // OpenRouter.
        let inputs = &model["architecture"]["input_modalities"];
        [
            has(parameters, "tools"),
            has(inputs, "image"),
            has(inputs, "file"),
            has(parameters, "structured_outputs"),
            has(parameters, "reasoning"),
            has(parameters, "temperature"),
        ]
    } else if model["capabilities"]["image_input"].is_object() {
        // Anthropic. Every model of its list can call tools.
        let can = |key: &str| model["capabilities"][key]["supported"] == true;
        [true, can("image_input"), can("pdf_input"), can("structured_outputs"), can("effort"), false]
    } else if model["capabilities"].get("function_calling").is_some() {
        // Mistral.
        let can = |key: &str| model["capabilities"][key] == true;
        [can("function_calling"), can("vision"), false, true, false, true]
    } else if let (Some(_), true) = (model["type"].as_str(), model["max_context_length"].is_u64()) {
        // LM Studio.
        [has(&model["capabilities"], "tool_use"), model["type"] == "vlm", false, true, false, true]
    } else {
        return None;
    };
    Some(abilities(told))
}

fn abilities(has: [bool; 6]) -> Vec<Ability> {
    Ability::ALL.into_iter().zip(has).filter(|(_, has)| *has).map(|(ability, _)| ability).collect()
}

/// What `/props` of llama.cpp says: the context of one slot, which is what a request gets.
fn llama_cpp(props: &Value) -> ModelEntry {
    let context_tokens = props["default_generation_settings"]["n_ctx"].as_u64().filter(|count| *count > 0);
    let sees = props["modalities"]["vision"] == true;
    let takes = props.get("modalities").map(|_| abilities([true, sees, false, true, false, true]));
    ModelEntry { context_tokens, takes, ..ModelEntry::default() }
}

/// Whether a request to Ollama says how large the context window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OllamaWindow {
    /// It does, on Ollama's own wire.
    Sent,
    /// It does not: the context window is the one with which the server loads the model.
    Fixed,
}

/// What Ollama says: with which window a model is loaded, or will be.
fn ollama(model: &str, running: &Value, shown: &Value, window: OllamaWindow) -> ModelEntry {
    let is_it = |running: &&Value| {
        let name = running["model"].as_str().or(running["name"].as_str()).unwrap_or_default();
        name == model || name.strip_suffix(":latest") == Some(model)
    };
    let loaded = running["models"].as_array().into_iter().flatten().find(is_it);
    let loaded = loaded.and_then(|running| running["context_length"].as_u64()).filter(|count| *count > 0);
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let takes = shown["capabilities"].as_array().map(|can| {
        let can = |word: &str| can.iter().any(|one| one == word);
        abilities([can("tools"), can("vision"), false, true, can("thinking"), true])
    });
    let context_tokens = match window {
        // It cuts off what does not fit without a word, so that too little is better than too much.
        OllamaWindow::Fixed => loaded.or(set).or(shown.get("details").map(|_| OLLAMA_CONTEXT_TOKENS)),
        OllamaWindow::Sent => set.or_else(|| window_to_send(loaded, shown)),
    };
    ModelEntry { context_tokens, takes, ..ModelEntry::default() }
}

/// The context window that is asked for where nothing sets one: what the model was made for, but not more than is sensible on most machines,
/// unless it is loaded with more already. A model that another server runs needs no memory here.
fn window_to_send(loaded: Option<u64>, shown: &Value) -> Option<u64> {
    let info = shown["model_info"].as_object()?;
    let made_for =
        info.iter().find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64().filter(|count| *count > 0)?;
    let is_elsewhere = shown["remote_host"].as_str().is_some_and(|host| !host.is_empty());
    let most = if is_elsewhere { made_for } else { loaded.unwrap_or(0).max(OLLAMA_MOST_TOKENS) };
    Some(made_for.min(most))
}

#[cfg(test)]
mod tests;
