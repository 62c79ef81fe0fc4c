//! A server that is written with `rmcp`: both revisions, resources, prompts, and questions in the middle of a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent::Json;
use agent::sampling::Sampled;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use majordomo_mcp::{Error, PromptInfo, ResourceInfo, ServerSettings};
use tool::{Asks, ToolContext};

use crate::rig::{Rig, server};

/// A person who gives these answers, one after the other, after a while; nobody after that.
#[derive(Default)]
struct Person {
    answers: Mutex<Vec<&'static str>>,
    asked: Mutex<Vec<(String, Vec<String>)>>,
    after: Duration,
    /// What servers asked of a model.
    sampled: Mutex<Vec<String>>,
}

impl Asks for Person {
    fn ask(&self, text: String, choices: Vec<String>) -> BoxFuture<'static, Option<Arc<str>>> {
        self.asked.lock().unwrap().push((text, choices));
        let mut answers = self.answers.lock().unwrap();
        let (answer, after) = ((!answers.is_empty()).then(|| answers.remove(0).into()), self.after);
        async move {
            tokio::time::sleep(after).await;
            answer
        }
        .boxed()
    }

    fn sample(&self, server: Arc<str>, input: Json) -> BoxFuture<'static, Result<Sampled, Arc<str>>> {
        self.sampled.lock().unwrap().push(format!("{server} {}", input.text()));
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.is_empty() { None } else { Some(answers.remove(0)) };
        let said = |text: &str| Sampled { text: text.into(), model: "any/model".into(), is_cut: false };
        let answer = answer.map(said).ok_or_else(|| Arc::from("a person refused it"));
        async move { answer }.boxed()
    }
}

fn with(person: &Arc<Person>, rig: &Rig) -> ToolContext {
    ToolContext { asks: Some(person.clone()), ..rig.context("tu_1") }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_revisions_are_spoken() {
    let rig = Rig::started(vec![server("new", "polite"), server("old", "polite,older")]).await;
    for name in ["new", "old"] {
        let result = rig.call(&format!("{name}__echo"), r#"{"text": "hello"}"#).await;
        assert_eq!(&*result.content, "hello", "{name}: {:?}", rig.servers.status());
    }
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_and_prompts_are_listed_and_read_without_a_tool() {
    for words in ["polite", "polite,older"] {
        let rig = Rig::started(vec![server("kit", words)]).await;
        let kit = rig.server();
        let (uri, name) = ("note://today".to_owned(), "today".to_owned());
        let known = ResourceInfo { uri, name, description: "What is on today".to_owned() };
        assert_eq!(kit.resources().await.unwrap(), [known]);
        assert_eq!(kit.read_resource("note://today").await.unwrap(), "[note://today]\nLunch at noon");
        assert!(matches!(kit.read_resource("note://other").await, Err(Error::Refused(_))));
        let arguments = vec![("file".to_owned(), true), ("focus".to_owned(), false)];
        let review = PromptInfo { name: "review".to_owned(), description: "Reviews a file".to_owned(), arguments };
        assert_eq!(kit.prompts().await.unwrap(), [review]);
        let given = BTreeMap::from([("file".to_owned(), "a.rs".to_owned())]);
        assert_eq!(kit.prompt("review", &given).await.unwrap(), "Please review \"a.rs\" for null");
        rig.servers.close().await;
    }
    let without = Rig::started(vec![server("kit", "")]).await;
    assert_eq!(without.server().resources().await, Ok(Vec::new()), "a server that has none is not asked");
    without.servers.close().await;
}

// T54
#[tokio::test(flavor = "multi_thread")]
async fn a_server_asks_the_person_of_the_call_and_is_sent_what_fits() {
    let rig = Rig::started(vec![server("kit", "polite,older")]).await;
    let person = Arc::new(Person {
        answers: Mutex::new(vec!["main", "count: many\nsure: yes", "count: 3\nsure: yes"]),
        ..Person::default()
    });
    let context = with(&person, &rig);
    let said = rig.call_in("kit__ask_person", "{}", &context).await;
    assert_eq!(&*said.content, r#"Accept {"branch":"main"}"#);
    let said = rig.call_in("kit__ask_person_more", "{}", &context).await;
    assert_eq!(&*said.content, r#"Accept {"count":3,"sure":true}"#, "the first answer does not fit");
    let declined = rig.call_in("kit__ask_person", "{}", &context).await;
    assert!(declined.content.starts_with("Decline"), "nobody answers: {}", declined.content);
    let asked = person.asked.lock().unwrap().clone();
    assert!(asked[0].0.starts_with("MCP server kit asks (your answer is sent to it): Which branch?"), "{}", asked[0].0);
    assert!(asked[2].0.contains("count is no whole number"), "{}", asked[2].0);
    assert_eq!(asked.len(), 4);
    let alone = rig.call("kit__ask_person", "{}").await;
    assert!(alone.content.starts_with("Decline"), "a call that nobody stands behind asks nobody: {}", alone.content);
    rig.servers.close().await;
}

// T54
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_the_first_answer_of_a_call_is_asked_once_and_the_call_goes_on() {
    let rig = Rig::started(vec![server("kit", "polite")]).await;
    let person = Arc::new(Person { answers: Mutex::new(vec!["main"]), ..Person::default() });
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (mut context, hears) = (with(&person, &rig), heard.clone());
    context.progress = Some(Arc::new(move |words: &str| hears.lock().unwrap().push(words.to_owned())));
    let said = rig.call_in("kit__ask_first", "{}", &context).await;
    assert!(!said.is_error && said.content.contains(r#""content":{"branch":"main"}"#), "{}", said.content);
    assert!(said.content.ends_with(" kept"), "what the server wants to have back is sent back: {}", said.content);
    assert_eq!(rig.lines("asked_first.txt").len(), 1, "the call is not begun anew");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    assert_eq!(*heard.lock().unwrap(), ["1 of 2 answered"], "the progress of the repeated call is shown, too");
    rig.servers.close().await;
}

// T54
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_the_first_answer_goes_to_the_thread_of_its_call() {
    let rig = Arc::new(Rig::started(vec![server("kit", "polite")]).await);
    let (first, second) = (Arc::new(Person::default()), Arc::new(Person::default()));
    for person in [&first, &second] {
        person.answers.lock().unwrap().push("main");
    }
    let stop = with(&first, &rig);
    let (begun, context) = (rig.clone(), stop.clone());
    let waits = tokio::spawn(async move { begun.call_in("kit__ask_first", r#"{"text": "wait"}"#, &context).await });
    rig.until("the first call", |rig| !rig.lines("waiting.txt").is_empty()).await;
    let said = rig.call_in("kit__ask_first", "{}", &with(&second, &rig)).await;
    assert!(said.content.contains("main"), "{}", said.content);
    assert_eq!((first.asked.lock().unwrap().len(), second.asked.lock().unwrap().len()), (1, 1));
    // A call that was made again with its answers is cancelled at the server like any other.
    stop.stop.cancel();
    assert!(waits.await.expect("no panic").content.contains("stopped"));
    rig.until("the cancellation", |rig| !rig.lines("cancelled.txt").is_empty()).await;
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_resource_is_read_whole_and_what_a_model_does_not_see_of_it_lies_in_a_file() {
    let rig = Rig::started(vec![server("kit", "polite")]).await;
    let whole = rig.server().read_resource("note://long").await.expect("it is read");
    assert!(whole.ends_with("line 19999\n"));
    let shown = rig.server().bounded(whole.clone()).await;
    assert!(shown.chars().count() < 101_000, "{}", shown.len());
    let path = shown.split(" is in ").nth(1).and_then(|rest| rest.split(':').next()).expect("a path");
    assert!(path.starts_with(".majordomo/results/kit-"), "{path}");
    assert_eq!(std::fs::read_to_string(rig.path(path)).expect("it is kept"), whole);
    assert_eq!(rig.server().bounded("short".to_owned()).await, "short");
    rig.servers.close().await;
}

// T54, T55
#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_shown_to_the_person_and_a_deceptive_one_is_refused_without_a_question() {
    let rig = Rig::started(vec![server("kit", "polite,older")]).await;
    let person = Arc::new(Person { answers: Mutex::new(vec!["no", "yes"]), ..Person::default() });
    let context = with(&person, &rig);
    let visit = |address: &str| serde_json::json!({ "text": address }).to_string();
    let said = rig.call_in("kit__ask_visit", &visit("https://login.example/start"), &context).await;
    assert!(said.content.starts_with("Accept"), "{}", said.content);
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "no is not yes");
    assert!(asked[0].0.contains("https://login.example/start\nIt is not opened for you"), "{}", asked[0].0);
    for address in ["http://login.example/", "https://bank.example@evil.example/", "file:///etc/passwd"] {
        let said = rig.call_in("kit__ask_visit", &visit(address), &context).await;
        assert!(said.content.starts_with("Decline"), "{address}: {}", said.content);
    }
    assert_eq!(person.asked.lock().unwrap().len(), 2, "no person sees them");
    let unanswered = rig.call_in("kit__ask_visit", &visit("https://login.example/"), &context).await;
    assert!(unanswered.content.starts_with("Decline"), "{}", unanswered.content);
    rig.servers.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_call_does_not_run_while_a_person_thinks() {
    let quick = ServerSettings { call_time: Duration::from_millis(400), ..server("kit", "polite,older") };
    let rig = Rig::started(vec![quick]).await;
    let person = Person { answers: Mutex::new(vec!["main"]), after: Duration::from_millis(1_500), ..Person::default() };
    let said = rig.call_in("kit__ask_person", "{}", &with(&Arc::new(person), &rig)).await;
    assert_eq!(&*said.content, r#"Accept {"branch":"main"}"#);
    rig.servers.close().await;
}

// T54
#[tokio::test(flavor = "multi_thread")]
async fn a_server_reaches_no_model_unless_a_person_allows_it_for_that_server() {
    for (words, tool) in [("polite,older", "kit__ask_model"), ("polite", "kit__ask_model_first")] {
        let rig = Rig::started(vec![server("kit", words)]).await;
        let person = Arc::new(Person { answers: Mutex::new(vec!["leaked"]), ..Person::default() });
        let said = rig.call_in(tool, "{}", &with(&person, &rig)).await;
        assert!(!said.content.contains("leaked") && person.sampled.lock().unwrap().is_empty(), "{}", said.content);
        rig.servers.close().await;
    }
}

// T54
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_asks_the_model_of_the_call_in_both_revisions_and_hears_why_it_has_no_answer() {
    for (words, tool) in [("polite,older", "kit__ask_model"), ("polite", "kit__ask_model_first")] {
        let rig = Rig::started(vec![ServerSettings { sampling: true, ..server("kit", words) }]).await;
        let person = Arc::new(Person { answers: Mutex::new(vec!["It is said."]), ..Person::default() });
        let context = with(&person, &rig);
        let said = rig.call_in(tool, r#"{"text": "Sum it up", "max": 30}"#, &context).await;
        assert!(said.content.contains("It is said."), "{words}: {}", said.content);
        assert_eq!(
            person.sampled.lock().unwrap()[0],
            r#"kit {"max_tokens":30,"messages":[{"role":"user","text":"Sum it up"}]}"#
        );
        let refused = rig.call_in(tool, "{}", &context).await;
        assert!(refused.content.contains("gave no answer: a person refused it"), "{words}: {}", refused.content);
        let alone = rig.call(tool, "{}").await;
        assert!(alone.content.contains("there is no agent"), "{words}: {}", alone.content);
        rig.servers.close().await;
    }
}
