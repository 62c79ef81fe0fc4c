//! A thread as faces name it: the word for what it is doing, and whether whoever owned it has gone.

use agent::Time;
use serde_json::{Value, json};
use store::ThreadRow;

/// A thread as JSON: what is kept of it, and whether whoever owned it has gone.
pub fn object(row: &ThreadRow, now: Time) -> Value {
    let mut object = json!(row);
    object["state"] = json!(word(row, now));
    object
}

/// The word for what a thread is doing.
pub fn word(row: &ThreadRow, now: Time) -> String {
    match row.outcome {
        _ if is_left(row, now) => "interrupted".to_owned(),
        Some(outcome) if !row.state.is_live() => outcome.to_string(),
        Some(_) | None => row.state.as_str().to_owned(),
    }
}

/// Whether a thread is in the middle of something, and whoever owned it has gone.
pub fn is_left(row: &ThreadRow, now: Time) -> bool {
    row.state.is_live() && !row.owner.as_ref().is_some_and(|owner| owner.is_alive(now))
}
