//! A thread with a long past, left in the middle of its work: how long it takes to go on with it.

use majordomo::agent::{ThreadId, Time};
use majordomo::store::Process;

use crate::gauge::{Gauge, Taken};
use crate::long_thread::LongThread;
use crate::{Keep, Log, setup};

const THREAD: &str = "20260115-long";

/// No request is sent to this address.
const NOWHERE: &str = "http://127.0.0.1:9";

/// Writes a thread of `count` events or a few more. What its last ones ask for is never performed: that is where the process
/// was gone.
pub async fn write(log: &Log) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let store = setup::store(Keep::Normal, &log.database)?;
    let process = Process::current();
    let id = process.id.clone();
    store.register(process, Time(0)).await?;
    let mut chronicle = LongThread::begin(store.clone(), id.clone(), ThreadId::new(THREAD), Time(0)).await?;
    while chronicle.n < log.count as u64 {
        chronicle.lap(Time(0)).await?;
    }
    store.leave(&id).await?;
    gauge.end()
}

/// Opens the database, reads the thread, and has it go on. What the model would say to it is not waited for.
pub async fn measure(log: &Log) -> anyhow::Result<Taken> {
    let gauge = Gauge::begin();
    let (runtime, _) = setup::open(NOWHERE, setup::store(Keep::Full, &log.database)?).await?;
    runtime.resume(&ThreadId::new(THREAD)).await?;
    let taken = gauge.end()?;
    runtime.leave().await;
    Ok(taken)
}
