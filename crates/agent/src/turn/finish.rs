//! A run is over: one report, whatever happened.

use std::sync::Arc;

use crate::event::{Ending, Event};
use crate::json::Json;
use crate::machine::Moment;
use crate::message::Part;
use crate::report::{Outcome, Report};
use crate::turn::checks;

/// The agent answered, and nothing is under way any more.
pub fn answered(moment: &mut Moment<'_>) {
    let Some(run) = &moment.thread.run else { return };
    let text = run.words.last_text.clone();
    let newest = moment.thread.talk.messages().last();
    let said_something = newest
        .is_some_and(|message| message.role == crate::message::Role::Assistant && !message.text().trim().is_empty());
    if run.window.sums_up && !said_something {
        return report(moment, Outcome::Completed, text, None, None, None);
    }
    let (refused, declined) = (run.words.refused, run.words.declined);
    let schema = moment.thread.output_schema().is_some();
    let data = schema.then(|| Json::parse(text.trim()).ok()).flatten();
    let misfit = run.words.misfit.clone();
    let (outcome, reason, cause): (_, Option<Arc<str>>, Option<Arc<str>>) = if declined {
        (Outcome::Error, Some("the model declined to answer".into()), Some("model_refusal".into()))
    } else if !said_something && refused {
        (Outcome::Refused, Some("a call was refused, and the agent said nothing more".into()), None)
    } else if !said_something {
        (Outcome::NoOutput, Some("the agent ended without a word".into()), None)
    } else if let Some(misfit) = misfit {
        let reason = format!("the answer does not fit the schema: {misfit}");
        (Outcome::Error, Some(reason.into()), Some("schema".into()))
    } else {
        (Outcome::Completed, None, None)
    };
    if outcome == Outcome::Completed
        && let Some(by) = checks::open(moment.thread, moment.facts)
    {
        return checks::start(moment, by);
    }
    report(moment, outcome, text, data, reason, cause);
}

/// The run ended before the agent was done.
pub fn ended(moment: &mut Moment<'_>, ending: &Ending) {
    let Some(run) = &moment.thread.run else { return };
    let text = run.words.last_text.clone();
    report(moment, ending.outcome, text, None, Some(ending.reason.clone()), ending.cause.clone());
}

fn report(
    moment: &mut Moment<'_>,
    outcome: Outcome,
    text: Arc<str>,
    data: Option<Json>,
    reason: Option<Arc<str>>,
    cause: Option<Arc<str>>,
) {
    let thread = &*moment.thread;
    let Some(run) = &thread.run else { return };
    let (used_before, below_before) = run.before;
    let usage = thread.spending.used.since(&used_before);
    let below = thread.spending.below.since(&below_before);
    let unread = |part: &Part| match part {
        Part::Text { text, origin: crate::message::Origin::Steer } => Some(format!("not read: {text}").into()),
        Part::Text { .. }
        | Part::ToolCall { .. }
        | Part::ToolResult { .. }
        | Part::Attached(_)
        | Part::Opaque { .. } => None,
    };
    let report = Report {
        outcome,
        text,
        data: data.or_else(|| thread.findings.last_data.clone()),
        reason,
        cause,
        tools_used: thread.findings.tools_used.clone(),
        files_read: thread.findings.files_read.list().to_vec(),
        files_modified: thread.findings.files_modified.list().to_vec(),
        usage,
        tree: usage.plus(&below),
        duration_ms: moment.now.since_ms(run.clock.started_at),
        unfinished: thread.inbox.notices.iter().filter_map(unread).collect(),
        unanswered: thread.findings.unanswered.clone(),
        foreign: thread.foreign,
        steered: thread.inbox.steered,
        asked: run.asked.clone().filter(|_| thread.created.brief.is_some()),
    };
    moment.emit(Event::Reported(Box::new(report)));
}
