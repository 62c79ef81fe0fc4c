//! Questions to people: what is kept of each, and how it is folded from the log.
//!
//! What a question is and who may answer it is left to the rules (`agent::approval`). A store may keep the rows in a table of
//! its own, written together with the events ([`change`] says what an event changes in it); one that does not folds them
//! from its log when it is asked.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use agent::approval::{Approval, ApprovalId, ApprovalKind, Resolution};
use agent::{Event, InputId, Outside, ThreadId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::log::Record;

/// A question to a person, and its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Approval")]
pub struct ApprovalRow {
    /// What is asked, as it was asked.
    #[serde(flatten)]
    #[schemars(with = "schema::Approval")]
    pub question: Approval,
    /// What kind of answer is wanted.
    #[schemars(with = "schema::ApprovalKind")]
    pub kind: ApprovalKind,
    /// The thread that asks.
    #[schemars(with = "String")]
    pub thread: ThreadId,
    /// The root of its family.
    #[schemars(with = "String")]
    pub root: ThreadId,
    /// When it was asked.
    #[schemars(with = "schema::Moment")]
    pub requested_at: Time,
    /// What has come of it.
    pub status: ApprovalStatus,
    /// When it was decided, or came to its end without a decision.
    #[schemars(with = "Option<schema::Moment>")]
    pub decided_at: Option<Time>,
    /// Why it ended so: a person's words, a rule, or what the thread came to.
    pub reason: Option<Arc<str>>,
    /// What a person answered.
    pub answer: Option<Arc<str>>,
}

/// What has come of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// It is not decided.
    Pending,
    /// A decision is in the log, and the thread's owner has not taken it up yet.
    Decided,
    /// A person allowed it.
    Approved,
    /// A person answered it.
    Answered,
    /// A person refused it.
    Denied,
    /// A rule refuses it, whatever a person said.
    Forbidden,
    /// It was not decided in time.
    Expired,
    /// There was nobody to ask any more.
    Unanswered,
    /// It was no longer of use.
    Withdrawn,
}

impl ApprovalStatus {
    /// The word used in storage and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalStatus::Pending => "pending",
            ApprovalStatus::Decided => "decided",
            ApprovalStatus::Approved => "approved",
            ApprovalStatus::Answered => "answered",
            ApprovalStatus::Denied => "denied",
            ApprovalStatus::Forbidden => "forbidden",
            ApprovalStatus::Expired => "expired",
            ApprovalStatus::Unanswered => "unanswered",
            ApprovalStatus::Withdrawn => "withdrawn",
        }
    }

    /// Whether something may still come of it.
    pub fn is_open(self) -> bool {
        matches!(self, ApprovalStatus::Pending | ApprovalStatus::Decided)
    }
}

impl fmt::Display for ApprovalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which questions are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalQuery {
    /// Only those of which something may still come.
    pub open_only: bool,
    /// At most so many.
    pub limit: usize,
}

impl Default for ApprovalQuery {
    /// The newest hundred that are open.
    fn default() -> Self {
        Self { open_only: true, limit: 100 }
    }
}

/// What an event changes in the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A question was asked.
    Asked(Box<ApprovalRow>),
    /// A decision arrived; changes only a question that is pending.
    Decided { id: ApprovalId, by: InputId, at: Time },
    /// An input came to nothing; a question that it decided is pending again.
    Dropped { input: InputId },
    /// A question came to its end.
    Resolved { id: ApprovalId, at: Time, end: End },
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub status: ApprovalStatus,
    pub reason: Option<Arc<str>>,
    pub answer: Option<Arc<str>>,
}

/// What an event of a thread changes in the rows of that thread, and in no other's.
pub(crate) fn change(thread: &ThreadId, at: Time, event: &Event) -> Option<Change> {
    match event {
        Event::ApprovalRequested(question) => Some(Change::Asked(Box::new(ApprovalRow {
            question: (**question).clone(),
            kind: question.kind(),
            thread: thread.clone(),
            root: thread.root(),
            requested_at: at,
            status: ApprovalStatus::Pending,
            decided_at: None,
            reason: None,
            answer: None,
        }))),
        Event::InputArrived { id: by, input: Outside::Decided { approval, .. } } => {
            Some(Change::Decided { id: approval.clone(), by: by.clone(), at })
        }
        Event::InputDropped { input, .. } => Some(Change::Dropped { input: input.clone() }),
        Event::ApprovalResolved { approval, resolution, .. } => {
            Some(Change::Resolved { id: approval.clone(), at, end: ended(resolution) })
        }
        _ => None,
    }
}

/// Folds the rows from a log; the newest first.
pub(crate) fn fold<'a>(log: impl IntoIterator<Item = &'a Record>) -> Vec<ApprovalRow> {
    let mut folded: Vec<(ApprovalRow, Option<InputId>)> = Vec::new();
    let mut places: HashMap<ApprovalId, usize> = HashMap::new();
    for Record { thread, at, event, .. } in log {
        let Some(change) = change(thread, *at, event) else { continue };
        let own = |id: &ApprovalId, folded: &[(ApprovalRow, Option<InputId>)]| {
            places.get(id).copied().filter(|place| folded[*place].0.thread == *thread)
        };
        match change {
            Change::Asked(row) => {
                if !places.contains_key(&row.question.id) {
                    places.insert(row.question.id.clone(), folded.len());
                    folded.push((*row, None));
                }
            }
            Change::Decided { id, by, at } => {
                let Some(place) = own(&id, &folded) else { continue };
                let (row, decided_by) = &mut folded[place];
                if row.status == ApprovalStatus::Pending {
                    (row.status, row.decided_at, *decided_by) = (ApprovalStatus::Decided, Some(at), Some(by));
                }
            }
            Change::Dropped { input } => {
                let undecided =
                    folded.iter_mut().filter(|(row, by)| row.thread == *thread && by.as_ref() == Some(&input));
                for (row, decided_by) in undecided {
                    (row.status, row.decided_at, *decided_by) = (ApprovalStatus::Pending, None, None);
                }
            }
            Change::Resolved { id, at, end: End { status, reason, answer } } => {
                let Some(place) = own(&id, &folded) else { continue };
                let (row, decided_by) = &mut folded[place];
                if row.status.is_open() {
                    (row.status, row.reason, row.answer, *decided_by) = (status, reason, answer, None);
                    row.decided_at.get_or_insert(at);
                }
            }
        }
    }
    folded.into_iter().rev().map(|(row, _)| row).collect()
}

fn ended(resolution: &Resolution) -> End {
    let end = |status, reason: Option<&Arc<str>>| End { status, reason: reason.cloned(), answer: None };
    match resolution {
        Resolution::Allowed { .. } => end(ApprovalStatus::Approved, None),
        Resolution::Answered { text } => End { answer: Some(text.clone()), ..end(ApprovalStatus::Answered, None) },
        Resolution::Denied { reason } => end(ApprovalStatus::Denied, reason.as_ref()),
        Resolution::Forbidden { rule } => end(ApprovalStatus::Forbidden, Some(rule)),
        Resolution::Expired { rule } => end(ApprovalStatus::Expired, Some(rule)),
        Resolution::Unanswered { rule } => end(ApprovalStatus::Unanswered, Some(rule)),
        Resolution::Withdrawn { reason } => end(ApprovalStatus::Withdrawn, Some(reason)),
    }
}
