//! What a command prints, in bounded memory: the beginning, the end, and how much was between.

use std::collections::VecDeque;

use crate::text;

const HEAD_BYTES: usize = 24 * 1024;
const TAIL_BYTES: usize = 8 * 1024;
const PROGRESS_CHARS: usize = 200;

/// What a command prints.
#[derive(Default)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Output {
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(HEAD_BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(TAIL_BYTES)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL_BYTES);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// How many bytes there were in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The beginning and the end as text, with a mark for what is missing between them.
    pub fn into_text(self) -> String {
        let tail = Vec::from(self.tail);
        let held = self.head.len() + tail.len();
        let (text, lossy) = if held as u64 == self.total {
            text::readable(&[self.head, tail].concat())
        } else {
            let head = &self.head[..whole_end(&self.head)];
            let tail = &tail[whole_start(&tail)..];
            let missing = self.total - (head.len() + tail.len()) as u64;
            let (head, one) = text::readable(head);
            let (tail, other) = text::readable(tail);
            (format!("{head}\n… {missing} bytes left out …\n{tail}"), one || other)
        };
        if lossy { format!("{}\n{}\n", text.trim_end_matches('\n'), text::LOSSY_NOTE) } else { text }
    }
}

/// The last line with something on it, for those who watch.
pub(super) fn last_line(bytes: &[u8]) -> String {
    let (text, _) = text::readable(&bytes[bytes.len().saturating_sub(4 * PROGRESS_CHARS)..]);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    text::clip(line.trim(), PROGRESS_CHARS).into_owned()
}

/// Where the last whole character ends.
fn whole_end(bytes: &[u8]) -> usize {
    let begins = |byte: &u8| *byte & 0b1100_0000 != 0b1000_0000;
    match bytes.iter().rev().take(4).position(begins) {
        Some(back) if bytes[bytes.len() - 1 - back] >= 0b1100_0000 => {
            let start = bytes.len() - 1 - back;
            if std::str::from_utf8(&bytes[start..]).is_ok() { bytes.len() } else { start }
        }
        _ => bytes.len(),
    }
}

/// Where the first whole character begins.
fn whole_start(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(chunks: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
        let mut output = Output::default();
        chunks.into_iter().for_each(|chunk| output.push(chunk.as_ref()));
        output.into_text()
    }

    #[test]
    fn what_fits_is_whole_however_it_arrives() {
        let text: String = (0..4000).map(|n| format!("{n}ü\n")).collect();
        assert_eq!(printed([&text]), text);
        assert_eq!(printed(text.as_bytes().chunks(7)), text);
    }

    // F19, INV-9
    #[test]
    fn what_does_not_fit_keeps_both_ends_whole_characters_and_the_count() {
        for shift in 0..4 {
            let text = format!("{}{}", "x".repeat(shift), "🦀".repeat(100_000));
            for chunk in [3, 1000, text.len()] {
                let shown = printed(text.as_bytes().chunks(chunk));
                assert!(!shown.contains('\u{FFFD}'));
                let (head, rest) = shown.split_once("\n… ").unwrap();
                let (missing, tail) = rest.split_once(" bytes left out …\n").unwrap();
                assert_eq!(head.len() + tail.len() + missing.parse::<usize>().unwrap(), text.len());
                assert!(text.starts_with(head) && text.ends_with(tail) && shown.len() < 33 * 1024);
            }
        }
    }

    // INV-9
    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert_eq!(printed([b"a\xFF\0\n"]), format!("a\u{FFFD}\u{FFFD}\n{}\n", text::LOSSY_NOTE));
    }

    #[test]
    fn those_who_watch_see_the_last_line() {
        assert_eq!(last_line(b"one\ntwo\n\n"), "two");
        assert_eq!(last_line(b"\n"), "");
    }
}
