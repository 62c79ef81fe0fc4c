//! Watchers of all threads, with a log that is written by hand.

use agent::{Event, InputId, Time};
use futures_util::StreamExt;
use majordomo::tasks::board::{Actor, BoardId, Command, NewTask, Request};
use store::{Commit, MemoryStore, Process};

use super::*;
use crate::live::tests::{created, numbers};

/// A log of several families, and how many events each has.
struct Written {
    store: Arc<dyn Store>,
    families: Vec<(ThreadId, u64)>,
}

impl Written {
    async fn new(families: usize) -> Self {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        store.register(Process::current(), Time(0)).await.expect("a process");
        let families = (1..=families).map(|number| (ThreadId::new(format!("20260115-fam{number}")), 0)).collect();
        let mut written = Self { store, families };
        for family in 0..written.families.len() {
            let id = written.families[family].0.clone();
            written.append(family, created(id)).await;
        }
        written
    }

    /// One more event of a family, which makes one frame.
    async fn say(&mut self, family: usize) {
        let input = InputId::new(format!("in-{}", self.families[family].1));
        self.append(family, Event::Steered { input, text: "go on".into(), from: "person".into(), told: None }).await;
    }

    async fn append(&mut self, family: usize, event: Event) {
        let (thread, n) = self.families[family].clone();
        let (process, events) = (Process::current().id, vec![Arc::new(event)]);
        let commit = Commit { thread, expected: n, epoch: 1, process, at: Time(0), events, lets_go: false };
        self.families[family].1 = self.store.append(commit).await.expect("a commit").n;
    }

    /// A server on it that keeps so many bytes and folds.
    fn feed(&self, kept: usize, families: usize) -> AllThreads {
        let (store, closing) = (self.store.clone(), CancellationToken::new());
        AllThreads { store, feeds: Mutex::default(), kept, families, closing }
    }

    /// The number of the newest record's last frame.
    fn newest(&self) -> u64 {
        *self.store.tail().borrow() * FRAMES_PER_EVENT
    }
}

/// All that a watcher is told until a frame has come.
async fn told(mut watcher: impl Stream<Item = Bytes> + Unpin, last: u64) -> Vec<u8> {
    let mut all = Vec::new();
    // The first piece is a place, and no frame.
    watcher.next().await.expect("a place");
    while numbers(&all).last() != Some(&last) {
        all.extend_from_slice(&watcher.next().await.expect("it goes on"));
    }
    all
}

#[tokio::test]
async fn families_that_are_forgotten_and_heard_of_again_tell_the_same() {
    let mut written = Written::new(5).await;
    for round in 0..4 {
        for family in 0..5 {
            written.say((family * 3 + round) % 5).await;
        }
    }
    let newest = written.newest();
    let all = told(Box::pin(written.feed(KEPT, 5).watch("canonical".to_owned(), Some(0))), newest).await;
    let few = told(Box::pin(written.feed(KEPT, 1).watch("canonical".to_owned(), Some(0))), newest).await;
    assert_eq!(String::from_utf8_lossy(&few), String::from_utf8_lossy(&all));
    assert_eq!(numbers(&all), (1..=25).map(|position| position * FRAMES_PER_EVENT).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_falls_behind_what_is_kept_reads_on_from_the_log() {
    let mut written = Written::new(2).await;
    let feed = written.feed(1, 2);
    let watcher = Box::pin(feed.watch("canonical".to_owned(), None));
    let mut other = Box::pin(feed.watch("canonical".to_owned(), None));
    other.next().await.expect("a place");
    for _ in 0..10 {
        written.say(0).await;
        written.say(1).await;
        // It keeps up, so that every step was handed out on its own.
        while numbers(&other.next().await.expect("it goes on")).last() != Some(&written.newest()) {}
    }
    let seen = numbers(&told(watcher, written.newest()).await);
    assert_eq!(seen, (3..=22).map(|position| position * FRAMES_PER_EVENT).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_place_that_another_dialect_told_holds_in_a_feed_that_is_not_as_far() {
    let mut written = Written::new(1).await;
    let feed = written.feed(KEPT, 1);
    let begun = feed.watch("canonical".to_owned(), None);
    written.say(0).await;
    // The feed has not handed this frame out yet, and a client that reconnects has seen it elsewhere.
    let watcher = Box::pin(feed.watch("canonical".to_owned(), Some(written.newest())));
    let told = tokio::spawn(told(watcher, written.newest() + FRAMES_PER_EVENT));
    tokio::time::sleep(10 * FLUSH_EVERY).await;
    written.say(0).await;
    assert_eq!(numbers(&told.await.expect("it is told")), [written.newest()]);
    drop(begun);
}

/// One more task on a board.
async fn add_task(store: &dyn Store, title: &str) {
    let command = Command::Add { tasks: vec![NewTask::titled(title)] };
    let request = Request::new(Actor::Human, None, "/work".into(), command);
    store::carry_out(store, &BoardId::new("house"), request, Time(0), false).await.expect("a board").expect("a task");
}

#[tokio::test(start_paused = true)]
async fn what_happens_to_tasks_comes_in_its_place_among_the_events_of_threads() {
    let mut written = Written::new(1).await;
    // 2 opens the board and has no frame.
    add_task(&*written.store, "First").await;
    written.say(0).await;
    add_task(&*written.store, "Second").await;
    let feed = written.feed(KEPT, 1);
    let all = told(Box::pin(feed.watch("canonical".to_owned(), Some(0))), written.newest()).await;
    let at = |position: u64| position * FRAMES_PER_EVENT;
    assert_eq!(numbers(&all), [at(1), at(3), at(4), at(5)]);
    let text = String::from_utf8_lossy(&all).into_owned();
    assert!(text.contains("\"task_created\"") && text.contains("\"First\""), "{text}");
    // One that comes back has what is missing, whether it saw a task last or a thread.
    for (seen, rest) in [(at(3), vec![at(4), at(5)]), (at(4), vec![at(5)])] {
        let again = told(Box::pin(feed.watch("canonical".to_owned(), Some(seen))), written.newest()).await;
        assert_eq!(numbers(&again), rest, "after {seen}");
    }
    // While it is watched, a task alone is news.
    let live = tokio::spawn(told(Box::pin(feed.watch("canonical".to_owned(), None)), written.newest() + at(1)));
    tokio::time::sleep(10 * FLUSH_EVERY).await;
    add_task(&*written.store, "Third").await;
    assert_eq!(numbers(&live.await.expect("it is told")), [written.newest()]);
    // A dialect without words for tasks leaves them out.
    written.say(0).await;
    let lace = told(Box::pin(feed.watch("lace".to_owned(), Some(0))), written.newest()).await;
    assert!(!String::from_utf8_lossy(&lace).contains("task_created"));
}
