//! Servers that are ended from outside, with SIGKILL, at every point of a connection: while they start, list, ask a person, and work on many calls.
//! Nothing hangs, nothing is done twice, and the next need starts them again.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent::Json;
use agent::sampling::Sampled;
use agent::tools::ToolResult;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use majordomo_mcp::{Connection, Error, ServerSettings};
use testkit::mcp_server::HttpServer;
use tool::{Asks, ToolContext};

use crate::rig::{PATIENCE, Rig, lives, server};

/// The variable by which the processes of a test are found.
const MARK: &str = "MCP_TEST_MARK";

/// A server whose processes are marked.
fn marked(mark: &str, words: &str) -> ServerSettings {
    let mut settings = server("kit", words);
    if let Connection::Program { env, .. } = &mut settings.connection {
        env.insert(MARK.to_owned(), of_this_process(mark));
    }
    settings
}

fn of_this_process(mark: &str) -> String {
    format!("{mark}-{}", std::process::id())
}

/// The processes that are the server, without those that hold it.
fn processes(mark: &str) -> Vec<String> {
    let wanted = format!("{MARK}={}", of_this_process(mark));
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids = all.filter_map(|entry| entry.file_name().into_string().ok());
    let read = |pid: &str, file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let ours = std::env::current_exe().expect("a program");
    let is_server = |pid: &String| {
        String::from_utf8_lossy(&read(pid, "environ")).split('\0').any(|variable| variable == wanted)
            && std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|program| program.file_name() == ours.file_name())
    };
    pids.filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit())).filter(is_server).collect()
}

/// Ends the server from outside, once it is there.
async fn kill(rig: &Rig, mark: &str) {
    rig.until("the server", |_| !processes(mark).is_empty()).await;
    let pids = processes(mark);
    let killed = Command::new("kill").arg("-9").args(&pids).status().expect("kill is there");
    assert!(killed.success());
    rig.until("its end", |_| !pids.iter().any(|pid| lives(pid))).await;
}

fn is_unknown(result: &ToolResult) -> bool {
    result.is_error && result.executed && result.content.contains("outcome unknown")
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_it_starts_is_named_at_once() {
    let rig = Arc::new(Rig::new(vec![marked("start", "hang")]));
    let begun = Instant::now();
    let starting = rig.clone();
    let started = tokio::spawn(async move { starting.servers.start().await });
    kill(&rig, "start").await;
    started.await.expect("no panic");
    assert!(matches!(rig.server().failure(), Some(Error::Start(_))), "{:?}", rig.server().failure());
    assert!(begun.elapsed() < Duration::from_secs(10), "the call does not wait for the time that a start may take");
    rig.servers.close().await;
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_it_lists_its_tools_is_used_after_the_next_start() {
    let rig = Arc::new(Rig::new(vec![marked("list", "hang_list=listing.txt")]));
    let starting = rig.clone();
    let started = tokio::spawn(async move { starting.servers.start().await });
    rig.until("the list", |rig| !rig.lines("listed.txt").is_empty()).await;
    kill(&rig, "list").await;
    started.await.expect("no panic");
    assert!(rig.server().failure().is_some() && rig.names().is_empty());
    std::fs::write(rig.path("listing.txt"), "").expect("a file");
    rig.servers.start().await;
    assert_eq!(rig.server().failure(), None);
    assert_eq!(&*rig.call("kit__echo", r#"{"text": "back"}"#).await.content, "back");
    rig.servers.close().await;
}

/// A person who does not answer.
#[derive(Default)]
struct Silent {
    asked: Mutex<usize>,
}

impl Asks for Silent {
    fn ask(&self, _: String, _: Vec<String>) -> BoxFuture<'static, Option<Arc<str>>> {
        *self.asked.lock().unwrap() += 1;
        std::future::pending().boxed()
    }

    fn sample(&self, _: Arc<str>, _: Json) -> BoxFuture<'static, Result<Sampled, Arc<str>>> {
        *self.asked.lock().unwrap() += 1;
        std::future::pending().boxed()
    }
}

// F41, T54
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_a_model_answers_it_leaves_no_call_waiting() {
    let settings = ServerSettings { sampling: true, ..marked("sample", "polite,older") };
    let rig = Arc::new(Rig::started(vec![settings]).await);
    let person = Arc::new(Silent::default());
    let context = ToolContext { asks: Some(person.clone()), ..rig.context("tu_1") };
    let calling = rig.clone();
    let call = tokio::spawn(async move { calling.call_in("kit__ask_model", "{}", &context).await });
    rig.until("the request", |_| *person.asked.lock().unwrap() == 1).await;
    kill(&rig, "sample").await;
    let result = tokio::time::timeout(PATIENCE, call).await.expect("it ends").expect("no panic");
    assert!(is_unknown(&result), "{}", result.content);
    assert_eq!(&*rig.call("kit__echo", r#"{"text": "back"}"#).await.content, "back");
    rig.servers.close().await;
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_while_its_question_waits_leaves_no_call_waiting() {
    let rig = Arc::new(Rig::started(vec![marked("ask", "polite,older")]).await);
    let person = Arc::new(Silent::default());
    let context = ToolContext { asks: Some(person.clone()), ..rig.context("tu_1") };
    let calling = rig.clone();
    let call = tokio::spawn(async move { calling.call_in("kit__ask_person", "{}", &context).await });
    rig.until("the question", |_| *person.asked.lock().unwrap() == 1).await;
    kill(&rig, "ask").await;
    let result = tokio::time::timeout(PATIENCE, call).await.expect("it ends").expect("no panic");
    assert!(is_unknown(&result), "{}", result.content);
    assert_eq!(&*rig.call("kit__echo", r#"{"text": "back"}"#).await.content, "back");
    rig.servers.close().await;
}

// T54
#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_call_that_is_over_is_declined_and_holds_nothing_up() {
    let rig = Rig::started(vec![server("kit", "")]).await;
    let context = ToolContext { asks: Some(Arc::new(Silent::default())), ..rig.context("tu_1") };
    // This server answers its call while its question waits.
    for count in 1..=2 {
        assert_eq!(&*rig.call_in("kit__ask_person", "{}", &context).await.content, "asked");
        rig.until("the answer to the question", |rig| rig.lines("answered.txt").len() == count).await;
    }
    assert!(rig.lines("answered.txt").iter().all(|line| line.contains("decline")), "{:?}", rig.lines("answered.txt"));
    rig.servers.close().await;
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_during_two_hundred_calls_ends_them_all_and_none_is_made_again() {
    let rig = Arc::new(Rig::started(vec![marked("many", "")]).await);
    let calls = (0..200).map(|n| {
        let rig = rig.clone();
        tokio::spawn(async move {
            let context = rig.context(&format!("tu_{n}"));
            rig.call_in("kit__wait", &format!("{{\"text\": \"{n}\"}}"), &context).await
        })
    });
    let calls: Vec<_> = calls.collect();
    rig.until("the calls", |rig| rig.lines("waiting.txt").len() == 200).await;
    kill(&rig, "many").await;
    let results = tokio::time::timeout(PATIENCE, join_all(calls)).await.expect("all end");
    let results: Vec<ToolResult> = results.into_iter().map(|result| result.expect("no panic")).collect();
    let wrong: Vec<_> = results.iter().filter(|result| !is_unknown(result)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(&*rig.call("kit__echo", r#"{"text": "back"}"#).await.content, "back");
    assert_eq!(rig.lines("waiting.txt").len(), 200, "none is made twice");
    rig.servers.close().await;
}

// F41
#[tokio::test(flavor = "multi_thread")]
async fn calls_over_http_end_with_a_server_that_is_gone_and_the_next_one_says_so() {
    let far = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let http = far.spawn(HttpServer::start(None)).await.expect("it starts");
    let connection = Connection::Http { url: http.url.clone(), headers: Default::default() };
    let rig = Arc::new(Rig::started(vec![ServerSettings { connection, ..server("far", "") }]).await);
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let rig = rig.clone();
            tokio::spawn(async move {
                let context = rig.context(&format!("tu_{n}"));
                rig.call_in("far__echo", r#"{"text": "WAIT"}"#, &context).await
            })
        })
        .collect();
    rig.until("the calls", |_| http.waiting() == 20).await;
    far.shutdown_background();
    let results = tokio::time::timeout(PATIENCE, join_all(calls)).await.expect("all end");
    for result in results {
        let result = result.expect("no panic");
        assert!(is_unknown(&result), "{}", result.content);
    }
    let next = tokio::time::timeout(PATIENCE, rig.call("far__echo", r#"{"text": "on"}"#)).await.expect("it ends");
    assert!(next.is_error, "{}", next.content);
    assert_eq!(http.waiting(), 20, "no call is sent twice");
    rig.servers.close().await;
}
