//! Files of the workspace on a device that fails: what was there stays whole, and the model is told.

use std::fs;
use std::path::Path;

use agent::Event;
use rustix::io::Errno;
use testkit::scenes::{call, calls, says, scene};
use testkit::world::until;

use crate::device::Device;
use crate::place::{ANSWER, Place, answers};

const FILE: &str = "letter.txt";
const OLD: &str = "Dear aunt,\nall is well.\n";

/// A place in which a letter is read and then changed by a call.
fn changing(change: &str) -> Place {
    let read = call("read_file", &format!("path = {FILE:?}"));
    let place = Place::playing(&[scene("Change", &[calls(&[read]), calls(&[change.to_owned()]), says(ANSWER)])]);
    fs::write(place.path(FILE), OLD).expect("a letter");
    place
}

/// The same letter written anew, edited, and another one begun.
fn changes() -> [String; 3] {
    [
        call("write_file", &format!("path = {FILE:?}, content = \"Dear uncle,\"")),
        call("edit_file", &format!("path = {FILE:?}, old_string = \"well\", new_string = \"lost\"")),
        call("write_file", "path = \"other.txt\", content = \"Dear uncle,\""),
    ]
}

/// Runs it, and insists that the letter is as it was, that nothing else is there, and that the model was told why.
fn leaves_all_as_it_was(place: &Place, why: &str) {
    answers(&place.run("Change", &[]).done(), 0, ANSWER);
    assert_eq!(fs::read_to_string(place.path(FILE)).expect("the letter"), OLD);
    let left: Vec<_> =
        fs::read_dir(place.path(".")).expect("a folder").flatten().map(|file| file.file_name()).collect();
    assert_eq!(left, [FILE], "no passing file stays behind");
    let log = place.log();
    let told = log.iter().filter_map(|record| match &*record.event {
        Event::ToolFinished { result, .. } if result.is_error => Some(&*result.content),
        _ => None,
    });
    let told: Vec<&str> = told.collect();
    assert!(matches!(told[..], [words] if words.contains(".txt'") && words.contains(why)), "{told:?}");
}

#[test]
fn a_file_that_cannot_be_written_or_flushed_stays_as_it_was() {
    // F8
    let device = Device::new();
    for change in changes() {
        for (call, error, why) in [
            ("write", Errno::IO, "Input/output error"),
            ("write", Errno::NOSPC, "No space left on device"),
            ("fsync", Errno::IO, "Input/output error"),
            ("fsync", Errno::NOSPC, "No space left on device"),
        ] {
            let place = changing(&change).with(device.variables());
            device.fail(call, error, &place.path("").display().to_string());
            leaves_all_as_it_was(&place, why);
        }
    }
}

#[test]
fn a_file_that_cannot_be_put_in_its_place_stays_as_it_was() {
    // F8
    let device = Device::new();
    for change in changes() {
        for (error, why) in [(Errno::IO, "Input/output error"), (Errno::NOSPC, "No space left on device")] {
            let refusal = ("DEVICE_RENAME".to_owned(), error.raw_os_error().to_string());
            leaves_all_as_it_was(&changing(&change).with(device.variables()).with([refusal]), why);
        }
    }
}

/// The temporary files in a folder.
fn temporary(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(".majordomo-")).collect()
}

/// Kills a run in the middle of a write to a folder, and comes back with the run's thread.
fn killed_in_a_write(place: &Place, device: &Device, folder: &Path) -> String {
    device.hang("fsync", "/.majordomo-");
    let mut run = place.run("Write", &[]);
    until("a temporary file", || (!temporary(folder).is_empty()).then_some(()));
    run.kill();
    device.heal();
    assert_eq!(temporary(folder).len(), 1, "a killed process cannot remove it");
    place.log()[0].thread.to_string()
}

#[test]
fn a_temporary_file_of_a_killed_process_is_gone_when_its_thread_is_resumed() {
    // F1, F44
    let device = Device::new();
    let remember = || call("memory", "action = \"append\", text = \"- once\"");
    let write = call("write_file", "path = \"a/b/c.txt\", content = \"x\"");
    for (change, is_memory) in [(write, false), (remember(), true)] {
        // The first note creates the file; only what replaces it is written beside it.
        let replies = [calls(&[remember()]), calls(&[change]), says(ANSWER)];
        let place = Place::playing(&[scene("Write", &replies)]).with(device.variables());
        let folder = if is_memory { place.state().join("memory") } else { place.path("a/b") };
        let thread = killed_in_a_write(&place, &device, &folder);
        // Those of others stay: this one is being written by this very test.
        let in_use = folder.join(format!(".majordomo-{}-0.tmp", std::process::id()));
        fs::write(&in_use, "x").expect("a file");
        answers(&place.call(&["thread", "resume", &thread]), 0, ANSWER);
        let kept = in_use.file_name().expect("a name").to_str().expect("text");
        assert_eq!(temporary(&folder), [kept]);
    }
}

#[test]
fn the_doctor_removes_temporary_files_of_killed_processes() {
    // F44
    let device = Device::new();
    let write = call("write_file", "path = \"a/b/c.txt\", content = \"x\"");
    let place = Place::playing(&[scene("Write", &[calls(&[write]), says(ANSWER)])]).with(device.variables());
    let folder = place.path("a/b");
    killed_in_a_write(&place, &device, &folder);
    let told = place.call(&["doctor"]);
    assert!(told.out.contains("note   temporary     removed a file that a killed process had left"), "{told:?}");
    assert_eq!(temporary(&folder), [""; 0]);
    let told = place.call(&["doctor"]);
    assert!(told.out.contains("ok     temporary     no temporary files left by killed processes"), "{told:?}");
}
