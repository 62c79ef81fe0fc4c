//! What a program prints, line by line, before the protocol sees it: bounded, and without what is no message.
//!
//! A line that is too long, nested too deeply or no text would leave its call waiting until its time is up. Where the line says which
//! request it answers, an error takes its place, so that the call fails at once and the connection goes on. Other noise is left out.
//!
//! The newest revision of the protocol begins with a request that older servers should refuse, and that some never answer. After
//! a while it is refused here in their place.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::Instant;

/// The depth to which values are read.
const DEEPEST: usize = 120;
/// The longest line.
pub(crate) const LONGEST_LINE: usize = 8 * 1024 * 1024;

/// So many bytes or lines within [`FLOOD_TIME`] are an accident or an attack. Short lines cost more to read than their bytes.
const FLOOD_BYTES: usize = 256 * 1024 * 1024;
const FLOOD_LINES: usize = 200_000;
const FLOOD_TIME: Duration = Duration::from_secs(60);

/// How long the first request may be unanswered. A server of the newest revision that is slow to start must have answered by then, for it does
/// not take the second one; one that ignores the first is started by then, and answers the second at once.
const FIRST_ANSWER: Duration = Duration::from_secs(7);

/// How far into a line it is looked for the request that it answers.
const HEAD: usize = 512;

/// The number of the first request.
const FIRST: &str = "0";

/// Why there are no more lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The program closed its output, or the connection was closed here.
    Closed,
    /// It printed without end.
    Flooded,
}

/// Passes on what a program prints until it ends. `answers_first` says whether the first request is refused here after a while.
pub(crate) async fn pump(from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, answers_first: bool) -> End {
    let mut from = BufReader::with_capacity(64 * 1024, from);
    let mut line = Line::default();
    let (mut since, mut bytes, mut lines) = (Instant::now(), 0, 0);
    let first_due = Instant::now() + FIRST_ANSWER;
    let mut first = if answers_first { First::Awaited } else { First::Answered };
    loop {
        let available = tokio::select! {
            read = from.fill_buf() => match read {
                Ok([]) | Err(_) => return End::Closed,
                Ok(available) => available,
            },
            () = tokio::time::sleep_until(first_due), if first == First::Awaited => {
                first = First::Refused;
                if write(&mut to, &refusal(FIRST, -32601, "not answered in time")).await.is_err() {
                    return End::Closed;
                }
                continue;
            }
        };
        let newline = available.iter().position(|byte| *byte == b'\n');
        let taken = newline.map_or(available.len(), |at| at + 1);
        line.push(&available[..taken]);
        from.consume(taken);
        if since.elapsed() > FLOOD_TIME {
            (since, bytes, lines) = (Instant::now(), 0, 0);
        }
        bytes += taken;
        lines += usize::from(newline.is_some());
        if bytes > FLOOD_BYTES || lines > FLOOD_LINES {
            return End::Flooded;
        }
        if newline.is_none() {
            continue;
        }
        let whole = std::mem::take(&mut line);
        let Some(passed) = whole.passed() else { continue };
        let answered = answered(&passed);
        match first {
            // The late answer to what was refused here.
            First::Refused if answered.as_deref() == Some(FIRST) => continue,
            First::Awaited if answered.is_some() => first = First::Answered,
            First::Awaited | First::Refused | First::Answered => {}
        }
        if write(&mut to, &passed).await.is_err() {
            return End::Closed;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Awaited,
    Refused,
    Answered,
}

/// A line, of which no more than the longest is kept.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    is_too_long: bool,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > LONGEST_LINE {
            self.is_too_long = true;
        }
        let room = if self.is_too_long { HEAD.saturating_sub(self.bytes.len()) } else { bytes.len() };
        self.bytes.extend_from_slice(&bytes[..room.min(bytes.len())]);
        if self.is_too_long {
            self.bytes.truncate(HEAD);
        }
    }

    /// The message of the line, or an error in its place; none for noise.
    fn passed(self) -> Option<Vec<u8>> {
        let start = self.bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let bytes = &self.bytes[start..];
        if bytes[0] != b'{' {
            return None;
        }
        let problem = match self.is_too_long {
            true => format!("the server's answer has more than {} MiB", LONGEST_LINE / (1024 * 1024)),
            false => match readable(bytes) {
                Ok(()) => return Some(bytes.to_vec()),
                Err(error) => format!("the server's answer cannot be read: {error}"),
            },
        };
        // Only an answer has a call that waits for it.
        let head = &bytes[..bytes.len().min(HEAD)];
        let number = number_in(head).filter(|_| find(head, b"\"method\"").is_none())?;
        Some(refusal(&number, -32603, &problem))
    }
}

/// Whether a message can be read, or why not. Passing over one is quick and has no limit of depth; reading one as a value has, and is done
/// where a message may be that deep.
fn readable(bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let opened = bytes.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
    let read = match opened > DEEPEST {
        true => serde_json::from_str::<serde_json::Value>(text).map(drop),
        false => serde_json::from_str::<IgnoredAny>(text).map(drop),
    };
    read.map_err(|error| error.to_string())
}

async fn write(to: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> std::io::Result<()> {
    to.write_all(line).await?;
    if !line.ends_with(b"\n") {
        to.write_all(b"\n").await?;
    }
    to.flush().await
}

/// An error as a server would send it.
fn refusal(number: &str, code: i32, message: &str) -> Vec<u8> {
    let message = serde_json::Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":{code},"message":{message}}}}}"#).into_bytes()
}

/// The request that a message answers.
fn answered(message: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        method: Option<IgnoredAny>,
    }
    let head: Head<'_> = serde_json::from_slice(message).ok()?;
    head.method.is_none().then(|| head.id.map(|id| id.get().to_owned()))?
}

/// The request's number in the beginning of a message that cannot be parsed.
fn number_in(head: &[u8]) -> Option<String> {
    let after = &head[find(head, b"\"id\"")? + 4..];
    let after = std::str::from_utf8(after.split(|byte| !byte.is_ascii()).next()?).ok()?;
    let number = after.trim_start().strip_prefix(':')?.trim_start();
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    (1..=18).contains(&end).then(|| number[..end].to_owned())
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pumped(printed: Vec<u8>) -> String {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024 * 1024);
        assert_eq!(pump(printed.as_slice(), ours, false).await, End::Closed);
        let mut passed = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut theirs, &mut passed).await.expect("text");
        passed
    }

    // T52
    #[tokio::test]
    async fn noise_is_left_out_and_messages_pass() {
        let passed =
            pumped(b"Server ready on stdio\n\n  {\"id\":1,\"result\":{}}\r\n[1]\n{\"half\": \n".to_vec()).await;
        assert_eq!(passed.trim(), "{\"id\":1,\"result\":{}}");
    }

    // T52
    #[tokio::test]
    async fn an_answer_that_is_too_long_too_deep_or_no_text_is_an_error_for_its_call() {
        let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"{}\"}}\n", "x".repeat(LONGEST_LINE));
        let passed = pumped(long.into_bytes()).await;
        assert!(passed.contains("\"id\":7") && passed.contains("more than 8 MiB") && passed.len() < 200, "{passed}");

        let deep = format!("{{\"id\": 8,\"result\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
        let passed = pumped(deep.into_bytes()).await;
        assert!(passed.contains("\"id\":8") && passed.contains("cannot be read"), "{passed}");

        let mut odd = b"{\"id\":9,\"result\":\"".to_vec();
        odd.extend([0xFF, 0xFE]);
        odd.extend(b"\"}\n{\"id\":10,\"result\":1}\n");
        let passed = pumped(odd).await;
        assert!(passed.contains("\"id\":9") && passed.contains("{\"id\":10,\"result\":1}"), "{passed}");
    }

    // T52
    #[tokio::test]
    async fn a_request_that_cannot_be_read_answers_no_call() {
        let deep = format!("{{\"id\":3,\"method\":\"x\",\"params\":{}\n", "[".repeat(1000));
        assert_eq!(pumped(deep.into_bytes()).await, "");
    }

    #[tokio::test(start_paused = true)]
    async fn a_first_request_that_is_never_answered_is_refused_and_its_late_answer_left_out() {
        let (mut server, from) = tokio::io::duplex(4096);
        let (to, client) = tokio::io::duplex(4096);
        let pumping = tokio::spawn(pump(from, to, true));
        let mut lines = BufReader::new(client).lines();
        let refused = lines.next_line().await.unwrap().unwrap();
        assert!(refused.contains("\"id\":0") && refused.contains("-32601"), "{refused}");
        server.write_all(b"{\"id\":0,\"result\":{}}\n{\"id\":1,\"result\":{}}\n").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("{\"id\":1,\"result\":{}}"));
        drop(server);
        assert_eq!(pumping.await.unwrap(), End::Closed);
    }
}
