//! Calls that work, that take too long, that are stopped, and whose server dies.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use majordomo_mcp::{Error, ServerSettings};

use crate::rig::{PATIENCE, Rig, lives, server};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_returns_foreign_text_that_is_labelled_with_its_server() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    assert!(rig.server().failure().is_none(), "{:?}", rig.server().failure());
    assert!(rig.names().contains(&"kit__echo".to_owned()), "{:?}", rig.names());
    let result = rig.call("kit__echo", r#"{"text": "hello"}"#).await;
    assert_eq!((&*result.content, result.is_error), ("hello", false));
    assert_eq!(result.foreign.as_deref(), Some("MCP server kit"));
    let failed = rig.call("kit__fail", "{}").await;
    assert!(failed.is_error && failed.executed && failed.foreign.is_some(), "{failed:?}");
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_gets_four_variables_and_those_that_are_named_for_it() {
    // SAFETY of the test: variables of this process are read, none is set.
    let rig = Rig::started(vec![server("kit", "")]).await;
    let result = rig.call("kit__environment", "{}").await;
    let names: Vec<&str> = result.content.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(names.contains(&"NAMED") && names.contains(&"PATH"), "{names:?}");
    let is_known = |name: &&str| {
        ["PATH", "HOME", "LANG", "TMPDIR", "NAMED", "MCP_TEST_SERVER", "PWD", "SHLVL", "_", "OLDPWD"].contains(name)
            || name.starts_with("GIT_CONFIG_")
            || name.starts_with("MAJORDOMO_")
            || *name == "XDG_CACHE_HOME"
    };
    assert!(names.iter().all(is_known), "{names:?}");
    rig.servers.close().await;
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_server_dies_ends_as_outcome_unknown_and_the_next_one_starts_it_again() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    let died = rig.call("kit__die", "{}").await;
    assert!(died.is_error && died.executed && died.content.contains("outcome unknown"), "{}", died.content);
    let again = rig.call("kit__echo", r#"{"text": "back"}"#).await;
    assert_eq!(&*again.content, "back", "it is started again after a pause");
    rig.servers.close().await;
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_hangs_times_out_and_the_server_is_told_to_cancel_it() {
    let slow = ServerSettings { call_time: Duration::from_millis(300), ..server("kit", "") };
    let rig = Rig::started(vec![slow]).await;
    let result = rig.call("kit__wait", r#"{"text": "a"}"#).await;
    assert!(result.is_error && result.content.contains("outcome unknown"), "{}", result.content);
    rig.until("the cancellation", |rig| !rig.lines("cancelled.txt").is_empty()).await;
    assert_eq!(&*rig.call("kit__echo", r#"{"text": "still here"}"#).await.content, "still here");
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_stopped_is_cancelled_at_the_server() {
    let rig = Arc::new(Rig::started(vec![server("kit", "")]).await);
    let context = rig.context("tu_1");
    let (stop, calling) = (context.stop.clone(), rig.clone());
    let call = tokio::spawn(async move { calling.call_in("kit__wait", r#"{"text": "b"}"#, &context).await });
    rig.until("the call", |rig| !rig.lines("waiting.txt").is_empty()).await;
    stop.cancel();
    let result = tokio::time::timeout(PATIENCE, call).await.expect("it ends").expect("no panic");
    assert!(result.content.contains("stopped"), "{}", result.content);
    rig.until("the cancellation", |rig| !rig.lines("cancelled.txt").is_empty()).await;
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_of_a_call_is_shown() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (mut context, hears) = (rig.context("tu_1"), heard.clone());
    let seen = rig.path("seen.txt");
    context.progress = Some(Arc::new(move |words: &str| {
        hears.lock().unwrap().push(words.to_owned());
        std::fs::write(&seen, "").expect("a file");
    }));
    rig.call_in("kit__progress", r#"{"path": "seen.txt"}"#, &context).await;
    assert_eq!(*heard.lock().unwrap(), ["3 of 7 half way"]);
    rig.servers.close().await;
}

// T40
#[tokio::test(flavor = "multi_thread")]
async fn everything_that_a_server_started_ends_with_it() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    rig.call("kit__child", "{}").await;
    let ours = std::process::id().to_string();
    let below = || {
        let all =
            std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let sleeps = |pid: &String| {
            std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with("sleep\u{0}1000"))
        };
        let is_ours = |pid: &String| {
            std::fs::read_to_string(format!("/proc/{pid}/environ")).is_ok_and(|line| line.contains(&format!("{ours}-")))
        };
        all.filter(|pid| sleeps(pid) && is_ours(pid)).collect::<Vec<_>>()
    };
    // It may not have become that program yet.
    rig.until("a descendant", |_| !below().is_empty()).await;
    let children = below();
    rig.servers.close().await;
    assert!(children.iter().all(|pid| !lives(pid)), "{children:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_start_is_named_with_the_reason() {
    let mut missing = server("missing", "");
    missing.connection = majordomo_mcp::Connection::Program {
        command: vec!["no-such-program-anywhere".to_owned()],
        env: Default::default(),
        cwd: None,
    };
    let rig = Rig::started(vec![server("bad", "exit"), missing, server("good", "")]).await;
    let status = rig.servers.status();
    let said = status[0].failure.as_ref().expect("it failed").to_string();
    assert!(said.contains("code 3") && said.contains("licence of this server has expired"), "{said}");
    assert!(status[1].failure.is_some() && status[2].failure.is_none(), "{status:?}");
    assert!(rig.names().iter().all(|name| name.starts_with("good__")), "the others go on");
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_is_given_up_after_ten_seconds() {
    let begun = std::time::Instant::now();
    let rig = Rig::started(vec![server("kit", "hang")]).await;
    assert_eq!(rig.server().failure(), Some(Error::Slow(10)));
    assert!(begun.elapsed() >= Duration::from_secs(9));
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_an_earlier_revision_that_ignores_the_newest_one_is_used_all_the_same() {
    let rig = Rig::started(vec![server("kit", "silent_discover")]).await;
    assert!(rig.server().failure().is_none(), "{:?}", rig.server().failure());
    assert_eq!(&*rig.call("kit__echo", r#"{"text": "old"}"#).await.content, "old");
    rig.servers.close().await;
}
