//! A store that is gone when its process ends: for tests, and for embedders who want no file.
//!
//! The same promises as any other store, but for durability.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::approval::ApprovalId;
use agent::{Event, InputId, Outside, ThreadId, Time};
use board::kept::Kept;
use board::{Board, BoardId, DeliveryId, Facts, Note, Request, Status as TaskStatus, Task, TaskId};
use tokio::sync::watch;

use crate::admission::{self, Adoption};
use crate::approvals::{self, ApprovalQuery, ApprovalRow};
use crate::boards::{
    AgentMetadata, BoardCommit, BoardRecord, Boards, DeliveryQuery, DueDelivery, EPHEMERAL, OnBoard, Rebuilt,
    RestingQuery, RestingTask, TaskQuery, full_name,
};
use crate::error::Error;
use crate::installation::{Installation, InstallationEvent, InstallationRecord, State};
use crate::lists::Lists;
use crate::log::{Answer, Appended, Commit, Log, Record};
use crate::open::Store;
use crate::ownership::{self, ClaimQuery, Claimed, Living, Ownership, WorkerRow};
use crate::process::{Process, ProcessId};
use crate::projection::{Change, Folded};
use crate::resolve;
use crate::rows::{CurrentTask, Execution, LEASE_MS, Owner, Status, ThreadQuery, ThreadRow, UsageRow, Wake};
use crate::search::{self, Found, SearchQuery};

/// A store in memory. Clones share what they hold.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    held: Arc<Mutex<Held>>,
    tail: Arc<watch::Sender<u64>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self { held: Arc::default(), tail: Arc::new(watch::Sender::new(0)) }
    }

    /// Answers a request at the moment at which its answer is awaited.
    fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(&mut Held) -> Result<T, Error> + Send + 'static,
    ) -> Answer<T> {
        let store = self.clone();
        Box::pin(async move {
            let mut held = store.held();
            let answer = request(&mut held);
            let newest = held.positions;
            store.tail.send_if_modified(|tail| std::mem::replace(tail, newest) != newest);
            answer
        })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Every request checks before it changes, so that one which panicked left nothing half done.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryStore {
    /// What is looked up in a board; none where there is no such board.
    fn of_board<T: Send + 'static>(
        &self,
        board: &BoardId,
        look: impl FnOnce(&TaskBoard) -> T + Send + 'static,
    ) -> Answer<Option<T>> {
        let board = board.clone();
        self.ask(move |held| Ok(held.boards.iter().find(|one| one.kept.board.id == board).map(look)))
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Log for MemoryStore {
    fn append(&self, commit: Commit) -> Answer<Appended> {
        self.ask(|held| held.append(commit))
    }

    fn arrive(&self, thread: &ThreadId, id: InputId, input: Outside, at: Time, wake: bool) -> Answer<Appended> {
        let thread = thread.clone();
        self.ask(move |held| held.arrive(&thread, id, input, at, wake))
    }

    fn read(&self, thread: &ThreadId, after_n: u64, limit: usize) -> Answer<Vec<Record>> {
        let thread = thread.clone();
        self.ask(move |held| Ok(page(&held.thread(&thread)?.events, after_n, limit)))
    }

    fn tree(&self, root: &ThreadId, after_seq: u64, limit: usize) -> Answer<Vec<Record>> {
        let root = root.clone();
        self.ask(move |held| {
            admission::root(&root)?;
            let family = held.families.get(&root).ok_or_else(|| Error::unknown(&root))?;
            Ok(page(family, after_seq, limit))
        })
    }

    fn all(&self, after_position: u64, limit: usize) -> Answer<Vec<Record>> {
        self.ask(move |held| {
            let after = after_position.saturating_add(1);
            Ok(held.records.range(after..).take(limit).map(|(_, record)| (**record).clone()).collect())
        })
    }

    fn tail(&self) -> watch::Receiver<u64> {
        self.tail.subscribe()
    }

    fn remove_if(&self, root: &ThreadId, seq: Option<u64>, at: Time) -> Answer<()> {
        let root = root.clone();
        self.ask(move |held| held.remove(&root, seq, at))
    }
}

impl Ownership for MemoryStore {
    fn adopt(&self, thread: &ThreadId, process: &ProcessId, at: Time) -> Answer<u64> {
        let (thread, process) = (thread.clone(), process.clone());
        self.ask(move |held| held.adopt(&thread, &process, at))
    }

    fn claim_threads(&self, process: &ProcessId, at: Time, query: ClaimQuery) -> Answer<Vec<Claimed>> {
        let process = process.clone();
        self.ask(move |held| held.claim_threads(&process, at, &query))
    }

    fn living(&self, at: Time) -> Answer<Living> {
        self.ask(move |held| {
            let owners = held.threads.values().filter_map(|thread| held.processes.get(thread.owner.as_ref()?));
            let alive = owners.filter(|owner| owner.process.is_alive(owner.beat_at, at));
            Ok(alive.map(|owner| owner.process.id.clone()).collect())
        })
    }

    fn register(&self, process: Process, at: Time) -> Answer<()> {
        self.ask(move |held| {
            held.processes.insert(process.id.clone(), Owner { process, beat_at: at });
            Ok(())
        })
    }

    fn register_worker(&self, worker: WorkerRow, at: Time) -> Answer<()> {
        self.ask(move |held| {
            let process = worker.process.clone();
            held.processes.insert(process.id.clone(), Owner { process: process.clone(), beat_at: at });
            held.workers.retain(|known| known.process.id != process.id);
            held.workers.push(worker);
            Ok(())
        })
    }

    fn workers(&self, at: Time) -> Answer<Vec<WorkerRow>> {
        self.ask(move |held| {
            let living = held.workers.iter().filter_map(|worker| {
                let known = held.processes.get(&worker.process.id)?;
                let is_alive = known.process.is_alive(known.beat_at, at);
                is_alive.then(|| WorkerRow { heard_at: Some(known.beat_at), ..worker.clone() })
            });
            Ok(living.collect())
        })
    }

    fn retire_workers(&self, this: Option<ProcessId>, at: Time) -> Answer<bool> {
        self.ask(move |held| {
            let processes = &held.processes;
            let before = held.workers.len();
            held.workers.retain(|worker| {
                let known = processes.get(&worker.process.id);
                this.as_ref() != Some(&worker.process.id)
                    && known.is_some_and(|known| known.process.is_alive(known.beat_at, at))
            });
            let is_retired = held.workers.len() < before;
            if is_retired {
                held.boards.iter_mut().for_each(|board| board.leases.clear());
            }
            Ok(is_retired)
        })
    }

    fn heartbeat(&self, process: &ProcessId, at: Time) -> Answer<()> {
        let process = process.clone();
        self.ask(move |held| {
            let known = held.processes.get_mut(&process).ok_or(Error::UnknownProcess(process))?;
            known.beat_at = at;
            Ok(())
        })
    }

    fn leave(&self, process: &ProcessId) -> Answer<()> {
        let process = process.clone();
        self.ask(move |held| {
            held.processes.remove(&process);
            for thread in held.threads.values_mut() {
                thread.owner.take_if(|owner| *owner == process);
            }
            Ok(())
        })
    }

    fn hand_over(&self, thread: &ThreadId, from: &ProcessId, to: Option<&ProcessId>) -> Answer<()> {
        let (id, from, to) = (thread.clone(), from.clone(), to.cloned());
        self.ask(move |held| {
            if let Some(to) = to.as_ref().filter(|to| !held.processes.contains_key(to)) {
                return Err(Error::UnknownProcess(to.clone()));
            }
            let thread = held.threads.get_mut(&id).ok_or_else(|| Error::unknown(&id))?;
            admission::hand_over(&thread.folded.row, thread.owner.as_ref(), &from)?;
            thread.folded.row.epoch += 1;
            thread.owner = to;
            Ok(())
        })
    }

    fn wake(&self, thread: &ThreadId, due: Time) -> Answer<()> {
        let thread = thread.clone();
        self.ask(move |held| {
            held.thread(&thread)?;
            held.wake(&thread, due);
            Ok(())
        })
    }

    fn claim(&self, process: &ProcessId, at: Time, limit: usize) -> Answer<Vec<Wake>> {
        let process = process.clone();
        self.ask(move |held| Ok(held.claim(&process, at, limit)))
    }

    fn done(&self, wake: Wake) -> Answer<()> {
        self.ask(move |held| {
            held.wakes.remove(&wake.key);
            Ok(())
        })
    }
}

impl Lists for MemoryStore {
    fn threads(&self, query: ThreadQuery) -> Answer<Vec<ThreadRow>> {
        self.ask(move |held| held.list(&query))
    }

    fn thread(&self, thread: &ThreadId) -> Answer<Option<ThreadRow>> {
        let thread = thread.clone();
        self.ask(move |held| Ok(held.threads.get(&thread).map(|thread| held.row(thread))))
    }

    fn resolve(&self, text: &str) -> Answer<ThreadId> {
        let text = text.to_owned();
        self.ask(move |held| {
            let roots: Vec<_> = held.families.keys().cloned().collect();
            let thread = resolve::pick(&text, &roots)?;
            if held.threads.contains_key(&thread) { Ok(thread) } else { Err(Error::UnknownThread(text.into())) }
        })
    }

    fn executions(&self, workflow: &ThreadId) -> Answer<Vec<Execution>> {
        let workflow = workflow.clone();
        self.ask(move |held| {
            let mut found: Vec<_> = held.executions.values().filter(|(_, one)| one.workflow_id == workflow).collect();
            found.sort_by_key(|(number, _)| *number);
            Ok(found.into_iter().map(|(_, one)| one.clone()).collect())
        })
    }

    fn approvals(&self, query: ApprovalQuery) -> Answer<Vec<ApprovalRow>> {
        self.ask(move |held| {
            let rows = held.approvals().into_iter();
            Ok(rows.filter(|row| !query.open_only || row.status.is_open()).take(query.limit).collect())
        })
    }

    fn approval(&self, id: &ApprovalId) -> Answer<Option<ApprovalRow>> {
        let id = id.clone();
        self.ask(move |held| Ok(held.approvals().into_iter().find(|row| row.question.id == id)))
    }

    fn search(&self, query: SearchQuery) -> Answer<Vec<Found>> {
        self.ask(move |held| Ok(held.search(&query)))
    }

    fn usage(&self, root: Option<&ThreadId>) -> Answer<Vec<UsageRow>> {
        let root = root.cloned();
        self.ask(move |held| Ok(held.usage(root.as_ref())))
    }
}

impl Installation for MemoryStore {
    fn record(&self, event: InstallationEvent, at: Time) -> Answer<Appended> {
        self.ask(move |held| Ok(held.record(event, at)))
    }

    fn installation_events(&self, after_n: u64, limit: usize) -> Answer<Vec<InstallationRecord>> {
        self.ask(move |held| {
            let after = usize::try_from(after_n).unwrap_or(usize::MAX);
            Ok(held.installation_events.iter().skip(after).take(limit).cloned().collect())
        })
    }

    fn installation(&self) -> Answer<State> {
        self.ask(|held| Ok(held.installation.clone()))
    }
}

impl Boards for MemoryStore {
    fn commit_board(&self, commit: BoardCommit) -> Answer<Appended> {
        self.ask(move |held| held.commit_board(&commit))
    }

    fn board_facts(&self, board: &BoardId, request: Request) -> Answer<Facts> {
        let board = board.clone();
        self.ask(move |held| {
            let empty = Board::new(board.clone());
            Ok(match held.boards.iter().find(|one| one.kept.board.id == board) {
                Some(one) => {
                    let Ok(facts) = Facts::gather(&one.kept, &request, empty);
                    facts
                }
                None => Facts::none(empty),
            })
        })
    }

    fn board(&self, board: &BoardId) -> Answer<Option<Board>> {
        self.of_board(board, |one| one.kept.board.clone())
    }

    fn boards(&self) -> Answer<Vec<Board>> {
        self.ask(|held| Ok(held.boards.iter().map(|one| one.kept.board.clone()).collect()))
    }

    fn runnable_boards(&self) -> Answer<Vec<Board>> {
        self.ask(|held| {
            let is_runnable = |one: &&TaskBoard| one.kept.tasks.values().any(Task::is_runnable);
            Ok(held.boards.iter().filter(is_runnable).map(|one| one.kept.board.clone()).collect())
        })
    }

    fn board_events(&self, board: &BoardId, after_n: u64, limit: usize) -> Answer<Vec<BoardRecord>> {
        let after = usize::try_from(after_n).unwrap_or(usize::MAX);
        let events = self.of_board(board, move |one| one.events.iter().skip(after).take(limit).cloned().collect());
        Box::pin(async move { Ok(events.await?.unwrap_or_default()) })
    }

    fn all_board_events(&self, after_position: u64, limit: usize) -> Answer<Vec<OnBoard>> {
        self.ask(move |held| {
            let of = |one: &TaskBoard| {
                let board = one.kept.board.id.clone();
                let later = one.events.iter().filter(|record| record.position > after_position).cloned();
                later.map(move |record| OnBoard { board: board.clone(), record }).collect::<Vec<_>>()
            };
            let mut events: Vec<OnBoard> = held.boards.iter().flat_map(of).collect();
            events.sort_by_key(|event| event.record.position);
            events.truncate(limit);
            Ok(events)
        })
    }

    fn task(&self, board: &BoardId, task: &TaskId) -> Answer<Option<Task>> {
        let task = task.clone();
        let found = self.of_board(board, move |one| one.kept.tasks.get(&task.number()).cloned());
        Box::pin(async move { Ok(found.await?.flatten()) })
    }

    fn tasks(&self, query: TaskQuery) -> Answer<Vec<Task>> {
        let board = query.board.clone();
        let listed = self.of_board(&board, move |one| one.list(&query));
        Box::pin(async move { Ok(listed.await?.unwrap_or_default()) })
    }

    fn task_of_thread(&self, thread: &ThreadId) -> Answer<Option<(BoardId, Task)>> {
        let thread = thread.clone();
        self.ask(move |held| {
            let all = held.boards.iter().flat_map(|one| one.kept.tasks.values().map(|task| (&one.kept.board.id, task)));
            let its = all.filter(|(_, task)| task.thread.as_ref() == Some(&thread));
            let newest = its.max_by_key(|(_, task)| (task.is_active(), task.updated_at, task.id.number()));
            Ok(newest.map(|(board, task)| (board.clone(), task.clone())))
        })
    }

    fn notes(&self, board: &BoardId, task: &TaskId) -> Answer<Vec<Note>> {
        let task = task.clone();
        let notes = self.of_board(board, move |one| one.kept.notes.get(&task).cloned().unwrap_or_default());
        Box::pin(async move { Ok(notes.await?.unwrap_or_default()) })
    }

    fn claim_deliveries(&self, query: DeliveryQuery) -> Answer<Vec<DueDelivery>> {
        self.ask(move |held| Ok(held.claim_deliveries(&query)))
    }

    fn resting_tasks(&self, query: RestingQuery) -> Answer<Vec<RestingTask>> {
        self.ask(move |held| {
            let RestingQuery { board, after, limit } = &query;
            let mut resting = Vec::new();
            let first =
                after.as_ref().and_then(|(board, _)| held.boards.iter().position(|one| one.kept.board.id == *board));
            for (place, one) in held.boards.iter().enumerate().skip(first.unwrap_or(0)) {
                if board.as_ref().is_some_and(|board| one.kept.board.id != *board) {
                    continue;
                }
                let seen = after.as_ref().filter(|_| first == Some(place)).map_or(0, |(_, task)| task.number());
                for task in one.kept.tasks.range(seen + 1..).map(|(_, task)| task) {
                    if !task.is_active() || task.status != TaskStatus::InProgress {
                        continue;
                    }
                    let thread = task.thread.as_ref().and_then(|thread| held.threads.get(thread));
                    if thread.is_none_or(|thread| !thread.folded.row.state.is_live()) {
                        let (board, thread_exists) = (one.kept.board.clone(), thread.is_some());
                        resting.push(RestingTask { board, task: task.clone(), thread_exists });
                    }
                }
            }
            resting.truncate(*limit);
            Ok(resting)
        })
    }

    fn agent_metadata(&self, thread: &ThreadId) -> Answer<Option<AgentMetadata>> {
        let thread = thread.clone();
        self.ask(move |held| Ok(held.agents().into_iter().find(|agent| agent.thread_id == thread)))
    }

    fn session_agents(&self, parent: &ThreadId) -> Answer<Vec<AgentMetadata>> {
        let parent = parent.clone();
        self.ask(move |held| Ok(held.agents().into_iter().filter(|agent| agent.parent_thread_id == parent).collect()))
    }

    fn rebuild_boards(&self) -> Answer<Rebuilt> {
        self.ask(|held| {
            let mut differences = 0;
            for one in &mut held.boards {
                let mut anew = Kept::new(one.kept.board.id.clone());
                one.events.iter().for_each(|record| anew.apply(record.at, &record.entry));
                differences += u64::from(anew != one.kept);
                one.kept = anew;
            }
            let tasks = held.boards.iter().map(|one| one.kept.tasks.len() as u64).sum();
            Ok(Rebuilt { boards: held.boards.len() as u64, tasks, differences })
        })
    }
}

impl Store for MemoryStore {}

/// The events after the `after`th of a list that is numbered from 1 without gaps.
fn page(records: &[Arc<Record>], after: u64, limit: usize) -> Vec<Record> {
    let after = usize::try_from(after).unwrap_or(usize::MAX);
    records.iter().skip(after).take(limit).map(|record| (**record).clone()).collect()
}

#[derive(Debug, Default)]
struct Held {
    processes: BTreeMap<ProcessId, Owner>,
    /// Those that work tasks, the oldest first.
    workers: Vec<WorkerRow>,
    threads: HashMap<ThreadId, Thread>,
    /// The events of each root with all its descendants.
    families: BTreeMap<ThreadId, Vec<Arc<Record>>>,
    records: BTreeMap<u64, Arc<Record>>,
    /// By sub-agent, each with its number in the order of spawning.
    executions: HashMap<ThreadId, (u64, Execution)>,
    wakes: BTreeMap<u64, Leased>,
    boards: Vec<TaskBoard>,
    installation: State,
    installation_events: Vec<InstallationRecord>,
    /// How many of each were ever made: the newest one's number.
    positions: u64,
    threads_made: u64,
    wakes_made: u64,
}

#[derive(Debug)]
struct Thread {
    /// Grows with every thread that is made.
    number: u64,
    folded: Folded,
    owner: Option<ProcessId>,
    events: Vec<Arc<Record>>,
    inputs: BTreeMap<InputId, Appended>,
}

#[derive(Debug)]
struct Leased {
    wake: Wake,
    until: Option<Time>,
}

/// A board of tasks.
#[derive(Debug)]
struct TaskBoard {
    kept: Kept,
    events: Vec<BoardRecord>,
    leases: BTreeMap<DeliveryId, Time>,
}

impl TaskBoard {
    fn list(&self, query: &TaskQuery) -> Vec<Task> {
        let place = |task: &Task| (task.rank, task.id.number());
        let after = query.after.as_ref().and_then(|after| self.kept.tasks.get(&after.number())).map(place);
        let fits = |task: &&Task| match query.status {
            Some(status) => task.status == status,
            None => task.status != TaskStatus::Archived,
        };
        let mut listed: Vec<&Task> = self
            .kept
            .tasks
            .values()
            .filter(fits)
            .filter(|task| after.is_none_or(|after| place(task) > after))
            .collect();
        listed.sort_by_key(|task| place(task));
        listed.into_iter().take(query.limit).cloned().collect()
    }
}

impl Held {
    fn commit_board(&mut self, commit: &BoardCommit) -> Result<Appended, Error> {
        use board::Look;
        if commit.entries.is_empty() {
            return Err(Error::Invalid("a commit holds at least one event"));
        }
        let known = self.boards.iter().position(|one| one.kept.board.id == commit.board);
        let head = known.map_or(0, |place| self.boards[place].kept.board.n);
        let is_repeated = match (known, &commit.entries[0].command) {
            (Some(place), Some(name)) => {
                let Ok(earlier) = self.boards[place].kept.command(name);
                earlier.is_some()
            }
            _ => false,
        };
        if head != commit.expected || is_repeated {
            let (board, expected) = (commit.board.as_str().into(), commit.expected);
            return Err(Error::BoardConflict { board, expected, head });
        }
        let place = known.unwrap_or(self.boards.len());
        if known.is_none() {
            let kept = Kept::new(commit.board.clone());
            self.boards.push(TaskBoard { kept, events: Vec::new(), leases: BTreeMap::new() });
        }
        let one = &mut self.boards[place];
        for entry in &commit.entries {
            self.positions += 1;
            one.kept.apply(commit.at, entry);
            let (position, n, at) = (self.positions, one.kept.board.n, commit.at);
            one.events.push(BoardRecord { position, n, at, entry: Arc::new(entry.clone()) });
            if let Some(delivery) = entry.event.delivery().filter(|_| commit.leased) {
                one.leases.insert(delivery.id.clone(), at.plus_ms(LEASE_MS));
            }
        }
        let n = one.kept.board.n;
        Ok(Appended { n, seq: n, position: self.positions })
    }

    fn claim_deliveries(&mut self, query: &DeliveryQuery) -> Vec<DueDelivery> {
        let mut due = Vec::new();
        for one in &mut self.boards {
            if query.board.as_ref().is_some_and(|board| *board != one.kept.board.id) {
                continue;
            }
            let mut deliveries: Vec<_> = one.kept.deliveries.values().collect();
            deliveries.sort_by_key(|delivery| (delivery.id.as_str().len(), delivery.id.clone()));
            for delivery in deliveries {
                if due.len() < query.limit && one.leases.get(&delivery.id).is_none_or(|until| *until <= query.at) {
                    one.leases.insert(delivery.id.clone(), query.at.plus_ms(LEASE_MS));
                    due.push(DueDelivery { board: one.kept.board.clone(), delivery: delivery.clone() });
                }
            }
            let kept = &one.kept.deliveries;
            one.leases.retain(|delivery, _| kept.contains_key(delivery));
        }
        due
    }

    /// The threads that were made for tasks and still exist.
    fn agents(&self) -> Vec<AgentMetadata> {
        let mut agents = Vec::new();
        for one in &self.boards {
            for agent in &one.kept.agents {
                let (thread, parent) = (&agent.thread, &agent.started.parent);
                if !self.threads.contains_key(thread) || !self.threads.contains_key(parent) {
                    continue;
                }
                let is_kept = one.kept.tasks.contains_key(&agent.task.number());
                agents.push(AgentMetadata {
                    thread_id: thread.clone(),
                    name: agent.started.name.clone(),
                    provider: agent.started.provider.clone(),
                    model: agent.started.model.clone(),
                    kind: EPHEMERAL.into(),
                    created_for_task: is_kept.then(|| full_name(&one.kept.board.id, &agent.task).into()),
                    parent_thread_id: parent.clone(),
                    current_task: agent.current.clone(),
                    created_at: agent.at,
                });
            }
        }
        agents
    }

    fn thread(&self, thread: &ThreadId) -> Result<&Thread, Error> {
        self.threads.get(thread).ok_or_else(|| Error::unknown(thread))
    }

    fn row(&self, thread: &Thread) -> ThreadRow {
        let owner = thread.owner.as_ref().and_then(|owner| self.processes.get(owner)).cloned();
        ThreadRow { owner, current_task: self.current_task(&thread.folded.row.id), ..thread.folded.row.clone() }
    }

    fn current_task(&self, thread: &ThreadId) -> Option<CurrentTask> {
        let all = self.boards.iter().flat_map(|one| one.kept.tasks.values().map(|task| (&one.kept.board.id, task)));
        let its = |task: &Task| task.status == TaskStatus::InProgress && task.thread.as_ref() == Some(thread);
        let newest = all.filter(|(_, task)| its(task)).max_by_key(|(_, task)| (task.updated_at, task.id.number()));
        newest.map(|(board, task)| CurrentTask {
            id: task.id.as_str().into(),
            board: board.as_str().into(),
            title: task.title.clone(),
        })
    }

    fn append(&mut self, commit: Commit) -> Result<Appended, Error> {
        admission::shape(&commit)?;
        if !self.processes.contains_key(&commit.process) {
            return Err(Error::UnknownProcess(commit.process));
        }
        let thread = self.threads.get(&commit.thread);
        admission::commit(
            &commit,
            thread.map(|thread| &thread.folded.row),
            thread.and_then(|thread| thread.owner.as_ref()),
        )?;
        self.admit_inputs(&commit)?;
        if thread.is_none() {
            self.create(&commit)?;
        }
        let reports = commit.events.iter().any(|event| matches!(**event, Event::Reported(_)));
        let last = self.write(&commit.thread, commit.at, commit.events);
        let thread = self.threads.get_mut(&commit.thread).expect("the thread was just written to");
        let is_over = reports && thread.folded.row.outcome.is_some();
        thread.owner = (!is_over && !commit.lets_go).then_some(commit.process);
        Ok(last.expect("a commit holds at least one event"))
    }

    /// Whether every input that the commit itself holds is new to the thread.
    fn admit_inputs(&self, commit: &Commit) -> Result<(), Error> {
        let known = self.threads.get(&commit.thread).map(|thread| &thread.inputs);
        if admission::repeats_input(&commit.events, |id| known.is_some_and(|known| known.contains_key(id))) {
            return Err(Error::Invalid("an input is written once"));
        }
        Ok(())
    }

    fn create(&mut self, commit: &Commit) -> Result<(), Error> {
        let Some(Event::ThreadCreated(created)) = commit.events.first().map(|event| &**event) else {
            return Err(Error::Invalid("a thread begins with its creation"));
        };
        if let Some(parent) = commit.thread.parent() {
            self.thread(&parent)?;
        }
        self.threads_made += 1;
        let thread = Thread {
            number: self.threads_made,
            folded: Folded::create(created, commit.at),
            owner: None,
            events: Vec::new(),
            inputs: BTreeMap::new(),
        };
        self.threads.insert(commit.thread.clone(), thread);
        self.families.entry(commit.thread.root()).or_default();
        Ok(())
    }

    /// Writes events that were admitted, and all that follows from them. The answer is where the last of them stands.
    fn write(&mut self, id: &ThreadId, at: Time, events: Vec<Arc<Event>>) -> Option<Appended> {
        let thread = self.threads.get_mut(id).expect("an admitted event's thread exists");
        let family = self.families.get_mut(&thread.folded.row.root).expect("a thread's root exists");
        let mut last = None;
        for event in events {
            self.positions += 1;
            let change = thread.folded.apply(at, &event);
            let record = Arc::new(Record {
                position: self.positions,
                seq: family.len() as u64 + 1,
                thread: id.clone(),
                n: thread.folded.row.head,
                at,
                event,
            });
            let appended = Appended { n: record.n, seq: record.seq, position: record.position };
            if let Event::InputArrived { id, .. } = &*record.event {
                thread.inputs.insert(id.clone(), appended);
            }
            thread.events.push(record.clone());
            family.push(record.clone());
            self.records.insert(record.position, record);
            match change {
                None => {}
                Some(Change::Spawned(execution)) => {
                    let child = execution.sub_agent_id.clone();
                    self.executions.entry(child).or_insert((appended.position, *execution));
                }
                Some(Change::Started(child)) => {
                    if let Some((_, one)) = self.executions.get_mut(&child)
                        && one.status == Status::Pending
                    {
                        one.status = Status::Running;
                    }
                }
                Some(Change::Ended(child, end)) => {
                    if let Some((_, one)) = self.executions.get_mut(&child) {
                        one.finish(&end);
                    }
                }
                // Folded from the log when they are asked for.
                Some(Change::Question(_)) => {}
            }
            last = Some(appended);
        }
        thread.folded.settle();
        last
    }

    fn arrive(
        &mut self,
        thread: &ThreadId,
        id: InputId,
        input: Outside,
        at: Time,
        wake: bool,
    ) -> Result<Appended, Error> {
        if let Some(first) = self.thread(thread)?.inputs.get(&id) {
            return Ok(*first);
        }
        let written = self.write(thread, at, vec![Arc::new(Event::InputArrived { id, input })]);
        let appended = written.expect("one event was written");
        if wake {
            self.wake(thread, at);
        }
        Ok(appended)
    }

    fn adopt(&mut self, id: &ThreadId, process: &ProcessId, at: Time) -> Result<u64, Error> {
        if !self.processes.contains_key(process) {
            return Err(Error::UnknownProcess(process.clone()));
        }
        let thread = self.threads.get_mut(id).ok_or_else(|| Error::unknown(id))?;
        let owner = thread.owner.as_ref().and_then(|owner| self.processes.get(owner));
        let adoption = admission::adopt(id, process, owner.map(|owner| (&owner.process, owner.beat_at)), at)?;
        if adoption == Adoption::Taken {
            thread.folded.row.epoch += 1;
            thread.owner = Some(process.clone());
        }
        Ok(thread.folded.row.epoch)
    }

    fn claim_threads(&mut self, process: &ProcessId, at: Time, query: &ClaimQuery) -> Result<Vec<Claimed>, Error> {
        if !self.processes.contains_key(process) {
            return Err(Error::UnknownProcess(process.clone()));
        }
        let is_left = |thread: &Thread| {
            let owner = thread.owner.as_ref().and_then(|owner| self.processes.get(owner));
            owner.is_none_or(|owner| owner.process.id != *process && !owner.process.is_alive(owner.beat_at, at))
        };
        let mut driven: HashMap<ThreadId, usize> = HashMap::new();
        for thread in self.threads.values().filter(|thread| thread.folded.row.state.is_live() && !is_left(thread)) {
            *driven.entry(thread.folded.row.root.clone()).or_default() += 1;
        }
        let fitting = self.threads.values().filter(|thread| query.fits(&thread.folded.row) && is_left(thread));
        let mut left: Vec<&Thread> = fitting.collect();
        left.sort_by_key(|thread| thread.number);
        let left = left.iter().map(|thread| (thread.folded.row.root.clone(), thread.folded.row.id.clone())).collect();
        let claim = |thread: ThreadId| {
            let epoch = self.adopt(&thread, process, at)?;
            Ok(Claimed { thread, epoch })
        };
        ownership::whose_turn(left, &driven, query.limit).into_iter().map(claim).collect()
    }

    fn approvals(&self) -> Vec<ApprovalRow> {
        approvals::fold(self.records.values().map(|record| &**record))
    }

    fn record(&mut self, event: InstallationEvent, at: Time) -> Appended {
        if let Some(next) = self.installation.after(&event) {
            self.positions += 1;
            let (position, n) = (self.positions, next.n);
            self.installation_events.push(InstallationRecord { position, n, at, event: Arc::new(event) });
            self.installation = next;
        }
        let newest = self.installation_events.last();
        newest.map_or(Appended { n: 0, seq: 0, position: 0 }, |newest| Appended {
            n: newest.n,
            seq: newest.n,
            position: newest.position,
        })
    }

    fn wake(&mut self, thread: &ThreadId, due: Time) {
        let is_covered = |one: &Leased| one.wake.thread == *thread && one.wake.due == due && one.until.is_none();
        if self.wakes.values().any(is_covered) {
            return;
        }
        self.wakes_made += 1;
        let wake = Wake { key: self.wakes_made, thread: thread.clone(), due, about: None };
        self.wakes.insert(wake.key, Leased { wake, until: None });
    }

    fn claim(&mut self, process: &ProcessId, at: Time, limit: usize) -> Vec<Wake> {
        let is_owned =
            |thread: &ThreadId| self.threads.get(thread).is_some_and(|thread| thread.owner.as_ref() == Some(process));
        let mut due: Vec<Wake> = self
            .wakes
            .values()
            .filter(|one| one.wake.due <= at && one.until.is_none_or(|until| until <= at))
            .filter(|one| is_owned(&one.wake.thread))
            .map(|one| one.wake.clone())
            .collect();
        due.sort_by_key(|wake| (wake.due, wake.key));
        due.truncate(limit);
        for wake in &due {
            if let Some(one) = self.wakes.get_mut(&wake.key) {
                one.until = Some(at.plus_ms(LEASE_MS));
            }
        }
        due
    }

    fn list(&self, query: &ThreadQuery) -> Result<Vec<ThreadRow>, Error> {
        let before = match &query.before {
            Some(before) => self.thread(before)?.number,
            None => u64::MAX,
        };
        let mut found: Vec<&Thread> = self
            .threads
            .values()
            .filter(|thread| {
                let row = &thread.folded.row;
                thread.number < before
                    && (!query.root_only || row.parent.is_none())
                    && (!query.live_only || row.state.is_live())
                    && query.root.as_ref().is_none_or(|root| row.root == *root)
                    && query.archived.is_none_or(|archived| row.archived == archived)
                    && (!query.of_tasks || row.created_for.is_some())
            })
            .collect();
        found.sort_by_key(|thread| std::cmp::Reverse(thread.number));
        Ok(found.into_iter().take(query.limit).map(|thread| self.row(thread)).collect())
    }

    fn search(&self, query: &SearchQuery) -> Vec<Found> {
        let terms = search::terms(&query.text);
        let mut seen = BTreeSet::new();
        let found = self.records.values().rev().filter_map(|record| {
            let excerpt = search::excerpt(&search::words(&record.event)?, &terms)?;
            seen.insert(record.thread.clone()).then(|| Found { thread: record.thread.clone(), at: record.at, excerpt })
        });
        found.take(query.limit).collect()
    }

    fn usage(&self, root: Option<&ThreadId>) -> Vec<UsageRow> {
        let mut threads: Vec<&Thread> =
            self.threads.values().filter(|thread| root.is_none_or(|root| thread.folded.row.root == *root)).collect();
        threads.sort_by_key(|thread| thread.number);
        threads.iter().filter_map(|thread| thread.folded.usage()).collect()
    }

    fn remove(&mut self, root: &ThreadId, seq: Option<u64>, at: Time) -> Result<(), Error> {
        admission::root(root)?;
        self.thread(root)?;
        admission::unchanged(root, seq, self.families.get(root).map_or(0, |family| family.len() as u64))?;
        let owners = self.threads.values().filter(|thread| thread.folded.row.root == *root);
        let owners = owners.filter_map(|thread| self.processes.get(thread.owner.as_ref()?));
        admission::remove(root, owners.map(|owner| (&owner.process, owner.beat_at)), at)?;
        self.threads.retain(|_, thread| thread.folded.row.root != *root);
        self.wakes.retain(|_, one| one.wake.thread.root() != *root);
        self.executions.retain(|_, (_, one)| one.workflow_id != *root);
        for record in self.families.remove(root).unwrap_or_default() {
            self.records.remove(&record.position);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> (Arc<dyn Store>, Arc<dyn Store>, ()) {
        let store = MemoryStore::new();
        (Arc::new(store.clone()), Arc::new(store), ())
    }

    crate::conformance_tests!(empty);
}
