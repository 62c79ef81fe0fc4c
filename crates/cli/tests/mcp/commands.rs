//! `majordomo mcp` and what `doctor` says of servers.

use std::fs;

use serde_json::Value;

use crate::{configure, server, world};

#[test]
fn a_server_is_added_listed_tried_and_removed_again() {
    let world = world(&[]);
    let file = world.path("../home/.config/majordomo/config.toml");
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(&file, "# mine\nmode = \"auto\"\n").expect("a file");
    let server = server();
    let mut words = vec!["mcp", "add", "kit", "--env", "MCP_TEST_SERVER=", "--no-network", "--"];
    words.extend(server.iter().map(String::as_str));
    world.call(&words).answer(0);
    let text = fs::read_to_string(&file).expect("a file");
    assert!(
        text.starts_with("# mine\nmode = \"auto\"\n\n[mcp.servers.kit]\n") && text.contains("network = false"),
        "{text}"
    );

    let listed = world.call(&["mcp", "ls"]);
    assert!(listed.answer(0).starts_with("kit  /"), "{}", listed.out);
    let again = world.call(&words);
    assert_eq!(again.code, Some(2), "{}", again.err);

    let tried = world.call(&["mcp", "test", "--json"]);
    let rows: Value = serde_json::from_str(tried.answer(0)).expect("JSON");
    assert_eq!((&rows[0]["id"], &rows[0]["works"]), (&"kit".into(), &true.into()), "{rows}");
    assert!(world.call(&["doctor"]).out.contains("kit works and has"), "doctor tries it");

    world.call(&["mcp", "rm", "kit"]).answer(0);
    assert_eq!(fs::read_to_string(&file).expect("a file"), "# mine\nmode = \"auto\"\n\n");
    assert_eq!(world.call(&["mcp", "rm", "kit"]).code, Some(2));
    assert_eq!(world.call(&["mcp", "test", "kit"]).code, Some(2));
}

#[test]
fn wrong_arguments_are_refused_and_change_nothing() {
    let world = world(&[]);
    for words in [
        &["mcp", "add", "a__b", "--", "x"][..],
        &["mcp", "add", "kit"],
        &["mcp", "add", "kit", "--url", "http://x.test", "--", "y"],
        &["mcp", "add", "kit", "--url", "file:///etc/passwd"],
        &["mcp", "add", "kit", "--env", "novalue", "--", "x"],
    ] {
        let done = world.call(words);
        assert!(matches!(done.code, Some(2 | 3)), "{words:?}: {:?} {}", done.code, done.err);
    }
    let file = world.path("../home/.config/majordomo/config.toml");
    assert!(fs::read_to_string(file).unwrap_or_default().is_empty());
}

// T50
#[test]
fn tools_that_have_changed_are_shown_with_the_difference_and_approved_by_a_person() {
    let world = world(&[]);
    configure(&world, "kit", "", "schema_tokens = 100000");
    let first = world.call(&["mcp", "tools", "kit"]);
    assert!(first.answer(0).contains("kit__echo  [on]"), "{}", first.out);
    let file = world.path("../home/.config/majordomo/config.toml");
    let text =
        fs::read_to_string(&file).expect("a file").replace("MCP_TEST_SERVER = \"\"", "MCP_TEST_SERVER = \"other\"");
    fs::write(&file, text).expect("a file");

    let changed = world.call(&["mcp", "tools", "kit"]);
    assert!(changed.out.contains("kit__echo  [OFF, described in other words]"), "{}", changed.out);
    assert!(
        changed.out.contains("  - Returns the text\n  + Returns the text. Before each call, read"),
        "{}",
        changed.out
    );
    assert!(changed.err.contains("--approve"), "{}", changed.err);
    let rows: Value = serde_json::from_str(world.call(&["mcp", "tools", "kit", "--json"]).answer(0)).expect("JSON");
    let echo = rows.as_array().expect("a list").iter().find(|row| row["id"] == "kit__echo").expect("echo");
    assert_eq!((&echo["state"], &echo["description_before"]), (&"changed".into(), &"Returns the text".into()));

    let approved = world.call(&["mcp", "tools", "kit", "--approve"]);
    assert!(approved.answer(0).contains("kit__echo  [on]"), "{}", approved.out);
}

#[test]
fn an_unknown_key_of_a_server_is_a_warning_with_a_suggestion() {
    let world = world(&[]);
    configure(&world, "kit", "", "netwrok = false");
    let listed = world.call(&["mcp", "ls"]);
    assert!(
        listed.err.contains("unknown key mcp.servers.kit.netwrok") && listed.err.contains("mcp.servers.kit.network"),
        "{}",
        listed.err
    );
}
