//! A large board and many idle agents: what a page of its tasks costs, what it costs to move a task, how long it takes to wake an agent, and
//! whether a running `majordomo work` holds anything of it in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use majordomo::agent::policy::Lifecycle;
use majordomo::agent::{Event, ThreadId, Time, creation};
use majordomo::runtime::Said;
use majordomo::store::{Commit, Process, Store, TaskQuery, carry_out};
use majordomo::tasks::board::{Actor, BoardId, Command, Edit, NewTask, Reply, Request, TaskId};

use crate::cold_start::majordomo;
use crate::gauge::{self, Gauge, Taken};
use crate::{BoardSize, Keep, client, setup};

/// The board.
const BOARD: &str = "bench";
/// Tasks that are added with one command.
const AT_ONCE: usize = 10_000;
/// Commits that stand in line at once.
const IN_LINE: usize = 512;
/// Tasks of a page.
const PAGE: usize = 200;
/// How often a task is moved.
pub const MOVES: usize = 300;
/// No request is sent to this address.
const NOWHERE: &str = "http://127.0.0.1:9";
/// How long a worker is left alone before it is looked at.
const AT_REST: Duration = Duration::from_secs(5);

/// Writes tasks that wait for a person, and agents of tasks that are idle.
pub async fn write(size: &BoardSize) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let store = setup::store(Keep::Normal, &size.database)?;
    let mut left = size.tasks;
    while left > 0 {
        let many = left.min(AT_ONCE);
        let tasks = (0..many).map(|n| NewTask::titled(format!("Task {}", left - n))).collect();
        ask(&*store, Command::Add { tasks }).await?;
        left -= many;
    }
    write_agents(&store, size.agents).await?;
    gauge.end()
}

async fn write_agents(store: &Arc<dyn Store>, agents: usize) -> anyhow::Result<()> {
    let process = Process::current();
    let owner = process.id.clone();
    store.register(process, Time(0)).await?;
    let catalog = setup::catalog();
    let mut line = FuturesUnordered::new();
    for number in 0..agents {
        let id = agent(number);
        let mut created =
            creation::root(&catalog, setup::root(id.clone(), 1), setup::model()).map_err(anyhow::Error::msg)?;
        created.lifecycle = Lifecycle::Persistent;
        created.created_for = Some(format!("{BOARD}/t{}", number + 1).into());
        let events = vec![Arc::new(Event::ThreadCreated(Box::new(created)))];
        let (thread, process) = (id, owner.clone());
        line.push(store.append(Commit { thread, expected: 0, epoch: 1, process, at: Time(0), events, lets_go: false }));
        if line.len() == IN_LINE
            && let Some(kept) = line.next().await
        {
            kept?;
        }
    }
    while let Some(kept) = line.next().await {
        kept?;
    }
    store.leave(&owner).await?;
    Ok(())
}

/// Lists a page of tasks.
pub async fn list(size: &BoardSize) -> anyhow::Result<Taken> {
    let store = setup::store(Keep::Full, &size.database)?;
    let gauge = Gauge::begin();
    let page = store.tasks(TaskQuery { limit: PAGE, ..TaskQuery::of(&BoardId::new(BOARD)) }).await?;
    let taken = gauge.end()?;
    ensure!(page.len() == size.tasks.min(PAGE), "the page holds {} tasks", page.len());
    Ok(taken)
}

/// Moves tasks to other places, one after another.
pub async fn move_tasks(size: &BoardSize) -> anyhow::Result<Taken> {
    let store = setup::store(Keep::Normal, &size.database)?;
    // Another round has other ranks: a task that stays where it is costs nothing.
    let above = i64::try_from(gauge::moment_ns())?;
    let gauge = Gauge::begin();
    for n in 0..MOVES {
        // Spread over the board, and each time to a place where it was not before.
        let task = TaskId::of((n * 7919 % size.tasks) as u64 + 1);
        let edit = Edit { rank: Some(above + n as i64 * 31 + 1), ..Edit::default() };
        let reply = ask(&*store, Command::Edit { task, edit }).await?;
        ensure!(reply == Reply::Done, "a task was not moved: {reply:?}");
    }
    gauge.end()
}

/// Speaks to an idle agent: the time until its model is asked.
pub async fn wake(size: &BoardSize) -> anyhow::Result<Taken> {
    let server = size.server.as_deref().unwrap_or(NOWHERE);
    let (runtime, _) = setup::open(server, setup::store(Keep::Full, &size.database)?).await?;
    let begun = gauge::moment_ns();
    runtime.say(&agent(size.agents / 2), Said::new("Say what is there.")).await?;
    let asked = client::client()?.get(format!("{server}/after/{begun}")).send().await?.text().await?;
    let asked: u64 = asked.parse().context("when the model was asked")?;
    runtime.leave().await;
    Ok(Taken { wall_us: (asked - begun) / 1000, ..Taken::default() })
}

/// Runs `majordomo task ls` to its end.
pub async fn list_by_program(data: &Path) -> anyhow::Result<u64> {
    let begun = gauge::moment_ns();
    let status = majordomo(data, &["task", "ls", "--board", BOARD])?.spawn()?.wait().await?;
    ensure!(status.success(), "majordomo ended with {status}");
    Ok((gauge::moment_ns() - begun) / 1000)
}

/// Memory of `majordomo work` that has nothing to do, in KB.
pub async fn worker_kb(data: &Path) -> anyhow::Result<u64> {
    let mut work = majordomo(data, &["work"])?.spawn()?;
    tokio::time::sleep(AT_REST).await;
    let pid = work.id().context("the worker has ended")?.to_string();
    let resident_kb = gauge::status_kb(&pid, "VmRSS")?;
    work.kill().await?;
    Ok(resident_kb)
}

fn agent(number: usize) -> ThreadId {
    ThreadId::new(format!("20260115-a{number:06}"))
}

async fn ask(store: &dyn Store, command: Command) -> anyhow::Result<Reply> {
    let request = Request::new(Actor::Human, None, "/".into(), command);
    Ok(carry_out(store, &BoardId::new(BOARD), request, Time(1_768_471_200_000), false).await??)
}
