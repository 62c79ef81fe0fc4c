//! What people are asked about, and what they answer: what a call leads to changes under the agents, rules are tightened, and
//! the person who is asked says yes, no or something else, twice, late, about another thing, or never anything.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent::approval::{Approval, Decision, EXPIRES_MS, Resolution, Scope};
use agent::model::Model;
use agent::permission::{Action, Rule};
use agent::tools::Assessment;
use agent::{Catalog, Consent, Facts, Input, InputId, Json, Outside, Thread, Time};
use serde_json::json;

use super::people::{PlannedInput, To};
use super::setting::Published;
use super::{Due, Sight, Sim};
use crate::dice::Dice;

const MINUTE_MS: u64 = 60_000;

/// What facts are gathered from, as it stands at this moment.
pub(super) struct World {
    catalog: Mutex<Arc<Catalog>>,
    models: fn(&str) -> Result<Model, String>,
    /// How often that which calls lead to has changed.
    changes: AtomicU64,
    rules: Mutex<Arc<[Rule]>>,
}

impl World {
    pub fn new(catalog: Catalog, models: fn(&str) -> Result<Model, String>) -> Self {
        let (changes, rules) = (AtomicU64::default(), Mutex::default());
        Self { catalog: Mutex::new(Arc::new(catalog)), models, changes, rules }
    }

    /// The tools and agents that are in force.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Other tools are in force from here on.
    pub fn publish(&self, catalog: Catalog) {
        *self.catalog.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
    }

    /// What a thread needs to know for an input, and nothing more.
    pub fn facts(&self, consent: Consent, thread: &Thread, input: &Input, now: Time) -> Facts {
        let mut facts = Facts::new(self.catalog(), consent);
        let needs = thread.needs(&facts, input, now);
        facts.rules = needs.rules.then(|| self.rules());
        let model = |name: Arc<str>| ((self.models)(&name).map_err(Arc::from), name);
        facts.models = needs.models.into_iter().map(model).map(|(model, name)| (name, model)).collect();
        for (tool, input) in needs.calls {
            let assessment = self.assess(&tool, &input).expect("what is asked for is there");
            facts.assessed(&tool, &input, assessment);
        }
        facts
    }

    /// One more rule holds from here on.
    pub fn tighten(&self, rule: Rule) {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        *rules = rules.iter().cloned().chain([rule]).collect();
    }

    /// What calls lead to is not what it was.
    fn change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn rules(&self) -> Arc<[Rule]> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a call would do; none where its tool was removed.
    pub fn assess(&self, tool: &str, input: &Json) -> Option<Assessment> {
        let catalog = self.catalog();
        let tool = catalog.tools.get(tool)?;
        let plain = Assessment::of(tool, input);
        let changes = self.changes.load(Ordering::Relaxed);
        let (standing, leads_to) = match &*tool.name {
            "run_command" => (Some("*".into()), changes),
            "write" => (plain.subjects.first().cloned(), changes),
            _ => (None, 0),
        };
        Some(Assessment { standing, digest: format!("{} {leads_to}", plain.digest).into(), ..plain })
    }
}

/// A rule that a person writes.
pub(super) fn rule(dice: &mut Dice) -> Rule {
    Rule {
        tool: (*dice.pick(&["look", "fetch", "write", "patch", "run_command", "*"])).into(),
        pattern: dice.maybe(50, |dice| format!("*{}*", dice.below(4)).into()),
        agent: dice.maybe(20, |_| "worker".into()),
        action: *dice.pick(&[Action::Ask, Action::Ask, Action::Deny]),
        origin: "a person".into(),
    }
}

impl Sim {
    /// Tools are published and removed while agents live. Thrown aside, so that all else of a seed is the same.
    pub(super) fn plan_publishing(&mut self) {
        let mut aside = Dice::new(!self.seed);
        if !aside.chance(40) {
            return;
        }
        for _ in 0..aside.between(1, 4) {
            let within_ms = *aside.pick(&[3_000, MINUTE_MS, 10 * MINUTE_MS]);
            let (after_ms, published) = (aside.below(within_ms), *aside.pick(&Published::ALL));
            self.after(after_ms, Due::Publish(published));
        }
    }

    pub(super) fn publish(&mut self, published: Published) {
        self.note(format!("other tools are published: {published:?}"));
        self.world.publish(published.catalog());
    }

    /// Things change and rules are tightened, where people are asked at all.
    pub(super) fn plan_changes(&mut self) {
        if !self.behaviour.asks {
            return;
        }
        for _ in 0..*self.dice.pick(&[0, 2, 8]) {
            let after_ms = self.dice.below(15 * MINUTE_MS);
            self.after(after_ms, Due::Change);
        }
        for _ in 0..*self.dice.pick(&[0, 0, 1, 2]) {
            let (after_ms, rule) = (self.dice.below(15 * MINUTE_MS), rule(&mut self.dice));
            self.after(after_ms, Due::Tighten(rule.into()));
        }
    }

    pub(super) fn change(&mut self) {
        self.world.change();
        self.note("what calls lead to has changed".into());
    }

    pub(super) fn tighten(&mut self, rule: Rule) {
        self.note(format!("a rule is written down: {rule}"));
        self.world.tighten(rule);
    }

    /// Whether a person can answer the questions of a process that begins.
    pub(super) fn consent(&mut self) -> Consent {
        if self.behaviour.asks && !self.dice.chance(15) { Consent::Asked } else { Consent::Nobody }
    }

    /// A question is in the log: people will answer it, or not.
    pub(super) fn ask_people(&mut self, approval: &Approval) {
        self.summary.see(if approval.places == 0 { Sight::Asked } else { Sight::StartAsked });
        if !self.asked.insert((approval.id.thread(), approval.call.clone())) {
            self.summary.see(Sight::AskedAgain);
        }
        if self.dice.chance(15) {
            let soon = self.dice.below(MINUTE_MS / 2);
            self.after(soon, Due::Change);
        }
        if self.dice.chance(6) {
            let forbids = Rule { tool: approval.tool.clone(), pattern: None, agent: None, ..rule(&mut self.dice) };
            let soon = self.dice.below(MINUTE_MS / 2);
            self.after(soon, Due::Tighten(Rule { action: Action::Deny, ..forbids }.into()));
        }
        if self.dice.chance(self.behaviour.silent) {
            return;
        }
        for number in 1..=*self.dice.pick(&[1, 1, 1, 2]) {
            let after_ms = self.thinks_ms();
            let decision = decision(&mut self.dice, approval);
            let other = self.dice.chance(8);
            let digest = if other { "something else".into() } else { approval.digest.clone() };
            let input = Outside::Decided { approval: approval.id.clone(), digest, decision };
            let (to, id) = (To::This(approval.id.thread()), InputId::new(format!("{} {number}", approval.id)));
            self.after(after_ms, Due::PersonSends(PlannedInput { after_ms, to, id, input, next: None }));
        }
    }

    /// What came of a question. Between a person's yes and the execution, too, things change.
    pub(super) fn saw_resolution(&mut self, resolution: &Resolution) {
        if matches!(resolution, Resolution::Allowed { .. }) && self.dice.chance(8) {
            self.change();
        }
        self.summary.see(match resolution {
            Resolution::Allowed { input: Some(_), .. } => Sight::Edited,
            Resolution::Allowed { scope: Scope::Thread | Scope::Always, .. } => Sight::AllowedForThread,
            Resolution::Allowed { .. } => Sight::Allowed,
            Resolution::Answered { .. } => Sight::Answered,
            Resolution::Denied { .. } => Sight::Denied,
            Resolution::Forbidden { .. } => Sight::Forbidden,
            Resolution::Expired { .. } => Sight::Expired,
            Resolution::Unanswered { .. } => Sight::Unanswered,
            Resolution::Withdrawn { .. } => Sight::Withdrawn,
        });
    }

    /// How long a person takes to decide: moments, minutes, most of a day, or a little longer than there is.
    fn thinks_ms(&mut self) -> u64 {
        match self.dice.below(10) {
            0..=3 => self.dice.below(MINUTE_MS / 3),
            4..=7 => self.dice.below(20 * MINUTE_MS),
            8 => self.dice.below(EXPIRES_MS),
            _ => EXPIRES_MS - MINUTE_MS + self.dice.below(2 * MINUTE_MS),
        }
    }
}

fn decision(dice: &mut Dice, approval: &Approval) -> Decision {
    // A word of the other kind comes to nothing, and the question stays open.
    let is_answered = approval.question.is_some() != dice.chance(10);
    if is_answered && !dice.chance(20) {
        return Decision::Answer { text: "the blue one".into() };
    }
    if dice.chance(25) {
        return Decision::Deny { reason: dice.maybe(50, |_| "not today".into()) };
    }
    let scope = *dice.pick(&[Scope::Once, Scope::Once, Scope::Thread, Scope::Always]);
    Decision::Allow { scope, input: dice.maybe(20, |dice| Json::of(&json!({"n": dice.below(4), "edited": true}))) }
}
