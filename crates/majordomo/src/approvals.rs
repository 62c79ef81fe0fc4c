//! Approvals that the embedding program decides: its handler is called for each question of a run that this staff drives, from any
//! depth and several at a time.
//!
//! Questions come from the log, and a decision goes there by [`decide`], as one of a person at any interface does. So a question that is decided elsewhere first is
//! taken back: the handler's future is dropped. Left to others: what asks (`agent`), and consent for ever (`decide`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::approval::{Approval, ApprovalId, ApprovalKind, Decision};
use agent::{Event, ThreadId};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use runtime::Runtime;
use store::{ApprovalQuery, Record, Selection, Store, follow};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::{AbortHandle, JoinSet};

use crate::decide::decide;

/// After a failure that passes.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Decides on a question.
#[derive(Clone)]
pub(crate) struct Approver(Arc<dyn Fn(Approval) -> BoxFuture<'static, Decision> + Send + Sync>);

impl Approver {
    pub(crate) fn new<F, A>(decide: F) -> Self
    where
        F: Fn(Approval) -> A + Send + Sync + 'static,
        A: Future<Output = Decision> + Send + 'static,
    {
        Self(Arc::new(move |question| decide(question).boxed()))
    }

    /// Its decision. One that panics has refused: an agent that waits for it would wait for a day.
    async fn decide(&self, question: Approval) -> Decision {
        let (id, kind) = (question.id.clone(), question.kind());
        let decided = AssertUnwindSafe(async { (self.0)(question).await }).catch_unwind().await;
        let decided = decided.unwrap_or_else(|_| {
            tracing::error!(%id, "the program's approval handler panicked");
            Decision::deny("the program's approval handler failed")
        });
        // A word of the other kind would leave the question open for a day.
        match (kind, decided) {
            (ApprovalKind::Question, Decision::Allow { .. }) => {
                Decision::deny("the program decides on calls and answers no questions")
            }
            (ApprovalKind::Approval, Decision::Answer { .. }) => {
                Decision::deny("the program's approval handler answered where it had to allow or deny")
            }
            (_, decided) => decided,
        }
    }
}

/// Who decides what, in one staff.
pub(crate) struct Approvals {
    /// For every run.
    of_staff: Option<Approver>,
    /// For the runs of one conversation, with how many of them are not over.
    of_roots: Mutex<HashMap<ThreadId, (Approver, usize)>>,
    task: Mutex<Option<Task>>,
}

/// The task that follows the log and calls the handlers.
struct Task {
    questions: UnboundedSender<Approval>,
    running: AbortHandle,
}

impl Approvals {
    pub(crate) fn new(of_staff: Option<Approver>) -> Arc<Self> {
        Arc::new(Self { of_staff, of_roots: Mutex::default(), task: Mutex::default() })
    }

    /// Whether the program decides about a conversation, as one of its runs asked for.
    pub(crate) fn are_asked(&self, root: &ThreadId) -> bool {
        lock(&self.of_roots).contains_key(root)
    }

    /// A run of a root begins, or goes on. Called before it can ask anything.
    pub(crate) fn begin(self: &Arc<Self>, runtime: &Runtime, root: &ThreadId, own: Option<Approver>) {
        if own.is_some() || self.of_staff.is_some() {
            let mut task = lock(&self.task);
            task.get_or_insert_with(|| Task::start(self.clone(), runtime.clone()));
        }
        match (lock(&self.of_roots).entry(root.clone()), own) {
            (Entry::Occupied(mut place), own) => {
                let (approver, runs) = place.get_mut();
                *runs += 1;
                *approver = own.unwrap_or_else(|| approver.clone());
            }
            (Entry::Vacant(place), Some(own)) => _ = place.insert((own, 1)),
            (Entry::Vacant(_), None) => {}
        }
    }

    /// A run of a root is over, or did not begin.
    pub(crate) fn end(&self, root: &ThreadId) {
        if let Entry::Occupied(mut place) = lock(&self.of_roots).entry(root.clone()) {
            place.get_mut().1 -= 1;
            if place.get().1 == 0 {
                place.remove();
            }
        }
    }

    /// Hands on what a root asked before it was left.
    pub(crate) async fn ask_again(&self, store: &Arc<dyn Store>, root: &ThreadId) -> Result<(), store::Error> {
        let questions = lock(&self.task).as_ref().map(|task| task.questions.clone());
        let Some(questions) = questions else { return Ok(()) };
        let open = store.approvals(ApprovalQuery { limit: usize::MAX, ..ApprovalQuery::default() }).await?;
        for row in open.into_iter().filter(|row| row.root == *root) {
            // The task has ended with the staff.
            let _ = questions.send(row.question);
        }
        Ok(())
    }

    /// Calls no handler any more, and drops the futures of those that were called.
    pub(crate) fn close(&self) {
        if let Some(task) = lock(&self.task).take() {
            task.running.abort();
        }
    }

    fn approver(&self, root: &ThreadId) -> Option<Approver> {
        let own = lock(&self.of_roots).get(root).map(|(approver, _)| approver.clone());
        own.or_else(|| self.of_staff.clone())
    }
}

impl Task {
    fn start(approvals: Arc<Approvals>, runtime: Runtime) -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        // What is written before this moment was asked in other processes, or is handed on by `ask_again`.
        let after = *runtime.store().tail().borrow();
        let desk = Desk { approvals, runtime, open: HashMap::new(), handlers: JoinSet::new() };
        Self { questions, running: tokio::spawn(desk.work(after, asked)).abort_handle() }
    }
}

/// The questions that handlers are deciding.
struct Desk {
    approvals: Arc<Approvals>,
    runtime: Runtime,
    open: HashMap<ApprovalId, AbortHandle>,
    handlers: JoinSet<ApprovalId>,
}

impl Desk {
    async fn work(mut self, after: u64, mut asked: UnboundedReceiver<Approval>) {
        let mut log = follow(self.runtime.store(), Selection::everything().after(after));
        loop {
            tokio::select! {
                page = log.next() => match page {
                    Some(Ok(page)) => page.into_iter().for_each(|record| self.take(&record)),
                    Some(Err(error)) if error.is_passing() => {
                        tracing::warn!(%error, "questions cannot be looked for");
                        tokio::time::sleep(LOOK_AGAIN).await;
                    }
                    // The store is closed or gone; the run fails by that, too.
                    Some(Err(_)) | None => return,
                },
                Some(question) = asked.recv() => self.ask(question),
                Some(ended) = self.handlers.join_next() => {
                    if let Ok(id) = ended {
                        self.open.remove(&id);
                    }
                }
            }
        }
    }

    fn take(&mut self, record: &Record) {
        match &*record.event {
            Event::ApprovalRequested(question) if self.runtime.drives(&record.thread) => self.ask((**question).clone()),
            Event::ApprovalResolved { approval, .. } => {
                if let Some(handler) = self.open.remove(approval) {
                    handler.abort();
                }
            }
            Event::Reported(_) if record.thread.is_root() => self.approvals.end(&record.thread),
            _ => {}
        }
    }

    fn ask(&mut self, question: Approval) {
        let Some(approver) = self.approvals.approver(&question.id.thread().root()) else { return };
        let id = question.id.clone();
        if self.open.contains_key(&id) {
            return;
        }
        let runtime = self.runtime.clone();
        let handler = self.handlers.spawn(async move {
            let id = question.id.clone();
            let decision = approver.decide(question.clone()).await;
            if let Err(error) = decide(&runtime, &question, decision).await {
                tracing::warn!(%id, %error, "a decision could not be written");
            }
            id
        });
        self.open.insert(id, handler);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
