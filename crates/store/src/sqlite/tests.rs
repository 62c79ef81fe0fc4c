//! What only a file can do: last, be shared, run full, be locked, be damaged, belong to another user.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::Duration;

use agent::{CallId, Event, Outcome};
use futures_util::future::{join, join_all};
use tempfile::TempDir;

use super::*;
use crate::conformance::sample::{
    self, NOW, append, commit, process, root, run_started, said, tail_reaches, threads, turn_started,
};
use crate::open::Durability;

fn empty() -> (Arc<dyn Store>, Arc<dyn Store>, TempDir) {
    let folder = TempDir::new().unwrap();
    (Arc::new(open(&folder)), Arc::new(open(&folder)), folder)
}

crate::conformance_tests!(empty);

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("data/majordomo.db")
}

fn open(folder: &TempDir) -> SqliteStore {
    SqliteStore::open(path(folder), &Options::default()).unwrap()
}

/// Fails soon where another process holds the file.
fn impatient() -> Options {
    Options { busy_timeout: Duration::from_millis(20), ..Options::default() }
}

/// A connection past the store.
fn raw(folder: &TempDir) -> Connection {
    Connection::open(path(folder)).unwrap()
}

fn large(turn: u32) -> Event {
    run_started(turn, &"x".repeat(20_000))
}

#[tokio::test]
async fn threads_of_tasks_that_live_are_found_without_those_that_are_idle() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    let plan = |query: ThreadQuery| -> String {
        let db = raw(&folder);
        let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {}", read::threads_sql(&query))).unwrap();
        let rows = statement.query_map([None::<i64>; 3], |row| row.get::<_, String>("detail")).unwrap();
        rows.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
    };
    let live = ThreadQuery { live_only: true, of_tasks: true, ..ThreadQuery::default() };
    let found = plan(live.clone());
    assert!(found.contains("threads_live") && !found.contains("threads_created_for"), "{found}");
    assert!(found.contains("tasks_thread"), "the task of each is found by its thread: {found}");
    let all = plan(ThreadQuery { live_only: false, ..live });
    assert!(all.contains("threads_created_for"), "{all}");
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_reopening() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root(), &root().child(1)]).await;
    store.arrive(&root(), InputId::new("a"), said("hello"), NOW, true).await.unwrap();
    append(&store, &root(), 2, vec![run_started(1, "go"), turn_started(1)]).await;
    let before = (store.all(0, 100).await.unwrap(), store.threads(ThreadQuery::default()).await.unwrap());
    store.close().await;
    assert!(matches!(store.append(commit(&root(), 4, vec![turn_started(2)])).await, Err(Error::Closed)));
    assert!(matches!(store.all(0, 1).await, Err(Error::Closed)));

    let store = open(&folder);
    let after = (store.all(0, 100).await.unwrap(), store.threads(ThreadQuery::default()).await.unwrap());
    assert_eq!(before, after);
    assert_eq!(*store.tail().borrow(), 5);
    assert_eq!(store.claim(&ProcessId::new("writer"), NOW, 10).await.unwrap().len(), 1);
    append(&store, &root(), 4, vec![turn_started(2)]).await;
}

#[tokio::test]
async fn what_stood_in_line_when_the_store_was_closed_is_written() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    let arrive = |n| store.arrive(&root(), InputId::new(format!("in-{n}")), said("hello"), NOW, false);
    let (answers, ()) = join(join_all((0..100).map(arrive)), store.close()).await;
    let written = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!(answers.iter().all(|answer| matches!(answer, Ok(_) | Err(Error::Closed))));
    assert!(written > 0);
    assert_eq!(open(&folder).read(&root(), 1, 1000).await.unwrap().len(), written);
}

#[tokio::test]
async fn a_store_that_is_dropped_lets_its_listeners_go() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    let mut tail = store.tail();
    drop(store);
    assert!(tail.wait_for(|_| false).await.is_err());
}

#[tokio::test]
async fn two_processes_on_one_file_see_each_other_and_only_one_of_them_writes() {
    let folder = TempDir::new().unwrap();
    let (one, two) = (open(&folder), open(&folder));
    let mut tail = two.tail();
    threads(&one, &[&root()]).await;
    let written = append(&one, &root(), 1, vec![turn_started(1)]).await;
    tail_reaches(&mut tail, written.position).await;
    assert_eq!(two.read(&root(), 0, 10).await.unwrap(), one.read(&root(), 0, 10).await.unwrap());

    for turn in 2..30 {
        let expected = u64::from(turn);
        let attempt = |store: &SqliteStore| store.append(commit(&root(), expected, vec![turn_started(turn)]));
        let (first, second) = join(attempt(&one), attempt(&two)).await;
        let refused = match (&first, &second) {
            (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
            both => panic!("exactly one of two is written: {both:?}"),
        };
        assert!(matches!(refused, Error::Conflict { .. }), "{refused:?}");
    }
    sample::writer(&two).await;
    let heir = process("heir");
    two.register(heir.clone(), NOW).await.unwrap();
    one.leave(&ProcessId::new("writer")).await.unwrap();
    assert_eq!(two.adopt(&root(), &heir.id, NOW).await.unwrap(), 2);
    one.register(process("writer"), NOW).await.unwrap();
    let fenced = one.append(commit(&root(), 30, vec![turn_started(30)])).await;
    assert!(matches!(fenced, Err(Error::Fenced { current: 2, .. })), "{fenced:?}");
}

#[tokio::test]
async fn the_file_is_watched_again_after_the_last_listener_went() {
    let folder = TempDir::new().unwrap();
    let (one, two) = (open(&folder), open(&folder));
    threads(&one, &[&root()]).await;
    for n in 1..4 {
        let mut tail = two.tail();
        let written = append(&one, &root(), n, vec![turn_started(1)]).await;
        tail_reaches(&mut tail, written.position).await;
        drop(tail);
        while !matches!(*two.follower.watch(), follow::Watch::Off) {
            tokio::task::yield_now().await;
        }
    }
}

#[test]
fn many_processes_may_make_the_file_at_the_same_moment() {
    let folder = TempDir::new().unwrap();
    let openers: Vec<_> = (0..8)
        .map(|_| {
            let path = path(&folder);
            std::thread::spawn(move || SqliteStore::open(path, &Options::default()).map(drop))
        })
        .collect();
    for opener in openers {
        opener.join().unwrap().unwrap();
    }
}

#[tokio::test]
async fn requests_that_stand_in_line_are_kept_in_one_transaction() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    let before = transactions(&folder);
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let (begin, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let held_up = tokio::spawn(store.write(move |_| {
        begin.send(()).unwrap();
        // Fails when the gate is opened, which is when its other end is dropped.
        gate.recv().unwrap_err();
        Ok(())
    }));
    begun.recv().await.unwrap();
    let arrive = |n| store.arrive(&root(), InputId::new(format!("in-{n}")), said("hello"), NOW, false);
    let arrivals = tokio::spawn(join_all((0..50).map(arrive).collect::<Vec<_>>()));
    // On this one thread all of them stand in line before the test goes on.
    tokio::task::yield_now().await;
    drop(go);
    held_up.await.unwrap().unwrap();
    assert!(arrivals.await.unwrap().iter().all(Result::is_ok));
    assert_eq!(transactions(&folder) - before, 1);
}

/// How many transactions the WAL holds: its frames that carry the size of the database end one each.
fn transactions(folder: &TempDir) -> usize {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4096;
    let wal = fs::read(folder.path().join("data/majordomo.db-wal")).unwrap();
    wal[HEADER..].chunks(FRAME).filter(|frame| frame[4..8] != [0; 4]).count()
}

// F8
#[tokio::test]
async fn a_full_disk_loses_nothing_and_writing_goes_on_when_there_is_space() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    let allow = |pages: i64| {
        store.write(move |session| {
            let db = &session.db;
            let used: i64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
            Ok(db.pragma_update_and_check(None, "max_page_count", used + pages, |_| Ok(()))?)
        })
    };
    allow(8).await.unwrap();
    let mut expected = 1;
    let full = loop {
        match store.append(commit(&root(), expected, vec![large(expected as u32)])).await {
            Ok(appended) => expected = appended.n,
            Err(error) => break error,
        }
        assert!(expected < 100, "there is space for ever");
    };
    assert!(matches!(full, Error::Full(_)) && full.is_passing(), "{full:?}");
    let records = store.read(&root(), 0, 1000).await.unwrap();
    assert_eq!(records.len() as u64, expected);
    // What is small still fits, although it is asked for together with what does not.
    let (too_large, small) = join(
        store.append(commit(&root(), expected, vec![large(0)])),
        store.heartbeat(&ProcessId::new("writer"), NOW.plus_ms(1)),
    )
    .await;
    assert!(matches!(too_large, Err(Error::Full(_))), "{too_large:?}");
    small.unwrap();
    allow(1000).await.unwrap();
    append(&store, &root(), expected, vec![large(0)]).await;
}

// F9
#[tokio::test]
async fn a_file_that_another_process_holds_is_locked_until_it_lets_go() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(path(&folder), &impatient()).unwrap();
    threads(&store, &[&root()]).await;
    let other = raw(&folder);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let locked = store.append(commit(&root(), 1, vec![turn_started(1)])).await;
    assert!(matches!(locked, Err(Error::Locked(_))), "{locked:?}");
    assert_eq!(store.read(&root(), 0, 10).await.unwrap().len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    append(&store, &root(), 1, vec![turn_started(1)]).await;
}

fn other_thread() -> ThreadId {
    ThreadId::new("20260116-b2b2")
}

// F6, F7
#[tokio::test]
async fn a_database_that_is_deleted_or_replaced_is_missed_and_the_one_in_its_place_is_left_alone() {
    for is_replaced in [false, true] {
        let folder = TempDir::new().unwrap();
        let store = open(&folder);
        threads(&store, &[&root()]).await;
        append(&store, &root(), 1, vec![run_started(1, "go")]).await;
        let away = folder.path().join("away");
        fs::rename(folder.path().join("data"), &away).unwrap();
        let other = is_replaced.then(|| open(&folder));
        if let Some(other) = &other {
            threads(other, &[&other_thread()]).await;
        }
        let refused = store.append(commit(&root(), 2, vec![turn_started(1)])).await;
        assert!(matches!(&refused, Err(Error::Gone(at)) if at.ends_with("data/majordomo.db")), "{refused:?}");
        let refused = store.read(&root(), 0, 10).await;
        assert!(matches!(refused, Err(Error::Gone(_))), "{refused:?}");
        let refused = store.heartbeat(&ProcessId::new("writer"), NOW).await;
        assert!(matches!(refused, Err(Error::Gone(_))), "{refused:?}");
        store.close().await;
        if let Some(other) = other {
            let kept = other.all(0, 10).await.unwrap();
            append(&other, &other_thread(), 1, vec![run_started(1, "go")]).await;
            drop(other);
            assert_eq!(open(&folder).all(0, 10).await.unwrap()[..kept.len()], kept, "its log is still there");
        }
        // What was acknowledged is in the file, wherever that is by now.
        let moved = SqliteStore::open(away.join("majordomo.db"), &Options::default()).unwrap();
        assert_eq!(moved.read(&root(), 0, 10).await.unwrap().len(), 3, "and the commit that was refused is too");
    }
}

// F7
#[tokio::test]
async fn nothing_is_written_after_damage_was_seen() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    append(&store, &root(), 1, vec![turn_started(1)]).await;
    store.close().await;
    let page: i64 = raw(&folder)
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'events'", [], |row| row.get(0))
        .unwrap();
    overwrite(&folder, columns::unsigned(page - 1) * 4096, &[0xAA; 4096]);

    let store = open(&folder);
    store.heartbeat(&ProcessId::new("writer"), NOW.plus_ms(1)).await.unwrap();
    let damaged = store.read(&root(), 0, 10).await;
    assert!(matches!(damaged, Err(Error::Corrupt(_))), "{damaged:?}");
    let refused = store.heartbeat(&ProcessId::new("writer"), NOW).await;
    assert!(matches!(refused, Err(Error::Corrupt(_))), "{refused:?}");
    let damaged = fs::read(path(&folder)).unwrap();
    store.close().await;
    assert!(fs::read(path(&folder)).unwrap() == damaged, "closing does not fold the log into what is damaged");
}

// F6
#[tokio::test]
async fn a_torn_wal_opens_to_a_prefix_of_what_was_written() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    for n in 1..=10 {
        append(&store, &root(), n, vec![turn_started(n as u32)]).await;
    }
    let wal = fs::read(folder.path().join("data/majordomo.db-wal")).unwrap();
    let db = fs::read(path(&folder)).unwrap();
    let whole = store.read(&root(), 0, 100).await.unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for cut in (0..=wal.len()).step_by(4096 + 24).chain([wal.len() - 100, wal.len()]) {
        let copy = TempDir::new().unwrap();
        fs::create_dir(copy.path().join("data")).unwrap();
        fs::write(path(&copy), &db).unwrap();
        fs::write(copy.path().join("data/majordomo.db-wal"), &wal[..cut]).unwrap();
        let reopened = open(&copy);
        let found = match reopened.read(&root(), 0, 100).await {
            Ok(found) => found,
            Err(Error::UnknownThread(_)) => Vec::new(),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(found, whole[..found.len()], "cut at {cut}");
        seen.insert(found.len());
    }
    assert!(seen.contains(&whole.len()) && seen.len() > 5, "{seen:?}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let text = "Dear diary, this is not a database. ".repeat(200);
    fs::write(path(&folder), &text).unwrap();
    let refused = SqliteStore::open(path(&folder), &impatient()).unwrap_err();
    assert!(matches!(refused, Error::Corrupt(_)), "{refused:?}");
    assert_eq!(fs::read_to_string(path(&folder)).unwrap(), text);
}

#[tokio::test]
async fn a_read_only_file_can_be_read_and_says_so_when_written() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    store.close().await;
    // SQLite takes a file for read-only if its header asks for a newer writer; permissions do not stop every user.
    overwrite(&folder, 18, &[3]);
    let store = open(&folder);
    assert_eq!(store.read(&root(), 0, 10).await.unwrap().len(), 1);
    let refused = store.append(commit(&root(), 1, vec![turn_started(1)])).await;
    assert!(matches!(refused, Err(Error::ReadOnly(_))), "{refused:?}");
}

// LACE-8, LACE-9
#[tokio::test]
async fn what_is_kept_of_an_agent_of_a_task_refers_to_threads_and_tasks_that_exist() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    let db = raw(&folder);
    db.pragma_update(None, "foreign_keys", true).unwrap();
    let insert = |thread: &str, kind: &str, task: Option<&str>, parent: &str| {
        let sql = "INSERT INTO agent_metadata (thread_id, name, provider, model, type, created_for_task, parent_thread_id, board, agent, n) \
                   VALUES (?1, 'a', 'p', 'm', ?2, ?3, ?4, 1, 'general', 1)";
        db.execute(sql, rusqlite::params![thread, kind, task, parent])
    };
    let known = root();
    insert("nobody", "ephemeral", None, known.as_str()).unwrap_err();
    insert(known.as_str(), "ephemeral", None, "nobody").unwrap_err();
    insert(known.as_str(), "ephemeral", Some("board/t9"), known.as_str()).unwrap_err();
    insert(known.as_str(), "temporary", None, known.as_str()).unwrap_err();
    insert(known.as_str(), "persistent", None, known.as_str()).unwrap();
    let at: i64 = db.query_row("SELECT created_at FROM agent_metadata", [], |row| row.get(0)).unwrap();
    assert!(at > 1_700_000_000_000, "now, where nothing is said");
}

// F11
#[tokio::test]
async fn a_newer_schema_is_refused_untouched() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    raw(&folder).pragma_update(None, "user_version", 99).unwrap();
    // As a crash leaves it: much of the database still stands in the WAL, and opening it could fold that in.
    let crashed = TempDir::new().unwrap();
    fs::create_dir(crashed.path().join("data")).unwrap();
    let files = |folder: &TempDir| ["", "-wal"].map(|suffix| format!("{}{suffix}", path(folder).display()));
    for (from, to) in files(&folder).into_iter().zip(files(&crashed)) {
        fs::copy(from, to).unwrap();
    }
    let before = files(&crashed).map(|file| fs::read(file).unwrap());
    let refused = SqliteStore::open(path(&crashed), &Options::default()).unwrap_err();
    assert!(matches!(refused, Error::Newer { found: 99, known: 10 }), "{refused:?}");
    assert!(before == files(&crashed).map(|file| fs::read(file).unwrap()));
}

// F11
#[tokio::test]
async fn a_file_of_the_first_schema_is_brought_up_to_date_and_keeps_what_it_holds() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    write_family(&store).await;
    let sent = store.arrive(&root(), InputId::new("in"), said("hello"), NOW, true).await.unwrap();
    let before = held(&store).await;
    assert_eq!(before.2.len(), 1, "one of them used its model");
    store.close().await;
    as_of_the_first_schema(&folder);

    let store = open(&folder);
    assert_eq!(held(&store).await, before);
    assert_eq!(store.approvals(ApprovalQuery::default()).await.unwrap(), []);
    assert_eq!(store.arrive(&root(), InputId::new("in"), said("hello"), NOW, true).await.unwrap(), sent);
    assert_eq!(store.claim(&ProcessId::new("writer"), NOW, 10).await.unwrap().len(), 1);
    append(&store, &root(), 5, vec![sample::asked(&root(), 1)]).await;
    assert_eq!(store.approvals(ApprovalQuery::default()).await.unwrap().len(), 1);
    assert_eq!(store.thread(&root()).await.unwrap().unwrap().head, 6);
}

// F11: killed at any moment of it, with some of what it wrote on the disk and some not.
#[tokio::test]
async fn a_file_whose_bringing_up_to_date_was_cut_off_anywhere_keeps_what_it_holds() {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4096;
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    write_family(&store).await;
    let before = held(&store).await;
    store.close().await;
    as_of_the_first_schema(&folder);
    raw(&folder).pragma_update(None, "journal_mode", "WAL").unwrap();

    let renewed = open(&folder);
    let [database, log] = ["", "-wal"].map(|end| fs::read(format!("{}{end}", path(&folder).display())).unwrap());
    drop(renewed);
    let frames = (log.len() - HEADER) / FRAME;
    assert!(frames > 10, "it is done in the log: {frames}");
    for cut in (0..=frames).map(|frame| HEADER + frame * FRAME).flat_map(|at| [at, at - 1]) {
        let copy = TempDir::new().unwrap();
        fs::create_dir(copy.path().join("data")).unwrap();
        fs::write(path(&copy), &database).unwrap();
        fs::write(format!("{}-wal", path(&copy).display()), &log[..cut]).unwrap();
        let store = open(&copy);
        assert_eq!(held(&store).await, before, "cut at {cut}");
        store.close().await;
    }
}

#[tokio::test]
async fn a_look_past_the_store_changes_no_file() {
    let folder = TempDir::new().unwrap();
    assert_eq!(installation_of(&path(&folder)).unwrap(), State::default(), "there is none");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let store = open(&folder);
    store.record(InstallationEvent::ProjectForgotten { path: "/x".into(), machine: None }, NOW).await.unwrap();
    let trusted =
        crate::installation::ProjectJudgement { path: "/p".into(), digest: "d".into(), trusted: true, machine: None };
    store.record(InstallationEvent::ProjectJudged(trusted), NOW).await.unwrap();
    let files = || {
        let mut files: Vec<_> = fs::read_dir(path(&folder).parent().unwrap()).unwrap().flatten().collect();
        files.sort_by_key(fs::DirEntry::file_name);
        files.iter().map(|file| (file.file_name(), fs::read(file.path()).unwrap())).collect::<Vec<_>>()
    };
    let open_files = files();
    assert_eq!(installation_of(&path(&folder)).unwrap().projects.len(), 1, "while it is open");
    assert!(files().iter().map(|(name, _)| name).eq(open_files.iter().map(|(name, _)| name)));
    store.close().await;
    let closed = files();
    assert_eq!(installation_of(&path(&folder)).unwrap().projects.len(), 1, "after it was closed");
    assert!(files() == closed);

    // A log that is missing is not replaced by an empty one.
    fs::write(file::beside(&path(&folder), "-shm"), "x").unwrap();
    fs::remove_file(file::beside(&path(&folder), "-wal")).ok();
    let before = files();
    assert!(matches!(installation_of(&path(&folder)), Err(Error::Corrupt(_))));
    assert!(files() == before);
}

#[tokio::test]
async fn a_database_of_the_third_schema_keeps_what_it_holds_and_learns_of_the_installation() {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(path(&folder).parent().unwrap()).unwrap();
    raw(&folder).execute_batch(include_str!("../../tests/fixtures/schema-3.sql")).unwrap();
    assert_eq!(installation_of(&path(&folder)).unwrap(), State::default(), "looking at it changes nothing");
    let version: u32 = raw(&folder).pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 3);

    let store = open(&folder);
    let log = store.all(0, 1000).await.unwrap();
    assert_eq!(log.len(), 20);
    let rows = store.threads(ThreadQuery::default()).await.unwrap();
    let shown: Vec<_> = rows.iter().map(|row| (&*row.agent, row.outcome, row.head)).collect();
    assert_eq!(shown, [("scheduler", Some(Outcome::Completed), 8), ("butler", Some(Outcome::Completed), 12)]);
    let given = crate::installation::Consent {
        id: "a".into(),
        tool: "run_command".into(),
        pattern: Some("ls*".into()),
        agent: None,
        approval: None,
        given_at: NOW,
    };
    let recorded = store.record(InstallationEvent::ConsentGiven(given), NOW).await.unwrap();
    assert_eq!((recorded.n, recorded.position), (1, log.last().unwrap().position + 1));
    store.close().await;
    assert_eq!(installation_of(&path(&folder)).unwrap().consents.len(), 1);
    assert_eq!(open(&folder).all(0, 1000).await.unwrap(), log);
}

#[tokio::test]
async fn threads_of_a_file_of_an_earlier_schema_are_in_the_states_that_their_events_tell() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    let names = ["idle", "begun", "asking", "tool", "question", "child", "stopping", "done", "failed", "again"];
    let [idle, begun, asking, tool, question, child, stopping, done, failed, again] =
        names.map(|name| ThreadId::new(format!("20260115-{name}")));
    let all = [&idle, &begun, &asking, &tool, &question, &child, &stopping, &done, &failed, &again];
    threads(&store, &all).await;
    let run = || sample::run_started(1, "go");
    let ending =
        agent::event::Ending { outcome: Outcome::Cancelled, reason: "enough".into(), cause: None, last_turn: false };
    let started = Event::ToolStarted { call: CallId::new("1-0") };
    append(&store, &begun, 1, vec![run()]).await;
    append(&store, &asking, 1, vec![run(), turn_started(1)]).await;
    append(&store, &tool, 1, vec![run(), turn_started(1), sample::answered(1, &["look"]), started]).await;
    let asked = sample::asked(&question, 1);
    append(&store, &question, 1, vec![run(), turn_started(1), sample::answered(1, &["look"]), asked]).await;
    let spawned = sample::spawned(&child.child(1), "c");
    append(&store, &child, 1, vec![run(), turn_started(1), sample::answered(1, &[]), spawned]).await;
    append(&store, &stopping, 1, vec![run(), turn_started(1), Event::StopBegun { input: None, ending }]).await;
    append(&store, &done, 1, vec![run(), sample::reported(Outcome::Completed)]).await;
    append(&store, &failed, 1, vec![run(), sample::reported(Outcome::Timeout)]).await;
    append(&store, &again, 1, vec![run(), sample::reported(Outcome::Error)]).await;
    let live = async |store: &SqliteStore| {
        let query = ThreadQuery { live_only: true, ..ThreadQuery::default() };
        store.threads(query).await.unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let (_, before, _) = held(&store).await;
    let live_before = live(&store).await;
    assert_eq!(live_before.len(), 6);
    store.close().await;
    as_of_the_first_schema(&folder);

    let store = open(&folder);
    let (_, after, _) = held(&store).await;
    assert_eq!(live(&store).await, live_before);
    let states = |rows: &[ThreadRow]| rows.iter().map(|row| (row.id.clone(), row.state)).collect::<Vec<_>>();
    assert_eq!(states(&after), states(&before));
    // An input to a thread that is over leaves its state as it is; the next events are folded as if nothing had happened.
    store.arrive(&failed, InputId::new("late"), said("hello"), NOW, false).await.unwrap();
    let row = async |thread: &ThreadId| store.thread(thread).await.unwrap().unwrap();
    assert_eq!(row(&failed).await.state, agent::State::Error);
    store.register(process("writer"), NOW).await.unwrap();
    for (thread, head, event, state) in [
        (&asking, 3, sample::answered(1, &[]), agent::State::Processing),
        (&child, 5, sample::child_reported(&child.child(1), Outcome::Completed), agent::State::Processing),
        (&stopping, 4, sample::reported(Outcome::Cancelled), agent::State::Idle),
        (&again, 3, sample::run_started(2, "again"), agent::State::Initializing),
    ] {
        let epoch = store.adopt(thread, &ProcessId::new("writer"), NOW).await.unwrap();
        store.append(Commit { epoch, ..commit(thread, head, vec![event]) }).await.unwrap();
        assert_eq!(row(thread).await.state, state, "{thread}");
    }
}

// F11
#[tokio::test]
async fn a_file_of_an_earlier_schema_is_left_alone_while_a_process_works_with_it() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    store.close().await;
    as_of_the_first_schema(&folder);
    let me = Process::current();
    let working = "UPDATE processes SET pid = ?1, start_time = ?2, host = ?3";
    raw(&folder).execute(working, (me.pid, columns::signed(me.start_time), &*me.host)).unwrap();
    let refused = SqliteStore::open(path(&folder), &Options::default()).unwrap_err();
    assert!(matches!(&refused, Error::AtWork(process) if process.pid == me.pid), "{refused:?}");
    assert!(refused.to_string().contains("let it end first"), "{refused}");
    raw(&folder).execute("UPDATE processes SET start_time = start_time + 1", []).unwrap();
    assert_eq!(held(&open(&folder)).await.1.len(), 1, "it has ended, and its number is another's");
}

/// A root that was answered and has a child.
async fn write_family(store: &SqliteStore) {
    let child = root().child(1);
    threads(store, &[&root(), &child]).await;
    append(store, &root(), 1, vec![turn_started(1), sample::answered(1, &["look"]), sample::spawned(&child, "c")])
        .await;
}

async fn held(store: &SqliteStore) -> (Vec<Record>, Vec<ThreadRow>, Vec<UsageRow>) {
    let rows = store.threads(ThreadQuery::default()).await.unwrap();
    (store.all(0, 100).await.unwrap(), rows, store.usage(None).await.unwrap())
}

/// Puts the file of a closed store back into the shape that the first version of this program gave it.
fn as_of_the_first_schema(folder: &TempDir) {
    let (file, old) = (path(folder), folder.path().join("old.db"));
    let db = Connection::open(&old).unwrap();
    db.execute_batch(include_str!("../../migrations/0001_log.sql")).unwrap();
    db.execute("ATTACH ?1 AS now", [file.to_str()]).unwrap();
    db.execute_batch(
        "INSERT INTO processes SELECT * FROM now.processes;
         INSERT INTO threads SELECT t.key, t.id, t.root, t.parent, g.head, t.seq, t.owner, t.epoch, t.name, t.agent, t.model,
           t.mode, t.preset, t.goal, CASE WHEN t.live = 0 THEN iif(t.parent IS NULL, 'idle', 'done')
             WHEN g.state = 'completing' THEN 'stopping' WHEN g.state IN ('delegating', 'waiting_for_user') THEN 'waiting'
             ELSE 'running' END, t.outcome, g.turns, g.tool_calls, g.tokens_input, g.tokens_cache_read,
           g.tokens_cache_write, g.tokens_output, g.cost_microusd, g.last_tool, g.waiting_for, t.runs, t.created_at,
           g.updated_at, t.ended_at, json_remove(g.doing, '$.phase', '$.waits', '$.turn') FROM now.threads t JOIN now.progress g ON g.thread = t.key;
         INSERT INTO events SELECT * FROM now.events;
         INSERT INTO sub_agent_execution SELECT * FROM now.sub_agent_execution;
         INSERT INTO inputs SELECT * FROM now.inputs;
         INSERT INTO wakes SELECT * FROM now.wakes;
         INSERT INTO usage SELECT t.key, t.model, g.answers, g.tokens_input, g.tokens_cache_read, g.tokens_cache_write,
           g.tokens_output, g.booked_tokens, g.cost_microusd
           FROM now.threads t JOIN now.progress g ON g.thread = t.key WHERE g.answers > 0;
         DETACH now;
         PRAGMA user_version = 1;",
    )
    .unwrap();
    db.close().unwrap();
    fs::rename(old, file).unwrap();
}

// F32
#[tokio::test]
async fn a_pending_question_is_there_after_reopening() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    append(&store, &root(), 1, vec![sample::asked(&root(), 1)]).await;
    let before = store.approvals(ApprovalQuery::default()).await.unwrap();
    assert_eq!(before.len(), 1);
    store.close().await;
    assert_eq!(open(&folder).approvals(ApprovalQuery::default()).await.unwrap(), before);
}

// F43
#[tokio::test]
async fn an_event_of_a_later_version_is_named_and_stays() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    append(&store, &root(), 1, vec![turn_started(1)]).await;
    let dream = r#"UPDATE events SET kind = 'dreamt', body = '{"dreamt":{"of":"sheep"}}' WHERE n = 2"#;
    raw(&folder).execute(dream, []).unwrap();
    let error = store.read(&root(), 0, 10).await.unwrap_err();
    assert!(matches!(error, Error::Unreadable { ref kind, .. } if &**kind == "dreamt"), "{error:?}");
    append(&store, &root(), 2, vec![turn_started(2)]).await;
    assert_eq!(store.read(&root(), 2, 10).await.unwrap().len(), 1);
}

// T45
#[tokio::test]
async fn what_is_made_is_private() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.path().join("data")), 0o700);
    for file in ["majordomo.db", "majordomo.db-wal", "majordomo.db-shm"] {
        assert_eq!(mode(folder.path().join("data").join(file)), 0o600, "{file}");
    }
    store.close().await;
    fs::set_permissions(path(&folder), fs::Permissions::from_mode(0o666)).unwrap();
    let _store = open(&folder);
    assert_eq!(mode(path(&folder)), 0o600);
}

// T45
#[test]
fn a_symbolic_link_in_the_place_of_a_file_is_refused() {
    for planted in ["majordomo.db", "majordomo.db-wal", "majordomo.db-shm"] {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let target = folder.path().join("target");
        symlink(&target, folder.path().join("data").join(planted)).unwrap();
        let refused = SqliteStore::open(path(&folder), &impatient()).unwrap_err();
        assert!(matches!(refused, Error::Symlink(_)), "{planted}: {refused:?}");
        assert!(!target.exists());
    }
}

// ZILEO-21
#[test]
fn the_table_of_executions_refuses_a_status_that_is_none_and_knows_when_it_is() {
    let folder = TempDir::new().unwrap();
    let _store = open(&folder);
    let insert = |id: &str, status: &str| {
        raw(&folder).execute(
            "INSERT INTO sub_agent_execution \
             (id, workflow_id, parent_agent_id, sub_agent_id, sub_agent_name, task_description, status) \
             VALUES (?1, 'w', 'p', ?1, 'n', 't', ?2)",
            [id, status],
        )
    };
    for status in ["pending", "running", "completed", "error", "cancelled"] {
        insert(status, status).unwrap();
    }
    insert("odd", "sleeping").unwrap_err();
    let created_at: i64 =
        raw(&folder).query_row("SELECT min(created_at) FROM sub_agent_execution", [], |row| row.get(0)).unwrap();
    assert!(created_at > NOW.0 - 1_000_000_000_000);
    let indexed: Vec<String> = raw(&folder)
        .prepare("SELECT c.name FROM pragma_index_list('sub_agent_execution') i, pragma_index_info(i.name) c")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for column in ["workflow_id", "parent_agent_id"] {
        assert!(indexed.iter().any(|name| name == column), "{column} is not among {indexed:?}");
    }
}

#[test]
fn durability_is_what_was_asked_for() {
    for (durability, expected) in [(Durability::Full, 2), (Durability::Normal, 1)] {
        let folder = TempDir::new().unwrap();
        let path = file::prepare(&path(&folder)).unwrap();
        let connection = file::open_writer(&path, &Options { durability, ..Options::default() }).unwrap();
        let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap();
        assert_eq!(synchronous, expected, "{durability:?}");
    }
}

#[tokio::test]
async fn a_removed_family_leaves_no_row_in_any_table() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root(), &root().child(1)]).await;
    append(&store, &root(), 1, vec![sample::answered(1, &[]), sample::spawned(&root().child(1), "c")]).await;
    append(&store, &root(), 3, vec![sample::asked(&root(), 1)]).await;
    store.arrive(&root(), InputId::new("a"), said("hello"), NOW, true).await.unwrap();
    store.leave(&ProcessId::new("writer")).await.unwrap();
    store.remove(&root(), NOW).await.unwrap();
    for table in ["processes", "threads", "events", "inputs", "wakes", "sub_agent_execution", "progress", "approvals"] {
        let rows: i64 = raw(&folder).query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

/// A write session in the middle of a group.
fn session(folder: &TempDir) -> WriteSession {
    let path = file::prepare(&path(folder)).unwrap();
    let mut session = WriteSession::new(file::open_writer(&path, &Options::default()).unwrap());
    session.begin().unwrap();
    write::register(&mut session, &process("writer"), NOW).unwrap();
    session
}

fn put(session: &mut WriteSession, thread: &ThreadId, expected: u64, events: Vec<Event>) -> Result<Appended, Error> {
    let commit = commit(thread, expected, events);
    let bodies: Arc<[_]> = commit.events.iter().map(|event| codec::encode(event)).collect();
    write::append(session, &commit, &bodies)
}

#[test]
fn a_request_sees_what_the_others_of_its_group_wrote() {
    let folder = TempDir::new().unwrap();
    let mut session = session(&folder);
    let child = root().child(1);
    put(&mut session, &root(), 0, vec![sample::created(&root())]).unwrap();
    let arrive = |session: &mut WriteSession| {
        let (id, input) = (InputId::new("in"), said("hello"));
        let event = Arc::new(Event::InputArrived { id: id.clone(), input });
        let body: Arc<[_]> = [codec::encode(&event)].into();
        write::arrive(session, &root(), &id, &event, &body, NOW, true).unwrap()
    };
    let first = arrive(&mut session);
    assert_eq!((first.n, first.seq), (2, 2));
    assert_eq!(arrive(&mut session), first, "an input is written once");
    let spawned = vec![sample::spawned(&child, "c"), Event::ChildStarted { child: child.clone(), again: false }];
    put(&mut session, &root(), 2, spawned).unwrap();
    put(&mut session, &child, 0, vec![sample::created(&child)]).unwrap();
    put(&mut session, &child, 1, vec![sample::reported(Outcome::Completed)]).unwrap();
    put(&mut session, &root(), 4, vec![sample::child_reported(&child, Outcome::Error)]).unwrap();
    // A refusal must not look as if it had written what others wrote before it.
    let changes = session.changes();
    let refused = write::remove(&mut session, &root(), None, NOW).unwrap_err();
    assert!(matches!(refused, Error::Owned { .. }), "its writer is alive: {refused:?}");
    assert_eq!(session.changes(), changes);
    let claimed = write::claim(&mut session, &ProcessId::new("writer"), NOW, 10).unwrap();
    assert_eq!(claimed.len(), 1, "what was left for a thread that was made in the same group");
    session.save().unwrap();
    session.commit().unwrap();

    let db = raw(&folder);
    let numbers = read::all_events(&db, 0, 100).unwrap();
    let numbers: Vec<_> = numbers.iter().map(|record| (record.position, record.seq, record.n)).collect();
    assert_eq!(numbers, [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 1), (6, 6, 2), (7, 7, 5)]);
    let executions = read::executions(&db, &root()).unwrap();
    assert_eq!(executions.len(), 1);
    assert_eq!(executions[0].outcome, Some(Outcome::Completed), "its own report came first");
    assert_eq!(read::thread(&db, &root()).unwrap().unwrap().head, 5);
}

#[test]
fn who_leaves_owns_nothing_that_was_taken_over_in_the_same_group() {
    let folder = TempDir::new().unwrap();
    let mut session = session(&folder);
    put(&mut session, &root(), 0, vec![sample::created(&root())]).unwrap();
    write::leave(&mut session, &ProcessId::new("writer")).unwrap();
    write::register(&mut session, &process("other"), NOW).unwrap();
    assert_eq!(write::adopt(&mut session, &root(), &ProcessId::new("other"), NOW).unwrap(), 2);
    write::leave(&mut session, &ProcessId::new("other")).unwrap();
    session.save().unwrap();
    session.commit().unwrap();
    let row = read::thread(&raw(&folder), &root()).unwrap().unwrap();
    assert_eq!((row.owner, row.epoch), (None, 2));
}

fn overwrite(folder: &TempDir, offset: u64, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(path(folder)).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(bytes).unwrap();
}

// F39, F44
#[tokio::test]
async fn a_store_that_is_prepared_needs_no_more_file_handles_however_many_read_at_once() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    threads(&store, &[&root()]).await;
    let _tail = store.tail();
    let handles = || {
        let links =
            fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        links.filter(|file| file.starts_with(folder.path())).count()
    };
    store.prepare().await.unwrap();
    // The thread that follows the file opens its own connection a moment after it was asked to.
    let writer_follower_and_readers = 2 * 6 + 1;
    while handles() < writer_follower_and_readers {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for _ in 0..5 {
        let reads = join_all((0..100).map(|_| store.read(&root(), 0, 10))).await;
        assert!(reads.iter().all(Result::is_ok));
        assert_eq!(handles(), writer_follower_and_readers);
    }
    store.prepare().await.unwrap();
    assert_eq!(handles(), writer_follower_and_readers, "a second time opens nothing");
    store.close().await;
    assert!(matches!(store.prepare().await, Err(Error::Closed)));
}
