//! What a person names of servers in a message: `@server:uri` adds a resource, and a message that begins with `/server:prompt` is that prompt, with
//! the words behind it as its arguments.
//!
//! The texts are the server's: they are marked as untrusted, and so is the thread that reads them. A name before the colon that is no server's
//! leaves the message as it is.

use std::collections::BTreeMap;

use agent::context::fenced;
use mcp::{PromptInfo, Server};

/// A message with what it names of servers.
pub(crate) struct Expanded {
    pub(crate) text: String,
    /// Whether something of a server was added.
    pub(crate) foreign: bool,
}

/// Adds to a message what it names of servers. `find` knows the servers by name. The error is a sentence for the person.
pub(crate) async fn expanded<'a>(text: &str, find: impl Fn(&str) -> Option<&'a Server>) -> Result<Expanded, String> {
    let mut all = Expanded { text: text.to_owned(), foreign: false };
    if let Some((server, prompt, rest)) =
        prompt_of(text).and_then(|(name, prompt, rest)| Some((find(name)?, prompt, rest)))
    {
        let said = prompted(server, prompt, rest).await?;
        let name = &server.settings().name;
        let words = fenced(&format!("MCP server {name}, prompt {prompt}"), &said);
        all = Expanded {
            text: format!("I chose this prompt of MCP server {name}; do what it says:\n{words}"),
            foreign: true,
        };
    }
    for (name, uri) in resources_of(text) {
        let Some(server) = find(name) else { continue };
        let read = server.read_resource(uri).await;
        let read = read.map_err(|error| format!("the resource {uri} of MCP server {name} cannot be read: {error}"))?;
        let read = server.bounded(read).await;
        all.text.push_str(&format!("\n\n{}", fenced(&format!("MCP server {name}, resource {uri}"), &read)));
        all.foreign = true;
    }
    Ok(all)
}

/// The server, the prompt and the words behind them; none where a message is no prompt.
fn prompt_of(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim_start().strip_prefix('/')?;
    let (named, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (server, prompt) = named.split_once(':')?;
    (!server.is_empty() && !prompt.is_empty()).then_some((server, prompt, rest.trim()))
}

/// The servers and addresses that the words of a message name.
fn resources_of(text: &str) -> Vec<(&str, &str)> {
    let of_word = |word| {
        let word: &str = word;
        let word = word.trim_start_matches(['(', '"', '\'']).strip_prefix('@')?;
        let (server, uri) = word.trim_end_matches(['.', ',', ';', ')', '"', '\'', '?', '!']).split_once(':')?;
        (!server.is_empty() && !uri.is_empty()).then_some((server, uri))
    };
    let mut named: Vec<(&str, &str)> = text.split_whitespace().filter_map(of_word).collect();
    let mut seen = std::collections::BTreeSet::new();
    named.retain(|one| seen.insert(*one));
    named
}

async fn prompted(server: &Server, name: &str, rest: &str) -> Result<String, String> {
    let of = &server.settings().name;
    let known = server.prompts().await.map_err(|error| format!("MCP server {of} cannot be used: {error}"))?;
    let Some(prompt) = known.iter().find(|prompt| prompt.name == name) else {
        let names: Vec<&str> = known.iter().map(|prompt| prompt.name.as_str()).collect();
        let there =
            if names.is_empty() { "it has none".to_owned() } else { format!("there are: {}", names.join(", ")) };
        return Err(format!("MCP server {of} has no prompt '{name}'; {there}"));
    };
    let arguments = arguments(prompt, rest)?;
    let said = server.prompt(name, &arguments).await;
    let said = said.map_err(|error| format!("the prompt {name} of MCP server {of} failed: {error}"))?;
    Ok(server.bounded(said).await)
}

/// The arguments of a prompt: `name=value` words, or values in the order of the arguments, of which the last takes the rest.
fn arguments(prompt: &PromptInfo, rest: &str) -> Result<BTreeMap<String, String>, String> {
    let mut given = BTreeMap::new();
    let names: Vec<&str> = prompt.arguments.iter().map(|(name, _)| name.as_str()).collect();
    let is_named = |word: &str| word.split_once('=').is_some_and(|(name, _)| names.contains(&name));
    if rest.split_whitespace().any(is_named) {
        let mut last: Option<String> = None;
        for word in rest.split_whitespace() {
            match (word.split_once('=').filter(|(name, _)| names.contains(name)), &last) {
                (Some((name, value)), _) => {
                    given.insert(name.to_owned(), value.to_owned());
                    last = Some(name.to_owned());
                }
                // A value of several words.
                (None, Some(name)) => {
                    let value = given.entry(name.clone()).or_default();
                    value.push(' ');
                    value.push_str(word);
                }
                (None, None) => {
                    return Err(format!("'{word}' is no argument of {}: {}", prompt.name, names.join(", ")));
                }
            }
        }
    } else if !rest.is_empty() {
        if names.is_empty() {
            return Err(format!("the prompt {} takes no arguments", prompt.name));
        }
        let words: Vec<&str> = rest.splitn(names.len(), char::is_whitespace).collect();
        given.extend(names.iter().zip(words).map(|(name, value)| ((*name).to_owned(), value.trim().to_owned())));
    }
    let missing: Vec<&str> = (prompt.arguments.iter())
        .filter(|(name, is_required)| *is_required && !given.contains_key(name))
        .map(|(name, _)| name.as_str())
        .collect();
    match missing.is_empty() {
        true => Ok(given),
        false => Err(format!("the prompt {} needs {}: write {}=…", prompt.name, missing.join(" and "), missing[0])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_resources_are_found_in_messages() {
        assert_eq!(prompt_of("/kit:review src/main.rs now"), Some(("kit", "review", "src/main.rs now")));
        assert_eq!((prompt_of("/tmp/x"), prompt_of("see /kit:review"), prompt_of("/:x")), (None, None, None));
        assert_eq!(
            resources_of("compare @kit:file:///a.txt, (@kit:note://b) and ann@kit:x"),
            [("kit", "file:///a.txt"), ("kit", "note://b")]
        );
    }

    #[test]
    fn arguments_have_names_or_an_order() {
        let prompt = PromptInfo {
            name: "review".to_owned(),
            description: String::new(),
            arguments: vec![("file".to_owned(), true), ("focus".to_owned(), false)],
        };
        let read = |rest: &str| arguments(&prompt, rest).map(|given| given.into_iter().collect::<Vec<_>>());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read("a.rs the error paths").unwrap(), [pair("file", "a.rs"), pair("focus", "the error paths")]);
        assert_eq!(read("focus=two words file=a.rs").unwrap(), [pair("file", "a.rs"), pair("focus", "two words")]);
        assert!(read("").unwrap_err().contains("needs file"));
    }
}
