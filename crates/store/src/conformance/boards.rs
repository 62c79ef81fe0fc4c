//! Boards: written by compare-and-set, looked at a few tasks at a time, and folded into rows that tell the same as their events.

use std::sync::Arc;
use std::time::Duration;

use agent::{InputId, Outcome, ThreadId, Time};
use board::kept::Kept;
use board::{
    Actor, Assignee, BoardId, Change, Command, Delivery, DeliveryKind, Dependency, Edit, Entry, Event, NewAgent,
    NewTask, Refusal, Reply, Request, StartedAgent, Status, TaskId,
};
use futures_util::StreamExt;

use super::sample::{NOW, append, reported, root, run_started, threads};
use crate::boards::{BoardCommit, DeliveryQuery, OnBoard, RestingQuery, TaskQuery, carry_out, follow_board};
use crate::error::Error;
use crate::open::Store;
use crate::rows::{CurrentTask, LEASE_MS};

fn here() -> BoardId {
    BoardId::new("/home/ana/project")
}

fn t(number: u64) -> TaskId {
    TaskId::of(number)
}

async fn ask_as(store: &dyn Store, name: Option<&str>, by: Actor, command: Command) -> Result<Reply, Refusal> {
    let request = Request::new(by, name.map(InputId::new), "/home/ana/project".into(), command);
    carry_out(store, &here(), request, NOW, false).await.unwrap()
}

async fn ask(store: &dyn Store, command: Command) -> Reply {
    ask_as(store, None, Actor::Human, command).await.unwrap()
}

fn titled(title: &str) -> NewTask {
    NewTask::titled(title)
}

fn for_agent(title: &str) -> NewTask {
    let new = NewAgent { agent: None, model: Some("anthropic/claude-3-sonnet".into()) };
    NewTask { assignee: Some(Assignee::New(new)), ..titled(title) }
}

async fn add(store: &dyn Store, tasks: Vec<NewTask>) {
    ask(store, Command::Add { tasks }).await;
}

async fn done(store: &dyn Store, task: u64) {
    let change = Change::Completed { result: None };
    ask(store, Command::Set { task: t(task), change, note: None }).await;
}

async fn take(store: &dyn Store, room: u32) -> Vec<Delivery> {
    let fresh = (0..room).map(|n| ThreadId::new(format!("20260115-new{n}"))).collect();
    let take = Command::Take { room, most: 100, labels: Vec::new(), fresh };
    match ask_as(store, None, Actor::System, take).await {
        Ok(Reply::Taken(deliveries)) => deliveries,
        other => panic!("{other:?}"),
    }
}

async fn begin(store: &dyn Store, delivery: &Delivery, thread: &ThreadId, parent: &ThreadId) {
    let (name, provider, model) = ("agent-1768471200000".into(), "anthropic".into(), "claude-3-sonnet".into());
    let agent = Some(StartedAgent { name, provider, model, parent: parent.clone() });
    let (task, delivery, thread) = (delivery.task.clone(), delivery.id.clone(), thread.clone());
    let (named, id, of) = (task.clone(), delivery.clone(), thread.clone());
    let name = Command::Name { task: named, delivery: id, thread: of, agent };
    assert_eq!(ask_as(store, None, Actor::System, name).await, Ok(Reply::Done));
    let begun = Command::Begun { task, delivery, thread, thread_n: 1 };
    assert_eq!(ask_as(store, None, Actor::System, begun).await, Ok(Reply::Done));
}

async fn numbers(store: &dyn Store, query: TaskQuery) -> Vec<u64> {
    store.tasks(query).await.unwrap().iter().map(|task| task.id.number()).collect()
}

/// What its events tell.
async fn folded(store: &dyn Store) -> Kept {
    let mut kept = Kept::new(here());
    for record in store.board_events(&here(), 0, usize::MAX).await.unwrap() {
        kept.apply(record.at, &record.entry);
        assert_eq!(record.n, kept.board.n);
    }
    kept
}

/// Only a commit that knows all events of the board is written.
pub async fn a_board_is_written_by_compare_and_set(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    assert_eq!(store.board(&here()).await.unwrap(), None);
    let note = |expected| BoardCommit {
        board: here(),
        expected,
        at: NOW,
        entries: vec![Entry {
            by: Actor::Human,
            command: None,
            event: Event::BoardOpened { folder: "/home/ana/project".into() },
        }],
        leased: false,
    };
    assert!(matches!(store.commit_board(note(1)).await, Err(Error::BoardConflict { head: 0, .. })));
    let first = store.commit_board(note(0)).await.unwrap();
    assert_eq!(first.n, 1);
    assert!(matches!(store.commit_board(note(0)).await, Err(Error::BoardConflict { expected: 0, head: 1, .. })));
    let none = BoardCommit { entries: Vec::new(), ..note(1) };
    assert!(matches!(store.commit_board(none).await, Err(Error::Invalid(_))));
    let after = append(&*store, &root(), 1, vec![run_started(1, "hello")]).await;
    assert!(after.position > first.position, "boards and threads share one order");
    assert_eq!(store.all(0, 100).await.unwrap().len(), 2, "the events of boards are in no thread's");
    assert_eq!(store.board(&here()).await.unwrap().map(|board| board.n), Some(1));
}

/// And the second answer is the first one.
pub async fn a_command_is_carried_out_once_under_its_name(store: Arc<dyn Store>) {
    let add = || Command::Add { tasks: vec![titled("a"), titled("b")] };
    let first = ask_as(&*store, Some("call-1"), Actor::Human, add()).await;
    assert_eq!(first, Ok(Reply::Added(vec![t(1), t(2)])));
    assert_eq!(ask_as(&*store, Some("call-1"), Actor::Human, add()).await, first);
    assert_eq!(store.board(&here()).await.unwrap().unwrap().tasks, 2);
    let entries = vec![Entry {
        by: Actor::Human,
        command: Some(InputId::new("call-1")),
        event: Event::BoardOpened { folder: "".into() },
    }];
    let again = BoardCommit { board: here(), expected: 3, at: NOW, entries, leased: false };
    assert!(matches!(store.commit_board(again).await, Err(Error::BoardConflict { .. })), "not even by a blind commit");
}

/// Whatever is asked of it.
pub async fn the_rows_of_a_board_tell_what_its_events_tell(store: Arc<dyn Store>) {
    let store = &*store;
    let child = root().child(1);
    threads(store, &[&root(), &child]).await;
    let after = |on: &[u64]| on.iter().map(|n| Dependency::Task(t(*n))).collect();
    add(store, vec![for_agent("a"), titled("b"), NewTask { labels: vec!["x".into()], ..for_agent("c") }]).await;
    add(store, vec![NewTask { after: after(&[1, 2]), ..for_agent("d") }, titled("e")]).await;
    ask(store, Command::Note { task: t(2), text: "remark".into() }).await;
    let labelled =
        Command::Take { room: 9, most: 9, labels: vec!["x".into()], fresh: vec![ThreadId::new("20260115-x")] };
    let Ok(Reply::Taken(taken)) = ask_as(store, None, Actor::System, labelled).await else { panic!() };
    assert_eq!(taken.iter().map(|one| one.task.number()).collect::<Vec<_>>(), [3], "only what has the label");
    let failed = Command::Failed { delivery: taken[0].id.clone(), reason: "no key".into() };
    ask_as(store, None, Actor::System, failed).await.unwrap();
    let taken = take(store, 9).await;
    assert_eq!(taken.iter().map(|one| one.task.number()).collect::<Vec<_>>(), [1]);
    assert!(matches!(taken[0].kind, DeliveryKind::Start { .. }));
    begin(store, &taken[0], &child, &root()).await;
    done(store, 1).await;
    done(store, 2).await;
    assert_eq!(take(store, 9).await[0].task, t(4), "what it waited for is done");
    let edit = Edit { rank: Some(1), after: Some(vec![t(2)]), ..Edit::default() };
    ask(store, Command::Edit { task: t(5), edit }).await;
    ask(store, Command::Set { task: t(1), change: Change::Archived, note: Some("old".into()) }).await;
    add(store, vec![titled("f")]).await;
    ask(store, Command::Remove { task: t(6) }).await;

    let kept = folded(store).await;
    assert_eq!(store.board(&here()).await.unwrap(), Some(kept.board.clone()));
    for number in 1..=7 {
        let task = store.task(&here(), &t(number)).await.unwrap();
        assert_eq!(task.as_ref(), kept.tasks.get(&number), "t{number}");
        assert_eq!(&store.notes(&here(), &t(number)).await.unwrap(), kept.notes.get(&t(number)).unwrap_or(&Vec::new()));
    }
    let due = DeliveryQuery { board: None, at: NOW, limit: 100 };
    let due: Vec<Delivery> = store.claim_deliveries(due).await.unwrap().into_iter().map(|due| due.delivery).collect();
    assert_eq!(due, kept.deliveries.values().cloned().collect::<Vec<_>>());
    assert_eq!(store.task_of_thread(&child).await.unwrap().map(|(board, task)| (board, task.id)), Some((here(), t(1))));
    assert_eq!(numbers(store, TaskQuery::of(&here())).await, [5, 2, 3, 4]);
    // LACE-8, LACE-9: the rows can be made anew from the log, and are the same.
    let rebuilt = store.rebuild_boards().await.unwrap();
    assert_eq!((rebuilt.boards, rebuilt.tasks, rebuilt.differences), (1, 5, 0));
    assert_eq!(numbers(store, TaskQuery::of(&here())).await, [5, 2, 3, 4]);
}

/// By rank.
pub async fn tasks_are_listed_in_pages(store: Arc<dyn Store>) {
    add(&*store, (0..25).map(|n| titled(&format!("task {n}"))).collect()).await;
    for task in [3, 9] {
        done(&*store, task).await;
    }
    let mut query = TaskQuery { limit: 10, ..TaskQuery::of(&here()) };
    let mut seen = Vec::new();
    loop {
        let page = store.tasks(query.clone()).await.unwrap();
        let Some(last) = page.last() else { break };
        query.after = Some(last.id.clone());
        seen.extend(page.into_iter().map(|task| task.id.number()));
    }
    assert_eq!(seen, (1..=25).collect::<Vec<_>>());
    let completed = TaskQuery { status: Some(Status::Completed), ..TaskQuery::of(&here()) };
    assert_eq!(numbers(&*store, completed).await, [3, 9]);
    assert!(store.tasks(TaskQuery::of(&BoardId::new("other"))).await.unwrap().is_empty());
}

/// From any place, in pages of any size, with events of threads between them.
pub async fn events_of_all_boards_are_read_in_the_order_of_the_log(store: Arc<dyn Store>) {
    let boards = ["a", "b", "c"].map(BoardId::new);
    threads(&*store, &[&root()]).await;
    for n in 0..12 {
        // The third one gets its first event late.
        let board = &boards[[0, 1, 0, 0, 2][n % 5].min(n / 3)];
        let command = Command::Add { tasks: vec![titled(&format!("task {n}"))] };
        let request = Request::new(Actor::Human, None, "/work".into(), command);
        carry_out(&*store, board, request, NOW, false).await.unwrap().unwrap();
        append(&*store, &root(), n as u64 + 1, vec![run_started(n as u32 + 1, "go on")]).await;
    }
    let mut all = Vec::new();
    for board in &boards {
        let events = store.board_events(board, 0, 100).await.unwrap();
        assert!(!events.is_empty(), "{board}");
        all.extend(events.into_iter().map(|record| OnBoard { board: board.clone(), record }));
    }
    all.sort_by_key(|event| event.record.position);
    let newest = *store.tail().borrow();
    for after in 0..=newest + 1 {
        for limit in [1, 2, 5, 100] {
            let wanted = all.iter().filter(|event| event.record.position > after).take(limit).cloned();
            let read = store.all_board_events(after, limit).await.unwrap();
            assert_eq!(read, wanted.collect::<Vec<_>>(), "{limit} after {after}");
        }
    }
}

/// Unless it was carried out.
pub async fn a_delivery_that_is_claimed_comes_back_after_a_while(store: Arc<dyn Store>) {
    add(&*store, vec![for_agent("a"), for_agent("b")]).await;
    assert_eq!(store.runnable_boards().await.unwrap().len(), 1);
    let taken = take(&*store, 9).await;
    assert!(store.runnable_boards().await.unwrap().is_empty());
    let claim = |at: Time| store.claim_deliveries(DeliveryQuery { board: Some(here()), at, limit: 100 });
    let elsewhere = DeliveryQuery { board: Some(BoardId::new("other")), at: NOW, limit: 100 };
    assert!(store.claim_deliveries(elsewhere).await.unwrap().is_empty());
    assert_eq!(claim(NOW).await.unwrap().len(), 2);
    assert!(claim(NOW).await.unwrap().is_empty(), "they are leased");
    let failed = Command::Failed { delivery: taken[0].id.clone(), reason: "no".into() };
    ask_as(&*store, None, Actor::System, failed).await.unwrap();
    let again = claim(NOW.plus_ms(LEASE_MS)).await.unwrap();
    assert_eq!(again.iter().map(|due| &due.delivery).collect::<Vec<_>>(), [&taken[1]]);
    // What a process takes for itself is leased to it from the beginning.
    add(&*store, vec![for_agent("c")]).await;
    let fresh = vec![ThreadId::new("20260115-z")];
    let command = Command::Take { room: 1, most: 100, labels: Vec::new(), fresh };
    let request = Request::new(Actor::System, None, "".into(), command);
    carry_out(&*store, &here(), request, NOW, true).await.unwrap().unwrap();
    assert!(claim(NOW).await.unwrap().is_empty());
}

/// A task whose thread works is not among them.
pub async fn tasks_whose_thread_rests_are_found(store: Arc<dyn Store>) {
    let store = &*store;
    let other = ThreadId::new("20260115-zzzz");
    threads(store, &[&root(), &other]).await;
    append(store, &root(), 1, vec![run_started(1, "the task")]).await;
    add(store, vec![for_agent("a"), for_agent("b"), for_agent("c")]).await;
    let taken = take(store, 9).await;
    let gone = ThreadId::new("20260115-gone");
    for (delivery, thread) in taken.iter().zip([&root(), &other, &gone]) {
        begin(store, delivery, thread, thread).await;
    }
    let find = |query: RestingQuery| async move {
        let resting = store.resting_tasks(query).await.unwrap();
        resting.into_iter().map(|one| (one.task.id.number(), one.thread_exists)).collect::<Vec<_>>()
    };
    let all = || RestingQuery { limit: 100, ..RestingQuery::default() };
    let resting = || find(all());
    assert_eq!(resting().await, [(2, true), (3, false)]);
    append(store, &root(), 2, vec![reported(Outcome::Completed)]).await;
    assert_eq!(resting().await, [(1, true), (2, true), (3, false)]);
    // In order, page by page, and of one board.
    let second = RestingQuery { after: Some((here(), t(1))), limit: 1, ..all() };
    assert_eq!(find(second).await, [(2, true)]);
    assert_eq!(find(RestingQuery { board: Some(here()), after: Some((here(), t(2))), ..all() }).await, [(3, false)]);
    let elsewhere = BoardId::new("elsewhere");
    assert!(find(RestingQuery { board: Some(elsewhere.clone()), ..all() }).await.is_empty());
    let asked = Request::new(Actor::Human, None, "".into(), Command::Add { tasks: vec![titled("x")] });
    carry_out(store, &elsewhere, asked, NOW, false).await.unwrap().unwrap();
    assert!(find(RestingQuery { board: Some(elsewhere), ..all() }).await.is_empty());
    done(store, 1).await;
    assert_eq!(resting().await, [(2, true), (3, false)]);
    // The row of a thread names the task that it works on (LACE-15).
    let current = store.thread(&other).await.unwrap().unwrap().current_task;
    let expected = CurrentTask { id: "t2".into(), board: here().as_str().into(), title: "b".into() };
    assert_eq!(current, Some(expected));
    assert_eq!(store.thread(&root()).await.unwrap().unwrap().current_task, None, "its task is completed");
}

/// LACE-5, LACE-8, LACE-9, LACE-21 (metadata)
pub async fn a_thread_that_was_made_for_a_task_is_known_with_its_task(store: Arc<dyn Store>) {
    let store = &*store;
    let (one, two) = (root().child(1), root().child(2));
    threads(store, &[&root(), &one, &two]).await;
    add(store, vec![for_agent("first"), for_agent("second")]).await;
    let taken = take(store, 9).await;
    begin(store, &taken[0], &one, &root()).await;
    begin(store, &taken[1], &two, &root()).await;
    let metadata = store.agent_metadata(&one).await.unwrap().unwrap();
    assert_eq!(
        (&*metadata.name, &*metadata.provider, &*metadata.model),
        ("agent-1768471200000", "anthropic", "claude-3-sonnet")
    );
    assert_eq!((&*metadata.kind, metadata.created_for_task.as_deref()), ("ephemeral", Some("/home/ana/project/t1")));
    assert_eq!((metadata.parent_thread_id, metadata.current_task.as_deref()), (root(), Some("first")));
    assert_eq!(store.agent_metadata(&root()).await.unwrap(), None);
    let ids = |agents: Vec<crate::AgentMetadata>| agents.into_iter().map(|agent| agent.thread_id).collect::<Vec<_>>();
    assert_eq!(ids(store.session_agents(&root()).await.unwrap()), [one.clone(), two.clone()]);
    assert!(store.session_agents(&one).await.unwrap().is_empty(), "of another session");
    // What it works on changes with its task.
    done(store, 1).await;
    assert_eq!(store.agent_metadata(&one).await.unwrap().unwrap().current_task, None);
    // A task and a family that are removed leave no row that refers to them.
    ask(store, Command::Remove { task: t(1) }).await;
    assert_eq!(store.agent_metadata(&one).await.unwrap().unwrap().created_for_task, None);
    assert_eq!(store.rebuild_boards().await.unwrap().differences, 0);
    store.remove(&root(), NOW.plus_ms(1_000_000)).await.unwrap();
    assert!(store.session_agents(&root()).await.unwrap().is_empty());
    assert_eq!(store.rebuild_boards().await.unwrap().differences, 0);
}

/// And what one writes the other sees and follows.
pub async fn of_two_writers_of_a_board_one_decides_again(one: Arc<dyn Store>, two: Arc<dyn Store>) {
    let mut followed = follow_board(&two, &here(), 0, Duration::ZERO);
    let adding = |store: Arc<dyn Store>| async move {
        for n in 0..20 {
            add(&*store, vec![titled(&format!("task {n}"))]).await;
        }
    };
    tokio::join!(adding(one.clone()), adding(two.clone()));
    let board = one.board(&here()).await.unwrap().unwrap();
    assert_eq!((board.tasks, board.n), (40, 41));
    assert_eq!(two.board(&here()).await.unwrap(), Some(board));
    let mut seen = 0;
    while seen < 41 {
        let page = tokio::time::timeout(Duration::from_secs(20), followed.next()).await.expect("it is announced");
        for record in page.unwrap().unwrap() {
            seen += 1;
            assert_eq!(record.n, seen);
        }
    }
}
