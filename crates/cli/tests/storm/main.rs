//! Attacks on the permission layer by the thousand: a model that obeys the attacker, the real program, and a look at the disk.
//!
//! The attacks are generated (`variants`), not listed: quotings × expansions × builtins × programs × options, ways to write
//! × protected paths, hostile settings × readers. Each runs in every kind of sandbox and in the modes that must refuse it.
//! What an attack would do without any of this is found out by running it in a throw-away copy (`oracle`).
//!
//! A test run plays a tenth of them, always the same for the same `STORM_SEED`; `cargo xtask storm` plays all.

mod cluster;
#[path = "../cluster/family.rs"]
mod family;
mod killed;
mod oracle;
mod places;
mod readers;
mod repositories;
mod site;
mod spellings;
mod tasks;
mod variants;
mod watching;

/// Of all variants, those that this run plays.
fn played<T>(variants: Vec<T>) -> Vec<T> {
    let number =
        |name: &str, default: usize| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, every) = (number("STORM_SEED", 7), number("STORM_EVERY", 10).max(1));
    // Spread by a hash, or a tenth would hold always the same halves of what the variants are put together from.
    let is_chosen = |at: usize| {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (seed, at).hash(&mut hasher);
        hasher.finish().is_multiple_of(every as u64)
    };
    let chosen = |(at, variant): (usize, T)| is_chosen(at).then_some(variant);
    variants.into_iter().enumerate().filter_map(chosen).collect()
}
