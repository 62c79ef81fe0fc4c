//! What the butler offers at the end of an answer, as buttons.

use testkit::browser::Browser;

use crate::site::{COMPLETE, Site, ask, assert_quiet};

const OFFER: &str = "button.offer";

#[test]
fn an_offer_is_a_button_that_does_exactly_what_it_says() {
    let (site, browser) = (Site::demo(), Browser::start());
    let page = site.enter(&browser);
    ask(&page, "Find an hour for Sarah on Friday");
    page.wait_for(OFFER);
    let offers = page.texts(OFFER);
    assert!(offers.len() >= 2, "{offers:?}");
    assert!(offers.iter().all(|offer| offer.starts_with("Enter ") && offer.contains("16 January")), "{offers:?}");
    page.click("li:nth-child(2) > button.offer");
    page.until("two answers", &format!("document.querySelectorAll({COMPLETE:?}).length === 2"));
    let asked = page.texts(".from-person");
    assert!(asked[1].contains('2'), "{asked:?}");
    // What was offered before is no longer there to be pressed.
    let old: usize =
        page.eval("document.querySelectorAll('.message:not(.from-person)')[0].querySelectorAll('.offer').length");
    assert_eq!(old, 0);
    page.reload();
    page.until("both answers", &format!("document.querySelectorAll({COMPLETE:?}).length === 2"));
    assert_quiet(&site, &page);
}
