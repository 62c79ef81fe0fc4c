//! What is refused before a parser sees it: too much, too deep, or made to look like something else.
//!
//! The parser descends recursively, so depth is bounded here by a count that can only be too high: every character and
//! word that could open something, quoted or not, closed or not. A limit that is reached never weakens a verdict, it is
//! one.

use std::borrow::Cow;

use crate::documents;

/// Longer commands are scripts; a person who is asked cannot read them either.
const MAX_BYTES: usize = 16 * 1024;
/// Far above what anybody types, far below what exhausts the stack of a thread.
const MAX_OPENERS: usize = 64;
/// The same where something is substituted: the parser looks ahead over it, so that its time doubles with every level.
const MAX_SUBSTITUTED: usize = 10;
/// Two brackets may begin a sum or a command in a command: the parser tries both, so that its time doubles with every pair.
const MAX_PAIRS: usize = 8;
/// The same for single brackets, which may begin a command in a command or a pattern, and for `case`, whose end is sought
/// before it is read.
const MAX_BRACKETS: usize = 20;
const MAX_CASES: usize = 8;
/// Commands joined by operators: the parser takes time that grows with the square of a pipeline.
const MAX_OPERATORS: usize = 512;

/// The command as the parser may see it, without here-documents, or why it is not to be read.
pub(crate) fn checked(command: &str) -> Result<Cow<'_, str>, &'static str> {
    if command.trim().is_empty() {
        return Err("it is empty");
    }
    if command.len() > MAX_BYTES {
        return Err("it is too long to be read with confidence (over 16 KiB)");
    }
    if command.chars().any(deceives) {
        return Err(
            "it holds characters that cannot be seen or turn the text around: what is shown is not what would run",
        );
    }
    let text = documents::replaced(command)?;
    check_size(&text)?;
    Ok(text)
}

/// Says why a text would take the parser too long, if it would.
fn check_size(command: &str) -> Result<(), &'static str> {
    if has_huge_number(command) {
        return Err("it holds a number that no shell would count with");
    }
    let substitutes = SUBSTITUTIONS.iter().any(|opening| command.contains(opening));
    let words = || command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    if command.matches("((").count() > MAX_PAIRS
        || command.matches('(').count() > MAX_BRACKETS
        || words().filter(|word| *word == "case").count() > MAX_CASES
        || openers(command) > MAX_OPENERS
        || (substitutes && command.matches(['(', '{', '`']).count() > MAX_SUBSTITUTED)
    {
        return Err("it is nested too deeply to be read with confidence");
    }
    if command.matches(['|', '&', ';', '\n', '<', '>']).count() > MAX_OPERATORS {
        return Err("it chains too many commands to be read with confidence");
    }
    Ok(())
}

const SUBSTITUTIONS: [&str; 5] = ["$(", "${", "`", "<(", ">("];

/// Whether a number stands where the parser reads one, and is too long for it to hold.
fn has_huge_number(command: &str) -> bool {
    ["$", "{", ".."].iter().flat_map(|before| command.split(before).skip(1)).any(|after| {
        let digits = after.trim_start_matches(['+', '-']).bytes().take_while(u8::is_ascii_digit).count();
        digits > 9
    }) || command.split_inclusive(['<', '>']).any(|before| {
        // The number of a file that is opened.
        let digits = before.trim_end_matches(['<', '>']).bytes().rev().take_while(u8::is_ascii_digit).count();
        digits > 9 && before.ends_with(['<', '>'])
    })
}

/// Counts whatever could open a nesting. Each word that opens one is followed or preceded by something that is not a
/// letter.
fn openers(command: &str) -> usize {
    let characters = command.matches(['(', '{', '`', '[', '!']).count();
    let words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    characters + words.filter(|word| OPENING_WORDS.contains(word)).count()
}

const OPENING_WORDS: [&str; 10] =
    ["if", "elif", "while", "until", "for", "case", "select", "function", "time", "coproc"];

fn deceives(c: char) -> bool {
    !matches!(c, '\n' | '\t') && is_unseen(c)
}

/// Whether a character is a control character, shows as nothing, shows as a space that is none to the shell, or turns the
/// direction of what follows. What holds one can be shown as something else than it is.
pub fn is_unseen(c: char) -> bool {
    c.is_control() || DECEIVING.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Spaces that are none to the shell, fillers and joiners that show as nothing, marks of direction, and tags, as ranges.
const DECEIVING: [(char, char); 23] = [
    ('\u{00A0}', '\u{00A0}'),
    ('\u{00AD}', '\u{00AD}'),
    ('\u{034F}', '\u{034F}'),
    ('\u{061C}', '\u{061C}'),
    ('\u{115F}', '\u{1160}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{17B4}', '\u{17B5}'),
    ('\u{180B}', '\u{180F}'),
    ('\u{2000}', '\u{200F}'),
    ('\u{2028}', '\u{202F}'),
    ('\u{205F}', '\u{206F}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{FE00}', '\u{FE0F}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFA0}', '\u{FFA0}'),
    ('\u{FFF0}', '\u{FFFC}'),
    ('\u{1BCA0}', '\u{1BCA3}'),
    ('\u{1D173}', '\u{1D17A}'),
    ('\u{E0000}', '\u{E0FFF}'),
    ('\u{F0000}', '\u{FFFFD}'),
    ('\u{100000}', '\u{10FFFD}'),
];
