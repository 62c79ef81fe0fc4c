//! Files of the workspace on a device that fails: what was there stays whole, and the model is told.

use std::fs;

use agent::Event;
use rustix::io::Errno;
use testkit::scenes::{call, calls, says, scene};

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
