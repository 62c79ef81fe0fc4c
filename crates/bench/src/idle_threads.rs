//! A database full of idle threads: what a page of the list costs, and whether the other threads cost anything.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use majordomo::agent::{Event, ThreadId, Time, creation};
use majordomo::store::{Commit, Process, Store, ThreadQuery};

use crate::gauge::{Gauge, Taken};
use crate::{Keep, Log, setup};

/// Commits that stand in line at once.
const AT_ONCE: usize = 512;

/// No request is sent to this address.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Writes `count` roots that were never spoken to.
pub async fn write(log: &Log) -> anyhow::Result<Taken> {
    write_to(setup::store(Keep::Normal, &log.database)?, log.count).await
}

/// The same to a store that is open.
pub async fn write_to(store: Arc<dyn Store>, count: usize) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let process = Process::current();
    let owner = process.id.clone();
    store.register(process, Time(0)).await?;
    let catalog = setup::catalog();
    let mut line = FuturesUnordered::new();
    for number in 0..count {
        let id = ThreadId::new(format!("20260115-{number:07}"));
        let created =
            creation::root(&catalog, setup::root(id.clone(), 1), setup::model()).map_err(anyhow::Error::msg)?;
        let events = vec![Event::ThreadCreated(Box::new(created))];
        let commit = Commit {
            thread: id,
            expected: 0,
            epoch: 1,
            process: owner.clone(),
            at: Time(0),
            events: events.into_iter().map(Arc::new).collect(),
            lets_go: false,
        };
        line.push(store.append(commit));
        if line.len() == AT_ONCE
            && let Some(kept) = line.next().await
        {
            kept?;
        }
    }
    while let Some(kept) = line.next().await {
        kept?;
    }
    store.leave(&owner).await?;
    gauge.end()
}

/// Opens the database as a server would, and lists a page. The time is the page's alone, the memory all of it.
pub async fn measure(log: &Log) -> anyhow::Result<Taken> {
    measure_in(setup::store(Keep::Full, &log.database)?, log.count).await
}

/// The same of a store that is open.
pub async fn measure_in(store: Arc<dyn Store>, count: usize) -> anyhow::Result<Taken> {
    let (runtime, _) = setup::open(NOWHERE, store).await?;
    let gauge = Gauge::begin();
    let query = ThreadQuery { root_only: true, limit: 20, ..ThreadQuery::default() };
    let page = runtime.store().threads(query).await?;
    let taken = gauge.end()?;
    anyhow::ensure!(page.len() == count.min(20), "the page holds {} threads", page.len());
    runtime.leave().await;
    Ok(taken)
}
