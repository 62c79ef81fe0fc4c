//! Places in a workspace that decide what happens later, outside of any agent's work: whoever may write them may do anything.
//! They are protected also where they do not exist yet.

/// Folders and files by the end of their path, in small letters; a folder protects all that is in it.
const PLACES: [&str; 35] = [
    ".git/hooks",
    ".git/config",
    ".git/modules",
    ".git/info/attributes",
    ".gitmodules",
    ".gitconfig",
    ".husky",
    ".majordomo",
    ".mcp.json",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".opencode",
    ".agents",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".idea",
    ".envrc",
    ".direnv",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".cargo/config",
    ".cargo/config.toml",
    ".ssh",
    ".npmrc",
];

/// The protected place that a path leads into, whatever folder it begins in.
pub(crate) fn place(path: &str) -> Option<&'static str> {
    let path = path.to_lowercase();
    let mut names: Vec<&str> = Vec::new();
    for name in path.split(['/', '\\']) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let leads_into = |place: &&&str| {
        let wanted: Vec<&str> = place.split('/').collect();
        names.windows(wanted.len()).any(|found| found == wanted)
    };
    PLACES.iter().find(leads_into).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    // T19
    #[test]
    fn a_protected_place_is_known_at_any_depth_and_however_it_is_written() {
        let inside = [
            (".git/hooks/pre-commit", ".git/hooks"),
            ("sub/new/.git/hooks/post-merge", ".git/hooks"),
            ("./a/../.git//hooks/x", ".git/hooks"),
            (".GIT/Hooks/x", ".git/hooks"),
            (".majordomo/agents/evil.md", ".majordomo"),
            ("x/.bashrc", ".bashrc"),
            (".vscode/tasks.json", ".vscode/tasks.json"),
            ("/home/ann/.ssh/authorized_keys", ".ssh"),
        ];
        for (path, expected) in inside {
            assert_eq!(place(path), Some(expected), "{path}");
        }
        for path in ["src/hooks/mod.rs", ".github/README.md", "git/hooks/x", "profile", "a.bashrc", ".vscode/x", ""] {
            assert_eq!(place(path), None, "{path}");
        }
    }
}
