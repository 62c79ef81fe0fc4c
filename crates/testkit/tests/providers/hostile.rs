//! Servers that are no providers, or not honest ones.

use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{Fault, ModelServer, Turn};
use provider::{ProviderConfig, Timeouts, Wire, limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::stage::{SHORT, WIRES, ask, config, conversation, heading, with};

async fn answered_with(wire: Wire, headers: &[(&'static str, &str)], body: Vec<u8>) -> agent::model::CallError {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let turn = Turn::default().fault(Fault::Other { headers, body });
    let server = ModelServer::start(move |_| turn.clone()).await;
    with(&server, wire).ask(ask()).await.expect_err("no answer in there")
}

#[tokio::test]
async fn a_success_that_is_no_answer_asks_for_the_address_or_is_garbled() {
    // F18
    for wire in WIRES {
        let page = answered_with(wire, &[("content-type", "text/html")], b"<html>Sign in</html>".to_vec()).await;
        assert_eq!(page.kind, Kind::Rejected, "the same request would bring the same page");
        assert!(page.message.contains("text/html") && page.message.contains("address of its API"), "{page}");
        let json = answered_with(wire, &[("content-type", "application/json")], b"{\"choices\":[]}".to_vec()).await;
        // Of lines, one without its end is the place where the answer was cut.
        assert_eq!(json.kind, if wire == Wire::Ollama { Kind::Truncated } else { Kind::Garbled });
        let garbage = answered_with(wire, &[("content-type", "text/event-stream")], b"data: }{\n\n".to_vec()).await;
        assert_eq!(garbage.kind, Kind::Garbled);
    }
}

#[tokio::test]
async fn an_error_that_comes_as_a_success_is_still_an_error() {
    // F18
    let body = br#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#.to_vec();
    let error = answered_with(Wire::Anthropic, &[("content-type", "application/json")], body).await;
    assert_eq!(error.kind, Kind::Overloaded);
}

#[tokio::test]
async fn a_gzip_bomb_is_defused_at_the_limit() {
    // F18
    let bomb = bomb(200 << 20);
    assert!(bomb.len() < 2 << 20, "it is small on the wire");
    for wire in WIRES {
        let headers = [("content-type", "text/event-stream"), ("content-encoding", "gzip")];
        let error = answered_with(wire, &headers, bomb.clone()).await;
        assert_eq!(error.kind, Kind::Garbled);
        assert!(error.message.contains(&limits::LINE_BYTES.to_string()), "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_unpacked_is_garbled() {
    // F18
    let headers = [("content-type", "text/event-stream"), ("content-encoding", "gzip")];
    let error = answered_with(Wire::OpenAi, &headers, b"this is not gzip at all, it only says so".to_vec()).await;
    assert_eq!(error.kind, Kind::Garbled, "{error}");
}

/// A server that sends a beginning, and from then on nothing but comments, for as long as the client is connected.
async fn murmuring(beginning: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = stream.write_all(format!("{head}{beginning}").as_bytes()).await;
            while stream.write_all(b": still here\n\n").await.is_ok() {
                tokio::time::sleep(SHORT / 10).await;
            }
        }
    });
    url
}

#[tokio::test]
async fn a_whole_answer_is_not_held_back_by_a_server_that_only_murmurs_on() {
    // F15, F19
    let whole = "data: {\"choices\":[{\"delta\":{\"content\":\"good\"},\"finish_reason\":\"stop\"}]}\n\n";
    let answer = conversation(config(Wire::OpenAi, murmuring(whole).await)).ask(ask()).await.expect("the answer");
    assert_eq!(heading(&answer).0, "good");
}

#[tokio::test]
async fn a_server_that_only_says_that_it_is_there_is_not_believed_for_ever() {
    // F15, F19
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"some words\"}}]}\n\n";
    let timeouts = Timeouts { idle: SHORT * 3, ..Timeouts::default() };
    let config = ProviderConfig { timeouts, ..config(Wire::OpenAi, murmuring(begun).await) };
    let error = conversation(config).ask(ask()).await.expect_err("nothing more comes");
    assert_eq!((error.kind, error.partial.as_deref()), (Kind::Truncated, Some("some words")));
    assert!(error.message.contains("nothing but keep-alive signals came for"), "{error}");
}

#[tokio::test]
async fn what_does_not_speak_tls_where_it_should_is_told_as_a_connection_that_failed() {
    // F15
    let server = murmuring("").await.replace("http://", "https://");
    let error = conversation(config(Wire::OpenAi, server.clone())).ask(ask()).await.expect_err("no answer");
    assert_eq!(error.kind, Kind::Connection, "{error}");
    assert!(error.message.contains(&server), "{error}");
}

#[tokio::test]
async fn a_server_that_never_takes_a_connection_is_not_waited_for_for_ever() {
    // F15: the line of those who wait for a connection is full, so that the system answers nobody any more.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let listener = socket.listen(1).expect("a line of one");
    let address = listener.local_addr().expect("an address");
    let mut waiting = Vec::new();
    while let Ok(connected) = tokio::time::timeout(SHORT, TcpStream::connect(address)).await {
        waiting.push(connected.expect("a place in the line"));
    }
    let timeouts = Timeouts { connect: SHORT, ..Timeouts::default() };
    let config = ProviderConfig { timeouts, ..config(Wire::Anthropic, format!("http://{address}")) };
    let error = conversation(config).ask(ask()).await.expect_err("no connection");
    assert_eq!((error.kind, error.partial), (Kind::Connection, None));
}

#[tokio::test]
async fn a_huge_error_body_is_read_only_in_part() {
    // F18
    let headers = [("content-type", "text/plain")];
    let error = answered_with(Wire::OpenAi, &headers, vec![b'x'; 30 << 20]).await;
    assert_eq!(error.kind, Kind::Garbled);
    assert!(error.message.len() < 1_000, "{error}");
}

/// `size` times the same letter in gzip, written by hand: one literal, then matches of 258 letters one back, all in one
/// block with the fixed code. It has no end, which is never reached.
fn bomb(size: usize) -> Vec<u8> {
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let (mut bits, mut held) = (0_u64, 0);
    let mut put = |value: u64, count: u32| {
        bits |= value << held;
        held += count;
        while held >= 8 {
            bomb.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    };
    let reversed = |code: u64, count: u32| code.reverse_bits() >> (64 - count);
    put(0b011, 3);
    put(reversed(0x30 + u64::from(b'x'), 8), 8);
    for _ in 0..size / 258 {
        put(reversed(0b1100_0101, 8), 8);
        put(0, 5);
    }
    put(0, 7);
    bomb
}
