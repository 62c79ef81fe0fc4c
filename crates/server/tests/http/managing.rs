//! What is done with a conversation as a whole: its marks, a copy of it, a file of it.

use serde_json::{Value, json};

use crate::open::Open;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_over_http_is_unread_until_it_is_said_to_be_read() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    let path = format!("/threads/{thread}");
    open.until(&thread, "completed").await;
    assert_eq!(open.get(&path).await["unread"], true);
    let (status, row) = open.call("PATCH", &path, Some(json!({ "read": true }))).await;
    assert_eq!((status, &row["unread"]), (200, &json!(false)));
    open.call("POST", &format!("{path}/messages"), Some(json!({ "text": "again" }))).await;
    open.until_told(&path, "another answer", |row| (row["unread"] == true).then_some(())).await;
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_of_a_conversation_at_the_same_moment_all_holds() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let path = format!("/threads/{thread}");
    for round in 0..20 {
        let (title, archived) = (format!("Plants {round}"), round % 2 == 0);
        let said = [json!({ "title": title }), json!({ "archived": archived }), json!({ "read": true })];
        let said = said.map(|marks| open.call("PATCH", &path, Some(marks)));
        for (status, _) in futures_util::future::join_all(said).await {
            assert_eq!(status, 200);
        }
        let row = open.get(&path).await;
        assert_eq!((&row["title"], &row["archived"]), (&json!(title), &json!(archived)));
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_has_a_title_and_is_listed_where_it_was_put() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let path = format!("/threads/{thread}");
    let marks = json!({ "title": "The plants", "archived": true });
    let (_, row) = open.call("PATCH", &path, Some(marks)).await;
    assert_eq!((&row["title"], &row["archived"]), (&json!("The plants"), &json!(true)));
    assert_eq!(open.get("/threads").await, json!([]));
    assert_eq!(open.get("/threads?archived=1").await[0]["id"], thread);
    open.call("PATCH", &path, Some(json!({ "archived": false, "title": "" }))).await;
    let row = open.get("/threads").await[0].clone();
    assert_eq!((&row["id"], &row["title"]), (&json!(thread), &Value::Null));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_saved_to_read_and_to_take_in_again() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    for (ending, kind, told) in [
        ("md", "text/markdown; charset=utf-8", "**You:** greenhouse"),
        ("jsonl", "application/octet-stream", "\"majordomo_thread\":1"),
    ] {
        let address = open.url(&format!("/api/v1/threads/{thread}/export.{ending}"));
        let answer = open.client.get(address).bearer_auth(&open.token).send().await.expect("an answer");
        assert_eq!(answer.headers()["content-type"], kind);
        let name = format!("attachment; filename=\"{thread}.{ending}\"");
        assert_eq!(answer.headers()["content-disposition"], *name);
        let text = answer.text().await.expect("a file");
        assert!(text.contains(told) && text.contains(&format!("{thread}.1")), "{text}");
    }
    assert_eq!(open.call("GET", "/threads/nobody/export.md", None).await.0, 404);
    // An image comes along.
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DA8J8BAAf/Af8Bf4mnAAAAAElFTkSuQmCC";
    let said = json!({ "text": "again", "files": [{ "name": "dots.png", "data": picture }] });
    assert_eq!(open.call("POST", &format!("/threads/{thread}/messages"), Some(said)).await.0, 202);
    open.until_ended(&thread, 2).await;
    let address = open.url(&format!("/api/v1/threads/{thread}/export.jsonl"));
    let answer = open.client.get(address).bearer_auth(&open.token).send().await.expect("an answer");
    let text = answer.text().await.expect("a file");
    assert!(text.starts_with("{\"majordomo_thread\":2,"), "{text}");
    assert!(
        text.lines().last().is_some_and(|line| line.starts_with("{\"file\":") && line.contains("\"data\":\"iVBOR")),
        "{text}"
    );
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_ends_at_the_answer_that_was_named() {
    let open = Open::new().await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let path = format!("/threads/{thread}");
    open.call("POST", &format!("{path}/messages"), Some(json!({ "text": "again" }))).await;
    open.until_ended(&thread, 2).await;
    let (status, copy) = open.call("POST", &format!("{path}/fork"), Some(json!({ "at": 2 }))).await;
    assert_eq!(status, 201, "{copy}");
    let rows = open.get(&format!("/threads/{}/messages", copy["id"].as_str().expect("an id"))).await.to_string();
    assert!(rows.contains("greenhouse") && !rows.contains("again"), "{rows}");
    let (status, problem) = open.call("POST", &format!("{path}/fork"), Some(json!({ "at": 3 }))).await;
    assert_eq!(status, 422, "{problem}");
    // A sub-agent's conversation is copied, not that of its root.
    let (status, copy) = open.call("POST", &format!("/threads/{thread}.1/fork"), Some(json!({ "at": 2 }))).await;
    assert_eq!(status, 201, "{copy}");
    let rows = open.get(&format!("/threads/{}/messages", copy["id"].as_str().expect("an id"))).await.to_string();
    assert!(rows.contains("Read the thermometer") && !rows.contains("greenhouse"), "{rows}");
    open.close().await;
}
