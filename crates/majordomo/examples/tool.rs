//! A function of the program as a tool of its agents. `cargo run -p majordomo --example tool`

use majordomo::{Model, Staff, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct City {
    /// The name of the city, in English.
    name: String,
}

#[derive(Serialize)]
struct Weather {
    celsius: f64,
    sky: &'static str,
}

/// What the model says and calls, so that the example needs no key.
const SCRIPT: &str = r#"
[[script]]
[[script.reply]]
calls = [{ name = "get_weather", input = { name = "Paris" } }, { name = "get_weather", input = { name = "Atlantis" } }]
[[script.reply]]
text = "21.5 degrees in Paris, and a clear sky. Nothing is known about Atlantis."
"#;

#[tokio::main]
async fn main() -> Result<(), majordomo::Error> {
    // It changes nothing, so it is declared read-only. Otherwise each call would need approval.
    let weather = Tool::from_fn("get_weather", "Current weather of a city", |city: City| async move {
        println!("get_weather({})", city.name);
        match city.name.as_str() {
            "Paris" => Ok(Weather { celsius: 21.5, sky: "clear" }),
            other => Err(format!("there is no weather station in {other}").into()),
        }
    })
    .read_only();
    let staff = Staff::builder().model(Model::scripted(SCRIPT)).tool(weather).build().await?;
    let report = staff.run("How is the weather in Paris and in Atlantis?").await?;
    println!("{}", report.answer()?);
    staff.close().await;
    Ok(())
}
