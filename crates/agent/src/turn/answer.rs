//! The model answered: what it used is booked, each of its calls gets a verdict, and what may begin begins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::context;
use crate::event::{Again, Answered, Ending, Event, Next, TurnKind, TurnStarted, Verdict, VerdictKind};
use crate::id::CallId;
use crate::machine::Moment;
use crate::message::{Part, Told};
use crate::model::{Answer, StopReason, Tokens};
use crate::policy::TokenCount;
use crate::report::Outcome;
use crate::thread::{Asking, CutShort, Phase, Thread};
use crate::turn::{approval, begin, stop, tool_calls, verbs};

/// Answers that may be cut off at their output limit and go on; after one more, the text is taken as it is, or the thread ends.
pub const MAX_CUTS: u32 = 4;

/// How many of them may say nothing, or end in the middle of a call: the model is told once and given more room.
pub const MAX_HALVES: u32 = 1;

/// How often an answer that does not fit its schema is asked for again.
const MAX_SCHEMA_MISSES: u32 = 2;

/// The share of a limit, in percent, at which the thread is warned.
const WARN_AT: u64 = 80;

/// The answer to `turn`.
pub fn answered(moment: &mut Moment<'_>, turn: u32, answer: Answer, schema_error: Option<Arc<str>>) {
    let Some(asking) = asking(moment, turn) else { return };
    let kind = asking.turn.kind.clone();
    let works = kind == TurnKind::Work && !asking.cancelled;
    let estimated = answer.tokens.is_none();
    let tokens = answer.tokens.unwrap_or_else(|| estimate(moment, &answer));
    let counted_tokens = counted(moment, &tokens);
    let price = moment.thread.model.price.unwrap_or_default();
    let is_paused = answer.stop == StopReason::Paused;
    let Named { parts, mut unreadable } = name_calls(moment, answer.parts, &answer.malformed, works, is_paused);
    let mut cut_call = answer.cut_call.filter(|_| works && answer.stop == StopReason::MaxTokens);
    // Where no later call is known to have been cut off, the last one may have been.
    if answer.stop == StopReason::MaxTokens
        && cut_call.is_none()
        && let Some(Part::ToolCall { id, name, .. }) = parts.last()
    {
        cut_call = Some(name.clone());
        unreadable.push((id.clone(), "the answer was cut off at its output limit".into()));
    }
    let verdicts = if works { judge(moment, &parts, &unreadable) } else { Vec::new() };
    let is_final = verdicts.is_empty() && kind != TurnKind::Compact;
    // Only a summary is wanted as words; all else stays in the parts.
    let summary = (kind == TurnKind::Compact).then(|| text_of(&parts));
    let mut answered = Answered {
        turn,
        parts,
        stop: answer.stop,
        tokens,
        counted_tokens,
        cost_microusd: price.of(&tokens),
        estimated,
        schema_error: schema_error.filter(|_| is_final),
        cut_call,
        verdicts,
        next: None,
    };
    answered.next = Some(next(moment, &asking.turn, &answered));
    moment.emit(Event::Answered(answered));
    warn(moment);
    match summary {
        Some(text) if text.trim().is_empty() && is_wanted(moment.thread) => {
            let reason = "the summary came out empty; the conversation stays as it was".into();
            let ending = Ending { outcome: Outcome::NoOutput, reason, cause: None, last_turn: false };
            stop::begin(moment, None, ending);
        }
        Some(text) => {
            let summary = if text.is_empty() { "(the summary came out empty)".into() } else { text };
            let thread = &*moment.thread;
            let changed_mode = Some(thread.mode).filter(|mode| *mode != thread.created.mode);
            let told = Some(Told::of(&context::summary(&summary, changed_mode), &summary));
            moment.emit(Event::ContextCompacted { summary, told });
        }
        None => {}
    }
    if works {
        approval::ask_all(moment);
        verbs::start_all(moment);
        tool_calls::start_ready(moment);
    }
}

/// Whether the run is there to sum up, because a person wants it.
fn is_wanted(thread: &Thread) -> bool {
    thread.run.as_ref().is_some_and(|run| run.window.sums_up)
}

/// What follows from an answer: it is taken as it is, or the model is told what is wrong with it and asked again.
fn next(moment: &Moment<'_>, asked: &TurnStarted, answered: &Answered) -> Next {
    let Some(run) = moment.thread.run.as_ref().filter(|_| asked.kind != TurnKind::Compact) else { return Next::Taken };
    let has_calls = !answered.verdicts.is_empty();
    let is_cut = asked.kind == TurnKind::Work && answered.is_cut();
    let is_half = is_cut && answered.is_half(has_calls, &text_of(&answered.parts));
    let (cuts, halves) = (run.pace.cut_row + u32::from(is_cut), run.pace.half_row + u32::from(is_half));
    let goes_on = cuts <= MAX_CUTS && run.closing.ending.is_none();
    let again = |why, told: String| Next::Again { why, told: told.into() };
    if is_half && goes_on && halves <= MAX_HALVES {
        let short = CutShort { limit: asked.max_tokens, call: answered.cut_call.clone() };
        let longest = moment.thread.model.max_output_tokens;
        return again(Again::CutShort, context::cut_short(&short, longest));
    }
    if is_cut && answered.stop == StopReason::Paused && !has_calls && goes_on {
        return again(Again::Paused, String::new());
    }
    if is_cut && !is_half && !has_calls && goes_on {
        return again(Again::CutInText, context::cut_off());
    }
    match &answered.schema_error {
        Some(error) if run.pace.schema_misses < max_schema_misses(moment.thread) && run.closing.ending.is_none() => {
            again(Again::Schema, context::schema_miss(error))
        }
        Some(_) | None => Next::Taken,
    }
}

/// How often an answer that does not fit its schema is asked for again: the schema of a brief is one of its checks.
fn max_schema_misses(thread: &Thread) -> u32 {
    match thread.brief_checks() {
        Some(checks) if checks.schema.is_some() => thread.created.policy.check_attempts.saturating_sub(1),
        Some(_) | None => MAX_SCHEMA_MISSES,
    }
}

/// The request that `turn` stands for, if it is still awaited.
pub fn asking(moment: &Moment<'_>, turn: u32) -> Option<Asking> {
    match &moment.thread.run.as_ref()?.phase {
        Phase::Asking(asking) if asking.turn.turn == turn => Some(asking.clone()),
        Phase::Asking(_) | Phase::Ready | Phase::Acting | Phase::Answered | Phase::Checking(_) => None,
    }
}

fn estimate(moment: &Moment<'_>, answer: &Answer) -> Tokens {
    let said = crate::message::Message { role: crate::message::Role::Assistant, parts: answer.parts.clone() };
    Tokens { input: begin::prompt_tokens(moment, 0), output: (said.bytes() as u64).div_ceil(4), ..Tokens::default() }
}

/// What counts against the grant.
pub fn counted(moment: &Moment<'_>, tokens: &Tokens) -> u64 {
    match moment.thread.created.policy.token_count {
        TokenCount::Billed => tokens.total(),
        TokenCount::Fresh => moment.thread.talk.fresh_tokens(tokens.prompt()).saturating_add(tokens.output),
    }
}

/// An answer's parts as they stay in the conversation, and the calls that cannot be read, under the names they have there.
struct Named {
    parts: Vec<Part>,
    unreadable: Vec<(CallId, Arc<str>)>,
}

/// Gives every call a name of its own. A call that came twice stays once, and none stays where calls are off;
/// a model does not answer its own calls.
fn name_calls(
    moment: &Moment<'_>,
    parts: Vec<Part>,
    malformed: &[(CallId, Arc<str>)],
    works: bool,
    is_paused: bool,
) -> Named {
    let mut taken: BTreeSet<CallId> = BTreeSet::new();
    let mut as_given: BTreeMap<CallId, Vec<Part>> = BTreeMap::new();
    let mut unreadable = Vec::new();
    let mut kept: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::ToolCall { .. } if !works => {}
            Part::ToolCall { ref id, .. } if as_given.get(id).is_some_and(|same| same.contains(&part)) => {}
            Part::ToolCall { ref id, ref name, ref input } => {
                let is_free = |id: &CallId| !taken.contains(id) && !moment.thread.issued.calls.contains(id);
                // Counted from the turn, so that a provider which begins anew with every answer costs no longer search.
                let numbered =
                    (moment.thread.issued.turns.max(2)..).map(|number| CallId::new(format!("{id}-{number}")));
                let name_of_its_own = std::iter::once(id.clone())
                    .chain(numbered)
                    .find(|id| !id.as_str().is_empty() && is_free(id))
                    .expect("there are more numbers than calls");
                taken.insert(name_of_its_own.clone());
                if let Some((_, why)) = malformed.iter().find(|(call, _)| call == id) {
                    unreadable.push((name_of_its_own.clone(), why.clone()));
                }
                kept.push(Part::ToolCall { id: name_of_its_own, name: name.clone(), input: input.clone() });
                as_given.entry(id.clone()).or_default().push(part);
            }
            Part::ToolResult { .. } => {}
            Part::Text { ref text, .. } if text.is_empty() => {}
            Part::Text { .. } | Part::Attached(_) | Part::Opaque { .. } => kept.push(part),
        }
    }
    // Thinking alone is no message: a provider wants something said with it, unless it made a pause itself.
    let says_something = is_paused || kept.iter().any(|part| !matches!(part, Part::Opaque { .. }));
    Named { parts: if says_something { kept } else { Vec::new() }, unreadable }
}

fn judge(moment: &Moment<'_>, parts: &[Part], unreadable: &[(CallId, Arc<str>)]) -> Vec<Verdict> {
    let thread = &*moment.thread;
    let policy = &thread.created.policy;
    let mut calls_left = thread.tool_calls_left();
    let mut last = thread.run.as_ref().and_then(|run| run.pace.repeated.clone());
    let mut verdicts = Vec::with_capacity(parts.len());
    for part in parts {
        let Part::ToolCall { id, name, input } = part else { continue };
        let times = match last.take() {
            Some((same, arguments, times)) if same == *name && *arguments == *input.text() => times + 1,
            Some(_) | None => 1,
        };
        last = Some((name.clone(), input.text().into(), times));
        let unread = unreadable.iter().find(|(call, _)| call == id).map(|(_, why)| why.clone());
        let is_malformed = unread.is_some();
        let refused = |reason: String| VerdictKind::Refused { reason: reason.into(), rule: None };
        let (mut by, mut decider) = (None, None);
        let (what, counts) = if verdicts.len() >= policy.max_calls_per_answer as usize {
            let most = policy.max_calls_per_answer;
            (refused(format!("not run: one answer may hold {most} calls (policy.max_calls_per_answer)")), false)
        } else if calls_left == Some(0) {
            let granted = thread.grant().tool_calls.unwrap_or(0);
            (refused(format!("not run: the limit of {granted} tool calls (max_tool_calls) is reached")), false)
        } else if let Some(why) = unread {
            (
                refused(format!(
                    "the arguments of {name} could not be read: {why}. Call it again with one JSON object"
                )),
                true,
            )
        } else if times >= policy.loop_refuse_at {
            let reason = format!(
                "not run: {name} was called {times} times in a row with the same arguments. Do something else, or answer"
            );
            (refused(reason), true)
        } else {
            let (name, input) = thread.called(name, input);
            let ruling = thread.rule_on(moment.facts, &name, &input);
            decider = Some(ruling.decider);
            let (what, rule) = ruling.verdict(moment.facts);
            by = rule;
            (what, true)
        };
        if counts {
            calls_left = calls_left.map(|left| left - 1);
        }
        let tool = (!is_malformed).then(|| thread.called(name, input).0).filter(|called| called != name);
        verdicts.push(Verdict { call: id.clone(), what, counts, malformed: is_malformed, decider, by, tool });
    }
    verdicts
}

fn text_of(parts: &[Part]) -> Arc<str> {
    crate::message::Message { role: crate::message::Role::Assistant, parts: parts.to_vec() }.text().into()
}

/// Warns once when most of a limit is used.
pub fn warn(moment: &mut Moment<'_>) {
    let thread = &*moment.thread;
    let grant = thread.grant();
    let tree = thread.spending.spent;
    let limits = [
        ("tool_calls", grant.tool_calls.map(u64::from), u64::from(thread.spending.calls_made)),
        ("requests", grant.requests.map(u64::from), u64::from(tree.requests)),
        ("tokens", grant.tokens, tree.counted_tokens),
        ("cost", grant.cost_microusd, tree.cost_microusd),
    ];
    for (limit, granted, used) in limits {
        let Some(granted) = granted.filter(|granted| *granted > 0) else { continue };
        let percent = used.saturating_mul(100) / granted;
        if percent >= WARN_AT && !moment.thread.spending.warned.contains(limit) {
            moment.emit(Event::BudgetWarned { limit: limit.into(), percent: percent.min(u64::from(u32::MAX)) as u32 });
        }
    }
}
