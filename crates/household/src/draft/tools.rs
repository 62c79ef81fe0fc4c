//! The tools that write drafts. None of them sends.

use std::path::PathBuf;
use std::sync::Arc;

use agent::tools::{Reach, Risk};
use jiff::Zoned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tool::Registry;
use tool::args::list;

use super::compose::{DraftRequest, addressed, compose};
use super::edit::{Edit, Parts};
use super::message::Message;
use super::phrases::DraftPurpose;
use super::{placeholders, replies, store};
use crate::error::Error;
use crate::household::Household;
use crate::mail::folder::{self, DRAFTS};
use crate::mail::mailbox::{Filter, Mail, Mailbox};
use crate::mail::message::MailMessage;
use crate::mail::tools::named;
use crate::text::{self, Language};
use crate::times::{Edge, moment, shown};
use crate::tools::HouseholdTool;

/// The tools of drafts, added to others.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    registry
        .with(HouseholdTool::<Create> {
            info: tool::info(
                "draft_create",
                "Writes a draft into the owner's drafts; nothing is sent. Say what it is to do (`act`) and to say (`points`), or give \
                 the whole `body`. What is not known stays open as [[date?]] and is named in `placeholders`.",
                r#"{"type":"object","properties":{
                    "reply_to":{"type":"string","description":"the emailId of the mail that it answers"},
                    "to":{"type":"array","items":{"type":"string"},
                        "description":"names or addresses; the sender of the answered mail if not said"},
                    "subject":{"type":"string"},
                    "act":{"type":"string",
                        "enum":["accept","decline","propose_times","ask","acknowledge","follow_up","forward","inform"]},
                    "points":{"type":"array","items":{"type":"string"},"description":"sentences that it is to say"},
                    "slots":{"type":"array","description":"times to propose or to accept","items":{"type":"object",
                        "properties":{"start":{"type":"string"},"end":{"type":"string"}},"required":["start"]}},
                    "body":{"type":"string","description":"the whole text, instead of act and points"},
                    "language":{"type":"string","enum":["en","de","fr"],
                        "description":"that of the conversation if not said"}}}"#,
                Reach::Own,
                false,
                Risk::Low,
            ),
            example: r#"{"reply_to": "msg_urgent_001", "act": "acknowledge"}"#,
            foreign: Some("mail"),
            household: Arc::clone(household),
            act: create,
        })
        .with(HouseholdTool::<Update> {
            info: tool::info(
                "draft_update",
                "Changes a draft that draft_create wrote. What is not said stays as it is.",
                r#"{"type":"object","properties":{"id":{"type":"string","description":"the draftId"},
                    "to":{"type":"array","items":{"type":"string"}},"subject":{"type":"string"},
                    "body":{"type":"string","description":"the whole text"},
                    "edit":{"enum":["shorter","more_formal","friendlier"],"description":"instead of `body`: a change of manner"},
                    "say":{"type":"array","items":{"type":"string"},"description":"sentences in place of what it says now"},
                    "add":{"type":"array","items":{"type":"string"},"description":"sentences to add before the end"}},"required":["id"]}"#,
                Reach::Own,
                true,
                Risk::Low,
            ),
            example: r#"{"id": "draft_20260115_1", "subject": "Contract"}"#,
            foreign: Some("mail"),
            household: Arc::clone(household),
            act: update,
        })
        .with(HouseholdTool::<Discard> {
            info: tool::info(
                "draft_discard",
                "Takes a draft that draft_create wrote out of the drafts again. Drafts of other programs are never removed.",
                r#"{"type":"object","properties":{"id":{"type":"string","description":"the draftId"}},"required":["id"]}"#,
                Reach::Own,
                true,
                Risk::Low,
            ),
            example: r#"{"id": "draft_20260115_1"}"#,
            foreign: Some("mail"),
            household: Arc::clone(household),
            act: discard,
        })
        .with(HouseholdTool::<Show> {
            info: tool::info(
                "draft_show",
                "Shows a draft, or without `id` the drafts there are.",
                r#"{"type":"object","properties":{"id":{"type":"string","description":"the draftId"}}}"#,
                Reach::ReadOnly,
                true,
                Risk::Low,
            ),
            example: r#"{"id": "draft_20260115_1"}"#,
            foreign: Some("mail"),
            household: Arc::clone(household),
            act: show,
        })
}

#[derive(Deserialize)]
struct Create {
    reply_to: Option<String>,
    #[serde(default, deserialize_with = "people")]
    to: Vec<String>,
    subject: Option<String>,
    act: Option<DraftPurpose>,
    #[serde(default, deserialize_with = "list")]
    points: Vec<String>,
    #[serde(default, deserialize_with = "list")]
    slots: Vec<Slot>,
    body: Option<String>,
    language: Option<DraftLanguage>,
}

#[derive(Deserialize)]
struct Slot {
    start: String,
    end: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DraftLanguage {
    En,
    De,
    Fr,
}

fn create(args: &Create, household: &Household) -> Result<Value, Error> {
    let zone = &household.options().zone;
    let at = |text: &str| -> Result<Zoned, Error> { Ok(moment(text, zone, Edge::Start)?.to_zoned(zone.clone())) };
    let mut slots = Vec::new();
    for slot in &args.slots {
        slots.push((at(&slot.start)?, slot.end.as_deref().map(at).transpose()?));
    }
    let wish = DraftRequest {
        reply_to: args.reply_to.clone(),
        to: args.to.clone(),
        subject: args.subject.clone(),
        act: args.act,
        points: args.points.clone(),
        slots,
        body: args.body.clone(),
        language: args.language.map(|language| match language {
            DraftLanguage::En => Language::English,
            DraftLanguage::De => Language::German,
            DraftLanguage::Fr => Language::French,
        }),
    };
    let habits = household.applied("draft.")?;
    let composed = compose(&wish, &habits, &household.mailbox()?, household)?;
    let id = store::create(household, &composed.message)?;
    let message = &composed.message;
    let mut open = placeholders(&[&message.subject, &message.body]);
    open.extend(composed.unknown.iter().map(|name| format!("[[address of {name}?]]")));
    if message.to.is_empty() && composed.unknown.is_empty() {
        open.push("[[recipient?]]".to_owned());
    }
    let mut answer = json!({
        "draftId": id,
        "to": named(&message.to),
        "subject": message.subject,
        "body": message.body,
        "placeholders": open,
        "tone": composed.tone,
        "basedOn": composed.based_on,
        "language": composed.language.code(),
    });
    if let Some(id) = &args.reply_to {
        answer["answers"] = json!(id);
    }
    if !composed.untranslated.is_empty() {
        answer["untranslated"] = json!(composed.untranslated);
    }
    if !composed.warnings.is_empty() {
        answer["warnings"] = json!(composed.warnings);
    }
    Ok(answer)
}

#[derive(Deserialize)]
struct Update {
    #[serde(alias = "draftId")]
    id: String,
    #[serde(default, deserialize_with = "people")]
    to: Vec<String>,
    subject: Option<String>,
    body: Option<String>,
    edit: Option<Edit>,
    #[serde(default, deserialize_with = "list")]
    say: Vec<String>,
    #[serde(default, deserialize_with = "list")]
    add: Vec<String>,
}

fn update(args: &Update, household: &Household) -> Result<Value, Error> {
    let mailbox = household.mailbox()?;
    let (mail, mail_message) = store::find(&mailbox, &args.id)?;
    let (path, before) = own(&mailbox, &mail)?;
    let mut to = mail_message.to.clone();
    if !args.to.is_empty() {
        let read = |said: &String| {
            addressed(said).ok_or_else(|| Error::request(format!("`{said}` is no address; say it as name@domain")))
        };
        to = args.to.iter().map(read).collect::<Result<_, _>>()?;
    }
    let message = Message {
        from: mail_message.from.clone(),
        to,
        subject: args
            .subject
            .as_deref()
            .map_or(mail_message.subject.clone(), |subject| text::line(&text::harmless(subject), 200)),
        in_reply_to: mail_message.in_reply_to.clone(),
        references: mail_message.references.clone(),
        body: args.body.as_deref().map_or(mail_message.text.clone(), text::harmless),
    };
    let mut parts = Parts::of(&message.body);
    // What stands in a placeholder is in the owner's words, whatever language the mail is in.
    let language = Language::of(&without_placeholders(&message.body));
    let now = household.now();
    let said = |points: &[String]| -> Vec<String> {
        points.iter().map(|point| replies::in_language(&text::harmless(point), language, &now).text).collect()
    };
    parts.say(&said(&args.say));
    // What leads over to the owner's words stands there once.
    let added = said(&args.add).into_iter().map(|text| match text.find("[[") {
        Some(at) if text[..at].trim_end().ends_with(':') => text[at..].to_owned(),
        _ => text,
    });
    parts.add(&added.collect::<Vec<_>>());
    if let Some(edit) = args.edit {
        parts.edit(edit, language, message.to.first());
    }
    let is_edited = args.edit.is_some() || !args.say.is_empty() || !args.add.is_empty();
    let message = Message { body: if is_edited { parts.text() } else { message.body }, ..message };
    let is_changed = message.body.trim_end() != mail_message.text.trim_end()
        || message.subject != mail_message.subject
        || message.to != mail_message.to;
    if is_changed {
        store::replace(&path, &before, &message, &mail.id, &now)?;
    }
    let mail_message = MailMessage { to: message.to, subject: message.subject, text: message.body, ..mail_message };
    let mut answer = shown_draft(&mail, &mail_message);
    answer["edited"] = json!(true);
    if !is_changed {
        answer["unchanged"] = json!(true);
    }
    Ok(answer)
}

fn without_placeholders(body: &str) -> String {
    let mut rest = body;
    let mut kept = String::new();
    while let Some((before, behind)) = rest.split_once("[[") {
        kept.push_str(before);
        rest = behind.split_once("]]").map_or("", |(_, behind)| behind);
    }
    kept + rest
}

/// The file of a draft and its bytes, if the household wrote it and no other program since.
fn own(mailbox: &Mailbox<'_>, mail: &Mail) -> Result<(PathBuf, Vec<u8>), Error> {
    let path = mailbox.path(mail);
    let before = folder::bytes(&path, u64::MAX).map_err(Error::file(&path))?;
    // What lies in a file with other mails was put there by another program.
    match store::is_ours(&before) && path.is_file() {
        true => Ok((path, before)),
        false => Err(Error::request(format!(
            "{} was written by another program and is left as it is; write a new one",
            mail.id
        ))),
    }
}

#[derive(Deserialize)]
struct Discard {
    #[serde(alias = "draftId")]
    id: String,
}

fn discard(args: &Discard, household: &Household) -> Result<Value, Error> {
    let mailbox = household.mailbox()?;
    let (mail, mail_message) = store::find(&mailbox, &args.id)?;
    let (path, _) = own(&mailbox, &mail)?;
    std::fs::remove_file(&path).map_err(Error::file(&path))?;
    Ok(json!({
        "draftId": mail.id, "to": named(&mail_message.to), "subject": mail_message.subject, "discarded": true,
    }))
}

#[derive(Deserialize)]
struct Show {
    #[serde(alias = "draftId")]
    id: Option<String>,
}

fn show(args: &Show, household: &Household) -> Result<Value, Error> {
    let mailbox = household.mailbox()?;
    if let Some(id) = &args.id {
        let (mail, mail_message) = store::find(&mailbox, id)?;
        return Ok(shown_draft(&mail, &mail_message));
    }
    let filter = Filter { folder: Some(DRAFTS.into()), ..Filter::default() };
    let (mails, total) = mailbox.list(&filter, 50)?;
    let drafts: Vec<_> = mails
        .iter()
        .map(|mail| {
            json!({
                "draftId": mail.id,
                "to": named(&mail.message.to),
                "subject": mail.message.subject,
                "date": shown(mail.sent, &household.options().zone),
                "placeholders": placeholders(&[&mail.message.subject, &mail.message.text]),
            })
        })
        .collect();
    Ok(json!({ "drafts": drafts, "total": total }))
}

fn shown_draft(mail: &Mail, mail_message: &MailMessage) -> Value {
    let mut draft = json!({
        "draftId": mail.id,
        "to": named(&mail_message.to),
        "subject": mail_message.subject,
        "body": mail_message.text,
        "placeholders": placeholders(&[&mail_message.subject, &mail_message.text]),
    });
    if !mail_message.in_reply_to.is_empty() {
        draft["inReplyTo"] = json!(mail_message.in_reply_to);
    }
    draft
}

/// One name, or several.
fn people<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum People {
        One(String),
        Several(Vec<String>),
        None,
    }
    Ok(match People::deserialize(from)? {
        People::One(one) if one.trim_start().starts_with('[') => serde_json::from_str(&one).unwrap_or(vec![one]),
        People::One(one) => {
            one.split([',', ';']).map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
        }
        People::Several(several) => several,
        People::None => Vec::new(),
    })
}
