//! Every text that an agent is told about tasks (LACE-14: they belong to the tasks, not to the agents).
//!
//! Under preset `lace` the words are those of its document; else they also name the task and say how it is completed.

use std::fmt::Write;

use crate::delivery::Notice;
use crate::task::Task;

/// Whose words are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Our own.
    Own,
    /// Those of preset `lace`.
    Lace,
}

/// The task, as its agent is told it: the first message of a new one.
pub fn assignment(task: &Task, style: Style) -> String {
    let Task { id, title, created_by, priority, prompt, .. } = task;
    let details = format!("--- TASK DETAILS ---\n{prompt}\n--- END TASK DETAILS ---");
    match style {
        Style::Lace => format!(
            "[LACE TASK SYSTEM] You have been assigned a new task:\nTitle: \"{title}\"\nCreated by: {created_by}\n\
             Priority: {priority}\n\n{details}"
        ),
        Style::Own => {
            let mut words = format!(
                "You have been assigned task {id}:\nTitle: \"{title}\"\nCreated by: {created_by}\nPriority: {priority}\n\n\
                 {details}\n"
            );
            if !task.recent_notes.is_empty() {
                let _ = write!(words, "\n{}\n", notes(task));
            }
            let _ = write!(
                words,
                "\nWhen it is done, call task_update with status completed and a note that says what was done. If you cannot go on, \
                 call it with status blocked and the reason. A task that is not completed in this way counts as blocked."
            );
            if !task.checks.commands.is_empty() {
                let commands: Vec<String> = task.checks.commands.iter().map(|check| format!("- {check}")).collect();
                let _ = write!(
                    words,
                    " These commands must succeed before it counts as completed:\n{}",
                    commands.join("\n")
                );
            }
            if let Some(schema) = &task.checks.schema {
                let _ = write!(
                    words,
                    "\nGive its result as JSON in the argument `result` of task_update. It must match this JSON Schema:\n{}",
                    schema.text()
                );
            }
            words
        }
    }
}

/// What a thread is told about a task.
pub fn notice(task: &Task, notice: &Notice, style: Style) -> String {
    let Task { id, title, .. } = task;
    match (notice, style) {
        (Notice::Completed, Style::Lace) => lace_status(task, "completed"),
        (Notice::Blocked { .. }, Style::Lace) => lace_status(task, "blocked"),
        (Notice::Completed, Style::Own) => {
            let by = task.completed_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            let mut words = format!("Task {id} \"{title}\" was completed{by}.");
            if let Some(result) = &task.result {
                let _ = write!(words, "\nResult: {result}");
            }
            with_notes(words, task)
        }
        (Notice::Blocked { reason }, Style::Own) => {
            with_notes(format!("Task {id} \"{title}\" is blocked: {reason}"), task)
        }
        (Notice::Noted { note }, style) => {
            format!("{}{} added a note to task {id} \"{title}\":\n{}", lead(style), note.by, note.content)
        }
        (Notice::Reassigned { to }, style) => {
            format!("{}Task {id} \"{title}\" was given to {to}. Do not go on with it.", lead(style))
        }
        (Notice::Withdrawn, style) => {
            format!("{}Task {id} \"{title}\" is {} now. Do not go on with it.", lead(style), task.status)
        }
    }
}

fn lead(style: Style) -> &'static str {
    match style {
        Style::Own => "",
        Style::Lace => "[LACE TASK SYSTEM] ",
    }
}

/// The word is the one that was true when it happened; the task may have changed since.
fn lace_status(task: &Task, word: &str) -> String {
    let notes = if task.recent_notes.is_empty() { String::new() } else { notes(task) };
    format!(
        "[LACE TASK SYSTEM] Task {word} notification:\nTask: \"{}\"\nStatus: {}\n\n{notes}",
        task.title,
        word.to_uppercase()
    )
}

fn with_notes(words: String, task: &Task) -> String {
    if task.recent_notes.is_empty() { words } else { format!("{words}\n\n{}", notes(task)) }
}

fn notes(task: &Task) -> String {
    let lines: Vec<String> = task.recent_notes.iter().map(|note| format!("- {}", note.content)).collect();
    format!("Recent notes:\n{}", lines.join("\n"))
}
