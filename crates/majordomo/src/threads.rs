//! A thread as faces name it: the word for what it is doing, and whether whoever owned it has gone.

use serde_json::{Value, json};
use store::{Living, ThreadRow};

/// A thread as JSON: what is kept of it, and whether whoever owned it has gone.
pub fn object(row: &ThreadRow, living: &Living) -> Value {
    let mut object = json!(row);
    object["state"] = json!(word(row, living));
    object
}

/// The word for what a thread is doing.
pub fn word(row: &ThreadRow, living: &Living) -> String {
    match row.outcome {
        _ if is_left(row, living) => "interrupted".to_owned(),
        Some(outcome) if !row.state.is_live() => outcome.to_string(),
        Some(_) | None => row.state.as_str().to_owned(),
    }
}

/// Whether a thread is in the middle of something, and the process that owned it has gone. The store is asked who lives after the
/// row was read: a process that is not known yet would else be taken for dead.
pub fn is_left(row: &ThreadRow, living: &Living) -> bool {
    row.state.is_live() && !living.owns(row)
}
