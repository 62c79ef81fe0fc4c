//! `majordomo serve` as a real process that is killed at any moment: every message is answered, and no command of an agent can
//! use the API.
//!
//! Who may use it, what can be asked and what is answered is tested beside the server itself (`majordomo-server`).

mod consenting;
mod killed;
mod opening;
mod shut;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use testkit::world::{Running, World, until};

/// A world for the program whose tests these are.
fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}

/// A server that is open, and the secret of programs.
struct Served {
    running: Running,
    addr: String,
    token: String,
}

impl Served {
    /// Opens a server; with a chosen moment of death, where there is one.
    fn open(world: &World, death: Option<&str>) -> Self {
        let model = format!("scripted/{}", world.path("../script.toml").display());
        let mut command = world.command(&["serve", "--addr", "127.0.0.1:0", "--model", &model]);
        if let Some(death) = death {
            command.env("MAJORDOMO_FAILPOINT", death);
        }
        let file = world.path("../state/server.token");
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let running = world.launch(command);
        let token = until("a token", || {
            let text = std::fs::read_to_string(&file).ok().filter(|text| *text != before)?;
            text.strip_suffix('\n').map(str::to_owned)
        });
        let addr = until("an address", || {
            let said = running.said();
            let (_, rest) = said.split_once("listens on http://")?;
            rest.lines().next().map(|addr| addr.trim().to_owned())
        });
        Self { running, addr, token }
    }

    /// What is answered to a request; none where the process dies over it.
    fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.addr).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("patience");
        let request = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.addr,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, serde_json::from_str(body).unwrap_or(Value::Null)))
    }

    /// Starts a thread.
    fn start(&self, message: &str) -> String {
        let (status, started) =
            self.ask("POST", "/threads", &format!("{{\"message\": {message:?}}}")).expect("an answer");
        assert_eq!(status, 201, "{started}");
        started["id"].as_str().expect("an id").to_owned()
    }

    /// Waits until a thread has ended so many runs well.
    fn until_completed(&self, thread: &str, runs: u64) {
        until(&format!("run {runs} of {thread}"), || {
            let (_, row) = self.ask("GET", &format!("/threads/{thread}"), "")?;
            (row["state"] == "completed" && row["runs"].as_u64() == Some(runs)).then_some(())
        });
    }
}
