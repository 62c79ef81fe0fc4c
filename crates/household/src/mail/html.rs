//! HTML of letters as plain text, and where its links lead.
//!
//! Nothing is rendered: blocks become lines, what no reader sees (scripts, styles, the head) is left out.

use mail_parser::decoders::html::add_html_token;
use serde::{Deserialize, Serialize};

use super::address::registered;

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Link {
    /// The host that it leads to.
    pub host: String,
    /// Whether its words show another host than the one it leads to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disguised: bool,
}

/// No letter needs more.
const LINKS: usize = 30;

/// What a page says, and where it leads.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub text: String,
    pub links: Vec<Link>,
    /// What stands in its comments and in words about its pictures, which few readers see; in lower case where it was an attribute.
    pub comments: String,
}

/// The text of a page, at most about `max` bytes of it and of its comments, and its links.
pub(crate) fn text(html: &str, max: usize) -> Said {
    let lower = html.to_ascii_lowercase();
    let mut page = Page::default();
    let mut at = 0;
    while at < html.len() && page.text.len() < max {
        let rest = &html[at..];
        let Some(open) = rest.find('<') else {
            page.say(rest);
            break;
        };
        page.say(&rest[..open]);
        at += open;
        if lower[at..].starts_with("<!--") {
            let end = lower[at..].find("-->").map_or(html.len(), |end| at + end);
            if page.comments.len() < max {
                page.comments.push_str(html[at + 4..end.max(at + 4)].trim());
                page.comments.push('\n');
            }
            at = html.len().min(end + 3);
            continue;
        }
        let after = lower[at + 1..].chars().next();
        if !after.is_some_and(|letter| letter.is_ascii_alphabetic() || matches!(letter, '/' | '!' | '?')) {
            page.say("<");
            at += 1;
            continue;
        }
        let end = lower[at..].find('>').map_or(html.len(), |end| at + end + 1);
        let inside = lower[at + 1..end].trim_end_matches('>');
        let name: &str = inside.split(|letter: char| letter.is_whitespace()).next().unwrap_or_default();
        let (name, closes) = name.strip_prefix('/').map_or((name, false), |name| (name, true));
        let name = name.trim_end_matches('/');
        at = end;
        for name in ["alt", "title"] {
            page.note_attribute(inside, name, max);
        }
        match name {
            "script" | "style" | "head" | "title" | "template" if !closes => {
                let close = format!("</{name}");
                at = lower[at..].find(&close).map_or(html.len(), |end| at + end);
            }
            "a" if closes => page.close_link(),
            "a" => page.open_link(inside),
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" | "ul" | "ol" | "blockquote" | "hr" => {
                page.end_block();
            }
            "br" => page.break_line(),
            "div" | "tr" | "li" | "pre" | "section" | "article" | "header" | "footer" => page.end_line(),
            "td" | "th" => page.gap = true,
            _ => {}
        }
    }
    page.close_link();
    Said { text: page.text.trim().to_owned(), links: page.links, comments: page.comments }
}

/// The hosts of links that stand in plain text.
pub(crate) fn plain_links(text: &str) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (at, _) in text.match_indices("://").take(4 * LINKS) {
        let Some(host) = host(&text[at + 3..]) else { continue };
        let link = Link { host, disguised: false };
        if links.len() < LINKS && !links.contains(&link) {
            links.push(link);
        }
    }
    links
}

#[derive(Default)]
struct Page {
    text: String,
    comments: String,
    links: Vec<Link>,
    /// A space is due before the next word.
    gap: bool,
    /// Where the words of the open link begin, and the host that it leads to.
    open: Option<(usize, String)>,
}

impl Page {
    fn say(&mut self, words: &str) {
        if words.starts_with(char::is_whitespace) {
            self.gap = true;
        }
        for word in words.split_whitespace() {
            if self.gap && !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.spell(word);
            self.gap = true;
        }
        self.gap = words.ends_with(char::is_whitespace) || (self.gap && words.trim().is_empty());
    }

    /// A word with its entities resolved.
    fn spell(&mut self, word: &str) {
        let mut rest = word;
        while let Some(at) = rest.find('&') {
            self.text.push_str(&rest[..at]);
            rest = &rest[at..];
            match rest.find(';').filter(|end| *end <= 10) {
                Some(end) => {
                    add_html_token(&mut self.text, &rest.as_bytes()[..=end], false);
                    rest = &rest[end + 1..];
                }
                None => {
                    self.text.push('&');
                    rest = &rest[1..];
                }
            }
        }
        self.text.push_str(rest);
    }

    /// Keeps the words of an attribute.
    fn note_attribute(&mut self, tag: &str, name: &str, max: usize) {
        let found = tag.split_once(&format!(" {name}=")).map(|(_, rest)| rest);
        let words =
            found.and_then(|rest| rest.strip_prefix(['"', '\'']).and_then(|rest| rest.split(['"', '\'']).next()));
        if let Some(words) = words.filter(|words| words.contains(' ') && self.comments.len() < max) {
            self.comments.push_str(words);
            self.comments.push('\n');
        }
    }

    fn break_line(&mut self) {
        self.gap = false;
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn end_line(&mut self) {
        if !self.text.ends_with('\n') {
            self.break_line();
        }
    }

    fn end_block(&mut self) {
        self.end_line();
        self.break_line();
    }

    fn open_link(&mut self, tag: &str) {
        self.close_link();
        let target = tag.split_once("href").map_or("", |(_, rest)| rest.trim_start_matches([' ', '=', '"', '\'']));
        if let Some(host) = target.split_once("://").and_then(|(_, rest)| host(rest)) {
            self.open = Some((self.text.len(), host));
        }
    }

    fn close_link(&mut self) {
        let Some((from, target)) = self.open.take() else { return };
        let words = self.text[from..].trim();
        let shown = match words.contains(char::is_whitespace) {
            true => None,
            false => host(words.split_once("://").map_or(words, |(_, rest)| rest)),
        };
        let disguised = shown.is_some_and(|shown| registered(&shown) != registered(&target));
        let link = Link { host: target, disguised };
        if self.links.len() < LINKS && !self.links.contains(&link) {
            self.links.push(link);
        }
    }
}

/// The host that an address begins with, where it looks like one.
fn host(text: &str) -> Option<String> {
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '.' | '-' | '@' | '_')));
    let host = &text[..end.unwrap_or(text.len())];
    // What stands before an `@` is a name for signing in, and a favourite disguise.
    let host = host.rsplit('@').next().unwrap_or(host).trim_matches('.').to_lowercase();
    let top = host.rsplit_once('.').map_or("", |(_, top)| top);
    (top.len() >= 2 && !top.contains(|letter: char| letter.is_ascii_digit()) && host.len() < 254).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_lines_and_what_nobody_sees_is_left_out() {
        let html = "<html><head><title>x</title><style>p{}</style></head><body><h1>Hello&nbsp;Alex</h1>\
            <p>please <b>sign</b>\nthis&amp;that &lt;today&gt;</p><!-- <p>not this</p> -->\
            <table><tr><td>a</td><td>b</td></tr></table><script>alert(1)</script>1 < 2 &bogus; &</body>";
        let said = text(html, 10_000);
        assert_eq!(said.comments, "<p>not this</p>\n");
        assert_eq!(said.text, "Hello\u{a0}Alex\n\nplease sign this&that <today>\n\na b\n\n1 < 2 &bogus; &");
    }

    #[test]
    fn a_link_that_shows_another_host_is_disguised() {
        let html = r#"<a href="https://evil.example/login">https://bank.example/login</a>
            <a href='https://www.shop.example/a'>shop.example</a> <a href="https://news.example">read on</a>
            <a href="mailto:a@b.example">write</a>"#;
        let links = text(html, 10_000).links;
        let shown: Vec<_> = links.iter().map(|link| (&*link.host, link.disguised)).collect();
        assert_eq!(shown, [("evil.example", true), ("www.shop.example", false), ("news.example", false)]);
    }

    #[test]
    fn a_page_without_end_is_read_to_where_it_stops() {
        for broken in ["<", "<a", "<a href=\"http://", "<!--", "<style>", "<p", "&", "&#", "&#xffffffffff;", "<é>ü<"]
        {
            let _ = text(broken, 100);
        }
        let long = text(&"<p>word</p><!-- aside -->".repeat(100_000), 1_000);
        assert!(long.text.len() < 1_100 && long.comments.len() < 1_100);
    }

    #[test]
    fn links_in_plain_text_are_found() {
        let hosts: Vec<_> = plain_links("see https://a.example/x, http://user@b.example:80 and ://")
            .into_iter()
            .map(|link| link.host)
            .collect();
        assert_eq!(hosts, ["a.example", "b.example"]);
    }
}
