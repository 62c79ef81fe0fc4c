//! Many conversations on one database under workers and servers that are killed, halted and started again, and whose runs are killed
//! at their terminals; in the middle the database itself is restarted. Every conversation ends, every sub-agent reports once, and nothing
//! that a sub-agent does is done twice.
//!
//! A test run has few of them; `cargo xtask storm` has 200 conversations with 10 sub-agents each. What is killed when comes from `STORM_SEED`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agent::{Event, Outcome, ThreadId};
use rustix::process::Signal;
use store::conformance::postgres_server::Server;
use testkit::dice::Dice;
use testkit::scenes::{after_ms, calls, command, says, scene, spawn};
use testkit::world::{Running, World};

#[test]
fn conversations_end_once_whatever_is_killed() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let is_whole = number("STORM_EVERY", 10) == 1;
    let (roots, children, kills, patience) = if is_whole { (200, 10, 150, 1800) } else { (10, 4, 10, 110) };
    let storm = Storm { world: World::on_postgres(env!("CARGO_BIN_EXE_majordomo"), &scenes(roots, children)) };
    storm.blow(roots, kills, Duration::from_secs(patience), Dice::new(number("STORM_SEED", 7)));
    storm.check(roots, children);
}

/// A root has its sub-agents work, and each of them leaves one line.
fn scenes(roots: usize, children: usize) -> Vec<String> {
    let mut scenes = Vec::new();
    for root in 0..roots {
        let leaves: Vec<String> = (0..children).map(|leaf| spawn(&format!("leaf {root}-{leaf};"))).collect();
        scenes.push(scene(&format!("root {root};"), &[calls(&leaves), says("all done")]));
        for leaf in 0..children {
            let line = command(&format!("sleep 0.2; echo {root}-{leaf} >> effects"));
            let replies = [after_ms(200, &calls(&[line])), after_ms(100, &says("done"))];
            scenes.push(scene(&format!("leaf {root}-{leaf};"), &replies));
        }
    }
    scenes
}

struct Storm {
    world: World,
}

impl Storm {
    fn start(&self, arguments: &[&str]) -> Running {
        self.world.start(arguments)
    }

    /// A worker, or a server, which works too.
    fn helper(&self, place: usize) -> Running {
        match place {
            0..3 => self.start(&["work", "--concurrency", "6"]),
            place => {
                let mut command = self.world.command(&["serve", "--addr", "127.0.0.1:0"]);
                command.env("MAJORDOMO_DATA", self.world.path(&format!("../server-{place}")));
                self.world.launch(command)
            }
        }
    }

    fn blow(&self, roots: usize, kills: usize, patience: Duration, mut dice: Dice) {
        let began_at = Instant::now();
        let mut helpers: Vec<Running> = (0..5).map(|place| self.helper(place)).collect();
        let mut runs: Vec<Running> = Vec::new();
        let (mut next, mut killed) = (0, 0);
        loop {
            // A few at a time, as people would.
            runs.retain_mut(|run| !run.has_ended());
            while next < roots && runs.len() < 4 {
                runs.push(self.world.run(&format!("root {next};"), &[]));
                next += 1;
            }
            std::thread::sleep(Duration::from_millis(dice.between(200, 900)));
            if killed < kills {
                killed += 1;
                let place = dice.below(5) as usize;
                match dice.below(4) {
                    0 if !runs.is_empty() => {
                        let run = dice.below(runs.len() as u64) as usize;
                        runs[run].kill();
                    }
                    1 => {
                        // Longer than its lease: others take its threads over, and it finds that when it goes on.
                        helpers[place].signal(Signal::STOP);
                        std::thread::sleep(Duration::from_millis(dice.between(1_800, 2_600)));
                        helpers[place].signal(Signal::CONT);
                    }
                    _ => {
                        helpers[place].kill();
                        helpers[place] = self.helper(place);
                    }
                }
                if killed == kills / 2 {
                    Server::shared().restart();
                }
                continue;
            }
            let begun: Vec<_> = self.world.rows().into_iter().filter(|row| row.id.is_root()).collect();
            let ended = begun.iter().filter(|row| row.outcome.is_some()).count();
            // A run that was killed before it wrote anything was never begun.
            if next == roots && ended == begun.len() {
                break;
            }
            assert!(began_at.elapsed() < patience, "{ended} of {roots} have ended: {:#?}", self.unended());
        }
        helpers.iter_mut().for_each(Running::kill);
        runs.iter_mut().for_each(Running::kill);
    }

    fn unended(&self) -> Vec<String> {
        let rows = self.world.rows().into_iter().filter(|row| row.outcome.is_none());
        rows.map(|row| format!("{} {:?} {:?}", row.id, row.state, row.owner.map(|owner| owner.process.pid))).collect()
    }

    fn check(&self, roots: usize, children: usize) {
        let contents = self.world.contents();
        let (rows, log) = (&contents.rows, &contents.log);
        let begun: Vec<_> = rows.iter().filter(|row| row.id.is_root()).collect();
        assert!(begun.len() + 3 >= roots, "only {} of {roots} were begun", begun.len());
        let mut reports: BTreeMap<(ThreadId, &str), usize> = BTreeMap::new();
        for record in log {
            match &*record.event {
                Event::ChildReported { child, .. } => *reports.entry((child.clone(), "told")).or_default() += 1,
                Event::Reported(_) => *reports.entry((record.thread.clone(), "made")).or_default() += 1,
                _ => {}
            }
        }
        for root in begun {
            assert_eq!(root.outcome, Some(Outcome::Completed), "{}", root.id);
            contents.assert_at_rest(&root.id);
            for leaf in rows.iter().filter(|row| row.parent.as_ref() == Some(&root.id)) {
                let told = |what| reports.get(&(leaf.id.clone(), what)).copied().unwrap_or(0);
                assert_eq!((told("made"), told("told")), (1, 1), "{} reports once", leaf.id);
            }
            assert_eq!(rows.iter().filter(|row| row.parent.as_ref() == Some(&root.id)).count(), children);
        }
        let lines = self.world.lines("effects");
        let mut once = lines.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), lines.len(), "nothing is done twice: {lines:?}");
        assert!(once.len() * 2 > rows.len() - roots, "most of it is done: {} of {}", once.len(), rows.len() - roots);
    }
}
