//! The table of sub-agents' executions, as a group changes it: most begin and start in the same commit, and end by a report that
//! is then told once more, to their parent.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use agent::ThreadId;
use foldhash::fast::RandomState;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};

use super::bulk_insert::{Insert, integer, number, optional, text};
use super::columns::signed;
use crate::error::Error;
use crate::projection::End;
use crate::rows::{Execution, Status};

/// What is known of sub-agents' executions.
#[derive(Default)]
pub(super) struct Executions {
    /// Those of the group, which have yet to be put into the file, and where each of them stands among them.
    spawned: Vec<Execution>,
    places: HashMap<ThreadId, usize, RandomState>,
    /// Those that ended by their own report; that of their parent, which follows, changes nothing.
    over: HashSet<ThreadId, RandomState>,
}

impl Executions {
    /// How many are remembered.
    pub(super) fn known(&self) -> usize {
        self.over.len()
    }

    /// A sub-agent was spawned.
    pub(super) fn spawned(&mut self, execution: Execution) {
        if let Entry::Vacant(place) = self.places.entry(execution.sub_agent_id.clone()) {
            place.insert(self.spawned.len());
            self.spawned.push(execution);
        }
    }

    /// A sub-agent got its permit.
    pub(super) fn started(&mut self, db: &Connection, child: &ThreadId) -> Result<(), Error> {
        match self.places.get(child) {
            Some(place) if self.spawned[*place].status == Status::Pending => {
                self.spawned[*place].status = Status::Running;
                Ok(())
            }
            Some(_) => Ok(()),
            None => started(db, child),
        }
    }

    /// A sub-agent ended: by its own report, or by what its parent was told.
    pub(super) fn ended(&mut self, db: &Connection, child: &ThreadId, end: &End, by_itself: bool) -> Result<(), Error> {
        let is_ended = match self.places.get(child) {
            Some(place) => {
                self.spawned[*place].finish(end);
                true
            }
            None => !self.over.remove(child) && ended(db, child, end)?,
        };
        if is_ended && by_itself {
            self.over.insert(child.clone());
        }
        Ok(())
    }

    /// A root and its descendants are gone.
    pub(super) fn forget(&mut self, root: &ThreadId) {
        self.over.retain(|child| child.root() != *root);
    }

    /// Puts those of the group into the file.
    pub(super) fn flush(&mut self, db: &Connection) -> Result<(), Error> {
        static EXECUTIONS: LazyLock<Insert<15>> = LazyLock::new(|| {
            Insert::new(
                "INSERT OR ROLLBACK INTO sub_agent_execution (id, workflow_id, parent_agent_id, sub_agent_id, \
                 sub_agent_name, task_description, status, outcome, duration_ms, tokens_input, tokens_output, \
                 result_summary, error_message, created_at, completed_at)",
                "ON CONFLICT (id) DO NOTHING",
            )
        });
        let optional_number = |value: Option<u64>| value.map_or(ValueRef::Null, number);
        let rows = self.spawned.iter().map(|execution| {
            [
                text(&execution.id),
                text(execution.workflow_id.as_str()),
                text(execution.parent_agent_id.as_str()),
                text(execution.sub_agent_id.as_str()),
                text(&execution.sub_agent_name),
                text(&execution.task_description),
                text(execution.status.as_str()),
                optional(execution.outcome.map(|outcome| outcome.as_str())),
                optional_number(execution.duration_ms),
                optional_number(execution.tokens_input),
                optional_number(execution.tokens_output),
                optional(execution.result_summary.as_deref()),
                optional(execution.error_message.as_deref()),
                integer(execution.created_at.0),
                execution.completed_at.map_or(ValueRef::Null, |at| integer(at.0)),
            ]
        });
        EXECUTIONS.rows(db, rows)?;
        self.spawned.clear();
        self.places.clear();
        Ok(())
    }
}

/// Has an execution that waits in line run.
fn started(db: &Connection, child: &ThreadId) -> Result<(), Error> {
    let sql = "UPDATE sub_agent_execution SET status = 'running' WHERE id = ?1 AND status = 'pending'";
    db.prepare_cached(sql)?.execute([child.as_str()])?;
    Ok(())
}

/// Ends an execution that is not over, and says whether there was one.
fn ended(db: &Connection, child: &ThreadId, end: &End) -> Result<bool, Error> {
    let sql = "UPDATE sub_agent_execution SET status = ?2, outcome = ?3, duration_ms = ?4, tokens_input = ?5, \
               tokens_output = ?6, result_summary = ?7, error_message = ?8, completed_at = ?9 \
               WHERE id = ?1 AND status IN ('pending', 'running')";
    let changed = db.prepare_cached(sql)?.execute(params![
        child.as_str(),
        end.status.as_str(),
        end.outcome.as_str(),
        signed(end.duration_ms),
        signed(end.tokens_input),
        signed(end.tokens_output),
        end.result_summary,
        end.error_message,
        end.at.0,
    ])?;
    Ok(changed > 0)
}
