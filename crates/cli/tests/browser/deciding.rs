//! A decision is about what was seen: all of it, and for long enough.

use std::fs;

use serde_json::Value;
use testkit::browser::{Browser, Page};
use testkit::scenes::{call, calls, says, scene};
use testkit::world::until;

use crate::answering::dialog;
use crate::seed::{HELD_CLOCK, pass};
use crate::site::{APPROVE, COMPLETE, DIALOG, REJECT, Site, assert_quiet, say};

// T24, T25
#[test]
fn an_edit_is_shown_with_everything_that_it_would_change_or_not_drawn_at_all() {
    let both = r#"path = "a.txt", old_text = "safe = true", new_text = "safe = false # evil""#;
    let list = r#"edits = [{ old_text = "list = 1", new_text = "list = 2" }]"#;
    let hidden = r#"edits = "[{\"old_text\": \"safe\", \"new_text\": \"evil\"}]""#;
    let everywhere = r#"path = "a.txt", old_text = "x", new_text = "y", all = true"#;
    let scenes = [
        scene("both", &[calls(&[call("edit_file", &format!("{both}, {list}"))]), says("Done.")]),
        scene("text", &[calls(&[call("edit_file", &format!("path = \"a.txt\", {hidden}"))]), says("Done.")]),
        scene("everywhere", &[calls(&[call("edit_file", everywhere)]), says("Done.")]),
    ];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let page = site.enter(&browser);
    fs::write(site.world.path("a.txt"), "safe = true\nlist = 1\n").expect("a file");
    let shown = |words: &str| {
        page.go(&site.url("/chat"));
        say(&page, words);
        page.wait_for(DIALOG);
        let shown = page.text(DIALOG);
        page.click(REJECT);
        page.wait_for(COMPLETE);
        shown
    };
    let told = shown("both forms");
    assert!(told.contains("safe = false # evil") && told.contains("list = 2"), "{told}");
    let told = shown("a text");
    assert!(told.contains("evil"), "{told}");
    let told = shown("everywhere");
    assert!(told.contains("everywhere") && told.contains("- x") && told.contains("+ y"), "{told}");
    assert_quiet(&site, &page);
}

// T22
#[test]
fn a_click_or_a_key_decides_nothing_before_a_question_was_on_the_screen_for_a_second() {
    let write = |path: &str| call("write_file", &format!("path = {path:?}, content = \"x\""));
    let scenes = [scene("both", &[calls(&[write("one.txt"), write("other.txt")]), says("Both done.")])];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let page = site.enter_as(&browser.person(), &format!("{{{HELD_CLOCK}}}"));
    say(&page, "both at once");
    for decided in 0..2 {
        pass_until(&page, &format!("document.querySelector({DIALOG:?})?.open"));
        for waited_ms in [0, 800] {
            pass(&page, waited_ms);
            for button in [APPROVE, REJECT] {
                page.eval::<Value>(&format!("void document.querySelector({button:?}).click()"));
            }
            page.press("a");
            pass(&page, 0);
            assert_eq!((decisions(&page), page.count(DIALOG)), (decided, 1), "after {waited_ms} ms");
        }
        pass(&page, 200);
        page.click(APPROVE);
        until("the decision", || (decisions(&page) > decided).then_some(()));
        pass_until(&page, &format!("!document.querySelector({DIALOG:?}).open"));
    }
    pass_until(&page, &format!("document.querySelector({COMPLETE:?})"));
    assert!(site.world.path("one.txt").exists() && site.world.path("other.txt").exists());
    assert_quiet(&site, &page);
}

// T22, T27
#[test]
fn a_question_that_a_long_list_leaves_out_stays_on_the_screen_while_it_waits() {
    let write = call("write_file", "path = \"new.txt\", content = \"x\"");
    let scenes = [scene("write", &[calls(&[write]), says("Written.")])];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let page = site.enter(&browser);
    say(&page, "write it");
    page.wait_for(DIALOG);
    page.answer("*/api/v1/approvals", "application/json", "[]");
    page.eval::<Value>("void dispatchEvent(new Event('visibilitychange'))");
    until("the question to be looked up", || {
        page.requests()
            .iter()
            .any(|request| request.url.contains("/api/v1/approvals/") && request.status.is_some())
            .then_some(())
    });
    page.click(APPROVE);
    page.wait_for(COMPLETE);
    assert_eq!(site.world.lines("new.txt"), ["x"]);
    assert_quiet(&site, &page);
}

// T24
#[test]
fn a_number_that_a_page_cannot_hold_is_shown_as_it_is_and_approved_only_so() {
    let write = call("write_file", "path = \"new.txt\", content = \"x\", amount = 9007199254740993");
    let scenes = [scene("write", &[calls(&[write]), says("Written.")])];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let page = site.enter(&browser);
    say(&page, "write it");
    page.wait_for_text(DIALOG, "\"amount\": 9007199254740993");
    assert!(!dialog(&page).contains("9007199254740992"), "{}", dialog(&page));
    assert_eq!(page.count(&format!("{DIALOG} [data-key=e]")), 0, "it would come back as another");
    page.click(APPROVE);
    page.wait_for(COMPLETE);
    assert_eq!(site.world.lines("new.txt"), ["x"]);
    assert_quiet(&site, &page);
}

/// How many decisions were sent.
fn decisions(page: &Page) -> usize {
    page.requests().iter().filter(|request| request.url.ends_with("/decision")).count()
}

/// Lets time pass in small steps until something is so, and no further.
#[track_caller]
fn pass_until(page: &Page, script: &str) {
    until(script, || {
        pass(page, 50);
        page.eval::<bool>(&format!("Boolean({script})")).then_some(())
    });
}
