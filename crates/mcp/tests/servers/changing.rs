//! Tools that change after they were approved, and tools that are found instead of shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use majordomo_mcp::{CALL_TOOL, Change, Connection, FIND_TOOLS, ServerSettings, ToolState};

use crate::rig::{Rig, server};

// T50
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_described_in_other_words_is_off_until_a_person_approves_them() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    let published = Arc::new(AtomicUsize::new(0));
    let counts = published.clone();
    rig.servers.follow(move || {
        counts.fetch_add(1, Ordering::SeqCst);
    });
    assert!(rig.names().contains(&"kit__echo".to_owned()), "the first list is taken with the server");
    rig.call("kit__change", "{}").await;
    rig.until("another list", |_| published.load(Ordering::SeqCst) > 0).await;
    assert!(!rig.names().contains(&"kit__echo".to_owned()), "off");
    assert!(rig.names().contains(&"kit__write".to_owned()), "the others stay");
    let status = rig.servers.status();
    let echo = status[0].tools.iter().find(|(tool, _)| &*tool.own_name == "echo").expect("it is offered");
    assert_eq!(echo.1, ToolState::Off(Change::Description("Returns the text".into())), "the difference is shown");

    rig.servers.approve(&rig.server()).await.expect("kept");
    assert!(rig.names().contains(&"kit__echo".to_owned()), "on again");
    rig.servers.close().await;
}

// T50, F41
#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_or_different_at_the_next_start_is_off() {
    let first = Rig::started(vec![server("kit", "")]).await;
    first.servers.close().await;
    let second = Rig::with_pins(vec![server("kit", "other,tools=2")], first.pins.clone());
    second.servers.start().await;
    let names = second.names();
    assert!(!names.contains(&"kit__echo".to_owned()) && !names.contains(&"kit__report_0".to_owned()), "{names:?}");
    assert!(names.contains(&"kit__count".to_owned()));
    let third = Rig::with_pins(vec![server("kit", "")], first.pins.clone());
    third.servers.start().await;
    assert!(third.names().contains(&"kit__echo".to_owned()), "what was approved is on as long as it is the same");
    second.servers.close().await;
    third.servers.close().await;
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_could_not_be_used_at_the_start_is_tried_again_until_it_can() {
    let rig = Rig::started(vec![server("kit", "exit=licence.txt")]).await;
    assert!(rig.server().failure().is_some() && rig.names().is_empty());
    let published = Arc::new(AtomicUsize::new(0));
    let counts = published.clone();
    rig.servers.follow(move || {
        counts.fetch_add(1, Ordering::SeqCst);
    });
    std::fs::write(rig.path("licence.txt"), "").expect("a file");
    rig.until("its tools", |rig| published.load(Ordering::SeqCst) > 0 && !rig.names().is_empty()).await;
    assert_eq!(rig.server().failure(), None);
    assert!(rig.names().contains(&"kit__echo".to_owned()), "its first list is taken with it: {:?}", rig.names());
    rig.servers.close().await;
}

// T50, F41
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_with_other_tools_in_a_running_process_has_them_off() {
    let rig = Rig::started(vec![server("kit", "other=other.txt")]).await;
    rig.servers.follow(|| {});
    assert!(rig.names().contains(&"kit__echo".to_owned()));
    std::fs::write(rig.path("other.txt"), "").expect("a file");
    assert!(rig.call("kit__die", "{}").await.content.contains("outcome unknown"));
    // The next call starts it again, and its tools are listed anew without another one.
    assert_eq!(&*rig.call("kit__count", r#"{"text": "one"}"#).await.content, "counted");
    rig.until("the difference", |rig| !rig.names().contains(&"kit__echo".to_owned())).await;
    assert!(rig.names().contains(&"kit__count".to_owned()), "the others stay");
    rig.servers.close().await;
}

// T48
#[tokio::test(flavor = "multi_thread")]
async fn a_script_of_the_workspace_that_was_changed_is_not_run_when_its_server_is_started_again() {
    let mut scripted = server("kit", "");
    let Connection::Program { command, env, .. } = scripted.connection.clone() else { panic!("it is a program") };
    let words: Vec<String> = command.iter().map(|word| format!("'{word}'")).collect();
    scripted.connection = Connection::Program { command: vec!["sh".to_owned(), "serve.sh".to_owned()], env, cwd: None };
    let script = format!("exec {}\n", words.join(" "));
    let rig = Rig::with_file("serve.sh", &script, vec![scripted]);
    rig.servers.start().await;
    assert_eq!(rig.server().failure(), None);
    rig.call("kit__write", r#"{"path": "serve.sh", "text": "touch canary.txt"}"#).await;
    rig.call("kit__die", "{}").await;
    let result = rig.call("kit__echo", r#"{"text": "again"}"#).await;
    assert!(result.is_error && result.content.contains("serve.sh"), "{}", result.content);
    assert!(!rig.path("canary.txt").exists());
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_a_large_server_are_found_and_not_shown() {
    let large = ServerSettings { schema_tokens: 600, ..server("big", "tools=300") };
    let rig = Rig::started(vec![large, server("small", "")]).await;
    let registry = rig.servers.registry(|_| false);
    let deferred = registry.deferred();
    assert!(deferred.contains("big__report_299") && !deferred.contains("small__echo"), "{}", deferred.len());
    assert!(registry.get(FIND_TOOLS).is_some() && registry.get(CALL_TOOL).is_some());
    let found = rig.call(FIND_TOOLS, r#"{"query": "report 217 about salaries"}"#).await;
    assert!(found.foreign.is_some(), "descriptions are a server's words");
    assert!(found.content.len() < 8_000, "{} bytes", found.content.len());
    let exact = rig.call(FIND_TOOLS, r#"{"query": "big__report_217"}"#).await;
    assert!(
        exact.content.starts_with("big__report_217: ") && exact.content.contains("\"properties\""),
        "{}",
        exact.content
    );
    let none = rig.call(FIND_TOOLS, r#"{"query": "zebra crossing"}"#).await;
    assert!(none.content.contains("no tool fits"), "{}", none.content);
    // T14
    let mut stranger = rig.context("tu_1");
    stranger.tools = Arc::from([]);
    let hidden = rig.call_in(FIND_TOOLS, r#"{"query": "report"}"#, &stranger).await;
    assert!(hidden.content.contains("no tool fits"), "a thread finds only what it has: {}", hidden.content);
    let refused = rig.call(CALL_TOOL, r#"{"tool": "big__report_1"}"#).await;
    assert!(refused.is_error && refused.content.contains("nothing was called"), "{}", refused.content);
    rig.servers.close().await;
}
