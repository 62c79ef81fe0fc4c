//! Thoughts in tags before the words of an answer: many models write `<think>…</think>`, and a server that does not know their format
//! sends it as text. What a wire does with such thoughts is in its own folder.

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

/// Tells thoughts in tags at the beginning of a text from the text behind them, however the text is cut.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    state: State,
    /// What is not yet known to be the one or the other.
    held: String,
    /// The thoughts with their tags, and the blank lines behind them.
    think: String,
    /// Thoughts without their tags, since they were last asked for.
    fresh: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Undecided,
    Thinking,
    /// Behind the closing tag, before the first word.
    Behind,
    Words,
}

impl Lead {
    /// Whether everything from here on is words.
    pub(crate) fn is_over(&self) -> bool {
        self.state == State::Words
    }

    /// Takes more text and gives the words in it.
    pub(crate) fn take(&mut self, more: &str) -> String {
        self.held.push_str(more);
        if self.state == State::Undecided {
            let begun = self.held.trim_start();
            if begun.starts_with(OPENING) {
                let end = self.held.len() - begun.len() + OPENING.len();
                self.think.extend(self.held.drain(..end));
                self.state = State::Thinking;
            } else if !OPENING.starts_with(begun) {
                self.state = State::Words;
            }
        }
        if self.state == State::Thinking {
            match self.held.find(CLOSING) {
                Some(at) => {
                    self.fresh.push_str(&self.held[..at]);
                    self.think.extend(self.held.drain(..at + CLOSING.len()));
                    self.state = State::Behind;
                }
                None => {
                    let sure = self.held.len() - begun_closing(&self.held);
                    self.fresh.push_str(&self.held[..sure]);
                    self.think.extend(self.held.drain(..sure));
                }
            }
        }
        if self.state == State::Behind {
            let blank = self.held.len() - self.held.trim_start().len();
            self.think.extend(self.held.drain(..blank));
            if !self.held.is_empty() {
                self.state = State::Words;
            }
        }
        if self.state == State::Words { std::mem::take(&mut self.held) } else { String::new() }
    }

    /// The thoughts that came since they were last asked for, without their tags.
    pub(crate) fn take_thoughts(&mut self) -> String {
        std::mem::take(&mut self.fresh)
    }

    /// The thoughts, and what turned out to be words at the end. Thoughts without an end are words, unless the answer was cut off.
    pub(crate) fn finish(mut self, is_cut: bool) -> (String, String) {
        match self.state {
            State::Undecided | State::Words => (self.think, self.held),
            State::Behind => (self.think, String::new()),
            State::Thinking => {
                self.think.push_str(&self.held);
                if is_cut { (self.think, String::new()) } else { (String::new(), self.think) }
            }
        }
    }
}

/// How many bytes at the end of a text may be the beginning of the closing tag.
fn begun_closing(text: &str) -> usize {
    (1..CLOSING.len()).rev().find(|length| text.ends_with(&CLOSING[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut lead = Lead::default();
        let mut words: String = pieces.into_iter().map(|piece| lead.take(piece)).collect();
        let (think, rest) = lead.finish(false);
        words.push_str(&rest);
        (think, words)
    }

    #[test]
    fn only_thoughts_at_the_very_beginning_are_thoughts() {
        for (text, think, words) in [
            ("plain", "", "plain"),
            ("<think>a</think>b", "<think>a</think>", "b"),
            ("\n <think>\na < b\n</think>\n\nb", "\n <think>\na < b\n</think>\n\n", "b"),
            ("<think></think>\n\n", "<think></think>\n\n", ""),
            ("a <think>b</think>", "", "a <think>b</think>"),
            ("<thin", "", "<thin"),
            ("<thinking>a</thinking>", "", "<thinking>a</thinking>"),
            ("<think>never closed </thin", "", "<think>never closed </thin"),
            ("<think>a</think>b<think>c</think>", "<think>a</think>", "b<think>c</think>"),
        ] {
            assert_eq!(read([text]), (think.to_owned(), words.to_owned()), "{text}");
        }
        let mut cut = Lead::default();
        assert_eq!(cut.take("<think>half a tho"), "");
        assert_eq!(cut.finish(true), ("<think>half a tho".to_owned(), String::new()));
    }

    proptest! {
        #[test]
        fn however_a_text_is_cut_its_thoughts_are_the_same(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["<", "<think>", "</think>", "think>", "/", " ", "\n", "é", "word"]),
                0..12,
            ),
        ) {
            let text = pieces.concat();
            let whole = read([text.as_str()]);
            prop_assert_eq!(&read(pieces.iter().copied()), &whole);
            let letters: Vec<String> = text.chars().map(String::from).collect();
            prop_assert_eq!(&read(letters.iter().map(String::as_str)), &whole);
            prop_assert_eq!(format!("{}{}", whole.0, whole.1), text);
        }
    }
}
