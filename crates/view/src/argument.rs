//! A tool call's arguments in a few words, for a line that has room for one.

use std::sync::Arc;

use agent::Json;
use serde_json::Value;

use crate::safe;

/// The longest argument that is shown in a line.
const MAX_CHARS: usize = 60;

/// The arguments that say most about a call, best first.
const TELLING: [&str; 12] =
    ["path", "file", "command", "query", "pattern", "url", "task", "plan", "thread", "agent", "name", "text"];

/// The one argument that says most about a call, safe to show and cut to one line; none where nothing can be said shortly.
pub(crate) fn short(input: &Json) -> Option<Arc<str>> {
    let Value::Object(fields) = input.value() else { return None };
    let words = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let telling = TELLING.iter().find_map(|key| fields.get(*key).and_then(words));
    let text = telling.or_else(|| fields.values().find_map(words))?;
    Some(safe::line(&text, MAX_CHARS).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short_of(json: &str) -> Option<Arc<str>> {
        short(&Json::parse(json).expect("the test writes JSON"))
    }

    #[test]
    fn the_telling_argument_is_shown_wherever_it_stands() {
        assert_eq!(short_of(r#"{"encoding":"utf8","path":"src/lib.rs"}"#).as_deref(), Some("src/lib.rs"));
        assert_eq!(short_of(r#"{"zebra":"a","limit":3}"#).as_deref(), Some("3"));
    }

    #[test]
    fn nothing_is_shown_where_nothing_is_short() {
        assert_eq!(short_of("{}"), None);
        assert_eq!(short_of(r#"{"items":[1,2]}"#), None);
        assert_eq!(short_of("[1]"), None);
    }
}
