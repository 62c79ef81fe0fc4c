//! A whole tree at rest: every report reached its parent, and the sums agree.

use std::collections::BTreeMap;

use agent::{ThreadId, Usage};

use super::{Broken, LogChecker, hold};

/// What must hold of a root and all its descendants once nothing is under way.
pub fn family(root: &ThreadId, checkers: &BTreeMap<ThreadId, &LogChecker>) -> Result<(), Broken> {
    for (id, checker) in checkers {
        checker.at_rest()?;
        if let Some(parent) = id.parent() {
            reported_up(id, checker, checkers.get(&parent).copied())?;
        }
    }
    let used = checkers.values().fold(Usage::default(), |sum, checker| sum.plus(&checker.used()));
    let told = checkers[root].reports().iter().fold(Usage::default(), |sum, report| sum.plus(&report.tree));
    // A provider that reports absurd figures drives the sums against their ends, where they no longer add up.
    let at_the_end =
        used.tokens.total() == u64::MAX || used.counted_tokens == u64::MAX || used.cost_microusd == u64::MAX;
    hold("what a tree used is what its root reports", at_the_end || used == told, || {
        format!("used {used:?}, told {told:?}")
    })
}

fn reported_up(id: &ThreadId, checker: &LogChecker, parent: Option<&LogChecker>) -> Result<(), Broken> {
    let reports = checker.reports();
    hold("a sub-agent reports once", reports.len() == 1, || format!("{id} has {} reports", reports.len()))?;
    let arrived = parent.and_then(|parent| parent.report_of(id));
    hold("a sub-agent's report reaches its parent as it was written", arrived == reports.first(), || {
        format!("{id} wrote {:?} and its parent has {arrived:?}", reports.first())
    })
}
