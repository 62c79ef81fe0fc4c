//! Output: the result to stdout, everything else to stderr. A closed pipe is no error.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use anyhow::Context;
use tracing_subscriber::EnvFilter;
use view::draw::{Line, Span, Style, columns};
use view::{markdown, safe};

use crate::screen::Diagnostics;

pub use crate::screen::note;

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
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,rmcp=off"));
    let is_asked = std::env::var_os("RUST_LOG").is_some();
    let format = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Diagnostics).with_ansi(false);
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
        /// Whether it is yet to be emptied. A device or a pipe has nothing to be emptied of.
        to_empty: bool,
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
                let found = file.metadata().with_context(|| format!("cannot look at {}", path.display()))?;
                Ok(Self::File { file, to_empty: found.is_file() })
            }
        }
    }

    /// Whether it is written to the terminal that stderr is written to.
    pub fn is_on_the_terminal_of_stderr(&self) -> bool {
        let device = |stream: BorrowedFd<'_>| rustix::fs::fstat(stream).map(|found| found.st_rdev).ok();
        let (stdout, stderr) = (io::stdout(), io::stderr());
        matches!(self, Self::Stdout)
            && stdout.is_terminal()
            && stderr.is_terminal()
            && device(stdout.as_fd()) == device(stderr.as_fd())
    }

    /// Writes a model's words. As they are, but to a terminal as it can show them: laid out, or, where it is to be plain, without
    /// what would move its cursor (T24).
    pub fn words(&mut self, text: &str, plain: bool) -> anyhow::Result<bool> {
        let stdout = io::stdout();
        match self {
            Self::Stdout if has_colours(plain, &stdout) => {
                let lines = markdown::render(text, width(&stdout));
                let lines: Vec<String> = lines.iter().map(Line::ansi).collect();
                self.line(&lines.join("\n"))
            }
            Self::Stdout if stdout.is_terminal() => self.line(&safe::answer(text)),
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
            Self::File { file, to_empty } => {
                let emptied = if std::mem::take(to_empty) { file.set_len(0) } else { Ok(()) };
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

/// Whether a stream goes to a terminal that may be drawn on with colours and in place.
pub fn has_colours(plain: bool, stream: &impl IsTerminal) -> bool {
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    is_fancy(plain, stream) && !is_unwanted
}

/// A line of a list whose text is long: at a terminal it goes on below itself, elsewhere it is one line.
pub fn hanging(lead: &str, text: &str) -> String {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return format!("{lead}{text}");
    }
    let columns = width(&stdout);
    let indent = match columns::width(lead) {
        lead if lead * 2 > columns => 4,
        lead => lead,
    };
    let span = Span { text: text.to_owned(), style: Style::PLAIN };
    let lines: Vec<String> =
        markdown::wrap(&[span], columns.saturating_sub(indent).max(8)).iter().map(Line::text).collect();
    format!("{lead}{}", lines.join(&format!("\n{}", " ".repeat(indent))))
}
