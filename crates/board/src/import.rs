//! Tasks as people and programs write them: a draft, a Markdown checklist, lines of JSON.
//!
//! What a draft names (an assignee, a moment) is looked up by the caller. A list with one error is refused as a whole, with the line.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::{Checks, Json};
use serde::{Deserialize, Serialize};

use crate::command::{Dependency, NewTask};
use crate::id::TaskId;
use crate::refusal::Refusal;
use crate::task::{Budget, Priority};

/// A task as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Draft {
    /// A name by which others of the same list refer to it.
    pub id: Option<Arc<str>>,
    /// One line.
    pub title: Arc<str>,
    /// What is to be done; the title where it is empty.
    pub prompt: Arc<str>,
    /// `high`, `medium` or `low`.
    pub priority: Option<Arc<str>>,
    /// Who gets it: a thread, an agent, `human`, `new:provider/model`.
    pub assign: Option<Arc<str>>,
    /// What it comes after: tasks of the board, or of the same list by their `id` or their place from 0.
    pub after: Vec<Reference>,
    /// When it should be done.
    pub due: Option<Arc<str>>,
    /// Words by which tasks are chosen.
    pub labels: Vec<Arc<str>>,
    /// Commands that must succeed before it counts as completed.
    pub checks: Vec<Arc<str>>,
    /// JSON Schema that its result must fit.
    pub schema: Option<Json>,
    /// The most tool calls of its agent.
    pub max_tool_calls: Option<u32>,
    /// The most tokens of its agent.
    pub max_tokens: Option<u64>,
    /// The most that its agent may cost, in dollars, as a decimal number.
    pub max_cost: Option<serde_json::Number>,
    /// The most time of its agent, in seconds.
    pub timeout_s: Option<u64>,
}

/// What a draft comes after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reference {
    /// By its place in the same list, from 0.
    Place(usize),
    /// By its name.
    Name(Arc<str>),
}

/// A draft with the line in which it stands, from 1; 0 where it comes from no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line.
    pub number: usize,
    /// The draft.
    pub draft: Draft,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The tasks.
    pub lines: Vec<Line>,
    /// Items that were checked off and therefore left out.
    pub done: usize,
}

/// Reads a file: lines of JSON, if its first character that is no space begins an object, else a checklist.
pub fn read(text: &str) -> Result<List, Refusal> {
    if text.trim_start().starts_with('{') { json_lines(text) } else { checklist(text) }
}

/// The tasks that drafts stand for, their assignees and due moments left out: each draft keeps those for its caller.
pub fn tasks(lines: &[Line]) -> Result<Vec<NewTask>, Refusal> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, line) in lines.iter().enumerate() {
        if let Some(id) = &line.draft.id
            && names.insert(id, place).is_some()
        {
            return Err(at(line.number, Refusal::usage(format!("the id '{id}' stands for two tasks"))));
        }
    }
    let task = |(place, line): (usize, &Line)| {
        let task = task(place, &line.draft, &names, lines.len()).map_err(|refusal| at(line.number, refusal))?;
        Ok(NewTask { line: line.number, ..task })
    };
    lines.iter().enumerate().map(task).collect()
}

/// Says in which line it was.
pub fn at(line: usize, refusal: Refusal) -> Refusal {
    match line {
        0 => refusal,
        line => Refusal { message: format!("line {line}: {}", refusal.message).into(), ..refusal },
    }
}

fn task(place: usize, draft: &Draft, names: &BTreeMap<&str, usize>, many: usize) -> Result<NewTask, Refusal> {
    if draft.title.trim().is_empty() {
        return Err(Refusal::usage("a task needs a title"));
    }
    let mut after = Vec::with_capacity(draft.after.len());
    for reference in &draft.after {
        after.push(match reference {
            Reference::Place(other) if *other == place => return Err(itself()),
            Reference::Place(other) if *other < many => Dependency::New(*other),
            Reference::Place(other) => return Err(outside(*other, many)),
            Reference::Name(name) => match (place_of(name, names), TaskId::parse(name)) {
                (Some(other), _) if other == place => return Err(itself()),
                (Some(other), _) if other < many => Dependency::New(other),
                (Some(other), _) => return Err(outside(other, many)),
                (None, Some(task)) => Dependency::Task(task),
                (None, None) => {
                    return Err(Refusal::usage(format!(
                        "after: '{name}' is neither a task of the board, such as t3, nor the id of a task in the list"
                    )));
                }
            },
        });
    }
    let priority = draft.priority.as_deref().map_or(Ok(Priority::default()), priority)?;
    let cost = draft.max_cost.as_ref().map(microusd).transpose()?;
    Ok(NewTask {
        title: draft.title.clone(),
        prompt: draft.prompt.clone(),
        priority,
        assignee: None,
        after,
        due: None,
        labels: draft.labels.clone(),
        budget: Budget {
            max_tool_calls: draft.max_tool_calls,
            max_tokens: draft.max_tokens,
            max_cost_microusd: cost,
            timeout_ms: draft.timeout_s.map(|seconds| seconds.saturating_mul(1000)),
        },
        checks: Checks { commands: draft.checks.clone(), schema: draft.schema.clone() },
        foreign: false,
        mode: None,
        wakes: 0,
        line: 0,
    })
}

/// The place of a task that is named by its `id`, or by `#0` for the first of the list.
fn place_of(name: &str, names: &BTreeMap<&str, usize>) -> Option<usize> {
    names.get(name).copied().or_else(|| name.strip_prefix('#')?.parse().ok())
}

fn outside(place: usize, many: usize) -> Refusal {
    Refusal::usage(format!("after: there is no task {place} in a list of {many}, counted from 0"))
}

fn itself() -> Refusal {
    Refusal::usage("a task cannot come after itself")
}

/// The priority of that name.
pub fn priority(text: &str) -> Result<Priority, Refusal> {
    Priority::parse(text).ok_or_else(|| Refusal::usage(format!("'{text}' is no priority: it is high, medium or low")))
}

/// Millionths of a dollar.
pub fn microusd(dollars: &serde_json::Number) -> Result<u64, Refusal> {
    let dollars = dollars.as_f64().unwrap_or(-1.0);
    if !dollars.is_finite() || dollars <= 0.0 || dollars > 1e9 {
        return Err(Refusal::usage("max_cost is an amount of dollars above 0"));
    }
    Ok((dollars * 1e6).round() as u64)
}

fn json_lines(text: &str) -> Result<List, Refusal> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let draft: Draft = serde_json::from_str(line)
            .map_err(|error| at(number, Refusal::usage(format!("this is no task: {}", without_place(&error)))))?;
        lines.push(Line { number, draft });
    }
    Ok(List { lines, done: 0 })
}

/// What is wrong with a line of JSON; the place that serde names would be read as one of the whole file.
fn without_place(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let column = format!(" at line {} column {}", error.line(), error.column());
    match words.strip_suffix(&column) {
        Some(words) => format!("{words} (column {})", error.column()),
        None => words,
    }
}

/// An item that is open for those that are indented below it.
struct Open {
    indent: usize,
    /// Its place among the tasks; none for one that was checked off.
    place: Option<usize>,
}

/// Reads a Markdown checklist. An item waits for the items that are indented below it. At its end an item may have `@WHO`, `!PRIORITY` and
/// `#LABEL`; text that is indented below it is its prompt. Items that are checked off are left out.
fn checklist(text: &str) -> Result<List, Refusal> {
    let (mut lines, mut done): (Vec<Line>, usize) = (Vec::new(), 0);
    let mut open: Vec<Open> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let indent = line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 4 } else { 1 }).sum();
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        let Some(item) = item(words) else {
            // Words below an item belong to it; words of the page do not.
            let owner = open.iter().rev().find(|item| indent > item.indent);
            if let Some(place) = owner.and_then(|item| item.place) {
                let prompt = &mut lines[place].draft.prompt;
                *prompt = format!("{prompt}{}{words}", if prompt.is_empty() { "" } else { "\n" }).into();
            } else if indent == 0 {
                open.clear();
            }
            continue;
        };
        let (is_done, words) = item.map_err(|refusal| at(number, refusal))?;
        open.retain(|item| item.indent < indent);
        if is_done {
            done += 1;
            open.push(Open { indent, place: None });
            continue;
        }
        let draft = marked(words).map_err(|refusal| at(number, refusal))?;
        let place = lines.len();
        if let Some(parent) = open.last().and_then(|item| item.place) {
            lines[parent].draft.after.push(Reference::Place(place));
        }
        lines.push(Line { number, draft });
        open.push(Open { indent, place: Some(place) });
    }
    if lines.is_empty() && done == 0 {
        return Err(Refusal::usage("there is no task in it: write `- [ ] title` lines, or one JSON object a line"));
    }
    Ok(List { lines, done })
}

/// The words of a checklist's item and whether it is checked off; none where the line is no such item.
fn item(line: &str) -> Option<Result<(bool, &str), Refusal>> {
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            line[digits..].strip_prefix(['.', ')']).filter(|_| digits > 0)?
        }
    };
    let rest = rest.strip_prefix(' ')?.trim_start().strip_prefix('[')?;
    let (mark, words) = rest.split_once(']')?;
    // `[a link](address)` and the like are words.
    if !words.starts_with(' ') && !words.is_empty() {
        return None;
    }
    let words = words.trim();
    Some(match mark {
        _ if words.is_empty() => Err(Refusal::usage("a task needs a title")),
        " " | "" => Ok((false, words)),
        "x" | "X" => Ok((true, words)),
        other => Err(Refusal::usage(format!("'[{other}]' is neither open, [ ], nor checked off, [x]"))),
    })
}

/// Reads what stands at the end of an item.
fn marked(words: &str) -> Result<Draft, Refusal> {
    let mut draft = Draft::default();
    let mut title = words;
    loop {
        let (before, last) = match title.rsplit_once(char::is_whitespace) {
            Some((before, last)) => (before.trim_end(), last),
            None => ("", title),
        };
        match (last.chars().next(), &last[last.chars().next().map_or(0, char::len_utf8)..]) {
            (Some('@'), who) if !who.is_empty() => draft.assign = Some(who.into()),
            (Some('#'), label) if label.chars().next().is_some_and(char::is_alphabetic) => {
                draft.labels.insert(0, label.into());
            }
            (Some('!'), level) if !level.is_empty() => {
                priority(level)?;
                draft.priority = Some(level.into());
            }
            _ => break,
        }
        title = before;
    }
    if title.is_empty() {
        return Err(Refusal::usage("a task needs a title"));
    }
    draft.title = title.into();
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(list: &List) -> Vec<&str> {
        list.lines.iter().map(|line| &*line.draft.title).collect()
    }

    #[test]
    fn an_item_of_a_checklist_waits_for_those_indented_below_it() {
        let list = read(
            "# Plan\n\nSome words.\n\n- [ ] Release !high #ship\n  Say what changed.\n  In short.\n  - [ ] Build @new:ollama/llama3:8b\n  - [x] Agree\n    - [ ] Tell all\n  - [ ] Test\n1. [ ] See [docs](a)\n- not a task\n",
        )
        .unwrap();
        assert_eq!(titles(&list), ["Release", "Build", "Tell all", "Test", "See [docs](a)"]);
        assert_eq!(list.done, 1);
        let tasks = tasks(&list.lines).unwrap();
        assert_eq!(tasks[0].after, [Dependency::New(1), Dependency::New(3)]);
        assert_eq!((&*tasks[0].prompt, tasks[0].priority), ("Say what changed.\nIn short.", Priority::High));
        assert_eq!(tasks[0].labels, ["ship".into()]);
        assert_eq!(list.lines[1].draft.assign.as_deref(), Some("new:ollama/llama3:8b"));
        assert!(tasks[1..].iter().all(|task| task.after.is_empty()));
    }

    #[test]
    fn lines_of_json_refer_to_each_other_by_id_and_to_tasks_of_the_board() {
        let list = read(
            "{\"id\":\"a\",\"title\":\"One\"}\n\n{\"title\":\"Two\",\"after\":[\"a\",\"t7\"],\"checks\":[\"true\"],\"max_cost\":0.5}\n",
        )
        .unwrap();
        assert_eq!(list.lines[1].number, 3);
        let tasks = tasks(&list.lines).unwrap();
        assert_eq!(tasks[1].after, [Dependency::New(0), Dependency::Task(TaskId::of(7))]);
        assert_eq!(tasks[1].budget.max_cost_microusd, Some(500_000));
    }

    #[test]
    fn an_error_names_its_line() {
        let mut text: String = (1..40).map(|n| format!("- [ ] task {n}\n")).collect();
        text.push_str("- [?] odd\n");
        assert_eq!(&*read(&text).unwrap_err().message, "line 40: '[?]' is neither open, [ ], nor checked off, [x]");
        let wrong = [
            ("- [ ] a !urgent", "line 1: 'urgent' is no priority: it is high, medium or low"),
            ("{\"title\":\"a\"}\n{\"titel\":\"b\"}", "line 2: this is no task: unknown field `titel`"),
            ("{\"title\":\"a\"}\n{\"title\":", "line 2: this is no task: EOF while parsing a value (column 9)"),
            ("nothing\n", "there is no task in it"),
            ("- [ ] @human", "line 1: a task needs a title"),
        ];
        for (text, message) in wrong {
            let refusal = read(text).unwrap_err();
            assert!(refusal.message.starts_with(message), "{}", refusal.message);
        }
        let wrong = [
            ("{\"title\":\"a\",\"after\":[\"b\"]}", "line 1: after: 'b' is neither"),
            ("{\"title\":\"a\",\"id\":\"x\",\"after\":[\"x\"]}", "line 1: a task cannot come after itself"),
            (
                "{\"title\":\"a\",\"id\":\"x\"}\n{\"title\":\"a\",\"id\":\"x\"}",
                "line 2: the id 'x' stands for two tasks",
            ),
            ("{\"title\":\"a\",\"after\":[9]}", "line 1: after: there is no task 9"),
        ];
        for (text, message) in wrong {
            let refusal = tasks(&read(text).unwrap().lines).unwrap_err();
            assert!(refusal.message.starts_with(message), "{}", refusal.message);
        }
    }
}
