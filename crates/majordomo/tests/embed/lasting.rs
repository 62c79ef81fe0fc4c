//! A program that runs for long: nothing of a run stays in the process once it is over.

use std::fs;
use std::path::Path;

use majordomo::{Mode, Outcome, Work};
use testkit::scenes::{call, calls, command, says, scene, spawn};

use crate::builder;

/// Runs after which everything that is made once is there.
const FIRST: usize = 60;
const FURTHER: usize = 240;

/// What a process holds.
#[derive(Debug)]
struct Held {
    handles: usize,
    threads: usize,
    processes: usize,
    files: usize,
    resident_kib: usize,
}

impl Held {
    fn now(folder: &Path) -> Self {
        let count = |folder: &str| fs::read_dir(folder).expect("a folder").count();
        let status = fs::read_to_string("/proc/self/status").expect("a file");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
        let resident_kib = resident.trim().trim_end_matches(" kB").parse().expect("a number");
        Self {
            handles: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            processes: children(),
            files: files(folder),
            resident_kib,
        }
    }
}

/// The processes that this one has started and that are there.
fn children() -> usize {
    let of_thread = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("children")).unwrap_or_default();
    let threads = fs::read_dir("/proc/self/task").expect("a folder").flatten();
    threads.map(|thread| of_thread(thread).split_whitespace().count()).sum()
}

fn files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

// F44: three hundred runs in the place of ten thousand and an hour, for a test takes seconds: what each run leaves behind is seen after a few
// hundred. Memory may grow by what the caches of the database still take; a run that kept 100 KiB would go beyond it.
#[tokio::test]
async fn many_runs_leave_no_handle_thread_process_or_file_and_no_memory_behind() {
    let (data, workspace) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let scenes = [
        scene("Work", &[calls(&[spawn("a part"), command("true")]), says("done")]),
        scene("a part", &[calls(&[call("list_dir", "")]), says("part")]),
    ];
    let staff = builder(&scenes).workspace(workspace.path()).data_folder(data.path()).mode(Mode::Dangerous);
    let staff = staff.set("store.durability", "normal");
    let staff = staff.build().await.expect("a staff");
    let run = async |times: usize| {
        for _ in 0..times {
            let work = Work::new("Work").approve(|_| async { majordomo::Decision::allow() });
            assert_eq!(staff.run(work).await.expect("a report").outcome, Outcome::Completed);
        }
    };
    run(FIRST).await;
    let before = Held::now(data.path());
    run(FURTHER).await;
    let after = Held::now(data.path());
    let grown = |what: fn(&Held) -> usize| what(&after).saturating_sub(what(&before));
    // Threads that may block come and go, and the store opens a connection when it needs one more.
    assert!(grown(|held| held.handles) <= 8 && grown(|held| held.threads) <= 8, "{before:?} {after:?}");
    assert!(grown(|held| held.processes) <= 1 && grown(|held| held.files) <= 2, "{before:?} {after:?}");
    assert!(grown(|held| held.resident_kib) <= 24 << 10, "{before:?} {after:?}");
    staff.close().await;
}
