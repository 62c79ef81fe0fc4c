//! The store of many machines: a PostgreSQL database that any number of processes write to.
//!
//! Events of threads are written in groups ([`write`]), everything else by a transaction of its own. Who is alive is told by the clock of
//! the database ([`ownership`]), and what others wrote by its notifications ([`follow`]).
//!
//! Left to others: what is checked before a write (`admission`) and what follows from an event (`projection`). Left to PostgreSQL: locks,
//! durability, replication, copies.

mod address;
mod blocking;
mod boards;
mod columns;
mod connection;
mod fault;
mod follow;
mod ownership;
mod read;
mod schema;
mod search;
mod tls;
mod write;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use agent::approval::ApprovalId;
use agent::{Event, InputId, Outside, ThreadId, Time};
use board::{Board, BoardId, Facts, Note, Request, Task, TaskId};
use futures_util::future::BoxFuture;
use tokio::sync::{broadcast, watch};

use crate::approvals::{ApprovalQuery, ApprovalRow};
use crate::boards::{
    AgentMetadata, BoardCommit, BoardRecord, Boards, DeliveryQuery, DueDelivery, OnBoard, Rebuilt, RestingQuery,
    RestingTask, TaskQuery,
};
use crate::codec;
use crate::error::Error;
use crate::installation::{Installation, InstallationEvent, InstallationRecord, State};
use crate::lists::Lists;
use crate::log::{Answer, Appended, Commit, Log, Record};
use crate::open::{Health, Machine, Options, Store};
use crate::ownership::{ClaimQuery, Claimed, Living, Ownership, WorkerRow};
use crate::process::{Process, ProcessId};
use crate::rows::{Execution, ThreadQuery, ThreadRow, UsageRow, Wake};
use crate::search::{Found, SearchQuery};
use blocking::Blocking;
use connection::{Background, Connector, Link, Pool, transact};
use follow::Follower;
use ownership::{Beats, Clock};
use write::Writer;

pub use address::Address;

/// A store in a PostgreSQL database. Clones share their connections.
#[derive(Clone)]
pub struct PostgresStore(Arc<Inner>);

struct Inner {
    connector: Arc<Connector>,
    pool: Arc<Pool>,
    writer: Writer,
    follower: Follower,
    beats: Beats,
    clock: Clock,
    background: Arc<Background>,
}

/// What is known of a database before its store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseStatus {
    /// The version of the server.
    pub server: Arc<str>,
    /// The schema that was found; none where there is none.
    pub schema: Option<u32>,
    /// The newest schema that this program knows.
    pub newest_schema: u32,
    /// Whether the role may make and change tables there.
    pub can_create: bool,
    /// How far the clock of the database is ahead of this machine's, in milliseconds, as far as the time of one question allows to say.
    pub clock_ahead_ms: i64,
    /// How large the database is, in bytes.
    pub bytes: u64,
}

impl PostgresStore {
    /// Opens the store in a database that was made ready.
    pub fn open(address: &Address, options: &Options) -> Result<Self, Error> {
        Self::open_by(address, options, Clock::Database)
    }

    /// Makes a database ready, or brings its tables up to date. One process does it, others wait for it. The answer is the schema that was
    /// found; none where there was none.
    pub fn initialize(address: &Address) -> Result<Option<u32>, Error> {
        with_link(address, |link| Box::pin(schema::migrate(link)))
    }

    /// The newest schema that this program knows.
    pub fn newest_schema() -> u32 {
        schema::NEWEST
    }

    /// Looks at a database without opening its store. `now` is the time of this machine.
    pub fn status(address: &Address, now: fn() -> Time) -> Result<DatabaseStatus, Error> {
        with_link(address, move |link| {
            Box::pin(async move {
                let before = now();
                let row = link.one("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", &[]).await?;
                let after = now();
                let here = before.0 + (after.0 - before.0) / 2;
                let sql = "SELECT current_setting('server_version') AS server, pg_database_size(current_database()) AS bytes, \
                           has_database_privilege(current_database(), 'CREATE') AS can_create";
                let known = link.one(sql, &[]).await?;
                Ok(DatabaseStatus {
                    server: columns::text(&known, "server")?,
                    schema: schema::found(link).await?,
                    newest_schema: schema::NEWEST,
                    can_create: columns::value(&known, "can_create")?,
                    clock_ahead_ms: row.get::<_, i64>(0) - here,
                    bytes: columns::count(&known, "bytes")?,
                })
            })
        })
    }

    /// What holds for the installation, read without opening the store.
    pub(crate) fn installation_of(address: &Address) -> Result<State, Error> {
        with_link(address, |link| {
            Box::pin(async move {
                match schema::found(link).await? {
                    None => Ok(State::default()),
                    Some(found) if found > schema::NEWEST => Err(Error::Newer { found, known: schema::NEWEST }),
                    Some(_) => read::installation(link).await,
                }
            })
        })
    }

    /// Opens the store so that who asks says what time it is.
    pub(crate) fn open_without_clock(address: &Address) -> Result<Self, Error> {
        Self::open_by(address, &Options::default(), Clock::Caller)
    }

    fn open_by(address: &Address, options: &Options, clock: Clock) -> Result<Self, Error> {
        let background = Arc::new(Background::start()?);
        let connector = Arc::new(Connector::new(address.clone(), options.durability, &background)?);
        let pool = Pool::new(connector.clone());
        let newest = background.block_on(async {
            let link = pool.take().await?;
            schema::check(&link).await?;
            read::newest(&link).await
        })?;
        let handle = background.handle();
        let follower = Follower::new(newest, &connector, &pool, handle);
        let writer = Writer::start(handle, &connector, follower.announcer(), clock);
        let beats = Beats::default();
        if clock.is_of_database() {
            let (announcer, is_asked) = (follower.announcer().clone(), follower.is_asked().clone());
            handle.spawn(beats.clone().keep(connector.clone(), announcer, is_asked));
        }
        Ok(Self(Arc::new(Inner { connector, pool, writer, follower, beats, clock, background })))
    }

    /// This machine, where its folders are no others'.
    fn machine_of_folders(&self) -> Option<Arc<str>> {
        self.0.connector.address().machine().of_folders().cloned()
    }

    /// A request that only looks.
    fn look<T: Send + 'static>(
        &self,
        request: impl for<'a> FnOnce(&'a Link) -> BoxFuture<'a, Result<T, Error>> + Send + 'static,
    ) -> Answer<T> {
        let pool = self.0.pool.clone();
        Box::pin(async move {
            let link = pool.take().await?;
            request(&link).await
        })
    }

    /// A request that changes something in one statement, or in several that may be carried out apart.
    fn change<T: Send + 'static>(
        &self,
        request: impl for<'a> FnOnce(&'a Link) -> BoxFuture<'a, Result<T, Error>> + Send + 'static,
    ) -> Answer<T> {
        let inner = self.0.clone();
        Box::pin(async move {
            let pool = inner.pool.clone();
            inner.background.run(async move { request(&*pool.take().await?).await }).await
        })
    }

    /// A request that changes something in one transaction. It may be carried out more than once before it is kept.
    fn write<T: Send + 'static>(
        &self,
        request: impl for<'a> Fn(&'a Link) -> BoxFuture<'a, Result<T, Error>> + Send + Sync + 'static,
    ) -> Answer<T> {
        let inner = self.0.clone();
        Box::pin(async move {
            let pool = inner.pool.clone();
            inner.background.run(async move { transact(&pool, request).await }).await
        })
    }

    /// A request in one transaction of code that waits for each answer.
    fn block<T: Send + 'static>(
        &self,
        begin: &'static str,
        request: impl Fn(&Blocking<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Answer<T> {
        let inner = self.0.clone();
        Box::pin(async move {
            let background = inner.background.handle().clone();
            let pool = inner.pool.clone();
            let work = move || {
                const TRIES: u32 = 10;
                let mut tries = 0;
                loop {
                    tries += 1;
                    let link = background.block_on(pool.take())?;
                    let db = Blocking { link: &link, background: &background };
                    let done = background.block_on(link.batch(begin)).and_then(|()| request(&db));
                    let done =
                        done.and_then(|value| background.block_on(link.batch(connection::COMMIT)).map(|()| value));
                    if let Err(error) = &done {
                        if background.block_on(link.batch("ROLLBACK")).is_err() {
                            link.discard();
                        }
                        if fault::is_undone(error) && tries < TRIES {
                            continue;
                        }
                    }
                    return done;
                }
            };
            inner.background.handle().spawn_blocking(work).await.unwrap_or(Err(Error::Closed))
        })
    }

    /// The same for one that writes to the log: what it wrote is announced.
    fn append_to_stream(
        &self,
        request: impl Fn(&Blocking<'_>) -> Result<Appended, Error> + Send + 'static,
    ) -> Answer<Appended> {
        let (written, inner) = (self.block("BEGIN", request), self.0.clone());
        Box::pin(async move { written.await.inspect(|appended| inner.follower.announcer().wrote(appended.position)) })
    }
}

/// Does something on one connection, which is closed again. Blocks until it is done.
fn with_link<T: Send>(
    address: &Address,
    work: impl for<'a> FnOnce(&'a Link) -> BoxFuture<'a, Result<T, Error>> + Send,
) -> Result<T, Error> {
    let background = Background::start()?;
    let connector = Connector::new(address.clone(), crate::open::Durability::Full, &background)?;
    background.block_on(async {
        let link = connector.connect().await?;
        work(&link).await
    })
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("address", self.0.connector.address()).finish_non_exhaustive()
    }
}

impl Log for PostgresStore {
    fn append(&self, commit: Commit) -> Answer<Appended> {
        let inner = self.0.clone();
        // Encoded by the caller, so that the one thread need not.
        Box::pin(async move { inner.writer.ask(write::append(commit)).await })
    }

    fn arrive(&self, thread: &ThreadId, id: InputId, input: Outside, at: Time, wake: bool) -> Answer<Appended> {
        let (inner, thread) = (self.0.clone(), thread.clone());
        let event = Arc::new(Event::InputArrived { id: id.clone(), input });
        let body: Arc<[_]> = [codec::encode(&event)].into();
        Box::pin(async move { inner.writer.ask(write::Request::Arrive { thread, id, event, body, at, wake }).await })
    }

    fn read(&self, thread: &ThreadId, after_n: u64, limit: usize) -> Answer<Vec<Record>> {
        let thread = thread.clone();
        self.look(move |link| Box::pin(async move { read::thread_events(link, &thread, after_n, limit).await }))
    }

    fn tree(&self, root: &ThreadId, after_seq: u64, limit: usize) -> Answer<Vec<Record>> {
        let root = root.clone();
        self.look(move |link| Box::pin(async move { read::family_events(link, &root, after_seq, limit).await }))
    }

    fn all(&self, after_position: u64, limit: usize) -> Answer<Vec<Record>> {
        self.look(move |link| Box::pin(read::all_events(link, after_position, limit)))
    }

    fn tail(&self) -> watch::Receiver<u64> {
        self.0.follower.tail()
    }

    fn tell(&self, words: String) {
        self.0.follower.tell(words);
    }

    fn told(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        Some(self.0.follower.told())
    }

    fn remove_if(&self, root: &ThreadId, seq: Option<u64>, at: Time) -> Answer<()> {
        let (clock, root) = (self.0.clock, root.clone());
        self.write(move |link| {
            let root = root.clone();
            Box::pin(async move { ownership::remove(link, clock, &root, seq, at).await })
        })
    }
}

impl Ownership for PostgresStore {
    fn adopt(&self, thread: &ThreadId, process: &ProcessId, at: Time) -> Answer<u64> {
        let (inner, thread, process) = (self.0.clone(), thread.clone(), process.clone());
        Box::pin(async move {
            let (pool, clock) = (inner.pool.clone(), inner.clock);
            inner.background.run(async move { ownership::adopt(&pool, clock, &thread, &process, at).await }).await
        })
    }

    fn claim_threads(&self, process: &ProcessId, at: Time, query: ClaimQuery) -> Answer<Vec<Claimed>> {
        let (inner, clock, process) = (self.0.clone(), self.0.clock, process.clone());
        let machine = self.machine_of_folders();
        let beside = if clock.is_of_database() { inner.beats.names() } else { Vec::new() };
        Box::pin(async move {
            let begun = Instant::now();
            let pool = inner.pool.clone();
            let claim = async move {
                let link = pool.take().await?;
                ownership::claim_threads(&link, clock, machine.as_deref(), &beside, &process, at, &query).await
            };
            let answer = inner.background.run(claim).await?;
            inner.beats.said(begun);
            inner.beats.are_steady_since(answer.steady_since);
            inner.follower.is_asked().store(true, Ordering::Relaxed);
            inner.follower.announcer().saw(answer.newest);
            if inner.beats.has_lost(answer.gone) {
                inner.follower.announcer().nudge();
            }
            if let Some(dies_in) = answer.dies_in {
                // What it drives is asked for at the moment at which it may be taken over.
                let announcer = inner.follower.announcer().clone();
                inner.background.handle().spawn(async move {
                    tokio::time::sleep(dies_in).await;
                    announcer.hear_of_offer();
                });
            }
            Ok(answer.claimed)
        })
    }

    fn offers(&self) -> Option<watch::Receiver<u64>> {
        Some(self.0.follower.announcer().offers())
    }

    fn lapses(&self) -> Option<watch::Receiver<u64>> {
        Some(self.0.beats.lapses())
    }

    fn hand_over(&self, thread: &ThreadId, from: &ProcessId, to: Option<&ProcessId>) -> Answer<()> {
        let (thread, from, to) = (thread.clone(), from.clone(), to.cloned());
        self.change(move |link| Box::pin(async move { ownership::hand_over(link, &thread, &from, to.as_ref()).await }))
    }

    fn living(&self, at: Time) -> Answer<Living> {
        let clock = self.0.clock;
        self.look(move |link| Box::pin(ownership::living(link, clock, at)))
    }

    fn tells_of_deaths(&self) -> bool {
        true
    }

    fn register(&self, process: Process, at: Time) -> Answer<()> {
        let (inner, clock, id, beside) = (self.0.clone(), self.0.clock, process.id.clone(), self.0.beats.names());
        let registered = self
            .change(move |link| Box::pin(async move { ownership::register(link, clock, &process, &beside, at).await }));
        Box::pin(async move { registered.await.inspect(|()| inner.beats.add(&id)) })
    }

    fn register_worker(&self, worker: WorkerRow, at: Time) -> Answer<()> {
        let (inner, clock, id, beside) =
            (self.0.clone(), self.0.clock, worker.process.id.clone(), self.0.beats.names());
        let registered = self.write(move |link| {
            let (worker, beside) = (worker.clone(), beside.clone());
            Box::pin(async move { ownership::register_worker(link, clock, &worker, &beside, at).await })
        });
        Box::pin(async move { registered.await.inspect(|()| inner.beats.add(&id)) })
    }

    fn workers(&self, at: Time) -> Answer<Vec<WorkerRow>> {
        let clock = self.0.clock;
        self.look(move |link| Box::pin(ownership::workers(link, clock, at)))
    }

    fn retire_workers(&self, this: Option<ProcessId>, at: Time) -> Answer<bool> {
        let clock = self.0.clock;
        self.write(move |link| {
            let this = this.clone();
            Box::pin(async move { ownership::retire_workers(link, clock, this.as_ref(), at).await })
        })
    }

    fn heartbeat(&self, process: &ProcessId, at: Time) -> Answer<()> {
        let (clock, process) = (self.0.clock, process.clone());
        self.change(move |link| Box::pin(async move { ownership::heartbeat(link, clock, &process, at).await }))
    }

    fn leave(&self, process: &ProcessId) -> Answer<()> {
        let (inner, process) = (self.0.clone(), process.clone());
        inner.beats.remove(&process);
        self.write(move |link| {
            let process = process.clone();
            Box::pin(async move { ownership::leave(link, &process, false).await })
        })
    }

    fn put_down(&self, process: &ProcessId) -> Answer<()> {
        let (inner, process) = (self.0.clone(), process.clone());
        inner.beats.remove(&process);
        self.write(move |link| {
            let process = process.clone();
            Box::pin(async move { ownership::leave(link, &process, true).await })
        })
    }

    fn wake(&self, thread: &ThreadId, due: Time) -> Answer<()> {
        let thread = thread.clone();
        self.change(move |link| Box::pin(async move { ownership::wake(link, &thread, due).await }))
    }

    fn claim(&self, process: &ProcessId, at: Time, limit: usize) -> Answer<Vec<Wake>> {
        let (clock, process) = (self.0.clock, process.clone());
        self.change(move |link| Box::pin(async move { ownership::claim(link, clock, &process, at, limit).await }))
    }

    fn done(&self, wake: Wake) -> Answer<()> {
        self.change(move |link| Box::pin(async move { ownership::done(link, &wake).await }))
    }
}

impl Lists for PostgresStore {
    fn threads(&self, query: ThreadQuery) -> Answer<Vec<ThreadRow>> {
        self.look(move |link| Box::pin(async move { read::threads(link, &query).await }))
    }

    fn thread(&self, thread: &ThreadId) -> Answer<Option<ThreadRow>> {
        let thread = thread.clone();
        self.look(move |link| Box::pin(async move { read::thread(link, &thread).await }))
    }

    fn resolve(&self, text: &str) -> Answer<ThreadId> {
        let text = text.to_owned();
        self.look(move |link| Box::pin(async move { read::resolve(link, &text).await }))
    }

    fn executions(&self, workflow: &ThreadId) -> Answer<Vec<Execution>> {
        let workflow = workflow.clone();
        self.look(move |link| Box::pin(async move { read::executions(link, &workflow).await }))
    }

    fn approvals(&self, query: ApprovalQuery) -> Answer<Vec<ApprovalRow>> {
        self.look(move |link| Box::pin(read::approvals(link, query)))
    }

    fn approval(&self, id: &ApprovalId) -> Answer<Option<ApprovalRow>> {
        let id = id.clone();
        self.look(move |link| Box::pin(async move { read::approval(link, &id).await }))
    }

    fn search(&self, query: SearchQuery) -> Answer<Vec<Found>> {
        let inner = self.0.clone();
        Box::pin(async move {
            let pool = inner.pool.clone();
            inner.background.run(async move { search::search(&pool, &query).await }).await
        })
    }

    fn usage(&self, root: Option<&ThreadId>) -> Answer<Vec<UsageRow>> {
        let root = root.cloned();
        self.look(move |link| Box::pin(async move { read::usage(link, root.as_ref()).await }))
    }
}

impl Installation for PostgresStore {
    fn record(&self, event: InstallationEvent, at: Time) -> Answer<Appended> {
        self.append_to_stream(move |db| record(db, &event, at))
    }

    fn installation_events(&self, after_n: u64, limit: usize) -> Answer<Vec<InstallationRecord>> {
        self.look(move |link| Box::pin(read::installation_events(link, after_n, limit)))
    }

    fn installation(&self) -> Answer<State> {
        self.look(move |link| Box::pin(read::installation(link)))
    }
}

/// Writes an event of the installation, if it changes anything.
fn record(db: &Blocking<'_>, event: &InstallationEvent, at: Time) -> Result<Appended, Error> {
    let empty = columns::to_json(&State::default());
    db.execute("INSERT INTO installation (key, state) VALUES (0, $1) ON CONFLICT (key) DO NOTHING", &[&empty])?;
    let states: Vec<State> =
        db.list("SELECT state FROM installation WHERE key = 0 FOR UPDATE", &[], |row| columns::json(row, "state"))?;
    let state = states.into_iter().next().unwrap_or_default();
    let Some(next) = state.after(event) else {
        let sql = "SELECT n, position FROM events WHERE thread = 0 ORDER BY n DESC LIMIT 1";
        let newest = db.list(sql, &[], |row| Ok((columns::count(row, "n")?, columns::count(row, "position")?)))?;
        let (n, position) = newest.into_iter().next().unwrap_or_default();
        return Ok(Appended { n, seq: n, position });
    };
    db.execute("UPDATE installation SET state = $1 WHERE key = 0", &[&columns::to_json(&next)])?;
    let body = [codec::encode_installation(event)];
    let position = boards::write_events(db, 0, next.n - 1, at, &body)?;
    Ok(Appended { n: next.n, seq: next.n, position })
}

impl Boards for PostgresStore {
    fn commit_board(&self, commit: BoardCommit) -> Answer<Appended> {
        let clock = self.0.clock;
        self.append_to_stream(move |db| boards::commit(db, clock, &commit))
    }

    fn board_facts(&self, board: &BoardId, request: Request) -> Answer<Facts> {
        let board = board.clone();
        // All that is looked at is of one moment.
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        self.block(begin, move |db| boards::facts(db, &board, &request))
    }

    fn board(&self, board: &BoardId) -> Answer<Option<Board>> {
        let board = board.clone();
        self.look(move |link| Box::pin(async move { boards::board(link, &board).await }))
    }

    fn boards(&self) -> Answer<Vec<Board>> {
        self.look(move |link| Box::pin(boards::boards(link)))
    }

    fn runnable_boards(&self) -> Answer<Vec<Board>> {
        let machine = self.machine_of_folders();
        self.look(move |link| Box::pin(async move { boards::runnable(link, machine.as_deref()).await }))
    }

    fn board_events(&self, board: &BoardId, after_n: u64, limit: usize) -> Answer<Vec<BoardRecord>> {
        let board = board.clone();
        self.look(move |link| Box::pin(async move { boards::events(link, &board, after_n, limit).await }))
    }

    fn all_board_events(&self, after_position: u64, limit: usize) -> Answer<Vec<OnBoard>> {
        self.look(move |link| Box::pin(boards::all_events(link, after_position, limit)))
    }

    fn task(&self, board: &BoardId, task: &TaskId) -> Answer<Option<Task>> {
        let (board, task) = (board.clone(), task.clone());
        self.look(move |link| Box::pin(async move { boards::task(link, &board, &task).await }))
    }

    fn tasks(&self, query: TaskQuery) -> Answer<Vec<Task>> {
        self.look(move |link| Box::pin(async move { boards::tasks(link, &query).await }))
    }

    fn task_of_thread(&self, thread: &ThreadId) -> Answer<Option<(BoardId, Task)>> {
        let thread = thread.clone();
        self.look(move |link| Box::pin(async move { boards::task_of_thread(link, &thread).await }))
    }

    fn notes(&self, board: &BoardId, task: &TaskId) -> Answer<Vec<Note>> {
        let (board, task) = (board.clone(), task.clone());
        self.look(move |link| Box::pin(async move { boards::notes(link, &board, &task).await }))
    }

    fn claim_deliveries(&self, query: DeliveryQuery) -> Answer<Vec<DueDelivery>> {
        let clock = self.0.clock;
        let machine = self.machine_of_folders();
        self.change(move |link| Box::pin(async move { boards::claim(link, clock, machine.as_deref(), &query).await }))
    }

    fn resting_tasks(&self, query: RestingQuery) -> Answer<Vec<RestingTask>> {
        let machine = self.machine_of_folders();
        self.look(move |link| Box::pin(async move { boards::resting(link, machine.as_deref(), &query).await }))
    }

    fn agent_metadata(&self, thread: &ThreadId) -> Answer<Option<AgentMetadata>> {
        let thread = thread.clone();
        self.look(move |link| Box::pin(async move { boards::metadata(link, &thread).await }))
    }

    fn session_agents(&self, parent: &ThreadId) -> Answer<Vec<AgentMetadata>> {
        let parent = parent.clone();
        self.look(move |link| Box::pin(async move { boards::session_agents(link, &parent).await }))
    }

    fn rebuild_boards(&self) -> Answer<Rebuilt> {
        self.block("BEGIN", boards::rebuild)
    }
}

impl Store for PostgresStore {
    fn machine(&self) -> Option<Machine> {
        Some(self.0.connector.address().machine().clone())
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        let inner = self.0.clone();
        Box::pin(async move {
            inner.writer.close().await;
            inner.follower.close();
            inner.pool.close();
        })
    }

    fn check(&self) -> Answer<Health> {
        self.look(move |link| Box::pin(read::check(link)))
    }
}

#[cfg(test)]
mod tests;
