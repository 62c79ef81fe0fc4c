//! Questions to people: decided once, for exactly what was shown.

use serde_json::{Value, json};

use crate::open::{CROWD, Open};

// T20, T21
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_decided_once_for_exactly_what_was_shown() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    let path = format!("/approvals/{}/decision", question["id"].as_str().expect("an id").replace('/', "%2F"));
    let word = |digest: &Value| Some(json!({ "decision": "allow", "digest": digest }));
    assert_eq!(open.call("POST", &path, word(&json!("something else"))).await.0, 409);
    let (status, came) = open.call("POST", &path, word(&question["digest"])).await;
    assert_eq!((status, came["status"].as_str()), (200, Some("approved")), "{came}");
    assert_eq!(
        open.call("POST", &path, Some(json!({ "decision": "deny", "digest": question["digest"] }))).await.0,
        409
    );
    open.until(&thread, "completed").await;
    assert_eq!(std::fs::read_to_string(open.folder.path().join("work/new.txt")).expect("it is written"), "x");
    assert_eq!(open.get("/approvals").await, json!([]));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_an_agent_is_listed_and_answered_like_an_approval() {
    let open = Open::new().await;
    let thread = open.start("choose a colour").await;
    let question = open.question().await;
    assert_eq!((&question["kind"], &question["tool"]), (&json!("question"), &json!("ask_user")));
    assert_eq!(question["question"], json!({ "text": "Which colour?", "choices": ["red", "green"] }));
    let path = decision(&question);
    for word in [json!({ "decision": "allow", "digest": question["digest"] }), json!({}), json!({ "answer": " " })] {
        let (status, problem) = open.call("POST", &path, Some(word.clone())).await;
        assert_eq!(status, 422, "{word}: {problem}");
    }
    let other = json!({ "answer": "red", "digest": "something else" });
    assert_eq!(open.call("POST", &path, Some(other)).await.0, 409);
    let (status, came) = open.call("POST", &path, Some(json!({ "answer": "2" }))).await;
    assert_eq!((status, came["status"].as_str()), (200, Some("answered")), "{came}");
    assert_eq!(open.call("POST", &path, Some(json!({ "answer": "red" }))).await.0, 409, "it is answered once");
    open.until(&thread, "completed").await;
    let told = open.watch(&format!("/api/v1/threads/{thread}/events"), None, "done").await;
    let of = |kind: &str| told.iter().map(|(_, frame)| frame).find(|frame| frame["type"] == kind).cloned();
    let required = of("validation_required").expect("it was asked");
    assert_eq!((&required["kind"], &required["question"]["text"]), (&json!("question"), &json!("Which colour?")));
    let resolved = of("validation_resolved").expect("it was answered");
    assert_eq!((&resolved["kind"], &resolved["decision"]), (&json!("question"), &json!("answered")));
    assert_eq!(
        (&resolved["answer"], &of("tool_result").expect("a result")["output"]),
        (&json!("green"), &json!("green")),
        "the number of a choice stands for it"
    );
    let row = open.get(&format!("/approvals/{}", question["id"].as_str().expect("an id").replace('/', "%2F"))).await;
    assert_eq!((&row["status"], &row["answer"]), (&json!("answered"), &json!("green")));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_no_question_and_wants_the_digest_of_what_was_shown() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    assert_eq!(question["kind"], "approval");
    for word in [json!({ "answer": "yes" }), json!({ "decision": "allow" }), json!({ "decision": "deny" })] {
        assert_eq!(open.call("POST", &decision(&question), Some(word.clone())).await.0, 422, "{word}");
    }
    let word = json!({ "decision": "deny", "digest": question["digest"] });
    assert_eq!(open.call("POST", &decision(&question), Some(word)).await.0, 200);
    open.until(&thread, "completed").await;
    open.close().await;
}

// T21: two at once, and later ones
#[tokio::test(flavor = "multi_thread")]
async fn however_many_decide_at_once_it_is_done_once() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    let path = decision(&question);
    let word = json!({ "decision": "allow", "digest": question["digest"] });
    let call = || open.call("POST", &path, Some(word.clone()));
    let (one, two, three, four) = tokio::join!(call(), call(), call(), call());
    let mut statuses = [one.0, two.0, three.0, four.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
    open.until(&thread, "completed").await;
    let told = open.watch(&format!("/api/v1/threads/{thread}/events"), None, "done").await;
    let of = |kind: &str| told.iter().filter(|(_, frame)| frame["type"] == kind).count();
    assert_eq!((of("validation_resolved"), of("tool_start")), (1, 1), "{told:?}");
    assert_eq!(call().await.0, 409, "and again, later");
    open.close().await;
}

// T21: after a cancel there is nothing left to decide
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_longer_asked_is_gone_and_another_name_is_unknown() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    let word = Some(json!({ "decision": "allow", "digest": question["digest"] }));
    for name in ["20260115-none%2F1".to_owned(), format!("{thread}%2F2"), format!("{thread}.1%2F1")] {
        let (status, problem) = open.call("POST", &format!("/approvals/{name}/decision"), word.clone()).await;
        assert_eq!(status, 404, "{name}: {problem}");
    }
    let (status, _) = open.call("POST", &format!("/threads/{thread}/stop"), Some(json!({ "now": true }))).await;
    assert_eq!(status, 200);
    let (status, problem) = open.call("POST", &decision(&question), word).await;
    assert_eq!(status, 410, "{problem}");
    assert!(!open.folder.path().join("work/new.txt").exists());
    assert_eq!(open.get("/approvals").await, json!([]));
    open.close().await;
}

// T20: what is approved is what was shown, and what runs is what was approved
#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_changed_between_asking_and_deciding_is_asked_about_again() {
    let open = Open::new().await;
    let thread = open.start("write it").await;
    let question = open.question().await;
    let new = open.folder.path().join("work/new.txt");
    let elsewhere = open.folder.path().join("work/elsewhere.txt");
    std::fs::write(&elsewhere, "kept").expect("a file");
    std::os::unix::fs::symlink(&elsewhere, &new).expect("a link");
    let word = json!({ "decision": "allow", "digest": question["digest"] });
    open.call("POST", &decision(&question), Some(word)).await;
    let again = open
        .until_told("/approvals", "another question", |all| {
            all.get(0).filter(|one| one["id"] != question["id"]).cloned()
        })
        .await;
    assert_ne!(again["digest"], question["digest"]);
    assert_eq!(std::fs::read_to_string(&elsewhere).expect("a file"), "kept");
    let deny = json!({ "decision": "deny", "digest": again["digest"] });
    assert_eq!(open.call("POST", &decision(&again), Some(deny)).await.0, 200);
    open.until(&thread, "completed").await;
    assert_eq!(std::fs::read_to_string(&elsewhere).expect("a file"), "kept");
    open.close().await;
}

// T22, T27
#[tokio::test(flavor = "multi_thread")]
async fn however_many_questions_wait_none_is_left_out_and_one_is_named_by_what_only_it_has() {
    let open = Open::new().await;
    let first = open.start("write it").await;
    let oldest = open.question().await;
    for _ in 0..2 {
        open.start("a crowd").await;
    }
    let all = 1 + 2 * CROWD;
    open.until_told("/approvals", "everybody's questions", |told| {
        (told.as_array().map(Vec::len) == Some(all)).then_some(())
    })
    .await;
    let ids = |told: Value| told.as_array().expect("a list").iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    let listed = ids(open.get("/approvals").await);
    assert_eq!(listed.last(), Some(&oldest["id"]), "the newest first");
    assert_eq!(
        ids(open.get("/approvals?all=1").await),
        listed,
        "with those that are answered, of which there are none"
    );
    assert_eq!(ids(open.get("/approvals?limit=3").await), listed[..3]);
    assert_eq!(ids(open.get("/approvals?all=1&limit=3").await), listed[..3]);

    let date = first.split('-').next().expect("a date");
    let (status, problem) = open.call("GET", &format!("/approvals/{date}"), None).await;
    assert_eq!(status, 409, "{problem}");
    open.close().await;
}

/// Where a question is decided.
fn decision(question: &Value) -> String {
    format!("/approvals/{}/decision", question["id"].as_str().expect("an id").replace('/', "%2F"))
}
