//! The place of these tests: a world with one scene in it, a run that waits in a command until it is told to go on, and
//! what must be so of every end. The database is only looked at in a copy, so that nothing holds it that a test does not
//! mean to.

use std::path::{Path, PathBuf};

use store::Record;
use testkit::model_server::{KEY, ModelServer};
use testkit::scenes::{calls, command, says, scene};
use testkit::world::{Done, Running, World, until};

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
        let scenes = [scene("Wait", &[calls(&[wait]), says(ANSWER)])];
        Self { world: World::new(env!("CARGO_BIN_EXE_majordomo"), &scenes), variables: Vec::new() }
    }

    /// A place whose provider is this server.
    pub fn at(server: &ModelServer, wire: provider::Wire) -> Self {
        let name = wire.name().to_uppercase();
        let variables =
            vec![(format!("{name}_BASE_URL"), server.url(wire)), (format!("{name}_API_KEY"), KEY.to_owned())];
        Self { variables, ..Self::new() }
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

    /// Starts a run that waits for `go` in a command.
    pub fn wait(&self) -> Running {
        self.world.run("Wait", &[])
    }

    /// Starts a run that waits for `go`, and comes back once it waits.
    pub fn waiting(&self) -> Running {
        let run = self.wait();
        self.world.until_lines("begun", 1);
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
        let mut command = self.world.command(words);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        self.world.launch(command)
    }

    /// Runs the program to its end.
    pub fn call(&self, words: &[&str]) -> Done {
        self.start(words).done()
    }

    /// Every event in the database.
    pub fn log(&self) -> Vec<Record> {
        self.world.books_of_a_copy().log
    }
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
