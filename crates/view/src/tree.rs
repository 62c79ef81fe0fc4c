//! The threads of a family: what each one does, and what it cost.
//!
//! The tree depends only on the set of events, not on their order or number (KATA-9 to KATA-17, INV-7). Parentage is read from
//! the threads' own names and from nothing else, so it can have no cycle, whatever a log claims. A thread whose parent was never
//! heard of stands at the top. Drawing it is the business of [`crate::draw`].

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use agent::model::CallErrorKind;
use agent::{Outcome, State, ThreadId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::known::{KnownThread, KnownThreads};
use crate::{Ledger, Logged, Totals};

/// Levels below the top that are drawn as levels; what is deeper stands beside its ancestor on the last of them (KATA-9).
pub const DEPTH_DRAWN: usize = 10;

/// Folds events into a tree of threads.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(crate) threads: KnownThreads,
    pub(crate) ledger: Ledger,
}

/// A thread in its family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Node {
    /// The thread.
    #[schemars(with = "String")]
    pub id: ThreadId,
    /// What it is called on screens.
    pub name: Arc<str>,
    /// The agent that it plays.
    pub agent: Option<Arc<str>>,
    /// The model.
    pub model: Option<Arc<str>>,
    /// What it is asked to do.
    pub goal: Option<Arc<str>>,
    /// What it is doing.
    #[schemars(with = "schema::AgentState")]
    pub state: State,
    /// Whether it waits in line for a permit.
    pub queued: bool,
    /// Whether its parent goes on without it.
    pub background: bool,
    /// Whether it was silent for too long.
    pub stalled: bool,
    /// How it ended; null while it runs.
    #[schemars(with = "Option<schema::Outcome>")]
    pub outcome: Option<Outcome>,
    /// Why it ended so; null when it completed.
    pub reason: Option<Arc<str>>,
    /// The tool that began last.
    pub last_tool: Option<LastTool>,
    /// What it waits for; null when it is over, idle, or about to take its next step.
    pub waiting_for: Option<Arc<str>>,
    /// The request that failed and is going to be sent again. On the wire, `waiting_for` says so in words.
    #[serde(skip)]
    pub retry: Option<Retry>,
    /// When its newest run began.
    #[schemars(with = "Option<schema::Moment>")]
    pub started: Option<Time>,
    /// When that run ended.
    #[schemars(with = "Option<schema::Moment>")]
    pub ended: Option<Time>,
    /// What it and its tree used.
    pub usage: Totals,
    /// Whether the cost of its tree is known: every model that was used has a price, or costs nothing.
    pub priced: bool,
    /// Its children, in the order in which they were spawned.
    pub children: Vec<Node>,
}

/// A tool and its argument in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LastTool {
    /// The tool.
    pub name: Arc<str>,
    /// The argument that says most.
    pub argument: Option<Arc<str>>,
}

/// A request that failed and is going to be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often it has failed.
    pub attempt: u32,
    /// When it is sent again.
    pub at: Time,
    /// Why it failed.
    pub kind: CallErrorKind,
}

impl Tree {
    /// A tree without threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes an event in. The same event (thread and `seq`) a second time changes nothing.
    pub fn push(&mut self, logged: &Logged<'_>) {
        if self.ledger.push(logged) {
            self.threads.push(logged);
        }
    }

    /// The threads that have no known parent, each with its descendants.
    pub fn roots(&self) -> Vec<Node> {
        let unpriced = self.ledger.unpriced();
        let mut places: BTreeMap<&ThreadId, Place> = BTreeMap::new();
        let mut nodes: BTreeMap<&ThreadId, Node> = BTreeMap::new();
        // A parent's name is shorter than its children's, so every parent has its place before they need it.
        let mut by_depth: Vec<_> = self.threads.iter().collect();
        by_depth.sort_by_key(|(id, _)| id.depth());
        for (id, known) in by_depth {
            let parent = id.parent().and_then(|parent| nodes.get_key_value(&parent));
            let parent_is_over = parent.is_some_and(|(_, node)| node.outcome.is_some());
            let place = match parent.map(|(parent, _)| (*parent, &places[*parent])) {
                None => Place { level: 0, host: None },
                Some((_, place)) if place.level == DEPTH_DRAWN => place.clone(),
                Some((parent, place)) => Place { level: place.level + 1, host: Some(parent.clone()) },
            };
            nodes.insert(id, Node { priced: !unpriced.contains(id), ..self.node(id, known, parent_is_over) });
            places.insert(id, place);
        }

        let mut roots = Vec::new();
        let mut leaves_first: Vec<_> = places.into_iter().collect();
        leaves_first.sort_by_key(|(_, place)| Reverse(place.level));
        for (id, place) in leaves_first {
            let mut node = nodes.remove(id).expect("every place was made together with its node");
            node.children.sort_by(|one, other| born_before(&one.id, &other.id));
            let host = place.host.and_then(|host| nodes.get_mut(&host));
            host.map_or(&mut roots, |host| &mut host.children).push(node);
        }
        roots.sort_by(|one, other| born_before(&one.id, &other.id));
        roots
    }

    /// Whether what a thread answers in this turn is meant to be read; none where the turn is not known yet.
    pub fn is_spoken(&self, thread: &ThreadId, turn: u32) -> Option<bool> {
        self.threads.known(thread)?.speaks_in(turn)
    }

    /// A thread by itself: without its children, and as if its cost were known.
    fn node(&self, id: &ThreadId, known: &KnownThread, parent_is_over: bool) -> Node {
        let end = known.end();
        // Its parent is over and will not hear of it: it broke off, and must not read as running or as a success (KATA-13).
        let is_lost = end.is_none() && parent_is_over && !known.is_alone();
        let lost = is_lost.then_some((Outcome::Interrupted, Arc::from("its parent finished first")));
        let queued = known.is_queued() && !is_lost;
        let over = end.is_some() || is_lost;
        Node {
            id: id.clone(),
            name: known.name().unwrap_or_else(|| id.as_str().into()),
            agent: known.agent(),
            model: known.model(),
            goal: known.goal(),
            state: if is_lost { State::Error } else { known.state() },
            queued,
            background: known.background,
            stalled: !over && known.stall().is_some(),
            outcome: end.map(|end| end.outcome).or(lost.as_ref().map(|(outcome, _)| *outcome)),
            reason: end.map_or(lost.map(|(_, reason)| reason), |end| end.reason.clone()),
            last_tool: known.last_tool().map(|(name, argument)| LastTool { name, argument }),
            waiting_for: if over { None } else { Self::waiting_for(known) },
            retry: known.retry().filter(|_| !over),
            started: known.started_at(),
            ended: end.map(|end| end.at),
            usage: self.ledger.totals(id),
            priced: true,
            children: Vec::new(),
        }
    }

    fn waiting_for(known: &KnownThread) -> Option<Arc<str>> {
        if known.is_queued() {
            return Some("a permit".into());
        }
        known.stall().cloned().or_else(|| known.waiting_for())
    }
}

impl Node {
    /// How long its newest run has been going on, or took; none where it never began.
    pub fn elapsed_ms(&self, now: Time) -> Option<u64> {
        self.started.map(|started| self.ended.unwrap_or(now).since_ms(started))
    }

    /// This node and all below it, each before its children.
    pub fn all(&self) -> Vec<&Node> {
        let mut all = vec![self];
        for child in &self.children {
            all.extend(child.all());
        }
        all
    }
}

/// Where a node hangs.
#[derive(Clone, Debug)]
struct Place {
    level: usize,
    host: Option<ThreadId>,
}

/// Children are numbered in the order in which they were spawned; text would put the tenth before the second.
fn born_before(one: &ThreadId, other: &ThreadId) -> std::cmp::Ordering {
    let numbers = |id: &ThreadId| {
        id.as_str().split('.').skip(1).map(|n| n.parse::<u32>().unwrap_or(u32::MAX)).collect::<Vec<_>>()
    };
    one.root().cmp(&other.root()).then_with(|| numbers(one).cmp(&numbers(other))).then_with(|| one.cmp(other))
}
