//! What follows from each input.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::approval::{Approval, ApprovalId, Decision, Question, Scope};
use agent::tools::Risk;
use agent::{CallId, Event, Json, ThreadId, Time};
use store::Record;
use termina::event::{KeyCode, KeyEvent, Modifiers};

use super::*;

fn app() -> App {
    App::new(Size { columns: 80, rows: 24 }, History::default(), false)
}

fn key(code: KeyCode) -> Input {
    Input::Key(KeyEvent::new(code, Modifiers::NONE))
}

fn control(letter: char) -> Input {
    Input::Key(KeyEvent::new(KeyCode::Char(letter), Modifiers::CONTROL))
}

fn write(app: &mut App, text: &str, now: Instant) {
    for letter in text.chars() {
        assert_eq!(app.handle(key(KeyCode::Char(letter)), now), [], "{letter}");
    }
}

fn root() -> ThreadId {
    ThreadId::new("20260115-k3f9")
}

fn record(seq: u64, event: Event) -> Record {
    Record { position: seq, seq, thread: root(), n: seq, at: Time(1_000), event: Arc::new(event) }
}

fn question(number: u32, asked: Option<Question>) -> Approval {
    Approval {
        id: ApprovalId::of(&root(), number),
        call: CallId::new("c"),
        tool: "run_command".into(),
        input: Json::parse(r#"{"command":"rm -r build"}"#).expect("JSON"),
        digest: "d".into(),
        path: vec!["general".into()],
        workspace: "/tmp".into(),
        why: "mode ask".into(),
        effect: "deletes files".into(),
        risk: Risk::High,
        protected: Vec::new(),
        foreign: false,
        standing: Some("rm -r *".into()),
        question: asked,
        places: 0,
        expires_at: Time(i64::MAX),
    }
}

/// A chat in which a question stands on the screen since this moment.
fn asked(asked: Option<Question>, now: Instant) -> App {
    let mut app = app();
    app.handle(Input::Begun(root()), now);
    app.handle(Input::Records(vec![record(1, Event::ApprovalRequested(Box::new(question(1, asked))))]), now);
    app.front_is_shown(now);
    app
}

#[test]
fn the_first_message_begins_a_conversation_and_a_second_one_waits() {
    let (mut app, now) = (app(), Instant::now());
    write(&mut app, "hello there", now);
    let said = app.handle(key(KeyCode::Enter), now);
    assert_eq!(said, [Action::Say { thread: None, text: "hello there".into(), files: Vec::new() }]);
    write(&mut app, "more", now);
    assert_eq!(app.handle(key(KeyCode::Enter), now), []);
    assert_eq!(app.composer.text(), "more");
    app.handle(Input::Begun(root()), now);
    let said = app.handle(key(KeyCode::Enter), now);
    assert_eq!(said, [Action::Steer { thread: root(), text: "more".into() }]);
}

#[test]
fn a_message_that_could_not_be_sent_comes_back() {
    let (mut app, now) = (app(), Instant::now());
    write(&mut app, "hello", now);
    app.handle(key(KeyCode::Enter), now);
    app.handle(Input::Failed("no key".into(), Some("hello".into())), now);
    assert_eq!(app.composer.text(), "hello");
    assert!(!app.is_working());
    assert!(app.take_lines().iter().any(|line| line.text() == "error: no key"));
}

#[test]
fn a_key_answers_a_question_only_when_it_stood_there_in_quiet() {
    let now = Instant::now();
    let mut app = asked(None, now);
    // Too early: it is written.
    app.handle(key(KeyCode::Char('y')), now + Duration::from_millis(100));
    assert_eq!(app.composer.text(), "y");
    // Something is written: it is no answer, however long it stands there.
    app.handle(key(KeyCode::Char('y')), now + Duration::from_secs(9));
    assert_eq!(app.composer.text(), "yy");
    app.handle(control('c'), now + Duration::from_secs(9));
    assert!(app.composer.is_empty() && !app.is_armed(now + Duration::from_millis(9_300)));
    let decided = app.handle(key(KeyCode::Char('y')), now + Duration::from_secs(10));
    let allow = Decision::Allow { scope: Scope::Once, input: None };
    assert_eq!(decided, [Action::Decide { question: Box::new(question(1, None)), decision: allow }]);
    assert!(app.questions.is_empty());
}

#[test]
fn always_is_asked_twice_and_a_draft_is_kept() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let mut app = asked(None, now);
    write(&mut app, "draft", later);
    app.handle(control('y'), later);
    assert!(app.composer.is_empty());
    assert_eq!(app.handle(key(KeyCode::Char('a')), later), []);
    assert_eq!(app.handle(key(KeyCode::Char('x')), later), [], "no");
    assert_eq!(app.handle(key(KeyCode::Char('a')), later), []);
    let decided = app.handle(key(KeyCode::Char('y')), later);
    assert!(matches!(&decided[..], [Action::Decide { decision: Decision::Allow { scope: Scope::Always, .. }, .. }]));
    assert_eq!(app.composer.text(), "draft");
}

#[test]
fn a_question_is_denied_with_a_reason_changed_and_put_off() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let mut app = asked(None, now);
    app.handle(key(KeyCode::Char('n')), later);
    write(&mut app, "not yet", later);
    let decided = app.handle(key(KeyCode::Enter), later);
    let deny = Decision::Deny { reason: Some("not yet".into()) };
    assert_eq!(decided, [Action::Decide { question: Box::new(question(1, None)), decision: deny }]);

    let mut app = asked(None, now);
    app.handle(key(KeyCode::Char('e')), later);
    assert!(app.composer.text().contains("rm -r build"), "{}", app.composer.text());
    app.composer.set("{\"command\":\"ls\"}");
    assert_eq!(app.handle(key(KeyCode::Enter), later), []);
    let decided = app.handle(key(KeyCode::Char('y')), later);
    let [Action::Decide { decision: Decision::Allow { input: Some(input), .. }, .. }] = &decided[..] else {
        panic!("{decided:?}")
    };
    assert_eq!(input.text(), "{\"command\":\"ls\"}");

    let mut app = asked(None, now);
    app.handle(key(KeyCode::Escape), later);
    assert!(app.front().is_none() && app.questions.len() == 1);
}

#[test]
fn a_question_that_is_decided_elsewhere_is_closed_and_the_draft_comes_back() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let mut app = asked(None, now);
    app.composer.set("draft");
    app.handle(control('y'), later);
    let resolved = Event::ApprovalResolved {
        approval: ApprovalId::of(&root(), 1),
        call: CallId::new("c"),
        input: None,
        resolution: agent::approval::Resolution::Denied { reason: None },
    };
    app.handle(Input::Records(vec![record(2, resolved)]), later);
    assert!(matches!(app.keys, Keys::Writing) && app.questions.is_empty());
    assert_eq!(app.composer.text(), "draft");
}

#[test]
fn an_answer_is_written_or_chosen_by_its_number() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let flowers = Question { text: "Which?".into(), choices: vec!["rose".into(), "tulip".into()], midway: None };
    for (typed, answer) in [("2", "tulip"), ("a daisy", "a daisy")] {
        let mut app = asked(Some(flowers.clone()), now);
        for letter in typed.chars() {
            app.handle(key(KeyCode::Char(letter)), later);
        }
        let decided = app.handle(key(KeyCode::Enter), later);
        let [Action::Decide { decision, .. }] = &decided[..] else { panic!("{decided:?}") };
        assert_eq!(*decision, Decision::Answer { text: Arc::from(answer) });
    }
}

#[test]
fn every_command_of_the_contract_is_there_and_does_something() {
    let wanted = "/help /model /mode /agents /threads /resume /fork /tasks /cost /approvals /context /compact /export /config /mcp /init /quit";
    for name in wanted.split(' ') {
        let command = COMMANDS.iter().find(|command| command.name == name).unwrap_or_else(|| panic!("{name}"));
        assert!(!command.sentence.is_empty());
        let (mut app, now) = (app(), Instant::now());
        app.handle(Input::Begun(root()), now);
        app.composer.set(name);
        let actions = app.handle(key(KeyCode::Enter), now);
        let lines = app.take_lines();
        let is_menu = matches!(app.keys, Keys::Menu(_));
        assert!(!actions.is_empty() || !lines.is_empty() || is_menu, "{name}");
        assert!(!lines.iter().any(|line| line.text().contains("there is no command")), "{name}");
    }
}

#[test]
fn a_frame_fits_the_screen_whatever_its_size() {
    let now = Instant::now();
    for (columns, rows) in [(20, 6), (40, 20), (80, 24), (200, 60)] {
        let mut app = asked(None, now);
        app.handle(Input::Resized(Size { columns, rows }), now);
        app.composer.set("契約書 ".repeat(200));
        let frame = super::super::frame::frame(&app, now);
        assert!(frame.lines.len() < rows, "{columns}x{rows}: {}", frame.lines.len());
        for line in &frame.lines {
            assert!(line.width() < columns, "{columns}x{rows}: {}", line.text());
        }
        let cursor = frame.cursor.expect("a cursor");
        assert!(cursor.line < frame.lines.len() && cursor.column < columns, "{cursor:?}");
    }
}
