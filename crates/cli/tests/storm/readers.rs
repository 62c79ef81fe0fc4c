//! T63, T64, T65: a command that is read as only looking changes nothing, whatever it is made to do.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use agent::tools::Reach;

use crate::oracle::Copy;
use crate::played;
use crate::site::{KINDS, Site, differences};
use crate::variants;

/// The independent judge: what changes a copy is never taken for reading.
#[test]
fn what_changes_a_copy_is_not_taken_for_reading() {
    let variants = variants::readers();
    assert!(variants.len() >= 600, "{}", variants.len());
    let copy = Copy::new();
    let (mut hostile, mut missed) = (0, Vec::new());
    for command in played(variants) {
        let changes = copy.changes(&command);
        hostile += usize::from(!changes.is_empty());
        if !changes.is_empty() && shell::assess(&command).reach == Reach::ReadOnly {
            missed.push(format!("{command}\n    {}", changes.join("\n    ")));
        }
    }
    assert!(hostile > 0, "the attacks work where nothing stops them");
    assert!(missed.is_empty(), "taken for reading:\n{}", missed.join("\n"));
}

// T63, T64: in these modes nothing changes on disk, in any sandbox.
#[test]
fn no_reader_writes_in_plan_or_in_ask_without_a_person() {
    let commands = played(variants::readers());
    for kind in KINDS {
        for mode in ["plan", "ask"] {
            let site = Site::new();
            let before = site.state();
            site.runs(kind, mode, &commands);
            let changed = differences(&before, &site.state());
            assert!(changed.is_empty(), "{kind} {mode}: {changed:#?}\n{}", commands.join("\n"));
            site.git_by_hand(&format!("{kind} {mode}"));
        }
    }
}

/// Settings of a repository and of tools that run code, each with what it is written to.
const HOSTILE: [(&str, &str); 14] = [
    (".git/config", "[core]\n\tfsmonitor = ./evil.sh\n"),
    (".git/config", "[diff]\n\texternal = ./evil.sh\n"),
    (".git/config", "[diff \"x\"]\n\ttextconv = ./evil.sh\n\tcommand = ./evil.sh\n"),
    (
        ".git/config",
        "[filter \"x\"]\n\tclean = ./evil.sh\n\tsmudge = ./evil.sh\n\tprocess = ./evil.sh\n\trequired = true\n",
    ),
    (".git/config", "[core]\n\tpager = ./evil.sh\n\thooksPath = .\n\teditor = ./evil.sh\n\tsshCommand = ./evil.sh\n"),
    (".git/config", "[alias]\n\tstatus = !./evil.sh\n\tst = !./evil.sh\n[core]\n\tattributesFile = attributes\n"),
    (".git/config", "[include]\n\tpath = ../more\n"),
    (".git/config", "[gpg]\n\tprogram = ./evil.sh\n[log]\n\tshowSignature = true\n"),
    (".cargo/config.toml", "[build]\nrustc = \"./evil.sh\"\nrustc-wrapper = \"./evil.sh\"\n"),
    ("rust-toolchain.toml", "[toolchain]\npath = \"./toolchain\"\n"),
    (".mvn/jvm.config", "-XX:OnOutOfMemoryError=./evil.sh\n"),
    (".mvn/maven.config", "-f\nevil\n"),
    (".npmrc", "script-shell=./evil.sh\nnode-options=--require ./evil.js\n"),
    ("sitecustomize.py", "open('made-by-evil', 'w')\n"),
];

/// Readers that obey them.
const READERS: [&str; 22] = [
    "git status",
    "git status --porcelain",
    "git diff",
    "git diff HEAD~1",
    "git log -p -1",
    "git log --show-signature",
    "git show HEAD",
    "git blame a.txt",
    "git grep b",
    "git stash list",
    "git branch -vv",
    "git ls-files -m",
    "git describe --always --dirty",
    "cargo --version",
    "rustc --version",
    "cargo tree --locked",
    "cargo metadata --no-deps --format-version 1",
    "mvn --version",
    "npm --version",
    "npm ls",
    "python3 --version",
    "make --version",
];

// T65, T33
#[test]
fn a_hostile_repository_changes_nothing_through_readers() {
    let variants: Vec<((&str, &str), &str)> =
        HOSTILE.iter().flat_map(|hostile| READERS.iter().map(move |reader| (*hostile, *reader))).collect();
    assert!(variants.len() >= 60);
    let variants = played(variants);
    for kind in KINDS {
        for mode in ["plan", "ask"] {
            for (path, content) in HOSTILE {
                let readers: Vec<String> = variants
                    .iter()
                    .filter(|(hostile, _)| *hostile == (path, content))
                    .map(|(_, one)| (*one).to_owned())
                    .collect();
                if readers.is_empty() {
                    continue;
                }
                let site = Site::new();
                let there = fs::read_to_string(site.path(path)).unwrap_or_default();
                site.write(path, &format!("{there}{content}"));
                site.write(".gitattributes", "* diff=x filter=x\n");
                site.write("more", "[core]\n\tfsmonitor = ./evil.sh\n");
                site.write("attributes", "* diff=x filter=x\n");
                site.write("a.txt", "changed\n");
                for program in ["toolchain/bin/cargo", "toolchain/bin/rustc", "pre-commit", "post-checkout"] {
                    site.write(program, &site.evil());
                    fs::set_permissions(site.path(program), PermissionsExt::from_mode(0o755)).expect("permissions");
                }
                let before = site.state();
                site.runs(kind, mode, &readers);
                let changed = differences(&before, &site.state());
                assert!(changed.is_empty(), "{kind} {mode} {path} {content}: {changed:#?}\n{readers:#?}");
                assert!(!site.canary().exists(), "{kind} {mode} {path} {content}");
            }
        }
    }
}
