//! Arguments as models write them: read with patience, and answered with the right call where they cannot be read.
//!
//! Fields that a tool does not have are ignored and named in its result, so that nobody believes they had an effect.
//! Numbers, flags and lists may come as strings.

use std::collections::BTreeMap;

use agent::Json;
use agent::tools::ToolResult;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::text;

/// A tool's arguments, read.
pub struct Call<A> {
    /// The arguments.
    pub args: A,
    /// What was said besides them.
    pub ignored: Ignored,
}

/// Names of fields that the tool does not have.
pub struct Ignored(Vec<String>);

impl<A: DeserializeOwned> Call<A> {
    /// The arguments, or the answer to a call that cannot be understood.
    pub fn read(input: &Json, tool: &str, example: &str) -> Result<Self, ToolResult> {
        object(input).and_then(Self::of).map_err(|error| unreadable(tool, example, &error))
    }

    /// The same for a tool that works on one path, whose text is taken out of the arguments; none where none is given.
    pub(crate) fn read_with_path(
        input: &Json,
        tool: &str,
        example: &str,
    ) -> Result<(Option<String>, Self), ToolResult> {
        let read = object(input).and_then(|mut fields| Ok((path(&mut fields)?, Self::of(fields)?)));
        read.map_err(|error| unreadable(tool, example, &error))
    }

    fn of(fields: Fields) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Wire<A> {
            #[serde(flatten)]
            args: A,
            #[serde(flatten)]
            rest: BTreeMap<String, IgnoredAny>,
        }
        let Wire { args, rest } = serde_json::from_value(Value::Object(fields))?;
        Ok(Self { args, ignored: Ignored(rest.into_keys().collect()) })
    }
}

type Fields = serde_json::Map<String, Value>;

/// The names under which models give a path.
const PATH_NAMES: [&str; 7] = ["path", "file", "file_path", "filename", "dir", "folder", "directory"];

/// The fields of the arguments. The tree comes first: it is where nesting without end and broken characters are noticed.
fn object(input: &Json) -> serde_json::Result<Fields> {
    match input.read::<Value>()? {
        Value::Object(fields) => Ok(fields),
        _ => Err(serde_json::Error::custom("they must be one JSON object")),
    }
}

/// Takes the path out of the arguments, under whichever name it is given. Two of them could be two paths.
fn path(fields: &mut Fields) -> serde_json::Result<Option<String>> {
    let given: Vec<_> = PATH_NAMES.iter().filter_map(|name| fields.remove(*name).map(|value| (name, value))).collect();
    match given.as_slice() {
        [] | [(_, Value::Null)] => Ok(None),
        [(_, Value::String(path))] => Ok(Some(path.clone())),
        [(name, value)] => Err(serde_json::Error::custom(format!("{name} is {value}, which is not a text"))),
        [(one, _), (other, _), ..] => {
            Err(serde_json::Error::custom(format!("both {one} and {other} give a path; give one path")))
        }
    }
}

fn unreadable(tool: &str, example: &str, error: &serde_json::Error) -> ToolResult {
    let error = error.to_string();
    let why = text::clip(&error, 300);
    ToolResult::error(format!(
        "{tool} was not run, its arguments cannot be read: {why}. Call it like this: {tool} {example}"
    ))
}

impl Ignored {
    /// Whether everything that was said had an effect.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The result, ending with the names of the fields that had no effect.
    pub fn named_in(&self, mut result: ToolResult) -> ToolResult {
        const SHOWN: usize = 8;
        if !self.0.is_empty() {
            let names: Vec<_> = self.0.iter().take(SHOWN).map(|name| text::clip(name, 40)).collect();
            let more = if self.0.len() > SHOWN { ", …" } else { "" };
            result.content = format!("{}\n[ignored: {}{more}]", result.content, names.join(", ")).into();
        }
        result
    }
}

/// A whole number, perhaps written as a string or with a fraction of zero.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(from)?;
    let read = match &value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => {
            let whole = |float: &f64| float.fract() == 0.0 && (0.0..9e15).contains(float);
            number.as_u64().or_else(|| number.as_f64().filter(whole).map(|float| float as u64))
        }
        _ => None,
    };
    match read {
        Some(number) => Ok(Some(number)),
        None => Err(D::Error::custom(format!("{value} is not a whole number of at least 0"))),
    }
}

/// Yes or no, perhaps written as a string.
pub fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match Value::deserialize(from)? {
        Value::Null => Ok(false),
        Value::Bool(yes) => Ok(yes),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") || text.is_empty() => Ok(false),
        other => Err(D::Error::custom(format!("{other} is neither true nor false"))),
    }
}

/// A list, perhaps written as a string that holds one.
pub fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let read = match Value::deserialize(from)? {
        Value::Null => return Ok(Vec::new()),
        Value::String(text) => serde_json::from_str(&text),
        value => serde_json::from_value(value),
    };
    read.map_err(|error| D::Error::custom(format!("in a list: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Args {
        #[serde(alias = "file")]
        path: String,
        #[serde(default, deserialize_with = "number")]
        limit: Option<u64>,
        #[serde(default, deserialize_with = "flag")]
        all: bool,
        #[serde(default, deserialize_with = "list")]
        names: Vec<String>,
    }

    fn read(text: &str) -> Result<(Args, String), String> {
        let input = Json::parse(text).expect("the test's text is JSON");
        match Call::<Args>::read(&input, "look", r#"{"path": "a.txt"}"#) {
            Ok(call) => Ok((call.args, call.ignored.named_in(ToolResult::ok("done")).content.to_string())),
            Err(wrong) => {
                assert!(wrong.is_error);
                assert!(wrong.content.ends_with(r#"Call it like this: look {"path": "a.txt"}"#), "{}", wrong.content);
                Err(wrong.content.to_string())
            }
        }
    }

    #[test]
    fn numbers_flags_and_lists_may_be_strings() {
        let (args, said) = read(r#"{"file": "a", "limit": "12", "all": "true", "names": "[\"x\"]"}"#).unwrap();
        assert_eq!((&*args.path, args.limit, args.all, args.names), ("a", Some(12), true, vec!["x".to_owned()]));
        assert_eq!(said, "done");
        let (args, _) = read(r#"{"path": "a", "limit": 3.0, "all": null, "names": null}"#).unwrap();
        assert_eq!((args.limit, args.all, args.names.len()), (Some(3), false, 0));
    }

    // T34b
    #[test]
    fn a_field_that_the_tool_does_not_have_is_ignored_and_named() {
        let (_, said) = read(r#"{"path": "a", "disable_sandbox": true, "zeal": [1]}"#).unwrap();
        assert_eq!(said, "done\n[ignored: disable_sandbox, zeal]");
    }

    // F20
    #[test]
    fn arguments_that_cannot_be_read_are_answered_with_the_right_call() {
        let deep = format!(r#"{{"path": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let wrong = [
            "{}",
            "null",
            "17",
            r#""path""#,
            r#"["a.txt"]"#,
            r#"{"path": 7}"#,
            r#"{"path": null}"#,
            r#"{"path": "a", "file": "b"}"#,
            r#"{"path": "a", "limit": -1}"#,
            r#"{"path": "a", "limit": "many"}"#,
            r#"{"path": "a", "all": "perhaps"}"#,
            r#"{"path": "a", "names": [1]}"#,
            r#"{"path": "\ud800"}"#,
            r#"{"path": "\udc00\ud800"}"#,
            &deep,
        ];
        for text in wrong {
            let said = read(text).expect_err(text);
            assert!(said.starts_with("look was not run") && said.len() < 600, "{said}");
        }
    }
}
