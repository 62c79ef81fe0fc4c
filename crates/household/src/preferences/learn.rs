//! From decisions to habits: counting, with a bound on how far a count is trusted.
//!
//! Each observation counts for less the older it is. A habit is proposed where its usual value was seen often
//! enough, and the lower end of the confidence interval of its share (Wilson's interval) is high enough: three of three will do,
//! four of five will not. Nothing here is stored; the same decisions give the same habits at the same time.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::decision::Decision;
use super::observe::{Observation, observe};

/// The fewest cases that make a habit.
pub(super) const FEWEST: usize = 3;
/// The least that its share must surely be.
pub(super) const SURE: f64 = 0.6;
/// How long until a decision counts for half.
const HALF_LIFE_DAYS: f64 = 365.0;
/// How sure the lower end is: nine times of ten the true share lies above it.
const Z: f64 = 1.2816;

/// A habit, with what it was seen in.
#[derive(Clone, Debug)]
pub(super) struct Habit {
    pub key: String,
    /// The way it usually goes.
    pub value: String,
    /// The lower end of its share.
    pub confidence: f64,
    /// How much likelier it goes this way than another, as a logarithm.
    pub log_odds: f64,
    /// What speaks for it, the newest first.
    pub evidence: Vec<Seen>,
    /// How often it went another way.
    pub against: usize,
    /// How often at each hour, for habits of the day.
    pub hours: BTreeMap<i8, usize>,
}

/// One case.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub at: Timestamp,
    pub words: String,
}

impl Habit {
    /// Whether there is enough to propose it.
    pub(super) fn is_sure(&self) -> bool {
        self.evidence.len() >= FEWEST && self.confidence >= SURE
    }
}

/// The habits that decisions show, by key, sure or not. `counts` says whether a decision may still speak for a key.
pub(super) fn habits(
    decisions: &[(i64, Decision)],
    zone: &TimeZone,
    now: Timestamp,
    counts: impl Fn(&str, i64) -> bool,
) -> Vec<Habit> {
    let mut seen: BTreeMap<String, Vec<(Timestamp, Observation)>> = BTreeMap::new();
    for (id, decision) in decisions {
        for observation in observe(decision, zone) {
            if counts(&observation.key, *id) {
                seen.entry(observation.key.clone()).or_default().push((decision.at, observation));
            }
        }
    }
    seen.into_iter().map(|(key, cases)| habit(key, cases, now)).collect()
}

fn habit(key: String, cases: Vec<(Timestamp, Observation)>, now: Timestamp) -> Habit {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for (at, observation) in &cases {
        *weights.entry(&observation.value).or_default() += weight(*at, now);
    }
    let all: f64 = weights.values().sum();
    let (value, most) =
        weights.iter().fold(("", 0.0), |best, (value, weight)| if *weight > best.1 { (value, *weight) } else { best });
    let value = value.to_owned();
    let mut evidence = Vec::new();
    let mut hours = BTreeMap::new();
    let mut against = 0;
    for (at, observation) in cases {
        if let Some(hour) = observation.hour {
            *hours.entry(hour).or_default() += 1;
        }
        if observation.value == value {
            evidence.push(Seen { at, words: observation.words });
        } else {
            against += 1;
        }
    }
    evidence.sort_by_key(|seen: &Seen| std::cmp::Reverse(seen.at));
    let confidence = (wilson(most, all) * 100.0).round() / 100.0;
    let log_odds = ((most + 0.5) / (all - most + 0.5)).ln();
    Habit { key, value, confidence, log_odds: (log_odds * 100.0).round() / 100.0, evidence, against, hours }
}

/// What a case counts for, by its age. One that is yet to come is as good as one of this moment.
fn weight(at: Timestamp, now: Timestamp) -> f64 {
    let days = (now.as_second() - at.as_second()).max(0) as f64 / 86_400.0;
    0.5_f64.powf(days / HALF_LIFE_DAYS)
}

/// The lower end of a share.
fn wilson(some: f64, all: f64) -> f64 {
    if all <= 0.0 {
        return 0.0;
    }
    let share = some / all;
    let squared = Z * Z;
    let middle = share + squared / (2.0 * all);
    let spread = Z * (share * (1.0 - share) / all + squared / (4.0 * all * all)).sqrt();
    (middle - spread) / (1.0 + squared / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_cases_without_exception_are_enough_and_a_few_with_one_are_not() {
        assert!(wilson(3.0, 3.0) >= SURE);
        assert!(wilson(2.0, 2.0) < SURE);
        assert!(wilson(4.0, 5.0) < SURE);
        assert!(wilson(9.0, 10.0) >= SURE);
        assert_eq!(wilson(0.0, 0.0), 0.0);
    }
}
