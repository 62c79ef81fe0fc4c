//! Readings of one question, weighed by what the household holds: the reading that its words suggest, and a search of everything.
//!
//! The second is tried where the result of the first speaks of little that was asked for. Told is the one that speaks of more. Where the first speaks
//! of nothing that was asked for and the second only comes near, the person is asked which one is meant. What is a request for an action, or names
//! nothing but a time or a person, has one reading.

use household::Household;
use household::time::words::words;
use household::words::is_light;

use super::{LONGEST_TERSE, Spoken, Step, asks, reason, thing};
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
    let named = subject(only, cx);
    // "What do I have on the 22nd?" names nothing but the day: the calendar answers it.
    let is_day = only.intent == Intent::Schedule
        && only.time.is_some()
        && SpecialistTask::read(said, &cx.context).has(Concept::Day)
        && named.iter().all(|word| is_light(word) || ["est", "que"].contains(&word.as_str()));
    if !named.is_empty() && !is_day && is_question(only, said, cx) {
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
    let timely = in_time(searched, first, cx);
    let found = evidence(other, &timely, cx);
    let is_empty = thing::found(called).is_empty();
    let is_sure = is_sure(&timely);
    // That nothing is on at a time is an answer, too.
    let is_vain = is_empty && (is_sure || first.intent != Intent::Schedule || first.time.is_none());
    if is_off(first, called, cx) && found > 0.0
        || is_sure && found >= told + AHEAD
        || is_vain && found > 0.0
        || is_doubtful(first, told, found, cx)
    {
        let (steps, turn) = only(other, std::slice::from_ref(searched));
        return (steps, turn, None);
    }
    let (steps, turn) = only(first, std::slice::from_ref(called));
    let unsaid = subject(first, cx);
    let is_timed = first.intent == Intent::Schedule && first.time.is_some() && unsaid.iter().all(|word| is_light(word));
    let unsaid = (!is_empty && told < LITTLE && !is_timed).then(|| unsaid.join(", "));
    (steps, turn, unsaid)
}

/// A result without the events of other days than the one that was asked about: they are no answer to it.
fn in_time(searched: &ToolCall, first: &Step, cx: &AgentContext) -> ToolCall {
    let mut kept = searched.clone();
    let when = first.time.as_ref().and_then(|time| household::time::parse(time, &cx.context.now).when);
    let answers = kept.result.as_mut().and_then(|result| result.data["data"]["answers"].as_array_mut());
    if let (Some(when), Some(answers)) = (when, answers) {
        answers.retain(|answer| scheduler::is_within(answer, when.start.date(), scheduler::last_day(&when)));
    }
    kept
}

/// Whether the reading that the words suggest says nothing of what was asked for, and the search says some of it.
fn is_doubtful(first: &Step, told: f64, found: f64, cx: &AgentContext) -> bool {
    let task = SpecialistTask::read(&first.task, &cx.context);
    let is_free = first.time.is_none() || is_about_others(&task);
    let is_enough = if first.intent == Intent::Schedule && is_free { 0 } else { 1 };
    let weighty = subject(first, cx).iter().filter(|word| !is_light(word)).count();
    told < f64::EPSILON && found >= LITTLE && weighty > is_enough
}

/// Whether free times were looked for although the words name something that has nothing to do with them.
fn is_off(first: &Step, called: &ToolCall, cx: &AgentContext) -> bool {
    let data = called.result.as_ref().map(|result| &result.data["data"]);
    let has_slots = data.is_some_and(|data| !list(data, "suggestedSlots").is_empty());
    let weighty = subject(first, cx).iter().filter(|word| !is_light(word)).count();
    let task = SpecialistTask::read(&first.task, &cx.context);
    let is_off = first.time.is_none() && weighty > 1 || is_about_others(&task) && weighty > 0;
    first.intent == Intent::Schedule && is_off && has_slots
}

/// The question which of two readings is meant, where neither is convincing: with the nearest that a search found, and numbers for both.
pub(super) fn question(steps: &[Step], turn: &Turn, cx: &AgentContext) -> Option<Spoken> {
    let ([first, other], [called, searched]) = (steps, &turn.calls[..]) else { return None };
    let searched = &in_time(searched, first, cx);
    let (told, found) = (evidence(first, called, cx), evidence(other, searched, cx));
    if is_other(other) && told < f64::EPSILON && found < LITTLE && is_off(first, called, cx) {
        let words = subject(first, cx).join(", ");
        let text = format!("{} {}", cx.speech.say("nothing_says", &[("words", &words)]), cx.speech.say("help", &[]));
        return Some(Spoken { text, ..Spoken::default() });
    }
    // Free times are no reading of a question about something else.
    if is_off(first, called, cx) {
        return None;
    }
    if !is_other(other) || is_sure(searched) || !is_doubtful(first, told, found, cx) || thing::found(called).is_empty()
    {
        return None;
    }
    let speech = cx.speech;
    let place = match first.intent {
        Intent::Schedule => "reading_calendar",
        _ => "reading_mail",
    };
    let time = first.time.as_ref().map(|time| format!(" ({time})")).unwrap_or_default();
    let data = &searched.result.as_ref()?.data["data"];
    let nearest = list(data, "answers").first().map(|best| cx.dates.quoted(best))?;
    let words = subject(first, cx).join(", ");
    let text = format!(
        "{}\n\n1. {}\n2. {}\n\n{}",
        speech.say("two_readings", &[]),
        speech.say(place, &[("time", &time)]),
        speech.say("reading_search", &[("words", &words), ("nearest", &nearest)]),
        speech.say("number_enough", &[])
    );
    let chosen = |step: &Step| Step { reason: reason(step.intent, &[]), ..step.clone() };
    Some(Spoken { text, numbered: vec![chosen(first), chosen(other)], yes: None })
}

/// Whether something was done: that is always told.
fn is_effect(called: &ToolCall) -> bool {
    let data = called.result.as_ref().map(|result| &result.data["data"]);
    data.is_some_and(|data| data["draftId"].is_string() || data["eventId"].is_string())
}

/// How much of what was asked for a result speaks of, from 0 to 1.
fn evidence(step: &Step, called: &ToolCall, cx: &AgentContext) -> f64 {
    let Some(result) = called.result.as_ref().filter(|result| !result.is_error) else { return 0.0 };
    // Free times say nothing about what was asked for, whatever is told beside them.
    if thing::found(called).is_empty() || !list(&result.data["data"], "suggestedSlots").is_empty() {
        return 0.0;
    }
    let subject = subject(step, cx);
    let told = result.data["summary"].as_str().unwrap_or(&result.text);
    // Where sentences were looked for, the answer names also the words that were not found.
    let is_quoted = result.data["data"]["answers"].is_array();
    let held = subject.iter().filter(|word| !is_quoted && Household::says_word(told, word)).count();
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
pub(super) fn subject(step: &Step, cx: &AgentContext) -> Vec<String> {
    let task = SpecialistTask::read(&step.task, &cx.context);
    let subject = match step.intent {
        Intent::Triage => triage::subject(&task),
        Intent::Schedule => scheduler::subject(&task),
        Intent::Search => task.subject_words(),
        Intent::Draft | Intent::Learn => String::new(),
    };
    let all: Vec<String> =
        words(&subject).into_iter().map(|word| word.folded).filter(|word| word.chars().count() > 2).collect();
    // Words that say little count only where there are no others.
    match all.iter().any(|word| !is_light(word)) {
        true => all.into_iter().filter(|word| !is_light(word)).collect(),
        false => all,
    }
}

/// Whether the words of a step say more than with whom.
fn has_more_than_names(step: &Step, cx: &AgentContext) -> bool {
    let names = crate::entities::name_words(&cx.context.people);
    subject(step, cx).iter().any(|word| !names.contains(word))
}

/// Whether a question is not about the owner: "when does the library open on Mondays?" looks for no free time.
pub(super) fn is_about_others(task: &SpecialistTask) -> bool {
    const OWN: &str = "i i'm we me us my our mine ich wir mir mich uns mein meine meinem meinen unser je j nous moi on mon ma mes notre nos any anything \
        slot slots free frei libre libres time zeit temps";
    task.is_question() && !task.says(OWN)
}

/// Whether a step asks for something that is known, rather than for something to be done or listed.
fn is_question(step: &Step, said: &str, cx: &AgentContext) -> bool {
    use Concept::{Accept, Book, Briefing, Busy, Change, Conflict, Free, Genuine, Propose, Unread, Urgent};
    let task = SpecialistTask::read(&step.task, &cx.context);
    let hits = lexicon().hits(&words(said));
    // "The offer is due by?" offers nothing, and who asks until when something is needed looks for no free time.
    let is_terse = words(said).len() <= 6;
    // "Bake time for a turkey" looks for no free time: a verb would say so.
    let is_noun = words(said).len() <= LONGEST_TERSE && !task.has_any(&[Concept::Find, Concept::Look, Concept::Book]);
    let is_open = (asks(said, &hits) || task.is_question() || is_terse || is_noun)
        && (task.times.when.is_none() || is_about_others(&task))
        && task.times.duration_min.is_none();
    let is_kind = matches!(step.intent, Intent::Triage | Intent::Schedule);
    let is_done = task.has_any(&[Busy, Conflict, Urgent, Unread, Briefing, Genuine])
        || task.has_any(&[Accept, Book, Change, Propose]) && !asks(said, &hits)
        || task.has(Free) && !(is_open && has_more_than_names(step, cx));
    is_kind
        && !is_done
        && task.entities.ids.is_empty()
        && (asks(said, &hits) || task.is_question() || is_terse || is_noun && task.has(Free))
}
