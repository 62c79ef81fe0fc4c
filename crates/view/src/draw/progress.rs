//! One plain line per change, appended and never redrawn: for `--plain`, for logs, and for screen readers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent::model::CallErrorKind;
use agent::{Outcome, ThreadId};
use jiff::tz::TimeZone;

use super::{all_tokens, cost, shares};
use crate::frame::{Body, ChildData, Done};
use crate::{Frame, Notice, argument, clock, safe};

/// The longest piece of foreign text within a line.
const MAX_WORDS: usize = 80;

/// Turns the frames of a family into lines.
#[derive(Clone, Debug)]
pub struct Progress {
    zone: TimeZone,
    /// What each thread is called.
    names: BTreeMap<ThreadId, Arc<str>>,
    /// The threads that go by a name. Where there are several, the thread is named too.
    bearers: BTreeMap<Arc<str>, BTreeSet<ThreadId>>,
    /// Children that had to wait: their beginning is news.
    queued: BTreeSet<ThreadId>,
    /// Requests that fail again and again, by the thread that sends them.
    failing: BTreeMap<ThreadId, Failing>,
}

/// A request that failed, and is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Failing {
    turn: u32,
    kind: Option<CallErrorKind>,
    /// How often it failed, with and without a line.
    times: u32,
    /// How often it failed as before, without a line.
    untold: u32,
}

impl Progress {
    /// Begins to watch, with the zone that times are shown in.
    pub fn new(zone: TimeZone) -> Self {
        Self {
            zone,
            names: BTreeMap::new(),
            bearers: BTreeMap::new(),
            queued: BTreeSet::new(),
            failing: BTreeMap::new(),
        }
    }

    /// The line that a frame makes; none where nothing changed that a person would want to read.
    pub fn line(&mut self, frame: &Frame) -> Option<String> {
        self.meet(frame);
        let change = self.change(frame)?;
        Some(format!(
            "{} {} {change}",
            clock::time_of_day(frame.at, &self.zone),
            self.name(&frame.thread, &frame.agent)
        ))
    }

    fn change(&mut self, frame: &Frame) -> Option<String> {
        match &frame.body {
            Body::AgentStart {} if frame.thread.is_root() || self.queued.contains(&frame.thread) => {
                Some("start".to_owned())
            }
            Body::AgentDelegate { sub_agent_id, goal, background, narrowed, .. } => {
                let background = if *background { " in background" } else { "" };
                let narrowed = narrowed.iter().map(|words| format!(" ({})", safe::line(words, MAX_WORDS)));
                let child = self.name(sub_agent_id, &frame.agent);
                Some(format!("-> {child} {}{background}{}", quoted(goal), narrowed.collect::<String>()))
            }
            Body::AgentResume {} => Some("resume".to_owned()),
            Body::SubAgentQueued(_) => {
                self.queued.insert(frame.thread.clone());
                Some("queued".to_owned())
            }
            Body::SubAgentComplete(end) | Body::SubAgentError(end) => Some(ended(&end.data)),
            Body::Done(done) => Some(finished(done)),
            // The hand-over that follows says the same and more.
            Body::ToolStart { agent_slug: Some(_), .. } => None,
            Body::ToolStart { tool_name, input, .. } => {
                let argument = argument::short(input).map(|words| format!(" \"{words}\"")).unwrap_or_default();
                Some(format!("tool {}{argument}", name(tool_name)))
            }
            Body::ToolResult { tool_name, output, is_error: true, .. } => {
                Some(format!("tool {} failed {}", name(tool_name), quoted(output)))
            }
            Body::ValidationRequired { validation_id, question: Some(question), .. } => {
                Some(format!("question {} {}", safe::line(validation_id.as_str(), MAX_WORDS), quoted(&question.text)))
            }
            Body::ValidationRequired { validation_id, effect, risk_level, .. } => {
                let (id, risk) = (safe::line(validation_id.as_str(), MAX_WORDS), risk_level.as_str());
                Some(format!("asks {id} {} ({risk} risk)", quoted(effect)))
            }
            Body::ValidationResolved { validation_id, decision, reason, answer, .. } => {
                let reason = reason
                    .as_ref()
                    .or(answer.as_ref())
                    .map(|reason| format!(" {}", quoted(reason)))
                    .unwrap_or_default();
                Some(format!("{decision} {}{reason}", safe::line(validation_id.as_str(), MAX_WORDS)))
            }
            Body::Steered { from, content } => Some(format!("steered by {} {}", name(from), quoted(content))),
            Body::Stalled { silent_ms, waiting_for } => {
                let waiting_for = safe::line(waiting_for, MAX_WORDS);
                Some(format!("stalled {} waiting for {waiting_for}", clock::duration(*silent_ms)))
            }
            Body::BudgetWarning { limit, percent } => Some(format!("budget {} {percent}%", name(limit))),
            Body::BudgetExceeded { reason } => Some(format!("budget exceeded {}", quoted(reason))),
            Body::Retry { turn, attempt, kind, message, in_ms, .. } => {
                if self.fails_as_before(&frame.thread, *turn, *kind) {
                    return None;
                }
                let attempt = attempt.map(|attempt| format!(" {attempt}")).unwrap_or_default();
                Some(format!("retry{attempt} in {} {}", clock::duration(*in_ms), quoted(message)))
            }
            Body::Error { kind, message } => {
                let failing = self.failing.remove(&frame.thread).filter(|failing| failing.untold > 0);
                let tries = failing.map(|failing| format!(" after {} retries", failing.times)).unwrap_or_default();
                Some(format!("error {} {}{tries}", name(kind), quoted(message)))
            }
            Body::Usage { .. } => {
                let failing = self.failing.remove(&frame.thread).filter(|failing| failing.untold > 0)?;
                Some(format!("answered after {} retries", failing.times))
            }
            // It names a setting, which must not be shortened: interfaces show it whole.
            Body::Notification { kind: Notice::ContextWindow, .. } => None,
            Body::Notification { message, .. } => Some(format!("note {}", quoted(message))),
            // A child's hand-over is its beginning, its terminal frame is its end, and words belong to the answer.
            Body::RunStarted { .. }
            | Body::ThreadCreated { .. }
            | Body::AgentStart {}
            | Body::AgentComplete { .. }
            | Body::SubAgentStart(_)
            | Body::Thinking { .. }
            | Body::Text { .. }
            | Body::ToolResult { .. }
            | Body::State { .. } => None,
        }
    }

    /// Counts a failed request. Whether it failed as it did before, which is no news: the number is told when it ends.
    fn fails_as_before(&mut self, thread: &ThreadId, turn: u32, kind: Option<CallErrorKind>) -> bool {
        match self.failing.get_mut(thread) {
            Some(failing) if failing.turn == turn => {
                failing.times += 1;
                let is_same = failing.kind == kind;
                failing.untold += u32::from(is_same);
                failing.kind = kind;
                is_same
            }
            _ => {
                self.failing.insert(thread.clone(), Failing { turn, kind, times: 1, untold: 0 });
                false
            }
        }
    }

    /// Takes the names in that a frame tells, where no line is wanted of it.
    pub fn meet(&mut self, frame: &Frame) {
        let (thread, called) = match &frame.body {
            Body::ThreadCreated { name, .. } => (&frame.thread, name),
            Body::AgentDelegate { sub_agent_id, sub_agent_name, .. } => (sub_agent_id, sub_agent_name),
            _ => return,
        };
        self.names.insert(thread.clone(), called.clone());
        self.bearers.entry(called.clone()).or_default().insert(thread.clone());
    }

    fn name(&self, thread: &ThreadId, agent: &Arc<str>) -> String {
        let called = self.names.get(thread).unwrap_or(agent);
        match self.bearers.get(called) {
            Some(bearers) if bearers.len() > 1 && !thread.is_root() => format!("{}({})", name(called), place(thread)),
            Some(_) | None => name(called),
        }
    }
}

/// A thread's place in its family, which is the same for all lines: `.1.2`.
fn place(thread: &ThreadId) -> &str {
    let name = thread.as_str();
    name.find('.').map_or(name, |dot| &name[dot..])
}

fn ended(data: &ChildData) -> String {
    let how = match data.outcome {
        Outcome::Completed => "done ok".to_owned(),
        outcome if outcome.has_result() => format!("done {outcome}"),
        outcome => format!("failed {outcome}"),
    };
    let took = clock::duration(data.metrics.duration_ms);
    let (tools, tokens) = (data.metrics.tool_calls, all_tokens(&data.usage.tree));
    format!("{how} {took} tools={tools} tokens={tokens}{}", because(data.error.as_ref()))
}

fn finished(done: &Done) -> String {
    let how = if done.outcome == Outcome::Completed { "ok" } else { done.outcome.as_str() };
    let took = clock::duration(done.duration_ms);
    let (own, tree) = (&done.usage.own, &done.usage.tree);
    let kept = shares(tree).map(|shares| format!(" ({shares})")).unwrap_or_default();
    let spent = match tree.cost_microusd {
        0 => String::new(),
        _ => format!(" cost={}", cost(tree, true)),
    };
    let (tools, tokens) = (own.tool_calls, all_tokens(tree));
    format!(
        "finished {how} {took} tools={tools} tokens={tokens}{kept}{spent} exit={}{}",
        done.exit_code,
        because(done.reason.as_ref())
    )
}

fn because(reason: Option<&Arc<str>>) -> String {
    reason.map(|reason| format!(" {}", quoted(reason))).unwrap_or_default()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", safe::line(text, MAX_WORDS))
}

fn name(text: &str) -> String {
    safe::line(text, MAX_WORDS)
}
