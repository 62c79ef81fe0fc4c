//! What a text of a model looks like on a terminal.

use super::*;

fn drawn(text: &str, width: usize) -> String {
    render(text, width).iter().map(|line| format!("{}\n", line.text())).collect()
}

fn style_of(text: &str, words: &str) -> Style {
    let lines = render(text, 80);
    let spans = lines.iter().flat_map(|line| &line.spans);
    let found = spans.clone().find(|span| span.text.contains(words));
    found.unwrap_or_else(|| panic!("{words} stands nowhere in {lines:?}")).style
}

#[test]
fn blocks_are_laid_out_with_one_empty_line_between_them() {
    let text = "# Harvest\n\nAll *four* varieties are **in**.\nSecond line.\n\n- Boskoop\n- Elstar\n  - early\n  - late\n\n\
        1. first\n2. second\n\n> quoted\n> twice\n\n```sh\nls  -l\n\nmake\n```\n\n---\nEnd.";
    let expected = "\
Harvest

All four varieties are in.
Second line.

• Boskoop
• Elstar
  • early
  • late

1. first
2. second

│ quoted
│ twice

sh
  ls  -l
  
  make

────────────────────────────────────────

End.
";
    assert_eq!(drawn(text, 60), expected);
}

#[test]
fn words_keep_their_weight_and_code_its_colour() {
    let text = "# Head\n\nplain **bold** *slanted* ~~gone~~ `code` [words](https://example.org)";
    assert!(style_of(text, "Head").bold && style_of(text, "Head").underline);
    assert!(style_of(text, "bold").bold);
    assert!(style_of(text, "slanted").italic);
    assert!(style_of(text, "gone").strike);
    assert_eq!(style_of(text, "code").colour, Some(Colour::Cyan));
    assert!(style_of(text, "words").underline);
    assert_eq!(style_of(text, "plain "), Style::PLAIN);
}

// T24
#[test]
fn a_link_shows_where_it_leads_unless_its_words_say_so() {
    assert_eq!(drawn("[my bank](https://evil.example)", 80), "my bank (https://evil.example)\n");
    assert_eq!(drawn("<https://example.org/a>", 80), "https://example.org/a\n");
    assert_eq!(drawn("<ana@example.org>", 80), "ana@example.org\n");
    assert_eq!(drawn("![a cat](https://example.org/cat.png)", 80), "a cat (https://example.org/cat.png)\n");
}

// T24
#[test]
fn nothing_in_a_text_moves_the_cursor() {
    let text = "ok\u{1b}[2J\r\n`code\u{9b}2J`\n\n```\nls\u{1b}]0;title\u{7}\n```\n\n[a\u{1b}c](https://e.example/\u{1b}[H)\n\n|a\u{8}|\n|-|\n|\u{1b}|";
    for line in render(text, 40) {
        assert!(!line.text().chars().any(char::is_control), "{:?}", line.text());
    }
}

#[test]
fn text_is_wrapped_at_blanks_and_never_wider_than_the_terminal() {
    let text = "The quick brown fox jumps over the lazy dog.\n\n- The quick brown fox jumps over the lazy dog.\n\n\
        > 契約書を確認してください。契約書を確認してください。";
    assert_eq!(
        drawn(text, 20),
        "The quick brown fox\njumps over the lazy\ndog.\n\n• The quick brown\n  fox jumps over the\n  lazy dog.\n\n\
         │ 契約書を確認してく\n│ ださい。契約書を確\n│ 認してください。\n"
    );
}

#[test]
fn a_table_fits_the_terminal_and_becomes_a_list_where_it_cannot() {
    let text = "| Variety | Harvest | Remark |\n|:--|--:|---|\n| Boskoop | 1310 kg | picked in two days by all of us |\n\
        | Topaz | 640 kg | **frost** |";
    let wide = "\
Variety  Harvest  Remark
───────  ───────  ───────────────────────────────
Boskoop  1310 kg  picked in two days by all of us
Topaz     640 kg  frost
";
    assert_eq!(drawn(text, 60), wide);
    let narrow = "\
Variety  Harvest  Remark
───────  ───────  ──────────────────────
Boskoop  1310 kg  picked in two days by
                  all of us
Topaz     640 kg  frost
";
    assert_eq!(drawn(text, 40), narrow);
    let list = "\
Variety: Boskoop
Harvest: 1310 kg
Remark: picked in
two days by all of
us

Variety: Topaz
Harvest: 640 kg
Remark: frost
";
    assert_eq!(drawn(text, 19), list);
}

#[test]
fn no_line_but_code_is_wider_than_asked() {
    let text = "# A heading that is rather long for such a terminal\n\n\
        - item with `some code that is long` and averyverylongwordthatfitsnowhereatall\n  1. deeper\n     > and deeper\n\n\
        | a | b | c | d | e |\n|---|---|---|---|---|\n| one two | three | 契約書 | five | sixsixsixsixsixsix |";
    for width in 16..90 {
        for line in render(text, width) {
            assert!(line.width() <= width, "{width}: {:?}", line.text());
        }
    }
}

#[test]
fn what_is_settled_stays_as_it_is_whatever_comes_after_it() {
    let text = "# Head\n\nOne paragraph\nof two lines.\n\n- a list\n- of items\n\n| a | b |\n|---|--:|\n| one | two |\n| three | four |\n\n\
        ```sh\nls\n\nmake\n```\n\nTitle\n---\n\nThe end with **bold** words.";
    let mut before = 0;
    for (end, _) in text.char_indices() {
        let settled = settled(&text[..end]);
        assert!(settled >= before, "{:?}", &text[..end]);
        before = settled;
        let (whole, part) = (drawn(text, 40), drawn(&text[..settled], 40));
        assert!(whole.starts_with(&part), "{part:?} is settled, and {whole:?} begins otherwise");
    }
    assert_eq!(&text[before..], "The end with **bold** words.");
    assert_eq!(settled(""), 0);
    assert_eq!(settled("one paragraph only"), 0);
}
