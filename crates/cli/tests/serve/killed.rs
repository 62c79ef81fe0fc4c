//! The process is killed around the commit that holds a message: it is either not there, or worked on when `serve` runs
//! again.

use agent::Event;
use testkit::scenes::{says, scene};

use crate::{Served, world};

#[test]
fn a_message_that_was_written_when_the_process_died_is_answered_when_the_server_runs_again() {
    let world = world(&[scene("greenhouse", &[says("31 degrees."), says("Still 31.")])]);
    let mut served = Served::open(&world, None);
    let thread = served.start("greenhouse");
    served.until_completed(&thread, 1);
    served.running.kill();

    let served = Served::open(&world, Some("after:1"));
    assert_eq!(served.ask("POST", &format!("/threads/{thread}/messages"), r#"{"text": "and now?"}"#), None, "it died");
    let asked =
        |log: &[store::Record]| log.iter().filter(|record| matches!(*record.event, Event::RunStarted { .. })).count();
    assert_eq!(asked(&world.log()), 2, "the message and the run that it begins are one commit");

    let mut served = Served::open(&world, None);
    served.until_completed(&thread, 2);
    assert_eq!(asked(&world.log()), 2);
    served.running.kill();
}

#[test]
fn a_message_that_was_not_written_when_the_process_died_changes_nothing() {
    let world = world(&[scene("greenhouse", &[says("31 degrees."), says("Still 31.")])]);
    let mut served = Served::open(&world, None);
    let thread = served.start("greenhouse");
    served.until_completed(&thread, 1);
    served.running.kill();
    let before = world.log().len();

    let served = Served::open(&world, Some("before:1"));
    assert_eq!(served.ask("POST", &format!("/threads/{thread}/messages"), r#"{"text": "and now?"}"#), None, "it died");
    assert_eq!(world.log().len(), before);

    let mut served = Served::open(&world, None);
    let (status, _) =
        served.ask("POST", &format!("/threads/{thread}/messages"), r#"{"text": "and now?"}"#).expect("an answer");
    assert_eq!(status, 202);
    served.until_completed(&thread, 2);
    served.running.kill();
}
