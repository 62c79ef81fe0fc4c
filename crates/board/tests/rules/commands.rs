//! What single commands lead to.

use ::agent::{Mode, Time};
use majordomo_board::{
    Actor, Assignee, Budget, Change, Command, DeliveryKind, Dependency, Edit, NewTask, Reply, StartedAgent, Status,
    Update,
};

use crate::bench::{Bench, agent, new_agent, t, thread};

fn titled(title: &str) -> NewTask {
    NewTask::titled(title)
}

fn after(title: &str, after: &[u64]) -> NewTask {
    NewTask { after: after.iter().map(|n| Dependency::Task(t(*n))).collect(), ..titled(title) }
}

// LACE-20
#[test]
fn a_task_is_made_with_its_fields_and_a_short_name() {
    let mut bench = Bench::new();
    let id = bench.add(Actor::Human, NewTask { prompt: "All of it\0".into(), ..titled("  Do\nit ") });
    let task = bench.task(&id);
    assert_eq!((id.as_str(), &*task.title, &*task.prompt), ("t1", "Do it", "All of it\u{FFFD}"));
    assert_eq!(
        (task.priority.as_str(), task.status.as_str(), task.created_by.as_str()),
        ("medium", "pending", "human")
    );
    assert_eq!((task.assigned_to(), task.recent_notes.len()), (None, 0));
    assert_eq!(&*bench.task(&bench.kept.tasks[&1].id).title, "Do it");
    assert_eq!(&*bench.kept.board.folder, "/home/ana/project");
}

// LACE-1, LACE-5, LACE-21 (creation triggered)
#[test]
fn a_task_for_a_new_agent_becomes_its_threads() {
    let mut bench = Bench::new();
    let id = bench.add(agent("20260115-k3f9"), NewTask { assignee: new_agent(), ..titled("Research") });
    let taken = bench.take(4);
    assert!(
        matches!(&taken[0].kind, DeliveryKind::Start { thread: None, under: Some(under), .. } if under.as_str() == "20260115-k3f9")
    );
    assert_eq!(bench.status(&id), Status::Pending, "no agent has it yet");
    let (thread, reply) = bench.begin(&taken[0]);
    assert_eq!((reply, bench.status(&id)), (Reply::Done, Status::InProgress));
    assert_eq!(bench.task(&id).assigned_to(), Some(thread.to_string()));
    let made = &bench.kept.agents[0];
    assert_eq!((&made.task, &*made.started.provider, &*made.started.model), (&id, "anthropic", "claude-3-sonnet"));
    assert_eq!(made.started.parent.as_str(), "20260115-k3f9");
}

// LACE-6: a start that is carried out twice is one start
#[test]
fn a_task_is_handed_out_once_however_often_its_delivery_is_carried_out() {
    let mut bench = Bench::new();
    bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("a") });
    let taken = bench.take(4);
    assert!(bench.take(4).is_empty(), "it is on its way");
    assert_eq!(bench.begin(&taken[0]).1, Reply::Done);
    assert_eq!(bench.begin(&taken[0]).1, Reply::Unchanged);
    assert!(bench.take(4).is_empty());
    let begun = bench.log.iter().filter(|(_, entry)| entry.event.kind() == "task_begun").count();
    assert_eq!(begun, 1);
}

#[test]
fn an_agent_that_acts_before_its_start_is_confirmed_has_its_task() {
    let mut bench = Bench::new();
    bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("a") });
    let taken = bench.take(1);
    let worker = thread("20260115-quick");
    let (name, provider, model) = ("general-t1".into(), "p".into(), "m".into());
    let agent = Some(StartedAgent { name, provider, model, parent: worker.clone() });
    let named = Command::Name { task: t(1), delivery: taken[0].id.clone(), thread: worker.clone(), agent };
    bench.ask(Actor::System, named.clone()).unwrap();
    assert_eq!(bench.ask(Actor::System, named), Ok(Reply::Unchanged));
    bench.done(Actor::Thread(worker.clone()), t(1)).unwrap();
    assert_eq!(bench.status(&t(1)), Status::Completed);
    assert_eq!(bench.kept.agents.len(), 1, "it is known all the same");
    let begun = Command::Begun { task: t(1), delivery: taken[0].id.clone(), thread: worker, thread_n: 0 };
    assert_eq!(bench.ask(Actor::System, begun), Ok(Reply::Unchanged));
    assert!(bench.kept.deliveries.is_empty());
}

// LACE-3
#[test]
fn the_program_by_itself_has_no_session_for_a_new_agent() {
    let mut bench = Bench::new();
    let add = Command::Add { tasks: vec![NewTask { assignee: new_agent(), ..titled("a") }] };
    let refusal = bench.ask(Actor::System, add).unwrap_err();
    assert_eq!(&*refusal.message, "No session context for agent creation");
    assert!(bench.kept.tasks.is_empty() && bench.log.is_empty());
}

#[test]
fn a_start_that_fails_leaves_the_task_pending_with_the_reason_until_it_is_assigned_again() {
    let mut bench = Bench::new();
    let id = bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("a") });
    let taken = bench.take(1);
    let failed = Command::Failed { delivery: taken[0].id.clone(), reason: "no key".into() };
    bench.ask(Actor::System, failed).unwrap();
    assert_eq!((bench.status(&id), bench.task(&id).reason.as_deref()), (Status::Pending, Some("no key")));
    assert!(bench.take(1).is_empty(), "it is not tried again by itself");
    assert_eq!(bench.ask(Actor::Human, Command::Assign { task: id, to: new_agent() }), Ok(Reply::Done));
    assert_eq!(bench.take(1).len(), 1);
}

#[test]
fn an_agent_that_ends_without_completing_blocks_its_task_with_its_report() {
    let mut bench = Bench::new();
    let id = bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("a") });
    let (_, thread) = bench.work().remove(0);
    let ended = |attempt| Command::Ended {
        task: t(1),
        thread: thread.clone(),
        attempt,
        reason: "its agent ended without completing it".into(),
        report: "half of it".into(),
    };
    assert_eq!(bench.ask(Actor::System, ended(7)), Ok(Reply::Unchanged), "another time of handing it out");
    assert_eq!(bench.ask(Actor::System, ended(1)), Ok(Reply::Done));
    assert_eq!((bench.status(&id), bench.task(&id).result.as_deref()), (Status::Blocked, Some("half of it")));
    assert_eq!(bench.ask(Actor::System, ended(1)), Ok(Reply::Unchanged));
    bench.set(Actor::Human, id, Change::Reopened).unwrap();
    let again = bench.take(1);
    assert!(matches!(&again[0].kind, DeliveryKind::Assign { to } if *to == thread), "its agent goes on with it");
}

#[test]
fn tasks_wait_for_those_that_they_come_after() {
    let mut bench = Bench::new();
    for task in [titled("a"), titled("b"), after("c", &[1, 2])] {
        bench.add(Actor::Human, NewTask { assignee: new_agent(), ..task });
    }
    let begun = bench.work();
    assert_eq!(begun.iter().map(|(task, _)| task.number()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(bench.task(&t(3)).waits_for().as_deref(), Some("waits for t1, t2"));
    for (task, thread) in begun {
        assert!(bench.take(4).is_empty());
        bench.done(Actor::Thread(thread), task).unwrap();
    }
    assert_eq!(bench.take(4)[0].task, t(3));
}

#[test]
fn a_task_that_is_reopened_holds_up_what_comes_after_it_again() {
    let mut bench = Bench::new();
    bench.add(Actor::Human, titled("a"));
    bench.add(Actor::Human, after("b", &[1]));
    bench.done(Actor::Human, t(1)).unwrap();
    assert_eq!(bench.task(&t(2)).open, 0);
    bench.set(Actor::Human, t(1), Change::Reopened).unwrap();
    assert_eq!(bench.task(&t(2)).open, 1);
}

#[test]
fn the_most_urgent_are_handed_out_first_and_only_as_many_as_may_work() {
    let mut bench = Bench::new();
    bench.most = 2;
    for priority in ["low", "medium", "high"] {
        let priority = majordomo_board::import::priority(priority).unwrap();
        bench.add(Actor::Human, NewTask { assignee: new_agent(), priority, ..titled("a") });
    }
    let begun = bench.work();
    assert_eq!(begun.iter().map(|(task, _)| task.number()).collect::<Vec<_>>(), [3, 2]);
    assert!(bench.take(9).is_empty());
    bench.done(Actor::Thread(begun[0].1.clone()), t(3)).unwrap();
    assert_eq!(bench.take(9)[0].task, t(1));
}

#[test]
fn a_thread_gets_one_task_after_the_other() {
    let mut bench = Bench::new();
    let to = Some(Assignee::Thread(thread("20260115-k3f9")));
    for _ in 0..2 {
        bench.add(Actor::Human, NewTask { assignee: to.clone(), ..titled("a") });
    }
    let begun = bench.work();
    assert_eq!(begun, [(t(1), thread("20260115-k3f9"))]);
    assert!(bench.take(4).is_empty());
    bench.done(agent("20260115-k3f9"), t(1)).unwrap();
    assert_eq!(bench.work(), [(t(2), thread("20260115-k3f9"))]);
}

#[test]
fn an_agent_by_its_name_is_the_thread_that_played_it_last() {
    let mut bench = Bench::new();
    let explore = Some(Assignee::Agent("explore".into()));
    bench.add(Actor::Human, NewTask { assignee: explore.clone(), ..titled("a") });
    let (_, first) = bench.work().remove(0);
    bench.add(Actor::Human, NewTask { assignee: explore, ..titled("b") });
    assert!(bench.take(4).is_empty(), "it has a task");
    bench.done(Actor::Thread(first.clone()), t(1)).unwrap();
    assert_eq!(bench.work(), [(t(2), first)]);
}

#[test]
fn a_task_for_a_person_is_never_handed_out() {
    let mut bench = Bench::new();
    bench.add(Actor::Human, NewTask { assignee: Some(Assignee::Human), ..titled("a") });
    bench.add(Actor::Human, titled("b"));
    assert!(bench.take(4).is_empty());
    bench.set(Actor::Human, t(1), Change::InProgress).unwrap();
    assert!(!bench.task(&t(1)).is_active(), "it takes no agent's place");
}

#[test]
fn a_task_that_is_taken_back_while_it_is_on_its_way_is_not_wanted_any_more() {
    let mut bench = Bench::new();
    let id = bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("a") });
    let taken = bench.take(1);
    bench.set(Actor::Human, id.clone(), Change::Archived).unwrap();
    assert!(bench.kept.deliveries.is_empty());
    assert_eq!(bench.begin(&taken[0]).1, Reply::Unwanted);
    assert_eq!(bench.status(&id), Status::Archived);
}

// The process that handed it out may have died between the thread's first event and its confirmation: its agent goes on elsewhere.
#[test]
fn a_thread_that_may_have_a_task_is_told_when_the_task_is_taken_back_before_that_is_confirmed() {
    let given_away = || Command::Assign { task: t(1), to: Some(Assignee::Human) };
    let archived = || Command::Set { task: t(1), change: Change::Archived, note: None };
    for (taken_back, told) in [(given_away(), "reassigned"), (archived(), "withdrawn")] {
        let mut bench = Bench::new();
        bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("a") });
        let delivery = bench.take(1).remove(0);
        let worker = thread("20260115-left");
        let (name, provider, model) = ("general-t1".into(), "p".into(), "m".into());
        let agent = Some(StartedAgent { name, provider, model, parent: worker.clone() });
        let named = Command::Name { task: t(1), delivery: delivery.id, thread: worker.clone(), agent };
        bench.ask(Actor::System, named).unwrap();
        bench.ask(Actor::Human, taken_back).unwrap();
        assert_eq!(bench.told(), [(worker.to_string(), told)]);
    }
}

#[test]
fn a_command_that_is_sent_twice_under_one_name_is_carried_out_once() {
    let mut bench = Bench::new();
    let add = || Command::Add { tasks: vec![titled("a"), titled("b")] };
    let first = bench.ask_as(Some("call-1"), Actor::Human, add()).unwrap();
    assert_eq!(bench.ask_as(Some("call-1"), Actor::Human, add()).unwrap(), first);
    assert_eq!(bench.kept.tasks.len(), 2);
    bench.ask_as(Some("call-2"), Actor::Human, add()).unwrap();
    assert_eq!(bench.kept.tasks.len(), 4);
}

#[test]
fn checks_that_fail_too_often_block_the_task() {
    let mut bench = Bench::new();
    let id = bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("a") });
    let (_, thread) = bench.work().remove(0);
    let failed = || Change::ChecksFailed { what: "`cargo test` exited with 1".into(), most: 2 };
    bench.set(Actor::Thread(thread.clone()), id.clone(), failed()).unwrap();
    assert_eq!(bench.status(&id), Status::InProgress);
    bench.set(Actor::Thread(thread), id.clone(), failed()).unwrap();
    assert_eq!(bench.status(&id), Status::Blocked);
    assert_eq!(bench.task(&id).reason.as_deref(), Some("its checks failed 2 times: `cargo test` exited with 1"));
}

#[test]
fn what_cannot_be_done_is_said_in_one_sentence_and_changes_nothing() {
    let mut bench = Bench::new();
    bench.add(Actor::Human, titled("a"));
    bench.add(Actor::Human, after("b", &[1]));
    bench.add(Actor::Human, after("c", &[2]));
    bench.add(agent("20260115-aaaa"), NewTask { assignee: new_agent(), ..titled("d") });
    bench.work();
    let (worker, boss) = (agent("20260115-aaaa.4"), agent("20260115-aaaa"));
    let events = bench.log.len();
    let edit = |task, after: &[u64]| Command::Edit {
        task: t(task),
        edit: Edit { after: Some(after.iter().map(|n| t(*n)).collect()), ..Edit::default() },
    };
    let set = |task, change| Command::Set { task: t(task), change, note: None };
    let completed = || Change::Completed { result: None };
    let cases = [
        (Actor::Human, edit(1, &[3]), "t1 cannot come after t3: t3 comes after t1 already (t3 after t2 after t1)"),
        (Actor::Human, edit(1, &[1]), "t1 cannot come after itself"),
        (Actor::Human, edit(1, &[9]), "there is no task t9 on this board"),
        (Actor::Human, set(9, completed()), "there is no task t9 on this board"),
        (Actor::Human, set(1, Change::Archived), "t2 waits for t1, which would never be done if it is archived"),
        (Actor::Human, Command::Remove { task: t(1) }, "t2 comes after t1: archive t1 instead, or remove t2 first"),
        (Actor::Human, Command::Remove { task: t(4) }, "t4 is in progress at 20260115-aaaa.4"),
        (agent("20260115-bbbb"), set(4, completed()), "t4 was made by 20260115-aaaa and is not yours"),
        (worker.clone(), set(2, completed()), "t2 was made by human and is not yours"),
        (Actor::Human, Command::Note { task: t(1), text: " ".into() }, "a note needs words"),
        (Actor::Human, Command::Add { tasks: Vec::new() }, "there is no task to add"),
        (Actor::Human, Command::Add { tasks: vec![titled(" ")] }, "a task needs a title"),
        (
            Actor::Human,
            Command::Add { tasks: vec![titled(&"x".repeat(501))] },
            "a title is one line of at most 500 characters, this one has 501",
        ),
        (
            Actor::Human,
            Command::Add { tasks: vec![titled("a"), after("b", &[77])] },
            "task 2 of 2: there is no task t77",
        ),
    ];
    for (by, command, sentence) in cases {
        let refusal = bench.ask(by, command).unwrap_err();
        assert!(refusal.message.starts_with(sentence), "{}", refusal.message);
    }
    assert_eq!(bench.log.len(), events);
    // Two agents complete the same task.
    bench.done(worker.clone(), t(4)).unwrap();
    assert_eq!(bench.done(worker, t(4)), Ok(Reply::Unchanged), "to say it twice does no harm");
    assert_eq!(&*bench.done(boss, t(4)).unwrap_err().message, "t4 is already completed, by 20260115-aaaa.4");
    // A task that depends on an archived one.
    bench.set(Actor::Human, t(4), Change::Archived).unwrap();
    let refusal = bench.ask(Actor::Human, Command::Add { tasks: vec![after("e", &[4])] }).unwrap_err();
    assert_eq!(&*refusal.message, "t4 is archived: no task can come after it");
}

#[test]
fn tasks_of_one_command_may_not_wait_for_each_other_in_a_circle() {
    let mut bench = Bench::new();
    let new = |title: &str, places: &[usize]| NewTask {
        after: places.iter().map(|place| Dependency::New(*place)).collect(),
        ..titled(title)
    };
    let circle = vec![new("a", &[]), new("b", &[2]), new("c", &[3]), new("d", &[1, 0])];
    let refusal = bench.ask(Actor::Human, Command::Add { tasks: circle }).unwrap_err();
    assert_eq!(&*refusal.message, "these tasks wait for each other in a circle: 'b', 'c', 'd'");
    let graph = vec![new("a", &[1, 2]), new("b", &[2, 2]), new("c", &[])];
    bench.ask(Actor::Human, Command::Add { tasks: graph }).unwrap();
    assert_eq!(bench.task(&t(1)).after, [t(2), t(3)]);
    assert_eq!((bench.task(&t(2)).open, bench.task(&t(3)).open), (1, 0));
}

#[test]
fn limits_of_a_task_can_be_changed_one_by_one() {
    let mut bench = Bench::new();
    let budget = Budget { max_tokens: Some(100), timeout_ms: Some(7), ..Budget::default() };
    bench.add(Actor::Human, NewTask { budget, ..titled("a") });
    let limit = Budget { max_tokens: Some(50), ..Budget::default() };
    let edit = |budget| Command::Edit { task: t(1), edit: Edit { budget, ..Edit::default() } };
    assert_eq!(bench.ask(Actor::Human, edit(limit)), Ok(Reply::Done));
    assert_eq!(bench.task(&t(1)).budget, Budget { max_tokens: Some(50), timeout_ms: Some(7), ..Budget::default() });
    assert_eq!(bench.ask(Actor::Human, edit(limit)), Ok(Reply::Unchanged));
}

#[test]
fn dependencies_of_a_task_can_be_changed() {
    let mut bench = Bench::new();
    for title in ["a", "b", "c"] {
        bench.add(Actor::Human, titled(title));
    }
    bench.done(Actor::Human, t(1)).unwrap();
    let edit = Edit { after: Some(vec![t(1), t(2)]), title: Some("last".into()), ..Edit::default() };
    bench.ask(Actor::Human, Command::Edit { task: t(3), edit: edit.clone() }).unwrap();
    assert_eq!((bench.task(&t(3)).open, &*bench.task(&t(3)).title), (1, "last"));
    assert_eq!(bench.ask(Actor::Human, Command::Edit { task: t(3), edit }), Ok(Reply::Unchanged));
    bench.done(Actor::Human, t(2)).unwrap();
    assert_eq!(bench.task(&t(3)).open, 0);
}

// A request that changes several things is one command: nothing of it is half done.
#[test]
fn of_an_update_all_is_done_or_nothing() {
    let mut bench = Bench::new();
    for title in ["a", "b"] {
        bench.add(agent("20260115-boss"), titled(title));
    }
    bench.ask(Actor::Human, Command::Note { task: t(1), text: "first".into() }).unwrap();
    let update = |update: Update| Command::Update { task: t(2), update: Box::new(update) };
    let edit = |after: Vec<_>| Edit {
        title: Some("B".into()),
        after: Some(after),
        due: Some(Some(Time(7))),
        ..Edit::default()
    };
    let (before, events) = (bench.task(&t(2)).clone(), bench.log.len());
    let done = || Some(Change::Completed { result: None });
    let refused = [
        (Actor::Human, Update { edit: edit(vec![t(2)]), assign: Some(Assignee::Human), ..Update::default() }),
        (Actor::Human, Update { edit: edit(vec![t(9)]), change: done(), ..Update::default() }),
        (agent("20260115-boss"), Update { edit: edit(vec![t(1)]), change: done(), ..Update::default() }),
        (Actor::Human, Update { assign: Some(Assignee::Human), note: Some(" ".into()), ..Update::default() }),
        (Actor::System, Update { edit: edit(vec![]), assign: new_agent(), ..Update::default() }),
    ];
    for (by, parts) in refused {
        bench.ask(by, update(parts)).unwrap_err();
        assert_eq!((bench.log.len(), bench.task(&t(2)).clone()), (events, before.clone()));
    }
    let whole = Update {
        edit: edit(vec![t(1)]),
        assign: Some(Assignee::Human),
        change: Some(Change::Blocked { reason: "no tools".into() }),
        note: Some("look".into()),
    };
    assert_eq!(bench.ask(Actor::Human, update(whole)), Ok(Reply::Done));
    let task = bench.task(&t(2));
    assert_eq!((&*task.title, task.open, task.status, task.due), ("B", 1, Status::Blocked, Some(Time(7))));
    assert_eq!((task.assigned_to().as_deref(), &*task.recent_notes[0].content), (Some("human"), "look"));
    assert_eq!(bench.ask(Actor::Human, update(Update::default())), Ok(Reply::Unchanged));
    let never = Edit { due: Some(None), ..Edit::default() };
    let kept: Edit = serde_json::from_str(&serde_json::to_string(&never).unwrap()).unwrap();
    assert_eq!(kept, never, "it is in the log that the day was taken away");
    bench.ask(Actor::Human, update(Update { edit: kept, ..Update::default() })).unwrap();
    assert_eq!(bench.task(&t(2)).due, None);
}

#[test]
fn tasks_for_an_agent_that_is_on_its_way_wait_for_it() {
    let mut bench = Bench::new();
    let explore = Some(Assignee::Agent("explore".into()));
    for title in ["a", "b"] {
        bench.add(Actor::Human, NewTask { assignee: explore.clone(), ..titled(title) });
    }
    bench.add(Actor::Human, NewTask { assignee: new_agent(), ..titled("c") });
    let taken = bench.take(1);
    assert_eq!(taken.len(), 1);
    let other = bench.take(4);
    assert_eq!(
        other.iter().map(|delivery| delivery.task.as_str()).collect::<Vec<_>>(),
        ["t3"],
        "b waits for its agent"
    );
    let (explorer, _) = bench.begin(&taken[0]);
    assert!(bench.take(4).is_empty(), "it has another task");
    let done = Command::Set { task: t(1), change: Change::Completed { result: None }, note: None };
    bench.ask(Actor::Thread(explorer.clone()), done).unwrap();
    let next = bench.take(4);
    assert!(matches!(&next[0].kind, DeliveryKind::Assign { to } if *to == explorer), "{next:?}");
}

#[test]
fn an_assignee_that_an_agent_chose_may_do_no_more_than_that_agent() {
    let mut bench = Bench::new();
    let root = agent("20260115-root");
    let id = bench.add(root.clone(), titled("a"));
    let assign = |to| Command::Assign { task: t(1), to };
    for (by, mode, expected) in [
        (root.clone(), Some(Mode::Auto), Some(Mode::Auto)),
        (root.clone(), Some(Mode::Plan), Some(Mode::Plan)),
        (root, Some(Mode::Dangerous), Some(Mode::Plan)),
        (Actor::Human, None, Some(Mode::Plan)),
    ] {
        for to in [new_agent(), Some(Assignee::Human)] {
            let reply = match mode {
                Some(mode) => bench.ask_limited(by.clone(), mode, assign(to)),
                None => bench.ask(by.clone(), assign(to)),
            };
            assert_eq!(reply, Ok(Reply::Done));
        }
        assert_eq!(bench.task(&id).mode, expected, "it is lowered and never raised");
    }
}

#[test]
fn words_of_an_agent_that_has_read_untrusted_text_mark_their_task() {
    let root = agent("20260115-root");
    let set = |change| Command::Set { task: t(1), change, note: None };
    for command in [
        Command::Note { task: t(1), text: "run this".into() },
        set(Change::Completed { result: Some("run this".into()) }),
        set(Change::Blocked { reason: "run this".into() }),
    ] {
        let mut bench = Bench::new();
        let id = bench.add(root.clone(), titled("a"));
        bench.ask(root.clone(), Command::Note { task: t(1), text: "trusted".into() }).unwrap();
        assert!(!bench.task(&id).foreign);
        bench.ask_limited(root.clone(), Mode::Ask, command.clone()).unwrap();
        assert!(bench.task(&id).foreign, "{command:?}");
        let log = bench.log.len();
        assert_eq!(
            bench.ask_limited(root.clone(), Mode::Ask, Command::Note { task: t(1), text: "more".into() }),
            Ok(Reply::Done)
        );
        let marks = |(_, entry): &&(agent::Time, majordomo_board::Entry)| entry.event.kind() == "task_marked_foreign";
        assert_eq!(bench.log[log..].iter().filter(marks).count(), 0, "it is marked once");
    }
    // A command that only takes a task away brings no words.
    let mut bench = Bench::new();
    bench.add(root.clone(), titled("a"));
    bench.ask_limited(root, Mode::Ask, Command::Remove { task: t(1) }).unwrap();
    assert!(bench.log.iter().all(|(_, entry)| entry.event.kind() != "task_marked_foreign"));
}
