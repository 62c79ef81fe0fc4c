//! The talk about one question, at a terminal of its own.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use agent::tools::Risk;
use agent::{CallId, Time};
use futures_util::TryStreamExt;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{Kept, Staff};
use majordomo::{Run, Update, Work};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::*;

/// A terminal, and a person at it.
struct Pair {
    person: AtTerminal,
    keys: File,
    /// A terminal that nobody has open forgets what was typed.
    _held: File,
}

impl Pair {
    fn new() -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it can be opened");
        let name = ptsname(&ours, Vec::new()).expect("a name").into_string().expect("a name of letters");
        let held = File::options().read(true).write(true).open(&name).expect("a terminal");
        Self { person: AtTerminal::at(name), keys: File::from(ours), _held: held }
    }

    fn play(&self, lines: &[(&'static str, &'static str)]) -> std::thread::JoinHandle<String> {
        play(&self.keys, lines)
    }
}

/// Plays a part: waits for each prompt and types the line that belongs to it. Everything that was shown.
fn play(keys: &File, lines: &[(&'static str, &'static str)]) -> std::thread::JoinHandle<String> {
    let (mut keys, lines) = (keys.try_clone().expect("a handle"), lines.to_vec());
    std::thread::spawn(move || {
        let mut screen = String::new();
        let mut seen = 0;
        for (prompt, line) in lines {
            seen += loop {
                if let Some(at) = screen[seen..].find(prompt) {
                    break at + prompt.len();
                }
                let mut bytes = [0; 4096];
                let count = keys.read(&mut bytes).expect("the terminal can be read");
                screen.push_str(&String::from_utf8_lossy(&bytes[..count]));
            };
            keys.write_all(line.as_bytes()).expect("a key can be pressed");
        }
        screen
    })
}

fn question(standing: Option<&str>) -> Approval {
    Approval {
        id: ApprovalId::new("20260115-k3f9/1"),
        call: CallId::new("c"),
        tool: "write_file".into(),
        input: Json::parse(r#"{"path":"a.txt"}"#).unwrap(),
        digest: "d".into(),
        path: vec!["general".into()],
        workspace: "/home/ana/desk".into(),
        why: "mode ask: writing needs approval".into(),
        effect: "writes a.txt".into(),
        risk: Risk::Medium,
        protected: Vec::new(),
        foreign: false,
        standing: standing.map(Arc::from),
        question: None,
        sampling: None,
        places: 0,
        expires_at: Time(i64::MAX),
    }
}

async fn said(question: &Approval, lines: &[(&'static str, &'static str)]) -> (Said, String) {
    let pair = Pair::new();
    let prompt = pair.person.take(Withdrawal::default()).await;
    let player = pair.play(lines);
    let said = consult(&prompt, question, 0).await;
    (said, player.join().expect("the part was played"))
}

#[tokio::test]
async fn a_letter_decides_and_an_empty_line_does_not() {
    let (decision, screen) = said(&question(Some("a.txt")), &[("> ", "\n"), ("> ", "perhaps\n"), ("> ", "y\n")]).await;
    assert_eq!(decision, Said::Decided(allow(Scope::Once, None)));
    assert!(screen.contains("20260115-k3f9/1 needs your approval"), "{screen}");
    assert!(screen.contains("t allow in this thread"), "{screen}");
    let (decision, _) = said(&question(Some("a.txt")), &[("> ", "t\n")]).await;
    assert_eq!(decision, Said::Decided(allow(Scope::Thread, None)));
}

#[tokio::test]
async fn a_refusal_may_say_why() {
    for (typed, reason) in [("\n", None), ("not on a Friday\n", Some("not on a Friday".into()))] {
        let (decision, _) = said(&question(None), &[("> ", "n\n"), ("reason for the agent", typed)]).await;
        assert_eq!(decision, Said::Decided(Decision::Deny { reason }));
    }
}

// T26
#[tokio::test]
async fn consent_for_ever_shows_its_pattern_and_is_confirmed() {
    let lines = [("> ", "a\n"), ("allow write_file 'a.txt'", "\n"), ("> ", "a\n"), ("allow this from now on?", "y\n")];
    let (decision, _) = said(&question(Some("a.txt")), &lines).await;
    assert_eq!(decision, Said::Decided(allow(Scope::Always, None)));
}

#[tokio::test]
async fn consent_beyond_the_call_is_not_given_where_no_pattern_is_shown() {
    let lines = [("> ", "t\n"), ("can only be allowed once", "a\n"), ("can only be allowed once", "y\n")];
    let (decision, screen) = said(&question(None), &lines).await;
    assert_eq!(decision, Said::Decided(allow(Scope::Once, None)));
    assert!(!screen.contains("t allow in this thread"), "{screen}");
}

#[tokio::test]
async fn other_arguments_are_shown_again_before_they_count() {
    let lines = [
        ("> ", "e\n"),
        ("one line of JSON", "{\"path\"\n"),
        ("is not valid JSON", "e\n"),
        ("one line of JSON", "{\"path\": \"b.txt\"}\n"),
        ("with this input? [y/N]", "y\n"),
    ];
    let (decision, _) = said(&question(None), &lines).await;
    let edited = Json::parse(r#"{"path": "b.txt"}"#).unwrap();
    assert_eq!(decision, Said::Decided(allow(Scope::Once, Some(edited))));
}

#[tokio::test]
async fn a_question_that_is_answered_elsewhere_is_given_up() {
    let pair = Pair::new();
    let over = Withdrawal::default();
    let prompt = pair.person.take(over.clone()).await;
    assert!(pair.person.is_asked());
    let player = pair.play(&[("> ", "")]);
    let question = question(None);
    let (said, ()) = tokio::join!(consult(&prompt, &question, 2), async {
        let screen = tokio::task::spawn_blocking(|| player.join().expect("it was shown")).await.expect("a screen");
        assert!(screen.contains("(2 more waiting)"), "{screen}");
        over.end("denied");
    });
    assert_eq!(said, Said::Withdrawn);
    drop(prompt);
    assert!(!pair.person.is_asked());
}

// T22
#[tokio::test]
async fn what_was_typed_before_a_question_stood_there_answers_nothing() {
    let mut pair = Pair::new();
    pair.keys.write_all(b"y\n").expect("a key can be pressed");
    let mut echo = Vec::new();
    while !echo.ends_with(b"\n") {
        let mut byte = [0; 1];
        pair.keys.read_exact(&mut byte).expect("what is typed is shown");
        echo.extend(byte);
    }
    let prompt = pair.person.take(Withdrawal::default()).await;
    let player = pair.play(&[("> ", "n\n"), ("reason for the agent", "\n")]);
    let said = consult(&prompt, &question(None), 0).await;
    assert_eq!(said, Said::Decided(Decision::Deny { reason: None }));
    player.join().expect("the part was played");
}

// T22: two questions at once are asked one after the other.
#[tokio::test]
async fn the_terminal_belongs_to_one_question_at_a_time() {
    let pair = Pair::new();
    let prompt = pair.person.take(Withdrawal::default()).await;
    let mut other = std::pin::pin!(pair.person.take(Withdrawal::default()));
    assert!(futures_util::poll!(&mut other).is_pending());
    let player = pair.play(&[("> ", "y\n"), ("Which colour?", "green\n")]);
    assert_eq!(consult(&prompt, &question(None), 0).await, Said::Decided(allow(Scope::Once, None)));
    drop(prompt);
    assert_eq!(other.await.ask("Which colour? > ".to_owned()).await, Reply::Line("green\n".to_owned()));
    let screen = player.join().expect("the part was played");
    assert!(!screen[..screen.find("> ").expect("a prompt")].contains("colour"), "{screen}");
}

// T25: what an agent asks is shown as it is, and the number of a choice stands for that choice.
#[tokio::test]
async fn what_an_agent_wants_to_know_is_answered_in_line() {
    let asks =
        Question { text: "Which \u{1b}[31mcolour?".into(), choices: vec!["red".into(), "green".into()], midway: None };
    let question = Approval { question: Some(asks.clone()), ..question(None) };
    for (typed, decision) in [
        ("2\n", Decision::Answer { text: "green".into() }),
        ("blue\n", Decision::Answer { text: "blue".into() }),
        ("\n", Decision::Deny { reason: None }),
    ] {
        let pair = Pair::new();
        let prompt = pair.person.take(Withdrawal::default()).await;
        let player = pair.play(&[("2. green", ""), ("> ", typed)]);
        assert_eq!(answer(&prompt, &question, &asks, 1).await, Said::Decided(decision));
        let screen = player.join().expect("the part was played");
        assert!(screen.contains("(1 more waiting)") && !screen.contains('\u{1b}'), "{screen}");
    }
}

// Without a terminal the question waits for another interface.
#[tokio::test]
async fn without_a_terminal_nothing_is_decided() {
    let person = AtTerminal::at("/nowhere/at/all");
    let prompt = person.take(Withdrawal::default()).await;
    assert_eq!(consult(&prompt, &question(None), 0).await, Said::Nothing);
}

/// A run in memory that wants to write two files, each with consent.
async fn two_writes(folder: &Path) -> (Staff, Run) {
    let script = folder.join("script.toml");
    let write = |path: &str| format!("{{ name = \"write_file\", input = {{ path = \"{path}\", content = \"x\" }} }}");
    let calls = [write("a.txt"), write("b.txt")].join(", ");
    std::fs::write(
        &script,
        format!("[[script]]\n[[script.reply]]\ncalls = [{calls}]\n[[script.reply]]\ntext = \"done\"\n"),
    )
    .expect("a script");
    let home = Some(folder.join("home"));
    let surroundings = Surroundings { cwd: folder.to_owned(), home, ..Surroundings::default() };
    let flags = Flags { model: Some(format!("scripted/{}", script.display())), ..Flags::default() };
    let config = Config::load(&surroundings, &flags).expect("a configuration");
    let options = Options { store: Kept::InMemory, consent: Consent::Asked, ..Options::default() };
    let staff = Staff::open(&surroundings, config, options).await.expect("a staff");
    let run = staff.stream(Work::new("go")).await.expect("a run");
    (staff, run)
}

/// Asks as `majordomo run` does, until the run is over.
async fn follow(staff: &Staff, mut run: Run, person: AtTerminal) -> agent::Report {
    let mut asker = Asker::new(Arc::new(person), staff.clone());
    loop {
        match run.try_next().await.expect("the log can be read").expect("a report comes last") {
            Update::Events(records) => asker.push(&records),
            Update::Done(report) => return *report,
            Update::Past(_) | Update::Text(_) => {}
        }
    }
}

// T22
#[tokio::test]
async fn a_runs_questions_are_asked_in_their_order_and_each_answer_is_for_the_one_that_stood_there() {
    let folder = tempfile::tempdir().expect("a passing folder");
    let (staff, run) = two_writes(folder.path()).await;
    let Pair { person, keys, _held } = Pair::new();
    let player = play(
        &keys,
        &[("/1 needs", ""), ("> ", "y\n"), ("/2 needs", ""), ("> ", "n\n"), ("reason for the agent", "\n")],
    );
    let report = follow(&staff, run, person).await;
    assert_eq!(&*report.text, "done");
    player.join().expect("the part was played");
    assert!(folder.path().join("a.txt").exists());
    assert!(!folder.path().join("b.txt").exists());
}

// T21, T22
#[tokio::test]
async fn a_question_that_is_answered_elsewhere_is_taken_back_from_the_screen() {
    let folder = tempfile::tempdir().expect("a passing folder");
    let (staff, run) = two_writes(folder.path()).await;
    let (store, thread) = (staff.runtime().store().clone(), run.root().clone());
    let Pair { person, keys, _held } = Pair::new();
    let elsewhere = async {
        wait(play(&keys, &[("/1 needs", ""), ("> ", "")])).await;
        let first = store.approval(&ApprovalId::of(&thread, 1)).await.expect("a row").expect("a question");
        let denied = Decision::Deny { reason: None };
        staff.session_of(&thread).decide(&first.question, denied).await.expect("a decision");
        let rest = [("/1 needs no answer here any more: denied", ""), ("/2 needs", ""), ("> ", "y\n")];
        wait(play(&keys, &rest)).await;
    };
    let (report, ()) = tokio::join!(follow(&staff, run, person), elsewhere);
    assert_eq!(&*report.text, "done");
    assert!(!folder.path().join("a.txt").exists());
    assert!(folder.path().join("b.txt").exists());
}

async fn wait(player: std::thread::JoinHandle<String>) {
    let played = tokio::task::spawn_blocking(move || player.join().expect("the part was played"));
    played.await.expect("the part was played");
}
