//! What was used in a period, over all conversations: by agent, by model or by day.
//!
//! Counted from the log, request by request: a conversation that is continued for weeks has requests of many days, and one thread may
//! have had several models. What a copy of a conversation took over was paid once, in the conversation that it is a copy of.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use agent::{Event, ThreadId, Time, Usage};
use async_recursion::async_recursion as boxed;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use store::{Record, Selection, Store, ThreadQuery, replay};
use view::used_by;

/// Threads that are read at once from the list.
const PAGE: usize = 1000;

/// What is added up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// All that agents of one name used.
    Agent,
    /// All that was used of one model.
    Model,
    /// All that was used on one day.
    Day,
}

/// What was used by one agent, of one model or on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The agent, the model (`provider/model`), or the day (`2026-01-15`).
    pub key: Arc<str>,
    /// Its sum.
    pub usage: Usage,
    /// Whether all prices are known; otherwise the money is less than was paid.
    pub priced: bool,
}

/// What was used since a moment; days in their order, all else with what cost most first. Days are those of `zone`.
#[boxed]
pub async fn spent(
    store: &dyn Store,
    since: Option<Time>,
    by: By,
    zone: &TimeZone,
) -> Result<Vec<Spent>, store::Error> {
    let mut sums: BTreeMap<Arc<str>, Spent> = BTreeMap::new();
    for root in used_since(store, since).await? {
        let mut requests = requests(store, &root).await?;
        let paid_before = requests.paid_before(store).await?;
        let is_new = |request: &Request| since.is_none_or(|since| request.at >= since);
        requests.all.retain(|request| is_new(request) && !paid_before.contains(&request.mark()));
        for Request { at, agent, model, priced, usage } in requests.all {
            let key = match by {
                By::Agent => agent,
                By::Model => model,
                By::Day => day(at, zone),
            };
            let none = Spent { key: key.clone(), usage: Usage::default(), priced: true };
            let sum = sums.entry(key).or_insert(none);
            sum.usage = sum.usage.plus(&usage);
            sum.priced &= priced || usage.tokens.total() == 0;
        }
    }
    let mut sums: Vec<Spent> = sums.into_values().collect();
    if by != By::Day {
        sums.sort_by_key(|sum| std::cmp::Reverse((sum.usage.cost_microusd, sum.usage.tokens.total())));
    }
    Ok(sums)
}

fn day(at: Time, zone: &TimeZone) -> Arc<str> {
    let moment = Timestamp::from_millisecond(at.0).unwrap_or_default();
    moment.to_zoned(zone.clone()).date().to_string().into()
}

/// The conversations in which a thread that used something was written to since a moment.
async fn used_since(store: &dyn Store, since: Option<Time>) -> Result<BTreeSet<ThreadId>, store::Error> {
    let (mut roots, mut before) = (BTreeSet::new(), None);
    loop {
        let page = ThreadQuery { before, limit: PAGE, ..ThreadQuery::default() };
        let rows = store.threads(page).await?;
        let is_new = |at: Time| since.is_none_or(|since| at >= since);
        roots.extend(rows.iter().filter(|row| row.turns > 0 && is_new(row.updated_at)).map(|row| row.root.clone()));
        match rows.last() {
            Some(last) if rows.len() == PAGE => before = Some(last.id.clone()),
            _ => return Ok(roots),
        }
    }
}

/// One request to a model, whether it was answered or not.
struct Request {
    at: Time,
    agent: Arc<str>,
    model: Arc<str>,
    /// Whether it is known what its model costs.
    priced: bool,
    usage: Usage,
}

/// What a copy of a request has, too: when it ended, its tokens and its money.
type Mark = (Time, u64, u64);

impl Request {
    fn mark(&self) -> Mark {
        (self.at, self.usage.tokens.total(), self.usage.cost_microusd)
    }
}

/// The requests of a conversation and its sub-agents.
#[derive(Default)]
struct Requests {
    all: Vec<Request>,
    /// The conversations that it is a copy of.
    copied_from: BTreeSet<ThreadId>,
}

impl Requests {
    /// The requests of the conversations of which this is a copy.
    async fn paid_before(&self, store: &dyn Store) -> Result<HashSet<Mark>, store::Error> {
        let mut paid = HashSet::new();
        for original in &self.copied_from {
            // One that was deleted is counted in its copy.
            match requests(store, original).await {
                Ok(found) => paid.extend(found.all.iter().map(Request::mark)),
                Err(store::Error::UnknownThread(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(paid)
    }
}

async fn requests(store: &dyn Store, root: &ThreadId) -> Result<Requests, store::Error> {
    /// An agent, its model, and whether it is known what that costs.
    type Speaker = (Arc<str>, Arc<str>, bool);
    let mut speakers: BTreeMap<ThreadId, Speaker> = BTreeMap::new();
    let mut requests = Requests::default();
    let see = |record: Record| {
        match &*record.event {
            Event::ThreadCreated(created) => {
                let model = &created.role.model;
                let speaker = (created.role.name.clone(), model.name.clone(), model.has_known_cost());
                speakers.insert(record.thread.clone(), speaker);
                requests.copied_from.extend(created.copied_from.iter().map(ThreadId::root));
            }
            Event::SettingsChanged { model: Some(model), .. } => {
                if let Some(speaker) = speakers.get_mut(&record.thread) {
                    (speaker.1, speaker.2) = (model.name.clone(), model.has_known_cost());
                }
            }
            _ => {}
        }
        let usage = used_by(&record.event).filter(|usage| usage.requests > 0 || usage.tokens.total() > 0);
        if let (Some(usage), Some((agent, model, priced))) = (usage, speakers.get(&record.thread)) {
            let (agent, model, priced) = (agent.clone(), model.clone(), *priced);
            requests.all.push(Request { at: record.at, agent, model, priced, usage });
        }
    };
    replay(store, Selection::tree(root), see).await?;
    // A copy of a copy names all of them; its own sub-agents are no originals.
    requests.copied_from.remove(root);
    Ok(requests)
}
