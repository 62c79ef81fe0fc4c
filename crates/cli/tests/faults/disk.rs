//! A disk that is full, and has space again: eight real megabytes, mounted for the test.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::place::{ANSWER, Place, answers, fails, until_says};

/// A small file system of its own, for as long as this is held.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one over a folder. None where that is not allowed, and the test that asked says so.
    pub fn over(folder: &Path) -> Option<Self> {
        let disk = mount(folder, "size=8m").then(|| Self(folder.to_owned()));
        if disk.is_none() {
            testkit::skip::skipped("a file system of its own takes root to mount");
        }
        disk
    }

    /// Fills it up to the last page.
    pub fn fill(&self) {
        let mut ballast = File::create(self.0.join("ballast")).expect("a file");
        while ballast.write_all(&[1; 4096]).is_ok() {}
    }

    /// Makes space.
    pub fn empty(&self) {
        fs::remove_file(self.0.join("ballast")).expect("the ballast is there");
    }

    /// Forbids writing.
    pub fn make_read_only(&self) {
        assert!(mount(&self.0, "remount,ro"), "what was mounted can be mounted again");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A process that still uses it keeps it until then.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(folder: &Path, options: &str) -> bool {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

const FULL: &str = "no space left for the database";

#[test]
fn a_run_on_a_full_disk_says_why_it_waits_and_goes_on_when_there_is_space() {
    // F8
    let place = Place::new();
    let Some(disk) = SmallDisk::over(&place.state()) else { return };
    let mut run = place.waiting();
    disk.fill();
    let before = place.log();
    place.go();
    until_says(&mut run, FULL);
    assert_eq!(place.log(), before, "what was acknowledged is there, and nothing else");
    assert!(place.call(&["thread", "ls"]).out.contains("waiting_for_tool"), "others can look");
    disk.empty();
    answers(&run.done(), 0, ANSWER);
    assert_eq!(place.log()[..before.len()], before);
    assert_eq!(place.begun(), 1, "nothing is done twice");
}

#[test]
fn a_run_that_was_killed_on_a_full_disk_is_resumed_when_there_is_space() {
    // F8, F1
    let place = Place::new();
    let Some(disk) = SmallDisk::over(&place.state()) else { return };
    let mut run = place.waiting();
    disk.fill();
    let before = place.log();
    place.go();
    until_says(&mut run, FULL);
    run.kill();
    let thread = before[0].thread.as_str();
    fails(&place.call(&["thread", "resume", thread]), 1, &[FULL]);
    disk.empty();
    answers(&place.call(&["thread", "resume", thread]), 0, ANSWER);
    assert_eq!(place.log()[..before.len()], before);
    assert_eq!(place.begun(), 1, "nothing is done twice");
}

#[test]
fn a_run_that_a_full_disk_keeps_from_beginning_is_not_begun() {
    // F8
    let place = Place::new();
    let Some(disk) = SmallDisk::over(&place.state()) else { return };
    disk.fill();
    place.go();
    fails(&place.wait().done(), 1, &[FULL]);
    assert_eq!(place.begun(), 0);
    disk.empty();
    answers(&place.wait().done(), 0, ANSWER);
    assert_eq!(place.begun(), 1);
}

#[test]
fn the_doctor_says_that_the_data_folder_cannot_be_written_and_what_to_do() {
    // F8
    let place = Place::new();
    // Nobody can make a folder there, not even root.
    for data in ["/proc/self/majordomo", "/proc/self/fd"] {
        let told = place.call(&["doctor", "--data", data]);
        assert!(
            told.code == Some(1) && told.out.contains(&format!("broken data          {data} cannot be")),
            "{told:?}"
        );
        assert!(told.out.contains("choose another folder with --data or MAJORDOMO_DATA"), "{told:?}");
    }
    let file = place.path("file");
    fs::write(&file, "x").expect("a file");
    for data in [file.clone(), file.join("data")] {
        let told = place.call(&["doctor", "--data", &data.display().to_string()]);
        assert!(told.code == Some(1) && told.out.contains("broken data "), "{told:?}");
    }
    let before = fs::read_dir(place.state()).expect("a folder").count();
    assert!(place.call(&["doctor"]).out.contains("ok     data "));
    assert_eq!(fs::read_dir(place.state()).expect("a folder").count(), before, "nothing is left there");
    let Some(disk) = SmallDisk::over(&place.state()) else { return };
    disk.make_read_only();
    let told = place.call(&["doctor"]);
    assert!(told.code == Some(1) && told.out.contains("cannot be written (Read-only file system"), "{told:?}");
}
