//! Output: the result to stdout, everything else to stderr. A closed pipe is no error.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

/// A line for a person.
pub fn note(line: &str) {
    // A closed stderr cannot be reported anywhere.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The moment, for what is shown with it.
pub fn now() -> agent::Time {
    runtime::Clock::default().now()
}

/// Says what consent for ever is kept as, and how it is taken back.
pub fn tell_consent(question: &agent::approval::Approval) {
    if let Some(consent) = majordomo::decide::standing_consent(question) {
        let id = &consent.id;
        note(&format!("kept as standing consent {id}; take it back with: majordomo approve rules rm {id}"));
    }
}

/// The diagnostics of the process, chosen with RUST_LOG; warnings are always shown.
pub fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let is_asked = std::env::var_os("RUST_LOG").is_some();
    let format = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false);
    if is_asked { format.init() } else { format.without_time().with_target(false).init() }
}

/// Where the result goes.
pub enum Result {
    /// To stdout.
    Stdout,
    /// Into a file. What it held before stays there until the first line is written.
    File {
        /// The file.
        file: File,
        /// Whether a line was written.
        begun: bool,
    },
}

impl Result {
    /// Opens the file before the work begins, so that a wrong path is found at once.
    pub fn open(file: Option<&Path>) -> anyhow::Result<Self> {
        match file {
            None => Ok(Self::Stdout),
            Some(path) => {
                let opened = File::options().write(true).create(true).truncate(false).open(path);
                let file = opened.with_context(|| format!("cannot write {}", path.display()))?;
                Ok(Self::File { file, begun: false })
            }
        }
    }

    /// Writes a model's words: as they are, but to a terminal without what would move its cursor (T24).
    pub fn words(&mut self, text: &str) -> anyhow::Result<bool> {
        match self {
            Self::Stdout if io::stdout().is_terminal() => self.line(&without_controls(text)),
            Self::Stdout | Self::File { .. } => self.line(text),
        }
    }

    /// Writes a line; whether anybody still reads.
    pub fn line(&mut self, line: &str) -> anyhow::Result<bool> {
        let written = match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                writeln!(stdout, "{line}").and_then(|()| stdout.flush())
            }
            Self::File { file, begun } => {
                let emptied = if std::mem::replace(begun, true) { Ok(()) } else { file.set_len(0) };
                emptied.and_then(|()| writeln!(file, "{line}"))
            }
        };
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(error).context("cannot write the result"),
        }
    }
}

/// Controls shown as escapes; lines, tabs and blanks stay, for an answer may hold code.
fn without_controls(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Columns of the terminal that a stream goes to; 100 where it goes elsewhere.
pub fn width(stream: &impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(100)
}

/// Whether signs beyond ASCII may be drawn on a stream.
pub fn is_fancy(plain: bool, stream: &impl IsTerminal) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    !plain && !dumb && std::env::var_os("MAJORDOMO_PLAIN").is_none() && stream.is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    // T24
    #[test]
    fn an_answer_does_not_move_the_cursor_and_keeps_its_shape() {
        let code = format!("fn main() {{\n{}\tend\n}}", " ".repeat(40));
        assert_eq!(without_controls(&code), code);
        assert_eq!(without_controls("ok\u{1b}[2J\rno\u{9b}"), "ok\\u{1b}[2J\\u{d}no\\u{9b}");
    }
}
