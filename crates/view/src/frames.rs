//! Folds the log of a family into frames.
//!
//! Events come in the order of the log, each once. One event yields no, one or several frames; a frame's number is made from
//! its event's number and its place among that event's frames, so it grows strictly, is the same for every reader, and leads back
//! to the log. Making a frame takes all that happened before it, so a reader that resumes folds from the beginning (see [`crate::Lines`]).
//!
//! Order of a delegation: `tool_start`, `agent_delegate`, (`sub_agent_queued`), `agent_start` and `sub_agent_start` of the child, …,
//! `agent_complete`, its one terminal `sub_agent_*`, `tool_result`, `agent_resume` as soon as the parent asks its model again (ORION-11).

mod calls;
mod children;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use agent::approval::{ApprovalId, ApprovalKind};
use agent::event::{Answered, Ending, ThreadCreated, TurnKind};
use agent::message::Part;
use agent::{CallId, Event, InputId, Outcome, Outside, Report, State, ThreadId, Time};

use crate::frame::{Body, Done, Frame};
use crate::known::entry;
use crate::{AttachedFile, Logged, Notice, Totals, Tree, exit_code, exit_reason, thinking};
use calls::OpenCall;

/// How many frames one event has room for: an answer may hold more than a hundred calls, and each refused one has its own frame.
pub const FRAMES_PER_EVENT: u64 = 1000;

/// Makes the frames of one root and all its descendants.
#[derive(Clone, Debug)]
pub struct Frames {
    root: ThreadId,
    /// The newest event that was folded.
    folded: u64,
    tree: Tree,
    emitted: HashMap<ThreadId, Emitted>,
}

/// What the frames of a thread said so far, so that nothing is said twice.
#[derive(Clone, Debug, Default)]
struct Emitted {
    state: State,
    /// A child reported, and the thread has not gone on yet.
    resumes: bool,
    /// What was used before the run: frames tell what the run used, as its report does.
    before: Totals,
    /// Said once a run.
    budget: bool,
    /// The turn of a child: its brief is the first, and each message that it answers afterwards begins another.
    turn: u32,
    /// The one terminal frame of a child's turn.
    terminal: bool,
    /// Calls of the newest answer that have no result yet.
    calls: BTreeMap<CallId, OpenCall>,
    /// Calls of the newest answer whose refusal was sent with it.
    refused: BTreeSet<CallId>,
    /// Notices that have arrived and were not taken up.
    noticed: BTreeSet<InputId>,
    /// Open questions that are answered with a text.
    questions: BTreeSet<ApprovalId>,
}

/// The frames of one event, each with the thread it is about.
type Bodies = Vec<(ThreadId, Body)>;

impl Frames {
    /// Begins with an empty log.
    pub fn new(root: ThreadId) -> Self {
        Self { root, folded: 0, tree: Tree::new(), emitted: HashMap::new() }
    }

    /// The tree of the same events: who makes frames need not fold them once more to draw it.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The event that a frame came from, and how many of that event's frames were seen with it.
    pub fn resume_point(last_event_id: u64) -> (u64, u64) {
        (last_event_id / FRAMES_PER_EVENT, last_event_id % FRAMES_PER_EVENT + 1)
    }

    /// Takes the next event in and gives its frames. An event of another family, or one that was folded already, gives none.
    pub fn push(&mut self, logged: &Logged<'_>) -> Vec<Frame> {
        if logged.seq <= self.folded || logged.thread.root() != self.root {
            return Vec::new();
        }
        self.folded = logged.seq;
        self.tree.push(logged);

        let mut bodies = Bodies::new();
        self.tell(logged, &mut bodies);
        self.tell_state(logged.thread, &mut bodies);
        if let Event::Reported(report) = logged.event {
            self.tell_end(logged.thread, report, &mut bodies);
        }
        let numbered = bodies.into_iter().zip(logged.seq * FRAMES_PER_EVENT..);
        numbered.map(|((thread, body), seq)| self.frame(seq, logged.at, thread, body)).collect()
    }

    fn tell(&mut self, logged: &Logged<'_>, out: &mut Bodies) {
        let thread = logged.thread;
        let mut say = |body: Body| out.push((thread.clone(), body));
        match logged.event {
            Event::ThreadCreated(created) => {
                self.tell_created(created, out);
                if let (Some(_), Some(brief)) = (&created.created_for, &created.brief) {
                    out.push((thread.clone(), Body::Notification { kind: Notice::Task, message: brief.text() }));
                }
            }
            Event::InputArrived { id, input: Outside::Noticed { .. } } => {
                self.emitted(thread).noticed.insert(id.clone());
            }
            Event::RunStarted { input, run, prompt, attachments, .. } => {
                let (state, before) = (self.emitted(thread).state, self.tree.ledger.totals(thread));
                let mut noticed = std::mem::take(&mut self.emitted(thread).noticed);
                let is_notice = noticed.remove(input);
                *self.emitted(thread) = Emitted { state, before, turn: *run, noticed, ..Emitted::default() };
                if thread.is_root() {
                    let model = self.tree.threads.known(thread).and_then(|known| known.model());
                    let attachments = attachments.iter().map(AttachedFile::of).collect();
                    say(Body::RunStarted { number: *run, prompt: prompt.clone(), model, attachments });
                    say(Body::AgentStart {});
                } else {
                    self.tell_child_begin(thread, out);
                }
                if is_notice {
                    let message = prompt.to_string();
                    out.push((thread.clone(), Body::Notification { kind: Notice::Task, message }));
                }
            }
            Event::Steered { input, text, from, .. } => {
                self.emitted(thread).noticed.remove(input);
                say(Body::Steered { from: from.clone(), content: text.clone() });
            }
            Event::StopBegun { ending, .. } if ending.outcome == Outcome::BudgetExceeded => {
                self.tell_budget(thread, ending, out);
            }
            Event::TurnStarted(started) => {
                let emitted = self.emitted(thread);
                emitted.calls.clear();
                emitted.refused.clear();
                if std::mem::take(&mut emitted.resumes) {
                    say(Body::AgentResume {});
                }
                if let TurnKind::Last(ending) = &started.kind {
                    self.tell_budget(thread, ending, out);
                }
            }
            Event::CallFailed { turn, attempt, error, retry_at: Some(retry_at), .. } => say(Body::Retry {
                turn: *turn,
                attempt: Some(*attempt),
                model: self.tree.threads.known(thread).and_then(|known| known.model()),
                kind: Some(error.kind),
                message: error.message.clone(),
                in_ms: retry_at.since_ms(logged.at),
            }),
            Event::CallRepeated { turn, .. } => say(Body::Retry {
                turn: *turn,
                attempt: None,
                model: self.tree.threads.known(thread).and_then(|known| known.model()),
                kind: None,
                message: "the process went away while the model was asked".into(),
                in_ms: 0,
            }),
            Event::Answered(answered) => self.tell_answered(thread, answered, out),
            Event::ToolStarted { call }
            | Event::Delegated { call, .. }
            | Event::MessageSent { call, .. }
            | Event::ChildAwaited { call, .. }
            | Event::WaitStarted { call, .. } => {
                self.tell_call_started(thread, call, None, out);
            }
            Event::ChecksStarted { call, commands, .. } => self.tell_checks(thread, call, commands, out),
            Event::ToolFinished { call, result, duration_ms, .. }
            | Event::ChecksFinished { call, result, duration_ms, .. } => {
                self.tell_call_finished(thread, call, result, *duration_ms, out);
            }
            Event::ApprovalRequested(approval) => {
                say(calls::question(approval));
                if approval.kind() == ApprovalKind::Question {
                    self.emitted(thread).questions.insert(approval.id.clone());
                }
            }
            Event::ApprovalResolved { approval, call, resolution, .. } => {
                let is_question = self.emitted(thread).questions.remove(approval);
                let kind = if is_question { ApprovalKind::Question } else { ApprovalKind::Approval };
                out.push((thread.clone(), calls::decision(kind, approval, call, resolution)));
                self.change_input(thread, call, resolution);
            }
            Event::ChildSpawned(spawned) => self.tell_spawned(thread, spawned, out),
            Event::ChildAsked(asked) => self.tell_asked(thread, asked, out),
            Event::ChildReported { child, report, .. } => {
                self.emitted(thread).resumes = true;
                // A child that began has its own terminal frame; for one that never did it is made here. A later turn that never began
                // was not told of.
                if report.asked.is_none() && self.emitted(child).turn <= 1 {
                    self.tell_child_end(child, report, out);
                }
            }
            Event::StallNoticed { silent_ms, waiting_for } => {
                say(Body::Stalled { silent_ms: *silent_ms, waiting_for: waiting_for.clone() });
            }
            Event::BudgetWarned { limit, percent } => {
                say(Body::BudgetWarning { limit: limit.clone(), percent: *percent });
            }
            // What becomes of a request that failed shows next: a summary, an end, or a report that names the cause.
            Event::CallFailed { retry_at: None, .. }
            | Event::InputDropped { .. }
            | Event::StopBegun { .. }
            | Event::SubtaskSkipped { .. }
            | Event::SubtaskRecalled { .. }
            | Event::ContextTrimmed { .. }
            | Event::ContextCompacted { .. }
            | Event::ToolsChanged { .. }
            | Event::SettingsChanged { .. }
            | Event::SamplingStarted(_)
            | Event::SamplingEnded(_)
            | Event::Reopened { .. } => {
                out.extend(
                    Notice::of(logged.event)
                        .map(|(kind, message)| (thread.clone(), Body::Notification { kind, message })),
                );
            }
            Event::Reported(report) => self.tell_failure(thread, report, out),
            // What follows from them is in later events; what a child says is in its own log.
            Event::InputArrived { .. }
            | Event::ChildIssued { .. }
            | Event::ChildStarted { .. }
            | Event::ChildSaid { .. }
            | Event::ChildPaused { .. }
            | Event::ChildStopped { .. } => {}
        }
    }

    fn tell_created(&mut self, created: &ThreadCreated, out: &mut Bodies) {
        let id = &created.id;
        let body = Body::ThreadCreated {
            name: created.name.clone(),
            parent: id.parent(),
            model: created.role.model.name.clone(),
            mode: created.mode,
            preset: created.preset.clone(),
            workspace: created.workspace.clone(),
        };
        out.push((id.clone(), body));
        if !id.is_root() {
            self.emitted(id).turn = 1;
            self.tell_child_begin(id, out);
        } else if let Some(brief) = &created.brief {
            // A root that was created for a task begins with it.
            let (prompt, model) = (brief.task.clone(), Some(created.role.model.name.clone()));
            out.push((id.clone(), Body::RunStarted { number: 1, prompt, model, attachments: Vec::new() }));
            out.push((id.clone(), Body::AgentStart {}));
        }
    }

    fn tell_answered(&mut self, thread: &ThreadId, answered: &Answered, out: &mut Bodies) {
        let is_summary = self.tree.threads.known(thread).is_some_and(|known| known.sums_up(answered.turn));
        let content = calls::spoken(&answered.parts);
        if !is_summary && let Some(content) = thinking::of_all(&answered.parts) {
            out.push((thread.clone(), Body::Thinking { content }));
        }
        if !content.is_empty() && !is_summary {
            let offers = answered.parts.iter().flat_map(Part::offered).collect();
            out.push((thread.clone(), Body::Text { content, offers }));
        }
        let before = self.emitted(thread).before;
        let totals = self.tree.ledger.totals(thread).since(&before);
        let (estimated, price_unknown) = (totals.tree.is_estimated(), !self.tree.ledger.is_priced(thread));
        out.push((thread.clone(), Body::Usage { turn: answered.turn, totals, estimated, price_unknown }));
        self.tell_calls(thread, answered, out);
    }

    fn tell_budget(&mut self, thread: &ThreadId, ending: &Ending, out: &mut Bodies) {
        if ending.outcome == Outcome::BudgetExceeded && !std::mem::replace(&mut self.emitted(thread).budget, true) {
            out.push((thread.clone(), Body::BudgetExceeded { reason: ending.reason.clone() }));
        }
    }

    /// A failure, or a limit that no earlier event of the run named.
    fn tell_failure(&mut self, thread: &ThreadId, report: &Report, out: &mut Bodies) {
        let reason = report.reason.clone().unwrap_or_else(|| report.outcome.as_str().into());
        let emitted = self.emitted(thread);
        match report.outcome {
            Outcome::BudgetExceeded if !emitted.budget => out.push((thread.clone(), Body::BudgetExceeded { reason })),
            Outcome::Error => {
                let kind = report.cause.clone().unwrap_or_else(|| "error".into());
                out.push((thread.clone(), Body::Error { kind, message: reason }));
            }
            _ => {}
        }
    }

    fn tell_state(&mut self, thread: &ThreadId, out: &mut Bodies) {
        let state = self.tree.threads.known(thread).map(|known| known.state()).unwrap_or_default();
        if std::mem::replace(&mut self.emitted(thread).state, state) != state {
            out.push((thread.clone(), Body::State { state }));
        }
    }

    fn tell_end(&mut self, thread: &ThreadId, report: &Report, out: &mut Bodies) {
        if !thread.is_root() {
            return self.tell_child_end(thread, report, out);
        }
        let done = Done {
            outcome: report.outcome,
            answer: report.text.clone(),
            data: report.data.as_ref().map(calls::in_one_line),
            exit_code: exit_code(report),
            reason: exit_reason(report),
            usage: Totals { own: report.usage, tree: report.tree },
            duration_ms: report.duration_ms,
            unfinished: report.unfinished.clone(),
            unanswered: report.unanswered.clone(),
        };
        out.push((thread.clone(), Body::Done(done)));
    }

    fn frame(&self, seq: u64, at: Time, thread: ThreadId, body: Body) -> Frame {
        let known = self.tree.threads.known(&thread);
        let agent = known.and_then(|known| known.agent()).unwrap_or_else(|| thread.as_str().into());
        let parent_tool_use_id = known.and_then(|known| known.call());
        Frame { seq, at, run: self.root.clone(), thread, agent, parent_tool_use_id, body }
    }

    fn emitted(&mut self, thread: &ThreadId) -> &mut Emitted {
        entry(&mut self.emitted, thread)
    }

    fn name(&self, thread: &ThreadId) -> Arc<str> {
        self.tree.threads.known(thread).and_then(|known| known.name()).unwrap_or_else(|| thread.as_str().into())
    }
}
