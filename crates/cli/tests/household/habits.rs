//! Habits, learnt by the real program from what a person decides: proposed with evidence, agreed to, heeded, forgotten.

use agent::approval::{Decision, Scope};
use agent::{Event, Outside, ThreadId};
use majordomo::Work;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{Consent, Kept, Options, Staff};
use serde_json::Value;
use store::ApprovalQuery;
use testkit::scenes::{call, calls, says, scene};
use testkit::world::World;

use crate::{ask, delegate, world};

const URGENT: &str = "What urgent emails do I have?";
const LEARNT: &str = "What have you learnt about me?";
/// A sender of three mails, one of them urgent.
const SENDER: &str = "triage.sender.verwaltung@lindner-immobilien.example";

/// Asks for something that needs consent, and gives it from another process.
fn with_consent(world: &World, words: &str) -> String {
    let running = world.start(&["run", "--demo", words, "--approvals", "wait"]);
    let is_asked = |event: &Event| matches!(event, Event::ApprovalRequested(_));
    let log = world.until_logged("a question", |log| {
        let last = log.iter().rposition(|record| matches!(*record.event, Event::RunStarted { .. })).unwrap_or(0);
        log[last..].iter().any(|record| is_asked(&record.event))
    });
    let question = log.iter().rev().find_map(|record| match &*record.event {
        Event::ApprovalRequested(question) => Some(question.id.clone()),
        _ => None,
    });
    world.call(&["approve", "yes", question.expect("it was asked").as_str()]).answer(0);
    running.done().answer(0).to_owned()
}

/// How many decisions were read off the log.
fn decisions(world: &World) -> u32 {
    let files = world.state_files();
    let file = files.iter().find(|path| path.contains("/demo/") && path.ends_with(".db")).expect("an index");
    let index = rusqlite::Connection::open(file).expect("an index");
    let count = "SELECT count(*) FROM pref_decision WHERE line LIKE 'log %' OR line LIKE 'consent %'";
    index.query_row(count, [], |row| row.get(0)).expect("a book")
}

#[test]
fn what_is_said_about_a_senders_mail_becomes_a_habit_once_it_is_agreed_to() {
    let world = world(&[]);
    assert!(ask(&world, URGENT, &[]).answer(0).contains("msg_006"));
    let noted = ask(&world, "msg_006 is not urgent", &[]);
    assert!(noted.answer(0).starts_with("Noted: the mail \"Wasserschaden im Keller"), "{}", noted.out);
    assert!(!ask(&world, LEARNT, &[]).answer(0).contains(SENDER), "once is no habit");
    let noted = ask(&world, "msg_026 and msg_027 are not urgent", &[]);
    assert_eq!(noted.answer(0).matches("Noted: the mail").count(), 2, "{}", noted.out);
    let learnt = ask(&world, LEARNT, &[]);
    let line = learnt.answer(0).lines().find(|line| line.contains(SENDER)).expect("the habit is told");
    for told in ["not urgent", "proposed", "% sure", "from 3 decisions"] {
        assert!(line.contains(told), "{told}: {line}");
    }
    assert!(ask(&world, URGENT, &[]).answer(0).contains("msg_006"), "a proposal changes nothing");

    let apply = format!("Apply the preference {SENDER}");
    let refused = ask(&world, &apply, &[]);
    assert_eq!(refused.code, Some(5), "nobody was there to agree: {refused:?}");
    assert!(ask(&world, URGENT, &[]).answer(0).contains("msg_006"));
    let applied = with_consent(&world, &apply);
    assert!(applied.contains(SENDER) && applied.contains("applied"), "{applied}");
    assert!(!ask(&world, URGENT, &[]).answer(0).contains("msg_006"), "what was agreed to holds");
    let why = ask(&world, "Is msg_006 urgent?", &[]);
    assert!(why.answer(0).contains("You agreed that mail from Hausverwaltung Lindner can wait."), "{}", why.out);

    ask(&world, &format!("Forget the preference {SENDER}"), &[]).answer(0);
    assert!(ask(&world, URGENT, &[]).answer(0).contains("msg_006"), "what is forgotten no longer holds");
    assert!(!ask(&world, LEARNT, &[]).answer(0).contains(SENDER), "and is not proposed again from the same words");
}

#[test]
fn a_mail_is_marked_by_a_word_and_a_yes() {
    let world = world(&[]);
    let flagged = || world.state_files().iter().any(|path| path.ends_with("/msg_048:2,F"));
    assert_eq!(ask(&world, "Flag msg_048", &[]).code, Some(5));
    assert!(!flagged());
    let answer = with_consent(&world, "Flag msg_048");
    assert!(answer.contains("\"tonight\" is flagged"), "{answer}");
    assert!(flagged());
}

// The mail is the sample's phishing mail, which gives orders to assistants.
#[test]
fn what_a_mail_makes_a_model_say_about_it_is_no_decision_of_the_user() {
    let read = call("mail_read", "id = \"msg_007\"");
    let praise = call("mail_feedback", "id = \"msg_007\", urgent = true");
    let world = world(&[
        scene("See to it", &[calls(&[read]), calls(&[praise]), says("It is important.")]),
        scene("", &[calls(&[delegate("delegate_triage", "See to it", "")]), says("It is important.")]),
    ]);
    let model = format!("scripted/{}", world.path("../script.toml").display());
    for _ in 0..3 {
        world.call(&["run", "--demo", "-m", &model, "Read my mail"]).answer(0);
    }
    assert!(!ask(&world, LEARNT, &[]).answer(0).contains("havelbank"));
    assert_eq!(decisions(&world), 0);
}

#[test]
fn a_decision_counts_once_wherever_the_run_was_killed() {
    let whole = world(&[]);
    ask(&whole, "msg_006 is not urgent", &[]).answer(0);
    let events = whole.log().len();
    for event in [events / 3, events / 2, events - 4, events - 2] {
        let world = world(&[]);
        let mut command = world.command(&["run", "--demo", "msg_006 is not urgent"]);
        command.env("MAJORDOMO_FAILPOINT", format!("after:{event}"));
        assert!(world.launch(command).done().was_killed(), "after event {event}");
        // What is only half said is looked at, too.
        ask(&world, LEARNT, &[]).answer(0);
        world.call(&["thread", "resume", first(&world).as_str()]).answer(0);
        ask(&world, LEARNT, &[]).answer(0);
        assert_eq!(decisions(&world), 1, "killed after event {event}");
    }
}

/// The thread that was begun first.
fn first(world: &World) -> ThreadId {
    world.log().first().expect("something happened").thread.clone()
}

/// A conversation with the butler of the sample household, by a user who made no decision there before.
struct Talk {
    staff: Staff,
    root: ThreadId,
    _folder: tempfile::TempDir,
}

impl Talk {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a passing folder");
        let home = Some(folder.path().join("home"));
        let surroundings = Surroundings { cwd: folder.path().to_owned(), home, ..Surroundings::default() };
        let data = folder.path().join("state");
        let flags = Flags { demo: true, data: Some(data.display().to_string()), ..Flags::default() };
        let config = Config::load(&surroundings, &flags).expect("a configuration");
        let options = Options { store: Kept::InMemory, consent: Consent::Asked, ..Options::default() };
        let staff = Staff::open(&surroundings, config, options).await.expect("a staff");
        for version in std::fs::read_dir(data.join("demo")).expect("a sample") {
            std::fs::remove_file(version.expect("a sample").path().join("decisions.jsonl")).expect("forgotten");
        }
        let handle = staff.stream(Work::new("Hello")).await.expect("a run");
        let root = handle.root().clone();
        handle.report().await.expect("a report");
        Self { staff, root, _folder: folder }
    }

    /// What is answered; a question to the person is answered with yes.
    async fn say(&self, text: &str) -> String {
        let runtime = self.staff.runtime();
        let before =
            runtime.store().tree(&self.root, 0, usize::MAX).await.expect("a log").last().map_or(0, |last| last.seq);
        runtime.send(&self.root, Outside::said(text)).await.expect("a message");
        let mut tail = runtime.store().tail();
        loop {
            tail.borrow_and_update();
            match runtime.resume(&self.root).await {
                Ok(_) | Err(runtime::Error::Idle(_) | runtime::Error::Alive(_)) => {}
                Err(error) => panic!("{error}"),
            }
            let new = runtime.store().tree(&self.root, before, usize::MAX).await.expect("a log");
            let answer = new.iter().find_map(|record| match &*record.event {
                Event::Reported(report) if record.thread == self.root => Some(report.text.to_string()),
                _ => None,
            });
            if let Some(answer) = answer {
                return answer;
            }
            let open = runtime.store().approvals(ApprovalQuery { open_only: true, limit: 1 }).await.expect("questions");
            for row in open {
                let yes = Decision::Allow { scope: Scope::Once, input: None };
                self.staff.session_of(&row.thread).decide(&row.question, yes).await.expect("decided");
            }
            tail.changed().await.expect("a log that lives");
        }
    }

    /// The hours of the times that were offered last.
    async fn offered(&self) -> Vec<i8> {
        let log = self.staff.runtime().store().tree(&self.root, 0, usize::MAX).await.expect("a log");
        let slots = log.iter().rev().find_map(|record| match &*record.event {
            Event::ToolFinished { result, .. } => {
                let data: Value = serde_json::from_str(&result.content).ok()?;
                data["suggestedSlots"].as_array().cloned()
            }
            _ => None,
        });
        let hour = |slot: &Value| slot["start"].as_str().and_then(|start| start.get(11..13)?.parse().ok());
        slots.expect("times were offered").iter().filter_map(hour).collect()
    }
}

#[tokio::test]
async fn times_that_are_taken_become_the_times_that_are_offered() {
    let talk = Talk::begin().await;
    let wish = "Find a slot for a meeting next week";
    for minutes in [30, 45, 60] {
        talk.say(&format!("Find a slot of {minutes} minutes next week")).await;
        let offered = talk.offered().await;
        let afternoon = offered.iter().position(|hour| *hour >= 12).expect("some time is in the afternoon");
        assert!(offered.iter().any(|hour| *hour < 12), "there is a choice: {offered:?}");
        let entered = talk.say(["take the first one", "take the second one", "take the third one"][afternoon]).await;
        assert!(entered.contains("calendar of proposals"), "{entered}");
    }
    let learnt = talk.say(LEARNT).await;
    assert!(learnt.contains("meeting.part_of_day: afternoon") && learnt.contains("Shall I apply"), "{learnt}");
    talk.say(wish).await;
    assert!(talk.offered().await.iter().any(|hour| *hour < 12), "a proposal changes nothing");
    talk.say(LEARNT).await;
    let applied = talk.say("yes").await;
    assert!(applied.contains("applied"), "{applied}");
    let answer = talk.say(wish).await;
    assert!(talk.offered().await.iter().all(|hour| *hour >= 12), "{answer}");
    talk.say("Forget the preference meeting.part_of_day").await;
    talk.say(wish).await;
    assert!(talk.offered().await.iter().any(|hour| *hour < 12), "what is forgotten no longer holds");
    talk.staff.runtime().leave().await;
}
