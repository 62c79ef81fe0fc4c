//! The state of a thread as every list shows it, and whether the process that drove it is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use agent::{Event, InputId, Outcome, Outside, State, ThreadId, Time};
use async_recursion::async_recursion as boxed;
use serde::Serialize;
use serde_json::{Value, json};
use store::{Living, Record, Selection, Store, ThreadRow, replay_until};

/// What a thread is doing, or how its last run ended. The words are those of [`State`] and [`Outcome`]; there are no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// A run goes on, or the thread was asked nothing yet.
    Doing(State),
    /// Its last run has ended; `interrupted` also where the process that drove it is gone in the middle of a run.
    Ended(Outcome),
}

impl ThreadState {
    /// The state of a thread. The store is asked who lives after the row was read: a process that is not known yet would else be
    /// taken for dead.
    pub fn of(row: &ThreadRow, living: &Living) -> Self {
        match row.outcome {
            _ if is_left(row, living) => Self::Ended(Outcome::Interrupted),
            // One that stays waits to be asked more; how its last turn ended is its outcome.
            Some(_) if row.persistent && !row.state.is_live() => Self::Doing(State::Idle),
            Some(outcome) if !row.state.is_live() => Self::Ended(outcome),
            Some(_) | None => Self::Doing(row.state),
        }
    }

    /// The word used on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Doing(state) => state.as_str(),
            Self::Ended(outcome) => outcome.as_str(),
        }
    }
}

impl fmt::Display for ThreadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a thread and all its descendants used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeUsage {
    /// Tokens, those of lost requests included.
    pub tokens: u64,
    /// Money, in millionths of a dollar, that of lost requests included.
    pub cost_microusd: u64,
    /// Whether some of it is what was reserved for requests whose answer was lost.
    pub estimated: bool,
    /// Whether some of the tokens are of a model without a known price. One that a thread had only before it was given another model is not
    /// looked at, if the other has a price.
    pub price_unknown: bool,
}

/// Writes what a person says of a thread into its log. Each is an input under a name of its own, so that of two that are said at the same moment
/// neither is taken for the other.
#[boxed]
pub async fn mark(store: &dyn Store, thread: &ThreadId, said: Outside, now: Time) -> Result<(), store::Error> {
    store.arrive(thread, InputId::new(runtime::fresh_name()), said, now, false).await?;
    Ok(())
}

/// What each of these threads used with all its descendants, in their order.
#[boxed]
pub async fn tree_usage(store: &dyn Store, rows: &[ThreadRow]) -> Result<Vec<TreeUsage>, store::Error> {
    let mut by_thread: BTreeMap<ThreadId, TreeUsage> = BTreeMap::new();
    let roots: BTreeSet<&ThreadId> = rows.iter().map(|row| &row.root).collect();
    for root in roots {
        // Of a model of one tree the same is known everywhere in it.
        let mut unknown: BTreeMap<Arc<str>, bool> = BTreeMap::new();
        for used in store.usage(Some(root)).await? {
            let is_free = used.cost_microusd == 0 && used.tokens.total().saturating_add(used.booked_tokens) > 0;
            let price_unknown = match unknown.get(&used.model) {
                _ if !is_free => false,
                Some(unknown) => *unknown,
                None => {
                    let is_unknown = !has_known_cost(store, &used.thread, &used.model).await?;
                    *unknown.entry(used.model.clone()).or_insert(is_unknown)
                }
            };
            let mut next = Some(used.thread.clone());
            while let Some(id) = next {
                next = id.parent();
                let sum = by_thread.entry(id).or_default();
                sum.tokens = sum.tokens.saturating_add(used.tokens.total()).saturating_add(used.booked_tokens);
                sum.cost_microusd = sum.cost_microusd.saturating_add(used.cost_microusd);
                sum.estimated |= used.booked_tokens > 0;
                sum.price_unknown |= price_unknown;
            }
        }
    }
    Ok(rows.iter().map(|row| by_thread.get(&row.id).copied().unwrap_or_default()).collect())
}

/// Whether it was known what a model costs when a thread got it.
async fn has_known_cost(store: &dyn Store, thread: &ThreadId, model: &str) -> Result<bool, store::Error> {
    let got = |record: Record| {
        let given = match &*record.event {
            Event::ThreadCreated(created) => Some(&created.role.model),
            Event::SettingsChanged { model, .. } => model.as_deref(),
            _ => None,
        };
        match given.filter(|given| *given.name == *model) {
            Some(given) => ControlFlow::Break(given.has_known_cost()),
            None => ControlFlow::Continue(()),
        }
    };
    Ok(replay_until(store, Selection::thread(thread), got).await?.unwrap_or(true))
}

/// A thread as JSON, with its [`ThreadState`].
pub fn object(row: &ThreadRow, living: &Living) -> Value {
    let mut object = json!(row);
    object["state"] = json!(ThreadState::of(row, living).as_str());
    object
}

/// Whether a thread is in the middle of a run, and the process that drove it is gone. For `living` see [`ThreadState::of`]. A sub-agent that
/// waits for a process to begin it is not: its first event is all that there is.
pub fn is_left(row: &ThreadRow, living: &Living) -> bool {
    let waits_to_begin = row.head == 1 && row.owner.is_none();
    row.state.is_live() && !waits_to_begin && !living.owns(row)
}
