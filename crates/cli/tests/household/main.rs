//! A household, looked after by the real program: a butler, five specialists, real files, no key and no network.
//!
//! The files are those of the sample household, whose clock stands still (`--demo`). `offline` asks the engine of rules,
//! `seed` plays the tests of the seed with models whose replies are written down, `wires` does so over real wires, `own` looks
//! after a folder of one's own, `habits` makes decisions in it, and `resuming` kills it in between. What an answer is worth is measured by the household's own gold sets.

mod habits;
mod offline;
mod own;
mod resuming;
mod seed;
mod wires;

use serde_json::Value;
use testkit::scenes::call;
use testkit::world::{Done, World};

/// A world for the program whose tests these are, with a model that speaks by these scenes where it is asked.
fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

/// What the butler of the sample household says, with the engine of rules.
fn ask(world: &World, words: &str, flags: &[&str]) -> Done {
    world.call(&[&["run", "--demo", words], flags].concat())
}

/// The frames that a run let out, in a dialect.
#[track_caller]
fn frames(done: &Done) -> Vec<Value> {
    assert_eq!(done.code, Some(0), "out: {}\nerr: {}", done.out, done.err);
    let frame = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
    done.out.lines().map(frame).collect()
}

/// Frames of Orion's in a few words each.
fn told(frames: &[Value]) -> Vec<String> {
    let word = |frame: &Value, key: &str| frame[key].as_str().unwrap_or_default().to_owned();
    let tell = |frame: &Value| match &*word(frame, "type") {
        "agent_delegate" => format!("delegate {}->{}", word(frame, "from"), word(frame, "to")),
        "done" => "done".to_owned(),
        kind => format!("{} {}", kind.trim_start_matches("agent_"), word(frame, "agent")),
    };
    frames.iter().map(tell).collect()
}

/// Those whom the butler asked, in order.
fn asked(frames: &[Value]) -> Vec<String> {
    let to =
        |frame: &Value| (frame["type"] == "agent_delegate").then(|| frame["to"].as_str().expect("a name").to_owned());
    frames.iter().filter_map(to).collect()
}

/// The call by which a butler hands a task over.
fn delegate(intent: &str, task: &str, more: &str) -> String {
    call("delegate", &format!("intent = {intent:?}, task = {task:?}, delegationReasoning = \"it is theirs\"{more}"))
}
