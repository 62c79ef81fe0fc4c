//! One thread's conversation, as a person reads it afterwards.
//!
//! It keeps the thread's events and reads them in the order of the log, so they may arrive in any order and more than once;
//! a result that comes before its call makes the row, and the call fills it in (KATA-12, KATA-14).
//! Children are rows with a line that says how they are; their own conversations are transcripts of their own.
//! How rows are drawn is left to the interfaces; text in them is as it was written, and must be made safe where it is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::approval::Resolution;
use agent::event::{ChildAsked, ChildSpawned, MadeCall, TurnKind, VerdictKind};
use agent::message::{Offer, Part};
use agent::tools::CHECKS;
use agent::{CallId, Event, Json, Outcome, Report, ThreadId, Time};
use schemars::JsonSchema;
use serde::Serialize;

use crate::known::checks_input;
use crate::{AttachedFile, Logged, Notice, argument, clock, thinking};

/// Gathers one thread's events.
#[derive(Clone, Debug)]
pub struct Transcript {
    thread: ThreadId,
    events: BTreeMap<u64, (Time, Event)>,
}

/// A row of a conversation: an object with one field, named by the kind of row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// What a person asked.
    Prompt {
        /// When.
        #[schemars(with = "schema::Moment")]
        at: Time,
        /// The words.
        text: Arc<str>,
        /// Images and documents that came with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<AttachedFile>,
    },
    /// What the parent asked, or what the program let it know.
    Brief {
        /// When.
        #[schemars(with = "schema::Moment")]
        at: Time,
        /// The brief as the model reads it.
        text: String,
    },
    /// A message that came while it worked.
    Steer {
        /// When.
        #[schemars(with = "schema::Moment")]
        at: Time,
        /// Who.
        from: Arc<str>,
        /// The words.
        text: Arc<str>,
    },
    /// What the agent thought before it spoke, where its model shows that.
    Thinking {
        /// When.
        #[schemars(with = "schema::Moment")]
        at: Time,
        /// Which agent.
        agent: Arc<str>,
        /// The thoughts.
        text: String,
    },
    /// What the agent said.
    Text {
        /// When.
        #[schemars(with = "schema::Moment")]
        at: Time,
        /// Which agent.
        agent: Arc<str>,
        /// The words.
        text: Arc<str>,
        /// What a person may answer: the words say it too, and interfaces can show it as choices.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schemars(with = "Vec<schema::Offer>")]
        offers: Vec<Offer>,
    },
    /// A tool call and its result.
    Tool(ToolRow),
    /// A sub-agent.
    Child(ChildRow),
    /// A notice.
    Notice {
        /// When.
        #[schemars(with = "schema::Moment")]
        at: Time,
        /// In a sentence.
        text: String,
    },
    /// The end of a run.
    End {
        /// When.
        #[schemars(with = "schema::Moment")]
        at: Time,
        /// How it ended.
        #[schemars(with = "schema::Outcome")]
        outcome: Outcome,
        /// Why it ended so.
        reason: Option<Arc<str>>,
        /// How it went, in a line.
        status: String,
        /// What was reported, where that is not what the agent said last: an answer that broke off, or came in pieces.
        text: Option<Arc<str>>,
    },
}

/// A tool call and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolRow {
    /// When it was asked for.
    #[schemars(with = "schema::Moment")]
    pub at: Time,
    /// The call.
    #[schemars(with = "String")]
    pub call: CallId,
    /// The tool; null while only its result is known.
    pub name: Option<Arc<str>>,
    /// Its arguments; null while only its result is known.
    #[schemars(with = "Option<serde_json::Value>")]
    pub input: Option<Json>,
    /// The argument that says most, in short.
    pub argument: Option<Arc<str>>,
    /// The whole result; null while it has none.
    pub output: Option<Arc<str>>,
    /// Whether it failed or was refused.
    pub is_error: bool,
    /// How long the tool ran.
    pub duration_ms: Option<u64>,
}

/// A sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChildRow {
    /// When it was spawned.
    #[schemars(with = "schema::Moment")]
    pub at: Time,
    /// Its thread.
    #[schemars(with = "String")]
    pub thread: ThreadId,
    /// The call that asked for it.
    #[schemars(with = "String")]
    pub call: CallId,
    /// What it is called on screens.
    pub name: Arc<str>,
    /// The agent that it plays.
    pub agent: Arc<str>,
    /// What it is asked to do.
    pub goal: Arc<str>,
    /// How it ended; null while it runs.
    #[schemars(with = "Option<schema::Outcome>")]
    pub outcome: Option<Outcome>,
    /// How it is, in a line: `completed · 6 tool calls · 4.1s · 3100 tokens`.
    pub status: String,
    /// What it reported; null while it runs.
    pub report: Option<Arc<str>>,
}

impl Transcript {
    /// An empty transcript of a thread.
    pub fn new(thread: ThreadId) -> Self {
        Self { thread, events: BTreeMap::new() }
    }

    /// Takes an event in; those of other threads are not part of it.
    pub fn push(&mut self, logged: &Logged<'_>) {
        if *logged.thread == self.thread {
            self.events.insert(logged.seq, (logged.at, logged.event.clone()));
        }
    }

    /// The rows, in the order of the log.
    pub fn entries(&self) -> Vec<Entry> {
        let mut rows = Rows::default();
        for (at, event) in self.events.values() {
            rows.take(*at, event);
        }
        rows.entries
    }
}

#[derive(Default)]
struct Rows {
    entries: Vec<Entry>,
    agent: Option<Arc<str>>,
    /// What the agent said last.
    spoken: Option<Arc<str>>,
    /// Whether the model is asked for a summary, which is not spoken.
    sums_up: bool,
    /// Where a call's row stands.
    calls: BTreeMap<CallId, usize>,
    /// Where a child's row stands.
    children: BTreeMap<ThreadId, usize>,
}

impl Rows {
    fn take(&mut self, at: Time, event: &Event) {
        let mut notice = |text: String| self.entries.push(Entry::Notice { at, text });
        match event {
            Event::ThreadCreated(created) => {
                self.agent = Some(created.role.name.clone());
                if let Some(brief) = &created.brief {
                    self.entries.push(Entry::Brief { at, text: brief.text() });
                }
            }
            Event::RunStarted { prompt, attachments, from, .. } => self.entries.push(match from {
                None => {
                    let attachments = attachments.iter().map(AttachedFile::of).collect();
                    Entry::Prompt { at, text: prompt.clone(), attachments }
                }
                Some(_) => Entry::Brief { at, text: prompt.to_string() },
            }),
            Event::Steered { text, from, .. } => {
                self.entries.push(Entry::Steer { at, from: from.clone(), text: text.clone() });
            }
            Event::TurnStarted(started) => self.sums_up = started.kind == TurnKind::Compact,
            Event::Answered(answered) => {
                let mut calls = answered.calls();
                for part in &answered.parts {
                    match part {
                        Part::ToolCall { .. } => calls.next().into_iter().for_each(|made| self.called(at, &made)),
                        part => self.said(at, part),
                    }
                }
                self.offered(answered.parts.iter().flat_map(Part::offered).collect());
                for verdict in &answered.verdicts {
                    if let VerdictKind::Refused { reason, .. } = &verdict.what {
                        let row = self.tool(at, &verdict.call);
                        row.output = Some(reason.clone());
                        row.is_error = true;
                    }
                }
            }
            Event::ChecksStarted { call, commands, .. } => {
                let input = checks_input(commands);
                let row = self.tool(at, call);
                row.name = Some(CHECKS.into());
                row.argument = argument::short(&input);
                row.input = Some(input);
            }
            Event::ToolFinished { call, result, duration_ms, .. }
            | Event::ChecksFinished { call, result, duration_ms, .. } => {
                let row = self.tool(at, call);
                row.output = Some(result.content.clone());
                row.is_error = result.is_error;
                row.duration_ms = *duration_ms;
            }
            Event::ChildSpawned(spawned) => self.spawned(at, spawned),
            Event::ChildAsked(asked) => self.asked(at, asked),
            Event::ChildStarted { child, .. } => {
                if let Some(row) = self.child(child) {
                    row.status = "running".to_owned();
                }
            }
            Event::ChildReported { child, report, .. } => {
                if let Some(row) = self.child(child) {
                    row.outcome = Some(report.outcome);
                    row.status = status(report);
                    row.report = Some(report.text.clone());
                }
            }
            Event::Reported(report) => {
                let is_new = !report.text.is_empty() && self.spoken.as_ref() != Some(&report.text);
                self.entries.push(Entry::End {
                    at,
                    outcome: report.outcome,
                    reason: report.reason.clone(),
                    status: status(report),
                    text: is_new.then(|| report.text.clone()),
                });
            }
            Event::CallFailed { attempt, error, retry_at, .. } => notice(match retry_at {
                Some(then) => {
                    format!("try {attempt} failed ({error}), again in {}", clock::duration(then.since_ms(at)))
                }
                None => format!("try {attempt} failed ({error})"),
            }),
            Event::CallRepeated { .. } => notice("the model is asked again: the process went away".to_owned()),
            Event::ApprovalRequested(approval) => match &approval.question {
                Some(question) => notice(format!("question {}: {}", approval.id, question.text)),
                None => notice(format!(
                    "{} asks: {} ({} risk; {})",
                    approval.tool,
                    approval.effect,
                    approval.risk.as_str(),
                    approval.why
                )),
            },
            Event::ApprovalResolved { approval, resolution, .. } => notice(match resolution {
                Resolution::Answered { text } => format!("question {approval} is answered: {text}"),
                other => format!("question {approval} is {}", other.as_str()),
            }),
            Event::ChildStopped { child, reason, .. } => notice(format!("{child} is told to end: {reason}")),
            Event::ContextCompacted { summary, .. } => {
                notice(format!("the conversation was replaced by a summary of it:\n{summary}"));
            }
            Event::StallNoticed { silent_ms, waiting_for } => {
                notice(format!("silent for {}, waiting for {waiting_for}", clock::duration(*silent_ms)));
            }
            Event::BudgetWarned { limit, percent } => notice(format!("{percent} % of the {limit} grant is used")),
            Event::InputDropped { .. }
            | Event::StopBegun { .. }
            | Event::SubtaskSkipped { .. }
            | Event::SubtaskRecalled { .. }
            | Event::ContextTrimmed { .. }
            | Event::ToolsChanged { .. }
            | Event::SettingsChanged { .. }
            | Event::SamplingStarted(_)
            | Event::SamplingEnded(_)
            | Event::Reopened { .. } => {
                if let Some((_, text)) = Notice::of(event) {
                    notice(text);
                }
            }
            Event::InputArrived { .. }
            | Event::ToolStarted { .. }
            | Event::Delegated { .. }
            | Event::ChildIssued { .. }
            | Event::ChildSaid { .. }
            | Event::ChildPaused { .. }
            | Event::MessageSent { .. }
            | Event::ChildAwaited { .. }
            | Event::WaitStarted { .. } => {}
        }
    }

    fn said(&mut self, at: Time, part: &Part) {
        match part {
            Part::Text { text, .. } if !text.is_empty() && !self.sums_up => {
                let agent = self.agent.clone().unwrap_or_else(|| "agent".into());
                self.spoken = Some(text.clone());
                self.entries.push(Entry::Text { at, agent, text: text.clone(), offers: Vec::new() });
            }
            Part::Opaque { raw, .. } if !self.sums_up => {
                if let Some(text) = thinking::of(raw) {
                    let agent = self.agent.clone().unwrap_or_else(|| "agent".into());
                    self.entries.push(Entry::Thinking { at, agent, text });
                }
            }
            Part::Text { .. }
            | Part::ToolCall { .. }
            | Part::ToolResult { .. }
            | Part::Attached(_)
            | Part::Opaque { .. } => {}
        }
    }

    fn called(&mut self, at: Time, made: &MadeCall<'_>) {
        let row = self.tool(at, made.call);
        row.name = Some(made.name.clone());
        row.argument = argument::short(&made.input);
        row.input = Some(made.input.clone());
    }

    /// What may be answered stands with the last words of an answer.
    fn offered(&mut self, choices: Vec<Offer>) {
        if let Some(Entry::Text { offers, .. }) = self.entries.last_mut().filter(|_| !choices.is_empty()) {
            *offers = choices;
        }
    }

    fn spawned(&mut self, at: Time, spawned: &ChildSpawned) {
        self.children.insert(spawned.child.clone(), self.entries.len());
        self.entries.push(Entry::Child(ChildRow {
            at,
            thread: spawned.child.clone(),
            call: spawned.call.clone(),
            name: spawned.name.clone(),
            agent: spawned.role.name.clone(),
            goal: spawned.brief.task.clone(),
            outcome: None,
            status: if spawned.queued { "queued" } else { "running" }.to_owned(),
            report: None,
        }));
    }

    /// A child that goes on has another row, below what was said meanwhile.
    fn asked(&mut self, at: Time, asked: &ChildAsked) {
        let agent = self.child(&asked.child).map_or_else(|| asked.name.clone(), |row| row.agent.clone());
        self.children.insert(asked.child.clone(), self.entries.len());
        self.entries.push(Entry::Child(ChildRow {
            at,
            thread: asked.child.clone(),
            call: asked.call.clone(),
            name: asked.name.clone(),
            agent,
            goal: asked.text.clone(),
            outcome: None,
            status: if asked.queued { "queued" } else { "running" }.to_owned(),
            report: None,
        }));
    }

    fn tool(&mut self, at: Time, call: &CallId) -> &mut ToolRow {
        let place = *self.calls.entry(call.clone()).or_insert_with(|| {
            self.entries.push(Entry::Tool(ToolRow {
                at,
                call: call.clone(),
                name: None,
                input: None,
                argument: None,
                output: None,
                is_error: false,
                duration_ms: None,
            }));
            self.entries.len() - 1
        });
        match &mut self.entries[place] {
            Entry::Tool(row) => row,
            _ => unreachable!("rows of calls are only noted where a tool's row was pushed"),
        }
    }

    fn child(&mut self, child: &ThreadId) -> Option<&mut ChildRow> {
        match &mut self.entries[*self.children.get(child)?] {
            Entry::Child(row) => Some(row),
            _ => None,
        }
    }
}

/// How a run went, the outcome first (OPTA-30).
pub(crate) fn status(report: &Report) -> String {
    let took = clock::duration(report.duration_ms);
    let (calls, tokens) = (report.usage.tool_calls, report.tree.tokens.total());
    let plural = if calls == 1 { "" } else { "s" };
    let status = format!("{} · {calls} tool call{plural} · {took} · {tokens} tokens", report.outcome);
    match &report.reason {
        Some(reason) => format!("{status} · {reason}"),
        None => status,
    }
}
