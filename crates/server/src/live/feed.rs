//! One family's log, followed once for all who watch it in one dialect.
//!
//! Handing out and keeping are one step under one lock, and so are finding nothing more in what is kept and beginning to listen:
//! that is why nobody misses a batch, or is handed one twice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::ThreadId;
use bytes::{Bytes, BytesMut};
use majordomo::follow::{Follower, logged, passing};
use runtime::{Fleeting, Runtime};
use store::Record;
use tokio::sync::{OnceCell, broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use view::{Dialect, Lines};

use super::past::{Draft, Next, Past, Piece};
use super::whispers::Whispers;
use super::{FLUSH_EVERY, HEARTBEAT, STILL_HERE, Watched, put};

/// A watcher that is behind by more batches takes them from what is kept.
const BEHIND: usize = 64;
/// A feed that nobody watches ends after so long.
pub(super) const LINGER: Duration = Duration::from_secs(5);

/// What was new at one moment.
#[derive(Clone)]
pub(super) struct Batch {
    /// Everybody's: a watcher is handed the same memory as all others.
    pub bytes: Bytes,
    /// The newest frame in it; none where it holds words in passing alone, or a sign of life.
    pub last: Option<u64>,
}

/// What watchers hold of a feed.
pub(super) struct Feed {
    /// Set once the log was read to its end.
    pub begun: OnceCell<()>,
    /// So many bytes are kept for those who join or fall behind.
    kept: usize,
    desk: Mutex<Desk>,
}

struct Desk {
    past: Past,
    whispers: Whispers,
    /// Gone when nothing more is handed out, for whatever reason: those who watch come back and find another feed.
    sender: Option<broadcast::Sender<Batch>>,
}

/// What comes after a frame.
pub(super) enum After {
    /// Frames that are kept.
    Piece { bytes: Bytes, last: u64 },
    /// What is being said at this moment, and what will be handed out from here on; none where the feed is over.
    Nothing(Option<(Bytes, broadcast::Receiver<Batch>)>),
    /// More than is kept.
    Gone,
}

impl Feed {
    pub fn new(kept: usize) -> Self {
        Self::of(Past::new(kept), kept)
    }

    /// A feed of what comes after a frame.
    pub fn beginning_after(frame: u64, kept: usize) -> Self {
        Self::of(Past::beginning_after(frame, kept), kept)
    }

    fn of(past: Past, kept: usize) -> Self {
        let desk = Desk { past, whispers: Whispers::default(), sender: Some(broadcast::channel(BEHIND).0) };
        Self { begun: OnceCell::new(), kept, desk: Mutex::new(desk) }
    }

    pub fn after(&self, seen: u64) -> After {
        let desk = self.desk();
        match desk.past.after(seen) {
            Next::Piece(bytes, last) => After::Piece { bytes, last },
            Next::Nothing => {
                After::Nothing(desk.sender.as_ref().map(|sender| (desk.whispers.bytes(), sender.subscribe())))
            }
            Next::Gone => After::Gone,
        }
    }

    /// The frame after which everything is kept.
    pub fn begins_after(&self) -> u64 {
        self.desk().past.begins_after()
    }

    /// Whether everything after a frame is kept.
    pub fn reaches_back_to(&self, seen: u64) -> bool {
        self.desk().past.reaches_back_to(seen)
    }

    /// Whether an answer is being given: whoever comes back to it wants to hear its beginning.
    fn is_spoken_in(&self) -> bool {
        !self.desk().whispers.is_empty()
    }

    pub fn is_over(&self) -> bool {
        self.desk().sender.is_none()
    }

    pub fn hand_out(&self, batch: Batch, piece: Piece) {
        self.tell(batch, piece, |_| {});
    }

    /// The same, with what it changes of what is being said.
    fn tell(&self, batch: Batch, piece: Piece, whisper: impl FnOnce(&mut Whispers)) {
        let mut desk = self.desk();
        desk.past.push(piece);
        whisper(&mut desk.whispers);
        if let Some(sender) = &desk.sender {
            // Nobody may be watching at this moment.
            let _ = sender.send(batch);
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a feed is fed from.
pub(super) struct Source {
    root: ThreadId,
    follower: Follower,
    lines: Lines,
    tail: watch::Receiver<u64>,
    fleeting: Option<broadcast::Receiver<Fleeting>>,
}

impl Source {
    /// Reads the log to its end for a feed that nobody was handed anything from.
    pub async fn begin(runtime: &Runtime, watched: &Watched, feed: &Feed) -> Result<Self, store::Error> {
        let dialect = Dialect::named(&watched.dialect).unwrap_or_default();
        let mut source = Self {
            fleeting: watched.deltas.then(|| runtime.fleeting()),
            tail: runtime.store().tail(),
            follower: Follower::new(runtime.store().clone(), watched.root.clone()),
            lines: Lines::new(watched.root.clone(), dialect, 0),
            root: watched.root.clone(),
        };
        source.tail.borrow_and_update();
        let mut past = Past::new(feed.kept);
        while let Some(piece) = source.page().await? {
            past.push(piece);
        }
        feed.desk().past = past;
        Ok(source)
    }

    /// Hands out what is new until the window closes, or nobody watches any more.
    pub async fn follow(mut self, feed: Arc<Feed>, closing: CancellationToken) {
        let feed = Ends(feed);
        let mut words = VecDeque::new();
        let mut unwatched_since: Option<Instant> = None;
        let mut handed_out = Instant::now();
        loop {
            let looked = Instant::now();
            let woken = tokio::select! {
                () = closing.cancelled() => return,
                changed = self.tail.changed() => changed.is_ok(),
                said = hear(&mut self.fleeting) => match said.filter(|said| said.thread.root() == self.root) {
                    Some(said) => { words.push_back(said); true }
                    None => continue,
                },
                () = tokio::time::sleep(LINGER) => true,
            };
            if !woken {
                return;
            }
            // The watchers hold it too; the feed alone is nobody.
            if Arc::strong_count(&feed.0) > 1 {
                unwatched_since = None;
            } else if unwatched_since.get_or_insert(looked).elapsed() >= LINGER && !feed.0.is_spoken_in() {
                return;
            }
            self.tail.borrow_and_update();
            match self.fresh(&mut words).await {
                Ok(Some(News { batch, piece, words, records })) => {
                    feed.0.tell(batch, piece, |whispers| {
                        words.iter().for_each(|said| whispers.hear(said));
                        records.iter().for_each(|record| whispers.settle(record));
                    });
                    handed_out = Instant::now();
                }
                Ok(None) if handed_out.elapsed() >= HEARTBEAT => {
                    feed.0.hand_out(Batch { bytes: Bytes::from_static(STILL_HERE), last: None }, Piece::default());
                    handed_out = Instant::now();
                }
                Ok(None) => {}
                Err(error) => return tracing::error!(root = %self.root, %error, "a feed ends"),
            }
            // Also after a look that found nothing: the log grows by what other families do, too.
            tokio::time::sleep(FLUSH_EVERY).await;
        }
    }

    /// What is new since the last look. Words in passing come first: the answer that holds them is in the log by then, or
    /// will be.
    async fn fresh(&mut self, words: &mut VecDeque<Fleeting>) -> Result<Option<News>, store::Error> {
        while let Some(Ok(said)) = self.fleeting.as_mut().map(broadcast::Receiver::try_recv) {
            words.push_back(said);
        }
        let words: Vec<Fleeting> = words.drain(..).filter(|said| said.thread.root() == self.root).collect();
        let mut bytes = BytesMut::new();
        for said in &words {
            put(&mut bytes, None, &passing(said));
        }
        let (mut draft, mut records) = (Draft::default(), Vec::new());
        while let Some(page) = self.read(&mut draft).await? {
            if self.fleeting.is_some() {
                records.extend(page);
            }
        }
        let piece = draft.finish();
        let bytes = if bytes.is_empty() {
            piece.bytes.clone()
        } else {
            bytes.extend_from_slice(&piece.bytes);
            bytes.freeze()
        };
        let batch = Batch { bytes, last: piece.last() };
        Ok((!batch.bytes.is_empty()).then_some(News { batch, piece, words, records }))
    }

    /// A page of the log; none at its end.
    async fn page(&mut self) -> Result<Option<Piece>, store::Error> {
        let mut draft = Draft::default();
        Ok(self.read(&mut draft).await?.map(|_| draft.finish()))
    }

    /// Takes in a page of the log; none at its end.
    async fn read(&mut self, draft: &mut Draft) -> Result<Option<Vec<Record>>, store::Error> {
        let page = self.follower.read().await?;
        for record in &page {
            draft.put(self.lines.push(&logged(record)));
        }
        Ok((!page.is_empty()).then_some(page))
    }
}

/// What is new since the last look.
struct News {
    batch: Batch,
    /// What of it is kept.
    piece: Piece,
    /// Words in passing.
    words: Vec<Fleeting>,
    /// What was read of the log; nothing where nobody wants words in passing.
    records: Vec<Record>,
}

async fn hear(fleeting: &mut Option<broadcast::Receiver<Fleeting>>) -> Option<Fleeting> {
    match fleeting {
        // Words in passing may be lost: the answer holds them all.
        Some(fleeting) => fleeting.recv().await.ok(),
        None => std::future::pending().await,
    }
}

/// A feed that is over once this is dropped.
pub(super) struct Ends(pub Arc<Feed>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.desk().sender = None;
    }
}
