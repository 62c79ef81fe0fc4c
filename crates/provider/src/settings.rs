//! What a person set about how a model answers, in the words of each wire.
//!
//! A field that a server refuses is left out from then on (see `compat`). What stands inside another object of a wire is written by
//! that wire's `map`, which asks here.

use crate::compat::Compat;
use crate::config::{CacheTime, Effort, ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::fragment;

/// The fewest tokens of thinking that Anthropic's wire takes.
const LEAST_THINKING: u64 = 1024;

/// The field of Ollama's wire that holds the settings of a model.
const OPTIONS: &str = "options";

/// Fields that no setting replaces: without them a request is not what was reckoned with.
const OWN_FIELDS: [&str; 12] = [
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "systemInstruction",
    "instructions",
    "tools",
    "stream",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
];

/// The optional fields that settings bring into a request, by name.
pub(crate) fn fields(wire: Wire, settings: &ModelSettings) -> Vec<&'static str> {
    let mut fields = Vec::new();
    match wire {
        Wire::OpenAi => fields.extend(settings.effort.map(|_| "reasoning_effort")),
        Wire::Responses => fields.extend(settings.effort.map(|_| "reasoning")),
        Wire::Anthropic => {
            fields.extend(settings.effort.map(|_| "effort"));
            fields.extend(settings.thinking_tokens.map(|_| "thinking"));
        }
        Wire::Gemini if settings.effort.is_some() || settings.thinking_tokens.is_some() => fields.push("thinking"),
        Wire::Gemini => {}
        Wire::Ollama => fields.extend(settings.effort.map(|_| "think")),
    }
    fields.extend(settings.temperature.map(|_| "temperature"));
    fields
}

/// The members at the end of a body, each with a comma before it.
pub(crate) fn members(wire: Wire, settings: &ModelSettings, max_tokens: u64, compat: &Compat) -> String {
    let mut members = String::new();
    let mut add = |name: &str, value: String| members.push_str(&format!(",{}:{value}", fragment(name)));
    match (wire, settings.effort) {
        (Wire::OpenAi, Some(effort)) if compat.sends("reasoning_effort") => {
            add("reasoning_effort", fragment(openai_effort(effort, "high")));
        }
        (Wire::Responses, Some(effort)) if compat.sends("reasoning") => {
            add("reasoning", format!(r#"{{"effort":"{}"}}"#, openai_effort(effort, "xhigh")));
        }
        (Wire::Ollama, Some(effort)) if compat.sends("think") => add("think", ollama_think(effort).to_owned()),
        _ => {}
    }
    if let (Wire::Anthropic, Some(tokens)) = (wire, settings.thinking_tokens)
        && compat.sends("thinking")
        && max_tokens > LEAST_THINKING
    {
        let budget = tokens.clamp(LEAST_THINKING, max_tokens - 1);
        add("thinking", format!(r#"{{"type":"enabled","budget_tokens":{budget}}}"#));
    }
    if let Some(temperature) = settings.temperature
        && !matches!(wire, Wire::Gemini | Wire::Ollama)
        && compat.sends("temperature")
    {
        add("temperature", fragment(&temperature));
    }
    // The options of a model are written with those of ours.
    let is_own = |name: &str| OWN_FIELDS.contains(&name) || (wire == Wire::Ollama && name == OPTIONS);
    for (name, value) in settings.body.iter().filter(|(name, _)| !is_own(name)) {
        add(name, value.to_string());
    }
    members
}

/// The members of Ollama's `options`: the context window with which the model is loaded, the limit of the answer, and what was set besides.
pub(crate) fn ollama_options(ask: &Ask, settings: &ModelSettings, compat: &Compat) -> String {
    let window = ask.window_tokens.map(|tokens| ("num_ctx", tokens.to_string()));
    let limit = Some(("num_predict", ask.max_tokens.to_string()));
    let temperature = settings.temperature.filter(|_| compat.sends("temperature"));
    let temperature = temperature.map(|temperature| ("temperature", fragment(&temperature)));
    let own: Vec<(&str, String)> = [window, limit, temperature].into_iter().flatten().collect();
    let others = settings.body.get(OPTIONS).and_then(serde_json::Value::as_object).into_iter().flatten();
    let others = others.filter(|(name, _)| own.iter().all(|(mine, _)| mine != name));
    let members = others.map(|(name, value)| format!("{}:{value}", fragment(name)));
    own.iter().map(|(name, value)| format!("{}:{value}", fragment(name))).chain(members).collect::<Vec<_>>().join(",")
}

/// The effort in Ollama's words, as JSON.
fn ollama_think(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "false",
        Effort::Low => r#""low""#,
        Effort::Medium => r#""medium""#,
        Effort::High => r#""high""#,
        Effort::Max => r#""max""#,
    }
}

/// How long the prompt of a request is worth keeping. An agent that waits for sub-agents may ask again after more than five minutes.
pub(crate) fn cache_time(settings: &ModelSettings, ask: &Ask) -> CacheTime {
    if ask.may_wait { settings.parent_cache.unwrap_or_default() } else { CacheTime::default() }
}

/// The effort in Anthropic's words, for `output_config`.
pub(crate) fn anthropic_effort(settings: &ModelSettings, compat: &Compat) -> Option<&'static str> {
    let effort = settings.effort.filter(|_| compat.sends("effort"))?;
    Some(match effort {
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => "max",
    })
}

/// Members of Gemini's `generationConfig`, each with a comma before it. Its newer models take a level, the older ones a number.
pub(crate) fn gemini_members(model: &str, settings: &ModelSettings, compat: &Compat) -> String {
    let mut members = String::new();
    if compat.sends("thinking") {
        let is_older = model.starts_with("gemini-2") || model.starts_with("gemini-1");
        let budget = settings.thinking_tokens.or(settings.effort.filter(|_| is_older).map(|effort| match effort {
            Effort::Minimal => 128,
            Effort::Low => 1_024,
            Effort::Medium => 8_192,
            Effort::High | Effort::Max => 24_576,
        }));
        let level = settings.effort.map(|effort| openai_effort(effort, "high"));
        match (budget, level) {
            (Some(budget), _) => members.push_str(&format!(r#","thinkingConfig":{{"thinkingBudget":{budget}}}"#)),
            (None, Some(level)) => members.push_str(&format!(r#","thinkingConfig":{{"thinkingLevel":"{level}"}}"#)),
            (None, None) => {}
        }
    }
    if let Some(temperature) = settings.temperature.filter(|_| compat.sends("temperature")) {
        members.push_str(&format!(r#","temperature":{temperature}"#));
    }
    members
}

/// The effort in OpenAI's words; `most` is its word for the most.
fn openai_effort(effort: Effort, most: &'static str) -> &'static str {
    match effort {
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => most,
    }
}
