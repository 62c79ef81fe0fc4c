//! An agent that hands parts of its task to others, under one budget. `cargo run -p majordomo --example fan_out`

use futures_util::TryStreamExt;
use majordomo::{Agent, Event, Limits, Model, Staff, Tool, Update};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Entry {
    word: String,
}

/// What the models say and call, so that the example needs no key: three sub-agents at once, the last of which has
/// used its one tool call and can only say how far it came.
const SCRIPT: &str = r#"
[[script]]
on = "three cities"
[[script.reply]]
calls = [
  { name = "spawn_agent", input = { agent = "scout", task = "Describe Lyon" } },
  { name = "spawn_agent", input = { agent = "scout", task = "Describe Nice" } },
  { name = "spawn_agent", input = { agent = "scout", task = "Describe Brest", max_tool_calls = 1 } },
]
[[script.reply]]
text = "Lyon has silk, Nice has the sea. Brest is not finished."
[[script]]
on = "Describe Lyon"
[[script.reply]]
text = "Silk, two rivers."
[[script]]
on = "Describe Nice"
[[script.reply]]
text = "The sea, a promenade."
[[script]]
on = "Describe Brest"
[[script.reply]]
calls = [{ name = "look_up", input = { word = "Brest" } }]
[[script.reply]]
text = "A harbour; I did not get further."
"#;

#[tokio::main]
async fn main() -> Result<(), majordomo::Error> {
    let look_up = Tool::from_fn("look_up", "Looks a word up", |entry: Entry| async move {
        Ok(format!("{} is in the lexicon", entry.word))
    });
    let staff = Staff::builder()
        .model(Model::scripted(SCRIPT))
        .tool(look_up.read_only())
        .define(Agent::new("scout", "Describes one city", "You describe one city in one sentence."))
        // Of the whole tree: what sub-agents spend is cut from it, and what they leave flows back.
        .limits(Limits::new().tokens(100_000).children(8).concurrent(2).depth(1))
        // Of each sub-agent, where its parent asks for no other.
        .set("policy.child.max_tokens", 20_000)
        .build()
        .await?;
    let mut run = staff.stream("Compare three cities").await?;
    while let Some(update) = run.try_next().await? {
        match update {
            // Every agent ends with one report, however it ends.
            Update::Events(records) => {
                for record in records.iter().filter(|record| !record.thread.is_root()) {
                    if let Event::Reported(report) = &*record.event {
                        println!("scout: {} ({})", report.text, report.outcome);
                    }
                }
            }
            Update::Done(report) => {
                println!("{}", report.text);
                println!(
                    "{} sub-agents, within budget: {}",
                    report.tree.children,
                    report.tree.counted_tokens <= 100_000
                );
            }
            Update::Past(_) | Update::Text(_) => {}
        }
    }
    staff.close().await;
    Ok(())
}
