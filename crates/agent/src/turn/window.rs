//! The conversation is kept within the model's context window: old results are masked, results that are too long are cut, and where
//! nothing helps, the end says what takes the room and which key sets the size.
//!
//! Nothing is sent that cannot fit. Whether a summary is asked for is decided in `begin.rs`.

use std::sync::Arc;

use crate::context;
use crate::event::{Ending, Event};
use crate::id::CallId;
use crate::machine::Moment;
use crate::report::Outcome;
use crate::thread::Thread;
use crate::turn::begin;

/// Whether there is room for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Enough of it.
    Enough,
    /// The context window is nearly full.
    Little,
}

/// Leaves out what can be left out, where the context window is nearly full or the provider found a request too long: first old
/// results, then parts of the longest ones, as far as the next request would not fit. `words` are bytes that it says besides.
pub fn make_room(moment: &mut Moment<'_>, words: usize) -> Room {
    let window = moment.thread.context_tokens();
    let refused = moment.thread.run.as_ref().and_then(|run| run.window.refused);
    let needs = |moment: &Moment<'_>| {
        let prompt = begin::prompt_tokens(moment, words);
        prompt.saturating_add(moment.thread.talk.doubt(prompt)).saturating_add(begin::MIN_OUTPUT)
    };
    let is_full = |moment: &Moment<'_>| begin::prompt_tokens(moment, words) > window / 10 * 8 || needs(moment) > window;
    if refused.is_none() && !is_full(moment) {
        return Room::Enough;
    }
    mask_old(moment, refused.is_some());
    if !is_full(moment) && refused.is_none_or(|refused| refused.epoch != moment.thread.talk.epoch()) {
        return Room::Enough;
    }
    // One result that fills a quarter of the context window is cut before anything else is done; there is room for the next one then.
    let enough = window / 10 * 6;
    let quarter = usize::try_from(window).unwrap_or(usize::MAX);
    let excess = begin::prompt_tokens(moment, words).saturating_sub(enough);
    cut_longest(moment, excess, quarter, window);
    let prompt = begin::prompt_tokens(moment, words);
    // Where the provider has found this very conversation too long and nothing has helped, a quarter of it goes.
    let is_same = refused.is_some_and(|refused| refused.epoch == moment.thread.talk.epoch());
    if is_same {
        cut_longest(moment, prompt.saturating_sub(enough.min(prompt / 4 * 3)), 0, window);
    } else if needs(moment) > window {
        cut_longest(moment, prompt.saturating_sub(enough), 0, window);
    }
    if is_full(moment) { Room::Little } else { Room::Enough }
}

/// Masks the results of all but the newest answers, if that saves enough or is needed.
fn mask_old(moment: &mut Moment<'_>, is_needed: bool) {
    let (calls, bytes) = moment.thread.talk.maskable();
    if calls.is_empty() || !(is_needed || bytes / 4 >= moment.thread.context_tokens() / 20) {
        return;
    }
    let told = calls.iter().map(|(_, characters)| context::masked(*characters).into()).collect();
    let calls = calls.into_iter().map(|(call, _)| call).collect();
    moment.emit(Event::ContextTrimmed { calls, bytes, told });
}

/// Cuts the longest results, so that so many tokens are saved. Each keeps `least` bytes.
fn cut_longest(moment: &mut Moment<'_>, excess: u64, least: usize, window: u64) {
    let thread = &*moment.thread;
    let excess = usize::try_from(thread.talk.bytes_of(excess)).unwrap_or(usize::MAX);
    let upcoming = thread.calls.slots().iter().filter_map(|slot| Some((&slot.call, &*slot.result.as_ref()?.content)));
    let cut = |(call, content, most): (&CallId, &str, usize)| {
        // The note about the cut takes room, too, and a character may have several bytes.
        let most = content.chars().count() * most / content.len();
        let told: Arc<str> = context::cut_result(content, most, window, thread.id()).into();
        let saved = content.len().saturating_sub(told.len()) as u64;
        (saved > 0).then(|| (call.clone(), told, saved))
    };
    let cuts: Vec<_> = thread.talk.cuttable(upcoming, excess, least).into_iter().filter_map(cut).collect();
    if cuts.is_empty() {
        return;
    }
    let bytes = cuts.iter().map(|(_, _, saved)| saved).sum();
    let (calls, told) = cuts.into_iter().map(|(call, told, _)| (call, told)).unzip();
    moment.emit(Event::ContextTrimmed { calls, bytes, told });
}

/// The request of `needed` tokens does not fit, whatever is left out.
pub fn too_small(moment: &Moment<'_>, needed: u64) -> Ending {
    let thread = &*moment.thread;
    let (window, model) = (thread.context_tokens(), &thread.model.name);
    let fixed = (begin::fixed_bytes(moment) as u64).div_ceil(4);
    let what = if fixed.saturating_add(begin::MIN_OUTPUT) > window {
        format!(
            "the instructions and tools of agent '{}' alone take about {fixed} tokens, which is impossible with this model: \
             use an agent with fewer tools, or a model with a larger context window",
            thread.created.role.name
        )
    } else {
        format!(
            "about {needed} tokens are needed, {fixed} of them for instructions and tools, and nothing more can be left out: \
             give a smaller task, or use a model with a larger context window"
        )
    };
    ending(format!("the context window of {model} is {window} tokens (models.\"{model}\".context_tokens); {what}"))
}

/// The provider found the request too long, and there is nothing to leave out of it.
pub fn nothing_to_leave_out(thread: &Thread) -> Ending {
    let model = &thread.model.name;
    ending(format!(
        "{model} did not take the request because it is too long, and nothing more can be left out of it: \
         if its context window is known, set models.\"{model}\".context_tokens"
    ))
}

fn ending(reason: String) -> Ending {
    Ending { outcome: Outcome::Error, reason: reason.into(), cause: Some("window".into()), last_turn: false }
}
