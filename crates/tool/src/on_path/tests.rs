use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::registry::Registry;
use crate::tool::test_support::TestWorkspace;
use crate::{CommandHost, write_file};

fn assess_with(workspace: &Path, tool: &str, input: &serde_json::Value) -> Assessment {
    let registry = Registry::standard(CommandHost::default());
    let info = registry.get(tool).expect("a tool of the workspace").info().clone();
    registry.assess(&workspace.display().to_string(), &info, &Json::of(input))
}

fn assess(workspace: &Path, path: &str) -> Assessment {
    assess_with(workspace, "write_file", &json!({ "path": path, "content": "x" }))
}

// T43
#[test]
fn however_a_file_is_spelt_rules_see_its_path_from_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("keys")).unwrap();
    std::fs::write(folder.path().join("keys/one"), "x").unwrap();
    symlink("keys", folder.path().join("innocent")).unwrap();
    let looked = |path: &str| assess_with(folder.path(), "read_file", &json!({ "file_path": path }));
    let whole = folder.path().join("keys/one").display().to_string();
    for path in ["keys/one", "./keys/one", "keys//./one", &whole] {
        let looked = looked(path);
        assert_eq!((&*looked.subjects, &*looked.effect), (&["keys/one".into()][..], "reads keys/one"), "{path}");
        assert!(looked.also.contains(&whole.as_str().into()), "{:?}", looked.also);
    }
    assert_eq!(looked("innocent/one").subjects, ["innocent/one".into(), "keys/one".into()]);
    assert_eq!(looked("innocent/new").subjects, ["innocent/new".into(), "keys/new".into()]);
}

// T43
#[test]
fn a_path_that_is_given_twice_is_not_read_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let twice = assess_with(folder.path(), "list_dir", &json!({ "file": "public", "dir": "keys" }));
    assert_eq!(&*twice.effect, "calls list_dir");
}

#[tokio::test]
async fn two_paths_in_one_call_are_an_error() {
    let room = TestWorkspace::with(&[("keys/one", b"x")]);
    let said = room.error(crate::list_dir::tool(), r#"{"file": "public", "dir": "keys"}"#).await;
    assert!(said.contains("both file and dir give a path; give one path"), "{said}");
}

#[test]
fn a_write_is_told_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("there"), "x").unwrap();
    let there = assess(folder.path(), "./there");
    assert_eq!((&*there.effect, there.risk), ("changes the file there", Risk::Medium));
    assert_eq!((there.subjects, there.standing), (vec!["there".into()], Some("there".into())));
    assert_eq!(&*assess(folder.path(), "a/b").effect, "creates the file a/b");
    assert_eq!(assess(folder.path(), "a*b").standing, None);
}

// T19
#[test]
fn a_protected_place_is_named_also_behind_a_link_and_is_never_consented_to_for_good() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    symlink(".git/hooks", folder.path().join("innocent")).unwrap();
    for path in [".git/hooks/pre-commit", "innocent/pre-commit", "sub/.git/hooks/x"] {
        let assessment = assess(folder.path(), path);
        assert_eq!(assessment.protected, [".git/hooks".into()], "{path}");
        assert_eq!((assessment.risk, assessment.standing), (Risk::High, None), "{path}");
    }
}

/// A workspace with these files.
fn room(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

// T66
#[test]
fn a_file_of_a_repository_is_protected_whatever_its_folder_is_called() {
    let folder = room(&[
        ("docs/HEAD", "ref: refs/heads/main"),
        ("docs/config", ""),
        ("docs/objects/x", ""),
        ("docs/refs/x", ""),
        // Not yet repositories.
        ("last/objects/x", ""),
        ("last/config", ""),
        ("parts/HEAD", ""),
        ("parts/config", ""),
        // A pointer leads to it, and the file that would make it known is gone.
        ("gutted/config", ""),
        ("gutted/objects/x", ""),
        ("gutted/worktrees/x/HEAD", ""),
        ("gutted/worktrees/x/commondir", "../.."),
        ("src/.git", "gitdir: ../gutted/worktrees/x"),
        (".git/HEAD", ""),
    ]);
    for path in [
        "docs/config",
        "docs/config.worktree",
        "docs/commondir",
        "docs/hooks/pre-commit",
        "docs/info/attributes",
        "docs/HEAD",
        "last/HEAD",
        "parts/objects/y",
        "parts/commondir",
        "gutted/hooks/pre-commit",
        "gutted/config",
        "gutted/worktrees/x/config.worktree",
        ".git/modules/config",
        ".git/modules/hooks/x",
        ".git/worktrees/config",
        ".git/index",
        ".git/objects/x",
    ] {
        assert!(!assess(folder.path(), path).protected.is_empty(), "{path}");
    }
    for path in ["docs/refs/y", "docs/readme", "last/config", "parts/config", "src/config", "config", "hooks/use.ts"] {
        assert!(assess(folder.path(), path).protected.is_empty(), "{path}");
    }
}

// T66, T43
#[test]
fn what_protected_links_lead_to_is_protected_from_file_tools_too() {
    let folder = room(&[(".git/HEAD", ""), (".git/hooks/x.sample", ""), ("scripts/pc.sh", ""), ("env/dev", "")]);
    std::fs::create_dir(folder.path().join("conf")).unwrap();
    std::fs::create_dir(folder.path().join("conf/vscode")).unwrap();
    for (target, link) in [
        ("../../scripts/pc.sh", ".git/hooks/pre-commit"),
        ("../../scripts/new.sh", ".git/hooks/pre-push"),
        ("env/dev", ".envrc"),
        ("conf/vscode", ".vscode"),
    ] {
        symlink(target, folder.path().join(link)).unwrap();
    }
    for (path, place) in [
        ("scripts/pc.sh", ".git/hooks"),
        ("scripts/new.sh", ".git/hooks"),
        ("env/dev", ".envrc"),
        ("conf/vscode/tasks.json", ".vscode"),
    ] {
        assert_eq!(assess(folder.path(), path).protected, [place.into()], "{path}");
    }
    for path in ["scripts/other.sh", "env/prod", "conf/other"] {
        assert!(assess(folder.path(), path).protected.is_empty(), "{path}");
    }
}

// T67, T19
#[tokio::test]
async fn a_link_does_not_lead_a_write_into_a_protected_place() {
    let room = TestWorkspace::with(&[(".git/hooks/sample", b""), ("plain/x", b"")]);
    symlink(".git/hooks", room.path("innocent")).unwrap();
    symlink("plain", room.path("alias")).unwrap();
    let said = room.error(write_file::tool(), r#"{"path": "innocent/pre-commit", "content": "x"}"#).await;
    assert!(said.contains("leads into the protected place '.git/hooks' through a link"), "{said}");
    let said = room.error(write_file::tool(), r#"{"path": "innocent/new/pre-commit", "content": "x"}"#).await;
    assert!(said.contains("leads into the protected place"), "{said}");
    assert_eq!(std::fs::read_dir(room.path(".git/hooks")).unwrap().count(), 1);
    room.ok(write_file::tool(), r#"{"path": "alias/y", "content": "x"}"#).await;
    assert_eq!(room.text("plain/y"), "x");
}

// T20
#[test]
fn another_file_behind_the_same_path_is_another_call() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    symlink("one", folder.path().join("link")).unwrap();
    let before = assess(folder.path(), "link/file").digest;
    assert_eq!(before, assess(folder.path(), "link/file").digest);
    std::fs::remove_file(folder.path().join("link")).unwrap();
    symlink("two", folder.path().join("link")).unwrap();
    assert_ne!(before, assess(folder.path(), "link/file").digest);
    assert_ne!(before, assess(folder.path(), "one/file").digest);
}

/// Protected files that a later program obeys.
const PROTECTED: [&str; 6] =
    [".git/config", ".git/hooks/pre-commit", ".envrc", ".vscode/tasks.json", ".majordomo/agents/a.md", ".ssh/rc"];

/// Other spellings of a path. Each is refused, or is the same path.
fn spellings(path: &str, root: &Path) -> Vec<String> {
    let mut all = vec![path.to_owned(), format!("./{path}"), format!("{path}/"), format!("{}/{path}", root.display())];
    all.push(path.replace('/', "//"));
    all.push(path.replace('/', "/./"));
    all.push(format!("x/../{path}"));
    all.push(path.to_uppercase());
    all.push(path.replace('s', "\u{17F}").replace('k', "\u{212A}").replace("fi", "\u{FB01}"));
    all.push(path.replace('g', "\u{FF47}"));
    all.push(path.replace(".git", "GIT~1"));
    all.push(path.replace('/', "./"));
    let unseen = [
        " ",
        "\t",
        "\n",
        "\r",
        "\0",
        "\u{B}",
        "\u{C}",
        "\u{1B}",
        "\u{7F}",
        "\u{85}",
        "\u{A0}",
        "\u{AD}",
        "\u{200B}",
        "\u{200D}",
        "\u{200E}",
        "\u{202E}",
        "\u{2028}",
        "\u{2060}",
        "\u{3000}",
        "\u{3164}",
        "\u{FE0F}",
        "\u{FEFF}",
        "\u{E0041}",
    ];
    for c in unseen {
        all.push(format!("{c}{path}"));
        all.push(format!("{path}{c}"));
        all.push(format!("{c}{path}{c}"));
        if let Some((folder, name)) = path.rsplit_once('/') {
            all.push(format!("{folder}{c}/{name}"));
            all.push(format!("{folder}/{c}{name}"));
        }
        // Inside of a part white space that can be seen is an ordinary character of another name.
        if c != " " {
            all.push(path.replace('g', &format!("g{c}")));
        }
    }
    all
}

/// Every tool that takes a path, with arguments by which it would work.
fn calls(path: &str) -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("write_file", json!({ "path": path, "content": "mine" })),
        ("edit_file", json!({ "path": path, "old_text": "theirs", "new_text": "mine" })),
        ("read_file", json!({ "path": path })),
        ("list_dir", json!({ "path": path })),
        ("find_files", json!({ "path": path, "pattern": "*" })),
        ("search_files", json!({ "path": path, "pattern": "theirs" })),
        ("run_command", json!({ "cwd": path, "command": "pwd" })),
    ]
}

/// All that a folder holds, by path.
fn contents(folder: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(contents(&entry.path())),
            false => drop(found.insert(entry.path(), std::fs::read(entry.path()).unwrap())),
        }
    }
    found
}

// T67
#[tokio::test]
async fn a_path_is_checked_as_it_is_used_or_refused() {
    let registry = Registry::standard(CommandHost::default());
    let (mut refusals, mut protections) = (0, 0);
    for name in PROTECTED {
        for is_there in [false, true] {
            let files: &[(&str, &[u8])] = &[(name, b"theirs")];
            let room = TestWorkspace::with(if is_there { files } else { &[] });
            let root = room.path("").canonicalize().unwrap();
            for spelling in spellings(name, &root) {
                for (tool, input) in calls(&spelling) {
                    let before = contents(&root);
                    let assessment = assess_with(&root, tool, &input);
                    let is_refused = assessment.effect.starts_with("is refused: ");
                    let is_free = assessment.protected.is_empty();
                    let writes = matches!(tool, "write_file" | "edit_file");
                    if writes && !is_refused {
                        // A person or a rule decides on it.
                        assert!(!is_free, "{tool} {spelling:?} is not seen as protected");
                        protections += 1;
                        continue;
                    }
                    let tool_of_registry = registry.get(tool).unwrap();
                    let result = tool_of_registry.run(&Json::of(&input), &room.context).await;
                    if is_refused {
                        assert_eq!((assessment.reach, assessment.risk), (Reach::ReadOnly, Risk::Low), "{spelling:?}");
                        assert!(assessment.standing.is_none() && assessment.subjects.is_empty(), "{spelling:?}");
                        assert!(result.is_error, "{tool} {spelling:?}: {}", result.content);
                        let why = assessment.effect.strip_prefix("is refused: ").unwrap();
                        assert!(result.content.contains(why), "{tool} {spelling:?}: {why} / {}", result.content);
                        refusals += 1;
                    }
                    assert_eq!(before, contents(&root), "{tool} {spelling:?} changed something");
                }
            }
        }
    }
    assert!(refusals > 5_000 && protections > 100, "{refusals} {protections}");
}

// T67
#[test]
fn a_refusal_names_the_character_by_its_code_point() {
    let folder = tempfile::tempdir().unwrap();
    let why = |path: &str| assess(folder.path(), path).effect.to_string();
    assert!(
        why(" .git/config").contains("'\u{20}.git/config' is refused: a part of it begins with white space (U+0020)")
    );
    assert!(why(".envrc ").contains("a part of it ends with white space (U+0020)"));
    assert!(why(".vscode/tasks.json\t").contains("'.vscode/tasks.json\\u{9}'"));
    assert!(why(".vscode/tasks.json\t").contains("it holds a control character (U+0009)"));
    assert!(why("a\u{202E}b").contains("'a\\u{202e}b' is refused: it holds a character that cannot be seen (U+202E)"));
    for path in ["two words.txt", "größe/ñ.md", "日本.txt", "a-b_c.d", ".hidden"] {
        assert!(why(path).starts_with("creates the file "), "{path}");
    }
}

// T67
#[tokio::test]
async fn what_is_assessed_is_what_is_written() {
    let room = TestWorkspace::with(&[("src/a", b"")]);
    let root = room.path("").canonicalize().unwrap();
    let whole = format!("{}/new/file", root.display());
    for (at, path) in ["./new/file", "new//file", "new/./file", "new/file/", &whole].into_iter().enumerate() {
        let input = json!({ "path": path, "content": at.to_string() });
        assert_eq!(assess_with(&root, "write_file", &input).subjects, ["new/file".into()], "{path}");
        let result = room.ok(write_file::tool(), &input.to_string()).await;
        assert_eq!(result.files_modified, ["new/file".into()], "{path}");
        assert_eq!(room.text("new/file"), at.to_string());
    }
}
