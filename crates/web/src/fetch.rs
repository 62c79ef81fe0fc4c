//! `web_fetch`: a page as Markdown.

use std::path::Path;
use std::time::Duration;

use agent::Json;
use agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Method, Response};
use serde::Deserialize;
use tool::args::Call;
use tool::{Tool, ToolContext};

use crate::address::Address;
use crate::client::Sender;
use crate::{FETCH, Settings, markdown};

/// How many redirects of one host are followed.
const REDIRECTS: usize = 5;
/// How many characters of a page are shown at once.
const SHOWN: usize = 24_000;

const EXAMPLE: &str = r#"{"url": "https://docs.rs/tokio"}"#;
const SCHEMA: &str = r#"{"type":"object","properties":{"url":{"type":"string"},"start":{"type":"integer","description":"skip so many characters"}},"required":["url"]}"#;

pub(crate) struct WebFetch {
    info: ToolInfo,
    sender: Sender,
    timeout: Duration,
    max_bytes: usize,
}

#[derive(Deserialize)]
struct Args {
    url: String,
    #[serde(default)]
    start: usize,
}

/// What a server answered.
enum Answer {
    Page {
        text: String,
        is_cut: bool,
    },
    /// Another host has it: that is a call of its own.
    Elsewhere(String),
}

impl WebFetch {
    pub(crate) fn new(settings: &Settings) -> Self {
        let info = tool::info(FETCH, "Read a web page as Markdown.", SCHEMA, Reach::Network, true, Risk::Medium);
        let sender = Sender::new(settings);
        Self { info, sender, timeout: settings.timeout, max_bytes: settings.max_bytes }
    }

    async fn act(&self, args: &Args, context: &ToolContext) -> ToolResult {
        let address = match Address::parse(&args.url) {
            Ok(address) => address,
            Err(why) => return ToolResult::error(why),
        };
        let host = address.host.clone();
        let fetched = tokio::select! {
            fetched = tokio::time::timeout(self.timeout, self.fetch(address)) => fetched,
            () = context.stop.cancelled() => return ToolResult::error("stopped before it was read"),
        };
        match fetched {
            Err(_) => ToolResult::error(format!("{host} did not answer within {} s", self.timeout.as_secs())),
            Ok(Err(why)) => ToolResult { foreign: Some(host.as_str().into()), ..ToolResult::error(why) },
            Ok(Ok(Answer::Elsewhere(url))) => {
                let told = format!("{host} redirects to another host: call {FETCH} with {url} if you need it");
                ToolResult { foreign: Some(host.as_str().into()), ..ToolResult::ok(told) }
            }
            Ok(Ok(Answer::Page { text, is_cut })) => {
                let shown = part(&text, args.start, is_cut);
                ToolResult { foreign: Some(host.as_str().into()), ..ToolResult::ok(shown) }
            }
        }
    }

    async fn fetch(&self, mut address: Address) -> Result<Answer, String> {
        for _ in 0..=REDIRECTS {
            let accept = "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1";
            let response = self.sender.send(Method::GET, &address, |request| request.header(ACCEPT, accept)).await?;
            let status = response.status();
            if status.is_redirection()
                && let Some(to) = response.headers().get(LOCATION).and_then(|to| to.to_str().ok())
            {
                let to = address.url.join(to).map_err(|_| format!("{} redirects to no valid address", address.host))?;
                let next = Address::of(to)?;
                let is_upgrade = (address.url.scheme(), next.url.scheme()) == ("http", "https");
                let is_same = next.host == address.host && (next.url.scheme() == address.url.scheme() || is_upgrade);
                if !is_same {
                    return Ok(Answer::Elsewhere(next.url.to_string()));
                }
                address = next;
                continue;
            }
            if !status.is_success() {
                return Err(format!("{} answered {status}", address.host));
            }
            return self.read(response, &address).await;
        }
        Err(format!("{} redirects in a circle", address.host))
    }

    async fn read(&self, response: Response, address: &Address) -> Result<Answer, String> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("text/html");
        let kind = kind.to_lowercase();
        let is_html = kind.starts_with("text/html") || kind.starts_with("application/xhtml");
        let is_text =
            kind.starts_with("text/") || ["json", "xml", "javascript", "yaml"].iter().any(|word| kind.contains(word));
        if !is_html && !is_text {
            return Err(format!("{} sent {kind}, which is no text", address.url));
        }
        let is_latin = ["iso-8859-1", "windows-1252", "latin1"].iter().any(|name| kind.contains(name));
        let (mut bytes, mut is_cut) = (Vec::new(), false);
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| format!("{} broke off", address.host))?;
            let room = self.max_bytes - bytes.len();
            is_cut = chunk.len() > room;
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if is_cut {
                break;
            }
        }
        let text = match is_latin {
            true => bytes.iter().map(|byte| char::from(*byte)).collect(),
            false => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let text = if is_html { markdown::of_html(&text, &address.url) } else { text };
        Ok(Answer::Page { text, is_cut })
    }
}

impl Tool for WebFetch {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, input: &Json, _workspace: &Path) -> Assessment {
        let address =
            Call::<Args>::read(input, &self.info.name, EXAMPLE).ok().map(|call| Address::parse(&call.args.url));
        assessed(&self.info, input, address.and_then(Result::ok).as_ref())
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
            ignored.named_in(self.act(&args, context).await)
        })
    }
}

/// What a request to an address would do. A call without a valid one fails before it does anything.
pub(crate) fn assessed(info: &ToolInfo, input: &Json, address: Option<&Address>) -> Assessment {
    let plain = Assessment { digest: "".into(), ..Assessment::of(info, input) };
    let Some(address) = address else {
        return Assessment { reach: Reach::ReadOnly, effect: "fails: its address is not valid".into(), ..plain };
    };
    let host: std::sync::Arc<str> = address.host.as_str().into();
    Assessment {
        effect: format!("asks {host} for {}", address.url).into(),
        subjects: vec![host.clone()],
        also: vec![address.url.as_str().into()],
        standing: Some(host),
        ..plain
    }
}

/// A part of a page, and how the rest is read.
fn part(text: &str, start: usize, is_cut: bool) -> String {
    let mut shown: String = text.chars().skip(start).take(SHOWN).collect();
    let left = text.chars().count().saturating_sub(start + SHOWN);
    if left > 0 {
        shown.push_str(&format!("\n[{left} more characters: call again with start {}]", start + SHOWN));
    } else if is_cut {
        shown.push_str("\n[the page is longer than what is read of one]");
    }
    if shown.trim().is_empty() { "[no text]".to_owned() } else { shown }
}
