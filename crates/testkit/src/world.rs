//! An environment of its own for each test of the real program: a home, a folder for state, a workspace, a script, and the
//! processes in it.
//!
//! What they print and how they end is in `running`, what they leave in the database in `contents`.
//! Which program it is comes from outside, for only its own tests know where it was built.

mod contents;
mod running;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use agent::ThreadId;
use rustix::process::{Pid, Signal};
use store::conformance::postgres_server::Server;
use store::{Address, Durability, Living, Location, Options, PostgresStore, Record, Store, ThreadRow};

pub use contents::{DatabaseContents, assert_gapless, count, events, report_of};
pub use running::{Done, Running};

/// Until a test gives up waiting for something that must come.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Until a test gives up waiting for the end of what belonged to something that is over: left alone, all of it would be there for
/// minutes. That it takes two seconds at most (F26, F30) is measured by `cargo xtask bench` (`--only stop`), for tests run on machines
/// that have other work; what tests check is that an end is told only once it is true.
pub const GONE_WITHIN: Duration = Duration::from_secs(10);

/// A world of its own.
pub struct World {
    program: &'static str,
    folder: tempfile::TempDir,
    tokio: tokio::runtime::Runtime,
    /// The database, as another process sees it; opened at the first use.
    store: OnceLock<Arc<dyn Store>>,
    /// Processes that were started.
    started: AtomicUsize,
    /// The address of the database where the store is not a file.
    server: Option<String>,
}

impl World {
    /// A world for a program whose model speaks by this script, with its store in a file.
    pub fn new(program: &'static str, scenes: &[String]) -> Self {
        Self::with_store(program, scenes, None)
    }

    /// The same with its store in a database of a PostgreSQL server, which is started for this process of tests.
    pub fn on_postgres(program: &'static str, scenes: &[String]) -> Self {
        Self::on_database(program, scenes, Server::shared().database())
    }

    /// The same with its store in this database, in which nothing is made yet.
    pub fn on_database(program: &'static str, scenes: &[String], address: String) -> Self {
        let parsed = Address::parse(&address).expect("an address");
        PostgresStore::initialize(&parsed).expect("tables");
        Self::with_store(program, scenes, Some(address))
    }

    fn with_store(program: &'static str, scenes: &[String], server: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        for part in ["home", "state", "work", "told"] {
            fs::create_dir(folder.path().join(part)).expect("a folder");
        }
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let world = Self { program, folder, tokio, store: OnceLock::new(), started: AtomicUsize::new(0), server };
        world.rewrite(scenes);
        world
    }

    /// Where the script of the model lies.
    pub fn script(&self) -> PathBuf {
        self.folder.path().join("script.toml")
    }

    /// Gives the model another script, for processes that start from here on.
    pub fn rewrite(&self, scenes: &[String]) {
        fs::write(self.folder.path().join("script.toml"), scenes.concat()).expect("a script");
    }

    /// A file of the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// Every file that the program left in its folder for state.
    pub fn state_files(&self) -> Vec<String> {
        let mut folders = vec![self.state("")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path => files.push(path.display().to_string()),
                }
            }
        }
        files.sort();
        files
    }

    /// Where the store is.
    pub fn location(&self) -> Location {
        match &self.server {
            Some(address) => Location::Postgres(Address::parse(address).expect("an address")),
            None => Location::folder(self.state("")),
        }
    }

    /// The address of its database, where the store is not a file.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The file of the database.
    pub fn database(&self) -> PathBuf {
        self.location().to_string().into()
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

    /// The program, about to be started in this world.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(self.program);
        command
            .args(arguments)
            .current_dir(folder.join("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.join("home"))
            .env("MAJORDOMO_DATA", folder.join("state"))
            .stdin(Stdio::null());
        if let Some(address) = &self.server {
            command.env("MAJORDOMO_STORE", address);
        }
        command
    }

    /// The program, about to be started on a task in mode `dangerous`, with further arguments.
    pub fn task(&self, task: &str, arguments: &[&str]) -> Command {
        self.task_in("dangerous", task, arguments)
    }

    /// The program, about to be started on a task in mode `ask`, with further arguments.
    pub fn careful_task(&self, task: &str, arguments: &[&str]) -> Command {
        self.task_in("ask", task, arguments)
    }

    /// The program, about to be started on a task in this mode, with further arguments.
    pub fn task_in(&self, mode: &str, task: &str, arguments: &[&str]) -> Command {
        let model = format!("scripted/{}", self.folder.path().join("script.toml").display());
        let mut command = self.command(&["run", task, "--model", &model, "--mode", mode]);
        command.args(arguments);
        command
    }

    /// Starts what is about to be started.
    pub fn launch(&self, mut command: Command) -> Running {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let told = |ending: &str| self.folder.path().join("told").join(format!("{number}.{ending}"));
        let (out, err) = (told("out"), told("err"));
        command.stdout(File::create(&out).expect("a file")).stderr(File::create(&err).expect("a file"));
        Running::new(command.spawn().expect("the program starts"), out, err)
    }

    /// Starts the program on a task, in mode `dangerous`, with further arguments.
    pub fn run(&self, task: &str, arguments: &[&str]) -> Running {
        self.launch(self.task(task, arguments))
    }

    /// Starts the program.
    pub fn start(&self, arguments: &[&str]) -> Running {
        self.launch(self.command(arguments))
    }

    /// Runs the program to its end.
    pub fn call(&self, arguments: &[&str]) -> Done {
        self.start(arguments).done()
    }

    /// Everything in the database.
    pub fn contents(&self) -> DatabaseContents {
        let open = || store::open(&self.location(), &Options::default()).expect("a store");
        self.tokio.block_on(DatabaseContents::read(&**self.store.get_or_init(open)))
    }

    /// Everything in the database, read from a copy of its files: the next process that opens them finds them as they were left.
    pub fn books_of_a_copy(&self) -> DatabaseContents {
        let copy = tempfile::tempdir_in(self.folder.path()).expect("a passing folder");
        self.location().copy_to(copy.path()).expect("a copy");
        let options = Options { durability: Durability::Normal, ..Options::default() };
        let store = store::open(&Location::folder(copy.path()), &options).expect("a store");
        self.tokio.block_on(async {
            let contents = DatabaseContents::read(&*store).await;
            store.close().await;
            contents
        })
    }

    /// Every event in the database.
    pub fn log(&self) -> Vec<Record> {
        self.contents().log
    }

    /// Every thread in the database, oldest first.
    pub fn rows(&self) -> Vec<ThreadRow> {
        self.contents().rows
    }

    /// A thread as it stands.
    pub fn row(&self, id: &ThreadId) -> ThreadRow {
        self.rows().into_iter().find(|row| row.id == *id).unwrap_or_else(|| panic!("there is no thread {id}"))
    }

    /// The first root, once it is there.
    pub fn root(&self) -> ThreadId {
        until("a root", || self.contents().roots().next().cloned())
    }

    /// Waits until the log holds something.
    pub fn until_logged(&self, what: &str, holds: impl Fn(&[Record]) -> bool) -> Vec<Record> {
        until(what, || Some(self.log()).filter(|log| holds(log)))
    }

    /// Waits until all processes that were killed are known to be gone: where the store is a file at once, and else when their leases are over.
    pub fn until_left(&self) {
        if self.server.is_some() {
            until("the leases to be over", || {
                let (rows, living) = (self.rows(), self.living());
                (!rows.iter().any(|row| living.owns(row))).then_some(())
            });
        }
    }

    /// Which of the processes that own threads of a shared database are alive.
    pub fn living(&self) -> Living {
        let open = || store::open(&self.location(), &Options::default()).expect("a store");
        let store = self.store.get_or_init(open);
        // Where several machines share a store it goes by its own time.
        until("the store to answer", || self.tokio.block_on(store.living(agent::Time(0))).ok())
    }

    /// What the store itself finds wrong with what it keeps.
    pub fn faults(&self) -> Vec<String> {
        let open = || store::open(&self.location(), &Options::default()).expect("a store");
        self.tokio.block_on(self.store.get_or_init(open).check()).expect("it can be checked").faults
    }

    /// Checks the log of the family: whatever happened, every rule holds and nothing is under way.
    pub fn assert_at_rest(&self, root: &ThreadId) {
        self.contents().assert_at_rest(root);
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

    fn state(&self, name: &str) -> PathBuf {
        self.folder.path().join("state").join(name)
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

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // A process that has exited meanwhile needs no signal.
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
