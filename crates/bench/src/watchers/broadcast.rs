//! The bare broadcast that the server is compared with: the same bytes at the same times to the same clients, by the same HTTP library, and nothing
//! else. There is no log, no authentication, and a client that comes late has missed what was sent.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::stream;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::broadcast::{self, Sender};
use tokio::time::Instant;

use super::Recorded;
use super::server::{Door, Moments};
use crate::gauge::{self, Gauge};

/// Batches that a client may be behind.
const BEHIND: usize = 64;

/// Serves, and plays the batches of a file when it is told to.
pub async fn serve(recorded: &Recorded) -> anyhow::Result<()> {
    gauge::raise_file_limit()?;
    let batches: Vec<(u64, String)> = serde_json::from_slice(&std::fs::read(&recorded.batches)?)?;
    let sender = Arc::new(broadcast::channel(BEHIND).0);
    let router = Router::new().route("/", get(listen)).with_state(sender.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let listener = listener.tap_io(|stream| {
        // A connection that cannot be set so is only slower.
        let _ = stream.set_nodelay(true);
    });
    tokio::spawn(async { axum::serve(listener, router).await });
    let door = Door { addr, head: format!("GET / HTTP/1.1\r\nHost: {addr}\r\n") };
    println!("{}", serde_json::to_string(&door)?);
    let gauge = Gauge::begin();
    let mut told = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = told.next_line().await? {
        let said = match &*line {
            "gauge" => serde_json::to_string(&gauge.end()?)?,
            "listeners" => sender.receiver_count().to_string(),
            "play" => serde_json::to_string(&play(&batches, &sender).await?)?,
            _ => bail!("unknown command '{line}'"),
        };
        println!("{said}");
    }
    Ok(())
}

async fn listen(State(sender): State<Arc<Sender<Bytes>>>) -> impl IntoResponse {
    let batches = stream::unfold(sender.subscribe(), async |mut receiver| {
        let batch = receiver.recv().await.ok()?;
        Some((Ok::<Bytes, Infallible>(batch), receiver))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(batches))
}

/// Sends each batch at its moment; when that was.
async fn play(batches: &[(u64, String)], sender: &Sender<Bytes>) -> anyhow::Result<Moments> {
    let first = batches.first().context("nothing was recorded")?.0;
    let (begun, mut moments) = (Instant::now(), Vec::new());
    for (moment, text) in batches {
        tokio::time::sleep_until(begun + Duration::from_nanos(moment - first)).await;
        let last = text.lines().filter_map(|line| line.strip_prefix("id: ")).next_back();
        let last = last.context("a batch without a frame was recorded")?.parse()?;
        moments.push((last, gauge::moment_ns()));
        sender.send(Bytes::copy_from_slice(text.as_bytes())).context("no client is connected")?;
    }
    Ok(moments)
}
