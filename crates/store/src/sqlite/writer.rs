//! The one thread that writes: it takes all queued requests and commits them in one transaction. While many
//! write, it waits a moment for more.
//!
//! A request checks before it writes, so that a refused one leaves nothing behind and its group goes on without it.
//! Answers are given after the transaction is kept, never before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use super::fault::{self, Quarantine};
#[cfg(feature = "failpoints")]
use super::installation;
use super::opened_file::OpenedFile;
use super::read;
use super::recent::Recent;
use super::write_session::WriteSession;
use crate::error::Error;
#[cfg(feature = "failpoints")]
use crate::failpoint;

/// Requests that may be queued; later ones wait.
const QUEUE: usize = 1024;
/// The most requests of one transaction.
const GROUP: usize = 512;
/// A group of so many is the sign that more are on their way.
const BUSY: usize = 16;
/// How long more are waited for at a time, so that many are kept at the price of one, and how often at the most.
const GATHER: (Duration, u32) = (Duration::from_micros(250), 4);

/// The handle of the thread that writes.
pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    /// Closed when the thread has closed the file.
    ended: watch::Receiver<()>,
}

impl Writer {
    /// Starts the thread, which announces in `tail` what it wrote, and puts it into `recent` while anybody listens.
    pub(super) fn start(
        connection: Connection,
        opened: OpenedFile,
        tail: Arc<watch::Sender<u64>>,
        recent: Arc<Recent>,
        quarantine: Quarantine,
    ) -> Result<Self, Error> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let (alive, ended) = watch::channel(());
        let worker = WriterThread { session: WriteSession::new(connection), opened, tail, recent, quarantine };
        thread::Builder::new()
            .name("store writer".into())
            .spawn(move || {
                worker.work(jobs);
                drop(alive);
            })
            .map_err(fault::io)?;
        Ok(Self { queue: Mutex::new(Some(queue)), ended })
    }

    /// Has a request carried out. It may be carried out more than once before it is kept, and is kept at most once.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        request: impl Fn(&mut WriteSession) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue().clone().ok_or(Error::Closed)?;
        let job = PendingRequest { request, result: None, reply };
        queue.send(Box::new(job)).await.map_err(|_| Error::Closed)?;
        drop(queue);
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Takes no more requests, and waits until those that are queued are answered and the file is closed.
    pub(super) async fn close(&self) {
        self.queue().take();
        // An error is what is waited for: the other end is gone.
        let _ = self.ended.clone().changed().await;
    }

    fn queue(&self) -> MutexGuard<'_, Option<mpsc::Sender<Box<dyn Job>>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A queued request.
trait Job: Send {
    /// Carries it out inside a transaction. An error is a failure of the database; a refusal is kept as the answer.
    fn run(&mut self, session: &mut WriteSession) -> Result<(), Error>;
    /// Gives the answer, once it is known what became of the transaction.
    fn answer(self: Box<Self>, kept: Result<(), Error>);
}

struct PendingRequest<F, T> {
    request: F,
    result: Option<Result<T, Error>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<F, T> Job for PendingRequest<F, T>
where
    F: Fn(&mut WriteSession) -> Result<T, Error> + Send,
    T: Send,
{
    fn run(&mut self, session: &mut WriteSession) -> Result<(), Error> {
        let changes = session.changes();
        self.result = match (self.request)(session) {
            Err(refusal) if refusal.is_refusal() => {
                assert_eq!(changes, session.changes(), "a request checks before it writes: {refusal}");
                Some(Err(refusal))
            }
            Err(failure) => return Err(failure),
            Ok(value) => Some(Ok(value)),
        };
        Ok(())
    }

    fn answer(self: Box<Self>, kept: Result<(), Error>) {
        let PendingRequest { result, reply, .. } = *self;
        // A refusal may rest on what another request of the group wrote; if that is not kept, neither is the refusal.
        let answer = kept.and_then(|()| result.unwrap_or(Err(Error::Closed)));
        // The caller may be gone; what was committed stays committed.
        let _ = reply.send(answer);
    }
}

/// Where the thread works.
struct WriterThread {
    session: WriteSession,
    opened: OpenedFile,
    tail: Arc<watch::Sender<u64>>,
    recent: Arc<Recent>,
    quarantine: Quarantine,
}

impl WriterThread {
    fn work(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        let mut group = Vec::with_capacity(GROUP);
        let mut is_busy = false;
        while jobs.blocking_recv_many(&mut group, GROUP) > 0 {
            if is_busy {
                gather(&mut jobs, &mut group);
            }
            is_busy = group.len() >= BUSY;
            let mut kept = self.keep(&mut group);
            if group.len() > 1 && matches!(kept, Err(Error::Full(_) | Error::Sql(_))) {
                // One of them may be too large or strange; it must not fail the others.
                for mut job in group.drain(..) {
                    let kept = self.keep(std::slice::from_mut(&mut job));
                    job.answer(kept);
                }
                kept = Ok(());
            }
            for job in group.drain(..) {
                job.answer(kept.clone());
            }
        }
        // SQLite removes the log by its name, which may be that of another database by then.
        if self.quarantine.check().is_err() || self.opened.check().is_err() {
            self.session.leave_alone();
        }
    }

    /// Carries out a group in one transaction, all or nothing.
    fn keep(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), Error> {
        self.quarantine.check()?;
        let result = self.transact(group);
        if let Err(failure) = &result {
            self.quarantine.note(failure);
            self.session.abandon(failure);
        }
        let newest = result?;
        let kept = std::mem::take(&mut self.session.cache.kept);
        if self.tail.receiver_count() > 0 {
            // Before it is announced, so that a reader who was told finds it.
            self.recent.add(kept);
        }
        self.tail.send_if_modified(|tail| {
            let is_newer = *tail < newest;
            *tail = newest.max(*tail);
            is_newer
        });
        Ok(())
    }

    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<u64, Error> {
        self.session.begin()?;
        #[cfg(feature = "failpoints")]
        let before = thread_events(&self.session.db)?;
        for job in group {
            job.run(&mut self.session)?;
        }
        self.session.save()?;
        let newest = read::newest(&self.session.db)?;
        #[cfg(feature = "failpoints")]
        let written = thread_events(&self.session.db)? - before;
        #[cfg(feature = "failpoints")]
        failpoint::before_commit(written);
        self.session.commit()?;
        #[cfg(feature = "failpoints")]
        failpoint::after_commit(written);
        self.opened.check()?;
        Ok(newest)
    }
}

/// Events of threads that were ever written. Those of the installation do not count: a test chooses an event of a thread.
#[cfg(feature = "failpoints")]
fn thread_events(db: &Connection) -> Result<u64, Error> {
    Ok(read::newest(db)? - installation::count(db)?)
}

/// Waits for more requests for as long as they keep coming, but not for long.
fn gather(jobs: &mut mpsc::Receiver<Box<dyn Job>>, group: &mut Vec<Box<dyn Job>>) {
    let (pause, times) = GATHER;
    for _ in 0..times {
        let before = group.len();
        if before >= GROUP {
            return;
        }
        thread::sleep(pause);
        while group.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        if group.len() == before {
            return;
        }
    }
}
