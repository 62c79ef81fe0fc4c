//! A server, and what a client can do with it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::Consent;
use majordomo::{Options, Staff};
use majordomo_server::Server;
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
on = "colour"
[[script.reply]]
calls = [{ name = "ask_user", input = { question = "Which colour?", choices = ["red", "green"] } }]
[[script.reply]]
text = "Painted."
[[script]]
on = "for ever"
[[script.reply]]
delay_ms = 3600000
text = "too late"
"#;

/// So many things are asked at once by a thread that is to make a crowd.
pub const CROWD: usize = 101;

/// How long something is waited for that will come unless the program is broken.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A server, and a program that knows its token.
pub struct Open {
    pub addr: SocketAddr,
    pub token: String,
    pub link: String,
    pub staff: Staff,
    pub client: reqwest::Client,
    pub folder: tempfile::TempDir,
    close: Option<oneshot::Sender<()>>,
    closed: tokio::task::JoinHandle<majordomo_server::DataLock>,
}

impl Open {
    pub async fn new() -> Self {
        Self::in_folder(tempfile::tempdir().expect("a passing folder")).await
    }

    pub async fn in_folder(folder: tempfile::TempDir) -> Self {
        Self::built(folder, None, "script.toml").await
    }

    /// A server whose model plays a script of this name, with a password or without.
    pub async fn built(folder: tempfile::TempDir, password: Option<&str>, script: &str) -> Self {
        let flags = Flags { agent: Some("general".to_owned()), ..Flags::default() };
        Self::with_flags(folder, password, script, flags).await
    }

    /// The same with the agent and the settings of these flags.
    pub async fn with_flags(folder: tempfile::TempDir, password: Option<&str>, script: &str, flags: Flags) -> Self {
        let script = folder.path().join(script);
        let calls: Vec<String> = (0..CROWD)
            .map(|number| format!(r#"{{ name = "write_file", input = {{ path = "{number}.txt", content = "x" }} }}"#))
            .collect();
        let crowd = format!("[[script]]\non = \"crowd\"\n[[script.reply]]\ncalls = [{}]\n", calls.join(", "));
        std::fs::write(&script, format!("{SCRIPT}{crowd}")).expect("a script");
        std::fs::create_dir_all(folder.path().join("work")).expect("a workspace");
        let surroundings = Surroundings {
            cwd: folder.path().join("work"),
            home: Some(folder.path().to_owned()),
            ..Surroundings::default()
        };
        let data = folder.path().join("data");
        let flags = Flags {
            model: Some(format!("scripted/{}", script.display())),
            data: Some(data.display().to_string()),
            ..flags
        };
        let config = Config::load(&surroundings, &flags).expect("a configuration");
        let options = Options { consent: Consent::Asked, ..Options::default() };
        let staff = Staff::open(&surroundings, config, options).await.expect("a staff");
        let options = majordomo_server::Options {
            addr: "127.0.0.1:0".parse().expect("an address"),
            names: Vec::new(),
            password: password.map(str::to_owned),
            data: data.clone(),
            page: None,
        };
        let server = Server::bind(staff.clone(), options).await.expect("a server");
        let (addr, link) = (server.addr(), server.link());
        let token = std::fs::read_to_string(data.join("server.token")).expect("a token");
        let token = token.lines().next().expect("a token").to_owned();
        let (close, told) = oneshot::channel();
        let closed = tokio::spawn(server.open(async { _ = told.await }));
        // Only the first one of a process is needed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(PATIENCE).build().expect("a client");
        Self { addr, token, link, staff, client, folder, close: Some(close), closed }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    pub async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
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

    pub async fn get(&self, path: &str) -> Value {
        let (status, value) = self.call("GET", path, None).await;
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    pub async fn start(&self, message: &str) -> String {
        let (status, started) = self.call("POST", "/threads", Some(json!({ "message": message }))).await;
        assert_eq!(status, 201, "{started}");
        started["id"].as_str().expect("an id").to_owned()
    }

    /// What a browser has that came by the link.
    pub async fn entered(&self) -> Entered {
        Entered::of(self.client.get(&self.link).send().await.expect("an answer")).await
    }

    /// Polls until a thread is in a state.
    pub async fn until(&self, thread: &str, state: &str) {
        let path = format!("/threads/{thread}");
        self.until_told(&path, &format!("{thread} to be {state}"), |row| (row["state"] == state).then_some(())).await;
    }

    /// Polls until a thread has ended so many runs, however they ended: a script may have no words left.
    pub async fn until_ended(&self, thread: &str, runs: u64) {
        let is_over = |row: &Value| {
            let is_over = ["completed", "error", "no_output"].iter().any(|state| row["state"] == *state);
            (row["runs"] == runs && is_over).then_some(())
        };
        self.until_told(&format!("/threads/{thread}"), &format!("{runs} runs of {thread}"), is_over).await;
    }

    /// The question that is open, once there is one.
    pub async fn question(&self) -> Value {
        self.until_told("/approvals", "a question", |all| all.get(0).cloned()).await
    }

    /// Polls an address until it tells what is waited for.
    pub async fn until_told<T>(&self, path: &str, what: &str, told: impl Fn(&Value) -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            let value = self.get(path).await;
            if let Some(told) = told(&value) {
                return told;
            }
            assert!(started.elapsed() < PATIENCE, "waited for {what}; {path} says {value}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The frames after one, up to the first of this kind, with their numbers.
    pub async fn watch(&self, path: &str, after: Option<u64>, until: &str) -> Vec<(u64, Value)> {
        let after = after.map(|after| after.to_string());
        let mut watching = self.watching(path, after.as_deref()).await;
        let mut frames = Vec::new();
        while let Some((id, frame)) = watching.next(until).await {
            let is_last = frame["type"] == until;
            frames.push((id.expect("an id").parse().expect("a number"), frame));
            if is_last {
                break;
            }
        }
        frames
    }

    /// Begins to watch.
    pub async fn watching(&self, path: &str, after: Option<&str>) -> Watching {
        let mut request = self.client.get(self.url(path)).bearer_auth(&self.token);
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Watching { answer, bytes: Vec::new(), id: None }
    }

    /// Closes it as a process ends that is killed: nothing of it stays but what is on the disk.
    pub async fn close(mut self) -> tempfile::TempDir {
        let _ = self.close.take().expect("it is open").send(());
        self.closed.await.expect("it closes");
        self.staff.runtime().leave().await;
        self.folder
    }

    /// A request as it is, and the head of its answer.
    pub fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.addr).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("patience");
        // A request that is refused before it is read to its end may not be sent to its end.
        let _ = stream.write_all(request.as_bytes());
        head(&mut stream)
    }

    pub fn status(&self, request: &str) -> u16 {
        status(&self.raw(request))
    }
}

/// What a browser is given that was let in.
pub struct Entered {
    /// The cookie, as it is sent back.
    pub cookie: String,
    /// What the page finds in its address.
    pub page: String,
}

impl Entered {
    pub async fn of(answer: reqwest::Response) -> Self {
        assert_eq!(answer.status(), 200);
        let cookie = answer.headers()["set-cookie"].to_str().expect("text");
        let cookie = cookie.split(';').next().expect("a cookie").to_owned();
        let text = answer.text().await.expect("a page that goes on");
        let (_, rest) = text.split_once("url=/#enter=").expect("an address");
        Self { cookie, page: rest.split('"').next().expect("a secret").to_owned() }
    }

    /// A request as our own page makes it, but for where it says it is.
    pub fn asks(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        request.header("cookie", &self.cookie).header("x-majordomo-page", &self.page)
    }
}

/// The head of an answer.
pub fn head(stream: &mut TcpStream) -> String {
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(length) => answer.extend_from_slice(&piece[..length]),
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

/// The status in the head of an answer; 0 where there is none.
pub fn status(head: &str) -> u16 {
    head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// A stream of events that is being read.
pub struct Watching {
    answer: reqwest::Response,
    /// What came and is not read yet. A piece may end within a character; lines do not.
    bytes: Vec<u8>,
    /// The id that was sent last.
    pub id: Option<String>,
}

impl Watching {
    /// The next event under its own id; none at the end. `until` is what is waited for, should it not come.
    pub async fn next(&mut self, until: &str) -> Option<(Option<String>, Value)> {
        let next = tokio::time::timeout(PATIENCE, self.read()).await;
        next.unwrap_or_else(|_| {
            panic!(
                "waited for {until}; the last id was {:?}, then came {:?}",
                self.id,
                String::from_utf8_lossy(&self.bytes)
            )
        })
    }

    /// The place that is told before anything has happened.
    pub async fn place(&mut self) -> String {
        while self.id.is_none() {
            let piece = tokio::time::timeout(PATIENCE, self.answer.chunk()).await.expect("a place within bounds");
            self.bytes.extend_from_slice(&piece.expect("a piece").expect("more"));
            if let Some(id) = String::from_utf8_lossy(&self.bytes).lines().find_map(|line| line.strip_prefix("id: ")) {
                self.id = Some(id.to_owned());
            }
        }
        self.id.clone().expect("a place")
    }

    async fn read(&mut self) -> Option<(Option<String>, Value)> {
        let mut own = None;
        loop {
            while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8(self.bytes.drain(..=end).collect()).expect("text");
                if let Some(id) = line.strip_prefix("id: ") {
                    own = Some(id.trim().to_owned());
                    self.id.clone_from(&own);
                } else if let Some(data) = line.strip_prefix("data: ") {
                    let event: Value = serde_json::from_str(data).expect("JSON");
                    // It says only where the stream begins.
                    if event["type"] != "stream_open" {
                        return Some((own, event));
                    }
                } else if line == "\n" {
                    own = None;
                }
            }
            let piece = self.answer.chunk().await.expect("a piece")?;
            self.bytes.extend_from_slice(&piece);
        }
    }
}
