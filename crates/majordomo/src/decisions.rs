//! What people decided about a household, found in the memory: the conversations in which its tools were called, since somebody
//! last looked.
//!
//! What a decision is and what is learnt from it is the business of the crate `household`.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent::{Event, ThreadId};
use household::TOOLS;
use household::preferences::{Log, LogEvent, LogPage};
use store::{Error, Record, Selection, Store, read_all, replay};

/// The memory as one household reads it.
pub(crate) struct Decisions {
    memory: Arc<dyn Store>,
    /// The name by which the memory knows the household, where it is not the configured one.
    household: Option<Arc<str>>,
}

impl Decisions {
    pub(crate) fn new(memory: Arc<dyn Store>, household: Option<Arc<str>>) -> Self {
        Self { memory, household }
    }

    async fn read(&self, after: u64) -> Result<LogPage, Error> {
        // A memory that ends before what was read is another one, and is read from its beginning.
        let newest = *self.memory.tail().borrow();
        let mut position = if newest < after { 0 } else { after };
        let mut roots = BTreeSet::new();
        let new = Selection::everything().after(position);
        let see = |record: Record| {
            position = record.position;
            if can_tell(&record.event) {
                roots.insert(record.thread.root());
            }
        };
        replay(&*self.memory, new, see).await?;
        let mut families = Vec::new();
        for root in roots {
            if self.is_ours(&root).await? {
                let family = read_all(&*self.memory, Selection::tree(&root)).await?;
                families.push(family.into_iter().map(happened).collect());
            }
        }
        Ok(LogPage { families, position })
    }

    /// Whether a conversation is about this household.
    async fn is_ours(&self, root: &ThreadId) -> Result<bool, Error> {
        let first = self.memory.read(root, 0, 1).await?;
        Ok(first.first().is_some_and(|record| match &*record.event {
            Event::ThreadCreated(created) => {
                created.household == self.household && TOOLS.iter().any(|tool| created.role.can_give(tool))
            }
            _ => false,
        }))
    }
}

impl Log for Decisions {
    fn since(&self, position: u64) -> Result<LogPage, String> {
        tokio::runtime::Handle::current().block_on(self.read(position)).map_err(|error| error.to_string())
    }
}

/// Whether an event may complete a decision: a call's end, or a person's answer.
fn can_tell(event: &Event) -> bool {
    matches!(event, Event::ToolFinished { .. } | Event::ApprovalResolved { .. })
}

fn happened(record: Record) -> LogEvent {
    let Record { thread, n, at, event, .. } = record;
    LogEvent { thread, n, at, event }
}
