//! The table of questions to people: written together with the events that it is folded from, and read.

use std::sync::Arc;

use agent::ThreadId;
use agent::approval::{Approval, ApprovalId};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{optional_time, signed, thread_id, time, word};
use super::write_session::Thread;
use crate::approvals::{ApprovalQuery, ApprovalRow, Change, End};
use crate::error::Error;

const ROWS: &str = "SELECT a.*, t.id AS thread_id FROM approvals a JOIN threads t ON t.key = a.thread";

/// Writes what the event at this position changed.
pub(super) fn follow(db: &Connection, thread: &Thread, position: u64, change: &Change) -> Result<(), Error> {
    match change {
        Change::Asked(row) => return asked(db, thread, position, row),
        Change::Decided { id, by, at } => {
            let sql = "UPDATE approvals SET status = 'decided', decided_by = ?3, decided_at = ?4 \
                       WHERE id = ?1 AND thread = ?2 AND status = 'pending'";
            db.prepare_cached(sql)?.execute(params![id.as_str(), thread.key, by.0, at.0])?;
        }
        Change::Dropped { input } => {
            let sql = "UPDATE approvals SET status = 'pending', decided_by = NULL, decided_at = NULL \
                       WHERE thread = ?1 AND decided_by = ?2";
            db.prepare_cached(sql)?.execute(params![thread.key, input.0])?;
        }
        Change::Resolved { id, at, end: End { status, reason, answer } } => {
            let sql = "UPDATE approvals SET status = ?3, reason = ?4, answer = ?6, decided_by = NULL, \
                       decided_at = coalesce(decided_at, ?5) \
                       WHERE id = ?1 AND thread = ?2 AND status IN ('pending', 'decided')";
            let params = params![id.as_str(), thread.key, status.as_str(), reason, at.0, answer];
            db.prepare_cached(sql)?.execute(params)?;
        }
    }
    Ok(())
}

/// Questions as they stand, the newest first.
pub(super) fn list(db: &Connection, query: ApprovalQuery) -> Result<Vec<ApprovalRow>, Error> {
    // Written out for each query, so that SQLite can choose an index for it.
    let open = if query.open_only { "WHERE a.status IN ('pending', 'decided')" } else { "" };
    let sql = format!("{ROWS} {open} ORDER BY a.position DESC LIMIT ?1");
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map([signed(query.limit as u64)], row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A question as it stands.
pub(super) fn one(db: &Connection, id: &ApprovalId) -> Result<Option<ApprovalRow>, Error> {
    let mut statement = db.prepare_cached(&format!("{ROWS} WHERE a.id = ?1"))?;
    Ok(statement.query_row([id.as_str()], row).optional()?)
}

fn asked(db: &Connection, thread: &Thread, position: u64, row: &ApprovalRow) -> Result<(), Error> {
    let question = &row.question;
    let sql = "INSERT INTO approvals (position, id, root, thread, call, tool, risk, effect, path, requested_at, \
               expires_at, status, question) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT DO NOTHING";
    db.prepare_cached(sql)?.execute(params![
        signed(position),
        question.id.as_str(),
        thread.root,
        thread.key,
        question.call.as_str(),
        question.tool,
        question.risk.as_str(),
        question.effect,
        question.path.join(" › "),
        row.requested_at.0,
        question.expires_at.0,
        row.status.as_str(),
        serde_json::to_string(question).expect("a question serialises to JSON"),
    ])?;
    Ok(())
}

fn row(row: &Row<'_>) -> rusqlite::Result<ApprovalRow> {
    let thread: ThreadId = thread_id(row, "thread_id")?;
    let question = question(row)?;
    Ok(ApprovalRow {
        kind: question.kind(),
        question,
        root: thread.root(),
        thread,
        requested_at: time(row, "requested_at")?,
        status: word(row, "status")?,
        decided_at: optional_time(row, "decided_at")?,
        reason: row.get("reason")?,
        answer: row.get("answer")?,
    })
}

fn question(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let text: Arc<str> = row.get("question")?;
    let index = row.as_ref().column_index("question")?;
    serde_json::from_str(&text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error)))
}
