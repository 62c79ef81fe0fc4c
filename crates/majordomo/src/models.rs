//! The models that can be asked: what providers list themselves, and what the table of models knows of them.
//!
//! Nothing is chosen here: which model a run uses is in `config/model.rs`.

use std::time::Duration;

use async_recursion::async_recursion as boxed;
use futures_util::future::join_all;
use jiff::civil::Date;
use provider::{Ability, Dollars, ModelEntry, ModelTable, Providers};
use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Config;
use crate::staff::Error;

/// A model that ends within so many days is said to be near its end.
const NEAR_DAYS: i32 = 60;

/// How long a server on this machine has to say that it is there.
const HERE: Duration = Duration::from_millis(500);

/// The provider that is offered by name where no key is set.
const OLLAMA: &str = "ollama";

/// The models of one provider.
#[derive(Clone, Debug)]
pub struct ProviderModels {
    /// The provider.
    pub provider: String,
    /// Its models, by name.
    pub models: Vec<ModelRow>,
    /// Why these are only the models of the table: the provider could not be asked; none where it listed them itself.
    pub missing: Option<String>,
}

/// A model that can be asked for.
#[derive(Clone, Debug)]
pub struct ModelRow {
    /// `provider/model`.
    pub name: String,
    /// What is known of it: what the user has set, then what the table says of this model, then what its provider says, then what the table says
    /// of its family.
    pub entry: ModelEntry,
    /// Whether the table, or the user, knows it by its name or its family.
    pub is_known: bool,
    /// Whether it is used when only its provider is known.
    pub is_usual: bool,
}

/// A model that can be asked for, as programs are given it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelInfo {
    /// `provider/model`.
    pub id: String,
    /// Whether the table, or the configuration, knows it by its name or its family.
    pub known: bool,
    /// Whether it is used when only its provider is known.
    pub default: bool,
    /// Tokens that fit into one request, answer included; null where that is not known.
    pub context_tokens: Option<u64>,
    /// The longest answer; null where that is not known.
    pub max_output_tokens: Option<u64>,
    /// What it costs; null where that is not known.
    pub price: Option<Dollars>,
    /// What it takes besides text; null where that is not known.
    pub takes: Option<Vec<Ability>>,
    /// The last day on which the provider answers for it, such as `2026-11-30`; null where none is known.
    pub ends: Option<String>,
}

impl ModelRow {
    /// What programs are given of it.
    pub fn info(self) -> ModelInfo {
        let ModelEntry { context_tokens, max_output_tokens, price, takes, ends, .. } = self.entry;
        let (known, default) = (self.is_known, self.is_usual);
        ModelInfo { id: self.name, known, default, context_tokens, max_output_tokens, price, takes, ends }
    }
}

/// Whether providers are asked for their lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// Each is asked.
    Asked,
    /// None is asked: the table alone.
    Table,
}

/// Tables of the models of a configuration.
#[derive(Clone, Debug)]
pub struct Models {
    providers: Providers,
}

impl Models {
    /// The models of a configuration.
    pub fn new(config: &Config) -> Result<Self, Error> {
        let table = ModelTable::builtin().with(config.models.clone());
        Ok(Self { providers: Providers::new(config.providers.clone(), table, provider::Options::default())? })
    }

    /// The models of some providers.
    pub fn of(providers: Providers) -> Self {
        Self { providers }
    }

    /// The names of the providers.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.providers()
    }

    /// The models of every provider, or of one.
    #[boxed]
    pub async fn list(&self, only: Option<&str>, lists: Lists) -> Vec<ProviderModels> {
        let wanted = self.providers().filter(|name| only.is_none_or(|only| only == *name));
        join_all(wanted.map(|provider| self.of_provider(provider, lists))).await
    }

    async fn of_provider(&self, provider: &str, lists: Lists) -> ProviderModels {
        let listed = match (lists, self.providers.missing_key(provider)) {
            (_, Some(missing)) => Err(Some(missing)),
            (Lists::Table, None) => Err(None),
            (Lists::Asked, None) => {
                self.providers.list(provider).await.map_err(|error| Some(error.message.to_string()))
            }
        };
        let (mut models, missing): (Vec<ModelRow>, _) = match listed {
            Ok(listed) => {
                let row = |listed: provider::Listed| self.row(format!("{provider}/{}", listed.name), listed.entry);
                (listed.into_iter().map(row).collect(), None)
            }
            Err(missing) => {
                let row = |name: &str| self.row(name.to_owned(), ModelEntry::default());
                (self.providers.known(provider).into_iter().map(row).collect(), missing)
            }
        };
        models.sort_by(|one, other| one.name.cmp(&other.name));
        ProviderModels { provider: provider.to_owned(), models, missing }
    }

    fn row(&self, name: String, told: ModelEntry) -> ModelRow {
        let entry = self.providers.entry_with(&name, told).unwrap_or_default();
        let (is_known, is_usual) = (self.providers.is_known(&name), entry.usual);
        ModelRow { entry, is_known, is_usual, name }
    }

    /// The end of a model that is near or over, as the rest of a sentence; none where it is far or not known.
    pub fn near_end(&self, model: &str, today: Date) -> Option<String> {
        near_end(&self.providers.entry(model).ok()?, today)
    }

    /// Whether a model is known to take no tools, so that its agents get none.
    pub fn takes_no_tools(&self, model: &str) -> bool {
        self.providers.takes_no_tools(model)
    }

    /// How to use a model of Ollama, where it is there: named, never chosen.
    #[boxed]
    pub async fn ollama(&self) -> Option<String> {
        let listed = tokio::time::timeout(HERE, self.providers.list(OLLAMA)).await.ok()?.ok()?;
        let names: Vec<String> = listed.iter().take(3).map(|listed| format!("-m {OLLAMA}/{}", listed.name)).collect();
        Some(match names.is_empty() {
            true => "Ollama is running here without a model: get one with `ollama pull qwen3`".to_owned(),
            false => format!("Ollama is running here; use one of its models with {}", names.join(" or ")),
        })
    }
}

/// The end of a model that is near or over on this day, as the rest of a sentence.
pub fn near_end(entry: &ModelEntry, today: Date) -> Option<String> {
    let ends = entry.ends.as_deref()?;
    let days = today.until(ends.parse::<Date>().ok()?).ok()?.get_days();
    match days {
        ..0 => Some(format!("ended on {ends}")),
        0 => Some(format!("ends today, {ends}")),
        1 => Some(format!("ends tomorrow, {ends}")),
        2..=NEAR_DAYS => Some(format!("ends on {ends}, in {days} days")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_model_is_said_when_it_is_near_and_not_before() {
        let entry = ModelEntry { ends: Some("2026-11-30".to_owned()), ..ModelEntry::default() };
        let on = |day: &str| near_end(&entry, day.parse().expect("a day"));
        assert_eq!(on("2026-09-30"), None);
        assert_eq!(on("2026-10-01").as_deref(), Some("ends on 2026-11-30, in 60 days"));
        assert_eq!(on("2026-11-29").as_deref(), Some("ends tomorrow, 2026-11-30"));
        assert_eq!(on("2026-11-30").as_deref(), Some("ends today, 2026-11-30"));
        assert_eq!(on("2026-12-01").as_deref(), Some("ended on 2026-11-30"));
        assert_eq!(near_end(&ModelEntry::default(), "2026-12-01".parse().expect("a day")), None);
    }
}
