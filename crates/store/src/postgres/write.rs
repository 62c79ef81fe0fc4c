//! What is appended to threads: many requests in one transaction of two rounds. The first round locks the threads and reads them; what is
//! to be written is then decided here; the second round writes it all and commits. So no lock waits for this process but those of its
//! threads, and those for as long as one round takes.
//!
//! A position is taken at the end, under a lock that is held until the commit is done. Transactions therefore become visible in the order
//! of their positions, whichever process commits them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{Event, InputId, Outcome, ThreadId, Time};
use foldhash::fast::RandomState;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::columns::{self, THREAD_ALONE, THREADS, count, json, optional_storable, signed, storable, to_json, value};
use super::connection::{COMMIT, Connector, Link, Pipeline};
use super::fault;
use super::follow::Announcer;
use super::ownership::{Clock, NOW};
use crate::admission;
use crate::approvals::{self, End};
use crate::codec::{self, Encoded};
use crate::error::Error;
#[cfg(feature = "failpoints")]
use crate::failpoint;
use crate::log::{Appended, Commit};
use crate::process::ProcessId;
use crate::projection::{self, Change, Folded};
use crate::rows::{Execution, Status};

/// Requests that may be queued; later ones wait.
const QUEUE: usize = 1024;
/// The most requests of one transaction.
const GROUP: usize = 256;
/// Transactions that are under way at the same time: while one is committed, the next one reads.
const FLUSHERS: usize = 2;
/// How often a transaction that was undone because of others is tried.
const TRIES: u32 = 10;
/// Threads that are known as this process left them. All are forgotten when there are more.
const KNOWN: usize = 2048;

/// The lock under which positions are taken.
pub(super) const POSITIONS: i64 = 0x6d61_6a6f_7264_6f02;
/// Takes that lock.
pub(super) const LOCK_POSITIONS: &str = "SELECT pg_advisory_xact_lock($1)";
/// Takes so many positions; the answer is the last of them.
pub(super) const TAKE_POSITIONS: &str = "SELECT setval('event_positions', nextval('event_positions') + $1 - 1)";
/// Writes events at the positions that were taken.
pub(super) const INSERT_EVENTS: &str = "INSERT INTO events (position, root, seq, thread, n, at, kind, version, body) \
     SELECT currval('event_positions') - $1 + v.ord, v.root, v.seq, v.thread, v.n, v.at, v.kind, v.version, v.body \
     FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::integer[], $9::text[]) \
     WITH ORDINALITY AS v(root, seq, thread, n, at, kind, version, body, ord)";

/// A value for a place of a statement.
type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// The handle of the tasks that write.
pub(super) struct Writer {
    queue: Mutex<Option<mpsc::Sender<Job>>>,
    /// Closed when the last of the tasks has ended.
    ended: watch::Receiver<()>,
}

/// What is to be written.
#[derive(Clone)]
pub(super) enum Request {
    /// A commit, with its events as they are kept.
    Append(Arc<Commit>, Arc<[Encoded]>),
    /// An input from outside, once.
    Arrive { thread: ThreadId, id: InputId, event: Arc<Event>, body: Arc<[Encoded]>, at: Time, wake: bool },
}

struct Job {
    request: Request,
    reply: oneshot::Sender<Result<Appended, Error>>,
}

impl Writer {
    /// Starts the tasks, which say in `announcer` what they wrote.
    pub(super) fn start(
        background: &tokio::runtime::Handle,
        connector: &Arc<Connector>,
        announcer: &Announcer,
        clock: Clock,
    ) -> Self {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let jobs = Arc::new(tokio::sync::Mutex::new(jobs));
        let (alive, ended) = watch::channel(());
        let (alive, known) = (Arc::new(alive), Known::default());
        for _ in 0..FLUSHERS {
            let (connector, announcer, known, alive) =
                (connector.clone(), announcer.clone(), known.clone(), alive.clone());
            let flusher = Flusher { connector, announcer, clock, known, link: None, _alive: alive };
            background.spawn(flusher.work(jobs.clone()));
        }
        Self { queue: Mutex::new(Some(queue)), ended }
    }

    /// Has something written.
    pub(super) async fn ask(&self, request: Request) -> Result<Appended, Error> {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue().clone().ok_or(Error::Closed)?;
        queue.send(Job { request, reply }).await.map_err(|_| Error::Closed)?;
        drop(queue);
        answer.await.unwrap_or(Err(Error::Closed))
    }

    /// Takes no more requests, and waits until those that are queued are answered.
    pub(super) async fn close(&self) {
        self.queue().take();
        // An error is what is waited for: the other end is gone.
        let _ = self.ended.clone().changed().await;
    }

    fn queue(&self) -> MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that writes, on a connection of its own.
struct Flusher {
    connector: Arc<Connector>,
    announcer: Announcer,
    clock: Clock,
    known: Known,
    link: Option<Link>,
    _alive: Arc<watch::Sender<()>>,
}

impl Flusher {
    async fn work(mut self, jobs: Arc<tokio::sync::Mutex<mpsc::Receiver<Job>>>) {
        let mut group = Vec::with_capacity(GROUP);
        loop {
            if jobs.lock().await.recv_many(&mut group, GROUP).await == 0 {
                return;
            }
            let requests: Vec<Request> = group.iter().map(|job| job.request.clone()).collect();
            let mut answers = self.keep(&requests).await;
            if let Err(Error::Sql(_)) = &answers
                && requests.len() > 1
            {
                // One of them may be the reason; the others are not to suffer for it.
                let mut apart = Vec::with_capacity(requests.len());
                for request in &requests {
                    apart.push(self.keep(std::slice::from_ref(request)).await.and_then(|mut one| one.remove(0)));
                }
                answers = Ok(apart);
            }
            match answers {
                Ok(answers) => {
                    for (job, answer) in group.drain(..).zip(answers) {
                        // The caller may be gone; what was committed stays committed.
                        let _ = job.reply.send(answer);
                    }
                }
                Err(failure) => {
                    for job in group.drain(..) {
                        let _ = job.reply.send(Err(failure.clone()));
                    }
                }
            }
        }
    }

    /// Carries out a group in one transaction, all or nothing; a refused request is left out.
    async fn keep(&mut self, group: &[Request]) -> Result<Vec<Result<Appended, Error>>, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let link = match self.link.take().filter(|link| !link.is_lost()) {
                Some(link) => link,
                None => self.connector.connect().await?,
            };
            match keep(&link, self.clock, &self.known, group).await {
                Ok(Kept { answers, newest, offers }) => {
                    self.link = Some(link);
                    if offers {
                        self.announcer.offered();
                    }
                    if let Some(newest) = newest {
                        self.announcer.wrote(newest);
                    }
                    return Ok(answers);
                }
                Err(failure) => {
                    // A connection that cannot undo is closed, and undoes by that.
                    if link.batch("ROLLBACK").await.is_ok() {
                        self.link = Some(link);
                    }
                    if !fault::is_undone(&failure) || tries >= TRIES {
                        return Err(failure);
                    }
                }
            }
        }
    }
}

/// What came of a group.
struct Kept {
    answers: Vec<Result<Appended, Error>>,
    /// The newest position that it wrote.
    newest: Option<u64>,
    /// Whether a thread is left that any process may claim.
    offers: bool,
}

/// Keeps a group.
async fn keep(link: &Link, clock: Clock, known: &Known, group: &[Request]) -> Result<Kept, Error> {
    let mut session = Session::load(link, known, group).await?;
    let answers: Vec<Result<Written, Error>> = group.iter().map(|request| session.admit(request)).collect();
    if session.is_empty() {
        link.batch("ROLLBACK").await?;
        let answers = answers.into_iter().map(|answer| answer.map(|written| written.at(0))).collect();
        known.keep(session);
        return Ok(Kept { answers, newest: None, offers: false });
    }
    #[cfg(feature = "failpoints")]
    failpoint::before_commit(session.events.len() as u64);
    let last = session.save(link, clock).await?;
    #[cfg(feature = "failpoints")]
    failpoint::after_commit(session.events.len() as u64);
    let base = last - session.events.len() as u64;
    let answers = answers.into_iter().map(|answer| answer.map(|written| written.at(base))).collect();
    let offers = session.threads.values().any(|thread| thread.is_changed && thread.is_waiting());
    known.keep(session);
    Ok(Kept { answers, newest: Some(last), offers })
}

/// Where an event stands: at a position, or at a place among the events of the group.
#[derive(Clone, Copy)]
struct Written {
    n: u64,
    seq: u64,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Kept(u64),
    InGroup(u64),
}

impl Written {
    fn at(self, base: u64) -> Appended {
        let position = match self.place {
            Place::Kept(position) => position,
            Place::InGroup(place) => base + place,
        };
        Appended { n: self.n, seq: self.seq, position }
    }
}

/// Threads as this process left them, so that they need not be read for the next commit. They are believed only while their rows are locked,
/// and only if no other process wrote to them or took them over in the meantime.
#[derive(Clone, Default)]
struct Known(Arc<Mutex<HashMap<ThreadId, Thread, RandomState>>>);

impl Known {
    /// Those of these that are known. They are removed meanwhile, so that no other group uses them, whatever becomes of this one.
    fn take(&self, ids: &[ThreadId]) -> Vec<Thread> {
        let mut known = self.lock();
        ids.iter().filter_map(|id| known.remove(id)).collect()
    }

    /// Keeps those of a group that a process owns, which may write to them again, as they stand in the database.
    fn keep(&self, group: Session<'_>) {
        let Session { threads, families, .. } = group;
        let mut known = self.lock();
        if known.len() + threads.len() > KNOWN {
            known.clear();
        }
        let owned = threads.into_iter().filter(|(_, thread)| thread.owner.is_some());
        known.extend(owned.map(|(id, thread)| {
            let family = families.get(&thread.key).map(|(seq, _)| *seq);
            (id, Thread { family, ..thread.kept() })
        }));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadId, Thread, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is read of a thread while its row is locked.
struct Locked {
    seq: u64,
    owner: Option<i64>,
    epoch: u64,
    asked: bool,
}

/// What a group touches, as it will stand once it is kept, and what it writes.
#[derive(Default)]
struct Session<'a> {
    threads: HashMap<ThreadId, Thread, RandomState>,
    processes: HashMap<ProcessId, i64, RandomState>,
    inputs: HashMap<(ThreadId, InputId), Written, RandomState>,
    /// By root: events of the whole tree, and whether they have become more.
    families: HashMap<i64, (u64, bool), RandomState>,
    /// Keys for new threads.
    keys: Vec<i64>,
    events: Vec<PendingEvent<'a>>,
    new_inputs: Vec<(i64, String, i64)>,
    spawned: Vec<Execution>,
    started: Vec<ThreadId>,
    ended: Vec<(ThreadId, projection::End)>,
    questions: Vec<(i64, i64, usize, approvals::Change)>,
    wakes: Vec<(i64, Time)>,
    /// Sub-agents of which there is news, with the process that writes: their parents' processes are told, if they are others.
    news: Vec<(i64, i64, Time)>,
}

struct PendingEvent<'a> {
    root: i64,
    seq: u64,
    thread: i64,
    n: u64,
    at: Time,
    body: &'a Encoded,
}

/// What a process must have to take a thread.
#[derive(Clone, Default)]
struct Needs {
    machine: Option<Arc<str>>,
    labels: Vec<Arc<str>>,
}

struct Thread {
    key: i64,
    root: i64,
    parent: Option<i64>,
    /// Of a root that is known: the events of its family, when it was kept.
    family: Option<u64>,
    owner: Option<(i64, ProcessId)>,
    folded: Folded,
    /// Whether an input that begins a run has arrived since its owner last wrote.
    asked: bool,
    /// Where it is new.
    needs: Option<Needs>,
    is_new: bool,
    is_changed: bool,
    saved: Stable,
}

/// The part of a row that most commits leave as it is.
#[derive(Clone, PartialEq, Eq)]
struct Stable {
    goal: Arc<str>,
    live: bool,
    outcome: Option<Outcome>,
    runs: u32,
    ended_at: Option<Time>,
    owner: Option<i64>,
    title: Option<Arc<str>>,
    archived: bool,
    unread: bool,
    unwatched: bool,
    asked: bool,
}

impl Stable {
    fn of(folded: &Folded, owner: Option<&(i64, ProcessId)>, asked: bool) -> Self {
        let row = &folded.row;
        Self {
            goal: row.goal.clone(),
            live: row.state.is_live(),
            outcome: row.outcome,
            runs: row.runs,
            ended_at: row.ended_at,
            owner: owner.map(|(key, _)| *key),
            title: row.title.clone(),
            archived: row.archived,
            unread: row.unread,
            unwatched: folded.unwatched,
            asked,
        }
    }
}

impl<'a> Session<'a> {
    /// Locks and reads what the group touches. The transaction is open afterwards.
    async fn load(link: &Link, known: &Known, group: &[Request]) -> Result<Session<'a>, Error> {
        let (mut threads, mut processes, mut inputs, mut creations) = (Vec::new(), Vec::new(), Vec::new(), 0_i64);
        for request in group {
            let thread = match request {
                Request::Append(commit, _) => {
                    processes.push(commit.process.as_str());
                    if commit.expected == 0 {
                        creations += 1;
                        threads.extend(commit.thread.parent());
                    }
                    inputs.extend(commit.events.iter().filter_map(|event| match &**event {
                        Event::InputArrived { id, .. } => Some((commit.thread.as_str(), storable(&id.0))),
                        _ => None,
                    }));
                    &commit.thread
                }
                Request::Arrive { thread, id, .. } => {
                    inputs.push((thread.as_str(), storable(&id.0)));
                    thread
                }
            };
            threads.push(thread.clone());
        }
        threads.sort();
        threads.dedup();
        processes.sort_unstable();
        processes.dedup();
        // Of a root to which nothing is written only the number of events of its family is needed.
        let roots: BTreeSet<ThreadId> = threads.iter().map(ThreadId::root).collect();
        let mut to_lock: Vec<&str> = threads.iter().chain(&roots).map(ThreadId::as_str).collect();
        to_lock.sort_unstable();
        to_lock.dedup();
        let known = known.take(&threads);
        let of_known: HashSet<&ThreadId, RandomState> = known.iter().map(|thread| &thread.folded.row.id).collect();
        let unknown: Vec<&str> = threads.iter().filter(|id| !of_known.contains(id)).map(ThreadId::as_str).collect();
        // Several statements: what a statement that had to wait for a lock reads of other tables is as old as its beginning.
        let lock =
            "SELECT key, root, seq, owner, epoch, asked FROM threads WHERE id = ANY($1) ORDER BY key FOR NO KEY UPDATE";
        let heads = "SELECT thread, head FROM progress WHERE thread = ANY($1)";
        let find_processes = "SELECT id, key FROM processes WHERE id = ANY($1)";
        let take_keys = "SELECT nextval('thread_keys') FROM generate_series(1, $1::bigint)";
        let find_inputs = "SELECT t.id AS thread, i.id, e.n, e.seq, e.position FROM unnest($1::text[], $2::text[]) AS w(thread, id) \
                           JOIN threads t ON t.id = w.thread JOIN inputs i ON i.thread = t.key AND i.id = w.id \
                           JOIN events e ON e.position = i.position";
        let mut round = Pipeline::default();
        round.batch(link, "BEGIN");
        round.add(link, link.statement(lock).await?, vec![Box::new(to_lock)]);
        let below: Vec<i64> = known.iter().filter(|thread| thread.family.is_none()).map(|thread| thread.key).collect();
        round.add_if(!below.is_empty(), link, heads, vec![Box::new(below)]).await?;
        round.add_if(!unknown.is_empty(), link, &load_threads(), vec![Box::new(unknown)]).await?;
        round.add(link, link.statement(find_processes).await?, vec![Box::new(processes)]);
        round.add_if(creations > 0, link, take_keys, vec![Box::new(creations)]).await?;
        let (of, ids): (Vec<&str>, Vec<String>) = inputs.iter().map(|(of, id)| (*of, id.to_string())).unzip();
        round.add_if(!of.is_empty(), link, find_inputs, vec![Box::new(of), Box::new(ids)]).await?;
        let mut answers = round.run().await?.into_iter().skip(1);
        let mut next = || answers.next().unwrap_or_default();
        let mut session = Session::default();
        let mut locked: HashMap<i64, Locked, RandomState> = HashMap::default();
        // By place: there are many, and a name is looked for among all columns.
        for row in next() {
            let (key, root, seq): (i64, i64, i64) = (row.get(0), row.get(1), row.get(2));
            let (seq, epoch): (u64, i64) = (columns::unsigned(seq), row.get(4));
            if key == root {
                session.families.insert(root, (seq, false));
            }
            locked.insert(key, Locked { seq, owner: row.get(3), epoch: columns::unsigned(epoch), asked: row.get(5) });
        }
        let mut heads: HashMap<i64, u64, RandomState> = HashMap::default();
        for row in next() {
            heads.insert(row.get(0), columns::unsigned(row.get(1)));
        }
        for row in next() {
            session.insert(Thread::read(&row)?);
        }
        for row in next() {
            session.processes.insert(ProcessId::new(value::<&str>(&row, "id")?), value(&row, "key")?);
        }
        // The first is taken from the end.
        session.keys = next().iter().rev().map(|row| row.get(0)).collect();
        for row in next() {
            let written = Written {
                n: count(&row, "n")?,
                seq: count(&row, "seq")?,
                place: Place::Kept(count(&row, "position")?),
            };
            let thread = columns::thread_id(&row, "thread")?;
            session.inputs.insert((thread, InputId::new(value::<&str>(&row, "id")?)), written);
        }
        let is_current = |thread: &Thread| {
            let head = heads.get(&thread.key).copied();
            locked.get(&thread.key).is_some_and(|locked| thread.stands_as(locked, head))
        };
        let (current, changed): (Vec<Thread>, Vec<Thread>) = known.into_iter().partition(is_current);
        current.into_iter().for_each(|thread| session.insert(thread));
        if !changed.is_empty() {
            let changed: Vec<&str> = changed.iter().map(|thread| thread.folded.row.id.as_str()).collect();
            for row in link.query(&load_threads(), &[&changed]).await? {
                session.insert(Thread::read(&row)?);
            }
        }
        Ok(session)
    }

    fn insert(&mut self, thread: Thread) {
        self.threads.insert(thread.folded.row.id.clone(), thread);
    }

    fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Takes a request into the group, or refuses it and leaves everything as it was.
    fn admit(&mut self, request: &'a Request) -> Result<Written, Error> {
        match request {
            Request::Append(commit, bodies) => self.append(commit, bodies),
            Request::Arrive { thread, id, event, body, at, wake } => {
                let key = self.threads.get(thread).ok_or_else(|| Error::unknown(thread))?.key;
                let id = InputId::new(storable(&id.0));
                if let Some(first) = self.inputs.get(&(thread.clone(), id)) {
                    return Ok(*first);
                }
                let written = self.write(thread, *at, std::slice::from_ref(event), body);
                if let Event::InputArrived { input, .. } = &**event
                    && let Some(thread) = self.threads.get_mut(thread)
                {
                    thread.asked |= input.needs_no_run();
                }
                if *wake {
                    self.wakes.push((key, *at));
                }
                Ok(written)
            }
        }
    }

    fn append(&mut self, commit: &Commit, bodies: &'a [Encoded]) -> Result<Written, Error> {
        admission::shape(commit)?;
        let unknown = || Error::UnknownProcess(commit.process.clone());
        let process = *self.processes.get(&commit.process).ok_or_else(unknown)?;
        let thread = self.threads.get(&commit.thread);
        let owner = thread.and_then(|thread| thread.owner.as_ref()).map(|(_, owner)| owner);
        admission::commit(commit, thread.map(|thread| &thread.folded.row), owner)?;
        let is_known = |id: &InputId| self.inputs.contains_key(&(commit.thread.clone(), InputId::new(storable(&id.0))));
        if admission::repeats_input(&commit.events, |id| thread.is_some() && is_known(id)) {
            return Err(Error::Invalid("an input is written once"));
        }
        if thread.is_none() {
            self.create(commit, process)?;
        }
        let written = self.write(&commit.thread, commit.at, &commit.events, bodies);
        let reports = commit.events.iter().any(|event| matches!(**event, Event::Reported(_)));
        let thread = self.threads.get_mut(&commit.thread).expect("the thread was just written to");
        let is_over = reports && thread.folded.row.outcome.is_some();
        thread.owner = (!is_over && !commit.lets_go).then(|| (process, commit.process.clone()));
        // It has seen all that had arrived: a run goes on, or nothing begins one.
        thread.asked = false;
        if thread.parent.is_some() && commit.events.iter().any(|event| is_news(event)) {
            self.news.push((thread.key, process, commit.at));
        }
        Ok(written)
    }

    fn create(&mut self, commit: &Commit, process: i64) -> Result<(), Error> {
        let Some(Event::ThreadCreated(created)) = commit.events.first().map(|event| &**event) else {
            return Err(Error::Invalid("a thread begins with its creation"));
        };
        let (parent, root) = match commit.thread.parent() {
            None => (None, None),
            Some(parent) => {
                let parent = self.threads.get(&parent).ok_or_else(|| Error::unknown(&parent))?;
                (Some(parent.key), Some(parent.root))
            }
        };
        let key = self.keys.pop().expect("a key was taken for each creation");
        let root = root.unwrap_or(key);
        if parent.is_none() {
            self.families.insert(key, (0, true));
        }
        let owner = Some((process, commit.process.clone()));
        let folded = Folded::create(created, commit.at);
        let saved = Stable::of(&folded, owner.as_ref(), false);
        let needs = Some(Needs { machine: created.bound_to().cloned(), labels: created.role.requires.clone() });
        let (asked, is_new, is_changed) = (false, true, true);
        let thread = Thread { key, root, parent, family: None, owner, folded, asked, needs, is_new, is_changed, saved };
        self.threads.insert(commit.thread.clone(), thread);
        Ok(())
    }

    /// Takes events that were admitted to a thread that is known into the group, and all that follows from them.
    fn write(&mut self, id: &ThreadId, at: Time, events: &[Arc<Event>], bodies: &'a [Encoded]) -> Written {
        let thread = self.threads.get_mut(id).expect("the thread was read");
        thread.is_changed = true;
        let (key, root) = (thread.key, thread.root);
        let (seq, is_changed) = self.families.get_mut(&root).expect("the root was read");
        *is_changed = true;
        for (event, body) in events.iter().zip(bodies) {
            *seq += 1;
            let n = thread.folded.row.head + 1;
            let place = self.events.len() + 1;
            self.events.push(PendingEvent { root, seq: *seq, thread: key, n, at, body });
            if let Event::InputArrived { id: input, .. } = &**event {
                let written = Written { n, seq: *seq, place: Place::InGroup(place as u64) };
                let input = storable(&input.0);
                self.new_inputs.push((key, input.to_string(), place as i64));
                self.inputs.insert((id.clone(), InputId::new(input)), written);
            }
            match thread.folded.apply(at, event) {
                None => {}
                // A child is spawned once.
                Some(Change::Spawned(execution))
                    if self.spawned.iter().any(|one| one.sub_agent_id == execution.sub_agent_id) => {}
                Some(Change::Spawned(execution)) => self.spawned.push(*execution),
                Some(Change::Started(child)) => match self.spawned.iter_mut().find(|one| one.sub_agent_id == child) {
                    Some(one) if one.status == Status::Pending => one.status = Status::Running,
                    Some(_) => {}
                    None => self.started.push(child),
                },
                Some(Change::Ended(child, end)) => {
                    match self.spawned.iter_mut().find(|one| one.sub_agent_id == child) {
                        Some(one) => one.finish(&end),
                        // The first end counts.
                        None if self.ended.iter().all(|(one, _)| *one != child) => self.ended.push((child, *end)),
                        None => {}
                    }
                }
                Some(Change::Question(change)) => self.questions.push((key, root, place, change)),
            }
        }
        Written { n: thread.folded.row.head, seq: *seq, place: Place::InGroup(self.events.len() as u64) }
    }

    /// Writes all of it and commits. The answer is the last position.
    async fn save(&mut self, link: &Link, clock: Clock) -> Result<u64, Error> {
        let mut round = Pipeline::default();
        let mut changed: Vec<&mut Thread> = self.threads.values_mut().filter(|thread| thread.is_changed).collect();
        // Rows are changed in the order in which others lock them.
        changed.sort_by_key(|thread| thread.key);
        for thread in &mut changed {
            thread.folded.settle();
        }
        let changed: Vec<&Thread> = changed.into_iter().map(|thread| &*thread).collect();
        let new: Vec<&Thread> = changed.iter().copied().filter(|thread| thread.is_new).collect();
        if !new.is_empty() {
            round.add(link, link.statement(INSERT_THREADS).await?, new_threads(&new));
        }
        let moved: Vec<&Thread> = changed.iter().copied().filter(|thread| thread.stable() != thread.saved).collect();
        if !moved.is_empty() {
            round.add(link, link.statement(UPDATE_THREADS).await?, changed_threads(&moved));
        }
        let mut grown: Vec<(i64, i64)> = self
            .families
            .iter()
            .filter(|(_, (_, is_changed))| *is_changed)
            .map(|(root, (seq, _))| (*root, signed(*seq)))
            .collect();
        grown.sort_unstable();
        let (roots, seqs): (Vec<i64>, Vec<i64>) = grown.into_iter().unzip();
        round.add(link, link.statement(UPDATE_FAMILIES).await?, vec![Box::new(roots), Box::new(seqs)]);
        let old: Vec<&Thread> = changed.iter().copied().filter(|thread| !thread.is_new).collect();
        for (sql, threads) in [(INSERT_PROGRESS, &new), (UPDATE_PROGRESS, &old)] {
            if !threads.is_empty() {
                round.add(link, link.statement(sql).await?, progress(threads));
            }
        }
        if !self.started.is_empty() {
            let started: Vec<&str> = self.started.iter().map(ThreadId::as_str).collect();
            round.add(link, link.statement(START_EXECUTIONS).await?, vec![Box::new(started)]);
        }
        if !self.ended.is_empty() {
            round.add(link, link.statement(END_EXECUTIONS).await?, ends(&self.ended));
        }
        // After the others, which are about executions of earlier groups.
        if !self.spawned.is_empty() {
            round.add(link, link.statement(INSERT_EXECUTIONS).await?, executions(&self.spawned));
        }
        for (thread, at) in &self.wakes {
            let sql = link.statement(&leave_wake()).await?;
            round.add(link, sql, vec![Box::new(clock.moment(*at)), Box::new(*thread)]);
        }
        if let Some((_, _, at)) = self.news.last() {
            let (children, writers): (Vec<i64>, Vec<i64>) = self.news.iter().map(|one| (one.0, one.1)).unzip();
            let values: Vec<Value<'_>> = vec![Box::new(clock.moment(*at)), Box::new(children), Box::new(writers)];
            round.add(link, link.statement(&tell_parents()).await?, values);
        }
        // From here on all other writers wait until this is committed.
        round.add(link, link.statement(LOCK_POSITIONS).await?, vec![Box::new(POSITIONS)]);
        let taken_at = round.len();
        let many = signed(self.events.len() as u64);
        round.add(link, link.statement(TAKE_POSITIONS).await?, vec![Box::new(many)]);
        round.add(link, link.statement(INSERT_EVENTS).await?, event_rows(&self.events));
        if !self.new_inputs.is_empty() {
            let (mut threads, mut ids, mut places) = (Vec::new(), Vec::new(), Vec::new());
            for (thread, id, place) in &self.new_inputs {
                threads.push(*thread);
                ids.push(id.as_str());
                places.push(*place - many);
            }
            let values: Vec<Value<'_>> = vec![Box::new(threads), Box::new(ids), Box::new(places)];
            round.add(link, link.statement(INSERT_INPUTS).await?, values);
        }
        for (thread, root, place, change) in &self.questions {
            let (sql, values) = question(*thread, *root, self.events.len() - *place, change);
            round.add(link, link.statement(sql).await?, values);
        }
        round.batch(link, COMMIT);
        let answers = round.run().await?;
        let last: i64 = answers[taken_at].first().map(|row| row.get(0)).ok_or(Error::Closed)?;
        Ok(columns::unsigned(last))
    }
}

/// Reads threads by their names.
fn load_threads() -> String {
    format!(
        "SELECT t.key, t.root, t.parent, t.owner, t.unwatched, t.asked, g.doing, g.answers, g.booked_tokens, {THREAD_ALONE} FROM {THREADS} \
         WHERE t.id = ANY($1)"
    )
}

impl Thread {
    fn read(row: &Row) -> Result<Self, Error> {
        let mut folded = Folded {
            row: columns::thread(row)?,
            doing: json(row, "doing")?,
            answers: count(row, "answers")?,
            booked_tokens: count(row, "booked_tokens")?,
            unwatched: value(row, "unwatched")?,
        };
        let owner: Option<i64> = value(row, "owner")?;
        let owner = owner.zip(folded.row.owner.take().map(|owner| owner.process.id));
        let asked = value(row, "asked")?;
        let saved = Stable::of(&folded, owner.as_ref(), asked);
        let (key, root, parent) = (value(row, "key")?, value(row, "root")?, value(row, "parent")?);
        let (needs, is_new, is_changed) = (None, false, false);
        Ok(Self { key, root, parent, family: None, owner, folded, asked, needs, is_new, is_changed, saved })
    }

    /// The same after it was saved.
    fn kept(self) -> Self {
        let saved = self.stable();
        Self { saved, needs: None, is_new: false, is_changed: false, ..self }
    }

    /// Whether the thread still stands in the database as it is here: its row is locked. A root is compared by the events of its family, of
    /// which none is written without a lock of its row; any other has this `head`.
    fn stands_as(&self, locked: &Locked, head: Option<u64>) -> bool {
        let Locked { seq, owner, epoch, asked } = *locked;
        let here = (self.owner.as_ref().map(|(key, _)| *key), self.folded.row.epoch, self.asked);
        let is_unwritten = self.family.map_or(head == Some(self.folded.row.head), |family| family == seq);
        here == (owner, epoch, asked) && is_unwritten
    }

    fn stable(&self) -> Stable {
        Stable::of(&self.folded, self.owner.as_ref(), self.asked)
    }

    /// Whether a process is to take it over.
    fn is_waiting(&self) -> bool {
        self.owner.is_none() && (self.asked || self.folded.row.state.is_live())
    }
}

const INSERT_THREADS: &str = "INSERT INTO threads (key, id, root, parent, owner, epoch, name, agent, model, mode, preset, goal, live, runs, \
     created_at, unwatched, persistent, created_for, machine, requires) \
     SELECT v.key, v.id, v.root, v.parent, v.owner, v.epoch, v.name, v.agent, v.model, v.mode, v.preset, v.goal, v.live, v.runs, \
     v.created_at, v.unwatched, v.persistent, v.created_for, v.machine, string_to_array(v.requires, E'\\x1f') \
     FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], \
     $9::text[], $10::text[], $11::text[], $12::text[], $13::boolean[], $14::bigint[], $15::bigint[], $16::boolean[], $17::boolean[], \
     $18::text[], $19::text[], $20::text[]) \
     AS v(key, id, root, parent, owner, epoch, name, agent, model, mode, preset, goal, live, runs, created_at, unwatched, persistent, \
     created_for, machine, requires)";

/// What is between the labels that a thread requires, where they are handed to the database.
const BETWEEN_LABELS: &str = "\x1f";

fn new_threads<'a>(threads: &[&Thread]) -> Vec<Value<'a>> {
    let rows = || threads.iter().map(|thread| &thread.folded.row);
    let needs = || threads.iter().map(|thread| thread.needs.clone().unwrap_or_default());
    vec![
        Box::new(threads.iter().map(|thread| thread.key).collect::<Vec<_>>()),
        Box::new(rows().map(|row| row.id.as_str().to_owned()).collect::<Vec<_>>()),
        Box::new(threads.iter().map(|thread| thread.root).collect::<Vec<_>>()),
        Box::new(threads.iter().map(|thread| thread.parent).collect::<Vec<_>>()),
        // As it was when it was created; what the rest of its commit made of it is written by the next statement.
        Box::new(threads.iter().map(|thread| thread.saved.owner).collect::<Vec<_>>()),
        Box::new(rows().map(|row| signed(row.epoch)).collect::<Vec<_>>()),
        Box::new(rows().map(|row| storable(&row.name).into_owned()).collect::<Vec<_>>()),
        Box::new(rows().map(|row| storable(&row.agent).into_owned()).collect::<Vec<_>>()),
        Box::new(rows().map(|row| storable(&row.model).into_owned()).collect::<Vec<_>>()),
        Box::new(rows().map(|row| row.mode.as_str()).collect::<Vec<_>>()),
        Box::new(rows().map(|row| storable(&row.preset).into_owned()).collect::<Vec<_>>()),
        Box::new(threads.iter().map(|thread| storable(&thread.saved.goal).into_owned()).collect::<Vec<_>>()),
        Box::new(threads.iter().map(|thread| thread.saved.live).collect::<Vec<_>>()),
        Box::new(threads.iter().map(|thread| i64::from(thread.saved.runs)).collect::<Vec<_>>()),
        Box::new(rows().map(|row| row.created_at.0).collect::<Vec<_>>()),
        Box::new(threads.iter().map(|thread| thread.saved.unwatched).collect::<Vec<_>>()),
        Box::new(rows().map(|row| row.persistent).collect::<Vec<_>>()),
        Box::new(rows().map(|row| optional_storable(row.created_for.as_deref())).collect::<Vec<_>>()),
        Box::new(needs().map(|needs| optional_storable(needs.machine.as_deref())).collect::<Vec<_>>()),
        Box::new(needs().map(|needs| storable(&needs.labels.join(BETWEEN_LABELS)).into_owned()).collect::<Vec<_>>()),
    ]
}

const UPDATE_THREADS: &str = "UPDATE threads t SET goal = v.goal, live = v.live, outcome = v.outcome, runs = v.runs, ended_at = v.ended_at, \
     owner = v.owner, title = v.title, archived = v.archived, unread = v.unread, unwatched = v.unwatched, asked = v.asked \
     FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::boolean[], \
     $10::boolean[], $11::boolean[], $12::boolean[]) \
     AS v(key, goal, live, outcome, runs, ended_at, owner, title, archived, unread, unwatched, asked) WHERE t.key = v.key";

fn changed_threads<'a>(threads: &[&Thread]) -> Vec<Value<'a>> {
    let stable: Vec<Stable> = threads.iter().map(|thread| thread.stable()).collect();
    vec![
        Box::new(threads.iter().map(|thread| thread.key).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| storable(&row.goal).into_owned()).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.live).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.outcome.map(|outcome| outcome.as_str())).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| i64::from(row.runs)).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.ended_at.map(|at| at.0)).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.owner).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| optional_storable(row.title.as_deref())).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.archived).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.unread).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.unwatched).collect::<Vec<_>>()),
        Box::new(stable.iter().map(|row| row.asked).collect::<Vec<_>>()),
    ]
}

const UPDATE_FAMILIES: &str =
    "UPDATE threads t SET seq = v.seq FROM unnest($1::bigint[], $2::bigint[]) AS v(root, seq) WHERE t.key = v.root";

const INSERT_PROGRESS: &str = "INSERT INTO progress (thread, head, turns, tool_calls, answers, tokens_input, tokens_cache_read, \
     tokens_cache_write, tokens_output, booked_tokens, cost_microusd, last_tool, waiting_for, updated_at, state, doing) \
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
     $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::text[])";

const UPDATE_PROGRESS: &str = "UPDATE progress g SET head = v.head, turns = v.turns, tool_calls = v.tool_calls, answers = v.answers, \
     tokens_input = v.tokens_input, tokens_cache_read = v.tokens_cache_read, tokens_cache_write = v.tokens_cache_write, \
     tokens_output = v.tokens_output, booked_tokens = v.booked_tokens, cost_microusd = v.cost_microusd, last_tool = v.last_tool, \
     waiting_for = v.waiting_for, updated_at = v.updated_at, state = v.state, doing = v.doing \
     FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
     $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::text[]) \
     AS v(thread, head, turns, tool_calls, answers, tokens_input, tokens_cache_read, tokens_cache_write, tokens_output, booked_tokens, \
     cost_microusd, last_tool, waiting_for, updated_at, state, doing) WHERE g.thread = v.thread";

fn progress<'a>(threads: &[&Thread]) -> Vec<Value<'a>> {
    let folded = || threads.iter().map(|thread| &thread.folded);
    let numbers = |number: fn(&Folded) -> u64| -> Value<'a> {
        Box::new(folded().map(|folded| signed(number(folded))).collect::<Vec<_>>())
    };
    vec![
        Box::new(threads.iter().map(|thread| thread.key).collect::<Vec<_>>()),
        numbers(|folded| folded.row.head),
        numbers(|folded| folded.row.turns.into()),
        numbers(|folded| folded.row.tool_calls.into()),
        numbers(|folded| folded.answers),
        numbers(|folded| folded.row.tokens.input),
        numbers(|folded| folded.row.tokens.cache_read),
        numbers(|folded| folded.row.tokens.cache_write),
        numbers(|folded| folded.row.tokens.output),
        numbers(|folded| folded.booked_tokens),
        numbers(|folded| folded.row.cost_microusd),
        Box::new(folded().map(|folded| optional_storable(folded.row.last_tool.as_deref())).collect::<Vec<_>>()),
        Box::new(folded().map(|folded| optional_storable(folded.row.waiting_for.as_deref())).collect::<Vec<_>>()),
        Box::new(folded().map(|folded| folded.row.updated_at.0).collect::<Vec<_>>()),
        Box::new(folded().map(|folded| folded.row.state.as_str()).collect::<Vec<_>>()),
        Box::new(folded().map(|folded| to_json(&folded.doing)).collect::<Vec<_>>()),
    ]
}

const INSERT_EXECUTIONS: &str = "INSERT INTO sub_agent_execution (id, workflow_id, parent_agent_id, sub_agent_id, sub_agent_name, \
     task_description, status, outcome, duration_ms, tokens_input, tokens_output, result_summary, error_message, created_at, completed_at) \
     SELECT v.id, v.workflow_id, v.parent_agent_id, v.id, v.name, v.task, v.status, v.outcome, v.duration_ms, v.tokens_input, \
     v.tokens_output, v.result_summary, v.error_message, v.created_at, v.completed_at \
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], \
     $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::bigint[]) WITH ORDINALITY \
     AS v(id, workflow_id, parent_agent_id, name, task, status, outcome, duration_ms, tokens_input, tokens_output, result_summary, \
     error_message, created_at, completed_at, ord) ORDER BY v.ord ON CONFLICT (id) DO NOTHING";

fn executions<'a>(spawned: &[Execution]) -> Vec<Value<'a>> {
    let texts = |text: fn(&Execution) -> &str| -> Value<'a> {
        Box::new(spawned.iter().map(|one| storable(text(one)).into_owned()).collect::<Vec<_>>())
    };
    let numbers = |number: fn(&Execution) -> Option<u64>| -> Value<'a> {
        Box::new(spawned.iter().map(|one| number(one).map(signed)).collect::<Vec<_>>())
    };
    vec![
        texts(|one| one.sub_agent_id.as_str()),
        texts(|one| one.workflow_id.as_str()),
        texts(|one| one.parent_agent_id.as_str()),
        texts(|one| &one.sub_agent_name),
        texts(|one| &one.task_description),
        texts(|one| one.status.as_str()),
        Box::new(spawned.iter().map(|one| one.outcome.map(|outcome| outcome.as_str())).collect::<Vec<_>>()),
        numbers(|one| one.duration_ms),
        numbers(|one| one.tokens_input),
        numbers(|one| one.tokens_output),
        Box::new(spawned.iter().map(|one| optional_storable(one.result_summary.as_deref())).collect::<Vec<_>>()),
        Box::new(spawned.iter().map(|one| optional_storable(one.error_message.as_deref())).collect::<Vec<_>>()),
        Box::new(spawned.iter().map(|one| one.created_at.0).collect::<Vec<_>>()),
        Box::new(spawned.iter().map(|one| one.completed_at.map(|at| at.0)).collect::<Vec<_>>()),
    ]
}

const START_EXECUTIONS: &str =
    "UPDATE sub_agent_execution SET status = 'running' WHERE id = ANY($1) AND status = 'pending'";

const END_EXECUTIONS: &str = "UPDATE sub_agent_execution x SET status = v.status, outcome = v.outcome, duration_ms = v.duration_ms, \
     tokens_input = v.tokens_input, tokens_output = v.tokens_output, result_summary = v.result_summary, \
     error_message = v.error_message, completed_at = v.at \
     FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::bigint[]) \
     AS v(id, status, outcome, duration_ms, tokens_input, tokens_output, result_summary, error_message, at) \
     WHERE x.id = v.id AND x.status IN ('pending', 'running')";

fn ends<'a>(ended: &[(ThreadId, projection::End)]) -> Vec<Value<'a>> {
    let numbers = |number: fn(&projection::End) -> u64| -> Value<'a> {
        Box::new(ended.iter().map(|(_, end)| signed(number(end))).collect::<Vec<_>>())
    };
    let texts = |text: fn(&projection::End) -> Option<&Arc<str>>| -> Value<'a> {
        Box::new(ended.iter().map(|(_, end)| optional_storable(text(end).map(|text| &**text))).collect::<Vec<_>>())
    };
    vec![
        Box::new(ended.iter().map(|(child, _)| child.as_str().to_owned()).collect::<Vec<_>>()),
        Box::new(ended.iter().map(|(_, end)| end.status.as_str()).collect::<Vec<_>>()),
        Box::new(ended.iter().map(|(_, end)| end.outcome.as_str()).collect::<Vec<_>>()),
        numbers(|end| end.duration_ms),
        numbers(|end| end.tokens_input),
        numbers(|end| end.tokens_output),
        texts(|end| end.result_summary.as_ref()),
        texts(|end| end.error_message.as_ref()),
        Box::new(ended.iter().map(|(_, end)| end.at.0).collect::<Vec<_>>()),
    ]
}

/// Leaves a wake that is due now, unless there is one that no process has leased yet. One that is leased does not do: its holder may have
/// read the log already. The moment is the database's: the clock of who sends something decides nothing.
fn leave_wake() -> String {
    format!(
        "INSERT INTO wakes (thread, due) SELECT $2::bigint, {NOW} \
         WHERE NOT EXISTS (SELECT 1 FROM wakes WHERE thread = $2 AND about IS NULL AND leased_until IS NULL AND due <= {NOW})"
    )
}

/// Leaves wakes for the parents of sub-agents of which there is news, where the process that writes does not drive the parent itself.
fn tell_parents() -> String {
    format!(
        "INSERT INTO wakes (thread, due, about) SELECT p.key, {NOW}, c.key FROM unnest($2::bigint[], $3::bigint[]) AS v(child, writer) \
         JOIN threads c ON c.key = v.child JOIN threads p ON p.key = c.parent \
         WHERE p.live AND p.owner IS DISTINCT FROM v.writer \
         AND NOT EXISTS (SELECT 1 FROM wakes w WHERE w.thread = p.key AND w.about = c.key AND w.leased_until IS NULL)"
    )
}

/// Whether the parent of a sub-agent is to know of an event: a report, a question that was dropped, or that it waits for a person.
fn is_news(event: &Event) -> bool {
    matches!(
        event,
        Event::Reported(_)
            | Event::InputDropped { .. }
            | Event::ApprovalRequested(_)
            | Event::ApprovalResolved { .. }
            | Event::ChildPaused { .. }
    )
}

const INSERT_INPUTS: &str = "INSERT INTO inputs (thread, id, position) \
     SELECT v.thread, v.id, currval('event_positions') + v.place FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS v(thread, id, place)";

fn event_rows<'a>(events: &[PendingEvent<'a>]) -> Vec<Value<'a>> {
    vec![
        Box::new(signed(events.len() as u64)),
        Box::new(events.iter().map(|event| event.root).collect::<Vec<_>>()),
        Box::new(events.iter().map(|event| signed(event.seq)).collect::<Vec<_>>()),
        Box::new(events.iter().map(|event| event.thread).collect::<Vec<_>>()),
        Box::new(events.iter().map(|event| signed(event.n)).collect::<Vec<_>>()),
        Box::new(events.iter().map(|event| event.at.0).collect::<Vec<_>>()),
        Box::new(events.iter().map(|event| event.body.kind).collect::<Vec<_>>()),
        Box::new(events.iter().map(|event| i32::try_from(event.body.version).unwrap_or(0)).collect::<Vec<_>>()),
        Box::new(events.iter().map(|event| event.body.body.as_str()).collect::<Vec<_>>()),
    ]
}

/// What an event changed among the questions of its thread. `before_last` is how many events of the group come after it.
fn question<'a>(
    thread: i64,
    root: i64,
    before_last: usize,
    change: &approvals::Change,
) -> (&'static str, Vec<Value<'a>>) {
    let owned = |text: &str| storable(text).into_owned();
    match change {
        approvals::Change::Asked(row) => {
            let question = &row.question;
            let sql = "INSERT INTO approvals (position, id, root, thread, call, tool, risk, effect, path, requested_at, expires_at, \
                       status, question) \
                       VALUES (currval('event_positions') - $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
                       ON CONFLICT (id) DO NOTHING";
            let values: Vec<Value<'a>> = vec![
                Box::new(signed(before_last as u64)),
                Box::new(owned(question.id.as_str())),
                Box::new(root),
                Box::new(thread),
                Box::new(owned(question.call.as_str())),
                Box::new(owned(&question.tool)),
                Box::new(question.risk.as_str()),
                Box::new(owned(&question.effect)),
                Box::new(owned(&question.path.join(" › "))),
                Box::new(row.requested_at.0),
                Box::new(question.expires_at.0),
                Box::new(row.status.as_str()),
                Box::new(to_json(question)),
            ];
            (sql, values)
        }
        approvals::Change::Decided { id, by, at } => {
            let sql = "UPDATE approvals SET status = 'decided', decided_by = $3, decided_at = $4 \
                       WHERE id = $1 AND thread = $2 AND status = 'pending'";
            (sql, vec![Box::new(owned(id.as_str())), Box::new(thread), Box::new(owned(&by.0)), Box::new(at.0)])
        }
        approvals::Change::Dropped { input } => {
            let sql = "UPDATE approvals SET status = 'pending', decided_by = NULL, decided_at = NULL \
                       WHERE thread = $1 AND decided_by = $2";
            (sql, vec![Box::new(thread), Box::new(owned(&input.0))])
        }
        approvals::Change::Resolved { id, at, end: End { status, reason, answer } } => {
            let sql = "UPDATE approvals SET status = $3, reason = $4, answer = $6, decided_by = NULL, \
                       decided_at = coalesce(decided_at, $5) \
                       WHERE id = $1 AND thread = $2 AND status IN ('pending', 'decided')";
            let values: Vec<Value<'a>> = vec![
                Box::new(owned(id.as_str())),
                Box::new(thread),
                Box::new(status.as_str()),
                Box::new(optional_storable(reason.as_deref())),
                Box::new(at.0),
                Box::new(optional_storable(answer.as_deref())),
            ];
            (sql, values)
        }
    }
}

/// The request of a commit.
pub(super) fn append(commit: Commit) -> Request {
    let bodies = commit.events.iter().map(|event| codec::encode(event)).collect();
    Request::Append(Arc::new(commit), bodies)
}
