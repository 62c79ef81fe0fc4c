//! Reading the log: [`replay`] goes through what is there, in pages; [`follow`] goes on with what is written afterwards.
//!
//! Every reader of more than one page uses these two: the runtime when it loads a thread, the views, and every interface
//! that shows a run while it happens. They rest on the store's promise about positions (see [`Store::tail`]): an event never
//! appears before one that was already read. So the number of the last event that was seen is all that a reader keeps.
//!
//! Left to the caller: how often it draws, and what it does about a failure.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agent::ThreadId;
use futures_util::Stream;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::error::Error;
use crate::installation::InstallationRecord;
use crate::log::{Answer, Record};
use crate::open::Store;

/// Events that are read at once.
pub const PAGE: usize = 1000;

/// Which events of the log are read, and from where on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    scope: Scope,
    after: u64,
    page: usize,
    pause: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Scope {
    Thread(ThreadId),
    Tree(ThreadId),
    Everything,
}

impl Selection {
    /// The events of one thread, numbered by [`Record::n`].
    pub fn thread(thread: &ThreadId) -> Self {
        Self::of(Scope::Thread(thread.clone()))
    }

    /// The events of a root and all its descendants, numbered by [`Record::seq`].
    pub fn tree(root: &ThreadId) -> Self {
        Self::of(Scope::Tree(root.clone()))
    }

    /// Every event of the store, numbered by [`Record::position`].
    pub fn everything() -> Self {
        Self::of(Scope::Everything)
    }

    /// Only those that come after this number.
    pub fn after(self, after: u64) -> Self {
        Self { after, ..self }
    }

    /// Reads at most so many at once. [`PAGE`] where nothing else is said.
    pub fn page(self, page: usize) -> Self {
        Self { page: page.max(1), ..self }
    }

    /// While it is followed, waits so long between two looks at the log that found nothing: other parts of the log may be busy.
    pub fn pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    fn of(scope: Scope) -> Self {
        Self { scope, after: 0, page: PAGE, pause: Duration::ZERO }
    }

    /// The number by which this selection counts an event.
    fn number(&self, record: &Record) -> u64 {
        match self.scope {
            Scope::Thread(_) => record.n,
            Scope::Tree(_) => record.seq,
            Scope::Everything => record.position,
        }
    }

    fn read(&self, store: &dyn Store) -> Answer<Vec<Record>> {
        match &self.scope {
            Scope::Thread(thread) => store.read(thread, self.after, self.page),
            Scope::Tree(root) => store.tree(root, self.after, self.page),
            Scope::Everything => store.all(self.after, self.page),
        }
    }

    /// Goes on after a page that was read.
    fn advance(&mut self, page: &[Record]) {
        if let Some(last) = page.last() {
            self.after = self.number(last);
        }
    }
}

/// Hands every event that is selected and written by now to `see`, in order, a page at a time, until `see` breaks.
/// What it breaks with is the answer; none if it came to the end.
pub async fn replay_until<B>(
    store: &dyn Store,
    mut selection: Selection,
    mut see: impl FnMut(Record) -> ControlFlow<B>,
) -> Result<Option<B>, Error> {
    loop {
        let page = selection.read(store).await?;
        selection.advance(&page);
        let is_last = page.len() < selection.page;
        for record in page {
            if let ControlFlow::Break(found) = see(record) {
                return Ok(Some(found));
            }
        }
        if is_last {
            return Ok(None);
        }
    }
}

/// Hands every event that is selected and written by now to `see`, in order, a page at a time.
pub async fn replay(store: &dyn Store, selection: Selection, mut see: impl FnMut(Record)) -> Result<(), Error> {
    let to_the_end = replay_until(store, selection, |record| {
        see(record);
        ControlFlow::<()>::Continue(())
    });
    to_the_end.await?;
    Ok(())
}

/// Every event that is selected and written by now. For what is known to be short: a whole log can be large.
pub async fn read_all(store: &dyn Store, selection: Selection) -> Result<Vec<Record>, Error> {
    let mut all = Vec::new();
    replay(store, selection, |record| all.push(record)).await?;
    Ok(all)
}

/// Follows the events that are selected: those that are there, and those that this or another process writes later.
pub fn follow(store: &Arc<dyn Store>, selection: Selection) -> Follow {
    let (log, after, pause) = (store.clone(), selection.after, selection.pause);
    let of = selection.clone();
    Follow {
        read: Box::new(move |after| selection.clone().after(after).read(&*log)),
        number: Box::new(move |record| of.number(record)),
        after,
        pause,
        tail: store.tail(),
        step: Step::Look,
    }
}

/// Follows the events of the installation after the `after_n`th.
/// While others write, it reads at most once in `pause`.
pub fn follow_installation(store: &Arc<dyn Store>, after_n: u64, pause: Duration) -> Follow<InstallationRecord> {
    let log = store.clone();
    let read = move |after| log.installation_events(after, PAGE);
    Follow::of_stream(read, |record: &InstallationRecord| record.n, after_n, pause, store.tail())
}

/// A place in the log, as a stream of pages: none is empty, none leaves out an event or holds one that was in a page before.
///
/// While nothing is written it waits for the store's announcement and reads nothing. A failure is an item of the stream; after
/// one that passes ([`Error::is_passing`]) the stream goes on where it was. It ends when the store is gone.
/// Giving up waiting for the next page loses nothing.
pub struct Follow<R = Record> {
    read: Box<dyn Fn(u64) -> Answer<Vec<R>> + Send + Sync>,
    number: Box<dyn Fn(&R) -> u64 + Send + Sync>,
    after: u64,
    pause: Duration,
    tail: watch::Receiver<u64>,
    step: Step<R>,
}

enum Step<R> {
    /// The log is to be read.
    Look,
    /// The log is being read.
    Read(Answer<Vec<R>>),
    /// Everything was read; waits for the store's announcement. False where there will be none.
    Wait(BoxFuture<'static, bool>),
}

impl<R> Follow<R> {
    /// Follows a stream that is read by `read` and whose events `number` counts.
    pub(crate) fn of_stream(
        read: impl Fn(u64) -> Answer<Vec<R>> + Send + Sync + 'static,
        number: impl Fn(&R) -> u64 + Send + Sync + 'static,
        after: u64,
        pause: Duration,
        tail: watch::Receiver<u64>,
    ) -> Self {
        Self { read: Box::new(read), number: Box::new(number), after, pause, tail, step: Step::Look }
    }

    /// The page that can be read now, without waiting for anything to be written; empty where everything was read.
    pub async fn ready(&mut self) -> Result<Vec<R>, Error> {
        // A read that was begun before may not know what was written since.
        self.step = Step::Look;
        poll_fn(|context| self.poll_read(context)).await
    }

    /// The number of the last event that was handed out, or the one that it was to begin after.
    pub fn seen(&self) -> u64 {
        self.after
    }

    /// Reads a page. An empty one leaves it waiting.
    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Result<Vec<R>, Error>> {
        loop {
            match &mut self.step {
                Step::Read(reading) => {
                    let answer = ready!(reading.as_mut().poll(context));
                    self.step = match &answer {
                        Ok(page) => match page.last() {
                            Some(last) => {
                                self.after = (self.number)(last);
                                Step::Look
                            }
                            None => self.wait(),
                        },
                        Err(_) => Step::Look,
                    };
                    return Poll::Ready(answer);
                }
                Step::Look | Step::Wait(_) => {
                    // Marked as seen before the log is read: what is written during the read is announced after it.
                    self.tail.borrow_and_update();
                    self.step = Step::Read((self.read)(self.after));
                }
            }
        }
    }

    fn wait(&self) -> Step<R> {
        let (mut tail, next_look) = (self.tail.clone(), Instant::now() + self.pause);
        Step::Wait(Box::pin(async move {
            let is_there = tail.changed().await.is_ok();
            tokio::time::sleep_until(next_look).await;
            is_there
        }))
    }
}

impl<R> Stream for Follow<R> {
    type Item = Result<Vec<R>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Step::Wait(waiting) = &mut self.step {
                if !ready!(waiting.as_mut().poll(context)) {
                    return Poll::Ready(None);
                }
                self.step = Step::Look;
            }
            match ready!(self.poll_read(context)) {
                Ok(page) if page.is_empty() => {}
                answer => return Poll::Ready(Some(answer)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
