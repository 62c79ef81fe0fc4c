//! What is folded from the log: threads, executions, usage; how a thread is found, and how it goes.

use std::sync::Arc;

use agent::budget::Claim;
use agent::model::Tokens;
use agent::{CallId, Event, InputId, Mode, Outcome, Outside, State, ThreadId};

use super::sample::{
    NOW, TOKENS, answered, append, asked, child_reported, commit, created, process, reported, root, run_started, said,
    spawned, threads, turn_started, writer,
};
use crate::approvals::ApprovalQuery;
use crate::error::Error;
use crate::log::Commit;
use crate::open::Store;
use crate::process::{HEARTBEAT_EXPIRES_MS, ProcessId};
use crate::rows::{Status, ThreadQuery, ThreadRow};
use crate::search::SearchQuery;

/// After every commit.
pub async fn a_thread_is_listed_as_it_stands(store: Arc<dyn Store>) {
    writer(&*store).await;
    assert_eq!(store.thread(&root()).await.unwrap(), None);
    append(&*store, &root(), 0, vec![created(&root())]).await;
    let row = async |thread: &ThreadId| store.thread(thread).await.unwrap().unwrap();
    let new = row(&root()).await;
    assert_eq!((new.state, new.head, new.runs, &*new.goal), (State::Idle, 1, 0, ""));

    let later = Commit {
        at: NOW.plus_ms(5),
        ..commit(&root(), 1, vec![run_started(1, "tidy\nup"), turn_started(1), answered(1, &["read_file"])])
    };
    store.append(later).await.unwrap();
    append(&*store, &root(), 4, vec![Event::ToolStarted { call: CallId::new("1-0") }]).await;
    let running = row(&root()).await;
    let expected = ThreadRow {
        id: root(),
        root: root(),
        parent: None,
        name: "helper".into(),
        agent: "general".into(),
        model: "builtin/rules".into(),
        mode: Mode::Ask,
        preset: "default".into(),
        goal: "tidy up".into(),
        title: None,
        archived: false,
        unread: false,
        persistent: false,
        created_for: None,
        current_task: None,
        state: State::WaitingForTool,
        outcome: None,
        turns: 1,
        tool_calls: 1,
        tokens: TOKENS,
        cost_microusd: 5,
        last_tool: Some("read_file".into()),
        waiting_for: Some("read_file".into()),
        runs: 1,
        created_at: NOW,
        updated_at: NOW.plus_ms(5),
        ended_at: None,
        owner: new.owner,
        epoch: 1,
        head: 5,
    };
    assert_eq!(running, expected);

    let child = root().child(1);
    append(&*store, &child, 0, vec![created(&child)]).await;
    let begun = row(&child).await;
    assert_eq!((begun.state, &*begun.goal, begun.parent), (State::Initializing, "look there", Some(root())));
    append(&*store, &child, 1, vec![reported(Outcome::NoOutput)]).await;
    let done = row(&child).await;
    assert_eq!((done.state, done.outcome, done.ended_at), (State::Error, Some(Outcome::NoOutput), Some(NOW)));
    append(&*store, &root(), 5, vec![reported(Outcome::Completed)]).await;
    let idle = row(&root()).await;
    assert_eq!((idle.state, idle.outcome, idle.waiting_for), (State::Idle, Some(Outcome::Completed), None));
}

/// Filtered by what is asked for.
pub async fn threads_are_listed_newest_first_and_in_pages(store: Arc<dyn Store>) {
    let other = ThreadId::new("20260114-aaaa");
    let (child, grandchild) = (root().child(1), root().child(1).child(1));
    threads(&*store, &[&root(), &child, &other, &grandchild]).await;
    let list = async |query: ThreadQuery| {
        let rows = store.threads(query).await.unwrap();
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let everybody = ThreadQuery::default();
    assert_eq!(list(everybody.clone()).await, [grandchild.clone(), other.clone(), child.clone(), root()]);
    let first = ThreadQuery { limit: 2, ..everybody.clone() };
    assert_eq!(list(first).await, [grandchild.clone(), other.clone()]);
    let page = ThreadQuery { limit: 2, before: Some(grandchild.clone()), ..everybody.clone() };
    assert_eq!(list(page).await, [other.clone(), child.clone()]);
    assert_eq!(list(ThreadQuery { root_only: true, ..everybody.clone() }).await, [other.clone(), root()]);
    assert_eq!(list(ThreadQuery { live_only: true, ..everybody.clone() }).await, [grandchild.clone(), child.clone()]);
    let family = ThreadQuery { root: Some(root()), ..everybody.clone() };
    assert_eq!(list(family.clone()).await, [grandchild, child.clone(), root()]);
    assert_eq!(list(ThreadQuery { root_only: true, ..family }).await, [root()]);
    assert_eq!(list(ThreadQuery { root: Some(ThreadId::new("nobody")), ..everybody.clone() }).await, []);
    let lost = store.threads(ThreadQuery { before: Some(ThreadId::new("nobody")), ..everybody }).await;
    assert!(matches!(lost, Err(Error::UnknownThread(_))), "{lost:?}");
}

/// Whether the child's log or its parent's tells of the end first. ZILEO-21
pub async fn an_execution_goes_from_pending_to_its_end_once(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let (one, two) = (root().child(1), root().child(2));
    append(&*store, &root(), 1, vec![spawned(&one, "scout"), spawned(&two, "clerk")]).await;
    let executions = async || store.executions(&root()).await.unwrap();
    let pending = executions().await;
    let names: Vec<_> = pending.iter().map(|one| (&*one.sub_agent_name, one.status)).collect();
    assert_eq!(names, [("scout", Status::Pending), ("clerk", Status::Pending)]);
    assert_eq!((&pending[0].workflow_id, &pending[0].parent_agent_id), (&root(), &root()));
    assert_eq!((&pending[0].sub_agent_id, &*pending[0].task_description), (&one, "look there"));
    assert_eq!((pending[0].created_at, pending[0].completed_at), (NOW, None));

    append(&*store, &root(), 3, vec![Event::ChildStarted { child: one.clone(), again: false }]).await;
    assert_eq!(executions().await[0].status, Status::Running);
    append(&*store, &one, 0, vec![created(&one)]).await;
    append(&*store, &one, 1, vec![reported(Outcome::BudgetExceeded)]).await;
    let over = executions().await[0].clone();
    assert_eq!((over.status, over.outcome), (Status::Completed, Some(Outcome::BudgetExceeded)));
    assert_eq!(over.result_summary.as_deref(), Some("[budget exceeded] what was found"));
    assert_eq!((over.duration_ms, over.tokens_input, over.tokens_output), (Some(1_234), Some(111), Some(20)));
    assert_eq!(over.completed_at, Some(NOW));

    let told = Commit {
        at: NOW.plus_ms(9),
        ..commit(&root(), 4, vec![child_reported(&one, Outcome::Error), child_reported(&two, Outcome::Refused)])
    };
    store.append(told).await.unwrap();
    append(&*store, &root(), 6, vec![Event::ChildStarted { child: two.clone(), again: false }]).await;
    let both = executions().await;
    assert_eq!(both[0], over);
    assert_eq!((both[1].status, both[1].error_message.as_deref()), (Status::Cancelled, Some("it was refused")));
    assert_eq!(store.executions(&ThreadId::new("nobody")).await.unwrap(), []);
}

/// Lost calls included; and a number that no provider can mean does not stop the log.
pub async fn usage_is_summed_by_thread_and_model(store: Arc<dyn Store>) {
    let other = ThreadId::new("20260115-zzzz");
    threads(&*store, &[&root(), &root().child(1), &other]).await;
    let lost =
        Event::CallRepeated { turn: 2, booked: Claim { tokens: 70, cost_microusd: 3, requests: 1, answer_tokens: 20 } };
    append(&*store, &root(), 1, vec![answered(1, &[]), lost, answered(2, &[])]).await;
    append(&*store, &root().child(1), 1, vec![answered(1, &[])]).await;
    append(&*store, &other, 1, vec![answered(1, &[])]).await;
    let family = store.usage(Some(&root())).await.unwrap();
    let threads: Vec<_> = family.iter().map(|row| &row.thread).collect();
    assert_eq!(threads, [&root(), &root().child(1)]);
    assert_eq!((&*family[0].model, family[0].calls, family[0].tokens), ("builtin/rules", 2, TOKENS.plus(&TOKENS)));
    assert_eq!((family[0].booked_tokens, family[0].cost_microusd), (70, 13));
    assert_eq!(store.thread(&root()).await.unwrap().unwrap().cost_microusd, 13);
    assert_eq!(store.usage(None).await.unwrap().len(), 3);

    for n in 2..4 {
        let Event::Answered(mut absurd) = answered(2, &[]) else { unreachable!("a sample of an answer") };
        absurd.tokens = Tokens { input: u64::MAX, ..TOKENS };
        append(&*store, &other, n, vec![Event::Answered(absurd)]).await;
    }
    let absurd = store.usage(Some(&other)).await.unwrap();
    assert_eq!(absurd[0].calls, 3);
    assert!(absurd[0].tokens.input >= i64::MAX as u64);
}

/// A name, the end of one, or the beginning of either.
pub async fn a_thread_is_found_by_what_a_person_types(store: Arc<dyn Store>) {
    let (one, two) = (ThreadId::new("20260115-k3f9"), ThreadId::new("20260115-k3x7"));
    let child = one.child(1);
    threads(&*store, &[&one, &two, &child]).await;
    for (text, thread) in [
        ("20260115-k3f9", &one),
        ("20260115-k3x", &two),
        ("k3f9", &one),
        ("k3x", &two),
        ("20260115-k3f9.1", &child),
        ("k3f9.1", &child),
        ("k3f.1", &child),
    ] {
        assert_eq!(store.resolve(text).await.unwrap(), *thread, "{text}");
    }
    for text in ["2026", "k3", "k3.1"] {
        let ambiguous = store.resolve(text).await;
        let expected = vec![one.clone(), two.clone()];
        assert!(matches!(ambiguous, Err(Error::Ambiguous { ref candidates, .. }) if *candidates == expected), "{text}");
    }
    for text in ["", "k4", "k3f9.2", "k3f9.", "%", "k3f9.1.1"] {
        let unknown = store.resolve(text).await;
        assert!(matches!(unknown, Err(Error::UnknownThread(_))), "{text}: {unknown:?}");
    }
}

/// And is not removed while a process works in it.
pub async fn a_removed_family_leaves_nothing_behind(store: Arc<dyn Store>) {
    let other = ThreadId::new("20260115-zzzz");
    let child = root().child(1);
    threads(&*store, &[&root(), &other, &child]).await;
    append(&*store, &root(), 1, vec![run_started(1, "go"), answered(1, &[]), spawned(&child, "scout")]).await;
    store.arrive(&child, InputId::new("a"), said("hello"), NOW, true).await.unwrap();
    let last = append(&*store, &root(), 4, vec![turn_started(2), asked(&root(), 1)]).await;
    let refused = store.remove(&root(), NOW).await;
    assert!(matches!(refused, Err(Error::Owned { .. })), "{refused:?}");
    let not_a_root = store.remove(&child, NOW).await;
    assert!(matches!(not_a_root, Err(Error::Invalid(_))), "{not_a_root:?}");

    let late = NOW.plus_ms(HEARTBEAT_EXPIRES_MS);
    let more = store.remove_if(&root(), Some(1), late).await;
    assert!(matches!(more, Err(Error::Conflict { expected: 1, .. })), "what arrived since is not lost: {more:?}");
    let seq = store.tree(&root(), 0, usize::MAX >> 1).await.unwrap().len() as u64;
    store.remove_if(&root(), Some(seq), late).await.unwrap();
    for thread in [&root(), &child] {
        assert_eq!(store.thread(thread).await.unwrap(), None);
        assert!(matches!(store.read(thread, 0, 10).await, Err(Error::UnknownThread(_))));
    }
    assert!(matches!(store.tree(&root(), 0, 10).await, Err(Error::UnknownThread(_))));
    assert_eq!(store.executions(&root()).await.unwrap(), []);
    assert_eq!(store.usage(None).await.unwrap(), []);
    assert_eq!(store.approvals(ApprovalQuery::default()).await.unwrap(), []);
    assert_eq!(store.claim(&ProcessId::new("writer"), late, 10).await.unwrap(), []);
    let left: Vec<_> = store.all(0, 10).await.unwrap().into_iter().map(|record| record.thread).collect();
    assert_eq!(left, [other]);
    assert!(matches!(store.remove(&root(), late).await, Err(Error::UnknownThread(_))));

    store.register(process("writer"), late).await.unwrap();
    let anew = append(&*store, &root(), 0, vec![created(&root())]).await;
    assert_eq!((anew.n, anew.seq), (1, 1));
    assert!(anew.position > last.position, "a position is never used twice");
    assert_eq!(store.arrive(&root(), InputId::new("a"), said("hello"), late, false).await.unwrap().n, 2);
}

/// What people say of a thread holds from then on, whichever process owns it, and an answer that no person waited for is unread until one has read it.
pub async fn what_people_say_of_a_thread_is_listed(store: Arc<dyn Store>) {
    let marked = |title: Option<&str>, archived, read| Outside::Marked { title: title.map(Into::into), archived, read };
    let arrive = async |id: &str, input: Outside| {
        store.arrive(&root(), InputId::new(id), input, NOW, false).await.unwrap();
    };
    let row = async || store.thread(&root()).await.unwrap().unwrap();
    let process = writer(&*store).await;
    append(&*store, &root(), 0, vec![created(&root())]).await;
    arrive("1", marked(Some("  The\ndoors  "), None, false)).await;
    arrive("2", marked(None, Some(true), false)).await;
    let listed = row().await;
    assert_eq!((listed.title.as_deref(), listed.archived, listed.unread), (Some("The doors"), true, false));
    let query = |archived| ThreadQuery { archived: Some(archived), ..ThreadQuery::default() };
    assert_eq!(store.threads(query(true)).await.unwrap().len(), 1);
    assert!(store.threads(query(false)).await.unwrap().is_empty());
    arrive("3", marked(Some(" "), Some(false), false)).await;
    assert_eq!((row().await.title, row().await.archived), (None, false));

    let unwatched = Outside::UserSaid {
        foreign: false,
        text: "go".into(),
        output_schema: None,
        attachments: Vec::new(),
        grant: None,
        unwatched: true,
    };
    arrive("4", unwatched).await;
    append(&*store, &root(), 5, vec![run_started(1, "go"), reported(Outcome::Completed)]).await;
    assert!(row().await.unread, "no person waited for it");
    arrive("5", marked(None, None, true)).await;
    assert!(!row().await.unread);
    arrive("6", said("and now?")).await;
    let epoch = store.adopt(&root(), &process, NOW).await.unwrap();
    let again = Commit { epoch, ..commit(&root(), 9, vec![run_started(2, "and now?"), reported(Outcome::Completed)]) };
    store.append(again).await.unwrap();
    assert!(!row().await.unread, "a person waited for it");
}

/// Words are found in what was said, asked and called so, each thread once; what was deleted is not found.
pub async fn words_are_found_in_what_was_said(store: Arc<dyn Store>) {
    let found = async |text: &str| {
        let found = store.search(SearchQuery { text: text.into(), limit: 10 }).await.unwrap();
        found.into_iter().map(|found| (found.thread, found.excerpt)).collect::<Vec<_>>()
    };
    writer(&*store).await;
    assert!(found("kitchen").await.is_empty());
    append(&*store, &root(), 0, vec![created(&root()), run_started(1, "Where is the Kitchen key?"), turn_started(1)])
        .await;
    let child = root().child(1);
    append(&*store, &child, 0, vec![created(&child)]).await;
    let kitchen = found("kitchen KEY").await;
    assert_eq!(kitchen.len(), 1);
    assert_eq!((&kitchen[0].0, kitchen[0].1.contains("Kitchen key")), (&root(), true));
    assert_eq!(found("where kit").await.len(), 1, "the last word may be a beginning");
    assert!(found("kit where").await.is_empty());
    assert_eq!(found("there").await[0].0, child, "its brief");
    assert!(found("\"; DROP TABLE").await.is_empty());
    assert!(found(" ").await.is_empty());
    let title = Outside::Marked { title: Some("Silberbesteck für Gäste".into()), archived: None, read: false };
    store.arrive(&root(), InputId::new("t"), title, NOW, false).await.unwrap();
    assert_eq!(found("gäste").await.len(), 1);
    let other = ThreadId::new("20260115-bbbb");
    append(&*store, &other, 0, vec![created(&other), run_started(1, "the kitchen"), reported(Outcome::Completed)])
        .await;
    assert_eq!(found("kitchen").await.len(), 2);
    store.remove(&other, NOW).await.unwrap();
    assert_eq!(found("kitchen").await.len(), 1);
}
