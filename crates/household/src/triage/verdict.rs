//! From evidence to the result: category, suggested action, and a summary of one sentence.

use jiff::Unit;
use serde::Serialize;

use super::evidence::{Evidence, Reason};
use super::injection::Injection;
use super::suspicion::{Findings, KnownSenders, inspect};
use super::task::{Task, tasks};
use super::{AgreedUrgency, MailContext};
use crate::mail::message::MailMessage;
use crate::text;

/// What kind of thing a mail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Category {
    /// It wants something, and soon.
    Urgent,
    /// It wants something.
    Action,
    /// It is about meeting.
    Meeting,
    /// Another person does something.
    Waiting,
    /// It tells something.
    Fyi,
    /// It went to many.
    Newsletter,
    /// It is not what it seems to be.
    Suspicious,
}

impl Category {
    /// All of them, the most pressing first.
    pub const ALL: [Self; 7] =
        [Self::Urgent, Self::Action, Self::Meeting, Self::Waiting, Self::Fyi, Self::Newsletter, Self::Suspicious];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Urgent => "urgent",
            Self::Action => "action",
            Self::Meeting => "meeting",
            Self::Waiting => "waiting",
            Self::Fyi => "fyi",
            Self::Newsletter => "newsletter",
            Self::Suspicious => "suspicious",
        }
    }
}

/// What a mail wants, and how soon.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Verdict {
    pub priority: f64,
    pub category: Category,
    /// The heaviest reasons.
    pub why: Vec<String>,
    pub suggested_actions: Vec<&'static str>,
    pub tasks: Vec<Task>,
    pub summary: String,
    pub warnings: Vec<String>,
}

/// The least priority of an urgent mail.
const URGENT: f64 = 0.6;
/// Hours within which something is due soon: until the end of tomorrow.
const SOON_H: f64 = 37.0;
/// Hours for which something that was due is still pressing.
const JUST_MISSED_H: f64 = -48.0;
/// Days after which words of urgency have worn off.
const WORN_OFF_D: f64 = 5.0;

/// Judges a mail.
pub(crate) fn judge(message: &MailMessage, at: &MailContext, known: &KnownSenders) -> Verdict {
    let evidence = Evidence::of(message, at);
    let Findings { warnings, is_suspicious } = inspect(message, known);
    let category = match category(message, at, &evidence) {
        _ if is_suspicious => Category::Suspicious,
        // What is urgent in a mail that gives orders to a program is part of the order.
        Category::Urgent if message.order.is_some() => Category::Fyi,
        category => category,
    };
    let priority = match category {
        Category::Suspicious => evidence.priority().min(0.3),
        Category::Newsletter => evidence.priority().min(0.25),
        Category::Urgent => evidence.priority().max(URGENT),
        _ => evidence.priority().min(URGENT - 0.01),
    };
    let tasks = match category {
        Category::Suspicious | Category::Newsletter => Vec::new(),
        _ if message.order.is_some() => Vec::new(),
        _ => tasks(&evidence.sentences, &message.subject, at),
    };
    // What speaks against an urgent mail does not explain why it is one.
    let explains = |reason: &&Reason| category != Category::Urgent || reason.weight > 0.0;
    let why = evidence.reasons.iter().filter(explains).map(|reason| reason.sentence.clone());
    let warned = warnings.first().filter(|_| is_suspicious).map(|warning| format!("It {warning}."));
    let ordered = message.order.as_ref().map(Injection::reason);
    let why = warned.into_iter().chain(ordered).chain(why).take(3).collect();
    Verdict {
        priority,
        category,
        why,
        suggested_actions: match message.order {
            Some(_) if category != Category::Suspicious => vec!["read"],
            _ => actions(category, !tasks.is_empty()),
        },
        summary: summary(message, category, &tasks, at),
        tasks,
        warnings,
    }
}

fn category(message: &MailMessage, at: &MailContext, evidence: &Evidence) -> Category {
    let wants = evidence.is_request || evidence.is_question;
    if evidence.is_mass || (evidence.is_promotion && at.written_to == 0) {
        let is_for_owner = wants
            && !evidence.is_promotion
            && evidence.sentences.iter().any(|(sentence, _)| sentence.has_any(PERSONAL));
        return match () {
            () if is_for_owner => Category::Action,
            () if (evidence.is_transaction || message.automatic) && !evidence.is_promotion => Category::Fyi,
            () => Category::Newsletter,
        };
    }
    if at.is_answered {
        return Category::Waiting;
    }
    // The owner's statement overrides what the mail says of itself.
    let is_urgent = match at.agreed {
        Some(agreed) => agreed == AgreedUrgency::Urgent,
        None => is_urgent(message, evidence),
    };
    if is_urgent {
        return Category::Urgent;
    }
    let invite = message.invite.as_ref();
    match () {
        () if invite.is_some_and(|invite| invite.asks() || invite.method == "CANCEL") => Category::Meeting,
        () if invite.is_some() => Category::Fyi,
        () if message.automatic && evidence.is_transaction && !evidence.is_request => Category::Fyi,
        () if message.automatic && evidence.is_waiting => Category::Waiting,
        () if !evidence.is_for_me => Category::Fyi,
        () if evidence.is_talk && !(evidence.is_request && (at.written_to > 0 || at.is_contact)) => Category::Fyi,
        () if evidence.is_meeting => Category::Meeting,
        () if evidence.is_waiting && !evidence.is_request => Category::Waiting,
        () if evidence.only_tells && !evidence.is_question => Category::Fyi,
        () if evidence.is_request && !evidence.is_settled => Category::Action,
        () if evidence.is_question && !message.automatic => Category::Action,
        () => Category::Fyi,
    }
}

/// Words of a message from many that nevertheless means one.
const PERSONAL: &str = "requested your review, assigned to you, assigned you, mentioned you, your approval, needs your";

/// Whether it cannot wait: something is wanted soon, or is said to be urgent, or is broken; and nothing speaks against it.
fn is_urgent(message: &MailMessage, evidence: &Evidence) -> bool {
    let wants = evidence.is_request || evidence.is_question;
    let is_due = evidence.deadline.is_some_and(|(mention, hours)| {
        let is_certain = mention.is_limit || evidence.is_request;
        (JUST_MISSED_H..=SOON_H).contains(&hours) && is_certain
    });
    let is_fresh = evidence.age_d <= WORN_OFF_D;
    let is_new = evidence.age_d <= 1.0;
    // An end that is far away contradicts the word.
    let is_far = evidence.deadline.is_some_and(|(_, hours)| hours > 5.0 * 24.0);
    let is_later = evidence.deadline.is_some_and(|(_, hours)| hours > SOON_H);
    // What is not asked for in so many words may still be wanted: of something that comes today, of a person who waits.
    let is_at_hand = evidence.is_today && (evidence.is_request || evidence.is_missing || evidence.has_stakes)
        || evidence.comes_today && evidence.is_question
        || evidence.is_present && (wants || evidence.is_missing)
        || evidence.has_stakes && evidence.is_request;
    let is_pressing = is_due && (wants || evidence.is_urgent || evidence.is_missing)
        || is_fresh && evidence.is_broken && (wants || message.automatic || evidence.is_urgent || evidence.has_stakes)
        // A program's word alone is only a word.
        || is_fresh && !is_far && evidence.is_urgent && !message.automatic && (wants || evidence.deadline.is_some())
        || is_new && !is_later && !evidence.is_meeting && is_at_hand
        || is_fresh && message.importance > 0 && evidence.is_request && !evidence.is_meeting;
    let is_over = evidence.is_calm || evidence.is_settled || !evidence.is_for_me;
    let is_reply = message.invite.as_ref().is_some_and(|invite| !invite.asks());
    is_pressing && !is_over && !is_reply && evidence.priority() >= URGENT
}

fn actions(category: Category, has_tasks: bool) -> Vec<&'static str> {
    let mut actions = match category {
        Category::Urgent => vec!["reply_urgent"],
        Category::Action => vec!["reply"],
        Category::Meeting => vec!["check_calendar", "reply"],
        Category::Waiting => vec!["follow_up_later"],
        Category::Fyi => vec!["read", "archive"],
        Category::Newsletter => vec!["archive", "unsubscribe"],
        Category::Suspicious => return vec!["do_not_open_links", "report_phishing"],
    };
    if has_tasks && matches!(category, Category::Urgent | Category::Action) {
        actions.push("create_task");
    }
    actions
}

fn summary(message: &MailMessage, category: Category, tasks: &[Task], at: &MailContext) -> String {
    let who = message.from.called();
    let subject = match message.topic() {
        "" => "(no subject)",
        subject => subject,
    };
    let words = match category {
        Category::Suspicious if message.order.is_some() => {
            let words = format!(
                "{who} gives orders to a program that reads your mail: “{subject}”. Do not answer or open anything."
            );
            return text::line(&words, 240);
        }
        Category::Suspicious => {
            return text::line(&format!("Claims to be {who}: “{subject}”. Do not answer or open anything."), 240);
        }
        Category::Newsletter => format!("{who} sent a newsletter: {subject}"),
        Category::Meeting => match message.invite.as_ref().filter(|invite| !invite.title.is_empty()) {
            Some(invite) => format!("{who} invites you: {}", invite.title),
            None => format!("{who} wants to meet: {subject}"),
        },
        _ => match tasks.first() {
            Some(task) => {
                let days = task.due.map(|due| at.now.date().until((Unit::Day, due)).map_or(0, |span| span.get_days()));
                let due = match (days, task.due) {
                    (Some(..0), _) => ", overdue".to_owned(),
                    (Some(0), _) => ", due today".to_owned(),
                    (Some(1), _) => ", due tomorrow".to_owned(),
                    (_, Some(due)) => format!(", due {}", due.strftime("%A, %-d %B")),
                    (_, None) => String::new(),
                };
                format!("{who}: {}{due} ({subject})", task.title)
            }
            None => format!("{who}: {subject}"),
        },
    };
    let words = text::line(&words, 220);
    if words.ends_with(['.', '!', '?', '…']) { words } else { format!("{words}.") }
}
