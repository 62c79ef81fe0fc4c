//! The communicator: finds the recipient or the mail to answer, and has a draft written. It never sends anything.

use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{draft, list, text_of, texts_of};
use super::task::SpecialistTask;
use super::wording;

/// The most calls for one draft.
const MOST_CALLS: usize = 4;

/// What the communicator does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        Some((tool, _, outcome)) if outcome.is_error => failed(&format!("do that ({tool})"), outcome),
        Some(("mail_list", _, outcome)) => from_list(task, turn, cx, &outcome.data),
        Some(("contacts_find", _, outcome)) => from_contacts(task, cx, &outcome.data),
        Some(("draft_show", _, outcome)) => Said::text(shown(&outcome.data)),
        Some((_, _, outcome)) => Said::text(drafted(&outcome.data)),
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    let (drafts, mails): (Vec<&String>, Vec<&String>) =
        task.entities.ids.iter().partition(|id| id.starts_with("draft"));
    if let Some(id) = drafts.first() {
        return match task.content().filter(|_| !task.has(Concept::Look)) {
            Some(body) => cx.call("draft_update", json!({ "id": id, "body": body })),
            None => cx.call("draft_show", json!({ "id": id })),
        };
    }
    if task.has(Concept::Drafts) && mails.is_empty() && task.person().is_none() {
        return cx.call("draft_show", json!({}));
    }
    if let Some(id) = mails.first() {
        return create(task, cx, Some(id), None);
    }
    if let Some(address) = task.entities.addresses.first().filter(|_| !is_reply(task)) {
        return create(task, cx, None, Some(address));
    }
    match (task.person(), subject(task)) {
        (Some(person), _) if is_reply(task) && cx.can("mail_list") => {
            cx.call("mail_list", json!({ "from": person, "limit": 5 }))
        }
        (Some(person), _) => cx.call("contacts_find", json!({ "query": person })),
        (None, Some(subject)) if cx.can("mail_list") => cx.call("mail_list", json!({ "query": subject, "limit": 5 })),
        _ => Said::text(
            "Which mail should be answered, or to whom should I write? An id such as msg_urgent_001, a name or an address \
             is enough.",
        ),
    }
}

/// The newest mail that was found is the one to answer.
fn from_list(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, data: &Value) -> Said {
    let mails = list(data, "mails");
    if let Some(id) = mails.first().and_then(|mail| mail["emailId"].as_str()) {
        return create(task, cx, Some(id), None);
    }
    match task.person() {
        Some(address) if address.contains('@') => create(task, cx, None, Some(address)),
        Some(person) if turn.calls.len() < MOST_CALLS && cx.can("contacts_find") => {
            cx.call("contacts_find", json!({ "query": person }))
        }
        _ => Said::text("I found no mail that this could answer. Give me its id, or the name of whom to write to."),
    }
}

fn from_contacts(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> Said {
    let contacts = list(data, "contacts");
    let who = task.person().unwrap_or("that person");
    let named = |contact: &&Value| {
        contact["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(who))
            && !list(contact, "emails").is_empty()
    };
    let chosen = match contacts {
        [only] => Some(only),
        many => many.iter().find(named),
    };
    match chosen.and_then(|contact| contact["emails"][0].as_str()) {
        Some(address) => create(task, cx, None, Some(address)),
        None if contacts.len() > 1 => {
            let names: Vec<String> = contacts.iter().take(5).map(|contact| text_of(contact, "name")).collect();
            Said::text(format!(
                "There are several people called {who}: {}. Which one should it go to?",
                names.join(", ")
            ))
        }
        None => Said::text(format!("I have no address of {who}. Tell me where the mail should go to.")),
    }
}

fn create(task: &SpecialistTask, cx: &AgentContext, reply_to: Option<&str>, to: Option<&str>) -> Said {
    let slots: Vec<Value> = task.slots.iter().map(|(start, end)| json!({ "start": start, "end": end })).collect();
    let act = act(task, !slots.is_empty(), reply_to.is_some());
    let forwarded_to = (act == "forward").then(|| task.entities.addresses.first().map(String::as_str)).flatten();
    let subject = subject(task).filter(|_| reply_to.is_none());
    cx.call(
        "draft_create",
        json!({
            "reply_to": reply_to,
            "to": to.or(forwarded_to).map(|to| vec![to]),
            "subject": subject,
            "act": act,
            "points": wording::points(task),
            "slots": slots,
        }),
    )
}

/// What the mail does, as its words say.
fn act(task: &SpecialistTask, has_slots: bool, is_reply: bool) -> &'static str {
    let acts = [
        (Concept::Decline, "decline"),
        (Concept::Accept, "accept"),
        (Concept::Forward, "forward"),
        (Concept::FollowUp, "follow_up"),
        (Concept::Acknowledge, "acknowledge"),
        (Concept::Propose, "propose_times"),
        (Concept::Ask, "ask"),
    ];
    match acts.into_iter().find(|(concept, _)| task.has(*concept)) {
        Some((_, act)) => act,
        None if has_slots => "propose_times",
        None if is_reply && task.content().is_none() => "acknowledge",
        None => "inform",
    }
}

fn subject(task: &SpecialistTask) -> Option<&str> {
    task.entities.topics.first().or(task.entities.quoted.first()).map(String::as_str)
}

fn is_reply(task: &SpecialistTask) -> bool {
    task.has_any(&[Concept::Reply, Concept::Accept, Concept::Decline, Concept::FollowUp, Concept::Forward])
}

fn drafted(data: &Value) -> String {
    let placeholders = texts_of(data, "placeholders");
    let open = match placeholders.is_empty() {
        true => String::new(),
        false => format!("\n\nStill to fill in: {}.", placeholders.join(", ")),
    };
    format!("The draft {} lies in the drafts; nothing was sent.\n\n{}{open}", text_of(data, "draftId"), draft(data))
}

fn shown(data: &Value) -> String {
    let drafts = list(data, "drafts");
    if data["draftId"].is_string() {
        return drafted(data);
    }
    if drafts.is_empty() {
        return "There are no drafts.".to_owned();
    }
    let line = |draft: &Value| {
        format!(
            "- {} · to {}: \"{}\"",
            text_of(draft, "draftId"),
            texts_of(draft, "to").join(", "),
            text_of(draft, "subject")
        )
    };
    format!("The drafts there are:\n\n{}", drafts.iter().map(line).collect::<Vec<_>>().join("\n"))
}
