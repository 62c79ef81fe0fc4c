//! People who steer and stop at random moments, by seed: whatever they do, every run ends, and the books agree.

use std::time::Duration;

use agent::{Outside, Strength, ThreadId};
use majordomo_runtime::{Error, Runtime};
use store::ThreadQuery;

use crate::gate::Nap;
use crate::room::{Plan, report, soon, stores};
use crate::script::{after_ms, call, calls, says, scene, spawn, spawn_with};

const SEEDS: u64 = 40;
const DEEDS: u64 = 12;

/// A small generator (SplitMix64): the same seed throws the same numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

fn family() -> [String; 3] {
    let think = |reply: String| after_ms(2, &reply);
    let beside = spawn_with("branch beside", ", background = true, max_tokens = 20000");
    [
        scene(
            "the whole",
            &[
                think(calls(&[spawn("branch left"), spawn("branch right"), beside])),
                think(calls(&[call("nap")])),
                think(says("the whole is done")) + "repeat = true\n",
            ],
        ),
        scene(
            "branch",
            &[think(calls(&[spawn("leaf one"), spawn("leaf two")])), think(says("grown")) + "repeat = true\n"],
        ),
        scene("leaf", &[think(calls(&[call("nap")])), think(says("green")) + "repeat = true\n"]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_run_ends_at_whatever_moment_a_person_steers_and_stops() {
    // F28
    for (store, _folder) in stores() {
        let room = Plan::new(&family()).store(store).tool(Nap::new()).open().await;
        for seed in 0..SEEDS {
            let handle = room.start("the whole").await;
            let root = handle.thread.clone();
            let people =
                [0, 1].map(|who| tokio::spawn(meddle(room.runtime.clone(), root.clone(), Dice(seed * 2 + who))));
            let ended = report(handle).await;
            for person in people {
                soon("a person", person).await.expect("no person panics");
            }
            println!("seed {seed}: {}", ended.outcome);
            room.assert_at_rest(&root).await;
        }
        room.runtime.leave().await;
    }
}

/// Does this and that to a family until it has had enough or the family is over.
async fn meddle(runtime: Runtime, root: ThreadId, mut dice: Dice) {
    for _ in 0..DEEDS {
        tokio::time::sleep(Duration::from_millis(dice.below(4))).await;
        let query = ThreadQuery { root: Some(root.clone()), ..ThreadQuery::default() };
        let rows = runtime.store().threads(query).await.expect("the threads can be read");
        let thread = &rows[dice.below(rows.len() as u64) as usize].id;
        // Mostly words: a family that is stopped at once meets no second deed.
        let done = match dice.below(10) {
            0 if !thread.is_root() => runtime.stop(thread, Strength::Kill, "a person said so").await,
            1 | 2 if !thread.is_root() => runtime.stop(thread, Strength::Cancel, "a person said so").await,
            3 if dice.below(3) == 0 => {
                let stop = |strength| Outside::stopped(strength, "and again");
                let twice = runtime.send(thread, stop(Strength::Cancel)).await;
                twice.and(runtime.send(thread, stop(Strength::Kill)).await)
            }
            _ => runtime.send(thread, Outside::person_steers("and another thing")).await,
        };
        assert!(matches!(done, Ok(()) | Err(Error::Idle(_))), "{done:?}");
    }
}
