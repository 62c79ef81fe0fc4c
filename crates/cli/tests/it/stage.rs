//! Where requests wait for each other, so that it shows how many are under way at once.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A wave that is not whole by then never will be.
const DEADLINE: Duration = Duration::from_secs(30);

/// Lets requests through in waves: those of a wave only once all of them are there, the last one first.
pub struct Stage {
    wave: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    most: usize,
    arrived: usize,
    let_go: usize,
}

impl Stage {
    pub fn in_waves_of(wave: usize) -> Self {
        Self { wave, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for the others of the wave of request number `number`, from 0. Needs a runtime of several threads.
    pub fn enter(&self, number: usize) {
        tokio::task::block_in_place(|| {
            let mut state = self.lock();
            state.waiting += 1;
            state.arrived += 1;
            state.most = state.most.max(state.waiting);
            self.changed.notify_all();
            let place = number % self.wave;
            let (first, next) = (number - place, number - place + self.wave);
            let turn = first + self.wave - 1 - place;
            let is_early = |state: &mut State| state.arrived < next || state.let_go < turn;
            let waited = self.changed.wait_timeout_while(state, DEADLINE, is_early);
            let (mut state, late) = waited.expect("nobody panics with the lock held");
            state.waiting -= 1;
            state.let_go += 1;
            drop(state);
            self.changed.notify_all();
            assert!(!late.timed_out(), "request {number} waited for a wave that never came");
        });
    }

    /// The most that ever waited at once.
    pub fn most(&self) -> usize {
        self.lock().most
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with the lock held")
    }
}
