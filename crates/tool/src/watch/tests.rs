//! The watch on its own, with a hand in the workspace that stands for a command.

use std::os::unix::fs::symlink;

use super::*;

struct TestWorkspace {
    folder: tempfile::TempDir,
    root: PathBuf,
}

impl TestWorkspace {
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
        let registered = Registered::new(&self.root, Some(&self.state()), &consented).unwrap();
        let look = look::look(&self.root).unwrap();
        let watched = Watched { call: "20260115-k3f9_tu_1".to_owned(), timeout_s: 60, keeps_new: false };
        Watch::begin(registered, look, &watched).unwrap()
    }

    /// The process was killed: nothing is done, and its number is another's.
    fn kill(&self, mut watch: Watch) {
        watch.note.started = Some(0);
        watch.note.write(&watch.state).unwrap();
        // Nothing of it is done, not even what is done when a call is given up.
        watch.is_settled = true;
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    fn moved(&self, name: &str) -> PathBuf {
        let name = format!("0+{}", name.replace('/', "+"));
        self.state().join("protected/moved/20260115-k3f9_tu_1").join(name)
    }
}

const SETTINGS: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
const EVIL: &str = "[core]\n\tfsmonitor = ./run-me\n";

// T66, T68
#[test]
fn what_is_created_is_moved_and_what_is_changed_is_put_back() {
    let room =
        TestWorkspace::with(&[(".git/config", SETTINGS), (".git/HEAD", "x"), (".envrc", "mine"), ("src/main.rs", "")]);
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
        let room = TestWorkspace::with(&[
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
    let room = TestWorkspace::with(&[("src/main.rs", "")]);
    let watch = room.watch(&[]);
    room.write(&[
        ("new/.git/config", SETTINGS),
        ("new/.git/HEAD", "ref: refs/heads/main"),
        ("new/.git/hooks/pre-commit.sample", "#!/bin/sh"),
        ("evil/.git/config", EVIL),
        ("evil/.git/HEAD", "ref: refs/heads/main"),
        ("plain/config", SETTINGS),
        ("plain/HEAD", "ref: refs/heads/main"),
        ("plain/objects/x", ""),
        ("bare/config", EVIL),
        ("bare/HEAD", "ref: refs/heads/main"),
        ("bare/objects/x", ""),
        ("bare/refs/x", ""),
    ]);
    let said = watch.settle();
    assert!(room.root.join("new/.git/config").exists(), "{said:?}");
    assert!(!room.root.join("evil/.git/config").exists(), "{said:?}");
    assert!(!room.root.join("bare/HEAD").exists(), "a folder that looks like a repository is one: {said:?}");
    assert!(room.root.join("plain/HEAD").exists(), "one that names nothing to run stays: {said:?}");
}

#[test]
fn what_was_consented_to_stays_also_for_other_watches() {
    let room = TestWorkspace::with(&[(".vscode/settings.json", "{}")]);
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
    let room = TestWorkspace::with(&[
        ("a/.vscode/settings.json", "{}"),
        ("b/.envrc", "x"),
        ("b/c", ""),
        ("a/.git/config", EVIL),
    ]);
    let watch = room.watch(&[]);
    fs::rename(room.root.join("a"), room.root.join("z")).unwrap();
    fs::remove_dir_all(room.root.join("b")).unwrap();
    assert_eq!(watch.settle(), Vec::<String>::new());
    assert!(room.root.join("z/.vscode/settings.json").exists() && !room.root.join("b").exists());
}

// F30
#[test]
fn a_watch_that_was_left_behind_is_ended_by_the_thread_that_goes_on() {
    let room = TestWorkspace::with(&[(".envrc", "mine")]);
    let watch = room.watch(&[]);
    room.write(&[(".envrc", "evil"), (".vscode/tasks.json", "{}")]);
    assert!(settle_left(Some(&room.state()), "20260115-k3f9").is_empty(), "it is on");
    room.kill(watch);
    assert!(settle_left(Some(&room.state()), "20260115-k3f9.1").is_empty(), "another thread's");
    let said = settle_left(Some(&room.state()), "20260115-k3f9");
    assert_eq!(room.text(".envrc"), "mine", "{said:?}");
    assert!(!room.root.join(".vscode/tasks.json").exists());
    assert!(settle_left(Some(&room.state()), "20260115-k3f9").is_empty());
}

#[test]
fn a_command_reads_the_notes_of_its_own_folder_and_those_of_earlier_versions() {
    let (here, there) = (TestWorkspace::with(&[(".envrc", "mine")]), TestWorkspace::with(&[(".envrc", "mine")]));
    let state = here.state();
    let open = || fs::read_dir(state.join("protected/open")).unwrap().count();
    let left = |room: &TestWorkspace, until_s: i64| {
        let registered = Registered::new(&room.root, Some(&state), &[]).unwrap();
        let watched = Watched { call: "20260115-k3f9_tu_1".to_owned(), timeout_s: 60, keeps_new: false };
        let mut watch = Watch::begin(registered, look::look(&room.root).unwrap(), &watched).unwrap();
        watch.note.until_s = until_s;
        room.write(&[(".envrc", "evil")]);
        let file = watch.note.file(&watch.state);
        room.kill(watch);
        file
    };
    left(&there, now_s());
    let named_before = state.join("protected/open/20260115-k3f9_tu_1-1-0.json");
    fs::rename(left(&here, now_s()), &named_before).unwrap();
    assert!(!settle_left_in(Some(&state), &here.root).is_empty());
    assert_eq!((here.text(".envrc"), there.text(".envrc")), ("mine".to_owned(), "evil".to_owned()));
    assert_eq!(open(), 1, "the other folder's note is there");
    assert!(!settle_left_in(Some(&state), &there.root).is_empty());
    assert_eq!((there.text(".envrc"), open()), ("mine".to_owned(), 0));

    let (gone, old_and_gone) = (TestWorkspace::with(&[(".envrc", "")]), TestWorkspace::with(&[(".envrc", "")]));
    let (recent, _) = (left(&gone, now_s()), left(&old_and_gone, now_s() - FORGET_S - 1));
    drop((gone, old_and_gone));
    settle_left(Some(&state), "20260115-other");
    assert!(recent.exists() && open() == 1, "only one is given up");
}

// T66
#[test]
fn the_folder_that_settings_name_for_hooks_is_protected_too() {
    let settings = "[core]\n\thooksPath = \"./tools/hooks\"\n";
    let room =
        TestWorkspace::with(&[(".git/config", settings), (".git/HEAD", "x"), ("tools/hooks/pre-commit", "mine")]);
    let watch = room.watch(&[]);
    room.write(&[("tools/hooks/pre-commit", "evil"), ("tools/hooks/post-commit", "evil"), ("tools/other", "x")]);
    let said = watch.settle();
    assert_eq!(room.text("tools/hooks/pre-commit"), "mine", "{said:?}");
    assert!(!room.root.join("tools/hooks/post-commit").exists() && room.root.join("tools/other").exists());
    let workspace = crate::Workspace::open(&room.root).unwrap();
    let place = |path: &str| workspace.protected(&workspace.path(path).unwrap());
    assert_eq!(place("tools/hooks/pre-push"), [".git/hooks"]);
    assert!(place("tools/other").is_empty());
}

// T68
#[test]
fn a_link_in_the_place_of_a_folder_that_holds_something_protected_is_moved() {
    let room = TestWorkspace::with(&[("real/config.toml", "evil"), ("real/workflows/ci.yml", "evil")]);
    let watch = room.watch(&[]);
    for name in [".cargo", ".github", "sub"] {
        symlink("real", room.root.join(name)).unwrap();
    }
    let said = watch.settle();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(!room.root.join(".cargo").exists() && !room.root.join(".github").exists());
    assert!(room.root.join("sub").exists(), "any other link stays");
}

/// Where no command may reach: a home beside the workspace with the user's own files.
fn home(room: &TestWorkspace) -> PathBuf {
    let home = room.folder.path().join("home");
    fs::create_dir_all(home.join(".git")).unwrap();
    fs::write(home.join(".git/config"), "the user's").unwrap();
    fs::write(home.join(".zshenv"), "the user's").unwrap();
    home
}

// T42, T66
#[test]
fn a_folder_that_became_a_link_leads_nothing_out_of_the_workspace() {
    let room = TestWorkspace::with(&[
        ("sub/.bashrc", "evil"),
        ("sub/.envrc", "evil"),
        ("deep/.git/config", SETTINGS),
        ("deep/.git/HEAD", "x"),
    ]);
    let home = home(&room);
    let watch = room.watch(&[]);
    for name in ["sub", "deep"] {
        fs::rename(room.root.join(name), room.root.join(format!("{name}2"))).unwrap();
        symlink(&home, room.root.join(name)).unwrap();
    }
    watch.settle();
    assert!(!home.join(".bashrc").exists() && !home.join(".envrc").exists());
    assert_eq!(fs::read_to_string(home.join(".git/config")).unwrap(), "the user's");
}

// T42, T45
#[test]
fn links_under_the_names_that_are_written_to_lead_nowhere() {
    let room = TestWorkspace::with(&[
        (".envrc", "mine"),
        (".git/config", SETTINGS),
        (".git/HEAD", "x"),
        (".git/objects/x", ""),
        (".git/refs/x", ""),
    ]);
    let home = home(&room);
    let watch = room.watch(&[]);
    for number in 0..20 {
        for name in [
            format!(".majordomo-{}-9{number}.tmp", std::process::id()),
            format!(".majordomo-{}-{number}.tmp", std::process::id()),
        ] {
            symlink(home.join(".zshenv"), room.root.join(name)).unwrap();
        }
    }
    room.write(&[(".envrc", "evil"), (".git/config", EVIL)]);
    fs::rename(room.root.join(".git"), room.root.join(".old")).unwrap();
    symlink(&home, room.root.join(".git")).unwrap();
    let said = watch.settle();
    assert_eq!(fs::read_to_string(home.join(".zshenv")).unwrap(), "the user's");
    assert_eq!(fs::read_to_string(home.join(".git/config")).unwrap(), "the user's");
    assert!(!home.join("config").exists() && !home.join("HEAD").exists());
    assert_eq!((room.text(".envrc").as_str(), room.text(".git/config").as_str()), ("mine", SETTINGS), "{said:?}");
}

#[test]
fn a_protected_folder_that_is_deleted_or_replaced_as_a_whole_is_put_back() {
    let room = TestWorkspace::with(&[
        (".vscode/a.json", "mine"),
        (".husky/b/c", "mine"),
        (".claude/d", "mine"),
        ("src/e", ""),
    ]);
    let watch = room.watch(&[]);
    fs::remove_dir_all(room.root.join(".vscode")).unwrap();
    fs::remove_dir_all(room.root.join(".husky")).unwrap();
    fs::rename(room.root.join(".claude"), room.root.join("x")).unwrap();
    symlink("x", room.root.join(".claude")).unwrap();
    let said = watch.settle();
    for name in [".vscode/a.json", ".husky/b/c", ".claude/d"] {
        assert_eq!(room.text(name), "mine", "{name}: {said:?}");
    }
}

#[test]
fn settings_that_a_command_writes_do_not_make_sources_into_hooks() {
    let room = TestWorkspace::with(&[
        (".git/config", SETTINGS),
        (".git/HEAD", "x"),
        ("src/main.rs", "mine"),
        ("sub/src/lib.rs", "mine"),
    ]);
    let watch = room.watch(&[]);
    let evil = "[core]\n\thooksPath = src\n";
    room.write(&[(".git/config", evil), ("sub/.git/config", evil), ("sub/.git/HEAD", "x")]);
    watch.settle();
    assert_eq!((room.text("src/main.rs").as_str(), room.text("sub/src/lib.rs").as_str()), ("mine", "mine"));
}

#[test]
fn what_the_user_does_after_a_killed_run_is_left_alone() {
    let room = TestWorkspace::with(&[(".envrc", "old"), (".git/config", SETTINGS), (".git/HEAD", "x")]);
    let mut watch = room.watch(&[]);
    // The command must have ended long before the user does these things.
    watch.note.until_s = now_s() - 3600;
    room.kill(watch);
    room.write(&[(".envrc", "the user's"), (".vscode/tasks.json", "the user's"), (".git/config", EVIL)]);
    assert_eq!(settle_left(Some(&room.state()), "20260115-k3f9"), Vec::<String>::new());
    assert_eq!(room.text(".envrc"), "the user's");
    assert_eq!(room.text(".vscode/tasks.json"), "the user's");
    assert_eq!(room.text(".git/config"), EVIL);
}

#[test]
fn two_watches_at_once_neither_bring_an_attack_back_nor_let_one_through() {
    let room = TestWorkspace::with(&[(".envrc", "mine")]);
    let first = room.watch(&[]);
    room.write(&[(".envrc", "evil"), (".mcp.json", "evil")]);
    // The second command begins while the files of the first are there.
    let second = room.watch(&[]);
    first.settle();
    assert_eq!(room.text(".envrc"), "mine");
    room.write(&[(".mcp.json", "evil again")]);
    let said = second.settle();
    assert_eq!(room.text(".envrc"), "mine", "{said:?}");
    assert!(!room.root.join(".mcp.json").exists(), "{said:?}");
}

// T44
#[test]
fn pipes_and_devices_in_protected_places_hold_nothing_up() {
    let room = TestWorkspace::with(&[("src/main.rs", "")]);
    let watch = room.watch(&[]);
    room.write(&[("sub/.git/HEAD", "x"), ("sub2/.git/HEAD", "x")]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        room.root.join("sub/.git/config"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    symlink("/dev/zero", room.root.join("sub2/.git/config")).unwrap();
    let said = watch.settle();
    assert!(fs::symlink_metadata(room.root.join("sub/.git/config")).is_err(), "{said:?}");
    assert!(fs::symlink_metadata(room.root.join("sub2/.git/config")).is_err(), "{said:?}");
}

#[test]
fn a_call_that_was_given_up_is_put_in_order_by_the_next_command() {
    let room = TestWorkspace::with(&[(".envrc", "mine")]);
    let watch = room.watch(&[]);
    room.write(&[(".envrc", "evil")]);
    drop(watch);
    assert_eq!(settle_left_in(Some(&room.state()), &room.root).len(), 2, "changed, and put back");
    assert_eq!(room.text(".envrc"), "mine");
}

// T66
#[test]
fn a_folder_is_a_repository_where_git_takes_it_for_one() {
    let room = TestWorkspace::with(&[("src/main.rs", ""), ("src/hooks/use.ts", "mine"), ("src/config", "mine")]);
    let watch = room.watch(&[]);
    room.write(&[
        ("src/HEAD", "ref: refs/heads/main"),
        ("src/commondir", "c"),
        ("src/config.worktree", EVIL),
        ("src/c/objects/x", ""),
        ("src/c/refs/x", ""),
        ("src/c/config", EVIL),
        ("b/worktrees/w/HEAD", "x"),
        ("sub/.git", "gitdir: ../lnk/../b/worktrees/w"),
    ]);
    let said = watch.settle();
    for name in ["src/HEAD", "sub/.git"] {
        assert!(fs::symlink_metadata(room.root.join(name)).is_err(), "{name}: {said:?}");
    }
    assert_eq!(room.text("src/hooks/use.ts"), "mine", "what the user has there is left alone: {said:?}");
    assert!(room.root.join("src/main.rs").exists() && room.root.join("src/config").exists());
}

// T66
#[test]
fn what_settings_name_elsewhere_is_protected_too() {
    let room = TestWorkspace::with(&[
        (".git/HEAD", "x"),
        (".git/config", "[includeIf \"gitdir:a=b\"] path = ../team.gitconfig\n"),
        ("team.gitconfig", "[core] hooksPath = first\n[core] hooksPath = second\n"),
    ]);
    // A repository above the workspace.
    fs::create_dir_all(room.folder.path().join(".git")).unwrap();
    fs::write(room.folder.path().join(".git/config"), "[core]\n\thooksPath = work/third\n").unwrap();
    let planted = ["first/pre-commit", "second/pre-commit", "third/pre-commit"];
    let watch = room.watch(&[]);
    room.write(&planted.map(|name| (name, "evil")));
    room.write(&[("team.gitconfig", EVIL), ("other/x", "")]);
    let said = watch.settle();
    for name in planted {
        assert!(!room.root.join(name).exists(), "{name}: {said:?}");
    }
    assert!(room.text("team.gitconfig").contains("first") && room.root.join("other/x").exists(), "{said:?}");
    let workspace = crate::Workspace::open(&room.root).unwrap();
    for name in planted.into_iter().chain(["team.gitconfig"]) {
        assert!(!workspace.protected(&workspace.path(name).unwrap()).is_empty(), "{name}");
    }
}

// T68
#[test]
fn a_path_that_is_too_long_hides_nothing_else() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let room = TestWorkspace::with(&[(".git/HEAD", "x"), (".git/config", SETTINGS), ("src/main.rs", "")]);
    let watch = room.watch(&[]);
    let planted = [".vscode/tasks.json", ".envrc", "sub/.git/hooks/pre-commit"];
    room.write(&planted.map(|name| (name, "evil")));
    for above in ["", ".vscode", "src"] {
        let open = |at: &rustix::fd::OwnedFd, name: &str| openat(at, name, OFlags::DIRECTORY, Mode::empty()).unwrap();
        let mut at = openat(CWD, room.root.join(above), OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..40 {
            let name = "d".repeat(200);
            mkdirat(&at, &*name, Mode::RWXU).unwrap();
            at = open(&at, &name);
        }
        drop(openat(&at, ".envrc", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap());
    }
    let said = watch.settle();
    for name in planted {
        assert!(!room.root.join(name).exists(), "{name}: {said:?}");
    }
    assert!(said.iter().any(|line| line.contains("too long to be opened")), "{said:?}");
    assert_eq!(room.watch(&[]).settle(), Vec::<String>::new(), "the next command goes on, and it is told once");
    // Moved to where a path leads to it, it is found.
    let watch = room.watch(&[]);
    let nested = |from: &str, levels: usize| (0..levels).fold(room.root.join(from), |at, _| at.join("d".repeat(200)));
    fs::rename(nested("src", 16), room.root.join("near")).unwrap();
    fs::rename(nested("near", 16), room.root.join("nearer")).unwrap();
    let said = watch.settle();
    let planted = nested("nearer", 8).join(".envrc");
    assert!(planted.parent().unwrap().exists() && !planted.exists(), "{said:?}");
}

// T66, T68
#[test]
fn a_pointer_stays_only_if_git_obeys_a_repository_that_is_looked_at() {
    let head = "ref: refs/heads/main";
    let evil = |common: &str, has_head: bool| {
        let room = TestWorkspace::with(&[(".git/config", SETTINGS), (".git/HEAD", head), ("src/main.rs", "")]);
        let watch = room.watch(&[]);
        let at = |name: &str| format!("{common}/{name}");
        room.write(&[
            (&at("config"), EVIL),
            (&at("hooks/pre-commit"), "evil"),
            (&at("objects/x"), ""),
            (&at("refs/heads/x"), ""),
            (&at("worktrees/x/HEAD"), head),
            (&at("worktrees/x/commondir"), "../..\n"),
            ("src/.git", &format!("gitdir: ../{common}/worktrees/x\n")),
        ]);
        if has_head {
            room.write(&[(&at("HEAD"), head)]);
        }
        let said = watch.settle();
        assert!(!room.root.join("src/.git").exists(), "{common}: {said:?}");
        assert!(room.root.join("src/main.rs").exists());
    };
    for common in ["r/w", ".git/modules", ".git/worktrees", ".git/objects/w", "worktrees/modules"] {
        evil(common, false);
        evil(common, true);
    }
    // What git makes stays: a work tree, and one of a new repository.
    let room = TestWorkspace::with(&[(".git/config", SETTINGS), (".git/HEAD", head), (".git/objects/x", "")]);
    let watch = room.watch(&[]);
    let absolute = format!("gitdir: {}/.git/worktrees/x\n", room.root.display());
    room.write(&[
        (".git/worktrees/x/HEAD", head),
        (".git/worktrees/x/commondir", "../..\n"),
        (".git/worktrees/x/gitdir", "/elsewhere/.git\n"),
        ("x/.git", &absolute),
        ("new.git/config", SETTINGS),
        ("new.git/HEAD", head),
        ("new.git/objects/x", ""),
        ("new.git/worktrees/y/HEAD", head),
        ("new.git/worktrees/y/commondir", "../..\n"),
        ("y/.git", "gitdir: ../new.git/worktrees/y\n"),
    ]);
    assert_eq!(watch.settle(), Vec::<String>::new());
    // A module names its work tree in its settings, and is made with consent.
    let settings = "[core]\n\tbare = false\n\tworktree = ../../../../deep/lib\n";
    let module = [
        (".git/modules/deep/lib/HEAD", head),
        (".git/modules/deep/lib/config", settings),
        (".git/modules/deep/lib/objects/x", ""),
        ("deep/lib/.git", "gitdir: ../../.git/modules/deep/lib\n"),
    ];
    let watch = room.watch(&[".git/config"]);
    room.write(&module);
    assert_eq!(watch.settle(), Vec::<String>::new());
}

// T66
#[test]
fn what_a_pointer_leads_to_is_protected_whatever_parts_of_a_repository_are_gone() {
    let head = "ref: refs/heads/main";
    let room = TestWorkspace::with(&[
        ("r/HEAD", head),
        ("r/config", SETTINGS),
        ("r/objects/x", ""),
        ("r/refs/x", ""),
        ("r/worktrees/x/HEAD", head),
        ("r/worktrees/x/commondir", "../..\n"),
        ("src/.git", "gitdir: ../r/worktrees/x\n"),
    ]);
    // In the same command, and in the next one.
    for _ in 0..2 {
        let watch = room.watch(&[]);
        let _ = fs::remove_file(room.root.join("r/HEAD"));
        room.write(&[("r/hooks/pre-commit", "evil"), ("r/config.worktree", EVIL)]);
        let said = watch.settle();
        for name in ["r/hooks/pre-commit", "r/config.worktree"] {
            assert!(!room.root.join(name).exists(), "{name}: {said:?}");
        }
    }
}

// T66
#[test]
fn what_a_protected_link_leads_to_is_protected_too() {
    let room = TestWorkspace::with(&[
        ("scripts/check", "mine"),
        (".git/HEAD", "x"),
        (".git/hooks/x.sample", ""),
        ("envrc.dev", "mine"),
    ]);
    symlink("../../scripts/check", room.root.join(".git/hooks/pre-commit")).unwrap();
    symlink("envrc.dev", room.root.join(".envrc")).unwrap();
    let watch = room.watch(&[]);
    room.write(&[("scripts/check", "evil"), ("envrc.dev", "evil"), ("scripts/other", "x")]);
    symlink("scripts", room.root.join(".vscode")).unwrap();
    let said = watch.settle();
    assert_eq!((room.text("scripts/check").as_str(), room.text("envrc.dev").as_str()), ("mine", "mine"), "{said:?}");
    assert!(room.root.join("scripts/other").exists(), "a link that the command made protects nothing");
    assert!(fs::symlink_metadata(room.root.join(".vscode")).is_err());
}

#[test]
fn a_sequence_of_commits_that_becomes_shorter_keeps_the_lines_of_the_user() {
    let todo = ".git/rebase-merge/git-rebase-todo";
    let room = TestWorkspace::with(&[(".git/HEAD", "x"), (todo, "pick a\nexec make test\npick b\nexec make test\n")]);
    let watch = room.watch(&[]);
    room.write(&[(todo, "pick b\nexec make test\n")]);
    assert!(watch.settle().is_empty());
    let watch = room.watch(&[]);
    room.write(&[(todo, "exec ./evil\npick b\nexec make test\n")]);
    watch.settle();
    assert_eq!(room.text(todo), "pick b\nexec make test\n");
}

#[test]
fn what_a_file_tool_wrote_with_consent_meanwhile_is_what_is_put_back() {
    let room = TestWorkspace::with(&[(".envrc", "old")]);
    let watch = room.watch(&[]);
    with_consent(&room.root, Path::new(".envrc"), || room.write(&[(".envrc", "approved")]));
    let other = room.watch(&[]);
    room.write(&[(".envrc", "evil")]);
    let said = watch.settle();
    assert_eq!(room.text(".envrc"), "approved", "{said:?}");
    assert!(other.settle().is_empty());
    assert_eq!(room.text(".envrc"), "approved");
}
