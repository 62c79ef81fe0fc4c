//! What is known of models without asking them: context window, longest answer, price, wire, what they take, and when they end. The figures
//! are data (`models.toml`); configuration overrides them entry by entry, and within an entry field by field.
//!
//! What a server says about itself is in `learnt.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use agent::model::{LongPrice, Model, Patience, Price};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{CacheTime, Effort, ModelSettings, Wire};
use crate::error::Error;

/// A local server's usual window: too small is asked again, too large is cut off without a word.
const UNKNOWN_CONTEXT_TOKENS: u64 = 32_768;
const UNKNOWN_MAX_OUTPUT_TOKENS: u64 = 4_096;

/// Figures by model name.
#[derive(Clone, Debug, Default)]
pub struct ModelTable {
    entries: Arc<BTreeMap<String, ModelEntry>>,
    overrides: BTreeMap<String, ModelEntry>,
}

/// The server that is asked for a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server<'a> {
    /// How it is spoken to.
    pub(crate) wire: Wire,
    /// Its own name of the model.
    pub(crate) model: &'a str,
    /// Whether it is that of the maker after whom the provider is named. Anything else may run at an address that a person chose, so that what
    /// the table says of everything of that maker says nothing about it.
    pub(crate) is_makers_own: bool,
}

/// What is known of a model, or of all models whose names begin alike. A field that is missing is taken from the next shorter
/// name that fits.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEntry {
    /// Tokens that fit into one request, answer included.
    pub context_tokens: Option<u64>,
    /// The longest answer that is asked for.
    pub max_output_tokens: Option<u64>,
    /// What it costs.
    pub price: Option<Dollars>,
    /// What it takes besides text.
    pub takes: Option<Vec<Ability>>,
    /// The day after which the provider no longer answers for it, such as `2026-11-30`.
    pub ends: Option<String>,
    /// Whether it is used when only its provider is known.
    #[serde(default)]
    pub usual: bool,
    /// How it is spoken to, where that is not as its provider's other models are.
    pub wire: Option<Wire>,
    /// How much it thinks.
    pub effort: Option<Effort>,
    /// How many tokens it may think.
    pub thinking_tokens: Option<u64>,
    /// How much chance there is in its answers.
    pub temperature: Option<f64>,
    /// Further fields of a request.
    #[serde(default)]
    pub body: BTreeMap<String, serde_json::Value>,
    /// How long the provider keeps the prompts of agents that may wait for sub-agents.
    pub parent_cache: Option<CacheTime>,
}

/// What a model may take besides text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ModelAbility")]
pub enum Ability {
    /// Tools that it can call.
    Tools,
    /// Images.
    Images,
    /// PDF documents.
    Pdf,
    /// A JSON Schema that its answer must fit.
    Schema,
    /// How much it should think.
    Effort,
    /// A temperature.
    Temperature,
}

impl Ability {
    /// Every ability, in the order in which they are shown.
    pub const ALL: [Self; 6] = [Self::Tools, Self::Images, Self::Pdf, Self::Schema, Self::Effort, Self::Temperature];

    /// Its name in configuration and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Images => "images",
            Self::Pdf => "pdf",
            Self::Schema => "schema",
            Self::Effort => "effort",
            Self::Temperature => "temperature",
        }
    }
}

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ModelPrice")]
pub struct Dollars {
    /// Fresh prompt tokens.
    pub input: f64,
    /// Prompt tokens read from the cache; null where they cost as much as fresh ones.
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache; null where they cost as much as fresh ones.
    pub cache_write: Option<f64>,
    /// Prompt tokens written to the cache for an hour; twice the price of fresh ones when it is not said and `cache_write` is.
    pub cache_write_1h: Option<f64>,
    /// Generated tokens.
    pub output: f64,
    /// What a request with a long prompt costs; null where that is no other price.
    pub long: Option<LongDollars>,
}

/// Dollars per million tokens of a whole request whose prompt is longer than so many tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LongPromptPrice")]
pub struct LongDollars {
    /// The longest prompt that does not cost this, in tokens.
    pub above_tokens: u64,
    /// Fresh prompt tokens.
    pub input: f64,
    /// Prompt tokens read from the cache; null where they cost as much as fresh ones.
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache; null where they cost as much as fresh ones.
    pub cache_write: Option<f64>,
    /// Prompt tokens written to the cache for an hour; twice the price of fresh ones when it is not said and `cache_write` is.
    pub cache_write_1h: Option<f64>,
    /// Generated tokens.
    pub output: f64,
}

impl ModelTable {
    /// What is known from the start.
    pub fn builtin() -> Self {
        static BUILTIN: LazyLock<ModelTable> = LazyLock::new(|| {
            ModelTable::parse(include_str!("models.toml")).expect("the table that is built in can be read")
        });
        BUILTIN.clone()
    }

    /// A table from its text.
    pub fn parse(toml: &str) -> Result<Self, Error> {
        let entries = toml::from_str(toml).map_err(|source| Error::ModelTable(Box::new(source)))?;
        Ok(Self { entries: Arc::new(entries), overrides: BTreeMap::new() })
    }

    /// This table with entries of a person's own, which win over all others that fit.
    #[must_use]
    pub fn with(mut self, overrides: BTreeMap<String, ModelEntry>) -> Self {
        self.overrides.extend(overrides);
        self
    }

    /// The models that are known by their whole name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names: std::collections::BTreeSet<&str> =
            self.entries.keys().chain(self.overrides.keys()).map(String::as_str).collect();
        names.into_iter().filter(|name| !name.ends_with('*'))
    }

    /// The model of a provider that is used when none is named.
    pub fn usual(&self, provider: &str) -> Option<&str> {
        let is_of = |name: &str| name.split_once('/').is_some_and(|(of, _)| of == provider);
        self.entries.iter().find(|(name, entry)| entry.usual && is_of(name)).map(|(name, _)| name.as_str())
    }

    /// The day after which the provider no longer answers for a model, such as `2026-11-30`; none where no end is known.
    pub fn ends(&self, name: &str) -> Option<String> {
        self.entry(name, None, ModelEntry::default()).ends
    }

    /// What is set about how a model answers, by its provider's settings where the model has none of its own. A setting of the user's wins
    /// over what the built-in table says that a model takes, because the table may be older than the model, and a setting that is
    /// dropped without a word cannot be found by the one who set it; a server that refuses it is asked without it. What the user says that
    /// the model takes wins over what the user has set for all models of the provider.
    pub(crate) fn settings(&self, name: &str, of_provider: &ModelSettings) -> ModelSettings {
        let own = find(&self.overrides, name).unwrap_or_default();
        let mut of_provider = of_provider.clone();
        if own.takes(Ability::Effort) == Some(false) {
            (of_provider.effort, of_provider.thinking_tokens) = (None, None);
        }
        if own.takes(Ability::Temperature) == Some(false) {
            of_provider.temperature = None;
        }
        let ModelEntry { effort, thinking_tokens, temperature, body, parent_cache, .. } = own;
        ModelSettings { effort, thinking_tokens, temperature, body, parent_cache }.or(&of_provider)
    }

    /// What the user has set for models, by name.
    pub(crate) fn overrides(&self) -> impl Iterator<Item = (&str, &ModelEntry)> {
        self.overrides.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// How the user has set that a model is spoken to.
    pub(crate) fn set_wire(&self, name: &str) -> Option<Wire> {
        find(&self.overrides, name)?.wire
    }

    /// How a model is spoken to at its maker's own address, where the table says so.
    pub(crate) fn home_wire(&self, name: &str) -> Option<Wire> {
        find(&self.entries, name)?.wire
    }

    /// All that is known of a model: what the user has set, what the table says of this very model, what its server has said (`told`), and what
    /// the table says of its family. A gateway's model that is not known by the gateway's name is known by that of the provider whose wire
    /// it speaks.
    pub(crate) fn entry(&self, name: &str, server: Option<Server<'_>>, told: ModelEntry) -> ModelEntry {
        let mut known = fitting(&self.entries, name);
        if let Some(Server { wire, model, is_makers_own }) = server {
            known.retain(|(key, _)| is_makers_own || !is_whole_provider(key));
            if known.is_empty() {
                known = fitting(&self.entries, &format!("{}/{model}", wire.maker()));
                known.retain(|(key, _)| !is_whole_provider(key));
            }
        }
        let (families, itself): (Vec<_>, Vec<_>) = known.into_iter().partition(|(key, _)| key.ends_with('*'));
        let own = find(&self.overrides, name).unwrap_or_default();
        own.or(merged(itself).unwrap_or_default()).or(told).or(merged(families).unwrap_or_default())
    }

    /// Whether anything is known of a model by its name or its family, and not only by its provider.
    pub(crate) fn knows(&self, name: &str) -> bool {
        [&self.overrides, &self.entries]
            .iter()
            .any(|entries| fitting(entries, name).first().is_some_and(|(key, _)| !is_whole_provider(key)))
    }

    /// A model's figures, where nothing but this table is known.
    #[cfg(test)]
    fn model(&self, name: &str, server: Option<Server<'_>>) -> Model {
        self.entry(name, server, ModelEntry::default()).model(name)
    }
}

impl ModelEntry {
    /// These fields, and those of `other` that are missing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            context_tokens: self.context_tokens.or(other.context_tokens),
            max_output_tokens: self.max_output_tokens.or(other.max_output_tokens),
            price: self.price.or(other.price),
            takes: self.takes.or(other.takes),
            ends: self.ends.or(other.ends),
            usual: self.usual || other.usual,
            wire: self.wire.or(other.wire),
            effort: self.effort.or(other.effort),
            thinking_tokens: self.thinking_tokens.or(other.thinking_tokens),
            temperature: self.temperature.or(other.temperature),
            body: if self.body.is_empty() { other.body } else { self.body },
            parent_cache: self.parent_cache.or(other.parent_cache),
        }
    }

    /// The figures that limits are computed from.
    pub(crate) fn model(&self, name: &str) -> Model {
        Model {
            name: name.into(),
            context_tokens: self.context_tokens.unwrap_or(UNKNOWN_CONTEXT_TOKENS),
            max_output_tokens: self.max_output_tokens.unwrap_or(UNKNOWN_MAX_OUTPUT_TOKENS),
            price: self.price.map(Price::from),
            patience: Patience::default(),
            effort: None,
        }
    }

    /// Whether the model takes something; none where that is not known.
    pub fn takes(&self, ability: Ability) -> Option<bool> {
        self.takes.as_ref().map(|takes| takes.contains(&ability))
    }
}

/// The entry of a name: the longest name that fits, and what is missing there from shorter ones.
fn find(entries: &BTreeMap<String, ModelEntry>, name: &str) -> Option<ModelEntry> {
    merged(fitting(entries, name))
}

/// One entry of several, the first of which counts most.
fn merged(entries: Vec<(&str, &ModelEntry)>) -> Option<ModelEntry> {
    entries.into_iter().map(|(_, entry)| entry.clone()).reduce(ModelEntry::or)
}

/// Whether a name stands for all models of a provider.
fn is_whole_provider(key: &str) -> bool {
    key.ends_with("/*")
}

/// The entries that fit, the longest name first.
fn fitting<'a>(entries: &'a BTreeMap<String, ModelEntry>, name: &str) -> Vec<(&'a str, &'a ModelEntry)> {
    let mut all: Vec<_> =
        entries.iter().filter(|(key, _)| fits(key, name)).map(|(key, entry)| (key.as_str(), entry)).collect();
    // Of two that are equally long, the one that is the whole name.
    all.sort_by_key(|(key, _)| std::cmp::Reverse((key.trim_end_matches('*').len(), !key.ends_with('*'))));
    all
}

fn fits(key: &str, name: &str) -> bool {
    if let Some(prefix) = key.strip_suffix('*') {
        return name.starts_with(prefix);
    }
    match name.strip_prefix(key) {
        Some("" | "-latest") => true,
        // A date, with or without dashes. Anything shorter is another version, and that may cost something else.
        Some(rest) => {
            rest.starts_with('-')
                && rest.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
                && rest.bytes().filter(u8::is_ascii_digit).count() == 8
        }
        None => false,
    }
}

impl From<Dollars> for Price {
    fn from(dollars: Dollars) -> Self {
        // Millionths of a dollar. A cast from float ends at zero and at the largest number.
        let micro = |dollars: f64| (dollars * 1e6).round() as u64;
        let hour = dollars.cache_write.map_or(dollars.input, |_| dollars.input * 2.0);
        Self {
            input: micro(dollars.input),
            cache_read: micro(dollars.cache_read.unwrap_or(dollars.input)),
            cache_write: micro(dollars.cache_write.unwrap_or(dollars.input)),
            cache_write_1h: micro(dollars.cache_write_1h.unwrap_or(hour)),
            output: micro(dollars.output),
            long: dollars.long.map(LongPrice::from),
        }
    }
}

impl From<LongDollars> for LongPrice {
    fn from(dollars: LongDollars) -> Self {
        let LongDollars { above_tokens, input, cache_read, cache_write, cache_write_1h, output } = dollars;
        let price = Price::from(Dollars { input, cache_read, cache_write, cache_write_1h, output, long: None });
        Self {
            above_tokens,
            input: price.input,
            cache_read: price.cache_read,
            cache_write: price.cache_write,
            cache_write_1h: price.cache_write_1h,
            output: price.output,
        }
    }
}

#[cfg(test)]
mod tests {
    use agent::model::Tokens;

    use super::*;

    fn model(name: &str) -> Model {
        ModelTable::builtin().model(name, None)
    }

    #[test]
    fn dated_and_latest_names_are_the_model_itself() {
        let plain = model("anthropic/claude-sonnet-4-5");
        for name in ["anthropic/claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5-latest"] {
            assert_eq!(Model { name: plain.name.clone(), ..model(name) }, plain);
        }
        assert_eq!(model("openai/gpt-4o-2024-08-06").price, model("openai/gpt-4o").price);
    }

    #[test]
    fn another_version_is_not_priced_like_its_elder() {
        for name in ["anthropic/claude-opus-4-9", "openai/gpt-5.9", "openai/gpt-5-max", "anthropic/claude-opus-40"] {
            assert_eq!(model(name).price, None, "{name}");
        }
        assert_ne!(model("openai/gpt-5-mini").price, model("openai/gpt-5").price);
    }

    #[test]
    fn a_request_with_a_long_prompt_has_a_price_of_its_own_where_the_provider_bills_so() {
        let cost = |name: &str, tokens: Tokens| model(name).price.expect("a price").of(&tokens);
        let million = |input: u64| Tokens { input, output: 1_000_000, ..Tokens::default() };
        // Up to 100 000 tokens a tenth of a dollar and half a dollar, above it five times as much, for the whole request.
        let haiku = "anthropic/claude-haiku-5-5";
        assert_eq!(cost(haiku, million(100_000)), 10_000 + 500_000);
        assert_eq!(cost(haiku, million(100_001)), 50_001 + 2_500_000);
        let cached = Tokens { input: 1, cache_read: 100_000, ..Tokens::default() };
        assert_eq!(cost(haiku, cached), 5_001, "cached tokens count for the length of a prompt");
        for (name, above, input, output) in [
            ("gemini/gemini-2.5-pro", 200_000, 2_500_000, 15_000_000),
            ("gemini/gemini-3.1-pro-preview", 200_000, 4_000_000, 18_000_000),
            ("openai/gpt-6.1-sol", 272_000, 4_000_000, 15_000_000),
            ("openai/gpt-5.5", 272_000, 10_000_000, 45_000_000),
        ] {
            let long = model(name).price.expect("a price").long.expect(name);
            assert_eq!((long.above_tokens, long.input, long.output), (above, input, output), "{name}");
        }
        assert_eq!(model("anthropic/claude-sonnet-5-5").price.expect("a price").long, None);
    }

    #[test]
    fn a_model_of_a_family_has_the_figures_of_that_family_and_not_of_a_wider_one() {
        for (name, context, output, takes_effort, takes_images) in [
            ("openai/o1", 200_000, 100_000, true, true),
            ("openai/o3-pro", 200_000, 100_000, true, true),
            ("openai/o3-mini", 200_000, 100_000, true, false),
            ("openai/o4-mini-deep-research", 200_000, 100_000, true, true),
            ("openai/codex-mini-latest", 200_000, 100_000, true, true),
            ("openai/gpt-5.2-codex", 400_000, 128_000, true, true),
            ("openai/gpt-5.6-sol-fast", 1_050_000, 128_000, true, true),
            ("openai/gpt-5.4-mini", 400_000, 128_000, true, true),
            ("openai/gpt-4-turbo", 128_000, 4_096, false, true),
            ("openai/gpt-4", 8_192, 4_096, false, false),
            ("openai/gpt-3.5-turbo", 16_385, 4_096, false, false),
        ] {
            let entry = ModelTable::builtin().entry(name, None, ModelEntry::default());
            assert_eq!((entry.context_tokens, entry.max_output_tokens), (Some(context), Some(output)), "{name}");
            let takes = |ability| entry.takes(ability).expect("it is known");
            assert_eq!((takes(Ability::Effort), takes(Ability::Images)), (takes_effort, takes_images), "{name}");
        }
    }

    #[test]
    fn an_unknown_model_gets_a_small_window_and_no_price() {
        let unknown = model("ollama/llama3:8b");
        assert_eq!((unknown.context_tokens, unknown.max_output_tokens, unknown.price), (32_768, 4_096, None));
    }

    #[test]
    fn a_gateway_knows_the_models_of_its_wire() {
        let table = ModelTable::builtin();
        let at = |wire: Wire, model| Some(Server { wire, model, is_makers_own: false });
        let through = table.model("work/claude-haiku-4-5", at(Wire::Anthropic, "claude-haiku-4-5"));
        assert_eq!(through.price, model("anthropic/claude-haiku-4-5").price);
        let local = table.model("ollama/llama3:8b", at(Wire::OpenAi, "llama3:8b"));
        assert_eq!(local.context_tokens, 32_768, "a local model is not as large as the wire's makers'");
    }

    #[test]
    fn what_a_server_says_counts_more_than_the_family_and_less_than_the_model_itself_and_the_user() {
        let table = ModelTable::parse(
            "[\"x/*\"]\ncontext_tokens = 1\nmax_output_tokens = 1\n[\"x/m*\"]\ncontext_tokens = 2\n[\"x/m-1\"]\ncontext_tokens = 3\n",
        )
        .expect("a table");
        let told = |tokens| ModelEntry { context_tokens: tokens, ..ModelEntry::default() };
        let window = |table: &ModelTable, name: &str, is_makers_own, tokens| {
            let server = Server { wire: Wire::OpenAi, model: "m", is_makers_own };
            table.entry(name, Some(server), told(tokens)).context_tokens
        };
        assert_eq!(window(&table, "x/m-1", false, Some(9)), Some(3), "the model itself");
        assert_eq!(window(&table, "x/m-2", false, Some(9)), Some(9), "the server");
        assert_eq!(window(&table, "x/m-2", false, None), Some(2), "the family");
        assert_eq!(window(&table, "x/other", true, None), Some(1), "everything of the maker, at its own address");
        assert_eq!(window(&table, "x/other", true, Some(9)), Some(9), "the server of the maker itself");
        assert_eq!(window(&table, "x/other", false, None), None, "nothing is known of another server");
        let table = table.with([("x/*".to_owned(), told(Some(5)))].into());
        for name in ["x/m-1", "x/m-2", "x/other"] {
            assert_eq!(window(&table, name, false, Some(9)), Some(5), "the user: {name}");
        }
    }

    #[test]
    fn an_override_changes_its_fields_and_leaves_the_others() {
        let entry = ModelEntry { max_output_tokens: Some(1_000), ..ModelEntry::default() };
        let table = ModelTable::builtin().with([("openai/gpt-5*".to_owned(), entry)].into());
        let changed = table.model("openai/gpt-5-mini", None);
        assert_eq!(changed.max_output_tokens, 1_000);
        assert_eq!(changed.price, model("openai/gpt-5-mini").price);
        assert_eq!(table.model("openai/gpt-4o", None).max_output_tokens, 16_384);
    }

    #[test]
    fn no_model_that_is_used_without_being_named_has_an_end() {
        let table = ModelTable::builtin();
        for provider in ["anthropic", "openai", "gemini"] {
            let usual = table.usual(provider).expect("a default");
            assert_eq!(table.ends(usual), None, "{usual}");
        }
        for name in ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4o-2024-08-06", "gpt-4.1-2025-04-14"] {
            assert_eq!(table.ends(&format!("openai/{name}")).as_deref(), Some("2027-01-14"), "{name}");
        }
    }

    #[test]
    fn dollars_become_millionths_per_million() {
        let price = model("anthropic/claude-sonnet-4-5").price.expect("priced");
        const M: u64 = 1_000_000;
        let tokens = Tokens { input: M, cache_read: M, cache_write: M, output: M, ..Tokens::default() };
        assert_eq!(price.of(&tokens), 22_050_000);
        let hour = Tokens { cache_write: M, cache_write_1h: M, ..Tokens::default() };
        assert_eq!(price.of(&hour), 6_000_000, "twice the price of fresh tokens");
        let openai = model("openai/gpt-5").price.expect("priced");
        assert_eq!(openai.cache_write, openai.input);
    }

    #[test]
    fn a_misspelt_table_is_refused() {
        let error = ModelTable::parse("[\"a/b\"]\ncontext = 5").expect_err("no such field");
        assert!(error.to_string().contains("context"), "{error}");
    }
}
