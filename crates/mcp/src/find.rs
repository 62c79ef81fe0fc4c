//! The two fixed tools by which tools of large servers are reached: `find_tools` returns names, descriptions and schemas, `call_tool`
//! calls one by its name.
//!
//! The rules take a call of `call_tool` for one of the tool that it names (`agent::tools::named_call`): what is judged, asked, logged and
//! run is the real tool. Here it only answers a call that names none.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use agent::Json;
use agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use tool::args::Call;
use tool::{Tool, ToolContext};

use crate::offered::Offered;

/// Finds tools.
pub const FIND_TOOLS: &str = "find_tools";
/// Calls a tool that was found.
pub const CALL_TOOL: &str = agent::tools::CALL_TOOL;

/// The most tools of one answer that come with their schemas.
const MOST_WHOLE: usize = 5;
/// The most that come with their names alone.
const MOST_NAMES: usize = 40;
/// The longest description in an answer.
const LONGEST_DESCRIPTION: usize = 600;

const FIND_EXAMPLE: &str = r#"{"query": "create an issue"}"#;

/// A tool that can be found.
#[derive(Clone, Debug)]
pub(crate) struct Findable {
    pub server: Arc<str>,
    pub offered: Offered,
}

/// `find_tools`.
pub(crate) struct FindTools {
    info: ToolInfo,
    tools: Vec<Findable>,
}

impl FindTools {
    pub fn new(tools: Vec<Findable>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for tool in &tools {
            *counts.entry(&tool.server).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(server, count)| format!("{server} ({count})")).collect();
        let description = format!(
            "Find tools of the MCP servers {}. Returns names, descriptions and schemas; call one with call_tool.",
            counts.join(", ")
        );
        let schema = r#"{"type":"object","properties":{"query":{"type":"string","description":"words, or a tool's name"}},"required":["query"]}"#;
        Self { info: tool::info(FIND_TOOLS, &description, schema, Reach::ReadOnly, true, Risk::Low), tools }
    }

    fn found(&self, query: &str, context: &ToolContext) -> ToolResult {
        let may_have = |tool: &&Findable| context.has_tool(&tool.offered.name);
        let wanted = terms(query);
        let mut ranked: Vec<(usize, &Findable)> = (self.tools.iter().filter(may_have))
            .map(|tool| (tool.rank(&wanted, query), tool))
            .filter(|(rank, _)| *rank > 0 || wanted.is_empty())
            .collect();
        ranked.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.offered.name.cmp(&other.1.offered.name)));
        if ranked.is_empty() {
            let servers: std::collections::BTreeSet<&str> =
                self.tools.iter().filter(may_have).map(|tool| &*tool.server).collect();
            let servers: Vec<&str> = servers.into_iter().collect();
            return ToolResult::ok(format!(
                "no tool fits '{query}'; try other words. There are tools of: {}",
                servers.join(", ")
            ));
        }
        let mut text = String::new();
        for (_, tool) in ranked.iter().take(MOST_WHOLE) {
            let Offered { name, description, schema, .. } = &tool.offered;
            let description: String = description.chars().take(LONGEST_DESCRIPTION).collect();
            let _ = write!(text, "{name}: {}\n  arguments: {}\n", description.trim(), schema.text());
        }
        if ranked.len() > MOST_WHOLE {
            let names: Vec<&str> =
                ranked.iter().skip(MOST_WHOLE).take(MOST_NAMES).map(|(_, tool)| &*tool.offered.name).collect();
            let left = ranked.len().saturating_sub(MOST_WHOLE + MOST_NAMES);
            let more = if left > 0 { format!(" and {left} more") } else { String::new() };
            let _ = writeln!(text, "also: {}{more}", names.join(", "));
        }
        let _ = write!(text, "Call one with call_tool {{\"name\": …, \"arguments\": {{…}}}}.");
        ToolResult { foreign: Some("descriptions of tools by MCP servers".into()), ..ToolResult::ok(text) }
    }
}

#[derive(Deserialize)]
struct FindArgs {
    #[serde(default, alias = "q", alias = "name")]
    query: String,
}

impl Tool for FindTools {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            match Call::<FindArgs>::read(input, FIND_TOOLS, FIND_EXAMPLE) {
                Ok(Call { args, ignored }) => ignored.named_in(self.found(&args.query, context)),
                Err(wrong) => wrong,
            }
        })
    }
}

impl Findable {
    /// How well it fits: its exact name most, words in its name more than in its description.
    fn rank(&self, wanted: &[String], query: &str) -> usize {
        let Offered { name, own_name, description, .. } = &self.offered;
        if **name == *query || **own_name == *query {
            return usize::MAX;
        }
        let (in_name, described) = (terms(&format!("{} {own_name}", self.server)), terms(description));
        let fits = |one: &String, other: &String| {
            one == other
                || one.len() > 3 && other.starts_with(&one[..])
                || other.len() > 3 && one.starts_with(&other[..])
        };
        let points = |word: &String| {
            if in_name.iter().any(|other| fits(word, other)) {
                5
            } else if described.iter().any(|other| fits(word, other)) {
                1
            } else {
                0
            }
        };
        wanted.iter().map(points).sum()
    }
}

/// The words of a text, in lower case, also of names such as `createIssue`.
fn terms(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            all.push(String::new());
        }
        if c.is_alphanumeric() {
            all.last_mut().expect("there is one").extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    all.retain(|word| word.chars().count() > 1);
    all
}

/// `call_tool`.
pub(crate) struct CallTool {
    info: ToolInfo,
}

impl CallTool {
    pub fn new() -> Self {
        let schema = r#"{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name","arguments"]}"#;
        let description = "Call a tool that find_tools returned, with the arguments of its schema.";
        Self { info: tool::info(CALL_TOOL, description, schema, Reach::ReadOnly, true, Risk::Low) }
    }
}

impl Tool for CallTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, _: &'a Json, _: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        Box::pin(async {
            ToolResult::error(
                "nothing was called: call_tool takes the name of a tool and an object of arguments, such as {\"name\": \"git__status\", \"arguments\": {}}; find_tools finds names",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_names_of_every_style() {
        assert_eq!(terms("createIssue in_the-Repo a"), ["create", "issue", "in", "the", "repo"]);
    }
}
