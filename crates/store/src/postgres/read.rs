//! Everything that is asked of the database without changing it.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::ThreadId;
use agent::approval::{Approval, ApprovalId};
use tokio_postgres::Row;

use super::columns::{
    self, THREAD, THREADS, count, json, optional_text, optional_time, page, signed, text, thread_id, time, unsigned,
    value, word,
};
use super::connection::{Link, Values};
use super::schema;
use crate::admission;
use crate::approvals::{ApprovalQuery, ApprovalRow};
use crate::codec;
use crate::error::Error;
use crate::installation::{InstallationRecord, State};
use crate::log::Record;
use crate::open::Health;
use crate::resolve;
use crate::rows::{Execution, ThreadQuery, ThreadRow, UsageRow};

/// The newest position of those that are kept.
pub(super) async fn newest(link: &Link) -> Result<u64, Error> {
    let row = link.one("SELECT coalesce(max(position), 0) FROM events", &[]).await?;
    Ok(unsigned(row.get(0)))
}

/// A thread's key.
pub(super) async fn key(link: &Link, thread: &ThreadId) -> Result<i64, Error> {
    let found = link.first("SELECT key FROM threads WHERE id = $1", &[&thread.as_str()]).await?;
    found.map(|row| row.get(0)).ok_or_else(|| Error::unknown(thread))
}

/// A thread's events after its `after_n`th.
pub(super) async fn thread_events(
    link: &Link,
    thread: &ThreadId,
    after_n: u64,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    let sql = "SELECT e.position, e.seq, t.id AS thread, e.n, e.at, e.kind, e.version, e.body \
               FROM events e JOIN threads t ON t.key = e.thread \
               WHERE e.thread = $1 AND e.n > $2 ORDER BY e.n LIMIT $3";
    records(link, sql, &[&key(link, thread).await?, &signed(after_n), &page(limit)]).await
}

/// The events of a root and its descendants after `after_seq`.
pub(super) async fn family_events(
    link: &Link,
    root: &ThreadId,
    after_seq: u64,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    admission::root(root)?;
    let sql = "SELECT e.position, e.seq, t.id AS thread, e.n, e.at, e.kind, e.version, e.body \
               FROM events e JOIN threads t ON t.key = e.thread \
               WHERE e.root = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3";
    records(link, sql, &[&key(link, root).await?, &signed(after_seq), &page(limit)]).await
}

/// All events of threads after a position.
pub(super) async fn all_events(link: &Link, after_position: u64, limit: usize) -> Result<Vec<Record>, Error> {
    let sql = "SELECT e.position, e.seq, t.id AS thread, e.n, e.at, e.kind, e.version, e.body \
               FROM events e JOIN threads t ON t.key = e.thread \
               WHERE e.position > $1 ORDER BY e.position LIMIT $2";
    records(link, sql, &[&signed(after_position), &page(limit)]).await
}

async fn records(link: &Link, sql: &str, values: Values<'_>) -> Result<Vec<Record>, Error> {
    // A page mostly holds the events of few threads: each name is kept once.
    let mut names: BTreeMap<String, ThreadId> = BTreeMap::new();
    let rows = link.query(sql, values).await?;
    let mut record = |row: &Row| {
        let name: &str = value(row, "thread")?;
        let thread = match names.get(name) {
            Some(thread) => thread.clone(),
            None => names.entry(name.to_owned()).or_insert(ThreadId::new(name)).clone(),
        };
        Ok(Record {
            position: count(row, "position")?,
            seq: count(row, "seq")?,
            thread,
            n: count(row, "n")?,
            at: time(row, "at")?,
            event: Arc::new(codec::decode(value(row, "kind")?, version(row)?, value(row, "body")?)?),
        })
    };
    rows.iter().map(&mut record).collect()
}

/// The version of an event's shape.
pub(super) fn version(row: &Row) -> Result<u32, Error> {
    Ok(u32::try_from(value::<i32>(row, "version")?).unwrap_or(0))
}

/// A thread as it stands.
pub(super) async fn thread(link: &Link, thread: &ThreadId) -> Result<Option<ThreadRow>, Error> {
    let sql = format!("SELECT {THREAD} FROM {THREADS} WHERE t.id = $1");
    link.first(&sql, &[&thread.as_str()]).await?.as_ref().map(columns::thread).transpose()
}

/// Threads as they stand, the newest first.
pub(super) async fn threads(link: &Link, query: &ThreadQuery) -> Result<Vec<ThreadRow>, Error> {
    let before = match &query.before {
        Some(before) => key(link, before).await?,
        None => i64::MAX,
    };
    let root = match &query.root {
        Some(root) => match key(link, root).await {
            Ok(key) => Some(key),
            Err(Error::UnknownThread(_)) => return Ok(Vec::new()),
            Err(failure) => return Err(failure),
        },
        None => None,
    };
    // Written out for each query, so that PostgreSQL can choose an index for it.
    let mut conditions = vec!["t.key < $1"];
    if query.root_only {
        conditions.push("t.parent IS NULL");
    }
    if query.live_only {
        conditions.push("t.live");
    }
    match query.archived {
        Some(true) => conditions.push("t.archived"),
        Some(false) => conditions.push("NOT t.archived"),
        None => {}
    }
    if query.of_tasks {
        conditions.push("t.created_for IS NOT NULL");
    }
    conditions.push(if root.is_some() { "t.root = $3" } else { "$3::bigint IS NULL" });
    let conditions = conditions.join(" AND ");
    // The page is chosen before anything is joined to it.
    let sql = format!(
        "SELECT {THREAD} FROM (SELECT * FROM threads t WHERE {conditions} ORDER BY t.key DESC LIMIT $2) t \
         JOIN progress g ON g.thread = t.key LEFT JOIN processes p ON p.key = t.owner ORDER BY t.key DESC"
    );
    link.query(&sql, &[&before, &page(query.limit), &root]).await?.iter().map(columns::thread).collect()
}

/// The thread that a person means.
pub(super) async fn resolve(link: &Link, text: &str) -> Result<ThreadId, Error> {
    let exact = ThreadId::new(text);
    let unknown = || Error::UnknownThread(text.into());
    if text.contains('\0') {
        return Err(unknown());
    }
    if exists(link, &exact).await? {
        return Ok(exact);
    }
    // Only those that may be meant are fetched: there can be very many.
    let root_text = text.split_once('.').map_or(text, |(root, _)| root);
    if root_text.is_empty() {
        return Err(unknown());
    }
    let sql = "SELECT id FROM threads WHERE parent IS NULL \
               AND (starts_with(id, $1) OR starts_with(substr(id, strpos(id, '-') + 1), $1)) ORDER BY id";
    let rows = link.query(sql, &[&root_text]).await?;
    let roots = rows.iter().map(|row| thread_id(row, "id")).collect::<Result<Vec<_>, _>>()?;
    let thread = resolve::pick(text, &roots)?;
    if exists(link, &thread).await? { Ok(thread) } else { Err(unknown()) }
}

async fn exists(link: &Link, thread: &ThreadId) -> Result<bool, Error> {
    Ok(link.first("SELECT 1 FROM threads WHERE id = $1", &[&thread.as_str()]).await?.is_some())
}

/// Every sub-agent of a root, in the order of their spawning.
pub(super) async fn executions(link: &Link, workflow: &ThreadId) -> Result<Vec<Execution>, Error> {
    let sql = "SELECT * FROM sub_agent_execution WHERE workflow_id = $1 ORDER BY number";
    link.query(sql, &[&workflow.as_str()]).await?.iter().map(columns::execution).collect()
}

/// What was used, by thread and model.
pub(super) async fn usage(link: &Link, root: Option<&ThreadId>) -> Result<Vec<UsageRow>, Error> {
    let of = match root {
        Some(_) => "t.root = (SELECT key FROM threads WHERE id = $1)",
        None => "$1::text IS NULL",
    };
    let sql = format!(
        "SELECT g.*, t.id, t.model FROM threads t JOIN progress g ON g.thread = t.key WHERE {of} \
         AND (g.answers > 0 OR g.booked_tokens > 0 OR g.cost_microusd > 0) ORDER BY t.key"
    );
    let rows = link.query(&sql, &[&root.map(ThreadId::as_str)]).await?;
    let used = |row: &Row| {
        Ok(UsageRow {
            thread: thread_id(row, "id")?,
            model: text(row, "model")?,
            calls: count(row, "answers")?,
            tokens: columns::tokens(row)?,
            booked_tokens: count(row, "booked_tokens")?,
            cost_microusd: count(row, "cost_microusd")?,
        })
    };
    rows.iter().map(used).collect()
}

const APPROVALS: &str = "SELECT a.*, t.id AS thread_id FROM approvals a JOIN threads t ON t.key = a.thread";

/// Questions as they stand, the newest first.
pub(super) async fn approvals(link: &Link, query: ApprovalQuery) -> Result<Vec<ApprovalRow>, Error> {
    let open = if query.open_only { "WHERE a.status IN ('pending', 'decided')" } else { "" };
    let sql = format!("{APPROVALS} {open} ORDER BY a.position DESC LIMIT $1");
    link.query(&sql, &[&page(query.limit)]).await?.iter().map(approval_row).collect()
}

/// A question as it stands.
pub(super) async fn approval(link: &Link, id: &ApprovalId) -> Result<Option<ApprovalRow>, Error> {
    let sql = format!("{APPROVALS} WHERE a.id = $1");
    let id = columns::storable(id.as_str());
    link.first(&sql, &[&&*id]).await?.as_ref().map(approval_row).transpose()
}

fn approval_row(row: &Row) -> Result<ApprovalRow, Error> {
    let thread = thread_id(row, "thread_id")?;
    let question: Approval = json(row, "question")?;
    Ok(ApprovalRow {
        kind: question.kind(),
        question,
        root: thread.root(),
        thread,
        requested_at: time(row, "requested_at")?,
        status: word(row, "status")?,
        decided_at: optional_time(row, "decided_at")?,
        reason: optional_text(row, "reason")?,
        answer: optional_text(row, "answer")?,
    })
}

/// The events of the installation after the `after_n`th.
pub(super) async fn installation_events(
    link: &Link,
    after_n: u64,
    limit: usize,
) -> Result<Vec<InstallationRecord>, Error> {
    let sql = "SELECT position, n, at, kind, version, body FROM events WHERE thread = 0 AND n > $1 ORDER BY n LIMIT $2";
    let rows = link.query(sql, &[&signed(after_n), &page(limit)]).await?;
    let record = |row: &Row| {
        Ok(InstallationRecord {
            position: count(row, "position")?,
            n: count(row, "n")?,
            at: time(row, "at")?,
            event: Arc::new(codec::decode_installation(value(row, "kind")?, version(row)?, value(row, "body")?)?),
        })
    };
    rows.iter().map(record).collect()
}

/// What holds for the installation.
pub(super) async fn installation(link: &Link) -> Result<State, Error> {
    let found = link.first("SELECT state FROM installation WHERE key = 0", &[]).await?;
    found.as_ref().map_or_else(|| Ok(State::default()), |row| json(row, "state"))
}

/// Looks for runs with missing events, the newest ones. Damage of the files is PostgreSQL's to find.
pub(super) async fn check(link: &Link) -> Result<Health, Error> {
    let server: String = link.one("SELECT current_setting('server_version')", &[]).await?.get(0);
    let sql = "SELECT r.id, r.seq, count(e.position) AS found FROM \
               (SELECT key, id, seq FROM threads WHERE parent IS NULL ORDER BY key DESC LIMIT 1000) r \
               LEFT JOIN events e ON e.root = r.key GROUP BY r.id, r.seq HAVING count(e.position) <> r.seq ORDER BY r.id LIMIT 10";
    let rows = link.query(sql, &[]).await?;
    let fault = |row: &Row| {
        let (id, expected, found) = (text(row, "id")?, count(row, "seq")?, count(row, "found")?);
        Ok(format!("run {id}: {found} of {expected} events are there"))
    };
    let faults = rows.iter().map(fault).collect::<Result<_, Error>>()?;
    Ok(Health { engine: format!("schema {}, PostgreSQL {server}", schema::NEWEST).into(), faults })
}
