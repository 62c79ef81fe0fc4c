//! The rules: a pure state machine for one agent.
//!
//! An input and a moment go in, events and effects come out. A driver of a [`Thread`] keeps one order, and that is
//! the whole protocol:
//!
//! 1. A thread begins with [`Event::ThreadCreated`]: of a root from [`creation::root`], of a child from [`Thread::child_created`].
//! 2. Something from outside (a message, a word in between, a stop) is appended to the log as [`Event::InputArrived`] and
//!    applied; then [`Input::Arrived`] is handed in. A child is handed [`Input::Begin`]. All other inputs are answers to effects.
//! 3. [`Thread::handle`] decides and returns a [`Step`]. Its events are appended first, all of them or none. A driver whose
//!    commit is refused throws its thread away, reads the log again and hands the same input in anew.
//! 4. Then, and only then, the effects are performed. Each is answered by an input, sooner or later, or by nothing at all if
//!    the process goes away.
//! 5. At [`Thread::next_wake`], if nothing comes before, [`Input::TimePassed`] is handed in.
//! 6. The [`Event::Reported`] of a child is its parent's [`Input::ChildReported`]. Handing it in twice does no harm.
//!
//! | effect | is answered by |
//! |---|---|
//! | [`Effect::CallModel`], not before its moment | [`Input::ModelAnswered`] or [`Input::ModelFailed`] |
//! | [`Effect::CancelModel`] | [`Input::ModelFailed`], or the answer that crossed it |
//! | [`Effect::RunTool`], [`Effect::StopTool`] | [`Input::ToolFinished`] |
//! | [`Effect::RunChecks`] | [`Input::ChecksFinished`] |
//! | [`Effect::AnswerTool`], [`Effect::AnswerSample`] | nothing: the call that asked goes on |
//! | [`Effect::Sample`] | [`Input::SampleAnswered`] |
//! | [`Effect::StartChild`] | [`Input::ChildReported`]: the child is begun, gone on with, or has its report in its log |
//! | [`Effect::StopChild`] | the same; the stop is written into the child's log as [`Outside::Stopped`] |
//! | [`Effect::TellChild`] | [`Input::ChildTold`]; the words are written into the child's log as [`Outside::Steered`] |
//!
//! After a crash nothing but the logs is needed: [`Thread::replay`], then [`Input::Reopened`], whose effects are all that is
//! still to be done; then [`Input::Arrived`] if something waits. [`Thread::pending`] says the same at any time.
//!
//! # The loop
//!
//! A root that hands a task to a child, driven to its end:
//!
//! ```
//! use std::collections::{BTreeMap, VecDeque};
//! use std::sync::Arc;
//!
//! use majordomo_agent::creation::{Root, root};
//! use majordomo_agent::message::{Origin, Part};
//! use majordomo_agent::model::{Answer, Model, StopReason, Tokens};
//! use majordomo_agent::role::Agent;
//! use majordomo_agent::tools::ToolResult;
//! use majordomo_agent::{
//!     CallId, Catalog, Consent, Effect, Event, Facts, Input, InputId, Json, Mode, Outcome, Outside, Thread, ThreadId, Time,
//! };
//!
//! // What the rules may look up: one agent, no tools but the verbs, no rules. For every input it is the same.
//! let butler = Agent {
//!     name: "butler".into(),
//!     description: "runs the household".into(),
//!     prompt: "You are a butler.".into(),
//!     model: None,
//!     tools: None,
//!     lends: Vec::new(),
//!     requires: Vec::new(),
//!     mcp_servers: None,
//!     mode: None,
//!     effort: None,
//! };
//! let catalog = Catalog { agents: BTreeMap::from([("butler".into(), butler)]), ..Catalog::default() };
//! let mut facts = Facts::new(Arc::new(catalog), Consent::Nobody);
//! facts.rules = Some([].into());
//!
//! // The logs, the agents that are alive, and the inputs that have reached them.
//! let mut logs: BTreeMap<ThreadId, Vec<(Time, Event)>> = BTreeMap::new();
//! let mut live: BTreeMap<ThreadId, Thread> = BTreeMap::new();
//! let mut inbox: VecDeque<(ThreadId, Input)> = VecDeque::new();
//! let mut now = Time(0);
//!
//! // A root comes to be, and a person says something.
//! let model = Model {
//!     name: "rehearsal/any".into(),
//!     context_tokens: 100_000,
//!     max_output_tokens: 4_000,
//!     price: None,
//!     patience: Default::default(),
//!     effort: None,
//! };
//! let created = root(&facts.catalog, Root {
//!     id: ThreadId::new("20260115-k3f9"),
//!     agent: "butler".into(),
//!     model: model.name.clone(),
//!     mode: Mode::Ask,
//!     policy: Arc::default(),
//!     preset: "default".into(),
//!     grant: Default::default(),
//!     workspace: ".".into(),
//!     today: "2026-01-15".into(),
//!     household: None,
//!     place: Default::default(),
//!     notice: None,
//!     instructions: None,
//! }, model)?;
//! let butler = created.id.clone();
//! let first = Event::ThreadCreated(Box::new(created));
//! let said = Event::InputArrived {
//!     id: InputId::new("1"),
//!     input: Outside::said("Is the silver polished?"),
//! };
//! let mut thread = Thread::new(now, &first);
//! thread.apply(now, &said);
//! logs.insert(butler.clone(), vec![(now, first), (now, said)]);
//! live.insert(butler.clone(), thread);
//! inbox.push_back((butler.clone(), Input::Arrived));
//!
//! while let Some((id, input)) = inbox.pop_front() {
//!     now = now.plus_ms(1);
//!     let thread = live.get_mut(&id).expect("inputs are for live threads");
//!     let step = thread.handle(input, &facts, now);
//!
//!     // First it is remembered ...
//!     let log = logs.get_mut(&id).expect("a live thread has a log");
//!     log.extend(step.events.iter().map(|event| (now, event.clone())));
//!
//!     // ... then it is done.
//!     for effect in step.effects {
//!         match effect {
//!             Effect::CallModel { turn, .. } => {
//!                 let answer = speak(&live[&id]);
//!                 inbox.push_back((id.clone(), Input::ModelAnswered { turn, answer, schema_error: None }));
//!             }
//!             Effect::RunTool { call, .. } | Effect::StopTool { call } => {
//!                 inbox.push_back((id.clone(), Input::ToolFinished { call, result: ToolResult::ok("done") }));
//!             }
//!             Effect::StartChild { child } => {
//!                 let created = live[&id].child_created(&child).expect("a parent knows its children");
//!                 let first = Event::ThreadCreated(Box::new(created));
//!                 live.insert(child.clone(), Thread::new(now, &first));
//!                 logs.insert(child.clone(), vec![(now, first)]);
//!                 inbox.push_back((child, Input::Begin));
//!             }
//!             Effect::CancelModel { .. }
//!             | Effect::StopChild { .. }
//!             | Effect::TellChild { .. }
//!             | Effect::AnswerTool { .. }
//!             | Effect::Sample { .. }
//!             | Effect::AnswerSample { .. }
//!             | Effect::RunChecks { .. } => {
//!                 unreachable!("no thread is stopped, no message is sent, no tool asks and no brief has checks here")
//!             }
//!         }
//!     }
//!     for event in step.events {
//!         if let (Event::Reported(report), Some(parent)) = (event, id.parent()) {
//!             inbox.push_back((parent, Input::ChildReported { child: id.clone(), report }));
//!         }
//!     }
//! }
//!
//! // The run is over, and the log alone tells all of it.
//! let log = &logs[&butler];
//! let Some((_, Event::Reported(report))) = log.last() else { panic!("a run ends with its report") };
//! assert_eq!(report.outcome, Outcome::Completed);
//! assert_eq!(&*report.text, "It is, madam.");
//! assert_eq!((report.tree.model_calls, report.tree.children), (3, 1));
//! assert_eq!(Thread::replay(log.iter().map(|(at, event)| (*at, event))).as_ref(), Some(&live[&butler]));
//! assert!(live[&butler].pending().is_empty());
//!
//! /// A model that starts a sub-agent to look.
//! fn speak(thread: &Thread) -> Answer {
//!     let text = |text: &str| Part::Text { text: text.into(), origin: Origin::Model };
//!     let input = Json::parse(r#"{"task": "Look whether the silver is polished"}"#).expect("this is JSON");
//!     let part = match (thread.id().is_root(), thread.issued.turns) {
//!         (true, 1) => Part::ToolCall { id: CallId::new("tu_1"), name: "spawn_agent".into(), input },
//!         (true, _) => text("It is, madam."),
//!         (false, _) => text("It shines."),
//!     };
//!     let tokens = Some(Tokens { input: 100, output: 10, ..Tokens::default() });
//!     Answer { parts: vec![part], stop: StopReason::EndTurn, tokens, malformed: Vec::new(), cut_call: None }
//! }
//! # Ok::<(), String>(())
//! ```
//!
//! # Where what is
//!
//! Vocabulary: [`input`], [`event`], [`effect`], [`message`], [`report`], [`brief`], [`delegation`], [`approval`]. Limits: [`policy`], [`budget`],
//! [`mode`], [`permission`].
//! State: [`thread`], which changes in `apply` alone. Deciding: `machine` has the order of things, `turn` has one file for each
//! thing that can happen. What a model is told: [`context`].
//!
//! Deliberately absent: async, clocks, files, randomness, locks, and any knowledge of how a model, a tool or a log is reached.

pub mod activity;
pub mod approval;
pub mod brief;
pub mod budget;
pub mod catalog;
pub mod checks;
pub mod context;
pub mod creation;
pub mod delegation;
pub mod effect;
pub mod event;
pub mod facts;
pub mod id;
pub mod input;
pub mod json;
mod machine;
pub mod message;
pub mod mode;
pub mod model;
pub mod permission;
pub mod policy;
pub mod report;
pub mod role;
pub mod sampling;
mod state;
pub mod thread;
pub mod tools;
mod turn;
pub mod verb;
mod vocabulary;

pub use catalog::Catalog;
pub use checks::Checks;
pub use effect::Effect;
pub use event::Event;
pub use facts::{Consent, Facts, Needs};
pub use id::{CallId, InputId, ThreadId, Time};
pub use input::{Input, Outside, Strength};
pub use json::Json;
pub use machine::Step;
pub use mode::Mode;
pub use report::{Outcome, Report, Usage};
pub use state::State;
pub use thread::Thread;
