//! A person asks, looks on, is asked, and decides.

use agent::{Event, Outcome, ThreadId};
use serde_json::{Value, json};
use testkit::browser::{Browser, Page};
use testkit::scenes::{call, calls, never_answers, says, scene};
use testkit::world::report_of;

use crate::site::{
    ANSWER, APPROVE, BADGE, CHOICE, COMPLETE, DIALOG, GROUP, REASON, RECORD_RAIL, REJECT, RISK, SEND_ANSWER, Site,
    TOGGLE, ask, assert_quiet, say,
};

/// The size of the page on the wire, at most: everything that it takes until one can write.
const FIRST_LOAD: u64 = 150 * 1024;

/// Adds up how far things on the page jump by themselves.
const RECORD_SHIFTS: &str = r#"
    window.shifts = [];
    new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) shifts.push(one.value); })
        .observe({ type: "layout-shift", buffered: true });
"#;

/// The call that writes a file.
fn write(path: &str, content: &str) -> String {
    call("write_file", &format!("path = {path:?}, content = {content:?}"))
}

/// The call that starts an agent under the preset `zileo`.
fn spawn(name: &str, prompt: &str) -> String {
    call("SpawnAgentTool", &format!("operation = \"spawn\", name = {name:?}, prompt = {prompt:?}"))
}

// ORION-24, ZILEO-28, KATA-8
#[test]
fn the_demo_answers_without_any_model_and_shows_who_did_what() {
    let (site, browser) = (Site::demo(), Browser::start());
    let page = site.enter_as(&browser.person(), RECORD_RAIL);
    let loaded: u64 = page.requests().iter().map(|request| request.bytes).sum();
    assert!((1..FIRST_LOAD).contains(&loaded), "{loaded} bytes: {:#?}", page.requests());

    ask(&page, "What urgent emails do I have?");
    // How long each is shown is measured where the clock is in our hands (`seed`).
    let rail: Vec<String> = page.eval("rail.map(([agent]) => agent)");
    assert_eq!(rail, ["butler", "triage", "butler"]);

    let group = page.text(GROUP);
    assert_eq!(page.text(BADGE), "triage", "{group}");
    let answer = page.text("[role=log]");
    assert!(answer.contains("urgent") && !answer.contains("Report"), "{answer}");
    page.click(TOGGLE);
    page.wait_for_text(GROUP, "Report");
    page.wait_for_text(GROUP, "mail_triage");
    page.click(TOGGLE);
    page.until(
        "the group to close",
        &format!("!document.querySelector('{GROUP}').textContent.includes('mail_triage')"),
    );
    assert_quiet(&site, &page);
}

// ZILEO-27, ZILEO-28, ZILEO-40
#[test]
fn a_sub_agent_that_was_approved_is_in_the_timeline_and_one_that_was_not_never_was() {
    let scenes = [
        scene("Analyse", &[calls(&[spawn("Ada", "List the fields")]), says("It has two fields.")]),
        scene("List the fields", &[says("id, name")]),
    ];
    let browser = Browser::start();
    let site = Site::scripted(&scenes, &["--preset", "zileo", "--mode", "auto"]);
    let page = site.enter(&browser);
    say(&page, "Analyse the schema");
    page.wait_for(DIALOG);
    let risk = page.text(RISK);
    assert!(risk.to_lowercase().contains("medium"), "{risk}");
    let asked = dialog(&page);
    for words in ["SpawnAgentTool", "Ada", "List the fields"] {
        assert!(asked.contains(words), "{words}: {asked}");
    }
    assert_eq!(page.count(GROUP), 0, "no sub-agent is started before a person decides");
    page.click(APPROVE);
    page.wait_for(COMPLETE);
    assert_eq!(page.count(DIALOG), 0);
    assert!(page.text(GROUP).contains("List the fields"));
    page.click("#tab-timeline");
    page.wait_for_text("#timeline", ".1");

    let site = Site::scripted(&scenes, &["--preset", "zileo", "--mode", "auto"]);
    let page = site.enter(&browser);
    say(&page, "Analyse the schema");
    page.fill(REASON, "do it yourself");
    page.click(REJECT);
    page.wait_for(COMPLETE);
    assert_eq!((page.count(DIALOG), page.count(GROUP)), (0, 0));
    assert!(page.text("[role=log]").contains("It has two fields."));
    let executions: Vec<Value> = page
        .eval("import('/page/api.js').then(({ api }) => api(`/executions?workflow=${location.pathname.slice(3)}`))");
    assert_eq!(executions, [] as [Value; 0]);
    site.world.until_logged("the reason", |log| {
        log.iter().any(|record| format!("{:?}", record.event).contains("do it yourself"))
    });
    assert_quiet(&site, &page);
}

#[test]
fn a_question_of_an_agent_is_shown_with_its_choices_and_answered_on_the_page() {
    let asks = |question: &str| call("ask_user", &format!("question = {question:?}, choices = [\"red\", \"green\"]"));
    let scenes = [scene("paint", &[calls(&[asks("Which colour?")]), calls(&[asks("How bright?")]), says("Painted.")])];
    let (site, browser) = (Site::scripted(&scenes, &[]), Browser::start());
    let page = site.enter(&browser);
    say(&page, "paint it");
    page.wait_for_text(DIALOG, "Which colour?");
    assert_eq!((page.count(CHOICE), page.count(APPROVE), page.count(RISK)), (2, 0, 0), "{}", dialog(&page));
    page.click(CHOICE);
    page.wait_for_text(DIALOG, "How bright?");
    page.fill(ANSWER, "as bright as <b>day</b>");
    page.click(SEND_ANSWER);
    page.wait_for(COMPLETE);
    assert_eq!(page.count(DIALOG), 0);
    page.wait_for_text("[role=log]", "answered");
    let log = site.world.log();
    let results: Vec<&str> = log
        .iter()
        .filter_map(|record| match &*record.event {
            Event::ToolFinished { result, .. } => Some(&*result.content),
            _ => None,
        })
        .collect();
    assert_eq!(results, ["red", "as bright as <b>day</b>"]);
    assert_quiet(&site, &page);
}

// ZILEO-27
#[test]
fn a_question_shows_its_details_as_json_and_its_risk_in_colour_and_takes_a_reason_or_none() {
    let batch = r#"operation = "execute_batch", tasks = [{ agent_id = "explore", prompt = "Count the doors" }]"#;
    let scenes = [
        scene("one", &[calls(&[spawn("Ada", "List the fields")]), says("Then not.")]),
        scene("several", &[calls(&[call("ParallelTasksTool", batch)]), says("Then not.")]),
    ];
    let (site, browser) = (Site::scripted(&scenes, &["--preset", "zileo", "--mode", "auto"]), Browser::start());
    let page = site.enter(&browser);
    let one = json!({"operation": "spawn", "name": "Ada", "prompt": "List the fields"});
    let tasks = json!([{"agent_id": "explore", "prompt": "Count the doors"}]);
    let several = json!({"operation": "execute_batch", "tasks": tasks});
    for (words, risk, variable, input, reason) in
        [("one", "medium", "--warn", one, None), ("several", "high", "--bad", several, Some("too many"))]
    {
        page.go(&site.url("/chat"));
        say(&page, words);
        page.wait_for(DIALOG);
        assert_eq!(page.eval::<String>(&format!("document.querySelector({RISK:?}).dataset.risk")), risk);
        let is_coloured = format!(
            "(() => {{ const probe = document.createElement('i'); probe.style.color = 'var({variable})'; document.body.append(probe);
                const wanted = getComputedStyle(probe).color; probe.remove();
                return getComputedStyle(document.querySelector({RISK:?})).color === wanted; }})()"
        );
        assert!(page.eval::<bool>(&is_coloured), "{risk} is told by its colour, too");
        let shown: String = page.eval(&format!("document.querySelector('{DIALOG} pre.exact').textContent"));
        assert_eq!(serde_json::from_str::<Value>(&shown).expect("the details are JSON"), input);
        assert!(shown.lines().count() > 3 && shown.contains("\n  \""), "over several lines: {shown}");
        if let Some(reason) = reason {
            page.fill(REASON, reason);
        }
        page.click(REJECT);
        page.wait_for(COMPLETE);
        assert_eq!((page.count(DIALOG), page.count(GROUP)), (0, 0));
        let log = site.world.log();
        let told = log.iter().filter(|record| format!("{:?}", record.event).contains("too many")).count();
        assert_eq!(told > 0, reason.is_some());
    }
    assert_quiet(&site, &page);
}

// T22
#[test]
fn a_decision_is_about_the_question_on_screen_whatever_comes_meanwhile() {
    let scenes = [
        scene("first", &[calls(&[write("first.txt", "1")]), says("First done.")]),
        scene("second", &[calls(&[write("second.txt", "2")]), says("Second done.")]),
        scene("both", &[calls(&[write("one.txt", "1"), write("other.txt", "2")]), says("Both done.")]),
    ];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let person = browser.person();
    let page = site.enter_as(&person, "");
    say(&page, "the first task");
    page.wait_for_text(DIALOG, "first.txt");
    let other = person.page(&site.url("/"));
    say(&other, "the second task");
    other.wait_for_text(DIALOG, "second.txt");
    page.wait_for_text(DIALOG, "1 of 2");
    assert!(dialog(&page).contains("first.txt"), "{}", dialog(&page));
    page.click(APPROVE);
    page.wait_for(COMPLETE);
    assert_eq!(site.world.lines("first.txt"), ["1"]);
    assert!(!site.world.path("second.txt").exists());
    assert!(dialog(&other).contains("second.txt"));

    page.go(&site.url("/chat"));
    say(&page, "both at once");
    page.wait_for_text(DIALOG, "1 of 3");
    let (first, then) =
        if dialog(&page).contains("one.txt") { ("one.txt", "other.txt") } else { ("other.txt", "one.txt") };
    page.click(REJECT);
    page.wait_for_text(DIALOG, then);
    page.click(APPROVE);
    page.wait_for(COMPLETE);
    assert_eq!((site.world.path(first).exists(), site.world.path(then).exists()), (false, true));
    assert_quiet(&site, &page);
    assert_quiet(&site, &other);
}

#[test]
fn what_is_decided_in_one_tab_is_closed_in_the_other_with_a_note() {
    let scenes = [scene("write", &[calls(&[write("new.txt", "x")]), says("Written.")])];
    let (site, browser) = (Site::scripted(&scenes, &["--mode", "ask"]), Browser::start());
    let person = browser.person();
    let one = site.enter_as(&person, "");
    say(&one, "write it");
    one.wait_for(DIALOG);
    let other = person.page(&one.eval::<String>("location.href"));
    other.wait_for(DIALOG);
    one.click(APPROVE);
    one.wait_for(COMPLETE);
    other.wait_for_no(DIALOG);
    other.wait_for_text("body", "elsewhere");
    other.wait_for(COMPLETE);
    assert_eq!(site.world.lines("new.txt"), ["x"]);
    assert_quiet(&site, &one);
    assert_quiet(&site, &other);
}

#[test]
fn one_conversation_is_left_for_another_and_a_run_goes_on_until_it_is_stopped() {
    let scenes = [scene("quick", &[says("Here you are.")]), scene("for ever", &[never_answers()])];
    let (site, browser) = (Site::scripted(&scenes, &[]), Browser::start());
    let page = site.enter(&browser);
    let here = || page.eval::<String>("location.pathname.slice('/t/'.length)");
    let go_to = |thread: &str| page.click(&format!("[data-testid=thread-switcher] [data-testid='thread-{thread}']"));
    ask(&page, "a quick one");
    let quick = here();
    page.go(&site.url("/chat"));
    say(&page, "work for ever");
    page.wait_for("[data-testid=stop-button]");
    page.until("the conversation to have a name", "location.pathname.startsWith('/t/')");
    let endless = here();
    go_to(&quick);
    page.wait_for_text("[role=log]", "Here you are.");
    page.wait_for_no("[data-testid=stop-button]");
    go_to(&endless);
    page.wait_for_text("[role=log]", "work for ever");
    page.click("[data-testid=stop-button]");
    // It may say its last words, for which it takes its time.
    page.wait_for_text("[data-testid=stop-button]", "now");
    page.click("[data-testid=stop-button]");
    page.wait_for_text(COMPLETE, "stopped");
    let root = ThreadId::new(endless);
    assert_eq!(report_of(&site.world.log(), &root).outcome, Outcome::Cancelled);
    assert_quiet(&site, &page);
}

#[test]
fn nothing_jumps_while_an_answer_comes() {
    let long = "A sentence that takes its place on the page. ".repeat(40);
    let slowly = format!("{}chunk_delay_ms = 2\n", says(&long));
    let (site, browser) = (Site::scripted(&[scene("tell", &[slowly])], &[]), Browser::start());
    let page = site.enter_as(&browser.person(), RECORD_SHIFTS);
    page.eval::<Value>("void (shifts.length = 0)");
    ask(&page, "tell me");
    let shifts: Vec<f64> = page.eval("shifts");
    assert!(shifts.iter().sum::<f64>() < 0.01, "{shifts:?}");
    assert_quiet(&site, &page);
}

/// Everything that the dialog says, with what is in its fields.
#[track_caller]
pub fn dialog(page: &Page) -> String {
    let fields = format!("{DIALOG} textarea, {DIALOG} input");
    let fields: Vec<String> =
        page.eval(&format!("[...document.querySelectorAll({})].map((field) => field.value)", json!(fields)));
    format!("{}\n{}", page.text(DIALOG), fields.join("\n"))
}
