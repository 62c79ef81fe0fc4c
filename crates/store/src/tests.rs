//! Whatever is asked of them, all stores answer alike.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;

use agent::approval::{Decision, Resolution};
use agent::{CallId, Event, InputId, Outcome, Outside, ThreadId, Time};
use futures_util::future::join_all;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::conformance::postgres_server::Server;
use crate::conformance::sample;
use crate::sqlite::SqliteStore;
use crate::{
    Address, ApprovalQuery, ClaimKind, ClaimQuery, Commit, Durability, Error, MemoryStore, Options, PostgresStore,
    Process, ProcessId, Store, ThreadQuery, Wake,
};

#[derive(Clone, Debug)]
enum Request {
    Register(Process, Time),
    Heartbeat(ProcessId, Time),
    Leave(ProcessId),
    /// The expected head is the real one plus what stands here at first; events that only a first commit can hold are put in
    /// front of it.
    Append {
        thread: ThreadId,
        expected: u64,
        epoch: u64,
        process: ProcessId,
        at: Time,
        events: Vec<Event>,
    },
    Arrive(ThreadId, InputId, Time, bool),
    Adopt(ThreadId, ProcessId, Time),
    Wake(ThreadId, Time),
    Claim(ProcessId, Time, usize),
    Done(u64),
    ClaimThreads(ProcessId, Time, ClaimQuery),
    Living(Time),
    Remove(ThreadId, Time),
    Resolve(String),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_requests_are_answered_alike_by_both_stores(groups in groups()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = TempDir::new().unwrap();
            let options = Options { durability: Durability::Normal, ..Options::default() };
            let file = SqliteStore::open(folder.path().join("majordomo.db"), &options).unwrap();
            let memory = MemoryStore::new();
            for group in groups {
                let (mut requests, mut expected) = (Vec::new(), Vec::new());
                for request in group {
                    let request = request.at_head(&memory).await;
                    expected.push(answer(&memory, request.clone()).await);
                    requests.push(request);
                }
                // They stand in line together, so that the file keeps some of them in one transaction.
                let answers = join_all(requests.iter().map(|request| answer(&file, request.clone()))).await;
                assert_eq!(answers, expected, "to {requests:?}");
            }
            assert_eq!(everything(&file).await, everything(&memory).await);
            file.close().await;
        });
    }
}

proptest! {
    // Each makes a database of its own.
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn any_requests_are_answered_alike_by_postgres(groups in groups()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let address = Address::parse(&Server::shared().database()).unwrap();
            PostgresStore::initialize(&address).unwrap();
            let database = PostgresStore::open_without_clock(&address).unwrap();
            let memory = MemoryStore::new();
            for request in groups.into_iter().flatten() {
                let request = request.at_head(&memory).await;
                let expected = answer(&memory, request.clone()).await;
                assert_eq!(answer(&database, request.clone()).await, expected, "to {request:?}");
            }
            assert_eq!(everything(&database).await, everything(&memory).await);
            database.close().await;
        });
    }
}

impl Request {
    /// The request as it is made of a store that stands where this one does.
    async fn at_head(mut self, store: &dyn Store) -> Self {
        if let Request::Append { thread, expected, events, .. } = &mut self {
            let head = store.thread(thread).await.unwrap().map_or(0, |row| row.head);
            *expected += head;
            if head == 0 {
                events.insert(0, sample::created(thread));
            }
        }
        self
    }
}

async fn answer(store: &dyn Store, request: Request) -> String {
    match request {
        Request::Register(process, at) => told(store.register(process, at).await),
        Request::Heartbeat(process, at) => told(store.heartbeat(&process, at).await),
        Request::Leave(process) => told(store.leave(&process).await),
        Request::Append { thread, expected, epoch, process, at, events } => {
            let events = events.into_iter().map(Arc::new).collect();
            told(store.append(Commit { expected, thread, epoch, process, at, events, lets_go: false }).await)
        }
        Request::Arrive(thread, id, at, wake) => told(store.arrive(&thread, id, sample::said("hi"), at, wake).await),
        Request::Adopt(thread, process, at) => told(store.adopt(&thread, &process, at).await),
        Request::Wake(thread, due) => told(store.wake(&thread, due).await),
        Request::Claim(process, at, limit) => told(store.claim(&process, at, limit).await),
        Request::Done(key) => told(store.done(Wake { key, thread: sample::root(), due: Time(0), about: None }).await),
        Request::ClaimThreads(process, at, query) => told(store.claim_threads(&process, at, query).await),
        Request::Living(at) => told(store.living(at).await),
        Request::Remove(root, at) => told(store.remove(&root, at).await),
        Request::Resolve(text) => told(store.resolve(&text).await),
    }
}

fn told<T: Debug>(answer: Result<T, Error>) -> String {
    match answer {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

async fn everything(store: &dyn Store) -> Vec<String> {
    let mut all = vec![
        told(store.all(0, usize::MAX).await),
        told(store.threads(ThreadQuery::default()).await),
        told(store.threads(ThreadQuery { live_only: true, ..ThreadQuery::default() }).await),
        told(store.usage(None).await),
        told(store.approvals(ApprovalQuery { open_only: false, limit: usize::MAX }).await),
        told(store.approvals(ApprovalQuery { limit: 2, ..ApprovalQuery::default() }).await),
        store.tail().borrow().to_string(),
    ];
    for thread in names() {
        all.push(told(store.read(&thread, 0, usize::MAX).await));
        all.push(told(store.tree(&thread, 0, usize::MAX).await));
        all.push(told(store.executions(&thread).await));
        all.push(told(store.usage(Some(&thread)).await));
    }
    all
}

fn names() -> [ThreadId; 5] {
    let (one, two) = (sample::root(), ThreadId::new("20260116-k3x7"));
    [one.child(1).child(1), one.child(1), one.child(2), one, two]
}

/// Requests in groups; who only looks does not stand in line. A child is spawned once, as the rules see to.
fn groups() -> impl Strategy<Value = Vec<Vec<Request>>> {
    let group = prop_oneof![prop::collection::vec(request(), 1..2), prop::collection::vec(request(), 2..20)];
    prop::collection::vec(group, 1..12).prop_map(|mut groups| {
        for group in groups.iter_mut().filter(|group| group.len() > 1) {
            group.retain(|request| !matches!(request, Request::Resolve(_) | Request::Living(_)));
        }
        let mut spawned = HashSet::new();
        for request in groups.iter_mut().flatten() {
            if let Request::Append { events, .. } = request {
                events.retain(|event| match event {
                    Event::ChildSpawned(child) => spawned.insert(child.child.clone()),
                    _ => true,
                });
            }
        }
        groups
    })
}

fn request() -> impl Strategy<Value = Request> {
    let far = process().prop_map(|id| sample::process(id.as_str()));
    let text = prop::sample::select(vec!["k3", "k3f9", "20260116", "k3f9.1", "k3f.2", "nobody", ""]);
    prop_oneof![
        3 => (far, time()).prop_map(|(process, at)| Request::Register(process, at)),
        1 => (process(), time()).prop_map(|(process, at)| Request::Heartbeat(process, at)),
        1 => process().prop_map(Request::Leave),
        12 => append(),
        4 => (thread(), 0..4, time(), any::<bool>())
            .prop_map(|(thread, id, at, wake)| Request::Arrive(thread, InputId::new(format!("in-{id}")), at, wake)),
        3 => (thread(), process(), time()).prop_map(|(thread, process, at)| Request::Adopt(thread, process, at)),
        1 => (thread(), time()).prop_map(|(thread, due)| Request::Wake(thread, due)),
        2 => (process(), time(), 0..3_usize).prop_map(|(process, at, limit)| Request::Claim(process, at, limit)),
        1 => (1..6_u64).prop_map(Request::Done),
        2 => (process(), time(), claim_query())
            .prop_map(|(process, at, query)| Request::ClaimThreads(process, at, query)),
        1 => time().prop_map(Request::Living),
        1 => (thread(), time()).prop_map(|(thread, at)| Request::Remove(thread, at)),
        1 => text.prop_map(|text| Request::Resolve(text.to_owned())),
    ]
}

fn claim_query() -> impl Strategy<Value = ClaimQuery> {
    let kind = prop::sample::select(vec![ClaimKind::Any, ClaimKind::Roots, ClaimKind::Children]);
    let root = prop::sample::select(vec![None, Some(sample::root())]);
    let agent = prop::sample::select(vec![None, Some("general".into()), Some("nobody".into())]);
    (kind, agent, root, 0..3_usize).prop_map(|(kind, agent, root, limit)| ClaimQuery {
        kind,
        agent,
        root,
        limit,
        ..ClaimQuery::default()
    })
}

fn append() -> impl Strategy<Value = Request> {
    let expected = prop_oneof![9 => Just(0), 1 => Just(1)];
    let epoch = prop_oneof![6 => Just(1), 2 => Just(2), 1 => Just(3)];
    let events = prop::collection::vec(event(), 0..4);
    (thread(), expected, epoch, process(), time(), events).prop_map(|(thread, expected, epoch, process, at, events)| {
        Request::Append { thread, expected, epoch, process, at, events }
    })
}

fn event() -> impl Strategy<Value = Event> {
    let outcome = prop::sample::select(Outcome::ALL.to_vec());
    prop_oneof![
        (1..4_u32).prop_map(|run| sample::run_started(run, "go")),
        (1..4_u32).prop_map(sample::turn_started),
        (1..4_u32).prop_map(|turn| sample::answered(turn, &["read_file", "search_files"])),
        (1..4_u32).prop_map(|turn| Event::ToolStarted { call: CallId::new(format!("{turn}-0")) }),
        thread().prop_map(|child| sample::spawned(&child, "scout")),
        thread().prop_map(|child| Event::ChildStarted { child, again: false }),
        (thread(), outcome.clone()).prop_map(|(child, outcome)| sample::child_reported(&child, outcome)),
        outcome.prop_map(sample::reported),
        (thread(), 1..3_u32).prop_map(|(thread, number)| sample::asked(&thread, number)),
        (thread(), 1..3_u32)
            .prop_map(|(thread, number)| { sample::resolved(&thread, number, Resolution::Denied { reason: None }) }),
        (0..4, thread(), 1..3_u32).prop_map(|(id, thread, number)| Event::InputArrived {
            id: InputId::new(format!("in-{id}")),
            input: decided(&thread, number),
        }),
        (0..4).prop_map(|id| Event::InputDropped { input: InputId::new(format!("in-{id}")), reason: "late".into() }),
        (0..4).prop_map(|id| Event::InputArrived { id: InputId::new(format!("in-{id}")), input: sample::said("hi") }),
    ]
}

fn decided(thread: &ThreadId, number: u32) -> Outside {
    let question = sample::question(thread, number);
    Outside::Decided { approval: question.id, digest: question.digest, decision: Decision::Deny { reason: None } }
}

fn thread() -> impl Strategy<Value = ThreadId> {
    prop::sample::select(names().to_vec())
}

fn process() -> impl Strategy<Value = ProcessId> {
    prop::sample::select(vec![ProcessId::new("one"), ProcessId::new("two")])
}

/// Near enough for heartbeats and leases to hold, or far enough for them to have run out.
fn time() -> impl Strategy<Value = Time> {
    prop::sample::select(vec![sample::NOW, sample::NOW.plus_ms(10), sample::NOW.plus_ms(40_000)])
}
