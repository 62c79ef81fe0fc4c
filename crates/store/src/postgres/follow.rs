//! Tells listeners the newest position: at once what this process wrote, and by `NOTIFY` what others did. A notification may be lost, so
//! that the database is also asked now and then.
//!
//! A notification is sent after the commit, never with it: PostgreSQL would commit one transaction after the other. While many commit, one
//! notification tells of all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{sleep, timeout};

use super::connection::{Connector, Pool};
use super::read;
use crate::error::Error;

/// What is not kept is told here.
const LIVE: &str = "majordomo_live";
/// How much of that may wait.
const TELLS: usize = 256;
/// How often at the most others are told.
const PAUSE: Duration = Duration::from_millis(10);
/// How often the database is asked where nothing is heard.
const POLL: Duration = Duration::from_secs(1);
/// How long it is waited after a failure.
const AGAIN: Duration = Duration::from_millis(250);

/// What follows the position in a notification, if threads were left that any process may claim.
const OFFERED: &str = "+";

/// Says what this process wrote.
#[derive(Clone)]
pub(super) struct Announcer {
    tail: Arc<watch::Sender<u64>>,
    written: Arc<watch::Sender<u64>>,
    /// How often threads were left that any process may claim.
    offers: Arc<watch::Sender<u64>>,
    /// Whether other processes are to be told of such with the next notification.
    has_offered: Arc<AtomicBool>,
}

impl Announcer {
    /// This process left a thread that any process may claim, which is told with what it wrote.
    pub(super) fn offered(&self) {
        self.has_offered.store(true, Ordering::Relaxed);
        self.hear_of_offer();
    }

    /// Changes with each such thread.
    pub(super) fn offers(&self) -> watch::Receiver<u64> {
        self.offers.subscribe()
    }

    /// There may be threads to claim.
    pub(super) fn hear_of_offer(&self) {
        self.offers.send_modify(|offers| *offers += 1);
    }

    fn hear(&self, told: &str) {
        let position = told.strip_suffix(OFFERED);
        if position.is_some() {
            self.hear_of_offer();
        }
        if let Ok(position) = position.unwrap_or(told).parse() {
            self.saw(position);
        }
    }

    /// Everything up to this position is kept, and this process wrote it.
    pub(super) fn wrote(&self, position: u64) {
        advance(&self.tail, position);
        advance(&self.written, position);
    }

    /// Something is to be looked at that no event tells of.
    pub(super) fn nudge(&self) {
        self.tail.send_modify(|_| {});
    }

    /// Everything up to this position is kept.
    pub(super) fn saw(&self, position: u64) {
        advance(&self.tail, position);
    }
}

fn advance(to: &watch::Sender<u64>, position: u64) {
    to.send_if_modified(|newest| {
        let is_newer = *newest < position;
        *newest = position.max(*newest);
        is_newer
    });
}

/// Tells listeners the newest position.
pub(super) struct Follower {
    announcer: Announcer,
    connector: Arc<Connector>,
    background: Handle,
    state: Arc<Mutex<State>>,
    /// Whether the database was asked for another reason since the last look.
    is_asked: Arc<AtomicBool>,
    /// What is to be told, and what is heard.
    tells: mpsc::Sender<String>,
    told: broadcast::Sender<Arc<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No receiver exists.
    Off,
    /// Notifications are listened to.
    On,
    /// The store is closed.
    Closed,
}

impl Follower {
    /// Listens to nothing yet. `newest` is the newest position.
    pub(super) fn new(newest: u64, connector: &Arc<Connector>, pool: &Arc<Pool>, background: &Handle) -> Self {
        let sender = |newest| Arc::new(watch::Sender::new(newest));
        let (tail, written, offers) = (sender(newest), sender(newest), sender(0));
        let announcer = Announcer { tail, written, offers, has_offered: Arc::default() };
        let has_offered = announcer.has_offered.clone();
        background.spawn(notify(announcer.written.subscribe(), has_offered, pool.clone()));
        let (tells, to_tell) = mpsc::channel(TELLS);
        background.spawn(tell(to_tell, pool.clone()));
        Self {
            announcer,
            connector: connector.clone(),
            background: background.clone(),
            state: Arc::new(Mutex::new(State::Off)),
            is_asked: Arc::default(),
            tells,
            told: broadcast::channel(TELLS).0,
        }
    }

    /// Has something told to all processes that listen. What comes faster than it can be told is lost.
    pub(super) fn tell(&self, words: String) {
        let _ = self.tells.try_send(words);
    }

    /// What is told.
    pub(super) fn told(&self) -> broadcast::Receiver<Arc<str>> {
        self.told.subscribe()
    }

    pub(super) fn announcer(&self) -> &Announcer {
        &self.announcer
    }

    /// Set by those who learn the newest position for another reason.
    pub(super) fn is_asked(&self) -> &Arc<AtomicBool> {
        &self.is_asked
    }

    /// The newest position, from here on followed.
    pub(super) fn tail(&self) -> watch::Receiver<u64> {
        let mut state = lock(&self.state);
        let receiver = self.announcer.tail.subscribe();
        if *state == State::Off {
            *state = State::On;
            let listener = Listener {
                announcer: self.announcer.clone(),
                told: self.told.clone(),
                connector: self.connector.clone(),
                state: self.state.clone(),
                is_asked: self.is_asked.clone(),
            };
            self.background.spawn(listener.run());
        }
        receiver
    }

    /// Listens no more, and wakes those who wait for the next position: their next read tells them that the store is closed.
    pub(super) fn close(&self) {
        *lock(&self.state) = State::Closed;
        self.announcer.tail.send_modify(|_| {});
    }
}

struct Listener {
    announcer: Announcer,
    told: broadcast::Sender<Arc<str>>,
    connector: Arc<Connector>,
    state: Arc<Mutex<State>>,
    is_asked: Arc<AtomicBool>,
}

impl Listener {
    async fn run(self) {
        while !self.is_over() {
            // A look that fails says nothing; a later one may succeed, and who reads is told the reason.
            if self.listen().await.is_err() {
                sleep(AGAIN).await;
            }
        }
    }

    async fn listen(&self) -> Result<(), Error> {
        let (heard, mut hears) = mpsc::unbounded_channel();
        let link = self.connector.connect_with(Some(heard)).await?;
        link.batch("LISTEN majordomo; LISTEN majordomo_live").await?;
        // What was written before it listened.
        self.announcer.saw(read::newest(&link).await?);
        loop {
            match timeout(POLL, hears.recv()).await {
                Ok(Some(heard)) if &*heard.channel == LIVE => {
                    // There may be no receiver.
                    let _ = self.told.send(heard.words);
                }
                Ok(Some(heard)) => self.announcer.hear(&heard.words),
                Ok(None) => return Err(Error::Closed),
                Err(_) => {
                    if self.is_over() {
                        return Ok(());
                    }
                    if !self.is_asked.swap(false, Ordering::Relaxed) {
                        self.announcer.saw(read::newest(&link).await?);
                    }
                }
            }
        }
    }

    /// Whether nobody listens any more. Said once: the next one that listens starts another task.
    fn is_over(&self) -> bool {
        let mut state = lock(&self.state);
        if *state == State::On && self.announcer.tail.receiver_count() == 0 {
            *state = State::Off;
        }
        *state != State::On
    }
}

/// Sends what is to be told and not kept.
async fn tell(mut to_tell: mpsc::Receiver<String>, pool: Arc<Pool>) {
    let mut words = Vec::new();
    while to_tell.recv_many(&mut words, TELLS).await > 0 {
        let told = async {
            let link = pool.take().await?;
            link.query("SELECT pg_notify($1, w) FROM unnest($2::text[]) w", &[&LIVE, &words]).await
        };
        // It may be lost.
        if let Err(Error::Closed) = told.await {
            return;
        }
        words.clear();
    }
}

/// Tells other processes what this one wrote.
async fn notify(mut written: watch::Receiver<u64>, has_offered: Arc<AtomicBool>, pool: Arc<Pool>) {
    while written.changed().await.is_ok() {
        let mut newest = written.borrow_and_update().to_string();
        if has_offered.swap(false, Ordering::Relaxed) {
            newest.push_str(OFFERED);
        }
        let told = async {
            let link = pool.take().await?;
            link.query("SELECT pg_notify('majordomo', $1)", &[&newest]).await
        };
        // Others ask now and then, and so find it all the same.
        if let Err(Error::Closed) = told.await {
            return;
        }
        sleep(PAUSE).await;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
