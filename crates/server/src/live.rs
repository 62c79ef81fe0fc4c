//! The log as it grows, to many at once.
//!
//! One [`Feed`] follows a family's log for all who watch it in the same dialect: what is new is read once, folded once and put into
//! bytes once, at most twenty times a second, and every watcher is handed the same bytes. A watcher that comes later, or falls behind, is
//! first sent what it has missed: from the bytes that the feed still keeps (`backlog.rs`), and where those do not reach back far
//! enough, from the log (`catch_up.rs`). Frames have numbers, and a watcher knows the last one that it was handed: there is no gap and
//! nothing comes twice.
//!
//! A slow reader does not delay the others: they share the same bytes. One that stalls is cut off by
//! its connection (`connection.rs`), comes back with the number of the last frame it has seen, and goes on.
//!
//! `family.rs` puts what happens to a family's tasks in its place among the frames of its threads.
//! `all_threads.rs` does the same for the whole log; `run.rs` sends one run to its end, for one reader.

mod all_threads;
mod backlog;
mod catch_up;
mod family;
mod feed;
mod run;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use agent::ThreadId;
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, Stream};
use runtime::Runtime;
use store::Store;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use view::Dialect;

pub(crate) use all_threads::AllThreads;
use catch_up::CatchUp;
pub(crate) use family::Place;
use feed::{After, Batch, Feed, Source};
pub(crate) use run::to_its_end;

/// What is new is handed out no more often than this.
const FLUSH_EVERY: Duration = Duration::from_millis(50);
/// A watcher that was sent nothing for so long is sent a sign of life.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// So many bytes a feed keeps for those who join or fall behind: some ten thousand frames.
const KEPT: usize = 4 * 1024 * 1024;
/// A comment, and no block of its own: some readers take every block for an event with data.
const STILL_HERE: &[u8] = b": still here\n";
/// What begins a stream in which nothing may have happened yet: its id is a place to come back to.
pub(crate) const OPENED: &str = r#"{"type":"stream_open"}"#;

/// What a watcher wants to see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Watched {
    /// A root, with all its descendants.
    pub root: ThreadId,
    /// The name of a dialect.
    pub dialect: String,
    /// Whether streamed text is wanted.
    pub deltas: bool,
}

/// The feeds of a server.
pub(crate) struct Live {
    runtime: Runtime,
    /// Those that have watchers, or had some until a moment ago.
    feeds: Arc<Mutex<Feeds>>,
    /// What a feed keeps at most, in bytes.
    kept: usize,
    /// Cancelled when the server closes.
    pub closing: CancellationToken,
}

impl Live {
    pub fn new(runtime: Runtime) -> Arc<Self> {
        Arc::new(Self { runtime, feeds: Arc::default(), kept: KEPT, closing: CancellationToken::new() })
    }

    /// Everything after `last_event_id`, then what is new, for as long as the server is open.
    pub async fn watch(
        self: &Arc<Self>,
        watched: Watched,
        last_event_id: Place,
    ) -> Result<impl Stream<Item = Bytes> + Send + 'static + use<>, store::Error> {
        let feed = self.feed(&watched).await?;
        let store = self.runtime.store().clone();
        // Without a blank line behind it, it belongs to the first event: some readers take every block for an event with data.
        let first = Some(Bytes::from_static(b"retry: 2000\n"));
        let (seen, reads) = (last_event_id, Reads::Backlog);
        let watcher = Watcher { first, store, watched, feed, seen, may_be_ahead: true, reads };
        Ok(stream::unfold(watcher, Watcher::next))
    }

    /// The feed of what is watched; begun where there is none. However many ask at once, the log is read for the first of them.
    async fn feed(&self, watched: &Watched) -> Result<Arc<Feed>, store::Error> {
        let feed = self.known_feed(watched);
        let begin = || async {
            let source = Source::begin(&self.runtime, watched, &feed).await?;
            let (following, feeds) = (source.follow(feed.clone(), self.closing.clone()), self.feeds.clone());
            tokio::spawn(async move {
                following.await;
                forget_ended(&mut lock(&feeds));
            });
            Ok::<(), store::Error>(())
        };
        feed.begun.get_or_try_init(begin).await?;
        Ok(feed)
    }

    fn known_feed(&self, watched: &Watched) -> Arc<Feed> {
        let mut feeds = self.feeds();
        if let Some(feed) = feeds.get(watched).and_then(Weak::upgrade).filter(|feed| !feed.is_over()) {
            return feed;
        }
        let feed = Arc::new(Feed::new(self.kept));
        forget_ended(&mut feeds);
        feeds.insert(watched.clone(), Arc::downgrade(&feed));
        feed
    }

    fn feeds(&self) -> MutexGuard<'_, Feeds> {
        lock(&self.feeds)
    }
}

/// Feeds by what they send.
type Feeds = HashMap<Watched, Weak<Feed>>;

fn lock(feeds: &Mutex<Feeds>) -> MutexGuard<'_, Feeds> {
    feeds.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets feeds that have ended.
fn forget_ended(feeds: &mut Feeds) {
    feeds.retain(|_, feed| feed.strong_count() > 0);
}

/// One who watches. It holds a place and no bytes: a thousand of them cost little.
struct Watcher {
    first: Option<Bytes>,
    store: Arc<dyn Store>,
    watched: Watched,
    /// Held, so that it goes on.
    feed: Arc<Feed>,
    /// The newest frame that it was handed.
    seen: Place,
    /// Whether it may have read frames from the log that the feed has not handed out yet: it must not be handed them again.
    may_be_ahead: bool,
    reads: Reads,
}

/// Where a watcher takes its next bytes from.
enum Reads {
    /// What the feed keeps of what it handed out.
    Backlog,
    /// The log.
    Log(Box<CatchUp>),
    /// What the feed hands out.
    Live(broadcast::Receiver<Batch>),
}

impl Watcher {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if let Some(first) = self.first.take() {
            return Some((first, self));
        }
        loop {
            match &mut self.reads {
                Reads::Backlog => match self.feed.after(self.seen) {
                    After::Piece { bytes, last } => {
                        (self.seen, self.may_be_ahead) = (last, false);
                        return Some((bytes, self));
                    }
                    After::Nothing(Some((unfinished, receiver))) => {
                        self.reads = Reads::Live(receiver);
                        if !unfinished.is_empty() {
                            return Some((unfinished, self));
                        }
                    }
                    // It comes back and finds another feed.
                    After::Nothing(None) => return None,
                    After::Gone => self.reads = Reads::Log(Box::new(self.missed())),
                },
                Reads::Log(missed) => match missed.page().await {
                    Ok(Some((bytes, last))) => {
                        (self.seen, self.may_be_ahead) = (last, true);
                        if self.feed.reaches_back_to(last) {
                            self.reads = Reads::Backlog;
                        }
                        return Some((bytes, self));
                    }
                    // The feed handed out more than the log has: the family was forgotten.
                    Ok(None) => return None,
                    Err(error) => {
                        tracing::error!(root = %self.watched.root, %error, "a watcher cannot be told what it missed");
                        return None;
                    }
                },
                Reads::Live(receiver) => match receiver.recv().await {
                    // Of what is kept it takes only what it has not seen.
                    Ok(Batch { last: Some(_), .. }) if self.may_be_ahead => self.reads = Reads::Backlog,
                    Ok(batch) => {
                        self.seen = batch.last.unwrap_or(self.seen);
                        return Some((batch.bytes, self));
                    }
                    Err(broadcast::error::RecvError::Lagged(_)) => self.reads = Reads::Backlog,
                    Err(broadcast::error::RecvError::Closed) => return None,
                },
            }
        }
    }

    fn missed(&self) -> CatchUp {
        let dialect = Dialect::named(&self.watched.dialect).unwrap_or_default();
        CatchUp::new(&self.store, &self.watched.root, dialect, self.seen)
    }
}

/// Writes one frame as it goes over the wire.
fn put(bytes: &mut BytesMut, id: Option<Place>, text: &str) {
    if let Some(id) = id {
        bytes.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    // A line of JSON has no line ends in it.
    bytes.extend_from_slice(b"data: ");
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(b"\n\n");
}
