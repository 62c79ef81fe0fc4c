//! Questions to people: how they are listed, decided, and found.

use std::sync::Arc;

use agent::approval::{Approval, ApprovalKind, Decision, Question, Resolution, Scope};
use agent::{Event, InputId, Outside, ThreadId, Time};

use super::sample::{NOW, append, asked, commit, question, resolved, root, threads};
use crate::approvals::{ApprovalQuery, ApprovalRow, ApprovalStatus};
use crate::error::Error;
use crate::log::Commit;
use crate::open::Store;

const EVERY: ApprovalQuery = ApprovalQuery { open_only: false, limit: 100 };

/// Pending, decided once a decision is in the log, and what came of it once the owner has taken it up. F32
pub async fn a_question_is_kept_from_its_asking_to_its_end(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    assert_eq!(store.approvals(EVERY).await.unwrap(), []);
    append(&*store, &root(), 1, vec![asked(&root(), 1)]).await;
    let pending = ApprovalRow {
        question: question(&root(), 1),
        kind: ApprovalKind::Approval,
        thread: root(),
        root: root(),
        requested_at: NOW,
        status: ApprovalStatus::Pending,
        decided_at: None,
        reason: None,
        answer: None,
    };
    let stands = async || store.approval(&pending.question.id).await.unwrap().unwrap();
    assert_eq!(stands().await, pending);

    let later = NOW.plus_ms(7);
    decide(&*store, &root(), "a", 1, later).await;
    decide(&*store, &root(), "b", 1, NOW.plus_ms(8)).await;
    let decided = ApprovalRow { status: ApprovalStatus::Decided, decided_at: Some(later), ..pending.clone() };
    assert_eq!(stands().await, decided, "the first decision counts");
    assert_eq!(store.approvals(ApprovalQuery::default()).await.unwrap(), std::slice::from_ref(&decided));

    let allowed = Resolution::Allowed { scope: Scope::Once, digest: "d".into(), input: None };
    let taken_up = vec![resolved(&root(), 1, allowed), dropped("b")];
    store.append(Commit { at: NOW.plus_ms(9), ..commit(&root(), 4, taken_up) }).await.unwrap();
    assert_eq!(stands().await, ApprovalRow { status: ApprovalStatus::Approved, ..decided });
    assert_eq!(store.approvals(ApprovalQuery::default()).await.unwrap(), []);
    assert_eq!(store.approvals(EVERY).await.unwrap().len(), 1);
}

/// With the words of what ended it.
pub async fn every_end_of_a_question_has_its_word(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let words: Arc<str> = "because".into();
    let ends = [
        (Resolution::Denied { reason: Some(words.clone()) }, ApprovalStatus::Denied),
        (Resolution::Forbidden { rule: words.clone() }, ApprovalStatus::Forbidden),
        (Resolution::Expired { rule: words.clone() }, ApprovalStatus::Expired),
        (Resolution::Unanswered { rule: words.clone() }, ApprovalStatus::Unanswered),
        (Resolution::Withdrawn { reason: words.clone() }, ApprovalStatus::Withdrawn),
    ];
    let (mut number, mut head) = (0, 1);
    for (resolution, status) in ends {
        number += 1;
        let events = vec![asked(&root(), number), resolved(&root(), number, resolution.clone())];
        head = append(&*store, &root(), head, events).await.n;
        let row = store.approval(&question(&root(), number).id).await.unwrap().unwrap();
        assert_eq!((row.status, row.reason, row.decided_at), (status, Some(words.clone()), Some(NOW)));
        assert_eq!(row.status.as_str(), resolution.as_str());
    }
}

/// What an agent wants to know is kept with its choices, and then with the answer.
pub async fn an_answer_is_kept_with_its_question(store: Arc<dyn Store>) {
    threads(&*store, &[&root()]).await;
    let asks = Question { text: "Which one?".into(), choices: vec!["left".into(), "right".into()], midway: None };
    let question = Approval { question: Some(asks), ..question(&root(), 1) };
    append(&*store, &root(), 1, vec![Event::ApprovalRequested(Box::new(question.clone()))]).await;
    let stands = async || store.approval(&question.id).await.unwrap().unwrap();
    let open = stands().await;
    assert_eq!((open.kind, open.status, &open.question), (ApprovalKind::Question, ApprovalStatus::Pending, &question));
    append(&*store, &root(), 2, vec![resolved(&root(), 1, Resolution::Answered { text: "left".into() })]).await;
    let answered = stands().await;
    assert_eq!((answered.status, answered.answer.as_deref()), (ApprovalStatus::Answered, Some("left")));
    assert_eq!((answered.reason, answered.status.as_str()), (None, "answered"));
    assert_eq!(store.approvals(ApprovalQuery::default()).await.unwrap(), []);
}

/// The owner dropped it, or it was sent to a thread that never asked.
pub async fn a_decision_that_comes_to_nothing_leaves_the_question_pending(store: Arc<dyn Store>) {
    let other = ThreadId::new("20260115-zzzz");
    threads(&*store, &[&root(), &other]).await;
    append(&*store, &root(), 1, vec![asked(&root(), 1)]).await;
    decide(&*store, &root(), "a", 1, NOW).await;
    append(&*store, &root(), 3, vec![dropped("a")]).await;
    let stray = Outside::Decided { approval: question(&root(), 1).id, digest: "d".into(), decision: yes() };
    store.arrive(&other, InputId::new("a"), stray, NOW, false).await.unwrap();
    let row = store.approval(&question(&root(), 1).id).await.unwrap().unwrap();
    assert_eq!((row.status, row.decided_at), (ApprovalStatus::Pending, None));
}

/// Of whatever thread; the open ones alone, if they are asked for.
pub async fn questions_are_listed_newest_first(store: Arc<dyn Store>) {
    let child = root().child(1);
    threads(&*store, &[&root(), &child]).await;
    append(&*store, &root(), 1, vec![asked(&root(), 1)]).await;
    append(&*store, &child, 1, vec![asked(&child, 1)]).await;
    append(&*store, &root(), 2, vec![asked(&root(), 2)]).await;
    append(&*store, &child, 2, vec![resolved(&child, 1, Resolution::Denied { reason: None })]).await;
    let list = async |query| {
        let rows = store.approvals(query).await.unwrap();
        rows.into_iter().map(|row| row.question.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list(EVERY).await, ["20260115-k3f9/2", "20260115-k3f9.1/1", "20260115-k3f9/1"]);
    assert_eq!(list(ApprovalQuery::default()).await, ["20260115-k3f9/2", "20260115-k3f9/1"]);
    assert_eq!(list(ApprovalQuery { limit: 1, ..EVERY }).await, ["20260115-k3f9/2"]);
}

/// And never the newest, or the only one that is open: what was meant must be said. T22
pub async fn a_question_is_found_by_what_a_person_types(store: Arc<dyn Store>) {
    let (one, two) = (ThreadId::new("20260115-k3f9"), ThreadId::new("20260115-m4aa"));
    let child = one.child(1);
    threads(&*store, &[&one, &two, &child]).await;
    let denied = Resolution::Denied { reason: None };
    append(&*store, &one, 1, vec![asked(&one, 1), resolved(&one, 1, denied), asked(&one, 10)]).await;
    append(&*store, &child, 1, vec![asked(&child, 2)]).await;
    append(&*store, &two, 1, vec![asked(&two, 1)]).await;
    for (text, id) in [
        ("20260115-k3f9/1", "20260115-k3f9/1"),
        ("k3f9/1", "20260115-k3f9/1"),
        ("k3f9/10", "20260115-k3f9/10"),
        ("k3/10", "20260115-k3f9/10"),
        ("k3f9.1/2", "20260115-k3f9.1/2"),
        ("k3f9.1", "20260115-k3f9.1/2"),
        ("20260115-m", "20260115-m4aa/1"),
        ("m4aa", "20260115-m4aa/1"),
    ] {
        assert_eq!(store.find_approval(text).await.unwrap().question.id.as_str(), id, "{text}");
    }
    for text in ["k3f9", "2026"] {
        let ambiguous = store.find_approval(text).await;
        assert!(matches!(ambiguous, Err(Error::AmbiguousApproval { .. })), "{text}: {ambiguous:?}");
    }
    for text in ["", "/", "/1", "k3f9/", "k3f9/2", "zzzz", "zzzz/1", "k3f9.2/1"] {
        let unknown = store.find_approval(text).await;
        assert!(matches!(unknown, Err(Error::UnknownApproval(_))), "{text}: {unknown:?}");
    }
}

async fn decide(store: &dyn Store, thread: &ThreadId, input: &str, number: u32, at: Time) {
    let approval = question(thread, number).id;
    let decided = Outside::Decided { approval, digest: "d".into(), decision: yes() };
    store.arrive(thread, InputId::new(input), decided, at, false).await.unwrap();
}

fn yes() -> Decision {
    Decision::Allow { scope: Scope::Once, input: None }
}

fn dropped(input: &str) -> Event {
    Event::InputDropped { input: InputId::new(input), reason: "too late".into() }
}
