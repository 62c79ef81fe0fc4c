//! Killed at any moment, again and again, while others write to the same database. `CRASH_KILLS=1000` asks for more kills
//! than the tests take.

use std::fs;
use std::thread;

use agent::{Outcome, ThreadId};
use testkit::dice::Dice;
use testkit::world::{World, assert_gapless, report_of, until};

use crate::checks::{assert_effects, assert_over, assert_sound};
use crate::runs::{TASK, tree};
use crate::trial::printed;
use crate::world;

/// Processes that share the database at any moment.
const ABREAST: u64 = 4;
/// How often they are killed together, unless the environment says otherwise.
const KILLS: u64 = 40;
/// Lines that a run of the tree prints, or a few fewer.
const MOST_LINES: u64 = 50;

#[test]
fn runs_that_share_a_database_are_killed_at_random_and_all_come_to_their_end() {
    // F2
    let wished = std::env::var("CRASH_KILLS").map(|kills| kills.parse().expect("CRASH_KILLS is a number"));
    let kills_each = wished.unwrap_or(KILLS).div_ceil(ABREAST);
    let scripted = tree();
    let world = world(&scripted.scenes);
    thread::scope(|scope| {
        for worker in 0..ABREAST {
            let world = &world;
            scope.spawn(move || be_killed(world, worker, kills_each));
        }
    });
    let left = world.books_of_a_copy();
    assert_gapless(&left.log);
    left.assert_rows();
    let roots: Vec<ThreadId> = left.roots().cloned().collect();
    assert!(roots.len() as u64 >= ABREAST);
    let begin = |root: &ThreadId| (root.clone(), world.start(&["thread", "resume", root.as_str(), "--quiet"]));
    for group in roots.chunks(ABREAST as usize) {
        // All of a group are at work before the first of them is waited for.
        for (root, running) in group.iter().map(begin).collect::<Vec<_>>() {
            assert_eq!(running.done().answer(0), scripted.answer, "{root}");
        }
    }
    let contents = world.contents();
    assert_eq!(contents.log[..left.log.len()], left.log, "what was written stays as it was");
    for root in &roots {
        assert_over(&contents, root);
        assert_effects(&contents, root);
        assert_eq!(report_of(&contents.log, root).outcome, Outcome::Completed);
    }
    assert_eq!(contents.roots().count(), roots.len(), "going on begins nothing new");
    assert_sound(&world);
}

/// Begins runs and goes on with them, each time until a kill at a moment that the dice choose, or until they are over.
fn be_killed(world: &World, worker: u64, most: u64) {
    let mut dice = Dice::new(worker);
    let mut root: Option<String> = None;
    let (mut kills, mut begun) = (0, 0);
    while kills < most {
        let (command, most_lines) = match &root {
            Some(root) => (world.command(&["thread", "resume", root, "--jsonl"]), MOST_LINES / 2),
            None => {
                begun += 1;
                // A workspace for each, so that it shows whose commands ran.
                let folder = world.path(&format!("{worker}-{begun}"));
                fs::create_dir(&folder).expect("a folder");
                let mut command = world.task(TASK, &["--jsonl"]);
                command.current_dir(folder);
                (command, MOST_LINES)
            }
        };
        let lines = dice.below(most_lines) as usize;
        let mut running = world.launch(command);
        until("a line or an end", || (printed(&running.printed()).len() >= lines || running.has_ended()).then_some(()));
        running.kill();
        let done = running.done();
        if !done.was_killed() {
            assert_eq!(done.code, Some(0), "{done:?}");
            root = None;
            continue;
        }
        kills += 1;
        // One that died before it was heard of is found in the database at the end.
        root = printed(&done.out).first().and_then(|line| line["run"].as_str()).map(str::to_owned).or(root);
    }
}
