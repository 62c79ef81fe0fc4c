//! Where time enters. It never runs backwards within a process, whatever the wall clock does.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agent::Time;

/// The wall clock at the start of the process, and a steady one since.
#[derive(Clone, Debug)]
pub struct Clock {
    started: Instant,
    wall_ms: i64,
}

impl Default for Clock {
    fn default() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { started: Instant::now(), wall_ms: i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX) }
    }
}

impl Clock {
    /// This moment.
    pub fn now(&self) -> Time {
        Time(self.wall_ms).plus_ms(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// How long it is until `moment`.
    pub fn until(&self, moment: Time) -> Duration {
        Duration::from_millis(moment.since_ms(self.now()))
    }
}
