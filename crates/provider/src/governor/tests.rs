use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::broadcast;

use super::*;

fn governor(start: usize, max: usize) -> Governor {
    Governor::new(Pace { start, max }, Duration::from_secs(60))
}

async fn waits(governor: &Governor) -> bool {
    let mut admit = pin!(governor.admit());
    std::future::poll_fn(|cx| std::task::Poll::Ready(admit.as_mut().poll(cx).is_pending())).await
}

#[tokio::test(start_paused = true)]
async fn callers_wait_in_order_of_arrival() {
    let governor = governor(1, 1);
    let first = governor.admit().await;
    let (sender, mut order) = tokio::sync::mpsc::unbounded_channel();
    for n in 0..5 {
        let (line, sender) = (governor.clone(), sender.clone());
        tokio::spawn(async move {
            let permit = line.admit().await;
            sender.send(n).expect("the test listens");
            permit.went_well();
        });
        while governor.state().waiting <= n {
            tokio::task::yield_now().await;
        }
    }
    drop(first);
    for n in 0..5 {
        assert_eq!(order.recv().await, Some(n));
    }
    assert_eq!(governor.state().running, 0);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_leaves_the_queue_delays_no_other() {
    let governor = governor(1, 1);
    let first = governor.admit().await;
    assert!(waits(&governor).await, "the only place is taken, and this caller gives up");
    let line = governor.clone();
    let patient = tokio::spawn(async move { line.admit().await });
    tokio::task::yield_now().await;
    assert_eq!(governor.state().waiting, 1, "who left is not counted");
    drop(first);
    let permit = patient.await.expect("no panic");
    assert_eq!(governor.state().running, 1);
    drop(permit);
    assert_eq!(governor.state().running, 0);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_during_a_pause_gives_its_place_back() {
    let governor = governor(4, 4);
    governor.admit().await.was_too_much(Some(10_000));
    assert!(waits(&governor).await);
    assert_eq!((governor.state().running, governor.state().waiting), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn too_much_halves_the_limit_once_for_all_calls_that_were_on_their_way() {
    // promise 8
    let governor = governor(64, 1024);
    let mut permits = Vec::new();
    for _ in 0..64 {
        permits.push(governor.admit().await);
    }
    for permit in permits {
        permit.was_too_much(None);
    }
    assert_eq!(governor.state().limit, 32);
    for expected in [16, 8, 4, 2, 1, 1] {
        governor.admit().await.was_too_much(None);
        assert_eq!(governor.state().limit, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn success_under_demand_brings_the_limit_back_step_by_step() {
    let governor = governor(2, 4);
    governor.admit().await.was_too_much(None);
    assert_eq!(governor.state().limit, 1);
    let mut limits = Vec::new();
    for _ in 0..10 * SUCCESSES_PER_STEP {
        let mut running = Vec::new();
        while governor.state().running < governor.state().limit {
            running.push(governor.admit().await);
        }
        running.pop().expect("one is running").went_well();
        limits.push(governor.state().limit);
    }
    assert_eq!(limits[SUCCESSES_PER_STEP as usize - 2], 1);
    assert_eq!(limits[SUCCESSES_PER_STEP as usize - 1], 2);
    assert_eq!(limits.last(), Some(&4), "never above the most that is allowed");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_never_had_too_much_is_asked_more_with_each_success_under_demand() {
    let governor = governor(2, 5);
    let mut limits = Vec::new();
    for _ in 0..5 {
        let mut running = Vec::new();
        while governor.state().running < governor.state().limit {
            running.push(governor.admit().await);
        }
        running.pop().expect("one is running").went_well();
        limits.push(governor.state().limit);
    }
    assert_eq!(limits, [3, 4, 5, 5, 5]);
}

#[tokio::test(start_paused = true)]
async fn an_idle_model_does_not_earn_a_higher_limit() {
    let governor = governor(4, 1024);
    for _ in 0..1000 {
        governor.admit().await.went_well();
    }
    assert_eq!(governor.state().limit, 4);
}

#[tokio::test(start_paused = true)]
async fn a_wish_to_wait_delays_every_caller_and_is_never_shortened() {
    // F14
    for _ in 0..20 {
        let governor = governor(64, 1024);
        let before = Instant::now();
        governor.admit().await.was_too_much(Some(5_000));
        assert_eq!(governor.state().pause, Duration::from_secs(5));
        let (a, b) = tokio::join!(governor.admit(), governor.admit());
        let waited = before.elapsed();
        assert!(waited >= Duration::from_secs(5), "{waited:?}");
        assert!(waited <= Duration::from_secs(5) + 2 * JITTER, "{waited:?}");
        drop((a, b));
    }
}

#[tokio::test(start_paused = true)]
async fn an_absurd_wish_is_obeyed_for_a_minute_and_a_shorter_one_does_not_replace_it() {
    // F14
    let governor = governor(64, 1024);
    let (first, second) = (governor.admit().await, governor.admit().await);
    first.was_too_much(Some(u64::MAX));
    second.was_too_much(Some(10));
    assert_eq!(governor.state().pause, Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_shrinks_below_what_runs_waits_for_it_to_end() {
    let governor = governor(4, 4);
    let mut running = Vec::new();
    for _ in 0..4 {
        running.push(governor.admit().await);
    }
    running.pop().expect("four").was_too_much(None);
    assert_eq!((governor.state().limit, governor.state().running), (2, 3));
    drop(running.pop());
    assert!(waits(&governor).await);
    drop(running.pop());
    assert!(!waits(&governor).await);
}

#[tokio::test(start_paused = true)]
async fn what_other_processes_tell_of_one_moment_slows_down_once_and_is_told_on_by_who_met_it() {
    let (overruns, mut told) = broadcast::channel(8);
    let governor = governor(8, 8).telling("acme/m".into(), overruns);
    governor.slow(Some(300));
    governor.slow(None);
    assert_eq!(governor.state().limit, 4, "two processes met the same limit");
    assert!(waits(&governor).await, "nobody asks before the provider wants to be asked");
    assert!(told.try_recv().is_err(), "what was heard is not told again");
    tokio::time::sleep(Duration::from_secs(2)).await;
    governor.admit().await.was_too_much(Some(50));
    assert_eq!(told.try_recv().ok(), Some(Overrun { model: "acme/m".into(), wait_ms: Some(50) }));
    governor.slow(Some(50));
    assert_eq!(governor.state().limit, 2, "its own words come back to it");
}
