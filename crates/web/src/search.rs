//! `web_search`: results of a configured service, as a list of titles, addresses and a few words. One file for each service.

mod brave;
mod searxng;
mod tavily;

use std::path::Path;
use std::time::Duration;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use tool::args::Call;
use tool::{Tool, ToolContext};

use crate::address::Address;
use crate::client::Sender;
use crate::fetch::assessed;
use crate::{SEARCH, Settings};

/// How many results are shown.
const RESULTS: usize = 8;
/// How many characters are shown of what a service says about a page.
const WORDS: usize = 300;
/// The most bytes of an answer.
const MAX_BYTES: usize = 2 << 20;

/// A service that searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// An instance of SearXNG, which has its JSON format turned on.
    Searxng,
    /// Brave.
    Brave,
    /// Tavily.
    Tavily,
}

/// A configured service.
#[derive(Clone)]
pub struct Search {
    /// Which.
    pub service: Service,
    /// Where it is; none for the address of the service itself.
    pub url: Option<String>,
    /// Its key, which is sent to it and never shown.
    pub key: Option<String>,
}

/// One result.
struct Found {
    title: String,
    url: String,
    words: String,
}

const EXAMPLE: &str = r#"{"query": "tokio select cancellation"}"#;
const SCHEMA: &str = r#"{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}"#;

#[derive(Deserialize)]
struct Args {
    query: String,
}

pub(crate) struct WebSearch {
    info: ToolInfo,
    sender: Sender,
    search: Search,
    timeout: Duration,
    /// The address of the service, or why it cannot be used.
    address: Result<Address, String>,
}

impl WebSearch {
    pub(crate) fn new(settings: &Settings, search: Search) -> Self {
        let usual = match search.service {
            Service::Searxng => searxng::ADDRESS,
            Service::Brave => brave::ADDRESS,
            Service::Tavily => tavily::ADDRESS,
        };
        let address = Address::parse(search.url.as_deref().unwrap_or(usual));
        let mut sender = Sender::new(settings);
        if let Ok(address) = &address {
            sender = sender.with_private_host(address.host.clone());
        }
        let info = tool::info(SEARCH, "Search the web.", SCHEMA, Reach::Network, true, Risk::Medium);
        Self { info, sender, search, timeout: settings.timeout, address }
    }

    async fn act(&self, query: &str, context: &ToolContext) -> ToolResult {
        let address = match &self.address {
            Ok(address) => address,
            Err(why) => return ToolResult::error(format!("web.search_url: {why}")),
        };
        if query.trim().is_empty() {
            return ToolResult::error("the query is empty");
        }
        let found = tokio::select! {
            found = tokio::time::timeout(self.timeout, self.ask(address, query)) => found,
            () = context.stop.cancelled() => return ToolResult::error("stopped before it was answered"),
        };
        match found {
            Err(_) => ToolResult::error(format!("{} did not answer within {} s", address.host, self.timeout.as_secs())),
            Ok(Err(why)) => ToolResult::error(why),
            Ok(Ok(found)) => ToolResult { foreign: Some(SEARCH.into()), ..ToolResult::ok(listed(&found)) },
        }
    }

    async fn ask(&self, address: &Address, query: &str) -> Result<Vec<Found>, String> {
        let key = self.search.key.as_deref();
        let request = match self.search.service {
            Service::Searxng => searxng::request(address, query)?,
            Service::Brave => brave::request(address, query, key)?,
            Service::Tavily => tavily::request(address, query, key)?,
        };
        let response = self
            .sender
            .send(request.method.clone(), &request.address.clone(), |builder| request.apply(builder))
            .await?;
        let status = response.status();
        if !status.is_success() {
            return Err(format!("{} answered {status}", address.host));
        }
        let answer = read(response).await.ok_or_else(|| format!("{} sent no JSON that can be read", address.host))?;
        let found = match self.search.service {
            Service::Searxng => searxng::results(&answer),
            Service::Brave => brave::results(&answer),
            Service::Tavily => tavily::results(&answer),
        };
        Ok(found.into_iter().take(RESULTS).collect())
    }
}

/// A request to a service.
struct Request {
    method: reqwest::Method,
    address: Address,
    /// The name and the value of a header that holds the key.
    key: Option<(&'static str, String)>,
    body: Option<Value>,
}

impl Request {
    fn apply(self, mut builder: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        builder = builder.header("accept", "application/json");
        if let Some((name, value)) = self.key {
            builder = builder.header(name, value);
        }
        match self.body {
            Some(body) => builder.header("content-type", "application/json").body(body.to_string()),
            None => builder,
        }
    }
}

async fn read(mut response: reqwest::Response) -> Option<Value> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_BYTES {
            return None;
        }
    }
    serde_json::from_slice(&bytes).ok()
}

/// The results of a list in an answer, with the names of their fields.
fn results(list: Option<&Value>, words: &str) -> Vec<Found> {
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let found = |item: &Value| Found { title: text(item, "title"), url: text(item, "url"), words: text(item, words) };
    list.and_then(Value::as_array).into_iter().flatten().map(found).filter(|found| !found.url.is_empty()).collect()
}

fn listed(found: &[Found]) -> String {
    if found.is_empty() {
        return "no results".to_owned();
    }
    let one_line =
        |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(WORDS).collect::<String>();
    let lines: Vec<String> = found
        .iter()
        .map(|found| format!("- {}\n  {}\n  {}", one_line(&found.title), one_line(&found.url), one_line(&found.words)))
        .collect();
    lines.join("\n")
}

impl Tool for WebSearch {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, input: &Json, _workspace: &Path) -> Assessment {
        let assessment = assessed(&self.info, input, self.address.as_ref().ok());
        match Call::<Args>::read(input, &self.info.name, EXAMPLE) {
            Ok(call) => {
                let host = self.address.as_ref().map_or("", |address| address.host.as_str());
                Assessment { effect: format!("asks {host} for '{}'", call.args.query).into(), ..assessment }
            }
            Err(_) => assessed(&self.info, input, None),
        }
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let Call { args, ignored } = match Call::<Args>::read(input, &self.info.name, EXAMPLE) {
                Ok(call) => call,
                Err(wrong) => return wrong,
            };
            ignored.named_in(self.act(&args.query, context).await)
        })
    }
}
