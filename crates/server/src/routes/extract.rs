//! What a request holds, read and refused with our own messages: the name in its path, its parameters, its body.

use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use view::Dialect;

use crate::access::Caller;
use crate::problem::Problem;

/// The name in an address.
pub struct PathParam(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathParam {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(name) = Path::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::missing("the name in the address is not text"))?;
        Ok(Self(name))
    }
}

/// The parameters of an address. One that is not known here is refused by name: it would otherwise be left out in silence.
pub struct QueryParams<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Query(asked) = Query::try_from_uri(&parts.uri).map_err(|error| {
            let why = error.body_text();
            let why = why.strip_prefix("Failed to deserialize query string: ").unwrap_or(&why);
            Problem::unusable(format!("the address asks for what cannot be had: {why}"))
        })?;
        Ok(Self(asked))
    }
}

/// A body of JSON. A browser must call it that, for a form of another site cannot; a program with the token may call it anything.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        if !is_json(request.headers()) && request.extensions().get() != Some(&Caller::Program) {
            let detail = "send it as JSON, with content-type: application/json";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let unread = |_| Problem::unusable("the body did not arrive");
        // How much there may be was looked at before (`routes::arrived`).
        let bytes = to_bytes(request.into_body(), usize::MAX).await.map_err(unread)?;
        // No body at all is an empty object.
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let unusable =
            |why: &dyn std::fmt::Display| Problem::unusable(format!("the body is not what is asked for here: {why}"));
        // A list of the fields' values would do for serde.
        if text.trim_ascii_start().first() != Some(&b'{') {
            return Err(unusable(&"it must be a JSON object"));
        }
        serde_json::from_slice(text).map(Self).map_err(|error| unusable(&error))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The name of a dialect that there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DialectName(pub String);

impl DialectName {
    /// One that is known to be there.
    pub fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The dialect, at the beginning of a stream.
    pub fn begin(&self) -> Dialect {
        Dialect::named(&self.0).unwrap_or_default()
    }

    /// Whether it is our own.
    pub fn is_canonical(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for DialectName {
    /// Our own words.
    fn default() -> Self {
        Self::named("canonical")
    }
}

impl<'de> Deserialize<'de> for DialectName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match Dialect::named(&name) {
            Some(_) => Ok(Self(name)),
            None => {
                let known = Dialect::NAMES.join(", ");
                Err(serde::de::Error::custom(format!("there is no dialect '{name}'; there are: {known}")))
            }
        }
    }
}

impl JsonSchema for DialectName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DialectName".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Dialect::NAMES })
    }
}

/// How many rows a list may have: 1 to `MOST`. The document and the refusal take the bound from the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit<const MOST: usize>(pub usize);

impl<'de, const MOST: usize> Deserialize<'de> for Limit<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match usize::deserialize(deserializer)? {
            limit if (1..=MOST).contains(&limit) => Ok(Self(limit)),
            other => Err(serde::de::Error::custom(format!("{other} is not a number from 1 to {MOST}"))),
        }
    }
}

impl<const MOST: usize> JsonSchema for Limit<MOST> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Limit{MOST}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": MOST })
    }
}

/// A parameter that is on or off: `1` or `true`, `0` or `false`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switch(pub bool);

impl<'de> Deserialize<'de> for Switch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*String::deserialize(deserializer)? {
            "1" | "true" => Ok(Self(true)),
            "0" | "false" => Ok(Self(false)),
            other => Err(serde::de::Error::custom(format!("'{other}' is neither 1 nor 0"))),
        }
    }
}

impl JsonSchema for Switch {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Switch".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": ["1", "true", "0", "false"], "default": "0" })
    }
}
