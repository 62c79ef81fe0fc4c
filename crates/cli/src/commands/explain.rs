//! `majordomo explain`: what would become of a call, who on the way from the root says what, and by which rule.
//!
//! The thread is read from its log, the rules are those that stand at this moment. Nothing is called.

use agent::house::House;
use agent::permission::{Action, Weighed};
use agent::tools::ToolInfo;
use agent::{Json, Thread, ThreadId};
use majordomo::SAMPLE;
use majordomo::config::Flags;
use majordomo::staff::{open_house, open_store};
use serde_json::{Value, json};
use store::Store;
use view::safe;

use super::{configured, configured_in, hands, sandbox};
use crate::arguments::Explain;
use crate::error::Failure;
use crate::out;

/// Events that are read at once.
const PAGE: usize = 1000;
/// The widest that a stranger's words are shown.
const WIDE: usize = 160;

/// `majordomo explain`.
pub async fn explain(arguments: &Explain) -> Result<u8, Failure> {
    let flags = arguments.place.flags();
    let (surroundings, config) = configured(&flags)?;
    let store = open_store(&config)?;
    let id = store.resolve(&arguments.thread).await?;
    let thread = read(&store, &id).await?;
    // The rules of the project that it works in, wherever it is asked about.
    let workspace = (&*thread.created.workspace).into();
    let flags = Flags { demo: thread.created.household.as_deref() == Some(SAMPLE), ..flags };
    let (surroundings, config) = configured_in(workspace, (&surroundings, &config), &flags)?;
    let house = open_house(&surroundings, &config, &hands(sandbox(&surroundings, &config)))?;

    let tool = house.tool(&arguments.tool, &thread.created);
    let tool = tool.ok_or_else(|| no_tool(&house, &arguments.tool))?;
    let input = input(&tool, arguments.arguments.as_deref())?;
    let weighed = thread.weigh(&house, &tool, &input);
    let answer = Answer { id: &id, thread: &thread, tool: &tool, input: &input, weighed: &weighed };
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
    tool: &'a ToolInfo,
    input: &'a Json,
    weighed: &'a Weighed,
}

impl Answer<'_> {
    /// What is done about the call, and why. A tool that the thread does not have is refused before any rule is asked.
    fn verdict(&self) -> (Action, String) {
        let role = &self.thread.created.role;
        if role.tools.contains(&self.tool.name) {
            let judgement = &self.weighed.judgement;
            return (judgement.action, judgement.by.to_string());
        }
        (Action::Deny, format!("{} is none of its tools", self.tool.name))
    }

    fn lines(&self) -> Vec<String> {
        let Weighed { assessment, risk, judgement } = self.weighed;
        let list = |list: &[std::sync::Arc<str>]| match list {
            [] => "none".to_owned(),
            list => list.iter().map(|text| safe::line(text, WIDE)).collect::<Vec<_>>().join(" · "),
        };
        let created = &self.thread.created;
        let mut lines = vec![
            format!("{} of {} ({})", self.tool.name, self.id, safe::line(&created.name, 40)),
            format!("  effect     {}", safe::line(&assessment.effect, WIDE)),
            format!("  reach      {}", word(&assessment.reach)),
            format!("  risk       {}", risk.as_str()),
            format!("  subjects   {}", list(&assessment.subjects)),
            format!("  protected  {}", list(&assessment.protected)),
        ];
        if !assessment.is_readable {
            lines.push("  it cannot be read, so that any rule which asks or denies may be meant".to_owned());
        } else if !assessment.is_plain {
            lines.push("  its subjects do not tell all of it, so that no pattern allows it".to_owned());
        }
        if self.thread.foreign {
            lines.push("  text from outside was read before".to_owned());
        }
        for rule in &self.thread.granted {
            lines.push(format!("  consent    {}", safe::line(&rule.to_string(), WIDE)));
        }
        let names: Vec<String> = judgement.chain.iter().map(|link| safe::line(&link.layer.agent, 40)).collect();
        let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (link, name) in judgement.chain.iter().zip(&names) {
            let (mode, action, by) = (link.layer.mode.as_str(), link.action.as_str(), safe::line(&link.by, WIDE));
            lines.push(format!("{name:<wide$}  {mode:<9}  {action:<5}  {by}"));
        }
        let (action, by) = self.verdict();
        lines.push(format!("verdict: {action}, {}", safe::line(&by, WIDE)));
        lines
    }

    fn object(&self) -> Value {
        let Weighed { assessment, risk, judgement } = self.weighed;
        let link = |link: &agent::permission::Link| json!({ "agent": link.layer.agent, "mode": link.layer.mode, "action": link.action, "by": link.by });
        let (action, by) = self.verdict();
        json!({
            "id": self.id,
            "tool": self.tool.name,
            "input": self.input.value(),
            "effect": assessment.effect,
            "reach": assessment.reach,
            "risk": risk,
            "subjects": assessment.subjects,
            "protected": assessment.protected,
            "is_plain": assessment.is_plain,
            "is_readable": assessment.is_readable,
            "foreign": self.thread.foreign,
            "granted": self.thread.granted,
            "chain": judgement.chain.iter().map(link).collect::<Vec<_>>(),
            "action": action,
            "by": by,
        })
    }
}

async fn read(store: &dyn Store, id: &ThreadId) -> Result<Thread, Failure> {
    let (mut thread, mut after) = (None::<Thread>, 0);
    loop {
        let page = store.read(id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.n;
        for record in &page {
            match &mut thread {
                None => thread = Some(Thread::new(record.at, &record.event)),
                Some(thread) => thread.apply(record.at, &record.event),
            }
        }
    }
    thread.ok_or_else(|| Failure::usage(format!("no thread is called '{id}'")))
}

/// The arguments of a call: JSON, or the one thing that a tool is used on.
fn input(tool: &ToolInfo, text: Option<&str>) -> Result<Json, Failure> {
    let Some(text) = text else { return Ok(Json::object()) };
    if text.trim_start().starts_with('{') {
        return Json::parse(text).map_err(|error| Failure::usage(format!("these arguments are no JSON: {error}")));
    }
    let schema = tool.schema.value();
    let key = ["command", "path"].into_iter().find(|key| schema["properties"].get(key).is_some());
    let key = key.ok_or_else(|| Failure::usage(format!("{} takes its arguments as JSON", tool.name)))?;
    Ok(Json::of(&json!({ key: text })))
}

fn no_tool(house: &House, name: &str) -> Failure {
    let known: Vec<&str> = house.tools.keys().map(AsRef::as_ref).collect();
    Failure::usage(format!("there is no tool '{}': {}", safe::line(name, 40), known.join(", ")))
}

fn word(reach: &agent::tools::Reach) -> &'static str {
    use agent::tools::Reach;
    match reach {
        Reach::ReadOnly => "it only reads",
        Reach::Own => "what is the agent's own",
        Reach::Workspace => "the workspace",
        Reach::World => "beyond the workspace",
    }
}
