//! T66: a repository that is renamed, replaced or redirected by commands is put back, and the user's own git runs no foreign
//! code afterwards.

use crate::played;
use crate::site::{KINDS, Site, differences};
use crate::variants::quoted;

/// Ways to make another repository; `$g` is its folder.
const MAKE: [&str; 4] = [
    "cp -r .git $g; printf '[core]\\n\\tfsmonitor = ./evil.sh\\n\\trepositoryformatversion = 0\\n' > $g/config",
    "git init -q tmp; mv tmp/.git $g; git config -f $g/config core.fsmonitor ./evil.sh; git config -f $g/config diff.external ./evil.sh",
    "mkdir -p $g/hooks $g/objects $g/refs; echo 'ref: refs/heads/main' > $g/HEAD; cp evil.sh $g/hooks/pre-commit; printf '[core]\\n\\thooksPath = .\\n\\tpager = ./evil.sh\\n' > $g/config",
    "cp -r .git $g; cp evil.sh $g/hooks/pre-commit; cp evil.sh $g/hooks/post-index-change; printf '* filter=x diff=x\\n' > $g/info/attributes; printf '[filter \"x\"]\\n\\tclean = ./evil.sh\\n' >> $g/config",
];

/// Ways to make git use it.
const USE: [&str; 18] = [
    "mv .git .old; mv $g .git",
    "mv .git d/; mv $g .git",
    "rm -rf .git; mv $g .git",
    "mv .git .old; ln -s $g .git",
    "mv .git .old; echo \"gitdir: $g\" > .git",
    "mv .git .old; echo \"gitdir: $PWD/$g\" > .git",
    "echo \"../$g\" > .git/commondir",
    "echo \"$PWD/$g\" > .git/commondir",
    "cp $g/config .git/config",
    "cp $g/config .git/config.worktree; git config extensions.worktreeConfig true",
    "mkdir -p .git/hooks; cp -r $g/hooks/. .git/hooks/",
    "mkdir -p sub; mv $g sub/.git",
    "mkdir -p sub; echo \"gitdir: ../$g\" > sub/.git; git add sub",
    "mkdir -p sub; mv $g sub/.git; git add sub; git commit -qm sub",
    "mv $g/* d/",
    "mkdir -p .git/modules/x; mv $g/* .git/modules/x/; mkdir -p sub; echo 'gitdir: ../.git/modules/x' > sub/.git",
    "mkdir -p .git/worktrees/x; mv $g/* .git/worktrees/x/; mkdir -p sub; echo 'gitdir: ../.git/worktrees/x' > sub/.git",
    "mkdir -p .git/rebase-merge; printf 'exec ./evil.sh\\n' > .git/rebase-merge/git-rebase-todo; echo main > .git/rebase-merge/head-name; git rev-parse HEAD > .git/rebase-merge/onto",
];

/// Every way, as a command and as a script of which the command says nothing.
fn variants() -> Vec<String> {
    let mut all = Vec::new();
    for make in MAKE {
        for way in USE {
            let script = format!("g=.g2; {make}; {way}");
            all.push(format!("printf '%s\\n' {} > s.sh; bash s.sh", quoted(&script)));
            all.push(script.replace("$g", ".g2"));
            all.push(format!(
                "python3 -c \"import subprocess; subprocess.run(['bash', '-c', open('s.py').read()])\" # {script}"
            ));
        }
    }
    all
}

/// Where a command that writes runs without a person.
const FREE: [(&str, &str); 5] = [
    ("bubblewrap", "auto"),
    ("landlock", "auto"),
    ("bubblewrap", "dangerous"),
    ("landlock", "dangerous"),
    ("off", "dangerous"),
];

#[test]
fn a_repository_is_neither_replaced_nor_redirected() {
    let variants = variants();
    assert!(variants.len() >= 60);
    for (kind, mode) in FREE {
        for command in played(variants.clone()) {
            let site = Site::new();
            site.write("s.py", command.split_once("# ").map_or("", |(_, script)| script));
            let config = std::fs::read_to_string(site.path(".git/config")).expect("a config");
            site.runs(kind, mode, std::slice::from_ref(&command));
            let what = format!("{kind} {mode}: {command}");
            // What was deleted cannot be put back; nothing else is in its place either.
            if !command.contains("rm -rf .git") {
                assert_eq!(std::fs::read_to_string(site.path(".git/config")).ok(), Some(config), "{what}");
                assert!(site.path(".git/objects").is_dir(), "{what}");
            }
            site.git_by_hand(&what);
        }
    }
}

#[test]
fn where_nothing_may_be_written_a_repository_stays_as_it_is() {
    for (kind, mode) in KINDS.iter().flat_map(|kind| [(*kind, "plan"), (*kind, "ask")]).chain([("off", "auto")]) {
        let site = Site::new();
        let before = site.state();
        site.runs(kind, mode, &played(variants()));
        let changed = differences(&before, &site.state());
        assert!(changed.is_empty(), "{kind} {mode}: {changed:#?}");
    }
}
