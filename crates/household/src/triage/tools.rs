//! The tool that classifies the inbox, and the one that records the owner's correction.

use std::sync::Arc;

use agent::tools::{Reach, Risk};
use jiff::ToSpan;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tool::Registry;
use tool::args::{flag, number};

use super::{Category, MailClassifier, Verdict};
use crate::error::Error;
use crate::household::Household;
use crate::mail::folder::INBOX;
use crate::mail::mailbox::{Filter, Mail};
use crate::times::{Edge, moment, shown};
use crate::tools::HouseholdTool;

/// The tools of triage, added to others.
pub(crate) fn add(household: &Arc<Household>, registry: Registry) -> Registry {
    let registry = registry.with(HouseholdTool::<Triage> {
        info: tool::info(
            "mail_triage",
            "Sorts the inbox by how soon each mail needs the owner, with the reasons, tasks found in it, and warnings. \
             Without `since` it looks at the last two weeks.",
            r#"{"type":"object","properties":{
                "since":{"type":"string","description":"2026-01-15 or 2026-01-15T14:30"},
                "until":{"type":"string","description":"a day is meant with all its hours"},
                "id":{"type":"string","description":"only this mail"},
                "only":{"type":"string","enum":["urgent","suspicious","unanswered","newsletter","meeting","all"],
                    "description":"`all` if not said; `unanswered`: what wants an answer of the owner and has none"},
                "limit":{"type":"integer","minimum":1,"maximum":50,"description":"10 if not said"}}}"#,
            Reach::ReadOnly,
            true,
            Risk::Low,
        ),
        example: r#"{"only": "urgent"}"#,
        foreign: Some("mail"),
        household: Arc::clone(household),
        act: triage,
    });
    registry.with(HouseholdTool::<Feedback> {
        info: tool::info(
            "mail_feedback",
            "Notes that the owner called a mail urgent, or not urgent. Call it before anything is read: a word counts only \
             as the owner's own, and changes nothing before the habit is agreed to.",
            r#"{"type":"object","properties":{
                "id":{"type":"string","description":"the mail's emailId"},
                "from":{"type":"string","description":"instead of `id`: the latest mail of this sender"},
                "urgent":{"type":"boolean"}},"required":["urgent"]}"#,
            Reach::Own,
            true,
            Risk::Low,
        ),
        example: r#"{"id": "msg_urgent_001", "urgent": false}"#,
        foreign: Some("mail"),
        household: Arc::clone(household),
        act: feedback,
    })
}

#[derive(Deserialize)]
struct Triage {
    since: Option<String>,
    until: Option<String>,
    #[serde(alias = "emailId")]
    id: Option<String>,
    only: Option<Only>,
    #[serde(default, deserialize_with = "number")]
    limit: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Only {
    Urgent,
    Suspicious,
    Unanswered,
    Newsletter,
    Meeting,
    All,
}

/// Mails that are looked at in one go; more of one period nobody reads.
const MAILS: usize = 5_000;

fn triage(args: &Triage, household: &Household) -> Result<Value, Error> {
    let (zone, now) = (&household.options().zone, household.now());
    let since = match &args.since {
        Some(text) => moment(text, zone, Edge::Start)?,
        None => now.checked_sub(2.weeks()).unwrap_or(now.clone()).timestamp(),
    };
    let until = args.until.as_deref().map_or(Ok(now.timestamp()), |text| moment(text, zone, Edge::End))?;
    let habits = household.applied("triage.")?;
    let mailbox = household.mailbox()?;
    let judge = MailClassifier::of(&mailbox, household, habits)?;
    let mails = match &args.id {
        Some(id) => vec![mailbox.find(id)?],
        None => {
            let mut filter = Filter { folder: Some(INBOX.into()), since: Some(since), ..Filter::default() };
            // What is dated in the future came all the same.
            filter.until = args.until.is_some().then_some(until);
            let (mut mails, _) = mailbox.list(&filter, MAILS)?;
            mails.retain(|mail| !judge.me().contains(&mail.message.from.address));
            mails
        }
    };
    let mut judged = Vec::with_capacity(mails.len());
    for mail in mails {
        let verdict = judge.judge(&mail)?;
        judged.push((mail, verdict));
    }
    let mut counts = Map::new();
    for category in Category::ALL {
        let count = judged.iter().filter(|(_, verdict)| verdict.category == category).count();
        counts.insert(category.as_str().to_owned(), json!(count));
    }
    let wanted: &[Category] = match args.only {
        Some(Only::Urgent) => &[Category::Urgent],
        Some(Only::Suspicious) => &[Category::Suspicious],
        Some(Only::Unanswered) => &[Category::Urgent, Category::Action, Category::Meeting],
        Some(Only::Newsletter) => &[Category::Newsletter],
        Some(Only::Meeting) => &[Category::Meeting],
        Some(Only::All) | None => &Category::ALL,
    };
    judged.retain(|(_, verdict)| wanted.contains(&verdict.category));
    if args.only == Some(Only::Unanswered) {
        let mut open = Vec::with_capacity(judged.len());
        for (mail, verdict) in judged {
            if !mailbox.is_answered(&mail)? {
                open.push((mail, verdict));
            }
        }
        judged = open;
    }
    judged.sort_by(|(a, one), (b, other)| other.priority.total_cmp(&one.priority).then(b.sent.cmp(&a.sent)));
    let total = judged.len();
    judged.truncate(args.limit.unwrap_or(10).clamp(1, 50) as usize);
    let items: Vec<_> = judged.iter().map(|(mail, verdict)| item(mail, verdict, household)).collect();
    let mut answer = json!({
        "items": items,
        "total": total,
        "counts": counts,
        "period": { "since": shown(since, zone), "until": shown(until, zone) },
    });
    if let Some(id) = &args.id {
        answer["id"] = json!(id);
    }
    if args.only == Some(Only::Unanswered) {
        answer["only"] = json!("unanswered");
    }
    if args.only == Some(Only::Newsletter) {
        answer["only"] = json!("newsletter");
    }
    Ok(answer)
}

fn item(mail: &Mail, verdict: &Verdict, household: &Household) -> Value {
    let task = |task: &super::task::Task| {
        let mut shown = json!({ "title": task.title, "confidence": task.confidence });
        if let Some(due) = task.due {
            shown["suggestedDue"] = json!(due.to_string());
        }
        shown
    };
    json!({
        "emailId": mail.id,
        "threadId": mail.thread_id,
        "from": mail.message.from.to_string(),
        "subject": mail.message.subject,
        "date": shown(mail.sent, &household.options().zone),
        "priority": verdict.priority,
        "category": verdict.category.as_str(),
        "why": verdict.why,
        "suggestedActions": verdict.suggested_actions,
        "extractedTasks": verdict.tasks.iter().map(task).collect::<Vec<_>>(),
        "summary": verdict.summary,
        "warnings": verdict.warnings,
    })
}

#[derive(Deserialize)]
struct Feedback {
    #[serde(alias = "emailId")]
    id: Option<String>,
    from: Option<String>,
    #[serde(deserialize_with = "flag")]
    urgent: bool,
}

/// Says what the word is about. That it was said stands in the log, and habits are learnt from there.
fn feedback(args: &Feedback, household: &Household) -> Result<Value, Error> {
    let habits = household.applied("triage.")?;
    let mailbox = household.mailbox()?;
    let mail = match (&args.id, &args.from) {
        (Some(id), _) => mailbox.find(id)?,
        (None, Some(from)) => {
            let filter = Filter { folder: Some(INBOX.into()), from: Some(from.clone()), ..Filter::default() };
            let found = mailbox.list(&filter, 1)?.0.pop();
            found.ok_or_else(|| Error::request(format!("there is no mail from `{from}` in the inbox")))?
        }
        (None, None) => return Err(Error::request("say which mail: its `id`, or whom it is `from`")),
    };
    let was = MailClassifier::of(&mailbox, household, habits)?.judge(&mail)?.category;
    Ok(json!({
        "emailId": mail.id,
        "from": mail.message.from.address,
        "subject": mail.message.subject,
        "was": was.as_str(),
        "said": if args.urgent { "urgent" } else { "not urgent" },
    }))
}
