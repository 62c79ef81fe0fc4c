//! A task is given to an assignee.

use agent::ThreadId;

use super::Moment;
use crate::assignee::Assignee;
use crate::command::Reply;
use crate::delivery::Notice;
use crate::event::Event;
use crate::id::{Actor, TaskId};
use crate::refusal::Refusal;
use crate::task::Status;

pub fn assign(moment: &mut Moment<'_>, id: &TaskId, to: Option<&Assignee>) -> Result<Reply, Refusal> {
    let task = moment.task(id)?;
    moment.may_change(&task)?;
    if let Some(to) = to {
        allowed(moment, to)?;
    }
    match task.status {
        Status::Completed | Status::Archived => {
            return Err(Refusal::state(format!("{id} is {}: reopen it before it is assigned", task.status)));
        }
        Status::Pending | Status::InProgress | Status::Blocked => {}
    }
    let is_same = task.assignee.as_ref() == to && task.reason.is_none() && task.status != Status::Blocked;
    if is_same {
        return Ok(Reply::Unchanged);
    }
    moment.may_go_on(&task)?;
    moment.call_back(&task, "the task was assigned anew");
    let new_thread = to.and_then(thread);
    if (task.status == Status::InProgress || task.may_have_reached_its_thread()) && task.thread != new_thread {
        let to = to.map_or_else(|| "no assignee".to_owned(), ToString::to_string);
        moment.tell(task.thread.as_ref(), id, Notice::Reassigned { to: to.into() });
    }
    moment.emit(Event::TaskAssigned {
        task: id.clone(),
        assignee: to.cloned(),
        thread: new_thread,
        mode: moment.request.mode,
        counts: moment.counts(),
    });
    Ok(Reply::Done)
}

/// The thread that an assignee is, where that is known.
pub fn thread(assignee: &Assignee) -> Option<ThreadId> {
    match assignee {
        Assignee::Thread(thread) => Some(thread.clone()),
        Assignee::Human | Assignee::Agent(_) | Assignee::New(_) => None,
    }
}

/// An agent is made for a person or under the thread of another agent. The program by itself has neither (LACE-3).
pub fn allowed(moment: &Moment<'_>, assignee: &Assignee) -> Result<(), Refusal> {
    match (moment.by(), assignee) {
        (Actor::System, Assignee::New(_) | Assignee::Agent(_)) => {
            Err(Refusal::state("No session context for agent creation"))
        }
        _ => Ok(()),
    }
}
