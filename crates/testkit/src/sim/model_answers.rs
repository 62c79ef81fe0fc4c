//! The answers of simulated models: sense, nonsense, wrong usage figures, every way of failing, and every verb.

use std::sync::Arc;

use agent::event::TurnKind;
use agent::message::{Message, Origin, Part, Role};
use agent::model::{Answer, CallError, CallErrorKind, StopReason, Tokens};
use agent::policy::{STARTING_VERBS, VERBS};
use agent::thread::{Asking, Phase};
use agent::{CallId, Input, Json, Thread};
use serde_json::{Value, json};

use super::setting::Behaviour;
use crate::dice::Dice;

/// What comes of a turn's request; none where the thread awaits no answer to it any more.
pub(super) fn speak(dice: &mut Dice, behaviour: &Behaviour, thread: &Thread, turn: u32) -> Option<Input> {
    let Phase::Asking(asking) = &thread.run.as_ref()?.phase else { return None };
    if asking.turn.turn != turn {
        return None;
    }
    if dice.chance(behaviour.fails) {
        return Some(Input::ModelFailed { turn, error: failure(dice) });
    }
    let answer = answer(dice, behaviour, thread, asking);
    let wants_json = thread.output_schema().is_some();
    let schema_error = match behaviour.habit {
        Some(habit) => habit.schema_error(),
        None if wants_json => dice.maybe(40, |_| Arc::from("this is no JSON")),
        None => None,
    };
    let schema_error = schema_error.filter(|_| wants_json);
    Some(Input::ModelAnswered { turn, answer, schema_error })
}

/// What comes of a request that was ended.
pub(super) fn cut_short(dice: &mut Dice, turn: u32) -> Input {
    let partial = dice.maybe(30, words);
    Input::ModelFailed {
        turn,
        error: CallError {
            received_bytes: partial.as_ref().map(|text| text.len() as u64),
            partial,
            ..CallError::new(CallErrorKind::Cancelled, "the request was ended")
        },
    }
}

fn failure(dice: &mut Dice) -> CallError {
    use CallErrorKind::*;
    let kinds = [
        RateLimited,
        Overloaded,
        Server,
        Connection,
        Truncated,
        Unsupported,
        Auth,
        ContextTooLong,
        Rejected,
        Garbled,
        Cancelled,
    ];
    // Most failures pass: otherwise few runs would live to see anything else.
    let kind = if dice.chance(60) { *dice.pick(&kinds[..5]) } else { *dice.pick(&kinds) };
    let retry_after_ms = dice.maybe(20, |dice| dice.below(90_000));
    let partial = dice.maybe(20, words);
    CallError {
        kind,
        message: "it did not work".into(),
        retry_after_ms,
        received_bytes: partial.as_ref().map(|text| text.len() as u64),
        partial,
        tokens: dice.maybe(10, |dice| {
            Box::new(Tokens { input: dice.below(400), output: dice.below(100), ..Tokens::default() })
        }),
        window_tokens: match kind {
            ContextTooLong => dice.maybe(50, |dice| u32::try_from(500 + dice.below(20_000)).unwrap_or(u32::MAX)),
            _ => None,
        },
    }
}

fn answer(dice: &mut Dice, behaviour: &Behaviour, thread: &Thread, asking: &Asking) -> Answer {
    let works = asking.turn.kind == TurnKind::Work;
    if let Some(habit) = behaviour.habit.filter(|_| works) {
        let mut answer = habit.answer(dice, thread);
        answer.tokens = tokens(dice, behaviour, thread, asking, &answer.parts);
        return answer;
    }
    let is_done = dice.chance((2 + behaviour.hurry * u64::from(thread.issued.turns)).min(90));
    let calls = if works { !is_done } else { dice.chance(behaviour.errs) };
    let mut answer =
        Answer { parts: Vec::new(), stop: StopReason::EndTurn, tokens: None, malformed: Vec::new(), cut_call: None };
    if dice.chance(10) {
        answer.parts.push(Part::Opaque {
            wire: "sim".into(),
            from: None,
            raw: Json::of(&json!({"thought": dice.below(10)})),
        });
    }
    if dice.chance(if calls { 40 } else { 90 }) {
        answer.parts.push(Part::Text { text: words(dice), origin: Origin::Model });
    }
    if calls {
        answer.stop = *dice.pick(&[StopReason::ToolUse, StopReason::ToolUse, StopReason::ToolUse, StopReason::EndTurn]);
        let count = if dice.chance(5) { dice.between(4, 9) } else { dice.between(1, 3) };
        for number in 0..count {
            call(dice, behaviour, thread, number, &mut answer);
        }
    } else if dice.chance(4) {
        answer.stop = StopReason::Refusal;
    }
    if dice.chance(5) {
        answer.stop = StopReason::MaxTokens;
        answer.cut_call = thread.issued.turns.is_multiple_of(2).then(|| "write".into());
    }
    if dice.chance(behaviour.errs.min(2)) {
        let id = CallId::new("c1");
        answer.parts.push(Part::ToolResult { id, content: "I answer myself".into(), is_error: false });
    }
    answer.tokens = tokens(dice, behaviour, thread, asking, &answer.parts);
    answer
}

fn call(dice: &mut Dice, behaviour: &Behaviour, thread: &Thread, number: u64, answer: &mut Answer) {
    let tools = thread.tools.names();
    let (verbs, others): (Vec<&Arc<str>>, Vec<&Arc<str>>) = tools.iter().partition(|tool| VERBS.contains(&&***tool));
    let name: Arc<str> = if dice.chance(behaviour.errs / 3) || tools.is_empty() {
        (*dice.pick(&["nothing", "", "spawn_agent", "run_command"])).into()
    } else if !verbs.is_empty() && (dice.chance(behaviour.delegates) || others.is_empty()) {
        verb(dice, thread, &verbs)
    } else if others.is_empty() {
        "look".into()
    } else {
        (*dice.pick(&others)).clone()
    };
    // Some providers count their calls from zero in every answer, some give none a name.
    let id = match dice.below(10) {
        0..=2 => format!("c{}", dice.below(4)),
        3 => String::new(),
        _ => format!("t{}-{number}", thread.issued.turns),
    };
    let mut input = arguments(dice, behaviour, thread, &name);
    let id = CallId::new(id);
    if dice.chance(behaviour.errs / 2) {
        input = json!({});
        answer.malformed.push((id.clone(), "expected a value at column 7".into()));
    }
    answer.parts.push(Part::ToolCall { id, name, input: Json::of(&input) });
}

/// A verb that starts a child, or, more often where children live, one that deals with a child.
fn verb(dice: &mut Dice, thread: &Thread, verbs: &[&Arc<str>]) -> Arc<str> {
    let begins = |verb: &&Arc<str>| STARTING_VERBS.contains(&&***verb);
    let (beginning, dealing): (Vec<&Arc<str>>, Vec<&Arc<str>>) = verbs.iter().copied().partition(begins);
    let begin = dice.chance(if thread.children.live.is_empty() { 80 } else { 30 });
    let (first, second) = if begin { (beginning, dealing) } else { (dealing, beginning) };
    (*dice.pick(if first.is_empty() { &second } else { &first })).clone()
}

fn arguments(dice: &mut Dice, behaviour: &Behaviour, thread: &Thread, name: &str) -> Value {
    if dice.chance(behaviour.errs / 3) {
        return dice.pick(&[json!({}), json!([]), json!({"task": 7, "subtasks": {}}), json!("words")]).clone();
    }
    match name {
        "spawn_agent" => spawn(dice, behaviour),
        "delegate_task" => delegation(dice, behaviour),
        "message_agent" => {
            // One that is over, as often as one that lives.
            let last = u64::from(thread.issued.children.max(1));
            let who = if dice.chance(50) { dice.between(1, last).to_string() } else { child(dice, thread) };
            let text = format!("also look at {}", dice.below(1000));
            json!({"agent": who, "text": text, "background": dice.chance(40)})
        }
        "stop_agent" => json!({"agent": child(dice, thread), "now": dice.chance(40)}),
        "wait_agents" => {
            let mut input = json!({"any": dice.chance(40)});
            if dice.chance(30) {
                input["agents"] = json!([child(dice, thread), child(dice, thread)]);
            }
            if dice.chance(50) {
                input["timeout_s"] = json!(dice.below(120));
            }
            input
        }
        "list_agents" => json!({}),
        "SpawnAgentTool" => temporary(dice, behaviour, thread),
        "DelegateTaskTool" if dice.chance(10) => json!({"operation": "list_agents"}),
        "DelegateTaskTool" => {
            json!({"operation": "delegate", "agent_id": agent(dice, behaviour), "prompt": format!("task {}", dice.below(6))})
        }
        "ParallelTasksTool" => batch(dice, behaviour),
        "ask_user" if dice.chance(70) => json!({"question": format!("which of {}?", dice.below(4))}),
        _ => json!({"n": dice.below(4)}),
    }
}

fn spawn(dice: &mut Dice, behaviour: &Behaviour) -> Value {
    let mut input = json!({"task": format!("task {}", dice.below(6)), "background": dice.chance(65)});
    let optional = [
        ("agent", json!(*dice.pick(&["general", "reader", "worker", "planner"])), 50),
        ("agent", json!("nobody"), behaviour.errs / 3),
        ("name", json!(*dice.pick(&["ann", "bob"])), 50),
        ("model", json!(*dice.pick(&["sim/large", "sim/small", "sim/tiny"])), 20),
        ("model", json!("sim/none"), behaviour.errs / 3),
        ("mode", json!(*dice.pick(&["plan", "ask", "auto", "dangerous"])), 20),
        ("tools", json!(["look", "write", "spawn_agent", "delegate_task"]), 15),
        ("max_tool_calls", json!(dice.below(8)), 20),
        ("max_tokens", json!(dice.below(40_000)), 30),
        ("max_cost", json!(dice.below(100) as f64 / 1000.0), 20),
        ("timeout_s", json!(dice.below(900)), 30),
        ("files", json!(["a.txt", "b.txt"]), 10),
        ("checks", json!(["test", "lint"]), 25),
        ("checks", json!({"type": "object"}), 5),
        ("messages", json!(dice.below(4)), 15),
        ("progress", json!(true), 30),
        ("colour", json!("blue"), 10),
    ];
    for (name, value, percent) in optional {
        if dice.chance(percent) {
            input[name] = value;
        }
    }
    input
}

/// A temporary agent, or what became of one.
fn temporary(dice: &mut Dice, behaviour: &Behaviour, thread: &Thread) -> Value {
    match dice.below(10) {
        0 => json!({"operation": "list_children"}),
        1..=3 if !thread.children.live.is_empty() => json!({"operation": "terminate", "child_id": child(dice, thread)}),
        _ => {
            let mut input = json!({"operation": "spawn", "name": *dice.pick(&["ann", "bob"]), "prompt": "temporary"});
            if dice.chance(30) {
                input["system_prompt"] = json!("You are another agent.");
            }
            if dice.chance(behaviour.errs / 3) {
                input["model"] = json!("sim/none");
            }
            input
        }
    }
}

fn batch(dice: &mut Dice, behaviour: &Behaviour) -> Value {
    let count = if dice.chance(behaviour.errs / 3) { dice.between(7, 12) } else { dice.between(1, 4) };
    let tasks: Vec<Value> = (0..count)
        .map(|index| json!({"agent_id": agent(dice, behaviour), "prompt": format!("part {}", index % 2)}))
        .collect();
    let (wait_all, cancel_rest) = (dice.chance(40), dice.chance(40));
    json!({"operation": "execute_batch", "tasks": tasks, "wait_all": wait_all, "cancel_rest": cancel_rest})
}

fn agent(dice: &mut Dice, behaviour: &Behaviour) -> &'static str {
    const KNOWN: [&str; 4] = ["general", "reader", "reader", "worker"];
    if dice.chance(behaviour.errs / 6) { "nobody" } else { KNOWN[dice.below(4) as usize] }
}

fn delegation(dice: &mut Dice, behaviour: &Behaviour) -> Value {
    let count = if dice.chance(behaviour.errs / 3) { dice.between(7, 12) } else { dice.between(1, 5) };
    let mut subtasks = Vec::new();
    for index in 0..count {
        let mut subtask = json!({"task": format!("part {}", index % 2)});
        if index > 0 && dice.chance(50) {
            let earlier: Vec<u64> = (0..dice.between(1, 2)).map(|_| dice.below(index)).collect();
            subtask["depends_on"] = if dice.chance(50) { json!(earlier[0]) } else { json!(earlier) };
        }
        if dice.chance(behaviour.errs / 4) {
            // A later one, itself, or one that does not exist: circles and holes.
            subtask["depends_on"] = json!(dice.below(count + 2));
        }
        if dice.chance(50) {
            subtask["agent"] = json!(*dice.pick(&["reader", "reader", "reader", "worker"]));
        }
        if dice.chance(behaviour.errs / 6) {
            subtask["agent"] = json!("nobody");
        }
        subtasks.push(subtask);
    }
    json!({"plan": "all of it", "subtasks": subtasks})
}

/// A child to talk about: one that lives, mostly.
fn child(dice: &mut Dice, thread: &Thread) -> String {
    let living: Vec<&str> = thread.children.live.keys().map(agent::ThreadId::as_str).collect();
    match dice.below(10) {
        0 => (*dice.pick(&["nobody", "ann", "bob", "general"])).to_owned(),
        1..=3 => dice.between(1, 4).to_string(),
        // The number that the next child will have, for a call that speaks of a child of the same answer.
        4 => (thread.issued.children + 1).to_string(),
        _ if living.is_empty() => (thread.issued.children + 1).to_string(),
        _ => (*dice.pick(&living)).to_owned(),
    }
}

/// What the provider says was used: a little less than we reckon, as a rule.
fn tokens(dice: &mut Dice, behaviour: &Behaviour, thread: &Thread, asking: &Asking, said: &[Part]) -> Option<Tokens> {
    let bytes: usize = thread.talk.messages().iter().map(|message| message.bytes()).sum();
    let said = Message { role: Role::Assistant, parts: said.to_vec() }.bytes() as u64;
    let (prompt, output) = (bytes as u64 / 5, (said / 5).min(asking.turn.max_tokens));
    let cached = if dice.chance(50) { prompt / 2 } else { 0 };
    let honest = Tokens { input: prompt - cached, cache_read: cached, output, ..Tokens::default() };
    if !dice.chance(behaviour.lies) {
        return Some(honest);
    }
    match dice.below(40) {
        0 => Some(Tokens { output: u64::MAX, ..honest }),
        1 => Some(Tokens { input: u64::MAX / 2, cache_read: u64::MAX, ..honest }),
        2..=9 => Some(Tokens::default()),
        10..=19 => Some(Tokens { output: asking.turn.max_tokens + dice.below(5_000), ..honest }),
        20..=24 => Some(Tokens { input: prompt + dice.below(20_000), ..honest }),
        _ => None,
    }
}

fn words(dice: &mut Dice) -> Arc<str> {
    match dice.below(12) {
        0 => "".into(),
        1 => "  \n".into(),
        2 => "a long story ".repeat(dice.below(120) as usize).into(),
        _ => format!("word {}", dice.below(100_000)).into(),
    }
}
