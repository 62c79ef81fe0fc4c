//! Accessibility: contrast, screen readers, small screens, and the dark theme.
//!
//! What a machine can find is looked for by axe-core, whose script lies beside this file with its licence.

use serde_json::Value;
use testkit::browser::{Browser, Page};
use testkit::scenes::{call, calls, says, scene, spawn};

use crate::site::{COMPLETE, DIALOG, GROUP, INPUT, Site, TOGGLE, ask, assert_quiet, say};

const AXE: &str = include_str!("axe/axe.min.js");
/// The narrowest screen that everything fits on.
const NARROW: u32 = 320;

#[test]
fn every_view_can_be_used_by_everybody_in_both_themes_and_on_a_narrow_screen() {
    let text = "## Doors\n\nThere are **two** of `oak`:\n\n| door | width |\n|---|---|\n| front | 90 cm |\n\n```sh\nls -l /a/rather/long/path/that/does/not/fit/on/a/narrow/screen/at/all/whatever/one/does\n```\n\n> [a link](https://example.org)";
    let write = call("write_file", "path = \"doors.txt\", content = \"two\"");
    let scenes = [
        scene("Survey", &[calls(&[spawn("Count the doors"), call("read_file", "path = \"nothing.txt\"")]), says(text)]),
        scene("Count the doors", &[calls(&[call("list_dir", "")]), says(text)]),
        scene("Write", &[calls(&[write]), says("Written.")]),
    ];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let page = site.enter(&browser);
    assert_for_everybody(&page, "empty");
    ask(&page, "Survey the building");
    page.click(TOGGLE);
    page.wait_for_text(GROUP, "list_dir");
    assert_for_everybody(&page, "a conversation with an open group");
    page.click("#tab-timeline");
    page.wait_for_text("#timeline", ".1");
    assert_for_everybody(&page, "the timeline");
    page.click("#thread-actions");
    page.wait_for("[role=menu]");
    assert_for_everybody(&page, "the menu of a conversation");
    page.wait_for_no("[role=menu]");
    page.click("#thread-actions");
    page.wait_for("[role=menu]");
    page.press("Enter");
    page.wait_for("#rename");
    assert_for_everybody(&page, "a new name");
    page.press("Escape");
    page.click("#tab-board");
    for title in ["Buy paint", "Paint the door"] {
        page.fill("#task-title", title);
        page.press("Enter");
        page.wait_for_text(".column", title);
    }
    assert_for_everybody(&page, "the board");
    page.click("[data-task=t1] .task-title");
    page.wait_for("#one-task");
    assert_for_everybody(&page, "a task");
    page.press("Escape");
    page.click("#tab-timeline");
    page.click("#show-settings");
    page.wait_for_text("#settings", "explore");
    assert_for_everybody(&page, "the settings");
    page.press("Escape");
    page.click("#show-help");
    page.wait_for("#help");
    assert_for_everybody(&page, "the help");
    page.press("Escape");

    page.go(&site.url("/chat"));
    page.wait_for(INPUT);
    say(&page, "Write it down");
    page.wait_for(DIALOG);
    assert_for_everybody(&page, "what is asked of a person");
    page.press("Escape");
    page.wait_for_no(DIALOG);
    page.click("#show-inbox");
    page.wait_for_text("#inbox", "doors.txt");
    assert_for_everybody(&page, "the inbox");
    assert_eq!(page.count(COMPLETE), 0);
    assert_quiet(&site, &page);
}

/// Nothing that axe finds serious, in either theme, and nothing that reaches over the edge of a narrow screen.
#[track_caller]
fn assert_for_everybody(page: &Page, state: &str) {
    for colours in ["light", "dark"] {
        page.prefers(colours);
        assert_eq!(findings(page), [] as [String; 0], "{state}, {colours}");
    }
    page.resize(NARROW, 640);
    let wide: Vec<String> = page.eval(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
            document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('*')]
                .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
                .map((node) => `${node.tagName}.${node.className}`).slice(0, 10))",
    );
    assert_eq!(wide, [] as [String; 0], "{state}: it reaches over the edge");
    assert_eq!(findings(page), [] as [String; 0], "{state}, narrow");
    page.resize(1280, 900);
}

/// What is serious, and where.
#[track_caller]
fn findings(page: &Page) -> Vec<String> {
    if !page.eval::<bool>("'axe' in window") {
        page.run_foreign(AXE);
    }
    let found: Vec<Value> = page.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
            .filter((one) => ['serious', 'critical'].includes(one.impact))
            .flatMap((one) => one.nodes.map((node) => [one.id, node.target.join(' '), node.failureSummary])))",
    );
    found.iter().map(ToString::to_string).collect()
}
