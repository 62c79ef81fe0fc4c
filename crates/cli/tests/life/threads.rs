//! Conversations as a whole: called, found, copied, written to files and read back, put away, deleted.

use agent::{Event, Mode, ThreadId};
use serde_json::Value;
use testkit::scenes::{calls, says, scene, spawn};
use testkit::world::{World, count};

use crate::world;

/// Two runs in one conversation, with a sub-agent each.
fn two_runs() -> (World, ThreadId) {
    let world = world(&[
        scene(
            "the whole",
            &[calls(&[spawn("left door")]), says("one is open"), calls(&[spawn("right door")]), says("both are open")],
        ),
        scene("left door", &[says("it is open")]),
        scene("right door", &[says("it is open too")]),
    ]);
    assert_eq!(world.run("the whole", &["-q"]).done().answer(0), "one is open");
    let root = world.root();
    assert_eq!(world.call(&["run", "--thread", root.as_str(), "and the other?", "-q"]).answer(0), "both are open");
    (world, root)
}

#[test]
fn sub_agents_are_listed_with_their_conversation_and_any_of_them_can_be_spoken_to() {
    // LACE-15, LACE-17, LACE-19: threads and nothing else; no active agent, no pause, no second life cycle
    let (world, root) = two_runs();
    let listed = world.call(&["thread", "ls", "--of", root.as_str(), "--json"]);
    let listed: Value = serde_json::from_str(listed.answer(0)).expect("JSON");
    let rows: Vec<(&str, &str, &str)> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (text(&row["id"]), text(&row["name"]), text(&row["goal"])))
        .collect();
    let (left, right) = (root.child(1), root.child(2));
    assert_eq!(
        rows,
        [
            (right.as_str(), "general", "right door"),
            (left.as_str(), "general", "left door"),
            (root.as_str(), "general", "the whole")
        ]
    );
    for id in [&root, &left, &right] {
        assert!(!world.call(&["thread", "show", id.as_str()]).answer(0).is_empty());
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn a_title_is_shown_and_found_and_what_was_put_away_is_left_out() {
    let (world, root) = two_runs();
    world.call(&["thread", "rename", root.as_str(), "The doors of the hall"]).answer(0);
    assert!(world.call(&["thread", "ls"]).answer(0).contains("The doors of the hall"));
    for words in ["doors hal", "other", "right"] {
        let found = world.call(&["thread", "ls", "--search", words]);
        assert!(found.answer(0).contains(root.as_str()), "{words}: {}", found.out);
    }
    assert_eq!(world.call(&["thread", "ls", "--search", "window"]).answer(0), "");
    world.call(&["thread", "archive", root.as_str()]).answer(0);
    assert_eq!(world.call(&["thread", "ls"]).answer(0), "");
    assert!(world.call(&["thread", "ls", "--archived"]).answer(0).contains(root.as_str()));
    world.call(&["thread", "archive", "--undo", root.as_str()]).answer(0);
    world.call(&["thread", "rename", root.as_str(), ""]).answer(0);
    assert!(world.call(&["thread", "ls"]).answer(0).contains("the whole"));
    world.assert_at_rest(&root);
}

#[test]
fn a_fork_is_the_conversation_up_to_an_answer_and_goes_its_own_way() {
    let (world, root) = two_runs();
    let shown = world.call(&["thread", "show", root.as_str()]).answer(0).to_owned();
    assert!(shown.starts_with("[1] you: the whole") && shown.contains("[3] you: and the other?"), "{shown}");
    let fork = ThreadId::new(world.call(&["thread", "fork", root.as_str(), "--at", "2"]).answer(0));
    assert_ne!(fork, root);
    let copied = world.call(&["thread", "show", fork.as_str()]).answer(0).to_owned();
    let original = shown.split("[3] you").next().expect("the first run").trim_end();
    assert_eq!(copied.trim_end().replace(fork.as_str(), root.as_str()), original);
    assert_eq!(world.row(&fork.child(1)).runs, 1, "its sub-agents are its own");
    // Equal to replaying to there: the model is asked for its second reply.
    assert_eq!(world.call(&["run", "--thread", fork.as_str(), "and now?", "-q"]).answer(0), "both are open");
    let log = world.log();
    assert_eq!((count(&log, &root, "run_started"), count(&log, &fork, "run_started")), (2, 2));
    for id in [&root, &fork] {
        world.assert_at_rest(id);
    }
    let wrong = [("3", "message 3 is a question without its answer"), ("9", "there is no message 9")];
    for (at, why) in wrong {
        let refused = world.call(&["thread", "fork", root.as_str(), "--at", at]);
        assert_eq!(refused.answer(2), "");
        assert!(refused.err.contains(why), "{}", refused.err);
    }
}

#[test]
fn a_copy_has_names_of_its_own_and_the_words_of_the_other() {
    let (world, root) = two_runs();
    let words = format!("compare {root} with {root}.1, {root}.10 and x{root}y");
    world.rewrite(&[
        scene(
            "the whole",
            &[calls(&[spawn("left door")]), says("1"), calls(&[spawn("right door")]), says("2"), says("same")],
        ),
        scene("left door", &[says("it is open"), says("it is still open")]),
    ]);
    assert_eq!(world.call(&["run", "--thread", root.as_str(), &words, "-q"]).answer(0), "same");
    let fork = ThreadId::new(world.call(&["thread", "fork", root.as_str()]).answer(0));
    let prompts = |thread: &ThreadId| -> Vec<String> {
        let prompt = |record: store::Record| match &*record.event {
            Event::RunStarted { prompt, .. } if record.thread == *thread => Some(prompt.to_string()),
            _ => None,
        };
        world.log().into_iter().filter_map(prompt).collect()
    };
    assert_eq!(prompts(&fork), prompts(&root), "what was said stays as it was said");
    let named = |thread: &ThreadId| -> Vec<(ThreadId, Vec<ThreadId>)> {
        let created = |record: store::Record| match &*record.event {
            Event::ThreadCreated(created) if record.thread.root() == *thread => {
                Some((created.id.clone(), created.copied_from.clone()))
            }
            _ => None,
        };
        world.log().into_iter().filter_map(created).collect()
    };
    let copies = [&root, &root.child(1), &root.child(2)].map(|from| vec![from.clone()]);
    let ids = [fork.clone(), fork.child(1), fork.child(2)];
    assert_eq!(named(&fork), ids.into_iter().zip(copies).collect::<Vec<_>>());
    for record in world.log().iter().filter(|record| record.thread.root() == fork) {
        if let Event::ChildSpawned(spawned) = &*record.event {
            assert_eq!(spawned.child.root(), fork);
        }
    }
    world.assert_at_rest(&fork);
}

#[test]
fn a_copy_of_a_sub_agent_is_its_conversation_and_not_that_of_its_root() {
    let (world, root) = two_runs();
    let child = root.child(1);
    let shown = world.call(&["thread", "show", child.as_str()]).answer(0).to_owned();
    assert!(shown.starts_with("[1] brief: left door"), "{shown}");
    let fork = ThreadId::new(world.call(&["thread", "fork", child.as_str(), "--at", "2"]).answer(0));
    assert!(fork.is_root() && fork != root, "{fork}");
    assert_eq!(world.call(&["thread", "show", fork.as_str()]).answer(0), shown);
    world.rewrite(&[scene("left door", &[says("it is open"), says("it is still open")])]);
    // It goes on by itself, and the thread that it was copied from does not.
    let went_on = world.call(&["run", "--thread", fork.as_str(), "and now?", "-q"]);
    assert_eq!(went_on.answer(0), "it is still open");
    let log = world.log();
    assert_eq!((count(&log, &fork, "reported"), count(&log, &child, "reported")), (2, 1));
    assert_eq!(world.row(&fork).parent, None);
    for id in [&root, &fork] {
        world.assert_at_rest(id);
    }
    let wrong = world.call(&["thread", "fork", child.as_str(), "--at", "4"]);
    assert_eq!(wrong.answer(2), "");
    assert!(wrong.err.contains(&format!("there is no message 4; thread {child} has 2")), "{}", wrong.err);
}

// T56: the words of an imported conversation are untrusted text
#[test]
fn an_imported_conversation_counts_as_having_read_untrusted_text() {
    let (world, root) = two_runs();
    let file = world.path("doors.jsonl").display().to_string();
    world.call(&["thread", "export", root.as_str(), "--format", "jsonl", "-o", &file]).answer(0);
    world.call(&["thread", "rm", root.as_str()]).answer(0);
    world.call(&["thread", "import", &file]).answer(0);
    let foreign = |world: &World| -> (Vec<bool>, Vec<bool>) {
        let (mut created, mut reported) = (Vec::new(), Vec::new());
        for record in world.log() {
            match &*record.event {
                Event::ThreadCreated(one) => created.push(one.foreign),
                Event::Reported(report) if record.thread.is_root() => reported.push(report.foreign),
                _ => {}
            }
        }
        (created, reported)
    };
    assert_eq!(foreign(&world), (vec![true; 3], vec![false; 2]), "what was said stays as it was said");
    world.rewrite(&[scene("the whole", &[says("0"), says("1"), says("2"), says("3"), says("third")])]);
    assert_eq!(world.call(&["run", "--thread", root.as_str(), "and now?", "-q"]).answer(0), "third");
    assert_eq!(foreign(&world).1, [false, false, true], "its next answer is marked");
    world.assert_at_rest(&root);
}

#[test]
fn what_is_exported_is_imported_as_the_same_conversation_and_nothing_that_was_allowed_holds() {
    // T56
    let (world, root) = two_runs();
    world.call(&["thread", "rename", root.as_str(), "The doors"]).answer(0);
    let file = world.path("doors.jsonl").display().to_string();
    world.call(&["thread", "export", root.as_str(), "--format", "jsonl", "-o", &file]).answer(0);
    let markdown = world.call(&["thread", "export", root.as_str()]).answer(0).to_owned();
    assert!(markdown.starts_with("# general") && markdown.contains("**You:** and the other?"), "{markdown}");
    assert!(markdown.contains("right door") && markdown.contains("it is open too"), "the whole family: {markdown}");
    let refused = world.call(&["thread", "import", &file]);
    assert_eq!(refused.answer(2), "");
    assert!(refused.err.contains("exists already"), "{}", refused.err);
    let shown = world.call(&["thread", "show", root.as_str()]).answer(0).to_owned();

    let sub = world.call(&["thread", "rm", root.child(1).as_str()]);
    assert_eq!(sub.answer(2), "");
    world.call(&["thread", "rm", root.as_str()]).answer(0);
    assert_eq!(world.log().len(), 0, "nothing is left of it");
    assert_eq!(world.call(&["thread", "import", &file]).answer(0), root.as_str());
    assert_eq!(world.call(&["thread", "show", root.as_str()]).answer(0), shown);
    assert_eq!(world.row(&root).title.as_deref(), Some("The doors"));
    assert_eq!(world.row(&root).mode, Mode::Ask, "it was dangerous");
    world.assert_at_rest(&root);
}

/// A red and a green pixel.
const PICTURE: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\x02\0\0\0\x7b\x40\xe8\xdd\0\0\0\x0fIDAT\x78\x9c\x63\
    \xf8\xcf\xc0\xc0\xf0\x9f\x01\0\x07\xff\x01\xff\x01\x7f\x89\xa7\0\0\0\0IEND\xaeB\x60\x82";

#[test]
fn an_export_brings_images_along_and_an_import_gives_them_back() {
    let world = world(&[scene("look", &[says("two dots")])]);
    let picture = world.path("dots.png").display().to_string();
    std::fs::write(&picture, PICTURE).expect("a file");
    assert_eq!(world.run("look", &["-q", "-f", &picture]).done().answer(0), "two dots");
    let root = world.root();
    let artefacts = world.database().parent().expect("a folder").join("artefacts");
    let kept = || -> Vec<(String, Vec<u8>)> {
        let files = std::fs::read_dir(&artefacts).into_iter().flatten().map(|file| file.expect("a file"));
        let read = |file: std::fs::DirEntry| std::fs::read(file.path()).expect("bytes");
        files.map(|file| (file.file_name().to_string_lossy().into_owned(), read(file))).collect()
    };
    let before = kept();
    let [(digest, _)] = &before[..] else { panic!("one file is kept: {before:?}") };
    let file = world.path("look.jsonl");
    let name = file.display().to_string();
    world.call(&["thread", "export", root.as_str(), "--format", "jsonl", "-o", &name]).answer(0);
    let good = std::fs::read_to_string(&file).expect("a file");
    assert!(good.starts_with("{\"majordomo_thread\":2,"), "{good}");
    let line = good.lines().last().expect("a line").to_owned();
    assert!(line.starts_with(&format!("{{\"file\":\"{digest}\",\"data\":\"")), "{line}");
    world.call(&["thread", "rm", root.as_str()]).answer(0);
    std::fs::remove_dir_all(&artefacts).expect("they are gone");

    // What is wrong is told by its line, and nothing is written.
    let number = good.lines().count();
    let another = line.replace("\"data\":\"iVBOR", "\"data\":\"iVBOS");
    let unknown = line.replace(digest.as_str(), &"0".repeat(64));
    let wrong = [
        (good.replace(&line, &another), format!("line {number}: the bytes of file {digest} are not those")),
        (good.replace(&line, &unknown), format!("line {number}: the bytes of file 0000")),
        (good.replace("\"data\":\"i", "\"data\":\"?"), format!("line {number}: the bytes of a file are no base64")),
        (format!("{good}{line}\n"), format!("line {}: file {digest} is there twice", number + 1)),
        (
            good.replace(&format!("\"digest\":\"{digest}\""), "\"digest\":\"00\""),
            format!("line {number}: no event names"),
        ),
    ];
    for (text, why) in wrong {
        std::fs::write(&file, text).expect("a file");
        let refused = world.call(&["thread", "import", &name]);
        assert_eq!(refused.answer(2), "");
        assert!(refused.err.contains(&why), "{why}: {}", refused.err);
        assert_eq!((world.log().len(), kept().len()), (0, 0));
    }
    // Without its bytes it is taken in, and that is said. So it is when it is exported again.
    std::fs::write(&file, good.replace(&line, "")).expect("a file");
    let bare = world.call(&["thread", "import", &name]);
    assert_eq!(bare.answer(0), root.as_str());
    assert!(bare.err.contains("dots.png is named in it and not there"), "{}", bare.err);
    let again = world.call(&["thread", "export", root.as_str(), "--format", "jsonl"]);
    assert!(again.answer(0).starts_with("{\"majordomo_thread\":1,"));
    assert!(again.err.contains("dots.png is written by name only"), "{}", again.err);
    world.call(&["thread", "rm", root.as_str()]).answer(0);

    std::fs::write(&file, &good).expect("a file");
    let whole = world.call(&["thread", "import", &name]);
    assert_eq!(whole.answer(0), root.as_str());
    assert!(!whole.err.contains("dots.png"), "{}", whole.err);
    assert_eq!(kept(), before);
    world.assert_at_rest(&root);
    let again = world.call(&["thread", "export", root.as_str(), "--format", "jsonl"]);
    assert_eq!(again.answer(0).lines().last(), Some(line.as_str()));
}

#[test]
fn a_file_that_is_no_conversation_is_refused_by_its_line_and_nothing_is_imported() {
    let (world, root) = two_runs();
    let file = world.path("doors.jsonl");
    let name = file.display().to_string();
    world.call(&["thread", "export", root.as_str(), "--format", "jsonl", "-o", &name]).answer(0);
    let good = std::fs::read_to_string(&file).expect("a file");
    world.call(&["thread", "rm", root.as_str()]).answer(0);
    let lines: Vec<&str> = good.lines().collect();
    let without = |at: usize| lines.iter().enumerate().filter(|(line, _)| *line != at).map(|(_, line)| *line).collect();
    let with = |at: usize, line: &'static str| -> Vec<&str> {
        lines.iter().enumerate().map(|(number, own)| if number == at { line } else { *own }).collect()
    };
    let broken: [(Vec<&str>, &str); 5] = [
        (Vec::new(), "line 1: the file is empty"),
        (with(0, "{}"), "line 1: this is no exported thread"),
        (without(1), "does not begin with its creation"),
        (with(4, "no JSON"), "line 5: expected"),
        (with(4, r#"{"thread":"20260115-evil","at":1,"event":{"reopened":{"away_ms":0}}}"#), "is no thread of"),
    ];
    for (lines, why) in broken {
        std::fs::write(&file, lines.join("\n")).expect("a file");
        let refused = world.call(&["thread", "import", &name]);
        assert_eq!(refused.answer(2), "");
        assert!(refused.err.contains(why) && !refused.err.contains("panicked"), "{why}: {}", refused.err);
        assert_eq!(world.log().len(), 0);
    }
    // A run that is not over is left out: it would go on with calls that no rule of this computer has judged.
    let cut = lines.iter().position(|line| line.contains("\"reported\"")).expect("a report");
    std::fs::write(&file, lines[..cut].join("\n")).expect("a file");
    let refused = world.call(&["thread", "import", &name]);
    assert_eq!(refused.answer(1), "");
    assert!(refused.err.contains("no run of thread"), "{}", refused.err);
    // A message that lies there unread would begin a run.
    let arrived =
        r#"{"thread":"ROOT","at":1,"event":{"input_arrived":{"id":"x","input":{"user_said":{"text":"rm"}}}}}"#;
    let arrived = arrived.replace("ROOT", root.as_str());
    let mut lines: Vec<&str> = lines.clone();
    lines.insert(2, &arrived);
    std::fs::write(&file, lines.join("\n")).expect("a file");
    let refused = world.call(&["thread", "import", &name]);
    assert_eq!(refused.answer(2), "");
    assert!(refused.err.contains("is not at rest"), "{}", refused.err);
    assert!(!world.log().iter().any(|record| matches!(*record.event, Event::ThreadCreated(_))));
}
