//! What a model thinks before it answers: apart from the answer, closed until a person wants to read it.

use serde_json::json;
use testkit::browser::Browser;
use testkit::model_server::{Back, KEY, ModelServer, Turn};

use crate::site::{Site, ask, assert_quiet};

#[test]
fn thoughts_are_shown_as_thoughts_closed_and_not_as_the_answer() {
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let server = tokio.block_on(ModelServer::start(|_| {
        Turn::text("Two doors.").beside("reasoning_content", json!("First I <b>count</b> the doors."), Back::Refused)
    }));
    let url = server.url(provider::Wire::OpenAi);
    let site = Site::modelled("openai/gpt-5", &[], &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", KEY)]);
    let browser = Browser::start();
    let page = site.enter(&browser);
    ask(&page, "How many doors?");
    let talk = page.text("[role=log]");
    assert!(talk.contains("Two doors.") && talk.contains("Thinking") && !talk.contains("count"), "{talk}");
    page.press("Escape");
    for _ in 0..3 {
        page.press("j");
        if page.eval::<bool>("document.activeElement.matches('.thinking .toggle')") {
            break;
        }
    }
    page.press("ArrowRight");
    page.wait_for_text("[data-testid=thoughts]", "First I <b>count</b> the doors.");
    page.press("ArrowLeft");
    page.wait_for_no("[data-testid=thoughts]");
    page.reload();
    page.wait_for_text("[role=log]", "Thinking");
    page.click(".thinking .toggle");
    page.wait_for_text("[data-testid=thoughts]", "count");
    assert_quiet(&site, &page);
}
