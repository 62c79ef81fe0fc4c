//! How a root comes to be: an agent's role is resolved against what the house has, and pinned.

use std::sync::Arc;

use crate::budget::Grant;
use crate::event::ThreadCreated;
use crate::house::House;
use crate::id::ThreadId;
use crate::json::Json;
use crate::mode::Mode;
use crate::policy::Policy;
use crate::role::Role;
use crate::thread::Thread;
use crate::tools::ToolInfo;

/// What a root is made of.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its name.
    pub id: ThreadId,
    /// The agent that plays it.
    pub agent: Arc<str>,
    /// `provider/model`.
    pub model: Arc<str>,
    /// What it may do.
    pub mode: Mode,
    /// The rules of the house.
    pub policy: Arc<Policy>,
    /// The preset that they came from, for people.
    pub preset: Arc<str>,
    /// Tool calls, tokens, money and time; depth and descendants follow from the policy.
    pub grant: Grant,
    /// The folder it works in.
    pub workspace: Arc<str>,
    /// The day, as its system prompt says it.
    pub today: Arc<str>,
    /// JSON Schema that the final answer must fit.
    pub output_schema: Option<Json>,
}

/// The first event of a root, or a sentence that says why there can be none.
pub fn root(house: &House, root: Root) -> Result<ThreadCreated, String> {
    let agent = house
        .agent(&root.agent)
        .ok_or_else(|| format!("there is no agent '{}'; there are: {}", root.agent, house.agent_names()))?;
    let mode = agent.mode.map_or(root.mode, |most| most.meet(root.mode));
    let model = (house.models)(&root.model)?;
    let policy = &root.policy;
    let may_spawn = policy.enabled && policy.max_depth > 0 && (mode > Mode::Plan || policy.spawn_in_plan);
    let verbs = policy.verbs.iter().filter(|_| may_spawn).cloned();
    let all: Vec<Arc<str>> = house.tools.keys().cloned().chain(verbs).collect();
    let tools = match &agent.tools {
        None => all,
        Some(own) => {
            if let Some(unknown) = own.iter().find(|tool| !all.contains(tool) && !is_verb(tool)) {
                return Err(format!("agent '{}' asks for the tool '{unknown}', which does not exist", agent.name));
            }
            all.into_iter().filter(|tool| own.contains(tool)).collect()
        }
    };
    let grant = Grant { depth: policy.max_depth, descendants: policy.max_children, ..root.grant };
    Ok(ThreadCreated {
        id: root.id,
        parent_call: None,
        name: agent.name.clone(),
        role: Role {
            name: agent.name.clone(),
            prompt: agent.prompt.clone(),
            model,
            tools,
            output_schema: root.output_schema,
        },
        mode,
        policy: root.policy,
        grant,
        brief: None,
        workspace: root.workspace,
        today: root.today,
        preset: root.preset,
        path: vec![agent.name.clone()],
        above: Vec::new(),
        progress: false,
    })
}

/// The tools that a thread has, as they are advertised to its model.
pub fn advertised(thread: &Thread, house: &House) -> Vec<ToolInfo> {
    crate::turn::begin::advertised(thread, house).collect()
}

fn is_verb(tool: &str) -> bool {
    crate::policy::VERBS.contains(&tool)
}
