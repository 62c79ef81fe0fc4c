//! Threads: mails that refer to one another, and answers without references that have the same subject.

use rusqlite::Transaction;

use super::message::MailMessage;
use crate::error::Error;

/// How far apart mails may be that only share a subject.
const SAME_SUBJECT_S: i64 = 30 * 24 * 3600;

/// Puts a mail that has just been added into its thread. A mail that is named by several threads makes them one.
pub(crate) fn join(
    transaction: &Transaction<'_>,
    key: i64,
    sent: i64,
    topic: &str,
    message: &MailMessage,
) -> Result<(), Error> {
    let names = || {
        let all = [&message.message_id, &message.in_reply_to].into_iter().chain(&message.references);
        all.filter(|name| !name.is_empty())
    };
    let mut threads = Vec::new();
    let mut find = transaction.prepare_cached("SELECT thread FROM mail_reference WHERE name = ?1")?;
    for name in names() {
        let mut rows = find.query([name])?;
        if let Some(row) = rows.next()? {
            threads.push(row.get::<_, i64>(0)?);
        }
    }
    let is_answer = message.topic().len() < message.subject.trim().len();
    let names_nobody = message.in_reply_to.is_empty() && message.references.is_empty();
    if threads.is_empty() && names_nobody && is_answer && !topic.is_empty() {
        let mut same = transaction.prepare_cached(
            "SELECT thread FROM mail WHERE topic = ?1 AND key <> ?2 AND abs(sent - ?3) < ?4 ORDER BY sent DESC LIMIT 1",
        )?;
        let mut rows = same.query((topic, key, sent, SAME_SUBJECT_S))?;
        if let Some(row) = rows.next()? {
            threads.push(row.get(0)?);
        }
    }
    threads.sort_unstable();
    threads.dedup();
    let thread = threads.first().copied().unwrap_or(key);
    transaction.prepare_cached("UPDATE mail SET thread = ?2 WHERE key = ?1")?.execute((key, thread))?;
    for other in threads.iter().skip(1) {
        transaction.prepare_cached("UPDATE mail SET thread = ?2 WHERE thread = ?1")?.execute((other, thread))?;
        transaction
            .prepare_cached("UPDATE mail_reference SET thread = ?2 WHERE thread = ?1")?
            .execute((other, thread))?;
    }
    let mut note = transaction.prepare_cached("INSERT OR IGNORE INTO mail_reference VALUES (?1, ?2)")?;
    for name in names() {
        note.execute((name, thread))?;
    }
    Ok(())
}
