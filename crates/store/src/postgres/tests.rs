//! What only a database that many machines share can do, on a real server.

use std::time::Duration;

use agent::Outcome;
use futures_util::StreamExt;
use futures_util::future::join_all;

use super::*;
use crate::conformance::postgres_server::Server;
use crate::conformance::sample::{
    NOW, append, commit, created, process, reported, root, run_started, said, tail_reaches, threads, turn_started,
    writer,
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
async fn a_thread_is_read_again_once_another_process_has_changed_it() {
    let (shared, alone) = (ready(), ready());
    let (one, two, only) = (open(&shared), open(&shared), open(&alone));
    threads(&one, &[&root()]).await;
    threads(&only, &[&root()]).await;
    for turn in 1..=12 {
        // Each of them knows it as it left it, which is right twice in a row and then no more.
        let writing = if turn / 2 % 2 == 0 { &one } else { &two };
        for store in [writing, &only] {
            append(store, &root(), u64::from(turn), vec![turn_started(turn)]).await;
        }
    }
    let turns = async |store: &PostgresStore| {
        let row = store.thread(&root()).await.unwrap().unwrap();
        (row.head, row.turns, row.state)
    };
    assert_eq!(turns(&one).await, turns(&only).await);
    // A takeover changes no event, and what is left of a removed thread is nothing.
    one.put_down(&ProcessId::new("writer")).await.unwrap();
    let heir = process("heir");
    two.register(heir.clone(), NOW).await.unwrap();
    assert_eq!(two.adopt(&root(), &heir.id, NOW).await.unwrap(), 2);
    writer(&one).await;
    let fenced = one.append(commit(&root(), 13, vec![turn_started(13)])).await;
    assert!(matches!(fenced, Err(Error::Fenced { current: 2, .. })), "{fenced:?}");
    two.leave(&heir.id).await.unwrap();
    two.remove_if(&root(), None, NOW).await.unwrap();
    let gone = one.append(commit(&root(), 13, vec![turn_started(13)])).await;
    assert!(matches!(gone, Err(Error::UnknownThread(_))), "{gone:?}");
    append(&one, &root(), 0, vec![created(&root())]).await;
    append(&one, &root(), 1, vec![turn_started(1)]).await;
    let row = two.thread(&root()).await.unwrap().unwrap();
    assert_eq!((row.head, row.epoch), (2, 1));
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
    server.sql(database, &format!("UPDATE majordomo.schema_version SET version = {}", schema::NEWEST));
    server.sql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let refused = open(&text).unwrap_err();
    assert!(matches!(refused, Error::ReadOnly(_)), "{refused:?}");
}

/// An event that creates a thread on a machine, bound to it or not, that requires labels.
fn created_on(thread: &ThreadId, machine: Option<&str>, tools: &[&str], requires: &[&str]) -> Event {
    let Event::ThreadCreated(mut new) = created(thread) else { unreachable!("a thread is created") };
    new.place.machine = machine.map(Into::into);
    new.role.tools = tools.iter().map(|tool| (*tool).into()).collect();
    new.role.requires = requires.iter().map(|label| (*label).into()).collect();
    Event::ThreadCreated(new)
}

/// Leaves a new thread of this kind to be claimed.
async fn offer(store: &PostgresStore, thread: &ThreadId, created: Event) {
    store.append(Commit { lets_go: true, ..commit(thread, 0, vec![created]) }).await.unwrap();
}

async fn claimed(store: &PostgresStore, process: &str, query: ClaimQuery) -> Vec<ThreadId> {
    let query = ClaimQuery { asked: true, ..query };
    let claimed = store.claim_threads(&ProcessId::new(process), NOW, query).await.unwrap();
    claimed.into_iter().map(|claimed| claimed.thread).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_root_has_its_turn_however_many_threads_of_another_wait() {
    let store = open(&ready());
    let (many, person) = (root(), ThreadId::new("20260116-late"));
    threads(&store, &[&many]).await;
    for n in 1..=40 {
        offer(&store, &many.child(n), created(&many.child(n))).await;
    }
    append(&store, &person, 0, vec![created(&person)]).await;
    offer(&store, &person.child(1), created(&person.child(1))).await;
    store.register(process("worker"), NOW).await.unwrap();
    let some = |limit| ClaimQuery { limit, ..ClaimQuery::default() };
    // Of one turn the oldest comes first; of the fan-out one is driven then, so that the person's is next.
    assert_eq!(claimed(&store, "worker", some(1)).await, [many.child(1)]);
    assert_eq!(claimed(&store, "worker", some(2)).await, [many.child(2), person.child(1)]);
    assert_eq!(claimed(&store, "worker", some(100)).await.len(), 38);
    assert_eq!(claimed(&store, "worker", some(100)).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_claimed_only_where_its_folder_is_and_by_who_has_its_labels_and_provider() {
    let address = ready();
    let on = |name: &str, shares_folders| {
        let machine = Machine { name: name.into(), shares_folders };
        open(&address.clone().on_machine(machine))
    };
    let (one, two, shared) = (on("one", false), on("two", false), on("two", true));
    threads(&one, &[&root()]).await;
    let child = |n| root().child(n);
    offer(&one, &child(1), created_on(&child(1), Some("one"), &["read_file"], &[])).await;
    offer(&one, &child(2), created_on(&child(2), Some("one"), &["web_fetch", "spawn_agent"], &["gpu"])).await;
    for (store, name) in [(&one, "a"), (&two, "b"), (&shared, "c")] {
        store.register(process(name), NOW).await.unwrap();
    }
    assert_eq!(claimed(&shared, "c", ClaimQuery::default()).await, [], "a folder of one machine is not shared");
    assert_eq!(claimed(&two, "b", ClaimQuery::default()).await, [], "no label");
    let labels = ClaimQuery { labels: vec!["gpu".into(), "big".into()], ..ClaimQuery::default() };
    let without = ClaimQuery { not_of: vec!["builtin".into()], ..labels.clone() };
    assert_eq!(claimed(&two, "b", without).await, [], "its provider cannot be asked");
    let passing = ClaimQuery { passed_over: vec![child(2)], ..labels.clone() };
    assert_eq!(claimed(&two, "b", passing).await, []);
    assert_eq!(claimed(&two, "b", labels).await, [child(2)], "it needs no folder");
    assert_eq!(claimed(&one, "a", ClaimQuery::default()).await, [child(1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_puts_down_is_claimed_by_nobody_until_it_is_gone_on_with() {
    let store = open(&ready());
    threads(&store, &[&root()]).await;
    append(&store, &root(), 1, vec![run_started(1, "go")]).await;
    offer(&store, &root().child(1), created(&root().child(1))).await;
    for name in ["worker", "person"] {
        store.register(process(name), NOW).await.unwrap();
    }
    store.put_down(&ProcessId::new("writer")).await.unwrap();
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, []);
    let person = ProcessId::new("person");
    assert_eq!(store.adopt(&root(), &person, NOW).await.unwrap(), 2);
    store.hand_over(&root(), &person, None).await.unwrap();
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, [root(), root().child(1)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_at_rest_is_claimed_for_an_input_that_begins_a_run() {
    let store = open(&ready());
    threads(&store, &[&root()]).await;
    store.hand_over(&root(), &ProcessId::new("writer"), None).await.unwrap();
    store.register(process("worker"), NOW).await.unwrap();
    let mark = Outside::Marked { title: Some("mine".into()), archived: None, read: false };
    store.arrive(&root(), InputId::new("mark"), mark, NOW, true).await.unwrap();
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, [], "nothing is to be done");
    store.arrive(&root(), InputId::new("in-1"), said("hello"), NOW, true).await.unwrap();
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, [root()]);
    let taken_up = Commit {
        epoch: 3,
        process: ProcessId::new("worker"),
        ..commit(&root(), 3, vec![run_started(1, "hello"), reported(Outcome::Completed)])
    };
    store.append(taken_up).await.unwrap();
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, [], "it rests again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_is_due_by_the_clock_of_the_database_whatever_the_senders_says() {
    let store = open(&ready());
    threads(&store, &[&root()]).await;
    let tomorrow = Time(i64::MAX / 2);
    store.arrive(&root(), InputId::new("in"), said("hello"), tomorrow, true).await.unwrap();
    let wakes = store.claim(&ProcessId::new("writer"), NOW, 10).await.unwrap();
    assert_eq!(wakes.iter().map(|wake| (&wake.thread, &wake.about)).collect::<Vec<_>>(), [(&root(), &None)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_of_another_process_is_woken_by_the_commit_of_the_report() {
    let store = open(&ready());
    let child = root().child(1);
    threads(&store, &[&root()]).await;
    append(&store, &root(), 1, vec![run_started(1, "go")]).await;
    store.register(process("worker"), NOW).await.unwrap();
    offer(&store, &child, created(&child)).await;
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, std::slice::from_ref(&child));
    let (writer, worker) = (ProcessId::new("writer"), ProcessId::new("worker"));
    let of_worker = |expected, events| Commit { epoch: 2, process: worker.clone(), ..commit(&child, expected, events) };
    store.append(of_worker(1, vec![turn_started(1)])).await.unwrap();
    assert_eq!(store.claim(&writer, NOW, 10).await.unwrap(), [], "nothing that the parent waits for");
    store.append(of_worker(2, vec![reported(Outcome::Completed)])).await.unwrap();
    let wakes = store.claim(&writer, NOW, 10).await.unwrap();
    assert_eq!(wakes.iter().map(|wake| (&wake.thread, &wake.about)).collect::<Vec<_>>(), [(&root(), &Some(child))]);
    // Of one that the same process drives it needs not be told.
    let own = root().child(2);
    append(&store, &own, 0, vec![created(&own), turn_started(1), reported(Outcome::Completed)]).await;
    store.done(wakes[0].clone()).await.unwrap();
    assert_eq!(store.claim(&writer, NOW, 10).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asking_for_threads_is_a_heartbeat_and_a_dead_process_is_replaced_within_two_seconds() {
    let address = ready();
    let (one, two) = (open(&address), open(&address));
    threads(&one, &[&root()]).await;
    append(&one, &root(), 1, vec![run_started(1, "go")]).await;
    two.register(process("worker"), NOW).await.unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2 * ownership::PROCESS_LEASE_MS) {
        assert_eq!(claimed(&two, "worker", ClaimQuery::default()).await, [], "its owner lives");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    drop(one);
    let died = Instant::now();
    while claimed(&two, "worker", ClaimQuery::default()).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let took = died.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(took > Duration::from_millis(ownership::PROCESS_LEASE_MS - 500), "not before its lease is over: {took:?}");
}

#[tokio::test]
async fn a_board_of_another_machines_folder_is_left_to_it() {
    let address = ready();
    let on = |name: &str| open(&address.clone().on_machine(Machine { name: name.into(), shares_folders: false }));
    let (one, two) = (on("one"), on("two"));
    let add = || board::Command::Add {
        tasks: vec![board::NewTask {
            assignee: Some(board::Assignee::Agent("general".into())),
            ..board::NewTask::titled("tidy")
        }],
    };
    for (id, folder) in [("one:/p", "one:/p"), ("/shared", "/shared")] {
        let request = Request::new(board::Actor::Human, None, folder.into(), add());
        crate::carry_out(&one, &BoardId::new(id), request, NOW, false).await.unwrap().unwrap();
    }
    let names = |boards: Vec<Board>| boards.iter().map(|board| board.id.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(one.runnable_boards().await.unwrap()), ["one:/p", "/shared"]);
    assert_eq!(names(two.runnable_boards().await.unwrap()), ["/shared"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_reaches_all_who_listen_and_is_kept_nowhere() {
    let address = ready();
    let (one, two) = (open(&address), open(&address));
    let (_tail, mut told) = (two.tail(), two.told().expect("it tells"));
    let heard = async {
        loop {
            one.tell("hello".to_owned());
            if let Ok(Ok(words)) = tokio::time::timeout(Duration::from_millis(100), told.recv()).await {
                return words;
            }
        }
    };
    let words = tokio::time::timeout(Duration::from_secs(20), heard).await.expect("it is heard");
    assert_eq!(&*words, "hello");
    assert_eq!(two.all(0, 10).await.unwrap(), []);
}

#[tokio::test]
async fn tables_of_the_release_before_are_brought_up_to_date_with_what_they_hold() {
    let server = Server::shared();
    let address = address();
    let before = include_str!("../../migrations/postgres/0001_log.sql");
    let made = "CREATE SCHEMA majordomo; CREATE TABLE majordomo.schema_version (version INTEGER NOT NULL); \
                INSERT INTO majordomo.schema_version VALUES (1); SET search_path TO majordomo;";
    // A conversation that was left in the middle of a run, as a program of that release writes it.
    let left = |key: u32, id: &str| {
        format!(
            "INSERT INTO threads (key, id, root, epoch, name, agent, model, mode, preset, goal, runs, created_at, live, unwatched, \
             persistent) VALUES ({key}, '{id}', {key}, 1, 'a', 'a', 'm/m', 'ask', 'default', 'g', 1, 0, TRUE, FALSE, FALSE); \
             INSERT INTO progress VALUES ({key}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 'processing', '{{}}');"
        )
    };
    server.sql(address.database(), &format!("{made} {before} {}", left(1, "20260115-k3f9")));
    let refused = PostgresStore::open(&address, &Options::default()).unwrap_err();
    assert!(matches!(refused, Error::Outgrown { found: 1, .. }), "{refused:?}");
    assert_eq!(PostgresStore::initialize(&address).unwrap(), Some(1));
    let store = open(&address);
    assert_eq!(store.threads(ThreadQuery::default()).await.unwrap().len(), 1);
    store.register(process("worker"), NOW).await.unwrap();
    assert_eq!(
        claimed(&store, "worker", ClaimQuery::default()).await,
        [],
        "a person goes on with it, as was told then"
    );
    // What a program of that release still writes while others are brought up to date has no machine.
    server.sql(address.database(), &format!("SET search_path TO majordomo; {}", left(2, "20260115-m2pq")));
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, [ThreadId::new("20260115-m2pq")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_process_was_given_without_hearing_of_it_is_given_again_where_it_asks_for_that() {
    let store = open(&ready());
    let child = root().child(1);
    threads(&store, &[&root()]).await;
    offer(&store, &child, created(&child)).await;
    for name in ["worker", "other"] {
        store.register(process(name), NOW).await.unwrap();
    }
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, std::slice::from_ref(&child));
    assert_eq!(claimed(&store, "worker", ClaimQuery::default()).await, [], "it is given once");
    let again = ClaimQuery { owned: true, ..ClaimQuery::default() };
    assert_eq!(claimed(&store, "other", again.clone()).await, [], "to the one that owns it alone");
    let known = ClaimQuery { passed_over: vec![child.clone()], ..again.clone() };
    assert_eq!(claimed(&store, "worker", known).await, [], "what it knows of is passed over");
    assert_eq!(claimed(&store, "worker", again).await, [child]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_was_not_heard_of_for_a_lease_is_told_so_once() {
    let server = Server::start(&[]);
    let address = Address::parse(&server.database()).unwrap();
    PostgresStore::initialize(&address).unwrap();
    let store = open(&address);
    let mut lapses = store.lapses().unwrap();
    store.register(process("worker"), NOW).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2 * ownership::PROCESS_LEASE_MS)).await;
    assert!(!lapses.has_changed().unwrap(), "it was heard of all the time");
    server.kill();
    tokio::time::sleep(Duration::from_millis(2 * ownership::PROCESS_LEASE_MS)).await;
    server.start_again();
    tokio::time::timeout(Duration::from_secs(20), lapses.changed()).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(2 * ownership::PROCESS_LEASE_MS)).await;
    assert_eq!(*lapses.borrow_and_update(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_waits_for_its_synchronous_standby_longer_than_a_statement_may_take() {
    let server = Server::start(crate::conformance::postgres_server::UNSAFE);
    let address = Address::parse(&server.database()).unwrap();
    let standby = server.synchronous_standby();
    let background = Background::start().unwrap();
    let connector = Connector::new(address, Options::default().durability, &background).unwrap();
    let link = connector.connect().await.unwrap();
    standby.kill();
    link.batch("SET statement_timeout TO 200; BEGIN; CREATE TABLE public.one (n integer)").await.unwrap();
    let mut committing = std::pin::pin!(link.batch(connection::COMMIT));
    let early = tokio::time::timeout(Duration::from_secs(1), &mut committing).await;
    assert!(early.is_err(), "it is not taken for kept before the standby has it: {early:?}");
    standby.start_again();
    tokio::time::timeout(Duration::from_secs(30), committing).await.unwrap().unwrap();
    link.batch("SELECT * FROM public.one").await.unwrap();
}
