//! Lines out of bytes, however the bytes are cut: LF, CRLF or CR, a byte order mark, blank lines. No I/O, and no copy of a line that
//! arrives in one piece.

use memchr::memchr2;

use crate::limits::LINE_BYTES;
use crate::sse::TooLong;

/// Cuts a stream of bytes into lines. Blank ones are left out.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// Whether the first line is behind us, and with it any byte order mark.
    begun: bool,
}

impl Lines {
    /// Takes the next bytes and hands on every line that they complete.
    pub(crate) fn feed<E: From<TooLong>>(
        &mut self,
        mut chunk: &[u8],
        mut on_line: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr2(b'\n', b'\r', chunk) {
            let (head, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            fits(self.line.len() + head.len())?;
            if self.line.is_empty() {
                self.take(head, &mut on_line)?;
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(head);
            self.take(&line, &mut on_line)?;
        }
        fits(self.line.len() + chunk.len())?;
        self.line.extend_from_slice(chunk);
        Ok(())
    }

    /// Takes the end of the stream for the end of the last line.
    pub(crate) fn finish<E: From<TooLong>>(mut self, mut on_line: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.take(&line, &mut on_line)
    }

    fn take<E>(&mut self, line: &[u8], on_line: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let line = if self.begun { line } else { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) };
        let line = line.trim_ascii();
        self.begun |= !line.is_empty();
        if line.is_empty() { Ok(()) } else { on_line(line) }
    }
}

fn fits(length: usize) -> Result<(), TooLong> {
    if length > LINE_BYTES { Err(TooLong) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
        let mut decoder = Lines::default();
        let mut seen = Vec::new();
        let mut keep = |line: &[u8]| {
            seen.push(line.to_vec());
            Ok::<(), TooLong>(())
        };
        for chunk in chunks {
            decoder.feed(chunk, &mut keep).expect("short");
        }
        decoder.finish(&mut keep).expect("short");
        seen
    }

    #[test]
    fn however_lines_are_cut_and_ended_they_are_the_same() {
        // F17
        for stream in ["{\"a\":1}\n\n{}\n", "\u{feff}{\"a\":1}\r\n{}", "\r{\"a\":1}\r\r{}\r"] {
            let whole = lines([stream.as_bytes()]);
            assert_eq!(whole, [b"{\"a\":1}".to_vec(), b"{}".to_vec()], "{stream:?}");
            assert_eq!(lines(stream.as_bytes().chunks(1)), whole, "{stream:?}");
        }
    }
}
