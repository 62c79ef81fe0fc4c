//! A database that another process has locked, and a run that two processes try to resume.

use rusqlite::Connection;
use testkit::world::{Running, until};

use crate::place::{ANSWER, Place, answers, fails, until_says};

const LOCKED: &str = "the database is locked by another process";

fn held(place: &Place) -> Connection {
    let other = Connection::open(place.database("")).expect("a connection");
    other.execute_batch("BEGIN EXCLUSIVE").expect("the lock");
    other
}

#[test]
fn while_another_process_holds_the_database_a_run_waits_and_loses_nothing() {
    // F9: the lock is held for longer than any single request waits.
    let place = Place::new();
    let mut run = place.waiting();
    let before = place.log();
    let other = held(&place);
    place.go();
    until_says(&mut run, LOCKED);
    assert!(place.call(&["thread", "ls"]).out.contains("waiting_for_tool"), "others can look");
    fails(&place.wait().done(), 1, &[LOCKED]);
    other.execute_batch("ROLLBACK").expect("the lock is let go");
    answers(&run.done(), 0, ANSWER);
    assert_eq!(place.log()[..before.len()], before);
    assert_eq!(place.begun(), 1, "what could not be remembered was not begun");
}

#[test]
fn of_two_that_resume_the_same_run_at_once_one_does() {
    // F10: the owner that was killed is no obstacle, the one that lives is.
    let place = Place::new();
    let mut run = place.waiting();
    let thread = place.log()[0].thread.clone();
    run.kill();
    let resume = || place.start(&["thread", "resume", thread.as_str()]);
    // On resuming, the command is not run again: the model is asked, and what it says next ends the run. The process
    // that comes second finds a live owner, or nothing left to do.
    let both = [resume(), resume()].map(Running::done);
    let answered = both.iter().filter(|done| done.code == Some(0)).count();
    assert!(answered >= 1, "{both:?}");
    for done in &both {
        match done.code {
            Some(0) => answers(done, 0, ANSWER),
            _ => fails(done, 1, &["which is alive"]),
        }
    }
    let log = place.log();
    assert_eq!(log.iter().filter(|record| record.event.kind() == "reopened").count(), 1, "one of them went on with it");
    assert_eq!(place.begun(), 1);
}

#[test]
fn a_run_on_the_same_database_is_no_obstacle_to_another() {
    // F10
    let place = Place::new();
    let (mut one, mut other) = (place.wait(), place.wait());
    until("both to begin", || (place.begun() == 2).then_some(()));
    assert!(!one.has_ended() && !other.has_ended());
    place.go();
    for run in [one, other] {
        answers(&run.done(), 0, ANSWER);
    }
}
