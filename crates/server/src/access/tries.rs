//! Tries at the password: taken one after the other, and a wrong one holds up the next, so that guessing takes years.
//!
//! Only a few wait for their turn and more are refused: a queue without end would keep the right password waiting, too.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};

/// So many tries are under way or wait.
const MAX_WAITING: usize = 16;

/// The tries at one server.
pub(crate) struct Tries {
    turn: Arc<Mutex<()>>,
    places: Semaphore,
    /// A wrong one takes so long.
    pause: Duration,
}

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// It was the password.
    Right,
    /// It was not.
    Wrong,
    /// It was not looked at: too many wait already.
    NotNow,
}

impl Tries {
    /// None were made yet.
    pub fn new(pause: Duration) -> Self {
        Self { turn: Arc::default(), places: Semaphore::new(MAX_WAITING), pause }
    }

    /// Makes one in its turn.
    pub async fn make(&self, is_right: impl FnOnce() -> bool) -> Tried {
        let Ok(_place) = self.places.try_acquire() else { return Tried::NotNow };
        let turn = self.turn.clone().lock_owned().await;
        if is_right() {
            return Tried::Right;
        }
        let pause = self.pause;
        // A task of its own: a client that disconnects without waiting for the answer delays the next one just as long.
        let paused = tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            drop(turn);
        });
        // It ends well, or with the whole process.
        let _ = paused.await;
        Tried::Wrong
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::time::Instant;

    use super::*;

    const PAUSE: Duration = Duration::from_secs(1);

    // T3: the clock is the test's, and moves only where everybody waits for it
    #[tokio::test(start_paused = true)]
    async fn wrong_tries_are_taken_one_after_the_other_and_the_right_one_in_its_turn() {
        let (tries, started) = (Tries::new(PAUSE), Instant::now());
        assert_eq!(tries.make(|| true).await, Tried::Right);
        assert_eq!(started.elapsed(), Duration::ZERO, "a right password does not wait");
        let wrong = join_all((0..5).map(|_| tries.make(|| false)));
        let (wrong, right) = tokio::join!(wrong, tries.make(|| true));
        assert_eq!((wrong, right), (vec![Tried::Wrong; 5], Tried::Right));
        assert!(started.elapsed() >= PAUSE * 5, "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_disconnects_delays_the_next_all_the_same() {
        let (tries, started) = (Tries::new(PAUSE), Instant::now());
        for _ in 0..3 {
            let hurried = tokio::time::timeout(PAUSE / 100, tries.make(|| false)).await;
            assert!(hurried.is_err(), "it would have had to wait");
        }
        assert_eq!(tries.make(|| true).await, Tried::Right);
        assert!(started.elapsed() >= PAUSE, "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn those_for_whom_there_is_no_place_are_sent_away_unseen() {
        let tries = Tries::new(PAUSE);
        let all = join_all((0..MAX_WAITING + 3).map(|_| tries.make(|| false))).await;
        assert_eq!(all[..MAX_WAITING], [Tried::Wrong; MAX_WAITING]);
        assert_eq!(all[MAX_WAITING..], [Tried::NotNow; 3]);
        assert_eq!(tries.make(|| true).await, Tried::Right, "and there is room again");
    }
}
