//! The page's own modules, run within the tests: what they make of frames, streams and words.
//!
//! Fixtures are shared with the view (`crates/view/golden` and `crates/view/tests/fixtures`): what both fold must
//! look the same in both. Looking at the page in a browser is not done here.

mod ends;
mod engine;
mod fixture;
mod folded;
mod markdown;
mod orders;
mod passing;
mod pictures;
mod rail;
mod showing;
mod sse;
mod work;
