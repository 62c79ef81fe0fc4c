//! The examples of `docs/sub-agent-guide.md`, played: every call leads to the result that the guide shows below it.
//!
//! What differs from run to run (ids, times, tokens) is taken out on both sides.

use std::path::Path;

use serde_json::{Map, Value};
use testkit::scenes::{calls, says, scene};

use crate::{call, results, text, world};

#[test]
fn every_call_in_the_guide_has_the_result_that_stands_below_it() {
    // ZILEO-10, ZILEO-17, ZILEO-20, ZILEO-41
    let examples = examples();
    assert!(examples.len() >= 6, "the guide shows every operation");
    for Example { verb, call: input, result } in examples {
        let mut scenes = vec![scene("Follow the guide", &[calls(&[call(&verb, &input)]), says("done")])];
        scenes.extend(children(&input, &result));
        let world = world(&scenes);
        // Nothing asks in this mode, so that the calls alone are seen.
        world.run("Follow the guide", &["--preset", "zileo"]).done().answer(0);
        let (told, _) = results(&world).swap_remove(0);
        match result {
            Value::String(words) => assert_eq!(told, words, "{verb} {input}"),
            result => {
                let told = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{verb} {input}: {told}"));
                assert_eq!(without_figures(told), without_figures(result), "{verb} {input}");
            }
        }
    }
}

#[test]
fn every_setting_and_every_command_in_the_guide_is_one() {
    // ZILEO-41
    let mut seen = (0, 0);
    for (info, body) in blocks(&guide()) {
        let world = world(&[]);
        match &*info {
            "toml" => {
                let folder = world.path("../home/.config/majordomo");
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(folder.join("config.toml"), &body).expect("a file");
                let shown = world.call(&["config", "show"]);
                shown.answer(0);
                assert_eq!(shown.err, "", "{body}");
                seen.0 += 1;
            }
            "sh" => {
                for line in body.lines() {
                    let words = line.split_whitespace().skip(1);
                    let is_command = |word: &&str| matches!(*word, "run" | "approve" | "ls" | "yes" | "no" | "explain");
                    let mut command: Vec<&str> = words.take_while(is_command).collect();
                    command.push("--help");
                    world.call(&command).answer(0);
                    assert!(command.len() > 1, "{line}");
                    seen.1 += 1;
                }
            }
            _ => {}
        }
    }
    assert_eq!(seen, (2, 6), "settings and commands in the guide");
}

struct Example {
    verb: String,
    call: Value,
    /// JSON, or the words of an error.
    result: Value,
}

/// Pairs of fenced blocks: ```` ```json call VERB ```` and the ```` ```json result ```` or ```` ```text result ```` that follows it.
fn examples() -> Vec<Example> {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut examples = Vec::new();
    let mut open: Option<(String, Value)> = None;
    for (info, body) in blocks(&guide()) {
        if let Some(verb) = info.strip_prefix("json call ") {
            assert!(open.is_none(), "a call is followed by its result, before {body}");
            open = Some((verb.to_owned(), json(&body)));
        } else if let Some(kind) = info.strip_suffix(" result") {
            let (verb, call) = open.take().expect("a result follows a call");
            let result = if kind == "json" { json(&body) } else { Value::from(body.trim_end()) };
            examples.push(Example { verb, call, result });
        }
    }
    assert!(open.is_none(), "the last call has its result");
    examples
}

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sub-agent-guide.md");
    std::fs::read_to_string(path).expect("the guide is there")
}

/// Every fenced block, with what stands after its fence.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut block: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut block) {
            (Some(info), None) => block = Some((info.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(block.take()),
            (None, Some((_, body))) => *body = format!("{body}{line}\n"),
            (None, None) => {}
        }
    }
    blocks
}

/// Sub-agents that report what the guide says they report.
fn children(call: &Value, result: &Value) -> Vec<String> {
    let tasks = call["tasks"].as_array().cloned().unwrap_or_else(|| vec![call.clone()]);
    let results = result["results"].as_array().cloned().unwrap_or_else(|| vec![result.clone()]);
    let child = |(task, result): (Value, Value)| {
        let prompt = task["prompt"].as_str()?.to_owned();
        let (report, _) = result["report"].as_str()?.split_once("\n\n## Metrics")?;
        Some(format!("[[script]]\non = {}\n[[script.reply]]\ntext = {}\n", text(&prompt), text(report)))
    };
    tasks.into_iter().zip(results).filter_map(child).collect()
}

fn without_figures(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| {
                let value = match &*name {
                    "duration_ms" | "tokens_input" | "tokens_output" => Value::from(0),
                    "child_id" => Value::from(value.as_str().and_then(|id| id.split_once('.')).map(|(_, own)| own)),
                    "report" | "aggregated_report" => Value::from(without_metrics(value.as_str().unwrap_or_default())),
                    _ => without_figures(value),
                };
                (name, value)
            };
            Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_figures).collect()),
        other => other,
    }
}

fn without_metrics(report: &str) -> String {
    let (words, metrics) = report.split_once("## Metrics (auto-generated)").expect("every report has its metrics");
    let lines: Vec<&str> =
        metrics.trim().lines().map(|line| line.trim_end_matches(|c: char| c.is_ascii_digit())).collect();
    assert!(
        lines[0].starts_with("- Duration: ") && lines[0].ends_with(" ms") && lines[1] == "- Tokens used: ",
        "{report}"
    );
    words.to_owned()
}
