//! Failures before or beside a run: a message, a hint, an exit code. A run that fails says so in its report.

use std::process::ExitCode;

use majordomo::staff;
use serde_json::json;

use crate::out;

/// A command that failed.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: u8,
}

/// The command line is wrong.
const USAGE: u8 = 2;
/// The configuration or an agent file is invalid.
pub const CONFIGURATION: u8 = 3;
/// There is no provider, key or network.
pub const PROVIDER: u8 = 4;

/// Something was refused: by a person, a rule or a hook.
const REFUSED: u8 = 5;

impl Failure {
    /// The command line is wrong in a way that the parser cannot see.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: USAGE }
    }

    /// What was asked for cannot be done.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// What another process of ours failed with.
    pub fn with_code(message: impl Into<String>, code: u8) -> Self {
        Self { message: message.into(), code }
    }

    /// Whether the command was not understood.
    pub fn is_usage(&self) -> bool {
        self.code == USAGE
    }

    /// The same for a program that reads the result of a run, as an object or as the last line of events.
    pub fn object(&self, is_event: bool) -> String {
        let (code, reason) = (self.code, &self.message);
        match is_event {
            true => json!({ "type": "error", "exit_code": code, "reason": reason }),
            false => json!({ "outcome": "error", "exit_code": code, "reason": reason }),
        }
        .to_string()
    }

    /// Says it on stderr.
    pub fn tell(&self) -> ExitCode {
        out::note(&format!("error: {}", self.message));
        ExitCode::from(self.code)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<majordomo::config::Error> for Failure {
    fn from(error: majordomo::config::Error) -> Self {
        let code = match error {
            majordomo::config::Error::NoModel => PROVIDER,
            majordomo::config::Error::UnknownKey { .. } => USAGE,
            majordomo::config::Error::Store { ref location, ref source } => code_at(location, source),
            _ => CONFIGURATION,
        };
        Self { message: error.to_string(), code }
    }
}

impl From<majordomo::tasks::Error> for Failure {
    fn from(error: majordomo::tasks::Error) -> Self {
        match error {
            majordomo::tasks::Error::Refused(refusal) => refusal.into(),
            majordomo::tasks::Error::Store(error) => error.into(),
        }
    }
}

impl From<majordomo::tasks::board::Refusal> for Failure {
    fn from(refusal: majordomo::tasks::board::Refusal) -> Self {
        let code = if refusal.is_usage { USAGE } else { 1 };
        Self { message: refusal.message.to_string(), code }
    }
}

impl From<server::Error> for Failure {
    fn from(error: server::Error) -> Self {
        let code = if matches!(error, server::Error::Open(_)) { CONFIGURATION } else { 1 };
        Self { message: error.to_string(), code }
    }
}

impl From<staff::Error> for Failure {
    fn from(error: staff::Error) -> Self {
        let message = chain(&error);
        let code = match error {
            staff::Error::Config(error) => return error.into(),
            staff::Error::Runtime(runtime::Error::Store(error)) => return error.into(),
            staff::Error::Provider(_) | staff::Error::NoModel | staff::Error::Runtime(runtime::Error::Root(_)) => {
                PROVIDER
            }
            staff::Error::Agent(_) | staff::Error::Runtime(runtime::Error::Schema(_)) => CONFIGURATION,
            staff::Error::Household(_) | staff::Error::Tools(_) | staff::Error::Tool { .. } => CONFIGURATION,
            staff::Error::Setting(_) | staff::Error::Limit(_) | staff::Error::UnknownPrice(_) => CONFIGURATION,
            staff::Error::Begun(_) | staff::Error::NotBegun | staff::Error::File(_) => USAGE,
            staff::Error::Hook(_) => REFUSED,
            staff::Error::Store { ref location, ref source } => code_at(location, source),
            staff::Error::Runtime(_) | staff::Error::Dropped(_) => 1,
            staff::Error::Ended(_) | staff::Error::Answer { .. } | staff::Error::Closed => 1,
        };
        Self { message, code }
    }
}

impl From<runtime::Error> for Failure {
    fn from(error: runtime::Error) -> Self {
        staff::Error::from(error).into()
    }
}

impl From<majordomo::transfer::Error> for Failure {
    fn from(error: majordomo::transfer::Error) -> Self {
        use majordomo::transfer::Error;
        match error {
            Error::Store(error) => error.into(),
            Error::Line { .. } | Error::Exists(_) | Error::Message(_) => Self::usage(error.to_string()),
            Error::Nothing(_) => Self::failed(error.to_string()),
            Error::Files(_) => Self::failed(chain(&error)),
        }
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        let (code, hint) = match &error {
            store::Error::UnknownThread(_) | store::Error::Ambiguous { .. } => {
                (USAGE, ". `majordomo thread ls` lists them".to_owned())
            }
            store::Error::UnknownApproval(_) | store::Error::AmbiguousApproval { .. } => {
                (USAGE, ". `majordomo approve ls --all` lists them".to_owned())
            }
            store::Error::Owned { thread, .. } => {
                (1, format!(". `majordomo ps --watch` shows it, `majordomo stop {}` ends it", thread.root()))
            }
            other => (code_of(other), String::new()),
        };
        Self { message: format!("{}{hint}", chain(&error)), code }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::failed(format!("{error:#}"))
    }
}

/// The exit code of a store that cannot be used where it is.
fn code_at(location: &store::Location, error: &store::Error) -> u8 {
    match (location, error) {
        (store::Location::Postgres(_), store::Error::Newer { .. }) => CONFIGURATION,
        (_, error) => code_of(error),
    }
}

/// The exit code of a store that cannot be used: what a person must set right there is configuration, and a server that does not answer is
/// the network.
fn code_of(error: &store::Error) -> u8 {
    match error {
        store::Error::Address(_)
        | store::Error::NoDatabase(_)
        | store::Error::Forbidden(_)
        | store::Error::Uninitialized
        | store::Error::Outgrown { .. }
        | store::Error::OldServer { .. } => CONFIGURATION,
        error if error.is_of_server() => PROVIDER,
        _ => 1,
    }
}

/// An error and what lies beneath it, in one line; what an upper one has said is not said again.
fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let words = error.to_string();
        if !message.contains(&words) {
            message = format!("{message}: {words}");
        }
        source = error.source();
    }
    message
}
