//! A session: one conversation, and everything that an interface can do with it.
//!
//! A session is on one root thread, wherever that is driven: in this process, in another one, or nowhere at the moment. What is sent
//! goes into the log of the thread that it is for; what happens is read from there. So two sessions on the same root, in two
//! processes, see the same. A [`Run`] is followed from a message to the report on it.

use std::collections::VecDeque;
use std::sync::Arc;

use agent::approval::{Approval, Decision};
use agent::{Event, InputId, Outside, Report, Strength, ThreadId};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use runtime::{RunHandle, Runtime};
use store::{Record, Selection, Store, ThreadQuery, read_all};

use crate::decide::{self, DecisionOutcome};
use crate::follow::{Update, Updates, root_report};
use crate::staff::{Error, Staff};
use crate::threads::is_left;

/// One conversation: a root thread and all its descendants. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    staff: Staff,
    root: ThreadId,
}

impl Session {
    pub(crate) fn new(staff: Staff, root: ThreadId) -> Self {
        Self { staff, root }
    }

    /// The root thread.
    pub fn root(&self) -> &ThreadId {
        &self.root
    }

    /// Sends the next message of the conversation, and starts to drive it here where no process does. It is taken up at once, or when
    /// the run that goes on is over. Nothing is written where its model cannot be asked from here.
    pub async fn send(&self, text: &str) -> Result<Run, Error> {
        let unknown = || runtime::Error::from(store::Error::UnknownThread(self.root.as_str().into()));
        let row = self.store().thread(&self.root).await?.ok_or_else(unknown)?;
        // A process that drives it has asked its model already.
        if !row.state.is_live() {
            self.staff.check_model(&row.model)?;
        } else if is_left(&row, &self.store().living(self.runtime().clock().now()).await?) {
            self.check_models().await?;
        }
        let updates = self.follow(0);
        let message = self.runtime().say(&self.root, text.into()).await?;
        Ok(Run::new(updates, self.store().clone(), Begins::With(message), None))
    }

    /// Goes on with a run that its process left before the end. It stays as it is where a model cannot be asked from here, for a run
    /// that goes on without its model ends.
    pub async fn resume(&self) -> Result<Run, Error> {
        self.check_models().await?;
        let updates = self.follow(0);
        let before = self.newest().await?;
        let handle = self.runtime().resume(&self.root).await?;
        Ok(Run::new(updates, self.store().clone(), Begins::After(before), Some(handle)))
    }

    /// The run that goes on after an event, or the next one, followed without starting anything.
    pub fn run_after(&self, seq: u64) -> Run {
        Run::after(self.runtime(), &self.root, seq)
    }

    /// Tells something to a thread of this conversation while it works.
    pub async fn steer(&self, thread: &ThreadId, text: &str) -> Result<(), Error> {
        Ok(self.runtime().send(thread, Outside::person_steers(text)).await?)
    }

    /// Stops a thread of this conversation and all its descendants, and waits until that is true.
    pub async fn stop(&self, thread: &ThreadId, strength: Strength, reason: &str) -> Result<(), Error> {
        Ok(self.runtime().stop(thread, strength, reason).await?)
    }

    /// Writes a person's decision on a question as it was shown, and waits for what comes of it.
    pub async fn decide(&self, question: &Approval, decision: Decision) -> Result<DecisionOutcome, Error> {
        Ok(decide::decide(self.runtime(), question, decision).await?)
    }

    /// What is new after an event: everything from the beginning where that is 0.
    pub fn follow(&self, after: u64) -> Updates {
        Updates::new(self.runtime(), self.root.clone()).after(after)
    }

    /// Everything that is in the log by now.
    pub async fn history(&self) -> Result<Vec<Record>, Error> {
        Ok(read_all(&**self.store(), Selection::tree(&self.root)).await?)
    }

    /// The number of the newest event.
    pub async fn newest(&self) -> Result<u64, Error> {
        Ok(newest(&**self.store(), &self.root).await?)
    }

    /// Whether every model with which a thread of this conversation works can be asked from here.
    async fn check_models(&self) -> Result<(), Error> {
        let live =
            ThreadQuery { live_only: true, root: Some(self.root.clone()), limit: usize::MAX, ..ThreadQuery::default() };
        for row in self.store().threads(live).await? {
            self.staff.check_model(&row.model)?;
        }
        Ok(())
    }

    fn runtime(&self) -> &Runtime {
        self.staff.runtime()
    }

    fn store(&self) -> &Arc<dyn Store> {
        self.runtime().store()
    }
}

/// One run of a session, from a message to the report on it. Letting go of it stops nothing.
pub struct Run {
    root: ThreadId,
    store: Arc<dyn Store>,
    updates: Updates,
    begins: Begins,
    /// The newest event that was read.
    seen: u64,
    /// What was read and not yet given out.
    ready: VecDeque<Update>,
    /// How the run ended.
    end: Option<End>,
    /// The driver of the run, where it was begun in this process; none once it has ended.
    driver: Option<BoxFuture<'static, Result<Report, runtime::Error>>>,
    /// Why the driver ended without a report.
    failure: Option<runtime::Error>,
    /// The newest event that such a driver can have written: the failure is told after it.
    fails_after: Option<u64>,
}

/// Where a run begins in the log.
enum Begins {
    /// After the event of this number.
    After(u64),
    /// With this message.
    With(InputId),
}

/// How a run ended.
enum End {
    Reported(Box<Report>),
    /// The message came to nothing.
    Dropped(Arc<str>),
}

impl Run {
    pub(crate) fn started(runtime: &Runtime, updates: Updates, handle: RunHandle) -> Self {
        Self::new(updates, runtime.store().clone(), Begins::After(0), Some(handle))
    }

    /// The run of a root that goes on after an event, or the next one.
    pub fn after(runtime: &Runtime, root: &ThreadId, seq: u64) -> Self {
        let updates = Updates::new(runtime, root.clone());
        Self::new(updates, runtime.store().clone(), Begins::After(seq), None)
    }

    fn new(updates: Updates, store: Arc<dyn Store>, begins: Begins, handle: Option<RunHandle>) -> Self {
        let driver = handle.map(|handle| handle.report().boxed());
        let root = updates.root().clone();
        let (ready, end, failure, fails_after) = (VecDeque::new(), None, None, None);
        Self { root, store, updates, begins, seen: 0, ready, end, driver, failure, fails_after }
    }

    /// The root thread.
    pub fn root(&self) -> &ThreadId {
        &self.root
    }

    /// The same without streamed text.
    pub fn without_text(self) -> Self {
        Self { updates: self.updates.without_text(), ..self }
    }

    /// The message that begins the run, while it has not begun.
    pub fn awaited(&self) -> Option<&InputId> {
        match &self.begins {
            Begins::With(message) => Some(message),
            Begins::After(_) => None,
        }
    }

    /// Waits for the next update: first what was in the log before the run, then the run to the report on it. None after that. An
    /// answer that is given up loses nothing.
    pub async fn next(&mut self) -> Result<Option<Update>, Error> {
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Ok(Some(update));
            }
            if self.end.is_some() {
                return Ok(None);
            }
            if self.failure.is_some() && self.fails_after.is_none() {
                self.fails_after = Some(newest(&*self.store, &self.root).await?);
            }
            if let Some(error) = self.failure.take_if(|_| self.fails_after <= Some(self.seen)) {
                return Err(error.into());
            }
            tokio::select! {
                update = self.updates.next() => match update? {
                    Some(Update::Events(records)) => self.take(records),
                    Some(piece) if self.awaited().is_none() => return Ok(Some(piece)),
                    Some(_) => {}
                    None => return Err(runtime::Error::Left.into()),
                },
                ended = ended(&mut self.driver) => self.failure = ended.err(),
            }
        }
    }

    /// Waits for the report.
    pub async fn report(mut self) -> Result<Report, Error> {
        if let Some(driver) = self.driver.take() {
            return Ok(driver.await?);
        }
        while self.next().await?.is_some() {}
        self.into_report()
    }

    /// The report of a run that was followed to its end.
    pub fn into_report(self) -> Result<Report, Error> {
        match self.end {
            Some(End::Reported(report)) => Ok(*report),
            Some(End::Dropped(reason)) => Err(Error::Dropped(reason)),
            None => Err(runtime::Error::Left.into()),
        }
    }

    /// Divides a page of the log into what came before the run and the run, as far as its report.
    fn take(&mut self, mut records: Vec<Record>) {
        self.seen = records.last().map_or(self.seen, |record| record.seq);
        let before = records.iter().position(|record| self.has_begun(record)).unwrap_or(records.len());
        let mut own = records.split_off(before);
        if !records.is_empty() {
            self.ready.push_back(Update::Past(records));
        }
        if self.end.is_some() {
            return;
        }
        let report =
            own.iter().enumerate().find_map(|(at, record)| Some((at, root_report(record, &self.root)?.clone())));
        if let Some((at, report)) = report {
            own.truncate(at + 1);
            self.end = Some(End::Reported(Box::new(report)));
        }
        if !own.is_empty() {
            self.ready.push_back(Update::Events(own));
        }
    }

    /// Whether the run has begun with a record. A message that comes to nothing begins none.
    fn has_begun(&mut self, record: &Record) -> bool {
        match (&self.begins, &*record.event) {
            (Begins::After(seq), _) => record.seq > *seq,
            (Begins::With(message), Event::RunStarted { input, .. }) if input == message => {
                self.begins = Begins::After(record.seq - 1);
                true
            }
            (Begins::With(message), Event::InputDropped { input, reason }) if input == message => {
                self.end = Some(End::Dropped(reason.clone()));
                true
            }
            (Begins::With(_), _) => false,
        }
    }
}

/// The end of a driver of this process; it is taken once.
async fn ended(
    driver: &mut Option<BoxFuture<'static, Result<Report, runtime::Error>>>,
) -> Result<Report, runtime::Error> {
    match driver {
        Some(running) => {
            let ended = running.await;
            *driver = None;
            ended
        }
        None => std::future::pending().await,
    }
}

/// The number of the newest event of a root and all its descendants. They are numbered without gaps, so it is how many there are.
async fn newest(store: &dyn Store, root: &ThreadId) -> Result<u64, store::Error> {
    let family = ThreadQuery { root: Some(root.clone()), limit: usize::MAX, ..ThreadQuery::default() };
    Ok(store.threads(family).await?.iter().map(|row| row.head).sum())
}
