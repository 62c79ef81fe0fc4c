//! The communicator: finds whom or what to write to and has a draft made. It sends nothing, ever.

use provider::Said;
use serde_json::{Value, json};

use super::desk::{Desk, failed};
use super::lexicon::Concept;
use super::order::Order;
use super::speak::{draft, list, text_of, texts_of};
use super::talk::Turn;
use super::wording;

/// The most calls for one draft.
const MOST_CALLS: usize = 4;

/// What the communicator does next.
pub(super) fn next(order: &Order, turn: &Turn, desk: &Desk) -> Said {
    match turn.last() {
        None => begin(order, desk),
        Some((tool, _, outcome)) if outcome.is_error => failed(&format!("do that ({tool})"), outcome),
        Some(("mail_list", _, outcome)) => from_list(order, turn, desk, &outcome.data),
        Some(("contacts_find", _, outcome)) => from_contacts(order, desk, &outcome.data),
        Some(("draft_show", _, outcome)) => Said::text(shown(&outcome.data)),
        Some((_, _, outcome)) => Said::text(drafted(&outcome.data)),
    }
}

fn begin(order: &Order, desk: &Desk) -> Said {
    let (drafts, mails): (Vec<&String>, Vec<&String>) =
        order.entities.ids.iter().partition(|id| id.starts_with("draft"));
    if let Some(id) = drafts.first() {
        return match order.content().filter(|_| !order.has(Concept::Look)) {
            Some(body) => desk.call("draft_update", json!({ "id": id, "body": body })),
            None => desk.call("draft_show", json!({ "id": id })),
        };
    }
    if order.has(Concept::Drafts) && mails.is_empty() && order.person().is_none() {
        return desk.call("draft_show", json!({}));
    }
    if let Some(id) = mails.first() {
        return create(order, desk, Some(id), None);
    }
    if let Some(address) = order.entities.addresses.first().filter(|_| !is_reply(order)) {
        return create(order, desk, None, Some(address));
    }
    match (order.person(), subject(order)) {
        (Some(person), _) if is_reply(order) && desk.can("mail_list") => {
            desk.call("mail_list", json!({ "from": person, "limit": 5 }))
        }
        (Some(person), _) => desk.call("contacts_find", json!({ "query": person })),
        (None, Some(subject)) if desk.can("mail_list") => {
            desk.call("mail_list", json!({ "query": subject, "limit": 5 }))
        }
        _ => Said::text(
            "Which mail should be answered, or to whom should I write? An id such as msg_urgent_001, a name or an address \
             is enough.",
        ),
    }
}

/// The newest mail that was found is the one to answer.
fn from_list(order: &Order, turn: &Turn, desk: &Desk, data: &Value) -> Said {
    let mails = list(data, "mails");
    if let Some(id) = mails.first().and_then(|mail| mail["emailId"].as_str()) {
        return create(order, desk, Some(id), None);
    }
    match order.person() {
        Some(address) if address.contains('@') => create(order, desk, None, Some(address)),
        Some(person) if turn.calls.len() < MOST_CALLS && desk.can("contacts_find") => {
            desk.call("contacts_find", json!({ "query": person }))
        }
        _ => Said::text("I found no mail that this could answer. Give me its id, or the name of whom to write to."),
    }
}

fn from_contacts(order: &Order, desk: &Desk, data: &Value) -> Said {
    let contacts = list(data, "contacts");
    let who = order.person().unwrap_or("that person");
    let named = |contact: &&Value| {
        contact["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(who))
            && !list(contact, "emails").is_empty()
    };
    let chosen = match contacts {
        [only] => Some(only),
        many => many.iter().find(named),
    };
    match chosen.and_then(|contact| contact["emails"][0].as_str()) {
        Some(address) => create(order, desk, None, Some(address)),
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

fn create(order: &Order, desk: &Desk, reply_to: Option<&str>, to: Option<&str>) -> Said {
    let slots: Vec<Value> = order.slots.iter().map(|(start, end)| json!({ "start": start, "end": end })).collect();
    let act = act(order, !slots.is_empty(), reply_to.is_some());
    let forwarded_to = (act == "forward").then(|| order.entities.addresses.first().map(String::as_str)).flatten();
    let subject = subject(order).filter(|_| reply_to.is_none());
    desk.call(
        "draft_create",
        json!({
            "reply_to": reply_to,
            "to": to.or(forwarded_to).map(|to| vec![to]),
            "subject": subject,
            "act": act,
            "points": wording::points(order),
            "slots": slots,
        }),
    )
}

/// What the mail does, as its words say.
fn act(order: &Order, has_slots: bool, is_reply: bool) -> &'static str {
    let acts = [
        (Concept::Decline, "decline"),
        (Concept::Accept, "accept"),
        (Concept::Forward, "forward"),
        (Concept::FollowUp, "follow_up"),
        (Concept::Acknowledge, "acknowledge"),
        (Concept::Propose, "propose_times"),
        (Concept::Ask, "ask"),
    ];
    match acts.into_iter().find(|(concept, _)| order.has(*concept)) {
        Some((_, act)) => act,
        None if has_slots => "propose_times",
        None if is_reply && order.content().is_none() => "acknowledge",
        None => "inform",
    }
}

fn subject(order: &Order) -> Option<&str> {
    order.entities.topics.first().or(order.entities.quoted.first()).map(String::as_str)
}

fn is_reply(order: &Order) -> bool {
    order.has_any(&[Concept::Reply, Concept::Accept, Concept::Decline, Concept::FollowUp, Concept::Forward])
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
