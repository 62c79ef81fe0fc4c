//! Frames of a child: delegated, perhaps queued, started, and ended exactly once.

use agent::event::ChildSpawned;
use agent::{Report, ThreadId};

use super::{Bodies, Frames};
use crate::frame::{Body, Child, ChildBegin, ChildData, ChildEnd};

impl Frames {
    /// Tells that work was handed to a child, under the row of the call that asked for it.
    pub(super) fn tell_spawned(&mut self, parent: &ThreadId, spawned: &ChildSpawned, out: &mut Bodies) {
        let to = &spawned.role.name;
        self.tell_call_started(parent, &spawned.call, Some(to), out);
        let body = Body::AgentDelegate {
            from: self.threads.agent(parent),
            to: to.clone(),
            tool_use_id: spawned.call.clone(),
            sub_agent_id: spawned.child.clone(),
            sub_agent_name: spawned.name.clone(),
            goal: spawned.brief.task.clone(),
            background: spawned.background,
            narrowed: spawned.narrowed.clone(),
        };
        out.push((parent.clone(), body));
        if spawned.queued {
            out.push((spawned.child.clone(), Body::SubAgentQueued(self.child_begin(&spawned.child))));
        }
    }

    /// The one terminal frame of a child.
    pub(super) fn tell_child_end(&mut self, child: &ThreadId, report: &Report, out: &mut Bodies) {
        if std::mem::replace(&mut self.emitted(child).terminal, true) {
            return;
        }
        out.push((child.clone(), Body::AgentComplete { outcome: report.outcome }));
        let end = ChildEnd { child: self.child(child), data: ChildData::of(report) };
        let body = if report.outcome.has_result() { Body::SubAgentComplete(end) } else { Body::SubAgentError(end) };
        out.push((child.clone(), body));
    }

    pub(super) fn child_begin(&self, child: &ThreadId) -> ChildBegin {
        ChildBegin { child: self.child(child), goal: self.threads.known(child).and_then(|known| known.goal()) }
    }

    fn child(&self, child: &ThreadId) -> Child {
        Child {
            workflow_id: self.root.clone(),
            parent_agent_id: child.parent(),
            sub_agent_id: child.clone(),
            sub_agent_name: self.name(child),
            path: self.threads.path(child),
            tool_use_id: self.threads.known(child).and_then(|known| known.call()),
        }
    }
}
