//! What a server wants to know from a person in the middle of a call: a form of a few plain fields, put as one question and answered with one text.
//!
//! A server may also want a person to open an address (`Visit`). The address is shown and never opened from here: a person who
//! opens it sees where it leads, and says so; nothing else is sent to the server.
//!
//! The words are the server's, so that the question says whose they are and where the answer goes. Every person who finds the question,
//! at a terminal, by `approve answer`, over HTTP or on the page, answers it in the same way: the value of the only field, the number of a
//! choice, or `field: value` for each of several, or JSON.

use serde_json::{Map, Value};

/// The most fields of a form, and the longest that its words are shown.
const MOST_FIELDS: usize = 20;
const LONGEST_WORDS: usize = 2_000;
const LONGEST_FIELD: usize = 300;

/// What a server wants from a person.
#[derive(Debug)]
pub(crate) enum Wish {
    Form(Form),
    Visit(Visit),
}

impl Wish {
    /// The question, with what was wrong about the last answer.
    pub fn question(&self, server: &str, wrong: Option<&str>) -> String {
        match self {
            Self::Form(form) => form.question(server, wrong),
            Self::Visit(visit) => visit.question(server, wrong),
        }
    }

    /// Answers that can be chosen by their number.
    pub fn choices(&self) -> Vec<String> {
        match self {
            Self::Form(form) => form.choices(),
            Self::Visit(_) => vec!["yes".to_owned()],
        }
    }

    /// What is sent with the consent, if anything; or why the answer does not fit.
    pub fn read(&self, answer: &str) -> Result<Option<Value>, String> {
        match self {
            Self::Form(form) => form.read(answer).map(Some),
            Self::Visit(_) if is_yes(answer) => Ok(None),
            Self::Visit(_) => Err("answer yes once you have opened it, or refuse the question".to_owned()),
        }
    }
}

/// An address that a person should open.
#[derive(Debug)]
pub(crate) struct Visit {
    message: String,
    address: String,
    host: String,
}

impl Visit {
    /// An address over HTTPS that names its host plainly; none for any other, which is refused without a question.
    pub fn new(message: &str, address: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_graphic();
        if address.len() > LONGEST_WORDS || !address.chars().all(is_plain) {
            return None;
        }
        let parsed = reqwest::Url::parse(address).ok()?;
        let has_user = !parsed.username().is_empty() || parsed.password().is_some();
        // A name that is written in other letters than it is sent in can look like another host.
        let host = parsed.host_str().filter(|host| !host.split('.').any(|label| label.starts_with("xn--")))?;
        (parsed.scheme() == "https" && !has_user).then(|| Self {
            message: plain(message, LONGEST_WORDS),
            host: host.to_owned(),
            // As it was parsed, so that what is shown is what a browser opens.
            address: parsed.to_string(),
        })
    }

    fn question(&self, server: &str, wrong: Option<&str>) -> String {
        let Self { message, address, host } = self;
        let mut text = format!(
            "MCP server {server} asks you to open an address at {host}: {message}\n{address}\nIt is not opened for you. Open it yourself if you know \
             the host, and answer yes to tell the server that you did."
        );
        if let Some(wrong) = wrong {
            text.push_str(&format!("\nThe last answer does not fit: {wrong}"));
        }
        text
    }
}

fn is_yes(answer: &str) -> bool {
    ["yes", "y"].contains(&answer.trim().to_lowercase().as_str())
}

/// A form.
#[derive(Debug)]
pub(crate) struct Form {
    message: String,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    /// What the server says about it.
    words: String,
    kind: Kind,
    is_required: bool,
}

#[derive(Debug, PartialEq)]
enum Kind {
    Text,
    Number,
    Integer,
    Truth,
    OneOf(Vec<String>),
}

impl Form {
    /// A form; none where it has fields of a kind that is not known.
    pub fn new(message: &str, schema: &Value) -> Option<Self> {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        if properties.len() > MOST_FIELDS {
            return None;
        }
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let fields: Option<Vec<Field>> =
            properties.iter().map(|(name, about)| Field::new(name, about, &required)).collect();
        Some(Self { message: plain(message, LONGEST_WORDS), fields: fields? })
    }

    /// The question, with what was wrong about the last answer.
    pub fn question(&self, server: &str, wrong: Option<&str>) -> String {
        let mut text = format!("MCP server {server} asks (your answer is sent to it): {}", self.message);
        match self.fields.as_slice() {
            [] => text.push_str("\nAnswer yes to agree."),
            [field] => text.push_str(&format!("\n{}", field.shown())),
            fields => {
                text.push_str("\nAnswer with a line `field: value` for each of these:");
                fields.iter().for_each(|field| text.push_str(&format!("\n- {}", field.shown())));
            }
        }
        if let Some(wrong) = wrong {
            text.push_str(&format!("\nThe last answer does not fit: {wrong}"));
        }
        text
    }

    /// Answers that can be chosen by their number.
    pub fn choices(&self) -> Vec<String> {
        match self.fields.as_slice() {
            [] => vec!["yes".to_owned()],
            [Field { kind: Kind::OneOf(values), .. }] => values.clone(),
            [Field { kind: Kind::Truth, .. }] => vec!["yes".to_owned(), "no".to_owned()],
            _ => Vec::new(),
        }
    }

    /// What is sent, or why the answer does not fit.
    pub fn read(&self, answer: &str) -> Result<Value, String> {
        let answer = answer.trim();
        let given: Map<String, Value> = match (serde_json::from_str(answer), self.fields.as_slice()) {
            (Ok(Value::Object(given)), _) => given,
            (_, []) if is_yes(answer) => Map::new(),
            (_, []) => return Err("answer yes, or refuse the question".to_owned()),
            (_, [field]) => Map::from_iter([(field.name.clone(), Value::from(answer))]),
            _ => {
                let lines = answer.split(['\n', ';']).filter(|line| !line.trim().is_empty());
                let pairs = lines.map(|line| line.split_once([':', '=']).ok_or(line));
                let pair = |pair: Result<(&str, &str), &str>| match pair {
                    Ok((name, value)) => Ok((name.trim().to_owned(), Value::from(value.trim()))),
                    Err(line) => Err(format!("'{}' is no `field: value`", plain(line, 60))),
                };
                pairs.map(pair).collect::<Result<_, _>>()?
            }
        };
        if let Some(unknown) = given.keys().find(|name| self.fields.iter().all(|field| field.name != **name)) {
            return Err(format!("there is no field '{}'", plain(unknown, 60)));
        }
        let mut content = Map::new();
        for field in &self.fields {
            match given.get(&field.name) {
                Some(value) => {
                    content.insert(field.name.clone(), field.read(value)?);
                }
                None if field.is_required => return Err(format!("{} is missing", field.name)),
                None => {}
            }
        }
        Ok(Value::Object(content))
    }
}

impl Field {
    fn new(name: &str, about: &Value, required: &[&str]) -> Option<Self> {
        let text = |key: &str| about.get(key).and_then(Value::as_str);
        let listed = |list: Option<&Value>| {
            let of = |one: &Value| one.as_str().or_else(|| one.get("const")?.as_str()).map(str::to_owned);
            list.and_then(Value::as_array).map(|list| list.iter().filter_map(of).collect::<Vec<String>>())
        };
        let kind = match (text("type"), listed(about.get("enum")).or_else(|| listed(about.get("oneOf")))) {
            (_, Some(values)) if values.len() <= MOST_FIELDS => Kind::OneOf(values),
            (Some("string"), None) => Kind::Text,
            (Some("number"), None) => Kind::Number,
            (Some("integer"), None) => Kind::Integer,
            (Some("boolean"), None) => Kind::Truth,
            _ => return None,
        };
        let words = plain(text("description").or(text("title")).unwrap_or_default(), LONGEST_FIELD);
        let name = Some(name).filter(|name| !name.is_empty() && plain(name, 60) == **name)?.to_owned();
        Some(Self { is_required: required.contains(&name.as_str()), name, words, kind })
    }

    fn shown(&self) -> String {
        let kind = match &self.kind {
            Kind::Text => "text".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Integer => "whole number".to_owned(),
            Kind::Truth => "yes or no".to_owned(),
            Kind::OneOf(values) => {
                format!("one of {}", values.iter().map(|value| plain(value, 60)).collect::<Vec<_>>().join(", "))
            }
        };
        let optional = if self.is_required { "" } else { ", optional" };
        let words = if self.words.is_empty() { String::new() } else { format!(": {}", self.words) };
        format!("{} ({kind}{optional}){words}", self.name)
    }

    fn read(&self, value: &Value) -> Result<Value, String> {
        let wrong = || {
            format!(
                "{} is no {}",
                self.name,
                match &self.kind {
                    Kind::Text => "text",
                    Kind::Number => "number",
                    Kind::Integer => "whole number",
                    Kind::Truth => "yes or no",
                    Kind::OneOf(_) => "value that is offered",
                }
            )
        };
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(wrong()),
        };
        match &self.kind {
            Kind::Text => Ok(text.into()),
            Kind::Number => {
                text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from).ok_or_else(wrong)
            }
            Kind::Integer => text.parse::<i64>().map(Value::from).map_err(|_| wrong()),
            Kind::Truth => match text.to_lowercase().as_str() {
                "yes" | "y" | "true" => Ok(true.into()),
                "no" | "n" | "false" => Ok(false.into()),
                _ => Err(wrong()),
            },
            Kind::OneOf(values) => values.contains(&text).then(|| text.into()).ok_or_else(wrong),
        }
    }
}

/// Words of a server for a terminal.
fn plain(text: &str, most: usize) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).take(most).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_field_is_answered_with_its_value_and_several_with_lines_or_json() {
        let one =
            Form::new("Which branch?", &json!({"properties": {"branch": {"type": "string"}}, "required": ["branch"]}))
                .unwrap();
        assert_eq!(one.read(" main ").unwrap(), json!({"branch": "main"}));
        assert!(one.question("git", None).contains("MCP server git asks (your answer is sent to it): Which branch?"));
        let several = json!({"properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}, "colour": {"enum": ["red", "blue"]}}, "required": ["n"]});
        let several = Form::new("?", &several).unwrap();
        assert_eq!(several.read("n: 3\nok = yes").unwrap(), json!({"n": 3, "ok": true}));
        assert_eq!(several.read(r#"{"n": 3, "colour": "red"}"#).unwrap(), json!({"n": 3, "colour": "red"}));
        for wrong in ["n: three", "ok: yes", "n: 1\ncolour: green", "n: 1\nmore: 2", "three"] {
            assert!(several.read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn choices_have_numbers_and_what_is_not_known_is_no_form() {
        let choice = Form::new(
            "?",
            &json!({"properties": {"c": {"type": "string", "oneOf": [{"const": "a"}, {"const": "b"}]}}}),
        )
        .unwrap();
        assert_eq!(choice.choices(), ["a", "b"]);
        assert!(Form::new("?", &json!({"properties": {"c": {"type": "object"}}})).is_none());
        let agree = Form::new("Agree?", &json!({})).unwrap();
        assert_eq!(agree.read("yes").unwrap(), json!({}));
        assert!(agree.read("no").is_err(), "another answer is no consent");
    }

    // T27
    #[test]
    fn what_a_server_writes_cannot_move_the_cursor() {
        let form = Form::new("a\u{1b}[2Jb", &json!({"properties": {"x": {"type": "string", "description": "\u{7}y"}}}))
            .unwrap();
        assert!(!form.question("s", None).chars().any(|c| c.is_control() && c != '\n'));
    }

    // T54, T55
    #[test]
    fn an_address_is_shown_with_its_host_and_deceptive_ones_are_refused() {
        let visit = Wish::Visit(Visit::new("Log in", "https://Login.Example:8443/a?b=c").unwrap());
        let text = visit.question("kit", None);
        assert!(
            text.contains("open an address at login.example: Log in\nhttps://login.example:8443/a?b=c\n"),
            "{text}"
        );
        assert_eq!(visit.read("yes"), Ok(None));
        assert!(visit.read("no").is_err() && visit.read("").is_err());
        for address in [
            "http://login.example/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://bank.example@evil.example/",
            "https://xn--bnk-elb.example/",
            "https://b\u{e4}nk.example/",
            "https://a.example/\u{1b}[2J",
            "https://a.example/$(touch x) y",
            "not an address",
        ] {
            assert!(Visit::new("Log in", address).is_none(), "{address}");
        }
    }
}
