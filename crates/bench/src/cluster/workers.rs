//! Workers on one database: many sub-agents that only workers may run, workers that have nothing to do, and a worker that is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use super::Database;
use crate::answer;
use crate::cold_start::{self, finish};
use crate::gauge;
use crate::processes::ModelServer;
use crate::program;

/// What a request takes.
const LATENCY_MS: u64 = 200;
/// Requests of a sub-agent.
const REQUESTS: usize = answer::CALLS + 1;
/// The label without which no process runs those sub-agents: the process of the parent has none.
const LABEL: &str = "bench";
/// How long a worker is left alone before it is looked at, and for how long it is.
const AT_REST: Duration = Duration::from_secs(4);
const LOOKED_AT: Duration = Duration::from_secs(20);
/// A worker that takes longer to begin has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often the database is asked whether a worker is there.
const LOOK: Duration = Duration::from_millis(20);

/// A folder from which processes of one machine are started.
pub struct Site {
    data: PathBuf,
    url: String,
}

impl Site {
    /// An empty one, whose processes ask this model.
    pub fn new(folder: &Path, server: &ModelServer) -> anyhow::Result<Self> {
        let data = folder.to_owned();
        program::write_workspace(&data)?;
        let agents = data.join(".config/majordomo/agents");
        fs::create_dir_all(&agents)?;
        let agent = format!(
            "---\nname: {}\ndescription: Lists the folders of a room.\nrequires: [{LABEL}]\ntools: [list_dir]\n---\n\
             You list the folders that you are told to list, and say what is there.\n",
            answer::LISTER
        );
        fs::write(agents.join(format!("{}.md", answer::LISTER)), agent)?;
        Ok(Self { data, url: format!("{}/v1", server.address) })
    }

    fn majordomo(&self, store: &str, args: &[&str]) -> anyhow::Result<Command> {
        let mut command = cold_start::majordomo(&self.data, args)?;
        command.env("MAJORDOMO_STORE", store).env("OPENAI_BASE_URL", &self.url);
        command.current_dir(program::workspace(&self.data)).stderr(Stdio::null());
        Ok(command)
    }

    /// A worker, once others know of it.
    async fn worker(&self, database: &Database<'_>, concurrency: usize) -> anyhow::Result<Child> {
        let count = concurrency.to_string();
        let model = ["--set", "models.\"openai/bench\".context_tokens=100000000"];
        let args = [&["work", "--concurrency", &count, "--label", LABEL], &model[..]].concat();
        let worker = self.majordomo(&database.address, &args)?.spawn()?;
        let pid = worker.id().context("the worker has ended")?;
        let known = format!(
            "SELECT count(*) FROM majordomo.workers w JOIN majordomo.processes p ON p.key = w.process WHERE p.pid = {pid}"
        );
        let begun = Instant::now();
        while database.sql(&known) == "0" {
            ensure!(begun.elapsed() < PATIENCE, "the worker does not begin");
            sleep(LOOK).await;
        }
        Ok(worker)
    }

    fn run(&self, database: &Database<'_>, prompt: &str, children: usize) -> anyhow::Result<Child> {
        let count = children.to_string();
        let calls = format!("policy.max_calls_per_answer={count}");
        let mut args =
            vec!["run", prompt, "--model", "openai/bench", "--max-children", &count, "--max-concurrent", &count];
        args.extend(["--max-tokens", "unlimited", "--max-requests", "unlimited", "--quiet", "--set", &calls]);
        args.extend(["--set", "models.\"openai/bench\".context_tokens=100000000"]);
        Ok(self.majordomo(&database.address, &args)?.spawn()?)
    }
}

/// How long a root with so many sub-agents takes over so many workers, from its start to its end, in microseconds.
pub async fn fan_out(
    folder: &Path,
    database: &Database<'_>,
    children: usize,
    workers: usize,
    concurrency: usize,
) -> anyhow::Result<u64> {
    let server = ModelServer::start(&["--latency-ms", &LATENCY_MS.to_string()]).await?;
    let site = Site::new(folder, &server)?;
    let mut running = Vec::new();
    for _ in 0..workers {
        running.push(site.worker(database, concurrency).await?);
    }
    let begun = Instant::now();
    let mut run = site.run(database, &answer::send_prompt(children), children)?;
    finish(&mut run).await?;
    let wall_us = u64::try_from(begun.elapsed().as_micros())?;
    let done = "SELECT count(*) FROM majordomo.threads WHERE parent IS NOT NULL AND outcome = 'completed'";
    ensure!(database.sql(done) == children.to_string(), "{} sub-agents completed", database.sql(done));
    Ok(wall_us)
}

/// How long the same takes where nothing takes time but the model: the root asks twice, and in between the sub-agents ask in rounds, as
/// many at a time as all workers together run.
pub fn ideal_us(children: usize, at_once: usize) -> u64 {
    let rounds = children.div_ceil(at_once) * REQUESTS + 2;
    rounds as u64 * LATENCY_MS * 1000
}

/// What a worker does that has nothing to do, each second: statements that it sends, and microseconds of CPU time.
pub async fn idle(folder: &Path, database: &Database<'_>) -> anyhow::Result<(f64, f64)> {
    let server = ModelServer::start(&[]).await?;
    let worker = Site::new(folder, &server)?.worker(database, 4).await?;
    sleep(AT_REST).await;
    database.forget_statements();
    let cpu_us = cpu_of(&worker, LOOKED_AT).await?;
    // That they are counted anew is one.
    let statements = database.statements().saturating_sub(1) as f64;
    Ok((statements / LOOKED_AT.as_secs_f64(), cpu_us))
}

/// The CPU time of a worker on the embedded store that has nothing to do, in microseconds each second.
pub async fn idle_embedded(data: &Path) -> anyhow::Result<f64> {
    fs::create_dir(data)?;
    let worker = cold_start::majordomo(data, &["work"])?.stderr(Stdio::null()).spawn()?;
    sleep(AT_REST).await;
    cpu_of(&worker, LOOKED_AT).await
}

async fn cpu_of(process: &Child, time: Duration) -> anyhow::Result<f64> {
    let pid = process.id().context("it has ended")?.to_string();
    let before = gauge::cpu_of(&pid)?;
    sleep(time).await;
    Ok((gauge::cpu_of(&pid)? - before).as_micros() as f64 / time.as_secs_f64())
}

/// Runs `majordomo thread ls` to its end.
pub async fn list(data: &Path, database: &Database<'_>) -> anyhow::Result<u64> {
    let begun = Instant::now();
    let mut command = cold_start::majordomo(data, &["thread", "ls"])?;
    finish(&mut command.env("MAJORDOMO_STORE", &database.address).spawn()?).await?;
    Ok(u64::try_from(begun.elapsed().as_micros())?)
}

/// Kills the worker that drives agents, again and again: how long each time until all of them have asked their models again, in
/// microseconds.
pub async fn takeovers(
    folder: &Path,
    database: &Database<'_>,
    agents: usize,
    kills: usize,
) -> anyhow::Result<Vec<u64>> {
    // No answer ever comes.
    let server = ModelServer::start(&["--latency-ms", "86400000"]).await?;
    let site = Site::new(folder, &server)?;
    let mut asked = 0;
    let mut runs = Vec::new();
    for _ in 0..agents {
        runs.push(site.run(database, "Say what is there.", 1)?);
    }
    asked += agents;
    server.nth(asked).await?;
    let mut workers = Vec::new();
    for _ in 0..3 {
        workers.push(site.worker(database, agents).await?);
    }
    for run in &mut runs {
        run.kill().await?;
    }
    asked += agents;
    server.nth(asked).await?;
    let mut times = Vec::new();
    for kill in 0..kills {
        // At another moment between two heartbeats each time.
        sleep(Duration::from_millis(100 + (kill * 149 % 400) as u64)).await;
        let drives = "SELECT p.pid FROM majordomo.threads t JOIN majordomo.processes p ON p.key = t.owner \
                      WHERE t.live GROUP BY p.pid ORDER BY count(*) DESC LIMIT 1";
        let pid: u32 = database.sql(drives).parse().context("a worker that drives agents")?;
        let many = format!(
            "SELECT count(*) FROM majordomo.threads t JOIN majordomo.processes p ON p.key = t.owner WHERE t.live AND p.pid = {pid}"
        );
        let many: usize = database.sql(&many).parse()?;
        let at = workers.iter().position(|worker| worker.id() == Some(pid)).context("it is one of the workers")?;
        let killed = gauge::moment_ns();
        workers.swap_remove(at).kill().await?;
        asked += many;
        times.push((server.nth(asked).await? - killed) / 1000);
        workers.push(site.worker(database, agents).await?);
    }
    times.sort_unstable();
    Ok(times)
}
