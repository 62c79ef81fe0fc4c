//! Decisions that cross each other, come too late, or are for something else: one execution at the most, and a plain word.

use testkit::scenes::{calls, says, scene};
use testkit::world::count;

use crate::{assert_only_what_was_approved_ran, question, run, world, write};

crate::also_on_postgres!(
    of_two_who_decide_at_once_one_is_heard,
    of_several_decisions_on_a_run_that_no_process_drives_the_first_is_kept,
    a_decision_that_comes_late_or_is_for_nothing_changes_nothing,
    what_is_decided_is_not_decided_again,
);

#[test]
fn of_two_who_decide_at_once_one_is_heard() {
    // T21
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    let deciders = [(); 3].map(|()| world.start(&["approve", "yes", asked.id.as_str()]));
    let mut codes = deciders.map(|decider| decider.done().code);
    codes.sort();
    assert_eq!(codes, [Some(0), Some(2), Some(2)]);
    assert_eq!(running.done().answer(0), "done");
    let log = world.log();
    assert_eq!(count(&log, &world.root(), "tool_started"), 1);
    assert_only_what_was_approved_ran(&log);
    world.assert_at_rest(&world.root());
}

#[test]
fn of_several_decisions_on_a_run_that_no_process_drives_the_first_is_kept() {
    // T21
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    let mut running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    running.kill();
    world.until_left();
    let deciders = ["yes", "no", "yes"].map(|word| world.start(&["approve", word, asked.id.as_str()]));
    let mut codes = deciders.map(|decider| decider.done().code);
    codes.sort();
    assert_eq!(codes, [Some(0), Some(2), Some(2)]);
}

#[test]
fn a_decision_that_comes_late_or_is_for_nothing_changes_nothing() {
    // T21
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let (root, asked) = (world.root(), question(&world, 1));
    for unknown in [format!("{root}/2"), format!("{root}.1/1"), "zzzz/1".to_owned()] {
        let refused = world.call(&["approve", "yes", &unknown]);
        refused.answer(2);
        assert!(refused.err.contains("approve ls"), "{}", refused.err);
    }
    world.call(&["stop", root.as_str()]).answer(0);
    running.done();
    let before = world.log();
    let late = world.call(&["approve", "yes", asked.id.as_str()]);
    late.answer(2);
    assert!(late.err.contains("is withdrawn"), "{}", late.err);
    assert_eq!(world.log(), before, "a late decision is not even written");
    assert!(!world.path("new.txt").exists());
    assert_only_what_was_approved_ran(&before);
}

#[test]
fn what_is_decided_is_not_decided_again() {
    // T21
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    let running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    world.call(&["approve", "no", asked.id.as_str()]).answer(0);
    let again = world.call(&["approve", "yes", asked.id.as_str()]);
    again.answer(2);
    assert!(again.err.contains("is denied already"), "{}", again.err);
    running.done().answer(0);
    assert!(!world.path("new.txt").exists());
}

#[test]
fn a_question_whose_time_is_over_cannot_be_decided() {
    // T21: the row is aged, for a day is too long for a test.
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    let mut running = run(&world, "go", &["--approvals", "wait"]);
    let asked = question(&world, 1);
    running.kill();
    world.until_left();
    let database = rusqlite::Connection::open(world.database()).expect("the database");
    let aged = "UPDATE approvals SET question = json_set(question, '$.expires_at', 1)";
    database.execute(aged, []).expect("a row that is aged");
    drop(database);
    let before = world.log();
    let late = world.call(&["approve", "yes", asked.id.as_str()]);
    late.answer(2);
    assert!(late.err.contains("has expired"), "{}", late.err);
    assert_eq!(world.log(), before);
}

#[test]
fn a_database_of_an_earlier_version_is_opened_and_used() {
    // F11
    let world = world(&[scene("go", &[calls(&[write("new.txt", "written")]), says("done")])]);
    std::fs::create_dir_all(world.database().parent().expect("a folder")).expect("the folder of the database");
    let database = rusqlite::Connection::open(world.database()).expect("the database");
    database.execute_batch(include_str!("schema_2.sql")).expect("an older database");
    drop(database);
    assert!(world.call(&["thread", "ls"]).answer(0).contains("completed"));
    let shown = world.call(&["thread", "show", "20260115-k3f9"]);
    assert!(shown.answer(0).contains("The drawer holds three spoons."), "{}", shown.out);
    assert!(shown.answer(0).contains("9223 tokens"), "{}", shown.out);
    let running = run(&world, "go", &["--approvals", "wait"]);
    world.call(&["approve", "yes", question(&world, 1).id.as_str()]).answer(0);
    running.done().answer(0);
    assert_eq!(world.lines("new.txt"), ["written"]);
}

/// What brought a database of each schema to the next one, from the second on. An installation was left at any of them.
const STEPS: [&str; 9] = [
    include_str!("../../../store/migrations/0002_approvals.sql"),
    include_str!("../../../store/migrations/0003_progress.sql"),
    include_str!("../../../store/migrations/0004_installation.sql"),
    include_str!("../../../store/migrations/0005_states.sql"),
    include_str!("../../../store/migrations/0006_answers.sql"),
    include_str!("../../../store/migrations/0007_threads.sql"),
    include_str!("../../../store/migrations/0008_boards.sql"),
    include_str!("../../../store/migrations/0009_workers.sql"),
    include_str!("../../../store/migrations/0010_ranks.sql"),
];

#[test]
fn the_log_of_every_earlier_version_is_read_whole_and_tells_what_it_told() {
    // F43: an event that this version does not know stays where it is; that is tested beside the store. Two logs were written by the programs
    // of schemas 2 and 3. Those of later schemas are what the steps to them make of these.
    let steps = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/migrations");
    let steps = std::fs::read_dir(steps).expect("a folder").flatten().map(|entry| entry.file_name());
    let steps = steps.filter(|name| name.to_string_lossy().starts_with("00")).count();
    assert_eq!(steps, STEPS.len() + 1, "a step is missing here");
    let of_store = include_str!("../../../store/tests/fixtures/schema-3.sql");
    let two = (include_str!("schema_2.sql"), 2, "20260115-k3f9", "The drawer holds three spoons.");
    let three = (of_store, 3, "20261117-xky8", "What is on my calendar today?");
    let logs = [two, three].into_iter().flat_map(|log| (log.1..=steps).map(move |schema| (log, schema)));
    for ((log, written_at, root, words), schema) in logs {
        let named = format!("{root}, written at schema {written_at} and left at {schema}");
        let world = world(&[]);
        std::fs::create_dir_all(world.database().parent().expect("a folder")).expect("the folder of the database");
        let database = rusqlite::Connection::open(world.database()).expect("the database");
        database.execute_batch(log).expect("an older database");
        // How each thread ended, or whether it is under way, which older versions said by other words.
        let read = |database: &rusqlite::Connection, is_live: &str| -> Vec<(String, Option<String>, bool)> {
            let states = format!("SELECT id, outcome, {is_live} FROM threads ORDER BY id");
            let mut rows = database.prepare(&states).expect("a table");
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("rows");
            rows.collect::<Result<_, _>>().expect("rows")
        };
        let before = read(&database, "state NOT IN ('idle', 'done')");
        for (from, step) in (1..).zip(STEPS).filter(|(from, _)| (written_at..schema).contains(from)) {
            database.execute_batch(step).unwrap_or_else(|error| panic!("{named}: step from {from}: {error}"));
        }
        database
            .pragma_update(None, "user_version", u32::try_from(schema).expect("a small number"))
            .expect("its number");
        drop(database);
        // Every event is decoded by the doctor, and shown by the others.
        let doctor = world.call(&["doctor"]);
        assert!(doctor.out.contains("integrity check passed"), "{named}: {}", doctor.out);
        assert!(world.call(&["thread", "show", root]).answer(0).contains(words), "{named}");
        let frames = world.call(&["thread", "show", root, "--jsonl"]);
        assert!(frames.answer(0).lines().count() > 10, "{named}: {}", frames.out);
        let after = read(&rusqlite::Connection::open(world.database()).expect("the database"), "live");
        assert_eq!(after, before, "{named}");
    }
}
