//! The head of an agent's file: flat YAML between two lines of three dashes, read tolerantly.
//!
//! Known here: scalars (plain, quoted, over several lines), lists (inline and one item a line), comments. Anything deeper
//! is kept as [`Value::Other`], so that a file written for another product can be read for the keys that matter.
//! Deliberately absent: anchors, tags, types. Every scalar is text, `1.0` and `no` included.

/// A file in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split<'a> {
    pub(super) fields: Vec<Field>,
    pub(super) body: &'a str,
}

/// One key of the head.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) key: String,
    pub(super) value: Value,
    /// Counted from 1, in the whole file.
    pub(super) line: usize,
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<String>),
    /// Something deeper than a list of scalars.
    Other,
}

/// Takes a file apart, or says in a sentence what is wrong with it. The sentence repeats nothing but keys.
pub(super) fn split(text: &str) -> Result<Split<'_>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = Lines { rest: text, number: 0 };
    if lines.next().is_none_or(|(_, line)| line != "---") {
        return Err("line 1: a file begins with front matter, between two lines of three dashes".to_owned());
    }
    let mut chunks: Vec<Chunk<'_>> = Vec::new();
    loop {
        let Some((number, line)) = lines.next() else {
            return Err("the front matter does not end: a line of exactly three dashes is missing".to_owned());
        };
        if line == "---" {
            break;
        }
        let is_below = line.starts_with([' ', '\t', '-']);
        match chunks.last_mut() {
            _ if line.trim().is_empty() || line.starts_with('#') => {}
            Some(chunk) if is_below => chunk.below.push(line),
            _ => chunks.push(Chunk::begin(number, line)?),
        }
    }
    let mut fields = Vec::<Field>::new();
    for chunk in chunks {
        let Chunk { line, key, .. } = chunk;
        if fields.iter().any(|field| field.key == key) {
            return Err(format!("line {line}: {key} is said twice"));
        }
        let value = chunk.value().map_err(|why| format!("line {line}: {key} {why}"))?;
        fields.push(Field { key: key.to_owned(), value, line });
    }
    Ok(Split { fields, body: lines.rest.trim() })
}

/// A key with the lines that belong to it.
struct Chunk<'a> {
    line: usize,
    key: &'a str,
    head: &'a str,
    below: Vec<&'a str>,
}

impl<'a> Chunk<'a> {
    fn begin(line: usize, text: &'a str) -> Result<Self, String> {
        let (key, head) = text
            .split_once(": ")
            .or_else(|| text.trim_end().strip_suffix(':').map(|key| (key, "")))
            .ok_or_else(|| format!("line {line}: write it as key: value"))?;
        Ok(Self { line, key: unquoted_key(key.trim()), head: head.trim(), below: Vec::new() })
    }

    fn value(&self) -> Result<Value, String> {
        let below: Vec<&str> = self.below.iter().map(|line| line.trim()).collect();
        let head = match self.head.chars().next() {
            Some('#') => "",
            _ => self.head,
        };
        match head.chars().next() {
            None if below.iter().all(|line| *line == "-" || line.starts_with("- ")) => list(&below),
            None => Ok(Value::Other),
            Some('|') => Ok(Value::Text(below.join("\n"))),
            Some('>') => Ok(Value::Text(below.join(" "))),
            Some('{' | '&' | '*' | '!') if !head.starts_with("**") => Ok(Value::Other),
            Some('[') => inline_list(&whole(head, &below)),
            Some(_) => scalar(&whole(head, &below)).map(Value::Text),
        }
    }
}

/// One item a line. An item that is a map of its own makes the whole list deeper than we read.
fn list(lines: &[&str]) -> Result<Value, String> {
    let mut items = Vec::new();
    for line in lines {
        let item = line[1..].trim();
        if item.starts_with(['{', '[']) {
            return Ok(Value::Other);
        }
        items.push(scalar(item)?);
    }
    Ok(Value::List(items))
}

fn inline_list(text: &str) -> Result<Value, String> {
    let inner = uncommented(text).trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = inner.ok_or("has a list without its closing bracket")?;
    if inner.contains(['[', '{']) {
        return Ok(Value::Other);
    }
    let mut items = Vec::new();
    for item in outside_quotes(inner, ',') {
        if !item.trim().is_empty() {
            items.push(scalar(item.trim())?);
        }
    }
    Ok(Value::List(items))
}

fn scalar(text: &str) -> Result<String, String> {
    let unclosed = || "has a text without its closing quote".to_owned();
    let text = uncommented(text).trim();
    match text.chars().next() {
        Some('\'') => {
            let inner = text[1..].strip_suffix('\'').ok_or_else(unclosed)?;
            Ok(inner.replace("''", "'"))
        }
        Some('"') => {
            let inner = text[1..].strip_suffix('"').ok_or_else(unclosed)?;
            Ok(unescaped(inner))
        }
        _ => Ok(text.to_owned()),
    }
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some(other) => plain.push(other),
                None => plain.push('\\'),
            },
            (c, false) => plain.push(c),
        }
    }
    plain
}

fn unquoted_key(key: &str) -> &str {
    let inner = |quote: char| key.strip_prefix(quote).and_then(|key| key.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(key)
}

/// A head and the lines that continue it.
fn whole(head: &str, below: &[&str]) -> String {
    std::iter::once(head).chain(below.iter().copied()).collect::<Vec<_>>().join(" ")
}

/// The text before a comment: a `#` after a blank, outside quotes.
fn uncommented(text: &str) -> &str {
    let mut quotes = Quotes::default();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if !quotes.see(c, before) && c == '#' && before.is_whitespace() {
            return &text[..at];
        }
        before = c;
    }
    text
}

/// The pieces between separators that stand outside quotes.
fn outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let mut quotes = Quotes::default();
    let (mut pieces, mut from, mut before) = (Vec::new(), 0, separator);
    for (at, c) in text.char_indices() {
        if !quotes.see(c, before) && c == separator {
            pieces.push(&text[from..at]);
            from = at + c.len_utf8();
        }
        before = c;
    }
    pieces.push(&text[from..]);
    pieces
}

/// Whether a reader stands inside quotes. A quote opens only where a scalar begins, so that `don't` holds none.
#[derive(Default)]
struct Quotes {
    open: Option<char>,
    escaped: bool,
}

impl Quotes {
    fn see(&mut self, c: char, before: char) -> bool {
        match self.open {
            Some(quote) => {
                let closes = c == quote && !self.escaped;
                self.escaped = c == '\\' && quote == '"' && !self.escaped;
                if closes {
                    self.open = None;
                }
                true
            }
            None => {
                let begins = before.is_whitespace() || before == ',' || before == '[';
                if begins && (c == '"' || c == '\'') {
                    self.open = Some(c);
                }
                self.open.is_some()
            }
        }
    }
}

/// Lines without their ends, LF or CRLF, and what is left after them.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.number += 1;
        Some((self.number, line.strip_suffix('\r').unwrap_or(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Value {
        let text = format!("---\n{text}\n---\nbody");
        split(&text).expect("valid").fields.remove(0).value
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    #[test]
    fn scalars_are_text_whatever_they_look_like() {
        assert_eq!(field("name: 007"), text("007"));
        assert_eq!(field("name: no"), text("no"));
        assert_eq!(field("name: \"a \\\"b\\\" # c\""), text("a \"b\" # c"));
        assert_eq!(field("name: 'it''s'  # said"), text("it's"));
        assert_eq!(field("name: don't # say"), text("don't"));
        assert_eq!(field("\"name\": x"), text("x"));
    }

    #[test]
    fn a_value_may_hold_colons_and_dashes() {
        assert_eq!(
            field("description: Use when: something is --- unclear"),
            text("Use when: something is --- unclear")
        );
        assert_eq!(field("model: ollama/llama3:8b"), text("ollama/llama3:8b"));
    }

    #[test]
    fn a_text_may_go_over_several_lines() {
        assert_eq!(field("description: one\n  two"), text("one two"));
        assert_eq!(field("description: >-\n  one\n  two"), text("one two"));
        assert_eq!(field("description: |\n  one\n  two"), text("one\ntwo"));
    }

    #[test]
    fn lists_are_read_inline_and_one_item_a_line() {
        assert_eq!(
            field("tools: [read_file, \"list_dir\", 'a, b']  # three"),
            list(&["read_file", "list_dir", "a, b"])
        );
        assert_eq!(field("tools: [\n  read_file,\n  list_dir,\n  ]"), list(&["read_file", "list_dir"]));
        assert_eq!(field("tools:\n  - read_file # first\n  - 'list_dir'"), list(&["read_file", "list_dir"]));
        assert_eq!(field("tools:\n- read_file"), list(&["read_file"]));
        assert_eq!(field("tools: []"), list(&[]));
        assert_eq!(field("tools:"), list(&[]));
    }

    #[test]
    fn what_is_deeper_is_kept_apart_and_hides_nothing_after_it() {
        let file = "---\nhooks:\n  Stop:\n    - command: x\nmcp: {a: b}\nname: n\n---\nbody";
        let fields = split(file).expect("valid").fields;
        assert_eq!(
            fields.iter().map(|field| &field.value).collect::<Vec<_>>(),
            [&Value::Other, &Value::Other, &text("n")]
        );
        assert_eq!(fields[2].line, 6);
    }

    #[test]
    fn the_head_ends_only_at_a_line_of_exactly_three_dashes() {
        let file = "---\nname: a --- b\n  ---- \n---\n\nbody\n---\nmore\n";
        let split = split(file).expect("valid");
        assert_eq!(split.fields[0].value, text("a --- b ----"));
        assert_eq!(split.body, "body\n---\nmore");
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_change_nothing() {
        let unix = "---\nname: a\ntools:\n  - b\n---\nbody";
        let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
        assert_eq!(split(&windows), split(unix));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_without_the_text_itself() {
        let why = |text: &str| split(text).expect_err("invalid");
        assert!(why("name: a").starts_with("line 1: a file begins with front matter"));
        assert!(why("---\nname: a\n----\n").contains("three dashes is missing"));
        assert_eq!(why("---\nsecret-token\n---\n"), "line 2: write it as key: value");
        assert_eq!(why("---\nname: a\nname: b\n---\n"), "line 3: name is said twice");
        assert_eq!(why("---\nname: \"a\n---\n"), "line 2: name has a text without its closing quote");
        assert_eq!(why("---\ntools: [a\n---\n"), "line 2: tools has a list without its closing bracket");
        assert!(why("").starts_with("line 1"));
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        for file in [
            "---",
            "---\n-",
            "---\n- x\n---",
            "---\na: '\n---",
            "---\na: \"\\\n---",
            "---\na: [\n---",
            "---\n: x\n---",
            "---\né: é#é # é\n---",
        ] {
            let _ = split(file);
        }
    }
}
