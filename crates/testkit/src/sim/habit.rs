//! Models that never come to an end: each does the same thing again and again, however often it is told that it leads nowhere.

use std::sync::Arc;

use agent::event::ThreadCreated;
use agent::message::{Origin, Part};
use agent::model::{Answer, StopReason};
use agent::policy::OPERATION_VERBS;
use agent::tools::ToolResult;
use agent::{CallId, Json, Mode, Thread};
use serde_json::{Value, json};

use crate::dice::Dice;

/// What a model does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// Its answers reach their output limit before they say anything.
    CutThinking,
    /// Its answers reach their output limit in the middle of a text.
    CutText,
    /// Its answers reach their output limit in the middle of a call.
    CutCall,
    /// It calls tools that do not exist, each time another one.
    UnknownTools,
    /// It calls tools and verbs with arguments that cannot be read or are wrong, each time others.
    WrongArguments,
    /// It calls what is not permitted, each time with other arguments.
    Refused,
    /// Its tools fail each time.
    FailingTools,
    /// It makes the same call.
    SameCall,
    /// It says nothing.
    Silence,
    /// Its answers do not fit the schema.
    SchemaMisses,
    /// All of these, by chance.
    Mixed,
    /// It makes one good call after the other.
    Busy,
    /// It starts one sub-agent after the other, and each of them does the same.
    Delegating,
}

/// The requests of the whole tree, for habits that nothing but the grant brings to an end.
const GRANTED: u32 = 150;

impl Habit {
    /// Habits of which nothing ever comes: the rules alone bring them to an end.
    pub const BARREN: [Self; 11] = [
        Self::CutThinking,
        Self::CutText,
        Self::CutCall,
        Self::UnknownTools,
        Self::WrongArguments,
        Self::Refused,
        Self::FailingTools,
        Self::SameCall,
        Self::Silence,
        Self::SchemaMisses,
        Self::Mixed,
    ];

    /// Habits that look like work: the grant brings them to an end.
    pub const FRUITFUL: [Self; 2] = [Self::Busy, Self::Delegating];

    /// A root whose model has this habit, with no limit but the one that is put to the test.
    pub(super) fn set_up(self, root: &mut ThreadCreated, dice: &mut Dice) {
        let grant = &mut root.grant;
        (grant.tool_calls, grant.tokens, grant.cost_microusd, grant.time_ms) = (None, None, None, None);
        grant.requests = Self::FRUITFUL.contains(&self).then_some(GRANTED);
        Arc::make_mut(&mut root.policy).loop_failed_at = dice.between(2, 12) as u32;
        match self {
            Self::Refused => root.mode = Mode::Plan,
            Self::SchemaMisses | Self::Mixed => root.role.output_schema = Some(Json::object()),
            _ => {}
        }
    }

    /// Why an answer does not fit the schema.
    pub(super) fn schema_error(self) -> Option<Arc<str>> {
        matches!(self, Self::SchemaMisses | Self::Mixed).then(|| "this is no JSON".into())
    }

    /// What a tool comes back with, where that is a matter of the habit.
    pub(super) fn tool_result(self) -> Option<ToolResult> {
        match self {
            Self::FailingTools | Self::Mixed => Some(ToolResult::error("it does not work")),
            Self::Busy => Some(ToolResult::ok("found")),
            _ => None,
        }
    }

    /// What the model says in a turn of work; what it used is not said yet.
    pub(super) fn answer(self, dice: &mut Dice, thread: &Thread) -> Answer {
        let mut answer = Answer {
            parts: Vec::new(),
            stop: StopReason::EndTurn,
            tokens: None,
            malformed: Vec::new(),
            cut_call: None,
        };
        let turn = thread.issued.turns;
        let mut call = |name: &str, input: &Value| {
            let (id, input) = (CallId::new(format!("h{turn}-{}", answer.parts.len())), Json::of(input));
            answer.parts.push(Part::ToolCall { id, name: name.into(), input });
        };
        match self {
            Self::CutThinking => {
                answer.stop = StopReason::MaxTokens;
                if dice.chance(50) {
                    answer.parts.push(Part::Opaque { wire: "sim".into(), from: None, raw: Json::object() });
                }
            }
            Self::CutText => {
                answer.stop = StopReason::MaxTokens;
                answer.parts.push(text(&format!("on and on {turn} ")));
            }
            Self::CutCall => {
                if dice.chance(50) {
                    call("look", &json!({"n": turn}));
                } else {
                    answer.cut_call = Some("write".into());
                }
                if dice.chance(30) {
                    answer.parts.insert(0, text("I write all of it."));
                }
                answer.stop = StopReason::MaxTokens;
            }
            Self::UnknownTools => call(&format!("fly-{turn}"), &json!({})),
            Self::WrongArguments => {
                let verbs = [&["spawn_agent", "delegate_task", "message_agent"], &OPERATION_VERBS[..]].concat();
                call(dice.pick::<&str>(&verbs), &json!({"wrong": turn}));
                if dice.chance(30) {
                    answer.malformed.push((CallId::new(format!("h{turn}-0")), "expected a value".into()));
                }
            }
            Self::Refused => call(dice.pick::<&str>(&["write", "patch", "run_command"]), &json!({"n": turn})),
            Self::FailingTools => call(dice.pick::<&str>(&["look", "fetch"]), &json!({"n": turn})),
            Self::SameCall => call("look", &json!({"n": 7})),
            Self::Silence => {}
            Self::SchemaMisses => answer.parts.push(text("These are words.")),
            Self::Mixed => return dice.pick(&Self::BARREN[..10]).answer(dice, thread),
            Self::Busy => call("look", &json!({"n": turn})),
            Self::Delegating => {
                call("spawn_agent", &json!({"task": format!("task {turn}"), "background": dice.chance(50)}));
            }
        }
        answer
    }
}

fn text(words: &str) -> Part {
    Part::Text { text: words.into(), origin: Origin::Model }
}
