//! No object of a request has the same key twice. Readers of JSON differ in which of the two values they take, and none of them complains.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::strict::{Checked, bad};

/// Refuses a body in which a key stands twice in one object. What is no JSON at all is refused elsewhere.
pub(super) fn check(raw: &[u8]) -> Checked {
    match serde_json::from_slice::<Unique>(raw) {
        Err(why) if why.to_string().contains(TWICE) => Err(bad(why.to_string())),
        _ => Ok(()),
    }
}

const TWICE: &str = "stands twice in one object";

/// Any value, of which only the keys are looked at.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unique)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` {TWICE}")));
            }
            seen.insert(key);
            map.next_value::<Self>()?;
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_found_at_every_depth() {
        for twice in [r#"{"a":1,"b":2,"a":1}"#, r#"{"b":[{"c":{"a":null,"a":true}}]}"#, r#"{"a":{},"\u0061":-1.5}"#] {
            let refused = check(twice.as_bytes()).expect_err("twice").message;
            assert!(refused.contains("the key `a` stands twice"), "{refused}");
        }
        for once in [r#"{"a":{"a":[{"a":1},{"a":1}]}}"#, "no JSON", "[]"] {
            assert!(check(once.as_bytes()).is_ok(), "{once}");
        }
    }
}
