//! Rows of SQLite as values of ours, and back.

use std::sync::Arc;

use agent::model::Tokens;
use agent::{ThreadId, Time};
use rusqlite::types::Type;
use rusqlite::{Result, Row};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as WordError;

use crate::process::{Process, ProcessId};
use crate::rows::{Execution, Owner, ThreadRow};

/// The columns that [`thread`] reads, of `threads t` with how far it is, `g`, and its owner `p`.
pub(super) const THREAD: &str = "t.id, t.name, t.agent, t.model, t.mode, t.preset, t.goal, t.title, t.archived, t.unread, t.persistent, t.created_for, g.state, t.outcome, g.turns, \
     g.tool_calls, g.tokens_input, g.tokens_cache_read, g.tokens_cache_write, g.tokens_output, g.cost_microusd, \
     g.last_tool, g.waiting_for, t.runs, t.created_at, g.updated_at, t.ended_at, t.epoch, g.head, \
     p.id AS process, p.pid, p.start_time, p.host, p.beat_at, \
     (SELECT json_object('id', 't' || k.number, 'board', b.id, 'title', k.title) FROM tasks k JOIN boards b ON b.key = k.board \
      WHERE k.thread = t.id AND k.status = 'in_progress' ORDER BY k.updated_at DESC, k.number DESC LIMIT 1) AS current_task";

/// Where they come from. SQLite looks for threads first, for only those have indexes.
pub(super) const THREADS: &str =
    "threads t CROSS JOIN progress g ON g.thread = t.key LEFT JOIN processes p ON p.key = t.owner";

/// A thread.
pub(super) fn thread(row: &Row<'_>) -> Result<ThreadRow> {
    let id = thread_id(row, "id")?;
    Ok(ThreadRow {
        root: id.root(),
        parent: id.parent(),
        id,
        name: row.get("name")?,
        agent: row.get("agent")?,
        model: row.get("model")?,
        mode: word(row, "mode")?,
        preset: row.get("preset")?,
        goal: row.get("goal")?,
        title: row.get("title")?,
        archived: row.get("archived")?,
        unread: row.get("unread")?,
        persistent: row.get("persistent")?,
        created_for: row.get("created_for")?,
        // It was written by the query: what is no such object is none.
        current_task: row.get::<_, Option<String>>("current_task")?.and_then(|text| serde_json::from_str(&text).ok()),
        state: word(row, "state")?,
        outcome: optional_word(row, "outcome")?,
        turns: row.get("turns")?,
        tool_calls: row.get("tool_calls")?,
        tokens: tokens(row)?,
        cost_microusd: count(row, "cost_microusd")?,
        last_tool: row.get("last_tool")?,
        waiting_for: row.get("waiting_for")?,
        runs: row.get("runs")?,
        created_at: time(row, "created_at")?,
        updated_at: time(row, "updated_at")?,
        ended_at: optional_time(row, "ended_at")?,
        owner: owner(row)?,
        epoch: count(row, "epoch")?,
        head: count(row, "head")?,
    })
}

/// An owner, from the columns `process`, `pid`, `start_time`, `host` and `beat_at`; none where there is none.
pub(super) fn owner(row: &Row<'_>) -> Result<Option<Owner>> {
    let Some(id) = row.get::<_, Option<Arc<str>>>("process")? else { return Ok(None) };
    let process = Process {
        id: ProcessId::new(id),
        pid: row.get("pid")?,
        start_time: count(row, "start_time")?,
        host: row.get("host")?,
    };
    Ok(Some(Owner { process, beat_at: time(row, "beat_at")? }))
}

/// An execution.
pub(super) fn execution(row: &Row<'_>) -> Result<Execution> {
    Ok(Execution {
        id: row.get("id")?,
        workflow_id: thread_id(row, "workflow_id")?,
        parent_agent_id: thread_id(row, "parent_agent_id")?,
        sub_agent_id: thread_id(row, "sub_agent_id")?,
        sub_agent_name: row.get("sub_agent_name")?,
        task_description: row.get("task_description")?,
        status: word(row, "status")?,
        outcome: optional_word(row, "outcome")?,
        duration_ms: optional_count(row, "duration_ms")?,
        tokens_input: optional_count(row, "tokens_input")?,
        tokens_output: optional_count(row, "tokens_output")?,
        result_summary: row.get("result_summary")?,
        error_message: row.get("error_message")?,
        created_at: time(row, "created_at")?,
        completed_at: optional_time(row, "completed_at")?,
    })
}

/// Tokens, from the columns `tokens_input` and so on.
pub(super) fn tokens(row: &Row<'_>) -> Result<Tokens> {
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

/// A thread's name.
pub(super) fn thread_id(row: &Row<'_>, column: &str) -> Result<ThreadId> {
    row.get::<_, Arc<str>>(column).map(ThreadId::new)
}

/// A moment.
pub(super) fn time(row: &Row<'_>, column: &str) -> Result<Time> {
    row.get(column).map(Time)
}

/// A number that is never negative.
pub(super) fn count(row: &Row<'_>, column: &str) -> Result<u64> {
    row.get::<_, i64>(column).map(unsigned)
}

/// A number as SQLite keeps it. Nothing that is counted comes near the end.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as SQLite kept it.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn optional_count(row: &Row<'_>, column: &str) -> Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(unsigned))
}

/// A moment, where there is one.
pub(super) fn optional_time(row: &Row<'_>, column: &str) -> Result<Option<Time>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Time))
}

/// One of a closed set of words, as our enums spell them.
pub(super) fn word<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: &str) -> Result<T> {
    read_word(row, column, &row.get::<_, Arc<str>>(column)?)
}

fn optional_word<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: &str) -> Result<Option<T>> {
    match row.get::<_, Option<Arc<str>>>(column)? {
        Some(text) => read_word(row, column, &text).map(Some),
        None => Ok(None),
    }
}

fn read_word<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: &str, text: &str) -> Result<T> {
    let read: std::result::Result<T, WordError> = T::deserialize(text.into_deserializer());
    let index = row.as_ref().column_index(column)?;
    read.map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}
