//! The repository itself: what the map promises exists, what exists is on the map, and texts are plain.

use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn read(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn files_below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository can be read") {
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
        files_below(&workspace().join(folder), "rs", &mut found);
    }
    assert!(found.len() > 100, "the search for files is broken: it found {}", found.len());
    found
}

#[test]
fn every_crate_is_on_both_maps() {
    let (map, guide) = (read("ARCHITECTURE.md"), read("CONTRIBUTING.md"));
    for entry in fs::read_dir(workspace().join("crates")).expect("there are crates") {
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
        assert!(workspace().join(place).exists(), "{place} is on the map and does not exist");
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
    assert!(workspace().join("examples/tour.toml").exists());
}

/// Words that a reader has to decode: second names of crates, and people who are not named.
const RIDDLES: [&str; 11] = [
    "the heart",
    "the voice",
    "the voices",
    "the hands",
    "the mirror",
    "the window",
    "the desk",
    "the house",
    "the rooms",
    "whoever",
    "somebody",
];

/// Sources in which such words are data or have their usual meaning.
const LITERAL: [(&str, &str); 7] = [
    ("crates/agent/src/thread/unlogged.rs", "whoever"), // what models were told by earlier versions
    ("crates/household/src/calendar/", "the window"),   // a span of time
    ("crates/majordomo/examples/embed.rs", "the window"), // of a greenhouse
    ("crates/server/tests/fold/markdown.rs", "somebody"), // part of an address
    ("crates/store/src/projection/tests.rs", "the desk"), // a user's message
    ("crates/testkit/tests/layout.rs", "*"),
    ("crates/cli/tests/browser/axe/", "*"), // another project's script
];

fn riddles_in(text: &str) -> impl Iterator<Item = &'static str> {
    let mut words = String::from(" ");
    let mut is_inner = false;
    for c in text.chars() {
        // `theWindow` and `TheWindow` are words like `the_window`.
        if (is_inner && c.is_uppercase()) || !(c.is_alphanumeric() || words.ends_with(' ')) {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        is_inner = c.is_lowercase();
    }
    words.push(' ');
    RIDDLES.into_iter().filter(move |riddle| words.contains(&format!(" {riddle} ")))
}

#[test]
fn what_users_read_uses_one_plain_name_for_each_thing() {
    let mut files = Vec::new();
    files_below(&workspace().join("docs"), "md", &mut files);
    files_below(&workspace().join("docs"), "json", &mut files);
    let others = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    files.extend(others.iter().map(|name| workspace().join(name)));
    for path in files {
        let text = fs::read_to_string(&path).expect("a text");
        assert_eq!(riddles_in(&text).next(), None, "{}", path.display());
    }
}

#[test]
fn sources_use_one_plain_name_for_each_thing() {
    let mut files = rust_files();
    for ending in ["js", "css", "c"] {
        files_below(&workspace().join("crates"), ending, &mut files);
    }
    for path in files {
        let name = path.strip_prefix(workspace()).expect("a file of the repository").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a source file is text");
        let is_literal = |riddle: &str| {
            LITERAL.iter().any(|(place, word)| name.starts_with(place) && (*word == "*" || *word == riddle))
        };
        assert_eq!(riddles_in(&text).find(|riddle| !is_literal(riddle)), None, "{name}");
    }
    assert_eq!(riddles_in("fn theWindow(), whoever_asks").collect::<Vec<_>>(), ["the window", "whoever"]);
}

#[test]
fn the_rules_hold_no_boxed_closures() {
    let mut files = Vec::new();
    files_below(&workspace().join("crates/agent/src"), "rs", &mut files);
    for path in files {
        let text = fs::read_to_string(&path).expect("a source file is text");
        assert!(!text.contains("Box<dyn"), "{}: what the rules need is handed in as data", path.display());
    }
}
