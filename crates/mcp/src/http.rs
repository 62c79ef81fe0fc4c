//! Requests to servers behind an address. As the client that `rmcp` brings along, but that no answer is read beyond its bound, whether it
//! comes as JSON, as a stream of events, packed or not: an answer that is too long or cannot be read is an error for the call that it
//! answers, and the connection goes on.
//!
//! Redirects are not followed: a person has seen the address. Left to others: tokens (`login.rs`).

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{Client, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use crate::pump::LONGEST_LINE;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";

/// The most that is read of an answer that is a refusal.
const LONGEST_REFUSAL: usize = 64 * 1024;

/// A client that reads no answer beyond its bound.
#[derive(Clone, Debug)]
pub(crate) struct Bounded(pub Client);

type Failure = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl StreamableHttpClient for Bounded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, LONGEST_LINE).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        longest: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let has_session = session.is_some();
        let body = serde_json::to_vec(&message)?;
        let mut request = self.0.post(&*uri).header(ACCEPT, format!("{EVENTS}, {JSON}")).header(CONTENT_TYPE, JSON);
        request = request.headers(HeaderMap::from_iter(headers)).body(body);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = session {
            request = request.header(SESSION, &*session);
        }
        let response = request.send().await.map_err(StreamableHttpError::Client)?;
        let status = response.status();
        if let Some(challenge) = challenge(&response) {
            return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let kind = text(&response, &CONTENT_TYPE).unwrap_or_default();
        let new_session = text(&response, &HeaderName::from_static(SESSION));
        let asked = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        if !status.is_success() {
            return refused(response, &message, has_session).await;
        }
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response, longest), new_session));
        }
        let Some(asked) = asked else { return Ok(StreamableHttpPostResponse::Accepted) };
        let failed = |why: String| {
            let error = ErrorData::internal_error(why, None);
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(asked)), new_session.clone()))
        };
        if !kind.starts_with(JSON) {
            let kind: String = kind.chars().filter(|c| !c.is_control()).take(80).collect();
            return failed(format!("the server answered with '{kind}' in the place of JSON"));
        }
        let Some(body) = read(response, longest).await? else {
            return failed(format!("the server's answer has more than {} MiB", longest / (1024 * 1024)));
        };
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, new_session)),
            Err(error) => failed(format!("the server's answer cannot be read: {error}")),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failure> {
        self.0.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, LONGEST_LINE).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        longest: usize,
    ) -> Result<Events, Failure> {
        self.0.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, longest).await
    }
}

/// What a server wants to see before it answers; none where it answers.
fn challenge(response: &Response) -> Option<String> {
    let is_wanted = matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    is_wanted.then(|| text(response, &WWW_AUTHENTICATE))?
}

/// An answer that is no success. An older server that refuses the first request of the newest revision in its own words is asked in those of the
/// revision before.
async fn refused(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let retry_after = text(&response, &RETRY_AFTER);
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new())));
    }
    let ClientJsonRpcMessage::Request(request) = message else {
        return Err(HttpStatusError::new(status.as_u16(), retry_after).into());
    };
    let body = read(response, LONGEST_REFUSAL).await?.unwrap_or_default();
    let said = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
        Ok(_) | Err(_) => None,
    };
    let is_first = matches!(request.request, ClientRequest::DiscoverRequest(_)) && !has_session;
    let error = match said {
        Some(error) => error,
        None if is_first && status.is_client_error() => {
            ErrorData::invalid_request(format!("the server answered with HTTP {status}"), None)
        }
        None => return Err(HttpStatusError::new(status.as_u16(), retry_after).into()),
    };
    Ok(StreamableHttpPostResponse::Json(answer_to(&request.id, error), None))
}

fn answer_to(id: &RequestId, error: ErrorData) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(error, Some(id.clone()))
}

fn text(response: &Response, name: &HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The whole of an answer; none where it is longer than that.
async fn read(mut response: Response, longest: usize) -> Result<Option<Vec<u8>>, Failure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(StreamableHttpError::Client)? {
        if bytes.len() + chunk.len() > longest {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(bytes))
}

fn events(response: Response, longest: usize) -> Events {
    SseStream::from_bytes_stream(bounded(response.bytes_stream(), longest)).boxed()
}

/// Ends with an error at an event that is longer than that.
fn bounded<E: std::error::Error + Send + Sync + 'static>(
    stream: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    longest: usize,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    let mut event = Event::default();
    stream.map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        match event.take(&chunk, longest) {
            true => Ok(chunk),
            false => Err(std::io::Error::other(format!("an event has more than {} MiB", longest / (1024 * 1024)))),
        }
    })
}

/// How far an event has come.
#[derive(Default)]
struct Event {
    bytes: usize,
    /// Whether a line has just ended.
    at_line_start: bool,
}

impl Event {
    /// Takes some bytes of the stream; whether no event is too long.
    fn take(&mut self, chunk: &[u8], longest: usize) -> bool {
        for byte in chunk {
            match byte {
                b'\n' if self.at_line_start => self.bytes = 0,
                b'\n' => self.at_line_start = true,
                // A part of the end of a line.
                b'\r' => {}
                _ => self.at_line_start = false,
            }
            self.bytes += 1;
            if self.bytes > longest {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T52
    #[test]
    fn an_event_is_bounded_and_many_short_ones_are_not() {
        let mut event = Event::default();
        assert!((0..100).all(|_| event.take(b"data: 12345\n\n", 20)));
        assert!((0..100).all(|_| event.take(b"data: 12345\r\n\r\n", 20)));
        assert!(!(0..100).all(|_| event.take(b"data: 12345\r\n", 20)), "lines of one event");
        let mut event = Event::default();
        assert!(event.take(b"data: 12345", 20) && !event.take(b"6789012345", 20));
    }
}
