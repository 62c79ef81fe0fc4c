//! The preference learner: reports what past decisions suggest, explains it, and forgets or applies a preference on request.
//!
//! It learns from decisions, not from statements; when told a preference, it checks whether decisions support it, and says so.

use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{list, preferences, shown, text_of, texts_of};
use super::task::SpecialistTask;
use household::time::words::fold;

/// So many letters of a word are enough to know it by, whatever its ending.
const STEM: usize = 6;

/// What the learner does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        Some((_, _, outcome)) if outcome.is_error => failed("look into the preferences", outcome),
        Some(("prefs_list", _, outcome)) => from_list(task, turn, cx, &outcome.data),
        Some(("prefs_propose", _, outcome)) => Said::text(proposed(task, cx, &outcome.data)),
        Some(("prefs_explain", _, outcome)) => Said::text(explained(&outcome.data)),
        Some((tool, input, _)) => {
            let done = if tool == "prefs_forget" { "is forgotten" } else { "is applied from here on" };
            Said::text(format!("The preference {} {done}.", text_of(input, "key")))
        }
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    if task.has_any(&[Concept::Explain, Concept::Forget, Concept::Apply]) || is_question(task) {
        return cx.call("prefs_list", json!({}));
    }
    let about = task.subject_words();
    cx.call("prefs_propose", json!({ "about": about }))
}

fn from_list(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, data: &Value) -> Said {
    let all = list(data, "preferences");
    let verb =
        [(Concept::Explain, "prefs_explain"), (Concept::Forget, "prefs_forget"), (Concept::Apply, "prefs_apply")];
    let asked = verb.into_iter().find(|(concept, _)| task.has(*concept));
    if let Some((_, tool)) = asked.filter(|_| turn.calls.len() == 1) {
        let meant = best(task, all);
        return match meant {
            Some(preference) => cx.call(tool, json!({ "key": preference["key"] })),
            None => Said::text(which(all, cx)),
        };
    }
    if all.is_empty() && turn.calls.len() == 1 && cx.can("prefs_propose") {
        return cx.call("prefs_propose", json!({}));
    }
    Said::text(match all.is_empty() {
        true => cx.speech.say("prefs_none", &[]),
        false => format!("{}\n\n{}", cx.speech.say("prefs_suggest", &[]), preferences(all, cx.speech)),
    })
}

/// The one preference that shares most words with the task, if there is one.
fn best<'a>(task: &SpecialistTask, all: &'a [Value]) -> Option<&'a Value> {
    // What was pointed at stands beside the task.
    let task = fold(&format!("{} {}", task.task, task.entities.topics.join(" ")));
    let score = |preference: &Value| {
        let key = preference["key"].as_str().unwrap_or("");
        if task.contains(&fold(key)) && !key.is_empty() {
            return usize::MAX;
        }
        let described = fold(&format!("{key} {}", shown(&preference["value"])));
        let words = described.split(|character: char| !character.is_alphanumeric()).filter(|word| word.len() > 3);
        words.filter(|word| task.contains(&word.chars().take(STEM).collect::<String>())).count()
    };
    let best = all.iter().map(score).max().filter(|most| *most > 0)?;
    let mut fitting = all.iter().filter(|preference| score(preference) == best);
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn which(all: &[Value], cx: &AgentContext) -> String {
    match all.is_empty() {
        true => "There are no preferences to choose from yet. I learn from what you decide.".to_owned(),
        false => format!("Which one do you mean? Name its key:\n\n{}", preferences(all, cx.speech)),
    }
}

fn proposed(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> String {
    let all = list(data, "preferences");
    let told = match is_question(task) {
        true => String::new(),
        false => format!("{} ", cx.speech.say("prefs_told", &[])),
    };
    let hint = text_of(data, "hint");
    match all.is_empty() {
        true => format!("{told}{} {hint}", cx.speech.say("prefs_nothing", &[])).trim_end().to_owned(),
        false => {
            let hint = if hint.is_empty() { String::new() } else { format!("\n\n{hint}") };
            format!("{told}{}\n\n{}{hint}", cx.speech.say("prefs_suggest", &[]), preferences(all, cx.speech))
        }
    }
}

fn explained(data: &Value) -> String {
    let evidence: Vec<String> = texts_of(data, "evidence").into_iter().map(|line| format!("- {line}")).collect();
    let evidence = if evidence.is_empty() { String::new() } else { format!("\n\n{}", evidence.join("\n")) };
    format!("{}: {}. {}{evidence}", text_of(data, "key"), shown(&data["value"]), text_of(data, "reasoning"))
}

/// Whether something is asked rather than told.
fn is_question(task: &SpecialistTask) -> bool {
    let asks = task.has_any(&[Concept::Question, Concept::Look, Concept::Preference]) || task.task.ends_with('?');
    asks && !task.has(Concept::Always)
}
