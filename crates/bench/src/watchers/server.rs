//! The process that is followed: a real server on a real log, which grows on command.
//!
//! It writes the log itself, as a server does whose agents run. It answers each line on stdin with a line on stdout, and ends
//! with its stdin.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use majordomo::agent::ThreadId;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::runtime::Clock;
use majordomo::store::{Process, Store};
use majordomo::view::{Dialect, FRAMES_PER_EVENT, Lines};
use majordomo::{Staff, follow};
use serde::{Deserialize, Serialize};
use server::Server;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::Instant;

use super::{EVENTS_A_SECOND, Past};
use crate::gauge::{self, Gauge};
use crate::long_thread::LongThread;

const THREAD: &str = "20260115-watch";

/// Where a server can be reached, and with which words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Door {
    /// The address.
    pub addr: std::net::SocketAddr,
    /// The head of a request without its end.
    pub head: String,
}

/// The moments at which something could be read, each with the number of the last frame that it brought.
pub type Moments = Vec<(u64, u64)>;

/// Starts the server, and carries out the commands that come on its input.
pub async fn serve(past: &Past) -> anyhow::Result<()> {
    gauge::raise_file_limit()?;
    let staff = staff(past).await?;
    let (store, clock) = (staff.runtime().store().clone(), staff.runtime().clock().clone());
    let id = ThreadId::new(THREAD);
    let mut chronicle = match past.follows {
        true => None,
        false => Some(LongThread::begin(store.clone(), Process::current().id, id, clock.now()).await?),
    };
    while let Some(written) = chronicle.as_mut().filter(|written| written.n < past.events) {
        written.lap(clock.now()).await?;
    }
    let options = server::Options {
        addr: "127.0.0.1:0".parse()?,
        names: Vec::new(),
        password: None,
        data: past.data.clone(),
        page: None,
    };
    let server = Server::bind(staff, options).await?;
    let token = std::fs::read_to_string(past.data.join("server.token"))?;
    let token = token.lines().next().context("the server has a token")?;
    let addr = server.addr();
    let head =
        format!("GET /api/v1/threads/{THREAD}/events HTTP/1.1\r\nHost: {addr}\r\nAuthorization: Bearer {token}\r\n");
    tokio::spawn(server.open(std::future::pending()));
    println!("{}", serde_json::to_string(&Door { addr, head })?);
    let gauge = Gauge::begin();
    let mut told = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = told.next_line().await? {
        let said = match line.split_once(' ') {
            None if line == "gauge" => serde_json::to_string(&gauge.end()?)?,
            None if line == "frames" => serde_json::to_string(&frames(store.clone()).await?)?,
            Some(("write", seconds)) => {
                let chronicle = chronicle.as_mut().context("another process writes")?;
                serde_json::to_string(&write(chronicle, &clock, seconds.parse()?).await?)?
            }
            _ => bail!("unknown command '{line}'"),
        };
        println!("{said}");
    }
    Ok(())
}

async fn staff(past: &Past) -> anyhow::Result<Staff> {
    let data = &past.data;
    let machine = past.machine.iter().map(|name| ("MAJORDOMO_STORE_MACHINE".to_owned(), name.clone()));
    let surroundings =
        Surroundings { cwd: data.clone(), home: Some(data.clone()), env: machine.collect(), ..Surroundings::default() };
    let flags = Flags { data: Some(data.display().to_string()), store: past.store.clone(), ..Flags::default() };
    let config = Config::load(&surroundings, &flags)?;
    Ok(Staff::open(&surroundings, config, majordomo::Options::default()).await?)
}

/// Writes at an even pace for so long; when each event was kept.
async fn write(chronicle: &mut LongThread, clock: &Clock, seconds: u64) -> anyhow::Result<Moments> {
    let (begun, first) = (Instant::now(), chronicle.n);
    let mut moments = Vec::new();
    while chronicle.n - first < seconds * EVENTS_A_SECOND {
        let due = Duration::from_millis((chronicle.n - first) * 1000 / EVENTS_A_SECOND);
        tokio::time::sleep_until(begun + due).await;
        let kept = chronicle.lap(clock.now()).await?;
        moments.push(((kept.seq + 1) * FRAMES_PER_EVENT - 1, gauge::moment_ns()));
    }
    Ok(moments)
}

/// The numbers of all frames, from the log itself.
async fn frames(store: Arc<dyn Store>) -> anyhow::Result<Vec<u64>> {
    let root = ThreadId::new(THREAD);
    let mut lines = Lines::new(root.clone(), Dialect::default(), 0);
    let records = majordomo::store::read_all(&*store, majordomo::store::Selection::tree(&root)).await?;
    Ok(records.iter().flat_map(|record| lines.push(&follow::logged(record))).map(|line| line.id).collect())
}
