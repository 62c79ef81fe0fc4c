//! The household's rules against the gold sets (`gold/`): how often they are right, and whether that is often enough.
//!
//! `cargo xtask eval` prints the table. Cases of the `dev` part that went wrong are named below it; those of the `held` part are only
//! counted, so that nobody mends a rule by looking at them (`cargo xtask eval --held` names them for whoever keeps the sets).

mod calendars;
mod figures;
mod mails;
mod orders;
mod requests;
mod searches;
mod sets;
mod tools;

use figures::Figure;

#[test]
fn the_rules_are_right_as_often_as_is_promised() {
    let figures: Vec<Figure> =
        [requests::measure(), mails::measure(), orders::measure(), calendars::measure(), searches::measure()]
            .into_iter()
            .flatten()
            .collect();
    let with_held = std::env::var_os("EVAL_HELD").is_some();
    println!("{}", figures::table(&figures, with_held));
    let below: Vec<String> = figures.iter().filter(|figure| figure.is_below()).map(Figure::name).collect();
    assert!(below.is_empty(), "below their bounds: {}", below.join(", "));
}
