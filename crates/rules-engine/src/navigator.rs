//! The navigator: searches notes, opens them, and lists what links to them.

use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{list, notes, plain, text_of};
use super::task::SpecialistTask;

/// The most characters of a note that are told.
const MOST_TOLD: usize = 1_500;

/// What the navigator does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        Some((tool, _, outcome)) if outcome.is_error => failed(&format!("look into the notes ({tool})"), outcome),
        Some(("notes_search", input, outcome)) => {
            let first = list(&outcome.data, "results").first();
            match first.filter(|_| task.has(Concept::Backlinks) && turn.calls.len() == 1) {
                Some(note) => cx.call("notes_backlinks", json!({ "path": note["path"] })),
                None => Said::text(found(input, &outcome.data)),
            }
        }
        Some(("notes_read", _, outcome)) => Said::text(read(&outcome.data)),
        Some(("notes_backlinks", input, outcome)) => {
            let links = list(&outcome.data, "backlinks");
            let path = text_of(input, "path");
            Said::text(match links.is_empty() {
                true => format!("No note links to {path}."),
                false => format!("These notes link to {path}:\n\n{}", notes(links)),
            })
        }
        Some((_, _, outcome)) => Said::text(recent(&outcome.data)),
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    if let Some(path) = task.entities.paths.first() {
        let tool = if task.has(Concept::Backlinks) { "notes_backlinks" } else { "notes_read" };
        return cx.call(tool, json!({ "path": path }));
    }
    let query = task.subject_words();
    match (query.is_empty(), task.has(Concept::Recent)) {
        (true, true) => cx.call("notes_recent", json!({})),
        (true, false) if task.entities.topics.is_empty() => {
            Said::text("What should I look for in the notes? A word or two from the note is enough.")
        }
        (true, false) => cx.call("notes_search", json!({ "query": task.entities.topics.join(" ") })),
        (false, _) => cx.call("notes_search", json!({ "query": query })),
    }
}

fn found(input: &Value, data: &Value) -> String {
    let (results, query) = (list(data, "results"), text_of(input, "query"));
    let hint = text_of(data, "hint");
    match results.is_empty() {
        true => format!("No note fits \"{query}\". {hint}").trim_end().to_owned(),
        false => {
            let hint = if hint.is_empty() { String::new() } else { format!("\n\n{hint}") };
            format!("The notes that fit \"{query}\", the best first:\n\n{}{hint}", notes(results))
        }
    }
}

fn read(data: &Value) -> String {
    let text = data["text"].as_str().or(data["body"].as_str()).or(data["content"].as_str()).unwrap_or("");
    format!("{} – {}\n\n\"{}\"", text_of(data, "path"), text_of(data, "title"), plain(text, MOST_TOLD))
}

fn recent(data: &Value) -> String {
    let all = list(data, "notes");
    match all.is_empty() {
        true => "There are no notes.".to_owned(),
        false => format!("The notes that changed last:\n\n{}", notes(all)),
    }
}
