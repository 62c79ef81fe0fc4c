//! Servers that are no providers, or not honest ones.

use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{Fault, ModelServer, Turn};
use provider::{Wire, limits};

use super::stage::{WIRES, ask, with};

async fn answered_with(wire: Wire, headers: &[(&'static str, &str)], body: Vec<u8>) -> agent::model::CallError {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let turn = Turn::default().fault(Fault::Other { headers, body });
    let server = ModelServer::start(move |_| turn.clone()).await;
    with(&server, wire).ask(ask()).await.expect_err("no answer in there")
}

#[tokio::test]
async fn a_success_that_is_no_stream_is_garbled_and_asks_for_the_address() {
    // F18
    for wire in WIRES {
        let page = answered_with(wire, &[("content-type", "text/html")], b"<html>Sign in</html>".to_vec()).await;
        assert_eq!(page.kind, Kind::Garbled);
        assert!(page.message.contains("text/html") && page.message.contains("address of its API"), "{page}");
        let json = answered_with(wire, &[("content-type", "application/json")], b"{\"choices\":[]}".to_vec()).await;
        assert_eq!(json.kind, Kind::Garbled);
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
