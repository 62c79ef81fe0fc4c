//! Here-documents, taken out of a command before the parser sees it.
//!
//! The parser may need endless time and memory for a text in which `<<` stands, if the document has no end or begins
//! inside something else. So each document is replaced by a here-string (`<<<`) that has the same effect on a verdict, and
//! no other `<<` reaches the parser. A text in which this scanner cannot say for certain where a document begins and ends
//! is not read at all.

use std::borrow::Cow;

const UNCERTAIN: &str = "it holds a here-document that cannot be read with confidence";

/// The command with here-strings in place of its here-documents, or why it cannot be read.
pub(crate) fn replaced(command: &str) -> Result<Cow<'_, str>, &'static str> {
    if has_broken_operator(command) {
        return Err(UNCERTAIN);
    }
    if !command.contains("<<") {
        return Ok(Cow::Borrowed(command));
    }
    let mut scanner = Scanner { rest: command, text: String::new(), within: Vec::new(), pending: Vec::new() };
    scanner.scan().ok_or(UNCERTAIN)?;
    let text = scanner.text;
    // What the scanner promises the parser, looked at once more in what it wrote.
    let is_left = text.contains("\\<") || runs(&text).any(|run| run == 2 || run > 3) || has_broken_operator(&text);
    if is_left { Err(UNCERTAIN) } else { Ok(Cow::Owned(text)) }
}

/// Whether two `<` are separated only by what a shell removes: a backslash before the end of a line.
fn has_broken_operator(text: &str) -> bool {
    let last = text.matches('<').count();
    let between = text.split('<').take(last).skip(1);
    between.into_iter().any(|part| !part.is_empty() && part.chars().all(|c| matches!(c, '\\' | '\n' | '\r')))
}

/// The lengths of all runs of `<`.
fn runs(text: &str) -> impl Iterator<Item = usize> {
    text.split(|c| c != '<').map(str::len)
}

/// Where the scanner is, inside the plain text of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// `(`, `$(`, `<(` or `>(`.
    Brackets,
    /// `"`.
    Quotes,
}

/// A document whose operator was seen and whose lines are still to come.
struct Pending {
    /// Where in the new text its contents go.
    at: usize,
    /// The line that ends it.
    end: String,
    /// Whether tabs at the beginning of lines are removed (`<<-`).
    is_indented: bool,
    /// Whether variables and substitutions in it are expanded.
    is_expanded: bool,
}

struct Scanner<'a> {
    rest: &'a str,
    text: String,
    within: Vec<Within>,
    pending: Vec<Pending>,
}

impl Scanner<'_> {
    /// Reads to the end; none where something is not certain.
    fn scan(&mut self) -> Option<()> {
        let mut begins_word = true;
        while let Some(c) = self.rest.chars().next() {
            let was_begin = std::mem::replace(&mut begins_word, false);
            if self.within.last() == Some(&Within::Quotes) {
                self.in_quotes(c)?;
                continue;
            }
            match c {
                '\\' => self.escaped()?,
                '\'' => self.single_quotes()?,
                '"' => self.open(1, Within::Quotes),
                '$' => self.dollar()?,
                '`' => return None,
                '(' if self.rest.starts_with("((") => return None,
                '(' => {
                    self.open(1, Within::Brackets);
                    begins_word = true;
                }
                ')' => {
                    self.close(Within::Brackets)?;
                    begins_word = true;
                }
                '#' if was_begin => self.comment()?,
                // In the subscript of an assignment `<<` is a sum, and no document follows.
                '[' if !was_begin => return None,
                '<' => self.operator()?,
                '\n' => {
                    self.copy(1);
                    self.documents()?;
                    begins_word = true;
                }
                _ => {
                    self.copy(c.len_utf8());
                    begins_word = matches!(c, ' ' | '\t' | ';' | '&' | '|');
                }
            }
        }
        (self.within.is_empty() && self.pending.is_empty()).then_some(())
    }

    /// One character between double quotes.
    fn in_quotes(&mut self, c: char) -> Option<()> {
        match c {
            '\\' => self.escaped()?,
            '"' => self.close(Within::Quotes)?,
            '$' => self.dollar()?,
            '`' => return None,
            // Closing and opening the quotes again changes nothing, and parts the two.
            '<' => {
                self.copy(1);
                if self.rest.starts_with('<') {
                    self.text.push_str("\"\"");
                }
            }
            '\n' if !self.pending.is_empty() => return None,
            _ => self.copy(c.len_utf8()),
        }
        Some(())
    }

    fn copy(&mut self, bytes: usize) {
        let (head, rest) = self.rest.split_at(bytes);
        self.text.push_str(head);
        self.rest = rest;
    }

    fn open(&mut self, bytes: usize, within: Within) {
        self.copy(bytes);
        self.within.push(within);
    }

    /// Lines of a document begin where the line of its operator ends, so it cannot be left open when something is closed.
    fn close(&mut self, within: Within) -> Option<()> {
        let is_open = self.within.pop()? == within && (within == Within::Quotes || self.pending.is_empty());
        self.copy(1);
        is_open.then_some(())
    }

    fn escaped(&mut self) -> Option<()> {
        let next = self.rest.chars().nth(1)?;
        if next == '<' || next == '\n' && !self.pending.is_empty() {
            return None;
        }
        self.copy(1 + next.len_utf8());
        Some(())
    }

    fn single_quotes(&mut self) -> Option<()> {
        let end = self.rest[1..].find('\'')? + 1;
        let quoted = &self.rest[..=end];
        if quoted.contains('\n') && !self.pending.is_empty() {
            return None;
        }
        let mut parts = quoted.split('<');
        self.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            self.text.push('<');
            if part.is_empty() {
                self.text.push_str("''");
            }
            self.text.push_str(part);
        }
        self.rest = &self.rest[end + 1..];
        Some(())
    }

    fn dollar(&mut self) -> Option<()> {
        if self.rest.starts_with("$((") || self.rest.starts_with("$'") || self.rest.starts_with("$[") {
            return None;
        }
        if self.rest.starts_with("$(") {
            if !self.pending.is_empty() {
                return None;
            }
            self.open(2, Within::Brackets);
        } else if let Some(named) = self.rest.strip_prefix("${") {
            let (name, _) = named.split_once('}')?;
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return None;
            }
            self.copy(name.len() + 3);
        } else {
            self.copy(1);
        }
        Some(())
    }

    fn comment(&mut self) -> Option<()> {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        if self.rest[..end].contains("<<") {
            return None;
        }
        self.copy(end);
        Some(())
    }

    /// `<`, `<<<`, or the beginning of a document.
    fn operator(&mut self) -> Option<()> {
        let run = self.rest.len() - self.rest.trim_start_matches('<').len();
        if run != 2 {
            self.copy(run);
            return matches!(run, 1 | 3).then_some(());
        }
        let after = &self.rest[2..];
        let (is_indented, after) = after.strip_prefix('-').map_or((false, after), |after| (true, after));
        let after = after.trim_start_matches([' ', '\t']);
        let (is_expanded, end, after) = match after.chars().next()? {
            quote @ ('\'' | '"') => {
                let (end, after) = after[1..].split_once(quote)?;
                (false, end, after)
            }
            first => {
                let after = after.strip_prefix('\\').unwrap_or(after);
                let (end, after) = after.split_at(after.find(|c| !is_plain(c)).unwrap_or(after.len()));
                (first != '\\', end, after)
            }
        };
        let ends_there = after.is_empty() || after.starts_with([' ', '\t', '\n', ';', '|', '&', ')', '>', '<']);
        if end.is_empty() || !end.chars().all(is_plain) || !ends_there {
            return None;
        }
        self.text.push_str("<<< ");
        self.pending.push(Pending { at: self.text.len(), end: end.to_owned(), is_indented, is_expanded });
        self.rest = after;
        Some(())
    }

    /// The lines of the documents that were announced on the line before.
    fn documents(&mut self) -> Option<()> {
        // The text grows from its end, so that the earlier places stay.
        let mut contents = Vec::new();
        for document in std::mem::take(&mut self.pending) {
            let mut body = Vec::new();
            loop {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                let is_last = line.len() == self.rest.len();
                self.rest = rest;
                let line = if document.is_indented { line.trim_start_matches('\t') } else { line };
                if line == document.end {
                    break;
                }
                // A line that is continued, or that begins like the end, is not the end for every version of the shell.
                let is_joined = document.is_expanded && line.ends_with('\\');
                if is_last || is_joined || line.trim_start().starts_with(&document.end) {
                    return None;
                }
                body.push(line);
            }
            let here_string = if document.is_expanded { expanded(&body.join("\n")) } else { "''".to_owned() };
            contents.push((document.at, here_string));
        }
        contents.iter().rev().for_each(|(at, here_string)| self.text.insert_str(*at, here_string));
        Some(())
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A word that expands what a document expands: its variables, and an unknown command where it holds anything more.
fn expanded(body: &str) -> String {
    let mut word = String::from("\"");
    for after in body.split('$').skip(1) {
        let name = &after[..after.find(|c| !is_plain(c)).unwrap_or(after.len())];
        if !name.is_empty() {
            word.push_str("${");
            word.push_str(name);
            word.push('}');
        }
    }
    if body.contains('`') || ["$(", "${", "$["].iter().any(|opening| body.contains(opening)) {
        word.push_str("$($_)");
    }
    word.push('"');
    word
}
