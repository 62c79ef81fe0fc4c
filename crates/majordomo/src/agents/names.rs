//! What the names of tools, models and providers in files of other products mean here. The words are data (`other_products.toml`).
//!
//! Left to others: how a file is read (`foreign.rs`), and which provider can be asked (`Known`).

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::Product;

/// The table, with plain names.
static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("other_products.toml")).expect("the table of names is TOML");
    let mut tools: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (ours, theirs) in table.tools {
        let meant = if ours == "none" { Vec::new() } else { vec![ours] };
        tools.extend(theirs.iter().map(|name| (plain(name), meant.clone())));
    }
    let models = table.models.into_iter().map(|(name, model)| (plain(&name), model)).collect();
    Names { tools, groups: table.groups, models, providers: table.providers, families: table.families }
});

struct Names {
    tools: BTreeMap<String, Vec<String>>,
    groups: BTreeMap<String, Vec<String>>,
    models: BTreeMap<String, String>,
    providers: BTreeMap<String, String>,
    families: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    tools: BTreeMap<String, Vec<String>>,
    groups: BTreeMap<String, Vec<String>>,
    models: BTreeMap<String, String>,
    providers: BTreeMap<String, String>,
    families: BTreeMap<String, String>,
}

/// What the name of a tool means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ToolName {
    /// These tools.
    Ours(&'static [String]),
    /// Everything.
    All,
    /// All tools of an MCP server; of every server, where none is named.
    Server(Option<String>),
    /// One tool of an MCP server.
    ServerTool(String, String),
    /// It is not known.
    Unknown,
}

/// What a tool's name means in a file of another product. What stands in parentheses after it is not part of the name.
pub(super) fn tool(name: &str) -> ToolName {
    let name = name.split('(').next().unwrap_or_default().trim();
    if name == "*" || name == "all" {
        return ToolName::All;
    }
    if let Some(ours) = NAMES.groups.get(name).or_else(|| NAMES.tools.get(&plain(name))) {
        return ToolName::Ours(ours);
    }
    // Claude Code: mcp__server__tool. Gemini CLI: mcp_server_tool. Copilot: server/tool.
    if let Some(rest) = name.strip_prefix("mcp__") {
        return of_server(rest.split_once("__").unwrap_or((rest, "*")));
    }
    if let Some(rest) = name.strip_prefix("mcp_") {
        // The name of a server has no underscore there, unless all of its tools are meant.
        let whole = rest.strip_suffix("_*").filter(|server| !server.is_empty()).map(|server| (server, "*"));
        return match rest {
            "*" => ToolName::Server(None),
            rest => of_server(whole.or_else(|| rest.split_once('_')).unwrap_or((rest, "*"))),
        };
    }
    match name.rsplit_once('/') {
        // A new name in a family of tools that is known, such as `read/somethingNew`.
        Some(("read" | "edit" | "search" | "execute" | "web" | "agent" | "vscode", _)) => ToolName::Unknown,
        Some(parts) => of_server(parts),
        None => ToolName::Unknown,
    }
}

/// Every tool of every server, as a pattern.
pub(super) const EVERY_SERVER: &str = "*__*";

/// The name that a tool of a server has here, or a pattern of such names; none where no server can have the name.
pub(super) fn tool_of_server(server: &str, tool: &str) -> Option<Arc<str>> {
    Some(mcp::tool_pattern(&mcp::plain_name(server)?, tool).into())
}

/// All tools that a name may mean, as patterns: for what a file takes away, where more than one reading is possible. Empty where the name means
/// nothing here.
pub(super) fn restricted(product: Product, name: &str) -> Vec<Arc<str>> {
    let name = name.split('(').next().unwrap_or_default().trim();
    let mut meant: Vec<Arc<str>> = match tool(name) {
        ToolName::All => vec!["*".into()],
        ToolName::Ours(ours) => return ours.iter().map(|name| name.as_str().into()).collect(),
        ToolName::Server(None) => vec![EVERY_SERVER.into()],
        ToolName::Server(Some(server)) => tool_of_server(&server, "*").into_iter().collect(),
        ToolName::ServerTool(server, tool) => tool_of_server(&server, &tool).into_iter().collect(),
        ToolName::Unknown => Vec::new(),
    };
    // One underscore between server and tool: where the server's name ends cannot be seen. opencode has nothing before it.
    let joined = name.strip_prefix("mcp_").filter(|rest| !rest.starts_with('_'));
    let opencode = (product == Product::Opencode).then_some(name);
    for joined in joined.into_iter().chain(opencode) {
        let ends = joined.match_indices('_').map(|(at, _)| (&joined[..at], &joined[at + 1..]));
        meant.extend(
            ends.filter(|(_, tool)| !tool.is_empty()).filter_map(|(server, tool)| tool_of_server(server, tool)),
        );
    }
    meant.sort();
    meant.dedup();
    meant
}

fn of_server((server, tool): (&str, &str)) -> ToolName {
    match (server, tool) {
        ("" | "*", _) => ToolName::Server(None),
        (server, "*" | "") => ToolName::Server(Some(server.to_owned())),
        (server, tool) => ToolName::ServerTool(server.to_owned(), tool.to_owned()),
    }
}

/// What the name of a model means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ModelName {
    /// The parent's.
    Inherit,
    /// This one, as `provider/model`.
    Named(String),
    /// It is not known whose it is.
    Unknown,
}

/// What a model's name means in a file of another product: an alias, an id with or without its provider, or a name as it is shown to people.
pub(super) fn model(name: &str, is_provider: impl Fn(&str) -> bool) -> ModelName {
    let mut bare = String::new();
    let mut depth = 0_u32;
    for c in name.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => bare.push(c),
            _ => {}
        }
    }
    let bare = bare.trim();
    if bare.is_empty() {
        return ModelName::Inherit;
    }
    if let Some(known) = NAMES.models.get(&plain(bare)) {
        return if known == "inherit" { ModelName::Inherit } else { ModelName::Named(known.clone()) };
    }
    if let Some((provider, model)) = bare.split_once('/') {
        let provider = NAMES.providers.get(provider).map_or(provider, String::as_str);
        if !model.is_empty() && is_provider(provider) {
            return ModelName::Named(format!("{provider}/{model}"));
        }
        // A model that another company resells.
        let model = model.rsplit('/').next().unwrap_or(model);
        return of_family(model).map_or(ModelName::Unknown, ModelName::Named);
    }
    of_family(bare).map_or(ModelName::Unknown, ModelName::Named)
}

fn of_family(name: &str) -> Option<String> {
    let mut id = name.to_lowercase().split_whitespace().collect::<Vec<_>>().join("-");
    if id.starts_with("claude") {
        id = id.replace('.', "-");
    }
    let provider = NAMES.families.iter().find(|(start, _)| id.starts_with(start.as_str()))?.1;
    Some(format!("{provider}/{id}"))
}

/// A name without what products write differently.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-', ' '], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_in_every_product_s_spelling() {
        for (theirs, ours) in [
            ("Read", "read_file"),
            ("read_many_files", "read_file"),
            ("Bash(git diff:*)", "run_command"),
            ("run_shell_command", "run_command"),
            ("runCommands", "run_command"),
            ("search_file_content", "search_files"),
            ("google_web_search", "web_search"),
            ("TodoWrite", "todo"),
        ] {
            assert!(matches!(tool(theirs), ToolName::Ours([one]) if one == ours), "{theirs}: {:?}", tool(theirs));
        }
        assert!(matches!(tool("search"), ToolName::Ours(ours) if ours.len() == 3));
        assert_eq!(tool("ExitPlanMode"), ToolName::Ours(&[]));
        assert_eq!(tool("*"), ToolName::All);
        assert_eq!(tool("read/somethingNew"), ToolName::Unknown);
        assert_eq!(tool("teleport"), ToolName::Unknown);
    }

    #[test]
    fn a_tool_of_a_server_names_its_server_in_every_product_s_spelling() {
        let server = |name: &str| ToolName::Server(Some(name.to_owned()));
        let one = |server: &str, tool: &str| ToolName::ServerTool(server.to_owned(), tool.to_owned());
        assert_eq!(tool("mcp__github"), server("github"));
        assert_eq!(tool("mcp__github__*"), server("github"));
        assert_eq!(tool("mcp__github__create_issue"), one("github", "create_issue"));
        assert_eq!(tool("mcp_*"), ToolName::Server(None));
        assert_eq!(tool("mcp_github_*"), server("github"));
        assert_eq!(tool("mcp_my_server_*"), server("my_server"));
        assert_eq!(tool("mcp_github_create_issue"), one("github", "create_issue"));
        assert_eq!(tool("github/*"), server("github"));
        assert_eq!(tool("io.github.upstash/context7/get-docs"), one("io.github.upstash/context7", "get-docs"));
    }

    #[test]
    fn what_a_file_takes_away_covers_every_reading_of_a_name() {
        let restricted =
            |product, name| restricted(product, name).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let claude = |name| restricted(Product::ClaudeCode, name);
        assert_eq!(claude("mcp__github__delete_repo"), "github__delete_repo");
        assert_eq!(claude("mcp__github"), "github__*");
        assert_eq!(claude("mcp__github__delete_*"), "github__delete_*");
        assert_eq!(claude("mcp__*"), "*__*");
        assert_eq!(claude("io.github.upstash/context7/get-docs"), "io_github_upstash_context7__get-docs");
        assert_eq!(claude("Bash"), "run_command");
        assert_eq!(claude("teleport_me"), "");
        assert_eq!(restricted(Product::GeminiCli, "mcp_a_b_c"), "a__b_c a_b__c");
        let opencode = |name| restricted(Product::Opencode, name);
        assert_eq!(opencode("github_*"), "github__*");
        assert_eq!(opencode("my_server_delete"), "my__server_delete my_server__delete");
        assert_eq!(opencode("external_directory"), "");
        assert_eq!(opencode("edit"), "edit_file write_file");
    }

    #[test]
    fn a_model_is_known_by_alias_by_id_and_by_the_name_that_people_see() {
        let model = |name| model(name, |provider| matches!(provider, "anthropic" | "openai" | "gemini" | "ollama"));
        let named = |name: &str| ModelName::Named(name.to_owned());
        assert_eq!(model("inherit"), ModelName::Inherit);
        assert_eq!(model("fast"), ModelName::Inherit);
        assert_eq!(model("sonnet"), named("anthropic/claude-sonnet-5-5"));
        assert_eq!(model("sonnet[1m]"), named("anthropic/claude-sonnet-5-5"));
        assert_eq!(model("claude-opus-4-5"), named("anthropic/claude-opus-4-5"));
        assert_eq!(model("Claude Sonnet 4.5 (Preview) (copilot)"), named("anthropic/claude-sonnet-4-5"));
        assert_eq!(model("GPT-5 mini"), named("openai/gpt-5-mini"));
        assert_eq!(model("Gemini 2.5 Pro"), named("gemini/gemini-2.5-pro"));
        assert_eq!(model("google/gemini-2.5-flash"), named("gemini/gemini-2.5-flash"));
        assert_eq!(model("ollama/qwen3:8b"), named("ollama/qwen3:8b"));
        assert_eq!(model("github-copilot/claude-sonnet-4.5"), named("anthropic/claude-sonnet-4-5"));
        assert_eq!(model("acme/rocket"), ModelName::Unknown);
        assert_eq!(model("mystery"), ModelName::Unknown);
    }

    #[test]
    fn every_tool_in_the_table_is_one_that_can_exist_here() {
        let all = [
            "read_file",
            "write_file",
            "edit_file",
            "list_dir",
            "find_files",
            "search_files",
            "run_command",
            "todo",
            "memory",
        ];
        let others = ["ask_user", "web_fetch", "web_search", "skill", "spawn_agent", "delegate_task"];
        for ours in NAMES.tools.values().chain(NAMES.groups.values()).flatten() {
            assert!(all.iter().chain(&others).any(|name| name == ours), "{ours}");
        }
    }
}
