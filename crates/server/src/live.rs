//! The log as it grows, to many at once.
//!
//! One [`Feed`] follows a family's log for all who watch it in the same dialect: what is new is read once, folded once and put into
//! bytes once, at most twenty times a second, and every watcher is handed the same bytes. Whoever comes later is first told what it
//! has missed, from the log, up to the very record at which the feed stands; from there on it takes what the feed hands out.
//! There is no gap and nothing comes twice.
//!
//! A watcher that falls behind by more than [`BEHIND`] batches is cut off. It comes back with the number of the last event it has
//! seen and goes on from the log: a slow reader never holds up anybody.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use agent::ThreadId;
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, Stream};
use majordomo::follow::{Follower, logged, passing};
use runtime::{Fleeting, Heart};
use store::{Record, Store};
use tokio::sync::broadcast;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use view::{Dialect, Line, Lines};

/// What is new is handed out no more often than this.
const FLUSH_EVERY: Duration = Duration::from_millis(50);
/// A watcher that hears nothing for so long is sent a sign of life.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A watcher that is behind by more batches is cut off.
const BEHIND: usize = 64;
/// A feed that nobody watches ends after so long.
const LINGER: Duration = Duration::from_secs(5);

/// What somebody wants to watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Watched {
    /// A root, with all its descendants.
    pub root: ThreadId,
    /// The name of a dialect.
    pub dialect: String,
    /// Whether words in passing are wanted.
    pub deltas: bool,
}

/// The feeds of a window.
pub(crate) struct Live {
    heart: Heart,
    feeds: Mutex<HashMap<Watched, Weak<Feed>>>,
    /// Cancelled when the window closes.
    pub closing: CancellationToken,
}

/// One family's log, for all who watch it in one dialect.
struct Feed {
    sender: broadcast::Sender<Arc<Batch>>,
    /// The last record that was handed out. Whoever subscribes reads it under the same lock.
    at: Mutex<u64>,
    /// Cancelled when nothing more is handed out, for whatever reason: those who watch come back and find another feed.
    ended: CancellationToken,
}

/// What was new at one moment.
struct Batch {
    bytes: Bytes,
}

impl Live {
    pub fn new(heart: Heart) -> Arc<Self> {
        Arc::new(Self { heart, feeds: Mutex::default(), closing: CancellationToken::new() })
    }

    /// Everything after `last_event_id`, then what is new, for as long as the window is open.
    pub async fn watch(
        self: &Arc<Self>,
        watched: Watched,
        last_event_id: u64,
    ) -> Result<impl Stream<Item = Bytes> + Send + 'static + use<>, store::Error> {
        let dialect = Dialect::named(&watched.dialect).unwrap_or_default();
        let feed = self.feed(&watched).await?;
        let (receiver, until) = feed.subscribe();
        let missed = Missed {
            follower: Follower::new(self.heart.store().clone(), watched.root.clone()),
            lines: Lines::new(watched.root.clone(), dialect, last_event_id),
            until,
        };
        let first = Bytes::from_static(b"retry: 2000\n\n");
        let watcher =
            Watcher { missed: Some(missed), receiver, feed, closing: self.closing.clone(), first: Some(first) };
        Ok(stream::unfold(watcher, Watcher::next))
    }

    /// The feed of what is watched; begun where there is none. It stands at the end of the log.
    async fn feed(self: &Arc<Self>, watched: &Watched) -> Result<Arc<Feed>, store::Error> {
        if let Some(feed) = going_on(&self.feeds(), watched) {
            return Ok(feed);
        }
        let dialect = Dialect::named(&watched.dialect).unwrap_or_default();
        let mut source = Source {
            fleeting: watched.deltas.then(|| self.heart.fleeting()),
            tail: self.heart.store().tail(),
            follower: Follower::new(self.heart.store().clone(), watched.root.clone()),
            lines: Lines::new(watched.root.clone(), dialect, 0),
            root: watched.root.clone(),
        };
        let at = source.catch_up().await?;
        let feed = Arc::new(Feed {
            sender: broadcast::channel(BEHIND).0,
            at: Mutex::new(at),
            ended: CancellationToken::new(),
        });
        let mut feeds = self.feeds();
        // Another watcher may have been quicker.
        if let Some(feed) = going_on(&feeds, watched) {
            return Ok(feed);
        }
        feeds.insert(watched.clone(), Arc::downgrade(&feed));
        feeds.retain(|_, feed| feed.strong_count() > 0);
        tokio::spawn(source.follow(feed.clone(), self.closing.clone()));
        Ok(feed)
    }

    fn feeds(&self) -> MutexGuard<'_, HashMap<Watched, Weak<Feed>>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn going_on(feeds: &HashMap<Watched, Weak<Feed>>, watched: &Watched) -> Option<Arc<Feed>> {
    feeds.get(watched).and_then(Weak::upgrade).filter(|feed| !feed.ended.is_cancelled())
}

impl Feed {
    /// What will be handed out, and the last record that was.
    fn subscribe(&self) -> (broadcast::Receiver<Arc<Batch>>, u64) {
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        (self.sender.subscribe(), *at)
    }

    fn hand_out(&self, bytes: Bytes, last: u64) {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        *at = last;
        // Nobody may be watching at this moment.
        let _ = self.sender.send(Arc::new(Batch { bytes }));
    }
}

/// What a feed is fed from.
struct Source {
    root: ThreadId,
    follower: Follower,
    lines: Lines,
    tail: tokio::sync::watch::Receiver<u64>,
    fleeting: Option<broadcast::Receiver<Fleeting>>,
}

impl Source {
    /// Takes in what is there, without a word; the number of the last record.
    async fn catch_up(&mut self) -> Result<u64, store::Error> {
        self.tail.borrow_and_update();
        let mut last = 0;
        loop {
            let page = self.follower.read().await?;
            let Some(newest) = page.last() else { return Ok(last) };
            last = newest.seq;
            for record in &page {
                self.lines.push(&logged(record));
            }
        }
    }

    async fn follow(mut self, feed: Arc<Feed>, closing: CancellationToken) {
        let _ended = feed.ended.clone().drop_guard();
        let mut words = VecDeque::new();
        let mut unwatched_since: Option<Instant> = None;
        loop {
            let flushed = Instant::now();
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
            if Arc::strong_count(&feed) > 1 {
                unwatched_since = None;
            } else if unwatched_since.get_or_insert(flushed).elapsed() >= LINGER {
                return;
            }
            self.tail.borrow_and_update();
            let fresh = match self.fresh(&mut words).await {
                Ok(fresh) => fresh,
                Err(error) => return tracing::error!(root = %self.root, %error, "a feed ends"),
            };
            if let Some((bytes, last)) = fresh {
                feed.hand_out(bytes, last.unwrap_or_else(|| feed.subscribe().1));
            }
            // Also after a look that found nothing: the log grows by what other families do, too.
            tokio::time::sleep(FLUSH_EVERY).await;
        }
    }

    /// What is new since the last look, as bytes, and the last record in it. Words in passing come first: the answer that
    /// holds them is in the log by then, or will be.
    async fn fresh(&mut self, words: &mut VecDeque<Fleeting>) -> Result<Option<(Bytes, Option<u64>)>, store::Error> {
        while let Some(Ok(said)) = self.fleeting.as_mut().map(broadcast::Receiver::try_recv) {
            words.push_back(said);
        }
        let (mut bytes, mut last) = (BytesMut::new(), None);
        for said in words.drain(..).filter(|said| said.thread.root() == self.root) {
            put(&mut bytes, None, &passing(&said));
        }
        loop {
            let page = self.follower.read().await?;
            let Some(newest) = page.last() else { break };
            last = Some(newest.seq);
            for record in &page {
                put_all(&mut bytes, self.lines.push(&logged(record)));
            }
        }
        Ok((last.is_some() || !bytes.is_empty()).then(|| (bytes.freeze(), last)))
    }
}

async fn hear(fleeting: &mut Option<broadcast::Receiver<Fleeting>>) -> Option<Fleeting> {
    match fleeting {
        // Words in passing may be lost: the answer holds them all.
        Some(fleeting) => fleeting.recv().await.ok(),
        None => std::future::pending().await,
    }
}

/// What a watcher has missed: the log up to the record at which its feed stands.
struct Missed {
    follower: Follower,
    lines: Lines,
    until: u64,
}

impl Missed {
    /// A page of it; none when there is no more.
    async fn page(&mut self) -> Result<Option<Bytes>, store::Error> {
        let mut bytes = BytesMut::new();
        loop {
            let page = self.follower.read().await?;
            let known: Vec<&Record> = page.iter().take_while(|record| record.seq <= self.until).collect();
            for record in &known {
                put_all(&mut bytes, self.lines.push(&logged(record)));
            }
            if known.len() < page.len() || known.is_empty() {
                return Ok((!bytes.is_empty()).then(|| bytes.freeze()));
            }
            if !bytes.is_empty() {
                return Ok(Some(bytes.freeze()));
            }
        }
    }
}

/// One who watches.
struct Watcher {
    first: Option<Bytes>,
    missed: Option<Missed>,
    receiver: broadcast::Receiver<Arc<Batch>>,
    /// Held, so that it goes on.
    feed: Arc<Feed>,
    closing: CancellationToken,
}

impl Watcher {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if let Some(first) = self.first.take() {
            return Some((first, self));
        }
        if let Some(missed) = &mut self.missed {
            match missed.page().await {
                Ok(Some(bytes)) => return Some((bytes, self)),
                Ok(None) => self.missed = None,
                Err(error) => {
                    tracing::error!(%error, "a watcher cannot be told what it missed");
                    return None;
                }
            }
        }
        tokio::select! {
            () = self.closing.cancelled() => None,
            () = self.feed.ended.cancelled() => None,
            batch = tokio::time::timeout(HEARTBEAT, self.receiver.recv()) => match batch {
                Ok(Ok(batch)) => Some((batch.bytes.clone(), self)),
                Err(_) => Some((Bytes::from_static(b": still here\n\n"), self)),
                // Too slow, or the feed has ended: it comes back and goes on from the log.
                Ok(Err(_)) => None,
            },
        }
    }
}

/// A run's frames from after `last_event_id` to its `done`, and then the end.
pub(crate) fn to_its_end(
    store: Arc<dyn Store>,
    root: ThreadId,
    dialect: Dialect,
    after_seq: u64,
    closing: CancellationToken,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let tail = store.tail();
    let lines = Lines::new(root.clone(), dialect, view::FRAMES_PER_EVENT * (after_seq + 1) - 1);
    let run =
        Run { follower: Follower::new(store, root.clone()), root, lines, tail, after_seq, is_over: false, closing };
    stream::unfold(run, Run::next)
}

struct Run {
    root: ThreadId,
    follower: Follower,
    lines: Lines,
    tail: tokio::sync::watch::Receiver<u64>,
    after_seq: u64,
    is_over: bool,
    closing: CancellationToken,
}

impl Run {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        while !self.is_over {
            self.tail.borrow_and_update();
            let page = match self.follower.read().await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(root = %self.root, %error, "a run cannot be followed");
                    return None;
                }
            };
            let mut bytes = BytesMut::new();
            for record in &page {
                put_all(&mut bytes, self.lines.push(&logged(record)));
                if record.seq > self.after_seq && majordomo::follow::root_report(record, &self.root).is_some() {
                    self.is_over = true;
                    break;
                }
            }
            if !bytes.is_empty() {
                return Some((bytes.freeze(), self));
            }
            if page.is_empty() {
                tokio::select! {
                    () = self.closing.cancelled() => return None,
                    changed = tokio::time::timeout(HEARTBEAT, self.tail.changed()) => match changed {
                        Ok(Ok(())) => {}
                        Ok(Err(_)) => return None,
                        Err(_) => return Some((Bytes::from_static(b": still here\n\n"), self)),
                    },
                }
            }
        }
        None
    }
}

fn put_all(bytes: &mut BytesMut, lines: Vec<Line>) {
    for line in lines {
        put(bytes, Some(line.id), &line.text);
    }
}

fn put(bytes: &mut BytesMut, id: Option<u64>, text: &str) {
    if let Some(id) = id {
        bytes.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    // A line of JSON has no line ends in it.
    bytes.extend_from_slice(b"data: ");
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(b"\n\n");
}
