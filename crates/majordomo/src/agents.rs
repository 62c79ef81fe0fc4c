//! The agents: four for any work and six for a household that are built in, the user's own, and a project's.
//!
//! Ours are Markdown files with front matter; files of other products are read where they lie, as they are. A project's agent overrides the
//! user's, and that overrides a built-in one of the same name; among products, ours comes first. A file of another product never replaces a
//! built-in agent. A project's file comes with a repository that may be hostile: in the place of another agent it can only have
//! less, and until a person trusts the project it has no effect at all. A file that cannot be used takes away one agent and says so; the
//! one it would have replaced stays.

mod definition;
mod foreign;
pub(crate) mod front_matter;
mod names;
mod product;
mod settings;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use agent::permission::{Rule, matches};
use agent::role::Agent;
use household::TOOLS;

pub use self::definition::{Definition, read, to_text};
pub use self::product::Product;
pub(crate) use self::product::{Listed, folders_of_user, in_project};
pub(crate) use self::settings::inside as in_settings;
use crate::config::{Config, Surroundings, clause, likeness, nearest, read_own};
use crate::tasks;
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

/// The folder of the person's settings of another product, in which agents are kept.
pub(crate) fn settings_of_user(surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.config_home().map(|folder| folder.join("opencode"))
}

/// The agents that can be asked for, and what a person should know about their files.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    /// The agents, built-in ones first.
    pub found: Vec<Found>,
    /// What does not keep an agent from being used.
    pub warnings: Vec<Notice>,
    /// Files that could not be used, and why.
    pub broken: Vec<Notice>,
    /// The same for files of other products, which their own product may well use.
    pub foreign_broken: Vec<Notice>,
}

/// What the files of agents can name: everything that an agent can be given, verbs included, and the providers of models.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    tools: Vec<&'a str>,
    /// Each with whether it can be asked: no key is missing.
    providers: Vec<(&'a str, bool)>,
}

impl<'a> Known<'a> {
    /// These tools, and the providers of a configuration.
    pub fn new(tools: impl IntoIterator<Item = &'a str>, config: &'a Config) -> Self {
        let can_be_asked = |provider: &provider::ProviderConfig| provider.key.is_some() || !provider.needs_key;
        let providers = config.providers.iter().map(|provider| (provider.name.as_str(), can_be_asked(provider)));
        Self { tools: tools.into_iter().collect(), providers: providers.collect() }
    }

    fn has_tool(&self, name: &str) -> bool {
        self.tools.contains(&name)
    }

    /// The tools that an agent has which names none.
    fn of_workspace(&self) -> impl Iterator<Item = &'a str> {
        self.tools.iter().copied().filter(|tool| !TOOLS.contains(tool) && !tasks::tools::NAMES.contains(tool))
    }

    fn has_provider(&self, name: &str) -> bool {
        self.providers.iter().any(|(provider, _)| *provider == name)
    }

    /// Whether the provider of a model can be asked.
    fn can_ask(&self, model: &str) -> bool {
        let provider = model.split('/').next().unwrap_or_default();
        self.providers.iter().any(|(name, can_be_asked)| *name == provider && *can_be_asked)
    }
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
    /// The product whose file it is.
    pub product: Product,
    /// What its file forbids it besides: rules that ask or deny.
    pub rules: Vec<Rule>,
    /// What a person should know about its file, one sentence each.
    pub notes: Vec<String>,
    /// What it must not have more than, where a project's file is in the place of an agent that is not the project's.
    below: Option<Agent>,
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
    /// Reads all agents, of the project those that a person has trusted.
    pub fn load(surroundings: &Surroundings, project: &Project, known: &Known<'_>) -> Self {
        let mut agents = Self::default();
        for (name, text) in BUILT_IN {
            agents.add(Source::BuiltIn(name), name, text, known);
        }
        let (listed, unreadable_folders) = product::of_user(surroundings);
        for (folder, error) in unreadable_folders {
            agents.foreign_broken.push(unreadable(Source::User(folder), &error));
        }
        // What is added later wins.
        for file in listed.into_iter().rev() {
            match read_own(&file.path) {
                Ok(Some(text)) => agents.add_foreign(Source::User(file.path), file.product, &file.name, &text, known),
                Ok(None) => {}
                Err(error) => agents.foreign_broken.push(unreadable(Source::User(file.path), &error)),
            }
        }
        let own = |path: &Path| read_own(path).map_err(|error| error.to_string()).transpose();
        let settings = settings_of_user(surroundings).map(|folder| in_settings(&folder, own));
        for agent in settings.unwrap_or_default() {
            match agent.text {
                Ok(text) => agents.add_foreign(Source::User(agent.path), agent.product, &agent.name, &text, known),
                Err(why) => agents.foreign_broken.push(unreadable(Source::User(agent.path), &why)),
            }
        }
        if let Some(folder) = surroundings.user_folder() {
            agents.add_folder(&folder.join("agents"), known);
        }
        if project.is_trusted() {
            for file in project.foreign_agents.iter().rev() {
                let source = Source::Project(file.file.path.clone());
                match &file.file.text {
                    Ok(text) => agents.add_foreign(source, file.product, &file.name, text, known),
                    Err(why) => agents.foreign_broken.push(unreadable(source, why)),
                }
            }
            for file in &project.agents {
                match &file.text {
                    Ok(text) => agents.add(Source::Project(file.path.clone()), &stem(&file.path), text, known),
                    Err(why) => agents.broken.push(unreadable(Source::Project(file.path.clone()), why)),
                }
            }
        }
        agents
    }

    /// What a person is told when work begins: all about our own files, and one sentence about those of other products.
    pub fn told_at_start(&self) -> Vec<String> {
        let mut told: Vec<String> = self.warnings.iter().chain(&self.broken).map(ToString::to_string).collect();
        match self.foreign_broken.as_slice() {
            [] => {}
            [one] => told.push(format!("{one} (an agent file of another product; the run goes on without it)")),
            many => told.push(format!(
                "{} agent files of other products cannot be used; `majordomo agents validate` says why",
                many.len()
            )),
        }
        told
    }

    /// An agent by its name, however that is spelled, or a sentence that names those that there are.
    pub fn by_name(&self, name: &str) -> Result<&Found, String> {
        self.found.iter().find(|found| is_same_name(&found.agent.name, name)).ok_or_else(|| {
            let names: Vec<&Arc<str>> = self.found.iter().map(|found| &found.agent.name).collect();
            let meant = clause(nearest(&names, |known| likeness(name, known)));
            let known: Vec<&str> = names.iter().map(|name| &***name).collect();
            format!("there is no agent '{name}'{meant}; there are: {}", known.join(", "))
        })
    }

    fn add_folder(&mut self, folder: &Path, known: &Known<'_>) {
        let files = match files(folder) {
            Ok(files) => files,
            Err(error) => return self.broken.push(unreadable(Source::User(folder.to_owned()), &error)),
        };
        for path in files {
            match read_own(&path) {
                Ok(Some(text)) => self.add(Source::User(path.clone()), &stem(&path), &text, known),
                // It went away since the folder was listed.
                Ok(None) => {}
                Err(error) => self.broken.push(unreadable(Source::User(path), &error)),
            }
        }
    }

    fn add(&mut self, source: Source, file_name: &str, text: &str, known: &Known<'_>) {
        match definition::read(text, file_name, &known.tools) {
            Ok(mut definition) => {
                let notice = |message| Notice { source: source.clone(), message };
                self.warnings.extend(std::mem::take(&mut definition.warnings).into_iter().map(notice));
                if let Err(notice) = self.put(source, Product::Majordomo, definition) {
                    self.broken.push(notice);
                }
            }
            Err(message) => self.broken.push(Notice { source, message }),
        }
    }

    fn add_foreign(&mut self, source: Source, product: Product, file_name: &str, text: &str, known: &Known<'_>) {
        let definition = foreign::read(product, text, file_name, known);
        let put = match definition {
            Ok(definition) => self.put(source, product, definition),
            Err(message) => Err(Notice { source, message }),
        };
        if let Err(notice) = put {
            self.foreign_broken.push(notice);
        }
    }

    fn put(&mut self, source: Source, product: Product, definition: Definition) -> Result<(), Notice> {
        let Definition { mut agent, preset, mut rules, warnings: notes } = definition;
        let origin: Arc<str> = source.to_string().into();
        rules.iter_mut().for_each(|rule| rule.origin = origin.clone());
        let refused = |message| Err(Notice { source: source.clone(), message });
        let Some(other) = self.found.iter_mut().find(|other| is_same_name(&other.agent.name, &agent.name)) else {
            self.found.push(Found { agent, preset, source, product, rules, notes, below: None, shadowed: Vec::new() });
            return Ok(());
        };
        if other.source.same_folder(&source) && other.product == product {
            return refused(format!("{} is already the name of {}", agent.name, other.source));
        }
        if product != Product::Majordomo && matches!(other.source, Source::BuiltIn(_)) {
            return refused(format!(
                "{} is the name of a built-in agent; `majordomo agents import` makes it your own, which replaces that",
                agent.name
            ));
        }
        if matches!(source, Source::Project(_)) {
            let below = match &other.source {
                Source::Project(_) => other.below.clone(),
                _ => Some(other.agent.clone()),
            };
            if let Some(below) = &below {
                agent = match narrowed(agent, below) {
                    Some(agent) => agent,
                    None => {
                        return refused(format!(
                            "none of its tools is one of {}, whose place it would take",
                            other.source
                        ));
                    }
                };
            }
            other.below = below;
        }
        (other.agent, other.preset, other.product, other.notes) = (agent, preset, product, notes);
        // What forbids something to an agent of this name goes on to do so.
        match matches!(source, Source::Project(_)) {
            true => other.rules.extend(rules),
            false => other.rules = rules,
        }
        other.shadowed.insert(0, std::mem::replace(&mut other.source, source));
        Ok(())
    }
}

/// What the file of any product says, or why it cannot be used.
pub fn read_any(product: Product, text: &str, file_name: &str, known: &Known<'_>) -> Result<Definition, String> {
    match product {
        Product::Majordomo => definition::read(text, file_name, &known.tools),
        product => foreign::read(product, text, file_name, known),
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
    let is_others = |tool: &Arc<str>| {
        let named = |names: &Vec<Arc<str>>| names.iter().any(|name| matches(name, tool));
        match (tool.split_once(mcp::SEPARATOR), &other.mcp_servers) {
            // A tool of a server that the other has whole; what it names besides is a tool, too.
            (Some((server, _)), Some(servers)) => servers.iter().any(|own| **own == *server),
            (Some(_), None) => other.tools.as_ref().is_none_or(named),
            (None, _) => other.tools.as_ref().is_none_or(|names| names.contains(tool)),
        }
    };
    let names_tools_of_servers = agent.tools.iter().flatten().any(|tool| tool.contains(mcp::SEPARATOR));
    let tools = match (agent.tools, &other.tools) {
        (Some(own), _) => Some(own.into_iter().filter(is_others).collect::<Vec<Arc<str>>>()),
        (None, others) => others.clone(),
    };
    if tools.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let mode = match (agent.mode, other.mode) {
        (Some(own), Some(others)) => Some(own.meet(others)),
        (own, others) => own.or(others),
    };
    let mcp_servers = match (agent.mcp_servers, &other.mcp_servers) {
        (Some(own), Some(others)) => Some(own.into_iter().filter(|server| others.contains(server)).collect()),
        // It names the tools themselves, and a server would give it all of them.
        (None, Some(_)) if names_tools_of_servers => None,
        (own, others) => own.or_else(|| others.clone()),
    };
    let lends = agent.lends.into_iter().filter(|tool| other.lends.contains(tool)).collect();
    Some(Agent { tools, lends, mcp_servers, mode, ..agent })
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

/// Whether a file of this product is left out for its agent's name: no other product takes the place of a built-in agent.
pub fn is_left_out(product: Product, name: &str) -> bool {
    product != Product::Majordomo && BUILT_IN.iter().any(|(built_in, _)| is_same_name(built_in, name))
}

/// The name that an agent has by its file.
pub fn stem(path: &Path) -> String {
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
