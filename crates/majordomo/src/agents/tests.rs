use agent::Mode;
use agent::policy::VERBS;
use tempfile::TempDir;

use super::*;
use crate::trust::Standing;

mod other_products;

/// Every tool that the built-in agents name, and one more that only some have.
const WORKSPACE_TOOLS: [&str; 6] = ["read_file", "list_dir", "find_files", "search_files", "ask_user", "run_command"];

fn tools() -> Vec<&'static str> {
    WORKSPACE_TOOLS.into_iter().chain(VERBS).chain(household::TOOLS).collect()
}

fn known() -> Known<'static> {
    Known { tools: tools(), providers: Vec::new() }
}

struct World {
    folder: TempDir,
    surroundings: Surroundings,
}

impl World {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let (home, cwd) = (folder.path().join("home"), folder.path().join("project"));
        for path in [&home, &cwd] {
            fs::create_dir(path).expect("a folder");
        }
        Self { surroundings: Surroundings { cwd, home: Some(home), ..Surroundings::default() }, folder }
    }

    fn user(self, name: &str, text: &str) -> Self {
        self.file(&format!("home/.config/majordomo/agents/{name}"), text)
    }

    fn project(self, name: &str, text: &str) -> Self {
        self.file(&format!("project/.majordomo/agents/{name}"), text)
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    fn load(&self) -> Agents {
        Agents::load(&self.surroundings, &Project { standing: Standing::Trusted, ..self.brought_along() }, &known())
    }

    fn brought_along(&self) -> Project {
        Project::read(&self.surroundings, &self.folder.path().join("state")).expect("a project")
    }

    fn plain(&self, text: impl fmt::Display) -> String {
        text.to_string().replace(&*self.folder.path().to_string_lossy(), "~~")
    }

    fn broken(&self) -> Vec<String> {
        self.load().broken.iter().map(|notice| self.plain(notice)).collect()
    }
}

fn found<'a>(agents: &'a Agents, name: &str) -> &'a Found {
    agents.found.iter().find(|found| &*found.agent.name == name).expect("an agent")
}

fn file(head: &str) -> String {
    format!("---\ndescription: Helps.\n{head}\n---\nYou help.\n")
}

#[test]
fn the_agents_that_are_built_in_are_whole_and_their_words_are_few() {
    let agents = World::new().load();
    assert_eq!((agents.warnings.len(), agents.broken.len()), (0, 0));
    let names: Vec<&str> = agents.found.iter().map(|found| &*found.agent.name).collect();
    assert_eq!(names, [&["general", "explore", "plan", "review"][..], &HOUSEHOLD].concat());
    for Found { agent, .. } in &agents.found {
        let most = match &*agent.name {
            "butler" => 1800,
            name if HOUSEHOLD.contains(&name) => 900,
            _ => 700,
        };
        assert!(agent.prompt.len() <= most, "{} has {} bytes", agent.name, agent.prompt.len());
        assert!(agent.description.len() <= 80, "{}", agent.description);
    }
}

// OPTA-22
#[test]
fn all_but_the_general_agent_only_look() {
    let agents = World::new().load();
    let general = &found(&agents, "general").agent;
    assert_eq!((&general.tools, general.mode), (&None, None));
    for name in ["explore", "plan", "review"] {
        let agent = &found(&agents, name).agent;
        assert_eq!(agent.mode, Some(Mode::Plan));
        let tools = agent.tools.as_deref().expect("a list");
        assert!(tools.iter().all(|tool| WORKSPACE_TOOLS[..5].contains(&&**tool)), "{name}: {tools:?}");
    }
}

#[test]
fn a_file_gives_an_agent_its_name_words_model_tools_and_mode() {
    let text = "---\nname: Scout\ndescription: |\n  Looks\n  ahead.\nmodel: ollama/llama3:8b\neffort: high\ntools:\n  - read_file\n  - spawn_agent\nmode: ask\n---\n\nYou scout.\n";
    let Definition { agent, warnings, .. } = read(text, "file", &tools()).expect("valid");
    assert_eq!((&*agent.name, &*agent.description, &*agent.prompt), ("Scout", "Looks ahead.", "You scout."));
    assert_eq!((agent.model.as_deref(), agent.mode), (Some("ollama/llama3:8b"), Some(Mode::Ask)));
    assert_eq!(agent.effort.as_deref(), Some("high"));
    assert_eq!(agent.tools, Some(vec!["read_file".into(), "spawn_agent".into()]));
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn what_a_file_leaves_out_is_the_file_s_name_and_the_parent_s_everything() {
    let agent = read(&file("model: inherit"), "scout", &tools()).expect("valid").agent;
    assert_eq!((&*agent.name, agent.model, agent.tools, agent.mode), ("scout", None, None, None));
}

#[test]
fn tools_are_a_list_or_a_text_with_commas() {
    for tools_field in
        ["tools: read_file, list_dir", "tools: [read_file, list_dir]", "tools:\n- read_file\n- list_dir\n- read_file"]
    {
        let agent = read(&file(tools_field), "a", &tools()).expect("valid").agent;
        assert_eq!(agent.tools, Some(vec!["read_file".into(), "list_dir".into()]), "{tools_field}");
    }
}

#[test]
fn unknown_keys_and_tools_are_warnings_with_a_suggestion() {
    let text = file("tool: x\ncolor: blue\nhooks:\n  Stop: x\ntools: read_file, serch_files");
    let definition = read(&text, "a", &tools()).expect("valid");
    assert_eq!(definition.agent.tools, Some(vec!["read_file".into()]));
    let expected = [
        "unknown key tool; did you mean tools?",
        "unknown key color",
        "unknown key hooks",
        "unknown tool serch_files; did you mean search_files?",
    ];
    assert_eq!(definition.warnings, expected);
}

#[test]
fn a_file_that_cannot_be_used_says_why() {
    let why = |text: &str| read(text, "a", &tools()).expect_err("invalid");
    assert!(
        why(&file("tools: Bash, Read")).starts_with("line 3: tools names no tool that exists; there are read_file,")
    );
    assert!(why(&file("tools: []")).contains("names no tool that exists"));
    assert!(why(&file("tools: {a: b}")).contains("expects names of tools"));
    assert_eq!(why(&file("model: sonnet")), "line 3: model expects provider/model, or inherit");
    assert_eq!(why(&file("mode: yolo")), "line 3: mode expects plan, ask, auto or dangerous");
    assert_eq!(why(&file("effort: lots")), "line 3: effort expects minimal, low, medium, high, max");
    assert!(why(&file("name: ../../x")).starts_with("name expects"));
    assert!(why(&file("name: [a]")).starts_with("line 3: name expects a text"));
    assert!(why("---\nname: a\n---\nbody").starts_with("description is missing"));
    assert_eq!(why("---\ndescription: a\n---\n"), "there is no prompt below the front matter");
}

#[test]
fn a_bad_file_takes_away_one_agent_and_is_seen() {
    let world = World::new().user("bad.md", "no front matter").user("good.md", &file("")).user("README.md", "hello");
    let agents = world.load();
    assert_eq!(&*found(&agents, "good").agent.prompt, "You help.");
    assert_eq!(agents.found.len(), BUILT_IN.len() + 1);
    assert_eq!(world.broken().len(), 1);
    assert!(
        world.broken()[0]
            .starts_with("~~/home/.config/majordomo/agents/bad.md: line 1: a file begins with front matter")
    );
}

#[test]
fn the_nearest_file_wins_and_what_it_shadows_is_known() {
    let world = World::new().user("general.md", &file("name: General")).project("mine.md", &file("name: general"));
    let agents = world.load();
    assert_eq!(agents.found.len(), BUILT_IN.len());
    let general = found(&agents, "general");
    assert_eq!(world.plain(&general.source), "~~/project/.majordomo/agents/mine.md");
    let shadowed: Vec<String> = general.shadowed.iter().map(|source| world.plain(source)).collect();
    assert_eq!(shadowed, ["~~/home/.config/majordomo/agents/general.md", "built in: general"]);
}

#[test]
fn two_files_of_one_folder_cannot_share_a_name() {
    let world = World::new().user("a.md", &file("name: code-review")).user("b.md", &file("name: Code Review"));
    let message = "Code Review is already the name of ~~/home/.config/majordomo/agents/a.md";
    assert_eq!(world.broken(), [format!("~~/home/.config/majordomo/agents/b.md: {message}")]);
}

// T47
#[test]
fn in_the_place_of_another_a_project_s_agent_can_only_have_less() {
    let explore = |head: &str| {
        let agents = World::new().project("explore.md", &file(head)).load();
        let agent = found(&agents, "explore").agent.clone();
        (agent.tools.map(|tools| tools.len()), agent.mode, agent.prompt.to_string())
    };
    assert_eq!(explore("mode: dangerous"), (Some(4), Some(Mode::Plan), "You help.".into()));
    assert_eq!(explore("tools: run_command, read_file"), (Some(1), Some(Mode::Plan), "You help.".into()));

    let world = World::new().project("explore.md", &file("tools: run_command"));
    assert!(world.broken()[0].ends_with("none of its tools is one of built in: explore, whose place it would take"));
    assert_eq!(found(&world.load(), "explore").source, Source::BuiltIn("explore"));
}

// T47
#[test]
fn until_a_project_is_trusted_its_agents_are_not_there() {
    let world = World::new().user("mine.md", &file("")).project("theirs.md", &file("")).project("bad.md", "no head");
    let project = world.brought_along();
    assert_eq!((project.standing, project.agents.len()), (Standing::Unknown, 2));
    let agents = Agents::load(&world.surroundings, &project, &known());
    assert_eq!(agents.found.len(), BUILT_IN.len() + 1);
    assert_eq!((agents.warnings.len(), agents.broken.len()), (0, 0));
    assert_eq!(world.load().found.len(), BUILT_IN.len() + 2);
}

#[test]
fn the_user_s_own_file_may_replace_a_built_in_agent_wholly() {
    let agents = World::new().user("explore.md", &file("tools: run_command")).load();
    let explore = &found(&agents, "explore").agent;
    assert_eq!((explore.tools.as_deref(), explore.mode), (Some(&["run_command".into()][..]), None));
}

// T42
#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_becomes_no_prompt() {
    let world = World::new().file("secret.md", &file("name: leak")).project("fine.md", &file(""));
    let link = world.folder.path().join("project/.majordomo/agents/leak.md");
    std::os::unix::fs::symlink(world.folder.path().join("secret.md"), link).expect("a link");
    assert_eq!(world.load().found.len(), BUILT_IN.len() + 1);
    assert_eq!(world.broken(), ["~~/project/.majordomo/agents/leak.md: cannot be read: it lies outside the project"]);
}

// ORION-1, ORION-2, ORION-28
#[test]
fn the_butler_hands_on_every_tool_of_its_five_specialists_and_uses_none_itself() {
    let agents = World::new().load();
    let Found { agent: butler, preset, .. } = found(&agents, "butler");
    assert_eq!(preset.as_deref(), Some("orion"));
    assert_eq!(butler.tools, Some(vec!["delegate".into()]));
    let policy = crate::presets::Preset::named("orion").expect("a preset").policy();
    let targets: Vec<&str> = policy.delegates.iter().map(|(_, agent)| &**agent).collect();
    assert_eq!(targets, HOUSEHOLD[1..]);
    let mut used: Vec<&str> = Vec::new();
    for name in targets {
        let tools = found(&agents, name).agent.tools.as_ref().expect("a specialist names its tools");
        assert!(tools.iter().all(|tool| butler.lends.contains(tool)), "{name}");
        used.extend(tools.iter().map(AsRef::as_ref));
    }
    let lent: Vec<&str> = butler.lends.iter().map(AsRef::as_ref).collect();
    assert_eq!(lent, household::TOOLS);
    assert!(lent.iter().all(|tool| used.contains(tool)), "an agent uses what is lent");
}

#[test]
fn a_project_that_takes_the_butlers_place_lends_no_more_than_the_butler() {
    let text = file("tools: delegate\nlends: mail_list, run_command");
    let agents = World::new().project("butler.md", &text).load();
    assert_eq!(found(&agents, "butler").agent.lends, ["mail_list".into()]);
}

#[test]
fn a_preset_that_does_not_exist_is_an_error_in_a_file() {
    let world = World::new().user("mine.md", &file("preset: orien"));
    let broken = world.broken();
    assert!(broken[0].contains("preset expects one of default, kata, lace, opta, orion"), "{broken:?}");
}

#[test]
fn the_preset_of_an_agent_is_read_from_the_nearest_file_of_its_name() {
    let world = World::new().user("mine.md", &file("name: Butler\npreset: opta"));
    let project = world.brought_along();
    assert_eq!(preset_of(&world.surroundings, &project, "butler").as_deref(), Some("opta"));
    assert_eq!(preset_of(&World::new().surroundings, &project, "butler").as_deref(), Some("orion"));
    assert_eq!(preset_of(&world.surroundings, &project, "general"), None);
}
