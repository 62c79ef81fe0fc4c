//! Death at a chosen event, for tests of what survives it: `MAJORDOMO_FAILPOINT=before:7` kills this process as if the
//! machine had, just before the commit that holds the seventh event it writes, `after:7` just after it.
//!
//! Only there with the feature `failpoints`, which no build but that of tests turns on. Deliberately absent: any failure
//! from which a process could recover, for those are played by stores that a test makes up.

use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// The variable that names the moment.
pub(crate) const VARIABLE: &str = "MAJORDOMO_FAILPOINT";

/// Events that are kept, through whichever store of this process.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// So many events are about to be kept in one transaction.
pub(crate) fn before_commit(events: u64) {
    die_if_chosen("before", events);
}

/// So many events were kept in one transaction, and no reader knows of it yet.
pub(crate) fn after_commit(events: u64) {
    die_if_chosen("after", events);
    KEPT.fetch_add(events, Ordering::Relaxed);
}

fn die_if_chosen(moment: &str, events: u64) {
    let Ok(choice) = std::env::var(VARIABLE) else { return };
    let chosen = choice.strip_prefix(moment).and_then(|rest| rest.strip_prefix(':')?.parse::<u64>().ok());
    let kept = KEPT.load(Ordering::Relaxed);
    if chosen.is_some_and(|chosen| kept < chosen && chosen <= kept + events) {
        kill_process(getpid(), Signal::KILL).expect("a process may kill itself");
        // The other threads may run for a moment longer; this one goes no further.
        loop {
            std::thread::park();
        }
    }
}
