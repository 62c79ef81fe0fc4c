//! Parses one Markdown file into what can be searched.
//!
//! Line by line: headings, tags and links are on one line each, and results refer to line numbers. Code is text here, never a heading, a tag
//! or a link. Absent: rendering.

use super::front_matter;
use crate::text::fold;

/// A note, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    pub title: String,
    pub aliases: Vec<String>,
    pub headings: Vec<String>,
    /// Folded, without `#`.
    pub tags: Vec<String>,
    pub links: Vec<Link>,
    /// `YYYY-MM-DD`, as the head says.
    pub created: Option<String>,
    /// The same.
    pub updated: Option<String>,
    /// The text below the head, and what the head says besides.
    pub body: String,
}

/// A link to another note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The name under which the other is meant, as [`name`] makes them.
    pub target: String,
    /// Counted from 1.
    pub line: usize,
}

/// Takes a note apart. `path` is where it lies, for links that are relative to it and for its title where it has none.
pub(super) fn parse(path: &str, text: &str) -> Parsed {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let head = front_matter::read(text);
    let mut parsed =
        Parsed { aliases: head.aliases, created: head.created, updated: head.updated, ..Parsed::default() };
    let mut tags: Vec<String> = head.tags.iter().map(|tag| fold(tag)).collect();
    let mut fence: Option<&str> = None;
    let mut before = "";
    for (at, line) in text.lines().enumerate().skip(head.lines) {
        parsed.body.push_str(line);
        parsed.body.push('\n');
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                if let Some(heading) = heading(trimmed).or_else(|| underlined(trimmed, before)) {
                    parsed.headings.push(heading.to_owned());
                }
                look_through(line, at + 1, path, &mut tags, &mut parsed.links);
            }
        }
        before = if fence.is_none() { trimmed } else { "" };
    }
    for said in head.rest {
        parsed.body.push_str(&said);
        parsed.body.push('\n');
    }
    tags.sort_unstable();
    tags.dedup();
    parsed.tags = tags;
    parsed.title = head.title.or_else(|| parsed.headings.first().cloned()).unwrap_or_else(|| stem(path).to_owned());
    parsed
}

/// The name by which a link means a note: folded, without the ending of a file.
pub(super) fn name(text: &str) -> String {
    let folded = fold(text.trim().trim_start_matches("./").trim_matches('/'));
    let bare = [".md", ".markdown", ".txt"].into_iter().find_map(|end| folded.strip_suffix(end));
    bare.map_or_else(|| folded.clone(), str::to_owned)
}

/// A file's name without folders and ending.
pub(super) fn stem(path: &str) -> &str {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !text.is_empty()).then_some(text)
}

/// A line over `===`. Over `---` it may as well be a paragraph before a rule.
fn underlined<'a>(line: &str, before: &'a str) -> Option<&'a str> {
    (line.len() >= 3 && line.bytes().all(|b| b == b'=') && !before.is_empty()).then_some(before)
}

/// Finds the tags and links of a line, outside code.
fn look_through(line: &str, number: usize, path: &str, tags: &mut Vec<String>, links: &mut Vec<Link>) {
    if !line.contains(['#', '[']) {
        return;
    }
    let mut before = ' ';
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '`' => after.split_once('`').map_or(after, |(_, after)| after),
            '[' => match wikilink(rest).or_else(|| plain_link(rest, path)) {
                Some((target, after)) => {
                    links.extend((!target.is_empty()).then_some(Link { target, line: number }));
                    after
                }
                None => after,
            },
            '#' if before.is_whitespace() || before == '(' => {
                let (tag, after) = tag(after);
                tags.extend(tag.map(fold));
                after
            }
            _ => after,
        };
        before = c;
    }
}

/// `[[path or title#heading|shown]]`, and what follows it.
fn wikilink(text: &str) -> Option<(String, &str)> {
    let (inner, after) = text.strip_prefix("[[")?.split_once("]]")?;
    let target = inner.split(['|', '#', '^']).next().unwrap_or("");
    Some((name(target.trim_end_matches('\\')), after))
}

/// `[shown](path.md)`, and what follows it. Links to anything but notes are passed over.
fn plain_link<'a>(text: &'a str, path: &str) -> Option<(String, &'a str)> {
    let (_, after) = text.split_once("](").filter(|(shown, _)| !shown.contains(']'))?;
    let (target, after) = after.split_once(')')?;
    let target = target.trim().trim_start_matches('<').trim_end_matches('>');
    let target = target.split('#').next().unwrap_or("");
    let is_note = [".md", ".markdown", ".txt"].iter().any(|end| target.to_ascii_lowercase().ends_with(end));
    (is_note && !target.contains("://")).then(|| (name(&resolved(&decoded(target), path)), after))
}

/// A path as seen from the folder of the note, as seen from the notes' own folder.
fn resolved(target: &str, path: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// `%20` and its like.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 3;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// A tag after its `#`, and what follows it. A number alone is none.
fn tag(text: &str) -> (Option<&str>, &str) {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/'))).unwrap_or(text.len());
    let (tag, after) = text.split_at(end);
    let tag = tag.trim_end_matches(['/', '-']);
    (tag.chars().any(char::is_alphabetic).then_some(tag), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_taken_apart() {
        let text = "---\ntags: [Home]\naliases: [Garten]\nupdated: 2026-01-02\n---\n# The garden\nSee [[Areas/Water plan|water]], \
                    #project/spring and [rent](../Areas/The%20rent.md#due).\n\nBeds\n====\n```\n# not a heading #nor-a-tag [[nor]]\n```\n\
                    `#code` is not #42 either\n";
        let parsed = parse("Projects/Garden.md", text);
        assert_eq!(parsed.title, "The garden");
        assert_eq!(parsed.headings, ["The garden", "Beds"]);
        assert_eq!(parsed.tags, ["home", "project/spring"]);
        assert_eq!(parsed.aliases, ["Garten"]);
        assert_eq!(parsed.updated.as_deref(), Some("2026-01-02"));
        let links: Vec<(&str, usize)> = parsed.links.iter().map(|link| (&*link.target, link.line)).collect();
        assert_eq!(links, [("areas/water plan", 7), ("areas/the rent", 7)]);
        assert!(parsed.body.contains("not a heading"), "code is still text");
    }

    #[test]
    fn a_title_is_said_or_the_first_heading_or_the_name_of_the_file() {
        assert_eq!(parse("a/B c.md", "---\ntitle: T\n---\n# H").title, "T");
        assert_eq!(parse("a/B c.md", "text\n## H ##\n").title, "H");
        assert_eq!(parse("a/B c.md", "#nospace\n#######  seven\n").title, "B c");
    }

    #[test]
    fn links_to_anything_but_notes_are_passed_over() {
        let links = |text: &str| parse("a/b.md", text).links.into_iter().map(|link| link.target).collect::<Vec<_>>();
        assert!(links("[x](https://e.example/a.md) ![p](p.png) [[#here]] [](").is_empty());
        assert_eq!(links("[[One]] [a] (b) [[Two\\|2]] [z](/top.md)"), ["one", "two", "top"]);
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        for text in ["[[", "]]", "[](", "#", "`", "```", "---", "[x](%", "[x](%é.md)", "\u{feff}---\n", "====", "#é#é"]
        {
            parse("", text);
        }
    }
}
