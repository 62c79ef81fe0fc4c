//! Readers that stand still, over real sockets. Nothing is asserted about how long anything takes: a test waits for what must
//! happen.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::sync::{Mutex, mpsc};

use super::*;
use crate::live::tests::{Written, numbers};

/// Serves a router, with so much patience.
async fn serve(router: Router, stalled: Duration) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let addr = listener.local_addr().expect("an address");
    tokio::spawn(Host { router, closing: CancellationToken::new(), stalled, most: MAX_CONNECTIONS }.serve(listener));
    addr
}

/// Asks for a path with little room for what is not taken, and takes nothing yet.
async fn ask(addr: std::net::SocketAddr, path: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("little room");
    ask_through(socket, addr, path).await
}

async fn ask_through(socket: TcpSocket, addr: std::net::SocketAddr, path: &str) -> TcpStream {
    let mut stream = socket.connect(addr).await.expect("a connection");
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").as_bytes()).await.expect("sent");
    stream
}

/// Everything that comes until the connection ends, however it does.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 65536]);
    while let Ok(length @ 1..) = stream.read(&mut piece).await {
        all.extend_from_slice(&piece[..length]);
    }
    all
}

/// Says that it is dropped.
struct Held(mpsc::UnboundedSender<()>);

impl Drop for Held {
    fn drop(&mut self) {
        // The test may be over.
        let _ = self.0.send(());
    }
}

// T8
#[tokio::test]
async fn a_reader_that_stands_still_is_cut_off_and_what_it_was_read_from_let_go() {
    let (let_go, mut cut_off) = mpsc::unbounded_channel();
    let endless = move || async move {
        let held = Held(let_go);
        let pieces = stream::repeat_with(move || {
            let _held = &held;
            Ok::<_, io::Error>(Bytes::from_static(&[b'x'; 10_000]))
        });
        Response::new(Body::from_stream(pieces))
    };
    let addr = serve(Router::new().route("/", get(endless)), Duration::from_millis(50)).await;
    let mut stream = ask(addr, "/").await;
    assert_eq!(cut_off.recv().await, Some(()));
    let taken = rest(&mut stream).await;
    assert!(taken.starts_with(b"HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn a_reader_that_goes_on_in_time_is_told_everything() {
    const PIECES: usize = 500;
    let (taken_from, mut told) = mpsc::channel::<()>(PIECES);
    let long = move || async move {
        let pieces = stream::iter(0..PIECES).map(move |_| {
            taken_from.try_send(()).expect("there is room for all");
            Ok::<_, io::Error>(Bytes::from_static(&[b'x'; 10_000]))
        });
        Response::new(Body::from_stream(pieces))
    };
    let addr = serve(Router::new().route("/", get(long)), Duration::from_secs(600)).await;
    let mut stream = ask(addr, "/").await;
    told.recv().await.expect("it begins");
    // It stands still until nothing more goes into the socket.
    while let Ok(Some(())) = tokio::time::timeout(Duration::from_millis(100), told.recv()).await {}
    let (mut all, mut piece) = (0, vec![0; 65536]);
    while all < PIECES * 10_000 {
        let length = stream.read(&mut piece).await.expect("it is not cut off");
        all += piece[..length].iter().filter(|byte| **byte == b'x').count();
    }
}

/// What a watcher's route needs.
#[derive(Clone)]
struct Watching {
    written: Arc<Mutex<Written>>,
    let_go: mpsc::UnboundedSender<()>,
}

#[derive(Deserialize)]
struct Seen {
    after: u64,
}

async fn watch(State(watching): State<Watching>, Query(seen): Query<Seen>) -> Response {
    let frames = watching.written.lock().await.watch(seen.after).await;
    let held = Held(watching.let_go);
    Response::new(Body::from_stream(frames.map(move |bytes| {
        let _held = &held;
        Ok::<_, io::Error>(bytes)
    })))
}

#[tokio::test]
async fn a_watcher_that_stands_still_is_cut_off_and_comes_back_without_a_gap() {
    let written = Arc::new(Mutex::new(Written::new().await));
    let (let_go, mut cut_off) = mpsc::unbounded_channel();
    let router = Router::new().route("/", get(watch)).with_state(Watching { written: written.clone(), let_go });
    let addr = serve(router, Duration::from_millis(50)).await;
    let mut stream = ask(addr, "/?after=0").await;
    let text = "a long story ".repeat(1000);
    while cut_off.try_recv().is_err() {
        written.lock().await.say(&text).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut told = numbers(&rest(&mut stream).await);
    let last = written.lock().await.say("the end").await;
    // It may be cut off again before it comes to an end, for it is hurried: then it comes back again.
    while told.last() != Some(&last) {
        let path = format!("/?after={}", told.last().copied().unwrap_or(0));
        let mut stream = ask_through(TcpSocket::new_v4().expect("a socket"), addr, &path).await;
        let (mut came, mut piece) = (Vec::new(), vec![0; 65536]);
        while let Ok(length @ 1..) = stream.read(&mut piece).await {
            came.extend_from_slice(&piece[..length]);
            if numbers(&came).last() == Some(&last) {
                break;
            }
        }
        told.extend(numbers(&came));
    }
    assert_eq!(told, written.lock().await.after(0));
}

// F39
#[test]
fn connections_leave_half_of_the_files_that_may_be_open_to_the_agents() {
    for (files, connections) in [
        (Some(256), 128),
        (Some(1024), 512),
        (Some(OPEN_FILES), MAX_CONNECTIONS),
        (Some(1_048_576), MAX_CONNECTIONS),
        (None, MAX_CONNECTIONS),
        (Some(1), 1),
    ] {
        assert_eq!(most_connections(files), connections, "{files:?}");
    }
}

// F39: further ones wait, and are taken once there is room
#[tokio::test]
async fn no_more_connections_are_taken_than_there_may_be() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let addr = listener.local_addr().expect("an address");
    let router = Router::new().route("/", get(async || "here"));
    tokio::spawn(Host { router, closing: CancellationToken::new(), stalled: STALLED, most: 1 }.serve(listener));
    let mut first = ask(addr, "/").await;
    let mut piece = [0; 4096];
    assert!(first.read(&mut piece).await.expect("an answer") > 0);
    let mut second = ask(addr, "/").await;
    let waits = tokio::time::timeout(Duration::from_millis(100), second.read(&mut piece)).await;
    assert!(waits.is_err(), "the first one still has the only place");
    drop(first);
    assert!(second.read(&mut piece).await.expect("an answer") > 0);
}

// T8: the first line and the headers are counted, to the byte, however they arrive
#[tokio::test]
async fn a_head_that_is_too_large_is_refused_and_the_largest_is_answered() {
    let addr = serve(Router::new().route("/", get(async || "here")), STALLED).await;
    let status = async |head: usize, pieces: usize| {
        let (line, end) = ("GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nX-Long: ", "\r\n\r\n");
        let request = format!("{line}{}{end}", "x".repeat(head - line.len() - end.len()));
        let mut stream = TcpStream::connect(addr).await.expect("a connection");
        for piece in request.as_bytes().chunks(request.len().div_ceil(pieces)) {
            // It may be refused before all of it is sent.
            let _ = stream.write_all(piece).await;
            tokio::task::yield_now().await;
        }
        let answer = String::from_utf8(rest(&mut stream).await).expect("text");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    for pieces in [1, 7, 100] {
        assert_eq!(status(31 * 1024, pieces).await, "200", "in {pieces} pieces");
        assert_eq!(status(MAX_HEAD, pieces).await, "200", "in {pieces} pieces");
        assert_eq!(status(MAX_HEAD + 1, pieces).await, "431", "in {pieces} pieces");
        assert_eq!(status(33 * 1024, pieces).await, "431", "in {pieces} pieces");
        assert_eq!(status(40 * 1024, pieces).await, "431", "in {pieces} pieces");
    }
}
