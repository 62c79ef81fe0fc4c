//! The watch on its own, with a hand in the workspace that stands for a command.

use std::os::unix::fs::symlink;

use super::*;

struct Room {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl Room {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let root = folder.path().join("work").canonicalize().unwrap();
        let room = Self { folder, root };
        room.write(files);
        room
    }

    fn write(&self, files: &[(&str, &str)]) {
        for (name, content) in files {
            fs::create_dir_all(self.root.join(name).parent().unwrap()).unwrap();
            fs::write(self.root.join(name), content).unwrap();
        }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn watch(&self, consented: &[&str]) -> Watch {
        let consented: Vec<Arc<str>> = consented.iter().map(|place| (*place).into()).collect();
        Watch::begin(&self.root, look::look(&self.root).unwrap(), Some(&self.state()), "20260115-k3f9_tu_1", &consented)
            .unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    fn moved(&self, name: &str) -> PathBuf {
        self.state().join("protected/moved/20260115-k3f9_tu_1").join(name)
    }
}

const SETTINGS: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const EVIL: &str = "[core]\n\tfsmonitor = ./run-me\n";

// T66, T68
#[test]
fn what_is_created_is_moved_and_what_is_changed_is_put_back() {
    let room = Room::with(&[(".git/config", SETTINGS), (".git/HEAD", "x"), (".envrc", "mine"), ("src/main.rs", "")]);
    let watch = room.watch(&[]);
    room.write(&[
        (".git/config", EVIL),
        (".git/hooks/pre-commit", "evil"),
        (".git/commondir", "/elsewhere"),
        (".vscode/tasks.json", "{}"),
        ("sub/.mcp.json", "{}"),
        ("src/main.rs", "fn main() {}"),
        (".git/ORIG_HEAD", "x"),
    ]);
    fs::remove_file(room.root.join(".envrc")).unwrap();
    let said = watch.settle();
    for name in [".git/hooks/pre-commit", ".git/commondir", ".vscode/tasks.json", "sub/.mcp.json"] {
        assert!(!room.root.join(name).exists(), "{name}");
        assert!(room.moved(name).exists(), "{name} is kept");
        assert_eq!(said.iter().filter(|line| line.starts_with(name)).count(), 1, "{said:?}");
    }
    assert_eq!((room.text(".git/config").as_str(), room.text(".envrc").as_str()), (SETTINGS, "mine"), "{said:?}");
    assert_eq!(fs::read_to_string(room.moved(".git/config")).unwrap(), EVIL);
    assert_eq!(room.text("src/main.rs"), "fn main() {}");
    assert!(room.root.join(".git/ORIG_HEAD").exists(), "what git writes every day stays");
    assert!(room.watch(&[]).settle().is_empty(), "nothing is left to be found");
}

// T66
#[test]
fn a_repository_that_was_replaced_is_put_back() {
    for evil in [".git", "deep/.git"] {
        let folder = Path::new(evil).parent().unwrap();
        let at = |name: &str| folder.join(name).display().to_string();
        let room = Room::with(&[
            (&at(".git/config"), SETTINGS),
            (&at(".git/HEAD"), "x"),
            (&at(".git/objects/a"), "mine"),
            (&at(".git/refs/heads/main"), "x"),
            (&at("file"), ""),
        ]);
        let watch = room.watch(&[]);
        room.write(&[(&at(".g2/config"), EVIL), (&at(".g2/HEAD"), "x")]);
        fs::rename(room.root.join(at(".git")), room.root.join(at(".g3"))).unwrap();
        fs::rename(room.root.join(at(".g2")), room.root.join(at(".git"))).unwrap();
        let said = watch.settle();
        assert_eq!(room.text(&at(".git/config")), SETTINGS, "{said:?}");
        assert_eq!(room.text(&at(".git/objects/a")), "mine", "{said:?}");
        assert!(!room.root.join(at(".g3")).exists());
        // A file or a link in its place.
        let watch = room.watch(&[]);
        fs::rename(room.root.join(at(".git")), room.root.join(at(".g3"))).unwrap();
        symlink("/elsewhere", room.root.join(at(".git"))).unwrap();
        let said = watch.settle();
        assert_eq!(room.text(&at(".git/config")), SETTINGS, "{said:?}");
    }
}

// T66
#[test]
fn a_new_repository_stays_if_it_names_nothing_to_run() {
    let room = Room::with(&[("src/main.rs", "")]);
    let watch = room.watch(&[]);
    room.write(&[
        ("new/.git/config", SETTINGS),
        ("new/.git/HEAD", "ref: refs/heads/main"),
        ("new/.git/hooks/pre-commit.sample", "#!/bin/sh"),
        ("evil/.git/config", EVIL),
        ("evil/.git/HEAD", "ref: refs/heads/main"),
        ("bare/config", EVIL),
        ("bare/HEAD", "ref: refs/heads/main"),
        ("bare/objects/x", ""),
        ("bare/refs/x", ""),
    ]);
    let said = watch.settle();
    assert!(room.root.join("new/.git/config").exists(), "{said:?}");
    assert!(!room.root.join("evil/.git/config").exists(), "{said:?}");
    assert!(!room.root.join("bare/config").exists(), "a folder that looks like a repository is one: {said:?}");
}

#[test]
fn what_was_consented_to_stays_also_for_other_watches() {
    let room = Room::with(&[(".vscode/settings.json", "{}")]);
    let (own, other) = (room.watch(&[".vscode"]), room.watch(&[]));
    room.write(&[(".vscode/settings.json", "{\"a\": 1}"), (".vscode/new.json", "{}"), (".envrc", "x")]);
    let said = own.settle();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(other.settle().is_empty());
    assert_eq!(room.text(".vscode/settings.json"), "{\"a\": 1}");
    assert!(room.root.join(".vscode/new.json").exists() && !room.root.join(".envrc").exists());
}

#[test]
fn a_folder_that_is_renamed_or_deleted_as_a_whole_takes_its_settings_along() {
    let room =
        Room::with(&[("a/.vscode/settings.json", "{}"), ("b/.envrc", "x"), ("b/c", ""), ("a/.git/config", EVIL)]);
    let watch = room.watch(&[]);
    fs::rename(room.root.join("a"), room.root.join("z")).unwrap();
    fs::remove_dir_all(room.root.join("b")).unwrap();
    assert_eq!(watch.settle(), Vec::<String>::new());
    assert!(room.root.join("z/.vscode/settings.json").exists() && !room.root.join("b").exists());
}

// F30
#[test]
fn a_watch_that_was_left_behind_is_ended_by_the_thread_that_goes_on() {
    let room = Room::with(&[(".envrc", "mine")]);
    let watch = room.watch(&[]);
    room.write(&[(".envrc", "evil"), (".vscode/tasks.json", "{}")]);
    // The process was killed: nothing of it is done.
    std::mem::forget(watch);
    assert!(settle_left(Some(&room.state()), "20260115-k3f9.1").is_empty(), "another thread's");
    let said = settle_left(Some(&room.state()), "20260115-k3f9");
    assert_eq!(room.text(".envrc"), "mine", "{said:?}");
    assert!(!room.root.join(".vscode/tasks.json").exists());
    assert!(settle_left(Some(&room.state()), "20260115-k3f9").is_empty());
}

// T66
#[test]
fn the_folder_that_settings_name_for_hooks_is_protected_too() {
    let settings = "[core]\n\thooksPath = \"./tools/hooks\"\n";
    let room = Room::with(&[(".git/config", settings), (".git/HEAD", "x"), ("tools/hooks/pre-commit", "mine")]);
    let watch = room.watch(&[]);
    room.write(&[("tools/hooks/pre-commit", "evil"), ("tools/hooks/post-commit", "evil"), ("tools/other", "x")]);
    let said = watch.settle();
    assert_eq!(room.text("tools/hooks/pre-commit"), "mine", "{said:?}");
    assert!(!room.root.join("tools/hooks/post-commit").exists() && room.root.join("tools/other").exists());
    let workspace = crate::Workspace::open(&room.root).unwrap();
    let place = |path: &str| workspace.destination(&workspace.path(path).unwrap()).protected;
    assert_eq!(place("tools/hooks/pre-push"), [".git/hooks"]);
    assert!(place("tools/other").is_empty());
}

// T68
#[test]
fn a_link_in_the_place_of_a_folder_that_holds_something_protected_is_moved() {
    let room = Room::with(&[("real/config.toml", "evil"), ("real/workflows/ci.yml", "evil")]);
    let watch = room.watch(&[]);
    for name in [".cargo", ".github", "sub"] {
        symlink("real", room.root.join(name)).unwrap();
    }
    let said = watch.settle();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(!room.root.join(".cargo").exists() && !room.root.join(".github").exists());
    assert!(room.root.join("sub").exists(), "any other link stays");
}
