//! Configuration from environment variables: `MAJORDOMO_<SECTION>_<KEY>` for every known key, and the addresses that
//! providers' own tools use.
//!
//! A variable's name cannot say where a key's dots are. It is looked up among the variables of all keys that exist,
//! the names chosen in the other layers included, so that nothing has to be guessed.

use std::collections::BTreeMap;

use provider::builtin_providers;
use toml::Value;

use super::key::{self, Key};
use super::layer::{Layers, Setting};
use super::origin::{Origin, Warning};
use super::suggestion;
use super::surroundings::Surroundings;

/// Variables that are ours and stand for no key: how the command line draws, what opens the browser, and the mark on the commands that an
/// agent runs.
const NO_KEYS: [&str; 3] = ["MAJORDOMO_PLAIN", "MAJORDOMO_PASSWORD", "MAJORDOMO_COMMAND"];

/// The short name of the variable for `store.url`.
const STORE: &str = "MAJORDOMO_STORE";

/// The settings of the environment. `others` are the layers whose chosen names a variable may refer to.
pub(crate) fn settings(surroundings: &Surroundings, others: &Layers, warnings: &mut Vec<Warning>) -> Vec<Setting> {
    let mut settings: Vec<Setting> = addresses(surroundings).collect();
    let keys = keys_by_variable(others);
    let is_no_key = |name: &str| NO_KEYS.contains(&name) || store::VARIABLES.contains(&name);
    let ours = |name: &&String| name.starts_with("MAJORDOMO_") && !is_no_key(name);
    for name in surroundings.env.keys().filter(ours) {
        let Some(text) = surroundings.variable(name) else { continue };
        let origin = Origin::Variable(name.clone());
        let warn = |message| Warning { origin: origin.clone(), message };
        let found = keys.get(name).map_or(&[][..], Vec::as_slice);
        match (found, new_provider(name)) {
            ([key], _) => settings.push(read(key, text, origin)),
            ([], Some(key)) => settings.push(read(&key, text, origin)),
            ([], None) => {
                let names: Vec<&String> = keys.keys().collect();
                let meant = suggestion::nearest(&names, |known| suggestion::likeness(name, known));
                warnings.push(warn(format!("unknown variable{}", suggestion::clause(meant))));
            }
            (several, _) => {
                let several: Vec<String> = several.iter().map(ToString::to_string).collect();
                warnings.push(warn(format!("could mean {}; say which with --set", several.join(" or "))));
            }
        }
    }
    settings
}

/// The addresses set in the variables that the providers' own tools use.
fn addresses(surroundings: &Surroundings) -> impl Iterator<Item = Setting> {
    builtin_providers().iter().filter_map(|provider| {
        let url = provider.config_at(surroundings.variable(provider.base_url_env)?, None).base_url;
        let key = Key::new(["providers", provider.name, "base_url"]);
        let origin = Origin::Variable(provider.base_url_env.to_owned());
        Some(Setting { key, value: Value::String(url), origin })
    })
}

fn keys_by_variable(others: &Layers) -> BTreeMap<String, Vec<Key>> {
    let built_in = builtin_providers().iter().map(|provider| ("providers", provider.name));
    let chosen = |section: &'static str| others.names(section).map(move |name| (section, name));
    let mut names: Vec<(&str, &str)> =
        built_in.chain(chosen("providers")).chain(chosen("models")).chain(chosen("mcp.servers")).collect();
    names.sort_unstable();
    names.dedup();
    let mut keys = BTreeMap::<String, Vec<Key>>::new();
    for key in key::known(&names) {
        keys.entry(key.variable()).or_default().push(key);
    }
    keys.insert(STORE.to_owned(), vec![Key::dotted("store.url")]);
    keys
}

/// The key of a provider that is named nowhere else. A model cannot be met so: its name has characters that no variable has.
fn new_provider(variable: &str) -> Option<Key> {
    let rest = variable.strip_prefix("MAJORDOMO_PROVIDERS_")?;
    // The end of one field is the whole of another: the longest counts.
    let named = key::provider_fields().filter_map(|field| {
        let name = rest.strip_suffix(&format!("_{}", field.to_uppercase()))?;
        (!name.is_empty()).then_some((name, field))
    });
    let (name, field) = named.max_by_key(|(_, field)| field.len())?;
    Some(Key::new(["providers", name.to_lowercase().as_str(), field]))
}

fn read(key: &Key, text: &str, origin: Origin) -> Setting {
    let kind = key.kind().expect("keys found by variable are known keys");
    Setting { key: key.clone(), value: kind.read(text), origin }
}
