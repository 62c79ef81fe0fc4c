//! The communicator: finds the recipient or the mail to answer, and has a draft written or changed. It never sends anything.

use provider::Said;
use serde_json::{Value, json};

use super::agent_context::{AgentContext, failed};
use super::conversation::Turn;
use super::lexicon::Concept;
use super::phrases::{draft, list, names_of, text_of, texts_of};
use super::task::SpecialistTask;
use super::wording;
use household::Household;
use household::time::words::{fold, words};

/// The most calls for one draft.
const MOST_CALLS: usize = 5;

/// What the communicator does next.
pub(super) fn next(task: &SpecialistTask, turn: &Turn, cx: &AgentContext) -> Said {
    match turn.last() {
        None => begin(task, cx),
        Some((_, _, outcome)) if outcome.is_error => failed("do that", outcome),
        Some(("mail_list", input, outcome)) => from_list(task, turn, cx, input, &outcome.data),
        Some(("contacts_find", _, outcome)) => from_contacts(task, turn, cx, &outcome.data),
        Some(("people_about", _, outcome)) => from_people(task, cx, &outcome.data),
        Some(("draft_show", _, outcome))
            if outcome.data["draftId"].is_string() && wording::replacement(&task.task).is_some() =>
        {
            let (value, body) = (wording::replacement(&task.task).unwrap_or_default(), outcome.data["body"].as_str());
            match body.and_then(|body| wording::replaced(body, value, &cx.context.now)) {
                Some(body) => cx.call("draft_update", json!({ "id": outcome.data["draftId"], "body": body })),
                None => unchanged(cx, outcome.data["draftId"].as_str().unwrap_or_default()),
            }
        }
        Some(("draft_show", _, outcome)) => Said::text(shown(cx, &outcome.data)),
        Some(("draft_discard", ..)) => Said::text(cx.speech.say("discarded", &[])),
        Some((_, _, outcome)) => Said::text(drafted(cx, &outcome.data)),
    }
}

fn begin(task: &SpecialistTask, cx: &AgentContext) -> Said {
    let (drafts, mails): (Vec<&String>, Vec<&String>) =
        task.entities.ids.iter().partition(|id| id.starts_with("draft"));
    if let Some(id) = drafts.first() {
        return change(task, cx, id);
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
    // Who a mail is passed on to did not write it.
    let to = forwarded_to(task).filter(|_| task.has(Concept::Forward));
    if let Some(to) = to.filter(|_| cx.can("mail_list")) {
        let from = task.entities.people.iter().find(|name| name.as_str() != to);
        let query = subject(task).map(str::to_owned).unwrap_or_else(|| {
            let person = fold(&task.entities.people.join(" "));
            let named = task.subject_without(GENERIC);
            let kept: Vec<String> = words(&named)
                .into_iter()
                .filter(|word| !person.contains(&word.folded) && !FORWARDING.contains(&word.folded.as_str()))
                .map(|word| word.folded)
                .collect();
            kept.join(" ")
        });
        return match (from, query.is_empty()) {
            (None, true) => Said::text(cx.speech.say("no_mail_to_answer", &[])),
            (from, _) => cx.call("mail_list", json!({ "from": from, "query": query, "limit": 5 })),
        };
    }
    match (task.person(), subject(task)) {
        (Some(person), subject) if is_reply(task) && cx.can("mail_list") => {
            cx.call("mail_list", json!({ "from": person, "query": subject, "limit": 5 }))
        }
        // Who is told something may have asked for it: then it is an answer.
        (Some(person), _)
            if task.has_any(&[Concept::Tell, Concept::Write])
                && !wording::points(task).is_empty()
                && cx.can("mail_list") =>
        {
            cx.call("mail_list", json!({ "from": person, "answered": false, "limit": 5 }))
        }
        (Some(person), _) => cx.call("contacts_find", json!({ "query": person })),
        (None, Some(subject)) if cx.can("mail_list") => cx.call("mail_list", json!({ "query": subject, "limit": 5 })),
        (None, None) if is_reply(task) && cx.can("mail_list") => {
            let query = task.subject_without(GENERIC);
            match query.is_empty() {
                true => Said::text(cx.speech.say("which_draft", &[])),
                false => cx.call("mail_list", json!({ "query": query, "limit": 5 })),
            }
        }
        _ => Said::text(cx.speech.say("which_draft", &[])),
    }
}

/// Words of a request for a reply that name no mail.
const GENERIC: &str = "reply answer respond draft write mail email message antwort antworte schreib entwurf nachricht reponse reponds ecris \
    brouillon courriel polite politely short quick please friendly formal";

/// Words of a request to pass a mail on that name no mail.
const FORWARDING: [&str; 14] = [
    "forward",
    "pass",
    "share",
    "send",
    "weiterleiten",
    "leite",
    "weiter",
    "transfere",
    "transferer",
    "transmets",
    "latest",
    "last",
    "newest",
    "please",
];

/// What is done with a draft that is there.
fn change(task: &SpecialistTask, cx: &AgentContext, id: &str) -> Said {
    if task.has(Concept::Undo) || task.says("discard") {
        return cx.call("draft_discard", json!({ "id": id }));
    }
    let manner = [
        (
            "shorter",
            "shorter shorten short long briefer tighten kurzer kurze kurz lang court courte raccourcis raccourcir",
        ),
        (
            "friendlier",
            "friendlier friendly casual warmer lockerer freundlicher netter amical amicale chaleureux less weniger moins",
        ),
        ("more_formal", "formal polite politer formlicher formeller formell hoflicher formel formelle poli"),
    ];
    let is_too_long = task.says("long lang") && !task.says("too zu trop");
    if let Some((edit, _)) = manner.iter().find(|(_, words)| task.says(words)).filter(|_| !is_too_long) {
        return cx.call("draft_update", json!({ "id": id, "edit": edit }));
    }
    if wording::replacement(&task.task).is_some() {
        return cx.call("draft_show", json!({ "id": id }));
    }
    if let Some(sentences) = wording::added(task) {
        return cx.call("draft_update", json!({ "id": id, "add": sentences }));
    }
    if let Some(said) = wording::said_instead(&task.task) {
        return cx.call("draft_update", json!({ "id": id, "say": [wording::sentence(&said)] }));
    }
    match task.content().filter(|_| !task.has(Concept::Look)) {
        Some(_) if task.task.contains(": ") && !task.has(Concept::Edit) => {
            cx.call("draft_update", json!({ "id": id, "body": task.content() }))
        }
        Some(said) => {
            cx.call("draft_update", json!({ "id": id, "say": [wording::sentence(&wording::instead(&said))] }))
        }
        None if task.has(Concept::Edit) && !task.has(Concept::Look) => unchanged(cx, id),
        None => cx.call("draft_show", json!({ "id": id })),
    }
}

/// An update that says nothing changes nothing, and its result says so.
fn unchanged(cx: &AgentContext, id: &str) -> Said {
    cx.call("draft_update", json!({ "id": id }))
}

/// The newest mail that was found is the one to answer, unless it is not what it seems to be.
fn from_list(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, input: &Value, data: &Value) -> Said {
    // Without a person, only a mail that holds the words is meant.
    let is_near = task.person().is_some() || data["covers"].as_f64().is_none_or(|covers| covers >= 0.6);
    let mails = if is_near { list(data, "mails") } else { &[] };
    if input["answered"] == false {
        // Who is told something is mostly answered; who is written to only if it is about the same.
        let is_told = task.has(Concept::Tell) && !task.has(Concept::Write);
        let is_meant = |mail: &&Value| list(mail, "warnings").is_empty() && (is_told || is_about(task, mail));
        if let Some(odd) = mails.first().filter(|mail| !list(mail, "warnings").is_empty()) {
            return refused(cx, odd);
        }
        let related =
            mails.iter().find(|mail| is_about(task, mail)).filter(is_meant).or_else(|| mails.iter().find(is_meant));
        return match (related.and_then(|mail| mail["emailId"].as_str()), task.person()) {
            (Some(id), _) => create(task, cx, Some(id), None),
            (None, Some(address)) if address.contains('@') => create(task, cx, None, Some(address)),
            (None, person) => cx.call("contacts_find", json!({ "query": person })),
        };
    }
    // The newest mail of a name, or the one that is spoken of, may be a fraud in that name.
    let is_odd = |mail: &&Value| !list(mail, "warnings").is_empty();
    if let Some(mail) = mails
        .iter()
        .enumerate()
        .find(|(at, mail)| is_odd(mail) && (*at == 0 || is_about(task, mail)))
        .map(|(_, mail)| mail)
    {
        return refused(cx, mail);
    }
    // Of several, the one that what is to be told speaks of; else the newest.
    let sound = || mails.iter().filter(|mail| !is_odd(mail));
    let meant = sound().find(|mail| is_about(task, mail)).or_else(|| sound().next());
    if let Some(id) = meant.and_then(|mail| mail["emailId"].as_str()) {
        return create(task, cx, Some(id), None);
    }
    match task.person() {
        // The words may not stand in the mail, but the person wrote one.
        Some(person) if input["query"].is_string() && turn.calls.len() < MOST_CALLS => {
            cx.call("mail_list", json!({ "from": person, "limit": 5 }))
        }
        Some(address) if address.contains('@') => create(task, cx, None, Some(address)),
        Some(person) if turn.calls.len() < MOST_CALLS && cx.can("contacts_find") => {
            cx.call("contacts_find", json!({ "query": person }))
        }
        _ => Said::text(cx.speech.say("no_mail_to_answer", &[])),
    }
}

/// A suspicious mail is not answered.
fn refused(cx: &AgentContext, mail: &Value) -> Said {
    let why = texts_of(mail, "warnings").into_iter().next().unwrap_or_default();
    let why = if why.is_empty() { why } else { cx.speech.say("careful", &[("warning", &cx.speech.reason(&why))]) };
    Said::text(cx.speech.say("suspicious_not_answered", &[("why", &why)]).trim_end().to_owned())
}

/// Whether what is to be told shares a word of weight with a mail.
fn is_about(task: &SpecialistTask, mail: &Value) -> bool {
    let text = format!("{} {} {}", text_of(mail, "subject"), text_of(mail, "gist"), text_of(mail, "preview"));
    let text: Vec<String> = words(&text).into_iter().map(|word| word.folded).collect();
    let person = fold(task.person().unwrap_or_default());
    let is_weighty = |word: &&String| {
        word.chars().count() > 3 && !person.contains(word.as_str()) && !COMMON.contains(&word.as_str())
    };
    let told: Vec<String> = words(&task.task).into_iter().map(|word| word.folded).collect();
    let whole = text.join(" ");
    told.iter()
        .filter(is_weighty)
        .any(|word| text.contains(word) || word.len() > 4 && Household::holds_word(&whole, word))
}

/// Words that every mail may hold.
const COMMON: [&str; 22] = [
    "that", "this", "will", "with", "have", "tell", "know", "your", "from", "please", "would", "could", "dass",
    "bitte", "sage", "sagen", "nicht", "wird", "pour", "avec", "dire", "vous",
];

fn from_contacts(task: &SpecialistTask, turn: &Turn, cx: &AgentContext, data: &Value) -> Said {
    let contacts = list(data, "contacts");
    let who = task.person().unwrap_or("that person");
    let named = |contact: &&Value| {
        contact["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(who))
            && !list(contact, "emails").is_empty()
    };
    // Who has the name itself is meant, not who has one like it.
    let parts: Vec<String> = words(who).into_iter().map(|word| word.folded).collect();
    let has_name = |contact: &&Value| {
        let name: Vec<String> =
            words(contact["name"].as_str().unwrap_or_default()).into_iter().map(|word| word.folded).collect();
        parts.iter().all(|part| name.contains(part))
    };
    let exact: Vec<&Value> = contacts.iter().filter(has_name).collect();
    let chosen = match (contacts, &exact[..]) {
        ([only], _) => Some(only),
        (_, [only]) => Some(*only),
        (many, _) => many.iter().find(named),
    };
    match chosen.and_then(|contact| contact["emails"][0].as_str()) {
        Some(address) => create(task, cx, None, Some(address)),
        None if contacts.len() > 1 => Said::text(several(cx, who, contacts)),
        // A person who wrote may be in no address book.
        None if turn.calls.len() < MOST_CALLS && cx.can("people_about") => {
            cx.call("people_about", json!({ "person": who }))
        }
        None => Said::text(cx.speech.say("no_address", &[("who", who)])),
    }
}

fn from_people(task: &SpecialistTask, cx: &AgentContext, data: &Value) -> Said {
    let people = list(data, "people");
    let who = task.person().unwrap_or("that person");
    match people {
        [only] if only["emails"][0].is_string() => create(task, cx, None, only["emails"][0].as_str()),
        [_, _, ..] => Said::text(several(cx, who, people)),
        _ => Said::text(cx.speech.say("no_address", &[("who", who)])),
    }
}

fn several(cx: &AgentContext, who: &str, people: &[Value]) -> String {
    let names: Vec<String> = people.iter().take(5).map(|one| text_of(one, "name")).collect();
    cx.speech.say("several_called", &[("who", who), ("names", &names.join(", "))])
}

fn create(task: &SpecialistTask, cx: &AgentContext, reply_to: Option<&str>, to: Option<&str>) -> Said {
    let slots: Vec<Value> = task.slots.iter().map(|(start, end)| json!({ "start": start, "end": end })).collect();
    let act = act(task, !slots.is_empty(), reply_to.is_some());
    let forwarded_to = (act == "forward").then(|| {
        let address = task.entities.addresses.first().map(String::as_str);
        address.or_else(|| forwarded_to(task)).or(task
            .entities
            .people
            .first()
            .map(String::as_str)
            .filter(|_| reply_to.is_some()))
    });
    let forwarded_to = forwarded_to.flatten();
    let points = wording::points(task);
    // A mail that begins a conversation has a subject: what it says, in short.
    let own = points.first().map(|point| crate::phrases::plain(point.trim_matches(['.', '!', '?', '[', ']', ' ']), 60));
    let subject = subject(task).map(str::to_owned).or(own.filter(|_| act != "forward")).filter(|_| reply_to.is_none());
    cx.call(
        "draft_create",
        json!({
            "reply_to": reply_to,
            "to": to.or(forwarded_to).map(|to| vec![to]),
            "subject": subject,
            "act": act,
            "points": points,
            "slots": slots,
        }),
    )
}

/// The person to whom something is passed on: "forward Sarah's mail to Paul".
fn forwarded_to(task: &SpecialistTask) -> Option<&str> {
    let is_behind = |name: &&String| {
        task.task.match_indices(name.as_str()).any(|(at, _)| {
            let before = words(&task.task[..at]);
            before.last().is_some_and(|word| ["to", "an", "a", "with", "mit", "avec"].contains(&word.folded.as_str()))
        })
    };
    task.entities.people.iter().find(is_behind).map(String::as_str)
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
    match acts.into_iter().find(|(concept, _)| task.has_before_content(*concept)) {
        Some((_, act)) => act,
        None if has_slots => "propose_times",
        None if is_reply && wording::points(task).is_empty() => "acknowledge",
        None => "inform",
    }
}

fn subject(task: &SpecialistTask) -> Option<&str> {
    let is_time = |topic: &&String| task.times.said.iter().any(|said| task.task[said.clone()].contains(topic.as_str()));
    let is_said = |topic: &&String| task.content().is_some_and(|content| content.contains(topic.as_str()));
    let topic = task.entities.topics.iter().find(|topic| !is_time(topic) && !is_said(topic));
    topic.or(task.entities.quoted.first()).map(String::as_str)
}

fn is_reply(task: &SpecialistTask) -> bool {
    task.has_any(&[Concept::Reply, Concept::Accept, Concept::Decline, Concept::FollowUp, Concept::Forward])
}

fn drafted(cx: &AgentContext, data: &Value) -> String {
    let placeholders = texts_of(data, "placeholders");
    let open = match placeholders.is_empty() {
        true => String::new(),
        false => format!("\n\n{}", cx.speech.say("fill_in", &[("what", &placeholders.join(", "))])),
    };
    let head = if data["unchanged"] == true { "unchanged" } else { "drafted" };
    format!("{}\n\n{}{open}", cx.speech.say(head, &[]), draft(data))
}

fn shown(cx: &AgentContext, data: &Value) -> String {
    let drafts = list(data, "drafts");
    if data["draftId"].is_string() {
        return drafted(cx, data);
    }
    if drafts.is_empty() {
        return cx.speech.say("no_drafts", &[]);
    }
    let line = |draft: &Value| {
        format!("- {}: \"{}\"", cx.speech.say("to", &[("who", &names_of(draft, "to"))]), text_of(draft, "subject"))
    };
    format!("{}\n\n{}", cx.speech.say("drafts_head", &[]), drafts.iter().map(line).collect::<Vec<_>>().join("\n"))
}
