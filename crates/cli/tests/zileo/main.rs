//! The preset `zileo` in the real program: three verbs, one level, three places, and a person's yes before each sub-agent.
//!
//! What the rules make of each call is tested beside the rules (`operations`, `starts`). Here it is shown that questions
//! reach a person, that records, frames and exit codes say what happened, and that the guide's examples are true.

mod approving;
mod guide;
mod places;
mod telling;

use agent::Event;
use agent::approval::Approval;
use rusqlite::Connection;
use serde_json::Value;
use store::Record;
use testkit::world::{Running, World};

/// A world for the program whose tests these are.
fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

/// Starts a run under the preset, in mode `auto`.
fn run(world: &World, task: &str, arguments: &[&str]) -> Running {
    let model = format!("scripted/{}", world.path("../script.toml").display());
    let mut command = world.command(&["run", task, "--model", &model, "--mode", "auto", "--preset", "zileo"]);
    command.args(arguments);
    world.launch(command)
}

/// The call of a verb, with its arguments as JSON.
fn call(verb: &str, arguments: &Value) -> String {
    format!("{{ name = {verb:?}, input = {} }}", toml(arguments))
}

/// A call that spawns a temporary agent.
fn spawn(name: &str, prompt: &str) -> String {
    call("SpawnAgentTool", &serde_json::json!({"operation": "spawn", "name": name, "prompt": prompt}))
}

/// A text as TOML writes it; JSON writes it so, too.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

fn toml(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{} = {}", text(name), toml(value));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Every question in the log, in the order of asking.
fn questions(log: &[Record]) -> Vec<Approval> {
    let question = |record: &Record| match &*record.event {
        Event::ApprovalRequested(question) => Some((**question).clone()),
        _ => None,
    };
    log.iter().filter_map(question).collect()
}

/// The question of this number, counted from 1, once it is asked.
fn question(world: &World, number: usize) -> Approval {
    let log = world.until_logged("a question", |log| questions(log).len() >= number);
    questions(&log).swap_remove(number - 1)
}

/// What the root's calls were answered with, in the order of the answers.
fn results(world: &World) -> Vec<(String, bool)> {
    let root = world.root();
    let result = |record: &Record| match &*record.event {
        Event::ToolFinished { result, .. } if record.thread == root => {
            Some((result.content.to_string(), result.is_error))
        }
        _ => None,
    };
    world.log().iter().filter_map(result).collect()
}

/// Name, status, summary and error of every execution, in the order of spawning (ZILEO-21).
fn executions(world: &World) -> Vec<(String, String, Option<String>, Option<String>)> {
    let database = Connection::open(world.database()).expect("a database");
    let sql = "SELECT sub_agent_name, status, result_summary, error_message FROM sub_agent_execution ORDER BY rowid";
    let mut rows = database.prepare(sql).expect("the table is there");
    let row = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
    row.expect("the table can be read").collect::<Result<_, _>>().expect("every row can be read")
}
