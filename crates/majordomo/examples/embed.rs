//! A program with agents of its own: a scripted model, two tools that only this program has, one of which needs consent, and
//! nothing kept on the disk.
//!
//! `cargo run -p majordomo --example embed`

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use majordomo::agent::approval::{Approval, Decision, Scope};
use majordomo::agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use majordomo::agent::{Event, Json};
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::Consent;
use majordomo::tool::{CommandHost, Registry, Tool, ToolContext};
use majordomo::{Options, Staff, Update, Work};

/// The replies, so that the example needs no key. A real program names a model instead.
const SCRIPT: &str = r#"
[[script]]
on = "greenhouse"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Read the thermometer and air the place if it is warm" } }]
[[script.reply]]
text = "The greenhouse is at 31 degrees; a window is open."
[[script]]
on = "thermometer"
[[script.reply]]
calls = [{ name = "thermometer", input = {} }]
[[script.reply]]
calls = [{ name = "window", input = { open = true } }]
[[script.reply]]
text = "31 degrees: the window is open."
"#;

/// A tool of this program's own, which always answers the same.
struct Instrument {
    info: ToolInfo,
    answer: &'static str,
}

impl Instrument {
    fn new(name: &str, description: &str, reach: Reach, answer: &'static str) -> Result<Self, serde_json::Error> {
        let info = ToolInfo {
            name: name.into(),
            description: description.into(),
            schema: Json::parse(r#"{"type": "object", "properties": {"open": {"type": "boolean"}}}"#)?,
            reach,
            idempotent: true,
            risk: Risk::Low,
        };
        Ok(Self { info, answer })
    }
}

impl Tool for Instrument {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn run<'a>(&'a self, _input: &'a Json, _context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        async { ToolResult::ok(self.answer) }.boxed()
    }
}

/// Decides what an agent asks. A real program shows it to a person first.
fn decision(question: &Approval) -> Decision {
    println!("{} asks to use {} with {}", question.path.join(" › "), question.tool, question.input.text());
    if &*question.tool == "window" {
        Decision::Allow { scope: Scope::Once, input: None }
    } else {
        Decision::Deny { reason: Some("only the window may be opened".into()) }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("majordomo-embed-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let script = folder.join("script.toml");
    std::fs::write(&script, SCRIPT)?;

    let thermometer = Instrument::new("thermometer", "The temperature inside.", Reach::ReadOnly, "31 degrees Celsius")?;
    let window = Instrument::new("window", "Opens or closes the window.", Reach::World, "The window is open.")?;
    let surroundings = Surroundings { cwd: folder.clone(), ..Surroundings::of_process()? };
    let flags = Flags { model: Some(format!("scripted/{}", script.display())), ..Flags::default() };
    let config = Config::load(&surroundings, &flags)?;
    let tools = Registry::standard(CommandHost::default()).with(thermometer).with(window);
    let options = Options { tools, consent: Consent::Asked, in_memory: true, ..Options::default() };
    let staff = Staff::open(&surroundings, config, options).await?;

    let mut run = staff.start(Work::new("How is the greenhouse?")).await?;
    let session = staff.session(run.root());
    while let Some(update) = run.next().await? {
        match update {
            // The text of an answer while it is produced; the event that holds the whole comes later.
            Update::Streamed(piece) => print!("{}", piece.text),
            Update::Past(records) | Update::Events(records) => {
                for record in &records {
                    match &*record.event {
                        // The decision is bound to what was shown: where the call has become another, it is asked about anew.
                        Event::ApprovalRequested(question) => {
                            session.decide(question, decision(question)).await?;
                        }
                        Event::Answered(_) => println!(),
                        _ => {}
                    }
                }
            }
        }
    }
    let report = run.into_report()?;
    println!("{}: {}", report.outcome, report.text);
    println!("{} sub-agent, {} tokens in the whole tree", report.tree.children, report.tree.tokens.total());

    staff.runtime().leave().await;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
