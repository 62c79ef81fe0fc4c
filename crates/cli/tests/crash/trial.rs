//! One run in a world of its own: started, killed at a chosen event, spoken to, resumed.

use std::fmt;
use std::process::Command;
use std::time::Instant;

use agent::ThreadId;
use serde_json::Value;
use testkit::dice::Dice;
use testkit::world::{DatabaseContents, Done, PATIENCE, Running, World, assert_gapless, until};

use crate::runs::{Scripted, TASK};
use crate::world;

/// The moment at which a process dies: before or after the commit that holds so many of the events it writes.
#[derive(Clone, Copy, Debug)]
pub struct Death {
    pub side: Side,
    /// From 1.
    pub event: u64,
}

/// On which side of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

impl Death {
    /// Before or after one of the first events.
    pub fn among_the_first(events: u64, dice: &mut Dice) -> Self {
        let side = *dice.pick(&[Side::Before, Side::After]);
        Self { side, event: dice.between(1, events) }
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Before => "before",
            Side::After => "after",
        };
        write!(f, "{side}:{}", self.event)
    }
}

/// One run in a world of its own.
pub struct Trial<'a> {
    pub scripted: &'a Scripted,
    pub world: World,
    durability: &'static str,
    /// Whether what a person had to say was taken.
    pub steered: bool,
}

/// Where a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In a file of this machine.
    InFile,
    /// In a database that many machines share.
    OnPostgres,
}

impl<'a> Trial<'a> {
    pub fn new(scripted: &'a Scripted, durability: &'static str, kept: Kept) -> Self {
        let world = match kept {
            Kept::InFile => world(&scripted.scenes),
            Kept::OnPostgres => World::on_postgres(env!("CARGO_BIN_EXE_majordomo"), &scripted.scenes),
        };
        Self { scripted, world, durability, steered: false }
    }

    /// Begins the run and waits for its end or its death. A person is there and speaks.
    pub fn run(&mut self, death: Option<Death>) -> Done {
        let command = match self.scripted.asks {
            false => self.world.task(TASK, &["--jsonl"]),
            true => self.world.careful_task(TASK, &["--jsonl", "--approvals", "wait"]),
        };
        let mut running = self.launch(command, death);
        if let Some(words) = self.scripted.steer {
            self.attend(&mut running, words);
        }
        self.allow(&mut running);
        running.done()
    }

    /// Goes on with the run. What a person did not come to say before is sent while no process runs, and waits in the log.
    pub fn resume(&mut self, root: &ThreadId, death: Option<Death>) -> Done {
        if let Some(words) = self.scripted.steer.filter(|_| !self.steered) {
            self.steer(root.as_str(), words);
        }
        self.world.until_left();
        self.world.go();
        let mut command = self.world.command(&["thread", "resume", root.as_str(), "--json", "--quiet"]);
        if self.scripted.asks {
            command.args(["--approvals", "wait"]);
        }
        let mut running = self.launch(command, death);
        self.allow(&mut running);
        running.done()
    }

    /// What is left after a death, looked at without touching it: whole transactions, no more and no less than was written.
    pub fn left_behind(&self, done: &Done) -> DatabaseContents {
        assert!(done.was_killed(), "it should have been killed: {done:?}");
        let contents = match self.world.server() {
            None => self.world.books_of_a_copy(),
            // The process that looks changes nothing there.
            Some(_) => self.world.contents(),
        };
        assert_gapless(&contents.log);
        contents.assert_rows();
        contents
    }

    /// Allows whatever is asked for as long as the run goes on.
    fn allow(&self, running: &mut Running) {
        let begun = Instant::now();
        while self.scripted.asks && !running.has_ended() {
            assert!(begun.elapsed() < PATIENCE, "it asks and asks: {}", running.said());
            let listed = self.world.call(&["approve", "ls", "--json"]);
            // The first to look may come before there is a database.
            let questions: Vec<Value> = serde_json::from_str(&listed.out).unwrap_or_default();
            for question in questions.iter().filter(|question| question["status"] == "pending") {
                let id = question["id"].as_str().expect("a question has a name");
                let told = self.world.call(&["approve", "yes", id]);
                assert!(told.code == Some(0) || told.err.contains("is already decided"), "{told:?}");
            }
        }
    }

    /// Waits until the root waits for its children, tells it something, and lets the children go on.
    fn attend(&mut self, running: &mut Running, words: &str) {
        let waits = until("the root to wait", || {
            let is_wait = |line: &Value| line["type"] == "tool_start" && line["tool_name"] == "wait_agents";
            let wait = printed(&running.printed()).into_iter().find(is_wait);
            wait.map(Some).or_else(|| running.has_ended().then_some(None))
        });
        if let Some(line) = waits {
            self.steer(line["run"].as_str().expect("a line names its run"), words);
            self.world.go();
        }
    }

    /// Tells the root something. Only one that is done does not take it.
    fn steer(&mut self, root: &str, words: &str) {
        let told = self.world.call(&["steer", root, words]);
        match told.code {
            Some(0) => self.steered = true,
            _ => assert!(told.err.contains("is not running"), "{told:?}"),
        }
    }

    fn launch(&self, mut command: Command, death: Option<Death>) -> Running {
        command.env("MAJORDOMO_STORE_DURABILITY", self.durability);
        if let Some(death) = death {
            command.env("MAJORDOMO_FAILPOINT", death.to_string());
        }
        self.world.launch(command)
    }
}

/// The lines of JSON that were printed whole.
pub fn printed(text: &str) -> Vec<Value> {
    let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    whole.map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}
