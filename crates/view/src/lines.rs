//! What goes out to one reader: lines in a dialect, each under the number by which the reader can resume.
//!
//! The same for SSE and JSONL. How a line is framed and sent is left to `cli` and `server`.

use agent::ThreadId;

use crate::{Dialect, Frames, Logged};

/// One line for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the frame behind it: the `id` of an SSE frame.
    pub id: u64,
    /// The line, without its end.
    pub text: String,
}

/// Makes the lines of one root and all its descendants.
#[derive(Clone, Debug)]
pub struct Lines {
    frames: Frames,
    dialect: Dialect,
    after: u64,
}

impl Lines {
    /// Begins with an empty log. Events are pushed from the first; only lines after `last_event_id` are given out (0 for all).
    pub fn new(root: ThreadId, dialect: Dialect, last_event_id: u64) -> Self {
        Self { frames: Frames::new(root), dialect, after: last_event_id }
    }

    /// Whether the lines are in our own dialect.
    pub fn is_canonical(&self) -> bool {
        self.dialect.is_canonical()
    }

    /// Takes the next event in and gives the lines that the reader has not seen.
    pub fn push(&mut self, logged: &Logged<'_>) -> Vec<Line> {
        let mut lines = Vec::new();
        for frame in self.frames.push(logged) {
            // The dialect hears of frames that were seen too: its words depend on them.
            let text = self.dialect.map(&frame);
            lines.extend(text.filter(|_| frame.seq > self.after).map(|text| Line { id: frame.seq, text }));
        }
        lines
    }
}
