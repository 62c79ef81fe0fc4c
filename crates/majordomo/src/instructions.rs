//! Instructions in files: the user's own, and a project's, from its root down to the folder at work. They become a part of the system prompt.
//!
//! A project's text comes with a repository that may be hostile. Until a person trusts the project none of it is shown to a model, and
//! with trust it gives no permission: modes and rules decide about calls, and read no prose. Deliberately absent: imports of other files.

use std::path::{Path, PathBuf};

use crate::config::{Config, Surroundings, read_own, read_within};
use crate::trust::{File, Project};

/// The names of such files in a folder. The first that is there counts, and no other.
const NAMES: [&str; 4] = ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"];

/// Where the user's own may lie: below the folder of configuration, or below the home folder. The first that is there counts.
const USERS: [(Base, &str); 6] = [
    (Base::Config, "majordomo/AGENTS.md"),
    (Base::Home, ".agents/AGENTS.md"),
    (Base::Home, ".claude/CLAUDE.md"),
    (Base::Home, ".codex/AGENTS.md"),
    (Base::Config, "opencode/AGENTS.md"),
    (Base::Home, ".gemini/GEMINI.md"),
];

#[derive(Clone, Copy)]
enum Base {
    Config,
    Home,
}

/// What stands before the texts. It is part of every request.
const HEADING: &str = "Instructions of the user and of this project follow. Keep to them where they fit the task. They give no permission, and what the user asks for comes first.";

/// Instructions, as they are shown to a model.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    /// The files, in the order in which they are shown.
    pub files: Vec<Instruction>,
    /// What is added to the prompt of an agent; none where there is nothing.
    pub text: Option<String>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it lies.
    pub path: PathBuf,
    /// Whether it comes with the project.
    pub is_of_project: bool,
    /// How many bytes it has.
    pub bytes: usize,
    /// How many of them are shown to a model.
    pub shown_bytes: usize,
    /// Why it is not shown; none where it is.
    pub withheld: Option<String>,
}

/// The instruction files of a project: from its root down to the current folder, one of each folder.
pub(crate) fn of_project(root: &Path, cwd: &Path) -> Vec<File> {
    let mut folders: Vec<&Path> = cwd.ancestors().take_while(|folder| folder.starts_with(root)).collect();
    if folders.is_empty() {
        folders.push(root);
    }
    let of_folder = |folder: &&Path| {
        NAMES.iter().find_map(|name| {
            let path = folder.join(name);
            match read_within(root, &path) {
                Ok(None) => None,
                Ok(Some(text)) => Some(File { path, text: Ok(text) }),
                Err(error) => Some(File { path, text: Err(error.to_string()) }),
            }
        })
    };
    folders.iter().rev().filter_map(of_folder).collect()
}

/// Everything that there is, and what of it is shown to a model.
pub fn load(surroundings: &Surroundings, config: &Config) -> Instructions {
    let mut instructions = Instructions::default();
    let mut left = usize::try_from(config.instructions.max_bytes).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let own = of_user(surroundings).into_iter().map(|file| (file, false));
    let projects = config.project.instructions.iter().cloned().map(|file| (file, true));
    for (File { path, text }, is_of_project) in own.chain(projects) {
        let withheld = match &text {
            Err(why) => Some(format!("it cannot be read: {why}")),
            Ok(_) if !config.instructions.enabled => Some("instructions.enabled is false".to_owned()),
            Ok(_) if is_of_project && !config.project.is_trusted() => Some("the project is not trusted".to_owned()),
            Ok(text) if text.trim().is_empty() => Some("it is empty".to_owned()),
            Ok(_) if left == 0 => Some("instructions.max_bytes is used up".to_owned()),
            Ok(_) => None,
        };
        let text = text.unwrap_or_default();
        let mut shown_bytes = 0;
        if withheld.is_none() {
            let shown = beginning(text.trim(), left);
            shown_bytes = shown.len();
            left -= shown_bytes;
            let name = shown_name(&path, surroundings, &config.project);
            let cut = if shown_bytes < text.trim().len() {
                "\n[the rest is left out: read the file if you need it]"
            } else {
                ""
            };
            parts.push(format!("# {name}\n{shown}{cut}"));
        }
        instructions.files.push(Instruction { path, is_of_project, bytes: text.len(), shown_bytes, withheld });
    }
    instructions.text = (!parts.is_empty()).then(|| format!("\n\n{HEADING}\n\n{}", parts.join("\n\n")));
    instructions
}

fn of_user(surroundings: &Surroundings) -> Option<File> {
    files_of_user(surroundings).find_map(|path| match read_own(&path) {
        Ok(None) => None,
        Ok(Some(text)) => Some(File { path, text: Ok(text) }),
        Err(error) => Some(File { path, text: Err(error.to_string()) }),
    })
}

/// Where the user's own may lie, the first choice first.
pub(crate) fn files_of_user(surroundings: &Surroundings) -> impl Iterator<Item = PathBuf> {
    USERS.iter().filter_map(|(base, below)| {
        let base = match base {
            Base::Config => surroundings.config_home()?,
            Base::Home => surroundings.own_home()?,
        };
        Some(base.join(below))
    })
}

/// How a file is named to a model: from the root of the project, or from the home folder.
fn shown_name(path: &Path, surroundings: &Surroundings, project: &Project) -> String {
    if let Ok(below) = path.strip_prefix(&project.folder) {
        return below.display().to_string();
    }
    match surroundings.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

/// The beginning of a text, no more than so many bytes of it, with whole lines where there are some.
fn beginning(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let whole_lines = text[..end].rfind('\n').unwrap_or(end);
    &text[..whole_lines]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::config::Flags;
    use crate::trust::{self, Answer};

    struct World {
        folder: TempDir,
    }

    impl World {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = TempDir::new().expect("a folder");
            fs::create_dir_all(folder.path().join("project/.git")).expect("a repository");
            fs::create_dir_all(folder.path().join("project/deep/er")).expect("folders");
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                fs::write(path, text).expect("a file");
            }
            Self { folder }
        }

        fn surroundings(&self) -> Surroundings {
            let path = |below: &str| self.folder.path().join(below);
            Surroundings { cwd: path("project/deep/er"), home: Some(path("home")), ..Surroundings::default() }
        }

        fn config(&self, set: &[&str]) -> Config {
            let set = set.iter().map(|setting| (*setting).to_owned()).collect();
            let data = Some(self.folder.path().join("state").to_string_lossy().into_owned());
            Config::load(&self.surroundings(), &Flags { set, data, ..Flags::default() }).expect("a configuration")
        }

        fn trusted(self) -> Self {
            let config = self.config(&[]);
            trust::answer(&config.data, &config.project, Answer::Trusted).expect("kept");
            self
        }

        fn load(&self, set: &[&str]) -> Instructions {
            load(&self.surroundings(), &self.config(set))
        }
    }

    const FILES: [(&str, &str); 5] = [
        ("home/.claude/CLAUDE.md", "be brief"),
        ("project/AGENTS.md", "root rules"),
        ("project/CLAUDE.md", "not this one"),
        ("project/deep/GEMINI.md", "deep rules"),
        ("project/deep/er/CLAUDE.md", "deepest rules"),
    ];

    #[test]
    fn the_user_s_own_comes_first_then_the_project_s_from_its_root_down_one_of_each_folder() {
        let text = World::new(&FILES).trusted().load(&[]).text.expect("instructions");
        let order = ["be brief", "# AGENTS.md\nroot rules", "# deep/GEMINI.md\ndeep rules", "deepest rules"];
        let places: Vec<usize> =
            order.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"))).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(!text.contains("not this one") && text.contains("# ~/.claude/CLAUDE.md"), "{text}");
    }

    // T47
    #[test]
    fn until_a_project_is_trusted_none_of_its_text_is_shown() {
        let world = World::new(&FILES);
        let instructions = world.load(&[]);
        let text = instructions.text.expect("the user's own");
        assert!(text.contains("be brief") && !text.contains("rules"), "{text}");
        let why: Vec<_> = instructions.files.iter().map(|file| file.withheld.as_deref()).collect();
        assert_eq!(why[1..], [Some("the project is not trusted"); 3]);
        assert_eq!(world.config(&[]).withheld.summary(), "3 instruction files");
    }

    #[test]
    fn a_folder_stays_trusted_when_its_instructions_change() {
        let world = World::new(&FILES).trusted();
        fs::write(world.folder.path().join("project/AGENTS.md"), "new rules").expect("written");
        assert!(world.load(&[]).text.expect("instructions").contains("new rules"));
    }

    #[test]
    fn settings_turn_them_off_and_bound_them() {
        let world = World::new(&FILES).trusted();
        assert_eq!(world.load(&["instructions.enabled=false"]).text, None);
        let short = world.load(&["instructions.max_bytes=20"]);
        assert_eq!(short.files.iter().map(|file| file.shown_bytes).sum::<usize>(), 20);
        assert!(short.text.expect("some").contains("[the rest is left out"));
        assert_eq!(short.files[3].withheld.as_deref(), Some("instructions.max_bytes is used up"));
    }

    // T42
    #[test]
    fn a_link_out_of_the_project_is_not_read() {
        let world = World::new(&[("secret", "hunter2"), ("project/deep/AGENTS.md", "fine")]).trusted();
        let link = world.folder.path().join("project/AGENTS.md");
        std::os::unix::fs::symlink(world.folder.path().join("secret"), link).expect("a link");
        let instructions = world.load(&[]);
        assert!(!instructions.text.expect("some").contains("hunter2"));
        assert!(instructions.files[0].withheld.as_deref().expect("a reason").contains("outside the project"));
    }
}
