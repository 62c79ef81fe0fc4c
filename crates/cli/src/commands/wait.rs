//! `majordomo wait`: waits until a thread's run is over, wherever it is driven, and prints its report.

use std::time::Duration;

use agent::{Event, Outside, Report, ThreadId};
use majordomo::config::Flags;
use majordomo::follow::until_answered;
use majordomo::staff::open_store;
use majordomo::threads::{self, is_left};
use serde_json::json;
use store::{Selection, Store, replay};

use super::{configured, thread};
use crate::error::Failure;
use crate::out;

/// The time is over: as for a run.
const TIMEOUT: u8 = 7;
/// After this long without anything new it is looked whether the process is still there.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The widest that a reason is shown.
const WIDE: usize = 1000;

/// `majordomo wait`.
pub async fn wait(name: &str, timeout: Option<f64>, json: bool, flags: &Flags) -> Result<u8, Failure> {
    if timeout.is_some_and(|seconds| !(0.0..1e9).contains(&seconds)) {
        return Err(Failure::usage("--timeout takes a number of seconds"));
    }
    let (_, config) = configured(flags)?;
    let store = open_store(&config)?;
    let (id, _) = thread::find(&*store, name).await?;
    let over = async {
        match timeout {
            Some(seconds) => tokio::time::sleep(Duration::from_secs_f64(seconds)).await,
            None => std::future::pending().await,
        }
    };
    // One that is over is told of, however short the time is.
    let report = match newest(&*store, &id).await? {
        Some(report) => report,
        None => tokio::select! {
            report = until_over(&*store, &id) => report?,
            () = over => {
                out::note(&format!("{id} is still working; majordomo ps shows it"));
                return Ok(TIMEOUT);
            }
        },
    };
    let code = view::exit_code(&report);
    let mut result = out::Result::Stdout;
    if json {
        let (Report { outcome, text, unanswered, .. }, reason) = (&report, view::exit_reason(&report));
        let object = json!({
            "id": id, "outcome": outcome, "answer": text, "reason": reason, "exit_code": code, "unanswered": unanswered,
        });
        result.line(&object.to_string())?;
    } else {
        if let Some(reason) = view::exit_reason(&report) {
            out::note(&format!("{id}: {} ({})", report.outcome, view::safe::line(&reason, WIDE)));
        }
        result.words(&report.text, false)?;
    }
    mark_read(&*store, &id).await?;
    store.close().await;
    Ok(code)
}

/// Waits until nothing goes on in a thread, and reads its newest report.
async fn until_over(store: &dyn Store, id: &ThreadId) -> Result<Report, Failure> {
    let mut tail = store.tail();
    loop {
        tail.borrow_and_update();
        if let Some(report) = newest(store, id).await? {
            return Ok(report);
        }
        // An error means that the store was closed, which the next look tells.
        let _ = tokio::time::timeout(LOOK_AGAIN, tail.changed()).await;
    }
}

/// The newest report of a thread in which nothing goes on; none while something does.
async fn newest(store: &dyn Store, id: &ThreadId) -> Result<Option<Report>, Failure> {
    let unknown = || store::Error::UnknownThread(id.as_str().into());
    let row = until_answered(|| store.thread(id)).await?.ok_or_else(unknown)?;
    let living = until_answered(|| store.living(out::now())).await?;
    if is_left(&row, &living) {
        // A process that ended between the two looks had finished before: the row says so by now.
        let now = until_answered(|| store.thread(id)).await?.ok_or_else(unknown)?;
        if now.head != row.head || now.state != row.state || now.owner.is_some() != row.owner.is_some() {
            return Ok(None);
        }
        let root = id.root();
        return Err(Failure::failed(format!("{id} was interrupted; continue with: majordomo thread resume {root}")));
    }
    if row.state.is_live() {
        return Ok(None);
    }
    let newest = until_answered(async || {
        let mut newest = None;
        let see = |record: store::Record| {
            if let Event::Reported(report) = &*record.event {
                newest = Some((**report).clone());
            }
        };
        replay(store, Selection::thread(id), see).await?;
        Ok(newest)
    });
    newest.await?.map(Some).ok_or_else(|| Failure::failed(format!("thread {id} has no run")))
}

/// The answer was shown to a person.
pub async fn mark_read(store: &dyn Store, id: &ThreadId) -> Result<(), Failure> {
    if store.thread(id).await?.is_some_and(|row| row.unread) {
        let read = Outside::Marked { title: None, archived: None, read: true };
        threads::mark(store, id, read, out::now()).await?;
    }
    Ok(())
}
