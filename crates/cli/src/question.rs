//! How a question is shown to the person who answers it: who asks, what exactly, why, and what a yes would cover.
//!
//! Everything in it may have been written to deceive, so every word goes through `view::safe`, and the arguments are laid out
//! from their own text: what a parser would drop, reorder or merge is shown as it stands (T24, T25).

use agent::approval::{Approval, ApprovalId, ApprovalKind, Question};
use agent::{Json, Time};
use view::{clock, safe};

/// The longest piece of text that is shown in a short form. What is longer is shown by its beginning and its end.
const SHORT: usize = 1000;
/// The most lines of arguments in a short form, and how many of them are the last ones.
const SHORT_LINES: (usize, usize) = (24, 8);
/// The longest name or sentence around the arguments.
const WORDS: usize = 2000;

const UNTRUSTED: &str = "the agent has read untrusted text (mail, web or files from outside the workspace)";

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What fits a screen: of what is long the beginning and the end, with a count of what is left out between them.
    Short,
    /// All of it.
    Whole,
}

/// How a question is decided from another terminal.
pub fn how_to_decide(id: &ApprovalId, kind: ApprovalKind) -> String {
    match kind {
        ApprovalKind::Approval => format!("decide with: majordomo approve yes {id} (or show, or no)"),
        ApprovalKind::Question => format!("answer with: majordomo approve answer {id} TEXT (or show, or no)"),
    }
}

/// What an agent wants to know, as lines for a person.
pub fn asked(question: &Question) -> Vec<String> {
    let mut lines: Vec<String> = safe::block(&question.text).lines().map(|line| format!("  {line}")).collect();
    let choices = question.choices.iter().enumerate();
    lines.extend(choices.map(|(number, choice)| format!("  {}. {}", number + 1, safe::line(choice, SHORT))));
    lines
}

/// A question as lines for a person.
pub fn lines(question: &Approval, depth: Depth, now: Time) -> Vec<String> {
    let mut lines = question.question.as_ref().map(asked).unwrap_or_default();
    let mut say = |name: &str, words: String| lines.push(format!("  {name:<10} {words}"));
    say("agent", path(question));
    if question.question.is_some() {
        if question.foreign {
            say("warning", UNTRUSTED.to_owned());
        }
        say("folder", safe::line(&question.workspace, WORDS));
        say("expires", until(question, now));
        return lines;
    }
    say("tool", safe::line(&question.tool, WORDS));
    say("effect", safe::ends(&question.effect, WORDS));
    say("risk", question.risk.as_str().to_owned());
    for place in &question.protected {
        say("protected", format!("changes {}", safe::line(place, WORDS)));
    }
    if question.foreign {
        say("warning", UNTRUSTED.to_owned());
    }
    say("reason", safe::line(&question.why, WORDS));
    say("folder", safe::line(&question.workspace, WORDS));
    say("expires", until(question, now));
    say("always", standing(question));
    say("input", format!("{} characters:", question.input.text().chars().count()));
    lines.extend(input(&question.input, depth));
    if depth == Depth::Whole {
        lines.push(format!("  {:<10} {}", "digest", safe::line(&question.digest, WORDS)));
    }
    lines
}

/// The names of the agents from the root to the one that asks.
pub fn path(question: &Approval) -> String {
    question.path.iter().map(|name| safe::line(name, 80)).collect::<Vec<_>>().join(" › ")
}

/// Arguments as indented lines, character by character as they stand, with everything invisible shown.
pub fn input(input: &Json, depth: Depth) -> Vec<String> {
    let most = match depth {
        Depth::Short => SHORT,
        Depth::Whole => usize::MAX,
    };
    let mut lines: Vec<String> = Vec::new();
    for (level, words) in layout(input.text()) {
        lines.push(format!("    {}{}", "  ".repeat(level), safe::ends(&words, most)));
    }
    let (most, last) = SHORT_LINES;
    if depth == Depth::Short && lines.len() > most {
        let left_out = lines.len() - most;
        lines.splice(most - last..lines.len() - last, [format!("    … {left_out} more lines …")]);
    }
    lines
}

/// Valid JSON text broken into lines, each with its depth. Only blanks between the values are left out.
fn layout(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let (mut level, mut line, mut is_text, mut is_escaped) = (0_usize, String::new(), false, false);
    let mut end = |level: usize, line: &mut String| {
        if !line.is_empty() {
            lines.push((level, std::mem::take(line)));
        }
    };
    for c in text.chars() {
        if is_text {
            line.push(c);
            is_text = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            continue;
        }
        match c {
            '{' | '[' => {
                line.push(c);
                end(level, &mut line);
                level += 1;
            }
            '}' | ']' => {
                end(level, &mut line);
                level = level.saturating_sub(1);
                line.push(c);
            }
            ',' => {
                line.push(c);
                end(level, &mut line);
            }
            ':' => line.push_str(": "),
            ' ' | '\t' | '\n' | '\r' => {}
            other => {
                line.push(other);
                is_text = other == '"';
            }
        }
    }
    end(level, &mut line);
    lines
}

fn until(question: &Approval, now: Time) -> String {
    let at = question.expires_at;
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    let moment = moment.to_zoned(majordomo::zone::local()).strftime("%Y-%m-%d %H:%M");
    if at <= now {
        format!("{moment} (expired)")
    } else {
        let then = match question.kind() {
            ApprovalKind::Approval => "it counts as denied",
            ApprovalKind::Question => "the agent goes on without an answer",
        };
        format!("{moment}, in {}; then {then}", clock::duration(at.since_ms(now)))
    }
}

fn standing(question: &Approval) -> String {
    match &question.standing {
        Some(pattern) => format!(
            "would allow {} of '{}' from then on",
            safe::line(&question.tool, WORDS),
            safe::line(pattern, WORDS)
        ),
        None => "not offered for this call".to_owned(),
    }
}

#[cfg(test)]
mod tests;
