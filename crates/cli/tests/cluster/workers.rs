//! Workers on several machines: what a process leaves another one goes on with, sub-agents run where there is room, and what belongs to one
//! machine stays there. Each machine is a name and a data folder of its own.

use agent::{Event, Outcome, ThreadId};
use rustix::process::Signal;
use store::conformance::postgres_server::Server;
use testkit::scenes::{call, calls, command, says, scene, spawn, spawn_with, waits_for_go};
use testkit::world::{Done, Running, World, until};

use super::world;

/// What a statement gives in the database of a world.
fn sql(world: &World, sql: &str) -> String {
    let database = world.server().and_then(|address| address.rsplit('/').next()).expect("a database");
    Server::shared().sql(database, sql)
}

/// A command as it is given on a machine of this name.
fn on(world: &World, machine: &str, arguments: &[&str]) -> std::process::Command {
    let mut command = world.command(arguments);
    command.env("MAJORDOMO_STORE_MACHINE", machine).env("MAJORDOMO_DATA", world.path(&format!("../{machine}")));
    command
}

fn call_on(world: &World, machine: &str, arguments: &[&str]) -> Done {
    world.launch(on(world, machine, arguments)).done()
}

/// A run that a person starts on a machine.
fn run_on(world: &World, machine: &str, task: &str) -> Running {
    let model = format!("scripted/{}", world.script().display());
    world.launch(on(world, machine, &["run", task, "--model", &model, "--mode", "dangerous"]))
}

/// A worker on a machine, once others know of it.
fn worker(world: &World, machine: &str, arguments: &[&str]) -> Running {
    let before = sql(world, "SELECT count(*) FROM majordomo.workers");
    let running = world.launch(on(world, machine, &[&["work"], arguments].concat()));
    until("a worker", || (sql(world, "SELECT count(*) FROM majordomo.workers") != before).then_some(()));
    running
}

fn outcome(world: &World, thread: &ThreadId) -> Outcome {
    until("the end", || world.rows().into_iter().find(|row| row.id == *thread)?.outcome)
}

#[test]
fn a_worker_goes_on_with_what_a_killed_process_left() {
    let wait = command("echo once >> marks; while ! [ -e go ]; do sleep 0.05; done");
    let world = world(&[scene("mark it", &[calls(&[wait]), says("marked")])]);
    let mut running = run_on(&world, "one", "mark it");
    world.until_lines("marks", 1);
    let root = world.root();
    let mut worker = worker(&world, "one", &[]);
    running.kill();
    world.go();
    assert_eq!(outcome(&world, &root), Outcome::Completed);
    assert_eq!(world.lines("marks").len(), 1, "what may have been done is not done again");
    world.assert_at_rest(&root);
    worker.kill();
}

#[test]
fn sub_agents_are_begun_by_workers_and_report_to_the_process_of_their_parent() {
    let scenes = [
        scene("ask around", &[calls(&[spawn("look left"), spawn("look right"), spawn("look up")]), says("it is done")]),
        scene("look", &[calls(&[command("echo here >> looked")]), says("nothing there")]),
    ];
    let world = world(&scenes);
    let mut workers = [worker(&world, "one", &[]), worker(&world, "one", &["--concurrency", "1"])];
    let done = run_on(&world, "one", "ask around").done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "it is done"), "{}", done.err);
    let root = world.root();
    world.assert_at_rest(&root);
    assert_eq!(world.lines("looked").len(), 3, "each once");
    let rows = world.rows();
    // Left by the parent, claimed by a worker, handed to the part of it that works in the folder.
    assert!(rows.iter().filter(|row| row.parent.is_some()).all(|row| row.epoch == 3), "{rows:?}");
    let reports = |id: &ThreadId| {
        let of = |event: &Event| matches!(event, Event::ChildReported { child, .. } if child == id);
        world.log().iter().filter(|record| of(&record.event)).count()
    };
    for row in rows.iter().filter(|row| row.parent.is_some()) {
        assert_eq!(reports(&row.id), 1);
    }
    workers.iter_mut().for_each(Running::kill);
}

#[test]
fn what_waits_for_a_person_below_another_machine_is_decided_anywhere() {
    let write = call("write_file", r#"path = "a.txt", content = "yes""#);
    let scenes = [
        scene("have it written", &[calls(&[spawn("write it")]), says("all done")]),
        scene("write it", &[calls(&[write]), says("written")]),
    ];
    let world = world(&scenes);
    let mut worker = worker(&world, "one", &[]);
    let mut running = world.careful_task("have it written", &["--approvals", "wait"]);
    running.env("MAJORDOMO_STORE_MACHINE", "one");
    let running = world.launch(running);
    let log = world.until_logged("a question", |log| {
        log.iter().any(|record| matches!(&*record.event, Event::ApprovalRequested(_)))
    });
    let asked = log.iter().find_map(|record| match &*record.event {
        Event::ApprovalRequested(approval) => Some(approval.id.clone()),
        _ => None,
    });
    let asked = asked.expect("a question");
    let decided = call_on(&world, "two", &["approve", "yes", asked.as_str()]);
    assert_eq!(decided.code, Some(0), "{}", decided.err);
    let done = running.done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    assert_eq!(world.lines("a.txt"), ["yes"]);
    worker.kill();
}

#[test]
fn a_stop_reaches_a_sub_agent_that_a_worker_drives() {
    let scenes = [
        scene("have it done", &[calls(&[spawn("take long")]), says("all done")]),
        scene("take long", &[calls(&[waits_for_go("child")]), says("done")]),
    ];
    let world = world(&scenes);
    let mut worker = worker(&world, "one", &[]);
    let running = run_on(&world, "one", "have it done");
    world.until_lines("begun", 1);
    let root = world.root();
    assert_eq!(world.row(&root.child(1)).epoch, 3, "a worker drives it");
    let stopped = call_on(&world, "two", &["stop", root.as_str()]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.err);
    world.assert_commands_gone();
    assert_ne!(running.done().code, Some(0));
    assert_eq!(outcome(&world, &root.child(1)), Outcome::Cancelled);
    world.assert_at_rest(&root);
    worker.kill();
}

#[test]
fn what_a_person_interrupts_is_left_to_the_person() {
    let world = world(&[scene("take long", &[calls(&[waits_for_go("root")]), says("done")])]);
    let mut worker = worker(&world, "one", &[]);
    let running = run_on(&world, "one", "take long");
    world.until_lines("begun", 1);
    running.signal(Signal::INT);
    assert_eq!(running.done().code, Some(130));
    let root = world.root();
    let left = sql(&world, "SELECT held, owner IS NULL, live FROM majordomo.threads");
    assert_eq!(left, "t|t|t");
    world.go();
    let elsewhere = call_on(&world, "two", &["thread", "resume", root.as_str()]);
    assert_ne!(elsewhere.code, Some(0));
    assert!(elsewhere.err.contains("folder of machine one"), "{}", elsewhere.err);
    let resumed = call_on(&world, "one", &["thread", "resume", root.as_str()]);
    assert_eq!((resumed.code, resumed.out.trim()), (Some(0), "done"), "{}", resumed.err);
    worker.kill();
}

/// An agent that only a worker with a label may run.
fn has_painter(world: &World) {
    let agents = world.path("../home/.config/majordomo/agents");
    std::fs::create_dir_all(&agents).expect("a folder");
    let file = "---\nname: painter\ndescription: paints\nrequires: [gpu]\ntools: [read_file]\n---\nYou paint.\n";
    std::fs::write(agents.join("painter.md"), file).expect("a file");
}

#[test]
fn an_agent_that_requires_a_label_waits_for_a_worker_that_has_it() {
    let scenes = [
        scene("have it painted", &[calls(&[spawn_with("paint it", ", agent = \"painter\"")]), says("all done")]),
        scene("paint it", &[says("painted")]),
    ];
    let world = world(&scenes);
    has_painter(&world);
    let mut plain = worker(&world, "one", &[]);
    let running = run_on(&world, "one", "have it painted");
    let child = until("a sub-agent", || world.rows().into_iter().find(|row| row.parent.is_some()));
    assert_eq!(sql(&world, "SELECT requires FROM majordomo.threads WHERE parent IS NOT NULL"), "{gpu}");
    let mut strong = worker(&world, "one", &["--label", "gpu"]);
    let done = running.done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    assert_eq!(world.row(&child.id).epoch, 3, "claimed once");
    plain.kill();
    strong.kill();
}

/// More sub-agents than a process has connections are claimed by one statement.
#[test]
fn a_worker_takes_over_many_at_once() {
    const MANY: usize = 14;
    let spawns: Vec<String> =
        (0..MANY).map(|which| spawn_with(&format!("paint {which}"), ", agent = \"painter\"")).collect();
    let scenes = [scene("have all painted", &[calls(&spawns), says("all done")]), scene("paint", &[says("painted")])];
    let world = world(&scenes);
    has_painter(&world);
    let model = format!("scripted/{}", world.script().display());
    let many = MANY.to_string();
    let arguments = ["run", "have all painted", "--model", &model, "--mode", "dangerous", "--max-concurrent", &many];
    let running = world.launch(on(&world, "one", &arguments));
    until("all sub-agents", || (world.rows().len() == MANY + 1).then_some(()));
    let mut worker = worker(&world, "one", &["--label", "gpu", "--concurrency", "40"]);
    let done = running.done();
    assert_eq!((done.code, done.out.trim()), (Some(0), "all done"), "{}", done.err);
    world.assert_at_rest(&world.root());
    worker.kill();
}

#[test]
fn servers_of_several_machines_do_not_take_each_other_for_themselves() {
    let world = world(&[]);
    let serve = |machine: &str| {
        let running = world.launch(on(&world, machine, &["serve", "--addr", "127.0.0.1:0"]));
        let token = world.path(&format!("../{machine}/server.token"));
        until("a token", || token.exists().then_some(()));
        until("it listens", || running.said().contains("listens on").then_some(()));
        (running, token)
    };
    let (first, first_token) = serve("one");
    let (second, second_token) = serve("two");
    first.signal(Signal::TERM);
    assert_eq!(first.done().code, Some(143));
    assert!(!first_token.exists() && second_token.exists(), "each removes its own");
    second.signal(Signal::TERM);
    assert_eq!(second.done().code, Some(143));
    assert!(!second_token.exists());
}

#[test]
fn a_worker_that_waits_asks_at_most_three_times_a_second() {
    let world = world(&[]);
    let database = world.server().and_then(|address| address.rsplit('/').next()).expect("a database").to_owned();
    Server::shared().sql("postgres", &format!("ALTER DATABASE {database} SET log_statement = 'all'"));
    let mut worker = worker(&world, "one", &[]);
    let asked = || {
        let log = std::fs::read_to_string(Server::shared().folder().join("log")).expect("a log");
        log.lines().filter(|line| line.contains("LOG:  execute") || line.contains("LOG:  statement")).count()
    };
    // How much it asks is looked at over a while, in which each of its looks comes once.
    until("a calm second", || {
        let before = asked();
        std::thread::sleep(std::time::Duration::from_secs(1));
        (asked() - before <= 3).then_some(())
    });
    let (before, begun) = (asked(), std::time::Instant::now());
    std::thread::sleep(std::time::Duration::from_secs(21));
    let a_second = (asked() - before) as f64 / begun.elapsed().as_secs_f64();
    assert!((1.0..=3.0).contains(&a_second), "{a_second} queries a second");
    worker.kill();
}
