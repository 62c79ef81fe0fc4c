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
/// Rows of the screen that the sentence about a call may take: the call itself follows.
const EFFECT: usize = 3;

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
    let plain = |shown: Vec<String>| shown.into_iter().map(|line| Line::new(line, Style::PLAIN)).collect::<Vec<_>>();
    let as_it_stands = open.change.as_deref().unwrap_or_default();
    let (first, then, how) = match (stage, &question.question) {
        (Some(Stage::Edited(input)), _) => {
            (plain(question::input(input, question::Depth::Whole)), [].as_slice(), "Esc goes back")
        }
        (_, Some(asked)) => (plain(question::asked(asked)), [].as_slice(), "majordomo approve show prints all"),
        (_, None) => {
            tail.extend(covers(question).iter().flat_map(|line| change::broken(line, columns)).take(room / 2));
            (about(open, EFFECT * columns), as_it_stands, "? prints all")
        }
    };
    lines.extend(fitted(&first, then, columns, room - tail.len(), how));
    lines.extend(tail);
    lines.extend(answers);
    lines
}

/// Lines of two parts, broken to the columns of the screen. Of more than fit the middle is left out and counted: what is decided on is seen to its end.
fn fitted(first: &[Line], then: &[Line], columns: usize, room: usize, how: &str) -> Vec<Line> {
    let mut shown: Vec<Line> = Vec::new();
    // There may be very many of them: those in the middle are not looked at.
    let mut rest = first.iter().chain(then);
    while shown.len() <= room
        && let Some(line) = rest.next()
    {
        shown.extend(change::broken(line, columns));
    }
    if shown.len() <= room {
        return shown;
    }
    let last = (room / 3).max(1);
    let mut end: Vec<Line> = Vec::new();
    while end.len() < last
        && let Some(line) = rest.next_back()
    {
        end.splice(0..0, change::broken(line, columns));
    }
    shown.extend(end);
    let behind = shown.len() - last;
    let left_out = behind - (room - 1 - last) + rest.count();
    let mark = Line::new(format!("  … {left_out} more lines ({how}) …"), Style::DIM).cut(columns, '…');
    shown.splice(room - 1 - last..behind, [mark]);
    shown
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

/// What a call would do, in words of at most so many characters. How it stands follows, where that is known.
fn about(open: &Open, most: usize) -> Vec<Line> {
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
    what.push(format!(": {}", safe::ends(&question.effect, most)), Style::PLAIN);
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
    if open.change.is_none() {
        lines.push(Line::new("  reading what it would change …", Style::DIM));
    }
    lines
}

/// All of a question, for the scrollback: what the panel shows, why it is asked and where, and the arguments character by character.
pub fn whole(open: &Open, columns: usize) -> Vec<Line> {
    let question = &open.question;
    let mut lines =
        vec![Line::default(), Line::new(format!("approval {}: {}", question.id, path(question)), Style::BOLD)];
    lines.extend(about(open, usize::MAX));
    lines.extend(open.change.iter().flat_map(|change| change.iter().cloned()));
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

    // T24
    #[test]
    fn what_is_decided_on_is_seen_to_its_end_however_long_it_is() {
        let texts = |body: &[Line], room| {
            fitted(&body[..1], &body[1..], 40, room, "? prints all").iter().map(Line::text).collect::<Vec<_>>()
        };
        let command = Line::new(format!("  $ ls {}; rm -rf /", "abcdefghi ".repeat(100)), Style::PLAIN);
        let shown = texts(std::slice::from_ref(&command), 6);
        assert_eq!(shown.len(), 6);
        assert!(shown[0].starts_with("  $ ls abc") && shown[5].ends_with("; rm -rf /"), "{shown:?}");
        let all = change::broken(&command, 40).len();
        assert_eq!(shown[3], format!("  … {} more lines (? prints all) …", all - 5));
        let many: Vec<Line> = (0..10_000).map(|nth| Line::new(format!("+ line {nth}"), Style::PLAIN)).collect();
        let shown = texts(&many, 7);
        let wanted = ["+ line 0", "+ line 1", "+ line 2", "+ line 3", "  … 9994 more lines (? prints all) …"];
        assert_eq!(shown, [wanted.as_slice(), &["+ line 9998", "+ line 9999"]].concat());
        assert_eq!(texts(&many[..7], 7).len(), 7, "what fits is not cut");
        for room in 4..20 {
            for body in 1..30 {
                let shown = texts(&many[..body], room);
                assert_eq!(shown.len(), body.min(room));
                assert_eq!(shown.last(), Some(&format!("+ line {}", body - 1)));
            }
        }
    }

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
