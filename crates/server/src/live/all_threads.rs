//! The whole log as it grows: every family's frames, in the order of the log.
//!
//! One feed a dialect, as for a family, and it begins at the end of the log. A frame needs all that happened before it in its
//! family, so a family is folded from its beginning when something first happens in it, and its fold is kept for what follows; the
//! ones that were silent longest are forgotten, and folded again when something happens in them.
//!
//! An id is a record's place in the whole log and the frame's place in its event: made as within a family, from another count.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use agent::ThreadId;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, Stream};
use majordomo::follow::logged;
use store::{Follow, Record, Selection, Store, follow, replay_until};
use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use view::{Dialect, FRAMES_PER_EVENT, Frames, Line, Lines};

use super::backlog::{Draft, Piece};
use super::feed::{After, Batch, EndOnDrop, Feed, LINGER};
use super::{FLUSH_EVERY, HEARTBEAT, KEPT, STILL_HERE};

/// The dialect of our own words.
const CANONICAL: &str = "canonical";
/// Records that are read at once.
const PAGE: usize = 100;
/// Families whose folds are kept.
const FAMILIES: usize = 256;

/// The feeds of all threads.
pub(crate) struct AllThreads {
    store: Arc<dyn Store>,
    feeds: Mutex<HashMap<String, Weak<Feed>>>,
    /// What a feed keeps at most, in bytes.
    kept: usize,
    /// How many families' folds a reader of the log keeps.
    families: usize,
    closing: CancellationToken,
}

impl AllThreads {
    pub fn new(store: Arc<dyn Store>, closing: CancellationToken) -> Arc<Self> {
        Arc::new(Self { store, feeds: Mutex::default(), kept: KEPT, families: FAMILIES, closing })
    }

    /// What is new from now on, or everything after a frame; for as long as the server is open.
    pub fn watch(
        &self,
        dialect: String,
        last_event_id: Option<u64>,
    ) -> impl Stream<Item = Bytes> + Send + 'static + use<> {
        let newest = *self.store.tail().borrow();
        let feed = self.feed(&dialect);
        let seen = last_event_id.unwrap_or_else(|| last_frame_of(newest));
        // A place to come back to before anything has happened. It has data, because some readers take every block for an event with
        // data; a dialect has no word for it.
        let data = if dialect == CANONICAL { "data: {\"type\":\"stream_open\"}\n" } else { "" };
        let first = Some(Bytes::from(format!("retry: 2000\nid: {seen}\n{data}\n")));
        let watcher =
            Watcher { first, store: self.store.clone(), dialect, families: self.families, feed, seen, missed: None };
        stream::unfold(watcher, Watcher::next)
    }

    /// The feed in a dialect; begun at the end of the log where there is none.
    fn feed(&self, dialect: &str) -> Arc<Feed> {
        let mut feeds = self.feeds();
        if let Some(feed) = feeds.get(dialect).and_then(Weak::upgrade).filter(|feed| !feed.is_over()) {
            return feed;
        }
        let position = *self.store.tail().borrow();
        let feed = Arc::new(Feed::beginning_after(last_frame_of(position), self.kept));
        feeds.insert(dialect.to_owned(), Arc::downgrade(&feed));
        let families = Families::new(self.store.clone(), dialect.to_owned(), self.families);
        let log = follow(&self.store, Selection::everything().after(position).page(PAGE));
        let source = Source { families, log };
        tokio::spawn(source.follow(feed.clone(), self.closing.clone()));
        feed
    }

    fn feeds(&self) -> MutexGuard<'_, HashMap<String, Weak<Feed>>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number that the last frame of a record could have.
fn last_frame_of(position: u64) -> u64 {
    (position + 1) * FRAMES_PER_EVENT - 1
}

/// What a feed is fed from.
struct Source {
    families: Families,
    log: Follow,
}

impl Source {
    /// Hands out what is new until the server closes, or no watcher is left.
    async fn follow(mut self, feed: Arc<Feed>, closing: CancellationToken) {
        let feed = EndOnDrop(feed);
        let mut unwatched_since: Option<Instant> = None;
        let mut handed_out = Instant::now();
        loop {
            let first = tokio::select! {
                () = closing.cancelled() => return,
                page = self.log.next() => match page {
                    Some(page) => page,
                    None => return,
                },
                () = tokio::time::sleep(LINGER) => Ok(Vec::new()),
            };
            match self.fresh(first).await {
                Ok(piece) if piece.last().is_some() => {
                    feed.0.hand_out(Batch { bytes: piece.bytes.clone(), last: piece.last() }, piece);
                    handed_out = Instant::now();
                    tokio::time::sleep(FLUSH_EVERY).await;
                }
                Ok(_) if handed_out.elapsed() >= HEARTBEAT => {
                    feed.0.hand_out(Batch { bytes: Bytes::from_static(STILL_HERE), last: None }, Piece::default());
                    handed_out = Instant::now();
                }
                Ok(_) => {}
                Err(error) => return tracing::error!(%error, "the feed of all threads ends"),
            }
            // The watchers hold it too.
            if Arc::strong_count(&feed.0) > 1 {
                unwatched_since = None;
            } else if unwatched_since.get_or_insert_with(Instant::now).elapsed() >= LINGER {
                return;
            }
        }
    }

    /// A page, and what is in the log after it.
    async fn fresh(&mut self, first: Result<Vec<Record>, store::Error>) -> Result<Piece, store::Error> {
        let (mut draft, mut page) = (Draft::default(), first?);
        while !page.is_empty() {
            for record in &page {
                draft.put(self.families.lines(record).await?);
            }
            page = self.log.ready().await?;
        }
        Ok(draft.finish())
    }
}

/// One who watches. What the feed hands out wakes it up; its bytes are those that the feed keeps, or come from the log.
struct Watcher {
    first: Option<Bytes>,
    store: Arc<dyn Store>,
    dialect: String,
    families: usize,
    /// Held, so that it goes on.
    feed: Arc<Feed>,
    /// The newest frame that it was handed.
    seen: u64,
    /// What it reads from the log, while its feed does not keep that much.
    missed: Option<Box<CatchUp>>,
}

impl Watcher {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if let Some(first) = self.first.take() {
            return Some((first, self));
        }
        loop {
            match self.feed.after(self.seen) {
                After::Piece { bytes, last } => {
                    self.seen = last;
                    return Some((bytes, self));
                }
                After::Nothing(Some((_, mut receiver))) => match receiver.recv().await {
                    Ok(Batch { bytes, last: None }) => return Some((bytes, self)),
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
                // It comes back and finds another feed.
                After::Nothing(None) => return None,
                After::Gone => match self.page().await {
                    Ok(bytes) if bytes.is_empty() => {}
                    Ok(bytes) => return Some((bytes, self)),
                    Err(error) => {
                        tracing::error!(%error, "a watcher cannot be told what it missed");
                        return None;
                    }
                },
            }
        }
    }

    /// A page of what it has missed.
    async fn page(&mut self) -> Result<Bytes, store::Error> {
        // From this frame on everything is kept, and up to it everything is in the log.
        let begins_after = self.feed.begins_after();
        let missed = self.missed.get_or_insert_with(|| {
            let (position, _) = Frames::resume_point(self.seen);
            let families = Families::new(self.store.clone(), self.dialect.clone(), self.families);
            let from = Selection::everything().after(position.saturating_sub(1)).page(PAGE);
            Box::new(CatchUp { families, log: follow(&self.store, from) })
        });
        let (bytes, seen) = missed.page(self.seen).await?;
        self.seen = seen.unwrap_or(begins_after).max(self.seen);
        if self.feed.reaches_back_to(self.seen) {
            self.missed = None;
        }
        Ok(bytes)
    }
}

/// A place in the log.
struct CatchUp {
    families: Families,
    log: Follow,
}

impl CatchUp {
    /// The next page's frames after one, and the last frame that it could have; none of the latter at the end of the log.
    async fn page(&mut self, seen: u64) -> Result<(Bytes, Option<u64>), store::Error> {
        let page = self.log.ready().await?;
        let Some(last) = page.last() else { return Ok((Bytes::new(), None)) };
        let last = last_frame_of(last.position);
        let mut draft = Draft::default();
        for record in &page {
            let mut lines = self.families.lines(record).await?;
            lines.retain(|line| line.id > seen);
            draft.put(lines);
        }
        Ok((draft.finish().bytes, Some(last)))
    }
}

/// The folds of the families that something happened in.
struct Families {
    store: Arc<dyn Store>,
    dialect: String,
    folds: HashMap<ThreadId, Fold>,
    most: usize,
}

struct Fold {
    lines: Lines,
    /// The record that was folded last.
    heard_at: u64,
}

impl Families {
    fn new(store: Arc<dyn Store>, dialect: String, most: usize) -> Self {
        Self { store, dialect, folds: HashMap::new(), most }
    }

    /// The lines of the log's next record.
    async fn lines(&mut self, record: &Record) -> Result<Vec<Line>, store::Error> {
        let root = record.thread.root();
        let mut fold = match self.folds.remove(&root) {
            Some(fold) => fold,
            None => Fold { lines: self.before(&root, record.seq).await?, heard_at: 0 },
        };
        fold.heard_at = record.position;
        let mut lines = fold.lines.push(&logged(record));
        for line in &mut lines {
            line.id = record.position * FRAMES_PER_EVENT + line.id % FRAMES_PER_EVENT;
        }
        if self.folds.len() >= self.most {
            self.forget_the_most_silent();
        }
        self.folds.insert(root, fold);
        Ok(lines)
    }

    /// A family's fold up to one of its records.
    async fn before(&self, root: &ThreadId, seq: u64) -> Result<Lines, store::Error> {
        let mut lines = Lines::new(root.clone(), Dialect::named(&self.dialect).unwrap_or_default(), 0);
        let fold = |record: Record| {
            if record.seq >= seq {
                return ControlFlow::Break(());
            }
            lines.push(&logged(&record));
            ControlFlow::Continue(())
        };
        replay_until(&*self.store, Selection::tree(root), fold).await?;
        Ok(lines)
    }

    fn forget_the_most_silent(&mut self) {
        let silent = self.folds.iter().min_by_key(|(_, fold)| fold.heard_at).map(|(root, _)| root.clone());
        if let Some(root) = silent {
            self.folds.remove(&root);
        }
    }
}
