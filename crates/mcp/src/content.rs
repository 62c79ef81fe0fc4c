//! Resources and prompts of a server: texts that a person asks for by name. No tool is called by that, and no model asks for them.
//!
//! Whatever comes back is a stranger's text: callers mark it as such.

use std::collections::BTreeMap;
use std::fmt::Write;

use async_recursion::async_recursion as boxed;
use rmcp::model::{ContentBlock, GetPromptRequestParams, PaginatedRequestParams, ReadResourceRequestParams};
use rmcp::service::ServiceError;

use crate::error::Error;
use crate::output;
use crate::server::Server;

/// The most that is listed, in how many pages.
const MOST_LISTED: usize = 1_000;
const MOST_PAGES: usize = 100;
/// The most characters of a resource or a prompt that a model reads at once.
const MOST_CHARS: usize = 100_000;

/// A resource that a server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceInfo {
    /// Its address, by which it is read.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What the server says about it.
    pub description: String,
}

/// A prompt that a server lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptInfo {
    /// Its name.
    pub name: String,
    /// What the server says about it.
    pub description: String,
    /// Its arguments, and whether each is required.
    pub arguments: Vec<(String, bool)>,
}

impl Server {
    /// The resources that it lists; none where it has none.
    #[boxed]
    pub async fn resources(&self) -> Result<Vec<ResourceInfo>, Error> {
        let live = self.live().await?;
        if !live.has(|capabilities| capabilities.resources.is_some()) {
            return Ok(Vec::new());
        }
        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let listed = self.in_time(live.service.list_resources(page(cursor))).await?;
            found.extend(listed.resources.into_iter().map(|resource| ResourceInfo {
                uri: resource.uri,
                name: resource.name,
                description: resource.description.unwrap_or_default(),
            }));
            cursor = listed.next_cursor;
            if cursor.is_none() || found.len() > MOST_LISTED {
                break;
            }
        }
        found.truncate(MOST_LISTED);
        Ok(found)
    }

    /// The whole text of a resource.
    #[boxed]
    pub async fn read_resource(&self, uri: &str) -> Result<String, Error> {
        let live = self.live().await?;
        let read = self.in_time(live.service.read_resource(ReadResourceRequestParams::new(uri))).await?;
        let texts: Vec<String> = read.contents.iter().map(output::resource).collect();
        Ok(texts.join("\n"))
    }

    /// The prompts that it lists; none where it has none.
    #[boxed]
    pub async fn prompts(&self) -> Result<Vec<PromptInfo>, Error> {
        let live = self.live().await?;
        if !live.has(|capabilities| capabilities.prompts.is_some()) {
            return Ok(Vec::new());
        }
        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let listed = self.in_time(live.service.list_prompts(page(cursor))).await?;
            found.extend(listed.prompts.into_iter().map(|prompt| {
                PromptInfo {
                    name: prompt.name.to_string(),
                    description: prompt.description.as_deref().unwrap_or_default().to_owned(),
                    arguments: (prompt.arguments.unwrap_or_default().into_iter())
                        .map(|argument| (argument.name.to_string(), argument.required.unwrap_or_default()))
                        .collect(),
                }
            }));
            cursor = listed.next_cursor;
            if cursor.is_none() || found.len() > MOST_LISTED {
                break;
            }
        }
        found.truncate(MOST_LISTED);
        Ok(found)
    }

    /// The whole text of a prompt with its arguments.
    #[boxed]
    pub async fn prompt(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<String, Error> {
        let live = self.live().await?;
        let mut params = GetPromptRequestParams::new(name);
        if !arguments.is_empty() {
            let values = arguments.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
            params = params.with_arguments(values);
        }
        let got = self.in_time(live.service.get_prompt(params)).await?;
        let mut text = String::new();
        for message in &got.messages {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = write!(text, "{}", words(&message.content));
        }
        Ok(text)
    }

    /// A text of this server as a model reads it: bounded; the whole goes to a file of the workspace that `read_file` can page.
    #[boxed]
    pub async fn bounded(&self, text: String) -> String {
        let Some((at, _)) = text.char_indices().nth(MOST_CHARS) else { return text };
        let name = format!("{}-{}", self.settings().name, &blake3::hash(text.as_bytes()).to_hex()[..16]);
        let workspace = self.workspace().clone();
        let cut = tokio::task::spawn_blocking(move || output::cut(&text, at, &name, &workspace)).await;
        cut.unwrap_or_else(|broken| format!("[the text could not be read: {broken}]"))
    }

    async fn in_time<T>(&self, asked: impl Future<Output = Result<T, ServiceError>>) -> Result<T, Error> {
        let time = self.settings().call_time;
        match tokio::time::timeout(time, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(ServiceError::McpError(error))) => {
                Err(Error::Refused(error.message.chars().filter(|c| !c.is_control()).take(300).collect()))
            }
            Ok(Err(other)) => Err(self.ended(&other)),
            Err(_) => Err(Error::Slow(time.as_secs())),
        }
    }
}

fn page(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    let mut page = PaginatedRequestParams::default();
    page.cursor = cursor;
    Some(page)
}

fn words(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Resource(embedded) => output::resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => format!("[a link to {}: {}]", link.uri, link.name),
        _ => "[a part that is no text]".to_owned(),
    }
}
