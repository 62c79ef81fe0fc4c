//! Who may write: one process at a time, known by its epoch.

use std::sync::Arc;

use agent::{Outcome, ThreadId};

use super::sample::{
    NOW, append, commit, created, process, reported, root, run_started, threads, turn_started, writer,
};
use crate::error::Error;
use crate::log::Commit;
use crate::open::Store;
use crate::ownership::{ClaimKind, ClaimQuery, Claimed, WorkerRow};
use crate::process::{HEARTBEAT_EXPIRES_MS, Process, ProcessId};

/// At epoch 1.
pub async fn a_new_thread_belongs_to_its_writer(store: Arc<dyn Store>) {
    let writer = writer(&*store).await;
    let first = Commit { epoch: 99, ..commit(&root(), 0, vec![created(&root())]) };
    store.append(first).await.unwrap();
    let row = store.thread(&root()).await.unwrap().unwrap();
    assert_eq!(row.epoch, 1);
    let owner = row.owner.unwrap();
    assert_eq!((&owner.process, owner.beat_at), (&process("writer"), NOW));
    assert_eq!(store.adopt(&root(), &writer, NOW).await.unwrap(), 1);
    let wrong = Commit { epoch: 2, ..commit(&root(), 1, vec![turn_started(1)]) };
    let refused = store.append(wrong).await;
    assert!(matches!(refused, Err(Error::Fenced { epoch: 2, current: 1, .. })), "{refused:?}");
}

/// As long as its heartbeats come.
pub async fn a_living_owner_is_not_replaced(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let heir = ProcessId::new("heir");
    store.register(process("heir"), NOW).await.unwrap();
    let refused = store.adopt(&root(), &heir, NOW).await;
    assert!(matches!(refused, Err(Error::Owned { ref by, .. }) if **by == process("writer")), "{refused:?}");
    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    store.heartbeat(&ProcessId::new("writer"), late).await.unwrap();
    let refused = store.adopt(&root(), &heir, late.plus_ms(HEARTBEAT_EXPIRES_MS - 1)).await;
    assert!(matches!(refused, Err(Error::Owned { .. })), "{refused:?}");
    assert_eq!(store.adopt(&root(), &heir, late.plus_ms(HEARTBEAT_EXPIRES_MS)).await.unwrap(), 2);
}

/// Here the kernel says who lives, whatever the heartbeat.
pub async fn a_silent_process_of_this_machine_is_alive(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let (heir, here) = (ProcessId::new("heir"), Process { id: ProcessId::new("here"), ..Process::current() });
    store.register(process("heir"), NOW).await.unwrap();
    store.register(here.clone(), NOW).await.unwrap();
    let long_after = NOW.plus_ms(10 * HEARTBEAT_EXPIRES_MS);
    assert_eq!(store.adopt(&root(), &here.id, long_after).await.unwrap(), 2);
    let silent = long_after.plus_ms(10 * HEARTBEAT_EXPIRES_MS);
    let refused = store.adopt(&root(), &heir, silent).await;
    assert!(matches!(refused, Err(Error::Owned { .. })), "{refused:?}");
    let row = store.thread(&root()).await.unwrap().unwrap();
    assert!(store.living(silent).await.unwrap().owns(&row));
}

/// Even where it knows every event.
pub async fn a_takeover_fences_off_the_old_owner(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let heir = ProcessId::new("heir");
    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    store.register(process("heir"), late).await.unwrap();
    assert_eq!(store.adopt(&root(), &heir, late).await.unwrap(), 2);
    assert_eq!(store.adopt(&root(), &heir, late).await.unwrap(), 2);
    let old = store.append(commit(&root(), 1, vec![turn_started(1)])).await;
    assert!(matches!(old, Err(Error::Fenced { epoch: 1, current: 2, .. })), "{old:?}");
    let borrowed_epoch = Commit { epoch: 2, ..commit(&root(), 1, vec![turn_started(1)]) };
    let borrowed = store.append(borrowed_epoch).await;
    assert!(matches!(borrowed, Err(Error::Fenced { .. })), "{borrowed:?}");
    let new = Commit { epoch: 2, process: heir, ..commit(&root(), 1, vec![turn_started(1)]) };
    assert_eq!(store.append(new).await.unwrap().n, 2);
    let unknown = store.adopt(&ThreadId::new("nobody"), &ProcessId::new("heir"), late).await;
    assert!(matches!(unknown, Err(Error::UnknownThread(_))), "{unknown:?}");
}

/// A thread that is over has no owner; a process that goes on with it adopts it.
pub async fn a_report_gives_up_ownership_unless_another_run_follows(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    append(&*store, &root(), 1, vec![run_started(1, "one"), reported(Outcome::Completed), run_started(2, "two")]).await;
    assert!(store.thread(&root()).await.unwrap().unwrap().owner.is_some());
    append(&*store, &root(), 4, vec![reported(Outcome::Completed)]).await;
    assert_eq!(store.thread(&root()).await.unwrap().unwrap().owner, None);
    let refused = store.append(commit(&root(), 5, vec![run_started(3, "three")])).await;
    assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");
    let epoch = store.adopt(&root(), &ProcessId::new("writer"), NOW).await.unwrap();
    assert_eq!(epoch, 2);
    let commit = Commit { epoch, ..commit(&root(), 5, vec![run_started(3, "three")]) };
    store.append(commit).await.unwrap();
}

/// So that others need not wait for its heartbeat to expire.
pub async fn a_process_that_leaves_owns_nothing(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    store.register(process("heir"), NOW).await.unwrap();
    store.leave(&ProcessId::new("writer")).await.unwrap();
    assert_eq!(store.thread(&root()).await.unwrap().unwrap().owner, None);
    assert_eq!(store.adopt(&root(), &ProcessId::new("heir"), NOW).await.unwrap(), 2);
}

/// It must register first.
pub async fn an_unknown_process_can_do_nothing(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let stranger = ProcessId::new("stranger");
    let commit = Commit { process: stranger.clone(), ..commit(&root(), 1, vec![turn_started(1)]) };
    assert!(matches!(store.append(commit).await, Err(Error::UnknownProcess(_))));
    assert!(matches!(store.adopt(&root(), &stranger, NOW).await, Err(Error::UnknownProcess(_))));
    assert!(matches!(store.heartbeat(&stranger, NOW).await, Err(Error::UnknownProcess(_))));
    assert_eq!(store.claim(&stranger, NOW, 10).await.unwrap(), []);
}

/// Roots or sub-agents, of one agent or one tree, and only those with something still to be done.
pub async fn threads_without_an_owner_are_handed_out_by_what_is_asked_for(store: Arc<dyn Store>) {
    let (child, other, idle) = (root().child(1), ThreadId::new("20260116-left"), ThreadId::new("20260116-idle"));
    threads(&*store, &[&root(), &child, &other, &idle]).await;
    for thread in [&root(), &other] {
        append(&*store, thread, 1, vec![run_started(1, "go")]).await;
    }
    store.register(process("heir"), NOW).await.unwrap();
    let heir = ProcessId::new("heir");
    let claim = |query: ClaimQuery, at| store.claim_threads(&heir, at, query);
    assert_eq!(claim(ClaimQuery::default(), NOW).await.unwrap(), [], "the owner lives");

    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    let nothing = ClaimQuery { agent: Some("another".into()), ..ClaimQuery::default() };
    assert_eq!(claim(nothing, late).await.unwrap(), []);
    let children = ClaimQuery { kind: ClaimKind::Children, ..ClaimQuery::default() };
    assert_eq!(claim(children, late).await.unwrap(), [Claimed { thread: child, epoch: 2 }]);
    let tree = ClaimQuery { root: Some(other.clone()), agent: Some("general".into()), ..ClaimQuery::default() };
    assert_eq!(claim(tree, late).await.unwrap(), [Claimed { thread: other.clone(), epoch: 2 }]);
    assert_eq!(claim(ClaimQuery { limit: 0, ..ClaimQuery::default() }, late).await.unwrap(), []);
    let roots = ClaimQuery { kind: ClaimKind::Roots, ..ClaimQuery::default() };
    assert_eq!(claim(roots.clone(), late).await.unwrap(), [Claimed { thread: root(), epoch: 2 }]);
    assert_eq!(claim(roots, late).await.unwrap(), [], "what is owned is not handed out again");

    let old = store.append(commit(&root(), 2, vec![turn_started(1)])).await;
    assert!(matches!(old, Err(Error::Fenced { .. })), "{old:?}");
    let stranger = store.claim_threads(&ProcessId::new("stranger"), late, ClaimQuery::default()).await;
    assert!(matches!(stranger, Err(Error::UnknownProcess(_))), "{stranger:?}");
}

/// Of the writer, if it says so; and a process hands over what it owns, to another or to none.
pub async fn a_thread_is_given_up_with_a_commit_or_handed_over(store: Arc<dyn Store>) {
    let child = root().child(1);
    threads(&*store, &[&root()]).await;
    store.append(Commit { lets_go: true, ..commit(&child, 0, vec![created(&child)]) }).await.unwrap();
    let row = async || store.thread(&child).await.unwrap().unwrap();
    assert_eq!((row().await.owner, row().await.state.is_live()), (None, true));
    let old = store.append(commit(&child, 1, vec![turn_started(1)])).await;
    assert!(matches!(old, Err(Error::Fenced { .. })), "{old:?}");
    let (heir, next) = (ProcessId::new("heir"), ProcessId::new("next"));
    store.register(process("heir"), NOW).await.unwrap();
    store.register(process("next"), NOW).await.unwrap();
    assert_eq!(store.adopt(&child, &heir, NOW).await.unwrap(), 2);
    let others = store.hand_over(&child, &next, Some(&heir)).await;
    assert!(matches!(others, Err(Error::Fenced { .. })), "{others:?}");
    store.hand_over(&child, &heir, Some(&next)).await.unwrap();
    assert_eq!(row().await.owner.unwrap().process.id, next);
    store.append(Commit { epoch: 3, process: next.clone(), ..commit(&child, 1, vec![turn_started(1)]) }).await.unwrap();
    store.hand_over(&child, &next, None).await.unwrap();
    assert_eq!((row().await.owner, row().await.epoch), (None, 4));
}

/// Whatever it goes by.
pub async fn the_store_says_whose_owner_is_alive(store: Arc<dyn Store>) {
    let (others, nobodys) = (ThreadId::new("20260116-here"), ThreadId::new("20260116-gone"));
    threads(&*store, &[&root(), &nobodys]).await;
    let other = process("other");
    store.register(other.clone(), NOW).await.unwrap();
    let first = Commit { process: other.id.clone(), ..commit(&others, 0, vec![created(&others)]) };
    store.append(first).await.unwrap();
    append(&*store, &nobodys, 1, vec![run_started(1, "go"), reported(Outcome::Completed)]).await;
    let living = async |at| {
        let living = store.living(at).await.unwrap();
        let mut owned = Vec::new();
        for thread in [&root(), &others, &nobodys] {
            owned.push(living.owns(&store.thread(thread).await.unwrap().unwrap()));
        }
        owned
    };
    assert_eq!(living(NOW).await, [true, true, false]);
    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    store.heartbeat(&other.id, late).await.unwrap();
    assert_eq!(living(late).await, [false, true, false]);
    store.heartbeat(&ProcessId::new("writer"), late).await.unwrap();
    assert_eq!(living(late).await, [true, true, false]);
}

/// Until it leaves or dies, with what it was carrying out given back to others at once.
pub async fn a_process_that_works_tasks_is_listed_while_it_lives(store: Arc<dyn Store>) {
    let worker = |name: &str, process: Process| WorkerRow {
        process: Process { id: ProcessId::new(name), ..process },
        command: "work".into(),
        since: NOW,
        labels: vec!["ci".into()],
        concurrency: 4,
        heard_at: None,
    };
    let (here, far) = (worker("here", Process::current()), worker("far", process("far")));
    let names = async |at| -> Vec<String> {
        store.workers(at).await.unwrap().iter().map(|worker| worker.process.id.to_string()).collect()
    };
    assert_eq!(names(NOW).await, [""; 0]);
    store.register_worker(here.clone(), NOW).await.unwrap();
    store.register_worker(far, NOW).await.unwrap();
    let heard = WorkerRow { heard_at: Some(NOW), ..here.clone() };
    assert_eq!(store.workers(NOW).await.unwrap()[0], heard);
    assert_eq!(names(NOW).await, ["here", "far"]);
    assert!(!store.retire_workers(None, NOW).await.unwrap(), "both live");

    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    store.heartbeat(&here.process.id, late).await.unwrap();
    assert_eq!(names(late).await, ["here"]);
    assert!(store.retire_workers(None, late).await.unwrap());
    assert!(!store.retire_workers(None, late).await.unwrap(), "once");
    assert!(store.retire_workers(Some(here.process.id.clone()), late).await.unwrap());
    store.leave(&here.process.id).await.unwrap();
    assert_eq!(names(late).await, [""; 0]);
}
