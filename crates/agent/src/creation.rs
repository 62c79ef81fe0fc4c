//! How a root thread is created: the role of its agent is looked up in the catalogue and written into its first event.

use std::sync::Arc;

use crate::brief::Brief;
use crate::budget::Grant;
use crate::catalog::Catalog;
use crate::event::{Place, ThreadCreated};
use crate::id::ThreadId;
use crate::mode::Mode;
use crate::model::Model;
use crate::policy::{Lifecycle, Policy};
use crate::role::{Agent, Role};
use crate::thread::Thread;
use crate::tools::{CALL_TOOL, FIND_TOOLS, SERVER_SEPARATOR, ToolInfo};
use crate::verb::Verb;

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
    /// The rules of the catalog.
    pub policy: Arc<Policy>,
    /// The preset that they came from, for people.
    pub preset: Arc<str>,
    /// Tool calls, tokens, money and time; depth and descendants follow from the policy.
    pub grant: Grant,
    /// The folder it works in.
    pub workspace: Arc<str>,
    /// The day, as its system prompt says it.
    pub today: Arc<str>,
    /// The household that its tools work on, where that is not the configured one.
    pub household: Option<Arc<str>>,
    /// What it is told besides its role, such as tools that cannot be had now.
    pub notice: Option<Arc<str>>,
    /// What is added to the prompt of its agent, for it alone and not for its sub-agents.
    pub instructions: Option<Arc<str>>,
    /// Where it works.
    pub place: Place,
}

/// The first event of a root that speaks with `model`, or a sentence that says why there can be none.
pub fn root(catalog: &Catalog, root: Root, model: Model) -> Result<ThreadCreated, String> {
    let agent = catalog
        .agent(&root.agent)
        .ok_or_else(|| format!("there is no agent '{}'; there are: {}", root.agent, catalog.agent_names()))?;
    let mode = agent.mode.map_or(root.mode, |most| most.meet(root.mode));
    let policy = &root.policy;
    let may_spawn = policy.enabled && policy.max_depth > 0 && (mode > Mode::Plan || policy.spawn_in_plan);
    let lends: Vec<Arc<str>> = agent.lends.iter().filter(|tool| catalog.tools.contains_key(*tool)).cloned().collect();
    let verbs = policy.verbs.iter().filter(|verb| may_spawn && is_of_use(verb, catalog, policy)).cloned();
    let servers = agent.mcp_servers.as_deref();
    let chosen = catalog.tools.keys().filter(|tool| catalog.is_chosen(servers, tool));
    let all: Vec<Arc<str>> = chosen.cloned().chain(verbs).collect();
    let tools: Vec<Arc<str>> = match &agent.tools {
        None => all.into_iter().filter(|tool| !catalog.reserved.contains(tool)).collect(),
        Some(own) => {
            // A server that cannot be used, and one whose tools wait for approval, are gone on without.
            let is_servers = |tool: &Arc<str>| tool.contains(SERVER_SEPARATOR);
            let is_unknown = |tool: &&Arc<str>| !all.contains(tool) && Verb::of(tool).is_none() && !is_servers(tool);
            if let Some(unknown) = own.iter().find(is_unknown) {
                return Err(match catalog.reserved.contains(unknown) {
                    true => format!(
                        "agent '{}' works on a household, and there is none: set household.folder, or add --demo",
                        agent.name
                    ),
                    false => format!("agent '{}' asks for the tool '{unknown}', which does not exist", agent.name),
                });
            }
            let is_way = |tool: &Arc<str>| [FIND_TOOLS, CALL_TOOL].contains(&&**tool);
            let named = |tool: &Arc<str>| agent.names(tool, catalog.servers.get(tool));
            let has_deferred = all.iter().any(|tool| catalog.deferred.contains(tool) && named(tool));
            all.into_iter().filter(|tool| named(tool) || has_deferred && is_way(tool)).collect()
        }
    };
    let grant = Grant { depth: policy.max_depth, descendants: policy.max_children, ..root.grant };
    let prompt = prompt(agent, root.instructions.as_deref(), root.notice.as_deref());
    let foreign = tools.iter().any(|tool| catalog.foreign.contains(tool));
    let mut created = ThreadCreated {
        id: root.id,
        parent_call: None,
        name: agent.name.clone(),
        role: Role {
            name: agent.name.clone(),
            prompt,
            model: Model { effort: agent.effort.clone(), ..model },
            tools,
            lends,
            servers: agent.mcp_servers.clone(),
            gets_new_tools: agent.tools.is_none(),
            catalog: catalog.version.clone(),
            output_schema: None,
            requires: agent.requires.clone(),
        },
        mode,
        policy: root.policy,
        grant,
        brief: None,
        workspace: root.workspace,
        place: root.place,
        today: root.today,
        preset: root.preset,
        household: root.household,
        path: vec![agent.name.clone()],
        above: Vec::new(),
        progress: false,
        lifecycle: Lifecycle::Call,
        created_for: None,
        copied_from: Vec::new(),
        foreign,
        system: None,
        own_words: None,
        opening: None,
    };
    created.write_texts();
    Ok(created)
}

/// What a thread that is started for a task gets besides what a root does.
#[derive(Clone, Debug)]
pub struct Errand {
    /// What it is called on screens; none for the agent's name.
    pub name: Option<Arc<str>>,
    /// What it reads first, word for word.
    pub prompt: Arc<str>,
    /// The task, as its board names it.
    pub created_for: Arc<str>,
    /// Tools that it has besides those of its agent.
    pub tools: Vec<Arc<str>>,
    /// Whether who wrote the task had read untrusted text.
    pub foreign: bool,
}

/// The first event of a thread that is started for a task: a root of its own, or a sub-agent of `parent` that its parent neither waits nor
/// pays for. It begins with its brief, stays after its report, and may never do more than its parent.
pub fn errand(
    catalog: &Catalog,
    wanted: Root,
    model: Model,
    parent: Option<&ThreadCreated>,
    errand: Errand,
) -> Result<ThreadCreated, String> {
    let mut created = root(catalog, wanted, model)?;
    created.name = errand.name.unwrap_or(created.name);
    created.brief = Some(Brief::task(errand.prompt));
    created.lifecycle = Lifecycle::Persistent;
    created.created_for = Some(errand.created_for);
    created.foreign |= errand.foreign;
    if let Some(parent) = parent {
        let given = |tool: &Arc<str>| parent.role.tools.contains(tool) || parent.role.lends.contains(tool);
        created.grant.depth = parent.grant.depth.saturating_sub(1);
        let may_spawn = created.grant.depth > 0;
        created.role.tools.retain(|tool| given(tool) && (may_spawn || Verb::of(tool).is_none()));
        created.role.lends.retain(given);
        created.mode = parent.mode.meet(created.mode);
        created.above = parent.above.iter().cloned().chain([parent.layer()]).collect();
        created.foreign |= parent.foreign;
        created.path = parent.path.clone();
        created.path.push(created.name.clone());
    } else {
        created.path = vec![created.name.clone()];
    }
    for tool in errand.tools {
        if catalog.tools.contains_key(&tool) && !created.role.tools.contains(&tool) {
            created.role.tools.push(tool);
        }
    }
    created.write_texts();
    Ok(created)
}

/// The tools that a thread has, as they are advertised to its model.
pub fn advertised(thread: &Thread, catalog: &Catalog) -> Vec<ToolInfo> {
    crate::turn::begin::advertised(thread, catalog).collect()
}

/// Whether a verb leads anywhere: `delegate` does where those whom it names have something to work with.
fn is_of_use(verb: &str, catalog: &Catalog, policy: &Policy) -> bool {
    let is_there = |tool: &str| catalog.tools.contains_key(tool);
    let works = |name: &str| catalog.agent(name).is_none_or(|agent| agent.can_work(is_there));
    Verb::of(verb) != Some(Verb::Delegate) || policy.delegates.iter().any(|(_, name)| works(name))
}

/// What an agent is told as a root: its own prompt, what files add to it, and what cannot be had now.
fn prompt(agent: &Agent, instructions: Option<&str>, notice: Option<&str>) -> Arc<str> {
    if instructions.is_none() && notice.is_none() {
        return agent.prompt.clone();
    }
    let notice = notice.map(|notice| format!("\n\n{notice}")).unwrap_or_default();
    format!("{}{}{notice}", agent.prompt.trim_end(), instructions.unwrap_or_default()).into()
}
