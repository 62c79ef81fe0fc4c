//! One thread's conversation with one model: messages are added, and one answer at a time is asked for.

use std::fmt;
use std::sync::Arc;

use agent::Json;
use agent::message::Message;
use agent::model::{Answer, CallError, CallErrorKind};
use agent::tools::ToolInfo;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::attached::Attached;
use crate::compat::Takes;
use crate::config::{Effort, ModelSettings, Wire};
use crate::failure::cancelled;
use crate::governor::Governor;
use crate::history::{History, Opening, Writing};
use crate::http::Provider;
use crate::learnt::Learnt;
use crate::lessons::Lessons;
use crate::resident::{self, Heard, Resident};
use crate::scripted::ScriptPlayer;

/// A conversation with one model. What was said is kept in the bytes of the model's wire; for a resident, as it was said.
#[derive(Debug)]
pub struct Conversation {
    backend: Backend,
    /// `provider/model`, for the log.
    name: Arc<str>,
    /// Shared with the calls in flight, and copied only if something is said while one is.
    history: Arc<History>,
    /// What a resident has heard; empty for everybody else, who needs only bytes.
    heard: Arc<Heard>,
    governor: Governor,
    /// The places of all requests to the provider, where their number is limited.
    places: Option<Arc<Semaphore>>,
    /// Where it is noted what the server says about the model.
    learnt: Arc<Learnt>,
    /// What the server said about this conversation.
    lessons: Arc<Lessons>,
    /// What the model is shown of images and documents.
    attached: Attached,
}

/// What answers.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    /// A provider, its own name of the model, what was set about that model, and what the model is known to take.
    Provider(Arc<Provider>, Arc<str>, Arc<ModelSettings>, Takes),
    /// A script.
    Scripted(Arc<ScriptPlayer>),
    /// A model in this process.
    Resident(Arc<dyn Resident>),
}

/// One question: everything about a call that is not the conversation itself.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The longest answer.
    pub max_tokens: u64,
    /// How many tokens fit into the request, answer included, for servers that must be told; none means as the server thinks fit.
    pub window_tokens: Option<u64>,
    /// Whether the asker may wait for sub-agents before it asks again.
    pub may_wait: bool,
    /// Whether the model may call tools. They are advertised all the same, so that the prompt's prefix stays.
    pub calls_allowed: bool,
    /// JSON Schema that the answer's text should follow. Checking it is left to the asker.
    pub output_schema: Option<Json>,
    /// Ends the call: the request is closed and the answer is a failure of kind `Cancelled`.
    pub cancel: CancellationToken,
    /// Gets streamed text as it comes; the answer holds all of it again.
    pub deltas: Option<DeltaSink>,
    /// Who asks, for the log of the process.
    pub label: Arc<str>,
}

/// Gets the streamed text of an answer: called for each piece on the thread that reads the answer, so that it must be quick.
#[derive(Clone)]
pub struct DeltaSink(Arc<dyn Fn(Delta<'_>) + Send + Sync>);

/// A piece of an answer that is being streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// Words of the answer.
    Words(&'a str),
    /// What the model thinks before it answers.
    Thought(&'a str),
}

impl DeltaSink {
    /// A sink that does this with every piece of the words.
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::with_thoughts(move |delta| match delta {
            Delta::Words(words) => hear(words),
            Delta::Thought(_) => {}
        })
    }

    /// A sink that does this with every piece of words and thoughts.
    pub fn with_thoughts(hear: impl Fn(Delta<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    /// Passes a piece of the words on, unless it is empty.
    pub(crate) fn hear(&self, words: &str) {
        if !words.is_empty() {
            (self.0)(Delta::Words(words));
        }
    }

    /// Passes a piece of the thoughts on, unless it is empty.
    pub(crate) fn think(&self, thoughts: &str) {
        if !thoughts.is_empty() {
            (self.0)(Delta::Thought(thoughts));
        }
    }
}

impl fmt::Debug for DeltaSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeltaSink")
    }
}

impl Conversation {
    pub(crate) fn new(
        backend: Backend,
        name: Arc<str>,
        governor: Governor,
        places: Option<Arc<Semaphore>>,
        learnt: Arc<Learnt>,
        attached: Attached,
    ) -> Self {
        let (history, heard, lessons) = (Arc::default(), Arc::default(), Arc::default());
        Self { backend, name, history, heard, governor, places, learnt, lessons, attached }
    }

    /// The same conversation with another effort than what is set for its model. An agent's effort is meant for whatever model the agent has, so that
    /// one that is known to take none gets none, unless the user has set one for the model.
    #[must_use]
    pub fn with_effort(mut self, effort: Effort) -> Self {
        if let Backend::Provider(_, _, settings, takes) = &mut self.backend
            && (takes.effort || settings.effort.is_some())
        {
            Arc::make_mut(settings).effort = Some(effort);
        }
        self
    }

    /// The same conversation after `before`, of which something was left out or replaced to make room: what its server said about it still holds.
    #[must_use]
    pub fn following(self, before: &Self) -> Self {
        let lessons = if self.name == before.name { Arc::new(before.lessons.shortened()) } else { self.lessons };
        Self { lessons, ..self }
    }

    /// Begins, or begins again after old parts were trimmed: forgets all that was said. The system prompt is what conversations that
    /// begin alike share, which a provider can keep for the next one, and behind it what is this one's own.
    pub fn begin(&mut self, shared: &str, own: &str, tools: &[ToolInfo]) {
        let opening = match &self.backend {
            Backend::Provider(provider, ..) => provider.opening(shared, tools).with_own(provider.wire(), own),
            Backend::Scripted(_) | Backend::Resident(_) => Opening::default(),
        };
        let writing = self.backend.wire().map(|wire| Writing {
            wire,
            model: Arc::clone(&self.name),
            attached: self.attached.clone(),
        });
        self.history = Arc::new(History::begin(writing, opening, shared.len() + own.len(), tools));
        if matches!(self.backend, Backend::Resident(_)) {
            let system = format!("{shared}{own}").into();
            self.heard = Arc::new(Heard { system, tools: tools.to_vec(), messages: Vec::new() });
        }
    }

    /// Adds what was said.
    pub fn push(&mut self, message: &Message) {
        Arc::make_mut(&mut self.history).push(message);
        if matches!(self.backend, Backend::Resident(_)) {
            Arc::make_mut(&mut self.heard).messages.push(message.clone());
        }
    }

    /// Asks for the next answer. Waits in the model's line first; dropping the future closes the request.
    pub fn ask(&self, ask: Ask) -> impl Future<Output = Result<Answer, CallError>> + Send + 'static + use<> {
        let (backend, name) = (self.backend.clone(), Arc::clone(&self.name));
        let (history, governor) = (Arc::clone(&self.history), self.governor.clone());
        let (heard, learnt, places) = (Arc::clone(&self.heard), Arc::clone(&self.learnt), self.places.clone());
        let lessons = Arc::clone(&self.lessons);
        async move {
            if ask.cancel.is_cancelled() {
                return Err(cancelled());
            }
            let permit = tokio::select! {
                biased;
                permit = governor.admit() => permit,
                () = ask.cancel.cancelled() => return Err(cancelled()),
            };
            // Behind the line of the model, so that a model that has to wait takes no place from another.
            let _place = match places {
                None => None,
                Some(places) => tokio::select! {
                    biased;
                    place = places.acquire_owned() => place.ok(),
                    () = ask.cancel.cancelled() => return Err(cancelled()),
                },
            };
            let answer = match &backend {
                Backend::Provider(provider, model, settings, takes) => {
                    provider.speak(model, &history, &ask, settings, *takes, &lessons).await
                }
                Backend::Scripted(player) => player.speak(&history, &ask).await,
                Backend::Resident(resident) => resident::speak(&**resident, &heard, &history, &ask).await,
            };
            match &answer {
                Ok(answer) => {
                    tracing::debug!(label = %ask.label, model = %name, stop = ?answer.stop, tokens = ?answer.tokens, "answered");
                    permit.went_well();
                }
                Err(error) => {
                    tracing::debug!(label = %ask.label, model = %name, %error, retry_after_ms = error.retry_after_ms, "no answer");
                    if let Some(tokens) = error.window_tokens {
                        learnt.note_window(&name, tokens.into());
                    }
                    if matches!(error.kind, CallErrorKind::RateLimited | CallErrorKind::Overloaded) {
                        permit.was_too_much(error.retry_after_ms);
                    }
                }
            }
            answer.map(|answer| history.signed(history.with_unique_calls(answer)))
        }
    }
}

impl Backend {
    fn wire(&self) -> Option<Wire> {
        match self {
            Self::Provider(provider, ..) => Some(provider.wire()),
            Self::Scripted(_) | Self::Resident(_) => None,
        }
    }
}
