//! The head of a note: `key: value` lines between two lines of three dashes, as note programs write them.
//!
//! Read for a handful of keys and without complaint: a head that is broken, or does not end, is text like any other.
//! Deliberately absent: YAML. Nested values are passed over.

/// A note's head, as far as it says something that is used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub title: Option<String>,
    pub aliases: Vec<String>,
    pub tags: Vec<String>,
    /// The first ten characters of a date of birth.
    pub created: Option<String>,
    /// The same of the last change.
    pub updated: Option<String>,
    /// What other keys say, to be found like the text.
    pub rest: Vec<String>,
    /// How many lines it takes, its dashes included.
    pub lines: usize,
}

/// Reads a note's head; one without any has an empty one.
pub(super) fn read(text: &str) -> Head {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Head::default();
    }
    let lines: Vec<&str> = lines.take(MAX_LINES).map(str::trim_end).collect();
    let Some(end) = lines.iter().position(|line| *line == "---" || *line == "...") else { return Head::default() };
    let mut head = Head { lines: end + 2, ..Head::default() };
    let mut at = 0;
    while at < end {
        let line = lines[at];
        at += 1;
        let Some((key, value)) = line.split_once(':') else { continue };
        if key.starts_with([' ', '\t', '-', '#']) {
            continue;
        }
        let mut values = scalars(value);
        while at < end && (lines[at].starts_with([' ', '\t', '-']) || lines[at].is_empty()) {
            let below = lines[at].trim();
            values.extend(scalars(below.strip_prefix('-').unwrap_or(below)));
            at += 1;
        }
        head.take(&key.trim().to_lowercase(), values);
    }
    head
}

/// The longest head that is looked for.
const MAX_LINES: usize = 200;

impl Head {
    fn take(&mut self, key: &str, values: Vec<String>) {
        let date = |values: &[String]| values.first().and_then(|value| value.get(..10)).map(str::to_owned);
        match key {
            "title" => self.title = Some(values.join(", ")).filter(|title| !title.is_empty()),
            "aliases" | "alias" => self.aliases = values,
            "tags" | "tag" | "keywords" => {
                let tags = values.iter().flat_map(|value| value.split([',', ' ']));
                let tags = tags.map(|tag| tag.trim_start_matches('#')).filter(|tag| !tag.is_empty());
                self.tags = tags.map(str::to_owned).collect();
            }
            "created" | "date" => self.created = date(&values),
            "updated" | "modified" | "lastmod" => self.updated = date(&values),
            _ => self.rest.extend(values),
        }
    }
}

/// One value, or those of a list in brackets, without quotes.
fn scalars(text: &str) -> Vec<String> {
    let text = text.trim();
    let list = text.strip_prefix('[').filter(|list| !list.starts_with('[')).and_then(|list| list.strip_suffix(']'));
    let unquoted = |item: &str| {
        let item = item.trim();
        let inner = |quote| item.strip_prefix(quote).and_then(|item: &str| item.strip_suffix(quote));
        inner('"').or_else(|| inner('\'')).unwrap_or(item).to_owned()
    };
    let items: Vec<String> = list.map_or_else(|| vec![unquoted(text)], |list| list.split(',').map(unquoted).collect());
    items.into_iter().filter(|item| !item.is_empty() && item != "|" && item != ">").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_matter_are_read_however_they_are_written() {
        let head = read(
            "---\ntitle: \"Rent: 2026\"\ntags: [home, '#money']\naliases:\n  - Miete\n- \"Loyer\"\ncreated: 2025-12-01T10:00\n\
             client: Aster\n---\n# Text\n",
        );
        assert_eq!(head.title.as_deref(), Some("Rent: 2026"));
        assert_eq!(head.tags, ["home", "money"]);
        assert_eq!(head.aliases, ["Miete", "Loyer"]);
        assert_eq!(head.created.as_deref(), Some("2025-12-01"));
        assert_eq!((&*head.rest, head.lines), (&["Aster".to_owned()][..], 9));
    }

    #[test]
    fn a_note_without_a_head_or_with_a_broken_one_is_text() {
        for text in ["", "# Title\n", "---\ntitle: open\n", "--- \nno", "----\na: b\n---\n"] {
            assert_eq!(read(text), Head::default(), "{text:?}");
        }
        let odd = read("---\n: x\n- a\n  b: c\nkey\ntags: #a, b\ndate: é\n---\n");
        assert_eq!((odd.tags.len(), odd.created), (2, None));
    }
}
