//! What a guard is told of the sandbox of one command: plain data, handed over as one argument.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The sandbox of one command. All paths are real ones that existed when it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// How the sandbox is built.
    pub made_of: MadeOf,
    /// The folder that the command works in.
    pub workspace: PathBuf,
    /// What of it the command may change.
    pub access: Access,
    /// Folders in it that stay where they are, those above before those below.
    #[serde(default)]
    pub pinned: Vec<PathBuf>,
    /// What may not be read.
    pub hidden: Vec<PathBuf>,
    /// What may be read but not written, inside the workspace.
    pub kept: Vec<Kept>,
    /// Whether the network is there.
    pub network: Network,
}

/// How a sandbox is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MadeOf {
    /// Namespaces, built by bubblewrap.
    Bubblewrap(PathBuf),
    /// Landlock and a filter of system calls, put up by the process itself.
    Landlock,
}

/// What a command may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Access {
    /// Nothing but its own scratch folder: neither content nor names nor permissions, times or attributes of any file.
    ReadOnly,
    /// The workspace.
    Workspace,
}

/// Something in the workspace that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// It is there, and stays so.
    AsItIs(PathBuf),
    /// It is not there, and no folder of that name can be filled.
    Absent(PathBuf),
}

/// Whether a command has a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Network {
    /// None at all.
    #[default]
    Off,
    /// That of the machine.
    On,
}

impl Kept {
    /// Where it is, or would be.
    pub fn path(&self) -> &Path {
        match self {
            Self::AsItIs(path) | Self::Absent(path) => path,
        }
    }
}

impl Plan {
    /// As a guard's argument; none if a path is no text.
    pub fn to_argument(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// From a guard's argument.
    pub fn from_argument(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}
