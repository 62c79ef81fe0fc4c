//! Small files of ours in the folder for state: changed under a lock, replaced whole, private to their owner.
//!
//! What is in them is left to whoever keeps one (`rules`, `trust`).

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::config::Error;

/// Puts another text in the place of a file's, or leaves it where `edit` has none. A file that is not there is empty.
/// Two processes that change it at once do so one after the other; whoever reads meanwhile reads one text or the other.
pub(crate) fn change(path: &Path, edit: impl FnOnce(&str) -> Result<Option<String>, Error>) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let _lock = locked(path).map_err(failed)?;
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
    };
    match edit(&text)? {
        Some(text) => replace(path, &text).map_err(failed),
        None => Ok(()),
    }
}

/// Waits until nobody else changes the file; it is let go of with the handle.
fn locked(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let lock = File::options().write(true).create(true).truncate(false).mode(0o600).open(beside(path, ".lock"))?;
    lock.lock()?;
    Ok(lock)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let fresh = beside(path, ".new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // Left by a process that died before it was whole, or not there.
        _ => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    use super::*;

    #[test]
    fn a_file_is_private_whole_and_loses_no_change_of_two_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state/kept.toml");
        thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..25 {
                        change(path, |text| Ok(Some(format!("{text}{writer}.{number}\n")))).expect("changed");
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).expect("a file");
        assert_eq!(text.lines().count(), 100);
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(folder.path().join("state")).expect("a folder").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_is_not_to_be_changed_is_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept.toml");
        change(&path, |_| Ok(None)).expect("nothing to do");
        assert!(!path.exists());
    }
}
