//! `docs/providers.md` says which tools the built-in agents have, since what these return is sent to a provider.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use majordomo::Staff;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{Kept, Options};

/// A row: tools, which may end with `*`, and agents.
struct Row {
    tools: Vec<String>,
    agents: BTreeSet<String>,
}

impl Row {
    fn has(&self, tool: &str) -> bool {
        let fits =
            |pattern: &String| pattern.strip_suffix('*').map_or(pattern == tool, |begin| tool.starts_with(begin));
        self.tools.iter().any(fits)
    }
}

/// The table of the page; only these words are names of agents.
fn table(agents: &[&str]) -> Vec<Row> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md");
    let page = fs::read_to_string(page).expect("the page");
    let (_, table) = page.split_once("| tools | what their results hold |").expect("the table");
    let code = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let [tools, _, having] = cells[..] else { panic!("{line}") };
        let agents = code(having).into_iter().filter(|word| agents.contains(&word.as_str())).collect();
        Row { tools: code(tools), agents }
    };
    table.lines().skip(2).take_while(|line| line.starts_with('|')).map(row).collect()
}

#[tokio::test]
async fn the_page_names_every_tool_of_every_built_in_agent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in [
        ("work/.keep", ""),
        ("home/.claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF.\n---\nRead it.\n"),
        ("home/household/mail/.keep", ""),
        (
            "home/.config/majordomo/config.toml",
            "tasks.enabled = true\nhousehold.folder = \"~/household\"\nweb.search = \"searxng\"\n",
        ),
        ("script.toml", "[[script]]\non = \"\"\n[[script.reply]]\ntext = \"done\"\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let (cwd, home) = (folder.path().join("work"), Some(folder.path().join("home")));
    let surroundings = Surroundings { cwd, home, ..Surroundings::default() };
    let model = Some(format!("scripted/{}", folder.path().join("script.toml").display()));
    let config = Config::load(&surroundings, &Flags { model, ..Flags::default() }).expect("a configuration");
    let options = Options { store: Kept::InMemory, ..Options::default() };
    let staff = Staff::open(&surroundings, config, options).await.expect("a staff");
    let published = staff.runtime().tools().snapshot().infos();
    let published: Vec<&str> = published.keys().map(AsRef::as_ref).collect();
    for conditional in ["web_search", "skill", "task_list", "mail_read"] {
        assert!(published.contains(&conditional), "{conditional} is not in {published:?}");
    }

    let agents: Vec<&str> = staff.agents().map(|agent| &*agent.name).collect();
    let rows = table(&agents);
    for agent in staff.agents() {
        // One that names none has all but those of the household, which it can only lend.
        let has = |tool: &str| match &agent.tools {
            Some(tools) => tools.iter().any(|own| **own == *tool),
            None => !household::TOOLS.contains(&tool),
        };
        for tool in published.iter().filter(|tool| has(tool)) {
            let rows: Vec<&Row> = rows.iter().filter(|row| row.has(tool)).collect();
            let [row] = rows[..] else { panic!("{} rows of the page are about {tool}", rows.len()) };
            assert!(row.agents.contains(&*agent.name), "{} has {tool}, and the page does not say so", agent.name);
        }
    }
    for row in &rows {
        // Those of servers of tools are there only where a server runs.
        let tools: Vec<&&str> = published.iter().filter(|tool| row.has(tool)).collect();
        assert!(!tools.is_empty() || row.tools.iter().any(|tool| tool == "call_tool"), "{:?} are no tools", row.tools);
        for name in row.agents.iter().filter(|_| !tools.is_empty()) {
            let agent = staff.agents().find(|agent| *agent.name == **name).expect("an agent");
            let has = |tool: &&&str| agent.tools.as_ref().is_none_or(|own| own.iter().any(|own| &**own == **tool));
            assert!(tools.iter().any(has), "{name} has none of {:?}", row.tools);
        }
    }
    staff.close().await;
}
