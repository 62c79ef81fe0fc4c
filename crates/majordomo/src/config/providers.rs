//! The providers that can be asked, with their keys resolved: those that are known without configuration, then the user's own.
//!
//! A key is named by its variable. It goes from there into a [`Secret`] and is never a setting, so that nothing can show it.

use std::collections::BTreeMap;

use provider::{BuiltinProvider, ProviderConfig, Secret, Timeouts, builtin_providers};

use super::key::Key;
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
        let (key_env, key) = key(table.key_env, known, surroundings);
        ProviderConfig {
            key: key.map(Secret::new),
            // A server at an address of the user's own may ask for none.
            needs_key: needs_key && is_usual(&address_origin(layers, &name)),
            name,
            wire: table.wire,
            base_url: table.base_url,
            key_env,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
        }
    };
    known.into_iter().chain(tables).map(provider).collect()
}

/// A provider's key and the variable that holds it. Another usual variable counts where nothing else was configured.
fn key<'a>(
    key_env: Option<String>,
    known: Option<&'static BuiltinProvider>,
    surroundings: &'a Surroundings,
) -> (Option<String>, Option<&'a str>) {
    let key = key_env.as_deref().and_then(|variable| surroundings.variable(variable));
    let is_usual = known.is_some_and(|known| known.key_env == key_env.as_deref());
    let other = known.and_then(|known| known.other_key_env).filter(|_| key.is_none() && is_usual);
    match other.and_then(|other| Some((other, surroundings.variable(other)?))) {
        Some((other, key)) => (Some(other.to_owned()), Some(key)),
        None => (key_env, key),
    }
}

/// Who said where a provider is.
pub(super) fn address_origin(layers: &Layers, provider: &str) -> Origin {
    let address = layers.setting(&Key::new(["providers", provider, "base_url"]));
    address.map_or(Origin::Default, |setting| setting.origin.clone())
}

/// Whether nobody said it.
pub(super) fn is_usual(origin: &Origin) -> bool {
    *origin == Origin::Default
}
