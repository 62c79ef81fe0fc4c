//! An agent says that it is done: the commands that its brief names are run before its report is written, and then the hooks of the person
//! that hear of it, which may send it back to work.
//!
//! Where one fails, the agent is told what failed and continues, up to `policy.check_attempts` times; then the report says what failed. A
//! check that cannot be run at all ends it at once, since no work of the agent's would change that. After a crash the commands are run
//! again, as they are after every answer.

use crate::checks::{AfterFailure, CheckedBy, SENT_BACK, after_failure, given_up};
use crate::context;
use crate::effect::Effect;
use crate::event::{Ending, Event};
use crate::facts::Facts;
use crate::id::CallId;
use crate::machine::Moment;
use crate::report::Outcome;
use crate::thread::{Phase, Thread};
use crate::tools::ToolResult;
use crate::turn::stop;

/// What has to agree before the newest answer is taken as the report; none where nothing has to.
pub fn open(thread: &Thread, facts: &Facts) -> Option<CheckedBy> {
    let run = thread.run.as_ref()?;
    if !run.checks.passed && thread.brief_checks().is_some_and(|checks| !checks.commands.is_empty()) {
        return Some(CheckedBy::Brief);
    }
    (facts.stop_hooks && !run.hooks.passed).then_some(CheckedBy::Hooks)
}

/// Has the commands run.
pub fn start(moment: &mut Moment<'_>, by: CheckedBy) {
    let thread = &*moment.thread;
    let commands = match by {
        CheckedBy::Brief => thread.brief_checks().map(|checks| checks.commands.clone()).unwrap_or_default(),
        CheckedBy::Hooks => vec!["hooks of the user".into()],
    };
    let first = format!("check-{}", thread.issued.turns);
    let others = (2..).map(|number| format!("{first}-{number}"));
    let mut names = std::iter::once(first.clone()).chain(others).map(CallId::new);
    let is_free = |call: &CallId| !thread.issued.calls.contains(call);
    let call = names.find(is_free).expect("there are more numbers than calls");
    moment.emit(Event::ChecksStarted { call, commands, by });
    let effect = moment.thread.checks_effect();
    moment.step.effects.extend(effect);
}

/// The commands were run, or one of them failed.
pub fn finished(moment: &mut Moment<'_>, call: &CallId, result: ToolResult) {
    let Some(run) = &moment.thread.run else { return };
    let Phase::Checking(checking) = &run.phase else { return };
    if checking.call != *call {
        return;
    }
    let duration_ms = Some(moment.now.since_ms(checking.since));
    if checking.by == CheckedBy::Hooks {
        let is_sent_back = result.is_error && run.closing.ending.is_none() && run.hooks.failed < SENT_BACK;
        let told = is_sent_back.then(|| context::sent_back(&result.content).into());
        return moment.emit(Event::ChecksFinished { call: call.clone(), result, duration_ms, told });
    }
    let (times, most) = (run.checks.failed + 1, moment.thread.created.policy.check_attempts);
    let is_ending = run.closing.ending.is_some();
    let after = match result.is_error && !is_ending {
        false => None,
        true if result.came_to_nothing() => Some(AfterFailure::GiveUp),
        true => Some(after_failure(times, most)),
    };
    let told = match after {
        Some(AfterFailure::Again(left)) => {
            let what = match &result.foreign {
                Some(origin) => context::fenced(origin, &result.content),
                None => result.content.to_string(),
            };
            Some(context::checks_failed(&what, left).into())
        }
        Some(AfterFailure::GiveUp) | None => None,
    };
    let reason = given_up(times, &result.content);
    moment.emit(Event::ChecksFinished { call: call.clone(), result, duration_ms, told });
    if after == Some(AfterFailure::GiveUp) {
        let cause = Some("checks".into());
        let ending = Ending { outcome: Outcome::Error, reason: reason.into(), cause, last_turn: false };
        stop::begin(moment, None, ending);
    }
}

/// The process went away while checks ran. A thread that ends does not run them again.
pub fn reopened(moment: &mut Moment<'_>) {
    let Some(run) = &moment.thread.run else { return };
    let Phase::Checking(checking) = &run.phase else { return };
    if run.closing.ending.is_some() {
        let (call, result) = (checking.call.clone(), crate::thread::interrupted("checks"));
        moment.emit(Event::ChecksFinished { call, result, duration_ms: None, told: None });
    }
}

impl Thread {
    /// The checks of the brief that the run answers; none where it answers a message.
    pub fn brief_checks(&self) -> Option<&crate::checks::Checks> {
        let is_brief = self.run.as_ref().is_none_or(|run| run.asked.is_none());
        self.created.brief.as_ref().filter(|_| is_brief).map(|brief| &brief.checks)
    }

    /// The checks that run, as effects.
    pub(crate) fn checks_effect(&self) -> Vec<Effect> {
        let Some(Phase::Checking(checking)) = self.run.as_ref().map(|run| &run.phase) else { return Vec::new() };
        let call = checking.call.clone();
        let brief = self.created.brief.as_ref().filter(|_| checking.by.is_brief());
        let run = Effect::RunChecks {
            call: call.clone(),
            commands: brief.map(|brief| brief.checks.commands.clone()).unwrap_or_default(),
            allowed: brief.is_some_and(|brief| brief.checks_allowed),
            seen: brief.map(|brief| brief.checks_seen.clone()).unwrap_or_default(),
            by: checking.by,
        };
        let stop = checking.stopping.then_some(Effect::StopTool { call });
        std::iter::once(run).chain(stop).collect()
    }
}
