//! Files that a person sends with a message: chosen, dropped, pasted; what the model is shown, and what is shown in the conversation afterwards.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testkit::browser::{Browser, Page};
use testkit::model_server::{KEY, ModelServer, Turn};
use testkit::world::until;

use crate::site::{COMPLETE, INPUT, SEND, Site, ask, assert_quiet};

/// A red and a green pixel.
const PICTURE: &[u8] = b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x02\x00\x00\x00\x01\x08\x02\x00\x00\x00\x7b\x40\xe8\xdd\x00\x00\x00\x0f\x49\x44\x41\x54\x78\x9c\x63\xf8\xcf\xc0\xc0\xf0\x9f\x01\x00\x07\xff\x01\xff\x01\x7f\x89\xa7\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82";
/// The same in base64.
const PICTURE_TEXT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DA8J8BAAf/Af8Bf4mnAAAAAElFTkSuQmCC";
const MODEL: &str = "anthropic/claude-haiku-4-5";
const CHIP: &str = "#files .chip";

/// A server whose model is one of a provider that refuses what a real one refuses.
struct Looking {
    _tokio: tokio::runtime::Runtime,
    server: ModelServer,
    site: Site,
}

impl Looking {
    fn new() -> Self {
        Self::with(&[])
    }

    /// With a model that is said to take no images.
    fn blind() -> Self {
        Self::with(&["--set", &format!("models.\"{MODEL}\".takes=tools")])
    }

    fn with(arguments: &[&str]) -> Self {
        let tokio =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = tokio.block_on(ModelServer::start(|_| Turn::text("I see.")));
        let url = server.url(provider::Wire::Anthropic);
        let variables = [("ANTHROPIC_BASE_URL", &*url), ("ANTHROPIC_API_KEY", KEY)];
        let site = Site::modelled(MODEL, arguments, &variables);
        Self { _tokio: tokio, server, site }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.site.world.path(name);
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// The requests that the model got, as text.
    fn sent(&self) -> Vec<String> {
        self.server.requests().iter().map(|request| String::from_utf8_lossy(&request.raw).into_owned()).collect()
    }
}

/// Gives the page a file as the system would: dropped on it, or pasted into it.
fn give(page: &Page, how: &str) {
    let script = format!(
        r#"(() => {{
            const bytes = Uint8Array.from(atob("{PICTURE_TEXT}"), (sign) => sign.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], "{how}.png", {{ type: "image/png" }}));
            const [place, event] = "{how}" === "drop"
                ? [".talk", new DragEvent("drop", {{ dataTransfer: data, bubbles: true, cancelable: true }})]
                : ["textarea", new ClipboardEvent("paste", {{ clipboardData: data, bubbles: true, cancelable: true }})];
            document.querySelector(place).dispatchEvent(event);
            return event.defaultPrevented;
        }})()"#
    );
    assert!(page.eval::<bool>(&script), "the browser must not open it itself");
}

#[test]
fn files_that_are_chosen_dropped_or_pasted_reach_the_model_and_stay_in_the_conversation() {
    let (looking, browser) = (Looking::new(), Browser::start());
    let page = looking.site.enter(&browser);
    let picture = looking.file("dots.png", PICTURE);
    let (paper, words) =
        (looking.file("paper.pdf", b"%PDF-1.4\n<< /Type /Page >>"), looking.file("words.txt", b"TEXT-CANARY"));
    page.choose("#file-input", &[&picture, &paper, &words]);
    page.until("three chips", &format!("document.querySelectorAll({CHIP:?}).length === 3"));
    page.click(SEND);
    page.wait_for_text("#toasts", "Write what is to be done");
    ask(&page, "What is this?");
    assert_eq!(page.count(CHIP), 0, "they were sent");
    let sent = looking.sent().remove(0);
    assert!(sent.contains(PICTURE_TEXT) && sent.contains("TEXT-CANARY") && sent.contains("application/pdf"), "{sent}");

    shows_picture(&page);
    page.wait_for_text(".attached", "paper.pdf");
    page.reload();
    page.wait_for(COMPLETE);
    shows_picture(&page);
    page.click(".thumb-place");
    page.wait_for("#picture img");
    page.press("Escape");
    page.wait_for_no("#picture");

    give(&page, "drop");
    give(&page, "paste");
    page.wait_for_text(CHIP, "drop.png");
    page.wait_for_text(CHIP, "paste.png");
    page.click("[aria-label='Remove drop.png']");
    page.until("one chip", &format!("document.querySelectorAll({CHIP:?}).length === 1"));
    page.fill(INPUT, "And this?");
    page.press("Enter");
    page.until("two answers", &format!("document.querySelectorAll({COMPLETE:?}).length === 2"));
    assert!(looking.sent().last().expect("a request").contains("[attached: paste.png]"));
    assert_eq!(looking.server.refusals(), [""; 0]);
    assert_quiet(&looking.site, &page);
}

#[test]
fn what_a_model_or_the_server_does_not_take_is_said_and_nothing_that_was_written_is_lost() {
    let (looking, browser) = (Looking::new(), Browser::start());
    let page = looking.site.enter(&browser);
    let data = looking.file("data.bin", &[0, 1, 2]);
    page.choose("#file-input", &[&data]);
    page.wait_for(CHIP);
    page.fill(INPUT, "What is this?");
    page.press("Enter");
    page.wait_for_text("#failure", "data.bin is neither a text, nor an image");
    page.until("the words again", &format!("document.querySelector({INPUT:?}).value === 'What is this?'"));
    page.wait_for_text(CHIP, "data.bin");
    assert_eq!(looking.sent().len(), 0);
}

#[test]
fn a_model_that_takes_no_images_is_named_with_what_can_be_done() {
    let (looking, browser) = (Looking::blind(), Browser::start());
    let page = looking.site.enter(&browser);
    let picture = looking.file("dots.png", PICTURE);
    page.choose("#file-input", &[&picture]);
    page.wait_for(CHIP);
    page.fill(INPUT, "What is this?");
    page.press("Enter");
    page.wait_for_text("#failure", "takes no images, so dots.png cannot be passed: use another model");
    page.wait_for_text(CHIP, "dots.png");
    assert_eq!(looking.sent().len(), 0);
}

#[test]
fn a_long_text_is_closed_behind_its_beginning() {
    let (looking, browser) = (Looking::new(), Browser::start());
    let page = looking.site.enter(&browser);
    let lines: String = (0..200).map(|number| format!("line {number} <img src=x onerror=window.caught=1>\n")).collect();
    let text = looking.file("long.txt", lines.as_bytes());
    page.choose("#file-input", &[&text]);
    page.wait_for(CHIP);
    ask(&page, "Count the lines");
    assert!(!page.text("[role=log]").contains("line 150"));
    page.click("[role=log] .from-person button");
    page.wait_for_text("[role=log]", "line 150");
    assert_eq!(page.eval::<Value>("window.caught ?? null"), Value::Null);
    until("the request", || looking.sent().first().filter(|sent| sent.contains("line 199")).map(|_| ()));
    assert_quiet(&looking.site, &page);
}

/// That the picture in the conversation is there, and is what was sent.
fn shows_picture(page: &Page) {
    page.until("a picture", "document.querySelector('.thumb')?.naturalWidth === 2");
    assert_eq!(page.eval::<String>("document.querySelector('.thumb').alt"), "dots.png");
}
