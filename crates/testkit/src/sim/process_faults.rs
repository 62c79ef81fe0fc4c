//! Faults of processes: they exit, they pause while time runs on, and the wall clock jumps.

use agent::Time;
use store::ProcessId;

use super::people::TRY_AGAIN_MS;
use super::process::Process;
use super::{Due, Sight, Sim};

const HOUR_MS: i64 = 3_600_000;

/// What becomes of a process at one of its moments.
pub(super) enum ProcessFate {
    Lives,
    Gone,
    Stands(Time),
}

impl Sim {
    /// A process begins. Its clock is the wall clock of this moment, for as long as it lives.
    pub(super) fn new_process(&mut self) -> Process {
        self.begun += 1;
        let consent = self.consent();
        let process = Process::new(ProcessId::new(format!("p{}", self.begun)), self.wall_ahead_ms, consent);
        self.disk.register(&process.name, process.clock(self.now));
        process
    }

    /// Any of the processes.
    pub(super) fn anybody(&mut self) -> usize {
        self.dice.below(self.processes.len() as u64) as usize
    }

    /// The clock leaps now and then, and people try to go on with threads that need no process.
    pub(super) fn plan_process_faults(&mut self) {
        for _ in 0..*self.dice.pick(&[0, 0, 1, 3]) {
            let (after_ms, by_ms) = (self.dice.below(300_000), self.leap_ms());
            self.after(after_ms, Due::Leap(by_ms));
        }
        for _ in 0..*self.dice.pick(&[0, 0, 1, 2]) {
            let (after_ms, process) = (self.dice.below(300_000), self.anybody());
            self.after(after_ms, Due::Resume(process, TRY_AGAIN_MS));
        }
    }

    /// Whatever may happen to a process between two of its doings.
    pub(super) fn fate(&mut self, process: usize) -> ProcessFate {
        if let Some(until) = self.processes[process].stands_until(self.now) {
            return ProcessFate::Stands(until);
        }
        self.summary.moments += 1;
        if self.crashes.contains(&self.summary.moments) {
            self.crash(process);
            return ProcessFate::Gone;
        }
        if self.stalls.contains(&self.summary.moments) {
            return ProcessFate::Stands(self.stand(process));
        }
        ProcessFate::Lives
    }

    /// A process that is not paused has sent a heartbeat lately.
    pub(super) fn beat(&self) {
        for process in self.processes.iter().filter(|process| process.stands_until(self.now).is_none()) {
            self.disk.heartbeat(&process.name, process.clock(self.now));
        }
    }

    /// Whether the process of this name lives and does not stand still.
    pub(super) fn is_well(&self, name: &ProcessId) -> bool {
        self.processes.iter().any(|process| process.name == *name && process.stands_until(self.now).is_none())
    }

    /// The wall clock leaps. Only those feel it who begin afterwards; one that has nothing to do may be begun anew.
    pub(super) fn leap(&mut self, by_ms: i64) {
        self.wall_ahead_ms += by_ms;
        self.note(format!("the wall clock leaps by {} s", by_ms / 1_000));
        let process = self.anybody();
        if self.processes[process].copies.is_empty() && self.dice.chance(70) {
            let left = self.processes[process].name.clone();
            self.disk.forget(&left);
            self.processes[process] = self.new_process();
        }
    }

    /// The process is gone, with all that it had in its hands, and another one stands ready in its place.
    fn crash(&mut self, process: usize) {
        self.beat();
        self.summary.see(Sight::Crash);
        let name = self.processes[process].name.clone();
        self.note(format!("{name} goes away"));
        self.dues.retain(|_, due| matches!(due, Due::Resume(..) | Due::Finish(..)) || due.process() != Some(process));
        if self.dice.chance(60) {
            // It ran here, where the kernel knows; otherwise its last heartbeat must grow old first.
            self.disk.forget(&name);
        }
        if self.dice.chance(25) {
            let by_ms = self.leap_ms();
            self.leap(by_ms);
        }
        self.processes[process] = self.new_process();
        let away_ms = if self.dice.chance(50) { 0 } else { self.dice.below(200_000) };
        let next = self.anybody();
        self.after(away_ms, Due::Resume(next, TRY_AGAIN_MS));
    }

    /// The process stands still until the moment that is the answer; another process may take it for dead.
    fn stand(&mut self, process: usize) -> Time {
        self.beat();
        self.summary.see(Sight::Stall);
        let still_ms = self.dice.between(1_000, 200_000);
        let until = self.now.plus_ms(still_ms);
        self.processes[process].stands_until = Some(until);
        let name = self.processes[process].name.clone();
        self.note(format!("{name} stands still for {} s", still_ms / 1_000));
        if self.dice.chance(70) {
            let (after_ms, other) = (self.dice.below(still_ms), (process + 1) % self.processes.len());
            self.after(after_ms, Due::Resume(other, TRY_AGAIN_MS));
        }
        until
    }

    fn leap_ms(&mut self) -> i64 {
        if self.dice.chance(50) { self.dice.between(1, 400) as i64 * 24 * HOUR_MS } else { -HOUR_MS }
    }
}
