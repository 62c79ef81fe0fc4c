//! Wakes: hints for the process that owns a thread.

use std::sync::Arc;

use agent::{InputId, ThreadId, Time};

use super::sample::{NOW, process, root, said, threads};
use crate::error::Error;
use crate::open::Store;
use crate::process::{HEARTBEAT_EXPIRES_MS, ProcessId};
use crate::rows::LEASE_MS;

/// To no other process, and not before.
pub async fn a_wake_goes_to_the_owner_when_it_is_due(store: Arc<dyn Store>) {
    let (writer, heir) = (ProcessId::new("writer"), ProcessId::new("heir"));
    threads(&*store, &[&root(), &root().child(1)]).await;
    store.register(process("heir"), NOW).await.unwrap();
    store.wake(&root(), NOW.plus_ms(20)).await.unwrap();
    store.wake(&root().child(1), NOW.plus_ms(10)).await.unwrap();
    store.wake(&root().child(1), NOW.plus_ms(10)).await.unwrap();
    assert_eq!(store.claim(&writer, NOW, 10).await.unwrap(), []);
    assert_eq!(store.claim(&heir, NOW.plus_ms(20), 10).await.unwrap(), []);
    let due = store.claim(&writer, NOW.plus_ms(20), 10).await.unwrap();
    let due: Vec<(ThreadId, Time)> = due.into_iter().map(|wake| (wake.thread, wake.due)).collect();
    assert_eq!(due, [(root().child(1), NOW.plus_ms(10)), (root(), NOW.plus_ms(20))]);

    store.wake(&root(), NOW.plus_ms(30)).await.unwrap();
    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    store.adopt(&root(), &heir, late).await.unwrap();
    let inherited = store.claim(&heir, late, 10).await.unwrap();
    assert_eq!(inherited.len(), 1);
    assert_eq!(inherited[0].due, NOW.plus_ms(30));
    let unknown = store.wake(&ThreadId::new("nobody"), NOW).await;
    assert!(matches!(unknown, Err(Error::UnknownThread(_))), "{unknown:?}");
}

/// A lease is an optimisation, and a wake that no process answered is not lost.
pub async fn a_claimed_wake_comes_back_unless_it_is_done(store: Arc<dyn Store>) {
    let writer = ProcessId::new("writer");
    threads(&*store, &[&root()]).await;
    store.wake(&root(), NOW).await.unwrap();
    store.wake(&root(), NOW.plus_ms(1)).await.unwrap();
    let at = NOW.plus_ms(1);
    let first = store.claim(&writer, at, 1).await.unwrap();
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].due, NOW);
    let second = store.claim(&writer, at, 1).await.unwrap();
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].due, at);
    assert_eq!(store.claim(&writer, at, 1).await.unwrap(), []);
    store.done(second[0].clone()).await.unwrap();
    assert_eq!(store.claim(&writer, at.plus_ms(LEASE_MS - 1), 10).await.unwrap(), []);
    assert_eq!(store.claim(&writer, at.plus_ms(LEASE_MS), 10).await.unwrap(), first);
    store.done(first[0].clone()).await.unwrap();
    assert_eq!(store.claim(&writer, at.plus_ms(9 * LEASE_MS), 10).await.unwrap(), []);
}

/// Once, if it is asked for; and again after the first one was taken.
pub async fn an_input_can_leave_a_wake(store: Arc<dyn Store>) {
    let writer = ProcessId::new("writer");
    threads(&*store, &[&root()]).await;
    let send = |id: &str, wake: bool| store.arrive(&root(), InputId::new(id), said("hello"), NOW, wake);
    send("a", false).await.unwrap();
    assert_eq!(store.claim(&writer, NOW, 10).await.unwrap(), []);
    send("b", true).await.unwrap();
    send("b", true).await.unwrap();
    send("c", true).await.unwrap();
    assert_eq!(store.claim(&writer, NOW, 10).await.unwrap().len(), 1);
    send("d", true).await.unwrap();
    assert_eq!(store.claim(&writer, NOW, 10).await.unwrap().len(), 1);
}
