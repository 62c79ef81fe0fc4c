use std::sync::Arc;
use std::time::Duration;

use agent::ThreadId;
use futures_util::{FutureExt, StreamExt};
use tempfile::TempDir;

use super::*;
use crate::conformance::sample::{append, created, root, threads, turn_started};
use crate::sqlite::SqliteStore;
use crate::{MemoryStore, Options};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Two handles on one database, as two processes hold them.
fn two_handles() -> (Arc<dyn Store>, Arc<dyn Store>, TempDir) {
    let folder = TempDir::new().unwrap();
    let open = || SqliteStore::open(folder.path().join("log.db"), &Options::default()).unwrap();
    (Arc::new(open()), Arc::new(open()), folder)
}

/// Fails where the next page does not come.
async fn next(follow: &mut Follow) -> Vec<Record> {
    let page = tokio::time::timeout(Duration::from_secs(20), follow.next()).await.expect("a page comes");
    page.expect("the store is open").expect("the log can be read")
}

fn seqs(page: &[Record]) -> Vec<u64> {
    page.iter().map(|record| record.seq).collect()
}

#[tokio::test]
async fn every_selection_is_replayed_from_its_number_on_in_bounded_pages() {
    let store = memory();
    let other = ThreadId::new("20260115-zzzz");
    threads(&*store, &[&root(), &root().child(1), &other]).await;
    for turn in 1..=5 {
        append(&*store, &root(), u64::from(turn), vec![turn_started(turn)]).await;
    }
    for page in [1, 2, 3, 1000] {
        let everything = read_all(&*store, Selection::everything().page(page)).await.unwrap();
        assert_eq!(everything, store.all(0, usize::MAX).await.unwrap());
        let tree = read_all(&*store, Selection::tree(&root()).after(2).page(page)).await.unwrap();
        assert_eq!(tree, store.tree(&root(), 2, usize::MAX).await.unwrap());
        let thread = read_all(&*store, Selection::thread(&root()).after(4).page(page)).await.unwrap();
        assert_eq!(thread, store.read(&root(), 4, usize::MAX).await.unwrap());
    }
    let unknown = read_all(&*store, Selection::thread(&ThreadId::new("unknown"))).await;
    assert!(matches!(unknown, Err(Error::UnknownThread(_))), "{unknown:?}");
}

#[tokio::test]
async fn a_replay_ends_where_it_is_told_to() {
    let store = memory();
    threads(&*store, &[&root(), &root().child(1), &root().child(2)]).await;
    let mut seen = Vec::new();
    let found = replay_until(&*store, Selection::tree(&root()).page(1), |record| {
        seen.push(record.seq);
        if record.seq == 2 { ControlFlow::Break(record.thread) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(found.await.unwrap(), Some(root().child(1)));
    assert_eq!(seen, [1, 2]);
    let nothing = replay_until(&*store, Selection::tree(&root()), |_| ControlFlow::<()>::Continue(())).await;
    assert_eq!(nothing.unwrap(), None);
}

#[tokio::test]
async fn what_is_there_and_what_is_written_later_is_followed_without_a_gap_or_a_duplicate() {
    let (writing, reading, _folder) = two_handles();
    threads(&*writing, &[&root()]).await;
    let (mut here, mut there) =
        (follow(&writing, Selection::tree(&root()).page(7)), follow(&reading, Selection::everything().page(5)));
    let write = async {
        for turn in 1..=60 {
            append(&*writing, &root(), u64::from(turn), vec![turn_started(turn)]).await;
            tokio::task::yield_now().await;
        }
    };
    let here = async {
        let mut numbers = Vec::new();
        while numbers.len() < 61 {
            let page = next(&mut here).await;
            assert!((1..=7).contains(&page.len()));
            numbers.extend(page.iter().map(|record| record.seq));
        }
        numbers
    };
    let there = async {
        let mut numbers = Vec::new();
        while numbers.len() < 61 {
            let page = next(&mut there).await;
            assert!((1..=5).contains(&page.len()));
            numbers.extend(page.iter().map(|record| record.n));
        }
        numbers
    };
    let ((), here, there) = futures_util::future::join3(write, here, there).await;
    assert_eq!(here, (1..=61).collect::<Vec<_>>());
    assert_eq!(there, (1..=61).collect::<Vec<_>>());
}

#[tokio::test]
async fn giving_up_waiting_loses_nothing() {
    let store = memory();
    threads(&*store, &[&root()]).await;
    let mut follow = follow(&store, Selection::tree(&root()));
    let mut seen = Vec::new();
    for turn in 1..=20 {
        append(&*store, &root(), u64::from(turn), vec![turn_started(turn)]).await;
        // Asked once and dropped, whether it was ready or not.
        if let Some(Some(page)) = follow.next().now_or_never() {
            seen.extend(seqs(&page.unwrap()));
        }
    }
    while seen.len() < 21 {
        seen.extend(seqs(&next(&mut follow).await));
    }
    assert_eq!(seen, (1..=21).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_is_ready_is_told_without_waiting() {
    let (writing, reading, _folder) = two_handles();
    threads(&*writing, &[&root()]).await;
    let mut follow = follow(&reading, Selection::thread(&root()));
    assert_eq!(seqs(&follow.ready().await.unwrap()), [1]);
    assert_eq!(follow.ready().await.unwrap(), []);
    // What another process wrote is there at once, before it is announced.
    append(&*writing, &root(), 1, vec![turn_started(1)]).await;
    assert_eq!(seqs(&follow.ready().await.unwrap()), [2]);
    assert_eq!(follow.seen(), 2);
}

#[tokio::test]
async fn nothing_is_read_while_nothing_is_written() {
    let store = memory();
    threads(&*store, &[&root()]).await;
    let mut follow = follow(&store, Selection::tree(&root()).after(1));
    for _ in 0..3 {
        assert!(follow.next().now_or_never().is_none());
        assert!(matches!(follow.step, Step::Wait(_)));
    }
    append(&*store, &root(), 1, vec![turn_started(1)]).await;
    assert_eq!(seqs(&next(&mut follow).await), [2]);
}

#[tokio::test]
async fn another_trees_events_are_not_handed_out() {
    let store = memory();
    let other = ThreadId::new("20260115-zzzz");
    threads(&*store, &[&root()]).await;
    let mut follow = follow(&store, Selection::tree(&root()).after(1));
    assert!(follow.next().now_or_never().is_none());
    append(&*store, &other, 0, vec![created(&other)]).await;
    assert!(follow.next().now_or_never().is_none());
    append(&*store, &root(), 1, vec![turn_started(1)]).await;
    assert_eq!(seqs(&next(&mut follow).await), [2]);
}

#[tokio::test]
async fn a_failure_is_told_and_a_closed_store_ends_the_wait() {
    let folder = TempDir::new().unwrap();
    let file = SqliteStore::open(folder.path().join("log.db"), &Options::default()).unwrap();
    let store: Arc<dyn Store> = Arc::new(file.clone());
    threads(&*store, &[&root()]).await;
    let mut unknown = follow(&store, Selection::tree(&ThreadId::new("unknown")));
    assert!(matches!(unknown.next().await, Some(Err(Error::UnknownThread(_)))));
    let mut follow = follow(&store, Selection::tree(&root()).after(1));
    let (ended, ()) = futures_util::future::join(follow.next(), async {
        tokio::task::yield_now().await;
        file.close().await;
    })
    .await;
    assert!(matches!(ended, Some(Err(Error::Closed))), "{ended:?}");
}

#[tokio::test]
async fn other_processes_are_looked_for_only_while_something_is_followed() {
    let folder = TempDir::new().unwrap();
    let file = SqliteStore::open(folder.path().join("log.db"), &Options::default()).unwrap();
    let store: Arc<dyn Store> = Arc::new(file.clone());
    let followed = follow(&store, Selection::everything());
    assert!(file.is_looking());
    drop(followed);
    let ended = async {
        while file.is_looking() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the look ends");
}
