//! The whole log as it grows: every family's frames, and what happens to tasks, in the order of the log.
//!
//! One feed a dialect, as for a family, and it begins at the end of the log. A frame needs all that happened before it in its
//! family, so a family is folded from its beginning when something first happens in it, and its fold is kept for what follows; the
//! ones that were silent longest are forgotten, and folded again when something happens in them.
//!
//! Events of boards lie in the same log and are read beside those of threads. They are handed out up to the place to which both were
//! read, so that no frame comes behind a later one. The other dialects have no words for them.
//!
//! An id is a record's place in the whole log and the frame's place in its event: made as within a family, from another count.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use agent::ThreadId;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, Stream};
use majordomo::follow::logged;
use majordomo::tasks;
use store::{Follow, OnBoard, Record, Selection, Store, follow, follow_boards, replay_until};
use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use view::{Dialect, FRAMES_PER_EVENT, Frames, Line, Lines};

use super::backlog::{Draft, Piece};
use super::feed::{After, Batch, EndOnDrop, Feed, LINGER};
use super::{FLUSH_EVERY, HEARTBEAT, KEPT, OPENED, STILL_HERE};

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
        // data; readers of a dialect pass over it, as over every type that they do not know.
        let first = Some(Bytes::from(format!("retry: 2000\nid: {seen}\ndata: {OPENED}\n\n")));
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
        let feed = Arc::new(Feed::beginning_after(last_frame_of(position).into(), self.kept));
        feeds.insert(dialect.to_owned(), Arc::downgrade(&feed));
        let families = Families::new(self.store.clone(), dialect.to_owned(), self.families);
        let log = Log::new(&self.store, dialect, position);
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

/// The dialect that has words for everything.
const CANONICAL: &str = "canonical";

/// What a feed is fed from.
struct Source {
    families: Families,
    log: Log,
}

/// The whole log from a place on: events of threads and of boards.
struct Log {
    store: Arc<dyn Store>,
    threads: Follow,
    /// None in dialects that have no words for tasks.
    boards: Option<Follow<OnBoard>>,
    /// Events of boards that were read and lie behind the place to which threads were read.
    ahead: VecDeque<OnBoard>,
}

/// An event of a thread or of a board.
enum Logged {
    Thread(Record),
    Board(OnBoard),
}

impl Log {
    fn new(store: &Arc<dyn Store>, dialect: &str, after: u64) -> Self {
        let threads = follow(store, Selection::everything().after(after).page(PAGE));
        let boards = (dialect == CANONICAL).then(|| follow_boards(store, after, FLUSH_EVERY));
        Self { store: store.clone(), threads, boards, ahead: VecDeque::new() }
    }

    /// Waits until there may be something new. False once the store is closed. What was read is given out by `ready`.
    async fn changed(&mut self) -> Result<Option<Vec<Record>>, store::Error> {
        let boards = async {
            match &mut self.boards {
                Some(boards) => boards.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            page = self.threads.next() => page.transpose(),
            page = boards => match page.transpose()? {
                Some(page) => {
                    self.ahead.extend(page);
                    Ok(Some(Vec::new()))
                }
                None => Ok(None),
            },
        }
    }

    /// What is there after a page of threads' events, in the order of the log, and the place up to which that is everything.
    async fn ready(&mut self, first: Vec<Record>) -> Result<(Vec<Logged>, u64), store::Error> {
        // All up to here is there; what is written meanwhile may come, too.
        let newest = *self.store.tail().borrow();
        let mut page = first;
        let is_full = page.len() >= PAGE;
        if !is_full {
            page.extend(self.threads.ready().await?);
        }
        let is_full = is_full || page.len() >= PAGE;
        let last = page.last().map_or(0, |record| record.position);
        let upto = if is_full { last } else { last.max(newest) };
        self.read_boards(upto).await?;
        let mut events: Vec<(u64, Logged)> =
            page.into_iter().map(|record| (record.position, Logged::Thread(record))).collect();
        let later = self.ahead.partition_point(|event| event.record.position <= upto);
        events.extend(self.ahead.drain(..later).map(|event| (event.record.position, Logged::Board(event))));
        events.sort_by_key(|(position, _)| *position);
        Ok((events.into_iter().map(|(_, event)| event).collect(), upto))
    }

    async fn read_boards(&mut self, upto: u64) -> Result<(), store::Error> {
        let Some(boards) = &mut self.boards else { return Ok(()) };
        while self.ahead.back().is_none_or(|event| event.record.position <= upto) {
            let page = boards.ready().await?;
            if page.is_empty() {
                break;
            }
            self.ahead.extend(page);
        }
        Ok(())
    }
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
                page = self.log.changed() => match page.transpose() {
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
        loop {
            let (events, _) = self.log.ready(std::mem::take(&mut page)).await?;
            if events.is_empty() {
                return Ok(draft.finish());
            }
            for event in &events {
                draft.put(self.families.lines_of(event).await?);
            }
        }
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
            match self.feed.after(self.seen.into()) {
                After::Piece { bytes, last } => {
                    self.seen = last.frame;
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
        let begins_after = self.feed.begins_after().frame;
        let missed = self.missed.get_or_insert_with(|| {
            let (position, _) = Frames::resume_point(self.seen);
            let families = Families::new(self.store.clone(), self.dialect.clone(), self.families);
            let log = Log::new(&self.store, &self.dialect, position.saturating_sub(1));
            Box::new(CatchUp { families, log })
        });
        let (bytes, seen) = missed.page(self.seen).await?;
        self.seen = seen.unwrap_or(begins_after).max(self.seen);
        if self.feed.reaches_back_to(self.seen.into()) {
            self.missed = None;
        }
        Ok(bytes)
    }
}

/// A place in the log.
struct CatchUp {
    families: Families,
    log: Log,
}

impl CatchUp {
    /// The next page's frames after one, and the last frame that it could have; none of the latter at the end of the log.
    async fn page(&mut self, seen: u64) -> Result<(Bytes, Option<u64>), store::Error> {
        let (events, upto) = self.log.ready(Vec::new()).await?;
        if events.is_empty() {
            return Ok((Bytes::new(), None));
        }
        let mut draft = Draft::default();
        for event in &events {
            let mut lines = self.families.lines_of(event).await?;
            lines.retain(|line| line.id > seen);
            draft.put(lines);
        }
        Ok((draft.finish().bytes, Some(last_frame_of(upto))))
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

    /// The lines of the log's next event.
    async fn lines_of(&mut self, event: &Logged) -> Result<Vec<Line>, store::Error> {
        match event {
            Logged::Thread(record) => self.lines(record).await,
            Logged::Board(OnBoard { board, record }) => {
                let frame = tasks::frame(board, record);
                let id = record.position * FRAMES_PER_EVENT;
                Ok(frame.map(|frame| Line { id, text: frame.to_string() }).into_iter().collect())
            }
        }
    }

    /// The lines of the log's next record of a thread.
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
