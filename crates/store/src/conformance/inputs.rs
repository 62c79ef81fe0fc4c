//! Inputs from outside: written whichever process owns the thread, and once.

use std::sync::Arc;

use agent::{Event, InputId, ThreadId};
use futures_util::future::{join, join_all};

use super::log::assert_gapless;
use super::sample::{NOW, append, commit, created, root, said, threads, turn_started, writer};
use crate::error::Error;
use crate::log::Commit;
use crate::open::Store;

/// However often it is sent under its id; and its id is its thread's own.
pub async fn an_input_arrives_once(store: Arc<dyn Store>) {
    let other = ThreadId::new("20260115-zzzz");
    threads(&*store, &[&root(), &other]).await;
    let send = |thread: &ThreadId, id: &str| store.arrive(thread, InputId::new(id), said("hello"), NOW, false);
    let first = send(&root(), "a").await.unwrap();
    let second = send(&root(), "b").await.unwrap();
    assert_eq!((first.n, second.n), (2, 3));
    assert_eq!(send(&root(), "a").await.unwrap(), first);
    assert_eq!(send(&other, "a").await.unwrap().n, 2);
    let at_once = join_all((0..16).map(|_| send(&root(), "c"))).await;
    assert!(at_once.into_iter().all(|answer| answer.unwrap().n == 4));

    let records = store.read(&root(), 1, 10).await.unwrap();
    assert_eq!(records.len(), 3);
    let expected = Event::InputArrived { id: InputId::new("a"), input: said("hello") };
    assert_eq!(*records[0].event, expected);
    let nowhere = send(&ThreadId::new("nobody"), "a").await;
    assert!(matches!(nowhere, Err(Error::UnknownThread(_))), "{nowhere:?}");
}

/// So that no process decides without having read it.
pub async fn an_input_moves_the_head_on_for_the_next_commit(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    store.arrive(&root(), InputId::new("a"), said("hello"), NOW, false).await.unwrap();
    let behind = store.append(commit(&root(), 1, vec![turn_started(1)])).await;
    assert!(matches!(behind, Err(Error::Conflict { head: 2, .. })), "{behind:?}");
    append(&*store, &root(), 2, vec![turn_started(1)]).await;
}

/// Nothing is lost when they race.
pub async fn inputs_and_commits_interleave_without_a_gap(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let inputs =
        join_all((0..40).map(|n| store.arrive(&root(), InputId::new(format!("in-{n}")), said("hello"), NOW, false)));
    let commits = async {
        let mut expected = 1;
        for turn in 1..=20 {
            loop {
                match store.append(commit(&root(), expected, vec![turn_started(turn)])).await {
                    Ok(appended) => break expected = appended.n,
                    Err(Error::Conflict { head, .. }) => expected = head,
                    Err(other) => panic!("{other}"),
                }
            }
        }
    };
    let (arrived, ()) = join(inputs, commits).await;
    assert!(arrived.iter().all(Result::is_ok));
    assert_eq!(store.read(&root(), 0, 100).await.unwrap().len(), 61);
    assert_gapless(&*store, &root()).await;
}

/// A root can be created together with its first message; sent again, that message is known.
pub async fn a_commit_may_hold_an_input_once(store: Arc<dyn Store>) {
    writer(&*store).await;
    let arrived = || Event::InputArrived { id: InputId::new("a"), input: said("hello") };
    let twice = commit(&root(), 0, vec![created(&root()), arrived(), arrived()]);
    assert!(matches!(store.append(twice).await, Err(Error::Invalid(_))));
    let appended = append(&*store, &root(), 0, vec![created(&root()), arrived()]).await;
    let again = store.arrive(&root(), InputId::new("a"), said("hello"), NOW, false).await.unwrap();
    assert_eq!(again, appended);
    let later = Commit { expected: 2, ..commit(&root(), 2, vec![arrived()]) };
    assert!(matches!(store.append(later).await, Err(Error::Invalid(_))));
}
