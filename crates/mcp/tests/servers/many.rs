//! Many calls at the same time over one server, and many servers.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::rig::{Rig, server};

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_calls_over_one_server_are_each_made_once() {
    let rig = Arc::new(Rig::started(vec![server("kit", "")]).await);
    let calls = (0..200).map(|n| {
        let rig = rig.clone();
        async move {
            let context = rig.context(&format!("tu_{n}"));
            rig.call_in("kit__count", &format!("{{\"text\": \"{n}\"}}"), &context).await
        }
    });
    let results = join_all(calls).await;
    assert!(
        results.iter().all(|result| &*result.content == "counted"),
        "{:?}",
        results.iter().find(|result| result.is_error)
    );
    let counted: Vec<String> = rig.lines("counted.txt");
    assert_eq!(counted.len(), 200, "none is made twice");
    assert_eq!(counted.iter().collect::<BTreeSet<_>>().len(), 200);
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_servers_work_at_the_same_time() {
    let rig = Arc::new(Rig::started((0..20).map(|n| server(&format!("s{n}"), "")).collect()).await);
    let failed: Vec<_> = rig.servers.status().into_iter().filter_map(|status| status.failure).collect();
    assert!(failed.is_empty(), "{failed:?}");
    let calls = (0..20).map(|n| {
        let rig = rig.clone();
        async move { rig.call(&format!("s{n}__echo"), &format!("{{\"text\": \"{n}\"}}")).await.content.to_string() }
    });
    let said = join_all(calls).await;
    assert_eq!(said, (0..20).map(|n| n.to_string()).collect::<Vec<_>>());
    rig.servers.close().await;
}
