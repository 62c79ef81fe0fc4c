//! What people send, when, and to whom: messages, words in between, stops, and all of it twice.

use agent::{InputId, Outside, Strength};

use crate::dice::Dice;

/// Something that a person sends.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub after_ms: u64,
    /// Whether it is meant for the root; otherwise for any thread that there is.
    pub to_root: bool,
    pub id: InputId,
    pub input: Outside,
}

/// Everything that people will send: the message that begins it all, and some more.
pub(super) fn letters(dice: &mut Dice) -> Vec<Letter> {
    let first = Outside::UserSaid { text: "do it".into() };
    let mut letters = vec![Letter { after_ms: 0, to_root: true, id: InputId::new("p0"), input: first }];
    let count = *dice.pick(&[0, 0, 1, 2, 4, 8]);
    for number in 1..=count {
        let letter = Letter {
            after_ms: if dice.chance(30) { dice.below(20_000) } else { dice.below(600_000) },
            to_root: dice.chance(60),
            id: InputId::new(format!("p{number}")),
            input: input(dice, number),
        };
        if dice.chance(20) {
            letters.push(Letter { after_ms: letter.after_ms + dice.below(2_000), ..letter.clone() });
        }
        letters.push(letter);
    }
    letters
}

/// One thing that a person may send.
pub(super) fn input(dice: &mut Dice, number: u64) -> Outside {
    match dice.below(12) {
        0..=3 => Outside::UserSaid { text: format!("and then {number}").into() },
        4..=8 => Outside::Steered { text: format!("mind the {number} steps").into(), from: "person".into() },
        9..=10 => Outside::Stopped { strength: Strength::Cancel, reason: "enough".into() },
        _ => Outside::Stopped { strength: Strength::Kill, reason: "at once".into() },
    }
}
