//! T68: a protected path that is written by redirection, copy, move, link, archive or interpreter is not written without a
//! person's consent, in any sandbox; nor does the user's own git run what was put there.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::played;
use crate::site::{KINDS, Site};
use crate::variants::{self, PLACES};

#[test]
fn every_kind_of_sandbox_is_in_force_here() {
    let site = Site::new();
    KINDS.iter().for_each(|kind| site.assert_in_force(kind));
}

#[test]
fn no_way_to_write_reaches_a_protected_path_without_consent() {
    let variants = variants::writes();
    assert!(variants.len() >= 600, "{}", variants.len());
    let commands: Vec<String> = played(variants).into_iter().map(|(command, _)| command).collect();
    for kind in KINDS {
        for mode in ["auto", "ask", "dangerous"] {
            // Each on its own, or the damage of one could hide that of another.
            for commands in commands.chunks(20) {
                let site = Site::new();
                site.write(".envrc", "mine");
                site.write(".vscode/tasks.json", "mine");
                let before = protected(&site);
                site.runs(kind, mode, commands);
                let after = protected(&site);
                assert_eq!(before, after, "{kind} {mode}\n{}", commands.join("\n"));
                site.git_by_hand(&format!("{kind} {mode}\n{}", commands.join("\n")));
            }
        }
    }
}

// T33, T66: settings of git that the user made name a program of the workspace.
#[test]
fn no_way_to_write_reaches_a_program_that_the_users_git_runs() {
    const PROGRAM: &str = "tools/clean.sh";
    let commands: Vec<String> =
        played(variants::writes_of(&[PROGRAM])).into_iter().map(|(command, _)| command).collect();
    assert!(!commands.is_empty());
    for kind in KINDS {
        for mode in ["auto", "ask", "dangerous"] {
            let site = Site::new();
            site.write(PROGRAM, "#!/bin/sh\ncat\n");
            fs::set_permissions(site.path(PROGRAM), PermissionsExt::from_mode(0o755)).expect("permissions");
            let settings = fs::read_to_string(site.path(".git/config")).expect("settings");
            site.write(".git/config", &format!("{settings}[filter \"mine\"]\n\tclean = {PROGRAM}\n"));
            site.write(".gitattributes", "* filter=mine\n");
            site.runs(kind, mode, &commands);
            site.writes(kind, mode, &[PROGRAM.to_owned()]);
            let held = fs::read_to_string(site.path(PROGRAM)).ok();
            assert_eq!(held.as_deref(), Some("#!/bin/sh\ncat\n"), "{kind} {mode}\n{}", commands.join("\n"));
            site.git_by_hand(&format!("{kind} {mode}\n{}", commands.join("\n")));
        }
    }
}

/// What the protected paths hold; nothing where nothing is, or nothing that any program could obey.
fn protected(site: &Site) -> Vec<(&'static str, Option<String>)> {
    let held = |place: &str| fs::read_to_string(site.path(place)).ok().filter(|text| !text.is_empty());
    PLACES.iter().map(|place| (*place, held(place))).collect()
}
