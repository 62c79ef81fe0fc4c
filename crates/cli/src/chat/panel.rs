//! Panels above the composer: a question of an agent with what exactly it is about, lists, and questions of the program.

use agent::approval::Approval;
use view::draw::columns::{cut, width};
use view::draw::{Colour, Line, Style};
use view::safe;

use super::app::{App, Confirm, Deciding, Menu, Open, Stage};
use super::change;
use crate::question;

/// The widest that names and sentences around a call are shown.
const WIDE: usize = 2000;

/// The names of the agents from the root to the one that asks.
pub fn path(question: &Approval) -> String {
    question::path(question)
}

/// A question of an agent, in at most so many lines: who asks, what exactly, and which keys answer it.
pub fn question(app: &App, deciding: Option<&Deciding>, open: &Open, is_armed: bool, most: usize) -> Vec<Line> {
    let columns = app.columns();
    let question = &open.question;
    let others = app.questions.iter().filter(|other| other.question.id != question.id).count();
    let more = if others == 0 { String::new() } else { format!(" · {others} more waiting") };
    let mut head = Line::new("⚑ ", Style::of(Colour::Yellow));
    let verb = if question.question.is_some() { "asks" } else { "needs your approval" };
    head.push(format!("{} {verb}", path(question)), Style::BOLD);
    head.push(more, Style::DIM);
    let mut lines = vec![head.cut(columns, '…')];
    let stage = deciding.map(|deciding| &deciding.stage);
    // Which keys answer must be seen whole, however narrow the screen is.
    let answers = at_gaps(&keys(stage, question, is_armed, app.composer.is_empty()), columns);
    let room = most.saturating_sub(1 + answers.len()).max(4);
    let mut tail: Vec<Line> = Vec::new();
    let plain = |shown: Vec<String>| shown.into_iter().map(|line| Line::new(line, Style::PLAIN)).collect();
    let (body, more, how) = match (stage, &question.question) {
        (Some(Stage::Edited(input)), _) => (plain(question::input(input, question::Depth::Whole)), 0, "Esc goes back"),
        (_, Some(asked)) => (plain(question::asked(asked)), 0, "majordomo approve show prints all"),
        (_, None) => {
            tail.extend(covers(question).iter().flat_map(|line| change::broken(line, columns)).take(room / 2));
            let (body, more) = about(open, room);
            (body, more, "? prints all")
        }
    };
    lines.extend(fitted(&body, more, columns, room - tail.len(), how));
    lines.extend(tail);
    lines.extend(answers);
    lines
}

/// Lines broken to the columns of the screen; how many do not fit is said, together with `more` that are not among them.
fn fitted(body: &[Line], more: usize, columns: usize, room: usize, how: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (nth, line) in body.iter().enumerate() {
        lines.extend(change::broken(line, columns));
        let waiting = body.len() - nth - 1 + more;
        if lines.len() > room || lines.len() == room && waiting > 0 {
            let left_out = lines.len() + waiting - (room - 1);
            lines.truncate(room - 1);
            lines.push(Line::new(format!("  … {left_out} more lines ({how})"), Style::DIM).cut(columns, '…'));
            break;
        }
    }
    lines
}

/// A line of one style as several of so many columns: parted between its pieces, and a piece that is too long between its words.
fn at_gaps(line: &Line, columns: usize) -> Vec<Line> {
    const GAP: &str = " · ";
    const INDENT: &str = "  ";
    let style = line.spans.first().map_or(Style::PLAIN, |span| span.style);
    let text = line.text();
    let mut rows: Vec<String> = Vec::new();
    let mut add = |piece: &str, gap: &str, is_first: bool| match rows.last_mut() {
        Some(row) if !is_first && width(row) + width(gap) + width(piece) <= columns => {
            row.push_str(gap);
            row.push_str(piece);
        }
        _ => rows.push(format!("{INDENT}{piece}")),
    };
    let mut is_first = true;
    for piece in text.trim_start().split(GAP) {
        if width(INDENT) + width(piece) <= columns {
            add(piece, GAP, is_first);
        } else {
            for (nth, word) in piece.split(' ').enumerate() {
                add(word, if nth == 0 { GAP } else { " " }, is_first && nth == 0);
            }
        }
        is_first = false;
    }
    rows.into_iter().map(|row| Line::new(row, style).cut(columns, '…')).collect()
}

/// What consent for more than once would cover.
fn covers(question: &Approval) -> Option<Line> {
    let pattern = question.standing.as_ref()?;
    let words = format!("  always would allow {} of '{}'", safe::line(&question.tool, 80), safe::line(pattern, WIDE));
    Some(Line::new(words, Style::DIM))
}

/// What a call would do, with at most so many lines of the change, and how many are not among them.
fn about(open: &Open, most: usize) -> (Vec<Line>, usize) {
    let question = &open.question;
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
    match &open.change {
        Some(change) => lines.extend(change.iter().take(most).cloned()),
        None => lines.push(Line::new("  reading what it would change …", Style::DIM)),
    }
    (lines, open.change.as_ref().map_or(0, |change| change.len().saturating_sub(most)))
}

/// All of a question, for the scrollback: what the panel shows, why it is asked and where, and the arguments character by character.
pub fn whole(open: &Open, columns: usize) -> Vec<Line> {
    let question = &open.question;
    let mut lines =
        vec![Line::default(), Line::new(format!("approval {}: {}", question.id, path(question)), Style::BOLD)];
    lines.extend(about(open, usize::MAX).0);
    lines.extend(covers(question));
    let say = |name: &str, words: &str| Line::new(format!("  {name}: {}", safe::line(words, WIDE)), Style::DIM);
    lines.push(say("why it is asked", &question.why));
    lines.push(say("folder", &question.workspace));
    let characters = question.input.text().chars().count();
    lines.push(Line::new(format!("  the arguments as they stand, {characters} characters:"), Style::BOLD));
    lines.extend(change::as_it_stands(question));
    lines.iter().flat_map(|line| change::broken(line, columns)).collect()
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
    Line::new(format!("  y once{more} · n deny · e edit · ? all · Esc later"), style)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_answer_are_seen_whole_on_a_narrow_screen() {
        let keys = Line::new("  y once · t thread · a always · n deny · e edit · ? all · Esc later", Style::BOLD);
        let texts = |columns| at_gaps(&keys, columns).iter().map(Line::text).collect::<Vec<_>>();
        assert_eq!(texts(80), [keys.text()]);
        assert_eq!(texts(40), ["  y once · t thread · a always · n deny", "  e edit · ? all · Esc later"]);
        let long = Line::new("  Your answer, or the number of a choice · Esc later", Style::PLAIN);
        let rows = at_gaps(&long, 20);
        assert!(rows.iter().all(|row| row.width() <= 20), "{rows:?}");
        assert_eq!(
            rows.iter().map(Line::text).collect::<String>().replace("  ", " "),
            " Your answer, or the number of a choice · Esc later"
        );
    }
}
