//! A few connections that only look, each used by one request at a time on a thread that may block.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::fault::Quarantine;
use super::opened_file::OpenedFile;
use super::{file, read};
use crate::error::Error;

/// Requests that look at the same time; further ones wait.
const CONNECTIONS: usize = 4;

/// Connections that only look.
pub(super) struct Readers {
    opened: OpenedFile,
    busy_timeout: Duration,
    quarantine: Quarantine,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    /// Opens nothing yet.
    pub(super) fn new(opened: OpenedFile, busy_timeout: Duration, quarantine: Quarantine) -> Self {
        Self {
            opened,
            busy_timeout,
            quarantine,
            permits: Arc::new(Semaphore::new(CONNECTIONS)),
            idle: Mutex::default(),
        }
    }

    /// The file that is looked at.
    pub(super) fn path(&self) -> &Path {
        self.opened.path()
    }

    /// Whether reads are answered, and the file is the one that was opened.
    pub(super) fn is_there(&self) -> bool {
        !self.permits.is_closed() && self.opened.check().is_ok()
    }

    /// Opens every connection that there may be.
    pub(super) async fn open_all(self: Arc<Self>) -> Result<(), Error> {
        let permits = self.permits.clone().acquire_many_owned(CONNECTIONS as u32).await.map_err(|_| Error::Closed)?;
        let opening = tokio::task::spawn_blocking(move || {
            // No caller uses one at this moment, so that all that are open are idle.
            while self.idle().len() < CONNECTIONS {
                let connection = file::open_reader(self.opened.path(), self.busy_timeout)?;
                // SQLite opens the log beside the file when it first reads.
                read::newest(&connection)?;
                self.idle().push(connection);
            }
            drop(permits);
            Ok(())
        });
        opening.await.map_err(|_| Error::Closed)?
    }

    /// Answers a request.
    pub(super) async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        request: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| Error::Closed)?;
        let looking = tokio::task::spawn_blocking(move || {
            let answer = self.look(request);
            drop(permit);
            answer
        });
        looking.await.map_err(|_| Error::Closed)?
    }

    /// Refuses every further request, and lets go of the file when the last one is answered.
    pub(super) fn close(&self) {
        self.permits.close();
        self.idle().clear();
    }

    fn look<T>(&self, request: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.opened.check().inspect_err(|gone| self.quarantine.note(gone))?;
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => file::open_reader(self.opened.path(), self.busy_timeout)?,
        };
        let answer = request(&connection);
        if let Err(failure) = &answer {
            self.quarantine.note(failure);
        }
        let mut idle = self.idle();
        if !self.permits.is_closed() {
            idle.push(connection);
        }
        answer
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
