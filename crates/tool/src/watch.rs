//! The watch over protected places while a command runs: what is there before, what has changed afterwards, and what is
//! done about it.
//!
//! Before a command that may write, every protected file of the workspace is noted, and copied where the walls cannot keep
//! it read-only. Afterwards both looks are compared. What the command made or changed in a protected place without consent
//! is moved to the state folder, never deleted, and what was there before is put back, before anything else runs. A change
//! to a file that the walls kept read-only cannot come from the command: it is reported and left alone.
//!
//! A new repository stays if its settings name nothing to run and its hooks are git's samples ([harmless]).
//! The note is kept in the state folder until the comparison is done, so that a run that was killed in between is put in
//! order when it is resumed ([`settle_left`]).
//!
//! Left to others: which places are protected ([`crate::protected`]), and who consents (the rules).

mod folders;
mod harmless;
mod look;
mod settle;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::{Deserialize, Serialize};

pub(crate) use look::{Look, look};

/// Our folder in the state folder.
const FOLDER: &str = "protected";
/// Notes of watches that are not over.
const OPEN: &str = "open";
/// What was moved out of a workspace.
const MOVED: &str = "moved";
/// Contents of protected files, each under its hash.
const COPIES: &str = "copies";

/// A watch that is on.
pub(crate) struct Watch {
    note: Note,
    state: PathBuf,
    /// Paths that were changed with consent by other calls meanwhile.
    others: Arc<Paths>,
}

/// Paths, shared between those who change them and those who compare them.
type Paths = Mutex<BTreeSet<PathBuf>>;

/// What is remembered of a watch, on disk too.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The workspace.
    root: PathBuf,
    /// The call, for the names of what is moved.
    call: String,
    /// The protected places that the call may change.
    consented: Vec<String>,
    before: Look,
}

/// The watches of this process, by their workspace.
static ON: Mutex<Vec<(PathBuf, Weak<Paths>)>> = Mutex::new(Vec::new());

impl Watch {
    /// Begins to watch: `look` is what is there, with what the walls keep marked in it. Copies are made of the rest.
    /// `call` names the thread and the call.
    pub fn begin(
        root: &Path,
        mut look: Look,
        state: Option<&Path>,
        call: &str,
        consented: &[Arc<str>],
    ) -> io::Result<Self> {
        let state = state_folder(state)?;
        look.copy(root, &state.join(COPIES))?;
        let consented = consented.iter().map(|place| place.to_string()).collect();
        let call = call.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "_");
        let note = Note { root: root.to_owned(), call, consented, before: look };
        fs::write(note.file(&state), serde_json::to_vec(&note)?)?;
        let others = Arc::<Paths>::default();
        let mut on = ON.lock().unwrap_or_else(PoisonError::into_inner);
        on.retain(|(_, watch)| watch.strong_count() > 0);
        on.push((root.to_owned(), Arc::downgrade(&others)));
        Ok(Self { note, state, others })
    }

    /// Ends the watch: compares, puts in order, and says what was done, a line each.
    pub fn settle(self) -> Vec<String> {
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let said = self.note.settle(&self.state, &others);
        if let Some(changed) = said.as_ref().ok().map(|settled| &settled.consented) {
            for path in changed {
                changed_with_consent(&self.note.root, path);
            }
        }
        self.note.told(&self.state, said)
    }
}

/// Tells the watches that are on that a path was changed with consent, by a call that is not theirs.
pub(crate) fn changed_with_consent(root: &Path, path: &Path) {
    for (watched, others) in ON.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if let Some(others) = others.upgrade().filter(|_| watched == root) {
            others.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        }
    }
}

/// Ends the watches that calls of this thread have left behind in a process that was killed, and says what was done, a
/// line each.
pub fn settle_left(state: Option<&Path>, thread: &str) -> Vec<String> {
    let Ok(state) = state_folder(state) else { return Vec::new() };
    let begin = format!("{thread}_");
    let entries = fs::read_dir(state.join(OPEN)).into_iter().flatten().flatten();
    let is_its = |name: &str| name.starts_with(&begin) && name.ends_with(".json");
    let files = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_its)).map(|entry| entry.path());
    let mut said = Vec::new();
    for file in files {
        let read = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok());
        match read {
            Some(note) => {
                let settled = note.settle(&state, &BTreeSet::new());
                said.extend(note.told(&state, settled));
            }
            // It was cut off while it was written: the command had not begun.
            None => drop(fs::remove_file(&file)),
        }
    }
    said
}

impl Note {
    fn file(&self, state: &Path) -> PathBuf {
        state.join(OPEN).join(format!("{}.json", self.call))
    }

    /// The lines for people. A note whose comparison failed stays, for the next try.
    fn told(&self, state: &Path, settled: Result<settle::Settled, String>) -> Vec<String> {
        match settled {
            Ok(settled) => {
                // One that stays is compared once more, and nothing is found.
                let _ = fs::remove_file(self.file(state));
                settled.said
            }
            Err(why) => vec![format!("protected files could not be compared: {why}")],
        }
    }
}

/// The place for our files, which is made where it is missing. Without a state folder it is a private one among the
/// machine's temporary files.
fn state_folder(state: Option<&Path>) -> io::Result<PathBuf> {
    let folder = match state {
        Some(state) => state.join(FOLDER),
        None => std::env::temp_dir().join(format!("majordomo-{FOLDER}-{}", rustix::process::getuid().as_raw())),
    };
    for part in [OPEN, MOVED, COPIES] {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join(part))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests;
