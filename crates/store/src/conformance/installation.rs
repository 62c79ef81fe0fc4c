//! The stream of the installation: what holds for every thread and every process.

use std::sync::Arc;
use std::time::Duration;

use agent::ThreadId;
use futures_util::StreamExt;

use super::sample::{NOW, append, root, threads, turn_started};
use crate::follow::follow_installation;
use crate::installation::{
    BrowserSession, Consent, Current, InstallationEvent, LastServer, ProjectJudgement, State, UnfinishedConversation,
};
use crate::open::Store;
use crate::process::{Process, ProcessId};

fn consent(id: &str) -> InstallationEvent {
    let (tool, pattern) = ("run_command".into(), Some(format!("git {id}*").into()));
    InstallationEvent::ConsentGiven(Consent {
        id: id.into(),
        tool,
        pattern,
        agent: None,
        approval: None,
        given_at: NOW,
    })
}

fn revoked(id: &str) -> InstallationEvent {
    InstallationEvent::ConsentRevoked { id: id.into() }
}

fn ids(state: &State) -> Vec<&str> {
    state.consents.iter().map(|consent| &*consent.id).collect()
}

/// Until it is taken back.
pub async fn a_consent_is_kept_once(store: Arc<dyn Store>) {
    let first = store.record(consent("a"), NOW).await.unwrap();
    assert_eq!(store.record(consent("a"), NOW.plus_ms(1)).await.unwrap(), first, "it is not written again");
    store.record(consent("b"), NOW).await.unwrap();
    assert_eq!(ids(&store.installation().await.unwrap()), ["a", "b"]);
    store.record(revoked("a"), NOW).await.unwrap();
    store.record(revoked("a"), NOW).await.unwrap();
    assert_eq!(ids(&store.installation().await.unwrap()), ["b"]);
    store.record(consent("a"), NOW).await.unwrap();
    assert_eq!(ids(&store.installation().await.unwrap()), ["b", "a"]);
    assert_eq!(store.installation_events(0, 100).await.unwrap().len(), 4);
}

/// And what holds is what they tell.
pub async fn its_events_lie_in_the_log_and_in_no_threads(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let judged = |trusted| {
        let (path, digest) = ("/home/anna/project".into(), "d1".into());
        InstallationEvent::ProjectJudged(ProjectJudgement { path, digest, trusted, machine: None })
    };
    let browser = |cookie: &str| {
        let (cookie, page, password) = (cookie.into(), "p".into(), "-".into());
        InstallationEvent::BrowserAdmitted(BrowserSession { cookie, page, password, since: 7 })
    };
    let process = ProcessId::new("server");
    let unfinished = |process: &str| {
        let process = Process { id: ProcessId::new(process), ..Process::current() };
        UnfinishedConversation { root: root(), process, since: NOW }
    };
    let events = [
        consent("a"),
        judged(true),
        judged(false),
        browser("one"),
        browser("two"),
        InstallationEvent::ServerStarted { process: process.clone(), address: "127.0.0.1:4870".into(), place: None },
        InstallationEvent::ServerStopped { process: process.clone(), left: vec![root()], place: None },
        InstallationEvent::ConversationBegun(unfinished("one")),
        InstallationEvent::ConversationBegun(unfinished("two")),
        InstallationEvent::ConversationEnded { root: root(), process: ProcessId::new("one") },
        InstallationEvent::ProjectForgotten { path: "/home/anna/elsewhere".into(), machine: None },
    ];
    let mut before = 0;
    for (turn, event) in (1..).zip(events) {
        let recorded = store.record(event, NOW).await.unwrap();
        let appended = append(&*store, &root(), u64::from(turn), vec![turn_started(turn)]).await;
        assert!(before < appended.position && recorded.position < appended.position);
        before = appended.position;
    }
    let records = store.installation_events(0, 100).await.unwrap();
    assert_eq!(records.iter().map(|record| record.n).collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
    assert!(records.is_sorted_by(|a, b| a.position < b.position));
    assert_eq!(store.installation_events(3, 2).await.unwrap(), records[3..5]);
    let mut folded = State::default();
    records.iter().for_each(|record| folded.apply(&record.event));
    let state = store.installation().await.unwrap();
    assert_eq!(state, folded);
    assert_eq!(state.projects.iter().map(|project| project.trusted).collect::<Vec<_>>(), [false]);
    assert_eq!(state.browsers.len(), 2);
    assert_eq!(state.unfinished, [unfinished("two")], "of two that write one conversation, one has ended");
    assert_eq!(state.server, Some(LastServer { process, address: None, left: vec![root()], place: None }));

    let all = store.all(0, 100).await.unwrap();
    assert_eq!(all.len(), 12);
    assert!(all.iter().all(|record| record.thread == root()));
    store.remove(&root(), NOW.plus_ms(1_000_000)).await.unwrap();
    assert_eq!(store.installation().await.unwrap(), state, "what holds for all goes with no thread");
}

/// Whichever process wrote it.
pub async fn what_one_changes_holds_for_the_other(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    let (here, there) = (Current::open(&one).await.unwrap(), Current::open(&two).await.unwrap());
    let mut follow = follow_installation(&two, 0, Duration::ZERO);
    here.record(consent("a"), NOW).await.unwrap();
    assert_eq!(ids(&here.state()), ["a"], "here at once");
    assert_eq!(ids(&two.installation().await.unwrap()), ["a"]);
    let followed = tokio::time::timeout(Duration::from_secs(20), follow.next()).await.expect("it is announced");
    assert_eq!(followed.unwrap().unwrap()[0].n, 1);
    until(|| ids(&there.state()) == ["a"]).await;
    threads(&*two, &[&root(), &ThreadId::new("20260115-zzzz")]).await;
    there.record(revoked("a"), NOW).await.unwrap();
    there.record(consent("b"), NOW).await.unwrap();
    until(|| ids(&here.state()) == ["b"]).await;
    assert_eq!(here.state(), there.state());
}

/// Asks again and again, for what comes from elsewhere comes after a moment.
async fn until(holds: impl Fn() -> bool) {
    let looking = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), looking).await.expect("it holds");
}
