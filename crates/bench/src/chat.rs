//! `majordomo chat` at a terminal: how soon its prompt is there, how soon a key is shown while a hundred sub-agents stream, what watching them
//! costs, and whether memory grows with what has scrolled by. Answers come from a script, so that no server takes part.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::gauge;

/// Sub-agents that stream at the same time.
const CHILDREN: usize = 100;
/// Words of each, and the time between two.
const WORDS: usize = 160;
const BETWEEN_MS: u64 = 50;
/// Keys that are pressed while they stream.
const KEYS: usize = 100;
/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of an answer that scrolls by, how many there are, and after which of them memory is first looked at.
const ANSWER: usize = 64 << 10;
const ANSWERS: usize = 40;
const FEW: usize = 7;

/// What watching took.
#[derive(Clone, Debug)]
pub struct Watched {
    /// From each key to its being shown.
    pub keys_us: Vec<u64>,
    /// Processor time of the whole process.
    pub cpu_us: u64,
    /// From its start to its end.
    pub wall_us: u64,
}

/// From starting a chat to its prompt.
pub fn until_prompt(data: &Path) -> anyhow::Result<u64> {
    let script = write_script(data, &[("anything", reply("Yes.", 0))])?;
    let begun = Instant::now();
    let mut chat = Chat::start(data, &script, &[])?;
    chat.until("›")?;
    let taken = begun.elapsed();
    chat.press("\u{4}")?;
    chat.finish()?;
    Ok(u64::try_from(taken.as_micros())?)
}

/// Watches a hundred sub-agents that stream, and types meanwhile.
pub fn watch(data: &Path) -> anyhow::Result<Watched> {
    let script = fan_out_script(data)?;
    let (before, begun) = (cpu_us()?, Instant::now());
    let mut chat = Chat::start(data, &script, &["Do the whole"])?;
    chat.until("writing")?;
    let mut keys_us = Vec::new();
    let mut written = String::new();
    for nth in 0..KEYS {
        if nth % 25 == 0 {
            chat.press("\u{15}")?;
            written.clear();
        }
        let key = char::from(b'a' + u8::try_from(nth % 25)?);
        written.push(key);
        chat.forget();
        let pressed = Instant::now();
        chat.press(&key.to_string())?;
        chat.until(&written)?;
        keys_us.push(u64::try_from(pressed.elapsed().as_micros())?);
        // A person does not type faster.
        std::thread::sleep(Duration::from_millis(40));
    }
    chat.press("\u{15}")?;
    chat.until("All is done.")?;
    chat.press("\u{4}")?;
    chat.finish()?;
    Ok(Watched { keys_us, cpu_us: cpu_us()? - before, wall_us: u64::try_from(begun.elapsed().as_micros())? })
}

/// The same run without anything that is shown.
pub fn run_quietly(data: &Path) -> anyhow::Result<Watched> {
    let script = fan_out_script(data)?;
    let (before, begun) = (cpu_us()?, Instant::now());
    let mut command = majordomo(data, &script, "run")?;
    command.args(["Do the whole", "--quiet"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status()?;
    ensure!(status.success(), "majordomo run ended with {status}");
    Ok(Watched {
        keys_us: Vec::new(),
        cpu_us: cpu_us()? - before,
        wall_us: u64::try_from(begun.elapsed().as_micros())?,
    })
}

/// Memory after a few long answers, and after many more.
pub fn memory_kb(data: &Path) -> anyhow::Result<(u64, u64)> {
    let words = "all kinds of words that fill the screen ".repeat(ANSWER / 40);
    let replies: String = (0..ANSWERS).map(|nth| reply(&format!("{words}\n\nend{nth:02}"), 0)).collect();
    let script = write_script(data, &[("more", replies)])?;
    // A conversation that does not fit into the model's context would be replaced by a summary, and the script would begin anew.
    let window = format!("models.\"scripted/{}\".context_tokens=4000000", script.display());
    let mut chat = Chat::start(data, &script, &["--set", &window])?;
    chat.until("›")?;
    let mut sizes = Vec::new();
    for nth in 0..ANSWERS {
        chat.press("more\r")?;
        chat.until(&format!("end{nth:02}"))?;
        if nth == FEW || nth == ANSWERS - 1 {
            sizes.push(gauge::status_kb(&chat.process.id().to_string(), "VmRSS")?);
        }
    }
    chat.press("\u{4}")?;
    chat.finish()?;
    Ok((sizes[0], sizes[1]))
}

/// A chat, and what it writes.
struct Chat {
    process: Child,
    keys: File,
    written: Receiver<Vec<u8>>,
    /// What was read and not forgotten.
    read: String,
}

impl Chat {
    fn start(data: &Path, script: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        tcsetwinsize(&ours, Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 })?;
        let name = ptsname(&ours, Vec::new())?;
        let theirs = || Ok::<_, anyhow::Error>(File::options().read(true).write(true).open(name.to_str()?)?);
        let mut command = majordomo(data, script, "chat")?;
        command.args(arguments).env("TERM", "xterm-256color").stdin(theirs()?).stdout(theirs()?).stderr(theirs()?);
        let process = command.spawn()?;
        let (mut reader, keys) = (File::from(ours.try_clone()?), File::from(ours));
        let (send, written) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, keys, written, read: String::new() })
    }

    fn press(&mut self, keys: &str) -> anyhow::Result<()> {
        Ok(self.keys.write_all(keys.as_bytes())?)
    }

    /// What was read is not looked at again.
    fn forget(&mut self) {
        while self.written.try_recv().is_ok() {}
        self.read.clear();
    }

    /// Reads until these words were written.
    fn until(&mut self, words: &str) -> anyhow::Result<()> {
        while !self.read.contains(words) {
            let bytes = self.written.recv_timeout(PATIENCE).with_context(|| format!("'{words}' was not shown"))?;
            self.read.push_str(&String::from_utf8_lossy(&bytes));
            // Words can stand across two pieces; more than a screen back is never looked at.
            if self.read.len() > 1 << 20 {
                self.read = self.read.chars().skip(self.read.chars().count() / 2).collect();
            }
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        let status = self.process.wait()?;
        ensure!(status.success(), "majordomo chat ended with {status}");
        Ok(())
    }
}

fn majordomo(data: &Path, script: &Path, verb: &str) -> anyhow::Result<Command> {
    let path: PathBuf = std::env::current_exe()?.with_file_name("majordomo");
    ensure!(path.exists(), "{} was not built: cargo build --release -p majordomo-cli", path.display());
    let (model, count) = (format!("scripted/{}", script.display()), CHILDREN.to_string());
    let mut command = Command::new(path);
    command.args([verb, "--model", &model, "--max-children", &count, "--max-concurrent", &count]);
    command.args(["--set", "policy.max_calls_per_answer=128", "--max-tokens", "unlimited"]);
    command.arg("--data").arg(data).env_clear().env("HOME", data).current_dir(data);
    Ok(command)
}

fn fan_out_script(data: &Path) -> anyhow::Result<PathBuf> {
    let calls: Vec<String> = (0..CHILDREN)
        .map(|child| format!("{{ name = \"spawn_agent\", input = {{ task = \"part {child}\" }} }}"))
        .collect();
    let root = format!("[[script.reply]]\ncalls = [{}]\n{}", calls.join(", "), reply("All is done.", 0));
    let words: Vec<String> = (0..WORDS).map(|word| format!("word{word}")).collect();
    write_script(data, &[("the whole", root), ("part", reply(&words.join(" "), BETWEEN_MS))])
}

fn reply(text: &str, chunk_delay_ms: u64) -> String {
    format!("[[script.reply]]\ntext = {text:?}\nchunk_delay_ms = {chunk_delay_ms}\n")
}

fn write_script(data: &Path, scenes: &[(&str, String)]) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(data)?;
    let text: String = scenes.iter().map(|(on, replies)| format!("[[script]]\non = {on:?}\n{replies}")).collect();
    let script = data.join("script.toml");
    fs::write(&script, text)?;
    Ok(script)
}

/// Processor time of all processes that have ended.
fn cpu_us() -> anyhow::Result<u64> {
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok(u64::try_from((used.user_time() + used.system_time()).num_microseconds())?)
}
