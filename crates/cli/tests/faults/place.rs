//! The place of these tests: a world with one scene in it, a run that waits in a command until it is told to go on, and
//! what must be so of every end. The database is only looked at in a copy, so that nothing holds it that a test does not
//! mean to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use store::Record;
use testkit::model_server::ModelServer;
use testkit::scenes::{calls, command, says, scene};
use testkit::world::{Done, Running, World, until};
use view::FRAMES_PER_EVENT;

/// What the run of every place answers in the end.
pub const ANSWER: &str = "It is done.";

/// A place of its own.
pub struct Place {
    world: World,
    variables: Vec<(String, String)>,
}

impl Place {
    pub fn new() -> Self {
        // Its output is more than fits the pages that are there already.
        let wait = command("echo one >> begun; until [ -e go ]; do sleep 0.02; done; seq 1 5000");
        Self::playing(&[scene("Wait", &[calls(&[wait]), says(ANSWER)])])
    }

    /// A place with other scenes.
    pub fn playing(scenes: &[String]) -> Self {
        Self { world: World::new(env!("CARGO_BIN_EXE_majordomo"), scenes), variables: Vec::new() }
    }

    /// A place whose provider is this server.
    pub fn at(server: &ModelServer, wire: provider::Wire) -> Self {
        Self::new().with(server.variables(wire))
    }

    /// The same place, where every process gets further variables.
    pub fn with(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(variables);
        self
    }

    /// The folder for state.
    pub fn state(&self) -> PathBuf {
        self.world.database().parent().map(Path::to_owned).expect("the database lies in a folder")
    }

    /// The database, or a file beside it.
    pub fn database(&self, ending: &str) -> PathBuf {
        let mut file = self.world.database().into_os_string();
        file.push(ending);
        file.into()
    }

    /// A file of the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    /// Starts a run on a task.
    pub fn run(&self, task: &str, words: &[&str]) -> Running {
        self.launch(self.world.task(task, words))
    }

    /// Starts a run that waits for `go` in a command.
    pub fn wait(&self) -> Running {
        self.run("Wait", &[])
    }

    /// Starts a run that waits for `go`, and comes back once it waits.
    pub fn waiting(&self) -> Running {
        self.waiting_with(&[])
    }

    /// The same with further words on the command line.
    pub fn waiting_with(&self, words: &[&str]) -> Running {
        let begun = self.begun();
        let run = self.run("Wait", words);
        self.world.until_lines("begun", begun + 1);
        run
    }

    /// A run that waits for nothing, to its end; its thread.
    pub fn finished(&self) -> String {
        self.go();
        answers(&self.wait().done(), 0, ANSWER);
        self.log()[0].thread.to_string()
    }

    /// Lets every command go on that waits for it.
    pub fn go(&self) {
        self.world.go();
    }

    /// How many commands have begun.
    pub fn begun(&self) -> usize {
        self.world.lines("begun").len()
    }

    /// Starts the program.
    pub fn start(&self, words: &[&str]) -> Running {
        self.launch(self.world.command(words))
    }

    /// Runs the program to its end.
    pub fn call(&self, words: &[&str]) -> Done {
        self.start(words).done()
    }

    /// Every event in the database.
    pub fn log(&self) -> Vec<Record> {
        self.world.books_of_a_copy().log
    }

    /// Insists that whatever was printed with `--jsonl` is in the log.
    #[track_caller]
    pub fn kept(&self, printed: &str) {
        let log = self.log();
        let kept: BTreeSet<(&str, u64)> = log.iter().map(|record| (record.thread.as_str(), record.seq)).collect();
        // That the process was ended is no event of the run: the last line says so.
        for frame in
            frames(printed).into_iter().filter(|frame| frame.get("exit_code").is_none() || frame["type"] != "error")
        {
            let named = (frame["thread"].as_str(), frame["seq"].as_u64());
            let is_kept =
                matches!(named, (Some(thread), Some(seq)) if kept.contains(&(thread, seq / FRAMES_PER_EVENT)));
            assert!(is_kept, "shown and not kept: {frame}");
        }
    }

    /// Insists that the database is sound to its last page.
    #[track_caller]
    pub fn sound(&self) {
        let database = rusqlite::Connection::open(self.database("")).expect("the database opens");
        let verdict: String =
            database.pragma_query_value(None, "integrity_check", |row| row.get(0)).expect("a verdict");
        assert_eq!(verdict, "ok");
    }

    fn launch(&self, mut command: Command) -> Running {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        self.world.launch(command)
    }
}

/// What was printed with `--jsonl`, as far as the lines are whole.
pub fn frames(printed: &str) -> Vec<Value> {
    let whole = printed.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    whole.map(|line| serde_json::from_str(line).expect("a frame")).collect()
}

/// Waits until the program says something on stderr, and insists that it goes on.
#[track_caller]
pub fn until_says(run: &mut Running, words: &str) {
    until(words, || run.said().contains(words).then_some(()));
    assert!(!run.has_ended(), "it goes on: {}", run.said());
}

/// Insists on an exit code and an answer, and that nothing broke inside.
#[track_caller]
pub fn answers(done: &Done, code: i32, answer: &str) {
    assert_eq!(done.answer(code), answer, "{}", done.err);
    assert!(!done.err.contains("panicked"), "{}", done.err);
}

/// Insists on an exit code, on no answer, and on words on stderr.
#[track_caller]
pub fn fails(done: &Done, code: i32, words: &[&str]) {
    answers(done, code, "");
    for words in words {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
}
