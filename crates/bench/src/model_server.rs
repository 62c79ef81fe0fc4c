//! The process that plays the model: it answers every request with bytes that are ready beforehand, keeps the first body of
//! each kind so that others can send the same, and can hold answers back. It ends when its stdin does.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::answer::{Asked, CALLS, Who};
use crate::gauge;

struct Model {
    latency: Duration,
    hold: bool,
    answers: Mutex<HashMap<(Who, usize), Bytes>>,
    /// The first body of each kind.
    bodies: Mutex<HashMap<(&'static str, usize), Bytes>>,
    held: AtomicUsize,
    /// Closed once held answers may go.
    gate: Semaphore,
    /// When each request came, by the clock that all processes share.
    came: watch::Sender<Vec<u64>>,
}

/// Serves until stdin ends. The first line of stdout is the address.
pub async fn serve(latency_ms: u64, hold: bool) -> anyhow::Result<()> {
    let model = Arc::new(Model {
        latency: Duration::from_millis(latency_ms),
        hold,
        answers: Mutex::default(),
        bodies: Mutex::default(),
        held: AtomicUsize::new(0),
        gate: Semaphore::new(0),
        came: watch::Sender::default(),
    });
    let router = Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/body/{who}/{turn}", get(body))
        .route("/held", get(held))
        .route("/release", post(release))
        .route("/after/{moment_ns}", get(after))
        .route("/nth/{n}", get(nth))
        .layer(DefaultBodyLimit::disable())
        .with_state(model);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // A connection that cannot be set so is only slower.
        let _ = stream.set_nodelay(true);
    });
    tokio::select! {
        served = axum::serve(listener, router) => served?,
        _ = async { tokio::io::stdin().read(&mut [0]).await } => {}
    }
    Ok(())
}

async fn complete(State(model): State<Arc<Model>>, body: Bytes) -> Response {
    model.came.send_modify(|came| came.push(gauge::moment_ns()));
    let Ok(text) = std::str::from_utf8(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let asked = Asked::read(text);
    lock(&model.bodies).entry((asked.who.name(), asked.turn)).or_insert(body);
    let answer = lock(&model.answers).entry((asked.who, asked.turn)).or_insert_with(|| asked.answer().into()).clone();
    if !model.latency.is_zero() {
        tokio::time::sleep(model.latency).await;
    }
    if model.hold && asked.who == Who::Child && asked.turn == CALLS {
        model.held.fetch_add(1, Ordering::Relaxed);
        // An error is what is waited for: the gate was closed for good.
        let _ = model.gate.acquire().await;
    }
    let mut response = Response::new(Body::from(answer));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// The first body of a kind.
async fn body(State(model): State<Arc<Model>>, Path((who, turn)): Path<(String, usize)>) -> Result<Bytes, StatusCode> {
    lock(&model.bodies).get(&(&*who, turn)).cloned().ok_or(StatusCode::NOT_FOUND)
}

/// How many answers are held back.
async fn held(State(model): State<Arc<Model>>) -> String {
    model.held.load(Ordering::Relaxed).to_string()
}

async fn release(State(model): State<Arc<Model>>) {
    model.gate.close();
}

/// Waits for a request that comes after a moment, and says when it came.
async fn after(State(model): State<Arc<Model>>, Path(moment_ns): Path<u64>) -> String {
    let mut came = model.came.subscribe();
    let is_later = |came: &Vec<u64>| came.last().is_some_and(|newest| *newest > moment_ns);
    let newest = came.wait_for(is_later).await.ok().and_then(|came| came.last().copied());
    newest.unwrap_or(0).to_string()
}

/// Waits until so many requests have come in all, and says when the last of them did.
async fn nth(State(model): State<Arc<Model>>, Path(n): Path<usize>) -> String {
    let mut came = model.came.subscribe();
    let nth = came.wait_for(|came| came.len() >= n).await.ok().and_then(|came| came.get(n - 1).copied());
    nth.unwrap_or(0).to_string()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
