//! The HTML of a mail as plain text, and the hosts that its links lead to.
//!
//! The HTML is parsed as browsers parse it (html5ever, in `tree`), so that what counts as text, as a tag and as an attribute is
//! the same here as in a mail program. Blocks become lines; scripts, styles and the head are left out. Nothing is rendered:
//! of styles only inline ones that hide words inside a link are looked at. `target` compares the words of a link with the
//! address that it leads to.

mod target;
mod tree;

use html5ever::tendril::StrTendril;
use html5ever::{local_name, ns};
use serde::{Deserialize, Serialize};

use target::Links;
use tree::{Kind, Node, Tree};

pub(crate) use target::plain_links;

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Link {
    /// The host that it leads to, in Unicode.
    pub host: String,
    /// Whether its words show another host than the one it leads to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disguised: bool,
}

/// What an HTML page contains.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub text: String,
    pub links: Vec<Link>,
    /// Comments, and the `alt` and `title` attributes: text that a mail program usually does not show.
    pub unseen: String,
}

/// Reads a page: at most about `max` bytes of its text and of its unseen text, and all its links.
pub(crate) fn read(html: &str, max: usize) -> Content {
    let mut page = Page { max, ..Page::default() };
    tree::parse(html, |tree| page.read(tree));
    page.end_link();
    Content { text: page.text.trim().to_owned(), links: page.links.finish(), unseen: page.unseen }
}

/// The result while trees are read into it.
#[derive(Default)]
struct Page {
    max: usize,
    text: String,
    unseen: String,
    links: Links,
    /// A space is due before the next word.
    gap: bool,
    /// Links that are open, innermost last.
    open: Vec<OpenLink>,
    /// A link that was closed, for as long as nothing follows it: `<a>bank</a><a>.example</a>` is read as one word.
    closed: Option<OpenLink>,
    /// How many elements around the current node are hidden by an inline style.
    hidden: usize,
}

/// A link whose words are being collected.
#[derive(Default)]
struct OpenLink {
    targets: Vec<StrTendril>,
    /// What is seen of it, and of links that it follows without a gap.
    words: String,
    /// Where its own words begin.
    own: usize,
    /// Descriptions of its pictures, which are seen where pictures are not loaded.
    pictures: String,
}

/// Words of one link that are compared with its target.
const WORDS: usize = 2_000;
/// Links without a gap between them that are compared as one.
const JOINED: usize = 8;

enum Visit {
    Enter(usize),
    SearchLimits(usize),
}

impl Page {
    /// Adds what a tree says.
    fn read(&mut self, tree: &Tree) {
        let mut visits = vec![Visit::Enter(Tree::ROOT)];
        while let Some(visit) = visits.pop() {
            match visit {
                Visit::Enter(at) => {
                    let node = tree.node(at);
                    if self.enter(node) {
                        visits.push(Visit::SearchLimits(at));
                        visits.extend(node.children.iter().rev().map(|child| Visit::Enter(*child)));
                    }
                }
                Visit::SearchLimits(at) => self.leave(tree.node(at)),
            }
        }
    }

    /// Takes in the beginning of a node. Says whether its children are to be read.
    fn enter(&mut self, node: &Node) -> bool {
        match &node.kind {
            Kind::Document => return true,
            Kind::Text(text) => self.say(text),
            Kind::Comment(text) => self.note(text.trim()),
            Kind::Element(_) => {}
        }
        let Kind::Element(element) = &node.kind else { return false };
        for name in [local_name!("alt"), local_name!("title")] {
            if let Some(words) = node.attribute(&name).filter(|words| words.trim().contains(' ')) {
                self.note(words.trim());
            }
        }
        if element.name.ns == ns!(html) {
            match element.name.local {
                local_name!("base") => self.links.base(node.attribute(&local_name!("href"))),
                local_name!("img") => self.picture(node.attribute(&local_name!("alt"))),
                local_name!("area") => self.links.add(node.attribute(&local_name!("href")), ""),
                local_name!("form") => self.links.add(node.attribute(&local_name!("action")), ""),
                local_name!("button") | local_name!("input") => {
                    self.links.add(node.attribute(&local_name!("formaction")), "");
                }
                _ if is_never_shown(&element.name.local) => return false,
                _ => {}
            }
            self.separate(&element.name.local);
        }
        if node.is_link() {
            self.open_link(node);
        }
        self.hidden += usize::from(node.is_hidden());
        true
    }

    fn leave(&mut self, node: &Node) {
        let Kind::Element(element) = &node.kind else { return };
        self.hidden -= usize::from(node.is_hidden());
        if node.is_link() {
            self.close_link();
        }
        if element.name.ns == ns!(html) && element.name.local != local_name!("br") {
            self.separate(&element.name.local);
        }
    }
}

impl Page {
    /// Words between two tags.
    fn say(&mut self, words: &str) {
        if self.hidden == 0 {
            match self.open.last_mut() {
                Some(link) => link.say(words),
                None => self.end_link(),
            }
        }
        if self.text.len() >= self.max {
            return;
        }
        if words.starts_with(is_space) {
            self.gap = true;
        }
        for word in words.split(is_space).filter(|word| !word.is_empty()) {
            if self.gap && !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.text.push_str(word);
            self.gap = true;
        }
        self.gap = words.ends_with(is_space) || (self.gap && words.chars().all(is_space));
    }

    /// Keeps text that is usually not seen.
    fn note(&mut self, words: &str) {
        if self.unseen.len() < self.max {
            self.unseen.push_str(words);
            self.unseen.push('\n');
        }
    }

    fn picture(&mut self, description: Option<&StrTendril>) {
        if let (Some(link), Some(words), 0) = (self.open.last_mut(), description, self.hidden)
            && link.pictures.len() < WORDS
        {
            link.pictures.push_str(words);
        }
    }

    /// Begins a new line, a new paragraph or a new cell where an element does.
    fn separate(&mut self, name: &html5ever::LocalName) {
        match *name {
            local_name!("p")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
            | local_name!("table")
            | local_name!("ul")
            | local_name!("ol")
            | local_name!("blockquote")
            | local_name!("hr") => {
                self.end_line();
                self.break_line();
            }
            local_name!("br") => self.break_line(),
            local_name!("div")
            | local_name!("tr")
            | local_name!("li")
            | local_name!("pre")
            | local_name!("section")
            | local_name!("article")
            | local_name!("header")
            | local_name!("footer") => self.end_line(),
            local_name!("td") | local_name!("th") => self.gap = true,
            _ => return,
        }
        match self.open.last_mut() {
            Some(link) => link.say(" "),
            None => self.end_link(),
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

    fn open_link(&mut self, node: &Node) {
        let is_joined = |link: &OpenLink| link.targets.len() < JOINED && link.words.len() < WORDS;
        let mut link = self.closed.take().filter(|link| self.open.is_empty() && is_joined(link)).unwrap_or_default();
        link.own = link.words.len();
        link.targets.extend(node.attribute(&local_name!("href")).cloned());
        self.open.push(link);
    }

    fn close_link(&mut self) {
        self.end_link();
        let Some(link) = self.open.pop() else { return };
        let words = &link.words[link.own..];
        let words = if words.trim().is_empty() { &link.pictures } else { words };
        self.links.add(link.targets.last(), words);
        self.closed = Some(link);
    }

    /// Judges links that followed each other without a gap by all their words: nothing more belongs to them.
    fn end_link(&mut self) {
        for (target, words) in self.closed.take().iter().filter(|link| link.own > 0).flat_map(OpenLink::joined) {
            self.links.add(Some(target), words);
        }
    }
}

impl OpenLink {
    fn joined(&self) -> impl Iterator<Item = (&StrTendril, &str)> {
        self.targets.iter().map(|target| (target, &*self.words))
    }

    fn say(&mut self, words: &str) {
        if self.words.len() < WORDS {
            self.words.push_str(words);
        }
    }
}

/// What HTML takes for white space. A no-break space is none.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

fn is_never_shown(name: &html5ever::LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("title")
            | local_name!("template")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("datalist")
    )
}

#[cfg(test)]
mod tests;
