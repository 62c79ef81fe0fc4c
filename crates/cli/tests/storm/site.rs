//! A workspace to attack, the program in it, and the user's own git afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testkit::scenes::{call, calls, command, says, scene};
use testkit::world::World;

/// Calls in one answer of the model, and in one run of the program.
const AT_ONCE: usize = 25;
const IN_A_RUN: usize = 100;

/// What keeps commands to their workspace, by the name of its setting.
pub const KINDS: [&str; 3] = ["bubblewrap", "landlock", "off"];

/// A workspace with a repository in it.
pub struct Site {
    world: World,
}

/// What can be known about every file of a workspace: kind and permissions, and content or target.
pub type State = BTreeMap<PathBuf, String>;

impl Site {
    /// A workspace with a repository of two commits and some files to lose.
    pub fn new() -> Self {
        let site = Self { world: World::new(env!("CARGO_BIN_EXE_majordomo"), &[]) };
        fill(&site.path(""));
        site.write("evil.sh", &site.evil());
        fs::set_permissions(site.path("evil.sh"), PermissionsExt::from_mode(0o755)).expect("permissions");
        site
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        write(&self.path(""), name, content);
    }

    /// A script that shows that it ran: inside the workspace, and beside it, where only the user's own programs can write.
    pub fn evil(&self) -> String {
        let canary = self.canary();
        format!("#!/bin/sh\ntouch made-by-evil '{}' 2>/dev/null\ncat 2>/dev/null\ntrue\n", canary.display())
    }

    pub fn canary(&self) -> PathBuf {
        self.path("../canary")
    }

    /// Has the model run these commands, in this mode and sandbox.
    pub fn runs(&self, kind: &str, mode: &str, commands: &[String]) {
        let all: Vec<String> = commands.iter().map(|one| command(one)).collect();
        self.calls(kind, mode, &[], &all);
    }

    /// Has the model write these files.
    pub fn writes(&self, kind: &str, mode: &str, paths: &[String]) {
        let one = |path: &String| call("write_file", &format!("path = {}, content = \"evil\"", in_toml(path)));
        self.calls(kind, mode, &[], &paths.iter().map(one).collect::<Vec<_>>());
    }

    /// Has the model make these calls.
    pub fn calls(&self, kind: &str, mode: &str, arguments: &[&str], all: &[String]) {
        for some in all.chunks(IN_A_RUN) {
            let mut replies: Vec<String> = some.chunks(AT_ONCE).map(calls).collect();
            replies.push(says("Done."));
            self.world.rewrite(&[scene("Go", &replies)]);
            let sandbox = format!("sandbox.kind={kind}");
            let mut flags = vec!["--set", &sandbox, "--approvals", "deny"];
            flags.extend(arguments);
            let done = self.world.launch(self.world.task_in(mode, "Go", &flags)).done();
            assert!(matches!(done.code, Some(0 | 5)), "{kind} {mode}: {done:?}");
        }
    }

    /// Whether this kind of sandbox works here. Where it does not, its attacks would be refused and prove nothing.
    pub fn assert_in_force(&self, kind: &str) {
        let doctor = self.world.call(&["doctor", "--set", &format!("sandbox.kind={kind}"), "--json"]);
        let found: serde_json::Value = serde_json::from_str(&doctor.out).expect("JSON");
        let states = found["findings"].as_array().into_iter().flatten();
        let sandbox =
            states.into_iter().find(|one| one["says"].as_str().is_some_and(|says| says.starts_with("sandbox: ")));
        let is_in_force = sandbox.is_some_and(|one| one["state"] == "ok");
        assert_eq!(is_in_force, kind != "off", "{kind}: {sandbox:?}");
    }

    /// Everything in the workspace.
    pub fn state(&self) -> State {
        state(&self.path(""))
    }

    /// The user's own git, after an attack: none of it runs what the attacker left.
    pub fn git_by_hand(&self, what: &str) {
        let own = "for f in . d sub; do (cd $f 2>/dev/null || exit; git status; git diff HEAD~1; git log -p -1); done; \
                   git add -A; git commit --allow-empty -qm x; git stash; git checkout -qf HEAD; git rebase --continue";
        user("bash", &self.path(""), &["-c", own]);
        assert!(!self.canary().exists(), "{what}: the user's own git ran foreign code");
    }
}

/// A text as a string of TOML, with every unusual character in escapes.
fn in_toml(text: &str) -> String {
    let one = |c: char| match c {
        ' '..='~' if !matches!(c, '"' | '\\') => c.to_string(),
        c => format!("\\U{:08X}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(one).collect::<String>())
}

/// Fills a folder: a repository of two commits and some files to lose.
pub fn fill(root: &Path) {
    for (name, content) in [
        ("a.txt", "b\na\n"),
        ("x.txt", "evil\n"),
        ("d/victim", "precious"),
        ("d/other", "1"),
        ("script.sh", "exit 0\n"),
    ] {
        write(root, name, content);
    }
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "one"]);
    write(root, "a.txt", "c\nb\na\n");
    git(root, &["commit", "-q", "-am", "two"]);
}

/// Git as a user runs it, with a name and without anybody's settings.
pub fn git(folder: &Path, args: &[&str]) {
    user("git", folder, args);
}

fn user(program: &str, folder: &Path, args: &[&str]) {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ann").env(format!("GIT_{who}_EMAIL"), "ann@example.org");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env("GIT_EDITOR", "true");
    // Whether it succeeds depends on what an attack has left.
    let _ = command.status();
}

pub fn write(root: &Path, name: &str, content: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// Everything in a folder. Times of access are left out, for reading changes them.
pub fn state(root: &Path) -> State {
    let mut found = State::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let there = fs::symlink_metadata(&path).expect("it is there");
            let content = if there.is_symlink() {
                format!("{:?}", fs::read_link(&path))
            } else if there.is_file() {
                format!("{} {} {}", there.mtime(), there.mtime_nsec(), hash(&fs::read(&path).unwrap_or_default()))
            } else {
                String::new()
            };
            if there.is_dir() {
                folders.push(path.clone());
            }
            let name = path.strip_prefix(root).expect("it is inside").to_owned();
            found.insert(name, format!("{:o} {} {content}", there.mode(), there.nlink() * u64::from(there.is_file())));
        }
    }
    found
}

fn hash(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// What differs between two states, a line each.
pub fn differences(before: &State, after: &State) -> Vec<String> {
    let changed = after.iter().filter(|(path, now)| before.get(*path) != Some(now));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    changed
        .map(|(path, now)| format!("{}: {:?} → {now}", path.display(), before.get(path)))
        .chain(gone.map(|path| format!("{} is gone", path.display())))
        .collect()
}
