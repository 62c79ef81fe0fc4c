//! The rules of a house as data: `[[rules]]` in the user's file, in the project's, and in the file of standing consent.
//!
//! [`Rulebook`] has them as they stand, also when a file changes while agents work: a rule that is tightened reaches the next
//! call of everybody. What a rule means is left to `agent::permission`. A project's rules that allow count only where the
//! project is trusted; those that ask or deny always do.

mod read;

#[cfg(test)]
mod tests;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent::permission::{Action, Rule};
use toml::Value;

pub(crate) use self::read::of_text;
use crate::config::{Error, Surroundings, read_own};
use crate::kept;
use crate::trust::{self, Project, Standing};

/// The file of standing consent in the folder for state.
pub const FILE: &str = "rules.toml";

/// Writes a rule down that holds for every thread from here on, unless it is there already. The file that it is in.
pub fn allow_always(data: &Path, rule: &Rule) -> Result<PathBuf, Error> {
    let path = data.join(FILE);
    kept::change(&path, |text| {
        let is_same = |other: &Rule| Rule { origin: rule.origin.clone(), ..other.clone() } == *rule;
        if of_text(text, &path)?.iter().any(is_same) {
            return Ok(None);
        }
        let ended = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        Ok(Some(format!("{text}{ended}{}", written(rule))))
    })?;
    Ok(path)
}

/// The rules of the file of standing consent.
pub(crate) fn standing(data: &Path) -> Result<Vec<Rule>, Error> {
    Ok(of_file(&data.join(FILE))?.unwrap_or_default())
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
    /// Fixed for the life of the book: a folder that appears meanwhile cannot take the project's place.
    project: PathBuf,
    data: PathBuf,
    /// Replaced whole; nobody holds the lock for longer than it takes to clone or to put down a pointer.
    page: Mutex<Arc<Page>>,
}

/// What was read at one moment.
struct Page {
    /// How the files looked just before they were read.
    marks: Vec<Option<Mark>>,
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
    /// Opens the book of a process that stands here and keeps its state in `data`.
    pub fn open(surroundings: &Surroundings, data: &Path) -> Result<Self, Error> {
        let mut book = Self {
            user: surroundings.user_folder().map(|folder| folder.join("config.toml")),
            project: surroundings.project(),
            data: data.to_owned(),
            page: Mutex::new(Arc::new(Page::blank())),
        };
        let marks = book.marks();
        let ([user, project, standing], lapsed) = book.sources();
        let page = Page { marks, lapsed, ..Page::of([user?, project?, standing?], Vec::new()) };
        book.page = Mutex::new(Arc::new(page));
        Ok(book)
    }

    /// The rules as they stand.
    pub fn rules(&self) -> Arc<[Rule]> {
        let marks = self.marks();
        let page = self.page.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if page.marks == marks {
            return page.rules.clone();
        }
        let (sources, lapsed) = self.sources();
        let next = Arc::new(Page { marks, lapsed, ..page.turned(sources, &self.names()) });
        let before = std::mem::replace(&mut *self.page.lock().unwrap_or_else(PoisonError::into_inner), next.clone());
        for news in next.notices().filter(|notice| before.notices().all(|old| old != *notice)) {
            tracing::warn!("{news}");
        }
        next.rules.clone()
    }

    /// The rules of the user's file, of the project's and of standing consent; none where there is no file. And whether the
    /// project's trust has lapsed.
    fn sources(&self) -> (Sources, Option<String>) {
        let mut lapsed = None;
        let project = Project::read_at(&self.project, &self.data).and_then(|project| {
            let (rules, waiting) = of_project(&project)?;
            if project.standing == Standing::Changed && !waiting.is_empty() {
                let root = project.root.display();
                lapsed =
                    Some(format!("{root} is not what you were asked about any more; no rule of its allows anything"));
            }
            Ok(project.config.is_some().then_some(rules))
        });
        let user = self.user.as_deref().map_or(Ok(None), of_file);
        ([user, project, of_file(&self.data.join(FILE))], lapsed)
    }

    fn names(&self) -> [PathBuf; 3] {
        [self.user.clone().unwrap_or_default(), self.project_file(), self.data.join(FILE)]
    }

    fn marks(&self) -> Vec<Option<Mark>> {
        let files = [self.project_file(), self.data.join(FILE), self.data.join(trust::FILE)];
        self.user.iter().chain(&files).map(|path| Mark::of(path)).collect()
    }

    fn project_file(&self) -> PathBuf {
        self.project.join(".majordomo").join("config.toml")
    }
}

impl Page {
    fn blank() -> Self {
        Self::of([const { None }; 3], Vec::new())
    }

    /// What holds by what was said. Where something cannot be read, it may be a refusal: then nothing is allowed by rule.
    fn of(said: [Option<Vec<Rule>>; 3], troubles: Vec<String>) -> Self {
        let holds = |rule: &&Rule| troubles.is_empty() || rule.action != Action::Allow;
        let rules = said.iter().flatten().flatten().filter(holds).cloned().collect();
        Self { marks: Vec::new(), said, troubles, lapsed: None, rules }
    }

    /// What a person should know.
    fn notices(&self) -> impl Iterator<Item = &String> {
        self.troubles.iter().chain(&self.lapsed)
    }

    /// The page after this one. A file that is gone or cannot be read keeps what it last said.
    fn turned(&self, sources: Sources, names: &[PathBuf; 3]) -> Self {
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
        Self::of(said, troubles)
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

fn written(rule: &Rule) -> String {
    let text = |text: &str| Value::from(text).to_string();
    let mut lines = format!("[[rules]]\ntool = {}\n", text(&rule.tool));
    for (key, value) in [("pattern", &rule.pattern), ("agent", &rule.agent)] {
        if let Some(value) = value {
            lines.push_str(&format!("{key} = {}\n", text(value)));
        }
    }
    lines.push_str(&format!("action = \"{}\"\n", rule.action));
    lines
}
