//! `majordomo serve`: the web UI and the HTTP API.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use majordomo::config::Flags;
use majordomo::staff::{Consent, Options};
use majordomo::tasks::chores::{Scope, TaskChores};
use majordomo::worker::Worker;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use server::Server;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::work::opener;
use super::{configured, staff};
use crate::arguments::Serve;
use crate::error::Failure;
use crate::out;

/// Where a password for people comes from: not from the command line, which others can read.
const PASSWORD: &str = "MAJORDOMO_PASSWORD";

/// Threads of tasks that a server drives at the same time.
const CONCURRENCY: usize = 4;

/// `majordomo serve`.
pub async fn serve(serve: Serve) -> Result<u8, Failure> {
    let flags = Flags { demo: serve.demo, ..serve.settings.flags() };
    let addr: SocketAddr = serve.addr.parse().map_err(|_| {
        Failure::usage(format!("'{}' is no address to listen on: write it as 127.0.0.1:4870", serve.addr))
    })?;
    let (surroundings, config) = configured(&flags)?;
    let data = config.data.clone();
    let password = std::env::var(PASSWORD).ok().filter(|password| !password.is_empty());
    let options = server::Options { addr, names: serve.name, password, data: config.data.clone(), page: serve.page };
    if !addr.ip().is_loopback() && options.password.is_none() {
        return Err(Failure::from(server::Error::Open(addr)));
    }
    allow_open_files();
    // People decide on the page; until then a question waits.
    let staff = staff(&surroundings, config, Options { consent: Consent::Asked, ..Options::default() }).await?;
    let bound = match Server::bind(staff.clone(), options).await {
        Ok(bound) => bound,
        Err(error) => {
            staff.runtime().leave().await;
            return Err(error.into());
        }
    };
    let link = bound.link();
    out::note(&format!("majordomo listens on http://{}", bound.addr()));
    out::note(&format!("open {link}"));
    out::note("the link lets one browser in, once; programs find the token in server.token; Ctrl-C stops the server");
    if serve.open {
        show(&bound.link_file()?);
    }
    let mut hangs_up =
        signal(SignalKind::terminate()).map_err(|error| Failure::failed(format!("no signals: {error}")))?;
    let closed = async {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => 130,
            _ = hangs_up.recv() => 143,
        }
    };
    let mut code = 0;
    let data = Some(data.to_string_lossy().into_owned());
    let chores = Box::new(TaskChores::new(Scope::All, Vec::new()));
    let opener = opener(surroundings.clone(), Flags { data, ..flags });
    let worker = Worker::new("serve", staff.store().clone(), opener, CONCURRENCY, vec![chores]);
    let worker = worker.with_staff(surroundings.cwd.clone(), staff.clone()).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = async {
        let folder = bound.open(async { code = closed.await }).await;
        drop(stop);
        folder
    };
    // It ends when the other end is dropped.
    let working = worker.work(async { drop(stopped.await) });
    let (folder, worked) = tokio::join!(serving, working);
    if let Err(error) = worked {
        out::note(&format!("tasks were not worked to the end: {error}"));
    }
    drop(folder);
    out::note("what was running goes on when it is served again, or with: majordomo thread resume ID");
    Ok(code)
}

/// Lets as many files be open as a full server and its agents need, where the system allows it. With fewer the server takes fewer
/// connections.
fn allow_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(server::OPEN_FILES, |most| most.min(server::OPEN_FILES));
    if limit.current.is_some_and(|current| current < wanted) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

/// Opens a browser, where there is one, at a file that leads to the link.
fn show(file: &Path) {
    let opened =
        Command::new("xdg-open").arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if opened.is_err() {
        out::note("no browser could be opened: open the link yourself");
    }
}
