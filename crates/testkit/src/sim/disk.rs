//! What outlives every process: the real store, and beside it what each log leads to, to compare the two.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::event::ThreadCreated;
use agent::{Event, InputId, Outside, Thread, ThreadId, Time};
use store::{Appended, Commit, Error, ProcessId, Selection, Store, read_all};
use tokio::runtime::{Builder, Runtime};

use crate::invariants::{Broken, LogChecker, Prompts, RunTime, family, hold};

/// What outlives every process.
pub(super) struct Disk {
    store: Arc<dyn Store>,
    /// Waits for the store.
    tokio: Runtime,
    records: BTreeMap<ThreadId, Record>,
}

/// A log, and what follows from it.
pub(super) struct Record {
    /// The state that the log alone leads to.
    pub replayed: Thread,
    /// How many events there are.
    pub head: u64,
    /// Who may write, and at which epoch, as far as takeovers and reports tell.
    pub owner: Option<ProcessId>,
    pub epoch: u64,
    pub checker: LogChecker,
    pub prompts: Prompts,
    /// How often a process went on with it.
    pub reopened: u32,
    /// How long its newest run may take.
    granted_ms: Option<u64>,
    hours: RunTime,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Done,
    /// Another process has written meanwhile.
    Behind,
    /// The thread is not the writer's any more.
    Fenced,
}

impl Disk {
    /// With a store in which nothing is yet.
    pub fn of(store: Arc<dyn Store>) -> Self {
        let tokio = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { store, tokio, records: BTreeMap::new() }
    }

    /// The answer of the store.
    fn answer<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.tokio.block_on(answer)
    }

    /// The log of a thread that exists.
    pub fn record(&self, id: &ThreadId) -> &Record {
        &self.records[id]
    }

    pub fn record_mut(&mut self, id: &ThreadId) -> &mut Record {
        self.records.get_mut(id).expect("a thread that is written to has a log")
    }

    pub fn knows(&self, id: &ThreadId) -> bool {
        self.records.contains_key(id)
    }

    /// Every thread that there is.
    pub fn everybody(&self) -> Vec<ThreadId> {
        self.records.keys().cloned().collect()
    }

    pub fn register(&self, process: &ProcessId, at: Time) {
        // Of a process elsewhere only its heartbeat is known: this host's kernel knows nothing of simulated ones.
        let process =
            store::Process { id: process.clone(), pid: 1, start_time: 1, host: "elsewhere in a dream".into() };
        self.answer(self.store.register(process, at)).expect("a process can register");
    }

    pub fn heartbeat(&self, process: &ProcessId, at: Time) {
        self.answer(self.store.heartbeat(process, at)).expect("a registered process can say that it lives");
    }

    /// It is known that the process is gone.
    pub fn forget(&mut self, process: &ProcessId) {
        self.answer(self.store.leave(process)).expect("a process can be forgotten");
        for record in self.records.values_mut() {
            record.owner.take_if(|owner| owner == process);
        }
    }

    /// Writes a commit, all of it or nothing, if the store takes it. `now` is even time, which no clock need agree with.
    pub fn append(&mut self, now: Time, commit: &Commit) -> Result<Written, Broken> {
        let appended = match self.answer(self.store.append(commit.clone())) {
            Ok(appended) => appended,
            Err(Error::Conflict { .. }) => return Ok(Written::Behind),
            Err(Error::Fenced { .. }) => return Ok(Written::Fenced),
            Err(error) => return Err(refused(&error)),
        };
        let all: Vec<Event> = commit.events.iter().map(|event| (**event).clone()).collect();
        let mut events = all.as_slice();
        if let [Event::ThreadCreated(created), rest @ ..] = events {
            self.create(now, commit, created)?;
            events = rest;
        }
        let record = self.record_mut(&commit.thread);
        let is_owner = record.owner.as_ref() == Some(&commit.process) && record.epoch == commit.epoch;
        hold("only the owner of a thread decides for it", is_owner, || {
            format!(
                "{} wrote at epoch {}, and {:?} owns it at {}",
                commit.process, commit.epoch, record.owner, record.epoch
            )
        })?;
        let waited_for_people = record.checker.waits_for_people();
        record.write(commit.at, events, appended)?;
        let timed_out = record.hours.pass(now, waited_for_people, &all);
        let reports = all.iter().any(|event| matches!(event, Event::Reported(_)));
        if reports && record.replayed.run.is_none() {
            record.owner = None;
        }
        if timed_out { self.time_was_over(&commit.thread, now) } else { Ok(()) }?;
        Ok(Written::Done)
    }

    /// Writes an input from outside, whichever process owns the thread.
    pub fn arrive(&mut self, id: &ThreadId, input_id: InputId, input: Outside, at: Time) -> Result<(), Broken> {
        let event = Event::InputArrived { id: input_id.clone(), input: input.clone() };
        let appended =
            self.answer(self.store.arrive(id, input_id, input, at, false)).map_err(|error| refused(&error))?;
        let record = self.record_mut(id);
        if appended.n <= record.head {
            return Ok(());
        }
        record.write(at, std::slice::from_ref(&event), appended)
    }

    /// A process takes a thread: the epoch at which it owns it; none where its owner seems to live.
    pub fn adopt(&mut self, id: &ThreadId, process: &ProcessId, at: Time) -> Result<Option<u64>, Broken> {
        let epoch = match self.answer(self.store.adopt(id, process, at)) {
            Ok(epoch) => epoch,
            Err(Error::Owned { .. }) => return Ok(None),
            Err(error) => return Err(refused(&error)),
        };
        let record = self.record_mut(id);
        let is_own = record.owner.as_ref() == Some(process);
        hold("a takeover raises the epoch", epoch > record.epoch || is_own && epoch == record.epoch, || {
            format!("{id} went from {} to {epoch}", record.epoch)
        })?;
        (record.owner, record.epoch) = (Some(process.clone()), epoch);
        Ok(Some(epoch))
    }

    /// What must hold once nothing will come any more.
    pub fn at_rest(&self, root: &ThreadId) -> Result<(), Broken> {
        for (id, record) in &self.records {
            let log = self.answer(read_all(&*self.store, Selection::thread(id))).map_err(|error| refused(&error))?;
            let log: Vec<(Time, Event)> = log.iter().map(|one| (one.at, through_json(&one.event))).collect();
            let replayed = Thread::replay(log.iter().map(|(at, event)| (*at, event)));
            let same = replayed.as_ref() == Some(&record.replayed);
            hold("a log that was written and read again tells the same", same, || id.to_string())?;
        }
        let family_log = self.answer(read_all(&*self.store, Selection::tree(root))).map_err(|error| refused(&error))?;
        let in_order = family_log.iter().zip(1..).all(|(record, seq)| record.seq == seq);
        hold("a family's events are numbered in the order in which they were written", in_order, || root.to_string())?;
        let checkers = self.records.iter().map(|(id, record)| (id.clone(), &record.checker)).collect();
        family(root, &checkers)
    }

    fn create(&mut self, now: Time, commit: &Commit, created: &ThreadCreated) -> Result<(), Broken> {
        let record = Record {
            replayed: Thread::new(commit.at, &commit.events[0]),
            head: 1,
            owner: Some(commit.process.clone()),
            epoch: 1,
            checker: LogChecker::new(created),
            prompts: Prompts::default(),
            reopened: 0,
            granted_ms: created.grant.time_ms,
            hours: RunTime::new(now),
        };
        let before = self.records.insert(commit.thread.clone(), record);
        hold("a thread is created once", before.is_none(), || commit.thread.to_string())
    }

    /// A thread that is out of time had all of it, or an ancestor had, whose deadline applies to it.
    fn time_was_over(&self, id: &ThreadId, now: Time) -> Result<(), Broken> {
        let granted = |id: &ThreadId| self.records[id].granted_ms;
        let own = granted(id).is_some_and(|ms| self.records[id].hours.driven_ms() >= ms);
        let mut ancestors = std::iter::successors(id.parent(), ThreadId::parent);
        let inherited =
            ancestors.any(|id| granted(&id).is_some_and(|ms| self.records[&id].hours.since_begun_ms(now) >= ms));
        hold("no time is over before it has passed", own || inherited, || {
            format!("{id} had {} of {:?} ms", self.records[id].hours.driven_ms(), granted(id))
        })
    }
}

impl Record {
    fn write(&mut self, at: Time, events: &[Event], appended: Appended) -> Result<(), Broken> {
        for event in events {
            self.replayed.apply(at, event);
            if self.replayed.run.is_some() {
                self.granted_ms = self.replayed.grant().time_ms;
            }
            self.checker.see(event)?;
            self.head += 1;
            self.reopened += u32::from(matches!(event, Event::Reopened { .. }));
        }
        hold("a log has no gaps", appended.n == self.head, || format!("{} events end at {}", self.head, appended.n))
    }
}

fn refused(error: &Error) -> Broken {
    Broken { rule: "the store takes what the rules decide", found: error.to_string() }
}

/// An event as it comes back from storage.
fn through_json(event: &Event) -> Event {
    let text = serde_json::to_string(event).expect("an event has a JSON form");
    serde_json::from_str(&text).expect("an event's JSON form is read back")
}
