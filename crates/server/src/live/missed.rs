//! What a watcher has missed and its feed keeps no more, from the log.
//!
//! A frame takes all that happened before it, so the log is folded from its beginning, in pages: what is held for a reader that
//! takes its time is one page.

use std::sync::Arc;

use agent::ThreadId;
use bytes::Bytes;
use majordomo::follow::logged;
use store::Store;
use view::{Dialect, Lines};

use super::past::Draft;

/// Records that are read at once.
const PAGE: usize = 100;

/// A place in the log, and the frame after which something is missed.
pub(super) struct Missed {
    store: Arc<dyn Store>,
    root: ThreadId,
    lines: Lines,
    seq: u64,
}

impl Missed {
    pub fn new(store: Arc<dyn Store>, root: ThreadId, dialect: Dialect, seen: u64) -> Self {
        Self { store, lines: Lines::new(root.clone(), dialect, seen), root, seq: 0 }
    }

    /// The next frames and the number of the last of them; none when the log has no more.
    pub async fn page(&mut self) -> Result<Option<(Bytes, u64)>, store::Error> {
        loop {
            let page = self.store.tree(&self.root, self.seq, PAGE).await?;
            let Some(newest) = page.last() else { return Ok(None) };
            self.seq = newest.seq;
            let mut draft = Draft::default();
            for record in &page {
                draft.put(self.lines.push(&logged(record)));
            }
            let piece = draft.finish();
            if let Some(last) = piece.last() {
                return Ok(Some((piece.bytes, last)));
            }
        }
    }
}
