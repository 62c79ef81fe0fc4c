//! Which model is used when none is named.

use provider::{ModelTable, ProviderConfig};

use super::layer::Layers;
use super::origin::Origin;
use super::providers::{address_origin, is_usual};

/// The providers whose keys are looked for, in this order. The model of each is in the table of models.
const PREFERRED: [&str; 3] = ["anthropic", "openai", "gemini"];

/// The model where no setting names one: of the first provider whose key is there,
/// else of the first whose address was configured, for that may need no key.
pub(super) fn found(providers: &[ProviderConfig], layers: &Layers) -> Option<(String, Origin)> {
    let table = ModelTable::builtin();
    let usual = |provider: &str| table.usual(provider).map(str::to_owned);
    let by_key = PREFERRED.iter().find_map(|name| {
        let provider = providers.iter().find(|provider| provider.name == *name && provider.key.is_some())?;
        Some((usual(name)?, Origin::Variable(provider.key_env.clone()?)))
    });
    let by_address = || {
        providers.iter().find_map(|provider| {
            let origin = Some(address_origin(layers, &provider.name)).filter(|origin| !is_usual(origin))?;
            let configured = layers.names("models").find(|model| is_of(model, &provider.name)).map(str::to_owned);
            Some((configured.or_else(|| usual(&provider.name))?, origin))
        })
    };
    by_key.or_else(by_address)
}

/// Whether an entry is for one model of this provider, not for all whose names begin alike.
fn is_of(model: &str, provider: &str) -> bool {
    model.split_once('/').is_some_and(|(name, _)| name == provider) && !model.ends_with('*')
}
