//! Draws a run while it goes on and when it is over: progress and tree to stderr, the result to stdout.

use std::sync::Arc;

use agent::{Report, ThreadId, Time};
use jiff::tz::TimeZone;
use serde_json::json;
use store::Record;
use view::draw::{self, DrawOptions, Marks};
use view::{Body, Dialect, Frames, Lines, Tree, exit_code, safe};

use crate::arguments::Output;
use crate::consent::Asking;
use crate::error::Failure;
use crate::out;
use crate::person::AtTerminal;
use crate::question::how_to_decide;
use majordomo::follow::logged;

/// The longest sentence about the end of a run.
const WORDS: usize = 1000;

/// How a run will be shown. Wrong names and places are found here, before any work begins.
pub struct Prepared {
    output: Output,
    dialect: Dialect,
    result: out::Result,
}

impl Prepared {
    /// Looks at what was asked for.
    pub fn new(output: Output, default_dialect: &str) -> Result<Self, Failure> {
        let name = output.dialect.as_deref().unwrap_or(default_dialect);
        let dialect = Dialect::named(name).ok_or_else(|| {
            Failure::usage(format!("there is no dialect '{name}'; the dialects are: {}", Dialect::NAMES.join(", ")))
        })?;
        let result =
            out::Result::open(output.output.as_deref()).map_err(|error| Failure::usage(format!("{error:#}")))?;
        Ok(Self { output, dialect, result })
    }
}

/// What is shown of one root.
pub struct Show {
    root: ThreadId,
    output: Output,
    result: out::Result,
    lines: Lines,
    frames: Frames,
    progress: draw::Progress,
    tree: Tree,
    reader_is_there: bool,
    /// Whom agents may ask at the same terminal.
    person: Option<Arc<AtTerminal>>,
    /// Whether those who watch are told how to decide from elsewhere.
    tells_how: bool,
    /// Lines that wait until no question stands there.
    held: Vec<String>,
}

impl Show {
    /// Shows a root from its beginning.
    pub fn new(root: ThreadId, prepared: Prepared, asking: &Asking) -> Self {
        let Prepared { output, dialect, result } = prepared;
        Self {
            lines: Lines::new(root.clone(), dialect, 0),
            frames: Frames::new(root.clone()),
            progress: draw::Progress::new(TimeZone::system()),
            tree: Tree::new(),
            root,
            output,
            result,
            reader_is_there: true,
            person: asking.person().cloned(),
            tells_how: matches!(asking, Asking::Elsewhere),
            held: Vec::new(),
        }
    }

    /// Takes in what was written before this command began, without a word.
    pub fn catch_up(&mut self, records: &[Record]) {
        for record in records {
            let logged = logged(record);
            self.tree.push(&logged);
            for frame in self.frames.push(&logged) {
                // The names of those who are there are learnt from what they did.
                let _ = self.progress.line(&frame);
            }
            self.lines.push(&logged);
        }
    }

    /// Shows what was written.
    pub fn push(&mut self, records: &[Record]) -> anyhow::Result<()> {
        let (draws, jsonl) = (self.draws(), self.output.jsonl);
        for record in records {
            let logged = logged(record);
            if draws || self.output.json {
                self.tree.push(&logged);
            }
            if jsonl {
                for line in self.lines.push(&logged) {
                    self.print(&line.text)?;
                }
            }
            if !draws {
                continue;
            }
            for frame in self.frames.push(&logged) {
                self.held.extend(self.progress.line(&frame));
                if let Body::ValidationRequired { validation_id, kind, .. } = &frame.body
                    && self.tells_how
                {
                    self.held.push(how_to_decide(validation_id, *kind));
                }
            }
        }
        if !self.person.as_ref().is_some_and(|person| person.is_asked()) {
            self.say_held();
        }
        Ok(())
    }

    /// Whether progress and the tree are shown.
    fn draws(&self) -> bool {
        !self.output.quiet && !self.output.jsonl
    }

    /// Prints a line of the result.
    pub fn print(&mut self, line: &str) -> anyhow::Result<()> {
        if self.reader_is_there {
            self.reader_is_there = self.result.line(line)?;
        }
        Ok(())
    }

    /// Whether words are wanted while they come.
    pub fn wants_deltas(&self) -> bool {
        self.output.deltas
    }

    /// Draws the tree and prints the result; the exit code.
    pub fn finish(mut self, report: &Report, now: Time) -> anyhow::Result<u8> {
        self.say_held();
        let code = exit_code(report);
        if self.draws() {
            out::note("");
            for line in self.tree_lines(now) {
                out::note(&line);
            }
            out::note(&format!("thread {}", self.root));
        }
        if self.output.json {
            let object = self.object(report, code);
            self.print(&object)?;
        } else if !self.output.jsonl && !report.text.is_empty() {
            self.result.words(&report.text)?;
        }
        for rule in &report.unanswered {
            out::note(&format!("needed approval, and nobody could give it: {}", safe::line(rule, WORDS)));
        }
        for left in &report.unfinished {
            out::note(&format!("unfinished: {}", safe::line(left, WORDS)));
        }
        if let Some(reason) = &report.reason {
            out::note(&format!("{}: {}", report.outcome, safe::line(reason, WORDS)));
        }
        Ok(code)
    }

    fn say_held(&mut self) {
        if !self.held.is_empty() {
            out::note(&self.held.join("\n"));
            self.held.clear();
        }
    }

    fn tree_lines(&self, now: Time) -> Vec<String> {
        let stderr = std::io::stderr();
        let marks = if out::is_fancy(self.output.plain, &stderr) { Marks::Unicode } else { Marks::Ascii };
        draw::tree(&self.tree.roots(), &DrawOptions { now, width: out::width(&stderr), marks })
    }

    fn object(&self, report: &Report, code: u8) -> String {
        let node = self.tree.roots().into_iter().find(|node| node.id == self.root);
        json!({
            "id": self.root,
            "thread": self.root,
            "outcome": report.outcome,
            "answer": report.text,
            "data": report.data,
            "reason": report.reason,
            "cause": report.cause,
            "exit_code": code,
            "duration_ms": report.duration_ms,
            "usage": { "self": report.usage, "tree": report.tree },
            "files_modified": report.files_modified,
            "unanswered": report.unanswered,
            "unfinished": report.unfinished,
            "tree": node,
        })
        .to_string()
    }
}
