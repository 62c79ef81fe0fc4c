//! The navigator: answers questions from notes, mails, events and cards with the sentence that answers, tells about people, and searches, opens
//! and follows notes.

use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::person;
use super::phrases::{list, notes, plain, text_of, texts_of};
use super::task::SpecialistTask;

/// The most characters of a note that are told.
const MOST_TOLD: usize = 1_500;
/// A passage that covers so much of a question answers it.
pub(super) const ANSWERS: f64 = 0.62;
/// One that covers less than this is not worth telling.
pub(super) const NEAR: f64 = 0.36;

/// What the navigator does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        Some((_, _, outcome)) if outcome.is_error => failed("look into the notes", outcome),
        Some(("people_about", _, outcome)) => about_person(task, turn, cx, &outcome.data),
        Some(("household_find", input, outcome)) => looked_for(task, turn, cx, input, &outcome.data),
        Some(("notes_search", input, outcome)) => {
            let first = list(&outcome.data, "results").first();
            match first.filter(|_| task.has(Concept::Backlinks) && turn.calls.len() == 1) {
                Some(note) => cx.call("notes_backlinks", json!({ "path": note["path"] })),
                // No note: a mail, an event or a card may say it.
                None if first.is_none() && turn.calls.len() == 1 && cx.can("household_find") => {
                    cx.call("household_find", json!({ "question": task.task }))
                }
                None => Said::text(found(cx, input, &outcome.data)),
            }
        }
        Some(("notes_read", _, outcome)) => Said::text(read(&outcome.data)),
        Some(("notes_backlinks", input, outcome)) => {
            let links = list(&outcome.data, "backlinks");
            let title = text_of(input, "path");
            Said::text(match links.is_empty() {
                true => cx.speech.say("no_links", &[("title", &title)]),
                false => format!("{}\n\n{}", cx.speech.say("links_to", &[("title", &title)]), notes(links)),
            })
        }
        Some((_, _, outcome)) => Said::text(recent(cx, &outcome.data)),
    }
}

/// Everything was searched, or what is spoken of: where nothing answers, the search is widened, and a person's card is looked at.
fn looked_for(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, input: &Value, data: &Value) -> Said {
    let is_sure = |data: &Value| list(data, "answers").iter().any(|answer| answer["sure"] == true);
    let is_plain = |answer: &Value| answer["sure"] == true && list(answer, "missing").is_empty();
    let can_widen = !texts_of(data, "words").is_empty();
    if input["about"].is_array() && !is_sure(data) && can_widen {
        return cx.call("household_find", json!({ "question": task.task }));
    }
    let inside = turn.calls.iter().find(|called| called.input["about"].is_array());
    let inside = inside.and_then(|called| called.result.as_ref()).map(|result| &result.data);
    // Behind an answer, a question with few words of its own is about what is spoken of; what stands elsewhere is told after it.
    if let Some(inside) = inside.filter(|_| !input["about"].is_array()) {
        let is_own = texts_of(data, "words").len() > 1 && list(data, "answers").iter().any(is_plain);
        // Where no sentence of it surely answers, the whole tells more than the nearest sentence.
        let near = match is_sure(inside) {
            true => answered(cx, inside),
            false => in_focus(cx, inside).or_else(|| answered(cx, inside)),
        };
        let near = near.filter(|_| !is_own);
        if let Some(near) = near {
            return Said::text(format!("{near}{}", elsewhere(cx, data)));
        }
    }
    let found = || answered(cx, data).or_else(|| inside.and_then(|inside| in_focus(cx, inside)));
    if is_sure(data) {
        return Said::text(found().unwrap_or_else(|| nothing(cx, data)));
    }
    let asked = person::Asked::of(task);
    let about = turn.found("people_about").filter(|_| asked != person::Asked::Nothing);
    let is_bare = is_bare(task);
    let is_terse = household::time::words::words(&task.task).len() <= 4
        && !task.is_question()
        && input["about"].is_null()
        && inside.is_none()
        && list(data, "suspicious").is_empty();
    let about = about.or_else(|| turn.found("people_about").filter(|_| is_terse));
    match (about, task.person()) {
        (Some(about), _) => Said::text(person::told(task, cx, about)),
        // A name and a word or two: what is known about the person tells more than what comes near.
        (None, Some(person)) if (is_bare || is_terse) && turn.calls.len() < 3 && cx.can("people_about") => {
            cx.call("people_about", json!({ "person": person }))
        }
        // What they wrote last may say it in other words.
        (None, Some(person))
            if task.is_question()
                && turn.calls.len() < 3
                && input["about"].is_null()
                && list(data, "suspicious").is_empty()
                && cx.can("people_about") =>
        {
            cx.call("people_about", json!({ "person": person }))
        }
        (None, Some(person)) => {
            Said::text(found().unwrap_or_else(|| cx.speech.say("nothing_about", &[("who", person)])))
        }
        (None, None) => Said::text(found().unwrap_or_else(|| nothing(cx, data))),
    }
}

/// Whether nothing is named but a person.
fn is_bare(task: &SpecialistTask) -> bool {
    task.person().is_some_and(|person| {
        let person = household::time::words::fold(person);
        task.subject_words().split_whitespace().all(|word| person.contains(&household::time::words::fold(word)))
    })
}

/// What is being talked about, where nothing in it shares a word with the question.
fn in_focus(cx: &AgentContext, data: &Value) -> Option<String> {
    let told: Vec<String> = list(data, "focus").iter().map(|one| format!("- {}", cx.dates.quoted(one))).collect();
    (!told.is_empty()).then(|| format!("{}\n\n{}", cx.speech.say("in_focus", &[]), told.join("\n")))
}

/// What stands elsewhere and may be meant, in a line or two.
fn elsewhere(cx: &AgentContext, data: &Value) -> String {
    let is_sure = |answer: &&Value| answer["sure"] == true;
    let told: Vec<String> =
        list(data, "answers").iter().filter(is_sure).take(2).map(|one| format!("- {}", cx.dates.quoted(one))).collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("\n\n{}\n{}", cx.speech.say("elsewhere", &[]), told.join("\n")),
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    if !task.about.is_empty() && cx.can("household_find") {
        return cx.call("household_find", json!({ "question": task.task, "about": task.about, "before": task.before }));
    }
    if let Some(path) = task.entities.paths.first() {
        let tool = if task.has(Concept::Backlinks) { "notes_backlinks" } else { "notes_read" };
        return cx.call(tool, json!({ "path": path }));
    }
    if let Some(name) =
        task.person().filter(|_| person::Asked::of(task) != person::Asked::Nothing && cx.can("people_about"))
    {
        return cx.call("people_about", json!({ "person": name }));
    }
    let query = task.subject_words();
    if query.is_empty() {
        return match (task.has(Concept::Recent), task.entities.topics.is_empty()) {
            (true, _) => cx.call("notes_recent", json!({})),
            (false, true) => Said::text(cx.speech.say("what_note", &[])),
            (false, false) => cx.call("notes_search", json!({ "query": task.entities.topics.join(" ") })),
        };
    }
    // Who asks for notes gets notes; who asks a question gets its answer.
    let wants_notes = task.has_any(&[Concept::Note, Concept::Backlinks])
        && !task.says("password passwords passwort kennwort code")
        || task.says("notes notizen") && task.has_any(&[Concept::Look, Concept::Find, Concept::Know])
        || task.has(Concept::Find) && !cx.can("household_find");
    let asks_for_list = task.has(Concept::Backlinks)
        || task.has(Concept::Recent)
        || task.says("notes notizen documents files") && task.says("which any have welche gibt quelles");
    match (!wants_notes || task.is_question() && !asks_for_list) && cx.can("household_find") {
        true => cx.call("household_find", json!({ "question": task.task })),
        false => cx.call("notes_search", json!({ "query": query })),
    }
}

/// What is known about a person; where that does not answer, everything is searched.
fn about_person(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, data: &Value) -> Said {
    let is_first = turn.calls.len() == 1 && cx.can("household_find");
    let is_known = !list(data, "people").is_empty();
    match person::answer(task, cx, data) {
        Some(told) => Said::text(told),
        // No such person is known: what came near before is still the best.
        None if !is_first
            && !is_known
            && let Some(found) = turn.found("household_find") =>
        {
            Said::text(answered(cx, found).unwrap_or_else(|| nothing(cx, found)))
        }
        None if is_first => cx.call("household_find", json!({ "question": task.task })),
        None if is_known
            && !is_bare(task)
            && person::Asked::of(task) == person::Asked::Nothing
            && task.is_question()
            && let Some(found) = turn.found("household_find") =>
        {
            let who = task.person().unwrap_or_default();
            let near = answered(cx, found).unwrap_or_else(|| cx.speech.say("nothing_about", &[("who", who)]));
            let last = person::last_heard(cx, data).map(|last| format!("\n\n{last}")).unwrap_or_default();
            Said::text(format!("{near}{last}"))
        }
        None => Said::text(person::told(task, cx, data)),
    }
}

/// The best passages, where one answers; with a word of caution where they only come near.
pub(super) fn answered(cx: &AgentContext, data: &Value) -> Option<String> {
    let answers = list(data, "answers");
    let covers = |answer: &Value| answer["covers"].as_f64().unwrap_or(0.0);
    // A mail that is not to be trusted may be what is spoken of: that is said first.
    if let Some(odd) = list(data, "suspicious").first()
        && answers.iter().all(|answer| covers(answer) < covers(odd) + 0.1)
    {
        let mut text = format!("{}\n\n- {}", cx.speech.say("verdict_suspicious", &[]), cx.dates.mail(odd));
        for warning in texts_of(odd, "warnings") {
            text.push_str(&format!("\n  {}", cx.speech.say("careful", &[("warning", &cx.speech.reason(&warning))])));
        }
        return Some(text);
    }
    let is_sure = |answer: &Value| answer["sure"].as_bool().unwrap_or(covers(answer) >= ANSWERS);
    let best = answers
        .iter()
        .find(|best| is_sure(best))
        .or(answers.first())
        .filter(|best| covers(best) >= NEAR || is_sure(best))?;
    let speech = cx.speech;
    let others = |least: f64, must_be_sure: bool| -> Vec<String> {
        let others = answers.iter().filter(|other| !std::ptr::eq(*other, best)).take(3);
        let fits = |other: &&Value| (is_sure(other) || !must_be_sure) && covers(other) >= least;
        others.filter(fits).map(|other| format!("- {}", cx.dates.quoted(other))).collect()
    };
    let mut text = cx.dates.quoted(best);
    // Who takes part is told where that is asked.
    let asks_who = household::time::words::words(&text_of(data, "question"))
        .iter()
        .any(|word| ["who", "whos", "who's", "whom", "wer", "wem", "qui"].contains(&word.folded.as_str()));
    let with = texts_of(best, "with");
    if asks_who && best["kind"] == "event" && !with.is_empty() {
        text.push_str(&format!("\n  {}", speech_with(cx, &with)));
    }
    if is_sure(best) {
        let others = others(covers(best) - 0.25, true);
        if !others.is_empty() {
            text.push_str(&format!("\n\n{}\n{}", speech.say("also_says", &[]), others.join("\n")));
        }
    } else {
        let near: Vec<String> = others(NEAR.max(covers(best) - 0.2), false).into_iter().take(2).collect();
        let all = [vec![format!("- {text}")], near].concat();
        text = format!("{}\n\n{}", speech.say("nearest", &[]), all.join("\n"));
        let missing = texts_of(best, "missing");
        if !missing.is_empty() {
            text.push_str(&format!("\n\n{}", speech.say("missing_words", &[("words", &missing.join(", "))])));
        }
    }
    text.push_str(&read_as(cx, best));
    Some(text)
}

fn speech_with(cx: &AgentContext, with: &[String]) -> String {
    cx.speech.say("event_with", &[("who", &with.join(", "))])
}

/// Which words were read as which others, on a line of its own; empty where none were.
pub(super) fn read_as(cx: &AgentContext, data: &Value) -> String {
    let pairs: Vec<String> = list(data, "readAs")
        .iter()
        .take(4)
        .map(|pair| {
            cx.speech.say("found_as_pair", &[("word", &text_of(pair, "word")), ("found", &text_of(pair, "found"))])
        })
        .collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("\n\n{}", cx.speech.say("found_as", &[("pairs", &pairs.join(", "))])),
    }
}

pub(super) fn nothing(cx: &AgentContext, data: &Value) -> String {
    cx.speech.say("nothing_says", &[("words", &texts_of(data, "words").join(", "))])
}

fn found(cx: &AgentContext, input: &Value, data: &Value) -> String {
    let (results, query) = (list(data, "results"), text_of(input, "query"));
    let hint = text_of(data, "hint");
    match results.is_empty() {
        true => format!("{} {hint}", cx.speech.say("no_note", &[("query", &query)])).trim_end().to_owned(),
        false => {
            let hint = if hint.is_empty() { String::new() } else { format!("\n\n{hint}") };
            format!("{}\n\n{}{hint}", cx.speech.say("notes_fit", &[]), notes(results))
        }
    }
}

fn read(data: &Value) -> String {
    let text = data["text"].as_str().or(data["body"].as_str()).or(data["content"].as_str()).unwrap_or("");
    // A note is shown with its lines, as far as it is short enough to be read at a glance.
    let head = match text.starts_with("---") {
        true => text.lines().skip(1).position(|line| line.trim() == "---").map_or(0, |end| end + 2),
        false => 0,
    };
    let lines: Vec<String> =
        text.lines().skip(head).map(|line| plain(line, 300)).filter(|line| !line.is_empty()).collect();
    let mut shown = String::new();
    for line in lines {
        if shown.chars().count() + line.chars().count() > MOST_TOLD {
            shown.push_str("\n…");
            break;
        }
        shown.push_str(&format!("\n> {line}"));
    }
    format!("{} – {}\n{shown}", text_of(data, "path"), text_of(data, "title"))
}

fn recent(cx: &AgentContext, data: &Value) -> String {
    let all = list(data, "notes");
    match all.is_empty() {
        true => cx.speech.say("no_notes", &[]),
        false => format!("{}\n\n{}", cx.speech.say("recent_notes", &[]), notes(all)),
    }
}
