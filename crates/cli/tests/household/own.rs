//! A folder of one's own: laid down by `demo init`, named in the configuration, looked after like any other.

use testkit::scenes::{call, calls, says, scene};

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
