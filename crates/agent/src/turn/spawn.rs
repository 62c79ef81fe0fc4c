//! A sub-agent is requested: the request is limited to what the parent has, and accepted or refused.
//!
//! This is the one place where depth, places and grants of a child are decided.

use std::fmt;
use std::sync::Arc;

use crate::brief::{Brief, Shared};
use crate::budget::Grant;
use crate::catalog::Catalog;
use crate::checks::{self, Checks};
use crate::context;
use crate::event::{ChildAsked, ChildSpawned, Event};
use crate::id::{CallId, InputId, ThreadId};
use crate::machine::Moment;
use crate::message::{Origin, Role as Speaker};
use crate::mode::Mode;
use crate::model::Model;
use crate::permission::{Action, Judgement, Layer};
use crate::policy::CountMode;
use crate::role::{Agent, Role};
use crate::thread::{Thread, task_key};
use crate::tools::{ASK_USER, CALL_TOOL, FIND_TOOLS, READ_FILE, RUN_COMMAND, Reach};
use crate::verb::{Starts, Verb};

/// The most messages that can be shared, and the most characters of each.
const MAX_SHARED: (usize, usize) = (20, 4_000);

/// The most files whose content can be passed.
pub const MAX_FILES: usize = 20;

/// The fewest requests that a child can work with: one, and one for a last word.
const MIN_REQUESTS: u32 = 2;

/// Requests that a child is given for each of its tool calls, and besides. An answer with a call is tried five times at most, and
/// so is a summary before it, so that the limit of calls is reached first.
const REQUESTS_PER_CALL: u32 = 10;
const REQUESTS_BESIDES: u32 = 100;

/// What a parent asks for.
#[derive(Default)]
pub struct ChildRequest {
    pub task: Arc<str>,
    pub agent: Option<Arc<str>>,
    pub name: Option<Arc<str>>,
    /// A role of its own, in the place of the agent's.
    pub system_prompt: Option<Arc<str>>,
    pub scope: Option<Arc<str>>,
    pub context: Option<Arc<str>>,
    pub expected: Option<Arc<str>>,
    pub checks: Checks,
    pub tools: Option<Vec<Arc<str>>>,
    /// The servers whose tools it gets.
    pub servers: Option<Vec<Arc<str>>>,
    pub model: Option<Arc<str>>,
    pub mode: Option<Mode>,
    pub max_tool_calls: Option<u32>,
    pub max_tokens: Option<u64>,
    pub max_cost_microusd: Option<u64>,
    pub timeout_ms: Option<u64>,
    pub background: bool,
    pub files: Vec<Arc<str>>,
    pub messages: usize,
    pub progress: bool,
    pub ignored: Vec<String>,
}

/// What became of a request.
pub enum Accepted {
    /// A child was accepted.
    Spawned(ThreadId),
    /// This child did the same before in this run.
    Recalled(ThreadId),
}

/// The brief that a request leads to: only what the parent chose goes into it.
pub fn brief(thread: &Thread, request: &ChildRequest) -> Brief {
    let texts = thread.talk.messages().iter().rev().filter_map(|message| {
        let text = message.text_of(|origin| origin != Origin::Program);
        let from = match message.role {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        let text = (!text.trim().is_empty()).then(|| context::bounded(&text, MAX_SHARED.1, ""))?;
        Some(Shared { from: from.into(), text: text.into() })
    });
    let mut shared: Vec<Shared> = texts.take(request.messages.min(MAX_SHARED.0)).collect();
    shared.reverse();
    Brief {
        scope: request.scope.clone(),
        context: request.context.clone(),
        expected: request.expected.clone(),
        checks: request.checks.clone(),
        files: request.files.clone(),
        shared,
        ..Brief::task(request.task.clone())
    }
}

/// Accepts a child, or says why not. `siblings` counts those that are still to be granted, this one included.
pub fn accept(
    moment: &mut Moment<'_>,
    call: &CallId,
    subtask: Option<u32>,
    request: &ChildRequest,
    mut brief: Brief,
    siblings: u32,
) -> Result<Accepted, String> {
    let thread = &*moment.thread;
    let mut narrowed = Vec::new();
    // A place for a subtask was taken when its delegation was accepted.
    room(thread, if subtask.is_some() { 0 } else { 1 }).map_err(|why| why.to_string())?;
    let mode = mode(thread, find_agent(moment, request.agent.as_deref())?, request, &mut narrowed);
    let role = role(moment, request, mode, &mut narrowed)?;
    if !brief.checks.commands.is_empty() {
        if !role.tools.iter().any(|tool| &**tool == RUN_COMMAND) {
            let agent = &role.name;
            return Err(format!("{agent} cannot run checks: run_command is not among its tools"));
        }
        let approved = thread.calls.slot(call).and_then(|slot| slot.approved.clone());
        brief.checks_allowed = approved.is_some();
        // A subtask that waits for others begins later than it was allowed: what it leads to may be something else by then.
        brief.checks_seen = approved.map(|digest| checks::seen_in(&digest)).unwrap_or_default();
        brief.checks_seen.retain(|seen| brief.checks.commands.contains(&seen.command));
    }
    keep_readable(moment, &mut brief.files, &Layer { agent: role.name.clone(), mode }, &mut narrowed);
    // A sub-agent does not see what the parent and its other children write meanwhile.
    let reusable = thread.created.policy.reuse_reports && thread.id().is_root() && only_reads(moment, &role);
    let reusable = reusable && brief.checks.is_empty();
    // While a child that may write is running, a reader could find something else than before.
    let at_rest = thread.children.live.values().all(|child| child.is_reusable());
    if reusable
        && at_rest
        && let Some((child, _)) = thread.reuse.reports.get(&task_key(&brief, &role, mode))
    {
        return Ok(Accepted::Recalled(child.clone()));
    }
    let can_spawn = role.tools.iter().any(|tool| Verb::of(tool).is_some_and(|verb| verb.starts() != Starts::Nothing));
    let grant = carve(moment, request, can_spawn, siblings.max(1), &mut narrowed)?;
    let child = thread.id().child(thread.issued.children + 1);
    let queued = must_wait(thread);
    let name = request.name.clone().unwrap_or_else(|| role.name.clone());
    moment.emit(Event::ChildSpawned(Box::new(ChildSpawned {
        child: child.clone(),
        call: call.clone(),
        subtask,
        name,
        role,
        mode,
        grant,
        brief,
        background: request.background,
        queued,
        narrowed,
        progress: request.progress,
        reusable,
    })));
    Ok(Accepted::Spawned(child))
}

/// Asks a child that has reported something more, with a grant that is carved anew, or says why not.
pub fn ask(
    moment: &mut Moment<'_>,
    call: &CallId,
    child: &ThreadId,
    text: Arc<str>,
    background: bool,
    siblings: u32,
) -> Result<(), String> {
    let thread = &*moment.thread;
    let Some((kin, outcome)) = thread.children.reported.get(child) else {
        return Err(format!("{child} has not reported"));
    };
    if !kin.exists {
        return Err(format!("{} ({child}) was never begun ({outcome}): spawn a new sub-agent", kin.name));
    }
    let most = thread.created.policy.max_rounds;
    if thread.run.as_ref().is_some_and(|run| run.pace.rounds >= most) {
        return Err(format!(
            "sub-agents were asked something more {most} times since you were last spoken to (policy.max_rounds): say in your answer what is left"
        ));
    }
    let places = u32::from(thread.created.policy.count_mode == CountMode::Active);
    room(thread, places).map_err(|why| why.to_string())?;
    let mut narrowed = Vec::new();
    let request = ChildRequest { background, ..ChildRequest::default() };
    let grant = carve(moment, &request, kin.can_spawn, siblings.max(1), &mut narrowed)?;
    let (child, input) = (child.clone(), InputId::new(format!("{}/{call}", thread.id())));
    let (call, name, queued) = (call.clone(), kin.name.clone(), must_wait(thread));
    let asked = ChildAsked { child, input, call, name, text, grant, background, queued, narrowed };
    moment.emit(Event::ChildAsked(Box::new(asked)));
    Ok(())
}

/// Whether one more child would have to wait for a permit.
fn must_wait(thread: &Thread) -> bool {
    let children = &thread.children;
    children.running + children.queue.len() as u32 >= thread.created.policy.max_concurrent.max(1)
}

/// Leaves the files that parent and child could both read without asking anybody: giving along is a way to read.
fn keep_readable(moment: &Moment<'_>, files: &mut Vec<Arc<str>>, child: &Layer, narrowed: &mut Vec<Arc<str>>) {
    if files.is_empty() {
        return;
    }
    let thread = &*moment.thread;
    if !reads_files(thread, &moment.facts.catalog) {
        narrowed.push("files were not given along: read_file is not among your tools".into());
        return files.clear();
    }
    if files.len() > MAX_FILES {
        narrowed.push(format!("only the first {MAX_FILES} files were given along").into());
        files.truncate(MAX_FILES);
    }
    if moment.facts.rules().is_empty() {
        return;
    }
    files.retain(|file| {
        let Judgement { action, by, .. } = thread.weigh_giving(moment.facts, file, child.clone());
        if action != Action::Allow {
            narrowed.push(
                format!("file {file} was not given along: read_file does not go without a question ({by})").into(),
            );
        }
        action == Action::Allow
    });
}

/// Whether the thread can read files itself, and so pass them.
pub fn reads_files(thread: &Thread, catalog: &Catalog) -> bool {
    catalog.tools.contains_key(READ_FILE) && thread.tools.has(READ_FILE)
}

fn only_reads(moment: &Moment<'_>, role: &Role) -> bool {
    let reads =
        |tool: &Arc<str>| moment.facts.catalog.tools.get(tool).is_some_and(|tool| tool.reach == Reach::ReadOnly);
    role.tools.iter().all(reads)
}

/// Why a thread cannot have more descendants.
pub enum NoRoom {
    /// No thread may have sub-agents.
    Off,
    /// No thread may be deeper.
    TooDeep { most: u32 },
    /// Too few places are left.
    NoPlace { most: u32, taken: u32, wanted: u32 },
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRoom::Off => f.write_str("sub-agents are switched off (policy.enabled)")?,
            NoRoom::TooDeep { most } => write!(f, "Maximum sub-agent depth ({most}) exceeded (policy.max_depth)")?,
            NoRoom::NoPlace { most, taken, .. } => {
                write!(f, "Maximum {most} sub-agents reached (policy.max_children; {taken} are taken)")?;
            }
        }
        f.write_str(": do the task yourself")
    }
}

/// Whether the thread may have `places` more descendants.
pub fn room(thread: &Thread, places: u32) -> Result<(), NoRoom> {
    let policy = &thread.created.policy;
    if !policy.enabled {
        return Err(NoRoom::Off);
    }
    if thread.grant().depth == 0 {
        return Err(NoRoom::TooDeep { most: policy.max_depth });
    }
    if thread.descendants_left() < places {
        let most = thread.grant().descendants;
        return Err(NoRoom::NoPlace { most, taken: most - thread.descendants_left(), wanted: places });
    }
    Ok(())
}

/// The agent of that name, or the one that is meant by none.
pub fn find_agent<'a>(moment: &'a Moment<'_>, name: Option<&str>) -> Result<Option<&'a Agent>, String> {
    match name {
        None => Ok(moment.facts.catalog.agent("general")),
        Some(name) => match moment.facts.catalog.agent(name) {
            Some(agent) => Ok(Some(agent)),
            None => {
                let offered = moment.facts.catalog.offered(moment.thread).map(|agent| &*agent.name);
                Err(format!("there is no agent '{name}'; there are: {}", offered.collect::<Vec<_>>().join(", ")))
            }
        },
    }
}

/// The layer that a child of this request would be.
pub fn layer(thread: &Thread, agent: Option<&Agent>, request: &ChildRequest) -> Layer {
    let name = agent.map_or_else(|| thread.created.role.name.clone(), |agent| agent.name.clone());
    Layer { agent: name, mode: mode(thread, agent, request, &mut Vec::new()) }
}

/// Refuses a JSON Schema that cannot be used.
pub fn check_schema(moment: &Moment<'_>, checks: &Checks) -> Result<(), String> {
    let why = checks.schema.as_ref().and_then(|schema| moment.facts.bad_schemas.get(schema.text()));
    why.map_or(Ok(()), |why| Err(format!("the JSON Schema in 'checks' cannot be used: {why}")))
}

fn mode(thread: &Thread, agent: Option<&Agent>, request: &ChildRequest, narrowed: &mut Vec<Arc<str>>) -> Mode {
    let parent = thread.mode;
    let by_policy = if thread.created.policy.inherit_mode { parent } else { Mode::Ask };
    let own = request.mode.or(agent.and_then(|agent| agent.mode)).unwrap_or(by_policy);
    // An agent that is made for less stays so, whatever its parent asks.
    let most = agent.and_then(|agent| agent.mode).unwrap_or(Mode::Dangerous);
    let given = parent.meet(own).meet(most);
    if request.mode.is_some_and(|requested| requested > given) {
        let whose = if most < parent { "the most that the agent may" } else { "the parent's own" };
        narrowed.push(format!("mode {own} was cut to {given}, {whose}").into());
    }
    given
}

fn role(moment: &Moment<'_>, request: &ChildRequest, mode: Mode, narrowed: &mut Vec<Arc<str>>) -> Result<Role, String> {
    let (parent, tools) = (&moment.thread.created, &moment.thread.tools);
    let own_model = &moment.thread.model;
    let catalog = tools.version().clone();
    let agent = find_agent(moment, request.agent.as_deref())?;
    let model = match request.model.as_ref().or(agent.and_then(|agent| agent.model.as_ref())) {
        Some(name) => moment.facts.model(name)?.clone(),
        None => own_model.clone(),
    };
    let effort = agent.map_or_else(|| own_model.effort.clone(), |agent| agent.effort.clone());
    let model = Model { effort, ..model };
    let policy = &parent.policy;
    // Where the parent's own price is not known, a person has said that this is good.
    let is_limited = parent.grant.cost_microusd.is_some() && own_model.has_known_cost();
    if is_limited && !model.has_known_cost() && !policy.allow_unknown_price {
        let name = &model.name;
        return Err(format!(
            "no price is known for {name}, so the limit on money cannot hold it: use another model, or a person sets \
             models.\"{name}\".price or grant.unknown_price = \"allow\""
        ));
    }
    let may_spawn = parent.grant.depth > 1 && policy.enabled && (mode > Mode::Plan || policy.spawn_in_plan);
    let given = |tool: &Arc<str>| {
        let is_verb = Verb::of(tool).is_some();
        (may_spawn || !is_verb) && (policy.children_may_ask || &**tool != ASK_USER)
    };
    let has: Vec<Arc<str>> = match agent.and_then(|agent| agent.tools.as_ref()) {
        None => tools.names().iter().filter(|tool| given(tool)).cloned().collect(),
        // A tool that the parent only lends goes to an agent whose definition names it.
        Some(_) => {
            let servers = &moment.facts.catalog.servers;
            let named = |tool: &Arc<str>| agent.is_some_and(|agent| agent.names(tool, servers.get(tool)));
            let all = tools.names().iter().chain(&parent.role.lends);
            all.filter(|tool| named(tool) && given(tool)).cloned().collect()
        }
    };
    let (has, servers) = of_servers(moment, request, agent, has, narrowed);
    let own_lends = agent.map_or(&[][..], |agent| &agent.lends);
    let lends = own_lends.iter().filter(|tool| moment.thread.can_give(tool)).cloned().collect();
    let is_chosen = request.tools.is_some() || agent.is_some_and(|agent| agent.tools.is_some());
    let gets_new_tools = parent.role.gets_new_tools && !is_chosen;
    let tools = match &request.tools {
        None => has,
        Some(requested) => {
            for tool in requested.iter().filter(|tool| !has.contains(tool)) {
                narrowed.push(format!("tool {tool} was not given: it is not among {}", list(&has)).into());
            }
            let tools: Vec<_> = has.iter().filter(|tool| requested.contains(tool)).cloned().collect();
            if tools.is_empty() && !requested.is_empty() {
                return Err(format!("none of the tools can be given; these can: {}", list(&has)));
            }
            tools
        }
    };
    let (name, prompt) = match agent {
        Some(agent) => (agent.name.clone(), agent.prompt.clone()),
        None => (parent.role.name.clone(), parent.role.prompt.clone()),
    };
    let prompt = request.system_prompt.clone().unwrap_or(prompt);
    let requires = agent.map_or_else(|| parent.role.requires.clone(), |agent| agent.requires.clone());
    Ok(Role { name, prompt, model, tools, lends, servers, gets_new_tools, catalog, output_schema: None, requires })
}

/// Of these tools, those that no server offers and those of the servers that the request or the agent names; all where neither does.
/// Also the names of the servers, and the two tools by which the rest is reached, as long as something is reached by them.
fn of_servers(
    moment: &Moment<'_>,
    request: &ChildRequest,
    agent: Option<&Agent>,
    mut has: Vec<Arc<str>>,
    narrowed: &mut Vec<Arc<str>>,
) -> (Vec<Arc<str>>, Option<Vec<Arc<str>>>) {
    let (catalog, parents) = (&*moment.facts.catalog, &moment.thread.created.role.servers);
    let own = agent.and_then(|agent| agent.mcp_servers.as_ref());
    let servers = match (&request.servers, own) {
        (Some(requested), Some(own)) => Some(requested.iter().filter(|name| own.contains(name)).cloned().collect()),
        (chosen, own) => chosen.as_ref().or(own).cloned(),
    };
    let servers: Option<Vec<Arc<str>>> = match (servers, parents) {
        (Some(mut servers), Some(parents)) => {
            servers.retain(|name| parents.contains(name));
            Some(servers)
        }
        (servers, parents) => servers.or_else(|| parents.clone()),
    };
    let parent = moment.thread.tools.names();
    for name in request.servers.iter().flatten() {
        let is_given = servers.iter().flatten().any(|given| given == name)
            && parent.iter().any(|tool| catalog.servers.get(tool) == Some(name));
        if !is_given {
            narrowed.push(format!("MCP server {name} was not given: it is not among those that can be").into());
        }
    }
    has.retain(|tool| catalog.is_chosen(servers.as_deref(), tool));
    let is_way = |tool: &str| [FIND_TOOLS, CALL_TOOL].contains(&tool);
    if has.iter().any(|tool| catalog.deferred.contains(tool)) {
        let ways = parent.iter().filter(|tool| is_way(tool) && !has.contains(tool)).cloned().collect::<Vec<_>>();
        has.extend(ways);
    } else if !catalog.deferred.is_empty() {
        has.retain(|tool| !is_way(tool));
    }
    (has, servers)
}

fn carve(
    moment: &Moment<'_>,
    request: &ChildRequest,
    can_spawn: bool,
    siblings: u32,
    narrowed: &mut Vec<Arc<str>>,
) -> Result<Grant, String> {
    let thread = &*moment.thread;
    let policy = &thread.created.policy;
    let wished_calls = request.max_tool_calls.unwrap_or(policy.child.max_tool_calls);
    let tool_calls = match policy.max_child_tool_calls {
        0 => wished_calls,
        most => wished_calls.min(most),
    };
    if tool_calls < wished_calls {
        narrowed.push(format!("max_tool_calls was cut to {tool_calls} (policy.max_child_tool_calls)").into());
    }
    let wished_tokens = request.max_tokens.unwrap_or(policy.child.max_tokens);
    // A parent that goes on beside its child is one more who needs a share.
    let sharers = siblings + u32::from(request.background);
    let share = tokens_to_share(moment).map(|left| left / u64::from(sharers));
    let tokens = wished_tokens.min(share.unwrap_or(u64::MAX));
    if tokens < policy.min_child_tokens {
        let least = policy.min_child_tokens;
        return Err(format!(
            "a sub-agent needs at least {least} tokens (policy.min_child_tokens), and {tokens} can be given: \
             do the task yourself"
        ));
    }
    if request.max_tokens.is_some_and(|requested| tokens < requested) {
        narrowed.push(format!("max_tokens was cut to {tokens}, this thread's share").into());
    }
    let cost_share = thread.cost_left().map(|left| left / u64::from(siblings + 1));
    let cost_microusd = match (request.max_cost_microusd, cost_share) {
        (Some(requested), Some(share)) => Some(requested.min(share)),
        (requested, share) => requested.or(share),
    };
    if let (Some(requested), Some(given)) = (request.max_cost_microusd, cost_microusd)
        && given < requested
    {
        narrowed.push(format!("max_cost was cut to ${:.2}, this thread's share", given as f64 / 1e6).into());
    }
    if cost_microusd == Some(0) {
        return Err("there is no money left for a sub-agent (max_cost): do the task yourself".to_owned());
    }
    let requests = requests_share(thread, siblings)?;
    let depth = thread.grant().depth - 1;
    let left = thread.descendants_left();
    let descendants = if can_spawn { left.saturating_sub(siblings) / (siblings + 1) } else { 0 };
    // More than the calls can need would be held from the siblings for nothing.
    let needed = REQUESTS_PER_CALL.saturating_mul(tool_calls).saturating_add(REQUESTS_BESIDES);
    let needed = needed.saturating_mul(descendants.saturating_add(1));
    Ok(Grant {
        tool_calls: Some(tool_calls),
        requests: requests.map(|share| share.min(needed)),
        tokens: Some(tokens),
        cost_microusd,
        time_ms: Some(request.timeout_ms.unwrap_or(policy.child.timeout_ms)),
        not_after: thread.run.as_ref().and_then(|run| run.clock.deadline),
        depth,
        descendants,
    })
}

/// A child's share of the requests; one for a last word of the parent's own is kept back. None when unlimited.
fn requests_share(thread: &Thread, siblings: u32) -> Result<Option<u32>, String> {
    let share = thread.requests_left().map(|left| left.saturating_sub(1) / (siblings + 1));
    match share {
        Some(share) if share < MIN_REQUESTS => Err(format!(
            "a sub-agent needs at least {MIN_REQUESTS} requests, and {share} can be given \
             (--max-requests, grant.requests): do the task yourself"
        )),
        share => Ok(share),
    }
}

/// What of the tokens can be given away: a last word of the parent's own stays affordable.
fn tokens_to_share(moment: &Moment<'_>) -> Option<u64> {
    let own = super::begin::closing_tokens(moment);
    moment.thread.tokens_left().map(|left| left.saturating_sub(own))
}

fn list(tools: &[Arc<str>]) -> String {
    tools.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}
