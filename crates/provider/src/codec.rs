//! The wire formats behind one set of functions. This is the only file that lists them: what differs between wires is written in
//! their folders, and everything else asks here.

use agent::Json;
use agent::message::Message;
use agent::model::{Answer, CallError, Tokens};
use agent::tools::ToolInfo;
use reqwest::Url;
use reqwest::header::AUTHORIZATION;

use crate::attached::Attached;
use crate::compat::{Compat, SchemaForm};
use crate::config::{ModelSettings, Wire};
use crate::conversation::Ask;
use crate::history::{CallNames, History, Opening, Rendered, fragment};
use crate::stream_reader::StreamState;
use crate::{anthropic, extra, gemini, ollama, openai, responses};

/// Reads the events of one answer.
pub(crate) trait AnswerReader: Send {
    /// Takes the data of one event. Text goes to `say` as it comes.
    fn event(&mut self, data: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError>;

    /// Takes a whole answer, from a server that does not stream.
    fn whole(&mut self, body: &[u8], say: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.event(body, say)
    }

    /// What the model thought since it was last asked for.
    fn take_thoughts(&mut self) -> String {
        String::new()
    }

    /// How often the server said something. Signs of life do not count.
    fn said(&self) -> u64;

    /// How far the answer is.
    fn heard(&self) -> StreamState;

    /// The text so far.
    fn text(&self) -> String;

    /// How many bytes of the answer came: text, thoughts and arguments.
    fn bytes(&self) -> usize;

    /// What the answer used; none before the figures are final. Where they come with the end, there is nothing to know before it.
    fn bill(&self) -> Option<Tokens> {
        None
    }

    /// The answer, once its end was read.
    fn finish(self: Box<Self>) -> Answer;
}

/// What a request to a server must know about that server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Host {
    /// Whether it is OpenAI itself.
    pub(crate) is_openai: bool,
    /// Whether it is OpenAI's API on Azure, which takes its key in a header of its own.
    pub(crate) is_azure: bool,
    /// Whether it is OpenRouter, which passes marks for the cache on to Anthropic's models.
    pub(crate) is_openrouter: bool,
    /// Whether it is Anthropic itself.
    pub(crate) is_anthropic: bool,
    /// Whether it is Google's API for Gemini.
    pub(crate) is_gemini: bool,
}

impl Host {
    /// What the address tells.
    pub(crate) fn of(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        Self {
            is_openai: is_openai(host),
            is_azure: is_azure(host),
            is_openrouter: host == "openrouter.ai",
            is_anthropic: host == "api.anthropic.com",
            is_gemini: host == "generativelanguage.googleapis.com",
        }
    }

    /// The provider whose own models it has; none where it may have any.
    pub(crate) fn maker(self) -> Option<&'static str> {
        match self {
            _ if self.is_home() => Some(Wire::OpenAi.maker()),
            Self { is_anthropic: true, .. } => Some(Wire::Anthropic.maker()),
            Self { is_gemini: true, .. } => Some(Wire::Gemini.maker()),
            _ => None,
        }
    }

    /// Whether it has OpenAI's own models.
    pub(crate) fn is_home(self) -> bool {
        self.is_openai || self.is_azure
    }

    /// Whether it takes marks for the cache of this model on OpenAI's older wire.
    pub(crate) fn takes_marks(self, model: &str) -> bool {
        self.is_openrouter && model.starts_with("anthropic/")
    }
}

/// The port at which Ollama is, where nothing else was chosen.
pub(crate) const OLLAMA_PORT: u16 = 11_434;

/// Whether a host is one of OpenAI's own.
fn is_openai(host: &str) -> bool {
    host == "api.openai.com" || host.ends_with(".api.openai.com")
}

/// Whether a host serves OpenAI's API on Azure.
fn is_azure(host: &str) -> bool {
    [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"]
        .iter()
        .any(|end| host.ends_with(end))
}

impl Wire {
    /// The wire of a provider that speaks OpenAI's older one as far as is known, at its address. The current models of OpenAI take
    /// tools only on the Responses API, which other servers with the older wire mostly do not have. Ollama has an API of its own,
    /// which can do more.
    pub fn at_home(self, base_url: &str) -> Self {
        let Ok(url) = Url::parse(base_url) else { return self };
        match self {
            Self::OpenAi if Host::of(&url).is_home() => Self::Responses,
            Self::OpenAi if url.port() == Some(OLLAMA_PORT) => Self::Ollama,
            _ => self,
        }
    }

    /// System prompt and tools.
    pub(crate) fn opening(self, system: &str, tools: &[ToolInfo]) -> Opening {
        let tool = match self {
            Self::Anthropic => anthropic::tool,
            Self::OpenAi | Self::Ollama => openai::tool,
            Self::Responses => responses::tool,
            Self::Gemini => gemini::tool,
        };
        let tools: Vec<String> = tools.iter().map(tool).collect();
        Opening { system: self.system(system).into(), tools: tools.join(",").into(), ..Opening::default() }
    }

    /// A part of the system prompt; empty where there is none.
    pub(crate) fn system(self, text: &str) -> String {
        match self {
            _ if text.trim().is_empty() => String::new(),
            Self::Anthropic => anthropic::system(text),
            Self::OpenAi | Self::Responses | Self::Ollama => fragment(text),
            Self::Gemini => gemini::system(text),
        }
    }

    /// One message, written once.
    pub(crate) fn render(self, message: &Message, names: &CallNames, attached: &Attached) -> Rendered {
        match self {
            Self::Anthropic => anthropic::render(message, attached),
            Self::OpenAi => openai::render(message, attached),
            Self::Responses => responses::render(message, attached),
            Self::Gemini => gemini::render(message, names, attached),
            Self::Ollama => ollama::render(message, names, attached),
        }
    }

    /// Whether a block that this wire kept is what the model thought.
    pub(crate) fn is_thought(self, block: &Json) -> bool {
        match self {
            Self::Anthropic => anthropic::is_thought(block),
            Self::Responses => responses::is_thought(block),
            Self::Gemini => gemini::is_thought(block),
            Self::OpenAi | Self::Ollama => true,
        }
    }

    /// The body of a request, in the form that the server takes.
    pub(crate) fn body(
        self,
        history: &History,
        model: &str,
        ask: &Ask,
        compat: &Compat,
        settings: &ModelSettings,
    ) -> Vec<u8> {
        let body = match self {
            Self::Anthropic => anthropic::body(history, model, ask, compat, settings),
            Self::OpenAi => openai::body(history, model, ask, compat, settings),
            Self::Responses => responses::body(history, model, ask, compat, settings),
            Self::Gemini => gemini::body(history, model, ask, compat, settings),
            Self::Ollama => ollama::body(history, model, ask, compat, settings),
        };
        extra::with(body, &settings.body)
    }

    /// A reader for one answer.
    pub(crate) fn reader(self) -> Box<dyn AnswerReader> {
        match self {
            Self::Anthropic => Box::new(anthropic::Reader::default()),
            Self::OpenAi => Box::new(openai::Reader::default()),
            Self::Responses => Box::new(responses::Reader::default()),
            Self::Gemini => Box::new(gemini::Reader::default()),
            Self::Ollama => Box::new(ollama::Reader::default()),
        }
    }

    /// A reader that reads every event by itself, however similar they are.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn plain_reader(self) -> Box<dyn AnswerReader> {
        match self {
            Self::Anthropic => Box::new(anthropic::Reader::plain()),
            Self::OpenAi => Box::new(openai::Reader::plain()),
            Self::Responses | Self::Gemini | Self::Ollama => self.reader(),
        }
    }

    /// Whether a server holds the model to the schema of its answer, in a request of this form.
    pub(crate) fn holds_to_schema(self, history: &History, compat: &Compat) -> bool {
        match self {
            Self::Anthropic | Self::OpenAi | Self::Responses | Self::Gemini => compat.schema == SchemaForm::Strict,
            Self::Ollama => ollama::holds_to_schema(history, compat),
        }
    }

    /// Where a model is asked. People write the address of Anthropic and of Gemini with and without the version, and that of Ollama
    /// with and without the path of its API for OpenAI's wire.
    pub(crate) fn endpoint(self, base: &Url, model: &str) -> Url {
        let mut url = base.clone();
        let path = match (self, base.path().trim_end_matches('/')) {
            (Self::Ollama, path) => outside_version(path),
            (_, path) => path,
        };
        let tail = match self {
            Self::Anthropic if path.ends_with("/v1") => "/messages".to_owned(),
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::OpenAi => "/chat/completions".to_owned(),
            Self::Responses => "/responses".to_owned(),
            Self::Ollama => "/api/chat".to_owned(),
            Self::Gemini => {
                let version = if path.rsplit('/').next().is_some_and(is_version) { "" } else { "/v1beta" };
                format!("{version}/models/{model}:streamGenerateContent")
            }
        };
        url.set_path(&format!("{path}{tail}"));
        if self == Self::Gemini {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        url
    }

    /// The header that carries a key, and its value.
    pub(crate) fn key_header(self, key: &str, host: Host, is_bearer: bool) -> (&'static str, String) {
        match self {
            _ if is_bearer => (AUTHORIZATION.as_str(), format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
            Self::OpenAi | Self::Responses if host.is_azure => ("api-key", key.to_owned()),
            Self::OpenAi | Self::Responses | Self::Ollama => (AUTHORIZATION.as_str(), format!("Bearer {key}")),
        }
    }
}

/// The path of a server above the version of its API for OpenAI's wire.
pub(crate) fn outside_version(path: &str) -> &str {
    path.strip_suffix("/v1").unwrap_or(path)
}

/// Whether a part of a path names a version: `v1`, `v1beta`, `v1alpha`.
pub(crate) fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_found_however_the_base_is_written() {
        for (wire, base, expected) in [
            (Wire::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
            (Wire::Anthropic, "https://gw.example/v1/", "https://gw.example/v1/messages"),
            (Wire::Anthropic, "https://gw.example/claude", "https://gw.example/claude/v1/messages"),
            (Wire::OpenAi, "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
            (Wire::OpenAi, "http://[::1]:1/v1/?a=b", "http://[::1]:1/v1/chat/completions?a=b"),
            (Wire::Responses, "https://api.openai.com/v1/", "https://api.openai.com/v1/responses"),
            (Wire::Ollama, "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/api/chat"),
            (Wire::Ollama, "https://gw.example/ollama/", "https://gw.example/ollama/api/chat"),
            (
                Wire::Gemini,
                "https://generativelanguage.googleapis.com",
                "https://generativelanguage.googleapis.com/v1beta/models/a-model:streamGenerateContent?alt=sse",
            ),
            (
                Wire::Gemini,
                "http://gw.example/v1/?k=1",
                "http://gw.example/v1/models/a-model:streamGenerateContent?k=1&alt=sse",
            ),
        ] {
            let base = Url::parse(base).expect("an address");
            assert_eq!(wire.endpoint(&base, "a-model").as_str(), expected);
        }
    }

    #[test]
    fn openai_and_azure_get_the_responses_api_and_other_servers_keep_chat_completions() {
        for base in [
            "https://api.openai.com/v1",
            "https://eu.api.openai.com/v1",
            "https://my-name.openai.azure.com/openai/v1",
            "https://my-name.services.ai.azure.com/openai/v1/",
        ] {
            assert_eq!(Wire::OpenAi.at_home(base), Wire::Responses, "{base}");
        }
        for base in
            ["http://127.0.0.1:8080/v1", "https://api.openai.com.example.org/v1", "https://openrouter.ai/api/v1", "no"]
        {
            assert_eq!(Wire::OpenAi.at_home(base), Wire::OpenAi, "{base}");
        }
        assert_eq!(Wire::Anthropic.at_home("https://api.openai.com/v1"), Wire::Anthropic);
        assert_eq!(Wire::OpenAi.at_home("http://gpu.lan:11434/v1"), Wire::Ollama);
    }

    #[test]
    fn azure_takes_its_key_in_a_header_of_its_own() {
        let host = |url: &str| Host::of(&Url::parse(url).expect("an address"));
        let azure = Wire::Responses.key_header("k", host("https://n.openai.azure.com/openai/v1"), false);
        assert_eq!(azure, ("api-key", "k".to_owned()));
        let openai = Wire::Responses.key_header("k", host("https://api.openai.com/v1"), false);
        assert_eq!(openai, ("authorization", "Bearer k".to_owned()));
    }
}
