//! A provider over HTTP: one request, one streamed answer. The only file that knows sockets.
//!
//! Redirects are not followed, because the key would travel with them; requests are never repeated here, because every
//! attempt belongs in the log.

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use agent::message::Part;
use agent::model::{Answer, CallError, CallErrorKind, Patience};
use agent::tools::ToolInfo;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use serde_json::Value;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use crate::anthropic;
use crate::codec::Host;
use crate::compat::{Compat, CompatTable, EMPTY_STREAM, Sent, Takes};
use crate::config::{ModelSettings, ProviderConfig, Wire};
use crate::conversation::Ask;
use crate::error::Error;
use crate::failure::{Asked, SAID, cancelled, failed, innermost, is_corrupt};
use crate::history::{History, Opening};
use crate::lessons::Lessons;
use crate::opening_cache::OpeningCache;
use crate::stream_reader::{StreamReader, StreamState};
use crate::{limits, schema};

/// A provider that can be asked.
#[derive(Debug)]
pub(crate) struct Provider {
    config: ProviderConfig,
    base: Url,
    host: Host,
    /// The address for error texts, without user, password and query.
    shown_url: String,
    /// Of every request. The client sends them along by itself.
    headers: HeaderMap,
    opening_cache: OpeningCache,
    /// What its models take, as far as it is known.
    compat: CompatTable,
    /// Where each model is asked: putting an address together takes as long as writing a small request.
    endpoints: Mutex<HashMap<String, Url>>,
    /// Built when the provider is first used: loading certificates takes time, and a local server needs none.
    client: OnceLock<Client>,
}

impl Provider {
    /// Checks everything that can be checked without asking.
    pub(crate) fn new(config: ProviderConfig) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Provider { provider: config.name.clone(), reason };
        let base = Url::parse(&config.base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| wrong("its base URL must begin with http:// or https:// and name a host".to_owned()))?;
        let host = Host::of(&base);
        let headers = headers(&config, host).map_err(wrong)?;
        Ok(Self {
            shown_url: shown(&base),
            config,
            base,
            host,
            headers,
            opening_cache: OpeningCache::default(),
            compat: CompatTable::default(),
            endpoints: Mutex::default(),
            client: OnceLock::new(),
        })
    }

    pub(crate) fn wire(&self) -> Wire {
        self.config.wire
    }

    /// The same provider, spoken to on another wire.
    pub(crate) fn on(&self, wire: Wire) -> Result<Self, Error> {
        Self::new(ProviderConfig { wire, ..self.config.clone() })
    }

    /// Whether it speaks as servers at its address do, so that the table may say that one of its models is spoken to otherwise.
    pub(crate) fn is_spoken_to_as_usual(&self) -> bool {
        self.host.is_home() && self.config.wire == Wire::OpenAi.at_home(self.base.as_str())
    }

    /// How long a request that fails is tried again.
    pub(crate) fn patience(&self) -> Patience {
        self.config.patience
    }

    /// The longest answer of a model, where the server refused a longer one.
    pub(crate) fn most_output_tokens(&self, model: &str) -> Option<u64> {
        self.compat.most_output_tokens(model)
    }

    /// How many requests run at once, at most.
    pub(crate) fn concurrency(&self) -> Option<usize> {
        self.config.concurrency
    }

    /// What is said to all its models.
    pub(crate) fn settings(&self) -> &ModelSettings {
        &self.config.settings
    }

    /// Whether it is a server on this machine, which bills nobody.
    pub(crate) fn is_on_this_machine(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        is_loopback || host == "localhost" || host.ends_with(".localhost")
    }

    /// How every request of a conversation that begins so is opened.
    pub(crate) fn opening(&self, system: &str, tools: &[ToolInfo]) -> Opening {
        self.opening_cache.of(self.config.wire, system, tools)
    }

    /// Refuses to ask a provider that needs a key and has none.
    pub(crate) fn check_key(&self) -> Result<(), Error> {
        if !self.config.needs_key || self.config.key.is_some() {
            return Ok(());
        }
        let cure = match &self.config.key_env {
            Some(variable) => format!("set {variable}"),
            None => "configure one".to_owned(),
        };
        Err(Error::NoKey { provider: self.config.name.clone(), cure })
    }

    /// Makes the client, once.
    pub(crate) fn connect(&self) -> Result<&Client, Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Installed already, by an earlier provider or by the program that embeds this library: either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("majordomo/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers.clone())
            .connect_timeout(self.config.timeouts.connect)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .tcp_nodelay(true);
        if self.base.scheme() == "http" {
            builder = builder.tls_certs_only([]);
        }
        let wrong = |reason: String| Error::Provider { provider: self.config.name.clone(), reason };
        if let Some(proxy) = &self.config.proxy {
            let proxy = reqwest::Proxy::all(proxy).map_err(|_| wrong("its proxy cannot be used".to_owned()))?;
            builder = builder.proxy(proxy);
        } else if is_loopback(&self.base) {
            builder = builder.no_proxy();
        }
        if let Some(path) = &self.config.ca_file {
            let read = |why: &dyn std::fmt::Display| wrong(format!("ca_file {}: {why}", path.display()));
            let pem = std::fs::read(path).map_err(|why| read(&why))?;
            let certificates =
                reqwest::Certificate::from_pem_bundle(&pem).map_err(|_| read(&"no certificates in PEM"))?;
            if certificates.is_empty() {
                return Err(read(&"no certificates in PEM"));
            }
            builder = builder.tls_certs_merge(certificates);
        }
        let client = builder.build().map_err(|source| Error::Client { provider: self.config.name.clone(), source })?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Asks for something that is no answer of a model: a list, or what the server says about itself. `body` makes it a `POST`.
    /// Whatever comes back holds no key.
    pub(crate) async fn json(&self, url: Url, body: Option<&Value>, within: Duration) -> Result<Value, CallError> {
        let asked = self.asked("");
        let client = self.connect().map_err(|error| failed(CallErrorKind::Rejected, error.to_string()))?;
        let request = match body {
            None => client.get(url),
            Some(body) => client.post(url).body(body.to_string()),
        };
        let never = CancellationToken::new();
        let mut watch = Watch { cancelled: pin!(never.cancelled()), alarm: pin!(tokio::time::sleep(within)) };
        let response = match watch.within(within, request.header(ACCEPT, "application/json").send()).await {
            Waited::Came(Ok(response)) => response,
            Waited::Came(Err(error)) => return Err(self.scrubbed(asked.unreachable(error))),
            Waited::TooLong | Waited::Cancelled => return Err(asked.silent(within.as_secs())),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let most = if status.is_success() { limits::LIST_BYTES } else { limits::ERROR_BODY_BYTES };
        let body = beginning(response, &mut watch, most).await?;
        if !status.is_success() {
            return Err(self.scrubbed(asked.status(status, &headers, &body)));
        }
        serde_json::from_slice(&body).map_err(|_| {
            let (name, url) = (&self.config.name, &self.shown_url);
            failed(CallErrorKind::Garbled, format!("{name} did not answer with JSON: is {url} the address of its API"))
        })
    }

    /// The address of the API.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// The name of the provider.
    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    /// Whether it is OpenAI itself, or OpenAI's API on Azure.
    pub(crate) fn is_openai(&self) -> bool {
        self.host.is_home()
    }

    /// Whether it is at the address of the maker after whom it is named.
    pub(crate) fn is_makers_own(&self) -> bool {
        self.host.maker() == Some(&self.config.name)
    }

    /// Asks once. Whatever comes back holds no key.
    pub(crate) async fn speak(
        &self,
        model: &str,
        history: &History,
        ask: &Ask,
        settings: &ModelSettings,
        takes: Takes,
        lessons: &Lessons,
    ) -> Result<Answer, CallError> {
        let wire = self.config.wire;
        let known = || Compat::of(self.host, wire, self.base.host_str().unwrap_or_default(), model, takes);
        let compat = self.compat.of(model, known);
        let ask = &Ask { max_tokens: compat.most_output(ask.max_tokens), ..ask.clone() };
        let left_out = lessons.left_out(history, &compat);
        let said = history.without(&left_out);
        let body = wire.body(&said, model, ask, &lessons.fit(&compat), settings);
        let is_held = wire.holds_to_schema(&said, &compat);
        match self.converse(model, body, ask).await {
            Ok(answer) if ask.output_schema.is_some() && !is_held => Ok(unfenced(answer)),
            Ok(answer) => Ok(answer),
            Err(error) => {
                let sent = Sent::of(wire, model, (&said, history.held(&left_out)), ask, settings, &compat);
                let about_this = |said: &str| lessons.learn(said, history);
                Err(self.scrubbed(self.learnt(model, &compat, &sent, error, about_this)))
            }
        }
    }

    fn scrubbed(&self, error: CallError) -> CallError {
        CallError { message: self.scrub(error.message.to_string()).into(), ..error }
    }

    /// A failure from which something was learnt for the next request; any other as it is. `about_this` learns about the conversation alone.
    fn learnt(
        &self,
        model: &str,
        asked: &Compat,
        sent: &Sent,
        error: CallError,
        about_this: impl Fn(&str) -> Option<&'static str>,
    ) -> CallError {
        if error.kind == CallErrorKind::ContextTooLong && !asked.sends("stream") {
            self.compat.stream_again(model);
        }
        let is_empty = &*error.message == EMPTY_STREAM;
        if !is_empty && !matches!(error.kind, CallErrorKind::Rejected | CallErrorKind::Server) {
            return error;
        }
        let said = error.message.split_once(SAID).map_or(&*error.message, |(_, said)| said);
        match about_this(said).or_else(|| self.compat.learn(model, asked, said, sent)) {
            Some(done) => {
                let message = format!("{done} ({})", error.message);
                CallError {
                    partial: error.partial,
                    tokens: error.tokens,
                    received_bytes: error.received_bytes,
                    ..failed(CallErrorKind::Unsupported, message)
                }
            }
            None => error,
        }
    }

    async fn converse(&self, model: &str, body: Vec<u8>, ask: &Ask) -> Result<Answer, CallError> {
        let asked = self.asked(model);
        let client = self.connect().map_err(|error| failed(CallErrorKind::Rejected, error.to_string()))?;
        let request = client.post(self.endpoint(model)).body(body).send();
        let first_byte = self.config.timeouts.first_byte;
        let mut watch = Watch { cancelled: pin!(ask.cancel.cancelled()), alarm: pin!(tokio::time::sleep(first_byte)) };
        let response = match watch.within(first_byte, request).await {
            Waited::Came(Ok(response)) => response,
            Waited::Came(Err(error)) => return Err(asked.unreachable(error)),
            Waited::TooLong => return Err(asked.silent(first_byte.as_secs())),
            Waited::Cancelled => return Err(cancelled()),
        };
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = error_body(response, &mut watch).await?;
            return Err(asked.status(status, &headers, self.scrub(String::from_utf8_lossy(&body).into()).as_bytes()));
        }
        if let Some(other) = not_an_answer(&response) {
            return Err(self.no_stream(&other));
        }
        self.listen(response, ask, &mut watch).await
    }

    fn endpoint(&self, model: &str) -> Url {
        let mut endpoints = self.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = endpoints.get(model) {
            return known.clone();
        }
        let endpoint = self.config.wire.endpoint(&self.base, model);
        endpoints.entry(model.to_owned()).or_insert(endpoint).clone()
    }

    async fn listen(&self, mut response: Response, ask: &Ask, watch: &mut Watch<'_, '_>) -> Result<Answer, CallError> {
        let idle = self.config.timeouts.idle;
        let mut listener = StreamReader::new(self.config.wire, ask.deltas.clone());
        let mut heard = StreamState::Part;
        // A server may send comments for as long as it likes, and neither of these begins anew with one.
        let (mut whole_since, mut nothing_since) = (None, None);
        let mut is_empty = true;
        while heard != StreamState::End {
            let patience = match heard {
                StreamState::Whole => {
                    let since: &mut Instant = whole_since.get_or_insert_with(Instant::now);
                    idle.min(limits::TAIL.saturating_sub(since.elapsed()))
                }
                StreamState::Part | StreamState::End => idle,
            };
            match watch.within(patience, response.chunk()).await {
                Waited::Came(Ok(Some(chunk))) => {
                    is_empty = false;
                    let said = listener.said();
                    heard = listener.hear(&chunk)?;
                    if listener.said() != said {
                        nothing_since = None;
                        continue;
                    }
                    let since: &mut Instant = nothing_since.get_or_insert_with(Instant::now);
                    if heard == StreamState::Part && since.elapsed() > idle.saturating_mul(limits::SIGNS_OF_LIFE) {
                        let seconds = since.elapsed().as_secs_f32();
                        return Err(listener.cut(&format!("nothing but keep-alive signals came for {seconds:.0} s")));
                    }
                }
                Waited::Came(Ok(None)) if is_empty => {
                    return Err(failed(CallErrorKind::Connection, EMPTY_STREAM));
                }
                Waited::Came(Ok(None)) => break,
                // The answer is whole; only its bill is missing.
                Waited::Came(Err(_)) | Waited::TooLong if heard == StreamState::Whole => break,
                Waited::Came(Err(error)) if is_corrupt(&error) => {
                    let message = format!("the answer could not be unpacked: {}", innermost(&error));
                    return Err(listener.with_partial(failed(CallErrorKind::Garbled, message)));
                }
                Waited::Came(Err(error)) => {
                    return Err(listener.cut(&format!("the connection broke: {}", innermost(&error))));
                }
                Waited::TooLong => {
                    return Err(listener.cut(&format!("nothing came for {} s", idle.as_secs_f32())));
                }
                Waited::Cancelled => return Err(listener.with_partial(cancelled())),
            }
        }
        listener.end()
    }

    /// A success that cannot be an answer.
    fn no_stream(&self, content_type: &str) -> CallError {
        let message = format!(
            "{} answered with `{content_type}` where a stream of events was expected: is {} the address of its API",
            self.config.name, self.shown_url
        );
        failed(CallErrorKind::Rejected, message)
    }

    fn asked<'a>(&'a self, model: &'a str) -> Asked<'a> {
        Asked {
            provider: &self.config.name,
            model,
            base_url: &self.shown_url,
            has_key: self.config.key.is_some(),
            key_env: self.config.key_env.as_deref(),
        }
    }

    fn scrub(&self, text: String) -> String {
        let headers = self.config.headers.iter().map(|(_, value)| value);
        self.config.key.iter().chain(headers).fold(text, |text, secret| secret.scrub(text))
    }
}

/// Longer than anybody waits, and short enough to be added to any moment.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What became of waiting.
enum Waited<T> {
    Came(T),
    TooLong,
    Cancelled,
}

/// What ends a call early: its cancellation, or silence. One of each lasts for the whole call, for putting a timer off
/// costs much less than making another for every piece of an answer.
struct Watch<'call, 'ask> {
    cancelled: Pin<&'call mut WaitForCancellationFuture<'ask>>,
    alarm: Pin<&'call mut Sleep>,
}

impl Watch<'_, '_> {
    async fn within<T>(&mut self, patience: Duration, future: impl Future<Output = T>) -> Waited<T> {
        self.alarm.as_mut().reset(Instant::now() + patience.min(FOR_EVER));
        tokio::select! {
            biased;
            () = self.cancelled.as_mut() => Waited::Cancelled,
            came = future => Waited::Came(came),
            () = self.alarm.as_mut() => Waited::TooLong,
        }
    }
}

/// The beginning of an error's body, as much as arrives in time.
async fn error_body(response: Response, watch: &mut Watch<'_, '_>) -> Result<Vec<u8>, CallError> {
    beginning(response, watch, limits::ERROR_BODY_BYTES).await
}

/// The beginning of a body, as much as arrives in time.
async fn beginning(mut response: Response, watch: &mut Watch<'_, '_>, most: usize) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = most - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == most {
                break;
            }
        }
    };
    match watch.within(limits::ERROR_BODY, read).await {
        Waited::Came(()) | Waited::TooLong => Ok(body),
        Waited::Cancelled => Err(cancelled()),
    }
}

/// The content type, when it is there and no answer has it. Which form an answer of the other types has is seen from its bytes:
/// many servers say `text/plain` of a stream, or send a whole answer.
fn not_an_answer(response: &Response) -> Option<String> {
    const ANSWERS: [&str; 6] = [
        "text/event-stream",
        "application/json",
        "text/plain",
        "application/octet-stream",
        "application/x-ndjson",
        "application/stream+json",
    ];
    let content_type = response.headers().get(CONTENT_TYPE)?.as_bytes().trim_ascii_start();
    let is = |answer: &&str| {
        content_type.get(..answer.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(answer.as_bytes()))
    };
    let is_answer = ANSWERS.iter().any(is);
    (!is_answer).then(|| String::from_utf8_lossy(content_type).chars().filter(|c| !c.is_control()).take(100).collect())
}

/// An answer whose text is JSON, without the Markdown around it.
fn unfenced(mut answer: Answer) -> Answer {
    for part in &mut answer.parts {
        if let Part::Text { text, .. } = part
            && let Some(json) = schema::unfenced(text)
        {
            *text = json.into();
        }
    }
    answer
}

fn headers(config: &ProviderConfig, host: Host) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if config.wire == Wire::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
    }
    if let Some(key) = &config.key {
        let (name, value) = config.wire.key_header(key.reveal(), host, config.bearer);
        let name = HeaderName::from_static(name);
        headers.insert(name, secret_header(&value).ok_or("its key holds characters that no key has")?);
    }
    for (name, value) in [("openai-organization", &config.organization), ("openai-project", &config.project)] {
        if let Some(value) = value {
            let value = HeaderValue::from_str(value).map_err(|_| format!("the header `{name}` cannot be sent"))?;
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    for (name, value) in &config.headers {
        let parsed = HeaderName::try_from(name.as_str()).ok();
        let pair = parsed.zip(secret_header(value.reveal()));
        let (parsed, value) = pair.ok_or_else(|| format!("the header `{name}` cannot be sent"))?;
        headers.insert(parsed, value);
    }
    Ok(headers)
}

fn secret_header(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn shown(base: &Url) -> String {
    let mut url = base.clone();
    // Neither can fail: the address has a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().trim_end_matches('/').to_owned()
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_address_has_no_password_in_it() {
        // T61
        let url = Url::parse("https://me:canary@gw.example/v1?key=canary").expect("a URL");
        assert_eq!(shown(&url), "https://gw.example/v1");
    }

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for (url, expected) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://localhost", true),
            ("http://localhost.evil.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).expect("a URL")), expected, "{url}");
        }
    }
}
