//! The watch over protected places while a command runs: what is there before, what has changed afterwards, and what is
//! done about it.
//!
//! Before a command that may write, every protected file of the workspace is noted, and copied where the sandbox cannot keep
//! it read-only. Afterwards both looks are compared. What the command made or changed in a protected place without consent
//! is moved to the state folder, never deleted, and what was there before is put back, before anything else runs. A change
//! to a file that the sandbox kept read-only cannot come from the command: it is reported and left alone.
//!
//! A new repository stays if its settings name nothing to run and its hooks are git's samples ([harmless]).
//! The note is kept in the state folder until the comparison is done, so that a run that was killed in between is put in
//! order when it is resumed ([`settle_left`]).
//!
//! Left to others: which places are protected ([`crate::protected`]), and who consents (the rules).

mod folders;
mod harmless;
mod held;
mod look;
mod settings;
mod settle;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::protected;
use look::Entry;
pub(crate) use look::{Look, look};

/// Our folder in the state folder.
const FOLDER: &str = "protected";
/// Notes of watches that are not over.
const OPEN: &str = "open";
/// What was moved out of a workspace.
const MOVED: &str = "moved";
/// Contents of protected files, each under its hash.
const COPIES: &str = "copies";
/// Digits of the folder's mark in the name of a note.
const MARK: usize = 16;

/// A watch that is on.
pub(crate) struct Watch {
    note: Note,
    state: PathBuf,
    registered: Arc<Registered>,
    is_settled: bool,
}

/// What is remembered of a watch, on disk too.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The workspace.
    root: PathBuf,
    /// The call, for the names of what is moved.
    call: String,
    /// The protected places that the call may change.
    consented: Vec<String>,
    /// Whether protected files in the work tree of a new repository stay: a person has approved the clone.
    keeps_new: bool,
    /// When the command must have ended, in seconds of the clock.
    until_s: i64,
    /// The process that watches, when it was started, and the number of the watch in it.
    process: u32,
    started: Option<u64>,
    number: u64,
    before: Look,
}

/// A watch as others in this process see it.
#[derive(Debug)]
pub(crate) struct Registered {
    root: PathBuf,
    /// The place for its files.
    state: PathBuf,
    /// The protected places that its call may change.
    consented: Vec<String>,
    /// Files that others have changed since it began, with consent or to put them in order, as they were then; none where
    /// there is no file any more.
    others: Mutex<BTreeMap<PathBuf, Option<Entry>>>,
}

/// The watches of this process.
static ON: Mutex<Vec<Weak<Registered>>> = Mutex::new(Vec::new());

/// Held while protected files are compared and put in order, or changed with consent by a file tool: neither sees the other
/// half done.
static CHANGING: Mutex<()> = Mutex::new(());

/// What is watched.
pub(crate) struct Watched {
    /// The thread and the call.
    pub call: String,
    /// How long the command may take, in seconds.
    pub timeout_s: i64,
    /// Whether protected files in the work tree of a new repository stay.
    pub keeps_new: bool,
}

/// Watches that this process has begun.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// After its time is up a command is ended within this many seconds, or the machine is not itself.
const GRACE_S: i64 = 60;
/// A folder that has been gone for longer than this is not on a disk that will be back.
const FORGET_S: i64 = 30 * 24 * 60 * 60;
/// So many lines are told; the rest is counted.
const MAX_LINES: usize = 20;

impl Registered {
    /// Registers a watch. From here on it hears of what others change; what is there is looked at afterwards.
    pub fn new(root: &Path, state: Option<&Path>, consented: &[Arc<str>]) -> io::Result<Arc<Self>> {
        let state = state_folder(state)?;
        let consented = consented.iter().map(|place| place.to_string()).collect();
        let registered = Arc::new(Self { root: root.to_owned(), state, consented, others: Mutex::default() });
        let mut on = locked(&ON);
        on.retain(|watch| watch.strong_count() > 0);
        on.push(Arc::downgrade(&registered));
        drop(on);
        Ok(registered)
    }
}

impl Watch {
    /// Begins to watch: `look` is what is there, with what the sandbox keeps marked in it. Copies are made of the rest.
    pub fn begin(registered: Arc<Registered>, mut look: Look, watched: &Watched) -> io::Result<Self> {
        let state = registered.state.clone();
        look.copy(&registered.root, &state.join(COPIES))?;
        let call = watched.call.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "_");
        let (root, consented) = (registered.root.clone(), registered.consented.clone());
        let until_s = now_s() + watched.timeout_s + GRACE_S;
        let (keeps_new, process) = (watched.keeps_new, std::process::id());
        let number = BEGUN.fetch_add(1, Ordering::Relaxed);
        let started = start_of(process);
        let note = Note { root, call, consented, keeps_new, until_s, process, started, number, before: look };
        note.write(&state)?;
        Ok(Self { note, state, registered, is_settled: false })
    }

    /// Ends the watch: compares, puts in order, and says what was done, a line each.
    pub fn settle(mut self) -> Vec<String> {
        let _changing = locked(&CHANGING);
        for (path, entry) in std::mem::take(&mut *locked(&self.registered.others)) {
            match entry {
                Some(entry) => self.note.before.files.insert(path, entry),
                None => self.note.before.files.remove(&path),
            };
        }
        let is_other = |watch: &Arc<Registered>| watch.root == self.note.root && !Arc::ptr_eq(watch, &self.registered);
        let others: Vec<Arc<Registered>> = locked(&ON).iter().filter_map(Weak::upgrade).filter(is_other).collect();
        let free: Vec<String> = others.iter().flat_map(|watch| watch.consented.iter().cloned()).collect();
        let settled = self.note.settle(&self.state, &free, None);
        for path in &settled.changed {
            tell(&others, path);
        }
        // What could not be compared is left to the next command.
        self.is_settled = settled.failed.is_none();
        self.note.told(&self.state, settled)
    }
}

impl Drop for Watch {
    /// A call that was given up leaves its note to the next command in the workspace.
    fn drop(&mut self) {
        if !self.is_settled {
            self.note.started = None;
            // One that cannot be written is ended by the next process.
            let _ = self.note.write(&self.state);
        }
    }
}

/// Changes a protected file with consent, so that no watch that is on takes it for the doing of its own command.
pub(crate) fn with_consent<T>(root: &Path, path: &Path, change: impl FnOnce() -> T) -> T {
    let _changing = locked(&CHANGING);
    let changed = change();
    let others: Vec<Arc<Registered>> =
        locked(&ON).iter().filter_map(Weak::upgrade).filter(|one| one.root == root).collect();
    tell(&others, path);
    changed
}

/// The places that a change of a file touches for what is in the workspace, and not by its name: the parts of a repository in
/// a folder of any name, and what protected links and settings lead to. `paths` are the names of the file from the workspace.
pub(crate) fn places(root: &Path, paths: &[&Path]) -> Vec<String> {
    let look = match look(root) {
        Ok(look) => look,
        // It could be anything.
        Err(_) => return vec![protected::UNKNOWN.to_owned()],
    };
    let mut places: Vec<String> = paths.iter().filter_map(|path| look.place(root, path)).collect();
    places.dedup();
    places
}

/// Tells other watches how a file is now that was changed by a call that is not theirs.
fn tell(others: &[Arc<Registered>], path: &Path) {
    for watch in others {
        // Each has a copy where it will look for one.
        let now = Entry::at(&watch.root, path, &watch.state.join(COPIES));
        locked(&watch.others).insert(path.to_owned(), now);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the watches that calls of this thread have left behind in a process that was killed, and says what was done, a
/// line each.
pub fn settle_left(state: Option<&Path>, thread: &str) -> Vec<String> {
    let begin = format!("{thread}_");
    settle_dead(state, |_| true, |note| note.call.starts_with(&begin))
}

/// The same for the calls of any thread that worked in this folder: what they left must not be taken for the user's own.
pub(crate) fn settle_left_in(state: Option<&Path>, root: &Path) -> Vec<String> {
    static CLEARED: Once = Once::new();
    CLEARED.call_once(|| {
        settle_dead(state, |_| true, |_| false);
    });
    let mark = mark_of(root);
    settle_dead(state, |file| marked(file).is_none_or(|its| its == mark), |note| note.root == root)
}

/// Ends the watches that are meant, of those whose files may be theirs by their names. On the way it removes old notes of folders that are
/// gone, where nothing can be put in order any more.
fn settle_dead(state: Option<&Path>, may_be: impl Fn(&str) -> bool, is_meant: impl Fn(&Note) -> bool) -> Vec<String> {
    let Ok(state) = state_folder(state) else { return Vec::new() };
    let _changing = locked(&CHANGING);
    let files = fs::read_dir(state.join(OPEN)).into_iter().flatten().flatten();
    let mut said = Vec::new();
    for entry in files {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.ends_with(".json") && may_be(name)) {
            continue;
        }
        let read = fs::read(entry.path()).ok().and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok());
        let Some(note) = read.filter(|note| !note.is_on()) else { continue };
        if is_meant(&note) {
            // What the user has done since the command ended is theirs.
            let settled = note.settle(&state, &[], Some(note.until_s));
            let is_over = settled.failed.is_none();
            said.extend(note.told(&state, settled));
            if is_over {
                // It may have the name that an earlier version gave it.
                let _ = fs::remove_file(entry.path());
            }
        } else if note.until_s + FORGET_S < now_s() && !note.root.exists() {
            // One that stays is found again.
            let _ = fs::remove_file(entry.path());
        }
    }
    said
}

/// What the file of a note begins with, so that a command reads only those of its own folder.
fn mark_of(root: &Path) -> String {
    blake3::hash(root.as_os_str().as_bytes()).to_hex()[..MARK].to_owned()
}

/// The mark of a file of a note; none in those of earlier versions, which begin with a thread.
fn marked(file: &str) -> Option<&str> {
    let (mark, rest) = file.split_at_checked(MARK)?;
    (rest.starts_with('-') && mark.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(mark)
}

/// When a process was started, in ticks since the machine was; none if it does not run.
fn start_of(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program may hold anything, also brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

fn now_s() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs().cast_signed())
}

impl Note {
    /// Whether the process that watches still runs. The number of one that was killed may be another's by now.
    fn is_on(&self) -> bool {
        self.started.is_some() && start_of(self.process) == self.started
    }

    fn file(&self, state: &Path) -> PathBuf {
        let mark = mark_of(&self.root);
        state.join(OPEN).join(format!("{mark}-{}-{}-{}.json", self.call, self.process, self.number))
    }

    /// Writes the note, whole or not at all.
    fn write(&self, state: &Path) -> io::Result<()> {
        let (file, passing) = (self.file(state), self.file(state).with_extension("new"));
        let mut made = fs::File::create(&passing)?;
        made.write_all(&serde_json::to_vec(self)?)?;
        made.sync_all()?;
        fs::rename(passing, file)
    }

    /// The lines for people. A note whose comparison failed stays, for the next try.
    fn told(&self, state: &Path, settled: settle::Settled) -> Vec<String> {
        let mut said = settled.said;
        let more = said.len().saturating_sub(MAX_LINES);
        said.truncate(MAX_LINES);
        said.extend(
            (more > 0).then(|| format!("and {more} more; what was moved is in {}", state.join(MOVED).display())),
        );
        match settled.failed {
            // One that stays is compared once more, and nothing is found.
            None => drop(fs::remove_file(self.file(state))),
            Some(why) => said.push(format!("protected files could not be compared: {why}")),
        }
        said
    }
}

/// The place for our files, which is made where it is missing. Without a state folder it is a private one among the
/// machine's temporary files; one that belongs to another user, or that others can write, is refused.
fn state_folder(state: Option<&Path>) -> io::Result<PathBuf> {
    let own = rustix::process::getuid().as_raw();
    let folder = match state {
        Some(state) => state.join(FOLDER),
        None => std::env::temp_dir().join(format!("majordomo-{FOLDER}-{own}")),
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let there = fs::symlink_metadata(&folder)?;
    if !there.is_dir() || there.uid() != own || there.mode() & 0o022 != 0 {
        let why = format!("{} belongs to another user, or others can write there", folder.display());
        return Err(io::Error::other(why));
    }
    for part in [OPEN, MOVED, COPIES] {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join(part))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests;
