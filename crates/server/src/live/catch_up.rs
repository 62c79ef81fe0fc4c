//! What a watcher has missed and its feed keeps no more, from the log.
//!
//! A frame takes all that happened before it, so the log is folded from its beginning, in pages: what is held for a reader that
//! takes its time is one page.

use std::sync::Arc;

use agent::ThreadId;
use bytes::Bytes;
use store::{Follow, Selection, Store, follow};
use view::Dialect;

use super::backlog::Draft;
use super::family::{Family, Place};

/// Records that are read at once.
const PAGE: usize = 100;

/// A place in the log, and the frame after which something is missed.
pub(super) struct CatchUp {
    log: Follow,
    family: Family,
}

impl CatchUp {
    pub fn new(store: &Arc<dyn Store>, root: &ThreadId, dialect: Dialect, seen: Place) -> Self {
        let log = follow(store, Selection::tree(root).page(PAGE));
        Self { log, family: Family::new(store, root, dialect, seen) }
    }

    /// The next frames and the place of the last of them; none when the log has no more.
    pub async fn page(&mut self) -> Result<Option<(Bytes, Place)>, store::Error> {
        loop {
            let page = self.log.ready().await?;
            let mut draft = Draft::default();
            draft.put(self.family.lines_of(&page).await?);
            if page.is_empty() {
                draft.put(self.family.rest().await?);
            }
            let piece = draft.finish();
            match piece.last() {
                Some(last) => return Ok(Some((piece.bytes, last))),
                None if page.is_empty() => return Ok(None),
                None => {}
            }
        }
    }
}
