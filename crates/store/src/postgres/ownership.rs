//! Which process owns which thread. A process holds a lease, which its heartbeats prolong; who is alive is told by the clock of the
//! database alone.
//!
//! After the database was away all leases look as if they had run out. So a process may take over from another only after its own
//! heartbeats have come in time for the length of a lease: by then those of the others have come too, if they are alive.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent::{ThreadId, Time};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::columns::{self, count, page, signed, storable, thread_id, time, to_json, unsigned, value};
use super::connection::{Connector, Link, Pool, transact};
use super::follow::Announcer;
use super::read;
use crate::admission;
use crate::error::Error;
use crate::ownership::{ClaimKind, ClaimQuery, Claimed, Living, WorkerRow};
use crate::process::{Process, ProcessId};
use crate::rows::{LEASE_MS, Wake};

/// How often a process says that it is alive.
const BEAT: Duration = Duration::from_millis(400);
/// A process that has not been heard of for so long may be dead: its next heartbeat is late.
const SILENT_MS: u64 = 600;
/// The most roots whose waiting threads are looked at in one go; later roots come once these have fewer that wait.
const MOST_ROOTS: u32 = 1000;
/// How long a process counts as alive after its last heartbeat.
pub(super) const PROCESS_LEASE_MS: u64 = 1_500;

/// By which clock leases are measured, and how long they are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    /// That of the database.
    Database,
    /// That of who asks, for tests and simulations.
    Caller,
}

impl Clock {
    /// The moment as a value of a statement; none has the database say it.
    pub(super) fn moment(self, at: Time) -> Option<i64> {
        match self {
            Clock::Database => None,
            Clock::Caller => Some(at.0),
        }
    }

    /// Whether it is that of the database.
    pub(super) fn is_of_database(self) -> bool {
        matches!(self, Clock::Database)
    }

    fn lease_ms(self) -> i64 {
        match self {
            Clock::Database => signed(PROCESS_LEASE_MS),
            Clock::Caller => signed(crate::process::HEARTBEAT_EXPIRES_MS),
        }
    }
}

/// The moment of a statement whose first place is [`Clock::moment`].
pub(super) const NOW: &str = "coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)";

/// The processes that this store keeps alive.
#[derive(Clone, Default)]
pub(super) struct Beats {
    processes: Arc<Mutex<BTreeSet<ProcessId>>>,
    /// When they were last said to be alive by another request.
    said_at: Arc<Mutex<Option<Instant>>>,
    /// How many workers were dead when it was last asked.
    dead: Arc<AtomicU64>,
    /// Since when the heartbeats have come in time, as the database last said it.
    steady_since: Arc<Mutex<Option<i64>>>,
    /// How often they came too late.
    lapses: Arc<watch::Sender<u64>>,
}

impl Beats {
    pub(super) fn add(&self, process: &ProcessId) {
        self.lock().insert(process.clone());
    }

    pub(super) fn remove(&self, process: &ProcessId) {
        self.lock().remove(process);
    }

    /// Their names.
    pub(super) fn names(&self) -> Vec<String> {
        self.lock().iter().map(|process| process.as_str().to_owned()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<ProcessId>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request that was a heartbeat, too, was begun at this moment and carried out.
    pub(super) fn said(&self, at: Instant) {
        *self.said_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    fn is_said(&self) -> bool {
        let said_at = *self.said_at.lock().unwrap_or_else(PoisonError::into_inner);
        // Such requests come as often as heartbeats do, and now and then a little later.
        said_at.is_some_and(|at| at.elapsed() < BEAT + BEAT / 2)
    }

    /// Changes when heartbeats came again after others may have taken their processes for dead.
    pub(super) fn lapses(&self) -> watch::Receiver<u64> {
        self.lapses.subscribe()
    }

    /// Takes in since when the heartbeats have come in time.
    pub(super) fn are_steady_since(&self, moment: Option<i64>) {
        let Some(moment) = moment else { return };
        let known = self.steady_since.lock().unwrap_or_else(PoisonError::into_inner).replace(moment);
        if known.is_some_and(|known| known < moment) {
            self.lapses.send_modify(|lapses| *lapses += 1);
        }
    }

    /// Whether more workers are dead than when this was asked last.
    pub(super) fn has_lost(&self, dead: u64) -> bool {
        dead > self.dead.swap(dead, Ordering::Relaxed)
    }

    /// Says that they are alive, on a connection of its own, for as long as the store is open. The answer tells the newest position, so
    /// that a process that does nothing else asks for nothing else; and how many processes died at work, which no event tells of: those who
    /// follow look again when there is one more.
    pub(super) async fn keep(self, connector: Arc<Connector>, announcer: Announcer, is_asked: Arc<AtomicBool>) {
        let mut ticks = interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut link, mut dead): (Option<Link>, i64) = (None, 0);
        loop {
            ticks.tick().await;
            let alive = self.names();
            if alive.is_empty() || self.is_said() {
                continue;
            }
            let beat = async {
                let connection = match link.take().filter(|link| !link.is_lost()) {
                    Some(connection) => connection,
                    None => connector.connect().await?,
                };
                let sql = format!(
                    "WITH beat AS (UPDATE processes SET beat_at = {NOW}, \
                     steady_since = CASE WHEN beat_at + $2 < {NOW} THEN {NOW} ELSE steady_since END WHERE id = ANY($3) \
                     RETURNING steady_since) \
                     SELECT (SELECT coalesce(max(position), 0) FROM events), (SELECT max(steady_since) FROM beat), \
                     (SELECT count(*) FROM processes p WHERE p.beat_at + $2 <= {NOW} \
                     AND (EXISTS (SELECT 1 FROM threads t WHERE t.owner = p.key AND t.live) \
                     OR EXISTS (SELECT 1 FROM workers w WHERE w.process = p.key)))"
                );
                let (now, lease) = (Clock::Database.moment(Time(0)), Clock::Database.lease_ms());
                let row = connection.one(&sql, &[&now, &lease, &alive]).await?;
                link = Some(connection);
                Ok::<(u64, Option<i64>, i64), Error>((unsigned(row.get(0)), row.get(1), row.get(2)))
            };
            // One that fails is made up for by the next; who writes is told the reason.
            if let Ok((newest, steady_since, gone)) = beat.await {
                self.are_steady_since(steady_since);
                announcer.saw(newest);
                if gone > std::mem::replace(&mut dead, gone) {
                    announcer.nudge();
                }
                is_asked.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Makes a process known. With others for which the same heartbeats are sent, `beside`, it has been heard of for as long as they have.
pub(super) async fn register(
    link: &Link,
    clock: Clock,
    process: &Process,
    beside: &[String],
    at: Time,
) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO processes AS p (id, pid, start_time, host, beat_at, steady_since) VALUES ($3, $4, $5, $6, {NOW}, \
         coalesce((SELECT min(b.steady_since) FROM processes b WHERE b.id = ANY($7) AND b.beat_at + $2 > {NOW}), {NOW})) \
         ON CONFLICT (id) DO UPDATE SET pid = $4, start_time = $5, host = $6, beat_at = {NOW}, \
         steady_since = CASE WHEN p.beat_at + $2 < {NOW} THEN {NOW} ELSE p.steady_since END"
    );
    let (pid, start_time, host) = (i64::from(process.pid), signed(process.start_time), storable(&process.host));
    link.execute(
        &sql,
        &[&clock.moment(at), &clock.lease_ms(), &process.id.as_str(), &pid, &start_time, &&*host, &beside],
    )
    .await?;
    Ok(())
}

/// Makes a process known that works tasks.
pub(super) async fn register_worker(
    link: &Link,
    clock: Clock,
    worker: &WorkerRow,
    beside: &[String],
    at: Time,
) -> Result<(), Error> {
    register(link, clock, &worker.process, beside, at).await?;
    let sql = "INSERT INTO workers (process, body) SELECT key, $2 FROM processes WHERE id = $1 \
               ON CONFLICT (process) DO UPDATE SET body = $2";
    link.execute(sql, &[&worker.process.id.as_str(), &to_json(worker)]).await?;
    Ok(())
}

/// The processes that work tasks and are alive.
pub(super) async fn workers(link: &Link, clock: Clock, at: Time) -> Result<Vec<WorkerRow>, Error> {
    let sql = format!(
        "SELECT w.body, p.beat_at FROM workers w JOIN processes p ON p.key = w.process WHERE p.beat_at + $2 > {NOW} ORDER BY w.process"
    );
    let rows = link.query(&sql, &[&clock.moment(at), &clock.lease_ms()]).await?;
    let worker = |row| Ok(WorkerRow { heard_at: Some(time(row, "beat_at")?), ..columns::json(row, "body")? });
    rows.iter().map(worker).collect()
}

/// Removes the processes that worked tasks and are dead, and the named one. Whether there was one.
pub(super) async fn retire_workers(
    link: &Link,
    clock: Clock,
    this: Option<&ProcessId>,
    at: Time,
) -> Result<bool, Error> {
    let sql = format!(
        "DELETE FROM workers w USING processes p WHERE p.key = w.process AND (p.id = $3 OR p.beat_at + $2 <= {NOW})"
    );
    let this = this.map(ProcessId::as_str);
    let removed = link.execute(&sql, &[&clock.moment(at), &clock.lease_ms(), &this]).await?;
    if removed > 0 {
        link.execute("UPDATE deliveries SET leased_until = 0 WHERE leased_until > 0", &[]).await?;
    }
    Ok(removed > 0)
}

/// Says that a process is alive.
pub(super) async fn heartbeat(link: &Link, clock: Clock, process: &ProcessId, at: Time) -> Result<(), Error> {
    let sql = format!(
        "UPDATE processes SET beat_at = {NOW}, \
         steady_since = CASE WHEN beat_at + $2 < {NOW} THEN {NOW} ELSE steady_since END WHERE id = $3"
    );
    let changed = link.execute(&sql, &[&clock.moment(at), &clock.lease_ms(), &process.as_str()]).await?;
    if changed == 0 { Err(Error::UnknownProcess(process.clone())) } else { Ok(()) }
}

/// Forgets a process; what it owned has no owner any more. With `is_held` it is left to a person, together with what waits below its roots.
pub(super) async fn leave(link: &Link, process: &ProcessId, is_held: bool) -> Result<(), Error> {
    let Some(row) = link.first("SELECT key FROM processes WHERE id = $1", &[&process.as_str()]).await? else {
        return Ok(());
    };
    let key: i64 = row.get(0);
    // Locked in the order in which others do.
    link.query("SELECT key FROM threads WHERE owner = $1 ORDER BY key FOR NO KEY UPDATE", &[&key]).await?;
    if is_held {
        // Two statements, each of which has an index: one for both would look at every thread that there is.
        let below = "UPDATE threads t SET held = TRUE WHERE t.owner IS NULL AND (t.live OR t.asked) AND NOT t.held \
                     AND t.root IN (SELECT r.key FROM threads r WHERE r.owner = $1 AND r.parent IS NULL AND r.live)";
        link.execute(below, &[&key]).await?;
        link.execute("UPDATE threads SET held = TRUE WHERE owner = $1", &[&key]).await?;
    }
    link.execute("UPDATE threads SET owner = NULL WHERE owner = $1", &[&key]).await?;
    link.execute("DELETE FROM processes WHERE key = $1", &[&key]).await?;
    Ok(())
}

/// The processes that own threads and are alive.
pub(super) async fn living(link: &Link, clock: Clock, at: Time) -> Result<Living, Error> {
    let sql = format!(
        "SELECT p.id FROM processes p WHERE p.beat_at + $2 > {NOW} AND EXISTS (SELECT 1 FROM threads t WHERE t.owner = p.key)"
    );
    let rows = link.query(&sql, &[&clock.moment(at), &clock.lease_ms()]).await?;
    rows.iter().map(|row| Ok(ProcessId::new(value::<&str>(row, "id")?))).collect()
}

/// Takes ownership, if no live process has it. Where it cannot be said yet whether its owner lives, waits until it can.
pub(super) async fn adopt(
    pool: &Arc<Pool>,
    clock: Clock,
    thread: &ThreadId,
    process: &ProcessId,
    at: Time,
) -> Result<u64, Error> {
    loop {
        let (thread, process) = (thread.clone(), process.clone());
        let adopted = transact(pool, move |link| {
            let (thread, process) = (thread.clone(), process.clone());
            Box::pin(async move { try_to_adopt(link, clock, &thread, &process, at).await })
        });
        match adopted.await? {
            Adopted::At(epoch) => return Ok(epoch),
            Adopted::Later(wait) => sleep(wait).await,
        }
    }
}

enum Adopted {
    At(u64),
    Later(Duration),
}

async fn try_to_adopt(
    link: &Link,
    clock: Clock,
    thread: &ThreadId,
    process: &ProcessId,
    at: Time,
) -> Result<Adopted, Error> {
    let sql = format!("SELECT key, steady_since + $2 - {NOW} AS not_before FROM processes WHERE id = $3");
    let this = link.first(&sql, &[&clock.moment(at), &clock.lease_ms(), &process.as_str()]).await?;
    let this = this.ok_or_else(|| Error::UnknownProcess(process.clone()))?;
    let (process_key, not_before): (i64, i64) = (value(&this, "key")?, value(&this, "not_before")?);
    let locked = "SELECT key FROM threads WHERE id = $1 FOR NO KEY UPDATE";
    let key = link.first(locked, &[&thread.as_str()]).await?.ok_or_else(|| Error::unknown(thread))?;
    let key: i64 = key.get(0);
    let sql = format!(
        "SELECT t.epoch, t.held, t.root, p.id AS process, p.pid, p.start_time, p.host, p.beat_at, p.beat_at + $2 > {NOW} AS alive \
         FROM threads t LEFT JOIN processes p ON p.key = t.owner WHERE t.key = $3"
    );
    let row = link.one(&sql, &[&clock.moment(at), &clock.lease_ms(), &key]).await?;
    match columns::owner(&row)? {
        Some(owner) if owner.process.id == *process => return Ok(Adopted::At(count(&row, "epoch")?)),
        Some(owner) if value(&row, "alive")? => {
            return Err(Error::Owned { thread: thread.clone(), by: Box::new(owner.process) });
        }
        Some(_) => {
            if let Ok(wait @ 1..) = u64::try_from(not_before)
                && clock.is_of_database()
            {
                return Ok(Adopted::Later(Duration::from_millis(wait)));
            }
        }
        None => {}
    }
    if value(&row, "held")? {
        // A person goes on with it: what waits below it goes on, too.
        let root: i64 = value(&row, "root")?;
        link.execute("UPDATE threads SET held = FALSE WHERE root = $1 AND held", &[&root]).await?;
    }
    let sql = "UPDATE threads SET owner = $2, epoch = epoch + 1 WHERE key = $1 RETURNING epoch";
    Ok(Adopted::At(count(&link.one(sql, &[&key, &process_key]).await?, "epoch")?))
}

/// What a process is told that asks for threads.
pub(super) struct ClaimAnswer {
    /// Those that it has now.
    pub(super) claimed: Vec<Claimed>,
    /// The newest position.
    pub(super) newest: u64,
    /// How many workers are dead.
    pub(super) gone: u64,
    /// Since when the heartbeats of the processes beside it have come in time.
    pub(super) steady_since: Option<i64>,
    /// In how long the lease of a process runs out that drives threads and has been silent for a while.
    pub(super) dies_in: Option<Duration>,
}

/// Takes ownership of threads in which something is to be done and which no live process owns. Those that another process is about to take
/// are passed over. It is a heartbeat of `beside`, the processes for which this store sends them, and one statement, so that a process that
/// waits for work asks for nothing else.
///
/// Each root has its turn: a thread comes after those of other roots of which fewer are driven or stand before it, so that a root with
/// thousands of threads does not keep others waiting. Of one turn the oldest thread comes first.
pub(super) async fn claim_threads(
    link: &Link,
    clock: Clock,
    machine: Option<&str>,
    beside: &[String],
    process: &ProcessId,
    at: Time,
    query: &ClaimQuery,
) -> Result<ClaimAnswer, Error> {
    let waits = "t.owner IS NULL AND (t.live OR t.asked) AND (t.live OR $14) AND NOT t.held";
    let fits = "(t.machine IS NULL OR t.machine = $4) AND t.requires <@ $5 \
                AND split_part(t.model, '/', 1) <> ALL($6) AND t.id <> ALL($7) \
                AND ($8::boolean IS NULL OR (t.parent IS NULL) = $8) AND ($9::text IS NULL OR t.agent = $9) \
                AND ($10::text IS NULL OR t.root = (SELECT r.key FROM threads r WHERE r.id = $10))";
    let sql = format!(
        "WITH RECURSIVE clock AS MATERIALIZED (SELECT {NOW} AS now), \
         beat AS (UPDATE processes p SET beat_at = clock.now, \
             steady_since = CASE WHEN p.beat_at + $2 < clock.now THEN clock.now ELSE p.steady_since END \
             FROM clock WHERE p.id = ANY($12) RETURNING p.steady_since), \
         me AS MATERIALIZED (SELECT p.key, \
             NOT $13 OR (p.beat_at + $2 >= clock.now AND p.steady_since + $2 <= clock.now) AS is_judge \
             FROM processes p, clock WHERE p.id = $3), \
         dead AS MATERIALIZED (SELECT p.key FROM processes p, clock, me \
             WHERE me.is_judge AND p.beat_at + $2 <= clock.now AND p.id <> ALL($12) AND p.key <> me.key), \
         roots (root) AS ( \
             (SELECT t.root FROM threads t WHERE {waits} ORDER BY t.root LIMIT 1) \
             UNION ALL \
             SELECT (SELECT t.root FROM threads t WHERE t.root > r.root AND {waits} ORDER BY t.root LIMIT 1) \
             FROM roots r WHERE r.root IS NOT NULL), \
         first_roots AS MATERIALIZED (SELECT r.root FROM roots r WHERE r.root IS NOT NULL LIMIT {MOST_ROOTS}), \
         waiting AS MATERIALIZED ( \
             SELECT x.key, r.root FROM first_roots r CROSS JOIN LATERAL \
                 (SELECT t.key FROM threads t WHERE t.root = r.root AND {waits} AND {fits} ORDER BY t.key LIMIT $11::bigint * 2 + 8) x \
             WHERE $11::bigint > 0 \
             UNION ALL \
             SELECT t.key, t.root FROM threads t \
             WHERE $11::bigint > 0 AND t.owner IN (SELECT d.key FROM dead d) AND (t.live OR (t.asked AND $14)) AND {fits} \
             UNION ALL \
             SELECT t.key, t.root FROM threads t \
             WHERE $15 AND t.owner = (SELECT me.key FROM me) AND (t.live OR (t.asked AND $14)) AND t.id <> ALL($7)), \
         driven AS (SELECT t.root, count(*) AS many FROM threads t \
             WHERE t.root IN (SELECT w.root FROM waiting w) AND t.owner IS NOT NULL AND t.live \
             AND t.owner NOT IN (SELECT d.key FROM dead d) GROUP BY t.root), \
         turns AS (SELECT w.key, row_number() OVER (PARTITION BY w.root ORDER BY w.key) + coalesce(d.many, 0) AS turn \
             FROM waiting w LEFT JOIN driven d ON d.root = w.root), \
         picked AS (SELECT t.key FROM turns u JOIN threads t ON t.key = u.key \
             WHERE (t.owner IS NULL OR t.owner IN (SELECT d.key FROM dead d) OR ($15 AND t.owner = (SELECT me.key FROM me))) \
             AND (t.live OR (t.asked AND $14)) AND NOT t.held \
             ORDER BY u.turn, u.key LIMIT $11::bigint FOR NO KEY UPDATE OF t SKIP LOCKED), \
         taken AS (UPDATE threads t SET owner = me.key, epoch = t.epoch + 1 FROM picked, me WHERE t.key = picked.key \
             RETURNING t.key, t.id, t.epoch) \
         SELECT (SELECT coalesce(max(e.position), 0) FROM events e) AS newest, \
         (SELECT count(*) FROM dead d JOIN workers w ON w.process = d.key) AS gone, \
         (SELECT max(b.steady_since) FROM beat b) AS steady_since, \
         (SELECT min(p.beat_at + $2 - clock.now) FROM processes p, clock WHERE p.beat_at + $2 > clock.now AND p.beat_at + {SILENT_MS} < clock.now \
             AND p.id <> ALL($12) AND EXISTS (SELECT 1 FROM threads t WHERE t.owner = p.key AND t.live)) AS dies_in, taken.id, taken.epoch \
         FROM me LEFT JOIN taken ON TRUE ORDER BY taken.key"
    );
    let roots_only = match query.kind {
        ClaimKind::Any => None,
        ClaimKind::Roots => Some(true),
        ClaimKind::Children => Some(false),
    };
    let labels: Vec<&str> = query.labels.iter().map(|label| &**label).collect();
    let not_of: Vec<&str> = query.not_of.iter().map(|provider| &**provider).collect();
    let passed_over: Vec<&str> = query.passed_over.iter().map(ThreadId::as_str).collect();
    let (agent, root) = (query.agent.as_deref(), query.root.as_ref().map(ThreadId::as_str));
    let (now, lease, limit, judges) = (clock.moment(at), clock.lease_ms(), page(query.limit), clock.is_of_database());
    let rows = link
        .query(
            &sql,
            &[
                &now,
                &lease,
                &process.as_str(),
                &machine,
                &labels,
                &not_of,
                &passed_over,
                &roots_only,
                &agent,
                &root,
                &limit,
                &beside,
                &judges,
                &query.asked,
                &query.owned,
            ],
        )
        .await?;
    let first = rows.first().ok_or_else(|| Error::UnknownProcess(process.clone()))?;
    let (newest, gone, steady_since) = (count(first, "newest")?, count(first, "gone")?, value(first, "steady_since")?);
    let dies_in = value::<Option<i64>>(first, "dies_in")?.map(|ms| Duration::from_millis(unsigned(ms)));
    let mut claimed = Vec::with_capacity(rows.len());
    for row in &rows {
        if let Some(id) = columns::optional_text(row, "id")? {
            claimed.push(Claimed { thread: ThreadId::new(id), epoch: count(row, "epoch")? });
        }
    }
    Ok(ClaimAnswer { claimed, newest, gone, steady_since, dies_in })
}

/// Has a thread that one process owns be owned by another, or by none.
pub(super) async fn hand_over(
    link: &Link,
    thread: &ThreadId,
    from: &ProcessId,
    to: Option<&ProcessId>,
) -> Result<(), Error> {
    let key = match to {
        Some(to) => {
            let row = link.first("SELECT key FROM processes WHERE id = $1", &[&to.as_str()]).await?;
            Some(row.ok_or_else(|| Error::UnknownProcess(to.clone()))?.get::<_, i64>(0))
        }
        None => None,
    };
    let sql = "UPDATE threads SET owner = $3, epoch = epoch + 1 \
               WHERE id = $1 AND owner = (SELECT key FROM processes WHERE id = $2)";
    if link.execute(sql, &[&thread.as_str(), &from.as_str(), &key]).await? > 0 {
        return Ok(());
    }
    let row = link.first("SELECT epoch FROM threads WHERE id = $1", &[&thread.as_str()]).await?;
    let epoch = count(&row.ok_or_else(|| Error::unknown(thread))?, "epoch")?;
    Err(Error::Fenced { thread: thread.clone(), epoch, current: epoch })
}

/// Leaves a wake that is due at a moment of the database's clock.
pub(super) async fn wake(link: &Link, thread: &ThreadId, due: Time) -> Result<(), Error> {
    let key = read::key(link, thread).await?;
    let sql = "INSERT INTO wakes (thread, due) SELECT $1, $2 WHERE NOT EXISTS \
               (SELECT 1 FROM wakes WHERE thread = $1 AND about IS NULL AND due = $2 AND leased_until IS NULL)";
    link.execute(sql, &[&key, &due.0]).await?;
    Ok(())
}

/// Leases the wakes that are due.
pub(super) async fn claim(
    link: &Link,
    clock: Clock,
    process: &ProcessId,
    at: Time,
    limit: usize,
) -> Result<Vec<Wake>, Error> {
    let sql = format!(
        "UPDATE wakes w SET leased_until = {NOW} + $4 FROM \
         (SELECT w.key, t.id, c.id AS about FROM processes p JOIN threads t ON t.owner = p.key JOIN wakes w ON w.thread = t.key \
          LEFT JOIN threads c ON c.key = w.about \
          WHERE p.id = $2 AND w.due <= {NOW} AND (w.leased_until IS NULL OR w.leased_until <= {NOW}) \
          ORDER BY w.due, w.key LIMIT $3 FOR UPDATE OF w SKIP LOCKED) d \
         WHERE w.key = d.key RETURNING w.key, d.id AS thread, w.due, d.about"
    );
    let values = (clock.moment(at), page(limit), signed(LEASE_MS));
    let rows = link.query(&sql, &[&values.0, &process.as_str(), &values.1, &values.2]).await?;
    let mut due = Vec::with_capacity(rows.len());
    for row in &rows {
        let about = columns::optional_text(row, "about")?.map(ThreadId::new);
        due.push(Wake { key: count(row, "key")?, thread: thread_id(row, "thread")?, due: time(row, "due")?, about });
    }
    due.sort_by_key(|wake| (wake.due, wake.key));
    Ok(due)
}

/// Forgets a wake.
pub(super) async fn done(link: &Link, wake: &Wake) -> Result<(), Error> {
    link.execute("DELETE FROM wakes WHERE key = $1", &[&signed(wake.key)]).await?;
    Ok(())
}

/// Deletes a root and its descendants.
pub(super) async fn remove(
    link: &Link,
    clock: Clock,
    root: &ThreadId,
    seq: Option<u64>,
    at: Time,
) -> Result<(), Error> {
    admission::root(root)?;
    // Whatever is written to one of the family locks the root.
    let locked = "SELECT key, seq FROM threads WHERE id = $1 FOR UPDATE";
    let row = link.first(locked, &[&root.as_str()]).await?.ok_or_else(|| Error::unknown(root))?;
    let key: i64 = row.get(0);
    admission::unchanged(root, seq, count(&row, "seq")?)?;
    link.query("SELECT key FROM threads WHERE root = $1 ORDER BY key FOR UPDATE", &[&key]).await?;
    let sql = format!(
        "SELECT p.id AS process, p.pid, p.start_time, p.host, p.beat_at FROM threads t JOIN processes p ON p.key = t.owner \
         WHERE t.root = $3 AND p.beat_at + $2 > {NOW} LIMIT 1"
    );
    if let Some(row) = link.first(&sql, &[&clock.moment(at), &clock.lease_ms(), &key]).await?
        && let Some(owner) = columns::owner(&row)?
    {
        return Err(Error::Owned { thread: root.clone(), by: Box::new(owner.process) });
    }
    link.execute("DELETE FROM events WHERE root = $1", &[&key]).await?;
    for table in ["inputs", "wakes", "progress", "approvals", "search"] {
        let sql = format!("DELETE FROM {table} WHERE thread IN (SELECT key FROM threads WHERE root = $1)");
        link.execute(&sql, &[&key]).await?;
    }
    link.execute("DELETE FROM sub_agent_execution WHERE workflow_id = $1", &[&root.as_str()]).await?;
    link.execute("DELETE FROM threads WHERE root = $1", &[&key]).await?;
    Ok(())
}
