//! Where the streams go elsewhere, or the terminal is to be plain.

use testkit::scenes::{calls, command, scene};
use testkit::world::World;

use crate::seat::{Seat, Streams};
use crate::{slowly, world};

const ANSWER: &str = "# Head\n\nThe **answer** in two words.";

fn answering() -> World {
    answering_in(20)
}

/// A model that takes so long for each word.
fn answering_in(word_ms: u64) -> World {
    world(&[scene("the whole", &[calls(&[command("ls")]), slowly(ANSWER, word_ms)])])
}

#[test]
fn the_result_in_a_pipe_is_the_text_as_it_is_and_the_tree_is_at_the_terminal() {
    let world = answering_in(400);
    let mut seat = Seat::start(&world.task("the whole", &[]), (80, 24), Streams::StdoutElsewhere);
    seat.until_shown("The answer");
    let (code, out) = seat.done();
    assert_eq!(code, Some(0));
    assert_eq!(out, format!("{ANSWER}\n"));
    let end = seat.transcript();
    assert!(!end.contains("The answer"), "the result is in the pipe: {end}");
    assert!(end.contains("✓ general"), "{end}");
}

#[test]
fn one_object_of_json_is_the_whole_of_stdout_at_a_terminal_too() {
    let world = answering();
    let mut seat = Seat::start(&world.task("the whole", &["--json"]), (80, 24), Streams::StdoutElsewhere);
    let (code, out) = seat.done();
    assert_eq!(code, Some(0));
    assert!(out.starts_with('{') && out.ends_with("}\n") && out.lines().count() == 1, "{out}");
    let mut seat = Seat::start(&world.task("the whole", &["--jsonl"]), (80, 24), Streams::StdoutElsewhere);
    let (code, out) = seat.done();
    assert_eq!(code, Some(0));
    assert!(out.lines().count() > 5 && out.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{out}");
    assert_eq!(seat.transcript(), "", "with --jsonl nothing else is said");
}

#[test]
fn an_answer_at_a_terminal_is_laid_out_where_stderr_goes_elsewhere() {
    let world = answering();
    let mut seat = Seat::start(&world.task("the whole", &[]), (80, 24), Streams::StderrElsewhere);
    let (code, err) = seat.done();
    assert_eq!(code, Some(0));
    assert_eq!(seat.transcript(), "Head\n\nThe answer in two words.");
    assert!(err.contains("general start") && !err.contains('\u{1b}'), "{err}");
}

#[test]
fn a_quiet_run_says_nothing_but_its_answer() {
    let world = answering();
    let mut seat = Seat::start(&world.task("the whole", &["-q"]), (80, 24), Streams::All);
    assert_eq!(seat.done().0, Some(0));
    assert_eq!(seat.transcript(), "Head\n\nThe answer in two words.");
    let mut seat = Seat::start(&world.task("the whole", &["-q"]), (80, 24), Streams::StderrElsewhere);
    assert_eq!(seat.done(), (Some(0), String::new()));
}

#[test]
fn a_plain_terminal_gets_plain_lines_and_the_text_as_it_is() {
    let ways = [None, Some(("NO_COLOR", "1")), Some(("MAJORDOMO_PLAIN", "1")), Some(("TERM", "dumb"))];
    for variable in ways {
        let world = answering();
        let mut command = world.task("the whole", if variable.is_none() { &["--plain"] } else { &[] });
        command.envs(variable);
        let mut seat = Seat::start(&command, (80, 24), Streams::All);
        assert_eq!(seat.done().0, Some(0));
        let end = seat.transcript();
        assert!(end.contains("# Head") && end.contains("The **answer** in two words."), "{variable:?}: {end}");
        assert!(end.contains("general tool run_command \"ls\""), "{variable:?}: {end}");
        let bytes = seat.bytes();
        let bytes = bytes.strip_suffix(b"\x1b]0;end\x07").unwrap_or(&bytes);
        assert!(!bytes.contains(&0x1b), "{variable:?}: {:?}", String::from_utf8_lossy(bytes));
    }
}
