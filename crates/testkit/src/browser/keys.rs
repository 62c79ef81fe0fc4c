//! What a keyboard sends for a key, as an American one has it.

use serde_json::{Value, json};

/// Keys that have names: what they write, and the number by which old programs know them.
const NAMED: &[(&str, &str, u32)] = &[
    ("Enter", "\r", 13),
    ("Tab", "", 9),
    ("Escape", "", 27),
    ("Backspace", "", 8),
    ("Space", " ", 32),
    ("Home", "", 36),
    ("End", "", 35),
    ("ArrowLeft", "", 37),
    ("ArrowUp", "", 38),
    ("ArrowRight", "", 39),
    ("ArrowDown", "", 40),
];

/// Signs, where they are, and the number by which old programs know the place.
const SIGNS: &[(&str, &str, u32)] =
    &[("/?", "Slash", 191), (".>", "Period", 190), ("[{", "BracketLeft", 219), ("]}", "BracketRight", 221)];

/// The keys that are held down meanwhile, and their bits.
const HELD: &[(&str, u32)] = &[("Alt+", 1), ("Control+", 2), ("Meta+", 4), ("Shift+", 8)];
const SHIFT: u32 = 8;

/// The two messages of a key that is pressed and let go: `a`, `?`, `Enter`, `Shift+ArrowRight`, `Control+k`.
pub(super) fn press(name: &str) -> [Value; 2] {
    let (mut rest, mut held) = (name, 0);
    while let Some((prefix, bit)) =
        HELD.iter().find(|(prefix, _)| rest.starts_with(prefix) && rest.len() > prefix.len())
    {
        rest = &rest[prefix.len()..];
        held |= bit;
    }
    let key = Key::named(rest).unwrap_or_else(|| Key::of_sign(rest));
    let held = held | key.held;
    let text = if held & !SHIFT == 0 { key.text.as_str() } else { "" };
    let message = |kind: &str, text: &str| {
        json!({
            "type": kind, "key": key.key, "code": key.code, "windowsVirtualKeyCode": key.number,
            "modifiers": held, "text": text,
        })
    };
    [message(if text.is_empty() { "rawKeyDown" } else { "keyDown" }, text), message("keyUp", "")]
}

struct Key {
    key: String,
    code: String,
    text: String,
    number: u32,
    held: u32,
}

impl Key {
    fn named(name: &str) -> Option<Self> {
        let (name, text, number) = NAMED.iter().find(|(known, _, _)| *known == name)?;
        let key = if *name == "Space" { " " } else { name };
        Some(Self { key: key.into(), code: (*name).into(), text: (*text).into(), number: *number, held: 0 })
    }

    fn of_sign(sign: &str) -> Self {
        let mut signs = sign.chars();
        let (Some(only), None) = (signs.next(), signs.next()) else { panic!("there is no key {sign}") };
        let (code, number, held) = match SIGNS.iter().find(|(signs, _, _)| signs.contains(only)) {
            Some((signs, code, number)) => ((*code).to_owned(), *number, if signs.ends_with(only) { SHIFT } else { 0 }),
            None if only.is_ascii_alphabetic() => {
                let upper = only.to_ascii_uppercase();
                (format!("Key{upper}"), u32::from(upper), if only.is_ascii_uppercase() { SHIFT } else { 0 })
            }
            None if only.is_ascii_digit() => (format!("Digit{only}"), u32::from(only), 0),
            None => (String::new(), 0, 0),
        };
        Self { key: sign.into(), code, text: sign.into(), number, held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_says_what_it_is_what_it_writes_and_what_is_held_with_it() {
        let down = |name| {
            let [down, _] = press(name);
            (down["key"].clone(), down["code"].clone(), down["text"].clone(), down["modifiers"].clone())
        };
        let key = |key: &str, code: &str, text: &str, held: u32| (json!(key), json!(code), json!(text), json!(held));
        assert_eq!(down("n"), key("n", "KeyN", "n", 0));
        assert_eq!(down("N"), key("N", "KeyN", "N", 8));
        assert_eq!(down("?"), key("?", "Slash", "?", 8));
        assert_eq!(down("Enter"), key("Enter", "Enter", "\r", 0));
        assert_eq!(down("Shift+ArrowRight"), key("ArrowRight", "ArrowRight", "", 8));
        assert_eq!(down("Control+k"), key("k", "KeyK", "", 2), "what is held with Control writes nothing");
        assert_eq!(down("+"), key("+", "", "+", 0));
    }
}
