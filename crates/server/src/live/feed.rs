//! One family's log, followed once for all who watch it in one dialect.
//!
//! Handing out and keeping are one step under one lock, and so are finding nothing more in what is kept and beginning to listen:
//! that is why no watcher misses a batch, or is handed one twice.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use majordomo::follow::{News, Updates, logged};
use runtime::Runtime;
use store::{Selection, follow};
use tokio::sync::{OnceCell, broadcast};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use view::{Dialect, UnfinishedAnswers};

use super::backlog::{Backlog, Draft, Next, Piece};
use super::family::{Family, Place, Placed};
use super::{FLUSH_EVERY, HEARTBEAT, STILL_HERE, Watched, put};

/// A watcher that is behind by more batches takes them from what is kept.
const BEHIND: usize = 64;
/// A feed without watchers ends after so long.
pub(super) const LINGER: Duration = Duration::from_secs(5);

/// What was new at one moment.
#[derive(Clone)]
pub(super) struct Batch {
    /// Everybody's: a watcher is handed the same memory as all others.
    pub bytes: Bytes,
    /// The newest frame in it; none where it holds only streamed text, or a sign of life.
    pub last: Option<Place>,
}

/// What watchers hold of a feed.
pub(super) struct Feed {
    /// Set once the log was read to its end.
    pub begun: OnceCell<()>,
    /// So many bytes are kept for those who join or fall behind.
    kept: usize,
    state: Mutex<State>,
}

/// What changes while the feed goes on.
struct State {
    past: Backlog,
    unfinished: UnfinishedAnswers,
    /// Gone when nothing more is handed out, for whatever reason: those who watch come back and find another feed.
    sender: Option<broadcast::Sender<Batch>>,
}

/// What comes after a frame.
pub(super) enum After {
    /// Frames that are kept.
    Piece { bytes: Bytes, last: Place },
    /// What is being said at this moment, and what will be handed out from here on; none where the feed is over.
    Nothing(Option<(Bytes, broadcast::Receiver<Batch>)>),
    /// More than is kept.
    Gone,
}

impl Feed {
    pub fn new(kept: usize) -> Self {
        Self::of(Backlog::new(kept), kept)
    }

    /// A feed of what comes after a frame.
    pub fn beginning_after(frame: Place, kept: usize) -> Self {
        Self::of(Backlog::beginning_after(frame, kept), kept)
    }

    fn of(past: Backlog, kept: usize) -> Self {
        let state =
            State { past, unfinished: UnfinishedAnswers::default(), sender: Some(broadcast::channel(BEHIND).0) };
        Self { begun: OnceCell::new(), kept, state: Mutex::new(state) }
    }

    pub fn after(&self, seen: Place) -> After {
        let state = self.state();
        match state.past.after(seen) {
            Next::Piece(bytes, last) => After::Piece { bytes, last },
            Next::Nothing => {
                After::Nothing(state.sender.as_ref().map(|sender| (so_far(&state.unfinished), sender.subscribe())))
            }
            Next::Gone => After::Gone,
        }
    }

    /// The frame after which everything is kept.
    pub fn begins_after(&self) -> Place {
        self.state().past.begins_after()
    }

    /// Whether everything after a frame is kept.
    pub fn reaches_back_to(&self, seen: Place) -> bool {
        self.state().past.reaches_back_to(seen)
    }

    /// Whether an answer is being given: a watcher that comes back to it wants its beginning.
    fn has_unfinished_answers(&self) -> bool {
        !self.state().unfinished.is_empty()
    }

    pub fn is_over(&self) -> bool {
        self.state().sender.is_none()
    }

    pub fn hand_out(&self, batch: Batch, piece: Piece) {
        self.tell(batch, piece, |_| {});
    }

    /// The same, with what it changes of the answers that are being given.
    fn tell(&self, batch: Batch, piece: Piece, change: impl FnOnce(&mut UnfinishedAnswers)) {
        let mut state = self.state();
        state.past.push(piece);
        change(&mut state.unfinished);
        if let Some(sender) = state.sender.as_ref().filter(|_| !batch.bytes.is_empty()) {
            // There may be no watchers at this moment.
            let _ = sender.send(batch);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All of each answer that is being given, as frames.
fn so_far(unfinished: &UnfinishedAnswers) -> Bytes {
    let mut bytes = BytesMut::new();
    unfinished.lines().for_each(|line| put(&mut bytes, None, &line));
    bytes.freeze()
}

/// What a feed is fed from.
pub(super) struct Source {
    updates: Updates,
    family: Family,
}

impl Source {
    /// Reads the log to its end for a feed from which nothing was handed out yet.
    pub async fn begin(runtime: &Runtime, watched: &Watched, feed: &Feed) -> Result<Self, store::Error> {
        let Watched { root, dialect, deltas } = watched;
        let dialect = Dialect::named(dialect).unwrap_or_default();
        let mut family = Family::new(runtime.store(), root, dialect, Place::default());
        let updates = Updates::new(runtime, root.clone());
        let updates = if *deltas { updates } else { updates.without_text() };
        let mut past = Backlog::new(feed.kept);
        let mut log = follow(runtime.store(), Selection::tree(root));
        let mut page = log.ready().await?;
        while !page.is_empty() {
            let mut draft = Draft::default();
            draft.put(family.lines_of(&page).await?);
            past.push(draft.finish());
            page = log.ready().await?;
        }
        let mut draft = Draft::default();
        draft.put(family.rest().await?);
        past.push(draft.finish());
        feed.state().past = past;
        let new = Selection::tree(root).after(log.seen()).pause(FLUSH_EVERY);
        Ok(Self { updates: updates.selected(new), family })
    }

    /// Hands out what is new until the server closes, or no watcher is left.
    pub async fn follow(mut self, feed: Arc<Feed>, closing: CancellationToken) {
        let feed = EndOnDrop(feed);
        let mut unwatched_since: Option<Instant> = None;
        let mut handed_out = Instant::now();
        loop {
            let looked = Instant::now();
            let first = tokio::select! {
                () = closing.cancelled() => return,
                update = self.updates.next() => Some(update),
                changed = self.family.changed() => changed.map(|is_open| (!is_open).then_some(None)).transpose(),
                () = tokio::time::sleep(LINGER) => None,
            };
            // The watchers hold it too.
            if Arc::strong_count(&feed.0) > 1 {
                unwatched_since = None;
            } else if unwatched_since.get_or_insert(looked).elapsed() >= LINGER && !feed.0.has_unfinished_answers() {
                return;
            }
            let handed = match self.gather(first) {
                Ok(Some(updates)) => self.hand_out(&updates, &feed.0).await.map(Some),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            match handed {
                Ok(Some(true)) => {
                    handed_out = Instant::now();
                    tokio::time::sleep(FLUSH_EVERY).await;
                }
                Ok(Some(false)) if handed_out.elapsed() >= HEARTBEAT => {
                    feed.0.hand_out(Batch { bytes: Bytes::from_static(STILL_HERE), last: None }, Piece::default());
                    handed_out = Instant::now();
                }
                Ok(Some(false)) => {}
                Ok(None) => return,
                Err(error) => return tracing::error!(root = %self.updates.root(), %error, "a feed ends"),
            }
        }
    }

    /// An update and all that are there already; none where the store is closed.
    fn gather(&mut self, first: Option<Result<Option<News>, store::Error>>) -> Result<Option<Vec<News>>, store::Error> {
        let (mut updates, mut next) = (Vec::new(), first);
        while let Some(update) = next {
            match update? {
                Some(update) => updates.push(update),
                None => return Ok(None),
            }
            next = self.updates.next().now_or_never();
        }
        Ok(Some(updates))
    }

    /// Hands out updates in their order, and what happened to tasks meanwhile. False where there was nothing.
    async fn hand_out(&mut self, updates: &[News], feed: &Feed) -> Result<bool, store::Error> {
        let has_text = updates.iter().any(|update| matches!(update, News::Text(_)));
        let (mut bytes, mut draft) = (BytesMut::new(), Draft::default());
        let mut write = |lines: Vec<Placed>, bytes: &mut BytesMut| {
            if has_text {
                lines.iter().for_each(|line| put(bytes, Some(line.place), &line.text));
            }
            draft.put(lines);
        };
        for update in updates {
            match update {
                News::Events(records) => write(self.family.lines_of(records).await?, &mut bytes),
                News::Text(piece) => put(&mut bytes, None, &piece.line()),
            }
        }
        write(self.family.rest().await?, &mut bytes);
        let piece = draft.finish();
        let bytes = if has_text { bytes.freeze() } else { piece.bytes.clone() };
        let has_any = !updates.is_empty() || !bytes.is_empty();
        feed.tell(Batch { bytes, last: piece.last() }, piece, |unfinished| {
            for update in updates {
                match update {
                    News::Text(piece) => unfinished.push(piece),
                    News::Events(records) => {
                        records.iter().for_each(|record| unfinished.settle(&logged(record)));
                    }
                }
            }
        });
        Ok(has_any)
    }
}

/// A feed that is over once this is dropped.
pub(super) struct EndOnDrop(pub Arc<Feed>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.state().sender = None;
    }
}
