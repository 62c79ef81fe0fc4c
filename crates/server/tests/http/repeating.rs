//! `Idempotency-Key`: what is sent again is carried out once, also by the next server.

use serde_json::{Value, json};

use crate::open::Open;

/// What a request under a key is answered with.
async fn keyed(open: &Open, key: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = open.client.post(open.url(path)).bearer_auth(&open.token).header("Idempotency-Key", key);
    let answer = request.body(body.to_string()).send().await.expect("an answer");
    let status = answer.status().as_u16();
    (status, serde_json::from_str(&answer.text().await.expect("a body")).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_a_copy_and_a_message_that_are_sent_twice_under_one_key_are_there_once() {
    let open = Open::new().await;
    let begin = json!({ "message": "Read the thermometer", "agent": "general" });
    let first = keyed(&open, "begin 1", "/api/v1/threads", &begin).await;
    assert_eq!(first.0, 201, "{first:?}");
    let same = json!({ "agent": "general", "message": "Read the thermometer" });
    assert_eq!(keyed(&open, "begin 1", "/api/v1/threads", &same).await, first);
    let thread = first.1["id"].as_str().expect("an id").to_owned();
    open.until(&thread, "completed").await;

    let (fork, say) = (format!("/api/v1/threads/{thread}/fork"), format!("/api/v1/threads/{thread}/messages"));
    let copy = keyed(&open, "copy 1", &fork, &json!({})).await;
    assert_eq!(copy.0, 201, "{copy:?}");
    assert_ne!(copy.1["id"], first.1["id"]);
    assert_eq!(keyed(&open, "copy 1", &fork, &json!({})).await, copy);
    let words = json!({ "text": "again" });
    for _ in 0..2 {
        assert_eq!(keyed(&open, "say 1", &say, &words).await, (202, json!({ "id": thread })));
    }
    open.until_ended(&thread, 2).await;
    // Another request under a used key is refused, and changes nothing.
    for (key, path, body) in [
        ("begin 1", "/api/v1/threads", json!({ "message": "Read the barometer" })),
        ("begin 1", fork.as_str(), json!({})),
        ("say 1", say.as_str(), json!({ "text": "and again" })),
        ("", say.as_str(), words.clone()),
        (&*"k".repeat(256), say.as_str(), words.clone()),
    ] {
        let (status, problem) = keyed(&open, key, path, &body).await;
        let told = problem["detail"].as_str().unwrap_or_default();
        assert!(status == 422 && told.contains("Idempotency-Key"), "{key}: {status} {problem}");
    }
    assert_eq!(keyed(&open, "say 2", &say, &words).await.0, 202, "another key is another message");
    open.until_ended(&thread, 3).await;

    let again = Open::in_folder(open.close().await).await;
    assert_eq!(keyed(&again, "begin 1", "/api/v1/threads", &begin).await, first);
    assert_eq!(keyed(&again, "copy 1", &fork, &json!({})).await, copy);
    assert_eq!(keyed(&again, "say 1", &say, &words).await.0, 202);
    assert_eq!(again.get("/threads").await.as_array().map(Vec::len), Some(2));
    assert_eq!(again.get(&format!("/threads/{thread}")).await["runs"], 3);
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_is_sent_again_under_its_key_tells_the_run_of_the_first() {
    let open = Open::new().await;
    let ask = async |key: &str, body: Value| {
        let request = open.client.post(open.url("/api/chat")).bearer_auth(&open.token);
        let answer = request.header("Idempotency-Key", key).body(body.to_string()).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        let place = answer.headers()["content-location"].to_str().expect("text").to_owned();
        (place, answer.text().await.expect("it ends"))
    };
    let first = ask("1", json!({ "message": "greenhouse" })).await;
    assert_eq!(ask("1", json!({ "message": "greenhouse" })).await, first);
    let thread = first.0.rsplit('/').next().expect("a name").to_owned();
    let next = json!({ "message": "once more", "thread_id": thread });
    let second = ask("2", next.clone()).await;
    assert!(second.1.contains("\"prompt\":\"once more\""), "{}", second.1);
    assert_eq!(second.1.matches("\"type\":\"run_started\"").count(), 1, "{}", second.1);
    assert_eq!(ask("2", next).await, second);
    assert_eq!(open.get("/threads").await.as_array().map(Vec::len), Some(1));
    assert_eq!(open.get(&format!("/threads/{thread}")).await["runs"], 2);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_a_word_in_between_and_a_stop_that_are_sent_twice_are_answered_twice_and_taken_once() {
    let open = Open::new().await;
    open.start("write it").await;
    let question = open.question().await;
    let id = question["id"].as_str().expect("an id").replace('/', "%2F");
    let decide = format!("/api/v1/approvals/{id}/decision");
    let word = json!({ "decision": "deny", "digest": question["digest"] });
    let first = keyed(&open, "d", &decide, &word).await;
    assert_eq!((first.0, first.1["status"].as_str()), (200, Some("denied")), "{first:?}");
    assert_eq!(keyed(&open, "d", &decide, &word).await, first);
    assert_eq!(keyed(&open, "e", &decide, &word).await.0, 409, "under another key it is another decision");

    let thread = open.start("for ever").await;
    let (steer, stop) = (format!("/api/v1/threads/{thread}/steer"), format!("/api/v1/threads/{thread}/stop"));
    let hurry = json!({ "text": "hurry" });
    assert_eq!(keyed(&open, "s", &steer, &hurry).await.0, 202);
    assert_eq!(keyed(&open, "s", &steer, &hurry).await.0, 202);
    let now = json!({ "now": true });
    let stopped = keyed(&open, "x", &stop, &now).await;
    assert_eq!((stopped.0, stopped.1["state"].as_str()), (200, Some("cancelled")), "{stopped:?}");
    assert_eq!(keyed(&open, "s", &steer, &hurry).await.0, 202, "it was told");
    // A later run is none that this stop was for.
    let say = format!("/threads/{thread}/messages");
    assert_eq!(open.call("POST", &say, Some(json!({ "text": "for ever" }))).await.0, 202);
    open.until(&thread, "processing").await;
    assert_eq!(keyed(&open, "x", &stop, &now).await.0, 200);
    assert_eq!(open.get(&format!("/threads/{thread}")).await["state"], "processing");
    let told = open.get(&format!("/threads/{thread}/messages")).await.to_string();
    assert_eq!(told.matches("hurry").count(), 1, "{told}");
    open.close().await;
}
