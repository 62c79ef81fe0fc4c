//! The clients: many connections, each read as far as the numbers of its frames and no further, so that what they cost stays
//! small beside what they measure.
//!
//! A client that stops reading is one whose task has ended while its socket is open.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use futures_util::future::try_join_all;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

use super::server::{Door, Moments};
use crate::gauge;

/// As much as is taken at once.
const READ: usize = 16 * 1024;
/// As much as the system takes for one who will stand still.
const LITTLE: u32 = 8 * 1024;
/// How often it is looked whether all have come so far.
const LOOK: Duration = Duration::from_millis(20);
/// After so long a client has missed something for good.
const PATIENCE: Duration = Duration::from_secs(60);

/// Many clients of one server.
pub struct Crowd {
    door: Door,
    clients: Vec<Client>,
}

struct Client {
    stream: Arc<TcpStream>,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<io::Result<()>>,
}

impl Crowd {
    /// Lets so many join at once. The last `slow` of them have little room for what they do not take.
    pub async fn join(door: &Door, count: usize, slow: usize) -> anyhow::Result<Self> {
        let join = |number: usize| async move {
            let seen = Arc::new(Mutex::new(Seen { keeps_bytes: number == 0, ..Seen::default() }));
            let stream = connect(door, 0, number + slow >= count).await?;
            let task = tokio::spawn(read(stream.clone(), seen.clone()));
            anyhow::Ok(Client { stream, seen, task })
        };
        Ok(Self { door: door.clone(), clients: try_join_all((0..count).map(join)).await? })
    }

    /// Waits until each of the first `count` has seen a frame; the moment at which the last one had.
    pub async fn until(&self, frame: u64, count: usize) -> anyhow::Result<u64> {
        let all = async {
            while let Some(at) = self.clients[..count].iter().position(|client| client.seen().last() < frame) {
                let client = &self.clients[at];
                ensure!(!client.task.is_finished(), "client {at} lost its connection after {}", client.seen().last());
                tokio::time::sleep(LOOK).await;
            }
            Ok(self.clients[..count].iter().filter_map(|client| client.seen().came_at(frame)).max().unwrap_or(0))
        };
        tokio::time::timeout(PATIENCE, all).await.context("a frame did not come to everybody")?
    }

    /// Those from `first` on stand still.
    pub fn stand_still(&self, first: usize) {
        for client in &self.clients[first..] {
            client.task.abort();
        }
    }

    /// Those from `first` on take what is still there for them, and come back if they were cut off; how many were.
    pub async fn go_on(&mut self, first: usize) -> anyhow::Result<usize> {
        let door = self.door.clone();
        let mut cut_off = 0;
        for client in &mut self.clients[first..] {
            let rest = read(client.stream.clone(), client.seen.clone());
            if tokio::time::timeout(Duration::from_millis(50), rest).await.is_ok() {
                cut_off += 1;
                let last = client.seen().begin_again();
                client.stream = connect(&door, last, false).await?;
            }
            client.task = tokio::spawn(read(client.stream.clone(), client.seen.clone()));
        }
        Ok(cut_off)
    }

    /// Everybody has seen exactly these frames, in this order.
    pub fn check(&self, frames: &[u64]) -> anyhow::Result<()> {
        for (number, client) in self.clients.iter().enumerate() {
            let seen = client.seen();
            if seen.frames != frames {
                let at = seen.frames.iter().zip(frames).take_while(|(seen, frame)| seen == frame).count();
                let (saw, due) = (seen.frames.get(at), frames.get(at));
                bail!("client {number} saw {saw:?} as its frame {at}, and {due:?} was due");
            }
        }
        Ok(())
    }

    /// How long each frame took to each of the first `count`, in microseconds, from the shortest to the longest. Frames that came
    /// before the first of the moments do not count.
    pub fn lags(&self, moments: &Moments, count: usize) -> Vec<u64> {
        let begun = moments.first().map_or(u64::MAX, |(_, moment)| *moment);
        let mut lags = Vec::new();
        for client in &self.clients[..count] {
            let seen = client.seen();
            let mut from = 0;
            for (until, came) in &seen.reads {
                for frame in &seen.frames[from..*until] {
                    let at = moments.partition_point(|(last, _)| last < frame);
                    if let Some((_, left)) = moments.get(at).filter(|_| *came >= begun) {
                        lags.push(came.saturating_sub(*left) / 1000);
                    }
                }
                from = *until;
            }
        }
        lags.sort_unstable();
        lags
    }

    /// How often the server wrote to the first `count`, each on average.
    pub fn flushes(&self, count: usize) -> f64 {
        let all: usize = self.clients[..count].iter().map(|client| client.seen().flushes).sum();
        all as f64 / count as f64
    }

    /// What the first client was sent, and when each batch came.
    pub fn batches(&self) -> Vec<(u64, String)> {
        let (mut held, mut batches) = (Vec::new(), Vec::new());
        for (moment, bytes) in &self.clients[0].seen().bytes {
            held.extend_from_slice(bytes);
            while let Some((batch, rest)) = first_batch(&held) {
                batches.push((*moment, batch));
                held = rest;
            }
        }
        batches
    }

    /// Forgets what the first client was sent so far.
    pub fn forget_batches(&self) {
        self.clients[0].seen().bytes.clear();
    }
}

impl Client {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for client in &self.clients {
            client.task.abort();
        }
    }
}

async fn connect(door: &Door, last_event_id: u64, is_slow: bool) -> anyhow::Result<Arc<TcpStream>> {
    let socket = TcpSocket::new_v4()?;
    if is_slow {
        socket.set_recv_buffer_size(LITTLE)?;
    }
    let mut stream = socket.connect(door.addr).await?;
    stream.write_all(format!("{}Last-Event-ID: {last_event_id}\r\n\r\n", door.head).as_bytes()).await?;
    Ok(Arc::new(stream))
}

/// Reads until the connection ends.
async fn read(stream: Arc<TcpStream>, seen: Arc<Mutex<Seen>>) -> io::Result<()> {
    let mut buffer = vec![0; READ];
    loop {
        stream.readable().await?;
        match stream.try_read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => lock(&seen).take(&buffer[..length], gauge::moment_ns()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// What a client has seen.
#[derive(Default)]
struct Seen {
    /// The numbers of whole frames.
    frames: Vec<u64>,
    /// After how many frames something was read last, and when.
    reads: Vec<(usize, u64)>,
    /// Pieces that the server made of its answer: it makes one whenever it writes.
    flushes: usize,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// The number of a frame whose end has not come yet.
    frame: Option<u64>,
    keeps_bytes: bool,
    bytes: Vec<(u64, Vec<u8>)>,
}

/// As much of a line as tells what it is.
const LINE: usize = 24;

impl Seen {
    fn take(&mut self, bytes: &[u8], moment: u64) {
        if self.keeps_bytes {
            self.bytes.push((moment, bytes.to_vec()));
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE - self.line.len();
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line();
                self.line.clear();
            }
        }
        self.reads.push((self.frames.len(), moment));
    }

    fn end_line(&mut self) {
        if let Some(number) = self.line.strip_prefix(b"id: ") {
            self.frame = std::str::from_utf8(number).ok().and_then(|number| number.trim().parse().ok());
        } else if self.line.starts_with(b"data: ") {
            self.frames.extend(self.frame.take());
        } else if piece_length(&self.line).is_some() {
            self.flushes += 1;
        }
    }

    fn last(&self) -> u64 {
        self.frames.last().copied().unwrap_or(0)
    }

    fn came_at(&self, frame: u64) -> Option<u64> {
        let at = self.frames.partition_point(|seen| *seen < frame);
        self.reads.iter().find(|(until, _)| *until > at).map(|(_, moment)| *moment)
    }

    /// Forgets what did not come whole; the last frame that did.
    fn begin_again(&mut self) -> u64 {
        self.line.clear();
        self.frame = None;
        self.last()
    }
}

/// The length of the piece of an answer that a line announces.
fn piece_length(line: &[u8]) -> Option<usize> {
    let digits = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\r"))?;
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// The first whole piece of an answer, and what follows it. A head of an answer before it is passed over.
fn first_batch(bytes: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut rest = bytes;
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let (line, after) = rest.split_at(end + 2);
        if let Some(length) = piece_length(line) {
            let batch = String::from_utf8(after.get(..length)?.to_vec()).ok()?;
            return Some((batch, after.get(length + 2..)?.to_vec()));
        }
        rest = after;
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                          d\r\nretry: 2000\n\n\r\n1d\r\nid: 1000\ndata: {\"type\":\"x\"}\n\n\r\n\
                          32\r\nid: 2000\ndata: {\"a\":1}\n\nid: 2001\ndata: {\"a\":2}\n\n\n\n\r\n";

    #[test]
    fn frames_and_pieces_are_counted_wherever_an_answer_is_cut() {
        for cut in 0..=ANSWER.len() {
            let mut seen = Seen::default();
            let (one, two) = ANSWER.as_bytes().split_at(cut);
            seen.take(one, 1);
            seen.take(two, 2);
            assert_eq!((&seen.frames[..], seen.flushes), (&[1000, 2000, 2001][..], 3), "cut at {cut}");
        }
    }

    #[test]
    fn a_frame_that_did_not_come_whole_was_not_seen() {
        let mut seen = Seen::default();
        seen.take(b"id: 1000\ndata: {}\n\nid: 2000\ndata: {\"a", 1);
        assert_eq!(seen.begin_again(), 1000);
        seen.take(b"id: 2000\ndata: {\"a\":1}\n\n", 2);
        assert_eq!((&seen.frames[..], seen.came_at(2000)), (&[1000, 2000][..], Some(2)));
    }

    #[test]
    fn the_pieces_of_an_answer_are_found_without_what_is_around_them() {
        let (first, rest) = first_batch(ANSWER.as_bytes()).expect("a piece");
        assert_eq!(first, "retry: 2000\n\n");
        let (second, rest) = first_batch(&rest).expect("a piece");
        assert_eq!(second, "id: 1000\ndata: {\"type\":\"x\"}\n\n");
        assert!(first_batch(&rest[..20]).is_none(), "it is not whole");
    }
}
