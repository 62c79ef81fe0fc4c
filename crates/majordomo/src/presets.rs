//! Presets: sets of values for the policy, tasks and the dialect, kept as TOML beside this file.
//!
//! A preset is data. It lies under everything that a person configures and over the preset `default`, which holds a value
//! for every field; a new preset is a new file and a line in the table below.

#[cfg(test)]
mod tests;

use agent::policy::Policy;
use toml::Value;

use crate::config::{Error, Key, Layers, Origin, Setting, checked, clause, nested, of_text};

/// The names of the presets.
pub const NAMES: [&str; 6] = ["default", "kata", "lace", "opta", "orion", "zileo"];

const TEXTS: [&str; NAMES.len()] = [
    include_str!("presets/default.toml"),
    include_str!("presets/kata.toml"),
    include_str!("presets/lace.toml"),
    include_str!("presets/opta.toml"),
    include_str!("presets/orion.toml"),
    include_str!("presets/zileo.toml"),
];

/// A set of values, every one of them checked.
#[derive(Clone, Debug)]
pub struct Preset {
    settings: Vec<Setting>,
}

impl Preset {
    /// The preset of a name; none when there is no such preset.
    pub fn named(name: &str) -> Option<Self> {
        let at = NAMES.iter().position(|known| *known == name)?;
        Some(Self::parse(name, TEXTS[at]).expect("the presets that are built in are valid"))
    }

    /// A preset from its text. A key that is no part of a preset is an error, for nobody would see a warning.
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let origin = |_line| match name {
            "default" => Origin::Default,
            name => Origin::Preset(name.to_owned()),
        };
        let mut settings = Vec::new();
        for setting in of_text(text, origin)? {
            let belongs = setting.key == Key::dotted("dialect") || ["policy", "tasks"].contains(&setting.key.section());
            if !belongs || (setting.key.kind().is_none() && !setting.key.is_table()) {
                let hint = clause(setting.key.suggestion().filter(|meant| meant.section() == "policy"));
                return Err(Error::PresetKey { preset: name.to_owned(), key: setting.key.to_string(), hint });
            }
            settings.push(checked(setting)?);
        }
        Ok(Self { settings })
    }

    /// The policy that holds under this preset alone.
    pub fn policy(&self) -> Policy {
        let mut layers = Layers::default();
        layers.lay(Self::default().settings);
        layers.lay(self.settings.clone());
        let of_policy = layers.settings().filter(|setting| setting.key.section() == "policy");
        let policy = nested(of_policy).remove("policy").unwrap_or_else(|| Value::Table(toml::Table::new()));
        policy.try_into().expect("the values of a preset were checked where they were read")
    }

    /// Its values, as a layer of a configuration.
    pub(crate) fn settings(self) -> Vec<Setting> {
        self.settings
    }
}

impl Default for Preset {
    /// The preset under all others.
    fn default() -> Self {
        Self::named(NAMES[0]).expect("the first preset is there")
    }
}
