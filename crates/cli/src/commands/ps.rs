//! `majordomo ps`: what runs, as a tree, with the names that `stop`, `steer` and `thread show` take.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use agent::{ThreadId, Time};
use majordomo::config::Flags;
use majordomo::follow::logged;
use majordomo::staff::open_store;
use majordomo::threads;
use serde_json::Value;
use store::{Follow, Living, Selection, Store, ThreadQuery, ThreadRow, follow};
use view::draw::{self, DrawOptions, Marks};
use view::{Node, Tree};

use super::configured;
use crate::error::Failure;
use crate::out;

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
        if json {
            let rows: Vec<Value> = rows.iter().map(|row| threads::object(row, &living)).collect();
            result.line(&Value::from(rows).to_string())?;
            return Ok(0);
        }
        let (running, left) = parted(&rows, &living);
        if is_news || shown.as_ref() != Some(&running) {
            families.retain(|root, _| running.contains(root));
            for line in picture(&store, &running, &mut families, now).await? {
                if !result.line(&line)? {
                    return Ok(0);
                }
            }
            for root in &left {
                out::note(&format!("{root} was interrupted; continue with: majordomo thread resume {root}"));
            }
            if running.is_empty() {
                out::note("nothing is running");
            }
            if watch && !running.is_empty() {
                result.line("")?;
            }
        }
        if !watch || running.is_empty() {
            return Ok(0);
        }
        shown = Some(running);
        tokio::time::sleep(PICTURE).await;
        is_news = match tokio::time::timeout(LOOK_AGAIN, tail.changed()).await {
            Ok(Ok(())) => true,
            Ok(Err(_)) => return Ok(0),
            Err(_) => false,
        };
    }
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
        nodes.extend(family.tree.roots().into_iter().map(named));
    }
    let stdout = std::io::stdout();
    let marks = if out::is_fancy(false, &stdout) { Marks::Unicode } else { Marks::Ascii };
    Ok(draw::tree(&nodes, &DrawOptions { now, width: out::width(&stdout), marks }))
}

/// A node under the shortest name that the other commands take, and the name that it goes by.
fn named(node: Node) -> Node {
    let id = node.id.as_str();
    let short = id.split_once('-').map_or(id, |(_, after_the_day)| after_the_day);
    let name = format!("{short} {}", node.name).into();
    Node { name, children: node.children.into_iter().map(named).collect(), ..node }
}
