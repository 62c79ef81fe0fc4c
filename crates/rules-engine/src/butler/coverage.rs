//! What of a question an answer rests on, looked at once more before it is said: the last wall between what a rule found and what is told.
//!
//! Every word of weight of the question has to be met by what the answer says, in some form or language. Where none of them is, the answer begins
//! with what it does not know; where some are not, they are named behind it. A question that compares, or leaves something out, asks for a
//! judgement that no rule makes: that is said first. What was done (a draft, a proposal) and free times are no answers to a question.

use household::Household;
use household::time::words::{Word, words};
use serde_json::Value;

use super::{Step, readings};
use crate::agent_context::AgentContext;
use crate::conversation::{ToolCall, Turn};
use crate::intent::Intent;
use crate::lexicon::Concept;
use crate::phrases::{list, texts_of};
use crate::task::SpecialistTask;

/// An answer, with what it does not rest on. `unsaid` are words that are known to be missing from it.
pub(super) fn checked(
    steps: &[Step],
    current: &Turn,
    answer: String,
    unsaid: Option<String>,
    cx: &AgentContext,
) -> String {
    let ([step], [called]) = (steps, &current.calls[..]) else { return named_before(answer, unsaid, cx) };
    let Some(data) = called.result.as_ref().filter(|result| !result.is_error).map(|result| &result.data["data"]) else {
        return named_before(answer, unsaid, cx);
    };
    if is_done(step, called, data, cx) {
        return free_times(step, data, answer, unsaid, cx);
    }
    // What only comes near is said to be so already.
    let is_near = data["answers"].is_array() && !list(data, "answers").iter().any(|one| one["sure"] == true);
    if let Some(judgement) = judgement(&step.task).filter(|_| unsaid.is_none() && !is_near) {
        return format!("{}\n\n{answer}", cx.speech.say(judgement, &[]));
    }
    let (met, lacking) = accounted(step, data, &answer, cx);
    match lacking.is_empty() || unsaid.is_some() {
        true => named_before(answer, unsaid, cx),
        false if met == 0 => named_before(answer, Some(lacking.join(", ")), cx),
        false => format!("{answer}\n\n{}", cx.speech.say("missing_words", &[("words", &lacking.join(", "))])),
    }
}

fn named_before(answer: String, unsaid: Option<String>, cx: &AgentContext) -> String {
    match unsaid {
        Some(words) => format!("{}\n\n{answer}", cx.speech.say("unsaid", &[("words", &words)])),
        None => answer,
    }
}

/// Free times are the owner's: to a question about another person's time, or about something else, they are told with what is not known.
fn free_times(step: &Step, data: &Value, answer: String, unsaid: Option<String>, cx: &AgentContext) -> String {
    let task = SpecialistTask::read(&step.task, &cx.context);
    let are_told = !list(data, "suggestedSlots").is_empty();
    if !are_told || unsaid.is_some() || !task.is_question() || !readings::is_about_others(&task) {
        return named_before(answer, unsaid, cx);
    }
    let first = words(&step.task);
    let named =
        |person: &str| words(person).iter().any(|part| first.get(1).is_some_and(|word| word.folded == part.folded));
    if let Some(person) = task.person().filter(|person| named(person)) {
        return format!("{} {answer}", cx.speech.say("others_time", &[("who", person)]));
    }
    let (_, lacking) = accounted(step, data, "", cx);
    named_before(answer, Some(lacking.join(", ")).filter(|words| !words.is_empty()), cx)
}

/// Whether something was done or found that no words have to account for.
fn is_done(step: &Step, called: &ToolCall, data: &Value, cx: &AgentContext) -> bool {
    use Concept::{Accept, Book, Busy, Change, Conflict, Free, Propose};
    let task = SpecialistTask::read(&step.task, &cx.context);
    let has_effect = data["draftId"].is_string() || data["eventId"].is_string();
    has_effect
        || matches!(step.intent, Intent::Draft | Intent::Learn)
        || !list(data, "suggestedSlots").is_empty()
        || step.intent == Intent::Schedule && task.has_any(&[Accept, Book, Busy, Change, Conflict, Free, Propose])
        || super::thing::found(called).is_empty()
        || !task.entities.ids.is_empty()
}

/// How many words of weight an answer accounts for, and those that it does not.
fn accounted(step: &Step, data: &Value, answer: &str, cx: &AgentContext) -> (usize, Vec<String>) {
    // Where sentences were looked for, it is known which words their texts hold.
    if data["answers"].is_array() {
        let answers = list(data, "answers");
        let best = answers.iter().find(|one| one["sure"] == true);
        let told_already = cx.speech.say("missing_words", &[("words", "")]);
        let told_already = told_already.trim_end_matches(['.', ' ']);
        let missing = best.map(|best| texts_of(best, "missing")).filter(|_| !answer.contains(told_already));
        let missing: Vec<String> =
            missing.into_iter().flatten().filter(|word| !Household::says_word(answer, word)).collect();
        return (1, missing);
    }
    if data["people"].is_array() || data["threadId"].is_string() || data["body"].is_string() {
        return (1, Vec::new());
    }
    let names = crate::entities::name_words(&cx.context.people);
    let is_pronoun = |word: &str| PRONOUNS.split_whitespace().any(|one| one == word);
    let is_whom = |word: &String| names.contains(word) || Household::is_relation(word) || is_pronoun(word);
    let subject: Vec<String> = readings::subject(step, cx).into_iter().filter(|word| !is_whom(word)).collect();
    // A mail may be told by its gist, without the words by which it was found.
    let covers = data["covers"].as_f64().unwrap_or(0.0);
    let subject = if covers > COVERED { Vec::new() } else { subject };
    let (met, lacking): (Vec<String>, Vec<String>) =
        subject.into_iter().partition(|word| Household::says_word(answer, word));
    (met.len(), lacking)
}

/// Pronouns that are no words of weight.
const PRONOUNS: &str = "his hers theirs mine ours yours them they both ihre ihrer ihnen beide eux elles leur leurs";

/// A search whose results hold so much of the words was led by all of them.
const COVERED: f64 = 0.9;

/// The sentence about a judgement that a question asks for and no rule makes.
fn judgement(said: &str) -> Option<&'static str> {
    let all = words(said);
    let is_in = |list: &str, word: &Word| list.split_whitespace().any(|one| one == word.folded);
    let compares = all.iter().enumerate().any(|(at, word)| {
        let is_before = |list: &str| all[at + 1..].iter().take(5).any(|word| is_in(list, word));
        let is_comparative = word.folded.len() > 4 && word.folded.ends_with("er") && !is_in(NO_COMPARATIVE, word);
        is_in(MORE, word) && is_before(THAN) || is_comparative && is_before("than")
    });
    let chooses = all.iter().any(|word| is_in(OR, word))
        && all.iter().any(|word| is_in(MORE, word))
        && all.first().is_some_and(|word| is_in(WHICH, word));
    (compares || chooses).then_some("no_comparing")
}

const THAN: &str = "than als que";
const MORE: &str = "more less fewer longer shorter earlier later older younger bigger smaller larger higher lower cheaper mehr weniger langer kurzer \
    fruher spater alter junger grosser kleiner hoher teurer billiger plus moins";
const NO_COMPARATIVE: &str = "other rather either after whether number";
const OR: &str = "or oder ou";
const WHICH: &str = "which what who do does is are was were when welche welcher welches wer was ist sind hat habe quel quelle lequel laquelle qui est ai";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_compares_asks_for_a_judgement() {
        for said in [
            "Does Ebba wear bigger shoes than Jonah?",
            "Which milestone pays more, the first or the second?",
            "Ist der zweite Teil teurer als der erste?",
            "Ai-je plus de rendez-vous mardi que jeudi ?",
        ] {
            assert_eq!(judgement(said), Some("no_comparing"), "{said}");
        }
        for said in ["Who is at dinner?", "Is there more milk?", "When is the later train?", "mehr Zeit am Freitag"] {
            assert_eq!(judgement(said), None, "{said}");
        }
    }
}
