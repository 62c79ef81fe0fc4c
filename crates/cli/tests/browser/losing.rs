//! A page that is loaded again, a wire that breaks, a program that is killed: what is seen in the end is what happened, once.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use testkit::browser::Browser;
use testkit::scenes::{call, calls, never_answers, says, scene, spawn};
use testkit::world::until;

use crate::cutter::Cutter;
use crate::site::{
    APPROVE, COMPLETE, CONNECTION, DIALOG, GROUP, Site, TOGGLE, ask, assert_only_here, assert_quiet, picture, say,
};

/// Time between attempts passes quickly: how long a page waits is not what is looked at here.
const HURRY: &str =
    "{ const wait = window.setTimeout; window.setTimeout = (what, ms, ...more) => wait(what, ms / 20, ...more); }";

fn family() -> [String; 3] {
    [
        scene(
            "Survey",
            &[calls(&[spawn("Count the doors"), spawn("Count the windows")]), says("Two doors, nine windows.")],
        ),
        scene("Count the doors", &[calls(&[call("list_dir", "")]), says("There are two doors.")]),
        scene("Count the windows", &[calls(&[call("list_dir", "")]), says("There are nine windows.")]),
    ]
}

/// The numbers of all events of a run that is over, from a stream that is not cut. That its thread was created is not among them: the
/// answer to a message begins with the run.
fn numbers(site: &Site, thread: &str) -> BTreeSet<u64> {
    let token = fs::read_to_string(site.world.path("../state/server.token")).expect("a token");
    let token = token.lines().next().expect("a token");
    let mut wire = TcpStream::connect(site.addr).expect("a connection");
    write!(
        wire,
        "GET /api/v1/threads/{thread}/events HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        site.addr
    )
    .expect("it can be asked");
    let (mut numbers, mut number, mut is_run) = (BTreeSet::new(), 0, false);
    for line in BufReader::new(wire).lines() {
        let line = line.expect("a line");
        if let Some(id) = line.strip_prefix("id: ") {
            number = id.parse().expect("a number");
        } else if line.starts_with("data: ") {
            is_run = is_run || line.contains("\"type\":\"run_started\"");
            if is_run {
                numbers.insert(number);
            }
            if line.contains("\"type\":\"done\"") {
                break;
            }
        }
    }
    numbers
}

// F38
#[test]
fn a_stream_that_is_cut_at_every_event_shows_what_an_uncut_one_shows() {
    let (site, browser) = (Site::scripted(&family(), &[]), Browser::start());
    let cutter = Cutter::before(site.addr);
    let page = site.enter_as(&browser.person_behind(cutter.addr), HURRY);
    ask(&page, "Survey the building");
    let thread = page.eval::<String>("location.pathname.slice('/t/'.length)");
    let events = numbers(&site, &thread);
    assert!(events.len() > 20, "{events:?}");
    let is_conversation =
        |path: &str| path.starts_with("/api/chat") || path.contains(&format!("/threads/{thread}/events"));
    let last = events.last().expect("events");
    until("the last cut", || cutter.cut_after(is_conversation).contains(last).then_some(()));
    assert_eq!(cutter.cut_after(is_conversation), events, "a cut after every event");
    let seen = picture(&page);
    page.reload();
    page.wait_for(COMPLETE);
    assert_eq!(seen, picture(&page), "after all the cuts, and from the beginning");
    assert_eq!(seen["groups"].as_array().expect("groups").len(), 2);
    assert_only_here(&site, &page);
}

// F40
#[test]
fn a_page_that_is_loaded_again_in_the_middle_of_a_run_goes_on_with_it() {
    let scenes = [
        scene("Survey", &[calls(&[spawn("Count the doors")]), says("All is written down.")]),
        scene(
            "Count the doors",
            &[calls(&[call("write_file", "path = \"doors.txt\", content = \"two\"")]), says("There are two doors.")],
        ),
    ];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let page = site.enter(&browser);
    say(&page, "Survey the building");
    page.wait_for(DIALOG);
    page.reload();
    page.wait_for(DIALOG);
    assert_eq!(page.count(GROUP), 1);
    page.click(APPROVE);
    page.wait_for(COMPLETE);
    let seen = picture(&page);
    page.reload();
    page.wait_for(COMPLETE);
    assert_eq!(seen, picture(&page));
    assert_eq!(site.world.lines("doors.txt"), ["two"]);
    assert_quiet(&site, &page);
}

// F40
#[test]
fn a_program_that_is_killed_and_started_again_goes_on_and_so_does_the_page() {
    let [survey, doors, windows] = family();
    let stuck = scene("Count the windows", &[calls(&[call("list_dir", "")]), never_answers()]);
    let (mut site, browser) = (Site::scripted(&[survey.clone(), doors.clone(), stuck], &[]), Browser::start());
    let person = browser.person();
    let page = site.enter_as(&person, HURRY);
    say(&page, "Survey the building");
    page.wait_for(GROUP);
    site.world.until_logged("a child to be done and the other to be stuck", |log| {
        let count = |kind: &str| log.iter().filter(|record| record.event.kind() == kind).count();
        count("reported") == 1 && count("tool_finished") >= 2
    });
    site.kill();
    page.until("the page to notice", &format!("!/live/i.test(document.querySelector('{CONNECTION}').textContent)"));
    site.world.rewrite(&[survey, doors, windows]);
    site.reopen();
    // Nobody opens a link: a browser that was let in stays so.
    page.wait_for(COMPLETE);
    page.wait_for_text(CONNECTION, "live");
    let seen = picture(&page);
    page.reload();
    page.wait_for(COMPLETE);
    assert_eq!(seen, picture(&page), "no gap, no duplicate");
    assert_eq!((page.count(GROUP), page.count(TOGGLE)), (2, 2));
    assert_only_here(&site, &page);
}
