//! What the view shows of a log, in the words of the page: the tree and every thread's transcript as one picture.
//!
//! Both leave something out that the other has. The page has no row for a brief, for a child (it draws the group) and
//! for a call that has not begun; the view says other things in passing. What is left is what a person goes by, and
//! must be the same.

use std::collections::{BTreeMap, BTreeSet};

use agent::Event;
use serde_json::{Value, json};
use view::{ChildRow, Entry, Node, Transcript, Tree};

use crate::fixture::Record;

/// A child that waits for its beginning. The view hears a moment before the wire does that it no longer waits in line.
const NOT_BEGUN: &str = "not begun";

/// The picture that the view gives.
pub fn picture(events: &[Record], frames: &[String]) -> Value {
    let mut tree = Tree::new();
    let mut transcripts: BTreeMap<String, Transcript> = BTreeMap::new();
    for record in events {
        let logged = record.logged();
        tree.push(&logged);
        let own = transcripts.entry(logged.thread.to_string());
        own.or_insert_with(|| Transcript::new(logged.thread.clone())).push(&logged);
    }
    let rows: BTreeMap<_, _> = transcripts.iter().map(|(id, one)| (id.clone(), one.entries())).collect();
    let roots = tree.roots();
    let nodes: Vec<&Node> = roots.iter().flat_map(Node::all).collect();
    let begun = begun(frames);
    nodes.iter().map(|node| (node.id.to_string(), thread(node, &nodes, &rows, &begun))).collect()
}

/// A picture without what was used. What is booked for a request that failed is told with the next answer, not before.
pub fn without_figures(mut picture: Value) -> Value {
    for thread in picture.as_object_mut().expect("threads by name").values_mut() {
        for figure in ["tokens", "tree", "cost"] {
            thread[figure].take();
        }
    }
    picture
}

/// Whether something was used that the wire has not told of.
pub fn owes_figures(events: &[Record]) -> bool {
    let mut owing = BTreeSet::new();
    for logged in events.iter().map(Record::logged) {
        match logged.event {
            Event::CallFailed { .. } | Event::CallRepeated { .. } | Event::SamplingEnded(_) => {
                owing.insert(logged.thread)
            }
            Event::Answered(_) | Event::Reported(_) => owing.remove(logged.thread),
            _ => false,
        };
    }
    !owing.is_empty()
}

/// The page's picture, without what only the page has.
pub fn common(plain: &Value) -> Value {
    let threads = plain["threads"].as_array().expect("a picture has threads");
    let known: BTreeSet<&str> = threads.iter().filter_map(|thread| thread["id"].as_str()).collect();
    let root = plain["root"].as_str().unwrap_or_default();
    let pick = |thread: &Value| {
        let id = thread["id"].as_str().expect("a thread has a name");
        let parent = thread["parent"].as_str().filter(|parent| known.contains(parent));
        let children = thread["children"].as_array().expect("a list").clone();
        let is_adopted =
            |child: &Value| !threads.iter().any(|one| one["id"] == *child && one["parent"] == thread["id"]);
        let own: Vec<_> = children.into_iter().filter(|child| id != root || !is_adopted(child)).collect();
        let items = thread["items"].as_array().expect("a list").iter().filter_map(item);
        let items = side_by_side(items.collect());
        let is_waiting = thread["state"] == "queued" || thread["state"] == "unknown";
        let doing = if is_waiting { NOT_BEGUN.into() } else { thread["state"].clone() };
        let state = if thread["outcome"].is_null() { doing } else { thread["outcome"].clone() };
        let picked = json!({
            "parent": parent, "depth": thread["depth"], "agent": thread["agent"], "name": thread["name"],
            "goal": thread["goal"], "state": state,
            "error": thread["error"], "report": thread["report"], "tools": thread["tools"],
            "tokens": thread["selfTokens"], "tree": thread["treeTokens"], "cost": thread["cost"],
            "started": thread["startedAt"], "children": own, "items": items,
        });
        (id.to_owned(), picked)
    };
    threads.iter().map(pick).collect()
}

fn item(item: &Value) -> Option<Value> {
    Some(match item["kind"].as_str()? {
        "prompt" => json!({"prompt": item["text"], "files": list(&item["files"])}),
        "thinking" => json!({"thinking": item["text"], "agent": item["agent"]}),
        "text" => json!({"text": item["text"], "agent": item["agent"], "offers": list(&item["offers"])}),
        "steer" => json!({"steer": item["text"], "from": item["from"]}),
        "tool" => {
            let [call, tool, input, output, state, ms] =
                ["call", "tool", "input", "output", "state", "ms"].map(|field| &item[field]);
            // A call that was refused never begins, and its arguments are not told.
            let input = if *state == "failed" { &Value::Null } else { input };
            json!({"call": call, "tool": tool, "input": input, "output": output, "state": state, "ms": ms})
        }
        "end" => json!({"end": item["tool"], "why": item["text"]}),
        _ => return None,
    })
}

/// A list; what is left out is an empty one.
fn list(value: &Value) -> Value {
    if value.is_null() { json!([]) } else { value.clone() }
}

fn thread(
    node: &Node,
    nodes: &[&Node],
    rows: &BTreeMap<String, Vec<Entry>>,
    begun: &BTreeSet<(String, String)>,
) -> Value {
    let id = node.id.to_string();
    let parent = node.id.parent().filter(|parent| nodes.iter().any(|one| one.id == *parent));
    let mut depth = 0;
    let mut above = parent.clone();
    while let Some(one) = above {
        depth += 1;
        above = one.parent().filter(|parent| nodes.iter().any(|one| one.id == *parent));
    }
    let doing = if node.started.is_some() { node.state.as_str() } else { NOT_BEGUN };
    let word = node.outcome.map_or(doing, |outcome| outcome.as_str());
    let mut children: Vec<_> = nodes.iter().filter(|one| one.id.parent().as_ref() == Some(&node.id)).collect();
    children.sort_by_key(|one| number(one.id.as_str()));
    let own = rows.get(&id).map(Vec::as_slice).unwrap_or_default();
    json!({
        "parent": parent, "depth": depth.min(view::DEPTH_DRAWN), "agent": node.agent, "name": node.name,
        "goal": node.goal, "state": word, "error": node.reason, "report": report(node, own, rows),
        "tools": node.usage.own.tool_calls, "tokens": node.usage.own.tokens.total(),
        "tree": node.usage.tree.tokens.total(), "cost": node.usage.tree.cost_microusd,
        "started": node.started.map(view::clock::timestamp),
        "children": children.iter().map(|one| one.id.to_string()).collect::<Vec<_>>(),
        "items": items(node, own, begun),
    })
}

/// What a child handed up: from its own log, else from its parent's.
fn report(node: &Node, own: &[Entry], rows: &BTreeMap<String, Vec<Entry>>) -> Option<String> {
    // One that is asked more has not answered that yet.
    if node.id.is_root() || node.outcome.is_none() {
        return None;
    }
    let is_child = |entry: &&ChildRow| entry.thread == node.id;
    let of_parent = node.id.parent().and_then(|parent| rows.get(parent.as_str()));
    let handed_up = of_parent.into_iter().flatten().filter_map(|entry| match entry {
        Entry::Child(row) => Some(row),
        _ => None,
    });
    let spoken = own.iter().rev().find_map(|entry| match entry {
        Entry::Text { text, .. } => Some(text.to_string()),
        _ => None,
    });
    let said = own.iter().rev().find_map(|entry| match entry {
        Entry::End { text, .. } => Some(text.as_ref().map(ToString::to_string).or(spoken.clone()).unwrap_or_default()),
        _ => None,
    });
    said.or_else(|| handed_up.filter(is_child).find_map(|row| row.report.as_ref().map(ToString::to_string)))
}

fn items(node: &Node, own: &[Entry], begun: &BTreeSet<(String, String)>) -> Vec<Value> {
    let last_end = own.iter().rposition(|entry| matches!(entry, Entry::End { .. }));
    let is_lost = node.outcome.is_some() && last_end.is_none();
    let one = |(at, entry): (usize, &Entry)| match entry {
        Entry::Prompt { text, attachments, .. } => Some(json!({"prompt": text, "files": attachments})),
        // What it was asked first is its goal.
        Entry::Brief { text, .. } if at > 0 => Some(json!({"prompt": text, "files": []})),
        Entry::Thinking { agent, text, .. } => Some(json!({"thinking": text, "agent": agent})),
        Entry::Text { agent, text, offers, .. } => Some(json!({"text": text, "agent": agent, "offers": offers})),
        Entry::Steer { from, text, .. } => Some(json!({"steer": text, "from": from})),
        Entry::Tool(row) => {
            let call = row.call.as_str().to_owned();
            begun.contains(&(node.id.to_string(), call)).then(|| {
                let state = match (&row.output, row.is_error) {
                    (Some(_), true) => "failed",
                    (Some(_), false) => "done",
                    (None, _) if is_lost || last_end.is_some_and(|end| end > at) => "interrupted",
                    (None, _) => "running",
                };
                let input = row.input.as_ref().filter(|_| state != "failed");
                json!({
                    "call": row.call, "tool": row.name, "input": input, "output": row.output, "state": state,
                    "ms": row.duration_ms,
                })
            })
        }
        Entry::End { outcome, reason, .. } if node.id.is_root() => {
            Some(json!({"end": outcome, "why": reason.as_deref().unwrap_or_default()}))
        }
        Entry::End { .. } | Entry::Brief { .. } | Entry::Child(_) | Entry::Notice { .. } => None,
    };
    side_by_side(own.iter().enumerate().filter_map(one).collect())
}

/// Calls of one answer stand in the order in which they were asked for here, and in which they began there.
fn side_by_side(mut items: Vec<Value>) -> Vec<Value> {
    let call = |item: &Value| item["call"].as_str().map(str::to_owned);
    for beside in items.chunk_by_mut(|one, other| call(one).is_some() && call(other).is_some()) {
        beside.sort_by_key(call);
    }
    items
}

/// The calls that the wire tells of.
fn begun(frames: &[String]) -> BTreeSet<(String, String)> {
    let frames = frames.iter().map(|frame| frame.parse::<Value>().expect("a frame is JSON"));
    let told = frames.filter(|frame| ["tool_start", "tool_result"].iter().any(|kind| frame["type"] == *kind));
    let word = |frame: &Value, key: &str| frame[key].as_str().unwrap_or_default().to_owned();
    told.map(|frame| (word(&frame, "thread"), word(&frame, "tool_use_id"))).collect()
}

/// The last number of a thread's name: children are numbered in the order in which they were spawned.
fn number(id: &str) -> u32 {
    id.rsplit('.').next().and_then(|last| last.parse().ok()).unwrap_or(u32::MAX)
}
