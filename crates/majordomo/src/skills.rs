//! Skills: folders with a `SKILL.md` that tells how a kind of task is done, of the user and of a trusted project, as other products have them.
//!
//! A model sees names and one line each, in the description of one tool, and reads the rest by a call of that tool; without skills there is no
//! such tool. What it reads is untrusted text unless the user trusts the skill by name, because many skills are downloaded. Files that
//! come with a skill are read and run under the usual rules. Deliberately absent: what a skill says about tools that it may use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use agent::Json;
use agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use tool::{Origin, Registry, Tool, ToolContext, plainly};

use crate::agents::front_matter;
use crate::config::{Config, Surroundings, read_own, read_within};
use crate::trust::File;

/// The tool by which a model reads a skill.
pub const TOOL: &str = "skill";

/// Folders of skills in a project. An earlier one wins over a later one.
const PROJECT: [&str; 9] = [
    ".majordomo/skills",
    ".claude/skills",
    ".agents/skills",
    ".opencode/skill",
    ".opencode/skills",
    ".github/skills",
    ".gemini/skills",
    ".cursor/skills",
    ".qwen/skills",
];

/// Folders of the user's own, below the home folder.
const USER: [&str; 7] = [
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".gemini/skills",
    ".copilot/skills",
    ".cursor/skills",
    ".qwen/skills",
];

/// How many skills of one folder are looked at.
const MOST: usize = 200;
/// The longest description that a model is shown.
const LONGEST: usize = 160;
/// How many characters of descriptions are shown in all; further skills are shown by name alone.
const LONGEST_LIST: usize = 4_000;
/// How many characters of a file are shown at once.
const LONGEST_FILE: usize = 60_000;

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Whether it comes with the project.
    pub is_of_project: bool,
    /// Whether its text counts as the user's own.
    pub is_trusted: bool,
    body: String,
}

/// Skills, and what a person should know about their files.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    /// The skills, by name.
    pub found: Vec<Skill>,
    /// Files that cannot be used, and why.
    pub broken: Vec<(PathBuf, String)>,
}

/// The `SKILL.md` files of a project.
pub(crate) fn of_project(root: &Path) -> Vec<File> {
    let mut files = Vec::new();
    for folder in PROJECT {
        for path in listed(&root.join(folder)) {
            match read_within(root, &path) {
                Ok(None) => {}
                Ok(Some(text)) => files.push(File { path, text: Ok(text) }),
                Err(error) => files.push(File { path, text: Err(error.to_string()) }),
            }
        }
    }
    files
}

/// All skills, of the project those that a person has trusted. None where they are turned off.
pub fn load(surroundings: &Surroundings, config: &Config) -> Skills {
    let mut skills = Skills::default();
    if !config.skills.enabled {
        return skills;
    }
    if config.project.is_trusted() {
        for File { path, text } in &config.project.skills {
            skills.add(path, text.clone(), true, config);
        }
    }
    for folder in folders_of_user(surroundings) {
        for path in listed(&folder) {
            match read_own(&path).transpose() {
                None => {}
                Some(text) => skills.add(&path, text.map_err(|error: io::Error| error.to_string()), false, config),
            }
        }
    }
    skills.found.sort_by(|one, other| one.name.cmp(&other.name));
    skills
}

/// Where the user's own skills are.
pub(crate) fn folders_of_user(surroundings: &Surroundings) -> impl Iterator<Item = PathBuf> {
    let ours = surroundings.user_folder().map(|folder| folder.join("skills"));
    let of_others = USER.iter().filter_map(|folder| Some(surroundings.own_home()?.join(folder)));
    let opencode = surroundings.config_home().map(|base| base.join("opencode/skills"));
    ours.into_iter().chain(of_others).chain(opencode)
}

/// The tools with the one by which skills are read, where there are any.
pub(crate) fn register(registry: Registry, skills: Skills) -> Registry {
    if skills.found.is_empty() {
        return registry;
    }
    registry.join(Registry::from_origin(Origin::BuiltIn).with(SkillTool::new(skills.found)))
}

/// The `SKILL.md` files in the folders of a folder.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path().join("SKILL.md")));
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.exists()).take(MOST).collect();
    paths.sort();
    paths
}

impl Skills {
    fn add(&mut self, path: &Path, text: Result<String, String>, is_of_project: bool, config: &Config) {
        let folder = path.parent().unwrap_or(path).to_owned();
        match text.and_then(|text| read(&text, &folder)) {
            Ok(Some((name, description, body))) => {
                if self.found.iter().all(|skill| skill.name != name) {
                    let is_trusted = config.skills.trusted.contains(&name);
                    self.found.push(Skill { name, description, folder, is_of_project, is_trusted, body });
                }
            }
            Ok(None) => {}
            Err(why) => self.broken.push((path.to_owned(), why)),
        }
    }
}

/// The name, the description and the body of a skill; none for one that models are not to use by themselves.
fn read(text: &str, folder: &Path) -> Result<Option<(String, String, String)>, String> {
    let split = front_matter::split_foreign(text)?;
    let field = |key: &str| split.fields.iter().find(|field| field.key == key).and_then(|field| field.value.as_text());
    if field("disable-model-invocation") == Some("true") {
        return Ok(None);
    }
    let of_folder = folder.file_name().unwrap_or_default().to_string_lossy();
    let name = field("name").unwrap_or(&of_folder).trim();
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(64).collect();
    let description = field("description").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() || description.is_empty() {
        return Err("it needs a name and a description in its front matter".to_owned());
    }
    let description = match description.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &description[..at]),
        None => description,
    };
    Ok(Some((name, description, split.body.to_owned())))
}

struct SkillTool {
    info: ToolInfo,
    skills: Arc<[Skill]>,
}

#[derive(Deserialize)]
struct Args {
    name: String,
    file: Option<String>,
}

const EXAMPLE: &str = r#"{"name": "pdf-forms"}"#;
const SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"file":{"type":"string","description":"another file of the skill"}},"required":["name"]}"#;

impl SkillTool {
    fn new(skills: Vec<Skill>) -> Self {
        let mut words = String::from("Read how a kind of task is done here, before you do it. Skills:");
        let begin = words.len();
        for skill in &skills {
            match words.len() - begin < LONGEST_LIST {
                true => words.push_str(&format!(" {} ({});", skill.name, skill.description)),
                false => words.push_str(&format!(" {};", skill.name)),
            }
        }
        words.pop();
        let info = tool::info(TOOL, &words, SCHEMA, Reach::ReadOnly, true, Risk::Low);
        Self { info, skills: skills.into() }
    }
}

impl Tool for SkillTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assesses_at_once(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, ToolResult> {
        let (skills, workspace) = (self.skills.clone(), context.workspace.root().to_owned());
        let act = move |args: &Args| -> Result<ToolResult, String> {
            let skill = skills.iter().find(|skill| skill.name == args.name).ok_or_else(|| {
                let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
                format!("there is no skill '{}'; there are: {}", args.name, names.join(", "))
            })?;
            let text = match &args.file {
                None => skill.text(),
                Some(file) => skill.file(file, &workspace)?,
            };
            let foreign = (!skill.is_trusted).then(|| format!("skill {}", skill.name).into());
            let text = agent::context::bounded(&text, LONGEST_FILE, "");
            Ok(ToolResult { foreign, ..ToolResult::ok(text) })
        };
        Box::pin(plainly(&self.info, EXAMPLE, input, context, act))
    }
}

impl Skill {
    /// What a model reads: the skill's text, and which files come with it.
    fn text(&self) -> String {
        let mut files: Vec<String> = Vec::new();
        below(&self.folder, &self.folder, 0, &mut files);
        files.sort();
        let mut text = self.body.clone();
        text.push_str(&format!("\n\n[Folder of this skill: {}", self.folder.display()));
        if !files.is_empty() {
            text.push_str(&format!(". Its files: {}", files.join(", ")));
        }
        text.push(']');
        text
    }

    /// Another file of a skill that lies outside the workspace; one inside is read as any other file there.
    fn file(&self, file: &str, workspace: &Path) -> Result<String, String> {
        let path = self.folder.join(file);
        if let Ok(inside) = path.strip_prefix(workspace) {
            return Err(format!("it lies in the workspace: call read_file with path {}", inside.display()));
        }
        match read_within(&self.folder, &path) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(format!("the skill {} has no file {file}", self.name)),
            Err(error) => Err(format!("{file} cannot be read: {error}")),
        }
    }
}

/// The files below a folder, without the skill's own.
fn below(root: &Path, folder: &Path, depth: usize, into: &mut Vec<String>) {
    const DEEPEST: usize = 3;
    const MOST_FILES: usize = 50;
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() && depth < DEEPEST {
            below(root, &path, depth + 1, into);
        } else if kind.is_file() && into.len() < MOST_FILES && entry.file_name() != "SKILL.md" {
            into.extend(path.strip_prefix(root).ok().map(|path| path.display().to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use agent::{CallId, ThreadId};
    use tempfile::TempDir;
    use tool::Workspace;

    use super::*;
    use crate::config::Flags;
    use crate::trust::{self, Answer, Standing};

    struct World(TempDir);

    impl World {
        fn new() -> Self {
            let world = Self(TempDir::new().expect("a folder"));
            world.write("project/.git/HEAD", "x");
            world
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }

        fn surroundings(&self) -> Surroundings {
            let path = |below: &str| self.0.path().join(below);
            Surroundings { cwd: path("project"), home: Some(path("home")), ..Surroundings::default() }
        }

        fn config(&self, set: &[&str]) -> Config {
            let set = set.iter().map(|setting| (*setting).to_owned()).collect();
            let data = Some(self.0.path().join("state").to_string_lossy().into_owned());
            Config::load(&self.surroundings(), &Flags { set, data, ..Flags::default() }).expect("a configuration")
        }

        fn load(&self, set: &[&str]) -> Skills {
            load(&self.surroundings(), &self.config(set))
        }

        async fn call(&self, set: &[&str], input: &str) -> ToolResult {
            let tool = SkillTool::new(self.load(set).found);
            let workspace = Workspace::open(self.0.path().join("project")).expect("a workspace");
            let context = ToolContext::new(Arc::new(workspace), ThreadId::new("20260115-k3f9"), CallId::new("tu_1"));
            tool.run(&Json::parse(input).expect("JSON"), &context).await
        }
    }

    fn skill(name: &str) -> String {
        format!("---\nname: {name}\ndescription: Does {name}: well\nallowed-tools: Read\n---\nHow {name} is done.\n")
    }

    // T47, T48
    #[test]
    fn a_project_s_skills_count_only_after_trust_and_as_they_were_then() {
        let world = World::new();
        world.write("home/.claude/skills/pdf/SKILL.md", &skill("pdf"));
        world.write("project/.claude/skills/release/SKILL.md", &skill("release"));
        let names = |world: &World| world.load(&[]).found.iter().map(|skill| skill.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&world), ["pdf"]);
        let config = world.config(&[]);
        assert_eq!(config.withheld.summary(), "1 skill");
        trust::answer(&config.data, &config.project, Answer::Trusted).expect("kept");
        assert_eq!(names(&world), ["pdf", "release"]);
        world.write("project/.claude/skills/release/SKILL.md", &skill("other"));
        assert_eq!(world.config(&[]).project.standing, Standing::Changed);
        assert_eq!(names(&world), ["pdf"]);
    }

    #[test]
    fn without_skills_there_is_no_tool_and_a_setting_turns_them_off() {
        let world = World::new();
        assert!(register(Registry::new(), world.load(&[])).infos().is_empty());
        world.write("home/.config/majordomo/skills/pdf/SKILL.md", &skill("pdf"));
        let info = &register(Registry::new(), world.load(&[])).infos()[TOOL];
        assert!(info.description.ends_with("Skills: pdf (Does pdf: well)"), "{}", info.description);
        assert!(!info.description.contains("How pdf is done"));
        assert!(world.load(&["skills.enabled=false"]).found.is_empty());
    }

    #[tokio::test]
    async fn the_body_comes_when_the_model_asks_and_is_untrusted_unless_the_user_trusts_the_skill() {
        let world = World::new();
        world.write("home/.agents/skills/pdf/SKILL.md", &skill("pdf"));
        world.write("home/.agents/skills/pdf/scripts/fill.py", "print(1)");
        let result = world.call(&[], r#"{"name": "pdf"}"#).await;
        assert!(result.content.starts_with("How pdf is done.") && result.content.contains("scripts/fill.py"));
        assert_eq!(result.foreign.as_deref(), Some("skill pdf"));
        let trusted = world.call(&["skills.trusted=[\"pdf\"]"], r#"{"name": "pdf"}"#).await;
        assert_eq!(trusted.foreign, None);
        let file = world.call(&[], r#"{"name": "pdf", "file": "scripts/fill.py"}"#).await;
        assert_eq!(&*file.content, "print(1)");
    }

    // T41
    #[tokio::test]
    async fn a_skill_leads_to_no_file_outside_its_folder_and_a_wrong_name_is_told() {
        let world = World::new();
        world.write("home/.claude/skills/pdf/SKILL.md", &skill("pdf"));
        world.write("home/secret", "hunter2");
        for file in ["../../../secret", "/etc/hostname", "nothing"] {
            let result = world.call(&[], &format!(r#"{{"name": "pdf", "file": "{file}"}}"#)).await;
            assert!(result.is_error && !result.content.contains("hunter2"), "{}", result.content);
        }
        let result = world.call(&[], r#"{"name": "docx"}"#).await;
        assert_eq!(&*result.content, "there is no skill 'docx'; there are: pdf");
    }

    #[test]
    fn a_skill_that_cannot_be_used_says_why_and_long_lists_stay_short() {
        let world = World::new();
        world.write("home/.claude/skills/bad/SKILL.md", "no head");
        world.write(
            "home/.claude/skills/hidden/SKILL.md",
            "---\nname: h\ndescription: d\ndisable-model-invocation: true\n---\nx",
        );
        let skills = world.load(&[]);
        assert_eq!((skills.found.len(), skills.broken.len()), (0, 1));
        for n in 0..100 {
            world.write(
                &format!("home/.claude/skills/s{n}/SKILL.md"),
                &skill(&format!("s{n}")).replace("Does", &"x".repeat(300)),
            );
        }
        let tool = SkillTool::new(world.load(&[]).found);
        assert!(tool.info.description.len() < 6_000, "{}", tool.info.description.len());
    }
}
