//! A person's consent, from asking to acting: real processes on one database, one that asks and others that decide.
//!
//! How a question is talked about at a terminal is tested beside the code that talks (`consent`), what the rules make of a
//! decision in the rules. Here it is shown that a decision reaches its asker wherever it lives, once, and that what ran is
//! what was approved.

mod answering;
mod deciding;
mod hiding;
mod racing;
mod surviving;

use std::cell::Cell;

use agent::approval::{Approval, ApprovalId, Resolution};
use agent::{CallId, Event, ThreadId};
use store::Record;
use testkit::scenes::call;
use testkit::world::{Running, World};

thread_local! {
    /// Whether the worlds of the test that runs have a database that many machines share.
    static ON_POSTGRES: Cell<bool> = const { Cell::new(false) };
}

/// Has tests of this module run on a database that many machines share, too.
macro_rules! also_on_postgres {
    ($($test:ident),* $(,)?) => {
        mod on_postgres {
            $(#[test]
            fn $test() {
                crate::ON_POSTGRES.set(true);
                super::$test();
            })*
        }
    };
}
use also_on_postgres;

/// A world for the program whose tests these are.
fn world(scenes: &[String]) -> World {
    match ON_POSTGRES.get() {
        false => World::new(env!("CARGO_BIN_EXE_majordomo"), scenes),
        true => World::on_postgres(env!("CARGO_BIN_EXE_majordomo"), scenes),
    }
}

/// Starts a run in mode `ask`.
fn run(world: &World, task: &str, arguments: &[&str]) -> Running {
    world.launch(world.careful_task(task, arguments))
}

/// The call that writes a file.
fn write(path: &str, content: &str) -> String {
    call("write_file", &format!("path = {path:?}, content = {content:?}"))
}

/// Every question in the log, in the order of asking.
fn questions(log: &[Record]) -> Vec<Approval> {
    let question = |record: &Record| match &*record.event {
        Event::ApprovalRequested(question) => Some((**question).clone()),
        _ => None,
    };
    log.iter().filter_map(question).collect()
}

/// The question of this number, counted from 1, once it is asked.
fn question(world: &World, number: usize) -> Approval {
    let log = world.until_logged("a question", |log| questions(log).len() >= number);
    questions(&log).swap_remove(number - 1)
}

/// What the log says came of a question.
fn resolution(log: &[Record], id: &ApprovalId) -> Option<Resolution> {
    let mut ends = log.iter().filter_map(|record| match &*record.event {
        Event::ApprovalResolved { approval, resolution, .. } if approval == id => Some(resolution.clone()),
        _ => None,
    });
    let end = ends.next();
    assert!(ends.next().is_none(), "{id} is decided once");
    end
}

/// Holds every execution in a database against its consent: what ran is what was approved, once, and what was asked about
/// and not approved did not run. T20
fn assert_only_what_was_approved_ran(log: &[Record]) {
    for question in questions(log) {
        let thread = question.id.thread();
        let approved = match resolution(log, &question.id) {
            Some(Resolution::Allowed { digest, .. }) => Some(digest),
            _ => None,
        };
        let ran: Vec<_> = executions(log, &thread, &question.call);
        match approved {
            Some(digest) => assert_eq!(ran, [digest], "{}", question.id),
            None => assert!(ran.is_empty(), "{} ran without consent", question.id),
        }
    }
}

/// What was done for a call, by the name that consent is bound to.
fn executions(log: &[Record], thread: &ThreadId, wanted: &CallId) -> Vec<std::sync::Arc<str>> {
    let done = |record: &Record| match &*record.event {
        Event::ToolFinished { call, result, .. } if record.thread == *thread && call == wanted => result.digest.clone(),
        _ => None,
    };
    log.iter().filter_map(done).collect()
}
