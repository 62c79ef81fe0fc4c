//! The crash matrix of a board: `majordomo work` is killed before and after every event that it writes, of the board and of the threads
//! of its tasks, and started again. Every task is handed out once, every start and every notice comes once, and all is as in a run that
//! nothing happened to.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;

use agent::{Event, InputId, Outside};
use majordomo::tasks::board::kept::Kept;
use majordomo::tasks::board::{BoardId, DeliveryKind, Event as BoardEvent, Status};
use rustix::process::Signal;
use store::{BoardRecord, Options, Store, TaskQuery};
use testkit::scenes::{call, calls, command, says, scene, whenever_asked};
use testkit::world::{World, assert_gapless, events, until};

use crate::checks::assert_sound;
use crate::matrix::hold_at_all;
use crate::runs::{EFFECTS, TASK};
use crate::trial::{Death, Side};
use crate::world;

/// Events that a worker writes at least until all is done.
const AT_LEAST: u64 = 30;

#[test]
fn a_board_survives_the_death_of_its_worker_at_every_event() {
    // F1, F3, INV-8
    let whole = whole();
    assert!(whole >= AT_LEAST, "there are moments to die at: {whole}");
    let deaths: Vec<Death> = [Side::Before, Side::After]
        .into_iter()
        .flat_map(|side| (1..=whole).map(move |event| Death { side, event }))
        .collect();
    hold_at_all(&deaths, dies_and_ends);
}

#[test]
fn a_task_that_is_added_when_the_program_dies_is_there_or_not_at_all() {
    // F1
    for (death, tasks) in [("before:1", 0), ("before:2", 0), ("after:1", 1), ("after:2", 1)] {
        let world = world(&[]);
        let mut add = world.command(&["task", "add", "One", "--assign", "human"]);
        add.env("MAJORDOMO_FAILPOINT", death);
        assert!(world.launch(add).done().was_killed(), "{death}");
        let listed = world.call(&["task", "ls", "--json"]);
        let listed: Vec<serde_json::Value> = serde_json::from_str(listed.answer(0)).expect("a list");
        assert_eq!(listed.len(), tasks, "{death}");
        let rebuilt = world.call(&["doctor", "--rebuild"]);
        assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    }
}

/// The events that a worker writes if nothing happens to it.
fn whole() -> u64 {
    let board = Planned::new();
    let before = board.newest();
    let work = board.world.launch(board.work(None));
    until("the board to come to rest", || board.is_at_rest().then_some(()));
    let written = board.newest() - before;
    board.end(work);
    written
}

fn dies_and_ends(death: &Death) {
    let board = Planned::new();
    let mut first = board.world.launch(board.work(Some(*death)));
    until("an end", || (first.has_ended() || board.is_at_rest()).then_some(()));
    if board.is_at_rest() {
        // It died after its last event, or had an event less to write than a run that nothing happened to.
        first.signal(Signal::INT);
        let ended = first.done();
        assert!(ended.was_killed() || ended.code == Some(130), "{ended:?}");
        return board.check();
    }
    let died = first.done();
    assert!(died.was_killed(), "{died:?}");
    let second = board.world.launch(board.work(None));
    until("the board to come to rest", || board.is_at_rest().then_some(()));
    board.end(second);
}

/// A board with two tasks, the second after the first, each for a new agent. The agent that added them is told of their ends.
struct Planned {
    world: World,
    tokio: tokio::runtime::Runtime,
    store: Arc<dyn Store>,
    board: BoardId,
}

impl Planned {
    fn new() -> Self {
        let tasks = "tasks = [{ title = \"First\", assign = \"new:general\" }, \
                     { title = \"Second\", assign = \"new:general\", after = [\"#0\"] }]";
        let done = |note: &str| calls(&[call("task_update", &format!("status = \"completed\", note = {note:?}"))]);
        let agent = |title: &str, word: &str| {
            let leaves = command(&format!("echo {word} >> {EFFECTS}"));
            scene(&format!("Title: \"{title}\""), &[calls(&[leaves]), done(word), whenever_asked(&says("done"))])
        };
        let world = world(&[
            scene(TASK, &[calls(&[call("task_add", tasks)]), whenever_asked(&says("heard"))]),
            agent("First", "one"),
            agent("Second", "two"),
        ]);
        let mut run = world.task(TASK, &["--quiet"]);
        run.env("MAJORDOMO_TASKS_ENABLED", "true").env("MAJORDOMO_STORE_DURABILITY", "normal");
        assert_eq!(world.launch(run).done().code, Some(0));
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = store::open(&world.location(), &Options::default()).expect("a store");
        let boards = tokio.block_on(store.boards()).expect("boards");
        let board = boards[0].id.clone();
        Self { world, tokio, store, board }
    }

    /// The worker, about to be started.
    fn work(&self, death: Option<Death>) -> Command {
        let mut work = self.world.command(&["work"]);
        let model = format!("scripted/{}", self.world.script().display());
        work.env("MAJORDOMO_MODEL", model).env("MAJORDOMO_MODE", "dangerous").env("MAJORDOMO_TASKS_ENABLED", "true");
        work.env("MAJORDOMO_STORE_DURABILITY", "normal");
        if let Some(death) = death {
            work.env("MAJORDOMO_FAILPOINT", death.to_string());
        }
        work
    }

    /// Events that were ever written.
    fn newest(&self) -> u64 {
        let log = self.world.log().len() as u64;
        log + self.records().len() as u64
    }

    fn records(&self) -> Vec<BoardRecord> {
        self.tokio.block_on(self.store.board_events(&self.board, 0, usize::MAX)).expect("the board's events")
    }

    /// Whether both tasks are done, all is told, and no agent works.
    fn is_at_rest(&self) -> bool {
        let mut kept = Kept::new(self.board.clone());
        for record in self.records() {
            kept.apply(record.at, &record.entry);
        }
        let are_done = kept.tasks.values().all(|task| task.status == Status::Completed);
        are_done && kept.deliveries.is_empty() && self.world.rows().iter().all(|row| !row.state.is_live())
    }

    /// Stops the worker and looks at what there is.
    fn end(&self, work: testkit::world::Running) {
        work.signal(Signal::INT);
        let done = work.done();
        assert_eq!(done.code, Some(130), "{}", done.err);
        self.check();
    }

    fn check(&self) {
        self.assert_once();
        self.assert_threads();
        assert_sound(&self.world);
    }

    /// Each task was handed out, begun, completed and told once, and what is kept is what the log says.
    fn assert_once(&self) {
        let records = self.records();
        let mut kept = Kept::new(self.board.clone());
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for (place, record) in records.iter().enumerate() {
            assert_eq!(record.n, place as u64 + 1, "the board has no gap");
            kept.apply(record.at, &record.entry);
            let event = &record.entry.event;
            let told = match event {
                BoardEvent::Told { delivery } => match &delivery.kind {
                    DeliveryKind::Tell { notice, .. } => notice.as_str(),
                    DeliveryKind::Start { .. } | DeliveryKind::Assign { .. } => "",
                },
                _ => "",
            };
            let task = event.task().map(ToString::to_string).unwrap_or_default();
            *counts.entry(format!("{task} {} {told}", event.kind())).or_default() += 1;
        }
        for task in ["t1", "t2"] {
            for what in ["task_handed_out ", "task_begun ", "task_completed ", "told completed"] {
                assert_eq!(counts.get(&format!("{task} {what}")), Some(&1), "{task} {what}: {counts:?}");
            }
        }
        let listed = self.tokio.block_on(self.store.tasks(TaskQuery::of(&self.board))).expect("tasks");
        assert_eq!(listed, kept.tasks.into_values().collect::<Vec<_>>(), "the list is what the log says");
    }

    /// There are the creator and two agents; each agent has its task once, and the creator has heard of each end once.
    fn assert_threads(&self) {
        let contents = self.world.contents();
        assert_gapless(&contents.log);
        contents.assert_rows();
        let roots: Vec<_> = contents.roots().cloned().collect();
        assert_eq!((roots.len(), contents.rows.len()), (1, 3), "no thread was made twice");
        let creator = &roots[0];
        contents.assert_at_rest(creator);
        let told: Vec<(&InputId, &str)> = events(&contents.log, creator)
            .filter_map(|event| match event {
                Event::InputArrived { id, input: Outside::Noticed { text, .. } } => Some((id, &**text)),
                _ => None,
            })
            .collect();
        let names: BTreeSet<&InputId> = told.iter().map(|(id, _)| *id).collect();
        assert_eq!((told.len(), names.len()), (2, 2), "each end is told once: {told:?}");
        assert!(told[0].1.contains("Task t1 \"First\" was completed"), "{told:?}");
        let is_taken = |event: &&Event| match event {
            Event::RunStarted { input, .. } | Event::Steered { input, .. } => names.contains(input),
            _ => false,
        };
        assert_eq!(events(&contents.log, creator).filter(is_taken).count(), 2, "each is read once");
        let left = self.world.lines(EFFECTS);
        for word in ["one", "two"] {
            assert!(left.iter().filter(|line| *line == word).count() <= 1, "no command ran twice: {left:?}");
        }
    }
}
