//! What agents may do only with approval, decided by the program. `cargo run -p majordomo --example approvals`

use majordomo::{Decision, Model, Rule, Staff, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Window {
    open: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Heater {
    degrees: i32,
}

/// What the models say and call, so that the example needs no key. The sub-agent asks, not the agent that was given the task.
const SCRIPT: &str = r#"
[[script]]
on = "greenhouse"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Bring the plants to 24 degrees" } }]
[[script.reply]]
text = "The window is open; the heater stays as it is."
[[script]]
on = "the plants"
[[script.reply]]
calls = [{ name = "window", input = { open = true } }, { name = "heater", input = { degrees = 60 } }]
[[script.reply]]
text = "Window open. The heater was refused."
"#;

#[tokio::main]
async fn main() -> Result<(), majordomo::Error> {
    let window = Tool::from_fn("window", "Opens or closes the window", |window: Window| async move {
        println!("the window is {}", if window.open { "open" } else { "closed" });
        Ok(())
    });
    let heater = Tool::from_fn("heater", "Sets the heater", |heater: Heater| async move {
        println!("the heater is at {}", heater.degrees);
        Ok(())
    });
    let staff = Staff::builder()
        .model(Model::scripted(SCRIPT))
        .tool(window)
        .tool(heater)
        // Nothing asks about the window; the heater is decided below.
        .rule(Rule::allow("window"))
        // Called for every agent, at any depth, several at a time. A real program asks a person here.
        .approve(|request| async move {
            println!("{} asks for {} {}", request.path.join(" > "), request.tool, request.input.text());
            match request.input.value()["degrees"].as_i64() {
                Some(degrees) if degrees <= 30 => Decision::allow(),
                _ => Decision::deny("at most 30 degrees"),
            }
        })
        .build()
        .await?;
    println!("{}", staff.run("Look after the greenhouse").await?.answer()?);
    staff.close().await;
    Ok(())
}
