//! The program as a user starts it: `majordomo run` on an empty data folder, whose model starts many sub-agents in one answer.
//! What is measured is the whole process, from its start to its end, and the processes that it starts.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::Program;
use crate::answer::{self, FOLDERS};
use crate::cold_start;
use crate::gauge::Taken;

/// Files in each folder that is listed.
const FILES: usize = 8;

/// Runs the program once, and makes sure that it did the work.
pub async fn measure(program: &Program) -> anyhow::Result<Taken> {
    let data = &program.data;
    let work = write_workspace(data)?;
    let count = program.children.to_string();
    let calls = format!("policy.max_calls_per_answer={count}");
    let prompt = answer::spawn_prompt(program.children);
    let mut args =
        vec!["run", &prompt, "--model", "openai/bench", "--max-children", &count, "--max-concurrent", &count];
    args.extend(["--max-tokens", "unlimited", "--max-requests", "unlimited", "--set", &calls]);
    args.extend(["--set", "models.\"openai/bench\".context_tokens=100000000"]);
    if !program.progress {
        args.push("--quiet");
    }
    let mut command = cold_start::majordomo(data, &args)?;
    command.env("OPENAI_BASE_URL", format!("{}/v1", program.server)).env("TERM", "xterm-256color").current_dir(work);
    let terminal = program.progress.then(Terminal::open).transpose()?;
    if let Some(terminal) = &terminal {
        command.stderr(terminal.program_end()?);
    }
    let begun = Instant::now();
    let mut process = command.spawn()?;
    // Its own copy of the terminal's end is all that keeps the terminal open.
    drop(command);
    let shown = terminal.map(Terminal::read);
    cold_start::finish(&mut process).await?;
    let wall_us = u64::try_from(begun.elapsed().as_micros())?;
    if let Some(shown) = shown {
        let bytes = shown.join().ok().context("the terminal could not be read")??;
        ensure!(bytes > program.children, "no progress was shown ({bytes} bytes)");
    }
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu_us = u64::try_from((used.user_time() + used.system_time()).num_microseconds())?;
    Ok(Taken { cpu_us, wall_us, resident_kb: u64::try_from(used.max_rss())? })
}

/// The folder beside the data folder of a run in which that run works.
pub fn workspace(data: &Path) -> PathBuf {
    data.with_extension("work")
}

/// A folder with a few files to list.
pub fn write_workspace(data: &Path) -> anyhow::Result<PathBuf> {
    let work = workspace(data);
    fs::create_dir_all(&work)?;
    for folder in FOLDERS {
        let folder = work.join(folder);
        fs::create_dir_all(&folder)?;
        for file in 0..FILES {
            fs::write(folder.join(format!("note {file}.md")), "A cup, a bowl and a spoon.\n")?;
        }
    }
    fs::create_dir_all(data)?;
    Ok(work)
}

/// A terminal of 100 columns on which the program shows its progress.
struct Terminal {
    ours: std::os::fd::OwnedFd,
}

impl Terminal {
    fn open() -> anyhow::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        tcsetwinsize(&ours, Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 })?;
        Ok(Self { ours })
    }

    fn program_end(&self) -> anyhow::Result<fs::File> {
        let name = ptsname(&self.ours, Vec::new())?;
        Ok(fs::OpenOptions::new().read(true).write(true).open(name.to_str()?)?)
    }

    /// Reads until the program has closed its end; how much was shown.
    fn read(self) -> std::thread::JoinHandle<anyhow::Result<usize>> {
        std::thread::spawn(move || {
            let mut ours = fs::File::from(self.ours);
            let (mut buffer, mut bytes) = (vec![0; 1 << 16], 0);
            loop {
                match ours.read(&mut buffer) {
                    Ok(0) => return Ok(bytes),
                    Ok(read) => bytes += read,
                    // That is how the end of a terminal is told.
                    Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                        return Ok(bytes);
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }
}
