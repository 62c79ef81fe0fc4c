//! What can be wrong before a model is asked: names, keys, addresses, scripts. What goes wrong while it is asked is a
//! `CallError` of the agent crate.

use std::path::PathBuf;

/// Why a backend could not be set up. Every text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name has no provider or no model in it.
    #[error("`{0}` is no model name: write provider/model, such as anthropic/claude-sonnet-5-5 or ollama/llama3:8b")]
    ModelName(String),
    /// That provider is not configured.
    #[error("there is no provider `{name}`; known are {known}")]
    UnknownProvider {
        /// The name that was asked for.
        name: String,
        /// The names that would have worked, separated by commas.
        known: String,
    },
    /// The provider needs a key and has none.
    #[error("{provider} needs a key: {cure}")]
    NoKey {
        /// The provider.
        provider: String,
        /// What to do, such as which variable to set.
        cure: String,
    },
    /// A provider's configuration cannot be used.
    #[error("provider `{provider}`: {reason}")]
    Provider {
        /// The provider.
        provider: String,
        /// What is wrong with it. Never holds a key.
        reason: String,
    },
    /// A field of requests was set that the program writes itself.
    #[error("{key} cannot be set: {cure}")]
    OwnField {
        /// The key in the configuration.
        key: String,
        /// What to do instead.
        cure: &'static str,
    },
    /// The HTTP client could not be built.
    #[error("no HTTPS client for provider `{provider}`; are CA certificates installed?")]
    Client {
        /// The provider.
        provider: String,
        /// What the client said.
        source: reqwest::Error,
    },
    /// A script file could not be read.
    #[error("cannot read script {}", path.display())]
    ScriptFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A script is not written as scripts are.
    #[error("script {name} is not valid: {source}")]
    Script {
        /// The file, or the name that was given to the text.
        name: String,
        /// What the parser said, with line and column.
        source: Box<toml::de::Error>,
    },
    /// A model table is not written as model tables are.
    #[error("the model table is not valid: {0}")]
    ModelTable(#[source] Box<toml::de::Error>),
}
