//! What processes on one database tell each other besides the log.

use std::sync::Arc;
use std::time::Duration;

use majordomo_runtime::FleetingKind;
use store::conformance::postgres_server::Server;
use store::{Address, Machine, Options, PostgresStore, Store};

use crate::room::{Plan, report};
use crate::script::{says, scene};

/// Two handles of one new database, as two machines have them that share their folders.
fn two_machines() -> [Arc<dyn Store>; 2] {
    let address = Address::parse(&Server::shared().database()).expect("an address");
    PostgresStore::initialize(&address).expect("tables");
    ["one", "two"].map(|name| {
        let address = address.clone().on_machine(Machine::named(Some(name), true));
        Arc::new(PostgresStore::open(&address, &Options::default()).expect("a store")) as Arc<dyn Store>
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_one_process_streams_is_heard_where_its_conversation_is_watched() {
    let [one, two] = two_machines();
    let words = "word ".repeat(60);
    let slow = format!("{}chunk_delay_ms = 100\n", says(&words));
    let room = Plan::new(&[scene("speak", &[slow])]).store(one).open().await;
    let other = Plan::new(&[]).store(two).process("other").open().await;
    let mut fleeting = other.runtime.fleeting();
    let handle = room.start("speak").await;
    let root = handle.thread.clone();
    let watching = other.runtime.watch(&root);
    let heard =
        tokio::time::timeout(Duration::from_secs(30), fleeting.recv()).await.expect("text").expect("it goes on");
    assert_eq!((&heard.thread, &heard.what), (&root, &FleetingKind::Turn(1)));
    assert!(words.contains(heard.text.trim()), "{:?}", heard.text);
    drop(watching);
    assert_eq!(report(handle).await.text.trim(), words.trim(), "the logged answer is whole");
    room.runtime.leave().await;
    other.runtime.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_of_a_provider_that_one_process_meets_slows_the_others_down() {
    let [one, two] = two_machines();
    let limited = "[[script.reply]]\nerror = \"rate_limited\"\n".to_owned();
    let room = Plan::new(&[scene("ask", &[limited, says("done")])]).store(one).open().await;
    let other = Plan::new(&[]).store(two).process("other").open().await;
    // Its next try comes after a while, and is not waited for.
    let _running = room.start("ask").await;
    let pace = provider::Pace::default().start;
    let slowed = async {
        while other.providers().governors().iter().all(|(_, state)| state.limit >= pace) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let slowed = tokio::time::timeout(Duration::from_secs(30), slowed).await;
    assert!(slowed.is_ok(), "{:?} {:?}", room.providers().governors(), other.providers().governors());
    room.runtime.leave().await;
    other.runtime.leave().await;
}
