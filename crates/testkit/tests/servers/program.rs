//! A server of another maker as a process: started on a free port, waited for, and ended with the test.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agent::Json;
use agent::message::{Message, Origin};
use agent::model::Patience;
use agent::tools::{Reach, Risk, ToolInfo};
use majordomo_testkit::model_server::KEY;
use provider::{
    Ask, Conversation, ModelSettings, ModelTable, Options, ProviderConfig, Providers, Secret, Timeouts, Wire,
};
use tokio_util::sync::CancellationToken;

/// How long a server may take until it answers: it is read from disk, and the machine may have other work.
const START: Duration = Duration::from_secs(300);

/// The folder of the virtual environment.
pub fn environment() -> PathBuf {
    let folder = std::env::var_os("MAJORDOMO_SERVERS");
    folder.map(PathBuf::from).expect("run by `cargo xtask test --with-servers`, which installs the servers")
}

/// A running server.
pub struct Program {
    child: Child,
    pub port: u16,
    log: PathBuf,
}

impl Program {
    /// Starts a program of the environment and waits until `path` answers. `{port}` in an argument stands for its port.
    pub async fn start(folder: &Path, program: &str, arguments: &[&str], path: &str) -> Self {
        let port = free_port();
        let log = folder.join("server.log");
        let output = File::create(&log).expect("a file");
        let child = Command::new(environment().join("bin").join(program))
            .args(arguments.iter().map(|argument| argument.replace("{port}", &port.to_string())))
            .current_dir(folder)
            .env("NO_PROXY", "*")
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a file"))
            .stderr(output)
            .spawn()
            .unwrap_or_else(|why| panic!("{program}: {why}"));
        let mut program = Self { child, port, log };
        program.until_it_answers(path).await;
        program
    }

    async fn until_it_answers(&mut self, path: &str) {
        let begun = Instant::now();
        while !answers(self.port, path).await {
            let has_ended = self.child.try_wait().expect("the process can be looked at").is_some();
            assert!(!has_ended && begun.elapsed() < START, "the server does not answer:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// What it has printed.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// A provider at its address.
    pub fn providers(&self, wire: Wire) -> Providers {
        let base_url = match wire {
            Wire::OpenAi | Wire::Responses => format!("http://127.0.0.1:{}/v1", self.port),
            Wire::Anthropic | Wire::Gemini | Wire::Ollama => format!("http://127.0.0.1:{}", self.port),
        };
        let config = ProviderConfig {
            name: "other".into(),
            wire,
            timeouts: Timeouts::usual(&base_url),
            base_url,
            key: Some(Secret::new(KEY)),
            needs_key: false,
            key_env: None,
            headers: Vec::new(),
            organization: None,
            project: None,
            patience: Patience::default(),
            concurrency: None,
            settings: ModelSettings::default(),
            proxy: None,
            ca_file: None,
            bearer: true,
        };
        Providers::new(vec![config], ModelTable::builtin(), Options::default()).expect("a good configuration")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("an address").port()
}

async fn answers(port: u16, path: &str) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let Ok(mut stream) = tokio::net::TcpStream::connect(("127.0.0.1", port)).await else { return false };
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n\r\n");
    let mut answer = Vec::new();
    let asked = async {
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_end(&mut answer).await
    };
    let is_whole = matches!(tokio::time::timeout(Duration::from_secs(5), asked).await, Ok(Ok(_)));
    is_whole && String::from_utf8_lossy(&answer).lines().next().is_some_and(|line| line.contains(" 200 "))
}

/// A conversation that has begun with `words`, and has one tool where it has `tools`.
pub fn begin(providers: &Providers, model: &str, words: &str, tools: &[ToolInfo]) -> Conversation {
    let mut conversation = providers.open(&format!("other/{model}")).expect("a model");
    conversation.begin("You are brief.", "", tools);
    conversation.push(&Message::user(words, Origin::Brief));
    conversation
}

pub fn tool() -> ToolInfo {
    ToolInfo {
        name: "read_file".into(),
        description: "Reads a file.".into(),
        schema: Json::parse(r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#)
            .expect("JSON"),
        reach: Reach::ReadOnly,
        idempotent: true,
        risk: Risk::Low,
    }
}

pub fn ask(max_tokens: u64) -> Ask {
    Ask {
        max_tokens,
        window_tokens: None,
        may_wait: false,
        calls_allowed: true,
        output_schema: None,
        cancel: CancellationToken::new(),
        deltas: None,
        label: "test".into(),
    }
}
