//! The files of a project that commands name: who can change them changes what is run. They are part of what trust covers, and protected
//! while agents work.
//!
//! What a command reads besides, such as a module that a script loads, is not known here.

use std::path::{Component, Path, PathBuf};

use crate::trust::File;

/// The variables by which hooks name the folder of the project.
pub(crate) const FOLDERS: [&str; 2] = ["CLAUDE_PROJECT_DIR", "MAJORDOMO_PROJECT_DIR"];

/// The files that the words of a command name, from the project: as a word, or behind the sign of an option. A word with a slash counts
/// also where nothing is there yet.
pub(crate) fn in_words<'a>(words: impl Iterator<Item = &'a str>, from: &Path, project: &Path) -> Vec<PathBuf> {
    let words = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, path)| path)]);
    let mut files: Vec<PathBuf> = words.flatten().filter_map(|word| below(word, from, project)).collect();
    files.sort();
    files.dedup();
    files
}

/// The same for a line that a shell reads. More may be found than the shell would run, never less on purpose.
pub(crate) fn in_line(line: &str, project: &Path) -> Vec<PathBuf> {
    let root = project.to_string_lossy();
    let line = FOLDERS.iter().fold(line.to_owned(), |line, name| {
        line.replace(&format!("${{{name}}}"), &root).replace(&format!("${name}"), &root)
    });
    let is_end = |c: char| c.is_whitespace() || ";|&()<>\"'`".contains(c);
    // A quote may stand in the middle of a word.
    let joined = line.replace(['"', '\''], "");
    in_words(line.split(is_end).chain(joined.split(is_end)), project, project)
}

/// The path of a word from the project; none where it names nothing there.
fn below(word: &str, from: &Path, project: &Path) -> Option<PathBuf> {
    if word.is_empty() || word.starts_with('-') || word.contains("://") {
        return None;
    }
    let mut whole = PathBuf::new();
    for part in from.join(word).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    let real = whole.canonicalize().ok();
    let root = project.canonicalize().unwrap_or_else(|_| project.to_owned());
    let inside = |path: &Path| {
        let below = path.strip_prefix(&root).or_else(|_| path.strip_prefix(project)).ok()?;
        (!below.as_os_str().is_empty()).then(|| below.to_owned())
    };
    match real {
        Some(real) if real.is_file() => inside(&real),
        Some(_) => None,
        None if word.contains('/') => inside(&whole),
        None => None,
    }
}

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
    fn files_are_found_in_words_and_in_lines_of_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("tools")).unwrap();
        for name in ["tools/check.sh", "serve.py"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let line = |line: &str| in_line(line, root).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(line("bash ./tools/check.sh --strict"), ["tools/check.sh"]);
        assert_eq!(line("\"$CLAUDE_PROJECT_DIR\"/tools/check.sh && python3 serve.py"), ["serve.py", "tools/check.sh"]);
        assert_eq!(line("${MAJORDOMO_PROJECT_DIR}/tools/new.sh"), ["tools/new.sh"], "also what is not there yet");
        assert_eq!(line("cat /etc/passwd; echo ../outside/x https://a.example/serve.py"), [""; 0]);
        let words = |words: &[&str]| in_words(words.iter().copied(), &root.join("tools"), root).len();
        assert_eq!((words(&["sh", "check.sh"]), words(&["--config=check.sh"]), words(&["../serve.py"])), (1, 1, 1));
        assert_eq!(digests(root, [PathBuf::from("serve.py"), PathBuf::from("tools/new.sh")]).len(), 1);
    }
}
