//! One thread in a room of its own: what it hears is made up, and what it does is looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use majordomo_agent::budget::Grant;
use majordomo_agent::creation::{self, Root};
use majordomo_agent::delegation::Preference;
use majordomo_agent::event::ChildSpawned;
use majordomo_agent::input::Outside;
use majordomo_agent::message::{Origin, Part};
use majordomo_agent::model::{Answer, Model, Price, StopReason, Tokens};
use majordomo_agent::permission::{Rule, Weighed};
use majordomo_agent::policy::Policy;
use majordomo_agent::role::Agent;
use majordomo_agent::tools::{Assessment, Reach, Risk, ToolInfo, ToolResult};
use majordomo_agent::{
    CallId, Catalog, Consent, Effect, Event, Facts, Input, InputId, Json, Mode, Needs, Outcome, Report, Thread,
    ThreadId, Time, Usage,
};

/// A thread and what is around it.
pub struct Room {
    pub world: World,
    pub thread: Thread,
    pub now: Time,
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
    calls: u32,
}

/// Says what a call would do.
pub type Assess = dyn Fn(&ToolInfo, &Json) -> Assessment;

/// What facts are gathered from.
pub struct World {
    pub catalog: Catalog,
    pub consent: Consent,
    pub rules: Vec<Rule>,
    pub preferences: BTreeMap<Arc<str>, Vec<Preference>>,
    /// What a call would do, as its tool declares it unless a test says otherwise.
    pub assess: Box<Assess>,
    /// Whether hooks hear of the end of a run before it ends.
    pub stop_hooks: bool,
}

impl World {
    /// What is asked for an input, and nothing more.
    pub fn facts(&self, thread: &Thread, input: &Input, now: Time) -> Facts {
        let mut known = Facts::new(Arc::new(self.catalog.clone()), self.consent);
        known.stop_hooks = self.stop_hooks;
        let needs = thread.needs(&known, input, now);
        self.gather(known, needs)
    }

    /// What would become of a call.
    pub fn weigh(&self, thread: &Thread, tool: &str, input: &Json) -> Weighed {
        let known = Facts::new(Arc::new(self.catalog.clone()), self.consent);
        let needs = thread.needs_of_call(&known, tool, input);
        thread.weigh(&self.gather(known, needs), &self.catalog.tools[tool], input)
    }

    fn gather(&self, mut facts: Facts, needs: Needs) -> Facts {
        facts.rules = needs.rules.then(|| self.rules.clone().into());
        facts.models = needs.models.into_iter().map(|name| (name.clone(), Ok(model(&name)))).collect();
        let known = |agent: &Arc<str>| self.preferences.get(agent).cloned().unwrap_or_default();
        facts.preferences = needs.preferences.into_iter().map(|agent| (agent.clone(), known(&agent))).collect();
        for (tool, input) in needs.calls {
            facts.assessed(&tool, &input, (self.assess)(&self.catalog.tools[&tool], &input));
        }
        facts
    }
}

impl Room {
    /// A root under `policy`, in mode auto and with no limit of its own, that was asked something.
    pub fn new(policy: Policy) -> Self {
        Self::with(policy, Mode::Auto, Grant::default())
    }

    /// The same, in a mode and under limits.
    pub fn with(policy: Policy, mode: Mode, grant: Grant) -> Self {
        Self::of(world(), "general", policy, mode, grant)
    }

    /// The same, with an agent of another world.
    pub fn of(world: World, agent: &str, policy: Policy, mode: Mode, grant: Grant) -> Self {
        let root = Root {
            id: ThreadId::new("r"),
            agent: agent.into(),
            model: "test/model".into(),
            mode,
            policy: Arc::new(policy),
            preset: "default".into(),
            grant,
            workspace: "/house".into(),
            today: "2026-01-15".into(),
            household: None,
            place: Default::default(),
            notice: None,
            instructions: None,
        };
        let created = creation::root(&world.catalog, root, model("test/model")).expect("the root can be");
        let now = Time(1_000_000);
        let thread = Thread::new(now, &Event::ThreadCreated(Box::new(created)));
        let mut room = Self { world, thread, now, events: Vec::new(), effects: Vec::new(), calls: 0 };
        room.is_told("Go");
        room
    }

    /// A person says something.
    pub fn is_told(&mut self, text: &str) {
        let id = InputId::new(format!("i{}", self.thread.inbox.seen.len() + 1));
        self.thread.apply(self.now, &Event::InputArrived { id, input: Outside::said(text) });
        self.hears(Input::Arrived);
    }

    /// Hands the thread an input; the events and effects of all inputs are kept.
    pub fn hears(&mut self, input: Input) {
        let facts = self.world.facts(&self.thread, &input, self.now);
        let step = self.thread.handle(input, &facts, self.now);
        self.events.extend(step.events);
        self.effects.extend(step.effects);
    }

    /// The model answers with calls, whose names are `c1`, `c2` and so on over the life of the room.
    pub fn calls(&mut self, calls: &[(&str, &str)]) {
        let answer = self.answer(calls);
        self.hears(answer);
    }

    /// An answer with such calls.
    pub fn answer(&mut self, calls: &[(&str, &str)]) -> Input {
        let part = |(name, input): &(&str, &str)| {
            self.calls += 1;
            let input = Json::parse(input).expect("arguments are JSON");
            Part::ToolCall { id: CallId::new(format!("c{}", self.calls)), name: (*name).into(), input }
        };
        let parts = calls.iter().map(part).collect();
        self.answered(parts, Tokens { input: 100, output: 10, ..Tokens::default() })
    }

    /// The model answers with words.
    pub fn says(&mut self, text: &str) {
        let answer = self.words(text);
        self.hears(answer);
    }

    /// An answer of words.
    pub fn words(&self, text: &str) -> Input {
        let parts = vec![Part::Text { text: text.into(), origin: Origin::Model }];
        self.answered(parts, Tokens { input: 100, output: 10, ..Tokens::default() })
    }

    /// The model answers.
    pub fn answers(&mut self, parts: Vec<Part>, tokens: Tokens) {
        let answer = self.answered(parts, tokens);
        self.hears(answer);
    }

    fn answered(&self, parts: Vec<Part>, tokens: Tokens) -> Input {
        let stop = StopReason::EndTurn;
        let answer = Answer { parts, stop, tokens: Some(tokens), malformed: Vec::new(), cut_call: None };
        let turn = self.thread.issued.turns;
        Input::ModelAnswered { turn, answer, schema_error: None }
    }

    /// A tool comes back.
    pub fn returns(&mut self, call: &str, text: &str) {
        self.hears(Input::ToolFinished { call: CallId::new(call), result: ToolResult::ok(text) });
    }

    /// A child reports.
    pub fn reports(&mut self, child: &str, outcome: Outcome, tree: Usage) {
        self.hears(Input::ChildReported { child: ThreadId::new(child), report: Box::new(report(outcome, tree)) });
    }

    /// The children that were accepted.
    pub fn spawned(&self) -> Vec<&ChildSpawned> {
        let mut all = Vec::new();
        for event in &self.events {
            if let Event::ChildSpawned(spawned) = event {
                all.push(&**spawned);
            }
        }
        all
    }

    /// The children that were begun.
    pub fn started(&self) -> usize {
        self.effects.iter().filter(|effect| matches!(effect, Effect::StartChild { .. })).count()
    }

    /// The tools that were run.
    pub fn run(&self) -> usize {
        self.effects.iter().filter(|effect| matches!(effect, Effect::RunTool { .. })).count()
    }

    /// What the calls were answered with, in the order of the answers.
    pub fn results(&self) -> Vec<(&str, bool)> {
        let mut all = Vec::new();
        for event in &self.events {
            if let Event::ToolFinished { result, .. } = event {
                all.push((&*result.content, result.is_error));
            }
        }
        all
    }

    /// The names of the advertised tools.
    pub fn advertised(&self) -> Vec<Arc<str>> {
        creation::advertised(&self.thread, &self.world.catalog).into_iter().map(|tool| tool.name).collect()
    }
}

/// A report that says how much was used.
pub fn report(outcome: Outcome, tree: Usage) -> Report {
    Report { text: "Done.".into(), reason: None, usage: tree, tree, ..Report::empty(outcome, "") }
}

/// One tool of every reach, and three agents.
pub fn world() -> World {
    let tools = [
        ("ask_user", Reach::ReadOnly),
        ("edit_file", Reach::Workspace),
        ("read_file", Reach::ReadOnly),
        ("run_command", Reach::World),
        ("todo", Reach::Own),
    ];
    let tool = |(name, reach): (&str, Reach)| {
        let schema = Json::object();
        let description = "A tool.".into();
        let info = ToolInfo { name: name.into(), description, schema, reach, idempotent: false, risk: Risk::Low };
        (Arc::from(name), info)
    };
    let agents = [
        ("explore", Some(vec!["read_file"]), Some(Mode::Plan)),
        ("general", None, None),
        ("scribe", Some(vec!["edit_file", "read_file", "spawn_agent"]), Some(Mode::Auto)),
    ];
    let agent = |(name, tools, mode): (&str, Option<Vec<&str>>, Option<Mode>)| {
        let agent = Agent {
            name: name.into(),
            description: "An agent.".into(),
            prompt: "You work.".into(),
            model: None,
            tools: tools.map(|tools| tools.into_iter().map(Arc::from).collect()),
            lends: Vec::new(),
            requires: Vec::new(),
            mcp_servers: None,
            mode,
            effort: None,
        };
        (Arc::from(name), agent)
    };
    let (tools, agents) = (BTreeMap::from(tools.map(tool)), BTreeMap::from(agents.map(agent)));
    World {
        catalog: Catalog { tools, agents, ..Catalog::default() },
        consent: Consent::Nobody,
        rules: Vec::new(),
        preferences: BTreeMap::new(),
        assess: Box::new(Assessment::of),
        stop_hooks: false,
    }
}

/// A model, with a price unless its name says that it has none.
fn model(name: &str) -> Model {
    let price =
        Price { input: 2_000_000, cache_read: 200_000, cache_write: 2_000_000, output: 10_000_000, ..Price::default() };
    Model {
        name: name.into(),
        context_tokens: 100_000,
        max_output_tokens: 4000,
        price: Some(price).filter(|_| !name.starts_with("unpriced/")),
        patience: Default::default(),
        effort: None,
    }
}
