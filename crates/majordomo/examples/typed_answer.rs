//! An answer as a value of a Rust type. `cargo run -p majordomo --example typed_answer`

use majordomo::{Model, Staff};
use schemars::JsonSchema;
use serde::Deserialize;

/// What the model is asked for: the schema comes from the type, doc comments included.
#[derive(Deserialize, JsonSchema)]
struct Invoice {
    /// The company that sent it.
    sender: String,
    /// The sum to pay, in euros.
    total: f64,
    /// When it must be paid, as YYYY-MM-DD.
    due: String,
}

#[tokio::main]
async fn main() -> Result<(), majordomo::Error> {
    // The first reply does not fit the type: it is asked for again, and the program never sees it.
    let model = Model::replies(["It is from Acme.", r#"{"sender": "Acme", "total": 129.5, "due": "2026-02-01"}"#]);
    let staff = Staff::builder().model(model).build().await?;
    let invoice: Invoice = staff.run_as("Acme asks for 129,50 € until the first of February 2026. What is it?").await?;
    println!("{} wants {:.2} € by {}", invoice.sender, invoice.total, invoice.due);
    staff.close().await;
    Ok(())
}
