//! Connections: how many, how long a request may take to arrive, how much of it is held, and how long a reader may stand still.
//!
//! A reader that takes nothing for [`STALLED`] while there is something for it is cut off by failing its writes, wherever its
//! bytes stand. Until then it costs a socket in which little waits to be sent; after that nothing, for what it did not take is
//! thrown away with the socket.

#[cfg(test)]
mod tests;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// So many connections at once, where as many files may be open; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;
/// So many files must be allowed to be open for a server to take all the connections it can: the other half is for what agents do.
pub const OPEN_FILES: u64 = 2 * MAX_CONNECTIONS as u64;
/// That connections cannot be taken is said once in so long.
const COMPLAINS_EVERY: Duration = Duration::from_secs(1);
/// The head of a request must have arrived by then.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// The most that a request's first line and headers may have, in bytes.
pub(crate) const MAX_HEAD: usize = 32 * 1024;
/// As much as is held of what arrived and is not read yet, and of what waits to be sent. This alone does not bound a head: a
/// buffer is larger than asked for, and a head that is complete within one read is never compared with it.
const MAX_HELD: usize = 32 * 1024;
const MAX_HEADERS: usize = 64;
/// As much as waits in a socket because its reader takes nothing. Without a bound the kernel takes megabytes for each, and it
/// is minutes until anybody sees that the reader stands still.
#[cfg(target_os = "linux")]
const MAX_UNSENT: u32 = 16 * 1024;
/// A reader that takes nothing for so long is cut off.
const STALLED: Duration = Duration::from_secs(10);
/// Requests that are under way when the server closes have so long to end.
const PARTING: Duration = Duration::from_secs(2);

/// Serves connections until `closing`, and then lets those that are under way end.
pub(crate) async fn serve(listener: TcpListener, router: Router, closing: CancellationToken) {
    let most = most_connections(getrlimit(Resource::Nofile).current);
    Host { router, closing, stalled: STALLED, most }.serve(listener).await;
}

/// How many connections are taken where so many files may be open (none: any number). Strangers can open connections, too, and
/// must not take what the agents' own files and commands need.
fn most_connections(open_files: Option<u64>) -> usize {
    let half = open_files.map_or(usize::MAX, |files| usize::try_from(files / 2).unwrap_or(usize::MAX));
    half.clamp(1, MAX_CONNECTIONS)
}

/// Who answers, and with how much patience.
#[derive(Clone)]
struct Host {
    router: Router,
    closing: CancellationToken,
    /// A reader that takes nothing for so long is cut off.
    stalled: Duration,
    /// So many connections at once.
    most: usize,
}

impl Host {
    async fn serve(self, listener: TcpListener) {
        let (room, tasks) = (Arc::new(Semaphore::new(self.most)), TaskTracker::new());
        let mut complained: Option<Instant> = None;
        loop {
            let Ok(place) = room.clone().acquire_owned().await else { break };
            let stream = tokio::select! {
                () = self.closing.cancelled() => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Too many files are open, or the caller has gone again: others may follow.
                        if complained.is_none_or(|last| last.elapsed() >= COMPLAINS_EVERY) {
                            tracing::warn!(%error, "a connection could not be taken");
                            complained = Some(Instant::now());
                        }
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
            };
            let host = self.clone();
            tasks.spawn(async move {
                let _place = place;
                host.talk(stream).await;
            });
        }
        tasks.close();
        let _ = tokio::time::timeout(PARTING, tasks.wait()).await;
    }

    async fn talk(self, stream: TcpStream) {
        let Self { router, closing, stalled, most: _ } = self;
        let io = TokioIo::new(StallGuard::new(stream, stalled));
        let mut talk = std::pin::pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_WITHIN)
                .max_buf_size(MAX_HELD)
                .max_header_size(MAX_HEAD)
                .max_headers(MAX_HEADERS)
                .serve_connection(io, TowerToHyperService::new(router))
        );
        let ended = tokio::select! {
            ended = talk.as_mut() => ended,
            () = closing.cancelled() => {
                talk.as_mut().graceful_shutdown();
                talk.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended");
        }
    }
}

/// A stream whose reader may not stall for ever.
struct StallGuard {
    stream: TcpStream,
    /// For so long it may.
    stalled: Duration,
    /// Until when something must have been taken; none while nothing waits.
    stands_still: Option<Pin<Box<Sleep>>>,
}

impl StallGuard {
    /// What cannot be set of a socket makes it slower, or its reader's standing still be seen later, and is no reason to refuse it.
    fn new(stream: TcpStream, stalled: Duration) -> Self {
        // Small frames should not wait for each other.
        let _ = stream.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(MAX_UNSENT);
        Self { stream, stalled, stands_still: None }
    }

    fn bounded<T>(&mut self, context: &mut Context<'_>, tried: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if tried.is_ready() {
            self.stands_still = None;
            return tried;
        }
        let stalled = self.stalled;
        let until = self.stands_still.get_or_insert_with(|| Box::pin(tokio::time::sleep(stalled)));
        match until.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                // Else the kernel would go on offering it what it did not take.
                let _ = self.stream.set_zero_linger();
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the reader stands still")))
            }
        }
    }
}

impl AsyncRead for StallGuard {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for StallGuard {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, tried)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let tried = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.bounded(context, tried)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
