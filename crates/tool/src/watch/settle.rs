//! Comparing what is protected with what was, and putting it in order.
//!
//! It works outside the sandbox on what a hostile command has left: every path is reached by [`Held`], and nothing is deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::held::{Held, Missing};
use super::look::{Copy, Entry, Look, Stamp, content, look_after};
use super::{COPIES, MOVED, Note, harmless};
use crate::protected::Kind;

/// What a comparison came to.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// A line for each thing that was found, for people and the model.
    pub said: Vec<String>,
    /// What was changed with consent or put in order.
    pub changed: BTreeSet<PathBuf>,
    /// Why not everything could be compared.
    pub failed: Option<String>,
}

impl Note {
    /// Compares and puts in order. `free` are places that calls which run at the same time may change. A change that is
    /// younger than `until`, in seconds of the clock, cannot come from the command. What was found is put in order also where
    /// something else cannot be looked at.
    pub(super) fn settle(&self, state: &Path, free: &[String], until: Option<i64>) -> Settled {
        let mut order = Order { note: self, state, until, settled: Settled::default() };
        let mut after = look_after(&self.root, &self.before);
        order.put_repositories_back(&after);
        if !order.settled.said.is_empty() {
            // What was moved as a whole is not there any more.
            after = look_after(&self.root, &self.before);
        }
        let is_free = |place: &String| self.consented.contains(place) || free.contains(place);
        let new_bare: Vec<&PathBuf> =
            after.bare.iter().filter(|folder| !self.before.repositories.contains_key(*folder)).collect();
        for folder in &new_bare {
            let is_harmless = |(path, now): (&PathBuf, &Entry)| {
                self.before.files.contains_key(path)
                    || harmless::is_harmless(&self.root, path, now, &self.before, &after)
            };
            // Without this file it is no repository. What else is there may have been there before, as something else.
            if !after.obeyed(folder).all(is_harmless) && !self.consented.iter().any(|place| place == ".git") {
                order.take_away(&folder.join("HEAD"), "made a repository of its folder that could run programs");
            }
        }
        let in_bare: BTreeSet<&PathBuf> =
            new_bare.iter().flat_map(|folder| after.obeyed(folder)).map(|(path, _)| path).collect();
        let gone: BTreeMap<Stamp, Option<u64>> = (self.before.files.iter())
            .filter(|(path, _)| !after.files.contains_key(*path))
            .map(|(path, entry)| (entry.stamp, self.before.holder(path)))
            .collect();
        for (path, now) in &after.files {
            let was = self.before.files.get(path);
            if was.is_some_and(|was| was.stamp == now.stamp) || (was.is_none() && in_bare.contains(path)) {
                continue;
            }
            if is_free(&now.place) {
                order.settled.changed.insert(path.clone());
                continue;
            }
            let came_along =
                || gone.get(&now.stamp).is_some_and(|holder| holder.is_some() && *holder == after.holder(path));
            match was {
                // The folder that holds it was renamed as a whole.
                None if came_along() => {}
                None if harmless::is_harmless(&self.root, path, now, &self.before, &after) => {}
                None if self.keeps_new
                    && now.kind == Kind::Plain
                    && is_in_new_repository(path, &self.before, &after) => {}
                None if order.is_late(now.stamp.changed_s()) => {}
                None if self.is_kept(path) => order.say(not_by_it(path)),
                None => drop(order.take_away(path, "was created in a protected place without approval")),
                Some(was) => order.changed(path, was, now, &after),
            }
        }
        for (path, was) in self.before.files.iter().filter(|(path, _)| !after.files.contains_key(*path)) {
            if is_free(&was.place) {
                order.settled.changed.insert(path.clone());
            } else {
                order.missing(path, was);
            }
        }
        let mut deep = after.deep.difference(&self.before.deep);
        if let Some(path) = deep.next() {
            let more = match deep.count() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let path: String = path.display().to_string().chars().take(MAX_FLAT).collect();
            order.say(format!(
                "a folder below {path}…{more} has a path that is too long to be opened: what is in it was not looked at"
            ));
        }
        order.settled.failed = after.unread;
        order.settled
    }

    /// Whether the sandbox kept everything in the place that a path belongs to.
    fn is_kept(&self, path: &Path) -> bool {
        self.before.top(path).is_some_and(|top| self.before.kept.contains(top)) && self.before.is_held(&self.root, path)
    }
}

/// Whether a path lies in the work tree of a repository that was not there before.
fn is_in_new_repository(path: &Path, before: &Look, after: &Look) -> bool {
    let new = after.repositories.keys().filter(|repository| !before.repositories.contains_key(*repository));
    let trees = new.filter(|repository| repository.ends_with(".git")).filter_map(|repository| repository.parent());
    trees.into_iter().any(|tree| !tree.as_os_str().is_empty() && path.starts_with(tree))
}

/// One comparison under way.
struct Order<'a> {
    note: &'a Note,
    state: &'a Path,
    until: Option<i64>,
    settled: Settled,
}

impl Order<'_> {
    fn held(&self, path: &Path) -> io::Result<Held> {
        Held::open(&self.note.root, path, Missing::Refused)
    }

    /// What is at a path, which no link leads to; none where nothing is.
    fn there(&self, path: &Path) -> Option<fs::Metadata> {
        fs::symlink_metadata(self.held(path).ok()?.path()).ok()
    }

    fn say(&mut self, line: String) {
        self.settled.said.push(line);
    }

    /// Whether something was changed after the command must have ended.
    fn is_late(&self, changed_s: i64) -> bool {
        self.until.is_some_and(|until| changed_s > until)
    }

    /// A repository's folder that is another one than before is moved away, and the one from before, if it lies
    /// elsewhere in the workspace, is put back.
    fn put_repositories_back(&mut self, after: &Look) {
        if self.note.consented.iter().any(|place| place == ".git") {
            return;
        }
        for (path, inode) in &self.note.before.repositories {
            // With the folder that held it gone, it was moved or deleted together with all that it belongs to.
            let Ok(held) = self.held(path) else { continue };
            let now = fs::symlink_metadata(held.path()).ok();
            if now.as_ref().is_some_and(|now| (now.is_dir() && now.ino() == *inode) || self.is_late(now.ctime())) {
                continue;
            }
            if self.note.before.pinned.contains(path) && self.note.before.is_held(&self.note.root, path) {
                self.say(not_by_it(path));
                continue;
            }
            if now.is_some() {
                self.take_away(path, "took the place of a repository");
            }
            let elsewhere = after.repositories.iter().find(|(other, there)| *there == inode && *other != path);
            let back = elsewhere.map(|(other, _)| {
                let renamed = self.held(other).and_then(|from| fs::rename(from.path(), held.path()));
                (other, renamed)
            });
            self.say(match back {
                Some((other, Ok(()))) => format!("{} was renamed to {}: renamed back", path.display(), other.display()),
                Some((other, Err(error))) => {
                    format!("{} was renamed to {} and cannot be renamed back: {error}", path.display(), other.display())
                }
                None => {
                    format!("{} is not there any more, and was not found elsewhere in the workspace", path.display())
                }
            });
        }
    }

    /// A protected file is another one than before.
    fn changed(&mut self, path: &Path, was: &Entry, now: &Entry, after: &Look) {
        if was.is_kept && self.note.before.is_held(&self.note.root, path) {
            return self.say(not_by_it(path));
        }
        if self.is_late(now.stamp.changed_s())
            || self.is_copy(path, was, now)
            || self.is_rest(path, was)
            || self.is_harmless(path, now, after)
        {
            return;
        }
        if was.copy == Copy::None && !was.is_kept {
            return self.say(format!("{} changed, and was too long to be copied before: look at it", path.display()));
        }
        if self.take_away(path, "was changed without approval") {
            self.put_back(path, was);
        }
    }

    /// A protected file is not there any more.
    fn missing(&mut self, path: &Path, was: &Entry) {
        // With the folder that held the whole protected place gone, it was deleted together with all that it belongs to.
        let top = self.note.before.top(path);
        let is_orphaned = top.is_none_or(|top| self.held(top).is_err());
        let holder = top.and_then(Path::parent).filter(|holder| !holder.as_os_str().is_empty());
        let changed_s = holder.and_then(|holder| self.there(holder)).map_or(0, |there| there.ctime());
        // What another call has changed with consent may be no file that is looked for.
        let now = self.there(path).filter(|there| !there.is_dir());
        let is_same = now.as_ref().is_some_and(|there| {
            let stamp = Stamp::of(there);
            stamp == was.stamp || self.is_copy(path, was, &Entry { stamp, ..was.clone() })
        });
        if was.is_kept || is_same || is_orphaned || was.kind == Kind::Sequence || self.is_late(changed_s) {
            return;
        }
        if now.is_none() {
            self.say(format!("{} was removed without approval", path.display()));
        } else if !self.take_away(path, "was changed without approval") {
            return;
        }
        self.put_back(path, was);
    }

    /// Whether a file still holds what it held.
    fn is_copy(&self, path: &Path, was: &Entry, now: &Entry) -> bool {
        let Ok(held) = self.held(path) else { return false };
        match &was.copy {
            Copy::None => false,
            Copy::Link(target) => fs::read_link(held.path()).is_ok_and(|now| now == *target),
            Copy::File(name) => {
                was.stamp.mode == now.stamp.mode && content(&held.path()).is_some_and(|bytes| is_named(&bytes, name))
            }
        }
    }

    /// Whether a sequence of commits has only become shorter, as with every step that git takes.
    fn is_rest(&self, path: &Path, was: &Entry) -> bool {
        let Copy::File(name) = &was.copy else { return false };
        let before = fs::read(self.state.join(COPIES).join(name)).unwrap_or_default();
        let now = self.held(path).ok().and_then(|held| content(&held.path())).unwrap_or_default();
        was.kind == Kind::Sequence && before.ends_with(&now)
    }

    /// Whether a file that git rewrites in the course of ordinary work has become nothing else.
    fn is_harmless(&self, path: &Path, now: &Entry, after: &Look) -> bool {
        now.kind == Kind::Sequence && harmless::is_harmless(&self.note.root, path, now, &self.note.before, after)
    }

    /// Moves something to the state folder, and says whether that succeeded.
    fn take_away(&mut self, path: &Path, what: &str) -> bool {
        self.settled.changed.insert(path.to_owned());
        let moved = self.held(path).and_then(|held| self.moved(path, &held));
        let (line, is_moved) = match moved {
            Ok(to) => (format!("{} {what}: moved to {}", path.display(), to.display()), true),
            Err(error) => {
                let line = format!(
                    "{} {what}, and cannot be moved away: {error}. Look at it before you use it",
                    path.display()
                );
                (line, false)
            }
        };
        self.say(line);
        is_moved
    }

    /// Moves something to the state folder under a name of its own, or at least to a name that means nothing.
    fn moved(&self, path: &Path, held: &Held) -> io::Result<PathBuf> {
        let folder = self.state.join(MOVED).join(&self.note.call);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let flat: String = path.display().to_string().replace('/', "+").chars().take(MAX_FLAT).collect();
        let to = (0..).map(|number: u32| folder.join(format!("{number}+{flat}")));
        let to = to.into_iter().find(|to| fs::symlink_metadata(to).is_err()).ok_or(io::ErrorKind::AlreadyExists)?;
        held.writable(|| {
            if shift(&held.path(), &to).is_ok() {
                return Ok(to.clone());
            }
            let aside = OsString::from(format!("unapproved-{}", random()));
            fs::rename(held.path(), held.beside(&aside))?;
            Ok(path.with_file_name(aside))
        })
    }

    fn put_back(&mut self, path: &Path, was: &Entry) {
        self.settled.changed.insert(path.to_owned());
        let done = self.restored(path, was);
        self.say(match done {
            Ok(()) => format!("{} was put back as it was before", path.display()),
            Err(error) => format!("{} cannot be put back as it was before: {error}", path.display()),
        });
    }

    fn restored(&self, path: &Path, was: &Entry) -> io::Result<()> {
        let held = Held::open(&self.note.root, path, Missing::Made)?;
        let name = match &was.copy {
            Copy::None => return Err(io::Error::other("no copy was made of it")),
            Copy::Link(target) => return symlink(target, held.path()),
            Copy::File(name) => name,
        };
        let bytes = fs::read(self.state.join(COPIES).join(name))?;
        if !is_named(&bytes, name) {
            return Err(io::Error::other("the copy of it is damaged"));
        }
        // Whole under a temporary name, which is new and so no link, then renamed.
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let passing = held.beside(format!(".majordomo-{}-{}.tmp", std::process::id(), random()).as_ref());
        let mut file = held.writable(|| options.open(&passing))?;
        file.write_all(&bytes)?;
        file.set_permissions(fs::Permissions::from_mode(was.stamp.mode & 0o7777))?;
        file.sync_all()?;
        held.writable(|| fs::rename(&passing, held.path()))
    }
}

/// So much of a path is seen in the name of what was moved.
const MAX_FLAT: usize = 60;

/// A number that a command could not foresee.
fn random() -> u32 {
    let mut bytes = [0; 4];
    // Without randomness a name may be taken, which is an error and no harm.
    let _ = getrandom::fill(&mut bytes);
    u32::from_le_bytes(bytes)
}

fn is_named(bytes: &[u8], name: &str) -> bool {
    blake3::hash(bytes).to_hex().as_str() == name
}

fn not_by_it(path: &Path) -> String {
    format!(
        "{} changed while the command ran, and not by it: it was read-only there. It was left as it is",
        path.display()
    )
}

/// Moves a file, a link or a folder, also to another file system. Links are not followed.
fn shift(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        done => return done,
    }
    copy_all(from, to)?;
    if fs::symlink_metadata(from)?.is_dir() { fs::remove_dir_all(from) } else { fs::remove_file(from) }
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    let there = fs::symlink_metadata(from)?;
    if there.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if there.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    // A pipe or a socket holds nothing that could be kept.
    if there.is_file() { fs::copy(from, to).map(drop) } else { Ok(()) }
}
