//! Logins by OAuth at an authorisation server on this machine that holds us to PKCE.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use majordomo_mcp::{Connection, Error, Login, ServerSettings, is_logged_in, log_out};
use testkit::mcp_server::{LoginServer, browse};

use crate::rig::{PATIENCE, Rig, server};

fn at(url: &str) -> ServerSettings {
    let connection = Connection::Http { url: url.to_owned(), headers: BTreeMap::new() };
    ServerSettings { connection, ..server("far", "") }
}

async fn logged_in(rig: &Rig, settings: &ServerSettings) {
    let login = Login::begin(settings, &rig.path("../tokens")).await.expect("it says where to log in");
    let address = login.address().to_owned();
    let (done, page) = tokio::join!(login.finish(PATIENCE), browse(&address));
    done.expect("logged in");
    assert!(page.contains("You are logged in"), "{page}");
}

// T55
#[tokio::test(flavor = "multi_thread")]
async fn a_person_logs_in_once_and_tokens_are_refreshed_and_kept_private() {
    let far = LoginServer::start().await;
    let settings = at(&far.url);
    let rig = Rig::started(vec![settings.clone()]).await;
    assert_eq!(rig.server().failure(), Some(Error::Login("far".into())));
    assert!(rig.server().failure().unwrap().to_string().contains("majordomo mcp login far"), "the command is named");
    logged_in(&rig, &settings).await;
    rig.servers.start().await;
    assert_eq!(rig.server().failure(), None, "it can be used");
    let names: Vec<_> = std::fs::read_dir(rig.path("../tokens")).unwrap().flatten().map(|entry| entry.path()).collect();
    for name in &names {
        assert_eq!(std::fs::metadata(name).unwrap().permissions().mode() & 0o777, 0o600, "{}", name.display());
    }
    let result = rig.call("far__echo", r#"{"text": "inside"}"#).await;
    assert_eq!(&*result.content, "inside");
    far.end_tokens();
    let result = rig.call("far__echo", r#"{"text": "again"}"#).await;
    assert_eq!((&*result.content, far.refreshed()), ("again", 1), "refreshed without a person");

    let later = Rig::made_beside(&rig, vec![settings.clone()]);
    later.servers.start().await;
    assert_eq!(later.server().failure(), None, "another process has the same login");
    far.revoke();
    let result = later.call("far__echo", r#"{"text": "x"}"#).await;
    assert!(result.is_error && result.content.contains("majordomo mcp login far"), "{}", result.content);
    assert!(log_out(&settings, &rig.path("../tokens")).unwrap());
    assert!(!is_logged_in(&settings, &rig.path("../tokens")));
    rig.servers.close().await;
    later.servers.close().await;
}

// T55
#[tokio::test(flavor = "multi_thread")]
async fn a_login_counts_in_a_process_that_runs_already() {
    let far = LoginServer::start().await;
    let settings = at(&far.url);
    let rig = Rig::started(vec![settings.clone()]).await;
    assert_eq!(rig.server().failure(), Some(Error::Login("far".into())));
    rig.servers.follow(|| {});
    logged_in(&rig, &settings).await;
    rig.until("its tools", |rig| rig.names().contains(&"far__echo".to_owned())).await;
    assert_eq!(rig.server().failure(), None);
    rig.servers.close().await;
}

// T55
#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_the_address_that_it_is_for_and_to_no_other() {
    let (far, other) = (LoginServer::start().await, LoginServer::start().await);
    let settings = at(&far.url);
    let rig = Rig::new(vec![at(&other.url)]);
    logged_in(&rig, &settings).await;
    rig.servers.start().await;
    assert_eq!(rig.server().failure(), Some(Error::Login("far".into())), "the same name at another address");
    rig.servers.close().await;
}

// T55
#[tokio::test(flavor = "multi_thread")]
async fn metadata_that_names_another_port_of_this_machine_is_not_followed() {
    let trap = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let elsewhere = format!("http://{}/token", trap.local_addr().unwrap());
    let far = LoginServer::naming(Some(elsewhere)).await;
    let settings = at(&far.url);
    let rig = Rig::new(vec![settings.clone()]);
    let done = match Login::begin(&settings, &rig.path("../tokens")).await {
        Ok(login) => {
            let address = login.address().to_owned();
            let (done, _) = tokio::join!(login.finish(PATIENCE), browse(&address));
            done
        }
        Err(error) => Err(error),
    };
    assert!(done.is_err(), "{done:?}");
    assert!(trap.accept().is_err(), "nothing was sent there");
    assert!(!is_logged_in(&settings, &rig.path("../tokens")));
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_nobody_ends_is_given_up_and_another_page_cannot_end_it() {
    let far = LoginServer::start().await;
    let settings = at(&far.url);
    let rig = Rig::new(vec![settings.clone()]);
    let login = Login::begin(&settings, &rig.path("../tokens")).await.unwrap();
    let query =
        login.address().split("redirect_uri=").nth(1).and_then(|rest| rest.split('&').next()).unwrap().to_owned();
    let back = query.replace("%3A", ":").replace("%2F", "/");
    let forged = format!("{back}?code=stolen&state=guessed");
    let (done, page) = tokio::join!(login.finish(Duration::from_secs(2)), browse(&forged));
    assert!(done.unwrap_err().to_string().contains("nobody logged in within 2 s"));
    assert!(page.contains("Nothing is here"), "{page}");
    assert_eq!(far.refusals(), [""; 0]);
    rig.servers.close().await;
}
