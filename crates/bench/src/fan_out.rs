//! A root that starts many sub-agents at once, in the runtime.

use anyhow::ensure;
use majordomo::runtime::Runtime;
use majordomo::{Outcome, ThreadId};

use crate::gauge::{Gauge, Taken};
use crate::{FanOut, answer, setup};

/// The thread in which the measured work is done.
pub const THREAD: &str = "20260115-work";

/// Measures from the root's start to its report.
pub async fn measure(fan_out: &FanOut) -> anyhow::Result<Taken> {
    let store = setup::store(fan_out.keep, &fan_out.database)?;
    let (runtime, _) = setup::open(&fan_out.server, store).await?;
    // Connections, statements and pages that are made once are not what a sub-agent costs.
    run(&runtime, "20260115-warm", 1).await?;
    let gauge = Gauge::begin();
    run(&runtime, THREAD, fan_out.children).await?;
    let taken = gauge.end()?;
    runtime.leave().await;
    Ok(taken)
}

/// Does the work, and makes sure that it was done.
pub async fn run(runtime: &Runtime, thread: &str, children: usize) -> anyhow::Result<()> {
    let work = setup::work(ThreadId::new(thread), children);
    let report = runtime.start(work).await?.report().await?;
    ensure!(report.outcome == Outcome::Completed, "the root ended as {}: {:?}", report.outcome, report.reason);
    let calls = usize::try_from(report.tree.tool_calls)?;
    // Handing out is a call of the root's own.
    ensure!(calls == children * answer::CALLS + 1, "{children} sub-agents made {calls} calls");
    Ok(())
}
