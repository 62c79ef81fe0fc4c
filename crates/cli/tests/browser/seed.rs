//! The browser test of the first seed, to the letter: its mocked answer, its checks, and the times at which they are made.
//!
//! The page's clock is in our hands (`HELD_CLOCK`), so that a check comes exactly as late as it is said to, on any machine.

use testkit::browser::{Browser, Page};

use crate::site::{COMPLETE, INPUT, RECORD_RAIL, SEND, Site, assert_quiet};

/// What the seed's test answers in the place of the server, byte for byte.
const MOCKED: &str = r#"
        data: {"type":"agent_start","agent":"butler"}
        data: {"type":"agent_delegate","from":"butler","to":"triage"}
        data: {"type":"text","content":"Checking your inbox..."}
        data: {"type":"agent_complete","agent":"triage"}
        data: {"type":"agent_resume","agent":"butler"}
        data: {"type":"done"}
      "#;

/// Time stands still until it is told to pass; whatever waits for its end runs in its turn.
pub const HELD_CLOCK: &str = r#"
    let now = 0, last = 0;
    const due = new Map();
    const channel = new MessageChannel(), waiting = [];
    channel.port1.onmessage = () => waiting.shift()?.();
    const breath = () => new Promise((done) => { waiting.push(done); channel.port2.postMessage(null); });
    window.setTimeout = (what, ms = 0, ...more) => { due.set(++last, { at: now + Math.max(0, ms), what: () => what(...more) }); return last; };
    window.clearTimeout = (id) => void due.delete(id);
    performance.now = () => now;
    window.pass = async (ms) => {
        const end = now + ms;
        for (;;) {
            await breath();
            const [next] = [...due].filter(([, one]) => one.at <= end).sort((a, b) => a[1].at - b[1].at || a[0] - b[0]);
            if (!next) break;
            due.delete(next[0]);
            now = next[1].at;
            next[1].what();
        }
        now = end;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    };
"#;

/// What the seed's test runner waits before each look, the last of them again and again.
const LOOKS_MS: [u64; 5] = [0, 100, 250, 500, 1000];
/// How long it goes on looking.
const GIVES_UP_MS: u64 = 5000;

// ORION-23, ORION-24: test 2.3.4
#[test]
fn the_rail_shows_the_butler_then_triage_then_the_butler_whenever_the_seeds_test_looks() {
    let (site, browser) = (Site::demo(), Browser::start());
    let page = site.enter_as(&browser.person(), &format!("{{{HELD_CLOCK}}}{RECORD_RAIL}"));
    let proper: String = MOCKED.lines().map(|line| format!("{}\n\n", line.trim())).collect();
    for (body, late_ms) in [(MOCKED, 0), (MOCKED, 140), (MOCKED, 290), (&*proper, 0), (&*proper, 210)] {
        page.answer("*/api/chat", "text/event-stream", body);
        page.go(&site.url("/chat"));
        page.fill(INPUT, "Check urgent emails");
        page.click(SEND);
        page.until("the answer to have come", "rail.length > 0");
        pass(&page, late_ms);
        expect_active(&page, "butler");
        expect_active(&page, "triage");
        until_complete(&page);
        expect_active(&page, "butler");
        let rail: Vec<(String, f64)> = page.eval("rail");
        let (who, when): (Vec<&str>, Vec<f64>) = rail.iter().map(|(who, when)| (&**who, *when)).unzip();
        assert_eq!(who, ["butler", "triage", "butler"], "{late_ms}");
        assert!(when.windows(2).all(|two| two[1] - two[0] >= 300.0), "each is seen for 300 ms: {when:?}");
        assert!(page.text("[role=log]").contains("Checking your inbox..."));
    }
    // This browser prefers less motion, and so the style sheet is asked.
    assert!(page.rule(".agent", "transitionDuration").starts_with("0.2s"), "who is active changes before one's eyes");
    assert_quiet(&site, &page);
}

// ORION-23
#[test]
fn the_rail_has_the_six_agents_of_the_household_in_their_order_and_nobody_is_active_before_anything_happens() {
    let (site, browser) = (Site::demo(), Browser::start());
    let page = site.enter(&browser);
    page.wait_for("[data-testid=agent-butler]");
    let names: Vec<String> = page.eval(
        "[...document.querySelectorAll('[data-testid=agent-rail] [data-agent]')].map((node) => node.dataset.agent)",
    );
    let household = ["butler", "triage", "scheduler", "communicator", "navigator", "preference_learner"];
    assert_eq!(names[..6], household);
    for name in &names {
        assert_eq!(page.count(&format!("[data-testid=agent-rail] [data-testid=agent-{name}]")), 1, "{name}");
    }
    let classes: String = page.eval(
        "[...document.querySelectorAll('[data-testid=agent-rail] *')].map((node) => node.getAttribute('class') ?? '').join(' ')",
    );
    assert!(!classes.contains("active"), "{classes}");
    assert_quiet(&site, &page);
}

/// Looks as the seed's test runner does, until an agent's class says that it is active.
#[track_caller]
fn expect_active(page: &Page, agent: &str) {
    let class = format!("document.querySelector('[data-testid=\"agent-rail\"] [data-agent=\"{agent}\"]').className");
    let last = LOOKS_MS[LOOKS_MS.len() - 1];
    let mut waited_ms = 0;
    for pause_ms in LOOKS_MS.into_iter().chain(std::iter::repeat(last)) {
        pass(page, pause_ms);
        waited_ms += pause_ms;
        if page.eval::<String>(&class).contains("active") {
            return;
        }
        assert!(waited_ms < GIVES_UP_MS, "{agent} was not seen active: {}", page.eval::<serde_json::Value>("rail"));
    }
}

/// Lets time pass until the message is complete.
#[track_caller]
fn until_complete(page: &Page) {
    for _ in 0..50 {
        if page.count(COMPLETE) > 0 {
            return;
        }
        pass(page, 100);
    }
    panic!("the message does not become complete");
}

#[track_caller]
pub fn pass(page: &Page, ms: u64) {
    page.eval::<serde_json::Value>(&format!("pass({ms})"));
}
