//! Who is spoken to, sentence by sentence.

use super::*;

fn found(text: &str) -> Option<Order> {
    let alex = Person { name: "Alex Morgan".into(), address: "alex@morgan.example".into() };
    find(&[Piece { text, is_hidden: false }], &[&alex])
}
