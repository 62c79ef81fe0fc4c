//! Values that are valid alone and invalid together, and keys that a table must have.

use agent::policy::Policy;
use provider::Wire;
use toml::Value;

use super::error::Error;
use super::key::Key;
use super::layer::{Layers, Setting};
use super::origin::Origin;

/// Gives a configured provider what it need not say, and insists on what it must.
pub(super) fn complete_providers(layers: &mut Layers) -> Result<(), Error> {
    let names: Vec<String> = layers.names("providers").map(str::to_owned).collect();
    for name in names {
        let key = |field: &str| Key::new(["providers", &name, field]);
        if layers.setting(&key("base_url")).is_none() {
            let of_it = |setting: &&Setting| setting.key.section() == "providers" && setting.key.parts()[1] == name;
            let said = layers.settings().find(of_it);
            return Err(Error::Value {
                origin: said.map_or(Origin::Default, |setting| setting.origin.clone()),
                key: key("base_url").to_string(),
                expected: "an address, for this provider is not known without one".to_owned(),
                found: None,
            });
        }
        if layers.setting(&key("wire")).is_none_or(|wire| wire.origin == Origin::Default) {
            let wire = layers.setting(&key("wire")).and_then(|wire| wire.value.clone().try_into().ok());
            let address = layers.setting(&key("base_url")).and_then(|url| url.value.as_str()).unwrap_or_default();
            let wire = wire.unwrap_or(Wire::OpenAi).at_home(address);
            layers.lay(vec![Setting { key: key("wire"), value: Value::from(wire.name()), origin: Origin::Default }]);
        }
    }
    Ok(())
}

/// Values that are each right and wrong together.
pub(super) fn consistent(policy: &Policy, layers: &Layers) -> Result<(), Error> {
    let pairs = [
        ("policy.child.max_tokens", policy.child.max_tokens, "policy.min_child_tokens", policy.min_child_tokens),
        (
            "policy.child.timeout_ms",
            policy.child.timeout_ms,
            "policy.min_child_timeout_ms",
            policy.min_child_timeout_ms,
        ),
        ("policy.loop_end_at", policy.loop_end_at.into(), "policy.loop_refuse_at", policy.loop_refuse_at.into()),
    ];
    let origin =
        |key: &str| layers.setting(&Key::dotted(key)).map_or(Origin::Default, |setting| setting.origin.clone());
    for (key, value, floor_key, floor) in pairs {
        if value < floor {
            return Err(Error::Value {
                origin: origin(key),
                key: key.to_owned(),
                expected: format!("at least {floor_key}, which is {floor} ({})", origin(floor_key)),
                found: Some(value.to_string()),
            });
        }
    }
    if !policy.spawn_args.iter().any(|arg| &**arg == "task") {
        let key = "policy.spawn_args";
        let expected = "a list with task in it".to_owned();
        return Err(Error::Value { origin: origin(key), key: key.to_owned(), expected, found: None });
    }
    Ok(())
}

/// A model is known by its provider too; under another name its figures would change nothing.
pub(super) fn whole_names(layers: &Layers) -> Result<(), Error> {
    for setting in layers.settings().filter(|setting| setting.key.section() == "models") {
        let name = &setting.key.parts()[1];
        if !name.split_once('/').is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty()) {
            return Err(Error::Value {
                origin: setting.origin.clone(),
                key: "models".to_owned(),
                expected: "names of the form \"provider/model\"".to_owned(),
                found: Some(name.clone()),
            });
        }
    }
    Ok(())
}

/// A price that is half said would count the other half as free.
pub(super) fn whole_prices(layers: &Layers) -> Result<(), Error> {
    for setting in layers.settings().filter(|setting| setting.key.section() == "models") {
        let halves: &[&[&str]] = match setting.key.parts() {
            [_, _, price, _] if price == "price" => &[&["input"], &["output"]],
            [_, _, _, long, _] if long == "long" => {
                &[&["input"], &["output"], &["long", "above_tokens"], &["long", "input"], &["long", "output"]]
            }
            _ => continue,
        };
        let price = &setting.key.parts()[..3];
        for half in halves {
            let key = Key::new(price.iter().map(String::as_str).chain(half.iter().copied()));
            if layers.setting(&key).is_none() {
                let expected = "an amount, for another part of this price is set".to_owned();
                return Err(Error::Value {
                    origin: setting.origin.clone(),
                    key: key.to_string(),
                    expected,
                    found: None,
                });
            }
        }
    }
    Ok(())
}
