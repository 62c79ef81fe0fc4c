//! Who is spoken to, sentence by sentence.

use super::*;

fn found(text: &str) -> Option<Order> {
    find(&[Piece { text, is_hidden: false }], &["Alex"])
}
