//! A large family with commands that cling to life is stopped, or its program is killed: how long until no process of it is left.
//!
//! Tests check that an end is told only once it is true. How long that takes depends on what else the machine does, and is measured
//! here (F26, F30).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use testkit::scenes::{calls, command, never_answers, says, scene, spawn};
use tokio::process::Child;

use crate::cold_start::majordomo;

const CHILDREN: usize = 6;
const GRANDCHILDREN: usize = 8;
/// All agents of the family.
pub const AGENTS: usize = 1 + CHILDREN + CHILDREN * GRANDCHILDREN;
/// All commands that run when it is stopped.
pub const PROCESSES: usize = CHILDREN * COMMANDS.len();

/// Commands that end by themselves in five minutes, each in another way to outlive what started it.
const COMMANDS: [&str; 4] = [
    "echo plain >> begun; sleep 300",
    "setsid sh -c 'echo session >> begun; exec sleep 300' & wait",
    "(setsid sh -c 'echo forked >> begun; sleep 300; true' &) ; nohup sleep 300 > /dev/null 2>&1",
    "trap '' TERM HUP INT; echo proof >> begun; while :; do sleep 0.5; done",
];

/// A measurement that takes as long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a family ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By `majordomo stop --now`.
    Stopped,
    /// Its program is killed, and can do nothing any more.
    Killed,
}

/// Starts the family in a new folder and ends it. From the first moment of its end until no process is left, in µs.
pub async fn measure(folder: &Path, way: Way) -> anyhow::Result<u64> {
    fs::create_dir(folder)?;
    // Commands may not work in the folder that holds the log.
    let work = folder.with_extension("work");
    fs::create_dir(&work)?;
    let script = folder.join("script.toml");
    fs::write(&script, scenes().concat())?;
    let model = format!("scripted/{}", script.display());
    let limits = ["--max-children", "100", "--max-concurrent", "20", "--mode", "dangerous", "--quiet"];
    let args = [&["run", "the whole", "--model", &model][..], &limits].concat();
    let mut run = majordomo(folder, &args)?.env("PATH", "/usr/local/bin:/usr/bin:/bin").current_dir(&work).spawn()?;
    until("all commands have begun", || lines(&work.join("begun")) == PROCESSES).await?;
    ensure!(commands(folder).len() >= PROCESSES, "commands can be seen from outside");
    let root = root(folder).await?;
    let begun = Instant::now();
    match way {
        Way::Stopped => {
            let stopped = majordomo(folder, &["stop", &root, "--now"])?.status().await?;
            ensure!(stopped.success(), "majordomo stop ended with {stopped}");
            ensure!(commands(folder).is_empty(), "it is told before it is true");
        }
        Way::Killed => run.kill().await?,
    }
    until("no process is left", || commands(folder).is_empty()).await?;
    let took = begun.elapsed();
    end(run).await?;
    Ok(u64::try_from(took.as_micros())?)
}

fn scenes() -> Vec<String> {
    let children: Vec<String> = (0..CHILDREN).map(|child| spawn(&format!("lead group {child}"))).collect();
    let group: Vec<String> = (0..GRANDCHILDREN).map(|number| spawn(&format!("work number {number}"))).collect();
    let mut scenes = vec![
        scene("the whole", &[calls(&children), says("never said")]),
        scene("lead group", &[calls(&group), says("never said")]),
    ];
    for (number, clinging) in COMMANDS.iter().enumerate() {
        scenes.push(scene(&format!("work number {number}"), &[calls(&[command(clinging)]), says("never said")]));
    }
    scenes.push(scene("work number", &[never_answers()]));
    scenes
}

async fn root(folder: &Path) -> anyhow::Result<String> {
    let listed = majordomo(folder, &["thread", "ls", "--json"])?.stdout(std::process::Stdio::piped()).output().await?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    let id = listed.get(0).and_then(|thread| thread["id"].as_str()).context("a thread is listed")?;
    Ok(id.to_owned())
}

async fn end(mut run: Child) -> anyhow::Result<()> {
    tokio::time::timeout(PATIENCE, run.wait()).await.context("the run does not end")??;
    Ok(())
}

fn lines(file: &Path) -> usize {
    fs::read_to_string(file).unwrap_or_default().lines().count()
}

/// The processes of commands whose home is this folder.
fn commands(folder: &Path) -> Vec<String> {
    let home = format!("HOME={}", folder.display());
    let carries = |pid: &String| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut entries = environment.split(|byte| *byte == 0);
        entries.clone().any(|entry| entry == home.as_bytes())
            && entries.any(|entry| entry.starts_with(b"MAJORDOMO_COMMAND="))
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    pids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(carries).collect()
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) -> anyhow::Result<()> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > PATIENCE {
            bail!("waited in vain until {what}");
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}
