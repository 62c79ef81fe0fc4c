//! Which project folders a person trusts, and what a project brings along.
//!
//! A project's files come with a repository that another person may have written. Until a person has seen them they can only
//! narrow; trust is bound to the folder's real path and to every byte that counts, so that another folder under the same name
//! and other content in the same folder are both strangers again. The files are read once: what is compared is what is used.
//! What trust lets in is decided where it is used (`config`, `agents`, `rules`). Some things it never lets in: see `config`.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use store::{InstallationEvent, InstallationState, ProjectJudgement};

use crate::agents::Product;
use crate::config::{Error, Files, Origin, Surroundings, read_own, read_within};
use crate::kept::{self, StatePlace};
use crate::{agents, hooks, instructions, servers, skills};

/// The file in the folder for state in which earlier versions kept the answers. What it holds counts until the store has taken
/// it over.
pub(crate) const EARLIER_FILE: &str = "trust.toml";

/// The file in which a project names servers of tools, as other products write it.
pub(crate) const MCP_FILE: &str = ".mcp.json";

/// What a project brings along, and how a person stands to it.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder's real path: what a person trusts.
    pub root: PathBuf,
    /// The folder as it was found: its files are named from there.
    pub(crate) folder: PathBuf,
    /// Its configuration.
    pub config: Option<File>,
    /// Its agents.
    pub agents: Vec<File>,
    /// The servers of tools that it names, in `.mcp.json`.
    pub servers: Option<File>,
    /// The files of the project that the commands of those servers name. Of these the text is a digest of their bytes.
    pub server_files: Vec<File>,
    /// Its agents in files of other products, in the order in which they win over each other.
    pub foreign_agents: Vec<ForeignAgent>,
    /// Its hooks.
    pub hooks: Option<File>,
    /// The files of the project that the commands of those hooks name, as digests.
    pub hook_files: Vec<File>,
    /// Its skills: the file `SKILL.md` of each.
    pub skills: Vec<File>,
    /// Its instructions, from its root down to the current folder. They carry no authority, so trust in the folder covers them
    /// whatever they say.
    pub instructions: Vec<File>,
    /// How a person stands to it.
    pub standing: Standing,
}

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it lies, as it was found.
    pub path: PathBuf,
    /// Its text, or why it cannot be read.
    pub text: Result<String, String>,
}

/// An agent's file of another product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignAgent {
    /// The product.
    pub product: Product,
    /// The agent's name by its file.
    pub name: String,
    /// The file.
    pub file: File,
}

/// How a person stands to a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It brings nothing along.
    Empty,
    /// Exactly this was seen and trusted.
    Trusted,
    /// Exactly this was seen and declined.
    Declined,
    /// Something else was seen in this folder.
    Changed,
    /// Nobody was asked.
    Unknown,
}

/// What a person said about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What it brings along counts.
    Trusted,
    /// It can only narrow, and nobody asks again.
    Declined,
}

/// A folder that a person was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    /// Its real path.
    pub path: PathBuf,
    /// Names what it held.
    pub digest: String,
    /// What was said.
    pub answer: Answer,
}

/// The answers as earlier versions kept them.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answers {
    #[serde(default, rename = "folder")]
    folders: Vec<Folder>,
}

impl Project {
    /// The project around the current folder. `place` is where state is.
    pub fn read(surroundings: &Surroundings, place: impl Into<StatePlace>) -> Result<Self, Error> {
        let place = place.into();
        match surroundings.files {
            Files::Read => {
                let folder = surroundings.project();
                let mut project = Self::read_at(&folder, || folders(&place))?;
                project.instructions = instructions::of_project(&folder, &surroundings.cwd);
                if project.standing == Standing::Empty && !project.instructions.is_empty() {
                    project.standing = standing(&folders(&place)?, &project);
                }
                Ok(project)
            }
            Files::Ignored => Ok(Self {
                root: surroundings.cwd.clone(),
                folder: surroundings.cwd.clone(),
                config: None,
                agents: Vec::new(),
                servers: None,
                server_files: Vec::new(),
                foreign_agents: Vec::new(),
                hooks: None,
                hook_files: Vec::new(),
                skills: Vec::new(),
                instructions: Vec::new(),
                standing: Standing::Empty,
            }),
        }
    }

    /// The project in a folder. `known` tells what was said about folders; it is asked only if the project brings something along.
    pub(crate) fn read_at(folder: &Path, known: impl FnOnce() -> Result<Vec<Folder>, Error>) -> Result<Self, Error> {
        let ours = folder.join(".majordomo");
        let file = |path: PathBuf| match read_within(folder, &path) {
            Ok(None) => None,
            Ok(Some(text)) => Some(File { path, text: Ok(text) }),
            Err(error) => Some(File { path, text: Err(error.to_string()) }),
        };
        let agents = match agents::files(&ours.join("agents")) {
            Ok(paths) => paths.into_iter().filter_map(file).collect(),
            Err(error) => vec![File { path: ours.join("agents"), text: Err(error.to_string()) }],
        };
        let servers = file(folder.join(MCP_FILE));
        let server_files = servers.as_ref().map(|servers| servers::named_files(folder, servers)).unwrap_or_default();
        let (listed, unreadable) = agents::in_project(folder);
        let of_product = |listed: agents::Listed| {
            let (product, name) = (listed.product, listed.name);
            Some(ForeignAgent { product, name, file: file(listed.path)? })
        };
        let mut foreign_agents: Vec<ForeignAgent> = listed.into_iter().filter_map(of_product).collect();
        foreign_agents.extend(unreadable.into_iter().map(|(path, error)| {
            let product = Product::of_path(&path);
            ForeignAgent { product, name: String::new(), file: File { path, text: Err(error.to_string()) } }
        }));
        let read = |path: &Path| file(path.to_owned()).map(|file| file.text);
        foreign_agents.extend(agents::in_settings(folder, read).into_iter().map(|agent| ForeignAgent {
            product: agent.product,
            name: agent.name,
            file: File { path: agent.path, text: agent.text },
        }));
        let hooks = file(ours.join("hooks.json"));
        let mut project = Self {
            root: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
            folder: folder.to_owned(),
            config: file(ours.join("config.toml")),
            agents,
            servers,
            server_files,
            foreign_agents,
            hook_files: hooks.as_ref().map(|file| hooks::named_files(folder, file)).unwrap_or_default(),
            hooks,
            skills: skills::of_project(folder),
            instructions: Vec::new(),
            standing: Standing::Empty,
        };
        if project.files().next().is_some() {
            project.standing = standing(&known()?, &project);
        }
        Ok(project)
    }

    /// Whether what it brings along counts.
    pub fn is_trusted(&self) -> bool {
        self.standing == Standing::Trusted
    }

    /// Every file that counts.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        let foreign = self.foreign_agents.iter().map(|agent| &agent.file);
        let own = self.config.iter().chain(&self.agents).chain(&self.servers).chain(&self.server_files);
        own.chain(foreign).chain(&self.hooks).chain(&self.hook_files).chain(&self.skills)
    }

    /// Names everything that counts; none where something cannot be read, for that cannot have been seen.
    pub fn digest(&self) -> Option<String> {
        let mut hasher = blake3::Hasher::new();
        // With its length before it, no part can pass for another.
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for file in self.files() {
            // Our own files are named without their folder, as they were before other files counted.
            let is_ours = self.config.iter().chain(&self.agents).any(|own| own.path == file.path);
            let below = file.path.strip_prefix(&self.folder).unwrap_or(&file.path);
            let name = if is_ours { file.path.file_name().unwrap_or_default() } else { below.as_os_str() };
            add(name.as_encoded_bytes());
            add(file.text.as_ref().ok()?.as_bytes());
        }
        Some(hasher.finalize().to_hex().to_string())
    }
}

/// Keeps what a person said about a project, with what it holds at this moment.
pub fn answer(place: impl Into<StatePlace>, project: &Project, answer: Answer) -> Result<(), Error> {
    let cannot = |reason: String| Error::Untrustable { path: project.root.clone(), reason };
    let unreadable = project.files().find_map(|file| Some((&file.path, file.text.as_ref().err()?)));
    if let Some((path, why)) = unreadable {
        return Err(cannot(format!("{} cannot be read: {why}", path.display())));
    }
    let Some(digest) = project.digest() else { return Err(cannot("it cannot be read".to_owned())) };
    let Some(path) = project.root.to_str() else { return Err(cannot("its name is not UTF-8".to_owned())) };
    let (place, path, digest, trusted) = (place.into(), path.into(), digest.into(), answer == Answer::Trusted);
    let judged = ProjectJudgement { path, digest, trusted, machine: place.machine() };
    kept::record(place, vec![InstallationEvent::ProjectJudged(judged)])
}

/// Forgets what a person said about a folder; whether there was anything.
pub fn forget(place: impl Into<StatePlace>, root: &Path) -> Result<bool, Error> {
    let place = place.into();
    if folders(&place)?.iter().all(|folder| folder.path != root) {
        return Ok(false);
    }
    // What still lies in the earlier file would count again.
    take_over(&place)?;
    if let Some(path) = root.to_str() {
        let machine = place.machine();
        kept::record(&place, vec![InstallationEvent::ProjectForgotten { path: path.into(), machine }])?;
    }
    Ok(true)
}

/// The folders that a person was asked about.
pub fn folders(place: impl Into<StatePlace>) -> Result<Vec<Folder>, Error> {
    let place = place.into();
    known(&kept::installation(&place), &place)
}

/// The same, where it is known what holds for the installation.
pub(crate) fn known(state: &InstallationState, place: &StatePlace) -> Result<Vec<Folder>, Error> {
    let machine = place.machine();
    let folder = |judged: &ProjectJudgement| Folder {
        path: PathBuf::from(&*judged.path),
        digest: judged.digest.to_string(),
        answer: if judged.trusted { Answer::Trusted } else { Answer::Declined },
    };
    let here = state.projects.iter().filter(|judged| judged.machine == machine);
    let mut folders: Vec<Folder> = here.map(folder).collect();
    for earlier in earlier(&place.folder)? {
        if folders.iter().all(|folder| folder.path != earlier.path) {
            folders.push(earlier);
        }
    }
    Ok(folders)
}

/// Has the store take over what an earlier version kept in a file, once.
pub(crate) fn take_over(place: impl Into<StatePlace>) -> Result<(), Error> {
    let place = place.into();
    let path = place.folder.join(EARLIER_FILE);
    if !path.exists() {
        return Ok(());
    }
    kept::record(&place, events(&place)?)?;
    kept::put_aside(&path).map_err(|source| Error::Write { path, source })
}

/// What holds in a folder for state, as events for a store that begins with it.
pub(crate) fn events(place: impl Into<StatePlace>) -> Result<Vec<InstallationEvent>, Error> {
    let place = place.into();
    let machine = place.machine();
    let judged = |folder: Folder| {
        let path = folder.path.to_str()?.into();
        let (digest, trusted, machine) = (folder.digest.into(), folder.answer == Answer::Trusted, machine.clone());
        Some(InstallationEvent::ProjectJudged(ProjectJudgement { path, digest, trusted, machine }))
    };
    Ok(folders(place)?.into_iter().filter_map(judged).collect())
}

fn earlier(data: &Path) -> Result<Vec<Folder>, Error> {
    let path = data.join(EARLIER_FILE);
    let text = read_own(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
    parse(&path, text.as_deref().unwrap_or_default()).map(|answers| answers.folders)
}

fn standing(folders: &[Folder], project: &Project) -> Standing {
    let Some(folder) = folders.iter().find(|folder| folder.path == project.root) else { return Standing::Unknown };
    match folder.answer {
        _ if project.digest().as_ref() != Some(&folder.digest) => Standing::Changed,
        Answer::Trusted => Standing::Trusted,
        Answer::Declined => Standing::Declined,
    }
}

fn parse(path: &Path, text: &str) -> Result<Answers, Error> {
    toml::from_str(text).map_err(|error| {
        let line = 1 + text[..error.span().map_or(0, |span| span.start)].matches('\n').count();
        Error::Syntax { origin: Origin::File { path: path.to_owned(), line }, message: error.message().to_owned() }
    })
}
