//! Any bytes as a shell command, with a shell as the judge: a command that is read as only looking is run in a throw-away
//! folder, without a network and with everything else read-only, and the folder must stay as it is.
//!
//! Bytes choose pieces of commands, so that most of what is tried is a command at all; a leading `#` takes them as text.
#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use shell::assess;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let command = command(bytes);
    let seen = assess(&command);
    // The reach is compared by its name, for the crate that it comes from is not a dependency here.
    if format!("{:?}", seen.reach) != "ReadOnly" {
        return;
    }
    let place = PLACE.get_or_init(Place::new);
    let before = state(&place.work);
    place.run(&command);
    assert_eq!(before, state(&place.work), "read as only looking, and changes something: {command}");
});

/// A command from bytes.
fn command(bytes: &[u8]) -> String {
    match bytes.split_first() {
        Some((b'#', text)) => String::from_utf8_lossy(text).into_owned(),
        _ => bytes.iter().map(|byte| piece(usize::from(*byte))).collect(),
    }
}

fn piece(byte: usize) -> &'static str {
    let documents = 256 - DOCUMENTS.len();
    if byte >= documents { DOCUMENTS[byte - documents] } else { PIECES[byte % PIECES.len()] }
}

/// Pieces of here-documents.
const DOCUMENTS: [&str; 8] = ["<<E", "<<'E'", "<<-E", "\nE\n", "E", "\\\n", "\t", "touch made\n"];

/// Pieces of commands: readers, their options, builtins, quotes, expansions and what joins them.
const PIECES: [&str; 128] = [
    " ", " ", " ", "; ", " | ", " && ", " || ", " & ", "\n", "\"", "'", "\\", "$", "${", "}", "$(", ")", "`", "(", "{", ",", "..",
    "<", ">", ">>", "<<<", "2>", "=", "+=", "[", "]", "[[ ", " ]]", "((", "))", "$((", "$'", "\\x2d", "!", "*", "?", "~", "-", "--",
    "x", "y", "x=", "y=", "$x", "\"$x\"", "\"${x}\"", "${x:-", "${x:=", "${!x}", "$@", "\"$1\"", "$_", "$IFS",
    "for x in ", "; do ", "; done", "if ", "; then ", "; fi", "while ", "case x in *) ", ";; esac", "f() { ", "; }; f ", "set -- ",
    "find ", "find . ", "-delete", "-exec ", "-execdir ", "-fprint ", "-name ", " ';'", "{} ", "sort ", "-o", "-omade", "--output=made",
    "git ", "git log ", "git diff ", "git status ", "git branch ", "git tag ", "git config ", "-c ", "-C ", "sed ", "-i", "-n ", "w made",
    "awk ", "print > \"made\"", "system(\"touch made\")", "BEGIN", "printf ", "-v ", "wait ", "-p ", "test ", "read ", "unset ", "let ",
    "declare ", "eval ", "exec ", "command ", "env ", "xargs ", "touch ", "made", "a.txt ", "d/victim ", "cat ", "ls ", "echo ", "grep ",
    "uniq ", "tar ", "rm ", "tee ", "x[$(touch made)]", "bash -c ",
];

struct Place {
    _folder: PathBuf,
    work: PathBuf,
}

static PLACE: OnceLock<Place> = OnceLock::new();

impl Place {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("majordomo-fuzz-{}", std::process::id()));
        let work = folder.join("work");
        fs::create_dir_all(work.join("d")).expect("a folder");
        for (name, text) in [("a.txt", "b\na\n"), ("d/victim", "x"), ("made.sh", "touch made\n")] {
            fs::write(work.join(name), text).expect("a file");
        }
        let made = Command::new("git").args(["init", "-q"]).current_dir(&work).status();
        assert!(made.is_ok_and(|done| done.success()), "git is needed");
        Self { _folder: folder, work }
    }

    /// Runs a command that can reach nothing but the folder.
    fn run(&self, command: &str) {
        let work = self.work.to_str().expect("a path of text");
        let mut bwrap = Command::new("bwrap");
        bwrap.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", work, work]);
        bwrap.args(["--unshare-all", "--die-with-parent", "--new-session", "--chdir", work, "--setenv", "GIT_OPTIONAL_LOCKS", "0"]);
        bwrap.args(["timeout", "-s", "KILL", "2", "bash", "-c", command]);
        let done = bwrap.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        done.expect("bubblewrap is needed");
    }
}

/// Everything in a folder.
fn state(root: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, u64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let there = fs::symlink_metadata(entry.path()).expect("it is there");
            if there.is_dir() {
                folders.push(entry.path());
            }
            found.insert(entry.path(), (there.mode(), there.mtime(), there.mtime_nsec(), there.len()));
        }
    }
    found
}
