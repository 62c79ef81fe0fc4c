//! The repository itself: what the map promises exists, what exists is on the map, and texts are plain.

use std::collections::BTreeSet;
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
fn every_decision_has_a_number_of_its_own_and_is_found_where_pages_name_it() {
    let mut pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(PathBuf::from).to_vec();
    files_below(&workspace().join("docs"), "md", &mut pages);
    let mut numbers = BTreeSet::new();
    for entry in fs::read_dir(workspace().join("docs/decisions")).expect("there are decisions") {
        let name = entry.expect("a decision").file_name().to_string_lossy().into_owned();
        let number: u32 = name.get(..4).and_then(|digits| digits.parse().ok()).expect("a number of four digits");
        assert!(numbers.insert(number), "two decisions have the number {number}");
        let page = read(&format!("docs/decisions/{name}"));
        assert!(page.starts_with(&format!("# {number}. ")), "{name} has another number in its heading");
    }
    assert!(numbers.len() > 10, "the search for decisions is broken");
    for path in pages {
        let text = fs::read_to_string(workspace().join(&path)).expect("a page");
        for named in text.split("decisions/").skip(1).filter(|named| named.starts_with(|c: char| c.is_ascii_digit())) {
            let name = named.split([')', '`', ' ', '#']).next().expect("a name");
            assert!(workspace().join("docs/decisions").join(name).exists(), "{} names {name}", path.display());
        }
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
const LITERAL: [(&str, &str); 8] = [
    ("crates/agent/src/thread/unlogged.rs", "whoever"), // what models were told by earlier versions
    ("crates/household/src/calendar/", "the window"),   // a span of time
    ("crates/majordomo/examples/", "the window"),       // of a greenhouse
    ("crates/majordomo/tests/examples.rs", "the window"), // the same
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

/// Without it, each crate that awaits one of them compiles it again (docs/decisions/0023).
#[test]
fn async_functions_of_the_library_are_compiled_where_they_are_written() {
    let mut missing = Vec::new();
    for path in ["crates/majordomo/src", "crates/mcp/src"].map(|folder| workspace().join(folder)) {
        let mut files = Vec::new();
        files_below(&path, "rs", &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("pub async fn ")) {
                let signature: String = lines[at..].iter().take_while(|line| !line.ends_with('{')).copied().collect();
                let signature = signature + line;
                let is_generic =
                    signature.contains("impl ") || signature.split('(').next().is_some_and(|name| name.contains('<'));
                if !is_generic && lines[at - 1] != "#[boxed]" {
                    missing.push(format!("{}: {line}", file.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "mark these #[boxed]:\n{}", missing.join("\n"));
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

/// A requirement: its id, and why no test names it where none does.
struct Row {
    id: String,
    untested: Option<String>,
}

fn rows() -> Vec<Row> {
    let text = read("crates/testkit/rows.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &str| {
        let mut fields = line.split(" | ");
        let id = fields.next().expect("a line has a first field").to_owned();
        assert!(fields.next().is_some_and(|meaning| meaning.len() > 10), "{id} says what it is about");
        Row { id, untested: fields.next().map(str::to_owned) }
    };
    lines.map(row).collect()
}

/// The ids that tests name: in the comments and texts of test files, of test modules, and in stories.
fn named_by_tests() -> BTreeSet<String> {
    let mut files = rust_files();
    files_below(&workspace().join("crates/testkit/stories"), "story", &mut files);
    let mut named = BTreeSet::new();
    for path in files.into_iter().filter(|path| !path.ends_with("testkit/tests/layout.rs")) {
        let text = fs::read_to_string(&path).expect("a source file is text");
        let is_test = path.components().any(|part| part.as_os_str() == "tests")
            || path.ends_with("tests.rs")
            || path.extension().is_some_and(|extension| extension == "story");
        let tests = if is_test { &text[..] } else { text.split_once("#[cfg(test)]").map_or("", |(_, tests)| tests) };
        for line in tests.lines().filter(|line| !is_rust(&path) || line.contains("//") || line.contains('"')) {
            let words: Vec<&str> =
                line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).filter(|word| is_id(word)).collect();
            for pair in words.windows(2).filter(|pair| line.contains(&format!("{} to {}", pair[0], pair[1]))) {
                named.extend(between(pair[0], pair[1]));
            }
            named.extend(words.into_iter().map(str::to_owned));
        }
    }
    named
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

const FAMILIES: [&str; 6] = ["ORION-", "LACE-", "ZILEO-", "KATA-", "OPTA-", "INV-"];

fn is_id(word: &str) -> bool {
    let number = FAMILIES.iter().find_map(|family| word.strip_prefix(family));
    let number = number.or_else(|| word.strip_prefix(['T', 'F']).map(|number| number.trim_end_matches('b')));
    number.is_some_and(|number| (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// All ids from one to another of the same family.
fn between(first: &str, last: &str) -> Vec<String> {
    let parts = |id: &str| {
        let family = id.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        let number: u32 = id[family.len()..].parse().unwrap_or(0);
        (family, number)
    };
    let ((family, from), (_, to)) = (parts(first), parts(last));
    (from..=to).map(|number| format!("{family}{number}")).collect()
}

#[test]
fn every_requirement_is_named_by_a_test_or_says_why_not() {
    let (rows, named) = (rows(), named_by_tests());
    let ids: BTreeSet<&str> = rows.iter().map(|row| &*row.id).collect();
    assert!(rows.len() > 280 && ids.len() == rows.len(), "each id stands on one line");
    let untested = |row: &&Row| row.untested.is_none() && !named.contains(&row.id);
    let missing: Vec<&str> = rows.iter().filter(untested).map(|row| &*row.id).collect();
    assert!(missing.is_empty(), "no test names {missing:?}");
    let tested = |row: &&Row| row.untested.is_some() && named.contains(&row.id);
    let late: Vec<&str> = rows.iter().filter(tested).map(|row| &*row.id).collect();
    assert!(late.is_empty(), "tests name {late:?}: take away the reason why none does");
    let is_ours = |id: &&String| FAMILIES.iter().any(|family| id.starts_with(family));
    let unknown: Vec<&String> = named.iter().filter(is_ours).filter(|id| !ids.contains(id.as_str())).collect();
    assert!(unknown.is_empty(), "tests name {unknown:?}, which crates/testkit/rows.txt does not hold");
}

#[test]
fn every_sentence_about_providers_has_a_test() {
    let sources: Vec<String> =
        rust_files().iter().map(|path| fs::read_to_string(path).expect("a source file is text")).collect();
    let text = read("crates/testkit/providers.txt");
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(lines.len() > 70, "the list is read");
    for line in lines {
        let (sentence, test) = line.split_once(" | ").expect("a line holds a sentence and the name of a test");
        let is_there = sources.iter().any(|source| {
            source.match_indices(&format!("fn {test}()")).any(|(at, _)| {
                let before = &source[..at];
                let attributes = before.rfind('}').map_or(before, |end| &before[end..]);
                attributes.contains("#[test]") || attributes.contains("#[tokio::test")
            })
        });
        assert!(is_there, "no test is called {test}, which should show: {sentence}");
    }
}

#[test]
fn ids_are_found_in_comments_as_people_write_them() {
    assert!(["ORION-4", "T34b", "F9", "INV-12"].iter().all(|word| is_id(word)));
    assert!(["ORION-", "T", "T345", "FLAG-1", "Task", "KATA-1x", "THREADS"].iter().all(|word| !is_id(word)));
    assert_eq!(between("KATA-9", "KATA-11"), ["KATA-9", "KATA-10", "KATA-11"]);
}

// ORION-28: what is handed over and what comes back are defined in one place, and so is the list of those who work.
#[test]
fn what_is_handed_over_is_defined_once() {
    let sources: Vec<(PathBuf, String)> = rust_files()
        .into_iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
        .map(|path| (path.clone(), fs::read_to_string(path).expect("a source file is text")))
        .collect();
    let defined = |words: &str| -> Vec<&Path> {
        let holds = |text: &String| text.lines().any(|line| line.trim_start().starts_with(words));
        sources.iter().filter(|(_, text)| holds(text)).map(|(path, _)| &**path).collect()
    };
    for name in ["struct DelegationContext", "struct AgentResult"] {
        let places = defined(&format!("pub {name} "));
        assert_eq!(places.len(), 1, "{name}: {places:?}");
        assert!(places[0].starts_with(workspace().join("crates/agent/src")), "{name}: {places:?}");
    }
    let specialists = |text: &String| text.contains("\"triage\", \"scheduler\", \"communicator\"");
    let lists: Vec<&Path> = sources
        .iter()
        .filter(|(path, text)| !path.ends_with("tests.rs") && specialists(text))
        .map(|(path, _)| &**path)
        .collect();
    assert!(lists.len() <= 1, "the specialists are listed in {lists:?}");
}
