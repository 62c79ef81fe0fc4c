//! The providers that can be asked, with their keys resolved: those that are known without configuration, then the user's own.
//!
//! A key is named by its variable. It goes from there into a [`Secret`] and is never a setting, so that nothing can show it.

use std::collections::BTreeMap;

use provider::{ProviderConfig, Secret, Timeouts, builtin_providers};

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
        let key = table.key_env.as_deref().and_then(|variable| surroundings.variable(variable));
        let needs_key = builtin_providers().iter().any(|known| known.name == name && known.needs_key);
        ProviderConfig {
            key: key.map(Secret::new),
            // A server at an address of the user's own may ask for none.
            needs_key: needs_key && is_usual(&address_origin(layers, &name)),
            name,
            wire: table.wire,
            base_url: table.base_url,
            key_env: table.key_env,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
        }
    };
    known.into_iter().chain(tables).map(provider).collect()
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
