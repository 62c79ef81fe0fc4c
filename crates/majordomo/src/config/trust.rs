//! What a project may say. Its files come with a repository that somebody else may have written, so they can ask for less,
//! never for more: no addresses, no keys, no prices, no place for state, no freedom, no money.

use agent::Mode;
use toml::Value;

use super::kind::UNLIMITED;
use super::layer::{Layers, Setting};
use super::origin::Warning;

/// Sections and keys that only the user's own file, environment and flags may set.
/// Prices are among them because a price of nothing would lift a limit on money.
const USERS_OWN: [&str; 4] = ["providers", "models", "data", "store"];

/// Those settings of a project that may stand above `below`, which holds the user's own. The others are told and left out.
pub(crate) fn narrowed(project: Vec<Setting>, below: &Layers, warnings: &mut Vec<Warning>) -> Vec<Setting> {
    let mut kept = Vec::new();
    for setting in project {
        let why = match setting.key.section() {
            section if USERS_OWN.contains(&section) => "a project cannot set it",
            "mode" | "grant" if is_more(&setting, below) => "a project cannot ask for more than you allow",
            _ => {
                kept.push(setting);
                continue;
            }
        };
        let message = format!("{} is ignored: {why}", setting.key);
        warnings.push(Warning { origin: setting.origin, message });
    }
    kept
}

/// Whether a value gives more freedom or more to spend than the one below it. What cannot be compared is checked elsewhere.
fn is_more(setting: &Setting, below: &Layers) -> bool {
    let Some(allowed) = below.setting(&setting.key) else { return false };
    let mode = |value: &Value| value.as_str().and_then(|word| word.parse::<Mode>().ok());
    let amount = |value: &Value| match value {
        Value::String(word) if word == UNLIMITED => Some(f64::INFINITY),
        Value::Integer(number) => Some(*number as f64),
        value => value.as_float(),
    };
    let more_free = mode(&setting.value).zip(mode(&allowed.value)).is_some_and(|(asked, allowed)| asked > allowed);
    let more_to_spend = amount(&setting.value).zip(amount(&allowed.value)).is_some_and(|(asked, of)| asked > of);
    more_free || more_to_spend
}
