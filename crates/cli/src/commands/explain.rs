//! `majordomo explain`: whether a call is allowed, needs approval or is denied, and what each thread from the root down contributes.
//!
//! The thread is read from its log; the rules are the current ones. The decision is the one that a run takes
//! ([`Thread::rule_on`]), on the same facts. Nothing is called, and no hook is run: those that may refuse the call are named.

use std::sync::Arc;

use agent::permission::{Action, Link, Rule, Ruling, UNKNOWN, Weighed};
use agent::tools::{Assessment, RUN_COMMAND, ToolInfo};
use agent::{Catalog, Json, Needs, Thread, ThreadId};
use majordomo::SAMPLE;
use majordomo::config::Flags;
use majordomo::hooks::Hook;
use majordomo::servers::mcp;
use majordomo::staff::{open_facts, open_store};
use serde_json::{Value, json};
use store::{Record, Selection, Store, replay};
use tool::Origin;
use view::draw::columns;
use view::safe;

use super::config::TEXT_ONLY;
use super::{configured, configured_in, registry, sandbox};
use crate::arguments::Explain;
use crate::error::Failure;
use crate::out;

/// The widest that untrusted text is shown.
const WIDE: usize = 160;

/// `majordomo explain`.
pub async fn explain(arguments: &Explain) -> Result<u8, Failure> {
    let flags = arguments.place.flags();
    let (surroundings, config) = configured(&flags)?;
    let store = open_store(&config)?;
    let id = store.resolve(&arguments.thread).await?;
    let thread = read(&*store, &id).await?;
    // The rules of the project that it works in, wherever it is asked about.
    let workspace = (&*thread.created.workspace).into();
    let flags = Flags { demo: thread.created.household.as_deref() == Some(SAMPLE), ..flags };
    let (surroundings, config) = configured_in(workspace, (&surroundings, &config), &flags)?;
    let name = arguments.tool.as_str();
    let mut registry = registry(sandbox(&surroundings, &config));
    // No server is started: what it says about its tools decides nothing.
    let server = name.split_once(mcp::SEPARATOR).map(|(server, _)| server);
    if let Some(settings) = config.servers.iter().find(|settings| server == Some(&*settings.name)) {
        registry = registry.join(mcp::judged_only(settings, name));
    }
    let (facts, tools, hooks) = open_facts(&surroundings, &config, registry)?;
    let known = facts.known(&tools);
    let catalog = known.catalog.clone();
    let tool = catalog.tool(name, &thread);
    // A tool that the thread had when it was started and this process does not have is a decision too.
    if tool.is_none() && !thread.tools.has(name) && !thread.tools.had(name) {
        return Err(no_tool(&catalog, name));
    }
    let input = input(tool.as_ref(), arguments.arguments.as_deref())?;
    let needs = Needs { rules: true, ..thread.needs_of_call(&known, name, &input) };
    let facts = facts.gather(&known, &tools, &thread.created.workspace, needs).await;
    let ruling = thread.rule_on(&facts, name, &input);
    let rules = facts.rules.unwrap_or_default();
    let origin = tools.origin(name);
    // What is denied is not made, and no hook hears of it.
    let hooks = if ruling.action == Action::Deny { Vec::new() } else { hooks.of_call(name, &input) };
    let answer =
        Answer { id: &id, thread: &thread, tool: name, origin, input: &input, ruling: &ruling, rules: &rules, hooks };
    let mut result = out::Result::Stdout;
    if arguments.json {
        result.line(&answer.object().to_string())?;
        return Ok(0);
    }
    for line in answer.lines() {
        if !result.line(&line)? {
            break;
        }
    }
    Ok(0)
}

struct Answer<'a> {
    id: &'a ThreadId,
    thread: &'a Thread,
    tool: &'a str,
    /// Where the tool comes from; none for a verb, and for a tool that this process does not have.
    origin: Option<Origin>,
    input: &'a Json,
    ruling: &'a Ruling,
    rules: &'a [Rule],
    /// The hooks that may refuse it, whatever is said here.
    hooks: Vec<&'a Hook>,
}

impl Answer<'_> {
    fn lines(&self) -> Vec<String> {
        let created = &self.thread.created;
        let mut lines = vec![format!("{} of {} ({})", self.tool, self.id, safe::line(&created.name, 40))];
        if let Some(origin) = &self.origin {
            lines.push(format!("  origin     {origin}"));
        }
        if let Some(weighed) = &self.ruling.weighed {
            self.weighed(weighed, &mut lines);
        }
        for rule in self.about_spelling() {
            let rule = safe::line(&rule.to_string(), WIDE);
            lines.push(format!("  text only  {rule}: {TEXT_ONLY}"));
        }
        for Hook { event, matcher, command, file, .. } in &self.hooks {
            let matcher = if matcher.is_empty() { "*" } else { matcher };
            let (command, file) = (safe::line(command, WIDE), safe::line(&file.display().to_string(), WIDE));
            lines.push(format!("  hook       may refuse it in a run: {event} ({matcher}): {command} ({file})"));
        }
        lines.push(format!("verdict: {}, {}", self.ruling.action, safe::line(&self.ruling.by, WIDE)));
        lines
    }

    fn weighed(&self, weighed: &Weighed, lines: &mut Vec<String>) {
        let Weighed { assessment, risk, judgement, .. } = weighed;
        let list = |list: &[Arc<str>]| match list {
            [] => "none".to_owned(),
            list => list.iter().map(|text| safe::line(text, WIDE)).collect::<Vec<_>>().join(" · "),
        };
        lines.extend([
            format!("  effect     {}", safe::line(&assessment.effect, WIDE)),
            format!("  reach      {}", word(&assessment.reach)),
            format!("  risk       {}", risk.as_str()),
            format!("  subjects   {}", list(&assessment.subjects)),
        ]);
        if self.tool == RUN_COMMAND && !assessment.also.is_empty() {
            let acts: Vec<Arc<str>> = assessment.also.iter().map(|act| shown(act)).collect();
            lines.push(format!("  does       {}", list(&acts)));
        }
        let perhaps = perhaps(assessment);
        if !perhaps.is_empty() {
            lines.push(format!("  may be     {}", list(&perhaps)));
        }
        lines.push(format!("  protected  {}", list(&assessment.protected)));
        if !assessment.is_readable {
            lines.push("  the command cannot be parsed, so any rule that asks or denies may apply".to_owned());
        } else if !assessment.is_plain {
            lines.push("  the text does not show everything that it does, so no pattern can allow it".to_owned());
        }
        if self.thread.foreign {
            lines.push("  the thread has read untrusted text (mail, web, reports of others)".to_owned());
        }
        for rule in &self.thread.approvals.granted {
            lines.push(format!("  consent    {}", safe::line(&rule.to_string(), WIDE)));
        }
        let names: Vec<String> = judgement.chain.iter().map(|link| safe::line(&link.layer.agent, 40)).collect();
        let wide = names.iter().map(|name| columns::width(name)).max().unwrap_or(0);
        for (link, name) in judgement.chain.iter().zip(&names) {
            let (mode, action, by) = (link.layer.mode.as_str(), link.action.as_str(), safe::line(&link.by, WIDE));
            let name = columns::left(name, wide);
            lines.push(format!("{name}  {mode:<9}  {action:<5}  {by}"));
        }
    }

    fn object(&self) -> Value {
        let link = |link: &Link| json!({ "agent": link.layer.agent, "mode": link.layer.mode, "action": link.action, "by": link.by });
        let about = |weighed: &Weighed| {
            let Weighed { assessment, risk, judgement, .. } = weighed;
            json!({
                "effect": assessment.effect,
                "reach": assessment.reach,
                "risk": risk,
                "subjects": assessment.subjects,
                "also": assessment.also.iter().map(|act| shown(act)).collect::<Vec<_>>(),
                "perhaps": perhaps(assessment),
                "protected": assessment.protected,
                "is_plain": assessment.is_plain,
                "is_readable": assessment.is_readable,
                "is_undecided": judgement.is_undecided,
                "chain": judgement.chain.iter().map(link).collect::<Vec<_>>(),
            })
        };
        let mut object = self.ruling.weighed.as_ref().map_or_else(|| json!({ "chain": [] }), about);
        object["id"] = json!(self.id);
        object["tool"] = json!(self.tool);
        object["origin"] = json!(self.origin);
        object["input"] = self.input.value();
        object["foreign"] = json!(self.thread.foreign);
        object["granted"] = json!(self.thread.approvals.granted);
        object["text_only"] = json!(self.about_spelling().map(ToString::to_string).collect::<Vec<_>>());
        let hook = |hook: &&Hook| json!({ "event": hook.event, "matcher": hook.matcher, "command": hook.command, "file": hook.file });
        object["hooks"] = json!(self.hooks.iter().map(hook).collect::<Vec<_>>());
        object["action"] = json!(self.ruling.action);
        object["by"] = json!(self.ruling.by);
        object
    }

    /// The rules for this tool that are about the spelling of a command and not about what it does.
    fn about_spelling(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| self.tool == RUN_COMMAND && rule.matches_text_only())
    }
}

/// What a call may do besides, with a mark for what is not known.
fn perhaps(assessment: &Assessment) -> Vec<Arc<str>> {
    assessment.perhaps.iter().filter(|act| act.contains(UNKNOWN)).map(|act| shown(act)).collect()
}

fn shown(act: &str) -> Arc<str> {
    act.replace(UNKNOWN, "…").into()
}

async fn read(store: &dyn Store, id: &ThreadId) -> Result<Thread, Failure> {
    let mut thread = None::<Thread>;
    let apply = |record: Record| match &mut thread {
        None => thread = Some(Thread::new(record.at, &record.event)),
        Some(thread) => thread.apply(record.at, &record.event),
    };
    replay(store, Selection::thread(id), apply).await?;
    thread.ok_or_else(|| Failure::usage(format!("no thread is called '{id}'")))
}

/// The arguments of a call: JSON, or the one thing that a tool is used on.
fn input(tool: Option<&ToolInfo>, text: Option<&str>) -> Result<Json, Failure> {
    let (Some(text), Some(tool)) = (text, tool) else { return Ok(Json::object()) };
    if text.trim_start().starts_with('{') {
        return Json::parse(text).map_err(|error| Failure::usage(format!("the arguments are not valid JSON: {error}")));
    }
    let schema = tool.schema.value();
    let key = ["command", "path"].into_iter().find(|key| schema["properties"].get(key).is_some());
    let key = key.ok_or_else(|| Failure::usage(format!("{} takes its arguments as JSON", tool.name)))?;
    Ok(Json::of(&json!({ key: text })))
}

fn no_tool(catalog: &Catalog, name: &str) -> Failure {
    let known: Vec<&str> = catalog.tools.keys().map(AsRef::as_ref).collect();
    Failure::usage(format!("there is no tool '{}'; the tools are: {}", safe::line(name, 40), known.join(", ")))
}

fn word(reach: &agent::tools::Reach) -> &'static str {
    use agent::tools::Reach;
    match reach {
        Reach::ReadOnly => "read-only",
        Reach::Own => "the agent's own notes and lists",
        Reach::Workspace => "the workspace",
        Reach::Network => "a server on the network",
        Reach::World => "outside the workspace",
    }
}
