//! Tasks are handed out, by priority, to as many agents as may work for the board at the same time.

use agent::ThreadId;

use super::Moment;
use crate::assignee::{Assignee, NewAgent};
use crate::command::Reply;
use crate::delivery::{Delivery, DeliveryKind};
use crate::event::Event;
use crate::task::Task;

pub fn take(moment: &mut Moment<'_>, room: u32, most: u32, fresh: &[ThreadId]) -> Reply {
    let mut left = room.min(most.saturating_sub(moment.facts.active));
    let mut fresh = fresh.iter();
    let mut taken = Vec::new();
    for id in moment.facts.queue.clone() {
        if left == 0 {
            break;
        }
        let Some(task) = moment.facts.tasks.get(&id).cloned() else { continue };
        let Some(kind) = kind(moment, &task, &mut fresh) else { continue };
        match (&kind, &task.assignee) {
            (DeliveryKind::Assign { to }, _) => {
                moment.facts.busy.insert(to.clone());
            }
            (DeliveryKind::Start { .. }, Some(Assignee::Agent(name))) => {
                moment.facts.starting.insert(name.clone());
            }
            (DeliveryKind::Start { .. } | DeliveryKind::Tell { .. }, _) => {}
        }
        let delivery = Delivery { id: moment.next_delivery(), task: id.clone(), kind };
        moment.emit(Event::TaskHandedOut { task: id, delivery: Box::new(delivery.clone()) });
        taken.push(delivery);
        left -= 1;
    }
    Reply::Taken(taken)
}

/// How a task gets to its agent; none where the agent has another task first.
fn kind<'a>(moment: &Moment<'_>, task: &Task, fresh: &mut impl Iterator<Item = &'a ThreadId>) -> Option<DeliveryKind> {
    let assign = |to: &ThreadId| (!moment.facts.busy.contains(to)).then(|| DeliveryKind::Assign { to: to.clone() });
    let mut start = |new: NewAgent| {
        let under = task.created_by.thread().map(ThreadId::root);
        let thread = match under {
            Some(_) => None,
            None => Some(fresh.next()?.clone()),
        };
        Some(DeliveryKind::Start { thread, under, new })
    };
    match (&task.thread, &task.assignee) {
        (Some(thread), _) => assign(thread),
        (None, Some(Assignee::Agent(name))) => match moment.facts.workers.get(name) {
            Some(worker) => assign(worker),
            // One that is on its way gets it when it is there.
            None if moment.facts.starting.contains(name) => None,
            None => start(NewAgent { agent: Some(name.clone()), model: None }),
        },
        (None, Some(Assignee::New(new))) => start(new.clone()),
        (None, Some(Assignee::Thread(thread))) => assign(thread),
        (None, None | Some(Assignee::Human)) => None,
    }
}
