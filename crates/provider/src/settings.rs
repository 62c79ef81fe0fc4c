//! What a person set about how a model answers, and how a model is asked to show what it thinks, in the words of each wire.
//!
//! A field that a server refuses is left out from then on (see `compat`). What stands inside another object of a wire is written by
//! that wire's `map`, which asks here. Further fields that a person set are in `extra`.

use crate::compat::{Compat, field};
use crate::config::{CacheTime, Effort, ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::fragment;

/// The fewest tokens of thinking that Anthropic's wire takes.
const LEAST_THINKING: u64 = 1024;

/// The optional fields of a request that settings bring into it, or that ask for thoughts, by the names under which `compat` knows them. The one that is
/// named first is left out first where a server names more than one.
pub(crate) fn fields(wire: Wire, model: &str, settings: &ModelSettings, compat: &Compat) -> Vec<&'static str> {
    let mut fields = Vec::new();
    match wire {
        Wire::OpenAi => fields.extend(settings.effort.map(|_| field::REASONING_EFFORT)),
        Wire::Responses => {
            let shows = shows_summary(model, compat);
            fields.extend(shows.then_some(field::SUMMARY));
            fields.extend(settings.effort.map(|_| field::EFFORT));
            fields.extend((shows || settings.effort.is_some()).then_some(field::REASONING));
            fields.extend(includes_reasoning(model, compat).then_some(field::INCLUDE));
        }
        Wire::Anthropic => {
            fields.extend(settings.effort.map(|_| field::EFFORT));
            match anthropic_thinking(model, settings, u64::MAX, compat) {
                Some(Thinking::Budget(_)) => fields.push(field::THINKING),
                Some(Thinking::Shown) => fields.push(field::DISPLAY),
                None => {}
            }
        }
        Wire::Gemini => {
            let (level, shown) = gemini_thinking(model, settings, compat);
            fields.extend(shown.then_some(field::THOUGHTS));
            fields.extend(level.map(|_| field::THINKING));
        }
        Wire::Ollama => fields.extend(settings.effort.map(|_| field::THINK)),
    }
    fields.extend(settings.temperature.map(|_| field::TEMPERATURE));
    fields
}

/// The members of a body before its messages, each with a comma before it.
pub(crate) fn members(wire: Wire, model: &str, settings: &ModelSettings, max_tokens: u64, compat: &Compat) -> String {
    let mut members = String::new();
    let mut add = |name: &str, value: String| members.push_str(&format!(",{}:{value}", fragment(name)));
    match (wire, settings.effort) {
        (Wire::OpenAi, Some(effort)) if compat.sends(field::REASONING_EFFORT) => {
            add("reasoning_effort", fragment(openai_effort(model, effort, OpenAiApi::Chat)));
        }
        (Wire::Responses, effort) if compat.sends(field::REASONING) => {
            let effort = effort.filter(|_| compat.sends(field::EFFORT));
            let effort =
                effort.map(|effort| format!(r#""effort":"{}""#, openai_effort(model, effort, OpenAiApi::Responses)));
            let summary = shows_summary(model, compat).then(|| r#""summary":"auto""#.to_owned());
            let reasoning: Vec<String> = effort.into_iter().chain(summary).collect();
            if !reasoning.is_empty() {
                add("reasoning", format!("{{{}}}", reasoning.join(",")));
            }
        }
        (Wire::Ollama, Some(effort)) if compat.sends(field::THINK) => add("think", ollama_think(effort).to_owned()),
        _ => {}
    }
    if wire == Wire::Anthropic {
        match anthropic_thinking(model, settings, max_tokens, compat) {
            Some(Thinking::Budget(tokens)) => {
                add("thinking", format!(r#"{{"type":"enabled","budget_tokens":{tokens}}}"#));
            }
            Some(Thinking::Shown) => add("thinking", r#"{"type":"adaptive","display":"summarized"}"#.to_owned()),
            None => {}
        }
    }
    if let Some(temperature) = settings.temperature
        && !matches!(wire, Wire::Gemini | Wire::Ollama)
        && compat.sends(field::TEMPERATURE)
    {
        add("temperature", fragment(&temperature));
    }
    members
}

/// The members of Ollama's `options`: the context window with which the model is loaded, the limit of the answer, and the temperature.
pub(crate) fn ollama_options(ask: &Ask, settings: &ModelSettings, compat: &Compat) -> String {
    let window = ask.window_tokens.map(|tokens| format!(r#""num_ctx":{tokens}"#));
    let limit = Some(format!(r#""num_predict":{}"#, ask.max_tokens));
    let temperature = settings.temperature.filter(|_| compat.sends(field::TEMPERATURE));
    let temperature = temperature.map(|temperature| format!(r#""temperature":{}"#, fragment(&temperature)));
    [window, limit, temperature].into_iter().flatten().collect::<Vec<_>>().join(",")
}

/// The effort in Ollama's words, as JSON. It takes `max` for the models that have such a level, and refuses it for others.
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

/// The effort in Anthropic's words, for `output_config`. It has no word for less than `low`.
pub(crate) fn anthropic_effort(model: &str, settings: &ModelSettings, compat: &Compat) -> Option<&'static str> {
    let effort = settings.effort.filter(|_| compat.sends(field::EFFORT))?;
    Some(match effort {
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        // The first model with efforts has three of them.
        Effort::Max if own_name(model).starts_with("claude-opus-4-5") => "high",
        Effort::Max => "max",
    })
}

/// What is said about thinking on Anthropic's wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thinking {
    /// At most so many tokens.
    Budget(u64),
    /// As much as the model thinks fit, which it does anyway, and a summary of it is sent.
    Shown,
}

fn anthropic_thinking(model: &str, settings: &ModelSettings, max_tokens: u64, compat: &Compat) -> Option<Thinking> {
    let budget = settings.thinking_tokens.filter(|_| compat.sends(field::THINKING) && max_tokens > LEAST_THINKING);
    if let Some(tokens) = budget {
        return Some(Thinking::Budget(tokens.clamp(LEAST_THINKING, max_tokens - 1)));
    }
    let is_shown = thinks_unasked(model) && compat.sends(field::DISPLAY);
    is_shown.then_some(Thinking::Shown)
}

/// Whether a model of Anthropic's thinks without being asked to, and leaves out what it thought unless it is asked for it: the
/// fifth generation does. Asking an older one would make it think, which costs.
fn thinks_unasked(model: &str) -> bool {
    // The first ones have the number before the word.
    let name = own_name(model).strip_prefix("claude-").filter(|name| name.starts_with(char::is_alphabetic));
    let generation = name.and_then(|name| name.split('-').nth(1)?.parse::<u32>().ok());
    generation.is_some_and(|generation| (5..100).contains(&generation))
}

/// The name of a model without that of its maker, which gateways put before it.
fn own_name(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// Members of Gemini's `generationConfig`, each with a comma before it. Its newer models take a level, the older ones a number.
pub(crate) fn gemini_members(model: &str, settings: &ModelSettings, compat: &Compat) -> String {
    let mut members = String::new();
    let (level, shown) = gemini_thinking(model, settings, compat);
    let shown = shown.then(|| r#""includeThoughts":true"#.to_owned());
    let thinking: Vec<String> = level.into_iter().chain(shown).collect();
    if !thinking.is_empty() {
        members.push_str(&format!(r#","thinkingConfig":{{{}}}"#, thinking.join(",")));
    }
    if let Some(temperature) = settings.temperature.filter(|_| compat.sends(field::TEMPERATURE)) {
        members.push_str(&format!(r#","temperature":{temperature}"#));
    }
    members
}

/// How much a model of Gemini's thinks, as a member of its `thinkingConfig`, and whether it shows what it thinks.
fn gemini_thinking(model: &str, settings: &ModelSettings, compat: &Compat) -> (Option<String>, bool) {
    let name = own_name(model);
    let is_older = name.starts_with("gemini-2") || name.starts_with("gemini-1");
    let by_effort = settings.effort.filter(|_| is_older).map(|effort| gemini_budget(name, effort));
    let budget = settings.thinking_tokens.or(by_effort);
    let level = match (budget, settings.effort) {
        (Some(budget), _) => Some(format!(r#""thinkingBudget":{budget}"#)),
        (None, Some(effort)) => Some(format!(r#""thinkingLevel":"{}""#, gemini_level(name, effort))),
        (None, None) => None,
    };
    // A model that does not think refuses to be asked for what it thought.
    let thinks = name.starts_with("gemini-") && !name.starts_with("gemini-1") && !name.starts_with("gemini-2.0");
    let is_shown = thinks && budget != Some(0) && compat.takes_effort && compat.sends(field::THOUGHTS);
    (level.filter(|_| compat.sends(field::THINKING)), is_shown)
}

/// How many tokens a model of Gemini's second generation thinks. The larger one cannot be told not to think, and takes more.
fn gemini_budget(name: &str, effort: Effort) -> u64 {
    let is_pro = name.contains("-pro");
    match effort {
        Effort::Minimal if is_pro => 128,
        Effort::Minimal => 0,
        Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
        Effort::Max if is_pro => 32_768,
        Effort::Max => 24_576,
    }
}

/// Models of Gemini's third generation that take its lowest level.
const MINIMAL_LEVEL: [&str; 3] = ["gemini-3-flash", "gemini-3.1-flash-lite", "gemini-3.5-flash"];

fn gemini_level(name: &str, effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal if MINIMAL_LEVEL.iter().any(|family| name.starts_with(family)) => "minimal",
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Max => "high",
    }
}

/// Which of OpenAI's APIs is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenAiApi {
    Chat,
    Responses,
}

/// The effort in OpenAI's words. The models of its generations take different words for the least and for the most.
fn openai_effort(model: &str, effort: Effort, api: OpenAiApi) -> &'static str {
    let name = own_name(model);
    match effort {
        Effort::Minimal => least_effort(name),
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => most_effort(name, api),
    }
}

/// The least that a model takes: models before GPT-5 begin with `low`, GPT-5 has `minimal`, those after it `none`, and GPT-6.1 begins with `low` again.
fn least_effort(name: &str) -> &'static str {
    match gpt(name) {
        Some((5, 0)) => "minimal",
        Some((5, 1..) | (6, 0)) => "none",
        _ => "low",
    }
}

/// The most that a model takes: `xhigh` came with GPT-5.2, `max` with GPT-6, and on the Responses API only. Servers of other makers know
/// the words of the first models.
fn most_effort(name: &str, api: OpenAiApi) -> &'static str {
    match (gpt(name), api) {
        (Some((6.., _)), OpenAiApi::Responses) => "max",
        (Some((6.., _) | (5, 2..)), _) => "xhigh",
        _ => "high",
    }
}

/// The generation of one of OpenAI's models: 5 and 6 of `gpt-5.6-sol`.
fn gpt(name: &str) -> Option<(u32, u32)> {
    let version = name.strip_prefix("gpt-")?.split('-').next()?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether a model on the Responses API may reason. Those that do not refuse to be asked for their reasoning.
fn can_reason(model: &str, compat: &Compat) -> bool {
    let name = own_name(model);
    compat.takes_effort && !["gpt-3", "gpt-4", "chatgpt-"].iter().any(|family| name.starts_with(family))
}

/// Whether a model is asked for a summary of what it thinks.
fn shows_summary(model: &str, compat: &Compat) -> bool {
    can_reason(model, compat) && compat.sends(field::SUMMARY) && compat.sends(field::REASONING)
}

/// Whether a model is asked for its reasoning in the form in which it takes it back.
pub(crate) fn includes_reasoning(model: &str, compat: &Compat) -> bool {
    can_reason(model, compat) && compat.sends(field::INCLUDE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_are_words_that_each_model_takes() {
        let chat = |model: &str, effort| openai_effort(model, effort, OpenAiApi::Chat);
        let responses = |model: &str, effort| openai_effort(model, effort, OpenAiApi::Responses);
        for (model, least, most_of_chat, most) in [
            ("o3", "low", "high", "high"),
            ("gpt-5", "minimal", "high", "high"),
            ("gpt-5-mini-2025-08-07", "minimal", "high", "high"),
            ("gpt-5.1", "none", "high", "high"),
            ("gpt-5.6-sol", "none", "xhigh", "xhigh"),
            ("gpt-6-luna", "none", "xhigh", "max"),
            ("openai/gpt-6.1-sol", "low", "xhigh", "max"),
            ("deepseek-v4", "low", "high", "high"),
            ("gpt-oss-120b", "low", "high", "high"),
        ] {
            assert_eq!(chat(model, Effort::Minimal), least, "{model}");
            assert_eq!(chat(model, Effort::Max), most_of_chat, "{model}");
            assert_eq!(responses(model, Effort::Max), most, "{model}");
            assert_eq!(responses(model, Effort::Medium), "medium", "{model}");
        }
        for (model, least) in
            [("gemini-3.8-flash", "low"), ("gemini-3.5-flash-lite", "minimal"), ("gemini-3.1-pro-preview", "low")]
        {
            assert_eq!((gemini_level(model, Effort::Minimal), gemini_level(model, Effort::Max)), (least, "high"));
        }
        for (model, least, most) in [("gemini-2.5-pro", 128, 32_768), ("gemini-2.5-flash-lite", 0, 24_576)] {
            assert_eq!((gemini_budget(model, Effort::Minimal), gemini_budget(model, Effort::Max)), (least, most));
        }
    }

    #[test]
    fn models_that_think_unasked_are_known_by_their_generation() {
        for model in ["claude-sonnet-5-5", "claude-opus-5", "claude-mythos-5-1", "anthropic/claude-haiku-6"] {
            assert!(thinks_unasked(model), "{model}");
        }
        for model in
            ["claude-sonnet-4-6", "claude-opus-4-5-20251101", "claude-3-7-sonnet-20250219", "a-model", "claude"]
        {
            assert!(!thinks_unasked(model), "{model}");
        }
    }
}
