//! The engine of rules: understands requests without a model, and speaks as any of the household's agents, the same way every
//! time.
//!
//! [`Rules`] is a model that lives in this process. Which agent it speaks as is read from the tools it was lent and from its
//! brief; what it does next, from the conversation alone, so that a process which starts again goes on at the right place.
//! [`classify`] says what a request asks for, [`time::parse`](household::time::parse) what it says about time; both are pure.
//!
//! Words of mails, calendars and notes come in as values of tool results and go out as quotations. They are never read as
//! requests. Deliberately absent: anything that pretends to be a language model.

mod butler;
mod communicator;
mod desk;
mod entities;
mod intent;
mod learner;
mod lexicon;
mod navigator;
mod order;
mod remark;
mod scheduler;
mod speak;
mod talk;
mod triage;
mod wording;

use std::sync::Arc;

use agent::model::CallError;
use jiff::tz::TimeZone;
use provider::{Ask, Heard, Resident, Said};

use desk::Desk;
use household::{Household, Now};
use order::Order;
use speak::Calendar;
use talk::Turn;

pub use entities::Entities;
pub use intent::{Classification, Context, Direct, Intent, Meant, Question, classify};

/// The engine's name among the models that live in this process: `builtin/rules`.
pub const NAME: &str = "rules";

/// The most calls that one request leads to.
const MOST_CALLS: usize = 6;

/// The engine.
pub struct Rules {
    now: Now,
    zone: TimeZone,
    people: Vec<String>,
}

impl Rules {
    /// An engine for a household in this zone, where it is that time.
    pub fn new(now: Now, zone: TimeZone) -> Self {
        Self { now, zone, people: Vec::new() }
    }

    /// An engine for a household.
    pub fn of(house: &Household) -> Self {
        Self::new(Arc::clone(&house.options().now), house.options().zone.clone())
    }

    /// The same engine, which knows these people by name.
    #[must_use]
    pub fn knowing(mut self, people: impl IntoIterator<Item = String>) -> Self {
        self.people.extend(people);
        self
    }

    /// What requests are held against at this moment.
    pub fn context(&self) -> Context {
        Context { now: (self.now)().to_zoned(self.zone.clone()), people: self.people.clone() }
    }
}

impl Resident for Rules {
    fn answer(&self, heard: &Heard, ask: &Ask) -> Result<Said, CallError> {
        let context = self.context();
        let calendar = Calendar { now: context.now.clone() };
        let tools = heard.tools.iter().map(|tool| Arc::clone(&tool.name)).collect();
        let desk = Desk { context, calendar, tools };
        let turns = talk::turns(&heard.messages);
        let current = turns.last().cloned().unwrap_or_default();
        let agent = Agent::of(&desk, &current);
        let said = agent.next(&turns, &current, &desk);
        if said.calls.is_empty() || (ask.calls_allowed && current.calls.len() < MOST_CALLS) {
            return Ok(said);
        }
        Ok(match agent {
            Agent::Butler => butler::closing(&turns, &desk),
            _ => Said::text(unfinished(&current)),
        })
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("zone", &self.zone).finish_non_exhaustive()
    }
}

/// Whom the engine speaks as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    Butler,
    Triage,
    Scheduler,
    Communicator,
    Navigator,
    Learner,
}

impl Agent {
    /// Read from the brief, else from the tools. Who was lent none of ours speaks as a butler without a household.
    fn of(desk: &Desk, turn: &Turn) -> Self {
        let told = turn.said.split_once("\n\nContext: ").map(|(_, rest)| talk::object_in(rest));
        let target = told.as_ref().and_then(|told| told["targetAgent"].as_str());
        let named = match target {
            Some("triage") => Some(Self::Triage),
            Some("scheduler") => Some(Self::Scheduler),
            Some("communicator") => Some(Self::Communicator),
            Some("navigator") => Some(Self::Navigator),
            Some("preference_learner") => Some(Self::Learner),
            _ => None,
        };
        let by_tools = [
            ("delegate", Self::Butler),
            ("draft_create", Self::Communicator),
            ("mail_triage", Self::Triage),
            ("mail_list", Self::Triage),
            ("calendar_list", Self::Scheduler),
            ("calendar_free", Self::Scheduler),
            ("notes_search", Self::Navigator),
            ("prefs_list", Self::Learner),
        ];
        let lent = || by_tools.into_iter().find(|(tool, _)| desk.can(tool)).map(|(_, agent)| agent);
        named.filter(|_| !desk.can("delegate")).or_else(lent).unwrap_or(Self::Butler)
    }

    fn next(self, turns: &[Turn], current: &Turn, desk: &Desk) -> Said {
        let order = || Order::read(&current.said, &desk.context);
        match self {
            Self::Butler => butler::next(turns, desk),
            Self::Triage => triage::next(&order(), current, desk),
            Self::Scheduler => scheduler::next(&order(), current, desk),
            Self::Communicator => communicator::next(&order(), current, desk),
            Self::Navigator => navigator::next(&order(), current, desk),
            Self::Learner => learner::next(&order(), current, desk),
        }
    }
}

/// What a specialist says that has to end early.
fn unfinished(current: &Turn) -> String {
    let tools: Vec<&str> = current.calls.iter().map(|called| &*called.name).collect();
    match tools.is_empty() {
        true => "I had to stop before I could look into this.".to_owned(),
        false => format!("I had to stop before I was done; so far I used {}.", tools.join(", ")),
    }
}

#[cfg(test)]
mod tests;
