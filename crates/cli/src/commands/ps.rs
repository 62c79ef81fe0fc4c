//! `majordomo ps`: what runs, as a tree, with the names that `stop`, `steer` and `thread show` take.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use agent::{ThreadId, Time};
use majordomo::config::Flags;
use majordomo::follow::logged;
use majordomo::staff::open_store;
use majordomo::threads;
use serde_json::{Value, json};
use store::{CurrentTask, Follow, Living, Selection, Store, ThreadQuery, ThreadRow, WorkerRow, follow};
use view::draw::{self, DrawOptions, Marks};
use view::{Node, Tree, clock};

use super::configured;
use crate::error::Failure;
use crate::out;

/// The command whose processes are shown while they wait for work.
const WORK: &str = "work";
/// The most live threads that are looked at.
const MOST: usize = 10_000;
/// A picture in this time is enough for a person.
const PICTURE: Duration = Duration::from_secs(1);
/// After this long without anything new it is looked whether the processes are still there.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// `majordomo ps`.
pub async fn ps(flags: &Flags, json: bool, watch: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    let mut result = out::Result::Stdout;
    let mut tail = store.tail();
    let mut families = BTreeMap::new();
    let mut shown = None;
    let mut is_news = true;
    loop {
        tail.borrow_and_update();
        let now = runtime::Clock::default().now();
        let rows = store.threads(ThreadQuery { live_only: true, limit: MOST, ..ThreadQuery::default() }).await?;
        let living = store.living(now).await?;
        let mut workers = store.workers(now).await?;
        workers.retain(|worker| &*worker.command == WORK);
        if json {
            let rows = rows.iter().map(|row| threads::object(row, &living));
            let rows: Vec<Value> = rows.chain(workers.iter().map(object)).collect();
            result.line(&Value::from(rows).to_string())?;
            return Ok(0);
        }
        let (running, left) = parted(&rows, &living);
        let seen = (running.clone(), workers.iter().map(|worker| worker.process.id.clone()).collect::<Vec<_>>());
        if is_news || shown.as_ref() != Some(&seen) {
            families.retain(|root, _| running.contains(root));
            let working = rows.iter().filter_map(|row| Some((row.id.clone(), row.current_task.clone()?))).collect();
            for line in picture(&store, &running, &mut families, &working, now).await? {
                if !result.line(&line)? {
                    return Ok(0);
                }
            }
            for worker in &workers {
                if !result.line(&line(worker, now))? {
                    return Ok(0);
                }
            }
            for root in &left {
                out::note(&format!("{root} was interrupted; continue with: majordomo thread resume {root}"));
            }
            let is_idle = running.is_empty() && workers.is_empty();
            if is_idle {
                out::note("nothing is running");
            }
            if watch && !is_idle {
                result.line("")?;
            }
        }
        if !watch || running.is_empty() && workers.is_empty() {
            return Ok(0);
        }
        shown = Some(seen);
        tokio::time::sleep(PICTURE).await;
        is_news = match tokio::time::timeout(LOOK_AGAIN, tail.changed()).await {
            Ok(Ok(())) => true,
            Ok(Err(_)) => return Ok(0),
            Err(_) => false,
        };
    }
}

/// `majordomo ps --all`: every process of every machine that drives threads or waits for work.
pub async fn processes(flags: &Flags, json: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    let now = runtime::Clock::default().now();
    let rows = store.threads(ThreadQuery { live_only: true, limit: MOST, ..ThreadQuery::default() }).await?;
    let living = store.living(now).await?;
    let workers = store.workers(now).await?;
    let mut nodes: BTreeMap<String, ProcessShown> = BTreeMap::new();
    for worker in &workers {
        let known = nodes.entry(name_of(&worker.process)).or_default();
        known.is_alive = true;
        known.heard_at = known.heard_at.max(worker.heard_at);
        known.command = Some(worker.command.clone());
    }
    for row in &rows {
        let Some(owner) = &row.owner else { continue };
        let known = nodes.entry(name_of(&owner.process)).or_default();
        known.is_alive |= living.owns(row);
        known.heard_at = known.heard_at.max(Some(owner.beat_at));
        known.threads.push(row.id.clone());
    }
    store.close().await;
    let mut result = out::Result::Stdout;
    if json {
        let object = |(id, shown): (&String, &ProcessShown)| json!({ "id": id, "command": shown.command, "alive": shown.is_alive, "threads": shown.threads, "heard_at": shown.heard_at.map(|at| at.0) });
        result.line(&Value::from(nodes.iter().map(object).collect::<Vec<_>>()).to_string())?;
        return Ok(0);
    }
    for (id, shown) in &nodes {
        let command = shown.command.as_deref().map_or_else(String::new, |command| format!(" ({command})"));
        let state = if shown.is_alive { "" } else { ", and is gone" };
        let heard = shown
            .heard_at
            .map_or_else(String::new, |at| format!("; heard of {} ago", clock::duration(now.since_ms(at))));
        let driven: Vec<&str> = shown.threads.iter().map(ThreadId::as_str).collect();
        let drives = if driven.is_empty() { "nothing".to_owned() } else { driven.join(", ") };
        if !result.line(&format!("{id}{command}: drives {drives}{state}{heard}"))? {
            return Ok(0);
        }
    }
    if nodes.is_empty() {
        out::note("nothing is running");
    }
    Ok(0)
}

/// A process as it is shown.
#[derive(Default)]
struct ProcessShown {
    is_alive: bool,
    command: Option<Arc<str>>,
    heard_at: Option<Time>,
    threads: Vec<ThreadId>,
}

fn name_of(process: &store::Process) -> String {
    format!("process {} on {}", process.pid, process.host)
}

/// A process that works tasks, as a line. What it works on is in the tree above.
fn line(worker: &WorkerRow, now: Time) -> String {
    let WorkerRow { process, concurrency, labels, since, .. } = worker;
    let only = if labels.is_empty() { String::new() } else { format!(", only with label {}", labels.join(", ")) };
    let (pid, host) = (process.pid, &process.host);
    let age = clock::duration(now.since_ms(*since));
    format!("majordomo work (process {pid} on {host}): takes tasks, up to {concurrency} at a time{only}; for {age}")
}

/// A process that works tasks, for programs.
fn object(worker: &WorkerRow) -> Value {
    let WorkerRow { process, concurrency, labels, since, command, heard_at: _ } = worker;
    json!({
        "id": process.id,
        "kind": "worker",
        "command": command,
        "pid": process.pid,
        "host": process.host,
        "since": since.0,
        "labels": labels,
        "concurrency": concurrency,
    })
}

/// The roots that run, and those whose processes have gone.
fn parted(rows: &[ThreadRow], living: &Living) -> (BTreeSet<ThreadId>, BTreeSet<ThreadId>) {
    let of = |row: &ThreadRow| row.root.clone();
    let running: BTreeSet<ThreadId> = rows.iter().filter(|row| !threads::is_left(row, living)).map(of).collect();
    let left = rows.iter().map(of).filter(|root| !running.contains(root)).collect();
    (running, left)
}

/// What is known of a root and all its descendants. It is kept from picture to picture, so that no log is read twice.
struct Family {
    log: Follow,
    tree: Tree,
}

async fn picture(
    store: &Arc<dyn Store>,
    running: &BTreeSet<ThreadId>,
    families: &mut BTreeMap<ThreadId, Family>,
    working: &BTreeMap<ThreadId, CurrentTask>,
    now: Time,
) -> Result<Vec<String>, Failure> {
    let mut nodes = Vec::new();
    for root in running {
        let new = || Family { log: follow(store, Selection::tree(root)), tree: Tree::new() };
        let family = families.entry(root.clone()).or_insert_with(new);
        let mut page = family.log.ready().await?;
        while !page.is_empty() {
            page.iter().for_each(|record| family.tree.push(&logged(record)));
            page = family.log.ready().await?;
        }
        nodes.extend(family.tree.roots().into_iter().map(|node| named(node, working)));
    }
    let stdout = std::io::stdout();
    let marks = if out::is_fancy(false, &stdout) { Marks::Unicode } else { Marks::Ascii };
    Ok(draw::tree(&nodes, &DrawOptions { now, width: out::width(&stdout), marks }))
}

/// A node under the shortest name that the other commands take, and the name that it goes by. Where it works on a task, that is its goal.
fn named(node: Node, working: &BTreeMap<ThreadId, CurrentTask>) -> Node {
    let id = node.id.as_str();
    let short = id.split_once('-').map_or(id, |(_, after_the_day)| after_the_day);
    let name = format!("{short} {}", node.name).into();
    let task = working.get(&node.id).map(|task| format!("{}: {}", task.id, task.title).into());
    let children = node.children.into_iter().map(|child| named(child, working)).collect();
    Node { name, goal: task.or(node.goal), children, ..node }
}
