//! The sandbox of one command, as plain data. What a guard is told to build is [ordered](super::ordered) from it.

use std::path::{Path, PathBuf};

/// The sandbox of one command. All paths are real ones that existed when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// How the sandbox is built.
    pub made_of: MadeOf,
    /// The folder that the command works in.
    pub workspace: PathBuf,
    /// What of it the command may change.
    pub access: Access,
    /// Folders in it that stay where they are, those above before those below.
    pub pinned: Vec<PathBuf>,
    /// What may not be read.
    pub hidden: Vec<PathBuf>,
    /// What may be read but not written, inside the workspace.
    pub kept: Vec<Kept>,
    /// Whether the network is there.
    pub network: Network,
    /// A folder of its own that stays between runs; none for a command.
    pub cache: Option<Cache>,
}

/// A folder that a program may write besides the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    /// Where it is.
    pub folder: PathBuf,
    /// Where the program finds it: the places at which programs keep what they can fetch again.
    pub shown_at: Vec<PathBuf>,
}

/// How a sandbox is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MadeOf {
    /// Namespaces, built by bubblewrap.
    Bubblewrap(PathBuf),
    /// Landlock and a filter of system calls, put up by the process itself.
    Landlock,
}

/// What a command may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing but its own scratch folder: neither content nor names nor permissions, times or attributes of any file.
    ReadOnly,
    /// The workspace.
    Workspace,
}

/// Something in the workspace that stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is there, and stays so.
    AsItIs(PathBuf),
    /// It is not there, and no folder of that name can be filled.
    Absent(PathBuf),
}

/// Whether a command has a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
