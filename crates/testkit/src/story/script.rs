//! Reads a story: its scene, and what the world does line by line. What is indented is not read: it is told again.

use std::sync::Arc;

use agent::budget::Grant;
use agent::input::{Outside, Strength};
use agent::message::{Origin, Part};
use agent::model::{Answer, CallError, CallErrorKind, StopReason, Tokens};
use agent::tools::ToolResult;
use agent::{CallId, Consent, Json, Mode};

/// A story as it was read.
pub struct Script<'a> {
    pub setup: Setup,
    pub blocks: Vec<Block<'a>>,
}

/// Some lines of a story, and what they mean.
pub struct Block<'a> {
    /// The number of its first line.
    pub line: usize,
    pub source: Vec<&'a str>,
    /// None for prose, the scene, and empty lines.
    pub act: Option<Act>,
}

/// The scene.
pub struct Setup {
    pub preset: Arc<str>,
    pub policy: Vec<(String, serde_json::Value)>,
    pub grant: Grant,
    pub mode: Mode,
    pub model: Arc<str>,
    pub agent: Arc<str>,
    pub schema: Option<Json>,
    pub consent: Consent,
}

/// Something that the world does, and to whom: the dotted path of a child, empty for the root.
pub struct Act {
    pub who: String,
    pub what: What,
}

/// Something that the world does.
pub enum What {
    Sends(Outside),
    Resends,
    /// A person answers the question of this number.
    AnswersQuestion {
        number: u32,
        text: Arc<str>,
    },
    Answers {
        answer: Answer,
        schema_error: Option<Arc<str>>,
    },
    Fails(CallError),
    Returns {
        call: CallId,
        result: ToolResult,
    },
    Hears,
    Waits {
        ms: u64,
    },
    Crashes {
        away_ms: u64,
        meanwhile: Vec<Outside>,
    },
    Panics(Arc<str>),
    GoesUnheard,
    ReportsAgain,
    Shows(Arc<str>),
}

/// Reads a story.
pub fn read(text: &str) -> Script<'_> {
    let mut setup = Setup {
        preset: "default".into(),
        policy: Vec::new(),
        grant: Grant::default(),
        mode: Mode::Auto,
        model: "test/model".into(),
        agent: "general".into(),
        schema: None,
        consent: Consent::Nobody,
    };
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).peekable();
    while let Some((line, source)) = lines.next_if(|(_, line)| !line.is_empty()) {
        blocks.push(Block { line, source: vec![source], act: None });
    }
    for (line, source) in lines {
        if source.starts_with("  ") {
            continue;
        }
        let place = format!("line {line} ({source})");
        if let Some(more) = source.strip_prefix("and ") {
            let last = blocks.last_mut().filter(|block| block.act.is_some());
            let last = last.unwrap_or_else(|| panic!("{place}: there is nothing to add to"));
            last.source.push(source);
            add(&mut last.act.as_mut().expect("looked at above").what, more, &place);
            continue;
        }
        let is_scene = source.is_empty() || set(&mut setup, source, &place);
        let act = (!is_scene).then(|| act(source, &place));
        blocks.push(Block { line, source: vec![source], act });
    }
    for block in &mut blocks {
        if let Some(Act { what: What::Sends(Outside::UserSaid { output_schema, .. }), .. }) = &mut block.act {
            output_schema.clone_from(&setup.schema);
        }
    }
    Script { setup, blocks }
}

/// Whether the line sets the scene.
fn set(setup: &mut Setup, line: &str, place: &str) -> bool {
    let Some((word, rest)) = line.split_once(' ') else { return false };
    match word {
        "preset" => setup.preset = rest.into(),
        "policy" => {
            let (key, value) = rest.split_once(' ').unwrap_or_else(|| panic!("{place}: a rule has a value"));
            let value = serde_json::from_str(value).unwrap_or_else(|error| panic!("{place}: {error}"));
            setup.policy.push((key.to_owned(), value));
        }
        "grant" => {
            for (key, value) in rest.split(' ').filter_map(|limit| limit.split_once('=')) {
                match key {
                    "requests" => setup.grant.requests = Some(number(value, place)),
                    "tokens" => setup.grant.tokens = Some(number(value, place)),
                    "calls" => setup.grant.tool_calls = Some(number(value, place)),
                    "cost" => setup.grant.cost_microusd = Some((number::<f64>(value, place) * 1e6) as u64),
                    "time" => setup.grant.time_ms = Some(time_ms(value, place)),
                    other => panic!("{place}: there is no limit '{other}'"),
                }
            }
        }
        "mode" => setup.mode = rest.parse().unwrap_or_else(|error| panic!("{place}: {error}")),
        "model" if rest.contains('/') && !rest.contains(':') => setup.model = rest.into(),
        "agent" => setup.agent = rest.into(),
        "schema" => setup.schema = Some(json(rest, place)),
        "consent" if rest == "asked" => setup.consent = Consent::Asked,
        _ => return false,
    }
    true
}

fn act(line: &str, place: &str) -> Act {
    let (who, line) = match line.split_once(' ') {
        Some((path, rest)) if path.starts_with('.') => (path.to_owned(), rest),
        Some(_) | None => (String::new(), line),
    };
    let (head, body) = line.split_once(": ").unwrap_or((line, ""));
    let (verb, more) = head.split_once(' ').unwrap_or((head, ""));
    let what = match verb {
        "user" | "steer" | "stop" => What::Sends(outside(verb, body, place)),
        "resend" => What::Resends,
        "answer" => What::AnswersQuestion { number: number(more, place), text: filled(body) },
        "model" => {
            let mut answer = Answer {
                parts: Vec::new(),
                stop: StopReason::EndTurn,
                tokens: Some(Tokens { input: 100, output: 10, ..Tokens::default() }),
                malformed: Vec::new(),
                cut_call: None,
            };
            for word in more.trim_matches(['(', ')']).split(", ").filter(|word| !word.is_empty()) {
                match (word, word.split_once('+')) {
                    ("uncounted", _) => answer.tokens = None,
                    ("cut", _) => answer.stop = StopReason::MaxTokens,
                    ("declined", _) => answer.stop = StopReason::Refusal,
                    (_, Some((input, output))) => {
                        let (input, output) = (number(input, place), number(output, place));
                        answer.tokens = Some(Tokens { input, output, ..Tokens::default() });
                    }
                    (other, None) => panic!("{place}: an answer is never '{other}'"),
                }
            }
            if body != "nothing" {
                say(&mut answer, body, place);
            }
            What::Answers { answer, schema_error: None }
        }
        "fail" => {
            let kind: CallErrorKind =
                serde_json::from_value(body.into()).unwrap_or_else(|error| panic!("{place}: {error}"));
            What::Fails(CallError::new(kind, kind.to_string()))
        }
        "tool" => {
            let (word, content) = body.split_once(' ').unwrap_or((body, ""));
            let result = match word {
                "ok" => ToolResult::ok(filled(content)),
                "exit" => ToolResult { executed: true, ..ToolResult::error(format!("exit code {content}")) },
                "error" => ToolResult::error(filled(content)),
                other => panic!("{place}: a tool comes back ok, error or exit, not '{other}'"),
            };
            What::Returns { call: CallId::new(more), result }
        }
        "hear" => What::Hears,
        "wait" => What::Waits { ms: time_ms(more, place) },
        "crash" => {
            let away_ms = if more.is_empty() { 0 } else { time_ms(more, place) };
            What::Crashes { away_ms, meanwhile: Vec::new() }
        }
        "panic" => What::Panics(body.into()),
        "unheard" => What::GoesUnheard,
        "reports" => What::ReportsAgain,
        "show" => What::Shows(body.into()),
        _ => panic!("{place}: there is no such step"),
    };
    Act { who, what }
}

/// What a person sends.
fn outside(verb: &str, body: &str, place: &str) -> Outside {
    match verb {
        "user" => Outside::said(filled(body)),
        "steer" => Outside::person_steers(filled(body)),
        "stop" => {
            let (strength, reason) = body.split_once(' ').unwrap_or((body, "the person stopped it"));
            let strength = match strength {
                "cancel" => Strength::Cancel,
                "kill" => Strength::Kill,
                other => panic!("{place}: a stop is cancel or kill, not '{other}'"),
            };
            Outside::stopped(strength, reason)
        }
        other => panic!("{place}: there is no such input: '{other}'"),
    }
}

/// What an `and` line adds.
fn add(what: &mut What, more: &str, place: &str) {
    let (word, rest) = more.split_once(' ').unwrap_or((more, ""));
    match (what, word) {
        (What::Answers { answer, .. }, "call") => say(answer, more, place),
        (What::Answers { answer, .. }, "text") => say(answer, rest, place),
        (What::Answers { answer, .. }, "thinking") => {
            answer.parts.push(Part::Opaque { wire: "test".into(), from: None, raw: Json::object() });
        }
        (What::Answers { answer, .. }, "malformed") => {
            let (call, why) = rest.split_once(' ').unwrap_or((rest, "it is no JSON"));
            answer.malformed.push((CallId::new(call), why.into()));
        }
        // A call that never became whole: it is named, and not among the parts.
        (What::Answers { answer, .. }, "half") => answer.cut_call = Some(rest.into()),
        (What::Answers { schema_error, .. }, "misfit") => *schema_error = Some(rest.into()),
        (What::Crashes { meanwhile, .. }, verb) => meanwhile.push(outside(verb, rest, place)),
        (What::Fails(error), "after") => error.retry_after_ms = Some(time_ms(rest, place)),
        (What::Fails(error), "partial") => error.partial = Some(rest.into()),
        (What::Returns { result, .. }, "read") => result.files_read.push(rest.into()),
        (What::Returns { result, .. }, "wrote") => result.files_modified.push(rest.into()),
        _ => panic!("{place}: that cannot be added here"),
    }
}

/// A text, or `call NAME ARGUMENTS as ID`.
fn say(answer: &mut Answer, words: &str, place: &str) {
    let Some(call) = words.strip_prefix("call ") else {
        return answer.parts.push(Part::Text { text: filled(words), origin: Origin::Model });
    };
    let (call, id) = call.rsplit_once(" as ").unwrap_or_else(|| panic!("{place}: a call has a name (… as c1)"));
    let (name, input) = call.split_once(' ').unwrap_or((call, "{}"));
    answer.parts.push(Part::ToolCall { id: CallId::new(id), name: name.into(), input: json(input, place) });
    if answer.stop == StopReason::EndTurn {
        answer.stop = StopReason::ToolUse;
    }
}

/// A text; `*9000` is so many characters of filler.
fn filled(text: &str) -> Arc<str> {
    match text.strip_prefix('*').and_then(|count| count.parse().ok()) {
        Some(count) => "word ".chars().cycle().take(count).collect::<String>().into(),
        None => text.into(),
    }
}

fn json(text: &str, place: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{place}: {error}"))
}

fn number<T: std::str::FromStr>(text: &str, place: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{place}: '{text}' is no number"))
}

fn time_ms(text: &str, place: &str) -> u64 {
    match text.strip_suffix("ms") {
        Some(ms) => number(ms, place),
        None => (number::<f64>(text.trim_end_matches('s'), place) * 1000.0) as u64,
    }
}
