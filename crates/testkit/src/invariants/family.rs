//! A whole tree at rest: every report reached its parent, and the sums agree.

use std::collections::{BTreeMap, BTreeSet};

use agent::{Report, ThreadId, Usage};

use super::{Broken, LogChecker, hold};

/// What must hold of a root and all its descendants once nothing is under way.
pub fn family(root: &ThreadId, checkers: &BTreeMap<ThreadId, &LogChecker>) -> Result<(), Broken> {
    let mut told = checkers[root].reports().iter().fold(Usage::default(), |sum, report| sum.plus(&report.tree));
    for (id, checker) in checkers {
        checker.at_rest()?;
        if let Some(parent) = id.parent() {
            let by_people = reported_up(id, checker, checkers.get(&parent).copied())?;
            told = by_people.into_iter().fold(told, |sum, report| sum.plus(&report.tree));
        }
    }
    let used = checkers.values().fold(Usage::default(), |sum, checker| sum.plus(&checker.used()));
    // A provider that reports absurd figures drives the sums against their ends, where they no longer add up.
    let at_the_end =
        used.tokens.total() == u64::MAX || used.counted_tokens == u64::MAX || used.cost_microusd == u64::MAX;
    hold(
        "what a tree used is what its root reports, and what people asked its agents",
        at_the_end || used == told,
        || format!("used {used:?}, told {told:?}"),
    )
}

/// A sub-agent reports once on its brief and on each message that it is asked. What its parent asked has reached it; the rest, which is
/// the answer, is what people asked.
fn reported_up<'a>(
    id: &ThreadId,
    checker: &'a LogChecker,
    parent: Option<&LogChecker>,
) -> Result<Vec<&'a Report>, Broken> {
    let reports = checker.reports();
    let asked: BTreeSet<_> = reports.iter().map(|report| &report.asked).collect();
    hold("a sub-agent reports once on what it is asked", asked.len() == reports.len(), || format!("{id}: {asked:?}"))?;
    hold("a sub-agent reports on its brief", asked.contains(&None), || format!("{id}: {asked:?}"))?;
    let mut by_people = Vec::new();
    for report in reports {
        match parent.and_then(|parent| parent.report_of(id, report.asked.as_ref())) {
            Some(arrived) => {
                hold("a sub-agent's report reaches its parent as it was written", arrived == report, || {
                    format!("{id} wrote {report:?} and its parent has {arrived:?}")
                })?;
            }
            None => {
                // The agent of a task has its task from a board, and its parent waits for nothing.
                let is_of_parent = report.asked.is_none() && !checker.is_of_task();
                hold("a sub-agent's first report reaches its parent", !is_of_parent, || id.to_string())?;
                by_people.push(report);
            }
        }
    }
    Ok(by_people)
}
