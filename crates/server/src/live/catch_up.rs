//! What a watcher has missed and its feed keeps no more, from the log.
//!
//! A frame takes all that happened before it, so the log is folded from its beginning, in pages: what is held for a reader that
//! takes its time is one page.

use std::sync::Arc;

use agent::ThreadId;
use bytes::Bytes;
use majordomo::follow::logged;
use store::{Follow, Selection, Store, follow};
use view::{Dialect, Lines};

use super::backlog::Draft;

/// Records that are read at once.
const PAGE: usize = 100;

/// A place in the log, and the frame after which something is missed.
pub(super) struct CatchUp {
    log: Follow,
    lines: Lines,
}

impl CatchUp {
    pub fn new(store: &Arc<dyn Store>, root: &ThreadId, dialect: Dialect, seen: u64) -> Self {
        let log = follow(store, Selection::tree(root).page(PAGE));
        Self { log, lines: Lines::new(root.clone(), dialect, seen) }
    }

    /// The next frames and the number of the last of them; none when the log has no more.
    pub async fn page(&mut self) -> Result<Option<(Bytes, u64)>, store::Error> {
        loop {
            let page = self.log.ready().await?;
            if page.is_empty() {
                return Ok(None);
            }
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
