//! Every text that an agent is told about tasks (LACE-14: they belong to the tasks, not to the agents).
//!
//! Under preset `lace` the words are those of its document; else they also name the task and say how it is completed.

use std::fmt::Write;

use agent::Mode;

use crate::delivery::Notice;
use crate::task::{Note, Task};

/// Whose words are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Our own.
    Own,
    /// Those of preset `lace`.
    Lace,
}

/// What becomes of an agent's words before a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// They are told as they are.
    Whole,
    /// They are told as untrusted text: the reader may do more than their author, and is asked about more from then on.
    Untrusted,
    /// They are not told: the reader is asked about nothing, so that it would do for their author what that one may not.
    LeftOut,
}

impl Passing {
    /// What becomes of words of an author who may do this at most; a person's have none.
    fn of(author: Option<Mode>, reader: Mode) -> Self {
        match author {
            Some(author) if author.meet(reader) == reader => Passing::Whole,
            None => Passing::Whole,
            Some(_) if reader == Mode::Dangerous => Passing::LeftOut,
            Some(_) => Passing::Untrusted,
        }
    }

    /// What becomes of a note on a task. What its own agent says of it is a report, as that of any sub-agent is.
    pub fn of_note(task: &Task, note: &Note, reader: Mode) -> Self {
        let is_report = note.by.thread().is_some_and(|by| task.thread.as_ref() == Some(by));
        if is_report { Passing::Whole } else { Passing::of(note.mode, reader) }
    }
}

/// What becomes of the words that a notice itself brings, before a reader in this mode.
pub fn passing(task: &Task, notice: &Notice, reader: Mode) -> Passing {
    match notice {
        Notice::Noted { note } => Passing::of_note(task, note, reader),
        Notice::Blocked { mode, .. } => Passing::of(*mode, reader),
        Notice::Completed | Notice::Reassigned { .. } | Notice::Withdrawn => Passing::Whole,
    }
}

/// Whether a task's words are untrusted text for a reader in this mode: those of the task and its newest notes.
pub fn are_untrusted(task: &Task, reader: Mode) -> bool {
    let is_untrusted = |note: &Note| Passing::of_note(task, note, reader) == Passing::Untrusted;
    task.foreign || task.recent_notes.iter().any(is_untrusted)
}

/// The task, as its agent, which works in this mode, is told it: the first message of a new one.
pub fn assignment(task: &Task, style: Style, reader: Mode) -> String {
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
                let _ = write!(words, "\n{}\n", notes(task, reader));
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

/// What a thread that works in this mode is told about a task.
pub fn notice(task: &Task, notice: &Notice, style: Style, reader: Mode) -> String {
    let Task { id, title, .. } = task;
    match (notice, style) {
        (Notice::Completed, Style::Lace) => lace_status(task, "completed", reader),
        (Notice::Blocked { .. }, Style::Lace) => lace_status(task, "blocked", reader),
        (Notice::Completed, Style::Own) => {
            let by = task.completed_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            let mut words = format!("Task {id} \"{title}\" was completed{by}.");
            if let Some(result) = &task.result {
                let _ = write!(words, "\nResult: {result}");
            }
            with_notes(words, task, reader)
        }
        (Notice::Blocked { reason, mode }, Style::Own) => {
            let why = match Passing::of(*mode, reader) {
                Passing::Whole | Passing::Untrusted => format!(": {reason}"),
                Passing::LeftOut => String::new(),
            };
            with_notes(format!("Task {id} \"{title}\" is blocked{why}"), task, reader)
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
fn lace_status(task: &Task, word: &str, reader: Mode) -> String {
    let notes = if task.recent_notes.is_empty() { String::new() } else { notes(task, reader) };
    format!(
        "[LACE TASK SYSTEM] Task {word} notification:\nTask: \"{}\"\nStatus: {}\n\n{notes}",
        task.title,
        word.to_uppercase()
    )
}

fn with_notes(words: String, task: &Task, reader: Mode) -> String {
    if task.recent_notes.is_empty() { words } else { format!("{words}\n\n{}", notes(task, reader)) }
}

fn notes(task: &Task, reader: Mode) -> String {
    let line = |note: &Note| match Passing::of_note(task, note, reader) {
        Passing::Whole | Passing::Untrusted => format!("- {}", note.content),
        Passing::LeftOut => format!("- (left out: {} may do less than you, and a person can read it)", note.by),
    };
    let lines: Vec<String> = task.recent_notes.iter().map(line).collect();
    format!("Recent notes:\n{}", lines.join("\n"))
}
