//! What fails between processes and their database: connections that are cut, at any moment; a process that is cut off for longer than its
//! lease; a database that is away, that is full, or whose standby takes its place.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use store::conformance::postgres_server::{Server, UNSAFE};
use testkit::dice::Dice;
use testkit::proxy::Proxy;
use testkit::scenes::{after_ms, calls, command, says, scene, spawn};
use testkit::skip::skipped;
use testkit::world::{Running, World, until};

use super::family::{Watcher, assert_ended_once, of_several, scenes};

/// A command in a world, with another address of the same database.
fn at(world: &World, address: &str, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.env("MAJORDOMO_STORE", address);
    command
}

fn run_at(world: &World, address: &str, task: &str) -> Running {
    let mut command = world.task(task, &[]);
    command.env("MAJORDOMO_STORE", address);
    world.launch(command)
}

fn direct(world: &World) -> String {
    world.server().expect("an address").to_owned()
}

fn sql(server: &Server, world: &World, sql: &str) -> String {
    server.sql(direct(world).rsplit('/').next().expect("a database"), sql)
}

/// A worker, once others know of it.
fn worker_at(server: &Server, world: &World, address: &str) -> Running {
    let before = sql(server, world, "SELECT count(*) FROM majordomo.workers");
    let worker = world.launch(at(world, address, &["work"]));
    until("a worker", || (sql(server, world, "SELECT count(*) FROM majordomo.workers") != before).then_some(()));
    worker
}

fn on_server(server: &Server, scenes: &[String]) -> World {
    World::on_database(env!("CARGO_BIN_EXE_majordomo"), scenes, server.database())
}

#[test]
fn connections_that_are_cut_at_any_moment_lose_nothing_and_double_nothing() {
    let (roots, children) = (3, 4);
    let server = Server::shared();
    let world = on_server(server, &scenes(roots, children));
    let proxy = Proxy::to(server.folder(), Dice::new(1));
    let address = proxy.address(&direct(&world));
    let watcher = Watcher::of(&address);
    let mut workers: Vec<Running> = (0..2).map(|_| world.launch(at(&world, &address, &["work"]))).collect();
    let mut runs: Vec<Running> = (0..roots).map(|root| run_at(&world, &address, &format!("root {root};"))).collect();
    // One that cannot reach the database when it starts says so and ends.
    until("all to be begun", || {
        (sql(server, &world, "SELECT count(*) FROM majordomo.threads WHERE parent IS NULL") == "3").then_some(())
    });
    // From here on answers are lost after what they answer was done, most often those that tell of a commit.
    proxy.cut_one_answer_in(100);
    proxy.cut_one_commit_in(5);
    let begun = Instant::now();
    while runs.iter_mut().any(|run| !run.has_ended()) {
        let said = || runs.iter().map(Running::said).collect::<String>();
        assert!(begun.elapsed() < Duration::from_secs(100), "they end: {}", said());
        std::thread::sleep(Duration::from_millis(50));
    }
    proxy.cut_one_answer_in(0);
    proxy.cut_one_commit_in(0);
    for run in runs {
        let done = run.done();
        assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    }
    assert!(proxy.answers_cut() > 20, "{} answers were cut off", proxy.answers_cut());
    let contents = assert_ended_once(&world, roots, children, 50);
    watcher.has_seen(&contents);
    workers.iter_mut().for_each(Running::kill);
}

/// A sub-agent whose command waits for long, with the worker that runs it connected by the proxy.
fn worked_far_away(world: &World, proxy: &Proxy) -> (Running, Running, Running) {
    let server = Server::shared();
    let far = worker_at(server, world, &proxy.address(&direct(world)));
    let run = run_at(world, &direct(world), "have it done");
    world.until_lines("begun", 1);
    let near = worker_at(server, world, &direct(world));
    (far, near, run)
}

fn long_work() -> [String; 2] {
    let works = command("echo begun >> begun; sleep 1000");
    [
        scene("have it done", &[calls(&[spawn("take long")]), says("all done")]),
        scene("take long", &[calls(&[works]), says("done")]),
    ]
}

#[test]
fn a_worker_that_was_cut_off_ends_its_commands_once_it_hears_that_another_goes_on() {
    let world = on_server(Server::shared(), &long_work());
    let proxy = Proxy::to(Server::shared().folder(), Dice::new(1));
    let (mut far, mut near, run) = worked_far_away(&world, &proxy);
    proxy.close();
    let done = run.done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    assert!(!world.commands().is_empty(), "it does not know yet");
    until("it says that it waits", || far.said().contains("waiting for the store").then_some(()));
    proxy.open();
    world.assert_commands_gone();
    let root = world.root();
    world.assert_at_rest(&root);
    assert_eq!(world.lines("begun").len(), 1, "what may have been done is not done again");
    // Both are workers again, though each had been removed as dead.
    until("both", || (sql(Server::shared(), &world, "SELECT count(*) FROM majordomo.workers") == "2").then_some(()));
    far.kill();
    near.kill();
}

#[test]
fn a_worker_that_was_halted_for_longer_than_its_lease_ends_its_commands() {
    let world = on_server(Server::shared(), &long_work());
    let proxy = Proxy::to(Server::shared().folder(), Dice::new(1));
    let (mut far, mut near, run) = worked_far_away(&world, &proxy);
    far.signal(Signal::STOP);
    let done = run.done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    assert!(!world.commands().is_empty(), "a command is not halted with its worker");
    far.signal(Signal::CONT);
    world.assert_commands_gone();
    world.assert_at_rest(&world.root());
    far.kill();
    near.kill();
}

#[test]
fn a_database_that_is_away_stops_nothing_for_good() {
    // 30 seconds in the whole storm; here a third of it.
    let is_whole = std::env::var("STORM_EVERY").is_ok_and(|every| every == "1");
    let away = Duration::from_secs(if is_whole { 30 } else { 10 });
    let server = Server::start(UNSAFE);
    let (roots, children) = (2, 3);
    let mut scenes = scenes(roots, children);
    let works = command("echo root >> begun; until [ -e go ]; do sleep 0.05; done");
    scenes.push(scene("wait for it", &[calls(&[works]), says("it came")]));
    let world = on_server(&server, &scenes);
    let mut worker = worker_at(&server, &world, &direct(&world));
    let mut served = world.command(&["serve", "--addr", "127.0.0.1:0"]);
    served.env("MAJORDOMO_DATA", world.path("../served"));
    let mut served = world.launch(served);
    until("it listens", || served.said().contains("listens on").then_some(()));
    let watcher = Watcher::of(&direct(&world));
    let waits = world.run("wait for it", &[]);
    world.until_lines("begun", 1);
    let runs: Vec<Running> = (0..roots).map(|root| world.run(&format!("root {root};"), &[])).collect();
    world.until_lines("effects", 1);
    server.kill();
    let gone = Instant::now();
    // Its command ends meanwhile, so that there is something to write.
    world.go();
    for (who, running) in [("run", &waits), ("work", &worker)] {
        until("it says that it waits", || running.said().contains("waiting for the store").then_some(()));
        assert!(running.said().contains("cannot be reached"), "{who}: {}", running.said());
    }
    let refused = world.call(&["thread", "ls"]);
    assert_eq!(refused.code, Some(4), "{}", refused.err);
    assert!(refused.err.contains("cannot be reached"), "{}", refused.err);
    std::thread::sleep(away.saturating_sub(gone.elapsed()));
    server.start_again();
    let done = waits.done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "it came"), "{}", done.err);
    for run in runs {
        let done = run.done();
        assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    }
    until("the worker and the server", || {
        (sql(&server, &world, "SELECT count(*) FROM majordomo.workers") == "2").then_some(())
    });
    assert!(worker.said().contains("the store answers again"), "{}", worker.said());
    assert!(!served.has_ended() && !worker.has_ended());
    let contents = world.contents();
    contents.assert_all_at_rest();
    let mut lines = world.lines("effects");
    assert_eq!(lines.len(), roots * children, "no process died, so all of it is done: {lines:?}");
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), roots * children, "and nothing twice");
    watcher.has_seen(&contents);
    worker.kill();
    served.kill();
}

#[test]
fn a_standby_that_takes_the_place_of_its_server_has_all_that_was_committed() {
    let (roots, children) = (3, 4);
    let server = Server::start(UNSAFE);
    let database = server.database();
    let standby = server.synchronous_standby();
    let both = of_several(&[server.folder(), standby.folder()], &database);
    let world = World::on_database(env!("CARGO_BIN_EXE_majordomo"), &scenes(roots, children), both);
    let of_standby = of_several(&[standby.folder()], &database);
    let refused = world.call(&["thread", "ls", "--store", &of_standby]);
    assert_eq!(refused.code, Some(4), "{}", refused.err);
    assert!(refused.err.contains("read-only"), "{}", refused.err);
    let watcher = Watcher::of(&direct(&world));
    let mut workers: Vec<Running> = (0..2).map(|_| worker_at(&server, &world, &direct(&world))).collect();
    let runs: Vec<Running> = (0..roots).map(|root| world.run(&format!("root {root};"), &[])).collect();
    world.until_lines("effects", 2);
    server.kill();
    // It takes a while until the loss is noticed; what answers meanwhile can only be read.
    std::thread::sleep(Duration::from_secs(2));
    standby.promote();
    for run in runs {
        let done = run.done();
        assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    }
    let contents = assert_ended_once(&world, roots, children, 100);
    watcher.has_seen(&contents);
    workers.iter_mut().for_each(Running::kill);
}

/// A small file system, for as long as it is held; none where this is not root.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn new(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).expect("a folder");
        let done = |program: &str, arguments: &[&str]| {
            Command::new(program).args(arguments).arg(folder).output().is_ok_and(|output| output.status.success())
        };
        let is_mounted = done("mount", &["-t", "tmpfs", "-o", "size=24m,mode=0700", "none"]);
        let disk = is_mounted.then(|| Self(folder.to_owned()));
        disk.filter(|_| done("chown", &["postgres"]))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_disk_of_the_database_that_is_full_is_waited_for_and_said() {
    let folder = std::env::temp_dir().join(format!("mdpg-small-{}", std::process::id()));
    let Some(disk) = SmallDisk::new(&folder) else { return skipped("only root can mount a small disk") };
    let server = Server::start(UNSAFE);
    server.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", folder.display()));
    server.sql("postgres", "CREATE DATABASE small TABLESPACE small");
    let works = command("echo begun >> begun; until [ -e go ]; do sleep 0.05; done");
    // More than fits into what is left, and nothing that could be made shorter.
    let mut dice = Dice::new(1);
    let long: String =
        (0..20_000).map(|_| format!("{:04x} ", dice.below(1 << 16))).chain(["word".to_owned()]).collect();
    let scenes =
        [scene("write a lot", &[calls(&[works]), after_ms(10, &says(&long))]), scene("another", &[says("no")])];
    let address = server.address("postgres", "small");
    let world = World::on_database(env!("CARGO_BIN_EXE_majordomo"), &scenes, address);
    let run = world.run("write a lot", &[]);
    world.until_lines("begun", 1);
    let fill = "DO $$ BEGIN LOOP BEGIN INSERT INTO fill SELECT repeat(md5(random()::text), 20) FROM generate_series(1, 200); \
                EXCEPTION WHEN disk_full THEN EXIT; END; END LOOP; END $$";
    server.sql("small", "CREATE TABLE fill (text text)");
    server.sql("small", fill);
    world.go();
    until("it says that it waits", || run.said().contains("no space left for the database").then_some(()));
    let refused = world.call(&["steer", world.root().as_str(), &long[..60_000]]);
    assert_eq!(refused.code, Some(4), "{}", refused.err);
    assert!(refused.err.contains("no space left for the database"), "{}", refused.err);
    server.sql("small", "DROP TABLE fill");
    let done = run.done();
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.trim().ends_with("word"), "{}", done.err);
    world.assert_at_rest(&world.root());
    drop(server);
    drop(disk);
}
