//! Watching: one family, or all threads, with neither gaps nor duplicates.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::open::{Open, PATIENCE};

// F38
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reconnects_at_any_frame_goes_on_without_a_gap_and_without_a_double() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    let path = format!("/api/v1/threads/{thread}/events");
    let all = open.watch(&path, None, "done").await;
    let numbers: Vec<u64> = all.iter().map(|(id, _)| *id).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    assert!(all.iter().any(|(_, frame)| frame["thread"] == format!("{thread}.1")), "descendants are in it");
    for (at, cut) in numbers.iter().enumerate().take(numbers.len() - 1) {
        let rest = open.watch(&path, Some(*cut), "done").await;
        assert_eq!(rest, all[at + 1..], "cut after {cut}");
    }
    // And across a restart: the numbers are those of the log.
    let again = Open::in_folder(open.close().await).await;
    for (at, cut) in numbers.iter().enumerate().take(numbers.len() - 1) {
        let rest = again.watch(&path, Some(*cut), "done").await;
        assert_eq!(rest, all[at + 1..], "cut after {cut}, and started again");
    }
    again.close().await;
}

// F38
#[tokio::test(flavor = "multi_thread")]
async fn the_whole_house_is_watched_from_any_frame_without_a_gap_and_without_a_double() {
    let open = Open::new().await;
    let (one, other) = (open.start("greenhouse").await, open.start("greenhouse").await);
    open.until(&one, "completed").await;
    open.until(&other, "completed").await;
    let all = all_threads(&open, "?after=0", None, 2).await;
    let numbers: Vec<u64> = all.iter().map(|(id, _)| *id).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    for root in [&one, &other] {
        let own: Vec<Value> =
            all.iter().map(|(_, frame)| frame.clone()).filter(|frame| frame["run"] == **root).collect();
        let family = open.watch(&format!("/api/v1/threads/{root}/events"), None, "done").await;
        let family: Vec<Value> = family.into_iter().map(|(_, frame)| frame).collect();
        assert_eq!(own, family, "the same frames as the family's own stream has");
    }
    let ends = |frames: &[(u64, Value)]| frames.iter().filter(|(_, frame)| frame["type"] == "done").count();
    for (at, cut) in numbers.iter().enumerate().take(numbers.len() - 1) {
        let rest = all_threads(&open, "", Some(*cut), ends(&all[at + 1..])).await;
        assert_eq!(rest, all[at + 1..], "cut after {cut}");
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_has_seen_nothing_watches_all_threads_from_now_on_and_can_reconnect_at_once() {
    let open = Open::new().await;
    let before = open.start("greenhouse").await;
    open.until(&before, "completed").await;
    // The first answer is cut before anything happens: its place is known all the same.
    let mut watching = open.watching("/api/v1/events", None).await;
    let place = watching.place().await;
    drop(watching);
    let after = open.start("greenhouse").await;
    open.until(&after, "completed").await;
    let seen = all_threads(&open, "", Some(place.parse().expect("a number")), 1).await;
    assert!(seen.iter().all(|(_, frame)| frame["run"] == *after), "{seen:?}");
    let first = &seen.first().expect("a frame").1;
    assert_eq!(first["type"], "thread_created", "from its very beginning");
    let in_other_words = all_threads(&open, "?dialect=orion", Some(place.parse().expect("a number")), 1).await;
    let kinds: Vec<&Value> = in_other_words.iter().map(|(_, frame)| &frame["type"]).collect();
    let orion =
        ["agent_start", "agent_delegate", "agent_start", "text", "agent_complete", "agent_resume", "text", "done"];
    assert_eq!(kinds, orion.map(Value::from).iter().collect::<Vec<_>>());
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_while_all_threads_are_watched_is_told_and_not_twice() {
    let open = Open::new().await;
    let mut watching = open.watching("/api/v1/events", None).await;
    watching.place().await;
    let thread = open.start("greenhouse").await;
    let mut frames = Vec::new();
    while frames.last().is_none_or(|frame: &Value| frame["type"] != "done") {
        frames.push(watching.next("done").await.expect("an event").1);
    }
    let family = open.watch(&format!("/api/v1/threads/{thread}/events"), None, "done").await;
    assert_eq!(frames, family.into_iter().map(|(_, frame)| frame).collect::<Vec<_>>());
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_block_of_every_stream_carries_data() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let runs = ["/api/chat?dialect=", "/api/stream/x?prompt=greenhouse&dialect="].map(str::to_owned);
    let all = ["/api/v1/events?dialect=", "/api/v1/events?after=0&dialect="].map(str::to_owned);
    let family = format!("/api/v1/threads/{thread}/events?dialect=");
    let paths = all.into_iter().chain([family]).chain(runs.clone());
    let paths = paths.flat_map(|path| view::Dialect::NAMES.map(|dialect| format!("{path}{dialect}")));
    for path in paths.chain([format!("/api/v1/threads/{thread}/events"), "/api/v1/events?after=0".to_owned()]) {
        let request = match path.starts_with("/api/chat") {
            true => open.client.post(open.url(&path)).body(json!({ "message": "greenhouse" }).to_string()),
            false => open.client.get(open.url(&path)),
        };
        let request = request.bearer_auth(&open.token);
        let mut answer = request.send().await.expect("an answer");
        let mut text = String::new();
        while !text.contains("\n\n") {
            text += &String::from_utf8_lossy(&answer.chunk().await.expect("a piece").expect("more"));
        }
        let block = text.split("\n\n").next().expect("a block");
        let has = |field: &str| block.lines().any(|line| line.starts_with(field));
        let is_run = runs.iter().any(|run| path.starts_with(run));
        assert!(has("data: {") && has("id: ") && (is_run || has("retry: ")), "{path}: {block}");
    }
    open.close().await;
}

// F38
#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_is_not_of_this_log_starts_the_stream_over_and_says_so() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let path = format!("/api/v1/threads/{thread}/events");
    let mut watching = open.watching(&path, Some("99999999000")).await;
    assert_eq!(watching.next("stream_reset").await.expect("an event"), (None, json!({ "type": "stream_reset" })));
    let first = watching.next("the first frame").await.expect("an event").1;
    assert_eq!((first["type"].as_str(), first["seq"].as_u64()), (Some("thread_created"), Some(1000)));
    let mut watching = open.watching("/api/v1/events", Some("99999999000")).await;
    assert_eq!(watching.next("stream_reset").await.expect("an event"), (None, json!({ "type": "stream_reset" })));
    // What is no number is no place: the same as none.
    let mut watching = open.watching(&path, Some("yesterday")).await;
    assert_eq!(watching.next("the first frame").await.expect("an event").1, first);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_are_listed_page_by_page() {
    let open = Open::new().await;
    let mut started = Vec::new();
    for _ in 0..5 {
        let thread = open.start("greenhouse").await;
        open.until(&thread, "completed").await;
        started.push(thread);
    }
    let (mut path, mut listed, mut pages) = ("/api/v1/threads?limit=2".to_owned(), Vec::new(), 0);
    loop {
        let answer = open.client.get(open.url(&path)).bearer_auth(&open.token).send().await.expect("an answer");
        let link = answer.headers().get("link").map(|link| link.to_str().expect("text").to_owned());
        let page: Value = serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
        listed.extend(page.as_array().expect("a list").iter().map(|row| row["id"].as_str().expect("an id").to_owned()));
        pages += 1;
        match link {
            Some(link) => {
                let next = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
                path = next.expect("a link").to_owned();
            }
            None => break,
        }
    }
    assert_eq!((pages, listed.len()), (3, 5));
    let (listed, started): (std::collections::BTreeSet<_>, _) =
        (listed.into_iter().collect(), started.into_iter().collect());
    assert_eq!(listed, started);
    open.close().await;
}

/// The frames of all threads after one, up to so many ends of runs.
async fn all_threads(open: &Open, query: &str, after: Option<u64>, ends: usize) -> Vec<(u64, Value)> {
    let after = after.map(|after| after.to_string());
    let mut watching = open.watching(&format!("/api/v1/events{query}"), after.as_deref()).await;
    let (mut frames, mut left) = (Vec::new(), ends);
    while left > 0 {
        let (id, frame) = watching.next("the end of a run").await.expect("an event");
        left -= usize::from(frame["type"] == "done");
        frames.push((id.expect("an id").parse().expect("a number"), frame));
    }
    frames
}

// F36, F44
#[tokio::test(flavor = "multi_thread")]
async fn watchers_that_have_left_hold_no_file_handle_and_no_memory() {
    const WATCHERS: usize = 500;
    const ROUNDS: usize = 8;
    /// Rounds in which the allocator takes the pages that it needs from then on.
    const WARM: usize = 3;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).expect("as many files as may be open");
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let before = Handles::now();
    let mut resident = Vec::new();
    for round in 0..ROUNDS {
        let watchers: Vec<TcpStream> = (0..WATCHERS)
            .map(|number| {
                let path = match number % 3 {
                    0 => "/api/v1/events".to_owned(),
                    1 => format!("/api/v1/threads/{thread}/events"),
                    _ => format!("/api/v1/threads/{thread}/events?dialect=orion"),
                };
                let mut stream = TcpStream::connect(open.addr).expect("a connection");
                let head = format!("Host: {}\r\nAuthorization: Bearer {}\r\n", open.addr, open.token);
                write!(stream, "GET {path} HTTP/1.1\r\n{head}\r\n").expect("sent");
                stream
            })
            .collect();
        for mut stream in &watchers {
            stream.set_read_timeout(Some(PATIENCE)).expect("patience");
            let mut piece = [0; 4096];
            let length = stream.read(&mut piece).expect("an answer");
            assert!(piece[..length].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&piece[..length]));
        }
        assert!(Handles::now().sockets >= 2 * WATCHERS, "both ends are in this process");
        drop(watchers);
        let begun = Instant::now();
        loop {
            let now = Handles::now();
            // A connection that stood idle may have been closed meanwhile.
            if now.others == before.others && now.sockets <= before.sockets {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "round {round}: {now:?} where there were {before:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        resident.push(resident_kb());
    }
    let (least, last) = (resident[..WARM].iter().max().expect("a round"), resident[ROUNDS - 1]);
    let grown_kb = last.saturating_sub(*least);
    // A connection that was kept would hold what it reads into, eight kilobytes: four times this bound.
    let left = WATCHERS * (ROUNDS - WARM);
    assert!(grown_kb < left as u64 * 2, "{grown_kb} kB more after {left} further watchers: {resident:?}");
    open.close().await;
}

/// The open files of this process.
#[derive(Debug)]
struct Handles {
    sockets: usize,
    others: usize,
}

impl Handles {
    fn now() -> Self {
        let all = fs::read_dir("/proc/self/fd").expect("they can be seen").flatten();
        let (sockets, others): (Vec<bool>, Vec<bool>) = all
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .map(|file| file.to_string_lossy().starts_with("socket:"))
            .partition(|is_socket| *is_socket);
        Self { sockets: sockets.len(), others: others.len() }
    }
}

/// The memory that this process has, in kB.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it can be seen");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
