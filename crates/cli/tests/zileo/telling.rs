//! What is told of sub-agents: the dialect, the record, the list of agents, and texts of every kind unharmed.

use agent::Event;
use serde_json::{Value, json};
use testkit::scenes::{calls, says, scene};

use crate::{executions, question, results, run, spawn, text, world};

/// Accents, an emoji, a direction mark and a NUL.
const STRANGE: &str = "Prüfe «naïve» 🦉 \u{202e}txt\u{0} end";

#[test]
fn a_strange_text_passes_through_prompt_report_record_and_event_unharmed() {
    // What went wrong there: accents panicked, and NUL bytes crashed the database (INV-9)
    let report = format!("[[script.reply]]\ntext = {}\n", text(STRANGE));
    let world = world(&[scene("Analyse", &[calls(&[spawn("Zoë", STRANGE)]), says("done")]), scene("Prüfe", &[report])]);
    let running = run(&world, "Analyse", &["--approvals", "wait", "--jsonl"]);
    let asked = question(&world, 1);
    assert_eq!(asked.input.value()["prompt"], json!(STRANGE));
    world.call(&["approve", "yes", asked.id.as_str()]).answer(0);
    let done = running.done();
    done.answer(0);
    let brief = world.log().iter().find_map(|record| match &*record.event {
        Event::ChildSpawned(spawned) => Some(spawned.brief.text()),
        _ => None,
    });
    assert_eq!(brief.as_deref(), Some(STRANGE));
    let told: Value = serde_json::from_str(&results(&world)[0].0).expect("JSON");
    assert!(told["report"].as_str().is_some_and(|report| report.starts_with(STRANGE)), "{told}");
    assert_eq!(executions(&world), [("Zoë".into(), "completed".into(), Some(STRANGE.into()), None)]);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let end = lines.iter().find(|line| line["type"] == "sub_agent_complete").expect("the sub-agent completes");
    assert_eq!(end["data"]["report"], json!(STRANGE));
}

#[test]
fn the_record_names_workflow_parent_and_self_and_takes_a_prompt_of_any_length() {
    // ZILEO-12, ZILEO-21, and what went wrong there (c): prompts over 10000 characters were not kept at all
    let long = format!("Measure this. {}", "é".repeat(20_000));
    let world =
        world(&[scene("Analyse", &[calls(&[spawn("Ada", &long)]), says("done")]), scene("Measure", &[says("long")])]);
    run(&world, "Analyse", &["--set", "policy.approval=never"]).done().answer(0);
    let database = rusqlite::Connection::open(world.database()).expect("a database");
    let sql = "SELECT workflow_id, parent_agent_id, sub_agent_id, task_description, duration_ms IS NOT NULL, \
               tokens_input > 5000, tokens_output > 0, created_at <= completed_at FROM sub_agent_execution";
    let row = database.query_row(sql, [], |row| {
        let ids: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        let figures: [bool; 4] = [row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?];
        Ok((ids, row.get::<_, String>(3)?, figures))
    });
    let (ids, task, figures) = row.expect("one row");
    let root = world.root().to_string();
    assert_eq!(ids, [root.clone(), root.clone(), format!("{root}.1")]);
    assert!(task.starts_with("Measure this. éé") && task.ends_with("more characters]"), "cut by character, and marked");
    assert_eq!(figures, [true; 4]);
}

#[test]
fn the_stream_speaks_zileo_and_names_workflow_parent_and_self() {
    // ZILEO-22, ZILEO-25, ZILEO-26, ZILEO-37
    let world = world(&[
        scene("Analyse", &[calls(&[spawn("Ada", "List the fields")]), says("done")]),
        scene("List the fields", &[says("id, name")]),
    ]);
    let running = run(&world, "Analyse", &["--approvals", "wait", "--jsonl"]);
    let asked = question(&world, 1);
    world.call(&["approve", "yes", asked.id.as_str()]).answer(0);
    let done = running.done();
    done.answer(0);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (root, ada) = (world.root().to_string(), format!("{}.1", world.root()));
    let [required, resolved, start, end] = lines.as_slice() else { panic!("four lines: {}", done.out) };
    let details = json!({"operation": "spawn", "name": "Ada", "prompt": "List the fields"});
    assert_eq!(
        *required,
        json!({
            "type": "validation_required", "validation_id": asked.id.as_str(), "workflow_id": root, "agent_id": root,
            "validation_type": "sub_agent", "operation": "starts the temporary sub-agent 'Ada'", "details": details,
            "risk_level": "medium",
        })
    );
    assert_eq!(
        *resolved,
        json!({
            "type": "validation_resolved", "validation_id": asked.id.as_str(), "workflow_id": root, "status": "approved",
        })
    );
    let whose = json!({"workflow_id": root, "parent_agent_id": root, "sub_agent_id": ada, "sub_agent_name": "Ada"});
    for (line, kind) in [(start, "sub_agent_start"), (end, "sub_agent_complete")] {
        assert_eq!(line["type"], kind);
        for (name, value) in whose.as_object().expect("an object") {
            assert_eq!(line[name], *value, "{kind}");
        }
    }
    assert_eq!(start.get("data"), None);
    assert_eq!(end["data"]["report"], "id, name");
    let metrics: Vec<&String> = end["data"]["metrics"].as_object().expect("an object").keys().collect();
    assert_eq!(metrics, ["duration_ms", "tokens_input", "tokens_output"]);
}

#[test]
fn agents_that_stay_are_listed_and_temporary_ones_are_not() {
    // ZILEO-18, ZILEO-24, ZILEO-38
    let world = world(&[
        scene("Analyse", &[calls(&[spawn("Ada", "List the fields")]), says("done")]),
        scene("List the fields", &[says("id, name")]),
    ]);
    let folder = world.path("../home/.config/majordomo/agents");
    std::fs::create_dir_all(&folder).expect("a folder");
    let scribe = "---\nname: scribe\ndescription: Writes it down.\ntools: write_file\n---\nYou write.\n";
    std::fs::write(folder.join("scribe.md"), scribe).expect("a file");
    run(&world, "Analyse", &["--set", "policy.approval=never"]).done().answer(0);
    let listed: Value = serde_json::from_str(world.call(&["agents", "ls", "--json"]).answer(0)).expect("JSON");
    let listed = listed.as_array().expect("a list");
    let ids: Vec<&str> = listed.iter().filter_map(|agent| agent["id"].as_str()).collect();
    assert!(["general", "explore", "butler", "scribe"].iter().all(|id| ids.contains(id)), "{ids:?}");
    assert!(!ids.contains(&"Ada"), "{ids:?}");
    let scribe = listed.iter().find(|agent| agent["id"] == "scribe").expect("it is there");
    assert_eq!(scribe["tools"], json!(["write_file"]));
    let shown = world.call(&["agents", "ls"]);
    assert!(shown.answer(0).contains("scribe") && shown.answer(0).contains("Writes it down."), "{}", shown.out);
    assert_eq!(shown.err, "", "the agents that are built in can all be used");
}

#[test]
fn texts_are_values_of_a_statement_and_never_part_of_one() {
    // ZILEO-37: and the names on the wire are those of the seed, in snake case
    let hostile = "x'); DROP TABLE sub_agent_execution; --\"; ?1 $1 :a";
    let report = format!("[[script.reply]]\ntext = {}\n", text(hostile));
    let world = world(&[scene("Analyse", &[calls(&[spawn(hostile, hostile)]), says("done")]), scene("x'", &[report])]);
    let done = run(&world, "Analyse", &["--set", "policy.approval=never", "--jsonl"]).done();
    done.answer(0);
    assert_eq!(executions(&world), [(hostile.into(), "completed".into(), Some(hostile.into()), None)]);
    let lines: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    fn names<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    found.push(name);
                    names(value, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    lines.iter().for_each(|line| names(line, &mut found));
    assert!(found.len() > 10, "{found:?}");
    for name in found {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
    }
    assert_eq!(lines[1]["data"]["report"], json!(hostile));
}
