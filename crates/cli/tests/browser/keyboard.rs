//! All the way without a pointer.

use testkit::browser::{Browser, Page};
use testkit::scenes::{call, calls, says, scene};
use testkit::world::until;

use crate::site::{APPROVE, COMPLETE, DIALOG, GROUP, INPUT, REJECT, Site, TOGGLE, assert_quiet};

// ZILEO-27
#[test]
fn a_task_is_given_a_grave_question_decided_and_a_group_opened_by_keys_alone() {
    let batch = call(
        "ParallelTasksTool",
        "operation = \"execute_batch\", tasks = [{ agent_id = \"explore\", prompt = \"Count the doors\" }]",
    );
    let scenes = [
        scene("Survey", &[calls(&[batch]), says("Two doors.")]),
        scene("Count the doors", &[calls(&[call("list_dir", "")]), says("There are two doors.")]),
    ];
    let site = Site::scripted(&scenes, &["--preset", "zileo", "--mode", "auto"]);
    let browser = Browser::start();
    let page = site.enter(&browser);
    page.until("the message box to have the attention", &format!("document.activeElement.matches({INPUT:?})"));
    page.keys("Survey the building, and ? n / are only signs");
    page.press("Enter");
    page.wait_for(DIALOG);
    page.until("Deny to have the attention", &format!("document.activeElement.matches({REJECT:?})"));
    page.press("Enter");
    assert_eq!(page.count(DIALOG), 1, "Enter alone decides nothing that is grave");
    page.press("Escape");
    page.wait_for_no(DIALOG);
    assert_eq!(page.count(GROUP), 0, "later is neither yes nor no");
    leave_input(&page);
    page.press("g");
    page.press("a");
    page.wait_for("#inbox");
    press_until(&page, "Tab", "document.activeElement.matches('#inbox li button')");
    page.press("Enter");
    page.wait_for(APPROVE);
    press_until(&page, "a", &format!("!document.querySelector({DIALOG:?}).open"));
    page.wait_for(COMPLETE);

    leave_input(&page);
    press_until(&page, "j", &format!("document.activeElement.matches({TOGGLE:?})"));
    page.press("ArrowRight");
    page.wait_for(&format!("{TOGGLE}[aria-expanded=true]"));
    page.wait_for_text(GROUP, "There are two doors.");
    page.press("ArrowLeft");
    page.wait_for(&format!("{TOGGLE}[aria-expanded=false]"));
    page.press("?");
    page.wait_for("#help");
    page.press("Escape");
    page.wait_for_no("#help");
    page.until("the attention to be back", &format!("document.activeElement.matches({TOGGLE:?})"));
    page.press("n");
    page.until("a new conversation", "location.pathname === '/chat'");
    assert_eq!(page.count(GROUP), 0);
    assert_quiet(&site, &page);
}

/// A person who does not write has the keys of the page.
fn leave_input(page: &Page) {
    if page.eval(&format!("document.activeElement.matches({INPUT:?})")) {
        page.press("Escape");
    }
}

/// Presses a key until something is so: what has only just appeared does not take every key at once.
#[track_caller]
fn press_until(page: &Page, key: &str, script: &str) {
    until(script, || {
        page.press(key);
        page.eval::<bool>(script).then_some(())
    });
}
