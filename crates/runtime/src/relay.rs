//! What processes that share a store tell each other besides the log: that a provider has too much to do, and text while it is streamed.
//! It may be lost, and everything is right without it: each process finds a provider's limit by itself, and the logged answer holds the
//! whole text.
//!
//! Text is sent only for conversations that are watched in another process, and at most ten times a second for each thread.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use agent::ThreadId;
use serde_json::{Value, json};
use tokio::sync::{Notify, broadcast};

use crate::runtime::{Fleeting, FleetingKind, Inner, lock};

/// How often the text of a thread is sent.
const TEXT: Duration = Duration::from_millis(100);

/// How often a process says what is watched in it, and how long that counts.
const WATCHED: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(12));

/// The most bytes of text that are sent at once: a notification of the database has no room for more.
const MOST_TEXT: usize = 4_000;

/// The conversations that are watched in this process.
#[derive(Default)]
pub struct Watches {
    roots: Mutex<HashMap<ThreadId, usize>>,
    changed: Notify,
}

/// A conversation is watched until this is dropped.
pub struct Watching {
    watches: Arc<Watches>,
    root: ThreadId,
}

impl Watches {
    /// Has other processes send the text of a conversation.
    pub fn watch(self: &Arc<Self>, root: &ThreadId) -> Watching {
        *lock(&self.roots).entry(root.clone()).or_default() += 1;
        self.changed.notify_one();
        Watching { watches: self.clone(), root: root.clone() }
    }

    fn roots(&self) -> Vec<ThreadId> {
        lock(&self.roots).keys().cloned().collect()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let mut roots = lock(&self.watches.roots);
        if let Some(many) = roots.get_mut(&self.root) {
            *many -= 1;
            if *many == 0 {
                roots.remove(&self.root);
            }
        }
    }
}

/// Text of one turn that was not sent yet: whether it is what the model thinks, and the words.
type Pending = BTreeMap<(ThreadId, u32, bool), String>;

/// Tells and hears until the process leaves.
pub async fn relay(runtime: Weak<Inner>, mut told: broadcast::Receiver<Arc<str>>) {
    let Some(inner) = runtime.upgrade() else { return };
    let (mut overruns, mut fleeting) = (inner.providers.overruns(), inner.fleeting.subscribe());
    let (leaving, watches) = (inner.leaving.clone(), inner.watches.clone());
    drop(inner);
    let (mut pending, mut watched_at) = (Pending::new(), HashMap::<ThreadId, Instant>::new());
    let mut say_again = tokio::time::interval(WATCHED.0);
    let mut flush = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
    loop {
        tokio::select! {
            () = leaving.cancelled() => return,
            overrun = overruns.recv() => {
                let Some(runtime) = runtime.upgrade() else { return };
                if let Ok(overrun) = overrun {
                    runtime.store.tell(json!({ "slow": overrun.model, "wait_ms": overrun.wait_ms }).to_string());
                }
            }
            piece = fleeting.recv() => {
                let Some(runtime) = runtime.upgrade() else { return };
                // What was lost on the way is in the logged answer.
                let Ok(Fleeting { thread, what, text }) = piece else { continue };
                let (turn, is_thought) = match what {
                    FleetingKind::Turn(turn) => (turn, false),
                    FleetingKind::Thought(turn) => (turn, true),
                    FleetingKind::Call(_) => continue,
                };
                let is_watched = watched_at.get(&thread.root()).is_some_and(|at| at.elapsed() < WATCHED.1);
                if is_watched && runtime.sender(&thread).is_some() {
                    if pending.is_empty() {
                        flush.as_mut().reset((Instant::now() + TEXT).into());
                    }
                    pending.entry((thread, turn, is_thought)).or_default().push_str(&text);
                }
            }
            () = &mut flush, if !pending.is_empty() => {
                let Some(runtime) = runtime.upgrade() else { return };
                for ((thread, turn, is_thought), text) in std::mem::take(&mut pending) {
                    let from = text.floor_char_boundary(text.len().saturating_sub(MOST_TEXT));
                    let text = json!({ "text": text[from..], "thread": thread, "turn": turn, "thought": is_thought });
                    runtime.store.tell(text.to_string());
                }
            }
            heard = told.recv() => {
                let Some(runtime) = runtime.upgrade() else { return };
                if let Ok(heard) = heard {
                    hear(&runtime, &heard, &mut watched_at);
                }
            }
            _ = say_again.tick() => say_watched(&runtime, &watches, &mut watched_at),
            () = watches.changed.notified() => say_watched(&runtime, &watches, &mut watched_at),
        }
    }
}

fn say_watched(runtime: &Weak<Inner>, watches: &Watches, watched_at: &mut HashMap<ThreadId, Instant>) {
    watched_at.retain(|_, at| at.elapsed() < WATCHED.1);
    // Few enough for one notification each.
    for roots in watches.roots().chunks(100) {
        if let Some(runtime) = runtime.upgrade() {
            runtime.store.tell(json!({ "watched": roots }).to_string());
        }
    }
}

/// Takes in what another process told, or this one.
fn hear(runtime: &Inner, told: &str, watched_at: &mut HashMap<ThreadId, Instant>) {
    let Ok(told) = serde_json::from_str::<Value>(told) else { return };
    let thread = |value: &Value| value.as_str().map(ThreadId::new);
    if let Some(model) = told["slow"].as_str() {
        runtime.providers.slow(model, told["wait_ms"].as_u64());
    } else if let Some(roots) = told["watched"].as_array() {
        watched_at.extend(roots.iter().filter_map(thread).map(|root| (root, Instant::now())));
    } else if let (Some(text), Some(thread), Some(turn)) =
        (told["text"].as_str(), thread(&told["thread"]), told["turn"].as_u64())
        && runtime.sender(&thread).is_none()
    {
        let turn = u32::try_from(turn).unwrap_or(u32::MAX);
        let is_thought = told["thought"].as_bool().unwrap_or(false);
        let what = if is_thought { FleetingKind::Thought(turn) } else { FleetingKind::Turn(turn) };
        // There may be no receiver.
        let _ = runtime.fleeting.send(Fleeting { thread, what, text: text.to_owned() });
    }
}
