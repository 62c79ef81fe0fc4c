//! A JSON value kept as the text it arrived in: parsed where its content is needed, sent on byte for byte.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Valid JSON text. Cheap to clone; equal when the text is equal.
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// Takes JSON text as it is, or says why it is none.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.to_owned()).map(|raw| Self(raw.into()))
    }

    /// The object with which a text begins; none where it begins with anything else. What follows is left.
    pub fn leading_object(text: &str) -> Option<Self> {
        let text = text.trim_start();
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Box<RawValue>>();
        text.starts_with('{').then(|| values.next()?.ok())?.map(|raw| Self(raw.into()))
    }

    /// The JSON form of a value of ours. Our own types always have one.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        let raw = serde_json::value::to_raw_value(value).expect("our own types serialise to JSON");
        Self(raw.into())
    }

    /// An empty object.
    pub fn object() -> Self {
        Self::parse("{}").expect("an empty object is JSON")
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The value, for other values to be made of.
    pub fn raw(&self) -> &RawValue {
        &self.0
    }

    /// Reads the value into a type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    /// The value as a tree. Text deeper than the parser's limit reads as null.
    pub fn value(&self) -> serde_json::Value {
        self.read().unwrap_or(serde_json::Value::Null)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.into()))
    }
}
