//! The providers that can be asked, with their keys resolved: those that are known without configuration, then the user's own.
//!
//! A key is named by its variable. It goes from there into a [`Secret`] and is never a setting, so that nothing can show it.

use std::collections::BTreeMap;
use std::time::Duration;

use agent::model::Patience;
use provider::{BuiltinProvider, ModelSettings, ProviderConfig, Secret, Timeouts, builtin_providers};

use super::key;
use super::layer::Layers;
use super::origin::Origin;
use super::surroundings::Surroundings;
use super::values::ProviderTable;

/// Every provider that the layers know.
pub(super) fn resolved(
    mut tables: BTreeMap<String, ProviderTable>,
    layers: &Layers,
    surroundings: &Surroundings,
) -> Vec<ProviderConfig> {
    let known =
        builtin_providers().iter().map(|known| known.name.to_owned()).filter_map(|name| tables.remove_entry(&name));
    let known: Vec<_> = known.collect();
    let provider = |(name, table): (String, ProviderTable)| {
        let known = builtin_providers().iter().find(|known| known.name == name);
        let needs_key = known.is_some_and(|known| known.needs_key);
        let account = known.and_then(|known| known.account_envs);
        let of_account = |nth: usize| account.and_then(|envs| surroundings.variable(envs[nth])).map(str::to_owned);
        let (organization, project) = (of_account(0), of_account(1));
        let (timeouts, patience) = (timeouts(&table), patience(&table));
        let Key { variable: key_env, value: key, is_token } = Key::of(table.key_env.clone(), known, surroundings);
        ProviderConfig {
            key: key.map(Secret::new),
            // A server at an address of the user's own may ask for none.
            needs_key: needs_key && is_usual(&address_origin(layers, &name)),
            wire: table.wire,
            key_env,
            headers: table.headers.into_iter().map(|(name, value)| (name, Secret::new(&value))).collect(),
            organization: table.organization.or(organization),
            project: table.project.or(project),
            timeouts,
            patience,
            concurrency: table.concurrency,
            settings: ModelSettings {
                effort: table.effort,
                thinking_tokens: table.thinking_tokens,
                temperature: table.temperature,
                body: table.body,
                parent_cache: table.parent_cache,
            },
            proxy: table.proxy,
            ca_file: table.ca_file,
            bearer: table.bearer.unwrap_or(is_token),
            name,
            base_url: table.base_url,
        }
    };
    known.into_iter().chain(tables).map(provider).collect()
}

/// A provider's key.
struct Key<'a> {
    /// The variable that holds it, or would.
    variable: Option<String>,
    value: Option<&'a str>,
    /// Whether it is a token, which is sent as `Authorization: Bearer`.
    is_token: bool,
}

impl<'a> Key<'a> {
    /// The key in its own variable. Another usual variable counts where nothing else was configured, a token where there is no key.
    fn of(key_env: Option<String>, known: Option<&'static BuiltinProvider>, surroundings: &'a Surroundings) -> Self {
        let value = key_env.as_deref().and_then(|variable| surroundings.variable(variable));
        let known = known.filter(|known| value.is_none() && known.key_env == key_env.as_deref());
        let others = known.map(|known| [(known.other_key_env, false), (known.token_env, true)]);
        let found = others.into_iter().flatten().find_map(|(variable, is_token)| {
            let (variable, value) = (variable?, surroundings.variable(variable?)?);
            Some(Self { variable: Some(variable.to_owned()), value: Some(value), is_token })
        });
        found.unwrap_or(Self { variable: key_env, value, is_token: false })
    }
}

fn timeouts(table: &ProviderTable) -> Timeouts {
    let usual = Timeouts::usual(&table.base_url);
    let seconds = |own: Option<u64>, usual: Duration| own.map_or(usual, Duration::from_secs);
    Timeouts {
        connect: seconds(table.connect_s, usual.connect),
        first_byte: seconds(table.first_byte_s, usual.first_byte),
        idle: seconds(table.idle_s, usual.idle),
    }
}

fn patience(table: &ProviderTable) -> Patience {
    let usual = Patience::default();
    let ms = |own: Option<u64>, usual: u64| own.map_or(usual, |seconds| seconds * 1000);
    Patience {
        retries: table.retries.unwrap_or(usual.retries),
        retry_ms: ms(table.retry_s, usual.retry_ms),
        longest_wish_ms: ms(table.max_retry_after_s, usual.longest_wish_ms),
    }
}

/// Who said where a provider is.
pub(super) fn address_origin(layers: &Layers, provider: &str) -> Origin {
    let address = layers.setting(&key::Key::new(["providers", provider, "base_url"]));
    address.map_or(Origin::Default, |setting| setting.origin.clone())
}

/// Whether nobody said it.
pub(super) fn is_usual(origin: &Origin) -> bool {
    *origin == Origin::Default
}
