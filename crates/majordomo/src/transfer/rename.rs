//! A conversation under other names. The names of its threads are changed where an event names a thread, and nowhere else: what people, models
//! and tools have said stays as it was said, even where it holds such a name.

use agent::approval::ApprovalId;
use agent::event::ThreadCreated;
use agent::policy::Lifecycle;
use agent::{Event, Outside, ThreadId};

/// Names for a copy: `from` becomes the root `to`, and what is below it what is below that.
pub(super) struct Renaming<'a> {
    pub(super) from: &'a ThreadId,
    pub(super) to: &'a ThreadId,
}

impl Renaming<'_> {
    /// The name of a thread in the copy; none for one that is neither `from` nor below it.
    pub(super) fn thread(&self, thread: &ThreadId) -> Option<ThreadId> {
        let below = thread.as_str().strip_prefix(self.from.as_str())?;
        (below.is_empty() || below.starts_with('.')).then(|| ThreadId::new(format!("{}{below}", self.to)))
    }

    /// An event as it stands in the copy.
    pub(super) fn event(&self, mut event: Event) -> Event {
        match &mut event {
            Event::ThreadCreated(created) => self.created(created),
            Event::InputArrived { input: Outside::Decided { approval, .. }, .. }
            | Event::ApprovalResolved { approval, .. } => self.approval(approval),
            Event::ApprovalRequested(approval) => self.approval(&mut approval.id),
            Event::ChildSpawned(spawned) => self.rename(&mut spawned.child),
            Event::ChildAsked(asked) => self.rename(&mut asked.child),
            Event::SubtaskRecalled { child, .. }
            | Event::ChildIssued { child, .. }
            | Event::ChildStarted { child, .. }
            | Event::ChildSaid { child, .. }
            | Event::ChildPaused { child, .. }
            | Event::ChildStopped { child, .. }
            | Event::ChildReported { child, .. }
            | Event::MessageSent { child, .. }
            | Event::ChildAwaited { child, .. } => self.rename(child),
            Event::WaitStarted { children, .. } => children.iter_mut().for_each(|child| self.rename(child)),
            // The names of inputs are kept as their senders chose them.
            Event::InputArrived { .. }
            | Event::RunStarted { .. }
            | Event::Steered { .. }
            | Event::InputDropped { .. }
            | Event::StopBegun { .. }
            | Event::TurnStarted(_)
            | Event::CallFailed { .. }
            | Event::CallRepeated { .. }
            | Event::Answered(_)
            | Event::ToolStarted { .. }
            | Event::SamplingStarted(_)
            | Event::SamplingEnded(_)
            | Event::ToolFinished { .. }
            | Event::ChecksStarted { .. }
            | Event::ChecksFinished { .. }
            | Event::Delegated { .. }
            | Event::SubtaskSkipped { .. }
            | Event::ContextTrimmed { .. }
            | Event::ContextCompacted { .. }
            | Event::ToolsChanged { .. }
            | Event::SettingsChanged { .. }
            | Event::StallNoticed { .. }
            | Event::BudgetWarned { .. }
            | Event::Reopened { .. }
            | Event::Reported(_) => {}
        }
        event
    }

    fn created(&self, created: &mut ThreadCreated) {
        created.copied_from.push(created.id.clone());
        if created.id == *self.from && !created.id.is_root() {
            // A sub-agent's conversation is a root of its own here, as that of a task is. What those above it might not do, it may not.
            created.parent_call = None;
            created.path = vec![created.name.clone()];
            created.lifecycle = Lifecycle::Persistent;
        }
        // No task is worked on in a copy.
        created.created_for = None;
        self.rename(&mut created.id);
    }

    fn rename(&self, thread: &mut ThreadId) {
        if let Some(renamed) = self.thread(thread) {
            *thread = renamed;
        }
    }

    fn approval(&self, approval: &mut ApprovalId) {
        if let (Some(thread), Some((_, number))) = (self.thread(&approval.thread()), approval.as_str().split_once('/'))
        {
            *approval = ApprovalId::new(format!("{thread}/{number}"));
        }
    }
}
