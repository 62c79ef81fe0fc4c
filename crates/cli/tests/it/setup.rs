//! A place to run the binary from: a home, a workspace, a clean environment. And what came of a run.

use std::cell::Cell;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use provider::Wire;
use provider::scripted::Script;
use serde_json::Value;
use store::conformance::postgres_server::Server;
use store::{Address, PostgresStore};
use tempfile::TempDir;
use testkit::model_server::{KEY, ModelServer};
use tokio::process::{Child, Command};

/// Nothing that a test starts takes nearly as long; one that does hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// A home and a workspace that nobody else uses.
pub struct Setup {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

thread_local! {
    /// Whether the setups of the test that runs have a database that many machines share.
    pub static ON_POSTGRES: Cell<bool> = const { Cell::new(false) };
}

/// Has tests of a module run on a database that many machines share, too.
macro_rules! also_on_postgres {
    ($($test:ident),* $(,)?) => {
        mod on_postgres {
            $(#[test]
            fn $test() {
                crate::setup::ON_POSTGRES.set(true);
                super::$test();
            })*
        }
    };
}
pub(crate) use also_on_postgres;

impl Setup {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        for name in ["home", "work"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let mut variables = Vec::new();
        if ON_POSTGRES.get() {
            let address = Server::shared().database();
            PostgresStore::initialize(&Address::parse(&address).expect("an address")).expect("tables");
            variables.push(("MAJORDOMO_STORE".to_owned(), address));
        }
        Self { folder, variables }
    }

    /// With the address of a model server and the key that it takes.
    pub fn at(wire: Wire, server: &ModelServer) -> Self {
        Self::knowing(wire, &server.url(wire), KEY)
    }

    /// With an address and a key for a provider.
    pub fn knowing(wire: Wire, url: &str, key: &str) -> Self {
        let provider = match wire {
            Wire::Anthropic => "ANTHROPIC",
            Wire::OpenAi => "OPENAI",
            Wire::Responses => {
                return Self::knowing(Wire::OpenAi, url, key).with("MAJORDOMO_PROVIDERS_OPENAI_WIRE", "responses");
            }
            Wire::Ollama => {
                let setup = Self::new().with("OLLAMA_HOST", url);
                let folder = setup.aside("home/.config/majordomo");
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(folder.join("config.toml"), "model = \"ollama/qwen3:8b\"\n").expect("a file");
                return setup;
            }
            Wire::Gemini => return Self::new().with("GOOGLE_GEMINI_BASE_URL", url).with("GOOGLE_API_KEY", key),
        };
        Self::new().with(&format!("{provider}_BASE_URL"), url).with(&format!("{provider}_API_KEY"), key)
    }

    /// With another variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The name of a model that plays this script.
    pub fn scripted(&self, toml: &str) -> String {
        let path = self.folder.path().join("script.toml");
        std::fs::write(&path, toml).expect("the script can be written");
        format!("scripted/{}", path.display())
    }

    /// A path in the workspace.
    pub fn work(&self, path: &str) -> PathBuf {
        self.folder.path().join("work").join(path)
    }

    /// A path beside home and workspace.
    pub fn aside(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file into the workspace.
    pub fn write(&self, path: &str, text: &str) {
        std::fs::write(self.work(path), text).expect("the file can be written");
    }

    /// Every byte that was left in the home.
    pub fn kept(&self) -> Vec<u8> {
        let mut folders = vec![self.folder.path().join("home")];
        let mut bytes = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    bytes.extend(std::fs::read(path).expect("a file"));
                }
            }
        }
        bytes
    }

    /// Runs a command to its end, with nothing on its stdin.
    pub async fn run(&self, words: &[&str]) -> Ran {
        finish(self.command(words).spawn().expect("the binary starts")).await
    }

    /// Runs a command to its end, with a short text on its stdin. It lies in the pipe before anybody looks.
    pub async fn run_with_input(&self, words: &[&str], input: &str) -> Ran {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(input.as_bytes()).expect("the text fits the pipe");
        drop(writer);
        finish(self.command(words).stdin(reader).spawn().expect("the binary starts")).await
    }

    /// The command, not yet started: in the workspace, with no other environment than its own.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_majordomo"));
        command
            .args(words)
            .current_dir(self.work("."))
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TZ", "UTC")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

/// Waits for a command to end.
pub async fn finish(child: Child) -> Ran {
    let output = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
    let Output { status, stdout, stderr } = output.expect("the command ends in time").expect("it can be waited for");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what it prints is UTF-8");
    Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

impl Ran {
    /// Insists on an exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Stdout as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// Stdout as one JSON value a line.
    #[track_caller]
    pub fn frames(&self) -> Vec<Value> {
        let frame = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        self.stdout.lines().map(frame).collect()
    }
}

/// A server that plays a script.
pub async fn server(toml: &str) -> ModelServer {
    ModelServer::scripted(Script::parse("the test's script", toml).expect("a script")).await
}

/// The frames of one type.
pub fn of_type<'a>(frames: &'a [Value], kind: &str) -> Vec<&'a Value> {
    frames.iter().filter(|frame| frame["type"] == kind).collect()
}
