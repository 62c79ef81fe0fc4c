//! The text that is being written: several lines, a cursor that moves by what a person sees as one character, and long pastes that are
//! folded to a chip.
//!
//! Absent: the keys that lead here (`app`), and the screen (`frame`).

use std::path::PathBuf;

use unicode_segmentation::UnicodeSegmentation;
use view::draw::columns::width;

/// A paste of more lines or characters than this is folded.
const CHIP_LINES: usize = 8;
const CHIP_CHARS: usize = 1000;

/// The text that is being written.
#[derive(Clone, Debug, Default)]
pub struct Composer {
    text: String,
    /// Where the cursor stands, in bytes.
    cursor: usize,
    /// What was pasted and is folded, with the words that stand for it.
    chips: Vec<(String, String)>,
    /// Files that go with the message, with the words that stand for them.
    files: Vec<(String, PathBuf)>,
    /// How many chips there were, so that each has its own words.
    pasted: usize,
    /// What was cut last.
    cut: String,
    /// The column that the cursor keeps while it moves up and down.
    kept_column: Option<usize>,
}

/// The text as rows of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    pub rows: Vec<String>,
    /// The row and the column of the cursor.
    pub cursor: (usize, usize),
}

impl Composer {
    /// The text as it stands there, chips folded.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text before the cursor.
    pub fn before(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// The text that is meant: chips unfolded.
    pub fn whole(&self) -> String {
        let mut text = self.text.clone();
        for (words, pasted) in &self.chips {
            text = text.replacen(words.as_str(), pasted, 1);
        }
        text
    }

    /// Puts another text in the place of this one, the cursor behind it.
    pub fn set(&mut self, text: impl Into<String>) {
        self.text = text.into();
        self.cursor = self.text.len();
        self.chips.clear();
        self.files.clear();
        self.kept_column = None;
    }

    /// Puts another text in the place of this one, as an editor left it; files whose words still stand there go with it.
    pub fn rewrite(&mut self, text: impl Into<String>) {
        let files = std::mem::take(&mut self.files);
        self.set(text);
        self.files = files;
    }

    /// The text that is meant, and nothing is left.
    pub fn take(&mut self) -> String {
        let whole = self.whole();
        self.set("");
        whole
    }

    /// Takes the message out as it was written, with its folded pastes and its files.
    pub fn take_message(&mut self) -> Self {
        let message = self.clone();
        self.set("");
        message
    }

    /// Writes at the cursor.
    pub fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        self.kept_column = None;
    }

    /// Pastes at the cursor; what is long is folded.
    pub fn paste(&mut self, pasted: &str) {
        let pasted = pasted.replace("\r\n", "\n").replace('\r', "\n");
        let lines = pasted.lines().count();
        if lines <= CHIP_LINES && pasted.chars().count() <= CHIP_CHARS {
            return self.insert(&pasted);
        }
        self.pasted += 1;
        let words = format!("[paste {}: {lines} lines]", self.pasted);
        self.insert(&words);
        self.chips.push((words, pasted));
    }

    /// Adds a file that goes with the message.
    pub fn attach(&mut self, path: PathBuf) {
        let name = path.file_name().map(|name| view::safe::line(&name.to_string_lossy(), 60)).unwrap_or_default();
        self.pasted += 1;
        let words = format!("[file {}: {name}]", self.pasted);
        self.insert(&words);
        self.insert(" ");
        self.files.push((words, path));
    }

    /// The files that go with the message.
    pub fn files(&self) -> Vec<PathBuf> {
        let is_there = |(words, _): &&(String, PathBuf)| self.text.contains(words.as_str());
        self.files.iter().filter(is_there).map(|(_, path)| path.clone()).collect()
    }

    /// Puts words in the place of those between a byte and the cursor.
    pub fn replace_from(&mut self, start: usize, words: &str) {
        self.text.replace_range(start..self.cursor, words);
        self.cursor = start + words.len();
        self.kept_column = None;
    }

    /// Deletes what is before the cursor.
    pub fn backspace(&mut self) {
        let start = self.step_back(self.cursor);
        self.remove(start, self.cursor);
    }

    /// Deletes what is behind the cursor.
    pub fn delete(&mut self) {
        let end = self.step_on(self.cursor);
        self.remove(self.cursor, end);
    }

    /// Cuts the word before the cursor.
    pub fn cut_word(&mut self) {
        let start = self.word_start();
        self.cut_range(start, self.cursor);
    }

    /// Cuts from the cursor to the end of its line, or the line break there.
    pub fn cut_to_end(&mut self) {
        let end = self.line_end(self.cursor);
        let end = if end == self.cursor { self.step_on(end) } else { end };
        self.cut_range(self.cursor, end);
    }

    /// Cuts from the beginning of the line to the cursor.
    pub fn cut_to_start(&mut self) {
        let start = self.line_start(self.cursor);
        self.cut_range(start, self.cursor);
    }

    /// Writes what was cut last.
    pub fn put_back(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }

    /// Moves the cursor.
    pub fn left(&mut self) {
        self.go(self.step_back(self.cursor));
    }

    /// Moves the cursor.
    pub fn right(&mut self) {
        self.go(self.step_on(self.cursor));
    }

    /// Moves the cursor to the beginning of the word before it.
    pub fn word_left(&mut self) {
        self.go(self.word_start());
    }

    /// Moves the cursor behind the next word.
    pub fn word_right(&mut self) {
        let rest = &self.text[self.cursor..];
        let blanks = rest.len() - rest.trim_start().len();
        let word = rest[blanks..].find(char::is_whitespace).unwrap_or(rest.len() - blanks);
        self.go(self.cursor + blanks + word);
    }

    /// Moves the cursor to the beginning of its line.
    pub fn home(&mut self) {
        self.go(self.line_start(self.cursor));
    }

    /// Moves the cursor to the end of its line.
    pub fn end(&mut self) {
        self.go(self.line_end(self.cursor));
    }

    /// Moves the cursor a row up on a screen of so many columns; false where it stands in the first.
    pub fn up(&mut self, columns: usize) -> bool {
        self.move_row(columns, -1)
    }

    /// Moves the cursor a row down; false where it stands in the last.
    pub fn down(&mut self, columns: usize) -> bool {
        self.move_row(columns, 1)
    }

    /// The text as rows of at most so many columns.
    pub fn rows(&self, columns: usize) -> Rows {
        let starts = self.row_starts(columns);
        let row = starts.partition_point(|start| *start <= self.cursor).saturating_sub(1);
        let ends = starts.iter().skip(1).copied().chain([self.text.len()]);
        let rows = starts.iter().zip(ends).map(|(start, end)| self.text[*start..end].trim_end_matches('\n').to_owned());
        let column = width(&self.text[starts[row]..self.cursor]);
        Rows { rows: rows.collect(), cursor: (row, column) }
    }

    /// Where each row begins, in bytes.
    fn row_starts(&self, columns: usize) -> Vec<usize> {
        let columns = columns.max(2);
        let mut starts = vec![0];
        let mut taken = 0;
        for (at, sign) in self.text.grapheme_indices(true) {
            if sign == "\n" {
                starts.push(at + 1);
                taken = 0;
                continue;
            }
            let wide = width(sign);
            // The cursor behind the last sign of a row needs a column, too.
            if taken + wide > columns - 1 {
                starts.push(at);
                taken = 0;
            }
            taken += wide;
        }
        starts
    }

    fn move_row(&mut self, columns: usize, step: isize) -> bool {
        let starts = self.row_starts(columns);
        let row = starts.partition_point(|start| *start <= self.cursor).saturating_sub(1);
        let column = self.kept_column.unwrap_or_else(|| width(&self.text[starts[row]..self.cursor]));
        let Some(wanted) = row.checked_add_signed(step).filter(|row| *row < starts.len()) else { return false };
        let start = starts[wanted];
        let end = starts.get(wanted + 1).map_or(self.text.len(), |next| *next);
        let line = self.text[start..end].trim_end_matches('\n');
        let mut at = start;
        for (offset, sign) in line.grapheme_indices(true) {
            if width(&line[..offset]) >= column {
                break;
            }
            at = start + offset + sign.len();
        }
        self.cursor = at;
        self.kept_column = Some(column);
        true
    }

    fn go(&mut self, at: usize) {
        self.cursor = at;
        self.kept_column = None;
    }

    fn cut_range(&mut self, start: usize, end: usize) {
        if start < end {
            self.cut = self.text[start..end].to_owned();
            self.remove(start, end);
        }
    }

    fn remove(&mut self, start: usize, end: usize) {
        self.text.replace_range(start..end, "");
        self.cursor = start;
        self.kept_column = None;
        let text = &self.text;
        self.chips.retain(|(words, _)| text.contains(words.as_str()));
    }

    /// The place one step before another: a chip is one step.
    fn step_back(&self, at: usize) -> usize {
        let before = &self.text[..at];
        let step = self.chip_words().find(|words| before.ends_with(words)).map(str::len);
        at - step.or_else(|| before.graphemes(true).next_back().map(str::len)).unwrap_or(0)
    }

    fn chip_words(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter().map(|(words, _)| words.as_str());
        self.chips.iter().map(|(words, _)| words.as_str()).chain(files)
    }

    fn step_on(&self, at: usize) -> usize {
        let behind = &self.text[at..];
        let step = self.chip_words().find(|words| behind.starts_with(words)).map(str::len);
        at + step.or_else(|| behind.graphemes(true).next().map(str::len)).unwrap_or(0)
    }

    fn word_start(&self) -> usize {
        let before = self.before().trim_end();
        before.rfind(char::is_whitespace).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |line_break| line_break + 1)
    }

    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |line_break| at + line_break)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Composer {
        let mut composer = Composer::default();
        composer.insert(text);
        composer
    }

    #[test]
    fn the_cursor_moves_by_what_a_person_sees_as_one_character() {
        let mut composer = written("a\u{1f468}\u{200d}\u{1f373}u\u{308}");
        composer.left();
        assert_eq!(composer.before(), "a\u{1f468}\u{200d}\u{1f373}");
        composer.backspace();
        assert_eq!(composer.text(), "au\u{308}");
        composer.home();
        composer.delete();
        assert_eq!(composer.text(), "u\u{308}");
    }

    #[test]
    fn rows_are_broken_by_columns_and_the_cursor_has_a_place_in_each() {
        let composer = written("契約書契約書\nab");
        assert_eq!(
            composer.rows(8),
            Rows { rows: vec!["契約書".into(), "契約書".into(), "ab".into()], cursor: (2, 2) }
        );
        let composer = written("abc\n");
        assert_eq!(composer.rows(10), Rows { rows: vec!["abc".into(), String::new()], cursor: (1, 0) });
        for columns in 2..12 {
            for row in written("契約書 with words\n\nand more").rows(columns).rows {
                assert!(width(&row) < columns.max(3), "{columns}: {row}");
            }
        }
    }

    #[test]
    fn the_cursor_keeps_its_column_over_a_short_row() {
        let mut composer = written("long line\n\nanother one");
        assert!(composer.up(40));
        assert!(composer.up(40));
        assert_eq!(composer.before(), "long line");
        assert!(!composer.up(40));
        assert!(composer.down(40) && composer.down(40) && !composer.down(40));
        assert_eq!(composer.before(), "long line\n\nanother one");
    }

    #[test]
    fn a_long_paste_is_one_sign_and_is_sent_whole() {
        let mut composer = written("look: ");
        let pasted = "line\r\n".repeat(5000);
        composer.paste(&pasted);
        assert_eq!(composer.text(), "look: [paste 1: 5000 lines]");
        assert_eq!(composer.whole(), format!("look: {}", "line\n".repeat(5000)));
        composer.left();
        assert_eq!(composer.before(), "look: ");
        composer.right();
        composer.backspace();
        assert_eq!(composer.take(), "look: ");
        composer.paste("two\nlines");
        assert_eq!(composer.take(), "two\nlines");
    }

    #[test]
    fn words_and_lines_are_cut_and_put_back() {
        let mut composer = written("one two  three");
        composer.cut_word();
        assert_eq!(composer.text(), "one two  ");
        composer.word_left();
        assert_eq!(composer.before(), "one ");
        composer.cut_to_end();
        assert_eq!(composer.text(), "one ");
        composer.put_back();
        assert_eq!(composer.text(), "one two  ");
        composer.cut_to_start();
        assert_eq!(composer.text(), "");
        let mut composer = written("a\nb");
        composer.home();
        composer.left();
        composer.cut_to_end();
        assert_eq!(composer.text(), "ab");
    }
}
