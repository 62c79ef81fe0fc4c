//! Commands by `run_command`, with and without a sandbox, beside the same commands by `sh -c` alone.
//!
//! Processor time includes that of every process a command has started, and so its guard and its sandbox.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;
use majordomo::agent::{CallId, Json, ThreadId};
use majordomo::tool::{CommandHost, Guard, Registry, Sandbox, ToolContext, Workspace};
use serde_json::json;

use crate::gauge::{Gauge, Taken};
use crate::{Commands, Through, figure};

/// Commands of one measurement, one after the other. The first ones, which find out what works on this machine and read the
/// workspace, do not count.
const COMMANDS: usize = 60;
const FIRST: usize = 3;
/// Commands that run at the same time while their memory is measured.
pub const HELD: usize = 10;

/// It writes: what is protected in the workspace is compared before and after it.
const COMMAND: &str = "echo made > made";
const HELD_COMMAND: &str = "echo made > made; sleep 60";

/// Runs commands one after the other: the middle time, and the processor time of each on average.
pub async fn measure(commands: &Commands) -> anyhow::Result<Taken> {
    let runner = Runner::new(commands)?;
    let mut times = Vec::new();
    let mut cpu = Duration::ZERO;
    let mut last = Taken::default();
    for turn in 0..FIRST + COMMANDS {
        if turn == FIRST {
            cpu = all_cpu()?;
        }
        let gauge = Gauge::begin();
        runner.run(COMMAND).await?;
        last = gauge.end()?;
        if turn >= FIRST {
            times.push(last.wall_us);
        }
    }
    let cpu = (all_cpu()? - cpu) / u32::try_from(COMMANDS)?;
    Ok(Taken { cpu_us: u64::try_from(cpu.as_micros())?, wall_us: figure::median(times), ..last })
}

/// Memory of one command while several run: that of all its processes, shared memory by its share.
pub async fn measure_held(commands: &Commands) -> anyhow::Result<Taken> {
    let runner = Runner::new(commands)?;
    runner.run(COMMAND).await?;
    let all = try_join_all((0..HELD).map(|_| runner.run(HELD_COMMAND)));
    let held = async {
        let begun = Instant::now();
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let family = family()?;
            // Each command has reached the program that it waits for.
            if family.values().filter(|name| *name == "sleep").count() == HELD {
                let sizes = family.keys().map(|pid| proportional_kb(*pid));
                return Ok(sizes.sum::<u64>());
            }
            ensure!(begun.elapsed() < Duration::from_secs(60), "the commands did not start: {family:?}");
        }
    };
    let resident_kb = tokio::select! {
        ended = all => { ended?; anyhow::bail!("the commands ended by themselves") }
        held = held => held?,
    };
    Ok(Taken { resident_kb: resident_kb / HELD as u64, ..Taken::default() })
}

/// Writes a workspace of twenty thousand files in a thousand folders, with a repository.
pub fn write_workspace(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder.join(".git/objects"))?;
    std::fs::create_dir_all(folder.join(".git/hooks"))?;
    std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    std::fs::write(folder.join(".git/config"), "[core]\n\tbare = false\n")?;
    for number in 0..1000 {
        let inner = folder.join(format!("part-{}/module-{}/src-{number}", number / 100, number / 10));
        std::fs::create_dir_all(&inner)?;
        for file in 0..20 {
            std::fs::write(inner.join(format!("file-{file}.txt")), "content\n")?;
        }
    }
    Ok(())
}

enum Runner {
    Sh(std::path::PathBuf),
    Tool { tools: Registry, context: Box<ToolContext> },
}

impl Runner {
    fn new(commands: &Commands) -> anyhow::Result<Self> {
        let sandbox = match commands.through {
            Through::Sh => return Ok(Self::Sh(commands.workspace.clone())),
            Through::Plain => Sandbox::default(),
            Through::Sandbox => Sandbox::probe(&[]),
        };
        let host = CommandHost { guard: Guard::Embedded, sandbox };
        ensure!(host.is_confining() == (commands.through == Through::Sandbox), "no sandbox works on this machine");
        let workspace = Arc::new(Workspace::open(&commands.workspace)?);
        let context = ToolContext::new(workspace, ThreadId::new("20260115-k3f9"), CallId::new("tu_1"));
        Ok(Self::Tool { tools: Registry::standard(host), context: Box::new(context) })
    }

    async fn run(&self, command: &str) -> anyhow::Result<()> {
        match self {
            Self::Sh(folder) => {
                let mut sh = tokio::process::Command::new("/bin/sh");
                sh.args(["-c", command]).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
                let output = sh.output().await?;
                ensure!(output.status.success(), "{output:?}");
            }
            Self::Tool { tools, context } => {
                let tool = tools.get("run_command").context("commands are a standard tool")?;
                let result = tool.run(&Json::of(&json!({ "command": command })), context).await;
                ensure!(!result.is_error, "{}", result.content);
            }
        }
        Ok(())
    }
}

/// Processor time of this process, of all that have ended below it, and of those that still run there: the process that makes guards is one.
fn all_cpu() -> anyhow::Result<Duration> {
    let below = family()?.into_keys().map(|pid| cpu_ticks(&format!("/proc/{pid}/stat")).unwrap_or(0));
    let ticks = cpu_ticks("/proc/self/stat")? + below.sum::<u64>();
    // `/proc` counts in hundredths of a second on every machine.
    Ok(Duration::from_millis(10 * ticks))
}

/// Processor time of a process and of its children that have ended.
fn cpu_ticks(stat: &str) -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string(stat)?;
    let (_, fields) = stat.rsplit_once(')').context("a line of numbers")?;
    Ok(fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum())
}

/// The processes below this one, with their names.
fn family() -> anyhow::Result<BTreeMap<u32, String>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // One that has ended meanwhile is not there.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some(((_, name), fields)) = stat.rsplit_once(") ").and_then(|(a, b)| Some((a.split_once('(')?, b))) else {
            continue;
        };
        let parent = fields.split_whitespace().nth(1).and_then(|parent| parent.parse::<u32>().ok());
        all.insert(pid, (parent.unwrap_or(0), name.to_owned()));
    }
    let us = std::process::id();
    let is_below = |pid: &u32| {
        let mut above = std::iter::successors(Some(*pid), |pid| all.get(pid).map(|(parent, _)| *parent)).skip(1);
        above.any(|pid| pid == us)
    };
    Ok(all.iter().filter(|(pid, _)| is_below(pid)).map(|(pid, (_, name))| (*pid, name.clone())).collect())
}

/// Memory of a process, with its share of what it shares with others.
fn proportional_kb(pid: u32) -> u64 {
    let sizes = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line =
        sizes.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.trim().parse().ok());
    line.unwrap_or(0)
}
