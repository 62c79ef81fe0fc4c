//! Any order and any repetition of numbered frames gives the same picture, whether or not the picture is read in between.

use serde_json::Value;

use crate::engine::Engine;
use crate::fixture::{self, Fixture};
use crate::pictures::picture;

// KATA-9, KATA-12, KATA-14, KATA-18, INV-7
#[test]
fn any_order_and_any_repetition_of_a_familys_frames_give_the_same_picture() {
    shuffle(&fixture::families());
}

// KATA-9, KATA-11 to KATA-17, INV-7
#[test]
fn any_order_and_any_repetition_of_a_strange_stream_give_the_same_picture() {
    shuffle(&fixture::streams());
}

fn shuffle(fixtures: &[Fixture]) {
    let engine = Engine::new();
    for fixture in fixtures.iter().filter(|fixture| fixture.is_numbered()) {
        let expected = picture(&engine, &fixture.frames);
        for seed in 0..orders(fixture.frames.len()) {
            let order = order(fixture.frames.len(), seed);
            let order = serde_json::to_string(&order).expect("numbers");
            let looks = if seed % 20 == 0 { "look" } else { "" };
            let came_out: Value = engine.call("picture", &[&order, looks]).parse().expect("a picture is JSON");
            assert_eq!(came_out, expected, "{}, seed {seed}, in the order {order}", fixture.name);
        }
    }
}

/// How many orders a fixture is tried in: many, and fewer of what is long.
fn orders(frames: usize) -> u64 {
    (20_000 / frames as u64).clamp(50, 200)
}

/// Every place at least once, some twice or thrice, in an order that only the seed decides.
fn order(frames: usize, seed: u64) -> Vec<usize> {
    let mut dice = Dice(seed);
    let mut order: Vec<usize> = (0..frames).collect();
    for _ in 0..frames / 3 {
        order.push(dice.below(frames));
    }
    for at in (1..order.len()).rev() {
        order.swap(at, dice.below(at + 1));
    }
    order
}

/// SplitMix64: small, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}
