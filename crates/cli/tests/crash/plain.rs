//! The way to kill the program from outside is there in the builds of tests and nowhere else.

use std::process::Command;

use crate::runs::{TASK, alone};
use crate::world;

#[test]
fn only_builds_of_tests_can_be_told_to_die() {
    let asked = |edges: &str| {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let question = ["tree", "--offline", "--package", "majordomo-cli", "--invert", "majordomo-store", "--edges"];
        let answer = Command::new(cargo)
            .args(question)
            .arg(edges)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo can be asked");
        assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
        String::from_utf8(answer.stdout).expect("cargo answers in UTF-8")
    };
    let plain = asked("features,no-dev");
    assert!(plain.contains("majordomo-cli"), "the program is built from the store: {plain}");
    assert!(!plain.contains("failpoints"), "{plain}");
    // Were the question wrong, the answer above would be an empty yes.
    assert!(asked("features").contains("failpoints"));
}

#[test]
fn a_moment_that_does_not_come_changes_nothing_and_is_not_warned_of() {
    let scripted = alone();
    let world = world(&scripted.scenes);
    let mut command = world.task(TASK, &["--quiet"]);
    command.env("MAJORDOMO_FAILPOINT", "after:1000000");
    let done = world.launch(command).done();
    assert_eq!(done.answer(0), scripted.answer);
    assert_eq!(done.err, "");
}
