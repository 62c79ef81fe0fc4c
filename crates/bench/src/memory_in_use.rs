//! Memory while all sub-agents run: each has made its calls and waits for its last answer, or in line for it.

use std::time::Duration;

use crate::client::client;
use crate::gauge::{Gauge, Taken};
use crate::{FanOut, fan_out, setup};

/// How often it is looked whether all of them wait.
const LOOK: Duration = Duration::from_millis(20);

/// Measures at the moment at which all of them wait; the model holds their last answers back until then.
pub async fn measure(fan_out: &FanOut) -> anyhow::Result<Taken> {
    let store = setup::store(fan_out.keep, &fan_out.database)?;
    let (runtime, providers) = setup::open(&fan_out.server, store).await?;
    let gauge = Gauge::begin();
    let run = fan_out::run(&runtime, fan_out::THREAD, fan_out.children);
    let watch = async {
        let at_once = fan_out.children.min(setup::REQUESTS);
        let client = client()?;
        loop {
            let held: usize = client.get(format!("{}/held", fan_out.server)).send().await?.text().await?.parse()?;
            let waiting: usize = providers.governors().iter().map(|(_, state)| state.waiting).sum();
            if held == at_once && held + waiting == fan_out.children {
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        let taken = gauge.end()?;
        client.post(format!("{}/release", fan_out.server)).send().await?.error_for_status()?;
        anyhow::Ok(taken)
    };
    let (ran, taken) = tokio::join!(run, watch);
    ran?;
    runtime.leave().await;
    taken
}
