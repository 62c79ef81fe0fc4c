//! Approvals that the embedding program decides: its handler is called for each question of a run that this staff drives, from any
//! depth and several at a time.
//!
//! A handler of one run is kept under the message that the run begins with, and is found from the thread that asks: its run answers a
//! message, or is part of its parent's. That is read from the log as it was when the question was asked, so a handler decides nothing
//! of the run before it or after it, however many messages wait in a conversation.
//!
//! Questions come from the log, and a decision goes there by [`decide`], as one of a person at any interface does. So a question that is decided elsewhere first is
//! taken back: the handler's future is dropped. Left to others: what asks (`agent`), and consent for ever (`decide`).

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::approval::{Approval, ApprovalId, ApprovalKind, Decision};
use agent::{Consent, Event, InputId, ThreadId};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt};
use runtime::Runtime;
use store::{ApprovalQuery, Record, Selection, Store, follow, replay_until};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::{AbortHandle, JoinSet};

use crate::decide::{decide, input_of};

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

    /// Refuses what no handler decides and no person would ever see.
    fn none() -> Self {
        Self::new(|_| async { Decision::deny("no handler decides about the approvals of this run") })
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
    /// For every run that has no handler of its own.
    of_staff: Option<Approver>,
    /// Whether a person can be asked where there is no handler.
    consent: Consent,
    /// For single runs, by root.
    of_runs: Mutex<HashMap<ThreadId, HashMap<RunName, Approver>>>,
    task: Mutex<Option<Task>>,
}

/// A run by its thread and the message that it begins with. The handler of one is kept from before the message is written until the
/// report on it, or its end without a run, was read in the log.
type RunName = (ThreadId, InputId);

/// The task that follows the log and calls the handlers.
struct Task {
    questions: UnboundedSender<Approval>,
    running: AbortHandle,
}

impl Approvals {
    /// `consent` is what holds in general.
    pub(crate) fn new(of_staff: Option<Approver>, consent: Consent) -> Arc<Self> {
        Arc::new(Self { of_staff, consent, of_runs: Mutex::default(), task: Mutex::default() })
    }

    /// Whether the program may decide about the run of a thread that began with this message, or with a brief where there is none.
    ///
    /// Only the log says for which run a sub-agent works: where an agent above it has a handler for any run, what the sub-agent needs is
    /// asked, and refused by [`Desk`] where the run turns out to be another.
    pub(crate) fn are_asked(&self, thread: &ThreadId, message: Option<&InputId>) -> bool {
        let of_runs = lock(&self.of_runs);
        let Some(handlers) = of_runs.get(&thread.root()) else { return false };
        let is_above =
            |other: &ThreadId| std::iter::successors(thread.parent(), ThreadId::parent).any(|it| it == *other);
        handlers.keys().any(|(other, began)| (other == thread && Some(began) == message) || is_above(other))
    }

    /// A run goes on that has no handler of its own. Called before it can ask anything.
    pub(crate) fn listen(self: &Arc<Self>, runtime: &Runtime) {
        if self.of_staff.is_some() {
            self.start(runtime);
        }
    }

    /// A message is to be written into the log of a thread. Called before that, so that its run can ask nothing earlier.
    pub(crate) fn begin(
        self: &Arc<Self>,
        runtime: &Runtime,
        thread: &ThreadId,
        message: &InputId,
        own: Option<Approver>,
    ) {
        self.listen(runtime);
        if let Some(own) = own {
            self.start(runtime);
            let name = (thread.clone(), message.clone());
            lock(&self.of_runs).entry(thread.root()).or_default().insert(name, own);
        }
    }

    /// The run of a message is over, or did not begin.
    pub(crate) fn end(&self, thread: &ThreadId, message: &InputId) {
        let mut of_runs = lock(&self.of_runs);
        let root = thread.root();
        if let Some(handlers) = of_runs.get_mut(&root) {
            handlers.remove(&(thread.clone(), message.clone()));
            if handlers.is_empty() {
                of_runs.remove(&root);
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

    fn start(self: &Arc<Self>, runtime: &Runtime) {
        lock(&self.task).get_or_insert_with(|| Task::start(self.clone(), runtime.clone()));
    }

    /// Whether runs of a root have handlers of their own.
    fn has_own(&self, root: &ThreadId) -> bool {
        lock(&self.of_runs).contains_key(root)
    }

    fn own(&self, thread: ThreadId, message: InputId) -> Option<Approver> {
        lock(&self.of_runs).get(&thread.root())?.get(&(thread, message)).cloned()
    }
}

impl Task {
    fn start(approvals: Arc<Approvals>, runtime: Runtime) -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        // What is written before this moment was asked in other processes, or is handed on by `ask_again`.
        let after = *runtime.store().tail().borrow();
        let desk = Desk { approvals, runtime, open: HashMap::new(), handlers: JoinSet::new(), causes: HashMap::new() };
        Self { questions, running: tokio::spawn(desk.work(after, asked)).abort_handle() }
    }
}

/// The questions that handlers are deciding.
struct Desk {
    approvals: Arc<Approvals>,
    runtime: Runtime,
    open: HashMap<ApprovalId, AbortHandle>,
    handlers: JoinSet<ApprovalId>,
    /// What the runs answer that go on, as far as the log was followed: by root, only where a run has a handler of its own. What is not
    /// here is read.
    causes: HashMap<ThreadId, HashMap<ThreadId, Cause>>,
}

/// What a run answers.
#[derive(Clone, Debug, PartialEq)]
enum Cause {
    /// A message of a person, or what the program let the thread know.
    Message(InputId),
    /// The brief or a question of its parent, of whose run it is a part.
    Parent,
    /// A task of a board.
    Task,
}

impl Cause {
    /// Of the run that begins with an event, or with a brief that is in it.
    fn of(event: &Event) -> Option<Self> {
        match event {
            Event::ThreadCreated(created) if created.created_for.is_some() => Some(Cause::Task),
            Event::ThreadCreated(created) if !created.id.is_root() => Some(Cause::Parent),
            Event::RunStarted { from: Some(_), told: Some(_), .. } => Some(Cause::Parent),
            Event::RunStarted { input, .. } => Some(Cause::Message(input.clone())),
            _ => None,
        }
    }
}

impl Desk {
    async fn work(mut self, after: u64, mut asked: UnboundedReceiver<Approval>) {
        let mut log = follow(self.runtime.store(), Selection::everything().after(after));
        loop {
            tokio::select! {
                page = log.next() => match page {
                    Some(Ok(page)) => {
                        for record in page {
                            self.take(&record).await;
                        }
                    }
                    Some(Err(error)) if error.is_passing() => {
                        tracing::warn!(%error, "questions cannot be looked for");
                        tokio::time::sleep(LOOK_AGAIN).await;
                    }
                    // The store is closed or gone; the run fails by that, too.
                    Some(Err(_)) | None => return,
                },
                Some(question) = asked.recv() => self.ask(question, None).await,
                Some(ended) = self.handlers.join_next() => {
                    if let Ok(id) = ended {
                        self.open.remove(&id);
                    }
                }
            }
        }
    }

    async fn take(&mut self, record: &Record) {
        match &*record.event {
            Event::ApprovalRequested(question) if self.runtime.drives(&record.thread) => {
                self.ask((**question).clone(), Some(record.seq)).await;
            }
            Event::ApprovalResolved { approval, .. } => {
                if let Some(handler) = self.open.remove(approval) {
                    handler.abort();
                }
            }
            Event::Reported(_) => {
                let cause = self.causes_of(&record.thread).and_then(|causes| causes.remove(&record.thread));
                if let Some(Cause::Message(message)) = cause {
                    self.approvals.end(&record.thread, &message);
                }
            }
            Event::InputDropped { input, .. } => self.approvals.end(&record.thread, input),
            event => {
                if let Some(cause) = Cause::of(event)
                    && let Some(causes) = self.causes_of(&record.thread)
                {
                    causes.insert(record.thread.clone(), cause);
                }
            }
        }
    }

    /// What is known of the causes in a tree in which a run has a handler of its own. Of other trees nothing is kept: what was known of
    /// them once may be out of date.
    fn causes_of(&mut self, thread: &ThreadId) -> Option<&mut HashMap<ThreadId, Cause>> {
        let root = thread.root();
        if self.approvals.has_own(&root) {
            return Some(self.causes.entry(root).or_default());
        }
        self.causes.remove(&root);
        None
    }

    /// Calls the handler for a question: one of the log at this place, or one that is open now.
    async fn ask(&mut self, question: Approval, seq: Option<u64>) {
        let id = question.id.clone();
        if self.open.contains_key(&id) {
            return;
        }
        let own = loop {
            match self.own(id.thread(), seq).await {
                Ok(own) => break own,
                Err(error) if error.is_passing() => tokio::time::sleep(LOOK_AGAIN).await,
                Err(error) => {
                    tracing::warn!(%id, %error, "it cannot be read for which run this is asked");
                    return;
                }
            }
        };
        let approver = match (own.or_else(|| self.approvals.of_staff.clone()), self.approvals.consent) {
            (Some(approver), _) => approver,
            (None, Consent::Nobody) => Approver::none(),
            // A person decides, at any interface.
            (None, Consent::Asked) => return,
        };
        let runtime = self.runtime.clone();
        let handler = self.handlers.spawn(async move {
            let id = question.id.clone();
            let decision = approver.decide(question.clone()).await;
            if let Err(error) = decide(&runtime, input_of(&question), &question, decision).await {
                tracing::warn!(%id, %error, "a decision could not be written");
            }
            id
        });
        self.open.insert(id, handler);
    }

    /// The handler of the run for which a thread works: as the log was at this place, or as it is now.
    async fn own(&mut self, mut thread: ThreadId, seq: Option<u64>) -> Result<Option<Approver>, store::Error> {
        while let Some(causes) = self.causes_of(&thread) {
            let known = seq.and_then(|_| causes.get(&thread).cloned());
            let cause = match known {
                Some(cause) => Some(cause),
                None => cause_in_log(&**self.runtime.store(), &thread, seq).await?,
            };
            if let (Some(_), Some(cause), Some(causes)) = (seq, &cause, self.causes_of(&thread)) {
                causes.insert(thread.clone(), cause.clone());
            }
            match (cause, thread.parent()) {
                (Some(Cause::Message(message)), _) => return Ok(self.approvals.own(thread, message)),
                (Some(Cause::Parent), Some(parent)) => thread = parent,
                (Some(Cause::Task | Cause::Parent) | None, _) => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// What the newest run of a thread answers that had begun at a place in the log of its tree, or has begun by now.
async fn cause_in_log(store: &dyn Store, thread: &ThreadId, seq: Option<u64>) -> Result<Option<Cause>, store::Error> {
    let mut newest = None;
    let to_there = replay_until(store, Selection::thread(thread), |record| {
        if seq.is_some_and(|seq| record.seq > seq) {
            return ControlFlow::Break(());
        }
        newest = Cause::of(&record.event).or(newest.take());
        ControlFlow::Continue(())
    });
    to_there.await?;
    Ok(newest)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
