//! Finds the owner's decisions in a conversation: consent and refusal, a time chosen out of several, a mail called urgent or not, a
//! result opened, a draft written again.
//!
//! What an agent does by itself is not a decision of the owner. A choice counts where the owner wrote something between the offer and the
//! choice, and a statement about a mail only where no foreign text was read since the owner wrote: what a mail says about
//! itself is never taken for the owner's opinion. Calls that were refused or failed are ignored.
//!
//! Pure: the same events give the same decisions under the same ids. Left to others: where the events come from
//! ([`Log`](super::Log)), and what a decision says about habits (`observe`).

use std::collections::HashMap;
use std::sync::Arc;

use agent::approval::{ApprovalId, Resolution};
use agent::message::Part;
use agent::tools::ToolResult;
use agent::{CallId, Event, Json, Outside, ThreadId};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::decision::{Decision, Kind};
use super::log::LogEvent;
use crate::household::TOOLS;
use crate::mail::address::bare;

/// What a conversation shows.
#[derive(Debug, Default)]
pub(super) struct LogFindings {
    /// Decisions, each with the name by which it is known as the same one.
    pub decisions: Vec<(String, Decision)>,
    /// Drafts as the household wrote them, in order.
    pub written: Vec<WrittenDraft>,
}

/// A draft as the household wrote it.
#[derive(Clone, Debug)]
pub(super) struct WrittenDraft {
    /// The draft's id.
    pub draft: String,
    /// The name of this writing.
    pub by: String,
    pub at: Timestamp,
    /// Whom it is to, as mails name people.
    pub to: String,
    pub subject: String,
    pub body: String,
    /// Whether it was written again because the owner had spoken.
    pub is_wished: bool,
}

/// Reads a conversation.
pub(super) fn witness(family: &[LogEvent]) -> LogFindings {
    let mut witness = LogReader::default();
    for happened in family {
        witness.see(happened);
    }
    witness.seen
}

#[derive(Default)]
struct LogReader {
    seen: LogFindings,
    /// How often the owner has spoken.
    spoken: u32,
    seats: HashMap<ThreadId, AgentState>,
    slots: Offer,
    notes: Offer,
    mails: Offer,
    /// How often the owner had spoken when each draft was last written.
    drafts: HashMap<String, u32>,
}

/// One agent of the conversation.
#[derive(Default)]
struct AgentState {
    /// Whether it has read a stranger's text since the owner spoke.
    is_swayed: bool,
    calls: HashMap<CallId, Call>,
}

/// A call that has no result yet.
struct Call {
    tool: Arc<str>,
    input: Value,
    /// How often the owner had spoken when it was made.
    spoken: u32,
    is_swayed: bool,
    /// The question that a person answered with yes.
    consent: Option<ApprovalId>,
}

/// What could be chosen from.
#[derive(Default)]
struct Offer {
    /// How often the owner had spoken when it was made.
    spoken: u32,
    /// What was looked for.
    query: String,
    things: Vec<String>,
}

impl LogReader {
    fn see(&mut self, happened: &LogEvent) {
        let thread = &happened.thread;
        match &*happened.event {
            Event::ThreadCreated(_) => {
                let above = thread.parent().and_then(|parent| self.seats.get(&parent));
                let is_swayed = above.is_some_and(|above| above.is_swayed);
                self.seats.insert(thread.clone(), AgentState { is_swayed, ..AgentState::default() });
            }
            Event::InputArrived { input: Outside::Steered { foreign: true, .. }, .. }
            | Event::ChildSaid { foreign: true, .. } => {
                self.seats.entry(thread.clone()).or_default().is_swayed = true;
            }
            Event::RunStarted { .. } => self.hear(thread),
            Event::Steered { from, .. } if &**from == "person" => self.hear(thread),
            Event::Answered(answered) => {
                for part in &answered.parts {
                    if let Part::ToolCall { id, name, input } = part {
                        self.called(thread, id, name, input);
                    }
                }
            }
            Event::ApprovalResolved { approval, call, input: Some(_), resolution } => {
                self.decided(happened, approval, call, resolution);
            }
            Event::ToolFinished { call, result, duration_ms, .. } => {
                let seat = self.seats.entry(thread.clone()).or_default();
                seat.is_swayed |= result.foreign.is_some();
                let call = seat.calls.remove(call);
                // A call that was answered without running the tool does not count.
                if let Some(call) = call.filter(|_| duration_ms.is_some() && !result.is_error) {
                    self.finished(happened, &call, result);
                }
            }
            Event::ChildReported { report, .. } => {
                self.seats.entry(thread.clone()).or_default().is_swayed |= report.foreign;
            }
            _ => {}
        }
    }

    /// The owner speaks.
    fn hear(&mut self, thread: &ThreadId) {
        self.spoken += 1;
        self.seats.entry(thread.clone()).or_default().is_swayed = false;
    }

    fn called(&mut self, thread: &ThreadId, id: &CallId, tool: &Arc<str>, input: &Json) {
        if TOOLS.contains(&&**tool) {
            let seat = self.seats.entry(thread.clone()).or_default();
            let (spoken, is_swayed) = (self.spoken, seat.is_swayed);
            let call = Call { tool: Arc::clone(tool), input: input.value(), spoken, is_swayed, consent: None };
            seat.calls.insert(id.clone(), call);
        }
    }

    /// A person answered a question.
    fn decided(&mut self, happened: &LogEvent, approval: &ApprovalId, call: &CallId, resolution: &Resolution) {
        let Some(seat) = self.seats.get_mut(&happened.thread) else { return };
        match resolution {
            Resolution::Allowed { input, .. } => {
                if let Some(call) = seat.calls.get_mut(call) {
                    call.consent = Some(approval.clone());
                    // What a person put in its place is what was agreed to.
                    call.input = input.as_ref().map_or_else(|| call.input.take(), Json::value);
                }
            }
            Resolution::Denied { .. } => {
                if let Some(call) = seat.calls.remove(call) {
                    self.consented(happened, approval, &call, Kind::Deny);
                }
            }
            // An answer to a question of the agent says nothing about a call.
            Resolution::Answered { .. }
            | Resolution::Forbidden { .. }
            | Resolution::Expired { .. }
            | Resolution::Unanswered { .. }
            | Resolution::Withdrawn { .. } => {}
        }
    }

    fn consented(&mut self, happened: &LogEvent, approval: &ApprovalId, call: &Call, kind: Kind) {
        // Consent to apply a habit is not itself a habit.
        if call.tool.starts_with("prefs_") {
            return;
        }
        let context = said(&call.input, &["id", "start"]);
        let decision = Decision {
            at: moment(happened),
            kind,
            subject: call.tool.to_string(),
            choice: text(&call.input, "flag").to_owned(),
            context,
        };
        self.seen.decisions.push((format!("consent {approval}"), decision));
    }

    /// A call came to a good end.
    fn finished(&mut self, happened: &LogEvent, call: &Call, result: &ToolResult) {
        if let Some(approval) = &call.consent {
            self.consented(happened, approval, call, Kind::Approve);
        }
        let Some(data) = Json::leading_object(&result.content).map(|data| data.value()) else { return };
        match &*call.tool {
            "calendar_free" => self.slots = Offer::of(call, &data, "suggestedSlots", "start"),
            "notes_search" => self.notes = Offer::of(call, &data, "results", "path"),
            "mail_list" => self.mails = Offer::of(call, &data, "mails", "emailId"),
            "mail_triage" => self.mails = Offer::of(call, &data, "items", "emailId"),
            "calendar_propose" => self.proposed(happened, call, &data),
            "notes_read" => self.opened(happened, call, "note", text(&data, "path"), Map::new()),
            "mail_read" => {
                let from = Map::from_iter([("from".to_owned(), json!(bare(text(&data, "from"))))]);
                self.opened(happened, call, "mail", text(&data, "emailId"), from);
            }
            "mail_feedback" if !call.is_swayed => {
                let context = said(&data, &["emailId", "from", "was"]);
                self.push(happened, Kind::Retriage, "", text(&data, "said"), context);
            }
            "draft_create" | "draft_update" => self.wrote(happened, call, &data),
            _ => {}
        }
    }

    /// A time was entered: a choice, where it is one of several that had been offered.
    fn proposed(&mut self, happened: &LogEvent, call: &Call, data: &Value) {
        let start = text(data, "start").to_owned();
        let is_choice = self.slots.things.len() > 1 && self.slots.rank(&start, call).is_some();
        if is_choice {
            let mut context = Map::new();
            context.insert("offered".to_owned(), json!(self.slots.things));
            let with = call.input["attendees"][0].as_str().or(call.input["attendees"].as_str());
            context.extend(with.map(|with| ("with".to_owned(), json!(bare(with)))));
            self.push(happened, Kind::SlotChosen, "meeting", &start, context);
        }
    }

    fn opened(&mut self, happened: &LogEvent, call: &Call, what: &str, thing: &str, mut context: Map<String, Value>) {
        let offer = if what == "note" { &self.notes } else { &self.mails };
        if let Some(rank) = offer.rank(thing, call) {
            context.insert("query".to_owned(), json!(offer.query));
            context.insert("rank".to_owned(), json!(rank + 1));
            self.push(happened, Kind::Opened, what, thing, context);
        }
    }

    fn wrote(&mut self, happened: &LogEvent, call: &Call, data: &Value) {
        let draft = text(data, "draftId").to_owned();
        if draft.is_empty() {
            return;
        }
        let before = self.drafts.insert(draft.clone(), call.spoken);
        self.seen.written.push(WrittenDraft {
            draft,
            by: place(happened),
            at: moment(happened),
            to: data["to"][0].as_str().unwrap_or("").to_owned(),
            subject: text(data, "subject").to_owned(),
            body: text(data, "body").to_owned(),
            is_wished: &*call.tool == "draft_update" && before.is_none_or(|before| before < call.spoken),
        });
    }

    fn push(&mut self, happened: &LogEvent, kind: Kind, subject: &str, choice: &str, context: Map<String, Value>) {
        let (at, subject, choice) = (moment(happened), subject.to_owned(), choice.to_owned());
        self.seen.decisions.push((place(happened), Decision { at, kind, subject, choice, context }));
    }
}

impl Offer {
    fn of(call: &Call, data: &Value, list: &str, name: &str) -> Self {
        let things = data[list].as_array().into_iter().flatten().filter_map(|thing| thing[name].as_str());
        let query = text(&call.input, "query").to_owned();
        Self { spoken: call.spoken, query, things: things.map(str::to_owned).collect() }
    }

    /// Which of the things was chosen, where the owner had spoken since they were offered.
    fn rank(&self, thing: &str, call: &Call) -> Option<usize> {
        let is_asked = self.spoken < call.spoken;
        self.things.iter().position(|offered| offered == thing).filter(|_| is_asked)
    }
}

/// A place in the log, by which a decision is known as the same one.
fn place(happened: &LogEvent) -> String {
    format!("log {} {}", happened.thread, happened.n)
}

fn moment(happened: &LogEvent) -> Timestamp {
    Timestamp::from_millisecond(happened.at.0).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// Those members that say something.
fn said(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let said = keys.iter().filter(|key| !text(value, key).is_empty());
    said.map(|key| ((*key).to_owned(), value[*key].clone())).collect()
}

#[cfg(test)]
mod tests;
