//! The window over real sockets: who is let in, what can be asked, and that what is watched has neither gaps nor duplicates.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::Consent;
use majordomo::{Options, Staff};
use majordomo_server::Window;
use serde_json::{Value, json};
use tokio::sync::oneshot;

const SCRIPT: &str = r#"
[[script]]
on = "greenhouse"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Read the thermometer" } }]
[[script.reply]]
text = "31 degrees."
[[script]]
on = "thermometer"
[[script.reply]]
calls = [{ name = "list_dir", input = {} }]
[[script.reply]]
text = "It says 31 degrees."
[[script]]
on = "write"
[[script.reply]]
calls = [{ name = "write_file", input = { path = "new.txt", content = "x" } }]
[[script.reply]]
text = "Written, or not."
[[script]]
on = "for ever"
[[script.reply]]
delay_ms = 3600000
text = "too late"
"#;

/// A house with a window, and a program that knows its token.
struct Open {
    addr: SocketAddr,
    token: String,
    link: String,
    staff: Staff,
    client: reqwest::Client,
    folder: tempfile::TempDir,
    close: Option<oneshot::Sender<()>>,
    closed: tokio::task::JoinHandle<()>,
}

impl Open {
    async fn new() -> Self {
        Self::in_folder(tempfile::tempdir().expect("a passing folder")).await
    }

    async fn in_folder(folder: tempfile::TempDir) -> Self {
        let script = folder.path().join("script.toml");
        std::fs::write(&script, SCRIPT).expect("a script");
        std::fs::create_dir_all(folder.path().join("work")).expect("a workspace");
        let surroundings = Surroundings {
            env: BTreeMap::new(),
            cwd: folder.path().join("work"),
            home: Some(folder.path().to_owned()),
        };
        let data = folder.path().join("data");
        let flags = Flags {
            model: Some(format!("scripted/{}", script.display())),
            agent: Some("general".to_owned()),
            data: Some(data.display().to_string()),
            ..Flags::default()
        };
        let config = Config::load(&surroundings, &flags).expect("a configuration");
        let options = Options { consent: Consent::Asked, ..Options::default() };
        let staff = Staff::open(&surroundings, config, options).await.expect("a staff");
        let options = majordomo_server::Options {
            addr: "127.0.0.1:0".parse().expect("an address"),
            names: Vec::new(),
            password: None,
            data: data.clone(),
            page: None,
        };
        let window = Window::bind(staff.clone(), options).await.expect("a window");
        let (addr, link) = (window.addr(), window.link());
        let token = std::fs::read_to_string(data.join("server.token")).expect("a token");
        let token = token.lines().next().expect("a token").to_owned();
        let (close, told) = oneshot::channel();
        let closed = tokio::spawn(window.open(async { _ = told.await }));
        // Only the first one of a process is needed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build().expect("a client");
        Self { addr, token, link, staff, client, folder, close: Some(close), closed }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let method = method.parse().expect("a method");
        let mut request = self.client.request(method, self.url(&format!("/api/v1{path}"))).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        let text = answer.text().await.expect("a body");
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    async fn get(&self, path: &str) -> Value {
        let (status, value) = self.call("GET", path, None).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    async fn start(&self, message: &str) -> String {
        let (status, started) = self.call("POST", "/threads", Some(json!({ "message": message }))).await;
        assert_eq!(status, 201, "{started}");
        started["id"].as_str().expect("an id").to_owned()
    }

    /// Polls until a thread is in a state.
    async fn until(&self, thread: &str, state: &str) {
        loop {
            let row = self.get(&format!("/threads/{thread}")).await;
            if row["state"] == state {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The frames after one, up to the first of this kind, with their numbers.
    async fn watch(&self, path: &str, after: Option<u64>, until: &str) -> Vec<(u64, Value)> {
        let mut request = self.client.get(self.url(path)).bearer_auth(&self.token);
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let mut answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let (mut text, mut frames, mut id) = (String::new(), Vec::new(), None);
        while let Some(piece) = answer.chunk().await.expect("a piece") {
            text.push_str(std::str::from_utf8(&piece).expect("text"));
            while let Some(end) = text.find('\n') {
                let line = text.drain(..=end).collect::<String>();
                if let Some(number) = line.strip_prefix("id: ") {
                    id = number.trim().parse().ok();
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let frame: Value = serde_json::from_str(data).expect("JSON");
                    let is_last = frame["type"] == until;
                    frames.push((id.take().expect("a number"), frame));
                    if is_last {
                        return frames;
                    }
                }
            }
        }
        frames
    }

    /// Closes it as a process ends that is killed: nothing of it stays but what is on the disk.
    async fn close(mut self) -> tempfile::TempDir {
        let _ = self.close.take().expect("it is open").send(());
        self.closed.await.expect("it closes");
        self.staff.heart().leave().await;
        self.folder
    }

    /// A request as it is, and the head of its answer.
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.addr).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("patience");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while !answer.windows(4).any(|window| window == b"\r\n\r\n") {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(length) => answer.extend_from_slice(&piece[..length]),
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn status(&self, request: &str) -> u16 {
        self.raw(request).split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
    }
}

// T1, T2, T3, T4
#[tokio::test(flavor = "multi_thread")]
async fn only_whoever_knows_a_secret_and_comes_from_here_is_let_in() {
    let open = Open::new().await;
    let (here, bearer) = (format!("Host: {}\r\n", open.addr), format!("Authorization: Bearer {}\r\n", open.token));
    let ask =
        |path: &str, headers: &str| open.status(&format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"));
    for path in
        ["/api/v1/threads", "/api/v1/threads/x/events", "/api/v1/config", "/", "/page/main.js", "/api/v1/healthz"]
    {
        assert_eq!(ask(path, &here), 401, "{path} without a secret");
        assert_eq!(ask(path, &format!("{bearer}Host: evil.example\r\n")), 421, "{path} under another name");
        assert_eq!(ask(path, &format!("{here}{bearer}Origin: http://evil.example\r\n")), 403, "{path} from elsewhere");
        assert_eq!(ask(path, &format!("{here}{bearer}Sec-Fetch-Site: cross-site\r\n")), 403, "{path} from elsewhere");
    }
    assert_eq!(ask("/healthz", &here), 200);
    assert_eq!(ask("/healthz", "Host: evil.example\r\n"), 421);
    assert_eq!(
        ask(&format!("/api/v1/threads?token={}", open.token), &here),
        401,
        "an address is no place for a secret"
    );
    assert_eq!(ask("/api/v1/threads", &format!("{here}{bearer}")), 200);
    assert_eq!(ask("/api/v1/threads", &format!("{here}Authorization: Bearer {}\r\n", "0".repeat(64))), 401);
    let said = open.raw(&format!(
        "OPTIONS /api/v1/threads HTTP/1.1\r\n{here}Origin: http://evil.example\r\nConnection: close\r\n\r\n"
    ));
    assert!(!said.to_lowercase().contains("access-control-allow-origin"), "{said}");
    open.close().await;
}

// T3, T6
#[tokio::test(flavor = "multi_thread")]
async fn the_link_lets_one_browser_in_and_the_page_says_what_it_may_load() {
    let open = Open::new().await;
    let entered = open.client.get(&open.link).send().await.expect("an answer");
    let cookie = entered.headers()["set-cookie"].to_str().expect("text").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let again = open.client.get(&open.link).send().await.expect("an answer");
    assert_eq!((again.status().as_u16(), again.headers().get("set-cookie")), (401, None));
    let session = cookie.split(';').next().expect("a cookie");
    let page = open.client.get(open.url("/")).header("cookie", session).send().await.expect("an answer");
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().expect("text").to_owned();
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe"),
        "{policy}"
    );
    let start = |site: Option<&str>| {
        let mut request = open.client.post(open.url("/api/v1/threads")).header("cookie", session);
        if let Some(site) = site {
            request = request.header("sec-fetch-site", site);
        }
        request.body(r#"{"message": "greenhouse"}"#).send()
    };
    assert_eq!(start(None).await.expect("an answer").status(), 403, "it does not say where it is");
    assert_eq!(start(Some("cross-site")).await.expect("an answer").status(), 403);
    assert_eq!(start(Some("same-origin")).await.expect("an answer").status(), 201);
    open.close().await;
}

// T5
#[tokio::test]
async fn an_address_that_others_reach_needs_a_password() {
    let open = Open::new().await;
    let options = majordomo_server::Options {
        addr: "0.0.0.0:0".parse().expect("an address"),
        names: Vec::new(),
        password: None,
        data: open.folder.path().join("data"),
        page: None,
    };
    let refused = Window::bind(open.staff.clone(), options).await.err().expect("refused");
    assert!(matches!(refused, majordomo_server::Error::Open(_)), "{refused}");
    open.close().await;
}

// T7, T8
#[tokio::test(flavor = "multi_thread")]
async fn strange_addresses_and_large_requests_are_refused_and_the_window_stays_open() {
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
    let many: String = (0..1000).map(|n| format!("X-{n}: y\r\n")).collect();
    assert_eq!(open.status(&format!("GET /healthz HTTP/1.1\r\n{head}{many}\r\n")), 431);
    for query in ["threads?limit=-1", "threads/' OR 1=1--", "threads?root=%00", "executions?workflow=*"] {
        let status = open
            .status(&format!("GET /api/v1/{} HTTP/1.1\r\n{head}Connection: close\r\n\r\n", query.replace(' ', "%20")));
        assert!((400..500).contains(&status), "{query}: {status}");
    }
    assert_eq!(open.get("/threads").await, json!([]));
    open.close().await;
}

// ORION-12, ORION-13
#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_with_the_runs_frames_and_then_the_end() {
    let open = Open::new().await;
    let answer = open.client.post(open.url("/api/chat?dialect=orion")).bearer_auth(&open.token);
    let answer = answer.body(r#"{"message": "greenhouse"}"#).send().await.expect("an answer");
    assert_eq!(answer.headers()["cache-control"], "no-cache");
    let text = answer.text().await.expect("it ends");
    let kinds: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str::<Value>(data).expect("JSON")["type"].as_str().expect("a type").to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["agent_start", "agent_delegate", "agent_start", "text", "agent_complete", "agent_resume", "text", "done"]
    );
    assert!(text.contains("\n\n"));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_at_any_frame_goes_on_without_a_gap_and_without_a_double() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    let path = format!("/api/v1/threads/{thread}/events");
    let all = open.watch(&path, None, "done").await;
    let numbers: Vec<u64> = all.iter().map(|(id, _)| *id).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert!(all.iter().any(|(_, frame)| frame["thread"] == format!("{thread}.1")), "descendants are in it");
    for (at, cut) in numbers.iter().enumerate().take(numbers.len() - 1) {
        let rest = open.watch(&path, Some(*cut), "done").await;
        assert_eq!(rest, all[at + 1..], "cut after {cut}");
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_in_the_same_thread_and_its_stream_stays_open() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    let path = format!("/api/v1/threads/{thread}/events");
    let first = open.watch(&path, None, "done").await;
    let (status, _) = open.call("POST", &format!("/threads/{thread}/messages"), Some(json!({ "text": "again" }))).await;
    assert_eq!(status, 202);
    let seen = first.last().expect("a frame").0;
    let second = open.watch(&path, Some(seen), "done").await;
    assert!(second.iter().any(|(_, frame)| frame["type"] == "run_started" && frame["prompt"] == "again"), "{second:?}");
    let told = open.get(&format!("/threads/{thread}/messages")).await;
    assert!(told["entries"].to_string().contains("greenhouse"), "{told}");
    assert_eq!(open.get(&format!("/executions?workflow={thread}")).await.as_array().map(Vec::len), Some(1));
    assert_eq!(open.get(&format!("/threads/{thread}/tree")).await[0]["id"], thread);
    open.close().await;
}

// T20, T21
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_decided_once_for_exactly_what_was_shown() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = loop {
        if let Some(question) = open.get("/approvals").await.get(0) {
            break question.clone();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let path = format!("/approvals/{}/decision", question["id"].as_str().expect("an id").replace('/', "%2F"));
    let word = |digest: &Value| Some(json!({ "decision": "allow", "digest": digest }));
    assert_eq!(open.call("POST", &path, word(&json!("something else"))).await.0, 409);
    let (status, came) = open.call("POST", &path, word(&question["digest"])).await;
    assert_eq!((status, came["status"].as_str()), (200, Some("approved")), "{came}");
    assert_eq!(
        open.call("POST", &path, Some(json!({ "decision": "deny", "digest": question["digest"] }))).await.0,
        409
    );
    open.until(&thread, "completed").await;
    assert_eq!(std::fs::read_to_string(open.folder.path().join("work/new.txt")).expect("it is written"), "x");
    assert_eq!(open.get("/approvals").await, json!([]));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_told_something_and_stopped_and_what_is_not_there_is_said_to_be_so() {
    let open = Open::new().await;
    let thread = open.start("for ever").await;
    assert_eq!(open.call("POST", &format!("/threads/{thread}/steer"), Some(json!({ "text": "hurry" }))).await.0, 202);
    let (status, row) = open.call("POST", &format!("/threads/{thread}/stop"), Some(json!({ "now": true }))).await;
    assert_eq!((status, row["state"].as_str()), (200, Some("cancelled")), "{row}");
    assert_eq!(open.call("POST", &format!("/threads/{thread}/steer"), Some(json!({ "text": "hurry" }))).await.0, 409);
    let (status, problem) = open.call("GET", "/threads/nobody", None).await;
    assert_eq!((status, problem["status"].as_u64(), problem["title"].as_str()), (404, Some(404), Some("Not Found")));
    assert_eq!(open.call("DELETE", &format!("/threads/{thread}"), None).await.0, 204);
    assert_eq!(open.get("/threads").await, json!([]));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_window_left_in_the_middle_goes_on_when_the_house_is_served_again() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    while open.get("/approvals").await.get(0).is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // Its process is taken for dead only when it is: here it leaves what it owned.
    let folder = open.close().await;
    let again = Open::in_folder(folder).await;
    let question = again.get("/approvals").await[0].clone();
    let path = format!("/approvals/{}/decision", question["id"].as_str().expect("an id").replace('/', "%2F"));
    let word = json!({ "decision": "deny", "digest": question["digest"], "reason": "not today" });
    let (status, came) = again.call("POST", &path, Some(word)).await;
    assert_eq!((status, came["status"].as_str()), (200, Some("denied")), "{came}");
    again.until(&thread, "completed").await;
    assert!(!again.folder.path().join("work/new.txt").exists());
    again.close().await;
}
