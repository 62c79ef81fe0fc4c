//! Clocks that disagree (F34): a process that took over is behind, and the sender of an input is days ahead.

use majordomo_agent::budget::Grant;
use majordomo_agent::input::Outside;
use majordomo_agent::policy::Policy;
use majordomo_agent::{Event, Input, InputId, Mode, Thread, Time};

use super::room::Room;

const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE_MS;

#[test]
fn an_input_that_arrives_while_no_process_drives_a_thread_takes_nothing_from_its_time() {
    let mut room = limited(30 * MINUTE_MS);
    room.now = room.now.plus_ms(50 * MINUTE_MS);
    arrives(&mut room.thread, room.now);
    room.now = room.now.plus_ms(MINUTE_MS);
    room.hears(Input::Reopened);
    assert!(room.events.contains(&Event::Reopened { away_ms: 51 * MINUTE_MS }), "{:?}", room.events);
    room.hears(Input::TimePassed { heard: None });
    assert!(!stops(&room), "its time was over while no process drove it");
}

#[test]
fn the_clock_of_a_senders_process_moves_nothing() {
    let mut room = limited(30 * MINUTE_MS);
    let before = (room.thread.next_wake(None), room.thread.last_at);
    arrives(&mut room.thread, room.now.plus_ms(400 * DAY_MS));
    assert_eq!((room.thread.next_wake(None), room.thread.last_at), before);
    room.now = room.now.plus_ms(MINUTE_MS);
    room.hears(Input::TimePassed { heard: None });
    assert!(!stops(&room), "a deadline in half an hour passed a minute later");
}

#[test]
fn a_process_whose_clock_is_behind_leaves_the_same_log_as_it_has_in_mind() {
    let mut room = limited(30 * MINUTE_MS);
    let mut log = room.thread.clone();
    let behind = Time(room.now.0 - 60 * MINUTE_MS as i64);
    for input in [Input::Reopened, Input::TimePassed { heard: None }, Input::Panicked { message: "oh".into() }] {
        let facts = room.world.facts(&room.thread, &input, behind);
        let step = room.thread.handle(input, &facts, behind);
        for event in &step.events {
            log.apply(behind, event);
        }
        assert_eq!(room.thread, log);
    }
}

fn limited(time_ms: u64) -> Room {
    let grant = Grant { time_ms: Some(time_ms), ..Grant::default() };
    Room::with(Policy::default(), Mode::Auto, grant)
}

fn arrives(thread: &mut Thread, at: Time) {
    let input = Outside::person_steers("mind the step");
    thread.apply(at, &Event::InputArrived { id: InputId::new("s1"), input });
}

fn stops(room: &Room) -> bool {
    room.events.iter().any(|event| matches!(event, Event::StopBegun { .. }))
}
