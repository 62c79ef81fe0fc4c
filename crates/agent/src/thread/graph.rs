//! The subtasks of one delegation and what they wait for. A batch is a graph without edges.

use std::sync::Arc;

use crate::event::{Enough, Subtask};
use crate::id::ThreadId;
use crate::report::Report;

/// A delegation under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// The overall goal.
    pub plan: Arc<str>,
    /// What was asked, in order.
    pub subtasks: Vec<Subtask>,
    /// When the call has its answer.
    pub enough: Enough,
    /// How far each is.
    pub nodes: Vec<Node>,
    /// Who waits for each.
    dependents: Vec<Vec<u32>>,
    /// How many others each waits for.
    waiting_for: Vec<u32>,
    /// Subtasks that are not over.
    pub open: usize,
    /// Subtasks that were not spawned or skipped.
    pub unspawned: usize,
}

/// How far a subtask is.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// It was not spawned.
    Waiting,
    /// A child works on it.
    Spawned(ThreadId),
    /// The child reported.
    Reported(ThreadId, Box<Report>),
    /// It will not be run.
    Skipped(Arc<str>),
}

impl Node {
    /// The child that works on it.
    pub fn running(&self) -> Option<&ThreadId> {
        match self {
            Node::Spawned(child) => Some(child),
            Node::Waiting | Node::Reported(..) | Node::Skipped(_) => None,
        }
    }
}

impl Graph {
    pub(super) fn new(plan: Arc<str>, subtasks: Vec<Subtask>, enough: Enough) -> Self {
        let mut dependents = vec![Vec::new(); subtasks.len()];
        for (index, subtask) in subtasks.iter().enumerate() {
            for on in &subtask.depends_on {
                dependents[*on as usize].push(index as u32);
            }
        }
        Self {
            plan,
            enough,
            nodes: vec![Node::Waiting; subtasks.len()],
            waiting_for: subtasks.iter().map(|subtask| subtask.depends_on.len() as u32).collect(),
            open: subtasks.len(),
            unspawned: subtasks.len(),
            dependents,
            subtasks,
        }
    }

    /// The subtasks that wait for nothing and were not spawned.
    pub fn ready(&self) -> Vec<u32> {
        let is_ready = |index: &u32| self.is_ready(*index);
        (0..self.subtasks.len() as u32).filter(is_ready).collect()
    }

    /// The subtasks that wait for `index`.
    pub fn dependents(&self, index: u32) -> &[u32] {
        &self.dependents[index as usize]
    }

    /// Whether a subtask waits for nothing and was not spawned.
    pub fn is_ready(&self, index: u32) -> bool {
        self.waiting_for[index as usize] == 0 && self.nodes[index as usize] == Node::Waiting
    }

    pub(super) fn spawn(&mut self, index: u32, child: ThreadId) {
        self.nodes[index as usize] = Node::Spawned(child);
        self.unspawned -= 1;
    }

    pub(super) fn report(&mut self, index: u32, child: ThreadId, report: Report) {
        self.nodes[index as usize] = Node::Reported(child, Box::new(report));
        self.close(index);
    }

    pub(super) fn recall(&mut self, index: u32, child: ThreadId, report: Report) {
        self.unspawned -= 1;
        self.report(index, child, report);
    }

    pub(super) fn skip(&mut self, index: u32, reason: Arc<str>) {
        self.nodes[index as usize] = Node::Skipped(reason);
        self.unspawned -= 1;
        self.close(index);
    }

    fn close(&mut self, index: u32) {
        self.open -= 1;
        for dependent in self.dependents[index as usize].clone() {
            self.waiting_for[dependent as usize] -= 1;
        }
    }
}

/// Why a list of subtasks cannot be run as a graph, in a sentence for the model.
pub fn check(subtasks: &[Subtask]) -> Result<(), String> {
    let count = subtasks.len();
    for (index, subtask) in subtasks.iter().enumerate() {
        for on in &subtask.depends_on {
            if *on as usize >= count {
                return Err(format!(
                    "subtask {index} depends on subtask {on}, and there is none: indexes go from 0 to {}",
                    count - 1
                ));
            }
            if *on as usize == index {
                return Err(format!("subtask {index} depends on itself"));
            }
        }
    }
    let mut graph = Graph::new("".into(), subtasks.to_vec(), Enough::All);
    let mut next = graph.ready();
    while let Some(index) = next.pop() {
        graph.skip(index, "".into());
        next.extend(graph.dependents(index).iter().copied().filter(|dependent| graph.is_ready(*dependent)));
    }
    if graph.open > 0 {
        let in_ring = |node: &(usize, &Node)| *node.1 == Node::Waiting;
        let ring: Vec<String> =
            graph.nodes.iter().enumerate().filter(in_ring).map(|(index, _)| index.to_string()).collect();
        return Err(format!("the subtasks {} wait for each other in a circle; remove one depends_on", ring.join(", ")));
    }
    Ok(())
}
