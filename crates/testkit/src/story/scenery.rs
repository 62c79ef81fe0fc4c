//! What every story finds: a few tools of every reach, three agents, four models, and a policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::creation::{self, Root};
use agent::event::ThreadCreated;
use agent::model::{Model, Price};
use agent::policy::Policy;
use agent::role::Agent;
use agent::tools::{Assessment, Reach, Risk, ToolInfo};
use agent::{Catalog, Consent, Facts, Input, Json, Mode, Thread, ThreadId, Time};

use super::script::Setup;

/// The values of the preset `opta`, from where the binary takes them.
const OPTA: &str = include_str!("../../../majordomo/src/presets/opta.toml");

/// The tools and agents of all stories.
pub fn catalog() -> Catalog {
    let tools = [
        ("ask_user", Reach::ReadOnly, true),
        ("edit_file", Reach::Workspace, false),
        ("read_file", Reach::ReadOnly, true),
        ("run_command", Reach::World, false),
        ("search_files", Reach::ReadOnly, true),
        ("todo", Reach::Own, true),
    ];
    let tool = |(name, reach, idempotent): (&str, Reach, bool)| {
        let schema = Json::parse(r#"{"type":"object"}"#).expect("the schema is JSON");
        let info =
            ToolInfo { name: name.into(), description: "A tool.".into(), schema, reach, idempotent, risk: Risk::Low };
        (Arc::from(name), info)
    };
    let agents = [
        ("explore", Some(vec!["read_file", "search_files"]), Some(Mode::Plan)),
        ("general", None, None),
        ("scribe", Some(vec!["edit_file", "read_file"]), None),
    ];
    let agent = |(name, tools, mode): (&str, Option<Vec<&str>>, Option<Mode>)| {
        let agent = Agent {
            name: name.into(),
            description: format!("the {name} one").into(),
            prompt: format!("You are {name}.").into(),
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
    Catalog { tools: BTreeMap::from(tools.map(tool)), agents: BTreeMap::from(agents.map(agent)), ..Catalog::default() }
}

/// What a thread needs to know for an input: there are no rules, and a call does what its tool declares.
pub fn facts(catalog: &Arc<Catalog>, consent: Consent, thread: &Thread, input: &Input, now: Time) -> Facts {
    let mut facts = Facts::new(catalog.clone(), consent);
    let needs = thread.needs(&facts, input, now);
    facts.rules = needs.rules.then(|| [].into());
    facts.models = needs.models.iter().map(|name| (name.clone(), model(name).map_err(Arc::from))).collect();
    for (tool, input) in needs.calls {
        facts.assessed(&tool, &input, Assessment::of(&catalog.tools[&tool], &input));
    }
    facts
}

/// The first event of a story's root.
pub fn root(catalog: &Catalog, setup: &Setup) -> ThreadCreated {
    let root = Root {
        id: ThreadId::new("r"),
        agent: setup.agent.clone(),
        model: setup.model.clone(),
        mode: setup.mode,
        policy: Arc::new(policy(setup)),
        preset: setup.preset.clone(),
        grant: setup.grant.clone(),
        workspace: "/home/ann/house".into(),
        today: "2026-01-15".into(),
        household: None,
        place: Default::default(),
        notice: None,
        instructions: None,
    };
    let spoken = model(&root.model).unwrap_or_else(|reason| panic!("the root cannot be: {reason}"));
    creation::root(catalog, root, spoken).unwrap_or_else(|reason| panic!("the root cannot be: {reason}"))
}

fn model(name: &str) -> Result<Model, String> {
    let plain = Model {
        name: name.into(),
        context_tokens: 100_000,
        max_output_tokens: 4000,
        price: None,
        patience: Default::default(),
        effort: None,
    };
    match name {
        "test/model" => Ok(plain),
        // Two and ten dollars for a million tokens.
        "test/priced" => {
            let price = Price {
                input: 2_000_000,
                cache_read: 200_000,
                cache_write: 2_000_000,
                output: 10_000_000,
                ..Price::default()
            };
            Ok(Model { price: Some(price), ..plain })
        }
        // Longer answers than are asked for at first.
        "test/long" => Ok(Model { context_tokens: 200_000, max_output_tokens: 64_000, ..plain }),
        "test/small" => Ok(Model { context_tokens: 8000, max_output_tokens: 1000, ..plain }),
        other => Err(format!("there is no model '{other}'")),
    }
}

fn policy(setup: &Setup) -> Policy {
    let mut policy = serde_json::to_value(Policy::default()).expect("a policy is JSON");
    if &*setup.preset == "opta" {
        let preset: toml::Table = OPTA.parse().expect("the preset is TOML");
        let mut preset = serde_json::to_value(&preset["policy"]).expect("the preset has JSON values");
        lift(&mut preset);
        overlay(&mut policy, preset);
    }
    for (key, value) in &setup.policy {
        let nested = key.rsplit('.').fold(value.clone(), |value, key| serde_json::json!({ key: value }));
        overlay(&mut policy, nested);
    }
    serde_json::from_value(policy).unwrap_or_else(|error| panic!("the policy is none: {error}"))
}

/// The word `unlimited` as the number that the policy has for it.
fn lift(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => fields.values_mut().for_each(lift),
        serde_json::Value::String(word) if word == "unlimited" => *value = u32::MAX.into(),
        _ => {}
    }
}

fn overlay(under: &mut serde_json::Value, over: serde_json::Value) {
    match (under, over) {
        (serde_json::Value::Object(under), serde_json::Value::Object(over)) => {
            for (key, value) in over {
                overlay(under.entry(key).or_insert(serde_json::Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}
