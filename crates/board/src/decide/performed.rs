//! What became of deliveries, and of the turns of agents that had a task.

use std::sync::Arc;

use agent::ThreadId;

use super::{Moment, status};
use crate::command::Reply;
use crate::delivery::{DeliveryId, Notice};
use crate::event::{Event, StartedAgent};
use crate::id::TaskId;
use crate::task::Status;

/// An agent has its task.
pub fn begun(
    moment: &mut Moment<'_>,
    task: &TaskId,
    id: &DeliveryId,
    thread: &ThreadId,
    thread_n: u64,
    agent: Option<&StartedAgent>,
) -> Reply {
    let is_wanted = moment.facts.delivery.as_ref().is_some_and(|delivery| delivery.task == *task);
    if !is_wanted {
        return settled(moment, task, thread, agent);
    }
    moment.emit(Event::TaskBegun {
        task: task.clone(),
        delivery: id.clone(),
        thread: thread.clone(),
        thread_n,
        agent: agent.cloned().map(Box::new),
    });
    Reply::Done
}

/// A thread was told.
pub fn delivered(moment: &mut Moment<'_>, id: &DeliveryId) -> Reply {
    let Some(delivery) = moment.facts.delivery.clone() else { return Reply::Unchanged };
    moment.emit(Event::DeliveryDone { delivery: id.clone(), task: delivery.task, dropped: None });
    Reply::Done
}

/// It cannot be carried out: a task that could not be handed out waits, with the reason.
pub fn failed(moment: &mut Moment<'_>, id: &DeliveryId, reason: &Arc<str>) -> Reply {
    let Some(delivery) = moment.facts.delivery.clone() else { return Reply::Unchanged };
    if delivery.kind.hands_out() {
        moment.emit(Event::StartFailed { task: delivery.task, delivery: id.clone(), reason: reason.clone() });
    } else {
        let dropped = Some(reason.clone());
        moment.emit(Event::DeliveryDone { delivery: id.clone(), task: delivery.task, dropped });
    }
    Reply::Done
}

/// An agent's turn is over. If it has not said that its task is done, the task is blocked, with what it reported: never silently done.
pub fn ended(
    moment: &mut Moment<'_>,
    id: &TaskId,
    thread: &ThreadId,
    attempt: u32,
    reason: &str,
    report: &Arc<str>,
) -> Reply {
    let Some(task) = moment.facts.tasks.get(id).cloned() else { return Reply::Unchanged };
    let is_its = task.thread.as_ref() == Some(thread) && task.attempt == attempt;
    if task.status != Status::InProgress || !is_its {
        return Reply::Unchanged;
    }
    let result = (!report.trim().is_empty()).then(|| report.clone());
    status::block(moment, &task, reason.into(), result);
    Reply::Done
}

/// The delivery is settled already: in the same way, where two processes have carried it out, or because the task was taken back meanwhile.
/// A thread that existed is then told so; one that was made for the task is the asker's to stop.
fn settled(moment: &mut Moment<'_>, id: &TaskId, thread: &ThreadId, agent: Option<&StartedAgent>) -> Reply {
    let is_its = moment.facts.tasks.get(id).is_some_and(|task| task.thread.as_ref() == Some(thread));
    if is_its {
        return Reply::Unchanged;
    }
    if agent.is_none() {
        moment.tell(Some(thread), id, Notice::Withdrawn);
    }
    Reply::Unwanted
}
