//! All layers laid over each other, from what holds when nobody says anything up to the command line.

use std::path::Path;

use provider::builtin_providers;
use toml::Value;

use super::error::Error;
use super::flags::Flags;
use super::key::Key;
use super::kind::UNLIMITED;
use super::layer::{self, Layers, Setting};
use super::origin::{Origin, Warning};
use super::surroundings::Surroundings;
use super::{environment, trust};
use crate::presets::Preset;

/// All layers, laid over each other.
pub(super) fn merged(surroundings: &Surroundings, flags: &Flags, warnings: &mut Vec<Warning>) -> Result<Layers, Error> {
    let user_path = surroundings.user_folder().map(|folder| folder.join("config.toml"));
    let project_path = surroundings.project().join(".majordomo").join("config.toml");
    let user = match &user_path {
        Some(path) => layer::of_file(path, surroundings.read_own(path))?,
        None => Vec::new(),
    };
    let project = layer::of_file(&project_path, surroundings.read_project(&project_path))?;
    let flags = flags.settings()?;

    let mut named = Layers::default();
    named.lay(user.iter().chain(&flags).filter(|setting| setting.key.kind().is_some()).cloned().collect());
    let environment = environment::settings(surroundings, &named, warnings);

    let user = layer::admit(user, warnings)?;
    let environment = layer::admit(environment, warnings)?;
    let flags = layer::admit(flags, warnings)?;

    let mut layers = Layers::default();
    layers.lay(defaults(surroundings));
    layers.lay(Preset::default().settings());
    // What a project says is first compared with what the user's own layers under it allow. A preset sets nothing of that.
    let mut users_own = layers.clone();
    users_own.lay(located(user.clone(), surroundings));
    let project = layer::admit(trust::narrowed(project, &users_own, warnings), warnings)?;

    let says_preset = |setting: &&Setting| setting.key == Key::dotted("preset");
    let preset = [&user, &project, &environment, &flags].into_iter().flatten().rfind(says_preset);
    if let Some(preset) = preset.and_then(|setting| setting.value.as_str()).and_then(Preset::named) {
        layers.lay(preset.settings());
    }
    for layer in [user, project, environment, flags] {
        layers.lay(located(layer, surroundings));
    }
    if layers.setting(&Key::dotted("data")).is_none() {
        return Err(Error::NoDataFolder);
    }
    Ok(layers)
}

/// What holds when nobody says anything, the rules of the house apart: those are the preset `default`.
fn defaults(surroundings: &Surroundings) -> Vec<Setting> {
    let setting = |key: Key, value: &str| Setting { key, value: Value::from(value), origin: Origin::Default };
    let fixed = [
        ("agent", "general"),
        ("mode", "ask"),
        ("preset", "default"),
        ("grant.tool_calls", UNLIMITED),
        ("grant.tokens", UNLIMITED),
        ("grant.cost", UNLIMITED),
        ("grant.timeout_s", UNLIMITED),
        ("store.durability", "full"),
    ];
    let mut settings: Vec<Setting> = fixed.iter().map(|(key, value)| setting(Key::dotted(key), value)).collect();
    if let Some(folder) = surroundings.data_folder() {
        settings.push(setting(Key::dotted("data"), &folder.to_string_lossy()));
    }
    for provider in builtin_providers() {
        let key = |field: &str| Key::new(["providers", provider.name, field]);
        settings.push(setting(key("wire"), provider.wire.name()));
        settings.push(setting(key("base_url"), provider.base_url));
        settings.extend(provider.key_env.map(|name| setting(key("key_env"), name)));
    }
    settings
}

/// Paths made absolute: in a file from the file's folder, elsewhere from the current one; `~/` is the home folder.
fn located(mut settings: Vec<Setting>, surroundings: &Surroundings) -> Vec<Setting> {
    for setting in settings.iter_mut().filter(|setting| setting.key == Key::dotted("data")) {
        let from = match &setting.origin {
            Origin::File { path, .. } => path.parent().unwrap_or(Path::new("/")),
            _ => surroundings.cwd.as_path(),
        };
        let text = setting.value.as_str().unwrap_or_default();
        let path = match (text.strip_prefix("~/"), &surroundings.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => from.join(text),
        };
        setting.value = Value::String(path.to_string_lossy().into_owned());
    }
    settings
}
