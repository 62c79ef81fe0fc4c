//! All configured providers, and the way from a model's name to a conversation with it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::model::{CallError, CallErrorKind, LongPrice, Model, Price};
use async_recursion::async_recursion as boxed;
use tokio::sync::{Semaphore, broadcast};

use crate::attached::{Attached, AttachedBytes};
use crate::compat::Takes;
use crate::config::{CacheTime, ModelSettings, ProviderConfig, Wire};
use crate::conversation::{Backend, Conversation};
use crate::error::Error;
use crate::extra;
use crate::failure::failed;
use crate::governor::{Governor, GovernorState, Overrun, Pace};
use crate::http::Provider;
use crate::learnt::Learnt;
use crate::listing::Listed;
use crate::models::{ModelEntry, ModelTable, Server};
use crate::resident::Resident;
use crate::scripted::{Script, ScriptPlayer};

/// The provider whose models are files of replies.
const SCRIPTED: &str = "scripted";
/// The provider whose models are part of this library.
const BUILTIN: &str = "builtin";
/// The provider whose models are objects of the program that embeds the library.
const PROGRAM: &str = "program";

/// All configured providers with their connections and governors. Cheap to clone; one per process, so that every caller
/// of a model stands in the same line.
#[derive(Clone, Debug)]
pub struct Providers {
    inner: Arc<Inner>,
    /// Models in this process, by their whole names.
    residents: Arc<BTreeMap<Arc<str>, Arc<dyn Resident>>>,
    /// Where the bytes of images and documents are.
    bytes: Option<AttachedBytes>,
}

#[derive(Debug)]
struct Inner {
    providers: BTreeMap<String, Arc<Provider>>,
    /// Providers on another wire than theirs, for models that are spoken to so.
    others: Mutex<BTreeMap<(String, &'static str), Arc<Provider>>>,
    models: ModelTable,
    options: Options,
    /// One per model that was ever opened.
    governors: Mutex<BTreeMap<Arc<str>, Governor>>,
    /// Tells when a provider had too much to do.
    overruns: broadcast::Sender<Overrun>,
    /// The places of all requests to a provider, where their number is limited, whatever the model and the wire.
    places: BTreeMap<String, Arc<Semaphore>>,
    /// Scripts are read once, so that a thousand children do not read a thousand times.
    scripts: Mutex<HashMap<PathBuf, Arc<Script>>>,
    /// What servers said about their models.
    learnt: Arc<Learnt>,
    /// How models are spoken to that were opened before: looking it up in the table takes as long as writing a small request.
    opened: Mutex<HashMap<Arc<str>, Opened>>,
}

/// How a model is spoken to. It follows from the configuration and the table, which do not change.
#[derive(Clone, Debug)]
struct Opened {
    provider: Arc<Provider>,
    settings: Arc<ModelSettings>,
    takes: Takes,
}

/// What holds for all providers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How many calls a model gets at once.
    pub pace: Pace,
}

impl Providers {
    /// Sets up the providers. Nothing is connected before the first request.
    pub fn new(providers: Vec<ProviderConfig>, models: ModelTable, options: Options) -> Result<Self, Error> {
        let mut known = BTreeMap::new();
        for config in providers {
            let name = config.name.clone();
            if [SCRIPTED, BUILTIN, PROGRAM, ""].contains(&name.as_str()) || name.contains('/') {
                return Err(Error::Provider { provider: name, reason: "this name cannot be used".to_owned() });
            }
            check_body(&format!("providers.{name}"), config.wire, &config.settings)?;
            known.insert(name, Arc::new(Provider::new(config)?));
        }
        for (name, entry) in models.overrides() {
            let provider = name.split_once('/').and_then(|(provider, _)| known.get(provider));
            if let Some(wire) = entry.wire.or(provider.map(|provider| provider.wire())) {
                let settings = ModelSettings { body: entry.body.clone(), ..ModelSettings::default() };
                check_body(&format!("models.\"{name}\""), wire, &settings)?;
            }
        }
        let (governors, scripts) = (Mutex::default(), Mutex::default());
        let (others, learnt, opened) = (Mutex::default(), Arc::default(), Mutex::default());
        let places = |(name, provider): (&String, &Arc<Provider>)| {
            Some((name.clone(), Arc::new(Semaphore::new(provider.concurrency()?.min(Semaphore::MAX_PERMITS)))))
        };
        let places = known.iter().filter_map(places).collect();
        let overruns = broadcast::channel(64).0;
        let inner =
            Inner { providers: known, others, models, options, governors, overruns, places, scripts, learnt, opened };
        let inner = Arc::new(inner);
        Ok(Self { inner, residents: Arc::default(), bytes: None })
    }

    /// These providers and a model that lives in this process, known as `builtin/NAME` or `program/NAME`.
    #[must_use]
    pub fn with_resident(mut self, name: &str, resident: Arc<dyn Resident>) -> Self {
        Arc::make_mut(&mut self.residents).insert(name.into(), resident);
        self
    }

    /// These providers, which find the bytes of images and documents so.
    #[must_use]
    pub fn with_attached_bytes(self, bytes: AttachedBytes) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Has `scripted/NAME` play a script that is in no file.
    pub fn add_script(&self, name: &str, script: Script) {
        let mut scripts = self.inner.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.insert(name.into(), Arc::new(script));
    }

    /// The names of the providers that can be asked.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.inner.providers.keys().map(String::as_str)
    }

    /// A model and its figures, by its name `provider/model`. Everything behind the first `/` is the model's own name.
    pub fn model(&self, name: &str) -> Result<Model, Error> {
        let (provider, _) = split(name)?;
        // Where neither the table nor the server knows the model, everything of its maker is the nearest guess; an error of the server corrects it.
        let guess = self.inner.models.entry(name, None, ModelEntry::default());
        let known = self.entry(name)?.or(guess).model(name);
        if provider == SCRIPTED || self.residents.contains_key(name) {
            return Ok(known);
        }
        let provider = self.provider(provider)?;
        let free = provider.is_on_this_machine().then(Price::default);
        // What is never written costs nothing, also where it is reckoned with the dearest price.
        let is_kept_long = self.settings(name, provider).parent_cache == Some(CacheTime::OneHour);
        let hour = |price: Price| match is_kept_long {
            true => price,
            false => Price {
                cache_write_1h: 0,
                long: price.long.map(|long| LongPrice { cache_write_1h: 0, ..long }),
                ..price
            },
        };
        Ok(Model { price: known.price.or(free).map(hour), patience: provider.patience(), ..known })
    }

    fn settings(&self, name: &str, provider: &Provider) -> ModelSettings {
        self.inner.models.settings(name, provider.settings())
    }

    /// The provider of a model, on the wire of that model: what the user has set for it, else what the table says of it at its maker's
    /// own address, else that of the provider.
    fn speaker(&self, name: &str, provider: &str) -> Result<Arc<Provider>, Error> {
        let usual = self.provider(provider)?;
        let models = &self.inner.models;
        let by_table = || models.home_wire(name).filter(|_| usual.is_spoken_to_as_usual());
        let wire = models.set_wire(name).or_else(by_table).unwrap_or(usual.wire());
        if wire == usual.wire() {
            return Ok(Arc::clone(usual));
        }
        let mut others = self.inner.others.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (provider.to_owned(), wire.name());
        if let Some(known) = others.get(&key) {
            return Ok(Arc::clone(known));
        }
        let other = Arc::new(usual.on(wire)?);
        Ok(Arc::clone(others.entry(key).or_insert(other)))
    }

    /// All that is known of a model: what the user has set, what the table says of this model, what its server says about it, and what the table
    /// says of its family. How much fits into a request and into an answer is never more than the server said when one did not fit.
    pub fn entry(&self, name: &str) -> Result<ModelEntry, Error> {
        self.entry_with(name, self.inner.learnt.figures(name).unwrap_or_default())
    }

    /// The same for a model about which its server says this in its list.
    pub fn entry_with(&self, name: &str, told: ModelEntry) -> Result<ModelEntry, Error> {
        let (provider, model) = split(name)?;
        if provider == SCRIPTED || self.residents.contains_key(name) {
            return Ok(self.inner.models.entry(name, None, told));
        }
        let speaker = self.speaker(name, provider)?;
        let server = Server { wire: speaker.wire(), model, is_makers_own: speaker.is_makers_own() };
        let mut known = self.inner.models.entry(name, Some(server), told);
        if let Some(window) = self.inner.learnt.window_tokens(name) {
            known.context_tokens = Some(known.context_tokens.map_or(window, |tokens| tokens.min(window)));
        }
        if let Some(most) = speaker.most_output_tokens(model) {
            known.max_output_tokens = Some(known.max_output_tokens.map_or(most, |tokens| tokens.min(most)));
        }
        Ok(known)
    }

    /// Asks a model's server what it says about the model, where its context window is not known. It is asked once in a process; one that
    /// does not say leaves everything as it is.
    #[boxed]
    pub async fn learn(&self, name: &str) {
        let Ok((provider, model)) = split(name) else { return };
        let Some(provider) = self.speaker(name, provider).ok().filter(|provider| !provider.is_openai()) else {
            return;
        };
        let is_known = self.entry(name).is_ok_and(|entry| entry.context_tokens.is_some());
        if is_known || self.inner.learnt.figures(name).is_some() || provider.check_key().is_err() {
            return;
        }
        let figures = provider.figures(model).await;
        tracing::debug!(model = %name, ?figures, "what the server says about the model");
        self.inner.learnt.note_figures(name, figures);
    }

    /// The models that a provider lists itself.
    #[boxed]
    pub async fn list(&self, provider: &str) -> Result<Vec<Listed>, CallError> {
        let unusable = |error: Error| failed(CallErrorKind::Rejected, error.to_string());
        let provider = self.provider(provider).map_err(unusable)?;
        provider.check_key().map_err(unusable)?;
        provider.list().await
    }

    /// The models that the table knows by their whole name, of one provider.
    pub fn known(&self, provider: &str) -> Vec<&str> {
        let is_of = |name: &&str| name.split_once('/').is_some_and(|(of, _)| of == provider);
        self.inner.models.names().filter(is_of).collect()
    }

    /// What the table, or the user, says that a model takes. What its server lists is not asked: some name only what a model does best.
    fn takes(&self, name: &str) -> Takes {
        self.entry_with(name, ModelEntry::default()).map(|entry| Takes::of(&entry)).unwrap_or_default()
    }

    /// Whether the table, or the user, says that a model takes no tools, so that it gets none.
    pub fn takes_no_tools(&self, name: &str) -> bool {
        !self.takes(name).tools
    }

    /// Whether the table, or the user, says anything about this model, or about its family.
    pub fn is_known(&self, name: &str) -> bool {
        self.inner.models.knows(name)
    }

    /// Why a provider cannot be asked: its key is missing; none where it can.
    pub fn missing_key(&self, provider: &str) -> Option<String> {
        self.inner.providers.get(provider)?.check_key().err().map(|error| error.to_string())
    }

    /// Opens a conversation with a model. It has to be begun before it is asked anything.
    pub fn open(&self, name: &str) -> Result<Conversation, Error> {
        let (provider, model) = split(name)?;
        let backend = if provider == SCRIPTED {
            Backend::Scripted(Arc::new(ScriptPlayer::new(self.script(model)?)))
        } else if let Some(resident) = self.residents.get(name) {
            Backend::Resident(Arc::clone(resident))
        } else {
            let Opened { provider, settings, takes } = self.opened(name, provider)?;
            Backend::Provider(provider, model.into(), settings, takes)
        };
        let attached = Attached::new(self.bytes.clone(), &self.entry(name)?);
        let name: Arc<str> = name.into();
        let governor = self.governor(&name);
        let places = name.split_once('/').and_then(|(provider, _)| self.inner.places.get(provider)).cloned();
        let learnt = Arc::clone(&self.inner.learnt);
        Ok(Conversation::new(backend, name, governor, places, learnt, attached))
    }

    fn opened(&self, name: &str, provider: &str) -> Result<Opened, Error> {
        let lock = || self.inner.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = lock().get(name) {
            return Ok(opened.clone());
        }
        let provider = self.speaker(name, provider)?;
        provider.check_key()?;
        provider.connect()?;
        let settings = self.settings(name, &provider);
        check_body(&format!("models.\"{name}\""), provider.wire(), &settings)?;
        let opened = Opened { provider, settings: Arc::new(settings), takes: self.takes(name) };
        lock().insert(name.into(), opened.clone());
        Ok(opened)
    }

    /// How every model that was opened is doing.
    pub fn governors(&self) -> Vec<(Arc<str>, GovernorState)> {
        let governors = self.inner.governors.lock().unwrap_or_else(PoisonError::into_inner);
        governors.iter().map(|(name, governor)| (Arc::clone(name), governor.state())).collect()
    }

    /// Tells when a provider has too much to do, so that other processes can be told.
    pub fn overruns(&self) -> broadcast::Receiver<Overrun> {
        self.inner.overruns.subscribe()
    }

    /// A provider had too much to do for another process: callers here slow down, too.
    pub fn slow(&self, model: &str, wait_ms: Option<u64>) {
        self.governor(&model.into()).slow(wait_ms);
    }

    fn governor(&self, name: &Arc<str>) -> Governor {
        let mut governors = self.inner.governors.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let provider = name.split_once('/').and_then(|(provider, _)| self.inner.providers.get(provider));
            let usual = self.inner.options.pace;
            let most = provider.and_then(|provider| provider.concurrency()).unwrap_or(usual.max);
            let patience = provider.map(|provider| provider.patience()).unwrap_or_default();
            let pace = Pace { start: usual.start.min(most), max: most };
            Governor::new(pace, Duration::from_millis(patience.longest_wish_ms))
                .telling(Arc::clone(name), self.inner.overruns.clone())
        };
        governors.entry(Arc::clone(name)).or_insert_with(new).clone()
    }

    fn provider(&self, name: &str) -> Result<&Arc<Provider>, Error> {
        self.inner.providers.get(name).ok_or_else(|| {
            let known: Vec<&str> =
                self.providers().chain([SCRIPTED]).chain(self.residents.keys().map(AsRef::as_ref)).collect();
            Error::UnknownProvider { name: name.to_owned(), known: known.join(", ") }
        })
    }

    fn script(&self, path: &str) -> Result<Arc<Script>, Error> {
        let mut scripts = self.inner.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        let path = PathBuf::from(path);
        if let Some(script) = scripts.get(&path) {
            return Ok(Arc::clone(script));
        }
        let script = Arc::new(Script::read(&path)?);
        scripts.insert(path, Arc::clone(&script));
        Ok(script)
    }
}

/// Refuses fields of a request that are the program's own.
fn check_body(key: &str, wire: Wire, settings: &ModelSettings) -> Result<(), Error> {
    match extra::refused(wire, &settings.body) {
        Some((field, cure)) => Err(Error::OwnField { key: format!("{key}.body.{field}"), cure }),
        None => Ok(()),
    }
}

fn split(name: &str) -> Result<(&str, &str), Error> {
    match name.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok((provider, model)),
        _ => Err(Error::ModelName(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::builtin_providers;
    use crate::secret::Secret;

    fn providers(key: Option<&str>) -> Providers {
        let configs = builtin_providers().iter().map(|provider| provider.config(key.map(Secret::new))).collect();
        Providers::new(configs, ModelTable::builtin(), Options::default()).expect("the built-in providers are good")
    }

    #[test]
    fn a_model_name_is_split_at_its_first_slash_only() {
        // LACE-2
        for name in ["ollama/llama3:8b", "ollama/org/model", "anthropic/claude-sonnet-4-5"] {
            assert_eq!(&*providers(None).model(name).expect("a model").name, name);
        }
        for name in ["", "gpt-5", "/x", "openai/", "/"] {
            assert!(matches!(providers(None).model(name), Err(Error::ModelName(_))), "{name}");
        }
    }

    #[test]
    fn an_unknown_provider_is_answered_with_the_known_ones() {
        let error = providers(None).model("mistral/large").expect_err("not configured");
        assert_eq!(
            error.to_string(),
            "there is no provider `mistral`; known are anthropic, gemini, ollama, openai, scripted"
        );
    }

    #[test]
    fn a_price_is_known_from_the_table_or_because_the_server_is_on_this_machine() {
        let price = |base_url: &str, model: &str| {
            let openai = builtin_providers().iter().find(|provider| provider.name == "openai").expect("built in");
            let config = ProviderConfig { base_url: base_url.to_owned(), ..openai.config(None) };
            let providers = Providers::new(vec![config], ModelTable::builtin(), Options::default()).expect("good");
            providers.model(model).expect("a model").price
        };
        for local in ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1", "http://llm.localhost/v1"]
        {
            assert_eq!(price(local, "openai/unheard-of"), Some(Price::default()), "{local}");
        }
        for remote in ["https://gateway.example/v1", "http://10.0.0.7/v1", "http://localhost.example/v1"] {
            assert_eq!(price(remote, "openai/unheard-of"), None, "{remote}");
        }
        assert!(price("https://gateway.example/v1", "openai/gpt-5").is_some_and(|price| price.output > 0));
        assert!(
            price("http://localhost/v1", "openai/gpt-5").is_some_and(|price| price.output > 0),
            "it may pass it on"
        );
    }

    #[test]
    fn what_the_table_says_of_all_models_of_a_maker_counts_at_the_makers_own_address_only() {
        let window = |provider: &str, base_url: Option<&str>, model: &str, own: Option<u64>| {
            let builtin = builtin_providers().iter().find(|builtin| builtin.name == provider).expect("built in");
            let usual = builtin.config(None);
            let config = ProviderConfig { base_url: base_url.unwrap_or(&usual.base_url).to_owned(), ..usual };
            let own = own.map(|tokens| ModelEntry { context_tokens: Some(tokens), ..ModelEntry::default() });
            let table = ModelTable::builtin().with(own.map(|own| (format!("{provider}/*"), own)).into_iter().collect());
            let providers = Providers::new(vec![config], table, Options::default()).expect("good");
            let name = format!("{provider}/{model}");
            let entry = providers.entry(&name).expect("a model");
            (entry.context_tokens, providers.model(&name).expect("a model").context_tokens)
        };
        let home = [("openai", 128_000), ("anthropic", 200_000), ("gemini", 1_048_576)];
        for (provider, tokens) in home {
            assert_eq!(window(provider, None, "unheard-of", None), (Some(tokens), tokens), "{provider}");
            for elsewhere in ["http://127.0.0.1:8000/v1", "http://localhost:11434/v1", "https://gw.example/v1"] {
                let unknown = window(provider, Some(elsewhere), "unheard-of", None);
                assert_eq!(unknown, (None, tokens), "{provider} at {elsewhere}: its server is asked");
                let set = window(provider, Some(elsewhere), "unheard-of", Some(7_000));
                assert_eq!(set, (Some(7_000), 7_000), "{provider} at {elsewhere}: as the user has set");
            }
        }
        let gateway = Some("https://gw.example/v1");
        assert_eq!(window("openai", gateway, "gpt-4.1", None).1, 1_047_576, "a gateway may have the model itself");
        for own in ["https://eu.api.openai.com/v1", "https://n.openai.azure.com/openai/v1"] {
            assert_eq!(window("openai", Some(own), "unheard-of", None).1, 128_000, "{own}");
        }
        let compatible = Some("https://generativelanguage.googleapis.com/v1beta/openai");
        assert_eq!(window("gemini", compatible, "unheard-of", None).1, 1_048_576);
    }

    #[test]
    fn the_table_says_how_a_model_is_spoken_to_at_its_makers_own_address_only() {
        let wire = |wire: Wire, base_url: &str, model: &str| {
            let openai = builtin_providers().iter().find(|provider| provider.name == "openai").expect("built in");
            let config = ProviderConfig { base_url: base_url.to_owned(), wire, ..openai.config(None) };
            let providers = Providers::new(vec![config], ModelTable::builtin(), Options::default()).expect("good");
            providers.speaker(model, "openai").expect("a provider").wire()
        };
        let (home, search) = ("https://api.openai.com/v1", "openai/gpt-4o-search-preview");
        assert_eq!(wire(Wire::Responses, home, "openai/gpt-4o"), Wire::Responses);
        assert_eq!(wire(Wire::Responses, home, search), Wire::OpenAi);
        assert_eq!(wire(Wire::Responses, "https://gateway.example/v1", search), Wire::Responses, "as it is configured");
        assert_eq!(wire(Wire::OpenAi, home, "openai/gpt-4o"), Wire::OpenAi, "as it is configured");
    }

    #[test]
    fn a_missing_key_is_named_before_anything_is_sent() {
        let error = providers(None).open("openai/gpt-5").expect_err("no key");
        assert_eq!(error.to_string(), "openai needs a key: set OPENAI_API_KEY");
        assert!(providers(None).open("ollama/llama3:8b").is_ok());
    }

    #[test]
    fn all_conversations_with_a_model_share_one_governor() {
        let providers = providers(None);
        let _open = (providers.open("ollama/a"), providers.open("ollama/a"), providers.open("ollama/b"));
        let names: Vec<Arc<str>> = providers.governors().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["ollama/a".into(), "ollama/b".into()]);
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_refused_without_being_shown() {
        // T61
        let mut config = builtin_providers()[0].config(Some(Secret::new("sk-canary\nx")));
        let refuse = |config| {
            let providers = Providers::new(vec![config], ModelTable::builtin(), Options::default());
            providers.expect_err("not usable").to_string()
        };
        let error = refuse(config.clone());
        assert!(error.contains("key") && !error.contains("canary"), "{error}");
        config.key = None;
        config.base_url = "api.example.com".into();
        assert!(refuse(config).contains("base URL"));
    }
}
