//! Where one is: a sub-agent's own view, the views that have addresses, and what was written for which conversation.

use testkit::browser::{Browser, Page};
use testkit::scenes::{call, calls, says, scene, spawn};

use crate::site::{COMPLETE, GROUP, INPUT, Site, TOGGLE, ask, assert_quiet, say};

fn family() -> [String; 2] {
    [
        scene("Survey", &[calls(&[spawn("Count the doors")]), says("Two doors.")]),
        scene("Count the doors", &[calls(&[call("list_dir", "")]), says("There are two doors, both shut.")]),
    ]
}

#[test]
fn a_sub_agents_own_view_begins_with_its_brief_and_ends_with_its_report() {
    let (site, browser) = (Site::scripted(&family(), &[]), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    page.click("[title='Open as a conversation']");
    page.wait_for_text("[role=log]", "both shut");
    let talk = page.text("[role=log]");
    let places = ["Count the doors", "list_dir", "Report", "both shut"].map(|words| talk.find(words));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{talk}");
    assert_eq!(page.count(GROUP), 0);
    page.wait_for("[data-agent=general].active");
    assert_quiet(&site, &page);
}

#[test]
fn keys_lead_down_and_up_and_the_attention_stays_with_the_rows() {
    let (site, browser) = (Site::scripted(&family(), &[]), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    page.press("Escape");
    page.press("]");
    page.until("the sub-agent", "/[.]1$/.test(location.pathname)");
    assert!(!page.eval::<bool>(&format!("document.activeElement.matches({INPUT:?})")), "the next key is a key");
    page.press("[");
    page.until("the parent", "!/[.]1$/.test(location.pathname)");
    page.until("the row one came from", &format!("document.activeElement.matches({TOGGLE:?})"));
    assert_quiet(&site, &page);
}

#[test]
fn a_view_has_an_address_that_a_reload_and_the_way_back_know() {
    let (site, browser) = (Site::scripted(&family(), &[]), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    page.press("Escape");
    page.press("g");
    page.press("t");
    page.until("the timeline", "location.hash === '#timeline' && !document.querySelector('#timeline').hidden");
    page.until("the attention to be there", "document.activeElement.id === 'timeline'");
    page.reload();
    page.wait_for(".lane");
    page.click("#tab-cost");
    page.until("the cost", "location.hash === '#cost'");
    page.eval::<()>("void history.back()");
    page.until("the timeline again", "!document.querySelector('#timeline').hidden");
    page.eval::<()>("void history.back()");
    page.until("the chat again", "!document.querySelector('#chat').hidden && location.hash === ''");
    assert_quiet(&site, &page);
}

#[test]
fn what_was_written_stays_with_its_conversation_and_so_does_its_name() {
    let scenes = [scene("Survey", &[says("It stands."), says("It still stands.")])];
    let (site, browser) = (Site::scripted(&scenes, &[]), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    say(&page, "And the garden?");
    page.until("two answers", &format!("document.querySelectorAll({COMPLETE:?}).length === 2"));
    assert_eq!(page.text("#where h2"), "Survey the building");
    page.fill(INPUT, "half a thought");
    page.click("#new-thread");
    page.until("a new conversation", "location.pathname === '/chat'");
    assert_eq!(written(&page), "");
    page.fill(INPUT, "another thought");
    page.click("[data-testid^='thread-2']");
    page.wait_for(COMPLETE);
    assert_eq!(written(&page), "half a thought");
    page.click("#new-thread");
    page.until("a new conversation", "location.pathname === '/chat'");
    assert_eq!(written(&page), "another thought");
    assert_quiet(&site, &page);
}

#[test]
fn what_is_said_to_a_conversation_that_is_gone_can_begin_another() {
    let (site, browser) = (Site::scripted(&[scene("Survey", &[says("It stands.")])], &[]), Browser::start());
    let page = site.enter(&browser);
    page.go(&site.url("/t/20990101-zzzz"));
    page.wait_for_text("#reconnect", "deleted");
    say(&page, "Survey the building");
    page.wait_for_text("#failure", "Start a new conversation with this text");
    page.click("#failure button");
    page.wait_for(COMPLETE);
    assert!(page.text("[role=log]").contains("It stands."));
    assert_eq!(written(&page), "", "it was sent");
}

fn written(page: &Page) -> String {
    page.eval(&format!("document.querySelector({INPUT:?}).value"))
}
