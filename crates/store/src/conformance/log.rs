//! Commits: compare-and-set, all or nothing, numbered without gaps, read back in pages.

use std::sync::Arc;

use agent::{Event, ThreadId};
use futures_util::future::join_all;

use super::sample::{
    NOW, append, commit, created, root, run_started, spawned, tail_reaches, threads, turn_started, writer,
};
use crate::error::Error;
use crate::log::{Appended, Record};
use crate::open::Store;

/// Within its thread, within its tree, within the store.
pub async fn a_commit_is_numbered_in_its_three_orders(store: Arc<dyn Store>) {
    writer(&*store).await;
    let (one, other) = (root(), ThreadId::new("20260115-zzzz"));
    let first = append(&*store, &one, 0, vec![created(&one), run_started(1, "go"), spawned(&one.child(1), "c")]).await;
    assert_eq!((first.n, first.seq), (3, 3));
    let child = append(&*store, &one.child(1), 0, vec![created(&one.child(1))]).await;
    assert_eq!((child.n, child.seq), (1, 4));
    let stranger = append(&*store, &other, 0, vec![created(&other)]).await;
    assert_eq!((stranger.n, stranger.seq), (1, 1));
    let again = append(&*store, &one, 3, vec![turn_started(1)]).await;
    assert_eq!((again.n, again.seq), (4, 5));
    assert!(first.position < child.position && child.position < stranger.position);
    assert!(stranger.position < again.position);

    let last = store.read(&one, 3, 10).await.unwrap();
    let Appended { n, seq, position } = again;
    let expected = Record { position, seq, thread: one, n, at: NOW, event: Arc::new(turn_started(1)) };
    assert_eq!(last, [expected]);
}

/// However far off, and whether the thread is there or not.
pub async fn a_commit_that_expects_another_head_is_refused(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    for expected in [2, 99] {
        let refused = store.append(commit(&root(), expected, vec![turn_started(1)])).await;
        assert!(matches!(refused, Err(Error::Conflict { head: 1, expected: e, .. }) if e == expected), "{refused:?}");
    }
    let twice = store.append(commit(&root(), 0, vec![created(&root())])).await;
    assert!(matches!(twice, Err(Error::Conflict { head: 1, expected: 0, .. })), "{twice:?}");
    let nowhere = store.append(commit(&ThreadId::new("nobody"), 1, vec![turn_started(1)])).await;
    assert!(matches!(nowhere, Err(Error::UnknownThread(_))), "{nowhere:?}");
    assert_eq!(store.read(&root(), 0, 10).await.unwrap().len(), 1);
}

/// Compare-and-set, when they come at the same moment.
pub async fn of_many_commits_with_the_same_expectation_one_is_written(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let answers = join_all((0..32).map(|turn| store.append(commit(&root(), 1, vec![turn_started(turn)])))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert!(answers.iter().all(|answer| matches!(answer, Ok(_) | Err(Error::Conflict { .. }))));
    assert_eq!(store.read(&root(), 0, 10).await.unwrap().len(), 2);
}

/// Commits that come at the same moment are written together, and fail apart.
pub async fn a_refused_commit_leaves_its_neighbours_alone(store: Arc<dyn Store>) {
    let family: Vec<_> = std::iter::once(root()).chain((1..=60).map(|n| root().child(n))).collect();
    threads(&*store, &family.iter().collect::<Vec<_>>()).await;
    let commits = family.iter().enumerate().map(|(index, thread)| {
        let expected = if index % 3 == 0 { 7 } else { 1 };
        store.append(commit(thread, expected, vec![turn_started(1), turn_started(2)]))
    });
    for (index, answer) in join_all(commits).await.into_iter().enumerate() {
        assert_eq!(answer.is_ok(), index % 3 != 0, "{index}: {answer:?}");
        let events = store.read(&family[index], 0, 10).await.unwrap().len();
        assert_eq!(events, if index % 3 == 0 { 1 } else { 3 }, "{index}");
    }
    assert_gapless(&*store, &root()).await;
}

/// Such as one without events, or a thread that does not begin with its creation.
pub async fn a_commit_that_makes_no_sense_is_refused(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let other = ThreadId::new("20260115-zzzz");
    let nonsense = [
        commit(&root(), 1, vec![]),
        commit(&root(), 1, vec![created(&root())]),
        commit(&root(), 1, vec![turn_started(1), created(&root())]),
        commit(&other, 0, vec![turn_started(1)]),
        commit(&other, 0, vec![created(&root())]),
    ];
    for commit in nonsense {
        let refused = store.append(commit).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let orphan = other.child(1);
    let refused = store.append(commit(&orphan, 0, vec![created(&orphan)])).await;
    assert!(matches!(refused, Err(Error::UnknownThread(_))), "{refused:?}");
    assert_eq!(store.all(0, 10).await.unwrap().len(), 1);
}

/// Whichever thread of the tree writes, and in whatever order.
pub async fn a_family_is_numbered_without_gaps(store: Arc<dyn Store>) {
    let family = [root(), root().child(1), root().child(2), root().child(1).child(1)];
    threads(&*store, &family.iter().collect::<Vec<_>>()).await;
    let lives = family.iter().map(|thread| {
        let store = store.clone();
        async move {
            for n in 1..=10 {
                append(&*store, thread, n, vec![turn_started(n as u32)]).await;
            }
        }
    });
    join_all(lives).await;
    assert_gapless(&*store, &root()).await;
    assert_eq!(store.tree(&root(), 0, 100).await.unwrap().len(), 44);
    for thread in &family {
        let numbers: Vec<_> = store.read(thread, 0, 100).await.unwrap().iter().map(|record| record.n).collect();
        assert_eq!(numbers, (1..=11).collect::<Vec<_>>(), "{thread}");
    }
    let child = store.tree(&root().child(1), 0, 10).await;
    assert!(matches!(child, Err(Error::Invalid(_))), "{child:?}");
}

/// For a thread, a tree and the whole store.
pub async fn pages_join_to_the_whole(store: Arc<dyn Store>) {
    let other = ThreadId::new("20260115-zzzz");
    threads(&*store, &[&root(), &root().child(1), &other]).await;
    for n in 1..=6 {
        for thread in [&root(), &root().child(1), &other] {
            append(&*store, thread, n, vec![turn_started(n as u32)]).await;
        }
    }
    let (mut thread, mut tree, mut all) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let page = store.read(&root(), thread.last().map_or(0, |record: &Record| record.n), 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        thread.extend(page);
    }
    loop {
        let page = store.tree(&root(), tree.last().map_or(0, |record: &Record| record.seq), 4).await.unwrap();
        if page.is_empty() {
            break;
        }
        tree.extend(page);
    }
    loop {
        let page = store.all(all.last().map_or(0, |record: &Record| record.position), 5).await.unwrap();
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    assert_eq!((thread.len(), tree.len(), all.len()), (7, 14, 21));
    assert_eq!(thread, store.read(&root(), 0, usize::MAX).await.unwrap());
    assert_eq!(tree, store.tree(&root(), 0, usize::MAX).await.unwrap());
    assert_eq!(all, store.all(0, usize::MAX).await.unwrap());
    assert!(all.is_sorted_by_key(|record| record.position));
    assert_eq!(store.read(&root(), u64::MAX, 5).await.unwrap(), []);
    let unknown = store.read(&ThreadId::new("nobody"), 0, 5).await;
    assert!(matches!(unknown, Err(Error::UnknownThread(_))), "{unknown:?}");
}

/// And stands still when one is refused.
pub async fn the_tail_tells_of_every_commit(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let mut tail = store.tail();
    let first = tail.borrow_and_update().to_owned();
    let appended = append(&*store, &root(), 1, vec![turn_started(1)]).await;
    assert!(first < appended.position);
    tail_reaches(&mut tail, appended.position).await;
    store.append(commit(&root(), 1, vec![turn_started(2)])).await.unwrap_err();
    assert_eq!(*tail.borrow(), appended.position);
}

/// A tree's `seq`, and every thread's `n`, count every event once.
pub(super) async fn assert_gapless(store: &dyn Store, root: &ThreadId) {
    let records = store.tree(root, 0, usize::MAX).await.unwrap();
    let numbers: Vec<_> = records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (1..=records.len() as u64).collect::<Vec<_>>());
    let mut heads = std::collections::BTreeMap::new();
    for record in &records {
        let head = heads.entry(&record.thread).or_insert(0);
        *head += 1;
        assert_eq!(record.n, *head, "{}", record.thread);
        assert_eq!(record.n == 1, matches!(*record.event, Event::ThreadCreated(_)));
    }
}
