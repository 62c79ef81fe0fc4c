//! Conversations: a message in, the run's frames out; the next message; a word in between; the end.

use majordomo::config::Flags;
use majordomo::household::demo;
use serde_json::{Value, json};

use crate::open::Open;

#[tokio::test(flavor = "multi_thread")]
async fn a_message_about_a_configured_household_goes_to_the_butler_unless_an_agent_is_named() {
    const QUESTION: &str = "When am I free on Tuesday?";
    for (route, expected) in [("auto", "butler"), ("off", "general")] {
        let folder = tempfile::tempdir().expect("a passing folder");
        let home = folder.path().join("house");
        demo::write(&home).expect("the sample");
        let set = vec![format!("household.folder={}", home.display()), format!("household.route={route}")];
        let open = Open::with_flags(folder, None, "script.toml", Flags { set, ..Flags::default() }).await;
        let answers = async |body: Value| {
            let (status, started) = open.call("POST", "/threads", Some(body)).await;
            assert_eq!(status, 201, "{started}");
            open.get(&format!("/threads/{}", started["id"].as_str().expect("an id"))).await["agent"].clone()
        };
        assert_eq!(answers(json!({ "message": QUESTION })).await, expected, "{route}");
        assert_eq!(answers(json!({ "message": "Read the thermometer" })).await, "general");
        assert_eq!(answers(json!({ "message": QUESTION, "agent": "explore" })).await, "explore");
        let chat = open.client.post(open.url("/api/chat")).bearer_auth(&open.token);
        let chat = chat.body(json!({ "message": QUESTION }).to_string()).send().await.expect("an answer");
        let place = chat.headers()["content-location"].to_str().expect("text").to_owned();
        let thread = open.get(place.strip_prefix("/api/v1").expect("a thread's address")).await;
        assert_eq!(thread["agent"], expected, "{route}");
        open.close().await;
    }
}

// ORION-12, ORION-13
#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_with_the_runs_frames_and_then_the_end() {
    let open = Open::new().await;
    let answer = open.client.post(open.url("/api/chat?dialect=orion")).bearer_auth(&open.token);
    let answer = answer.body(r#"{"message": "greenhouse"}"#).send().await.expect("an answer");
    assert_eq!(answer.headers()["cache-control"], "no-cache, no-store");
    let place = answer.headers()["content-location"].to_str().expect("text").to_owned();
    let text = answer.text().await.expect("it ends");
    let kinds: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str::<Value>(data).expect("JSON")["type"].as_str().expect("a type").to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["agent_start", "agent_delegate", "agent_start", "text", "agent_complete", "agent_resume", "text", "done"]
    );
    let thread = place.strip_prefix("/api/v1").expect("a thread's address");
    assert_eq!(open.get(thread).await["goal"], "greenhouse", "who loses the stream knows where to look");
    assert!(text.contains("\n\n"));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_in_the_same_thread_and_its_stream_stays_open() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    let path = format!("/api/v1/threads/{thread}/events");
    let first = open.watch(&path, None, "done").await;
    let (status, _) = open.call("POST", &format!("/threads/{thread}/messages"), Some(json!({ "text": "again" }))).await;
    assert_eq!(status, 202);
    let seen = first.last().expect("a frame").0;
    let second = open.watch(&path, Some(seen), "done").await;
    assert!(second.iter().any(|(_, frame)| frame["type"] == "run_started" && frame["prompt"] == "again"), "{second:?}");
    let told = open.get(&format!("/threads/{thread}/messages")).await;
    assert!(told["entries"].to_string().contains("greenhouse"), "{told}");
    assert_eq!(open.get(&format!("/executions?workflow={thread}")).await.as_array().map(Vec::len), Some(1));
    assert_eq!(open.get(&format!("/threads/{thread}/tree")).await[0]["id"], thread);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_told_something_and_stopped_and_what_is_not_there_is_said_to_be_so() {
    let open = Open::new().await;
    let thread = open.start("for ever").await;
    assert_eq!(open.call("POST", &format!("/threads/{thread}/steer"), Some(json!({ "text": "hurry" }))).await.0, 202);
    let (status, row) = open.call("POST", &format!("/threads/{thread}/stop"), Some(json!({ "now": true }))).await;
    assert_eq!((status, row["state"].as_str()), (200, Some("cancelled")), "{row}");
    assert_eq!(open.call("POST", &format!("/threads/{thread}/steer"), Some(json!({ "text": "hurry" }))).await.0, 409);
    let (status, problem) = open.call("GET", "/threads/nobody", None).await;
    assert_eq!((status, problem["status"].as_u64(), problem["title"].as_str()), (404, Some(404), Some("Not Found")));
    assert_eq!(open.call("DELETE", &format!("/threads/{thread}"), None).await.0, 204);
    assert_eq!(open.get("/threads").await, json!([]));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_when_a_thread_is_stopped_does_not_begin_by_itself() {
    let open = Open::new().await;
    let thread = open.start("for ever").await;
    let say = format!("/threads/{thread}/messages");
    for text in ["for ever and a day", "for ever and a year"] {
        assert_eq!(open.call("POST", &say, Some(json!({ "text": text }))).await.0, 202);
    }
    let (status, row) = open.call("POST", &format!("/threads/{thread}/stop"), Some(json!({ "now": true }))).await;
    assert_eq!((status, &row["outcome"], &row["runs"]), (200, &json!("cancelled"), &json!(1)), "{row}");
    let told = open.get(&say).await.to_string();
    assert!(told.contains("not begun") && told.contains("and a day") && told.contains("and a year"), "{told}");
    assert_eq!(open.call("DELETE", &format!("/threads/{thread}"), None).await.0, 204);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_left_in_the_middle_goes_on_when_the_next_one_starts() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    open.question().await;
    // Its process is taken for dead only when it is: here it leaves what it owned.
    let folder = open.close().await;
    let again = Open::in_folder(folder).await;
    let question = again.get("/approvals").await[0].clone();
    let path = format!("/approvals/{}/decision", question["id"].as_str().expect("an id").replace('/', "%2F"));
    let word = json!({ "decision": "deny", "digest": question["digest"], "reason": "not today" });
    let (status, came) = again.call("POST", &path, Some(word)).await;
    assert_eq!((status, came["status"].as_str()), (200, Some("denied")), "{came}");
    again.until(&thread, "completed").await;
    assert!(!again.folder.path().join("work/new.txt").exists());
    again.close().await;
}

// ORION-10, ORION-11, ORION-12, ORION-13, ORION-14
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_begins_with_a_prompt_comes_back_at_any_frame_and_ends_for_good() {
    let open = Open::new().await;
    let path = "/api/stream/any-name?prompt=greenhouse";
    let request = open.client.get(open.url(path)).bearer_auth(&open.token);
    let answer = request.send().await.expect("an answer");
    for (name, value) in
        [("content-type", "text/event-stream"), ("cache-control", "no-cache, no-store"), ("connection", "keep-alive")]
    {
        assert_eq!(answer.headers()[name], value);
    }
    let text = answer.text().await.expect("it ends");
    assert!(text.starts_with("id: ") && text.ends_with("\n\n"), "each is followed by an empty line: {text}");
    let blocks: Vec<&str> = text.trim_end().split("\n\n").collect();
    assert!(blocks.iter().all(|block| block.contains("\ndata: {")), "each has an id and data: {text}");
    let all = frames(&text);
    let told: Vec<(&str, &str)> = all.iter().map(|(_, frame)| (word(frame, "type"), word(frame, "agent"))).collect();
    assert_eq!(
        told,
        [
            ("agent_start", "general"),
            ("agent_delegate", ""),
            ("agent_start", "general"),
            ("text", "general"),
            ("agent_complete", "general"),
            ("agent_resume", "general"),
            ("text", "general"),
            ("done", ""),
        ]
    );
    for (_, frame) in
        all.iter().filter(|(_, frame)| frame["type"].as_str().is_some_and(|kind| kind.starts_with("agent_")))
    {
        assert!(frame["timestamp"].as_str().is_some_and(|at| at.ends_with('Z')), "{frame}");
    }
    assert_eq!(all.last().expect("a frame").1, json!({ "type": "done" }));
    // A reader that has seen nothing of the run comes back with the place before it.
    let begun = (all[0].0.rsplit_once('/').expect("a thread and a number").0.to_owned() + "/0", Value::Null);
    for (at, (id, _)) in [&begun].into_iter().chain(&all).enumerate() {
        let request = open.client.get(open.url(path)).bearer_auth(&open.token).header("last-event-id", id);
        let answer = request.send().await.expect("an answer");
        let is_last = at == all.len();
        assert_eq!(answer.status(), if is_last { 204 } else { 200 }, "after {id}");
        assert_eq!(frames(&answer.text().await.expect("it ends")), all[at..], "after {id}");
    }
    assert_eq!(open.get("/threads").await.as_array().map(Vec::len), Some(1), "coming back begins nothing");
    open.close().await;
}

// ORION-12: a GET starts work only for a client that proves to be on this machine
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_begun_for_our_own_page_and_not_for_a_browser_that_another_site_sent() {
    let open = Open::new().await;
    let entered = open.entered().await;
    let ask = |method: &str, headers: &[(&'static str, &'static str)]| {
        let url = open.url("/api/stream/x?prompt=greenhouse");
        let request = open.client.request(method.parse().expect("a method"), url).header("cookie", &entered.cookie);
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send()
    };
    let navigates = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    let led: [&[(&str, &str)]; 8] = [
        &[],
        &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
        &navigates,
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
        &[("authorization", "Bearer of bad news")],
        // T1: a link in an agent's words, on our own page
        &[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")],
        &[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
        &[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "navigate"), ("last-event-id", "x/0")],
    ];
    for headers in led {
        assert_eq!(ask("GET", headers).await.expect("an answer").status(), 403, "{headers:?}");
    }
    assert_eq!(ask("HEAD", &[("sec-fetch-site", "same-origin")]).await.expect("an answer").status(), 405);
    assert_eq!(ask("GET", &[("last-event-id", "nobody/1000")]).await.expect("an answer").status(), 404);
    assert_eq!(ask("GET", &[("last-event-id", "soon")]).await.expect("an answer").status(), 404);
    assert_eq!(open.get("/threads").await, json!([]), "nothing was begun");
    let as_a_stream = [("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")];
    let answer = ask("GET", &as_a_stream).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.expect("it ends").contains("\"done\""));
    open.close().await;
}

// ORION-12: the next message of a session, by either road
#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_with_the_next_message_and_tells_only_that_run() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let request = open.client.get(open.url(&format!("/api/stream/x?prompt=again&sessionId={thread}")));
    let text = request.bearer_auth(&open.token).send().await.expect("an answer").text().await.expect("it ends");
    let kinds: Vec<String> = frames(&text).iter().map(|(_, frame)| word(frame, "type").to_owned()).collect();
    assert_eq!(
        (kinds.first().map(String::as_str), kinds.last().map(String::as_str)),
        (Some("agent_start"), Some("done"))
    );
    assert_eq!(kinds.iter().filter(|kind| *kind == "done").count(), 1);
    let chat = open.client.post(open.url("/api/chat")).bearer_auth(&open.token);
    let chat = chat.body(json!({ "message": "once more", "thread_id": thread }).to_string());
    let text = chat.send().await.expect("an answer").text().await.expect("it ends");
    let frames = frames(&text);
    assert!(
        frames.iter().any(|(_, frame)| frame["type"] == "run_started" && frame["prompt"] == "once more"),
        "{frames:?}"
    );
    assert!(frames.iter().all(|(_, frame)| frame["run"] == thread), "{frames:?}");
    open.until_told(&format!("/threads/{thread}"), "three runs", |row| (row["runs"] == 3).then_some(())).await;
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_busy_thread_is_answered_with_its_own_run() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    let chat = open.client.post(open.url("/api/chat")).bearer_auth(&open.token);
    let chat = chat.body(json!({ "message": "are you there?", "thread_id": thread }).to_string());
    // Its head comes once the message is in the log.
    let answer = chat.send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let path = format!("/approvals/{}/decision", question["id"].as_str().expect("an id").replace('/', "%2F"));
    let no = json!({ "decision": "deny", "digest": question["digest"] });
    assert_eq!(open.call("POST", &path, Some(no)).await.0, 200);
    let told = frames(&answer.text().await.expect("it ends"));
    let first = &told.first().expect("a frame").1;
    assert_eq!((word(first, "type"), word(first, "prompt")), ("run_started", "are you there?"), "{told:?}");
    assert_eq!(told.iter().filter(|(_, frame)| frame["type"] == "done").count(), 1);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_waits_for_a_busy_thread_has_a_place_to_come_back_to_and_sends_nothing_twice() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    let path = format!("/api/stream/x?prompt=are+you+there%3F&sessionId={thread}");
    let ask = || open.client.get(open.url(&path)).bearer_auth(&open.token);
    let (mut waiting, mut text) = (ask().send().await.expect("an answer"), String::new());
    while !text.ends_with("\n\n") {
        text += &String::from_utf8_lossy(&waiting.chunk().await.expect("a piece").expect("more"));
    }
    drop(waiting);
    let place = text.strip_prefix("id: ").and_then(|text| text.strip_suffix("\ndata: {\"type\":\"stream_open\"}\n\n"));
    let place = place.unwrap_or_else(|| panic!("a place: {text}"));
    let answer = ask().header("last-event-id", place).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let path = format!("/approvals/{}/decision", question["id"].as_str().expect("an id").replace('/', "%2F"));
    let no = json!({ "decision": "deny", "digest": question["digest"] });
    assert_eq!(open.call("POST", &path, Some(no)).await.0, 200);
    let told = frames(&answer.text().await.expect("it ends"));
    assert_eq!(word(&told.last().expect("a frame").1, "type"), "done", "{told:?}");
    open.until_ended(&thread, 2).await;
    assert_eq!(open.get(&format!("/threads/{thread}")).await["runs"], 2, "the message came once");
    open.close().await;
}

// ZILEO-22, KATA-1, KATA-2, KATA-3, KATA-5
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_told_in_the_words_of_other_products() {
    let open = Open::new().await;
    let told = async |dialect: &str| {
        let chat = open.client.post(open.url(&format!("/api/chat?dialect={dialect}"))).bearer_auth(&open.token);
        let answer = chat.body(r#"{"message": "greenhouse"}"#).send().await.expect("an answer");
        frames(&answer.text().await.expect("it ends")).into_iter().map(|(_, frame)| frame).collect::<Vec<Value>>()
    };
    let zileo = told("zileo").await;
    let kinds: Vec<&str> = zileo.iter().map(|frame| word(frame, "type")).collect();
    assert_eq!(kinds, ["sub_agent_start", "sub_agent_complete"]);
    for frame in &zileo {
        let root = word(frame, "workflow_id");
        assert_eq!(word(frame, "parent_agent_id"), root);
        assert_eq!(word(frame, "sub_agent_id"), format!("{root}.1"));
        assert!(!word(frame, "sub_agent_name").is_empty());
    }
    assert_eq!(zileo[1]["data"]["report"], "It says 31 degrees.");
    assert!(zileo[1]["data"]["metrics"]["tokens_input"].is_u64(), "{}", zileo[1]);

    let kata = told("kata").await;
    let task = kata.iter().find(|frame| frame["type"] == "tool_start" && frame["toolName"] == "Task").expect("a task");
    assert!(task["parentToolUseId"].is_null() && task["agentSlug"] == task["input"]["subagent_type"], "{task}");
    let inside = kata.iter().find(|frame| frame["toolName"] == "list_dir").expect("a call of the child's");
    assert_eq!(inside["parentToolUseId"], task["toolUseId"], "{inside}");
    assert!(kata.iter().any(|frame| frame["type"] == "tool_result" && frame["toolUseId"] == task["toolUseId"]));
    // KATA-3: the path of the transcript leads to it.
    let stop = kata.iter().find(|frame| frame["type"] == "subagent_stop").expect("the task ends");
    let transcript = open.client.get(open.url(word(stop, "agentTranscriptPath"))).bearer_auth(&open.token);
    let transcript = transcript.send().await.expect("an answer").text().await.expect("a transcript");
    assert!(transcript.contains("Read the thermometer") && transcript.contains("It says 31 degrees."), "{transcript}");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_worked_on_is_not_written() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let newest = *open.staff.runtime().store().tail().borrow();
    let say = async |name: &str, text: &str| {
        open.call("POST", &format!("/threads/{name}/messages"), Some(json!({ "text": text }))).await.0
    };
    assert_eq!(say(&format!("{thread}.9"), "hello").await, 404, "there is no such sub-agent");
    assert_eq!(say(&thread, " \n ").await, 422);
    assert_eq!(say("nobody", "hello").await, 404);
    assert_eq!(*open.staff.runtime().store().tail().borrow(), newest, "nothing was written");
    let folder = open.close().await;
    std::fs::remove_file(folder.path().join("script.toml")).expect("the model is gone");
    let open = Open::built(folder, None, "other.toml").await;
    let newest = *open.staff.runtime().store().tail().borrow();
    let say = json!({ "text": "hello" });
    let (status, problem) = open.call("POST", &format!("/threads/{thread}/messages"), Some(say)).await;
    assert_eq!(status, 424, "{problem}");
    let chat = open.client.post(open.url("/api/chat")).bearer_auth(&open.token);
    let chat = chat.body(json!({ "message": "hello", "thread_id": thread }).to_string());
    assert_eq!(chat.send().await.expect("an answer").status(), 424);
    assert_eq!(*open.staff.runtime().store().tail().borrow(), newest, "nothing was written");
    open.close().await;
}

/// The frames of a stream, under their ids.
fn frames(text: &str) -> Vec<(String, Value)> {
    let (mut all, mut id) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(named) = line.strip_prefix("id: ") {
            id = named.to_owned();
        } else if line.is_empty() {
            id.clear();
        } else if let Some(data) = line.strip_prefix("data: ") {
            all.push((std::mem::take(&mut id), serde_json::from_str(data).expect("JSON")));
        }
    }
    all
}

fn word<'a>(frame: &'a Value, name: &str) -> &'a str {
    frame[name].as_str().unwrap_or_default()
}

// LACE-16, LACE-17
#[tokio::test(flavor = "multi_thread")]
async fn a_sub_agent_that_is_over_is_spoken_to_and_a_conversation_is_called_found_copied_and_put_away() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let call = async |method: &str, path: &str, body: Option<Value>| open.call(method, path, body).await;
    let (status, row) = call("PATCH", &format!("/threads/{thread}"), Some(json!({ "title": "The plants" }))).await;
    assert_eq!((status, &row["title"], &row["archived"]), (200, &json!("The plants"), &json!(false)));
    let (_, found) = call("GET", "/threads?search=plan", None).await;
    assert_eq!(found[0]["id"], json!(thread));
    let (status, fork) = call("POST", &format!("/threads/{thread}/fork"), Some(json!({}))).await;
    assert_eq!(status, 201);
    assert_ne!(fork["id"], json!(thread));
    assert_eq!(call("POST", &format!("/threads/{thread}/fork"), Some(json!({ "at": 1 }))).await.0, 422);
    let (_, listed) = call("GET", "/threads", None).await;
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    assert_eq!(call("PATCH", &format!("/threads/{thread}"), Some(json!({ "archived": true }))).await.0, 200);
    let (_, listed) = call("GET", "/threads", None).await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "one was put away");
    let (_, listed) = call("GET", "/threads?archived=1", None).await;
    assert_eq!(listed[0]["id"], json!(thread));

    let child = format!("{thread}.1");
    let (status, _) = call("POST", &format!("/threads/{child}/messages"), Some(json!({ "text": "And now?" }))).await;
    assert_eq!(status, 202);
    let runs = async || call("GET", &format!("/threads/{child}"), None).await.1["runs"].clone();
    assert_eq!(runs().await, json!(2), "it goes on with another turn");
    open.close().await;
}
