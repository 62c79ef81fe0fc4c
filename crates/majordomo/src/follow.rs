//! What is new in a root and all its descendants: events from the log, and text while it is produced.
//!
//! The log is followed wherever the root is driven. Streamed text comes from the process that drives the thread; from another process it may come
//! late, or not at all.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agent::{Event, Report, ThreadId};
use async_recursion::async_recursion as boxed;
use futures_util::StreamExt;
use runtime::{Fleeting, FleetingKind, Runtime, Watching};
use store::{Follow, Record, Selection, Store, follow};
use tokio::sync::broadcast::{self, error::TryRecvError};
use view::{Logged, StreamSource, Streamed};

/// How long it is waited after the store could not answer.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Something new.
#[derive(Clone, Debug)]
pub enum News {
    /// Events, in the order of the log.
    Events(Vec<Record>),
    /// Text while it is produced. All of it comes before the event that holds the whole.
    Text(Streamed),
}

/// What is new in a root and all its descendants, for as long as it is asked for.
pub struct Updates {
    store: Arc<dyn Store>,
    root: ThreadId,
    log: Follow,
    /// None where streamed text is not wanted.
    text: Option<broadcast::Receiver<Fleeting>>,
    /// What was taken out of `log` and `text` and not yet given out.
    ready: VecDeque<News>,
    /// The newest answered turn of each thread: text that comes from another process after its answer is of no use.
    answered: HashMap<ThreadId, u32>,
    /// Has other processes send their text, as long as it is wanted.
    watching: Option<Watching>,
}

impl Updates {
    /// Begins with the first event of the root's log, and with the text that is streamed from this moment on.
    pub fn new(runtime: &Runtime, root: ThreadId) -> Self {
        let store = runtime.store().clone();
        let log = follow(&store, Selection::tree(&root));
        let watching = Some(runtime.watch(&root));
        let (text, answered) = (Some(runtime.fleeting()), HashMap::new());
        Self { store, root, log, text, ready: VecDeque::new(), answered, watching }
    }

    /// The same from after an event on.
    pub fn after(self, seq: u64) -> Self {
        let selection = Selection::tree(&self.root).after(seq);
        self.selected(selection)
    }

    /// The same with events that are selected otherwise, of the same root.
    pub fn selected(self, selection: Selection) -> Self {
        Self { log: follow(&self.store, selection), ..self }
    }

    /// The same with text that is heard since before: nothing of what was streamed meanwhile is missing.
    pub fn hearing(self, text: broadcast::Receiver<Fleeting>) -> Self {
        Self { text: Some(text), ..self }
    }

    /// The root that is followed.
    pub fn root(&self) -> &ThreadId {
        &self.root
    }

    /// The same without streamed text.
    pub fn without_text(self) -> Self {
        Self { text: None, watching: None, ..self }
    }

    /// Streamed text is not wanted any more.
    pub(crate) fn stop_text(&mut self) {
        (self.text, self.watching) = (None, None);
    }

    /// Waits for the next update, also for a store that cannot answer now. None once the store is closed. An answer that is given up loses
    /// nothing.
    #[boxed]
    pub async fn next(&mut self) -> Result<Option<News>, store::Error> {
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Ok(Some(update));
            }
            tokio::select! {
                biased;
                page = self.log.next() => match page {
                    Some(Ok(page)) => self.take(page),
                    Some(Err(error)) if error.is_passing() => {
                        tracing::debug!(root = %self.root, %error, "the log is read again soon");
                        tokio::time::sleep(LOOK_AGAIN).await;
                    }
                    Some(Err(error)) => return Err(error),
                    None => return Ok(None),
                },
                piece = next_piece(&mut self.text) => self.ready.extend(self.ours(piece).map(News::Text)),
            }
        }
    }

    /// Puts a page of the log in its place among the text that was streamed. A text is streamed before the event that holds the whole
    /// is written, so all of it is known by now.
    fn take(&mut self, page: Vec<Record>) {
        let mut pieces = Vec::new();
        while let Some(text) = &mut self.text {
            match text.try_recv() {
                Ok(piece) => pieces.extend(self.ours(piece)),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        // There may be many pieces, and many events: each piece is compared with the events of its own thread.
        let mut of_thread: HashMap<&ThreadId, Vec<&Record>> = HashMap::new();
        if !pieces.is_empty() {
            page.iter().for_each(|record| of_thread.entry(&record.thread).or_default().push(record));
        }
        let is_settled = |piece: &Streamed| {
            let own = of_thread.get(&piece.thread).into_iter().flatten();
            own.into_iter().any(|record| piece.is_settled_by(&logged(record)))
        };
        let (before, later): (Vec<_>, Vec<_>) = pieces.into_iter().partition(is_settled);
        self.ready.extend(before.into_iter().map(News::Text));
        for record in &page {
            if let Event::Answered(answered) = &*record.event {
                self.answered.insert(record.thread.clone(), answered.turn);
            }
        }
        self.ready.push_back(News::Events(page));
        self.ready.extend(later.into_iter().map(News::Text));
    }

    /// A piece of text of this root or of one of its descendants.
    fn ours(&self, piece: Fleeting) -> Option<Streamed> {
        let source = match piece.what {
            FleetingKind::Turn(turn) => StreamSource::Turn(turn),
            FleetingKind::Thought(turn) => StreamSource::Thought(turn),
            FleetingKind::Call(call) => StreamSource::Call(call),
        };
        let is_late = match &source {
            StreamSource::Turn(turn) | StreamSource::Thought(turn) => {
                self.answered.get(&piece.thread).is_some_and(|answered| turn <= answered)
            }
            StreamSource::Call(_) => false,
        };
        (piece.thread.root() == self.root && !is_late).then_some(Streamed {
            thread: piece.thread,
            source,
            text: piece.text,
        })
    }
}

/// The next piece of text, if any is wanted. Pieces that came faster than they were taken are lost: the logged answer holds them.
async fn next_piece(text: &mut Option<broadcast::Receiver<Fleeting>>) -> Fleeting {
    while let Some(receiver) = text {
        match receiver.recv().await {
            Ok(piece) => return piece,
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *text = None,
        }
    }
    std::future::pending().await
}

/// Asks the store until it answers: what it cannot do now it may do later.
pub async fn until_answered<T, A>(mut ask: impl FnMut() -> A) -> Result<T, store::Error>
where
    A: Future<Output = Result<T, store::Error>>,
{
    loop {
        match ask().await {
            Err(error) if error.is_passing() => {
                tracing::debug!(%error, "the store is asked again soon");
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            answer => return answer,
        }
    }
}

/// A record as a fold takes it.
pub fn logged(record: &Record) -> Logged<'_> {
    Logged { seq: record.seq, thread: &record.thread, at: record.at, event: &record.event }
}

/// The report of the root, if this record is one.
pub fn root_report<'a>(record: &'a Record, root: &ThreadId) -> Option<&'a Report> {
    match &*record.event {
        Event::Reported(report) if record.thread == *root => Some(report),
        _ => None,
    }
}
