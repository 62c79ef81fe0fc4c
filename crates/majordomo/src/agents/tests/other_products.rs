//! Files of eight products in the shapes that are found in public repositories, each read without an error, with the right tools and model.

use agent::Mode;
use agent::permission::Action;

use super::super::names::{self, ToolName};
use super::super::{Agents, Found, Known, Product, Source, in_project, stem};
use super::{World, found, tools};
use crate::config::{Config, Flags};

/// Everything that can be offered, and two providers with a key.
fn all_tools() -> Vec<&'static str> {
    let more = ["write_file", "edit_file", "todo", "memory", "web_fetch", "web_search", "skill"];
    tools().into_iter().chain(more).collect()
}

fn known<'a>(tools: &[&'a str]) -> Known<'a> {
    let providers = [("anthropic", true), ("openai", true), ("gemini", true), ("ollama", true), ("nokey", false)];
    Known { tools: tools.to_vec(), providers: providers.to_vec() }
}

macro_rules! fixtures {
    ($($folder:literal / $file:literal),* $(,)?) => {
        [$(($folder, $file, include_str!(concat!("../fixtures/", $folder, "/", $file)))),*]
    };
}

/// Where the files of a product lie in a project.
const PLACES: [(&str, &str); 8] = [
    ("claude_code", ".claude/agents"),
    ("opencode", ".opencode/agent"),
    ("codex", ".codex/agents"),
    ("gemini_cli", ".gemini/agents"),
    ("goose", ".goose/agents"),
    ("copilot", ".github/agents"),
    ("qwen_code", ".qwen/agents"),
    ("cursor", ".cursor/agents"),
];

fn world() -> World {
    let files = fixtures![
        "claude_code" / "code-reviewer.md",
        "claude_code" / "db-migrator.md",
        "claude_code" / "issue-triager.md",
        "claude_code" / "git-historian.md",
        "claude_code" / "everything.md",
        "opencode" / "review.md",
        "opencode" / "docs-writer.md",
        "opencode" / "git-only.md",
        "opencode" / "nested/security.md",
        "opencode" / "github-copilot.md",
        "codex" / "reviewer.toml",
        "codex" / "explorer.toml",
        "codex" / "docs.toml",
        "codex" / "ui.toml",
        "codex" / "workspace.toml",
        "gemini_cli" / "auditor.md",
        "gemini_cli" / "helper.md",
        "gemini_cli" / "github.md",
        "gemini_cli" / "searcher.md",
        "gemini_cli" / "writer.md",
        "goose" / "release.yaml",
        "goose" / "triage.yml",
        "goose" / "report.json",
        "goose" / "helper.md",
        "goose" / "parent.yaml",
        "copilot" / "planner.agent.md",
        "copilot" / "test-specialist.md",
        "copilot" / "Beast 4.1.chatmode.md",
        "copilot" / "docs.agent.md",
        "copilot" / "plain.agent.md",
        "qwen_code" / "tester.md",
        "qwen_code" / "all.md",
        "qwen_code" / "planner.md",
        "qwen_code" / "yolo.md",
        "qwen_code" / "windows.md",
        "cursor" / "verifier.md",
        "cursor" / "debugger.md",
        "cursor" / "gpt.md",
        "cursor" / "no-name.md",
        "cursor" / "just-text.md",
    ];
    let mut world = World::new();
    for (product, file, text) in files {
        let place = match file {
            file if file.ends_with(".chatmode.md") => ".github/chatmodes",
            file if product == "goose" && !file.ends_with(".md") => ".goose/recipes",
            _ => PLACES.iter().find(|(name, _)| *name == product).expect("a place").1,
        };
        // The agent of this name would take the place of a built-in one.
        let file = if file == "review.md" { "reviewing.md" } else { file };
        world = world.file(&format!("project/{place}/{file}"), text);
    }
    world
}

fn load(world: &World) -> Agents {
    let project = crate::trust::Project { standing: crate::trust::Standing::Trusted, ..world.brought_along() };
    Agents::load(&world.surroundings, &project, &known(&all_tools()))
}

#[test]
fn five_files_of_each_of_eight_products_load_with_the_right_tools_and_model() {
    let world = world();
    let agents = load(&world);
    let broken: Vec<String> =
        agents.broken.iter().chain(&agents.foreign_broken).map(|notice| world.plain(notice)).collect();
    assert_eq!(broken, Vec::<String>::new());

    let sonnet = Some("anthropic/claude-sonnet-5-5");
    let sonnet_45 = Some("anthropic/claude-sonnet-4-5");
    let opus_45 = Some("anthropic/claude-opus-4-5");
    let developer = "read_file write_file edit_file list_dir find_files search_files run_command";
    let qwen = "search_files find_files list_dir edit_file write_file todo web_fetch skill docs__search";
    let beast = "search_files run_command web_fetch edit_file write_file find_files list_dir";
    // The name, the model, the tools (none for all of the parent's), and the mode.
    type Expected = (&'static str, Option<&'static str>, Option<&'static str>, Option<Mode>);
    let expected: [Expected; 40] = [
        ("code-reviewer", sonnet, Some("read_file search_files find_files run_command"), None),
        ("db-migrator", opus_45, None, Some(Mode::Plan)),
        ("issue-triager", None, Some("read_file linear__create_comment github__*"), None),
        ("Git Historian", None, Some("run_command read_file spawn_agent delegate_task"), None),
        ("everything", Some("anthropic/claude-haiku-5-5"), None, None),
        ("reviewing", sonnet_45, None, None),
        ("docs-writer", Some("openai/gpt-5"), None, None),
        ("git-only", None, None, None),
        ("nested-security", Some("gemini/gemini-2.5-pro"), Some("read_file search_files"), None),
        ("github-copilot", sonnet_45, None, None),
        ("reviewer-two", Some("openai/gpt-5.4"), None, Some(Mode::Plan)),
        ("code_explorer", None, None, None),
        ("docs-researcher", None, None, None),
        ("UI fixer -browser", Some("openai/gpt-5.3-codex"), None, None),
        ("workspace", None, None, None),
        ("security-auditor", Some("gemini/gemini-2.5-pro"), Some("read_file search_files"), None),
        ("helper", None, None, None),
        ("github-expert", Some("gemini/gemini-3.8-flash"), Some("read_file run_command"), None),
        ("searcher", None, Some("find_files search_files list_dir web_search web_fetch memory"), None),
        ("writer", Some("gemini/gemini-3-flash-preview"), Some("write_file edit_file todo"), None),
        ("Release notes- from git", sonnet_45, Some(developer), None),
        ("Issue triage", None, Some(developer), None),
        ("report", Some("openai/gpt-4o"), None, None),
        ("goose-helper", Some("anthropic/claude-haiku-4-5"), None, None),
        ("parent", None, Some(""), None),
        ("Implementation Planner", opus_45, Some("search_files web_fetch spawn_agent delegate_task"), None),
        (
            "test-specialist",
            None,
            Some("read_file edit_file write_file find_files search_files list_dir run_command"),
            None,
        ),
        ("Beast 4-1", Some("openai/gpt-4.1"), Some(beast), None),
        ("Docs Expert", None, Some("read_file io_github_upstash_context7__get-library-docs microsoft-docs__*"), None),
        ("plain", None, None, None),
        ("testing-expert", None, Some("read_file write_file run_command"), None),
        ("qwen-all", None, None, None),
        ("qwen-planner", None, None, Some(Mode::Plan)),
        ("qwen-yolo", None, Some(qwen), None),
        ("qwen-windows", None, Some("read_file"), None),
        ("verifier", None, None, Some(Mode::Plan)),
        ("debugger", None, None, None),
        ("cursor-gpt", Some("openai/gpt-5.2"), None, None),
        ("no-name", Some("anthropic/claude-4-5-sonnet-thinking"), None, None),
        ("42", None, None, None),
    ];
    for (name, model, tools, mode) in expected {
        let agent = &found(&agents, name).agent;
        assert_eq!(agent.model.as_deref(), model, "{name}");
        assert_eq!(agent.mode, mode, "{name}");
        let own = agent.tools.as_ref().map(|tools| tools.join(" "));
        // An agent that is not to have some tools has all others by name.
        match name {
            "db-migrator" | "qwen-planner" | "reviewing" => {
                let own = own.expect("a list");
                assert!(own.contains("read_file") && !own.contains("edit_file"), "{name}: {own}");
                assert!(own.ends_with(" *__*"), "the tools of servers are its parent's, {name}: {own}");
            }
            _ => assert_eq!(own.as_deref(), tools, "{name}"),
        }
        assert!(!agent.prompt.is_empty() && !agent.description.is_empty(), "{name}");
        assert!(agent.description.chars().count() <= 241, "{name}: {}", agent.description);
    }
}

#[test]
fn what_a_file_forbids_is_a_rule_for_its_agent_and_what_it_allows_is_not_used() {
    let agents = load(&world());
    let rules = |name: &str| -> Vec<(String, Option<String>, Action)> {
        let rule = |rule: &agent::permission::Rule| {
            assert_eq!(rule.agent.as_deref(), Some(name));
            (rule.tool.to_string(), rule.pattern.as_deref().map(str::to_owned), rule.action)
        };
        found(&agents, name).rules.iter().map(rule).collect()
    };
    let git = rules("git-only");
    assert_eq!(git[0], ("run_command".to_owned(), None, Action::Ask));
    assert_eq!(git[1], ("run_command".to_owned(), Some("git push*".to_owned()), Action::Deny));
    assert!(rules("docs-writer").contains(&("edit_file".to_owned(), None, Action::Ask)));
    let all = agents.found.iter().flat_map(|found| &found.rules);
    assert!(all.clone().count() > 0 && all.into_iter().all(|rule| rule.action != Action::Allow));
}

#[test]
fn every_field_that_has_no_meaning_here_is_named() {
    let agents = load(&world());
    let said = |name: &str| found(&agents, name).notes.join("\n");
    assert!(said("code-reviewer").contains("not used here: color"), "{}", said("code-reviewer"));
    for key in ["maxTurns", "memory", "hooks"] {
        assert!(said("db-migrator").contains(key), "{}", said("db-migrator"));
    }
    assert!(said("issue-triager").contains("how one is started is taken from your own configuration"));
    assert!(said("Git Historian").contains("what is in parentheses has no effect"));
    assert!(said("qwen-yolo").contains("cannot give more permission"), "{}", said("qwen-yolo"));
    assert!(said("qwen-planner").contains("qwen3-coder-plus is not known"), "{}", said("qwen-planner"));
    assert!(said("Release notes- from git").contains("settings.temperature"));
    assert!(said("git-only").contains("permission.external_directory"), "{}", said("git-only"));
    assert!(said("plain").contains("no description"));
}

#[test]
fn an_agent_names_the_servers_that_it_gets() {
    let agents = load(&world());
    let servers = |name: &str| {
        let servers = found(&agents, name).agent.mcp_servers.clone();
        servers.map(|servers| servers.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    // Where single tools of a server are named, all are named as tools.
    assert_eq!(servers("issue-triager"), None);
    assert_eq!(servers("security-auditor"), None);
    assert_eq!(servers("nested-security"), Some(vec!["sentry".to_owned()]));
    assert_eq!(servers("Issue triage"), Some(vec!["github".to_owned()]));
    assert_eq!(servers("docs-researcher"), Some(vec!["openaiDeveloperDocs".to_owned()]));
    assert_eq!(servers("Docs Expert"), None);
    assert_eq!(servers("debugger"), None);
}

/// The tools, the servers and the rules of an agent whose file has this front matter.
fn granted(product: Product, head: &str) -> (Option<String>, Option<String>, Vec<String>) {
    let text = format!("---\nname: a\ndescription: b\n{head}\n---\nYou work.");
    let read = super::super::read_any(product, &text, "a", &known(&["read_file", "write_file", "edit_file"]));
    let super::super::Definition { agent, rules, .. } = read.expect("valid");
    let list = |names: Vec<std::sync::Arc<str>>| names.join(" ");
    (agent.tools.map(list), agent.mcp_servers.map(list), rules.iter().map(ToString::to_string).collect())
}

#[test]
fn a_file_that_names_one_tool_of_a_server_does_not_get_the_others() {
    let tools = |product, head: &str| {
        let (tools, servers, _) = granted(product, head);
        (tools.unwrap_or_else(|| "all".to_owned()), servers.unwrap_or_else(|| "-".to_owned()))
    };
    let claude = |head: &str| tools(Product::ClaudeCode, head);
    let pair = |tools: &str, servers: &str| (tools.to_owned(), servers.to_owned());
    assert_eq!(claude("tools: Read, mcp__linear__create_comment"), pair("read_file linear__create_comment", "-"));
    // The servers that it names are those that it has tools of, and of the one it names a tool.
    let head = "tools: Read, mcp__linear__create_comment\nmcpServers: [linear, my.docs]";
    assert_eq!(claude(head), pair("read_file my_docs__* linear__create_comment", "-"));
    // A list of tools that names none of a server does not take away what mcpServers grants.
    assert_eq!(claude("tools: Read\nmcpServers: [linear]"), pair("read_file", "linear"));
    assert_eq!(
        claude("mcpServers: [linear, io.github.upstash/context7]"),
        pair("all", "linear io_github_upstash_context7")
    );
    assert_eq!(claude("tools: mcp__linear__*, mcp__github__get_*"), pair("github__get_* linear__*", "-"));
    assert_eq!(claude("tools: '*, mcp__linear__create_comment'"), pair("all", "-"));
    // What a definition of a server selects.
    let head =
        "tools: [read]\nmcp-servers:\n  web:\n    command: npx\n    tools: [open, close]\n  docs:\n    tools: ['*']";
    assert_eq!(tools(Product::Copilot, head), pair("read_file docs__* web__open web__close", "-"));
    let head = "tools: [read_file, mcp_github_create_issue]";
    assert_eq!(tools(Product::GeminiCli, head), pair("read_file github__create_issue", "-"));
    assert_eq!(tools(Product::GeminiCli, "tools: [read_file, mcp_*]"), pair("read_file *__*", "-"));
    let head = "tools:\n  '*': false\n  read: true\n  my_server_get: true";
    assert_eq!(tools(Product::Opencode, head), pair("read_file my__server_get my_server__get", "-"));
}

#[test]
fn a_tool_of_a_server_that_a_file_forbids_is_denied_by_a_rule() {
    let rules = |product, head: &str| granted(product, head).2.join("; ");
    let claude = |head: &str| rules(Product::ClaudeCode, head);
    assert_eq!(claude("disallowedTools: mcp__github__delete_repo"), "deny github__delete_repo for a");
    assert_eq!(claude("disallowedTools: [mcp__github]"), "deny github__* for a");
    assert_eq!(claude("mcpServers:\n  web:\n    excludeTools: [open]"), "deny web__open for a");
    let opencode = |head: &str| rules(Product::Opencode, head);
    assert_eq!(opencode("tools:\n  sentry_*: false"), "deny sentry__* for a");
    assert_eq!(opencode("permission:\n  sentry_*: ask"), "ask sentry__* for a");
    assert_eq!(
        opencode("permission:\n  my_git_push:\n    '*force*': deny"),
        "deny my__git_push '*force*' for a; deny my_git__push '*force*' for a"
    );
    // The rest of the server stays, and so do the servers of the parent.
    let (tools, servers, _) = granted(
        Product::ClaudeCode,
        "disallowedTools: Write, mcp__github__delete_repo, mcp__linear__*\nmcpServers: [github, linear]",
    );
    assert_eq!((tools.as_deref(), servers.as_deref()), (Some("read_file edit_file"), Some("github")));
    let (tools, servers, _) = granted(Product::ClaudeCode, "disallowedTools: Write");
    assert_eq!((tools.as_deref(), servers.as_deref()), (Some("read_file edit_file *__*"), None));
}

#[test]
fn a_project_s_agent_in_the_place_of_another_gets_no_tool_of_a_server_that_the_other_lacks() {
    let ours = |head: &str| format!("---\ndescription: Ours.\n{head}\n---\nYou scout.");
    let own = |theirs: &str, head: &str| {
        let world = World::new().user("scout.md", &ours(theirs)).project("scout.md", &ours(head));
        let agent = found(&load(&world), "scout").agent.clone();
        (agent.tools.map(|tools| tools.join(" ")), agent.mcp_servers.map(|servers| servers.join(" ")))
    };
    let some = |text: &str| Some(text.to_owned());
    let head = "tools: read_file, git__log, web__open";
    assert_eq!(own("mcp_servers: git", head), (some("read_file git__log"), None));
    assert_eq!(own("tools: read_file, git__*", head), (some("read_file git__log"), None));
    assert_eq!(own("tools: read_file", head), (some("read_file"), None));
    assert_eq!(own("mode: plan", head), (some("read_file git__log web__open"), None));
    assert_eq!(
        own("tools: read_file\nmcp_servers: git.hub", "mcp_servers: git_hub"),
        (some("read_file"), some("git_hub"))
    );
}

#[test]
fn a_recipe_has_its_defaults_filled_in_and_says_what_comes_with_the_task() {
    let agents = load(&world());
    let prompt = &found(&agents, "Release notes- from git").agent.prompt;
    assert!(prompt.contains("in English.") && prompt.contains("for {{ tag }}"), "{prompt}");
    assert!(prompt.ends_with("tag: the tag to write about"), "{prompt}");
}

#[test]
fn without_a_key_for_its_provider_an_agent_has_the_model_of_its_parent() {
    let text = "---\nname: a\ndescription: b\nmodel: nokey/x\n---\nYou work.";
    let definition = super::super::read_any(Product::ClaudeCode, text, "a", &known(&all_tools())).expect("valid");
    assert_eq!(definition.agent.model, None);
    assert!(definition.warnings[0].contains("no key is set"), "{:?}", definition.warnings);
}

#[test]
fn a_list_of_which_no_tool_exists_is_an_error_and_an_empty_list_is_none() {
    let read = |head: &str| {
        let text = format!("---\nname: a\ndescription: b\n{head}\n---\nYou work.");
        super::super::read_any(Product::ClaudeCode, &text, "a", &known(&all_tools()))
    };
    assert!(read("tools: LSP, Teleport").expect_err("none").contains("none of its tools exists here"));
    assert_eq!(read("tools: []").expect("valid").agent.tools, Some(Vec::new()));
    assert_eq!(read("tools: mcp__docs").expect("valid").agent.tools, Some(Vec::new()));
}

// T47
#[test]
fn a_project_s_agents_of_other_products_count_only_after_trust() {
    let world = world();
    let project = world.brought_along();
    assert_eq!(project.standing, crate::trust::Standing::Unknown);
    let agents = Agents::load(&world.surroundings, &project, &known(&all_tools()));
    assert!(agents.found.iter().all(|found| found.product == Product::Majordomo));
    assert!(agents.told_at_start().is_empty());
}

// T48
#[test]
fn trust_covers_every_byte_of_the_files_of_other_products() {
    let world = world();
    let before = world.brought_along().digest();
    assert!(before.is_some());
    let path = "project/.cursor/agents/gpt.md";
    let world = world.file(path, "---\nname: cursor-gpt\ndescription: other\n---\nOther.");
    assert_ne!(world.brought_along().digest(), before);
}

#[test]
fn a_file_of_another_product_does_not_replace_a_built_in_agent_and_ours_come_first() {
    let text = "---\nname: Explore\ndescription: Looks.\n---\nYou look.";
    let mine = "---\nname: scout\ndescription: Ours.\n---\nYou scout.";
    let theirs = "---\nname: scout\ndescription: Theirs.\n---\nYou scout.";
    let world = World::new()
        .file("home/.claude/agents/explore.md", text)
        .file("home/.cursor/agents/scout.md", theirs)
        .file("home/.gemini/agents/scout.md", theirs)
        .user("scout.md", mine);
    let agents = load(&world);
    assert_eq!(found(&agents, "explore").source, Source::BuiltIn("explore"));
    assert!(agents.foreign_broken[0].message.contains("is the name of a built-in agent"));
    let Found { agent, shadowed, .. } = found(&agents, "scout");
    assert_eq!((&*agent.description, shadowed.len()), ("Ours.", 2));
    assert!(world.plain(&shadowed[0]).contains(".gemini"), "{shadowed:?}");
}

#[test]
fn a_wrong_file_of_another_product_is_one_sentence_and_the_rest_is_there() {
    let world = world()
        .file("project/.claude/agents/bad.md", "no front matter")
        .file("project/.codex/agents/bad.toml", "name = \"x");
    let agents = load(&world);
    assert_eq!(agents.found.len(), 10 + 40);
    let told = agents.told_at_start();
    assert_eq!(told, ["2 agent files of other products cannot be used; `majordomo agents validate` says why"]);
}

#[test]
fn an_imported_agent_is_read_as_the_same_agent() {
    let agents = load(&world());
    for Found { agent, preset, source, .. } in &agents.found {
        let definition = super::super::Definition {
            agent: agent.clone(),
            preset: preset.clone(),
            rules: Vec::new(),
            warnings: Vec::new(),
        };
        let text = super::super::to_text(&definition);
        let read =
            super::super::read(&text, "file", &all_tools()).unwrap_or_else(|why| panic!("{source}: {why}\n{text}"));
        let mut agent = agent.clone();
        // An agent without any tool has no form in a file of ours.
        agent.tools = agent.tools.filter(|tools| !tools.is_empty());
        agent.prompt = agent.prompt.trim().into();
        assert_eq!(read.agent, agent, "{text}");
    }
}

#[test]
fn the_product_of_a_file_is_known_by_where_it_lies() {
    let world = world();
    let (listed, unreadable) = in_project(&world.surroundings.cwd);
    assert_eq!((listed.len(), unreadable.len()), (40, 0));
    for file in listed {
        assert_eq!(Product::of_path(&file.path), file.product, "{}", file.path.display());
        assert!(!stem(&file.path).is_empty());
    }
    assert!(matches!(names::tool("Read"), ToolName::Ours(_)));
}

#[test]
fn providers_of_a_configuration_are_known_with_whether_they_can_be_asked() {
    let world = World::new();
    let flags = Flags { data: Some("state".to_owned()), ..Flags::default() };
    let config = Config::load(&world.surroundings, &flags).expect("a configuration");
    let known = Known::new(["read_file"], &config);
    assert!(known.has_provider("anthropic") && !known.can_ask("anthropic/x") && known.can_ask("ollama/x"));
}
