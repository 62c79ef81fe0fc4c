//! One thread's conversation as lines for a terminal, while it happens: what was asked, what the agent says, which tools it used, which
//! sub-agents it started and how they ended.
//!
//! Events go in in the order of the log, each once; lines that stay come out. Streamed text comes out block by block and never twice
//! ([`Speech`]). It keeps nothing of what it gave out, so it does not grow with the conversation. What is not told here stands in the tree:
//! retries, queues, who waits for what.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::approval::Resolution;
use agent::event::{Answered, TurnKind, VerdictKind};
use agent::message::{Attachment, Part};
use agent::tools::CHECKS;
use agent::{CallId, Event, Outcome, Report, ThreadId};

use super::columns::width;
use super::{Colour, Line, Span, Style};
use crate::known::checks_input;
use crate::transcript::status;
use crate::{Logged, Notice, Speech, Spoken, StreamSource, Streamed, argument, clock, markdown, safe};

/// The most lines that are shown of a message, of a brief and of what a tool said.
const MESSAGE_LINES: usize = 30;
const BRIEF_LINES: usize = 6;
const OUTPUT_LINES: usize = 4;
/// The longest argument, name or reason in one line.
const WORDS: usize = 200;
/// The longest reason of a failure, which is told whole.
const FAULT: usize = 600;
/// The most and the least columns in which the goal of a sub-agent that has ended is told again.
const GOAL: usize = 60;
const LEAST_GOAL: usize = 8;
/// The longest text of a message that is laid out.
const TEXT: usize = 20_000;

/// One thread's conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    thread: ThreadId,
    speech: Speech,
    /// Whether the turn that is being answered is a summary, which is not spoken.
    sums_up: bool,
    /// What was called and has no result yet.
    calls: BTreeMap<CallId, Call>,
    /// The names of sub-agents that have not reported, and what they were asked.
    children: BTreeMap<ThreadId, (Arc<str>, Arc<str>)>,
    /// What the agent said last, to tell whether a report says something else.
    spoken: Option<Arc<str>>,
    /// Whether the last line that was given out belongs to a block that goes on without an empty line.
    is_list: bool,
}

#[derive(Clone, Debug)]
struct Call {
    name: Arc<str>,
    argument: Option<Arc<str>>,
}

impl Conversation {
    /// The conversation of a thread, from its beginning.
    pub fn new(thread: ThreadId) -> Self {
        Self {
            thread,
            speech: Speech::default(),
            sums_up: false,
            calls: BTreeMap::new(),
            children: BTreeMap::new(),
            spoken: None,
            is_list: false,
        }
    }

    /// Takes in what was written to the log; the lines that it adds, at most `columns` wide. Events of other threads add none.
    pub fn push(&mut self, logged: &Logged<'_>, columns: usize) -> Vec<Line> {
        if *logged.thread != self.thread {
            return Vec::new();
        }
        let mut out = Out { lines: Vec::new(), columns, is_list: self.is_list };
        self.take(logged, &mut out);
        self.is_list = out.is_list;
        out.lines
    }

    /// Takes a piece of streamed text in.
    pub fn hear(&mut self, piece: &Streamed) {
        if let StreamSource::Turn(turn) = piece.source
            && piece.thread == self.thread
        {
            self.speech.push(turn, &piece.text);
        }
    }

    /// The blocks of streamed text that are whole and were not given out before.
    pub fn settled(&mut self, columns: usize) -> Vec<Line> {
        let mut out = Out { lines: Vec::new(), columns, is_list: self.is_list };
        if !self.sums_up {
            out.say(self.speech.take_settled());
        }
        self.is_list = out.is_list;
        out.lines
    }

    /// The end of streamed text, which may still change.
    pub fn rest(&self, columns: usize) -> Vec<Line> {
        if self.sums_up { Vec::new() } else { markdown::render(self.speech.rest(), columns) }
    }

    fn take(&mut self, logged: &Logged<'_>, out: &mut Out) {
        match logged.event {
            Event::ThreadCreated(created) => {
                if let Some(brief) = &created.brief {
                    out.block("brief", &brief.text(), BRIEF_LINES);
                }
            }
            Event::RunStarted { prompt, attachments, from, .. } => match from {
                None => out.message(prompt, attachments, ""),
                Some(from) => out.block(&safe::line(from, WORDS), prompt, BRIEF_LINES),
            },
            Event::Steered { text, from, .. } if &**from == "person" => out.message(text, &[], " (while it works)"),
            Event::Steered { text, from, .. } => out.block(&safe::line(from, WORDS), text, BRIEF_LINES),
            Event::TurnStarted(started) => self.sums_up = started.kind == TurnKind::Compact,
            Event::CallFailed { error, retry_at, .. } => {
                self.speech.broke_off();
                if retry_at.is_none() {
                    out.fault('✗', Style::of(Colour::Red), &format!("the model could not be asked: {error}"));
                }
            }
            Event::Answered(answered) => self.answered(answered, out),
            Event::ChecksStarted { call, commands, .. } => {
                let argument = argument::short(&checks_input(commands));
                self.calls.insert(call.clone(), Call { name: CHECKS.into(), argument });
            }
            Event::ToolFinished { call, result, duration_ms, .. }
            | Event::ChecksFinished { call, result, duration_ms, .. } => {
                let took = duration_ms.map(clock::duration).unwrap_or_default();
                match (self.calls.remove(call), result.is_error) {
                    (Some(called), false) => out.row('✓', Style::DIM, &called.words(), &took),
                    // The call of a sub-agent ends with its report, which was told.
                    (None, _) => {}
                    (Some(called), true) => {
                        out.row('✗', Style::of(Colour::Red), &called.words(), &took);
                        out.output(&result.content);
                    }
                }
            }
            Event::ChildSpawned(spawned) => {
                self.calls.remove(&spawned.call);
                self.children.insert(spawned.child.clone(), (spawned.name.clone(), spawned.brief.task.clone()));
                out.row('→', Style::of(Colour::Blue), &format!("{}: {}", spawned.name, spawned.brief.task), "");
            }
            Event::ChildAsked(asked) => {
                self.calls.remove(&asked.call);
                self.children.insert(asked.child.clone(), (asked.name.clone(), asked.text.clone()));
                out.row('→', Style::of(Colour::Blue), &format!("{}: {}", asked.name, asked.text), "");
            }
            Event::ChildReported { child, report, .. } => {
                let (name, goal) = self.children.remove(child).unwrap_or_else(|| (child.as_str().into(), "".into()));
                let (mark, style) = match report.outcome {
                    Outcome::Completed => ('✓', Style::of(Colour::Green)),
                    _ => ('✗', Style::of(Colour::Red)),
                };
                // Several sub-agents have the same name: the goal says which one it is, and gives way to how it ended.
                let status = status(report);
                let room = out.columns.saturating_sub(4 + width(&name) + 2 + 2 + width(&status)).min(GOAL);
                match room {
                    LEAST_GOAL.. => {
                        let goal = super::columns::cut(&safe::line(&goal, WORDS), room, '…');
                        out.row(mark, style, &format!("{name}: {goal}"), &status);
                    }
                    // Where both do not fit, how it ended is one word.
                    _ => {
                        let status = report.outcome.to_string();
                        let room = out.columns.saturating_sub(4 + width(&name) + 2 + 2 + width(&status)).min(GOAL);
                        let goal = super::columns::cut(&safe::line(&goal, WORDS), room, '…');
                        out.row(mark, style, &format!("{name}: {goal}"), &status);
                    }
                }
            }
            Event::Reported(report) => self.reported(report, out),
            Event::ApprovalResolved { approval, resolution, .. } => {
                let words = match resolution {
                    Resolution::Answered { text } => format!("{approval} is answered: {}", safe::line(text, WORDS)),
                    other => format!("{approval} is {}", other.as_str()),
                };
                out.row('⚑', Style::DIM, &words, "");
            }
            Event::BudgetWarned { limit, percent } => {
                let words = format!("{percent} % of the {limit} grant is used");
                out.row('!', Style::of(Colour::Yellow), &words, "");
            }
            event => {
                if let Some((kind, words)) = Notice::of(event)
                    && kind != Notice::InputDropped
                {
                    out.row('·', Style::DIM, &words, "");
                }
            }
        }
    }

    fn answered(&mut self, answered: &Answered, out: &mut Out) {
        let is_text = |part: &Part| if let Part::Text { text, .. } = part { Some(text.to_string()) } else { None };
        let text: String = answered.parts.iter().filter_map(is_text).collect();
        if self.sums_up {
            self.speech.finish(answered.turn, "");
        } else {
            out.say(self.speech.finish(answered.turn, &text));
            if !text.trim().is_empty() {
                self.spoken = Some(text.into());
            }
        }
        for made in answered.calls() {
            let called = Call { name: made.name.clone(), argument: argument::short(&made.input) };
            if let Some(VerdictKind::Refused { reason, .. }) = made.verdict.map(|verdict| &verdict.what) {
                out.row('✗', Style::of(Colour::Red), &called.words(), "");
                out.output(reason);
            } else {
                self.calls.insert(made.call.clone(), called);
            }
        }
    }

    fn reported(&mut self, report: &Report, out: &mut Out) {
        self.calls.clear();
        let is_said = self.spoken.as_ref().is_some_and(|spoken| spoken.trim() == report.text.trim());
        if !report.text.trim().is_empty() && !is_said {
            out.say(Some(Spoken { text: report.text.to_string(), anew: false }));
        }
        self.spoken = None;
        if report.outcome != Outcome::Completed {
            let why = report.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            out.fault('■', Style::of(Colour::Yellow), &format!("{}{why}", report.outcome));
        }
        for left in &report.unfinished {
            out.row('·', Style::DIM, &format!("unfinished: {left}"), "");
        }
    }
}

impl Call {
    fn words(&self) -> String {
        let argument = self.argument.as_ref().map(|argument| format!(" {argument}")).unwrap_or_default();
        format!("{}{argument}", self.name)
    }
}

/// Lines that are given out.
struct Out {
    lines: Vec<Line>,
    columns: usize,
    is_list: bool,
}

impl Out {
    /// What a person said.
    fn message(&mut self, text: &str, attachments: &[Attachment], behind: &str) {
        self.apart();
        let shown = format!("{}{behind}", cut_text(text));
        self.hanging("› ", &shown, Style::BOLD, MESSAGE_LINES);
        for file in attachments {
            let size = super::count(file.bytes);
            let words = format!("  + {} ({}, {size} bytes)", safe::line(&file.name, WORDS), file.media.mime());
            self.lines.push(Line::new(words, Style::DIM));
        }
    }

    /// What another agent or the program said.
    fn block(&mut self, lead: &str, text: &str, most: usize) {
        self.apart();
        self.hanging(&format!("{lead}: "), &cut_text(text), Style::DIM, most);
    }

    /// What an agent says.
    fn say(&mut self, spoken: Option<Spoken>) {
        let Some(Spoken { text, anew }) = spoken else { return };
        if anew {
            self.lines.push(Line::new("(the answer was cut off and begins again)", Style::DIM));
        }
        self.apart();
        self.lines.extend(markdown::render(&text, self.columns));
    }

    /// What was done, in one line. Several of them stand together.
    fn row(&mut self, mark: char, style: Style, words: &str, behind: &str) {
        if !self.is_list {
            self.lines.push(Line::default());
        }
        self.is_list = true;
        let mut line = Line::new(format!("  {mark} "), style);
        let behind = if behind.is_empty() { String::new() } else { format!("  {behind}") };
        let room = self.columns.saturating_sub(line.width() + width(&behind));
        let style = if style.colour == Some(Colour::Red) { Style::PLAIN } else { Style::DIM };
        line.push(super::columns::cut(&safe::line(words, WORDS), room, '…'), style);
        line.push(behind, Style::DIM);
        self.lines.push(line);
    }

    /// What went wrong, in as many lines as it takes to read it.
    fn fault(&mut self, mark: char, style: Style, words: &str) {
        if !self.is_list {
            self.lines.push(Line::default());
        }
        self.is_list = true;
        let span = Span { text: safe::line(words, FAULT), style: Style::PLAIN };
        for (nth, line) in markdown::wrap(&[span], self.columns.saturating_sub(4).max(8)).into_iter().enumerate() {
            let mut whole =
                if nth == 0 { Line::new(format!("  {mark} "), style) } else { Line::new("    ", Style::PLAIN) };
            line.spans.into_iter().for_each(|span| whole.push(span.text, span.style));
            self.lines.push(whole);
        }
    }

    /// The beginning of what a tool said.
    fn output(&mut self, text: &str) {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        for line in lines.by_ref().take(OUTPUT_LINES) {
            let shown = super::columns::cut(&safe::line(line, WORDS), self.columns.saturating_sub(6), '…');
            self.lines.push(Line::new(format!("      {shown}"), Style::DIM));
        }
        match lines.count() {
            0 => {}
            more => self.lines.push(Line::new(format!("      … {more} more lines"), Style::DIM)),
        }
    }

    /// Words behind a lead, the lines below it moved in.
    fn hanging(&mut self, lead: &str, text: &str, style: Style, most: usize) {
        let indent = width(lead).min(self.columns / 2);
        let span = Span { text: safe::answer(text), style };
        let lines = markdown::wrap(&[span], self.columns.saturating_sub(indent).max(8));
        let count = lines.len();
        for (nth, line) in lines.into_iter().take(most).enumerate() {
            let mut whole = Line::new(if nth == 0 { lead.to_owned() } else { " ".repeat(indent) }, Style::DIM);
            line.spans.into_iter().for_each(|span| whole.push(span.text, span.style));
            self.lines.push(whole);
        }
        if count > most {
            let words = format!("{}… {} more lines", " ".repeat(indent), count - most);
            self.lines.push(Line::new(words, Style::DIM));
        }
    }

    /// An empty line before a block.
    fn apart(&mut self) {
        self.lines.push(Line::default());
        self.is_list = false;
    }
}

fn cut_text(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
