//! A session, driven directly: a scripted model, a store on the disk, and a second process on the same root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use agent::approval::{Approval, Decision, Resolution, Scope};
use agent::{Event, Outcome, Report, Strength, ThreadId};
use futures_util::{FutureExt, TryStreamExt};
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::decide::DecisionOutcome;
use majordomo::staff::{Consent, Options};
use majordomo::store::Record;
use majordomo::{Run, Staff, Update, Work};
use tempfile::TempDir;
use testkit::scenes::{call, calls, never_answers, says, scene, whenever_asked};

/// Where the other process finds the folder and the root of the test that started it.
const FOLDER: &str = "MAJORDOMO_TEST_FOLDER";
const ROOT: &str = "MAJORDOMO_TEST_ROOT";

/// Agents whose model says what a script holds, with a store in the folder.
async fn staff(folder: &Path) -> Staff {
    let surroundings =
        Surroundings { cwd: folder.join("work"), home: Some(folder.join("home")), ..Surroundings::default() };
    let model = Some(format!("scripted/{}", folder.join("script.toml").display()));
    let flags = Flags { model, data: Some(folder.join("data").display().to_string()), ..Flags::default() };
    let config = Config::load(&surroundings, &flags).expect("a configuration");
    let options = Options { consent: Consent::Asked, ..Options::default() };
    Staff::open(&surroundings, config, options).await.expect("a staff")
}

fn folder(script: &[String]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("work")).expect("a workspace");
    std::fs::write(folder.path().join("script.toml"), script.concat()).expect("a script");
    folder
}

/// What a run tells, from its first event to its last.
#[derive(Default)]
struct Told {
    past: Vec<Record>,
    events: Vec<Record>,
    /// The streamed text that came before each answer.
    streamed: Vec<String>,
    text: String,
    report: Option<Report>,
}

impl Told {
    fn push(&mut self, update: Update) {
        match update {
            Update::Past(records) => self.past.extend(records),
            Update::Text(piece) => self.text.push_str(&piece.text),
            Update::Done(report) => self.report = Some(*report),
            Update::Events(records) => {
                for record in records {
                    if matches!(&*record.event, Event::Answered(_)) {
                        self.streamed.push(std::mem::take(&mut self.text));
                    }
                    self.events.push(record);
                }
            }
        }
    }
}

async fn to_its_end(mut run: Run) -> (Told, Report) {
    let mut told = Told::default();
    while let Some(update) = run.try_next().await.expect("the log can be read") {
        told.push(update);
    }
    let report = told.report.take().expect("a report");
    (told, report)
}

/// Follows a run until it asks for consent.
async fn question(run: &mut Run, told: &mut Told) -> Approval {
    loop {
        let update = run.try_next().await.expect("the log can be read").expect("it goes on");
        told.push(update);
        if let Some(question) = told.events.iter().find_map(asked) {
            return question;
        }
    }
}

fn asked(record: &Record) -> Option<Approval> {
    match &*record.event {
        Event::ApprovalRequested(question) => Some((**question).clone()),
        _ => None,
    }
}

fn once() -> Decision {
    Decision::Allow { scope: Scope::Once, input: None }
}

#[tokio::test]
async fn a_message_is_answered_with_streamed_text_and_the_next_one_too() {
    let folder = folder(&[scene("Count", &[says("one two three"), says("four five")])]);
    let staff = staff(folder.path()).await;
    let run = staff.stream(Work::new("Count")).await.expect("a run");
    let session = staff.session_of(run.root());
    let (first, report) = to_its_end(run).await;
    assert_eq!(&*report.text, "one two three");
    assert_eq!(first.streamed, ["one two three"]);
    assert!(first.past.is_empty());

    let (second, report) = to_its_end(session.stream("And on").await.expect("a message")).await;
    assert_eq!(&*report.text, "four five");
    assert_eq!(second.streamed, ["four five"]);
    let all: Vec<Record> = [second.past, second.events].concat();
    assert_eq!(all[..first.events.len()], first.events, "what was before the message is told as the past");
    assert_eq!(all, session.history().await.expect("a log"));
    assert_eq!(session.newest().await.expect("a number"), all.len() as u64);
    staff.close().await;
}

#[tokio::test]
async fn a_question_is_decided_and_a_thread_is_steered_and_stopped_by_the_session() {
    let write = call("write_file", r#"path = "a.txt", content = "x""#);
    let folder = folder(&[scene("Write", &[calls(&[write]), says("written")]), scene("Wait", &[never_answers()])]);
    let staff = staff(folder.path()).await;
    let mut run = staff.stream(Work::new("Write")).await.expect("a run");
    let (session, mut told) = (staff.session_of(run.root()), Told::default());
    let question = question(&mut run, &mut told).await;
    session.steer(session.id().expect("begun"), "Be brief").await.expect("it works, and reads it");
    let outcome = session.decide(&question, once()).await.expect("a decision");
    assert!(matches!(outcome, DecisionOutcome::Resolved(Resolution::Allowed { .. })), "{outcome:?}");
    let (rest, report) = to_its_end(run).await;
    assert_eq!(&*report.text, "written");
    assert!(folder.path().join("work/a.txt").exists());
    let steered = |record: &Record| matches!(&*record.event, Event::Steered { text, .. } if &**text == "Be brief");
    assert!(told.events.iter().chain(&rest.events).any(steered));
    assert!(session.steer(session.id().expect("begun"), "Too late").await.is_err(), "nothing runs that would read it");

    let run = staff.stream(Work::new("Wait")).await.expect("a run");
    let session = staff.session_of(run.root());
    session.stop(session.id().expect("begun"), Strength::Kill, "enough").await.expect("it is stopped");
    assert_eq!(run.report().await.expect("a report").outcome, Outcome::Cancelled);
    staff.close().await;
}

#[tokio::test]
async fn a_run_that_was_left_is_resumed_with_its_past_told_apart() {
    let folder = folder(&[scene("Go", &[whenever_asked(&never_answers())])]);
    let first = staff(folder.path()).await;
    let mut run = first.stream(Work::new("Go")).await.expect("a run");
    let Some(Update::Events(before)) = run.try_next().await.expect("the log can be read") else {
        panic!("events first")
    };
    let root = run.root().clone();
    first.close().await;
    assert!(run.report().await.is_err(), "it was left before its end");

    let second = staff(folder.path()).await;
    let session = second.session_of(&root);
    let mut run = session.resume().await.expect("it goes on");
    let mut told = Told::default();
    while told.events.is_empty() {
        told.push(run.try_next().await.expect("the log can be read").expect("it goes on"));
    }
    assert_eq!(told.past[..before.len()], before);
    assert!(matches!(&*told.events[0].event, Event::Reopened { .. }), "{:?}", told.events[0]);
    session.stop(&root, Strength::Kill, "enough").await.expect("it is stopped");
    second.close().await;
}

// A browser may be closed while its request waits for what comes of a decision.
#[tokio::test]
async fn consent_for_ever_is_kept_though_the_caller_gives_up_waiting() {
    let write = call("write_file", r#"path = "a.txt", content = "x""#);
    let folder = folder(&[scene("Write", &[calls(&[write]), says("written")])]);
    let staff = staff(folder.path()).await;
    let mut run = staff.stream(Work::new("Write")).await.expect("a run");
    let (session, mut told) = (staff.session_of(run.root()), Told::default());
    let question = question(&mut run, &mut told).await;
    let always = Decision::Allow { scope: Scope::Always, input: None };
    assert!(session.decide(&question, always).now_or_never().is_none(), "it waits, and is given up");
    let (_, report) = to_its_end(run).await;
    assert_eq!(&*report.text, "written");
    let kept = async {
        while staff.runtime().store().installation().await.expect("the store can be read").consents.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), kept).await.expect("the consent is kept");
    staff.close().await;
}

#[tokio::test]
async fn a_session_in_another_process_sees_the_same_and_decides() {
    let write = call("write_file", r#"path = "a.txt", content = "x""#);
    let folder = folder(&[scene("Write", &[calls(&[write]), says("written")])]);
    let staff = staff(folder.path()).await;
    let run = staff.stream(Work::new("Write")).await.expect("a run");
    let other = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "the_other_process", "--nocapture"])
        .env(FOLDER, folder.path())
        .env(ROOT, run.root().as_str())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let waited = tokio::task::spawn_blocking(move || other.wait_with_output());
    let (told, report) = to_its_end(run).await;
    let output = waited.await.expect("a thread").expect("a process");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(&*report.text, "written", "the other process has decided");
    let output = String::from_utf8(output.stdout).expect("text");
    let seen: Vec<&str> = output.lines().filter(|line| line.starts_with("saw ")).collect();
    let own: Vec<String> = told.events.iter().map(line).collect();
    assert_eq!(seen, own);
    staff.close().await;
}

/// The other process of the test above; nothing where no test started it.
#[tokio::test]
async fn the_other_process() {
    let (Some(folder), Ok(root)) = (std::env::var_os(FOLDER), std::env::var(ROOT)) else { return };
    let staff = staff(&PathBuf::from(folder)).await;
    let session = staff.session_of(&ThreadId::new(root));
    let (mut run, mut told) = (session.run_after(0).expect("a conversation"), Told::default());
    let question = question(&mut run, &mut told).await;
    let outcome = session.decide(&question, once()).await.expect("a decision");
    assert!(matches!(outcome, DecisionOutcome::Resolved(Resolution::Allowed { .. })), "{outcome:?}");
    let (rest, report) = to_its_end(run).await;
    assert_eq!(&*report.text, "written");
    println!();
    told.events.iter().chain(&rest.events).for_each(|record| println!("{}", line(record)));
    staff.close().await;
}

fn line(record: &Record) -> String {
    format!("saw {record:?}")
}
