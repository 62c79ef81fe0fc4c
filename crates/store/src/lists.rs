//! What is folded from the log and can be asked for without reading it: threads, sub-agents, questions, usage.

use std::sync::Arc;

use agent::ThreadId;
use agent::approval::ApprovalId;

use crate::approvals::{ApprovalQuery, ApprovalRow};
use crate::log::Answer;
use crate::resolve;
use crate::rows::{Execution, ThreadQuery, ThreadRow, UsageRow};
use crate::search::{Found, SearchQuery};

/// Lists of what the log tells.
pub trait Lists: Send + Sync + 'static {
    /// Threads as they stand, the newest first.
    fn threads(&self, query: ThreadQuery) -> Answer<Vec<ThreadRow>>;

    /// A thread as it stands.
    fn thread(&self, thread: &ThreadId) -> Answer<Option<ThreadRow>>;

    /// The thread that a text names: by its name, by the part of it after the date, or by a beginning of either that
    /// only one root has. What follows the first dot, a child's number, must be exact.
    fn resolve(&self, text: &str) -> Answer<ThreadId>;

    /// Every sub-agent of a root, in the order of their spawning.
    fn executions(&self, workflow: &ThreadId) -> Answer<Vec<Execution>>;

    /// Questions to people as they stand, the newest first.
    fn approvals(&self, query: ApprovalQuery) -> Answer<Vec<ApprovalRow>>;

    /// A question to a person as it stands.
    fn approval(&self, id: &ApprovalId) -> Answer<Option<ApprovalRow>>;

    /// The question that a person means, of all that were ever asked: by its name, by the part of it after the date, with a
    /// beginning of either in the root's place, or by any beginning that only one has.
    fn find_approval(&self, text: &str) -> Answer<ApprovalRow> {
        let text: Arc<str> = text.into();
        let exact = self.approval(&ApprovalId::new(text.clone()));
        let every = self.approvals(ApprovalQuery { open_only: false, limit: usize::MAX });
        Box::pin(async move {
            match exact.await? {
                Some(row) => Ok(row),
                None => resolve::pick_approval(&text, every.await?),
            }
        })
    }

    /// Threads in which words were said, the best match first.
    fn search(&self, query: SearchQuery) -> Answer<Vec<Found>>;

    /// What was used, by thread and model: of a root with all its descendants, or of all threads.
    fn usage(&self, root: Option<&ThreadId>) -> Answer<Vec<UsageRow>>;
}
