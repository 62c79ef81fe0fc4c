//! A thousand clients that follow one running family: whether each gets every frame once and in order, how long after it was stored,
//! and what that costs the server, compared with a bare broadcast of the same bytes. Then two hundred of them stop reading.
//!
//! The server and the broadcast are processes of their own (`server.rs`, `broadcast.rs`); the clients are in this one, whose work
//! is not counted but is done by the same cores.

mod broadcast;
mod clients;
mod server;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};
use clap::Args;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

pub use broadcast::serve as serve_broadcast;
pub use server::serve as serve_events;

use crate::figure::Figure;
use crate::gauge::{self, Taken};
use crate::processes::this_program;
use clients::Crowd;
use server::{Door, Moments};

const WATCHERS: usize = 1000;
/// Of whom so many stand still later.
const STALLED: usize = 200;
const EVENTS_A_SECOND: u64 = 50;
/// For how long everybody is watched.
const SECONDS: u64 = 20;
/// For how long some stand still: until what the system holds for them is full, and then as long as a server waits for them.
const STALLED_SECONDS: u64 = 30;

/// A server's folder, and how much was written before it opened.
#[derive(Clone, Debug, Args)]
pub struct Past {
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    events: u64,
    /// The address of a database, instead of a store in that folder
    #[arg(long)]
    store: Option<String>,
    /// The name of its machine among those that use the database
    #[arg(long)]
    machine: Option<String>,
    /// Write nothing: another process does
    #[arg(long)]
    follows: bool,
}

/// What a server sent.
#[derive(Clone, Debug, Args)]
pub struct Recorded {
    #[arg(long)]
    batches: PathBuf,
}

/// How all of them fared.
pub struct Watched {
    joined_ms: f64,
    join_peak_mb: f64,
    per_watcher_kb: f64,
    flushes_a_second: f64,
    lags: Vec<u64>,
    cpu_us: u64,
    broadcast_lags: Vec<u64>,
    broadcast_cpu_us: u64,
    stalled_lags: Vec<u64>,
    left: usize,
    cut_off: usize,
    memory_kb: [u64; 2],
}

/// Takes the measurement.
pub async fn measure(folder: &Path, past: u64) -> anyhow::Result<Watched> {
    gauge::raise_file_limit()?;
    std::fs::create_dir(folder)?;
    let (folder_arg, past_arg) = (folder.display().to_string(), past.to_string());
    let mut server = Served::start(&["serve-events", "--data", &folder_arg, "--events", &past_arg]).await?;
    let alone: Taken = server.ask("gauge").await?;
    let frames: Vec<u64> = server.ask("frames").await?;

    let begun = gauge::moment_ns();
    let mut crowd = Crowd::join(&server.door, WATCHERS, STALLED).await?;
    let joined = crowd.until(newest(&frames)?, WATCHERS).await?;
    let joined_ms = (joined - begun) as f64 / 1e6;
    let join_peak_mb = gauge::status_kb(&server.pid, "VmHWM")? as f64 / 1024.0;
    crowd.forget_batches();

    let (before, flushes) = (server.ask::<Taken>("gauge").await?, crowd.flushes(WATCHERS));
    let moments: Moments = server.ask(&format!("write {SECONDS}")).await?;
    crowd.until(newest(&server.ask::<Vec<u64>>("frames").await?)?, WATCHERS).await?;
    let after: Taken = server.ask("gauge").await?;
    let flushes_a_second = (crowd.flushes(WATCHERS) - flushes) / SECONDS as f64;
    let lags = crowd.lags(&moments, WATCHERS);
    let batches = crowd.batches();

    let sockets = gauge::open_sockets(&server.pid)?;
    crowd.stand_still(WATCHERS - STALLED);
    let moments: Moments = server.ask(&format!("write {STALLED_SECONDS}")).await?;
    let frames: Vec<u64> = server.ask("frames").await?;
    crowd.until(newest(&frames)?, WATCHERS - STALLED).await?;
    let stalled_lags = crowd.lags(&moments, WATCHERS - STALLED);
    let left = gauge::open_sockets(&server.pid)? + STALLED - sockets;
    let relieved: Taken = server.ask("gauge").await?;
    let cut_off = crowd.go_on(WATCHERS - STALLED).await?;
    crowd.until(newest(&frames)?, WATCHERS).await?;
    crowd.check(&frames)?;
    drop((crowd, server));

    let (broadcast_lags, broadcast_cpu_us) = broadcast(folder, &batches).await?;
    Ok(Watched {
        joined_ms,
        join_peak_mb,
        per_watcher_kb: after.resident_kb.saturating_sub(alone.resident_kb) as f64 / WATCHERS as f64,
        flushes_a_second,
        lags,
        cpu_us: after.cpu_us - before.cpu_us,
        broadcast_lags,
        broadcast_cpu_us,
        stalled_lags,
        left,
        cut_off,
        memory_kb: [relieved.resident_kb, after.resident_kb],
    })
}

/// Clients of one server follow what another process writes: how long each event takes to each of them.
pub async fn measure_across(folder: &Path, store: &str, clients: usize) -> anyhow::Result<Figure> {
    gauge::raise_file_limit()?;
    let [one, other] = ["one", "other"].map(|name| folder.join(name));
    for data in [&one, &other] {
        std::fs::create_dir_all(data)?;
    }
    let [one, other] = [one, other].map(|data| data.display().to_string());
    let writer = ["serve-events", "--store", store, "--data", &one, "--machine", "one", "--events", "100"];
    let mut writer = Served::start(&writer).await?;
    let server =
        ["serve-events", "--store", store, "--data", &other, "--machine", "other", "--events", "0", "--follows"];
    let server = Served::start(&server).await?;
    let crowd = Crowd::join(&server.door, clients, 0).await?;
    crowd.until(newest(&writer.ask::<Vec<u64>>("frames").await?)?, clients).await?;
    let moments: Moments = writer.ask(&format!("write {SECONDS}")).await?;
    let frames: Vec<u64> = writer.ask("frames").await?;
    crowd.until(newest(&frames)?, clients).await?;
    crowd.check(&frames)?;
    let lags = crowd.lags(&moments, clients);
    let spread = format!("median {:.0}, maximum {:.0}", ms(&lags, 50), ms(&lags, 100));
    let name = format!(
        "{clients} clients of a server, {EVENTS_A_SECOND} events per second by another process: commit to read, 99th percentile ({spread})"
    );
    Ok(Figure { name, ours: ms(&lags, 99), beside: None, unit: "ms", most: 150.0, aim: 100.0 })
}

/// The same batches to as many clients, without a server.
async fn broadcast(folder: &Path, batches: &[(u64, String)]) -> anyhow::Result<(Vec<u64>, u64)> {
    let file = folder.join("batches.json");
    std::fs::write(&file, serde_json::to_vec(batches)?)?;
    let mut bare = Served::start(&["serve-broadcast", "--batches", &file.display().to_string()]).await?;
    let crowd = Crowd::join(&bare.door, WATCHERS, 0).await?;
    while bare.ask::<usize>("listeners").await? < WATCHERS {
        tokio::task::yield_now().await;
    }
    let before: Taken = bare.ask("gauge").await?;
    let moments: Moments = bare.ask("play").await?;
    crowd.until(moments.last().context("nothing was played")?.0, WATCHERS).await?;
    let after: Taken = bare.ask("gauge").await?;
    let text: String = batches.iter().map(|(_, text)| &**text).collect();
    let frames = text.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok());
    crowd.check(&frames.collect::<Vec<u64>>())?;
    Ok((crowd.lags(&moments, WATCHERS), after.cpu_us - before.cpu_us))
}

impl Watched {
    /// What of it is held against bounds.
    pub fn figures(&self, past: u64) -> Vec<Figure> {
        let alone = |name: String, ours: f64, unit: &'static str, most: f64, aim: f64| Figure {
            name,
            ours,
            beside: None,
            unit,
            most,
            aim,
        };
        let spread = |lags: &[u64]| format!("median {:.0}, maximum {:.0}", ms(lags, 50), ms(lags, 100));
        let who = format!("{WATCHERS} clients, {EVENTS_A_SECOND} events per second");
        let (peak, bare) = (self.join_peak_mb, ms(&self.broadcast_lags, 99));
        let seconds = SECONDS as f64 * 1000.0;
        let [relieved, full] = self.memory_kb.map(|size| size as f64 / 1024.0);
        vec![
            alone(
                format!(
                    "{WATCHERS} clients connect at once to a thread of {past} events: until the last one has all events (memory at most {peak:.0} MB)"
                ),
                self.joined_ms,
                "ms",
                4000.0,
                2000.0,
            ),
            alone(
                format!("{who}: commit to read, 99th percentile ({}; plain broadcast {bare:.0})", spread(&self.lags)),
                ms(&self.lags, 99),
                "ms",
                250.0,
                100.0,
            ),
            Figure {
                name: format!("{who}: CPU per second, compared with a plain broadcast"),
                ours: self.cpu_us as f64 / seconds,
                beside: Some(self.broadcast_cpu_us as f64 / seconds),
                unit: "ms",
                most: 2.0,
                aim: 1.5,
            },
            alone(format!("{who}: memory per client"), self.per_watcher_kb, "KB", 64.0, 32.0),
            alone(format!("{who}: writes per client and second"), self.flushes_a_second, "", 20.0, 20.0),
            alone(
                format!(
                    "{STALLED} clients stop reading: commit to read of the others, 99th percentile ({})",
                    spread(&self.stalled_lags)
                ),
                ms(&self.stalled_lags, 99),
                "ms",
                250.0,
                100.0,
            ),
            alone(
                format!("… not disconnected after {STALLED_SECONDS} s (resumed without a gap: {})", self.cut_off),
                self.left as f64,
                "",
                0.0,
                0.0,
            ),
            Figure {
                name: "… memory of the server after that, compared with before".to_owned(),
                ours: relieved,
                beside: Some(full),
                unit: "MB",
                most: 1.1,
                aim: 1.0,
            },
        ]
    }
}

/// A share of sorted lags, in milliseconds.
fn ms(lags: &[u64], percent: usize) -> f64 {
    let at = (lags.len() * percent / 100).min(lags.len().saturating_sub(1));
    lags.get(at).copied().unwrap_or(0) as f64 / 1000.0
}

fn newest(frames: &[u64]) -> anyhow::Result<u64> {
    frames.last().copied().context("the log is empty")
}

/// This program as a server that does as it is told, for as long as this is held.
struct Served {
    door: Door,
    pid: String,
    stdin: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl Served {
    async fn start(args: &[&str]) -> anyhow::Result<Self> {
        let mut process = this_program()?.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pid = process.id().context("it has ended already")?.to_string();
        let stdin = process.stdin.take().context("it can be told something")?;
        let mut said = BufReader::new(process.stdout.take().context("it can say something")?).lines();
        let door = said.next_line().await?.with_context(|| format!("{} said nothing", args.join(" ")))?;
        Ok(Self { door: serde_json::from_str(&door)?, pid, stdin, said, _process: process })
    }

    async fn ask<T: DeserializeOwned>(&mut self, what: &str) -> anyhow::Result<T> {
        self.stdin.write_all(format!("{what}\n").as_bytes()).await?;
        let said = self.said.next_line().await?;
        ensure!(said.is_some(), "it ended instead of saying '{what}'");
        Ok(serde_json::from_str(&said.unwrap_or_default())?)
    }
}
