//! A run: from a message to the report on it, as a stream of what happens.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agent::{Event, InputId, Report, ThreadId};
use async_recursion::async_recursion as boxed;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt};
use runtime::{RunHandle, Runtime};
use store::{Record, Store, ThreadQuery};

use crate::follow::{News, Updates, root_report, until_answered};
use crate::staff::{Error, Staff};

/// Something that happens in a run. `#[non_exhaustive]` is deliberately absent: a reader that follows a run to its end has a place for
/// each of them.
#[derive(Clone, Debug)]
pub enum Update {
    /// Events that were in the log before the run began.
    Past(Vec<Record>),
    /// Events of the run, in the order of the log: of the root agent and of all its sub-agents.
    Events(Vec<Record>),
    /// Text while it is produced, by an agent's model or by a tool. All of it comes before the event that holds the whole.
    Text(view::Streamed),
    /// The run is over. This is the last update.
    Done(Box<Report>),
}

/// One run, from a message to the report on it: a [`Stream`] of [`Update`]s that ends with [`Update::Done`].
///
/// Dropping it stops nothing: the run goes on, and its conversation can be followed again ([`Session`](crate::Session)). As long as it
/// is held, its [`Staff`] stays open.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), majordomo::Error> {
/// use futures_util::TryStreamExt;
/// use majordomo::{Model, Staff, Update};
///
/// let staff = Staff::builder().model(Model::replies(["It is noon."])).build().await?;
/// let mut run = staff.stream("What time is it?").await?;
/// let mut text = String::new();
/// while let Some(update) = run.try_next().await? {
///     match update {
///         Update::Text(piece) => text += &piece.text,
///         Update::Done(report) => assert_eq!(&*report.text, "It is noon."),
///         Update::Past(_) | Update::Events(_) => {}
///     }
/// }
/// assert_eq!(text, "It is noon.");
/// # Ok(())
/// # }
/// ```
pub struct Run {
    root: ThreadId,
    thread: ThreadId,
    reading: Reading,
}

enum Reading {
    /// Nothing was read yet.
    Fresh(Option<Box<Reader>>),
    Begun(BoxStream<'static, Result<Update, Error>>),
}

impl Run {
    pub(crate) fn started(staff: &Staff, updates: Updates, handle: RunHandle) -> Self {
        Self::new(Some(staff.clone()), updates, staff.store().clone(), Begins::After(0), Some(handle))
    }

    pub(crate) fn resumed(staff: &Staff, updates: Updates, after: u64, handle: RunHandle) -> Self {
        Self::new(Some(staff.clone()), updates, staff.store().clone(), Begins::After(after), Some(handle))
    }

    pub(crate) fn answering(staff: &Staff, updates: Updates, thread: &ThreadId, message: InputId) -> Self {
        let run = Self::new(Some(staff.clone()), updates, staff.store().clone(), Begins::With(message), None);
        run.of_thread(thread)
    }

    /// The run of a thread that goes on after an event, or the next one, whichever process drives it. Nothing is started.
    pub fn after(runtime: &Runtime, thread: &ThreadId, seq: u64) -> Self {
        let updates = Updates::new(runtime, thread.root());
        Self::new(None, updates, runtime.store().clone(), Begins::After(seq), None).of_thread(thread)
    }

    /// The run of a thread of the family and not of its root.
    fn of_thread(mut self, thread: &ThreadId) -> Self {
        self.thread = thread.clone();
        if let Reading::Fresh(Some(reader)) = &mut self.reading {
            reader.thread = thread.clone();
        }
        self
    }

    pub(crate) fn of_staff(mut self, staff: &Staff) -> Self {
        if let Reading::Fresh(Some(reader)) = &mut self.reading {
            reader.staff = Some(staff.clone());
        }
        self
    }

    fn new(
        staff: Option<Staff>,
        updates: Updates,
        store: Arc<dyn Store>,
        begins: Begins,
        handle: Option<RunHandle>,
    ) -> Self {
        let driver = handle.map(|handle| handle.report().boxed());
        let root = updates.root().clone();
        let (ready, end, failure, fails_after) = (VecDeque::new(), None, None, None);
        let reader = Reader {
            staff,
            root: root.clone(),
            thread: root.clone(),
            store,
            updates,
            begins,
            seen: 0,
            ready,
            end,
            driver,
            failure,
            fails_after,
        };
        Self { thread: root.clone(), root, reading: Reading::Fresh(Some(Box::new(reader))) }
    }

    /// The conversation's root thread, by which it is found again: [`Staff::session_of`].
    pub fn root(&self) -> &ThreadId {
        &self.root
    }

    /// The thread whose run it is: the root, or a sub-agent that was spoken to.
    pub fn thread(&self) -> &ThreadId {
        &self.thread
    }

    /// The same without [`Update::Text`]. It has to be said before the first update is read.
    #[must_use]
    pub fn without_text(mut self) -> Self {
        if let Reading::Fresh(Some(reader)) = &mut self.reading {
            reader.updates.stop_text();
        }
        self
    }

    /// Waits for the report.
    #[boxed]
    pub async fn report(mut self) -> Result<Report, Error> {
        if let Reading::Fresh(reader) = &mut self.reading
            && let Some(reader) = reader.as_mut()
            && let Some(driver) = reader.driver.take()
        {
            return Ok(driver.await?);
        }
        let mut report = None;
        while let Some(update) = self.try_next().await? {
            if let Update::Done(last) = update {
                report = Some(*last);
            }
        }
        report.ok_or_else(|| runtime::Error::Left.into())
    }
}

impl Stream for Run {
    type Item = Result<Update, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Reading::Fresh(reader) = &mut self.reading {
            let Some(reader) = reader.take() else { return Poll::Ready(None) };
            let updates = stream::try_unfold(reader, |mut reader| async move {
                let update = reader.next().await?;
                Ok::<_, Error>(update.map(|update| (update, reader)))
            });
            self.reading = Reading::Begun(updates.boxed());
        }
        match &mut self.reading {
            Reading::Begun(updates) => updates.poll_next_unpin(context),
            Reading::Fresh(_) => unreachable!("begun above"),
        }
    }
}

/// Reads the log of a run to its end.
struct Reader {
    /// Kept open until the run is over.
    staff: Option<Staff>,
    root: ThreadId,
    /// The thread whose report ends it.
    thread: ThreadId,
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
    /// It was told.
    Told,
}

impl Reader {
    /// Waits for the next update: first what was in the log before the run, then the run to the report on it. None after that.
    async fn next(&mut self) -> Result<Option<Update>, Error> {
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Ok(Some(update));
            }
            if let Some(end) = self.end.replace(End::Told) {
                self.staff = None;
                return match end {
                    End::Reported(report) => Ok(Some(Update::Done(report))),
                    End::Dropped(reason) => Err(Error::Dropped(reason)),
                    End::Told => Ok(None),
                };
            }
            self.end = None;
            if self.failure.is_some() && self.fails_after.is_none() {
                self.fails_after = Some(until_answered(|| newest(&*self.store, &self.root)).await?);
            }
            if let Some(error) = self.failure.take_if(|_| self.fails_after <= Some(self.seen)) {
                if matches!(error, runtime::Error::Left) && self.goes_on_elsewhere().await? {
                    continue;
                }
                return Err(error.into());
            }
            tokio::select! {
                news = self.updates.next() => match news? {
                    Some(News::Events(records)) => self.take(records),
                    Some(News::Text(piece)) if matches!(self.begins, Begins::After(_)) => {
                        return Ok(Some(Update::Text(piece)));
                    }
                    Some(News::Text(_)) => {}
                    None => return Err(runtime::Error::Left.into()),
                },
                ended = ended(&mut self.driver) => self.failure = ended.err(),
            }
        }
    }

    /// Whether another process drives the thread: one that this process was cut off from, and that is followed to its report.
    async fn goes_on_elsewhere(&mut self) -> Result<bool, store::Error> {
        let (store, thread) = (self.store.clone(), self.thread.clone());
        let Some(staff) = self.staff.clone().filter(|_| store.machine().is_some()) else { return Ok(false) };
        let Some(row) = until_answered(|| store.thread(&thread)).await? else { return Ok(false) };
        let now = staff.runtime().clock().now();
        let living = until_answered(|| store.living(now)).await?;
        let is_others = row.owner.as_ref().is_some_and(|owner| owner.process.id != *staff.runtime().process());
        Ok(is_others && row.state.is_live() && living.owns(&row))
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
            own.iter().enumerate().find_map(|(at, record)| Some((at, root_report(record, &self.thread)?.clone())));
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
pub(crate) async fn newest(store: &dyn Store, root: &ThreadId) -> Result<u64, store::Error> {
    let family = ThreadQuery { root: Some(root.clone()), limit: usize::MAX, ..ThreadQuery::default() };
    Ok(store.threads(family).await?.iter().map(|row| row.head).sum())
}
