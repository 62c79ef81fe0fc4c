//! Health, agents, models, settings, and what was used.

use agent::Mode;
use axum::Json;
use axum::extract::State;
use majordomo::models::{Lists, ModelRow};
use schemars::JsonSchema;
use serde::Deserialize;
use store::{Execution, UsageRow};

use super::extract::QueryParams;
use crate::problem::Problem;
use crate::server::Shared;
use crate::shapes::{self, AgentRole, Health, Models, Setting};

/// `GET healthz`: that the server is up, and nothing else.
pub async fn health() -> Json<Health> {
    Json(Health { status: "ok".to_owned() })
}

/// `GET agents`.
pub async fn agents(State(shared): State<Shared>) -> Json<Vec<AgentRole>> {
    let agents = shared.staff.agents().map(|agent| AgentRole {
        id: agent.name.to_string(),
        description: agent.description.to_string(),
        model: agent.model.as_deref().map(str::to_owned),
        mode: agent.mode.map(mode),
        tools: agent.tools.as_ref().map(|tools| tools.iter().map(ToString::to_string).collect()),
    });
    Json(agents.collect())
}

fn mode(mode: Mode) -> shapes::Mode {
    match mode {
        Mode::Plan => shapes::Mode::Plan,
        Mode::Ask => shapes::Mode::Ask,
        Mode::Auto => shapes::Mode::Auto,
        Mode::Dangerous => shapes::Mode::Dangerous,
    }
}

/// Whose models are wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfProvider {
    /// A provider, which is asked for its own list. Without it, no provider is asked.
    provider: Option<String>,
}

/// `GET models`: the model of a new thread, the providers, and what is known of their models.
pub async fn models(
    State(shared): State<Shared>,
    QueryParams(of): QueryParams<OfProvider>,
) -> Result<Json<Models>, Problem> {
    let (model, reason) = match shared.staff.model() {
        Ok(model) => (Some(model.to_owned()), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let all = shared.staff.models();
    let providers: Vec<String> = all.providers().map(str::to_owned).collect();
    if let Some(unknown) = of.provider.as_ref().filter(|name| !providers.contains(name)) {
        let known = providers.join(", ");
        return Err(Problem::missing(format!("there is no provider '{unknown}'; there are: {known}")));
    }
    let lists = if of.provider.is_some() { Lists::Asked } else { Lists::Table };
    let listed = all.list(of.provider.as_deref(), lists).await;
    let missing = listed.iter().filter_map(|of| of.missing.clone()).collect();
    let models = listed.into_iter().flat_map(|of| of.models).map(ModelRow::info).collect();
    Ok(Json(Models { model, reason, providers, models, missing }))
}

/// Whose sub-agents are wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfWorkflow {
    /// A root, or any thread of its family.
    workflow: String,
}

/// `GET executions?workflow=`.
pub async fn executions(
    State(shared): State<Shared>,
    QueryParams(of): QueryParams<OfWorkflow>,
) -> Result<Json<Vec<Execution>>, Problem> {
    let root = shared.store().resolve(&of.workflow).await?.root();
    Ok(Json(shared.store().executions(&root).await?))
}

/// Whose usage is wanted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfRoot {
    /// Only that of this root and its descendants.
    root: Option<String>,
}

/// `GET usage`.
pub async fn usage(
    State(shared): State<Shared>,
    QueryParams(of): QueryParams<OfRoot>,
) -> Result<Json<Vec<UsageRow>>, Problem> {
    let root = match &of.root {
        Some(name) => Some(shared.store().resolve(name).await?.root()),
        None => None,
    };
    Ok(Json(shared.store().usage(root.as_ref()).await?))
}

/// `GET config`: every value with its origin. Keys are not among them.
pub async fn config(State(shared): State<Shared>) -> Json<Vec<Setting>> {
    let entries = shared.staff.config().entries().iter().map(|entry| Setting {
        key: entry.key.clone(),
        value: entry.value.clone(),
        origin: entry.origin.to_string(),
    });
    Json(entries.collect())
}
