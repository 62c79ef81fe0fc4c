//! Tasks are made: all of a command, or none.

use std::collections::BTreeSet;

use super::{Moment, assign, text, title};
use crate::MOST_AT_ONCE;
use crate::command::{Dependency, NewTask, Reply};
use crate::event::Event;
use crate::id::{Actor, TaskId};
use crate::import;
use crate::refusal::Refusal;
use crate::task::{Status, Task};

/// So many tasks of a circle are named.
const NAMED: usize = 20;

/// The distance between two tasks' ranks: there is room to put others between them.
const RANKS: i64 = 1024;

pub fn add(moment: &mut Moment<'_>, tasks: &[NewTask]) -> Result<Reply, Refusal> {
    if tasks.is_empty() {
        return Err(Refusal::usage("there is no task to add"));
    }
    if tasks.len() > MOST_AT_ONCE {
        let many = tasks.len();
        return Err(Refusal::usage(format!("at most {MOST_AT_ONCE} tasks can be added at once, these are {many}")));
    }
    acyclic(tasks)?;
    let first = moment.facts.board.tasks;
    let mut made = Vec::with_capacity(tasks.len());
    for (place, new) in tasks.iter().enumerate() {
        let task = task(moment, new, first, place).map_err(|refusal| at(refusal, place, tasks))?;
        made.push(task);
    }
    let ids = made.iter().map(|task| task.id.clone()).collect();
    for task in made {
        moment.emit(Event::TaskAdded(Box::new(task)));
    }
    Ok(Reply::Added(ids))
}

fn task(moment: &Moment<'_>, new: &NewTask, first: u64, place: usize) -> Result<Task, Refusal> {
    let number = first + place as u64 + 1;
    let title = title(&new.title)?;
    let prompt = text("a prompt", &new.prompt)?;
    if let Some(assignee) = &new.assignee {
        assign::allowed(moment, assignee)?;
    }
    if moment.by().thread().is_some() && new.wakes >= moment.request.most_wakes {
        return Err(Refusal::state(format!(
            "in each of {} turns that a task's end has begun, tasks were added (tasks.max_wakes is {}): say in your answer what is left, and a \
             person goes on from there",
            new.wakes, moment.request.most_wakes
        )));
    }
    let (mut after, mut open) = (BTreeSet::new(), 0);
    for dependency in &new.after {
        let (id, is_open) = match dependency {
            Dependency::New(other) => (TaskId::of(first + *other as u64 + 1), true),
            Dependency::Task(id) => (id.clone(), is_open(moment, id)?),
        };
        if after.insert(id) {
            open += u32::from(is_open);
        }
    }
    Ok(Task {
        id: TaskId::of(number),
        prompt: if prompt.trim().is_empty() { title.clone() } else { prompt },
        title,
        priority: new.priority,
        status: Status::Pending,
        created_by: moment.by().clone(),
        thread: new.assignee.as_ref().and_then(assign::thread),
        assignee: new.assignee.clone(),
        after: after.into_iter().collect(),
        open,
        rank: i64::try_from(number).unwrap_or(i64::MAX / RANKS).saturating_mul(RANKS),
        due: new.due,
        labels: new.labels.clone(),
        budget: new.budget,
        checks: new.checks.clone(),
        foreign: new.foreign,
        imported: new.foreign && *moment.by() == Actor::Human,
        mode: new.mode,
        wakes: new.wakes,
        reason: None,
        result: None,
        completed_by: None,
        attempt: 0,
        handing_out: None,
        starting: None,
        begun_by: None,
        thread_n: 0,
        failed_checks: 0,
        note_count: 0,
        recent_notes: Vec::new(),
        created_at: moment.now,
        updated_at: moment.now,
    })
}

/// Whether a task that another is to come after is still to be done. One that is archived never will be.
pub fn is_open(moment: &Moment<'_>, id: &TaskId) -> Result<bool, Refusal> {
    match moment.task(id)?.status {
        Status::Archived => Err(Refusal::state(format!("{id} is archived: no task can come after it"))),
        Status::Completed => Ok(false),
        Status::Pending | Status::InProgress | Status::Blocked => Ok(true),
    }
}

/// Tasks of one command may depend on each other, but not in a circle.
fn acyclic(tasks: &[NewTask]) -> Result<(), Refusal> {
    let before = |place: usize| {
        tasks[place].after.iter().filter_map(|after| match after {
            Dependency::New(other) => Some(*other),
            Dependency::Task(_) => None,
        })
    };
    for (place, task) in tasks.iter().enumerate() {
        if let Some(other) = before(place).find(|other| *other >= tasks.len()) {
            let (title, last) = (&task.title, tasks.len());
            return Err(Refusal::usage(format!(
                "'{title}' comes after task {} of this list, which has {last}",
                other.saturating_add(1)
            )));
        }
    }
    // What comes before each is counted; what is left when nothing more can be taken away goes in a circle.
    let mut waiting: Vec<usize> = (0..tasks.len()).map(|place| before(place).collect::<BTreeSet<_>>().len()).collect();
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    for place in 0..tasks.len() {
        for other in before(place).collect::<BTreeSet<_>>() {
            behind[other].push(place);
        }
    }
    let mut free: Vec<usize> = (0..tasks.len()).filter(|place| waiting[*place] == 0).collect();
    let mut taken = 0;
    while let Some(place) = free.pop() {
        taken += 1;
        for later in &behind[place] {
            waiting[*later] -= 1;
            if waiting[*later] == 0 {
                free.push(*later);
            }
        }
    }
    if taken == tasks.len() {
        return Ok(());
    }
    // Each that is left waits for another that is left: from one to the next leads into the circle.
    let mut way: Vec<usize> = Vec::new();
    let mut next = (0..tasks.len()).find(|place| waiting[*place] > 0);
    while let Some(place) = next.filter(|place| !way.contains(place)) {
        way.push(place);
        next = before(place).find(|other| waiting[*other] > 0);
    }
    let start = way.iter().position(|place| Some(*place) == next).unwrap_or(0);
    let circle = &way[start..];
    let mut titles: Vec<String> = circle.iter().take(NAMED).map(|place| named(&tasks[*place])).collect();
    if circle.len() > NAMED {
        titles.push(format!("and {} more", circle.len() - NAMED));
    }
    Err(Refusal::usage(format!("these tasks wait for each other in a circle: {}", titles.join(", "))))
}

/// A task of a list, in an error.
fn named(task: &NewTask) -> String {
    match task.line {
        0 => format!("'{}'", task.title),
        line => format!("'{}' (line {line})", task.title),
    }
}

/// Says which of several it was.
fn at(refusal: Refusal, place: usize, tasks: &[NewTask]) -> Refusal {
    let line = tasks.get(place).map_or(0, |task| task.line);
    if line > 0 {
        return import::at(line, refusal);
    }
    if tasks.len() == 1 {
        return refusal;
    }
    Refusal { message: format!("task {} of {}: {}", place + 1, tasks.len(), refusal.message).into(), ..refusal }
}
