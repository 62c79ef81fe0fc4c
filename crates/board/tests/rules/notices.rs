//! Who is told what, and in which words.

use majordomo_board::words::{Style, assignment, notice};
use majordomo_board::{Actor, Assignee, Change, Command, NewTask, Notice};

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
    let words = assignment(bench.task(&t(1)), Style::Lace);
    assert_eq!(
        words,
        "[LACE TASK SYSTEM] You have been assigned a new task:\nTitle: \"Research\"\nCreated by: 20260115-k3f9\n\
         Priority: medium\n\n--- TASK DETAILS ---\nLook\nthere\n--- END TASK DETAILS ---"
    );
    bench.ask(Actor::System, Command::Add { tasks: vec![NewTask::titled("a")] }).unwrap();
    assert!(assignment(bench.task(&t(2)), Style::Lace).contains("\nCreated by: system\n"));
}

// LACE-12, LACE-14
#[test]
fn the_completion_reads_as_the_lace_document_has_it() {
    let mut bench = Bench::new();
    let worker = made_by_boss(&mut bench);
    let bare = notice(bench.task(&t(1)), &Notice::Completed, Style::Lace);
    assert_eq!(bare, "[LACE TASK SYSTEM] Task completed notification:\nTask: \"Research\"\nStatus: COMPLETED\n\n");
    for text in ["one", "two", "three", "four"] {
        bench.ask(worker.clone(), Command::Note { task: t(1), text: text.into() }).unwrap();
    }
    let words = notice(bench.task(&t(1)), &Notice::Completed, Style::Lace);
    assert_eq!(words, format!("{bare}Recent notes:\n- two\n- three\n- four"));
}

#[test]
fn in_our_own_words_an_agent_learns_the_tasks_name_and_how_to_complete_it() {
    let mut bench = Bench::new();
    let checks = majordomo_board::Checks { commands: vec!["cargo test".into()], schema: None };
    bench.add(Actor::Human, NewTask { checks, ..NewTask::titled("Fix it") });
    let words = assignment(bench.task(&t(1)), Style::Own);
    for piece in ["assigned task t1:", "Title: \"Fix it\"", "call task_update with status completed", "\n- cargo test"]
    {
        assert!(words.contains(piece), "{words}");
    }
    assert!(!assignment(bench.task(&t(1)), Style::Lace).contains("t1"), "lace's words have no id");
}
