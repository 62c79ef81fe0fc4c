//! Panels above the composer: a question of an agent with what exactly it is about, lists, and questions of the program.

use agent::approval::Approval;
use serde_json::Value;
use tool::diff::{LineChange, changed_lines};
use view::draw::columns::cut;
use view::draw::{Colour, Line, Style};
use view::safe;

use super::app::{App, Confirm, Deciding, Menu, Stage};
use crate::question;

/// The longest line of a change or a command that is shown.
const WIDE: usize = 2000;
/// A file that is larger is not read to show what changes.
const LARGE: u64 = 1 << 20;
/// Lines around a change.
const AROUND: usize = 2;

/// The names of the agents from the root to the one that asks.
pub fn path(question: &Approval) -> String {
    question::path(question)
}

/// A question of an agent, in at most so many lines: who asks, what exactly, and which keys answer it.
pub fn question(app: &App, deciding: Option<&Deciding>, question: &Approval, is_armed: bool, most: usize) -> Vec<Line> {
    let columns = app.columns();
    let others = app.questions.len().saturating_sub(1);
    let more = if others == 0 { String::new() } else { format!(" · {others} more waiting") };
    let mut head = Line::new("⚑ ", Style::of(Colour::Yellow));
    let verb = if question.question.is_some() { "asks" } else { "needs your approval" };
    head.push(format!("{} {verb}", path(question)), Style::BOLD);
    head.push(more, Style::DIM);
    let mut lines = vec![head];
    let is_whole = deciding.is_some_and(|deciding| deciding.is_whole);
    let keys = keys(deciding.map(|deciding| &deciding.stage), question, is_armed, app.composer.is_empty());
    let room = most.saturating_sub(2).max(3);
    let mut body = match &question.question {
        Some(asked) => question::asked(asked).into_iter().map(|line| Line::new(line, Style::PLAIN)).collect(),
        None => about(question, columns, is_whole),
    };
    if let Some(Stage::Edited(input)) = deciding.map(|deciding| &deciding.stage) {
        let shown = question::input(input, question::Depth::Whole);
        body = shown.into_iter().map(|line| Line::new(line, Style::PLAIN)).collect();
    }
    if body.len() > room {
        let left_out = body.len() - (room - 1);
        body.truncate(room - 1);
        let how = if is_whole { "majordomo approve show prints all" } else { "? shows more" };
        body.push(Line::new(format!("  … {left_out} more lines ({how})"), Style::DIM));
    }
    lines.extend(body);
    lines.push(keys);
    lines.iter().map(|line| line.cut(columns, '…')).collect()
}

/// What a call would do.
fn about(question: &Approval, columns: usize, is_whole: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    let risk = question.risk.as_str();
    let style = match risk {
        "low" => Style::PLAIN,
        "medium" => Style::of(Colour::Yellow),
        _ => Style { bold: true, ..Style::of(Colour::Red) },
    };
    let mut what = Line::new(format!("  {} ", safe::line(&question.tool, 80)), Style::BOLD);
    what.push(format!("{risk} risk"), style);
    what.push(format!(": {}", safe::line(&question.effect, WIDE)), Style::PLAIN);
    lines.push(what);
    let mut say = |name: &str, words: &str, style: Style| {
        lines.push(Line::new(format!("  {name}: {}", safe::line(words, WIDE)), style));
    };
    for place in &question.protected {
        say("changes a protected file", place, Style::of(Colour::Red));
    }
    if question.foreign {
        say("warning", "the agent has read untrusted text", Style::of(Colour::Red));
    }
    if is_whole {
        say("why it is asked", &question.why, Style::DIM);
        say("folder", &question.workspace, Style::DIM);
    }
    lines.extend(change(question, columns, usize::MAX));
    if let Some(pattern) = &question.standing {
        let words = format!("  always would allow {} of '{}'", question.tool, safe::line(pattern, WIDE));
        lines.push(Line::new(words, Style::DIM));
    }
    lines
}

/// What exactly would be done: a change of a file as a difference, a command as it stands, anything else as its arguments.
pub fn change(question: &Approval, columns: usize, most: usize) -> Vec<Line> {
    let input = question.input.value();
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let path = text("path").or_else(|| text("file_path"));
    let lines = match (&*question.tool, path) {
        ("run_command", _) if text("command").is_some() => command(text("command").unwrap_or_default()),
        ("edit_file", Some(_)) if text("old_text").or_else(|| text("old")).is_some() => {
            let old = text("old_text").or_else(|| text("old")).unwrap_or_default();
            let new = text("new_text").or_else(|| text("new")).unwrap_or_default();
            difference(old, new)
        }
        ("write_file", Some(path)) if text("content").is_some() => {
            let file = std::path::Path::new(&*question.workspace).join(path);
            let is_small = std::fs::metadata(&file).is_ok_and(|found| found.is_file() && found.len() <= LARGE);
            let before = if is_small { std::fs::read_to_string(&file).unwrap_or_default() } else { String::new() };
            difference(&before, text("content").unwrap_or_default())
        }
        _ => {
            let shown = question::input(&question.input, question::Depth::Short);
            shown.into_iter().map(|line| Line::new(line, Style::PLAIN)).collect()
        }
    };
    lines.into_iter().take(most).map(|line| line.cut(columns, '…')).collect()
}

fn command(command: &str) -> Vec<Line> {
    let lines = command.lines().enumerate();
    lines
        .map(|(nth, line)| {
            let mut shown = Line::new(if nth == 0 { "  $ " } else { "    " }, Style::DIM);
            shown.push(safe::line(line, WIDE), Style::of(Colour::Cyan));
            shown
        })
        .collect()
}

/// Two texts as lines that go and lines that come.
fn difference(old: &str, new: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for (nth, place) in changed_lines(old, new, AROUND).into_iter().enumerate() {
        if nth > 0 {
            lines.push(Line::new("    …", Style::DIM));
        }
        for line in place {
            let (sign, style) = match line.change {
                LineChange::Removed => ("-", Style::of(Colour::Red)),
                LineChange::Added => ("+", Style::of(Colour::Green)),
                LineChange::Kept => (" ", Style::DIM),
            };
            let (number, words) = (line.number, safe::line(&line.text, WIDE));
            lines.push(Line::new(format!("  {number:>4} {sign} {words}"), style));
        }
    }
    lines
}

/// Which keys answer a question.
fn keys(stage: Option<&Stage>, question: &Approval, is_armed: bool, is_empty: bool) -> Line {
    let bold = Style { bold: true, ..Style::PLAIN };
    match stage {
        Some(Stage::Always) => Line::new("  Allow this from now on, in every conversation? y/n", bold),
        Some(Stage::Reason) => Line::new("  A reason for the agent, or nothing; Enter denies, Esc goes back", bold),
        Some(Stage::Edit) => Line::new("  Change the input below; Enter goes on, Esc goes back", bold),
        Some(Stage::Edited(_)) => Line::new("  Allow it once with this input? y/n", bold),
        Some(Stage::Answer) => {
            Line::new("  Your answer, or the number of a choice; an empty line lets the agent decide · Esc later", bold)
        }
        Some(Stage::Choose) => choices(question, bold),
        None if !is_empty => Line::new("  Ctrl-Y answers it; what you write is kept", Style::DIM),
        None if question.question.is_some() => {
            let words = "  Type your answer, or the number of a choice · Esc later";
            Line::new(words, if is_armed { bold } else { Style::DIM })
        }
        None => choices(question, if is_armed { bold } else { Style::DIM }),
    }
}

fn choices(question: &Approval, style: Style) -> Line {
    let more = if question.standing.is_some() { " · t thread · a always" } else { "" };
    Line::new(format!("  y once{more} · n deny · e edit · ? more · Esc later"), style)
}

/// A list to choose from.
pub fn menu(menu: &Menu, columns: usize, most: usize) -> Vec<Line> {
    let mut head = Line::new(menu.title.clone(), Style::BOLD);
    head.push(format!("  {}", menu.words), Style::of(Colour::Cyan));
    let mut lines = vec![head];
    let shown = menu.shown();
    let room = most.saturating_sub(2).max(2);
    let first = menu.selected.saturating_sub(room.saturating_sub(1));
    for (nth, item) in shown.iter().enumerate().skip(first).take(room) {
        lines.push(row(&item.label, &item.detail, nth == menu.selected, columns));
    }
    if shown.is_empty() {
        lines.push(Line::new("  nothing fits", Style::DIM));
    }
    let place = if shown.is_empty() { String::new() } else { format!("{} of {} · ", menu.selected + 1, shown.len()) };
    lines.push(Line::new(format!("  {place}type to narrow · Enter chooses · Esc closes"), Style::DIM));
    lines
}

/// A row of a list.
pub fn row(label: &str, detail: &str, is_selected: bool, columns: usize) -> Line {
    let (mark, style) =
        if is_selected { ("▸ ", Style { bold: true, ..Style::of(Colour::Cyan) }) } else { ("  ", Style::PLAIN) };
    let mut line = Line::new(mark, style);
    line.push(safe::line(label, WIDE), style);
    if !detail.is_empty() {
        line.push(format!("  {}", safe::line(detail, WIDE)), Style::DIM);
    }
    line.cut(columns, '…')
}

/// A question of the program.
pub fn confirm(confirm: &Confirm, columns: usize) -> Vec<Line> {
    let mut line = Line::new("? ", Style::of(Colour::Yellow));
    line.push(cut(&safe::line(&confirm.question, WIDE), columns.saturating_sub(10), '…'), Style::BOLD);
    line.push(" y/n", Style::DIM);
    vec![line]
}
