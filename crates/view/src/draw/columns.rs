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
    if width(text) <= max { text.to_owned() } else { cut_with_mark(text, max, mark) }
}

/// As much of a text as leaves room for a mark in `max` columns, and the mark, whether or not the whole would fit.
pub fn cut_with_mark(text: &str, max: usize, mark: char) -> String {
    let mut shown = text[..fitting(text, max.saturating_sub(1))].trim_end().to_owned();
    if max > 0 {
        shown.push(mark);
    }
    shown
}

/// The end of a text in at most `max` columns, with a mark where something is missing before it.
pub fn cut_start(text: &str, max: usize, mark: char) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(1);
    let starts = text.char_indices().map(|(at, _)| at);
    let start = starts.skip(1).find(|at| width(&text[*at..]) <= room).unwrap_or(text.len());
    let mut shown = String::new();
    if max > 0 {
        shown.push(mark);
    }
    shown.push_str(text[start..].trim_start());
    shown
}

/// The bytes of a text that fit into so many columns, whole characters only.
pub fn fitting(text: &str, columns: usize) -> usize {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    ends.take_while(|end| width(&text[..*end]) <= columns).last().unwrap_or(0)
}

/// Leaves out columns of a table, by setting their width to 0, in this order, until the others and one blank behind each leave `least`
/// columns of `room` for the text at the end. The columns that are left for that text.
pub fn leave_out(widths: &mut [usize], order: &[usize], least: usize, room: usize) -> usize {
    let taken = |widths: &[usize]| widths.iter().filter(|width| **width > 0).map(|width| width + 1).sum::<usize>();
    for column in order {
        if taken(widths) + least > room {
            widths[*column] = 0;
        }
    }
    room.saturating_sub(taken(widths))
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
    fn the_end_of_a_text_is_kept_where_its_beginning_matters_less() {
        assert_eq!(cut_start("Grüße an Ana", 12, '…'), "Grüße an Ana");
        assert_eq!(cut_start("Grüße an Ana", 7, '…'), "…an Ana");
        assert_eq!(cut_start("契約書", 4, '…'), "…書");
        assert_eq!(cut_start("契約書", 0, '…'), "");
    }

    #[test]
    fn characters_that_join_another_one_take_no_column() {
        assert_eq!(width("Gru\u{308}\u{df}e"), 5);
        assert_eq!(width("\u{1f468}\u{200d}\u{1f373}"), 2, "one sign of three characters");
        assert_eq!(width("\u{231a}"), 2, "a watch, which stands far from the other wide signs");
    }

    #[test]
    fn a_table_loses_columns_in_the_given_order_until_it_fits() {
        let left = |room: usize| {
            let mut widths = [10, 5, 8];
            let text = leave_out(&mut widths, &[2, 1], 12, room);
            (widths, text)
        };
        assert_eq!(left(100), ([10, 5, 8], 74));
        assert_eq!(left(38), ([10, 5, 8], 12));
        assert_eq!(left(37), ([10, 5, 0], 20));
        assert_eq!(left(28), ([10, 0, 0], 17));
        assert_eq!(left(5), ([10, 0, 0], 0));
    }

    #[test]
    fn wide_characters_are_filled_up_to_the_same_column() {
        assert_eq!(left("契約", 6), "契約  ");
        assert_eq!(right("契約", 6), "  契約");
    }
}
