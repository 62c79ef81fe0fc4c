//! The merged layers as types.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent::Mode;
use agent::budget::Grant;
use agent::policy::Policy;
use provider::{CacheTime, Effort, ModelEntry, Wire};
use serde::Deserialize;
use toml::Value;

use super::kind::{UNLIMITED, microusd};
use super::layer::{Layers, Setting};
use super::{
    Durability, HooksConfig, HouseholdConfig, InstructionsConfig, SandboxKind, SkillsConfig, TasksConfig, UnknownPrice,
    WebConfig,
};

/// Everything that can be configured. Every value was checked where it was read.
#[derive(Deserialize)]
pub(super) struct Values {
    pub(super) model: Option<String>,
    pub(super) agent: String,
    pub(super) mode: Mode,
    pub(super) preset: String,
    pub(super) dialect: String,
    pub(super) data: PathBuf,
    pub(super) policy: Policy,
    #[serde(default)]
    pub(super) grant: GrantTable,
    #[serde(default)]
    pub(super) household: HouseholdConfig,
    pub(super) tasks: TasksConfig,
    pub(super) instructions: InstructionsConfig,
    pub(super) skills: SkillsConfig,
    pub(super) hooks: HooksConfig,
    pub(super) web: WebConfig,
    pub(super) store: StoreTable,
    pub(super) workspace: WorkspaceTable,
    pub(super) sandbox: SandboxTable,
    #[serde(default)]
    pub(super) mcp: McpTable,
    pub(super) providers: BTreeMap<String, ProviderTable>,
    #[serde(default)]
    pub(super) models: BTreeMap<String, ModelEntry>,
}

/// `[grant]`; what is not there is unlimited.
#[derive(Default, Deserialize)]
pub(super) struct GrantTable {
    pub(super) tool_calls: Option<u32>,
    pub(super) requests: Option<u32>,
    pub(super) tokens: Option<u64>,
    pub(super) cost: Option<f64>,
    pub(super) timeout_s: Option<u64>,
    #[serde(default)]
    pub(super) unknown_price: UnknownPrice,
}

/// `[store]`.
#[derive(Deserialize)]
pub(super) struct StoreTable {
    pub(super) url: Option<String>,
    pub(super) durability: Durability,
    pub(super) machine: Option<String>,
}

/// `[workspace]`.
#[derive(Deserialize)]
pub(super) struct WorkspaceTable {
    pub(super) shared: bool,
}

/// `[sandbox]`.
#[derive(Deserialize)]
pub(super) struct SandboxTable {
    pub(super) kind: SandboxKind,
}

/// `[mcp]`.
#[derive(Default, Deserialize)]
pub(super) struct McpTable {
    pub(super) schema_tokens: Option<usize>,
    #[serde(default)]
    pub(super) servers: BTreeMap<String, ServerTable>,
}

/// `[mcp.servers.NAME]`.
#[derive(Deserialize)]
pub(super) struct ServerTable {
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) pass_env: Vec<String>,
    pub(super) cwd: Option<String>,
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) network: Option<bool>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) call_s: Option<u64>,
    pub(super) schema_tokens: Option<usize>,
    pub(super) trusted: Option<bool>,
    pub(super) sampling: Option<bool>,
    pub(super) enabled: Option<bool>,
}

/// `[providers.NAME]`.
#[derive(Deserialize)]
pub(super) struct ProviderTable {
    pub(super) wire: Wire,
    pub(super) base_url: String,
    pub(super) key_env: Option<String>,
    pub(super) bearer: Option<bool>,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    pub(super) organization: Option<String>,
    pub(super) project: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) connect_s: Option<u64>,
    pub(super) first_byte_s: Option<u64>,
    pub(super) idle_s: Option<u64>,
    pub(super) retries: Option<u32>,
    pub(super) retry_s: Option<u64>,
    pub(super) max_retry_after_s: Option<u64>,
    pub(super) concurrency: Option<usize>,
    pub(super) effort: Option<Effort>,
    pub(super) thinking_tokens: Option<u64>,
    pub(super) temperature: Option<f64>,
    #[serde(default)]
    pub(super) body: BTreeMap<String, serde_json::Value>,
    pub(super) parent_cache: Option<CacheTime>,
}

impl Values {
    pub(super) fn of(layers: &Layers) -> Self {
        let limited = layers
            .settings()
            .filter(|setting| setting.key.section() != "grant" || setting.value.as_str() != Some(UNLIMITED));
        Value::Table(nested(limited)).try_into().expect("values were checked where they were read")
    }

    /// What a root may spend.
    pub(super) fn root_grant(&self) -> Grant {
        Grant {
            tool_calls: self.grant.tool_calls,
            requests: self.grant.requests,
            tokens: self.grant.tokens,
            cost_microusd: self.grant.cost.map(microusd),
            time_ms: self.grant.timeout_s.map(|seconds| seconds * 1000),
            not_after: None,
            depth: self.policy.max_depth,
            descendants: self.policy.max_children,
        }
    }
}

/// Flat settings as the tables they came from.
pub(crate) fn nested<'a>(settings: impl Iterator<Item = &'a Setting>) -> toml::Table {
    let mut root = toml::Table::new();
    for setting in settings {
        let (last, above) = setting.key.parts().split_last().expect("a key has parts");
        let mut table = &mut root;
        for part in above {
            let below = table.entry(part.as_str()).or_insert_with(|| Value::Table(toml::Table::new()));
            table = below.as_table_mut().expect("no known key is another's table");
        }
        table.insert(last.clone(), setting.value.clone());
    }
    root
}
