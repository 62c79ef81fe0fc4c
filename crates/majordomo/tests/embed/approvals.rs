//! Which handler decides what a run asks: that of the message that the run began with, that of the staff, or none. Handlers as such are in
//! `main.rs`.

use std::future::{Ready, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::TryStreamExt;
use majordomo::{Approval, Decision, Event, Outcome, Session, StaffBuilder, ThreadId, Tool, Update, Work};
use testkit::scenes::{call, calls, says, scene, spawn};
use tokio::sync::Semaphore;

use crate::{builder, lamps, switches};

/// The lamps that handlers were asked about, each with the name of the handler.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    /// A handler that decides at once and always in the same way.
    fn handler(&self, name: &str, decision: Decision) -> impl Fn(Approval) -> Ready<Decision> + use<> {
        let (asked, name) = (self.clone(), name.to_owned());
        move |request| {
            asked.note(&name, &request);
            ready(decision.clone())
        }
    }

    fn note(&self, handler: &str, request: &Approval) {
        let lamp = request.input.value()["lamp"].as_str().expect("a lamp").to_owned();
        self.0.lock().expect("no panic").push(format!("{handler}: {lamp}"));
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().expect("no panic").clone()
    }
}

/// What runs wait at until the test goes on.
struct Gate {
    reached: Semaphore,
    open: Semaphore,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::new(Self { reached: Semaphore::new(0), open: Semaphore::new(0) })
    }

    async fn wait(&self) {
        self.reached.add_permits(1);
        self.open.acquire().await.expect("it stays").forget();
    }

    async fn is_reached(&self) {
        let reached = tokio::time::timeout(Duration::from_secs(30), self.reached.acquire());
        reached.await.expect("in time").expect("it stays").forget();
    }

    fn let_pass(&self) {
        self.open.add_permits(1);
    }

    /// A tool that waits at the gate.
    fn tool(self: &Arc<Self>) -> Tool {
        let gate = self.clone();
        let wait = move |(): ()| {
            let gate = gate.clone();
            async move {
                gate.wait().await;
                Ok("passed")
            }
        };
        Tool::from_fn("wait", "Waits", wait).read_only()
    }
}

async fn child_of(session: &Session) -> ThreadId {
    let history = session.history().await.expect("a log");
    let child = history.iter().map(|record| &record.thread).find(|thread| !thread.is_root());
    child.expect("a sub-agent").clone()
}

#[tokio::test]
async fn a_question_of_an_agent_comes_to_the_handler_which_answers_it_and_consent_is_no_answer() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ask = call("ask_user", r#"question = "Which lamp?", choices = ["desk", "hall"]"#);
    let replies = [calls(std::slice::from_ref(&ask)), says("lit"), calls(std::slice::from_ref(&ask)), says("dark")];
    let staff = builder(&[scene("Light", &replies)]).workspace(folder.path()).build().await.expect("a staff");
    let session = staff.session();
    let answers = |request: Approval| {
        let question = request.question.expect("a question");
        assert_eq!((&*question.text, question.choices.len()), ("Which lamp?", 2));
        ready(Decision::answer(question.choices[1].clone()))
    };
    session.send(Work::new("Light").approve(answers)).await.expect("a report");
    session.send(Work::new("Again").approve(|_| ready(Decision::allow()))).await.expect("a report");
    let results: Vec<(bool, String)> = session
        .history()
        .await
        .expect("a log")
        .iter()
        .filter_map(|record| match &*record.event {
            Event::ToolFinished { result, .. } => Some((result.is_error, result.content.to_string())),
            _ => None,
        })
        .collect();
    let [(false, answered), (true, denied)] = &results[..] else { panic!("{results:?}") };
    assert!(answered.contains("hall"), "{answered}");
    assert!(denied.contains("answers no questions"), "{denied}");
}

#[tokio::test]
async fn the_handler_of_a_run_decides_nothing_of_the_next_one() {
    let (count, asked) = (Arc::default(), Asked::default());
    let lights = |lamp: &str| calls(&[switches(lamp)]);
    let scenes = [scene("Light", &[lights("desk"), says("lit"), lights("hall"), says("dark")])];
    let staff = builder(&scenes).tool(lamps(&count)).build().await.expect("a staff");
    // Which of the two is quicker, the next message or what follows the log, is left to chance.
    for _ in 0..20 {
        let session = staff.session();
        let first = Work::new("Light").approve(asked.handler("first", Decision::allow()));
        assert!(session.send(first).await.expect("a report").unanswered.is_empty());
        assert_eq!(session.send("And more").await.expect("a report").unanswered.len(), 1, "the next run has none");
    }
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (20, vec!["first: desk".to_owned(); 20]));
}

#[tokio::test]
async fn a_run_keeps_its_handler_while_a_message_with_another_one_waits() {
    let (count, asked, gate) = (Arc::default(), Asked::default(), Gate::new());
    let lights = |lamp: &str| calls(&[switches(lamp)]);
    let replies = [lights("desk"), lights("hall"), says("lit"), lights("cellar"), says("dark")];
    let staff = builder(&[scene("Light", &replies)]).tool(lamps(&count)).build().await.expect("a staff");
    let session = staff.session();
    let (noted, at) = (asked.clone(), gate.clone());
    let first = session.stream(Work::new("Light").approve(move |request| {
        let (asked, gate) = (noted.clone(), at.clone());
        async move {
            gate.wait().await;
            asked.note("first", &request);
            Decision::allow()
        }
    }));
    let first = first.await.expect("a run");
    gate.is_reached().await;
    let second = Work::new("The cellar").approve(asked.handler("second", Decision::deny("it is night")));
    let second = session.stream(second).await.expect("it waits");
    gate.let_pass();
    gate.let_pass();
    assert!(first.report().await.expect("a report").unanswered.is_empty());
    second.report().await.expect("a report");
    assert_eq!(asked.all(), ["first: desk", "first: hall", "second: cellar"]);
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_run_without_handler_gets_none_from_a_message_that_waits_and_takes_none_from_it() {
    let (count, asked, gate) = (Arc::default(), Asked::default(), Gate::new());
    let lights = |lamp: &str| calls(&[switches(lamp)]);
    let replies = [calls(&[call("wait", "")]), lights("desk"), says("dark"), lights("cellar"), says("lit")];
    let scenes = [scene("Light", &replies)];
    let staff = builder(&scenes).tool(lamps(&count)).tool(gate.tool()).build().await.expect("a staff");
    let session = staff.session();
    let first = session.stream("Light").await.expect("a run");
    gate.is_reached().await;
    let second = Work::new("The cellar").approve(asked.handler("second", Decision::allow()));
    let second = session.stream(second).await.expect("it waits");
    gate.let_pass();
    assert_eq!(first.report().await.expect("a report").unanswered.len(), 1, "it is refused at once");
    assert!(second.report().await.expect("a report").unanswered.is_empty());
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (1, vec!["second: cellar".to_owned()]));
}

#[tokio::test]
async fn sub_agents_belong_to_the_run_that_started_them() {
    let (count, asked, gate) = (Arc::default(), Asked::default(), Gate::new());
    let lights = |lamp: &str| calls(&[switches(lamp)]);
    let scenes = [
        scene("the building", &[calls(&[spawn("room 1")]), says("dark"), calls(&[spawn("room 2")]), says("lit")]),
        scene("room 1", &[calls(&[call("wait", "")]), lights("one"), says("dark")]),
        scene("room 2", &[calls(&[spawn("its lamp")]), says("lit")]),
        scene("its lamp", &[lights("two"), says("lit")]),
    ];
    let staff = builder(&scenes).tool(lamps(&count)).tool(gate.tool()).build().await.expect("a staff");
    let session = staff.session();
    let first = session.stream("the building").await.expect("a run");
    gate.is_reached().await;
    let second = Work::new("the rest").approve(asked.handler("second", Decision::allow()));
    let second = session.stream(second).await.expect("it waits");
    gate.let_pass();
    let first = tokio::time::timeout(Duration::from_secs(30), first.report());
    first.await.expect("its sub-agent is refused at once").expect("a report");
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (0, Vec::new()));
    second.report().await.expect("a report");
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (1, vec!["second: two".to_owned()]));
}

#[tokio::test]
async fn the_handler_of_a_message_to_a_sub_agent_decides_for_it_alone_and_goes_with_its_run() {
    let (count, asked): (Arc<AtomicUsize>, _) = (Arc::default(), Asked::default());
    let lights = |lamp: &str| calls(&[switches(lamp)]);
    let scenes = [
        scene("the building", &[calls(&[spawn("room 1")]), says("built"), lights("hall"), says("dark")]),
        scene("room 1", &[says("ready"), lights("one"), says("lit")]),
    ];
    let staff = builder(&scenes).tool(lamps(&count)).build().await.expect("a staff");
    let session = staff.session();
    session.send("the building").await.expect("a report");
    let held = Arc::new(());
    let (kept, handler): (Weak<()>, _) = (Arc::downgrade(&held), asked.handler("own", Decision::allow()));
    let work = Work::new("Light").approve(move |request| {
        let _held = &held;
        handler(request)
    });
    let run = session.ask(&child_of(&session).await, work).await.expect("a run");
    assert!(run.report().await.expect("a report").unanswered.is_empty());
    assert_eq!(session.send("Light it").await.expect("a report").unanswered.len(), 1, "the root has none");
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (1, vec!["own: one".to_owned()]));
    let dropped = async {
        while kept.strong_count() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), dropped).await.expect("the handler is dropped with its run");
}

#[tokio::test]
async fn a_run_has_its_own_handler_in_the_place_of_the_builders_and_the_next_one_has_that_again() {
    let (count, asked) = (Arc::default(), Asked::default());
    let lights = |lamp: &str| calls(&[switches(lamp)]);
    let scenes = [scene("Light", &[lights("desk"), says("lit"), lights("hall"), says("dark")])];
    let all = asked.handler("staff", Decision::deny("no"));
    let staff = builder(&scenes).tool(lamps(&count)).approve(all).build().await.expect("a staff");
    let session = staff.session();
    session.send(Work::new("Light").approve(asked.handler("own", Decision::allow()))).await.expect("a report");
    session.send("And more").await.expect("a report");
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (1, vec!["own: desk".into(), "staff: hall".into()]));
}

/// A conversation that was left while its first run asked about a lamp.
async fn left(builder: StaffBuilder) -> ThreadId {
    let staff = builder.approve_in_inbox().build().await.expect("a staff");
    let mut run = staff.stream("Light").await.expect("a run");
    let is_asked = |update: &Update| match update {
        Update::Events(records) => records.iter().any(|record| matches!(*record.event, Event::ApprovalRequested(_))),
        _ => false,
    };
    while !is_asked(&run.try_next().await.expect("a log").expect("it waits")) {}
    let root = run.root().clone();
    staff.close().await;
    root
}

#[tokio::test]
async fn a_message_to_a_conversation_that_was_left_decides_nothing_that_was_asked_before() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (count, asked) = (Arc::default(), Asked::default());
    let lights = |lamp: &str| calls(&[switches(lamp)]);
    let scenes = [scene("Light", &[lights("desk"), says("dark"), lights("hall"), says("lit")])];
    let builder = || builder(&scenes).tool(lamps(&count)).data_folder(folder.path());
    let root = left(builder()).await;

    let later = builder().build().await.expect("a staff");
    let work = Work::new("The hall").approve(asked.handler("own", Decision::allow()));
    let report = tokio::time::timeout(Duration::from_secs(30), later.session_of(&root).send(work)).await;
    assert_eq!(&*report.expect("in time").expect("a report").text, "lit");
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (1, vec!["own: hall".to_owned()]));
    later.close().await;
}

#[tokio::test]
async fn before_a_conversation_that_was_left_is_summed_up_its_question_is_decided() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (count, asked) = (Arc::default(), Asked::default());
    let scenes = [scene("Light", &[calls(&[switches("desk")]), says("lit"), says("It was lit.")])];
    let builder = || builder(&scenes).tool(lamps(&count)).data_folder(folder.path());
    let root = left(builder()).await;
    let later = builder().approve(asked.handler("staff", Decision::allow())).build().await.expect("a staff");
    let run = later.session_of(&root).sum_up(&root).await.expect("a run");
    let report = tokio::time::timeout(Duration::from_secs(30), run.report()).await;
    assert_eq!(report.expect("in time").expect("a report").outcome, Outcome::Completed);
    assert_eq!((count.load(Ordering::Relaxed), asked.all()), (1, vec!["staff: desk".to_owned()]));
    later.close().await;
}
