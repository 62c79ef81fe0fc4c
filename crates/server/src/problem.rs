//! What went wrong, as a document of its own kind (RFC 9457): the one place where failures become statuses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use majordomo::files::Refusal;
use majordomo::staff;

use crate::shapes;

/// A failure as a client sees it: a status, and a sentence that says what to do.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    detail: String,
    /// The methods that there are, where the one that was asked for is not among them.
    allow: Option<HeaderValue>,
}

impl Problem {
    /// A failure with a sentence for the caller.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), allow: None }
    }

    /// A request that cannot be understood.
    pub fn unusable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// Something that is not there.
    pub fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// Something that conflicts with the current state.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    /// Something that was there, and is over.
    pub fn over(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, detail)
    }

    /// An address that does not know the method; these it knows.
    pub fn not_allowed(methods: &str) -> Self {
        let detail = format!("this address does not know that method; it knows {methods}");
        Self { allow: HeaderValue::from_str(methods).ok(), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, detail) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = shapes::Problem {
            r#type: "about:blank".to_owned(),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
        };
        let mut response = (self.status, axum::Json(document)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(allow) = self.allow {
            headers.insert(header::ALLOW, allow);
        }
        response
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        let status = match &error {
            store::Error::UnknownThread(_) | store::Error::UnknownApproval(_) => StatusCode::NOT_FOUND,
            store::Error::Ambiguous { .. } | store::Error::AmbiguousApproval { .. } | store::Error::Owned { .. } => {
                StatusCode::CONFLICT
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(%error, "the store failed a request");
        }
        Self::new(status, error.to_string())
    }
}

impl From<runtime::Error> for Problem {
    fn from(error: runtime::Error) -> Self {
        match error {
            runtime::Error::Store(error) => error.into(),
            runtime::Error::Idle(_) | runtime::Error::Alive(_) | runtime::Error::Taken(_) => {
                Self::conflict(error.to_string())
            }
            runtime::Error::Left => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "the server is closing: ask again later")
            }
            other => Self::unusable(other.to_string()),
        }
    }
}

impl From<staff::Error> for Problem {
    fn from(error: staff::Error) -> Self {
        match error {
            staff::Error::Runtime(error) => error.into(),
            staff::Error::File(refusal) => {
                let status = match &refusal {
                    Refusal::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
                    Refusal::Kind(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    Refusal::Unusable(_) => StatusCode::UNPROCESSABLE_ENTITY,
                };
                Self::new(status, refusal.to_string())
            }
            staff::Error::Provider(error) => Self::new(StatusCode::FAILED_DEPENDENCY, error.to_string()),
            other => Self::unusable(other.to_string()),
        }
    }
}
