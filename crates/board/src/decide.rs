//! A request and facts go in, events and a reply come out. What each command means is in one file each.

mod add;
mod assign;
mod edit;
mod performed;
mod status;
mod take;

use std::sync::Arc;

use agent::{ThreadId, Time};

use crate::command::{Command, Reply, Request};
use crate::delivery::{Delivery, DeliveryId, DeliveryKind, Notice};
use crate::event::{Entry, Event};
use crate::facts::Facts;
use crate::id::{Actor, TaskId};
use crate::refusal::Refusal;
use crate::task::Task;

/// The longest title and the longest other text, in characters.
const LONGEST: (usize, usize) = (500, 200_000);

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happened, in order; nothing where all was so already.
    pub events: Vec<Entry>,
    /// The answer.
    pub reply: Reply,
}

/// Decides on a request. The facts are those that [`Facts::gather`] finds for it.
pub fn handle(request: &Request, facts: Facts, now: Time) -> Result<Step, Refusal> {
    if let Some(earlier) = &facts.earlier {
        return Ok(Step { events: Vec::new(), reply: request.command.earlier_reply(earlier) });
    }
    let mut moment = Moment { request, facts, now, events: Vec::new() };
    if let Some(task) = request.command.task() {
        performed::begun_by_acting(&mut moment, task);
    }
    let reply = decide(&mut moment, &request.command)?;
    // Whatever the words became, a note, a reason or a result: who reads the task later reads them.
    if request.foreign
        && !moment.events.is_empty()
        && let Some(task) = request.command.worded()
        && moment.facts.tasks.get(task).is_some_and(|task| !task.foreign)
    {
        moment.emit(Event::TaskMarkedForeign { task: task.clone() });
    }
    let is_kept = !matches!(request.command, Command::Remove { .. });
    if request.by == Actor::Human
        && !moment.events.is_empty()
        && let Some(task) = request.command.task()
        && moment.facts.tasks.get(task).is_some_and(|task| is_kept && task.wakes > 0)
    {
        moment.emit(Event::TaskAttended { task: task.clone() });
    }
    let entry = |event| Entry { by: request.by.clone(), command: request.name.clone(), event };
    Ok(Step { events: moment.events.into_iter().map(entry).collect(), reply })
}

/// What a command leads to. A refusal leaves nothing behind: the events of its request are dropped with it.
fn decide(moment: &mut Moment<'_>, command: &Command) -> Result<Reply, Refusal> {
    Ok(match command {
        Command::Add { tasks } => add::add(moment, tasks)?,
        Command::Assign { task, to } => assign::assign(moment, task, to.as_ref())?,
        Command::Note { task, text } => edit::note(moment, task, text)?,
        Command::Edit { task, edit } => edit::edit(moment, task, edit)?,
        Command::Set { task, change, note } => status::set(moment, task, change, note.as_deref())?,
        Command::Remove { task } => status::remove(moment, task)?,
        Command::Take { room, most, fresh, .. } => take::take(moment, *room, *most, fresh),
        Command::Name { task, delivery: _, thread, agent } => performed::named(moment, task, thread, agent.as_ref()),
        Command::Begun { task, delivery, thread, thread_n } => {
            performed::begun(moment, task, delivery, thread, *thread_n)
        }
        Command::Delivered { delivery } => performed::delivered(moment, delivery),
        Command::Failed { delivery, reason } => performed::failed(moment, delivery, reason),
        Command::Ended { task, thread, attempt, reason, report } => {
            performed::ended(moment, task, thread, *attempt, reason, report)
        }
        Command::Update { task, update } => {
            let mut reply = Reply::Unchanged;
            for part in update.parts(task) {
                if decide(moment, &part)? != Reply::Unchanged {
                    reply = Reply::Done;
                }
            }
            reply
        }
    })
}

/// A board at the moment of one request.
struct Moment<'a> {
    request: &'a Request,
    facts: Facts,
    now: Time,
    events: Vec<Event>,
}

impl Moment<'_> {
    /// Something happened. Later decisions of the same request see it.
    fn emit(&mut self, event: Event) {
        if self.facts.board.n == 0 && self.events.is_empty() {
            let opened = Event::BoardOpened { folder: self.request.folder.clone() };
            self.facts.board.apply(&opened);
            self.events.push(opened);
        }
        self.facts.board.apply(&event);
        if let Some(task) = Task::added(self.now, &event) {
            self.facts.tasks.insert(task.id.clone(), task);
        } else if let Some(task) = event.task().and_then(|task| self.facts.tasks.get_mut(task)) {
            task.apply(self.now, &event);
        }
        self.events.push(event);
    }

    fn by(&self) -> &Actor {
        &self.request.by
    }

    /// A task that a command names.
    fn task(&self, task: &TaskId) -> Result<Task, Refusal> {
        let unknown =
            || Refusal::usage(format!("there is no task {task} on this board; `task ls` and task_list show them"));
        self.facts.tasks.get(task).cloned().ok_or_else(unknown)
    }

    /// Whether the one who asks may change a task: an agent may change tasks of its own family alone.
    fn may_change(&self, task: &Task) -> Result<(), Refusal> {
        let Some(asker) = self.by().thread() else { return Ok(()) };
        let root = asker.root();
        let is_of_family = |thread: Option<&ThreadId>| thread.is_some_and(|thread| thread.root() == root);
        if is_of_family(task.created_by.thread()) || is_of_family(task.thread.as_ref()) {
            return Ok(());
        }
        let (id, creator) = (&task.id, &task.created_by);
        Err(Refusal::state(format!("{id} was made by {creator} and is not yours: only a note can be added to it")))
    }

    /// A new delivery's name.
    fn next_delivery(&self) -> DeliveryId {
        DeliveryId::of(self.facts.board.deliveries + 1)
    }

    /// Has a thread told something, unless it is the one that did it.
    fn tell(&mut self, to: Option<&ThreadId>, task: &TaskId, notice: Notice) {
        let Some(to) = to.filter(|to| self.by().thread() != Some(to)) else { return };
        // These can be said again and again. The others come once for each time that the task is handed out, which is limited.
        if matches!(notice, Notice::Noted { .. } | Notice::Blocked { .. }) && self.is_used_up(task) {
            return;
        }
        let kind = DeliveryKind::Tell { to: to.clone(), notice };
        let delivery = Delivery { id: self.next_delivery(), task: task.clone(), kind };
        let counts = self.counts();
        self.emit(Event::Told { delivery: Box::new(delivery), counts });
    }

    /// Whether what happens counts among what agents do to each other.
    fn counts(&self) -> bool {
        *self.by() != Actor::Human
    }

    /// Whether agents have done to each other over a task what they may do without a person.
    fn is_used_up(&self, task: &TaskId) -> bool {
        let wakes = self.facts.tasks.get(task).map_or(0, |task| task.wakes);
        self.counts() && wakes >= self.request.most_wakes
    }

    /// Refuses to let agents give a task to each other without end: nothing else would stop them, for each of their turns has a grant of
    /// its own.
    fn may_go_on(&self, task: &Task) -> Result<(), Refusal> {
        if !self.is_used_up(&task.id) {
            return Ok(());
        }
        let (id, wakes, most) = (&task.id, task.wakes, self.request.most_wakes);
        Err(Refusal::state(format!(
            "agents have woken each other {wakes} times over {id} since a person last acted on it (tasks.max_wakes is {most}): say in a note \
             what is left; a person goes on from there"
        )))
    }

    /// Has the creator of a task told something, unless it works on the task itself.
    fn tell_creator(&mut self, task: &Task, notice: Notice) {
        let creator = task.created_by.thread().filter(|creator| task.thread.as_ref() != Some(creator));
        self.tell(creator, &task.id, notice);
    }

    /// What was to bring the task to its assignee need not be carried out any more.
    fn call_back(&mut self, task: &Task, why: &str) {
        if let Some(delivery) = task.handing_out.clone() {
            let dropped = Some(why.into());
            self.emit(Event::DeliveryDone { delivery, task: task.id.clone(), dropped });
        }
    }
}

/// One line, in which nothing can hide.
fn title(text: &str) -> Result<Arc<str>, Refusal> {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\0', "\u{FFFD}");
    match line.chars().count() {
        0 => Err(Refusal::usage("a task needs a title")),
        long if long > LONGEST.0 => Err(Refusal::usage(format!(
            "a title is one line of at most {} characters, this one has {long}: put the rest into the prompt",
            LONGEST.0
        ))),
        _ => Ok(line.into()),
    }
}

/// A longer text.
fn text(what: &str, text: &str) -> Result<Arc<str>, Refusal> {
    let long = text.chars().count();
    if long > LONGEST.1 {
        return Err(Refusal::usage(format!("{what} has at most {} characters, this one has {long}", LONGEST.1)));
    }
    Ok(text.replace('\0', "\u{FFFD}").into())
}
