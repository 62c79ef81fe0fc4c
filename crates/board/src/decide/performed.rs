//! What became of deliveries, and of the turns of agents that had a task.

use std::sync::Arc;

use agent::ThreadId;

use super::{Moment, status};
use crate::command::Reply;
use crate::delivery::DeliveryId;
use crate::event::{Event, StartedAgent};
use crate::id::TaskId;
use crate::task::Status;

/// The thread of a task is known.
pub fn named(moment: &mut Moment<'_>, id: &TaskId, thread: &ThreadId, agent: Option<&StartedAgent>) -> Reply {
    if !is_wanted(moment, id) {
        return settled(moment, id, thread);
    }
    let task = moment.facts.tasks.get(id);
    let is_known = task.is_some_and(|task| task.thread.as_ref() == Some(thread) && task.starting.as_deref() == agent);
    if is_known {
        return Reply::Unchanged;
    }
    let agent = agent.cloned().map(Box::new);
    moment.emit(Event::TaskNamed { task: id.clone(), thread: thread.clone(), agent });
    Reply::Done
}

/// An agent has its task.
pub fn begun(moment: &mut Moment<'_>, task: &TaskId, id: &DeliveryId, thread: &ThreadId, thread_n: u64) -> Reply {
    if !is_wanted(moment, task) {
        return settled(moment, task, thread);
    }
    begin(moment, task, id.clone(), thread.clone(), thread_n);
    Reply::Done
}

/// An agent that acts on its task has it, whether or not the process that brought it has said so yet.
pub fn begun_by_acting(moment: &mut Moment<'_>, id: &TaskId) {
    let Some(task) = moment.facts.tasks.get(id).cloned() else { return };
    if let (Some(delivery), Some(thread)) = (task.handing_out, task.thread)
        && moment.by().thread() == Some(&thread)
    {
        begin(moment, id, delivery, thread, 0);
    }
}

fn begin(moment: &mut Moment<'_>, id: &TaskId, delivery: DeliveryId, thread: ThreadId, thread_n: u64) {
    let agent = moment.facts.tasks.get(id).and_then(|task| task.starting.clone());
    moment.emit(Event::TaskBegun { task: id.clone(), delivery, thread, thread_n, agent });
}

fn is_wanted(moment: &Moment<'_>, task: &TaskId) -> bool {
    moment.facts.delivery.as_ref().is_some_and(|delivery| delivery.task == *task)
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
/// What was begun for it is the asker's to take back.
fn settled(moment: &Moment<'_>, id: &TaskId, thread: &ThreadId) -> Reply {
    let is_its = moment.facts.tasks.get(id).is_some_and(|task| task.thread.as_ref() == Some(thread));
    if is_its { Reply::Unchanged } else { Reply::Unwanted }
}
