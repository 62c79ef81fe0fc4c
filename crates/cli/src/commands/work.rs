//! `majordomo work`: works what is runnable, and nothing else, until it is stopped.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use majordomo::config::{Config, Flags, Surroundings};
use majordomo::staff::{Consent, Kept, Options, open_store};
use majordomo::tasks::chores::{Scope, TaskChores};
use majordomo::worker::{Chores, Open, Worker};
use store::Store;
use tokio::signal::unix::{SignalKind, signal};

use super::{configured, staff};
use crate::arguments::Work;
use crate::error::Failure;
use crate::out;

/// `majordomo work`.
pub async fn work(arguments: Work) -> Result<u8, Failure> {
    if arguments.concurrency == 0 {
        return Err(Failure::usage("--concurrency takes a number from 1"));
    }
    let flags = arguments.place.flags();
    let (surroundings, config) = configured(&flags)?;
    let store = open_store(&config)?;
    let data = config.data.to_string_lossy().into_owned();
    let flags = Flags { data: Some(data), ..flags };
    let open = opener(surroundings, flags);
    let worker = Worker::new("work", store.clone(), open, arguments.concurrency, chores(&arguments));
    let worker = worker.with_labels(labels(&arguments));
    let mut interrupts = signal(SignalKind::interrupt()).map_err(anyhow::Error::from)?;
    let mut terminations = signal(SignalKind::terminate()).map_err(anyhow::Error::from)?;
    out::note("waiting for tasks; Ctrl-C stops this worker, and another one continues what it began");
    let mut code = 0;
    let stop = async {
        code = tokio::select! {
            _ = interrupts.recv() => 130,
            _ = terminations.recv() => 143,
        };
    };
    worker.work(stop).await?;
    store.close().await;
    Ok(code)
}

/// What is worked besides threads that another process left.
fn chores(arguments: &Work) -> Vec<Box<dyn Chores>> {
    vec![Box::new(TaskChores::new(Scope::All, labels(arguments)))]
}

fn labels(arguments: &Work) -> Vec<Arc<str>> {
    arguments.label.iter().map(|label| label.as_str().into()).collect()
}

/// Opens a staff for a folder with the settings that hold there. Approvals wait for a person who decides elsewhere.
pub fn opener(surroundings: Surroundings, flags: Flags) -> Open {
    Box::new(move |folder: PathBuf, store: Arc<dyn Store>| {
        let (there, flags) = (Surroundings { cwd: folder, ..surroundings.clone() }, flags.clone());
        async move {
            let config = Config::load(&there, &flags)?;
            let options = Options { consent: Consent::Asked, store: Kept::In(store), ..Options::default() };
            staff(&there, config, options).await
        }
        .boxed()
    })
}
