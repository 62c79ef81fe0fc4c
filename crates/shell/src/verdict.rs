//! What is thought of one thing in a command, and how several thoughts become one: the worst of each.

use std::borrow::Cow;

use agent::tools::{Reach, Risk};

/// A judgement with its reason.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub reach: Reach,
    pub risk: Risk,
    pub why: Cow<'static, str>,
    pub network: bool,
    /// Whether a known program is used in a way that is not known: a pattern written with the usual use in mind must
    /// not decide.
    pub is_tricky: bool,
}

impl Verdict {
    fn new(reach: Reach, risk: Risk, why: impl Into<Cow<'static, str>>) -> Self {
        Self { reach, risk, why: why.into(), network: false, is_tricky: false }
    }

    /// It certainly only looks.
    pub fn looks() -> Self {
        Self::new(Reach::ReadOnly, Risk::Low, "it only reads")
    }

    /// Ordinary work, whose writes a sandbox bounds.
    pub fn works(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reach::Workspace, Risk::Medium, why)
    }

    /// It stays in the workspace, and what it does there is hard to undo.
    pub fn hard_to_undo(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reach::Workspace, Risk::High, why)
    }

    /// It may do anything, or what it does is unknown.
    pub fn unsure(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reach::World, Risk::High, why)
    }

    /// It leaves the machine, takes privilege, sends data or destroys.
    pub fn grave(why: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Reach::World, Risk::Critical, why)
    }

    /// A known program used in a way that is not known.
    pub fn tricky(why: impl Into<Cow<'static, str>>) -> Self {
        Self { is_tricky: true, ..Self::unsure(why) }
    }

    pub fn with_network(self) -> Self {
        Self { network: true, ..self }
    }

    /// The worst of both; the reason is the one of the worse.
    pub fn and(self, other: Self) -> Self {
        let reach = self.reach.max(other.reach);
        let risk = self.risk.max(other.risk);
        let network = self.network || other.network;
        let is_tricky = self.is_tricky || other.is_tricky;
        let why = if (other.risk, other.reach) > (self.risk, self.reach) { other.why } else { self.why };
        Self { reach, risk, why, network, is_tricky }
    }
}
