//! Servers that others have published, used as their own documentation says. `cargo xtask test --with-servers` installs and runs them; the ordinary
//! run leaves them out and does not count them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use majordomo_mcp::{Connection, ServerSettings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::rig::{Rig, server};

/// The folder in which they are installed.
fn installed() -> PathBuf {
    let folder = std::env::var_os("MAJORDOMO_SERVERS");
    folder.map(PathBuf::from).expect("run by `cargo xtask test --with-servers`, which installs the servers")
}

fn program(name: &str, program: &str, arguments: &[&str]) -> ServerSettings {
    let program = installed().join(program).canonicalize().expect("it is installed").display().to_string();
    let command = [program].into_iter().chain(arguments.iter().map(|word| (*word).to_owned())).collect();
    ServerSettings { connection: Connection::Program { command, env: BTreeMap::new(), cwd: None }, ..server(name, "") }
}

async fn started(settings: ServerSettings) -> Rig {
    let rig = Rig::started(vec![settings]).await;
    assert_eq!(rig.server().failure(), None);
    rig
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs mcp-server-git: cargo xtask test --with-servers"]
async fn the_server_for_git_reads_a_repository() {
    let rig = Rig::new(vec![ServerSettings { network: false, ..program("git", "bin/mcp-server-git", &[]) }]);
    let made = Command::new("git").args(["init", "-q", "."]).current_dir(rig.path(".")).status().expect("git runs");
    assert!(made.success());
    std::fs::write(rig.path("new.txt"), "new").expect("a file");
    rig.servers.start().await;
    assert_eq!(rig.server().failure(), None);
    let path = rig.path(".").canonicalize().expect("a folder").display().to_string();
    let status = rig.call("git__git_status", &serde_json::json!({ "repo_path": path }).to_string()).await;
    assert!(!status.is_error && status.content.contains("new.txt"), "{}", status.content);
    let wrong = rig.call("git__git_status", r#"{"repo_path": "/nowhere"}"#).await;
    assert!(wrong.is_error, "{}", wrong.content);
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs mcp-server-time: cargo xtask test --with-servers"]
async fn the_server_for_time_converts_it() {
    let rig = started(program("time", "bin/mcp-server-time", &["--local-timezone=Europe/Berlin"])).await;
    let arguments = r#"{"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}"#;
    let converted = rig.call("time__convert_time", arguments).await;
    assert!(!converted.is_error && converted.content.contains("Asia/Tokyo"), "{}", converted.content);
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs mcp-server-fetch: cargo xtask test --with-servers"]
async fn the_server_for_pages_fetches_one_and_offers_its_prompt() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}/page", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 2048];
            let _ = stream.read(&mut head).await;
            let page = "<html><body><h1>Hello</h1><p>from this machine</p></body></html>";
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                page.len()
            );
            let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
        }
    });
    // Where the server finds Node, it installs a package with npm at its first page, for which it has neither leave nor network here.
    let mut settings = program("fetch", "bin/mcp-server-fetch", &["--ignore-robots-txt", "--allow-private-ips"]);
    if let Connection::Program { env, .. } = &mut settings.connection {
        env.insert("PATH".to_owned(), installed().join("bin").display().to_string());
    }
    let rig = started(settings).await;
    let fetched = rig.call("fetch__fetch", &serde_json::json!({ "url": address }).to_string()).await;
    assert!(!fetched.is_error && fetched.content.contains("from this machine"), "{}", fetched.content);
    assert_eq!(fetched.foreign.as_deref(), Some("MCP server fetch"));
    assert!(rig.server().prompts().await.expect("a list").iter().any(|prompt| prompt.name == "fetch"));
    rig.servers.close().await;
}

// T52: it sends notifications before its answer to the first request.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the everything server: cargo xtask test --with-servers"]
async fn the_reference_server_is_used_with_all_that_it_has() {
    if std::env::var_os("MAJORDOMO_WITHOUT_NPM").is_some() {
        return testkit::skip::skipped("npm is not on this machine, and installs the MCP reference server");
    }
    let rig = started(program("all", "node/node_modules/.bin/mcp-server-everything", &["stdio"])).await;
    let said = rig.call("all__echo", r#"{"message": "hello"}"#).await;
    assert!(!said.is_error && said.content.contains("hello"), "{}", said.content);
    let resources = rig.server().resources().await.expect("a list");
    assert!(!resources.is_empty());
    let text = rig.server().read_resource(&resources[0].uri).await.expect("it can be read");
    assert!(!text.is_empty());
    assert!(!rig.server().prompts().await.expect("a list").is_empty());
    rig.servers.close().await;
}
