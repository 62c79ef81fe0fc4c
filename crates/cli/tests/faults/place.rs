//! A place of its own for each test: a home, a workspace, a script, a folder for state, and the program in it. The
//! database is opened only to look, and closed again, so that nothing holds it that the test does not mean to.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use store::{Record, SqliteStore, Store};

/// Until a test gives up waiting for something that must come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that says on a line of `begun` that it has begun, and ends once there is a file `go`.
pub const WAITS_FOR_GO: &str = "[[script]]\non = \"Wait\"\n[[script.reply]]\ncalls = [{ name = \"run_command\", \
    input = { command = \"echo one >> begun; until [ -e go ]; do sleep 0.02; done; seq 1 5000\" } }]\n\
    [[script.reply]]\ntext = \"It is done.\"\n";

/// A place of its own.
pub struct Place {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// The program at work.
pub struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

/// What the program came to.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        for part in ["home", "state", "work", "told"] {
            fs::create_dir(folder.path().join(part)).expect("a folder");
        }
        fs::write(folder.path().join("script.toml"), WAITS_FOR_GO).expect("a script");
        Self { folder, variables: Vec::new() }
    }

    /// With another variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder for state.
    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The database, or a file beside it.
    pub fn database(&self, ending: &str) -> PathBuf {
        self.state().join(format!("majordomo.db{ending}"))
    }

    /// Starts a run that waits for `go` in a command.
    pub fn wait(&self) -> Running {
        let model = format!("scripted/{}", self.folder.path().join("script.toml").display());
        self.start(&["run", "Wait", "--model", &model, "--mode", "dangerous"])
    }

    /// Starts a run that waits for `go`, and comes back once it waits.
    pub fn waiting(&self) -> Running {
        let run = self.wait();
        until("the command to begin", || (!self.begun().is_empty()).then_some(()));
        run
    }

    /// A run that waits for nothing, to its end; its thread, without a look into the database.
    pub fn finished(&self) -> String {
        self.go();
        self.wait().done().answer(0, "It is done.");
        let listed = self.call(&["thread", "ls"]).out;
        listed.split_whitespace().next().expect("a thread").to_owned()
    }

    /// Lets every command go on that waits for it.
    pub fn go(&self) {
        fs::write(self.folder.path().join("work/go"), "").expect("a file");
    }

    /// A line for every command that has begun.
    pub fn begun(&self) -> String {
        fs::read_to_string(self.folder.path().join("work/begun")).unwrap_or_default()
    }

    /// Starts the program.
    pub fn start(&self, words: &[&str]) -> Running {
        let folder = self.folder.path();
        let told = folder.join("told");
        let number = fs::read_dir(&told).expect("a folder").count();
        let (out, err) = (told.join(format!("{number}.out")), told.join(format!("{number}.err")));
        let child = Command::new(env!("CARGO_BIN_EXE_majordomo"))
            .args(words)
            .current_dir(folder.join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.join("home"))
            .env("MAJORDOMO_DATA", self.state())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(File::create(&out).expect("a file"))
            .stderr(File::create(&err).expect("a file"))
            .spawn()
            .expect("the program starts");
        Running { child, out, err }
    }

    /// Runs the program to its end.
    pub fn call(&self, words: &[&str]) -> Done {
        self.start(words).done()
    }

    /// Every event in the database.
    pub fn log(&self) -> Vec<Record> {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = SqliteStore::open(self.database(""), &store::Options::default()).expect("a store");
        tokio.block_on(async {
            let log = store.all(0, 1_000_000).await.expect("the log can be read");
            store.close().await;
            log
        })
    }
}

impl Running {
    /// What it has said on stderr so far.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.err).unwrap_or_default()
    }

    /// Waits until it says something on stderr, and insists that it goes on.
    #[track_caller]
    pub fn until_says(&mut self, words: &str) {
        until(words, || self.said().contains(words).then_some(()));
        assert_eq!(self.child.try_wait().expect("it can be waited for"), None, "it goes on: {}", self.said());
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it can be waited for").is_some()
    }

    /// Kills it as if the machine had.
    pub fn kill(&mut self) {
        self.child.kill().expect("the program can be killed");
        self.child.wait().expect("the program ends");
    }

    /// Waits for its end.
    #[track_caller]
    pub fn done(mut self) -> Done {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("it can be waited for") {
                Some(status) => break status,
                None if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
                None => panic!("it does not end; it said: {}", self.said()),
            }
        };
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        Done { code: status.code(), out: read(&self.out), err: read(&self.err) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is not there to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Done {
    /// Insists on an exit code and an answer, and that nothing broke inside.
    #[track_caller]
    pub fn answer(&self, code: i32, answer: &str) {
        assert_eq!((self.code, self.out.trim_end()), (Some(code), answer), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }

    /// Insists on an exit code, on no answer, and on words on stderr.
    #[track_caller]
    pub fn fails(&self, code: i32, words: &[&str]) {
        self.answer(code, "");
        for words in words {
            assert!(self.err.contains(words), "{words}: {}", self.err);
        }
    }
}

/// Polls until something is there.
#[track_caller]
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for: {what}");
        thread::sleep(Duration::from_millis(3));
    }
}
