//! The program on a database that many machines share: real processes and a real PostgreSQL server, each process with a data folder of
//! its own where it is to be another machine.
//!
//! What the store promises is tested beside it. Here it is shown that a person can use it: make it ready, run, decide, go on after a
//! death, move conversations, and read what is wrong.

mod failing;
mod family;
mod workers;

use std::process::Command;

use agent::Event;
use store::conformance::postgres_server::Server;
use testkit::scenes::{call, calls, command, says, scene, spawn};
use testkit::world::{Done, World, until};

fn world(scenes: &[String]) -> World {
    World::on_postgres(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

/// The same command as another machine would give it: with another data folder.
fn elsewhere(world: &World, arguments: &[&str]) -> Done {
    let mut command = world.command(arguments);
    command.env("MAJORDOMO_DATA", world.path("../other-state"));
    world.launch(command).done()
}

/// A command without the variable that names the store.
fn without_store(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.env_remove("MAJORDOMO_STORE");
    command
}

#[test]
fn a_run_with_a_sub_agent_is_seen_from_another_machine() {
    let scenes = [
        scene("ask around", &[calls(&[spawn("look there")]), says("it is done")]),
        scene("look there", &[says("nothing there")]),
    ];
    let world = world(&scenes);
    let done = world.run("ask around", &[]).done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "it is done"), "{}", done.err);
    let root = world.root();
    world.assert_at_rest(&root);
    let listed = elsewhere(&world, &["thread", "ls", "--all", "--json"]);
    assert!(listed.out.matches(root.as_str()).count() >= 2, "{}", listed.out);
    let found = elsewhere(&world, &["thread", "ls", "--search", "nothing"]);
    assert!(found.out.contains(root.as_str()), "{} {}", found.out, found.err);
    assert!(!world.state_files().iter().any(|file| file.ends_with(".db")), "{:?}", world.state_files());
    let nothing = elsewhere(&world, &["ps", "--all"]);
    assert_eq!((nothing.code, nothing.err.contains("nothing is running")), (Some(0), true), "{}", nothing.err);
}

#[test]
fn a_question_is_decided_on_another_machine() {
    let write = call("write_file", r#"path = "a.txt", content = "yes""#);
    let world = world(&[scene("write it", &[calls(&[write]), says("written")])]);
    let running = world.launch(world.careful_task("write it", &["--approvals", "wait"]));
    world.until_logged("a question", |log| {
        log.iter().any(|record| matches!(&*record.event, Event::ApprovalRequested(_)))
    });
    let shown = elsewhere(&world, &["ps", "--all"]);
    assert!(shown.out.contains("drives") && shown.out.contains("heard of"), "{} {}", shown.out, shown.err);
    let root = world.root();
    let decided = elsewhere(&world, &["approve", "yes", &format!("{root}/1")]);
    assert_eq!(decided.code, Some(0), "{}", decided.err);
    let done = running.done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "written"), "{}", done.err);
    assert_eq!(world.lines("a.txt"), ["yes"]);
}

#[test]
fn a_killed_run_is_gone_on_with_when_its_lease_is_over() {
    let wait = command("echo once >> marks; while ! [ -e go ]; do sleep 0.05; done");
    let world = world(&[scene("mark it", &[calls(&[wait]), says("marked")])]);
    let mut running = world.run("mark it", &[]);
    world.until_lines("marks", 1);
    let root = world.root();
    running.kill();
    world.go();
    let done = until("the lease to be over", || {
        let model = format!("scripted/{}", world.script().display());
        let done = world.call(&["thread", "resume", root.as_str(), "--set", &format!("model={model}")]);
        (!done.err.contains("which is alive")).then_some(done)
    });
    assert_eq!((done.code, done.out.trim()), (Some(0), "marked"), "{}", done.err);
    assert_eq!(world.lines("marks").len(), 1, "what may have been done is not done again");
    world.assert_at_rest(&root);
}

#[test]
fn a_conversation_moves_to_the_database_and_back() {
    let world = world(&[scene("hello", &[says("good day")])]);
    let address = world.server().expect("an address").to_owned();
    let mut begun = without_store(&world, &["run", "hello"]);
    begun.arg("--model").arg(format!("scripted/{}", world.script().display()));
    let begun = world.launch(begun).done();
    assert_eq!((begun.code, begun.out.trim()), (Some(0), "good day"), "{}", begun.err);
    let in_file = |arguments: &[&str]| world.launch(without_store(&world, arguments)).done();
    let root = in_file(&["thread", "ls", "--json"]).out;
    let root = root.split('"').skip_while(|word| *word != "id").nth(2).expect("an id").to_owned();
    let moved = in_file(&["thread", "move", &root, "--to", &address]);
    assert_eq!(moved.code, Some(0), "{}", moved.err);
    assert!(!in_file(&["thread", "ls"]).out.contains(&root));
    let shown = world.call(&["thread", "show", &root]);
    assert!(shown.out.contains("good day"), "{} {}", shown.out, shown.err);
    let folder = world.path("../state").display().to_string();
    let back = world.call(&["thread", "move", &root, "--to", &folder]);
    assert_eq!(back.code, Some(0), "{}", back.err);
    assert!(in_file(&["thread", "show", &root]).out.contains("good day"));
    assert_eq!(world.call(&["thread", "show", &root]).code, Some(2));
}

#[test]
fn old_conversations_are_pruned_and_no_others() {
    let world = world(&[scene("hello", &[says("good day")])]);
    assert_eq!(world.run("hello", &[]).done().code, Some(0));
    let root = world.root();
    assert_eq!(world.call(&["db", "prune", "--older-than", "1d", "--dry-run"]).out, "");
    assert_eq!(world.call(&["db", "prune", "--older-than", "0m", "--dry-run"]).out.trim(), root.as_str());
    assert_eq!(world.call(&["db", "prune", "--older-than", "nonsense"]).code, Some(2));
    assert_eq!(world.call(&["db", "prune", "--older-than", "0m"]).code, Some(0));
    assert_eq!(world.rows().len(), 0);
}

#[test]
fn a_dump_that_is_restored_elsewhere_goes_on() {
    let world = world(&[scene("hello", &[says("good day")]), scene("and now", &[says("good night")])]);
    assert_eq!(world.run("hello", &[]).done().code, Some(0));
    let (root, server) = (world.root(), Server::shared());
    let dump = world.path("../dump").display().to_string();
    let database = |address: &str| address.rsplit('/').next().expect("a name").to_owned();
    let fresh = server.database();
    let tool = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(server.programs().join(name));
        let done = command.arg("-h").arg(server.folder()).args(["-U", "postgres"]).args(arguments).output();
        let done = done.expect("it is installed");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    tool("pg_dump", &["-Fc", "-f", &dump, "-d", &database(world.server().expect("an address"))]);
    tool("pg_restore", &["-d", &database(&fresh), &dump]);
    let restored = |arguments: &[&str]| world.call(&[arguments, &["--store", &fresh]].concat());
    let shown = restored(&["thread", "show", root.as_str()]);
    assert!(shown.out.contains("good day"), "{} {}", shown.out, shown.err);
    let model = format!("scripted/{}", world.script().display());
    let again = restored(&["run", "and now", "--model", &model]);
    assert_eq!((again.code, again.out.trim()), (Some(0), "good night"), "{}", again.err);
    let newest = |address: &str| server.sql(&database(address), "SELECT max(position) FROM majordomo.events");
    let number = |text: String| text.parse::<u64>().expect("a number");
    assert!(
        number(newest(&fresh)) > number(newest(world.server().expect("an address"))),
        "it goes on with the next position"
    );
}

#[test]
fn what_is_wrong_with_a_database_is_said_with_its_exit_code() {
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[]);
    let server = Server::shared();
    let fresh = server.database();
    let database = fresh.rsplit('/').next().expect("a name").to_owned();
    let said = |store: &str, code: i32, words: &str| {
        let done = world.call(&["thread", "ls", "--store", store]);
        assert_eq!(done.code, Some(code), "{store}: {}", done.err);
        assert!(done.err.contains(words), "{store}: {}", done.err);
        assert!(!format!("{}{}", done.out, done.err).contains("geheim"), "{store}: {}", done.err);
    };
    said("postgres://", 3, "store.url");
    said("mysql://db/x", 3, "postgres://");
    said("postgres://ana:geheim@127.0.0.1:1/house", 4, "cannot be reached");
    said(&fresh, 3, "majordomo db init");
    said(&server.address("postgres", "nowhere"), 3, "no such database");
    server.sql(&database, "CREATE ROLE locked LOGIN PASSWORD 'right'");
    said(&server.address("locked:geheim", &database), 4, "refuses the login");

    // Named before the verb, too.
    let made = world.call(&["--store", &fresh, "db", "init"]);
    assert_eq!((made.code, made.err.contains("is ready")), (Some(0), true), "{}", made.err);
    assert_eq!(world.call(&["db", "migrate", "--store", &fresh]).code, Some(0));
    let status = world.call(&["db", "status", "--json", "--store", &fresh]);
    assert!(status.out.contains(r#""engine":"postgresql""#), "{}", status.out);
    let doctor = world.call(&["doctor", "--store", &fresh]);
    assert!(doctor.out.contains("PostgreSQL"), "{} {}", doctor.out, doctor.err);
    server.sql(&database, "UPDATE majordomo.schema_version SET version = 99");
    said(&fresh, 3, "schema 99");
    let newest = store::PostgresStore::newest_schema();
    server.sql(&database, &format!("UPDATE majordomo.schema_version SET version = {newest}"));
    server.sql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    said(&fresh, 4, "read-only");
}

#[test]
fn a_password_is_shown_nowhere() {
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[]);
    let mut show = world.command(&["config", "show"]);
    show.env("MAJORDOMO_STORE", "postgres://ana:geheim@db.test/house?sslmode=require");
    let shown = world.launch(show).done();
    assert!(shown.out.contains("postgres://ana@db.test/house"), "{} {}", shown.out, shown.err);
    assert!(!format!("{}{}", shown.out, shown.err).contains("geheim"));
}

#[test]
fn a_password_that_is_used_is_found_nowhere_else() {
    let server = Server::shared();
    let database = server.database().rsplit('/').next().expect("a name").to_owned();
    server.sql(&database, "CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'geheim'");
    let looks = command("env; cat /proc/self/environ; tr '\\0' ' ' < /proc/$PPID/cmdline; echo begun >> begun");
    let scenes = [
        scene("ask around", &[calls(&[spawn("look there"), looks]), says("it is done")]),
        scene("look there", &[says("nothing there")]),
    ];
    let world =
        World::on_database(env!("CARGO_BIN_EXE_majordomo"), &scenes, server.address("locked:geheim", &database));
    let traced = |mut command: Command| {
        command.env("RUST_LOG", "trace");
        world.launch(command)
    };
    let mut worker = traced(world.command(&["work"]));
    let done = traced(world.task("ask around", &["--jsonl"])).done();
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(world.lines("begun").len(), 1, "its command looked");
    let mut said = vec![done.out, done.err, worker.said(), worker.printed()];
    for words in [
        &["ps", "--all"][..],
        &["ps", "--all", "--json"],
        &["doctor"],
        &["db", "status", "--json"],
        &["config", "show"],
    ] {
        let done = traced(world.command(words)).done();
        said.extend([done.out, done.err]);
    }
    server.sql(&database, "ALTER ROLE locked PASSWORD 'other'");
    let refused = world.call(&["thread", "ls"]);
    assert_eq!((refused.code, refused.err.contains("refuses the login")), (Some(4), true), "{}", refused.err);
    said.push(refused.err);
    said.push(server.sql(&database, "SELECT string_agg(body, ' ') FROM majordomo.events"));
    said.push(server.sql(&database, "SELECT string_agg(p::text, ' ') FROM majordomo.processes p"));
    said.push(server.sql(&database, "SELECT string_agg(w::text, ' ') FROM majordomo.workers w"));
    said.extend(
        world
            .state_files()
            .iter()
            .map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned()),
    );
    for text in said {
        let at = text
            .find("geheim")
            .map(|at| text[text.floor_char_boundary(at.saturating_sub(200))..].chars().take(300).collect::<String>());
        assert_eq!(at, None);
    }
    worker.kill();
}
