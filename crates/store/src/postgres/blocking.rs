//! A connection as code uses it that waits for each answer: the rules of boards ask what they look at one question after the other.

use tokio::runtime::Handle;
use tokio_postgres::Row;

use super::connection::{Link, Values};
use crate::error::Error;

/// A connection that is waited for.
pub(super) struct Blocking<'a> {
    pub(super) link: &'a Link,
    pub(super) background: &'a Handle,
}

impl Blocking<'_> {
    /// The rows that a statement gives.
    pub(super) fn query(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        self.background.block_on(self.link.query(sql, values))
    }

    /// The first row that a statement gives, if it gives any.
    pub(super) fn first(&self, sql: &str, values: Values<'_>) -> Result<Option<Row>, Error> {
        self.background.block_on(self.link.first(sql, values))
    }

    /// How many rows a statement changed.
    pub(super) fn execute(&self, sql: &str, values: Values<'_>) -> Result<u64, Error> {
        self.background.block_on(self.link.execute(sql, values))
    }

    /// Values read from all rows that a statement gives.
    pub(super) fn list<T>(
        &self,
        sql: &str,
        values: Values<'_>,
        read: impl Fn(&Row) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.query(sql, values)?.iter().map(read).collect()
    }
}
