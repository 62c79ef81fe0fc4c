//! Servers that a project names in `.mcp.json`: none of them is started before a person has seen the exact command and trusts it.

use std::fs;

use serde_json::json;
use testkit::mcp_server::WORDS;
use testkit::scenes::{call, calls, says, scene};
use testkit::world::World;

use crate::{server, world};

/// A project with a server that is started by a script of the project.
fn project() -> World {
    let world = world(&[scene("Count", &[calls(&[call("kit__count", "text = \"one\"")]), says("Done.")])]);
    fs::create_dir(world.path(".git")).expect("a repository");
    let server = server();
    let words: Vec<String> = server.iter().map(|word| format!("'{word}'")).collect();
    fs::write(world.path("serve.sh"), format!("touch started.txt\nexec {}\n", words.join(" "))).expect("a script");
    let file = json!({"mcpServers": {"kit": {"command": "sh", "args": ["serve.sh"], "env": {WORDS: "canary-value"}}}});
    fs::write(world.path(".mcp.json"), file.to_string()).expect("a file");
    world
}

fn run(world: &World) -> testkit::world::Done {
    world.launch(world.task_in("dangerous", "Count", &[])).done()
}

// T25, T47
#[test]
fn a_projects_server_is_started_only_after_its_exact_command_was_trusted() {
    let world = project();
    let done = run(&world);
    assert!(!world.path("started.txt").exists(), "it was started before anybody was asked");
    assert!(done.err.contains("1 MCP server"), "{}", done.err);

    let shown = world.call(&["trust", "--show"]);
    assert!(shown.out.contains("MCP server kit: sh serve.sh (variables: MCP_TEST_SERVER)"), "{}", shown.out);
    assert!(shown.out.contains("serve.sh") && !shown.out.contains("canary-value"), "{}", shown.out);

    world.call(&["trust", "--yes"]).answer(0);
    run(&world).answer(0);
    assert!(world.path("started.txt").exists());
    assert_eq!(world.lines("counted.txt"), ["one"]);
}

// T48
#[test]
fn a_script_that_a_trusted_server_runs_is_part_of_what_was_trusted() {
    let world = project();
    world.call(&["trust", "--yes"]).answer(0);
    let script = fs::read_to_string(world.path("serve.sh")).expect("a script");
    fs::write(world.path("serve.sh"), format!("touch canary.txt\n{script}")).expect("a script");
    let done = run(&world);
    assert!(!world.path("canary.txt").exists(), "the changed script was run");
    assert!(done.err.contains("changed since you decided"), "{}", done.err);
}

// T47
#[test]
fn a_projects_own_configuration_names_no_servers() {
    let world = project();
    fs::create_dir(world.path(".majordomo")).expect("a folder");
    fs::write(
        world.path(".majordomo/config.toml"),
        "[mcp.servers.evil]\ncommand = \"touch\"\nargs = [\"canary.txt\"]\n",
    )
    .expect("a file");
    world.call(&["trust", "--yes"]).answer(0);
    run(&world);
    assert!(!world.path("canary.txt").exists());
    let listed = world.call(&["mcp", "ls", "--json"]);
    assert!(!listed.out.contains("evil") && listed.out.contains("kit"), "{}", listed.out);
}

#[test]
fn a_wrong_entry_is_a_warning_and_the_others_count() {
    let world = project();
    let file = json!({"mcpServers": {
        "kit": {"command": "sh", "args": ["serve.sh"], "env": {WORDS: "${ROLE:-x}"}},
        "both": {"command": "x", "url": "http://y.test"},
        "old": {"type": "sse", "url": "http://y.test/sse"},
        "unset": {"command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}},
        "greedy": {"command": "x", "args": ["${ANTHROPIC_API_KEY}"]},
        "off": {"command": "x", "disabled": true},
    }});
    fs::write(world.path(".mcp.json"), file.to_string()).expect("a file");
    world.call(&["trust", "--yes"]).answer(0);
    let listed = world.call(&["mcp", "ls", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(listed.answer(0)).expect("JSON");
    assert_eq!(rows.as_array().expect("a list").len(), 1, "{rows}");
    for (name, why) in [
        ("both", "both a command and a url"),
        ("old", "streamable HTTP"),
        ("unset", "NOT_SET_ANYWHERE is not set"),
        ("greedy", "no server gets"),
    ] {
        assert!(
            listed.err.contains(&format!("MCP server {name} is left out")) && listed.err.contains(why),
            "{name}: {}",
            listed.err
        );
    }
}

// T19, T48
#[test]
fn a_script_that_a_server_runs_is_protected_from_agents() {
    let world = project();
    world.call(&["trust", "--yes"]).answer(0);
    let before = fs::read_to_string(world.path("serve.sh")).expect("a script");
    let write = call("write_file", "path = \"serve.sh\", content = \"touch canary.txt\"");
    let command = call("run_command", "command = \"echo 'touch canary.txt' > serve.sh\"");
    let by_server = call("kit__write", "path = \"serve.sh\", text = \"touch canary.txt\"");
    for (mode, calling) in [("auto", &write), ("auto", &command), ("dangerous", &write), ("dangerous", &by_server)] {
        world.rewrite(&[scene("Count", &[calls(std::slice::from_ref(calling)), says("Done.")])]);
        world.launch(world.task_in(mode, "Count", &["--approvals", "deny"])).done();
        assert_eq!(fs::read_to_string(world.path("serve.sh")).expect("a script"), before, "{mode}: {calling}");
    }
}

// T47, T61
#[test]
fn what_a_projects_server_is_given_of_the_environment_is_shown_and_its_value_never() {
    let world = project();
    let far = json!({"url": "http://127.0.0.1:1/${PLACE:-mcp}", "headers": {"X-Key": "${AWS_SECRET}"}});
    fs::write(world.path(".mcp.json"), json!({"mcpServers": {"far": far}}).to_string()).expect("a file");
    let say = |words: &[&str]| {
        let mut command = world.command(words);
        command.env("AWS_SECRET", "canary-secret").env("PLACE", "canary-place");
        world.launch(command).done()
    };
    let shown = say(&["trust", "--show"]);
    assert!(shown.out.contains("${PLACE:-mcp} (headers: X-Key from ${AWS_SECRET})"), "{}", shown.out);
    say(&["trust", "--yes"]).answer(0);
    for words in [&["mcp", "ls"][..], &["mcp", "ls", "--json"], &["trust", "--show"]] {
        let said = say(words);
        assert!(said.out.contains("far") && !said.out.contains("canary-"), "{words:?}: {}", said.out);
    }
}
