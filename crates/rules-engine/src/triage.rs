//! Triage: classifies new mails or lists those that were asked for, records statements about a mail, and flags it.

use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{count, list, plain, text_of};
use super::remark::Remark;
use super::task::SpecialistTask;

/// The most mails that are told one by one.
const MOST_TOLD: usize = 5;

/// What triage does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        // Of several mails, what was done is told beside what was not.
        Some(("mail_feedback" | "mail_flag", ..)) if turn.calls.len() > 1 => Said::text(told(turn)),
        Some((tool, _, outcome)) if outcome.is_error => failed(&format!("look into the mail ({tool})"), outcome),
        Some(("mail_list", _, outcome)) if let Some(Remark::Mark(flag, on)) = Remark::of(task) => {
            match list(&outcome.data, "mails") {
                [only] => cx.call("mail_flag", json!({ "id": only["emailId"], "flag": flag, "on": on })),
                _ => Said::text(format!("Which one do you mean? Say its id.\n\n{}", listed(task, cx, &outcome.data))),
            }
        }
        Some(("mail_feedback" | "mail_flag", ..)) => Said::text(told(turn)),
        // One mail is worth a closer look.
        Some(("mail_list", _, outcome)) if turn.calls.len() == 1 && cx.can("mail_triage") => {
            match list(&outcome.data, "mails") {
                [only] => cx.call("mail_triage", json!({ "id": only["emailId"] })),
                _ => Said::text(listed(task, cx, &outcome.data)),
            }
        }
        Some(("mail_list", _, outcome)) => Said::text(listed(task, cx, &outcome.data)),
        Some(("mail_read", _, outcome)) => Said::text(read(cx, &outcome.data)),
        Some(("mail_thread", _, outcome)) => Said::text(thread(cx, &outcome.data)),
        Some((_, input, outcome)) => Said::text(weighed(cx, input, &outcome.data)),
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    let (since, until) = task.bounds();
    let (ids, sender) = (&task.entities.ids, task.sender());
    let of_each = |tool: &'static str, input: &dyn Fn(&String) -> Value| {
        let calls: Vec<Said> = ids.iter().take(MOST_TOLD).map(|id| cx.call(tool, input(id))).collect();
        // All at once: what one mail brings with it has no say in what is done with the next.
        calls.into_iter().reduce(|all, one| Said { calls: [all.calls, one.calls].concat(), ..all })
    };
    match Remark::of(task) {
        Some(Remark::Urgent(urgent)) if !ids.is_empty() || sender.is_some() => {
            let said = of_each("mail_feedback", &|id| json!({ "id": id, "urgent": urgent }));
            return said.unwrap_or_else(|| cx.call("mail_feedback", json!({ "from": sender, "urgent": urgent })));
        }
        Some(Remark::Mark(flag, on)) if !ids.is_empty() || sender.is_some() => {
            let said = of_each("mail_flag", &|id| json!({ "id": id, "flag": flag, "on": on }));
            let list = || cx.call("mail_list", json!({ "from": sender, "since": since, "until": until }));
            return said.unwrap_or_else(list);
        }
        _ => {}
    }
    if let Some(id) = ids.first() {
        return match task.words_of(Concept::Look).map(str::to_lowercase).as_deref() {
            _ if task.task.to_lowercase().contains("thread") => cx.call("mail_thread", json!({ "id": id })),
            Some("read" | "open" | "lies" | "lese" | "öffne" | "lis" | "ouvre") => {
                cx.call("mail_read", json!({ "id": id }))
            }
            _ => cx.call("mail_triage", json!({ "id": id })),
        };
    }
    let topic = task.entities.topics.iter().find(|topic| !is_plain_request(topic)).or(task.entities.quoted.first());
    let is_unread = task.has(Concept::Unread);
    if task.sender().is_some() || topic.is_some() || is_unread || !cx.can("mail_triage") {
        let query = if task.sender().is_some() { None } else { topic };
        return cx.call(
            "mail_list",
            json!({
                "from": task.sender(), "query": query, "since": since, "until": until,
                "unread": is_unread.then_some(true),
            }),
        );
    }
    let only = match task.has(Concept::Urgent) {
        _ if is_wary(&task.task) => "suspicious",
        true => "urgent",
        false => "all",
    };
    cx.call("mail_triage", json!({ "only": only, "since": since, "until": until }))
}

/// What was taken down about mails, and which have their marks.
fn told(turn: &Turn) -> String {
    let mut told = Vec::new();
    for called in &turn.calls {
        match (&*called.name, &called.result) {
            (_, Some(outcome)) if outcome.is_error => told.push(plain(&outcome.text, 300)),
            ("mail_feedback", Some(outcome)) => told.push(noted(&outcome.data)),
            ("mail_flag", Some(outcome)) => told.push(marked(&called.input, &outcome.data)),
            _ => {}
        }
    }
    if turn.found("mail_feedback").is_some() {
        told.push(
            "When your words about a sender agree often enough I propose that as a habit; nothing changes before you say yes to it."
                .to_owned(),
        );
    }
    told.join("\n")
}

/// A word about a mail was taken down.
fn noted(data: &Value) -> String {
    format!(
        "Noted: {}, from {}, is {} to you. I had put it under {}.",
        text_of(data, "emailId"),
        text_of(data, "from"),
        text_of(data, "said"),
        text_of(data, "was")
    )
}

/// A mail has its mark.
fn marked(input: &Value, data: &Value) -> String {
    let state = match (input["flag"].as_str(), input["on"] != false) {
        (Some("seen"), true) => "marked as read",
        (Some("seen"), false) => "marked as unread",
        (Some("answered"), true) => "marked as answered",
        (Some("answered"), false) => "no longer marked as answered",
        (_, true) => "flagged",
        (_, false) => "no longer flagged",
    };
    format!("{} is {state}, in your mail program too.", text_of(data, "emailId"))
}

/// Whether a person wants to know what is not to be trusted.
fn is_wary(task: &str) -> bool {
    const WARY: [&str; 14] = [
        "suspicious",
        "phishing",
        "scam",
        "fraud",
        "spoofed",
        "fake mail",
        "verdächtig",
        "betrug",
        "gefälscht",
        "suspect",
        "hameçonnage",
        "arnaque",
        "sospechos",
        "sospett",
    ];
    let task = task.to_lowercase();
    WARY.iter().any(|word| task.contains(word))
}

/// "urgent emails" says how to look, not what for.
fn is_plain_request(topic: &str) -> bool {
    let hits = super::lexicon::lexicon().hits(&household::time::words::words(topic));
    hits.iter().any(|hit| matches!(hit.concept, Concept::Urgent | Concept::Unread | Concept::Mail | Concept::Inbox))
}

/// Mails that were weighed.
fn weighed(cx: &AgentContext, input: &Value, data: &Value) -> String {
    let items = list(data, "items");
    let total = data["total"].as_u64().map_or(items.len(), |total| usize::try_from(total).unwrap_or(usize::MAX));
    let only = input["only"].as_str().filter(|only| *only != "all");
    if items.is_empty() {
        let rest = counts(data);
        return match only {
            Some(only) => format!("Nothing {only}{}. {rest}", period(cx, data)).trim_end().to_owned(),
            None => format!("No mail{}.", period(cx, data)),
        };
    }
    let head = match (only, input["id"].is_string()) {
        (_, true) => "This is what I make of it:".to_owned(),
        (Some(only), _) => format!("{} {only}{}:", sentence_count(total), period(cx, data)),
        (None, _) => format!("{} in all{}, the most important first:", sentence_count(total), period(cx, data)),
    };
    let told: Vec<String> = items.iter().take(MOST_TOLD).map(|item| cx.dates.weighed(item)).collect();
    let rest = if only.is_some() { String::new() } else { counts(data) };
    [head, told.join("\n"), rest].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn sentence_count(number: usize) -> String {
    match number {
        1 => "One mail".to_owned(),
        number => format!("{number} mails"),
    }
}

fn period(cx: &AgentContext, data: &Value) -> String {
    let since = data["period"]["since"].as_str();
    since.map(|since| format!(" since {}", cx.dates.moment(since))).unwrap_or_default()
}

/// How many of each kind there are.
fn counts(data: &Value) -> String {
    let Some(counts) = data["counts"].as_object() else { return String::new() };
    let some = counts.iter().filter_map(|(kind, number)| Some((kind, number.as_u64().filter(|number| *number > 0)?)));
    let told: Vec<String> = some.map(|(kind, number)| format!("{number} {}", plain(kind, 20))).collect();
    if told.is_empty() { String::new() } else { format!("By kind: {}.", told.join(", ")) }
}

/// Mails of a list.
fn listed(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> String {
    let mails = list(data, "mails");
    let from = task.sender().map(|sender| format!(" from {sender}")).unwrap_or_default();
    if mails.is_empty() {
        return format!("There is no such mail{from}.");
    }
    let line = |mail: &Value| {
        let preview = text_of(mail, "preview");
        let preview = if preview.is_empty() { String::new() } else { format!("\n  It begins: \"{preview}\"") };
        format!("{}{preview}", cx.dates.mail(mail))
    };
    let told: Vec<String> = mails.iter().take(MOST_TOLD).map(line).collect();
    let total = data["total"].as_u64().map_or(mails.len(), |total| usize::try_from(total).unwrap_or(usize::MAX));
    format!("{}{from}:\n\n{}", count(total, "mail", "mails"), told.join("\n"))
}

fn read(cx: &AgentContext, mail: &Value) -> String {
    let mut text =
        format!("{}\n\nIt says: \"{}\"", cx.dates.mail(mail), plain(mail["body"].as_str().unwrap_or(""), 1_200));
    for warning in super::phrases::texts_of(mail, "warnings") {
        text.push_str(&format!("\nCareful: {warning}"));
    }
    text
}

fn thread(cx: &AgentContext, data: &Value) -> String {
    let mails = list(data, "mails");
    let line =
        |mail: &Value| format!("{}\n  \"{}\"", cx.dates.mail(mail), plain(mail["body"].as_str().unwrap_or(""), 300));
    let told: Vec<String> = mails.iter().map(line).collect();
    format!(
        "{} in the thread \"{}\":\n\n{}",
        count(mails.len(), "mail", "mails"),
        text_of(data, "subject"),
        told.join("\n")
    )
}
