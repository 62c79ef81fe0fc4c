//! What must be so after a run has come to its end, whatever happened to it on the way.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use agent::approval::Resolution;
use agent::message::Part;
use agent::{CallId, Event, Outcome, Outside, Report, ThreadId};
use store::Record;
use testkit::world::{DatabaseContents, World, events};
use view::{Dialect, Lines, Logged};

use crate::runs::{EFFECTS, WRITTEN};

/// How everybody of a family ended: by the place in the family, and by the turn of one that was asked more, the outcome and the words.
pub type Ends = BTreeMap<String, (Outcome, String)>;

/// How everybody of a family ended.
pub fn ends(contents: &DatabaseContents, root: &ThreadId) -> Ends {
    let family = contents.rows.iter().filter(|row| row.root == *root);
    let ends = |id: &ThreadId| {
        let place = id.as_str()[root.as_str().len()..].to_owned();
        let turns = reports(contents, id).enumerate().map(move |(at, report)| {
            let turn = if at == 0 { place.clone() } else { format!("{place}, turn {}", at + 1) };
            (turn, (report.outcome, report.text.to_string()))
        });
        turns.collect::<Vec<_>>()
    };
    family.flat_map(|row| ends(&row.id)).collect()
}

/// The reports of a thread, in order.
fn reports<'a>(contents: &'a DatabaseContents, id: &ThreadId) -> impl Iterator<Item = &'a Report> {
    events(&contents.log, id).filter_map(|event| match event {
        Event::Reported(report) => Some(&**report),
        _ => None,
    })
}

/// Nothing is under way, everybody has reported once on what they were asked, and every report reached whom it was for, once.
pub fn assert_over(contents: &DatabaseContents, root: &ThreadId) {
    contents.assert_at_rest(root);
    for row in contents.rows.iter().filter(|row| row.root == *root) {
        let Some(parent) = &row.parent else { continue };
        let is_its = |event: &&Event| matches!(event, Event::ChildReported { child, .. } if *child == row.id);
        let (told, written) =
            (events(&contents.log, parent).filter(is_its).count(), reports(contents, &row.id).count());
        assert_eq!(told, written, "each report of {} reaches its parent once", row.id);
        let asked = events(&contents.log, parent)
            .filter(|event| matches!(event, Event::ChildAsked(asked) if asked.child == row.id))
            .count();
        assert_eq!(written, 1 + asked, "{} reports once on what it is asked", row.id);
    }
}

/// No command ran twice, and a model that was told that one ran was told the truth. One whose end is not in the log may have run.
pub fn assert_effects(contents: &DatabaseContents, root: &ThreadId) {
    let left = workspace(contents, root).join(EFFECTS);
    let mut left: Vec<String> = fs::read_to_string(left).unwrap_or_default().lines().map(str::to_owned).collect();
    for call in calls(contents, root).iter().filter(|call| call.tool == "run_command") {
        let word = call.input["command"].as_str().and_then(|command| command.split(' ').nth(1)).expect("a word");
        let before = left.len();
        left.retain(|line| line != word);
        let times = before - left.len();
        match call.end {
            End::Seen => assert_eq!(times, 1, "{word} ran once, as was told"),
            End::Unknown => assert!(times <= 1, "{word} ran {times} times"),
        }
    }
    assert!(left.is_empty(), "no call asked for {left:?}");
}

/// A file that was written is there as it was meant; one whose end is not in the log is so too, or not there at all.
pub fn assert_written(contents: &DatabaseContents, root: &ThreadId) {
    let (file, text) = WRITTEN;
    let found = fs::read_to_string(workspace(contents, root).join(file)).ok();
    for call in calls(contents, root).iter().filter(|call| call.tool == "write_file") {
        match (&call.end, &found) {
            (_, Some(found)) => assert_eq!(found, text),
            (End::Seen, None) => panic!("{file} was written and is not there"),
            (End::Unknown, None) => {}
        }
    }
}

/// What was begun when a process died may have been done, and is not done again; everything else was done.
pub fn assert_done_once(left: &[DatabaseContents], contents: &DatabaseContents, root: &ThreadId) {
    let in_doubt = |call: &Call| {
        let happened = |contents: &DatabaseContents, kind: &str| {
            let is_it = |event: &Event| match event {
                Event::ToolStarted { call: id } | Event::ToolFinished { call: id, .. } => *id == call.id,
                _ => false,
            };
            events(&contents.log, &call.thread).any(|event| event.kind() == kind && is_it(event))
        };
        left.iter().any(|left| happened(left, "tool_started") && !happened(left, "tool_finished"))
    };
    for call in calls(contents, root).iter().filter(|call| ["run_command", "write_file"].contains(&&*call.tool)) {
        let is_unknown = matches!(call.end, End::Unknown);
        assert_eq!(is_unknown, in_doubt(call), "{} of {}: {}", call.tool, call.thread, call.input);
    }
}

/// What a person said to the root, and was told that it is taken, is in its log once and was taken up once.
pub fn assert_heard(words: &str, contents: &DatabaseContents, root: &ThreadId) {
    let arrived = events(&contents.log, root).filter_map(|event| match event {
        Event::InputArrived { id, input: Outside::Steered { text, .. } } if &**text == words => Some(id),
        _ => None,
    });
    let arrived: Vec<_> = arrived.collect();
    assert_eq!(arrived.len(), 1, "{words} was said once");
    let is_taken = |event: &&Event| match event {
        Event::Steered { input, .. } | Event::InputDropped { input, .. } => input == arrived[0],
        _ => false,
    };
    assert_eq!(events(&contents.log, root).filter(is_taken).count(), 1, "{words} was taken up once");
}

/// Whatever ran was allowed, and nothing was asked twice.
pub fn assert_allowed(contents: &DatabaseContents, root: &ThreadId) {
    for call in calls(contents, root).iter().filter(|call| ["run_command", "write_file"].contains(&&*call.tool)) {
        let asked = events(&contents.log, &call.thread)
            .filter(|event| matches!(event, Event::ApprovalRequested(question) if question.call == call.id));
        assert_eq!(asked.count(), 1, "{} asks once", call.tool);
        let allowed = events(&contents.log, &call.thread).filter(|event| {
            matches!(event, Event::ApprovalResolved { call: id, resolution: Resolution::Allowed { .. }, .. } if *id == call.id)
        });
        assert_eq!(allowed.count(), 1, "{} is allowed once", call.tool);
    }
}

/// What was printed before is still so: the lines are the first of those that the log yields.
pub fn assert_acknowledged(shown: &str, contents: &DatabaseContents, root: &ThreadId) {
    let dialect = Dialect::named("canonical").expect("our own dialect");
    let mut lines = Lines::new(root.clone(), dialect, 0);
    let yielded = contents.family(root).into_iter().flat_map(|record| lines.push(&logged(record)));
    let mut yielded = yielded.map(|line| line.text);
    for line in shown.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        assert_eq!(yielded.next().as_deref(), Some(line), "what was shown stays so");
    }
}

/// The file is sound, to its last page and reference. That of a server is the server's business.
pub fn assert_sound(world: &World) {
    if world.server().is_some() {
        return assert_eq!(world.faults(), Vec::<String>::new());
    }
    let database = rusqlite::Connection::open(world.database()).expect("the database opens");
    let verdict: String = database.pragma_query_value(None, "integrity_check", |row| row.get(0)).expect("a verdict");
    assert_eq!(verdict, "ok");
    let mut dangling = database.prepare("PRAGMA foreign_key_check").expect("a statement");
    assert!(!dangling.exists([]).expect("an answer"), "every reference leads somewhere");
}

/// A call, and what its agent was told of it.
struct Call {
    thread: ThreadId,
    id: CallId,
    tool: String,
    input: serde_json::Value,
    end: End,
}

enum End {
    Seen,
    Unknown,
}

/// The calls of a family that have a result.
fn calls(contents: &DatabaseContents, root: &ThreadId) -> Vec<Call> {
    let mut asked: BTreeMap<(ThreadId, CallId), (String, serde_json::Value)> = BTreeMap::new();
    let mut calls = Vec::new();
    for record in contents.family(root) {
        match &*record.event {
            Event::Answered(answered) => {
                for part in &answered.parts {
                    if let Part::ToolCall { id, name, input } = part {
                        asked.insert((record.thread.clone(), id.clone()), (name.to_string(), input.value()));
                    }
                }
            }
            Event::ToolFinished { call, result, .. } => {
                let key = (record.thread.clone(), call.clone());
                let (tool, input) = asked.remove(&key).expect("a call is answered once, after it was made");
                let unknown = result.is_error && result.content.contains("outcome unknown");
                let (thread, id) = key;
                calls.push(Call { thread, id, tool, input, end: if unknown { End::Unknown } else { End::Seen } });
            }
            _ => {}
        }
    }
    assert!(asked.is_empty(), "every call has its result: {asked:?}");
    calls
}

fn workspace<'a>(contents: &'a DatabaseContents, root: &ThreadId) -> &'a Path {
    let created = events(&contents.log, root).find_map(|event| match event {
        Event::ThreadCreated(created) => Some(&*created.workspace),
        _ => None,
    });
    Path::new(created.expect("a thread was created"))
}

fn logged(record: &Record) -> Logged<'_> {
    Logged { seq: record.seq, at: record.at, thread: &record.thread, event: &record.event }
}
