use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

const PAGE: &str = r#"data:text/html,<title>A page</title>
<label>Name <input id="name" onkeydown="seen.push(event.key)"></label>
<button id="greet" onclick="greeting.textContent = `Hello, ${document.querySelector('input').value}!`">Greet</button>
<button id="later" onclick="setTimeout(() => { greeting.textContent = 'Late' }, 50)">Later</button>
<button id="wrong" onclick="console.error('it hurts'); nothing.there()">Wrong</button>
<p id="greeting"></p><p id="hidden" hidden>nobody sees this</p>
<script>var seen = [], greeting = document.getElementById("greeting")</script>"#;

#[test]
fn a_page_is_read_clicked_and_written_on_as_a_person_would() {
    let browser = Browser::start();
    let page = browser.page(PAGE);
    page.fill("#name", "nobody");
    page.fill("#name", "Ada");
    page.click("#greet");
    assert_eq!(page.text("#greeting"), "Hello, Ada!");
    page.click("#name");
    page.press("End");
    page.keys(" L?");
    page.press("Tab");
    page.press("Enter");
    page.wait_for_text("#greeting", "Hello, Ada L?!");
    assert_eq!(page.eval::<Vec<String>>("seen").split_off(2), ["End", " ", "L", "?", "Tab"]);
    page.click("#later");
    page.wait_for_text("#greeting", "Late");
    assert_eq!((page.count("#hidden"), page.count("p")), (0, 1), "what is hidden is not there");
    assert_eq!(page.console_errors(), []);
    page.click("#wrong");
    page.until("the complaints", "true");
    let sources: Vec<String> = page.console_errors().into_iter().map(|complaint| complaint.source).collect();
    assert_eq!(sources, ["console", "exception"]);
    let failed = catch_unwind(AssertUnwindSafe(|| page.eval::<u32>("'seven'"))).expect_err("it is no number");
    assert!(failed.downcast_ref::<String>().expect("words").contains("seven"));
}

#[test]
fn a_request_can_be_answered_in_the_place_of_a_server_and_each_is_noted() {
    let browser = Browser::start();
    let page = browser.page("about:blank");
    page.answer("http://majordomo.test/*", "text/html", "<p>from nowhere</p>");
    page.go("http://majordomo.test/there?x=1");
    assert_eq!(page.text("p"), "from nowhere");
    // Sooner or later it asks for the site's icon, too.
    let first = page.requests().swap_remove(0);
    assert_eq!((first.url.as_str(), first.kind.as_str()), ("http://majordomo.test/there?x=1", "Document"));
    page.reload();
    assert_eq!(page.text("p"), "from nowhere");
}

#[test]
fn nothing_of_a_browser_is_left_when_it_is_dropped() {
    let browser = Browser::start();
    let profile = browser._profile.path().to_owned();
    let group = Pid::from_child(&browser.process);
    drop(browser);
    assert!(!profile.exists());
    // Zombies, which nobody may have collected yet, are no processes any more.
    let stat = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("stat")).ok();
    let is_alive = |stat: &String| {
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() != Some(&"Z") && fields.get(2) == Some(&group.as_raw_nonzero().to_string().as_str())
    };
    // All were sent SIGKILL; on a busy machine the kernel has not ended each of them at once.
    crate::world::until("all processes of the browser to end", || {
        let mut seen = std::fs::read_dir("/proc").expect("processes can be seen").flatten().filter_map(stat);
        (!seen.any(|stat| is_alive(&stat))).then_some(())
    });
}
