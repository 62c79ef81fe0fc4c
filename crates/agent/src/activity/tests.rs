use super::*;

fn call(name: &str) -> CallId {
    CallId::new(name)
}

fn folded(changes: &[Change]) -> Activity {
    let mut activity = Activity::default();
    for change in changes {
        activity.apply(change);
    }
    activity
}

// ORION-15
#[test]
fn a_thread_is_delegating_while_a_sub_agent_runs_and_the_model_is_not_asked() {
    let child = ThreadId::new("r.1");
    let mut activity = folded(&[Change::Begun, Change::Asked(Purpose::Work), Change::Answered(Vec::new())]);
    activity.apply(&Change::Spawned(child.clone(), "scout".into()));
    assert_eq!((activity.state(), activity.waiting_for().as_deref()), (State::Delegating, Some("scout")));
    activity.apply(&Change::Asked(Purpose::Work));
    assert_eq!((activity.state(), activity.waiting_for().as_deref()), (State::Processing, Some("the model")));
    activity.apply(&Change::Answered(Vec::new()));
    activity.apply(&Change::ChildOver(child));
    assert_eq!((activity.state(), activity.waiting_for()), (State::Processing, None));
}

#[test]
fn a_stop_is_not_hidden_by_what_still_runs_nor_by_a_reopening() {
    let calls = vec![(call("a"), "look".into())];
    let mut activity = folded(&[
        Change::Begun,
        Change::Asked(Purpose::Work),
        Change::Answered(calls),
        Change::ToolStarted(call("a")),
        Change::Stopping,
    ]);
    assert_eq!((activity.state(), activity.waiting_for().as_deref()), (State::Completing, Some("look")));
    activity.apply(&Change::Reopened);
    assert_eq!(activity.state(), State::Completing);
    activity.apply(&Change::Over(Outcome::Cancelled));
    assert_eq!((activity.state(), activity.waiting_for()), (State::Idle, None));
}

#[test]
fn a_lost_request_that_is_made_again_is_for_the_same_purpose() {
    for (purpose, state) in [
        (Purpose::Work, State::Processing),
        (Purpose::Summary, State::LoadingContext),
        (Purpose::LastAnswer, State::Completing),
    ] {
        let mut activity = folded(&[Change::Begun, Change::Asked(purpose), Change::Reopened]);
        activity.apply(&Change::Repeated);
        assert_eq!(activity.state(), state);
    }
}

#[test]
fn a_person_is_waited_for_as_long_as_a_question_is_open_or_ask_user_runs() {
    let begun = [Change::Begun, Change::Asked(Purpose::Work), Change::Answered(vec![(call("a"), ASK_USER.into())])];
    let mut activity = folded(&begun);
    for (change, state) in [
        (Change::Questioned, State::WaitingForUser),
        (Change::Resolved, State::Processing),
        (Change::ToolStarted(call("a")), State::WaitingForUser),
        (Change::ToolFinished(call("a")), State::Processing),
    ] {
        activity.apply(&change);
        assert_eq!(activity.state(), state, "after {change:?}");
    }
}

#[test]
fn nothing_but_a_new_run_follows_the_end_of_a_run() {
    for outcome in Outcome::ALL {
        let mut activity = folded(&[Change::Begun, Change::Over(outcome)]);
        for late in [Change::Stopping, Change::Reopened, Change::Questioned, Change::Asked(Purpose::Work)] {
            activity.apply(&late);
            assert_eq!(activity.state(), State::after(outcome), "{late:?} after {outcome}");
            assert!(!activity.state().is_live());
        }
        activity.apply(&Change::Begun);
        assert_eq!(activity.state(), State::Initializing);
    }
}

#[test]
fn what_is_stored_is_read_back_and_an_idle_thread_stores_nothing() {
    assert_eq!(serde_json::to_string(&Activity::default()).expect("it is JSON"), "{}");
    let activity = folded(&[
        Change::Created,
        Change::Asked(Purpose::Summary),
        Change::Failed(Some("rate limited".into())),
        Change::Spawned(ThreadId::new("r.1"), "scout".into()),
        Change::Waits(call("w")),
    ]);
    let stored = serde_json::to_string(&activity).expect("it is JSON");
    assert_eq!(serde_json::from_str::<Activity>(&stored).expect("it is an activity"), activity);
}

#[test]
fn every_state_is_written_as_its_word() {
    for state in State::ALL {
        assert_eq!(serde_json::to_string(&state).expect("it is JSON"), format!("\"{state}\""));
    }
}
