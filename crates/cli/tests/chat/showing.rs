//! The conversation, the tree, the composer and the status line; and the terminal when all is over.

use rustix::process::Signal;
use testkit::scenes::{calls, never_answers, says, scene, spawn, waits_for_go};
use testkit::world::until;

use crate::room::{CONTROL_C, Chat, ENTER, slowly, world};

#[test]
fn a_message_is_answered_in_the_scrollback_and_the_prompt_stays_below() {
    let text = "# Harvest\n\nThree of **four** orders are covered.\n\n- Boskoop\n- Elstar\n\nTopaz falls short, as the frost took it.";
    let world = world(&[scene("the harvest", &[slowly(text, 20), says("Boskoop is left.")])]);
    let mut chat = Chat::open(&world, &[], (80, 24));
    chat.say("How is the harvest?");
    let screen = chat.until_shown("as the frost took it.");
    let asked = screen.find("› How is the harvest?").expect("the message");
    assert!(asked < screen.find("Harvest\n").expect("the answer"), "{screen}");
    let screen = chat.until("the prompt", |screen| screen.contains("› reply"));
    assert!(screen.ends_with("/help"), "the status line stands at the end: {screen}");
    assert!(screen.contains("general") && screen.contains("dangerous") && screen.contains("tokens"), "{screen}");
    chat.say("And what is left?");
    chat.until_shown("Boskoop is left.");
    chat.until("the prompt", |screen| screen.contains("› reply"));
    assert_eq!(chat.leave(), Some(0));
    let all = chat.transcript();
    for words in ["Three of four orders are covered.", "• Boskoop", "Boskoop is left.", "› How is the harvest?"] {
        assert_eq!(all.matches(words).count(), 1, "{words}: {all}");
    }
    assert!(all.contains("go on with: majordomo -c"), "{all}");
    assert!(!all.contains("/help"), "the region is gone: {all}");
    assert!(chat.echoes());
}

#[test]
fn majordomo_alone_and_a_prompt_of_several_words_open_a_chat_and_a_wrong_verb_does_not() {
    let world = world(&[]);
    let mut chat = Chat::start(&world, &[], (80, 24));
    chat.until_shown("no language model is set");
    assert_eq!(chat.leave(), Some(0));
    let mut chat = Chat::start(&world, &["What urgent emails do I have?", "--demo"], (100, 40));
    chat.until("the answer", |screen| {
        screen.contains("› reply") && screen.contains("msg_urgent_001")
            || screen.contains("urgent") && screen.contains("› reply")
    });
    assert_eq!(chat.leave(), Some(0));
    let alone = world.call(&[]);
    assert_eq!(alone.code, Some(2), "{}", alone.err);
    assert!(alone.err.contains("Usage"), "{}", alone.err);
    let wrong = world.call(&["chta"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("did you mean: majordomo chat"), "{}", wrong.err);
    let without = world.call(&["chat"]);
    assert_eq!(without.code, Some(2));
    assert!(without.err.contains("needs a terminal"), "{}", without.err);
}

/// A root with three children, each of which has three of its own: twelve at two levels below it.
fn twelve() -> Vec<String> {
    let mut scenes =
        vec![scene("the whole", &[calls(&[spawn("part a"), spawn("part b"), spawn("part c")]), says("All is done.")])];
    for part in ["a", "b", "c"] {
        let leaves: Vec<String> = (1..=3).map(|leaf| format!("leaf {part}{leaf}")).collect();
        let spawned: Vec<String> = leaves.iter().map(|leaf| spawn(leaf)).collect();
        scenes.push(scene(&format!("part {part}"), &[calls(&spawned), says(&format!("part {part} is done"))]));
        for leaf in &leaves {
            scenes.push(scene(leaf, &[calls(&[waits_for_go(leaf)]), says(&format!("{leaf} is done"))]));
        }
    }
    scenes
}

#[test]
fn the_tree_of_twelve_agents_is_shown_and_the_scrollback_is_whole() {
    let world = world(&twelve());
    let mut chat = Chat::open(&world, &["--max-depth", "3"], (120, 48));
    chat.say("Do the whole");
    world.until_lines("begun", 9);
    let screen = chat.until("nine commands", |screen| screen.matches("run_command").count() == 9);
    for goal in ["part a", "leaf a1", "leaf b2", "leaf c3"] {
        assert!(screen.contains(goal), "{goal}: {screen}");
    }
    assert_eq!(screen.matches("● general").count(), 13, "the root and twelve others: {screen}");
    assert!(screen.contains("│  ├─ ●") && screen.contains("└─ ●"), "{screen}");
    world.go();
    chat.until_shown("All is done.");
    chat.until("the tree is gone", |screen| !screen.contains("●"));
    assert_eq!(chat.leave(), Some(0));
    let all = chat.transcript();
    assert_eq!(all.matches("→ general: part a").count(), 1, "{all}");
    assert_eq!(all.matches("All is done.").count(), 1, "{all}");
    assert!(!all.contains("●"), "nothing of the tree is left in the scrollback: {all}");
}

#[test]
fn a_tree_takes_a_third_of_the_screen_and_counts_the_others() {
    let world = world(&twelve());
    let chat = Chat::open(&world, &["--max-depth", "3"], (80, 24));
    chat.say("Do the whole");
    world.until_lines("begun", 9);
    let screen = chat.until("the rest", |screen| screen.contains(" more"));
    assert!(screen.matches("● general").count() <= 8, "{screen}");
    world.go();
    chat.until_shown("All is done.");
}

#[test]
fn a_screen_that_becomes_narrow_and_wide_again_shows_each_line_once() {
    let world = world(&[
        scene(
            "the whole",
            &[calls(&[spawn("left part"), spawn("right part")]), says("All of it is done, at last and in full.")],
        ),
        scene("left part", &[calls(&[waits_for_go("left")]), says("left is done")]),
        scene("right part", &[calls(&[waits_for_go("right")]), says("right is done")]),
    ]);
    let mut chat = Chat::open(&world, &[], (200, 30));
    chat.say("Do the whole");
    world.until_lines("begun", 2);
    chat.until("both", |screen| screen.matches("run_command").count() == 2);
    for columns in [120, 80, 60, 40, 60, 200] {
        chat.resize(columns, 30);
        chat.press("x");
        let screen = chat.until("one composer", |screen| {
            screen.matches("› x").count() == 1 && screen.matches("● general").count() == 3
        });
        assert!(screen.lines().all(|line| line.chars().count() <= columns.into()), "{screen}");
        chat.press("\u{7f}");
        chat.until("an empty composer", |screen| screen.matches("› x").count() == 0);
    }
    world.go();
    chat.until_shown("All of it is done, at last and in full.");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn the_terminal_is_as_it_was_after_a_signal_and_after_ctrl_z() {
    let world = world(&[scene("the whole", &[never_answers()])]);
    let mut chat = Chat::open(&world, &[], (80, 24));
    assert!(!chat.echoes());
    chat.press("half a sent\u{1a}");
    until("it is stopped", || chat.is_stopped().then_some(()));
    assert!(chat.echoes(), "the shell has its terminal");
    chat.signal(Signal::CONT);
    chat.until("it goes on", |screen| screen.contains("› half a sent") && screen.contains("/help"));
    until("keys are its own", || (!chat.echoes()).then_some(()));
    chat.press(CONTROL_C);
    chat.say("Do the whole");
    chat.until_shown("› Do the whole");
    // The same words stand in the composer before they are sent.
    chat.until_shown("Esc interrupts");
    chat.signal(Signal::TERM);
    assert_eq!(chat.done(), Some(143));
    assert!(chat.echoes());
    let bytes = chat.bytes();
    let written = String::from_utf8_lossy(&bytes);
    for (off, on, what) in [
        ("\u{1b}[?2004l", "\u{1b}[?2004h", "pastes"),
        ("\u{1b}[?1004l", "\u{1b}[?1004h", "reports of focus"),
        ("\u{1b}[<1u", "\u{1b}[>1u", "keys"),
        ("\u{1b}[?25h", "\u{1b}[?25l", "the cursor"),
    ] {
        assert!(written.rfind(off).is_some() && written.rfind(off) > written.rfind(on), "{what}: as before");
    }
    assert!(chat.transcript().contains("the work is kept"), "{}", chat.transcript());
}

#[test]
fn wide_and_joined_characters_are_measured_as_they_are_shown() {
    let world =
        world(&[scene("読", &[says("契約書の「表」:\n\n| 名前 | 値 |\n|---|---|\n| 契約書 | 12 |\n| éx | 3 |")])]);
    let mut chat = Chat::open(&world, &[], (40, 20));
    chat.say("契約書を読んでください");
    let screen = chat.until_shown("契約書の「表」");
    assert!(screen.contains("› 契約書を読んでください"), "{screen}");
    chat.until_shown("› reply");
    chat.press("日本語abc");
    chat.until_shown("› 日本語abc");
    chat.press("\u{1b}[D\u{1b}[D\u{1b}[D\u{7f}");
    chat.until_shown("› 日本abc");
    chat.press("\u{15}\u{b}");
    assert_eq!(chat.leave(), Some(0));
}

#[test]
fn no_colour_is_written_where_none_is_wanted() {
    let world = world(&[scene("the harvest", &[says("**Done** with it.")])]);
    let model = format!("scripted/{}", world.script().display());
    let mut command = world.command(&["chat", "--model", &model]);
    command.env("NO_COLOR", "1");
    let seat = crate::seat::Seat::start(&command, (80, 24), crate::seat::Streams::All);
    seat.until_shown("/help");
    seat.press(&format!("the harvest{ENTER}"));
    seat.until_shown("Done with it.");
    let bytes = seat.bytes();
    let written = String::from_utf8_lossy(&bytes);
    let is_style = |piece: &&str| piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m');
    let colours = written.split("\u{1b}[").skip(1).filter(is_style).count();
    assert_eq!(colours, 0);
}

/// The numbers of all colours and styles that were written.
fn styles(bytes: &[u8]) -> std::collections::BTreeSet<u32> {
    let written = String::from_utf8_lossy(bytes);
    let numbers = written.split("\u{1b}[").skip(1).filter_map(|piece| {
        let end = piece.find(|c: char| !c.is_ascii_digit() && c != ';')?;
        (piece[end..].starts_with('m')).then(|| piece[..end].to_owned())
    });
    numbers.flat_map(|list| list.split(';').filter_map(|number| number.parse().ok()).collect::<Vec<u32>>()).collect()
}

#[test]
fn colours_can_be_read_on_a_light_and_on_a_dark_background() {
    let text = "# Head\n\nA [link](https://example.org/) and `code`.\n\n```rust\nlet x = \"a\"; // why\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    let writes = calls(&[testkit::scenes::call("write_file", "path = \"a.txt\", content = \"roses\"")]);
    let world = world(&[scene("the whole", &[says(text), writes, says("Done.")])]);
    std::fs::write(world.path("a.txt"), "weeds").expect("a file");
    let chat = Chat::open_in(&world, "ask", &[], (100, 40));
    chat.say("Do the whole");
    chat.until_shown("let x");
    chat.until_shown("› reply");
    chat.say("more of the whole");
    chat.until_shown("needs your approval");
    chat.press("/");
    chat.until_shown("▸ /help");
    let found = styles(&chat.bytes());
    // The six colours that a theme chooses for its background, bold, dim, italic, underlined: neither black nor white, nor a background of
    // our own, nor a colour by its number.
    let readable = |style: &u32| matches!(style, 0..=4 | 7 | 9 | 22..=29 | 31..=36 | 39);
    let others: Vec<&u32> = found.iter().filter(|style| !readable(style)).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(found.iter().filter(|style| (31..=36).contains(*style)).count() >= 4, "{found:?}");
    let bytes = chat.bytes();
    assert!(String::from_utf8_lossy(&bytes).contains("\u{1b}]8;;https://example.org/"), "a link can be followed");
}
