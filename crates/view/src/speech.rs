//! All that one agent says, while it is streamed and when it is logged, parted for a screen: blocks of Markdown that are whole and stay,
//! and the last one, which may still change.
//!
//! What was given out once is not given out again: neither when the logged answer follows, nor when a request that broke off is sent
//! again and answered with the same words. Streamed pieces may be missing; the logged answer holds over them.

use crate::markdown;

/// What a thread says, turn by turn.
#[derive(Clone, Debug, Default)]
pub struct Speech {
    turn: u32,
    /// What was streamed in this turn, since the request was last sent.
    text: String,
    /// The beginning of the turn's text that was given out.
    given: String,
}

/// A part of what was said that will not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Whole blocks of Markdown.
    pub text: String,
    /// Whether what was given out before in this turn does not hold: the answer begins anew here.
    pub anew: bool,
}

impl Speech {
    /// Takes a piece of the answer to a turn in.
    pub fn push(&mut self, turn: u32, piece: &str) {
        if turn != self.turn {
            *self = Self { turn, ..Self::default() };
        }
        self.text.push_str(piece);
    }

    /// The turn that is being answered.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// The request failed and is sent again, or given up.
    pub fn broke_off(&mut self) {
        self.text.clear();
    }

    /// The blocks that are whole and were not given out before.
    pub fn take_settled(&mut self) -> Option<Spoken> {
        let known = self.known();
        let end = known + markdown::settled(&self.text[known..]);
        let settled = self.text[..end].to_owned();
        self.give(&settled)
    }

    /// The end of what was streamed, which may still change.
    pub fn rest(&self) -> &str {
        &self.text[self.known()..]
    }

    /// The whole answer to a turn is logged: what of it was not given out before.
    pub fn finish(&mut self, turn: u32, whole: &str) -> Option<Spoken> {
        if turn != self.turn {
            *self = Self { turn, ..Self::default() };
        }
        self.text.clear();
        let spoken = self.give(whole);
        self.given.clear();
        spoken
    }

    fn give(&mut self, settled: &str) -> Option<Spoken> {
        if self.given.starts_with(settled) {
            return None;
        }
        let (text, anew) = match settled.strip_prefix(self.given.as_str()) {
            Some(more) => (more, false),
            None => (settled, true),
        };
        let spoken = Spoken { text: text.to_owned(), anew };
        self.given = settled.to_owned();
        (!spoken.text.trim().is_empty()).then_some(spoken)
    }

    /// Bytes at the beginning of the text that were given out.
    fn known(&self) -> usize {
        if self.text.starts_with(&self.given) {
            self.given.len()
        } else if self.given.starts_with(&self.text) {
            self.text.len()
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "# Head\n\nFirst paragraph.\n\n- a list\n- of two\n\nThe end.";

    /// Everything that is given out, with a mark where an answer begins anew.
    fn given(spoken: Option<Spoken>, out: &mut String) {
        let Some(Spoken { text, anew }) = spoken else { return };
        let mark = if anew { "!" } else { "" };
        out.push_str(&format!("{mark}<{}>", text.trim_end()));
    }

    fn streamed(speech: &mut Speech, text: &str, out: &mut String) {
        for word in text.split_inclusive(' ') {
            speech.push(1, word);
            given(speech.take_settled(), out);
        }
    }

    #[test]
    fn an_answer_is_given_out_once_block_by_block_as_it_becomes_whole() {
        let (mut speech, mut out) = (Speech::default(), String::new());
        streamed(&mut speech, ANSWER, &mut out);
        assert_eq!(out, "<# Head><First paragraph.><- a list\n- of two>");
        assert_eq!(speech.rest(), "The end.");
        given(speech.finish(1, ANSWER), &mut out);
        assert_eq!(out, "<# Head><First paragraph.><- a list\n- of two><The end.>");
        assert_eq!(speech.rest(), "");
    }

    #[test]
    fn an_answer_that_breaks_off_and_comes_again_is_not_given_out_twice() {
        let (mut speech, mut out) = (Speech::default(), String::new());
        streamed(&mut speech, "# Head\n\nFirst paragraph.\n\n- a li", &mut out);
        speech.broke_off();
        assert_eq!(speech.rest(), "");
        streamed(&mut speech, ANSWER, &mut out);
        given(speech.finish(1, ANSWER), &mut out);
        assert_eq!(out, "<# Head><First paragraph.><- a list\n- of two><The end.>");
    }

    #[test]
    fn an_answer_that_comes_again_in_other_words_begins_anew() {
        let (mut speech, mut out) = (Speech::default(), String::new());
        streamed(&mut speech, "# Head\n\nFirst", &mut out);
        speech.broke_off();
        streamed(&mut speech, "Other words.\n\nMore", &mut out);
        given(speech.finish(1, "Other words.\n\nMore."), &mut out);
        assert_eq!(out, "<# Head>!<Other words.><More.>");
    }

    #[test]
    fn an_answer_that_was_not_streamed_is_given_out_whole_and_one_with_gaps_anew() {
        let (mut speech, mut out) = (Speech::default(), String::new());
        given(speech.finish(1, "Whole."), &mut out);
        streamed(&mut speech, "One\n\nthree\n\nf", &mut out);
        given(speech.finish(1, "One\n\ntwo\n\nthree\n\nfour"), &mut out);
        given(speech.finish(2, ""), &mut out);
        assert_eq!(out, "<Whole.><One\n\nthree>!<One\n\ntwo\n\nthree\n\nfour>");
    }
}
