//! How wide text is on a terminal, and how it is cut and filled up to a width.
//!
//! The width of a character is what Unicode says (`unicode-width`). Characters that show nothing are escaped before they come here
//! (see [`crate::safe`]).

use unicode_width::UnicodeWidthStr;

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Text in at most `max` columns, cut by character, with a mark where something is missing.
pub fn cut(text: &str, max: usize, mark: char) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(1);
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let kept = ends.take_while(|end| width(&text[..*end]) <= room).last().unwrap_or(0);
    let mut shown = text[..kept].trim_end().to_owned();
    if max > 0 {
        shown.push(mark);
    }
    shown
}

/// Text filled up with blanks behind it.
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Text filled up with blanks before it.
pub fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_character_and_never_wider_than_asked() {
        assert_eq!(cut("Grüße", 5, '…'), "Grüße");
        assert_eq!(cut("Grüße an Ana", 7, '…'), "Grüße…");
        assert_eq!(cut("契約書", 5, '…'), "契約…");
        assert_eq!(cut("契約書", 4, '…'), "契…");
        assert_eq!(cut("ab", 0, '…'), "");
    }

    #[test]
    fn characters_that_join_another_one_take_no_column() {
        assert_eq!(width("Gru\u{308}\u{df}e"), 5);
        assert_eq!(width("\u{1f468}\u{200d}\u{1f373}"), 2, "one sign of three characters");
        assert_eq!(width("\u{231a}"), 2, "a watch, which stands far from the other wide signs");
    }

    #[test]
    fn wide_characters_are_filled_up_to_the_same_column() {
        assert_eq!(left("契約", 6), "契約  ");
        assert_eq!(right("契約", 6), "  契約");
    }
}
