//! The products whose agent files are read, and where these lie: in a project, and in a person's home.
//!
//! Left to others: what is in a file (`definition.rs` for ours, `foreign.rs` for all others), and whether a project is trusted.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use crate::config::Surroundings;

/// A product with agent files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// This one.
    Majordomo,
    /// Claude Code.
    ClaudeCode,
    /// opencode.
    Opencode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Qwen Code.
    QwenCode,
    /// GitHub Copilot and VS Code.
    Copilot,
    /// Cursor.
    Cursor,
    /// goose.
    Goose,
}

/// A folder with agents of a product.
pub(super) struct Place {
    pub(super) product: Product,
    folder: &'static str,
    /// What the names of its files end in.
    endings: &'static [&'static str],
    /// Whether folders in it are looked through, too.
    is_deep: bool,
}

/// How many levels of folders are looked through.
const DEEPEST: usize = 4;
/// How many files of one folder are read.
const MOST_FILES: usize = 500;

const fn place(product: Product, folder: &'static str, endings: &'static [&'static str], is_deep: bool) -> Place {
    Place { product, folder, endings, is_deep }
}

const RECIPES: &[&str] = &[".yaml", ".yml", ".json"];

/// Where a project has agents. An earlier place wins over a later one.
const PROJECT: &[Place] = &[
    place(Product::ClaudeCode, ".claude/agents", &[".md"], true),
    place(Product::Opencode, ".opencode/agent", &[".md"], true),
    place(Product::Opencode, ".opencode/agents", &[".md"], true),
    place(Product::Codex, ".codex/agents", &[".toml"], false),
    place(Product::GeminiCli, ".gemini/agents", &[".md"], false),
    place(Product::QwenCode, ".qwen/agents", &[".md"], false),
    place(Product::Copilot, ".github/agents", &[".md"], false),
    place(Product::Copilot, ".github/chatmodes", &[".chatmode.md"], false),
    place(Product::Cursor, ".cursor/agents", &[".md"], false),
    place(Product::Goose, ".goose/agents", &[".md"], false),
    place(Product::Goose, ".agents/agents", &[".md"], false),
    place(Product::Goose, ".goose/recipes", RECIPES, false),
    place(Product::Goose, ".agents/recipes", RECIPES, false),
];

/// Where a person has agents: below the home folder, or, with `config/`, below that of configuration.
const USER: &[Place] = &[
    place(Product::ClaudeCode, ".claude/agents", &[".md"], true),
    place(Product::Opencode, "config/opencode/agent", &[".md"], true),
    place(Product::Opencode, "config/opencode/agents", &[".md"], true),
    place(Product::Codex, ".codex/agents", &[".toml"], false),
    place(Product::GeminiCli, ".gemini/agents", &[".md"], false),
    place(Product::QwenCode, ".qwen/agents", &[".md"], false),
    place(Product::Copilot, ".copilot/agents", &[".md"], false),
    place(Product::Copilot, "config/Code/User/prompts", &[".agent.md", ".chatmode.md"], false),
    place(Product::Cursor, ".cursor/agents", &[".md"], false),
    place(Product::Goose, ".goose/agents", &[".md"], false),
    place(Product::Goose, ".agents/agents", &[".md"], false),
    place(Product::Goose, "config/goose/recipes", RECIPES, false),
];

/// A file of another product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) product: Product,
    pub(crate) path: PathBuf,
    /// The agent's name by its file.
    pub(crate) name: String,
}

/// The agent files of other products in a project, in the order in which they win over each other, and folders that cannot be read.
pub(crate) fn in_project(root: &Path) -> (Vec<Listed>, Vec<(PathBuf, io::Error)>) {
    listed(PROJECT.iter().map(|place| (place, root.join(place.folder))))
}

/// The same for the person's own.
pub(super) fn of_user(surroundings: &Surroundings) -> (Vec<Listed>, Vec<(PathBuf, io::Error)>) {
    listed(places_of_user(surroundings))
}

/// Where a person has agents of other products.
pub(crate) fn folders_of_user(surroundings: &Surroundings) -> impl Iterator<Item = PathBuf> {
    places_of_user(surroundings).map(|(_, folder)| folder)
}

fn places_of_user(surroundings: &Surroundings) -> impl Iterator<Item = (&'static Place, PathBuf)> {
    USER.iter().filter_map(|place| {
        let folder = match place.folder.strip_prefix("config/") {
            Some(folder) => surroundings.config_home()?.join(folder),
            None => surroundings.own_home()?.join(place.folder),
        };
        Some((place, folder))
    })
}

fn listed(places: impl Iterator<Item = (&'static Place, PathBuf)>) -> (Vec<Listed>, Vec<(PathBuf, io::Error)>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for (place, folder) in places {
        let mut paths = Vec::new();
        if let Err(error) = place.collect(&folder, 0, &mut paths) {
            unreadable.push((folder.clone(), error));
        }
        paths.sort();
        paths.truncate(MOST_FILES);
        let named = |path: PathBuf| Listed { product: place.product, name: place.name(&folder, &path), path };
        found.extend(paths.into_iter().map(named));
    }
    (found, unreadable)
}

impl Place {
    fn collect(&self, folder: &Path, depth: usize, into: &mut Vec<PathBuf>) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(());
            }
            entries => entries?,
        };
        for entry in entries {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            // A link to a folder could lead anywhere, and round in circles.
            if kind.is_dir() && self.is_deep && depth < DEEPEST {
                self.collect(&path, depth + 1, into)?;
            } else if !kind.is_dir() && self.is_agent(&path) && into.len() < 4 * MOST_FILES {
                into.push(path);
            }
        }
        Ok(())
    }

    fn is_agent(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_other =
            ["readme.md", "agents.md", "claude.md", "gemini.md"].contains(&name.as_str()) || name.starts_with('.');
        !is_other && self.endings.iter().any(|ending| name.ends_with(ending))
    }

    /// The name that an agent has by its file: opencode counts the folders above it.
    fn name(&self, folder: &Path, path: &Path) -> String {
        let path = match self.product {
            Product::Opencode => path.strip_prefix(folder).unwrap_or(path),
            _ => Path::new(path.file_name().unwrap_or_default()),
        };
        let name = path.to_string_lossy().into_owned();
        let endings = [".agent.md", ".chatmode.md", ".md", ".toml", ".yaml", ".yml", ".json"];
        let ending =
            endings.iter().find(|ending| name.to_lowercase().ends_with(*ending)).map_or(0, |ending| ending.len());
        name[..name.len() - ending].to_owned()
    }
}

impl Product {
    /// Its name, as people write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Majordomo => "Majordomo",
            Self::ClaudeCode => "Claude Code",
            Self::Opencode => "opencode",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::QwenCode => "Qwen Code",
            Self::Copilot => "Copilot",
            Self::Cursor => "Cursor",
            Self::Goose => "goose",
        }
    }

    /// The product whose file this is, as far as its path tells: by the folder that it lies in, or by how its name ends.
    pub fn of_path(path: &Path) -> Self {
        let parts: Vec<String> =
            path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
        let lies_in = |name: &str| parts.iter().any(|part| part == name);
        let name = parts.last().map(String::as_str).unwrap_or_default();
        match name {
            _ if lies_in(".majordomo") => Self::Majordomo,
            _ if lies_in(".claude") => Self::ClaudeCode,
            _ if lies_in(".opencode") || lies_in("opencode") => Self::Opencode,
            _ if lies_in(".gemini") => Self::GeminiCli,
            _ if lies_in(".qwen") => Self::QwenCode,
            _ if lies_in(".cursor") => Self::Cursor,
            name if lies_in(".github")
                || lies_in(".copilot")
                || name.ends_with(".agent.md")
                || name.ends_with(".chatmode.md") =>
            {
                Self::Copilot
            }
            name if name.ends_with(".toml") => Self::Codex,
            _ if lies_in(".goose") || lies_in("goose") || lies_in(".agents") => Self::Goose,
            name if RECIPES.iter().any(|ending| name.ends_with(ending)) => Self::Goose,
            _ => Self::Majordomo,
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T19
    #[test]
    fn where_a_project_has_agents_no_agent_writes_without_approval() {
        for place in PROJECT {
            assert!(tool::is_protected(&Path::new(place.folder).join("a.md")), "{}", place.folder);
        }
    }
}
