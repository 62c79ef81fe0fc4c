//! Waiting for a store that cannot answer for a while: a disk that is full or fails, a file that another
//! process holds.

use std::error::Error as _;
use std::time::Duration;

use agent::ThreadId;

use crate::runtime::Inner;

/// The first and the longest pause before the store is asked again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Asks until the answer is one that will not change by itself. No error at all means that this process leaves.
pub async fn retry_transient<T, A>(
    runtime: &Inner,
    thread: &ThreadId,
    mut ask: impl FnMut() -> A,
) -> Result<T, Option<store::Error>>
where
    A: Future<Output = Result<T, store::Error>>,
{
    let mut pause = PAUSE.0;
    loop {
        match ask().await {
            Err(error) if error.is_passing() => {
                let why = error.source().map_or_else(String::new, |why| format!(": {why}"));
                tracing::warn!(%thread, "waiting for the store: {error}{why}");
                tokio::select! {
                    () = runtime.leaving.cancelled() => return Err(None),
                    () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE.1),
                }
            }
            answer => return answer.map_err(Some),
        }
    }
}
