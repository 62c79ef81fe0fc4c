//! HTML parsed into a tree as browsers do it, within bounds that hostile mails cannot exceed.
//!
//! The parser's work for one tag grows with the number of open elements, and formatting elements that are never closed are
//! copied into each paragraph that follows. So a tree that grows too deep or too large is handed over as it is, and the rest of
//! the page is read into a new one; a link that is open there is opened again in the new tree. A tag with very many attributes is
//! skipped, because the parser compares each attribute with all before it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, EndTag, StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, TokenizerResult, local_name, ns};

/// Bytes of a page that are read.
const PAGE: usize = 1024 * 1024;
/// Bytes that the tokenizer is given at once.
const CHUNK: usize = 8 * 1024;
/// Characters that may separate attributes, in one tag.
const SEPARATORS: usize = 4 * 1024;
/// Nodes of one tree.
const NODES: usize = 8 * 1024;
/// Elements around one element.
const DEPTH: usize = 400;

/// Parses a page and hands over its trees, in the order of the page. Usually there is one.
pub(super) fn parse(html: &str, mut read: impl FnMut(&Tree)) {
    let mut rest = &html[..html.floor_char_boundary(PAGE)];
    while !rest.is_empty() {
        let tokenizer = Tokenizer::new(Trees::new(&mut read), TokenizerOpts::default());
        let end = feed(&tokenizer, rest);
        if end == rest.len() {
            tokenizer.end();
        }
        tokenizer.sink.hand_over();
        rest = &rest[end..];
    }
}

/// Gives the tokenizer a page. Says where it ended: behind the page, or behind a tag that is too much.
fn feed(tokenizer: &Tokenizer<Trees<'_>>, html: &str) -> usize {
    let input = BufferQueue::default();
    let (mut at, mut separators) = (0, 0);
    while at < html.len() {
        let end = html.floor_char_boundary(at + CHUNK);
        let chunk = &html[at..end];
        tokenizer.sink.has_token.set(false);
        input.push_back(StrTendril::from(chunk));
        // A script and a declared encoding interrupt it; neither is of interest.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        let is_separator = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'');
        separators = match tokenizer.sink.has_token.get() {
            true => 0,
            false => separators + chunk.bytes().filter(is_separator).count(),
        };
        at = end;
        if separators > SEPARATORS {
            return html[at..].find('>').map_or(html.len(), |end| at + end + 1);
        }
    }
    html.len()
}

/// A parsed page, or a part of one.
pub(super) struct Tree {
    nodes: Vec<Node>,
    is_full: bool,
}

pub(super) struct Node {
    pub kind: Kind,
    pub children: Vec<usize>,
    parent: Option<usize>,
    depth: usize,
}

pub(super) enum Kind {
    Document,
    Element(Element),
    Text(StrTendril),
    Comment(StrTendril),
}

pub(super) struct Element {
    pub name: Rc<QualName>,
    attributes: Vec<Attribute>,
    /// Whether HTML may stand inside, although this is an element of MathML.
    holds_html: bool,
}

impl Tree {
    /// The number of the document node.
    pub const ROOT: usize = 0;

    fn new() -> Self {
        let root = Node { kind: Kind::Document, children: Vec::new(), parent: None, depth: 0 };
        Self { nodes: vec![root], is_full: false }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, at: usize) -> &Node {
        &self.nodes[at]
    }

    fn add(&mut self, kind: Kind) -> usize {
        self.nodes.push(Node { kind, children: Vec::new(), parent: None, depth: 0 });
        self.is_full |= self.nodes.len() > NODES;
        self.nodes.len() - 1
    }

    /// Puts a node below another, before the child with a given place.
    fn insert(&mut self, parent: usize, place: usize, child: NodeOrText<Handle>) {
        let child = match child {
            NodeOrText::AppendNode(child) => {
                self.detach(child.at);
                child.at
            }
            NodeOrText::AppendText(text) => {
                let before = place.checked_sub(1).map(|place| self.nodes[parent].children[place]);
                if let Some(Kind::Text(before)) = before.map(|before| &mut self.nodes[before].kind) {
                    before.push_tendril(&text);
                    return;
                }
                self.add(Kind::Text(text))
            }
        };
        let depth = self.nodes[parent].depth + 1;
        self.is_full |= depth > DEPTH;
        (self.nodes[child].parent, self.nodes[child].depth) = (Some(parent), depth);
        let place = place.min(self.nodes[parent].children.len());
        self.nodes[parent].children.insert(place, child);
    }

    fn detach(&mut self, child: usize) {
        if let Some(parent) = self.nodes[child].parent.take() {
            self.nodes[parent].children.retain(|other| *other != child);
        }
    }

    /// The attributes of the link around the node that was made last.
    fn open_link(&self) -> Option<Vec<Attribute>> {
        let mut at = Some(self.nodes.len() - 1);
        while let Some(node) = at.map(|at| &self.nodes[at]) {
            match &node.kind {
                Kind::Element(element) if node.is_link() => return Some(element.attributes.clone()),
                _ => at = node.parent,
            }
        }
        None
    }
}

impl Node {
    /// The value of an attribute, whatever its namespace: a link of SVG may have its target in `xlink:href`.
    pub fn attribute(&self, name: &LocalName) -> Option<&StrTendril> {
        let Kind::Element(element) = &self.kind else { return None };
        let mut named = element.attributes.iter().filter(|attribute| attribute.name.local == *name);
        let first = named.next()?;
        // The attribute without a namespace counts where both are there.
        let own = std::iter::once(first).chain(named).find(|attribute| attribute.name.ns == ns!());
        Some(&own.unwrap_or(first).value)
    }

    pub fn is_link(&self) -> bool {
        matches!(&self.kind, Kind::Element(element)
            if element.name.local == local_name!("a") && matches!(element.name.ns, ns!(html) | ns!(svg)))
            && self.attribute(&local_name!("href")).is_some()
    }

    /// Whether the element hides what is in it, as far as it says so itself.
    pub fn is_hidden(&self) -> bool {
        let hides = |style: &StrTendril| {
            let style: String = style
                .chars()
                .filter(|character| !character.is_whitespace())
                .map(|character| character.to_ascii_lowercase())
                .collect();
            let is_zero =
                |rest: &str| !rest.starts_with(|character: char| character == '.' || character.is_ascii_digit());
            style.contains("display:none")
                || style.contains("visibility:hidden")
                || style.split("font-size:0").skip(1).any(is_zero)
        };
        self.attribute(&local_name!("hidden")).is_some() || self.attribute(&local_name!("style")).is_some_and(hides)
    }
}

type Builder = TreeBuilder<Handle, Sink>;

/// What stands between the tokenizer and the tree builder: begins a new tree where one is full.
struct Trees<'a> {
    builder: RefCell<Builder>,
    read: RefCell<&'a mut dyn FnMut(&Tree)>,
    /// Whether the tokenizer is inside an element of raw text, in which a tree cannot be left.
    is_raw: Cell<bool>,
    /// Whether a token came since this was last set back.
    has_token: Cell<bool>,
}

impl<'a> Trees<'a> {
    fn new(read: &'a mut dyn FnMut(&Tree)) -> Self {
        Self {
            builder: RefCell::new(builder()),
            read: RefCell::new(read),
            is_raw: Cell::new(false),
            has_token: Cell::new(false),
        }
    }

    /// Hands the present tree over and begins a new one.
    fn hand_over(&self) {
        let full = self.builder.replace(builder());
        let _ = full.process_token(Token::EOFToken, 0);
        let tree = full.sink.0.into_inner();
        (self.read.borrow_mut())(&tree);
        if let Some(attrs) = tree.open_link() {
            let link = Tag {
                kind: StartTag,
                name: local_name!("a"),
                self_closing: false,
                attrs,
                had_duplicate_attributes: false,
            };
            let _ = self.builder.borrow().process_token(Token::TagToken(link), 0);
        }
    }
}

fn builder() -> Builder {
    let options = TreeBuilderOpts { scripting_enabled: false, drop_doctype: true, ..TreeBuilderOpts::default() };
    TreeBuilder::new(Sink(RefCell::new(Tree::new())), options)
}

impl TokenSink for Trees<'_> {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.has_token.set(true);
        if matches!(&token, Token::TagToken(tag) if tag.kind == EndTag) {
            self.is_raw.set(false);
        }
        let result = self.builder.borrow().process_token(token, line);
        if matches!(result, TokenSinkResult::RawData(_) | TokenSinkResult::Plaintext) {
            self.is_raw.set(true);
        }
        let is_full = self.builder.borrow().sink.0.borrow().is_full;
        if is_full && !self.is_raw.get() {
            self.hand_over();
        }
        result
    }

    fn end(&self) {
        self.builder.borrow().end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.borrow().adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// A node as the tree builder knows it.
#[derive(Clone)]
struct Handle {
    at: usize,
    name: Rc<QualName>,
}

/// What the tree builder writes to.
struct Sink(RefCell<Tree>);

impl Sink {
    fn add(&self, kind: Kind) -> Handle {
        let name = match &kind {
            Kind::Element(element) => element.name.clone(),
            _ => Rc::new(QualName::new(None, ns!(), local_name!(""))),
        };
        Handle { at: self.0.borrow_mut().add(kind), name }
    }
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = html5ever::ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: std::borrow::Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { at: Tree::ROOT, name: Rc::new(QualName::new(None, ns!(), local_name!(""))) }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> html5ever::ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Handle {
        let holds_html = flags.mathml_annotation_xml_integration_point;
        self.add(Kind::Element(Element { name: Rc::new(name), attributes, holds_html }))
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.add(Kind::Comment(text))
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> Handle {
        self.add(Kind::Comment(data))
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let mut tree = self.0.borrow_mut();
        let place = tree.nodes[parent.at].children.len();
        tree.insert(parent.at, place, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, before: &Handle, child: NodeOrText<Handle>) {
        let has_parent = self.0.borrow().nodes[element.at].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(before, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The contents stand below the template itself: they are never read.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.at == other.at
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let mut tree = self.0.borrow_mut();
        if let NodeOrText::AppendNode(child) = &child {
            tree.detach(child.at);
        }
        let Some(parent) = tree.nodes[sibling.at].parent else { return };
        let place = tree.nodes[parent].children.iter().position(|other| *other == sibling.at).unwrap_or_default();
        tree.insert(parent, place, child);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        if let Kind::Element(element) = &mut self.0.borrow_mut().nodes[target.at].kind {
            for attribute in attributes {
                if element.attributes.iter().all(|own| own.name != attribute.name) {
                    element.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.0.borrow_mut().detach(target.at);
    }

    fn reparent_children(&self, node: &Handle, parent: &Handle) {
        let mut tree = self.0.borrow_mut();
        let children = std::mem::take(&mut tree.nodes[node.at].children);
        for child in children {
            tree.nodes[child].parent = Some(parent.at);
            tree.nodes[parent.at].children.push(child);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Handle) -> bool {
        matches!(&self.0.borrow().nodes[target.at].kind, Kind::Element(element) if element.holds_html)
    }

    fn allow_declarative_shadow_roots(&self, _: &Handle) -> bool {
        false
    }
}
