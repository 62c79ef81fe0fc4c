//! The head of an agent's file: YAML between two lines of three dashes, read with limits, for a file may come from a stranger.
//!
//! Files of other products are read for the keys that matter: unknown keys may hold anything. Every scalar is text, `1.0` and
//! `no` included. A text with a colon in it (`description: Use when: asked`), or one that begins with a character that YAML
//! reserves, is no YAML; such files are common, so that a head that cannot be read is read once more with its plain texts
//! in quotes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::MergeKeyPolicy;
use serde_saphyr::{Error, Options, Spanned};

/// Keys that hold a text.
const TEXTS: [&str; 6] = ["name", "description", "model", "mode", "preset", "effort"];
/// All keys that have a meaning.
pub(crate) const KEYS: [&str; 10] =
    ["name", "description", "model", "effort", "tools", "mcp_servers", "lends", "requires", "mode", "preset"];
/// The most bytes that a file without a body can have: its prompt is one of its values.
const MAX_DOCUMENT_BYTES: usize = 512 * 1024;

/// The most bytes that a head can have.
const MAX_BYTES: usize = 32 * 1024;

/// A file in its two parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Split<'a> {
    pub(crate) fields: Vec<Field>,
    pub(crate) body: &'a str,
}

/// One key of the head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: Value,
    /// Counted from 1, in the whole file.
    pub(crate) line: usize,
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    /// A key with nothing after it.
    Nothing,
}

impl Value {
    /// The text of a scalar.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.trim()),
            _ => None,
        }
    }

    /// The texts of a list, or of one text with commas; none where it holds anything else.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::Text(text) => Some(split_at_commas(text)),
            Self::List(items) => items.iter().map(|item| item.as_text().map(str::to_owned)).collect(),
            Self::Nothing => Some(Vec::new()),
            Self::Map(_) => None,
        }
    }

    /// A value of a map.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// Names with commas between them; a comma in parentheses, as in `Agent(a, b)`, is part of a name.
fn split_at_commas(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Takes a file apart, or says in a sentence what is wrong with it. The sentence repeats nothing but keys.
pub(crate) fn split(text: &str) -> Result<Split<'_>, String> {
    let (head, body) = parts(text)?;
    Ok(Split { fields: fields(&head, MAX_BYTES, Texts::Expected)?, body: body.trim() })
}

/// The same for the file of another product, in which any key may hold anything.
pub(crate) fn split_foreign(text: &str) -> Result<Split<'_>, String> {
    let (head, body) = parts(text)?;
    let fields = fields(&head, MAX_BYTES, Texts::Expected).or_else(|_| fields(&head, MAX_BYTES, Texts::Any))?;
    Ok(Split { fields, body: body.trim() })
}

/// The keys of a file that is YAML, or JSON, as a whole.
pub(crate) fn document(text: &str) -> Result<Vec<Field>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.strip_prefix("---\n").unwrap_or(text).replace('\r', "");
    fields(&text, MAX_DOCUMENT_BYTES, Texts::Any)
}

/// Whether keys that hold a text here must hold one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    Expected,
    Any,
}

fn fields(head: &str, most: usize, texts: Texts) -> Result<Vec<Field>, String> {
    if head.len() > most {
        return Err(format!("the front matter is longer than {} KiB: shorten it", most / 1024));
    }
    let read = |head: &str| match texts {
        Texts::Expected => parse::<Fields>(head).map(|fields| fields.0),
        Texts::Any => parse::<Anything>(head).map(|fields| fields.0.0),
    };
    // Nearly every head is right. Only for one that is not, its keys are looked at alone, to say which of them is wrong.
    if let Ok(fields) = read(head) {
        return Ok(fields);
    }
    let quoted_head;
    let (head, keys) = match parse::<Keys>(head) {
        Ok(keys) => (head, keys),
        Err(error) => {
            quoted_head = quoted(head);
            let keys = parse::<Keys>(&quoted_head).map_err(|_| syntax(&error))?;
            (quoted_head.as_str(), keys)
        }
    };
    read(head).map_err(|error| {
        let at = line(&error);
        match keys.0.iter().rev().find(|(_, line)| *line <= at) {
            Some((key, line)) if TEXTS.contains(&key.as_str()) => format!("line {line}: {key} expects a text"),
            _ => syntax(&error),
        }
    })
}

/// The lines between the dashes, and what is below them.
fn parts(text: &str) -> Result<(String, &str), String> {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut next_line = || {
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        let is_over = rest.is_empty();
        rest = below;
        (!is_over).then(|| (line.strip_suffix('\r').unwrap_or(line), below))
    };
    if next_line().is_none_or(|(line, _)| line != "---") {
        return Err("line 1: a file begins with front matter, between two lines of three dashes".to_owned());
    }
    let mut head = String::new();
    while let Some((line, below)) = next_line() {
        if line == "---" {
            head.truncate(head.trim_end().len());
            return Ok((head, below));
        }
        // YAML allows no control characters. They are kept as visible escapes, as they would be shown to a person.
        for c in line.chars() {
            if c.is_control() && c != '\t' { head.extend(c.escape_unicode()) } else { head.push(c) }
        }
        head.push('\n');
    }
    Err("the front matter does not end: a line of exactly three dashes is missing".to_owned())
}

/// Reads YAML with limits that no honest head reaches.
fn parse<T: for<'de> Deserialize<'de>>(head: &str) -> Result<T, Error> {
    let options: Options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 16,
            flow_nesting_limit: 16,
            max_nodes: 2_000,
            max_events: 6_000,
            max_anchors: 16,
            max_aliases: 16,
            max_recorded_anchor_events: 2_000,
            max_recorded_anchor_bytes: MAX_BYTES,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 2_000,
            max_replay_stack_depth: 4,
        },
        merge_keys: MergeKeyPolicy::AsOrdinary,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(head, options)
}

/// The line of the file on which an error was found.
fn line(error: &Error) -> usize {
    error.location().and_then(|place| usize::try_from(place.line()).ok()).map_or(1, in_file)
}

/// The head begins on the second line of its file.
fn in_file(line: usize) -> usize {
    line + 1
}

/// A sentence about a head that is no YAML with keys and values, without the text itself.
fn syntax(error: &Error) -> String {
    let line = line(error);
    match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("line {line}: {key} is given twice"),
        Error::ExternalMessage { msg, .. } if msg.contains("quote") => {
            format!("line {line}: a text has no closing quote")
        }
        Error::ExternalMessage { msg, .. } if msg.contains("bracket") => {
            format!("line {line}: a list has no closing bracket")
        }
        Error::ExternalMessage { .. } => {
            format!("line {line}: this is not valid YAML; put a text with special characters in quotes")
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            format!("line {line}: the front matter is too deep, too long or has too many aliases: simplify it")
        }
        _ => format!("line {line}: write it as key: value"),
    }
}

/// The same head, line by line, with the plain texts of its keys in quotes and without tabs before a line's text.
fn quoted(head: &str) -> String {
    let is_below = |line: &str| line.trim().is_empty() || line.starts_with([' ', '\t', '-', '#']);
    let mut lines = head.lines().peekable();
    let mut quoted = String::new();
    while let Some(line) = lines.next() {
        let mut below = Vec::new();
        while let Some(line) = lines.next_if(|line| is_below(line)) {
            below.push(line);
        }
        match line.split_once(": ") {
            Some((key, text)) if !line.starts_with('#') && is_plain(text.trim()) => {
                let lines = std::iter::once(text).chain(below.iter().copied());
                let words: Vec<&str> =
                    lines.map(|line| uncommented(line).trim()).filter(|line| !line.is_empty()).collect();
                quoted.push_str(&format!("{key}: '{}'\n", words.join(" ").replace('\'', "''")));
                quoted.extend(below.iter().map(|_| '\n'));
            }
            _ => {
                for line in std::iter::once(line).chain(below) {
                    let text = line.trim_start_matches('\t');
                    quoted.extend(std::iter::repeat_n("  ", line.len() - text.len()));
                    quoted.push_str(text);
                    quoted.push('\n');
                }
            }
        }
    }
    quoted
}

/// Whether a value is a text without quotes: not quoted, no list, no map, no block, no reference.
fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && (value.starts_with("**") || !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '#']))
}

/// The text before a comment: before a `#` that begins the line or follows a blank.
fn uncommented(line: &str) -> &str {
    let is_comment = |at: &usize| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    line.match_indices('#').map(|(at, _)| at).find(is_comment).map_or(line, |at| &line[..at])
}

/// The keys of a head and their lines in the file, whatever they hold.
struct Keys(Vec<(String, usize)>);

/// The keys of a head with their values.
struct Fields(Vec<Field>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("keys with values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, line)) = next_key(&mut map)? {
                    map.next_value::<IgnoredAny>()?;
                    keys.push((key, line));
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadFields(&TEXTS))
    }
}

/// The same where every key may hold anything.
struct Anything(Fields);

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ReadFields(&[])).map(Self)
    }
}

/// Reads keys with values. Those that are named here hold a text, so that `1.0` and `no` stay as they are written.
struct ReadFields(&'static [&'static str]);

impl<'de> Visitor<'de> for ReadFields {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some((key, line)) = next_key(&mut map)? {
            let value = match self.0.contains(&key.as_str()) {
                true => Value::Text(map.next_value::<String>()?.trim_end().to_owned()),
                false => map.next_value::<Value>()?,
            };
            fields.push(Field { key, value, line });
        }
        Ok(Fields(fields))
    }
}

fn next_key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<(String, usize)>, A::Error> {
    let key = map.next_key::<Spanned<String>>()?;
    Ok(key.map(|key| (key.value, usize::try_from(key.referenced.line()).map_or(1, in_file))))
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadValue)
    }
}

/// Reads anything.
struct ReadValue;

impl<'de> Visitor<'de> for ReadValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, is_so: bool) -> Result<Value, E> {
        Ok(Value::Text(is_so.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Text(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Text(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Text(number.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Value>()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            entries.push((key, value));
        }
        Ok(Value::Map(entries))
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
        Value::List(items.iter().map(|item| text(item)).collect())
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
        assert_eq!(field("tools:"), Value::Nothing);
        let names = |head: &str| field(head).texts().expect("names");
        assert_eq!(names("tools: Read, Agent(a, b), Bash"), ["Read", "Agent(a, b)", "Bash"]);
        assert_eq!(names("tools:"), Vec::<String>::new());
    }

    #[test]
    fn what_is_deeper_is_kept_apart_and_hides_nothing_after_it() {
        let file = "---\nhooks:\n  Stop:\n    - command: x\nmcp: {a: b}\nname: n\n---\nbody";
        let fields = split(file).expect("valid").fields;
        assert!(fields[0].value.get("Stop").is_some_and(|stop| matches!(stop, Value::List(_))));
        assert_eq!(fields[1].value.get("a"), Some(&text("b")));
        assert_eq!(fields[2].value, text("n"));
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
        assert_eq!(why("---\nname: a\nname: b\n---\n"), "line 3: name is given twice");
        assert_eq!(why("---\nname: \"a\n---\n"), "line 2: a text has no closing quote");
        assert_eq!(why("---\ntools: [a\n---\n"), "line 2: a list has no closing bracket");
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

    #[test]
    fn a_text_that_is_no_yaml_is_read_as_it_is_meant() {
        for (head, meant) in [
            ("description: Use when: asked # often", "Use when: asked"),
            ("description: Use when: asked\n  # a comment\n\n  or: not", "Use when: asked or: not"),
            ("description: **Important** work", "**Important** work"),
            ("description: @someone's mail", "@someone's mail"),
            ("description: `code` and %d", "`code` and %d"),
            ("description: - a dash", "- a dash"),
            ("description: one\n\ttwo", "one two"),
        ] {
            assert_eq!(field(head), text(meant), "{head}");
        }
        let file = "---\ntools:\n\t- read_file\n# Note: none\ndescription: a: b\nname: c\n---\nbody";
        let fields = split(file).expect("valid").fields;
        let found: Vec<_> = fields.iter().map(|field| (field.key.as_str(), field.line)).collect();
        assert_eq!(found, [("tools", 2), ("description", 5), ("name", 6)]);
        assert_eq!(fields[0].value, list(&["read_file"]));
    }

    #[test]
    fn yaml_of_other_products_is_read() {
        let file = "---\nname: &name \"scout\"\ndescription: >\n  Looks\n  ahead.\n\n  <example>Context: x</example>\n\
                    tools: [\n\"read_file\",\n'list_dir',\n]\nmetadata:\n  title: *name\n  tags: [a, {b: c}]\n\
                    ? explicit\n: value\nversion: 1.0\nenabled: true\nnothing: ~\n---\nbody";
        let fields = split(file).expect("valid").fields;
        let value = |key: &str| fields.iter().find(|field| field.key == key).map(|field| &field.value);
        assert_eq!(value("name"), Some(&text("scout")));
        assert_eq!(value("description"), Some(&text("Looks ahead.\n<example>Context: x</example>")));
        assert_eq!(value("tools"), Some(&list(&["read_file", "list_dir"])));
        assert_eq!(value("explicit"), Some(&text("value")));
        assert_eq!(value("enabled"), Some(&text("true")));
        assert_eq!(fields.len(), 8);
    }

    #[test]
    fn values_of_a_wrong_kind_are_refused_with_the_line_of_their_key() {
        let why = |head: &str| split(&format!("---\nother: [x]\n{head}\n---\nbody")).expect_err("invalid");
        assert_eq!(why("name:\n  - a"), "line 3: name expects a text");
        assert_eq!(why("name:"), "line 3: name expects a text");
    }

    #[test]
    fn in_a_file_of_another_product_any_key_may_hold_anything() {
        let split = split_foreign("---\nmodel: [a, b]\nname: 007\n---\nbody").expect("valid");
        assert_eq!(split.fields[0].value, list(&["a", "b"]));
        let fields = document("title: A\nsettings:\n  temperature: 0.5\n").expect("valid");
        assert_eq!(fields[1].value.get("temperature"), Some(&text("0.5")));
        assert_eq!(document("{\"title\": \"A\"}").expect("JSON")[0].value, text("A"));
    }

    #[test]
    fn a_hostile_head_is_refused_at_once() {
        let head = |head: &str| split(&format!("---\n{head}\n---\nbody")).expect_err("refused");
        let mut bomb = "x0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..9 {
            let row = vec![format!("*a{}", n - 1); 9].join(", ");
            bomb.push_str(&format!("x{n}: &a{n} [{row}]\n"));
        }
        assert!(head(&bomb).contains("simplify it"), "{}", head(&bomb));
        assert!(head(&format!("x: {}{}", "[".repeat(500), "]".repeat(500))).starts_with("line 2: "));
        let deep: String = (0..100).map(|depth| format!("{}x:\n", " ".repeat(depth))).collect();
        assert!(head(&deep).contains("simplify it"), "{}", head(&deep));
        assert!(head(&format!("x: [{}]", "a, ".repeat(5_000))).contains("simplify it"));
        assert_eq!(head(&"x".repeat(MAX_BYTES + 1)), "the front matter is longer than 32 KiB: shorten it");
    }

    #[test]
    fn a_sentence_about_a_head_does_not_repeat_its_texts() {
        for head in [
            "name: \"hunter2",
            "name: [hunter2",
            "name: hunter2\n...\nhunter2: x",
            "- hunter2",
            "name: *hunter2",
            "? [hunter2]\n: x",
            "name: !<hunter2",
            "%hunter2\nname: x",
            "name: {hunter2: 1}",
            "hunter2",
            "\u{1}hunter2",
        ] {
            if let Err(why) = split(&format!("---\n{head}\n---\nbody")) {
                assert!(!why.contains("hunter2") && why.starts_with("line "), "{head:?}: {why}");
            }
        }
    }
}
