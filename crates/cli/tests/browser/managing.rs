//! What a person does with conversations as a whole: names them, puts them away, copies them, saves them, and sees what is new.

use serde_json::Value;
use testkit::browser::{Browser, Page};
use testkit::scenes::{says, scene};
use testkit::world::until;

use crate::site::{COMPLETE, INPUT, Site, ask, assert_quiet, say};

const ROW: &str = "#thread-list .thread";
const MENU: &str = "[role=menu]";

fn site() -> Site {
    Site::scripted(
        &[scene("Survey", &[says("It stands."), says("It still stands.")]), scene("Count", &[says("Two.")])],
        &[],
    )
}

/// Keeps what the page saves, in the place of the browser's folder.
const RECORD_SAVED: &str = r#"
    window.saved = [];
    let kept = null;
    const address = URL.createObjectURL;
    URL.createObjectURL = (bytes) => address.call(URL, (kept = bytes));
    HTMLAnchorElement.prototype.click = function () {
        kept.text().then((text) => saved.push([this.download, text]));
    };
"#;

#[test]
fn a_conversation_is_renamed_and_archived_by_its_menu_and_is_found_in_the_archive() {
    let (site, browser) = (site(), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    page.click("#thread-actions");
    page.wait_for(MENU);
    page.until("the first choice to have the focus", "document.activeElement.getAttribute('role') === 'menuitem'");
    choose(&page, "Rename");
    page.wait_for("#rename");
    page.fill("#rename-title-text", "The <b>old</b> house");
    page.press("Enter");
    page.wait_for_no("#rename");
    page.wait_for_text(ROW, "The <b>old</b> house");
    page.wait_for_text("#where h2", "The <b>old</b> house");
    page.reload();
    page.wait_for_text("#where h2", "The <b>old</b> house");

    page.click(".thread-row .thread-menu");
    choose(&page, "Archive");
    page.until("an empty list", &format!("!document.querySelector({ROW:?})"));
    page.click("#show-archived");
    page.wait_for_text(ROW, "The <b>old</b> house");
    page.click(".thread-row .thread-menu");
    choose(&page, "Bring back");
    page.wait_for_text("#thread-list .note", "Nothing is archived.");
    page.wait_for_text(ROW, "The <b>old</b> house");
    assert_quiet(&site, &page);
}

#[test]
fn keys_rename_archive_and_fork_the_conversation_that_has_the_focus() {
    let (site, browser) = (site(), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    page.press("Escape");
    page.press("r");
    page.wait_for("#rename");
    page.keys("Mine");
    page.press("Enter");
    page.wait_for_text(ROW, "Mine");
    page.wait_for_no("#rename");
    page.press("f");
    page.until("two conversations", &format!("document.querySelectorAll({ROW:?}).length === 2"));
    page.wait_for_text("[role=log]", "It stands.");
    page.eval::<Value>(&format!("void document.querySelectorAll({ROW:?})[0].focus()"));
    page.press("ArrowDown");
    page.until("the second row", &format!("document.activeElement === document.querySelectorAll({ROW:?})[1]"));
    page.press("ArrowUp");
    page.press("e");
    page.until("one conversation", &format!("document.querySelectorAll({ROW:?}).length === 1"));
    page.press("?");
    page.wait_for_text("#help", "rename, archive, fork");
    assert_quiet(&site, &page);
}

#[test]
fn a_copy_is_made_at_an_answer_and_goes_on_by_itself() {
    let (site, browser) = (site(), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    let before: String = page.eval("location.pathname");
    say(&page, "And now?");
    page.until("two answers", &format!("document.querySelectorAll({COMPLETE:?}).length === 2"));
    page.click(&format!("{COMPLETE}:first-of-type button"));
    page.until("the copy", &format!("location.pathname !== {before:?} && location.pathname !== '/chat'"));
    page.wait_for(COMPLETE);
    let talk = page.text("[role=log]");
    assert!(talk.contains("It stands.") && !talk.contains("And now?"), "{talk}");
    say(&page, "Go on");
    page.until("an answer", &format!("document.querySelectorAll({COMPLETE:?}).length === 2"));
    page.go(&site.url(&before));
    page.until("the first one as it was", &format!("document.querySelectorAll({COMPLETE:?}).length === 2"));
    assert!(page.text("[role=log]").contains("And now?"));
    assert_quiet(&site, &page);
}

#[test]
fn a_conversation_is_saved_as_markdown_and_as_its_log() {
    let (site, browser) = (site(), Browser::start());
    let page = site.enter_as(&browser.person(), RECORD_SAVED);
    ask(&page, "Survey the building");
    for (choice, ending, told) in
        [("Export as Markdown", "md", "**You:** Survey"), ("Export as JSONL", "jsonl", "majordomo_thread")]
    {
        page.click("#thread-actions");
        choose(&page, choice);
        let file = until("a file", || {
            let saved: Vec<(String, String)> = page.eval("saved");
            saved.into_iter().find(|(name, _)| name.ends_with(ending))
        });
        assert!(file.1.contains(told), "{file:?}");
    }
}

#[test]
fn an_answer_that_came_while_another_conversation_was_looked_at_is_marked_until_it_is_read() {
    let (site, browser) = (site(), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    let first: String = page.eval("location.pathname");
    page.wait_for("#thread-list .thread-row:not(.is-unread)");
    // Another program asks in the same conversation.
    page.click("#new-thread");
    page.until("a new conversation", "location.pathname === '/chat'");
    ask(&page, "Count the doors");
    page.wait_for_no(".is-unread");
    page.go(&site.url("/chat"));
    page.wait_for(INPUT);
    let thread = first.trim_start_matches("/t/");
    page.eval::<Value>(&format!(
        "import('/page/api.js').then(({{ api }}) => api('/threads/{thread}/messages', {{ text: 'And now?' }}))"
    ));
    page.wait_for_text(".is-unread .thread", "Survey the building");
    page.wait_for_text(".is-unread .thread-state", "not read yet");
    assert_eq!(page.count(".is-unread"), 1);
    page.click(".is-unread .thread");
    page.wait_for_text("[role=log]", "It still stands.");
    page.wait_for_no(".is-unread");
    page.click("#new-thread");
    page.until("a new conversation", "location.pathname === '/chat'");
    page.reload();
    page.wait_for(ROW);
    assert_eq!(page.count(".is-unread"), 0, "it was read");
    assert_quiet(&site, &page);
}

/// Chooses what begins with these words from the menu that is open.
#[track_caller]
fn choose(page: &Page, words: &str) {
    page.wait_for_text("[role=menuitem]", words);
    let place: usize = page.eval(&format!(
        "[...document.querySelectorAll('[role=menuitem]')].findIndex((item) => item.textContent.startsWith({words:?}))"
    ));
    for _ in 0..place {
        page.press("ArrowDown");
    }
    page.press("Enter");
    page.wait_for_no(MENU);
}
