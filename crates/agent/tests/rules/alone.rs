//! The rules need nothing but their arguments: the same thread, input, facts and moment give the same bytes, in this process
//! and in another one that runs in another folder, with other variables.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the test starts another process; the rules do not"
)]

use std::process::Command;

use majordomo_agent::approval::{Decision, Scope};
use majordomo_agent::budget::Grant;
use majordomo_agent::policy::Policy;
use majordomo_agent::tools::ToolResult;
use majordomo_agent::{CallId, Consent, Event, Input, InputId, Mode, Outcome, Outside, Thread, ThreadId, Time, Usage};

use super::room::{Room, report};

/// Set where the test runs as the other process.
const OTHER: &str = "MAJORDOMO_TEST_OTHER_PROCESS";
/// What the other process writes before and after its bytes.
const MARK: &str = "=====bytes=====";

#[test]
fn the_same_arguments_give_the_same_bytes_in_any_process() {
    let here = bytes();
    assert_eq!(here, bytes(), "twice in the same process");
    if std::env::var_os(OTHER).is_some() {
        return println!("{MARK}{here}{MARK}");
    }
    let this = std::env::current_exe().expect("a test knows its own program");
    let name = "alone::the_same_arguments_give_the_same_bytes_in_any_process";
    let ran = Command::new(this)
        .args([name, "--exact", "--nocapture"])
        .env_clear()
        .env(OTHER, "1")
        .env("TZ", "Pacific/Kiritimati")
        .env("LANG", "tr_TR.UTF-8")
        .current_dir("/")
        .output()
        .expect("the test's program runs");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let there = said.split(MARK).nth(1).unwrap_or_else(|| panic!("no bytes from there: {said}"));
    assert_eq!(here, there);
}

/// A life in which calls are judged, asked about, run, handed to children and reported: everything that is decided, as JSON
/// text. What was decided on is thrown away each time, and the thread is read again from its log.
fn bytes() -> String {
    let mut room = Room::with(Policy::default(), Mode::Ask, Grant { tokens: Some(500_000), ..Grant::default() });
    room.world.consent = Consent::Asked;
    let mut written = String::new();
    let mut step = |room: &mut Room, input: Input| {
        let before = room.thread.clone();
        let facts = room.world.facts(&before, &input, room.now);
        let one = before.clone().handle(input.clone(), &facts, room.now);
        let again = room.thread.handle(input, &facts, room.now);
        assert_eq!(one, again, "the same thread decides the same twice");
        let mut replayed = before;
        again.events.iter().for_each(|event| replayed.apply(room.now, event));
        assert_eq!(replayed, room.thread, "what was decided is in the events, and no facts are needed to read it");
        written.push_str(&serde_json::to_string(&again).expect("a step is JSON"));
        written.push('\n');
        room.now = Time(room.now.0 + 250);
        matches!(again.events.last(), Some(Event::Reported(_)))
    };
    let answer = room.answer(&[
        ("read_file", r#"{"path":"a"}"#),
        ("edit_file", r#"{"path":"b"}"#),
        ("spawn_agent", r#"{"task":"look","agent":"explore","files":["c"],"model":"test/other"}"#),
        ("delegate_task", r#"{"subtasks":[{"task":"one"},{"task":"two","depends_on":0}]}"#),
        ("run_command", r#"{"command":"rm -rf /"}"#),
        ("nonsense", "{}"),
    ]);
    step(&mut room, answer);
    step(&mut room, Input::ToolFinished { call: CallId::new("c1"), result: ToolResult::ok("text") });
    for number in [1, 2] {
        let Some(asked) = room.thread.approvals.open.values().next().cloned() else { break };
        let decision = match number {
            1 => Decision::Allow { scope: Scope::Thread, input: None },
            _ => Decision::Deny { reason: None },
        };
        let input = Outside::Decided { approval: asked.id, digest: asked.digest, decision };
        room.thread.apply(room.now, &Event::InputArrived { id: InputId::new(format!("d{number}")), input });
        step(&mut room, Input::Arrived);
    }
    step(&mut room, Input::ToolFinished { call: CallId::new("c2"), result: ToolResult::error("no such file") });
    step(&mut room, Input::Reopened);
    for child in ["r.1", "r.2", "r.3"] {
        let report = Box::new(report(Outcome::Completed, Usage::default()));
        step(&mut room, Input::ChildReported { child: ThreadId::new(child), report });
    }
    let answer = room.words("All is done.");
    assert!(step(&mut room, answer), "the life comes to its end");
    written
}

// A thread is data: nothing of it is bound to where it was made.
#[test]
fn a_thread_can_be_decided_on_by_any_thread_of_any_process() {
    fn is_data<T: Send + Sync + Clone + PartialEq + 'static>() {}
    is_data::<Thread>();
    is_data::<majordomo_agent::Facts>();
}
