//! Consent that is given on the page.

use testkit::scenes::{call, calls, says, scene};
use testkit::world::until;

use crate::{Served, world};

#[test]
fn consent_for_ever_counts_in_every_process_also_where_none_drives_the_run_that_asked() {
    let write = call("write_file", r#"path = "a.txt", content = "one""#);
    let world = world(&[scene("go", &[calls(&[write]), says("done")])]);
    let mut left = world.launch(world.careful_task("go", &["--approvals", "wait"]));
    let mut served = Served::open(&world, None);
    let question = until("a question", || {
        let (_, all) = served.ask("GET", "/approvals", "").expect("an answer");
        all.get(0).cloned()
    });
    left.kill();
    let id = question["id"].as_str().expect("an id").replace('/', "%2F");
    let word = format!(r#"{{"decision": "allow", "scope": "always", "digest": {}}}"#, question["digest"]);
    let (status, came) = served.ask("POST", &format!("/approvals/{id}/decision"), &word).expect("an answer");
    assert_eq!((status, came["status"].as_str()), (200, Some("decided")), "{came}");

    let other = world.launch(world.careful_task("go", &["--approvals", "deny"])).done();
    assert_eq!(other.answer(0), "done");
    let thread = served.start("go");
    until("the run of the server to end without a question", || {
        let (_, row) = served.ask("GET", &format!("/threads/{thread}"), "").expect("an answer");
        (row["state"] == "completed").then_some(())
    });
    served.running.kill();
}
