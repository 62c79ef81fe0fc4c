//! One thread in a room of its own: what it hears is made up, and what it does is looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use majordomo_agent::birth::{self, Root};
use majordomo_agent::budget::Grant;
use majordomo_agent::event::ChildSpawned;
use majordomo_agent::house::House;
use majordomo_agent::input::Outside;
use majordomo_agent::message::{Origin, Part};
use majordomo_agent::model::{Answer, Model, Price, StopReason, Tokens};
use majordomo_agent::policy::Policy;
use majordomo_agent::role::Agent;
use majordomo_agent::tools::{Reach, Risk, ToolInfo, ToolResult};
use majordomo_agent::{
    CallId, Effect, Event, Input, InputId, Json, Mode, Outcome, Report, Thread, ThreadId, Time, Usage,
};

/// A thread and what is around it.
pub struct Room {
    pub house: House,
    pub thread: Thread,
    pub now: Time,
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
    calls: u32,
}

impl Room {
    /// A root under `policy`, in mode auto and with no limit of its own, that was asked something.
    pub fn new(policy: Policy) -> Self {
        Self::with(policy, Mode::Auto, Grant::default())
    }

    /// The same, in a mode and under limits.
    pub fn with(policy: Policy, mode: Mode, grant: Grant) -> Self {
        Self::of(house(), "general", policy, mode, grant)
    }

    /// The same, with an agent of another house.
    pub fn of(house: House, agent: &str, policy: Policy, mode: Mode, grant: Grant) -> Self {
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
            output_schema: None,
        };
        let created = birth::root(&house, root).expect("the root can be");
        let now = Time(1_000_000);
        let thread = Thread::new(now, &Event::ThreadCreated(Box::new(created)));
        let mut room = Self { house, thread, now, events: Vec::new(), effects: Vec::new(), calls: 0 };
        room.is_told("Go");
        room
    }

    /// A person says something.
    pub fn is_told(&mut self, text: &str) {
        let id = InputId::new(format!("i{}", self.thread.seen.len() + 1));
        self.thread.apply(self.now, &Event::InputArrived { id, input: Outside::UserSaid { text: text.into() } });
        self.hears(Input::Arrived);
    }

    /// Hands the thread an input; the events and effects of all inputs are kept.
    pub fn hears(&mut self, input: Input) {
        let step = self.thread.handle(&self.house, input, self.now);
        self.events.extend(step.events);
        self.effects.extend(step.effects);
    }

    /// The model answers with calls, whose names are `c1`, `c2` and so on over the life of the room.
    pub fn calls(&mut self, calls: &[(&str, &str)]) {
        let part = |(name, input): &(&str, &str)| {
            self.calls += 1;
            let input = Json::parse(input).expect("arguments are JSON");
            Part::ToolCall { id: CallId::new(format!("c{}", self.calls)), name: (*name).into(), input }
        };
        let parts = calls.iter().map(part).collect();
        self.answers(parts, Tokens { input: 100, output: 10, ..Tokens::default() });
    }

    /// The model answers with words.
    pub fn says(&mut self, text: &str) {
        let parts = vec![Part::Text { text: text.into(), origin: Origin::Model }];
        self.answers(parts, Tokens { input: 100, output: 10, ..Tokens::default() });
    }

    /// The model answers.
    pub fn answers(&mut self, parts: Vec<Part>, tokens: Tokens) {
        let stop = StopReason::EndTurn;
        let answer = Answer { parts, stop, tokens: Some(tokens), malformed: Vec::new(), cut_call: None };
        let turn = self.thread.turns;
        self.hears(Input::ModelAnswered { turn, answer, schema_error: None });
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
        birth::advertised(&self.thread, &self.house).into_iter().map(|tool| tool.name).collect()
    }
}

/// A report that says how much was used.
pub fn report(outcome: Outcome, tree: Usage) -> Report {
    Report { text: "Done.".into(), reason: None, usage: tree, tree, ..Report::empty(outcome, "") }
}

/// One tool of every reach, and three agents.
pub fn house() -> House {
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
            mode,
        };
        (Arc::from(name), agent)
    };
    let price = Price { input: 2_000_000, cache_read: 200_000, cache_write: 2_000_000, output: 10_000_000 };
    let model = move |name: &str| {
        Ok(Model { name: name.into(), context_tokens: 100_000, max_output_tokens: 4000, price: Some(price) })
    };
    House::new(BTreeMap::from(tools.map(tool)), BTreeMap::from(agents.map(agent)), model)
}
