//! Frames of a child: delegated, perhaps queued, started, and ended exactly once; and the same again for each turn in which it answers
//! something more.

use agent::event::{ChildAsked, ChildSpawned};
use agent::{Report, ThreadId};

use super::{Bodies, Frames};
use crate::frame::{Body, Child, ChildBegin, ChildData, ChildEnd};

impl Frames {
    /// Tells that work was handed to a child, under the row of the call that asked for it.
    pub(super) fn tell_spawned(&mut self, parent: &ThreadId, spawned: &ChildSpawned, out: &mut Bodies) {
        let to = &spawned.role.name;
        self.tell_call_started(parent, &spawned.call, Some(to), out);
        let body = Body::AgentDelegate {
            from: self.tree.threads.agent(parent),
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

    /// Tells that a child that has reported was asked something more, under the row of the call that asks.
    pub(super) fn tell_asked(&mut self, parent: &ThreadId, asked: &ChildAsked, out: &mut Bodies) {
        let to = self.tree.threads.agent(&asked.child);
        self.tell_call_started(parent, &asked.call, Some(&to), out);
        let body = Body::AgentDelegate {
            from: self.tree.threads.agent(parent),
            to,
            tool_use_id: asked.call.clone(),
            sub_agent_id: asked.child.clone(),
            sub_agent_name: asked.name.clone(),
            goal: asked.text.clone(),
            background: asked.background,
            narrowed: asked.narrowed.clone(),
        };
        out.push((parent.clone(), body));
    }

    /// A turn of a child begins.
    pub(super) fn tell_child_begin(&mut self, child: &ThreadId, out: &mut Bodies) {
        out.push((child.clone(), Body::AgentStart {}));
        out.push((child.clone(), Body::SubAgentStart(self.child_begin(child))));
    }

    /// The one terminal frame of a child's turn.
    pub(super) fn tell_child_end(&mut self, child: &ThreadId, report: &Report, out: &mut Bodies) {
        if std::mem::replace(&mut self.emitted(child).terminal, true) {
            return;
        }
        out.push((child.clone(), Body::AgentComplete { outcome: report.outcome }));
        let end = ChildEnd { child: self.child(child), turn: self.turn(child), data: ChildData::of(report) };
        let body = if report.outcome.has_result() { Body::SubAgentComplete(end) } else { Body::SubAgentError(end) };
        out.push((child.clone(), body));
    }

    pub(super) fn child_begin(&self, child: &ThreadId) -> ChildBegin {
        let goal = self.tree.threads.known(child).and_then(|known| known.goal());
        ChildBegin { child: self.child(child), turn: self.turn(child), goal }
    }

    fn turn(&self, child: &ThreadId) -> u32 {
        self.emitted.get(child).map_or(1, |emitted| emitted.turn.max(1))
    }

    fn child(&self, child: &ThreadId) -> Child {
        Child {
            workflow_id: self.root.clone(),
            parent_agent_id: child.parent(),
            sub_agent_id: child.clone(),
            sub_agent_name: self.name(child),
            path: self.tree.threads.path(child),
            tool_use_id: self.tree.threads.known(child).and_then(|known| known.call()),
        }
    }
}
