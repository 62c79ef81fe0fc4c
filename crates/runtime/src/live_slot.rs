//! A thread's place among those that live in this process. There is one at most, so that a thread is never driven twice, and
//! messages reach it from the moment it is taken.

use std::sync::Arc;

use agent::ThreadId;
use tokio::sync::mpsc;

use crate::driver::DriverMessage;
use crate::runtime::Inner;

/// A place that is taken until it is dropped. A sender that is kept longer finds it closed, and its owner writes into the log.
pub struct LiveSlot {
    pub runtime: Arc<Inner>,
    pub id: ThreadId,
    pub messages: mpsc::UnboundedReceiver<DriverMessage>,
}

impl LiveSlot {
    /// Takes the place of a thread; none where it is taken.
    pub fn take(runtime: &Arc<Inner>, id: &ThreadId) -> Option<Self> {
        let (sender, messages) = mpsc::unbounded_channel();
        runtime.enter(id, sender).then(|| Self { runtime: runtime.clone(), id: id.clone(), messages })
    }
}

impl Drop for LiveSlot {
    fn drop(&mut self) {
        self.runtime.exit(&self.id);
    }
}
