//! A folder for state that cannot be used: not a folder, not writable, not a database, or only half of one. Each is told
//! with its place and what can be done, and left as it is.

use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use crate::disk::SmallDisk;
use crate::place::{ANSWER, Place, answers, fails, until_says};

const DAMAGED: &str = "the database is damaged; restore a copy, or move it away to begin anew";
const PAGE: u64 = 4096;

/// The files in a folder with their bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
        .collect();
    files.sort();
    files
}

/// The page at which the events begin, in a database that is one file with everything in it.
fn page_of_events(place: &Place) -> u64 {
    let database = Connection::open(place.database("")).expect("a connection");
    let page: u32 = database
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'events'", [], |row| row.get(0))
        .expect("a table");
    // The last to close it folds the log into it.
    drop(database);
    assert!(!place.database("-wal").exists());
    page.into()
}

/// Overwrites pages of the database, counted from 1; what it holds afterwards.
fn overwrite(place: &Place, pages: RangeInclusive<u64>) -> Vec<u8> {
    let file = fs::File::options().write(true).open(place.database("")).expect("the database");
    for page in pages {
        file.write_all_at(&[0xAA; PAGE as usize], (page - 1) * PAGE).expect("damage");
    }
    fs::read(place.database("")).expect("the database")
}

#[test]
fn a_file_in_the_place_of_the_folder_is_named() {
    let place = Place::new();
    let file = place.state().join("file");
    fs::write(&file, "something else").expect("a file");
    for data in [file.clone(), file.join("below")] {
        let data = data.display().to_string();
        fails(&place.call(&["thread", "ls", "--data", &data]), 1, &[&data, "the database cannot be reached"]);
    }
    assert_eq!(fs::read_to_string(&file).expect("the file"), "something else");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_before_anything_is_asked() {
    let place = Place::new();
    let Some(disk) = SmallDisk::over(&place.state()) else { return };
    disk.make_read_only();
    place.go();
    let state = place.state().display().to_string();
    fails(&place.wait().done(), 1, &[&state, "Read-only file system"]);
    assert_eq!(place.begun(), 0);
}

#[test]
fn what_is_kept_in_a_folder_that_became_read_only_can_still_be_seen() {
    let place = Place::new();
    let Some(disk) = SmallDisk::over(&place.state()) else { return };
    let thread = place.finished();
    // As a process that was not killed leaves it: one file, with everything in it.
    rusqlite::Connection::open(place.database(""))
        .and_then(|database| database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
        .expect("the database can be closed in good order");
    disk.make_read_only();
    let listed = place.call(&["thread", "ls"]);
    assert!(listed.code == Some(0) && listed.out.contains(&thread), "{listed:?}");
    assert!(place.call(&["thread", "show", &thread]).out.contains("It is done."));
    fails(&place.wait().done(), 1, &["the database is read-only"]);
    assert_eq!(place.begun(), 1);
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    // F7
    let place = Place::new();
    fs::write(place.database(""), "Dear diary, this is no database. ".repeat(500)).expect("a file");
    let before = files(&place.state());
    let path = place.database("").display().to_string();
    for words in [&["thread", "ls"][..], &["ps"], &["thread", "resume", "k3f9"], &["stop", "k3f9"]] {
        fails(&place.call(words), 1, &[DAMAGED, &path]);
    }
    place.go();
    fails(&place.wait().done(), 1, &[DAMAGED, &path]);
    assert_eq!(place.begun(), 0);
    assert!(files(&place.state()) == before, "nothing is changed and nothing is added");
}

#[test]
fn a_database_of_a_newer_program_is_refused_and_left_as_it_is() {
    // F11
    let place = Place::new();
    let thread = place.finished();
    let database = Connection::open(place.database("")).expect("a connection");
    database.pragma_update(None, "user_version", 99).expect("a commit");
    drop(database);
    let before = fs::read(place.database("")).expect("the database");
    for words in [&["thread", "ls"][..], &["thread", "resume", &thread], &["stop", &thread]] {
        fails(&place.call(words), 1, &["the database has schema 99", "use a newer version"]);
    }
    fails(&place.wait().done(), 1, &["the database has schema 99"]);
    assert_eq!(place.begun(), 1);
    assert!(fs::read(place.database("")).expect("the database") == before, "nothing is changed");
}

#[test]
fn a_damaged_page_is_told_when_it_is_read() {
    // F7
    let place = Place::new();
    let thread = place.finished();
    let page = page_of_events(&place);
    let damaged = overwrite(&place, page..=page);
    fails(&place.call(&["thread", "show", &thread]), 1, &[DAMAGED]);
    assert!(fs::read(place.database("")).expect("the database") == damaged, "what is damaged is not written to");
}

#[test]
fn a_run_that_meets_damage_ends_with_the_cure_and_leaves_the_database_as_it_is() {
    // F7: what it has to say of itself is written before it comes to the page that is damaged.
    let place = Place::new();
    let thread = place.finished();
    let page = page_of_events(&place);
    let damaged = overwrite(&place, page..=page);
    fails(&place.wait().done(), 1, &[DAMAGED]);
    fails(&place.call(&["thread", "resume", &thread]), 1, &[DAMAGED]);
    assert_eq!(place.begun(), 1, "nothing is begun that cannot be remembered");
    assert!(fs::read(place.database("")).expect("the database") == damaged, "what is damaged is not written to");
}

#[test]
fn damage_beneath_a_run_is_told_and_what_was_kept_goes_on_with_a_copy_put_back() {
    // F7
    let place = Place::new();
    let run = place.waiting();
    let kept = place.log();
    let thread = kept[0].thread.to_string();
    let other = Connection::open(place.database("")).expect("a connection");
    let is_busy = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    assert_eq!(is_busy, Ok(false), "everything is in the one file that will be damaged");
    let whole = fs::read(place.database("")).expect("the database");
    let damaged = overwrite(&place, 2..=whole.len() as u64 / PAGE);
    // A process that has pages in memory reads them again after another process has written.
    let version: i64 = other.pragma_query_value(None, "user_version", |row| row.get(0)).expect("the schema's version");
    other.pragma_update(None, "user_version", version).expect("a commit");
    drop(other);
    place.go();
    fails(&run.done(), 1, &[DAMAGED]);
    assert!(fs::read(place.database("")).expect("the database") == damaged, "what is damaged is not written to");
    fs::write(place.database(""), whole).expect("a copy is put back");
    assert_eq!(place.log(), kept, "what was acknowledged is there");
    answers(&place.call(&["thread", "resume", &thread]), 0, ANSWER);
    assert_eq!(place.begun(), 1, "nothing is done twice");
    place.sound();
}

#[test]
fn a_log_file_that_was_removed_is_missed_and_can_be_put_back() {
    // F6
    let place = Place::new();
    let mut run = place.waiting();
    let before = place.log();
    run.kill();
    let (log, away) = (place.database("-wal"), place.state().join("away"));
    fs::rename(&log, &away).expect("a move");
    let as_found = files(&place.state());
    fails(&place.call(&["thread", "ls"]), 1, &[DAMAGED, "majordomo.db-wal is gone", "put it back"]);
    assert!(files(&place.state()) == as_found);
    fs::rename(&away, &log).expect("a move");
    assert_eq!(place.log(), before);
    answers(&place.call(&["thread", "resume", before[0].thread.as_str()]), 0, ANSWER);
}

const GONE: &str = "majordomo.db was deleted, moved or replaced while it was in use";

#[test]
fn a_run_whose_database_is_deleted_says_so_and_fails() {
    // F6: without a word, everything that it writes would be gone with the process.
    for removes in [remove_the_files, remove_the_folder] {
        let place = Place::new();
        let run = place.waiting();
        removes(&place);
        place.go();
        fails(&run.done(), 1, &[GONE, "put the file or a copy of it back and resume the run"]);
        assert_eq!(place.begun(), 1);
    }
}

fn remove_the_files(place: &Place) {
    for ending in ["", "-wal", "-shm"] {
        fs::remove_file(place.database(ending)).expect("it is there");
    }
}

fn remove_the_folder(place: &Place) {
    fs::remove_dir_all(place.state()).expect("it is there");
}

#[test]
fn a_run_whose_database_is_replaced_says_so_and_leaves_the_other_alone() {
    // F6
    let (place, other) = (Place::new(), Place::new());
    other.finished();
    let run = place.waiting();
    let away = place.state().join("away");
    fs::create_dir(&away).expect("a folder");
    for ending in ["", "-wal", "-shm"] {
        let name = place.database(ending);
        fs::rename(&name, away.join(name.file_name().expect("a name"))).expect("a move");
        if other.database(ending).exists() {
            fs::copy(other.database(ending), &name).expect("a copy");
        }
    }
    let before = place.log();
    place.go();
    fails(&run.done(), 1, &[GONE]);
    assert_eq!(place.log(), before, "nothing is written to it");
    place.sound();
}

#[test]
fn a_run_that_waits_hears_within_seconds_that_its_database_was_deleted() {
    // F6
    let place = Place::new();
    let mut run = place.waiting();
    remove_the_files(&place);
    until_says(&mut run, GONE);
    place.go();
    fails(&run.done(), 1, &[GONE]);
}
