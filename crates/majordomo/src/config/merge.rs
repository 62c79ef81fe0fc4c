//! All layers merged, from the defaults up to the command line.

use std::io;
use std::path::{Path, PathBuf};

use agent::permission::Rule;
use provider::builtin_providers;
use toml::Value;

use super::error::Error;
use super::key::Key;
use super::kind::{Kind, UNLIMITED};
use super::layer::{self, Layers, Setting};
use super::origin::{Origin, Warning};
use super::surroundings::{Surroundings, read_own};
use super::{environment, narrowing, servers};
use crate::kept::StatePlace;
use crate::presets::Preset;
use crate::rules;
use crate::trust::{File, Project};

/// All layers, laid over each other, the rules, and what a project brings along.
pub(super) struct Merged {
    pub(super) layers: Layers,
    pub(super) rules: Vec<Rule>,
    pub(super) project: Project,
    /// What the project says and nobody has trusted.
    pub(super) withheld: (Vec<Setting>, Vec<Rule>),
}

/// Reads everything and lays it over each other; `flags` are on top.
pub(super) fn merged(
    surroundings: &Surroundings,
    flags: Vec<Setting>,
    warnings: &mut Vec<Warning>,
) -> Result<Merged, Error> {
    let (user, mut rules) = users_file(surroundings)?;

    let mut named = Layers::default();
    named.lay(user.iter().chain(&flags).filter(|setting| setting.key.kind().is_some()).cloned().collect());
    let environment = environment::settings(surroundings, &named, warnings);

    let user = located(layer::admit(user, warnings)?, surroundings)?;
    let environment = located(layer::admit(environment, warnings)?, surroundings)?;
    let flags = located(layer::admit(flags, warnings)?, surroundings)?;

    let mut layers = Layers::default();
    layers.lay(defaults(surroundings));
    layers.lay(Preset::default().settings());
    let own = [&user, &environment, &flags];
    let data = data_folder(&layers, &own).ok_or_else(|| match surroundings.data_folder() {
        Some(folder) => no_text(&Origin::Default, &Key::dotted("data"), &folder),
        None => Error::NoDataFolder,
    })?;
    let last = |key: &str| own.iter().copied().flatten().rfind(|setting| setting.key == Key::dotted(key));
    let text = |key: &str| last(key).and_then(|setting| setting.value.as_str());
    let is_shared = last("workspace.shared").and_then(|setting| setting.value.as_bool()).unwrap_or(false);
    let machine = store::Machine::named(text("store.machine"), is_shared);
    let store = store_location(text("store.url"), &machine, &data, surroundings)?;
    let project = Project::read(surroundings, &StatePlace { folder: data.clone(), store })?;

    // What a project says is first compared with what the user's own layers under it allow.
    let mut users_own = layers.clone();
    users_own.lay(preset(&own));
    users_own.lay(user.clone());
    let said = match &project.config {
        None => Vec::new(),
        Some(File { path, text: Ok(text) }) => layer::of_file(path, text)?,
        Some(File { path, text: Err(why) }) => {
            return Err(Error::Read { path: path.clone(), source: io::Error::other(why.clone()) });
        }
    };
    let narrowed = narrowing::narrowed(said, &users_own, project.is_trusted(), warnings);
    let projects_own = layer::admit(narrowed.kept, warnings)?;
    let (counting, waiting) = rules::of_project(&project)?;
    rules.extend(counting);
    rules.extend(rules::of_data(&data)?);

    layers.lay(preset(&[&user, &projects_own, &environment, &flags]));
    for layer in [user, projects_own, environment, flags] {
        layers.lay(layer);
    }
    Ok(Merged { layers, rules, project, withheld: (narrowed.withheld, waiting) })
}

fn users_file(surroundings: &Surroundings) -> Result<(Vec<Setting>, Vec<Rule>), Error> {
    let Some(path) = surroundings.user_folder().map(|folder| folder.join("config.toml")) else {
        return Ok(Default::default());
    };
    match read_own(&path) {
        Ok(None) => Ok(Default::default()),
        Ok(Some(text)) => Ok((layer::of_file(&path, &text)?, rules::of_text(&text, &path)?)),
        Err(source) => Err(Error::Read { path, source }),
    }
}

/// Where the store is: in a database, or in the folder for state. A password that the address does not hold is found as `psql` finds it.
pub(super) fn store_location(
    url: Option<&str>,
    machine: &store::Machine,
    data: &Path,
    surroundings: &Surroundings,
) -> Result<store::Location, Error> {
    let Some(url) = url else { return Ok(store::Location::folder(data)) };
    let unusable = |source| Error::Store { location: Box::new(store::Location::folder(data)), source };
    let mut address = store::Address::parse(url).map_err(unusable)?;
    address = address.on_machine(machine.clone());
    if let Some(password) = surroundings.variable("PGPASSWORD") {
        address = address.or_password(password);
    }
    let file = surroundings.variable("PGPASSFILE").map(PathBuf::from);
    if let Some(file) = file.or_else(|| surroundings.home.as_ref().map(|home| home.join(".pgpass"))) {
        address = address.or_passfile(&file);
    }
    Ok(store::Location::Postgres(address))
}

/// The folder for state, which no project can choose.
fn data_folder(defaults: &Layers, own: &[&Vec<Setting>]) -> Option<PathBuf> {
    let key = Key::dotted("data");
    let said = own.iter().copied().flatten().rfind(|setting| setting.key == key);
    said.or_else(|| defaults.setting(&key))?.value.as_str().map(PathBuf::from)
}

/// The values of the preset that the last of these layers names.
fn preset(layers: &[&Vec<Setting>]) -> Vec<Setting> {
    let named = layers.iter().copied().flatten().rfind(|setting| setting.key == Key::dotted("preset"));
    let preset = named.and_then(|setting| setting.value.as_str()).and_then(Preset::named);
    preset.map(Preset::settings).unwrap_or_default()
}

/// The defaults, without the policy: that is the preset `default`.
fn defaults(surroundings: &Surroundings) -> Vec<Setting> {
    let setting = |key: Key, value: &str| Setting { key, value: Value::from(value), origin: Origin::Default };
    let limit = |key: &str, most: i64| Setting { key: Key::dotted(key), value: most.into(), origin: Origin::Default };
    let fixed = [
        ("agent", "general"),
        ("mode", "ask"),
        ("preset", "default"),
        ("grant.tool_calls", UNLIMITED),
        ("grant.cost", UNLIMITED),
        ("grant.timeout_s", UNLIMITED),
        ("grant.unknown_price", "refuse"),
        ("household.route", "auto"),
        ("store.durability", "full"),
        ("sandbox.kind", "auto"),
        ("web.search", "none"),
    ];
    let mut settings: Vec<Setting> = fixed.iter().map(|(key, value)| setting(Key::dotted(key), value)).collect();
    // The last line against a run that spends without end: more than any task needs, and less than a disaster.
    settings.extend([limit("grant.requests", 20_000), limit("grant.tokens", 100_000_000)]);
    settings.extend([limit("tasks.max_concurrent", 4), limit("tasks.max_wakes", board::MOST_WAKES.into())]);
    settings.push(limit("mcp.schema_tokens", servers::SCHEMA_TOKENS));
    let switch =
        |key: &str, is_on: bool| Setting { key: Key::dotted(key), value: is_on.into(), origin: Origin::Default };
    settings.extend([
        switch("tasks.enabled", false),
        switch("workspace.shared", false),
        switch("instructions.enabled", true),
        switch("instructions.sub_agents", true),
        switch("skills.enabled", true),
        switch("web.fetch", true),
    ]);
    settings.extend([limit("web.timeout_s", 30), limit("web.max_bytes", 4 << 20)]);
    settings.push(limit("instructions.max_bytes", 32 * 1024));
    let none = Value::Array(Vec::new());
    for key in ["skills.trusted", "web.private_hosts", "hooks.files"] {
        settings.push(Setting { key: Key::dotted(key), value: none.clone(), origin: Origin::Default });
    }
    if let Some(folder) = surroundings.data_folder() {
        // Settings are text: a path that is none would name another folder.
        settings.extend(folder.to_str().map(|folder| setting(Key::dotted("data"), folder)));
    }
    for provider in builtin_providers() {
        let key = |field: &str| Key::new(["providers", provider.name, field]);
        settings.push(setting(key("wire"), provider.wire.name()));
        settings.push(setting(key("base_url"), provider.base_url));
        settings.extend(provider.key_env.map(|name| setting(key("key_env"), name)));
    }
    settings
}

fn no_text(origin: &Origin, key: &Key, path: &Path) -> Error {
    let (key, found) = (key.to_string(), Some(path.display().to_string()));
    Error::Value { origin: origin.clone(), key, expected: "a path in UTF-8".to_owned(), found }
}

/// Paths made absolute: in a file from the file's folder, elsewhere from the current one; `~/` is the home folder.
fn located(mut settings: Vec<Setting>, surroundings: &Surroundings) -> Result<Vec<Setting>, Error> {
    let is_path = |setting: &&mut Setting| matches!(setting.key.kind(), Some(Kind::Folder));
    for setting in settings.iter_mut().filter(is_path) {
        let from = match &setting.origin {
            Origin::File { path, .. } => path.parent().unwrap_or(Path::new("/")),
            _ => surroundings.cwd.as_path(),
        };
        let text = setting.value.as_str().unwrap_or_default();
        let path = match (text.strip_prefix("~/"), &surroundings.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => from.join(text),
        };
        // A path that is no text would be kept as another one.
        let Some(path) = path.to_str() else {
            return Err(no_text(&setting.origin, &setting.key, &path));
        };
        setting.value = Value::String(path.to_owned());
    }
    Ok(settings)
}
