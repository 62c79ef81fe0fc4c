//! Two questions in one request are answered one after the other. Where the second says by itself what it is about, it is a question of its own; where the
//! whole would lead nowhere, it is asked as what follows the first, whose answer it may refer to.
//!
//! Cut is only where both halves ask: before a word that joins and a word that asks. A half without a word of weight of its own ("… and until
//! when?") stays with the other, as one sentence of a text often answers both.

use super::{Dialogue, Plan, Step, asked_for, is_open, plan, readings, reply, with_name};
use crate::agent_context::AgentContext;
use crate::conversation::{ToolCall, Turn};
use crate::intent::{Intent, classify};
use crate::task::SpecialistTask;
use household::time::words::{Word, words};
use household::words::is_light;

/// One question of a request.
pub(super) struct Asked {
    /// What it comes to.
    pub plan: Plan,
    /// Its words, and the calls that were made for it.
    pub turn: Turn,
    /// What has to be asked of a specialist next.
    pub open: Option<Step>,
}

/// The questions of a request up to the first that is not answered yet, and the state of the conversation behind them.
pub(super) fn followed(mut dialogue: Dialogue, current: &Turn, cx: &AgentContext) -> (Vec<Asked>, Dialogue) {
    let (mut all, mut rest) = (Vec::new(), &current.calls[..]);
    let before = dialogue.clone();
    for Part { said, refers } in of(&before, &current.said, cx) {
        let plan = plan(if refers { &dialogue } else { &before }, &said, cx);
        let (taken, open) = match &plan {
            Plan::Say(_) => (0, None),
            Plan::Hand(steps) => taken(steps, &said, rest, cx),
        };
        let turn = Turn { said, calls: rest[..taken].to_vec() };
        rest = &rest[taken..];
        dialogue = dialogue.after_one(&turn, plan.clone(), cx);
        let is_open = open.is_some();
        all.push(Asked { plan, turn, open });
        if is_open {
            break;
        }
    }
    (all, dialogue)
}

/// How many of these calls were made for a question, and what comes next if that was not all.
fn taken(steps: &[Step], said: &str, calls: &[ToolCall], cx: &AgentContext) -> (usize, Option<Step>) {
    let mut turn = Turn { said: said.to_owned(), calls: Vec::new() };
    loop {
        let count = turn.calls.len();
        let Some(step) = steps.get(count).filter(|_| !readings::is_enough(steps, &turn, cx)) else {
            return (count, None);
        };
        match calls.get(count) {
            Some(called) => turn.calls.push(called.clone()),
            None => return (count, Some(step.clone())),
        }
    }
}

/// A question of a request.
struct Part {
    said: String,
    /// Whether it refers to what the one before it found.
    refers: bool,
}

/// The questions of a request, in their order; the request itself where it asks one thing.
fn of(dialogue: &Dialogue, said: &str, cx: &AgentContext) -> Vec<Part> {
    let whole = || vec![Part { said: said.to_owned(), refers: true }];
    let asked = asked_for(said, cx);
    let Some((first, second)) = cut(&asked) else { return whole() };
    let read = classify(&asked, &cx.context);
    let is_written = read.intents.iter().any(|meant| meant.intent == Intent::Draft);
    if read.intents.len() > 1 || is_written || reply::resolve(dialogue, &asked, &read, cx).is_some() {
        return whole();
    }
    let is_open = is_open(&read, &asked, cx) && says_something(first, cx) && says_something(second, cx);
    let stand_alone = is_open || has_subject(first, cx) && has_subject(second, cx) && !points(second);
    let is_lost = || has_subject(first, cx) && matches!(plan(dialogue, said, cx), Plan::Say(_));
    if !(stand_alone || is_lost()) || !matches!(plan(dialogue, first, cx), Plan::Hand(_)) {
        return whole();
    }
    // A pronoun in one half means the person who is named in the other.
    let in_full = |half: &str| match read.entities.people.first().filter(|_| is_open) {
        Some(name) => with_name(half, name),
        None => half.to_owned(),
    };
    vec![Part { said: in_full(first), refers: true }, Part { said: in_full(second), refers: !stand_alone }]
}

/// Whether a half says anything besides what asks.
fn says_something(half: &str, cx: &AgentContext) -> bool {
    let task = SpecialistTask::read(half, &cx.context);
    !task.subject_words().is_empty() || task.person().is_some()
}

/// Whether a half refers by a pronoun to something of the other.
fn points(half: &str) -> bool {
    const PRONOUNS: &str = "it its them they their he she him her his hers sie ihn ihm ihr ihre es er davon dazu il elle lui leur ils elles";
    words(half).iter().any(|word| is_in(PRONOUNS, word))
}

/// The two halves of a request that both ask.
fn cut(said: &str) -> Option<(&str, &str)> {
    let all = words(said);
    if !opens(&all, 0) && !said.contains(SIGNS) {
        return None;
    }
    (2..all.len().saturating_sub(1)).find_map(|at| {
        let between = &said[all[at - 1].at.end..all[at].at.start];
        let (end, start) = match () {
            () if is_in(JOINS, &all[at]) && opens(&all, at + 1) => (all[at - 1].at.end, at + 1),
            // A sign between two questions divides them as a word does: "paul phone + where does he work".
            () if between.contains(SIGNS) && opens(&all, at) => (all[at].at.start, at),
            () => return None,
        };
        let first = said[..end].trim_end_matches(['+', '&', ';', ' ']);
        (start + 1 < all.len()).then(|| (first, said[all[start].at.start..].trim()))
    })
}

/// Whether a question begins with a word: one that asks, alone or behind a preposition, or a verb before its subject.
fn opens(all: &[Word], at: usize) -> bool {
    let is = |list: &str, at: usize| all.get(at).is_some_and(|word| is_in(list, word));
    is(ASKS, at) || is(PREPOSITIONS, at) && is(ASKS, at + 1) || is(VERBS, at) && is(SUBJECTS, at + 1)
}

/// Whether a half says by itself what it is about.
fn has_subject(half: &str, cx: &AgentContext) -> bool {
    let task = SpecialistTask::read(half, &cx.context);
    let subject = task.subject_words();
    task.person().is_some()
        || words(&subject).iter().any(|word| word.folded.chars().count() > 2 && !is_light(&word.folded))
}

fn is_in(list: &str, word: &Word) -> bool {
    list.split_whitespace().any(|one| one == word.folded)
}

/// Signs that divide two questions.
const SIGNS: [char; 4] = ['?', '+', '&', ';'];
const JOINS: &str = "and und et";
const ASKS: &str = "when what where who whom how which why whose wann was wo wer wie wem wen welche welcher welches welchen warum wieviel \
    quand que quoi ou qui comment combien quel quelle quels quelles pourquoi";
const PREPOSITIONS: &str =
    "until till by for with from at to since in bis ab seit mit von um zu fur a de pour avec jusqu depuis";
const VERBS: &str = "is are was were does do did has have had can could will would should am ist sind war hat haben habe hast kann konnen \
    wird soll muss est sont etait ai as a avons peut faut";
const SUBJECTS: &str = "i we he she it they you there the this that my our his her their anyone anybody someone ich wir er sie es ihr das die der \
    mein meine unser unsere jemand je j il elle on nous ils elles le la les mon ma mes quelqu";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_cut_where_both_halves_ask() {
        let halves = |said| cut(said).unwrap_or((said, ""));
        assert_eq!(
            halves("When is the dentist and how much does he cost?"),
            ("When is the dentist", "how much does he cost?")
        );
        assert_eq!(
            halves("Did Tom send the plans, and is there anything to do?"),
            ("Did Tom send the plans", "is there anything to do?")
        );
        assert_eq!(halves("Wer kommt am Freitag und bis wann?"), ("Wer kommt am Freitag", "bis wann?"));
        assert_eq!(halves("paul phone? where does he work"), ("paul phone?", "where does he work"));
        for one in [
            "When and where do we meet?",
            "Who is Tom and Mary's boss?",
            "Tell Tom that I come and when",
            "bread and butter",
        ] {
            assert_eq!(cut(one), None, "{one}");
        }
    }
}
