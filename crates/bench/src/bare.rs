//! The same requests by a client and nothing else: as many at once, over the same library with the same settings, each
//! answer read to its end and thrown away. With a log, the same events are written at the same points and waited for.
//!
//! Beside the whole program there is a second client, which also writes its requests, understands its answers and lists the folders that
//! they name: the least that does the same work.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use axum::body::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::answer::CALLS;
use crate::client::client;
use crate::gauge::{Gauge, Taken};
use crate::plain_log::{PlainLog, Recorded};
use crate::reading::{self, Reader};
use crate::{FanOut, Keep, program, setup};

/// Measures from the root's first request to the end of its last answer.
pub async fn measure(fan_out: &FanOut, recorded: Option<&Path>) -> anyhow::Result<Taken> {
    let bodies = Bodies::fetch(&fan_out.server, "root", "child").await?;
    let recorded = recorded.map(Recorded::read).transpose()?;
    let bare = Arc::new(Bare::open(fan_out, bodies, recorded, None)?);
    bare.clone().run(1).await?;
    let gauge = Gauge::begin();
    bare.clone().run(fan_out.children).await?;
    gauge.end()
}

/// Measures the work of the whole program: as [`measure`], from before the client and its log are opened, with the requests
/// and events of a run of the program, whose data folder is `data`.
pub async fn measure_program(fan_out: &FanOut, data: &Path, reads: bool) -> anyhow::Result<Taken> {
    let bodies = Bodies::fetch(&fan_out.server, "spawner", "lister").await?;
    let recorded = Recorded::read(data)?;
    let workspace = reads.then(|| program::workspace(data));
    let gauge = Gauge::begin();
    let bare = Arc::new(Bare::open(fan_out, bodies, Some(recorded), workspace)?);
    bare.clone().run(fan_out.children).await?;
    gauge.end()
}

/// The bodies of the requests, in their order.
struct Bodies {
    root: Vec<Body>,
    child: Vec<Body>,
}

/// A body as it is sent, and as the conversation that it is made of.
struct Body {
    bytes: Bytes,
    conversation: Value,
}

impl Bodies {
    /// Asks the model for the bodies that it was sent.
    async fn fetch(server: &str, root: &str, child: &str) -> anyhow::Result<Self> {
        let client = client()?;
        let mut bodies = [Vec::new(), Vec::new()];
        for (bodies, (who, turns)) in bodies.iter_mut().zip([(root, 2), (child, CALLS + 1)]) {
            for turn in 0..turns {
                let response = client.get(format!("{server}/body/{who}/{turn}")).send().await?;
                let bytes = response.error_for_status()?.bytes().await?;
                bodies.push(Body { conversation: serde_json::from_slice(&bytes)?, bytes });
            }
        }
        let [root, child] = bodies;
        Ok(Self { root, child })
    }
}

struct Bare {
    /// Where the folders are that answers name; none where answers are dropped.
    workspace: Option<PathBuf>,
    client: Client,
    endpoint: String,
    bodies: Bodies,
    at_once: Semaphore,
    log: Option<(PlainLog, Recorded)>,
}

impl Bare {
    fn open(
        fan_out: &FanOut,
        bodies: Bodies,
        recorded: Option<Recorded>,
        workspace: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let log = match fan_out.keep {
            Keep::Memory => None,
            keep => {
                let recorded = recorded.context("a log needs events to write")?;
                Some((PlainLog::open(&fan_out.database, keep)?, recorded))
            }
        };
        let endpoint = format!("{}/v1/chat/completions", fan_out.server);
        Ok(Self { workspace, client: client()?, endpoint, bodies, at_once: Semaphore::new(setup::REQUESTS), log })
    }

    async fn run(self: Arc<Self>, children: usize) -> anyhow::Result<()> {
        if let Some((log, recorded)) = &self.log {
            log.append("root", &recorded.opening).await?;
        }
        self.ask(&self.bodies.root[0]).await?;
        let mut tasks = JoinSet::new();
        for child in 0..children {
            tasks.spawn(self.clone().child(child));
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        self.ask(&self.bodies.root[1]).await?;
        if let Some((log, recorded)) = &self.log {
            log.append("root", &recorded.closing).await?;
        }
        Ok(())
    }

    async fn child(self: Arc<Self>, number: usize) -> anyhow::Result<()> {
        let Some((log, recorded)) = &self.log else {
            for body in &self.bodies.child {
                self.ask(body).await?;
            }
            return Ok(());
        };
        let name = format!("root.{number}");
        let mut bodies = self.bodies.child.iter();
        for step in &recorded.child {
            log.append(&name, &step.events).await?;
            if step.asks {
                self.ask(bodies.next().context("more requests were recorded than there are bodies")?).await?;
            }
        }
        log.append("root", &recorded.reported[number % recorded.reported.len()]).await
    }

    async fn ask(&self, body: &Body) -> anyhow::Result<()> {
        let _place = self.at_once.acquire().await?;
        let Some(workspace) = &self.workspace else {
            let mut response = self.send(body.bytes.clone()).await?;
            let mut bytes = 0;
            while let Some(chunk) = response.chunk().await? {
                bytes += chunk.len();
            }
            ensure!(bytes > 0, "an answer was empty");
            return Ok(());
        };
        let mut response = self.send(reading::written(&body.conversation)?).await?;
        let mut reader = Reader::default();
        while let Some(chunk) = response.chunk().await? {
            reader.feed(&chunk)?;
        }
        let answer = reader.end();
        ensure!(!answer.text.is_empty() || !answer.calls.is_empty(), "an answer was empty");
        answer.list(workspace)?;
        Ok(())
    }

    async fn send(&self, body: Bytes) -> anyhow::Result<Response> {
        let request = self.client.post(&self.endpoint);
        let request = request.header(CONTENT_TYPE, "application/json").header(ACCEPT, "text/event-stream");
        Ok(request.body(body).send().await?.error_for_status()?)
    }
}
