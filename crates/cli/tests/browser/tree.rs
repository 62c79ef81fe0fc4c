//! Sub-agents in the conversation: closed, opened, closed again, within each other.

use std::fs;

use serde_json::json;
use testkit::browser::Browser;
use testkit::scenes::{call, calls, never_answers, says, scene, spawn, spawn_with};

use crate::site::{BADGE, COMPLETE, GROUP, Site, TOGGLE, ask, assert_quiet, say};

/// Levels within levels that are drawn.
const DRAWN: usize = 10;

// KATA-7, KATA-8, KATA-16, KATA-23
#[test]
fn a_group_is_closed_until_it_is_opened_and_says_who_it_is() {
    let kinds = ["explore", "plan", "general", "gardener"];
    let task = |kind: &str| format!("Look at it as {kind}");
    let spawns: Vec<String> =
        kinds.iter().map(|kind| spawn_with(&task(kind), &format!(", agent = {kind:?}"))).collect();
    let mut scenes = vec![scene("Look from all sides", &[calls(&spawns), says("Seen.")])];
    for kind in kinds {
        let report = says(&format!("The report of {kind}"));
        scenes.push(scene(&task(kind), &[calls(&[call("list_dir", "")]), report]));
    }
    scenes.push(scene("Begin and wait", &[calls(&[spawn("Wait for ever")])]));
    scenes.push(scene("Wait for ever", &[never_answers()]));
    let site = Site::prepared(&scenes, &[], |world| {
        let folder = world.path("../home/.config/majordomo/agents");
        fs::create_dir_all(&folder).expect("a folder");
        let gardener = "---\nname: gardener\ndescription: Knows plants.\ntools: list_dir\n---\nYou know plants.\n";
        fs::write(folder.join("gardener.md"), gardener).expect("a file");
    });
    let browser = Browser::start();
    let page = site.enter(&browser);
    ask(&page, "Look from all sides");
    let mut badges = page.texts(BADGE);
    badges.sort();
    assert_eq!(badges, ["explore", "gardener", "general", "plan"]);
    assert_eq!(page.count(&format!("{TOGGLE}[aria-expanded=false]")), kinds.len(), "all are closed");
    let inside = ["list_dir", "The report of"];
    let talk = page.text("[role=log]");
    assert!(inside.iter().all(|words| !talk.contains(words)), "{talk}");

    page.click(TOGGLE);
    page.wait_for_text(GROUP, "The report of");
    page.wait_for_text(GROUP, "list_dir");
    assert_eq!(page.count(&format!("{TOGGLE}[aria-expanded=true]")), 1, "the others stay closed");
    page.click(TOGGLE);
    page.until("it to close", &format!("!document.querySelector({}).textContent.includes('list_dir')", json!(GROUP)));
    assert_eq!(page.count(&format!("{TOGGLE}[aria-expanded=false]")), kinds.len());

    page.go(&site.url("/chat"));
    say(&page, "Begin and wait");
    page.wait_for(GROUP);
    assert_eq!(page.count(&format!("{GROUP} {TOGGLE}")), 0, "there is nothing to open yet");
    assert_eq!(page.count(COMPLETE), 0);
    assert_quiet(&site, &page);
}

// KATA-6, KATA-7, KATA-8, KATA-23: the same with the preset of that name, whose calls say type and description themselves.
#[test]
fn a_task_shows_its_type_and_description_and_does_so_when_the_page_is_loaded_again() {
    let task = |kind: &str, words: &str, prompt: &str| {
        call("Task", &format!("description = {words:?}, prompt = {prompt:?}, subagent_type = {kind:?}"))
    };
    let tasks = [
        task("Explore", "Count doors", "Look at the doors"),
        task("general-purpose", "Count windows", "Look at the windows"),
    ];
    let looks = |report: &str| [calls(&[call("list_dir", "")]), says(report)];
    let scenes = [
        scene("Survey", &[calls(&tasks), says("Two doors, nine windows.")]),
        scene("the doors", &looks("There are two doors.")),
        scene("the windows", &looks("There are nine windows.")),
    ];
    let (site, browser) = (Site::scripted(&scenes, &["--preset", "kata"]), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Survey the building");
    for is_again in [false, true] {
        if is_again {
            page.reload();
            page.wait_for(COMPLETE);
        }
        assert_eq!(page.texts(BADGE), ["explore", "general"], "again: {is_again}");
        assert_eq!(page.texts(&format!("{GROUP} .own-name")), ["Count doors", "Count windows"]);
        assert_eq!(page.count(&format!("{TOGGLE}[aria-expanded=false]")), 2, "closed, again: {is_again}");
        assert!(!page.text("[role=log]").contains("list_dir"));
    }
    page.click(TOGGLE);
    page.wait_for_text(GROUP, "There are two doors.");
    assert_eq!(page.rule(".group > .inside", "animationName"), "unfold", "it opens before one's eyes");
    assert_eq!(page.rule(".chevron", "transitionProperty"), "transform");
    let inside = json!(format!("{GROUP} .inside"));
    let moves: String = page.eval(&format!("getComputedStyle(document.querySelector({inside})).animationName"));
    assert_eq!(moves, "none", "but not for a person who prefers less motion, as this browser does");
    page.click(TOGGLE);
    page.wait_for_no(&format!("{GROUP} .inside"));
    assert_quiet(&site, &page);
}

// KATA-9, KATA-11, KATA-17, KATA-23
#[test]
fn ten_levels_lie_within_each_other_and_what_is_deeper_side_by_side() {
    let deepest = DRAWN + 2;
    // The deeper ones first: the words of level 1 are in those of level 12, too.
    let scenes: Vec<String> = (0..=deepest)
        .rev()
        .map(|level| {
            let below = calls(&[spawn(&format!("Go to level {}.", level + 1))]);
            let said = says(&format!("Back from level {level}."));
            scene(&format!("level {level}."), &if level < deepest { vec![below, said] } else { vec![said] })
        })
        .collect();
    let depth = (deepest + 1).to_string();
    let site = Site::scripted(&scenes, &["--max-depth", &depth, "--max-children", "10000", "--max-concurrent", "20"]);
    let browser = Browser::start();
    let page = site.enter(&browser);
    ask(&page, "Begin at level 0.");
    assert_eq!(page.count(GROUP), 1, "the first is closed");
    page.press("Escape");
    page.press("Shift+ArrowRight");
    page.until("all groups", &format!("document.querySelectorAll({}).length === {deepest}", json!(GROUP)));
    let above: Vec<usize> = page.eval(&format!(
        "[...document.querySelectorAll({group})].map((node) => {{
            let above = 0;
            for (let at = node.parentElement?.closest({group}); at; at = at.parentElement?.closest({group})) above += 1;
            return above;
        }})",
        group = json!(GROUP),
    ));
    assert_eq!(above[..=DRAWN], (0..=DRAWN).collect::<Vec<_>>());
    assert_eq!(above[DRAWN + 1..], [DRAWN], "the twelfth stands beside the eleventh");
    page.wait_for_text("[role=log]", "Deeper than 10 levels");
    let left: Vec<f64> = page.eval(&format!(
        "[...document.querySelectorAll({})].map((node) => node.getBoundingClientRect().left)",
        json!(GROUP)
    ));
    assert!(left[..DRAWN].windows(2).all(|two| two[0] < two[1]), "each is further in: {left:?}");
    assert_quiet(&site, &page);
}
