//! Rows of PostgreSQL as values of ours, and back.

use std::borrow::Cow;
use std::sync::Arc;

use agent::model::Tokens;
use agent::{ThreadId, Time};
use serde::de::value::Error as WordError;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::error::Error;
use crate::process::{Process, ProcessId};
use crate::rows::{Execution, Owner, ThreadRow};

macro_rules! thread_columns {
    () => {
        "t.id, t.name, t.agent, t.model, t.mode, t.preset, t.goal, t.title, t.archived, t.unread, t.persistent, \
         t.created_for, g.state, t.outcome, g.turns, g.tool_calls, g.tokens_input, g.tokens_cache_read, g.tokens_cache_write, \
         g.tokens_output, g.cost_microusd, g.last_tool, g.waiting_for, t.runs, t.created_at, g.updated_at, t.ended_at, t.epoch, g.head, \
         p.id AS process, p.pid, p.start_time, p.host, p.beat_at"
    };
}

/// The columns that [`thread`] reads, of `threads t` with how far it is, `g`, and its owner `p`.
pub(super) const THREAD: &str = concat!(
    thread_columns!(),
    ", (SELECT json_build_object('id', 't' || k.number, 'board', b.id, 'title', k.title)::text FROM tasks k \
      JOIN boards b ON b.key = k.board WHERE k.thread = t.id AND k.status = 'in_progress' \
      ORDER BY k.updated_at DESC, k.number DESC LIMIT 1) AS current_task"
);

/// The same without the task that the thread works on.
pub(super) const THREAD_ALONE: &str = concat!(thread_columns!(), ", NULL::text AS current_task");

/// Where they come from.
pub(super) const THREADS: &str =
    "threads t JOIN progress g ON g.thread = t.key LEFT JOIN processes p ON p.key = t.owner";

/// A value.
pub(super) fn value<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, Error> {
    row.try_get(column).map_err(|error| Error::Sql(Arc::new(error)))
}

/// A text.
pub(super) fn text(row: &Row, column: &str) -> Result<Arc<str>, Error> {
    value::<&str>(row, column).map(Arc::from)
}

/// A text, where there is one.
pub(super) fn optional_text(row: &Row, column: &str) -> Result<Option<Arc<str>>, Error> {
    Ok(value::<Option<&str>>(row, column)?.map(Arc::from))
}

/// A thread's name.
pub(super) fn thread_id(row: &Row, column: &str) -> Result<ThreadId, Error> {
    text(row, column).map(ThreadId::new)
}

/// A moment.
pub(super) fn time(row: &Row, column: &str) -> Result<Time, Error> {
    value(row, column).map(Time)
}

/// A moment, where there is one.
pub(super) fn optional_time(row: &Row, column: &str) -> Result<Option<Time>, Error> {
    Ok(value::<Option<i64>>(row, column)?.map(Time))
}

/// A number that is never negative.
pub(super) fn count(row: &Row, column: &str) -> Result<u64, Error> {
    value(row, column).map(unsigned)
}

fn optional_count(row: &Row, column: &str) -> Result<Option<u64>, Error> {
    Ok(value::<Option<i64>>(row, column)?.map(unsigned))
}

/// A number that is never negative and small.
fn small(row: &Row, column: &str) -> Result<u32, Error> {
    Ok(u32::try_from(value::<i64>(row, column)?).unwrap_or(0))
}

/// One of a closed set of words, as our enums spell them.
pub(super) fn word<T: for<'de> Deserialize<'de>>(row: &Row, column: &str) -> Result<T, Error> {
    read_word(value(row, column)?)
}

fn optional_word<T: for<'de> Deserialize<'de>>(row: &Row, column: &str) -> Result<Option<T>, Error> {
    value::<Option<&str>>(row, column)?.map(read_word).transpose()
}

fn read_word<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, Error> {
    let read: Result<T, WordError> = T::deserialize(text.into_deserializer());
    read.map_err(|error| Error::Sql(Arc::new(error)))
}

/// What is kept as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, Error> {
    serde_json::from_str(value(row, column)?).map_err(|error| Error::Sql(Arc::new(error)))
}

/// How something is kept as JSON.
pub(super) fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("our own types serialise to JSON")
}

/// A number as PostgreSQL keeps it. Nothing that is counted comes near the end.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as PostgreSQL kept it.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A limit as PostgreSQL takes it.
pub(super) fn page(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A text as PostgreSQL can keep it, which has no place for the character 0.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}").into() } else { text.into() }
}

/// The same of a text that may be missing.
pub(super) fn optional_storable(text: Option<&str>) -> Option<String> {
    text.map(|text| storable(text).into_owned())
}

/// A thread.
pub(super) fn thread(row: &Row) -> Result<ThreadRow, Error> {
    let id = thread_id(row, "id")?;
    Ok(ThreadRow {
        root: id.root(),
        parent: id.parent(),
        id,
        name: text(row, "name")?,
        agent: text(row, "agent")?,
        model: text(row, "model")?,
        mode: word(row, "mode")?,
        preset: text(row, "preset")?,
        goal: text(row, "goal")?,
        title: optional_text(row, "title")?,
        archived: value(row, "archived")?,
        unread: value(row, "unread")?,
        persistent: value(row, "persistent")?,
        created_for: optional_text(row, "created_for")?,
        // It was written by the query: what is no such object is none.
        current_task: optional_text(row, "current_task")?.and_then(|text| serde_json::from_str(&text).ok()),
        state: word(row, "state")?,
        outcome: optional_word(row, "outcome")?,
        turns: small(row, "turns")?,
        tool_calls: small(row, "tool_calls")?,
        tokens: tokens(row)?,
        cost_microusd: count(row, "cost_microusd")?,
        last_tool: optional_text(row, "last_tool")?,
        waiting_for: optional_text(row, "waiting_for")?,
        runs: small(row, "runs")?,
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
        ended_at: optional_time(row, "ended_at")?,
        owner: owner(row)?,
        epoch: count(row, "epoch")?,
        head: count(row, "head")?,
    })
}

/// An owner, from the columns `process`, `pid`, `start_time`, `host` and `beat_at`; none where there is none.
pub(super) fn owner(row: &Row) -> Result<Option<Owner>, Error> {
    let Some(id) = optional_text(row, "process")? else { return Ok(None) };
    let process = Process {
        id: ProcessId::new(id),
        pid: small(row, "pid")?,
        start_time: count(row, "start_time")?,
        host: text(row, "host")?,
    };
    Ok(Some(Owner { process, beat_at: time(row, "beat_at")? }))
}

/// An execution.
pub(super) fn execution(row: &Row) -> Result<Execution, Error> {
    Ok(Execution {
        id: text(row, "id")?,
        workflow_id: thread_id(row, "workflow_id")?,
        parent_agent_id: thread_id(row, "parent_agent_id")?,
        sub_agent_id: thread_id(row, "sub_agent_id")?,
        sub_agent_name: text(row, "sub_agent_name")?,
        task_description: text(row, "task_description")?,
        status: word(row, "status")?,
        outcome: optional_word(row, "outcome")?,
        duration_ms: optional_count(row, "duration_ms")?,
        tokens_input: optional_count(row, "tokens_input")?,
        tokens_output: optional_count(row, "tokens_output")?,
        result_summary: optional_text(row, "result_summary")?,
        error_message: optional_text(row, "error_message")?,
        created_at: time(row, "created_at")?,
        completed_at: optional_time(row, "completed_at")?,
    })
}

/// Tokens, from the columns `tokens_input` and so on.
pub(super) fn tokens(row: &Row) -> Result<Tokens, Error> {
    Ok(Tokens {
        input: count(row, "tokens_input")?,
        cache_read: count(row, "tokens_cache_read")?,
        cache_write: count(row, "tokens_cache_write")?,
        // What it costs to keep them for an hour is in the cost, which is a column of its own.
        cache_write_1h: 0,
        output: count(row, "tokens_output")?,
        // Told apart in the log alone: it costs what other generated tokens cost.
        reasoning: 0,
    })
}
