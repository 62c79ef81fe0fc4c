//! Events of boards that concern a root and its descendants: beside the events of their threads, for `run --jsonl` and
//! `/api/v1/threads/{id}/events`.
//!
//! A task concerns them if one of them made it, works on it, or acts on it. Left to others: what an event looks like (`frame`), and where
//! it is printed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agent::ThreadId;
use async_recursion::async_recursion as boxed;
use board::{BoardId, Event, TaskId};
use futures_util::StreamExt;
use serde_json::Value;
use store::{Follow, OnBoard, Store, follow_boards};

/// While others write, boards are read at most this often.
const PAUSE: Duration = Duration::from_millis(50);

/// How long it is waited after the store could not answer.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// What happens to tasks of a root and its descendants, from now on.
pub struct TasksOfFamily {
    concern: Concern,
    events: Follow<OnBoard>,
    /// What was read and not yet looked at.
    unread: VecDeque<OnBoard>,
    /// What was found in it and not yet given out.
    found: Vec<Value>,
}

impl TasksOfFamily {
    /// Begins with what is written from this moment on.
    pub fn new(store: &Arc<dyn Store>, root: ThreadId) -> Self {
        let newest = *store.tail().borrow();
        let (concern, events) = (Concern::from_now_on(store, root), follow_boards(store, newest, PAUSE));
        Self { concern, events, unread: VecDeque::new(), found: Vec::new() }
    }

    /// The frames that are there by now, in order.
    #[boxed]
    pub async fn ready(&mut self) -> Result<Vec<Value>, store::Error> {
        loop {
            self.look().await?;
            match self.events.ready().await {
                Ok(page) if page.is_empty() => return Ok(std::mem::take(&mut self.found)),
                Ok(page) => self.unread.extend(page),
                Err(error) => wait_after(error).await?,
            }
        }
    }

    /// Waits for frames. None once the store is closed. An answer that is given up loses nothing.
    #[boxed]
    pub async fn next(&mut self) -> Result<Option<Vec<Value>>, store::Error> {
        loop {
            self.look().await?;
            if !self.found.is_empty() {
                return Ok(Some(std::mem::take(&mut self.found)));
            }
            match self.events.next().await {
                Some(Ok(page)) => self.unread.extend(page),
                Some(Err(error)) => wait_after(error).await?,
                None => return Ok(None),
            }
        }
    }

    /// Looks at what was read.
    async fn look(&mut self) -> Result<(), store::Error> {
        while let Some(event) = self.unread.front() {
            match self.concern.frame(event).await {
                Ok(frame) => {
                    self.found.extend(frame);
                    self.unread.pop_front();
                }
                Err(error) => wait_after(error).await?,
            }
        }
        Ok(())
    }
}

/// Waits a while after a failure that passes.
async fn wait_after(error: store::Error) -> Result<(), store::Error> {
    if !error.is_passing() {
        return Err(error);
    }
    tokio::time::sleep(LOOK_AGAIN).await;
    Ok(())
}

/// Which tasks concern a root and its descendants. It is told the events of boards in their order.
pub struct Concern {
    store: Arc<dyn Store>,
    root: ThreadId,
    /// Whether every event since the first of the root is told. Then no thread of theirs worked on a task before.
    is_told_all: bool,
    ours: BTreeSet<(BoardId, TaskId)>,
    /// Tasks that were there before and are not theirs, as far as that was looked up.
    others: BTreeSet<(BoardId, TaskId)>,
    /// By board, the first task that was added since: what comes behind it needs not be looked up.
    added_from: BTreeMap<BoardId, u64>,
}

impl Concern {
    /// It is told what is written from now on.
    pub fn from_now_on(store: &Arc<dyn Store>, root: ThreadId) -> Self {
        let (ours, others, added_from) = Default::default();
        Self { store: store.clone(), root, is_told_all: false, ours, others, added_from }
    }

    /// It is told everything that was written since the first event of the root.
    pub fn since_its_beginning(store: &Arc<dyn Store>, root: ThreadId) -> Self {
        Self { is_told_all: true, ..Self::from_now_on(store, root) }
    }

    /// Whom it is about.
    pub fn root(&self) -> &ThreadId {
        &self.root
    }

    /// The frame of an event that concerns them, with the name of their run.
    #[boxed]
    pub async fn frame(&mut self, OnBoard { board, record }: &OnBoard) -> Result<Option<Value>, store::Error> {
        if !self.concerns(board, &record.entry).await? {
            return Ok(None);
        }
        let mut frame = super::frame(board, record);
        if let Some(Value::Object(fields)) = &mut frame {
            fields.insert("run".to_owned(), self.root.as_str().into());
        }
        Ok(frame)
    }

    async fn concerns(&mut self, board: &BoardId, entry: &board::Entry) -> Result<bool, store::Error> {
        let is_ours = |thread: Option<&ThreadId>| thread.is_some_and(|thread| thread.root() == self.root);
        let Some(task) = entry.event.task() else { return Ok(false) };
        let key = (board.clone(), task.clone());
        if matches!(entry.event, Event::TaskAdded(_)) {
            self.added_from.entry(board.clone()).or_insert(task.number());
        }
        let becomes_ours = is_ours(entry.by.thread())
            || match &entry.event {
                Event::TaskNamed { thread, .. } | Event::TaskBegun { thread, .. } => is_ours(Some(thread)),
                Event::TaskAssigned { thread, .. } => is_ours(thread.as_ref()),
                _ => false,
            };
        if becomes_ours {
            self.ours.insert(key);
            return Ok(true);
        }
        let was_added_since = self.added_from.get(board).is_some_and(|first| task.number() >= *first);
        if self.ours.contains(&key) || was_added_since || self.others.contains(&key) {
            return Ok(self.ours.contains(&key));
        }
        let found = self.store.task(board, task).await?;
        let concerns = found.is_some_and(|task| {
            is_ours(task.created_by.thread()) || !self.is_told_all && is_ours(task.thread.as_ref())
        });
        if concerns {
            self.ours.insert(key)
        } else {
            self.others.insert(key)
        };
        Ok(concerns)
    }
}
