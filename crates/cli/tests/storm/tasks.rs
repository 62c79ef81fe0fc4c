//! A board under two workers that are killed at random: tasks with dependencies for agents that do not exist yet, with notes and
//! reassignments meanwhile. Every task is handed out once, every completion told once, no task is left without an owner, and no event is
//! lost or comes twice.
//!
//! A test run has a tenth of the tasks; `cargo xtask storm` has a thousand, for fifty agents. The moments of the kills are counted in
//! events of the board and come from `STORM_SEED`. The models are played by a strict server.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{Event, InputId, Outside, ThreadId};
use majordomo::tasks::board::kept::Kept;
use majordomo::tasks::board::{BoardId, DeliveryKind, Event as BoardEvent, Status};
use provider::Wire;
use rustix::process::Signal;
use serde_json::{Value, json};
use store::{BoardRecord, Options, Store, TaskQuery, ThreadQuery};
use testkit::dice::Dice;
use testkit::model_server::{ModelServer, Request, Turn};
use testkit::world::{Running, World, assert_gapless, events};

/// Tasks that wait for each other in a row.
const ROW: usize = 5;
/// The planner adds so many at once.
const AT_ONCE: usize = 50;
/// The words that the planner begins with.
const PLAN: &str = "Plan everything";

#[test]
fn two_workers_that_are_killed_at_random_do_every_task_once() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let is_whole = number("STORM_EVERY", 10) == 1;
    let (tasks, agents, kills) = if is_whole { (1_000, 50, 40) } else { (100, 10, 8) };
    let storm = Storm::new(tasks, agents, number("STORM_SEED", 7));
    storm.plan();
    storm.work(kills);
    storm.check();
}

struct Storm {
    world: World,
    tokio: tokio::runtime::Runtime,
    server: ModelServer,
    store: Arc<dyn Store>,
    tasks: usize,
    agents: usize,
    seed: u64,
}

impl Storm {
    fn new(tasks: usize, agents: usize, seed: u64) -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[]);
        let folder = world.path("../home/.config/majordomo/agents");
        fs::create_dir_all(&folder).expect("a folder");
        for agent in 0..agents {
            let name = worker(agent);
            let text = format!("---\nname: {name}\ndescription: Works.\n---\nYou do tasks.\n");
            fs::write(folder.join(format!("{name}.md")), text).expect("a file");
        }
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let server = tokio.block_on(ModelServer::start(move |request| answer(request, tasks, agents)));
        let store = store::open(&world.location(), &Options::default()).expect("a store");
        Self { world, tokio, server, store, tasks, agents, seed }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.world.command(words);
        command
            .env("OPENAI_BASE_URL", self.server.url(Wire::OpenAi))
            .env("OPENAI_API_KEY", testkit::model_server::KEY)
            .env("MAJORDOMO_MODEL", "openai/gpt-5.6")
            .env("MAJORDOMO_MODE", "auto")
            .env("MAJORDOMO_TASKS_ENABLED", "true")
            .env("MAJORDOMO_TASKS_MAX_CONCURRENT", "50")
            .env("MAJORDOMO_STORE_DURABILITY", "normal");
        command
    }

    /// An agent adds all tasks, each after the one before it in its row.
    fn plan(&self) {
        let done = self.world.launch(self.command(&["run", PLAN, "--quiet"])).done();
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert_eq!(self.kept().tasks.len(), self.tasks);
    }

    fn board(&self) -> BoardId {
        self.tokio.block_on(self.store.boards()).expect("boards")[0].id.clone()
    }

    fn records(&self) -> Vec<BoardRecord> {
        self.tokio.block_on(self.store.board_events(&self.board(), 0, usize::MAX)).expect("the board's events")
    }

    fn length(&self) -> u64 {
        self.tokio.block_on(self.store.board(&self.board())).expect("a board").map_or(0, |board| board.n)
    }

    fn kept(&self) -> Kept {
        let mut kept = Kept::new(self.board());
        for record in self.records() {
            kept.apply(record.at, &record.entry);
        }
        kept
    }

    fn is_at_rest(&self) -> bool {
        let open = |status| TaskQuery { status: Some(status), limit: 1, ..TaskQuery::of(&self.board()) };
        let are_done = [Status::Pending, Status::InProgress, Status::Blocked]
            .into_iter()
            .all(|status| self.tokio.block_on(self.store.tasks(open(status))).expect("tasks").is_empty());
        let live = ThreadQuery { live_only: true, limit: 1, ..ThreadQuery::default() };
        are_done
            && self.tokio.block_on(self.store.threads(live)).expect("threads").is_empty()
            && self.kept().deliveries.is_empty()
    }

    /// Two workers work; one of them is killed whenever the board has grown by a number of events that the dice choose, and begun
    /// again. Meanwhile a person makes notes and gives tasks to other agents.
    fn work(&self, kills: usize) {
        let mut dice = Dice::new(self.seed);
        let start = || self.world.launch(self.command(&["work", "--concurrency", "25"]));
        let mut workers: [Running; 2] = [start(), start()];
        // About ten events a task, and the last kills come before the last tasks.
        let step = (self.tasks as u64 * 8 / kills as u64).max(2);
        let begun = Instant::now();
        for _ in 0..kills {
            let target = self.length() + dice.between(1, step * 2 - 1);
            self.until(begun, || self.length() >= target || self.is_at_rest());
            self.interfere(&mut dice);
            let killed = dice.below(2) as usize;
            workers[killed].kill();
            workers[killed] = start();
        }
        self.until(begun, || self.is_at_rest());
        for worker in workers {
            worker.signal(Signal::TERM);
            // One that has only just been started again may not have begun to work: then the signal itself ends it.
            let done = worker.done();
            assert!(matches!(done.code, Some(143) | None), "a worker lets go of what it has: {done:?}");
        }
        eprintln!(
            "{} tasks, {} agents, {kills} kills: {:.1} s, {} events of the board, {} requests",
            self.tasks,
            self.agents,
            begun.elapsed().as_secs_f64(),
            self.length(),
            self.server.requests().len()
        );
    }

    fn until(&self, begun: Instant, holds: impl Fn() -> bool) {
        // The whole size takes minutes on a busy machine.
        let patience = Duration::from_secs(120 + 2 * self.tasks as u64);
        while !holds() {
            if begun.elapsed() > patience {
                let kept = self.kept();
                let open: Vec<_> =
                    kept.tasks.values().filter(|task| task.status != Status::Completed).take(5).collect();
                panic!("waited in vain: {open:#?}\n{:?}", kept.deliveries.values().take(5).collect::<Vec<_>>());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A note, and a reassignment; what is done already refuses the latter.
    fn interfere(&self, dice: &mut Dice) {
        let mut some = || format!("t{}", dice.between(1, self.tasks as u64));
        let (noted, moved) = (some(), some());
        let to = worker(dice.below(self.agents as u64) as usize);
        assert_eq!(self.world.launch(self.command(&["task", "note", &noted, "hurry"])).done().code, Some(0));
        let assigned = self.world.launch(self.command(&["task", "assign", &moved, &to])).done();
        let is_done = assigned.err.contains("is completed: reopen it before it is assigned");
        assert!(assigned.code == Some(0) || is_done, "{assigned:?}");
    }

    fn check(&self) {
        assert_eq!(self.server.refusals(), [""; 0], "every request was well formed");
        let records = self.records();
        let kept = self.kept();
        let places: Vec<u64> = records.iter().map(|record| record.n).collect();
        assert_eq!(places, (1..=records.len() as u64).collect::<Vec<_>>(), "no event is lost or comes twice");
        let listed =
            self.tokio.block_on(self.store.tasks(TaskQuery { limit: usize::MAX, ..TaskQuery::of(&self.board()) }));
        assert_eq!(
            listed.expect("tasks"),
            kept.tasks.values().cloned().collect::<Vec<_>>(),
            "the list is what the log says"
        );

        let mut handed: BTreeMap<String, BTreeSet<InputId>> = BTreeMap::new();
        let (mut assigned, mut completed, mut told): (BTreeMap<_, u32>, BTreeMap<_, u32>, BTreeMap<_, u32>) =
            Default::default();
        for record in &records {
            let event = &record.entry.event;
            let Some(task) = event.task().map(ToString::to_string) else { continue };
            match event {
                BoardEvent::TaskAssigned { .. } => *assigned.entry(task).or_default() += 1,
                BoardEvent::TaskCompleted { .. } => *completed.entry(task).or_default() += 1,
                BoardEvent::TaskHandedOut { delivery, .. } => {
                    handed.entry(task).or_default().insert(delivery.id.input(&self.board()));
                }
                BoardEvent::Told { delivery, .. } => {
                    if let DeliveryKind::Tell { notice, .. } = &delivery.kind
                        && notice.as_str() == "completed"
                    {
                        *told.entry(task).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        for task in kept.tasks.keys().map(|number| format!("t{number}")) {
            let times = handed.get(&task).map_or(0, BTreeSet::len) as u32;
            let most = 1 + assigned.get(&task).copied().unwrap_or(0);
            assert!((1..=most).contains(&times), "{task} was handed out {times} times, assigned {most} times");
            assert_eq!(
                (completed.get(&task), told.get(&task)),
                (Some(&1), Some(&1)),
                "{task} is completed and told once"
            );
        }
        self.check_threads(&told);
    }

    /// What the board says was told stands in the threads' logs, once.
    fn check_threads(&self, told: &BTreeMap<String, u32>) {
        let mut contents = self.world.contents();
        assert_gapless(&contents.log);
        contents.assert_rows();
        // A worker that was killed has let go of nothing; what is idle stays its own until another process wants it.
        let now = runtime::Clock::default().now();
        let living = self.tokio.block_on(self.store.living(now)).expect("processes");
        for row in contents.rows.iter_mut().filter(|row| !row.state.is_live()) {
            if !living.owns(row) {
                row.owner = None;
            }
        }
        let creator = contents.roots().next().expect("the planner").clone();
        assert_eq!(contents.rows.len(), 1 + self.agents, "each agent has one thread");
        contents.assert_at_rest(&creator);
        let mut heard: BTreeMap<String, u32> = BTreeMap::new();
        let mut names: BTreeMap<(ThreadId, InputId), u32> = BTreeMap::new();
        for record in &contents.log {
            if let Event::InputArrived { id, .. } = &*record.event {
                *names.entry((record.thread.clone(), id.clone())).or_default() += 1;
            }
        }
        assert!(names.values().all(|times| *times == 1), "every input arrives once");
        for event in events(&contents.log, &creator) {
            if let Event::InputArrived { input: Outside::Noticed { text, .. }, .. } = event
                && let Some(task) = text.strip_prefix("Task ").and_then(|rest| rest.split(' ').next())
                && text.lines().next().is_some_and(|line| line.contains("was completed"))
            {
                *heard.entry(task.to_owned()).or_default() += 1;
            }
        }
        assert_eq!(heard, *told, "the creator heard of every completion once");
    }
}

fn worker(number: usize) -> String {
    format!("worker-{number:02}")
}

/// The planner adds tasks; an agent completes each task that it is given and has not said anything of yet.
fn answer(request: &Request, tasks: usize, agents: usize) -> Turn {
    if request.first_words.starts_with(PLAN) {
        let added = request.assistant_messages * AT_ONCE;
        return if added < tasks { plan(added, tasks, agents) } else { Turn::text("I have heard.") };
    }
    let (mut given, mut said): (Vec<String>, BTreeMap<String, usize>) = (Vec::new(), BTreeMap::new());
    for message in request.body["messages"].as_array().into_iter().flatten() {
        let content = text(&message["content"]);
        if message["role"] == "user" {
            let assignments = content.split("You have been assigned task ").skip(1);
            given.extend(assignments.filter_map(|rest| rest.split(':').next()).map(str::to_owned));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments: Value =
                serde_json::from_str(call["function"]["arguments"].as_str().unwrap_or("{}")).unwrap_or_default();
            *said.entry(arguments["id"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
    }
    for task in given {
        match said.get_mut(&task).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => {
                let update = json!({"id": task, "status": "completed", "note": "ok"}).to_string();
                return Turn::text("").call(&format!("u{}", request.assistant_messages), "task_update", &update);
            }
        }
    }
    Turn::text("done")
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn plan(added: usize, tasks: usize, agents: usize) -> Turn {
    let task = |number: usize| {
        let place = number - added;
        let after = if place.is_multiple_of(ROW) { json!([]) } else { json!([format!("#{}", place - 1)]) };
        json!({"title": format!("Task {number}"), "assign": worker(number % agents), "after": after})
    };
    let tasks: Vec<Value> = (added..(added + AT_ONCE).min(tasks)).map(task).collect();
    Turn::text("").call(&format!("add{added}"), "task_add", &json!({ "tasks": tasks }).to_string())
}
