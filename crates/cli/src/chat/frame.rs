//! What is drawn below the conversation: the end of what the agent says, the tree, questions and lists, the composer, one status line.
//! It reads the state of the chat and `view`, and changes nothing.

use std::time::Instant;

use view::draw::columns::width;
use view::draw::{self, Colour, Line, Style};
use view::safe;

use super::app::{App, Keys};
use super::panel;
use crate::screen::{Cursor, Frame};

/// The most rows of the composer.
const COMPOSER: usize = 10;

/// The frame at this moment.
pub fn frame(app: &App, now: Instant) -> Frame {
    let (columns, rows) = (app.columns(), app.size.rows);
    let mut lines = Vec::new();
    let rest = app.rest();
    let shown = rest.len().min((rows / 3).max(2));
    if shown > 0 {
        lines.push(Line::default());
        lines.extend(rest[rest.len() - shown..].iter().map(|line| line.cut(columns, '…')));
    }
    let tree = tree(app);
    if !tree.is_empty() {
        lines.push(Line::default());
        lines.extend(tree);
    }
    for queued in &app.queue {
        let mut line = Line::new("  ⧗ ", Style::of(Colour::Yellow));
        line.push(safe::line(queued.message.text(), 400), Style::DIM);
        lines.push(line.cut(columns, '…'));
    }
    lines.push(rule(app, columns));
    lines.extend(panel(app, now));
    let top = lines.len();
    let (composer, cursor) = composer(app);
    lines.extend(composer);
    lines.push(status(app, columns));
    let mut cursor = Cursor { line: top + cursor.line, column: cursor.column };
    // What does not fit is left out from above: the composer is always there.
    let room = rows.saturating_sub(1).max(2);
    let extra = lines.len().saturating_sub(room);
    lines.drain(..extra);
    cursor.line = cursor.line.saturating_sub(extra);
    Frame { lines, cursor: Some(cursor) }
}

fn tree(app: &App) -> Vec<Line> {
    let selected = match &app.keys {
        Keys::Tree { selected } => Some(selected),
        _ => None,
    };
    let mut lines: Vec<Line> = Vec::new();
    for row in app.tree() {
        let is_selected = selected.is_some() && row.thread.as_ref() == selected;
        let is_focus = row.thread.is_some() && row.thread == app.focus && app.focus != app.root;
        let mark = if is_selected {
            "▸ "
        } else if is_focus {
            "» "
        } else {
            "  "
        };
        let mut line = Line::new(mark, Style { bold: true, ..Style::of(Colour::Cyan) });
        for span in &row.line.spans {
            let style = if is_selected { Style { bold: true, dim: false, ..span.style } } else { span.style };
            line.push(span.text.clone(), style);
        }
        lines.push(line.cut(app.columns(), '…'));
    }
    if selected.is_some() {
        lines.push(Line::new("  ↑↓ choose · Enter opens · x stops · Esc back", Style::DIM));
    }
    lines
}

/// The line above the composer; it says whose conversation is shown where that is not the root's.
fn rule(app: &App, columns: usize) -> Line {
    let mut line = Line::default();
    if app.focus != app.root {
        line.push("── ", Style::DIM);
        line.push(format!("{} ", app.path().join(" › ")), Style { bold: true, ..Style::of(Colour::Cyan) });
        line.push("(Backspace: parent) ", Style::DIM);
    }
    line.push("─".repeat(columns.saturating_sub(line.width())), Style::DIM);
    line.cut(columns, '…')
}

fn panel(app: &App, now: Instant) -> Vec<Line> {
    let (columns, most) = (app.columns(), (app.size.rows / 2).max(6));
    if let Some(completion) = &app.completion
        && matches!(app.keys, Keys::Writing)
    {
        let room = (app.size.rows / 3).max(3);
        let first = completion.selected.saturating_sub(room - 1);
        let offers = completion.offers.iter().enumerate().skip(first).take(room);
        return offers
            .map(|(nth, offer)| panel::row(&offer.word, &offer.detail, nth == completion.selected, columns))
            .collect();
    }
    match &app.keys {
        Keys::Menu(menu) => panel::menu(menu, columns, most),
        Keys::Confirm(confirm) => panel::confirm(confirm, columns),
        Keys::Deciding(deciding) => panel::question(app, Some(deciding), &deciding.open, true, most),
        Keys::Search { words, before } => {
            let found = app.history.find(words, *before).map_or_else(String::new, |(_, text)| safe::line(text, 400));
            let mut line = Line::new(format!("search: {words}"), Style::BOLD);
            line.push(format!("  {found}"), Style::of(Colour::Cyan));
            vec![line.cut(columns, '…'), Line::new("  Enter takes it · Ctrl-R an earlier one · Esc closes", Style::DIM)]
        }
        Keys::Writing | Keys::Tree { .. } => match app.front() {
            Some(open) => panel::question(app, None, open, app.is_armed(now), most),
            None => Vec::new(),
        },
    }
}

/// The composer, and where the cursor stands in it.
fn composer(app: &App) -> (Vec<Line>, Cursor) {
    let sign = match &app.keys {
        Keys::Deciding(deciding) if deciding.stage.is_written() => "answer › ",
        _ => "› ",
    };
    let lead = width(sign);
    let rows = app.composer.rows(app.columns().saturating_sub(lead).max(4));
    let most = COMPOSER.min((app.size.rows / 2).max(1));
    let first = (rows.cursor.0 + 1).saturating_sub(most);
    let mut lines = Vec::new();
    for (nth, row) in rows.rows.iter().enumerate().skip(first).take(most) {
        let mut line = Line::new(if nth == 0 { sign.to_owned() } else { " ".repeat(lead) }, Style::of(Colour::Cyan));
        line.push(safe::answer(row).replace('\t', " "), Style::PLAIN);
        lines.push(line);
    }
    if app.composer.is_empty() && matches!(app.keys, Keys::Writing) {
        let words = match (app.root.is_some(), app.is_focus_working()) {
            (_, true) => "a message for its next step · Tab queues · Esc interrupts",
            (true, false) => "reply",
            (false, false) => "ask anything · / commands · @ files",
        };
        lines[0].push(words, Style::DIM);
    }
    let cursor = Cursor { line: rows.cursor.0 - first, column: lead + rows.cursor.1 };
    let lines: Vec<Line> = lines.iter().map(|line| line.cut(app.columns(), '…')).collect();
    (lines, cursor)
}

/// One line: agent, model, mode, tokens of the agent and of its tree, money against the budget, approvals, queue.
fn status(app: &App, columns: usize) -> Line {
    if let Some((hint, _)) = &app.hint {
        return Line::new(format!("  {}", safe::line(hint, 400)), Style::of(Colour::Yellow)).cut(columns, '…');
    }
    let mut parts: Vec<(String, Style)> = Vec::new();
    let waiting = app.questions.len();
    if waiting > 0 {
        let plural = if waiting == 1 { "" } else { "s" };
        parts.push((format!("⚑ {waiting} approval{plural}"), Style::of(Colour::Yellow)));
    }
    let node = app.focus.as_ref().and_then(|focus| app.node(focus));
    let agent = node.map_or(app.staffed.agent.clone(), |node| safe::line(&node.name, 40));
    let model =
        node.and_then(|node| node.model.as_deref()).map_or(app.staffed.model.clone(), |model| safe::line(model, 60));
    if !app.is_ready {
        parts.push(("starting …".to_owned(), Style::DIM));
    }
    parts.push((agent, Style::DIM));
    if let Some(node) = node {
        let usage = &node.usage;
        let (own, tree) = (draw::count(usage.own.tokens.total()), draw::count(usage.tree.tokens.total()));
        let tokens = if own == tree { format!("{own} tokens") } else { format!("{own}/{tree} tokens") };
        let budget = app.budget_microusd().map(|most| format!("/{}", draw::money(most))).unwrap_or_default();
        parts.push((format!("{}{budget}", draw::cost(&usage.tree, node.priced)), Style::DIM));
        parts.push((tokens, Style::DIM));
    }
    parts.push((app.mode().to_owned(), Style::DIM));
    parts.push((model, Style::DIM));
    if !app.queue.is_empty() {
        parts.push((format!("{} queued", app.queue.len()), Style::of(Colour::Yellow)));
    }
    parts.push(("/help".to_owned(), Style::DIM));
    let mut line = Line::new("  ", Style::DIM);
    let mut is_first = true;
    for (words, style) in parts.into_iter().filter(|(words, _)| !words.is_empty()) {
        let gap = if is_first { "" } else { " · " };
        if line.width() + width(gap) + width(&words) > columns {
            continue;
        }
        line.push(gap, Style::DIM);
        line.push(words, style);
        is_first = false;
    }
    line
}
