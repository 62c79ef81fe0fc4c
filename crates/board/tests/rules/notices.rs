//! Who is told what, and in which words.

use ::agent::Mode;
use majordomo_board::words::{Passing, Style, are_untrusted, assignment, notice, passing};
use majordomo_board::{Actor, Assignee, Change, Command, Delivery, DeliveryKind, NewTask, Notice};

use crate::bench::{Bench, agent, new_agent, t, thread};

const BOSS: &str = "20260115-k3f9";

fn made_by_boss(bench: &mut Bench) -> Actor {
    bench.add(agent(BOSS), NewTask { assignee: new_agent(), ..NewTask::titled("Research") });
    let (_, worker) = bench.work().remove(0);
    Actor::Thread(worker)
}

// LACE-13, LACE-21 (completion notification)
#[test]
fn a_completion_is_told_to_the_creator_once_and_to_no_one_who_did_it() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    bench.done(worker.clone(), t(1)).unwrap();
    assert_eq!(bench.told(), [(BOSS.to_owned(), "completed")]);
    bench.done(worker, t(1)).unwrap();
    assert_eq!(bench.told().len(), 1, "it was completed already");
    // Its creator completes it itself.
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    bench.done(agent(BOSS), t(1)).unwrap();
    assert_eq!(bench.told(), [(worker.as_str().to_owned(), "withdrawn")]);
    // The creator works on it itself.
    let mut bench = Bench::new();
    let own = Some(Assignee::Thread(thread(BOSS)));
    bench.add(agent(BOSS), NewTask { assignee: own, ..NewTask::titled("mine") });
    bench.work();
    bench.done(agent(BOSS), t(1)).unwrap();
    assert!(bench.told().is_empty());
    // A person made it: no thread is told.
    let mut bench = Bench::new();
    bench.add(Actor::Human, NewTask { assignee: new_agent(), ..NewTask::titled("a") });
    let (_, worker) = bench.work().remove(0);
    bench.done(Actor::Thread(worker), t(1)).unwrap();
    assert!(bench.told().is_empty());
}

#[test]
fn a_block_a_note_and_another_assignee_are_told_to_those_concerned() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    let note = |text: &str| Command::Note { task: t(1), text: text.into() };
    bench.ask(worker.clone(), note("found it")).unwrap();
    assert_eq!(bench.told(), [(BOSS.to_owned(), "note")]);
    bench.ask(Actor::Human, note("hurry")).unwrap();
    assert_eq!(bench.told().len(), 3, "both agents");
    bench.ask(Actor::Human, Command::Assign { task: t(1), to: Some(Assignee::Human) }).unwrap();
    assert_eq!(bench.told()[3], (worker.as_str().to_owned(), "reassigned"));
    bench.set(Actor::Human, t(1), Change::Blocked { reason: "no access".into() }).unwrap();
    assert_eq!(bench.told()[4], (BOSS.to_owned(), "blocked"));
}

#[test]
fn what_was_told_is_not_told_again() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    bench.done(worker, t(1)).unwrap();
    let delivery = bench.kept.deliveries.keys().next().unwrap().clone();
    for _ in 0..2 {
        bench.ask(Actor::System, Command::Delivered { delivery: delivery.clone() }).unwrap();
    }
    assert!(bench.kept.deliveries.is_empty());
    assert_eq!(bench.log.iter().filter(|(_, entry)| entry.event.kind() == "delivery_done").count(), 1);
}

// LACE-11, LACE-21 (formatting)
#[test]
fn the_assignment_reads_as_the_lace_document_has_it() {
    let mut bench = Bench::new();
    bench.add(agent(BOSS), NewTask { prompt: "Look\nthere".into(), ..NewTask::titled("Research") });
    let words = assignment(bench.task(&t(1)), Style::Lace, Mode::Ask);
    assert_eq!(
        words,
        "[LACE TASK SYSTEM] You have been assigned a new task:\nTitle: \"Research\"\nCreated by: 20260115-k3f9\n\
         Priority: medium\n\n--- TASK DETAILS ---\nLook\nthere\n--- END TASK DETAILS ---"
    );
    bench.ask(Actor::System, Command::Add { tasks: vec![NewTask::titled("a")] }).unwrap();
    assert!(assignment(bench.task(&t(2)), Style::Lace, Mode::Ask).contains("\nCreated by: system\n"));
}

// LACE-12, LACE-14
#[test]
fn the_completion_reads_as_the_lace_document_has_it() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    let bare = notice(bench.task(&t(1)), &Notice::Completed, Style::Lace, Mode::Ask);
    assert_eq!(bare, "[LACE TASK SYSTEM] Task completed notification:\nTask: \"Research\"\nStatus: COMPLETED\n\n");
    for text in ["one", "two", "three", "four"] {
        bench.ask(worker.clone(), Command::Note { task: t(1), text: text.into() }).unwrap();
    }
    let words = notice(bench.task(&t(1)), &Notice::Completed, Style::Lace, Mode::Ask);
    assert_eq!(words, format!("{bare}Recent notes:\n- two\n- three\n- four"));
}

#[test]
fn in_our_own_words_an_agent_learns_the_tasks_name_and_how_to_complete_it() {
    let mut bench = Bench::new();
    let checks = majordomo_board::Checks { commands: vec!["cargo test".into()], schema: None };
    bench.add(Actor::Human, NewTask { checks, ..NewTask::titled("Fix it") });
    let words = assignment(bench.task(&t(1)), Style::Own, Mode::Ask);
    for piece in ["assigned task t1:", "Title: \"Fix it\"", "call task_update with status completed", "\n- cargo test"]
    {
        assert!(words.contains(piece), "{words}");
    }
    assert!(!assignment(bench.task(&t(1)), Style::Lace, Mode::Ask).contains("t1"), "lace's words have no id");
}

/// A note of an agent that works in mode ask, on a task of a person.
fn noted_from_ask() -> Bench {
    let mut bench = Bench::new();
    bench.add(Actor::Human, NewTask { assignee: new_agent(), ..NewTask::titled("a") });
    bench.ask_in(agent("20260115-careful"), Mode::Ask, Command::Note { task: t(1), text: "run it".into() }).unwrap();
    bench
}

// An agent may remark something on any task: its words must not get the permissions of one that may do more.
#[test]
fn a_note_is_untrusted_text_for_an_agent_that_may_do_more_and_is_left_out_for_one_that_is_asked_about_nothing() {
    let bench = noted_from_ask();
    let task = bench.task(&t(1));
    for (reader, is_untrusted, is_told) in
        [(Mode::Plan, false, true), (Mode::Ask, false, true), (Mode::Auto, true, true), (Mode::Dangerous, false, false)]
    {
        let words = assignment(task, Style::Own, reader);
        assert_eq!((are_untrusted(task, reader), words.contains("run it")), (is_untrusted, is_told), "{reader:?}");
    }
    let left_out = assignment(task, Style::Own, Mode::Dangerous);
    assert!(left_out.contains("left out: 20260115-careful may do less than you"), "{left_out}");
    let note = task.recent_notes[0].clone();
    let told = Notice::Noted { note };
    let passings = [Mode::Ask, Mode::Auto, Mode::Dangerous].map(|reader| passing(task, &told, reader));
    assert_eq!(passings, [Passing::Whole, Passing::Untrusted, Passing::LeftOut]);
}

#[test]
fn a_note_of_a_person_or_of_the_tasks_own_agent_is_told_as_it_is() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    bench.ask_in(worker, Mode::Plan, Command::Note { task: t(1), text: "found it".into() }).unwrap();
    bench.ask(Actor::Human, Command::Note { task: t(1), text: "hurry".into() }).unwrap();
    let task = bench.task(&t(1));
    assert!(!are_untrusted(task, Mode::Dangerous));
    let words = notice(task, &Notice::Completed, Style::Own, Mode::Dangerous);
    assert!(words.contains("- found it\n- hurry"), "{words}");
}

#[test]
fn the_reason_of_an_agent_that_does_not_have_the_task_is_kept_from_one_that_may_do_more() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    let block = || Command::Set { task: t(1), change: Change::Blocked { reason: "run it".into() }, note: None };
    let told = |bench: &Bench, reader| {
        let is_blocked =
            |delivery: &&Delivery| matches!(&delivery.kind, DeliveryKind::Tell { notice: Notice::Blocked { .. }, .. });
        let delivery = bench.kept.deliveries.values().find(is_blocked).expect("the creator is told").clone();
        let DeliveryKind::Tell { notice: blocked, .. } = delivery.kind else { panic!("it is a notice") };
        notice(bench.task(&t(1)), &blocked, Style::Own, reader)
    };
    let mut other = Bench::new();
    made_by_boss(&mut other);
    other.ask_in(agent(&format!("{BOSS}.7")), Mode::Plan, block()).unwrap();
    assert_eq!(told(&other, Mode::Dangerous), "Task t1 \"Research\" is blocked");
    assert_eq!(told(&other, Mode::Plan), "Task t1 \"Research\" is blocked: run it");
    bench.ask_in(worker, Mode::Plan, block()).unwrap();
    assert_eq!(told(&bench, Mode::Dangerous), "Task t1 \"Research\" is blocked: run it", "its own agent reports");
}

// Each notice begins a turn that is paid for: nothing else would stop two agents that answer each other.
#[test]
fn agents_wake_each_other_over_a_task_so_many_times_until_a_person_acts_on_it() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    bench.most_wakes = 5;
    let note = || Command::Note { task: t(1), text: "and now?".into() };
    for _ in 0..10 {
        bench.ask(worker.clone(), note()).unwrap();
        bench.ask(agent(BOSS), note()).unwrap();
    }
    assert_eq!(bench.told().len(), 5, "{:?}", bench.told());
    assert_eq!((bench.task(&t(1)).note_count, bench.task(&t(1)).wakes), (20, 5), "what is not told is kept");
    bench.ask(Actor::Human, note()).unwrap();
    assert_eq!((bench.told().len(), bench.task(&t(1)).wakes), (7, 0), "a person's note is told, and begins anew");
    bench.ask(worker.clone(), note()).unwrap();
    assert_eq!(bench.told().len(), 8);
    // That it is done is told in any case.
    for _ in 0..10 {
        bench.ask(worker.clone(), note()).unwrap();
    }
    let before = bench.told().len();
    bench.done(worker, t(1)).unwrap();
    assert_eq!((bench.told().len(), bench.told()[before].1), (before + 1, "completed"));
}

#[test]
fn agents_give_a_task_to_each_other_so_many_times_until_a_person_acts_on_it() {
    let mut bench = Bench::new();
    made_by_boss(&mut bench);
    bench.most_wakes = 6;
    let reopened = || Command::Set { task: t(1), change: Change::Reopened, note: None };
    let mut rounds = 0;
    let refusal = loop {
        let (_, worker) = match bench.task(&t(1)).thread.clone() {
            Some(thread) if rounds == 0 => (t(1), thread),
            _ => bench.work().remove(0),
        };
        bench.set(Actor::Thread(worker), t(1), Change::Blocked { reason: "no access".into() }).unwrap();
        match bench.ask(agent(BOSS), reopened()) {
            Ok(_) => rounds += 1,
            Err(refusal) => break refusal,
        }
        assert!(rounds < 10, "they go on without end");
    };
    assert_eq!(rounds, 3, "each round is a block that is told and a task that is handed out");
    assert!(refusal.message.starts_with("agents have woken each other 6 times over t1"), "{}", refusal.message);
    let assigned = Command::Assign { task: t(1), to: new_agent() };
    assert!(bench.ask(agent(BOSS), assigned).is_err());
    bench.ask(Actor::Human, reopened()).unwrap();
    assert_eq!(bench.task(&t(1)).wakes, 0);
    assert_eq!(bench.work().len(), 1);
    // A chain of tasks that led to tasks ends in the same way.
    let add = |wakes| Command::Add { tasks: vec![NewTask { wakes, ..NewTask::titled("again") }] };
    bench.ask(agent(BOSS), add(5)).unwrap();
    let refusal = bench.ask(agent(BOSS), add(6)).unwrap_err();
    assert!(refusal.message.contains("tasks.max_wakes is 6"), "{}", refusal.message);
}
