//! Servers that attack: each row of the threat model, with a real process.

use std::path::Path;

use agent::Json;
use agent::tools::{Reach, Risk};

use crate::rig::{Rig, server};

// T51
#[tokio::test(flavor = "multi_thread")]
async fn no_server_can_take_the_name_of_another_tool() {
    let rig = Rig::started(vec![server("kit", "shadow"), server("kit-2", "")]).await;
    let names = rig.names();
    assert!(names.contains(&"kit__read_file".to_owned()) && !names.contains(&"read_file".to_owned()), "{names:?}");
    assert!(names.contains(&"kit____run_command".to_owned()), "a delimiter in a name changes nothing");
    assert_eq!(names.iter().filter(|name| *name == "kit__echo").count(), 1, "the first of two is kept");
    assert!(names.contains(&"kit-2__echo".to_owned()));
    let registry = rig.servers.registry(|name| name == "kit__read_file");
    assert!(registry.get("kit__read_file").is_none(), "a name that is taken stays with the tool that has it");
    rig.servers.close().await;
}

// T52
#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_too_large_too_deep_or_no_text_are_errors_and_the_connection_goes_on() {
    let rig = Rig::started(vec![server("kit", "early")]).await;
    assert!(rig.server().failure().is_none(), "notifications before the first answer: {:?}", rig.server().failure());
    for (tool, words) in [("huge", "more than 8 MiB"), ("deep", "cannot be read"), ("odd", "cannot be read")] {
        let result = rig.call(&format!("kit__{tool}"), "{}").await;
        assert!(result.is_error && result.content.contains(words), "{tool}: {}", result.content);
        assert_eq!(&*rig.call("kit__echo", r#"{"text": "on"}"#).await.content, "on", "after {tool}");
    }
    let strange = rig.call("kit__strange", "{}").await;
    assert_eq!(&*strange.content, "first", "of two answers the first counts, and noise none");
    assert_eq!(&*rig.call("kit__echo", r#"{"text": "on"}"#).await.content, "on");
    rig.servers.close().await;
}

// T52
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_fetched_that_a_schema_refers_to() {
    let trap = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    trap.set_nonblocking(true).expect("it need not wait");
    let address = format!("http://{}/schema.json", trap.local_addr().expect("an address"));
    let rig = Rig::started(vec![server("kit", &format!("refers={address}"))]).await;
    assert!(rig.names().contains(&"kit__refers".to_owned()), "{:?}", rig.names());
    assert_eq!(&*rig.call("kit__refers", r#"{"text": "x"}"#).await.content, "called refers");
    assert!(trap.accept().is_err(), "nothing was fetched");
    rig.servers.close().await;
}

// T39
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_prints_without_end_is_ended() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    let result = rig.call("kit__flood", "{}").await;
    assert!(result.is_error && result.content.contains("outcome unknown"), "{}", result.content);
    assert!(result.content.contains("without end"), "{}", result.content);
    rig.servers.close().await;
}

// T53
#[tokio::test(flavor = "multi_thread")]
async fn hints_are_shown_and_lower_nothing() {
    let rig = Rig::started(vec![server("kit", "reads_only")]).await;
    let registry = rig.servers.registry(|_| false);
    let write = registry.get("kit__write").expect("it is there");
    let assessment = write.assess(&Json::object(), Path::new("/"));
    assert_eq!((assessment.reach, assessment.risk), (Reach::World, Risk::High));
    assert!(assessment.effect.contains("the server says of it: read only"), "{}", assessment.effect);
    assert!(!write.info().idempotent);
    rig.servers.close().await;
}

// T54
#[tokio::test(flavor = "multi_thread")]
async fn a_server_reaches_neither_a_model_nor_a_person() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    for tool in ["ask_model", "ask_person", "roots"] {
        rig.call(&format!("kit__{tool}"), "{}").await;
    }
    rig.until("three answers", |rig| rig.lines("answered.txt").len() == 3).await;
    let answers = rig.lines("answered.txt");
    let about = |number: u64| answers.iter().find(|line| line.contains(&format!("\"id\":{number}"))).expect("answered");
    assert!(about(7000).contains("error"), "sampling is refused: {}", about(7000));
    assert!(about(7001).contains("decline"), "a call that nobody stands behind asks nobody: {}", about(7001));
    assert!(
        about(7002).contains("file://") && about(7002).contains("work"),
        "roots are the workspace: {}",
        about(7002)
    );
    rig.servers.close().await;
}

// T19, T68
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_writes_to_a_protected_place_finds_it_put_back() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    let result = rig.call("kit__write", r#"{"path": "sub/.git/hooks/post-commit", "text": "canary"}"#).await;
    assert!(!rig.path("sub/.git/hooks/post-commit").exists(), "{}", result.content);
    let plain = rig.call("kit__write", r#"{"path": "notes.txt", "text": "fine"}"#).await;
    assert!(!plain.is_error && rig.path("notes.txt").exists(), "the workspace can be written: {}", plain.content);
    let outside = rig.call("kit__write", r#"{"path": "/etc/canary", "text": "canary"}"#).await;
    assert!(outside.content.contains("not written") || !Path::new("/etc/canary").exists(), "{}", outside.content);
    rig.servers.close().await;
}

// T43, T61
#[tokio::test(flavor = "multi_thread")]
async fn the_folder_for_state_cannot_be_read_by_a_server() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    if rig.server().is_sandboxed().await != Some(true) {
        return testkit::skip::skipped("no sandbox works here");
    }
    let secret = rig.path("../state/secret.txt");
    std::fs::write(&secret, "canary").unwrap();
    let result = rig.call("kit__read", &format!("{{\"path\": {secret:?}}}")).await;
    assert!(!result.content.contains("canary"), "{}", result.content);
    rig.servers.close().await;
}

// T52
#[tokio::test(flavor = "multi_thread")]
async fn a_long_result_is_cut_and_kept_in_a_file() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    let result = rig.call("kit__long", "{}").await;
    assert!(
        result.content.chars().count() < 21_000 && result.content.contains("read_file"),
        "{}",
        result.content.len()
    );
    let kept = std::fs::read_to_string(rig.path(".majordomo/results/20260115-k3f9-tu_1.txt")).expect("it is kept");
    assert!(kept.ends_with("line 19999\n"));
    assert_eq!(std::fs::read_to_string(rig.path(".majordomo/results/.gitignore")).unwrap(), "*\n");
    rig.servers.close().await;
}
