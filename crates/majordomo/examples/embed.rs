//! A program with a staff of its own: a scripted model, one tool that only this program has, nothing kept on the disk.
//!
//! `cargo run -p majordomo --example embed`

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use majordomo::agent::Json;
use majordomo::agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::tool::{Bench, CommandHost, Registry, Tool};
use majordomo::{Options, Staff, Work};

/// The replies, so that the example needs no key. A real program names a model instead.
const SCRIPT: &str = r#"
[[script]]
on = "greenhouse"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Read the thermometer and say whether it is warm enough" } }]
[[script.reply]]
text = "The greenhouse is at 21 degrees; nothing has to be done."
[[script]]
on = "thermometer"
[[script.reply]]
calls = [{ name = "thermometer", input = {} }]
[[script.reply]]
text = "21 degrees: warm enough."
"#;

/// A tool of this program's own.
struct Thermometer(ToolInfo);

impl Tool for Thermometer {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn run<'a>(&'a self, _input: &'a Json, _bench: &'a Bench) -> BoxFuture<'a, ToolResult> {
        async { ToolResult::ok("21 degrees Celsius") }.boxed()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("majordomo-embed-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let script = folder.join("script.toml");
    std::fs::write(&script, SCRIPT)?;

    let thermometer = Thermometer(ToolInfo {
        name: "thermometer".into(),
        description: "The temperature in the greenhouse.".into(),
        schema: Json::parse(r#"{"type": "object", "properties": {}}"#)?,
        reach: Reach::ReadOnly,
        idempotent: true,
        risk: Risk::Low,
    });
    let surroundings = Surroundings { cwd: folder.clone(), ..Surroundings::of_process()? };
    let flags = Flags { model: Some(format!("scripted/{}", script.display())), ..Flags::default() };
    let config = Config::load(&surroundings, &flags)?;
    let tools = Registry::standard(CommandHost::default()).with(thermometer);
    let staff = Staff::open(&surroundings, config, Options { tools, in_memory: true, ..Options::default() }).await?;

    let report = staff.run(Work::new("How is the greenhouse?")).await?;
    println!("{}: {}", report.outcome, report.text);
    println!("{} sub-agent, {} tokens in the whole tree", report.tree.children, report.tree.tokens.total());

    staff.heart().leave().await;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
