//! Servers behind an address.

use std::collections::BTreeMap;

use majordomo_mcp::{Connection, Error, ServerSettings};
use testkit::mcp_server::HttpServer;

use crate::rig::{Rig, server};

fn at(url: &str, headers: &[(&str, &str)]) -> ServerSettings {
    let headers: BTreeMap<String, String> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    ServerSettings { connection: Connection::Http { url: url.to_owned(), headers }, ..server("far", "") }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_behind_an_address_is_called_like_any_other() {
    let http = HttpServer::start(None).await;
    let rig = Rig::started(vec![at(&http.url, &[])]).await;
    assert_eq!(rig.server().failure(), None);
    let result = rig.call("far__echo", r#"{"text": "from afar"}"#).await;
    assert_eq!((&*result.content, result.foreign.as_deref()), ("from afar", Some("MCP server far")));
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_sent_and_a_server_that_wants_a_login_says_so() {
    let http = HttpServer::start(Some("Bearer canary-token")).await;
    let without = Rig::started(vec![at(&http.url, &[])]).await;
    assert_eq!(without.server().failure(), Some(Error::Login("far".into())));
    let with = Rig::started(vec![at(&http.url, &[("Authorization", "Bearer canary-token")])]).await;
    assert_eq!(with.server().failure(), None);
    let wrong = Rig::started(vec![at(&http.url, &[("Authorization", "Bearer wrong")])]).await;
    let said = wrong.server().failure().expect("it failed").to_string();
    assert!(!said.contains("wrong"), "{said}");
    for rig in [without, with, wrong] {
        rig.servers.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_at_which_nothing_listens_is_named_as_the_reason() {
    let rig = Rig::started(vec![at("http://127.0.0.1:1/mcp", &[])]).await;
    assert!(matches!(rig.server().failure(), Some(Error::Start(_))), "{:?}", rig.server().failure());
    rig.servers.close().await;
}

// T52
#[tokio::test(flavor = "multi_thread")]
async fn answers_over_http_are_bounded_and_the_connection_goes_on() {
    let http = HttpServer::start(None).await;
    let rig = Rig::started(vec![at(&http.url, &[])]).await;
    for (word, why) in [("HUGE", "more than 8 MiB"), ("DEEP", "cannot be read"), ("PAGE", "in the place of JSON")] {
        let result = rig.call("far__echo", &format!("{{\"text\": \"{word}\"}}")).await;
        assert!(result.is_error && result.content.contains(why), "{word}: {}", result.content);
        assert_eq!(&*rig.call("far__echo", r#"{"text": "on"}"#).await.content, "on", "after {word}");
    }
    rig.servers.close().await;
}

// T55
#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_not_followed() {
    let http = HttpServer::start(None).await;
    let rig = Rig::started(vec![at(&http.url, &[])]).await;
    let result = rig.call("far__echo", r#"{"text": "REDIRECT"}"#).await;
    assert!(result.is_error && !result.content.contains("refused"), "{}", result.content);
    rig.servers.close().await;
}
