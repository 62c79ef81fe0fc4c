//! Where a value comes from, and what is said about one that is not taken.

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A preset set it.
    Preset(String),
    /// An agent's file asks for it.
    Agent(String),
    /// A file set it, in this line.
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// A folder as a whole.
    Folder(PathBuf),
    /// An environment variable set it, or led to it.
    Variable(String),
    /// A flag on the command line set it.
    Flag(&'static str),
    /// A command of the program was to write it.
    Command(&'static str),
    /// The program that embeds the library set it, by this call of the builder.
    Builder(&'static str),
}

/// Something that did not stop the configuration from loading and that a person should see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub origin: Origin,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::Agent(name) => write!(f, "agent {name}"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Folder(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "env {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Command(name) => f.write_str(name),
            Self::Builder(call) => write!(f, "builder call {call}"),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}
