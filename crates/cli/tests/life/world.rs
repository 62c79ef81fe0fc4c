//! A world of its own for each test: a home, a folder for state, a workspace, a script, and the processes in it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Event, Report, ThreadId};
use rustix::process::{Pid, Signal};
use store::{Record, SqliteStore, Store, ThreadQuery, ThreadRow};
use testkit::invariants::{Ledger, family};

/// Until a test gives up waiting for something that must come.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// What F26 and F30 allow between an end and the end of everything that belonged to it.
pub const GONE_WITHIN: Duration = Duration::from_secs(2);

/// A world of its own.
pub struct World {
    folder: tempfile::TempDir,
    tokio: tokio::runtime::Runtime,
    /// The database, as another process sees it.
    store: SqliteStore,
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

impl World {
    /// A world whose model speaks by this script.
    pub fn new(scenes: &[String]) -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        for part in ["home", "state", "work", "told"] {
            fs::create_dir(folder.path().join(part)).expect("a folder");
        }
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let database = folder.path().join("state/majordomo.db");
        let store = SqliteStore::open(database, &store::Options::default()).expect("a store");
        let world = Self { folder, tokio, store };
        world.rewrite(scenes);
        world
    }

    /// Gives the model another script, for processes that start from here on.
    pub fn rewrite(&self, scenes: &[String]) {
        fs::write(self.folder.path().join("script.toml"), scenes.concat()).expect("a script");
    }

    /// A file of the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// The lines of a file of the workspace; none where there is no file.
    pub fn lines(&self, name: &str) -> Vec<String> {
        fs::read_to_string(self.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Waits until a file of the workspace has so many lines.
    pub fn until_lines(&self, name: &str, count: usize) {
        until(&format!("{count} lines in {name}"), || (self.lines(name).len() >= count).then_some(()));
    }

    /// Lets every command go on that waits for it.
    pub fn go(&self) {
        fs::write(self.path("go"), "").expect("a file");
    }

    /// Starts `majordomo run` on a task, in mode `dangerous`, with further arguments.
    pub fn run(&self, task: &str, arguments: &[&str]) -> Running {
        let model = format!("scripted/{}", self.folder.path().join("script.toml").display());
        let mut all = vec!["run", task, "--model", &model, "--mode", "dangerous"];
        all.extend(arguments);
        self.start(&all)
    }

    /// Starts the program.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let told = self.folder.path().join("told");
        let number = fs::read_dir(&told).expect("a folder").count();
        let (out, err) = (told.join(format!("{number}.out")), told.join(format!("{number}.err")));
        let child = self
            .command(arguments)
            .stdout(File::create(&out).expect("a file"))
            .stderr(File::create(&err).expect("a file"))
            .spawn()
            .expect("the program starts");
        Running { child, out, err }
    }

    /// Runs the program to its end.
    pub fn call(&self, arguments: &[&str]) -> Done {
        self.start(arguments).done()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_majordomo"));
        command
            .args(arguments)
            .current_dir(folder.join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.join("home"))
            .env("MAJORDOMO_DATA", folder.join("state"))
            .stdin(Stdio::null());
        command
    }

    /// Every event in the database.
    pub fn log(&self) -> Vec<Record> {
        self.tokio.block_on(self.store.all(0, 1_000_000)).expect("the log can be read")
    }

    /// Every thread in the database, oldest first.
    pub fn rows(&self) -> Vec<ThreadRow> {
        let query = ThreadQuery { limit: 10_000, ..ThreadQuery::default() };
        let mut rows = self.tokio.block_on(self.store.threads(query)).expect("the threads can be read");
        rows.reverse();
        rows
    }

    /// A thread as it stands.
    pub fn row(&self, id: &ThreadId) -> ThreadRow {
        self.rows().into_iter().find(|row| row.id == *id).unwrap_or_else(|| panic!("there is no thread {id}"))
    }

    /// The first root, once it is there.
    pub fn root(&self) -> ThreadId {
        until("a root", || self.rows().into_iter().find(|row| row.id.is_root()).map(|row| row.id))
    }

    /// Waits until the log holds something.
    pub fn until_logged(&self, what: &str, holds: impl Fn(&[Record]) -> bool) -> Vec<Record> {
        until(what, || Some(self.log()).filter(|log| holds(log)))
    }

    /// The processes of commands that were started in this world, their guards included.
    pub fn commands(&self) -> Vec<i32> {
        let home = format!("HOME={}", self.folder.path().join("home").display());
        let carries = |pid: &i32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut entries = environment.split(|byte| *byte == 0);
            entries.clone().any(|entry| entry == home.as_bytes())
                && entries.any(|entry| entry.starts_with(b"MAJORDOMO_COMMAND="))
        };
        let everyone = fs::read_dir("/proc").expect("processes can be seen").flatten();
        let pids = everyone.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(carries).collect()
    }

    /// Waits until no command of this world is left, and no longer than is allowed.
    pub fn assert_commands_gone(&self) {
        let begun = Instant::now();
        loop {
            let left = self.commands();
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < GONE_WITHIN, "still there: {}", told_of(&left));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Holds the log of the family against the books: whatever happened, every rule holds and nothing is under way.
    pub fn assert_at_rest(&self, root: &ThreadId) {
        let log: Vec<Record> = self.log().into_iter().filter(|record| record.thread.root() == *root).collect();
        assert_gapless(&log);
        let mut ledgers: BTreeMap<ThreadId, Ledger> = BTreeMap::new();
        for record in &log {
            let seen = match (&*record.event, ledgers.get_mut(&record.thread)) {
                (Event::ThreadCreated(created), None) => {
                    ledgers.insert(record.thread.clone(), Ledger::new(created));
                    Ok(())
                }
                (event, Some(ledger)) => ledger.see(event),
                (event, None) => panic!("{} begins with {}", record.thread, event.kind()),
            };
            seen.unwrap_or_else(|broken| panic!("{} at {}: {broken}", record.thread, record.seq));
        }
        let ledgers = ledgers.iter().map(|(id, ledger)| (id.clone(), ledger)).collect();
        family(root, &ledgers).unwrap_or_else(|broken| panic!("{broken}"));
        for row in self.rows().iter().filter(|row| row.root == *root) {
            assert!(!row.state.is_live(), "{} is {}", row.id, row.state);
            assert_eq!(row.owner, None, "{}", row.id);
        }
    }
}

impl Drop for World {
    /// A failed test leaves no process behind.
    fn drop(&mut self) {
        for pid in self.commands() {
            signal(pid, Signal::KILL);
        }
    }
}

impl Running {
    /// Sends a signal to the program, and to nobody else.
    pub fn signal(&self, what: Signal) {
        signal(self.child.id().cast_signed(), what);
    }

    /// Kills it as if the machine had: nothing of it runs afterwards, and it had no warning.
    pub fn kill(&mut self) {
        self.child.kill().expect("the program can be killed");
        self.child.wait().expect("the program ends");
    }

    /// What it has printed on stdout so far.
    pub fn printed(&self) -> String {
        fs::read_to_string(&self.out).unwrap_or_default()
    }

    /// What it has said on stderr so far.
    pub fn said(&self) -> String {
        fs::read_to_string(&self.err).unwrap_or_default()
    }

    /// Waits for its end.
    pub fn done(mut self) -> Done {
        let ended = |child: &mut Child| child.try_wait().expect("the program can be waited for");
        let begun = Instant::now();
        let status: ExitStatus = loop {
            match ended(&mut self.child) {
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
    /// The answer, when the program ended with this code.
    #[track_caller]
    pub fn answer(&self, code: i32) -> &str {
        assert_eq!(self.code, Some(code), "out: {}\nerr: {}", self.out, self.err);
        self.out.trim_end()
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
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(3));
    }
}

/// The report of a thread, which it has once and behind which only letters stand.
#[track_caller]
pub fn report_of<'a>(log: &'a [Record], thread: &ThreadId) -> &'a Report {
    let reports: Vec<&Report> = events(log, thread)
        .filter_map(|event| match event {
            Event::Reported(report) => Some(&**report),
            _ => None,
        })
        .collect();
    assert_eq!(reports.len(), 1, "{thread} reports once: {reports:?}");
    reports[0]
}

/// The events of a thread, in order.
pub fn events<'a>(log: &'a [Record], thread: &ThreadId) -> impl Iterator<Item = &'a Event> {
    log.iter().filter(move |record| record.thread == *thread).map(|record| &*record.event)
}

/// How many events of a thread are of this kind.
pub fn count(log: &[Record], thread: &ThreadId, kind: &str) -> usize {
    events(log, thread).filter(|event| event.kind() == kind).count()
}

/// Numbers of events have no gaps: within each thread, and within each family.
pub fn assert_gapless(log: &[Record]) {
    let mut last: BTreeMap<&ThreadId, u64> = BTreeMap::new();
    let mut seqs: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for record in log {
        let n = last.entry(&record.thread).or_default();
        assert_eq!(record.n, *n + 1, "{}", record.thread);
        *n = record.n;
        let seq = seqs.entry(record.thread.root()).or_default();
        assert_eq!(record.seq, *seq + 1, "{}", record.thread);
        *seq = record.seq;
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Whoever has gone meanwhile needs no signal.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

fn told_of(pids: &[i32]) -> String {
    let line = |pid: &i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("\n{pid} {}", String::from_utf8_lossy(&words).replace('\0', " "))
    };
    pids.iter().map(line).collect()
}
