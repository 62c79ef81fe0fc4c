//! Notes in a temporary folder, searched and read as agents do it.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Found, search};
use crate::household::{Household, Options};

struct Vault {
    folder: TempDir,
    household: Arc<Household>,
}

impl Vault {
    fn with(notes: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in notes {
            write(folder.path(), path, text);
        }
        let household = open(folder.path());
        Self { folder, household }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("para").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        write(self.folder.path(), path, text);
    }

    fn search(&self, query: &str) -> Found {
        search(&self.household, query, 5).expect("a search")
    }

    /// The paths that a query finds, the best first.
    fn find(&self, query: &str) -> Vec<String> {
        self.search(query).results.into_iter().map(|result| result.path).collect()
    }

    fn call(&self, tool: &str, args: &Value) -> Result<Value, String> {
        crate::tools::test_calls::call(&self.household, tool, args)
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join("para").join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a note");
}

fn open(folder: &Path) -> Arc<Household> {
    let now: Timestamp = "2026-01-15T10:00:00Z".parse().expect("a time");
    let options = Options {
        index: Some(folder.join("own/household.db")),
        zone: jiff::tz::TimeZone::get("Europe/Berlin").expect("a zone"),
        now: Arc::new(move || now),
        ..Options::in_folder(folder)
    };
    Household::open(options).expect("a household")
}

fn small_vault() -> Vault {
    Vault::with(&[
        ("1 Projects/Kitchen.md", "# New kitchen\nThe contract with the carpenter is signed.\nSee [[Budget]].\n"),
        (
            "Areas/Budget.md",
            "---\ntags: [money]\nupdated: 2026-01-10\n---\n# Budget 2026\nRent, insurance, renovation.\n",
        ),
        (
            "Areas/Wohnung.md",
            "# Wohnung\nDer Mietvertrag liegt bei Frau Müller in der Gärtnerstraße.\nMehr in [[Budget|Geld]].\n",
        ),
        ("Resources/Pain.md", "# Recette du pain\nFarine, eau, levure. Pétrir à l'aube.\n"),
        ("Resources/会議.md", "# 会議のメモ\n来週の水曜日に東京で打ち合わせがあります。\n"),
        ("4 Archives/Contract.md", "# Old contract\nThe contract of 2019, long over.\n"),
    ])
}

#[test]
fn a_note_is_found_by_all_of_its_words_and_says_why_and_where() {
    let vault = small_vault();
    let found = vault.search("carpenter contract");
    assert_eq!(found.ladder.as_str(), "and");
    let best = &found.results[0];
    assert_eq!((&*best.path, &*best.title, best.para), ("1 Projects/Kitchen.md", "New kitchen", "projects"));
    assert_eq!((&*best.snippet, best.line), ("The contract with the carpenter is signed.", 2));
    assert_eq!(best.why, "holds all words: 'carpenter', 'contract'; a current project");
    assert!((0.0..=1.0).contains(&best.score));
}

#[test]
fn the_ladder_goes_down_from_all_words_to_words_that_were_perhaps_meant() {
    let vault = small_vault();
    let rung = |query: &str, path: &str| {
        let found = vault.search(query);
        assert_eq!(found.results.first().map(|result| &*result.path), Some(path), "{query}: {found:?}");
        (found.ladder.as_str(), found.hint)
    };
    assert_eq!(rung("insurance renovation", "Areas/Budget.md").0, "and");
    assert_eq!(rung("insurance submarine", "Areas/Budget.md").0, "or");
    assert_eq!(rung("recipe", "Resources/Pain.md").0, "synonym");
    assert_eq!(rung("carpen", "1 Projects/Kitchen.md").0, "prefix");
    assert_eq!(rung("rtner", "Areas/Wohnung.md").0, "trigram");
    let (spelled, hint) = rung("carpnter", "1 Projects/Kitchen.md");
    assert_eq!(spelled, "spelling");
    assert_eq!(hint.as_deref(), Some("No note holds 'carpnter'; did you mean 'carpenter'?"));
}

#[test]
fn nothing_found_is_said_with_what_to_try() {
    let vault = small_vault();
    let found = vault.search("zeppelin");
    assert!(found.results.is_empty() && found.hint.expect("a hint").contains("notes_recent"));
    assert_eq!(vault.search("tag:nowhere").hint.as_deref(), Some("No note has the tag 'nowhere'."));
    assert!(search(&vault.household, "?!", 5).expect_err("no word").to_string().contains("say what the note is about"));
    let empty = Household::open(Options::default()).expect("a household");
    assert!(search(&empty, "x", 5).expect("an answer").hint.expect("a hint").contains("no folder"));
}

#[test]
fn german_french_and_japanese_notes_are_found_however_they_are_typed() {
    let vault = small_vault();
    for query in ["mietvertrag", "Mueller", "muller", "Müller", "gartnerstrasse", "Gärtnerstraße", "Vertrag Müller"]
    {
        assert_eq!(vault.find(query)[0], "Areas/Wohnung.md", "{query}");
    }
    for query in ["petrir", "l'aube", "recette de pain", "levure"] {
        assert_eq!(vault.find(query)[0], "Resources/Pain.md", "{query}");
    }
    for query in ["会議", "東京", "水", "打ち合わせ", "水曜日 東京"] {
        assert_eq!(vault.find(query), ["Resources/会議.md"], "{query}");
    }
    assert!(vault.find("京東").is_empty(), "the same letters in another order are another word");
}

#[test]
fn a_current_project_comes_before_what_was_put_away() {
    let text = "# Boat\nPaint the boat.\n";
    let vault = Vault::with(&[("Archives/Boat.md", text), ("Projects/Boat.md", text), ("Notes/Boat.md", text)]);
    assert_eq!(vault.find("boat"), ["Projects/Boat.md", "Notes/Boat.md", "Archives/Boat.md"]);
}

#[test]
fn of_equal_notes_the_fresher_and_the_better_linked_come_first() {
    let dated = |date: &str| format!("---\nupdated: {date}\n---\n# Boat\nPaint it.\n");
    let vault = Vault::with(&[
        ("Notes/a.md", &dated("2020-01-01")),
        ("Notes/b.md", &dated("2026-01-14")),
        ("Notes/c.md", &dated("2020-01-01")),
        ("Notes/x.md", "[[Notes/c]]"),
        ("Notes/y.md", "[[Notes/c]]"),
        ("Notes/z.md", "[[c]]"),
    ]);
    assert_eq!(vault.find("paint"), ["Notes/b.md", "Notes/c.md", "Notes/a.md"]);
    assert!(vault.search("paint").results[1].why.ends_with("3 notes link to it"));
}

#[test]
fn tags_rows_of_words_and_exclusions_narrow() {
    let vault = Vault::with(&[
        ("a.md", "#home/garden\nred roses and white lilies\n"),
        ("b.md", "#home\nwhite roses and red lilies\n"),
        ("c.md", "#work\nred roses\n"),
        ("d.md", "#homeward\nred roses\n"),
    ]);
    assert_eq!(vault.find("tag:home roses").len(), 2);
    assert_eq!(vault.find("#home/garden"), ["a.md"]);
    let mut row = vault.find("\"red roses\" -lilies");
    row.sort_unstable();
    assert_eq!(row, ["c.md", "d.md"]);
}

// T8
#[test]
fn whatever_is_typed_is_data_and_never_an_error() {
    let vault = small_vault();
    for query in [
        "contract AND",
        "NOT contract",
        "NEAR(contract carpenter, 3)",
        "title : contract",
        "contract*",
        "^contract",
        "{title}: contract",
        "\"contract",
        "contract'; DROP TABLE note;--",
        "contract -",
        "(contract",
        "contract OR OR",
        "%contract_",
        "tag:[*",
        "contract \u{0}",
        "con\u{0}tract",
        "-\"\" contract",
    ] {
        search(&vault.household, query, 5).unwrap_or_else(|error| panic!("{query}: {error}"));
    }
    assert_eq!(vault.find("NEAR carpenter contract OR")[0], "1 Projects/Kitchen.md");
}

#[test]
fn each_use_sees_the_folder_as_it_is() {
    let vault = Vault::with(&[("a.md", "alpha\n"), ("deep/er/b.md", "bravo\n")]);
    assert_eq!(vault.find("alpha"), ["a.md"]);
    // As long as before and at nearly the same moment: neither size nor time need tell.
    for word in ["gamma", "delta", "kappa", "sigma"] {
        vault.write("a.md", &format!("{word}\n"));
        assert_eq!(vault.find(word), ["a.md"]);
    }
    assert!(vault.find("alpha").is_empty());
    std::fs::rename(vault.path("deep"), vault.path("moved")).expect("moved");
    assert_eq!(vault.find("bravo"), ["moved/er/b.md"]);
    vault.write("moved/er/yet/c.md", "charlie\n");
    assert_eq!(vault.find("charlie"), ["moved/er/yet/c.md"]);
    std::fs::remove_dir_all(vault.path("moved")).expect("removed");
    assert!(vault.find("bravo").is_empty() && vault.find("charlie").is_empty());
    std::fs::remove_dir_all(vault.path("")).expect("removed");
    assert!(vault.find("sigma").is_empty());
    vault.write("a.md", "alpha again\n");
    assert_eq!(vault.find("alpha"), ["a.md"]);
}

#[test]
fn two_processes_keep_one_index_together() {
    let vault = Vault::with(&[("a.md", "alpha\n")]);
    let other = Vault { household: open(vault.folder.path()), folder: vault.folder };
    let vault = Vault { folder: tempfile::tempdir().expect("a folder"), household: vault.household };
    std::thread::scope(|scope| {
        for household in [&vault.household, &other.household] {
            scope.spawn(move || {
                for _ in 0..10 {
                    assert_eq!(search(household, "alpha", 5).expect("a search").results.len(), 1);
                }
            });
        }
        scope.spawn(|| {
            for n in 0..20 {
                other.write(&format!("n{n}.md"), "bravo\n");
            }
        });
    });
    let all = |household| search(household, "bravo", 50).expect("a search").results.len();
    assert_eq!((all(&vault.household), all(&other.household)), (20, 20));
    std::fs::remove_file(other.path("n7.md")).expect("removed");
    assert_eq!((all(&other.household), all(&vault.household)), (19, 19));
}

#[test]
fn hidden_files_other_kinds_and_what_is_no_text_are_passed_over() {
    let vault = Vault::with(&[
        (".obsidian/a.md", "alpha\n"),
        (".b.md", "alpha\n"),
        ("c.png", "alpha\n"),
        ("d.md", "alpha\0\n"),
        ("e.TXT", "alpha\n"),
    ]);
    std::fs::write(vault.path("f.md"), b"alpha gr\xFC\xDFe\n").expect("a note");
    let mut found = vault.find("alpha");
    found.sort_unstable();
    assert_eq!(found, ["e.TXT", "f.md"]);
    assert_eq!(vault.call("notes_recent", &json!({})).expect("notes")["notes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_note_is_read_as_far_as_it_is_bounded() {
    let long = format!("alpha\n{}\nomega\n", "x".repeat(2 * 1024 * 1024));
    let vault = Vault::with(&[("long.md", &long)]);
    assert_eq!(vault.find("alpha"), ["long.md"]);
    assert!(vault.find("omega").is_empty());
    let lines: String = (1..=9000).map(|n| format!("line {n}\n")).collect();
    vault.write("lines.md", &lines);
    let first = vault.call("notes_read", &json!({ "path": "lines.md" })).expect("a note");
    let next = first["next_line"].as_u64().expect("there is more");
    let second = vault.call("notes_read", &json!({ "path": "lines.md", "from_line": next })).expect("a note");
    assert!(second["text"].as_str().expect("text").starts_with(&format!("line {next}\n")));
}

// T42
#[test]
fn nothing_outside_the_folder_is_found_or_read() {
    let vault = Vault::with(&[("a.md", "alpha\n")]);
    std::fs::write(vault.folder.path().join("secret.md"), "alpha secret\n").expect("a file");
    std::fs::create_dir(vault.folder.path().join("elsewhere")).expect("a folder");
    std::fs::write(vault.folder.path().join("elsewhere/b.md"), "alpha\n").expect("a file");
    let link =
        |to: &str, at: &str| std::os::unix::fs::symlink(vault.folder.path().join(to), vault.path(at)).expect("a link");
    link("secret.md", "s.md");
    link("elsewhere", "folder");
    assert_eq!(vault.find("alpha"), ["a.md"]);
    for path in ["../secret.md", "s.md", "folder/b.md", "/etc/passwd", "a.md/../../secret.md", "", "."] {
        let said = vault.call("notes_read", &json!({ "path": path })).expect_err(path);
        assert!(said.starts_with("there is no note"), "{said}");
    }
    // A note that became a link after it was indexed.
    assert!(vault.call("notes_read", &json!({ "path": "a.md" })).is_ok());
    std::fs::remove_file(vault.path("a.md")).expect("removed");
    link("secret.md", "a.md");
    assert!(vault.call("notes_read", &json!({ "path": "a.md" })).is_err());
}

#[test]
fn a_note_is_read_by_path_title_or_other_name_with_where_its_links_lead() {
    let vault = small_vault();
    let note = vault.call("notes_read", &json!({ "path": "1 Projects/Kitchen.md" })).expect("a note");
    assert_eq!(note["text"], "# New kitchen\nThe contract with the carpenter is signed.\nSee [[Budget]].\n");
    assert_eq!(note["links"], json!([{ "name": "budget", "path": "Areas/Budget.md" }]));
    for name in ["new kitchen", "Kitchen", "kitchen.md", "1 projects/KITCHEN"] {
        assert_eq!(vault.call("notes_read", &json!({ "path": name })).expect(name)["path"], note["path"]);
    }
    let budget = vault.call("notes_read", &json!({ "path": "Budget" })).expect("a note");
    assert_eq!((&budget["tags"], &budget["updated"]), (&json!(["money"]), &json!("2026-01-10T01:00:00+01:00")));
}

#[test]
fn backlinks_follow_what_a_name_means_at_this_moment() {
    let vault = small_vault();
    let linking = || {
        let found = vault.call("notes_backlinks", &json!({ "path": "Areas/Budget.md" })).expect("links");
        let links = found["backlinks"].as_array().expect("a list").clone();
        links
            .iter()
            .map(|link| format!("{}:{}", link["path"].as_str().expect("a path"), link["line"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(linking(), ["1 Projects/Kitchen.md:3", "Areas/Wohnung.md:3"]);
    // A note of that name that lies less deep is meant from then on.
    vault.write("Budget.md", "# Budget\n");
    assert!(linking().is_empty());
}

#[test]
fn the_notes_that_changed_last_come_first_and_a_time_to_come_is_not_believed() {
    // The files are younger than the household's clock says it is.
    let vault = Vault::with(&[
        ("a.md", "---\ncreated: 2025-12-01\n---\n"),
        ("b.md", "---\nupdated: 2026-01-10\ncreated: 2020-01-01\n---\n"),
        ("c.md", "no date\n"),
    ]);
    let recent = vault.call("notes_recent", &json!({ "limit": 2 })).expect("notes");
    let paths: Vec<&str> =
        recent["notes"].as_array().expect("a list").iter().filter_map(|note| note["path"].as_str()).collect();
    assert_eq!(paths, ["b.md", "a.md"]);
}

/// Questions as people type them, and the note they should be led to.
const ASKED: &[(&str, &str)] = &[
    ("northwind contract", "Projects/Northwind dashboard/Contract.md"),
    ("agreement with northwind", "Projects/Northwind dashboard/Contract.md"),
    ("contract", "Projects/Northwind dashboard/Contract.md"),
    ("Hartmann contract", "Archives/2024 Hartmann shop/Contract.md"),
    ("what did I learn at Hartmann?", "Archives/2024 Hartmann shop/Lessons.md"),
    ("migration plan for the billing database", "Projects/Atlas/Cut-over.md"),
    ("rehersal log", "Projects/Atlas/Rehearsal log.md"),
    ("tables without primary key", "Projects/Atlas/Replica identity.md"),
    ("soap interface keller", "Projects/Keller Lager/SOAP-Schnittstelle.md"),
    ("Angebot für Keller", "Projects/Keller Lager/Angebot.md"),
    ("mum's birthday trip", "Projects/Edinburgh/Plan.md"),
    ("Mum's 65th", "Projects/Edinburgh/Plan.md"),
    ("present for dad", "Areas/People/Gift ideas.md"),
    ("my day rate 2026", "Areas/Finance/Rates.md"),
    ("how do I number invoices", "Areas/Finance/Invoices.md"),
    ("Rechnungen", "Areas/Finance/Invoices.md"),
    ("tax advisor", "Areas/Finance/Steuer.md"),
    ("Umsatzsteuer", "Areas/Finance/Steuer.md"),
    ("liability policy number", "Areas/Finance/Insurance.md"),
    ("phone number of the landlord", "Areas/Home/Wohnung.md"),
    ("Kanalstrasse", "Areas/Home/Wohnung.md"),
    ("fuse box", "Areas/Home/Wohnung.md"),
    ("when do I water the ferns", "Areas/Home/Watering.md"),
    ("half marathon", "Areas/Health/Running.md"),
    ("maraton training", "Archives/2023 Marathon/Training.md"),
    ("dentist appointment", "Areas/Health/Dentist.md"),
    ("Zahnarzt", "Areas/Health/Dentist.md"),
    ("night train to Zurich", "Resources/Travel/Night trains.md"),
    ("packinglist", "Resources/Travel/Packing list.md"),
    ("Linsen Suppe", "Resources/Recipes/Lentil soup.md"),
    ("lentl soup", "Resources/Recipes/Lentil soup.md"),
    ("sourdough bread", "Resources/Recipes/Sauerteigbrot.md"),
    ("Rezept Brot", "Resources/Recipes/Sauerteigbrot.md"),
    ("apple pie recipe", "Resources/Recipes/Tarte aux pommes.md"),
    ("tarte pomme", "Resources/Recipes/Tarte aux pommes.md"),
    ("website relaunch for Camille", "Projects/Atelier Dubois/Refonte.md"),
    ("tag:choir", "Areas/Choir/Repertoire.md"),
    ("what are we singing in spring", "Areas/Choir/Repertoire.md"),
    ("日本語 メール", "Resources/日本語/メールの書き方.md"),
    ("締め切り", "Resources/日本語/メールの書き方.md"),
    ("restore backup", "Resources/Databases/Backups.md"),
    ("timeseries postgres", "Resources/Databases/Time-series in Postgres.md"),
    ("errors in rust", "Resources/Rust/Error handling.md"),
    ("talk at RustBerlin", "Projects/Talk RustBerlin/State machines that survive.md"),
    ("balcony plants", "Projects/Balcony/Plan.md"),
    ("books to read this year", "Resources/Reading/Books 2026.md"),
    ("ring size", "Areas/People/Lena.md"),
    ("contract checklist", "Areas/Clients/Before I sign.md"),
];

#[test]
fn people_find_the_notes_of_the_demonstration_by_what_they_type() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    crate::demo::write(&folder.path().join("demo")).expect("written");
    let household = open(&folder.path().join("demo"));
    let mut missed = Vec::new();
    for (query, path) in ASKED {
        let found = search(&household, query, 3).expect("a search");
        if !found.results.iter().any(|result| result.path == *path) {
            let instead: Vec<String> =
                found.results.into_iter().map(|result| format!("{} ({})", result.path, result.why)).collect();
            missed.push(format!("{query}: not {path} but {instead:?}"));
        }
    }
    assert!(missed.is_empty(), "{} of {} missed:\n{}", missed.len(), ASKED.len(), missed.join("\n"));
}

#[test]
fn where_the_owner_agreed_to_look_comes_first_among_equals() {
    let text = "# Roof\nThe tiles are ordered.\n";
    let vault = Vault::with(&[("Areas/Roof.md", text), ("Resources/Roof.md", text)]);
    assert_eq!(vault.find("roof tiles")[0], "Areas/Roof.md");
    let opened =
        r#"{"at": "2026-01-14T10:00:00Z", "kind": "opened", "subject": "note", "choice": "Resources/Roof.md"}"#;
    let opened = serde_json::from_str(opened).expect("a decision");
    (0..3).for_each(|_| vault.household.record(&opened).expect("recorded"));
    assert_eq!(vault.find("roof tiles")[0], "Areas/Roof.md", "a habit that nobody agreed to changes nothing");
    vault.call("prefs_apply", &json!({ "key": "notes.opened_from" })).expect("applied");
    let found = vault.search("roof tiles");
    assert_eq!(found.results[0].path, "Resources/Roof.md");
    assert!(found.results[0].why.contains("where you mostly look"), "{}", found.results[0].why);
}
