//! What holds under any commands in any order.

use std::collections::{BTreeMap, BTreeSet};

use majordomo_board::kept::Kept;
use majordomo_board::{
    Actor, Assignee, Change, Command, Delivery, DeliveryId, DeliveryKind, Dependency, Edit, Event, NewTask, Notice,
    Priority, Reply, Status, TaskId, Update,
};
use proptest::prelude::*;

use crate::bench::{Bench, agent, new_agent, t, thread};

#[derive(Clone, Debug)]
enum Act {
    Ask(Actor, Box<Command>),
    Take(u32),
    /// Carries out the nth delivery that was ever handed out, again if it was carried out before.
    Begin(usize),
    Settle(usize, bool),
    EndTurn(u64),
}

fn actor() -> impl Strategy<Value = Actor> {
    prop_oneof![Just(Actor::Human), Just(agent("20260115-aaaa")), Just(agent("20260115-aaaa.1")), Just(Actor::System)]
}

fn assignee() -> impl Strategy<Value = Option<Assignee>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(Assignee::Human)),
        1 => Just(Some(Assignee::Thread(thread("20260115-bbbb")))),
        1 => Just(Some(Assignee::Agent("explore".into()))),
        3 => Just(new_agent()),
    ]
}

fn new_task() -> impl Strategy<Value = NewTask> {
    let dependency =
        prop_oneof![(1..12_u64).prop_map(|n| Dependency::Task(t(n))), (0..3_usize).prop_map(Dependency::New)];
    let priority = prop_oneof![Just(Priority::High), Just(Priority::Medium), Just(Priority::Low)];
    (assignee(), priority, prop::collection::vec(dependency, 0..3)).prop_map(|(assignee, priority, after)| NewTask {
        assignee,
        priority,
        after,
        ..NewTask::titled("task")
    })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        1 => Just(Change::InProgress),
        3 => Just(Change::Completed { result: None }),
        1 => Just(Change::ChecksFailed { what: "a".into(), most: 2 }),
        1 => Just(Change::Blocked { reason: "b".into() }),
        2 => Just(Change::Reopened),
        1 => Just(Change::Archived),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let task = || (1..12_u64).prop_map(t);
    let command = prop_oneof![
        4 => prop::collection::vec(new_task(), 1..3).prop_map(|tasks| Command::Add { tasks }),
        2 => (task(), assignee()).prop_map(|(task, to)| Command::Assign { task, to }),
        1 => task().prop_map(|task| Command::Note { task, text: "n".into() }),
        6 => (task(), change()).prop_map(|(task, change)| Command::Set { task, change, note: None }),
        1 => task().prop_map(|task| Command::Remove { task }),
        2 => (task(), prop::option::of(assignee()), prop::option::of(change()), prop::collection::vec(task(), 0..2)).prop_map(
            |(task, to, change, after)| {
                let edit = Edit { after: Some(after), ..Edit::default() };
                Command::Update { task, update: Box::new(Update { edit, assign: to.flatten(), change, note: None }) }
            }
        ),
        2 => (task(), prop::collection::vec(task(), 0..3)).prop_map(|(task, after)| Command::Edit {
            task,
            edit: Edit { after: Some(after), ..Edit::default() },
        }),
    ];
    prop_oneof![
        6 => (actor(), command).prop_map(|(by, command)| Act::Ask(by, Box::new(command))),
        4 => (0..4_u32).prop_map(Act::Take),
        4 => (0..20_usize).prop_map(Act::Begin),
        2 => (0..20_usize, any::<bool>()).prop_map(|(nth, fails)| Act::Settle(nth, fails)),
        2 => (1..12_u64).prop_map(Act::EndTurn),
    ]
}

fn carry_out(bench: &mut Bench, act: &Act, handed: &mut Vec<Delivery>) {
    match act {
        // A refusal changes nothing, which is checked with everything else.
        Act::Ask(by, command) => drop(bench.ask(by.clone(), (**command).clone())),
        Act::Take(room) => handed.extend(bench.take(*room)),
        Act::Begin(nth) => {
            if let Some(delivery) = handed.get(nth % handed.len().max(1)).cloned() {
                bench.begin(&delivery);
            }
        }
        Act::Settle(nth, fails) => {
            let deliveries: Vec<DeliveryId> = bench.kept.deliveries.keys().cloned().collect();
            if let Some(delivery) = deliveries.get(nth % deliveries.len().max(1)).cloned() {
                let hands_out = bench.kept.deliveries[&delivery].kind.hands_out();
                let command = match *fails || hands_out {
                    true => Command::Failed { delivery, reason: "gone".into() },
                    false => Command::Delivered { delivery },
                };
                assert_eq!(bench.ask(Actor::System, command), Ok(Reply::Done));
            }
        }
        Act::EndTurn(task) => {
            let found = bench.kept.tasks.get(task).and_then(|task| Some((task.thread.clone()?, task.attempt)));
            if let Some((thread, attempt)) = found {
                let (reason, report) = ("it ended".into(), "r".into());
                let ended = Command::Ended { task: t(*task), thread, attempt, reason, report };
                bench.ask(Actor::System, ended).unwrap();
            }
        }
    }
}

fn check(bench: &Bench) {
    let tasks = &bench.kept.tasks;
    for task in tasks.values() {
        let undone = task.after.iter().filter(|on| tasks.get(&on.number()).is_some_and(|on| !is_done(on))).count();
        assert_eq!(task.open as usize, undone, "{} counts what it waits for", task.id);
        if let Some(delivery) = &task.handing_out {
            let delivery = &bench.kept.deliveries[delivery];
            assert!(delivery.kind.hands_out() && delivery.task == task.id);
            assert_eq!(task.status, Status::Pending);
        }
        if task.is_active() && task.handing_out.is_none() {
            assert!(task.thread.is_some() || task.attempt == 0, "{} is in progress with an owner", task.id);
        }
    }
    for delivery in bench.kept.deliveries.values().filter(|delivery| delivery.kind.hands_out()) {
        assert_eq!(tasks[&delivery.task.number()].handing_out.as_ref(), Some(&delivery.id));
    }
    acyclic(bench);
    once(bench);
    let mut again = Kept::new(bench.kept.board.id.clone());
    bench.log.iter().for_each(|(at, entry)| again.apply(*at, entry));
    assert_eq!(again, bench.kept, "the log alone tells all of it");
}

fn is_done(task: &majordomo_board::Task) -> bool {
    task.completed_by.is_some()
}

fn acyclic(bench: &Bench) {
    let mut done: BTreeSet<TaskId> = BTreeSet::new();
    let tasks = &bench.kept.tasks;
    loop {
        let is_free = |task: &&majordomo_board::Task| {
            !done.contains(&task.id)
                && task.after.iter().all(|on| done.contains(on) || !tasks.contains_key(&on.number()))
        };
        let free: Vec<TaskId> = tasks.values().filter(is_free).map(|task| task.id.clone()).collect();
        if free.is_empty() {
            break;
        }
        done.extend(free);
    }
    assert_eq!(done.len(), tasks.len(), "no tasks wait for each other in a circle");
}

/// Every delivery is made once and settled once, no thread is told of what it did itself, and every completion by another is told once.
fn once(bench: &Bench) {
    let mut made: BTreeMap<DeliveryId, u32> = BTreeMap::new();
    let mut settled: BTreeMap<DeliveryId, u32> = BTreeMap::new();
    let (mut completions, mut told) = (0, 0);
    let mut creators: BTreeMap<TaskId, Actor> = BTreeMap::new();
    let mut threads: BTreeMap<TaskId, Option<agent::ThreadId>> = BTreeMap::new();
    for (_, entry) in &bench.log {
        if let Some(delivery) = entry.event.delivery() {
            *made.entry(delivery.id.clone()).or_default() += 1;
            if let DeliveryKind::Tell { to, notice } = &delivery.kind {
                assert_ne!(entry.by.thread(), Some(to), "no thread is told of what it did itself");
                told += u32::from(*notice == Notice::Completed);
            }
        }
        if let Some(delivery) = entry.event.settled() {
            *settled.entry(delivery.clone()).or_default() += 1;
        }
        match &entry.event {
            Event::TaskAdded(task) => {
                creators.insert(task.id.clone(), task.created_by.clone());
                threads.insert(task.id.clone(), task.thread.clone());
            }
            Event::TaskAssigned { task, thread, .. } => drop(threads.insert(task.clone(), thread.clone())),
            Event::TaskBegun { task, thread, .. } => drop(threads.insert(task.clone(), Some(thread.clone()))),
            Event::TaskCompleted { task, by, .. } => {
                let creator = creators[task].thread();
                let is_concerned = creator.is_some_and(|creator| Some(creator) != by.thread());
                completions += u32::from(is_concerned && creator != threads[task].as_ref());
            }
            _ => {}
        }
    }
    assert!(made.values().chain(settled.values()).all(|times| *times == 1), "each delivery once");
    assert!(settled.keys().all(|delivery| made.contains_key(delivery)));
    assert_eq!(told, completions, "every completion is told once");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    // LACE-13, LACE-6
    #[test]
    fn whatever_is_asked_in_whatever_order(acts in prop::collection::vec(act(), 1..60)) {
        let mut bench = Bench::new();
        let mut handed = Vec::new();
        for act in &acts {
            let before = bench.log.len();
            carry_out(&mut bench, act, &mut handed);
            let active = bench.kept.tasks.values().filter(|task| task.is_active()).count();
            let taken = matches!(act, Act::Take(_)) && bench.log.len() > before;
            prop_assert!(!taken || active <= bench.most as usize, "no more than may work");
            check(&bench);
        }
    }
}
