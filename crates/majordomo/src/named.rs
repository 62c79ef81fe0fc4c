//! The files of a project that the commands of its servers and hooks name ([`tool::named`]), as trust keeps them: by a digest of their bytes.

use std::path::{Path, PathBuf};

pub(crate) use tool::named::{Places, in_line, in_words};

use crate::trust::File;

/// Files of a project as trust keeps them: of each, the text is a digest of its bytes.
pub(crate) fn digests(project: &Path, files: impl IntoIterator<Item = PathBuf>) -> Vec<File> {
    let there = files.into_iter().map(|file| project.join(file)).filter(|path| path.is_file());
    let file = |path: PathBuf| {
        let text = digest(&path).map_err(|error| error.to_string());
        File { path, text }
    };
    there.map(file).collect()
}

/// Read part by part: a file that a command names may be large.
fn digest(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut std::fs::File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    // T48
    #[test]
    fn a_file_that_is_not_there_yet_has_no_digest() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("serve.py"), "").unwrap();
        assert_eq!(digests(folder.path(), [PathBuf::from("serve.py"), PathBuf::from("tools/new.sh")]).len(), 1);
    }
}
