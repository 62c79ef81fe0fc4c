//! The program itself, started from nothing: how long until the model is asked, with how much memory, and how long the first
//! requests are.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, ensure};
use tokio::process::{Child, Command};

use crate::gauge;
use crate::processes::ModelServer;

/// How a start went.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// From starting the process to its first request.
    pub until_asked_us: u64,
    /// The most memory that it had had by then.
    pub peak_kb: u64,
}

/// Starts `majordomo run` on the database in `data` and waits for its end.
pub async fn start(server: &ModelServer, data: &Path) -> anyhow::Result<Started> {
    let begun = gauge::moment_ns();
    let mut process = majordomo(data, &run_args("Say what is there."))?.env(URL, url(server)).spawn()?;
    let asked: u64 = server.get(&format!("after/{begun}")).await?.parse()?;
    let pid = process.id().context("it was asked for too late")?.to_string();
    let peak_kb = gauge::status_kb(&pid, "VmHWM")?;
    finish(&mut process).await?;
    Ok(Started { until_asked_us: (asked - begun) / 1000, peak_kb })
}

/// Bytes of the first request of a root, and of a sub-agent that can have none of its own.
pub async fn first_requests(data: &Path) -> anyhow::Result<(usize, usize)> {
    let server = ModelServer::start(&[]).await?;
    let prompt = crate::answer::prompt(1);
    finish(&mut majordomo(data, &run_args(&prompt))?.env(URL, url(&server)).spawn()?).await?;
    let root = server.get("body/root/0").await?.len();
    let server = ModelServer::start(&[]).await?;
    let mut args = run_args(&prompt);
    args.extend(["--max-depth", "1"]);
    finish(&mut majordomo(data, &args)?.env(URL, url(&server)).spawn()?).await?;
    Ok((root, server.get("body/child/0").await?.len()))
}

/// Asks the butler of the sample household its first question, in a folder where nothing is yet: from starting the process
/// to its end, with the household laid down and its mail indexed in between.
pub async fn first_answer(data: &Path) -> anyhow::Result<u64> {
    let begun = gauge::moment_ns();
    let asked = ["run", "--demo", "What urgent emails do I have?", "--quiet"];
    finish(&mut majordomo(data, &asked)?.spawn()?).await?;
    Ok((gauge::moment_ns() - begun) / 1000)
}

/// Runs `majordomo thread ls` to its end.
pub async fn list(data: &Path) -> anyhow::Result<u64> {
    let begun = gauge::moment_ns();
    finish(&mut majordomo(data, &["thread", "ls"])?.stdout(Stdio::null()).spawn()?).await?;
    Ok((gauge::moment_ns() - begun) / 1000)
}

const URL: &str = "OPENAI_BASE_URL";

fn url(server: &ModelServer) -> String {
    format!("{}/v1", server.address)
}

/// With the context size of the model, for which its server would be asked otherwise.
fn run_args(prompt: &str) -> Vec<&str> {
    let size = ["--set", "models.\"openai/bench\".context_tokens=128000"];
    [&["run", prompt, "--model", "openai/bench", "--quiet"], &size[..]].concat()
}

/// The program beside this one, without anything that its user has configured.
pub fn majordomo(data: &Path, args: &[&str]) -> anyhow::Result<Command> {
    let path: PathBuf = std::env::current_exe()?.with_file_name("majordomo");
    ensure!(path.exists(), "{} was not built: cargo build --release -p majordomo-cli", path.display());
    let mut command = Command::new(path);
    command.args(args).arg("--data").arg(data);
    command.env_clear().env("HOME", data).current_dir(data);
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    Ok(command)
}

/// Waits for its end.
pub async fn finish(process: &mut Child) -> anyhow::Result<()> {
    let status = process.wait().await?;
    ensure!(status.success(), "majordomo ended with {status}");
    Ok(())
}
