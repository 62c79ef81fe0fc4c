//! The board: tasks by keys and by menu, what they wait for, who has them, and their conversations.

use testkit::browser::{Browser, Page};
use testkit::scenes::{calls, command, says, scene};

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
fn a_task_is_moved_by_keys_by_dragging_and_by_menu_and_shows_what_it_waits_for() {
    let (site, browser) = (Site::scripted(&[scene("Paint", &[says("Painted.")])], &[]), Browser::start());
    let page = site.enter(&browser);
    page.click("#tab-board");
    add(&page, "Buy <b>paint</b>", "human", "");
    add(&page, "Paint the door", "new:general", "t1");
    in_column(&page, "t2", "pending");
    page.wait_for_text("[data-task=t2]", "after");
    page.wait_for_text("[data-task=t1]", "before");
    // The same tasks are read once more.
    page.eval::<()>("void document.querySelector('#tab-board').click()");
    page.eval::<()>("void document.querySelector('[data-task=t1]').focus()");
    page.press("ArrowDown");
    page.until("the card below", "document.activeElement.dataset.task === 't2'");
    page.press("ArrowUp");
    page.press("Shift+ArrowRight");
    in_column(&page, "t1", "in_progress");
    page.until("the focus to go with it", "document.activeElement.dataset.task === 't1'");
    page.eval::<()>(
        "(() => { const dataTransfer = new DataTransfer(), how = { dataTransfer, bubbles: true, cancelable: true }; \
         document.querySelector('[data-task=t1]').dispatchEvent(new DragEvent('dragstart', how)); \
         document.querySelector('.column[data-status=blocked]').dispatchEvent(new DragEvent('drop', how)); })()",
    );
    in_column(&page, "t1", "blocked");
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

// LACE-8
#[test]
fn a_conversation_shows_the_task_that_it_works_on() {
    // It waits for approval, so that it still works on its task when the page is looked at.
    let paints = scene("Paint", &[calls(&[command("touch painted")]), says("Painted.")]);
    let (site, browser) = (Site::scripted(&[paints], &[]), Browser::start());
    let page = site.enter(&browser);
    page.click("#tab-board");
    add(&page, "Paint the <b>door</b>", "new:general", "");
    in_column(&page, "t1", "in_progress");
    page.wait_for_text(".thread-row .thread-state", "t1");
    let title = "document.querySelector('.thread-state span[title]').title";
    assert_eq!(page.eval::<String>(title), "Works on t1: Paint the <b>door</b>");
    assert_quiet(&site, &page);
}

#[test]
fn an_answer_that_comes_late_does_not_move_a_task_back_or_take_the_focus() {
    let (site, browser) = (Site::scripted(&[], &[]), Browser::start());
    let page = site.enter(&browser);
    page.click("#tab-board");
    add(&page, "Buy paint", "human", "");
    // Answers about the board are held back from here on.
    page.eval::<()>(
        "(() => { const real = window.fetch; window.held = []; window.isHolding = true; \
         window.fetch = async (...given) => { const answer = await real(...given); \
         if (window.isHolding && String(given[0]).includes('/tasks?')) await new Promise((go) => window.held.push(go)); \
         return answer; }; document.querySelector('#tab-board').click(); })()",
    );
    page.until("the answers to be held back", "window.held.length === 4");
    page.eval::<()>("window.isHolding = false; void document.querySelector('[data-task=t1]').focus()");
    page.press("Shift+ArrowRight");
    in_column(&page, "t1", "in_progress");
    let is_there = "new Promise((told) => { window.held.forEach((go) => go()); setTimeout(() => \
                    told(!!document.activeElement.closest('.column[data-status=in_progress] [data-task=t1]')), 200); })";
    assert!(page.eval::<bool>(is_there), "the task is where it was moved to, and has the focus");
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
    page.eval::<()>("void (document.querySelector('#edit-task-due').value = '2026-02-01')");
    page.press("Enter");
    page.wait_for_text("#one-task-title", "Buy green paint");
    page.wait_for_text("#one-task .facts", "2026");
    assert_eq!(page.eval::<String>("document.querySelector('#edit-task-due').value"), "2026-02-01");
    page.wait_for_text("[data-task=t1] .facts", "due ");
    page.eval::<()>("void (document.querySelector('#edit-task-due').value = '')");
    page.fill("#edit-task-title", "Buy green paint");
    page.press("Enter");
    page.until("no due day", "!document.querySelector('[data-task=t1] .facts').textContent.includes('due ')");
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
