//! Bytes that belong to a conversation and are no text, kept in the data folder under the digest of what they are. The log names them by that
//! digest.
//!
//! Bytes are whole on the disk before anything in the log names them, and are never changed: the same bytes kept twice are one file. Absent:
//! removing them, for any thread of the log may name them.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::workspace::leftover;

/// The folder in the data folder.
const FOLDER: &str = "artefacts";

/// What is kept in one data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artefacts {
    folder: PathBuf,
}

impl Artefacts {
    /// What is kept in this data folder. Nothing is created before something is kept.
    pub fn at(data: &Path) -> Self {
        Self { folder: data.join(FOLDER) }
    }

    /// The digest by which bytes are found.
    pub fn digest(bytes: &[u8]) -> String {
        blake3::hash(bytes).to_hex().to_string()
    }

    /// Keeps bytes; the digest by which they are found again.
    pub fn keep(&self, bytes: &[u8]) -> io::Result<String> {
        let digest = Self::digest(bytes);
        let path = self.folder.join(&digest);
        if fs::metadata(&path).is_ok_and(|found| found.len() == bytes.len() as u64) {
            return Ok(digest);
        }
        fs::create_dir_all(&self.folder)?;
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(0o700))?;
        // Another process may keep the same bytes at this moment: each writes a file of its own, and the last name wins.
        let folder = Dir::open_ambient_dir(&self.folder, ambient_authority())?;
        let (passing, mut file) = leftover::make(&folder, 0o600)?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| folder.rename(&passing, &folder, &digest));
        if written.is_err() {
            // It is useless, and what went wrong is told.
            let _ = folder.remove_file(&passing);
        }
        written?;
        File::open(&self.folder)?.sync_all()?;
        Ok(digest)
    }

    /// The bytes of a digest; none where they are missing, or are no longer what they were.
    pub fn read(&self, digest: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.path(digest)?).ok()?.read_to_end(&mut bytes).ok()?;
        (Self::digest(&bytes) == digest).then_some(bytes)
    }

    /// Whether a file of this size is kept under a digest. Its bytes are not read.
    pub fn holds(&self, digest: &str, bytes: u64) -> bool {
        self.path(digest).is_some_and(|path| fs::metadata(path).is_ok_and(|found| found.len() == bytes))
    }

    /// Where the bytes of a digest lie; none for what is no digest.
    fn path(&self, digest: &str) -> Option<PathBuf> {
        // A digest is a file's name here, and comes from a log that may have been written by another program.
        let is_digest = !digest.is_empty() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| self.folder.join(digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_kept_once_and_found_by_their_digest() {
        let data = tempfile::tempdir().expect("a folder");
        let artefacts = Artefacts::at(data.path());
        let digest = artefacts.keep(b"picture").expect("kept");
        assert_eq!(artefacts.keep(b"picture").expect("kept"), digest);
        assert_eq!(artefacts.read(&digest).as_deref(), Some(&b"picture"[..]));
        assert_eq!(fs::read_dir(data.path().join(FOLDER)).expect("a folder").count(), 1);
    }

    #[test]
    fn bytes_that_are_missing_or_changed_are_not_shown() {
        let data = tempfile::tempdir().expect("a folder");
        let artefacts = Artefacts::at(data.path());
        let digest = artefacts.keep(b"picture").expect("kept");
        fs::write(data.path().join(FOLDER).join(&digest), b"another").expect("written");
        assert_eq!(artefacts.read(&digest), None);
        for wrong in ["", "..", "../majordomo.db", "00"] {
            assert_eq!(artefacts.read(wrong), None, "{wrong}");
        }
    }
}
