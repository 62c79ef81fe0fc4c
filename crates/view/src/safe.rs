//! How untrusted text is shown to a person (T24).
//!
//! A model, a mail or a file name may hold characters that move the cursor, turn the reading direction or show nothing at all.
//! They are shown as escapes, so that what a person reads is what stands there. The same text is shown the same way everywhere.
//! For terminals and files: the page has the same table in `words.js`, and a test compares the two.

/// More blanks in a row than this are counted instead of shown: behind them something could hide.
const MAX_BLANKS: usize = 16;

/// Text as one line of at most `max_chars` characters. What does not fit is cut by character and counted.
pub fn line(text: &str, max_chars: usize) -> String {
    let shown = escaped(text, |_| false);
    let length = shown.chars().count();
    if length <= max_chars {
        return shown;
    }
    // The mark takes room too, and it counts everything that is not shown.
    let marked = |kept: usize| format!("…(+{})", length - kept);
    let fits = |kept: &usize| kept + marked(*kept).chars().count() <= max_chars;
    match (1..max_chars).rev().find(fits) {
        Some(kept) => shown.chars().take(kept).chain(marked(kept).chars()).collect(),
        None => shown.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Text on which a person decides, as one line of at most `max_chars` characters: of what does not fit the middle is left out and counted,
/// so that nothing stands unseen at its end.
pub fn ends(text: &str, max_chars: usize) -> String {
    let shown = escaped(text, |_| false);
    let length = shown.chars().count();
    if length <= max_chars {
        return shown;
    }
    let marked = |kept: usize| format!("…(+{})…", length - kept);
    let fits = |kept: &usize| kept + marked(*kept).chars().count() <= max_chars;
    let kept = (1..max_chars).rev().find(fits).unwrap_or(0);
    let last = kept / 3;
    shown.chars().take(kept - last).chain(marked(kept).chars()).chain(shown.chars().skip(length - last)).collect()
}

/// Text on which a person decides: it keeps its lines and tabs and shows everything else that is invisible, long runs of blanks too.
pub fn block(text: &str) -> String {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// Text that is read and not decided on: as a [`block`], with all its blanks, for it may hold code and tables.
pub fn shaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(is_blank) {
        match part.char_indices().next_back() {
            Some((at, blank)) if is_blank(blank) => {
                shown.push_str(&block(&part[..at]));
                shown.push(blank);
            }
            _ => shown.push_str(&block(part)),
        }
    }
    shown
}

/// An answer in full: its lines, tabs and blanks stay, for it may hold code; what would move a cursor is shown as an escape.
pub fn answer(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c if c.is_control() => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

fn escaped(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let is_blank = |c: char| is_blank(c) || c == '\t' && keeps(c);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if is_blank(c) {
            let mut blanks = String::from(c);
            while let Some(next) = rest.next_if(|next| is_blank(*next)) {
                blanks.push(next);
            }
            match blanks.chars().count() {
                many if many > MAX_BLANKS => shown.push_str(&format!("[{many} spaces]")),
                _ => shown.push_str(&blanks),
            }
        } else if keeps(c) || !is_hidden(c) {
            shown.push(c);
        } else {
            match c {
                '\n' => shown.push_str("\\n"),
                '\r' => shown.push_str("\\r"),
                '\t' => shown.push_str("\\t"),
                _ => shown.extend(c.escape_unicode()),
            }
        }
    }
    shown
}

fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
    )
}

/// Characters that show nothing of themselves: controls, line breaks, reading direction, joiners, selectors, fillers, tags,
/// and what is no character at all.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{fffc}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    // T24
    #[test]
    fn what_moves_the_cursor_or_the_reading_direction_is_shown_as_an_escape() {
        assert_eq!(line("ls\u{1b}[2Jrm", 80), "ls\\u{1b}[2Jrm");
        assert_eq!(line("ok\rno\nyes\tno\u{7f}\u{9b}", 80), "ok\\rno\\nyes\\tno\\u{7f}\\u{9b}");
        assert_eq!(line("a\u{202e}b\u{2066}c\u{200f}", 80), "a\\u{202e}b\\u{2066}c\\u{200f}");
        assert_eq!(
            line("a\u{200b}b\u{feff}c\u{e0100}d\u{e0041}\u{fe0f}", 80),
            "a\\u{200b}b\\u{feff}c\\u{e0100}d\\u{e0041}\\u{fe0f}"
        );
    }

    // T24
    #[test]
    fn what_stands_behind_many_spaces_is_not_hidden() {
        let text = format!("ls{}; rm -rf /", " ".repeat(10_000));
        assert_eq!(line(&text, 80), "ls[10000 spaces]; rm -rf /");
        assert_eq!(line("a  b\u{3000}c", 80), "a  b\u{3000}c");
        assert_eq!(block(&format!("ls{}; rm -rf /", " \t".repeat(50))), "ls[100 spaces]; rm -rf /");
    }

    // T24
    #[test]
    fn what_is_no_character_is_shown_as_an_escape() {
        assert_eq!(
            line("a\u{13430}b\u{1d159}c\u{fdd0}d\u{10ffff}", 80),
            "a\\u{13430}b\\u{1d159}c\\u{fdd0}d\\u{10ffff}"
        );
    }

    #[test]
    fn a_long_line_is_cut_by_character_and_says_how_much_is_missing() {
        let shown = line(&"é".repeat(100), 20);
        assert_eq!(shown, format!("{}…(+86)", "é".repeat(14)));
        assert_eq!(shown.chars().count(), 20);
        assert_eq!(line(&"é".repeat(20), 20), "é".repeat(20));
    }

    // T24
    #[test]
    fn the_end_of_a_long_line_on_which_a_person_decides_is_shown() {
        let text = format!("ls {}; rm -rf /", "a".repeat(1000));
        let shown = ends(&text, 60);
        assert!(shown.starts_with("ls aaa") && shown.ends_with("a; rm -rf /"), "{shown}");
        assert_eq!(shown.chars().count(), 60);
        let hidden = shown.chars().filter(|c| *c != 'a').collect::<String>();
        assert_eq!(hidden, format!("ls …(+{})…; rm -rf /", text.chars().count() - (60 - "…(+963)…".chars().count())));
        assert_eq!(ends("ls -l", 5), "ls -l");
        assert_eq!(ends(&"é\u{202e}".repeat(100), 20).chars().count(), 20);
    }

    #[test]
    fn a_block_keeps_its_lines_and_nothing_else_that_is_invisible() {
        assert_eq!(block("one\n\ttwo\r\u{1b}"), "one\n\ttwo\\r\\u{1b}");
    }

    // T24
    #[test]
    fn a_shaped_text_keeps_its_blanks_and_nothing_else_that_is_invisible() {
        let table = format!("name{}size\n{}a\t1", " ".repeat(30), " ".repeat(40));
        assert_eq!(shaped(&table), table);
        assert_eq!(shaped("a \u{202e}b\r \u{1b}[2Jc \n"), "a \\u{202e}b\\r \\u{1b}[2Jc \n");
    }

    // T24
    #[test]
    fn an_answer_does_not_move_the_cursor_and_keeps_its_shape() {
        let code = format!("fn main() {{\n{}\tend\n}}", " ".repeat(40));
        assert_eq!(answer(&code), code);
        assert_eq!(answer("ok\u{1b}[2J\rno\u{9b}"), "ok\\u{1b}[2J\\u{d}no\\u{9b}");
    }

    #[test]
    fn words_of_every_language_are_shown_as_they_are() {
        for text in ["Grüße an Ana", "契約書を確認", "مرحبا", "naïve – “quoted” …", "👍"] {
            assert_eq!(line(text, 80), text);
        }
    }
}
