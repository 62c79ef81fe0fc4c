//! What is over is shown as over: nothing comes any more, and why it ended is told once.

use testkit::browser::{Browser, Page};
use testkit::scenes::{calls, fails, never_answers, says, scene, spawn, whenever_asked};

use crate::site::{COMPLETE, GROUP, Site, ask, assert_quiet, say};

/// Words that are still being said.
const COMING: &str = ".is-coming";
const STOP: &str = "[data-testid=stop-button]";

#[test]
fn what_was_being_said_when_a_run_was_stopped_is_not_shown_any_more() {
    let slow = format!("{}chunk_delay_ms = 100\n", says(&"and so on, ".repeat(3000)));
    let (site, browser) = (Site::scripted(&[scene("Tell", &[whenever_asked(&slow)])], &[]), Browser::start());
    let page = site.enter(&browser);
    say(&page, "Tell me everything");
    page.wait_for_text(COMING, "and so on");
    stop_now(&page);
    page.wait_for(COMPLETE);
    assert_eq!(page.count(COMING), 0, "nothing comes of it any more");
    page.reload();
    page.wait_for(COMPLETE);
    assert_eq!(page.count(COMING), 0, "nor in a page that is opened later");
    assert_quiet(&site, &page);
}

#[test]
fn the_cause_of_a_failure_is_told_once() {
    let (site, browser) = (Site::scripted(&[scene("Try", &[fails()])], &[]), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Try it");
    let cause = page.text(".card-cause");
    assert_eq!(page.text("[role=log]").matches(&cause).count(), 1, "{}", page.text("[role=log]"));
    assert_quiet(&site, &page);
}

#[test]
fn a_sub_agent_that_was_stopped_is_called_stopped_wherever_it_is_shown() {
    let scenes = [
        scene("Survey", &[calls(&[spawn("Wait for ever")]), says("It was stopped.")]),
        scene("Wait for ever", &[never_answers()]),
    ];
    let (site, browser) = (Site::scripted(&scenes, &[]), Browser::start());
    let page = site.enter(&browser);
    say(&page, "Survey the building");
    page.wait_for(GROUP);
    page.click("[title='Open as a conversation']");
    page.wait_for_text("[role=log]", "Wait for ever");
    stop_now(&page);
    page.wait_for_text(".card", "was stopped");
    page.click(".crumb");
    page.wait_for(COMPLETE);
    assert_eq!(page.text(&format!("{GROUP} .state")), "■ stopped");
    assert_eq!(page.count("[data-agent][data-state=failed]"), 0, "nothing has failed");
    assert_quiet(&site, &page);
}

/// Stops what runs, without waiting for its last words.
fn stop_now(page: &Page) {
    page.click(STOP);
    page.wait_for_text(STOP, "Stop now");
    let has_room: bool = page.eval(&format!(
        "(({{ scrollWidth, clientWidth }}) => scrollWidth <= clientWidth)(document.querySelector({STOP:?}))"
    ));
    assert!(has_room, "the longer words fit where the shorter ones were");
    page.click(STOP);
}
