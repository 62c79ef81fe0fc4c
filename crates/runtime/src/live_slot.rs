//! A thread's place among those that live in this process. There is one at most, so that nobody drives a thread twice, and
//! letters reach it from the moment it is taken.

use std::sync::Arc;

use agent::ThreadId;
use tokio::sync::mpsc;

use crate::driver::Letter;
use crate::heart::Inner;

/// A place that is taken until it is dropped. Whoever still holds the way to it finds it closed and writes into the log.
pub struct Seat {
    pub heart: Arc<Inner>,
    pub id: ThreadId,
    pub letters: mpsc::UnboundedReceiver<Letter>,
}

impl Seat {
    /// Takes the place of a thread; none where it is taken.
    pub fn take(heart: &Arc<Inner>, id: &ThreadId) -> Option<Self> {
        let (sender, letters) = mpsc::unbounded_channel();
        heart.enter(id, sender).then(|| Self { heart: heart.clone(), id: id.clone(), letters })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.heart.exit(&self.id);
    }
}
