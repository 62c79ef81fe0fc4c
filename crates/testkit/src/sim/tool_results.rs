//! The results of simulated tools, and when they come.

use agent::tools::ToolResult;

use super::setting::Behaviour;
use crate::dice::Dice;

/// After so long even a tool that hangs is given up by its own hands.
const GIVEN_UP_MS: u64 = 3_600_000;

/// How long a tool takes.
pub(super) fn takes_ms(dice: &mut Dice, behaviour: &Behaviour) -> u64 {
    match () {
        () if dice.chance(behaviour.hangs) => GIVEN_UP_MS,
        () if dice.chance(20) => dice.between(10_000, 400_000),
        () => dice.between(0, 5_000),
    }
}

/// What a tool comes back with.
pub(super) fn result(dice: &mut Dice) -> ToolResult {
    let length = if dice.chance(25) { dice.below(6_000) } else { dice.below(80) };
    ToolResult {
        content: "x".repeat(length as usize).into(),
        is_error: dice.chance(15),
        files_read: dice.maybe(30, |dice| format!("read-{}", dice.below(5)).into()).into_iter().collect(),
        files_modified: dice.maybe(20, |dice| format!("made-{}", dice.below(5)).into()).into_iter().collect(),
        ..ToolResult::default()
    }
}

/// What checks come back with.
pub(super) fn checked(dice: &mut Dice) -> ToolResult {
    match dice.below(10) {
        0..=4 => ToolResult::ok("all checks have passed"),
        5..=8 => ToolResult { executed: true, ..ToolResult::error("the check `test` failed:\n1 failed") },
        _ => ToolResult::error("the check `lint` could not be run"),
    }
}

/// What a tool that was told to end comes back with.
pub(super) fn stopped() -> ToolResult {
    ToolResult::error("stopped")
}
