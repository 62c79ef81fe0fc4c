//! The screen while a run goes on.

use testkit::scenes::{calls, command, never_answers, says, says_and_calls, scene, spawn, waits_for_go};
use testkit::world::{World, until};

use crate::seat::{Seat, Streams};
use crate::{slowly, world};

/// The elapsed times of a screen, which differ from run to run, as `#.#s`; and the blanks before them as they would be for it.
fn timeless(screen: &str) -> String {
    let mut shown = String::new();
    for line in screen.lines() {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let digits = rest[at..].chars().take_while(char::is_ascii_digit).count();
            let after = &rest[at + digits..];
            let tenth = after.strip_prefix('.').and_then(|after| after.strip_prefix(|c: char| c.is_ascii_digit()));
            match tenth.and_then(|after| after.strip_prefix('s')) {
                Some(left) => {
                    out.push_str(&rest[..at]);
                    // A time of two digits has one blank less before it.
                    if digits > 1 {
                        out.push(' ');
                    }
                    out.push_str("#.#s");
                    rest = left;
                }
                None => {
                    out.push_str(&rest[..at + digits]);
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        shown.push_str(out.trim_end());
        shown.push('\n');
    }
    shown
}

/// A root with two children, of which one has a child of its own; the leaves wait for a file.
fn two_levels() -> World {
    world(&[
        scene("the whole", &[calls(&[spawn("left part"), spawn("right part")]), says("All of it is **done**.")]),
        scene("left part", &[calls(&[spawn("inner part")]), says("left is done")]),
        scene("inner part", &[calls(&[waits_for_go("inner")]), says("inner is done")]),
        scene("right part", &[calls(&[waits_for_go("right")]), says("right is done")]),
    ])
}

fn seated(world: &World, task: &str, arguments: &[&str], size: (u16, u16)) -> Seat {
    let arguments: Vec<&str> = ["--max-depth", "3"].into_iter().chain(arguments.iter().copied()).collect();
    Seat::start(&world.task(task, &arguments), size, Streams::All)
}

/// The screens of a tree of two levels while it runs, without elapsed times.
const WIDE: &str = "\
● general        the whole   waiting for 2 agents                                                #.#s  1.8k/7.6k  $0.00
├─ ● general     left part   waiting for general                                                 #.#s  1.9k/3.8k  $0.00
│  └─ ● general  inner part  run_command \"echo inner >> begun; until [ -e go ]; do sleep 0.02;…  #.#s       1.9k  $0.00
└─ ● general     right part  run_command \"echo right >> begun; until [ -e go ]; do sleep 0.02;…  #.#s       1.9k  $0.00
";
const NARROW: &str = "\
● general        the whole   waiting for 2 agents      #.#s
├─ ● general     left part   waiting for general       #.#s
│  └─ ● general  inner part  run_command \"echo inner…  #.#s
└─ ● general     right part  run_command \"echo right…  #.#s
";

#[test]
fn the_tree_of_two_levels_is_shown_while_it_runs_and_fits_the_terminal() {
    for (columns, expected) in [(120, WIDE), (60, NARROW)] {
        let world = two_levels();
        let mut seat = seated(&world, "the whole", &[], (columns, 30));
        world.until_lines("begun", 2);
        let screen = seat.until("both commands", |screen| screen.matches("run_command").count() == 2);
        let shown: String = timeless(&screen).lines().skip(1).map(|line| format!("{line}\n")).collect();
        assert_eq!(shown, expected, "{screen}");
        world.go();
        let (code, _) = seat.done();
        assert_eq!(code, Some(0), "{}", seat.screen());
        let end = seat.transcript();
        assert_eq!(end.matches("All of it is done.").count(), 1, "{end}");
        assert_eq!(end.matches("├─").count(), 1, "the tree stands there once, as it ended: {end}");
        assert!(end.contains("✓ general"), "{end}");
        assert!(!end.contains("●"), "{end}");
    }
}

#[test]
fn streamed_text_is_laid_out_as_it_comes_and_does_not_appear_twice() {
    let text = "# Harvest\n\nThree of **four** orders are covered.\n\n- Boskoop\n- Elstar\n\nTopaz falls short by some kilograms, as the frost took it.";
    let world = world(&[scene("the whole", &[slowly(text, 200)])]);
    let mut seat = seated(&world, "the whole", &[], (60, 24));
    let screen = seat.until_shown("Three of");
    assert!(screen.contains("● general"), "the tree stands below it: {screen}");
    assert!(!screen.contains("Topaz"), "the rest is still to come: {screen}");
    let screen = seat.until_shown("• Elstar");
    assert!(screen.contains("Three of four orders are covered."), "{screen}");
    let (code, _) = seat.done();
    assert_eq!(code, Some(0));
    let end = seat.transcript();
    for words in ["Harvest", "Three of four orders are covered.", "• Boskoop", "Topaz falls short by some kilograms"]
    {
        assert_eq!(end.matches(words).count(), 1, "{words}: {end}");
    }
    assert!(!end.contains("**") && !end.contains("# "), "{end}");
    let tree = end.find("✓ general").expect("the tree stands at the end");
    assert!(end.find("Topaz").is_some_and(|answer| answer < tree), "{end}");
    assert!(end.contains("\nthread "), "{end}");
}

#[test]
fn what_is_said_before_a_tool_is_called_stays_with_the_call() {
    let world = world(&[scene(
        "the whole",
        &[says_and_calls("First I look around.", &[command("ls")]), says("There is nothing.")],
    )]);
    let mut seat = seated(&world, "the whole", &[], (80, 24));
    assert_eq!(seat.done().0, Some(0));
    let end = seat.transcript();
    let place = |words: &str| end.find(words).unwrap_or_else(|| panic!("{words} stands nowhere: {end}"));
    assert!(place("First I look around.") < place("tool run_command \"ls\""), "{end}");
    assert!(place("tool run_command") < place("There is nothing."), "{end}");
}

#[test]
fn a_request_that_fails_again_and_again_is_one_row_that_counts() {
    let reply = "[[script.reply]]\ntext = \"at last\"\nerror = \"overloaded\"\ntimes = 3\nretry_after_ms = 1500\n";
    let world = world(&[scene("the whole", &[reply.to_owned()])]);
    let mut seat = seated(&world, "the whole", &[], (60, 24));
    for number in 1..=3 {
        let screen = seat.until_shown(&format!("retry {number}"));
        assert_eq!(screen.matches("retry").count(), 1, "{screen}");
        assert!(screen.contains("overloaded"), "{screen}");
    }
    assert_eq!(seat.done().0, Some(0));
    let end = seat.transcript();
    assert!(!end.contains("retry"), "it is over: {end}");
    assert_eq!(end.matches("at last").count(), 1, "{end}");
}

#[test]
fn many_agents_take_a_third_of_the_screen_and_the_others_are_counted() {
    let spawns: Vec<String> = (0..30).map(|nth| spawn(&format!("a part, number {nth}"))).collect();
    let world = world(&[scene("the whole", &[calls(&spawns), says("done")]), scene("a part", &[never_answers()])]);
    let limits = ["--max-children", "40", "--max-concurrent", "30"];
    let mut seat = seated(&world, "the whole", &limits, (80, 24));
    let screen = seat.until("a tree of many", |screen| screen.contains("… 24 more"));
    let tree: Vec<&str> = screen.lines().skip_while(|line| !line.starts_with("● general")).collect();
    assert_eq!(tree.len(), 8, "{screen}");
    seat.press("\u{3}");
    assert_eq!(seat.done().0, Some(130));
}

#[test]
fn another_size_of_the_terminal_is_drawn_at_once_and_leaves_nothing_behind() {
    let world = two_levels();
    let mut seat = seated(&world, "the whole", &[], (120, 30));
    world.until_lines("begun", 2);
    seat.until("both commands", |screen| screen.matches("run_command").count() == 2);
    for columns in [60, 100, 44, 120] {
        seat.resize(columns, 30);
        let fits = |screen: &str| {
            let rows: Vec<&str> = screen.lines().filter(|line| line.contains("● general")).collect();
            let widest = rows.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            // The widest row takes all that there is.
            rows.len() == 4 && (usize::from(columns) - 16..usize::from(columns)).contains(&widest)
        };
        seat.until(&format!("a tree of {columns} columns"), fits);
    }
    world.go();
    assert_eq!(seat.done().0, Some(0));
    let end = seat.transcript();
    assert_eq!(end.matches("├─").count(), 1, "{end}");
    assert!(!end.contains("●"), "{end}");
}

#[test]
fn frames_are_few_and_each_is_one_update_of_the_terminal() {
    let text = "word ".repeat(400);
    let world = world(&[scene("the whole", &[slowly(&text, 5)])]);
    let begun = std::time::Instant::now();
    let mut seat = seated(&world, "the whole", &[], (80, 24));
    assert_eq!(seat.done().0, Some(0));
    let seconds = begun.elapsed().as_secs() as usize + 1;
    let bytes = seat.bytes();
    let frames = bytes.windows(8).filter(|part| *part == b"\x1b[?2026h").count();
    let ends = bytes.windows(8).filter(|part| *part == b"\x1b[?2026l").count();
    assert_eq!(frames, ends);
    assert!(frames > 3, "it was drawn while it came");
    assert!(frames <= seconds * 20, "{frames} frames in {seconds} s");
    // Nothing is erased and drawn in two steps: outside of an update only whole lines are written.
    assert!(seat.reads() > 0);
    let shown = String::from_utf8_lossy(&bytes).into_owned();
    let outside: String =
        shown.split("\u{1b}[?2026h").map(|part| part.rsplit("\u{1b}[?2026l").next().unwrap()).collect();
    assert!(!outside.contains("\u{1b}[J") && !outside.contains("\u{1b}[2K"), "{outside:?}");
}

#[test]
fn keys_that_are_pressed_while_nobody_is_asked_do_not_disturb_the_screen() {
    let world = two_levels();
    let mut seat = seated(&world, "the whole", &[], (80, 24));
    world.until_lines("begun", 2);
    seat.until("both commands", |screen| screen.matches("run_command").count() == 2);
    assert!(!seat.echoes());
    seat.press("some words\n\n\n");
    seat.resize(81, 24);
    until("a new frame", || (seat.screen().matches("● general").count() == 4).then_some(()));
    assert!(!seat.screen().contains("some words"), "{}", seat.screen());
    world.go();
    assert_eq!(seat.done().0, Some(0));
    assert!(seat.echoes(), "the terminal is as it was");
}

#[test]
fn diagnostics_stand_above_the_tree() {
    let world = two_levels();
    let mut command = world.task("the whole", &["--max-depth", "3"]);
    command.env("RUST_LOG", "debug");
    let mut seat = Seat::start(&command, (100, 30), Streams::All);
    world.until_lines("begun", 2);
    let screen = seat.until("both commands", |screen| screen.matches("run_command \"echo").count() == 2);
    let last = screen.lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("└─ ● general"), "{screen}");
    world.go();
    assert_eq!(seat.done().0, Some(0));
}
