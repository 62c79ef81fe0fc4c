//! Readings of one question, weighed by what the household holds: the reading that its words suggest, and a search of everything.
//!
//! The second is tried where the result of the first speaks of little that was asked for. Told is the one that speaks of more; where neither does, that
//! is said first. What is a request for an action, or names nothing but a time or a person, has one reading.

use household::Household;
use household::time::words::words;

use super::{Step, asks, thing};
use crate::agent_context::AgentContext;
use crate::conversation::{ToolCall, Turn};
use crate::intent::Intent;
use crate::lexicon::{Concept, lexicon};
use crate::phrases::list;
use crate::task::SpecialistTask;
use crate::{scheduler, triage};

/// Why everything is searched beside what the words suggest.
const OTHER: &str = "The question names something that may stand elsewhere.";

/// A result that speaks of so much of the question needs no other.
const ENOUGH: f64 = 0.75;
/// A result that speaks of less than this may be about something else.
const LITTLE: f64 = 0.3;
/// By how much the search of everything must be ahead.
const AHEAD: f64 = 0.2;

/// The steps of a request with the other reading of a question behind its first.
pub(super) fn with_other(mut steps: Vec<Step>, said: &str, cx: &AgentContext) -> Vec<Step> {
    let [only] = &steps[..] else { return steps };
    if !subject(only, cx).is_empty() && is_question(only, said, cx) {
        let step = Step {
            intent: Intent::Search,
            task: said.trim().to_owned(),
            entities: Vec::new(),
            time: only.time.clone(),
            reason: OTHER.to_owned(),
        };
        steps.push(step);
    }
    steps
}

/// Whether a step is the other reading of the one before it.
pub(super) fn is_other(step: &Step) -> bool {
    step.reason == OTHER
}

/// Whether the result of the first reading is good enough, so that the other is not needed.
pub(super) fn is_enough(steps: &[Step], turn: &Turn, cx: &AgentContext) -> bool {
    match (steps, &turn.calls[..]) {
        ([first, other], [called]) if is_other(other) => is_effect(called) || evidence(first, called, cx) >= ENOUGH,
        _ => false,
    }
}

/// The reading that is told, with its results alone, and the words of the question that it says nothing about.
pub(super) fn chosen(steps: &[Step], turn: &Turn, cx: &AgentContext) -> (Vec<Step>, Turn, Option<String>) {
    let [first, other] = steps else { return (steps.to_vec(), turn.clone(), None) };
    if !is_other(other) {
        return (steps.to_vec(), turn.clone(), None);
    }
    let only = |step: &Step, called: &[ToolCall]| {
        (vec![step.clone()], Turn { said: turn.said.clone(), calls: called.to_vec() })
    };
    let Some((called, more)) = turn.calls.split_first() else { return (vec![first.clone()], turn.clone(), None) };
    let told = evidence(first, called, cx);
    let Some(searched) = more.first() else {
        let (steps, turn) = only(first, std::slice::from_ref(called));
        return (steps, turn, None);
    };
    let found = evidence(other, searched, cx);
    let is_empty = thing::found(called).is_empty();
    let is_sure = is_sure(searched);
    if is_sure && found >= told + AHEAD || is_empty && found > 0.0 {
        let (steps, turn) = only(other, std::slice::from_ref(searched));
        return (steps, turn, None);
    }
    let (steps, turn) = only(first, std::slice::from_ref(called));
    let unsaid = (!is_empty && told < LITTLE).then(|| subject(first, cx).join(", "));
    (steps, turn, unsaid)
}

/// Whether something was done: that is always told.
fn is_effect(called: &ToolCall) -> bool {
    let data = called.result.as_ref().map(|result| &result.data["data"]);
    data.is_some_and(|data| data["draftId"].is_string() || data["eventId"].is_string())
}

/// How much of what was asked for a result speaks of, from 0 to 1.
fn evidence(step: &Step, called: &ToolCall, cx: &AgentContext) -> f64 {
    let Some(result) = called.result.as_ref().filter(|result| !result.is_error) else { return 0.0 };
    if thing::found(called).is_empty() {
        return 0.0;
    }
    let subject = subject(step, cx);
    let told = result.data["summary"].as_str().unwrap_or(&result.text);
    let held = subject.iter().filter(|word| Household::says_word(told, word)).count();
    let own = held as f64 / subject.len().max(1) as f64;
    // An event that holds the words may still be told without them; a mail is told by its gist.
    let covers = result.data["data"]["covers"].as_f64().filter(|_| step.intent != Intent::Schedule).unwrap_or(0.0);
    let best = list(&result.data["data"], "answers").first().and_then(|best| best["covers"].as_f64());
    own.max(covers).max(best.unwrap_or(0.0))
}

fn is_sure(called: &ToolCall) -> bool {
    let data = called.result.as_ref().map(|result| &result.data["data"]);
    data.is_some_and(|data| list(data, "answers").iter().any(|answer| answer["sure"] == true))
}

/// The words of a step that say what is asked about, besides those that its specialist explains.
fn subject(step: &Step, cx: &AgentContext) -> Vec<String> {
    let task = SpecialistTask::read(&step.task, &cx.context);
    let subject = match step.intent {
        Intent::Triage => triage::subject(&task),
        Intent::Schedule => scheduler::subject(&task),
        Intent::Search => task.subject_words(),
        Intent::Draft | Intent::Learn => String::new(),
    };
    words(&subject).into_iter().map(|word| word.folded).filter(|word| word.chars().count() > 2).collect()
}

/// Whether the words of a step say more than with whom.
fn has_more_than_names(step: &Step, cx: &AgentContext) -> bool {
    let names = crate::entities::name_words(&cx.context.people);
    subject(step, cx).iter().any(|word| !names.contains(word))
}

/// Whether a step asks for something that is known, rather than for something to be done or listed.
fn is_question(step: &Step, said: &str, cx: &AgentContext) -> bool {
    use Concept::{Accept, Book, Briefing, Busy, Change, Conflict, Free, Genuine, Propose, Unread, Urgent};
    let task = SpecialistTask::read(&step.task, &cx.context);
    let hits = lexicon().hits(&words(said));
    // "The offer is due by?" offers nothing, and who asks until when something is needed looks for no free time.
    let is_open =
        (asks(said, &hits) || task.is_question()) && task.times.when.is_none() && task.times.duration_min.is_none();
    let is_kind = matches!(step.intent, Intent::Triage | Intent::Schedule);
    let is_done = task.has_any(&[Busy, Conflict, Urgent, Unread, Briefing, Genuine])
        || task.has_any(&[Accept, Book, Change, Propose]) && !asks(said, &hits)
        || task.has(Free) && !(is_open && has_more_than_names(step, cx));
    is_kind
        && !is_done
        && task.entities.ids.is_empty()
        && (asks(said, &hits) || task.is_question() || words(said).len() <= 6)
}
