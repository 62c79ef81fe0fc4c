//! Fields of a task are changed, and remarks are made.

use std::collections::BTreeSet;

use super::{Moment, add, text, title};
use crate::command::{Edit, Reply};
use crate::delivery::Notice;
use crate::event::Event;
use crate::id::TaskId;
use crate::refusal::Refusal;
use crate::task::{Note, Status};

pub fn edit(moment: &mut Moment<'_>, id: &TaskId, edit: &Edit) -> Result<Reply, Refusal> {
    let task = moment.task(id)?;
    moment.may_change(&task)?;
    let mut edit = edit.clone();
    edit.title = edit.title.map(|words| title(&words)).transpose()?;
    edit.prompt = edit.prompt.map(|words| text("a prompt", &words)).transpose()?;
    let mut open = task.open;
    if let Some(after) = &mut edit.after {
        let set: BTreeSet<TaskId> = std::mem::take(after).into_iter().collect();
        open = 0;
        for before in &set {
            // One that the task comes after already may be archived since.
            let is_old = task.after.contains(before);
            let is_open = if is_old { is_undone(moment, before) } else { add::is_open(moment, before)? };
            open += u32::from(is_open);
            circle(moment, id, before)?;
        }
        *after = set.into_iter().collect();
    }
    let mut changed = task.clone();
    edit.apply(&mut changed);
    if changed == task {
        return Ok(Reply::Unchanged);
    }
    moment.emit(Event::TaskEdited { task: id.clone(), edit: Box::new(edit), open });
    Ok(Reply::Done)
}

pub fn note(moment: &mut Moment<'_>, id: &TaskId, words: &str) -> Result<Reply, Refusal> {
    let task = moment.task(id)?;
    keep_note(moment, id, words)?;
    let note = made(moment, words)?;
    // Those whom a finished task concerned are done with it.
    if matches!(task.status, Status::Pending | Status::InProgress | Status::Blocked) {
        let worker = task.thread.clone().filter(|_| task.attempt > 0);
        moment.tell(worker.as_ref(), id, Notice::Noted { note: note.clone() });
        moment.tell_creator(&task, Notice::Noted { note });
    }
    Ok(Reply::Done)
}

/// Keeps a remark without telling it to those concerned.
pub fn keep_note(moment: &mut Moment<'_>, id: &TaskId, words: &str) -> Result<(), Refusal> {
    if words.trim().is_empty() {
        return Err(Refusal::usage("a note needs words"));
    }
    let note = made(moment, words)?;
    moment.emit(Event::NoteAdded { task: id.clone(), note });
    Ok(())
}

fn made(moment: &Moment<'_>, words: &str) -> Result<Note, Refusal> {
    let mode = moment.by().thread().and(moment.request.mode);
    Ok(Note { by: moment.by().clone(), at: moment.now, content: text("a note", words)?, mode })
}

fn is_undone(moment: &Moment<'_>, id: &TaskId) -> bool {
    moment.facts.tasks.get(id).is_some_and(|task| task.completed_by.is_none())
}

/// Refuses a dependency that would close a circle, and shows the circle.
fn circle(moment: &Moment<'_>, id: &TaskId, before: &TaskId) -> Result<(), Refusal> {
    let mut way = vec![before.clone()];
    if !leads_to(moment, before, id, &mut BTreeSet::new(), &mut way) {
        return Ok(());
    }
    if way.len() == 1 {
        return Err(Refusal::usage(format!("{id} cannot come after itself")));
    }
    let way: Vec<&str> = way.iter().map(TaskId::as_str).collect();
    Err(Refusal::usage(format!(
        "{id} cannot come after {before}: {before} comes after {id} already ({})",
        way.join(" after ")
    )))
}

/// Whether what comes before `from`, near or far, is `to`; `way` is then the way there.
fn leads_to(
    moment: &Moment<'_>,
    from: &TaskId,
    to: &TaskId,
    seen: &mut BTreeSet<TaskId>,
    way: &mut Vec<TaskId>,
) -> bool {
    // Without recursion: a chain of tasks may be long.
    if from == to {
        return true;
    }
    let mut came_from: std::collections::BTreeMap<TaskId, TaskId> = std::collections::BTreeMap::new();
    let mut open = vec![from.clone()];
    while let Some(at) = open.pop() {
        if !seen.insert(at.clone()) {
            continue;
        }
        for before in moment.facts.tasks.get(&at).iter().flat_map(|task| &task.after) {
            came_from.entry(before.clone()).or_insert_with(|| at.clone());
            if before == to {
                let mut back = vec![to.clone()];
                let mut step = to;
                while let Some(previous) = came_from.get(step).filter(|_| step != from) {
                    back.push(previous.clone());
                    step = previous;
                }
                back.reverse();
                *way = back;
                return true;
            }
            open.push(before.clone());
        }
    }
    false
}
