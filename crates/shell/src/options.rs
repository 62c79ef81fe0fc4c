//! Options of a program that are known to be harmless, and what is left when they are taken away.
//!
//! A program that can also write or run something is only trusted with options that are listed. Abbreviations are not
//! understood, a value that looks like an option is taken for one, and `--` ends the options only where it cannot be a
//! value itself: each mistake that remains is one of caution.

use crate::script::Word;

/// The harmless options of a program.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    /// Letters that stand alone, and digits if `-5` means a number.
    pub short: &'static str,
    /// Letters that take a value, in the same word or the next.
    pub valued: &'static str,
    /// Long ones, without their dashes; any may have a value after `=`.
    pub long: &'static [&'static str],
}

impl Options {
    /// The words that are no options, or the first word that is not known to be harmless.
    pub fn operands<'a>(&self, args: &'a [Word]) -> Result<Vec<&'a Word>, &'a Word> {
        let mut operands = Vec::new();
        let mut before = Before::Nothing;
        let mut are_over = false;
        for word in args {
            let text = word.text.as_str();
            let was = std::mem::replace(&mut before, Before::Nothing);
            if are_over || text == "-" {
                operands.push(word);
            } else if word.is_loose {
                return Err(word);
            } else if text == "--" {
                are_over = was == Before::Nothing;
            } else if let Some(long) = text.strip_prefix("--") {
                let name = long.split('=').next().unwrap_or_default();
                if !self.long.contains(&name) {
                    return Err(word);
                }
                if name == long {
                    before = Before::Long;
                }
            } else if let Some(letters) = text.strip_prefix('-') {
                before = self.cluster(letters).ok_or(word)?;
            } else if was != Before::Valued {
                operands.push(word);
            }
        }
        Ok(operands)
    }

    /// What a group of letters leaves open, if all of them are harmless.
    fn cluster(&self, letters: &str) -> Option<Before> {
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                let is_last = at + letter.len_utf8() == letters.len();
                return Some(if is_last { Before::Valued } else { Before::Nothing });
            }
            if !self.short.contains(letter) {
                return None;
            }
        }
        Some(Before::Nothing)
    }
}

/// What the word before leaves open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// A letter that takes this word.
    Valued,
    /// A long option that may or may not take this word, which is then counted among the operands.
    Long,
}

/// Whether a word is one of these long options, or an abbreviation of one.
pub(crate) fn is_any_of(word: &Word, longs: &[&str]) -> bool {
    let name = word.text.split('=').next().unwrap_or_default();
    name.len() > 3 && name.starts_with("--") && longs.iter().any(|long| long.starts_with(name))
}
