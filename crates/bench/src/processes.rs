//! The processes that a measurement needs: this same program, as the model or as the one that is measured.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, ensure};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::Keep;
use crate::client::client;
use crate::gauge::Taken;

/// The model, for as long as this is held.
pub struct ModelServer {
    /// Where it is.
    pub address: String,
    /// It ends when its stdin is closed, and that is when this is dropped.
    _process: Child,
}

impl ModelServer {
    /// Starts it.
    pub async fn start(args: &[&str]) -> anyhow::Result<Self> {
        let mut process = this_program()?
            .arg("serve")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the model server")?;
        let stdout = process.stdout.take().context("the model server has an output")?;
        let address = BufReader::new(stdout).lines().next_line().await?.context("the model server said nothing")?;
        Ok(Self { address, _process: process })
    }

    /// Waits until so many requests have come in all: when the last of them did.
    pub async fn nth(&self, n: usize) -> anyhow::Result<u64> {
        Ok(self.get(&format!("nth/{n}")).await?.parse()?)
    }

    /// What it says at a path.
    pub async fn get(&self, path: &str) -> anyhow::Result<String> {
        let response = client()?.get(format!("{}/{path}", self.address)).send().await?;
        Ok(response.error_for_status()?.text().await?)
    }
}

/// Takes one measurement in a process of its own.
pub async fn measure(args: &[&str]) -> anyhow::Result<Taken> {
    let output = this_program()?.arg("measure").args(args).stderr(Stdio::inherit()).output().await?;
    ensure!(output.status.success(), "measure {} failed ({})", args.join(" "), output.status);
    serde_json::from_slice(&output.stdout).with_context(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Measures sub-agents, or the same requests without them.
pub async fn measure_children(
    what: &str,
    server: &ModelServer,
    children: usize,
    keep: Keep,
    database: &Path,
    recorded: Option<&Path>,
) -> anyhow::Result<Taken> {
    let (children, database) = (children.to_string(), database.display().to_string());
    let recorded = recorded.map(|path| path.display().to_string());
    let mut args = vec![what, "--server", &server.address, "--children", &children, "--keep", keep.name()];
    args.extend(["--database", &database]);
    if let Some(recorded) = &recorded {
        args.extend(["--recorded", recorded]);
    }
    measure(&args).await
}

/// This same program, ended when it is dropped.
pub fn this_program() -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.kill_on_drop(true);
    Ok(command)
}
