//! `majordomo ps`: what runs, as a tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent::ThreadId;
use majordomo::config::Flags;
use majordomo::staff::open_store;
use serde_json::Value;
use store::{Store, ThreadQuery};
use view::draw::{self, Look, Marks};
use view::{Node, Tree};

use super::{configured, thread};
use crate::error::Failure;
use crate::follow::{Follower, logged};
use crate::out;

/// The most live threads that are looked at.
const MOST: usize = 10_000;

/// `majordomo ps`.
pub async fn ps(flags: &Flags, json: bool, watch: bool) -> Result<u8, Failure> {
    let (_, config) = configured(flags)?;
    let store: Arc<dyn Store> = Arc::new(open_store(&config)?);
    let mut result = out::Result::Stdout;
    let mut tail = store.tail();
    loop {
        tail.borrow_and_update();
        let now = runtime::Clock::default().now();
        let rows = store.threads(ThreadQuery { live_only: true, limit: MOST, ..ThreadQuery::default() }).await?;
        if json {
            let rows: Vec<Value> = rows.iter().map(|row| thread::object(row, now)).collect();
            result.line(&Value::from(rows).to_string())?;
            return Ok(0);
        }
        let left: BTreeSet<ThreadId> =
            rows.iter().filter(|row| thread::word(row, now) == "interrupted").map(|row| row.root.clone()).collect();
        let roots: BTreeSet<ThreadId> = rows.iter().map(|row| row.root.clone()).collect();
        let mut nodes = Vec::new();
        for root in &roots {
            nodes.extend(tree(&store, root).await?);
        }
        let marks = if out::is_fancy(false) { Marks::Unicode } else { Marks::Ascii };
        for line in draw::tree(&nodes, &Look { now, width: out::width(), marks }) {
            if !result.line(&line)? {
                return Ok(0);
            }
        }
        for root in &left {
            out::note(&format!("{root} was left by its process; go on with: majordomo thread resume {root}"));
        }
        if nodes.is_empty() {
            out::note("nothing runs");
        }
        if !watch || roots.len() == left.len() {
            return Ok(0);
        }
        result.line("")?;
        // A picture a second is enough for a person.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        if tail.changed().await.is_err() {
            return Ok(0);
        }
    }
}

async fn tree(store: &Arc<dyn Store>, root: &ThreadId) -> Result<Vec<Node>, Failure> {
    let mut tree = Tree::new();
    for record in Follower::new(store.clone(), root.clone()).read_all().await? {
        tree.push(&logged(&record));
    }
    Ok(tree.roots())
}
