//! What was used: by each thread, by each tree, by each model. The sum over a tree is what its root shows.
//!
//! Sums only, so events may come in any order; each event counts once. What a figure means is said by [`agent::Usage`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use agent::event::lost_usage;
use agent::model::Model;
use agent::{Event, ThreadId, Usage};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Logged;
use crate::known::entry;

/// What a thread used itself, and with its descendants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Totals {
    /// By the thread itself.
    #[serde(rename = "self")]
    #[schemars(with = "schema::Usage")]
    pub own: Usage,
    /// By the thread and all its descendants.
    #[schemars(with = "schema::Usage")]
    pub tree: Usage,
}

impl Totals {
    /// What came after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Totals) -> Totals {
        Totals { own: self.own.since(&earlier.own), tree: self.tree.since(&earlier.tree) }
    }
}

/// What was used of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelUsage {
    /// `provider/model`.
    pub model: Arc<str>,
    /// Whether its price is known, or it costs nothing; otherwise its cost is not part of any sum.
    pub priced: bool,
    /// What was used.
    pub usage: Usage,
}

/// Adds up what threads use while their events come in.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    accounts: BTreeMap<ThreadId, Account>,
    seen: HashMap<ThreadId, BTreeSet<u64>>,
}

#[derive(Clone, Debug, Default)]
struct Account {
    totals: Totals,
    model: Option<Arc<str>>,
    priced: bool,
    /// What was used of the models that the thread had before, the oldest first.
    earlier: Vec<ModelUsage>,
}

impl Account {
    /// One that used nothing costs nothing.
    fn is_priced(&self) -> bool {
        // Most have one model, which has a price.
        self.priced && self.earlier.is_empty()
            || self.by_model().all(|used| used.priced || used.usage.tokens.total() == 0)
    }

    /// What the thread used of its newest model.
    fn current(&self) -> ModelUsage {
        let before = self.earlier.iter().fold(Usage::default(), |sum, used| sum.plus(&used.usage));
        let model = self.model.clone().unwrap_or_else(|| "unknown".into());
        ModelUsage { model, priced: self.priced, usage: self.totals.own.since(&before) }
    }

    fn by_model(&self) -> impl Iterator<Item = ModelUsage> {
        self.earlier.iter().cloned().chain([self.current()])
    }
}

impl Ledger {
    /// Takes an event in. False where it was there already and changed nothing.
    pub fn push(&mut self, logged: &Logged<'_>) -> bool {
        if !entry(&mut self.seen, logged.thread).insert(logged.seq) {
            return false;
        }
        match logged.event {
            Event::ThreadCreated(created) => self.speaks_with(logged.thread, &created.role.model),
            Event::ChildSpawned(spawned) => self.speaks_with(&spawned.child, &spawned.role.model),
            Event::SettingsChanged { model: Some(model), .. } => self.changes_to(logged.thread, model),
            _ => {}
        }
        if let Some(used) = used_by(logged.event) {
            self.add(logged.thread, &used);
        }
        true
    }

    /// What a thread used so far; nothing for an unknown thread.
    pub fn totals(&self, thread: &ThreadId) -> Totals {
        self.accounts.get(thread).map(|account| account.totals).unwrap_or_default()
    }

    /// What a thread and all its descendants used, model by model, in the order of the models' names.
    pub fn by_model(&self, thread: &ThreadId) -> Vec<ModelUsage> {
        let mut models: BTreeMap<Arc<str>, ModelUsage> = BTreeMap::new();
        // A thread that is known only as an ancestor used nothing of any model.
        for account in
            self.subtree(thread).filter(|account| account.model.is_some() || account.totals.own != Usage::default())
        {
            for used in account.by_model() {
                let model = used.model.clone();
                let none = ModelUsage { model: model.clone(), priced: true, usage: Usage::default() };
                let sum = models.entry(model).or_insert(none);
                sum.priced &= used.priced || used.usage.tokens.total() == 0;
                sum.usage = sum.usage.plus(&used.usage);
            }
        }
        models.into_values().collect()
    }

    /// Whether what a thread and its descendants cost is known: every model that they used has a price, or costs nothing.
    pub fn is_priced(&self, thread: &ThreadId) -> bool {
        self.subtree(thread).all(Account::is_priced)
    }

    /// The threads for which [`Ledger::is_priced`] is false.
    pub(crate) fn unpriced(&self) -> BTreeSet<ThreadId> {
        let mut unpriced = BTreeSet::new();
        for (id, _) in self.accounts.iter().filter(|(_, account)| !account.is_priced()) {
            let mut next = Some(id.clone());
            while let Some(id) = next {
                next = id.parent();
                unpriced.insert(id);
            }
        }
        unpriced
    }

    /// The model that a thread begins with.
    fn speaks_with(&mut self, thread: &ThreadId, model: &Model) {
        let account = self.accounts.entry(thread.clone()).or_default();
        if account.earlier.is_empty() {
            account.model = Some(model.name.clone());
            account.priced = model.has_known_cost();
        }
    }

    /// What a thread used until now belongs to the model before.
    fn changes_to(&mut self, thread: &ThreadId, model: &Model) {
        let account = self.accounts.entry(thread.clone()).or_default();
        let earlier = account.current();
        account.earlier.push(earlier);
        account.model = Some(model.name.clone());
        account.priced = model.has_known_cost();
    }

    fn add(&mut self, thread: &ThreadId, used: &Usage) {
        let own = &mut self.accounts.entry(thread.clone()).or_default().totals.own;
        *own = own.plus(used);
        let mut next = Some(thread.clone());
        while let Some(id) = next {
            next = id.parent();
            let tree = &mut self.accounts.entry(id).or_default().totals.tree;
            *tree = tree.plus(used);
        }
    }

    fn subtree(&self, thread: &ThreadId) -> impl Iterator<Item = &Account> {
        let below = format!("{thread}.");
        let descendants = self.accounts.range(ThreadId::new(below.as_str())..);
        let descendants =
            descendants.take_while(move |(id, _)| id.as_str().starts_with(&below)).map(|(_, account)| account);
        self.accounts.get(thread).into_iter().chain(descendants)
    }
}

/// What an event says was used; none where it says nothing of it.
pub fn used_by(event: &Event) -> Option<Usage> {
    match event {
        Event::Answered(answered) => Some(Usage {
            tokens: answered.tokens,
            counted_tokens: answered.counted_tokens,
            cost_microusd: answered.cost_microusd,
            tool_calls: u32::try_from(answered.verdicts.iter().filter(|verdict| verdict.counts).count())
                .unwrap_or(u32::MAX),
            model_calls: 1,
            requests: 1,
            children: 0,
            estimated_tokens: answered.estimated_tokens(),
        }),
        Event::CallFailed { booked, error, .. } => Some(lost_usage(booked, error.tokens.as_deref())),
        Event::CallRepeated { booked, .. } => Some(lost_usage(booked, None)),
        Event::SamplingEnded(ended) => Some(ended.usage()),
        Event::ChildStarted { again: false, .. } => Some(Usage { children: 1, ..Usage::default() }),
        Event::ThreadCreated(_)
        | Event::InputArrived { .. }
        | Event::RunStarted { .. }
        | Event::Steered { .. }
        | Event::InputDropped { .. }
        | Event::StopBegun { .. }
        | Event::TurnStarted(_)
        | Event::ToolStarted { .. }
        | Event::SamplingStarted(_)
        | Event::ToolFinished { .. }
        | Event::ChecksStarted { .. }
        | Event::ChecksFinished { .. }
        | Event::ApprovalRequested(_)
        | Event::ApprovalResolved { .. }
        | Event::ChildPaused { .. }
        | Event::Delegated { .. }
        | Event::SubtaskSkipped { .. }
        | Event::SubtaskRecalled { .. }
        | Event::ChildSaid { .. }
        | Event::ChildSpawned(_)
        | Event::ChildAsked(_)
        | Event::ChildIssued { .. }
        | Event::ChildStarted { again: true, .. }
        | Event::ChildStopped { .. }
        | Event::ChildReported { .. }
        | Event::MessageSent { .. }
        | Event::ChildAwaited { .. }
        | Event::WaitStarted { .. }
        | Event::ContextTrimmed { .. }
        | Event::ContextCompacted { .. }
        | Event::ToolsChanged { .. }
        | Event::SettingsChanged { .. }
        | Event::StallNoticed { .. }
        | Event::BudgetWarned { .. }
        | Event::Reopened { .. }
        | Event::Reported(_) => None,
    }
}
