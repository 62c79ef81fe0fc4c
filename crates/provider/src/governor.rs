//! One governor per provider and model for the whole process: how many calls run at once, which is next, and until when
//! all wait.
//!
//! A model begins with many calls at once, and each success lets in one more while callers wait, until the provider first has
//! too much to do. That halves the number of calls; from then on success brings it back slowly. A provider's wish to wait is
//! obeyed by all callers, never shortened. It decides no retries: those belong to the rules.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;

/// So many good calls, while callers wait, for one more at a time, once the provider has had too much to do. Before that, each
/// good call is for one more.
const SUCCESSES_PER_STEP: u32 = 8;

/// What other processes tell within this time is of the same moment.
const ONE_MOMENT: Duration = Duration::from_secs(1);

/// Callers that waited for the same moment spread over at most this long behind it.
const JITTER: Duration = Duration::from_millis(500);

/// How many calls a model gets at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// At first.
    pub start: usize,
    /// At most.
    pub max: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { start: 128, max: 1024 }
    }
}

/// The line in front of one model. Clones share the line.
#[derive(Clone, Debug)]
pub(crate) struct Governor(Arc<Mutex<State>>);

/// How a line is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GovernorState {
    /// Calls that may run at once.
    pub limit: usize,
    /// Calls that do.
    pub running: usize,
    /// Callers in line.
    pub waiting: usize,
    /// How long everybody still waits because the provider asked for it.
    pub pause: Duration,
}

/// The right to make one call. Dropping it gives the place to the next in line.
#[must_use = "a call without its permit is not counted"]
#[derive(Debug)]
pub(crate) struct Permit {
    governor: Governor,
    /// How often the limit had been halved when this call was let in.
    halvings: u64,
}

#[derive(Debug)]
struct State {
    pace: Pace,
    /// The longest wish of the provider that all callers obey.
    longest_pause: Duration,
    limit: usize,
    running: usize,
    /// First come, first served. A caller that went away is found out when its turn comes.
    line: VecDeque<oneshot::Sender<Permit>>,
    not_before: Option<Instant>,
    successes: u32,
    halvings: u64,
    /// When the limit was halved last.
    halved_at: Option<Instant>,
    /// Who is told that the provider had too much to do.
    overruns: Option<(Arc<str>, broadcast::Sender<Overrun>)>,
}

/// A provider had too much to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// `provider/model`.
    pub model: Arc<str>,
    /// For how long it wants to be left alone, if it said so.
    pub wait_ms: Option<u64>,
}

impl Governor {
    /// A governor for a model that has had no request yet.
    pub(crate) fn new(pace: Pace, longest_pause: Duration) -> Self {
        let limit = pace.start.clamp(1, pace.max.max(1));
        Self(Arc::new(Mutex::new(State {
            pace,
            longest_pause,
            limit,
            running: 0,
            line: VecDeque::new(),
            not_before: None,
            successes: 0,
            halvings: 0,
            halved_at: None,
            overruns: None,
        })))
    }

    /// The same of a model of this name, telling when its provider has too much to do.
    pub(crate) fn telling(self, model: Arc<str>, overruns: broadcast::Sender<Overrun>) -> Self {
        self.lock().overruns = Some((model, overruns));
        self
    }

    /// The provider had too much to do for another process. What several processes tell of one moment halves the limit once.
    pub(crate) fn slow(&self, wait_ms: Option<u64>) {
        let mut state = self.lock();
        state.successes = 0;
        if state.halved_at.is_none_or(|at| at.elapsed() >= ONE_MOMENT) {
            state.halve();
        }
        state.wait(wait_ms);
    }

    /// Waits for a place, in order of arrival, and then for the moment before which no request may be sent. Dropping the future
    /// leaves the line.
    pub(crate) async fn admit(&self) -> Permit {
        let called = match self.enter() {
            Ok(permit) => return permit,
            Err(called) => called,
        };
        self.serve();
        let permit = called.await.expect("a place in line is only given up for a permit");
        while let Some(until) = self.pause_end() {
            tokio::time::sleep_until(until + jitter()).await;
        }
        permit
    }

    /// A permit where neither a place nor a moment has to be waited for; otherwise a place in line. Nearly every call of a
    /// model that is not overrun passes here, and all of them share the lock.
    fn enter(&self) -> Result<Permit, oneshot::Receiver<Permit>> {
        let mut state = self.lock();
        if state.line.is_empty()
            && state.running < state.limit
            && state.not_before.is_none_or(|at| at <= Instant::now())
        {
            state.running += 1;
            return Ok(Permit { governor: self.clone(), halvings: state.halvings });
        }
        let (place, called) = oneshot::channel();
        state.line.push_back(place);
        Err(called)
    }

    /// How the line is doing.
    pub(crate) fn state(&self) -> GovernorState {
        let state = self.lock();
        let pause = state.not_before.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        let waiting = state.line.iter().filter(|place| !place.is_closed()).count();
        GovernorState { limit: state.limit, running: state.running, waiting, pause }
    }

    /// Lets in as many as there are places. Permits are handed over without holding the lock: one whose caller goes
    /// away at that very moment comes back through `Drop`.
    fn serve(&self) {
        loop {
            let mut state = self.lock();
            if state.running >= state.limit {
                return;
            }
            let Some(place) = state.line.pop_front() else { return };
            if place.is_closed() {
                continue;
            }
            state.running += 1;
            let permit = Permit { governor: self.clone(), halvings: state.halvings };
            drop(state);
            drop(place.send(permit));
        }
    }

    fn pause_end(&self) -> Option<Instant> {
        self.lock().not_before.filter(|until| *until > Instant::now())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// The call was answered.
    pub(crate) fn went_well(self) {
        let mut state = self.governor.lock();
        let in_demand = state.running >= state.limit;
        if in_demand && state.limit < state.pace.max {
            state.successes += 1;
            if state.halvings == 0 || state.successes >= SUCCESSES_PER_STEP {
                state.successes = 0;
                state.limit += 1;
            }
        }
    }

    /// The provider had too much to do, and perhaps said for how long. Calls that were already on their way when the
    /// limit was halved do not halve it again.
    pub(crate) fn was_too_much(self, retry_after_ms: Option<u64>) {
        let mut state = self.governor.lock();
        state.successes = 0;
        if self.halvings == state.halvings {
            state.halve();
            if let Some((model, overruns)) = &state.overruns {
                // There may be no receiver.
                let _ = overruns.send(Overrun { model: model.clone(), wait_ms: retry_after_ms });
            }
        }
        state.wait(retry_after_ms);
    }
}

impl State {
    fn halve(&mut self) {
        self.halvings += 1;
        self.halved_at = Some(Instant::now());
        self.limit = (self.limit / 2).max(1);
    }

    fn wait(&mut self, wish_ms: Option<u64>) {
        if let Some(wish_ms) = wish_ms {
            let until = Instant::now() + Duration::from_millis(wish_ms).min(self.longest_pause);
            self.not_before = self.not_before.max(Some(until));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.governor.lock();
        state.running -= 1;
        let is_awaited = !state.line.is_empty();
        drop(state);
        if is_awaited {
            self.governor.serve();
        }
    }
}

/// Always added to a moment, never taken off it.
fn jitter() -> Duration {
    let random = RandomState::new().build_hasher().finish();
    Duration::from_millis(random % (JITTER.as_millis() as u64 + 1))
}

#[cfg(test)]
mod tests;
