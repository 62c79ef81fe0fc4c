//! How far a task is: worked on, done, blocked, open again, out of the way, gone.

use std::sync::Arc;

use agent::checks::{AfterFailure, after_failure, given_up};

use super::{Moment, edit, text};
use crate::assignee::Assignee;
use crate::command::{Change, Reply};
use crate::delivery::Notice;
use crate::event::Event;
use crate::id::{Actor, TaskId};
use crate::refusal::Refusal;
use crate::task::{Status, Task};

pub fn set(moment: &mut Moment<'_>, id: &TaskId, change: &Change, note: Option<&str>) -> Result<Reply, Refusal> {
    let task = moment.task(id)?;
    moment.may_change(&task)?;
    if task.status == Status::Archived && !matches!(change, Change::Reopened | Change::Archived) {
        return Err(Refusal::state(format!("{id} is archived: reopen it first")));
    }
    // The words come first, so that those who are told of the change are told the words, too.
    let noted = |moment: &mut Moment<'_>| note.map_or(Ok(()), |note| edit::keep_note(moment, id, note));
    match change {
        Change::InProgress => {
            if task.status == Status::InProgress {
                noted(moment)?;
                return Ok(if note.is_some() { Reply::Done } else { Reply::Unchanged });
            }
            can_begin(moment, &task)?;
            can_be_worked_on(&task)?;
            moment.may_go_on(&task)?;
            noted(moment)?;
            let counts = moment.counts();
            moment.emit(Event::TaskInProgress { task: id.clone(), counts });
        }
        Change::Completed { result } => return complete(moment, &task, result.as_deref(), note),
        // It was told often enough already.
        Change::ChecksFailed { .. } if task.status == Status::Blocked => return Ok(Reply::Unchanged),
        Change::ChecksFailed { what, most } => {
            can_complete(moment, &task)?;
            noted(moment)?;
            let what = text("the result of checks", what)?;
            moment.emit(Event::ChecksFailed { task: id.clone(), what: what.clone() });
            let times = task.failed_checks + 1;
            if after_failure(times, *most) == AfterFailure::GiveUp {
                block(moment, &task, given_up(times, &what).into(), None);
            }
        }
        Change::Blocked { reason } => {
            if task.status == Status::Completed {
                return Err(Refusal::state(format!("{id} is completed: reopen it first")));
            }
            let reason = text("a reason", reason)?;
            if task.status == Status::Blocked && task.reason.as_ref() == Some(&reason) {
                return Ok(Reply::Unchanged);
            }
            noted(moment)?;
            block(moment, &task, reason, None);
        }
        Change::Reopened => {
            if task.status == Status::Pending && task.reason.is_none() {
                return Ok(Reply::Unchanged);
            }
            if task.status == Status::InProgress {
                let who = task.assigned_to().unwrap_or_default();
                return Err(Refusal::state(format!("{id} is in progress at {who}; there is nothing to reopen")));
            }
            moment.may_go_on(&task)?;
            noted(moment)?;
            let counts = moment.counts();
            moment.emit(Event::TaskReopened { task: id.clone(), counts });
            if task.status == Status::Completed || was_completed(&task) {
                for later in dependents(moment, id) {
                    moment.emit(Event::DependencyOpened { task: later, on: id.clone() });
                }
            }
        }
        Change::Archived => {
            if task.status == Status::Archived {
                return Ok(Reply::Unchanged);
            }
            if task.status != Status::Completed {
                waited_for(moment, id, "archived")?;
            }
            noted(moment)?;
            withdraw(moment, &task);
            moment.emit(Event::TaskArchived { task: id.clone() });
        }
    }
    Ok(Reply::Done)
}

pub fn remove(moment: &mut Moment<'_>, id: &TaskId) -> Result<Reply, Refusal> {
    let task = moment.task(id)?;
    moment.may_change(&task)?;
    if task.is_active() {
        let who = task.assigned_to().unwrap_or_default();
        return Err(Refusal::state(format!("{id} is in progress at {who}: stop it or take it away first")));
    }
    if let Some(later) = dependents(moment, id).first() {
        return Err(Refusal::state(format!("{later} comes after {id}: archive {id} instead, or remove {later} first")));
    }
    moment.emit(Event::TaskRemoved { task: id.clone() });
    Ok(Reply::Done)
}

/// A task is blocked, and its creator is told.
pub fn block(moment: &mut Moment<'_>, task: &Task, reason: Arc<str>, result: Option<Arc<str>>) {
    withdraw(moment, task);
    moment.emit(Event::TaskBlocked { task: task.id.clone(), reason: reason.clone(), result });
    // What its own agent says of it is a report, as that of any sub-agent is.
    let is_report = moment.by().thread().is_none_or(|by| task.thread.as_ref() == Some(by));
    let mode = if is_report { None } else { moment.request.mode };
    moment.tell_creator(task, Notice::Blocked { reason, mode });
}

fn complete(moment: &mut Moment<'_>, task: &Task, result: Option<&str>, note: Option<&str>) -> Result<Reply, Refusal> {
    if task.status == Status::Completed && task.completed_by.as_ref() == Some(moment.by()) {
        return Ok(Reply::Unchanged);
    }
    can_complete(moment, task)?;
    if let Some(note) = note {
        edit::keep_note(moment, &task.id, note)?;
    }
    withdraw(moment, task);
    let result = result.map(|result| text("a result", result)).transpose()?;
    let by = moment.by().clone();
    moment.emit(Event::TaskCompleted { task: task.id.clone(), by, result });
    for later in dependents(moment, &task.id) {
        moment.emit(Event::DependencyClosed { task: later, on: task.id.clone() });
    }
    moment.tell_creator(task, Notice::Completed);
    Ok(Reply::Done)
}

/// Whether a task can be said to be done. A person may say so of a task that still waits; an agent has to do it first.
fn can_complete(moment: &Moment<'_>, task: &Task) -> Result<(), Refusal> {
    let id = &task.id;
    if task.status == Status::Completed {
        let by = task.completed_by.as_ref().map_or("", Actor::as_str);
        return Err(Refusal::state(format!("{id} is already completed, by {by}")));
    }
    can_begin(moment, task)
}

fn can_begin(moment: &Moment<'_>, task: &Task) -> Result<(), Refusal> {
    let id = &task.id;
    if task.status == Status::Completed {
        return Err(Refusal::state(format!("{id} is completed: reopen it first")));
    }
    if moment.by().thread().is_some() && task.open > 0 {
        let waits = task.waits_for().unwrap_or_default();
        return Err(Refusal::state(format!("{id} {waits}")));
    }
    Ok(())
}

/// A task of an agent is in progress when the agent has it: said before, it would take a place on the board and have no owner.
fn can_be_worked_on(task: &Task) -> Result<(), Refusal> {
    let is_agents = !matches!(task.assignee, None | Some(Assignee::Human));
    if task.handing_out.is_none() && (!is_agents || task.thread.is_some()) {
        return Ok(());
    }
    let (id, who) = (&task.id, task.assigned_to().unwrap_or_default());
    Err(Refusal::state(format!(
        "{id} is for {who} and is in progress as soon as that agent has it; to work on it yourself, assign it to human"
    )))
}

/// The agent that has the task is not to go on with it, where another says so.
fn withdraw(moment: &mut Moment<'_>, task: &Task) {
    moment.call_back(task, "the task is no longer to be handed out");
    let has_it = task.status == Status::InProgress && !matches!(task.assignee, None | Some(Assignee::Human));
    if (has_it || task.may_have_reached_its_thread()) && *moment.by() != Actor::System {
        moment.tell(task.thread.as_ref(), &task.id, Notice::Withdrawn);
    }
}

/// A task that others wait for cannot be put away before it is done: they would wait for ever.
fn waited_for(moment: &Moment<'_>, id: &TaskId, what: &str) -> Result<(), Refusal> {
    let waits = |later: &TaskId| {
        let status = moment.facts.tasks.get(later).map(|task| task.status);
        !matches!(status, None | Some(Status::Archived | Status::Completed))
    };
    match dependents(moment, id).iter().find(|later| waits(later)) {
        None => Ok(()),
        Some(later) => Err(Refusal::state(format!(
            "{later} waits for {id}, which would never be done if it is {what}: complete {id}, or let {later} come after another task"
        ))),
    }
}

fn dependents(moment: &Moment<'_>, id: &TaskId) -> Vec<TaskId> {
    moment.facts.dependents.get(id).cloned().unwrap_or_default()
}

/// Whether an archived task had been completed.
fn was_completed(task: &Task) -> bool {
    task.status == Status::Archived && task.completed_by.is_some()
}
