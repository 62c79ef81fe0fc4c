//! The house itself: what the map promises is there, and what is there is on the map.

use std::fs;
use std::path::{Path, PathBuf};

fn house() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn read(path: &str) -> String {
    fs::read_to_string(house().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files_below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the house can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            files_below(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

fn rust_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "xtask"] {
        files_below(&house().join(folder), "rs", &mut found);
    }
    assert!(found.len() > 100, "the search for files is broken: it found {}", found.len());
    found
}

#[test]
fn every_crate_is_on_both_maps() {
    let (map, guide) = (read("ARCHITECTURE.md"), read("CONTRIBUTING.md"));
    for entry in fs::read_dir(house().join("crates")).expect("there are crates") {
        let name = format!("crates/{}", entry.expect("a crate").file_name().to_string_lossy());
        assert!(map.contains(&name), "{name} is not in ARCHITECTURE.md");
        assert!(guide.contains(&name), "{name} is not in CONTRIBUTING.md");
    }
}

#[test]
fn every_place_that_the_map_names_exists() {
    let map = read("ARCHITECTURE.md");
    let words = map.split(['`', '(', ')', ' ', '\n', ',']);
    let places: Vec<&str> = words.filter(|word| word.starts_with("crates/") || word.starts_with("docs/")).collect();
    assert!(places.len() > 10, "the map names places");
    for place in places {
        let place = place.trim_end_matches(['.', ':', '*']);
        assert!(house().join(place).exists(), "{place} is on the map and does not exist");
    }
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    // A sibling `tests.rs` belongs to the file beside it.
    for path in rust_files().into_iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(&path).expect("a source file is text");
        assert!(text.starts_with("//!"), "{} does not say what it is for", path.display());
    }
}

#[test]
fn no_folder_is_a_mod_rs() {
    for path in rust_files() {
        assert_ne!(path.file_name().unwrap_or_default(), "mod.rs", "{}: foo.rs beside foo/", path.display());
    }
}

#[test]
fn the_two_commands_of_the_readme_are_the_ones_that_are_run() {
    let readme = read("README.md");
    assert!(readme.contains("cargo xtask test"));
    assert!(read(".ci/run").contains("exec cargo xtask test"));
    assert!(readme.contains("cargo run --release --locked -- run --demo"));
    assert!(readme.contains("-m scripted/examples/tour.toml"));
    assert!(house().join("examples/tour.toml").exists());
}
