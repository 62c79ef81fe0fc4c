//! The files of a workspace that a command names, as they are at this moment: an approval of `sh deploy.sh` holds for the script that was there
//! when it was asked for, and where it is another one by then, a person is asked again (T20).
//!
//! More files may be found than the command would read, never less on purpose: a word is looked for in every folder that the command names, and
//! where the shell computes a name, it may be that of any file in these folders. What such a file reads besides is not looked at.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::named;

/// A file is read so far. One that is longer is known by its inode and times, too, which cannot be set.
const MOST_BYTES: u64 = 1 << 20;
/// So many files are read. The rest is known by inode, length and times.
const MOST_FILES: usize = 32;
/// In so many folders files are looked for, and for so many words also those that a program finds without being told their whole name.
const MOST_FOLDERS: usize = 16;
const MOST_WORDS: usize = 512;

/// What the shell makes other names of: variables, commands, patterns, lists.
const COMPUTES: [char; 6] = ['$', '`', '*', '?', '[', '{'];

/// A digest of the files that a command names; empty where it names none.
pub(super) fn contents(command: &str, cwd: &Path, root: &Path) -> String {
    let files = files(command, cwd, root);
    if files.is_empty() {
        return String::new();
    }
    let mut hasher = blake3::Hasher::new();
    for (at, path) in files.iter().enumerate() {
        hasher.update(path.as_os_str().as_encoded_bytes());
        let Ok(there) = fs::metadata(path) else { continue };
        hasher.update(&there.len().to_le_bytes());
        if at >= MOST_FILES || there.len() > MOST_BYTES {
            for number in stamp(&there) {
                hasher.update(&number.to_le_bytes());
            }
        }
        if at < MOST_FILES {
            // One that cannot be read cannot be run by any command that this program starts.
            let Ok(file) = File::open(path) else { continue };
            let _ = hasher.update_reader(file.take(MOST_BYTES));
        }
    }
    format!(" {}", hasher.finalize().to_hex())
}

/// What is never the same again once a file was changed: no program can set the time of the last change of anything about it.
fn stamp(there: &Metadata) -> [i64; 3] {
    [there.ino().cast_signed(), there.ctime(), there.ctime_nsec()]
}

/// The real paths of the files of a workspace that a command may name.
fn files(command: &str, cwd: &Path, root: &Path) -> BTreeSet<PathBuf> {
    let words = words(command);
    let mut folders = vec![cwd.to_owned()];
    for word in &words {
        let named = cwd.join(word).canonicalize().ok().filter(|path| path.starts_with(root) && path.is_dir());
        if let Some(folder) = named.filter(|path| folders.len() < MOST_FOLDERS && !folders.contains(path)) {
            folders.push(folder);
        }
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in &folders {
        found.extend(words.iter().map(|word| folder.join(word)));
        found.extend(words.iter().take(MOST_WORDS).flat_map(|word| named::guesses(word, folder)));
        if command.contains(COMPUTES) {
            found.extend(fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    let real = found.into_iter().filter_map(|path| path.canonicalize().ok());
    real.filter(|real| real.starts_with(root) && real.is_file()).collect()
}

/// The words of a command, and the pieces of words in which an option or a variable may name a file.
fn words(command: &str) -> BTreeSet<String> {
    let plain = command.replace(['"', '\'', '\\'], "");
    let is_end = |c: char| c.is_whitespace() || ";|&()<>\"'`".contains(c);
    let is_piece = |c: char| is_end(c) || "=:,@{}".contains(c);
    let all = command.split(is_end).chain(plain.split(is_end)).chain(plain.split(is_piece));
    // What stands before a slash may be computed, such as a folder in a variable.
    let with_ends = all.flat_map(|word| [Some(word), word.split_once('/').map(|(_, end)| end)]).flatten();
    with_ends.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        files.iter().for_each(|name| write(&root, name, "echo one"));
        (folder, root)
    }

    fn write(root: &Path, name: &str, text: &str) {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }

    // T20
    #[test]
    fn another_script_is_another_call() {
        let (_folder, root) = room(&["deploy.sh"]);
        let said = |command: &str| contents(command, &root, &root);
        let (plain, quoted) = (said("sh deploy.sh --now"), said("FILE='./deploy.sh'; sh deploy.sh"));
        assert!(!plain.is_empty() && plain == quoted, "it is the same file");
        assert_eq!(said("sh deploy.sh --now"), plain);
        write(&root, "deploy.sh", "echo two");
        assert_ne!(said("sh deploy.sh --now"), plain);
        assert_eq!(said("make all"), "");
        assert_eq!(said("cat /etc/hostname"), "", "other files are not its workspace's");
    }

    // T20
    #[test]
    fn another_script_is_another_call_however_the_command_leads_to_it() {
        for (file, command) in [
            ("sub/deploy.sh", "cd sub && sh deploy.sh"),
            ("sub/deploy.sh", "cd \"sub\"; ./deploy.sh"),
            ("sub/deploy.sh", "d=sub; sh $d/deploy.sh"),
            ("sub/deploy.sh", "pushd sub; sh deploy.sh"),
            ("sub/deploy.sh", "PATH=sub:$PATH deploy.sh"),
            ("sub/deploy.sh", "env -C sub sh deploy.sh"),
            ("sub/deploy.sh", "\"$PWD\"/sub/deploy.sh"),
            ("deploy.sh", "sh dep*.sh"),
            ("deploy.sh", "sh {deploy,other}.sh"),
            ("deploy.sh", "x=deploy; sh $x.sh"),
            ("deploy.sh", "sh $(ls | head -1)"),
            ("deploy.sh", "sh de\\ploy.sh"),
            ("deploy.sh", "sh de\"plo\"y.sh"),
            ("deploy.sh", "tool --script=deploy.sh"),
            ("deploy.sh", "gcc @deploy.sh"),
            ("Makefile", "make all"),
            ("sub/Makefile", "make -C sub all"),
            ("package.json", "npm run build"),
            ("foo/bar.py", "python3 -m foo.bar"),
        ] {
            let (_folder, root) = room(&[file]);
            let before = contents(command, &root, &root);
            write(&root, file, "echo two");
            assert_ne!(contents(command, &root, &root), before, "{command}");
        }
    }

    // T20
    #[test]
    fn neither_many_files_nor_a_long_one_hide_a_change() {
        let many: Vec<String> = (0..MOST_FILES + 8).map(|number| format!("a{number:02}")).collect();
        let (_folder, root) = room(&many.iter().map(String::as_str).chain(["z.sh"]).collect::<Vec<_>>());
        let command = format!("cat {}; sh z.sh", many.join(" "));
        let before = contents(&command, &root, &root);
        write(&root, "z.sh", "echo two");
        assert_ne!(contents(&command, &root, &root), before);
        let long = |end: &str| "#\n".repeat(1 << 20) + end;
        write(&root, "z.sh", &long("echo one"));
        let before = contents("sh z.sh", &root, &root);
        write(&root, "z.sh", &long("echo two"));
        assert_ne!(contents("sh z.sh", &root, &root), before);
    }
}
