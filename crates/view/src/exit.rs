//! How a run ends for a shell.

use std::sync::Arc;

use agent::{Outcome, Report};

/// The cause by which a report says that a provider, a key or the network failed.
const PROVIDER: &str = "provider";

/// The exit code that follows from the root's report.
///
/// 0 done · 1 failed · 4 provider, key or network · 5 approval needed or denied · 6 budget · 7 timeout · 9 stopped.
/// A completed run in which policy had to answer for want of a person is 5 all the same: its answer may lack what was refused.
pub fn exit_code(report: &Report) -> u8 {
    match report.outcome {
        Outcome::Completed if !report.unanswered.is_empty() => 5,
        Outcome::Completed => 0,
        Outcome::Error | Outcome::NoOutput | Outcome::Interrupted if report.cause.as_deref() == Some(PROVIDER) => 4,
        Outcome::Error | Outcome::NoOutput | Outcome::Interrupted => 1,
        Outcome::Refused => 5,
        Outcome::BudgetExceeded => 6,
        Outcome::Timeout => 7,
        Outcome::Cancelled => 9,
    }
}

/// Why a run ended with its exit code: the reason of the report, and for a completed run that exits with 5 what needed approval.
pub fn exit_reason(report: &Report) -> Option<Arc<str>> {
    let is_unanswered = report.outcome == Outcome::Completed && !report.unanswered.is_empty();
    let unanswered = || format!("needed approval, and nobody could give it: {}", report.unanswered.join("; ")).into();
    report.reason.clone().or_else(|| is_unanswered.then(unanswered))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: Outcome) -> Report {
        Report { reason: None, ..Report::empty(outcome, "") }
    }

    #[test]
    fn every_outcome_has_its_code() {
        let codes = Outcome::ALL.map(|outcome| exit_code(&report(outcome)));
        assert_eq!(codes, [0, 1, 6, 7, 5, 9, 1, 1]);
    }

    #[test]
    fn a_completed_run_that_exits_with_5_says_what_needed_approval() {
        let lacking = Report { unanswered: vec!["a".into(), "b".into()], ..report(Outcome::Completed) };
        assert_eq!(exit_reason(&lacking).as_deref(), Some("needed approval, and nobody could give it: a; b"));
        assert_eq!(exit_reason(&report(Outcome::Completed)), None);
        let stopped = Report { reason: Some("enough".into()), ..Report { outcome: Outcome::Cancelled, ..lacking } };
        assert_eq!(exit_reason(&stopped).as_deref(), Some("enough"));
    }

    #[test]
    fn a_provider_as_the_cause_is_told_apart_from_other_failures() {
        for outcome in Outcome::ALL {
            let code = exit_code(&Report { cause: Some("provider".into()), ..report(outcome) });
            let failed = matches!(outcome, Outcome::Error | Outcome::NoOutput | Outcome::Interrupted);
            assert_eq!(code == 4, failed, "{outcome}");
            assert_eq!(
                exit_code(&Report { cause: Some("loop".into()), ..report(outcome) }),
                exit_code(&report(outcome))
            );
        }
    }

    #[test]
    fn a_completed_run_exits_5_when_nobody_was_there_to_ask() {
        for outcome in Outcome::ALL {
            let code = exit_code(&Report { unanswered: vec!["run_command(*)".into()], ..report(outcome) });
            let expected = if outcome == Outcome::Completed { 5 } else { exit_code(&report(outcome)) };
            assert_eq!(code, expected, "{outcome}");
        }
    }
}
