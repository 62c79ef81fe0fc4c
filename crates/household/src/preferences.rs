//! The owner's preferences, learnt from the owner's decisions, and applied only with consent.
//!
//! Decisions are read from the event log when habits are asked for (`log_reader`), and from drafts that were changed
//! since they were written (`drafts`). They are stored and only added to (`storage`); what each says about habits
//! (`observe`) is counted (`learn`). A habit that is certain enough is *proposed*, with the decisions it was seen in. It applies only
//! once the owner agrees to it (`prefs_apply` asks), and one that was forgotten does not come back from the same decisions.
//!
//! Left to others: where the log is ([`Log`]), and what a tool or an agent does with a preference ([`Household::preferences_for`]).

mod decision;
mod drafts;
mod edit;
mod learn;
mod log;
mod log_reader;
mod observe;
mod storage;
#[cfg(test)]
mod tests;
pub(crate) mod tools;

use agent::delegation::Preference;
use rusqlite::{Connection, TransactionBehavior};

pub use decision::{Decision, Kind};
use learn::Habit;
pub use log::{Log, LogEvent, LogPage};
use log_reader::{LogFindings, witness};
pub(crate) use observe::slug;

use crate::error::Error;
use crate::household::Household;

impl Household {
    /// Writes a decision of the owner's down that was made elsewhere, in no log that is read here.
    pub fn record(&self, decision: &Decision) -> Result<(), Error> {
        let connection = self.index().lock();
        storage::prepare(&connection)?;
        storage::add(&connection, decision, None)
    }

    /// Reads what was decided since it was last asked: in the log, and in drafts. Waits for the log.
    fn catch_up(&self) -> Result<(), Error> {
        let known = {
            let connection = self.index().lock();
            storage::prepare(&connection)?;
            storage::position(&connection)?
        };
        if let Some(log) = &self.options().log {
            let news = log.since(known).map_err(Error::Log)?;
            self.take_in(&news)?;
        }
        drafts::look(self)
    }

    /// Writes down what a log tells, all of it or nothing.
    fn take_in(&self, news: &LogPage) -> Result<(), Error> {
        let now = self.now().timestamp();
        let mut connection = self.index().lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for family in &news.families {
            let LogFindings { decisions, written } = witness(family);
            for (name, mut decision) in decisions {
                // Nothing was decided after the household's own time, which may stand still.
                decision.at = decision.at.min(now);
                storage::add(&transaction, &decision, Some(&name))?;
            }
            for written in &written {
                drafts::note(&transaction, written, now)?;
            }
        }
        storage::advance(&transaction, news.position)?;
        Ok(transaction.commit()?)
    }

    /// What the owner agreed to, for the work that `area` names. Keys begin with it.
    pub(crate) fn applied(&self, area: &str) -> Result<Applied, Error> {
        let connection = self.index().lock();
        storage::prepare(&connection)?;
        let settled = storage::settled(&connection)?.into_iter().filter(|settled| settled.key.starts_with(area));
        Ok(Applied(settled.filter_map(|settled| Some((settled.key, settled.value?))).collect()))
    }

    /// The preferences that hold for an agent's work. The butler and the preference learner see all.
    pub fn preferences_for(&self, agent: &str) -> Result<Vec<Preference>, Error> {
        let area = match agent {
            "triage" => "triage.",
            "scheduler" => "meeting.",
            "communicator" => "draft.",
            "navigator" => "notes.",
            "butler" | "preference_learner" => "",
            _ => return Ok(Vec::new()),
        };
        let standings = standings(self)?.into_iter();
        let applied = standings.filter(|standing| standing.status == Status::Applied && standing.key.starts_with(area));
        let preference = |standing: CurrentPreference| Preference {
            key: standing.key.into(),
            value: standing.value.into(),
            confidence: standing.confidence,
        };
        Ok(applied.map(preference).collect())
    }
}

/// What the owner agreed to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Applied(Vec<(String, String)>);

impl Applied {
    /// The way that a habit goes.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The way that mail from an address is sorted.
    pub fn of_sender(&self, address: &str) -> Option<&str> {
        self.value(&observe::sender_key(address))
    }
}

/// A preference, and whether it holds.
#[derive(Clone, Debug)]
struct CurrentPreference {
    key: String,
    value: String,
    confidence: f64,
    status: Status,
    /// What it was learnt from, as far as that still speaks for it.
    habit: Option<Habit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Applied,
    Proposed,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Proposed => "proposed",
        }
    }
}

/// All preferences that hold or could: the applied ones first, then the surest.
fn standings(household: &Household) -> Result<Vec<CurrentPreference>, Error> {
    let connection = household.index().lock();
    let habits = habits(household, &connection)?;
    let habit = |key: &str, value: &str| habits.iter().find(|habit| habit.key == key && habit.value == value);
    let mut standings: Vec<CurrentPreference> = Vec::new();
    for settled in storage::settled(&connection)? {
        let (key, Some(value)) = (settled.key, settled.value) else { continue };
        let habit = habit(&key, &value).cloned();
        // A habit that is still seen is worth what it is worth today.
        let confidence = habit.as_ref().map_or(settled.confidence, |habit| habit.confidence);
        standings.push(CurrentPreference { key, value, confidence, status: Status::Applied, habit });
    }
    let is_applied =
        |habit: &&Habit| standings.iter().any(|there| there.key == habit.key && there.value == habit.value);
    let mut proposed: Vec<&Habit> = habits.iter().filter(|habit| habit.is_sure() && !is_applied(habit)).collect();
    proposed.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.key.cmp(&b.key)));
    standings.extend(proposed.into_iter().cloned().map(|habit| CurrentPreference {
        key: habit.key.clone(),
        value: habit.value.clone(),
        confidence: habit.confidence,
        status: Status::Proposed,
        habit: Some(habit),
    }));
    Ok(standings)
}

/// Everything that decisions show, sure or not, without what was forgotten.
fn habits(household: &Household, connection: &Connection) -> Result<Vec<Habit>, Error> {
    storage::prepare(connection)?;
    if let Some(path) = &household.options().decisions {
        storage::import(connection, path)?;
    }
    let settled = storage::settled(connection)?;
    let counts = |key: &str, id: i64| settled.iter().all(|settled| settled.key != key || id > settled.forgotten_to);
    let decisions = storage::decisions(connection)?;
    Ok(learn::habits(&decisions, &household.options().zone, household.now().timestamp(), counts))
}
