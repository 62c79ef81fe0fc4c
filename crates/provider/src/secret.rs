//! A key that no debug print, log line or error text ever shows.

use std::fmt;
use std::sync::Arc;

/// A key, or another value that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a key. White space around it, as left by files and shells, is no part of it.
    pub fn new(value: &str) -> Self {
        Self(value.trim().into())
    }

    /// The key itself, for the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without the key. Values too short to be a key stay: taking them out would only garble the text.
    pub(crate) fn scrub(&self, text: String) -> String {
        if self.0.len() < SHORTEST || !text.contains(&*self.0) {
            return text;
        }
        text.replace(&*self.0, "[key]")
    }
}

/// Shorter values appear in ordinary text by chance.
const SHORTEST: usize = 6;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debug_print_never_shows_the_key() {
        // T61
        let secret = Secret::new(" sk-canary-123 \n");
        assert_eq!(format!("{secret:?}"), "[key]");
        assert_eq!(secret.reveal(), "sk-canary-123");
    }

    #[test]
    fn an_echoed_key_is_taken_out_wherever_it_stands() {
        let secret = Secret::new("sk-canary-123");
        let text = "bad key sk-canary-123 (sk-canary-123)".to_owned();
        assert_eq!(secret.scrub(text), "bad key [key] ([key])");
        assert_eq!(Secret::new("a").scrub("a cat".to_owned()), "a cat");
    }
}
