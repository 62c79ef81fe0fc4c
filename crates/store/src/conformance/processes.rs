//! Two handles on one store, as two processes hold them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use agent::{InputId, ThreadId};
use futures_util::StreamExt;
use futures_util::future::{join, join_all};

use super::sample::{NOW, append, commit, created, process, root, run_started, said, threads, turn_started, writer};
use crate::error::Error;
use crate::follow::{Follow, Selection, follow, read_all};
use crate::log::{Commit, Record};
use crate::open::Store;
use crate::ownership::ClaimQuery;
use crate::process::{HEARTBEAT_EXPIRES_MS, ProcessId};

/// As soon as it is acknowledged.
pub async fn what_one_writes_the_other_reads_at_once(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    threads(&*one, &[&root()]).await;
    for turn in 1..=10 {
        let (writing, reading) = if turn % 2 == 0 { (&one, &two) } else { (&two, &one) };
        append(&**writing, &root(), u64::from(turn), vec![turn_started(turn)]).await;
        let read = reading.read(&root(), 0, 100).await.unwrap();
        assert_eq!(read, writing.read(&root(), 0, 100).await.unwrap());
        assert_eq!(read.len(), 1 + turn as usize);
        assert_eq!(reading.thread(&root()).await.unwrap(), writing.thread(&root()).await.unwrap());
    }
}

/// And nothing of it is written.
pub async fn of_two_writers_with_the_same_expectation_one_is_refused(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    threads(&*one, &[&root()]).await;
    for turn in 1..=20 {
        let attempt = |store: &Arc<dyn Store>| store.append(commit(&root(), u64::from(turn), vec![turn_started(turn)]));
        let (first, second) = join(attempt(&one), attempt(&two)).await;
        let refused = match (&first, &second) {
            (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
            both => panic!("exactly one of two is written: {both:?}"),
        };
        assert!(matches!(refused, Error::Conflict { .. }), "{refused:?}");
    }
    assert_eq!(one.read(&root(), 0, 100).await.unwrap().len(), 21);
}

/// However many write at the same moment through either: a reader that goes on after the last position that it saw misses nothing.
pub async fn a_position_that_was_seen_gains_no_event_before_it(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    const THREADS: usize = 12;
    const COMMITS: u32 = 12;
    let names: Vec<ThreadId> = (0..THREADS).map(|n| ThreadId::new(format!("20260115-t{n:03}"))).collect();
    writer(&*one).await;
    let all = THREADS * (1 + COMMITS as usize);
    let writers = names.into_iter().enumerate().map(|(n, thread)| {
        let store = if n % 2 == 0 { one.clone() } else { two.clone() };
        tokio::spawn(async move {
            append(&*store, &thread, 0, vec![created(&thread)]).await;
            for turn in 1..=COMMITS {
                append(&*store, &thread, u64::from(turn), vec![turn_started(turn)]).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let readers = [(&one, 3), (&two, 5), (&two, 1000)].map(|(store, page)| {
        let mut follow = follow(store, Selection::everything().page(page));
        tokio::spawn(async move {
            let mut seen = Vec::new();
            while seen.len() < all {
                seen.extend(next(&mut follow).await);
            }
            seen
        })
    });
    for writer in writers {
        writer.await.unwrap();
    }
    let written = read_all(&*one, Selection::everything()).await.unwrap();
    assert!(written.is_sorted_by(|a, b| a.position < b.position));
    assert_eq!(written.len(), all);
    for reader in readers {
        assert_eq!(reader.await.unwrap(), written);
    }
}

/// The events of a root and its descendants, written here and there.
pub async fn a_tree_is_followed_from_either_side(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    threads(&*one, &[&root()]).await;
    let mut follows = [follow(&one, Selection::tree(&root())), follow(&two, Selection::tree(&root()))];
    let write = async {
        for n in 1..=10 {
            let (child, store) = (root().child(n), if n % 2 == 0 { &one } else { &two });
            append(&**store, &child, 0, vec![created(&child)]).await;
            append(&**store, &root(), u64::from(n), vec![turn_started(n)]).await;
        }
    };
    let read = join_all(follows.iter_mut().map(async |follow| {
        let mut seen = Vec::new();
        while seen.len() < 21 {
            seen.extend(next(follow).await.iter().map(|record| record.seq));
        }
        seen
    }));
    let ((), seen) = join(write, read).await;
    assert_eq!(seen, vec![(1..=21).collect::<Vec<_>>(); 2]);
}

/// What one says of itself the other knows.
pub async fn an_owner_is_alive_or_dead_for_both(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    threads(&*one, &[&root()]).await;
    let is_alive = async |store: &Arc<dyn Store>, at| {
        let row = store.thread(&root()).await.unwrap().unwrap();
        store.living(at).await.unwrap().owns(&row)
    };
    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    assert_eq!((is_alive(&one, NOW).await, is_alive(&two, NOW).await), (true, true));
    assert_eq!((is_alive(&one, late).await, is_alive(&two, late).await), (false, false));
    one.heartbeat(&ProcessId::new("writer"), late).await.unwrap();
    assert_eq!((is_alive(&one, late).await, is_alive(&two, late).await), (true, true));
    one.leave(&ProcessId::new("writer")).await.unwrap();
    assert_eq!((is_alive(&one, late).await, is_alive(&two, late).await), (false, false));
}

/// Whatever the other remembers of the thread.
pub async fn a_takeover_through_one_fences_off_the_other(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    threads(&*one, &[&root()]).await;
    append(&*one, &root(), 1, vec![run_started(1, "go")]).await;
    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    two.register(process("heir"), late).await.unwrap();
    assert_eq!(two.adopt(&root(), &ProcessId::new("heir"), late).await.unwrap(), 2);
    let old = one.append(commit(&root(), 2, vec![turn_started(1)])).await;
    assert!(matches!(old, Err(Error::Fenced { epoch: 1, current: 2, .. })), "{old:?}");
    let new = Commit { epoch: 2, process: ProcessId::new("heir"), ..commit(&root(), 2, vec![turn_started(1)]) };
    assert_eq!(two.append(new).await.unwrap().n, 3);
}

/// At the same moment, through either.
pub async fn a_thread_without_an_owner_is_given_to_one_of_many_that_ask(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    let names: Vec<ThreadId> = (0..20).map(|n| ThreadId::new(format!("20260115-t{n:03}"))).collect();
    writer(&*one).await;
    for thread in &names {
        append(&*one, thread, 0, vec![created(thread), run_started(1, "go")]).await;
    }
    one.leave(&ProcessId::new("writer")).await.unwrap();
    let workers = (0..6).map(|n| {
        let store = if n % 2 == 0 { one.clone() } else { two.clone() };
        tokio::spawn(async move {
            let worker = process(&format!("worker-{n}"));
            let id = worker.id.clone();
            store.register(worker, NOW).await.unwrap();
            let mut mine = Vec::new();
            loop {
                let claimed = store.claim_threads(&id, NOW, ClaimQuery { limit: 3, ..ClaimQuery::default() }).await;
                let claimed = claimed.unwrap();
                if claimed.is_empty() {
                    return mine;
                }
                mine.extend(claimed.into_iter().map(|claimed| claimed.thread));
            }
        })
    });
    let given: Vec<ThreadId> = join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(given.len(), names.len(), "none is given twice: {given:?}");
    assert_eq!(given.into_iter().collect::<BTreeSet<_>>(), names.into_iter().collect());
}

/// Which then finds it.
pub async fn an_input_sent_through_one_wakes_the_owner_at_the_other(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    threads(&*one, &[&root()]).await;
    let mut tail = one.tail();
    tail.borrow_and_update();
    two.arrive(&root(), InputId::new("in"), said("hello"), NOW, true).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), tail.changed()).await.expect("it is announced").unwrap();
    let wakes = one.claim(&ProcessId::new("writer"), NOW, 10).await.unwrap();
    assert_eq!(wakes.iter().map(|wake| &wake.thread).collect::<Vec<_>>(), [&root()]);
    assert_eq!(two.claim(&ProcessId::new("writer"), NOW, 10).await.unwrap(), [], "it is leased");
    two.done(wakes[0].clone()).await.unwrap();
    assert_eq!(one.read(&root(), 1, 10).await.unwrap().len(), 1);
}

/// Fails where the next page does not come.
async fn next(follow: &mut Follow) -> Vec<Record> {
    let page = tokio::time::timeout(Duration::from_secs(20), follow.next()).await.expect("a page comes");
    page.expect("the store is open").expect("the log can be read")
}
