//! Events in words: one short line each, with everything in it that a change of behaviour would change.
//!
//! Figures that depend on the wording of a prompt (what a request reserves) are told by what they mean, so that a story about
//! something else does not change with them.

use std::fmt::Write;
use std::sync::Arc;

use agent::approval::{ApprovalId, Resolution};
use agent::budget::{Claim, Grant};
use agent::event::{
    Answered, ChildSpawned, Ending, Enough, Event, Subtask, TurnKind, TurnStarted, Verdict, VerdictKind,
};
use agent::message::{Message, Origin, Part, Role};
use agent::report::Report;
use agent::{Catalog, Thread, ThreadId, Time, context};

/// What an event is told against.
pub struct Scene<'a> {
    pub root: &'a ThreadId,
    pub now: Time,
    /// What was reserved for the request under way before the event.
    pub claim: Claim,
    /// The longest answer that the model gives.
    pub longest_answer: u64,
}

/// A thread's place in its family: `.` is the root, `.1` its first child.
pub fn path<'a>(root: &ThreadId, id: &'a ThreadId) -> &'a str {
    match id.as_str().strip_prefix(root.as_str()) {
        Some("") => ".",
        Some(path) => path,
        None => id.as_str(),
    }
}

/// An event: its line, and the lines of a longer text in it.
pub fn event(scene: &Scene<'_>, event: &Event) -> Vec<String> {
    let path = |id| path(scene.root, id);
    let kind = event.kind();
    match event {
        Event::ThreadCreated(_) => vec![kind.to_owned()],
        Event::InputArrived { id, .. } => vec![format!("{kind} {id:?}")],
        Event::RunStarted { run, from: None, .. } => vec![format!("{kind} {run}")],
        Event::RunStarted { run, from: Some(from), prompt, grant, .. } => {
            let granted = grant.as_ref().map_or(String::new(), |grant| format!(" with {}", grant_words(scene, grant)));
            with_text(format!("{kind} {run} from {from}{granted}"), prompt)
        }
        Event::Steered { input, text, from, .. } => with_text(format!("{kind} {input:?} from {from}"), text),
        Event::InputDropped { input, reason } => vec![format!("{kind} {input:?}: {reason}")],
        Event::StopBegun { input, ending } => {
            let by = input.as_ref().map_or(String::new(), |input| format!(" by {input:?}"));
            vec![format!("{kind}{by}: {}", end(ending))]
        }
        Event::TurnStarted(turn) => vec![format!("{kind} {}", turn_words(scene, turn))],
        Event::CallFailed { turn, attempt, error, retry_at, booked } => {
            let again = match retry_at {
                Some(at) => format!("again in {}", seconds(at.since_ms(scene.now))),
                None => "not again".to_owned(),
            };
            vec![format!("{kind} {turn}, attempt {attempt}: {}; {again}; books {}", error.kind, claim(scene, *booked))]
        }
        Event::CallRepeated { turn, booked } => vec![format!("{kind} {turn}; books {}", claim(scene, *booked))],
        Event::SamplingStarted(started) => {
            let reserved = claim(scene, started.claim);
            vec![format!("{kind} {} by {} for {}: reserves {reserved}", started.number, started.server, started.call)]
        }
        Event::SamplingEnded(ended) => {
            let line = format!("{kind} {} by {}; books {}", ended.number, ended.server, claim(scene, ended.booked));
            with_text(line, ended.error.as_ref().unwrap_or(&ended.text))
        }
        Event::Answered(answered) => answer_words(answered),
        Event::ToolStarted { call } => vec![format!("{kind} {call}")],
        Event::ChecksStarted { call, commands, .. } => vec![format!("{kind} {call}: {}", commands.join("; "))],
        Event::ToolFinished { call, result, duration_ms, .. }
        | Event::ChecksFinished { call, result, duration_ms, .. } => {
            let took = duration_ms.filter(|ms| *ms > 0).map_or(String::new(), |ms| format!(" after {}", seconds(ms)));
            let sign = if result.is_error { "error" } else { "ok" };
            with_text(format!("{kind} {call} {sign}{took}"), &result.content)
        }
        Event::ApprovalRequested(approval) => {
            let (id, call, risk) = (number(&approval.id), &approval.call, approval.risk.as_str());
            vec![format!("{kind} {id} for {call}: {} ({risk} risk; {})", approval.effect, approval.why)]
        }
        Event::ApprovalResolved { approval, resolution, .. } => {
            vec![format!("{kind} {} {}", number(approval), resolution_words(resolution))]
        }
        Event::ChildPaused { child, paused } => {
            vec![format!("{kind} {} {}", path(child), if *paused { "waits for a person" } else { "goes on" })]
        }
        Event::Delegated { call, plan, subtasks, enough } => {
            let subtasks = subtasks.iter().enumerate().map(subtask_words).collect::<Vec<_>>().join("; ");
            let enough = match enough {
                Enough::All => "",
                Enough::One => " (one is enough)",
                Enough::OneAlone => " (one is enough, and the others are stopped)",
            };
            vec![format!("{kind} {call} '{plan}': {subtasks}{enough}")]
        }
        Event::SubtaskSkipped { index, reason, .. } => vec![format!("{kind} {index}: {reason}")],
        Event::SubtaskRecalled { index, child, .. } => vec![format!("{kind} {index} from {}", path(child))],
        Event::ChildSaid { child, text, .. } => vec![format!("{kind} {}: {text}", path(child))],
        Event::ChildSpawned(spawned) => spawn_words(scene, spawned),
        Event::ChildAsked(asked) => {
            let how = if asked.background { " in the background" } else { "" };
            let line = format!(
                "{kind} {} by {}{how} with {}",
                path(&asked.child),
                asked.call,
                grant_words(scene, &asked.grant)
            );
            with_text(line, &asked.text)
        }
        Event::ChildIssued { input, child } => vec![format!("{kind} {} for {input:?}", path(child))],
        Event::ChildStarted { child, .. } => vec![format!("{kind} {}", path(child))],
        Event::ChildStopped { child, strength, reason } => {
            vec![format!("{kind} {} {}: {reason}", path(child), format!("{strength:?}").to_lowercase())]
        }
        Event::ChildReported { child, report, .. } => vec![format!("{kind} {} {}", path(child), report.outcome)],
        Event::MessageSent { call, child, text } => with_text(format!("{kind} {call} to {}", path(child)), text),
        Event::ChildAwaited { call, child } => vec![format!("{kind} {} by {call}", path(child))],
        Event::WaitStarted { call, children, any, until } => {
            let children = children.iter().map(path).collect::<Vec<_>>().join(if *any { " or " } else { " and " });
            let until = until.map_or(String::new(), |at| format!(" for {}", seconds(at.since_ms(scene.now))));
            vec![format!("{kind} {call}: {children}{until}")]
        }
        Event::ContextTrimmed { calls, bytes, .. } => {
            let calls = calls.iter().map(|call| call.as_str()).collect::<Vec<_>>().join(", ");
            vec![format!("{kind} {calls}: {bytes} bytes")]
        }
        Event::ContextCompacted { summary, .. } => with_text(kind.to_owned(), summary),
        Event::ToolsChanged { version, added, removed, .. } => {
            let list =
                |sign: &str, tools: &[Arc<str>]| tools.iter().map(|tool| format!(" {sign}{tool}")).collect::<String>();
            vec![format!("{kind} {version}:{}{}", list("+", added), list("-", removed))]
        }
        Event::SettingsChanged { model, mode, told, .. } => {
            let model = model.as_ref().map(|model| format!(" model {}", model.name)).unwrap_or_default();
            let mode = mode.map(|mode| format!(" mode {mode}")).unwrap_or_default();
            with_text(format!("{kind}{model}{mode}"), told.as_deref().unwrap_or_default())
        }
        Event::StallNoticed { silent_ms, waiting_for } => {
            vec![format!("{kind} after {}: waits for {waiting_for}", seconds(*silent_ms))]
        }
        Event::BudgetWarned { limit, percent } => vec![format!("{kind} {limit} {percent} %")],
        Event::Reopened { away_ms } => vec![format!("{kind} after {}", seconds(*away_ms))],
        Event::Reported(report) => report_words(report),
    }
}

/// What a story asks to see of a thread; none if there is no such thing.
pub fn shown(what: &str, thread: &Thread, catalog: &Catalog) -> Option<Vec<String>> {
    match what {
        "talk" => Some(thread.talk.messages().iter().flat_map(|message| message_words(message)).collect()),
        "system" => Some(
            context::system(&thread.created).lines().map(|line| format!("| {line}").trim_end().to_owned()).collect(),
        ),
        "tools" => {
            let tools = agent::creation::advertised(thread, catalog);
            Some(vec![tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>().join(", ")])
        }
        "left" => {
            let or = |left: Option<String>| left.unwrap_or_else(|| "any number of".to_owned());
            let money = thread.cost_left().map_or("any money".to_owned(), dollars);
            let requests = thread.requests_left().map_or(String::new(), |left| format!("{left} requests, "));
            Some(vec![format!(
                "{requests}{} tokens, {money}, {} calls, {} descendants",
                or(thread.tokens_left().map(|left| left.to_string())),
                or(thread.tool_calls_left().map(|left| left.to_string())),
                thread.descendants_left()
            )])
        }
        _ => None,
    }
}

/// Milliseconds as seconds.
pub fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{} s", ms as f64 / 1000.0) }
}

/// A question's number within its thread.
fn number(id: &ApprovalId) -> &str {
    id.as_str().rsplit_once('/').map_or(id.as_str(), |(_, number)| number)
}

fn resolution_words(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Allowed { scope, input: None, .. } => format!("allowed {}", scope.as_str()),
        Resolution::Allowed { scope, input: Some(input), .. } => {
            format!("allowed {} with {}", scope.as_str(), input.text())
        }
        Resolution::Answered { text } => format!("answered: {text}"),
        Resolution::Denied { reason } => format!("denied: {}", reason.as_deref().unwrap_or("no reason")),
        Resolution::Forbidden { rule } => format!("forbidden: {rule}"),
        Resolution::Expired { rule } => format!("expired: {rule}"),
        Resolution::Unanswered { rule } => format!("unanswered: {rule}"),
        Resolution::Withdrawn { reason } => format!("withdrawn: {reason}"),
    }
}

fn turn_words(scene: &Scene<'_>, turn: &TurnStarted) -> String {
    let mut words = match &turn.kind {
        TurnKind::Work => turn.turn.to_string(),
        TurnKind::Last(ending) => format!("{}, the last: {}", turn.turn, end(ending)),
        TurnKind::Compact => format!("{}, to sum up", turn.turn),
    };
    if turn.max_tokens < scene.longest_answer {
        let _ = write!(words, ", at most {} tokens", turn.max_tokens);
    }
    words
}

fn end(ending: &Ending) -> String {
    let cause = ending.cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})"));
    let word = if ending.last_turn { "" } else { ", at once" };
    format!("{}{cause}{word}, {}", ending.outcome, ending.reason)
}

fn claim(scene: &Scene<'_>, booked: Claim) -> String {
    match booked {
        nothing if (nothing.tokens, nothing.cost_microusd) == (0, 0) => "nothing".to_owned(),
        whole if whole == scene.claim => "its claim".to_owned(),
        other => format!("{} tokens and {}", other.tokens, dollars(other.cost_microusd)),
    }
}

fn answer_words(answered: &Answered) -> Vec<String> {
    let mut line = format!("answered {}", answered.turn);
    if answered.estimated {
        line.push_str(", estimated");
    } else {
        let _ = write!(line, ", {} tokens", answered.tokens.total());
        if answered.counted_tokens != answered.tokens.total() {
            let _ = write!(line, " ({} counted)", answered.counted_tokens);
        }
    }
    if answered.cost_microusd > 0 {
        let _ = write!(line, ", {}", dollars(answered.cost_microusd));
    }
    if let Some(error) = &answered.schema_error {
        let _ = write!(line, ", misfit: {error}");
    }
    let mut lines = vec![line];
    let name = |verdict: &Verdict| {
        let of_call = |part: &Part| match part {
            Part::ToolCall { id, name, .. } if *id == verdict.call => Some(name.clone()),
            _ => None,
        };
        answered.parts.iter().find_map(of_call).unwrap_or_else(|| Arc::from("?"))
    };
    for verdict in &answered.verdicts {
        let mut line = format!("{} {}", verdict.call, name(verdict));
        match &verdict.what {
            VerdictKind::Run { .. } => line.push_str(" runs"),
            VerdictKind::Asked { .. } => line.push_str(" is asked about"),
            VerdictKind::Verb => line.push_str(" is a verb"),
            VerdictKind::VerbAsked => line.push_str(" is a verb that is asked about"),
            VerdictKind::Refused { reason, rule } => {
                let _ = write!(line, " refused: {reason}");
                if let Some(rule) = rule {
                    let _ = write!(line, " ({rule})");
                }
            }
        }
        if !verdict.counts {
            line.push_str(" (not counted)");
        }
        lines.push(line);
    }
    lines
}

fn subtask_words((index, subtask): (usize, &Subtask)) -> String {
    let after = subtask.depends_on.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
    if after.is_empty() { index.to_string() } else { format!("{index} after {after}") }
}

fn spawn_words(scene: &Scene<'_>, spawned: &ChildSpawned) -> Vec<String> {
    let mut line = format!("child_spawned {} by {}", path(scene.root, &spawned.child), spawned.call);
    if let Some(index) = spawned.subtask {
        let _ = write!(line, " for subtask {index}");
    }
    let _ = write!(line, ": {}, {}, {}", spawned.name, spawned.mode, grant_words(scene, &spawned.grant));
    for (is_so, word) in [(spawned.background, "in the background"), (spawned.queued, "queued")] {
        if is_so {
            let _ = write!(line, ", {word}");
        }
    }
    let mut lines = vec![line];
    lines.extend(spawned.narrowed.iter().map(|note| format!("narrowed: {note}")));
    lines
}

fn grant_words(scene: &Scene<'_>, grant: &Grant) -> String {
    let mut limits = Vec::new();
    limits.extend(grant.tool_calls.map(|calls| format!("{calls} calls")));
    limits.extend(grant.requests.map(|requests| format!("{requests} requests")));
    limits.extend(grant.tokens.map(|tokens| format!("{tokens} tokens")));
    limits.extend(grant.cost_microusd.map(dollars));
    limits.extend(grant.time_ms.map(seconds));
    limits.extend(grant.not_after.map(|at| format!("over in {}", seconds(at.since_ms(scene.now)))));
    limits.push(format!("depth {}", grant.depth));
    limits.push(format!("{} descendants", grant.descendants));
    limits.join(", ")
}

fn report_words(report: &Report) -> Vec<String> {
    let cause = report.cause.as_ref().map_or(String::new(), |cause| format!(" ({cause})"));
    let mut line = format!("reported {}{cause}", report.outcome);
    if let Some(reason) = &report.reason {
        let _ = write!(line, ", {reason}");
    }
    let mut lines = with_text(line, &report.text);
    let usage = |usage: &agent::Usage| {
        let mut words =
            format!("{} calls, {} turns, {} tokens", usage.tool_calls, usage.model_calls, usage.counted_tokens);
        if usage.requests != usage.model_calls {
            let _ = write!(words, ", {} requests", usage.requests);
        }
        if usage.cost_microusd > 0 {
            let _ = write!(words, ", {}", dollars(usage.cost_microusd));
        }
        words
    };
    let mut figures = format!("used {}", usage(&report.usage));
    if report.tree != report.usage {
        let _ = write!(figures, "; with {} below {}", report.tree.children, usage(&report.tree));
    }
    if report.duration_ms > 0 {
        let _ = write!(figures, "; in {}", seconds(report.duration_ms));
    }
    lines.push(figures);
    if let Some(data) = &report.data {
        lines.push(format!("data {}", data.text()));
    }
    let lists = [
        ("read", &report.files_read),
        ("modified", &report.files_modified),
        ("unfinished", &report.unfinished),
        ("unanswered", &report.unanswered),
    ];
    for (title, words) in lists.into_iter().filter(|(_, words)| !words.is_empty()) {
        lines.push(format!(
            "{title}: {}",
            words.iter().map(|word| short(word).replace('\n', " ")).collect::<Vec<_>>().join(", ")
        ));
    }
    lines
}

fn message_words(message: &Message) -> Vec<String> {
    let speaker = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let part_words = |part: &Part| match part {
        Part::Text { text, origin } => {
            let from = match origin {
                Origin::Person => "person",
                Origin::Brief => "brief",
                Origin::Steer => "steer",
                Origin::Program => "house",
                Origin::Model => "model",
            };
            with_text(format!("{speaker} <{from}>"), text)
        }
        Part::ToolCall { id, name, input } => vec![format!("{speaker} calls {name} {} as {id}", input.text())],
        Part::ToolResult { id, content, is_error } => {
            with_text(format!("{speaker} <result of {id}{}>", if *is_error { ", an error" } else { "" }), content)
        }
        Part::Attached(attachment) => vec![format!("{speaker} <attached: {}>", attachment.name)],
        Part::Opaque { wire, .. } => vec![format!("{speaker} <opaque, {wire}>")],
    };
    let mut lines = Vec::new();
    for part in &message.parts {
        let mut words = part_words(part).into_iter();
        lines.extend(words.next());
        lines.extend(words.map(|line| format!("  | {line}").trim_end().to_owned()));
    }
    lines
}

/// A line that ends with a text of one line, or is followed by the lines of a longer one.
fn with_text(line: String, text: &str) -> Vec<String> {
    let text = short(text);
    match text.lines().count() {
        0 => vec![line],
        1 => vec![format!("{line}: {text}")],
        _ => std::iter::once(line).chain(text.lines().map(str::to_owned)).collect(),
    }
}

/// A text whose long middle says nothing.
fn short(text: &str) -> String {
    let count = text.chars().count();
    if count <= 1000 {
        return text.to_owned();
    }
    format!("{}… ({count} characters)", text.chars().take(40).collect::<String>())
}

fn dollars(microusd: u64) -> String {
    format!("${}", microusd as f64 / 1e6)
}
