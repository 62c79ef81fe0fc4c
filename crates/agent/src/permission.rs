//! The one engine that says whether a call may be made: mode × tool × arguments × agent → allow, ask or deny, and why.
//!
//! A child's permission is the meet of its own and that of everybody above it, worked out anew at every call from the rules as
//! they stand then, so that a rule that is tightened reaches those who run already. What a call would do is told by the tools
//! ([`Assessment`]); asking a person is `turn/approval.rs`.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::mode::Mode;
use crate::tools::{Assessment, RUN_COMMAND, Reach, Risk};

pub use crate::turn::permission::Ruling;

/// In what a call may do, it stands for text that is not known before the call is made, as a star does in a pattern. No command
/// and no path that is accepted holds this character.
pub const UNKNOWN: char = '\0';

/// What is done about a call. The order is the order of caution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is made.
    Allow,
    /// A person decides.
    Ask,
    /// It is not made.
    Deny,
}

impl Action {
    /// The word used in configuration and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Ask => "ask",
            Action::Deny => "deny",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rule of a person's: which calls, of whom, and what is done about them. `*` stands for any text in all three patterns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The tools.
    pub tool: Arc<str>,
    /// What they are used on: a command, a path; none means anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Arc<str>>,
    /// The agents; none means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// What is done.
    pub action: Action,
    /// Where it was written down, for people.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub origin: Arc<str>,
}

impl Rule {
    /// Calls of this tool are made.
    pub fn allow(tool: impl Into<Arc<str>>) -> Self {
        Self { tool: tool.into(), pattern: None, agent: None, action: Action::Allow, origin: "".into() }
    }

    /// Calls of this tool are put to a person.
    pub fn ask(tool: impl Into<Arc<str>>) -> Self {
        Self { action: Action::Ask, ..Self::allow(tool) }
    }

    /// Calls of this tool are not made.
    pub fn deny(tool: impl Into<Arc<str>>) -> Self {
        Self { action: Action::Deny, ..Self::allow(tool) }
    }

    /// Only calls on what this pattern names: a command, a path, or the arguments as JSON.
    #[must_use]
    pub fn on(self, pattern: impl Into<Arc<str>>) -> Self {
        Self { pattern: Some(pattern.into()), ..self }
    }

    /// Only calls of agents whose names fit.
    #[must_use]
    pub fn by(self, agent: impl Into<Arc<str>>) -> Self {
        Self { agent: Some(agent.into()), ..self }
    }

    fn is_for(&self, agent: &str, tool: &str) -> bool {
        matches(&self.tool, tool) && self.agent.as_ref().is_none_or(|pattern| matches(pattern, agent))
    }

    fn covers(&self, subject: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| matches(pattern, subject))
    }

    /// Whether the rule may be meant by what a call may do: some text is both.
    fn may_cover(&self, act: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| overlaps(pattern, act))
    }

    /// Whether it denies or asks by the spelling of a command alone: its pattern holds a path, an option or something that
    /// only a shell reads, so that the same done in other words is not covered. Any other pattern is compared with what a command does.
    pub fn matches_text_only(&self) -> bool {
        let is_spelling = |word: &str| word.len() > 1 && word.starts_with('-');
        let has_spelling = |pattern: &Arc<str>| {
            pattern.contains(['/', '\\', '\'', '"', '$', '`', ';', '|', '&', '<', '>', '=', '(', '{'])
                || pattern.split(' ').any(is_spelling)
        };
        self.action != Action::Allow
            && matches(&self.tool, RUN_COMMAND)
            && self.pattern.as_ref().is_some_and(has_spelling)
    }

    /// Whether the rule speaks of a protected place by its name, and not only of everything.
    fn names(&self, place: &str) -> bool {
        let is_named = |text: &str| {
            text.match_indices(place).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + place.len()..]);
                let is_end = |c: Option<char>| c.is_none_or(|c| !(c.is_alphanumeric() || "._-".contains(c)));
                is_end(before.chars().next_back()) && is_end(after.chars().next())
            })
        };
        self.pattern.as_ref().is_some_and(|pattern| pattern.split('*').any(is_named))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action, self.tool)?;
        if let Some(pattern) = &self.pattern {
            write!(f, " '{pattern}'")?;
        }
        if let Some(agent) = &self.agent {
            write!(f, " for {agent}")?;
        }
        if !self.origin.is_empty() {
            write!(f, " ({})", self.origin)?;
        }
        Ok(())
    }
}

/// One of those on the way from the root to the one who calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// The agent's name.
    pub agent: Arc<str>,
    /// Its mode.
    pub mode: Mode,
}

/// A call as the engine sees it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What it would do.
    pub assessment: &'a Assessment,
    /// Whether text from outside was read before. For a call that reaches a network: whether any text was read that the call could carry out.
    pub foreign: bool,
    /// Why the policy wants a person to decide, wherever anybody is asked at all.
    pub asks: Option<&'a str>,
}

impl Asked<'_> {
    /// How much a person should think: a level more after text from outside, for what is not only looking.
    pub fn risk(&self) -> Risk {
        let risk = self.assessment.risk;
        if self.foreign && self.assessment.reach > Reach::Own { risk.raised() } else { risk }
    }
}

/// Who decided about a call. The words that say so to people are beside it (`by`) and are never read by a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// The thread's mode, or that of a thread above it.
    Mode,
    /// A person's rule.
    Rule,
    /// A protected place that the call would change.
    Protected,
    /// The policy, which wants a person to decide before sub-agents are started.
    Policy,
    /// A person's consent for this thread.
    Consent,
    /// The thread's tools: it does not have the tool, or the call starts no sub-agent and needs no decision.
    Tools,
}

/// What one layer says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The layer.
    pub layer: Layer,
    /// What it says.
    pub action: Action,
    /// Who decided.
    pub decider: Decider,
    /// The rule or the mode that decided, in words.
    pub by: Arc<str>,
    /// Whether a rule denies what the call may do, and it cannot be told before whether it does that.
    pub is_undecided: bool,
}

/// What all layers say of a call together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What is done.
    pub action: Action,
    /// Who decided.
    pub decider: Decider,
    /// The rule or the mode that decided, and whose, in words.
    pub by: Arc<str>,
    /// Whether that is a rule that denies what the call may do, and it cannot be told before whether it does that.
    pub is_undecided: bool,
    /// Root first, the caller last.
    pub chain: Vec<Link>,
}

/// A call, what it would do, and what is done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// What it would do.
    pub assessment: Assessment,
    /// How much a person should think, with what was read before.
    pub risk: Risk,
    /// What is done about it.
    pub judgement: Judgement,
    /// What would allow it, where that is not a rule for the call itself: a check that it would have run decided.
    pub way_out: Option<Arc<str>>,
}

/// What becomes of a call: the most cautious word of all layers; a person's consent for the caller itself turns a question
/// into leave, and never a refusal.
pub fn judge(chain: &[Layer], rules: &[Rule], granted: &[Rule], asked: &Asked<'_>) -> Judgement {
    let links: Vec<Link> = chain.iter().map(|layer| say(layer, rules, asked)).collect();
    let granted: Vec<&Rule> = granted.iter().filter(|rule| matches(&rule.tool, asked.tool)).collect();
    // Of several that ask, the one that no mode and no rule that allows can lift.
    let strictest = links.iter().max_by_key(|link| (link.action, link.is_undecided)).cloned();
    let (action, decider, by, is_undecided) = match strictest {
        // Consent for more than once was given without a protected place in sight.
        Some(link)
            if link.action == Action::Ask && asked.assessment.protected.is_empty() && all_covered(&granted, asked) =>
        {
            (Action::Allow, Decider::Consent, "a person allowed it for this thread".into(), false)
        }
        Some(link) => (link.action, link.decider, whose(&link, links.len()), link.is_undecided),
        None => (Action::Deny, Decider::Tools, "no thread makes this call".into(), false),
    };
    Judgement { action, decider, by, is_undecided, chain: links }
}

/// What a tool may not be used on, whichever agent of the chain calls it: the patterns of the rules that deny it.
pub fn forbidden(chain: &[Layer], rules: &[Rule], tool: &str) -> Vec<Arc<str>> {
    let denies =
        |rule: &&Rule| rule.action == Action::Deny && chain.iter().any(|layer| rule.is_for(&layer.agent, tool));
    rules.iter().filter(denies).filter_map(|rule| rule.pattern.clone()).collect()
}

fn whose(link: &Link, layers: usize) -> Arc<str> {
    if layers > 1 { format!("{} (agent {})", link.by, link.layer.agent).into() } else { link.by.clone() }
}

fn say(layer: &Layer, rules: &[Rule], asked: &Asked<'_>) -> Link {
    let link = |action, decider, by: String| Link {
        layer: layer.clone(),
        action,
        decider,
        by: by.into(),
        is_undecided: false,
    };
    let by_rule = |action, by: String| link(action, Decider::Rule, by);
    let assessment = asked.assessment;
    if layer.mode == Mode::Plan && assessment.reach > Reach::ReadOnly {
        return link(Action::Deny, Decider::Mode, "mode plan: read only".to_owned());
    }
    let own: Vec<&Rule> = rules.iter().filter(|rule| rule.is_for(&layer.agent, asked.tool)).collect();
    // Where nothing asks, a rule that asks has nothing to say.
    let strict: &[Action] = if layer.mode == Mode::Dangerous { &[Action::Deny] } else { &[Action::Deny, Action::Ask] };
    for &action in strict {
        let rules = || own.iter().filter(|rule| rule.action == action);
        let names = || assessment.subjects.iter().chain(&assessment.also);
        let touches = |rule: &&&Rule| names().any(|subject| rule.covers(subject));
        if let Some(rule) = rules().find(touches) {
            return by_rule(action, format!("rule: {rule}"));
        }
        // What cannot be read may be just what the rule forbids, and a limit of the reader weakens no rule.
        if !assessment.is_readable
            && let Some(rule) = rules().next()
        {
            return by_rule(action, format!("rule: {rule} (the call cannot be parsed)"));
        }
        let may_touch = |rule: &&&Rule| assessment.perhaps.iter().any(|act| rule.may_cover(act));
        if let Some(rule) = rules().find(may_touch) {
            // Where nothing asks there is nobody to decide.
            let action = if layer.mode == Mode::Dangerous { Action::Deny } else { Action::Ask };
            let by = format!("rule: {rule} (it may apply: what the call does is known only when it runs)");
            return Link { is_undecided: rule.action == Action::Deny, ..by_rule(action, by) };
        }
    }
    let allows: Vec<&Rule> = own.into_iter().filter(|rule| rule.action == Action::Allow).collect();
    let protected = assessment.protected.iter().find(|place| !allows.iter().any(|rule| rule.names(place)));
    if protected.is_none() && all_covered(&allows, asked) {
        let rule = allows.iter().find(|rule| assessment.subjects.iter().any(|subject| rule.covers(subject)));
        return by_rule(Action::Allow, rule.map_or_else(|| "a rule".to_owned(), |rule| format!("rule: {rule}")));
    }
    let (action, decider, by) = by_mode(layer.mode, asked, protected.map(|place| &**place));
    link(action, decider, by)
}

/// Whether every part of a call is covered by some rule that allows, and the call can be told by its parts at all.
fn all_covered(allows: &[&Rule], asked: &Asked<'_>) -> bool {
    let assessment = asked.assessment;
    let by_pattern = assessment.is_plain && !assessment.subjects.is_empty();
    let everything = allows.iter().any(|rule| rule.pattern.is_none());
    let covered = |subject: &Arc<str>| allows.iter().any(|rule| rule.covers(subject));
    everything || by_pattern && assessment.subjects.iter().all(covered)
}

fn by_mode(mode: Mode, asked: &Asked<'_>, protected: Option<&str>) -> (Action, Decider, String) {
    let reach = asked.assessment.reach;
    match (mode, protected) {
        (Mode::Dangerous, Some(place)) => {
            return (Action::Deny, Decider::Protected, format!("'{place}' is protected, and no rule names it"));
        }
        (Mode::Ask | Mode::Auto, Some(place)) => {
            return (Action::Ask, Decider::Protected, format!("'{place}' is protected"));
        }
        (_, None) | (Mode::Plan, Some(_)) => {}
    }
    if let Some(why) = asked.asks.filter(|_| mode != Mode::Dangerous) {
        return (Action::Ask, Decider::Policy, why.to_owned());
    }
    let says = |action, why: &str| (action, Decider::Mode, format!("mode {mode}: {why}"));
    match (mode, reach) {
        (_, Reach::ReadOnly) => says(Action::Allow, "reading is allowed"),
        (Mode::Dangerous, _) => says(Action::Allow, "everything is allowed"),
        (Mode::Plan, _) => says(Action::Deny, "read only"),
        (Mode::Ask | Mode::Auto, Reach::Own) => says(Action::Allow, "it changes only the agent's own notes"),
        (Mode::Auto, Reach::Workspace) if asked.risk() < Risk::High => {
            says(Action::Allow, "writing in the workspace is allowed")
        }
        (Mode::Auto, Reach::Workspace) => says(Action::Ask, "risky actions need approval"),
        (Mode::Ask, Reach::Workspace) => says(Action::Ask, "writing needs approval"),
        (Mode::Auto, Reach::Network) if !asked.foreign => {
            says(Action::Allow, "the agent has read nothing yet that a request could carry out")
        }
        (Mode::Ask | Mode::Auto, Reach::Network) => {
            says(Action::Ask, "a request can carry text out, so each host needs approval")
        }
        (Mode::Ask | Mode::Auto, Reach::World) => says(Action::Ask, "actions outside the workspace need approval"),
    }
}

/// Whether `text` is what `pattern` means: `*` stands for any text, also none; everything else for itself.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether some text is what `pattern` means and what `act` may be: `*` stands for any text in the one, [`UNKNOWN`] in the other.
fn overlaps(pattern: &str, act: &str) -> bool {
    let act: Vec<char> = act.chars().collect();
    // For each beginning of the act, whether it can be what the beginning of the pattern that was read so far means.
    let mut reached = vec![false; act.len() + 1];
    reached[0] = true;
    skip_unknown(&act, &mut reached);
    for c in pattern.chars() {
        let before = std::mem::replace(&mut reached, vec![false; act.len() + 1]);
        for at in 0..=act.len() {
            let is_unknown = act.get(at) == Some(&UNKNOWN);
            if c == '*' {
                // It takes nothing, or whatever comes.
                reached[at] |= before[at] || at > 0 && reached[at - 1];
            } else if before[at] && is_unknown {
                reached[at] = true;
            } else if before[at] && act.get(at) == Some(&c) {
                reached[at + 1] = true;
            }
        }
        skip_unknown(&act, &mut reached);
    }
    reached[act.len()]
}

/// What is unknown may be no text at all.
fn skip_unknown(act: &[char], reached: &mut [bool]) {
    for at in 0..act.len() {
        reached[at + 1] |= reached[at] && act[at] == UNKNOWN;
    }
}
