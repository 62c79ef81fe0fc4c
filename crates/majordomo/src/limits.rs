//! What a run may spend and how many sub-agents it may have.

use std::time::Duration;

use agent::budget::Grant;
use agent::policy::Policy;

use crate::staff::Error;

/// Limits of a run: of the root agent together with all its sub-agents. What is not said is as configured; the defaults are 20 000
/// requests and 100 million tokens for the whole tree, and two levels of sub-agents.
///
/// A request that would exceed a limit is not sent: the agent gets one last turn to say what is done and what is left, and the
/// report has the outcome [`BudgetExceeded`](crate::Outcome::BudgetExceeded), or [`Timeout`](crate::Outcome::Timeout).
///
/// ```
/// use std::time::Duration;
/// use majordomo::Limits;
///
/// let limits = Limits::new().tokens(200_000).cost_usd(0.50).time(Duration::from_secs(120)).children(8);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    tokens: Option<u64>,
    cost_usd: Option<f64>,
    time: Option<Duration>,
    requests: Option<u32>,
    tool_calls: Option<u32>,
    depth: Option<u32>,
    children: Option<u32>,
    concurrent: Option<u32>,
}

impl Limits {
    /// No limits beside the configured ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tokens, prompts and answers together, of the whole tree (`grant.tokens`).
    #[must_use]
    pub fn tokens(self, most: u64) -> Self {
        Self { tokens: Some(most), ..self }
    }

    /// US dollars of the whole tree (`grant.cost`). It holds for models whose price is known or set (`models.NAME.price`).
    #[must_use]
    pub fn cost_usd(self, most: f64) -> Self {
        Self { cost_usd: Some(most), ..self }
    }

    /// Time from the message to the report (`grant.timeout_s`, in whole seconds). It stands still while a person decides an approval.
    #[must_use]
    pub fn time(self, most: Duration) -> Self {
        Self { time: Some(most), ..self }
    }

    /// Requests to models of the whole tree; one that is tried again counts each time (`grant.requests`).
    #[must_use]
    pub fn requests(self, most: u32) -> Self {
        Self { requests: Some(most), ..self }
    }

    /// Tool calls of the root agent (`grant.tool_calls`). Those of a sub-agent are `policy.child.max_tool_calls`.
    #[must_use]
    pub fn tool_calls(self, most: u32) -> Self {
        Self { tool_calls: Some(most), ..self }
    }

    /// Levels of sub-agents below the root; 0 for none at all (`policy.max_depth`).
    #[must_use]
    pub fn depth(self, most: u32) -> Self {
        Self { depth: Some(most), ..self }
    }

    /// Sub-agents below each agent (`policy.max_children`).
    #[must_use]
    pub fn children(self, most: u32) -> Self {
        Self { children: Some(most), ..self }
    }

    /// Sub-agents of each agent that run at the same time; others wait in line (`policy.max_concurrent`).
    #[must_use]
    pub fn concurrent(self, most: u32) -> Self {
        Self { concurrent: Some(most), ..self }
    }

    /// The same as settings, each a key and its value.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let text = |key, value: Option<u64>| value.map(|value| (key, value.to_string()));
        let number = |key, value: Option<u32>| text(key, value.map(u64::from));
        [
            text("grant.tokens", self.tokens),
            self.cost_usd.map(|cost| ("grant.cost", cost.to_string())),
            text("grant.timeout_s", self.time.map(|time| time.as_millis().div_ceil(1000) as u64)),
            number("grant.requests", self.requests),
            number("grant.tool_calls", self.tool_calls),
            number("policy.max_depth", self.depth),
            number("policy.max_children", self.children),
            number("policy.max_concurrent", self.concurrent),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Puts these limits in the place of the configured ones.
    pub(crate) fn apply(&self, grant: &mut Grant, policy: &mut Policy) -> Result<(), Error> {
        if self.concurrent == Some(0) {
            return Err(Error::Limit("concurrent(0) would let no sub-agent run; for none at all, say depth(0)".into()));
        }
        if let Some(cost) = self.cost_usd.filter(|cost| !cost.is_finite() || *cost < 0.0) {
            return Err(Error::Limit(format!("cost_usd({cost}) is no amount of money").into()));
        }
        let microusd = |cost: f64| (cost * 1e6).round() as u64;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        grant.tokens = self.tokens.or(grant.tokens);
        grant.cost_microusd = self.cost_usd.map(microusd).or(grant.cost_microusd);
        grant.time_ms = self.time.map(ms).or(grant.time_ms);
        grant.requests = self.requests.or(grant.requests);
        grant.tool_calls = self.tool_calls.or(grant.tool_calls);
        policy.max_depth = self.depth.unwrap_or(policy.max_depth);
        policy.max_children = self.children.unwrap_or(policy.max_children);
        policy.max_concurrent = self.concurrent.unwrap_or(policy.max_concurrent);
        Ok(())
    }
}
