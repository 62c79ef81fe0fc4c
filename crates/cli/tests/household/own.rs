//! A folder of one's own: laid down by `demo init`, named in the configuration, looked after like any other.

use testkit::scenes::{call, calls, says, scene};

use crate::offline::used;
use crate::{asked, delegate, frames, world};

#[test]
fn a_sample_household_is_laid_into_a_new_folder_and_nowhere_else() {
    let world = world(&[]);
    let done = world.call(&["demo", "init", "house"]);
    let told = done.answer(0);
    let folder = world.path("house");
    assert!(told.contains(&*folder.canonicalize().expect("a folder").to_string_lossy()), "{told}");
    for part in ["mail", "calendars", "para", "contacts"] {
        assert!(folder.join(part).is_dir(), "{part}");
    }
    std::fs::write(folder.join("mine"), "kept").expect("a file");
    let again = world.call(&["demo", "init", "house"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.err.contains("is not empty"), "{}", again.err);
    assert_eq!(std::fs::read_to_string(folder.join("mine")).expect("still there"), "kept");
}

#[test]
fn a_household_of_ones_own_is_looked_after_and_its_index_lies_with_our_state() {
    let search = call("notes_search", "query = \"contract\"");
    let world = world(&[
        scene("See to it", &[calls(&[search]), says("It is in Projects.")]),
        scene("", &[calls(&[delegate("delegate_search", "See to it", "")]), says("Found.")]),
    ]);
    world.call(&["demo", "init", "house"]).answer(0);
    let before = files(&world.path("house"));
    let folder = format!("household.folder={}", world.path("house").display());
    let model = format!("scripted/{}", world.path("../script.toml").display());
    let done = world.call(&["run", "-a", "butler", "-m", &model, "--set", &folder, "Where is it?", "--jsonl"]);
    assert_eq!(asked(&frames(&done)), ["navigator"]);
    assert!(world.state_files().iter().any(|path| path.ends_with("/household.db")));
    assert_eq!(files(&world.path("house")), before, "reading leaves nothing behind");
}

#[test]
fn with_a_model_and_a_household_a_question_about_it_goes_to_the_butler_and_anything_else_does_not() {
    const QUESTION: &str = "When am I free on Tuesday?";
    let world = world(&[scene("", &[says("Said.")])]);
    world.call(&["demo", "init", "house"]).answer(0);
    let folder = format!("household.folder={}", world.path("house").display());
    let model = format!("scripted/{}", world.path("../script.toml").display());
    let with_household = ["--set", folder.as_str()];
    let cases: [(&str, &[&str], &[&str], &str); 6] = [
        (QUESTION, &with_household, &[], "butler"),
        ("What do my notes say about the lease, and draft a reply to the landlord", &with_household, &[], "butler"),
        ("Find every TODO in src", &with_household, &[], "general"),
        (QUESTION, &with_household, &["-a", "explore"], "explore"),
        (QUESTION, &with_household, &["--set", "household.route=off"], "general"),
        (QUESTION, &[], &[], "general"),
    ];
    for (prompt, household, more, expected) in cases {
        let arguments = [&["run", "-m", model.as_str(), prompt], household, more].concat();
        let done = world.call(&arguments);
        assert_eq!(done.answer(0), "Said.");
        let is_told = done.err.contains("so the agent butler answers")
            && done.err.contains(&format!("{model} gets the mail, calendar entries, notes and contacts that it reads"));
        assert_eq!(is_told, expected == "butler", "{arguments:?}: {}", done.err);
        let begun = frames(&world.call(&[&arguments[..], &["--jsonl"]].concat()));
        assert_eq!(begun[0]["agent"], expected, "{arguments:?}: {}", begun[0]);
    }
}

#[test]
fn a_butler_that_was_not_named_has_its_specialists() {
    let world = world(&[
        scene(
            "See to it",
            &[calls(&[call("calendar_free", "from = \"2026-01-20\", to = \"2026-01-21\"")]), says("At two.")],
        ),
        scene("", &[calls(&[delegate("delegate_schedule", "See to it", "")]), says("At two.")]),
    ]);
    world.call(&["demo", "init", "house"]).answer(0);
    let folder = format!("household.folder={}", world.path("house").display());
    let model = format!("scripted/{}", world.path("../script.toml").display());
    let done = world.call(&["run", "-m", &model, "--set", &folder, "When am I free on Tuesday?", "--jsonl"]);
    assert_eq!(asked(&frames(&done)), ["scheduler"]);
}

#[test]
fn the_general_agent_hands_what_is_asked_about_the_household_to_a_specialist_unless_that_is_switched_off() {
    let list = call("mail_list", "from = \"sarah\"");
    let spawn = call("spawn_agent", "task = \"Look for Sarah\", agent = \"triage\"");
    for (route, is_used) in [("auto", true), ("off", false)] {
        let world = world(&[
            scene("Look for Sarah", &[calls(std::slice::from_ref(&list)), says("Three mails.")]),
            scene("", &[calls(std::slice::from_ref(&spawn)), says("Done.")]),
        ]);
        world.call(&["demo", "init", "house"]).answer(0);
        let folder = format!("household.folder={}", world.path("house").display());
        let route = format!("household.route={route}");
        let model = format!("scripted/{}", world.path("../script.toml").display());
        let run = ["run", "-a", "general", "-m", &model, "--set", &folder, "--set", &route, "See to my mail"];
        world.call(&run);
        assert_eq!(used(&world).contains("mail_list"), is_used, "{route}");
    }
}

#[test]
fn a_check_says_what_lies_in_each_folder_and_what_is_wrong_with_it() {
    let world = world(&[]);
    let none = world.call(&["household", "check"]);
    assert_eq!((none.code, none.out.as_str()), (Some(3), ""), "{none:?}");
    assert!(none.err.contains("household.folder") && none.err.contains("--demo"), "{}", none.err);

    let sample = world.call(&["household", "check", "--demo"]);
    let lines: Vec<&str> = sample.answer(0).lines().collect();
    let states: Vec<Vec<&str>> = lines.iter().map(|line| line.split_whitespace().take(3).collect()).collect();
    let expected = [["ok", "mail", "100"], ["ok", "calendars", "29"], ["ok", "notes", "45"], ["ok", "contacts", "12"]];
    assert_eq!(states, expected, "{lines:#?}");

    world.call(&["demo", "init", "house"]).answer(0);
    std::fs::remove_dir_all(world.path("house/contacts")).expect("removed");
    std::fs::write(world.path("house/calendars/work/broken.ics"), "no calendar").expect("written");
    let folder = format!("household.folder={}", world.path("house").display());
    let bad = world.call(&["household", "check", "--set", &folder]);
    assert_eq!(bad.code, Some(1), "{bad:?}");
    assert!(bad.out.lines().any(|line| line.starts_with("missing") && line.contains("contacts")), "{}", bad.out);
    assert!(bad.out.contains("broken.ics"), "{}", bad.out);
    let told = world.call(&["household", "check", "--set", &folder, "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told.out).expect("one object");
    assert_eq!((&told["is_well"], told["parts"].as_array().map(Vec::len)), (&false.into(), Some(4)), "{told}");
}

#[test]
fn config_show_tells_where_a_household_lies_and_who_said_so() {
    let world = world(&[]);
    let shown =
        world.call(&["config", "show", "--set", "household.folder=/", "--set", "household.timezone=Europe/Berlin"]);
    let shown = shown.answer(0);
    for (key, value) in [("household.folder", "/"), ("household.timezone", "Europe/Berlin")] {
        let line = shown.lines().find(|line| line.starts_with(key)).expect("the key is shown");
        assert!(line.contains(&format!("{value:?}")) && line.ends_with("# flag --set"), "{line}");
    }
    let wrong = world.call(&["config", "show", "--set", "household.timezone=Atlantis"]);
    assert_eq!(wrong.code, Some(3), "{wrong:?}");
}

fn files(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.display().to_string(), std::fs::read(&path).expect("a file")));
            }
        }
    }
    files.sort();
    files
}
