use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;
use crate::tool::Tool;
use crate::tool::test_support::TestWorkspace;
use crate::{CommandHost, Registry};

/// A tool of the workshop, by name.
struct Named(Arc<dyn Tool>);

impl Tool for Named {
    fn info(&self) -> &agent::tools::ToolInfo {
        self.0.info()
    }

    fn run<'a>(
        &'a self,
        input: &'a agent::Json,
        context: &'a crate::ToolContext,
    ) -> futures_util::future::BoxFuture<'a, agent::tools::ToolResult> {
        self.0.run(input, context)
    }
}

/// Every tool that takes a path, and its arguments for this one.
fn calls(path: &str) -> Vec<(Named, String)> {
    use serde_json::json;
    let registry = Registry::standard(CommandHost::default());
    let calls = [
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "mine"})),
        ("edit_file", json!({"path": path, "old_text": "secret", "new_text": "mine"})),
        ("list_dir", json!({"path": path})),
        ("find_files", json!({"path": path, "pattern": "*"})),
        ("search_files", json!({"path": path, "pattern": "."})),
        ("run_command", json!({"cwd": path, "command": "pwd"})),
    ];
    calls.into_iter().map(|(name, input)| (Named(registry.get(name).unwrap().clone()), input.to_string())).collect()
}

/// A test that takes as long hangs: a pipe that no program writes to, or a file without end, is never read to its end.
const HANGS: Duration = Duration::from_secs(60);

/// What one refusal may take (T44).
const AT_ONCE: Duration = Duration::from_secs(1);

/// Attempts at something that must be done at once: on a machine with other work one of them may be held up, and not all of them.
const ATTEMPTS: usize = 5;

/// Whether something is done within a second, in the best of a few attempts.
async fn at_once(what: &str, mut attempt: impl AsyncFnMut()) {
    let mut took = Vec::new();
    for _ in 0..ATTEMPTS {
        let begun = Instant::now();
        tokio::time::timeout(HANGS, attempt()).await.unwrap_or_else(|_| panic!("{what} hangs"));
        took.push(begun.elapsed());
        if took.iter().any(|took| *took < AT_ONCE) {
            return;
        }
    }
    panic!("{what} takes too long: {took:?}");
}

/// Calls every tool with the path; each must refuse at once.
async fn all_refuse(room: &TestWorkspace, path: &str) {
    for (tool, input) in calls(path) {
        let name = tool.info().name.clone();
        at_once(&format!("{name} of {path:?}"), async || {
            let result = room.call(Named(tool.0.clone()), &input).await;
            assert!(result.is_error, "{name} accepted {path:?}: {}", result.content);
            assert!(!result.content.contains("root:"), "{name} {path:?}: {}", result.content);
        })
        .await;
    }
}

// T41, T34
#[tokio::test]
async fn no_spelling_of_a_path_leads_out() {
    let room = TestWorkspace::with(&[("a/b", b"")]);
    std::fs::create_dir(room.outside("work-evil")).unwrap();
    std::fs::write(room.outside("work-evil/secret"), "secret").unwrap();
    std::fs::write(room.outside("secret"), "secret").unwrap();
    let twin = room.outside("work-evil/secret");
    let (long, long_part) = ("a/".repeat(3000), "x".repeat(300));
    let spellings = [
        "..",
        "../secret",
        "a/..",
        "a/../../secret",
        "./../secret",
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "~",
        "~/x",
        "~root/x",
        "a\0b",
        "secret\0",
        &long,
        &long_part,
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd",
        twin.to_str().unwrap(),
    ];
    for path in spellings {
        all_refuse(&room, path).await;
    }
    let absolute_climb = format!("{}/../secret", room.path("").display());
    all_refuse(&room, &absolute_climb).await;
    assert_eq!(std::fs::read_to_string(twin).unwrap(), "secret");
}

// T42
#[tokio::test]
async fn no_link_leads_out() {
    let room = TestWorkspace::with(&[("a/b", b"")]);
    std::fs::create_dir(room.outside("far")).unwrap();
    std::fs::write(room.outside("far/secret"), "secret").unwrap();
    symlink(room.outside("far/secret"), room.path("file")).unwrap();
    symlink("../far/secret", room.path("relative")).unwrap();
    symlink(room.outside("far"), room.path("folder")).unwrap();
    symlink("../../far", room.path("a/middle")).unwrap();
    symlink("/", room.path("everything")).unwrap();
    symlink("/proc/self/root", room.path("magic")).unwrap();
    symlink("round", room.path("round")).unwrap();
    let links = [
        "file",
        "relative",
        "folder",
        "folder/secret",
        "a/middle",
        "a/middle/secret",
        "everything/etc/passwd",
        "magic/etc/passwd",
        "round",
        "folder/new/file",
    ];
    for path in links {
        all_refuse(&room, path).await;
    }
    let far: Vec<_> = std::fs::read_dir(room.outside("far")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(far, ["secret"]);
    assert_eq!(std::fs::read_to_string(room.outside("far/secret")).unwrap(), "secret");
}

// T42
#[test]
fn the_kernels_own_links_are_not_followed() {
    let process = Workspace::open("/proc/self").unwrap();
    for path in ["root/etc/passwd", "cwd/Cargo.toml", "fd/0", "exe"] {
        let error = process.read(&process.path(path).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Link { .. } | Error::Outside { .. }), "{path}: {error}");
    }
}

#[test]
fn links_and_absolute_paths_that_stay_inside_are_read_but_not_written_through() {
    let room = TestWorkspace::with(&[("src/a.txt", b"inside")]);
    symlink("src/a.txt", room.path("link")).unwrap();
    symlink("src", room.path("folder")).unwrap();
    let workspace = &room.context.workspace;
    for path in ["link", "folder/a.txt", room.path("src/a.txt").to_str().unwrap(), "./src/./a.txt"] {
        assert_eq!(workspace.read(&workspace.path(path).unwrap()).unwrap(), b"inside", "{path}");
    }
    let written =
        workspace.change(&workspace.path("link").unwrap(), &room.context.seen_files, |_| Ok(b"mine".to_vec()));
    assert!(matches!(written, Err(Error::Link { .. })));
    assert_eq!(room.text("src/a.txt"), "inside");
    workspace
        .change(&workspace.path("folder/b.txt").unwrap(), &room.context.seen_files, |_| Ok(b"new".to_vec()))
        .unwrap();
    assert_eq!(room.text("src/b.txt"), "new");
}

// T42
#[test]
fn a_file_with_a_second_name_outside_is_not_changed() {
    let room = TestWorkspace::with(&[]);
    std::fs::write(room.outside("secret"), "secret").unwrap();
    std::fs::hard_link(room.outside("secret"), room.path("twin")).unwrap();
    let (workspace, seen_files) = (&room.context.workspace, &room.context.seen_files);
    let twin = workspace.path("twin").unwrap();
    seen_files.note("twin", &workspace.read(&twin).unwrap());
    let refused = workspace.change(&twin, seen_files, |_| Ok(b"mine".to_vec()));
    assert!(matches!(refused, Err(Error::SecondName { .. })));
    assert_eq!(std::fs::read_to_string(room.outside("secret")).unwrap(), "secret");
}

/// What came of a race for a link: a test that says nothing of it may have run both sides one after the other.
#[derive(Debug, Default)]
struct Race {
    inside: usize,
    refused: usize,
    written: usize,
    unwritten: usize,
    /// Reads during which the link was flipped.
    overtaken: usize,
}

impl Race {
    fn is_run(&self) -> bool {
        self.inside >= 100
            && self.refused >= 100
            && self.written >= 5
            && self.unwritten >= 5
            && self.overtaken >= 100
            && self.inside + self.refused >= 10_000
    }
}

/// Tells the other side of a race that it is over, also where an assertion fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

// T42
#[test]
fn a_link_that_is_flipped_ten_thousand_times_never_leads_out() {
    let room = TestWorkspace::with(&[("real/secret", b"inside"), ("plain", b"inside")]);
    std::fs::create_dir(room.outside("far")).unwrap();
    std::fs::write(room.outside("far/secret"), "secret").unwrap();
    let flip = |target: PathBuf| {
        symlink(target, room.path("next")).unwrap();
        std::fs::rename(room.path("next"), room.path("flip")).unwrap();
    };
    flip("real".into());
    let (workspace, seen_files) = (&room.context.workspace, &room.context.seen_files);
    let (secret, new) = (workspace.path("flip/secret").unwrap(), workspace.path("flip/new").unwrap());
    // Where processors are few the two threads may take turns for long; so both go on until the race has really been run.
    let (flips, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut race = Race::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                let turn = flips.fetch_add(1, Ordering::SeqCst);
                flip(if turn % 2 == 0 { room.outside("far") } else { "real".into() });
            }
        });
        let _ends = Ends(&is_over);
        let begun = Instant::now();
        while !race.is_run() || flips.load(Ordering::SeqCst) < 10_000 {
            for _ in 0..100 {
                let before = flips.load(Ordering::SeqCst);
                let read = workspace.read(&secret);
                race.overtaken += usize::from(flips.load(Ordering::SeqCst) > before);
                match read {
                    Ok(content) => {
                        assert_eq!(content, b"inside", "a read got out");
                        race.inside += 1;
                    }
                    Err(_) => race.refused += 1,
                }
            }
            match workspace.change(&new, seen_files, |_| Ok(b"mine".to_vec())) {
                Ok(_) => race.written += 1,
                Err(_) => race.unwritten += 1,
            }
            assert!(begun.elapsed() < HANGS, "the race was not run: {race:?}");
        }
    });
    flip("real".into());
    assert_eq!(workspace.read(&secret).unwrap(), b"inside");
    flip(room.outside("far"));
    assert!(workspace.read(&secret).is_err());
    let far: Vec<_> = std::fs::read_dir(room.outside("far")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(far, ["secret"], "a write got out");
}

// T44
#[tokio::test]
async fn what_is_no_plain_file_is_refused_at_once() {
    let room = TestWorkspace::with(&[]);
    mknodat(CWD, room.path("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(room.path("socket")).unwrap();
    for path in ["pipe", "socket", "pipe/below"] {
        all_refuse(&room, path).await;
    }
    let devices = Workspace::open("/dev").unwrap();
    let error = devices.read(&devices.path("zero").unwrap()).unwrap_err();
    assert!(matches!(error, Error::NotAFile { what: "a device", .. }), "{error}");
}

// T44, F19
#[tokio::test]
async fn a_file_without_end_is_refused_whatever_size_it_claims() {
    at_once("a refusal", async || a_file_without_end_is_refused()).await;
}

fn a_file_without_end_is_refused() {
    let process = Workspace::open("/proc/self").unwrap();
    let made_up = process.read(&process.path("pagemap").unwrap()).unwrap_err();
    assert!(matches!(made_up, Error::TooLarge { .. } | Error::Io { .. }), "{made_up}");
    let room = TestWorkspace::with(&[]);
    std::fs::File::create(room.path("sparse")).unwrap().set_len(1 << 40).unwrap();
    let sparse = room.context.workspace.read(&room.context.workspace.path("sparse").unwrap()).unwrap_err();
    assert!(matches!(sparse, Error::TooLarge { .. }), "{sparse}");
}

// T44
#[tokio::test]
async fn a_named_pipe_in_the_tree_does_not_hold_a_walk() {
    let room = TestWorkspace::with(&[("ok", b"needle")]);
    for name in [".gitignore", ".ignore", "pipe"] {
        mknodat(CWD, room.path(name), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    }
    at_once("a walk", async || {
        let found = room.ok(crate::search_files::tool(), r#"{"pattern": "needle"}"#).await.content;
        assert_eq!(&*found, "ok\n1: needle");
    })
    .await;
}

// T46
#[test]
fn a_name_that_is_taken_meanwhile_is_not_overwritten() {
    let room = TestWorkspace::with(&[]);
    let (workspace, seen_files) = (&room.context.workspace, &room.context.seen_files);
    let change = workspace.change(&workspace.path("a").unwrap(), seen_files, |_| {
        std::fs::write(room.path("a"), "theirs").unwrap();
        Ok(b"mine".to_vec())
    });
    assert!(matches!(change, Err(Error::Changed { .. })), "{change:?}");
    assert_eq!(room.text("a"), "theirs");
    assert_eq!(std::fs::read_dir(room.path("")).unwrap().count(), 1, "no passing file stays behind");
}

#[test]
fn a_workspace_must_be_a_folder_that_is_there() {
    let room = TestWorkspace::with(&[("file", b"")]);
    assert!(matches!(Workspace::open(room.path("none")), Err(Error::Root { .. })));
    assert!(matches!(Workspace::open(room.path("file")), Err(Error::Root { .. })));
}

#[tokio::test]
async fn a_stop_ends_a_walk_and_keeps_a_write_from_beginning() {
    let room = TestWorkspace::with(&[("a", b""), ("b", b"")]);
    let mut seen = Vec::new();
    let walked =
        walk::walk(&room.context.workspace, &room.context.workspace.path(".").unwrap(), &room.context.stop, |entry| {
            seen.push(entry.path.to_owned());
            room.context.stop.cancel();
            std::ops::ControlFlow::Continue(())
        });
    assert_eq!((walked.unwrap(), seen), (walk::Walked::Stopped, vec!["a".to_owned()]));
    let said = room.error(crate::write_file::tool(), r#"{"path": "c", "content": ""}"#).await;
    assert_eq!(said, "stopped before it began");
    assert!(!room.path("c").exists());
}

#[test]
fn many_paths_are_followed_as_each_of_them_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("home/.config")).unwrap();
    std::fs::create_dir_all(at("elsewhere/deep")).unwrap();
    std::os::unix::fs::symlink(at("elsewhere"), at("home/link")).unwrap();
    std::os::unix::fs::symlink(at("nowhere"), at("home/dangling")).unwrap();
    let mut many = Followed::default();
    for name in [
        "home/.ssh",
        "home/.config/gh",
        "home/link/deep",
        "home/link/none",
        "home/dangling",
        "home/dangling/x",
        "none/x/y",
    ] {
        for path in [at(name), at("home/..").join(name)] {
            assert_eq!(many.of(&path), followed(&path).1, "{}", path.display());
            assert_eq!(many.of(&path), followed(&path).1, "again: {}", path.display());
        }
    }
}
