//! A wire that breaks: stands between a browser and the server, and cuts every stream of events after one of them.
//!
//! The server is spoken to in HTTP/1.0, in which an answer without a length ends where the connection does: a browser takes in
//! what came before the cut. Of a stream that broke off within a chunk it throws away whatever nobody has read yet, and no more
//! than luck would say how far a page gets.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// By what an answer is known that is a stream of events.
const HEAD: &[u8] = b"text/event-stream";
/// So many bytes of the next event come through, to be thrown away.
const TORN: usize = 7;

/// A proxy on this machine that cuts.
pub struct Cutter {
    pub addr: SocketAddr,
    cuts: Cuts,
}

/// What was asked for, and the number of the event after which the answer was cut.
type Cuts = Arc<Mutex<Vec<(String, u64)>>>;

impl Cutter {
    /// Stands before a server.
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let addr = listener.local_addr().expect("an address");
        let cuts = Cuts::default();
        let counted = cuts.clone();
        thread::spawn(move || {
            for browser in listener.incoming().flatten() {
                let cuts = counted.clone();
                thread::spawn(move || join(browser, server, &cuts));
            }
        });
        Self { addr, cuts }
    }

    /// The numbers of the events after which a stream of this kind was cut.
    pub fn cut_after(&self, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<u64> {
        let cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.iter().filter(|(path, _)| is_wanted(path)).map(|(_, id)| *id).collect()
    }
}

/// Carries bytes both ways until one side ends or the stream is cut.
fn join(mut browser: TcpStream, at: SocketAddr, cuts: &Mutex<Vec<(String, u64)>>) {
    let Ok(mut server) = TcpStream::connect(at) else { return };
    let (Ok(mut asking), Ok(mut asked)) = (browser.try_clone(), server.try_clone()) else { return };
    let asked_for = Arc::new(Mutex::new(String::new()));
    let noted = asked_for.clone();
    thread::spawn(move || {
        let mut piece = [0; 16 * 1024];
        while let Ok(length @ 1..) = asking.read(&mut piece) {
            if let Some(path) = path_of(&piece[..length]) {
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = path;
            }
            speak_plainly(&mut piece[..length]);
            if asked.write_all(&piece[..length]).is_err() {
                break;
            }
        }
        // Either end may go first; the other is told.
        let _ = asked.shutdown(Shutdown::Both);
    });
    let (mut piece, mut stream) = ([0; 16 * 1024], Stream::default());
    while let Ok(length @ 1..) = server.read(&mut piece) {
        let cut = stream.pass(&piece[..length]);
        if browser.write_all(&piece[..cut.map_or(length, |(at, _)| at)]).is_err() {
            break;
        }
        if let Some((_, id)) = cut {
            let path = asked_for.lock().unwrap_or_else(PoisonError::into_inner).clone();
            cuts.lock().unwrap_or_else(PoisonError::into_inner).push((path, id));
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = browser.shutdown(Shutdown::Both);
}

/// What a request asks for, where a piece is the beginning of one.
fn path_of(piece: &[u8]) -> Option<String> {
    let line = piece.split(|byte| *byte == b'\r').next()?;
    let line = str::from_utf8(line).ok()?.strip_suffix(" HTTP/1.1")?;
    line.strip_prefix("GET ").or(line.strip_prefix("POST ")).map(str::to_owned)
}

/// Makes a request one in HTTP/1.0.
fn speak_plainly(request: &mut [u8]) {
    let new = b" HTTP/1.1\r\n";
    if let Some(at) = find(request, new) {
        request[at..at + new.len()].copy_from_slice(b" HTTP/1.0\r\n");
    }
}

/// What has passed on a connection, as far as it matters.
#[derive(Default)]
struct Stream {
    passed: Vec<u8>,
    is_events: bool,
}

impl Stream {
    /// Where a piece is cut, if it is: after an event with a number, and a few bytes into whatever follows it. And that number.
    fn pass(&mut self, piece: &[u8]) -> Option<(usize, u64)> {
        self.passed.extend_from_slice(piece);
        if !self.is_events {
            let Some(head) = find(&self.passed, HEAD) else {
                // A connection may have carried any number of other answers.
                self.passed.drain(..self.passed.len().saturating_sub(HEAD.len()));
                return None;
            };
            self.is_events = true;
            self.passed.drain(..head);
        }
        let id = find(&self.passed, b"\nid: ")?;
        let end = id + find(&self.passed[id..], b"\n\n")? + 2;
        let after = self.passed.len() - end;
        let number = self.passed[id + b"\nid: ".len()..end].split(|byte| *byte == b'\n').next()?;
        // The stream of one run names the thread before the number.
        let number = str::from_utf8(number).expect("a number is text").rsplit('/').next()?.parse().expect("a number");
        Some((piece.len() - after + after.min(TORN), number))
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[test]
fn a_stream_is_cut_after_its_first_event_however_it_arrives() {
    let answer =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\nid: 7\ndata: {}\n\nid: 8\ndata: {}\n\n";
    let through = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\nid: 7\ndata: {}\n\nid: 8\nd";
    for size in [1, 2, 3, 50, 1000] {
        let (mut stream, mut passed) = (Stream::default(), Vec::new());
        for piece in answer.chunks(size) {
            let cut = stream.pass(piece);
            passed.extend_from_slice(&piece[..cut.map_or(piece.len(), |(at, _)| at)]);
            if let Some((_, number)) = cut {
                assert_eq!(number, 7);
                break;
            }
        }
        assert!(through.starts_with(&passed) && passed.len() + TORN >= through.len(), "{size}");
    }
}
