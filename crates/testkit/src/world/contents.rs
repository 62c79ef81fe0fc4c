//! What a database holds: the log and its threads, and what must be so in any log.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use agent::{Event, Report, ThreadId};
use store::{Execution, Record, Selection, Store, ThreadQuery, ThreadRow};

use super::PATIENCE;
use crate::invariants::{LogChecker, family};

/// More than any test writes.
const ALL: usize = 1_000_000;

/// What a database holds at one moment.
pub struct DatabaseContents {
    /// Every event, in the order in which they were written.
    pub log: Vec<Record>,
    /// Every thread, oldest first.
    pub rows: Vec<ThreadRow>,
    /// The executions of sub-agents, of every family.
    pub executions: Vec<Execution>,
}

impl DatabaseContents {
    /// Reads everything. A database server that is away for a while is waited for.
    pub(super) async fn read(store: &dyn Store) -> Self {
        let begun = Instant::now();
        loop {
            match Self::try_to_read(store).await {
                Ok(contents) => return contents,
                Err(error) => {
                    assert!(error.is_passing() && begun.elapsed() < PATIENCE, "the database can be read: {error:?}");
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        }
    }

    async fn try_to_read(store: &dyn Store) -> Result<Self, store::Error> {
        let log = store::read_all(store, Selection::everything()).await?;
        let query = ThreadQuery { limit: ALL, ..ThreadQuery::default() };
        let mut rows = store.threads(query).await?;
        rows.reverse();
        let mut executions = Vec::new();
        for row in rows.iter().filter(|row| row.id.is_root()) {
            executions.extend(store.executions(&row.id).await?);
        }
        Ok(Self { log, rows, executions })
    }

    /// Every root, oldest first.
    pub fn roots(&self) -> impl Iterator<Item = &ThreadId> {
        self.rows.iter().map(|row| &row.id).filter(|id| id.is_root())
    }

    /// The events of a root and all its descendants.
    pub fn family(&self, root: &ThreadId) -> Vec<&Record> {
        self.log.iter().filter(|record| record.thread.root() == *root).collect()
    }

    /// Holds the log of a family against its checkers: whatever happened, every rule holds, and nothing is under way.
    #[track_caller]
    pub fn assert_at_rest(&self, root: &ThreadId) {
        assert_gapless(&self.log);
        self.assert_rows();
        self.assert_family_at_rest(root, &self.family(root));
    }

    /// The same for all families. Everything is gone through once, however many there are.
    #[track_caller]
    pub fn assert_all_at_rest(&self) {
        assert_gapless(&self.log);
        self.assert_rows();
        let mut families: BTreeMap<ThreadId, Vec<&Record>> = BTreeMap::new();
        for record in &self.log {
            families.entry(record.thread.root()).or_default().push(record);
        }
        for (root, family) in &families {
            self.assert_family_at_rest(root, family);
        }
    }

    #[track_caller]
    fn assert_family_at_rest(&self, root: &ThreadId, log: &[&Record]) {
        let mut checkers: BTreeMap<ThreadId, LogChecker> = BTreeMap::new();
        for record in log {
            let seen = match (&*record.event, checkers.get_mut(&record.thread)) {
                (Event::ThreadCreated(created), None) => {
                    checkers.insert(record.thread.clone(), LogChecker::new(created));
                    Ok(())
                }
                (event, Some(checker)) => checker.see(event),
                (event, None) => panic!("{} begins with {}", record.thread, event.kind()),
            };
            seen.unwrap_or_else(|broken| panic!("{} at {}: {broken}", record.thread, record.seq));
        }
        let checkers = checkers.iter().map(|(id, checker)| (id.clone(), checker)).collect();
        family(root, &checkers).unwrap_or_else(|broken| panic!("{broken}"));
        for row in self.rows.iter().filter(|row| row.root == *root) {
            assert!(!row.state.is_live(), "{} is {}", row.id, row.state);
            assert_eq!(row.owner, None, "{}", row.id);
        }
        for execution in self.executions.iter().filter(|execution| execution.workflow_id == *root) {
            assert!(execution.status.is_over(), "{} is {:?}", execution.id, execution.status);
        }
    }

    /// Holds everything that is kept beside the log against the log, at any moment: nothing is behind it or ahead of it, and
    /// every live thread has an owner.
    #[track_caller]
    pub fn assert_rows(&self) {
        let mut heads: HashMap<&ThreadId, u64> = HashMap::new();
        for record in &self.log {
            *heads.entry(&record.thread).or_default() += 1;
        }
        let executions: HashMap<&ThreadId, &Execution> =
            self.executions.iter().map(|execution| (&execution.sub_agent_id, execution)).collect();
        for row in &self.rows {
            let head = heads.get(&row.id).copied().unwrap_or_default();
            assert_eq!(row.head, head, "{} knows all its events", row.id);
            assert!(!row.state.is_live() || row.owner.is_some(), "{} is {} and has no owner", row.id, row.state);
        }
        let mut spawned = 0;
        for record in &self.log {
            let told = match &*record.event {
                Event::ChildSpawned(child) => {
                    spawned += 1;
                    (&child.child, None)
                }
                // An execution is what a sub-agent did for its brief.
                Event::ChildReported { child, report, .. } if report.asked.is_none() => (child, Some(report.outcome)),
                _ => continue,
            };
            let execution = executions.get(told.0).unwrap_or_else(|| panic!("{} is not kept", told.0));
            if told.1.is_some() {
                assert_eq!(execution.outcome, told.1, "{}", told.0);
            }
        }
        assert_eq!(self.executions.len(), spawned, "every execution was spawned");
    }
}

/// The report of a thread, which it has once and after which only inputs arrive.
#[track_caller]
pub fn report_of<'a>(log: &'a [Record], thread: &ThreadId) -> &'a Report {
    let reports: Vec<&Report> = events(log, thread)
        .filter_map(|event| match event {
            Event::Reported(report) => Some(&**report),
            _ => None,
        })
        .collect();
    assert_eq!(reports.len(), 1, "{thread} reports once: {reports:?}");
    reports[0]
}

/// The events of a thread, in order.
pub fn events<'a>(log: &'a [Record], thread: &ThreadId) -> impl Iterator<Item = &'a Event> {
    log.iter().filter(move |record| record.thread == *thread).map(|record| &*record.event)
}

/// How many events of a thread are of this kind.
pub fn count(log: &[Record], thread: &ThreadId, kind: &str) -> usize {
    events(log, thread).filter(|event| event.kind() == kind).count()
}

/// Numbers of events have no gaps: within each thread, and within each family.
#[track_caller]
pub fn assert_gapless(log: &[Record]) {
    let mut last: BTreeMap<&ThreadId, u64> = BTreeMap::new();
    let mut seqs: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for record in log {
        let n = last.entry(&record.thread).or_default();
        assert_eq!(record.n, *n + 1, "{}", record.thread);
        *n = record.n;
        let seq = seqs.entry(record.thread.root()).or_default();
        assert_eq!(record.seq, *seq + 1, "{}", record.thread);
        *seq = record.seq;
    }
}
