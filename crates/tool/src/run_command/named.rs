//! The files of a workspace that the words of a command name, as they are at this moment: an approval of `sh deploy.sh` holds for the script that
//! was there when it was asked for, and where it is another one by then, a person is asked again (T20).
//!
//! What such a file reads besides is not looked at.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file is read so far. One that is longer is known by its length, too.
const MOST_BYTES: u64 = 1 << 20;
/// So many files are looked at.
const MOST_FILES: usize = 32;

/// A digest of the files that a command names; empty where it names none.
pub(super) fn contents(command: &str, cwd: &Path, root: &Path) -> String {
    let is_end = |c: char| c.is_whitespace() || ";|&()<>=\"'`".contains(c);
    let words: BTreeSet<&str> = command.split(is_end).filter(|word| !word.is_empty()).collect();
    let inside = |word: &str| -> Option<PathBuf> {
        let real = cwd.join(word).canonicalize().ok()?;
        (real.starts_with(root) && real.is_file()).then_some(real)
    };
    let files: BTreeSet<PathBuf> = words.into_iter().filter_map(inside).take(MOST_FILES).collect();
    if files.is_empty() {
        return String::new();
    }
    let mut hasher = blake3::Hasher::new();
    for path in &files {
        hasher.update(path.as_os_str().as_encoded_bytes());
        // One that cannot be read can be run by nobody whom this program starts.
        let Ok(file) = File::open(path) else { continue };
        hasher.update(&file.metadata().map_or(0, |found| found.len()).to_le_bytes());
        let _ = hasher.update_reader(file.take(MOST_BYTES));
    }
    format!(" {}", hasher.finalize().to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    // T20
    #[test]
    fn another_script_is_another_call() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let write = |text: &str| std::fs::write(root.join("deploy.sh"), text).unwrap();
        write("echo one");
        let said = |command: &str| contents(command, &root, &root);
        let (plain, quoted) = (said("sh deploy.sh --now"), said("FILE='./deploy.sh'; sh \"$FILE\""));
        assert!(!plain.is_empty() && plain == quoted, "it is the same file");
        assert_eq!(said("sh deploy.sh --now"), plain);
        write("echo two");
        assert_ne!(said("sh deploy.sh --now"), plain);
        assert_eq!(said("make all"), "");
        assert_eq!(said("cat /etc/hostname"), "", "other files are not its workspace's");
    }
}
