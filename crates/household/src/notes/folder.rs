//! The folder of notes: listing and reading files. Nothing is ever written.
//!
//! Everything is reached through one directory handle, so that no name and no link leads out of it. Links are not followed
//! when listing; hidden files and folders are skipped.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use crate::error::Error;

/// What is read of a note; the rest of a longer one is not looked at.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// How old a change must be before the time of a file can be trusted to tell it from the next one. The coarsest
/// clocks of file systems tick every two seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// The notes' own folder, open.
pub(super) struct Folder {
    dir: Dir,
    root: PathBuf,
}

/// One folder, as it was found.
pub(super) struct Directory {
    /// Seen from the notes' own folder, which is `""`.
    pub path: String,
    pub files: Vec<File>,
    /// The same number as long as no file came, went or changed; 0 where a change may still be under way.
    pub signature: i64,
}

/// One note, as it was found.
pub(super) struct File {
    pub name: String,
    pub size: i64,
    /// The nanosecond of its last change; 0 where that is too fresh to tell it from another.
    pub stamp_ns: i64,
    /// The second of its last change.
    pub changed: i64,
}

impl Folder {
    /// Opens it; None where there is none.
    pub(super) fn open(root: &Path) -> Result<Option<Self>, Error> {
        match Dir::open_ambient_dir(root, ambient_authority()) {
            Ok(dir) => Ok(Some(Self { dir, root: root.to_owned() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(root)(error)),
        }
    }

    /// Looks at every folder: `enter` is told before it is read, `see` what was found. One that cannot be read is passed over.
    pub(super) fn look_around(&self, mut enter: impl FnMut(&Path), mut see: impl FnMut(Directory)) {
        let mut ahead = vec![String::new()];
        while let Some(path) = ahead.pop() {
            enter(&self.root.join(&path));
            let dir = if path.is_empty() { self.dir.try_clone() } else { self.dir.open_dir(&path) };
            if let Ok(shelf) = dir.and_then(|dir| shelf(&dir, path, &mut ahead)) {
                see(shelf);
            }
        }
    }

    /// Whether anything lies at a path.
    pub(super) fn is_there(&self, path: &str) -> bool {
        self.dir.symlink_metadata(path).is_ok()
    }

    /// What a note says, as far as it is read; None where that is no text. Bytes that are no characters are marked.
    pub(super) fn read(&self, path: &str) -> Result<Option<String>, Error> {
        let shown = || self.root.join(path);
        let mut options = OpenOptions::new();
        // Opening a pipe would wait for a writer.
        options.read(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
        let file = self.dir.open_with(path, &options).map_err(Error::file(shown()))?;
        let metadata = file.metadata().map_err(Error::file(shown()))?;
        if !metadata.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(metadata.len().min(MAX_BYTES) as usize + 1);
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(Error::file(shown()))?;
        let is_text = !bytes.contains(&0);
        Ok(is_text.then(|| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
        }))
    }
}

/// Looks at one folder; those in it are put `ahead`.
fn shelf(dir: &Dir, path: String, ahead: &mut Vec<String>) -> io::Result<Directory> {
    let still = SystemTime::now().checked_sub(SETTLED).and_then(|still| still.duration_since(UNIX_EPOCH).ok());
    let still_ns = still.map_or(0, |still| still.as_nanos() as i64);
    let mut shelf = Directory { path, files: Vec::new(), signature: 0 };
    let mut is_settled = true;
    for entry in dir.entries()? {
        let Ok(entry) = entry else { continue };
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            ahead.push(beneath(&shelf.path, &name));
        } else if kind.is_file() && is_note(&name) {
            let Ok(metadata) = entry.metadata() else { continue };
            let changed = metadata.mtime();
            let stamp_ns = changed.saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
            let stamp_ns = if stamp_ns < still_ns { stamp_ns } else { 0 };
            is_settled &= stamp_ns != 0;
            let file = File { name, size: metadata.size().cast_signed(), stamp_ns, changed };
            // The order in which files are listed means nothing.
            shelf.signature = shelf.signature.wrapping_add(file.signature());
            shelf.files.push(file);
        }
    }
    if !is_settled {
        shelf.signature = 0;
    }
    Ok(shelf)
}

impl File {
    fn signature(&self) -> i64 {
        let mut hasher = DefaultHasher::new();
        (&self.name, self.size, self.stamp_ns).hash(&mut hasher);
        hasher.finish().cast_signed()
    }
}

/// A name in a folder, as a path.
pub(super) fn beneath(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn is_note(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["md", "markdown", "txt"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}
