use super::*;
use crate::conformance::sample;
use agent::State;
use agent::activity::NAMED_CHILDREN;
use agent::event::Ending;
use agent::model::{CallError, CallErrorKind};
use agent::tools::ToolResult;

const AT: Time = Time(1_000);

fn root() -> ThreadId {
    ThreadId::new("20260115-k3f9")
}

fn folded(thread: &ThreadId, events: &[Event]) -> Folded {
    let Event::ThreadCreated(created) = sample::created(thread) else { unreachable!("a sample of a creation") };
    let mut folded = Folded::create(&created, AT);
    folded.apply(AT, &Event::ThreadCreated(created));
    for event in events {
        folded.apply(AT, event);
    }
    folded.settle();
    folded
}

fn next(thread: &mut Folded, event: &Event) {
    thread.apply(AT, event);
    thread.settle();
}

fn stands(folded: &Folded) -> (State, Option<&str>) {
    (folded.row.state, folded.row.waiting_for.as_deref())
}

#[test]
fn a_row_tells_what_its_thread_waits_for() {
    let child = root().child(1);
    let mut thread = folded(&root(), &[]);
    assert_eq!(stands(&thread), (State::Idle, None));
    let started = |call: &str| Event::ToolStarted { call: CallId::new(call) };
    let finished = |call: &str| Event::ToolFinished {
        call: CallId::new(call),
        result: ToolResult::ok("ok"),
        duration_ms: Some(1),
        told: None,
    };
    let steps = [
        (sample::run_started(1, "tidy up"), State::Initializing, None),
        (sample::turn_started(1), State::Processing, Some("the model")),
        (sample::answered(1, &["read_file", "search_files"]), State::Processing, None),
        (started("1-0"), State::WaitingForTool, Some("read_file")),
        (started("1-1"), State::WaitingForTool, Some("2 tools")),
        (sample::spawned(&child, "scout"), State::WaitingForTool, Some("2 tools")),
        (finished("1-0"), State::WaitingForTool, Some("search_files")),
        (finished("1-1"), State::Delegating, Some("scout")),
        (sample::child_reported(&child, Outcome::Completed), State::Processing, None),
        (sample::turn_started(2), State::Processing, Some("the model")),
        (sample::reported(Outcome::Completed), State::Idle, None),
    ];
    for (event, state, waiting_for) in steps {
        next(&mut thread, &event);
        assert_eq!(stands(&thread), (state, waiting_for), "after {event:?}");
    }
    assert_eq!(thread.row.last_tool.as_deref(), Some("search_files"));
    assert_eq!((thread.row.turns, thread.row.tool_calls), (2, 2));
}

#[test]
fn a_rate_limit_shows_as_waiting_until_the_answer_comes() {
    let error = CallError::new(CallErrorKind::RateLimited, "slow down");
    let failed = Event::CallFailed { turn: 1, attempt: 1, error, retry_at: Some(AT), booked: Default::default() };
    let mut thread = folded(&root().child(1), &[sample::turn_started(1), failed]);
    assert_eq!(stands(&thread), (State::Processing, Some("another try: rate limited")));
    next(&mut thread, &sample::answered(1, &[]));
    assert_eq!(stands(&thread), (State::Processing, None));
}

#[test]
fn a_stop_shows_until_the_report_and_the_next_run_begins_clean() {
    let ending = Ending { outcome: Outcome::Cancelled, reason: "enough".into(), cause: None, last_turn: false };
    let stop = Event::StopBegun { input: None, ending };
    let mut thread = folded(&root(), &[sample::run_started(1, "one"), sample::turn_started(1), stop]);
    assert_eq!(stands(&thread), (State::Completing, Some("the model")));
    next(&mut thread, &sample::reported(Outcome::Cancelled));
    assert_eq!((thread.row.state, thread.row.outcome), (State::Idle, Some(Outcome::Cancelled)));
    next(&mut thread, &sample::run_started(2, "two"));
    assert_eq!((thread.row.state, thread.row.outcome, thread.row.ended_at), (State::Initializing, None, None));
    assert_eq!((&*thread.row.goal, thread.row.runs), ("one", 2));
}

#[test]
fn many_children_are_counted_not_listed() {
    let spawned: Vec<_> = (1..=5).map(|n| sample::spawned(&root().child(n), &format!("c{n}"))).collect();
    let mut thread = folded(&root(), &[sample::run_started(1, "many")]);
    for event in &spawned {
        next(&mut thread, event);
    }
    assert_eq!(stands(&thread), (State::Delegating, Some("5 agents")));
}

#[test]
fn what_is_kept_of_very_many_children_stays_small() {
    let children: Vec<ThreadId> = (1..=1000).map(|n| root().child(n)).collect();
    let mut thread = folded(&root(), &[sample::run_started(1, "very many")]);
    for child in &children {
        next(&mut thread, &sample::spawned(child, "scout"));
    }
    assert_eq!(stands(&thread), (State::Delegating, Some("1000 agents")));
    let kept = serde_json::to_string(&thread.doing).unwrap();
    assert!(kept.len() < 4096, "{} bytes", kept.len());
    for (over, child) in children.iter().enumerate() {
        assert_eq!(thread.row.state, State::Delegating, "after {over} reports");
        next(&mut thread, &sample::child_reported(child, Outcome::Completed));
        if over + 1 == NAMED_CHILDREN {
            assert_eq!(stands(&thread), (State::Delegating, Some("936 agents")));
        }
    }
    assert_eq!(stands(&thread), (State::Initializing, None));
}

// ZILEO-21: every outcome has exactly one of the five statuses.
#[test]
fn outcomes_map_onto_the_statuses_of_an_execution() {
    let expected = |outcome| match outcome {
        Outcome::Completed | Outcome::BudgetExceeded => (Status::Completed, true),
        Outcome::Cancelled | Outcome::Refused => (Status::Cancelled, false),
        Outcome::NoOutput | Outcome::Timeout | Outcome::Interrupted | Outcome::Error => (Status::Error, false),
    };
    for outcome in Outcome::ALL {
        let end = end(AT, &sample::report(outcome));
        assert_eq!((end.status, end.result_summary.is_some()), expected(outcome), "{outcome}");
        assert_eq!(end.error_message.is_some(), end.result_summary.is_none(), "{outcome}");
    }
    let marked = end(AT, &sample::report(Outcome::BudgetExceeded)).result_summary.unwrap();
    assert!(marked.starts_with("[budget exceeded] "), "{marked}");
}

#[test]
fn texts_are_cut_by_character_and_say_so() {
    assert_eq!(&*one_line("  tidy\n\n the\tdesk "), "tidy the desk");
    assert_eq!(*one_line(&"ü".repeat(GOAL_CHARS)), "ü".repeat(GOAL_CHARS));
    assert_eq!(*one_line(&"ü".repeat(GOAL_CHARS + 1)), format!("{}…", "ü".repeat(GOAL_CHARS)));
    assert_eq!(*shortened(&"ü".repeat(TEXT_CHARS)), "ü".repeat(TEXT_CHARS));
    let cut = shortened(&"ü".repeat(TEXT_CHARS + 7));
    assert!(cut.ends_with("… [7 more characters]"), "{cut}");
}
