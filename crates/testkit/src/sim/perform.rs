//! Effects are performed: most of them put an answer into the queue, which comes if the process lives to see it.

use agent::event::VerdictKind;
use agent::thread::may_repeat;
use agent::{CallId, Effect, Input, InputId, Outside, Strength, ThreadId};

use crate::invariants::{Broken, hold};

use super::{Due, Sim, hands, voice};

impl Sim {
    pub(super) fn perform(&mut self, id: &ThreadId, effect: Effect) -> Result<(), Broken> {
        match effect {
            Effect::CallModel { not_before, .. } => {
                self.call_model(id, not_before.map_or(0, |at| at.since_ms(self.now)))
            }
            Effect::CancelModel { turn } => {
                self.cancel_model(id, turn);
                Ok(())
            }
            Effect::RunTool { call, .. } => self.run_tool(id, call),
            Effect::StopTool { call } => {
                if let Some(ticket) = self.working.remove(&(id.clone(), call.clone())) {
                    self.dues.remove(&ticket);
                }
                let soon = self.dice.below(2_000);
                self.after(
                    soon,
                    Due::Input(id.clone(), Box::new(Input::ToolFinished { call, result: hands::stopped() })),
                );
                Ok(())
            }
            Effect::StartChild { child } => self.start_child(id, &child),
            Effect::StopChild { child, strength, reason } => {
                let name = match strength {
                    Strength::Cancel => "stop-cancel",
                    Strength::Kill => "stop-kill",
                };
                self.send(&child, InputId::new(name), Outside::Stopped { strength, reason })?;
                self.fetch_report(id, &child);
                Ok(())
            }
            Effect::TellChild { child, call, text } => {
                let delivered = !self.records[&child].replayed.is_over();
                if delivered {
                    let from = id.as_str().into();
                    self.send(&child, InputId::new(call.as_str()), Outside::Steered { text, from })?;
                }
                let soon = self.dice.below(100);
                self.after(soon, Due::Input(id.clone(), Box::new(Input::ChildTold { call, delivered })));
                Ok(())
            }
        }
    }

    fn call_model(&mut self, id: &ThreadId, wait_ms: u64) -> Result<(), Broken> {
        let record = self.records.get_mut(id).expect("whoever asks has a log");
        record.prompts.asked(&self.live[id])?;
        let slow = self.dice.chance(10);
        let takes_ms = if slow { self.dice.between(30_000, 600_000) } else { self.dice.between(50, 8_000) };
        if slow {
            self.after(wait_ms + takes_ms / 2, Due::Heard(id.clone()));
        }
        let ticket = self.after(wait_ms + takes_ms, Due::Answer(id.clone()));
        self.asked.insert(id.clone(), ticket);
        Ok(())
    }

    /// The request is ended; an answer that is nearly there may cross that.
    fn cancel_model(&mut self, id: &ThreadId, turn: u32) {
        let crosses = self.dice.chance(20);
        if let Some(ticket) = self.asked.get(id).copied()
            && self.dues.contains_key(&ticket)
        {
            if crosses {
                return;
            }
            self.dues.remove(&ticket);
        }
        let soon = self.dice.below(500);
        let input = voice::cut_short(&mut self.dice, turn);
        self.after(soon, Due::Input(id.clone(), input.into()));
    }

    fn run_tool(&mut self, id: &ThreadId, call: CallId) -> Result<(), Broken> {
        let slot = self.live[id].calls.slot(&call).expect("a tool runs for a call that is open");
        let repeats = match &slot.verdict {
            VerdictKind::Run { reach, idempotent } => may_repeat(*reach, *idempotent),
            VerdictKind::Verb | VerdictKind::Refused { .. } => false,
        };
        let times = self.executions.entry((id.clone(), call.clone())).or_default();
        *times += 1;
        let most = if repeats { 1 + self.summary.crashes } else { 1 };
        let times = *times;
        hold("a side effect is not done twice", times <= most, || format!("{id} ran {call} {times} times"))?;
        let takes_ms = hands::takes_ms(&mut self.dice, &self.temper);
        let result = hands::result(&mut self.dice);
        let input = Box::new(Input::ToolFinished { call: call.clone(), result });
        if self.dice.chance(3) {
            // A result that comes twice means nothing the second time.
            self.after(takes_ms + 10, Due::Input(id.clone(), input.clone()));
        }
        let ticket = self.after(takes_ms, Due::Input(id.clone(), input));
        self.working.insert((id.clone(), call), ticket);
        Ok(())
    }

    /// A child is begun, gone on with, or asked for the report that it has already written.
    fn start_child(&mut self, id: &ThreadId, child: &ThreadId) -> Result<(), Broken> {
        if !self.records.contains_key(child) {
            let created = self.live[id].birth(child).expect("a parent knows the children that it starts");
            self.create(&created);
            let soon = self.dice.below(20);
            self.after(soon, Due::Input(child.clone(), Box::new(Input::Begin)));
            return Ok(());
        }
        let is_left = !self.live.contains_key(child) && !self.records[child].replayed.is_over();
        self.fetch_report(id, child);
        if is_left { self.reopen(child) } else { Ok(()) }
    }

    /// The report of a child that is over already, from its log.
    fn fetch_report(&mut self, id: &ThreadId, child: &ThreadId) {
        if let Some(report) = self.records[child].ledger.reports().last().cloned() {
            self.hand_up(id, child, report);
        }
    }
}
