//! A chat as lines, for screen readers, simple terminals and scripts.

use std::io::Write;
use std::process::Stdio;

use testkit::scenes::{call, calls, says, scene, spawn};

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
    let asked = until("type a number");
    assert!(asked.contains("1. allow once") && asked.contains("4. deny") && asked.contains("+ roses"), "{asked}");
    writeln!(keys, "1").expect("it reads");
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
