//! The house itself: its agents, models, settings, and what was used.

use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::window::Shared;

/// `GET healthz`: that somebody is here, and nothing else.
pub async fn health() -> axum::Json<Value> {
    axum::Json(json!({ "status": "ok" }))
}

/// `GET agents`.
pub async fn agents(State(shared): State<Shared>) -> axum::Json<Value> {
    let agents = shared.staff.agents().map(|agent| {
        json!({
            "id": agent.name, "description": agent.description, "model": agent.model, "mode": agent.mode,
            "tools": agent.tools,
        })
    });
    axum::Json(agents.collect())
}

/// `GET models`: what a root speaks with, and who can be asked.
pub async fn models(State(shared): State<Shared>) -> axum::Json<Value> {
    let model = shared.staff.model().map(str::to_owned);
    axum::Json(json!({
        "model": model.as_ref().ok(),
        "reason": model.as_ref().err().map(ToString::to_string),
        "providers": shared.staff.providers().collect::<Vec<_>>(),
    }))
}

/// Whose sub-agents are wanted.
#[derive(Deserialize)]
pub struct Workflow {
    workflow: String,
}

/// `GET executions?workflow=`.
pub async fn executions(
    State(shared): State<Shared>,
    Query(of): Query<Workflow>,
) -> Result<axum::Json<Value>, Problem> {
    let root = shared.store().resolve(&of.workflow).await?.root();
    Ok(axum::Json(json!(shared.store().executions(&root).await?)))
}

/// Whose usage is wanted.
#[derive(Deserialize)]
pub struct Root {
    root: Option<String>,
}

/// `GET usage`.
pub async fn usage(State(shared): State<Shared>, Query(of): Query<Root>) -> Result<axum::Json<Value>, Problem> {
    let root = match &of.root {
        Some(name) => Some(shared.store().resolve(name).await?.root()),
        None => None,
    };
    Ok(axum::Json(json!(shared.store().usage(root.as_ref()).await?)))
}

/// `GET config`: every value with its origin. Keys are not among them.
pub async fn config(State(shared): State<Shared>) -> axum::Json<Value> {
    let entries = shared.staff.config().entries().iter();
    axum::Json(
        entries
            .map(|entry| json!({ "key": entry.key, "value": entry.value, "origin": entry.origin.to_string() }))
            .collect(),
    )
}
