//! Tables: columns as wide as they must be, narrower where the terminal is, and a list of fields where it is narrower still.

use pulldown_cmark::Alignment;

use super::wrap;
use crate::draw::{Line, Span, Style};

/// The blanks between two columns.
const GAP: usize = 2;
/// A column that would get less than this has no use.
const LEAST: usize = 6;

/// A table that is being read.
pub struct Table {
    alignments: Vec<Alignment>,
    /// Its rows; the first is the head.
    rows: Vec<Vec<Vec<Span>>>,
}

impl Table {
    pub fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// The next cell of the row.
    pub fn cell(&mut self, words: Vec<Span>) {
        if let Some(row) = self.rows.last_mut() {
            row.push(words);
        }
    }

    /// The table in so many columns.
    pub fn lines(&self, room: usize) -> Vec<Line> {
        match self.widths(room) {
            Some(widths) => self.grid(&widths),
            None => self.records(room),
        }
    }

    /// How wide each column is; none where they do not fit.
    fn widths(&self, room: usize) -> Option<Vec<usize>> {
        let columns = self.alignments.len();
        let wide = |cell: Option<&Vec<Span>>| {
            let lines = cell.map(|words| wrap(words, usize::MAX)).unwrap_or_default();
            lines.iter().map(Line::width).max().unwrap_or(0)
        };
        let column = |nth: usize| self.rows.iter().map(|row| wide(row.get(nth))).max().unwrap_or(0).max(1);
        let mut widths: Vec<usize> = (0..columns).map(column).collect();
        let room = room.checked_sub(GAP * columns.saturating_sub(1))?;
        while widths.iter().sum::<usize>() > room {
            // The widest column gives way to the next one, or takes what is left.
            let (nth, &widest) = widths.iter().enumerate().max_by_key(|(_, width)| **width)?;
            let others: usize = widths.iter().sum::<usize>() - widest;
            let next = widths.iter().copied().filter(|width| *width < widest).max().unwrap_or(0);
            let given = room.saturating_sub(others).max(next).min(widest - 1);
            if given < LEAST {
                return None;
            }
            widths[nth] = given;
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line> {
        let mut lines = Vec::new();
        for (nth, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Line>> =
                widths.iter().zip(0..).map(|(width, nth)| cell_lines(row.get(nth), *width)).collect();
            for level in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut line = Line::default();
                for (column, width) in widths.iter().enumerate() {
                    let empty = Line::default();
                    let cell = cells[column].get(level).unwrap_or(&empty);
                    let free = width.saturating_sub(cell.width());
                    let before = match self.alignments[column] {
                        Alignment::Right => free,
                        Alignment::Center => free / 2,
                        Alignment::None | Alignment::Left => 0,
                    };
                    let gap = if column == 0 { 0 } else { GAP };
                    line.push(" ".repeat(gap + before), Style::PLAIN);
                    for span in &cell.spans {
                        let style = if nth == 0 { Style { bold: true, ..span.style } } else { span.style };
                        line.push(span.text.clone(), style);
                    }
                    if column + 1 < widths.len() {
                        line.push(" ".repeat(free - before), Style::PLAIN);
                    }
                }
                lines.push(line);
            }
            if nth == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::new(rules.join(&" ".repeat(GAP)), Style::DIM));
            }
        }
        lines
    }

    /// Each row as its fields, one below the other, under the names in the head.
    fn records(&self, room: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let Some((head, rows)) = self.rows.split_first() else { return lines };
        for (nth, row) in rows.iter().enumerate() {
            if nth > 0 {
                lines.push(Line::default());
            }
            for (column, words) in row.iter().enumerate() {
                let name = head.get(column).map(Vec::as_slice).unwrap_or_default();
                let name = name.iter().map(|span| Span { style: Style { bold: true, ..span.style }, ..span.clone() });
                let colon = Span { text: ": ".to_owned(), style: Style::PLAIN };
                let field: Vec<Span> = name.chain([colon]).chain(words.iter().cloned()).collect();
                lines.extend(wrap(&field, room));
            }
        }
        lines
    }
}

fn cell_lines(cell: Option<&Vec<Span>>, width: usize) -> Vec<Line> {
    cell.map(|words| wrap(words, width)).unwrap_or_default()
}
