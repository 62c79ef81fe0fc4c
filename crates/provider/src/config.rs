//! The providers that are known without configuration, and how one is configured.
//!
//! The environment is not read here; [`BuiltinProvider`] only says which variables a provider's users expect.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use agent::model::Patience;
use serde::{Deserialize, Serialize};

use crate::secret::Secret;

/// A provider with everything resolved: where it is, what it speaks, which key it wants.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// The part of a model's name before the first `/`.
    pub name: String,
    /// What it speaks.
    pub wire: Wire,
    /// Where it is, without the path of the endpoint: `https://api.anthropic.com`, `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Its key.
    pub key: Option<Secret>,
    /// Whether asking without a key is pointless, so that it is refused before anything is sent.
    pub needs_key: bool,
    /// The variable that a person would set, for error texts.
    pub key_env: Option<String>,
    /// Further headers of every request. Their values are treated like keys.
    pub headers: Vec<(String, Secret)>,
    /// The organisation that requests are counted for, sent as a header.
    pub organization: Option<String>,
    /// The project that requests are counted for, sent as a header.
    pub project: Option<String>,
    /// How long it may stay silent.
    pub timeouts: Timeouts,
    /// How long a request that fails is tried again.
    pub patience: Patience,
    /// How many requests to all its models run at once, at most; none for the usual number for each model.
    pub concurrency: Option<usize>,
    /// What is said to its models besides, where nothing else is said for one of them.
    pub settings: ModelSettings,
    /// The proxy that its requests go through; none for the one that the environment names.
    pub proxy: Option<String>,
    /// A file of certificates in PEM that are trusted besides those of the system.
    pub ca_file: Option<PathBuf>,
    /// Whether the key is sent as `Authorization: Bearer`, whatever is usual on the wire.
    pub bearer: bool,
}

/// What a person sets about how a model answers. Each wire has its own words for it; a server that refuses one is asked without it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelSettings {
    /// How much the model thinks.
    pub effort: Option<Effort>,
    /// How many tokens the model may think, for models that take a number.
    pub thinking_tokens: Option<u64>,
    /// How much chance there is in its answers.
    pub temperature: Option<f64>,
    /// Further fields of a request, as JSON.
    pub body: BTreeMap<String, serde_json::Value>,
    /// How long the provider keeps the prompts of agents that may wait for sub-agents, where it is told by marks what to keep.
    pub parent_cache: Option<CacheTime>,
}

impl ModelSettings {
    /// These settings, and `others` where these say nothing.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        let mut body = others.body.clone();
        body.extend(self.body.clone());
        Self {
            effort: self.effort.or(others.effort),
            thinking_tokens: self.thinking_tokens.or(others.thinking_tokens),
            temperature: self.temperature.or(others.temperature),
            body,
            parent_cache: self.parent_cache.or(others.parent_cache),
        }
    }
}

/// How long a provider keeps a prompt that is marked, from when it was last used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheTime {
    /// Five minutes.
    #[default]
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour, for which providers bill more when it is written.
    #[serde(rename = "1h")]
    OneHour,
}

impl CacheTime {
    /// Every time, by its name in the configuration.
    pub const NAMES: [&'static str; 2] = ["5m", "1h"];

    /// The mark behind the part of a prompt that is worth keeping so long, as a member of the block before it.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::FiveMinutes => r#","cache_control":{"type":"ephemeral"}"#,
            Self::OneHour => r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
        }
    }
}

/// How much a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// As much as most tasks need.
    Medium,
    /// Much.
    High,
    /// As much as it can.
    Max,
}

impl Effort {
    /// Every effort, by its name in the configuration.
    pub const NAMES: [&'static str; 5] = ["minimal", "low", "medium", "high", "max"];

    /// The effort of a name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Max].into_iter().find(|effort| effort.name() == name)
    }

    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }
}

/// How a provider is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI chat completions, as most local servers and gateways speak it.
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// Gemini `generateContent`.
    Gemini,
    /// Ollama's own API.
    Ollama,
}

impl Wire {
    /// Every wire.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Gemini, Self::Ollama];

    /// The names of all wires in the configuration.
    pub const NAMES: [&'static str; 5] = ["anthropic", "openai", "responses", "gemini", "ollama"];

    /// The name in the configuration, under which opaque blocks are kept in the log, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The provider whose models are known by the names that servers with this wire use.
    pub(crate) fn maker(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi | Self::Responses => "openai",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }
}

/// How long a provider may stay silent. There is no limit on a whole answer: deadlines belong to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// From sending the request until the answer's headers.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), first_byte: Duration::from_secs(120), idle: Duration::from_secs(120) }
    }
}

impl Timeouts {
    /// What is usual for a server at an address: one on this machine or in its own network may have to load a model, and reads a long
    /// prompt slowly.
    pub fn usual(base_url: &str) -> Self {
        let long = Duration::from_secs(600);
        let is_local = reqwest::Url::parse(base_url).is_ok_and(|url| is_local(&url));
        if is_local { Self { first_byte: long, idle: long, ..Self::default() } } else { Self::default() }
    }
}

/// Whether an address is on this machine or in a private network.
fn is_local(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        // A name without a dot is known in its own network alone.
        Err(_) => {
            !host.contains('.') || [".localhost", ".local", ".lan", ".internal"].iter().any(|end| host.ends_with(end))
        }
    }
}

/// A provider that is known without configuration.
#[derive(Debug)]
pub struct BuiltinProvider {
    /// Its name.
    pub name: &'static str,
    /// What it speaks.
    pub wire: Wire,
    /// Where it is.
    pub base_url: &'static str,
    /// The variable with its key.
    pub key_env: Option<&'static str>,
    /// Another variable that its users keep the key in, looked at after `key_env`.
    pub other_key_env: Option<&'static str>,
    /// The variable with a token that is sent as `Authorization: Bearer`, looked at after the keys.
    pub token_env: Option<&'static str>,
    /// The variables with the organisation and the project that requests are counted for.
    pub account_envs: Option<[&'static str; 2]>,
    /// The variable with another address for it.
    pub base_url_env: &'static str,
    /// Whether it needs a key.
    pub needs_key: bool,
}

/// The providers that are known without configuration, in the order in which their keys are looked for.
pub fn builtin_providers() -> &'static [BuiltinProvider] {
    &[
        BuiltinProvider {
            name: "anthropic",
            wire: Wire::Anthropic,
            base_url: "https://api.anthropic.com",
            key_env: Some("ANTHROPIC_API_KEY"),
            other_key_env: None,
            token_env: Some("ANTHROPIC_AUTH_TOKEN"),
            account_envs: None,
            base_url_env: "ANTHROPIC_BASE_URL",
            needs_key: true,
        },
        BuiltinProvider {
            name: "openai",
            wire: Wire::OpenAi,
            base_url: "https://api.openai.com/v1",
            key_env: Some("OPENAI_API_KEY"),
            other_key_env: None,
            token_env: None,
            account_envs: Some(["OPENAI_ORG_ID", "OPENAI_PROJECT_ID"]),
            base_url_env: "OPENAI_BASE_URL",
            needs_key: true,
        },
        BuiltinProvider {
            name: "gemini",
            wire: Wire::Gemini,
            base_url: "https://generativelanguage.googleapis.com",
            key_env: Some("GEMINI_API_KEY"),
            other_key_env: Some("GOOGLE_API_KEY"),
            token_env: None,
            account_envs: None,
            base_url_env: "GOOGLE_GEMINI_BASE_URL",
            needs_key: true,
        },
        BuiltinProvider {
            name: "ollama",
            wire: Wire::Ollama,
            base_url: "http://127.0.0.1:11434/v1",
            key_env: None,
            other_key_env: None,
            token_env: None,
            account_envs: None,
            base_url_env: OLLAMA_HOST,
            needs_key: false,
        },
    ]
}

const OLLAMA_HOST: &str = "OLLAMA_HOST";

impl BuiltinProvider {
    /// The provider at its own address.
    pub fn config(&self, key: Option<Secret>) -> ProviderConfig {
        ProviderConfig {
            name: self.name.to_owned(),
            wire: self.wire,
            base_url: self.base_url.to_owned(),
            key,
            needs_key: self.needs_key,
            key_env: self.key_env.map(str::to_owned),
            headers: Vec::new(),
            organization: None,
            project: None,
            timeouts: Timeouts::usual(self.base_url),
            patience: Patience::default(),
            concurrency: None,
            settings: ModelSettings::default(),
            proxy: None,
            ca_file: None,
            bearer: false,
        }
    }

    /// The provider at the address that `base_url_env` held. A server at an address that the user chose may need no key.
    pub fn config_at(&self, address: &str, key: Option<Secret>) -> ProviderConfig {
        let address = address.trim();
        let base_url = if self.base_url_env == OLLAMA_HOST { ollama_url(address) } else { address.to_owned() };
        ProviderConfig { timeouts: Timeouts::usual(&base_url), base_url, needs_key: false, ..self.config(key) }
    }
}

/// `OLLAMA_HOST` is written for the server as much as for its clients: scheme, port and path may be missing, and the
/// address may be the one that means "all interfaces".
fn ollama_url(host: &str) -> String {
    let (scheme, rest) = match host.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => ("http", host),
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let authority = match authority.strip_prefix("0.0.0.0").or_else(|| authority.strip_prefix("[::]")) {
        Some(port) => format!("127.0.0.1{port}"),
        None if authority.is_empty() => "127.0.0.1".to_owned(),
        None if authority.starts_with(':') => format!("127.0.0.1{authority}"),
        None => authority.to_owned(),
    };
    let after_brackets = authority.rsplit(']').next().unwrap_or_default();
    let port = if after_brackets.contains(':') || scheme == "https" { "" } else { ":11434" };
    let path = if path.is_empty() { "v1" } else { path.trim_end_matches('/') };
    format!("{scheme}://{authority}{port}/{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_is_read_in_every_form_that_ollama_itself_accepts() {
        for (host, url) in [
            ("", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
            (":8080", "http://127.0.0.1:8080/v1"),
            ("[::]:8080", "http://127.0.0.1:8080/v1"),
            ("[fe80::1]", "http://[fe80::1]:11434/v1"),
            ("gpu.lan", "http://gpu.lan:11434/v1"),
            ("https://gpu.example", "https://gpu.example/v1"),
            ("http://gpu.lan:1/v1/", "http://gpu.lan:1/v1"),
        ] {
            assert_eq!(ollama_url(host), url, "OLLAMA_HOST={host}");
        }
    }

    #[test]
    fn a_server_on_this_machine_or_in_its_network_has_ten_minutes_for_its_first_byte() {
        let first_byte = |url: &str| Timeouts::usual(url).first_byte.as_secs();
        for url in [
            "http://127.0.0.1:11434/v1",
            "http://[::1]:1",
            "http://gpu:8000/v1",
            "http://10.0.0.7/v1",
            "http://box.lan",
        ] {
            assert_eq!(first_byte(url), 600, "{url}");
        }
        for url in ["https://api.openai.com/v1", "http://8.8.8.8/v1", "https://llm.example.com", "nonsense"] {
            assert_eq!(first_byte(url), 120, "{url}");
        }
    }

    #[test]
    fn a_configured_address_needs_no_key() {
        let anthropic = &builtin_providers()[0];
        assert!(anthropic.config(None).needs_key);
        let config = anthropic.config_at("http://127.0.0.1:9", None);
        assert!(!config.needs_key);
        assert_eq!(config.base_url, "http://127.0.0.1:9");
    }

    #[test]
    fn a_printed_configuration_shows_no_key() {
        // T61
        let mut config = builtin_providers()[1].config(Some(Secret::new("sk-canary-1")));
        config.headers.push(("x-team".into(), Secret::new("canary-2")));
        let shown = format!("{config:?}");
        assert!(!shown.contains("canary"), "{shown}");
    }
}
