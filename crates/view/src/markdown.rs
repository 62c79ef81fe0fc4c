//! Markdown as lines for a terminal: headings, lists, quotes, code, tables, emphasis and links, wrapped to its width.
//!
//! The text comes from a model, so nothing in it reaches the terminal as a control, and a link always shows where it leads. A line
//! break in the text is a line break on the screen: models write lines, not paragraphs to be filled. How words are wrapped is in
//! `wrap`, tables are in `table`, colours of code in `code`. Absent: images and HTML (both are shown as text).

mod code;
mod table;
mod wrap;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::draw::{Colour, Line, Span, Style};
use crate::safe;

pub use wrap::wrap;

/// No text is laid out narrower than this; a terminal that is narrower wraps by itself.
const LEAST: usize = 16;
/// The least room for words within quotes and lists; what is nested more deeply is not moved further to the right.
const LEAST_ROOM: usize = 8;

/// A text as lines of at most `width` columns. Only lines of code may be longer, so that they can be copied.
pub fn render(text: &str, width: usize) -> Vec<Line> {
    let text = safe::answer(text).replace('\t', "    ");
    let mut page = Page { width: width.max(LEAST), ..Page::default() };
    for event in Parser::new_ext(&text, options()) {
        page.take(event);
    }
    page.end_block();
    page.lines
}

/// The bytes at the beginning of a text that stay the same whatever is written after it: all its blocks but the last. A block that
/// follows without an empty line may turn out to belong to the one before, as the next row of a table does.
pub fn settled(text: &str) -> usize {
    let (mut depth, mut last) = (0_usize, 0);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let is_apart = || text[..range.start].trim_end_matches([' ', '\t']).ends_with("\n\n");
        if depth == 0 && !matches!(event, Event::End(_)) && is_apart() {
            last = range.start;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    last
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// What is drawn so far, and where in the document the next words stand.
#[derive(Default)]
struct Page {
    width: usize,
    lines: Vec<Line>,
    /// The words of the block that is being read.
    words: Vec<Span>,
    /// How words look here; the innermost last.
    styles: Vec<Style>,
    /// What stands before each line of the blocks around; the innermost last.
    margins: Vec<Margin>,
    /// The numbers of the lists around: the next one of a numbered list.
    lists: Vec<Option<u64>>,
    /// Where the links around lead, and how many pieces of words stood before them.
    links: Vec<(String, usize)>,
    /// The language of the code that is being read; empty where none is named.
    code: Option<String>,
    table: Option<table::Table>,
    /// Whether an empty line belongs before the next block.
    gap: bool,
}

/// What stands before the lines of a quote or of an item of a list.
struct Margin {
    /// Before the first line, until that is drawn.
    first: Option<String>,
    /// Before the others.
    rest: String,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => self.code_lines(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.say_lines(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                // What is to be taken literally is not broken at its blanks, so it keeps them.
                let text = text.replace(' ', "\u{a0}");
                self.say(text, Style { colour: Some(Colour::Cyan), ..self.style() });
            }
            Event::FootnoteReference(name) => self.say(format!("[{name}]"), self.style()),
            Event::SoftBreak | Event::HardBreak => self.say("\n".to_owned(), Style::PLAIN),
            Event::Rule => {
                self.open_block();
                let room = self.room().min(40);
                self.put(Line::new("─".repeat(room), Style::DIM));
                self.close_block();
            }
            Event::TaskListMarker(done) => self.say(if done { "[x] " } else { "[ ] " }.to_owned(), Style::PLAIN),
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.open_block();
                let underline = level == HeadingLevel::H1;
                self.styles.push(Style { bold: true, underline, ..self.style() });
            }
            Tag::Emphasis => self.styles.push(Style { italic: true, ..self.style() }),
            Tag::Strong => self.styles.push(Style { bold: true, ..self.style() }),
            Tag::Strikethrough => self.styles.push(Style { strike: true, ..self.style() }),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.words.len()));
                self.styles.push(Style { underline: true, ..self.style() });
            }
            Tag::BlockQuote(_) => {
                self.open_block();
                self.indent(None, "│ ".to_owned());
            }
            Tag::List(number) => {
                self.end_block();
                if self.lists.is_empty() {
                    self.open_block();
                }
                self.lists.push(number);
            }
            Tag::Item => {
                self.end_block();
                self.gap &= self.lists.len() == 1 && self.margins.is_empty();
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    Some(None) | None => "• ".to_owned(),
                };
                let rest = " ".repeat(mark.chars().count());
                self.indent(Some(mark), rest);
            }
            Tag::CodeBlock(kind) => {
                self.open_block();
                self.code = Some(match &kind {
                    CodeBlockKind::Fenced(language) => language.trim().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                });
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.trim().is_empty()
                {
                    let language = safe::line(language.trim(), self.room());
                    self.put(Line::new(language, Style::DIM));
                }
            }
            Tag::Table(alignments) => {
                self.open_block();
                self.table = Some(table::Table::new(alignments));
            }
            Tag::TableRow | Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            Tag::Paragraph | Tag::HtmlBlock => self.open_block(),
            // The others are not turned on, or say nothing of themselves.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.close_block();
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.close_block(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => _ = self.styles.pop(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::BlockQuote(_) => {
                self.close_block();
                self.margins.pop();
            }
            TagEnd::Item => {
                self.end_block();
                // An item without words has its mark all the same.
                if self.margins.last().is_some_and(|margin| margin.first.is_some()) {
                    self.put(Line::default());
                }
                self.margins.pop();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap = self.lists.is_empty();
            }
            TagEnd::CodeBlock => {
                self.code = None;
                self.close_block();
            }
            TagEnd::TableCell => {
                let words = std::mem::take(&mut self.words);
                if let Some(table) = &mut self.table {
                    table.cell(words);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table.lines(self.room()).into_iter().for_each(|line| self.put(line));
                }
                self.close_block();
            }
            _ => {}
        }
    }

    fn end_link(&mut self) {
        self.styles.pop();
        let Some((address, before)) = self.links.pop() else { return };
        let shown: String = self.words[before.min(self.words.len())..].iter().map(|span| span.text.as_str()).collect();
        // Words can claim anything; where a link really leads stands beside them.
        if !address.is_empty() && shown != address && format!("mailto:{shown}") != address {
            self.say(format!(" ({address})"), Style::DIM);
        }
    }

    fn code_lines(&mut self, text: &str) {
        let language = self.code.clone().unwrap_or_default();
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.put(code::line(&format!("  {line}"), &language));
        }
    }

    fn say_lines(&mut self, text: &str) {
        let style = self.style();
        self.say(text.to_owned(), style);
    }

    fn say(&mut self, text: String, style: Style) {
        self.words.push(Span { text, style });
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn indent(&mut self, first: Option<String>, rest: String) {
        if self.room() >= rest.chars().count() + LEAST_ROOM {
            self.margins.push(Margin { first, rest });
            return;
        }
        self.margins.push(Margin { first: None, rest: String::new() });
        if let Some(mark) = first {
            self.say(mark, Style::PLAIN);
        }
    }

    /// Columns for words here.
    fn room(&self) -> usize {
        let taken: usize = self.margins.iter().map(|margin| margin.rest.chars().count()).sum();
        self.width.saturating_sub(taken)
    }

    /// Ends what stands before a block, and leaves an empty line between the two.
    fn open_block(&mut self) {
        self.end_block();
        if std::mem::take(&mut self.gap) && self.margins.last().is_none_or(|margin| margin.first.is_none()) {
            let margin: String = self.margins.iter().map(|margin| margin.rest.as_str()).collect();
            self.lines.push(Line::new(margin.trim_end(), Style::DIM));
        }
    }

    fn close_block(&mut self) {
        self.end_block();
        self.gap = self.lists.is_empty();
    }

    /// Draws the words that were gathered.
    fn end_block(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let words = std::mem::take(&mut self.words);
        for line in wrap(&words, self.room()) {
            self.put(line);
        }
    }

    fn put(&mut self, line: Line) {
        let mut whole = Line::default();
        for margin in &mut self.margins {
            match margin.first.take() {
                Some(first) => whole.push(first, Style::PLAIN),
                None => whole.push(margin.rest.clone(), Style::DIM),
            }
        }
        line.spans.into_iter().for_each(|span| whole.push(span.text, span.style));
        self.lines.push(whole);
    }
}

#[cfg(test)]
mod tests;
