//! A provider's wish to be left alone for a while: sane ones are honoured, absurd ones are bounded.

use std::time::{Duration, Instant};

use provider::Wire;
use serde_json::Value;
use testkit::model_server::{ModelServer, Turn};
use testkit::world::Done;

use crate::place::Place;

/// A run against a server that says so once and then answers, with the time that it took.
async fn told_to_wait(wish: &str, flags: &[&str]) -> (Done, Duration) {
    let headers = vec![("retry-after", wish.to_owned())];
    let server = ModelServer::start(move |request| match request.attempt {
        1 => Turn::status(429, headers.clone(), "slow down"),
        _ => Turn::text("All is well."),
    })
    .await;
    let words: Vec<&str> = ["run", "Go", "--jsonl"].into_iter().chain(flags.iter().copied()).collect();
    let begun = Instant::now();
    let done = tokio::task::block_in_place(|| Place::at(&server, Wire::Anthropic).call(&words));
    (done, begun.elapsed())
}

/// The wait that was announced.
fn announced_ms(done: &Done) -> u64 {
    let frames = done.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("a frame"));
    let retries: Vec<u64> =
        frames.filter(|frame| frame["type"] == "retry").filter_map(|frame| frame["in_ms"].as_u64()).collect();
    assert_eq!(retries.len(), 1, "{}", done.out);
    retries[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wish_that_makes_no_sense_is_none() {
    // F14
    for wish in ["-5", "soon", "NaN", "", "Thu, 15 Jan 2015 10:00:00 GMT", "Thu, 99 Foo 2026 10:00:00 GMT"] {
        let (done, _) = told_to_wait(wish, &[]).await;
        assert_eq!(done.code, Some(0), "{wish}: {}", done.err);
        assert!(announced_ms(&done) <= 1_000, "{wish}: {}", done.out);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absurd_wish_ends_the_run_and_a_long_one_never_outlasts_the_deadline() {
    // F14
    for wish in ["1e300", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "61"] {
        let (done, took) = told_to_wait(wish, &[]).await;
        assert_eq!(done.code, Some(4), "{wish}: {}", done.err);
        assert!(done.out.contains("max_retry_after_s"), "{wish}: {}", done.out);
        assert!(took < Duration::from_secs(30), "{wish}: {took:?}");
    }
    let (done, took) = told_to_wait("60", &["--timeout", "4"]).await;
    assert_eq!((done.code, announced_ms(&done)), (Some(7), 60_000), "{}", done.err);
    assert!(took < Duration::from_secs(30), "{took:?}");
    let longer = ["--timeout", "4", "--set", "providers.anthropic.max_retry_after_s=3600"];
    let (done, _) = told_to_wait("3600", &longer).await;
    assert_eq!((done.code, announced_ms(&done)), (Some(7), 3_600_000), "{}", done.err);
}
