//! The butler: understands a request, delegates each part to a specialist, and answers with all results.
//!
//! A request is read from the person's words alone, with earlier results where the words refer to them
//! (`follow_up`). Results decide what is said (`answer`), never what is asked for next beyond the plan.

mod answer;
mod follow_up;

use agent::Json;
use jiff::Zoned;
use provider::Said;
use serde_json::json;

use super::agent_context::AgentContext;
use super::conversation::Turn;
use super::intent::{Classification, Direct, Intent, classify};
use super::lexicon::{Concept, lexicon};
use super::phrases::plain;
use super::task::{SpecialistTask, arguments};
use household::time::words::words;

/// How every answer of the butler ends.
pub(super) const SIGNATURE: &str = "engine: rules";

/// The tool that delegates.
const DELEGATE: &str = "delegate";

/// One piece of work for a specialist.
#[derive(Clone, Debug, PartialEq)]
struct Step {
    intent: Intent,
    task: String,
    entities: Vec<String>,
    time: Option<String>,
    reason: String,
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq)]
enum Plan {
    Say(String),
    Hand(Vec<Step>),
}

/// What the butler does next.
pub(super) fn next(turns: &[Turn], cx: &AgentContext) -> Said {
    let Some((current, before)) = turns.split_last() else { return signed("", &help()) };
    let steps = match plan(before, &current.said, cx) {
        Plan::Say(text) => return signed(&current.said, &text),
        Plan::Hand(_) if !cx.can(DELEGATE) => return signed(&current.said, &without_household()),
        Plan::Hand(steps) => steps,
    };
    match steps.get(current.calls.len()) {
        Some(step) => hand(step, current, cx),
        None => signed(&current.said, &answer::of(&steps, current, cx)),
    }
}

/// What there is to say when nothing more may be called.
pub(super) fn closing(turns: &[Turn], cx: &AgentContext) -> Said {
    let Some((current, before)) = turns.split_last() else { return signed("", &help()) };
    match plan(before, &current.said, cx) {
        Plan::Hand(steps) if !current.calls.is_empty() => signed(&current.said, &answer::of(&steps, current, cx)),
        Plan::Hand(_) => signed(&current.said, "I had to stop before I could look into this. Ask me again."),
        Plan::Say(text) => signed(&current.said, &text),
    }
}

/// An answer to what was said, as every answer ends. A request in another language gets a note in that language on why the answer is in English.
fn signed(said: &str, text: &str) -> Said {
    let language = lexicon().language(&words(said));
    let aside = ASIDES.iter().find(|(code, _)| *code == language);
    let aside = aside.map_or_else(String::new, |(_, aside)| format!("\n\n({aside})"));
    Said::text(format!("{text}{aside}\n\n{SIGNATURE}"))
}

/// That answers are in English, in the languages that are understood besides.
const ASIDES: [(&str, &str); 5] = [
    ("de", "Ich verstehe Deutsch, antworte ohne Sprachmodell aber auf Englisch."),
    ("fr", "Je comprends le français, mais sans modèle de langage je réponds en anglais."),
    ("es", "Entiendo el español, pero sin un modelo de lenguaje respondo en inglés."),
    ("it", "Capisco l'italiano, ma senza un modello linguistico rispondo in inglese."),
    ("nl", "Ik versta Nederlands, maar zonder taalmodel antwoord ik in het Engels."),
];

fn plan(before: &[Turn], said: &str, cx: &AgentContext) -> Plan {
    let read = classify(said, &cx.context);
    if let Some(plan) = follow_up::resolve(before, said, &read, cx) {
        return plan;
    }
    if let Some(direct) = read.direct {
        return Plan::Say(directly(direct, &cx.context.now));
    }
    match &read.question {
        Some(question) => Plan::Say(ask(said, &question.choices)),
        None => Plan::Hand(steps(&read, cx)),
    }
}

fn steps(read: &Classification, cx: &AgentContext) -> Vec<Step> {
    let step = |meant: &super::intent::IntentMatch| Step {
        intent: meant.intent,
        task: meant.text.clone(),
        entities: read.entities.all(),
        time: classify(&meant.text, &cx.context).times.words(&meant.text),
        reason: reason(meant.intent, &meant.because),
    };
    read.intents.iter().map(step).collect()
}

/// Delegates a step, with what earlier steps of the same request found.
fn hand(step: &Step, current: &Turn, cx: &AgentContext) -> Said {
    let mut entities = step.entities.clone();
    let is_pointing = points_at_one(&step.task);
    for called in &current.calls {
        entities.extend(answer::carried(called, step.intent, is_pointing));
        // "Find the contract and draft a reply": the reply is about what was looked for.
        if step.intent == Intent::Draft && called.input["intent"] == Intent::Search.as_str() {
            let searched =
                SpecialistTask::read(called.input["task"].as_str().unwrap_or(""), &cx.context).subject_words();
            entities.extend(Some(searched).filter(|searched| !searched.is_empty()));
        }
    }
    let mut seen = std::collections::HashSet::new();
    entities.retain(|entity| seen.insert(entity.to_lowercase()));
    Said::call(
        DELEGATE,
        Json::of(&arguments(json!({
            "intent": step.intent.as_str(),
            "task": step.task,
            "relevantEntities": entities,
            "timeConstraints": step.time,
            "delegationReasoning": step.reason,
        }))),
    )
}

/// Whether a task means one of several things without naming it.
fn points_at_one(task: &str) -> bool {
    lexicon().hits(&words(task)).iter().any(|hit| matches!(hit.concept, Concept::First | Concept::It))
}

/// Why a specialist is asked: the words that decided.
fn reason(intent: Intent, because: &[String]) -> String {
    let words: Vec<String> = because.iter().map(|word| format!("\"{word}\"")).collect();
    let about = match intent {
        Intent::Triage => "this is about what came in",
        Intent::Schedule => "this is about the calendar",
        Intent::Draft => "a mail is to be written",
        Intent::Search => "something is looked for in the notes",
        Intent::Learn => "this is about preferences",
    };
    match words.is_empty() {
        true => format!("It follows from what was said before that {about}."),
        false => format!("The words {} say that {about}.", words.join(", ")),
    }
}

/// One question with choices.
fn ask(said: &str, choices: &[Intent]) -> String {
    let choice = |(number, intent): (usize, &Intent)| {
        let does = match intent {
            Intent::Triage => "look into your mail",
            Intent::Schedule => "look into your calendar",
            Intent::Draft => "draft a mail",
            Intent::Search => "search your notes",
            Intent::Learn => "look at your preferences",
        };
        format!("{}. {does}", number + 1)
    };
    let choices: Vec<String> = choices.iter().enumerate().map(choice).collect();
    format!(
        "I am not sure what you would like with \"{}\". Shall I\n\n{}\n\nA number is enough.",
        plain(said, 80),
        choices.join("\n")
    )
}

fn directly(direct: Direct, now: &Zoned) -> String {
    match direct {
        Direct::Greeting => {
            let greeting = match now.hour() {
                5..12 => "Good morning",
                12..18 => "Good afternoon",
                _ => "Good evening",
            };
            format!("{greeting}! What can I do for you? I see to your mail, calendar, drafts and notes.")
        }
        Direct::Thanks => "You are welcome.".to_owned(),
        Direct::Help => help(),
        Direct::Identity => "I am the butler of this household. No language model is connected, so I work by rules: I understand \
                             requests about your mail, calendar, drafts, notes and preferences, and nothing leaves this machine."
            .to_owned(),
        Direct::Clock => format!(
            "It is {} on {} ({}).",
            now.strftime("%H:%M"),
            now.strftime("%A, %-d %B %Y"),
            now.time_zone().iana_name().unwrap_or("local time")
        ),
        Direct::Smalltalk => "I am at your service. Ask me about your mail, your calendar or your notes.".to_owned(),
        Direct::Unsupported => format!("That is beyond what I can do without a language model.\n\n{}", help()),
    }
}

/// What can be done, four examples, and how to have more.
fn help() -> String {
    "Offline I can do these six things: say what in your mail matters, look into your calendar, propose meetings, draft mails \
     (I never send one), find notes, and tell what your decisions suggest about your preferences.\n\n\
     For example:\n\
     - What urgent emails do I have?\n\
     - Find a slot for a meeting with Anna next week\n\
     - Draft a reply to msg_urgent_001\n\
     - Find my notes on the contract\n\n\
     For anything else connect a model: set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name a local one with \
     -m ollama/MODEL."
        .to_owned()
}

fn without_household() -> String {
    "There is no household to look into yet. Point `household.folder` in the configuration to a folder with mail, calendars and \
     notes, or add --demo to try a sample household."
        .to_owned()
}
