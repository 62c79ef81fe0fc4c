//! Most events of a stream differ from the one before in a single string: the next words, the next piece of arguments. Once
//! such an event was read, the next ones are only compared with it, and nothing but that string is read of them.

use std::borrow::Cow;

use serde::Deserialize;

/// The most bytes around a string that are worth remembering.
const MOST_BYTES: usize = 4096;

/// An event around one string, and what was said by it.
#[derive(Debug)]
pub(crate) struct EventTemplate<K> {
    what: K,
    /// Up to the string, its opening quote included.
    before: Box<str>,
    /// From its closing quote on.
    behind: Box<str>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<K: Copy> EventTemplate<K> {
    /// The template of an event that says `what` by a string, as it is written there between its quotes. None for a string from
    /// elsewhere.
    pub(crate) fn of(what: K, event: &str, string: &str) -> Option<Self> {
        let start = string.as_ptr().addr().checked_sub(event.as_ptr().addr())?;
        let (before, rest) = event.split_at_checked(start)?;
        let behind = rest.strip_prefix(string)?;
        let is_string = before.ends_with('"') && behind.starts_with('"');
        let is_small = before.len() + behind.len() <= MOST_BYTES;
        (is_string && is_small).then(|| Self { what, before: before.into(), behind: behind.into() })
    }

    /// What an event says, if it came out of this template: the same bytes around another string are the same event with
    /// another string.
    pub(crate) fn read<'a>(&self, event: &'a str) -> Option<(K, Cow<'a, str>)> {
        let Self { what, before, behind } = self;
        if event.len() < before.len() + behind.len() || !event.starts_with(&**before) || !event.ends_with(&**behind) {
            return None;
        }
        // Both quotes are part of it, so that it must be one whole string, and not the end of one and the beginning of another.
        let string = event.get(before.len() - 1..event.len() - behind.len() + 1)?;
        let Text(text) = serde_json::from_str(string).ok()?;
        Some((*what, text))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn event(id: &str, said: &str, end: &str) -> String {
        format!(r#"{{"id":{id},"said":{said},"end":{end}}}"#)
    }

    fn said(event: &str) -> &str {
        #[derive(Deserialize)]
        struct Said<'a> {
            #[serde(borrow)]
            said: &'a str,
        }
        serde_json::from_str::<Said<'_>>(event).expect("an event of the test").said
    }

    #[test]
    fn only_the_string_is_read_of_an_event_from_the_template() {
        let first = event("1", r#""one""#, "null");
        let template = EventTemplate::of('t', &first, said(&first)).expect("a string in the event");
        for (next, expected) in [
            (r#""two""#, Some("two")),
            (r#""""#, Some("")),
            (r#""a \"quote\" \u00e9\n""#, Some("a \"quote\" é\n")),
            (r#""two","said":"three""#, None),
            (r#""broken \x""#, None),
            (r#""half a \ud83d""#, None),
            ("\"a line\nbreak\"", None),
            ("null", None),
            (r#"["two"]"#, None),
        ] {
            let next = event("1", next, "null");
            let read = template.read(&next);
            assert_eq!(read.as_ref().map(|(what, text)| (*what, &**text)), expected.map(|text| ('t', text)), "{next}");
        }
        for other in [event("2", r#""two""#, "null"), event("1", r#""two""#, "1"), String::new(), first[..9].to_owned()]
        {
            assert_eq!(template.read(&other), None, "{other}");
        }
    }

    #[test]
    fn a_string_from_elsewhere_makes_no_template() {
        let first = event("1", r#""one""#, "null");
        let copy = said(&first).to_owned();
        assert!(EventTemplate::of((), &first, &copy).is_none(), "equal, but not the same");
        assert!(EventTemplate::of((), &first, &first[1..4]).is_none(), "no string of its own");
        let large = event(&format!("\"{}\"", "x".repeat(MOST_BYTES)), r#""one""#, "null");
        assert!(EventTemplate::of((), &large, said(&large)).is_none());
    }

    proptest! {
        #[test]
        fn what_is_read_from_a_template_is_what_the_event_says(
            first in "[a-z ]{0,12}",
            id in "[a-z]{0,4}",
            next in prop_oneof![
                any::<String>().prop_map(|text| Value::from(text).to_string()),
                r#""[ -~é]{0,20}""#,
                r#"[ -~]{0,20}"#,
            ],
        ) {
            let first = event(&format!("\"{id}\""), &format!("\"{first}\""), "null");
            let template = EventTemplate::of((), &first, said(&first)).expect("a string in the event");
            let next = event(&format!("\"{id}\""), &next, "null");
            if let Some(((), text)) = template.read(&next) {
                let value: Value = serde_json::from_str(&next).expect("what a template reads is JSON");
                let object = value.as_object().expect("an object");
                prop_assert_eq!(object.len(), 3);
                prop_assert_eq!(object["said"].as_str(), Some(&*text));
                prop_assert_eq!(object["id"].as_str(), Some(&*id));
            }
        }
    }
}
