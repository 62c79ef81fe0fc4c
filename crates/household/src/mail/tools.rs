//! The tools that list and read mail, and the one that sets flags.

use std::sync::Arc;

use agent::tools::{Reach, Risk};
use jiff::{Timestamp, ToSpan};
use serde::Deserialize;
use serde_json::{Value, json};
use tool::Registry;
use tool::args::{flag, number};

use super::address::Person;
use super::flag::{Flag, mark};
use super::folder::{INBOX, SENT};
use super::mailbox::{Filter, Mail, Mailbox};
use super::message::MailMessage;
use crate::error::Error;
use crate::household::Household;
use crate::passages::{Term, gist, words_of};
use crate::times::{Edge, moment, shown};
use crate::tools::HouseholdTool;
use crate::{passages, people, text, triage};

/// The tools of mail, added to others.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    let looks = |name, description, schema| tool::info(name, description, schema, Reach::ReadOnly, true, Risk::Low);
    registry
        .with(HouseholdTool::<List> {
            info: looks(
                "mail_list",
                "Lists mails, the latest first. Says `total`, which may be more than are shown.",
                r#"{"type":"object","properties":{
                    "folder":{"type":"string","description":"`inbox` if not said; `all` for every folder"},
                    "since":{"type":"string","description":"2026-01-15 or 2026-01-15T14:30"},
                    "until":{"type":"string","description":"a day is meant with all its hours"},
                    "from":{"type":"string","description":"a piece of the sender's name or address, or what they are to the owner"},
                    "to":{"type":"string","description":"the same of a recipient; with folder `sent`: what the owner wrote to them"},
                    "awaiting":{"type":"boolean","description":"true: only what the owner sent and asked in, and that nobody answered yet"},
                    "answered":{"type":"boolean","description":"true: only those that the owner answered, false: only others"},
                    "unread":{"type":"boolean","description":"true: only unread ones, false: only read ones"},
                    "query":{"type":"string","description":"words in the mail, in any of three languages"},
                    "limit":{"type":"integer","minimum":1,"maximum":100,"description":"20 if not said"}}}"#,
            ),
            example: r#"{"from": "sarah", "unread": true}"#,
            foreign: Some("mail"),
            household: Arc::clone(household),
            act: list,
        })
        .with(HouseholdTool::<One> {
            info: looks(
                "mail_read",
                "Shows one mail whole, with its attachments' names and with warnings about what is odd in it.",
                r#"{"type":"object","properties":{"id":{"type":"string","description":"the mail's emailId"}},"required":["id"]}"#,
            ),
            example: r#"{"id": "msg_urgent_001"}"#,
            foreign: Some("mail"),
            household: Arc::clone(household),
            act: read,
        })
        .with(HouseholdTool::<One> {
            info: looks(
                "mail_thread",
                "Shows the whole conversation that a mail belongs to, oldest first, with the owner's own answers.",
                r#"{"type":"object","properties":{"id":{"type":"string","description":"any mail of it"}},"required":["id"]}"#,
            ),
            example: r#"{"id": "msg_urgent_001"}"#,
            foreign: Some("mail"),
            household: Arc::clone(household),
            act: thread,
        })
        .with(HouseholdTool::<Mark> {
            info: tool::info(
                "mail_flag",
                "Marks a mail as seen, flagged or answered, or takes the mark away, as mail programs see it too.",
                r#"{"type":"object","properties":{
                    "id":{"type":"string","description":"the mail's emailId"},
                    "flag":{"type":"string","enum":["seen","flagged","answered"]},
                    "on":{"type":"boolean","description":"true if not said"}},"required":["id","flag"]}"#,
                Reach::Workspace,
                true,
                Risk::Medium,
            ),
            example: r#"{"id": "msg_urgent_001", "flag": "flagged"}"#,
            foreign: None,
            household: Arc::clone(household),
            act: set_flag,
        })
}

#[derive(Deserialize)]
struct List {
    folder: Option<String>,
    since: Option<String>,
    until: Option<String>,
    from: Option<String>,
    to: Option<String>,
    #[serde(default, deserialize_with = "maybe")]
    awaiting: Option<bool>,
    #[serde(default, deserialize_with = "maybe")]
    answered: Option<bool>,
    #[serde(default, deserialize_with = "maybe")]
    unread: Option<bool>,
    query: Option<String>,
    #[serde(default, deserialize_with = "number")]
    limit: Option<u64>,
}

fn list(args: &List, household: &Household) -> Result<Value, Error> {
    let zone = &household.options().zone;
    let awaits = args.awaiting == Some(true);
    let folder = args.folder.clone().unwrap_or_else(|| if awaits { SENT } else { INBOX }.to_owned());
    let filter = Filter {
        folder: (!folder.eq_ignore_ascii_case("all")).then_some(folder),
        since: args.since.as_deref().map(|text| moment(text, zone, Edge::Start)).transpose()?,
        until: args.until.as_deref().map(|text| moment(text, zone, Edge::End)).transpose()?,
        from: args.from.clone(),
        to: args.to.clone(),
        unread: args.unread,
        answered: args.answered,
        words: args.query.clone(),
        ..Filter::default()
    };
    let most = args.limit.unwrap_or(20).clamp(1, 100) as usize;
    let limit = if awaits || args.query.is_some() { MOST_LOOKED_AT } else { most };
    let mut found = household.mailbox()?.list(&filter, limit)?;
    let mut meant = Vec::new();
    if found.1 == 0 && (args.from.is_some() || args.to.is_some()) {
        // A relation ("my landlord") or a nickname is in no header.
        let addresses = |said: &Option<String>, meant: &mut Vec<String>| -> Result<Vec<String>, Error> {
            let people = said.as_deref().map_or(Ok(Vec::new()), |said| people::resolve(household, said))?;
            meant.extend(people.iter().map(|person| person.name.clone()));
            Ok(people.into_iter().flat_map(|person| person.addresses).collect())
        };
        let (senders, recipients) = (addresses(&args.from, &mut meant)?, addresses(&args.to, &mut meant)?);
        let is_known = senders.is_empty() == args.from.is_none() && recipients.is_empty() == args.to.is_none();
        if is_known {
            found =
                household.mailbox()?.list(&Filter { from: None, to: None, senders, recipients, ..filter }, limit)?;
        }
    }
    let (mut mails, mut total) = found;
    let mailbox = household.mailbox()?;
    let covers = args.query.as_deref().and_then(|query| best_first(query, &mut mails, &mut total));
    mails.truncate(if awaits { MOST_LOOKED_AT } else { most });
    if awaits {
        let since = household.now().checked_sub(60.days()).map_or(Timestamp::MIN, |since| since.timestamp());
        let mut open = Vec::new();
        for mail in mails {
            let asks = passages::of_mail(&mail.message.text).iter().any(|sentence| sentence.trim_end().ends_with('?'));
            let thread = mailbox.thread(&mail)?;
            let is_answered = thread.iter().any(|other| other.sent > mail.sent && other.folder != SENT);
            if asks && !is_answered && mail.sent >= since {
                open.push(mail);
            }
        }
        (total, mails) = (open.len(), open);
    }
    let told: Result<Vec<_>, Error> = mails.iter().map(|mail| summary(mail, &mailbox, household)).collect();
    let mut answer = json!({ "mails": told?, "total": total });
    if !meant.is_empty() {
        answer["people"] = json!(meant);
    }
    if let Some(covers) = covers {
        answer["covers"] = json!((covers * 100.0).round() / 100.0);
    }
    let read_as = read_as(args.query.as_deref().unwrap_or_default(), &mails);
    if !read_as.is_empty() {
        answer["readAs"] = json!(read_as);
    }
    Ok(answer)
}

/// Mails that are looked at to find the best among them.
const MOST_LOOKED_AT: usize = 300;
/// A mail that holds less of what was asked for than the best by this is another one.
const CLEARLY_LESS: f64 = 0.2;

/// Puts those mails first that hold most of the words, and drops those that hold clearly fewer. Returns how much the best one holds, from 0
/// to 1.
fn best_first(query: &str, mails: &mut Vec<Mail>, total: &mut usize) -> Option<f64> {
    let words = words_of(query).into_iter().filter(|word| !crate::notes::stop_words::is_one(word));
    let terms: Vec<Term> = words.map(|word| Term::new(&word)).collect();
    if terms.is_empty() || mails.is_empty() {
        return None;
    }
    let holds = |mail: &Mail| {
        let message = &mail.message;
        let head = words_of(&format!("{} {}", message.subject, message.from));
        let files = message.attachments.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(" ");
        let people = message.recipients().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let body = words_of(&format!("{} {files} {people}", message.text));
        let worth = |term: &Term| term.worth(&head).max(0.9 * term.worth(&body));
        terms.iter().map(worth).sum::<f64>() / terms.len() as f64
    };
    let mut held: Vec<(f64, Mail)> = mails.drain(..).map(|mail| (holds(&mail), mail)).collect();
    let best = held.iter().map(|(holds, _)| *holds).fold(0.0, f64::max);
    let before = held.len();
    held.retain(|(holds, _)| *holds >= best - CLEARLY_LESS);
    // The latest comes first among those that hold nearly the same.
    held.sort_by_key(|(holds, _)| std::cmp::Reverse((holds * 10.0).round() as i64));
    *total -= before - held.len();
    mails.extend(held.into_iter().map(|(_, mail)| mail));
    Some(best)
}

/// The words of a query that no mail holds itself, and what was found in their place.
fn read_as(query: &str, mails: &[Mail]) -> Vec<Value> {
    let mut found = Vec::new();
    for word in words_of(query) {
        let term = Term::new(&word);
        let texts = mails.iter().map(|mail| words_of(&format!("{} {}", mail.message.subject, mail.message.text)));
        let texts: Vec<Vec<String>> = texts.collect();
        if texts.iter().any(|words| term.worth(words) > 0.9) {
            continue;
        }
        let other = texts.iter().find_map(|words| term.read_as(words));
        found.extend(other.map(|other| json!({ "word": word, "found": other })));
    }
    found
}

fn summary(mail: &Mail, mailbox: &Mailbox<'_>, household: &Household) -> Result<Value, Error> {
    let message = &mail.message;
    let mut summary = json!({
        "emailId": mail.id,
        "threadId": mail.thread_id,
        "from": message.from.to_string(),
        "to": named(&message.to),
        "subject": message.subject,
        "date": shown(mail.sent, &household.options().zone),
        "unread": mail.is_unread(),
        "flagged": mail.flags.contains('F'),
        "folder": mail.folder,
        "answered": mailbox.is_answered(mail)?,
        "preview": text::line(&message.text, 160),
        "gist": text::line(&gist(&message.text), 320),
    });
    let files: Vec<&str> = message.attachments.iter().map(|file| &*file.name).filter(|name| !name.is_empty()).collect();
    if !files.is_empty() {
        summary["attachments"] = json!(files);
    }
    let warnings = triage::warnings(mailbox, message, household)?;
    if !warnings.is_empty() {
        summary["warnings"] = json!(warnings);
    }
    Ok(summary)
}

#[derive(Deserialize)]
struct One {
    #[serde(alias = "emailId")]
    id: String,
}

fn read(args: &One, household: &Household) -> Result<Value, Error> {
    let mailbox = household.mailbox()?;
    let mail = mailbox.find(&args.id)?;
    whole(&mailbox, &mail, household)
}

fn thread(args: &One, household: &Household) -> Result<Value, Error> {
    let mailbox = household.mailbox()?;
    let mail = mailbox.find(&args.id)?;
    let mails = mailbox.thread(&mail)?;
    let shown: Result<Vec<_>, _> = mails.iter().map(|mail| whole(&mailbox, mail, household)).collect();
    Ok(json!({ "threadId": mail.thread_id, "subject": mail.message.topic(), "mails": shown? }))
}

fn whole(mailbox: &Mailbox<'_>, mail: &Mail, household: &Household) -> Result<Value, Error> {
    let message = mailbox.open(mail)?;
    let warnings = triage::warnings(mailbox, &message, household)?;
    let MailMessage { from, to, cc, subject, text, attachments, .. } = &message;
    let zone = &household.options().zone;
    let mut whole = json!({
        "emailId": mail.id,
        "threadId": mail.thread_id,
        "from": from.to_string(),
        "to": named(to),
        "cc": named(cc),
        "subject": subject,
        "date": shown(mail.sent, zone),
        "folder": mail.folder,
        "answered": mailbox.is_answered(mail)?,
        "gist": text::line(&gist(text), 320),
        "body": text,
        "attachments": attachments.iter().map(|file| json!({
            "name": file.name, "type": file.kind, "size": file.size,
        })).collect::<Vec<_>>(),
        "warnings": warnings,
    });
    if !message.in_reply_to.is_empty() {
        whole["inReplyTo"] = json!(message.in_reply_to);
    }
    if !message.list.is_empty() {
        whole["listId"] = json!(message.list);
    }
    if let Some(invite) = &message.invite {
        whole["invite"] = json!({
            "method": invite.method,
            "title": invite.title,
            "start": invite.start.map(|start| shown(start, zone)),
            "end": invite.end.map(|end| shown(end, zone)),
            "location": invite.location,
        });
    }
    Ok(whole)
}

#[derive(Deserialize)]
struct Mark {
    #[serde(alias = "emailId")]
    id: String,
    flag: Flag,
    #[serde(default, deserialize_with = "maybe")]
    on: Option<bool>,
}

fn set_flag(args: &Mark, household: &Household) -> Result<Value, Error> {
    let mail = mark(household, &args.id, args.flag, args.on.unwrap_or(true))?;
    Ok(json!({
        "emailId": mail.id,
        "subject": mail.message.subject,
        "seen": !mail.is_unread(),
        "flagged": mail.flags.contains('F'),
        "answered": mail.flags.contains('R'),
    }))
}

pub(crate) fn named(people: &[Person]) -> Vec<String> {
    people.iter().map(ToString::to_string).collect()
}

/// Yes or no, or not said.
fn maybe<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    flag(from).map(Some)
}
