//! A web service that streams answers as server-sent events. `cargo run -p majordomo --example service`, then
//! `curl -N 'http://ADDRESS/ask?q=hello'`.
//!
//! `text` events come while the model speaks, `done` comes last, with how the run ended and what it used. One conversation goes on over
//! several requests by its `conversation`.

use std::convert::Infallible;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use futures_util::{Stream, StreamExt};
use majordomo::{Limits, Model, Staff, ThreadId, Update};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Ask {
    q: String,
    conversation: Option<String>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model::replies(["Good morning! What can I do?", "You said hello before."]);
    let staff = Staff::builder().model(model).limits(Limits::new().tokens(50_000)).build().await?;
    let app = Router::new().route("/ask", get(ask)).with_state(staff.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let closed = async {
        // What is not over when the service ends would be resumed from a data folder; here it is gone.
        let _ = tokio::signal::ctrl_c().await;
    };
    axum::serve(listener, app).with_graceful_shutdown(closed).await?;
    staff.close().await;
    Ok(())
}

async fn ask(
    State(staff): State<Staff>,
    Query(ask): Query<Ask>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, (StatusCode, String)> {
    let session = match ask.conversation {
        Some(id) => staff.session_of(&ThreadId::new(id)),
        None => staff.session(),
    };
    let run = session.stream(ask.q).await.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    let conversation = run.root().clone();
    let events = run.filter_map(move |update| {
        let event = match update {
            Ok(Update::Text(piece)) => Some(Event::default().event("text").data(json!(piece.text).to_string())),
            Ok(Update::Done(report)) => {
                let done = json!({
                    "conversation": conversation.as_str(),
                    "outcome": report.outcome.as_str(),
                    "tokens": report.tree.tokens.total(),
                });
                Some(Event::default().event("done").data(done.to_string()))
            }
            Ok(Update::Past(_) | Update::Events(_)) => None,
            Err(error) => Some(Event::default().event("error").data(json!(error.to_string()).to_string())),
        };
        std::future::ready(event.map(Ok))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}
