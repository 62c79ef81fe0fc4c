//! The files of a folder that a command names: who can change them changes what is run. Those that commands of servers and hooks name are
//! protected while agents work, and an approval of a command holds for the files that it named when it was asked for.
//!
//! What a command reads besides, such as a module that a script loads, is not known here.

use std::path::{Component, Path, PathBuf};

/// The variables by which hooks name the folder of the project.
pub const FOLDERS: [&str; 2] = ["CLAUDE_PROJECT_DIR", "MAJORDOMO_PROJECT_DIR"];

/// The files that the words of a command name, from the project: as a word, or behind the sign of an option. A word with a slash counts
/// also where nothing is there yet.
pub fn in_words<'a>(words: impl Iterator<Item = &'a str>, from: &Path, project: &Path) -> Vec<PathBuf> {
    let words = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, path)| path)]);
    let mut files: Vec<PathBuf> = words.flatten().filter_map(|word| below(word, from, project)).collect();
    files.sort();
    files.dedup();
    files
}

/// Where the words of a line lead.
pub struct Places<'a> {
    /// The folder that the variables of hooks name.
    pub named: &'a Path,
    /// The folder in which the line is run.
    pub from: &'a Path,
    /// The folder whose files are looked for.
    pub project: &'a Path,
}

/// What programs read that are told no file: who can change it changes what they run.
const READ_UNTOLD: [(&[&str], &[&str]); 5] = [
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["npm", "npx", "pnpm", "yarn", "bun"], &["package.json"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["rake"], &["Rakefile"]),
];

/// What a program adds to a name to find the file that it runs.
const ENDINGS: [&str; 8] = [".sh", ".py", ".js", ".mjs", ".cjs", ".ts", "/index.js", "/__main__.py"];

/// The same for a line that a shell reads. More may be found than the shell would run, never less on purpose: a word is looked for from every
/// folder that the line names, with the usual endings, and a pattern stands for all files beside it.
pub fn in_line(line: &str, places: &Places<'_>) -> Vec<PathBuf> {
    let Places { named, from, project } = *places;
    let (root, here) = (named.to_string_lossy(), from.to_string_lossy());
    let mut line = FOLDERS.iter().fold(line.to_owned(), |line, name| {
        line.replace(&format!("${{{name}}}"), &root).replace(&format!("${name}"), &root)
    });
    for pwd in ["${PWD}", "$PWD", "$(pwd)", "`pwd`"] {
        line = line.replace(pwd, &here);
    }
    let is_end = |c: char| c.is_whitespace() || ";|&()<>\"'`".contains(c);
    // A quote or a backslash may stand in the middle of a word.
    let (joined, plain) = (line.replace(['"', '\''], ""), line.replace(['"', '\'', '\\'], ""));
    let words =
        || line.split(is_end).chain(joined.split(is_end)).chain(plain.split(is_end)).filter(|word| !word.is_empty());
    let folders = words().map(|word| from.join(word)).filter(|path| path.is_dir());
    let mut folders: Vec<PathBuf> = folders.chain([from.to_owned()]).collect();
    folders.sort();
    folders.dedup();
    let mut found = Vec::new();
    for folder in &folders {
        found.extend(in_words(words(), folder, project));
        let guessed = words().flat_map(|word| guesses(word, folder));
        found.extend(guessed.filter(|path| path.is_file()).filter_map(|path| below(path.to_str()?, folder, project)));
    }
    found.sort();
    found.dedup();
    found
}

/// Files that a word may stand for without naming them.
pub(crate) fn guesses(word: &str, folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ENDINGS.iter().map(|ending| folder.join(format!("{word}{ending}"))).collect();
    // A module of Python.
    let module = word.replace('.', "/");
    all.extend([".py", "/__main__.py", "/__init__.py"].map(|ending| folder.join(format!("{module}{ending}"))));
    let program = word.rsplit('/').next().unwrap_or(word);
    let untold = READ_UNTOLD.iter().filter(|(programs, _)| programs.contains(&program)).flat_map(|(_, files)| *files);
    all.extend(untold.map(|file| folder.join(file)));
    if word.contains(['*', '?', '[']) {
        let beside = folder.join(word.rsplit_once('/').map_or("", |(above, _)| above));
        all.extend(std::fs::read_dir(beside).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    all
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
        let places = Places { named: root, from: root, project: root };
        let line =
            |line: &str| in_line(line, &places).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(line("bash ./tools/check.sh --strict"), ["tools/check.sh"]);
        assert_eq!(line("\"$CLAUDE_PROJECT_DIR\"/tools/check.sh && python3 serve.py"), ["serve.py", "tools/check.sh"]);
        assert_eq!(line("${MAJORDOMO_PROJECT_DIR}/tools/new.sh"), ["tools/new.sh"], "also what is not there yet");
        assert_eq!(line("cat /etc/passwd; echo ../outside/x https://a.example/serve.py"), [""; 0]);
        let words = |words: &[&str]| in_words(words.iter().copied(), &root.join("tools"), root).len();
        assert_eq!((words(&["sh", "check.sh"]), words(&["--config=check.sh"]), words(&["../serve.py"])), (1, 1, 1));
    }

    // T48, T66
    #[test]
    fn files_are_found_however_a_line_leads_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("pkg/tools")).unwrap();
        for name in
            ["pkg/tools/check.sh", "pkg/tools/lint.py", "pkg/tools/serve.js", "pkg/Makefile", "pkg/package.json"]
        {
            std::fs::write(root.join(name), "").unwrap();
        }
        let pkg = root.join("pkg");
        let places = Places { named: root, from: &pkg, project: &pkg };
        for (line, file) in [
            ("cd tools && ./check.sh", "tools/check.sh"),
            ("env -C tools ./check.sh", "tools/check.sh"),
            ("pushd tools; sh check.sh", "tools/check.sh"),
            ("\"$PWD\"/tools/check.sh", "tools/check.sh"),
            ("$(pwd)/tools/check.sh", "tools/check.sh"),
            ("for each in ./tools/*.sh; do $each; done", "tools/check.sh"),
            ("F=./tools/check.sh; $F", "tools/check.sh"),
            ("./tools/che\\ck.sh", "tools/check.sh"),
            ("python3 -m tools.lint", "tools/lint.py"),
            ("node tools/serve", "tools/serve.js"),
            ("make -s check", "Makefile"),
            ("npm run check", "package.json"),
            ("\"$CLAUDE_PROJECT_DIR\"/pkg/tools/check.sh", "tools/check.sh"),
        ] {
            let found = in_line(line, &places);
            assert!(found.contains(&PathBuf::from(file)), "{line}: {found:?}");
        }
        assert!(in_line("jq . && echo done", &places).is_empty());
    }
}
