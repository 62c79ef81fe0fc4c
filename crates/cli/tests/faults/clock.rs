//! A wall clock that is not where it was: a run that was begun in the far future, or an hour from now, goes on today.

use testkit::world::assert_gapless;

use crate::device::Device;
use crate::place::{ANSWER, Place, answers, frames};

const DAY_S: i64 = 86_400;
/// The longest that any part of these runs takes; a clock that was believed would yield more.
const LONG_MS: u64 = 30 * 60 * 1000;

fn shifted_by(seconds: i64) -> [(String, String); 1] {
    [("DEVICE_CLOCK".to_owned(), seconds.to_string())]
}

#[test]
fn a_run_goes_on_although_the_clock_was_set_forward_or_back_meanwhile() {
    // F34
    let device = Device::new();
    for (then, later) in [(400 * DAY_S, 0), (3_600, 0), (0, 400 * DAY_S)] {
        let place = Place::new().with(device.variables()).with(shifted_by(then));
        let mut run = place.waiting();
        run.kill();
        let left = place.log();
        place.go();
        let place = place.with(shifted_by(later));
        let done = place.call(&["thread", "resume", left[0].thread.as_str(), "--jsonl"]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        let frames = frames(&done.out);
        assert_eq!(frames.last().map(|last| last["answer"] == ANSWER), Some(true), "{}", done.out);
        let log = place.log();
        assert_eq!(log[..left.len()], left, "what was written stays as it was");
        assert_gapless(&log);
        // Of a command whose end nobody saw, nobody knows how long it took.
        let durations = frames.iter().filter_map(|frame| frame.get("duration_ms")).filter(|ms| !ms.is_null());
        for duration in durations {
            assert!(duration.as_u64().is_some_and(|ms| later > then || ms < LONG_MS), "{duration} ms");
        }
        assert_eq!(place.call(&["thread", "ls"]).code, Some(0));
        answers(&place.wait().done(), 0, ANSWER);
    }
}
