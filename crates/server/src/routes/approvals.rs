//! `approvals`: what agents ask a person, for consent or for an answer, and the person's word on it.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent::approval::{Approval, ApprovalId, Decision, Resolution};
use axum::Json;
use axum::extract::State;
use majordomo::decide::{DecisionOutcome, standing_rule, words};
use schemars::JsonSchema;
use serde::Deserialize;
use store::{ApprovalQuery, ApprovalRow, ApprovalStatus};

use super::extract::{Limit, PathParam, QueryParams, Switch};
use super::repeat::Keyed;
use crate::problem::Problem;
use crate::server::Shared;
use crate::shapes::{Decided, Scope, Verdict, Word};

/// Questions that are listed with those that are answered, where no limit is given.
const LISTED: usize = 200;
/// The most that can be asked for.
const MOST_LISTED: usize = 500;

/// Which questions are wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Also those that are answered.
    #[serde(default)]
    all: Switch,
    /// At most so many. Without it, everything that is open, and of those that are answered the newest.
    limit: Option<Limit<MOST_LISTED>>,
}

/// `GET approvals`.
pub async fn list(
    State(shared): State<Shared>,
    QueryParams(listing): QueryParams<Listing>,
) -> Result<Json<Vec<ApprovalRow>>, Problem> {
    let store = shared.store();
    let limit = listing.limit.map(|Limit(limit)| limit);
    let open = ApprovalQuery { open_only: true, limit: limit.unwrap_or(usize::MAX) };
    let open = store.approvals(open).await?;
    if !listing.all.0 {
        return Ok(Json(open));
    }
    let newest = ApprovalQuery { open_only: false, limit: limit.unwrap_or(LISTED) };
    let mut rows = store.approvals(newest).await?;
    if limit.is_none() {
        // What is still open is listed, however much was asked since.
        let listed: BTreeSet<ApprovalId> = rows.iter().map(|row| row.question.id.clone()).collect();
        rows.extend(open.into_iter().filter(|row| !listed.contains(&row.question.id)));
    }
    Ok(Json(rows))
}

/// `GET approvals/{id}`.
pub async fn show(State(shared): State<Shared>, PathParam(id): PathParam) -> Result<Json<ApprovalRow>, Problem> {
    Ok(Json(shared.store().find_approval(&id).await?))
}

/// `POST approvals/{id}/decision`: taken once, for exactly what was shown.
pub async fn decision(
    State(shared): State<Shared>,
    PathParam(id): PathParam,
    Keyed { key, body: word }: Keyed<Word>,
) -> Result<Json<Decided>, Problem> {
    let row = shared.store().find_approval(&id).await?;
    let question = row.question;
    let thread = question.id.thread();
    if let Some(key) = &key
        && key.is_sent(&**shared.store(), &thread).await?
        && let Some(resolution) = key.decided(&**shared.store(), &thread).await?
    {
        return Ok(Json(Decided {
            id: question.id.to_string(),
            status: status(&resolution),
            words: words(&resolution),
        }));
    }
    match row.status {
        ApprovalStatus::Pending => {}
        ApprovalStatus::Expired | ApprovalStatus::Unanswered | ApprovalStatus::Withdrawn => {
            return Err(Problem::over(format!("{} is {}, and no longer asked", question.id, row.status)));
        }
        status @ (ApprovalStatus::Decided
        | ApprovalStatus::Approved
        | ApprovalStatus::Answered
        | ApprovalStatus::Denied
        | ApprovalStatus::Forbidden) => {
            return Err(Problem::conflict(format!("{} is {status} already", question.id)));
        }
    }
    if word.digest.as_ref().is_some_and(|digest| **digest != *question.digest) {
        return Err(Problem::conflict("what is asked is not what was shown: look at it again"));
    }
    if question.expires_at <= shared.staff.runtime().clock().now() {
        return Err(Problem::over(format!("{} has expired, and counts as refused", question.id)));
    }
    let decision = decided(&question, word)?;
    let session = shared.staff.session_of(&thread);
    let outcome = match key {
        Some(key) => session.decide_as(key.input(), &question, decision).await?,
        None => session.decide(&question, decision).await?,
    };
    let (status, words) = match outcome {
        DecisionOutcome::Resolved(resolution) => (status(&resolution), words(&resolution)),
        DecisionOutcome::Kept => (ApprovalStatus::Decided, "kept until the run is resumed".to_owned()),
        DecisionOutcome::Nothing(why) => return Err(Problem::conflict(why.to_string())),
    };
    Ok(Json(Decided { id: question.id.to_string(), status, words }))
}

/// What a person's word is to what was asked.
fn decided(question: &Approval, word: Word) -> Result<Decision, Problem> {
    let asked = question.question.as_ref();
    let is_question = asked.is_some();
    let Word { decision, digest, scope: wide, reason, input, answer } = word;
    match (decision, answer) {
        (Some(_), Some(_)) => Err(Problem::unusable("send either a decision or an answer")),
        (None, None) if is_question => Err(Problem::unusable("this is a question: send {\"answer\": \"…\"}")),
        (None, None) => Err(Problem::unusable("send a decision: allow or deny")),
        (None, Some(answer)) => {
            let what_else = "this asks whether a call may be made: send a decision, allow or deny";
            let asked = asked.ok_or_else(|| Problem::unusable(what_else))?;
            let text = asked.answer(&answer).ok_or_else(|| Problem::unusable("the answer is empty"))?;
            Ok(Decision::Answer { text })
        }
        (Some(Verdict::Deny), None) if is_question => Ok(Decision::Deny { reason: given(reason) }),
        (Some(Verdict::Allow), None) if is_question => {
            Err(Problem::unusable("this is a question: send {\"answer\": \"…\"}, or the decision deny"))
        }
        (Some(_), None) if digest.is_none() => {
            Err(Problem::unusable("digest is missing: consent is for exactly what was shown"))
        }
        (Some(Verdict::Deny), None) => Ok(Decision::Deny { reason: given(reason) }),
        (Some(Verdict::Allow), None) if wide != Scope::Once && standing_rule(question).is_none() => {
            Err(Problem::unusable("this call can only be allowed once"))
        }
        (Some(Verdict::Allow), None) => Ok(Decision::Allow { scope: scope(wide), input }),
    }
}

fn given(reason: Option<String>) -> Option<Arc<str>> {
    reason.filter(|reason| !reason.trim().is_empty()).map(Into::into)
}

fn scope(scope: Scope) -> agent::approval::Scope {
    match scope {
        Scope::Once => agent::approval::Scope::Once,
        Scope::Thread => agent::approval::Scope::Thread,
        Scope::Always => agent::approval::Scope::Always,
    }
}

fn status(resolution: &Resolution) -> ApprovalStatus {
    match resolution {
        Resolution::Allowed { .. } => ApprovalStatus::Approved,
        Resolution::Answered { .. } => ApprovalStatus::Answered,
        Resolution::Denied { .. } => ApprovalStatus::Denied,
        Resolution::Forbidden { .. } => ApprovalStatus::Forbidden,
        Resolution::Expired { .. } => ApprovalStatus::Expired,
        Resolution::Unanswered { .. } => ApprovalStatus::Unanswered,
        Resolution::Withdrawn { .. } => ApprovalStatus::Withdrawn,
    }
}
