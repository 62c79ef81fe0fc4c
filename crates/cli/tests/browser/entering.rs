//! Signing in: what the link gives to the page, and what no other link or site can give or take.

use testkit::browser::Browser;
use testkit::scenes::{says, scene};

use crate::site::{INPUT, Site, ask, assert_quiet};

// T3
#[test]
fn the_secret_of_the_page_leaves_the_address_at_once_and_stays_with_the_page() {
    let (site, browser) = (Site::scripted(&[scene("hello", &[says("Good day.")])], &[]), Browser::start());
    let page = site.enter(&browser);
    page.until("the address to be plain", "location.hash === '' && !location.href.includes('enter')");
    page.reload();
    page.wait_for(INPUT);
    ask(&page, "hello");
    assert!(page.text("[role=log]").contains("Good day."));
    assert_quiet(&site, &page);

    // An invalid link takes nothing away.
    page.go(&site.url(&format!("/chat#enter={}", "0".repeat(64))));
    page.wait_for(INPUT);
    page.until("the address to be plain", "location.hash === ''");
    ask(&page, "hello");
}

// T3, T23
#[test]
fn a_page_that_has_only_the_cookie_says_that_a_link_is_needed() {
    let (site, browser) = (Site::scripted(&[], &[]), Browser::start());
    let page = site.enter(&browser);
    page.eval::<()>("localStorage.clear()");
    page.reload();
    page.wait_for_text("body", "open the link");
}
