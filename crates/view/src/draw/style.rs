//! Lines of text with colours and weights, for terminals that have them.
//!
//! A line says everything in its words; what its style adds can be left out without a loss ([`Line::text`]). How a style reaches the
//! screen is the interface's business; [`Line::ansi`] is the way of a terminal that is written to directly.

use super::columns::width;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Heavier than the rest.
    pub bold: bool,
    /// Less important than the rest.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// With a line below it.
    pub underline: bool,
    /// With a line through it.
    pub strike: bool,
    /// Its colour; the terminal's own where there is none.
    pub colour: Option<Colour>,
}

/// A colour of the terminal's own palette, so that it can be read on light and on dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Failures.
    Red,
    /// What is done.
    Green,
    /// What needs attention.
    Yellow,
    /// What is running.
    Blue,
    /// Code, and other words to be taken literally.
    Cyan,
}

/// A piece of text that looks the same throughout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text, without line breaks and controls.
    pub text: String,
    /// How it looks.
    pub style: Style,
}

/// A line of pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its pieces, from left to right.
    pub spans: Vec<Span>,
}

impl Style {
    /// As the terminal shows text by itself.
    pub const PLAIN: Style =
        Style { bold: false, dim: false, italic: false, underline: false, strike: false, colour: None };
    /// Less important.
    pub const DIM: Style = Style { dim: true, ..Style::PLAIN };
    /// Heavier.
    pub const BOLD: Style = Style { bold: true, ..Style::PLAIN };

    /// In a colour.
    pub const fn of(colour: Colour) -> Style {
        Style { colour: Some(colour), ..Style::PLAIN }
    }

    /// The parameters of the sequence that turns it on; nothing for text as it is.
    fn parameters(self) -> String {
        let colour = self.colour.map(|colour| match colour {
            Colour::Red => "31",
            Colour::Green => "32",
            Colour::Yellow => "33",
            Colour::Blue => "34",
            Colour::Cyan => "36",
        });
        let switches =
            [(self.bold, "1"), (self.dim, "2"), (self.italic, "3"), (self.underline, "4"), (self.strike, "9")];
        let on = switches.iter().filter(|(is_on, _)| *is_on).map(|(_, code)| *code);
        on.chain(colour).collect::<Vec<_>>().join(";")
    }
}

impl Line {
    /// A line of one piece.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        let mut line = Self::default();
        line.push(text, style);
        line
    }

    /// Adds a piece at the end.
    pub fn push(&mut self, text: impl Into<String>, style: Style) {
        let text = text.into();
        match self.spans.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.style == style => last.text.push_str(&text),
            _ => self.spans.push(Span { text, style }),
        }
    }

    /// Its words alone.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Columns that it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    /// The line in at most `max` columns, with a mark where something is missing.
    #[must_use]
    pub fn cut(&self, max: usize, mark: char) -> Line {
        if self.width() <= max {
            return self.clone();
        }
        let mut line = Line::default();
        let mut room = max;
        for span in &self.spans {
            let taken = width(&span.text);
            // A piece that would end at the edge leaves no room for the mark.
            if taken < room {
                line.push(span.text.clone(), span.style);
                room -= taken;
            } else {
                line.push(super::columns::cut_with_mark(&span.text, room, mark), span.style);
                break;
            }
        }
        line
    }

    /// The line with the sequences that make a terminal show its styles. Every style ends where its piece ends.
    pub fn ansi(&self) -> String {
        let mut shown = String::new();
        for span in &self.spans {
            match span.style.parameters() {
                on if on.is_empty() => shown.push_str(&span.text),
                on => {
                    shown.push_str("\u{1b}[");
                    shown.push_str(&on);
                    shown.push('m');
                    shown.push_str(&span.text);
                    shown.push_str("\u{1b}[0m");
                }
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_ends_with_its_piece_and_plain_text_has_no_sequences() {
        let mut line = Line::new("plain ", Style::PLAIN);
        line.push("both", Style { bold: true, ..Style::of(Colour::Red) });
        line.push(" plain", Style::PLAIN);
        assert_eq!(line.ansi(), "plain \u{1b}[1;31mboth\u{1b}[0m plain");
        assert_eq!(line.text(), "plain both plain");
        assert_eq!(line.width(), 16);
    }

    #[test]
    fn a_line_is_cut_by_columns_across_its_pieces() {
        let mut line = Line::new("ab", Style::BOLD);
        line.push("契約書", Style::DIM);
        assert_eq!(line.cut(8, '…').text(), "ab契約書");
        assert_eq!(line.cut(7, '…').text(), "ab契約…");
        assert_eq!(line.cut(2, '…').text(), "a…");
        assert_eq!(line.cut(0, '…').text(), "");
        for columns in 0..9 {
            assert!(line.cut(columns, '…').width() <= columns, "{columns}");
        }
    }
}
