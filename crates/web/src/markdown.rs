//! HTML as Markdown: what a reader of a page needs, in order, and no more.
//!
//! The tags and texts are told apart by html5ever, as browsers do it. No tree is built, so neither the depth nor the disorder of a page costs
//! anything: each tag changes what is written next. Left out: scripts, styles, forms, images without a description, and what stands in
//! `nav`, `header` and `footer`. Deliberately absent: styles, so that text which a style hides is shown.

use std::cell::RefCell;

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, EndTag, StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use url::Url;

/// How deep lists are indented.
const DEEPEST_LIST: usize = 8;
/// The longest address of a link that is shown.
const LONGEST_LINK: usize = 300;

/// A page as Markdown. Addresses are made whole by the page's own.
pub(crate) fn of_html(html: &str, base: &Url) -> String {
    let sink = Sink(RefCell::new(Page::new(base.clone())));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(html));
    // The end of a script stops the reading until the script has run, which it never does.
    while let TokenizerResult::Script(()) = tokenizer.feed(&queue) {}
    tokenizer.end();
    let page = tokenizer.sink.0.into_inner();
    page.finish()
}

struct Sink(RefCell<Page>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut page = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => page.text(&text),
            Token::TagToken(tag) if tag.kind == StartTag => return page.start(&tag),
            Token::TagToken(tag) if tag.kind == EndTag => page.end(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// What was written so far.
struct Page {
    base: Url,
    out: String,
    title: String,
    /// How many elements around the current place are left out.
    skipped: usize,
    in_title: bool,
    /// How many `pre` elements are open.
    pre: usize,
    in_code: bool,
    /// Open lists: the number of the next item, none for one without numbers.
    lists: Vec<Option<u32>>,
    /// The open link: where it leads, and where its words begin.
    link: Option<(String, usize)>,
    /// Whether a blank is due before the next word.
    gap: bool,
    /// How many line ends are due before the next word.
    lines: usize,
    /// What begins the next line.
    prefix: String,
    quotes: usize,
    cells: usize,
    rows: usize,
}

impl Page {
    fn new(base: Url) -> Self {
        Self {
            base,
            out: String::new(),
            title: String::new(),
            skipped: 0,
            in_title: false,
            pre: 0,
            in_code: false,
            lists: Vec::new(),
            link: None,
            gap: false,
            lines: 0,
            prefix: String::new(),
            quotes: 0,
            cells: 0,
            rows: 0,
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.skipped > 0 {
        } else if self.pre > 0 {
            self.flush();
            self.out.push_str(text);
        } else {
            if text.starts_with(char::is_whitespace) {
                self.gap = true;
            }
            for word in text.split_whitespace() {
                self.word(word);
                self.gap = true;
            }
            self.gap = text.ends_with(char::is_whitespace) || (self.gap && text.trim().is_empty());
        }
    }

    fn word(&mut self, word: &str) {
        let begins_line = self.lines > 0 || !self.prefix.is_empty() || self.out.is_empty() || self.out.ends_with('\n');
        self.flush();
        if self.gap && !begins_line && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        self.gap = false;
        self.out.push_str(word);
    }

    /// Writes the line ends that are due, and what begins the line.
    fn flush(&mut self) {
        if self.out.is_empty() {
            self.lines = 0;
        }
        if self.lines > 0 {
            while self.out.ends_with(' ') {
                self.out.pop();
            }
            self.out.extend(std::iter::repeat_n('\n', self.lines));
            self.out.push_str(&"> ".repeat(self.quotes));
            self.lines = 0;
        }
        self.out.push_str(&std::mem::take(&mut self.prefix));
    }

    /// At least so many line ends before what comes next.
    fn block(&mut self, lines: usize) {
        self.gap = false;
        self.lines = self.lines.max(lines);
    }

    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        match name {
            "title" => {
                self.in_title = self.title.is_empty() && self.skipped == 0;
                return TokenSinkResult::RawData(RawKind::Rcdata);
            }
            "textarea" => {
                self.skipped += 1;
                return TokenSinkResult::RawData(RawKind::Rcdata);
            }
            "style" | "iframe" | "noembed" | "noframes" | "xmp" => {
                self.skipped += 1;
                return TokenSinkResult::RawData(RawKind::Rawtext);
            }
            "script" => {
                self.skipped += 1;
                return TokenSinkResult::RawData(RawKind::ScriptData);
            }
            name if is_left_out(name) && !tag.self_closing => self.skipped += 1,
            _ if self.skipped > 0 => {}
            "br" => self.block(1),
            "hr" => {
                self.block(2);
                self.word("---");
                self.block(2);
            }
            "p" | "div" | "section" | "article" | "main" | "figure" | "table" | "details" | "dl" => self.block(2),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.block(2);
                self.prefix = format!("{} ", "#".repeat(usize::from(name.as_bytes()[1] - b'0')));
            }
            "ul" | "menu" => self.list(None),
            "ol" => self.list(Some(1)),
            "li" => self.item(),
            "dt" | "dd" | "summary" | "figcaption" | "caption" => self.block(1),
            "blockquote" => {
                self.block(2);
                self.quotes = (self.quotes + 1).min(DEEPEST_LIST);
            }
            "pre" => {
                self.block(2);
                if self.pre == 0 {
                    self.flush();
                    self.out.push_str("```\n");
                }
                self.pre += 1;
            }
            "code" | "kbd" | "samp" if self.pre == 0 && !self.in_code => {
                self.word("`");
                self.in_code = true;
            }
            "tr" => {
                self.block(1);
                self.cells = 0;
            }
            "td" | "th" => {
                self.gap = true;
                self.word("|");
                self.gap = true;
                self.cells += 1;
            }
            "a" => self.begin_link(tag),
            "img" => {
                if let Some(words) =
                    attribute(tag, "alt").map(|words| words.trim().to_owned()).filter(|words| !words.is_empty())
                {
                    self.word(&format!("![{words}]"));
                }
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn end(&mut self, name: &str) {
        match name {
            "title" => self.in_title = false,
            "textarea" | "style" | "iframe" | "noembed" | "noframes" | "xmp" | "script" => {
                self.skipped = self.skipped.saturating_sub(1);
            }
            name if is_left_out(name) => self.skipped = self.skipped.saturating_sub(1),
            _ if self.skipped > 0 => {}
            "p" | "div" | "section" | "article" | "main" | "figure" | "details" | "dl" | "h1" | "h2" | "h3" | "h4"
            | "h5" | "h6" => {
                self.prefix.clear();
                self.block(2);
            }
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                self.block(if self.lists.is_empty() { 2 } else { 1 });
            }
            "blockquote" => {
                self.quotes = self.quotes.saturating_sub(1);
                self.block(2);
            }
            "pre" => {
                self.pre = self.pre.saturating_sub(1);
                if self.pre == 0 {
                    if !self.out.ends_with('\n') {
                        self.out.push('\n');
                    }
                    self.out.push_str("```");
                    self.block(2);
                }
            }
            "code" | "kbd" | "samp" if self.in_code => {
                self.in_code = false;
                self.out.push('`');
            }
            "tr" => self.end_row(),
            "table" => {
                self.rows = 0;
                self.block(2);
            }
            "a" => self.end_link(),
            _ => {}
        }
    }

    fn list(&mut self, first: Option<u32>) {
        self.block(if self.lists.is_empty() { 2 } else { 1 });
        if self.lists.len() < 64 {
            self.lists.push(first);
        }
    }

    fn item(&mut self) {
        self.block(1);
        let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(DEEPEST_LIST));
        self.prefix = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{indent}{}. ", *number - 1)
            }
            _ => format!("{indent}- "),
        };
    }

    fn end_row(&mut self) {
        if self.cells == 0 {
            return;
        }
        self.out.push_str(" |");
        self.rows += 1;
        if self.rows == 1 {
            self.out.push('\n');
            self.out.push_str(&"| --- ".repeat(self.cells));
            self.out.push('|');
        }
        self.block(1);
    }

    fn begin_link(&mut self, tag: &Tag) {
        self.end_link();
        let whole = attribute(tag, "href").and_then(|to| self.base.join(to.trim()).ok());
        let Some(to) = whole.filter(|to| matches!(to.scheme(), "http" | "https")) else { return };
        let is_part = to.fragment().is_some() && {
            let (mut one, mut other) = (to.clone(), self.base.clone());
            one.set_fragment(None);
            other.set_fragment(None);
            one == other
        };
        if is_part || to.as_str().len() > LONGEST_LINK {
            return;
        }
        self.word("[");
        self.link = Some((to.to_string().replace(')', "%29"), self.out.len()));
    }

    fn end_link(&mut self) {
        let Some((to, begin)) = self.link.take() else { return };
        if self.out[begin.min(self.out.len())..].trim().is_empty() {
            self.out.truncate(begin.saturating_sub(1));
        } else {
            self.out.push_str(&format!("]({to})"));
        }
    }

    fn finish(mut self) -> String {
        self.end_link();
        if self.pre > 0 {
            self.out.push_str("\n```");
        }
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = self.out.trim();
        match title.is_empty() || text.starts_with(&format!("# {title}")) {
            true => text.to_owned(),
            false => format!("# {title}\n\n{text}").trim_end().to_owned(),
        }
    }
}

/// Elements that are not what a page is about.
fn is_left_out(name: &str) -> bool {
    matches!(
        name,
        "nav" | "header" | "footer" | "form" | "select" | "button" | "svg" | "template" | "object" | "dialog"
    )
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str) -> String {
        of_html(html, &Url::parse("https://example.com/docs/page").expect("an address"))
    }

    #[test]
    fn a_page_becomes_markdown() {
        let html = "<!doctype html><html><head><title>The  page</title><style>p { }</style><script>if (a < b) { '</p>' }</script></head>\
            <body><nav><a href=/>Home</a></nav><h1>Title</h1><p>Some <b>bold</b> words &amp; a <a href='../x?a=1'>link</a>.</p>\
            <ul><li>One</li><li>Two<ol><li>Deep</li></ol></li></ul><pre><code>let x = 1;\n  let y = 2;</code></pre>\
            <p>Call <code>f()</code>.</p><blockquote><p>Said.</p></blockquote>\
            <table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table><footer>bye</footer></body></html>";
        let expected = "# The page\n\n# Title\n\nSome bold words & a [link](https://example.com/x?a=1).\n\n- One\n- Two\n  1. Deep\n\n\
            ```\nlet x = 1;\n  let y = 2;\n```\n\nCall `f()`.\n\n> Said.\n\n| A | B |\n| --- | --- |\n| 1 | 2 |";
        assert_eq!(shown(html), expected);
    }

    #[test]
    fn disorder_and_depth_cost_nothing() {
        assert_eq!(shown("<p>a<p>b<li>c</ul></ul></blockquote></a>"), "a\n\nb\n- c");
        assert_eq!(shown("plain & simple < text"), "plain & simple < text");
        assert_eq!(shown("<a href='javascript:x'>go</a> <a href='#part'>part</a> <a href='/y'></a>"), "go part");
        let deep = shown(&format!("{}x{}", "<div>".repeat(100_000), "</div>".repeat(100_000)));
        assert_eq!(deep, "x");
        assert_eq!(shown(&"<ul><li>".repeat(50_000)), "");
        assert_eq!(shown("<script>never ends"), "");
        assert_eq!(shown(""), "");
    }
}
