//! Which agent gets a prompt: the one that was named, else the butler for what is plainly about the household, else the default one.
//!
//! A household must be configured, and `household.route` must be `auto`. Whether a prompt is about the household is decided by rules,
//! the same way every time and without a model; in doubt it is not. An agent that was named is never replaced: neither for one
//! prompt, nor in a file, a variable or a flag.

use crate::agents::HOUSEHOLD;
use crate::config::{Config, Route};
use crate::home::Home;
use crate::work::Work;

/// The agent that gets some work, and whether the prompt decided this.
pub(crate) fn agent_for<'a>(work: &'a Work, config: &'a Config, home: &Home) -> (&'a str, bool) {
    if let Some(named) = &work.beginning.agent {
        return (named, false);
    }
    let is_on = config.household.as_ref().is_some_and(|household| household.route == Route::Auto);
    let is_open = is_on && !config.agent_is_asked_for() && !HOUSEHOLD.contains(&config.agent.as_str());
    match is_open && home.is_asked_for(&work.prompt) {
        true => (HOUSEHOLD[0], true),
        false => (&config.agent, false),
    }
}
