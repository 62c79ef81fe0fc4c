//! `Idempotency-Key`: a request that is sent again under the same key is carried out once, also after a restart of the server.
//!
//! What a request writes is named after its key and its content: a new thread by its name, everything else by the name of the input. So
//! the log alone says whether a request came before, and whether it was the same one.

use std::ops::ControlFlow;

use agent::approval::Resolution;
use agent::{Event, InputId, ThreadId};
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{Selection, Store, replay_until};

use super::extract::JsonBody;
use crate::problem::Problem;

/// The header.
const HEADER: &str = "idempotency-key";
/// The longest key, in characters.
pub const MAX_KEY: usize = 255;
/// How much of the digests is in a name: of the key, and of the request. Each letter holds five bits.
const KEY_LETTERS: usize = 12;
const REQUEST_LETTERS: usize = 8;

/// A request that was given a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    key: String,
    request: String,
}

/// A body of JSON, and the key under which it was sent.
pub struct Keyed<T> {
    pub key: Option<Key>,
    pub body: T,
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Keyed<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let Some(key) = request.headers().get(HEADER) else {
            let JsonBody(body) = JsonBody::from_request(request, state).await?;
            return Ok(Self { key: None, body });
        };
        let key = key.to_str().ok().filter(|key| (1..=MAX_KEY).contains(&key.len())).map(str::to_owned);
        let detail = || format!("Idempotency-Key must have 1 to {MAX_KEY} characters of ASCII");
        let key = key.ok_or_else(|| Problem::unusable(detail()))?;
        let (head, body) = request.into_parts();
        // How much there may be was looked at before (`routes::arrived`).
        let bytes = to_bytes(body, usize::MAX).await.map_err(|_| Problem::unusable("the body did not arrive"))?;
        let key = Key::new(&key, head.uri.path(), &bytes);
        let JsonBody(body) = JsonBody::from_request(Request::from_parts(head, Body::from(bytes)), state).await?;
        Ok(Self { key: Some(key), body })
    }
}

impl Key {
    fn new(key: &str, path: &str, body: &[u8]) -> Self {
        // A program may write the same object in another order.
        let body =
            serde_json::from_slice::<Value>(body).map_or_else(|_| body.to_vec(), |value| value.to_string().into());
        let mut request = blake3::Hasher::new();
        request.update(path.as_bytes()).update(&[0]).update(&body);
        Self {
            key: letters(&blake3::hash(key.as_bytes()), KEY_LETTERS),
            request: letters(&request.finalize(), REQUEST_LETTERS),
        }
    }

    /// The name of a thread that the request begins, behind the date.
    pub fn thread(&self) -> String {
        format!("{}{}", self.key, self.request)
    }

    /// The name of an input that the request writes.
    pub fn input(&self) -> InputId {
        InputId::new(format!("http-{}{}", self.key, self.request))
    }

    /// The thread that this request has begun before.
    pub async fn begun(&self, store: &dyn Store) -> Result<Option<ThreadId>, Problem> {
        match store.resolve(&self.key).await {
            Ok(thread) if thread.as_str().ends_with(&self.thread()) => Ok(Some(thread)),
            Ok(_) => Err(used()),
            Err(store::Error::UnknownThread(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether this request has written its input into a thread before.
    pub async fn is_sent(&self, store: &dyn Store, thread: &ThreadId) -> Result<bool, Problem> {
        let (input, same_key) = (self.input(), format!("http-{}", self.key));
        let found = replay_until(store, Selection::thread(thread), |record| match &*record.event {
            Event::InputArrived { id, .. } if id.0.starts_with(&same_key) => ControlFlow::Break(*id == input),
            _ => ControlFlow::Continue(()),
        });
        match found.await? {
            None => Ok(false),
            Some(true) => Ok(true),
            Some(false) => Err(used()),
        }
    }

    /// What came of a question by the decision that this request has brought before; none while nothing has come of it.
    pub async fn decided(&self, store: &dyn Store, thread: &ThreadId) -> Result<Option<Resolution>, Problem> {
        let this = Some(self.input());
        let found = replay_until(store, Selection::thread(thread), |record| match &*record.event {
            Event::ApprovalResolved { input, resolution, .. } if *input == this => {
                ControlFlow::Break(resolution.clone())
            }
            _ => ControlFlow::Continue(()),
        });
        Ok(found.await?)
    }
}

fn used() -> Problem {
    Problem::unusable("this Idempotency-Key was used for another request: use a new one for each request")
}

/// The beginning of a digest, in the letters of which names of threads are made.
fn letters(digest: &blake3::Hash, count: usize) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    digest.as_bytes().iter().take(count).map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
}
