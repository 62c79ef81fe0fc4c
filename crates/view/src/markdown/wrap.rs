//! Words in lines of a given width: broken at blanks, and within a word only where it fits no line.

use crate::draw::columns::{fitting, width};
use crate::draw::{Line, Span, Style};

/// Pieces of text as lines of at most `columns` columns. A line break in a piece is a line break.
pub fn wrap(spans: &[Span], columns: usize) -> Vec<Line> {
    let columns = columns.max(1);
    let mut lines = vec![Filling::default()];
    for word in words(spans) {
        let line = lines.last_mut().expect("there is always a line that is being filled");
        match word {
            Token::Break => lines.push(Filling::default()),
            Token::Blank(style) => line.blank = line.blank.or(Some(style)),
            Token::Word(pieces) => {
                let wide = pieces.iter().map(|span| width(&span.text)).sum::<usize>();
                let before = usize::from(line.blank.is_some() && line.columns > 0);
                if line.columns + before + wide <= columns {
                    line.put(pieces, wide);
                } else if wide <= columns {
                    let mut next = Filling::default();
                    next.put(pieces, wide);
                    lines.push(next);
                } else {
                    split(&pieces, columns, &mut lines);
                }
            }
        }
    }
    lines.into_iter().map(|filling| filling.line).collect()
}

/// A line that is being filled.
#[derive(Default)]
struct Filling {
    line: Line,
    columns: usize,
    /// A blank that is drawn once a word follows it in the same line.
    blank: Option<Style>,
}

impl Filling {
    fn put(&mut self, pieces: Vec<Span>, wide: usize) {
        if let Some(style) = self.blank.take().filter(|_| self.columns > 0) {
            self.line.push(" ", style);
            self.columns += 1;
        }
        for piece in pieces {
            self.line.push(piece.text.replace('\u{a0}', " "), piece.style);
        }
        self.columns += wide;
    }
}

/// Puts a word that is wider than any line into as many as it takes.
fn split(pieces: &[Span], columns: usize, lines: &mut Vec<Filling>) {
    if lines.last().is_none_or(|line| line.columns > 0) {
        lines.push(Filling::default());
    }
    for piece in pieces {
        let mut rest = piece.text.as_str();
        while !rest.is_empty() {
            let line = lines.last_mut().expect("one was begun above");
            let mut end = fitting(rest, columns - line.columns);
            if end == 0 && line.columns > 0 {
                lines.push(Filling::default());
                continue;
            }
            if end == 0 {
                // One character that is wider than the whole line.
                end = rest.chars().next().map_or(rest.len(), char::len_utf8);
            }
            let part = Span { text: rest[..end].to_owned(), style: piece.style };
            let wide = width(&part.text).min(columns);
            line.put(vec![part], wide);
            rest = &rest[end..];
        }
    }
}

enum Token {
    /// Pieces with no blank between them.
    Word(Vec<Span>),
    Blank(Style),
    Break,
}

fn words(spans: &[Span]) -> Vec<Token> {
    let mut words = Vec::new();
    let mut word: Vec<Span> = Vec::new();
    let end = |word: &mut Vec<Span>, words: &mut Vec<Token>| {
        if !word.is_empty() {
            words.push(Token::Word(std::mem::take(word)));
        }
    };
    for span in spans {
        let mut from = 0;
        for (at, c) in span.text.char_indices().filter(|(_, c)| matches!(c, ' ' | '\n')) {
            if from < at {
                word.push(Span { text: span.text[from..at].to_owned(), style: span.style });
            }
            end(&mut word, &mut words);
            words.push(if c == '\n' { Token::Break } else { Token::Blank(span.style) });
            from = at + 1;
        }
        if from < span.text.len() {
            word.push(Span { text: span.text[from..].to_owned(), style: span.style });
        }
    }
    end(&mut word, &mut words);
    words
}
