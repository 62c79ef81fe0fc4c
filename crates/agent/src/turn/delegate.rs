//! A task is split: subtasks run as a graph, each by a child, under the same permits as any other child.

use std::sync::Arc;

use crate::brief::{Brief, Prior};
use crate::event::{Enough, Event, Subtask};
use crate::id::{CallId, ThreadId};
use crate::input::Strength;
use crate::machine::Moment;
use crate::policy::OnError;
use crate::report::{Outcome, Report};
use crate::thread::{Graph, Node, check_graph};
use crate::tools::ToolResult;
use crate::turn::spawn::{self, Accepted, ChildRequest};
use crate::turn::{stop, tool_calls};
use crate::vocabulary;

/// Accepts a delegation whole, or refuses it whole.
pub fn accept(
    moment: &mut Moment<'_>,
    call: &CallId,
    plan: Arc<str>,
    subtasks: Vec<Subtask>,
    enough: Enough,
) -> Result<(), String> {
    let most = moment.thread.created.policy.max_subtasks;
    let count = subtasks.len() as u32;
    if count > most {
        return Err(format!("Maximum {most} subtasks (policy.max_subtasks), and there are {count}: nothing was begun"));
    }
    check_graph(&subtasks)?;
    for subtask in &subtasks {
        spawn::find_agent(moment, subtask.agent.as_deref())?;
        spawn::check_schema(moment, &subtask.checks)?;
    }
    spawn::room(moment.thread, count).map_err(|why| why.to_string())?;
    moment.emit(Event::Delegated { call: call.clone(), plan, subtasks, enough });
    let ready = moment.thread.calls.graph(call).map(Graph::ready).unwrap_or_default();
    spawn_ready(moment, call, ready);
    settle(moment, call);
    Ok(())
}

/// A subtask's child reported: those that waited for it begin, or are skipped.
pub fn subtask_over(moment: &mut Moment<'_>, call: &CallId, index: u32, report: &Report) {
    if moment.thread.calls.graph(call).is_none() {
        return;
    }
    let failed = !report.outcome.has_result() && report.outcome != Outcome::Timeout;
    if failed && moment.thread.created.policy.on_error == OnError::Stop {
        halt(moment, call, index, report.outcome);
    } else if failed {
        skip_dependents(moment, call, index);
    } else {
        let graph = moment.thread.calls.graph(call).expect("looked at above");
        let ready: Vec<u32> = graph.dependents(index).iter().copied().filter(|next| graph.is_ready(*next)).collect();
        spawn_ready(moment, call, ready);
    }
    settle(moment, call);
}

/// Answers the call once every subtask is over, or enough of them are.
pub fn close_if_done(moment: &mut Moment<'_>, call: &CallId) {
    let Some(graph) = moment.thread.calls.graph(call) else { return };
    let is_enough = graph.enough == Enough::One && has_result(graph) && graph.unspawned == 0;
    if graph.open > 0 && !is_enough {
        return;
    }
    let Some(slot) = moment.thread.calls.slot(call) else { return };
    let text = vocabulary::split(moment.thread, slot, graph);
    let result = ToolResult { is_error: graph.nodes.iter().all(is_bad), ..ToolResult::ok(text) };
    tool_calls::answer(moment, call, result);
}

/// Stops those whose results are no longer wanted, and answers the call where that can be.
fn settle(moment: &mut Moment<'_>, call: &CallId) {
    if let Some(graph) = moment.thread.calls.graph(call)
        && graph.enough == Enough::OneAlone
        && has_result(graph)
    {
        let running: Vec<ThreadId> = graph.nodes.iter().filter_map(Node::running).cloned().collect();
        for child in running {
            stop::stop_child(moment, &child, Strength::Kill, &"another task of its batch was first".into());
        }
    }
    close_if_done(moment, call);
}

fn has_result(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| !is_bad(node))
}

fn spawn_ready(moment: &mut Moment<'_>, call: &CallId, ready: Vec<u32>) {
    for index in ready {
        let Some(graph) = moment.thread.calls.graph(call) else { return };
        // One before it may have ended the whole delegation.
        if graph.nodes[index as usize] != Node::Waiting {
            continue;
        }
        let subtask = graph.subtasks[index as usize].clone();
        let siblings = graph.unspawned as u32;
        let brief = Brief {
            results: priors(graph, &subtask),
            scope: subtask.scope.clone(),
            checks: subtask.checks.clone(),
            ..Brief::task(subtask.task.clone())
        };
        let request = ChildRequest { task: subtask.task, agent: subtask.agent, ..ChildRequest::default() };
        match spawn::accept(moment, call, Some(index), &request, brief, siblings) {
            Ok(Accepted::Spawned(_)) => {}
            Ok(Accepted::Recalled(child)) => {
                moment.emit(Event::SubtaskRecalled { call: call.clone(), index, child });
                let Some(graph) = moment.thread.calls.graph(call) else { return };
                let next = graph.dependents(index).iter().copied().filter(|next| graph.is_ready(*next)).collect();
                spawn_ready(moment, call, next);
            }
            Err(reason) => {
                moment.emit(Event::SubtaskSkipped { call: call.clone(), index, reason: reason.into() });
                if moment.thread.created.policy.on_error == OnError::Stop {
                    return halt(moment, call, index, Outcome::Refused);
                }
                skip_dependents(moment, call, index);
            }
        }
    }
}

fn priors(graph: &Graph, subtask: &Subtask) -> Vec<Prior> {
    let prior = |index: &u32| match &graph.nodes[*index as usize] {
        Node::Reported(_, report) => Some(Prior {
            index: *index,
            task: graph.subtasks[*index as usize].task.clone(),
            outcome: report.outcome,
            text: report.text.clone(),
        }),
        Node::Waiting | Node::Spawned(_) | Node::Skipped(_) => None,
    };
    subtask.depends_on.iter().filter_map(prior).collect()
}

/// Skips whatever waits for a subtask that brought nothing, and what waits for those.
fn skip_dependents(moment: &mut Moment<'_>, call: &CallId, index: u32) {
    let mut failed = vec![index];
    while let Some(index) = failed.pop() {
        let Some(graph) = moment.thread.calls.graph(call) else { return };
        let waits = |next: &u32| graph.nodes[*next as usize] == Node::Waiting;
        let dependents: Vec<u32> = graph.dependents(index).iter().copied().filter(waits).collect();
        for dependent in dependents {
            let reason = format!("skipped: it depends on subtask {index}, which brought no result").into();
            moment.emit(Event::SubtaskSkipped { call: call.clone(), index: dependent, reason });
            failed.push(dependent);
        }
    }
}

/// Ends all that is left of a delegation after a failure.
fn halt(moment: &mut Moment<'_>, call: &CallId, failed: u32, outcome: Outcome) {
    let reason: Arc<str> =
        format!("subtask {failed} ended as {outcome}, and the rest stops with it (policy.on_error)").into();
    let Some(graph) = moment.thread.calls.graph(call) else { return };
    let nodes: Vec<(u32, Node)> =
        graph.nodes.iter().cloned().enumerate().map(|(index, node)| (index as u32, node)).collect();
    for (index, node) in nodes {
        match node {
            Node::Waiting => {
                moment.emit(Event::SubtaskSkipped { call: call.clone(), index, reason: reason.clone() });
            }
            Node::Spawned(child) => stop::stop_child(moment, &child, Strength::Cancel, &reason),
            Node::Reported(..) | Node::Skipped(_) => {}
        }
    }
}

/// Whether a subtask has brought no result.
pub fn is_bad(node: &Node) -> bool {
    match node {
        Node::Reported(_, report) => !report.outcome.has_result(),
        Node::Waiting | Node::Spawned(_) | Node::Skipped(_) => true,
    }
}
