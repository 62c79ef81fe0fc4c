//! The crash matrix of a board: `majordomo work` is killed before and after every event that it writes, of the board and of the threads
//! of its tasks, and started again. Every task is handed out once, every start and every notice comes once, and all is as in a run that
//! nothing happened to.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;

use agent::{Event, InputId, Outside, ThreadId};
use majordomo::tasks::board::kept::Kept;
use majordomo::tasks::board::{Assignee, BoardId, DeliveryKind, Event as BoardEvent, Status, Task};
use rustix::process::Signal;
use store::{BoardRecord, Options, Record, Store, TaskQuery};
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
    let whole = whole(Plan::Chain);
    assert!(whole >= AT_LEAST, "there are moments to die at: {whole}");
    let deaths: Vec<Death> = [Side::Before, Side::After]
        .into_iter()
        .flat_map(|side| (1..=whole).map(move |event| Death { side, event }))
        .collect();
    hold_at_all(&deaths, |death| dies_and_ends(Plan::Chain, death));
}

#[test]
fn notes_reassignments_and_blocked_tasks_survive_the_death_of_the_worker_at_every_event() {
    // F1, F3, INV-8, LACE-13
    let whole = whole(Plan::HandedAround);
    assert!(whole >= AT_LEAST, "there are moments to die at: {whole}");
    // One side of each event: before it every other time. The other side of an event is that of its neighbour.
    let side = |event: u64| if event.is_multiple_of(2) { Side::Before } else { Side::After };
    let deaths: Vec<Death> = (1..=whole).map(|event| Death { side: side(event), event }).collect();
    hold_at_all(&deaths, |death| dies_and_ends(Plan::HandedAround, death));
}

#[test]
fn an_agent_whose_worker_died_before_it_said_so_is_told_that_its_task_was_given_to_another() {
    // F1, F3, LACE-6, LACE-13
    let mut were_left = 0;
    for event in 1..=8 {
        // Its first agent would work on it for long: it is killed with its worker.
        let works = command("echo begun >> effects; for i in $(seq 250); do [ -e given ] && break; sleep 0.02; done");
        let done = calls(&[call("task_update", "status = \"completed\", note = \"done\"")]);
        let world = world(&[scene("Title: \"First\"", &[calls(&[works]), done, whenever_asked(&says("heard"))])]);
        assert_eq!(world.call(&["task", "add", "First", "--assign", "new:general"]).code, Some(0));
        let planned = Planned::of(Plan::Chain, world);
        let death = Death { side: Side::Before, event };
        let mut worker = planned.world.launch(planned.work(Some(death)));
        until("its death, or an agent at work", || {
            (worker.has_ended() || !planned.world.lines("effects").is_empty()).then_some(())
        });
        let has_died = worker.has_ended();
        if !has_died {
            worker.signal(Signal::KILL);
        }
        worker.done();
        let task = planned.first();
        let first = planned.world.rows().first().map(|row| row.id.clone());
        let assigned = planned.world.call(&["task", "assign", "t1", "human"]);
        assert_eq!(assigned.code, Some(0), "{assigned:?}");
        std::fs::write(planned.world.path("given"), "").expect("a file");
        let Some(first) = first else { continue };
        were_left += u32::from(task.status == Status::Pending);
        let second = planned.world.launch(planned.work(None));
        let is_told = |event: &Event| match event {
            Event::InputArrived { input: Outside::Noticed { text, .. }, .. } => text.contains("was given to human"),
            _ => false,
        };
        until("the agent to be told", || {
            let log = planned.world.log();
            (events(&log, &first).any(is_told) && planned.world.rows().iter().all(|row| !row.state.is_live()))
                .then_some(())
        });
        second.signal(Signal::INT);
        assert_eq!(second.done().code, Some(130), "{event}");
        let task = planned.first();
        assert_eq!((task.status, task.assignee), (Status::Pending, Some(Assignee::Human)), "{event}: it is a person's");
    }
    assert!(were_left > 0, "one of them died between the start of the agent and the board's knowledge of it");
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
fn whole(plan: Plan) -> u64 {
    let board = Planned::new(plan);
    let before = board.newest();
    let work = board.world.launch(board.work(None));
    until("the board to come to rest", || board.is_at_rest().then_some(()));
    let written = board.newest() - before;
    board.end(work);
    written
}

fn dies_and_ends(plan: Plan, death: &Death) {
    let board = Planned::new(plan);
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

/// What happens on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// Two tasks, the second after the first, each for a new agent. The agent that added them is told of their ends.
    Chain,
    /// The agent of a task remarks something, which its creator is told, and adds a second task. The agent of that one remarks something on
    /// the first, which both are told, gives it to a person, which its agent is told, and ends without completing its own, which the agent
    /// that added it is told.
    HandedAround,
}

/// A board on which a plan is carried out.
struct Planned {
    plan: Plan,
    world: World,
    tokio: tokio::runtime::Runtime,
    store: Arc<dyn Store>,
    board: BoardId,
}

impl Planned {
    fn new(plan: Plan) -> Self {
        let world = world(&match plan {
            Plan::Chain => Self::chain(),
            Plan::HandedAround => Self::handed_around(),
        });
        let mut run = world.task(TASK, &["--quiet"]);
        run.env("MAJORDOMO_TASKS_ENABLED", "true").env("MAJORDOMO_STORE_DURABILITY", "normal");
        assert_eq!(world.launch(run).done().code, Some(0));
        Self::of(plan, world)
    }

    /// A board that is there already.
    fn of(plan: Plan, world: World) -> Self {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let store = store::open(&world.location(), &Options::default()).expect("a store");
        let boards = tokio.block_on(store.boards()).expect("boards");
        let board = boards[0].id.clone();
        Self { plan, world, tokio, store, board }
    }

    /// Its first task.
    fn first(&self) -> Task {
        let tasks = self.tokio.block_on(self.store.tasks(TaskQuery::of(&self.board))).expect("tasks");
        tasks.into_iter().next().expect("a task")
    }

    fn handed_around() -> Vec<String> {
        let update = |arguments: &str| calls(&[call("task_update", arguments)]);
        let adds = |title: &str| {
            calls(&[call("task_add", &format!("tasks = [{{ title = {title:?}, assign = \"new:general\" }}]"))])
        };
        // The first agent still has its task when it is given away, unless its worker dies meanwhile.
        let waits = command("for i in $(seq 250); do [ -e given ] && break; sleep 0.02; done");
        vec![
            scene(TASK, &[adds("First"), whenever_asked(&says("heard"))]),
            scene(
                "Title: \"First\"",
                &[update("note = \"half\""), adds("Second"), calls(&[waits]), whenever_asked(&says("heard"))],
            ),
            scene(
                "Title: \"Second\"",
                &[
                    update("id = \"t1\", note = \"it is stuck\""),
                    update("id = \"t1\", assign = \"human\""),
                    calls(&[command("touch given")]),
                    whenever_asked(&says("I cannot go on")),
                ],
            ),
        ]
    }

    fn chain() -> Vec<String> {
        let tasks = "tasks = [{ title = \"First\", assign = \"new:general\" }, \
                     { title = \"Second\", assign = \"new:general\", after = [\"#0\"] }]";
        let done = |note: &str| calls(&[call("task_update", &format!("status = \"completed\", note = {note:?}"))]);
        let agent = |title: &str, word: &str| {
            let leaves = command(&format!("echo {word} >> {EFFECTS}"));
            scene(&format!("Title: \"{title}\""), &[calls(&[leaves]), done(word), whenever_asked(&says("done"))])
        };
        vec![
            scene(TASK, &[calls(&[call("task_add", tasks)]), whenever_asked(&says("heard"))]),
            agent("First", "one"),
            agent("Second", "two"),
        ]
    }

    /// The worker, about to be started.
    fn work(&self, death: Option<Death>) -> Command {
        let mut work = self.world.command(&["work"]);
        let model = format!("scripted/{}", self.world.script().display());
        work.env("MAJORDOMO_MODEL", model).env("MAJORDOMO_MODE", "dangerous").env("MAJORDOMO_TASKS_ENABLED", "true");
        work.env("MAJORDOMO_STORE_DURABILITY", "normal").env("MAJORDOMO_POLICY_MAX_DEPTH", "3");
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

    /// Whether both tasks are as they are at the end, all is told and taken up, and no agent works.
    fn is_at_rest(&self) -> bool {
        let mut kept = Kept::new(self.board.clone());
        for record in self.records() {
            kept.apply(record.at, &record.entry);
        }
        let ends: Vec<(Status, bool)> =
            kept.tasks.values().map(|task| (task.status, task.assignee == Some(Assignee::Human))).collect();
        let are_done = match self.plan {
            Plan::Chain => ends == [(Status::Completed, false); 2],
            Plan::HandedAround => ends == [(Status::Pending, true), (Status::Blocked, false)],
        };
        // A notice that was delivered to an ended thread is there before its thread is live again.
        let all_are_taken_up = || {
            let log = self.world.log();
            self.notices().iter().all(|(input, to)| taken_up(&log, input, to) > 0)
        };
        are_done
            && kept.deliveries.is_empty()
            && all_are_taken_up()
            && self.world.rows().iter().all(|row| !row.state.is_live())
    }

    /// Stops the worker and looks at what there is.
    fn end(&self, work: testkit::world::Running) {
        work.signal(Signal::INT);
        let done = work.done();
        assert_eq!(done.code, Some(130), "{}", done.err);
        self.check();
    }

    fn check(&self) {
        self.assert_delivered();
        match self.plan {
            Plan::Chain => {
                self.assert_once();
                self.assert_threads();
            }
            Plan::HandedAround => self.assert_handed_around(),
        }
        assert_sound(&self.world);
    }

    /// The notices of the board, each with the id of its input and the thread that it is for.
    fn notices(&self) -> Vec<(InputId, ThreadId)> {
        let notice = |record: BoardRecord| {
            let delivery = record.entry.event.delivery()?;
            match &delivery.kind {
                DeliveryKind::Tell { to, .. } => Some((delivery.id.input(&self.board), to.clone())),
                DeliveryKind::Start { .. } | DeliveryKind::Assign { .. } => None,
            }
        };
        self.records().into_iter().filter_map(notice).collect()
    }

    /// Each delivery was settled once; each notice that was not dropped is in the log of the one that it is for, once, and was taken up once.
    fn assert_delivered(&self) {
        let mut settled: BTreeMap<String, u32> = BTreeMap::new();
        for record in self.records() {
            let event = &record.entry.event;
            if let Some(delivery) = event.settled() {
                *settled.entry(delivery.to_string()).or_default() += 1;
            }
            if let Some(delivery) = event.delivery() {
                settled.entry(delivery.id.to_string()).or_default();
            }
        }
        assert!(settled.values().all(|times| *times == 1), "{settled:?}");
        let contents = self.world.contents();
        assert_gapless(&contents.log);
        contents.assert_rows();
        for (input, to) in self.notices() {
            let arrived = events(&contents.log, &to)
                .filter(|event| matches!(event, Event::InputArrived { id, .. } if *id == input))
                .count();
            assert_eq!((arrived, taken_up(&contents.log, &input, &to)), (1, 1), "{input:?} to {to}");
        }
        let rebuilt = self.tokio.block_on(self.store.rebuild_boards()).expect("it is rebuilt");
        assert_eq!(rebuilt.differences, 0, "what is kept is what the log says");
    }

    /// Every remark is there once, each task was handed out once, and each was told once to those whom it concerns.
    fn assert_handed_around(&self) {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for record in self.records() {
            let event = &record.entry.event;
            let what = match event {
                BoardEvent::Told { delivery, .. } => match &delivery.kind {
                    DeliveryKind::Tell { to, notice } => format!("{} to depth {}", notice.as_str(), to.depth()),
                    DeliveryKind::Start { .. } | DeliveryKind::Assign { .. } => String::new(),
                },
                BoardEvent::NoteAdded { note, .. } => note.content.to_string(),
                _ => String::new(),
            };
            let task = event.task().map(ToString::to_string).unwrap_or_default();
            *counts.entry(format!("{task} {} {what}", event.kind()).trim_end().to_owned()).or_default() += 1;
        }
        let once = [
            "t1 task_handed_out",
            "t1 task_begun",
            "t1 note_added half",
            "t1 note_added it is stuck",
            "t1 task_assigned",
            "t2 task_handed_out",
            "t2 task_begun",
            "t2 task_blocked",
            "t2 told blocked to depth 1",
        ];
        for what in once {
            assert_eq!(counts.get(what), Some(&1), "{what}: {counts:?}");
        }
        // The creator is told of both remarks, the agent of the second; it still has its task unless its worker died.
        assert_eq!(counts.get("t1 told note to depth 0"), Some(&2), "{counts:?}");
        assert_eq!(counts.get("t1 told note to depth 1"), Some(&1), "{counts:?}");
        let [reassigned, blocked] =
            ["t1 told reassigned to depth 1", "t1 task_blocked"].map(|what| counts.get(what).copied().unwrap_or(0));
        assert_eq!(reassigned + blocked, 1, "it was taken from its agent, or the agent had ended before: {counts:?}");
        assert_eq!(self.world.rows().len(), 3, "no thread was made twice");
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
                BoardEvent::Told { delivery, .. } => match &delivery.kind {
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

/// How often a thread took up an input: begun with it, heard it on the way, or dropped it with a reason.
fn taken_up(log: &[Record], input: &InputId, by: &ThreadId) -> usize {
    let is_taken = |event: &&Event| match event {
        Event::RunStarted { input: one, .. }
        | Event::Steered { input: one, .. }
        | Event::InputDropped { input: one, .. } => one == input,
        _ => false,
    };
    events(log, by).filter(is_taken).count()
}
