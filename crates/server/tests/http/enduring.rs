//! What the server survives: addresses that lead nowhere, requests that are too large, too many, too slow.

use std::io::Write;
use std::net::TcpStream;

use serde_json::json;

use crate::open::{Open, PATIENCE, head, status};

// T7, T8
#[tokio::test(flavor = "multi_thread")]
async fn strange_addresses_and_large_requests_are_refused_and_the_server_stays_up() {
    let open = Open::new().await;
    let head = format!("Host: {}\r\nAuthorization: Bearer {}\r\n", open.addr, open.token);
    for path in [
        "/page/../Cargo.toml",
        "/page/..%2f..%2fCargo.toml",
        "/page/%2e%2e/x",
        "/page/%252e%252e/x",
        "/page//etc/passwd",
        "/page/a%00b",
        "/page/..\\x",
    ] {
        let status = open.status(&format!("GET {path} HTTP/1.1\r\n{head}Connection: close\r\n\r\n"));
        assert!([400, 404].contains(&status), "{path}: {status}");
    }
    let post = |body: &str| {
        open.status(&format!(
            "POST /api/v1/threads HTTP/1.1\r\n{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    };
    assert_eq!(post("{"), 422);
    assert_eq!(post(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))), 422);
    assert_eq!(post(r#"{"message": "  "}"#), 422);
    assert_eq!(
        open.status(&format!(
            "POST /api/v1/threads HTTP/1.1\r\n{head}Connection: close\r\nContent-Length: 104857600\r\n\r\n"
        )),
        413
    );
    let many: String = (0..10_000).map(|n| format!("X-{n}: y\r\n")).collect();
    assert_eq!(open.status(&format!("GET /healthz HTTP/1.1\r\n{head}{many}\r\n")), 431);
    assert_eq!(open.get("/threads").await, json!([]));
    open.close().await;
}

// T8: others are answered while a body without end is sent
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_megabytes_are_not_read_to_their_end() {
    let open = Open::new().await;
    let mut stream = TcpStream::connect(open.addr).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("patience");
    stream.set_write_timeout(Some(PATIENCE)).expect("patience");
    let begin = format!(
        "POST /api/v1/threads HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        open.addr, open.token
    );
    stream.write_all(begin.as_bytes()).expect("sent");
    let megabyte = format!("100000\r\n{}\r\n", "x".repeat(0x10_0000));
    let sent = (0..100).take_while(|_| stream.write_all(megabyte.as_bytes()).is_ok()).count();
    assert!(sent < 100, "the server took all of it");
    // The answer may be lost with the connection, which is closed on what was still to be said.
    let said = head(&mut stream);
    assert!(said.is_empty() || status(&said) == 413, "{said}");
    assert_eq!(open.get("/threads").await, json!([]));
    open.close().await;
}

// T8
#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_clients_that_never_finish_their_request_delay_no_other() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).expect("as many files as may be open");
    let open = Open::new().await;
    let parts = [
        "G".to_owned(),
        format!("GET /api/v1/threads HTTP/1.1\r\nHost: {}\r\nX-A:", open.addr),
        // The head is whole and the secret is right; the body never comes.
        format!(
            "POST /api/v1/threads HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: 30\r\n\r\n{{",
            open.addr, open.token
        ),
    ];
    let slow: Vec<TcpStream> = (0..500)
        .map(|number| {
            let mut stream = TcpStream::connect(open.addr).expect("a connection");
            stream.write_all(parts[number % parts.len()].as_bytes()).expect("sent");
            stream
        })
        .collect();
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    assert_eq!(open.get("/threads").await.as_array().map(Vec::len), Some(1), "nothing came of the others");
    drop(slow);
    open.close().await;
}

// T8: what looks like SQL, a pattern or a path is a name like any other
#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_and_parameters_are_refused_in_a_sentence() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let hostile = ["' OR 1=1--", "%", "_", "*", "\0", "x'); DROP TABLE threads;--", "(a+)+$", "NEAR(a b)", "\u{202e}"];
    for word in hostile {
        let name: String = word.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for path in [
            format!("/threads/{name}"),
            format!("/threads/{name}/tree"),
            format!("/threads/{name}/events"),
            format!("/threads?root={name}"),
            format!("/threads?before={name}"),
            format!("/executions?workflow={name}"),
            format!("/usage?root={name}"),
            format!("/approvals/{name}"),
        ] {
            let (status, problem) = open.call("GET", &path, None).await;
            assert_eq!((status, problem["status"].as_u64()), (404, Some(404)), "{path}: {problem}");
            assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{path}: {problem}");
        }
    }
    for (path, why) in [
        ("/threads?limit=-1", "limit"),
        ("/threads?limit=many", "limit"),
        ("/threads?limit=0", "limit"),
        ("/threads?limt=5", "limt"),
        ("/threads?live=perhaps", "perhaps"),
        ("/approvals?all=maybe", "maybe"),
        ("/approvals?limit=1e309", "limit"),
        ("/events?after=soon", "after"),
        ("/events?dialect=latin", "latin"),
        ("/executions", "workflow"),
        (&format!("/threads/{thread}/events?deltas=1&dialect=orion"), "deltas"),
        (&format!("/threads/{thread}/events?after=-1"), "after"),
    ] {
        let (status, problem) = open.call("GET", path, None).await;
        assert_eq!(status, 422, "{path}: {problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(why)), "{path}: {problem}");
    }
    for (path, body, why) in [
        ("/threads", json!({ "message": "greenhouse", "mode": "dangerous" }), "mode"),
        ("/threads", json!({ "text": "greenhouse" }), "text"),
        ("/threads", json!(["greenhouse", null]), "object"),
        ("/threads", json!({ "message": 3 }), "3"),
        (&format!("/threads/{thread}/messages"), json!({ "text": "x", "from": "system" }), "from"),
        (&format!("/threads/{thread}/steer"), json!({ "txt": "x" }), "txt"),
        (&format!("/threads/{thread}/stop"), json!({ "nwo": true }), "nwo"),
        ("/approvals/x/decision", json!({ "decision": "allow", "digest": "", "approved": true }), "approved"),
        ("/approvals/x/decision", json!({ "decision": "perhaps", "digest": "" }), "perhaps"),
    ] {
        let (status, problem) = open.call("POST", path, Some(body)).await;
        assert_eq!(status, 422, "{path}: {problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(why)), "{path}: {problem}");
    }
    assert_eq!(open.get("/threads").await.as_array().map(Vec::len), Some(1));
    open.close().await;
}

// T8: 408 would say that it was waited for
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_read_of_a_strangers_body_and_little_at_the_door() {
    let open = Open::built(tempfile::tempdir().expect("a passing folder"), Some("sesame"), "script.toml").await;
    let post = |path: &str, length: usize| {
        open.status(&format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n", open.addr))
    };
    for path in ["/api/v1/threads", "/api/chat", "/nothing", "/"] {
        assert_eq!(post(path, 1_000_000), 401, "{path}");
    }
    assert_eq!(post("/enter", 5000), 413);
    open.close().await;
}
