//! One run to its end, for one reader: it follows the log by itself, for such readers do not come in crowds.

use std::sync::Arc;

use agent::{Event, InputId, ThreadId};
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use majordomo::follow::{Follower, logged};
use store::{Record, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use view::{Dialect, FRAMES_PER_EVENT, Lines};

use super::past::Draft;
use super::{FLUSH_EVERY, HEARTBEAT, STILL_HERE};

/// Which run is told.
pub(crate) struct Told {
    /// Its root.
    pub root: ThreadId,
    /// The last frame that was seen.
    pub last_event_id: u64,
    /// The message that begins it; none where that is the next run to end.
    pub message: Option<InputId>,
}

/// A run's frames to its `done`, and then the end.
pub(crate) fn to_its_end(
    store: Arc<dyn Store>,
    told: Told,
    dialect: Dialect,
    closing: CancellationToken,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let Told { root, last_event_id, message: awaited } = told;
    let tail = store.tail();
    let lines = Lines::new(root.clone(), dialect, last_event_id);
    let follower = Follower::new(store, root.clone());
    let run = Run { root, follower, lines, tail, last_event_id, awaited, looks_at: None, is_over: false, closing };
    stream::unfold(run, Run::next)
}

struct Run {
    root: ThreadId,
    follower: Follower,
    lines: Lines,
    tail: tokio::sync::watch::Receiver<u64>,
    last_event_id: u64,
    /// The message whose run is to be told, while that has not begun.
    awaited: Option<InputId>,
    /// When it looks again; none until it has come to the end of what was there.
    looks_at: Option<Instant>,
    is_over: bool,
    closing: CancellationToken,
}

impl Run {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        while !self.is_over {
            if let Some(looks_at) = self.looks_at {
                tokio::time::sleep_until(looks_at).await;
                self.looks_at = Some(Instant::now() + FLUSH_EVERY);
            }
            self.tail.borrow_and_update();
            let page = match self.follower.read().await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(root = %self.root, %error, "a run cannot be followed");
                    return None;
                }
            };
            let mut draft = Draft::default();
            for record in &page {
                let lines = self.lines.push(&logged(record));
                if self.is_of_another_run(record) {
                    continue;
                }
                draft.put(lines);
                // Of an event that was seen in part, the rest is still to be told.
                let is_new = (record.seq + 1) * FRAMES_PER_EVENT - 1 > self.last_event_id;
                if is_new && majordomo::follow::root_report(record, &self.root).is_some() {
                    self.is_over = true;
                    break;
                }
            }
            let piece = draft.finish();
            if !piece.bytes.is_empty() {
                return Some((piece.bytes, self));
            }
            if page.is_empty() {
                self.looks_at.get_or_insert_with(Instant::now);
                tokio::select! {
                    () = self.closing.cancelled() => return None,
                    changed = tokio::time::timeout(HEARTBEAT, self.tail.changed()) => match changed {
                        Ok(Ok(())) => {}
                        Ok(Err(_)) => return None,
                        Err(_) => return Some((Bytes::from_static(STILL_HERE), self)),
                    },
                }
            }
        }
        None
    }

    /// Whether a record comes before the run that is awaited. A message that comes to nothing begins none.
    fn is_of_another_run(&mut self, record: &Record) -> bool {
        let Some(awaited) = &self.awaited else { return false };
        match &*record.event {
            Event::RunStarted { input, .. } if input == awaited => self.awaited = None,
            Event::InputDropped { input, .. } if input == awaited => self.is_over = true,
            _ => {}
        }
        self.awaited.is_some()
    }
}
