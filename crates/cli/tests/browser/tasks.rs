//! The board: tasks by keys and by menu, what they wait for, who has them, and their conversations.

use testkit::browser::{Browser, Page};
use testkit::scenes::{says, scene};

use crate::site::{Site, assert_only_here, assert_quiet};

fn add(page: &Page, title: &str, who: &str, after: &str) {
    page.fill("#task-title", title);
    page.fill("#task-assign", who);
    page.fill("#task-after", after);
    page.press("Enter");
    page.wait_for_text(".column", title);
}

fn in_column(page: &Page, task: &str, status: &str) {
    page.wait_for(&format!(".column[data-status={status}] [data-task={task}]"));
}

// LACE-17
#[test]
fn a_task_is_moved_by_keys_and_by_menu_and_shows_what_it_waits_for() {
    let (site, browser) = (Site::scripted(&[scene("Paint", &[says("Painted.")])], &[]), Browser::start());
    let page = site.enter(&browser);
    page.click("#tab-board");
    add(&page, "Buy <b>paint</b>", "human", "");
    add(&page, "Paint the door", "new:general", "t1");
    in_column(&page, "t2", "pending");
    page.wait_for_text("[data-task=t2]", "after");
    page.wait_for_text("[data-task=t1]", "before");
    page.eval::<()>("void document.querySelector('[data-task=t1]').focus()");
    page.press("ArrowDown");
    page.until("the card below", "document.activeElement.dataset.task === 't2'");
    page.press("ArrowUp");
    page.press("Shift+ArrowRight");
    in_column(&page, "t1", "in_progress");
    page.until("the focus to go with it", "document.activeElement.dataset.task === 't1'");
    page.eval::<()>(
        "(() => { const menu = document.querySelector('[data-task=t1] select'); menu.value = 'completed'; \
         menu.dispatchEvent(new Event('change')); })()",
    );
    in_column(&page, "t1", "completed");
    page.wait_for_text("[data-task=t2]", "t1 ✓");

    // It starts by itself now. Its agent ends without completing it, and its conversation is one click away.
    in_column(&page, "t2", "blocked");
    page.click("[data-task=t2] [aria-label^='Open the conversation']");
    page.wait_for_text("[role=log]", "Painted.");
    assert_quiet(&site, &page);
}

#[test]
fn a_task_is_opened_changed_noted_and_deleted() {
    let (site, browser) = (Site::scripted(&[], &[]), Browser::start());
    let page = site.enter(&browser);
    page.click("#tab-board");
    add(&page, "Buy paint", "human", "");
    add(&page, "Wash the brushes", "", "");
    page.eval::<()>("void document.querySelector('[data-task=t1]').focus()");
    page.press("Enter");
    page.wait_for("#one-task");
    page.fill("#edit-task-title", "Buy green paint");
    page.fill("#edit-task-after", "t2");
    page.press("Enter");
    page.wait_for_text("#one-task-title", "Buy green paint");
    page.fill("#task-note", "Two <i>cans</i>");
    page.press("Enter");
    page.wait_for_text("#one-task .task-notes", "Two <i>cans</i>");
    page.fill("#edit-task-after", "t9");
    page.press("Enter");
    page.wait_for_text("#one-task [role=alert]", "t9");
    page.press("Escape");
    page.wait_for_no("#one-task");
    page.wait_for_text("[data-task=t1]", "Buy green paint");
    page.wait_for_text("[data-task=t1]", "1 note");
    page.click("[data-task=t1] .task-title");
    page.click("#one-task .danger");
    page.wait_for_no("#one-task");
    page.wait_for_no("[data-task=t1]");
    // What was refused stands in the console, too.
    assert_only_here(&site, &page);
}
