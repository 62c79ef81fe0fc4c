//! Where time enters. It never runs backwards within a process, whatever the wall clock does, and goes on while the machine sleeps.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent::Time;
use rustix::time::{ClockId, clock_gettime};

/// The wall clock at the start of the process, and a steady one since.
#[derive(Clone, Debug)]
pub struct Clock {
    started: Duration,
    wall_ms: i64,
}

impl Default for Clock {
    fn default() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self { started: steady(), wall_ms: i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX) }
    }
}

impl Clock {
    /// This moment.
    pub fn now(&self) -> Time {
        let elapsed = steady().saturating_sub(self.started);
        Time(self.wall_ms).plus_ms(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
    }

    /// A clock that goes as this one does, and says no less than `moment` from the start.
    #[must_use]
    pub fn not_before(&self, moment: Time) -> Self {
        let lead_ms = i64::try_from(moment.since_ms(self.now())).unwrap_or(i64::MAX);
        Self { wall_ms: self.wall_ms.saturating_add(lead_ms), ..self.clone() }
    }

    /// How long it is until `moment`.
    pub fn until(&self, moment: Time) -> Duration {
        Duration::from_millis(moment.since_ms(self.now()))
    }
}

/// Time since the machine was started, its sleep included.
fn steady() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
