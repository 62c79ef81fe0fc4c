//! One run to its end, for one reader: each follows the log by itself, for there are few of them at a time.

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use futures_util::{FutureExt, TryStreamExt};
use majordomo::follow::logged;
use majordomo::{Run, Update};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use view::{Dialect, Lines};

use super::backlog::Draft;
use super::{FLUSH_EVERY, HEARTBEAT, STILL_HERE};

/// A run's frames after the last one that was seen, to its `done`, and then the end.
pub(crate) fn to_its_end(
    run: Run,
    dialect: Dialect,
    last_event_id: u64,
    closing: CancellationToken,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let lines = Lines::new(run.root().clone(), dialect, last_event_id);
    let reader = Reader { run: run.without_text(), lines, sent_at: None, closing };
    stream::unfold(reader, Reader::next)
}

struct Reader {
    run: Run,
    lines: Lines,
    /// When frames were last sent.
    sent_at: Option<Instant>,
    closing: CancellationToken,
}

impl Reader {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if let Some(sent_at) = self.sent_at {
            tokio::time::sleep_until(sent_at + FLUSH_EVERY).await;
        }
        let mut draft = Draft::default();
        while draft.is_empty() {
            let update = tokio::select! {
                () = self.closing.cancelled() => return None,
                update = tokio::time::timeout(HEARTBEAT, self.run.try_next()) => update,
            };
            let Ok(update) = update else { return Some((Bytes::from_static(STILL_HERE), self)) };
            self.take(update, &mut draft)?;
        }
        // What is there already goes out together.
        while let Some(update) = self.run.try_next().now_or_never() {
            if self.take(update, &mut draft).is_none() {
                break;
            }
        }
        self.sent_at = Some(Instant::now());
        Some((draft.finish().bytes, self))
    }

    /// Takes an update in; none at the end.
    fn take(&mut self, update: Result<Option<Update>, majordomo::Error>, draft: &mut Draft) -> Option<()> {
        let update = update.inspect_err(|error| {
            tracing::error!(root = %self.run.root(), %error, "a run cannot be followed");
        });
        match update.ok()?? {
            Update::Past(records) => records.iter().for_each(|record| _ = self.lines.push(&logged(record))),
            Update::Events(records) => {
                records.iter().for_each(|record| draft.put(self.lines.push(&logged(record))));
            }
            Update::Text(_) | Update::Done(_) => {}
        }
        Some(())
    }
}
