//! Why there is no configuration. Each message names the place, the key and what is expected there.

use std::path::PathBuf;

use super::origin::Origin;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value is not what its key expects.
    #[error("{origin}: {key} expects {expected}{}", .found.as_deref().map(|found| format!(", not {found}")).unwrap_or_default())]
    Value {
        /// Who set it.
        origin: Origin,
        /// The key.
        key: String,
        /// What is expected.
        expected: String,
        /// What was found; none where showing it could show a secret.
        found: Option<String>,
    },
    /// A preset holds a key that it cannot hold.
    #[error("preset {preset}: {key} is no part of a preset{hint}")]
    PresetKey {
        /// The preset.
        preset: String,
        /// The key.
        key: String,
        /// What was probably meant, as a clause.
        hint: String,
    },
    /// There is no such key.
    #[error("there is no key {key}{hint}")]
    UnknownKey {
        /// The key.
        key: String,
        /// What was probably meant, as a clause.
        hint: String,
    },
    /// A text is no TOML.
    #[error("{origin}: {message}")]
    Syntax {
        /// Where.
        origin: Origin,
        /// What the parser says, without the text itself.
        message: String,
    },
    /// A file is there and cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of ours cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder cannot be trusted, for nobody could have seen all of it.
    #[error("{} cannot be trusted: {reason}", .path.display())]
    Untrustable {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// What holds for the installation cannot be written.
    #[error("{location}: {source}")]
    Store {
        /// Where the store is.
        location: Box<store::Location>,
        /// Why.
        source: store::Error,
    },
    /// There is no place for state.
    #[error("no folder for state: set HOME, MAJORDOMO_DATA or --data")]
    NoDataFolder,
    /// There is no model to speak with.
    #[error(
        "no model is configured: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, point OPENAI_BASE_URL at a server, \
         name a local model with -m ollama/MODEL, or take the tour with -m scripted/FILE"
    )]
    NoModel,
}
