//! Events of boards that concern a root and its descendants: for `run --jsonl`, beside the events of their threads.
//!
//! A task concerns them if one of them made it, works on it, or acts on it. Left to others: what an event looks like (`frame`), and where
//! it is printed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent::ThreadId;
use board::{BoardId, Event, TaskId};
use futures_util::StreamExt;
use serde_json::Value;
use store::{Follow, OnBoard, Store, follow_boards};

/// While others write, boards are read at most this often.
const PAUSE: Duration = Duration::from_millis(50);

/// What happens to tasks of a root and its descendants, from now on.
pub struct TasksOfFamily {
    store: Arc<dyn Store>,
    root: ThreadId,
    events: Follow<OnBoard>,
    /// Whether a task concerns them, as far as that was looked up.
    known: BTreeMap<(BoardId, TaskId), bool>,
}

impl TasksOfFamily {
    /// Begins with what is written from this moment on.
    pub fn new(store: &Arc<dyn Store>, root: ThreadId) -> Self {
        let newest = *store.tail().borrow();
        Self { store: store.clone(), root, events: follow_boards(store, newest, PAUSE), known: BTreeMap::new() }
    }

    /// The frames that are there by now, in order.
    pub async fn ready(&mut self) -> Result<Vec<Value>, store::Error> {
        let mut frames = Vec::new();
        loop {
            let page = self.events.ready().await?;
            if page.is_empty() {
                return Ok(frames);
            }
            frames.extend(self.frames(page).await?);
        }
    }

    /// Waits for frames. None once the store is closed. An answer that is given up loses nothing.
    pub async fn next(&mut self) -> Result<Option<Vec<Value>>, store::Error> {
        match self.events.next().await.transpose()? {
            Some(page) => Ok(Some(self.frames(page).await?)),
            None => Ok(None),
        }
    }

    async fn frames(&mut self, page: Vec<OnBoard>) -> Result<Vec<Value>, store::Error> {
        let mut frames = Vec::new();
        for OnBoard { board, record } in page {
            if self.concerns(&board, &record.entry).await? {
                frames.extend(super::frame(&board, &record));
            }
        }
        Ok(frames)
    }

    async fn concerns(&mut self, board: &BoardId, entry: &board::Entry) -> Result<bool, store::Error> {
        let is_ours = |thread: Option<&ThreadId>| thread.is_some_and(|thread| thread.root() == self.root);
        let Some(task) = entry.event.task() else { return Ok(false) };
        let key = (board.clone(), task.clone());
        let becomes_ours = is_ours(entry.by.thread())
            || match &entry.event {
                Event::TaskNamed { thread, .. } | Event::TaskBegun { thread, .. } => is_ours(Some(thread)),
                Event::TaskAssigned { thread, .. } => is_ours(thread.as_ref()),
                _ => false,
            };
        if becomes_ours {
            self.known.insert(key, true);
            return Ok(true);
        }
        if let Some(concerns) = self.known.get(&key) {
            return Ok(*concerns);
        }
        let found = self.store.task(board, task).await?;
        let concerns = found.is_some_and(|task| is_ours(task.created_by.thread()) || is_ours(task.thread.as_ref()));
        self.known.insert(key, concerns);
        Ok(concerns)
    }
}
