//! Inserts of many rows by few statements: what SQLite does once for a statement is then done once for many rows.

use std::fmt::Write;

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::columns::signed;
use crate::error::Error;

/// How many rows a statement takes, the most first.
const SIZES: [usize; 3] = [16, 4, 1];

/// A row as it is written.
pub(super) type Values<'a, const COLUMNS: usize> = [ValueRef<'a>; COLUMNS];

/// The statements that write rows into one table.
pub(super) struct Insert<const COLUMNS: usize> {
    by_size: [(usize, String); SIZES.len()],
}

impl<const COLUMNS: usize> Insert<COLUMNS> {
    /// From what stands before the rows, and after them.
    pub(super) fn new(head: &str, tail: &str) -> Self {
        let by_size = SIZES.map(|size| {
            let mut sql = format!("{head} VALUES ");
            for place in 0..size * COLUMNS {
                let before = match (place, place % COLUMNS) {
                    (0, _) => "(",
                    (_, 0) => "), (",
                    _ => ", ",
                };
                let _ = write!(sql, "{before}?{}", place + 1);
            }
            (size, format!("{sql}) {tail}"))
        });
        Self { by_size }
    }

    /// Writes rows, in their order.
    pub(super) fn rows<'a>(
        &self,
        db: &Connection,
        mut rows: impl ExactSizeIterator<Item = Values<'a, COLUMNS>>,
    ) -> Result<(), Error> {
        for (size, sql) in &self.by_size {
            if rows.len() < *size {
                continue;
            }
            let mut statement = db.prepare_cached(sql)?;
            while rows.len() >= *size {
                for (place, value) in rows.by_ref().take(*size).flatten().enumerate() {
                    statement.raw_bind_parameter(place + 1, ToSqlOutput::Borrowed(value))?;
                }
                statement.raw_execute()?;
            }
        }
        Ok(())
    }
}

/// A number.
pub(super) fn integer<'a>(value: impl Into<i64>) -> ValueRef<'a> {
    ValueRef::Integer(value.into())
}

/// A number that is never negative.
pub(super) fn number<'a>(value: u64) -> ValueRef<'a> {
    integer(signed(value))
}

/// A text.
pub(super) fn text(value: &str) -> ValueRef<'_> {
    ValueRef::Text(value.as_bytes())
}

/// A text that may be missing.
pub(super) fn optional(value: Option<&str>) -> ValueRef<'_> {
    value.map_or(ValueRef::Null, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_rows_is_written_in_order() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (n INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER, b TEXT) STRICT").unwrap();
        let insert = Insert::<2>::new("INSERT INTO t (a, b)", "");
        let texts: Vec<String> = (0..60).map(|n| format!("nul \0 and {n}")).collect();
        let mut written = 0;
        for amount in [0, 1, 3, 4, 5, 16, 31] {
            let rows = texts[written..written + amount].iter().enumerate();
            let rows = rows.map(|(n, one)| [number((written + n) as u64), optional(Some(one).map(|one| &**one))]);
            insert.rows(&db, rows).unwrap();
            written += amount;
        }
        let mut statement = db.prepare("SELECT n - 1, a, b FROM t ORDER BY n").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        let expected: Vec<(i64, i64, String)> =
            texts.into_iter().enumerate().map(|(n, text)| (n as i64, n as i64, text)).collect();
        assert_eq!(rows.collect::<Result<Vec<_>, _>>().unwrap(), expected);
    }
}
