//! Where the files of a household are, and which agent and model are used where none is named: without a model, and in the sample
//! household, the butler with the rule-based engine.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Value;

use super::key::Key;
use super::layer::{Layers, Setting};
use super::origin::{Origin, Warning};
use crate::agents::HOUSEHOLD;
use crate::presets::Preset;

/// The engine of rules, which needs neither key nor network.
pub(super) const RULES: &str = "builtin/rules";

/// `[household]`: one folder that holds everything, or a folder for each kind of thing. What stands by itself counts more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct HouseholdConfig {
    /// Holds `mail`, `calendars`, `para` and `contacts`.
    pub folder: Option<PathBuf>,
    /// A Maildir, or a folder of `.eml` files.
    pub mail: Option<PathBuf>,
    /// A folder of `.ics` files for each calendar.
    pub calendars: Option<PathBuf>,
    /// Markdown in PARA folders.
    pub notes: Option<PathBuf>,
    /// `.vcf` files.
    pub contacts: Option<PathBuf>,
    /// The owner's addresses; found out from what was sent where none is named.
    #[serde(default)]
    pub me: Vec<String>,
    /// The owner's zone; the system's where none is named.
    pub timezone: Option<String>,
    /// Whether a question about the household goes to the butler where no agent is named.
    #[serde(default)]
    pub route: Route,
}

/// Which agent gets a prompt that is plainly about the household, where a model is configured and no agent is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// The butler.
    #[default]
    Auto,
    /// The agent that gets every other prompt.
    Off,
}

impl HouseholdConfig {
    /// Whether there is anything to look after.
    pub fn is_there(&self) -> bool {
        self.places().iter().any(|(_, place)| place.is_some())
    }

    /// What is named and not there. It may come later, so that this is no error.
    pub(super) fn missing(&self, layers: &Layers) -> Vec<Warning> {
        // Where one place is there, the others count as empty. Where nothing is, every question about the household is refused.
        let nothing_is_there =
            !self.places().iter().any(|(_, place)| place.as_ref().is_some_and(|place| place.exists()));
        let warning = |(name, place): &(&str, &Option<PathBuf>)| {
            let place = place.as_ref().filter(|place| !place.exists())?;
            let origin = layers.setting(&Key::new(["household", name]))?.origin.clone();
            let until = match nothing_is_there && *name == "folder" {
                true => "does not exist, and nothing about the household can be answered until it does",
                false => "does not exist, and counts as empty until it does",
            };
            let message = format!("household.{name} {until}: {}", place.display());
            Some(Warning { origin, message })
        };
        self.places().iter().filter_map(warning).collect()
    }

    fn places(&self) -> [(&'static str, &Option<PathBuf>); 5] {
        [
            ("folder", &self.folder),
            ("mail", &self.mail),
            ("calendars", &self.calendars),
            ("notes", &self.notes),
            ("contacts", &self.contacts),
        ]
    }
}

/// The butler takes the task where nobody named an agent and there is no model, or where the sample household is looked at. What it
/// takes where there is a model is said by `crate::route`.
pub(super) fn choose_agent(layers: &mut Layers, demo: bool, has_model: bool) {
    if demo || !has_model {
        let origin = if demo { Origin::Flag("--demo") } else { Origin::Default };
        layers.lay_under(vec![Setting { key: Key::dotted("agent"), value: Value::from(HOUSEHOLD[0]), origin }]);
    }
}

/// An agent's own preset holds where nobody chose one: its rules, not its dialect, for what a program reads does not change
/// with who speaks.
pub(super) fn choose_preset(layers: &mut Layers, of_agent: impl Fn(&str) -> Option<String>) {
    let said = |key: &str| layers.setting(&Key::dotted(key)).cloned();
    let is_chosen = said("preset").is_some_and(|setting| setting.origin != Origin::Default);
    let agent = said("agent").and_then(|setting| setting.value.as_str().map(str::to_owned));
    let Some(agent) = agent.filter(|_| !is_chosen) else { return };
    let Some(name) = of_agent(&agent) else { return };
    let mut settings = Preset::named(&name).map(Preset::settings).unwrap_or_default();
    settings.retain(|setting| setting.key != Key::dotted("dialect"));
    layers.lay_under(settings);
    let origin = Origin::Agent(agent);
    layers.lay_under(vec![Setting { key: Key::dotted("preset"), value: Value::from(name), origin }]);
}

/// The engine of rules speaks for a household's agents where no model is there.
pub(super) fn model_of(agent: &str) -> Option<(String, Origin)> {
    HOUSEHOLD.contains(&agent).then(|| (RULES.to_owned(), Origin::Default))
}
