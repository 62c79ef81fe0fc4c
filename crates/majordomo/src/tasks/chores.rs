//! What follows from a board and is done elsewhere: tasks are handed to agents, agents are told what concerns them, and a task whose agent
//! has ended without completing it is blocked.
//!
//! All of it is in the board until it is confirmed there. Any process may do it, and doing it twice does no harm: a thread is created under a
//! name that the board or its root gave out, and an input arrives under the name of its delivery.

use std::sync::Arc;

use agent::{Event, InputId, Outcome, Outside, Report, Strength, ThreadId};
use board::words::{self, Passing, Style};
use board::{
    Actor, Board, BoardId, Budget, Command, Delivery, DeliveryId, DeliveryKind, NewAgent, Notice, Reply, Request,
    StartedAgent, Task,
};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use runtime::{Clock, RunLimits};
use store::{DeliveryQuery, DueDelivery, RestingQuery, RestingTask, Selection, ThreadRow, replay_until};

use super::tools::UPDATE;
use super::{GENERAL, TaskBoard, path_of};
use crate::staff::{Error, TaskThread};
use crate::work::Work;
use crate::worker::{Chores, Worker};

/// Deliveries and tasks that are looked at in one go.
const AT_ONCE: usize = 64;

/// How often one root is gone on with for one task: each time, another process that had done so must have died.
const ADOPTIONS: usize = 3;

/// The preset whose words are used for its threads.
const LACE: &str = "lace";

/// Which tasks a process takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of all boards.
    All,
    /// Those of one board.
    Board(BoardId),
}

/// The chores of tasks.
pub struct TaskChores {
    scope: Scope,
    labels: Vec<Arc<str>>,
}

impl TaskChores {
    /// Takes the tasks of a scope; with labels, only those that have one of them.
    pub fn new(scope: Scope, labels: Vec<Arc<str>>) -> Self {
        Self { scope, labels }
    }
}

impl Chores for TaskChores {
    fn perform<'a>(&'a self, worker: &'a Worker) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let board = match &self.scope {
                Scope::All => None,
                Scope::Board(board) => Some(board.clone()),
            };
            settle_all(worker, board.clone()).await?;
            let due = DeliveryQuery { board, at: now(), limit: AT_ONCE };
            carry_out_all(worker, worker.store().claim_deliveries(due).await?).await;
            self.take(worker).await
        }
        .boxed()
    }
}

impl TaskChores {
    fn is_mine(&self, board: &BoardId) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Board(mine) => mine == board,
        }
    }

    /// Hands out tasks, as many as there is room for here and places on their boards.
    async fn take(&self, worker: &Worker) -> Result<(), Error> {
        for board in worker.store().runnable_boards().await? {
            let room = u32::try_from(worker.room().await?).unwrap_or(u32::MAX).min(AT_ONCE as u32);
            if room == 0 {
                return Ok(());
            }
            if !self.is_mine(&board.id) {
                continue;
            }
            // Where its folder cannot be worked in, one task says so.
            let (most, room) = match worker.staff_for(path_of(&board.folder)).await {
                Ok(staff) => (staff.config().tasks.max_concurrent, room),
                Err(_) => (u32::MAX, 1),
            };
            let fresh = fresh(worker, room).await?;
            let take = Command::Take { room, most, labels: self.labels.clone(), fresh };
            let desk = desk(worker, &board);
            let take = Request::new(Actor::System, None, desk.folder().clone(), take);
            if let Ok(Reply::Taken(taken)) = desk.request(take, now(), true).await {
                let due = taken.into_iter().map(|delivery| DueDelivery { board: board.clone(), delivery });
                carry_out_all(worker, due.collect()).await;
            }
        }
        Ok(())
    }
}

/// Names for new roots that no thread has.
async fn fresh(worker: &Worker, many: u32) -> Result<Vec<ThreadId>, Error> {
    let day = jiff::Timestamp::from_millisecond(now().0).unwrap_or_default().strftime("%Y%m%d").to_string();
    let mut names = Vec::new();
    while names.len() < many as usize {
        let name = ThreadId::new(format!("{day}-{}", runtime::short_name()));
        if worker.store().thread(&name).await?.is_none() && !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Carries out deliveries beside each other: one of them may have to wait for another process.
async fn carry_out_all(worker: &Worker, due: Vec<DueDelivery>) {
    join_all(due.into_iter().map(|due| async move {
        let DueDelivery { board, delivery } = due;
        if let Err(error) = carry_out(worker, &board, &delivery).await {
            // It stays in the board, and comes back when its lease is over.
            tracing::warn!(board = %board.id, task = %delivery.task, %error, "what follows from a task waits");
        }
    }))
    .await;
}

async fn carry_out(worker: &Worker, board: &Board, delivery: &Delivery) -> Result<(), Error> {
    let desk = desk(worker, board);
    let Some(task) = worker.store().task(&board.id, &delivery.task).await? else {
        return settle_as_failed(&desk, &delivery.id, "the task is gone").await;
    };
    let done = match &delivery.kind {
        DeliveryKind::Start { thread, under, new } => {
            start(worker, board, (&task, delivery), (thread.as_ref(), under.as_ref()), new).await
        }
        DeliveryKind::Assign { to } => assign(worker, board, &task, delivery, to).await,
        DeliveryKind::Tell { to, notice } => tell(worker, board, &task, delivery, (to, notice)).await,
    };
    match done {
        Ok(command) => {
            let reply = ask(&desk, command).await?;
            match (&reply, &delivery.kind) {
                (Reply::Unwanted, DeliveryKind::Start { .. }) => stop_unwanted(worker, board, delivery).await,
                (Reply::Unwanted, DeliveryKind::Assign { to }) => {
                    let input = InputId::new(format!("{}/withdrawn", delivery.id.input(&board.id).0));
                    let row = row_of(worker, to).await?;
                    let text = words::notice(&task, &Notice::Withdrawn, style(&row), row.mode);
                    notify(worker, board, to, input, text, false).await
                }
                _ => Ok(()),
            }
        }
        // The process goes away, or the store will do later what it cannot do now.
        Err(Error::Closed | Error::Runtime(runtime::Error::Left)) => Ok(()),
        // The process that drives the creator does not answer now: it is asked again when the lease is over.
        Err(Error::Runtime(runtime::Error::Unanswered(_))) => Ok(()),
        Err(Error::Runtime(runtime::Error::Store(error))) if error.is_passing() => Err(error.into()),
        // Its recipient is there, and its folder or its settings can be put right: it is tried again when its lease is over.
        Err(error) if matches!(delivery.kind, DeliveryKind::Tell { .. }) && !is_unknown_thread(&error) => Err(error),
        Err(error) => settle_as_failed(&desk, &delivery.id, &error.to_string()).await,
    }
}

/// Whether an error says that a thread does not exist, or not any more.
fn is_unknown_thread(error: &Error) -> bool {
    matches!(error, Error::Runtime(runtime::Error::Store(store::Error::UnknownThread(_))))
}

/// Makes a thread for a task. Its first message is the task.
async fn start(
    worker: &Worker,
    board: &Board,
    (task, delivery): (&Task, &Delivery),
    (thread, under): (Option<&ThreadId>, Option<&ThreadId>),
    new: &NewAgent,
) -> Result<Command, Error> {
    let staff = worker.staff_for(path_of(&board.folder)).await?;
    let id = match (thread, under) {
        (Some(thread), _) => thread.clone(),
        (None, Some(root)) => issue_child(worker, root, delivery.id.input(&board.id)).await?,
        (None, None) => return Err(Error::Setting("the task names no thread and no root".to_owned())),
    };
    let agent = new.agent.as_deref().unwrap_or(GENERAL);
    let model = match &new.model {
        Some(model) => model.to_string(),
        None => staff.assign(&Work::new("").agent(agent))?.model,
    };
    let name = format!("{agent}-{}", task.id);
    let (provider, of_provider) = model.split_once('/').unwrap_or(("", &model));
    let started = StartedAgent {
        name: name.as_str().into(),
        provider: provider.into(),
        model: of_provider.into(),
        parent: id.parent().unwrap_or_else(|| id.clone()),
    };
    // Before it is started, for it may act on its task at once.
    let named = (task.id.clone(), delivery.id.clone(), id.clone());
    let named = Command::Name { task: named.0, delivery: named.1, thread: named.2, agent: Some(started) };
    if ask(&desk(worker, board), named).await? == Reply::Unwanted {
        return Ok(Command::Delivered { delivery: delivery.id.clone() });
    }
    let style = if staff.config().preset == LACE { Style::Lace } else { Style::Own };
    let mode = task.mode.map(|mode| mode.meet(staff.config().mode));
    let reader = mode.unwrap_or(staff.config().mode);
    staff
        .start_for_task(TaskThread {
            id: id.clone(),
            agent: Some(agent.to_owned()),
            model: Some(model),
            name: Some(name),
            prompt: words::assignment(task, style, reader),
            workspace: Some(path_of(&board.folder).to_owned()),
            mode,
            limits: limits(task),
            created_for: store::full_name(&board.id, &task.id),
            extra_tools: vec![UPDATE.into()],
            foreign: words::are_untrusted(task, reader),
        })
        .await?;
    Ok(Command::Begun { task: task.id.clone(), delivery: delivery.id.clone(), thread: id, thread_n: 0 })
}

/// The name of a new thread below a root. A root that a notice had woken in a process that is gone goes on here first: it is a worker's, and
/// no person will resume it. One whose process does not answer in time is left for later.
async fn issue_child(worker: &Worker, root: &ThreadId, input: InputId) -> Result<ThreadId, Error> {
    let staff = worker.staff_of(root).await?;
    for _ in 0..ADOPTIONS {
        match staff.runtime().issue_child(root, input.clone()).await {
            Err(runtime::Error::Interrupted(_)) if worker.adopt_woken(root).await? => {}
            issued => return Ok(issued?),
        }
    }
    Ok(staff.runtime().issue_child(root, input).await?)
}

/// Hands a task to a thread that exists. A thread that may do more than the agent that made the task, or that chose the assignee, does not get
/// it: the task's words would have that thread's permissions.
async fn assign(
    worker: &Worker,
    board: &Board,
    task: &Task,
    delivery: &Delivery,
    to: &ThreadId,
) -> Result<Command, Error> {
    let row = row_of(worker, to).await?;
    if let Some(most) = task.mode.filter(|most| row.mode.meet(*most) != row.mode) {
        return Err(Error::Setting(format!(
            "{to} works in mode {}, and the agent that wanted this may work in mode {most} at most: assign it to new:AGENT, \
             or say it to {to} yourself with `majordomo send`",
            row.mode
        )));
    }
    let (named, id, thread) = (task.id.clone(), delivery.id.clone(), to.clone());
    let named = Command::Name { task: named, delivery: id, thread, agent: None };
    if ask(&desk(worker, board), named).await? == Reply::Unwanted {
        return Ok(Command::Delivered { delivery: delivery.id.clone() });
    }
    let input = delivery.id.input(&board.id);
    assignment(worker, board, task, &row, input.clone()).await?;
    // It has arrived: this answers where.
    let arrived = worker.store().arrive(to, input, Outside::said(""), now(), false).await?;
    let (task, delivery) = (task.id.clone(), delivery.id.clone());
    Ok(Command::Begun { task, delivery, thread: to.clone(), thread_n: arrived.n })
}

/// Tells a thread something, unless it may do more than the agent whose words they are, and would be asked about none of what they lead to.
async fn tell(
    worker: &Worker,
    board: &Board,
    task: &Task,
    delivery: &Delivery,
    (to, notice): (&ThreadId, &Notice),
) -> Result<Command, Error> {
    let row = row_of(worker, to).await?;
    let passing = words::passing(task, notice, row.mode);
    if passing == Passing::LeftOut && matches!(notice, Notice::Noted { .. }) {
        let reason = "its author may do less than the agent that it is for, and a person can read it".into();
        return Ok(Command::Failed { delivery: delivery.id.clone(), reason });
    }
    let text = words::notice(task, notice, style(&row), row.mode);
    let foreign = passing == Passing::Untrusted || words::are_untrusted(task, row.mode);
    notify(worker, board, to, delivery.id.input(&board.id), text, foreign).await?;
    Ok(Command::Delivered { delivery: delivery.id.clone() })
}

/// Tells a thread its task. The run that this begins may spend what the task may.
async fn assignment(worker: &Worker, board: &Board, task: &Task, to: &ThreadRow, input: InputId) -> Result<(), Error> {
    let text = words::assignment(task, style(to), to.mode);
    // It says by this verb that it is done, also where its agent was started without it.
    let tools = vec![UPDATE.into()];
    let notice =
        runtime::Notice { most: limits(task), tools, ..said(board, text, words::are_untrusted(task, to.mode)) };
    Ok(worker.staff_of(&to.id).await?.runtime().notify(&to.id, input, notice).await?)
}

/// What the run of an agent may spend on a task: what the task says, and never more than its thread may by itself.
fn limits(task: &Task) -> RunLimits {
    let Budget { max_tool_calls, max_tokens, max_cost_microusd, timeout_ms } = task.budget;
    RunLimits { tool_calls: max_tool_calls, tokens: max_tokens, cost_microusd: max_cost_microusd, time_ms: timeout_ms }
}

async fn notify(
    worker: &Worker,
    board: &Board,
    to: &ThreadId,
    input: InputId,
    text: String,
    foreign: bool,
) -> Result<(), Error> {
    Ok(worker.staff_of(to).await?.runtime().notify(to, input, said(board, text, foreign)).await?)
}

fn said(board: &Board, text: String, foreign: bool) -> runtime::Notice {
    runtime::Notice { foreign, ..runtime::Notice::new(format!("board {}", board.id), text) }
}

/// The words of the preset that a thread was started with.
fn style(row: &ThreadRow) -> Style {
    if &*row.preset == LACE { Style::Lace } else { Style::Own }
}

async fn row_of(worker: &Worker, thread: &ThreadId) -> Result<ThreadRow, Error> {
    let row = worker.store().thread(thread).await?;
    Ok(row.ok_or_else(|| store::Error::UnknownThread(thread.as_str().into()))?)
}

/// Looks at all tasks whose thread rests, page by page: those that cannot be settled now do not stand before the others.
async fn settle_all(worker: &Worker, board: Option<BoardId>) -> Result<(), Error> {
    let mut query = RestingQuery { board, after: None, limit: AT_ONCE };
    loop {
        let page = worker.store().resting_tasks(query.clone()).await?;
        let is_last = page.len() < AT_ONCE;
        query.after = page.last().map(|last| (last.board.id.clone(), last.task.id.clone()));
        for resting in page {
            let (board, task) = (resting.board.id.clone(), resting.task.id.clone());
            if let Err(error) = settle(worker, resting).await {
                // The folder of one may be gone; the others go on all the same.
                tracing::warn!(%board, %task, %error, "the task is left as it is");
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

/// A task whose thread rests: its agent has ended its turn, or has not begun with it.
async fn settle(worker: &Worker, resting: RestingTask) -> Result<(), Error> {
    let RestingTask { board, task, thread_exists } = resting;
    let Some(thread) = task.thread.clone() else { return Ok(()) };
    let desk = desk(worker, &board);
    let (reason, report, foreign): (Arc<str>, Arc<str>, bool) = if thread_exists {
        let after = Selection::thread(&thread).after(task.thread_n);
        let mut last = None;
        let see = |record: store::Record| {
            if let Event::Reported(report) = &*record.event {
                last = Some((**report).clone());
            }
            std::ops::ControlFlow::<()>::Continue(())
        };
        replay_until(&**worker.store(), after, see).await?;
        match last {
            Some(report) => (ended(&report).into(), report.text, report.foreign),
            // The process that was to begin the turn is gone: it is begun here.
            None => return begin_again(worker, &board, &task, &thread).await,
        }
    } else {
        (format!("its thread {thread} was deleted").into(), "".into(), false)
    };
    let attempt = task.attempt;
    let ended = Command::Ended { task: task.id, thread, attempt, reason, report };
    let most_wakes = match worker.staff_for(path_of(&board.folder)).await {
        Ok(staff) => staff.config().tasks.max_wakes,
        Err(_) => board::MOST_WAKES,
    };
    answered(desk.request(Request { foreign, most_wakes, ..system(&desk, ended) }, now(), false).await)?;
    Ok(())
}

async fn begin_again(worker: &Worker, board: &Board, task: &Task, thread: &ThreadId) -> Result<(), Error> {
    let Some(delivery) = &task.begun_by else { return Ok(()) };
    assignment(worker, board, task, &row_of(worker, thread).await?, delivery.input(&board.id)).await
}

/// How an agent's turn ended, for the task that it did not complete.
fn ended(report: &Report) -> String {
    match (report.outcome, &report.reason) {
        (Outcome::Completed, _) => "its agent ended without completing it".to_owned(),
        (outcome, Some(reason)) => format!("its agent ended ({outcome}): {reason}"),
        (outcome, None) => format!("its agent ended ({outcome})"),
    }
}

/// Stops the thread that was made for a task which was taken back meanwhile.
async fn stop_unwanted(worker: &Worker, board: &Board, delivery: &Delivery) -> Result<(), Error> {
    let DeliveryKind::Start { thread, under, .. } = &delivery.kind else { return Ok(()) };
    let staff = worker.staff_for(path_of(&board.folder)).await?;
    let thread = match (thread, under) {
        (Some(thread), _) => thread.clone(),
        (None, Some(root)) => issue_child(worker, root, delivery.id.input(&board.id)).await?,
        (None, None) => return Ok(()),
    };
    match staff.runtime().stop(&thread, Strength::Cancel, "its task was taken back").await {
        Ok(()) | Err(runtime::Error::Idle(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn settle_as_failed(desk: &TaskBoard, delivery: &DeliveryId, reason: &str) -> Result<(), Error> {
    ask(desk, Command::Failed { delivery: delivery.clone(), reason: reason.into() }).await?;
    Ok(())
}

async fn ask(desk: &TaskBoard, command: Command) -> Result<Reply, Error> {
    answered(desk.request(system(desk, command), now(), false).await)
}

fn system(desk: &TaskBoard, command: Command) -> Request {
    Request::new(Actor::System, None, desk.folder().clone(), command)
}

fn answered(reply: Result<Reply, super::Error>) -> Result<Reply, Error> {
    match reply {
        Ok(reply) => Ok(reply),
        Err(super::Error::Store(error)) => Err(error.into()),
        Err(super::Error::Refused(refusal)) => Err(Error::Setting(refusal.to_string())),
    }
}

fn desk(worker: &Worker, board: &Board) -> TaskBoard {
    TaskBoard::new(worker.store().clone(), board.id.clone(), board.folder.clone())
}

fn now() -> agent::Time {
    Clock::default().now()
}
