//! Files that come with messages: what is taken, what is refused and how, and what is handed out again.

use serde_json::{Value, json};

use crate::open::Open;

/// A red and a green pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP4z8DA8J8BAAf/Af8Bf4mnAAAAAElFTkSuQmCC";
const DOCUMENT: &str = "JVBERi0xLjQKMSAwIG9iaiA8PCAvVHlwZSAvUGFnZSA+PiBlbmRvYmoKJSVFT0YK";

fn file(name: &str, data: &str) -> Value {
    json!({ "name": name, "data": data })
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_part_of_a_message_at_every_address_that_takes_one() {
    let open = Open::new().await;
    let files = json!([file("dots.png", PICTURE), file("paper.pdf", DOCUMENT), file("words.txt", "VEVYVC1DQU5BUlk=")]);
    let (status, started) =
        open.call("POST", "/threads", Some(json!({ "message": "greenhouse", "files": files }))).await;
    assert_eq!(status, 201, "{started}");
    let thread = started["id"].as_str().expect("an id").to_owned();
    open.until(&thread, "completed").await;
    let said = json!({ "text": "again", "files": [file("dots.png", PICTURE)] });
    assert_eq!(open.call("POST", &format!("/threads/{thread}/messages"), Some(said)).await.0, 202);
    let path = format!("/threads/{thread}");
    open.until_ended(&thread, 2).await;
    let chat = json!({ "message": "once more", "thread_id": thread, "files": [file("paper.pdf", DOCUMENT)] });
    let chat = open.client.post(open.url("/api/chat")).bearer_auth(&open.token).body(chat.to_string());
    let frames = chat.send().await.expect("an answer").text().await.expect("it ends");
    assert!(frames.contains("\"attachments\":[{\"id\":"), "{frames}");
    let rows = open.get(&format!("{path}/messages")).await;
    let prompts: Vec<&Value> =
        rows["entries"].as_array().expect("rows").iter().filter(|row| !row["prompt"].is_null()).collect();
    let names = |at: usize| -> Vec<&str> {
        let files = prompts[at]["prompt"]["attachments"].as_array().expect("files");
        files.iter().map(|file| file["name"].as_str().expect("a name")).collect()
    };
    assert_eq!((names(0), names(1), names(2)), (vec!["dots.png", "paper.pdf"], vec!["dots.png"], vec!["paper.pdf"]));
    let first = prompts[0]["prompt"]["text"].as_str().expect("words");
    assert!(first.contains("TEXT-CANARY") && first.contains("[attached: dots.png]"), "{first}");
    assert_eq!(prompts[0]["prompt"]["attachments"][0]["media"], "image/png");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_sent_is_handed_out_as_an_image_or_as_bytes_and_as_nothing_that_a_browser_runs() {
    let open = Open::new().await;
    let files = json!([file("dots.png", PICTURE), file("paper.pdf", DOCUMENT), file("page.html", "PHNjcmlwdD4=")]);
    let (_, started) = open.call("POST", "/threads", Some(json!({ "message": "greenhouse", "files": files }))).await;
    let path = format!("/threads/{}/messages", started["id"].as_str().expect("an id"));
    let told = |rows: &Value| rows["entries"][0]["prompt"]["attachments"].as_array().cloned();
    let attachments = open.until_told(&path, "a prompt", told).await;
    assert_eq!(attachments.len(), 2, "a page is a text, and no file of its own: {attachments:?}");
    for (at, kind, how) in [(0, "image/png", "inline"), (1, "application/octet-stream", "attachment")] {
        let id = attachments[at]["id"].as_str().expect("an id");
        let request = open.client.get(open.url(&format!("/api/v1/files/{id}"))).bearer_auth(&open.token);
        let answer = request.send().await.expect("an answer");
        let head = |name: &str| answer.headers()[name].to_str().expect("text").to_owned();
        assert_eq!((head("content-type"), head("content-disposition")), (kind.to_owned(), how.to_owned()));
        assert_eq!(head("x-content-type-options"), "nosniff");
        assert!(head("content-security-policy").contains("default-src 'none'"));
        assert_eq!(
            answer.bytes().await.expect("bytes").len() as u64,
            attachments[at]["bytes"].as_u64().expect("a size")
        );
        let without = open.client.get(open.url(&format!("/api/v1/files/{id}"))).send().await.expect("an answer");
        assert_eq!(without.status(), 401);
    }
    for id in ["..%2Fmajordomo.db", "00", &"0".repeat(64), "server.token"] {
        assert_eq!(open.call("GET", &format!("/files/{id}"), None).await.0, 404, "{id}");
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_taken_is_refused_by_its_reason_and_nothing_is_begun() {
    let open = Open::new().await;
    let zeros = |megabytes: usize| "A".repeat(megabytes * 1024 * 1024 / 3 * 4);
    let long_text = "d29yZHMg".repeat(60_000);
    let many: Vec<Value> = (0..11).map(|nth| file(&format!("{nth}.png"), PICTURE)).collect();
    let cases = [
        (json!([file("data.bin", "AAEC")]), 415, "neither a text, nor an image"),
        (json!([file("broken.png", &PICTURE[..28])]), 422, "cannot be read as an image"),
        (json!([file("long.txt", &long_text)]), 413, "longer than 256 KiB"),
        (json!([file("a", &zeros(12)), file("b", &zeros(13))]), 413, "at most 24 MiB"),
        (json!([file("a", &zeros(36))]), 413, "the body is too large"),
        (json!([file("a.png", "no base64!")]), 422, "is no base64"),
        (json!([file("a.png", "")]), 422, "is empty"),
        (json!([file("", PICTURE)]), 422, "is no name of a file"),
        (json!([file("../..", PICTURE)]), 422, "is no name of a file"),
        (json!([file("a\nb.png", PICTURE)]), 422, "no control characters"),
        (json!([file(&"x".repeat(256), PICTURE)]), 422, "at most 255 characters"),
        (json!(many), 422, "10 is the most"),
        (json!([{ "name": "a.png" }]), 422, "missing field"),
    ];
    for (files, expected, told) in cases {
        let body = json!({ "message": "greenhouse", "files": files }).to_string();
        let request = open.client.post(open.url("/api/v1/threads")).bearer_auth(&open.token).body(body);
        // What is too large is refused before it is read, and a client that still writes may miss the answer: then it asks again.
        let mut answer = None;
        for _ in 0..20 {
            answer = request.try_clone().expect("a body in memory").send().await.ok();
            if answer.is_some() {
                break;
            }
        }
        let answer = answer.expect("an answer");
        assert_eq!(answer.headers()["content-type"], "application/problem+json", "{told}");
        let status = answer.status().as_u16();
        let problem = answer.text().await.expect("a body");
        assert!(status == expected && problem.contains(told), "{status}: {problem}, and not {expected}: {told}");
    }
    assert_eq!(open.get("/threads").await, json!([]));
    let thread = open.start("for ever").await;
    let steer = json!({ "text": "look", "files": [file("dots.png", PICTURE)] });
    assert_eq!(open.call("POST", &format!("/threads/{thread}/steer"), Some(steer)).await.0, 422, "words alone");
    open.close().await;
}
