//! Server-sent events out of bytes, however the bytes are cut: LF, CRLF or CR, a byte order mark, comments, data over
//! several lines. No I/O, and neither an allocation nor a copy for an event that arrives in one piece.
//!
//! Absent on purpose: `event`, `id` and `retry`. Both wires repeat the event's name inside its data, and a cut stream
//! is never taken up again.

use memchr::memchr2;

use crate::limits::LINE_BYTES;

/// Cuts a stream of bytes into the data of its events.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// The data of the event that is being read, where it came over several lines or pieces.
    data: Vec<u8>,
    /// Whether that event has data, which may be empty.
    has_data: bool,
    /// The last byte was a CR: a LF that follows belongs to the same line end.
    after_cr: bool,
    /// Whether the first line is behind us, and with it any byte order mark.
    begun: bool,
}

/// A line or an event was longer than [`LINE_BYTES`]. The decoder is of no use afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Decoder {
    /// Takes the next bytes and hands on the data of every event that they complete.
    pub(crate) fn feed<E: From<TooLong>>(
        &mut self,
        mut chunk: &[u8],
        mut on_data: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.after_cr && !chunk.is_empty() {
            self.after_cr = false;
            chunk = chunk.strip_prefix(b"\n").unwrap_or(chunk);
        }
        while let Some(end) = memchr2(b'\n', b'\r', chunk) {
            let (head, rest) = (&chunk[..end], &chunk[end + 1..]);
            let cr = chunk[end] == b'\r';
            self.after_cr = cr && rest.is_empty();
            chunk = if cr { rest.strip_prefix(b"\n").unwrap_or(rest) } else { rest };
            let is_last = matches!(chunk.first(), Some(b'\n' | b'\r'));
            self.end_line(head, is_last, &mut on_data)?;
        }
        fits(self.line.len() + chunk.len())?;
        self.line.extend_from_slice(chunk);
        Ok(())
    }

    /// Takes the end of the stream for the end of the last line and of the last event: some servers leave out the
    /// final blank line. Data that was cut off comes out cut off, and JSON shows that by itself.
    pub(crate) fn finish<E: From<TooLong>>(mut self, mut on_data: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_line(b"", false, &mut on_data)?;
        }
        self.dispatch(&mut on_data)
    }

    /// Takes the end of a line. A line is the last of its event if a blank one is known to follow.
    fn end_line<E: From<TooLong>>(
        &mut self,
        tail: &[u8],
        is_last: bool,
        on_data: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        fits(self.line.len() + tail.len())?;
        if self.line.is_empty() {
            return self.take(tail, is_last, on_data);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(tail);
        let taken = self.take(&line, is_last, on_data);
        line.clear();
        self.line = line;
        taken
    }

    fn take<E: From<TooLong>>(
        &mut self,
        line: &[u8],
        is_last: bool,
        on_data: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = if self.begun { line } else { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch(on_data);
        }
        let value = match line.strip_prefix(b"data") {
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            Some([]) => b"",
            _ => return Ok(()),
        };
        fits(self.data.len() + value.len() + 1)?;
        if is_last && !self.has_data {
            return on_data(value);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch<E>(&mut self, on_data: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if !std::mem::take(&mut self.has_data) {
            return Ok(());
        }
        let handed_on = on_data(&self.data);
        self.data.clear();
        handed_on
    }
}

fn fits(length: usize) -> Result<(), TooLong> {
    if length > LINE_BYTES { Err(TooLong) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut decoder = Decoder::default();
        let mut seen = Vec::new();
        let mut keep = |data: &[u8]| {
            seen.push(data.to_vec());
            Ok::<(), TooLong>(())
        };
        for chunk in chunks {
            decoder.feed(chunk, &mut keep)?;
        }
        decoder.finish(&mut keep)?;
        Ok(seen)
    }

    fn texts(stream: &str) -> Vec<String> {
        let seen = events([stream.as_bytes()]).expect("short");
        seen.into_iter().map(|data| String::from_utf8(data).expect("text in, text out")).collect()
    }

    #[test]
    fn every_line_ending_gives_the_same_events() {
        // F17
        for stream in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
            assert_eq!(texts(stream), ["a", "b"], "{stream:?}");
        }
    }

    #[test]
    fn comments_other_fields_and_a_byte_order_mark_are_not_data() {
        // F17
        assert_eq!(texts("\u{feff}data: a\n: hello\nevent: x\nid: 7\ndatabase: no\n\n:\n\n\n"), ["a"]);
        assert_eq!(texts("\u{feff}: first\ndata:a\n\n"), ["a"]);
    }

    #[test]
    fn data_over_several_lines_is_joined_and_only_one_space_is_eaten() {
        assert_eq!(texts("data: a\ndata:  b\ndata\ndata:c\n\n"), ["a\n b\n\nc"]);
    }

    #[test]
    fn a_missing_last_blank_line_loses_nothing() {
        assert_eq!(texts("data: a\n\ndata: b"), ["a", "b"]);
        assert_eq!(texts("data: a\n\ndata: b\n"), ["a", "b"]);
    }

    #[test]
    fn an_endless_line_is_refused_at_the_limit_and_not_kept() {
        // F19
        let block = vec![b'x'; 1 << 20];
        let mut decoder = Decoder::default();
        let mut fed = 0;
        let refused = loop {
            match decoder.feed(&block, |_| Ok::<(), TooLong>(())) {
                Ok(()) => fed += block.len(),
                Err(refused) => break refused,
            }
            assert!(fed <= LINE_BYTES, "nothing stopped the line");
        };
        assert_eq!((refused, fed), (TooLong, LINE_BYTES));
        let many_lines = [b"data: ".as_slice(), &block, b"\n"].concat().repeat(20);
        assert_eq!(events([many_lines.as_slice()]), Err(TooLong), "an event of many lines has the same limit");
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["data: ", "data:", "x", "é", "\r", "\n", "\r\n", ":", " ", "\u{feff}", "event: y"]),
                0..60,
            ),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            // F17
            let stream = pieces.concat().into_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            at.extend([0, stream.len()]);
            at.sort_unstable();
            let whole = events([stream.as_slice()]);
            prop_assert_eq!(&events(at.windows(2).map(|pair| &stream[pair[0]..pair[1]])), &whole);
            prop_assert_eq!(&events(stream.chunks(1)), &whole);
        }

        #[test]
        fn no_bytes_make_it_panic(stream in prop::collection::vec(any::<u8>(), 0..400)) {
            // F18
            let _ = events(stream.chunks(7));
        }
    }
}
