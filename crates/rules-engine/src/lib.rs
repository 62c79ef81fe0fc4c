//! The offline language engine: answers requests about a household by rules, without a language model, the same way every time.
//!
//! [`RulesEngine`] is a model that runs in this process. Which agent it answers for is read from the tools it was given and from its
//! brief; what it does next, from the conversation alone, so that a restarted process continues at the right place.
//! [`classify`] says what a request asks for, [`time::parse`](household::time::parse) what it says about time; both are pure.
//!
//! Text of mails, calendars and notes comes in as values of tool results and is only ever quoted. It is never read as a
//! request. Absent: anything that pretends to be a language model.

mod agent_context;
mod butler;
mod communicator;
mod conversation;
mod entities;
mod household_request;
mod intent;
mod learner;
mod lexicon;
mod navigator;
mod person;
mod phrases;
mod reasons;
mod remark;
mod scheduler;
mod speech;
mod spelling;
mod task;
mod triage;
mod wording;

use std::sync::{Arc, OnceLock};

use jiff::tz::TimeZone;
use provider::{Answering, Ask, Heard, Resident, Said};

use agent_context::AgentContext;
use conversation::Turn;
use household::{Household, Now, Vocabulary};
use phrases::DateWords;
use speech::Speech;
use task::SpecialistTask;

pub use entities::Entities;
pub use household_request::is_household_request;
pub use intent::{Classification, Context, Direct, Intent, IntentMatch, Question, classify};

/// The engine's name as a model of the provider `builtin`: `builtin/rules`.
pub const NAME: &str = "rules";

/// The most calls that one request leads to.
const MOST_CALLS: usize = 6;

/// What a household knows at this moment: the names of people, and the words of its own texts.
type Known = Arc<dyn Fn() -> (Vec<String>, Arc<Vocabulary>) + Send + Sync>;

/// The engine.
pub struct RulesEngine {
    now: Now,
    zone: TimeZone,
    known: Known,
}

impl RulesEngine {
    /// An engine with this clock and time zone.
    pub fn new(now: Now, zone: TimeZone) -> Self {
        Self { now, zone, known: Arc::new(|| (Vec::new(), Arc::default())) }
    }

    /// An engine for a household. Whom it knows is looked up when a request is answered: its address book, and those who wrote or were written to.
    pub fn for_household(household: &Arc<Household>) -> Self {
        let known = Arc::clone(household);
        let engine = Self::new(Arc::clone(&household.options().now), household.options().zone.clone());
        // Words stay words: they are gathered once.
        let words: OnceLock<Arc<Vocabulary>> = OnceLock::new();
        let vocabulary =
            move |household: &Household| Arc::clone(words.get_or_init(|| Arc::new(household.vocabulary())));
        Self { known: Arc::new(move || (known.known_people(), vocabulary(&known))), ..engine }
    }

    /// The same engine with the names of these people alone.
    #[must_use]
    pub fn with_people(self, people: impl IntoIterator<Item = String>) -> Self {
        let people: Vec<String> = people.into_iter().collect();
        Self { known: Arc::new(move || (people.clone(), Arc::default())), ..self }
    }

    /// The context of a request made now.
    pub fn context(&self) -> Context {
        self.context_of((self.known)())
    }

    fn context_of(&self, (people, words): (Vec<String>, Arc<Vocabulary>)) -> Context {
        Context { now: (self.now)().to_zoned(self.zone.clone()), people, words }
    }
}

impl Resident for RulesEngine {
    fn answer<'a>(&'a self, heard: &'a Heard, ask: &'a Ask) -> Answering<'a> {
        let known = Arc::clone(&self.known);
        Box::pin(async move {
            // What is known is read from files, which may take a moment.
            let known = tokio::task::spawn_blocking(move || known()).await.unwrap_or_default();
            Ok(self.next_words(heard, ask, self.context_of(known)))
        })
    }
}

impl RulesEngine {
    /// What it says next in a conversation.
    fn next_words(&self, heard: &Heard, ask: &Ask, context: Context) -> Said {
        let turns = conversation::turns(&heard.messages);
        let speech = Speech::of(&turns);
        let dates = DateWords { now: context.now.clone(), speech };
        let tools = heard.tools.iter().map(|tool| Arc::clone(&tool.name)).collect();
        let cx = AgentContext { context, dates, speech, tools };
        let current = turns.last().cloned().unwrap_or_default();
        let agent = Agent::of(&cx, &current);
        let said = agent.next(&turns, &current, &cx);
        if said.calls.is_empty() || (ask.calls_allowed && current.calls.len() < MOST_CALLS) {
            return said;
        }
        match agent {
            Agent::Butler => butler::closing(&turns, &cx),
            _ => Said::text(unfinished(&current)),
        }
    }
}

impl std::fmt::Debug for RulesEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RulesEngine").field("zone", &self.zone).finish_non_exhaustive()
    }
}

/// The agent that the engine answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agent {
    Butler,
    Triage,
    Scheduler,
    Communicator,
    Navigator,
    Learner,
}

impl Agent {
    /// Read from the brief, else from the tools. Without any known tool it answers as a butler without a household.
    fn of(cx: &AgentContext, turn: &Turn) -> Self {
        let told = turn.said.split_once("\n\nContext: ").map(|(_, rest)| conversation::object_in(rest));
        let target = told.as_ref().and_then(|told| told["targetAgent"].as_str());
        let named = match target {
            Some("triage") => Some(Self::Triage),
            Some("scheduler") => Some(Self::Scheduler),
            Some("communicator") => Some(Self::Communicator),
            Some("navigator") => Some(Self::Navigator),
            Some("preference_learner") => Some(Self::Learner),
            _ => None,
        };
        let by_tools = [
            ("delegate", Self::Butler),
            ("draft_create", Self::Communicator),
            ("mail_triage", Self::Triage),
            ("mail_list", Self::Triage),
            ("calendar_list", Self::Scheduler),
            ("calendar_free", Self::Scheduler),
            ("notes_search", Self::Navigator),
            ("prefs_list", Self::Learner),
        ];
        let by_tool = || by_tools.into_iter().find(|(tool, _)| cx.can(tool)).map(|(_, agent)| agent);
        named.filter(|_| !cx.can("delegate")).or_else(by_tool).unwrap_or(Self::Butler)
    }

    fn next(self, turns: &[Turn], current: &Turn, cx: &AgentContext) -> Said {
        let task = || SpecialistTask::read(&current.said, &cx.context);
        match self {
            Self::Butler => butler::next(turns, cx),
            Self::Triage => triage::next(&task(), current, cx),
            Self::Scheduler => scheduler::next(&task(), current, cx),
            Self::Communicator => communicator::next(&task(), current, cx),
            Self::Navigator => navigator::next(&task(), current, cx),
            Self::Learner => learner::next(&task(), current, cx),
        }
    }
}

/// The answer of a specialist that has to stop early.
fn unfinished(current: &Turn) -> String {
    let tools: Vec<&str> = current.calls.iter().map(|called| &*called.name).collect();
    match tools.is_empty() {
        true => "I had to stop before I could look into this.".to_owned(),
        false => format!("I had to stop before I was done; so far I used {}.", tools.join(", ")),
    }
}

#[cfg(test)]
mod tests;
