//! The tree of threads as lines: a mark, a name, a goal, what it does or did, how long, how many tokens, what it cost.
//!
//! The columns of a tree are aligned over all its lines; a narrow terminal loses the goal first and the name last.

use std::sync::Arc;

use agent::{Outcome, State, Time};

use super::columns::{cut, left, right, width};
use super::{money, tokens};
use crate::{Node, clock, safe};

/// The narrowest and the widest tree.
const WIDTHS: (usize, usize) = (40, 200);
/// The blanks between two columns.
const GAP: usize = 2;
/// A column of words that gets less room than this is left out.
const LEAST_WORDS: usize = 8;
/// Words that are longer than any terminal are cut before they are measured.
const MAX_WORDS: usize = 200;

/// How a tree is drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions {
    /// The moment that running times are counted to.
    pub now: Time,
    /// Columns of the terminal; taken as 40 where it is less, as 200 where it is more.
    pub width: usize,
    /// What marks and branches are made of.
    pub marks: Marks,
}

/// What marks and branches are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Lines and signs.
    Unicode,
    /// Nothing that an old terminal could not show. Words that people wrote keep their letters.
    Ascii,
}

/// The trees as lines, without their ends.
pub fn tree(roots: &[Node], options: &DrawOptions) -> Vec<String> {
    let mut rows = Vec::new();
    for root in roots {
        rows.push(Row::of(root, "", options));
        branch(&root.children, "", options, &mut rows);
    }
    let columns = Columns::fit(&rows, options.width.clamp(WIDTHS.0, WIDTHS.1));
    rows.iter().map(|row| columns.line(row, options.marks)).collect()
}

/// One line, before it is known how wide its columns are.
struct Row {
    /// Branches, mark and name.
    lead: String,
    goal: String,
    activity: String,
    elapsed: String,
    tokens: String,
    cost: String,
}

/// How wide each column is; 0 leaves it out.
struct Columns {
    lead: usize,
    goal: usize,
    activity: usize,
    elapsed: usize,
    tokens: usize,
    cost: usize,
}

fn branch(children: &[Node], trunk: &str, options: &DrawOptions, rows: &mut Vec<Row>) {
    let waiting = children.iter().filter(|child| child.queued).count();
    // Those that wait in line say nothing but that they wait, so many of them take one line.
    let folded = if waiting > 1 { waiting } else { 0 };
    let shown: Vec<_> = children.iter().filter(|child| folded == 0 || !child.queued).collect();
    let (fork, end, pipe, blank) = match options.marks {
        Marks::Unicode => ("├─ ", "└─ ", "│  ", "   "),
        Marks::Ascii => ("|- ", "`- ", "|  ", "   "),
    };
    for (index, child) in shown.iter().enumerate() {
        let is_last = index + 1 == shown.len() && folded == 0;
        rows.push(Row::of(child, &format!("{trunk}{}", if is_last { end } else { fork }), options));
        branch(&child.children, &format!("{trunk}{}", if is_last { blank } else { pipe }), options, rows);
    }
    if folded > 0 {
        rows.push(Row { lead: format!("{trunk}{end}{} {folded} queued", options.marks.queued()), ..Row::empty() });
    }
}

impl Row {
    fn of(node: &Node, branches: &str, options: &DrawOptions) -> Self {
        let usage = &node.usage;
        Self {
            lead: format!("{branches}{} {}", options.marks.of(node), words(&node.name)),
            goal: node.goal.as_ref().map(words).unwrap_or_default(),
            activity: activity(node),
            elapsed: node.elapsed_ms(options.now).map(clock::duration).unwrap_or_default(),
            tokens: tokens(&usage.own, &usage.tree),
            cost: money(usage.tree.cost_microusd, node.priced),
        }
    }

    fn empty() -> Self {
        let nothing = String::new;
        Self {
            lead: nothing(),
            goal: nothing(),
            activity: nothing(),
            elapsed: nothing(),
            tokens: nothing(),
            cost: nothing(),
        }
    }
}

impl Columns {
    fn fit(rows: &[Row], room: usize) -> Self {
        let widest = |column: fn(&Row) -> &String| rows.iter().map(|row| width(column(row))).max().unwrap_or(0);
        let lead = widest(|row| &row.lead).min((room / 3).max(16));
        let mut room = Room(room - lead);
        let cost = room.take(widest(|row| &row.cost));
        let tokens = room.take(widest(|row| &row.tokens));
        let elapsed = room.take(widest(|row| &row.elapsed));
        // What an agent does matters more than what it was asked, but it may not have more than half.
        let half = room.0.saturating_sub(2 * GAP) / 2;
        let activity = room.take_words(widest(|row| &row.activity), half);
        let goal = room.take_words(widest(|row| &row.goal), room.0.saturating_sub(GAP));
        Self { lead, goal, activity, elapsed, tokens, cost }
    }

    fn line(&self, row: &Row, marks: Marks) -> String {
        let cut = |text: &str, columns: usize| cut(text, columns, marks.cut());
        let mut line = left(&cut(&row.lead, self.lead), self.lead);
        for (text, columns) in [(&row.goal, self.goal), (&row.activity, self.activity)] {
            if columns > 0 {
                line.push_str(&left("", GAP));
                line.push_str(&left(&cut(text, columns), columns));
            }
        }
        for (text, columns) in [(&row.elapsed, self.elapsed), (&row.tokens, self.tokens)] {
            if columns > 0 {
                line.push_str(&left("", GAP));
                line.push_str(&right(text, columns));
            }
        }
        if self.cost > 0 {
            line.push_str(&left("", GAP));
            line.push_str(&row.cost);
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// The columns that are still free.
struct Room(usize);

impl Room {
    /// Room for a column as wide as it is; nothing where it does not fit.
    fn take(&mut self, wanted: usize) -> usize {
        if wanted == 0 || wanted + GAP > self.0 {
            return 0;
        }
        self.0 -= wanted + GAP;
        wanted
    }

    /// Room for words, which may be cut; nothing where too little of them would be left.
    fn take_words(&mut self, wanted: usize, most: usize) -> usize {
        let given = wanted.min(most);
        if given < wanted && given < LEAST_WORDS { 0 } else { self.take(given) }
    }
}

impl Marks {
    /// One mark for each way in which a thread can be; the words beside it say the same.
    fn of(self, node: &Node) -> char {
        let (unicode, ascii) = match node.outcome {
            Some(Outcome::Completed) => ('✓', '+'),
            Some(Outcome::BudgetExceeded) => ('◐', '%'),
            Some(Outcome::NoOutput) => ('∅', '0'),
            Some(Outcome::Timeout) => ('◷', 't'),
            Some(Outcome::Refused) => ('⊘', '-'),
            Some(Outcome::Cancelled) => ('■', '#'),
            Some(Outcome::Interrupted) => ('↯', '?'),
            Some(Outcome::Error) => ('✗', 'x'),
            None if node.queued => return self.queued(),
            None if node.stalled => ('◌', 's'),
            None if node.state == State::WaitingForUser => ('⚑', '!'),
            None if node.state == State::Idle => ('○', 'o'),
            None => ('●', '*'),
        };
        match self {
            Marks::Unicode => unicode,
            Marks::Ascii => ascii,
        }
    }

    fn queued(self) -> char {
        match self {
            Marks::Unicode => '…',
            Marks::Ascii => '.',
        }
    }

    fn cut(self) -> char {
        match self {
            Marks::Unicode => '…',
            Marks::Ascii => '~',
        }
    }
}

/// What a thread does, or how it ended.
fn activity(node: &Node) -> String {
    let tools = match node.usage.own.tool_calls {
        0 => String::new(),
        1 => "1 tool".to_owned(),
        many => format!("{many} tools"),
    };
    match (node.outcome, &node.reason) {
        (Some(Outcome::Completed), _) => tools,
        (Some(outcome), Some(reason)) => format!("{outcome}: {}", words(reason)),
        (Some(outcome), None) => outcome.to_string(),
        (None, _) if node.queued => "queued".to_owned(),
        (None, _) if node.stalled => {
            format!("stalled: waiting for {}", node.waiting_for.as_ref().map(words).unwrap_or_default())
        }
        (None, _) => match (node.state, &node.last_tool, &node.waiting_for) {
            (State::WaitingForTool, Some(tool), _) => match &tool.argument {
                Some(argument) => format!("{} \"{argument}\"", words(&tool.name)),
                None => words(&tool.name),
            },
            (State::Idle | State::Initializing | State::Error, _, _) | (_, _, None) => node.state.to_string(),
            (_, _, Some(waiting_for)) => format!("waiting for {}", words(waiting_for)),
        },
    }
}

fn words(text: &Arc<str>) -> String {
    safe::line(text, MAX_WORDS)
}
