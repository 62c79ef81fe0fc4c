//! Comparing what is protected with what was, and putting it in order.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::look::{Copy, Entry, Look, Stamp, content, look};
use super::{COPIES, MOVED, Note, harmless};

/// What a comparison came to.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// A line for each thing that was found, for people and the model.
    pub said: Vec<String>,
    /// What was changed with consent.
    pub consented: Vec<PathBuf>,
}

impl Note {
    /// Compares and puts in order. `others` are paths that were changed with consent by other calls.
    pub(super) fn settle(&self, state: &Path, others: &BTreeSet<PathBuf>) -> Result<Settled, String> {
        let mut order = Order { note: self, state, settled: Settled::default() };
        let mut after = look(&self.root)?;
        order.put_repositories_back(&after);
        if !order.settled.said.is_empty() {
            // What was moved as a whole is not there any more.
            after = look(&self.root)?;
        }
        let is_free = |path: &Path, place: &str| {
            self.consented.iter().any(|consented| consented == place)
                || others.iter().any(|other| path.starts_with(other))
        };
        let gone: BTreeSet<Stamp> = (self.before.files.iter())
            .filter(|(path, _)| !after.files.contains_key(*path))
            .map(|(_, entry)| entry.stamp)
            .collect();
        for (path, now) in &after.files {
            let was = self.before.files.get(path);
            if was.is_some_and(|was| was.stamp == now.stamp) {
                continue;
            }
            if is_free(path, &now.place) {
                order.settled.consented.push(path.clone());
                continue;
            }
            match was {
                // It came along with a folder that was renamed as a whole.
                None if gone.contains(&now.stamp) => {}
                None if harmless::is_harmless(&self.root, path, now, &self.before, &after) => {}
                None => order.take_away(path, "was created in a protected place without approval"),
                Some(was) => order.changed(path, was, now, &after),
            }
        }
        for (path, was) in self.before.files.iter().filter(|(path, _)| !after.files.contains_key(*path)) {
            if is_free(path, &was.place) {
                order.settled.consented.push(path.clone());
            } else {
                order.missing(path, was);
            }
        }
        Ok(order.settled)
    }
}

/// One comparison under way.
struct Order<'a> {
    note: &'a Note,
    state: &'a Path,
    settled: Settled,
}

impl Order<'_> {
    fn at(&self, path: &Path) -> PathBuf {
        self.note.root.join(path)
    }

    fn say(&mut self, line: String) {
        self.settled.said.push(line);
    }

    /// A repository's folder that is another one than before is moved away, and the one from before, if it lies
    /// elsewhere in the workspace, is put back.
    fn put_repositories_back(&mut self, after: &Look) {
        if self.note.consented.iter().any(|place| place == ".git") {
            return;
        }
        for (path, inode) in &self.note.before.repositories {
            let now = fs::symlink_metadata(self.at(path)).ok();
            let is_same = now.as_ref().is_some_and(|now| now.is_dir() && now.ino() == *inode);
            // With the folder that held it gone, it was moved or deleted together with all that it belongs to.
            let is_orphaned = path.parent().is_none_or(|parent| !self.at(parent).is_dir());
            if is_same || is_orphaned || path.as_os_str().is_empty() {
                continue;
            }
            if now.is_some() {
                self.take_away(path, "was put in the place of a repository");
            }
            let elsewhere = after.repositories.iter().find(|(other, there)| *there == inode && *other != path);
            let back = elsewhere.map(|(other, _)| (other, fs::rename(self.at(other), self.at(path))));
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
        if was.is_kept {
            return self.say(format!(
                "{} changed while the command ran, and not by it: it was read-only there. It was left as it is",
                path.display()
            ));
        }
        if self.is_copy(path, was, now) || harmless_change(self.note, path, now, after) {
            return;
        }
        self.take_away(path, "was changed without approval");
        self.put_back(path, was);
    }

    /// A protected file is not there any more.
    fn missing(&mut self, path: &Path, was: &Entry) {
        // With the folder that held it gone, it was deleted together with all that it belongs to.
        let is_orphaned = path.parent().is_none_or(|parent| !self.at(parent).is_dir());
        if was.is_kept || is_orphaned || was.kind == crate::protected::Kind::Sequence {
            return;
        }
        self.say(format!("{} was removed without approval", path.display()));
        self.put_back(path, was);
    }

    /// Whether a file still holds what it held.
    fn is_copy(&self, path: &Path, was: &Entry, now: &Entry) -> bool {
        match &was.copy {
            Copy::None => false,
            Copy::Link(target) => fs::read_link(self.at(path)).is_ok_and(|now| now == *target),
            Copy::File(name) => {
                was.stamp.mode == now.stamp.mode
                    && content(&self.at(path)).is_some_and(|bytes| blake3::hash(&bytes).to_hex().as_str() == name)
            }
        }
    }

    /// Moves something to the state folder.
    fn take_away(&mut self, path: &Path, what: &str) {
        let mut to = self.state.join(MOVED).join(&self.note.call).join(path);
        let mut number = 1;
        while fs::symlink_metadata(&to).is_ok() {
            to = to.with_extension(format!("{number}"));
            number += 1;
        }
        let moved = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| shift(&self.at(path), &to));
        self.say(match moved {
            Ok(()) => format!("{} {what}: moved to {}", path.display(), to.display()),
            Err(error) => {
                format!("{} {what}, and cannot be moved away: {error}. Look at it before you use it", path.display())
            }
        });
    }

    fn put_back(&mut self, path: &Path, was: &Entry) {
        let to = self.at(path);
        let done = match &was.copy {
            Copy::None => Err(io::Error::other("no copy was made of it")),
            Copy::Link(target) => symlink(target, &to),
            Copy::File(name) => fs::read(self.state.join(COPIES).join(name)).and_then(|bytes| {
                // Whole under a passing name, then renamed.
                let passing = to.with_file_name(format!(".majordomo-{}-0.tmp", std::process::id()));
                fs::write(&passing, bytes)?;
                fs::set_permissions(&passing, fs::Permissions::from_mode(was.stamp.mode & 0o7777))?;
                fs::rename(passing, &to)
            }),
        };
        self.say(match done {
            Ok(()) => format!("{} was put back as it was before", path.display()),
            Err(error) => format!("{} cannot be put back as it was before: {error}", path.display()),
        });
    }
}

/// Whether a file that git rewrites in the course of ordinary work has become nothing else.
fn harmless_change(note: &Note, path: &Path, now: &Entry, after: &Look) -> bool {
    now.kind == crate::protected::Kind::Sequence && harmless::is_harmless(&note.root, path, now, &note.before, after)
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
