//! Stories: what reaches a family of agents and what follows from it, as text for people to read.
//!
//! A story is a file in `stories/`, named as a sentence. It opens with prose up to the first empty line: what is shown, and
//! which requirement it proves. Then lines at the margin say what the world does, and the indented lines below each say what
//! happened, one event a line. Only the margin is written by hand: `UPDATE_STORIES=1` rewrites the rest, and the diff is read.
//!
//! The scene is set first, all of it optional:
//! ```text
//! preset opta                     the values that the preset's own file holds; else the defaults
//! policy child.max_tool_calls 2   one rule of the policy, as JSON
//! grant tokens=50000 calls=10 cost=0.50 time=60s
//! mode plan                       plan, ask, auto (unless said otherwise) or dangerous
//! model test/priced               test/model, test/priced or test/small
//! agent explore                   who plays the root: general, explore or scribe
//! schema {"type":"object"}        what the root's answer must fit
//! consent asked                   a person can be asked; else what needs one is refused at once
//! ```
//! Then it is played. A line that begins with a path (`.1`, `.1.2`) is about that child, any other about the root:
//! ```text
//! user: Look around               a person speaks; also `steer: …`, `stop: cancel …`, `stop: kill …`, `resend`
//! model: Two files.               the model answers; `model: nothing` is an empty answer; `*9000` is so much filler
//! model (900+50, cut): Half of    with tokens (prompt+answer), `uncounted`, `cut` at its length, or `declined`
//! model: call read_file {"path":"a"} as c1
//! and call read_file {"path":"b"} as c2
//! and misfit it has no title      also `and malformed c1 why`, `and text …`, `and thinking`
//! fail: rate_limited              the request fails; `and after 30s`, `and partial Half of`
//! tool c1: ok two lines           a tool comes back, or `error …`; `and read a`, `and wrote b`
//! answer 1: Blue                  a person answers the thread's first question
//! hear                            something of an answer arrives
//! wait 30s                        time passes, and every thread that is due is woken
//! crash 10s                       every process ends, and 10 s later one reads the logs and goes on;
//! and user Go on                  meanwhile another process wrote this into the log; also `and steer …`, `and stop kill …`
//! panic: index out of bounds      the agent's own code fails
//! .1 unheard                      the child's report does not get through before the next crash
//! .1 reports again                the child's report gets through a second time
//! show: talk                      what the model reads; also `system`, `tools`, `left`
//! ```
//! Replies of a family to itself (a child begins, is stopped, is told, reports) are played by the stage. After every line
//! each thread is compared with its own log, and what it waits for with what it asked of the world.
//!
//! Left to the simulator: any order of things that nobody thought of.

use std::path::PathBuf;

mod scenery;
mod script;
mod stage;
mod words;

use script::Block;
use stage::Stage;

/// Plays the story of that name and compares it with what is written; the name's underscores are the file's hyphens.
///
/// # Panics
/// If something else happened than is written, if a line cannot be understood, or if a thread contradicts its log.
pub fn check(name: &str) {
    let path = folder().join(format!("{}.story", name.replace('_', "-")));
    let written = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let told = play(&written);
    if told == written {
        return;
    }
    if std::env::var_os("UPDATE_STORIES").is_some() {
        std::fs::write(&path, told).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    panic!("{name} goes differently (UPDATE_STORIES=1 rewrites it):\n{}", difference(&written, &told));
}

/// The names of all stories on disk, as `check` takes them, in order.
///
/// # Panics
/// If the folder of stories cannot be read.
pub fn on_disk() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder of stories can be read");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let file = entry.expect("the folder of stories can be read").file_name().into_string();
        file.expect("a story's name is text").trim_end_matches(".story").replace('-', "_")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// The story as it goes: its own lines, and below each what came of it.
fn play(written: &str) -> String {
    let script = script::read(written);
    let mut stage: Option<Stage> = None;
    let mut told = String::new();
    for Block { line, source, act } in script.blocks {
        let mut lines: Vec<String> = source.into_iter().map(str::to_owned).collect();
        if let Some(act) = act {
            // Printed as it goes, so that a line that cannot be played is seen after all that led to it.
            println!("{}", lines.join("\n"));
            let stage = stage.get_or_insert_with(|| Stage::new(&script.setup));
            let came = stage.play(line, act).into_iter().map(|text| format!("  {text}"));
            let at = lines.len();
            lines.extend(came);
            println!("{}", lines[at..].join("\n"));
        }
        for line in lines {
            told.push_str(line.trim_end());
            told.push('\n');
        }
    }
    told
}

fn difference(written: &str, told: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (written.lines().collect(), told.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let from = same.saturating_sub(4);
    let mut text = format!("from line {}:\n", same + 1);
    for (mark, lines) in [("written", &old), ("told", &new)] {
        for line in lines.iter().skip(from).take(14) {
            text.push_str(&format!("{mark:>8} {line}\n"));
        }
    }
    text
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("stories")
}
