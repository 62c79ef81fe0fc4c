//! Pages that watch a conversation over HTTP, as a browser does: a connection that ends is made again, from the last event on that came.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agent::ThreadId;
use testkit::world::{Running, until};

/// How long a connection may be silent.
const SILENT: Duration = Duration::from_secs(2);

/// A server that serves pages, and the secret of programs.
#[derive(Clone)]
pub struct PageOf {
    addr: String,
    token: String,
}

impl PageOf {
    /// Of a server, once it listens.
    pub fn running(server: &Running, data: &Path) -> Option<Self> {
        let said = server.said();
        let (_, rest) = said.split_once("listens on http://")?;
        let addr = rest.lines().next()?.trim().to_owned();
        let token = std::fs::read_to_string(data.join("server.token")).ok()?.trim().to_owned();
        Some(Self { addr, token })
    }

    /// Reads what comes after an event, until nothing comes or `is_enough`. An event has a name and a text.
    fn read(&self, thread: &ThreadId, after: Option<&str>, mut take: impl FnMut((String, String)) -> bool) {
        let Ok(mut stream) = TcpStream::connect(&self.addr) else { return };
        stream.set_read_timeout(Some(SILENT)).expect("a socket has a timeout");
        let after = after.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        // In this version of the protocol an answer is sent as it is.
        let request = format!(
            "GET /api/v1/threads/{thread}/events HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{after}\r\n",
            self.addr, self.token
        );
        if stream.write_all(request.as_bytes()).is_err() {
            return;
        }
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        if !lines.next().is_some_and(|status| status.contains(" 200 ")) {
            return;
        }
        let mut id = None;
        for line in lines {
            if let Some(name) = line.strip_prefix("id: ") {
                id = Some(name.to_owned());
            } else if let Some(text) = line.strip_prefix("data: ")
                && let Some(name) = id.take()
                && take((name, text.to_owned()))
            {
                return;
            }
        }
    }
}

/// A page that watches a conversation.
pub struct Page {
    thread: ThreadId,
    seen: Arc<Mutex<Vec<(String, String)>>>,
    server: Arc<Mutex<Option<PageOf>>>,
}

impl Page {
    /// Of a conversation; it watches once it is told which server serves it.
    pub fn of(thread: ThreadId) -> Self {
        let page = Self { thread: thread.clone(), seen: Arc::default(), server: Arc::default() };
        let (seen, server) = (Arc::downgrade(&page.seen), page.server.clone());
        std::thread::spawn(move || {
            while let Some(seen) = seen.upgrade() {
                let serves = lock(&server).clone();
                if let Some(serves) = serves {
                    let last = lock(&seen).last().map(|(id, _)| id.clone());
                    serves.read(&thread, last.as_deref(), |event| {
                        lock(&seen).push(event);
                        false
                    });
                }
                drop(seen);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        page
    }

    /// From here on this server serves it, where it is there.
    pub fn is_served_by(&self, server: Option<PageOf>) {
        *lock(&self.server) = server;
    }

    /// It shows what a page shows that is opened now, each event once and in order.
    #[track_caller]
    pub fn has_shown_all(self, server: &PageOf) {
        self.is_served_by(Some(server.clone()));
        let mut fresh = Vec::new();
        let begun = Instant::now();
        while fresh.is_empty() && begun.elapsed() < Duration::from_secs(30) {
            server.read(&self.thread, None, |event| {
                fresh.push(event);
                false
            });
        }
        assert!(!fresh.is_empty(), "a page is shown");
        until("the page to show all", || (lock(&self.seen).len() >= fresh.len()).then_some(()));
        let seen = lock(&self.seen).clone();
        let differs = seen.iter().zip(&fresh).position(|(one, other)| one != other);
        let part =
            |of: &[(String, String)]| differs.map(|at| of[at.saturating_sub(1)..(at + 2).min(of.len())].to_vec());
        assert_eq!(
            (differs, part(&seen), seen.len()),
            (None, part(&fresh), fresh.len()),
            "{}: no gap, nothing twice",
            self.thread
        );
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
