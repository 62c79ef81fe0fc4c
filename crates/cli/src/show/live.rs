//! A run at a terminal while it goes on: what the root says, what happened that a person should know, and below that the tree of agents,
//! drawn in place.
//!
//! The text of the root stays where it was streamed if the answer belongs on the same terminal; then it is not printed again. Otherwise
//! only its end is shown while it comes. What agents do stands in the tree and nowhere else, so that a run of many does not fill the
//! terminal. What is drawn comes from `view`; how it reaches the terminal is in `screen`.

use std::time::{Duration, Instant};

use agent::message::Part;
use agent::{Event, Outcome, ThreadId, Time};
use runtime::Clock;
use store::Record;
use view::draw::{self, DrawOptions, Line, Marks, Span, Style};
use view::{Body, Frame, LastWords, Speech, Spoken, StreamSource, Streamed, Tree, markdown};

use crate::screen::{self, Size};

/// No two frames are nearer than this.
const FRAME: Duration = Duration::from_millis(80);
/// A frame is drawn after this time even if nothing happened: times go on.
const IDLE_FRAME: Duration = Duration::from_millis(250);
/// Drawing takes at most one part of so many of the time.
const SHARE: u32 = 50;
/// The mark of something that is cut off.
const CUT: char = '…';

/// A run at a terminal.
pub struct LiveRun {
    screen: screen::Live,
    clock: Clock,
    root: ThreadId,
    /// Whether the root's text stays on this terminal.
    text_stays: bool,
    words: LastWords,
    speech: Speech,
    /// The last whole text of the root that stayed.
    stayed: Option<String>,
    /// Lines that stay and are not written yet.
    pending: Vec<Line>,
    is_news: bool,
    drawn_at: Option<Instant>,
    /// How long the last frame took.
    took: Duration,
}

impl LiveRun {
    /// Shows a root on a screen that was begun.
    pub fn new(root: ThreadId, screen: screen::Live, text_stays: bool, clock: Clock) -> Self {
        Self {
            screen,
            clock,
            root,
            text_stays,
            words: LastWords::default(),
            speech: Speech::default(),
            stayed: None,
            pending: Vec::new(),
            is_news: true,
            drawn_at: None,
            took: Duration::ZERO,
        }
    }

    /// Takes a piece of streamed text in.
    pub fn hear(&mut self, piece: &Streamed) {
        self.is_news = true;
        match piece.source {
            StreamSource::Turn(turn) if piece.thread == self.root => {
                self.words.mark(piece);
                self.speech.push(turn, &piece.text);
            }
            // What a model thinks is no part of its answer: its row in the tree shows the end of it.
            StreamSource::Turn(_) | StreamSource::Thought(_) | StreamSource::Call(_) => self.words.push(piece),
        }
    }

    /// Takes in what was written to the log.
    pub fn push(&mut self, record: &Record, tree: &Tree) {
        self.is_news = true;
        self.words.settle(&majordomo::follow::logged(record));
        if record.thread != self.root {
            return;
        }
        match &*record.event {
            Event::CallFailed { .. } => self.speech.broke_off(),
            Event::Answered(answered) if tree.is_spoken(&self.root, answered.turn) != Some(false) => {
                let is_text =
                    |part: &Part| if let Part::Text { text, .. } = part { Some(text.to_string()) } else { None };
                let text: String = answered.parts.iter().filter_map(is_text).collect();
                let is_last = !answered.parts.iter().any(|part| matches!(part, Part::ToolCall { .. }));
                let spoken = self.speech.finish(answered.turn, &text);
                // Elsewhere, what is said with the last answer is the result, and what is said before it would be seen nowhere.
                if self.text_stays || !is_last {
                    self.stay(spoken);
                    self.stayed = Some(text);
                }
            }
            Event::Answered(answered) => _ = self.speech.finish(answered.turn, ""),
            _ => {}
        }
    }

    /// Adds a line of progress that stays.
    pub fn tell(&mut self, line: &str, style: Style) {
        let span = Span { text: line.to_owned(), style };
        let columns = screen::size().columns;
        for (nth, mut line) in markdown::wrap(&[span], columns.saturating_sub(4)).into_iter().enumerate() {
            if nth > 0 {
                let mut indented = Line::new("    ", Style::PLAIN);
                line.spans.drain(..).for_each(|span| indented.push(span.text, span.style));
                line = indented;
            }
            self.pending.push(line);
        }
    }

    /// When the next frame is due.
    pub fn due(&self) -> Instant {
        let Some(drawn_at) = self.drawn_at else { return Instant::now() };
        let wait = if self.is_news { FRAME } else { IDLE_FRAME };
        drawn_at + wait.max(self.took * SHARE)
    }

    /// Draws a frame if one is due.
    pub fn draw_if_due(&mut self, tree: &Tree) {
        if self.is_news && Instant::now() >= self.due() {
            self.draw(tree);
        }
    }

    /// Draws a frame.
    pub fn draw(&mut self, tree: &Tree) {
        let begun = Instant::now();
        let is_spoken = tree.is_spoken(&self.root, self.speech.turn()) == Some(true);
        if is_spoken && self.text_stays {
            let spoken = self.speech.take_settled();
            self.stay(spoken);
        }
        let frame = self.frame(tree, is_spoken);
        if self.screen.draw(&self.pending, frame) {
            self.pending.clear();
        }
        self.is_news = false;
        let now = Instant::now();
        self.drawn_at = Some(now);
        self.took = now - begun;
    }

    /// The process was stopped and goes on.
    pub fn continues(&mut self, tree: &Tree) {
        self.screen.continues();
        self.draw(tree);
    }

    /// The run is left as it stands: its tree stays on the terminal.
    pub fn leave(mut self, tree: &Tree) {
        self.draw(tree);
        self.screen.leave();
    }

    /// The run is over. Whether this text stands on the terminal already.
    pub fn finish(self, text: &str) -> bool {
        self.screen.draw(&self.pending, Vec::new());
        self.text_stays && self.stayed.is_some_and(|stayed| stayed.trim() == text.trim())
    }

    fn frame(&self, tree: &Tree, is_spoken: bool) -> Vec<Line> {
        let Size { columns, rows } = screen::size();
        let columns = columns.saturating_sub(1);
        let mut frame = Vec::new();
        if is_spoken {
            let rest = markdown::render(self.speech.rest(), columns);
            let shown = rest.len().min(rows / 3);
            frame.extend(rest[rest.len() - shown..].iter().map(|line| line.cut(columns, CUT)));
            if shown > 0 {
                frame.push(Line::default());
            }
        }
        let options = DrawOptions { now: self.clock.now(), width: columns, marks: Marks::Unicode };
        let tree = draw::tree_lines(&tree.roots(), &self.words, &options, (rows / 3).max(2));
        frame.extend(tree.iter().map(|line| line.cut(columns, CUT)));
        frame
    }

    fn stay(&mut self, spoken: Option<Spoken>) {
        let Some(Spoken { text, anew, .. }) = spoken else { return };
        if anew {
            self.pending.push(Line::new("(the answer was cut off and begins again)", Style::DIM));
        }
        self.pending.push(Line::default());
        let columns = screen::size().columns;
        self.pending.extend(markdown::render(&text, columns.saturating_sub(1)));
    }
}

/// Whether a frame deserves a line that stays. What agents do, and that they wait or try again, stands in the tree.
pub fn stays(frame: &Frame, asks_elsewhere: bool) -> bool {
    match &frame.body {
        Body::ToolStart { agent_slug, .. } => frame.thread.is_root() && agent_slug.is_none(),
        Body::ToolResult { is_error, .. } => frame.thread.is_root() && *is_error,
        Body::SubAgentComplete(end) | Body::SubAgentError(end) => end.data.outcome != Outcome::Completed,
        Body::ValidationRequired { .. } => asks_elsewhere,
        Body::ValidationResolved { .. }
        | Body::Steered { .. }
        | Body::BudgetWarning { .. }
        | Body::BudgetExceeded { .. }
        | Body::Notification { .. } => true,
        Body::RunStarted { .. }
        | Body::ThreadCreated { .. }
        | Body::AgentStart {}
        | Body::AgentDelegate { .. }
        | Body::AgentResume {}
        | Body::AgentComplete { .. }
        | Body::SubAgentQueued(_)
        | Body::SubAgentStart(_)
        | Body::Thinking { .. }
        | Body::Text { .. }
        | Body::Usage { .. }
        | Body::Stalled { .. }
        | Body::Retry { .. }
        | Body::State { .. }
        | Body::Error { .. }
        | Body::Done(_) => false,
    }
}

/// The tree of a run that is over, in as many lines as the terminal shows at once.
pub fn end_tree(tree: &Tree, now: Time) -> Vec<Line> {
    let Size { columns, rows } = screen::size();
    let options = DrawOptions { now, width: columns, marks: Marks::Unicode };
    draw::tree_lines(&tree.roots(), &LastWords::default(), &options, rows.saturating_sub(6).max(10))
}
