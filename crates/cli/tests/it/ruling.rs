//! Rules in files, from their text to what a child may do; and the commands that tell why (`explain`, `config show`, `doctor`).

use std::fs;

use testkit::model_server::{ModelServer, Turn};
use testkit::scenes::{call, calls, command, says, scene, spawn, spawn_with, waits_for_go};
use testkit::world::World;

use crate::setup::Setup;

const WRITES: &str = r#"
[[script]]
[[script.reply]]
calls = [{ name = "write_file", input = { path = "new.txt", content = "written" } }]
[[script.reply]]
text = "That is all."
"#;

const USER: &str = "home/.config/majordomo/config.toml";
const PROJECT: &str = "work/.majordomo/config.toml";
const STANDING: &str = "home/.local/share/majordomo/rules.toml";

fn put(setup: &Setup, path: &str, text: &str) {
    let path = setup.aside(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn rule(action: &str) -> String {
    format!("[[rules]]\ntool = \"write_file\"\npattern = \"new.*\"\naction = \"{action}\"\n")
}

// T10, T12
#[tokio::test]
async fn of_all_files_the_most_cautious_word_counts() {
    let cases = [
        ("ask", &[(USER, "allow")][..], 0, true),
        ("ask", &[(STANDING, "allow")], 0, true),
        ("ask", &[(PROJECT, "allow")], 5, false),
        ("auto", &[(USER, "ask")], 5, false),
        ("auto", &[(PROJECT, "ask")], 5, false),
        ("auto", &[(USER, "allow"), (PROJECT, "ask")], 5, false),
        ("ask", &[(STANDING, "allow"), (USER, "deny")], 0, false),
        ("auto", &[(USER, "allow"), (PROJECT, "deny")], 0, false),
        ("dangerous", &[(PROJECT, "ask")], 0, true),
        ("dangerous", &[(USER, "allow"), (STANDING, "deny")], 0, false),
        ("plan", &[(USER, "allow")], 0, false),
    ];
    for (mode, rules, code, is_written) in cases {
        let setup = Setup::new();
        for (path, action) in rules {
            put(&setup, path, &rule(action));
        }
        let model = setup.scripted(WRITES);
        setup.run(&["run", "-m", &model, "--mode", mode, "Go"]).await.exits(code);
        assert_eq!(setup.work("new.txt").exists(), is_written, "{mode} {rules:?}");
    }
}

// T13: the children run a command each while the rule is written, and want to run another.
#[test]
fn a_rule_that_is_written_while_children_run_holds_for_their_next_call() {
    let child = |name: &str| {
        let then = calls(&[command(&format!("echo {name} >> after"))]);
        scene(&format!("task {name}"), &[calls(&[waits_for_go(name)]), then, says("tried")])
    };
    let names = ["a", "b", "c"];
    let spawns: Vec<String> = names.iter().map(|name| spawn(&format!("task {name}"))).collect();
    let mut scenes = vec![scene("Go", &[calls(&spawns), says("done")])];
    scenes.extend(names.iter().map(|name| child(name)));
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &scenes);
    let running = world.run("Go", &[]);
    world.until_lines("begun", names.len());
    let config = world.path("../home/.config/majordomo/config.toml");
    fs::create_dir_all(config.parent().expect("a parent")).expect("a folder");
    fs::write(config, "[[rules]]\ntool = \"run_command\"\naction = \"deny\"\n").expect("a file");
    world.go();
    running.done().answer(0);
    assert_eq!(world.lines("after"), Vec::<String>::new());
    let root = world.root();
    let shown = world.call(&["thread", "show", root.as_str(), "--jsonl"]);
    let refused = "run_command is not permitted: rule: deny run_command";
    assert_eq!(shown.answer(0).matches(refused).count(), names.len(), "{}", shown.out);
}

// T43
#[test]
fn a_file_that_a_rule_forbids_to_read_is_reached_by_no_tool_and_by_no_child() {
    const CANARY: &str = "canary-4711";
    let read = |path: &str| call("read_file", &format!("path = {path:?}"));
    let ways = |at: &str| {
        calls(&[
            read("keys/one"),
            read("keys//./one"),
            read("link/one"),
            read(&format!("{at}/keys/one")),
            call("search_files", "pattern = \"canary\", context = 1"),
            call("search_files", "pattern = \"canary\", path = \"link/one\""),
            call("edit_file", "path = \"keys/one\", old_text = \"canary\", new_text = \"x\""),
            call("write_file", "path = \"keys/one\", content = \"x\""),
            command("cat keys/one link/one; mv keys k; cat k/one"),
        ])
    };
    let world = World::new(env!("CARGO_BIN_EXE_majordomo"), &[]);
    let at = world.path("").canonicalize().expect("a workspace").display().to_string();
    let spawned = spawn_with("Look too", ", agent = \"general\", files = [\"keys/one\", \"plain\"]");
    world.rewrite(&[
        scene("Look around", &[ways(&at), calls(&[spawned]), says("Done.")]),
        scene("Look too", &[ways(&at), says("Looked.")]),
    ]);
    fs::create_dir(world.path("keys")).expect("a folder");
    fs::write(world.path("keys/one"), CANARY).expect("a file");
    fs::write(world.path("plain"), "nothing special").expect("a file");
    std::os::unix::fs::symlink("keys", world.path("link")).expect("a link");
    let config = world.path("../home/.config/majordomo/config.toml");
    fs::create_dir_all(config.parent().expect("a parent")).expect("a folder");
    fs::write(config, "[[rules]]\ntool = \"read_file\"\npattern = \"keys/*\"\naction = \"deny\"\n").expect("a file");

    world.run("Look around", &[]).done().answer(0);
    let told = format!("{:?}", world.log().iter().map(|record| &record.event).collect::<Vec<_>>());
    assert!(!told.contains(CANARY), "{told}");
    assert!(told.contains("nothing special"), "what no rule forbids is given along: {told}");
    assert!(told.matches("read_file is not permitted: rule: deny read_file").count() >= 8, "{told}");
    assert_eq!(fs::read_to_string(world.path("keys/one")).expect("the file"), CANARY, "it stays as it was");
}

// T33: a repository whose settings and names would run something if git, or a shell, were asked about it.
#[tokio::test]
async fn nothing_of_ours_asks_git_or_a_shell_about_a_hostile_repository() {
    let script = r#"
[[script]]
[[script.reply]]
calls = [
    { name = "list_dir", input = { depth = 3 } },
    { name = "find_files", input = { pattern = "*" } },
    { name = "search_files", input = { pattern = "x" } },
    { name = "read_file", input = { path = "$(touch canary)" } },
    { name = "write_file", input = { path = "new `touch canary`", content = "x" } },
]
[[script.reply]]
text = "Done."
"#;
    let setup = Setup::new();
    let touch = format!("touch {}", setup.work("canary").display());
    let config = format!(
        "[core]\nfsmonitor = {touch}\nhooksPath = hooks\npager = {touch}\n[user]\nemail = $({touch})\n\
         [filter \"x\"]\nsmudge = {touch}\nclean = {touch}\n[diff]\nexternal = {touch}\n"
    );
    for (path, text) in [
        (".git/config", config.as_str()),
        (".git/HEAD", "ref: refs/heads/$(touch canary)"),
        (".gitattributes", "* filter=x diff=x"),
        ("hooks/post-checkout", "#!/bin/sh\ntouch canary\n"),
        ("$(touch canary)", "x"),
        ("-x; touch canary", "x"),
    ] {
        fs::create_dir_all(setup.work(path).parent().expect("a parent")).expect("a folder");
        setup.write(path, text);
    }
    let model = setup.scripted(script);
    let ran = setup.run(&["run", "-m", &model, "--mode", "auto", "--json", "Look around"]).await.exits(0).json();
    let root = ran["thread"].as_str().expect("a thread").to_owned();
    for words in [&["thread", "show", &root][..], &["doctor"], &["config", "show"], &["agents", "ls"]] {
        let _ = setup.run(words).await;
    }
    assert!(setup.work("new `touch canary`").exists(), "the run did its work");
    assert!(!setup.work("canary").exists());
}

#[tokio::test]
async fn rules_are_shown_with_their_origin_and_a_wrong_one_stops_everything() {
    let setup = Setup::new();
    put(&setup, USER, &rule("deny"));
    let shown = setup.run(&["config", "show"]).await.exits(0).stdout;
    let value = r#"= {"action":"deny","pattern":"new.*","tool":"write_file"}  # "#;
    let line = shown.lines().find(|line| line.starts_with("rules ")).expect("a rule");
    assert!(line.contains(value) && line.ends_with("config.toml:2"), "{line}");
    let json = setup.run(&["config", "show", "--json"]).await.exits(0).json();
    let last = json.as_array().and_then(|list| list.last()).expect("a rule");
    assert_eq!((last["key"].as_str(), last["value"]["action"].as_str()), (Some("rules"), Some("deny")));

    put(&setup, USER, &rule("forbid"));
    let model = setup.scripted(WRITES);
    let ran = setup.run(&["run", "-m", &model, "Go"]).await.exits(3);
    assert!(ran.stderr.contains("config.toml:2: rules.action expects one of allow, ask, deny"), "{}", ran.stderr);
}

#[tokio::test]
async fn explain_tells_the_chain_the_rule_and_the_verdict() {
    let setup = Setup::new();
    let script = r#"
[[script]]
on = "Go"
[[script.reply]]
calls = [{ name = "spawn_agent", input = { task = "Help", agent = "general", mode = "ask" } }]
[[script.reply]]
text = "Done."
[[script]]
on = "Help"
[[script.reply]]
text = "Helped."
"#;
    let model = setup.scripted(script);
    let ran = setup.run(&["run", "-m", &model, "--mode", "auto", "--json", "Go"]).await.exits(0).json();
    let root = ran["thread"].as_str().expect("a thread").to_owned();
    let child = format!("{root}.1");
    put(&setup, USER, &rule("ask"));
    let file = setup.aside(USER).display().to_string();

    let told = setup.run(&["explain", &child, "write_file", "new.txt"]).await.exits(0).stdout;
    assert_eq!(told.replace(&child, "CHILD").replace(&file, "FILE"), EXPLAINED);

    let told = setup.run(&["explain", &child, "write_file", r#"{"path":"new.txt","content":"x"}"#, "--json"]).await;
    let told = told.exits(0).json();
    assert_eq!((told["action"].as_str(), told["chain"][0]["agent"].as_str()), (Some("ask"), Some("general")));
    assert_eq!((told["subjects"][0].as_str(), told["origin"].as_str()), (Some("new.txt"), Some("built_in")));

    let told = setup.run(&["explain", &root, "run_command", "git status"]).await.exits(0).stdout;
    assert!(told.contains("subjects   git status"), "{told}");
    for (words, code) in [(["explain", &root, "fly", "x"], 2), (["explain", "nobody", "read_file", "x"], 2)] {
        setup.run(&words).await.exits(code);
    }
}

const EXPLAINED: &str = "\
write_file of CHILD (general)
  origin     built in
  effect     creates the file new.txt
  reach      the workspace
  risk       medium
  subjects   new.txt
  protected  none
general  auto       ask    rule: ask write_file 'new.*' (FILE:2)
general  ask        ask    rule: ask write_file 'new.*' (FILE:2)
verdict: ask, rule: ask write_file 'new.*' (FILE:2) (agent general)
";

#[tokio::test]
async fn the_doctor_finds_all_well_or_says_what_is_not() {
    let setup = Setup::new().with("ANTHROPIC_API_KEY", "sk-canary");
    let ran = setup.run(&["doctor"]).await.exits(0);
    assert!(ran.stdout.contains("ANTHROPIC_API_KEY is set") && !ran.stdout.contains("canary"), "{}", ran.stdout);
    assert!(ran.stdout.contains("database      not created yet"), "{}", ran.stdout);
    assert!(!setup.aside("home/.local/share/majordomo/majordomo.db").exists(), "it only looks");

    let model = setup.scripted(WRITES);
    setup.run(&["run", "-m", &model, "Go"]).await.exits(5);
    put(&setup, USER, &rule("deny"));
    put(&setup, PROJECT, "agent = \"plan\"");
    let findings = setup.run(&["doctor", "--json"]).await.exits(0).json();
    let of = |about: &str| {
        let all = findings["findings"].as_array().expect("a list").iter();
        all.filter(|finding| finding["about"] == about).map(|finding| finding["says"].to_string()).collect::<String>()
    };
    assert!(of("database").contains("schema ") && of("database").contains("SQLite 3."), "{findings}");
    assert!(of("household").contains("not configured; set household.folder"), "{findings}");
    assert!(of("rules").contains("1 in ") && of("trust").contains("not in effect: agent"), "{findings}");
    assert!(!of("sandbox").is_empty(), "{findings}");

    put(&setup, USER, "mode = \"yolo\"");
    assert!(setup.run(&["doctor"]).await.exits(3).stdout.contains("broken configuration"));
    let without = Setup::new();
    assert!(
        without.run(&["doctor"]).await.exits(0).stdout.contains("the offline rules engine, for the household only")
    );
    assert!(without.run(&["doctor", "-a", "general"]).await.exits(1).stdout.contains("no model is configured"));
}

#[tokio::test]
async fn the_doctor_finds_a_damaged_database() {
    let setup = Setup::new().with("ANTHROPIC_API_KEY", "k");
    let model = setup.scripted(WRITES);
    setup.run(&["run", "-m", &model, "Go"]).await.exits(5);
    let database = setup.aside("home/.local/share/majordomo/majordomo.db");
    // With its log folded in, so that what is damaged is what is read.
    let whole = rusqlite::Connection::open(&database).expect("a database");
    whole.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("folded in");
    drop(whole);
    let mut bytes = fs::read(&database).expect("a database");
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xaa);
    fs::write(&database, bytes).expect("damaged");
    let ran = setup.run(&["doctor"]).await.exits(1);
    assert!(ran.stdout.contains("broken database"), "{}", ran.stdout);
}

// T62: without a chain of hashes a letter that is changed inside a text is not noticed; an event that was taken away, or that is no
// event any more, is named by its number. A chain is deliberately absent: its hashes would lie in the same file, so that what can change an event can write them
// anew, and against the disk the database has its own check. What keeps others out is that only the owner of the file can write it (T45), and no tool.
#[tokio::test]
async fn the_doctor_names_events_that_were_removed_or_spoilt() {
    for (change, found) in [
        ("DELETE FROM events WHERE seq = 3", "event 3 is missing"),
        ("DELETE FROM events WHERE seq IN (4, 5)", "events 4 to 5 are missing"),
        ("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)", " is missing"),
        (
            "UPDATE events SET body = replace(body, '{\"run_started\"', '{\"run_st\u{7f}rted\"') WHERE seq = 3",
            "event 3 cannot be read",
        ),
        ("UPDATE events SET body = substr(body, 1, length(body) - 1) WHERE seq = 6", "event 6 cannot be read"),
        ("UPDATE events SET seq = seq + 1000000 WHERE seq = 2", "event 2 is missing"),
    ] {
        let setup = Setup::new().with("ANTHROPIC_API_KEY", "k");
        let model = setup.scripted(WRITES);
        setup.run(&["run", "-m", &model, "Go"]).await.exits(5);
        let whole = setup.run(&["doctor"]).await;
        assert!(whole.stdout.contains("integrity check passed"), "{}", whole.stdout);
        let root =
            setup.run(&["thread", "ls", "--json"]).await.exits(0).json()[0]["id"].as_str().expect("an id").to_owned();
        let database = setup.aside("home/.local/share/majordomo/majordomo.db");
        let changed = rusqlite::Connection::open(&database).expect("a database").execute(change, []).expect("a change");
        assert!(changed > 0, "{change}");
        let ran = setup.run(&["doctor"]).await.exits(1);
        assert!(
            ran.stdout.contains(&format!("run {root}: event")) && ran.stdout.contains(found),
            "{change}: {}",
            ran.stdout
        );
    }
}

// T49
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_looks_like_a_flag_is_data() {
    for task in ["--settings=/tmp/evil.json", "--set=mode=dangerous", "--mode=dangerous"] {
        let server = ModelServer::start(|_| Turn::text("Heard.")).await;
        let setup = Setup::at(provider::Wire::Anthropic, &server);
        setup.run(&["run", "--", task]).await.exits(0);
        setup.run_with_input(&["run", "-"], task).await.exits(0);
        let heard: Vec<String> = server.requests().iter().map(|request| request.first_words.clone()).collect();
        assert_eq!(heard, [task, task]);
        let listed = setup.run(&["thread", "ls", "--json"]).await.exits(0).json();
        assert!(!listed.to_string().contains("\"dangerous\""), "{listed}");
    }
    let server = ModelServer::start(|_| Turn::text("Heard.")).await;
    let setup = Setup::at(provider::Wire::Anthropic, &server);
    setup.run(&["run", "--settings=/tmp/evil.json"]).await.exits(2);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_rule_for_a_tool_that_is_not_there_is_told_of() {
    let setup = Setup::new();
    let rule = |tool: &str| format!("[[rules]]\ntool = \"{tool}\"\npattern = \"git push*\"\naction = \"deny\"\n");
    let told = |tool: &'static str| {
        put(&setup, USER, &rule(tool));
        setup.run(&["config", "show"])
    };
    let ran = told("run_comand").await.exits(0);
    assert!(ran.stderr.contains("no tool is named 'run_comand'"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean run_command?"), "{}", ran.stderr);
    let doctor = setup.run(&["doctor"]).await;
    assert!(doctor.stdout.contains("this rule decides nothing"), "{}", doctor.stdout);
    assert!(told("Bash*").await.exits(0).stderr.contains("no tool is named 'Bash*'"));
    for tool in
        ["run_command", "*", "write_*", "web_search", "spawn_agent", "task_add", "github__create_issue", "skill"]
    {
        let ran = told(tool).await.exits(0);
        assert!(!ran.stderr.contains("no tool is named"), "{tool}: {}", ran.stderr);
    }
}
