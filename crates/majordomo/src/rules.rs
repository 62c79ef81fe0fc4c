//! The rules in force as data: `[[rules]]` in the user's file, in the project's, and in `rules.toml` of the folder for state, which a
//! person writes; and the standing consents of the installation, which the store keeps.
//!
//! [`Rulebook`] has them as they stand, also when a file changes or a consent is given while agents work: a rule that is tightened
//! reaches the next call of everybody. What a rule means is left to `agent::permission`. A project's rules that allow count only where the
//! project is trusted; those that ask or deny always do.

mod read;

#[cfg(test)]
mod tests;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent::Time;
use agent::permission::{Action, Rule};
use store::{Consent, Current, InstallationEvent, InstallationState};

pub(crate) use self::read::of_text;
use crate::config::{Config, Error, Files, Surroundings, read_own};
use crate::kept::{self, StatePlace};
use crate::trust::{self, Project, Standing};

/// Letters of a consent's name.
const ID: usize = 8;

/// The file of rules in the folder for state. Earlier versions wrote standing consents into it; they stay in force.
pub const FILE: &str = "rules.toml";

/// A rule that allows as a standing consent.
pub(crate) fn consent(rule: &Rule, given_at: Time) -> Consent {
    let (tool, pattern, agent) = (rule.tool.clone(), rule.pattern.clone(), rule.agent.clone());
    let mut hasher = blake3::Hasher::new();
    for part in [Some(&tool), pattern.as_ref(), agent.as_ref()] {
        // With its length before it, no part can pass for another.
        hasher.update(&part.map_or(u64::MAX, |part| part.len() as u64).to_le_bytes());
        hasher.update(part.map_or(&[], |part| part.as_bytes()));
    }
    let id = hasher.finalize().to_hex()[..ID].into();
    Consent { id, tool, pattern, agent, approval: None, given_at }
}

/// A standing consent as a rule.
pub fn rule_of(consent: &Consent) -> Rule {
    Rule {
        tool: consent.tool.clone(),
        pattern: consent.pattern.clone(),
        agent: consent.agent.clone(),
        action: Action::Allow,
        origin: format!("standing consent {}", consent.id).into(),
    }
}

/// The rules of the file in the folder for state.
pub(crate) fn of_data(data: &Path) -> Result<Vec<Rule>, Error> {
    Ok(of_file(&data.join(FILE))?.unwrap_or_default())
}

/// The rules in force under a configuration: those of its files, and the standing consents, which are looked up in the store.
pub fn in_force(config: &Config) -> Vec<Rule> {
    let consents = consents(&kept::installation(config));
    config.rules.iter().cloned().chain(consents).collect()
}

/// The standing consents, and the rules of the file in the folder for state.
pub fn kept(place: impl Into<StatePlace>) -> Result<(Vec<Consent>, Vec<Rule>), Error> {
    let place = place.into();
    Ok((kept::installation(&place).consents, of_data(&place.folder)?))
}

/// The standing consents, as events for a store that begins with them.
pub(crate) fn events(place: impl Into<StatePlace>) -> Vec<InstallationEvent> {
    kept::installation(place).consents.into_iter().map(InstallationEvent::ConsentGiven).collect()
}

/// The rules of a project: those that count, and those that wait for trust.
pub(crate) fn of_project(project: &Project) -> Result<(Vec<Rule>, Vec<Rule>), Error> {
    let rules = match &project.config {
        None => Vec::new(),
        Some(file) => match &file.text {
            Ok(text) => of_text(text, &file.path)?,
            Err(why) => {
                return Err(Error::Read { path: file.path.clone(), source: std::io::Error::other(why.clone()) });
            }
        },
    };
    Ok(rules.into_iter().partition(|rule| project.is_trusted() || rule.action != Action::Allow))
}

/// The rules in force. The files are checked at every call, and read again when they have changed.
pub struct Rulebook {
    user: Option<PathBuf>,
    /// Fixed for the life of the book: a folder that appears meanwhile cannot take the project's place. None where no files are read.
    project: Option<PathBuf>,
    place: StatePlace,
    /// The rules of the program that embeds the library.
    own: Vec<Rule>,
    /// What holds for the installation, where a store is open; else it is read at each use.
    installation: Option<Current>,
    /// Replaced whole; the lock is held only while a pointer is cloned or replaced.
    page: Mutex<Arc<Page>>,
}

/// What was read at one moment.
struct Page {
    /// How the files looked just before they were read.
    marks: Vec<Option<Mark>>,
    /// How far the installation's events were read.
    n: u64,

    /// What each source said when it could last be read, in the order of [`Rulebook::sources`].
    said: [Option<Vec<Rule>>; 3],
    /// What keeps a file from being read. As long as there is any, nothing is allowed by rule.
    troubles: Vec<String>,
    /// That the project allows nothing any more, for it is not what was trusted.
    lapsed: Option<String>,
    rules: Arc<[Rule]>,
}

/// What each file says; none where there is none.
type Sources = [Result<Option<Vec<Rule>>, Error>; 3];

/// What tells one version of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    len: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Rulebook {
    /// Opens the book of a process that stands here and keeps its state in `place`. With the installation of an open store,
    /// what others consent to is known without looking.
    pub fn open(
        surroundings: &Surroundings,
        place: impl Into<StatePlace>,
        installation: Option<Current>,
    ) -> Result<Self, Error> {
        Self::with_own(surroundings, place, installation, Vec::new())
    }

    /// The same with rules of the program that embeds the library.
    pub(crate) fn with_own(
        surroundings: &Surroundings,
        place: impl Into<StatePlace>,
        installation: Option<Current>,
        own: Vec<Rule>,
    ) -> Result<Self, Error> {
        let mut book = Self {
            installation,
            own,
            user: surroundings.user_folder().map(|folder| folder.join("config.toml")),
            project: (surroundings.files == Files::Read).then(|| surroundings.project()),
            place: place.into(),
            page: Mutex::new(Arc::new(Page::blank())),
        };
        let (marks, state) = (book.marks(), book.state());
        let ([user, project, standing], lapsed) = book.sources(&state);
        let page = Page {
            marks,
            lapsed,
            n: state.n,
            ..Page::of([user?, project?, standing?], &book.added(&state), Vec::new())
        };
        book.page = Mutex::new(Arc::new(page));
        Ok(book)
    }

    /// The rules as they stand.
    pub fn rules(&self) -> Arc<[Rule]> {
        let (marks, state) = (self.marks(), self.state());
        let page = self.page.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if page.marks == marks && state.n == page.n {
            return page.rules.clone();
        }
        let (sources, lapsed) = self.sources(&state);
        let turned = page.turned(sources, &self.added(&state), &self.names());
        let next = Arc::new(Page { marks, lapsed, n: state.n, ..turned });
        let before = std::mem::replace(&mut *self.page.lock().unwrap_or_else(PoisonError::into_inner), next.clone());
        for news in next.notices().filter(|notice| before.notices().all(|old| old != *notice)) {
            tracing::warn!("{news}");
        }
        next.rules.clone()
    }

    fn state(&self) -> Arc<InstallationState> {
        match &self.installation {
            Some(installation) => installation.state(),
            None => Arc::new(kept::installation(&self.place)),
        }
    }

    /// The rules of the user's file, of the project's and of the folder for state; none where there is no file. And whether the
    /// project's trust has lapsed.
    fn sources(&self, state: &InstallationState) -> (Sources, Option<String>) {
        let mut lapsed = None;
        let known = || trust::known(state, &self.place);
        let of_project = |folder: &PathBuf| {
            let project = Project::read_at(folder, known)?;
            let (rules, waiting) = of_project(&project)?;
            if project.standing == Standing::Changed && !waiting.is_empty() {
                let root = project.root.display();
                lapsed =
                    Some(format!("{root} is not what you were asked about any more; no rule of its allows anything"));
            }
            Ok(project.config.is_some().then_some(rules))
        };
        let project = self.project.as_ref().map_or(Ok(None), of_project);
        let user = self.user.as_deref().map_or(Ok(None), of_file);
        ([user, project, of_file(&self.place.folder.join(FILE))], lapsed)
    }

    fn names(&self) -> [PathBuf; 3] {
        [self.user.clone().unwrap_or_default(), self.project_file().unwrap_or_default(), self.place.folder.join(FILE)]
    }

    fn marks(&self) -> Vec<Option<Mark>> {
        let project = self.project_file();
        let files = [self.place.folder.join(FILE), self.place.folder.join(trust::EARLIER_FILE)];
        self.user.iter().chain(&project).chain(&files).map(|path| Mark::of(path)).collect()
    }

    fn project_file(&self) -> Option<PathBuf> {
        Some(self.project.as_ref()?.join(".majordomo").join("config.toml"))
    }

    /// The rules that are in no file: the program's own, and the standing consents.
    fn added(&self, state: &InstallationState) -> Vec<Rule> {
        self.own.iter().cloned().chain(consents(state)).collect()
    }
}

impl Page {
    fn blank() -> Self {
        Self::of([const { None }; 3], &[], Vec::new())
    }

    /// What holds by what was said. Where something cannot be read, it may be a refusal: then nothing is allowed by rule.
    fn of(said: [Option<Vec<Rule>>; 3], consents: &[Rule], troubles: Vec<String>) -> Self {
        let holds = |rule: &&Rule| troubles.is_empty() || rule.action != Action::Allow;
        let rules = said.iter().flatten().flatten().chain(consents).filter(holds).cloned().collect();
        Self { marks: Vec::new(), n: 0, said, troubles, lapsed: None, rules }
    }

    /// What a person should know.
    fn notices(&self) -> impl Iterator<Item = &String> {
        self.troubles.iter().chain(&self.lapsed)
    }

    /// The page after this one. A file that is gone or cannot be read keeps what it last said.
    fn turned(&self, sources: Sources, consents: &[Rule], names: &[PathBuf; 3]) -> Self {
        let mut said = self.said.clone();
        let mut troubles = Vec::new();
        for ((said, source), name) in said.iter_mut().zip(sources).zip(names) {
            let why = match source {
                Ok(None) if said.is_some() => format!("{} is gone", name.display()),
                Ok(rules) => {
                    *said = rules;
                    continue;
                }
                Err(error) => error.to_string(),
            };
            troubles
                .push(format!("{why}; its rules that ask or deny stay, and no rule allows anything until it is back"));
        }
        Self::of(said, consents, troubles)
    }
}

impl Mark {
    fn of(path: &Path) -> Option<Self> {
        let about = path.metadata().ok()?;
        Some(Self {
            len: about.len(),
            inode: about.ino(),
            modified: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        })
    }
}

fn of_file(path: &Path) -> Result<Option<Vec<Rule>>, Error> {
    let text = read_own(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    text.map(|text| of_text(&text, path)).transpose()
}

fn consents(state: &InstallationState) -> Vec<Rule> {
    state.consents.iter().map(rule_of).collect()
}
