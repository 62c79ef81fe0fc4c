//! Sees what other processes write, by asking SQLite every few milliseconds whether the file has changed.
//!
//! Asks only while a receiver exists. What this process writes is announced by the writer itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use super::opened_file::OpenedFile;
use super::{file, read};
use crate::error::Error;

/// How often the file is looked at.
const POLL: Duration = Duration::from_millis(30);

/// Tells listeners the newest position.
pub(super) struct Follower {
    opened: OpenedFile,
    busy_timeout: Duration,
    tail: Arc<watch::Sender<u64>>,
    watch: Arc<Mutex<Watch>>,
}

/// Whether the file is polled.
#[derive(Default)]
pub(super) enum Watch {
    /// No receiver exists.
    #[default]
    Off,
    /// Tells the thread that looks to end.
    On(mpsc::Sender<()>),
    /// The store is closed.
    Closed,
}

impl Follower {
    /// Looks at nothing yet.
    pub(super) fn new(opened: OpenedFile, busy_timeout: Duration, tail: Arc<watch::Sender<u64>>) -> Self {
        Self { opened, busy_timeout, tail, watch: Arc::default() }
    }

    /// The newest position, from here on followed.
    pub(super) fn tail(&self) -> watch::Receiver<u64> {
        let mut watch = self.watch();
        let receiver = self.tail.subscribe();
        if let Watch::Off = *watch {
            let (on, off) = mpsc::channel();
            let watcher = Watcher {
                opened: self.opened.clone(),
                busy_timeout: self.busy_timeout,
                tail: self.tail.clone(),
                watch: self.watch.clone(),
                off,
            };
            // Without a thread the receiver still hears of this process's own commits, and the next caller tries again.
            if thread::Builder::new().name("store follower".into()).spawn(move || watcher.run()).is_ok() {
                *watch = Watch::On(on);
            }
        }
        receiver
    }

    /// The newest position that listeners were told.
    pub(super) fn announced(&self) -> u64 {
        *self.tail.borrow()
    }

    /// Whether the file is polled.
    pub(super) fn watch(&self) -> MutexGuard<'_, Watch> {
        lock(&self.watch)
    }

    /// Whether the file is looked at.
    #[cfg(test)]
    pub(super) fn is_looking(&self) -> bool {
        matches!(*self.watch(), Watch::On(_))
    }

    /// Looks no more, and wakes those who wait for the next position: their next read tells them that the store is closed.
    pub(super) fn close(&self) {
        if let Watch::On(stop) = std::mem::replace(&mut *self.watch(), Watch::Closed) {
            // Who looks may have ended by itself.
            let _ = stop.send(());
        }
        self.tail.send_modify(|_| {});
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.close();
    }
}

struct Watcher {
    opened: OpenedFile,
    busy_timeout: Duration,
    tail: Arc<watch::Sender<u64>>,
    watch: Arc<Mutex<Watch>>,
    off: mpsc::Receiver<()>,
}

impl Watcher {
    fn run(self) {
        let mut seen = None;
        let mut connection = None;
        loop {
            // A look that fails says nothing; a later one may succeed, and who reads is told the reason.
            if self.look(&mut connection, &mut seen).is_err() {
                connection = None;
                seen = None;
            }
            match self.off.recv_timeout(POLL) {
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
            let mut watch = lock(&self.watch);
            if self.tail.receiver_count() == 0 {
                if let Watch::On(_) = *watch {
                    *watch = Watch::Off;
                }
                return;
            }
        }
    }

    fn look(&self, connection: &mut Option<Connection>, seen: &mut Option<i64>) -> Result<(), Error> {
        let connection = match connection {
            Some(connection) => connection,
            None => {
                let opened = file::open_reader(self.opened.path(), self.busy_timeout)?;
                // Another file's numbers mean nothing here.
                self.opened.check()?;
                connection.insert(opened)
            }
        };
        let version = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if *seen == Some(version) {
            return Ok(());
        }
        let newest = read::newest(connection)?;
        *seen = Some(version);
        self.tail.send_if_modified(|tail| {
            let is_newer = *tail < newest;
            *tail = newest.max(*tail);
            is_newer
        });
        Ok(())
    }
}

fn lock(watch: &Mutex<Watch>) -> MutexGuard<'_, Watch> {
    watch.lock().unwrap_or_else(PoisonError::into_inner)
}
