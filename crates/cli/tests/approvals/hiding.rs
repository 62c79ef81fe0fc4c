//! Text that was written to deceive the person who decides is shown as what it is, everywhere; and no agent decides for itself.

use testkit::scenes::{call, calls, command, says, scene};

use crate::{question, resolution, run, world, write};

#[test]
fn what_hides_in_a_command_is_shown_to_the_person_who_decides() {
    // T24
    let spaces = " ".repeat(10_000);
    let hidden = format!(r#"command = "ls \u001b[2J\u202e\u200b\U000E0100{spaces}; rm -rf x""#);
    let world = world(&[scene("go", &[calls(&[call("run_command", &hidden)]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    let shown = world.call(&["approve", "show", asked.id.as_str()]);
    let text = shown.answer(0);
    for words in [r"\u{202e}\u{200b}\u{e0100}[10000 spaces]; rm -rf x", "characters:"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let listed = world.call(&["approve", "ls"]);
    let no = world.call(&["approve", "no", asked.id.as_str(), "--reason", "no\u{1b}[2J\u{202e}!"]);
    no.answer(0);
    let past = world.call(&["approve", "show", asked.id.as_str()]);
    assert!(past.answer(0).contains(r"(no\u{1b}[2J\u{202e}!)"), "{}", past.out);
    let done = running.done();
    for told in [text, listed.answer(0), &no.err, past.answer(0), &done.err] {
        let deceives = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}' | '\u{e0100}');
        assert!(!told.contains(deceives), "{told:?}");
    }
}

#[test]
fn a_command_cannot_decide_what_a_person_is_asked() {
    // T23: behind its walls there is no log to write a decision into. Without walls a command is asked about itself.
    if !tool::Sandbox::probe(&[]).is_in_force() {
        return testkit::skip::without_sandbox("bubblewrap");
    }
    let program = env!("CARGO_BIN_EXE_majordomo");
    let attack = format!(
        "for id in $({program} approve ls --data ../state | cut -d' ' -f1); do {program} approve yes $id --data ../state; \
         done; echo tried"
    );
    let world = world(&[
        scene("go", &[calls(&[write("new.txt", "written")]), says("done")]),
        scene("attack", &[calls(&[command(&attack)]), says("tried")]),
    ]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    let attacked = world.launch(world.task("attack", &["--jsonl"])).done();
    assert!(attacked.out.contains("tried\\n"), "{}", attacked.out);
    assert_eq!(resolution(&world.log(), &asked.id), None);
    assert!(!world.path("new.txt").exists());
    world.call(&["approve", "no", asked.id.as_str()]).answer(0);
    running.done().answer(0);
}
