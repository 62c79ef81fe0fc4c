//! What only a database that many machines share can do, on a real server.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;

use super::*;
use crate::conformance::postgres_server::Server;
use crate::conformance::sample::{
    NOW, append, commit, created, process, root, run_started, said, tail_reaches, threads, turn_started, writer,
};
use crate::follow::{Selection, follow, read_all};

fn address() -> Address {
    Address::parse(&Server::shared().database()).unwrap()
}

fn ready() -> Address {
    let address = address();
    assert_eq!(PostgresStore::initialize(&address).unwrap(), None);
    address
}

fn open(address: &Address) -> PostgresStore {
    PostgresStore::open(address, &Options::default()).unwrap()
}

/// In the conformance tests the tests say what time it is.
fn empty() -> (Arc<dyn Store>, Arc<dyn Store>, ()) {
    let address = ready();
    let open = || PostgresStore::open_without_clock(&address).unwrap();
    (Arc::new(open()), Arc::new(open()), ())
}

crate::conformance_tests!(empty, many machines);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_slow_transaction_writes_is_never_passed_over() {
    let address = ready();
    let (one, two): (Arc<dyn Store>, Arc<dyn Store>) = (Arc::new(open(&address)), Arc::new(open(&address)));
    let threads_of_many: Vec<ThreadId> = (0..10).map(|n| ThreadId::new(format!("20260115-t{n:03}"))).collect();
    threads(&*one, &[&root()]).await;
    let background = Background::start().unwrap();
    let slow = Connector::new(address.clone(), Options::default().durability, &background).unwrap();
    let slow = slow.connect().await.unwrap();
    slow.batch("SET idle_in_transaction_session_timeout TO 0; BEGIN").await.unwrap();
    let locked = slow.one("SELECT key FROM threads WHERE id = $1 FOR NO KEY UPDATE", &[&root().as_str()]).await;
    let key: i64 = locked.unwrap().get(0);
    slow.query(write::LOCK_POSITIONS, &[&write::POSITIONS]).await.unwrap();
    let position: i64 = slow.one(write::TAKE_POSITIONS, &[&1_i64]).await.unwrap().get(0);
    let body = codec::encode(&turn_started(1));
    let (keys, twos, moments, versions) = (vec![key], vec![2_i64], vec![NOW.0], vec![1_i32]);
    let (kinds, texts) = (vec![body.kind], vec![body.body.as_str()]);
    slow.execute(write::INSERT_EVENTS, &[&1_i64, &keys, &twos, &keys, &twos, &moments, &kinds, &versions, &texts])
        .await
        .unwrap();
    let writers = threads_of_many.iter().enumerate().map(|(n, thread)| {
        let (store, thread) = (if n % 2 == 0 { one.clone() } else { two.clone() }, thread.clone());
        tokio::spawn(async move { append(&*store, &thread, 0, vec![created(&thread)]).await })
    });
    let writers: Vec<_> = writers.collect();
    let mut seen = follow(&two, Selection::everything());
    assert_eq!(seen.next().await.unwrap().unwrap().len(), 1);
    let early = tokio::time::timeout(Duration::from_millis(300), seen.next()).await;
    assert!(early.is_err(), "nothing can be seen before what the slow one writes: {early:?}");
    slow.batch("UPDATE threads SET seq = 2 WHERE parent IS NULL; UPDATE progress SET head = 2; COMMIT").await.unwrap();
    join_all(writers).await.into_iter().for_each(|written| assert!(written.is_ok()));
    let mut positions = Vec::new();
    while positions.len() < 11 {
        positions.extend(seen.next().await.unwrap().unwrap().iter().map(|record| record.position));
    }
    assert_eq!(positions[0], columns::unsigned(position));
    assert!(positions.is_sorted());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_write_is_found_without_any_notification() {
    let address = ready();
    let (one, two) = (open(&address), open(&address));
    let mut tail = two.tail();
    threads(&one, &[&root()]).await;
    // Written past the store, so that nobody is told.
    let server = Server::shared();
    let (database, copy) = (address.database(), "root, seq + 1, thread, n + 1, at, kind, version, body");
    server.sql(
        database,
        &format!(
            "INSERT INTO majordomo.events SELECT nextval('majordomo.event_positions'), {copy} FROM majordomo.events"
        ),
    );
    tail_reaches(&mut tail, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_not_heard_of_is_replaced_by_the_clock_of_the_database_alone() {
    let address = ready();
    let (one, two) = (open(&address), open(&address));
    let begun = std::time::Instant::now();
    two.register(process("heir"), NOW).await.unwrap();
    threads(&one, &[&root()]).await;
    let heir = ProcessId::new("heir");
    let far_away = Time(NOW.0 * 2);
    let refused = two.adopt(&root(), &heir, far_away).await;
    assert!(matches!(refused, Err(Error::Owned { .. })), "whatever the caller's clock says: {refused:?}");
    // Heard of for longer than a lease: one process is kept alive by the store that registered it.
    while begun.elapsed() < Duration::from_millis(2 * ownership::PROCESS_LEASE_MS) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let row = two.thread(&root()).await.unwrap().unwrap();
        assert!(two.living(NOW).await.unwrap().owns(&row));
    }
    drop(one);
    let died = std::time::Instant::now();
    let epoch = loop {
        match two.adopt(&root(), &heir, NOW).await {
            Ok(epoch) => break epoch,
            Err(Error::Owned { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(epoch, 2);
    let taken = died.elapsed();
    assert!(taken < Duration::from_secs(4), "{taken:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_goes_on_when_its_server_was_away() {
    let server = Server::start(&[]);
    let address = Address::parse(&server.database()).unwrap();
    PostgresStore::initialize(&address).unwrap();
    let store = open(&address);
    let mut tail = store.tail();
    threads(&store, &[&root()]).await;
    server.kill();
    let away = store.append(commit(&root(), 1, vec![turn_started(1)])).await.unwrap_err();
    assert!(away.is_passing(), "{away:?}");
    let away = store.thread(&root()).await.unwrap_err();
    assert!(away.is_passing(), "{away:?}");
    server.start_again();
    let written = append(&store, &root(), 1, vec![turn_started(1)]).await;
    tail_reaches(&mut tail, written.position).await;
    let other = open(&address);
    let written = other.arrive(&root(), InputId::new("a"), said("hello"), NOW, false).await.unwrap();
    tail_reaches(&mut tail, written.position).await;
    assert_eq!(store.read(&root(), 0, 10).await.unwrap().len(), 3, "what was acknowledged is there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_commits_at_once_are_written_in_groups_and_answered_apart() {
    let address = ready();
    let store: Arc<dyn Store> = Arc::new(open(&address));
    writer(&*store).await;
    let names: Vec<ThreadId> = (0..200).map(|n| ThreadId::new(format!("20260115-t{n:03}"))).collect();
    join_all(names.iter().map(async |thread| {
        append(&*store, thread, 0, vec![created(thread), run_started(1, "go")]).await;
        let behind = store.append(commit(thread, 1, vec![turn_started(1)])).await;
        assert!(matches!(behind, Err(Error::Conflict { head: 2, .. })), "{behind:?}");
        append(&*store, thread, 2, vec![turn_started(1)]).await;
    }))
    .await;
    let all = read_all(&*store, Selection::everything()).await.unwrap();
    assert_eq!(all.len(), 600);
    assert!(all.is_sorted_by(|a, b| a.position < b.position));
}

#[tokio::test]
async fn a_text_that_the_database_cannot_hold_is_kept_in_the_log_as_it_is() {
    let store = open(&ready());
    threads(&store, &[&root()]).await;
    append(&store, &root(), 1, vec![run_started(1, "nul \0 and \u{FFFD}")]).await;
    store.arrive(&root(), InputId::new("in\0"), said("a\0b"), NOW, true).await.unwrap();
    store.arrive(&root(), InputId::new("in\0"), said("a\0b"), NOW, true).await.unwrap();
    let records = store.read(&root(), 1, 10).await.unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(*records[0].event, run_started(1, "nul \0 and \u{FFFD}"));
}

#[test]
fn what_is_wrong_with_a_database_is_told_apart() {
    let server = Server::shared();
    let address = address();
    let database = address.database();
    let open = |text: &str| PostgresStore::open(&Address::parse(text).unwrap(), &Options::default());
    let text = server.address("postgres", database);
    assert!(matches!(open(&text), Err(Error::Uninitialized)));
    assert!(matches!(open(&server.address("postgres", "nowhere")), Err(Error::NoDatabase(_))));
    server.sql(database, "CREATE ROLE locked LOGIN PASSWORD 'geheim'; CREATE ROLE guest LOGIN");
    let place = |password: &str| text.replace("postgres@", &format!("locked:{password}@"));
    let refused = open(&place("falsch")).unwrap_err();
    assert!(matches!(refused, Error::Login(_)), "{refused:?}");
    assert!(!format!("{refused} {refused:?}").contains("falsch"));
    assert!(matches!(open(&place("geheim")), Err(Error::Uninitialized)));
    let guest = Address::parse(&server.address("guest", database)).unwrap();
    assert!(matches!(PostgresStore::initialize(&guest), Err(Error::Forbidden(_))));
    assert!(matches!(open("postgres://postgres@127.0.0.1:1/x"), Err(Error::Io(_))));

    assert_eq!(PostgresStore::initialize(&address).unwrap(), None);
    assert_eq!(PostgresStore::initialize(&address).unwrap(), Some(schema::NEWEST), "again, it changes nothing");
    let status = PostgresStore::status(&address, || Time(0)).unwrap();
    assert_eq!((status.schema, status.can_create), (Some(schema::NEWEST), true));
    server.sql(database, "UPDATE majordomo.schema_version SET version = 99");
    assert!(matches!(open(&text), Err(Error::Newer { found: 99, .. })));
    assert!(matches!(PostgresStore::initialize(&address), Err(Error::Newer { .. })));
    server.sql(database, "UPDATE majordomo.schema_version SET version = 1");
    server.sql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let refused = open(&text).unwrap_err();
    assert!(matches!(refused, Error::ReadOnly(_)), "{refused:?}");
}
