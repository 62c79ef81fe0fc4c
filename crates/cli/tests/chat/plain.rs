//! A chat as lines, for screen readers, simple terminals and scripts.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use testkit::scenes::{call, calls, command, says, scene, spawn};
use testkit::world::World;

use crate::room::world;

#[test]
fn a_plain_chat_is_lines_below_one_another_with_numbered_choices() {
    let world = world(&[
        scene(
            "the poem",
            &[calls(&[call("write_file", "path = \"poem.txt\", content = \"roses\"")]), says("It is **written**.")],
        ),
        scene("parts", &[calls(&[spawn("left part")]), says("All is done.")]),
        scene("left part", &[says("left is done")]),
    ]);
    let model = format!("scripted/{}", world.script().display());
    let mut command = world.command(&["chat", "--plain", "--model", &model]);
    let mut chat =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut keys = chat.stdin.take().expect("its stdin");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(chat.stdout.take().expect("its stdout")));
    let mut until = |words: &str| {
        let mut read = Vec::new();
        for line in lines.by_ref() {
            let line = line.expect("text");
            assert!(!line.contains('\u{1b}'), "no sequences: {line:?}");
            read.push(line.clone());
            if line.contains(words) {
                return read.join("\n");
            }
        }
        panic!("waited in vain for {words}: {read:?}");
    };
    until("majordomo");
    writeln!(keys, "Write the poem").expect("it reads");
    let asked = until("type the number of a choice");
    assert!(asked.contains("1.1 allow once") && asked.contains("1.4 deny") && asked.contains("+ roses"), "{asked}");
    writeln!(keys, "1.1").expect("it reads");
    until("It is written.");
    writeln!(keys, "/new").expect("it reads");
    until("new conversation");
    writeln!(keys, "Do the parts").expect("it reads");
    until("All is done.");
    writeln!(keys, "/look").expect("it reads");
    until("1. general");
    writeln!(keys, "/look 1").expect("it reads");
    until("left is done");
    writeln!(keys, "/back").expect("it reads");
    drop(keys);
    let end = chat.wait_with_output().expect("it ends");
    assert_eq!(end.status.code(), Some(0), "{}", String::from_utf8_lossy(&end.stderr));
    assert_eq!(world.lines("poem.txt"), ["roses"]);
}

/// A chat that is read and written line by line.
struct Plain {
    chat: Child,
    keys: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Plain {
    fn start(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command(&[&["chat", "--plain"], arguments].concat());
        let mut chat =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let keys = chat.stdin.take();
        let lines = BufReader::new(chat.stdout.take().expect("its stdout")).lines();
        Self { chat, keys, lines }
    }

    fn type_in(&mut self, text: &str) {
        self.keys.as_mut().expect("it is open").write_all(text.as_bytes()).expect("it reads");
    }

    /// The lines as far as one with these words.
    #[track_caller]
    fn until(&mut self, words: &str) -> String {
        let mut read = Vec::new();
        for line in self.lines.by_ref() {
            read.push(line.expect("text"));
            if read.last().is_some_and(|line| line.contains(words)) {
                return read.join("\n");
            }
        }
        panic!("waited in vain for {words}: {read:?}");
    }

    /// No more lines are written: the rest of what it says, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        drop(self.keys.take());
        let rest: Vec<String> = self.lines.by_ref().map(|line| line.expect("text")).collect();
        (rest.join("\n"), self.chat.wait().expect("it ends").code())
    }
}

/// All that the log holds, as text.
fn log(world: &World) -> String {
    let events: Vec<String> =
        world.log().iter().map(|record| serde_json::to_string(&*record.event).expect("JSON")).collect();
    events.join("\n")
}

#[test]
fn lines_that_are_written_all_at_once_are_all_read() {
    let replies = ["One.", "Two.", "Three."].map(says);
    let world = world(&[scene("first", &replies)]);
    let model = format!("scripted/{}", world.script().display());
    let mut chat = Plain::start(&world, &["--model", &model]);
    chat.type_in("first message\nsecond message \\\ngoes on\nthird message");
    let (said, code) = chat.end();
    assert_eq!(code, Some(0), "{said}");
    let log = log(&world);
    for text in ["first message", "second message \\ngoes on", "third message"] {
        assert!(log.contains(text), "{text}: {log}");
    }
    let reports = world.log().iter().filter(|record| matches!(&*record.event, agent::Event::Reported(_))).count();
    let ended = world.rows().iter().all(|row| !row.state.is_live());
    assert!(reports >= 1 && ended, "what was asked is answered before it ends: {log}");
}

// T22
#[test]
fn an_answer_that_was_written_before_the_question_answers_nothing() {
    let world = world(&[scene("the poem", &[calls(&[command("touch made")]), says("Done.")])]);
    let model = format!("scripted/{}", world.script().display());
    let mut chat = Plain::start(&world, &["--model", &model, "--mode", "ask"]);
    chat.type_in("Write the poem\n1.1\n");
    chat.until("type the number of a choice");
    assert!(!world.path("made").exists());
    chat.type_in("1.4 not this one\n");
    chat.until("Done.");
    let (_, code) = chat.end();
    assert_eq!(code, Some(0));
    assert!(!world.path("made").exists());
    assert!(log(&world).contains("not this one"));
}

#[test]
fn a_call_is_allowed_with_other_input_and_the_conversation_is_gone_on_with() {
    let world =
        world(&[scene("the poem", &[calls(&[command("touch wrong")]), says("Done."), says("I am still here.")])]);
    let model = format!("scripted/{}", world.script().display());
    let mut chat = Plain::start(&world, &["--model", &model, "--mode", "ask"]);
    chat.type_in("Write the poem\n");
    chat.until("type the number of a choice");
    chat.type_in("1.5\n");
    chat.until("type the complete input behind it");
    chat.type_in("1.5 {\"command\": \"touch right\"}\n");
    chat.until("Done.");
    assert_eq!(chat.end().1, Some(0));
    assert!(world.path("right").exists() && !world.path("wrong").exists());

    let mut chat = Plain::start(&world, &["-c"]);
    chat.type_in("Are you there?\n");
    let (said, code) = chat.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("Done.") && said.contains("I am still here."), "{said}");
}

#[test]
fn a_question_that_waited_while_no_chat_was_open_is_printed_with_its_number() {
    let world = world(&[scene("the poem", &[calls(&[command("touch made")]), says("Done.")])]);
    let model = format!("scripted/{}", world.script().display());
    let mut chat = Plain::start(&world, &["--model", &model, "--mode", "ask"]);
    chat.type_in("Write the poem\n");
    chat.until("type the number of a choice");
    chat.type_in("/quit\n");
    assert_eq!(chat.end().1, Some(0));
    let mut chat = Plain::start(&world, &["-c"]);
    chat.until("1.1 allow once");
    chat.until("type the number of a choice");
    chat.type_in("/continue\n1.1\n");
    chat.until("Done.");
    assert_eq!(chat.end().1, Some(0));
    assert!(world.path("made").exists());
}
