//! `approvals`: what agents ask a person's consent for, and the person's word on it.

use std::sync::Arc;

use agent::Json;
use agent::approval::{Decision, Resolution, Scope};
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use majordomo::decide::{Came, decide, standing_rule, words, write_rule};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{ApprovalQuery, ApprovalStatus, Process};

use super::threads::body;
use crate::problem::Problem;
use crate::window::Shared;

const LISTED: usize = 200;

/// Which questions are wanted.
#[derive(Deserialize)]
pub struct Listing {
    /// Also those that are answered.
    #[serde(default)]
    all: bool,
    limit: Option<usize>,
}

/// `GET approvals`.
pub async fn list(State(shared): State<Shared>, Query(listing): Query<Listing>) -> Result<axum::Json<Value>, Problem> {
    let query = ApprovalQuery { open_only: !listing.all, limit: listing.limit.unwrap_or(LISTED).min(LISTED) };
    Ok(axum::Json(json!(shared.store().approvals(query).await?)))
}

/// `GET approvals/{id}`.
pub async fn show(State(shared): State<Shared>, Path(id): Path<String>) -> Result<axum::Json<Value>, Problem> {
    Ok(axum::Json(json!(shared.store().find_approval(&id).await?)))
}

/// A person's word on what was shown.
#[derive(Deserialize)]
pub struct Word {
    decision: Verdict,
    /// What was shown: consent is for that and for nothing else.
    digest: Arc<str>,
    #[serde(default = "once")]
    scope: Scope,
    reason: Option<Arc<str>>,
    /// Other arguments, in the place of the agent's.
    input: Option<Json>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    #[serde(alias = "yes", alias = "approve")]
    Allow,
    #[serde(alias = "no", alias = "reject")]
    Deny,
}

fn once() -> Scope {
    Scope::Once
}

/// `POST approvals/{id}/decision`: taken once, for exactly what was shown.
pub async fn decision(
    shared: State<Shared>,
    Path(id): Path<String>,
    sent: Bytes,
) -> Result<axum::Json<Value>, Problem> {
    Ok(axum::Json(taken(shared.0, id, body(&sent)?).await?))
}

/// A decision on its way to whoever asks.
async fn taken(shared: Shared, id: String, word: Word) -> Result<Value, Problem> {
    let row = shared.store().find_approval(&id).await?;
    let question = row.question;
    if row.status != ApprovalStatus::Pending {
        return Err(Problem::conflict(format!("{} is {} already", question.id, row.status)));
    }
    if question.digest != word.digest {
        return Err(Problem::conflict("what is asked is not what was shown: look at it again"));
    }
    if question.expires_at <= shared.staff.heart().clock().now() {
        return Err(Problem::new(StatusCode::GONE, format!("{} has expired, and counts as refused", question.id)));
    }
    let decision = match word.decision {
        Verdict::Allow if word.scope != Scope::Once && standing_rule(&question).is_none() => {
            return Err(Problem::unusable("consent beyond this call is not offered for this"));
        }
        Verdict::Allow => Decision::Allow { scope: word.scope, input: word.input },
        Verdict::Deny => Decision::Deny { reason: word.reason.filter(|reason| !reason.trim().is_empty()) },
    };
    let who = format!("{}/{}", Process::current().id, runtime::short_name());
    match decide(shared.store(), &question, decision, &who).await? {
        Came::Resolved(resolution) => {
            if matches!(resolution, Resolution::Allowed { scope: Scope::Always, .. }) {
                write_rule(&shared.staff.config().data, &question).map_err(|error| {
                    Problem::new(
                        StatusCode::INTERNAL_SERVER_ERROR,
                        format!("the rule could not be written down: {error}"),
                    )
                })?;
            }
            Ok(json!({ "id": question.id, "status": resolution.as_str(), "words": words(&resolution) }))
        }
        Came::Kept => Ok(json!({ "id": question.id, "status": "decided", "words": "kept until the run is resumed" })),
        Came::Nothing(why) => Err(Problem::conflict(why.to_string())),
    }
}
