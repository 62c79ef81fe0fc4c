//! The tree of threads as lines: a mark, a name, a goal, what it does or did, how long, how many tokens, what it cost.
//!
//! The columns of a tree are aligned over all its lines. A narrow terminal loses money and tokens first, then the time; branches and words
//! become shorter there, so that each row still has a name, what the agent does, and the beginning of its goal. Where there are more threads than lines, those that ended are folded before those that
//! run, and a thread that waits for a person is shown before all others.

use std::sync::Arc;

use agent::{Outcome, State, ThreadId, Time};

use super::columns::{cut, cut_start, width};
use super::style::{Colour, Line, Style};
use super::{cost, tokens};
use crate::{LastWords, Node, Retry, clock, safe};

/// The narrowest and the widest tree.
const WIDTHS: (usize, usize) = (30, 200);
/// The blanks between two columns.
const GAP: usize = 2;
/// A column of words that gets less room than this is left out.
const LEAST_WORDS: usize = 8;
/// The room that what an agent does, and its goal, have before tokens and money get any: agents often have the same name.
const ACTIVITY: usize = 22;
const LEAST_GOAL: usize = 10;
/// Where what an agent does and what it was asked would have less room each, the first takes what it needs.
const LEAST_BESIDE: usize = 16;
/// In a narrow tree: less than this for each of them and the time is left out, less than that and the goal is.
const LEAST_NARROW: (usize, usize) = (12, 8);
/// Words that are longer than any terminal are cut before they are measured.
const MAX_WORDS: usize = 200;

/// How a tree is drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions {
    /// The moment that running times are counted to.
    pub now: Time,
    /// Columns of the terminal; taken as 30 where it is less, as 200 where it is more.
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

/// The trees as lines, without their ends: all threads, but those that wait in line share one.
pub fn tree(roots: &[Node], options: &DrawOptions) -> Vec<String> {
    tree_lines(roots, &LastWords::default(), options, usize::MAX).iter().map(Line::text).collect()
}

/// The trees in at most `most` lines, and at least two, with colours and the words that agents say at this moment.
pub fn tree_lines(roots: &[Node], words: &LastWords, options: &DrawOptions, most: usize) -> Vec<Line> {
    tree_rows(roots, words, options, most, None).into_iter().map(|row| row.line).collect()
}

/// A line of a tree, and the thread that it is about; none where several share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// The line.
    pub line: Line,
    /// The thread.
    pub thread: Option<ThreadId>,
}

/// The same, each line with its thread. One thread can be named that is drawn in any case.
pub fn tree_rows(
    roots: &[Node],
    words: &LastWords,
    options: &DrawOptions,
    most: usize,
    wanted: Option<&ThreadId>,
) -> Vec<TreeRow> {
    let branches = folded(roots, most.max(2), options.marks, wanted);
    let kept = chosen(&branches, most.max(2), wanted);
    let room = options.width.clamp(WIDTHS.0, WIDTHS.1);
    let (rows, columns) = {
        let rows = rows(&branches, &kept, words, options, Shape::Wide);
        let columns = Columns::fit(&rows, room);
        let has_goals = rows.iter().any(|row| !row.goal.is_empty());
        let narrow = (columns.goal == 0 && has_goals).then(|| {
            let rows = self::rows(&branches, &kept, words, options, Shape::Narrow);
            Columns::fit_narrow(&rows, room).map(|columns| (rows, columns))
        });
        narrow.flatten().unwrap_or((rows, columns))
    };
    rows.into_iter().map(|row| TreeRow { line: columns.line(&row, options.marks), thread: row.thread }).collect()
}

/// A thread in its place, or several that share one.
struct Branch<'a> {
    /// The place of its parent among the branches, which comes before it.
    parent: Option<usize>,
    what: What<'a>,
}

enum What<'a> {
    Thread(&'a Node),
    Several { mark: char, words: String },
}

/// How much room words and branches take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Wide,
    Narrow,
}

/// How much is folded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Folding {
    /// Those that wait in line.
    Queued,
    /// And what is below a thread that ended.
    BelowEnded,
    /// And threads that completed beside others.
    Completed,
}

/// The threads in the order in which they are drawn, folded no more than is needed.
fn folded<'a>(roots: &'a [Node], most: usize, marks: Marks, wanted: Option<&ThreadId>) -> Vec<Branch<'a>> {
    let grown = |folding: Folding| {
        let mut branches = Vec::new();
        roots.iter().for_each(|root| grow(root, None, folding, marks, &mut branches));
        branches
    };
    [Folding::Queued, Folding::BelowEnded]
        .into_iter()
        .map(grown)
        .find(|branches| branches.len() <= most)
        // One that is folded away could not be drawn.
        .unwrap_or_else(|| grown(if wanted.is_some() { Folding::Queued } else { Folding::Completed }))
}

fn grow<'a>(node: &'a Node, parent: Option<usize>, folding: Folding, marks: Marks, branches: &mut Vec<Branch<'a>>) {
    let own = branches.len();
    branches.push(Branch { parent, what: What::Thread(node) });
    if folding >= Folding::BelowEnded && node.outcome.is_some() && parent.is_some() {
        return;
    }
    let completed = |child: &&Node| folding == Folding::Completed && child.outcome == Some(Outcome::Completed);
    // Those that say nothing but that they wait, or that they are done, take one line where there are several.
    let several = |count: usize| if count > 1 { count } else { 0 };
    let queued = several(node.children.iter().filter(|child| child.queued).count());
    let done = several(node.children.iter().filter(completed).count());
    share(branches, own, done, (marks.of_outcome(Outcome::Completed), "done"));
    for child in &node.children {
        if !(queued > 0 && child.queued || done > 0 && completed(&child)) {
            grow(child, Some(own), folding, marks, branches);
        }
    }
    share(branches, own, queued, (marks.queued(), "queued"));
}

/// One branch for several children, if there are any.
fn share(branches: &mut Vec<Branch<'_>>, parent: usize, count: usize, (mark, word): (char, &str)) {
    if count > 0 {
        branches.push(Branch { parent: Some(parent), what: What::Several { mark, words: format!("{count} {word}") } });
    }
}

/// Which branches are drawn. One line is left for the number of the others, and no branch is drawn without its parent.
fn chosen(branches: &[Branch<'_>], most: usize, wanted: Option<&ThreadId>) -> Vec<bool> {
    if branches.len() <= most {
        return vec![true; branches.len()];
    }
    let mut kept = vec![false; branches.len()];
    let mut room = most - 1;
    let needs_a_person = |branch: &Branch<'_>| match &branch.what {
        What::Thread(node) => node.outcome.is_none() && node.state == State::WaitingForUser,
        What::Several { .. } => false,
    };
    let is_wanted = |branch: &Branch<'_>| match &branch.what {
        What::Thread(node) => Some(&node.id) == wanted,
        What::Several { .. } => false,
    };
    let first = (0..branches.len()).filter(|nth| is_wanted(&branches[*nth]));
    let asking = (0..branches.len()).filter(|nth| needs_a_person(&branches[*nth]));
    // Around the one that is wanted, so that its neighbours can be seen.
    let around = first.clone().flat_map(|nth| [nth.saturating_sub(1), (nth + 1).min(branches.len() - 1)]);
    for nth in first.clone().chain(asking).chain(around).chain(0..branches.len()) {
        let ancestors = std::iter::successors(Some(nth), |nth| branches[*nth].parent);
        let missing: Vec<usize> = ancestors.take_while(|nth| !kept[*nth]).collect();
        if missing.len() <= room {
            room -= missing.len();
            missing.into_iter().for_each(|nth| kept[nth] = true);
        }
        if room == 0 {
            break;
        }
    }
    kept
}

fn rows(branches: &[Branch<'_>], kept: &[bool], words: &LastWords, options: &DrawOptions, shape: Shape) -> Vec<Row> {
    let (fork, end, pipe, blank) = match (options.marks, shape) {
        (Marks::Unicode, Shape::Wide) => ("├─ ", "└─ ", "│  ", "   "),
        (Marks::Ascii, Shape::Wide) => ("|- ", "`- ", "|  ", "   "),
        (Marks::Unicode, Shape::Narrow) => ("├ ", "└ ", "│ ", "  "),
        (Marks::Ascii, Shape::Narrow) => ("| ", "` ", "| ", "  "),
    };
    // The last child that is drawn of each branch.
    let mut last = vec![None; branches.len()];
    for (nth, branch) in branches.iter().enumerate().filter(|(nth, _)| kept[*nth]) {
        if let Some(parent) = branch.parent {
            last[parent] = Some(nth);
        }
    }
    let mut trunks = vec![String::new(); branches.len()];
    let mut rows = Vec::new();
    for (nth, branch) in branches.iter().enumerate().filter(|(nth, _)| kept[*nth]) {
        let mut lead = String::new();
        if let Some(parent) = branch.parent {
            let (own, below) = if last[parent] == Some(nth) { (end, blank) } else { (fork, pipe) };
            lead = format!("{}{own}", trunks[parent]);
            trunks[nth] = format!("{}{below}", trunks[parent]);
        }
        rows.push(match &branch.what {
            What::Thread(node) => Row::of(node, lead, words, options, shape),
            What::Several { mark, words } => {
                Row { branches: lead, mark: *mark, name: words.clone(), look: Style::DIM, ..Row::default() }
            }
        });
    }
    match kept.iter().filter(|is_kept| !**is_kept).count() {
        0 => {}
        more => rows.push(Row { mark: options.marks.cut(), name: format!("{more} more"), ..Row::default() }),
    }
    rows
}

/// One line, before it is known how wide its columns are.
#[derive(Default)]
struct Row {
    thread: Option<ThreadId>,
    branches: String,
    mark: char,
    name: String,
    /// How mark and activity look.
    look: Style,
    goal: String,
    activity: Activity,
    elapsed: String,
    tokens: String,
    cost: String,
}

/// What a thread does, or how it ended.
#[derive(Default)]
struct Activity {
    words: String,
    /// What is produced at this moment: its end says most.
    newest: String,
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

impl Row {
    fn of(node: &Node, branches: String, said: &LastWords, options: &DrawOptions, shape: Shape) -> Self {
        let usage = &node.usage;
        Self {
            thread: Some(node.id.clone()),
            branches,
            mark: options.marks.of(node),
            name: words(&node.name),
            look: look(node),
            goal: node.goal.as_ref().map(words).unwrap_or_default(),
            activity: activity(node, said, options.now, shape),
            elapsed: node.elapsed_ms(options.now).map(clock::duration).unwrap_or_default(),
            tokens: tokens(&usage.own, &usage.tree),
            cost: cost(&usage.tree, node.priced),
        }
    }

    fn lead(&self) -> Line {
        let mut lead = Line::new(self.branches.clone(), Style::DIM);
        lead.push(self.mark.to_string(), self.look);
        lead.push(" ", Style::PLAIN);
        lead.push(self.name.clone(), if self.goal.is_empty() { self.look } else { Style::BOLD });
        lead
    }
}

impl Activity {
    fn said(words: impl Into<String>) -> Self {
        Self { words: words.into(), newest: String::new() }
    }

    fn width(&self) -> usize {
        width(&self.words) + width(&self.newest) + usize::from(!self.newest.is_empty())
    }

    /// In at most so many columns. What is newest stays in view where it can.
    fn fit(&self, columns: usize, mark: char) -> String {
        let room = columns.saturating_sub(width(&self.words) + 1);
        if self.newest.is_empty() || room < LEAST_WORDS {
            return cut(&self.words, columns, mark);
        }
        format!("{} {}", self.words, cut_start(&self.newest, room, mark))
    }
}

impl Columns {
    fn fit(rows: &[Row], room: usize) -> Self {
        let widest = |column: fn(&Row) -> &String| rows.iter().map(|row| width(column(row))).max().unwrap_or(0);
        let lead = rows.iter().map(|row| row.lead().width()).max().unwrap_or(0).min((room / 3).max(16));
        let wanted = rows.iter().map(|row| row.activity.width()).max().unwrap_or(0);
        let mut room = Room(room - lead);
        let elapsed = room.take(widest(|row| &row.elapsed));
        let kept = wanted.min(ACTIVITY);
        let goal = widest(|row| &row.goal);
        let words = kept + if goal > 0 { GAP + goal.min(LEAST_GOAL) } else { 0 };
        let tokens = room.take_beside(widest(|row| &row.tokens), words);
        let cost = room.take_beside(widest(|row| &row.cost), words);
        // What an agent does matters more than what it was asked, but it may not have more than half where both have a use.
        let half = room.0.saturating_sub(2 * GAP) / 2;
        let spared = if half < LEAST_BESIDE { 0 } else { (goal + GAP).min(half + GAP) };
        let most = room.0.saturating_sub(GAP);
        let activity = room.take_words(wanted, most.saturating_sub(spared).max(kept).min(most));
        let goal = room.take_words(goal, room.0.saturating_sub(GAP));
        Self { lead, goal, activity, elapsed, tokens, cost }
    }

    /// The same where the goal would get no room: what an agent does and what it was asked share what there is. None where that is too
    /// little for both.
    fn fit_narrow(rows: &[Row], room: usize) -> Option<Self> {
        let widest = |width: fn(&Row) -> usize| rows.iter().map(width).max().unwrap_or(0);
        let lead = widest(|row| row.lead().width()).min((room / 3).max(16));
        let room = room.checked_sub(lead + 2 * GAP)?;
        let elapsed = widest(|row| width(&row.elapsed));
        let elapsed = if room >= 2 * LEAST_NARROW.0 + elapsed + GAP { elapsed } else { 0 };
        let room = if elapsed > 0 { room - elapsed - GAP } else { room };
        if room < 2 * LEAST_NARROW.1 {
            return None;
        }
        let (goal, activity) = (widest(|row| width(&row.goal)), widest(|row| row.activity.width()));
        let goal = goal.min(room.saturating_sub(activity).max(room / 2));
        Some(Self { lead, goal, activity: activity.min(room - goal), elapsed, tokens: 0, cost: 0 })
    }

    fn line(&self, row: &Row, marks: Marks) -> Line {
        let mark = marks.cut();
        let activity = Line::new(row.activity.fit(self.activity, mark), row.look);
        let left = [
            (row.lead().cut(self.lead, mark), self.lead),
            (Line::new(cut(&row.goal, self.goal, mark), Style::PLAIN), self.goal),
            (activity, self.activity),
        ];
        let right = [(&row.elapsed, self.elapsed), (&row.tokens, self.tokens)];
        let mut line = Line::default();
        let mut free = 0;
        for (cell, columns) in left.into_iter().filter(|(_, columns)| *columns > 0) {
            let wide = cell.width();
            for span in cell.spans {
                line.push(" ".repeat(std::mem::take(&mut free)), Style::PLAIN);
                line.push(span.text, span.style);
            }
            free += columns - wide + GAP;
        }
        for (text, columns) in right.into_iter().filter(|(_, columns)| *columns > 0) {
            let before = columns - width(text);
            if !text.is_empty() {
                line.push(" ".repeat(free + before), Style::PLAIN);
                line.push(text.clone(), Style::DIM);
                free = 0;
            } else {
                free += columns;
            }
            free += GAP;
        }
        if self.cost > 0 && !row.cost.is_empty() {
            line.push(" ".repeat(free), Style::PLAIN);
            line.push(row.cost.clone(), Style::DIM);
        }
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

    /// Room for a column as wide as it is, where so much is left for another one.
    fn take_beside(&mut self, wanted: usize, kept: usize) -> usize {
        let kept = if kept > 0 { kept + GAP } else { 0 };
        if wanted + GAP + kept > self.0 { 0 } else { self.take(wanted) }
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
            Some(outcome) => return self.of_outcome(outcome),
            None if node.queued => return self.queued(),
            None if node.stalled => ('◌', 's'),
            None if node.state == State::WaitingForUser => ('⚑', '!'),
            None if node.state == State::Idle => ('○', 'o'),
            None => ('●', '*'),
        };
        self.choose(unicode, ascii)
    }

    fn of_outcome(self, outcome: Outcome) -> char {
        let (unicode, ascii) = match outcome {
            Outcome::Completed => ('✓', '+'),
            Outcome::BudgetExceeded => ('◐', '%'),
            Outcome::NoOutput => ('∅', '0'),
            Outcome::Timeout => ('◷', 't'),
            Outcome::Refused => ('⊘', '-'),
            Outcome::Cancelled => ('■', '#'),
            Outcome::Interrupted => ('↯', '?'),
            Outcome::Error => ('✗', 'x'),
        };
        self.choose(unicode, ascii)
    }

    fn choose(self, unicode: char, ascii: char) -> char {
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

fn activity(node: &Node, said: &LastWords, now: Time, shape: Shape) -> Activity {
    let tools = match node.usage.own.tool_calls {
        0 => String::new(),
        1 => "1 tool".to_owned(),
        many => format!("{many} tools"),
    };
    // Its end is what is newest.
    let end_of = |text: &str| text.char_indices().rev().nth(MAX_WORDS).map_or(0, |(at, _)| at);
    let newest = said.of(&node.id).map(|newest| safe::line(&newest[end_of(newest)..], usize::MAX));
    match (node.outcome, &node.reason) {
        (Some(Outcome::Completed), _) => Activity::said(tools),
        (Some(outcome), Some(reason)) => Activity::said(format!("{outcome}: {}", words(reason))),
        (Some(outcome), None) => Activity::said(outcome.to_string()),
        (None, _) if node.queued => Activity::said("queued"),
        (None, _) if node.stalled => {
            let waiting_for = node.waiting_for.as_ref().map(words).unwrap_or_default();
            Activity::said(format!("stalled: waiting for {waiting_for}"))
        }
        (None, _) => match (node.state, &node.last_tool, &node.waiting_for) {
            (State::WaitingForTool, Some(tool), _) => {
                let argument = tool.argument.as_ref().map(|argument| format!(" \"{argument}\"")).unwrap_or_default();
                Activity { words: format!("{}{argument}", words(&tool.name)), newest: newest.unwrap_or_default() }
            }
            (State::Idle | State::Initializing | State::Error, _, _) => Activity::said(node.state.to_string()),
            (_, _, Some(waiting_for)) => match (&node.retry, newest) {
                (Some(retry), _) => Activity::said(trying_again(retry, now)),
                (None, Some(newest)) => Activity { words: said.verb(&node.id).to_owned(), newest },
                (None, None) if shape == Shape::Narrow => {
                    let what = waiting_for.trim_start_matches("the ").trim_start_matches("a ");
                    Activity::said(format!("for {}", safe::line(what, MAX_WORDS)))
                }
                (None, None) => Activity::said(format!("waiting for {}", words(waiting_for))),
            },
            (_, _, None) => Activity::said(node.state.to_string()),
        },
    }
}

/// A request that failed and is sent again: one line, which counts.
fn trying_again(retry: &Retry, now: Time) -> String {
    let (number, kind) = (retry.attempt, retry.kind);
    match retry.at.since_ms(now) {
        0 => format!("retry {number}: {kind}"),
        wait => format!("retry {number} in {}: {kind}", clock::duration(wait)),
    }
}

/// How a thread stands out: failures, what needs attention, what runs. Its mark and its words say the same.
fn look(node: &Node) -> Style {
    match node.outcome {
        Some(Outcome::Completed) => Style::of(Colour::Green),
        Some(Outcome::Cancelled | Outcome::BudgetExceeded) => Style::of(Colour::Yellow),
        Some(_) => Style::of(Colour::Red),
        None if node.queued => Style::DIM,
        None if node.stalled || node.retry.is_some() || node.state == State::WaitingForUser => {
            Style::of(Colour::Yellow)
        }
        None => Style::of(Colour::Blue),
    }
}

fn words(text: &Arc<str>) -> String {
    safe::line(text, MAX_WORDS)
}
