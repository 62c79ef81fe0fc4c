//! `majordomo explain` held against real runs: what it says of a call is what a run does with it.

use std::collections::BTreeMap;
use std::fs;

use agent::Event;
use agent::event::VerdictKind;
use agent::message::Part;
use agent::policy::VERBS;
use serde_json::{Value, json};
use testkit::scenes::{call, calls, says, scene};
use testkit::world::World;

const RULES: &str = r#"
[[rules]]
tool = "run_command"
pattern = "git push*"
action = "deny"
[[rules]]
tool = "run_command"
pattern = "/usr/bin/make*"
action = "deny"
[[rules]]
tool = "run_command"
pattern = "ls*"
action = "ask"
[[rules]]
tool = "write_file"
action = "ask"
[[rules]]
tool = "edit_file"
action = "allow"
[[rules]]
tool = "read_file"
pattern = "keys/*"
action = "deny"
[[rules]]
tool = "memory"
action = "deny"
[[rules]]
tool = "spawn_agent"
pattern = "explore"
action = "deny"
[[rules]]
tool = "delegate_task"
action = "ask"
[[rules]]
tool = "*_agents"
action = "deny"
"#;

/// Calls of the tools that are more interesting with arguments.
fn interesting() -> Vec<(&'static str, Value)> {
    let command = |command: &str| ("run_command", json!({ "command": command }));
    let write = |path: &str| ("write_file", json!({ "path": path, "content": "x" }));
    vec![
        command("ls"),
        command("touch made"),
        command("git push"),
        command("env git -C . push"),
        command("git $VERB"),
        command("if then"),
        command("ls $(true)"),
        ("run_command", json!({ "command": "true", "cwd": " ." })),
        write("new.txt"),
        write(" .git/config"),
        write(".envrc"),
        write("../x"),
        ("edit_file", json!({ "path": "there", "old_text": "a", "new_text": "b" })),
        ("read_file", json!({ "path": "there" })),
        ("read_file", json!({ "path": "keys/one" })),
        ("read_file", json!({ "path": "keys/one\u{200B}" })),
        ("memory", json!({ "action": "append", "text": "x" })),
        ("spawn_agent", json!({ "task": "Help", "agent": "explore" })),
        ("spawn_agent", json!({ "task": "Help" })),
        ("delegate_task", json!({ "subtasks": [{ "task": "Help" }] })),
        ("SpawnAgentTool", json!({ "operation": "list_children" })),
        ("message_agent", json!({ "agent": "x", "text": "y" })),
    ]
}

/// A JSON value as it is written in a script.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// All tools of the program, by the error that names them.
fn tools() -> Vec<String> {
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[scene("Go", &[says("Done.")])]);
    world.run("Go", &[]).done().answer(0);
    let told = world.call(&["explain", world.root().as_str(), "no_such_tool"]);
    let (_, names) =
        told.err.split_once("there is no tool 'no_such_tool'; the tools are: ").expect("the names of the tools");
    let names = names.lines().next().expect("a line");
    names.split(", ").map(|name| name.trim().to_owned()).collect()
}

/// What a run did with each call, by tool and arguments.
fn done(world: &World) -> BTreeMap<(String, String), &'static str> {
    let mut done = BTreeMap::new();
    let root = world.root();
    for record in world.log().into_iter().filter(|record| record.thread == root) {
        let Event::Answered(answered) = &*record.event else { continue };
        for part in &answered.parts {
            let Part::ToolCall { id, name, input } = part else { continue };
            let verdict =
                answered.verdicts.iter().find(|verdict| verdict.call == *id).expect("a verdict for each call");
            let action = match &verdict.what {
                VerdictKind::Run { .. } | VerdictKind::Verb => "allow",
                VerdictKind::Asked { .. } | VerdictKind::VerbAsked => "ask",
                // No person is there to be asked, so that the call is refused.
                VerdictKind::Refused { rule: Some(_), .. } => "ask",
                VerdictKind::Refused { rule: None, .. } => "deny",
            };
            done.insert((name.to_string(), input.text().to_owned()), action);
        }
    }
    done
}

// T69: what explain says is what happens, for every tool and every verb, in every mode, with rules and without.
#[test]
fn explain_says_of_every_tool_what_a_run_does_with_it() {
    let mut wanted = interesting();
    let tools = tools();
    let names = tools.iter().map(String::as_str).chain(VERBS);
    let plain: Vec<&str> = names.filter(|name| !wanted.iter().any(|(tool, _)| tool == name)).collect();
    assert!(plain.contains(&"list_dir") && plain.contains(&"wait_agents"), "{plain:?}");
    wanted.extend(plain.into_iter().map(|name| (name, json!({}))));
    let script: Vec<String> =
        wanted.iter().map(|(name, input)| call(name, toml(input).trim_matches(['{', '}']).trim())).collect();
    let scenes = [scene("Go", &[calls(&script), says("Done.")]), scene("Help", &[says("Helped.")])];

    let cases: Vec<(&str, &str)> =
        ["plan", "ask", "auto", "dangerous"].into_iter().flat_map(|mode| [(mode, ""), (mode, RULES)]).collect();
    let said: Vec<&str> = std::thread::scope(|scope| {
        let play = |(mode, rules): &(&'static str, &'static str)| {
            let (mode, rules, scenes, count) = (*mode, *rules, &scenes, wanted.len());
            scope.spawn(move || compared(mode, rules, scenes, count))
        };
        let played: Vec<_> = cases.iter().map(play).collect();
        played.into_iter().flat_map(|case| case.join().expect("a case that holds")).collect()
    });
    for action in ["allow", "ask", "deny"] {
        let count = said.iter().filter(|said| **said == action).count();
        assert!(count > 20, "{count} of {} are {action}", said.len());
    }
}

/// Plays a run in a world of its own and asks `explain` about each of its calls. Returns what both say of each.
fn compared(mode: &str, rules: &str, scenes: &[String], count: usize) -> Vec<&'static str> {
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), scenes);
    fs::write(world.path("there"), "a").expect("a file");
    let config = world.path("../home/.config/majordomo/config.toml");
    fs::create_dir_all(config.parent().expect("a parent")).expect("a folder");
    fs::write(config, rules).expect("a file");
    let model = format!("scripted/{}", world.path("../script.toml").display());
    let run = world.command(&["run", "Go", "--model", &model, "--mode", mode, "--approvals", "deny"]);
    world.launch(run).done();
    let done = done(&world);
    assert_eq!(done.len(), count, "every call has its own verdict");
    let root = world.root();
    for ((tool, input), action) in &done {
        let told = world.call(&["explain", root.as_str(), tool, input, "--json"]);
        let told: Value = serde_json::from_str(told.answer(0)).expect("JSON");
        let with = if rules.is_empty() { "without rules" } else { "with rules" };
        assert_eq!(told["action"], *action, "{mode} {with}: {tool} {input}: {told}");
    }
    done.into_values().collect()
}

// T69
#[test]
fn explain_and_config_show_say_which_rule_is_about_spelling() {
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[scene("Go", &[says("Done.")])]);
    let config = world.path("../home/.config/majordomo/config.toml");
    fs::create_dir_all(config.parent().expect("a parent")).expect("a folder");
    fs::write(config, RULES).expect("a file");
    world.run("Go", &[]).done().answer(0);
    let root = world.root();
    let told = world.call(&["explain", root.as_str(), "run_command", "nice /usr/bin/git -C . push"]);
    let told = told.answer(0);
    for words in ["  does       git -C . push", "git push", "verdict: deny, rule: deny run_command 'git push*'"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let spelling = "  text only  deny run_command '/usr/bin/make*'";
    assert_eq!(told.matches("text only").count(), 1, "{told}");
    assert!(told.contains(spelling) && told.contains("matches only this spelling of a command"), "{told}");
    let told = world.call(&["explain", root.as_str(), "run_command", "git $VERB"]);
    assert!(told.answer(0).contains("  may be     git …"), "{}", told.out);
    assert!(told.out.contains("it may apply: what the call does is known only when it runs"), "{}", told.out);

    let shown = world.call(&["config", "show"]);
    let lines = shown.answer(0).lines().filter(|line| line.contains("matches only this spelling of a command"));
    assert_eq!(lines.map(|line| line.contains("/usr/bin/make*")).collect::<Vec<_>>(), [true], "{}", shown.out);
}
