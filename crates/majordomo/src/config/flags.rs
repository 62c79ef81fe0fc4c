//! Configuration from the command line, as the program has parsed it.

use toml::Value;

use super::error::Error;
use super::key::Key;
use super::kind;
use super::layer::{self, Setting};
use super::origin::Origin;

/// What was said on the command line. A flag of its own wins over `--set`; of several `--set`, the last wins.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `-m`, `--model`.
    pub model: Option<String>,
    /// `-a`, `--agent`.
    pub agent: Option<String>,
    /// `--mode`.
    pub mode: Option<String>,
    /// `--preset`.
    pub preset: Option<String>,
    /// `--dialect`.
    pub dialect: Option<String>,
    /// `--data`.
    pub data: Option<String>,
    /// `--store`: the address of a database.
    pub store: Option<String>,
    /// `--demo`: the sample household, and its butler without a language model.
    pub demo: bool,
    /// `--max-tool-calls`, of the root.
    pub max_tool_calls: Option<String>,
    /// `--max-requests`, of the whole run.
    pub max_requests: Option<String>,
    /// `--max-tokens`, of the root.
    pub max_tokens: Option<String>,
    /// `--max-cost`, of the root, in dollars.
    pub max_cost: Option<String>,
    /// `--timeout`, of the root, in seconds.
    pub timeout: Option<String>,
    /// `--max-depth`.
    pub max_depth: Option<String>,
    /// `--max-children`.
    pub max_children: Option<String>,
    /// `--max-concurrent`.
    pub max_concurrent: Option<String>,
    /// `--set key=value`, in order.
    pub set: Vec<String>,
}

impl Flags {
    /// The settings, a later one above an earlier one.
    pub(crate) fn settings(&self) -> Result<Vec<Setting>, Error> {
        let mut settings = Vec::new();
        for text in &self.set {
            settings.extend(set(text)?);
        }
        let own = [
            (&self.model, "--model", "model"),
            (&self.agent, "--agent", "agent"),
            (&self.mode, "--mode", "mode"),
            (&self.preset, "--preset", "preset"),
            (&self.dialect, "--dialect", "dialect"),
            (&self.data, "--data", "data"),
            (&self.store, "--store", "store.url"),
            (&self.max_tool_calls, "--max-tool-calls", "grant.tool_calls"),
            (&self.max_requests, "--max-requests", "grant.requests"),
            (&self.max_tokens, "--max-tokens", "grant.tokens"),
            (&self.max_cost, "--max-cost", "grant.cost"),
            (&self.timeout, "--timeout", "grant.timeout_s"),
            (&self.max_depth, "--max-depth", "policy.max_depth"),
            (&self.max_children, "--max-children", "policy.max_children"),
            (&self.max_concurrent, "--max-concurrent", "policy.max_concurrent"),
        ];
        for (text, flag, key) in own {
            if let Some(text) = text {
                let key = Key::dotted(key);
                let value = key.kind().expect("flags stand for known keys").read(text);
                settings.push(Setting { key, value, origin: Origin::Flag(flag) });
            }
        }
        Ok(settings)
    }
}

/// `key=value`: any key, with a TOML value or a bare string.
fn set(text: &str) -> Result<Vec<Setting>, Error> {
    let origin = Origin::Flag("--set");
    let Some((key, value)) = split(text).filter(|(key, _)| key_of(key).is_some()) else {
        let message = "write it as key=value, such as policy.max_depth=3".to_owned();
        return Err(Error::Syntax { origin, message });
    };
    setting(key, value, &origin)
}

/// Any key, with a TOML value or a bare string.
pub(crate) fn setting(key: &str, value: &str, origin: &Origin) -> Result<Vec<Setting>, Error> {
    let Some(key) = key_of(key) else {
        let message =
            format!("'{key}' is no key; write it as policy.max_depth or models.\"ollama/qwen3\".context_tokens");
        return Err(Error::Syntax { origin: origin.clone(), message });
    };
    let value = match key.kind() {
        Some(kind) => kind.read(value),
        None => kind::parse(value).unwrap_or_else(|| Value::String(value.to_owned())),
    };
    Ok(layer::of_value(key, value, origin))
}

/// At the first equals sign that is not part of a quoted name.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let at = text.find(|c| {
        quoted ^= c == '"';
        c == '=' && !quoted
    })?;
    Some((text[..at].trim(), text[at + 1..].trim()))
}

/// The key as TOML reads it, so that a name with dots can be quoted.
pub(super) fn key_of(text: &str) -> Option<Key> {
    let mut table: toml::Table = format!("{text} = 0").parse().ok()?;
    let mut parts = Vec::new();
    loop {
        let (name, below) = (table.len() == 1).then(|| table.into_iter().next())??;
        parts.push(name);
        match below {
            Value::Table(inner) => table = inner,
            _ => return Some(Key::new(parts)),
        }
    }
}
