//! A turn begins: the limits are looked at, and what the request may cost is reserved before it is made. How the conversation is kept
//! within the model's context window is in `window.rs`.

use std::sync::Arc;

use crate::budget::Claim;
use crate::context;
use crate::effect::Effect;
use crate::event::{Ending, Event, TurnKind, TurnStarted};
use crate::machine::Moment;
use crate::model::{Price, Tokens};
use crate::policy::TokenCount;
use crate::report::Outcome;
use crate::thread::{Phase, Thread};
use crate::tools::ToolInfo;
use crate::turn::answer::{MAX_CUTS, MAX_HALVES};
use crate::turn::window::{self, Room};
use crate::turn::{settings, stop, tools};

/// The shortest answer that is worth asking for.
pub const MIN_OUTPUT: u64 = 256;

/// The longest answer that is asked for at first, whatever the model could give: all of it is reserved while it is awaited,
/// and a text that is cut off goes on. After an answer that was cut off in the middle of a call, or before it said anything, the
/// model may write as much as it can.
const MAX_OUTPUT: u64 = 16_384;

/// What is kept back for a last word.
pub const CLOSING_OUTPUT: u64 = 512;

/// Bytes that a text, or a message, has besides its words (`Message::bytes`).
const TEXT_BYTES: usize = 8;

/// Answers in a row without one readable call, after which the agent is ended.
const MALFORMED_END_AT: u32 = 5;

/// A sub-agent begins with its brief.
pub fn begun(moment: &mut Moment<'_>) {
    if moment.thread.is_unbegun() {
        next(moment);
    }
}

/// The next turn: of work, or the last one where a limit is reached.
pub fn next(moment: &mut Moment<'_>) {
    settings::renew(moment);
    tools::renew(moment);
    if let Some(ending) = limit(moment.thread) {
        if moment.thread.children.live.is_empty() {
            last(moment, ending);
        }
        return;
    }
    let kind = keep_context(moment);
    match afford(moment, &kind) {
        Ok((max_tokens, _)) if is_refused(moment.thread, max_tokens) => {
            let ending = window::nothing_to_leave_out(moment.thread);
            end(moment, ending);
        }
        Ok((max_tokens, claim)) => start(moment, kind, max_tokens, claim),
        Err(ending) if moment.thread.children.live.is_empty() => last(moment, ending),
        // What the children do not spend comes back with their reports.
        Err(_) => {}
    }
}

/// The last turn, or none where it cannot be paid.
pub fn last(moment: &mut Moment<'_>, ending: Ending) {
    tools::renew(moment);
    let kind = TurnKind::Last(ending.clone());
    window::make_room(moment, words_of(&kind));
    match afford(moment, &kind) {
        Ok((max_tokens, claim)) if !is_refused(moment.thread, max_tokens) => start(moment, kind, max_tokens, claim),
        Ok(_) | Err(_) => end(moment, Ending { last_turn: false, ..ending }),
    }
}

/// Ends without another request; at once, where nothing is under way.
fn end(moment: &mut Moment<'_>, ending: Ending) {
    stop::begin(moment, None, ending);
    let ending = moment.thread.run.as_ref().and_then(|run| run.closing.ending.clone());
    if let Some(ending) = ending
        && moment.thread.children.live.is_empty()
        && moment.thread.calls.open() == 0
    {
        super::finish::ended(moment, &ending);
    }
}

/// Whether a request would be the one that the provider found too long: the same conversation, and an answer that is as long.
fn is_refused(thread: &Thread, max_tokens: u64) -> bool {
    let refused = thread.run.as_ref().and_then(|run| run.window.refused);
    refused.is_some_and(|refused| refused.epoch == thread.talk.epoch() && refused.max_tokens <= max_tokens)
}

/// The tools that a thread has, as they are advertised.
pub fn advertised<'a>(thread: &'a Thread, catalog: &'a crate::catalog::Catalog) -> impl Iterator<Item = ToolInfo> + 'a {
    let shown = thread.tools.names().iter().filter(|name| !catalog.deferred.contains(*name));
    shown.filter_map(|name| catalog.tool(name, thread))
}

fn start(moment: &mut Moment<'_>, kind: TurnKind, max_tokens: u64, claim: Claim) {
    let turn = moment.thread.issued.turns + 1;
    let (calls_allowed, told) = (kind == TurnKind::Work, context::turn_words(&kind).map(Into::into));
    moment.emit(Event::TurnStarted(TurnStarted { turn, kind, max_tokens, claim, told }));
    moment.ask(Effect::CallModel { turn, attempt: 1, max_tokens, calls_allowed, not_before: None });
}

/// The limit that the thread has reached, if any.
fn limit(thread: &Thread) -> Option<Ending> {
    let run = thread.run.as_ref()?;
    let policy = &thread.created.policy;
    let ending = |outcome, reason: String, cause: Option<&str>| {
        Some(Ending { outcome, reason: reason.into(), cause: cause.map(Arc::from), last_turn: true })
    };
    if let Some((name, _, times)) = &run.pace.repeated
        && *times >= policy.loop_end_at
    {
        return ending(
            Outcome::Error,
            format!("{name} was called {times} times in a row with the same arguments"),
            Some("loop"),
        );
    }
    if run.pace.malformed_row >= MALFORMED_END_AT {
        let reason = format!("the arguments of {} calls in a row could not be read", run.pace.malformed_row);
        return ending(Outcome::Error, reason, Some("malformed"));
    }
    if let Some(short) = &run.pace.cut_short
        && (run.pace.half_row > MAX_HALVES || run.pace.cut_row > MAX_CUTS)
    {
        let (limit, model) = (short.limit, &thread.model.name);
        let reason = format!(
            "the model's answers were cut off at the output limit, the newest at {limit} tokens, {} \
             (models.\"{model}\".max_output_tokens)",
            short.place()
        );
        return ending(Outcome::Error, reason, Some("output_limit"));
    }
    if run.pace.failed_row >= policy.loop_failed_at {
        let reason = format!(
            "in {} answers in a row every tool call failed or was refused (policy.loop_failed_at)",
            run.pace.failed_row
        );
        return ending(Outcome::Error, reason, Some("loop"));
    }
    let granted = thread.grant().tool_calls?;
    if thread.spending.calls_made >= granted {
        return ending(
            Outcome::BudgetExceeded,
            format!("the limit of {granted} tool calls (max_tool_calls) is reached"),
            None,
        );
    }
    None
}

/// Keeps the conversation within the model's context window, and says whether a summary is needed.
fn keep_context(moment: &mut Moment<'_>) -> TurnKind {
    if moment.thread.run.as_ref().is_some_and(|run| run.window.sums_up && run.window.compacted_at.is_none()) {
        window::make_room(moment, words_of(&TurnKind::Compact));
        return TurnKind::Compact;
    }
    if window::make_room(moment, 0) == Room::Enough {
        return TurnKind::Work;
    }
    let thread = &*moment.thread;
    let window = thread.run.as_ref().map(|run| run.window);
    let just_done = window.is_some_and(|window| window.compacted_at == Some(thread.issued.turns));
    // A summary is asked for with the whole conversation, which the provider has just found too long.
    let was_refused = window.is_some_and(|window| window.refused.is_some());
    if just_done || was_refused || thread.talk.messages().len() < 3 { TurnKind::Work } else { TurnKind::Compact }
}

/// Bytes that a turn of this kind says besides results and notices.
fn words_of(kind: &TurnKind) -> usize {
    context::turn_words(kind).map_or(0, |words| words.len() + TEXT_BYTES)
}

/// How long an answer may be asked for, and what is reserved for it; or the limit that stands against it.
/// After any turn but the last, one more request for a last word stays affordable.
fn afford(moment: &Moment<'_>, kind: &TurnKind) -> Result<(u64, Claim), Ending> {
    let thread = &*moment.thread;
    let model = &thread.model;
    let is_last = matches!(kind, TurnKind::Last(_));
    let prompt = prompt_tokens(moment, words_of(kind));
    let is_fresh = thread.created.policy.token_count == TokenCount::Fresh;
    let counted_prompt = if is_fresh { thread.talk.fresh_tokens(prompt) } else { prompt };
    let (least, longest) = if is_last { (MIN_OUTPUT / 4, 4 * CLOSING_OUTPUT) } else { (MIN_OUTPUT, u64::MAX) };
    let room = thread.context_tokens().saturating_sub(prompt.saturating_add(thread.talk.doubt(prompt)));
    if room < least {
        return Err(window::too_small(moment, prompt.saturating_add(least)));
    }
    let was_cut_short = thread.run.as_ref().is_some_and(|run| run.pace.cut_short.is_some());
    let most = if was_cut_short { model.max_output_tokens } else { model.max_output_tokens.min(MAX_OUTPUT) };
    let mut output = most.min(room).min(longest);

    let requests = if is_last { 1 } else { 2 };
    if thread.requests_left().is_some_and(|left| left < requests) {
        let granted = thread.grant().requests.unwrap_or(0);
        return Err(over(format!("the limit of {granted} requests (--max-requests, grant.requests) is reached")));
    }
    if let Some(left) = thread.tokens_left() {
        let after_prompt = left.saturating_sub(counted_prompt);
        let most = match (is_last, is_fresh) {
            (true, _) => after_prompt,
            // The closing request says nothing that was not charged before, but its own answer.
            (false, true) => after_prompt.saturating_sub(CLOSING_OUTPUT),
            // The closing request is charged for this prompt and this answer once more.
            (false, false) => after_prompt.saturating_sub(prompt.saturating_add(CLOSING_OUTPUT)) / 2,
        };
        output = output.min(most);
        if output < least {
            let granted = thread.grant().tokens.unwrap_or(0);
            return Err(over(format!("the grant of {granted} tokens (max_tokens) is used up")));
        }
    }
    // The prompt is an estimate that may be too low, and what is reserved in vain is given back.
    let price = model.price.unwrap_or_default().for_prompt(prompt.saturating_add(prompt / 4));
    if let Some(left) = thread.cost_left() {
        let (per_prompt, per_output) = (dearest_prompt(&price), price.output);
        let prompt_cost = u128::from(prompt) * u128::from(per_prompt);
        let (fixed, each) = if is_last {
            (prompt_cost, u128::from(per_output))
        } else {
            let closing_cost = u128::from(CLOSING_OUTPUT) * u128::from(per_output);
            (prompt_cost * 2 + closing_cost, u128::from(per_output) + u128::from(per_prompt))
        };
        let room = (u128::from(left) * 1_000_000).saturating_sub(fixed);
        if let Some(most) = room.checked_div(each) {
            output = output.min(u64::try_from(most).unwrap_or(u64::MAX));
        }
        if output < least {
            let granted = thread.grant().cost_microusd.unwrap_or(0) as f64 / 1e6;
            return Err(over(format!("the grant of ${granted:.2} (max_cost) is used up")));
        }
    }
    let dearest = Price { input: dearest_prompt(&price), ..price };
    let cost_microusd = dearest.of(&Tokens { input: prompt, output, ..Tokens::default() });
    let tokens = counted_prompt.saturating_add(output);
    Ok((output, Claim { tokens, cost_microusd, requests: 1, answer_tokens: output }))
}

fn over(reason: String) -> Ending {
    Ending { outcome: Outcome::BudgetExceeded, reason: reason.into(), cause: None, last_turn: true }
}

pub fn dearest_prompt(price: &Price) -> u64 {
    price.input.max(price.cache_write).max(price.cache_write_1h).max(price.cache_read)
}

/// Tokens of the prompt that is under way or comes next, roughly; `words` are bytes that will be said with it besides.
pub fn prompt_tokens(moment: &Moment<'_>, words: usize) -> u64 {
    let thread = &*moment.thread;
    let is_asking = matches!(thread.run.as_ref().map(|run| &run.phase), Some(Phase::Asking(_)));
    let notices: usize = if is_asking {
        0
    } else {
        thread.inbox.notices.iter().chain(&thread.progress_notices()).map(notice_bytes).sum()
    };
    let said = thread.calls.result_bytes() + notices + words;
    let upcoming = if said == 0 { 0 } else { said + TEXT_BYTES };
    let fixed = if thread.talk.is_measured() { 0 } else { fixed_bytes(moment) };
    thread.talk.prompt_tokens(fixed, upcoming)
}

fn notice_bytes(part: &crate::message::Part) -> usize {
    match part {
        crate::message::Part::Text { text, .. } => text.len() + TEXT_BYTES,
        crate::message::Part::ToolCall { .. }
        | crate::message::Part::ToolResult { .. }
        | crate::message::Part::Attached(_)
        | crate::message::Part::Opaque { .. } => 0,
    }
}

/// What a last word of the thread's own would count, if it had to be said next.
pub fn closing_tokens(moment: &Moment<'_>) -> u64 {
    let prompt = prompt_tokens(moment, 0);
    let is_fresh = moment.thread.created.policy.token_count == TokenCount::Fresh;
    let counted = if is_fresh { moment.thread.talk.fresh_tokens(prompt) } else { prompt };
    counted.saturating_add(CLOSING_OUTPUT)
}

/// Bytes of the system prompt and of the advertised tools.
pub fn fixed_bytes(moment: &Moment<'_>) -> usize {
    if let Some(known) = moment.fixed_bytes.get() {
        return known;
    }
    let tools = advertised(moment.thread, &moment.facts.catalog)
        .map(|tool| tool.name.len() + tool.description.len() + tool.schema.text().len() + 48)
        .sum::<usize>();
    let fixed = context::system(&moment.thread.created).len() + tools;
    moment.fixed_bytes.set(Some(fixed));
    fixed
}
