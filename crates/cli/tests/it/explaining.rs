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
            done.insert((name.to_string(), input.text().to_owned()), action(&verdict.what));
        }
    }
    done
}

/// A verdict as a word of the rules.
fn action(verdict: &VerdictKind) -> &'static str {
    match verdict {
        VerdictKind::Run { .. } | VerdictKind::Verb => "allow",
        VerdictKind::Asked { .. } | VerdictKind::VerbAsked => "ask",
        // No person is there to be asked, so that the call is refused.
        VerdictKind::Refused { rule: Some(_), .. } => "ask",
        VerdictKind::Refused { rule: None, .. } => "deny",
    }
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

// T69: a hook may refuse what is allowed. Explain runs none, and says which a run asks; files that they name are protected for both.
#[test]
fn explain_names_the_hooks_that_may_refuse_a_call_and_protects_the_files_that_they_name() {
    let write = |path: &str| ("write_file", json!({ "path": path, "content": "x" }));
    let wanted = [write("new.txt"), write("guard.sh"), ("read_file", json!({ "path": "there" }))];
    let script = wanted.clone().map(|(name, input)| call(name, toml(&input).trim_matches(['{', '}']).trim()));
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[scene("Go", &[calls(&script), says("Done.")])]);
    fs::write(world.path("there"), "a").expect("a file");
    fs::write(world.path("guard.sh"), "echo 'not on a Friday' >&2; exit 2").expect("a file");
    let folder = world.path("../home/.config/majordomo");
    fs::create_dir_all(&folder).expect("a folder");
    let command = |command: &str| json!([{ "type": "command", "command": command }]);
    let hooks = json!({ "hooks": {
        "PreToolUse": [{ "matcher": "Write|Edit", "hooks": command("sh ./guard.sh") }],
        "PostToolUse": [{ "matcher": "Write", "hooks": command("true") }],
        "SubagentStart": [{ "hooks": command("exit 0") }],
    } });
    fs::write(folder.join("hooks.json"), hooks.to_string()).expect("a file");
    fs::write(folder.join("config.toml"), "[[rules]]\ntool = \"edit_file\"\naction = \"deny\"\n").expect("a file");
    let model = format!("scripted/{}", world.path("../script.toml").display());
    let run = world.command(&["run", "Go", "--model", &model, "--mode", "auto", "--approvals", "deny"]);
    world.launch(run).done();
    let done = done(&world);
    assert!(!world.path("new.txt").exists(), "the hook has refused it");

    let root = world.root();
    let explained = |tool: &str, input: &str| -> Value {
        let told = world.call(&["explain", root.as_str(), tool, input, "--json"]);
        serde_json::from_str(told.answer(0)).expect("JSON")
    };
    assert_eq!(done.len(), wanted.len());
    for ((tool, input), action) in &done {
        assert_eq!(explained(tool, input)["action"], *action, "{tool} {input}");
    }
    let told = explained("write_file", &wanted[0].1.to_string());
    assert_eq!((told["action"].as_str(), told["hooks"].as_array().map(Vec::len)), (Some("allow"), Some(1)), "{told}");
    assert_eq!(told["hooks"][0]["command"], "sh ./guard.sh");
    assert_eq!(
        (&told["hooks"][0]["event"], &told["hooks"][0]["matcher"]),
        (&json!("PreToolUse"), &json!("Write|Edit"))
    );
    assert!(told["hooks"][0]["file"].as_str().is_some_and(|file| file.ends_with("majordomo/hooks.json")), "{told}");
    let told = explained("write_file", &wanted[1].1.to_string());
    assert_eq!(
        (&told["action"], &told["protected"]),
        (&json!("ask"), &json!(["files of servers and hooks"])),
        "{told}"
    );
    assert_eq!(explained("read_file", &wanted[2].1.to_string())["hooks"], json!([]));
    assert_eq!(explained("spawn_agent", r#"{"task": "Help"}"#)["hooks"][0]["event"], "SubagentStart");
    let denied = explained("edit_file", r#"{"path": "there", "old_text": "a", "new_text": "b"}"#);
    assert_eq!((&denied["action"], &denied["hooks"]), (&json!("deny"), &json!([])), "no hook hears of it");
    let told = world.call(&["explain", root.as_str(), "write_file", "new.txt"]);
    let line = "  hook       may refuse it in a run: PreToolUse (Write|Edit): sh ./guard.sh (";
    assert!(told.answer(0).contains(line), "{}", told.out);
}

/// Rules about paths and commands.
const RULES_ON_PATHS: &str = r#"
[[rules]]
tool = "*_file"
pattern = "keys/*"
action = "deny"
[[rules]]
tool = "read_file"
pattern = "link/*"
action = "ask"
[[rules]]
tool = "write_file"
pattern = "deep/**"
action = "allow"
[[rules]]
tool = "run_command"
pattern = "cat *"
action = "ask"
[[rules]]
tool = "run_command"
pattern = "touch deep/*"
action = "allow"
"#;

/// Paths of every kind: in the workspace and outside, protected, through links, and spelled oddly. `{}` is the workspace.
const PATHS: [&str; 40] = [
    "there",
    "new.txt",
    "deep/er/file",
    "deep/../there",
    "./there",
    "there/",
    "there/below",
    "missing/file",
    ".",
    "..",
    "",
    " there",
    "there\u{200b}",
    "the\u{301}re",
    "{}/there",
    "{}/../outside",
    "../outside",
    "../work/there",
    "deep/../../outside",
    "/etc/hostname",
    "/",
    "/dev/null",
    "/proc/self/environ",
    "~/.ssh/id_rsa",
    "../state/majordomo.db",
    "../home/.config/majordomo/config.toml",
    "keys/one",
    "deep/../keys/one",
    "KEYS/one",
    ".git/config",
    "deep/.git/hooks/post-commit",
    ".GIT/config",
    ".envrc",
    ".vscode/tasks.json",
    "link/file",
    "link-to-there",
    "link-outside",
    "link-outside/file",
    "link-to-git/config",
    "dangling",
];

/// Every call about a path: the tools of files, and commands that read, write and hide what they do.
fn calls_on(path: &str) -> Vec<(&'static str, Value)> {
    let command = |command: String| ("run_command", json!({ "command": command }));
    let quoted = format!("'{path}'");
    vec![
        ("read_file", json!({ "path": path })),
        ("list_dir", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
        ("edit_file", json!({ "path": path, "old_text": "a", "new_text": "b" })),
        ("search_files", json!({ "pattern": "a", "path": path })),
        command(format!("cat {quoted}")),
        command(format!("touch {quoted}")),
        command(format!("ls > {quoted}")),
        ("run_command", json!({ "command": "ls", "cwd": path })),
    ]
}

/// A workspace with links, a repository and keys.
fn furnish(world: &World) {
    for folder in ["deep/er", "keys", ".git/hooks", "real"] {
        fs::create_dir_all(world.path(folder)).expect("a folder");
    }
    for file in ["there", "keys/one", ".git/config", "real/file", "../outside"] {
        fs::write(world.path(file), "a").expect("a file");
    }
    let links = [
        ("link", "real"),
        ("link-to-there", "there"),
        ("link-outside", "../"),
        ("link-to-git", ".git"),
        ("dangling", "nowhere"),
    ];
    for (link, target) in links {
        std::os::unix::fs::symlink(target, world.path(link)).expect("a link");
    }
}

// T69: for every path, too. A case takes every fifth call, beginning with another one; together they take all.
#[test]
fn explain_says_of_every_path_what_a_run_does_with_it() {
    let modes = ["plan", "ask", "auto", "dangerous"];
    let cases: Vec<(usize, (&str, &str))> =
        modes.into_iter().flat_map(|mode| [(mode, ""), (mode, RULES_ON_PATHS)]).enumerate().collect();
    let said: Vec<&str> = std::thread::scope(|scope| {
        let play = |(nth, (mode, rules)): &(usize, (&'static str, &'static str))| {
            let (nth, mode, rules) = (*nth, *mode, *rules);
            scope.spawn(move || compared_on_paths(mode, rules, nth))
        };
        let played: Vec<_> = cases.iter().map(play).collect();
        played.into_iter().flat_map(|case| case.join().expect("a case that holds")).collect()
    });
    for action in ["allow", "ask", "deny"] {
        let count = said.iter().filter(|said| **said == action).count();
        assert!(count > 50, "{count} of {} are {action}", said.len());
    }
}

/// Asks `explain` about calls of a thread that has only said hello, then lets another run make them.
fn compared_on_paths(mode: &str, rules: &str, nth: usize) -> Vec<&'static str> {
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[scene("Hello", &[says("Hello.")])]);
    furnish(&world);
    let workspace = fs::canonicalize(world.path(".")).expect("a folder");
    let paths = PATHS.map(|path| path.replace("{}", &workspace.display().to_string()));
    let wanted: Vec<(&str, Value)> = paths
        .iter()
        .flat_map(|path| calls_on(path))
        .enumerate()
        .filter(|(at, _)| (at + nth).is_multiple_of(5))
        .map(|(_, call)| call)
        .collect();
    let config = world.path("../home/.config/majordomo/config.toml");
    fs::create_dir_all(config.parent().expect("a parent")).expect("a folder");
    fs::write(config, rules).expect("a file");
    let model = format!("scripted/{}", world.path("../script.toml").display());
    let run = |task: &str| world.command(&["run", task, "--model", &model, "--mode", mode, "--approvals", "deny"]);
    world.launch(run("Hello")).done();
    let hello = world.root();
    let told: Vec<Value> = wanted
        .iter()
        .map(|(tool, input)| {
            let told = world.call(&["explain", hello.as_str(), tool, &input.to_string(), "--json"]);
            serde_json::from_str(told.answer(0)).expect("JSON")
        })
        .collect();

    let script: Vec<String> =
        wanted.iter().map(|(name, input)| call(name, toml(input).trim_matches(['{', '}']).trim())).collect();
    world.rewrite(&[scene("Go", &[calls(&script), says("Done.")])]);
    world.launch(run("Go")).done();
    let done = verdicts(&world, &hello);
    assert_eq!(done.len(), wanted.len(), "every call has its own verdict");
    for (((tool, input), told), action) in wanted.iter().zip(&told).zip(&done) {
        let with = if rules.is_empty() { "without rules" } else { "with rules" };
        assert_eq!(told["action"], *action, "{mode} {with}: {tool} {input}: {told}");
    }
    done
}

/// What the first answer of the other root did with each of its calls, in their order.
fn verdicts(world: &World, but: &agent::ThreadId) -> Vec<&'static str> {
    let log = world.log();
    let mut answers = log.iter().filter(|record| record.thread.is_root() && record.thread != *but);
    let answered = answers.find_map(|record| match &*record.event {
        Event::Answered(answered) => Some(answered),
        _ => None,
    });
    answered.expect("an answer").verdicts.iter().map(|verdict| action(&verdict.what)).collect()
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
