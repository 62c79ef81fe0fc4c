//! One household: the folders of its mail, calendars, notes and contacts, its clock, and the addresses of its owner.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use tool::{Origin, Registry};

use crate::calendar::{self, Calendars};
use crate::error::Error;
use crate::index::Index;
use crate::notes::{self, IndexState};
use crate::preferences::Log;
use crate::{contacts, draft, find, mail, people, preferences, triage};

/// The clock. That of the sample household stands still.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The folders of a household. A folder that is not named, or does not exist, counts as empty, as long as one of them exists.
#[derive(Clone)]
pub struct Options {
    /// The folder of the whole household, where it has one.
    pub folder: Option<PathBuf>,
    /// A Maildir, with further folders as Maildir++ (`.Sent`, `.Drafts`), a folder of `.eml` or `mbox` files, or one `mbox` file.
    pub mail: Option<PathBuf>,
    /// One folder of `.ics` files for each calendar, or `.ics` files themselves.
    pub calendars: Option<PathBuf>,
    /// Markdown in PARA folders.
    pub notes: Option<PathBuf>,
    /// `.vcf` files.
    pub contacts: Option<PathBuf>,
    /// Decisions that were made before, one JSON object a line, taken into the household's own file.
    pub decisions: Option<PathBuf>,
    /// The log in which its tools are called, from which decisions are learnt; none learns from files alone.
    pub log: Option<Arc<dyn Log>>,
    /// The household's own file: the index, decisions and preferences. None keeps it in memory.
    pub index: Option<PathBuf>,
    /// The owner's addresses; found out from what was sent where none is said.
    pub me: Vec<String>,
    /// The owner's zone.
    pub zone: TimeZone,
    /// What time it is.
    pub now: Now,
}

impl Options {
    /// A household in one folder, laid out as `mail/`, `calendars/`, `para/`, `contacts/` and `decisions.jsonl`.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            folder: Some(folder.to_owned()),
            mail: Some(folder.join("mail")),
            calendars: Some(folder.join("calendars")),
            notes: Some(folder.join("para")),
            contacts: Some(folder.join("contacts")),
            decisions: Some(folder.join("decisions.jsonl")),
            ..Self::default()
        }
    }
}

impl Default for Options {
    /// An empty household in the system's zone and time.
    fn default() -> Self {
        Self {
            folder: None,
            mail: None,
            calendars: None,
            notes: None,
            contacts: None,
            decisions: None,
            log: None,
            index: None,
            me: Vec::new(),
            zone: TimeZone::system(),
            now: Arc::new(Timestamp::now),
        }
    }
}

/// The names of all its tools, whether or not there is a household to use them on.
pub const TOOLS: [&str; 29] = [
    "mail_list",
    "mail_read",
    "mail_thread",
    "mail_triage",
    "mail_flag",
    "mail_feedback",
    "contacts_find",
    "people_about",
    "household_find",
    "calendar_list",
    "calendar_find",
    "calendar_busy",
    "calendar_free",
    "calendar_check",
    "calendar_propose",
    "calendar_withdraw",
    "draft_create",
    "draft_update",
    "draft_discard",
    "draft_show",
    "notes_search",
    "notes_read",
    "notes_backlinks",
    "notes_recent",
    "prefs_list",
    "prefs_propose",
    "prefs_explain",
    "prefs_forget",
    "prefs_apply",
];

/// One household, shared by all its tools.
pub struct Household {
    options: Options,
    index: Index,
    notes: IndexState,
    calendars: Calendars,
}

impl Household {
    /// Opens a household. Nothing is read before something is asked.
    pub fn open(options: Options) -> Result<Arc<Self>, Error> {
        let index = Index::open(options.index.as_deref())?;
        let calendars = Calendars::new(options.calendars.clone());
        Ok(Arc::new(Self { options, index, notes: IndexState::default(), calendars }))
    }

    /// Fails where its folder does not exist, nor any place of its own: nothing was looked at, which is not the same as nothing found.
    pub(crate) fn is_there(&self) -> Result<(), Error> {
        let Options { folder, mail, calendars, notes, contacts, .. } = &self.options;
        let places = [folder, mail, calendars, notes, contacts];
        match folder {
            Some(folder) if !places.into_iter().flatten().any(|place| place.exists()) => Err(Error::request(format!(
                "the household folder {} does not exist; create it, or set `household.folder` to the one that is meant",
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Its tools, added to others.
    #[must_use]
    pub fn tools(self: &Arc<Self>, registry: Registry) -> Registry {
        let own = mail::tools::add(self, Registry::from_origin(Origin::Household));
        let own = contacts::tools::add(self, own);
        let own = people::tools::add(self, own);
        let own = find::tools::add(self, own);
        let own = triage::tools::add(self, own);
        let own = draft::tools::add(self, own);
        let own = notes::tools::add(self, own);
        let own = calendar::tools::add(self, own);
        registry.join(preferences::tools::add(self, own))
    }

    /// Where its things lie.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Its index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// What it knows of the folder of notes.
    pub(crate) fn notes(&self) -> &IndexState {
        &self.notes
    }

    /// Its calendars.
    pub fn calendars(&self) -> &Calendars {
        &self.calendars
    }

    /// What time it is for its owner.
    pub fn now(&self) -> Zoned {
        (self.options.now)().to_zoned(self.options.zone.clone())
    }
}

impl std::fmt::Debug for Household {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Household").field("mail", &self.options.mail).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_does_not_exist_is_named_instead_of_counting_as_empty() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = folder.path().join("missing");
        let household = Household::open(Options::in_folder(&missing)).expect("a household");
        for tool in ["mail_triage", "calendar_list", "household_find"] {
            let args = serde_json::json!({ "query": "rent" });
            let said = crate::tools::test_calls::call(&household, tool, &args).expect_err("an error");
            assert!(said.contains("missing does not exist"), "{tool}: {said}");
        }
        std::fs::create_dir(&missing).expect("a folder");
        assert!(crate::tools::test_calls::call(&household, "mail_triage", &serde_json::json!({})).is_ok());
    }

    #[test]
    fn every_tool_of_a_household_is_named_among_its_tools() {
        let household = Household::open(Options::default()).expect("an empty household");
        let there: Vec<String> = household.tools(Registry::new()).infos().keys().map(ToString::to_string).collect();
        let mut named = TOOLS.map(str::to_owned).to_vec();
        named.sort_unstable();
        assert_eq!(there, named);
    }
}
