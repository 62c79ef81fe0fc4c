//! The folders of a mailbox: Maildirs, folders inside them (Maildir++ and others), folders of `.eml` files, and `mbox` files.
//!
//! Only ordinary files and folders are read, so that a link cannot lead out of the mailbox. Names that are not valid text are
//! skipped, because they cannot be passed to a tool.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::mbox;
use crate::text::fold;

/// The folder that mails come into.
pub(crate) const INBOX: &str = "inbox";
/// The folder of what the owner sent.
pub(crate) const SENT: &str = "sent";
/// The folder of what the owner may send.
pub(crate) const DRAFTS: &str = "drafts";

/// What stands between a mail's id and its flags. File systems of Windows have no colon.
pub(crate) const FLAGS: &str = if cfg!(windows) { ";2," } else { ":2," };

/// Bytes of a mail that are read for the index: what people write stands before what they attach.
pub(crate) const HEAD: u64 = 256 * 1024;

/// One directory with mails, or one file with many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MailFolder {
    /// Relative to the mailbox, parts separated by `/`.
    pub dir: String,
    /// The folder as people call it.
    pub folder: String,
    pub kind: Kind,
}

/// How a directory keeps its mails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `cur` or `new`: a file never changes, and its name ends with its flags.
    Maildir,
    /// Files that end with `.eml`.
    Files,
    /// No directory: one file, in which an entry's name says the part.
    Mbox,
}

/// One mail's file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MailFile {
    pub id: String,
    /// The file's name, or what part of the file it is.
    pub name: String,
    /// Letters of a Maildir: S seen, F flagged, R answered, D draft, T trashed, P passed on.
    pub flags: String,
    /// Changes when the file does; always 0 in a Maildir.
    pub stamp: i64,
}

/// Deeper folders, and more of them, are not looked at.
const DEPTH: usize = 8;
const PLACES: usize = 4_000;

/// All directories and files with mails. A mailbox that is not there has none.
pub(crate) fn places(mailbox: &Path) -> Vec<MailFolder> {
    let mut places = Vec::new();
    if mailbox.is_file() {
        let place = MailFolder { dir: String::new(), folder: INBOX.to_owned(), kind: Kind::Mbox };
        return if mbox::is_mbox(mailbox) { vec![place] } else { places };
    }
    let mut seen = HashSet::new();
    let mut open = vec![(String::new(), 0)];
    while let Some((dir, depth)) = open.pop() {
        if places.len() >= PLACES || !seen.insert(dir.clone()) {
            continue;
        }
        let (mut inside, mut has_letters, mut files) = (Vec::new(), false, Vec::new());
        for entry in entries(&mailbox.join(&dir)) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => inside.push(name),
                Ok(kind) if kind.is_file() && stem(&name).is_some() => has_letters = true,
                Ok(kind) if kind.is_file() && !name.starts_with('.') && mbox::is_mbox(&entry.path()) => {
                    files.push(name);
                }
                _ => {}
            }
        }
        let below = |name: &str| if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
        let folder = called(&dir);
        let is_maildir = inside.iter().any(|name| name == "cur" || name == "new");
        // What moves from `new` to `cur` meanwhile is seen twice rather than not at all.
        for name in ["new", "cur"].into_iter().filter(|name| is_maildir && inside.iter().any(|other| other == name)) {
            places.push(MailFolder { dir: below(name), folder: folder.clone(), kind: Kind::Maildir });
        }
        if has_letters {
            places.push(MailFolder { dir: dir.clone(), folder, kind: Kind::Files });
        }
        files.sort_unstable();
        for file in files.iter().map(|name| below(name)) {
            places.push(MailFolder { folder: called(&file), dir: file, kind: Kind::Mbox });
        }
        inside.retain(|name| !(is_maildir && matches!(&**name, "cur" | "new" | "tmp")));
        inside.sort_unstable_by(|a, b| b.cmp(a));
        if depth < DEPTH {
            open.extend(inside.iter().map(|name| (below(name), depth + 1)));
        }
    }
    places
}

impl MailFolder {
    /// Its path.
    pub fn path(&self, mailbox: &Path) -> PathBuf {
        // Joined with nothing, a file would be taken for a directory.
        if self.dir.is_empty() { mailbox.to_owned() } else { mailbox.join(&self.dir) }
    }

    /// Its mails, as they are called at this moment.
    pub fn messages(&self, mailbox: &Path) -> Vec<MailFile> {
        if self.kind == Kind::Mbox {
            return mbox::messages(&self.path(mailbox)).unwrap_or_default();
        }
        let mut messages: Vec<_> = entries(&self.path(mailbox)).filter_map(|entry| self.message(&entry)).collect();
        messages.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        messages.dedup_by(|a, b| a.id == b.id);
        messages
    }

    fn message(&self, entry: &DirEntry) -> Option<MailFile> {
        let name = entry.file_name().into_string().ok()?;
        if name.starts_with('.') || !entry.file_type().ok()?.is_file() {
            return None;
        }
        match self.kind {
            Kind::Maildir => {
                let (id, flags) = name.split_once(":2,").or_else(|| name.split_once(";2,")).unwrap_or((&name, ""));
                (!id.is_empty()).then(|| MailFile {
                    id: id.to_owned(),
                    flags: flags.to_owned(),
                    stamp: 0,
                    name: name.clone(),
                })
            }
            Kind::Files => {
                let id = stem(&name)?.to_owned();
                let stamp = changed(&entry.metadata().ok()?);
                Some(MailFile { id, flags: String::new(), stamp, name })
            }
            Kind::Mbox => None,
        }
    }

    /// A number that changes when the directory's mails do; 0 where that cannot be told yet.
    ///
    /// A Maildir's directory changes with every mail that comes, goes or gets another flag. Its time is believed only when
    /// it lies a little back, as two changes within one tick of the clock leave the same time.
    pub fn stamp(&self, mailbox: &Path) -> i64 {
        match self.kind {
            Kind::Maildir => {
                const TICK: Duration = Duration::from_secs(3);
                let Ok(changed) = fs::metadata(self.path(mailbox)).and_then(|meta| meta.modified()) else { return 0 };
                match SystemTime::now().duration_since(changed) {
                    Ok(ago) if ago > TICK => nanos(changed),
                    _ => 0,
                }
            }
            Kind::Files => {
                let mut hasher = DefaultHasher::new();
                self.messages(mailbox).hash(&mut hasher);
                // 0 is taken.
                (hasher.finish() | 1).cast_signed()
            }
            Kind::Mbox => fs::metadata(self.path(mailbox)).map_or(0, |meta| changed(&meta) | 1),
        }
    }
}

/// A mail's bytes, at most so many: of a file of its own, or of its part of one.
pub(crate) fn bytes(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let part = file.file_name().and_then(|name| name.to_str()).and_then(mbox::part);
    match file.parent().zip(part).filter(|(mbox, _)| mbox.is_file()) {
        Some((mbox, part)) => Ok(mbox::unescaped(&mbox::raw(mbox, part, most)?)),
        None => {
            let mut bytes = Vec::new();
            fs::File::open(file)?.take(most).read_to_end(&mut bytes)?;
            Ok(bytes)
        }
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(dir).into_iter().flatten().flatten()
}

fn stem(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    (ending.eq_ignore_ascii_case("eml") && !stem.is_empty()).then_some(stem)
}

/// A number that changes when a file does.
fn changed(meta: &fs::Metadata) -> i64 {
    meta.modified().map_or(0, nanos) ^ i64::try_from(meta.len()).unwrap_or(0).rotate_left(40)
}

fn nanos(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

/// What people call a folder: its path without Maildir++'s dots and the endings of `mbox` files and of their folders, and one
/// name for those that every program has.
fn called(dir: &str) -> String {
    let path: Vec<String> = dir
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| [".sbd", ".mbox", ".mbx"].iter().find_map(|ending| part.strip_suffix(ending)).unwrap_or(part))
        .map(|part| part.strip_prefix('.').map_or_else(|| part.to_owned(), |dotted| dotted.replace('.', "/")))
        .collect();
    let path = path.join("/");
    let path = match path.split_once('/') {
        Some((first, rest)) if first.eq_ignore_ascii_case(INBOX) => rest,
        _ => &path,
    };
    let last = fold(path.rsplit('/').next().unwrap_or_default());
    let known = match &*last {
        "" | "inbox" | "posteingang" => INBOX,
        "sent" | "sent items" | "sent mail" | "sent messages" | "gesendet" | "gesendete elemente"
        | "gesendete objekte" | "envoyes" | "messages envoyes" | "elements envoyes" => SENT,
        "drafts" | "entwurfe" | "entw&apw-rfe" | "brouillons" => DRAFTS,
        "trash" | "deleted items" | "deleted messages" | "papierkorb" | "geloschte elemente" | "corbeille" => "trash",
        "junk" | "spam" | "junk e-mail" | "indesirables" => "junk",
        "archive" | "archives" | "all mail" | "archiv" => "archive",
        _ => path,
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_the_names_that_people_call_them() {
        for (dir, folder) in [
            ("", "inbox"),
            ("INBOX", "inbox"),
            (".Sent", "sent"),
            (".Sent Items", "sent"),
            ("[Gmail]/Sent Mail", "sent"),
            (".Entwürfe", "drafts"),
            (".INBOX.Drafts", "drafts"),
            (".Work.Clients", "Work/Clients"),
            ("Work/Clients", "Work/Clients"),
            ("Spam", "junk"),
            ("Inbox.sbd/Work", "Work"),
            ("Mail/Archives.sbd/2025", "Mail/Archives/2025"),
            ("Sent.mbox", "sent"),
        ] {
            assert_eq!(called(dir), folder, "{dir}");
        }
    }
}
