//! The setting of a simulated run: tools of every reach, rules with small random limits, a root's grant,
//! and the behaviour of the models.

use std::sync::Arc;

use agent::budget::Grant;
use agent::creation::Root;
use agent::event::ThreadCreated;
use agent::model::{Model, Price};
use agent::policy::{ChildDefaults, CountMode, OPERATION_VERBS, OnError, Policy, StartApproval, TokenCount, VERBS};
use agent::role::Agent;
use agent::tools::{Reach, Risk, ToolInfo};
use agent::{Catalog, Json, Mode, ThreadId};

use super::consent::{self, World};
use super::habit::Habit;
use crate::dice::Dice;

/// What a root may do, as a rule, and where people are asked.
const MODES: [Mode; 5] = [Mode::Plan, Mode::Ask, Mode::Auto, Mode::Dangerous, Mode::Dangerous];
const ASKING_MODES: [Mode; 5] = [Mode::Ask, Mode::Ask, Mode::Ask, Mode::Auto, Mode::Dangerous];

/// Where a run takes place.
pub(super) struct Setting {
    pub world: World,
    pub root: ThreadCreated,
    pub behaviour: Behaviour,
}

/// How models, tools and people behave, in percent.
#[derive(Clone, Debug)]
pub(super) struct Behaviour {
    /// A request fails.
    pub fails: u64,
    /// A provider's figures are wrong or missing.
    pub lies: u64,
    /// A call is for a verb, where there are any.
    pub delegates: u64,
    /// A call makes no sense.
    pub errs: u64,
    /// Another process writes between a decision and its commit.
    pub crossings: u64,
    /// The driver's own code fails, in two thousand times.
    pub panics: u64,
    /// A tool never comes back of its own accord.
    pub hangs: u64,
    /// How eager an agent is to come to an end; grows with every turn.
    pub hurry: u64,
    /// Whether people are asked for their consent.
    pub asks: bool,
    /// A question is never answered.
    pub silent: u64,
    /// What models do without end.
    pub habit: Option<Habit>,
}

impl Setting {
    pub fn new(dice: &mut Dice) -> Self {
        let world = World::new(Published::First.catalog(), model);
        // Where limits are tight, most runs end at one of them; where they are not, agents live to deal with each other.
        let tight = dice.chance(40);
        let behaviour = Behaviour {
            fails: *dice.pick(&[0, 5, 25]),
            lies: *dice.pick(&[0, 0, 10, 30]),
            delegates: *dice.pick(&[10, 50, 60, 80]),
            errs: *dice.pick(&[0, 5, 30]),
            crossings: *dice.pick(&[0, 3]),
            panics: *dice.pick(&[0, 0, 5]),
            hangs: *dice.pick(&[0, 5, 20]),
            hurry: dice.between(1, if tight { 6 } else { 3 }),
            asks: dice.chance(60),
            silent: *dice.pick(&[5, 5, 40, 100]),
            habit: None,
        };
        for _ in 0..if behaviour.asks { *dice.pick(&[0, 1, 2]) } else { 0 } {
            world.tighten(consent::rule(dice));
        }
        let policy = policy(dice, tight);
        // Thrown aside, so that all else of a seed is the same with these verbs and without.
        let mut aside = dice.clone();
        let policy = if aside.chance(25) { with_operations(&mut aside, policy) } else { policy };
        // Thrown aside as well. Most are too many to be reached.
        let requests = aside.maybe(40, |dice| *dice.pick(&[1, 3, 12, 40, 150, 1_000]));
        let modes = if behaviour.asks { ASKING_MODES } else { MODES };
        let root = Root {
            id: ThreadId::new("20260115-sim0"),
            agent: (*dice.pick(&["general", "general", "general", "planner", "worker"])).into(),
            model: (*dice.pick(&["sim/large", "sim/large", "sim/small", "sim/tiny"])).into(),
            mode: *dice.pick(&modes),
            policy: Arc::new(policy),
            preset: "default".into(),
            grant: Grant { requests, ..grant(dice, if tight { 40 } else { 10 }) },
            workspace: "/house".into(),
            today: "2026-01-15".into(),
            household: None,
            place: Default::default(),
            notice: None,
            instructions: None,
        };
        // As logs of earlier versions have it; the schema of a message is tried in a story.
        let output_schema = dice.maybe(15, |_| Json::object());
        let spoken = model(&root.model).expect("a root speaks with a model that exists");
        let mut root =
            agent::creation::root(&world.catalog(), root, spoken).expect("the catalogue has what its roots ask for");
        root.role.output_schema = output_schema;
        Self { world, root, behaviour }
    }
}

/// A set of tools that a process publishes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Published {
    /// The tools of the beginning.
    First,
    /// One more.
    More,
    /// One fewer.
    Fewer,
}

impl Published {
    pub const ALL: [Self; 3] = [Self::First, Self::More, Self::Fewer];

    /// The catalogue with these tools.
    pub fn catalog(self) -> Catalog {
        let mut catalog = catalog();
        catalog.version = format!("{self:?}").into();
        match self {
            Self::First => {}
            Self::More => {
                let extra = ToolInfo { name: "extra".into(), ..catalog.tools["look"].clone() };
                catalog.tools.insert("extra".into(), extra);
            }
            Self::Fewer => {
                catalog.tools.remove("note");
            }
        }
        catalog
    }
}

fn catalog() -> Catalog {
    let tools = [
        ("look", Reach::ReadOnly, true),
        ("fetch", Reach::ReadOnly, false),
        ("note", Reach::Own, true),
        ("ask_user", Reach::Own, false),
        ("write", Reach::Workspace, false),
        ("patch", Reach::Workspace, true),
        ("run_command", Reach::World, false),
    ];
    let tool = |(name, reach, idempotent): (&str, Reach, bool)| {
        let description = format!("{name} something");
        let info = ToolInfo {
            name: name.into(),
            description: description.into(),
            schema: Json::object(),
            reach,
            idempotent,
            risk: Risk::Low,
        };
        (Arc::from(name), info)
    };
    let agents = [
        ("general", None, None, None),
        ("reader", None, Some(vec!["look", "fetch"]), Some(Mode::Plan)),
        (
            "worker",
            Some("sim/small"),
            Some(vec!["look", "write", "run_command", "spawn_agent", "stop_agent", "SpawnAgentTool"]),
            None,
        ),
        ("planner", Some("sim/tiny"), Some([&["look", "note"], &VERBS[..]].concat()), Some(Mode::Ask)),
    ];
    let agent = |(name, model, tools, mode): (&str, Option<&str>, Option<Vec<&str>>, Option<Mode>)| {
        let agent = Agent {
            name: name.into(),
            description: format!("is a {name}").into(),
            prompt: format!("You are a {name}.").into(),
            model: model.map(Arc::from),
            tools: tools.map(|tools| tools.into_iter().map(Arc::from).collect()),
            lends: Vec::new(),
            requires: Vec::new(),
            mcp_servers: None,
            mode,
            effort: None,
        };
        (Arc::from(name), agent)
    };
    Catalog {
        tools: tools.into_iter().map(tool).collect(),
        agents: agents.into_iter().map(agent).collect(),
        ..Catalog::default()
    }
}

fn model(name: &str) -> Result<Model, String> {
    let (context_tokens, max_output_tokens, price) = match name {
        "sim/large" => (
            200_000,
            8_000,
            Some(Price {
                input: 3_000_000,
                cache_read: 300_000,
                cache_write: 3_750_000,
                output: 15_000_000,
                ..Price::default()
            }),
        ),
        "sim/small" => (
            12_000,
            1_000,
            Some(Price {
                input: 250_000,
                cache_read: 25_000,
                cache_write: 250_000,
                output: 1_250_000,
                ..Price::default()
            }),
        ),
        "sim/tiny" => (4_000, 600, None),
        other => return Err(format!("there is no model '{other}'")),
    };
    Ok(Model {
        name: name.into(),
        context_tokens,
        max_output_tokens,
        price,
        patience: Default::default(),
        effort: None,
    })
}

fn policy(dice: &mut Dice, tight: bool) -> Policy {
    let loop_refuse_at = dice.between(2, 5) as u32;
    Policy {
        enabled: dice.chance(95),
        max_depth: *dice.pick(&[0, 1, 1, 2, 2, 2, 3, 3]),
        max_children: *dice.pick(&[0, 2, 8, 8, 8, 30, 30, 30]),
        max_concurrent: dice.between(0, 4) as u32,
        max_subtasks: dice.between(1, 6) as u32,
        max_calls_per_answer: *dice.pick(&[1, 4, 128, 128, 128]),
        child: ChildDefaults {
            max_tool_calls: if tight { dice.between(1, 12) } else { dice.between(5, 40) } as u32,
            max_tokens: if tight { dice.between(1_500, 60_000) } else { dice.between(30_000, 400_000) },
            timeout_ms: if tight { dice.between(5_000, 300_000) } else { dice.between(300_000, 7_200_000) },
        },
        max_child_tool_calls: *dice.pick(&[0, 0, 3]),
        min_child_tokens: *dice.pick(&[0, 1_000, 4_096]),
        min_child_timeout_ms: *dice.pick(&[0, 5_000]),
        token_count: *dice.pick(&[TokenCount::Billed, TokenCount::Fresh]),
        inherit_mode: dice.chance(70),
        spawn_in_plan: dice.chance(70),
        children_may_ask: dice.chance(50),
        stall_ms: *dice.pick(&[0, 2_000, 120_000]),
        on_error: *dice.pick(&[OnError::Continue, OnError::Stop]),
        reuse_reports: dice.chance(40),
        check_attempts: dice.between(1, 4) as u32,
        loop_refuse_at,
        loop_end_at: loop_refuse_at + dice.between(0, 3) as u32,
        ..Policy::default()
    }
}

/// The same rules with the verbs that hold several operations, and people who are asked before anybody is started.
fn with_operations(dice: &mut Dice, policy: Policy) -> Policy {
    Policy {
        verbs: OPERATION_VERBS.map(Arc::from).to_vec(),
        approval: *dice.pick(&[StartApproval::Never, StartApproval::ByRisk, StartApproval::Always]),
        count_mode: *dice.pick(&[CountMode::Total, CountMode::Active]),
        ..policy
    }
}

fn grant(dice: &mut Dice, limited: u64) -> Grant {
    Grant {
        tool_calls: dice.maybe(limited, |dice| dice.between(0, 30) as u32),
        tokens: dice.maybe(limited, |dice| *dice.pick(&[800, 10_000, 40_000, 150_000, 600_000])),
        cost_microusd: dice.maybe(limited, |dice| *dice.pick(&[5_000, 200_000, 1_000_000, 4_000_000])),
        time_ms: dice.maybe(limited, |dice| dice.between(10_000, 1_800_000)),
        ..Grant::default()
    }
}
