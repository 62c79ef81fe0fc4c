//! Stop means that the request is closed.

use agent::model::CallErrorKind as Kind;
use majordomo_testkit::model_server::{Fault, ModelServer, Turn};
use provider::{Ask, DeltaSink, ModelTable, Options, Pace, Providers, Wire};
use tokio_util::sync::CancellationToken;

use super::stage::{WIRES, ask, config, open, with};

#[tokio::test]
async fn cancelling_closes_the_request_wherever_it_is() {
    // F26, promise 6
    for wire in WIRES {
        for fault in [Fault::Silence, Fault::StallAfter(0), Fault::StallAfter(900)] {
            let turn = Turn::text("words that do not end and do not end").fault(fault.clone());
            let server = ModelServer::start(move |_| turn.clone()).await;
            let cancel = CancellationToken::new();
            let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
            // The receiver may be closed.
            let sink = DeltaSink::new(move |word| drop(sender.send(word.to_owned())));
            let call = Ask { cancel: cancel.clone(), deltas: Some(sink), ..ask() };
            let call = tokio::spawn(with(&server, wire).ask(call));
            server.until_open(1).await;
            if fault == Fault::StallAfter(900) {
                heard.recv().await.expect("words come before the stall");
            }
            cancel.cancel();
            let error = call.await.expect("no panic").expect_err("cancelled");
            assert_eq!(error.kind, Kind::Cancelled, "{wire:?} {fault:?}");
            assert_eq!(error.partial.is_some(), fault == Fault::StallAfter(900), "words that came are kept");
            server.until_closed_early(1).await;
        }
    }
}

#[tokio::test]
async fn dropping_the_call_closes_the_request() {
    // F26
    let server = ModelServer::start(|_| Turn::text("never").fault(Fault::Silence)).await;
    let call = tokio::spawn(with(&server, Wire::Anthropic).ask(ask()));
    server.until_open(1).await;
    call.abort();
    server.until_closed_early(1).await;
}

#[tokio::test]
async fn an_answer_that_was_heard_to_its_end_was_not_closed_early() {
    for wire in WIRES {
        let server = ModelServer::start(|_| Turn::text("good")).await;
        for _ in 0..20 {
            with(&server, wire).ask(ask()).await.expect("an answer");
        }
        assert_eq!(server.closed_early(), 0, "{wire:?}");
    }
}

#[tokio::test]
async fn a_call_cancelled_in_line_never_reaches_the_server() {
    // F26
    let server = ModelServer::start(|_| Turn::text("never").fault(Fault::Silence)).await;
    let options = Options { pace: Pace { start: 1, max: 1 } };
    let config = config(Wire::Anthropic, server.url(Wire::Anthropic));
    let providers = Providers::new(vec![config], ModelTable::builtin(), options).expect("a good configuration");
    let first = tokio::spawn(open(&providers, "first").ask(ask()));
    server.until_open(1).await;
    let cancel = CancellationToken::new();
    let second = tokio::spawn(open(&providers, "second").ask(Ask { cancel: cancel.clone(), ..ask() }));
    while providers.governors()[0].1.waiting == 0 {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    assert_eq!(second.await.expect("no panic").expect_err("cancelled").kind, Kind::Cancelled);
    assert_eq!(server.requests().len(), 1);
    first.abort();
}
