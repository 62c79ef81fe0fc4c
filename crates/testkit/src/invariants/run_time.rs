//! How long a run has really had, in time that runs evenly: no clock is believed.

use agent::{Event, Outcome, Time};

/// The hours of a thread's newest run.
#[derive(Clone, Debug)]
pub struct RunTime {
    /// When the run began; none before the first, and between two.
    begun: Option<Time>,
    /// How much of it a process drove the run and it waited for more than people. Time without a process is not counted.
    driven_ms: u64,
    /// When its owner last wrote.
    touched: Time,
}

impl RunTime {
    /// Of a thread that came to be.
    pub fn new(now: Time) -> Self {
        Self { begun: None, driven_ms: 0, touched: now }
    }

    /// Its owner wrote these, after a time in which it waited for people alone, or not: whether they say that the time is over.
    pub fn pass(&mut self, now: Time, waited_for_people: bool, events: &[Event]) -> bool {
        if !waited_for_people && !matches!(events.first(), Some(Event::Reopened { .. })) {
            self.driven_ms += now.since_ms(self.touched);
        }
        self.touched = now;
        let mut is_over = false;
        for event in events {
            match event {
                Event::RunStarted { .. } | Event::TurnStarted(_) | Event::StopBegun { .. } if self.begun.is_none() => {
                    (self.begun, self.driven_ms) = (Some(now), 0);
                }
                Event::Reported(_) => self.begun = None,
                _ => {}
            }
            is_over |= matches!(event, Event::StopBegun { ending, .. } if ending.outcome == Outcome::Timeout);
        }
        is_over
    }

    /// For how long the run was driven.
    pub fn driven_ms(&self) -> u64 {
        self.driven_ms
    }

    /// How long ago the run began, driven or not; 0 where none goes on.
    pub fn since_begun_ms(&self, now: Time) -> u64 {
        self.begun.map_or(0, |begun| now.since_ms(begun))
    }
}
