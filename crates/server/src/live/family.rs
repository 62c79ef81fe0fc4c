//! A family's log in its order: the frames of its threads, and what happens to its tasks.
//!
//! Events of boards lie in the same log as those of threads. The frame of a task comes behind the frames of what the family did before it, and
//! ahead of what it did later; its id names the last frame before it and its own place in the log ([`Place`]). Only our own dialect has
//! words for tasks; in the others there are no more frames than those of threads.
//!
//! A `notification` of a board is left out: a thread that is told something has its own, in its place.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use agent::ThreadId;
use futures_util::StreamExt;
use majordomo::follow::logged;
use majordomo::tasks::Concern;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use store::{Follow, OnBoard, Record, Store, follow_boards};
use view::{Dialect, Frames, Line, Lines};

use super::FLUSH_EVERY;

/// A place in what a reader is sent: the number of a frame, or of the frame before an event of a board with that event's place in the log.
/// As the id of a block: `42001`, or `42001.977`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The number of a frame.
    pub frame: u64,
    /// The place of an event of a board in the whole log; 0 for a frame of a thread.
    pub board: u64,
}

impl From<u64> for Place {
    fn from(frame: u64) -> Self {
        Self { frame, board: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.board {
            0 => write!(f, "{}", self.frame),
            board => write!(f, "{}.{board}", self.frame),
        }
    }
}

impl FromStr for Place {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (frame, board) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self { frame: frame.parse()?, board: board.parse()? })
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| serde::de::Error::custom(format!("'{text}' is the id of no event")))
    }
}

impl JsonSchema for Place {
    fn schema_name() -> Cow<'static, str> {
        "Place".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$" })
    }
}

/// A line under its place.
pub(super) struct Placed {
    pub place: Place,
    pub text: String,
}

impl From<Line> for Placed {
    fn from(line: Line) -> Self {
        Self { place: line.id.into(), text: line.text }
    }
}

/// The lines of a family. It is given the family's records in their order, from the first.
pub(super) struct Family {
    store: Arc<dyn Store>,
    lines: Lines,
    /// None in dialects that have no words for tasks.
    tasks: Option<Tasks>,
    /// The last record that was given.
    seq: u64,
    /// The last frame of a thread, whether it was seen before or not.
    last: u64,
    /// Only what comes behind this is given out.
    after: Place,
    /// The record of the frame that was seen last.
    seen_seq: u64,
}

impl Family {
    /// The lines behind a place.
    pub fn new(store: &Arc<dyn Store>, root: &ThreadId, dialect: Dialect, after: Place) -> Self {
        let tasks = dialect.is_canonical().then(|| Tasks::new(store, root));
        let lines = Lines::new(root.clone(), dialect, after.frame);
        let (seen_seq, _) = Frames::resume_point(after.frame);
        Self { store: store.clone(), lines, tasks, seq: 0, last: after.frame, after, seen_seq }
    }

    /// The lines of records, with those of tasks that lie before each.
    pub async fn lines_of(&mut self, records: &[Record]) -> Result<Vec<Placed>, store::Error> {
        let mut lines = Vec::new();
        for record in records {
            if let Some(tasks) = &mut self.tasks {
                tasks.begin(record.position);
                tasks.read_to(record.position).await?;
                let before = tasks.up_to(record.position, self.last, self.after);
                // What lies before an event that was seen was seen.
                lines.extend(before.into_iter().filter(|_| record.seq > self.seen_seq));
            }
            let own = self.lines.push(&logged(record));
            self.last = own.last().map_or(self.last, |line| line.id);
            self.seq = record.seq;
            lines.extend(own.into_iter().map(Placed::from));
        }
        Ok(lines)
    }

    /// The lines of tasks behind the last record, as far as the family has no record before them. What is held back comes with that record.
    pub async fn rest(&mut self) -> Result<Vec<Placed>, store::Error> {
        let Some(tasks) = &mut self.tasks else { return Ok(Vec::new()) };
        // All up to here is in the log, and what the family is found to have is all that lies before it.
        let newest = *self.store.tail().borrow();
        tasks.read_to(newest).await?;
        if tasks.ahead.is_empty() || !self.store.tree(tasks.concern.root(), self.seq, 1).await?.is_empty() {
            return Ok(Vec::new());
        }
        Ok(tasks.up_to(newest, self.last, self.after))
    }

    /// Waits until something may have happened to a task. False once the store is closed.
    pub async fn changed(&mut self) -> Result<bool, store::Error> {
        match &mut self.tasks {
            Some(tasks) => tasks.changed().await,
            None => std::future::pending().await,
        }
    }
}

/// What happens to a family's tasks.
struct Tasks {
    store: Arc<dyn Store>,
    concern: Concern,
    /// None before the family's first record.
    events: Option<Follow<OnBoard>>,
    /// Events that were read and not looked at.
    unread: VecDeque<OnBoard>,
    /// Frames that were made and not given out, by their places in the log.
    ahead: VecDeque<(u64, String)>,
    /// Everything up to here was read.
    read_to: u64,
}

impl Tasks {
    fn new(store: &Arc<dyn Store>, root: &ThreadId) -> Self {
        let concern = Concern::since_its_beginning(store, root.clone());
        Self {
            store: store.clone(),
            concern,
            events: None,
            unread: VecDeque::new(),
            ahead: VecDeque::new(),
            read_to: 0,
        }
    }

    /// Begins with what happens after the family's first record.
    fn begin(&mut self, position: u64) {
        if self.events.is_none() {
            self.events = Some(follow_boards(&self.store, position, FLUSH_EVERY));
            self.read_to = position;
        }
    }

    async fn read_to(&mut self, position: u64) -> Result<(), store::Error> {
        self.look().await?;
        while self.read_to < position {
            let Some(events) = &mut self.events else { return Ok(()) };
            let newest = *self.store.tail().borrow();
            let page = events.ready().await?;
            if page.is_empty() {
                self.read_to = newest.max(position);
            }
            self.unread.extend(page);
            self.look().await?;
        }
        Ok(())
    }

    /// An answer that is given up loses nothing.
    async fn changed(&mut self) -> Result<bool, store::Error> {
        let Some(events) = &mut self.events else { return std::future::pending().await };
        let page = events.next().await.transpose()?;
        let is_open = page.is_some();
        self.unread.extend(page.into_iter().flatten());
        Ok(is_open)
    }

    /// Makes frames of the events that concern the family.
    async fn look(&mut self) -> Result<(), store::Error> {
        while let Some(event) = self.unread.front() {
            let frame = self.concern.frame(event).await?.filter(|frame| frame["type"] != "notification");
            let position = event.record.position;
            self.ahead.extend(frame.map(|frame| (position, frame.to_string())));
            self.read_to = self.read_to.max(position);
            self.unread.pop_front();
        }
        Ok(())
    }

    /// What lies up to a place in the log, behind a frame.
    fn up_to(&mut self, position: u64, frame: u64, after: Place) -> Vec<Placed> {
        let count = self.ahead.partition_point(|(at, _)| *at <= position);
        let placed = self.ahead.drain(..count).map(|(board, text)| Placed { place: Place { frame, board }, text });
        placed.filter(|line| line.place > after).collect()
    }
}
