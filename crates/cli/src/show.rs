//! Draws a run while it goes on and when it is over: progress and tree to stderr, the result to stdout.
//!
//! At a terminal the tree of agents is drawn in place (`live`); elsewhere each change is a line.

mod live;

use std::sync::Arc;
use std::time::Instant;

use agent::{Report, ThreadId, Time};
use runtime::Clock;
use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;
use store::Record;
use view::draw::{self, DrawOptions, Line, Marks, Style};
use view::{Body, Dialect, Frames, Lines, Notice, Streamed, exit_code, exit_reason, safe};

use crate::arguments::Output;
use crate::consent::Asking;
use crate::error::Failure;
use crate::out;
use crate::person::AtTerminal;
use crate::question::how_to_decide;
use crate::screen;
use majordomo::follow::logged;

use live::LiveRun;

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
    way: Way,
    frames: Frames,
    progress: draw::Progress,
    reader_is_there: bool,
    /// Whom agents may ask at the same terminal.
    person: Option<Arc<AtTerminal>>,
    /// Whether those who watch are told how to decide from elsewhere.
    tells_how: bool,
}

/// How a run is shown while it goes on.
enum Way {
    /// Not at all.
    Silent,
    /// Every event as a line of JSON, as part of the result.
    Json(Box<Lines>),
    /// A line for each change. They wait here until no question stands at the terminal.
    Plain(Vec<String>),
    /// Drawn in place.
    Live(Box<LiveRun>),
}

impl Show {
    /// Shows a root from its beginning.
    pub fn new(root: ThreadId, prepared: Prepared, asking: &Asking, clock: &Clock) -> Self {
        let Prepared { output, dialect, result } = prepared;
        let way = if output.jsonl {
            Way::Json(Box::new(Lines::new(root.clone(), dialect, 0)))
        } else if output.quiet {
            Way::Silent
        } else {
            let screen = if out::has_colours(output.plain, &std::io::stderr()) { screen::Live::begin() } else { None };
            let text_stays = !output.json && result.is_on_the_terminal_of_stderr();
            let live = |screen| LiveRun::new(root.clone(), screen, text_stays, clock.clone());
            screen.map_or_else(|| Way::Plain(Vec::new()), |screen| Way::Live(Box::new(live(screen))))
        };
        Self {
            frames: Frames::new(root.clone()),
            progress: draw::Progress::new(majordomo::zone::local()),
            root,
            output,
            result,
            way,
            reader_is_there: true,
            person: asking.person().cloned(),
            tells_how: matches!(asking, Asking::Elsewhere),
        }
    }

    /// Takes in what was written before this command began, without a word.
    pub fn catch_up(&mut self, records: &[Record]) {
        for record in records {
            let logged = logged(record);
            for frame in self.frames.push(&logged) {
                // The names of those who are there are learnt from what they did.
                let _ = self.progress.line(&frame);
            }
            if let Way::Json(lines) = &mut self.way {
                lines.push(&logged);
            }
        }
    }

    /// Shows what was written.
    pub fn push(&mut self, records: &[Record]) -> anyhow::Result<()> {
        for record in records {
            let logged = logged(record);
            let frames = if self.needs_frames() { self.frames.push(&logged) } else { Vec::new() };
            match &mut self.way {
                Way::Silent => {}
                Way::Json(lines) => {
                    for line in lines.push(&logged) {
                        self.print(&line.text)?;
                    }
                }
                Way::Plain(held) => {
                    for frame in frames {
                        held.extend(self.progress.line(&frame));
                        held.extend(hint(&frame, self.tells_how));
                    }
                }
                Way::Live(live) => {
                    live.push(record, self.frames.tree());
                    for frame in frames {
                        if live::stays(&frame, self.tells_how) {
                            self.progress.line(&frame).iter().for_each(|line| live.tell(line, Style::DIM));
                        } else {
                            self.progress.meet(&frame);
                        }
                        hint(&frame, self.tells_how).iter().for_each(|hint| live.tell(hint, Style::PLAIN));
                    }
                }
            }
        }
        if !self.person.as_ref().is_some_and(|person| person.is_asked()) {
            self.say_held();
        }
        if let Way::Live(live) = &mut self.way {
            live.draw_if_due(self.frames.tree());
        }
        Ok(())
    }

    /// Shows a sentence for the person, where a person watches.
    pub fn note(&mut self, sentence: String) {
        match &mut self.way {
            Way::Silent | Way::Json(_) => {}
            Way::Plain(held) => held.push(sentence),
            Way::Live(live) => live.tell(&sentence, Style::PLAIN),
        }
    }

    /// Whether the tree, which comes with the frames, is drawn or is part of the result.
    fn needs_frames(&self) -> bool {
        self.output.json || matches!(self.way, Way::Plain(_) | Way::Live(_))
    }

    /// Shows a piece of streamed text.
    pub fn hear(&mut self, piece: &Streamed) -> anyhow::Result<()> {
        match &mut self.way {
            Way::Json(_) => self.print(&piece.line())?,
            Way::Live(live) => {
                live.hear(piece);
                live.draw_if_due(self.frames.tree());
            }
            Way::Silent | Way::Plain(_) => {}
        }
        Ok(())
    }

    /// Prints what happened to tasks of the run, where every event is printed in our own format.
    pub fn push_tasks(&mut self, frames: &[serde_json::Value]) -> anyhow::Result<()> {
        frames.iter().try_for_each(|frame| self.print(&frame.to_string()))
    }

    /// Whether what happens to tasks is printed: the other formats have no words for it.
    pub fn wants_tasks(&self) -> bool {
        matches!(&self.way, Way::Json(lines) if lines.is_canonical())
    }

    /// Whether text is wanted while it is produced.
    pub fn wants_deltas(&self) -> bool {
        self.output.deltas || matches!(self.way, Way::Live(_))
    }

    /// When the terminal should be drawn again; none where nothing is drawn in place.
    pub fn due(&self) -> Option<Instant> {
        match &self.way {
            Way::Live(live) => Some(live.due()),
            Way::Silent | Way::Json(_) | Way::Plain(_) => None,
        }
    }

    /// Draws what is drawn in place.
    pub fn draw(&mut self) {
        if let Way::Live(live) = &mut self.way {
            live.draw(self.frames.tree());
        }
    }

    /// Stops the process, as its terminal asked it to, and returns when it goes on. The terminal is left as it was.
    pub fn stop(&mut self) {
        let pause = screen::pause();
        // What cannot be stopped goes on.
        let _ = kill_process(getpid(), Signal::STOP);
        drop(pause);
        self.draw();
    }

    /// The process was stopped by others and goes on.
    pub fn continues(&mut self) {
        if let Way::Live(live) = &mut self.way {
            live.continues(self.frames.tree());
        }
    }

    /// Tells a program that reads the result that the run is left as it stands.
    pub fn interrupted(&mut self, code: u8, word: &str) -> anyhow::Result<()> {
        let reason = format!("{word}; continue with: majordomo thread resume {}", self.root);
        let object = if self.wants_tasks() {
            json!({ "type": "error", "run": self.root, "thread": self.root, "exit_code": code, "reason": reason })
        } else if self.output.json {
            let (id, outcome) = (&self.root, "interrupted");
            json!({ "id": id, "thread": id, "outcome": outcome, "exit_code": code, "reason": reason })
        } else {
            return Ok(());
        };
        self.print(&object.to_string())
    }

    /// The run is left as it stands.
    pub fn leave(&mut self) {
        self.say_held();
        if let Way::Live(live) = std::mem::replace(&mut self.way, Way::Silent) {
            live.leave(self.frames.tree());
        }
    }

    /// Draws the tree and prints the result; the exit code.
    pub fn finish(mut self, report: &Report, now: Time) -> anyhow::Result<u8> {
        self.say_held();
        let code = exit_code(report);
        match std::mem::replace(&mut self.way, Way::Silent) {
            Way::Silent => self.print_result(report, code)?,
            Way::Json(_) => {}
            Way::Plain(_) => {
                let options = DrawOptions { now, width: out::width(&std::io::stderr()), marks: self.marks() };
                self.tell_end(draw::tree(&self.frames.tree().roots(), &options));
                self.print_result(report, code)?;
            }
            // What is drawn in place ends with the tree, below the answer that was streamed above it.
            Way::Live(live) => {
                if !live.finish(&report.text) {
                    self.print_result(report, code)?;
                }
                self.tell_end(live::end_tree(self.frames.tree(), now).iter().map(Line::ansi).collect());
            }
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

    fn tell_end(&self, tree: Vec<String>) {
        out::note("");
        for line in tree {
            out::note(&line);
        }
        out::note(&format!("thread {}", self.root));
    }

    fn print_result(&mut self, report: &Report, code: u8) -> anyhow::Result<()> {
        if self.output.json {
            let object = self.object(report, code);
            self.print(&object)?;
        } else if !report.text.is_empty() {
            self.result.words(&report.text, self.output.plain)?;
        }
        Ok(())
    }

    /// Prints a line of the result.
    fn print(&mut self, line: &str) -> anyhow::Result<()> {
        if self.reader_is_there {
            self.reader_is_there = self.result.line(line)?;
        }
        Ok(())
    }

    fn say_held(&mut self) {
        if let Way::Plain(held) = &mut self.way {
            // All of them in one write: a run of many agents has many.
            if !held.is_empty() {
                out::note(&held.join("\n"));
                held.clear();
            }
        }
    }

    fn marks(&self) -> Marks {
        if out::is_fancy(self.output.plain, &std::io::stderr()) { Marks::Unicode } else { Marks::Ascii }
    }

    fn object(&self, report: &Report, code: u8) -> String {
        let node = self.frames.tree().roots().into_iter().find(|node| node.id == self.root);
        json!({
            "id": self.root,
            "thread": self.root,
            "outcome": report.outcome,
            "answer": report.text,
            "data": report.data,
            "reason": exit_reason(report),
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

/// The widest that a note is shown.
const WIDE: usize = 1000;

/// What a frame says that a person should do: how a question is decided, where nobody is asked here; which setting fits the model.
fn hint(frame: &view::Frame, tells_how: bool) -> Option<String> {
    match &frame.body {
        Body::ValidationRequired { validation_id, kind, .. } if tells_how => Some(how_to_decide(validation_id, *kind)),
        Body::Notification { kind: Notice::ContextWindow, message } => {
            Some(format!("note: {}", safe::line(message, WIDE)))
        }
        _ => None,
    }
}
