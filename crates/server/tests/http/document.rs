//! The OpenAPI document: it tells of every route, and what it tells is true of real answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::open::Open;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_the_one_in_the_docs() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    let served = serde_json::to_string_pretty(&document).expect("JSON") + "\n";
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&kept, &served).expect("the document can be written");
    }
    let expected = std::fs::read_to_string(&kept).unwrap_or_default();
    assert!(served == expected, "docs/openapi.json is not what is served; UPDATE_GOLDEN=1 writes it anew");
    open.close().await;
}

/// Places of a schema that a generator of clients has no name for: objects with fields of their own inside other schemas, and choices
/// between words that are no plain `enum`.
fn nameless(schema: &Value, place: &str, is_named: bool, found: &mut Vec<String>) {
    match schema {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(nth, one)| nameless(one, &format!("{place}/{nth}"), false, found));
        }
        Value::Object(object) => {
            if !is_named && object.contains_key("properties") {
                found.push(format!("{place} is an object without a name"));
            }
            let choice = object.get("oneOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            if choice.iter().any(|one| one.get("const").is_some() || one.get("enum").is_some()) {
                found.push(format!("{place} is no plain enum"));
            }
            for (key, value) in object.iter().filter(|(key, _)| *key != "properties") {
                nameless(value, &format!("{place}/{key}"), false, found);
            }
            // The names of fields are no keywords.
            for (field, value) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
                nameless(value, &format!("{place}.{field}"), false, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn generators_of_clients_find_a_name_for_every_object_and_plain_enums() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    let mut found = Vec::new();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    for (name, schema) in schemas {
        nameless(schema, name, true, &mut found);
    }
    for Operation { path, method, told } in operations(&document) {
        nameless(&told, &format!("{method} {path}"), false, &mut found);
    }
    assert_eq!(found, [""; 0]);
    for Operation { path, method, told } in operations(&document) {
        for parameter in told["parameters"].as_array().into_iter().flatten() {
            // One that is not there is left out: a client that could send null would have no way to write it.
            let schema = &parameter["schema"];
            let is_plain = schema["type"].is_string() || schema["$ref"].is_string();
            assert!(is_plain && schema["anyOf"].is_null(), "{method} {path}: {parameter}");
        }
    }
    for (shape, field) in [("Task", "status"), ("NewTask", "priority"), ("TaskChange", "status")] {
        let told = schemas[shape]["properties"][field].to_string();
        assert!(told.contains("#/components/schemas/Task"), "{shape}.{field} is a word of a list: {told}");
    }
    assert_eq!(schemas["Outcome"]["type"], "string");
    assert!(schemas["Outcome"]["enum"].as_array().is_some_and(|words| words.len() == 8), "{}", schemas["Outcome"]);
    assert!(schemas.contains_key("EntryPrompt") && schemas.contains_key("PromptRow"));
    let frames = schemas["Frame"]["discriminator"]["mapping"].as_object().expect("a mapping");
    for (word, reference) in frames {
        let place = reference.as_str().and_then(|reference| reference.strip_prefix('#')).expect("here");
        let kind = document.pointer(place).unwrap_or_else(|| panic!("{reference} leads nowhere"));
        assert_eq!(kind["properties"]["type"]["const"], **word, "{word}");
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_sound() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1.")));
    let mut references = Vec::new();
    find_references(&document, &mut references);
    assert!(references.len() > 50, "{references:?}");
    for reference in references {
        let place = reference.strip_prefix('#').expect("everything is in the document");
        assert!(document.pointer(place).is_some(), "{reference} leads nowhere");
    }
    for (name, schema) in document["components"]["schemas"].as_object().expect("schemas") {
        assert!(jsonschema::meta::validate(schema).is_ok(), "{name}: {schema}");
        assert!(schema["description"].is_string(), "{name} says what it is");
        for (field, told) in schema["properties"].as_object().into_iter().flatten() {
            assert!(told["description"].is_string(), "{name}.{field} says what it is");
        }
    }
    let mut ids = BTreeSet::new();
    for Operation { path, method, told } in operations(&document) {
        let id = told["operationId"].as_str().expect("a name");
        assert!(ids.insert(id.to_owned()), "{id} is there twice");
        let parameters = told["parameters"].as_array().cloned().unwrap_or_default();
        let declared: BTreeSet<&str> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().expect("a name"))
            .collect();
        let named: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        assert_eq!(declared, named, "{path}");
        for parameter in &parameters {
            let words = parameter["description"].as_str().unwrap_or_default();
            assert!(!words.is_empty(), "{method} {path}: {parameter}");
            assert!(jsonschema::meta::validate(&parameter["schema"]).is_ok(), "{method} {path}: {parameter}");
        }
        let answers = told["responses"].as_object().expect("answers");
        assert_eq!(answers["default"]["$ref"], "#/components/responses/Problem", "{method} {path}");
        assert!(answers.len() > 1 && told["summary"].is_string(), "{method} {path}");
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_knows_the_methods_that_are_told_and_no_others() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    for (path, told) in document["paths"].as_object().expect("paths") {
        let mut told: BTreeSet<String> =
            told.as_object().expect("methods").keys().map(|key| key.to_uppercase()).collect();
        if told.contains("GET") {
            told.insert("HEAD".to_owned());
        }
        let address = path.replace("{id}", "nobody").replace("{path}", "main.js");
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
            let request = open.client.request(method.parse().expect("a method"), open.url(&address));
            let answer = request.bearer_auth(&open.token).send().await.expect("an answer");
            // A look must begin nothing, and use nothing up.
            let is_costly_look = method == "HEAD" && ["/api/stream/{id}", "/enter"].contains(&path.as_str());
            let refused = answer.status() == 405;
            assert_eq!(refused, !told.contains(method) || is_costly_look, "{method} {path}: {}", answer.status());
            if refused {
                let allowed = answer.headers()["allow"].to_str().expect("text").to_owned();
                let allowed: BTreeSet<String> = allowed.split(", ").map(str::to_owned).collect();
                assert!(is_costly_look || allowed == told, "{method} {path}: {allowed:?}");
                assert_eq!(answer.headers()["content-type"], "application/problem+json", "{method} {path}");
            }
        }
    }
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_as_the_document_tells() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    let thread = open.start("greenhouse").await;
    open.until(&thread, "completed").await;
    let agent = crate::tasks::begin_task(&open, &thread).await;
    let asking = open.start("write it").await;
    let question = open.question().await;
    let endless = open.start("for ever").await;
    let lost = open.start("greenhouse").await;
    open.until(&lost, "completed").await;
    let paper = json!({ "message": "greenhouse", "files": [{ "name": "paper.pdf", "data": "JVBERi0xLjQK" }] });
    let (_, sent) = open.call("POST", "/threads", Some(paper)).await;
    let rows = open.get(&format!("/threads/{}/messages", sent["id"].as_str().expect("an id"))).await;
    let document_id = rows["entries"][0]["prompt"]["attachments"][0]["id"].as_str().expect("a file").to_owned();
    let id = question["id"].as_str().expect("an id").replace('/', "%2F");
    let word = json!({ "decision": "allow", "digest": question["digest"] });
    let examples: Vec<(&str, &str, String, Option<Value>)> = vec![
        ("listThreads", "GET", "/api/v1/threads?limit=1&all=1".to_owned(), None),
        ("startThread", "POST", "/api/v1/threads".to_owned(), Some(json!({ "message": "greenhouse" }))),
        ("showThread", "GET", format!("/api/v1/threads/{asking}"), None),
        ("markThread", "PATCH", format!("/api/v1/threads/{thread}"), Some(json!({ "title": "The plants" }))),
        ("forkThread", "POST", format!("/api/v1/threads/{thread}/fork"), Some(json!({ "at": 2 }))),
        ("listMessages", "GET", format!("/api/v1/threads/{thread}/messages"), None),
        ("sendMessage", "POST", format!("/api/v1/threads/{thread}/messages"), Some(json!({ "text": "again" }))),
        ("exportMarkdown", "GET", format!("/api/v1/threads/{thread}/export.md"), None),
        ("exportLog", "GET", format!("/api/v1/threads/{thread}/export.jsonl"), None),
        ("showAttachedFile", "GET", format!("/api/v1/files/{document_id}"), None),
        ("showTree", "GET", format!("/api/v1/threads/{asking}/tree"), None),
        ("steerThread", "POST", format!("/api/v1/threads/{endless}/steer"), Some(json!({ "text": "hurry" }))),
        ("stopThread", "POST", format!("/api/v1/threads/{endless}/stop"), Some(json!({ "now": true }))),
        ("removeThread", "DELETE", format!("/api/v1/threads/{lost}"), None),
        ("watchThread", "GET", format!("/api/v1/threads/{thread}/events?deltas=1"), None),
        ("watchAllThreads", "GET", "/api/v1/events?after=0".to_owned(), None),
        ("listApprovals", "GET", "/api/v1/approvals?all=1".to_owned(), None),
        ("showApproval", "GET", format!("/api/v1/approvals/{id}"), None),
        ("decideApproval", "POST", format!("/api/v1/approvals/{id}/decision"), Some(word)),
        ("addTask", "POST", "/api/v1/tasks".to_owned(), Some(json!({ "title": "Water", "assign": "human" }))),
        ("addTask", "POST", "/api/v1/tasks".to_owned(), Some(json!({ "title": "Weed", "after": ["t1"] }))),
        ("listTasks", "GET", "/api/v1/tasks?limit=1".to_owned(), None),
        ("showTask", "GET", "/api/v1/tasks/t2".to_owned(), None),
        ("changeTask", "PATCH", "/api/v1/tasks/t1".to_owned(), Some(json!({ "status": "completed" }))),
        ("addNote", "POST", "/api/v1/tasks/t1/notes".to_owned(), Some(json!({ "text": "done at noon" }))),
        ("listNotes", "GET", "/api/v1/tasks/t1/notes".to_owned(), None),
        ("removeTask", "DELETE", "/api/v1/tasks/t2".to_owned(), None),
        ("showTaskAgent", "GET", format!("/api/v1/threads/{agent}/agent"), None),
        ("listTaskAgents", "GET", format!("/api/v1/threads/{thread}/agents"), None),
        ("listAgents", "GET", "/api/v1/agents".to_owned(), None),
        ("showModels", "GET", "/api/v1/models".to_owned(), None),
        ("listExecutions", "GET", format!("/api/v1/executions?workflow={thread}"), None),
        ("showUsage", "GET", "/api/v1/usage".to_owned(), None),
        ("showConfig", "GET", "/api/v1/config".to_owned(), None),
        ("showHealth", "GET", "/api/v1/healthz".to_owned(), None),
        ("showDocument", "GET", "/api/v1/openapi.json".to_owned(), None),
        ("chat", "POST", "/api/chat".to_owned(), Some(json!({ "message": "greenhouse" }))),
        ("stream", "GET", "/api/stream/x?prompt=greenhouse&dialect=canonical".to_owned(), None),
        ("showPage", "GET", "/".to_owned(), None),
        ("showChat", "GET", "/chat".to_owned(), None),
        ("showThreadPage", "GET", format!("/t/{thread}"), None),
        ("showFile", "GET", "/page/main.js".to_owned(), None),
        ("showLife", "GET", "/healthz".to_owned(), None),
        ("enterByLink", "GET", open.link.strip_prefix(&open.url("")).expect("here").to_owned(), None),
    ];
    let told: BTreeMap<String, Value> = operations(&document)
        .into_iter()
        .map(|operation| (operation.told["operationId"].as_str().expect("a name").to_owned(), operation.told))
        .collect();
    let mut tried: BTreeSet<String> = examples.iter().map(|(id, ..)| (*id).to_owned()).collect();
    // A form for people: who is let in by it is tested with the door.
    tried.insert("enterByPassword".to_owned());
    assert_eq!(tried, told.keys().cloned().collect(), "every operation has an example");
    let inside_an_item = document["components"]["schemas"]["StreamItem"]["properties"]["data"]["contentSchema"].clone();
    for (id, method, path, body) in examples {
        let mut request =
            open.client.request(method.parse().expect("a method"), open.url(&path)).bearer_auth(&open.token);
        if let Some(body) = &body {
            check(
                &document,
                &format!("{id}: what is sent"),
                &told[id]["requestBody"]["content"]["application/json"]["schema"],
                body,
            );
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let mut answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16().to_string();
        let promised = &told[id]["responses"][&status];
        assert!(promised.is_object(), "{id} answers {status}: {:?}", answer.text().await);
        for name in promised["headers"].as_object().into_iter().flat_map(|headers| headers.keys()) {
            assert!(answer.headers().contains_key(name), "{id} has no {name}");
        }
        let Some(kinds) = promised["content"].as_object() else {
            assert_eq!(answer.bytes().await.expect("a body").len(), 0, "{id}");
            continue;
        };
        let kind = answer.headers()["content-type"].to_str().expect("text").to_owned();
        let (promised_kind, promised) = kinds.iter().next().expect("a kind");
        match &**promised_kind {
            "application/json" => {
                assert_eq!(kind, "application/json", "{id}");
                let value: Value = serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON");
                check(&document, id, &promised["schema"], &value);
            }
            "text/event-stream" => {
                assert_eq!(kind, "text/event-stream", "{id}");
                let (mut bytes, mut text) = (Vec::new(), String::new());
                while !text.contains("\"type\":\"done\"") {
                    bytes.extend_from_slice(&answer.chunk().await.expect("a piece").expect("more"));
                    text = String::from_utf8_lossy(&bytes).into_owned();
                }
                // The last piece may end in the middle of an event.
                let whole = &text[..text.rfind("\n\n").unwrap_or_default()];
                let items: Vec<Value> = whole.split("\n\n").filter_map(item).collect();
                assert!(!items.is_empty(), "{id}: {text}");
                for item in items {
                    check(&document, id, &promised["x-itemSchema"], &item);
                    let data = serde_json::from_str(item["data"].as_str().expect("text")).expect("JSON");
                    check(&document, id, &inside_an_item, &data);
                    check(&document, id, &promised["schema"], &data);
                }
            }
            "text/html" | "text/markdown" => assert!(kind.starts_with(&**promised_kind), "{id}: {kind}"),
            _ => {}
        }
    }
    let problem = &document["components"]["responses"]["Problem"]["content"]["application/problem+json"]["schema"];
    let (_, missing) = open.call("GET", "/threads/nobody", None).await;
    check(&document, "a problem", problem, &missing);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_to_tasks_is_streamed_as_it_is_described() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    let event = document["components"]["schemas"]["StreamItem"]["properties"]["data"]["contentSchema"].clone();
    for (method, path, body) in [
        ("POST", "/tasks", json!({ "title": "Water", "assign": "human", "labels": ["garden"] })),
        ("POST", "/tasks", json!({ "title": "Weed", "after": ["t1"] })),
        ("POST", "/tasks/t1/notes", json!({ "text": "the can leaks" })),
        ("PATCH", "/tasks/t1", json!({ "title": "Water it", "priority": "high", "labels": [] })),
        ("PATCH", "/tasks/t1", json!({ "status": "blocked", "reason": "no can" })),
        ("PATCH", "/tasks/t1", json!({ "status": "pending" })),
        ("PATCH", "/tasks/t1", json!({ "status": "completed" })),
        ("PATCH", "/tasks/t2", json!({ "assign": "human" })),
        ("PATCH", "/tasks/t2", json!({ "status": "archived" })),
    ] {
        let (status, answer) = open.call(method, path, Some(body)).await;
        assert!(status < 300, "{path}: {answer}");
    }
    open.call("DELETE", "/tasks/t2", None).await;
    let mut watching = open.watching("/api/v1/events?after=0", None).await;
    let mut kinds = BTreeSet::new();
    loop {
        let (_, frame) = watching.next("the removed task").await.expect("an event");
        check(&document, "a frame", &event, &frame);
        kinds.insert(frame["type"].as_str().expect("a type").to_owned());
        if frame["removed"] == true {
            break;
        }
    }
    assert_eq!(kinds, ["task_completed", "task_created", "task_updated"].map(str::to_owned).into());
    open.close().await;
}

// T8
#[tokio::test(flavor = "multi_thread")]
async fn the_bounds_in_the_document_are_the_ones_that_are_enforced() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    let mut limits = 0;
    for Operation { path, told, .. } in operations(&document) {
        for parameter in told["parameters"].as_array().into_iter().flatten().filter(|one| one["name"] == "limit") {
            let bound = |name: &str| parameter["schema"][name].as_u64().unwrap_or_else(|| panic!("{path}: no {name}"));
            let (least, most) = (bound("minimum"), bound("maximum"));
            for (limit, expected) in [(least - 1, 422), (least, 200), (most, 200), (most + 1, 422)] {
                let path = path.strip_prefix("/api/v1").expect("a list of the API");
                let (status, answer) = open.call("GET", &format!("{path}?limit={limit}"), None).await;
                assert_eq!(status, expected, "{path} with limit {limit}: {answer}");
            }
            limits += 1;
        }
    }
    assert_eq!(limits, 3, "threads, approvals and tasks");

    let thread = open.start("for ever").await;
    for (id, path, field) in [
        ("Begin", "/api/v1/threads".to_owned(), "message"),
        ("Said", format!("/api/v1/threads/{thread}/messages"), "text"),
        ("Words", format!("/api/v1/threads/{thread}/steer"), "text"),
        ("Chat", "/api/chat".to_owned(), "message"),
    ] {
        let schema = json!({ "$ref": format!("#/components/schemas/{id}") });
        let told = &document["components"]["schemas"][id]["properties"][field];
        let most = told["maxLength"].as_u64().unwrap_or_else(|| panic!("{id}: no bound")) as usize;
        for (text, is_refused) in [
            ("x".repeat(most + 1), true),
            (" \n ".to_owned(), true),
            ("x".repeat(most), false),
            ("x".to_owned(), false),
        ] {
            let body = json!({ field: text });
            assert_eq!(validator(&document, &schema).is_valid(&body), !is_refused, "{id} with {} bytes", text.len());
            let request = open.client.post(open.url(&path)).bearer_auth(&open.token).body(body.to_string());
            let answer = request.send().await.expect("an answer");
            let status = answer.status();
            assert_eq!(status == 422, is_refused, "{path} with {} bytes: {status}", text.len());
            if is_refused {
                assert_eq!(answer.headers()["content-type"], "application/problem+json", "{path}");
            } else {
                assert!(status.is_success(), "{path} with {} bytes: {status}", text.len());
            }
        }
        // Few enough characters, and too many bytes.
        let body = json!({ field: "\u{e9}".repeat(most) }).to_string();
        let request = open.client.post(open.url(&path)).bearer_auth(&open.token).body(body);
        // It is refused before its body is read, and a client that still writes may miss the answer: then it asks again.
        let mut answer = None;
        for _ in 0..20 {
            answer = request.try_clone().expect("a body in memory").send().await.ok();
            if answer.is_some() {
                break;
            }
        }
        let answer = answer.expect("an answer");
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-type"]),
            (413, &"application/problem+json".parse().expect("a value")),
            "{path}"
        );
    }
    let stream = &document["paths"]["/api/stream/{id}"]["get"]["parameters"];
    let prompt = stream.as_array().expect("parameters").iter().find(|one| one["name"] == "prompt").expect("a prompt");
    assert_eq!(
        prompt["schema"]["maxLength"],
        document["components"]["schemas"]["Chat"]["properties"]["message"]["maxLength"]
    );
    let answer = open.client.get(open.url("/api/stream/x?prompt=%20")).bearer_auth(&open.token).send().await;
    assert_eq!(answer.expect("an answer").status(), 422);
    open.close().await;
}

// T3
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_accepted_is_answered_as_the_document_says() {
    let open = Open::built(tempfile::tempdir().expect("a passing folder"), Some("sesame"), "script.toml").await;
    let document = open.get("/openapi.json").await;
    let wrong = |request: reqwest::RequestBuilder| {
        request.header("content-type", "application/x-www-form-urlencoded").body("password=simsim")
    };
    for (path, method, request) in [
        ("/enter", "get", open.client.get(open.url("/enter?code=wrong"))),
        ("/enter", "get", open.client.get(open.url("/enter"))),
        ("/enter", "post", wrong(open.client.post(open.url("/enter")))),
        ("/enter", "post", open.client.post(open.url("/enter"))),
        ("/", "get", open.client.get(open.url("/"))),
    ] {
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 401, "{method} {path}");
        let kind = answer.headers()["content-type"].to_str().expect("text");
        let promised = &document["paths"][path][method]["responses"]["401"]["content"];
        assert!(
            kind.starts_with("text/html") && promised["text/html"].is_object(),
            "{method} {path}: {kind} {promised}"
        );
    }
    let form =
        &document["paths"]["/enter"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"];
    check(&document, "the form", form, &json!({ "password": "sesame" }));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_frame_that_is_on_record_is_as_the_document_tells() {
    let open = Open::new().await;
    let document = open.get("/openapi.json").await;
    let promised = json!({ "$ref": "#/components/schemas/Event" });
    let validator = validator(&document, &promised);
    let mut kinds = BTreeSet::new();
    let stories = Path::new(env!("CARGO_MANIFEST_DIR")).join("../view/golden");
    for story in std::fs::read_dir(stories).expect("the stories of the view") {
        let frames = std::fs::read_to_string(story.expect("a story").path().join("frames.jsonl")).expect("its frames");
        for line in frames.lines() {
            let frame: Value = serde_json::from_str(line).expect("JSON");
            let wrong: Vec<String> = validator.iter_errors(&frame).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{frame}: {wrong:?}");
            kinds.insert(frame["type"].as_str().expect("a type").to_owned());
        }
    }
    assert!(kinds.len() > 15, "{kinds:?}");
    let told: BTreeSet<&str> = document["components"]["schemas"]["Frame"]["oneOf"]
        .as_array()
        .expect("a union")
        .iter()
        .filter_map(|one| document.pointer(one["$ref"].as_str()?.strip_prefix('#')?))
        .filter_map(|one| one["properties"]["type"]["const"].as_str())
        .collect();
    assert_eq!(told, BTreeSet::from(view::Body::KINDS), "the union is by type, and whole");
    open.close().await;
}

/// Something that the document says can be done.
struct Operation {
    path: String,
    method: String,
    told: Value,
}

fn operations(document: &Value) -> Vec<Operation> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths
        .flat_map(|(path, methods)| {
            methods.as_object().expect("methods").iter().map(|(method, told)| {
                assert!(METHODS.contains(&method.as_str()), "{method}");
                Operation { path: path.clone(), method: method.clone(), told: told.clone() }
            })
        })
        .collect()
}

/// Holds a value against a schema of the document, to which nothing may be added.
fn check(document: &Value, what: &str, promised: &Value, value: &Value) {
    let wrong: Vec<String> = validator(document, promised)
        .iter_errors(value)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{what}: {wrong:?}\n{value}");
}

fn validator(document: &Value, promised: &Value) -> jsonschema::Validator {
    let mut schemas = document["components"]["schemas"].clone();
    for schema in schemas.as_object_mut().expect("schemas").values_mut() {
        close(schema);
    }
    let mut schema = promised.clone();
    schema["components"] = json!({ "schemas": schemas });
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Lets an object have no other fields than those that are told of.
fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if ["properties", "oneOf", "anyOf", "allOf"].iter().any(|key| object.contains_key(*key)) {
        object.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    for field in
        object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut())
    {
        close(field);
    }
    if let Some(items) = object.get_mut("items") {
        close(items);
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        // What is put together from parts is closed as a whole; what stands inside the parts is closed too.
        for part in object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            for field in
                part.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut())
            {
                close(field);
            }
        }
    }
}

/// A server-sent event as an object of its fields; none where it has no data.
fn item(text: &str) -> Option<Value> {
    let mut item = json!({});
    for (name, value) in text.lines().filter_map(|line| line.split_once(": ")) {
        match name {
            "retry" => item[name] = json!(value.parse::<u64>().expect("a number")),
            "id" | "data" => item[name] = json!(value),
            _ => {}
        }
    }
    item.get("data").is_some().then_some(item)
}

fn find_references(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match field.as_str() {
                    Some(reference) if key == "$ref" => into.push(reference.to_owned()),
                    _ => find_references(field, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| find_references(item, into)),
        _ => {}
    }
}
