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

pub(in crate::chat) fn question(number: u32, asked: Option<Question>) -> Approval {
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
        sampling: None,
        places: 0,
        expires_at: Time(i64::MAX),
    }
}

/// A chat in which a question stands on the screen since this moment.
fn asked(asked: Option<Question>, now: Instant) -> App {
    let mut app = app();
    app.handle(Input::Begun(root()), now);
    app.handle(Input::Records(vec![record(1, Event::ApprovalRequested(Box::new(question(1, asked))))]), now);
    assert!(app.front_is_shown(now));
    app.handle(Input::Replied, now);
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

// T22
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

/// A chat in which lines are read, and one question was printed.
fn printed(now: Instant) -> App {
    let mut app = App::new(Size { columns: 80, rows: 24 }, History::default(), true);
    app.handle(Input::Begun(root()), now);
    ask(&mut app, 1, None, now);
    app
}

fn ask(app: &mut App, number: u32, asked: Option<Question>, now: Instant) {
    let asked = Event::ApprovalRequested(Box::new(question(number, asked)));
    app.handle(Input::Records(vec![record(number.into(), asked)]), now);
}

fn resolved(number: u32) -> Input {
    let resolved = Event::ApprovalResolved {
        approval: ApprovalId::of(&root(), number),
        call: CallId::new("c"),
        input: None,
        resolution: agent::approval::Resolution::Denied { reason: None },
    };
    Input::Records(vec![record(u64::from(number) + 100, resolved)])
}

fn typed(app: &mut App, line: &str, printed: usize, now: Instant) -> Vec<Action> {
    app.handle(Input::Typed(line.to_owned(), printed), now)
}

fn told(app: &mut App) -> String {
    app.take_lines().iter().map(Line::text).collect::<Vec<_>>().join("\n")
}

/// What was told, however it was broken into lines.
fn told_in_one_line(app: &mut App) -> String {
    told(app).replace('\n', " ")
}

// T22
#[test]
fn a_line_answers_the_question_whose_number_it_names_and_no_other() {
    let now = Instant::now();
    let mut app = printed(now);
    assert!(told(&mut app).contains("1.1 allow once"));
    // The first is decided elsewhere and the second comes up while a person types.
    app.handle(resolved(1), now);
    ask(&mut app, 2, None, now);
    assert!(told(&mut app).contains("2.1 allow once"));
    assert_eq!(typed(&mut app, "1.1", 2, now), []);
    assert!(told(&mut app).contains("question 1 is not open any more"));
    // A line that was read before the question was printed.
    assert_eq!(typed(&mut app, "2.1", 1, now), []);
    assert!(told(&mut app).contains("question 2 was not printed yet"));
    // A number alone is a message, and so is everything else.
    for text in ["1", "yes", "2. first this"] {
        let said = typed(&mut app, text, 2, now);
        assert_eq!(said, [Action::Steer { thread: root(), text: text.into() }]);
    }
    let decided = typed(&mut app, "2.1", 2, now);
    let allow = Decision::Allow { scope: Scope::Once, input: None };
    assert_eq!(decided, [Action::Decide { question: Box::new(question(2, None)), decision: allow }]);
    assert_eq!(typed(&mut app, "2.1", 2, now), [], "it is decided once");
}

// T22
#[test]
fn a_line_allows_for_ever_only_with_a_word_behind_the_number() {
    let now = Instant::now();
    let mut app = printed(now);
    told(&mut app);
    assert_eq!(typed(&mut app, "1.3", 1, now), []);
    assert!(told_in_one_line(&mut app).contains("for 'rm -r *'; to allow it type: 1.3 yes"));
    let decided = typed(&mut app, "1.3 yes", 1, now);
    let always = Decision::Allow { scope: Scope::Always, input: None };
    assert_eq!(decided, [Action::Decide { question: Box::new(question(1, None)), decision: always }]);

    let mut app = printed(now);
    let decided = typed(&mut app, "1.4 not yet", 1, now);
    let deny = Decision::Deny { reason: Some("not yet".into()) };
    assert_eq!(decided, [Action::Decide { question: Box::new(question(1, None)), decision: deny }]);

    let mut app = printed(now);
    for wrong in ["1.5", "1.5 ls", "1.5 [1]", "1.6", "1.1 please"] {
        assert_eq!(typed(&mut app, wrong, 1, now), [], "{wrong}");
    }
    let decided = typed(&mut app, r#"1.5 {"command":"ls"}"#, 1, now);
    let input = Json::parse(r#"{"command":"ls"}"#).expect("JSON");
    let other = Decision::Allow { scope: Scope::Once, input: Some(input) };
    assert_eq!(decided, [Action::Decide { question: Box::new(question(1, None)), decision: other }]);
}

// T22
#[test]
fn a_message_does_not_answer_what_an_agent_has_just_asked() {
    let now = Instant::now();
    let flowers = Question { text: "Which?".into(), choices: vec!["rose".into(), "tulip".into()], midway: None };
    let mut app = printed(now);
    ask(&mut app, 2, Some(flowers), now);
    assert!(told(&mut app).contains("2.2 tulip"));
    assert_eq!(typed(&mut app, "go on", 2, now), [Action::Steer { thread: root(), text: "go on".into() }]);
    for (line, answer) in [("2.2", "tulip"), ("2: a daisy", "a daisy")] {
        let mut other = printed(now);
        ask(&mut other, 2, app.questions[1].question.question.clone(), now);
        let decided = typed(&mut other, line, 2, now);
        let [Action::Decide { decision, .. }] = &decided[..] else { panic!("{decided:?}") };
        assert_eq!(*decision, Decision::Answer { text: Arc::from(answer) });
    }
}

#[test]
fn a_line_that_ends_with_a_backslash_goes_on() {
    let now = Instant::now();
    let mut app = printed(now);
    assert_eq!(typed(&mut app, "one\\", 1, now), []);
    assert_eq!(typed(&mut app, "1.1\\", 1, now), []);
    assert_eq!(app.handle(Input::Ended, now), [Action::Steer { thread: root(), text: "one\n1.1".into() }]);
}

/// A chat with a message that has a file, and the file.
fn with_file(text: &str) -> (App, PathBuf) {
    let mut app = app();
    let file = PathBuf::from("/pictures/roses.png");
    app.composer.attach(file.clone());
    app.composer.paste(&"line\n".repeat(20));
    app.composer.insert(text);
    (app, file)
}

#[test]
fn files_and_folded_pastes_of_a_message_survive_everything_that_comes_between() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let (mut app, file) = with_file(" and roses");
    let text = app.composer.text().to_owned();
    assert!(text.contains("[file 1: roses.png]") && text.contains("[paste 2: 20 lines]"), "{text}");
    let whole = app.composer.whole();
    let is_whole = |app: &App, after: &str| {
        assert_eq!(app.composer.text(), text, "{after}");
        assert_eq!((app.composer.files(), app.composer.whole()), (vec![file.clone()], whole.clone()), "{after}");
    };

    app.handle(Input::Begun(root()), now);
    app.handle(Input::Records(vec![record(1, Event::ApprovalRequested(Box::new(question(1, None))))]), now);
    app.handle(control('y'), later);
    app.handle(key(KeyCode::Char('y')), later);
    is_whole(&app, "a question was answered");

    app.history.push("earlier");
    app.handle(key(KeyCode::Up), later);
    app.handle(key(KeyCode::Up), later);
    assert_eq!(app.composer.text(), "earlier");
    app.handle(key(KeyCode::Down), later);
    is_whole(&app, "an earlier message was looked at");

    assert_eq!(app.handle(key(KeyCode::Tab), later), []);
    assert!(app.composer.is_empty() && app.queue.len() == 1);
    app.handle(key(KeyCode::Tab), later);
    is_whole(&app, "it was queued and taken back");

    let said = app.handle(key(KeyCode::Enter), later);
    let files = vec![file.clone()];
    // A message with files cannot be read in the middle of a turn: it is the next one, and that is said.
    assert_eq!(said, [Action::Say { thread: Some(root()), text: whole.clone(), files }]);
    assert!(app.hint.as_ref().is_some_and(|(words, _)| words.contains("when the agent is done")), "{:?}", app.hint);
    app.handle(Input::Failed("no".into(), Some(whole.clone())), later);
    is_whole(&app, "it could not be sent");

    app.handle(Input::Edited(format!("{whole}, red ones")), later);
    assert_eq!((app.composer.files(), app.composer.whole()), (vec![file], format!("{whole}, red ones")));
}

#[test]
fn a_message_that_could_not_be_sent_is_told_where_another_one_is_being_written() {
    let (mut app, now) = (app(), Instant::now());
    write(&mut app, "another", now);
    app.handle(Input::Failed("no key".into(), Some("hello".into())), now);
    assert_eq!(app.composer.text(), "another");
    assert!(told(&mut app).contains("not sent: hello"));
}

fn created(thread: &ThreadId, model: &agent::model::Model) -> Event {
    let created = serde_json::json!({
        "id": thread,
        "name": "general",
        "role": { "name": "general", "prompt": "", "model": model, "tools": [] },
        "mode": "ask",
        "policy": agent::policy::Policy::default(),
        "grant": agent::budget::Grant::default(),
        "workspace": "/tmp",
        "today": "2026-01-15",
        "preset": "default",
        "path": ["general"],
    });
    Event::ThreadCreated(Box::new(serde_json::from_value(created).expect("a thread")))
}

fn model(context_tokens: u64) -> agent::model::Model {
    let model = serde_json::json!({
        "name": "made/up", "context_tokens": context_tokens, "max_output_tokens": 100, "price": null
    });
    serde_json::from_value(model).expect("a model")
}

/// A chat in which an agent and a sub-agent of it work.
fn working(now: Instant) -> App {
    let mut app = app();
    let child = root().child(1);
    app.handle(Input::Begun(root()), now);
    let started = |thread: &ThreadId| Event::run_started(agent::InputId::new(format!("in {thread}")), 1, "work");
    let mut records = Vec::new();
    for thread in [root(), child] {
        for event in [created(&thread, &model(1000)), started(&thread)] {
            let seq = records.len() as u64 + 1;
            records.push(Record { thread: thread.clone(), ..record(seq, event) });
        }
    }
    app.handle(Input::Records(records), now);
    app.refresh_tree(Time(2_000));
    app
}

#[test]
fn a_message_that_is_on_its_way_is_stopped_at_once_where_it_was_told_twice() {
    let now = Instant::now();
    for (presses, strength) in [(1, Strength::Cancel), (2, Strength::Kill)] {
        let mut app = app();
        write(&mut app, "hello", now);
        app.handle(key(KeyCode::Enter), now);
        for _ in 0..presses {
            assert_eq!(app.handle(key(KeyCode::Escape), now), []);
        }
        assert_eq!(app.handle(Input::Begun(root()), now), [Action::Stop { thread: root(), strength }]);
    }
}

#[test]
fn an_agent_is_stopped_at_once_only_after_it_was_told_to_stop() {
    let now = Instant::now();
    let mut app = working(now);
    let stop = |strength| [Action::Stop { thread: root(), strength }];
    let list = || Input::Menu(Menu::new("Speak with a model", Vec::new()));
    for closes in [control('c'), key(KeyCode::Escape), key(KeyCode::Char('n'))] {
        assert_eq!(app.handle(key(KeyCode::Escape), now), []);
        let Keys::Confirm(confirm) = &app.keys else { panic!("{:?}", app.keys) };
        assert_eq!(confirm.question, "Stop general and 1 running sub-agent?");
        // A list that comes late does not close it.
        app.handle(list(), now);
        app.handle(closes, now);
        assert!(matches!(app.keys, Keys::Writing));
    }
    assert_eq!(app.handle(key(KeyCode::Escape), now), []);
    assert_eq!(app.handle(key(KeyCode::Char('y')), now), stop(Strength::Cancel));
    assert_eq!(app.handle(key(KeyCode::Escape), now), stop(Strength::Kill));
}

#[test]
fn a_list_that_comes_late_takes_no_keys_that_are_meant_for_something_else() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let mut app = asked(None, now);
    write(&mut app, "draft", now);
    app.handle(Input::Menu(Menu::new("Speak with a model", Vec::new())), now);
    assert!(matches!(app.keys, Keys::Writing) && app.composer.text() == "draft");
    app.handle(control('y'), later);
    app.handle(Input::Menu(Menu::new("Speak with a model", Vec::new())), later);
    assert!(matches!(app.keys, Keys::Deciding(_)));
    app.handle(key(KeyCode::Escape), later);
    assert_eq!(app.composer.text(), "draft");
    app.composer.set("");
    app.handle(Input::Menu(Menu::new("Speak with a model", Vec::new())), later);
    assert!(matches!(app.keys, Keys::Menu(_)));
}

#[test]
fn the_context_of_a_model_is_told_against_its_window() {
    let now = Instant::now();
    let mut app = working(now);
    let context = |app: &mut App| {
        app.composer.set("/context");
        assert_eq!(app.handle(key(KeyCode::Enter), now), [Action::Run(vec!["context".to_owned()])]);
        told_in_one_line(app)
    };
    assert!(context(&mut app).contains("context of 1.0k tokens was not used"), "before the first answer");
    for (seq, output) in [(11, 50), (12, 90)] {
        let answered = serde_json::json!({
            "turn": 1, "parts": [], "stop": "end_turn",
            "tokens": { "input": 100, "cache_read": 300, "cache_write": 10, "output": output },
            "counted_tokens": 1, "cost_microusd": 0,
        });
        let answered = serde_json::from_value(answered).expect("an answer");
        app.handle(Input::Records(vec![record(seq, Event::Answered(answered))]), now);
    }
    let words = context(&mut app);
    // The newest request alone, not all of them together.
    assert!(words.contains("50% full") && words.contains("took 500 of 1.0k tokens"), "{words}");
}

#[test]
fn messages_that_wait_are_told_when_another_conversation_is_opened() {
    let now = Instant::now();
    let mut app = working(now);
    write(&mut app, "later", now);
    app.handle(key(KeyCode::Tab), now);
    told(&mut app);
    app.begin_anew();
    assert!(told(&mut app).contains("not sent: later"));
}

// T22
#[test]
fn keys_answer_a_question_only_after_the_terminal_has_said_that_it_shows_it() {
    let now = Instant::now();
    let after = |ms| now + Duration::from_millis(ms);
    let asks = |n: u64| record(n, Event::ApprovalRequested(Box::new(question(u32::try_from(n).expect("few"), None))));
    let mut app = app();
    app.handle(Input::Begun(root()), now);
    app.handle(Input::Records(vec![asks(1)]), now);
    assert!(app.front_is_shown(now) && !app.front_is_shown(after(10)), "it is asked once");
    // The terminal is far away: what is pressed before it shows the question comes after the time that is enough nearby.
    assert!(!app.is_armed(after(2_000)));
    assert_eq!(app.handle(key(KeyCode::Char('y')), after(2_000)), []);
    assert_eq!(app.composer.text(), "y", "it is written, and answers nothing");
    app.handle(key(KeyCode::Backspace), after(2_100));
    app.handle(Input::Replied, after(2_200));
    assert!(!app.is_armed(after(2_300)) && app.is_armed(after(2_600)));
    let decided = app.handle(key(KeyCode::Char('y')), after(2_600));
    assert!(matches!(&decided[..], [Action::Decide { .. }]), "{decided:?}");
    // A reply to what was drawn before says nothing of the next one.
    app.handle(Input::Records(vec![asks(2)]), after(3_000));
    assert!(app.front_is_shown(after(3_000)));
    assert!(!app.is_armed(after(5_900)));
    // A terminal that never replies does not keep anything from being answered.
    assert!(app.is_armed(after(6_400)));
}

// T22
#[test]
fn a_question_takes_no_keys_before_it_is_shown_what_would_change() {
    let now = Instant::now();
    let later = now + Duration::from_secs(1);
    let mut app = app();
    app.handle(Input::Begun(root()), now);
    let input = Json::parse(r#"{"path":"f","content":"roses"}"#).expect("JSON");
    let writes = Approval { tool: "write_file".into(), input, ..question(1, None) };
    let event = Event::ApprovalRequested(Box::new(writes.clone()));
    let wanted = app.handle(Input::Records(vec![record(1, event)]), now);
    assert_eq!(wanted, [Action::Preview(Box::new(writes.clone()))]);
    app.front_is_shown(now);
    app.handle(control('y'), later);
    assert_eq!(app.handle(key(KeyCode::Char('y')), later), []);
    app.handle(Input::Previewed(writes.id, Arc::new([Line::new("+ roses", Style::PLAIN)])), later);
    app.handle(key(KeyCode::Char('?')), later);
    let all = told(&mut app);
    assert!(all.contains("+ roses") && all.contains(r#""content": "roses""#), "{all}");
    let decided = app.handle(key(KeyCode::Char('y')), later);
    assert!(matches!(&decided[..], [Action::Decide { .. }]), "{decided:?}");
}

#[test]
fn lines_of_another_conversation_that_are_too_many_are_counted() {
    let now = Instant::now();
    let mut app = working(now);
    let child = root().child(1);
    app.look(child.clone());
    app.handle(Input::Looked(child, Vec::new()), now);
    let line =
        |nth: u64| Event::run_started(agent::InputId::new(format!("{nth}")), 1, format!("message {nth}").as_str());
    let records = (0..300).map(|nth| record(100 + nth, line(nth))).collect();
    app.handle(Input::Records(records), now);
    told(&mut app);
    app.look(root());
    let shown = told(&mut app);
    assert!(shown.contains("earlier lines: majordomo thread show") && shown.contains("message 299"), "{shown}");
    assert!(!shown.contains("message 0\n"), "{shown}");
}
