//! Killed in between and gone on with: the log says that it was the sample household, and the answer is the same.

use testkit::world::count;

use crate::{ask, world};

const URGENT: &str = "What urgent emails do I have?";

#[test]
fn a_run_that_was_killed_goes_on_in_the_same_household_to_the_same_answer() {
    let whole = world(&[]);
    let answer = ask(&whole, URGENT, &[]).answer(0).to_owned();
    let events = whole.log().len();
    // Early, in the middle of the butler's, in the specialist's, and before the last word.
    for event in [4, events / 3, events / 2, events - 2] {
        let world = world(&[]);
        let mut command = world.command(&["run", "--demo", URGENT]);
        command.env("MAJORDOMO_FAILPOINT", format!("after:{event}"));
        let died = world.launch(command).done();
        assert!(died.was_killed(), "{died:?}");
        let root = world.root();
        let resumed = world.call(&["thread", "resume", root.as_str()]);
        assert_eq!(resumed.answer(0), answer, "killed after event {event}");
        world.assert_at_rest(&root);
        assert_eq!(count(&world.log(), &root, "child_spawned"), 1);
    }
}
