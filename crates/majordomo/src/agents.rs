//! The agents: four for any work and six for a household that are built in, the user's own, and a project's.
//!
//! All are Markdown files with front matter. A project's stands over the user's, and that over a built-in one of the same
//! name. A project's file comes with a repository that may be hostile: in the place of another agent it can
//! only have less, and until a person trusts the project it has no effect at all. A file that cannot be used takes away one agent and says so; the one it would have replaced stays.

mod definition;
mod front_matter;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use agent::role::Agent;

pub use self::definition::{Definition, read};
use crate::config::{Surroundings, read_own};
use crate::trust::Project;

const BUILT_IN: [(&str, &str); 10] = [
    ("general", include_str!("agents/general.md")),
    ("explore", include_str!("agents/explore.md")),
    ("plan", include_str!("agents/plan.md")),
    ("review", include_str!("agents/review.md")),
    ("butler", include_str!("agents/butler.md")),
    ("triage", include_str!("agents/triage.md")),
    ("scheduler", include_str!("agents/scheduler.md")),
    ("communicator", include_str!("agents/communicator.md")),
    ("navigator", include_str!("agents/navigator.md")),
    ("preference_learner", include_str!("agents/preference_learner.md")),
];

/// The agents of a household, the one that asks the others first. Each can be played without a language model.
pub const HOUSEHOLD: [&str; 6] = ["butler", "triage", "scheduler", "communicator", "navigator", "preference_learner"];

/// The agents that can be asked for, and what a person should know about their files.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    /// The agents, built-in ones first.
    pub found: Vec<Found>,
    /// What does not keep an agent from being used.
    pub warnings: Vec<Notice>,
    /// Files that could not be used, and why.
    pub broken: Vec<Notice>,
}

/// An agent and its file.
#[derive(Clone, Debug)]
pub struct Found {
    /// The agent.
    pub agent: Agent,
    /// The preset under which it works where nobody chose another.
    pub preset: Option<String>,
    /// Where it is written.
    pub source: Source,
    /// Agents of the same name that it stands in front of, nearest first.
    pub shadowed: Vec<Source>,
}

/// Where an agent is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the program.
    BuiltIn(&'static str),
    /// In a file of the user's.
    User(PathBuf),
    /// In a file of the project's.
    Project(PathBuf),
}

/// A sentence about an agent's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The file.
    pub source: Source,
    /// The sentence.
    pub message: String,
}

impl Agents {
    /// Reads all agents, of the project those that a person has trusted. `tools` are the names of everything that an agent can be given, verbs included.
    pub fn load(surroundings: &Surroundings, project: &Project, tools: &[&str]) -> Self {
        let mut agents = Self::default();
        for (name, text) in BUILT_IN {
            agents.add(Source::BuiltIn(name), name, text, tools);
        }
        if let Some(folder) = surroundings.user_folder() {
            agents.add_folder(&folder.join("agents"), tools);
        }
        for file in project.agents.iter().filter(|_| project.is_trusted()) {
            match &file.text {
                Ok(text) => agents.add(Source::Project(file.path.clone()), &stem(&file.path), text, tools),
                Err(why) => agents.broken.push(unreadable(Source::Project(file.path.clone()), why)),
            }
        }
        agents
    }

    fn add_folder(&mut self, folder: &Path, tools: &[&str]) {
        let files = match files(folder) {
            Ok(files) => files,
            Err(error) => return self.broken.push(unreadable(Source::User(folder.to_owned()), &error)),
        };
        for path in files {
            match read_own(&path) {
                Ok(Some(text)) => self.add(Source::User(path.clone()), &stem(&path), &text, tools),
                // It went away since the folder was listed.
                Ok(None) => {}
                Err(error) => self.broken.push(unreadable(Source::User(path), &error)),
            }
        }
    }

    fn add(&mut self, source: Source, file_name: &str, text: &str, tools: &[&str]) {
        let definition = match definition::read(text, file_name, tools) {
            Ok(definition) => definition,
            Err(message) => return self.broken.push(Notice { source, message }),
        };
        let notice = |message| Notice { source: source.clone(), message };
        self.warnings.extend(definition.warnings.into_iter().map(notice));
        let (mut agent, preset) = (definition.agent, definition.preset);
        let Some(other) = self.found.iter_mut().find(|other| is_same_name(&other.agent.name, &agent.name)) else {
            return self.found.push(Found { agent, preset, source, shadowed: Vec::new() });
        };
        if other.source.same_folder(&source) {
            let message = format!("{} is already the name of {}", agent.name, other.source);
            return self.broken.push(Notice { source, message });
        }
        if matches!(source, Source::Project(_)) {
            agent = match narrowed(agent, &other.agent) {
                Some(agent) => agent,
                None => {
                    let message = format!("none of its tools is one of {}, whose place it would take", other.source);
                    return self.broken.push(Notice { source, message });
                }
            };
        }
        (other.agent, other.preset) = (agent, preset);
        other.shadowed.insert(0, std::mem::replace(&mut other.source, source));
    }
}

/// The preset that the file of an agent names, without reading the rest of it: configuration comes before tools.
pub(crate) fn preset_of(surroundings: &Surroundings, project: &Project, agent: &str) -> Option<String> {
    let of_project = project.agents.iter().filter(|_| project.is_trusted());
    let of_project = of_project.filter_map(|file| Some((stem(&file.path), file.text.clone().ok()?)));
    let folder = surroundings.user_folder().map(|folder| folder.join("agents"));
    let of_user = folder.and_then(|folder| files(&folder).ok()).unwrap_or_default().into_iter();
    let of_user = of_user.filter_map(|path| Some((stem(&path), read_own(&path).ok()??)));
    let built_in = BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let mut all = of_project.chain(of_user).chain(built_in);
    all.find_map(|(file_name, text)| definition::preset_of(&text, &file_name, agent))?
}

/// A project's agent in the place of another: with the tools that both have and the mode that both allow.
/// None when no tool is left.
fn narrowed(agent: Agent, other: &Agent) -> Option<Agent> {
    let tools = match (agent.tools, &other.tools) {
        (Some(own), Some(others)) => {
            Some(own.into_iter().filter(|tool| others.contains(tool)).collect::<Vec<Arc<str>>>())
        }
        (own, others) => own.or_else(|| others.clone()),
    };
    if tools.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let mode = match (agent.mode, other.mode) {
        (Some(own), Some(others)) => Some(own.meet(others)),
        (own, others) => own.or(others),
    };
    let lends = agent.lends.into_iter().filter(|tool| other.lends.contains(tool)).collect();
    Some(Agent { tools, lends, mode, ..agent })
}

/// The Markdown files of a folder by name, none when there is no such folder.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    let is_readme = |path: &Path| path.file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("readme"));
    let is_agent = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md") && !is_readme(path);
    let mut paths: Vec<PathBuf> = paths.into_iter().filter(is_agent).collect();
    paths.sort();
    Ok(paths)
}

/// Names are the same to a model that writes `Code Review` for `code-review`.
fn is_same_name(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
    plain(one) == plain(other)
}

/// The name that an agent has by its file.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn unreadable(source: Source, error: &dyn fmt::Display) -> Notice {
    Notice { source, message: format!("cannot be read: {error}") }
}

impl Source {
    fn same_folder(&self, other: &Source) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(name) => write!(f, "built in: {name}"),
            Self::User(path) | Self::Project(path) => write!(f, "{}", path.display()),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.message)
    }
}
