//! How wide text is on a terminal, and how it is cut and filled up to a width.
//!
//! Characters that show nothing are escaped before they come here, so only wide ones need a table; a rough one,
//! for a column that is off by one harms nobody.

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// Text in at most `max` columns, cut by character, with a mark where something is missing.
pub(super) fn cut(text: &str, max: usize, mark: char) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let mut room = max.saturating_sub(1);
    let kept = text.chars().take_while(|c| {
        let fits = width_of(*c) <= room;
        room = room.saturating_sub(width_of(*c));
        fits
    });
    let mut shown: String = kept.collect();
    shown.truncate(shown.trim_end().len());
    if max > 0 {
        shown.push(mark);
    }
    shown
}

/// Text filled up with blanks behind it.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Text filled up with blanks before it.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

fn width_of(c: char) -> usize {
    match u32::from(c) {
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0x4DBF
        | 0x4E00..=0xA4CF
        | 0xA960..=0xA97C
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        0x300..=0x36F => 0,
        _ => 1,
    }
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
    fn wide_characters_are_filled_up_to_the_same_column() {
        assert_eq!(left("契約", 6), "契約  ");
        assert_eq!(right("契約", 6), "  契約");
    }
}
