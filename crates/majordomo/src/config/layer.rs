//! One layer of configuration: the settings of a file, of the environment or of the command line, flat and with their origins.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Value;
use toml::de::DeTable;

use super::error::Error;
use super::key::Key;
use super::origin::{Origin, Warning};
use super::suggestion;

/// One key, its value and where it was said.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) key: Key,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// All settings, a later layer above an earlier one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers(BTreeMap<Key, Setting>);

impl Layers {
    /// Lays settings over those that are there.
    pub(crate) fn lay(&mut self, settings: Vec<Setting>) {
        self.0.extend(settings.into_iter().map(|setting| (setting.key.clone(), setting)));
    }

    /// Lays settings under whatever anybody said: in the place of what nobody did.
    pub(crate) fn lay_under(&mut self, settings: Vec<Setting>) {
        let is_free = |setting: &Setting| self.0.get(&setting.key).is_none_or(|there| there.origin == Origin::Default);
        let settings: Vec<Setting> = settings.into_iter().filter(is_free).collect();
        self.lay(settings);
    }

    /// The setting of a key, as it stands.
    pub(crate) fn setting(&self, key: &Key) -> Option<&Setting> {
        self.0.get(key)
    }

    /// All settings, by key.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.0.values()
    }

    /// The names that were chosen in a section such as `providers` or `mcp.servers`.
    pub(crate) fn names(&self, section: &str) -> impl Iterator<Item = &str> {
        let above: Vec<&str> = section.split('.').collect();
        let is_in =
            |key: &&Key| key.parts().len() > above.len() && key.parts().iter().zip(&above).all(|(part, of)| part == of);
        let mut names: Vec<&str> = self.0.keys().filter(is_in).map(|key| key.parts()[above.len()].as_str()).collect();
        names.dedup();
        names.into_iter()
    }
}

/// The settings of a file's text. Its rules are left to `rules`.
pub(crate) fn of_file(path: &Path, text: &str) -> Result<Vec<Setting>, Error> {
    let mut settings = of_text(text, |line| Origin::File { path: path.to_owned(), line })?;
    settings.retain(|setting| setting.key.section() != "rules");
    Ok(settings)
}

/// The settings of a TOML text. `origin` makes an origin out of a line number.
pub(crate) fn of_text(text: &str, origin: impl Fn(usize) -> Origin) -> Result<Vec<Setting>, Error> {
    let at = |offset: usize| origin(1 + text[..offset].matches('\n').count());
    // The parser's message is taken without its excerpt: a file may hold what should not be printed.
    let failed = |error: toml::de::Error| Error::Syntax {
        origin: at(error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    };
    let values: toml::Table = text.parse().map_err(failed)?;
    let places = DeTable::parse(text).map_err(failed)?;
    let mut settings = Vec::new();
    flatten(&Key::new::<String>([]), values, Some(places.get_ref()), &at, &mut settings);
    Ok(settings)
}

/// The settings of one value, which may be a table of several.
pub(crate) fn of_value(key: Key, value: Value, origin: &Origin) -> Vec<Setting> {
    match value {
        Value::Table(table) if key.kind().is_none() => {
            let mut settings = Vec::new();
            flatten(&key, table, None, &|_| origin.clone(), &mut settings);
            settings
        }
        value => vec![Setting { key, value, origin: origin.clone() }],
    }
}

/// Those settings whose keys are known, in their settled form. An unknown key is told and left out.
pub(crate) fn admit(settings: Vec<Setting>, warnings: &mut Vec<Warning>) -> Result<Vec<Setting>, Error> {
    let mut admitted = Vec::new();
    for setting in settings {
        let known = setting.key.kind().is_some() || setting.key.is_table();
        if known {
            admitted.push(checked(setting)?);
        } else {
            let hint = suggestion::clause(setting.key.suggestion());
            warnings.push(Warning { origin: setting.origin, message: format!("unknown key {}{hint}", setting.key) });
        }
    }
    Ok(admitted)
}

/// A setting of a known key in its settled form.
pub(crate) fn checked(setting: Setting) -> Result<Setting, Error> {
    let Setting { key, value, origin } = setting;
    let Some(kind) = key.kind() else {
        return Err(wrong(&key, origin, "a table".to_owned(), Some(value.to_string())));
    };
    let found = kind.may_be_shown().then(|| value.to_string());
    match kind.accept(value) {
        Some(value) => Ok(Setting { key, value, origin }),
        None => Err(wrong(&key, origin, kind.expected(), found)),
    }
}

fn wrong(key: &Key, origin: Origin, expected: String, found: Option<String>) -> Error {
    Error::Value { origin, key: key.to_string(), expected, found }
}

fn flatten(
    above: &Key,
    values: toml::Table,
    places: Option<&DeTable<'_>>,
    at: &dyn Fn(usize) -> Origin,
    into: &mut Vec<Setting>,
) {
    for (name, value) in values {
        let key = above.join(&name);
        let place = places.and_then(|places| places.get_key_value(name.as_str()));
        match value {
            Value::Table(table) if key.kind().is_none() => {
                flatten(&key, table, place.and_then(|(_, value)| value.get_ref().as_table()), at, into);
            }
            value => into.push(Setting { key, value, origin: at(place.map_or(0, |(name, _)| name.span().start)) }),
        }
    }
}
