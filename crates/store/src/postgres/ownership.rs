//! Which process owns which thread. A process holds a lease, which its heartbeats prolong; who is alive is told by the clock of the
//! database alone.
//!
//! After the database was away all leases look as if they had run out. So a process may take over from another only after its own
//! heartbeats have come in time for the length of a lease: by then those of the others have come too, if they are alive.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::{ThreadId, Time};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::columns::{self, count, page, signed, storable, thread_id, time, to_json, unsigned, value};
use super::connection::{Connector, Link, Pool, transact};
use super::follow::Announcer;
use super::read;
use super::write::LEAVE_WAKE;
use crate::admission;
use crate::error::Error;
use crate::ownership::{ClaimKind, ClaimQuery, Claimed, Living, WorkerRow};
use crate::process::{Process, ProcessId};
use crate::rows::{LEASE_MS, Wake};

/// How often a process says that it is alive.
const BEAT: Duration = Duration::from_millis(400);
/// How long a process counts as alive after its last heartbeat.
pub(super) const PROCESS_LEASE_MS: u64 = 1_500;

/// By which clock leases are measured, and how long they are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    /// That of the database.
    Database,
    /// That of who asks, for tests.
    #[cfg(test)]
    Caller,
}

impl Clock {
    /// The moment as a value of a statement; none has the database say it.
    pub(super) fn moment(self, _at: Time) -> Option<i64> {
        match self {
            Clock::Database => None,
            #[cfg(test)]
            Clock::Caller => Some(_at.0),
        }
    }

    /// Whether it is that of the database.
    pub(super) fn is_of_database(self) -> bool {
        matches!(self, Clock::Database)
    }

    fn lease_ms(self) -> i64 {
        match self {
            Clock::Database => signed(PROCESS_LEASE_MS),
            #[cfg(test)]
            Clock::Caller => signed(crate::process::HEARTBEAT_EXPIRES_MS),
        }
    }
}

/// The moment of a statement whose first place is [`Clock::moment`].
pub(super) const NOW: &str = "coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)";

/// The processes that this store keeps alive.
#[derive(Clone, Default)]
pub(super) struct Beats(Arc<Mutex<BTreeSet<ProcessId>>>);

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
            if alive.is_empty() {
                continue;
            }
            let beat = async {
                let connection = match link.take().filter(|link| !link.is_lost()) {
                    Some(connection) => connection,
                    None => connector.connect().await?,
                };
                let sql = format!(
                    "WITH beat AS (UPDATE processes SET beat_at = {NOW}, \
                     steady_since = CASE WHEN beat_at + $2 < {NOW} THEN {NOW} ELSE steady_since END WHERE id = ANY($3)) \
                     SELECT (SELECT coalesce(max(position), 0) FROM events), \
                     (SELECT count(*) FROM processes p WHERE p.beat_at + $2 <= {NOW} \
                     AND (EXISTS (SELECT 1 FROM threads t WHERE t.owner = p.key AND t.live) \
                     OR EXISTS (SELECT 1 FROM workers w WHERE w.process = p.key)))"
                );
                let (now, lease) = (Clock::Database.moment(Time(0)), Clock::Database.lease_ms());
                let row = connection.one(&sql, &[&now, &lease, &alive]).await?;
                link = Some(connection);
                Ok::<(u64, i64), Error>((unsigned(row.get(0)), row.get(1)))
            };
            // One that fails is made up for by the next; who writes is told the reason.
            if let Ok((newest, gone)) = beat.await {
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
        "SELECT w.body FROM workers w JOIN processes p ON p.key = w.process WHERE p.beat_at + $2 > {NOW} ORDER BY w.process"
    );
    let rows = link.query(&sql, &[&clock.moment(at), &clock.lease_ms()]).await?;
    rows.iter().map(|row| columns::json(row, "body")).collect()
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

/// Forgets a process; what it owned has no owner any more.
pub(super) async fn leave(link: &Link, process: &ProcessId) -> Result<(), Error> {
    let Some(row) = link.first("SELECT key FROM processes WHERE id = $1", &[&process.as_str()]).await? else {
        return Ok(());
    };
    let key: i64 = row.get(0);
    // Locked in the order in which others do.
    link.query("SELECT key FROM threads WHERE owner = $1 ORDER BY key FOR NO KEY UPDATE", &[&key]).await?;
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
        "SELECT t.epoch, p.id AS process, p.pid, p.start_time, p.host, p.beat_at, p.beat_at + $2 > {NOW} AS alive \
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
    let sql = "UPDATE threads SET owner = $2, epoch = epoch + 1 WHERE key = $1 RETURNING epoch";
    Ok(Adopted::At(count(&link.one(sql, &[&key, &process_key]).await?, "epoch")?))
}

/// Takes ownership of live threads that no live process owns, the oldest first. Those that another process is about to take are passed over.
pub(super) async fn claim_threads(
    link: &Link,
    clock: Clock,
    process: &ProcessId,
    at: Time,
    query: &ClaimQuery,
) -> Result<Vec<Claimed>, Error> {
    let sql = format!("SELECT key, steady_since + $2 <= {NOW} AS steady FROM processes WHERE id = $3");
    let this = link.first(&sql, &[&clock.moment(at), &clock.lease_ms(), &process.as_str()]).await?;
    let this = this.ok_or_else(|| Error::UnknownProcess(process.clone()))?;
    let (key, steady): (i64, bool) = (value(&this, "key")?, value(&this, "steady")?);
    // Others may be alive too: what they own is not taken before this process has been heard of for long enough.
    let is_judge = steady || !clock.is_of_database();
    let is_left = format!(
        "(t.owner IS NULL OR ($4 AND t.owner NOT IN (SELECT p.key FROM processes p WHERE p.key = $3 OR p.beat_at + $2 > {NOW})))"
    );
    let mut conditions = vec!["t.live", &is_left];
    match query.kind {
        ClaimKind::Any => {}
        ClaimKind::Roots => conditions.push("t.parent IS NULL"),
        ClaimKind::Children => conditions.push("t.parent IS NOT NULL"),
    }
    conditions.push(if query.agent.is_some() { "t.agent = $6" } else { "$6::text IS NULL" });
    conditions.push(match query.root {
        Some(_) => "t.root = (SELECT r.key FROM threads r WHERE r.id = $7)",
        None => "$7::text IS NULL",
    });
    let sql = format!(
        "SELECT t.key FROM threads t WHERE {} ORDER BY t.key LIMIT $5 FOR NO KEY UPDATE OF t SKIP LOCKED",
        conditions.join(" AND ")
    );
    let (agent, root) = (query.agent.as_deref(), query.root.as_ref().map(ThreadId::as_str));
    let (now, lease, limit) = (clock.moment(at), clock.lease_ms(), page(query.limit));
    let rows = link.query(&sql, &[&now, &lease, &key, &is_judge, &limit, &agent, &root]).await?;
    let keys: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    // Looked at once more, now that they are locked: the statement before may have seen an owner of an earlier moment.
    let sql = format!(
        "UPDATE threads t SET owner = $3, epoch = t.epoch + 1 WHERE t.key = ANY($5) AND t.live AND {is_left} \
         RETURNING t.key, t.id, t.epoch"
    );
    let rows = link.query(&sql, &[&now, &lease, &key, &is_judge, &keys]).await?;
    let mut claimed = Vec::with_capacity(rows.len());
    for row in &rows {
        let order: i64 = value(row, "key")?;
        claimed.push((order, Claimed { thread: thread_id(row, "id")?, epoch: count(row, "epoch")? }));
    }
    claimed.sort_by_key(|(order, _)| *order);
    Ok(claimed.into_iter().map(|(_, claimed)| claimed).collect())
}

/// Leaves a wake.
pub(super) async fn wake(link: &Link, thread: &ThreadId, due: Time) -> Result<(), Error> {
    let key = read::key(link, thread).await?;
    link.execute(LEAVE_WAKE, &[&key, &due.0]).await?;
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
        "UPDATE wakes w SET leased_until = {NOW} + $5 FROM \
         (SELECT w.key, t.id FROM processes p JOIN threads t ON t.owner = p.key JOIN wakes w ON w.thread = t.key \
          WHERE p.id = $2 AND w.due <= $3 AND (w.leased_until IS NULL OR w.leased_until <= {NOW}) \
          ORDER BY w.due, w.key LIMIT $4 FOR UPDATE OF w SKIP LOCKED) d \
         WHERE w.key = d.key RETURNING w.key, d.id AS thread, w.due"
    );
    let values = (clock.moment(at), page(limit), signed(LEASE_MS));
    let rows = link.query(&sql, &[&values.0, &process.as_str(), &at.0, &values.1, &values.2]).await?;
    let mut due = Vec::with_capacity(rows.len());
    for row in &rows {
        due.push(Wake { key: count(row, "key")?, thread: thread_id(row, "thread")?, due: time(row, "due")? });
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
pub(super) async fn remove(link: &Link, clock: Clock, root: &ThreadId, at: Time) -> Result<(), Error> {
    admission::root(root)?;
    // Whatever is written to one of the family locks the root.
    let locked = "SELECT key FROM threads WHERE id = $1 FOR UPDATE";
    let key = link.first(locked, &[&root.as_str()]).await?.ok_or_else(|| Error::unknown(root))?;
    let key: i64 = key.get(0);
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
