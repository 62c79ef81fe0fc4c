//! The smallest program: one task, one answer. `cargo run -p majordomo --example ten_lines`

use majordomo::{Model, Staff};

#[tokio::main]
async fn main() -> Result<(), majordomo::Error> {
    // Replies in order, so that the example needs no key. A real program says .model("anthropic/claude-sonnet-5-5").
    let model = Model::replies(["The Loire, the Seine and the Rhône."]);
    let staff = Staff::builder().model(model).build().await?;
    let report = staff.run("Name three rivers of France").await?;
    println!("{}", report.answer()?);
    staff.close().await;
    Ok(())
}
