//! Names of tools and calls as the providers accept them back.
//!
//! A model may invent any name, and a thread may move from one provider to another; a name that the next provider's
//! validation refuses would make every later request of that thread fail.

use std::borrow::Cow;

/// A tool's name, or the nearest one that a provider accepts which takes at most `longest` letters.
pub(crate) fn tool(name: &str, longest: usize) -> Cow<'_, str> {
    if name.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if name.len() <= longest {
        return accepted(name);
    }
    Cow::Owned(name.chars().take(longest).map(plain).collect())
}

/// A call's id, or the nearest one that is accepted. Calls and results go through the same function and stay paired.
pub(crate) fn call(id: &str) -> Cow<'_, str> {
    accepted(id)
}

fn accepted(name: &str) -> Cow<'_, str> {
    if name.chars().all(|c| plain(c) == c) {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(name.chars().map(plain).collect())
    }
}

fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_stay_and_bad_ones_become_acceptable() {
        assert_eq!(tool("read_file", 64), "read_file");
        assert_eq!(tool("functions.read:0", 64), "functions_read_0");
        assert_eq!(tool("", 64), "unnamed");
        assert_eq!(tool(&"é".repeat(200), 64).len(), 64);
        assert_eq!(call("functions.read:0"), "functions_read_0");
    }
}
